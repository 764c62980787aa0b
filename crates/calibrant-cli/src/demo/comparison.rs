//! Two learners, each with and without calibration, measured against the truth.

use calibrant::calibration::CalibratorKind;
use calibrant::corpus::{Document, Fields};
use calibrant::evaluation::{Binning, Forecasts, SortedForecasts, evaluate};
use calibrant::pipeline::{Classifier, FitSettings, TrainingCorpus, fit};
use calibrant::scorers::{LinearSvm, NaiveBayes};
use calibrant::{Probability, Progress};
use serde::Serialize;

use super::inbox::{TestInbox, training_documents};
use super::samples::{Sample, choose_samples};
use super::stated::{StatedBin, stated_against_true};
use crate::error::CliError;

/// Everything the demo finds out. As JSON it is one object with these names:
///
/// | name | what it is |
/// |---|---|
/// | `seed` | the seed it was asked for |
/// | `train_letters`, `test_letters` | how many letters were learned from and tested on |
/// | `classes` | the names of the classes |
/// | `truth` | the measures below of the true probabilities themselves: no forecaster can expect less log loss |
/// | `forecasters` | naive Bayes raw and calibrated, then the linear SVM raw and calibrated |
/// | `samples` | letters with all their probabilities |
///
/// The measures are `accuracy`; `log_loss` (nats per letter); `excess` (mean Kullback-Leibler divergence
/// from the true probabilities, in nats); `brier` (summed over classes, 0 to 2); `ece` and
/// `ece_of_perfect` (the calibration error of the first choice, and what it would be by chance alone); `ece_band` (what a
/// perfect forecaster of the same probabilities would stay within 95 times of 100).
///
/// A forecaster has `name`, `classifier`, `calibrated`, `states_probabilities` (false for raw SVM
/// margins, which are read as log-odds for comparison only), the measures, and `stated_against_true`:
/// bins of the stated probability of the first choice with `from`, `to`, `letters` and the means
/// `stated`, `true` and `right` (null where there are no letters).
///
/// A sample has `why` it was chosen, `text`, `label`, and `probabilities`: for each class its name
/// `class`, the `true` probability, and `stated` by the forecasters in their order.
#[derive(Serialize)]
pub(super) struct Comparison {
    pub(super) seed: u64,
    pub(super) train_letters: usize,
    pub(super) test_letters: usize,
    pub(super) classes: Vec<String>,
    pub(super) truth: Measures,
    pub(super) forecasters: Vec<Forecaster>,
    pub(super) samples: Vec<Sample>,
}

/// One of the four, and what it is worth.
#[derive(Serialize)]
pub(super) struct Forecaster {
    pub(super) name: &'static str,
    pub(super) classifier: &'static str,
    pub(super) calibrated: bool,
    pub(super) states_probabilities: bool,
    #[serde(flatten)]
    pub(super) measures: Measures,
    pub(super) stated_against_true: Vec<StatedBin>,
    /// The first choice of each letter, whether it was right, and a weight of one.
    #[serde(skip)]
    pub(super) first_choices: Vec<(Probability, bool, f64)>,
    /// The stated and the true probability of each class of each letter.
    #[serde(skip)]
    pub(super) stated_and_true: Vec<(f64, f64)>,
}

/// How good probabilities are, where the truth is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Measures {
    pub(super) accuracy: f64,
    pub(super) log_loss: f64,
    pub(super) excess: f64,
    pub(super) brier: f64,
    pub(super) ece: f64,
    pub(super) ece_of_perfect: f64,
    pub(super) ece_band: f64,
}

/// The share of perfect forecasters that stay within the band.
const BAND_SHARE: f64 = 0.95;

/// Draws the mail, fits, forecasts and measures. The same seed gives the same answer.
pub(super) fn compare(seed: u64, progress: &dyn Progress) -> Result<Comparison, CliError> {
    let training = training_documents(seed)?;
    let test = TestInbox::new(seed)?;
    let bayes = Classifier::NaiveBayes(NaiveBayes::default());
    let svm = Classifier::LinearSvm(LinearSvm::default());
    let mut forecasters = Vec::new();
    let mut all_forecasts = Vec::new();
    for (name, classifier, calibrated) in [
        ("naive Bayes, raw", bayes, false),
        ("naive Bayes, calibrated", bayes, true),
        ("linear SVM, raw margins", svm, false),
        ("linear SVM, calibrated", svm, true),
    ] {
        let settings = FitSettings {
            classifier,
            calibrator: if calibrated {
                CalibratorKind::Auto
            } else {
                CalibratorKind::None
            },
            seed,
            ..FitSettings::default()
        };
        let forecasts = forecast(&training, &test, &settings, progress)?;
        forecasters.push(Forecaster {
            name,
            classifier: classifier.name(),
            calibrated,
            states_probabilities: calibrated || settings.states_log_odds(),
            measures: measure(&forecasts, &test)?,
            stated_against_true: stated_against_true(&forecasts, &test)?,
            first_choices: forecasts.calibration_points()?,
            stated_and_true: forecasts
                .probabilities
                .iter()
                .zip(&test.truth.probabilities)
                .map(|(stated, truth)| (stated.value(), truth.value()))
                .collect(),
        });
        all_forecasts.push(forecasts);
    }
    Ok(Comparison {
        seed,
        train_letters: training.len(),
        test_letters: test.letters.len(),
        classes: test.truth.class_names.clone(),
        truth: measure(&test.truth, &test)?,
        forecasters,
        samples: choose_samples(&test, &all_forecasts),
    })
}

/// What a model fitted to the training letters says of the test letters.
fn forecast(
    training: &[Document],
    test: &TestInbox,
    settings: &FitSettings,
    progress: &dyn Progress,
) -> Result<Forecasts, CliError> {
    let corpus = TrainingCorpus::of_documents(settings, training.to_vec())?;
    let model = fit(corpus, Fields::default(), settings, progress)?;
    // Rare classes could be missing from a small inbox; ours is far too large for that.
    if !model
        .class_names()
        .eq(test.truth.class_names.iter().map(String::as_str))
    {
        return Err(CliError::new(
            "the training messages do not cover every class",
        ));
    }
    let said = test.letters.iter().map(|letter| model.predict(letter));
    let probabilities = said.flatten().collect();
    Ok(Forecasts {
        probabilities,
        ..test.truth.clone()
    })
}

fn measure(forecasts: &Forecasts, test: &TestInbox) -> Result<Measures, CliError> {
    let evaluation = evaluate(forecasts)?;
    Ok(Measures {
        accuracy: evaluation.accuracy.unwrap_or_default(),
        log_loss: evaluation.log_loss,
        excess: forecasts.divergence_from(&test.truth.probabilities)?,
        brier: evaluation.brier,
        ece: evaluation.ece,
        ece_of_perfect: evaluation.ece_of_perfect,
        ece_band: SortedForecasts::new(&forecasts.calibration_points()?).calibration_error_band(
            Binning::EqualMass,
            evaluation.ece_bins,
            BAND_SHARE,
        ),
    })
}
