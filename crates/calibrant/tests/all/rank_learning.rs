//! Learned rankings: both formulations of the solver agree on every loss, and nothing leaks.

use crate::common;

use calibrant::NoProgress;
use calibrant::numeric::Random;
use calibrant::ranking::learning::{
    CostChoice, FURTHER_COSTS, FeatureMap, FeatureSettings, QueryScale, RankFitError, RankLoss,
    RankModel, RankParameters, RankProblem, RankSettings, USUAL_COSTS, average_precision,
};
use calibrant::ranking::{QueryRows, RankingTable, Unjudged};
use calibrant::solvers::{CuttingPlanes, PlaneSet, Slack, solve_cutting_planes};
use common::rankings::{fit, quick, table};
use proptest::prelude::*;

/// How often a ranking of this relevance is right about a document, at the best threshold.
fn best_accuracy(order: &[i32]) -> f64 {
    let relevant: i32 = order.iter().sum();
    let right = |above: usize| {
        let found: i32 = order[..above].iter().sum();
        let right = found + (order.len() - above) as i32 - (relevant - found);
        f64::from(right) / order.len() as f64
    };
    (0..=order.len()).map(right).fold(0.0, f64::max)
}

#[test] // The toy tables of Yue et al. 2007, with the figures that their relevance values give.
fn the_toy_tables_show_that_measures_disagree() {
    let falling =
        |count: usize| -> Vec<f64> { (0..count).rev().map(|score| score as f64).collect() };
    let precision = |order: &[i32]| average_precision(&falling(order.len()), order, 1);
    let area = |order: &[i32]| {
        let pairs = order
            .iter()
            .enumerate()
            .flat_map(|(i, a)| order[i + 1..].iter().map(move |b| (a, b)));
        let (right, wrong) = pairs.fold((0, 0), |(right, wrong), (a, b)| match a - b {
            1 => (right + 1, wrong),
            -1 => (right, wrong + 1),
            _ => (right, wrong),
        });
        f64::from(right) / f64::from(right + wrong)
    };
    let reversed = |order: &[i32]| -> Vec<i32> { order.iter().rev().copied().collect() };
    let first = [1, 0, 0, 0, 0, 1, 1, 0];
    assert!((precision(&first) - 0.587).abs() < 5e-4 && (area(&first) - 0.467).abs() < 5e-4);
    let second = reversed(&first);
    assert!((precision(&second) - 0.514).abs() < 5e-4 && (area(&second) - 0.533).abs() < 5e-4);
    let first = [1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0];
    let second = reversed(&first);
    assert!((precision(&first) - 0.563).abs() < 5e-4 && (precision(&second) - 0.511).abs() < 5e-4);
    assert!((best_accuracy(&first) - 0.64).abs() < 5e-3);
    assert!((best_accuracy(&second) - 0.73).abs() < 5e-3);
}

#[test]
fn one_slack_and_many_reach_the_same_objective_for_every_loss() {
    let table = table(1, 12, 4);
    let queries: Vec<_> = table
        .queries()
        .iter()
        .map(|query| query.rows.clone())
        .collect();
    let mut losses = RankLoss::ALL.to_vec();
    losses.push(RankLoss::Ndcg { cutoff: Some(3) });
    for loss in losses {
        for bins in [0, 6] {
            let features = FeatureSettings {
                bins,
                ..FeatureSettings::default()
            };
            let rows = FeatureMap::fit(features, &table, 1).rows(&table);
            let problem = RankProblem::new(&rows, &queries, table.grades(), &[1, 2], loss).unwrap();
            let [one, each] = [Slack::One, Slack::EachExample].map(|slack| {
                let settings = CuttingPlanes {
                    c: 2.0,
                    tolerance: 1e-5,
                    slack,
                    ..CuttingPlanes::default()
                };
                solve_cutting_planes(&problem, &settings, &mut PlaneSet::default(), &mut |_| {
                    std::ops::ControlFlow::Continue(())
                })
            });
            assert!(
                one.converged && each.converged,
                "{loss} {bins} {:?} {:?}",
                one.end,
                each.end
            );
            let difference = (one.end.primal - each.end.primal).abs();
            assert!(
                difference <= 2e-5 * one.end.primal,
                "{loss} {bins} {:?} {:?}",
                one.end,
                each.end
            );
        }
    }
}

#[test]
fn every_loss_finds_the_column_that_helps() {
    let (train, test) = (table(2, 30, 4), table(3, 20, 4));
    let map = |scores: &[f64]| {
        let queries = test.queries().iter().map(|query| {
            let rows = query.rows.clone();
            average_precision(&scores[rows.clone()], &test.grades()[rows], 1)
        });
        queries.sum::<f64>() / test.query_count() as f64
    };
    let chance = map(&vec![0.0; test.row_count()]);
    for loss in RankLoss::ALL {
        let settings = RankParameters {
            c: vec![1.0, 10.0, 100.0],
            ..quick(loss)
        };
        let model = fit(&train, &settings);
        assert_eq!(model.curves()[0].feature, "1", "{loss}");
        let found = map(&model.scores(&test).unwrap());
        assert!(found > chance + 0.1, "{loss}: {found} {chance}");
    }
}

#[test]
fn the_bytes_of_a_model_depend_on_its_input_alone() {
    let table = table(4, 20, 3);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let RankParameters { c, tolerance, .. } = quick(RankLoss::default());
        let settings = RankSettings {
            c,
            tolerance,
            calibration_folds: 4,
            ..RankSettings::default()
        };
        pool.unwrap().install(|| {
            let model = RankModel::fit(&table, None, &settings, &NoProgress).unwrap();
            assert_eq!(model.summary().settings_tried.len(), 4);
            assert!(model.relevance().is_some());
            model.to_bytes().unwrap()
        })
    };
    assert_eq!(with(1), with(6));
}

/// The same rows in another order of queries, and of documents in them.
fn shuffled(table: &RankingTable, seed: u64) -> RankingTable {
    let mut random = Random::from_seed(seed);
    let mut queries: Vec<usize> = (0..table.query_count()).collect();
    random.shuffle(&mut queries);
    let (mut sizes, mut names, mut labels, mut values) = (vec![], vec![], vec![], vec![]);
    for query in queries {
        let query = &table.queries()[query];
        let mut rows: Vec<usize> = query.rows.clone().collect();
        random.shuffle(&mut rows);
        sizes.push((query.id.clone(), rows.len()));
        for row in rows {
            names.push(table.document(row).to_owned());
            labels.push(table.grades()[row]);
            values.extend(table.row(row));
        }
    }
    RankingTable::new(table.features().to_vec(), &sizes, &names, labels, values).unwrap()
}

/// Chosen, calibrated, as bytes.
fn bytes_of(table: &RankingTable, validation: Option<&RankingTable>, c: Vec<f64>) -> Vec<u8> {
    let settings = RankSettings {
        c,
        calibration_folds: 4,
        ..RankSettings::default()
    };
    let model = RankModel::fit(table, validation, &settings, &NoProgress).unwrap();
    assert!(model.relevance().is_some());
    model.to_bytes().unwrap()
}

#[test]
fn the_order_of_the_file_changes_no_byte_of_a_model() {
    for seed in 0..3 {
        let train = table(40 + seed, 15, 3);
        let validation = renamed(&table(50 + seed, 8, 3));
        let found = bytes_of(&train, Some(&validation), vec![0.1, 1.0, 10.0]);
        for order in 0..3 {
            let (train, validation) = (shuffled(&train, order), shuffled(&validation, order + 9));
            let again = bytes_of(&train, Some(&validation), vec![0.1, 1.0, 10.0]);
            assert!(found == again, "seed {seed}, order {order}");
        }
    }
    let train = table(44, 12, 2);
    let found = bytes_of(&train, None, Vec::new());
    assert!(found == bytes_of(&shuffled(&train, 1), None, Vec::new()));
    // Held-out scores belong to the rows of the table that was given.
    let settings = quick(RankLoss::default());
    let held_out = |table: &RankingTable| {
        let scores = RankModel::held_out_scores(table, &settings, 3, &NoProgress)
            .unwrap()
            .scores;
        let of_query = |query: &QueryRows| {
            let rows = query.rows.clone();
            let named = rows.map(|row| {
                (
                    query.id.clone(),
                    table.document(row).to_owned(),
                    scores[row],
                )
            });
            named.collect::<Vec<_>>()
        };
        let mut all: Vec<_> = table.queries().iter().flat_map(of_query).collect();
        all.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        all
    };
    assert_eq!(held_out(&train), held_out(&shuffled(&train, 2)));
}

/// Queries with a column that says little in large numbers and one that says much in small ones: it takes a large price to hear it.
fn two_scales(queries: usize) -> RankingTable {
    let mut random = Random::from_seed(3);
    let (mut sizes, mut names, mut labels, mut values) = (vec![], vec![], vec![], vec![]);
    for query in 0..queries {
        sizes.push((format!("q{query}"), 24));
        for document in 0..24 {
            let relevant = random.below(4) == 0;
            let gain = f64::from(u8::from(relevant));
            let coarse = random.normal() + 0.3 * gain;
            let fine = random.normal() + 2.0 * gain;
            names.push(format!("d{document}"));
            labels.push(i32::from(relevant));
            values.extend([coarse as f32, (0.02 * fine) as f32]);
        }
    }
    let functions = vec!["1".into(), "2".into()];
    RankingTable::new(functions, &sizes, &names, labels, values).unwrap()
}

#[test]
fn prices_grow_until_the_best_is_inside_and_the_end_is_told() {
    let (train, test) = (two_scales(40), renamed(&two_scales(30)));
    let settings = RankParameters::default();
    let model = RankModel::fit_with(&train, None, &settings, &NoProgress).unwrap();
    let summary = model.summary();
    assert!(summary.trials.len() > USUAL_COSTS.len(), "{summary:?}");
    assert!(summary.chosen >= USUAL_COSTS.len() - 1, "{summary:?}");
    let inside = summary.chosen + 1 < summary.trials.len();
    assert_eq!(summary.cost_at_the_end, !inside);
    if !inside {
        let all = USUAL_COSTS.len() + FURTHER_COSTS.len();
        assert_eq!(summary.trials.len(), all);
    }
    // Better than the best of the usual prices alone, on other queries.
    let usual = RankParameters {
        c: summary.trials[..USUAL_COSTS.len()]
            .iter()
            .map(|trial| trial.c)
            .collect(),
        ..settings
    };
    let usual = RankModel::fit_with(&train, None, &usual, &NoProgress).unwrap();
    assert!(!usual.summary().cost_at_the_end);
    let map = |model: &RankModel| {
        let scores = model.scores(&test).unwrap();
        let of_query = |query: &QueryRows| {
            let rows = query.rows.clone();
            average_precision(&scores[rows.clone()], &test.grades()[rows], 1)
        };
        test.queries().iter().map(of_query).sum::<f64>() / test.query_count() as f64
    };
    assert!(map(&model) > map(&usual), "{} {}", map(&model), map(&usual));
}

#[test]
fn unjudged_documents_can_be_left_out_of_learning() {
    let all = table(60, 14, 3);
    let marks: Vec<bool> = (0..all.row_count()).map(|row| row % 3 != 1).collect();
    let marked = all.clone().with_judged(marks).unwrap();
    let fitted = |table: &RankingTable, unjudged| {
        let settings = RankParameters {
            unjudged,
            ..quick(RankLoss::default())
        };
        fit(table, &settings)
    };
    let zero = fitted(&marked, Unjudged::Zero);
    assert_eq!(zero.weights(), fitted(&all, Unjudged::Zero).weights());
    let judged = zero.summary().judged;
    assert_eq!(judged.documents, all.row_count());
    assert_eq!(judged.unjudged_documents, (all.row_count() + 1) / 3);
    let left = fitted(&marked, Unjudged::LeaveOut);
    let (kept, _) = marked.judged(Unjudged::LeaveOut);
    assert_eq!(left.weights(), fitted(&kept, Unjudged::Zero).weights());
    assert_eq!(left.summary().documents, kept.row_count());
    assert_ne!(left.weights(), zero.weights());
}

#[test]
fn validation_queries_are_chosen_by_and_never_learned_from() {
    let (train, validation) = (table(5, 20, 3), renamed(&table(6, 10, 3)));
    let settings = quick(RankLoss::default());
    let model = RankModel::fit_with(&train, Some(&validation), &settings, &NoProgress).unwrap();
    assert_eq!(model.summary().choice, CostChoice::Validation);
    assert_eq!(model.summary().choice_queries, 10);
    // The chosen C alone gives the same weights, to the solver's tolerance.
    let chosen = model.summary().chosen_trial().c;
    let alone = fit(
        &train,
        &RankParameters {
            c: vec![chosen],
            ..settings.clone()
        },
    );
    assert_eq!(alone.summary().choice, CostChoice::Given);
    for (a, b) in model.weights().iter().zip(alone.weights()) {
        assert!((a - b).abs() < 0.1 * (1.0 + b.abs()), "{a} {b}");
    }
    let both = RankParameters {
        folds: Some(4),
        ..settings.clone()
    };
    let both = RankModel::fit_with(&train, Some(&validation), &both, &NoProgress).unwrap();
    assert_eq!(
        (both.summary().choice, both.summary().choice_queries),
        (CostChoice::Both, 30)
    );
    let shared = RankModel::fit_with(&train, Some(&train), &settings, &NoProgress);
    assert!(matches!(shared, Err(RankFitError::SharedQuery { .. })));
}

/// The same table with other names of queries.
fn renamed(table: &RankingTable) -> RankingTable {
    let queries: Vec<(String, usize)> = table
        .queries()
        .iter()
        .map(|query| (format!("other-{}", query.id), query.rows.len()))
        .collect();
    let documents: Vec<&str> = (0..table.row_count())
        .map(|row| table.document(row))
        .collect();
    RankingTable::new(
        table.features().to_vec(),
        &queries,
        &documents,
        table.grades().to_vec(),
        table.values().to_vec(),
    )
    .unwrap()
}

#[test]
fn held_out_scores_do_not_know_the_labels_of_their_query() {
    let table = table(7, 12, 2);
    let settings = RankParameters {
        c: vec![1.0],
        ..RankParameters::default()
    };
    let held_out = |table| RankModel::held_out_scores(table, &settings, 4, &NoProgress).unwrap();
    let scores = held_out(&table).scores;
    assert_eq!(scores.len(), table.row_count());
    // Other labels for one query change the scores of others alone.
    let rows = table.queries()[3].rows.clone();
    let mut labels = table.grades().to_vec();
    labels[rows.clone()].reverse();
    labels[rows.start] += 1;
    let queries: Vec<(String, usize)> = table
        .queries()
        .iter()
        .map(|query| (query.id.clone(), query.rows.len()))
        .collect();
    let documents: Vec<&str> = (0..table.row_count())
        .map(|row| table.document(row))
        .collect();
    let other = RankingTable::new(
        table.features().to_vec(),
        &queries,
        &documents,
        labels,
        table.values().to_vec(),
    )
    .unwrap();
    let changed = held_out(&other).scores;
    assert_eq!(scores[rows.clone()], changed[rows]);
    assert_ne!(scores, changed);
    assert!(RankModel::held_out_scores(&table, &settings, 13, &NoProgress).is_err());
}

#[test] // Features ten times as large make every usual price a hundredth, and change no ranking.
fn usual_prices_follow_the_size_of_the_features() {
    let drawn = table(21, 12, 3);
    let times = |factor: f32| {
        let sizes: Vec<(String, usize)> = drawn
            .queries()
            .iter()
            .map(|query| (query.id.clone(), query.rows.len()))
            .collect();
        let names: Vec<&str> = (0..drawn.row_count())
            .map(|row| drawn.document(row))
            .collect();
        // Whole numbers, so that both tables hold the same values to the last digit.
        let values = (0..drawn.row_count()).flat_map(|row| drawn.row(row));
        let values = values.map(|value| (4.0 * value).round() * factor).collect();
        let functions = drawn.features().to_vec();
        RankingTable::new(functions, &sizes, &names, drawn.grades().to_vec(), values).unwrap()
    };
    let (small, large) = (times(1.0), times(10.0));
    for loss in [
        RankLoss::AveragePrecision,
        RankLoss::RocArea,
        RankLoss::ReciprocalRank,
        RankLoss::Pairs,
    ] {
        let settings = RankParameters {
            loss,
            tolerance: 1e-7,
            ..RankParameters::default()
        };
        let (of_small, of_large) = (fit(&small, &settings), fit(&large, &settings));
        let prices = |model: &RankModel| -> Vec<f64> {
            model.summary().trials.iter().map(|trial| trial.c).collect()
        };
        assert!(prices(&of_small).len() >= USUAL_COSTS.len());
        for (small, large) in prices(&of_small).iter().zip(prices(&of_large)) {
            assert!(
                (small / large - 100.0).abs() < 1e-9,
                "{loss}: {small} {large}"
            );
        }
        // At one of them: with great ones the last digits of a table decide.
        let at = |model: &RankModel, table: &RankingTable| {
            let c = vec![prices(model)[2]];
            let settings = RankParameters {
                c,
                ..settings.clone()
            };
            fit(table, &settings).scores(table).unwrap()
        };
        let scores = at(&of_small, &small).into_iter().zip(at(&of_large, &large));
        for (small, large) in scores {
            assert!((small - large).abs() < 1e-3, "{loss}: {small} {large}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn any_table_gives_a_model_or_an_error(
        grades in prop::collection::vec(-2i32..4, 1..30),
        values in prop::collection::vec(prop::sample::select(vec![f32::NAN, 0.0, -0.0, 1.0, -3.5, 1e30, f32::MAX, f32::MIN_POSITIVE]), 60),
        size in 1usize..12,
        loss in prop::sample::select(RankLoss::ALL.to_vec()),
        bins in prop::sample::select(vec![0usize, 1, 5]),
        scale in prop::sample::select(vec![QueryScale::AsGiven, QueryScale::Standard, QueryScale::Percentile, QueryScale::MinMax]),
    ) {
        let rows = grades.len();
        let queries: Vec<(String, usize)> = (0..rows.div_ceil(size)).map(|q| (q.to_string(), size.min(rows - q * size))).collect();
        let table = RankingTable::new(vec!["a".into(), "b".into()], &queries, &vec![""; rows], grades, values[..2 * rows].to_vec()).unwrap();
        let settings = RankParameters { features: FeatureSettings { scale, bins }, every_grade: true, c: vec![1.0], ..quick(loss) };
        if let Ok(model) = RankModel::fit_with(&table, None, &settings, &NoProgress) {
            prop_assert!(model.scores(&table).unwrap().iter().all(|score| !score.is_nan()));
        }
    }
}
