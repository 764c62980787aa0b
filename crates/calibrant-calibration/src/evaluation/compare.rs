//! Several systems on one test set: who is best, and could it be luck?

mod auc;
mod costs;
mod losses;

use serde::{Deserialize, Serialize};

use self::auc::mean_auc;
pub use self::costs::{CostsOfDocuments, compare_with_costs};
use self::losses::{Loss, Losses};
use super::forecasts::{EvaluationError, Forecasts, Row};
use super::measures::{LossUnit, evaluate};
use super::significance::{
    BootstrapDifference, McNemarTest, Resamples, SignTest, WilcoxonTest, wilcoxon_signed_rank,
};
use super::units::Units;
use crate::Task;
use crate::numeric::StableSum;
use crate::parallel;

/// How systems are compared.
///
/// ```
/// use calibrant_calibration::evaluation::CompareSettings;
/// assert_eq!(CompareSettings::default().level, 0.01); // Bennett's
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareSettings {
    /// A p-value below this counts as significant.
    pub level: f64,
    /// How often documents are drawn again for intervals; 0 leaves them out.
    pub bootstrap: usize,
    /// How much of the drawn differences an interval holds.
    pub confidence: f64,
    /// For the draws.
    pub seed: u64,
}

impl Default for CompareSettings {
    fn default() -> Self {
        Self {
            level: 0.01,
            bootstrap: 1_000,
            confidence: 0.95,
            seed: 1,
        }
    }
}

/// The most draws that may be asked for.
const MOST_RESAMPLES: usize = 100_000;

impl CompareSettings {
    fn check(&self) -> Result<(), EvaluationError> {
        let share = |value: f64| value > 0.0 && value < 1.0;
        let bad = |setting, requirement, value: String| {
            Err(EvaluationError::BadSetting {
                setting,
                requirement,
                value,
            })
        };
        if !share(self.level) {
            return bad("the level", "between 0 and 1", self.level.to_string());
        }
        if !share(self.confidence) {
            return bad(
                "the confidence",
                "between 0 and 1",
                self.confidence.to_string(),
            );
        }
        if self.bootstrap > MOST_RESAMPLES {
            return bad(
                "the number of resamples",
                "at most 100000",
                self.bootstrap.to_string(),
            );
        }
        Ok(())
    }
}

/// Systems side by side, and every two of them against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The kind of forecasts.
    pub task: Task,
    /// Documents with a weight above zero.
    pub documents: usize,
    /// Pieces of evidence, which is what tests count: groups, and documents that stand for themselves.
    #[serde(default)]
    pub units: usize,
    /// Decisions: one per document, or for multi-label forecasts one per document and class.
    pub decisions: usize,
    /// What mean losses are means over.
    pub losses_over: LossUnit,
    /// Whether documents had weights other than one. Means, sums and the bootstrap use them; the
    /// tests that count and rank take every document alike.
    pub weighted: bool,
    /// A p-value below this counts as significant.
    pub level: f64,
    /// The systems, in the order they came in.
    pub systems: Vec<ComparedSystem>,
    /// Every two systems, in the order of the systems.
    pub pairs: Vec<ComparedPair>,
}

/// One system in a [`Comparison`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedSystem {
    /// What it is called.
    pub name: String,
    /// Log loss, in nats.
    pub log_loss: MarkedLoss,
    /// Brier score (squared error), as [`super::Evaluation::brier_definition`] has it for the task.
    pub brier: MarkedLoss,
    /// Wrong decisions, by weight.
    pub errors: MarkedLoss,
    /// Wrong decisions, counted without weights: what [`super::Evaluation::errors`] is.
    #[serde(default)]
    pub error_count: usize,
    /// Share of documents whose most probable class is the label; single-label only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
    /// F1 of the counts of all classes together.
    pub micro_f1: f64,
    /// Mean F1 of the classes.
    pub macro_f1: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// The calibration error that a perfect forecaster would show by chance.
    pub ece_of_perfect: f64,
    /// Mean area under the ROC curve, each class against the rest; absent where no class has both
    /// members and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// What its decisions of least expected cost really cost, where costs were given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<MarkedLoss>,
}

/// A loss, and how it stands beside those of the other systems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkedLoss {
    /// The mean over documents or decisions.
    pub mean: f64,
    /// The sum over them, in units of a mean weight of 1 a document.
    pub sum: f64,
    /// No other system has a smaller sum. Printed bold in Bennett's tables.
    pub best: bool,
    /// Significantly better than every other system. Underlined in Bennett's tables.
    pub significantly_best: bool,
    /// The systems than which it is significantly better: by the micro sign test, with more wins
    /// than losses, with the smaller sum, and by a bootstrap interval of the difference, if there is one, that
    /// leaves out zero.
    pub significantly_better_than: Vec<String>,
}

/// Two systems in a [`Comparison`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedPair {
    /// The name of one.
    pub first: String,
    /// The name of the other.
    pub second: String,
    /// By log loss.
    pub log_loss: LossDifference,
    /// By squared error.
    pub brier: LossDifference,
    /// By wrong decisions; the sign test is here McNemar's exact one.
    pub errors: LossDifference,
    /// Who alone was right.
    pub mcnemar: McNemarTest,
    /// By what decisions cost, where costs were given; the sign test asks of every document (or group) whose was cheaper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<LossDifference>,
}

/// How two systems differ in one loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LossDifference {
    /// The mean of the first less that of the second: below zero if the first is better.
    pub difference: f64,
    /// Who was closer, over all decisions on which they differ.
    pub sign: SignTest,
    /// Ranks of the documents' differences; positive where the first lost more.
    pub wilcoxon: WilcoxonTest,
    /// The interval of the difference, if asked for; absent where fewer than three groups cannot tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BootstrapDifference>,
}

impl LossDifference {
    /// The system that is closer significantly more often (sign test, 5 %), though the other has the smaller mean: `Less`
    /// for the first, `Greater` for the second, nothing where both agree.
    pub fn often_but_not_on_average(&self) -> Option<std::cmp::Ordering> {
        if self.sign.p_value >= 0.05 {
            return None;
        }
        let often = self.sign.losses.cmp(&self.sign.wins);
        let on_average = self.difference.partial_cmp(&0.0)?;
        (often == on_average.reverse() && on_average.is_ne()).then_some(often)
    }
}

/// Measures systems on the same test set and holds every two of them against each other.
///
/// A system is marked as significantly better than another if the micro sign test says so at
/// `settings.level`, it has the wins, its sum is smaller too, and the bootstrap interval of the difference (where
/// draws were asked for) leaves out zero: a forecaster that is a
/// little closer nearly always and ruinously wrong now and then earns no mark, though the
/// pair's numbers show its wins.
///
/// # When it misleads
/// Of many comparisons some come out significant by luck: with thirty systems there are 435 pairs,
/// and no correction is made for their number (Bennett's tables make none either). Choosing the best
/// of many by a test set makes its numbers on that set too good.
///
/// # Reference
/// Bennett, SIGIR 2003, section 4.3 and the caption of table 1.
///
/// ```
/// use calibrant_calibration::{Probability, Task, evaluation::{CompareSettings, Forecasts, compare}};
/// let said = |log_odds: f64| Forecasts {
///     task: Task::MultiLabel,
///     class_names: vec!["wheat".into()],
///     probabilities: vec![Probability::from_log_odds(log_odds); 10],
///     labels: vec![vec![0]; 10].into(),
///     weights: None,
/// };
/// let comparison = compare(&[("sure", &said(2.0)), ("unsure", &said(1.0))], &CompareSettings::default())?;
/// // By hand: closer ten times out of ten, p = 2 / 2^10 < 0.01; both always right.
/// assert!(comparison.systems[0].log_loss.significantly_best);
/// assert!((comparison.pairs[0].log_loss.sign.p_value - 2.0 / 1024.0).abs() < 1e-15);
/// assert!(comparison.systems[0].errors.best && comparison.systems[1].errors.best);
/// # Ok::<(), calibrant_calibration::evaluation::EvaluationError>(())
/// ```
pub fn compare(
    systems: &[(&str, &Forecasts)],
    settings: &CompareSettings,
) -> Result<Comparison, EvaluationError> {
    compare_groups(systems, &[], settings)
}

/// As [`compare`], for documents that belong together: for intervals of differences groups are drawn instead of
/// documents, and a group has one vote in the sign test and McNemar's (that of most of its documents) and one
/// difference in Wilcoxon's (their mean). `groups` has an entry per document, `None` for those that stand for themselves.
pub fn compare_groups(
    systems: &[(&str, &Forecasts)],
    groups: &[Option<u64>],
    settings: &CompareSettings,
) -> Result<Comparison, EvaluationError> {
    settings.check()?;
    check(systems)?;
    let measured: Vec<(ComparedSystem, Losses<'_>)> =
        parallel::try_map(systems, |&(name, forecasts)| measure(name, forecasts))?;
    let (mut compared, losses): (Vec<ComparedSystem>, Vec<Losses<'_>>) =
        measured.into_iter().unzip();
    let resamples = (settings.bootstrap > 0)
        .then(|| draw(&losses, groups, settings))
        .filter(Resamples::can_tell);
    let units = Units::of_rows(losses[0].rows(), groups);
    let numbers = pair_numbers(systems.len());
    let pairs: Vec<ComparedPair> = parallel::map(&numbers, |&(first, second)| {
        let between = [first, second].map(|number| (number, &compared[number], &losses[number]));
        pair(between, &units, resamples.as_ref(), settings)
    });
    mark(&mut compared, &numbers, &pairs, settings.level);
    let (_, forecasts) = systems[0];
    let documents = losses[0].rows().len();
    let (decisions, losses_over) = match forecasts.task {
        Task::SingleLabel => (documents, LossUnit::Documents),
        Task::MultiLabel => (documents * forecasts.class_names.len(), LossUnit::Decisions),
    };
    let weighted =
        |weights: &Vec<f64>| weights.iter().any(|&weight| weight != 1.0 && weight != 0.0);
    Ok(Comparison {
        task: forecasts.task,
        documents,
        units: units.count(),
        decisions,
        losses_over,
        weighted: forecasts.weights.as_ref().is_some_and(weighted),
        level: settings.level,
        systems: compared,
        pairs,
    })
}

/// Every two of so many systems, in order.
fn pair_numbers(systems: usize) -> Vec<(usize, usize)> {
    (0..systems)
        .flat_map(|first| (first + 1..systems).map(move |second| (first, second)))
        .collect()
}

/// Systems can be compared if they answered the same questions.
fn check(systems: &[(&str, &Forecasts)]) -> Result<(), EvaluationError> {
    let [(first, reference), others @ ..] = systems else {
        return Err(EvaluationError::TooFewSystems { found: 0 });
    };
    if others.is_empty() {
        return Err(EvaluationError::TooFewSystems { found: 1 });
    }
    for (number, (name, forecasts)) in systems.iter().enumerate() {
        forecasts.check()?;
        if systems[..number].iter().any(|(earlier, _)| earlier == name) {
            return Err(EvaluationError::RepeatedName {
                name: (*name).to_owned(),
            });
        }
        let what = if forecasts.task != reference.task {
            Some("kinds of forecasts (single-label and multi-label)")
        } else if forecasts.class_names != reference.class_names {
            Some("classes, or the same in another order")
        } else if forecasts.labels.len() != reference.labels.len() {
            Some("numbers of documents")
        } else if forecasts.labels != reference.labels {
            Some("true labels")
        } else if forecasts.weights != reference.weights {
            Some("weights of documents")
        } else {
            None
        };
        if let Some(what) = what {
            return Err(EvaluationError::NotTheSame {
                first: (*first).to_owned(),
                second: (*name).to_owned(),
                what,
            });
        }
    }
    Ok(())
}

/// One system by itself; marks come later.
fn measure<'a>(
    name: &str,
    forecasts: &'a Forecasts,
) -> Result<(ComparedSystem, Losses<'a>), EvaluationError> {
    let evaluation = evaluate(forecasts)?;
    let losses = Losses::new(forecasts);
    let rows = losses.rows();
    let total: StableSum = rows.iter().map(|row| row.weight).collect();
    let in_document = match forecasts.task {
        Task::SingleLabel => 1.0,
        Task::MultiLabel => forecasts.class_names.len() as f64,
    };
    let unmarked = |loss: Loss| {
        let terms = losses
            .of_documents(loss)
            .iter()
            .zip(rows)
            .map(|(of_document, row)| {
                // An error count divided by the classes and multiplied again must be whole once more.
                let in_all = if loss == Loss::Errors {
                    (of_document * in_document).round()
                } else {
                    of_document * in_document
                };
                row.weight * in_all
            });
        let sum = terms.collect::<StableSum>().total();
        MarkedLoss {
            mean: sum / total.total() / in_document,
            sum: sum.min(f64::MAX),
            best: false,
            significantly_best: false,
            significantly_better_than: Vec::new(),
        }
    };
    let system = ComparedSystem {
        name: name.to_owned(),
        log_loss: unmarked(Loss::Log),
        brier: unmarked(Loss::Squared),
        errors: unmarked(Loss::Errors),
        error_count: evaluation.errors,
        accuracy: evaluation.accuracy,
        micro_f1: evaluation.micro_f1,
        macro_f1: evaluation.macro_f1,
        ece: evaluation.ece,
        ece_of_perfect: evaluation.ece_of_perfect,
        auc: mean_auc(forecasts, rows),
        cost: None,
    };
    Ok((system, losses))
}

/// All losses of all systems over the same draws; those of one system stand together.
fn draw(losses: &[Losses<'_>], groups: &[Option<u64>], settings: &CompareSettings) -> Resamples {
    let columns: Vec<&[f64]> = losses
        .iter()
        .flat_map(|losses| Loss::ALL.map(|loss| losses.of_documents(loss)))
        .collect();
    let weights: Vec<f64> = losses[0].rows().iter().map(|row| row.weight).collect();
    let group_of = |row: &Row<'_>| groups.get(row.document).copied().flatten();
    let groups: Vec<Option<u64>> = losses[0].rows().iter().map(group_of).collect();
    Resamples::draw(
        &columns,
        &weights,
        &groups,
        settings.bootstrap,
        settings.seed,
    )
}

type Numbered<'a> = (usize, &'a ComparedSystem, &'a Losses<'a>);

fn pair(
    [(first, first_system, ours), (second, second_system, theirs)]: [Numbered<'_>; 2],
    units: &Units,
    resamples: Option<&Resamples>,
    settings: &CompareSettings,
) -> ComparedPair {
    let signs = ours.sign_tests(theirs, units);
    let difference = |loss: Loss| {
        let differences = ours.differences(theirs, loss, units);
        let columns = Loss::ALL.len();
        let bootstrap = resamples.map(|resamples| {
            let column = |system: usize| system * columns + loss as usize;
            resamples.difference(column(first), column(second), settings.confidence)
        });
        LossDifference {
            difference: marked(first_system, loss).mean - marked(second_system, loss).mean,
            sign: signs[loss as usize],
            wilcoxon: wilcoxon_signed_rank(&differences),
            bootstrap,
        }
    };
    let errors = signs[Loss::Errors as usize];
    ComparedPair {
        first: first_system.name.clone(),
        second: second_system.name.clone(),
        log_loss: difference(Loss::Log),
        brier: difference(Loss::Squared),
        errors: difference(Loss::Errors),
        mcnemar: McNemarTest::of_counts(errors.wins, errors.losses),
        cost: None,
    }
}

fn marked(system: &ComparedSystem, loss: Loss) -> &MarkedLoss {
    match loss {
        Loss::Log => &system.log_loss,
        Loss::Squared => &system.brier,
        Loss::Errors => &system.errors,
    }
}

fn marked_mut(system: &mut ComparedSystem, loss: Loss) -> &mut MarkedLoss {
    match loss {
        Loss::Log => &mut system.log_loss,
        Loss::Squared => &mut system.brier,
        Loss::Errors => &mut system.errors,
    }
}

/// Says of every loss whether it is the best, and than which others it is significantly better.
fn mark(
    systems: &mut [ComparedSystem],
    numbers: &[(usize, usize)],
    pairs: &[ComparedPair],
    level: f64,
) {
    for loss in Loss::ALL {
        let sums: Vec<f64> = systems
            .iter()
            .map(|system| marked(system, loss).sum)
            .collect();
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        for (&(first, second), pair) in numbers.iter().zip(pairs) {
            let found = match loss {
                Loss::Log => &pair.log_loss,
                Loss::Squared => &pair.brier,
                Loss::Errors => &pair.errors,
            };
            let winner = winner(found, sums[first], sums[second], level).map(|of_first| {
                if of_first {
                    (first, second)
                } else {
                    (second, first)
                }
            });
            if let Some((winner, loser)) = winner {
                let name = systems[loser].name.clone();
                marked_mut(&mut systems[winner], loss)
                    .significantly_better_than
                    .push(name);
            }
        }
        let others = systems.len() - 1;
        for (system, &sum) in systems.iter_mut().zip(&sums) {
            let marked = marked_mut(system, loss);
            marked.best = sum == least;
            marked.significantly_best = marked.significantly_better_than.len() == others;
        }
    }
}

/// Whether the first or the second is significantly better; `None` for neither.
fn winner(found: &LossDifference, first: f64, second: f64, level: f64) -> Option<bool> {
    let sign = found.sign;
    // A little closer most of the time is no better mean.
    let by_luck = |drawn: BootstrapDifference| drawn.lower <= 0.0 && drawn.upper >= 0.0;
    if sign.p_value >= level || found.bootstrap.is_some_and(by_luck) {
        None
    } else if sign.wins > sign.losses && first < second {
        Some(true)
    } else if sign.losses > sign.wins && second < first {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
