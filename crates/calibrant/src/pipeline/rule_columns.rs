//! Where the strength of each class's own rule stands.

use super::FitSettings;
use crate::FitError;
use crate::problem::ClassLabels;
use crate::scorers::Reads;

/// Where each class's rule is among the columns, if rules alone decide. Every class needs one; of two
/// exclusive classes one may do without, since what speaks against the other speaks for it.
pub(super) fn rule_columns(
    settings: &FitSettings,
    labels: &ClassLabels,
    class_names: &[String],
    term_columns: usize,
) -> Result<Vec<Option<u32>>, FitError> {
    if settings.reads() != Reads::Rules {
        return Ok(Vec::new());
    }
    let Some(rules) = settings.rule_set()? else {
        return Ok(Vec::new());
    };
    let columns: Vec<Option<u32>> = class_names
        .iter()
        .map(|class| {
            let rule = rules.categories().position(|category| category == class)?;
            Some((term_columns + rule) as u32)
        })
        .collect();
    let shares = labels.output_count() < labels.class_count;
    match columns.iter().position(Option::is_none) {
        Some(class) if !shares || columns.iter().all(Option::is_none) => Err(FitError::NoRule {
            class: class_names[class].clone(),
            categories: rules.categories().take(20).map(str::to_owned).collect(),
        }),
        _ => Ok(columns),
    }
}
