//! Measures of written probabilities: one code for both sides.

use std::collections::HashMap;
use std::error::Error;

use calibrant::evaluation::{Binning, ECE_BINS, SortedForecasts, StatedCell, StatedTable};
use calibrant::{Probability, Task};

use super::cell::Measures;

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
        let stated = self.settled()?;
        let mut sums = Sums::default();
        for (row, labels) in stated.chunks_exact(count).zip(&self.labels) {
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

    /// With zeros and ones as every command reads them.
    fn settled(&self) -> Result<Vec<Probability>, String> {
        let cell = |&p: &f64| StatedCell::of_number(p).ok_or(format!("{p} is not a probability"));
        let cells: Vec<StatedCell> = self
            .probabilities
            .iter()
            .map(cell)
            .collect::<Result<_, _>>()?;
        let task = match self.several {
            true => Task::MultiLabel,
            false => Task::SingleLabel,
        };
        Ok(StatedTable::settle(task, self.classes.len(), &cells).probabilities)
    }
}

impl Sums {
    fn add_document(&mut self, row: &[Probability], label: usize) {
        self.documents += 1;
        self.log_loss += row[label].log_loss(true);
        for (class, stated) in row.iter().enumerate() {
            let happened = f64::from(u8::from(class == label));
            self.brier += (stated.value() - happened).powi(2);
        }
        // The first of equals.
        let above = |a: usize, b: usize| row[a].log_odds() > row[b].log_odds();
        let top = (1..row.len()).fold(0, |top, next| if above(next, top) { next } else { top });
        self.points.push((row[top], top == label, 1.0));
        self.add_error(row[top].complement().value(), top != label);
    }

    fn add_decisions(&mut self, row: &[Probability], labels: &[usize]) {
        self.documents += 1;
        for (class, &stated) in row.iter().enumerate() {
            let happened = labels.contains(&class);
            let share = if happened {
                stated
            } else {
                stated.complement()
            };
            self.log_loss += stated.log_loss(happened);
            self.brier += share.complement().value().powi(2);
            self.points.push((stated, happened, 1.0));
            let yes = stated.log_odds() > 0.0;
            let chance = if yes { stated.complement() } else { stated };
            self.add_error(chance.value(), happened != yes);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
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
                .map(|row| row.iter().map(place).collect::<Vec<u32>>())
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

    #[test] // By hand: of two documents one has a class that nobody stated; the other's 0 counts as half of 0.5.
    fn unknown_classes_are_left_out_and_zeros_count_as_in_every_command() {
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
        assert!((found.log_loss - 4f64.ln()).abs() < 1e-12);
        assert!((found.brier - 2.0 * 0.75f64.powi(2)).abs() < 1e-12);
    }
}
