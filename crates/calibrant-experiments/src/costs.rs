//! Decisions by random costs: from calibrated probabilities, from raw scores, and always the most probable.
//!
//! For every corpus so many matrices are drawn, what is right free and every mistake between 1 and 100, evenly in logarithms;
//! where documents have several labels two costs are drawn instead, of a false yes and of a false no. Raw scores become
//! probabilities as people make them: by softmax, or by the logistic function of the score of a label. A rule wins a matrix
//! if the mean cost of its decisions on the test documents is lower; ties count half.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::corpus::Document;
use calibrant::decision::CostMatrix;
use calibrant::jobs::Predictor;
use calibrant::numeric::{Random, stable_hash};
use calibrant::pipeline::{Classifier, FitSettings, Model, TrainingCorpus, fit};
use calibrant::scorers::{LinearSvm, LogisticRegression, NaiveBayes};
use calibrant::{NoProgress, Task};

use crate::data::{ALL_CORPORA, load};

/// Corpora of which other experiments take one class against the rest.
const TWO_CLASSES: [&str; 3] = ["imdb", "polarity", "sms-spam"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// One JSON object on standard output: corpus, classifier
    #[arg(long)]
    json: bool,
    /// Matrices for each corpus
    #[arg(long, default_value_t = 20, value_name = "N")]
    matrices: usize,
    /// Only these corpora
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
}

/// How often calibrated probabilities led to cheaper decisions, of how many matrices.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
struct Won {
    matrices: usize,
    /// Against softmax or logistic of the scores; ties count half.
    than_raw: f64,
    /// Against the most probable class.
    than_most_probable: f64,
    /// Mean over the matrices of the cost as a share of that of raw scores.
    cost_beside_raw: f64,
    /// The same beside the most probable.
    cost_beside_most_probable: f64,
}

/// One decision: what is stated, what raw scores state, and the truth.
struct Case {
    stated: Vec<f64>,
    raw: Vec<f64>,
    truth: usize,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut all: BTreeMap<&str, BTreeMap<&str, Won>> = BTreeMap::new();
    let mut out = std::io::stdout().lock();
    if !options.json {
        writeln!(
            out,
            "{:<14} {:<20} {:>9} {:>9} {:>9} {:>9} {:>9}",
            "corpus", "classifier", "matrices", "than raw", "than best", "cost/raw", "cost/best"
        )?;
    }
    let wanted = |name: &&&str| options.only.is_empty() || options.only.iter().any(|o| o == **name);
    for &name in ALL_CORPORA.iter().filter(wanted) {
        for (classifier_name, classifier) in classifiers() {
            let cases = cases(name, data, classifier)?;
            if cases.is_empty() {
                continue;
            }
            let won = contest(&cases, options.matrices, stable_hash(name.as_bytes()));
            if !options.json {
                writeln!(
                    out,
                    "{name:<14} {classifier_name:<20} {:>9} {:>9} {:>9} {:>9.4} {:>9.4}",
                    won.matrices,
                    won.than_raw,
                    won.than_most_probable,
                    won.cost_beside_raw,
                    won.cost_beside_most_probable
                )?;
                out.flush()?;
            }
            all.entry(name).or_default().insert(classifier_name, won);
        }
    }
    if options.json {
        serde_json::to_writer(&mut out, &all)?;
        writeln!(out)?;
        return Ok(());
    }
    let each = || all.values().flat_map(BTreeMap::values);
    let matrices = each().map(|won| won.matrices).sum::<usize>() as f64;
    let share = |of: fn(&Won) -> f64| 100.0 * each().map(of).sum::<f64>() / matrices;
    writeln!(
        out,
        "\ncheaper than raw scores in {:.1} %, than the most probable class in {:.1} % of {matrices} cases",
        share(|won| won.than_raw),
        share(|won| won.than_most_probable)
    )?;
    Ok(())
}

fn classifiers() -> [(&'static str, Classifier); 3] {
    [
        ("linear_svm", Classifier::LinearSvm(LinearSvm::default())),
        (
            "logistic_regression",
            Classifier::LogisticRegression(LogisticRegression::default()),
        ),
        ("naive_bayes", Classifier::NaiveBayes(NaiveBayes::default())),
    ]
}

/// All decisions of a corpus, of every division.
fn cases(name: &str, data: &Path, classifier: Classifier) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut cases = Vec::new();
    for corpus in load(name, data)? {
        let settings = FitSettings {
            classifier,
            // Of two exclusive classes both are learned.
            classes: corpus
                .classes
                .clone()
                .filter(|_| !TWO_CLASSES.contains(&name)),
            ..FitSettings::default()
        };
        let training = TrainingCorpus::of_documents(&settings, corpus.training)?;
        let model = fit(training, corpus.fields.clone(), &settings, &NoProgress)?;
        add_cases(&model, &corpus.test, &mut cases)?;
    }
    Ok(cases)
}

fn add_cases(
    model: &Model,
    test: &[Document],
    cases: &mut Vec<Case>,
) -> Result<(), Box<dyn Error>> {
    let names: Vec<&str> = model.class_names().collect();
    let predictor = Predictor::new(model).scores()?;
    let (predictions, _) = predictor.predict_batch(test)?;
    for (document, prediction) in test.iter().zip(predictions) {
        let (mut stated, mut scores) = (vec![0.0; names.len()], vec![0.0; names.len()]);
        for class in &prediction.classes {
            if let Some(place) = names.iter().position(|&name| name == class.label) {
                stated[place] = class.probability;
                scores[place] = class.score.unwrap_or_default();
            }
        }
        let belongs = |name: &str| document.labels.iter().any(|label| label == name);
        if model.task() == Task::MultiLabel {
            for ((name, p), score) in names.iter().zip(stated).zip(scores) {
                let raw = 1.0 / (1.0 + (-score).exp());
                cases.push(Case {
                    stated: vec![1.0 - p, p],
                    raw: vec![1.0 - raw, raw],
                    truth: usize::from(belongs(name)),
                });
            }
        } else if let Some(truth) = names.iter().position(|&name| belongs(name)) {
            cases.push(Case {
                stated,
                raw: softmax(&scores),
                truth,
            });
        }
    }
    Ok(())
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.into_iter().map(|part| part / sum).collect()
}

fn contest(cases: &[Case], matrices: usize, seed: u64) -> Won {
    let mut random = Random::from_seed(seed);
    let mut won = Won {
        matrices,
        ..Won::default()
    };
    let point = |ours: f64, theirs: f64| match ours.total_cmp(&theirs) {
        std::cmp::Ordering::Less => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 0.0,
    };
    for _ in 0..matrices {
        let costs = drawn(cases[0].stated.len(), &mut random);
        let [calibrated, raw, likeliest] = mean_costs(cases, &costs);
        won.than_raw += point(calibrated, raw);
        won.than_most_probable += point(calibrated, likeliest);
        won.cost_beside_raw += calibrated / raw / matrices as f64;
        won.cost_beside_most_probable += calibrated / likeliest / matrices as f64;
    }
    won
}

/// What is right is free, every mistake costs between 1 and 100, evenly in logarithms.
fn drawn(classes: usize, random: &mut Random) -> CostMatrix {
    let costs = (0..classes * classes).map(|cell| match cell / classes == cell % classes {
        true => 0.0,
        false => 100f64.powf(random.uniform()),
    });
    CostMatrix::new(classes, costs.collect()).expect("as many costs as cells")
}

/// Of decisions by calibrated probabilities, by raw scores, and of the most probable.
fn mean_costs(cases: &[Case], costs: &CostMatrix) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for case in cases {
        let likeliest = first_largest(&case.stated);
        let decisions = [
            costs.cheapest(&case.stated, likeliest).0,
            costs.cheapest(&case.raw, first_largest(&case.raw)).0,
            likeliest,
        ];
        for (sum, decision) in sums.iter_mut().zip(decisions) {
            *sum += costs.cost(case.truth, decision);
        }
    }
    sums.map(|sum| sum / cases.len() as f64)
}

fn first_largest(values: &[f64]) -> usize {
    let better = |best: usize, place: usize| match values[place] > values[best] {
        true => place,
        false => best,
    };
    (1..values.len()).fold(0, better)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents whose classes are drawn by the softmax of normal scores, and raw scores that are a third of those.
    fn simulated(classes: usize, count: usize, seed: u64) -> Vec<Case> {
        let mut random = Random::from_seed(seed);
        let case = |_| {
            let scores: Vec<f64> = (0..classes).map(|_| 3.0 * random.normal()).collect();
            let stated = softmax(&scores);
            let mut left = random.uniform();
            let truth = stated.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            let raw: Vec<f64> = scores.iter().map(|score| score / 3.0).collect();
            Case {
                truth: truth.unwrap_or(classes - 1),
                raw: softmax(&raw),
                stated,
            }
        };
        (0..count).map(case).collect()
    }

    #[test]
    fn true_probabilities_decide_more_cheaply() {
        for classes in [2, 5] {
            let won = contest(&simulated(classes, 4_000, 1), 20, 7);
            assert!(
                won.than_raw >= 19.0 && won.than_most_probable >= 19.0,
                "{won:?}"
            );
            assert!(won.cost_beside_raw < 1.0 && won.cost_beside_most_probable < 1.0);
        }
    }

    #[test]
    fn equals_count_half() {
        let mut cases = simulated(3, 200, 2);
        cases
            .iter_mut()
            .for_each(|case| case.raw = case.stated.clone());
        assert_eq!(contest(&cases, 10, 1).than_raw, 5.0);
    }
}
