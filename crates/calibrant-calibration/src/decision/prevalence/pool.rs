//! What is given: a pool with stated probabilities, and labels of documents drawn at random.

use crate::RowLabels;

use super::PrevalenceError;

/// How the labelled documents were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum SampleDesign<'a> {
    /// Every set of so many documents was equally likely.
    #[default]
    SimpleRandom,
    /// A fixed number at random from each stratum.
    Stratified {
        /// The stratum of each document of the pool.
        pool: &'a [u32],
        /// The stratum of each labelled document.
        sample: &'a [u32],
    },
}

/// Stated probabilities of many documents, and labels of some, drawn at random.
///
/// Probabilities lie row by row, one for each class. The predictor must not have learned from these labels.
#[derive(Debug, Clone, Copy)]
pub struct LabelledPool<'a> {
    /// How many classes there are.
    pub classes: usize,
    /// What was stated of every document of the pool.
    pub pool: &'a [f64],
    /// What was stated of every labelled document.
    pub sample: &'a [f64],
    /// The classes of every labelled document; one may have several, or none.
    pub labels: &'a RowLabels,
    /// Whether the labelled documents are among those of the pool. If not, they are added to it: shares and counts are then
    /// of both together.
    pub holds_sample: bool,
    /// How the labelled documents were drawn.
    pub design: SampleDesign<'a>,
}

impl LabelledPool<'_> {
    /// How many documents there are, the labelled ones included.
    pub fn documents(&self) -> usize {
        let pool = self.pool.len() / self.classes.max(1);
        match self.holds_sample {
            true => pool,
            false => pool + self.labels.len(),
        }
    }

    /// What was stated of the class in all documents, rising.
    pub(crate) fn sorted(&self, class: usize) -> Vec<f64> {
        let column = |rows: &[f64]| -> Vec<f64> {
            let from = rows.iter().skip(class);
            from.step_by(self.classes).copied().collect()
        };
        let mut all = column(self.pool);
        if !self.holds_sample {
            all.extend(column(self.sample));
        }
        all.sort_by(f64::total_cmp);
        all
    }

    pub(crate) fn check(&self) -> Result<(), PrevalenceError> {
        let labelled = self.labels.len();
        if labelled == 0 {
            return Err(PrevalenceError::NoLabels);
        }
        if self.classes == 0 || self.pool.is_empty() {
            return Err(PrevalenceError::NoDocuments);
        }
        let lengths = [
            (
                "probabilities of the sample",
                labelled * self.classes,
                self.sample.len(),
            ),
            (
                "probabilities of the pool",
                self.pool.len().div_ceil(self.classes) * self.classes,
                self.pool.len(),
            ),
        ];
        for (what, expected, found) in lengths {
            if expected != found {
                return Err(PrevalenceError::Length {
                    what,
                    expected,
                    found,
                });
            }
        }
        for rows in [self.pool, self.sample] {
            let bad = rows.iter().position(|p| !(0.0..=1.0).contains(p));
            if let Some(place) = bad {
                let (document, class) = (place / self.classes, place % self.classes);
                let value = rows[place];
                return Err(PrevalenceError::BadProbability {
                    document,
                    class,
                    value,
                });
            }
        }
        let last = self.classes - 1;
        let largest = self.labels.iter().flatten().max();
        if let Some(&number) = largest
            && number as usize > last
        {
            let number = number as usize;
            return Err(PrevalenceError::Unknown {
                what: "class",
                number,
                last,
            });
        }
        let documents = self.documents();
        if labelled > documents {
            return Err(PrevalenceError::SampleTooLarge {
                labelled,
                documents,
            });
        }
        self.check_design()
    }

    fn check_design(&self) -> Result<(), PrevalenceError> {
        let SampleDesign::Stratified { pool, sample } = self.design else {
            return Ok(());
        };
        let lengths = [
            (
                "strata of the pool",
                self.pool.len() / self.classes,
                pool.len(),
            ),
            ("strata of the sample", self.labels.len(), sample.len()),
        ];
        for (what, expected, found) in lengths {
            if expected != found {
                return Err(PrevalenceError::Length {
                    what,
                    expected,
                    found,
                });
            }
        }
        let last = self.documents();
        if let Some(&number) = pool
            .iter()
            .chain(sample)
            .find(|&&number| number as usize > last)
        {
            let number = number as usize;
            return Err(PrevalenceError::Unknown {
                what: "stratum",
                number,
                last,
            });
        }
        let (strata, labelled) = (sizes(pool), sizes(sample));
        if labelled.len() > strata.len() && self.holds_sample {
            let (number, last) = (labelled.len() - 1, strata.len().saturating_sub(1));
            return Err(PrevalenceError::Unknown {
                what: "stratum",
                number,
                last,
            });
        }
        for (&documents, &labelled) in strata.iter().zip(&labelled) {
            if self.holds_sample && labelled > documents {
                return Err(PrevalenceError::SampleTooLarge {
                    labelled,
                    documents,
                });
            }
        }
        Ok(())
    }
}

/// How many there are of each number.
pub(crate) fn sizes(strata: &[u32]) -> Vec<usize> {
    let last = strata.iter().max().map_or(0, |&last| last as usize + 1);
    let mut sizes = vec![0; last];
    strata
        .iter()
        .for_each(|&stratum| sizes[stratum as usize] += 1);
    sizes
}
