//! Weightings beside scikit-learn's TfidfVectorizer.

use calibrant::features::{
    BatchCounter, ColumnSpace, CorpusCounts, DocumentFrequencyLimits, FittedWeighting, Weighting,
    WeightingSettings,
};
use calibrant::text::Analyzer;
use serde_json::{Value, json};

use super::data::{check_near, reuters};
use super::python::ask;

/// Values are rounded to `f32` twice: after weighting and after scaling.
const TOLERANCE: f64 = 2.0 * f32::EPSILON as f64;

fn cases() -> Vec<WeightingSettings> {
    let weightings = [
        Weighting::Binary,
        Weighting::Tf,
        Weighting::LogTf,
        Weighting::TfIdf,
        Weighting::LogTfIdf,
    ];
    weightings
        .into_iter()
        .flat_map(|weighting| [false, true].map(|l2_norm| WeightingSettings { weighting, l2_norm }))
        .collect()
}

fn asked(settings: &WeightingSettings) -> Value {
    let weighting = settings.weighting;
    json!({
        "log": matches!(weighting, Weighting::LogTf | Weighting::LogTfIdf),
        "idf": matches!(weighting, Weighting::TfIdf | Weighting::LogTfIdf),
        "binary": weighting == Weighting::Binary,
        "l2_norm": settings.l2_norm,
    })
}

/// All weightings of the same terms.
#[track_caller]
fn check(texts: &[&str]) {
    let analyzer = Analyzer::default().compile().unwrap();
    let mut counter = BatchCounter::new(&analyzer, ColumnSpace::Vocabulary);
    texts.iter().for_each(|text| counter.count_text(text));
    let mut counts = CorpusCounts::new(ColumnSpace::Vocabulary);
    counts.merge(counter.finish());
    let order: Vec<u32> = (0..texts.len() as u32).collect();
    let everything = DocumentFrequencyLimits {
        min_documents: Some(1),
        ..DocumentFrequencyLimits::default()
    };
    let arranged = counts.arrange(&order, &everything);
    let vocabulary = arranged.vocabulary.unwrap();
    let cases = cases();
    let terms: Vec<Vec<String>> = texts.iter().map(|text| analyzer.terms(text)).collect();
    let question = json!({
        "documents": terms,
        "cases": cases.iter().map(asked).collect::<Vec<_>>(),
    });
    let Some(answers) = ask("weighting.py", &question) else {
        return;
    };
    for (number, &settings) in cases.iter().enumerate() {
        let counts = arranged.counts.to_rows();
        let rows = FittedWeighting::fit(settings, &counts).apply(counts);
        for (row, theirs) in rows.rows().zip(answers[number].as_array().unwrap()) {
            let theirs = theirs.as_object().unwrap();
            assert_eq!(row.columns().len(), theirs.len());
            for (column, ours) in row.entries() {
                let term = vocabulary.term(column as u32);
                let theirs = theirs[term].as_f64().unwrap();
                check_near(
                    &format!("{settings:?} of {term}"),
                    ours,
                    theirs,
                    TOLERANCE,
                    theirs,
                );
            }
        }
    }
}

#[test]
fn short_texts_get_the_values_of_scikit_learn() {
    check(&[
        "wheat and corn and wheat",
        "Corn; corn, CORN: and oil",
        "",
        "oil",
        "Größe größe ½ 数 and e\u{301}t\u{e9}",
    ]);
}

#[test]
fn real_stories_get_the_values_of_scikit_learn() {
    let Some(mut stories) = reuters() else { return };
    stories.truncate(600);
    let texts: Vec<&str> = stories
        .iter()
        .filter_map(|story| story.content.as_text())
        .collect();
    check(&texts);
}
