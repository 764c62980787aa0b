//! Rules as a classifier: each class's score is how strongly its own rule matches.

use super::{Classifier, FitSettings};
use crate::FitError;
use crate::problem::ClassLabels;
use crate::scorers::{LinearClassScorer, Link, Storage, WeightMatrix};

/// Where each class's rule is among the columns, if rules alone decide. Every class needs one; of two
/// exclusive classes one may do without, since what speaks against the other speaks for it.
pub(super) fn rule_columns(
    settings: &FitSettings,
    labels: &ClassLabels,
    class_names: &[String],
    term_columns: usize,
) -> Result<Vec<Option<u32>>, FitError> {
    let (Classifier::Rules, Some(rules)) = (&settings.classifier, settings.rule_set()?) else {
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

/// Each class's score is the value in the column of its rule. Two exclusive classes share an output:
/// the second's strength minus the first's.
pub(super) fn rule_scorer(
    columns: &[Option<u32>],
    labels: &ClassLabels,
    column_count: usize,
) -> LinearClassScorer {
    let output_count = labels.output_count();
    let mirrored = output_count < labels.class_count;
    let mut weights = vec![0f64; column_count * output_count];
    for (class, column) in columns.iter().enumerate() {
        let Some(column) = column.map(|column| column as usize) else {
            continue;
        };
        let (output, weight) = match (mirrored, class) {
            (true, 0) => (0, -1.0),
            (true, _) => (0, 1.0),
            (false, class) => (class, 1.0),
        };
        if let Some(place) = weights.get_mut(column * output_count + output) {
            *place = weight;
        }
    }
    let link = if mirrored {
        Link::Mirror
    } else {
        Link::Independent
    };
    let weights = WeightMatrix::Double(Storage::Owned(weights));
    LinearClassScorer::from_parts(weights, vec![0.0; output_count], link)
}
