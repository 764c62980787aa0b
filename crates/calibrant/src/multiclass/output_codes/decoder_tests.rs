use super::*;
use crate::multiclass::{CodeDesign, ColumnWeights};
use proptest::prelude::*;

fn decoder(design: CodeDesign, classes: usize, settings: CodeSettings, weights: &[f64]) -> Decoder {
    let code = design.build(classes, None, 3).unwrap();
    let length = code.length();
    let curve = PlattCalibrator {
        slope: 1.5,
        intercept: -0.2,
    };
    let curves = vec![curve; if settings.needs_curves() { length } else { 0 }];
    let weights = (0..length).map(|t| weights[t % weights.len()]).collect();
    Decoder::new(code, settings, weights, curves).unwrap()
}

fn scores_of(decoder: &Decoder, binary: &[f64]) -> Vec<f64> {
    let mut scores = vec![0.0; decoder.code().class_count()];
    decoder.scores_into(binary, &mut DecodeBuffers::default(), &mut scores);
    scores
}

/// Distances as the formula has them, column by column.
fn distances_by_hand(decoder: &Decoder, binary: &[f64]) -> Vec<f64> {
    let (code, weights) = (decoder.code(), decoder.weights());
    let answers: Vec<f64> = (0..binary.len())
        .map(|t| decoder.answer(t, binary[t]))
        .collect();
    (0..code.class_count())
        .map(|c| {
            let (mut sum, mut taken) = (0.0, 0.0);
            for t in (0..code.length()).filter(|&t| code.at(c, t) != 0) {
                sum += weights[t] * (1.0 - f64::from(code.at(c, t)) * answers[t]) / 2.0;
                taken += weights[t];
            }
            sum / taken
        })
        .collect()
}

#[test] // Three classes, each against the rest, equal weights, answers as they are.
fn margins_by_hand() {
    let settings = CodeSettings {
        output: BinaryOutput::Clip,
        ..CodeSettings::default()
    };
    let decoder = decoder(CodeDesign::OneVsAll, 3, settings, &[1.0]);
    // D(0) = (½ + 1 + ½·... ) / 3 for answers (0, -1, 1): |0-1|/2, |-1+1|/2, |1+1|/2 = ½ + 0 + 1.
    let scores = scores_of(&decoder, &[0.0, -7.0, 1.0]);
    let expected = [(0.5 - 1.5) / 3.0, (0.5 - 2.5) / 3.0, (1.5 - 0.5) / 3.0];
    for (found, expected) in scores.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-12, "{scores:?}");
    }
}

#[test]
fn answers_that_agree_with_a_code_word_are_read_as_it_by_least_squares() {
    let settings = CodeSettings {
        decode: Decode::LeastSquares,
        ..CodeSettings::default()
    };
    let decoder = decoder(CodeDesign::RandomDense, 12, settings, &[1.0]);
    for class in 0..12 {
        let word = decoder.code().row(class);
        let binary: Vec<f64> = word.iter().map(|&side| 60.0 * f64::from(side)).collect();
        let scores = scores_of(&decoder, &binary);
        for (other, score) in scores.iter().enumerate() {
            assert_eq!(*score > 10.0, other == class, "{scores:?}");
            assert!(score.abs() < 14.0);
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let code = CodeDesign::OneVsAll.build(3, None, 0).unwrap();
    let settings = CodeSettings {
        output: BinaryOutput::Sign,
        ..CodeSettings::default()
    };
    let curve = PlattCalibrator {
        slope: 1.0,
        intercept: 0.0,
    };
    let new = |settings, weights: &[f64], curves: Vec<PlattCalibrator>| {
        Decoder::new(code.clone(), settings, weights.to_vec(), curves)
    };
    assert!(new(settings, &[1.0; 3], vec![]).is_some());
    assert!(new(settings, &[1.0; 2], vec![]).is_none());
    assert!(new(settings, &[1.0, 0.0, 1.0], vec![]).is_none());
    assert!(new(settings, &[1.0, f64::NAN, 1.0], vec![]).is_none());
    assert!(new(settings, &[1.0; 3], vec![curve; 3]).is_none());
    let probability = CodeSettings::default();
    assert!(new(probability, &[1.0; 3], vec![]).is_none());
    assert!(new(probability, &[1.0; 3], vec![curve; 3]).is_some());
    let endless = PlattCalibrator {
        slope: f64::INFINITY,
        intercept: 0.0,
    };
    assert!(new(probability, &[1.0; 3], vec![endless; 3]).is_none());
    let pairs = CodeDesign::AllPairs.build(3, None, 0).unwrap();
    let least_squares = CodeSettings {
        decode: Decode::LeastSquares,
        ..CodeSettings::default()
    };
    assert!(Decoder::new(pairs, least_squares, vec![1.0; 3], vec![curve; 3]).is_none());
    assert!(
        CodeSettings {
            design: CodeDesign::AllPairs,
            ..least_squares
        }
        .check()
        .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn margins_are_those_of_the_distances_and_the_decision_is_the_nearest_word(
        design in prop::sample::select(CodeDesign::ALL.to_vec()),
        output in prop::sample::select(BinaryOutput::ALL.to_vec()),
        classes in 3usize..9,
        seed in prop::collection::vec(-3.0f64..3.0, 256),
        weights in prop::collection::vec(0.01f64..2.0, 1..7),
    ) {
        let settings = CodeSettings { design, output, weights: ColumnWeights::Accuracy, ..CodeSettings::default() };
        let decoder = decoder(design, classes, settings, &weights);
        let binary = &seed[..decoder.code().length()];
        let scores = scores_of(&decoder, binary);
        let distances = distances_by_hand(&decoder, binary);
        for (class, &score) in scores.iter().enumerate() {
            prop_assert!((-1e-12..=1.0 + 1e-12).contains(&distances[class]));
            let others = (0..classes).filter(|&other| other != class).map(|other| distances[other]);
            let margin = others.fold(f64::INFINITY, f64::min) - distances[class];
            prop_assert!((score - margin).abs() < 1e-12);
        }
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let top = (0..classes).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
        prop_assert!(distances[top] <= nearest + 1e-12 && scores[top] >= 0.0);
    }

    #[test]
    fn slopes_tell_how_the_score_changes(
        decode in prop::sample::select(Decode::ALL.to_vec()),
        output in prop::sample::select(vec![BinaryOutput::Tanh, BinaryOutput::Probability]),
        from in prop::collection::vec(-0.5f64..0.5, 15),
        to in prop::collection::vec(-2.0f64..2.0, 15),
        class in 0usize..5,
    ) {
        let settings = CodeSettings { design: CodeDesign::Exhaustive, decode, output, ..CodeSettings::default() };
        let decoder = decoder(CodeDesign::Exhaustive, 5, settings, &[1.0]);
        let slopes = decoder.slopes(class, &from, &to);
        prop_assert!(slopes.iter().all(|slope| slope.is_finite()));
        // From the place itself there is no way to go, and every slope is the derivative.
        let here = decoder.slopes(class, &to, &to);
        let (h, score) = (1e-6, scores_of(&decoder, &to)[class]);
        prop_assume!(score.abs() < 5.0);
        for t in [0, 7, 14] {
            let mut moved = to.clone();
            moved[t] += h;
            let change = (scores_of(&decoder, &moved)[class] - score) / h;
            let back = { let mut moved = to.clone(); moved[t] -= h; (score - scores_of(&decoder, &moved)[class]) / h };
            // Not where another class comes nearest, or an unknown leaves zero.
            if (change - back).abs() < 1e-5 {
                prop_assert!((here[t] - change).abs() < 1e-3 * (1.0 + change.abs()), "{} {}", here[t], change);
            }
        }
    }
}
