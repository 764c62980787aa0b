//! Fitted models and labelled documents to a combination.

use std::collections::BTreeMap;

use serde::Serialize;

use super::held_out::{NotHeldOut, read_held_out};
use crate::corpus::{ReadError, ReadOptions, ReadSummary, Source};
use crate::pipeline::{
    Acquaintance, CombineError, CombineSettings, CombinedModel, Combiner, FitSettings,
    HeldOutMeasures, Model,
};
use crate::{FitError, Progress};

/// Why there is no combination.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CombineJobError {
    /// The documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The models cannot be combined.
    #[error(transparent)]
    Combine(#[from] CombineError),
    /// Weights found on documents that a model has mostly learned from would be its own, whatever it is worth.
    #[error(
        "`{member}` learned from about {count} of the {documents} documents of {file}; weights need documents that no model has learned from"
    )]
    LearnedFrom {
        /// The model.
        member: String,
        /// How many documents it knows.
        count: usize,
        /// How many there are.
        documents: usize,
        /// Where they come from.
        file: String,
    },
}

/// A combination and what it came from.
#[derive(Debug)]
pub struct CombinedModels {
    /// The combination.
    pub model: Model,
    /// What was read for it.
    pub read: ReadSummary,
    /// Labels that no model knows, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that took no part because their only label is unknown.
    pub left_out: usize,
    /// For each model, how many of the documents it had learned from: none, if all is well.
    pub known: Vec<Acquaintance>,
}

/// Reads labelled documents that no model has learned from, and finds the weights of the models with the least log loss on them.
/// The fields of `options` should be those of [`Combiner::fields`]. A model that has learned from most of the documents is refused
/// unless `even_if_learned_from`.
pub fn combine_source(
    combiner: Combiner,
    source: &Source,
    options: &ReadOptions,
    settings: &CombineSettings,
    even_if_learned_from: bool,
    progress: &dyn Progress,
) -> Result<CombinedModels, CombineJobError> {
    let held_out = read_held_out(
        source,
        options,
        even_if_learned_from,
        progress,
        |documents| combiner.forecast(documents),
        |batch, documents| combiner.add(batch, documents),
    );
    let held_out = held_out.map_err(|error| match error {
        NotHeldOut::Read(error) => error.into(),
        NotHeldOut::Cancelled => CombineError::from(FitError::Cancelled).into(),
        NotHeldOut::LearnedFrom {
            member,
            count,
            documents,
        } => CombineJobError::LearnedFrom {
            member: combiner.names()[member].clone(),
            count,
            documents,
            file: source.name(),
        },
    })?;
    let known = held_out.documents.known.clone();
    Ok(CombinedModels {
        model: combiner.combine(held_out.documents, settings)?,
        read: held_out.read,
        unknown_labels: held_out.unknown_labels,
        left_out: held_out.left_out,
        known,
    })
}

/// How much each model of a combination counts.
#[derive(Debug, Clone, Serialize)]
pub struct Combination<'a> {
    /// The models.
    pub members: Vec<Member<'a>>,
    /// What is added to the log-odds of each class.
    pub intercepts: BTreeMap<&'a str, f64>,
}

/// One model of a combination.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Member<'a> {
    /// Its name.
    pub name: &'a str,
    /// How much it counts.
    pub weight: f64,
    /// Of the model alone, on the same documents.
    pub log_loss: f64,
    /// How it was fitted.
    pub settings: &'a FitSettings,
}

impl<'a> Combination<'a> {
    /// Of a combined model.
    pub fn of(model: &'a CombinedModel) -> Self {
        let pool = model.pool();
        let members = model.members().iter().zip(pool.weights());
        let classes = model.summary().classes.iter().zip(pool.intercepts());
        Self {
            members: members
                .map(|(member, &weight)| Member {
                    name: member.name(),
                    weight,
                    log_loss: member.log_loss(),
                    settings: member.model().settings(),
                })
                .collect(),
            intercepts: classes
                .map(|(class, &intercept)| (class.label.as_str(), intercept))
                .collect(),
        }
    }
}

/// What a combination has to tell, as `calibrant combine --json` writes it.
#[derive(Debug, Clone, Serialize)]
pub struct CombineReport<'a> {
    /// Documents that took part, copies included.
    pub documents: usize,
    /// How many of them are copies.
    pub copies: usize,
    /// How many groups were held out together; absent where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Documents that took no part.
    pub documents_left_out: usize,
    /// Malformed rows that were skipped.
    pub bad_rows: u64,
    /// Labels that no model knows, with how many documents have them.
    pub unknown_labels: &'a BTreeMap<String, usize>,
    /// For each model, about how many of the documents it had learned from; null where there is no sign of any.
    pub learned_from: Vec<Option<usize>>,
    /// The models and how much each counts.
    #[serde(flatten)]
    pub combination: Option<Combination<'a>>,
    /// Cross-validated: by weights that were found without the document.
    pub held_out: &'a HeldOutMeasures,
}

impl<'a> CombineReport<'a> {
    /// Of a combination and what it came from.
    pub fn of(combined: &'a CombinedModels) -> Self {
        let summary = combined.model.summary();
        let known = combined.known.iter();
        Self {
            documents: summary.documents,
            copies: summary.copies,
            groups: summary.groups,
            documents_left_out: summary.documents_left_out,
            bad_rows: combined.read.bad_row_count,
            unknown_labels: &combined.unknown_labels,
            learned_from: known.map(Acquaintance::learned_from).collect(),
            combination: combined.model.as_combined().map(Combination::of),
            held_out: &summary.held_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::jobs::fit_source;
    use crate::pipeline::Classifier;
    use crate::progress::EndsAfter;
    use crate::scorers::NaiveBayes;

    fn mail(from: usize) -> Source {
        let mut table = String::from("label,text\n");
        for number in from..from + 40 {
            let label = if number % 2 == 0 { "ham" } else { "spam" };
            let word = if number % 9 == 0 { "odd" } else { label };
            table.push_str(&format!("{label},{word} w{number} v{}\n", number % 7));
        }
        Source::bytes("mail.csv", table.into_bytes())
    }

    fn combiner() -> Combiner {
        let learners = [
            Classifier::default(),
            Classifier::NaiveBayes(NaiveBayes::default()),
        ];
        let models = learners
            .into_iter()
            .enumerate()
            .map(|(number, classifier)| {
                let settings = FitSettings {
                    classifier,
                    folds: 3,
                    ..FitSettings::default()
                };
                let options = ReadOptions::default();
                let fitted = fit_source(&mail(0), &options, &settings, &NoProgress).unwrap();
                (format!("model {number}"), fitted.model)
            });
        Combiner::new(models.collect()).unwrap()
    }

    fn combine(
        source: &Source,
        even_if_learned_from: bool,
        progress: &dyn Progress,
    ) -> Result<CombinedModels, CombineJobError> {
        let (options, settings) = (ReadOptions::default(), CombineSettings::default());
        combine_source(
            combiner(),
            source,
            &options,
            &settings,
            even_if_learned_from,
            progress,
        )
    }

    #[test]
    fn a_combination_tells_its_weights() {
        let combined = combine(&mail(100), false, &NoProgress).unwrap();
        let report = serde_json::to_value(CombineReport::of(&combined)).unwrap();
        assert_eq!(report["documents"], 40);
        assert_eq!(report["members"][1]["name"], "model 1");
        assert_eq!(report["intercepts"].as_object().unwrap().len(), 2);
    }

    #[test]
    fn documents_that_were_learned_from_are_refused_unless_they_are_wanted() {
        let error = combine(&mail(0), false, &NoProgress).unwrap_err();
        assert!(
            matches!(error, CombineJobError::LearnedFrom { documents: 40, .. }),
            "{error}"
        );
        assert!(combine(&mail(0), true, &NoProgress).is_ok());
        let ended = combine(&mail(100), false, &EndsAfter::questions(1)).unwrap_err();
        assert_eq!(ended.to_string(), "cancelled");
    }
}
