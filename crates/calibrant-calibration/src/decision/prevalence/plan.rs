//! How many labels does a wanted width take, and where?

use serde::{Deserialize, Serialize};

use crate::numeric::Random;

use super::draw::random_places;
use super::estimate::{ClassColumn, ClassSample};
use super::strata::{cut_points, empty_strata, spread};
use super::{
    PrevalenceError, PrevalenceMethod, PrevalenceSettings, Stratum, stratified_exact_interval,
    stratified_interval,
};

/// This part of the labels is divided by size alone, whatever was stated: stated probabilities may be wrong.
const BY_SIZE: f64 = 0.2;

/// Every stratum has so many labels, if it has so many documents.
const LEAST_LABELS: usize = 2;

/// What is asked of [`plan_sample`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// The width that the interval should have at most, from end to end.
    pub width: f64,
    /// How the share will be found.
    pub prevalence: PrevalenceSettings,
    /// At most so many strata with fixed numbers of labels each: as many as need the fewest labels. 1 is a simple random
    /// sample.
    pub strata: usize,
    /// In this share of samples the width must be kept: 0.8.
    pub assurance: f64,
    /// How many samples are imagined for each size that is tried.
    pub draws: usize,
    /// The seed of these.
    pub seed: u64,
}

impl Default for PlanSettings {
    fn default() -> Self {
        Self {
            width: 0.1,
            prevalence: PrevalenceSettings::default(),
            strata: 1,
            assurance: 0.8,
            draws: 50,
            seed: 0,
        }
    }
}

/// How many labels to ask for, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SamplePlan {
    /// Labels in all.
    pub labels: usize,
    /// Labels that a simple random sample would need without predictions.
    pub labels_alone: usize,
    /// The mean width of the imagined samples.
    pub expected_width: f64,
    /// The share of imagined samples that kept the wanted width.
    pub kept: f64,
    /// The strata, from the lowest stated probabilities on; one for a simple random sample.
    pub strata: Vec<PlannedStratum>,
}

/// A part of the pool, and how many of it to label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlannedStratum {
    /// The least stated probability in it.
    pub from: f64,
    /// Its documents.
    pub documents: usize,
    /// Labels to ask for.
    pub labels: usize,
}

impl SamplePlan {
    /// The stratum of a document by what was stated of it.
    pub fn stratum(&self, stated: f64) -> u32 {
        let later = self.strata.iter().skip(1);
        later.take_while(|stratum| stratum.from <= stated).count() as u32
    }

    /// Labels by stratum, as [`draw_sample`](super::draw_sample) takes them.
    pub fn labels_by_stratum(&self) -> Vec<usize> {
        self.strata.iter().map(|stratum| stratum.labels).collect()
    }
}

/// The least number of labels that should give an interval of the wanted width, and where to take them.
///
/// Samples are imagined, with labels as the stated probabilities say, and measured by the very method that will be used;
/// the number of labels is the least, by halving, at which the wanted share of samples keeps the width. Strata hold equal
/// sums of `√(f(1 - f))`, and labels are divided by [`allocate_labels`].
///
/// # When it misleads
/// Where stated probabilities are not calibrated: more disagreement than was stated makes intervals wider than
/// promised (they still hold the truth as often as they say).
///
/// # Reference
/// Neyman, Journal of the Royal Statistical Society 97 (1934), for the division; Dalenius and Hodges, JASA 54 (1959), for
/// the strata.
///
/// ```
/// use calibrant_calibration::decision::{PlanSettings, plan_sample};
/// let stated: Vec<f64> = (0..5_000).map(|place| if place % 10 == 0 { 0.9 } else { 0.02 }).collect();
/// let plan = plan_sample(&stated, 1, &PlanSettings { width: 0.06, ..PlanSettings::default() })?;
/// assert!(plan.kept >= 0.8 && plan.labels < plan.labels_alone);
/// # Ok::<(), calibrant_calibration::decision::PrevalenceError>(())
/// ```
pub fn plan_sample(
    stated: &[f64],
    classes: usize,
    settings: &PlanSettings,
) -> Result<SamplePlan, PrevalenceError> {
    settings.prevalence.check()?;
    if stated.is_empty() {
        return Err(PrevalenceError::NoDocuments);
    }
    if let Some(document) = stated.iter().position(|f| !(0.0..=1.0).contains(f)) {
        let (class, value) = (0, stated[document]);
        return Err(PrevalenceError::BadProbability {
            document,
            class,
            value,
        });
    }
    let width = settings.width;
    if !(width > 0.0 && width < 1.0) {
        return Err(PrevalenceError::BadWidth { width });
    }
    let mut sorted = stated.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut planner = Planner {
        cuts: Vec::new(),
        column: ClassColumn::new(sorted),
        classes,
        settings: *settings,
    };
    let labels = planner.choose_strata();
    let (kept, expected_width) = planner.imagine(labels);
    let strata = planner.planned(labels);
    planner.cuts.clear();
    planner.settings.prevalence.method = PrevalenceMethod::LabelsAlone;
    Ok(SamplePlan {
        labels,
        labels_alone: planner.least_labels(),
        expected_width,
        kept,
        strata,
    })
}

struct Planner {
    column: ClassColumn,
    /// Empty for a simple random sample.
    cuts: Vec<f64>,
    classes: usize,
    settings: PlanSettings,
}

impl Planner {
    /// The least number of labels over all numbers of strata that may be; the best cuts are kept.
    fn choose_strata(&mut self) -> usize {
        let mut best = (self.least_labels(), Vec::new());
        let one_sample = [
            PrevalenceMethod::LabelsAlone,
            PrevalenceMethod::PredictionPowered,
        ];
        let strata_may_be = !one_sample.contains(&self.settings.prevalence.method);
        for strata in [2, 3, 4, 6, 8, 12] {
            if strata_may_be && strata <= self.settings.strata {
                self.cuts = cut_points(&self.column.sorted, strata);
                let labels = self.least_labels();
                if labels < best.0 {
                    best = (labels, self.cuts.clone());
                }
            }
        }
        self.cuts = best.1;
        best.0
    }

    /// The least number of labels at which enough samples keep the width; all documents, if fewer do not do.
    fn least_labels(&self) -> usize {
        let all = self.column.sorted.len();
        let enough = |labels| self.imagine(labels).0 >= self.settings.assurance;
        // From small samples upwards, since large ones take longer to imagine.
        let mut high = (LEAST_LABELS * (self.cuts.len() + 1)).max(10).min(all);
        let mut low = 0;
        while high < all && !enough(high) {
            (low, high) = (high, (2 * high).min(all));
        }
        while high - low > (high / 100).max(1) {
            let middle = low + (high - low) / 2;
            match enough(middle) {
                true => high = middle,
                false => low = middle,
            }
        }
        high
    }

    /// The share of imagined samples that keep the width, and the mean width.
    fn imagine(&self, labels: usize) -> (f64, f64) {
        let mut random = Random::from_seed(self.settings.seed);
        let draws = self.settings.draws.max(1);
        let widths = (0..draws).map(|_| match self.cuts.is_empty() {
            true => self.simple_width(labels, &mut random),
            false => self.stratified_width(labels, &mut random),
        });
        let widths: Vec<f64> = widths.collect();
        let kept = widths.iter().filter(|&&width| width <= self.settings.width);
        let count = draws as f64;
        (
            kept.count() as f64 / count,
            widths.iter().sum::<f64>() / count,
        )
    }

    fn simple_width(&self, labels: usize, random: &mut Random) -> f64 {
        let sorted = &self.column.sorted;
        let places = random_places(sorted.len(), labels, random);
        let predictions: Vec<f64> = places.iter().map(|&place| sorted[place]).collect();
        let labels = predictions.iter().map(|&f| random.uniform() < f).collect();
        let sample = ClassSample {
            predictions,
            labels,
        };
        let found = self
            .column
            .estimate(&sample, self.classes, &self.settings.prevalence);
        found.high - found.low
    }

    fn stratified_width(&self, labels: usize, random: &mut Random) -> f64 {
        let mut strata = self.strata(labels);
        for stratum in &mut strata {
            let found = (0..stratum.labelled).filter(|_| random.uniform() < stratum.mean_stated);
            stratum.found = found.count() as u64;
        }
        let settings = &self.settings.prevalence;
        let confidence = settings.confidence_per_class(self.classes);
        let (low, high) = match settings.method {
            PrevalenceMethod::StratifiedExact => stratified_exact_interval(&strata, confidence),
            _ => stratified_interval(&strata, confidence, settings.target),
        };
        high - low
    }

    /// The strata with their labels.
    fn strata(&self, labels: usize) -> Vec<Stratum> {
        let mut strata = empty_strata(&self.column.sorted, &self.cuts);
        let sizes: Vec<(usize, f64)> = strata
            .iter()
            .map(|stratum| (stratum.documents as usize, stratum.mean_stated))
            .collect();
        for (stratum, labels) in strata.iter_mut().zip(allocate_labels(&sizes, labels)) {
            stratum.labelled = labels as u64;
        }
        strata
    }

    fn planned(&self, labels: usize) -> Vec<PlannedStratum> {
        let strata = self.strata(labels).into_iter();
        strata
            .map(|stratum| PlannedStratum {
                from: stratum.from.unwrap_or(0.0),
                documents: stratum.documents as usize,
                labels: stratum.labelled as usize,
            })
            .collect()
    }
}

/// Divides labels over strata, each given by its documents and their mean stated probability.
///
/// # Formula
/// ```text
/// n_h ∝ 0.8 N_h √(p_h (1 - p_h)) / Σ …  +  0.2 N_h / N,   at least 2, at most N_h
/// ```
/// The first part is Neyman's; the second guards against stated probabilities that are wrong. All labels are given out
/// as long as there are documents for them; strata have their two even where fewer were asked for.
///
/// ```
/// use calibrant_calibration::decision::allocate_labels;
/// // Two strata alike share equally; a stratum has no more labels than documents.
/// assert_eq!(allocate_labels(&[(500, 0.3), (500, 0.7)], 100), [50, 50]);
/// assert_eq!(allocate_labels(&[(1_000, 0.001), (20, 0.5)], 400), [380, 20]);
/// assert_eq!(allocate_labels(&[(1_000_000, 0.5), (5, 0.5)], 40), [38, 2]);
/// ```
pub fn allocate_labels(strata: &[(usize, f64)], labels: usize) -> Vec<usize> {
    let documents: f64 = strata.iter().map(|stratum| stratum.0 as f64).sum();
    let uncertain = |stratum: &(usize, f64)| stratum.0 as f64 * spread(stratum.1);
    let total: f64 = strata.iter().map(uncertain).sum();
    let weight = |stratum: &(usize, f64)| {
        (1.0 - BY_SIZE) * uncertain(stratum) / total.max(f64::MIN_POSITIVE)
            + BY_SIZE * stratum.0 as f64 / documents.max(1.0)
    };
    let bounded = |scale: f64| -> Vec<f64> {
        let part = |stratum: &(usize, f64)| {
            let most = stratum.0 as f64;
            (scale * weight(stratum)).clamp((LEAST_LABELS as f64).min(most), most)
        };
        strata.iter().map(part).collect()
    };
    let wanted = (labels as f64).min(documents);
    // The sum rises with the scale; far enough out every stratum is read whole.
    let (mut low, mut high) = (0.0, 1.0);
    while bounded(high).iter().sum::<f64>() < wanted && high < 1e18 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        match bounded(middle).iter().sum::<f64>() < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    round_to(&bounded(high), strata, wanted as usize)
}

/// Whole numbers with the wanted sum: rounded down, then the largest remainders up, as long as there are documents.
fn round_to(parts: &[f64], strata: &[(usize, f64)], wanted: usize) -> Vec<usize> {
    let mut labels: Vec<usize> = parts
        .iter()
        .map(|part| (part + 1e-9).floor() as usize)
        .collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    let remainder = |place: &usize| parts[*place] - parts[*place].floor();
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(b)));
    for place in order {
        if labels.iter().sum::<usize>() < wanted && labels[place] < strata[place].0 {
            labels[place] += 1;
        }
    }
    labels
}
