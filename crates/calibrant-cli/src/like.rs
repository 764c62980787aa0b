//! `calibrant fit --like MODEL`: settings that a model remembers, under those that were given.

use calibrant::corpus::Fields;
use calibrant::pipeline::{Classifier, FitSettings, Model, SingleModel};
use calibrant::rules::RuleSet;
use calibrant::scorers::LearnerName;
use clap::ArgMatches;
use clap::parser::ValueSource;
use serde_json::Value;

use crate::arguments::FitArguments;
use crate::error::CliError;

/// What a model remembers of how it was fitted.
#[derive(Debug)]
pub(crate) struct Remembered {
    /// As they were asked for: what a fit chose is chosen again.
    settings: FitSettings,
    pub(crate) fields: Fields,
    /// Options of the command line, by their names for clap.
    given: Vec<&'static str>,
}

/// Which settings an option decides, by its name for clap: places in the JSON of [`FitSettings`].
const DECIDES: [(&str, &str); 58] = [
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
    ("no_training_keys", "/training_keys"),
];

/// Opens the model that `--like` names, and keeps what it remembers beside the options that were given.
pub(crate) fn remember(given: &ArgMatches, arguments: &mut FitArguments) -> Result<(), CliError> {
    let Some(path) = &arguments.like else {
        return Ok(());
    };
    let model = Model::open(path)?;
    let Model::Single(model) = model else {
        return Err(CliError::new(format!(
            "--like: `{}` is a combination, which has no settings of its own",
            path.display()
        ))
        .hint("fit like its models one by one, and combine them again; or give --search again"));
    };
    if model.summary().groups.is_some() && arguments.training.group.is_none() {
        return Err(CliError::new(format!(
            "--like: `{}` held out documents of a group together, and does not remember by which field",
            path.display()
        ))
        .hint("add --group FIELD"));
    }
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let ids = DECIDES.iter().map(|(id, _)| *id);
    let remembered = Remembered {
        settings: as_asked(&model),
        fields: model.fields().clone(),
        given: ids.filter(|id| is_given(id)).collect(),
    };
    if arguments.training.learning.classifier.is_none() {
        arguments.training.learning.classifier = Some(name_of(&remembered.settings.classifier)?);
    }
    arguments.training.remembered = Some(Box::new(remembered));
    Ok(())
}

/// What the fit chose is left open again.
fn as_asked(model: &SingleModel) -> FitSettings {
    let (mut settings, summary) = (model.settings().clone(), model.summary());
    if !summary.weightings.is_empty() {
        settings.weighting = None;
        // Terms of a single document were left out by trial only where nothing was said of them.
        if summary
            .weightings
            .iter()
            .any(|tried| tried.min_documents > 1)
        {
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

/// The word of the command line for a learner.
fn name_of(classifier: &Classifier) -> Result<LearnerName, CliError> {
    let kind = |classifier: &Classifier| -> Result<Value, CliError> {
        Ok(serde_json::to_value(classifier)?["kind"].clone())
    };
    let own = kind(classifier)?;
    for name in LearnerName::all() {
        let usual = name.classifier();
        // Stumps of either kind are one learner, variants of naive Bayes several.
        let is_stumps = matches!(usual, Classifier::AdaBoost(_));
        if usual.tag() == classifier.tag() && (is_stumps || kind(&usual)? == own) {
            return Ok(name);
        }
    }
    Err(CliError::new(format!(
        "--like: no option asks for the learner `{}` of the model",
        classifier.tag()
    ))
    .hint("name one with --classifier"))
}

impl Remembered {
    /// The model's settings, but for what the options that were given decide; `asked` has those.
    pub(crate) fn under(&self, asked: &FitSettings) -> Result<FitSettings, CliError> {
        let mut settings = serde_json::to_value(&self.settings)?;
        let asked = serde_json::to_value(asked)?;
        for (id, place) in DECIDES {
            if self.given.contains(&id) {
                put(&mut settings, &asked, place);
            }
        }
        Ok(serde_json::from_value(settings)?)
    }

    /// The model's rules.
    pub(crate) fn rule_set(&self) -> Result<Option<RuleSet>, CliError> {
        let rules = self.settings.rules.as_deref().map(str::parse).transpose();
        rules.map_err(|error| CliError::new(format!("--like: the rules, {error}")))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::CommandFactory;

    /// Options of `fit` that say what is read and written, not how is learned. Fields are remembered, too.
    const OTHERS: [&str; 29] = [
        "file",
        "output",
        "like",
        "text",
        "label",
        "label_separator",
        "id",
        "weight",
        "filters",
        "format",
        "delimiter",
        "no_header",
        "decimal",
        "encoding",
        "skip_bad_rows",
        "group",
        "numeric",
        "vector",
        "categorical",
        "search",
        "time_budget",
        "json",
        "threads",
        "help",
        "sheet",
        "empty_labels",
        "suspects",
        "version",
        "calibration",
    ];

    #[test] // An option that nobody knows here would silently be the model's.
    fn every_option_decides_something_or_is_about_reading() {
        let command = Arguments::command();
        let fit = command.find_subcommand("fit").unwrap();
        for argument in fit.get_arguments() {
            let id = argument.get_id().as_str();
            let decides = DECIDES.iter().any(|(known, _)| *known == id);
            assert!(
                decides || OTHERS.contains(&id),
                "`{id}`: add it to DECIDES with the setting that it decides, or to OTHERS"
            );
        }
    }

    #[test]
    fn what_is_not_there_yet_is_put_with_what_is_around_it() {
        let mut settings = serde_json::json!({"weighting": null, "a": {"b": 1}});
        let asked =
            serde_json::json!({"weighting": {"weighting": "tf", "l2_norm": false}, "a": {}});
        put(&mut settings, &asked, "/weighting/l2_norm");
        put(&mut settings, &asked, "/a/b");
        assert_eq!(
            settings,
            serde_json::json!({"weighting": {"weighting": "tf", "l2_norm": false}, "a": {}})
        );
    }
}
