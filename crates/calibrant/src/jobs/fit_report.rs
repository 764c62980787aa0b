//! What a fit has to tell.

use serde::Serialize;

use super::FittedModel;
use crate::Task;
use crate::calibration::{CalibrationNote, CalibratorKind};
use crate::pipeline::{ClassSummary, Model, TrainingSummary, Trial};
use crate::rules::RuleSet;

/// What was read and how the fit went, as `calibrant fit --json` writes it.
#[derive(Debug, Clone, Serialize)]
pub struct FitReport {
    /// Rows that became documents.
    pub rows: u64,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
    /// Rows that a filter rejected.
    pub filtered_rows: u64,
    /// Rows without a label, where documents have one: they were left out.
    pub unlabelled_rows: u64,
    /// What the model remembers of its training, but for the trials of a search.
    #[serde(flatten)]
    pub summary: TrainingSummary,
    /// The trials of a search with their times, which the model does not remember.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Vec<Trial>>,
}

impl FitReport {
    /// Of a model and what it came from.
    pub fn of(fitted: &FittedModel) -> Self {
        let searched = fitted.search.as_ref();
        Self {
            rows: fitted.read.rows,
            bad_rows: fitted.read.bad_row_count,
            filtered_rows: fitted.read.filtered,
            unlabelled_rows: match fitted.model.task() {
                Task::SingleLabel => fitted.read.unlabelled.map_or(0, |found| found.rows),
                Task::MultiLabel => 0,
            },
            summary: TrainingSummary {
                search: Vec::new(),
                ..fitted.model.summary().clone()
            },
            search: searched.map(|outcome| outcome.trials.clone()),
        }
    }
}

/// How the curve of one class was chosen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassFit<'a> {
    /// What the model remembers of the class.
    pub class: &'a ClassSummary,
    /// The held-out log loss of the class's own curve; absent where it has none.
    pub own_log_loss: Option<f64>,
    /// The best of the other methods, where the class has a curve of its own.
    pub next_best: Option<NextBest>,
    /// Whether it has no curve of its own since all its documents, or all others, were held out together, and not since there were few.
    pub lacks_folds: bool,
    /// Two exclusive classes share a curve: whether this is the one with more documents, of which nothing need be said twice.
    pub is_other_side: bool,
}

/// A method that was not chosen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NextBest {
    /// The method.
    pub method: CalibratorKind,
    /// By how much its held-out log loss is above that of the class's curve; below zero where that was not sure.
    pub margin: f64,
}

/// How the curve of each class was chosen, in the order of the classes.
pub fn class_fits(summary: &TrainingSummary) -> Vec<ClassFit<'_>> {
    let two = summary.classes.len() == 2 && summary.task == Task::SingleLabel;
    let any_in_one_fold = summary.classes.iter().any(|class| class.in_one_fold);
    let of_class = |class| {
        let own_log_loss = own_log_loss(class);
        ClassFit {
            class,
            own_log_loss,
            next_best: own_log_loss.and_then(|loss| next_best(class, loss)),
            lacks_folds: class.in_one_fold || two && any_in_one_fold,
            is_other_side: two && 2 * class.positives > summary.documents,
        }
    };
    summary.classes.iter().map(of_class).collect()
}

/// The log loss of a class's own curve, of which one for all classes and the common one are none.
fn own_log_loss(class: &ClassSummary) -> Option<f64> {
    let own = !matches!(
        class.calibration,
        CalibrationNote::Common | CalibrationNote::Joint
    );
    let mut tried = class.tried.iter().filter(|_| own);
    tried
        .find(|tried| tried.method == class.calibrator)?
        .log_loss
}

fn next_best(class: &ClassSummary, loss: f64) -> Option<NextBest> {
    let others = class
        .tried
        .iter()
        .filter(|tried| tried.method != class.calibrator)
        .filter_map(|tried| Some((tried.method, tried.log_loss?)));
    let (method, other) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(NextBest {
        method,
        margin: other - loss,
    })
}

/// The categories of rules that are not a class of the model. Such a rule can help other classes, but is more often a misspelling.
pub fn rules_without_class<'a>(rules: &'a RuleSet, model: &Model) -> Vec<&'a str> {
    let categories = rules.categories();
    categories
        .filter(|category| model.class_names().all(|class| class != *category))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::{ReadOptions, Source};
    use crate::jobs::fit_source;
    use crate::pipeline::FitSettings;

    #[test]
    fn of_two_exclusive_classes_the_rarer_is_told_of() {
        let mut table = String::from("label,text\n");
        for number in 0..30 {
            let label = if number % 3 == 0 { "rare" } else { "usual" };
            table.push_str(&format!("{label},{label} w{} w{}\n", number % 4, number));
        }
        let source = Source::bytes("a.csv", table.into_bytes());
        let settings = FitSettings {
            folds: 3,
            ..FitSettings::default()
        };
        let fitted = fit_source(&source, &ReadOptions::default(), &settings, &NoProgress).unwrap();
        let fits = class_fits(fitted.model.summary());
        let sides: Vec<_> = fits
            .iter()
            .map(|fit| (fit.class.label.as_str(), fit.is_other_side))
            .collect();
        assert_eq!(sides, [("rare", false), ("usual", true)]);
        for fit in fits {
            let tried = &fit.class.tried;
            let chosen = tried.iter().find(|t| t.method == fit.class.calibrator);
            assert_eq!(fit.own_log_loss, chosen.and_then(|chosen| chosen.log_loss));
            assert!(
                fit.next_best
                    .is_none_or(|next| next.method != fit.class.calibrator)
            );
        }
        let rules: RuleSet = "rare: w1\nmisspelt: w2\n".parse().unwrap();
        assert_eq!(rules_without_class(&rules, &fitted.model), ["misspelt"]);
    }
}
