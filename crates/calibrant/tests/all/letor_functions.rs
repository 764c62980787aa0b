//! The base retrieval functions against the official raw features of LETOR 3.0 OHSUMED: every value that
//! is not NULL, from the term statistics that LETOR published beside them.

use crate::common::data_file;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use calibrant::ranking::functions::{
    CollectionStatistics, DocumentStatistics, LetorFeature, QueryTerm, TermStatistics,
};
use data_file::data_file;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

const DOCUMENT_COUNT: u64 = 348_566;
/// Title, abstract, both.
const TOTAL_TERMS: [u64; 3] = [2_770_138, 23_680_877, 26_451_015];

/// A file among the development data, or `None` with a loud word where it is missing.
fn data(name: &str) -> Option<BufReader<MultiGzDecoder<File>>> {
    let path = data_file(&format!("letor/OHSUMED-3.0/{name}"))?;
    Some(BufReader::new(MultiGzDecoder::new(File::open(path).ok()?)))
}

#[derive(Deserialize)]
struct Meta {
    qid: String,
    /// Stem, document frequencies and collection frequencies in the three streams.
    terms: Vec<(String, [u64; 3], [u64; 3])>,
    docs: Vec<(String, i32, [Stream; 3])>,
}

/// Length, unique length, frequency of each term of the query.
#[derive(Deserialize)]
struct Stream(u64, u64, Vec<u32>);

/// The 45 features of every pair of query and document as LETOR printed them.
fn official() -> Option<HashMap<(String, String), Vec<String>>> {
    let mut rows = HashMap::new();
    for part in 1..=5 {
        for line in data(&format!("Feature-null/S{part}.txt.gz"))?.lines() {
            let line = line.unwrap();
            let (values, document) = line.split_once("#docid = ").unwrap();
            let mut words = values.split_whitespace();
            words.next().unwrap();
            let query = words.next().unwrap().strip_prefix("qid:").unwrap();
            let values: Vec<String> = words
                .map(|word| word.split_once(':').unwrap().1.to_owned())
                .collect();
            assert_eq!(values.len(), 45);
            rows.insert((query.to_owned(), document.trim().to_owned()), values);
        }
    }
    Some(rows)
}

#[test]
fn every_raw_feature_of_ohsumed_is_reproduced_to_the_printed_precision() {
    let (Some(meta), Some(official)) = (data("meta.jsonl.gz"), official()) else {
        return;
    };
    let (mut compared, mut missing) = (0, 0);
    let mut worst = [0f64; 15];
    for line in meta.lines() {
        let meta: Meta = serde_json::from_str(&line.unwrap()).unwrap();
        for (document, _, streams) in &meta.docs {
            let printed = &official[&(meta.qid.clone(), document.clone())];
            for (number, Stream(length, unique_length, frequencies)) in streams.iter().enumerate() {
                let collection = CollectionStatistics {
                    document_count: DOCUMENT_COUNT,
                    total_terms: TOTAL_TERMS[number],
                };
                // Words that the query repeats are repeated entries: make them one with a count.
                let mut query: Vec<QueryTerm> = Vec::new();
                let mut counts: Vec<u32> = Vec::new();
                let mut places: HashMap<&str, usize> = HashMap::new();
                for ((stem, df, ctf), &frequency) in meta.terms.iter().zip(frequencies) {
                    let place = *places.entry(stem).or_insert_with(|| {
                        query.push(QueryTerm {
                            count: 0,
                            statistics: TermStatistics {
                                document_frequency: df[number],
                                collection_frequency: ctf[number],
                            },
                        });
                        counts.push(frequency);
                        query.len() - 1
                    });
                    query[place].count += 1;
                }
                let statistics = DocumentStatistics {
                    length: *length,
                    unique_length: *unique_length,
                    norm: 0.0,
                };
                for (place, feature) in LetorFeature::ALL.iter().enumerate() {
                    let printed = &printed[15 * number + place];
                    let value = feature.value(&collection, &query, &statistics, &counts);
                    if printed == "NULL" {
                        missing += 1;
                        continue;
                    }
                    let expected: f64 = printed.parse().unwrap();
                    let Some(value) = value else {
                        panic!(
                            "query {}, document {document}, {feature:?}: no value, not {printed}",
                            meta.qid
                        );
                    };
                    // Six digits are printed of numbers that were computed in single precision.
                    let error = (value - expected).abs() / expected.abs().max(1.0);
                    worst[place] = worst[place].max(error);
                    compared += 1;
                }
            }
        }
    }
    let shown: Vec<String> = LetorFeature::ALL
        .iter()
        .zip(worst)
        .map(|(feature, worst)| format!("{feature:?} {worst:.1e}"))
        .collect();
    assert!(worst.iter().all(|&worst| worst <= 1e-6), "{shown:?}");
    let _ = writeln!(std::io::stderr(), "{compared} values, worst {shown:?}");
    assert_eq!(compared + missing, 16_140 * 45);
    assert!(compared > 16_140 * 40, "{compared} values compared");
}
