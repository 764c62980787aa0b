//! Tables of scores to a calibrator, and to measures of one.

use serde::{Deserialize, Serialize};

use super::{ScoreColumns, is_usual};
use crate::calibration::{CalibratorKind, ChoiceRules, MulticlassKind};
use crate::corpus::{LabelNeed, ReadError, ReadOptions, ReadSummary, Source, folded_label};
use crate::evaluation::{Evaluation, EvaluationError, Forecasts, StatedEnds, evaluate};
use crate::pipeline::{
    ScoreBuffers, ScoreCalibrator, ScoreFields, ScoreIs, ScoreSettings, ScoreTable,
};
use crate::{CalibrationError, FitError, Probability, Progress};

/// A score field and the class that it speaks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassField {
    /// The class; of a single score it has no meaning.
    pub class: String,
    /// The field.
    pub field: String,
}

/// How a calibrator is fitted to a table of scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CalibrateSettings {
    /// The fields that hold scores: one, or one per class.
    pub scores: Vec<ClassField>,
    /// The label that a single score speaks for; `None` leaves it to [`ChosenClasses::of`].
    pub positive: Option<String>,
    /// What the scores are.
    pub score_is: ScoreIs,
    /// The method for one score, and for each class against the rest.
    pub method: CalibratorKind,
    /// The way for several classes.
    pub multiclass: MulticlassKind,
    /// What a choice for one score must keep to.
    pub rules: ChoiceRules,
}

impl Default for CalibrateSettings {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            positive: None,
            score_is: ScoreIs::Auto,
            method: CalibratorKind::Auto,
            multiclass: MulticlassKind::Auto,
            rules: ChoiceRules::default(),
        }
    }
}

impl From<CalibrationError> for CalibrateError {
    fn from(error: CalibrationError) -> Self {
        Self::Fit(error.into())
    }
}

/// Why there is no calibrator, or no measures of one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// The table could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// All rows have the same label.
    #[error(
        "all {examples} examples of {file} have the label `{label}`; a calibrator needs examples of two classes"
    )]
    OneLabel {
        /// The table.
        file: String,
        /// The only label.
        label: String,
        /// How many rows have it.
        examples: usize,
    },
    /// No row has the label that was said to be positive.
    #[error("no example of {file} has the label `{positive}`, the positive label")]
    NoPositive {
        /// The table.
        file: String,
        /// The label.
        positive: String,
        /// The labels there are.
        labels: Vec<String>,
    },
    /// There are more than two labels for one score.
    #[error("{file} has {} labels ({}), and one score can separate only two", labels.len(), listed(labels))]
    ManyLabels {
        /// The table.
        file: String,
        /// The labels there are.
        labels: Vec<String>,
    },
    /// A label is none of the classes.
    #[error(
        "{file}, {place} {line}: the label `{label}` is not one of the classes {}",
        listed(classes)
    )]
    UnknownLabel {
        /// The table.
        file: String,
        /// What `line` counts.
        place: &'static str,
        /// Where the label first occurs.
        line: u64,
        /// The label.
        label: String,
        /// The classes.
        classes: Vec<String>,
    },
    /// No calibrator could be fitted.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// Forecasts could not be measured.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
}

/// Names for a message: the first ten of them, and no more than their beginnings.
pub fn listed(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", name.chars().take(40).collect::<String>()))
        .collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

/// What was decided about labels that nobody explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LabelGuess {
    /// One label is set against several others.
    AgainstRest {
        /// The positive label.
        positive: String,
        /// The others.
        others: Vec<String>,
    },
    /// Nothing but the alphabet tells which of two labels is the positive one.
    ByAlphabet {
        /// The positive label.
        positive: String,
        /// The negative one.
        negative: String,
    },
}

/// The negative and the positive class of a table with one score per row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenClasses {
    /// The negative class, then the positive one.
    pub classes: Vec<String>,
    /// What was guessed.
    pub guess: Option<LabelGuess>,
}

impl ChosenClasses {
    /// The positive class is the one that is named; of two labels else the one that everybody knows to be (`1` of `1` and `0`,
    /// `yes` of `yes` and `no`), and by default the second by the alphabet.
    pub fn of(
        columns: &ScoreColumns,
        positive: Option<&str>,
        file: &str,
    ) -> Result<Self, CalibrateError> {
        let mut names: Vec<String> = columns.names.iter().map(|n| n.name.clone()).collect();
        names.sort_unstable();
        if let [only] = names.as_slice() {
            return Err(CalibrateError::OneLabel {
                file: file.to_owned(),
                label: only.clone(),
                examples: columns.row_count(),
            });
        }
        if let Some(positive) = positive {
            return Self::against(positive, names, file);
        }
        let [first, second] = names.as_slice() else {
            return Err(CalibrateError::ManyLabels {
                file: file.to_owned(),
                labels: names,
            });
        };
        let (negative, positive) = match is_usual(first, second) {
            true => (second, first),
            false => (first, second),
        };
        let is_known = is_usual(positive, negative);
        Ok(Self {
            classes: vec![negative.clone(), positive.clone()],
            guess: (!is_known).then(|| LabelGuess::ByAlphabet {
                positive: positive.clone(),
                negative: negative.clone(),
            }),
        })
    }

    /// One label against the other, or all others.
    fn against(positive: &str, mut names: Vec<String>, file: &str) -> Result<Self, CalibrateError> {
        let Some(at) = names.iter().position(|name| name == positive) else {
            return Err(CalibrateError::NoPositive {
                file: file.to_owned(),
                positive: positive.to_owned(),
                labels: names,
            });
        };
        names.remove(at);
        let positive = positive.to_owned();
        Ok(match names.as_slice() {
            [negative] => Self {
                classes: vec![negative.clone(), positive],
                guess: None,
            },
            _ => Self {
                classes: vec![rest_of(&positive), positive.clone()],
                guess: Some(LabelGuess::AgainstRest {
                    positive,
                    others: names,
                }),
            },
        })
    }
}

/// The name of everything but the positive class, where that is several labels.
fn rest_of(positive: &str) -> String {
    format!("not {positive}")
}

/// For each label of the table its class; an unknown one is an error with its place.
fn class_of_labels(
    columns: &ScoreColumns,
    classes: &[String],
    one_score: bool,
    file: &str,
    read: &ReadSummary,
) -> Result<Vec<u32>, CalibrateError> {
    let against_rest = one_score && classes[0] == rest_of(&classes[1]);
    let class_of = |label: &super::LabelName| {
        let same = |class: &String| match columns.folded {
            true => folded_label(class) == folded_label(&label.name),
            // Calibrators of before labels were trimmed may have classes with space around them.
            false => class.trim() == label.name.trim(),
        };
        let exact = classes.iter().position(|class| *class == label.name);
        let found = exact.or_else(|| classes.iter().position(same));
        match found {
            Some(class) => Ok(class as u32),
            None if against_rest => Ok(0),
            None => Err(CalibrateError::UnknownLabel {
                file: file.to_owned(),
                place: read.format.unit(),
                line: label.line,
                label: label.name.clone(),
                classes: classes.to_vec(),
            }),
        }
    };
    columns.names.iter().map(class_of).collect()
}

/// A calibrator with the examples that it was fitted to.
#[derive(Debug)]
pub struct CalibratedScores {
    /// The calibrator.
    pub calibrator: ScoreCalibrator,
    /// The examples.
    pub examples: ScoreTable,
    /// What was read.
    pub read: ReadSummary,
    /// What was guessed about the labels.
    pub guess: Option<LabelGuess>,
    /// Row by row, output after output: by a curve that was fitted to the other folds.
    pub cross_validated: Vec<Probability>,
}

impl CalibratedScores {
    /// Classes of which there is no example.
    pub fn classes_without_examples(&self) -> impl Iterator<Item = &str> {
        let classes = self.calibrator.classes().iter();
        let counts = &self.calibrator.summary().class_counts;
        classes
            .zip(counts)
            .filter(|(_, count)| **count == 0)
            .map(|(class, _)| class.as_str())
    }
}

/// Reads a table of scores with labels and fits a calibrator to it.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::corpus::{ReadOptions, Source};
/// use calibrant::jobs::{CalibrateSettings, ClassField, fit_scores};
/// let mut table = String::from("margin,label\n");
/// for number in 0..40 {
///     let label = if (number * 7) % 40 < number { "yes" } else { "no" };
///     table += &format!("{},{label}\n", f64::from(number) / 10.0 - 2.0);
/// }
/// let settings = CalibrateSettings {
///     scores: vec![ClassField { class: String::new(), field: "margin".into() }],
///     ..CalibrateSettings::default()
/// };
/// let table = Source::bytes("margins.csv", table.into_bytes());
/// let fitted = fit_scores(&table, &ReadOptions::default(), &settings, &NoProgress)?;
/// assert_eq!(fitted.calibrator.classes(), ["no", "yes"]);
/// assert_eq!(fitted.guess, None); // everybody knows that `yes` is the positive one
/// # Ok::<(), calibrant::jobs::CalibrateError>(())
/// ```
pub fn fit_scores(
    source: &Source,
    options: &ReadOptions,
    settings: &CalibrateSettings,
    progress: &dyn Progress,
) -> Result<CalibratedScores, CalibrateError> {
    let file = source.name();
    let fields: Vec<String> = settings.scores.iter().map(|s| s.field.clone()).collect();
    let one_score = fields.len() == 1;
    let options = ReadOptions {
        scores: fields.clone(),
        labels_required: LabelNeed::Required,
        scores_are_probabilities: settings.score_is == ScoreIs::Probability,
        ..options.clone()
    };
    let (columns, read) = ScoreColumns::read(source, &options, progress)?;
    let ChosenClasses { classes, guess } = match one_score {
        true => ChosenClasses::of(&columns, settings.positive.as_deref(), &file)?,
        false => ChosenClasses {
            classes: settings.scores.iter().map(|s| s.class.clone()).collect(),
            guess: None,
        },
    };
    let class_of = class_of_labels(&columns, &classes, one_score, &file, &read)?;
    let settings = ScoreSettings {
        classes,
        fields: ScoreFields {
            scores: fields,
            label: options.fields.label.clone(),
            weight: options.fields.weight.clone(),
            fold_labels: options.fold_labels,
        },
        score_is: settings.score_is,
        method: settings.method,
        multiclass: settings.multiclass,
        rules: settings.rules,
    };
    let examples = columns.table(&class_of);
    let groups = (!columns.groups.is_empty()).then_some(&columns.groups[..]);
    let fit = ScoreCalibrator::fit_watched(examples.clone(), groups, &settings, progress)?;
    Ok(CalibratedScores {
        calibrator: fit.calibrator,
        examples,
        read,
        guess,
        cross_validated: fit.cross_validated,
    })
}

/// Reads a table of other scores for a calibrator, whose labels have to be its classes. Where `options` names no field for label or
/// weight, those are read that the calibrator was fitted with, and labels are made one as they were then; `fields` are the score fields, in the order of the calibrator's.
pub fn read_examples(
    calibrator: &ScoreCalibrator,
    source: &Source,
    fields: Vec<String>,
    options: &ReadOptions,
    progress: &dyn Progress,
) -> Result<(ScoreTable, ReadSummary), CalibrateError> {
    let mut options = ReadOptions {
        scores: fields,
        labels_required: LabelNeed::Required,
        scores_are_probabilities: calibrator.scale().is_probability(),
        ..options.clone()
    };
    let remembered = calibrator.fields();
    let fields = &mut options.fields;
    fields.label = fields.label.take().or_else(|| remembered.label.clone());
    fields.weight = fields.weight.take().or_else(|| remembered.weight.clone());
    fields.group = None;
    options.fold_labels |= remembered.fold_labels;
    let (columns, read) = ScoreColumns::read(source, &options, progress)?;
    let (classes, one_score) = (calibrator.classes(), calibrator.is_binary());
    let class_of = class_of_labels(&columns, classes, one_score, &source.name(), &read)?;
    Ok((columns.table(&class_of), read))
}

/// What a calibrator says of rows of scores: row by row, output after output.
pub fn forecast_scores(calibrator: &ScoreCalibrator, scores: &[f64]) -> Vec<Probability> {
    let (width, outputs) = (calibrator.fields().scores.len(), calibrator.outputs().len());
    let even = Probability::from_log_odds(0.0);
    let mut probabilities = vec![even; scores.len() / width * outputs];
    let mut buffer = ScoreBuffers::default();
    for (scores, out) in scores
        .chunks_exact(width)
        .zip(probabilities.chunks_exact_mut(outputs))
    {
        calibrator.probabilities_into(scores, &mut buffer, out);
    }
    probabilities
}

/// Which examples measures are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredOn {
    /// The fitted ones, each forecast by a curve that was fitted to the other folds.
    CrossValidation,
    /// Others.
    Test,
}

/// Measures before and after calibration.
#[derive(Debug)]
pub struct MeasuredScores {
    /// Which examples.
    pub on: MeasuredOn,
    /// Where they come from.
    pub file: String,
    /// Of the scores as they state probabilities by themselves.
    pub before: Evaluation,
    /// Of the calibrated ones.
    pub after: Evaluation,
    /// What was done about stated zeros and ones before measuring.
    pub stated: Option<StatedEnds>,
    /// As they came, row by row.
    pub scores: Vec<f64>,
    /// Before and after.
    pub forecasts: [Forecasts; 2],
}

/// Measures a calibrator on examples, of which `after` is what it says, row by row.
pub fn measure_scores(
    calibrator: &ScoreCalibrator,
    on: MeasuredOn,
    file: &str,
    examples: ScoreTable,
    after: Vec<Probability>,
) -> Result<MeasuredScores, CalibrateError> {
    let ScoreTable {
        scores,
        labels,
        weights,
    } = examples;
    let (before, stated) = calibrator.as_stated(&scores);
    let before = calibrator.forecasts(before, &labels, weights.clone());
    let after = calibrator.forecasts(after, &labels, weights);
    Ok(MeasuredScores {
        on,
        file: file.to_owned(),
        before: evaluate(&before)?,
        after: evaluate(&after)?,
        stated,
        scores,
        forecasts: [before, after],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use crate::progress::EndsAfter;

    fn table(labels: [&str; 2]) -> Source {
        let mut table = String::from("s,label,weight\n");
        for number in 0..60 {
            let label = labels[usize::from((number * 17) % 60 < number)];
            table.push_str(&format!("{},{label},1\n", f64::from(number) / 10.0 - 3.0));
        }
        Source::bytes("s.csv", table.into_bytes())
    }

    fn settings(positive: Option<&str>) -> CalibrateSettings {
        CalibrateSettings {
            scores: vec![ClassField {
                class: String::new(),
                field: "s".into(),
            }],
            positive: positive.map(str::to_owned),
            ..CalibrateSettings::default()
        }
    }

    fn fit(source: &Source, positive: Option<&str>) -> Result<CalibratedScores, CalibrateError> {
        fit_scores(
            source,
            &ReadOptions::default(),
            &settings(positive),
            &NoProgress,
        )
    }

    #[test]
    fn the_positive_label_is_known_named_or_guessed() {
        let known = fit(&table(["0", "1"]), None).unwrap();
        assert_eq!(known.calibrator.classes(), ["0", "1"]);
        assert_eq!(known.guess, None);
        let guessed = fit(&table(["ham", "spam"]), None).unwrap();
        assert_eq!(guessed.calibrator.classes(), ["ham", "spam"]);
        assert!(
            matches!(guessed.guess, Some(LabelGuess::ByAlphabet { positive, .. }) if positive == "spam")
        );
        let named = fit(&table(["ham", "spam"]), Some("ham")).unwrap();
        assert_eq!(named.calibrator.classes(), ["spam", "ham"]);
        assert_eq!(named.guess, None);
        let nobody = fit(&table(["ham", "spam"]), Some("eggs")).unwrap_err();
        assert!(
            matches!(nobody, CalibrateError::NoPositive { .. }),
            "{nobody}"
        );
    }

    #[test]
    fn a_third_label_needs_a_positive_one_and_one_alone_is_refused() {
        let three = Source::bytes("t.csv", *b"s,label\n1,a\n2,b\n3,c\n1,a\n0,b\n3,c\n");
        let error = fit(&three, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "t.csv has 3 labels (`a`, `b`, `c`), and one score can separate only two"
        );
        let against = fit(&three, Some("c")).unwrap();
        assert_eq!(against.calibrator.classes(), ["not c", "c"]);
        assert_eq!(against.examples.labels, [0, 0, 1, 0, 0, 1]);
        let one = Source::bytes("o.csv", *b"s,label\n1,a\n2,a\n");
        let error = fit(&one, None).unwrap_err();
        assert!(
            matches!(error, CalibrateError::OneLabel { examples: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn measures_on_other_examples_are_of_what_the_calibrator_says() {
        let fitted = fit(&table(["no", "yes"]), None).unwrap();
        let calibrator = &fitted.calibrator;
        let options = ReadOptions::default();
        let fields = vec!["s".to_owned()];
        let test = table(["no", "yes"]);
        let (examples, read) =
            read_examples(calibrator, &test, fields.clone(), &options, &NoProgress).unwrap();
        assert_eq!((read.rows, &examples), (60, &fitted.examples));
        let said = forecast_scores(calibrator, &examples.scores);
        let measured =
            measure_scores(calibrator, MeasuredOn::Test, "s.csv", examples, said).unwrap();
        assert!(measured.after.log_loss < measured.before.log_loss);
        let foreign = table(["no", "perhaps"]);
        let error = read_examples(calibrator, &foreign, fields, &options, &NoProgress).unwrap_err();
        assert!(
            matches!(error, CalibrateError::UnknownLabel { .. }),
            "{error}"
        );
        let ended = fit_scores(&test, &options, &settings(None), &EndsAfter::questions(1));
        assert_eq!(ended.unwrap_err().to_string(), "cancelled");
    }
}
