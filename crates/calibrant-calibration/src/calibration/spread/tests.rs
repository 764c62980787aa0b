use super::*;
use crate::Probability;

/// Groups whose log-odds are moved and stretched at random.
fn groups(seed: u64, count: usize, moved: f64, stretched: f64) -> Vec<Vec<(f64, bool)>> {
    let mut random = Random::from_seed(seed);
    let mut group = || {
        let (at, slope) = (moved * random.normal(), 1.0 + stretched * random.normal());
        let mut case = || {
            let stated = 1.5 * random.normal() - 2.0;
            let holds = -2.0 + at + slope * (stated + 2.0);
            let came = random.uniform() < Probability::from_log_odds(holds).value();
            (stated, came)
        };
        (0..120).map(|_| case()).collect::<Vec<_>>()
    };
    (0..count).map(|_| group()).collect()
}

#[test]
fn what_was_drawn_is_found_again() {
    for (moved, stretched) in [(0.5, 0.2), (1.2, 0.1), (1.5, 0.5)] {
        let found = LogOddsSpread::of_groups(&groups(1, 400, moved, stretched)).unwrap();
        // Moves are told at the mean of what came true, stretching included.
        let off = found.centre() + 2.0;
        let at_centre = (moved * moved + (stretched * off) * (stretched * off)).sqrt();
        let (by_move, by_slope) = found.standard_deviations();
        assert!(
            (by_move / at_centre - 1.0).abs() < 0.15,
            "{by_move} {at_centre}"
        );
        assert!(
            (by_slope - stretched).abs() < 0.07,
            "{by_slope} {stretched}"
        );
        let (shift, slope) = found.expected();
        assert!(
            shift.abs() < 0.25 && (slope - 1.0).abs() < 0.12,
            "{shift} {slope}"
        );
    }
}

#[test]
fn few_groups_leave_more_open_than_many() {
    let width = |count| {
        LogOddsSpread::of_groups(&groups(2, count, 0.0, 0.0))
            .unwrap()
            .standard_deviations()
    };
    let (few, many) = (width(6), width(300));
    assert!(few.0 > 1.5 * many.0 && few.1 > many.1, "{few:?} {many:?}");
    assert!(LogOddsSpread::of_groups(&groups(2, 4, 0.0, 0.0)).is_none());
}

#[test] // One group: the logistic regression's own standard errors, held by the prior.
fn one_group_is_known_by_its_cases() {
    let one = |size: usize| {
        let cases = groups(3, size, 0.0, 0.0).concat();
        LogOddsSpread::of_one_group(cases.into_iter().map(|(l, came)| (l, came, 1.0))).unwrap()
    };
    let (small, large) = (one(1).standard_deviations(), one(100).standard_deviations());
    assert!(
        small.0 > large.0 && small.1 > large.1,
        "{small:?} {large:?}"
    );
    assert!(LogOddsSpread::of_one_group([(0.0, false, 1.0)].into_iter()).is_none());
}

#[test]
fn nothing_is_moved_where_nothing_is_open_and_draws_have_the_moments() {
    let mut random = Random::from_seed(4);
    assert!((LogOddsSpread::none().draw(&mut random).of(0.7) - 0.7).abs() < 1e-12);
    let usual = LogOddsSpread::usual();
    let draws: Vec<f64> = (0..20_000)
        .map(|_| usual.draw(&mut random).of(usual.centre()))
        .collect();
    let mean = draws.iter().sum::<f64>() / 20_000.0;
    let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
    assert!((variance.sqrt() / usual.standard_deviations().0 - 1.0).abs() < 0.03);
    assert!((mean - usual.centre() - usual.expected().0).abs() < 0.03);
    assert!(usual.draw(&mut random).of(f64::NAN).is_finite());
}

#[test] // As naive Bayes is before calibration: hundreds of nats, and often wrong.
fn forecasts_that_are_sure_beyond_measure_leave_no_spread_or_a_sound_one() {
    for scale in [50.0, 1e3, 1e6, 1e12] {
        let cases = (0..400).map(|i| {
            let sure = scale * (f64::from(i % 20) - 9.5);
            (sure, i % 3 == 0, 1.0)
        });
        if let Some(spread) = LogOddsSpread::of_one_group(cases) {
            let (at_centre, slope) = spread.standard_deviations();
            assert!(at_centre.is_finite() && slope.is_finite(), "{spread:?}");
        }
    }
}
