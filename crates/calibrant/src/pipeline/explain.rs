//! Which terms moved this document's score?

use std::collections::BTreeMap;

use serde::Serialize;

use super::single_model::{PredictBuffers, SingleModel};
use crate::Probability;
use crate::calibration::{Calibrator, SavedMulticlassCalibrator};
use crate::corpus::ContentRef;
use crate::numeric::log_sum_exp;
use crate::scorers::Link;

/// Why a document has the log-odds it has for a class.
///
/// The parts add up exactly: `base + Σ terms = log-odds` before classes are normalised.
///
/// # Formula
/// ```text
/// score        s = s₀ + Σ_t x_t v_t                      s₀: the score without any term
/// log-odds     L(s) = L(s₀) + Σ_t x_t v_t · (L(s) - L(s₀)) / (s - s₀)
/// ```
/// Where terms say less in long documents, `v_t` is the term's weight times [the document's factor](crate::scorers::LengthDamping).
/// `L` is the calibrator. Where it bends, each term gets its share of the way from `s₀` to `s`: the
/// integral of the gradient along the straight line between them. For naive Bayes over several exclusive
/// classes the score is a log-odds against the others together; there `v_t` is the class's weight
/// minus the others' mean weight by their share of the rest, and `s₀` takes up the remainder
/// (the entropy of those shares), so that the sum stays exact.
///
/// Where all classes have a calibrator together, `L` depends on all outputs and a term gets its share
/// through each of them, by the same integral; nothing is left to be normalised.
///
/// In a combination a term has its parts in all models, each times the model's weight, and so has the
/// base, to which the class's intercept is added. What they add up to is `Σ_m w_m L_m + b_c`: the
/// log-odds themselves where classes do not exclude each other or are two, else those of the class
/// before all are normalised. After a recalibration the same holds with its one slope as the weight.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The class that is explained.
    pub label: String,
    /// Its probability, after classes are normalised.
    pub probability: f64,
    /// The log-odds that belong to that probability.
    pub log_odds: f64,
    /// The scorer's score.
    pub score: f64,
    /// The calibrated log-odds of that score, before classes are normalised.
    pub calibrated_log_odds: f64,
    /// The calibrated log-odds without any term.
    pub base_log_odds: f64,
    /// Every term of the document that is a feature, the strongest first.
    pub terms: Vec<TermContribution>,
    /// Distinct terms of the document that the model does not know.
    pub unknown_terms: usize,
}

/// What one term did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermContribution {
    /// The term; terms that share a hashed column are shown together.
    pub term: String,
    /// How often it occurs.
    pub count: f64,
    /// Its value as a feature.
    pub value: f64,
    /// What it added to the score.
    pub score: f64,
    /// What it added to the calibrated log-odds.
    pub log_odds: f64,
}

impl TermContribution {
    /// Those that moved the log-odds most come first; of equals, by their names.
    pub(super) fn strongest_first(terms: &mut [Self]) {
        terms.sort_by(|a, b| {
            let strength = b.log_odds.abs().total_cmp(&a.log_odds.abs());
            strength.then_with(|| a.term.cmp(&b.term))
        });
    }
}

/// Calibrated log-odds without any entry and with all, and what each adds in between.
struct LogOddsShares {
    base: f64,
    total: f64,
    shares: Vec<f64>,
}

impl SingleModel {
    pub(super) fn explain(&self, content: ContentRef<'_>, class: usize) -> Explanation {
        let mut buffers = PredictBuffers::default();
        let mut classes = vec![Probability::from_log_odds(0.0); self.class_count()];
        self.predict_into(content, &mut buffers, &mut classes);
        let (names, unknown) = self.term_names(content);
        let scores = buffers.scores.clone();
        let row = self.extractor.row(content, &mut buffers.extractor);
        let buffer = &mut buffers.scorer;
        let mut outputs = vec![0.0; self.scorer.output_count()];
        self.scorer.outputs_into(row, buffer, &mut outputs);
        let entries: Vec<(usize, f64)> = row.entries().collect();
        let mut parts_of = |output: usize| {
            let mut parts = vec![0.0; entries.len()];
            self.scorer.parts_into(row, output, buffer, &mut parts);
            parts
        };

        // Each class's score as `sign · (base + Σ parts)`.
        let (output, sign) = match self.scorer.link() {
            Link::Mirror => (0, if class == 0 { -1.0 } else { 1.0 }),
            _ => (class, 1.0),
        };
        let mut contributions = parts_of(output);
        if self.scorer.link() == Link::AgainstRest {
            for (other, share) in shares_of_the_rest(&outputs, class) {
                let rest = parts_of(other);
                for (own, part) in contributions.iter_mut().zip(rest) {
                    *own -= share * part;
                }
            }
        }
        contributions.iter_mut().for_each(|part| *part *= sign);
        let score = sign * scores[output];
        let along = match &self.calibrators.joint {
            None => self.shares_alone(output, sign, score, &contributions),
            Some(joint) => {
                let parts: Vec<Vec<f64>> = (0..outputs.len()).map(parts_of).collect();
                self.shares_together(joint, class, &outputs, &parts)
            }
        };
        let columns: Vec<usize> = entries.iter().map(|&(column, _)| column).collect();
        let terms = entries.into_iter().zip(contributions).zip(along.shares);
        let terms = terms.map(|(((column, value), contribution), log_odds)| {
            let (term, count) = names.get(&(column as u32)).cloned().unwrap_or_default();
            TermContribution {
                term,
                count,
                value,
                score: contribution,
                log_odds,
            }
        });
        let mut terms: Vec<TermContribution> = terms.collect();
        self.put_vectors_together(&columns, &mut terms);
        TermContribution::strongest_first(&mut terms);
        let mut explanation = Explanation {
            label: self.summary.classes[class].label.clone(),
            probability: classes[class].value(),
            log_odds: classes[class].log_odds(),
            score,
            calibrated_log_odds: along.total,
            base_log_odds: along.base,
            terms,
            unknown_terms: unknown.len(),
        };
        if let Some(own) = &self.recalibration {
            own.explain(self.task(), class, &mut explanation);
        }
        explanation
    }

    /// Where an output has a calibrator of its own: each entry's share of the way from the base to the score.
    fn shares_alone(
        &self,
        output: usize,
        sign: f64,
        score: f64,
        contributions: &[f64],
    ) -> LogOddsShares {
        let calibrated = |score: f64| {
            let calibrator = &self.calibrators.of_outputs[output];
            sign * calibrator.probability(sign * score).log_odds()
        };
        let moved: f64 = contributions.iter().sum();
        let (base, total) = (calibrated(score - moved), calibrated(score));
        let still = moved.abs() <= 1e-12;
        let slope = if still { 0.0 } else { (total - base) / moved };
        LogOddsShares {
            base: if still { total } else { base },
            total,
            shares: contributions.iter().map(|part| slope * part).collect(),
        }
    }

    /// Where all classes have a calibrator together: each entry's share through every output. `parts` has those of the
    /// entries for each output.
    fn shares_together(
        &self,
        joint: &SavedMulticlassCalibrator,
        class: usize,
        outputs: &[f64],
        parts: &[Vec<f64>],
    ) -> LogOddsShares {
        let from: Vec<f64> = outputs
            .iter()
            .zip(parts)
            .map(|(output, parts)| output - parts.iter().sum::<f64>())
            .collect();
        let path = self.path_slopes(joint, class, &from, outputs);
        let mut shares = vec![0.0; parts.first().map_or(0, Vec::len)];
        for (parts, slope) in parts.iter().zip(&path.slopes) {
            for (share, part) in shares.iter_mut().zip(parts) {
                *share += slope * part;
            }
        }
        LogOddsShares {
            base: path.base,
            total: path.total,
            shares,
        }
    }

    /// The terms behind each column of a document with their counts, and those that have no column.
    pub(super) fn term_names(
        &self,
        content: ContentRef<'_>,
    ) -> (BTreeMap<u32, (String, f64)>, Vec<String>) {
        let mut counts: BTreeMap<String, f64> = BTreeMap::new();
        match content {
            ContentRef::Text(_) | ContentRef::Record(_) => {
                let text = content.as_text().unwrap_or_default();
                for term in self.extractor.analyzer().terms(text) {
                    *counts.entry(term).or_default() += 1.0;
                }
            }
            ContentRef::Features(features) => {
                for &(number, value) in features {
                    *counts.entry(number.to_string()).or_default() += f64::from(value);
                }
            }
        }
        let mut names: BTreeMap<u32, (String, f64)> = BTreeMap::new();
        let mut unknown = Vec::new();
        for (term, count) in counts {
            match self.extractor.column(&term) {
                None => unknown.push(term),
                Some(column) => {
                    let entry = names.entry(column).or_default();
                    entry.0 = if entry.0.is_empty() {
                        term
                    } else {
                        format!("{}, {term}", entry.0)
                    };
                    entry.1 += count;
                }
            }
        }
        self.side_names(content, &mut names);
        (names, unknown)
    }

    /// Columns beside the text count once and go by their names, numbers with what the cell holds.
    fn side_names(&self, content: ContentRef<'_>, names: &mut BTreeMap<u32, (String, f64)>) {
        let Some(side) = self.extractor.side_columns() else {
            return;
        };
        let first = self.extractor.term_count() as u32;
        let mut columns = side.column_names();
        let numbers = content.as_record().map(|record| record.numbers.as_slice());
        for (column, field) in side.numeric_columns() {
            let cell = numbers.and_then(|numbers| numbers.get(field).copied().flatten());
            if let Some(number) = cell {
                columns[column] = format!("{}={number}", columns[column]);
            }
        }
        let named = (first..).zip(columns.into_iter().map(|name| (name, 1.0)));
        names.extend(named);
    }

    /// The numbers of a vector mean nothing one by one: their parts are added up under the name of the field, and their
    /// value is the vector's length.
    fn put_vectors_together(&self, columns: &[usize], terms: &mut Vec<TermContribution>) {
        let Some(side) = self.extractor.side_columns() else {
            return;
        };
        let first = self.extractor.term_count();
        let mut vectors = Vec::new();
        // Columns rise, and those of vectors come last.
        for (field, own) in side.vector_columns() {
            let place = |column: usize| columns.partition_point(|&other| other < first + column);
            let parts = &terms[place(own.start)..place(own.end)];
            let sum = |part: fn(&TermContribution) -> f64| parts.iter().map(part).sum::<f64>();
            vectors.extend((!parts.is_empty()).then(|| TermContribution {
                term: field.to_owned(),
                count: 1.0,
                value: sum(|part| part.value * part.value).sqrt(),
                score: sum(|part| part.score),
                log_odds: sum(|part| part.log_odds),
            }));
        }
        let others = first + side.column_count() - side.vector_column_count();
        terms.truncate(columns.partition_point(|&column| column < others));
        terms.extend(vectors);
    }
}

/// `e^{a_k} / Σ_{j≠c} e^{a_j}` for every class but `c`.
fn shares_of_the_rest(outputs: &[f64], class: usize) -> Vec<(usize, f64)> {
    let others: Vec<usize> = (0..outputs.len()).filter(|&other| other != class).collect();
    let values: Vec<f64> = others.iter().map(|&other| outputs[other]).collect();
    let total = log_sum_exp(&values);
    others
        .into_iter()
        .zip(values)
        .map(|(other, value)| (other, (value - total).exp()))
        .collect()
}
