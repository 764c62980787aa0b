//! How fast and with how much memory a corpus is read.
//!
//! `calibrant-bench read FILE THREADS [TEXT_FIELDS] [LABEL_FIELD]`

use std::time::Instant;

use calibrant::NoProgress;
use calibrant::corpus::{Fields, ReadOptions, Source, read_batches};

pub(crate) fn run(arguments: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let [file, threads, rest @ ..] = arguments else {
        return Err("usage: calibrant-bench read FILE THREADS [TEXT_FIELDS] [LABEL_FIELD]".into());
    };
    let text = rest.first().map_or("text", String::as_str);
    let fields = Fields {
        text: text.split(',').map(str::to_owned).collect(),
        label: rest.get(1).cloned(),
        ..Fields::default()
    };
    let options = ReadOptions {
        fields,
        ..ReadOptions::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.parse()?)
        .build()?;
    let start = Instant::now();
    let mut text_bytes = 0;
    let summary = pool.install(|| {
        read_batches(
            &Source::Path(file.into()),
            &options,
            &NoProgress,
            |batch| -> usize {
                let texts = batch
                    .iter()
                    .filter_map(|document| document.content.as_text());
                texts.map(str::len).sum()
            },
            |bytes| text_bytes += bytes,
        )
    })?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{} rows, {text_bytes} bytes of text in {seconds:.3} s; peak memory {}",
        summary.rows,
        peak_memory()
    );
    Ok(())
}

/// The largest resident size so far, where the system tells it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |size| size.trim().to_owned())
}
