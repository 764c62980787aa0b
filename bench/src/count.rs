//! How fast text becomes counts, in MB/s as JSON.
//!
//! `calibrant-bench count FILE`, where documents are divided by form feeds.

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use calibrant::features::{BatchCounter, BatchCounts, ColumnSpace, CorpusCounts};
use calibrant::text::{Analyzer, AnalyzerBuffers, CompiledAnalyzer, Language, NgramRange};
use rayon::prelude::*;
use serde_json::{Value, json};

/// Bytes of text that one task counts: as much as the reader hands out at a time.
const BATCH_BYTES: usize = 1 << 20;

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let path = arguments
        .first()
        .ok_or("usage: calibrant-bench count FILE (documents divided by form feeds)")?;
    let text = std::fs::read_to_string(path)?;
    let documents: Vec<&str> = text.split('\u{c}').collect();
    let batches = batches(&documents);
    let speeds = Speeds {
        documents: &documents,
        batches: &batches,
        megabytes: text.len() as f64 / 1e6,
        one: pool(1)?,
        all: pool(0)?,
    };
    let plain = Analyzer::default();
    let mut settings = vec![
        ("words", plain.clone(), ColumnSpace::Vocabulary),
        (
            "words, hashed",
            plain.clone(),
            ColumnSpace::Hashed { bits: 18 },
        ),
    ];
    let stop_words = Some(Language::English);
    let stemmer = Some(Language::English);
    for (name, analyzer) in [
        (
            "stop words",
            Analyzer {
                stop_words,
                ..plain.clone()
            },
        ),
        (
            "stems",
            Analyzer {
                stemmer,
                ..plain.clone()
            },
        ),
        (
            "words and pairs",
            Analyzer {
                word_ngrams: NgramRange { min: 1, max: 2 },
                ..plain.clone()
            },
        ),
        (
            "characters 3-5",
            Analyzer {
                char_ngrams: Some(NgramRange { min: 3, max: 5 }),
                ..plain.clone()
            },
        ),
    ] {
        settings.push((name, analyzer, ColumnSpace::Vocabulary));
    }
    let mut counted = serde_json::Map::new();
    for (name, analyzer, space) in settings {
        counted.insert(
            name.to_owned(),
            speeds.counting(&analyzer.compile()?, space),
        );
    }
    let report = json!({
        "megabytes": speeds.megabytes,
        "documents": documents.len(),
        "threads": speeds.all.current_num_threads(),
        "split_at_white_space": speeds.whitespace(),
        "find_words": speeds.finding(&plain.compile()?),
        "count": counted,
    });
    println!("{report}");
    Ok(())
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

/// Neighbouring documents, about [`BATCH_BYTES`] at a time.
fn batches<'a>(documents: &'a [&'a str]) -> Vec<&'a [&'a str]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (end, document) in documents.iter().enumerate() {
        bytes += document.len();
        if bytes >= BATCH_BYTES || end + 1 == documents.len() {
            batches.push(&documents[start..=end]);
            (start, bytes) = (end + 1, 0);
        }
    }
    batches
}

struct Speeds<'a> {
    documents: &'a [&'a str],
    batches: &'a [&'a [&'a str]],
    megabytes: f64,
    one: rayon::ThreadPool,
    all: rayon::ThreadPool,
}

impl Speeds<'_> {
    /// MB/s of the middle one of five runs, or of fewer where they take more than two seconds.
    fn of(&self, mut run: impl FnMut()) -> f64 {
        let mut seconds = Vec::new();
        while seconds.is_empty() || seconds.len() < 5 && seconds.iter().sum::<f64>() < 2.0 {
            let start = Instant::now();
            run();
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        self.megabytes / seconds[seconds.len() / 2]
    }

    /// A yardstick: machines differ, and the same one differs from minute to minute.
    fn whitespace(&self) -> f64 {
        self.of(|| {
            let words: usize = self
                .documents
                .iter()
                .map(|text| text.split_ascii_whitespace().count())
                .sum();
            black_box(words);
        })
    }

    /// Terms found and thrown away.
    fn finding(&self, analyzer: &CompiledAnalyzer) -> f64 {
        let mut buffers = AnalyzerBuffers::default();
        self.of(|| {
            let mut bytes = 0;
            for document in self.documents {
                analyzer.for_each_term(document, &mut buffers, |term| bytes += term.len());
            }
            black_box(bytes);
        })
    }

    /// Terms counted over one vocabulary, by one thread and by all.
    fn counting(&self, analyzer: &CompiledAnalyzer, space: ColumnSpace) -> Value {
        let run = || {
            let batches: Vec<BatchCounts> = self
                .batches
                .par_iter()
                .map(|documents| {
                    let mut counter = BatchCounter::new(analyzer, space);
                    documents
                        .iter()
                        .for_each(|document| counter.count_text(document));
                    counter.finish()
                })
                .collect();
            let mut counts = CorpusCounts::new(space);
            batches.into_iter().for_each(|batch| counts.merge(batch));
            black_box(counts.document_count());
        };
        json!({
            "one_thread": self.of(|| self.one.install(run)),
            "all_threads": self.of(|| self.all.install(run)),
        })
    }
}
