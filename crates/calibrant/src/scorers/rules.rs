//! Rules as a learner: each class's score is how strongly its own rule matches.

use serde::{Deserialize, Serialize};

use super::learner::{ClassLearner, Fitted, Reads, Variant};
use super::{LinearClassScorer, Link, Storage, WeightMatrix};
use crate::FitError;
use crate::problem::Problem;

/// The strength of each class's own rule. Nothing is learned from rows; calibration learns how far a rule can be trusted.
///
/// The score of a class is the value in the column of its rule ([`Problem::rule_columns`]). Two exclusive classes share an
/// output: the second's strength minus the first's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {}

impl ClassLearner for Rules {
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        let output_count = problem.labels.output_count();
        let mirrored = output_count < problem.labels.class_count;
        let mut weights = vec![0f64; problem.rows.column_count() * output_count];
        for (class, column) in problem.rule_columns.iter().enumerate() {
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
        let link = Link::of(problem.labels);
        let weights = WeightMatrix::Double(Storage::Owned(weights));
        Ok(LinearClassScorer::from_parts(weights, vec![0.0; output_count], link).into())
    }

    fn name(&self) -> &'static str {
        "rules"
    }

    fn variants() -> Vec<Variant<Self>> {
        let help = "How strongly the class's own rule matches";
        vec![Variant::named("rules", help, Self {})]
    }

    fn reads(&self) -> Reads {
        Reads::Rules
    }

    fn is_linear(&self) -> bool {
        true
    }

    fn refuses_class_weights(&self) -> Option<&'static str> {
        Some("equal where the classifier is `rules`, which learns nothing")
    }
}
