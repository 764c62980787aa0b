//! Why costs cannot be used.

use super::CostMatrix;

/// How many names a message lists before it counts.
const MOST_NAMED: usize = 5;

/// Why costs cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// There are not as many costs as pairs of truth and decision.
    #[error("{size} classes need {size} x {size} costs, found {found}")]
    Count {
        /// Rows of the cost matrix.
        size: usize,
        /// Costs given, or the position that is beyond the matrix.
        found: usize,
    },
    /// Costs are not in rows of one length.
    #[error("{actions} actions need rows of {actions} costs, found {found}")]
    Rows {
        /// Costs in a row.
        actions: usize,
        /// Costs given.
        found: usize,
    },
    /// A cost is not a number, or beyond all bounds.
    #[error("{}{cost} is not a cost; costs must be numbers between -1e100 and 1e100", place(.at))]
    Bad {
        /// The cost.
        cost: f64,
        /// Where it is written.
        at: String,
    },
    /// A cost is named for a truth that is not a class.
    #[error(
        "{}`{name}` is named as a truth, and is not a class{}",
        place(.at),
        nearest.as_ref().map_or_else(String::new, |class| format!("; the nearest is `{class}`"))
    )]
    NoClass {
        /// What was named.
        name: String,
        /// The class that is most like it, where one is.
        nearest: Option<String>,
        /// Where it is written.
        at: String,
    },
    /// An action is nearly a class, or nearly another action.
    #[error(
        "{}`{name}` looks like `{known}`, and is not the same; write it alike",
        place(.at)
    )]
    Misspelt {
        /// What was named.
        name: String,
        /// What is known.
        known: String,
        /// Where it is written.
        at: String,
    },
    /// Where documents may have several labels, every decision is about one class.
    #[error(
        "{}a cost names `{name}`; where documents may have several labels, a truth is yes or no, or LABEL:yes or LABEL:no \
         for one label, and an action is yes, no or something that is no label", place(.at)
    )]
    NotYesOrNo {
        /// What was named.
        name: String,
        /// Where it is written.
        at: String,
    },
    /// The name of a truth or an action is empty.
    #[error("{}truth or action is empty in `{entry}`", place(.at))]
    Empty {
        /// What is written.
        entry: String,
        /// Where.
        at: String,
    },
    /// One pair has two costs.
    #[error("{}`{entry}` contradicts `{earlier}`", place(.at))]
    Twice {
        /// What is written later.
        entry: String,
        /// What is written before.
        earlier: String,
        /// Where it is written.
        at: String,
    },
    /// Two entries are equally specific about a pair, and differ.
    #[error(
        "`{first}` and `{second}` say different things of the truth `{truth}` with the action `{action}`; \
         add a line `{truth},{action},COST`"
    )]
    Ambiguous {
        /// The truth, with the label before it where only one label has the trouble.
        truth: String,
        /// The action.
        action: String,
        /// One entry.
        first: String,
        /// The other.
        second: String,
    },
    /// An action that is no class has no cost for some truths.
    #[error(
        "`{action}` is not a class, and has no cost for {}; add a line `*,{action},COST` for all that is not listed{}",
        listed(.truths),
        nearest.as_ref().map_or_else(String::new, |class| format!(" (or is the class `{class}` meant?)"))
    )]
    Missing {
        /// The action.
        action: String,
        /// The truths without a cost.
        truths: Vec<String>,
        /// The class that is most like it, where one is.
        nearest: Option<String>,
    },
    /// The table would be too large.
    #[error(
        "{classes} classes are too many for a table of costs; {} are the most",
        super::DecisionCosts::MOST_CLASSES
    )]
    TooManyClasses {
        /// How many there are.
        classes: usize,
    },
    /// The numbers of a document's fields do not fit.
    #[error("costs are read from {needed} fields of every document, found {found} numbers")]
    Amounts {
        /// Fields.
        needed: usize,
        /// Numbers.
        found: usize,
    },
}

impl CostError {
    /// A cost is refused if it is too large or no number.
    pub(super) fn check(cost: f64, at: &str) -> Result<f64, Self> {
        if cost.abs() <= CostMatrix::LARGEST {
            Ok(cost)
        } else {
            let at = at.to_owned();
            Err(Self::Bad { cost, at })
        }
    }
}

fn place(at: &str) -> String {
    match at {
        "" => String::new(),
        at => format!("{at}: "),
    }
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .take(MOST_NAMED)
        .map(|name| format!("`{name}`"))
        .collect();
    let said = quoted.join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => said,
        more => format!("{said} and {more} more"),
    }
}
