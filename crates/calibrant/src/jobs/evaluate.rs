//! How good are a model's probabilities, or those of a table, on labelled documents?

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::forecast::{ForecastSettings, LabelledForecasts};
use super::predict::{PredictError, Predictor};
use super::promises::SeenPromises;
use super::systems::Answers;
use crate::corpus::{Document, ReadOptions, Source};
use crate::decision::{
    CostEntry, CostError, DecisionCosts, OtherRule, PriorChoice, PriorPlan, PriorReport,
};
use crate::evaluation::{
    BootstrapSettings, Evaluation, EvaluationError, EvaluationOptions, Forecasts, LedgerNote,
    OpenWorldReport, StatedEnds, evaluate_with,
};
use crate::pipeline::Model;
use crate::report::{AnsweredShares, ClassScores, DecisionCurve, WorstMistake};
use crate::{Progress, Task};

mod class_scores;
mod mistakes;

use class_scores::{class_scores, shown_outputs};
pub(super) use mistakes::surest_mistake;
use mistakes::worst_mistakes;

/// What is to be measured of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvaluateSettings {
    /// Only these classes, of a multi-label model; none named means all.
    pub classes: Vec<String>,
    /// What to do about classes that are no longer as common as in training.
    pub prior: PriorChoice,
    /// Whether documents of no class are noticed by this rule.
    pub other: Option<OtherRule>,
    /// What decisions cost; nothing is measured of costs where none is written.
    pub costs: Vec<CostEntry>,
    /// Replicates of the intervals, chosen by the number of decisions where `None`; 0 leaves them out.
    pub bootstrap: Option<usize>,
    /// Of how many classes, the most frequent ones, the scores are kept for a report's figures.
    pub shown_scores: usize,
    /// How many of the surest mistakes are told with their texts.
    pub worst_mistakes: usize,
}

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A class was named that the model does not have.
    #[error("the model has no class `{class}`")]
    NoClass {
        /// What was named.
        class: String,
    },
    /// Some of the classes cannot be measured where they exclude each other.
    #[error("the classes of this model are exclusive: all of them are measured, or none")]
    ExclusiveClasses,
    /// Predictions cannot be made.
    #[error(transparent)]
    Predict(#[from] PredictError),
    /// Forecasts cannot be measured.
    #[error(transparent)]
    Measure(#[from] EvaluationError),
    /// The costs cannot be used with the classes.
    #[error(transparent)]
    Costs(#[from] CostError),
}

/// What was measured; as JSON what `evaluate --json` prints.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct EvaluateReport {
    /// The measures.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Labels of the test documents that the model does not know, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label per document).
    pub documents_left_out: usize,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
    /// What was done about stated zeros and ones; absent for models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_ends: Option<StatedEnds>,
    /// What was done about the classes' shares; absent where nothing was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior: Option<PriorReport>,
    /// How many of the documents are copies of others; absent for tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<usize>,
    /// About how many of the documents the model had learned from; null where there is no sign of any.
    pub learned_from: Option<usize>,
    /// Documents of unknown classes that `other` noticed; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<OpenWorldReport>,
    /// What came of sets and answers that were promised; absent where none were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promises: Option<SeenPromises>,
    /// How often the surest answers are right.
    pub answered: AnsweredShares,
    /// What acting on the probability of each class is worth.
    pub decision_curves: Vec<DecisionCurve>,
    /// How often the test set was evaluated before; null without a ledger.
    pub ledger: Option<LedgerNote>,
}

/// Measures, with what a report needs to draw them.
pub struct Evaluated<'m> {
    /// The measures.
    pub report: EvaluateReport,
    /// What was measured.
    pub forecasts: Forecasts,
    /// The scores behind the forecasts of [`EvaluateSettings::shown_scores`] classes.
    pub scores: Vec<ClassScores<'m>>,
    /// [`EvaluateSettings::worst_mistakes`] wrong answers of which the model was surest.
    pub mistakes: Vec<WorstMistake>,
}

/// A model with what is to be measured of it, checked before anything is read.
pub struct Evaluator<'m> {
    model: &'m Model,
    /// The classes that are measured.
    wanted: Vec<usize>,
    plan: PriorPlan,
    forecast: ForecastSettings,
    options: EvaluationOptions,
    worst_mistakes: usize,
}

/// Measures a model on labelled documents in memory, as [`evaluate_source`] does on those of a file.
///
/// ```
/// use calibrant::jobs::{EvaluateSettings, evaluate_documents};
/// use calibrant::{Document, FitSettings, fit};
/// let documents = |from: usize| (from..from + 40).map(|i| match i % 2 {
///     0 => Document::new(format!("lunch at noon {i}")).label("ham"),
///     _ => Document::new(format!("win big money {i}")).label("spam"),
/// });
/// let model = fit(documents(0), &FitSettings::default())?;
/// let test: Vec<Document> = documents(100).collect();
/// let evaluated = evaluate_documents(&model, &test, &EvaluateSettings::default())?;
/// assert_eq!(evaluated.forecasts.labels.len(), 40);
/// assert!(evaluated.report.evaluation.log_loss < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn evaluate_documents<'m>(
    model: &'m Model,
    documents: &[Document],
    settings: &EvaluateSettings,
) -> Result<Evaluated<'m>, EvaluateError> {
    let evaluator = Evaluator::new(model, settings)?;
    evaluator.measure(evaluator.forecast_documents(documents))
}

/// Measures a model on the labelled documents of a source. Fields that `options` do not name are those that the model learned
/// from; a group field makes documents that belong together one piece of evidence.
pub fn evaluate_source<'m>(
    model: &'m Model,
    source: &Source,
    options: &ReadOptions,
    settings: &EvaluateSettings,
    progress: &dyn Progress,
) -> Result<Evaluated<'m>, EvaluateError> {
    let evaluator = Evaluator::new(model, settings)?;
    let found = evaluator.forecast(source, options, progress)?;
    evaluator.measure(found)
}

impl<'m> Evaluator<'m> {
    /// Checks the settings against the model.
    pub fn new(model: &'m Model, settings: &EvaluateSettings) -> Result<Self, EvaluateError> {
        let wanted = wanted_classes(model, &settings.classes)?;
        let plan = PriorPlan::new(&settings.prior, model.trained_shares());
        let plan = plan.map_err(PredictError::from)?;
        if settings.other.is_some() && settings.prior.is_given() {
            return Err(PredictError::OtherWithPrior.into());
        }
        let mut thresholds = None;
        if let Some(rule) = settings.other {
            if model.class_names().any(|class| class == Predictor::OTHER) {
                return Err(PredictError::OtherIsAClass.into());
            }
            thresholds = Some(model.other_thresholds(rule).map_err(PredictError::from)?);
        }
        let outputs = shown_outputs(model, &wanted, settings.shown_scores);
        let names: Vec<&str> = model.class_names().collect();
        let names = wanted.iter().map(|&class| names[class]);
        let costs = costs_of(&settings.costs, model.task(), names)?;
        Ok(Self {
            model,
            wanted,
            plan,
            forecast: ForecastSettings {
                outputs,
                thresholds,
                // What a shift of the classes' shares makes right again is left out.
                worst: 2 * settings.worst_mistakes,
            },
            options: evaluation_options(costs, settings.bootstrap),
            worst_mistakes: settings.worst_mistakes,
        })
    }

    /// Reads and predicts the documents.
    pub fn forecast(
        &self,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<LabelledForecasts, EvaluateError> {
        let mut options = options.clone();
        if let Some(costs) = &self.options.costs {
            options.fields.amounts = costs.fields().to_vec();
        }
        // Mistakes are called by their identifiers, where the file has any.
        options.own_id |= self.worst_mistakes > 0;
        let found = self
            .model
            .forecast_with(source, &options, &self.forecast, progress);
        Ok(found.map_err(PredictError::from)?)
    }

    /// Predicts documents in memory.
    pub fn forecast_documents(&self, documents: &[Document]) -> LabelledForecasts {
        self.model
            .forecast_documents_with(documents, &self.forecast)
    }

    /// Measures them.
    pub fn measure(&self, found: LabelledForecasts) -> Result<Evaluated<'m>, EvaluateError> {
        let LabelledForecasts {
            mut forecasts,
            documents,
            mut strangers,
            ..
        } = found;
        let weights = forecasts.weights.as_deref();
        let decided = self.plan.decide(&forecasts.probabilities, weights);
        let decided = decided.map_err(PredictError::from)?;
        let class_count = self.model.class_count();
        decided.apply(class_count, &mut forecasts.probabilities);
        decided.apply(class_count, &mut strangers.probabilities);
        let forecasts = restricted(forecasts, &self.wanted);
        let options = EvaluationOptions {
            groups: documents.together(),
            copies: documents.copied(),
            amounts: found.amounts,
            ..self.options.clone()
        };
        let evaluation = evaluate_with(&forecasts, &options)?;
        let report = EvaluateReport {
            evaluation,
            answered: AnsweredShares::with_strangers(
                &forecasts,
                &options.groups,
                &strangers.answers(),
            ),
            decision_curves: DecisionCurve::of_classes(&forecasts, true),
            unknown_labels: found.unknown_labels,
            documents_left_out: found.left_out,
            bad_rows: found.read.map_or(0, |read| read.bad_row_count),
            stated_ends: None,
            prior: decided.report,
            copies: Some(documents.copies()),
            learned_from: found.known.learned_from(),
            other: OpenWorldReport::of(&found.open),
            promises: None,
            ledger: None,
        };
        let scores = class_scores(
            self.model,
            &self.forecast.outputs,
            &found.scores,
            &forecasts,
        );
        let mistakes = worst_mistakes(
            self.model,
            &forecasts,
            &self.wanted,
            &found.worst,
            self.worst_mistakes,
        );
        Ok(Evaluated {
            report,
            forecasts,
            scores,
            mistakes,
        })
    }
}

impl Evaluated<'static> {
    /// Measures the forecasts of a table, which must be the only system that was asked. Costs of documents are those of the fields
    /// [`DecisionCosts::fields_of`] the entries, which must have been read.
    pub fn of_table(
        mut answers: Answers,
        costs: &[CostEntry],
        bootstrap: Option<usize>,
    ) -> Result<Self, EvaluateError> {
        let forecasts = answers
            .forecasts
            .pop()
            .ok_or(EvaluationError::NoDocuments)?;
        let names = forecasts.class_names.iter().map(String::as_str);
        let costs = costs_of(costs, forecasts.task, names)?;
        let options = EvaluationOptions {
            groups: answers.documents.together(),
            amounts: answers.amounts,
            ..evaluation_options(costs, bootstrap)
        };
        let report = EvaluateReport {
            evaluation: evaluate_with(&forecasts, &options)?,
            answered: AnsweredShares::of(&forecasts, &options.groups),
            decision_curves: DecisionCurve::of_classes(&forecasts, true),
            unknown_labels: answers.unknown_labels,
            documents_left_out: answers.left_out,
            bad_rows: answers.read.bad_row_count,
            stated_ends: answers.ends.pop().flatten(),
            prior: None,
            copies: None,
            learned_from: None,
            other: None,
            promises: None,
            ledger: None,
        };
        Ok(Self {
            report,
            forecasts,
            scores: Vec::new(),
            mistakes: Vec::new(),
        })
    }
}

/// Costs for these classes, where any are written.
fn costs_of<'a>(
    entries: &[CostEntry],
    task: Task,
    class_names: impl Iterator<Item = &'a str>,
) -> Result<Option<DecisionCosts>, CostError> {
    let given = !entries.is_empty();
    given
        .then(|| DecisionCosts::new(entries, task, class_names))
        .transpose()
}

fn evaluation_options(costs: Option<DecisionCosts>, bootstrap: Option<usize>) -> EvaluationOptions {
    EvaluationOptions {
        costs,
        bootstrap: (bootstrap != Some(0)).then(|| BootstrapSettings {
            replicates: bootstrap,
            ..BootstrapSettings::default()
        }),
        ..EvaluationOptions::default()
    }
}

fn wanted_classes(model: &Model, names: &[String]) -> Result<Vec<usize>, EvaluateError> {
    if names.is_empty() {
        return Ok((0..model.class_count()).collect());
    }
    if model.task() == Task::SingleLabel {
        return Err(EvaluateError::ExclusiveClasses);
    }
    let number = |name: &String| {
        let mut all = model.class_names();
        all.position(|class| class == name)
            .ok_or_else(|| EvaluateError::NoClass {
                class: name.clone(),
            })
    };
    names.iter().map(number).collect()
}

/// The forecasts of some of the classes.
fn restricted(forecasts: Forecasts, wanted: &[usize]) -> Forecasts {
    let class_count = forecasts.class_names.len();
    if wanted.len() == class_count {
        return forecasts;
    }
    Forecasts {
        class_names: wanted
            .iter()
            .map(|&class| forecasts.class_names[class].clone())
            .collect(),
        probabilities: forecasts
            .probabilities
            .chunks_exact(class_count)
            .flat_map(|row| wanted.iter().map(|&class| row[class]))
            .collect(),
        labels: forecasts
            .labels
            .iter()
            .map(|labels| {
                let numbers = labels
                    .iter()
                    .filter_map(|&label| wanted.iter().position(|&class| class == label as usize));
                numbers.map(|number| number as u32).collect::<Vec<u32>>()
            })
            .collect(),
        ..forecasts
    }
}

#[cfg(test)]
#[path = "evaluate/tests.rs"]
mod tests;
