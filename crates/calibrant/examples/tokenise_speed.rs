//! Measures the speed of text analysis: `tokenise_speed FILE` prints MB/s.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use calibrant::text::{Analyzer, AnalyzerBuffers, Language, NgramRange};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .ok_or("give a UTF-8 text file as the only argument")?;
    let text = std::fs::read_to_string(&path)?;
    let documents = documents(&text);
    let megabytes = text.len() as f64 / 1e6;
    let foreign = text.bytes().filter(|byte| !byte.is_ascii()).count();
    println!(
        "{path}: {megabytes:.1} MB, {} documents, {foreign} bytes outside ASCII",
        documents.len()
    );

    // A yardstick: machines differ, and the same one differs from minute to minute.
    report("whitespace", &documents, |document, count| {
        document.split_ascii_whitespace().for_each(count);
    });
    let plain = Analyzer::default();
    for (name, analyzer) in [
        ("plain", plain.clone()),
        (
            "stop words",
            Analyzer {
                stop_words: Some(Language::English),
                ..plain.clone()
            },
        ),
        (
            "stemmer",
            Analyzer {
                stemmer: Some(Language::English),
                ..plain.clone()
            },
        ),
        (
            "words 1-2",
            Analyzer {
                word_ngrams: NgramRange { min: 1, max: 2 },
                ..plain.clone()
            },
        ),
        (
            "chars 3-5",
            Analyzer {
                char_ngrams: Some(NgramRange { min: 3, max: 5 }),
                ..plain
            },
        ),
    ] {
        let analyzer = analyzer.compile()?;
        let mut buffers = AnalyzerBuffers::default();
        report(name, &documents, |document, count| {
            analyzer.for_each_term(document, &mut buffers, |term| count(term));
        });
    }
    Ok(())
}

/// Prints the best of five runs of `split` over all documents.
fn report(name: &str, documents: &[&str], mut split: impl FnMut(&str, &mut dyn FnMut(&str))) {
    let megabytes = documents
        .iter()
        .map(|document| document.len())
        .sum::<usize>() as f64
        / 1e6;
    let mut best = f64::INFINITY;
    let mut terms = 0u64;
    for _ in 0..5 {
        let mut bytes = 0;
        terms = 0;
        let start = Instant::now();
        for document in documents {
            split(document, &mut |term| {
                terms += 1;
                bytes += term.len();
            });
        }
        black_box(bytes);
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:>10}: {:7.1} MB/s, {terms} terms", megabytes / best);
}

/// Cuts the text at line ends into pieces of about the length of a newsgroup article.
fn documents(text: &str) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        end += line.len();
        if end - start > 1500 {
            documents.push(&text[start..end]);
            start = end;
        }
    }
    documents.push(&text[start..]);
    documents
}
