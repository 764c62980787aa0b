//! Small fits for tests.

use super::*;
use crate::numeric::{Random, sigmoid};

pub(crate) fn settings(classes: &[&str], scores: &[&str]) -> ScoreSettings {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    ScoreSettings {
        classes: owned(classes),
        fields: ScoreFields {
            scores: owned(scores),
            label: Some("label".into()),
            weight: None,
            fold_labels: false,
        },
        score_is: ScoreIs::Auto,
        method: CalibratorKind::Auto,
        multiclass: MulticlassKind::Auto,
        rules: ChoiceRules::default(),
    }
}

/// Scores around zero whose true log-odds are twice the score.
pub(crate) fn one_score_table(count: usize, seed: u64) -> ScoreTable {
    let mut random = Random::from_seed(seed);
    let scores: Vec<f64> = (0..count).map(|_| random.normal()).collect();
    let labels = scores
        .iter()
        .map(|score| u32::from(random.uniform() < sigmoid(2.0 * score)))
        .collect();
    ScoreTable {
        scores,
        labels,
        weights: vec![1.0; count],
    }
}

pub(crate) fn one_score_fit() -> ScoreFit {
    let settings = ScoreSettings {
        method: CalibratorKind::Platt,
        ..settings(&["no", "yes"], &["s"])
    };
    ScoreCalibrator::fit(one_score_table(60, 1), &settings).unwrap()
}

/// Three classes, eight examples each, by temperature.
pub(crate) fn class_fit() -> ScoreFit {
    let mut random = Random::from_seed(2);
    let labels: Vec<u32> = (0..24).map(|row| row % 3).collect();
    let scores = labels
        .iter()
        .flat_map(|&label| {
            [0, 1, 2].map(|class| random.normal() + if class == label { 1.5 } else { 0.0 })
        })
        .collect();
    let table = ScoreTable {
        scores,
        labels,
        weights: vec![1.0; 24],
    };
    let settings = ScoreSettings {
        multiclass: MulticlassKind::Temperature,
        ..settings(&["a", "b", "c"], &["fa", "fb", "fc"])
    };
    ScoreCalibrator::fit(table, &settings).unwrap()
}
