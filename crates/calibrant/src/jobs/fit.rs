//! Labelled documents to a calibrated model.

use super::Trainer;
use crate::corpus::{Document, Fields, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::pipeline::{
    FitSettings, LeftOutTerms, Model, SearchCounter, SearchSettings, Trial, search,
};
use crate::{FitError, Progress};

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitJobError {
    /// The documents could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Nothing could be fitted to them.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl FitJobError {
    /// Whether whoever watched the progress ended the work.
    pub fn is_cancelled(&self) -> bool {
        matches!(
            self,
            Self::Read(ReadError::Cancelled) | Self::Fit(FitError::Cancelled)
        )
    }
}

/// A model and what it came from.
#[derive(Debug)]
pub struct FittedModel {
    /// The model.
    pub model: Model,
    /// What was read for it.
    pub read: ReadSummary,
    /// What was tried, where settings were searched for.
    pub search: Option<SearchOutcome>,
}

/// What a search tried, and what it had no time for.
#[derive(Debug, Clone)]
pub struct SearchOutcome {
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// Whether the time budget left trials out.
    pub out_of_time: bool,
    /// Terms that were not tried.
    pub left_out: Vec<LeftOutTerms>,
}

/// Reads labelled documents and fits a model to them: scorers learn from all, and are calibrated on documents that they had
/// not seen.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::{FitReport, fit_source};
/// use calibrant::pipeline::FitSettings;
/// let mail = Source::bytes(
///     "mail.csv",
///     *b"label,text\nham,see you at noon\nspam,win big money\nham,see you then\nspam,win a prize\n",
/// );
/// let settings = FitSettings { folds: 2, ..FitSettings::default() };
/// let fitted = fit_source(&mail, &ReadOptions::default(), &settings, &NoProgress)?;
/// assert_eq!(FitReport::of(&fitted).rows, 4);
/// let [ham, spam] = fitted.model.predict("win money")[..] else { panic!() };
/// assert!(spam.value() > ham.value());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit_source(
    source: &Source,
    options: &ReadOptions,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<FittedModel, FitJobError> {
    let mut trainer = Trainer::new(settings.clone(), options.fields.clone())?;
    let read = trainer.add_source(source, options, progress)?;
    Ok(FittedModel {
        model: trainer.fit(progress)?,
        read,
        search: None,
    })
}

/// As [`fit_source`], of documents in memory. `fields` names the columns of documents that have such beside the text.
pub fn fit_documents(
    documents: impl IntoIterator<Item = Document>,
    fields: &Fields,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Model, FitError> {
    let mut trainer = Trainer::new(settings.clone(), fields.clone())?;
    trainer.add(documents);
    trainer.fit(progress)
}

/// Reads labelled documents, tries settings for them as `plan` says, and keeps the best: see [`SearchSettings`].
pub fn search_source(
    source: &Source,
    options: &ReadOptions,
    settings: &FitSettings,
    plan: &SearchSettings,
    progress: &dyn Progress,
) -> Result<FittedModel, FitJobError> {
    settings.check()?;
    let counter = SearchCounter::new(settings)?.within(plan.time_budget);
    let mut corpus = counter.corpus(settings);
    let read = read_batches(
        source,
        options,
        progress,
        |documents| counter.count(documents),
        |batch| corpus.add(batch),
    )?;
    let found = search(corpus, &options.fields, settings, plan, progress)?;
    Ok(FittedModel {
        model: found.model,
        read,
        search: Some(SearchOutcome {
            trials: found.trials,
            out_of_time: found.out_of_time,
            left_out: found.left_out,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::corpus::read_all;
    use crate::progress::EndsAfter;

    fn mail() -> Source {
        let mut table = String::from("label,text\n");
        for number in 0..40 {
            let words = match number % 2 {
                0 => format!("ham,see you at {number} noon {}", number % 7),
                _ => format!("spam,win big {number} money {}", number % 5),
            };
            table.push_str(&words);
            table.push('\n');
        }
        Source::bytes("mail.csv", table.into_bytes())
    }

    fn settings() -> FitSettings {
        FitSettings {
            folds: 3,
            ..FitSettings::default()
        }
    }

    #[test]
    fn a_source_its_documents_and_its_halves_give_the_same_model() {
        let options = ReadOptions::default();
        let fitted = fit_source(&mail(), &options, &settings(), &NoProgress).unwrap();
        assert_eq!(fitted.read.rows, 40);
        let (documents, _) = read_all(&mail(), &options, &NoProgress).unwrap();
        let again =
            fit_documents(documents.clone(), &options.fields, &settings(), &NoProgress).unwrap();
        let mut trainer = Trainer::new(settings(), Fields::default()).unwrap();
        let (first, second) = documents.split_at(7);
        trainer.add(second.to_vec());
        trainer.add(first.to_vec());
        let halves = trainer.fit(&NoProgress).unwrap();
        for other in [again, halves] {
            let said = |model: &Model| model.predict("win money at noon");
            assert_eq!(said(&fitted.model), said(&other));
            assert_eq!(fitted.model.summary(), other.summary());
        }
    }

    #[test]
    fn reading_and_fitting_can_be_ended() {
        for questions in [0, 1, 3] {
            let progress = EndsAfter::questions(questions);
            let outcome = fit_source(&mail(), &ReadOptions::default(), &settings(), &progress);
            assert!(outcome.unwrap_err().is_cancelled());
        }
    }

    #[test]
    fn a_search_reports_its_trials() {
        use crate::pipeline::{Classifier, Contender};
        let plan = SearchSettings {
            learners: vec![Contender {
                classifier: Classifier::NaiveBayes(Default::default()),
                tuned: false,
            }],
            ..SearchSettings::default()
        };
        let options = ReadOptions::default();
        let fitted = search_source(&mail(), &options, &settings(), &plan, &NoProgress).unwrap();
        let trials = &fitted.search.as_ref().unwrap().trials;
        assert!(!trials.is_empty());
        assert_eq!(fitted.model.summary().search.len(), trials.len());
        let report = serde_json::to_value(super::super::FitReport::of(&fitted)).unwrap();
        assert_eq!(report["search"].as_array().unwrap().len(), trials.len());
        assert!(report["search"][0]["seconds"].is_number());
    }
}
