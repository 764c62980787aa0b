use super::*;
use crate::calibration::HeldOutClassScores;
use crate::numeric::{Random, log_sum_exp, sigmoid};

/// A curve that is steep, then flat: what margins of a confident learner look like.
fn bent(score: f64) -> f64 {
    2.0 * score.min(1.0) + 0.2 * (score - 1.0).max(0.0)
}

/// Scores whose log-weights are `bent(s) + intercept of the class`, with labels drawn from them; and the least
/// possible mean loss.
fn draw(seed: u64, rows: usize, classes: usize) -> (Vec<f64>, Vec<u32>, f64) {
    let mut random = Random::from_seed(seed);
    let (mut scores, mut labels, mut least) = (Vec::new(), Vec::new(), 0.0);
    for _ in 0..rows {
        let row: Vec<f64> = (0..classes).map(|_| 2.0 * random.normal()).collect();
        let said: Vec<f64> = row
            .iter()
            .enumerate()
            .map(|(class, &score)| bent(score) + 0.3 * (class % 3) as f64)
            .collect();
        let total = log_sum_exp(&said);
        let mut left = random.uniform();
        let drawn = said.iter().position(|l| {
            left -= (l - total).exp();
            left < 0.0
        });
        labels.push(drawn.unwrap_or(0) as u32);
        least += said
            .iter()
            .map(|l| (total - l) * (l - total).exp())
            .sum::<f64>()
            / rows as f64;
        scores.extend(row);
    }
    (scores, labels, least)
}

fn loss(calibrator: &SharedCurveCalibrator, scores: &[f64], labels: &[u32]) -> f64 {
    let classes = calibrator.class_count();
    let rows = scores.chunks_exact(classes).zip(labels);
    let losses = rows.map(|(row, &label)| {
        let said: Vec<f64> = (0..classes)
            .map(|c| calibrator.log_weight(c, row[c]))
            .collect();
        log_sum_exp(&said) - said[label as usize]
    });
    losses.sum::<f64>() / labels.len() as f64
}

#[test]
fn a_bent_curve_is_found_with_few_and_with_many_classes() {
    for classes in [3, 12, 60] {
        let (scores, labels, _) = draw(1, 4_000, classes);
        let (test, truths, least) = draw(2, 4_000, classes);
        let held_out = HeldOutClassScores::assume(scores, classes, labels).unwrap();
        let of = |bends| SharedCurve {
            bends,
            slopes: true,
        };
        let curve = of(true).fit(&held_out).unwrap();
        let line = of(false).fit(&held_out).unwrap();
        let (curve, line) = (loss(&curve, &test, &truths), loss(&line, &test, &truths));
        assert!(curve < least + 0.03, "{classes}: {curve} {least}");
        assert!(curve < line - 0.02, "{classes}: {curve} {line}");
    }
}

/// Asserts that what is said of each class never falls with its own score, but for rounding, and holds at the ends.
#[track_caller]
fn check_rises(curve: &SharedCurveCalibrator) {
    let (first, last) = (curve.knots()[0], curve.knots()[curve.knots().len() - 1]);
    let steps = (-5..=205).map(|step| first + f64::from(step) / 200.0 * (last - first));
    let scores: Vec<f64> = steps.chain(curve.knots().iter().copied()).collect();
    let mut scores: Vec<f64> = scores.into_iter().chain([-1e9, 1e9]).collect();
    scores.sort_by(f64::total_cmp);
    for class in 0..curve.class_count() {
        let said: Vec<f64> = scores.iter().map(|&s| curve.log_weight(class, s)).collect();
        let size = 1.0 + said.iter().fold(0.0f64, |most, l| most.max(l.abs()));
        let rises = said.is_sorted_by(|a, b| b - a >= -1e-12 * size);
        assert!(rises, "{class}: {said:?} {:?}", curve.slopes());
        let ends = curve.log_weight(class, last) - curve.log_weight(class, first);
        assert!(ends > 0.0, "{class}: {ends}");
        assert_eq!(
            curve.log_weight(class, 1e9),
            curve.log_weight(class, 2.0 * last.abs() + 1.0)
        );
    }
    assert!(curve.slopes().iter().sum::<f64>().abs() < 1e-6 * (1.0 + curve.slopes()[0].abs()));
}

#[test]
fn the_curve_never_falls_and_holds_beyond_the_examples() {
    let (scores, labels, _) = draw(3, 500, 4);
    // Upside down at the top: the highest scores mislead.
    let turned = scores
        .iter()
        .map(|&s| if s > 2.0 { 2.0 - s } else { s })
        .collect();
    // Upside down for two classes: their own slopes would fall.
    let turn = |(place, &s): (usize, &f64)| if place % 4 < 2 { -s } else { s };
    let of_classes = scores.iter().enumerate().map(turn).collect();
    for scores in [turned, of_classes] {
        let held_out = HeldOutClassScores::assume(scores, 4, labels.clone()).unwrap();
        for slopes in [false, true] {
            let of = SharedCurve {
                bends: true,
                slopes,
            };
            let curve = of.fit(&held_out).unwrap();
            check_rises(&curve);
            assert_eq!(curve.log_weight(0, f64::NAN), curve.log_weight(0, 0.0));
        }
    }
}

/// Scores of two heaps far apart say nothing of what lies between, where slopes of classes must not take over.
#[test]
fn nothing_falls_between_two_heaps_of_scores() {
    let mut random = Random::from_seed(13);
    let (mut scores, mut labels) = (Vec::new(), Vec::new());
    for row in 0..600 {
        let label = row % 4;
        for class in 0..4 {
            let heap = if class == label { 4.0 } else { -4.0 };
            let spread = 0.3 + 0.2 * class as f64;
            scores.push(heap + spread * random.normal());
        }
        labels.push(if row % 50 == 0 {
            (label + 1) % 4
        } else {
            label
        } as u32);
    }
    let held_out = HeldOutClassScores::assume(scores, 4, labels).unwrap();
    let curve = SharedCurve::default().fit(&held_out).unwrap();
    check_rises(&curve);
    for class in 0..4 {
        let rise = curve.log_weight(class, 1.0) - curve.log_weight(class, -1.0);
        assert!(rise > 0.1, "{class}: {rise}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]
    /// Whatever the labels have to do with the scores.
    #[test]
    fn no_class_falls_with_its_own_score(
        seed in 0..10_000u64,
        classes in 2..6usize,
        rows in 20..150usize,
        signs in proptest::collection::vec(-1.5..1.5f64, 6),
    ) {
        let (scores, labels, _) = draw(seed, rows, classes);
        let each = scores.iter().enumerate();
        let scores = each.map(|(place, s)| signs[place % classes] * s).collect();
        let held_out = HeldOutClassScores::assume(scores, classes, labels).unwrap();
        let (arranged, _) = held_out.arranged();
        let fitted = SharedCurve::default().cross_fit(&arranged.score_rows(), true).unwrap();
        check_rises(&fitted.whole);
        fitted.without.iter().for_each(check_rises);
    }
}

/// Against brute force: no point nearby that keeps to the bounds has less loss.
#[test]
fn what_is_found_within_the_bounds_is_the_least() {
    use bounds::{least_slope, within};
    use expansion::value_at;
    use parameters::{Penalty, Shape, Tilt};
    let (scores, labels, _) = draw(17, 300, 3);
    let turn = |(place, s): (usize, f64)| if place % 3 == 1 { -s } else { s };
    let scores: Vec<f64> = scores.into_iter().enumerate().map(turn).collect();
    let rows = ScoreRows {
        link: Link::Softmax,
        class_count: 3,
        scores: &scores,
        labels: Labels::One(&labels),
        weights: &[1.0; 300],
        folds: &[0; 300],
    };
    let standard = cells::Standard {
        factor: 1.0,
        centre: 0.0,
    };
    let knots = [-9.0, -2.0, 0.0, 2.0, 9.0];
    let cells = Cells::of(&rows, 0..300, standard, &knots);
    let line = Solution::line(&knots, 3, true);
    let spreads = line.spreads;
    let solution = line.solve(&cells, &knots, 1e-12).unwrap();
    let tilt = Tilt {
        slope: 1.0,
        spread: 1.0,
    };
    let penalty = Penalty::new(&knots, 3, spreads, tilt);
    let shape = Shape {
        knots: 5,
        classes: 3,
    };
    let value = |point: &[f64]| value_at(&cells, &penalty, cells::Part::All, point);
    let least = value(&solution.parameters);
    // The class that runs backwards stands at its bound.
    assert!(solution.parameters[shape.class(1)] < least_slope(&knots) + 1e-9);
    let mut random = Random::from_seed(1);
    for size in [1.0, 0.1, 0.01, 0.001] {
        for _ in 0..500 {
            let moved = solution.parameters.iter();
            let mut tried: Vec<f64> = moved.map(|p| p + size * random.normal()).collect();
            within(&knots, shape, true, &mut tried);
            let slopes = tried[5..].iter().step_by(2);
            assert!(slopes.copied().all(|a| a >= least_slope(&knots)) && tried[..5].is_sorted());
            assert!(value(&tried) >= least - 1e-9, "{size}: {}", value(&tried));
        }
    }
}

/// Gradient and curvature of a small problem against differences.
#[test]
fn gradient_and_curvature_are_those_of_the_loss() {
    use curvature::Hessian;
    use expansion::{expand, value_at};
    use parameters::{Penalty, Spreads, Tilt};
    for link in [Link::Softmax, Link::Sigmoid] {
        let (scores, labels, _) = draw(5, 40, 3);
        let several: Vec<Vec<u32>> = (0..40)
            .map(|i| (0..3).filter(|c| (i * 7 + c * 5) % 4 == 0).collect())
            .collect();
        let folds: Vec<u8> = (0..40).map(|i| (i % 5) as u8).collect();
        let weights: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i % 3)).collect();
        let rows = ScoreRows {
            link,
            class_count: 3,
            scores: &scores,
            labels: match link {
                Link::Softmax => Labels::One(&labels),
                Link::Sigmoid => Labels::Several(&several),
            },
            weights: &weights,
            folds: &folds,
        };
        let standard = cells::Standard {
            factor: 1.0,
            centre: 0.1,
        };
        let knots = [-8.0, -1.0, 0.5, 2.0, 8.0];
        let cells = Cells::of(&rows, 0..40, standard, &knots);
        let spreads = Spreads {
            bends: 0.7,
            slopes: 0.4,
            intercepts: 0.9,
        };
        let tilt = Tilt {
            slope: 0.8,
            spread: 0.5,
        };
        let penalty = Penalty::new(&knots, 3, spreads, tilt);
        let point: Vec<f64> = (0..11).map(|i| 0.3 * f64::from(i % 4) - 0.2).collect();
        let expand = |point: &[f64]| expand(&cells, penalty.shape, cells::Part::Without(2), point);
        let at = expand(&point);
        let (value, gradient) = at.penalised(&penalty, &point);
        assert!((value - value_at(&cells, &penalty, cells::Part::Without(2), &point)).abs() < 1e-9);
        let hessian = Hessian::new(&at.curvature, &penalty);
        let moved = |place: usize, by: f64| {
            let mut moved = point.clone();
            moved[place] += by;
            expand(&moved).penalised(&penalty, &moved)
        };
        for place in 0..point.len() {
            let (up, down) = (moved(place, 1e-5), moved(place, -1e-5));
            let slope = (up.0 - down.0) / 2e-5;
            assert!((slope - gradient[place]).abs() < 1e-4, "{link:?} {place}");
            let mut direction = vec![0.0; point.len()];
            direction[place] = 1.0;
            let product = hessian.times(&direction);
            for (other, product) in product.iter().enumerate() {
                let curve = (up.1[other] - down.1[other]) / 2e-5;
                assert!((curve - product).abs() < 1e-2, "{link:?} {place} {other}");
            }
        }
    }
}

#[test]
fn thinned_rows_stand_for_all_of_their_scores() {
    let (scores, labels, _) = draw(7, 300, 200);
    let folds = vec![0; 300];
    let rows = ScoreRows {
        link: Link::Softmax,
        class_count: 200,
        scores: &scores,
        labels: Labels::One(&labels),
        weights: &vec![1.0; 300],
        folds: &folds,
    };
    let standard = cells::Standard {
        factor: 2.0,
        centre: 0.0,
    };
    let cells = Cells::of(&rows, 0..300, standard, &[-20.0, 20.0]);
    let (mut kept, mut all, mut standing) = (0.0, 0.0, 0.0);
    for (row, &label) in labels.iter().enumerate() {
        let cells::Row {
            cells: thinned,
            right,
            runner_up,
            ..
        } = cells.row(row);
        assert_eq!(thinned[right[0] as usize].class, label);
        let second = thinned[runner_up.unwrap() as usize];
        let wrong = (0..200).filter(|&class| class != label);
        let best = wrong.map(|class| rows.row(row)[class as usize]);
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(second.x, standard.apply(best) as f32);
        kept += thinned.len() as f64;
        standing += thinned
            .iter()
            .map(|cell| f64::from(cell.stands_for) * f64::from(cell.x).exp())
            .sum::<f64>();
        all += rows
            .row(row)
            .iter()
            .map(|&score| standard.apply(score).exp())
            .sum::<f64>();
    }
    assert!(kept < 0.5 * 200.0 * 300.0, "{kept}");
    assert!((standing / all - 1.0).abs() < 0.01, "{standing} {all}");
}

#[test]
fn labels_that_do_not_exclude_each_other_are_fitted_too() {
    let mut random = Random::from_seed(9);
    let scores: Vec<f64> = (0..6_000).map(|_| 2.0 * random.normal()).collect();
    let labels: Vec<Vec<u32>> = scores
        .chunks_exact(3)
        .map(|row| {
            (0..3)
                .filter(|&c| random.uniform() < sigmoid(bent(row[c as usize]) - 1.0))
                .collect()
        })
        .collect();
    let folds: Vec<u8> = (0..2_000).map(|i| (i % 5) as u8).collect();
    let rows = ScoreRows {
        link: Link::Sigmoid,
        class_count: 3,
        scores: &scores,
        labels: Labels::Several(&labels),
        weights: &vec![1.0; 2_000],
        folds: &folds,
    };
    let fitted = SharedCurve::default().cross_fit(&rows, true).unwrap();
    assert_eq!(fitted.without.len(), 5);
    for score in [-2.0, 0.0, 1.0, 2.5] {
        let said = fitted.whole.log_weight(1, score);
        assert!((said - (bent(score) - 1.0)).abs() < 0.4, "{score}: {said}");
    }
}

/// Scores that never err are no certainty: one example in a hundred may yet be the first to do so.
#[test]
fn examples_without_an_error_leave_room_for_one() {
    for (classes, count) in [(3, 150), (20, 400)] {
        let (mut scores, mut labels) = (Vec::new(), Vec::new());
        let mut random = Random::from_seed(11);
        for row in 0..count {
            let label = row % classes;
            let score = |class| if class == label { 1.0 } else { -1.0 };
            scores.extend((0..classes).map(|class| score(class) + 0.1 * random.normal()));
            labels.push(label as u32);
        }
        let held_out = HeldOutClassScores::assume(scores.clone(), classes, labels).unwrap();
        let calibrator = SharedCurve::default().fit(&held_out).unwrap();
        let wrong = scores.chunks_exact(classes).zip(held_out.labels());
        let wrong = wrong.map(|(row, &label)| {
            let said: Vec<f64> = (0..classes)
                .map(|class| calibrator.log_weight(class, row[class]))
                .collect();
            1.0 - (said[label as usize] - log_sum_exp(&said)).exp()
        });
        let errors: f64 = wrong.sum();
        // One of all examples, as targets of 1/(n + 2) say; the spreads that hold parameters take some of it back.
        assert!((0.3..3.0).contains(&errors), "{classes}: {errors}");
    }
}
