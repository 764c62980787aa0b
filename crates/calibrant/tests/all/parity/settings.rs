//! The program's words as settings of the library, which have the same words in JSON but for dashes.

use std::error::Error;
use std::time::Duration;

use calibrant::corpus::{Fields, LabelNeed, ReadOptions};
use calibrant::jobs::PredictSettings;
use calibrant::pipeline::{Classifier, Contender, FitSettings, SearchSettings};
use calibrant::rules::RuleSet;
use calibrant::text::Analyzer;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::common::parity::folder;

pub(crate) type Settings = Map<String, Value>;
type Found<T> = Result<T, Box<dyn Error>>;

/// As settings spell it.
fn word(value: &Value) -> Value {
    match value {
        Value::String(text) => text.replace('-', "_").into(),
        other => other.clone(),
    }
}

pub(crate) fn text<'a>(settings: &'a Settings, name: &str) -> Option<&'a str> {
    settings.get(name).and_then(Value::as_str)
}

/// The parts of a list that stands in one text.
pub(crate) fn list(settings: &Settings, name: &str) -> Vec<String> {
    let parts = text(settings, name)
        .into_iter()
        .flat_map(|all| all.split(','));
    parts.map(str::to_owned).collect()
}

/// `N`, or `MIN-MAX`; a single number stands for `least` (or itself) to N.
fn range(value: &Value, least: Option<usize>) -> Value {
    let text = value.as_str().expect("n-grams are a text");
    let number = |part: &str| part.parse::<usize>().expect("a number");
    match text.split_once('-') {
        Some((min, max)) => json!({"min": number(min), "max": number(max)}),
        None => json!({"min": least.unwrap_or(number(text)), "max": number(text)}),
    }
}

/// `CLASS=NUMBER,…`
fn shares(text: &str) -> Vec<(String, f64)> {
    let pair = |part: &str| {
        let (class, number) = part.rsplit_once('=').expect("CLASS=NUMBER");
        (class.to_owned(), number.parse().expect("a number"))
    };
    text.split(',').map(pair).collect()
}

/// One text or several, where there are any.
pub(crate) fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        None => Vec::new(),
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(all)) => {
            let texts = all.iter().map(|one| one.as_str().expect("a text"));
            texts.map(str::to_owned).collect()
        }
        Some(other) => panic!("{other} is neither a text nor several"),
    }
}

/// A number, where it is given.
pub(crate) fn number<T: DeserializeOwned>(settings: &Settings, name: &str) -> Found<Option<T>> {
    settings.get(name).cloned().map(typed).transpose()
}

/// Checked by the types that it is read into.
pub(crate) fn typed<T: DeserializeOwned>(value: Value) -> Found<T> {
    Ok(serde_json::from_value(value)?)
}

/// What learns, with those of the settings that belong to it.
fn classifier(settings: &Settings) -> Found<Classifier> {
    let name = text(settings, "classifier").unwrap_or("svm");
    let bayes = |kind: &str| {
        let smoothing = match settings.get("word-prior") {
            Some(strength) => json!({"kind": "corpus_prior", "strength": strength}),
            None => {
                json!({"kind": "laplace", "alpha": settings.get("alpha").unwrap_or(&json!(1.0))})
            }
        };
        json!({"learner": "naive_bayes", "kind": kind, "smoothing": smoothing})
    };
    let (mut learner, own): (Value, &[(&str, &str)]) = match name {
        "svm" => (
            json!({"learner": "linear_svm"}),
            &[
                ("c", "c"),
                ("loss", "loss"),
                ("log-count-ratio", "log_count_ratio"),
            ],
        ),
        "logistic" => (json!({"learner": "logistic_regression"}), &[("c", "c")]),
        "naive-bayes" => (bayes("multinomial"), &[]),
        "bernoulli-naive-bayes" => (bayes("bernoulli"), &[]),
        "complement-naive-bayes" => (bayes("complement"), &[]),
        "rocchio" => (
            json!({"learner": "rocchio", "nearness": "cosine"}),
            &[("nearness", "nearness")],
        ),
        "adaboost" => (
            json!({"learner": "adaboost"}),
            &[("boosting", "kind"), ("rounds", "rounds")],
        ),
        "knn" => (
            json!({"learner": "nearest_neighbours"}),
            &[("vote", "vote")],
        ),
        "perceptron" => (
            json!({"learner": "perceptron"}),
            &[("epochs", "epochs"), ("voted", "voted")],
        ),
        other => (json!({"learner": other}), &[]),
    };
    for (name, key) in own {
        if let Some(value) = settings.get(*name) {
            learner[key] = word(value);
        }
    }
    if let Some(gap) = settings.get("tolerance") {
        learner["limits"] = json!({"relative_gap": gap, "max_passes": 1000});
    }
    if let Some(count) = settings.get("neighbours") {
        learner["k"] = json!({"fixed": count});
    }
    if settings.contains_key("approximate") {
        learner["approximate"] = json!({"share": 0.05, "candidates": 5});
    }
    typed(learner)
}

/// What a search tries.
pub(crate) fn of_search(settings: &Settings) -> Found<SearchSettings> {
    let mut plan = SearchSettings::default();
    if let Some(seconds) = number(settings, "time-budget")? {
        plan.time_budget = Duration::from_secs(seconds);
    }
    let learner = classifier(settings)?;
    if settings.contains_key("classifier") {
        let tuned = !["c", "alpha", "word-prior"]
            .iter()
            .any(|name| settings.contains_key(*name));
        plan.learners = vec![Contender {
            classifier: learner,
            tuned,
        }];
    }
    if let Some(weighting) = weighting(settings, &learner)? {
        plan.weighting = Some(typed(weighting["weighting"].clone())?);
    }
    Ok(plan)
}

/// How texts become terms.
pub(crate) fn analyzer(settings: &Settings) -> Found<Analyzer> {
    let mut analyzer = json!({});
    for (name, value) in settings {
        match name.as_str() {
            "keep-case" => analyzer["lowercase"] = json!(false),
            "fold-accents" => analyzer["fold_accents"] = json!(true),
            "stop-words" => analyzer["stop_words"] = value.clone(),
            "stem" => analyzer["stemmer"] = value.clone(),
            "min-word-length" => analyzer["min_token_chars"] = value.clone(),
            "word-ngrams" => analyzer["word_ngrams"] = range(value, Some(1)),
            "char-ngrams" => analyzer["char_ngrams"] = range(value, None),
            "char-ngrams-across" => analyzer["char_ngrams_across"] = json!(true),
            _ => {}
        }
    }
    // What is not said is as by default, which the settings of old models are not.
    let mut whole = serde_json::to_value(Analyzer::default())?;
    for (key, value) in analyzer.as_object().unwrap() {
        whole[key] = value.clone();
    }
    typed(whole)
}

/// The weighting of terms, where one of its parts is asked for.
fn weighting(settings: &Settings, learner: &Classifier) -> Found<Option<Value>> {
    if !settings.contains_key("weighting") && !settings.contains_key("l2-norm") {
        return Ok(None);
    }
    let mut found = serde_json::to_value(learner.usual_weighting())?;
    if let Some(kind) = settings.get("weighting") {
        found["weighting"] = json!({"kind": word(kind)});
        if kind == "bm25" {
            found["weighting"]["k1"] = settings.get("bm25-k1").cloned().unwrap_or(json!(1.2));
            found["weighting"]["b"] = settings.get("bm25-b").cloned().unwrap_or(json!(0.75));
        }
    }
    if let Some(norm) = text(settings, "l2-norm") {
        found["l2_norm"] = json!(norm == "yes");
    }
    Ok(Some(found))
}

fn code(settings: &Settings) -> Option<Value> {
    let mut code = json!({"design": word(settings.get("code")?)});
    for (name, key) in [
        ("code-length", "length"),
        ("decode", "decode"),
        ("code-output", "output"),
        ("code-weights", "weights"),
    ] {
        if let Some(value) = settings.get(name) {
            code[key] = word(value);
        }
    }
    Some(code)
}

/// How a model is fitted, and how its documents are read.
pub(crate) fn of_fit(settings: &Settings) -> Found<(FitSettings, ReadOptions)> {
    let learner = classifier(settings)?;
    let mut fit = json!({"analyzer": analyzer(settings)?, "classifier": learner});
    if let Some(weighting) = weighting(settings, &learner)? {
        fit["weighting"] = weighting;
    }
    if let Some(code) = code(settings) {
        fit["code"] = code;
    }
    let mut limits = serde_json::to_value(FitSettings::default().limits)?;
    for (name, value) in settings {
        match name.as_str() {
            "min-df" => limits["min_documents"] = value.clone(),
            "max-df" => limits["max_share"] = value.clone(),
            "max-features" => limits["max_features"] = value.clone(),
            "hash-bits" | "side-factor" | "folds" | "seed" | "monotone" => {
                fit[name.replace('-', "_")] = value.clone();
            }
            "calibrator" | "multiclass" => fit[name] = word(value),
            "labels" if value == "one" => fit["task"] = json!("single_label"),
            "labels" => fit["task"] = json!("multi_label"),
            "classes" => fit["classes"] = json!(list(settings, "classes")),
            "class-weight" if value == "balanced" => fit["class_weights"] = json!("balanced"),
            "class-weight" => {
                let weights: Map<String, Value> = shares(value.as_str().unwrap())
                    .into_iter()
                    .map(|(class, weight)| (class, json!(weight)))
                    .collect();
                fit["class_weights"] = json!({ "given": weights });
            }
            "other-cost" => {
                let (wrong, left) = value.as_str().unwrap().split_once(':').unwrap();
                fit["other_cost"] = json!({
                    "false_positive": wrong.parse::<f64>()?,
                    "false_negative": left.parse::<f64>()?,
                });
            }
            "select" => {
                let scope = match settings.contains_key("select-per-class") {
                    true => "per_class",
                    false => "global",
                };
                let count = &settings["select-terms"];
                fit["selection"] = json!({"measure": word(value), "scope": scope, "count": count});
            }
            _ => {}
        }
    }
    fit["limits"] = limits;
    let mut fields = Fields {
        group: text(settings, "group").map(str::to_owned),
        weight: text(settings, "weight").map(str::to_owned),
        numeric: list(settings, "numeric"),
        categorical: list(settings, "categorical"),
        ..Fields::default()
    };
    if let Some(name) = text(settings, "rules") {
        let rules = std::fs::read_to_string(folder().join("data").join(name))?;
        fields.asked = rules.parse::<RuleSet>()?.fields();
        fit["rules"] = json!(rules);
    }
    let mut options = reading(settings, fields)?;
    options.labels_required = LabelNeed::Required;
    let fit: FitSettings = typed(fit)?;
    fit.check()?;
    Ok((fit, options))
}

/// What is asked of predictions.
pub(crate) fn of_predict(settings: &Settings) -> Found<PredictSettings> {
    let mut predict = json!({});
    for (name, value) in settings {
        match name.as_str() {
            "top" | "scores" => predict[name] = value.clone(),
            "prior" => predict["prior"] = json!({"given": shares(value.as_str().unwrap())}),
            "adapt-prior" if value == true => predict["prior"] = json!({"estimated": "tested"}),
            "adapt-prior" => predict["prior"] = json!({ "estimated": value }),
            "other" if value.is_number() => predict["other"] = json!({ "loss": value }),
            "other" if value == "cost" => predict["other"] = json!("least_cost"),
            "other" => predict["other"] = value.clone(),
            _ => {}
        }
    }
    typed(predict)
}

/// How documents are read, where not as `fields` has it.
pub(crate) fn reading(settings: &Settings, mut fields: Fields) -> Found<ReadOptions> {
    let texts = list(settings, "text");
    if !texts.is_empty() {
        fields.text = texts;
    }
    if let Some(label) = text(settings, "label") {
        fields.label = Some(label.to_owned());
    }
    let mut options = ReadOptions {
        fields,
        ..ReadOptions::default()
    };
    if let Some(Value::Array(filters)) = settings.get("where") {
        for filter in filters {
            options.filters.push(filter.as_str().unwrap().parse()?);
        }
    }
    Ok(options)
}
