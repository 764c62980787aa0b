//! When no class is likely.

use calibrant::decision::OtherRule;
use calibrant::pipeline::Model;

use crate::error::CliError;

/// What documents of none of the classes are called.
pub(crate) const NAME: &str = "other";

/// The thresholds of a rule, where one was given.
pub(crate) fn thresholds(
    model: &Model,
    rule: Option<OtherRule>,
) -> Result<Option<Vec<f64>>, CliError> {
    let Some(rule) = rule else {
        return Ok(None);
    };
    if model.class_names().any(|class| class == NAME) {
        return Err(CliError::new(format!(
            "--other: the model has a class of the name `{NAME}` already"
        ))
        .hint("rename that label and fit again"));
    }
    let thresholds = model.other_thresholds(rule);
    Ok(Some(thresholds.map_err(|error| {
        CliError::new(format!("--other: {error}"))
    })?))
}
