//! How much do columns beside the text count, where the learner cannot find out?

use super::FitSettings;
use super::fit::fit_prepared;
use super::search::sample::sample;
use super::training_corpus::PreparedCorpus;
use crate::corpus::Fields;
use crate::progress::Unshown;
use crate::{FitError, Progress};

/// The factors that are tried, the most cautious first: of equals the first stays.
///
/// At 1 numbers and categories have together the length of the text, at 1/16 less than half a per cent
/// of its square: a column of noise does no harm there, and one that tells much is heard at 1.
const FACTORS: [f64; 5] = [1.0 / 16.0, 1.0 / 8.0, 1.0 / 4.0, 1.0 / 2.0, 1.0];

/// With twice as many documents or more, about so many decide.
const SAMPLE: usize = 2000;

/// The settings with a factor for the columns beside the text.
///
/// # Method
/// A learner that gives every column a weight of its own finds out by itself which tell something: its
/// factor is 1. One that compares rows as wholes does not, and a column of noise as long as the text
/// drowns it. It is fitted with each of five factors, to a sample where there are many documents,
/// and the one of least held-out log loss is taken.
pub(super) fn with_side_factor(
    corpus: &PreparedCorpus,
    fields: &Fields,
    settings: FitSettings,
    progress: &dyn Progress,
) -> Result<FitSettings, FitError> {
    let beside_text =
        corpus.arranged.counts.entry_count() > 0 && settings.effective_weighting().l2_norm;
    let is_open = settings.side_factor.is_none() && settings.classifier.learner().by_similarity();
    if !(is_open && beside_text && fields.has_side_columns()) {
        return Ok(settings);
    }
    let drawn = sample(corpus, &settings, SAMPLE);
    let corpus = drawn.as_ref().unwrap_or(corpus);
    let mut best: Option<(f64, f64)> = None;
    let mut failure = None;
    for factor in FACTORS {
        let trial = FitSettings {
            side_factor: Some(factor),
            ..settings.clone()
        };
        match fit_prepared(corpus, fields.clone(), &trial, &Unshown(progress), false) {
            Ok(fitted) => {
                let loss = fitted.model.summary().held_out.log_loss;
                if best.is_none_or(|(least, _)| loss < least) {
                    best = Some((loss, factor));
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    match (best, failure) {
        (Some((_, factor)), _) => Ok(FitSettings {
            side_factor: Some(factor),
            ..settings
        }),
        (None, Some(error)) => Err(error),
        (None, None) => Ok(settings),
    }
}
