//! Parquet files that pyarrow wrote.

use calibrant::NoProgress;
use calibrant::corpus::{Fields, ReadOptions, Source, read_all};
use serde_json::{Value, json};

use super::python::ask;

/// Writes the rows once for every way pyarrow might have been told to, and reads each file back.
#[track_caller]
fn check(label_types: &[&str], rows: &Value, expected: &[(&str, &[&str], f64)], are_lists: bool) {
    let folder = tempfile::tempdir().unwrap();
    let mut cases = Vec::new();
    for label in label_types {
        for compression in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"] {
            for (use_dictionary, page_version) in [(true, "1.0"), (false, "2.0")] {
                let name = format!("{label}-{compression}-{page_version}.parquet");
                let text = if *label == "string" {
                    "string"
                } else {
                    "large_string"
                };
                cases.push(json!({
                    "path": folder.path().join(name), "label": label, "text": text,
                    "compression": compression, "use_dictionary": use_dictionary,
                    "page_version": page_version,
                }));
            }
        }
    }
    if ask("write_parquet.py", &json!({"rows": rows, "cases": cases})).is_none() {
        return;
    }
    let options = ReadOptions {
        fields: Fields {
            id: Some("id".into()),
            weight: Some("weight".into()),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    for case in &cases {
        let path = case["path"].as_str().unwrap();
        let (documents, summary) =
            read_all(&Source::Path(path.into()), &options, &NoProgress).unwrap();
        assert_eq!(
            (summary.rows, documents.len()),
            (expected.len() as u64, expected.len()),
            "{path}"
        );
        for (number, (document, (text, labels, weight))) in
            documents.iter().zip(expected).enumerate()
        {
            assert_eq!(document.id, Some((100 + number).to_string()), "{path}");
            assert_eq!(document.content.as_text(), Some(*text), "{path}");
            assert_eq!(document.labels, *labels, "{path}");
            assert_eq!(document.labels_were_list, are_lists, "{path}");
            assert_eq!(document.weight, *weight, "{path}");
        }
    }
}

#[test]
fn labels_as_strings_are_read_as_pyarrow_wrote_them() {
    let rows = json!([
        {"id": 100, "text": "Wheat, \"corn\"\nand oats", "label": "grain", "weight": 1.0},
        {"id": 101, "text": "größer 数 ½", "label": "größe", "weight": 2.5},
        {"id": 102, "text": "", "label": "grain", "weight": 0.25},
    ]);
    let expected: [(&str, &[&str], f64); 3] = [
        ("Wheat, \"corn\"\nand oats", &["grain"], 1.0),
        ("größer 数 ½", &["größe"], 2.5),
        ("", &["grain"], 0.25),
    ];
    check(
        &["string", "large_string", "dictionary"],
        &rows,
        &expected,
        false,
    );
}

#[test]
fn labels_as_lists_are_read_as_pyarrow_wrote_them() {
    let rows = json!([
        {"id": 100, "text": "wheat", "label": ["wheat", "grain"], "weight": 1.0},
        {"id": 101, "text": "no topic", "label": [], "weight": 1.0},
        {"id": 102, "text": "oil", "label": ["crude"], "weight": 1.0},
        {"id": 103, "text": "crude again", "label": ["crude", "crude"], "weight": 1.0},
    ]);
    let expected: [(&str, &[&str], f64); 4] = [
        ("wheat", &["grain", "wheat"], 1.0),
        ("no topic", &[], 1.0),
        ("oil", &["crude"], 1.0),
        ("crude again", &["crude"], 1.0),
    ];
    check(&["list", "large_list"], &rows, &expected, true);
}

/// DuckDB's codecs are those that Spark and pandas write as well; it frames LZ4 as the format asks for.
#[test]
fn every_codec_of_duckdb_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let text = "wheat and corn, again and again ".repeat(200);
    let rows = json!([
        {"text": text, "label": "grain", "weight": 1.0},
        {"text": "größer 数 ½", "label": "größe", "weight": 2.5},
    ]);
    let codecs = [
        "uncompressed",
        "snappy",
        "gzip",
        "zstd",
        "lz4_raw",
        "lz4",
        "brotli",
    ];
    let cases: Vec<Value> = codecs
        .iter()
        .map(|codec| {
            let path = folder.path().join(format!("{codec}.parquet"));
            json!({"path": path, "codec": codec})
        })
        .collect();
    if ask("write_duckdb.py", &json!({"rows": rows, "cases": cases})).is_none() {
        return;
    }
    let options = ReadOptions {
        fields: Fields {
            weight: Some("weight".into()),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    for case in &cases {
        let path = case["path"].as_str().unwrap();
        let (documents, _) = read_all(&Source::Path(path.into()), &options, &NoProgress).unwrap();
        assert_eq!(
            documents[0].content.as_text(),
            Some(text.as_str()),
            "{path}"
        );
        assert_eq!(documents[1].labels, ["größe"], "{path}");
        assert_eq!(documents[1].weight, 2.5, "{path}");
    }
}
