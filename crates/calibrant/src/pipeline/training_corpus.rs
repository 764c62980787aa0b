//! Training documents, counted and ready to be learned from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::FitSettings;
use super::distinct::{Distinct, Documents, Identities, Orders};
use super::document_key::{key_as_written, key_of_group, key_of_terms};
use super::learned_keys::{LearnedKeys, RowKeys};
use super::observations::leading_words;
use super::training_keys::EachKey;
use crate::corpus::{Content, ContentRef, Document};
use crate::features::{
    BatchCounter, BatchCounts, ColumnSpace, CorpusCounts, DocumentFrequencyLimits, RowCells,
    SideTable, Vocabulary, Weighting,
};
use crate::problem::ClassLabels;
use crate::rules::{MatchBuffers, RuleMatcher};
use crate::scorers::Reads;
use crate::text::CompiledAnalyzer;
use crate::{FitError, RowLabels, Task};

/// Collects batches of counted documents in order.
#[derive(Debug)]
pub struct TrainingCorpus {
    pub(super) counts: CorpusCounts,
    /// Rows are put in the order of these.
    pub(super) keys: Vec<u128>,
    /// Rows with equal ones are one document.
    pub(super) documents: Vec<u128>,
    /// What models see of each row, where that does not decide which rows are one document.
    seen: Option<Vec<u128>>,
    /// How many words the text of each begins with.
    pub(super) words: Vec<u8>,
    /// What models see of each row that go by how often terms come where these go by their presence, or the other
    /// way round; empty where nobody asked for it.
    seen_otherwise: Vec<u128>,
    /// Whether it is the presence of terms that decides which rows are one document.
    pub(super) presence_only: bool,
    /// Keys of groups, zero for none; empty as long as no document has one.
    pub(super) groups: Vec<u128>,
    pub(super) weights: Vec<f64>,
    pub(super) labels: RowLabels,
    pub(super) label_names: Vec<String>,
    pub(super) label_numbers: BTreeMap<String, u32>,
    pub(super) any_list: bool,
    pub(super) any_features: bool,
    pub(super) side: SideTable,
    any_text: bool,
}

/// One batch, counted.
#[derive(Debug)]
pub struct CountedBatch {
    counts: BatchCounts,
    presence_only: bool,
    side: SideTable,
    documents: Vec<CountedDocument>,
}

#[derive(Debug)]
struct CountedDocument {
    key: u128,
    document: u128,
    words: u8,
    seen_otherwise: Option<u128>,
    group: Option<u128>,
    weight: f64,
    labels: Vec<String>,
    is_list: bool,
    is_features: bool,
    has_text: bool,
}

/// Counts documents as the settings ask for.
#[derive(Debug)]
pub struct DocumentCounter {
    analyzer: CompiledAnalyzer,
    space: ColumnSpace,
    rules: Option<RuleMatcher>,
    /// Whether terms are features; with rules alone they are not.
    counts_terms: bool,
    /// Whether the model sees which terms a document has, and not how often.
    presence_only: bool,
    /// Whether there may be models of the same documents that see the other.
    for_all_weightings: bool,
}

impl DocumentCounter {
    /// Compiles analyzer and rules.
    pub fn new(settings: &FitSettings) -> Result<Self, FitError> {
        Ok(Self {
            analyzer: settings.analyzer.compile()?,
            space: settings.column_space(),
            rules: settings.rule_matcher()?,
            counts_terms: settings.reads() != Reads::Rules,
            presence_only: settings.effective_weighting().weighting == Weighting::Binary,
            for_all_weightings: false,
        })
    }

    /// Remembers documents for models of any weighting, whatever the settings ask for.
    pub(super) fn for_all_weightings(mut self) -> Self {
        self.for_all_weightings = true;
        self
    }

    pub(super) fn batch(&self) -> BatchCounter<'_> {
        BatchCounter::new(&self.analyzer, self.space)
    }

    pub(super) fn presence_only(&self) -> bool {
        self.presence_only
    }

    /// Counts a batch; batches can be counted in parallel.
    pub fn count(&self, documents: Vec<Document>) -> CountedBatch {
        let mut counter = self.batch();
        let mut side = SideTable::default();
        let mut buffer = MatchBuffers::default();
        let rules = self.rules.as_ref();
        let mut strengths = vec![0.0; rules.map_or(0, RuleMatcher::rule_count)];
        let documents = documents
            .into_iter()
            .map(|document| {
                match &document.content {
                    Content::Features(features) => counter.count_features(features),
                    _ if !self.counts_terms => counter.count_text(""),
                    content => counter.count_text(content.as_text().unwrap_or_default()),
                }
                if let Some(rules) = rules {
                    let content = ContentRef::from(&document);
                    match_rules(rules, content, &mut buffer, &mut strengths);
                }
                side.push(side_cells(ContentRef::from(&document), &strengths));
                let seen = |presence_only| match self.counts_terms {
                    true => {
                        let sum = counter.last_sum(presence_only);
                        key_of_terms(ContentRef::from(&document), sum, &strengths)
                    }
                    false => key_as_written(ContentRef::from(&document)),
                };
                CountedDocument {
                    key: key_of_document(&document),
                    document: seen(self.presence_only),
                    seen_otherwise: self.for_all_weightings.then(|| seen(!self.presence_only)),
                    words: leading_words(&document.content),
                    group: document.group.as_deref().map(key_of_group),
                    weight: document.weight,
                    is_list: document.labels_were_list,
                    is_features: matches!(document.content, Content::Features(_)),
                    has_text: document.content.as_text().is_some(),
                    labels: document.labels,
                }
            })
            .collect();
        CountedBatch {
            counts: counter.finish(),
            presence_only: self.presence_only,
            side,
            documents,
        }
    }
}

/// What stands beside a document's text; only rules speak of what is no record.
pub(super) fn side_cells<'a>(content: ContentRef<'a>, strengths: &'a [f32]) -> RowCells<'a> {
    let record = content.as_record();
    RowCells {
        numbers: record.map_or(&[], |record| &record.numbers),
        categories: record.map_or(&[], |record| &record.categories),
        vectors: record.map_or(&[], |record| &record.vectors),
        strengths,
    }
}

/// Fills `strengths` with those of the rules.
pub(super) fn match_rules(
    rules: &RuleMatcher,
    content: ContentRef<'_>,
    buffer: &mut MatchBuffers,
    strengths: &mut [f32],
) {
    let text = content.as_text().unwrap_or_default();
    let asked = content.as_record().map_or(&[][..], |record| &record.asked);
    rules.strengths_into(text, asked, buffer, strengths);
}

/// [`content_key`] of a document and its labels.
pub(super) fn key_of_document(document: &Document) -> u128 {
    let labels = document.labels.iter().map(String::as_str);
    content_key(ContentRef::from(document), labels)
}

/// A hash of a document as it is written, with its labels. Rows are put in the order of these keys, so the
/// order of the file cannot matter.
pub(super) fn content_key<'a>(
    content: ContentRef<'_>,
    labels: impl IntoIterator<Item = &'a str>,
) -> u128 {
    let mut hasher = blake3::Hasher::new();
    // Lengths come first, so that nothing can move between text and labels. Where there is one part
    // besides the labels, it needs no letter.
    let lettered = matches!(content, ContentRef::Record(_));
    let mut part = |letter: Option<u8>, bytes: &[u8]| {
        hasher.update(letter.as_slice());
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    content.for_each_part(|letter, bytes| part(lettered.then_some(letter), bytes));
    for label in labels {
        part(lettered.then_some(b'l'), label.as_bytes());
    }
    // A weight is how often a document comes, no part of it: all hash as if they weighed the same.
    hasher.update(&1f64.to_bits().to_le_bytes());
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    u128::from_le_bytes(key)
}

impl TrainingCorpus {
    /// Nothing collected yet.
    pub fn new(space: ColumnSpace) -> Self {
        Self {
            counts: CorpusCounts::new(space),
            keys: Vec::new(),
            documents: Vec::new(),
            seen: None,
            words: Vec::new(),
            seen_otherwise: Vec::new(),
            presence_only: false,
            groups: Vec::new(),
            weights: Vec::new(),
            labels: RowLabels::new(),
            label_names: Vec::new(),
            label_numbers: BTreeMap::new(),
            any_list: false,
            any_features: false,
            side: SideTable::default(),
            any_text: false,
        }
    }

    /// All documents at once.
    pub fn of_documents(
        settings: &FitSettings,
        documents: Vec<Document>,
    ) -> Result<Self, FitError> {
        let mut corpus = Self::new(settings.column_space());
        corpus.add(DocumentCounter::new(settings)?.count(documents));
        Ok(corpus)
    }

    /// Adds a batch.
    pub fn add(&mut self, batch: CountedBatch) {
        self.counts.merge(batch.counts);
        self.side.append(batch.side);
        self.presence_only = batch.presence_only;
        for document in batch.documents {
            self.any_list |= document.is_list;
            self.any_features |= document.is_features;
            self.any_text |= document.has_text;
            if let Some(group) = document.group {
                self.groups.resize(self.keys.len(), 0);
                self.groups.push(group);
            }
            self.keys.push(document.key);
            self.documents.push(document.document);
            self.words.push(document.words);
            self.seen_otherwise.extend(document.seen_otherwise);
            self.weights.push(document.weight);
            let numbers: Vec<u32> = document
                .labels
                .iter()
                .map(|label| self.label_number(label))
                .collect();
            self.labels.push(numbers);
        }
    }

    /// The number of a label, which it gets where it is new.
    pub(super) fn label_number(&mut self, label: &str) -> u32 {
        if let Some(&number) = self.label_numbers.get(label) {
            return number;
        }
        let next = self.label_names.len() as u32;
        self.label_names.push(label.to_owned());
        self.label_numbers.insert(label.to_owned(), next);
        next
    }

    /// Puts the documents of another corpus, counted with the same settings, behind these. A fit of both is the fit of all of
    /// them, byte for byte.
    pub fn extend(&mut self, later: Self) -> Result<(), FitError> {
        if later.keys.is_empty() {
            return Ok(());
        }
        let fits = self.counts.space() == later.counts.space()
            && self.seen.is_some() == later.seen.is_some()
            && (self.keys.is_empty() || self.presence_only == later.presence_only);
        if !fits {
            return Err(FitError::BadSetting {
                setting: "the documents",
                requirement: "counted with the same settings as those before",
                value: "counted otherwise".into(),
            });
        }
        if !later.groups.is_empty() {
            self.groups.resize(self.keys.len(), 0);
            self.groups.extend(later.groups);
        }
        for row in later.labels.iter() {
            let numbers: Vec<u32> = row
                .iter()
                .map(|&label| self.label_number(&later.label_names[label as usize]))
                .collect();
            self.labels.push(numbers);
        }
        self.counts.extend(later.counts);
        self.side.append(later.side);
        self.keys.extend(later.keys);
        self.documents.extend(later.documents);
        if let (Some(seen), Some(more)) = (&mut self.seen, later.seen) {
            seen.extend(more);
        }
        self.words.extend(later.words);
        self.seen_otherwise.extend(later.seen_otherwise);
        self.presence_only = later.presence_only;
        self.weights.extend(later.weights);
        self.any_list |= later.any_list;
        self.any_features |= later.any_features;
        self.any_text |= later.any_text;
        Ok(())
    }

    /// How many numbers the counts hold.
    pub(super) fn cell_count(&self) -> usize {
        self.counts.entry_count()
    }

    /// Rows are one document where they are one there: for other counts of the same rows, which then come in the same
    /// order and lie in the same folds.
    pub(super) fn adopt_identities(&mut self, other: &Self) {
        let own = std::mem::replace(&mut self.documents, other.documents.clone());
        self.seen = Some(own);
    }

    /// How many documents were collected.
    pub fn document_count(&self) -> usize {
        self.keys.len()
    }

    /// Whether the documents came as numbered features instead of text.
    pub(crate) fn has_features(&self) -> bool {
        self.any_features
    }

    /// Whether any document has a text, even an empty one.
    pub(crate) fn has_text(&self) -> bool {
        self.any_text
    }

    /// One label per document unless labels came as lists.
    fn task(&self, settings: &FitSettings) -> Result<Task, FitError> {
        let task = settings.task.unwrap_or(if self.any_list {
            Task::MultiLabel
        } else {
            Task::SingleLabel
        });
        if task == Task::SingleLabel
            && let Some(row) = self.labels.iter().position(|labels| labels.len() > 1)
        {
            let labels = self.labels[row]
                .iter()
                .map(|&label| self.label_names[label as usize].clone())
                .collect();
            return Err(FitError::SeveralLabels { labels });
        }
        Ok(task)
    }

    /// Puts documents, classes and columns into an order that depends on the documents alone, and makes one row
    /// of those that are copies.
    pub(super) fn into_prepared(
        mut self,
        settings: &FitSettings,
    ) -> Result<PreparedCorpus, FitError> {
        let order = self.order(settings)?;
        // What says which rows are the same has served; the counts are about to be held twice.
        (self.keys, self.documents, self.seen_otherwise) = Default::default();
        (self.labels, self.weights, self.seen) = Default::default();
        Ok(self.arranged(order))
    }

    /// As [`Self::into_prepared`], for whoever goes on with the corpus.
    pub(super) fn prepare(&self, settings: &FitSettings) -> Result<PreparedCorpus, FitError> {
        Ok(self.arranged(self.order(settings)?))
    }

    fn order(&self, settings: &FitSettings) -> Result<Order, FitError> {
        let keys = RowKeys {
            documents: &self.documents,
            seen: self.seen.as_deref(),
            seen_otherwise: &self.seen_otherwise,
            presence_only: self.presence_only,
        };
        let documents = Cow::Borrowed(&self.documents[..]);
        self.order_by(settings, documents, Orders::Listed(&self.keys), |each| {
            let mut known = Vec::new();
            each(&mut |key| known.push(key));
            keys.learned(&known)
        })
    }

    /// The order of rows of which `documents` tells which are the same, and `orders` where they come; `learned` makes of the keys of
    /// documents what models remember them by. Keys that were given away are let go in between.
    pub(super) fn order_by(
        &self,
        settings: &FitSettings,
        keys: Cow<'_, [u128]>,
        orders: Orders<'_>,
        learned: impl FnOnce(EachKey<'_>) -> LearnedKeys,
    ) -> Result<Order, FitError> {
        let count = keys.len();
        if count == 0 {
            return Err(FitError::NoDocuments);
        }
        self.check_numbers()?;
        let mut groups = Cow::Borrowed(&self.groups);
        if !groups.is_empty() && groups.len() < count {
            groups.to_mut().resize(count, 0);
        }
        let task = self.task(settings)?;
        self.refuse_unique_labels(settings, task)?;
        let class_names = self.class_names(settings)?;
        let class_of_label = self.classes_of_labels(&class_names, settings.fold_labels);
        let classes_of = |row: u32| -> Option<Vec<u32>> {
            let mut classes: Vec<u32> = self.labels[row as usize]
                .iter()
                .filter_map(|&label| class_of_label[label as usize])
                .collect();
            classes.sort_unstable();
            classes.dedup();
            (task == Task::MultiLabel || !classes.is_empty()).then_some(classes)
        };
        let identities = Identities {
            orders,
            words: &self.words,
            groups: &groups,
            weights: &self.weights,
            folds: settings.folds,
        };
        let kept = identities.keep(&keys, classes_of);
        let learned = match settings.training_keys {
            true => Arc::new(learned(&|each| kept.for_each_remembered(&keys, each))),
            false => Arc::default(),
        };
        drop(keys);
        let Distinct {
            rows,
            classes: of_row,
            documents,
            is_first,
        } = kept.in_order(&identities, classes_of);
        refuse_one_class(&class_names, task, &of_row, documents.row_count())?;
        let left_out = count - documents.row_count();
        let numbered_features = self.has_features();
        let limits = DocumentFrequencyLimits {
            min_documents: Some(settings.limits.least(documents.count)),
            ..settings.limits
        };
        let labels = ClassLabels {
            task,
            class_count: class_names.len(),
            of_row,
        };
        Ok(Order {
            rows,
            is_first,
            prepared: Prepared {
                documents,
                learned,
                labels,
                class_names,
                left_out,
                numbered_features,
                limits,
            },
        })
    }

    /// Counts and cells in the order that was found.
    fn arranged(&self, order: Order) -> PreparedCorpus {
        let Order {
            rows,
            is_first,
            prepared,
        } = order;
        let is_counted = |row: usize| is_first[row];
        let counts = self
            .counts
            .arrange_counting(&rows, is_counted, &prepared.limits);
        prepared.with(counts, self.side.rearranged(&rows), rows)
    }

    /// Readers refuse such numbers; documents that come from elsewhere may hold them.
    fn check_numbers(&self) -> Result<(), FitError> {
        let bad = |setting, requirement, value: String| FitError::BadSetting {
            setting,
            requirement,
            value,
        };
        if let Some(weight) = self.weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(bad("a weight", "a positive number", weight.to_string()));
        }
        match self.counts.first_infinite() {
            Some(value) => Err(bad("a feature", "a finite number", value.to_string())),
            None => Ok(()),
        }
    }
}

/// There is nothing to learn where all rows are of one class.
fn refuse_one_class(
    class_names: &[String],
    task: Task,
    of_row: &RowLabels,
    documents: usize,
) -> Result<(), FitError> {
    let [class] = class_names else {
        return Ok(());
    };
    if task == Task::SingleLabel || of_row.iter().all(|classes| !classes.is_empty()) {
        let class = class.clone();
        return Err(FitError::OneClass { class, documents });
    }
    Ok(())
}

/// Which rows stay and in what order, with all that follows from it but the counts.
pub(super) struct Order {
    rows: Vec<u32>,
    is_first: Vec<bool>,
    prepared: Prepared,
}

struct Prepared {
    documents: Documents,
    learned: Arc<LearnedKeys>,
    labels: ClassLabels,
    class_names: Vec<String>,
    left_out: usize,
    numbered_features: bool,
    limits: DocumentFrequencyLimits,
}

impl Order {
    /// Documents in order, of which the counts are somewhere else.
    pub(super) fn without_counts(self) -> PreparedCorpus {
        let counts = crate::features::ArrangedCounts {
            vocabulary: None,
            counts: crate::features::SparseMatrix::new(0).into(),
        };
        self.prepared.with(counts, SideTable::default(), self.rows)
    }
}

impl Prepared {
    fn with(
        self,
        arranged: crate::features::ArrangedCounts,
        side: SideTable,
        rows: Vec<u32>,
    ) -> PreparedCorpus {
        PreparedCorpus {
            arranged,
            side,
            rows,
            documents: self.documents,
            learned: self.learned,
            labels: self.labels,
            class_names: self.class_names,
            left_out: self.left_out,
            numbered_features: self.numbered_features,
            limits: self.limits,
        }
    }
}

/// Documents in canonical order, copies put together.
pub(super) struct PreparedCorpus {
    pub(super) arranged: crate::features::ArrangedCounts,
    /// What stands beside the texts.
    pub(super) side: SideTable,
    /// For each row, a row of the file that says the same.
    pub(super) rows: Vec<u32>,
    /// Whose rows they are, and what they weigh.
    pub(super) documents: Documents,
    /// What models remember of them.
    pub(super) learned: Arc<LearnedKeys>,
    pub(super) labels: ClassLabels,
    pub(super) class_names: Vec<String>,
    /// Rows whose class was not asked for.
    pub(super) left_out: usize,
    /// Whether features came as numbers instead of text.
    pub(super) numbered_features: bool,
    /// Which terms are features, with what was chosen by the number of documents.
    pub(super) limits: DocumentFrequencyLimits,
}

impl PreparedCorpus {
    /// Columns that occur in at least so many documents, rising.
    pub(super) fn columns_in(&self, least: u32) -> Vec<u32> {
        let is_first = self.documents.is_first();
        let counts = &self.arranged.counts;
        let (frequencies, _) = counts.document_frequencies(|row| is_first[row]);
        (0..)
            .zip(frequencies)
            .filter(|&(_, documents)| documents >= least)
            .map(|(column, _)| column)
            .collect()
    }

    /// The same documents, with those terms alone that occur in at least so many of them.
    pub(super) fn with_terms_of(&self, least: u32) -> Self {
        let kept = self.columns_in(least);
        let vocabulary = self.arranged.vocabulary.as_ref();
        Self {
            arranged: crate::features::ArrangedCounts {
                vocabulary: vocabulary
                    .map(|names| Vocabulary::from_terms(kept.iter().map(|&c| names.term(c)))),
                counts: self.arranged.counts.with_columns(&kept),
            },
            side: self.side.clone(),
            rows: self.rows.clone(),
            documents: self.documents.clone(),
            learned: Arc::clone(&self.learned),
            labels: self.labels.clone(),
            class_names: self.class_names.clone(),
            limits: DocumentFrequencyLimits {
                min_documents: Some(least),
                ..self.limits
            },
            ..*self
        }
    }
}
