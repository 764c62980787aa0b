//! What is strange about labels.

use std::collections::BTreeMap;

use calibrant::Task;
use calibrant::corpus::{ReadSummary, alike_labels, folded_label};

use crate::output::{note, warn};

/// Says how many rows were left out because they have no label. Where a document may have several labels it may have none.
pub(crate) fn note_unlabelled(read: &ReadSummary, task: Task) {
    let Some(found) = read.unlabelled.filter(|_| task == Task::SingleLabel) else {
        return;
    };
    let place = format!("{} {}", read.format.unit(), found.first_line);
    note(&match found.rows {
        1 => format!("1 row without a label was left out: {place}"),
        rows => format!("{rows} rows without a label were left out, the first at {place}"),
    });
}

/// Warns of classes that differ in case or space alone.
pub(crate) fn warn_alike<'l>(counts: impl IntoIterator<Item = (&'l str, usize)>) {
    let mut sets = alike_labels(counts);
    sets.retain(|set| set.len() > 1);
    let Some(first) = sets.first() else { return };
    let more = match sets.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more such set)".to_owned(),
        more => format!(" (and {more} more such sets)"),
    };
    warn(&format!(
        "labels that differ in case or space alone: `{}`{more}; --fold-labels makes one of them",
        first.join("`, `")
    ));
}

/// What to say where unknown labels are classes but for case or space.
pub(crate) fn fold_note<'l>(
    unknown: &BTreeMap<String, usize>,
    classes: impl IntoIterator<Item = &'l str>,
) -> Option<String> {
    let known: BTreeMap<String, &str> = classes
        .into_iter()
        .map(|class| (folded_label(class), class))
        .collect();
    let (label, class) = unknown
        .keys()
        .find_map(|label| Some((label, known.get(&folded_label(label))?)))?;
    Some(format!(
        "`{label}` is the class `{class}` but for case or space; --fold-labels takes such labels for one"
    ))
}
