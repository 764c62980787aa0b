use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::numeric::Random;

/// Queries whose scores have a height of their own; relevance depends on the distance from it.
struct World {
    scores: Vec<f64>,
    relevant: Vec<bool>,
    truth: Vec<f64>,
    queries: Vec<Range<usize>>,
    folds: Vec<u8>,
}

fn world(seed: u64, spread: f64, queries: usize) -> World {
    let mut random = Random::from_seed(seed);
    let mut world = World {
        scores: Vec::new(),
        relevant: Vec::new(),
        truth: Vec::new(),
        queries: Vec::new(),
        folds: Vec::new(),
    };
    for query in 0..queries {
        let start = world.scores.len();
        let height = spread * random.normal();
        for _ in 0..60 {
            let step = random.normal();
            let probability = Probability::from_log_odds(2.0 * step - 1.5).value();
            world.scores.push(height + step);
            world.truth.push(probability);
            world.relevant.push(random.uniform() < probability);
        }
        world.queries.push(start..world.scores.len());
        world.folds.push((query % 5) as u8);
    }
    world
}

impl World {
    fn held_out(&self) -> HeldOutRankings<'_> {
        HeldOutRankings {
            scores: &self.scores,
            relevant: &self.relevant,
            queries: &self.queries,
            fold_of_query: &self.folds,
        }
    }
}

#[test]
fn probabilities_come_near_the_truth_whatever_the_height_of_a_query() {
    let learned = world(1, 10.0, 100);
    let relevance = RelevanceSettings::default()
        .fit(&learned.held_out())
        .unwrap();
    assert_ne!(relevance.frame(), ScoreFrame::AsIs);
    let fresh = world(2, 10.0, 40);
    let mut error = 0.0;
    for rows in &fresh.queries {
        let found = relevance.probabilities(&fresh.scores[rows.clone()]);
        for (found, truth) in found.iter().zip(&fresh.truth[rows.clone()]) {
            error += (found.value() - truth).abs();
        }
    }
    assert!(error / (fresh.truth.len() as f64) < 0.05, "{error}");
}

#[test]
fn scores_that_mean_the_same_everywhere_stay_as_they_are() {
    let relevance = RelevanceSettings::default()
        .fit(&world(3, 0.0, 100).held_out())
        .unwrap();
    assert_eq!(relevance.frame(), ScoreFrame::AsIs);
    let summary = relevance.summary();
    assert_eq!((summary.documents, summary.queries), (6000, 100));
    assert!(summary.log_loss[0].1 < summary.log_loss_of_share);
}

#[test]
fn the_curve_depends_on_no_query_of_the_fold_that_it_is_judged_on() {
    // Judged on fold 4 with its labels turned round, the loss must be that of a curve that never saw them.
    let world = world(4, 0.0, 20);
    let settings = RelevanceSettings {
        calibrator: CalibratorKind::Platt,
        frame: Some(ScoreFrame::AsIs),
    };
    let mut by_hand = 0.0;
    for fold in 0..5 {
        let of_fold = |query: &usize| world.folds[*query] == fold;
        let rest = (0..20).filter(|query| !of_fold(query));
        let rows: Vec<usize> = rest
            .flat_map(|query| world.queries[query].clone())
            .collect();
        let held_out = HeldOutScores::assume(
            rows.iter().map(|&row| world.scores[row]).collect(),
            rows.iter().map(|&row| world.relevant[row]).collect(),
        );
        let curve = CalibratorKind::Platt.fit(&held_out.unwrap()).unwrap();
        let own = (0..20)
            .filter(of_fold)
            .flat_map(|query| world.queries[query].clone());
        by_hand += own
            .map(|row| {
                curve
                    .probability(world.scores[row])
                    .log_loss(world.relevant[row])
            })
            .sum::<f64>();
    }
    let found = settings.fit(&world.held_out()).unwrap();
    let loss = found.summary().log_loss[0].1;
    assert!((loss - by_hand / 1200.0).abs() < 1e-12);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let world = world(5, 0.0, 10);
    let good = world.held_out();
    let settings = RelevanceSettings::default();
    let gap = [0..60, 61..600];
    for bad in [
        HeldOutRankings {
            relevant: &[true],
            ..good
        },
        HeldOutRankings {
            fold_of_query: &[0],
            ..good
        },
        HeldOutRankings {
            queries: &gap,
            fold_of_query: &[0, 1],
            ..good
        },
    ] {
        let error = settings.fit(&bad).unwrap_err();
        assert!(matches!(error, FitError::LengthMismatch { .. }), "{error}");
    }
}

#[test]
fn the_certainty_of_a_recall_is_near_what_all_outcomes_say() {
    let values = [
        0.9, 0.8, 0.8, 0.7, 0.6, 0.5, 0.5, 0.4, 0.3, 0.3, 0.2, 0.2, 0.1, 0.1,
    ];
    let outlook = Outlook::with_spread(values.iter().copied(), &LogOddsSpread::none());
    for (rank, recall) in [(4, 0.6), (6, 0.7), (8, 0.8), (10, 0.9)] {
        // Every outcome of fourteen documents with a relevant one, by brute force.
        let mut certainty = 0.0;
        let nothing: f64 = values.iter().map(|p| 1.0 - p).product();
        for outcome in 1u32..1 << values.len() {
            let is = |place: usize| outcome >> place & 1 == 1;
            let parts = values.iter().enumerate();
            let probability: f64 = parts
                .map(|(place, p)| if is(place) { *p } else { 1.0 - p })
                .product();
            let found = (0..rank).filter(|&place| is(place)).count() as f64;
            let all = f64::from(outcome.count_ones());
            if found >= recall * all {
                certainty += probability / (1.0 - nothing);
            }
        }
        let imagined = outlook.certainty_of_recall(rank, recall);
        // Three standard deviations of a thousand draws.
        assert!(
            (imagined - certainty).abs() < 0.05,
            "{rank} {recall}: {imagined} {certainty}"
        );
    }
}

#[test]
fn an_empty_or_hopeless_list_can_be_left_at_once() {
    let nothing = Outlook::new([]);
    assert_eq!((nothing.expected(), nothing.stop_for_recall(0.9)), (0.0, 0));
    let hopeless = Outlook::new([0.0, f64::NAN, -1.0]);
    assert_eq!(hopeless.stop_for_recall(0.9), 0);
    assert_eq!(nothing.sure_stop_for_recall(0.9, 0.9), 0);
}

/// Queries that are moved up and down at random; the promise must hold over fresh ones.
#[test]
fn the_sure_stop_is_reached_as_often_as_it_says() {
    let drawn = |seed: u64, queries: usize| {
        let mut random = Random::from_seed(seed);
        let mut world = World {
            scores: vec![],
            relevant: vec![],
            truth: vec![],
            queries: vec![],
            folds: vec![],
        };
        for query in 0..queries {
            let start = world.scores.len();
            let (moved, stretched) = (1.2 * random.normal(), (0.6 * random.normal()).exp());
            for _ in 0..150 {
                let score = random.normal();
                let truth =
                    Probability::from_log_odds(2.0 * stretched * score - 2.0 + moved).value();
                world.scores.push(score);
                world.truth.push(truth);
                world.relevant.push(random.uniform() < truth);
            }
            world.queries.push(start..world.scores.len());
            world.folds.push((query % 5) as u8);
        }
        world
    };
    let settings = RelevanceSettings {
        calibrator: CalibratorKind::Platt,
        frame: Some(ScoreFrame::AsIs),
    };
    let (mut with, mut reached, mut naive) = (0, 0, 0);
    for seed in 0..20 {
        // A curve and a spread from forty queries each.
        let relevance = settings.fit(&drawn(seed, 40).held_out()).unwrap();
        let fresh = drawn(1000 + seed, 30);
        for rows in &fresh.queries {
            let mut order: Vec<usize> = rows.clone().collect();
            order.sort_by(|&a, &b| fresh.scores[b].total_cmp(&fresh.scores[a]));
            let scores: Vec<f64> = order.iter().map(|&row| fresh.scores[row]).collect();
            let stated = || {
                relevance
                    .probabilities(&scores)
                    .into_iter()
                    .map(|p| p.value())
            };
            let all = order.iter().filter(|&&row| fresh.relevant[row]).count();
            if all == 0 {
                continue;
            }
            with += 1;
            let enough = |spread: &LogOddsSpread| {
                let stop = Outlook::with_spread(stated(), spread).sure_stop_for_recall(0.9, 0.9);
                let found = order[..stop]
                    .iter()
                    .filter(|&&row| fresh.relevant[row])
                    .count();
                usize::from(found as f64 >= 0.9 * all as f64)
            };
            reached += enough(relevance.spread().unwrap());
            naive += enough(&LogOddsSpread::none());
        }
    }
    let share = |reached: usize| reached as f64 / with as f64;
    // Two standard deviations of about 600 queries.
    assert!((share(reached) - 0.9).abs() < 0.03, "{reached} of {with}");
    assert!(share(naive) < 0.87, "{naive} of {with}");
}

proptest! {
    #[test]
    fn a_higher_recall_is_never_reached_earlier(
        values in prop::collection::vec(0.001f64..0.999, 1..60),
        (low, high) in (0.0f64..1.0, 0.0f64..1.0),
        certainty in 0.5f64..0.99,
    ) {
        let outlook = Outlook::new(values.iter().copied());
        let (low, high) = (low.min(high), low.max(high));
        let stop = outlook.stop_for_recall(low);
        prop_assert!(stop <= outlook.stop_for_recall(high));
        prop_assert!(outlook.expected_recall(stop) >= low);
        prop_assert!(stop == 0 || outlook.expected_recall(stop - 1) < low);
        prop_assert!(outlook.sure_stop_for_recall(low, certainty) <= outlook.sure_stop_for_recall(high, certainty));
        let sum = outlook.expected_below(stop) + values[..stop].iter().sum::<f64>();
        prop_assert!((sum - values.iter().sum::<f64>()).abs() < 1e-9);
    }
}

/// One mistyped number in a query must not make a document certain.
#[test]
fn curves_hold_beyond_the_scores_they_were_fitted_to() {
    let learned = world(1, 0.0, 60);
    for calibrator in [
        CalibratorKind::Auto,
        CalibratorKind::Platt,
        CalibratorKind::Gauss,
        CalibratorKind::ThreePiece,
    ] {
        let settings = RelevanceSettings {
            calibrator,
            frame: Some(ScoreFrame::AsIs),
        };
        let relevance = settings.fit(&learned.held_out()).unwrap();
        let said = relevance.probabilities(&[1e6, 1e3, 0.0, -1e3, -1e6]);
        assert_eq!(said[0], said[1], "{calibrator:?}");
        assert_eq!(said[3], said[4], "{calibrator:?}");
        assert!(said[0] > said[2] && said[2] > said[4]);
        // Scores within 4 were seen, where the truth's log-odds are 2 s - 1.5.
        assert!(said[0].log_odds() < 14.0, "{calibrator:?} {:?}", said[0]);
        assert!(!relevance.curve_name().contains("held"));
    }
}

#[test]
fn lists_with_next_to_nothing_are_answered_for_the_case_that_there_is_something() {
    // By hand: one relevant document, and ten places that are as likely: nine in ten are reached at the ninth.
    let even = Outlook::with_spread([3e-4; 10], &LogOddsSpread::none());
    let stop = even.sure_stop_for_recall(0.95, 0.9);
    assert!((8..=10).contains(&stop), "{stop}");
    assert!((even.certainty_of_recall(5, 0.95) - 0.5).abs() < 0.06);
    // A thousand documents of which 0.003 are expected.
    let low = Outlook::new((0..1000).map(|rank| 6e-6 * (1.0 - f64::from(rank) / 1000.0)));
    let stop = low.sure_stop_for_recall(0.9, 0.9);
    assert!((500..=1000).contains(&stop), "{stop}");
}

/// Log-odds that may be moved by twenty nats say nothing: of a thousand ways a handful count.
#[test]
fn where_nothing_is_known_nothing_is_sure_before_the_end() {
    let spread: LogOddsSpread =
        serde_json::from_str(r#"{"centre":0,"mean":[-80,1],"covariance":[[400,0],[0,0.01]]}"#)
            .unwrap();
    let outlook = Outlook::with_spread([1e-4; 20], &spread);
    assert_eq!(outlook.sure_stop_for_recall(0.9, 0.9), 20);
    assert_eq!(outlook.certainty_of_recall(19, 0.9), 0.0);
    assert_eq!(outlook.certainty_of_recall(20, 0.9), 1.0);
}
