//! Parts of the pool by stated probability, chosen without a look at labels.

use serde::{Deserialize, Serialize};

use super::stratified_exact_interval;

/// So many parts are begun with; those that bring nothing are put together again.
const MOST_STRATA: usize = 12;

/// Strata with fewer expected labels might stay without any.
const FEWEST_EXPECTED: f64 = 4.0;

/// A part of the documents, and what labels said of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Stratum {
    /// The least stated probability in it; nothing where strata were given by the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// Documents.
    pub documents: u64,
    /// Labelled ones among them.
    pub labelled: u64,
    /// Labelled ones that belong to the class.
    pub found: u64,
    /// The mean stated probability of its documents.
    pub mean_stated: f64,
}

impl Stratum {
    /// As it would be if so large a share of it were labelled, and as many found as were stated.
    fn as_expected(&self, drawn: f64) -> Self {
        let labelled = (drawn * self.documents as f64).round();
        Self {
            labelled: labelled as u64,
            found: (labelled * self.mean_stated).round() as u64,
            ..*self
        }
    }

    fn with(&self, other: &Self) -> Self {
        let documents = self.documents + other.documents;
        let stated =
            self.mean_stated * self.documents as f64 + other.mean_stated * other.documents as f64;
        Self {
            from: self.from,
            documents,
            labelled: self.labelled + other.labelled,
            found: self.found + other.found,
            mean_stated: stated / documents.max(1) as f64,
        }
    }
}

/// Cuts sorted probabilities where `Σ √(f(1 - f))` has grown by equal steps; equal probabilities stay together.
///
/// The square roots are the spreads of labels as stated: parts with equal sums are about equally uncertain, which is
/// the rule of Dalenius and Hodges. A little is added to each, so that probabilities of 0 and 1 count, too.
pub(crate) fn cut_points(sorted: &[f64], most: usize) -> Vec<f64> {
    let total: f64 = sorted.iter().map(|&f| spread(f)).sum();
    // Places where the probability changes, with the sum of spreads before them.
    let mut sum = 0.0;
    let mut steps = Vec::new();
    for (place, &f) in sorted.iter().enumerate() {
        if place > 0 && f > sorted[place - 1] {
            steps.push((sum, f));
        }
        sum += spread(f);
    }
    let mut cuts: Vec<f64> = Vec::new();
    for part in 1..most {
        let wanted = total * part as f64 / most as f64;
        let after = steps.partition_point(|step| step.0 < wanted);
        let near = [after.wrapping_sub(1), after];
        let near = near.iter().filter_map(|&place| steps.get(place));
        let nearest = near.min_by(|a, b| (a.0 - wanted).abs().total_cmp(&(b.0 - wanted).abs()));
        if let Some(&(_, cut)) = nearest
            && cuts.last().is_none_or(|&last| cut > last)
        {
            cuts.push(cut);
        }
    }
    cuts
}

/// How uncertain a label is that was stated with this probability.
pub(crate) fn spread(f: f64) -> f64 {
    ((f + 0.001) * (1.001 - f)).sqrt()
}

/// The documents of each part, and their mean stated probability; nobody is labelled yet.
pub(crate) fn empty_strata(sorted: &[f64], cuts: &[f64]) -> Vec<Stratum> {
    let mut begin = 0;
    let ends = cuts.iter().map(|&cut| sorted.partition_point(|&f| f < cut));
    ends.chain([sorted.len()])
        .map(|end| {
            let part = &sorted[begin..end];
            begin = end;
            Stratum {
                from: part.first().copied(),
                documents: part.len() as u64,
                labelled: 0,
                found: 0,
                mean_stated: part.iter().sum::<f64>() / part.len().max(1) as f64,
            }
        })
        .collect()
}

/// The strata that a simple random sample is begun with.
pub(crate) fn first_strata(sorted: &[f64]) -> Vec<Stratum> {
    empty_strata(sorted, &cut_points(sorted, MOST_STRATA))
}

/// The strata that a simple random sample is divided by: from the first ones on neighbours are put together as long as
/// this makes the expected interval narrower.
///
/// What is expected follows from stated probabilities and from the size of the sample, neither from labels nor from how
/// many of each stratum were drawn. Given the latter, the labelled of a stratum are then a simple random sample of it, and exact
/// ends stay exact. (Strata that were put together by how many were drawn would not be: a sample that holds too
/// many likely documents would be divided differently from one that holds too few, and the estimate leans to one side.)
pub(crate) fn post_strata(first: &[Stratum], predictions: &[f64], labels: &[bool]) -> Vec<Stratum> {
    let drawn = drawn(first, predictions.len());
    let mut best: Option<(f64, Vec<Stratum>)> = None;
    for strata in joined(first, drawn) {
        let width = expected_width(&strata, drawn);
        match &best {
            Some((narrowest, _)) if width > *narrowest => break,
            _ => best = Some((width, strata)),
        }
    }
    let strata = best.map_or_else(|| first.to_vec(), |(_, strata)| strata);
    counted(strata, predictions, labels)
}

/// The strata of a simple random sample for an interval that holds whatever the truth is: as many as make it narrowest if
/// stated probabilities are right.
pub(crate) fn exact_post_strata(
    first: &[Stratum],
    predictions: &[f64],
    labels: &[bool],
    confidence: f64,
) -> Vec<Stratum> {
    /// More strata are never narrower: each has its part of the chance of a miss.
    const MOST: usize = 4;
    let drawn = drawn(first, predictions.len());
    let width = |strata: &Vec<Stratum>| {
        let expected: Vec<Stratum> = strata.iter().map(|s| s.as_expected(drawn)).collect();
        let (low, high) = stratified_exact_interval(&expected, confidence);
        high - low
    };
    let few = joined(first, drawn)
        .into_iter()
        .filter(|strata| strata.len() <= MOST);
    let best = few
        .map(|strata| (width(&strata), strata))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let strata = best.map_or_else(|| first.to_vec(), |(_, strata)| strata);
    counted(strata, predictions, labels)
}

/// The share of all documents that is drawn.
fn drawn(strata: &[Stratum], labelled: usize) -> f64 {
    let documents: u64 = strata.iter().map(|stratum| stratum.documents).sum();
    (labelled as f64 / documents.max(1) as f64).min(1.0)
}

/// The strata with the labelled documents in them.
fn counted(mut strata: Vec<Stratum>, predictions: &[f64], labels: &[bool]) -> Vec<Stratum> {
    let cuts: Vec<f64> = strata.iter().skip(1).filter_map(|s| s.from).collect();
    for (&f, &label) in predictions.iter().zip(labels) {
        let stratum = &mut strata[cuts.partition_point(|&cut| cut <= f)];
        stratum.labelled += 1;
        stratum.found += u64::from(label);
    }
    strata
}

/// The strata as they are, then one fewer at a time, always with those neighbours put together that leave the expected
/// interval narrowest, down to one.
fn joined(first: &[Stratum], drawn: f64) -> Vec<Vec<Stratum>> {
    let mut all = vec![first.to_vec()];
    while let Some(strata) = all.last().filter(|strata| strata.len() > 1) {
        let join = |place: usize| {
            let mut fewer = strata.clone();
            let next = fewer.remove(place + 1);
            fewer[place] = fewer[place].with(&next);
            (expected_width(&fewer, drawn), fewer)
        };
        let best = (0..strata.len() - 1)
            .map(join)
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, fewer)) = best else {
            break;
        };
        all.push(fewer);
    }
    all
}

/// How wide the interval would be if the stated probabilities were right: reaches of Wilson's intervals at 95 %, added
/// by their squares; a stratum that may stay without a label counts whole.
fn expected_width(strata: &[Stratum], drawn: f64) -> f64 {
    const Z2: f64 = 3.84;
    let (mut blind, mut below, mut above) = (0.0, 0.0, 0.0);
    for stratum in strata {
        let documents = stratum.documents as f64;
        let n = drawn * documents;
        if n < FEWEST_EXPECTED && drawn < 1.0 {
            blind += documents;
            continue;
        }
        let p = stratum.mean_stated;
        let middle = (p + Z2 / (2.0 * n)) / (1.0 + Z2 / n);
        let reach = (Z2 * (p * (1.0 - p) / n + Z2 / (4.0 * n * n))).sqrt() / (1.0 + Z2 / n);
        let weight = documents * documents * (1.0 - drawn);
        below += weight * (p - (middle - reach)).powi(2);
        above += weight * (middle + reach - p).powi(2);
    }
    blind + below.sqrt() + above.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Judges that say yes or no have two strata, however rare a yes is.
    fn hard_predictions_are_cut_between_no_and_yes() {
        let mut sorted = vec![0.0; 990];
        sorted.extend([1.0; 10]);
        assert_eq!(cut_points(&sorted, 12), [1.0]);
        assert!(cut_points(&[0.4; 50], 12).is_empty());
    }

    #[test]
    fn strata_hold_every_document_and_every_label() {
        let sorted: Vec<f64> = (0..2_000)
            .map(|i| (f64::from(i) / 2_000.0).powi(4))
            .collect();
        let predictions: Vec<f64> = sorted.iter().step_by(20).copied().collect();
        let labels: Vec<bool> = predictions.iter().map(|&f| f > 0.4).collect();
        let strata = post_strata(&first_strata(&sorted), &predictions, &labels);
        assert!(strata.len() > 2, "{}", strata.len());
        assert_eq!(strata.iter().map(|s| s.documents).sum::<u64>(), 2_000);
        assert_eq!(strata.iter().map(|s| s.labelled).sum::<u64>(), 100);
        let found = labels.iter().filter(|&&label| label).count() as u64;
        assert_eq!(strata.iter().map(|s| s.found).sum::<u64>(), found);
        assert!(strata.iter().all(|s| s.labelled > 0));
    }

    #[test] // Else the estimate would lean to one side.
    fn the_choice_of_strata_looks_neither_at_labels_nor_at_what_was_drawn() {
        let sorted: Vec<f64> = (0..500).map(|i| f64::from(i) / 500.0).collect();
        let cuts = |predictions: &[f64], label: bool| -> Vec<Option<f64>> {
            let labels = vec![label; predictions.len()];
            let strata = post_strata(&first_strata(&sorted), predictions, &labels);
            strata.iter().map(|stratum| stratum.from).collect()
        };
        let even: Vec<f64> = sorted.iter().step_by(5).copied().collect();
        assert_eq!(cuts(&even, true), cuts(&even, false));
        assert_eq!(cuts(&even, true), cuts(&sorted[..100], true));
        assert_eq!(cuts(&even, true), cuts(&sorted[400..], true));
    }
}
