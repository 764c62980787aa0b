//! Rocchio: every class is the mean of its documents, and a document belongs where it is nearest.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::learner::{ClassLearner, Fitted, Variant};
use super::linear_scorer::Link;
use super::saved::{ClassScorer, OpenScorer, ScorerBuffers};
use crate::features::RowView;
use crate::parallel;
use crate::problem::Problem;
use crate::saved::{NamedTensor, Storage, TensorReader};
use crate::{FitError, Task};

/// How near a row is to a centre.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nearness {
    /// The cosine of the angle between them.
    #[default]
    Cosine,
    /// The negative distance.
    Euclidean,
}

named! {
    Nearness, "a measure of nearness";
    Cosine = "cosine", "The cosine between document and centroid";
    Euclidean = "euclidean", "The negative Euclidean distance";
}

/// Rocchio's classifier.
///
/// # Formula
/// ```text
/// centre      m_c = Σ_{i in c} w_i x_i / Σ_{i in c} w_i
/// nearness    n_c(x) = x·m_c / (|x| |m_c|)    or    n_c(x) = -|x - m_c|
/// score       s_c(x) = n_c(x) - max_{k≠c} n_k(x)    where classes exclude each other
///             s_c(x) = n_c(x)                       where documents may have several labels
/// ```
/// The score of the nearest class is above zero and all others are below: thresholds and
/// calibrators add how far above is far enough.
///
/// # Reference
/// Rocchio 1971; Manning, Raghavan & Schütze 2008, section 14.2.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Rocchio {
    /// How near a row is to a centre.
    pub nearness: Nearness,
}

/// What a file keeps of centres beside the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CentroidDescription {
    nearness: Nearness,
    /// Whether scores are leads over the nearest other class.
    exclusive: bool,
}

/// One centroid per class.
#[derive(Debug, Clone)]
pub struct CentroidScorer {
    description: CentroidDescription,
    /// Feature after feature, the classes' centres side by side.
    centres: Storage<f32>,
    /// `|m_c|` of each class.
    lengths: Vec<f64>,
}

impl ClassLearner for Rocchio {
    /// The centres of the classes.
    fn fit(&self, problem: &Problem<'_>) -> Result<Fitted, FitError> {
        let Problem {
            rows,
            labels,
            weights,
            members,
            ..
        } = *problem;
        if !problem.factors.are_equal() {
            return Err(FitError::BadSetting {
                setting: "the class weights",
                requirement: "equal for Rocchio, whose centroids are means (give example weights instead)",
                value: "given".into(),
            });
        }
        let width = labels.class_count;
        let mut takes_part = vec![false; rows.row_count()];
        members
            .iter()
            .for_each(|&row| takes_part[row as usize] = true);
        // A class at a time, so that sums do not depend on the number of threads.
        let columns: Vec<Vec<f64>> = parallel::map_owned(labels.members(), |of_class| {
            let mut sums = vec![0f64; rows.column_count()];
            let mut total = 0.0;
            for row in of_class.into_iter().filter(|&row| takes_part[row as usize]) {
                let weight = weights[row as usize];
                total += weight;
                for (column, value) in rows.row(row as usize).entries() {
                    sums[column] += weight * value;
                }
            }
            if total > 0.0 {
                sums.iter_mut().for_each(|sum| *sum /= total);
            }
            sums
        });
        let lengths = columns
            .iter()
            .map(|centre| centre.iter().map(|value| value * value).sum::<f64>().sqrt())
            .collect();
        let mut centres = vec![0f32; rows.column_count() * width];
        for (class, centre) in columns.iter().enumerate() {
            for (column, &value) in centre.iter().enumerate() {
                centres[column * width + class] = value as f32;
            }
        }
        Ok(CentroidScorer {
            description: CentroidDescription {
                nearness: self.nearness,
                exclusive: labels.task == Task::SingleLabel,
            },
            centres: Storage::Owned(centres),
            lengths,
        }
        .into())
    }

    fn name(&self) -> &'static str {
        "Rocchio"
    }

    fn variants() -> Vec<Variant<Self>> {
        let help = "Rocchio: the class with the nearest centroid";
        vec![Variant::named("rocchio", help, Self::default()).searched(50)]
    }

    fn by_similarity(&self) -> bool {
        true
    }

    /// A centre has no side to be against unless the other side has one too.
    fn needs_both_sides(&self) -> bool {
        true
    }
}

/// How near a row is to every centroid.
struct Nearby<'a> {
    /// `|x|`.
    length: f64,
    /// `x·m_c` on the way in, nearness on the way out.
    nearness: &'a mut [f64],
}

impl CentroidScorer {
    fn class_count(&self) -> usize {
        self.lengths.len()
    }

    /// How near the row is to each centre.
    fn nearby<'a>(&self, row: RowView<'_>, buffer: &'a mut ScorerBuffers) -> Nearby<'a> {
        let width = self.class_count();
        buffer.numbers.clear();
        buffer.numbers.resize(width, 0.0);
        let nearness = buffer.numbers.as_mut_slice();
        for (column, value) in row.entries() {
            let Some(centres) = self.centres.get(column * width..(column + 1) * width) else {
                continue;
            };
            for (sum, &centre) in nearness.iter_mut().zip(centres) {
                *sum += value * f64::from(centre);
            }
        }
        let squared = row.squared_norm();
        for (near, length) in nearness.iter_mut().zip(&self.lengths) {
            let product = *near;
            *near = match self.description.nearness {
                Nearness::Cosine => {
                    let lengths = squared.sqrt() * length;
                    if lengths > 0.0 {
                        product / lengths
                    } else {
                        0.0
                    }
                }
                Nearness::Euclidean => -(squared - 2.0 * product + length * length).max(0.0).sqrt(),
            };
        }
        Nearby {
            length: squared.sqrt(),
            nearness,
        }
    }

    /// The class that an output speaks for.
    fn class_of(&self, output: usize) -> usize {
        match self.link() {
            Link::Mirror => 1,
            _ => output,
        }
    }

    /// The nearest other class, where classes exclude each other.
    fn rival(&self, nearness: &[f64], class: usize) -> Option<usize> {
        if !self.description.exclusive {
            return None;
        }
        (0..nearness.len())
            .filter(|&other| other != class)
            .max_by(|&a, &b| nearness[a].total_cmp(&nearness[b]).then(b.cmp(&a)))
    }
}

impl ClassScorer for CentroidScorer {
    /// Two exclusive classes share an output.
    fn output_count(&self) -> usize {
        match self.link() {
            Link::Mirror => 1,
            _ => self.class_count(),
        }
    }

    /// How outputs become scores.
    fn link(&self) -> Link {
        if self.description.exclusive && self.class_count() == 2 {
            Link::Mirror
        } else {
            Link::Independent
        }
    }

    /// How many features there are.
    fn feature_count(&self) -> usize {
        self.centres.len() / self.lengths.len()
    }

    /// Fills `outputs`, one each.
    fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        let nearby = self.nearby(row, buffer);
        for (output, score) in outputs.iter_mut().enumerate() {
            let class = self.class_of(output);
            let own = nearby.nearness[class];
            *score = match self.rival(nearby.nearness, class) {
                Some(rival) => own - nearby.nearness[rival],
                None => own,
            };
        }
    }

    /// What each entry of the row added to an output.
    ///
    /// # Formula
    /// Cosines are weighted sums for a given `|x|`. Distances are not, but differences of their
    /// squares are: `d_k - d_c = (d_k² - d_c²) / (d_k + d_c)`, and `-d_c = -d_c² / d_c`.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        let width = self.class_count();
        let class = self.class_of(output);
        let nearby = self.nearby(row, buffer);
        let rival = self.rival(nearby.nearness, class);
        let centre = |column: usize, class: usize| {
            let place = column * width + class;
            self.centres
                .get(place)
                .filter(|_| class < width)
                .map_or(0.0, |&value| f64::from(value))
        };
        let divide = |above: f64, below: f64| if below > 0.0 { above / below } else { 0.0 };
        for ((column, value), part) in row.entries().zip(parts) {
            let own = centre(column, class);
            *part = match self.description.nearness {
                Nearness::Cosine => {
                    let at = |class: usize| {
                        divide(
                            value * centre(column, class),
                            nearby.length * self.lengths[class],
                        )
                    };
                    at(class) - rival.map_or(0.0, at)
                }
                Nearness::Euclidean => {
                    let own_distance = -nearby.nearness[class];
                    match rival {
                        Some(rival) => divide(
                            2.0 * value * (own - centre(column, rival)),
                            own_distance - nearby.nearness[rival],
                        ),
                        None => divide(2.0 * value * own - value * value, own_distance),
                    }
                }
            };
        }
    }

    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let shape = vec![self.feature_count(), self.class_count()];
        vec![
            NamedTensor::shaped("centres", shape, &self.centres),
            NamedTensor::vector("centre_lengths", &self.lengths),
        ]
    }
}

impl OpenScorer for CentroidScorer {
    type Description = CentroidDescription;

    fn description(&self) -> CentroidDescription {
        self.description
    }

    fn from_tensors(description: CentroidDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let lengths = reader.vector::<f64>("centre_lengths")?;
        let (centres, _, width) = reader.stored_matrix::<f32>("centres")?;
        let fits = width == lengths.len() && width >= 1 && (width >= 2 || !description.exclusive);
        fits.then_some(Self {
            description,
            centres,
            lengths,
        })
    }
}

#[cfg(test)]
#[path = "rocchio/tests.rs"]
mod tests;
