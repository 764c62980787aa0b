//! What a model says of labelled documents.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::test_set::{Ask, Matched, Said, TestSet};
use crate::corpus::{Document, LabelNeed, ReadError, ReadOptions, ReadSummary, Source};
use crate::evaluation::{Forecasts, OpenForecast, TestSetHash};
use crate::features::UnknownCells;
use crate::pipeline::{Acquaintance, Model, TestDocuments, best};
use crate::{Probability, Progress};

/// What is kept of a model's forecasts beside the probabilities.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ForecastSettings {
    /// Outputs of the scorer whose scores are kept.
    pub outputs: Vec<usize>,
    /// The classes' thresholds, from [`Model::other_thresholds`]: with them every document is also a forecast of whether
    /// it is of a class at all.
    pub thresholds: Option<Vec<f64>>,
    /// How many documents of the surest mistakes are kept.
    pub worst: usize,
}

/// Forecasts of the documents that can be measured, beside what became of the others.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LabelledForecasts {
    /// Probabilities, and labels as numbers of classes.
    pub forecasts: Forecasts,
    /// Labels that the model does not know, with how many documents have them; none where it was asked for some of the
    /// classes only.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that cannot be measured: with one label per document, those without exactly one that is known.
    pub left_out: usize,
    /// With one label per document: those of the documents left out whose label the model does not know.
    pub(super) strangers: Strangers,
    /// Cells beside the text that mean nothing to the model.
    pub unknown_cells: UnknownCells,
    /// How many of the documents the model learned from.
    pub known: Acquaintance,
    /// Of each measured document, whether it is taken for one of these.
    pub(super) learned: Vec<bool>,
    /// What tells this test set from others.
    pub test_set: TestSetHash,
    /// Which of the measured documents belong together.
    pub documents: TestDocuments,
    /// Document by document, the numbers of [`Fields::amounts`](crate::corpus::Fields::amounts).
    pub amounts: Vec<f64>,
    /// Document by document, the scores of [`ForecastSettings::outputs`].
    pub scores: Vec<f64>,
    /// Whether documents are of a class at all, measured or not; empty without thresholds.
    pub open: Vec<OpenForecast>,
    /// Documents whose answers are wrong although the model is sure, by their places among the measured.
    pub worst: Vec<(usize, Document)>,
    /// What was read; `None` for documents in memory.
    pub read: Option<ReadSummary>,
}

/// Documents whose one label is none of the classes: whatever is answered to them is wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Strangers {
    /// Document by document, class by class.
    pub(super) probabilities: Vec<Probability>,
    width: usize,
    pub(super) weights: Vec<f64>,
    /// Which of them belong together.
    documents: TestDocuments,
    /// Whether the document is the first of its content.
    first: Vec<bool>,
}

impl Strangers {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// How sure the model is of its answer to each, in log-odds.
    pub(super) fn confidences(&self) -> impl Iterator<Item = f64> {
        let rows = self.probabilities.chunks_exact(self.width.max(1));
        rows.map(|row| best(row).1)
    }

    /// The same of those that are no copies of others.
    pub(super) fn distinct(&self) -> Vec<f64> {
        let all = self.confidences().zip(&self.first);
        all.filter_map(|(sure, first)| first.then_some(sure))
            .collect()
    }

    /// As answers that are all wrong: how probable each was said to be, its weight, and what it belongs with.
    pub(super) fn answers(&self) -> Vec<(f64, f64, Option<u64>)> {
        let together = self.documents.together();
        let all = self.confidences().zip(&self.weights).enumerate();
        all.map(|(place, (sure, &weight))| {
            let unit = together.get(place).copied().flatten();
            (Probability::from_log_odds(sure).value(), weight, unit)
        })
        .collect()
    }
}

impl Model {
    /// Reads labelled documents, predicts each, and matches their labels to classes. Fields that `options` do not name are
    /// those that the model learned from.
    pub fn forecast(
        &self,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<LabelledForecasts, ReadError> {
        self.forecast_with(source, options, &ForecastSettings::default(), progress)
    }

    /// As [`Self::forecast`], keeping more.
    pub fn forecast_with(
        &self,
        source: &Source,
        options: &ReadOptions,
        settings: &ForecastSettings,
        progress: &dyn Progress,
    ) -> Result<LabelledForecasts, ReadError> {
        let mut options = options.clone();
        options.fields = options.fields.completed_by(self.fields());
        options.labels_required = LabelNeed::Required;
        let (mut test_set, mut said) = (TestSet::default(), Said::default());
        let mut ask = self.ask(settings);
        ask.fold |= options.fold_labels;
        let asks = [ask];
        let read = test_set.read(source, &options, &asks, &mut [&mut said], progress)?;
        Ok(LabelledForecasts {
            read: Some(read),
            ..LabelledForecasts::of(self, test_set, said, settings)
        })
    }

    /// The same for documents in memory.
    ///
    /// ```
    /// use calibrant::{NoProgress, corpus::{Document, Fields}, pipeline::{FitSettings, TrainingCorpus, fit}};
    /// let documents: Vec<Document> = (0..40).map(|i| match i % 2 {
    ///     0 => Document::new(format!("lunch at noon {i}")).label("ham"),
    ///     _ => Document::new(format!("win big money {i}")).label("spam"),
    /// }).collect();
    /// let settings = FitSettings::default();
    /// let corpus = TrainingCorpus::of_documents(&settings, documents)?;
    /// let model = fit(corpus, Fields::default(), &settings, &NoProgress)?;
    /// let test = [Document::new("big money").label("spam"), Document::new("menu").label("eggs")];
    /// let found = model.forecast_documents(&test);
    /// assert_eq!((found.forecasts.labels.len(), found.left_out), (1, 1));
    /// assert_eq!(found.unknown_labels["eggs"], 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn forecast_documents(&self, documents: &[Document]) -> LabelledForecasts {
        self.forecast_documents_with(documents, &ForecastSettings::default())
    }

    /// As [`Self::forecast_documents`], keeping more.
    pub fn forecast_documents_with(
        &self,
        documents: &[Document],
        settings: &ForecastSettings,
    ) -> LabelledForecasts {
        let (mut test_set, mut said) = (TestSet::default(), Said::default());
        test_set.ask(documents, &[self.ask(settings)], &mut [&mut said]);
        LabelledForecasts::of(self, test_set, said, settings)
    }

    fn ask<'a>(&'a self, settings: &'a ForecastSettings) -> Ask<'a> {
        Ask {
            outputs: &settings.outputs,
            thresholds: settings.thresholds.as_deref(),
            worst: settings.worst,
            ..Ask::plain(self)
        }
    }
}

impl LabelledForecasts {
    fn of(model: &Model, test_set: TestSet, said: Said, settings: &ForecastSettings) -> Self {
        let width = model.class_count();
        let matched = test_set.matched(model.task(), model.class_names(), model.folds_labels());
        let rows = said.probabilities.chunks_exact(width.max(1));
        let asked = rows.zip(matched.classes.iter()).zip(&said.above);
        let open = asked.map(|((row, known), &above)| open_forecast(known, row, above));
        let open = open.collect();
        // What the model calls equal counts as equal here: labels are those that it knows.
        let mut documents = test_set.documents.part(&matched.measured);
        documents.labels.clear();
        let labels = matched.labels();
        let amounts = test_set.amounts_of(&matched);
        let strangers = strangers(&test_set, &matched, &said.probabilities, width);
        let worst = said.worst.into_iter().filter_map(|(_, place, document)| {
            Some((matched.measured.binary_search(&place).ok()?, document))
        });
        let worst = worst.collect();
        for classes in labels.iter() {
            documents.push_labels(classes.iter().map(|class| class.to_le_bytes()));
        }
        Self {
            forecasts: Forecasts {
                task: model.task(),
                class_names: model.class_names().map(str::to_owned).collect(),
                probabilities: matched.rows(said.probabilities, width),
                labels,
                weights: Some(matched.rows(test_set.weights, 1)),
            },
            amounts,
            scores: matched.rows(said.scores, settings.outputs.len()),
            learned: matched.rows(said.learned, 1),
            left_out: matched.matcher.left_out,
            strangers,
            // A model that was asked for some classes only is expected not to know the others.
            unknown_labels: match model.chose_classes() {
                true => BTreeMap::new(),
                false => matched.matcher.unknown_labels,
            },
            unknown_cells: said.unknown_cells,
            known: said.known,
            test_set: test_set.hash,
            documents,
            open,
            worst,
            read: None,
        }
    }
}

/// Documents whose one label is none of the classes.
fn strangers(
    test_set: &TestSet,
    matched: &Matched,
    probabilities: &[Probability],
    width: usize,
) -> Strangers {
    let (mut seen, mut found) = (HashSet::new(), Strangers::default());
    let mut places = Vec::new();
    found.width = width;
    let labels = test_set.labels.iter().zip(matched.classes.iter());
    for (document, (given, known)) in labels.enumerate() {
        let measured = matched.measured.binary_search(&document).is_ok();
        if measured || given.len() != 1 || !known.is_empty() {
            continue;
        }
        let key = test_set.documents.keys.get(document).copied();
        let first = seen.insert(key.unwrap_or(document as u128));
        let row = &probabilities[document * width..(document + 1) * width];
        found.probabilities.extend(row);
        found.first.push(first);
        found.weights.push(test_set.weights[document]);
        places.push(document);
    }
    found.documents = test_set.documents.part(&places);
    found
}

/// What became of a document with these known classes; `above` is how far the best class is above its threshold.
fn open_forecast(known: &[u32], classes: &[Probability], above: f64) -> OpenForecast {
    let all = classes.iter().copied().enumerate();
    let first = all.reduce(|best, class| {
        if class.1.log_odds() > best.1.log_odds() {
            class
        } else {
            best
        }
    });
    OpenForecast {
        unknown: known.is_empty(),
        called_other: above < 0.0,
        best: above,
        largest_probability: first.map_or(0.0, |(_, probability)| probability.value()),
        right: first.is_some_and(|(class, _)| known.contains(&(class as u32))),
    }
}

/// Labels that are classes but for how a whole number is written, as in `1.0` for `1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenOtherwise {
    /// A label of the documents.
    pub label: String,
    /// The class that it would be.
    pub class: String,
}

impl WrittenOtherwise {
    /// The first of them, if all unknown labels are so.
    ///
    /// ```
    /// use calibrant::jobs::WrittenOtherwise;
    /// let unknown = [("1.0".to_owned(), 7)].into();
    /// assert_eq!(WrittenOtherwise::of(&unknown, ["0", "1"].into_iter()).unwrap().class, "1");
    /// assert_eq!(WrittenOtherwise::of(&unknown, ["spam"].into_iter()), None);
    /// ```
    pub fn of<'a>(
        unknown: &BTreeMap<String, usize>,
        classes: impl Iterator<Item = &'a str>,
    ) -> Option<Self> {
        let whole = |label: &str| {
            let number: f64 = label.trim().parse().ok()?;
            (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i64)
        };
        let known: BTreeMap<i64, &str> = classes.filter_map(|k| Some((whole(k)?, k))).collect();
        let mut pairs = unknown.keys().map(|label| {
            let class = known.get(&whole(label)?)?;
            Some(Self {
                label: label.clone(),
                class: (*class).to_owned(),
            })
        });
        let first = pairs.next()??;
        pairs.all(|pair| pair.is_some()).then_some(first)
    }
}

impl std::fmt::Display for WrittenOtherwise {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "all unknown labels are whole numbers written differently: `{}` instead of `{}`",
            self.label, self.class
        )
    }
}
