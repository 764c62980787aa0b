//! Draws of training queries and half as many to choose by; all others are for testing.

use std::error::Error;

use calibrant::NoProgress;
use calibrant::numeric::Random;
use calibrant::ranking::RankingTable;
use calibrant::ranking::learning::{
    FeatureSettings, QueryScale, RankLoss, RankModel, RankParameters, average_precision,
};
use rayon::prelude::*;

use super::collections::{Judged, with_columns};
use super::tables::{Outcome, Row};

/// Parts of the training queries, each held out once, where features are chosen.
const CHOICE_FOLDS: usize = 5;

pub(super) struct Protocol {
    pub(super) trials: usize,
    /// Queries of a draw to learn from; half as many are for validation.
    pub(super) training: usize,
    pub(super) bins: usize,
    pub(super) scale: QueryScale,
    pub(super) seed: u64,
    /// Only these, and the first; all where none is named.
    pub(super) methods: Vec<String>,
}

/// What is learned: a loss, whether the best function may be used, and what of each function.
#[derive(Clone, Copy)]
struct Method {
    name: &'static str,
    loss: RankLoss,
    without_best: bool,
    features: Features,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Features {
    /// A step function of its values.
    Steps,
    /// A slope of its values between the least and the greatest of the query.
    Slopes,
    /// Whichever ranks the queries that are not learned from better.
    Chosen,
}

const fn method(name: &'static str, loss: RankLoss) -> Method {
    Method {
        name,
        loss,
        without_best: false,
        features: Features::Steps,
    }
}

/// The first is always learned.
const METHODS: [Method; 11] = [
    method("svm_map", RankLoss::AveragePrecision),
    Method {
        features: Features::Chosen,
        ..method("svm_map_chosen", RankLoss::AveragePrecision)
    },
    Method {
        features: Features::Slopes,
        ..method("svm_map_slopes", RankLoss::AveragePrecision)
    },
    method("svm_roc", RankLoss::RocArea),
    method("acc", RankLoss::Accuracy),
    method("acc2", RankLoss::BalancedAccuracy),
    method("acc3", RankLoss::PercentileAccuracy),
    method("acc4", RankLoss::MinMaxAccuracy),
    method("svm_ndcg", RankLoss::Ndcg { cutoff: Some(10) }),
    method("rank_svm", RankLoss::Pairs),
    Method {
        without_best: true,
        ..method("svm_map_without_best", RankLoss::AveragePrecision)
    },
];

/// Sums over the draws in which a query was tested.
struct Tested {
    sums: Vec<f64>,
    draws: Vec<usize>,
}

impl Protocol {
    pub(super) fn run(&self, judged: &Judged) -> Result<Outcome, Box<dyn Error>> {
        let table = &judged.table;
        let functions = by_precision(judged);
        let best = functions[0].0;
        let others: Vec<usize> = (0..table.feature_count()).filter(|&f| f != best).collect();
        let without_best = with_columns(table, &others, |value| value)?;
        let draws = self.draws(table.query_count());
        let mut rows = Vec::new();
        let named = |method: &Method| {
            self.methods.is_empty() || self.methods.iter().any(|name| name == method.name)
        };
        for (place, method) in METHODS.into_iter().enumerate() {
            if place > 0 && !named(&method) {
                continue;
            }
            let table = if method.without_best {
                &without_best
            } else {
                table
            };
            let tested = draws
                .par_iter()
                .map(|draw| self.trial(method, table, &judged.relevant, draw))
                .collect::<Result<Vec<_>, String>>()?;
            let mut all = Tested {
                sums: vec![0.0; table.query_count()],
                draws: vec![0; table.query_count()],
            };
            for (draw, precisions) in draws.iter().zip(&tested) {
                for (&query, precision) in draw.test.iter().zip(precisions) {
                    all.sums[query] += precision;
                    all.draws[query] += 1;
                }
            }
            let mean = |(sum, &draws): (&f64, &usize)| sum / draws.max(1) as f64;
            rows.push(Row {
                name: method.name.to_owned(),
                precisions: all.sums.iter().zip(&all.draws).map(mean).collect(),
            });
        }
        for (place, (function, precisions)) in functions.into_iter().take(3).enumerate() {
            let rank = ["best", "second", "third"][place];
            rows.push(Row {
                name: format!("{rank}: {}", table.features()[function]),
                precisions,
            });
        }
        Ok(Outcome {
            trials: self.trials,
            functions: table.feature_count(),
            candidates: table.row_count(),
            rows,
        })
    }

    /// Learns from a draw and gives the average precision of its test queries.
    fn trial(
        &self,
        method: Method,
        table: &RankingTable,
        relevant: &[usize],
        draw: &Draw,
    ) -> Result<Vec<f64>, String> {
        let training = table.select(&draw.training);
        let validation = table.select(&draw.validation);
        let fit = |features: Features, folds: Option<usize>| {
            let settings = RankParameters {
                loss: method.loss,
                features: self.features(features),
                folds,
                ..RankParameters::default()
            };
            RankModel::fit_with(&training, Some(&validation), &settings, &NoProgress)
                .map_err(|error| format!("{}: {error}", method.name))
        };
        let model = match method.features {
            Features::Chosen => {
                let held_out = |model: &RankModel| model.summary().chosen_trial().held_out_map;
                let steps = fit(Features::Steps, Some(CHOICE_FOLDS))?;
                let slopes = fit(Features::Slopes, Some(CHOICE_FOLDS))?;
                if held_out(&slopes) > held_out(&steps) {
                    slopes
                } else {
                    steps
                }
            }
            features => fit(features, None)?,
        };
        let test = table.select(&draw.test);
        let scores = model.scores(&test).map_err(|error| error.to_string())?;
        let queries = test.queries().iter().zip(&draw.test);
        let precision = queries.map(|(query, &number)| {
            let rows = query.rows.clone();
            precision(
                &scores[rows.clone()],
                &test.grades()[rows],
                relevant[number],
            )
        });
        Ok(precision.collect())
    }

    /// Queries that a draw does not test.
    pub(super) fn drawn(&self) -> usize {
        self.training + self.chosen_on()
    }

    fn chosen_on(&self) -> usize {
        self.training.div_ceil(2)
    }

    fn features(&self, features: Features) -> FeatureSettings {
        match features {
            Features::Slopes => FeatureSettings {
                bins: 0,
                scale: QueryScale::MinMax,
            },
            _ => FeatureSettings {
                bins: self.bins,
                scale: self.scale,
            },
        }
    }

    /// Every query is drawn for training, and for validation, as often as any other, give or take one.
    fn draws(&self, queries: usize) -> Vec<Draw> {
        let mut random = Random::from_seed(self.seed);
        let mut training = Deck::new(queries);
        let mut validation = Deck::new(queries);
        let draws = (0..self.trials).map(|_| {
            let training = training.draw(self.training, &[], &mut random);
            let validation = validation.draw(self.chosen_on(), &training, &mut random);
            let used = |query: &usize| training.contains(query) || validation.contains(query);
            let test = (0..queries).filter(|query| !used(query)).collect();
            Draw {
                training,
                validation,
                test,
            }
        });
        draws.collect()
    }
}

struct Draw {
    training: Vec<usize>,
    validation: Vec<usize>,
    test: Vec<usize>,
}

/// Queries in random order, all of which come before any comes again.
struct Deck {
    queries: usize,
    left: Vec<usize>,
}

impl Deck {
    fn new(queries: usize) -> Self {
        Self {
            queries,
            left: Vec::new(),
        }
    }

    fn draw(&mut self, count: usize, not: &[usize], random: &mut Random) -> Vec<usize> {
        let mut drawn: Vec<usize> = Vec::with_capacity(count);
        while drawn.len() < count {
            let usable = |query: &usize| !not.contains(query) && !drawn.contains(query);
            match self.left.iter().rposition(usable) {
                Some(place) => drawn.push(self.left.remove(place)),
                None => {
                    // What cannot be used now stays on top of the new deck.
                    let mut deck: Vec<usize> = (0..self.queries).collect();
                    random.shuffle(&mut deck);
                    deck.append(&mut self.left);
                    self.left = deck;
                }
            }
        }
        drawn.sort_unstable();
        drawn
    }
}

/// Average precision where so many documents are relevant, found or not.
fn precision(scores: &[f64], labels: &[i32], relevant: usize) -> f64 {
    let found = labels.iter().filter(|&&label| label > 0).count();
    average_precision(scores, labels, 1) * found as f64 / relevant.max(1) as f64
}

/// Functions with the average precision of each query, the best first.
fn by_precision(judged: &Judged) -> Vec<(usize, Vec<f64>)> {
    let table = &judged.table;
    let of_function = |function: usize| -> Vec<f64> {
        let queries = table.queries().iter().zip(&judged.relevant);
        let of_query = |(query, &relevant): (&calibrant::ranking::QueryRows, &usize)| {
            let rows = query.rows.clone();
            // What a function does not list comes last.
            let score = |row: usize| match table.row(row)[function] {
                value if value.is_nan() => f64::NEG_INFINITY,
                value => f64::from(value),
            };
            let scores: Vec<f64> = rows.clone().map(score).collect();
            precision(&scores, &table.grades()[rows], relevant)
        };
        queries.map(of_query).collect()
    };
    let mut functions: Vec<(usize, Vec<f64>)> = (0..table.feature_count())
        .into_par_iter()
        .map(|function| (function, of_function(function)))
        .collect();
    functions.sort_by(|a, b| b.1.iter().sum::<f64>().total_cmp(&a.1.iter().sum()));
    functions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_is_drawn_as_often_as_any_other() {
        let protocol = Protocol {
            trials: 50,
            training: 10,
            bins: 50,
            scale: QueryScale::AsGiven,
            seed: 3,
            methods: Vec::new(),
        };
        for queries in [16, 30, 50, 83] {
            let draws = protocol.draws(queries);
            let mut counts = vec![[0usize; 3]; queries];
            for draw in &draws {
                let parts = [&draw.training, &draw.validation, &draw.test];
                assert_eq!(parts.map(Vec::len), [10, 5, queries - 15]);
                for (place, part) in parts.into_iter().enumerate() {
                    part.iter().for_each(|&query| counts[query][place] += 1);
                }
            }
            assert!(counts.iter().all(|of| of.iter().sum::<usize>() == 50));
            for place in 0..2 {
                let of = || counts.iter().map(|of| of[place]);
                let spread = of().max().unwrap() - of().min().unwrap();
                assert!(spread <= 2, "{queries} {place}: {spread}");
            }
        }
        assert_eq!(protocol.drawn(), 15);
    }

    #[test]
    fn documents_that_were_not_found_count() {
        // By hand: relevant at ranks 1 and 3 of what was found, four in all.
        let found = precision(&[3.0, 2.0, 1.0], &[1, 0, 2], 4);
        assert!((found - (1.0 + 2.0 / 3.0) / 4.0).abs() < 1e-15);
        assert_eq!(precision(&[1.0], &[0], 2), 0.0);
    }
}
