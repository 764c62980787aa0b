//! Answer where sure, so that few answers are wrong, with a stated certainty.

mod answers;
mod looks;

pub use answers::AnswerTable;

use crate::CalibrationError;
use crate::numeric::{binomial_at_most, exact_upper_share};
use looks::Looks;
use serde::{Deserialize, Serialize};

/// What is to be certified: of the documents that are answered, at most the share `max_error` is answered wrongly; this is
/// false with probability `1 - certainty` at most.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Certify {
    /// The share of wrong answers that is allowed.
    pub max_error: f64,
    /// How sure one wants to be of it.
    pub certainty: f64,
}

impl Default for Certify {
    fn default() -> Self {
        Self {
            max_error: 0.05,
            certainty: 0.95,
        }
    }
}

/// From which confidence on answers are given, and what is certified of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CertifiedThreshold {
    /// Documents of a confidence above this are answered; negative infinity where all are.
    #[serde(with = "finite_or_nothing")]
    pub threshold: f64,
    /// The share of the calibration examples that is answered.
    pub answered_share: f64,
    /// How many of them are answered.
    pub answered: u64,
    /// How many of these are wrong (of losses: their sum, rounded up).
    pub errors: u64,
    /// The share of these that is wrong (of losses: their mean).
    pub mean_loss: f64,
    /// The exact upper bound of the share of wrong answers: not above what was allowed.
    pub upper_bound: f64,
}

impl CertifiedThreshold {
    /// Of a threshold with how many examples are above it, and the sum of their losses.
    fn new(
        examples: &AnswerTable,
        (threshold, answered, sum): (f64, u64, f64),
        upper_bound: f64,
    ) -> Self {
        Self {
            threshold,
            answered_share: answered as f64 / examples.examples() as f64,
            answered,
            errors: sum.ceil() as u64,
            mean_loss: sum / answered.max(1) as f64,
            upper_bound,
        }
    }
}

/// JSON has no infinite numbers: all are answered where nothing is written.
mod finite_or_nothing {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(*value).serialize(serializer)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
    }
}

impl CertifiedThreshold {
    /// Whether a document of this confidence is answered.
    pub fn answers(&self, confidence: f64) -> bool {
        confidence > self.threshold || self.threshold == f64::NEG_INFINITY
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certified {
    /// Answers can be given.
    Granted(CertifiedThreshold),
    /// The examples do not show it for any threshold.
    Refused {
        /// About how many examples would show it, if more of them were like these; nothing where errors are too many at every
        /// threshold that was looked at.
        examples_needed: Option<u64>,
    },
}

/// Every test of losses goes on from the last one that passed to one with this much more answers.
const STEP: f64 = 1.05;

impl Certify {
    /// The threshold with the most answers of which the statement can be made.
    ///
    /// `confidences` are any numbers that are larger where answers are surer: the top probability, or the expected cost that
    /// an answer saves. `right` says whether the answer was.
    ///
    /// # Formula
    /// Candidates are the confidences at fixed ranks (fixed by the number of examples, by their confidences where these tie, and by what is asked for, never by labels). With `S_k` the errors among the
    /// `k` surest, `r` the share of errors that is allowed and `δ = 1 - certainty`, the hypothesis `H_j` says that the `j`-th candidate is the first that is not good enough. It is rejected if, at some candidate `i ≥ j`,
    /// ```text
    /// P(Bin(k_i, r) ≤ S_{k_i}) ≤ level_j · k_j / k_i
    /// ```
    /// where `level_j` is the largest for which independent errors of probability `r` do that anywhere from `j` on with probability `δ` at most, by the exact distribution of
    /// their sums. The candidate with the most answers is taken up to which all hypotheses are rejected.
    ///
    /// Why that holds: if `H_j` is true, the examples above its confidence are a random sample of documents of which the share `r` or more is answered wrongly, and everything
    /// of less confidence is wrong at least as often as that, so that errors are no fewer than independent ones of probability `r`. Only one hypothesis can be true, so that each
    /// has the whole of `δ`.
    ///
    /// # When it misleads
    /// The examples must be new to the model and to its curves, and documents to come like them. With held-out scores of training examples
    /// the statement is approximate. Certainty is over calibration sets, not over documents. It takes for granted that documents below a threshold with too many errors
    /// are wrong more often than `r` themselves, as with any confidence that falls with the chance of being right; one that goes up and down
    /// can err a little more often than stated.
    ///
    /// # Reference
    /// Geifman and El-Yaniv, NeurIPS 2017 (selective guaranteed risk); Angelopoulos et al., Learn then test, 2021 (thresholds as hypotheses); Marcus, Peritz and
    /// Gabriel, Biometrika 1976 (closed tests, of which this is one: hypotheses that exclude each other need no correction).
    ///
    /// ```
    /// use calibrant_calibration::decision::{Certified, Certify};
    /// // 1,000 examples, the 600 surest of them right, every third of the others wrong.
    /// let confidences: Vec<f64> = (0..1_000).map(|i| 1.0 - f64::from(i) / 1_000.0).collect();
    /// let right: Vec<bool> = (0..1_000).map(|i| i < 600 || i % 3 > 0).collect();
    /// let asked = Certify { max_error: 0.02, certainty: 0.95 };
    /// let Certified::Granted(found) = asked.threshold(&confidences, &right)? else { panic!("refused") };
    /// assert!(found.answered >= 550 && found.upper_bound <= 0.02);
    /// assert!(found.answers(0.9) && !found.answers(0.1));
    /// // By hand: even without an error it takes ⌈ln 0.05 / ln 0.98⌉ = 149 examples.
    /// let few = asked.threshold(&confidences[..148], &right[..148])?;
    /// assert_eq!(few, Certified::Refused { examples_needed: Some(149) });
    /// # Ok::<(), calibrant_calibration::CalibrationError>(())
    /// ```
    pub fn threshold(
        &self,
        confidences: &[f64],
        right: &[bool],
    ) -> Result<Certified, CalibrationError> {
        self.threshold_from(&AnswerTable::of_answers(confidences, right)?)
    }

    /// As [`Self::threshold`], from a table that was kept.
    pub fn threshold_from(&self, examples: &AnswerTable) -> Result<Certified, CalibrationError> {
        self.check()?;
        self.search(
            &Looks::of(examples, self.max_error, 1.0 - self.certainty),
            examples,
        )
    }

    /// What is tested, and at which levels, with so many examples: the same for all sets of examples of that size whose confidences
    /// differ.
    #[doc(hidden)] // For experiments and tests, which ask a thousand times.
    pub fn plan(&self, examples: u64) -> Result<CertifyPlan, CalibrationError> {
        self.check()?;
        Ok(CertifyPlan {
            asked: *self,
            looks: Looks::new(examples, self.max_error, 1.0 - self.certainty),
        })
    }

    /// The most answers that pass at these looks, which must be counts of the table.
    fn search(&self, looks: &Looks, examples: &AnswerTable) -> Result<Certified, CalibrationError> {
        let miss = 1.0 - self.certainty;
        let p_value = |sum: f64, count| binomial_at_most(sum.round() as u64, count, self.max_error);
        let (mut first, mut best) = (0, None);
        // What is granted settles all hypotheses up to it; the next is tested at its own level.
        while first < looks.ranks.len() {
            let passed = (first..looks.ranks.len()).rev().find_map(|look| {
                let (threshold, count, sum) = examples.above(looks.ranks[look]);
                let level = looks.level(first, look);
                let passes = count > 0 && p_value(sum, count) <= level;
                passes.then_some((look, (threshold, count, sum, level)))
            });
            let Some((look, found)) = passed else { break };
            (first, best) = (look + 1, Some(found));
        }
        let Some((threshold, answered, sum, level)) = best else {
            let level = |errors: f64| if errors > 0.0 { miss / 2.0 } else { miss };
            let examples_needed = self.needed(examples, level, &p_value);
            return Ok(Certified::Refused { examples_needed });
        };
        let bound = exact_upper_share(sum.round() as u64, answered, level).min(self.max_error);
        let found = CertifiedThreshold::new(examples, (threshold, answered, sum), bound);
        Ok(Certified::Granted(found))
    }

    /// As [`Self::threshold`], where an answer has a loss from 0 to 1 in place of being right or wrong (a cost divided by
    /// the largest one): of the documents that are answered, the mean loss is at most `max_error`. Tests are those of
    /// [`bounded_risk_p_value`], which ask for a few more examples than the exact ones.
    pub fn loss_threshold(
        &self,
        confidences: &[f64],
        losses: &[f64],
    ) -> Result<Certified, CalibrationError> {
        if let Some(position) = losses.iter().position(|loss| !(0.0..=1.0).contains(loss)) {
            let value = losses[position];
            return Err(CalibrationError::BadScore { position, value });
        }
        self.check()?;
        let p_value = |sum: f64, count: u64| {
            bounded_risk_p_value(sum / count.max(1) as f64, count, self.max_error)
        };
        let examples = AnswerTable::of_losses(confidences, losses)?;
        let starts = self.starts(losses.len(), &p_value);
        let (mut level, mut best) = (0.0, None);
        for rank in ranks(&starts, losses.len()) {
            let own = starts.iter().filter(|start| start.0 == rank);
            level += own.map(|start| start.1).sum::<f64>();
            let (threshold, count, sum) = examples.above(rank as u64);
            // What too few are above (there are ties) is no candidate: it could not pass without an error either.
            if p_value(0.0, count) > level {
                continue;
            }
            match p_value(sum, count) <= level {
                true => best = Some((threshold, count, sum)),
                false => level = 0.0,
            }
        }
        let Some((threshold, answered, sum)) = best else {
            let level = starts.first().map_or(1.0 - self.certainty, |start| start.1);
            let examples_needed = self.needed(&examples, |_| level, &p_value);
            return Ok(Certified::Refused { examples_needed });
        };
        // Of losses between 0 and 1 the binomial bound is none; what was tested is.
        let bound = self.max_error;
        let found = CertifiedThreshold::new(&examples, (threshold, answered, sum), bound);
        Ok(Certified::Granted(found))
    }

    fn check(&self) -> Result<(), CalibrationError> {
        super::sets::check_share("max_error", self.max_error)?;
        super::sets::check_share("certainty", self.certainty)
    }

    /// How many examples it takes at the least, were all answers right: `⌈ln(1 - certainty) / ln(1 - max_error)⌉`.
    ///
    /// ```
    /// use calibrant_calibration::decision::Certify;
    /// assert_eq!(Certify { max_error: 0.02, certainty: 0.95 }.least_examples(), 149);
    /// ```
    pub fn least_examples(&self) -> u64 {
        ((1.0 - self.certainty).ln() / (1.0 - self.max_error).ln()).ceil() as u64
    }

    /// Where tests of losses start, as ranks with levels. They follow from the number of examples and from what is asked for.
    fn starts(&self, examples: usize, p_value: &impl Fn(f64, u64) -> f64) -> Vec<(usize, f64)> {
        let miss = 1.0 - self.certainty;
        let at = |errors: u64, level: f64| least_count(errors as f64, level, examples, p_value);
        match (at(1, miss / 2.0), at(4, miss / 2.0)) {
            (Some(few), Some(many)) if 2 * many <= examples => {
                vec![(few, miss / 2.0), (many, miss / 2.0)]
            }
            _ => {
                let one = at(1, miss).filter(|&count| 2 * count <= examples);
                let place = one.or_else(|| at(0, miss)).unwrap_or(examples);
                vec![(place, miss)]
            }
        }
    }

    /// How many examples would have passed, were more of them like these: by the candidate that needs the fewest.
    fn needed(
        &self,
        examples: &AnswerTable,
        level: impl Fn(f64) -> f64,
        p_value: &impl Fn(f64, u64) -> f64,
    ) -> Option<u64> {
        let all = examples.examples();
        let candidates = (1..=20).map(|part| (all * part).div_ceil(20));
        let needed = candidates.filter_map(|rank| {
            let (_, count, sum) = examples.above(rank);
            let loss = sum / count.max(1) as f64;
            if count == 0 || loss >= self.max_error {
                return None;
            }
            let passes = |count: u64| p_value((loss * count as f64).ceil(), count) <= level(sum);
            let least = least_that(passes, 1 << 40)?;
            let share = count as f64 / all as f64;
            Some((least as f64 / share).ceil() as u64)
        });
        needed.min().map(|needed| needed.max(all + 1))
    }
}

/// What is tested with a number of examples. See [`Certify::plan`].
#[derive(Debug, Clone)]
#[doc(hidden)]
pub struct CertifyPlan {
    asked: Certify,
    looks: Looks,
}

impl CertifyPlan {
    /// As [`Certify::threshold`]; the number of examples must be the one that was planned for.
    pub fn threshold(
        &self,
        confidences: &[f64],
        right: &[bool],
    ) -> Result<Certified, CalibrationError> {
        self.threshold_from(&AnswerTable::of_answers(confidences, right)?)
    }

    fn threshold_from(&self, examples: &AnswerTable) -> Result<Certified, CalibrationError> {
        // Levels are exact for the counts that are tested: ties have others.
        match self.looks.fit(examples) {
            true => self.asked.search(&self.looks, examples),
            false => self.asked.threshold_from(examples),
        }
    }
}

/// The ranks that are tested, rising: from the first start on in steps, the starts, and all.
fn ranks(starts: &[(usize, f64)], all: usize) -> Vec<usize> {
    let mut ranks: Vec<usize> = starts.iter().map(|start| start.0).chain([all]).collect();
    let mut rank = ranks.iter().copied().min().unwrap_or(all);
    while rank < all {
        ranks.push(rank);
        rank = ((rank as f64 * STEP).ceil() as usize).max(rank + 1);
    }
    ranks.sort_unstable();
    ranks.dedup();
    ranks
}

/// The least count at which so many errors pass, if there is one up to `most`.
fn least_count(
    errors: f64,
    level: f64,
    most: usize,
    p_value: &impl Fn(f64, u64) -> f64,
) -> Option<usize> {
    let passes = |count: u64| p_value(errors.min(count as f64), count) <= level;
    least_that(passes, most as u64).map(|count| count as usize)
}

/// The least number from 1 to `most` that passes, where all above one that passes do.
fn least_that(passes: impl Fn(u64) -> bool, most: u64) -> Option<u64> {
    let mut high = 1;
    while !passes(high) {
        if high >= most {
            return None;
        }
        high = (2 * high).min(most);
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match passes(middle) {
            true => high = middle,
            false => low = middle,
        }
    }
    Some(high)
}

/// How likely so low a mean loss is at most, if the true mean is `max_risk` or more: losses from 0 to 1, one of each of `count` examples.
///
/// # Formula
/// ```text
/// min( exp(-n h(min(R, r), r)),  e · P(Bin(n, r) ≤ ⌈n R⌉) )      h(a, b) = a ln(a/b) + (1-a) ln((1-a)/(1-b))
/// ```
/// the bounds of Hoeffding and of Bentkus. Where losses are 0 or 1 the binomial probability itself is exact and smaller.
///
/// # Reference
/// Bates, Angelopoulos, Lei, Malik and Jordan, JACM 2021, proposition on the Hoeffding-Bentkus bound; Learn then test, 2021.
///
/// ```
/// use calibrant_calibration::decision::bounded_risk_p_value;
/// // By hand: without any loss, h = -ln(1 - r), so that Hoeffding's side is (1 - r)^n.
/// assert!((bounded_risk_p_value(0.0, 50, 0.1) - 0.9f64.powi(50)).abs() < 1e-15);
/// assert_eq!(bounded_risk_p_value(0.2, 50, 0.1), 1.0);
/// ```
pub fn bounded_risk_p_value(mean_loss: f64, count: u64, max_risk: f64) -> f64 {
    let n = count as f64;
    let mean = mean_loss.clamp(0.0, 1.0).min(max_risk);
    let part = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    let divergence = part(mean, max_risk) + part(1.0 - mean, 1.0 - max_risk);
    let hoeffding = (-n * divergence).exp();
    // A sum that rounding has carried a little above a whole number is that number.
    let errors = (n * mean_loss * (1.0 - 1e-12)).ceil().max(0.0) as u64;
    let bentkus = std::f64::consts::E * binomial_at_most(errors, count, max_risk);
    hoeffding.min(bentkus).min(1.0)
}

#[cfg(test)]
mod tests;
