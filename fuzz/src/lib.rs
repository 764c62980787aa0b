//! What the targets share: bytes into a reader, strict and lenient, and what comes out thrown away.

use std::io::{Cursor, Write};

use calibrant::NoProgress;
use calibrant::corpus::{Fields, Format, LabelNeed, ReadOptions, Source, read_all, read_scores};

/// Reads bytes as documents and as scores in one format, in several ways.
pub fn read(format: Format, bytes: &[u8]) {
    let source = Source::bytes("fuzzed", bytes);
    let strict = ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    };
    let _ = read_all(&source, &strict, &NoProgress);
    let mut lenient = ReadOptions {
        skip_bad_rows: true,
        labels_required: LabelNeed::IfPresent,
        max_row_bytes: 1 << 12,
        fields: Fields {
            text: vec!["1".into()],
            label: Some("2".into()),
            label_separator: Some(",".into()),
            numeric: vec!["3".into()],
            ..Fields::default()
        },
        ..strict.clone()
    };
    lenient.layout.no_header = true;
    let _ = read_all(&source, &lenient, &NoProgress);
    let scores = ReadOptions {
        scores: vec!["text".into()],
        ..strict
    };
    let sink = |_| std::ops::ControlFlow::Continue(());
    let _ = read_scores(&source, &scores, &NoProgress, |rows| rows.len(), sink);
}

/// An archive of these parts as they are, since a fuzzer does not guess what deflate makes of its bytes.
pub fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Stored);
    for (name, content) in parts {
        let begun = writer.start_file(*name, stored);
        begun.expect("in memory");
        writer.write_all(content).expect("in memory");
    }
    writer.finish().expect("in memory").into_inner()
}
