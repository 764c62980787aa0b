//! Answers with a stated error rate: how often the statement is false, and how much is answered of what could be.
//!
//! In the simulated inbox the truth is known: messages are drawn from a large pool, their labels from their true probabilities. Of a corpus, test documents are drawn
//! again and again with replacement, and all of them together are the truth.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields};
use calibrant::decision::{Certified, Certify};
use calibrant::inbox::{InboxSettings, SimulatedInbox};
use calibrant::numeric::{Random, binomial_at_most};
use calibrant::pipeline::{FitSettings, Model, TrainingCorpus, fit};
use clap::Args;
use serde::Serialize;

use crate::data::Corpus;

#[derive(Args)]
pub(crate) struct Options {
    /// One JSON array on standard output
    #[arg(long)]
    json: bool,
    /// So many calibration sets
    #[arg(long, default_value_t = 1_000, value_name = "N")]
    draws: u64,
    /// So many examples in each
    #[arg(long, default_value_t = 2_000, value_name = "N")]
    examples: usize,
    /// Only these worlds: inbox, inbox-short, imdb, ag-news, 20newsgroups, tweet-emoji
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    only: Vec<String>,
}

const WORLDS: [&str; 6] = [
    "inbox",
    "inbox-short",
    "imdb",
    "ag-news",
    "20newsgroups",
    "tweet-emoji",
];
const ERRORS: [f64; 3] = [0.01, 0.02, 0.05];
const CERTAINTY: f64 = 0.95;

#[derive(Serialize)]
struct Found {
    world: String,
    examples: usize,
    max_error: f64,
    /// The share that could be answered, were the truth known.
    oracle: f64,
    /// What was answered of that on average, refusals counted as nothing.
    of_oracle: f64,
    /// The same for one exact test of one threshold, the one that is best to test, were the truth known.
    one_test: f64,
    /// How often nothing was certified.
    refused: f64,
    /// How often more answers were wrong than stated.
    failed: f64,
    /// Whether that is as seldom as stated, by a binomial test at 1 %.
    kept: bool,
}

/// What could be answered: how sure, and how probably wrong.
struct Pool {
    /// Surest first.
    confidences: Vec<f64>,
    wrong: Vec<f64>,
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut all = Vec::new();
    for name in WORLDS {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let pool = match name {
            "inbox" => Some(inbox(40.0)?),
            "inbox-short" => Some(inbox(15.0)?),
            _ => corpus(name, data)?,
        };
        for max_error in ERRORS {
            if let Some(pool) = &pool {
                all.push(simulate(name, pool, max_error, options)?);
            }
        }
    }
    let mut out = std::io::stdout().lock();
    if options.json {
        serde_json::to_writer(&mut out, &all)?;
        return Ok(writeln!(out)?);
    }
    writeln!(
        out,
        "{:<14} {:>8} {:>9} {:>8} {:>10} {:>9} {:>8} {:>8}  kept",
        "world", "examples", "max error", "oracle", "of oracle", "one test", "refused", "failed"
    )?;
    for found in &all {
        writeln!(
            out,
            "{:<14} {:>8} {:>9} {:>8.3} {:>10.3} {:>9.3} {:>8.3} {:>8.3}  {}",
            found.world,
            found.examples,
            found.max_error,
            found.oracle,
            found.of_oracle,
            found.one_test,
            found.refused,
            found.failed,
            if found.kept { "yes" } else { "NO" }
        )?;
    }
    Ok(())
}

fn inbox(median_words: f64) -> Result<Pool, Box<dyn Error>> {
    let draw = |message_count, seed| {
        let settings = InboxSettings {
            message_count,
            median_words,
            ..InboxSettings::default()
        };
        SimulatedInbox::new(&settings, seed)
    };
    let training = draw(6_000, 1)?;
    let document = |text: &str, label: usize| {
        Document::new(text.to_owned()).label(training.class_names[label].clone())
    };
    let documents = training.messages.iter();
    let documents = documents.map(|message| document(&message.text, message.label));
    let model = model_of(documents.collect())?;
    let names: Vec<&str> = model.class_names().collect();
    let fresh = draw(40_000, 2)?;
    let answers = fresh.messages.iter().map(|message| {
        let (class, confidence) = answer(&model, &message.text);
        let truth = fresh
            .class_names
            .iter()
            .position(|name| name == names[class]);
        let right = truth.map_or(0.0, |class| message.true_log_probabilities[class].exp());
        (confidence, 1.0 - right)
    });
    Ok(Pool::of(answers.collect()))
}

fn corpus(name: &str, data: &Path) -> Result<Option<Pool>, Box<dyn Error>> {
    let Some((training, test)) = Corpus::named(name).read(data)? else {
        return Ok(None);
    };
    let model = model_of(training)?;
    let names: Vec<&str> = model.class_names().collect();
    let answers = test.iter().map(|document| {
        let stated = model.predict(document);
        let (class, confidence) = best(&stated);
        let right = document.labels.iter().any(|label| label == names[class]);
        (confidence, f64::from(u8::from(!right)))
    });
    Ok(Some(Pool::of(answers.collect())))
}

fn model_of(documents: Vec<Document>) -> Result<Model, Box<dyn Error>> {
    let settings = FitSettings::default();
    let corpus = TrainingCorpus::of_documents(&settings, documents)?;
    Ok(fit(corpus, Fields::default(), &settings, &NoProgress)?)
}

fn answer(model: &Model, text: &str) -> (usize, f64) {
    best(&model.predict(text))
}

fn best(stated: &[calibrant::Probability]) -> (usize, f64) {
    let all = stated.iter().map(|p| p.log_odds()).enumerate();
    all.fold(
        (0, f64::MIN),
        |best, next| if next.1 > best.1 { next } else { best },
    )
}

impl Pool {
    fn of(mut answers: Vec<(f64, f64)>) -> Self {
        answers.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (confidences, wrong) = answers.into_iter().unzip();
        Self { confidences, wrong }
    }
}

fn simulate(
    name: &str,
    pool: &Pool,
    max_error: f64,
    options: &Options,
) -> Result<Found, Box<dyn Error>> {
    let size = pool.confidences.len();
    let mut sums = vec![0.0];
    for wrong in &pool.wrong {
        sums.push(sums[sums.len() - 1] + wrong);
    }
    let error = |count: usize| sums[count] / count.max(1) as f64;
    let oracle = (1..=size).rev().find(|&count| error(count) <= max_error);
    let oracle = oracle.unwrap_or(0) as f64 / size as f64;
    let asked = Certify {
        max_error,
        certainty: CERTAINTY,
    };
    let plan = asked.plan(options.examples as u64)?;
    let mut random = Random::from_seed(2_026);
    let (mut failed, mut refused, mut answered) = (0u64, 0u64, 0.0);
    for _ in 0..options.draws {
        let drawn = (0..options.examples).map(|_| {
            let place = random.below(size);
            let right = random.uniform() >= pool.wrong[place];
            (pool.confidences[place], right)
        });
        let (confidences, right): (Vec<f64>, Vec<bool>) = drawn.unzip();
        match plan.threshold(&confidences, &right)? {
            Certified::Refused { .. } => refused += 1,
            Certified::Granted(found) => {
                let count = pool.confidences.partition_point(|&own| found.answers(own));
                failed += u64::from(error(count) > max_error);
                answered += count as f64 / size as f64;
            }
        }
    }
    let draws = options.draws as f64;
    // How likely so many failures are, were they as frequent as stated.
    let chance = match failed {
        0 => 1.0,
        some => 1.0 - binomial_at_most(some - 1, options.draws, 1.0 - CERTAINTY),
    };
    Ok(Found {
        world: name.to_owned(),
        examples: options.examples,
        max_error,
        oracle,
        of_oracle: if oracle > 0.0 {
            answered / draws / oracle
        } else {
            0.0
        },
        one_test: one_test(&sums, max_error, options.examples) / oracle.max(f64::MIN_POSITIVE),
        refused: refused as f64 / draws,
        failed: failed as f64 / draws,
        kept: chance >= 0.01,
    })
}

/// The largest mean share of answers that one exact test of one threshold gives, over all thresholds: the share above it times how often it
/// passes. `sums` are the errors among the surest documents of the pool.
fn one_test(sums: &[f64], max_error: f64, examples: usize) -> f64 {
    let size = sums.len() - 1;
    let shares = (1..=200).map(|part| f64::from(part) / 200.0);
    let gains = shares.map(|share| {
        let place = ((share * size as f64) as usize).max(1);
        let error = sums[place] / place as f64;
        let count = (share * examples as f64).round() as u64;
        if error > max_error {
            return 0.0;
        }
        // The most errors that pass.
        let fail = (0..=count)
            .find(|&errors| binomial_at_most(errors, count, max_error) > 1.0 - CERTAINTY);
        match fail {
            None => share,
            Some(0) => 0.0,
            Some(errors) => share * binomial_at_most(errors - 1, count, error),
        }
    });
    gains.fold(0.0, f64::max)
}
