//! Documents collected under one set of settings, until a model is fitted to them.

use crate::corpus::{Document, Fields, ReadError, ReadOptions, ReadSummary, Source, read_batches};
use crate::parallel;
use crate::pipeline::{
    DocumentCounter, FitSettings, HeldOutForecasts, Model, TrainingCorpus, fit,
    fit_keeping_forecasts,
};
use crate::{FitError, Progress};

/// Documents of a batch that are counted together.
const BATCH: usize = 1024;

/// Collects documents, from memory and from any number of sources, and fits a model to them. What it is fitted with is said
/// once, when it is made.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{Fields, ReadOptions, Source};
/// use calibrant::jobs::Trainer;
/// use calibrant::pipeline::FitSettings;
/// let settings = FitSettings { folds: 2, ..FitSettings::default() };
/// let mut trainer = Trainer::new(settings, Fields::default())?;
/// for mail in ["ham,see you at noon\nspam,win big money\n", "ham,see you then\nspam,win a prize\n"] {
///     let mail = Source::bytes("mail.csv", format!("label,text\n{mail}").into_bytes());
///     trainer.add_source(&mail, &ReadOptions::default(), &NoProgress)?;
/// }
/// assert_eq!(trainer.document_count(), 4);
/// let model = trainer.fit(&NoProgress)?;
/// assert_eq!(model.class_names().collect::<Vec<_>>(), ["ham", "spam"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Trainer {
    settings: FitSettings,
    fields: Fields,
    counter: DocumentCounter,
    corpus: TrainingCorpus,
}

impl Trainer {
    /// Checks the settings; `fields` says which parts of a document mean what.
    pub fn new(settings: FitSettings, fields: Fields) -> Result<Self, FitError> {
        settings.check()?;
        Ok(Self {
            counter: DocumentCounter::new(&settings)?,
            corpus: TrainingCorpus::new(settings.column_space()),
            settings,
            fields,
        })
    }

    /// Takes documents in, counted on all threads.
    pub fn add(&mut self, documents: impl IntoIterator<Item = Document>) {
        let mut documents = documents.into_iter();
        let at_once = 2 * rayon::current_num_threads();
        loop {
            let batches: Vec<Vec<Document>> = (0..at_once)
                .map(|_| documents.by_ref().take(BATCH).collect::<Vec<_>>())
                .take_while(|batch| !batch.is_empty())
                .collect();
            if batches.is_empty() {
                return;
            }
            let counter = &self.counter;
            let counted = parallel::map_owned(batches, |batch| counter.count(batch));
            for batch in counted {
                self.corpus.add(batch);
            }
        }
    }

    /// Takes the documents of a source in; its fields are those of the trainer, whatever the options say.
    pub fn add_source(
        &mut self,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<ReadSummary, ReadError> {
        let options = ReadOptions {
            fields: self.fields.clone(),
            ..options.clone()
        };
        let (counter, corpus) = (&self.counter, &mut self.corpus);
        read_batches(
            source,
            &options,
            progress,
            |documents| counter.count(documents),
            |batch| corpus.add(batch),
        )
    }

    /// How many documents were taken in.
    pub fn document_count(&self) -> usize {
        self.corpus.document_count()
    }

    /// Fits a model to all of them.
    pub fn fit(self, progress: &dyn Progress) -> Result<Model, FitError> {
        fit(self.corpus, self.fields, &self.settings, progress)
    }
    /// As [`Self::fit`], and hands on what was said of every document by models that had not seen it.
    pub fn fit_keeping_forecasts(
        self,
        progress: &dyn Progress,
    ) -> Result<(Model, HeldOutForecasts), FitError> {
        fit_keeping_forecasts(self.corpus, self.fields, &self.settings, progress)
    }
}
