//! Every settings value of a job is plain data: it comes back from JSON, what is left out is the default, and what it does
//! not know is refused.

use std::fmt::Debug;

use calibrant::corpus::{Filter, Format, LabelNeed, ReadOptions};
use calibrant::decision::{AdaptPrior, AskBudget, CostAmount, CostEntry, OtherRule, PriorChoice};
use calibrant::evaluation::{BootstrapSettings, CompareSettings};
use calibrant::jobs::rankings::{OutlookSettings, RankEvaluateSettings, RankPredictSettings};
use calibrant::jobs::{
    CalibrateSettings, ClassField, EvaluateSettings, ForecastSettings, PredictSettings,
    SystemSettings,
};
use calibrant::pipeline::{CombineSettings, Contender, FitSettings, SearchSettings};
use calibrant::text::WordRules;
use calibrant::{CalibratorKind, RankSettings, Task};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[track_caller]
fn check<S: Debug + Default + PartialEq + Serialize + DeserializeOwned>(other: S) {
    let empty: S = serde_json::from_str("{}").unwrap();
    assert_eq!(empty, S::default(), "what an empty object gives");
    for settings in [S::default(), other] {
        let written = serde_json::to_string(&settings).unwrap();
        let back: S = serde_json::from_str(&written).unwrap();
        assert_eq!(back, settings, "{written}");
    }
    let unknown = serde_json::from_str::<S>(r#"{"no_such_setting":1}"#);
    assert!(unknown.is_err(), "a key that nobody knows was taken");
}

fn reading() -> ReadOptions {
    ReadOptions {
        filters: vec![Filter {
            field: "split".into(),
            value: "train".into(),
            negated: true,
        }],
        format: Some(Format::JsonLines),
        labels_required: LabelNeed::IfPresent,
        max_row_bytes: 1000,
        ..ReadOptions::default()
    }
}

#[test]
fn settings_of_fits_come_back_from_json() {
    check(FitSettings::default());
    // What an analyzer does not say is today's default, and rules of before are written down.
    let short: FitSettings = serde_json::from_str(r#"{"analyzer":{"lowercase":true}}"#).unwrap();
    assert_eq!(short, FitSettings::default());
    let mut before = FitSettings::default();
    before.analyzer.words = WordRules::before();
    check(before);
    check(SearchSettings {
        learners: Contender::usual().into_iter().take(2).collect(),
        time_budget: std::time::Duration::from_millis(1500),
        l2_norm: Some(true),
        ..SearchSettings::default()
    });
    check(CombineSettings { folds: 3, seed: 9 });
    check(CalibrateSettings {
        scores: vec![ClassField {
            class: "spam".into(),
            field: "score".into(),
        }],
        positive: Some("spam".into()),
        method: CalibratorKind::Platt,
        ..CalibrateSettings::default()
    });
}

#[test]
fn settings_of_answers_and_measures_come_back_from_json() {
    check(reading());
    check(PredictSettings {
        scores: true,
        costs: vec![
            CostEntry::new("*", "ask", 2.0),
            CostEntry::new(
                "fraud",
                "fine",
                "0.5*@amount".parse::<CostAmount>().unwrap(),
            ),
        ],
        ask: Some(AskBudget::Share(0.05)),
        ..PredictSettings::default()
    });
    check(EvaluateSettings {
        classes: vec!["a".into()],
        prior: PriorChoice::Estimated(AdaptPrior::Tested),
        other: Some(OtherRule::Loss(0.05)),
        costs: vec![CostEntry::new("ham", "spam", 20.0)],
        bootstrap: Some(0),
        shown_scores: 4,
        worst_mistakes: 3,
    });
    check(EvaluateSettings {
        prior: PriorChoice::Given(vec![("a".into(), 0.25)]),
        ..EvaluateSettings::default()
    });
    check(SystemSettings {
        task: Some(Task::MultiLabel),
        positive: Some("yes".into()),
        ..SystemSettings::default()
    });
    check(ForecastSettings {
        outputs: vec![0, 2],
        thresholds: Some(vec![0.5]),
        worst: 3,
    });
    check(CompareSettings {
        level: 0.05,
        ..CompareSettings::default()
    });
    check(BootstrapSettings {
        replicates: Some(10),
        seed: 3,
    });
}

#[test]
fn settings_of_rankings_come_back_from_json() {
    check(RankSettings::default());
    check(RankPredictSettings::default());
    check(RankEvaluateSettings::default());
    check(OutlookSettings::default());
}

#[cfg(feature = "index")]
#[test]
fn settings_of_an_index_come_back_from_json() {
    use calibrant::index::{DetailSettings, DocumentFormat, DocumentOptions, IndexSettings};
    use calibrant::jobs::search::{RunSettings, SearchSettings};
    check(IndexSettings::default());
    check(DetailSettings::default());
    check(SearchSettings::default());
    check(RunSettings::default());
    check(DocumentOptions {
        format: Some(DocumentFormat::Trec),
        ..DocumentOptions::default()
    });
    check(DocumentOptions {
        format: Some(DocumentFormat::Corpus(Format::JsonLines)),
        reading: reading(),
        title: Some("headline".into()),
        numbered: true,
    });
}
