//! Measures of written probabilities: one code for both sides.

use std::collections::HashMap;
use std::error::Error;

use calibrant::Probability;
use calibrant::evaluation::{Binning, ECE_BINS, SortedForecasts};

use super::cell::Measures;

/// A stated 0 is read as this, and a stated 1 as its complement: what scikit-learn's `log_loss` does.
const CLIP: f64 = f64::EPSILON;

/// What was stated for every test document, and what was true.
pub(super) struct Stated<'a> {
    pub(super) classes: &'a [String],
    /// Row by row, as many columns as classes.
    pub(super) probabilities: &'a [f64],
    pub(super) labels: Vec<&'a [String]>,
    /// Whether a document may have several labels.
    pub(super) several: bool,
    /// Training documents, copies not counted.
    pub(super) training: usize,
}

#[derive(Default)]
struct Sums {
    documents: usize,
    log_loss: f64,
    brier: f64,
    /// Yes-or-no forecasts: of the most probable class, or of every decision.
    points: Vec<(Probability, bool, f64)>,
    errors: f64,
    expected: f64,
    variance: f64,
}

impl Stated<'_> {
    /// All measures. Log loss and Brier score are means over documents, or over decisions where labels are several.
    pub(super) fn measure(&self) -> Result<Measures, Box<dyn Error>> {
        let count = self.classes.len();
        if count == 0 || self.probabilities.len() != count * self.labels.len() {
            let (numbers, rows) = (self.probabilities.len(), self.labels.len());
            return Err(format!("{numbers} numbers for {rows} rows of {count} classes").into());
        }
        let places: HashMap<&str, usize> = (0..count)
            .map(|place| (self.classes[place].as_str(), place))
            .collect();
        let mut sums = Sums::default();
        for (row, labels) in self.probabilities.chunks_exact(count).zip(&self.labels) {
            let known = labels
                .iter()
                .filter_map(|l| places.get(l.as_str()).copied());
            let known: Vec<usize> = known.collect();
            if self.several {
                sums.add_decisions(row, &known);
            } else if let [label] = known[..] {
                sums.add_document(row, label);
            }
        }
        let left_out = self.labels.len() - sums.documents;
        Ok(sums.finish(self.training, left_out, count))
    }
}

impl Sums {
    fn add_document(&mut self, row: &[f64], label: usize) {
        self.documents += 1;
        self.log_loss -= clipped(row[label]).ln();
        for (class, &stated) in row.iter().enumerate() {
            let happened = f64::from(u8::from(class == label));
            self.brier += (stated - happened).powi(2);
        }
        // The first of equals.
        let top = (1..row.len()).fold(0, |top, next| if row[next] > row[top] { next } else { top });
        self.add_point(row[top], top == label);
        self.add_error(1.0 - row[top], top != label);
    }

    fn add_decisions(&mut self, row: &[f64], labels: &[usize]) {
        self.documents += 1;
        for (class, &stated) in row.iter().enumerate() {
            let happened = labels.contains(&class);
            let share = if happened { stated } else { 1.0 - stated };
            self.log_loss -= clipped(share).ln();
            self.brier += (1.0 - share).powi(2);
            self.add_point(stated, happened);
            self.add_error(stated.min(1.0 - stated), happened != (stated > 0.5));
        }
    }

    fn add_point(&mut self, stated: f64, happened: bool) {
        let stated = clipped(stated);
        let log_odds = stated.ln() - (1.0 - stated).ln();
        self.points
            .push((Probability::from_log_odds(log_odds), happened, 1.0));
    }

    fn add_error(&mut self, stated: f64, wrong: bool) {
        self.errors += f64::from(u8::from(wrong));
        self.expected += stated;
        self.variance += stated * (1.0 - stated);
    }

    fn finish(self, training: usize, left_out: usize, classes: usize) -> Measures {
        let units = self.points.len() as f64;
        let error =
            SortedForecasts::new(&self.points).calibration_error(Binning::EqualMass, ECE_BINS);
        // The curve was learned from documents, too: its share of the errors varies with them.
        let learned = 1.0 + self.documents as f64 / training as f64;
        Measures {
            training,
            test: self.documents,
            left_out,
            classes,
            log_loss: self.log_loss / units,
            brier: self.brier / units,
            ece: error.value,
            ece_of_perfect: error.of_perfect,
            errors: self.errors,
            expected_errors: self.expected,
            z: (self.errors - self.expected) / (self.variance * learned).sqrt(),
        }
    }
}

fn clipped(stated: f64) -> f64 {
    stated.clamp(CLIP, 1.0 - CLIP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use calibrant::Task;
    use calibrant::evaluation::{Forecasts, evaluate};

    const STATED: [f64; 12] = [
        0.7, 0.2, 0.1, 0.25, 0.5, 0.25, 0.1, 0.1, 0.8, 0.4, 0.35, 0.25,
    ];

    fn names(labels: &[&str]) -> Vec<String> {
        labels.iter().map(|&label| label.to_owned()).collect()
    }

    /// The library's own report of the same forecasts.
    fn check(several: bool, labels: &[&[&str]]) {
        let classes = names(&["a", "b", "c"]);
        let labels: Vec<Vec<String>> = labels.iter().map(|labels| names(labels)).collect();
        let found = Stated {
            classes: &classes,
            probabilities: &STATED,
            labels: labels.iter().map(Vec::as_slice).collect(),
            several,
            training: 8,
        };
        let found = found.measure().expect("measures");
        let place = |label: &String| classes.iter().position(|c| c == label).expect("known") as u32;
        let expected = evaluate(&Forecasts {
            task: if several {
                Task::MultiLabel
            } else {
                Task::SingleLabel
            },
            class_names: classes.clone(),
            probabilities: STATED
                .iter()
                .map(|p| Probability::from_log_odds((p / (1.0 - p)).ln()))
                .collect(),
            labels: labels
                .iter()
                .map(|row| row.iter().map(place).collect())
                .collect(),
            weights: None,
        })
        .expect("an evaluation");
        let further = expected.further.expect("all measures").error_likelihood;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        close(found.log_loss, expected.log_loss);
        close(found.brier, expected.brier);
        close(found.ece, expected.ece);
        close(found.ece_of_perfect, expected.ece_of_perfect);
        close(found.errors, further.observed);
        close(found.expected_errors, further.expected);
        // Four test and eight training documents: the variance is one and a half times as large.
        close(found.z, further.z.expect("open") / 1.5f64.sqrt());
    }

    #[test]
    fn measures_are_those_of_the_report() {
        check(false, &[&["a"], &["c"], &["c"], &["b"]]);
        check(true, &[&["a"], &["b", "c"], &[], &["a", "b"]]);
    }

    #[test] // By hand: of two documents one has a class that nobody stated; the other's 0 costs ln 2^52.
    fn unknown_classes_are_left_out_and_zeros_cost_much() {
        let classes = names(&["a", "b"]);
        let (unknown, b) = (names(&["z"]), names(&["b"]));
        let stated = Stated {
            classes: &classes,
            probabilities: &[0.5, 0.5, 1.0, 0.0],
            labels: vec![&unknown, &b],
            several: false,
            training: 10,
        };
        let found = stated.measure().expect("measures");
        assert_eq!((found.test, found.left_out), (1, 1));
        assert!((found.log_loss - 52.0 * std::f64::consts::LN_2).abs() < 1e-12);
        assert_eq!(found.brier, 2.0);
    }
}
