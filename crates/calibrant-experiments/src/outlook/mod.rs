//! Is a sure stop reached as often as it says?
//!
//! Rankings: on every collection queries are divided into five parts; each is ranked by a model learned from the others, and for each of its queries that lists a
//! relevant document the outlook says where to stop. Reviews: of 5,000 texts 200 are labelled; a classifier learned from them orders the others.
//!
//! The default for runs without a model is learned on one half (`choosing`); both halves are reported.

mod queries;
mod review;
mod tally;

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use tally::Tally;

/// How sure a stop is to be.
const CERTAINTY: f64 = 0.9;
const RECALLS: [f64; 3] = [0.8, 0.9, 0.95];

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// One JSON object on standard output: setting, half, recall
    #[arg(long)]
    pub(crate) json: bool,
    /// Only these collections and corpora
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Draws of labelled texts, half of them for each corpus
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) draws: usize,
    /// Where the draws begin
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Print the spread over all queries of the choosing half: the default for runs without a model
    #[arg(long)]
    pub(crate) default: bool,
    /// Append every list with its probabilities and its relevant places to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(crate) lists: Option<PathBuf>,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }
}

pub(crate) fn run(data: &Path, options: &Options) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let mut all: Vec<Tally> = Vec::new();
    let mut groups = Vec::new();
    for collection in queries::COLLECTIONS {
        if !options.wants(collection.name) {
            continue;
        }
        if let Some((tallies, forecasts)) =
            queries::measure(collection, data, options.lists.as_deref())?
        {
            if !options.json {
                for tally in &tallies {
                    writeln!(out, "{}", tally.line())?;
                }
                out.flush()?;
            }
            all.extend(tallies);
            if collection.choosing {
                groups.extend(forecasts);
            }
        }
    }
    for corpus in review::CORPORA {
        if options.wants(corpus.name) {
            let tallies = review::measure(
                corpus,
                data,
                options.draws / 2,
                options.seed,
                options.lists.as_deref(),
            )?;
            if !options.json {
                for tally in &tallies {
                    writeln!(out, "{}", tally.line())?;
                }
                out.flush()?;
            }
            all.extend(tallies);
        }
    }
    let sums = tally::sums(&all);
    if options.json {
        serde_json::to_writer(&mut out, &sums)?;
        writeln!(out)?;
    } else {
        writeln!(out, "\n{}", tally::HEADER)?;
        for tally in &sums {
            writeln!(out, "{}", tally.line())?;
        }
    }
    if options.default {
        let spread = calibrant::calibration::LogOddsSpread::of_groups(&groups);
        writeln!(out, "{}", serde_json::to_string(&spread)?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> PathBuf {
        let data = std::env::var_os("CALIBRANT_DATA");
        data.map_or_else(|| "../../../shared/data".into(), PathBuf::from)
    }

    /// The small version: MED, whose 30 queries take a moment, must not fall behind what is promised by more than chance.
    #[test]
    fn sure_stops_are_reached_on_a_small_collection() {
        let med = queries::COLLECTIONS.iter().find(|one| one.name == "med");
        let Some((tallies, _)) = med.and_then(|med| queries::measure(med, &data(), None).unwrap())
        else {
            let _ = writeln!(std::io::stderr(), "SKIPPED: there is no MED");
            return;
        };
        check(&tallies, 0.95);
    }

    /// The model's stops hold without the whole list being read, and allow for more than independent documents would.
    fn check(tallies: &[Tally], most: f64) {
        for tally in tallies.iter().filter(|tally| tally.way == "model") {
            assert!(tally.holds(), "{}", tally.line());
            assert!(tally.read < most * tally.lists as f64, "{}", tally.line());
            let mut before = tallies.iter().filter(|tally| tally.way == "before");
            let before = before.find(|before| before.recall == tally.recall).unwrap();
            assert!(tally.read > before.read, "{}", tally.line());
            assert!(tally.reached >= before.reached, "{}", tally.line());
        }
    }

    /// Three draws of 200 labelled texts of Reuters, six topics each.
    #[test]
    fn sure_stops_are_reached_in_a_small_review() {
        let reuters = review::CORPORA
            .iter()
            .find(|one| one.name == "review-reuters");
        let tallies = reuters.map(|one| review::measure(one, &data(), 3, 1, None).unwrap());
        let tallies: Vec<Tally> = tallies.unwrap_or_default();
        if tallies.is_empty() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: there is no Reuters");
        }
        for choosing in [false, true] {
            let mut some = tallies.clone();
            some.retain(|tally| tally.choosing == choosing);
            check(&some, 0.8);
        }
    }
}
