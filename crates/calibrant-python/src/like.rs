//! Fitting as a model was fitted: its settings, under those that were given.

use calibrant::corpus::ReadOptions;
use calibrant::jobs::FitWords;
use calibrant::pipeline::{Classifier, FitSettings, SingleModel};
use calibrant::scorers::LearnerName;
use pyo3::PyResult;
use serde_json::Value;

use crate::errors;
use crate::model::PyModel;

/// Which settings a word decides: places in the JSON of [`FitSettings`], as `calibrant fit --like` has them.
const DECIDES: [(&str, &str); 57] = [
    ("segmentation", "/analyzer/words/segmentation"),
    ("no_emoji", "/analyzer/words/emoji"),
    ("no_signs", "/analyzer/words/signs"),
    ("fold_labels", "/fold_labels"),
    ("allow_unique_labels", "/allow_unique_labels"),
    ("side_factor", "/side_factor"),
    ("vector_factor", "/vector_factor"),
    ("rules", "/rules"),
    ("keep_case", "/analyzer/lowercase"),
    ("fold_accents", "/analyzer/fold_accents"),
    ("stem", "/analyzer/stemmer"),
    ("stop_words", "/analyzer/stop_words"),
    ("min_word_length", "/analyzer/min_token_chars"),
    ("word_ngrams", "/analyzer/word_ngrams"),
    ("char_ngrams", "/analyzer/char_ngrams"),
    ("char_ngrams_across", "/analyzer/char_ngrams_across"),
    ("hash_bits", "/hash_bits"),
    ("min_df", "/limits/min_documents"),
    ("max_df", "/limits/max_share"),
    ("max_features", "/limits/max_features"),
    ("weighting", "/weighting/weighting"),
    ("bm25_k1", "/weighting/weighting"),
    ("bm25_b", "/weighting/weighting"),
    ("l2_norm", "/weighting/l2_norm"),
    ("select", "/selection"),
    ("select_terms", "/selection"),
    ("select_per_class", "/selection"),
    ("classifier", "/classifier"),
    ("c", "/classifier/c"),
    ("loss", "/classifier/loss"),
    ("log_count_ratio", "/classifier/log_count_ratio"),
    ("tolerance", "/classifier/limits/relative_gap"),
    ("max_passes", "/classifier/limits/max_passes"),
    ("alpha", "/classifier/smoothing"),
    ("word_prior", "/classifier/smoothing"),
    ("nearness", "/classifier/nearness"),
    ("rounds", "/classifier/rounds"),
    ("boosting", "/classifier/kind"),
    ("neighbours", "/classifier/k"),
    ("vote", "/classifier/vote"),
    ("approximate", "/classifier/approximate"),
    ("epochs", "/classifier/epochs"),
    ("voted", "/classifier/voted"),
    ("code", "/code"),
    ("code_length", "/code"),
    ("decode", "/code"),
    ("code_output", "/code"),
    ("code_weights", "/code"),
    ("class_weight", "/class_weights"),
    ("classes", "/classes"),
    ("labels", "/task"),
    ("calibrator", "/calibrator"),
    ("monotone", "/monotone"),
    ("multiclass", "/multiclass"),
    ("other_cost", "/other_cost"),
    ("folds", "/folds"),
    ("seed", "/seed"),
];

fn single(model: &PyModel) -> PyResult<&SingleModel> {
    let single = model.model.as_single();
    single.ok_or_else(|| {
        errors::general(
            "like: a combination has no settings of its own\nhint: fit like its models one by one, and combine them again",
        )
    })
}

/// The words with the learner of the model, where they name none: its options are then understood.
pub(crate) fn with_learner(words: FitWords, like: &PyModel) -> PyResult<FitWords> {
    let mut words = words;
    if words.classifier.is_none() {
        let own = single(like)?.settings().classifier;
        let kind = |classifier: &Classifier| {
            let value = serde_json::to_value(classifier);
            value.map_or(Value::Null, |value| value["kind"].clone())
        };
        // Stumps of either kind are one learner, variants of naive Bayes several.
        let is_own = |name: &LearnerName| {
            let usual = name.classifier();
            let is_stumps = matches!(usual, Classifier::AdaBoost(_));
            usual.tag() == own.tag() && (is_stumps || kind(&usual) == kind(&own))
        };
        words.classifier = LearnerName::all().into_iter().find(is_own);
    }
    Ok(words)
}

/// The model's settings, but for what the words that were given (by the names in their JSON) decide.
pub(crate) fn under(like: &PyModel, asked: &FitSettings, given: &Value) -> PyResult<FitSettings> {
    let settings = as_asked(single(like)?);
    let mut settings = serde_json::to_value(&settings).map_err(errors::general)?;
    let asked = serde_json::to_value(asked).map_err(errors::general)?;
    for (word, place) in DECIDES {
        if given.get(word).is_some() {
            put(&mut settings, &asked, place);
        }
    }
    let settings: FitSettings = serde_json::from_value(settings).map_err(errors::general)?;
    settings.check().map_err(errors::fit)?;
    Ok(settings)
}

/// Fields that were not named are the model's.
pub(crate) fn remember(like: &PyModel, options: &mut ReadOptions) -> PyResult<()> {
    let remembered = single(like)?.fields();
    let fields = &mut options.fields;
    let (numeric, categorical, vector, group) = (
        fields.numeric.clone(),
        fields.categorical.clone(),
        fields.vector.clone(),
        fields.group.clone(),
    );
    *fields = fields.clone().completed_by(remembered);
    if !numeric.is_empty() {
        fields.numeric = numeric;
    }
    if !categorical.is_empty() {
        fields.categorical = categorical;
    }
    if !vector.is_empty() {
        fields.vector = vector;
    }
    // A file that is learned from may have other vectors than one that was.
    fields.vector_lengths = Vec::new();
    fields.group = group;
    match like.model.summary().groups.is_some() && fields.group.is_none() {
        true => Err(errors::general(
            "like: the model held out documents of a group together, and does not remember by which field\nhint: add group=…",
        )),
        false => Ok(()),
    }
}

/// What the fit chose is left open again.
fn as_asked(model: &SingleModel) -> FitSettings {
    let (mut settings, summary) = (model.settings().clone(), model.summary());
    if !summary.weightings.is_empty() {
        settings.weighting = None;
        // Terms of a single document were left out by trial only where nothing was said of them.
        let tried = &summary.weightings;
        if tried.iter().any(|tried| tried.min_documents > 1) {
            settings.limits.min_documents = None;
        }
    }
    if !summary.costs.is_empty() {
        match &mut settings.classifier {
            Classifier::LinearSvm(svm) => svm.c = None,
            Classifier::LogisticRegression(logistic) => logistic.c = None,
            _ => {}
        }
    }
    settings
}

/// Copies what stands at a place; where there is nothing around it yet, all that is around it.
fn put(settings: &mut Value, asked: &Value, place: &str) {
    let (around, key) = place.rsplit_once('/').unwrap_or(("", place));
    let Some(object) = settings.pointer_mut(around).and_then(Value::as_object_mut) else {
        return put(settings, asked, around);
    };
    match asked.pointer(place) {
        Some(value) => object.insert(key.to_owned(), value.clone()),
        None => object.remove(key),
    };
}
