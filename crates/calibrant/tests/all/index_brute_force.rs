//! Search over the index against the plainest way there is: every formula, written out here a second time, over
//! documents held in memory.

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use calibrant::index::{IndexBuilder, IndexDocument, IndexSettings, Query, SearchIndex};
use calibrant::ranking::functions::{Analysis, BaseFunction, Bm25Idf, RetrievalFunction};
use calibrant::text::{CompiledAnalyzer, Language};
use proptest::prelude::*;

/// A collection under one analysis.
struct Collection {
    documents: Vec<BTreeMap<String, f64>>,
}

fn counts(terms: Vec<String>) -> BTreeMap<String, f64> {
    let mut counts = BTreeMap::new();
    for term in terms {
        *counts.entry(term).or_insert(0.0) += 1.0;
    }
    counts
}

fn terms(analysis: Analysis, text: &str) -> Vec<String> {
    static ANALYZERS: LazyLock<[CompiledAnalyzer; 3]> = LazyLock::new(|| {
        Analysis::ALL.map(|analysis| {
            let analyzer = analysis.analyzer(Language::Porter, Language::English);
            analyzer.compile().unwrap()
        })
    });
    ANALYZERS[analysis as usize].terms(text)
}

impl Collection {
    fn new(analysis: Analysis, texts: &[String]) -> Self {
        let documents = texts.iter().map(|text| counts(terms(analysis, text)));
        Self {
            documents: documents.collect(),
        }
    }

    /// The score by the formula in the documentation; the second part says whether the document has a term of the query.
    fn score(
        &self,
        function: RetrievalFunction,
        query: &str,
        analysis: Analysis,
        number: usize,
    ) -> (f64, bool) {
        let n = self.documents.len() as f64;
        let total: f64 = self.documents.iter().flat_map(|d| d.values()).sum();
        let document = &self.documents[number];
        let length: f64 = document.values().sum();
        let unique = document.len() as f64;
        let average = total / n;
        let query = counts(terms(analysis, query));
        let df = |term: &str| {
            self.documents
                .iter()
                .filter(|d| d.contains_key(term))
                .count() as f64
        };
        let ctf = |term: &str| -> f64 { self.documents.iter().filter_map(|d| d.get(term)).sum() };
        let norm: f64 = document.values().map(|tf| (1.0 + tf.ln()).powi(2)).sum();
        let query_norm: f64 = query
            .iter()
            .filter(|(term, _)| df(term) > 0.0)
            .map(|(term, qtf)| ((1.0 + qtf.ln()) * (n / df(term)).ln()).powi(2))
            .sum();
        let mut score = 0.0;
        let mut matched = false;
        for (term, &qtf) in query.iter().filter(|(term, _)| df(term) > 0.0) {
            let tf = document.get(term).copied().unwrap_or(0.0);
            matched |= tf > 0.0;
            let p = ctf(term) / total;
            let relative = |count: f64| if length > 0.0 { count / length } else { 0.0 };
            score += match function {
                RetrievalFunction::Cosine if tf == 0.0 || query_norm == 0.0 => 0.0,
                RetrievalFunction::Cosine => {
                    (1.0 + tf.ln()) * (1.0 + qtf.ln()) * (n / df(term)).ln()
                        / (norm.sqrt() * query_norm.sqrt())
                }
                RetrievalFunction::TfIdf => qtf * tf * (n / df(term)).ln(),
                RetrievalFunction::Bm25 { k1, b, k3, idf } => {
                    let odds = (n - df(term) + 0.5) / (df(term) + 0.5);
                    let idf = match idf {
                        Bm25Idf::Positive => (1.0 + odds).ln(),
                        Bm25Idf::Robertson => odds.ln(),
                    };
                    let long = 1.0 - b + b * length / average;
                    if tf == 0.0 {
                        0.0
                    } else {
                        idf * (k1 + 1.0) * tf / (tf + k1 * long) * (k3 + 1.0) * qtf / (k3 + qtf)
                    }
                }
                RetrievalFunction::Dirichlet { mu } => qtf * ((tf + mu * p) / (length + mu)).ln(),
                RetrievalFunction::JelinekMercer { lambda } => {
                    qtf * ((1.0 - lambda) * relative(tf) + lambda * p).ln()
                }
                RetrievalFunction::AbsoluteDiscount { delta } => {
                    let share = if length > 0.0 { unique / length } else { 1.0 };
                    qtf * (relative((tf - delta).max(0.0)) + delta * share * p).ln()
                }
            };
        }
        (score, matched)
    }
}

/// Words with common stems and stop words among them, so that the three analyses differ.
const WORDS: [&str; 12] = [
    "fox", "foxes", "the", "of", "run", "running", "runs", "naïve", "tree", "trees", "and", "42",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..12).prop_map(|w| w.join(" "))
}

fn index(texts: &[String], folder: &tempfile::TempDir) -> SearchIndex {
    let path = folder.path().join("index");
    let mut builder = IndexBuilder::create(&path, IndexSettings::default()).unwrap();
    for (number, text) in texts.iter().enumerate() {
        let document = IndexDocument {
            id: id(number),
            text: text.clone(),
            ..IndexDocument::default()
        };
        builder.add("memory", document).unwrap();
    }
    builder.finish().unwrap();
    SearchIndex::open(&path).unwrap()
}

/// Identifiers whose order is not that of the documents.
fn id(number: usize) -> String {
    format!("d{}", (number * 7) % 31)
}

fn functions() -> Vec<BaseFunction> {
    let mut functions = BaseFunction::every();
    for name in [
        "bm25.stems:k1=0.9,b=0.4,k3=0,idf=robertson",
        "bm25.plain:k1=0",
        "dirichlet.stems-nostop:mu=2",
        "jelinek-mercer.plain:lambda=0.1",
        "absolute-discount.stems:delta=1",
    ] {
        functions.push(name.parse().unwrap());
    }
    functions
}

proptest! {
    // An index is written to disk for each case.
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_function_over_every_analysis_is_what_brute_force_finds(
        texts in prop::collection::vec(text(), 1..25),
        query in text(),
        top in 1usize..30,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = index(&texts, &folder);
        let mut found_by_some: HashSet<String> = HashSet::new();
        for function in functions() {
            let collection = Collection::new(function.analysis, &texts);
            let score = |number| collection.score(function.function, &query, function.analysis, number);
            let hits = index.search(&query, &function, top).unwrap();
            let matched: Vec<usize> = (0..texts.len()).filter(|&number| score(number).1).collect();
            prop_assert_eq!(hits.len(), matched.len().min(top), "{}", function);
            let mut last: Option<(f64, String)> = None;
            for hit in &hits {
                let number = (0..texts.len()).find(|&number| id(number) == hit.id).unwrap();
                let (expected, has_term) = score(number);
                prop_assert!(has_term, "{} found {}", function, hit.id);
                prop_assert!(
                    (hit.score - expected).abs() <= 1e-9 * (1.0 + expected.abs()),
                    "{}: {} has {}, not {}", function, hit.id, hit.score, expected
                );
                // Falling scores; equal ones by falling identifiers.
                if let Some((score, id)) = &last {
                    prop_assert!((*score, id) > (hit.score, &hit.id), "{}", function);
                }
                last = Some((hit.score, hit.id.clone()));
                let explained = index.explain(&query, &function, &hit.id).unwrap().unwrap();
                let sum = explained.parts.iter().fold(0.0, |sum, part| sum + part.part);
                prop_assert_eq!(sum.to_bits(), hit.score.to_bits());
            }
            // Nothing better was left out.
            if let Some((worst, _)) = &last {
                for &number in &matched {
                    if !hits.iter().any(|hit| hit.id == id(number)) {
                        prop_assert!(score(number).0 <= worst + 1e-9 * (1.0 + worst.abs()), "{}", function);
                    }
                }
            }
            found_by_some.extend(hits.into_iter().map(|hit| hit.id));
        }
        // The table has the union of all lists and the value of every function for each of its documents.
        let queries = [Query { id: "q".into(), text: query.clone() }];
        let table = index.candidates(&queries, &functions(), top, None).unwrap();
        prop_assert_eq!(table.row_count(), found_by_some.len());
        let mut last = String::new();
        for row in 0..table.row_count() {
            let name = table.document(row);
            prop_assert!(found_by_some.contains(name));
            prop_assert!(last.as_str() < name);
            last = name.to_owned();
            let number = (0..texts.len()).find(|&number| id(number) == name).unwrap();
            for (function, value) in functions().iter().zip(table.row(row)) {
                let collection = Collection::new(function.analysis, &texts);
                let (expected, _) = collection.score(function.function, &query, function.analysis, number);
                prop_assert!(
                    (f64::from(*value) - expected).abs() <= 1e-5 * (1.0 + expected.abs()),
                    "{}: {} has {}, not {}", function, name, value, expected
                );
            }
        }
    }
}

#[test]
fn long_queries_and_many_documents_cross_windows() {
    // More documents than one window holds, and a query of several hundred distinct terms.
    let texts: Vec<String> = (0..9000)
        .map(|number: usize| format!("w{} w{} x{}", number % 700, (number * number) % 500, number))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut builder = IndexBuilder::create(&path, IndexSettings::default()).unwrap();
    for (number, text) in texts.iter().enumerate() {
        let document = IndexDocument {
            id: format!("{number:05}"),
            text: text.clone(),
            ..IndexDocument::default()
        };
        builder.add("memory", document).unwrap();
    }
    builder.finish().unwrap();
    let index = SearchIndex::open(&path).unwrap();
    let query: Vec<String> = (0..600).map(|number| format!("w{number}")).collect();
    let query = query.join(" ");
    for name in ["tf-idf.plain", "dirichlet.plain"] {
        let function: BaseFunction = name.parse().unwrap();
        let hits = index.search(&query, &function, 9000).unwrap();
        let matching = texts.iter().filter(|text| {
            let mut words = text.split(' ').take(2);
            words.any(|word| word[1..].parse::<u32>().unwrap() < 600)
        });
        assert_eq!(hits.len(), matching.count());
        let best = index.search(&query, &function, 10).unwrap();
        assert_eq!(best, hits[..10]);
        for hit in hits.iter().step_by(997) {
            let explained = index.explain(&query, &function, &hit.id).unwrap().unwrap();
            assert_eq!(explained.score.to_bits(), hit.score.to_bits());
        }
    }
}

#[test] // A list that is never full looks at every document: what is left out for a short list must not be missing from it.
fn nothing_that_is_passed_over_belongs_in_a_short_list() {
    let mut random = calibrant::numeric::Random::from_seed(3);
    // Words of falling frequency, in documents of any length.
    let mut word = || {
        (
            (600.0f64.ln() * random.uniform()).exp() as usize,
            random.below(25),
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let mut builder = IndexBuilder::create(&path, IndexSettings::default()).unwrap();
    for number in 0..13_000usize {
        let words: Vec<String> = (0..1 + word().1)
            .map(|_| format!("w{}", word().0))
            .collect();
        let document = IndexDocument {
            id: format!("{:05}", (number * 7919) % 13_000),
            text: words.join(" "),
            ..IndexDocument::default()
        };
        builder.add("memory", document).unwrap();
    }
    builder.finish().unwrap();
    let index = SearchIndex::open(&path).unwrap();
    let mut functions = BaseFunction::paper();
    for name in ["bm25.plain:idf=robertson", "absolute-discount.plain"] {
        functions.push(name.parse().unwrap());
    }
    functions.retain(|function| function.analysis == Analysis::Plain);
    assert!(functions.len() >= 7);
    for query in [
        "w1 w2 w590",
        "w1 w3 w40 w300",
        "w1",
        "w2 w2 w7 w55 w551 zzz",
        "w580 w570",
    ] {
        let all: Vec<_> = functions
            .iter()
            .map(|function| index.search(query, function, 13_000).unwrap())
            .collect();
        for top in [1, 10, 100] {
            for (function, all) in functions.iter().zip(&all) {
                let best = index.search(query, function, top).unwrap();
                assert_eq!(
                    best,
                    all[..top.min(all.len())],
                    "{function}, {query}, {top}"
                );
            }
            // Functions that share a walk must not take each other's documents away.
            let queries = [Query {
                id: "q".into(),
                text: query.to_owned(),
            }];
            let table = index.candidates(&queries, &functions, top, None).unwrap();
            let wanted: HashSet<&str> = all
                .iter()
                .flat_map(|all| all.iter().take(top))
                .map(|hit| hit.id.as_str())
                .collect();
            assert_eq!(table.row_count(), wanted.len());
        }
    }
}
