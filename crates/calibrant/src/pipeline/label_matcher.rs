//! Labels of documents as numbers of classes.

use std::collections::BTreeMap;

use crate::Task;
use crate::corpus::folded_label;

/// Turns the labels of documents into numbers of classes, and counts those that are not classes. Everything that holds
/// forecasts against labels asks here.
///
/// ```
/// use calibrant::{Task, pipeline::LabelMatcher};
/// let mut matcher = LabelMatcher::new(Task::SingleLabel, ["ham", "spam"]);
/// assert_eq!(matcher.classes(["spam"]), (vec![1], true));
/// assert_eq!(matcher.classes(["eggs"]), (vec![], false)); // with one label per document it cannot be measured
/// assert_eq!((matcher.unknown_labels["eggs"], matcher.left_out), (1, 1));
/// ```
#[derive(Debug, Clone)]
pub struct LabelMatcher {
    task: Task,
    numbers: BTreeMap<String, u32>,
    /// Classes by what labels have in common that are taken for one.
    alike: BTreeMap<String, u32>,
    fold: bool,
    /// Labels that are not classes, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that cannot be measured: with one label per document, those without exactly one label that is a class.
    pub left_out: usize,
}

impl LabelMatcher {
    /// For these classes, numbered in their order.
    pub fn new(task: Task, classes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let numbers = classes.into_iter().map(Into::into).zip(0..).collect();
        Self {
            task,
            numbers,
            alike: BTreeMap::new(),
            fold: false,
            unknown_labels: BTreeMap::new(),
            left_out: 0,
        }
        .folding(false)
    }

    /// Whether labels that differ in case or space alone are one; without it, space around a label is nothing to go by.
    ///
    /// ```
    /// use calibrant::{Task, pipeline::LabelMatcher};
    /// let mut matcher = LabelMatcher::new(Task::SingleLabel, ["ham", "spam "]).folding(true);
    /// assert_eq!(matcher.classes(["SPAM"]), (vec![1], true));
    /// let mut matcher = matcher.folding(false);
    /// assert_eq!(matcher.classes(["spam"]), (vec![1], true)); // a class of before labels were trimmed
    /// assert_eq!(matcher.classes(["SPAM"]), (vec![], false));
    /// ```
    pub fn folding(mut self, fold: bool) -> Self {
        self.fold = fold;
        self.alike.clear();
        for (class, &number) in &self.numbers {
            // The first class in the order of names, whatever the order of the classes.
            self.alike.entry(key(class, fold)).or_insert(number);
        }
        self
    }

    /// How many classes there are.
    pub(super) fn class_count(&self) -> usize {
        self.numbers.len()
    }

    /// The classes of one document, in order, and whether it can be measured.
    pub fn classes<'l>(&mut self, labels: impl IntoIterator<Item = &'l str>) -> (Vec<u32>, bool) {
        let mut known: Vec<u32> = Vec::new();
        for label in labels {
            let exact = self.numbers.get(label);
            match exact.or_else(|| self.alike.get(&key(label, self.fold))) {
                Some(&class) => known.push(class),
                None => *self.unknown_labels.entry(label.to_owned()).or_default() += 1,
            }
        }
        known.sort_unstable();
        known.dedup();
        let measured = self.task == Task::MultiLabel || known.len() == 1;
        self.left_out += usize::from(!measured);
        (known, measured)
    }
}

/// What equal labels have in common.
fn key(label: &str, fold: bool) -> String {
    match fold {
        true => folded_label(label),
        false => label.trim().to_owned(),
    }
}
