//! The same documents, counted in several ways.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::names;
use crate::FitError;
use crate::corpus::Document;
use crate::features::ColumnSpace;
use crate::pipeline::training_corpus::PreparedCorpus;
use crate::pipeline::{CountedBatch, DocumentCounter, FitSettings, TrainingCorpus};
use crate::scorers::Reads;
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
    /// Nanoseconds that further ways have taken, of all threads together.
    spent: Arc<AtomicU64>,
    most_seconds: f64,
}

#[derive(Debug)]
struct Way {
    analyzer: Analyzer,
    counter: DocumentCounter,
    given_up: Arc<OnceLock<LeftOut>>,
}

/// Why terms were not tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LeftOut {
    /// There would have been more numbers than memory is taken for.
    TooMany,
    /// Counting them took too much of the time budget.
    NoTime,
}

/// Terms that a search did not try.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutTerms {
    /// `characters across words, 2 to 5`.
    pub terms: String,
    /// Why.
    pub because: LeftOut,
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
    spent: Arc<AtomicU64>,
}

#[derive(Debug)]
struct View {
    /// Nothing for the analyzer of the settings.
    analyzer: Option<Analyzer>,
    corpus: TrainingCorpus,
    space: ColumnSpace,
    given_up: Arc<OnceLock<LeftOut>>,
}

/// With more numbers than these a further view is given up: they take eight bytes each.
const MOST_CELLS: usize = 60_000_000;
/// So much of the time budget may go into counting: what is counted has to be tried, too.
const FOR_COUNTING: f64 = 0.25;

const PAIRS: NgramRange = NgramRange { min: 1, max: 2 };
const CHARACTERS: NgramRange = NgramRange { min: 2, max: 5 };

impl SearchCounter {
    /// Compiles the analyzers.
    pub fn new(base: &FitSettings) -> Result<Self, FitError> {
        let mut analyzers = vec![base.analyzer.clone()];
        let plain = base.analyzer.word_ngrams == NgramRange::default()
            && base.analyzer.char_ngrams.is_none();
        if plain && base.reads() != Reads::Rules {
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
                counter: DocumentCounter::new(&settings)?.for_all_weightings(),
                given_up: Arc::default(),
            })
        });
        Ok(Self {
            ways: ways.collect::<Result<_, FitError>>()?,
            spent: Arc::default(),
            most_seconds: f64::INFINITY,
        })
    }

    /// Gives further ways up when counting them has taken a quarter of the time budget. What they take is a part of the
    /// budget, as far as threads share it evenly; reading the file and counting what was asked for is not.
    pub fn within(mut self, time_budget: Duration) -> Self {
        self.most_seconds = FOR_COUNTING * time_budget.as_secs_f64();
        self
    }

    /// In how many ways documents are counted.
    pub fn way_count(&self) -> usize {
        self.ways.len()
    }

    /// Counts a batch in every way; batches can be counted in parallel.
    pub fn count(&self, documents: Vec<Document>) -> SearchBatch {
        let count = |(place, way): (usize, &Way)| {
            if place == 0 {
                return Some(way.counter.count(documents.clone()));
            }
            if seconds(&self.spent) >= self.most_seconds {
                way.given_up.get_or_init(|| LeftOut::NoTime);
            }
            let is_wanted = way.given_up.get().is_none();
            is_wanted.then(|| {
                let start = Instant::now();
                let counted = way.counter.count(documents.clone());
                let nanoseconds = start.elapsed().as_nanos() as u64;
                self.spent.fetch_add(nanoseconds, Ordering::Relaxed);
                counted
            })
        };
        SearchBatch {
            of_ways: self.ways.iter().enumerate().map(count).collect(),
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
            spent: Arc::clone(&self.spent),
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
            spent: Arc::default(),
        }
    }
}

impl SearchCorpus {
    /// Adds a batch.
    pub fn add(&mut self, batch: SearchBatch) {
        for (view, batch) in self.views.iter_mut().zip(batch.of_ways) {
            if let Some(batch) = batch {
                view.corpus.add(batch);
            }
            // The total decides, whatever the order.
            if view.analyzer.is_some() && view.corpus.cell_count() > MOST_CELLS {
                view.given_up.get_or_init(|| LeftOut::TooMany);
            }
            if view.given_up.get().is_some() {
                view.corpus = TrainingCorpus::new(view.space);
            }
        }
    }

    /// What counting in further ways took, with the threads that there are.
    pub(super) fn spent_seconds(&self) -> f64 {
        seconds(&self.spent)
    }

    /// The documents in the way that was asked for.
    pub(super) fn as_asked(&self) -> Option<&TrainingCorpus> {
        self.views.first().map(|view| &view.corpus)
    }

    /// Every view in the same order of documents, and the terms that are in none.
    pub(super) fn prepare(
        self,
        base: &FitSettings,
    ) -> Result<(Vec<PreparedView>, Vec<LeftOutTerms>), FitError> {
        let mut views = self.views.into_iter();
        let first = views.next().ok_or(FitError::NoDocuments)?;
        let has_texts = first.corpus.has_text() && !first.corpus.has_features();
        let (mut all, mut left_out) = (Vec::new(), Vec::new());
        for mut view in views.filter(|_| has_texts) {
            match (view.given_up.get(), &view.analyzer) {
                (Some(&because), Some(analyzer)) => left_out.push(LeftOutTerms {
                    terms: names::terms(analyzer),
                    because,
                }),
                _ => {
                    view.corpus.adopt_identities(&first.corpus);
                    all.push(view);
                }
            }
        }
        all.insert(0, first);
        let prepare = |view: View| {
            Ok(PreparedView {
                analyzer: view.analyzer,
                corpus: view.corpus.into_prepared(base)?,
            })
        };
        let all = all
            .into_iter()
            .map(prepare)
            .collect::<Result<_, FitError>>()?;
        Ok((all, left_out))
    }
}

/// Of the wall, for what all threads together took.
fn seconds(nanoseconds: &AtomicU64) -> f64 {
    let threads = rayon::current_num_threads().max(1) as f64;
    nanoseconds.load(Ordering::Relaxed) as f64 * 1e-9 / threads
}

/// Documents in order, in one way of taking texts apart.
pub(super) struct PreparedView {
    pub(super) analyzer: Option<Analyzer>,
    pub(super) corpus: PreparedCorpus,
}
