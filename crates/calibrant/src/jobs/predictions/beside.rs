//! What is said of a document as columns that stand beside its own.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::PredictionColumns;
use crate::corpus::{Cell, KeptFile};
use crate::decision::ASK;
use crate::jobs::{Decision, DocumentKey, PositivePrediction, Prediction};

/// The columns of a table with one row for each document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RowColumns {
    /// Every column of the file that was read comes first, as it stands there.
    pub keep: bool,
    /// One column for each class, headed by its name, holds its probability.
    pub wide: bool,
    /// How many of the most probable classes have a column `label` and one `probability` (`label_2` and so on); without
    /// [`Self::keep`] a wide table has none.
    pub top: usize,
    /// Delimiter, byte-order mark, line ends, encoding and decimal sign are those of the file that was read; with [`Self::keep`].
    pub like_input: bool,
    /// With the set of classes, joined by this separator.
    #[serde(skip)]
    pub sets: Option<&'static str>,
}

impl Default for RowColumns {
    fn default() -> Self {
        Self {
            keep: false,
            wide: false,
            top: 1,
            like_input: false,
            sets: None,
        }
    }
}

/// Which of our columns a table has; told by the first row.
#[derive(Debug, Default)]
pub(super) struct Ours {
    pub(super) names: Vec<String>,
    /// How many classes have columns of their own rank.
    ranks: usize,
    scores: bool,
    /// A decision was asked for.
    decisions: bool,
    /// The classes of a wide table, in their order.
    classes: Vec<String>,
}

/// A name and what stands below it.
type Named<'a> = (Cow<'a, str>, Cell<'a>);

impl Ours {
    /// The columns of a table whose first row is this.
    pub(super) fn of(first: &Prediction<'_>, columns: RowColumns, file: Option<&KeptFile>) -> Self {
        let ranks = match columns.wide && !columns.keep {
            true => 0,
            false => columns.top.min(first.classes.len()),
        };
        let mut classes: Vec<String> = match columns.wide {
            true => first
                .classes
                .iter()
                .map(|class| class.label.to_string())
                .collect(),
            false => Vec::new(),
        };
        classes.sort_unstable();
        let mut ours = Self {
            names: Vec::new(),
            ranks,
            scores: first.classes.iter().any(|class| class.score.is_some()),
            decisions: first.decision_at(0).is_some(),
            classes,
        };
        let cells = ours.cells(first, columns);
        ours.names = free_names(cells.iter().map(|(name, _)| name.as_ref()), file);
        ours
    }

    /// The columns of a table whose first row is the probability of a positive class.
    pub(super) fn of_positive(
        first: &PositivePrediction<'_>,
        columns: RowColumns,
        file: Option<&KeptFile>,
    ) -> Self {
        let cells = positive_cells(first, columns);
        Self {
            names: free_names(cells.iter().map(|(name, _)| name.as_ref()), file),
            ..Self::default()
        }
    }

    /// The columns of a table with a row for each document and class.
    pub(super) fn long(key: &DocumentKey, columns: PredictionColumns) -> Self {
        let names = std::iter::once(key.column()).chain(columns.names().iter().copied());
        Self {
            names: names.map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// What is said of one document, in the order of the columns.
    pub(super) fn cells<'p>(
        &self,
        prediction: &'p Prediction<'_>,
        columns: RowColumns,
    ) -> Vec<Named<'p>> {
        let mut cells = Vec::new();
        if let (false, Some(key)) = (columns.keep, &prediction.key) {
            cells.push(key_cell(key));
        }
        for rank in 0..self.ranks {
            let class = prediction.classes.get(rank);
            let named = |name: &'static str| match rank {
                0 => Cow::Borrowed(name),
                _ => Cow::Owned(format!("{name}_{}", rank + 1)),
            };
            let real = |number: Option<f64>| number.map_or(Cell::Empty, Cell::Real);
            let label = class.map_or(Cell::Empty, |class| Cell::text(&class.label));
            cells.push((named("label"), label));
            cells.push((
                named("probability"),
                real(class.map(|class| class.probability)),
            ));
            if self.scores {
                cells.push((named("score"), real(class.and_then(|class| class.score))));
            }
        }
        if self.decisions {
            let names = ["decision", "expected_cost", "runner_up"].map(Cow::Borrowed);
            let said = match &prediction.decision {
                Some(decision) => decision_cells(Some(decision)),
                None => label_decision_cells(prediction),
            };
            cells.extend(names.into_iter().zip(said));
        }
        if let Some(separator) = columns.sets {
            let set = prediction.set_at(0, separator).unwrap_or_default();
            cells.push((Cow::Borrowed("set"), Cell::Text(set.into())));
        }
        for name in &self.classes {
            let class = prediction.of_class(name);
            let cell = class.map_or(Cell::Empty, |class| Cell::Real(class.probability));
            cells.push((Cow::Owned(name.clone()), cell));
        }
        cells
    }
}

/// A decision, what it costs on average and the next best.
pub(super) fn decision_cells<'p>(decision: Option<&'p Decision<'_>>) -> [Cell<'p>; 3] {
    let cost = decision.and_then(|decision| decision.expected_cost);
    let second = decision.and_then(|decision| decision.runner_up.as_ref());
    [
        decision.map_or(Cell::Empty, |decision| Cell::text(&decision.action)),
        cost.map_or(Cell::Empty, Cell::Real),
        second.map_or(Cell::Empty, |second| Cell::text(&second.action)),
    ]
}

/// Where every label has a decision of its own: the labels that are answered yes (those that a person is asked about with a question mark),
/// and what all decisions together cost on average.
fn label_decision_cells<'p>(prediction: &Prediction<'_>) -> [Cell<'p>; 3] {
    let decided = || {
        let classes = prediction.classes.iter();
        classes.filter_map(|class| Some((class, class.decision.as_ref()?)))
    };
    let mut labels: Vec<String> = decided()
        .filter_map(|(class, decision)| match decision.action.as_ref() {
            "no" => None,
            ASK => Some(format!("{}?", class.label)),
            _ => Some(class.label.to_string()),
        })
        .collect();
    labels.sort_unstable();
    let separator = free_separator(prediction.classes.iter().map(|class| class.label.as_ref()));
    let cost = decided().map(|(_, decision)| decision.expected_cost);
    let cost = cost.sum::<Option<f64>>();
    [
        Cell::Text(labels.join(separator).into()),
        cost.map_or(Cell::Empty, Cell::Real),
        Cell::Empty,
    ]
}

/// What is said of two classes: which is more probable, and how probable it is; the positive one where both are.
pub(super) fn positive_cells<'p>(
    row: &'p PositivePrediction<'_>,
    columns: RowColumns,
) -> Vec<Named<'p>> {
    let mut cells = Vec::new();
    if !columns.keep {
        cells.push(key_cell(&row.key));
    }
    let rest = 1.0 - row.probability;
    if columns.keep || !columns.wide {
        let left = |end: Option<f64>| end.map(|end| 1.0 - end);
        let (label, probability, lower, upper) = match row.probability >= 0.5 {
            true => (row.class, row.probability, row.lower, row.upper),
            false => (row.negative, rest, left(row.upper), left(row.lower)),
        };
        cells.push((Cow::Borrowed("label"), Cell::text(label)));
        cells.push((Cow::Borrowed("probability"), Cell::Real(probability)));
        for (name, end) in [("lower", lower), ("upper", upper)] {
            cells.extend(end.map(|end| (Cow::Borrowed(name), Cell::Real(end))));
        }
    }
    if columns.wide {
        let mut classes = [(row.negative, rest), (row.class, row.probability)];
        classes.sort_by_key(|(name, _)| *name);
        cells.extend(classes.map(|(name, said)| (Cow::Borrowed(name), Cell::Real(said))));
    }
    cells
}

/// What joins names to one text: none of them contains it.
pub(in crate::jobs) fn free_separator<'n>(
    names: impl Iterator<Item = &'n str> + Clone,
) -> &'static str {
    let free = |separator: &&&str| !names.clone().any(|name| name.contains(**separator));
    let usual = ["|", ";", "¦", "‖", "\u{241f}"];
    usual.iter().find(free).copied().unwrap_or("\u{1f}")
}

pub(super) fn key_cell(key: &DocumentKey) -> Named<'_> {
    let cell = match key {
        DocumentKey::Id(id) => Cell::text(id),
        DocumentKey::Row(row) => i64::try_from(*row).map_or(Cell::Empty, Cell::Whole),
    };
    (Cow::Borrowed(key.column()), cell)
}

/// Names that neither a column of the file nor another of ours has, whatever their case: one that is taken becomes
/// `calibrant_NAME`, then `calibrant_NAME_2` and so on.
fn free_names<'n>(wanted: impl Iterator<Item = &'n str>, file: Option<&KeptFile>) -> Vec<String> {
    let of_file = file.into_iter().flat_map(KeptFile::names);
    let mut taken: HashSet<String> = of_file.map(|name| name.to_lowercase()).collect();
    let mut is_free = |name: &String| taken.insert(name.to_lowercase());
    let wanted = wanted.map(|name| {
        let plain = std::iter::once(name.to_owned());
        let marked = (1..).map(|number| match number {
            1 => format!("calibrant_{name}"),
            _ => format!("calibrant_{name}_{number}"),
        });
        plain.chain(marked).find(&mut is_free).unwrap_or_default()
    });
    wanted.collect()
}
