//! Features to calibrated scores.

use std::collections::BTreeMap;

use calibrant::Task;
use calibrant::calibration::{CalibratorKind, MulticlassKind};
use calibrant::decision::ThresholdCosts;
use calibrant::pipeline::{ClassWeights, Classifier, Contender};
use calibrant::scorers::{
    AdaBoost, Approximate, BoostingKind, LearnerName, Nearness, NeighbourCount, Perceptron,
    Smoothing, Vote,
};
use calibrant::solvers::{HingeLoss, SolverLimits};
use clap::Args;

use super::FoldArguments;
use super::choice::choice;
use crate::error::CliError;

#[derive(Debug, Args)]
#[command(next_help_heading = "Learning and calibration")]
#[command(mut_arg("folds", |folds| folds.help("Folds of the cross-fitting that gives calibration its held-out scores")))]
#[command(mut_arg("seed", |seed| seed.help("The random seed of folds and of the order in which rows are visited")))]
pub(crate) struct LearningArguments {
    /// The learner (default: svm; with --search, any)
    #[arg(long, value_name = "CLASSIFIER", value_parser = choice::<LearnerName>())]
    pub(crate) classifier: Option<LearnerName>,
    /// The cost of errors, C (default: 0.5 for the SVM, 10 for logistic regression; two or four times that if classes
    /// are easy to separate and the held-out log loss is lower)
    #[arg(long, allow_negative_numbers = true, value_name = "C")]
    pub(crate) c: Option<f64>,
    /// The SVM's loss
    #[arg(long, value_parser = choice::<HingeLoss>(), default_value_t = HingeLoss::SquaredHinge)]
    pub(crate) loss: HingeLoss,
    /// SVM: scale terms by their log-count ratio (how much more often they occur with the class than without), smoothed
    /// by X
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) log_count_ratio: Option<f64>,
    /// The relative duality gap at which the SVM and logistic regression stop
    #[arg(long, allow_negative_numbers = true, value_name = "X", default_value_t = SolverLimits::default().relative_gap)]
    pub(crate) tolerance: f64,
    /// The maximum number of passes over the data; if it is reached without convergence, a warning says so
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = SolverLimits::default().max_passes)]
    pub(crate) max_passes: usize,
    /// Naive Bayes: additive smoothing, added to the count of every word (default: 1, Laplace's rule)
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) alpha: Option<f64>,
    /// Naive Bayes: smooth with this many extra words, distributed as in the whole corpus, instead of --alpha
    #[arg(long, allow_negative_numbers = true, value_name = "X")]
    pub(crate) word_prior: Option<f64>,
    /// Rocchio: the similarity of a document and the centroid of a class
    #[arg(long, value_parser = choice::<Nearness>(), default_value_t = Nearness::Cosine)]
    pub(crate) nearness: Nearness,
    /// AdaBoost: the most stumps per class
    #[arg(long, allow_negative_numbers = true, value_name = "N", default_value_t = AdaBoost::default().rounds)]
    pub(crate) rounds: usize,
    /// AdaBoost: the kind of stump
    #[arg(long, value_parser = choice::<BoostingKind>(), default_value_t = BoostingKind::Real)]
    pub(crate) boosting: BoostingKind,
    /// Nearest neighbours: how many vote; auto chooses by log loss among the training documents
    #[arg(long, value_name = "N|auto", value_parser = neighbour_count, default_value = "auto")]
    pub(crate) neighbours: NeighbourCount,
    /// Nearest neighbours: how votes are weighted
    #[arg(long, value_parser = choice::<Vote>(), default_value_t = Vote::Similarity)]
    pub(crate) vote: Vote,
    /// Nearest neighbours: search only part of the index; faster, and may miss some neighbours
    #[arg(long)]
    pub(crate) approximate: bool,
    /// Perceptron: passes over the documents
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "N",
        default_value_t = Perceptron::default().epochs
    )]
    pub(crate) epochs: usize,
    /// Perceptron: let all stages of learning vote, instead of averaging them
    #[arg(long)]
    pub(crate) voted: bool,
    /// `balanced`, or CLASS=WEIGHT,… for the positives of those classes
    #[arg(long, value_name = "WEIGHTS")]
    pub(crate) class_weight: Option<String>,
    /// Learn only these classes
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    pub(crate) classes: Vec<String>,
    /// One label per document or several (detected from the data by default)
    #[arg(long, value_parser = choice::<LabelCount>())]
    pub(crate) labels: Option<LabelCount>,
    /// How scores become probabilities; auto chooses for each class by held-out log loss
    #[arg(long, value_name = "METHOD", value_parser = choice::<CalibratorKind>(), default_value_t = CalibratorKind::Auto)]
    pub(crate) calibrator: CalibratorKind,
    /// Make every curve monotone: no class becomes less likely as its own score grows
    #[arg(long)]
    pub(crate) monotone: bool,
    /// With one label per document: how the classes are calibrated together
    #[arg(long, value_parser = choice::<MulticlassKind>(), value_name = "WAY", default_value_t = MulticlassKind::Auto)]
    pub(crate) multiclass: MulticlassKind,
    /// The costs of a false positive and of a false negative, for `predict --other cost`
    #[arg(long, value_name = "FP:FN", value_parser = threshold_costs)]
    pub(crate) other_cost: Option<ThresholdCosts>,
    #[command(flatten)]
    pub(crate) folds: FoldArguments,
}

fn neighbour_count(text: &str) -> Result<NeighbourCount, String> {
    match text.parse() {
        Ok(count) if count > 0 => Ok(NeighbourCount::Fixed(count)),
        _ if text == "auto" => Ok(NeighbourCount::Chosen),
        _ => Err("it must be a whole number from 1 on, or auto".to_owned()),
    }
}

/// How many labels a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelCount {
    One,
    Several,
}

calibrant::named! {
    LabelCount, "a number of labels";
    One = "one", "Every document has exactly one";
    Several = "several", "A document has any number, none included";
}

impl From<LabelCount> for Task {
    fn from(count: LabelCount) -> Self {
        match count {
            LabelCount::One => Self::SingleLabel,
            LabelCount::Several => Self::MultiLabel,
        }
    }
}

fn threshold_costs(text: &str) -> Result<ThresholdCosts, String> {
    let parsed = text.split_once(':').and_then(|(wrong, left)| {
        Some(ThresholdCosts {
            false_positive: wrong.parse().ok()?,
            false_negative: left.parse().ok()?,
        })
    });
    parsed.ok_or_else(|| "it must be two numbers with a colon between, for example 1:5".into())
}

impl LearningArguments {
    pub(crate) fn classifier(&self) -> Classifier {
        let usual = self.classifier.map(|name| name.classifier());
        self.as_asked(usual.unwrap_or_default())
    }

    /// The learners that a search may try: the one that was asked for, or all. An option that was
    /// given is not turned.
    pub(crate) fn contenders(&self) -> Vec<Contender> {
        let tuned = |classifier: &Classifier| match classifier {
            Classifier::NaiveBayes(_) => self.alpha.is_none() && self.word_prior.is_none(),
            _ => self.c.is_none(),
        };
        let classifiers = match self.classifier {
            Some(_) => vec![self.classifier()],
            None => {
                let usual = Contender::usual().into_iter();
                usual.map(|usual| self.as_asked(usual.classifier)).collect()
            }
        };
        classifiers
            .into_iter()
            .map(|classifier| Contender {
                classifier,
                tuned: tuned(&classifier),
            })
            .collect()
    }

    /// A learner with the options that were given for it.
    fn as_asked(&self, mut classifier: Classifier) -> Classifier {
        let limits = SolverLimits {
            relative_gap: self.tolerance,
            max_passes: self.max_passes,
        };
        match &mut classifier {
            Classifier::LinearSvm(svm) => {
                svm.c = self.c;
                svm.loss = self.loss;
                svm.limits = limits;
                // A search tries both ways unless one was asked for.
                svm.log_count_ratio = self.log_count_ratio.or(svm.log_count_ratio);
            }
            Classifier::LogisticRegression(logistic) => {
                logistic.c = self.c;
                logistic.limits = limits;
            }
            Classifier::NaiveBayes(bayes) => {
                bayes.smoothing = match self.word_prior {
                    Some(strength) => Smoothing::CorpusPrior { strength },
                    None => Smoothing::Laplace {
                        alpha: self.alpha.unwrap_or(1.0),
                    },
                };
            }
            Classifier::Rocchio(rocchio) => {
                rocchio.nearness = self.nearness;
            }
            Classifier::AdaBoost(boosting) => {
                boosting.rounds = self.rounds;
                boosting.kind = self.boosting;
            }
            Classifier::NearestNeighbours(neighbours) => {
                neighbours.k = self.neighbours;
                neighbours.vote = self.vote;
                neighbours.approximate = self.approximate.then(Approximate::default);
            }
            Classifier::Perceptron(perceptron) => {
                perceptron.epochs = self.epochs;
                perceptron.voted = self.voted;
            }
            // A learner without options of its own has nothing to take.
            _ => {}
        }
        classifier
    }

    pub(crate) fn class_weights(&self) -> Result<ClassWeights, CliError> {
        let Some(text) = &self.class_weight else {
            return Ok(ClassWeights::Equal);
        };
        if text == "balanced" {
            return Ok(ClassWeights::Balanced);
        }
        let mut weights = BTreeMap::new();
        for part in text.split(',') {
            let parsed = part
                .rsplit_once('=')
                .and_then(|(class, weight)| Some((class, weight.parse::<f64>().ok()?)));
            let Some((class, weight)) = parsed else {
                return Err(
                    CliError::new(format!("--class-weight: `{part}` is not CLASS=WEIGHT"))
                        .hint("for example --class-weight balanced or --class-weight spam=2,ham=1"),
                );
            };
            weights.insert(class.to_owned(), weight);
        }
        Ok(ClassWeights::Given(weights))
    }

    pub(crate) fn task(&self) -> Option<Task> {
        self.labels.map(Into::into)
    }
}
