//! One set of forecasts, told whole: what was measured, and the figures that show it; and several side by side.
//!
//! [`Report::new`] gathers everything as plain data; [`Report::to_html`] writes it as a page that
//! needs nothing but itself. Figures hold a bounded number of elements however many documents
//! there are.

mod answers;
mod calibration_measures;
mod calibration_table;
mod class_columns;
mod comparison;
mod decisions_page;
mod expected_page;
mod first_screen;
mod html;
mod mistakes;
mod points;
mod score_fit;

pub use answers::{AnsweredShare, AnsweredShares, AnsweredTarget, BenefitPoint, DecisionCurve};
pub use calibration_measures::{CalibrationMeasure, CalibrationValue, calibration_measures};
pub use class_columns::{CLASS_COLUMNS, ClassCell, ClassColumn};
pub use comparison::{SystemReliability, differences_section, reliability_section, telling_pairs};
pub use expected_page::ExpectedPage;
pub use mistakes::WorstMistake;
pub use score_fit::{ClassScores, ScoreFit};

use crate::evaluation::{
    ConfusionTable, CostPoint, Evaluation, EvaluationError, Forecasts, OpenWorldReport,
    PrecisionRecall, confusion_table, cost_curve, precision_recall,
};
use crate::plot::{ReliabilitySeries, Scale};
use points::{all_decisions, decisions_of_class};

/// Classes whose reliability is shown one by one.
const MOST_PANELS: usize = 12;
/// Classes with a precision-recall curve of their own.
const MOST_CLASS_CURVES: usize = 4;
/// Classes with a decision curve.
const MOST_BENEFITS: usize = 4;
/// Classes with fewer positives get no curve of their own.
const LEAST_POSITIVES: usize = 10;
/// The largest ratio of costs that is shown, and steps on each side of equal costs.
const COST_RATIO: f64 = 1_000.0;
const COST_STEPS: usize = 120;
/// Points of a precision-recall curve.
const CURVE_POINTS: usize = 300;

/// What a report is made of.
pub struct ReportInput<'a> {
    /// The heading of the report.
    pub title: String,
    /// What was measured: the model, the file and so on, as `(name, value)`.
    pub facts: Vec<(String, String)>,
    /// Sentences that the reader should not miss, such as what was left out.
    pub notes: Vec<String>,
    /// What was said and what was true.
    pub forecasts: &'a Forecasts,
    /// The measures of the same forecasts.
    pub evaluation: &'a Evaluation,
    /// Scores behind the forecasts, of the classes whose calibration is to be shown; may be
    /// empty.
    pub scores: Vec<ClassScores<'a>>,
    /// What was measured, when and by which version, in a sentence; the library reads no clock.
    pub made: Option<String>,
    /// How often the surest answers are right.
    pub answers: AnsweredShares,
    /// The most confidently wrong answers, the surest first; may be empty.
    pub mistakes: Vec<WorstMistake>,
    /// What became of documents of other classes, where that was asked.
    pub other: Option<OpenWorldReport>,
}

/// The precision-recall curve of one class, or of all decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedPrecisionRecall {
    /// The class, or that these are all.
    pub name: String,
    /// The curve.
    pub curve: PrecisionRecall,
    /// Recall and precision of the decisions that are really taken.
    pub decided: (f64, f64),
}

/// Everything that a report shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// What was measured.
    pub facts: Vec<(String, String)>,
    /// What the reader should not miss.
    pub notes: Vec<String>,
    /// The measures.
    pub evaluation: Evaluation,
    /// Stated against observed, for the decisions that calibration is judged by.
    pub reliability: ReliabilitySeries,
    /// The same in bins along the log-odds.
    pub reliability_by_log_odds: ReliabilitySeries,
    /// The same for the most frequent classes, each against the rest.
    pub class_reliability: Vec<ReliabilitySeries>,
    /// All decisions together first, then the classes that are hardest to find.
    pub precision_recall: Vec<NamedPrecisionRecall>,
    /// What decisions cost.
    pub costs: Vec<CostPoint>,
    /// Which classes are taken for which.
    pub confusion: ConfusionTable,
    /// Scores and what calibrators make of them.
    pub scores: Vec<ScoreFit>,
    /// What was measured, when and by which version.
    pub made: Option<String>,
    /// How often the surest answers are right.
    pub answers: AnsweredShares,
    /// What acting on the probabilities of the most frequent classes is worth.
    pub decision_curves: Vec<DecisionCurve>,
    /// The most confidently wrong answers.
    pub mistakes: Vec<WorstMistake>,
    /// What became of documents of other classes.
    pub other: Option<OpenWorldReport>,
}

impl Report {
    /// Gathers everything, in `O(n log n)` of the decisions.
    ///
    /// ```
    /// use calibrant::{Probability, Task, evaluation::{Forecasts, evaluate}};
    /// use calibrant::report::{AnsweredShares, Report, ReportInput};
    /// let p = Probability::from_log_odds(1.0);
    /// let forecasts = Forecasts {
    ///     task: Task::SingleLabel,
    ///     class_names: vec!["ham".into(), "spam".into()],
    ///     probabilities: vec![p, p.complement(), p.complement(), p],
    ///     labels: vec![vec![0], vec![1]].into(),
    ///     weights: None,
    /// };
    /// let report = Report::new(ReportInput {
    ///     title: "Two letters".into(),
    ///     facts: vec![],
    ///     notes: vec![],
    ///     forecasts: &forecasts,
    ///     evaluation: &evaluate(&forecasts)?,
    ///     scores: vec![],
    ///     made: None,
    ///     answers: AnsweredShares::of(&forecasts, &[]),
    ///     mistakes: vec![],
    ///     other: None,
    /// })?;
    /// assert_eq!(report.confusion.dense(), [1.0, 0.0, 0.0, 1.0]);
    /// assert!(report.to_html().contains("<h1>Two letters</h1>"));
    /// # Ok::<(), calibrant::evaluation::EvaluationError>(())
    /// ```
    pub fn new(input: ReportInput<'_>) -> Result<Self, EvaluationError> {
        let (forecasts, evaluation) = (input.forecasts, input.evaluation);
        let judged = forecasts.calibration_points()?;
        Ok(Self {
            title: input.title,
            facts: input.facts,
            notes: input.notes,
            evaluation: evaluation.clone(),
            reliability: ReliabilitySeries::along("forecasts", &judged, Scale::Linear),
            reliability_by_log_odds: ReliabilitySeries::along("forecasts", &judged, Scale::LogOdds),
            class_reliability: class_reliability(forecasts, evaluation),
            precision_recall: class_curves(forecasts, evaluation),
            costs: cost_curve(&judged, COST_RATIO.ln(), COST_STEPS),
            confusion: confusion_table(forecasts)?,
            scores: input.scores.iter().filter_map(ScoreFit::new).collect(),
            made: input.made,
            answers: input.answers,
            decision_curves: decision_curves(forecasts, evaluation),
            mistakes: input.mistakes,
            other: input.other,
        })
    }

    /// The report as a page for a browser. Equal reports give equal pages.
    pub fn to_html(&self) -> String {
        html::render(self)
    }
}

/// Decision curves of the most frequent classes; of two that exclude each other, of the second.
fn decision_curves(forecasts: &Forecasts, evaluation: &Evaluation) -> Vec<DecisionCurve> {
    let thresholds: Vec<f64> = (1..200).map(|step| f64::from(step) / 200.0).collect();
    let mut classes = by_frequency(evaluation);
    classes.retain(|&class| evaluation.classes[class].positives > 0);
    if forecasts.task == crate::Task::SingleLabel && forecasts.class_names.len() == 2 {
        classes = vec![1];
    }
    classes.truncate(MOST_BENEFITS);
    let curve = |class: usize| DecisionCurve::at(forecasts, class, true, &thresholds);
    classes.into_iter().map(curve).collect()
}

/// The classes by the number of their documents, the most frequent first.
fn by_frequency(evaluation: &Evaluation) -> Vec<usize> {
    let mut classes: Vec<usize> = (0..evaluation.classes.len()).collect();
    classes.sort_by_key(|&class| std::cmp::Reverse(evaluation.classes[class].positives));
    classes
}

fn class_reliability(forecasts: &Forecasts, evaluation: &Evaluation) -> Vec<ReliabilitySeries> {
    if forecasts.class_names.len() < 2 {
        return Vec::new();
    }
    by_frequency(evaluation)
        .into_iter()
        .take(MOST_PANELS)
        .filter(|&class| evaluation.classes[class].positives > 0)
        .map(|class| {
            let points = decisions_of_class(forecasts, class);
            ReliabilitySeries::along(&forecasts.class_names[class], &points, Scale::Linear)
        })
        .collect()
}

/// All decisions together, then the classes with the least average precision.
fn class_curves(forecasts: &Forecasts, evaluation: &Evaluation) -> Vec<NamedPrecisionRecall> {
    let mut curves: Vec<NamedPrecisionRecall> = Vec::new();
    let usual = by_frequency(evaluation)
        .into_iter()
        .filter(|&class| evaluation.classes[class].positives >= LEAST_POSITIVES);
    if forecasts.class_names.len() > 1 {
        for class in usual {
            let measured = &evaluation.classes[class];
            let points = decisions_of_class(forecasts, class);
            curves.push(NamedPrecisionRecall {
                name: measured.label.clone(),
                curve: precision_recall(&points, CURVE_POINTS),
                decided: (
                    measured.recall.unwrap_or(0.0),
                    measured.precision.unwrap_or(0.0),
                ),
            });
        }
    }
    curves.sort_by(|a, b| {
        let by_precision = a
            .curve
            .average_precision
            .total_cmp(&b.curve.average_precision);
        by_precision.then_with(|| a.name.cmp(&b.name))
    });
    curves.truncate(MOST_CLASS_CURVES);
    curves.insert(
        0,
        NamedPrecisionRecall {
            name: "all decisions".to_owned(),
            curve: precision_recall(&all_decisions(forecasts), CURVE_POINTS),
            decided: points::decided(forecasts),
        },
    );
    curves
}

#[cfg(test)]
mod tests;
