//! Which terms and which cost of errors suit few documents, and which many?
//!
//! Random halves of the corpora on which defaults are chosen, at several numbers of training documents and in
//! several draws: the log loss on documents that took no part, for every least document frequency and
//! cost. What [`FitSettings`] takes where nothing is asked for is chosen by this table.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use calibrant::NoProgress;
use calibrant::calibration::MulticlassKind;
use calibrant::corpus::{Document, Fields};
use calibrant::evaluation::evaluate;
use calibrant::features::DocumentFrequencyLimits;
use calibrant::numeric::Random;
use calibrant::pipeline::{Classifier, FitSettings, TrainingCorpus, fit};
use calibrant::scorers::{LinearSvm, LogisticRegression, NaiveBayes, NaiveBayesKind, Smoothing};
use clap::Args;

use crate::corpora::forecasts;
use crate::data::{Corpus, sms_spam};

/// At most so many test documents, and at most a third of all.
const TEST: usize = 3000;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Only these corpora: 20newsgroups, reuters-one, reuters-10, sms-spam, imdb, debian
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    corpora: Vec<String>,
    /// Numbers of training documents
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [300, 1000, 3000, 10_000])]
    sizes: Vec<usize>,
    /// Random draws of training and test documents
    #[arg(long, value_name = "N", default_value_t = 3)]
    draws: u64,
    /// Only these learners: svm, logistic, naive_bayes, complement
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    learners: Vec<String>,
    /// Least document frequencies
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [1, 2, 3])]
    min_df: Vec<u32>,
    /// Prices, as factors of the learner's usual one
    #[arg(long, value_name = "X,…", value_delimiter = ',', default_values_t = [0.25, 0.5, 1.0, 2.0, 4.0])]
    factors: Vec<f64>,
    /// What `apt-cache dumpavail` printed: one-line descriptions of packages by section
    #[arg(long, value_name = "FILE")]
    debian: Option<PathBuf>,
}

/// One line of standard output.
#[derive(serde::Serialize)]
struct Cell<'a> {
    corpus: &'a str,
    documents: usize,
    draw: u64,
    learner: &'a str,
    min_df: u32,
    /// C, or alpha for naive Bayes.
    #[serde(rename = "price")]
    cost: f64,
    features: usize,
    /// Nats per document, or per decision if documents have several labels.
    log_loss: f64,
    accuracy: Option<f64>,
    micro_f1: f64,
    seconds: f64,
}

struct Pool {
    documents: Vec<Document>,
    fields: Fields,
    classes: Option<Vec<String>>,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let names = [
        "sms-spam",
        "reuters-one",
        "20newsgroups",
        "imdb",
        "reuters-10",
        "debian",
    ];
    let is_asked =
        |asked: &[String], name: &str| asked.is_empty() || asked.iter().any(|a| a == name);
    let mut pools = BTreeMap::new();
    for name in names
        .into_iter()
        .filter(|name| is_asked(&options.corpora, name))
    {
        if let Some(pool) = read(name, data, options)? {
            pools.insert(name, pool);
        }
    }
    for &size in &options.sizes {
        for (name, pool) in &pools {
            for draw in 0..options.draws {
                let Some((training, test)) = pool.draw(size, draw) else {
                    continue;
                };
                for (learner, usual) in learners() {
                    if is_asked(&options.learners, learner) {
                        grid(
                            options,
                            pool,
                            (*name, learner, usual),
                            draw,
                            &training,
                            &test,
                        )?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn learners() -> [(&'static str, Classifier); 4] {
    let naive_bayes = |kind| {
        Classifier::NaiveBayes(NaiveBayes {
            kind,
            smoothing: Smoothing::Laplace { alpha: 1.0 },
        })
    };
    [
        (
            "svm",
            Classifier::LinearSvm(LinearSvm {
                c: Some(LinearSvm::USUAL_C),
                ..LinearSvm::default()
            }),
        ),
        (
            "logistic",
            Classifier::LogisticRegression(LogisticRegression {
                c: Some(LogisticRegression::USUAL_C),
                ..LogisticRegression::default()
            }),
        ),
        ("naive_bayes", naive_bayes(NaiveBayesKind::Multinomial)),
        ("complement", naive_bayes(NaiveBayesKind::Complement)),
    ]
}

/// The learner at a cost, and the cost.
fn at_factor(usual: &Classifier, factor: f64) -> (Classifier, f64) {
    match *usual {
        Classifier::LinearSvm(svm) => {
            let c = LinearSvm::USUAL_C * factor;
            (Classifier::LinearSvm(LinearSvm { c: Some(c), ..svm }), c)
        }
        Classifier::LogisticRegression(logistic) => {
            let c = LogisticRegression::USUAL_C * factor;
            (
                Classifier::LogisticRegression(LogisticRegression {
                    c: Some(c),
                    ..logistic
                }),
                c,
            )
        }
        Classifier::NaiveBayes(bayes) => {
            let smoothing = Smoothing::Laplace { alpha: factor };
            (
                Classifier::NaiveBayes(NaiveBayes { smoothing, ..bayes }),
                factor,
            )
        }
        other => (other, factor),
    }
}

fn grid(
    options: &Options,
    pool: &Pool,
    (corpus, learner, usual): (&str, &str, Classifier),
    draw: u64,
    training: &[Document],
    test: &[Document],
) -> Result<(), Box<dyn Error>> {
    for &min_df in &options.min_df {
        for &factor in &options.factors {
            let (classifier, cost) = at_factor(&usual, factor);
            let settings = FitSettings {
                classifier,
                limits: DocumentFrequencyLimits {
                    min_documents: Some(min_df),
                    ..DocumentFrequencyLimits::default()
                },
                classes: pool.classes.clone(),
                multiclass: MulticlassKind::Auto,
                ..FitSettings::default()
            };
            let start = Instant::now();
            let counted = TrainingCorpus::of_documents(&settings, training.to_vec())?;
            let model = fit(counted, pool.fields.clone(), &settings, &NoProgress)?;
            let seconds = start.elapsed().as_secs_f64();
            let measured = evaluate(&forecasts(&model, test))?;
            let cell = Cell {
                corpus,
                documents: training.len(),
                draw,
                learner,
                min_df,
                cost,
                features: model.summary().features,
                log_loss: measured.log_loss,
                accuracy: measured.accuracy,
                micro_f1: measured.micro_f1,
                seconds,
            };
            let mut out = std::io::stdout().lock();
            serde_json::to_writer(&mut out, &cell)?;
            writeln!(out)?;
            out.flush()?;
        }
    }
    Ok(())
}

impl Pool {
    /// Training and test documents; nothing where there are too few.
    fn draw(&self, size: usize, draw: u64) -> Option<(Vec<Document>, Vec<Document>)> {
        let mut order: Vec<usize> = (0..self.documents.len()).collect();
        let mut random = Random::from_seed(1000 + draw);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        let test = TEST.min(order.len() / 3);
        if size + test > order.len() {
            return None;
        }
        let pick = |order: &[usize]| order.iter().map(|&at| self.documents[at].clone()).collect();
        Some((pick(&order[test..test + size]), pick(&order[..test])))
    }
}

fn read(name: &str, data: &Path, options: &Options) -> Result<Option<Pool>, Box<dyn Error>> {
    let bare = |documents: Vec<Document>| Pool {
        documents,
        fields: Fields::default(),
        classes: None,
    };
    if name == "sms-spam" {
        let documents = sms_spam(data)?.into_iter().map(|(document, _)| document);
        return Ok(Some(bare(documents.collect())));
    }
    if name == "debian" {
        let Some(path) = &options.debian else {
            return Ok(None);
        };
        return Ok(Some(bare(packages(&String::from_utf8_lossy(
            &std::fs::read(path)?,
        )))));
    }
    let corpus = Corpus::named(if name == "reuters-one" {
        "reuters-all"
    } else {
        name
    });
    let Some((mut documents, test)) = corpus.read(data)? else {
        return Ok(None);
    };
    documents.extend(test);
    if name == "reuters-one" {
        documents.retain(|document| document.labels.len() == 1);
        for document in &mut documents {
            document.labels_were_list = false;
        }
    }
    Ok(Some(Pool {
        documents,
        fields: corpus.fields(),
        classes: corpus.classes(),
    }))
}

/// One-line descriptions with their section.
fn packages(listing: &str) -> Vec<Document> {
    let mut documents = Vec::new();
    for (number, package) in listing.split("\n\n").enumerate() {
        let value = |key: &str| package.lines().find_map(|line| line.strip_prefix(key));
        let (Some(text), Some(section)) = (value("Description: "), value("Section: ")) else {
            continue;
        };
        documents.push(Document {
            line: number as u64 + 1,
            ..Document::new(text).label(section)
        });
    }
    documents
}
