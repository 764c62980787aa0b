//! Which terms speak most for a class?

use super::SingleModel;
use crate::scorers::{ClassScorer, LinearClassScorer, Link, SavedScorer, StumpScorer};

/// Why a model cannot name its strongest terms.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// Hashed features have no names.
    #[error("a model with hashed features does not know its terms")]
    Hashed,
    /// The learner does not weigh terms.
    #[error("{learner} has no weights to show")]
    NoWeights {
        /// The learner.
        learner: String,
    },
}

impl SingleModel {
    /// For each class, in the order of the classes, the `count` terms that add most to its score, the strongest first.
    ///
    /// # Method
    /// Of linear models by their weights; where the scores of all classes are held against each other (naive Bayes), by how much a weight
    /// is above the mean of the classes, since what all classes have alike decides nothing. Of boosted stumps by the
    /// farthest that the stumps of a term can move the score. Of two classes that share a score, the first has all weights with the
    /// other sign. Numbers of vectors are not among them.
    pub fn strongest_terms(&self, count: usize) -> Result<Vec<Vec<(String, f64)>>, TermsError> {
        if self.extractor().vocabulary().is_none() {
            return Err(TermsError::Hashed);
        }
        // The numbers of a vector, which come last, say nothing one by one.
        let mut features = self.extractor().feature_names();
        let vectors = self.extractor().side_columns();
        let vectors = vectors.map_or(0, |side| side.vector_column_count());
        features.truncate(features.len() - vectors);
        let classes = 0..self.class_names().len();
        if let SavedScorer::Stumps(scorer) = self.scorer() {
            return Ok(classes
                .map(|class| strongest_steps(scorer, class, &features, count))
                .collect());
        }
        let Some(scorer) = self.scorer().as_linear() else {
            return Err(TermsError::NoWeights {
                learner: match self.settings().code {
                    Some(_) => "an output code".to_owned(),
                    None => self.settings().classifier.name().to_owned(),
                },
            });
        };
        Ok(classes
            .map(|class| strongest_weights(scorer, class, &features, count))
            .collect())
    }
}

/// The output that speaks for a class, and whether it speaks against it.
fn output_of(link: Link, class: usize) -> (usize, f64) {
    match link {
        Link::Mirror => (0, if class == 0 { -1.0 } else { 1.0 }),
        Link::Independent | Link::AgainstRest => (class, 1.0),
    }
}

fn strongest_weights(
    scorer: &LinearClassScorer,
    class: usize,
    features: &[Option<String>],
    count: usize,
) -> Vec<(String, f64)> {
    let outputs = scorer.output_count();
    let (output, sign) = output_of(scorer.link(), class);
    let weight = |feature: usize| {
        let mean = match scorer.link() {
            Link::AgainstRest => {
                let all = (0..outputs).map(|other| scorer.weight(feature, other));
                all.sum::<f64>() / outputs as f64
            }
            Link::Independent | Link::Mirror => 0.0,
        };
        sign * (scorer.weight(feature, output) - mean)
    };
    let mut all: Vec<(usize, f64)> = (0..features.len())
        .map(|feature| (feature, weight(feature)))
        .collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let strongest = all.into_iter().take(count);
    strongest
        .map(|(feature, weight)| (features[feature].clone().unwrap_or_default(), weight))
        .collect()
}

fn strongest_steps(
    scorer: &StumpScorer,
    class: usize,
    features: &[Option<String>],
    count: usize,
) -> Vec<(String, f64)> {
    let (output, sign) = output_of(scorer.link(), class);
    let mut all = scorer.farthest_steps(output);
    all.retain(|(feature, _)| (*feature as usize) < features.len());
    all.sort_by(|a, b| (sign * b.1).total_cmp(&(sign * a.1)));
    let strongest = all.into_iter().take(count);
    strongest
        .map(|(feature, step)| {
            let name = features.get(feature as usize).cloned().flatten();
            (name.unwrap_or_default(), sign * step)
        })
        .collect()
}
