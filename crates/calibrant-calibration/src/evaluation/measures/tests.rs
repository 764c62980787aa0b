use super::super::BootstrapSettings;
use super::*;
use crate::Probability;
use crate::decision::DecisionCosts;
use proptest::prelude::*;

fn at(p: f64) -> Probability {
    Probability::from_log_odds((p / (1.0 - p)).ln())
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|class| format!("class {class}")).collect()
}

fn forecasts(task: Task, table: &[&[f64]], labels: &[&[u32]]) -> Forecasts {
    Forecasts {
        task,
        class_names: names(table[0].len()),
        probabilities: table
            .iter()
            .flat_map(|row| row.iter().map(|&p| at(p)))
            .collect(),
        labels: labels.iter().map(|labels| labels.to_vec()).collect(),
        weights: None,
    }
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-12,
        "{found} instead of {expected}"
    );
}

#[test]
fn single_label_measures_agree_with_the_hand() {
    let mut forecasts = forecasts(
        Task::SingleLabel,
        &[
            &[0.5, 0.3, 0.2],
            &[0.2, 0.2, 0.6],
            &[0.1, 0.45, 0.45],
            &[0.7, 0.2, 0.1],
        ],
        &[&[0], &[2], &[2], &[1]],
    );
    let found = evaluate(&forecasts).unwrap();
    assert_eq!((found.documents, found.decisions, found.errors), (4, 4, 2)); // the tie goes to class 1
    assert_eq!(found.accuracy, Some(0.5));
    close(found.micro_f1, 0.5);
    // Class 0: 1 hit, 2 predicted, 1 positive; class 1: no hit; class 2: 1 hit, 1 predicted, 2 positive.
    close(found.macro_f1, (2.0 / 3.0 + 0.0 + 2.0 / 3.0) / 3.0);
    close(
        found.log_loss,
        -(0.5f64.ln() + 0.6f64.ln() + 0.45f64.ln() + 0.2f64.ln()) / 4.0,
    );
    close(found.brier, (0.38 + 0.24 + 0.515 + 1.14) / 4.0);
    let class = &found.classes[0];
    assert_eq!((class.positives, class.predicted), (1, 2));
    assert_eq!((class.precision, class.recall), (Some(0.5), Some(1.0)));
    close(class.brier, (0.25 + 0.04 + 0.01 + 0.49) / 4.0);
    close(
        class.log_loss,
        -(0.5f64.ln() + 0.8f64.ln() + 0.9f64.ln() + 0.3f64.ln()) / 4.0,
    );
    // Four bins of one document each: |1-.45| is not there, the tie's top 0.45 was wrong.
    close(found.ece, (0.45 + 0.5 + 0.4 + 0.7) / 4.0);

    // The last document alone.
    forecasts.weights = Some(vec![0.0, 0.0, 0.0, 3.0]);
    let found = evaluate(&forecasts).unwrap();
    assert_eq!(
        (found.documents, found.accuracy, found.classes_present),
        (1, Some(0.0), 1)
    );
    close(found.log_loss, -0.2f64.ln());
    close(found.macro_f1_present, 0.0);
}

#[test]
fn two_classes_halve_the_brier_score() {
    let found = evaluate(&forecasts(
        Task::SingleLabel,
        &[&[0.9, 0.1], &[0.4, 0.6]],
        &[&[0], &[0]],
    ))
    .unwrap();
    close(found.brier, (0.01 + 0.36) / 2.0);
}

#[test]
fn multi_label_measures_agree_with_the_hand() {
    let forecasts = forecasts(
        Task::MultiLabel,
        &[&[0.9, 0.2, 0.1, 0.3], &[0.6, 0.5, 0.8, 0.1]],
        &[&[0, 1, 1], &[0]],
    );
    let found = evaluate(&forecasts).unwrap();
    assert_eq!(
        (
            found.documents,
            found.decisions,
            found.errors,
            found.accuracy
        ),
        (2, 8, 2, None)
    );
    // Hits 2, predicted 3 (exactly one half is "no"), positives 3; class 3 has neither.
    close(found.micro_f1, 4.0 / 6.0);
    close(found.macro_f1, (1.0 + 0.0 + 0.0) / 3.0);
    close(found.micro_f1_present, 4.0 / 5.0);
    close(found.macro_f1_present, 0.5);
    assert_eq!(found.classes_present, 2);
    let product = 0.9f64 * 0.2 * 0.9 * 0.7 * 0.6 * 0.5 * 0.2 * 0.9;
    close(found.log_loss, -product.ln() / 8.0);
    close(
        found.brier,
        (0.01 + 0.64 + 0.01 + 0.09 + 0.16 + 0.25 + 0.64 + 0.01) / 8.0,
    );
}

#[test]
fn the_json_names_are_the_promised_ones() {
    let found = evaluate(&forecasts(Task::MultiLabel, &[&[0.9]], &[&[0]])).unwrap();
    let json = serde_json::to_value(&found).unwrap();
    let mut keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    let mut expected = vec![
        "task",
        "documents",
        "decisions",
        "micro_f1",
        "macro_f1",
        "micro_f1_present",
        "macro_f1_present",
        "classes_present",
        "log_loss",
        "log_loss_over",
        "brier",
        "brier_definition",
        "ece",
        "ece_bins",
        "ece_of_perfect",
        "errors",
        "classes",
        "micro_precision",
        "micro_recall",
        "macro_precision",
        "macro_recall",
        "log_loss_bits",
        "log_loss_sum",
        "brier_sum",
        "error_likelihood",
        "macro_auc",
        "macro_average_precision",
        "classwise_ece",
        "calibration",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    assert_eq!(json["log_loss_over"], "decisions");
    assert_eq!(json["task"], "multi_label");
    let back: Evaluation = serde_json::from_value(json).unwrap();
    assert_eq!(back, found);
}

#[test]
fn an_evaluation_of_before_can_still_be_read() {
    let found = evaluate(&forecasts(Task::MultiLabel, &[&[0.9]], &[&[0]])).unwrap();
    let mut json = serde_json::to_value(&found).unwrap();
    let fields = json.as_object_mut().unwrap();
    fields.remove("calibration");
    fields.remove("micro_precision");
    let back: Evaluation = serde_json::from_value(json).unwrap();
    assert_eq!((back.further, back.log_loss), (None, found.log_loss));
}

#[test] // By hand, on four documents of three classes; two decisions for class 0, one right.
fn what_single_labels_add_agrees_with_the_hand() {
    let forecasts = forecasts(
        Task::SingleLabel,
        &[
            &[0.5, 0.3, 0.2],
            &[0.2, 0.2, 0.6],
            &[0.1, 0.45, 0.45],
            &[0.7, 0.2, 0.1],
        ],
        &[&[0], &[2], &[2], &[1]],
    );
    let options = EvaluationOptions {
        costs: Some(DecisionCosts::zero_one(
            Task::SingleLabel,
            forecasts.class_names.iter().map(String::as_str),
        )),
        bootstrap: Some(BootstrapSettings::default()),
        ..EvaluationOptions::default()
    };
    let found = evaluate_with(&forecasts, &options).unwrap();
    close(found.micro_precision, 0.5);
    close(found.macro_precision, (0.5 + 0.0 + 1.0) / 3.0);
    close(found.macro_recall, (1.0 + 0.0 + 0.5) / 3.0);
    close(found.log_loss_sum, found.log_loss * 4.0);
    close(found.log_loss_bits, found.log_loss / 2f64.ln());
    let further = found.further.unwrap();
    let confusion = further.confusion.unwrap();
    assert_eq!(confusion.cells.len(), 4);
    assert_eq!((confusion.weight(2, 1), confusion.weight(0, 0)), (1.0, 1.0));
    assert_eq!(confusion.weight(1, 2), 0.0);
    assert_eq!(confusion.confusions().len(), 2);
    close(further.error_likelihood.expected, 0.5 + 0.4 + 0.55 + 0.3);
    // Class 0 against the rest: the positive has 0.5, below 0.7; class 1: 0.2 ties one, is below two;
    // class 2: 0.6 and 0.45 are above 0.2 and 0.1.
    close(
        further.macro_auc.unwrap(),
        (2.0 / 3.0 + 0.5 / 3.0 + 1.0) / 3.0,
    );
    // Decision 0: 0.5 right and 0.7 wrong; decision 1: 0.45 wrong; decision 2: 0.6 right.
    close(
        further.top_label_ece.unwrap().value,
        (0.5 + 0.7 + 0.45 + 0.4) / 4.0,
    );
    close(further.costs.unwrap().mean_cost, 0.5);
    assert_eq!(further.bootstrap.unwrap().replicates, 1_000);
    assert!(further.calibration_of_second.is_none());
    close(
        further.classwise_ece.value,
        found.classes.iter().map(|c| c.ece.unwrap()).sum::<f64>() / 3.0,
    );
}

#[test]
fn with_two_classes_the_second_is_measured_by_itself() {
    let found = evaluate(&forecasts(
        Task::SingleLabel,
        &[&[0.9, 0.1], &[0.4, 0.6]],
        &[&[0], &[0]],
    ))
    .unwrap();
    let second = found.further.unwrap().calibration_of_second.unwrap();
    close(second.losses.log_loss, found.log_loss);
    close(second.losses.brier, found.brier);
    assert_eq!(second.positive_share, 0.0);
}

#[test]
fn certain_and_wrong_costs_much_but_stays_finite() {
    let sure = Probability::from_log_odds(f64::INFINITY);
    let forecasts = Forecasts {
        task: Task::SingleLabel,
        class_names: names(2),
        probabilities: vec![sure, sure.complement()],
        labels: [vec![1]].into(),
        weights: Some(vec![f64::MAX]),
    };
    let found = evaluate(&forecasts).unwrap();
    close(found.log_loss, Probability::MAX_LOG_ODDS);
    close(found.brier, 1.0);
}

#[test]
fn perfect_forecasts_score_perfectly() {
    let (yes, no) = (
        Probability::from_log_odds(900.0),
        Probability::from_log_odds(-900.0),
    );
    let forecasts = Forecasts {
        task: Task::MultiLabel,
        class_names: names(2),
        probabilities: vec![yes, no, no, no, yes, yes],
        labels: [vec![0], vec![], vec![1, 0]].into(),
        weights: None,
    };
    let found = evaluate(&forecasts).unwrap();
    assert_eq!(
        (found.errors, found.micro_f1, found.macro_f1),
        (0, 1.0, 1.0)
    );
    assert!(found.log_loss < 1e-300 && found.brier < 1e-15 && found.ece < 1e-15);
    assert!(found.ece_of_perfect < 1e-15);
}

#[test] // 124 errors were "0.0 by weight" where weights were all small.
fn sums_by_weight_are_in_documents() {
    let p = |value: f64| Probability::from_log_odds((value / (1.0 - value)).ln());
    let with = |scale: f64| {
        let forecasts = Forecasts {
            task: Task::SingleLabel,
            class_names: names(2),
            probabilities: [0.9, 0.8, 0.7, 0.6].map(|v| [p(v), p(1.0 - v)]).concat(),
            labels: vec![vec![0], vec![1], vec![0], vec![1]].into(),
            weights: Some([1.0, 2.0, 3.0, 2.0].map(|w| w * scale).to_vec()),
        };
        evaluate(&forecasts).unwrap()
    };
    for scale in [1e-4, 1.0, 1e6] {
        let found = with(scale);
        let errors = found.further.as_ref().unwrap().error_likelihood;
        assert_eq!(found.errors, 2);
        // By hand: the mean weight is 2, so that the weights are 1/2, 1, 3/2 and 1.
        close(errors.observed, 2.0);
        close(errors.expected, 0.05 + 0.2 + 0.45 + 0.4);
        close(found.log_loss_sum, found.log_loss * 4.0);
        let confusion = found.further.unwrap().confusion.unwrap();
        close(confusion.weight(1, 0), 2.0);
    }
}

#[test]
fn losses_of_yes_or_no_have_names_of_their_own() {
    let p = Probability::from_log_odds(1.0);
    let forecasts = Forecasts {
        task: Task::SingleLabel,
        class_names: names(2),
        probabilities: vec![p, p.complement(), p.complement(), p],
        labels: vec![vec![1], vec![1]].into(),
        weights: None,
    };
    let found = evaluate(&forecasts).unwrap();
    let written = serde_json::to_value(&found).unwrap();
    // The first choice is right, then wrong: by hand softplus(-1) and softplus(1), of which the document's loss is as much.
    let of_first_choice = &written["calibration"];
    for name in ["log_loss", "brier", "errors", "auc", "average_precision"] {
        assert!(of_first_choice.get(name).is_none(), "{name}");
    }
    let losses = &of_first_choice["yes_no"];
    let by_hand = 0.5 * ((-1f64).exp().ln_1p() + 1f64.exp().ln_1p());
    assert!((losses["log_loss"].as_f64().unwrap() - by_hand).abs() < 1e-12);
    assert_eq!(losses["errors"], 1);
    assert_eq!(losses["auc"], serde_json::Value::Null);
    assert!(of_first_choice["yes_no_auc"].is_number());
    let read: Evaluation = serde_json::from_value(written).unwrap();
    assert_eq!(read, found);
}

/// Random forecasts: log-odds, labels and whole weights for up to 12 documents.
fn any_forecasts() -> impl Strategy<Value = Forecasts> {
    (2usize..5, 1usize..13, any::<bool>()).prop_flat_map(|(classes, documents, single)| {
        let scores = proptest::collection::vec(-6i32..7, classes * documents);
        let labels = proptest::collection::vec(
            proptest::collection::vec(0..classes as u32, if single { 1..2 } else { 0..3 }),
            documents,
        );
        let weights = proptest::collection::vec(1u8..4, documents);
        (scores, labels, weights).prop_map(move |(scores, labels, weights)| {
            let mut probabilities = Vec::new();
            for row in scores.chunks(classes) {
                let row: Vec<f64> = row.iter().map(|&score| f64::from(score) * 0.7).collect();
                for class in 0..classes {
                    let rest: Vec<f64> = (0..classes)
                        .filter(|&other| other != class)
                        .map(|other| row[other])
                        .collect();
                    let log_odds = if single {
                        row[class] - crate::numeric::log_sum_exp(&rest)
                    } else {
                        row[class]
                    };
                    probabilities.push(Probability::from_log_odds(log_odds));
                }
            }
            Forecasts {
                task: if single {
                    Task::SingleLabel
                } else {
                    Task::MultiLabel
                },
                class_names: names(classes),
                probabilities,
                labels: labels.into(),
                weights: Some(weights.into_iter().map(f64::from).collect()),
            }
        })
    })
}

/// The documents in the given order, with repetition.
fn select(forecasts: &Forecasts, documents: &[usize]) -> Forecasts {
    let classes = forecasts.class_names.len();
    Forecasts {
        task: forecasts.task,
        class_names: forecasts.class_names.clone(),
        probabilities: documents
            .iter()
            .flat_map(|d| forecasts.probabilities[d * classes..(d + 1) * classes].to_vec())
            .collect(),
        labels: documents.iter().map(|&d| &forecasts.labels[d]).collect(),
        weights: forecasts
            .weights
            .as_ref()
            .map(|w| documents.iter().map(|&d| w[d]).collect()),
    }
}

/// Every number that uses weights, except the simulated one.
fn weighted_numbers(found: &Evaluation) -> Vec<f64> {
    let further = found.further.as_ref().unwrap();
    // Sums are in documents, of which there may be several instead of one with more weight.
    let documents = found.documents as f64;
    let mut numbers = vec![
        found.micro_precision,
        found.micro_recall,
        found.macro_precision,
        found.macro_recall,
        found.log_loss_sum / documents,
        found.brier_sum / documents,
        further.macro_auc.unwrap_or(-1.0),
        further.macro_average_precision.unwrap_or(-1.0),
        further.classwise_ece.value,
        further.top_label_ece.map_or(-1.0, |ece| ece.value),
        further.error_likelihood.observed / documents,
        further.error_likelihood.expected / documents,
        further.error_likelihood.ln_likelihood / documents,
        found.accuracy.unwrap_or(0.0),
        found.micro_f1,
        found.macro_f1,
        found.micro_f1_present,
        found.macro_f1_present,
        found.log_loss,
        found.brier,
        found.ece,
    ];
    for class in &found.classes {
        numbers.extend([
            class.precision.unwrap_or(0.0),
            class.recall.unwrap_or(0.0),
            class.f1.unwrap_or(0.0),
            class.log_loss,
            class.brier,
        ]);
    }
    numbers
}

#[track_caller]
fn same_numbers(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (index, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(
            (x - y).abs() < 1e-12 * (1.0 + x.abs()),
            "number {index}: {x} and {y}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn the_order_of_documents_does_not_matter(forecasts in any_forecasts(), seed in any::<u64>()) {
        let mut order: Vec<usize> = (0..forecasts.labels.len()).collect();
        crate::numeric::Random::from_seed(seed).shuffle(&mut order);
        let (a, b) = (evaluate(&forecasts).unwrap(), evaluate(&select(&forecasts, &order)).unwrap());
        same_numbers(&weighted_numbers(&a), &weighted_numbers(&b));
        prop_assert!((a.ece_of_perfect - b.ece_of_perfect).abs() < 1e-12);
        let (x, y) = (a.further.unwrap(), b.further.unwrap());
        prop_assert_eq!(x.calibration, y.calibration);
        prop_assert!((x.classwise_ece.value - y.classwise_ece.value).abs() < 1e-12);
        prop_assert_eq!(a.errors, b.errors);
    }

    #[test]
    fn a_weight_of_two_is_a_document_seen_twice(forecasts in any_forecasts()) {
        let mut repeated = Vec::new();
        for (document, &weight) in forecasts.weights.as_ref().unwrap().iter().enumerate() {
            repeated.extend(std::iter::repeat_n(document, weight as usize));
        }
        let mut repeated = select(&forecasts, &repeated);
        repeated.weights = None;
        let (a, b) = (evaluate(&forecasts).unwrap(), evaluate(&repeated).unwrap());
        same_numbers(&weighted_numbers(&a), &weighted_numbers(&b));
    }

    #[test]
    fn measures_stay_in_their_ranges(forecasts in any_forecasts()) {
        let found = evaluate(&forecasts).unwrap();
        prop_assert!(found.log_loss >= 0.0 && found.log_loss.is_finite());
        for share in [found.micro_f1, found.macro_f1, found.ece, found.ece_of_perfect, found.brier / 2.0] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        if let Some(accuracy) = found.accuracy {
            prop_assert!((accuracy - found.micro_f1).abs() < 1e-12); // equal for one label each
        }
        let positives: usize = found.classes.iter().map(|class| class.positives).sum();
        prop_assert!(positives <= forecasts.labels.iter().map(<[u32]>::len).sum());
    }
}
