//! How sets fared where the true class is known.

use crate::RowLabels;
use crate::numeric::{exact_lower_share, exact_upper_share};
use serde::{Deserialize, Serialize};

/// How often sets held the true class, and how large they were.
///
/// ```
/// use calibrant_calibration::{RowLabels, decision::SetReport};
/// let sets = RowLabels::from([vec![0], vec![0, 1], vec![1], vec![]]);
/// let report = SetReport::new(&sets, &[0, 1, 0, 1], 2);
/// // By hand: the first two hold the truth, of four; sizes 1, 2, 1, 0.
/// assert_eq!((report.coverage, report.mean_size), (0.5, 1.0));
/// assert_eq!((report.singles, report.empty), (0.5, 0.25));
/// assert_eq!(report.class_coverage, [Some(0.5), Some(0.5)]);
/// assert_eq!(report.sizes, [1, 2, 1]);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetReport {
    /// How many documents there were.
    pub documents: u64,
    /// The share whose set holds the true class.
    pub coverage: f64,
    /// The lower end of its exact 95 % interval.
    pub coverage_lower: f64,
    /// The upper end.
    pub coverage_upper: f64,
    /// Class by class, the share of its documents whose set holds it; nothing where it has none.
    pub class_coverage: Vec<Option<f64>>,
    /// How many classes a set has on average.
    pub mean_size: f64,
    /// The share of sets with one class.
    pub singles: f64,
    /// The share of sets with none.
    pub empty: f64,
    /// How many sets have no, one, two, … classes.
    pub sizes: Vec<u64>,
}

impl SetReport {
    /// From sets and true classes, document by document.
    pub fn new(sets: &RowLabels, labels: &[u32], class_count: usize) -> Self {
        let mut of_class = vec![(0u64, 0u64); class_count];
        let mut sizes: Vec<u64> = Vec::new();
        let (mut documents, mut held) = (0u64, 0u64);
        for (set, &label) in sets.iter().zip(labels) {
            let holds = u64::from(set.contains(&label));
            documents += 1;
            held += holds;
            if let Some(own) = of_class.get_mut(label as usize) {
                own.0 += holds;
                own.1 += 1;
            }
            if sizes.len() <= set.len() {
                sizes.resize(set.len() + 1, 0);
            }
            sizes[set.len()] += 1;
        }
        let share = |part: u64| part as f64 / documents.max(1) as f64;
        let classes: u64 = (0..)
            .zip(&sizes)
            .map(|(size, &count): (u64, _)| size * count)
            .sum();
        let size = |size: usize| share(sizes.get(size).copied().unwrap_or(0));
        Self {
            documents,
            coverage: share(held),
            coverage_lower: exact_lower_share(held, documents, 0.025),
            coverage_upper: exact_upper_share(held, documents, 0.025),
            class_coverage: of_class
                .iter()
                .map(|&(held, all)| (all > 0).then(|| held as f64 / all as f64))
                .collect(),
            mean_size: share(classes),
            singles: size(1),
            empty: size(0),
            sizes,
        }
    }
}
