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
    let lines: Vec<&str> = text.lines().collect();
    let megabytes = text.len() as f64 / 1e6;
    let foreign = text.bytes().filter(|byte| !byte.is_ascii()).count();
    println!(
        "{path}: {megabytes:.1} MB, {} lines, {foreign} bytes outside ASCII",
        lines.len()
    );

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
        let mut best = f64::INFINITY;
        let mut terms = 0u64;
        for _ in 0..5 {
            let mut bytes = 0;
            terms = 0;
            let start = Instant::now();
            for line in &lines {
                analyzer.for_each_term(line, &mut buffers, |term| {
                    terms += 1;
                    bytes += term.len();
                });
            }
            black_box(bytes);
            best = best.min(start.elapsed().as_secs_f64());
        }
        println!("{name:>10}: {:7.1} MB/s, {terms} terms", megabytes / best);
    }
    Ok(())
}
