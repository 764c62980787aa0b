//! How many documents of each class a pool really has: predictions of all, labels of some.

mod error;
mod plan;
mod pool;
mod sample;

pub use error::PrevalenceJobError;
pub use plan::{PlanReport, SamplePlanSettings};
pub use pool::Pool;

use serde::{Deserialize, Serialize};

use crate::Progress;
use crate::corpus::{ReadOptions, Source};
use crate::decision::{
    AdaptPrior, ClassPrevalence, LabelledPool, Prevalence, PrevalenceMethod, PrevalenceSettings,
    PriorChoice, PriorPlan, SampleDesign, estimate_prevalence,
};
use sample::Sample;

/// Shares and numbers of all classes, with what they rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrevalenceReport {
    /// Documents of the pool.
    pub documents: u64,
    /// Labelled documents; 0 where shares are the predictions' own.
    pub labelled: u64,
    /// How the labelled documents were drawn: `simple_random`, `stratified`; absent without labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<String>,
    /// What was asked.
    pub settings: PrevalenceSettings,
    /// Whether predictions were adapted to the pool's own shares; only without labels.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapted: bool,
    /// One for each class, in the order of the model.
    pub classes: Vec<ClassShare>,
}

/// The share of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassShare {
    /// The class.
    pub label: String,
    /// The estimate.
    pub share: f64,
    /// The same as a number of documents.
    pub count: f64,
    /// The interval of the share and of the number; absent without labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<ShareInterval>,
    /// The mean stated probability.
    pub mean_stated: f64,
}

/// An interval, and how it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ShareInterval {
    /// The share is at least this.
    pub low: f64,
    /// And at most this.
    pub high: f64,
    /// At least so many documents.
    pub count_low: u64,
    /// At most so many.
    pub count_high: u64,
    /// How often such an interval holds the truth.
    pub confidence: f64,
    /// How it was found.
    pub method: PrevalenceMethod,
    /// Why in this way.
    pub reason: String,
    /// Labelled documents of the class.
    pub found: u64,
    /// What labels alone would say, from where to where; a simple random sample only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels_alone: Option<(f64, f64)>,
    /// How much predictions counted, from 0 to 1, where they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
}

impl Pool<'_> {
    /// How many of each class there are, from labels of a random sample of the pool: a table of its documents with their labels, or what
    /// [`Self::plan`] wrote, filled in. Rows are found again by identifier, by the number of their row, or by what they say.
    pub fn estimate(
        &self,
        labelled: &Source,
        options: &ReadOptions,
        settings: &PrevalenceSettings,
        progress: &dyn Progress,
    ) -> Result<PrevalenceReport, PrevalenceJobError> {
        let sample = Sample::read(self, labelled, options, progress)?;
        if settings.method != PrevalenceMethod::LabelsAlone {
            self.refuse_learned(&sample.places, &labelled.name())?;
        }
        let classes = self.class_count();
        let of_sample: Vec<f64> = sample
            .places
            .iter()
            .flat_map(|&place| &self.probabilities[place * classes..(place + 1) * classes])
            .copied()
            .collect();
        let design = match &sample.strata {
            None => SampleDesign::SimpleRandom,
            Some((pool, sample)) => SampleDesign::Stratified { pool, sample },
        };
        let found = estimate_prevalence(
            &LabelledPool {
                classes,
                pool: &self.probabilities,
                sample: &of_sample,
                labels: &sample.labels,
                holds_sample: true,
                design,
            },
            settings,
        )?;
        let design = match sample.strata {
            None => "simple_random",
            Some(_) => "stratified",
        };
        Ok(self.report(found, design))
    }

    fn report(&self, found: Prevalence, design: &str) -> PrevalenceReport {
        let documents = found.documents;
        let one = |(label, class): (&str, ClassPrevalence)| {
            let (count_low, count_high) = class.counts(documents);
            ClassShare {
                label: label.to_owned(),
                share: class.share,
                count: class.share * documents as f64,
                mean_stated: class.mean_stated,
                interval: Some(ShareInterval {
                    low: class.low,
                    high: class.high,
                    count_low,
                    count_high,
                    confidence: class.confidence,
                    method: class.method,
                    reason: class.reason.to_string(),
                    found: class.found,
                    labels_alone: class.labels_alone,
                    lambda: class.prediction_powered.map(|ppi| ppi.lambda),
                }),
            }
        };
        PrevalenceReport {
            documents,
            labelled: found.labelled,
            design: Some(design.to_owned()),
            settings: found.settings,
            adapted: false,
            classes: self
                .model
                .class_names()
                .zip(found.classes)
                .map(one)
                .collect(),
        }
    }

    /// The shares that the predictions state by themselves, adapted to the pool where a test finds that classes are no longer as
    /// common as in training. No interval goes with them: nobody has looked.
    pub fn stated(&self) -> Result<PrevalenceReport, PrevalenceJobError> {
        let classes = self.class_count();
        let plan = PriorPlan::new(
            &PriorChoice::Estimated(AdaptPrior::Tested),
            self.model.trained_shares(),
        )?;
        let mut stated: Vec<crate::Probability> = self.stated_probabilities();
        let decided = plan.decide(&stated, None)?;
        decided.apply(classes, &mut stated);
        let documents = self.keys.len() as u64;
        let mean = |values: &dyn Fn(usize) -> f64| {
            (0..self.keys.len()).map(values).sum::<f64>() / (documents as f64).max(1.0)
        };
        let one = |(class, label): (usize, &str)| {
            let share = mean(&|row| stated[row * classes + class].value());
            ClassShare {
                label: label.to_owned(),
                share,
                count: share * documents as f64,
                interval: None,
                mean_stated: mean(&|row| self.probabilities[row * classes + class]),
            }
        };
        Ok(PrevalenceReport {
            documents,
            labelled: 0,
            design: None,
            settings: PrevalenceSettings::default(),
            adapted: decided.report.is_some_and(|report| report.applied),
            classes: self.model.class_names().enumerate().map(one).collect(),
        })
    }
}
