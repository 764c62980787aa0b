//! The same documents, counted in several ways.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::FitError;
use crate::corpus::Document;
use crate::features::ColumnSpace;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{Classifier, CountedBatch, DocumentCounter, FitSettings, TrainingCorpus};
use crate::text::{Analyzer, NgramRange};

/// Counts documents once for each way of taking texts apart that a search tries.
///
/// Beside the terms that were asked for these are runs of characters inside words and across them, and words with their
/// pairs; where
/// n-grams were asked for by name, or where there are no texts, only what was asked for.
///
/// ```
/// use calibrant::pipeline::{FitSettings, SearchCounter};
/// use calibrant::text::NgramRange;
/// let mut settings = FitSettings::default();
/// assert_eq!(SearchCounter::new(&settings)?.way_count(), 4); // words, characters in two ways, pairs of words
/// settings.analyzer.word_ngrams = NgramRange { min: 1, max: 3 };
/// assert_eq!(SearchCounter::new(&settings)?.way_count(), 1); // what was asked for is not tried
/// # Ok::<(), calibrant::FitError>(())
/// ```
#[derive(Debug)]
pub struct SearchCounter {
    ways: Vec<Way>,
}

#[derive(Debug)]
struct Way {
    analyzer: Analyzer,
    counter: DocumentCounter,
    /// Whether there was too much of it.
    given_up: Arc<AtomicBool>,
}

/// A batch of documents, counted in every way that is still of use.
#[derive(Debug)]
pub struct SearchBatch {
    of_ways: Vec<Option<CountedBatch>>,
}

/// The documents of a search: [`SearchCounter`] makes the batches.
#[derive(Debug)]
pub struct SearchCorpus {
    views: Vec<View>,
}

#[derive(Debug)]
struct View {
    /// Nothing for the analyzer of the settings.
    analyzer: Option<Analyzer>,
    corpus: TrainingCorpus,
    space: ColumnSpace,
    given_up: Arc<AtomicBool>,
}

/// With more numbers than these a further view is given up: they take eight bytes each.
const MOST_CELLS: usize = 60_000_000;

const PAIRS: NgramRange = NgramRange { min: 1, max: 2 };
const CHARACTERS: NgramRange = NgramRange { min: 2, max: 5 };

impl SearchCounter {
    /// Compiles the analyzers.
    pub fn new(base: &FitSettings) -> Result<Self, FitError> {
        let mut analyzers = vec![base.analyzer.clone()];
        let plain = base.analyzer.word_ngrams == NgramRange::default()
            && base.analyzer.char_ngrams.is_none();
        if plain && base.classifier != Classifier::Rules {
            analyzers.push(Analyzer {
                char_ngrams: Some(CHARACTERS),
                // Characters find the forms of a word by themselves.
                stemmer: None,
                ..base.analyzer.clone()
            });
            analyzers.push(Analyzer {
                word_ngrams: PAIRS,
                ..base.analyzer.clone()
            });
            analyzers.push(Analyzer {
                char_ngrams: Some(CHARACTERS),
                char_ngrams_across: true,
                stemmer: None,
                ..base.analyzer.clone()
            });
        }
        let ways = analyzers.into_iter().map(|analyzer| {
            let settings = FitSettings {
                analyzer: analyzer.clone(),
                ..base.clone()
            };
            Ok(Way {
                analyzer,
                counter: DocumentCounter::new(&settings)?,
                given_up: Arc::default(),
            })
        });
        Ok(Self {
            ways: ways.collect::<Result<_, FitError>>()?,
        })
    }

    /// In how many ways documents are counted.
    pub fn way_count(&self) -> usize {
        self.ways.len()
    }

    /// Counts a batch in every way; batches can be counted in parallel.
    pub fn count(&self, documents: Vec<Document>) -> SearchBatch {
        let count = |way: &Way| {
            let is_wanted = !way.given_up.load(Ordering::Relaxed);
            is_wanted.then(|| way.counter.count(documents.clone()))
        };
        SearchBatch {
            of_ways: self.ways.iter().map(count).collect(),
        }
    }

    /// Documents to add batches to.
    pub fn corpus(&self, base: &FitSettings) -> SearchCorpus {
        let views = self.ways.iter().enumerate().map(|(place, way)| View {
            analyzer: (place > 0).then(|| way.analyzer.clone()),
            corpus: TrainingCorpus::new(base.column_space()),
            space: base.column_space(),
            given_up: Arc::clone(&way.given_up),
        });
        SearchCorpus {
            views: views.collect(),
        }
    }
}

impl From<TrainingCorpus> for SearchCorpus {
    /// Documents counted in one way.
    fn from(corpus: TrainingCorpus) -> Self {
        Self {
            views: vec![View {
                analyzer: None,
                corpus,
                space: ColumnSpace::Vocabulary,
                given_up: Arc::default(),
            }],
        }
    }
}

impl SearchCorpus {
    /// Adds a batch.
    pub fn add(&mut self, batch: SearchBatch) {
        for (view, batch) in self.views.iter_mut().zip(batch.of_ways) {
            let Some(batch) = batch.filter(|_| !view.given_up.load(Ordering::Relaxed)) else {
                continue;
            };
            view.corpus.add(batch);
            // How much there is in all decides, in whatever order it comes.
            if view.analyzer.is_some() && view.corpus.cell_count() > MOST_CELLS {
                view.given_up.store(true, Ordering::Relaxed);
                view.corpus = TrainingCorpus::new(view.space);
            }
        }
    }

    /// The documents in the way that was asked for.
    pub(super) fn as_asked(&self) -> Option<&TrainingCorpus> {
        self.views.first().map(|view| &view.corpus)
    }

    /// Every view in the same order of documents.
    pub(super) fn prepare(self, base: &FitSettings) -> Result<Vec<PreparedView>, FitError> {
        let mut views = self.views.into_iter();
        let first = views.next().ok_or(FitError::NoDocuments)?;
        let has_texts = first.corpus.has_text() && !first.corpus.has_features();
        let mut all = Vec::new();
        for mut view in views {
            if has_texts && !view.given_up.load(Ordering::Relaxed) {
                view.corpus.adopt_identities(&first.corpus);
                all.push(view);
            }
        }
        all.insert(0, first);
        let prepare = |view: View| {
            Ok(PreparedView {
                analyzer: view.analyzer,
                corpus: view.corpus.prepare(base)?,
            })
        };
        all.into_iter().map(prepare).collect()
    }
}

/// Documents in order, in one way of taking texts apart.
pub(super) struct PreparedView {
    pub(super) analyzer: Option<Analyzer>,
    pub(super) corpus: PreparedCorpus,
}
