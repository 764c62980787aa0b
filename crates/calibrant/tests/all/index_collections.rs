//! Search over real test collections, beside figures that were measured with other code.

use crate::common::data_file;

use calibrant::NoProgress;
use calibrant::corpus::{Fields, ReadOptions, Source};
use calibrant::index::{
    DocumentOptions, IndexSettings, SearchIndex, TopicField, build_index, read_queries,
};
use calibrant::ranking::Qrels;
use calibrant::ranking::functions::BaseFunction;
use data_file::data_file;

/// Mean average precision over all judged queries, for each function.
fn mean_average_precision(collection: &str, functions: &[&str]) -> Option<Vec<f64>> {
    let data = data_file(&format!("ir/{collection}"))?;
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("index");
    let options = DocumentOptions {
        reading: ReadOptions {
            fields: Fields {
                text: vec!["title".into(), "text".into()],
                ..Fields::default()
            },
            ..ReadOptions::default()
        },
        ..DocumentOptions::default()
    };
    let documents = [Source::Path(data.join("docs.jsonl.gz"))];
    let settings = IndexSettings::default();
    build_index(&documents, &path, settings, &options, &NoProgress).unwrap();
    let index = SearchIndex::open(&path).unwrap();
    let queries = Source::Path(data.join("queries.jsonl"));
    let queries = read_queries(&queries, None, &[TopicField::Title]).unwrap();
    let qrels = Qrels::read(&Source::Path(data.join("qrels.txt"))).unwrap();
    let mut means = Vec::new();
    for function in functions {
        let function: BaseFunction = function.parse().unwrap();
        let run = index.run(&queries, &function, 1000, &NoProgress).unwrap();
        let mut sum = 0.0;
        for query in qrels.queries() {
            let relevant = query.grades().iter().filter(|&&grade| grade > 0).count();
            let Some(list) = run.query(query.id()) else {
                continue;
            };
            let (mut found, mut precisions) = (0.0, 0.0);
            for (place, document) in list.documents().enumerate() {
                if query.grade(document).is_some_and(|grade| grade > 0) {
                    found += 1.0;
                    precisions += found / (place as f64 + 1.0);
                }
            }
            sum += precisions / relevant.max(1) as f64;
        }
        means.push(sum / qrels.query_count() as f64);
    }
    Some(means)
}

#[test]
fn bm25_ranks_five_collections_as_well_as_other_code_does() {
    // Measured with other code: BM25 with the same k1, b and idf over plain words without 46 stop words. Our plain
    // words keep stop words and split some others differently, so the figures agree only roughly.
    for (collection, measured) in [
        ("cranfield", 0.408),
        ("cisi", 0.183),
        ("med", 0.497),
        ("npl", 0.212),
        ("time", 0.662),
    ] {
        let Some(found) = mean_average_precision(collection, &["bm25.plain"]) else {
            return;
        };
        assert!(
            (found[0] - measured).abs() < 0.03,
            "{collection}: {found:?}, not {measured}"
        );
    }
}

#[test]
fn every_function_ranks_far_better_than_chance() {
    let functions: Vec<String> = BaseFunction::every()
        .iter()
        .map(ToString::to_string)
        .collect();
    let names: Vec<&str> = functions.iter().map(String::as_str).collect();
    let Some(found) = mean_average_precision("cranfield", &names) else {
        return;
    };
    let shown: Vec<(&&str, &f64)> = names.iter().zip(&found).collect();
    // A random order of 1400 documents with 8 relevant ones has about 0.01.
    assert!(found.iter().all(|&map| map > 0.1), "{shown:?}");
    // Stems and a look at lengths help on this collection, as has been known since it was made.
    let map = |name: &str| found[names.iter().position(|found| *found == name).unwrap()];
    assert!(map("bm25.stems") > map("bm25.plain"), "{shown:?}");
    assert!(map("bm25.stems") > map("tf-idf.stems"), "{shown:?}");
}

#[test]
fn the_topics_of_the_web_track_are_read() {
    let Some(path) = data_file("trec_eval/wt10g/topics.451-550.txt") else {
        return;
    };
    let source = Source::Path(path);
    let titles = read_queries(&source, None, &[TopicField::Title]).unwrap();
    assert_eq!(titles.len(), 100);
    assert_eq!(titles[0].id, "451");
    assert_eq!(titles[0].text, "What is a Bengals cat?");
    assert_eq!(titles[99].id, "550");
    let fields = [
        TopicField::Title,
        TopicField::Description,
        TopicField::Narrative,
    ];
    let whole = read_queries(&source, None, &fields).unwrap();
    assert!(
        whole[0].text.ends_with("bengal tigers are not relevant."),
        "{:?}",
        whole[0]
    );
}
