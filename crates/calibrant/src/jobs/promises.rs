//! What predictions promise: sets that hold the true class, answers of which few are wrong, decisions of the best F.

mod error;
mod examples;
mod seen;

pub use error::PromiseError;
pub use examples::CalibrationExamples;
pub use seen::{ClassCoverage, SeenAnswers, SeenPromises, SeenSets};

use std::borrow::Cow;

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::prediction::{Decision, Prediction};
use crate::corpus::ContentRef;
use crate::decision::{
    ASK, BestF, CalibrationSource, Certified, CertifiedThreshold, Certify, Guarantee, LabelSetRule,
    SetBuffers, SetKind, SetRule, SetTable, best_f_beta, best_f_beta_by_label,
};
use crate::numeric::sigmoid;
use crate::pipeline::{Model, PredictBuffers, best};
use crate::{Probability, Task};

/// Sets that hold the true class with a stated probability; of several labels, a stated share of the true ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AskSets {
    /// How probably.
    pub coverage: f64,
    /// By what a class is judged to fit badly; of several labels there is one kind only.
    pub kind: SetKind,
    /// Whether that is to hold for documents of each class.
    pub class_by_class: bool,
    /// Whether a set that would be empty gets the most probable class: then sets hold the true class more often than asked for.
    pub keep_top: bool,
}

impl Default for AskSets {
    fn default() -> Self {
        Self {
            coverage: 0.9,
            kind: SetKind::Lac,
            class_by_class: false,
            keep_top: false,
        }
    }
}

/// Over what an F is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FAverage {
    /// All decisions together: one threshold for all labels.
    #[default]
    Micro,
    /// Label by label: a threshold for each.
    Macro,
    /// Document by document.
    Samples,
}

named! {
    FAverage, "an average of F";
    Micro = "micro", "All decisions of the file together: one threshold for all labels";
    Macro = "macro", "Label by label: a threshold for each, however rare it is";
    Samples = "samples", "Document by document, each by itself";
}

/// Yes or no about every label, so that the expected F is as large as can be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskF {
    /// How many times as much recall counts as precision.
    pub beta: f64,
    /// Over what it is taken.
    #[serde(default)]
    pub average: FAverage,
}

/// What is promised of sets, and how large they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetSummary {
    /// What was asked for.
    pub asked: AskSets,
    /// What is promised, and on which data.
    pub guarantee: Guarantee,
    /// Classes that are in every set, because there are too few examples to leave them out.
    pub always: Vec<String>,
    /// How many documents got a set.
    pub documents: u64,
    /// How many classes a set has on average.
    pub mean_size: f64,
    /// The share of sets without any.
    pub empty: f64,
}

/// What is certified of answers, and how many there were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerSummary {
    /// What was asked for.
    pub asked: Certify,
    /// On which data it rests.
    pub source: CalibrationSource,
    /// How many examples it rests on.
    pub examples: u64,
    /// The probability from which on answers are given; zero where all are.
    pub least_probability: f64,
    /// What was found on the examples: its threshold is in log-odds.
    pub found: CertifiedThreshold,
    /// How many documents there were.
    pub documents: u64,
    /// How many of them were answered.
    pub answered: u64,
}

/// The decisions of the best F.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FSummary {
    /// What was asked for.
    pub asked: AskF,
    /// The expected F, by the stated probabilities: the mean over labels or documents where it is not of all together.
    pub expected: f64,
    /// The threshold of all labels, or of each; none where every document has its own.
    pub thresholds: Vec<f64>,
}

/// Everything that was promised of a run of predictions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct PromiseSummary {
    /// Sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sets: Option<SetSummary>,
    /// Answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<AnswerSummary>,
    /// Decisions of the best F.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f_beta: Option<FSummary>,
}

/// A rule for sets, of one label or of several.
#[derive(Debug, Clone)]
enum Rule {
    Classes(SetRule),
    Labels(LabelSetRule),
}

/// Sets as a model gives them.
#[derive(Debug, Clone)]
pub(super) struct SetMaker {
    asked: AskSets,
    rule: Rule,
}

/// Room to work in.
#[derive(Debug, Default)]
pub(super) struct SetRoom {
    stated: Vec<f64>,
    buffers: SetBuffers,
    set: Vec<u32>,
}

impl SetMaker {
    /// From labelled examples, or from what the model keeps. `ratios` are of new shares of classes to those of training.
    pub(super) fn new(
        model: &Model,
        asked: AskSets,
        examples: Option<&CalibrationExamples>,
        new_shares: Option<&[f64]>,
    ) -> Result<Self, PromiseError> {
        let rule = match model.task() {
            Task::SingleLabel => Rule::Classes(class_rule(model, asked, examples, new_shares)?),
            Task::MultiLabel => {
                if asked.kind != SetKind::Lac || asked.class_by_class {
                    return Err(PromiseError::KindOfLabels);
                }
                if new_shares.is_some() {
                    return Err(PromiseError::SharesOfLabels);
                }
                let table = match examples {
                    Some(examples) => examples.label_table()?,
                    None => model
                        .promise_tables()
                        .and_then(|tables| tables.labels().cloned())
                        .ok_or(PromiseError::NothingKept)?,
                };
                enough(asked.coverage, false, table.documents())?;
                Rule::Labels(table.at(asked.coverage)?)
            }
        };
        Ok(Self { asked, rule })
    }

    /// The set of one document, the most probable first: by the probabilities of the model, before any shift of shares.
    pub(super) fn set<'r>(
        &self,
        model: &Model,
        content: ContentRef<'_>,
        classes: &[Probability],
        buffers: &mut PredictBuffers,
        room: &'r mut SetRoom,
    ) -> &'r [u32] {
        let key = match &self.rule {
            Rule::Classes(_) if self.asked.kind != SetKind::Lac => {
                model.document_draw_key(content, buffers)
            }
            _ => 0,
        };
        self.set_of(classes, key, room)
    }

    /// The same, where what names the document in draws is known.
    pub(super) fn set_of<'r>(
        &self,
        classes: &[Probability],
        key: u64,
        room: &'r mut SetRoom,
    ) -> &'r [u32] {
        let SetRoom {
            stated,
            buffers,
            set,
        } = room;
        stated.clear();
        stated.extend(classes.iter().map(|class| class.value()));
        match &self.rule {
            Rule::Classes(rule) => rule.set_into(stated, key, buffers, set),
            Rule::Labels(rule) => {
                rule.set_into(stated, set);
                set.sort_by(|&a, &b| stated[b as usize].total_cmp(&stated[a as usize]));
                if set.is_empty() && self.asked.keep_top {
                    set.push(best(classes).0 as u32);
                }
            }
        }
        set
    }

    pub(super) fn asked(&self) -> &AskSets {
        &self.asked
    }

    pub(super) fn guarantee(&self) -> &Guarantee {
        match &self.rule {
            Rule::Classes(rule) => rule.guarantee(),
            Rule::Labels(rule) => rule.guarantee(),
        }
    }

    fn always(&self) -> Vec<u32> {
        match &self.rule {
            Rule::Classes(rule) => rule.always(),
            Rule::Labels(_) => Vec::new(),
        }
    }

    /// With how large sets were.
    fn summary(&self, model: &Model, sizes: &SetSizes) -> SetSummary {
        let always = self.always();
        let named = (0..).zip(model.class_names());
        let documents = sizes.documents.max(1) as f64;
        SetSummary {
            asked: self.asked,
            guarantee: self.guarantee().clone(),
            always: named
                .filter(|(class, _)| always.contains(class))
                .map(|(_, name)| name.to_owned())
                .collect(),
            documents: sizes.documents,
            mean_size: sizes.classes as f64 / documents,
            empty: sizes.empty as f64 / documents,
        }
    }
}

fn class_rule(
    model: &Model,
    asked: AskSets,
    examples: Option<&CalibrationExamples>,
    new_shares: Option<&[f64]>,
) -> Result<SetRule, PromiseError> {
    let table = match examples {
        Some(examples) => examples.set_table(model, &asked)?,
        None => {
            let kept = model.promise_tables();
            let own = kept.as_ref().and_then(|tables| tables.sets(asked.kind));
            own.ok_or(PromiseError::NothingKept)?
                .clone()
                .with(asked.class_by_class, asked.keep_top)
        }
    };
    let of_classes = table.class_examples();
    let most = match asked.class_by_class {
        true => of_classes.iter().copied().max().unwrap_or(0),
        false => of_classes.iter().sum(),
    };
    enough(asked.coverage, asked.class_by_class, most)?;
    let ratios = new_shares.map(|new| {
        // Those of the table: what it was made of counts evenly, whatever weights the model was fitted with.
        let ratios = new
            .iter()
            .zip(shares(&of_classes))
            .map(|(new, old)| new / old);
        ratios.collect::<Vec<f64>>()
    });
    Ok(table.at_shares(asked.coverage, ratios.as_deref())?)
}

/// The share of each class among examples; one without any is put half an example away from that.
fn shares(of_classes: &[u64]) -> Vec<f64> {
    let all = of_classes.iter().sum::<u64>() as f64;
    let share = |&own: &u64| (own as f64).max(0.5) / all.max(1.0);
    of_classes.iter().map(share).collect()
}

/// A promise that examples are too few for is none.
fn enough(coverage: f64, class_by_class: bool, found: u64) -> Result<(), PromiseError> {
    let needed = SetTable::least_examples(coverage);
    match coverage > 0.0 && coverage < 1.0 && found < needed {
        true => Err(PromiseError::TooFewForSets {
            coverage,
            class_by_class,
            found,
            needed,
        }),
        false => Ok(()),
    }
}

/// Answers where they are sure enough.
#[derive(Debug, Clone)]
pub(super) struct Answerer {
    asked: Certify,
    source: CalibrationSource,
    examples: u64,
    found: CertifiedThreshold,
}

impl Answerer {
    pub(super) fn new(
        model: &Model,
        asked: Certify,
        examples: Option<&CalibrationExamples>,
    ) -> Result<Self, PromiseError> {
        if model.task() == Task::MultiLabel {
            return Err(PromiseError::AnswersOfLabels);
        }
        let (source, count, certified) = match examples {
            Some(examples) => (
                examples.source(),
                examples.answers() as u64,
                examples.certify(&asked)?,
            ),
            None => {
                let kept = model.promise_tables();
                let table = kept.as_ref().and_then(|tables| tables.answers());
                let table = table.ok_or(PromiseError::NothingKept)?;
                let certified = asked.threshold_from(table)?;
                (CalibrationSource::HeldOut, table.examples(), certified)
            }
        };
        match certified {
            Certified::Granted(found) => Ok(Self {
                asked,
                source,
                examples: count,
                found,
            }),
            Certified::Refused { examples_needed } => Err(PromiseError::NotCertified {
                max_error: asked.max_error,
                certainty: asked.certainty,
                found: count,
                least: asked.least_examples(),
                needed: examples_needed,
            }),
        }
    }

    /// Whether a document is answered.
    pub(super) fn answers(&self, classes: &[Probability]) -> bool {
        self.answers_at(best(classes).1)
    }

    /// Whether a document is answered whose likeliest class has these log-odds.
    pub(super) fn answers_at(&self, confidence: f64) -> bool {
        self.found.answers(confidence)
    }

    /// The most probable class, or that a person is asked.
    pub(super) fn decide<'m>(&self, names: &[&'m str], classes: &[Probability]) -> Decision<'m> {
        let (class, confidence) = best(classes);
        Decision::new(match self.found.answers(confidence) {
            true => Cow::Borrowed(names[class]),
            false => Cow::Borrowed(ASK),
        })
    }

    pub(super) fn summary(&self, documents: u64, answered: u64) -> AnswerSummary {
        AnswerSummary {
            asked: self.asked,
            source: self.source,
            examples: self.examples,
            least_probability: sigmoid(self.found.threshold),
            found: self.found,
            documents,
            answered,
        }
    }
}

/// Decisions of the best F, once all documents are seen.
#[derive(Debug, Clone)]
pub(super) struct BestDecisions {
    pub(super) summary: FSummary,
}

impl AskF {
    /// Whether it can be asked for.
    pub(super) fn check(&self, task: Task) -> Result<(), PromiseError> {
        if task == Task::SingleLabel {
            return Err(PromiseError::OneLabel);
        }
        match self.beta.is_finite() && self.beta > 0.0 {
            true => Ok(()),
            false => Err(PromiseError::BadBeta { beta: self.beta }),
        }
    }

    /// The decisions for these documents, `width` probabilities each.
    pub(super) fn decide(&self, probabilities: &[Probability], width: usize) -> BestDecisions {
        let stated: Vec<f64> = probabilities.iter().map(|p| p.value()).collect();
        let (thresholds, expected) = match self.average {
            FAverage::Micro => {
                let found = best_f_beta(&stated, self.beta);
                (vec![found.threshold], found.value)
            }
            FAverage::Macro => {
                let found = best_f_beta_by_label(&stated, width, self.beta);
                let sum: f64 = found.iter().map(|best| best.value).sum();
                let thresholds = found.iter().map(|best| best.threshold);
                (thresholds.collect(), sum / width.max(1) as f64)
            }
            FAverage::Samples => {
                let rows = stated.chunks_exact(width.max(1));
                let count = rows.len().max(1) as f64;
                let sum: f64 = rows
                    .map(|row| BestF::of_document(row, self.beta).value)
                    .sum();
                (Vec::new(), sum / count)
            }
        };
        BestDecisions {
            summary: FSummary {
                asked: *self,
                expected,
                thresholds,
            },
        }
    }
}

impl BestDecisions {
    /// Yes or no about each label that `said` shows.
    pub(super) fn decide(
        &self,
        names: &[&str],
        classes: &[Probability],
        said: &mut Prediction<'_>,
    ) {
        let accepted = self.accepted(classes);
        for class in &mut said.classes {
            let label = names.iter().position(|name| *name == class.label);
            let yes = label.is_some_and(|label| accepted[label]);
            class.decision = Some(Decision::new(if yes { "yes" } else { "no" }));
        }
    }

    /// By label, whether it is accepted.
    fn accepted(&self, classes: &[Probability]) -> Vec<bool> {
        let stated: Vec<f64> = classes.iter().map(|class| class.value()).collect();
        let above = |of_label: &dyn Fn(usize) -> f64| {
            let labels = stated.iter().enumerate();
            labels.map(|(label, &p)| p > of_label(label)).collect()
        };
        match self.summary.thresholds.as_slice() {
            [] => {
                let best = BestF::of_document(&stated, self.summary.asked.beta);
                // As many as it says: of labels that are equally probable, the first.
                let mut order: Vec<usize> = (0..stated.len()).collect();
                order.sort_by(|&a, &b| stated[b].total_cmp(&stated[a]));
                let mut accepted = vec![false; stated.len()];
                order[..best.accepted]
                    .iter()
                    .for_each(|&label| accepted[label] = true);
                accepted
            }
            [one] => above(&|_| *one),
            each => above(&|label| each[label]),
        }
    }
}

/// How large sets were.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SetSizes {
    documents: u64,
    classes: u64,
    empty: u64,
}

/// What was promised, counted while predictions go by.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PromiseCounts {
    sizes: SetSizes,
    documents: u64,
    answered: u64,
}

impl PromiseCounts {
    pub(super) fn count(&mut self, prediction: &Prediction<'_>) {
        if let Some(set) = &prediction.set {
            self.sizes.documents += 1;
            self.sizes.classes += set.len() as u64;
            self.sizes.empty += u64::from(set.is_empty());
        }
        if let Some(decision) = &prediction.decision {
            self.documents += 1;
            self.answered += u64::from(decision.action != ASK);
        }
    }

    pub(super) fn summary(
        &self,
        model: &Model,
        sets: Option<&SetMaker>,
        answers: Option<&Answerer>,
        f_beta: Option<FSummary>,
    ) -> PromiseSummary {
        PromiseSummary {
            sets: sets.map(|maker| maker.summary(model, &self.sizes)),
            answers: answers.map(|own| own.summary(self.documents, self.answered)),
            f_beta,
        }
    }
}
