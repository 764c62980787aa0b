//! Reads corpora of real text, where they are at hand.

use crate::common::data_file;

use calibrant::NoProgress;
use calibrant::corpus::{Fields, Folds, ReadOptions, Source, read_all};
use data_file::data_file;

/// A file among the development data, or `None` with a loud word where it is missing.
fn corpus(name: &str) -> Option<Source> {
    data_file(name).map(Source::Path)
}

#[test]
fn twenty_newsgroups_has_its_known_counts() {
    let Some(source) = corpus("20newsgroups.jsonl.gz") else {
        return;
    };
    let fields = Fields {
        text: vec!["subject".into(), "text".into()],
        id: Some("id".into()),
        ..Fields::default()
    };
    let mut options = ReadOptions {
        fields,
        ..ReadOptions::default()
    };
    let (documents, summary) = read_all(&source, &options, &NoProgress).unwrap();
    assert_eq!((summary.rows, documents.len()), (18_846, 18_846));
    assert_eq!(documents[0].id.as_deref(), Some("train/alt.atheism/49960"));
    assert_eq!(documents[0].labels, ["alt.atheism"]);
    let text = documents[0].content.as_text().unwrap();
    let (subject, body) = text.split_once("\n\u{1F}").unwrap();
    assert_eq!(subject, "Alt.Atheism FAQ: Atheist Resources");
    assert!(body.starts_with("Archive-name: atheism/"));

    options.filters = vec!["split=train".parse().unwrap()];
    let (train, summary) = read_all(&source, &options, &NoProgress).unwrap();
    assert_eq!((summary.rows, summary.filtered), (11_314, 7_532));

    let mut names: Vec<&str> = train
        .iter()
        .map(|document| document.labels[0].as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 20);
    let labels: calibrant::RowLabels = train
        .iter()
        .map(|document| vec![names.binary_search(&document.labels[0].as_str()).unwrap() as u32])
        .collect();
    let keys: Vec<u128> = (0..train.len() as u128).collect();
    let folds = Folds::stratified(&keys, &labels, 20, 5, 1).unwrap();
    let mut sizes = [0; 5];
    folds
        .assignment()
        .iter()
        .for_each(|&fold| sizes[usize::from(fold)] += 1);
    sizes.sort_unstable();
    assert_eq!(sizes, [2262, 2263, 2263, 2263, 2263]); // by hand: 11,314 = 5 · 2,262 + 4
}

#[test]
fn reuters_has_its_known_counts() {
    let Some(source) = corpus("reuters21578.jsonl.gz") else {
        return;
    };
    let fields = Fields {
        text: vec!["title".into(), "body".into()],
        label: Some("topics".into()),
        id: Some("id".into()),
        ..Fields::default()
    };
    let filters = vec!["split=train".parse().unwrap()];
    let options = ReadOptions {
        fields,
        filters,
        ..ReadOptions::default()
    };
    let (train, _) = read_all(&source, &options, &NoProgress).unwrap();
    let earn = train
        .iter()
        .filter(|story| story.labels.iter().any(|label| label == "earn"));
    assert_eq!((train.len(), earn.count()), (9_603, 2_877));
    let without = train.iter().filter(|story| story.labels.is_empty());
    assert_eq!(without.count(), 1_828);
    assert!(
        train
            .iter()
            .all(|story| story.labels_were_list && story.id.is_some())
    );
}
