//! What `--costs` says.

use std::path::Path;

use calibrant::Task;
use calibrant::corpus::Source;
use calibrant::decision::{CostEntry, CostError, DecisionCosts};
use calibrant::jobs::{parse_costs, read_costs};
use calibrant::pipeline::Model;

use crate::error::CliError;
use crate::output::warn;

/// How costs are written.
const WRITE: &str =
    "write truth,decision,cost: `spam,ham,1;ham,spam,20;*,ask,2`, or a file of such lines";

/// Costs from a file, or from the argument itself if there is no such file; none where the option was not given.
pub(crate) fn read(given: Option<&str>) -> Result<Vec<CostEntry>, CliError> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let path = Path::new(given);
    // What has no comma are no costs.
    if !given.contains(',') && !path.is_file() {
        return Err(CliError::new(format!("--costs: there is no file `{given}`")).hint(WRITE));
    }
    let entries = match path.is_file() {
        true => read_costs(&Source::from(path)),
        false => parse_costs(given),
    };
    entries.map_err(|error| CliError::new(format!("--costs: {error}")).hint(WRITE))
}

/// Says which actions are spelled nearly as a class.
pub(crate) fn note_near_classes(costs: &[CostEntry], model: &Model) {
    if model.task() != Task::SingleLabel {
        return;
    }
    for (action, class) in DecisionCosts::near_classes(costs, model.class_names()) {
        warn(&format!(
            "--costs: `{action}` is not a class, so it is an action of its own; the nearest class is `{class}`"
        ));
    }
}

impl From<CostError> for CliError {
    fn from(error: CostError) -> Self {
        let refused = Self::new(format!("--costs: {error}"));
        match error {
            CostError::NoClass { name, .. } if name == "other" => {
                refused.hint("with `predict --other`, `other` is a truth, too")
            }
            CostError::NoClass { .. } => {
                refused.hint("`calibrant inspect MODEL` lists the classes")
            }
            _ => refused,
        }
    }
}
