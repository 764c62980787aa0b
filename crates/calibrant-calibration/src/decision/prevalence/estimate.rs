//! How many of each class are there really?

use std::fmt;

use serde::{Deserialize, Serialize};

use super::pool::sizes;
use super::ppi::{Moments, lambda_of, ppi_interval};
use super::strata::{exact_post_strata, first_strata, post_strata};
use super::stratified::{exact_ends, stratified_share};
use super::{
    LabelledPool, PpiMean, PrevalenceError, PrevalenceMethod, PrevalenceSettings, PrevalenceTarget,
    SampleDesign, Stratum, stratified_exact_interval, stratified_interval,
};

/// With fewer disagreements than this on either side `auto` does not trust the normal curve of PPI++.
///
/// Chosen by simulation, in which the switch takes part.
pub const ENOUGH_DISAGREEMENTS: usize = 20;

/// Where predictions would count for less than this, PPI++ is labels alone by the normal curve, which is skewed for rare
/// classes: `auto` takes strata, which use predictions that point the wrong way, too.
const LEAST_LAMBDA: f64 = 0.1;

/// Shares of all classes, with what they rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prevalence {
    /// Documents, the labelled ones included.
    pub documents: u64,
    /// Labelled documents.
    pub labelled: u64,
    /// What was asked.
    pub settings: PrevalenceSettings,
    /// One for each class, in their order.
    pub classes: Vec<ClassPrevalence>,
}

/// The share of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassPrevalence {
    /// The estimate.
    pub share: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How often such an interval holds the truth: the confidence of one class.
    pub confidence: f64,
    /// How it was found; never `auto`.
    pub method: PrevalenceMethod,
    /// Why in this way.
    pub reason: PrevalenceReason,
    /// The mean stated probability: the share if the predictor were right on average.
    pub mean_stated: f64,
    /// Labelled documents of the class.
    pub found: u64,
    /// What labels alone would say, exactly: lower and upper end. A simple random sample only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels_alone: Option<(f64, f64)>,
    /// How much predictions counted, where they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction_powered: Option<PpiMean>,
    /// The strata, where there were any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strata: Vec<Stratum>,
}

impl ClassPrevalence {
    /// Least and most documents of the class among so many, as the interval says.
    pub fn counts(&self, documents: u64) -> (u64, u64) {
        let all = documents as f64;
        // What rounding alone moved across a whole number is that number.
        let low = (self.low * all - 1e-6).ceil().max(0.0);
        let high = (self.high * all + 1e-6).floor().min(all);
        (low as u64, high as u64)
    }
}

/// Why a method was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PrevalenceReason {
    /// It was asked for.
    Asked,
    /// Enough labels disagree with what was stated, in both directions.
    EnoughDisagreements {
        /// Labelled documents of the class that were stated below one half.
        missed: u64,
        /// Labelled documents of other classes that were stated at one half or above.
        false_alarms: u64,
    },
    /// Too few labels disagree with what was stated for the normal curve.
    FewDisagreements {
        /// Labelled documents of the class that were stated below one half.
        missed: u64,
        /// Labelled documents of other classes that were stated at one half or above.
        false_alarms: u64,
    },
    /// Labels do not rise with what was stated.
    PredictionsDoNotHelp,
    /// The sample was drawn in strata.
    StratifiedSample,
    /// An exact interval by strata was asked for, and there is none for the source of the documents, since the sizes of its
    /// strata are not known.
    NoExactForSource,
}

impl fmt::Display for PrevalenceReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let needed = ENOUGH_DISAGREEMENTS;
        match self {
            Self::Asked => write!(formatter, "as asked for"),
            Self::EnoughDisagreements {
                missed,
                false_alarms,
            } => write!(
                formatter,
                "{missed} labelled documents of the class were stated below one half and {false_alarms} others above it"
            ),
            Self::FewDisagreements {
                missed,
                false_alarms,
            } => write!(
                formatter,
                "only {missed} labelled documents of the class were stated below one half and {false_alarms} others above it; \
                 the normal curve needs {needed} of each"
            ),
            Self::PredictionsDoNotHelp => {
                write!(formatter, "labels do not rise with what was stated")
            }
            Self::StratifiedSample => write!(formatter, "the sample was drawn in strata"),
            Self::NoExactForSource => write!(
                formatter,
                "exact intervals by strata are of the documents, not of their source"
            ),
        }
    }
}

/// The share of each class among all documents, from labels of a random sample and predictions of all.
///
/// # Method
/// [`PrevalenceMethod::Auto`] takes [PPI++](super::ppi_mean) where at least [`ENOUGH_DISAGREEMENTS`] labelled documents of
/// the class were stated below one half, and as many others at one half or above, and labels rise with what was stated;
/// elsewhere, and where the sample was drawn in strata, [`stratified_interval`]. Strata of a simple random sample are made from stated probabilities, and put
/// together again where that is expected to help, without a look at labels.
///
/// # When it misleads
/// Where the sample is not random: documents that somebody chose say nothing about the others. Where the predictor learned
/// from the labels of the sample. Each class has its own interval: that all hold at once is what `simultaneous` asks for.
///
/// ```
/// use calibrant_calibration::{RowLabels, decision::{LabelledPool, PrevalenceSettings, SampleDesign, estimate_prevalence}};
/// // Ten documents, four of them labelled; nothing is stated that would tell them apart.
/// let labels = RowLabels::from([vec![0], vec![1], vec![1], vec![1]]);
/// let pool = LabelledPool {
///     classes: 2, pool: &[0.5; 20], sample: &[0.5; 8], labels: &labels, holds_sample: true,
///     design: SampleDesign::SimpleRandom,
/// };
/// let found = estimate_prevalence(&pool, &PrevalenceSettings::default())?;
/// assert_eq!(found.classes[0].share, 0.25);
/// // By hand: one was found, three are no more than they are; 6 of 10 would show 1 or fewer of 4 in 25 of 210 samples (12 %),
/// // 7 of 10 in 7 (3.3 %, above 2.5 %), and more than 7 there cannot be.
/// assert_eq!(found.classes[0].counts(10), (1, 7));
/// # Ok::<(), calibrant_calibration::decision::PrevalenceError>(())
/// ```
pub fn estimate_prevalence(
    pool: &LabelledPool<'_>,
    settings: &PrevalenceSettings,
) -> Result<Prevalence, PrevalenceError> {
    settings.check()?;
    pool.check()?;
    let one_sample = [
        PrevalenceMethod::LabelsAlone,
        PrevalenceMethod::PredictionPowered,
    ];
    let simple = pool.design == SampleDesign::SimpleRandom;
    if !simple && one_sample.contains(&settings.method) {
        let method = settings.method;
        return Err(PrevalenceError::NotForStrata { method });
    }
    let one = |class| {
        let column = ClassColumn::new(pool.sorted(class));
        let sample = ClassSample::of(pool, class);
        match pool.design {
            SampleDesign::SimpleRandom => column.estimate(&sample, pool.classes, settings),
            SampleDesign::Stratified {
                pool: all,
                sample: of,
            } => {
                let strata = given_strata(pool, class, &sample, all, of);
                of_strata(strata, &column, pool.classes, settings)
            }
        }
    };
    Ok(Prevalence {
        documents: pool.documents() as u64,
        labelled: pool.labels.len() as u64,
        settings: *settings,
        classes: (0..pool.classes).map(one).collect(),
    })
}

/// What was stated of one class in all documents: made once, asked often.
#[derive(Debug, Clone)]
pub(crate) struct ClassColumn {
    /// Rising.
    pub(crate) sorted: Vec<f64>,
    moments: Moments,
    /// Parts of it, before anybody was labelled.
    strata: Vec<Stratum>,
}

/// The labelled documents, for one class.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClassSample {
    pub(crate) predictions: Vec<f64>,
    pub(crate) labels: Vec<bool>,
}

impl ClassSample {
    fn of(pool: &LabelledPool<'_>, class: usize) -> Self {
        let predictions = pool.sample.iter().skip(class).step_by(pool.classes);
        let labels = pool.labels.iter();
        Self {
            predictions: predictions.copied().collect(),
            labels: labels.map(|row| row.contains(&(class as u32))).collect(),
        }
    }

    fn found(&self) -> u64 {
        self.labels.iter().filter(|&&label| label).count() as u64
    }

    /// Labels as 0 and 1.
    fn numbers(&self) -> Vec<f64> {
        let number = |&label: &bool| f64::from(u8::from(label));
        self.labels.iter().map(number).collect()
    }

    /// Documents of the class that were stated below one half, and others that were not.
    fn disagreements(&self) -> (u64, u64) {
        let pairs = || self.predictions.iter().zip(&self.labels);
        let missed = pairs().filter(|(f, label)| **label && **f < 0.5).count();
        let alarms = pairs().filter(|(f, label)| !**label && **f >= 0.5).count();
        (missed as u64, alarms as u64)
    }
}

impl ClassColumn {
    pub(crate) fn new(sorted: Vec<f64>) -> Self {
        let moments = Moments::of(&sorted);
        let strata = first_strata(&sorted);
        Self {
            sorted,
            moments,
            strata,
        }
    }

    /// The share by a simple random sample.
    pub(crate) fn estimate(
        &self,
        sample: &ClassSample,
        classes: usize,
        settings: &PrevalenceSettings,
    ) -> ClassPrevalence {
        let (method, reason) = self.choose(sample, settings.method);
        let confidence = settings.confidence_per_class(classes);
        let whole = self.whole(sample);
        let miss = 0.5 * (1.0 - confidence);
        let alone = exact_ends(&whole, miss, settings.target);
        let mut found = match method {
            PrevalenceMethod::Stratified | PrevalenceMethod::StratifiedExact => {
                let (predictions, labels) = (&sample.predictions, &sample.labels);
                let exact = method == PrevalenceMethod::StratifiedExact
                    && settings.target == PrevalenceTarget::Documents;
                let strata = match exact {
                    true => exact_post_strata(&self.strata, predictions, labels, confidence),
                    false => post_strata(&self.strata, predictions, labels),
                };
                let settings = PrevalenceSettings {
                    method,
                    ..*settings
                };
                of_strata(strata, self, classes, &settings)
            }
            PrevalenceMethod::PredictionPowered => {
                self.powered(sample, confidence, settings.target)
            }
            PrevalenceMethod::LabelsAlone | PrevalenceMethod::Auto => ClassPrevalence {
                share: stratified_share(&[whole]),
                low: alone.0,
                high: alone.1,
                ..self.nothing(sample.found(), confidence, PrevalenceMethod::LabelsAlone)
            },
        };
        if found.reason == PrevalenceReason::Asked {
            found.reason = reason;
        }
        found.labels_alone = Some(alone);
        found
    }

    /// The rule of `auto`.
    fn choose(
        &self,
        sample: &ClassSample,
        asked: PrevalenceMethod,
    ) -> (PrevalenceMethod, PrevalenceReason) {
        if asked != PrevalenceMethod::Auto {
            return (asked, PrevalenceReason::Asked);
        }
        let (missed, false_alarms) = sample.disagreements();
        if missed.min(false_alarms) < ENOUGH_DISAGREEMENTS as u64 {
            let reason = PrevalenceReason::FewDisagreements {
                missed,
                false_alarms,
            };
            return (PrevalenceMethod::Stratified, reason);
        }
        let of_sample = Moments::of(&sample.predictions);
        let others = self.moments.without(&of_sample);
        let lambda = lambda_of(&sample.numbers(), &sample.predictions, &of_sample, &others);
        match lambda < LEAST_LAMBDA {
            true => (
                PrevalenceMethod::Stratified,
                PrevalenceReason::PredictionsDoNotHelp,
            ),
            false => (
                PrevalenceMethod::PredictionPowered,
                PrevalenceReason::EnoughDisagreements {
                    missed,
                    false_alarms,
                },
            ),
        }
    }

    fn powered(
        &self,
        sample: &ClassSample,
        confidence: f64,
        target: PrevalenceTarget,
    ) -> ClassPrevalence {
        let labels = sample.numbers();
        let predictions = &sample.predictions;
        let (mean, ends) = ppi_interval(&labels, predictions, &self.moments, confidence, target);
        ClassPrevalence {
            share: mean.mean.clamp(0.0, 1.0),
            low: ends.0.clamp(0.0, 1.0),
            high: ends.1.clamp(0.0, 1.0),
            prediction_powered: Some(mean),
            ..self.nothing(
                sample.found(),
                confidence,
                PrevalenceMethod::PredictionPowered,
            )
        }
    }

    /// All documents as one stratum.
    fn whole(&self, sample: &ClassSample) -> Stratum {
        Stratum {
            from: None,
            documents: self.sorted.len() as u64,
            labelled: sample.labels.len() as u64,
            found: sample.found(),
            mean_stated: self.moments.mean,
        }
    }

    /// A share that is not yet stated.
    fn nothing(&self, found: u64, confidence: f64, method: PrevalenceMethod) -> ClassPrevalence {
        ClassPrevalence {
            share: 0.0,
            low: 0.0,
            high: 1.0,
            confidence,
            method,
            reason: PrevalenceReason::Asked,
            mean_stated: self.moments.mean,
            found,
            labels_alone: None,
            prediction_powered: None,
            strata: Vec::new(),
        }
    }
}

/// The share by strata; an exact interval is of the documents, so of their source only the other one is stated.
pub(crate) fn of_strata(
    strata: Vec<Stratum>,
    column: &ClassColumn,
    classes: usize,
    settings: &PrevalenceSettings,
) -> ClassPrevalence {
    let confidence = settings.confidence_per_class(classes);
    let exact = settings.method == PrevalenceMethod::StratifiedExact
        && settings.target == PrevalenceTarget::Documents;
    let ((low, high), method) = match exact {
        true => (
            stratified_exact_interval(&strata, confidence),
            PrevalenceMethod::StratifiedExact,
        ),
        false => (
            stratified_interval(&strata, confidence, settings.target),
            PrevalenceMethod::Stratified,
        ),
    };
    let found = strata.iter().map(|stratum| stratum.found).sum();
    ClassPrevalence {
        share: stratified_share(&strata),
        low,
        high,
        reason: match settings.method {
            PrevalenceMethod::Auto => PrevalenceReason::StratifiedSample,
            PrevalenceMethod::StratifiedExact if !exact => PrevalenceReason::NoExactForSource,
            _ => PrevalenceReason::Asked,
        },
        strata,
        ..column.nothing(found, confidence, method)
    }
}

/// The strata as the caller drew them.
fn given_strata(
    pool: &LabelledPool<'_>,
    class: usize,
    sample: &ClassSample,
    all: &[u32],
    of: &[u32],
) -> Vec<Stratum> {
    let (documents, labelled) = (sizes(all), sizes(of));
    let count = documents.len().max(labelled.len());
    let at = |sizes: &[usize], number: usize| sizes.get(number).copied().unwrap_or(0);
    let mut strata: Vec<Stratum> = (0..count)
        .map(|number| {
            let added = if pool.holds_sample {
                0
            } else {
                at(&labelled, number)
            };
            Stratum {
                from: None,
                documents: (at(&documents, number) + added) as u64,
                labelled: at(&labelled, number) as u64,
                found: 0,
                mean_stated: 0.0,
            }
        })
        .collect();
    for (&number, &label) in of.iter().zip(&sample.labels) {
        strata[number as usize].found += u64::from(label);
    }
    let stated = pool.pool.iter().skip(class).step_by(pool.classes);
    for (&number, f) in all.iter().zip(stated) {
        strata[number as usize].mean_stated += f;
    }
    if !pool.holds_sample {
        for (&number, f) in of.iter().zip(&sample.predictions) {
            strata[number as usize].mean_stated += f;
        }
    }
    strata.retain(|stratum| stratum.documents > 0);
    for stratum in &mut strata {
        stratum.mean_stated /= stratum.documents as f64;
    }
    strata
}
