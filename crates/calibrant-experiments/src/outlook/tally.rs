//! How often a stop was enough, and how much was read for it.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use calibrant::calibration::LogOddsSpread;
use calibrant::ranking::Outlook;
use serde::Serialize;
use serde_json::json;

use super::{CERTAINTY, RECALLS};

/// Lists of one setting, with one way to say where to stop for one recall.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Tally {
    /// `rankings` or `review`.
    pub(super) setting: &'static str,
    pub(super) name: String,
    /// Whether constants were chosen here.
    pub(super) choosing: bool,
    /// `model`, `default` or `before`: documents taken as independent, as they once were.
    pub(super) way: &'static str,
    pub(super) recall: f64,
    /// Lists with a relevant document.
    pub(super) lists: usize,
    pub(super) reached: usize,
    /// Sums of the shares of the lists that were read, and that would have been enough.
    pub(super) read: f64,
    pub(super) oracle: f64,
    /// Lists with twenty relevant documents or more, and those of them that were read whole.
    pub(super) long: usize,
    pub(super) long_read_whole: usize,
}

pub(super) const HEADER: &str = "setting   list                 half       way      recall  reached           share   read  oracle  read whole of lists with >= 20";

/// A list, best document first: what is stated, what is true.
pub(super) struct List {
    pub(super) stated: Vec<f64>,
    pub(super) relevant: Vec<bool>,
}

impl List {
    fn enough(&self, stop: usize, recall: f64) -> bool {
        let count = |list: &[bool]| list.iter().filter(|&&is| is).count() as f64;
        count(&self.relevant[..stop]) >= recall * count(&self.relevant) - 1e-9
    }

    fn oracle(&self, recall: f64) -> usize {
        let length = self.relevant.len();
        let enough = |&rank: &usize| self.enough(rank, recall);
        (0..length).find(enough).unwrap_or(length)
    }
}

/// Appends each list to a file, one JSON object a line.
pub(super) fn write_lists(
    path: Option<&Path>,
    setting: &str,
    name: &str,
    choosing: bool,
    lists: &[(List, Option<LogOddsSpread>)],
) -> Result<(), Box<dyn Error>> {
    let Some(path) = path else {
        return Ok(());
    };
    let file = File::options().create(true).append(true).open(path)?;
    let mut out = BufWriter::new(file);
    for (list, spread) in lists {
        let ranks = (0..list.relevant.len()).filter(|&place| list.relevant[place]);
        let stated: Vec<f32> = list.stated.iter().map(|&p| p as f32).collect();
        let line = json!({
            "setting": setting,
            "name": name,
            "choosing": choosing,
            "spread": spread,
            "stated": stated,
            "relevant": ranks.collect::<Vec<_>>(),
        });
        writeln!(out, "{line}")?;
    }
    Ok(out.flush()?)
}

/// Every way and recall, of lists with a relevant document.
pub(super) fn tallies(
    setting: &'static str,
    name: &str,
    choosing: bool,
    lists: &[(List, Option<LogOddsSpread>)],
) -> Vec<Tally> {
    use rayon::prelude::*;
    let with: Vec<_> = lists
        .iter()
        .filter(|(list, _)| list.relevant.contains(&true))
        .collect();
    let stops: Vec<Vec<[usize; 3]>> = with
        .par_iter()
        .map(|(list, spread)| {
            let usual = LogOddsSpread::usual();
            let by =
                |spread: &LogOddsSpread| Outlook::with_spread(list.stated.iter().copied(), spread);
            let (model, default) = (by(spread.as_ref().unwrap_or(&usual)), by(&usual));
            RECALLS
                .iter()
                .map(|&recall| {
                    let of = |outlook: &Outlook| outlook.sure_stop_for_recall(recall, CERTAINTY);
                    [
                        of(&model),
                        of(&default),
                        independent_stop(&list.stated, recall),
                    ]
                })
                .collect()
        })
        .collect();
    let mut all = Vec::new();
    for (place, &recall) in RECALLS.iter().enumerate() {
        for (number, way) in ["model", "default", "before"].into_iter().enumerate() {
            let mut tally = Tally {
                setting,
                name: name.to_owned(),
                choosing,
                way,
                recall,
                lists: with.len(),
                reached: 0,
                read: 0.0,
                oracle: 0.0,
                long: 0,
                long_read_whole: 0,
            };
            for ((list, _), stops) in with.iter().zip(&stops) {
                let (stop, length) = (stops[place][number], list.stated.len());
                tally.reached += usize::from(list.enough(stop, recall));
                tally.read += stop as f64 / length as f64;
                tally.oracle += list.oracle(recall) as f64 / length as f64;
                let long = list.relevant.iter().filter(|&&is| is).count() >= 20;
                tally.long += usize::from(long);
                tally.long_read_whole += usize::from(long && stop == length);
            }
            all.push(tally);
        }
    }
    all
}

/// The stop as it was said before: documents independent, probabilities exact, the normal curve.
fn independent_stop(stated: &[f64], recall: f64) -> usize {
    let all: f64 = stated.iter().sum();
    let variance_of_all: f64 = stated.iter().map(|p| p * (1.0 - p)).sum();
    let (mut found, mut variance) = (0.0, 0.0);
    for (rank, p) in [0.0].iter().chain(stated).enumerate().take(stated.len()) {
        found += p;
        variance += p * (1.0 - p);
        let excess = (1.0 - recall) * found - recall * (all - found);
        let both =
            (1.0 - recall).powi(2) * variance + recall * recall * (variance_of_all - variance);
        let certainty = match both > 0.0 {
            true => calibrant::numeric::normal_cdf(excess / both.sqrt()),
            false => f64::from(u8::from(excess >= 0.0)),
        };
        if certainty >= CERTAINTY {
            return rank;
        }
    }
    stated.len()
}

/// Over all names of a setting and half, and over both halves.
pub(super) fn sums(all: &[Tally]) -> Vec<Tally> {
    let mut sums: Vec<Tally> = Vec::new();
    for tally in all {
        for name in [
            if tally.choosing {
                "choosing"
            } else {
                "reporting"
            },
            "together",
        ] {
            let same = |sum: &&mut Tally| {
                (sum.setting, sum.name.as_str(), sum.way) == (tally.setting, name, tally.way)
                    && sum.recall == tally.recall
            };
            match sums.iter_mut().find(same) {
                Some(sum) => {
                    sum.lists += tally.lists;
                    sum.reached += tally.reached;
                    sum.read += tally.read;
                    sum.oracle += tally.oracle;
                    sum.long += tally.long;
                    sum.long_read_whole += tally.long_read_whole;
                }
                None => sums.push(Tally {
                    name: name.to_owned(),
                    ..tally.clone()
                }),
            }
        }
    }
    sums
}

impl Tally {
    /// Whether the promise is not refuted: a one-sided test at the 5 % level, exact by the binomial distribution.
    pub(super) fn holds(&self) -> bool {
        let mut ln_factorial = vec![0.0; self.lists + 1];
        for number in 1..=self.lists {
            ln_factorial[number] = ln_factorial[number - 1] + (number as f64).ln();
        }
        let ln_probability = |k: usize| {
            ln_factorial[self.lists] - ln_factorial[k] - ln_factorial[self.lists - k]
                + k as f64 * CERTAINTY.ln()
                + (self.lists - k) as f64 * (1.0 - CERTAINTY).ln()
        };
        let at_most: f64 = (0..=self.reached).map(|k| ln_probability(k).exp()).sum();
        at_most >= 0.05
    }

    pub(super) fn line(&self) -> String {
        let share = |sum: f64| sum / self.lists.max(1) as f64;
        format!(
            "{:<9} {:<20} {:<10} {:<8} {:>5}  {:>6} of {:>6}  {:>6.1} % {} {:>5.1} % {:>5.1} %  {} of {}",
            self.setting,
            self.name,
            match (self.name.as_str(), self.choosing) {
                ("together", _) => "both",
                (_, true) => "choosing",
                (_, false) => "reporting",
            },
            self.way,
            self.recall,
            self.reached,
            self.lists,
            100.0 * share(self.reached as f64),
            if self.holds() { " " } else { "-" },
            100.0 * share(self.read),
            100.0 * share(self.oracle),
            self.long_read_whole,
            self.long,
        )
    }
}
