//! Documents of none of the classes: how many are noticed, and what that costs in known ones.
//!
//! Two kinds of strangers: newsgroups that were left out of training, and Reuters stories shown to a model
//! of all twenty newsgroups. Beside it, a threshold on the largest of the probabilities that sum to one,
//! set to lose as many known documents. Classifiers that look at each class alone notice strangers; those
//! whose scores only compare classes (naive Bayes, Rocchio's lead over the next centre) have less to notice
//! them by, and the table shows it.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields};
use calibrant::decision::OtherRule;
use calibrant::evaluation::{OpenForecast, OpenWorldReport};
use calibrant::jobs::ForecastSettings;
use calibrant::pipeline::{Classifier, FitSettings, Model, TrainingCorpus, fit};
use calibrant::scorers::{LinearSvm, LogisticRegression, NaiveBayes, Rocchio};

use crate::data::Corpus;

/// Known documents that may be lost.
const LOSS: f64 = 0.05;

/// Every fourth group is left out of training.
const LEFT_OUT: usize = 4;

pub(crate) fn run(data: &Path, json: bool) -> Result<(), Box<dyn Error>> {
    let table = measure(data, |_| true)?;
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &table)?;
        writeln!(out)?;
        return Ok(());
    }
    for (set, classifiers) in &table {
        writeln!(out, "\n{set}")?;
        writeln!(
            out,
            "{:<22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "", "lost", "caught", "by max p", "AUC", "by max p", "accuracy", "of kept"
        )?;
        for (name, report) in classifiers {
            writeln!(
                out,
                "{name:<22} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4} {:>9.4}",
                report.lost,
                report.caught,
                report.caught_by_largest_probability,
                report.auc,
                report.auc_of_largest_probability,
                report.accuracy_without,
                report.accuracy_of_kept
            )?;
        }
    }
    Ok(())
}

type Table = BTreeMap<&'static str, BTreeMap<&'static str, OpenWorldReport>>;

/// The wanted classifiers.
fn measure(data: &Path, wanted: impl Fn(&str) -> bool) -> Result<Table, Box<dyn Error>> {
    let mut table = Table::new();
    let Some((training, test)) = Corpus::named("20newsgroups").read(data)? else {
        return Ok(table);
    };
    let mut groups: Vec<&str> = training
        .iter()
        .filter_map(|document| document.labels.first().map(String::as_str))
        .collect();
    groups.sort_unstable();
    groups.dedup();
    let left_out: Vec<&str> = groups.iter().step_by(LEFT_OUT).copied().collect();
    let is_known = |document: &&Document| {
        let label = document.labels.first().map_or("", String::as_str);
        !left_out.contains(&label)
    };
    let known: Vec<Document> = training.iter().filter(is_known).cloned().collect();
    table.insert("newsgroups-left-out", contest(&known, &test, &wanted)?);
    if let Some((_, stories)) = Corpus::named("reuters-all").read(data)? {
        let mut mixed = test;
        mixed.extend(stories);
        table.insert(
            "newsgroups-and-reuters",
            contest(&training, &mixed, &wanted)?,
        );
    }
    Ok(table)
}

fn contest(
    training: &[Document],
    test: &[Document],
    wanted: impl Fn(&str) -> bool,
) -> Result<BTreeMap<&'static str, OpenWorldReport>, Box<dyn Error>> {
    let learners = [
        ("linear_svm", Classifier::LinearSvm(LinearSvm::default())),
        (
            "logistic_regression",
            Classifier::LogisticRegression(LogisticRegression::default()),
        ),
        ("naive_bayes", Classifier::NaiveBayes(NaiveBayes::default())),
        ("rocchio", Classifier::Rocchio(Rocchio::default())),
    ];
    let mut rows = BTreeMap::new();
    for (name, classifier) in learners.into_iter().filter(|(name, _)| wanted(name)) {
        let settings = FitSettings {
            classifier,
            ..FitSettings::default()
        };
        let corpus = TrainingCorpus::of_documents(&settings, training.to_vec())?;
        let model = fit(corpus, Fields::default(), &settings, &NoProgress)?;
        if let Some(report) = OpenWorldReport::of(&forecasts(&model, test)?) {
            rows.insert(name, report);
        }
    }
    Ok(rows)
}

fn forecasts(model: &Model, test: &[Document]) -> Result<Vec<OpenForecast>, Box<dyn Error>> {
    let settings = ForecastSettings {
        thresholds: Some(model.other_thresholds(OtherRule::Loss(LOSS))?),
        ..ForecastSettings::default()
    };
    Ok(model.forecast_documents_with(test, &settings).open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_are_noticed_better_than_by_the_largest_probability() {
        let data = std::env::var_os("CALIBRANT_DATA").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
            Into::into,
        );
        let one_class_alone = ["linear_svm", "logistic_regression"];
        let table = measure(&data, |name| one_class_alone.contains(&name)).unwrap();
        for (set, classifiers) in &table {
            for name in one_class_alone {
                let report = &classifiers[name];
                assert!(
                    report.auc > report.auc_of_largest_probability,
                    "{set} {name}: {report:?}"
                );
                assert!(
                    report.caught > 1.2 * report.caught_by_largest_probability,
                    "{set} {name}: {report:?}"
                );
            }
        }
    }
}
