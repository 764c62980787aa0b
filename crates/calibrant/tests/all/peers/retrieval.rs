//! BM25 beside bm25s.

use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, SearchIndex};
use calibrant::ranking::functions::{Analysis, BaseFunction, Bm25Idf, RetrievalFunction};
use calibrant::text::{Analyzer, Language};
use serde_json::json;

use super::python::ask;

/// Words with a long tail, so that some are in most documents and some in one; no two documents alike.
fn texts() -> Vec<String> {
    let mut state = 12_345u64;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    (0..300)
        .map(|_| {
            let words: Vec<String> = (0..5 + next(60))
                .map(|_| {
                    let most = 1 + next(400);
                    format!("running{}", next(most))
                })
                .collect();
            words.join(" ")
        })
        .collect()
}

#[test]
fn bm25_scores_are_those_of_bm25s() {
    let texts = texts();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut builder = IndexBuilder::create(&path, IndexSettings::default()).unwrap();
    for (number, text) in texts.iter().enumerate() {
        let document = IndexDocument {
            id: number.to_string(),
            text: text.clone(),
            ..IndexDocument::default()
        };
        builder.add("memory", document).unwrap();
    }
    builder.finish().unwrap();
    let index = SearchIndex::open(&path).unwrap();
    let analyzer: Analyzer = Analysis::Plain.analyzer(Language::Porter, Language::English);
    let analyzer = analyzer.compile().unwrap();
    let documents: Vec<Vec<String>> = texts.iter().map(|text| analyzer.terms(text)).collect();
    let queries = [
        vec!["running2", "running9"],
        vec!["running7"],
        vec!["running3", "running50", "running120", "running399"],
    ];
    let (k1, b) = (1.2, 0.75);
    let question = json!({ "documents": documents, "queries": queries, "k1": k1, "b": b });
    let Some(answer) = ask("retrieval.py", &question) else {
        return;
    };
    // bm25s leaves the constant k1 + 1 out, and takes 0 for a negative idf: no term here has one.
    for (method, idf) in [
        ("lucene", Bm25Idf::Positive),
        ("robertson", Bm25Idf::Robertson),
    ] {
        for (number, query) in queries.iter().enumerate() {
            let expected: Vec<f64> =
                serde_json::from_value(answer[method][number].clone()).unwrap();
            let function = BaseFunction {
                function: RetrievalFunction::Bm25 {
                    k1,
                    b,
                    k3: 7.0,
                    idf,
                },
                analysis: Analysis::Plain,
            };
            let hits = index.search(&query.join(" "), &function, 1000).unwrap();
            assert!(!hits.is_empty());
            for hit in hits {
                let expected = (k1 + 1.0) * expected[hit.id.parse::<usize>().unwrap()];
                assert!(
                    (hit.score - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                    "{method}, {query:?}, document {}: {}, not {expected}",
                    hit.id,
                    hit.score
                );
            }
        }
    }
}
