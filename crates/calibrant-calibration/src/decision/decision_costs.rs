//! What people write about costs, made a table of every truth and action.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{CostAmount, CostEntry, CostError, CostMatrix};
use crate::Task;

/// What is done with a document that a person should look at.
pub const ASK: &str = "ask";

/// Every class wrongly decided for, or every truth.
const ANY: &str = "*";

/// What every action costs for every truth of a task: a [`CostMatrix`] with the names of actions, for every label where documents
/// may have several, with costs that each document has in a field of its own.
///
/// Actions are the classes, or `no` and `yes` with several labels, and behind them whatever else the entries name (`refund`,
/// [`ASK`]). An entry that names more goes before one that says `*`, in whatever order they are written. What is not written costs
/// nothing if right and 1 if wrong; an action that is no class has a cost for every truth, or is refused.
///
/// ```
/// use calibrant_calibration::{Task, decision::{CostEntry, DecisionCosts}};
/// let written = [("*", "*", 5.0), ("*", "refund", 50.0), ("*", "ask", 2.0)];
/// let entries = written.map(|(truth, action, cost)| CostEntry::new(truth, action, cost));
/// let costs = DecisionCosts::new(&entries, Task::SingleLabel, ["order", "refund"])?;
/// assert_eq!(costs.actions(), ["order", "refund", "ask"]);
/// let matrix = costs.of_document(0, &[]);
/// // By hand: a wrong refund 50, any other mistake 5, a person 2, and what is right nothing.
/// assert_eq!([0, 1, 2].map(|action| matrix.cost(0, action)), [0.0, 50.0, 2.0]);
/// assert_eq!([0, 1, 2].map(|action| matrix.cost(1, action)), [5.0, 0.0, 2.0]);
/// // By hand: 0.5 · 5 = 2.5, 0.5 · 50 = 25, and 2.
/// assert_eq!(matrix.cheapest(&[0.5, 0.5], 0), (2, 2.0));
/// # Ok::<(), calibrant_calibration::decision::CostError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionCosts {
    task: Task,
    labels: usize,
    actions: Vec<String>,
    fields: Vec<String>,
    /// One for each label where they differ.
    tables: Vec<Table>,
}

/// The costs of one label, or of the classes.
#[derive(Debug, Clone, PartialEq)]
struct Table {
    /// Nothing where a field has the cost.
    fixed: CostMatrix,
    of_fields: Vec<OfField>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct OfField {
    truth: usize,
    action: usize,
    factor: f64,
    field: usize,
}

/// Entries of one label, or of all, by what they name.
#[derive(Default)]
struct Named<'e> {
    pairs: HashMap<(usize, usize), &'e CostEntry>,
    of_truth: HashMap<usize, &'e CostEntry>,
    of_action: HashMap<usize, &'e CostEntry>,
    all: Option<&'e CostEntry>,
}

/// What the names of entries mean.
struct Names<'n> {
    task: Task,
    classes: Vec<&'n str>,
    truths: Vec<&'n str>,
    actions: Vec<String>,
}

impl DecisionCosts {
    /// A table of more classes than these would be too large.
    pub const MOST_CLASSES: usize = 5_000;

    /// The costs that the entries write down.
    pub fn new<'a>(
        entries: &[CostEntry],
        task: Task,
        class_names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, CostError> {
        let mut names = Names::new(task, class_names.into_iter().collect());
        let labels = names.classes.len();
        if names.truths.len() > Self::MOST_CLASSES {
            let classes = names.truths.len();
            return Err(CostError::TooManyClasses { classes });
        }
        let mut common = Named::default();
        let mut of_labels: HashMap<usize, Named<'_>> = HashMap::new();
        for entry in entries {
            let (label, truth) = names.label_and_truth(entry)?;
            let action = names.action(entry)?;
            let (CostAmount::Fixed(cost) | CostAmount::OfField { factor: cost, .. }) = entry.cost;
            CostError::check(cost, &entry.place)?;
            let place = match label {
                Some(label) => of_labels.entry(label).or_default(),
                None => &mut common,
            };
            place.add(truth, action, entry)?;
        }
        let mut costs = Self {
            task,
            labels,
            actions: names.actions.clone(),
            fields: Self::fields_of(entries),
            tables: Vec::new(),
        };
        let tables = if of_labels.is_empty() { 1 } else { labels };
        for label in 0..tables {
            let own = of_labels.get(&label);
            let table = costs.table(&names, own, &common, label)?;
            costs.tables.push(table);
        }
        Ok(costs)
    }

    /// Nothing for what is right and 1 for what is wrong.
    pub fn zero_one<'a>(task: Task, class_names: impl IntoIterator<Item = &'a str>) -> Self {
        let names = Names::new(task, class_names.into_iter().collect());
        Self {
            task,
            labels: names.classes.len(),
            fields: Vec::new(),
            tables: vec![Table {
                fixed: CostMatrix::zero_one(names.truths.len()),
                of_fields: Vec::new(),
            }],
            actions: names.actions,
        }
    }

    /// The same costs for every label and document; actions beyond the truths are called by their numbers.
    pub fn of_matrix<'a>(
        matrix: CostMatrix,
        task: Task,
        class_names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, CostError> {
        let mut costs = Self::zero_one(task, class_names);
        let size = costs.actions.len();
        if matrix.truths() != size || matrix.actions() < size {
            let found = matrix.truths().min(matrix.actions());
            return Err(CostError::Count { size, found });
        }
        let further = (size..matrix.actions()).map(|action| (action + 1).to_string());
        costs.actions.extend(further);
        costs.tables[0].fixed = matrix;
        Ok(costs)
    }

    /// One label per document, or several.
    pub fn task(&self) -> Task {
        self.task
    }

    /// For how many classes they are.
    pub fn class_count(&self) -> usize {
        self.labels
    }

    /// What can be done: the classes, or `no` and `yes`, then everything else that has a cost.
    pub fn actions(&self) -> &[String] {
        &self.actions
    }

    /// How many of the actions are the truths themselves.
    pub fn truth_count(&self) -> usize {
        self.tables[0].fixed.truths()
    }

    /// The action of asking a person, unless a class is called so.
    pub fn ask(&self) -> Option<usize> {
        let further = self.truth_count()..self.actions.len();
        let mut further = further.filter(|&action| self.actions[action] == ASK);
        further.next()
    }

    /// The fields that hold costs of documents, in the order in which [`Self::of_document`] takes their numbers.
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The costs of one document, whose fields have these numbers; `label` is 0 where documents have one.
    ///
    /// # Panics
    /// Where `amounts` has fewer numbers than there are [`Self::fields`].
    pub fn of_document(&self, label: usize, amounts: &[f64]) -> Cow<'_, CostMatrix> {
        let table = &self.tables[label.min(self.tables.len() - 1)];
        if table.of_fields.is_empty() {
            return Cow::Borrowed(&table.fixed);
        }
        let mut matrix = table.fixed.clone();
        for cell in &table.of_fields {
            let cost = cell.factor * amounts[cell.field];
            // The product of two bounded numbers may be beyond the bound.
            let cost = cost.clamp(-CostMatrix::LARGEST, CostMatrix::LARGEST);
            matrix.set(cell.truth, cell.action, cost);
        }
        Cow::Owned(matrix)
    }

    /// The fields that entries name, each once, in order: what has to be read of every document.
    pub fn fields_of(entries: &[CostEntry]) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        for entry in entries {
            if let CostAmount::OfField { field, .. } = &entry.cost
                && !fields.contains(field)
            {
                fields.push(field.clone());
            }
        }
        fields
    }

    /// Actions that are no classes but are spelled nearly as one, with that class: slips of the pen, perhaps. Where documents have one label.
    ///
    /// ```
    /// use calibrant_calibration::decision::{CostEntry, DecisionCosts};
    /// let costs = ["Sprots", "ask", "Sports", "refund"].map(|action| CostEntry::new("*", action, 1.0));
    /// let near = DecisionCosts::near_classes(&costs, ["Sports", "World"]);
    /// assert_eq!(near, [("Sprots".to_owned(), "Sports".to_owned())]);
    /// ```
    pub fn near_classes<'a>(
        entries: &[CostEntry],
        class_names: impl IntoIterator<Item = &'a str>,
    ) -> Vec<(String, String)> {
        let classes: Vec<&str> = class_names.into_iter().collect();
        let mut found: Vec<(String, String)> = Vec::new();
        for entry in entries {
            let action = entry.decision.as_str();
            let is_own = classes.contains(&action) || matches!(action, "*" | "ask" | "other");
            if is_own || found.iter().any(|(known, _)| known == action) {
                continue;
            }
            if let Some(class) = nearest(action, &classes) {
                found.push((action.to_owned(), class));
            }
        }
        found
    }

    fn table(
        &self,
        names: &Names<'_>,
        own: Option<&Named<'_>>,
        common: &Named<'_>,
        label: usize,
    ) -> Result<Table, CostError> {
        let (truths, actions) = (names.truths.len(), self.actions.len());
        let mut costs = vec![0.0; truths * actions];
        let mut of_fields = Vec::new();
        let mut missing = vec![Vec::new(); actions];
        let default = CostAmount::Fixed(1.0);
        let right = CostAmount::Fixed(0.0);
        for truth in 0..truths {
            for action in 0..actions {
                let found = match own.map(|own| own.of_pair(truth, action, truths)) {
                    Some(Ok(Some(entry))) => Ok(Some(entry)),
                    Some(Err(trouble)) => Err((trouble, true)),
                    _ => common
                        .of_pair(truth, action, truths)
                        .map_err(|trouble| (trouble, false)),
                };
                let entry = found.map_err(|((first, second), of_label)| {
                    let label = of_label.then(|| names.classes[label]);
                    ambiguous(
                        names.truth(label, truth),
                        &self.actions[action],
                        first,
                        second,
                    )
                })?;
                let amount = match entry {
                    Some(entry) => &entry.cost,
                    None if action == truth => &right,
                    None if action < truths => &default,
                    None => {
                        let label = (own.is_some()).then(|| names.classes[label]);
                        missing[action].push(names.truth(label, truth));
                        continue;
                    }
                };
                match amount {
                    CostAmount::Fixed(cost) => costs[truth * actions + action] = *cost,
                    CostAmount::OfField { factor, field } => of_fields.push(OfField {
                        truth,
                        action,
                        factor: *factor,
                        field: self.field(field),
                    }),
                }
            }
        }
        for (action, truths) in missing.into_iter().enumerate() {
            if !truths.is_empty() {
                let action = self.actions[action].clone();
                let nearest = nearest(&action, &names.truths);
                return Err(CostError::Missing {
                    action,
                    truths,
                    nearest,
                });
            }
        }
        Ok(Table {
            fixed: CostMatrix::rectangular(actions, costs)?,
            of_fields,
        })
    }

    fn field(&self, name: &str) -> usize {
        let known = self.fields.iter().position(|field| field == name);
        known.unwrap_or(0)
    }
}

impl<'e> Named<'e> {
    /// `None` is a wildcard.
    fn add(
        &mut self,
        truth: Option<usize>,
        action: Option<usize>,
        entry: &'e CostEntry,
    ) -> Result<(), CostError> {
        let earlier = match (truth, action) {
            (Some(truth), Some(action)) => *self.pairs.entry((truth, action)).or_insert(entry),
            (Some(truth), None) => *self.of_truth.entry(truth).or_insert(entry),
            (None, Some(action)) => *self.of_action.entry(action).or_insert(entry),
            (None, None) => *self.all.get_or_insert(entry),
        };
        if earlier.cost == entry.cost {
            return Ok(());
        }
        Err(CostError::Twice {
            entry: entry.to_string(),
            earlier: earlier.to_string(),
            at: entry.place.clone(),
        })
    }

    /// The most specific entry for a pair, or two that are equally specific and differ.
    #[allow(clippy::type_complexity)]
    fn of_pair(
        &self,
        truth: usize,
        action: usize,
        truths: usize,
    ) -> Result<Option<&'e CostEntry>, (&'e CostEntry, &'e CostEntry)> {
        if let Some(&entry) = self.pairs.get(&(truth, action)) {
            return Ok(Some(entry));
        }
        if truth == action {
            return Ok(None);
        }
        let of_action = self.of_action.get(&action).copied();
        if action >= truths {
            return Ok(of_action);
        }
        match (self.of_truth.get(&truth).copied(), of_action) {
            (Some(first), Some(second)) if first.cost != second.cost => Err((first, second)),
            (of_truth, of_action) => Ok(of_truth.or(of_action).or(self.all)),
        }
    }
}

impl<'n> Names<'n> {
    fn new(task: Task, classes: Vec<&'n str>) -> Self {
        let truths = match task {
            Task::SingleLabel => classes.clone(),
            Task::MultiLabel => vec!["no", "yes"],
        };
        Self {
            task,
            actions: truths.iter().map(|&name| name.to_owned()).collect(),
            classes,
            truths,
        }
    }

    /// The label that an entry is about, where it is about one, and its truth; `None` for each that is meant.
    fn label_and_truth(
        &self,
        entry: &CostEntry,
    ) -> Result<(Option<usize>, Option<usize>), CostError> {
        let written = entry.truth.trim();
        if written.is_empty() {
            return Err(empty(entry));
        }
        // A class may well have a colon in its name.
        let (label, truth) = match (self.task, written.rsplit_once(':')) {
            (Task::MultiLabel, Some((label, truth))) => (Some(label.trim()), truth.trim()),
            _ => (None, written),
        };
        if truth == ANY && (label.is_none() || self.task == Task::MultiLabel) {
            return Ok((self.label(label, entry)?, None));
        }
        let found = self.truths.iter().position(|&known| known == truth);
        let found = found.ok_or_else(|| match self.task {
            Task::SingleLabel => self.no_class(truth, entry),
            Task::MultiLabel => CostError::NotYesOrNo {
                name: written.to_owned(),
                at: entry.place.clone(),
            },
        })?;
        Ok((self.label(label, entry)?, Some(found)))
    }

    fn label(&self, label: Option<&str>, entry: &CostEntry) -> Result<Option<usize>, CostError> {
        let Some(label) = label.filter(|&label| label != ANY) else {
            return Ok(None);
        };
        let found = self.classes.iter().position(|&known| known == label);
        Ok(Some(found.ok_or_else(|| self.no_class(label, entry))?))
    }

    fn no_class(&self, name: &str, entry: &CostEntry) -> CostError {
        CostError::NoClass {
            name: name.to_owned(),
            nearest: nearest(name, &self.classes),
            at: entry.place.clone(),
        }
    }

    /// The action of an entry, a new one where it names what is no class; `None` for every wrong class.
    fn action(&mut self, entry: &CostEntry) -> Result<Option<usize>, CostError> {
        let name = entry.decision.trim();
        if name == ANY {
            return Ok(None);
        }
        if name.is_empty() {
            return Err(empty(entry));
        }
        if let Some(known) = self.actions.iter().position(|known| known == name) {
            return Ok(Some(known));
        }
        let at = || entry.place.clone();
        if self.task == Task::MultiLabel && self.classes.contains(&name) {
            return Err(CostError::NotYesOrNo {
                name: name.to_owned(),
                at: at(),
            });
        }
        if let Some(known) = self.alike(name) {
            return Err(CostError::Misspelt {
                name: name.to_owned(),
                known,
                at: at(),
            });
        }
        self.actions.push(name.to_owned());
        Ok(Some(self.actions.len() - 1))
    }

    /// A known action that differs in case and spaces alone.
    fn alike(&self, name: &str) -> Option<String> {
        let known = self.actions.iter().map(String::as_str).chain([ASK]);
        let mut alike = known.filter(|&known| known != name && folded(known) == folded(name));
        alike.next().map(str::to_owned)
    }

    /// A truth as it is written, with its label where there is one.
    fn truth(&self, label: Option<&str>, truth: usize) -> String {
        let truth = self.truths[truth];
        match (self.task, label) {
            (Task::MultiLabel, Some(label)) => format!("{label}:{truth}"),
            _ => truth.to_owned(),
        }
    }
}

fn empty(entry: &CostEntry) -> CostError {
    CostError::Empty {
        entry: entry.to_string(),
        at: entry.place.clone(),
    }
}

fn ambiguous(truth: String, action: &str, first: &CostEntry, second: &CostEntry) -> CostError {
    CostError::Ambiguous {
        truth,
        action: action.to_owned(),
        first: first.to_string(),
        second: second.to_string(),
    }
}

/// Without what people do not mean by: case, spaces, and the signs that stand for spaces.
fn folded(name: &str) -> String {
    let kept = name
        .chars()
        .filter(|letter| !letter.is_whitespace() && !matches!(letter, '_' | '-'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The name that takes the fewest changes of a letter, if that is at most a third of them.
fn nearest(name: &str, known: &[&str]) -> Option<String> {
    let wanted: Vec<char> = folded(name).chars().collect();
    let distance = |known: &str| {
        let letters: Vec<char> = folded(known).chars().collect();
        let mut row: Vec<usize> = (0..=letters.len()).collect();
        for (i, &letter) in wanted.iter().enumerate() {
            let mut above_left = row[0];
            row[0] = i + 1;
            for (j, &other) in letters.iter().enumerate() {
                let changed = above_left + usize::from(letter != other);
                above_left = row[j + 1];
                row[j + 1] = changed.min(row[j] + 1).min(above_left + 1);
            }
        }
        row[letters.len()]
    };
    let found = known.iter().map(|&known| (distance(known), known)).min();
    let close = found.filter(|(distance, _)| 3 * distance <= wanted.len().max(3));
    close.map(|(_, known)| known.to_owned())
}

#[cfg(test)]
#[path = "decision_costs/tests.rs"]
mod tests;
