//! What `--costs` says.

use std::path::Path;

use calibrant::Task;
use calibrant::corpus::Source;
use calibrant::decision::{CostError, CostMatrix};
use calibrant::jobs::{parse_costs, read_costs};

use crate::error::CliError;

/// Costs from a file, or from the argument itself if there is no such file.
pub(super) fn read<'a>(
    given: &str,
    task: Task,
    class_names: impl Iterator<Item = &'a str>,
) -> Result<CostMatrix, CliError> {
    let path = Path::new(given);
    let entries = match path.is_file() {
        true => read_costs(&Source::from(path)),
        false => parse_costs(given),
    };
    let entries = entries.map_err(|error| {
        CliError::new(format!("--costs: {error}")).hint(
            "write truth,decision,cost: `spam,ham,1;ham,spam,20`, or a CSV file of such lines",
        )
    })?;
    CostMatrix::of_entries(&entries, task, class_names).map_err(|error| {
        let refused = CliError::new(format!("--costs: {error}"));
        match error {
            CostError::NoClass { .. } => {
                refused.hint("`calibrant inspect MODEL` lists the classes")
            }
            _ => refused,
        }
    })
}
