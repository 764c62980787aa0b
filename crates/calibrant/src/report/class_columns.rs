//! The columns of the table of classes, as the program and the page both show it.

use crate::evaluation::ClassEvaluation;

/// What stands in one cell; how it is written is for who writes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClassCell<'a> {
    /// The name of the class.
    Name(&'a str),
    /// How many.
    Count(usize),
    /// A measure; absent where it cannot be taken.
    Measure(Option<f64>),
}

/// One column of the table of classes.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ClassColumn {
    /// Its heading where there is little room.
    pub short: &'static str,
    /// Its heading where there is more.
    pub name: &'static str,
    /// What stands in it.
    pub cell: fn(&ClassEvaluation) -> ClassCell<'_>,
}

/// Every column, in order.
///
/// ```
/// use calibrant::{Probability, Task, evaluation::{Forecasts, evaluate}};
/// use calibrant::report::{CLASS_COLUMNS, ClassCell};
/// let evaluation = evaluate(&Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![Probability::from_log_odds(1.0)],
///     labels: vec![vec![0]].into(),
///     weights: None,
/// })?;
/// let cells = CLASS_COLUMNS.map(|column| (column.cell)(&evaluation.classes[0]));
/// assert_eq!(cells[..2], [ClassCell::Name("wheat"), ClassCell::Count(1)]);
/// # Ok::<(), calibrant::evaluation::EvaluationError>(())
/// ```
pub const CLASS_COLUMNS: [ClassColumn; 11] = [
    column("class", "class", |class| ClassCell::Name(&class.label)),
    column("documents", "documents", |class| {
        ClassCell::Count(class.positives)
    }),
    column("predicted", "predicted", |class| {
        ClassCell::Count(class.predicted)
    }),
    column("precision", "precision", |class| {
        ClassCell::Measure(class.precision)
    }),
    column("recall", "recall", |class| ClassCell::Measure(class.recall)),
    column("F1", "F1", |class| ClassCell::Measure(class.f1)),
    column("y/n log loss", "log loss of yes or no", |class| {
        ClassCell::Measure(Some(class.log_loss))
    }),
    column("y/n Brier", "Brier of yes or no", |class| {
        ClassCell::Measure(Some(class.brier))
    }),
    column("AUC", "AUC", |class| ClassCell::Measure(class.auc)),
    column("AP", "average precision", |class| {
        ClassCell::Measure(class.average_precision)
    }),
    column("y/n ECE", "ECE of yes or no", |class| {
        ClassCell::Measure(class.ece)
    }),
];

const fn column(
    short: &'static str,
    name: &'static str,
    cell: fn(&ClassEvaluation) -> ClassCell<'_>,
) -> ClassColumn {
    ClassColumn { short, name, cell }
}
