use super::*;
use crate::numeric::log_sum_exp;
use std::collections::HashMap;

fn inbox(message_count: usize, seed: u64) -> SimulatedInbox {
    let settings = InboxSettings {
        message_count,
        ..InboxSettings::default()
    };
    SimulatedInbox::new(&settings, seed).unwrap()
}

#[test]
fn equal_seeds_give_equal_inboxes_and_others_do_not() {
    assert_eq!(inbox(50, 3), inbox(50, 3));
    assert_ne!(inbox(50, 3).messages, inbox(50, 4).messages);
    assert_eq!(inbox(50, 3).class_names, inbox(0, 4).class_names);
}

#[test]
fn settings_out_of_range_are_refused_by_name() {
    for (settings, message) in [
        (
            InboxSettings {
                message_count: usize::MAX,
                ..InboxSettings::default()
            },
            "too many",
        ),
        (
            InboxSettings {
                concentration: f64::NAN,
                ..InboxSettings::default()
            },
            "concentration is NaN",
        ),
        (
            InboxSettings {
                median_words: 1e9,
                ..InboxSettings::default()
            },
            "median_words is 1000000000",
        ),
    ] {
        let error = SimulatedInbox::new(&settings, 1).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn extreme_settings_still_give_probabilities() {
    for (concentration, median_words) in [(0.01, 1.0), (0.01, 250.0), (1e9, 250.0)] {
        let settings = InboxSettings {
            message_count: 20,
            concentration,
            median_words,
        };
        for message in SimulatedInbox::new(&settings, 1).unwrap().messages {
            assert!(log_sum_exp(&message.true_log_probabilities).abs() < 1e-9);
            assert!(
                message
                    .true_log_probabilities
                    .iter()
                    .all(|ln_p| ln_p.is_finite())
            );
        }
    }
}

#[test]
fn true_probabilities_cost_on_average_what_they_say_they_cost() {
    // The entropy of the stated probabilities is the expected log loss if they are true.
    let (mut difference, mut square) = (0.0, 0.0);
    let inbox = inbox(6_000, 7);
    for message in &inbox.messages {
        let stated = &message.true_log_probabilities;
        let entropy: f64 = stated.iter().map(|ln_p| -ln_p.exp() * ln_p).sum();
        let gap = -stated[message.label] - entropy;
        difference += gap;
        square += gap * gap;
    }
    let standard_errors = difference / square.sqrt();
    assert!(standard_errors.abs() < 4.0, "{standard_errors}");
}

#[test]
fn true_probabilities_are_calibrated() {
    // Every class of every message, in ten bins of stated probability.
    let (mut expected, mut found, mut variance) = ([0.0; 10], [0.0; 10], [0.0; 10]);
    for message in &inbox(6_000, 8).messages {
        for (class, ln_p) in message.true_log_probabilities.iter().enumerate() {
            let p = ln_p.exp();
            let bin = ((p * 10.0) as usize).min(9);
            expected[bin] += p;
            variance[bin] += p * (1.0 - p);
            found[bin] += f64::from(u8::from(class == message.label));
        }
    }
    let chi_square: f64 = (0..10)
        .map(|bin| (found[bin] - expected[bin]).powi(2) / variance[bin])
        .sum();
    // Ten degrees of freedom: beyond 36 less than once in ten thousand.
    assert!(chi_square < 36.0, "{chi_square}");
}

/// Multinomial naive Bayes with add-one smoothing over whole letters.
fn naive_bayes_log_losses(train: &SimulatedInbox, test: &SimulatedInbox) -> (f64, f64) {
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphabetic())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let classes = train.class_names.len();
    let mut counts: HashMap<String, Vec<f64>> = HashMap::new();
    let mut totals = vec![0.0; classes];
    let mut documents = vec![0.0; classes];
    for message in &train.messages {
        documents[message.label] += 1.0;
        for word in words(&message.text) {
            counts.entry(word).or_insert_with(|| vec![0.0; classes])[message.label] += 1.0;
            totals[message.label] += 1.0;
        }
    }
    let (mut loss, mut right) = (0.0, 0.0);
    for message in &test.messages {
        let mut scores: Vec<f64> = documents.iter().map(|count: &f64| count.ln()).collect();
        for count in words(&message.text)
            .iter()
            .filter_map(|word| counts.get(word))
        {
            for class in 0..classes {
                scores[class] +=
                    ((count[class] + 1.0) / (totals[class] + counts.len() as f64)).ln();
            }
        }
        loss += log_sum_exp(&scores) - scores[message.label];
        let top = (0..classes)
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .unwrap();
        right += f64::from(u8::from(top == message.label));
    }
    let count = test.messages.len() as f64;
    (loss / count, right / count)
}

#[test]
fn naive_bayes_is_nearly_as_often_right_but_far_too_sure() {
    let (train, test) = (inbox(4_000, 1), inbox(2_000, 2));
    let (mut best_loss, mut best_right) = (0.0, 0.0);
    for message in &test.messages {
        let stated = &message.true_log_probabilities;
        best_loss -= stated[message.label];
        best_right += f64::from(u8::from(
            stated.iter().all(|ln_p| *ln_p <= stated[message.label]),
        ));
    }
    let count = test.messages.len() as f64;
    let (best_loss, best_right) = (best_loss / count, best_right / count);
    let (loss, right) = naive_bayes_log_losses(&train, &test);
    let summary = format!(
        "best: loss {best_loss:.3}, right {best_right:.3}; naive Bayes: loss {loss:.3}, right {right:.3}"
    );
    assert!((0.85..0.92).contains(&best_right), "{summary}");
    assert!(loss > 3.0 * best_loss, "{summary}");
    assert!(right > best_right - 0.12, "{summary}");
}
