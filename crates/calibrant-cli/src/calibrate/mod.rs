//! `calibrant calibrate`

mod apply;
mod classes;
mod failure;
mod page;
mod report;

use std::io::Write;
use std::path::Path;

use calibrant::Task;
use calibrant::calibration::{CalibratorKind, ChoiceRules, MulticlassKind, ScoreScale};
use calibrant::corpus::LabelNeed;
use calibrant::jobs::{
    CalibrateSettings, LabelGuess, MeasuredOn, MeasuredScores, PriorPlan, PriorReport, fit_scores,
    forecast_scores, listed, measure_scores, read_examples,
};
use calibrant::pipeline::{ScoreCalibrator, ScoreIs, ScoreNote};

use crate::arguments::{CalibrateArguments, Method, all_fields};
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::labels::note_unlabelled;
use crate::output::{check_target_of, note, stdout, warn, write_whole};
use crate::prior::{choice, show_prior};
use crate::progress::TerminalProgress;
use classes::class_fields;
use failure::failure;
use report::Report;
pub(crate) use report::write_origin;

pub(crate) fn run(arguments: &CalibrateArguments) -> Result<(), CliError> {
    check(arguments)?;
    let mut notes = Vec::new();
    let (calibrator, mut measured) = match &arguments.calibrator {
        Some(path) => (ScoreCalibrator::open(path)?, None),
        None => fit(arguments, &mut notes)?,
    };
    for said in &calibrator.summary().notes {
        match said {
            ScoreNote::OneFold { .. } => warn(&said.sentence()),
            said => notes.push(said.sentence()),
        }
    }
    let plan = prior_plan(arguments, &calibrator)?;
    let mut measured_prior = None;
    if let Some(file) = &arguments.test {
        let (on_test, prior) = test(arguments, &calibrator, &plan, file)?;
        (measured, measured_prior) = (Some(on_test), prior);
    }
    if let Some(ends) = measured
        .as_ref()
        .and_then(|measured| measured.stated.as_ref())
    {
        let file = measured
            .as_ref()
            .map_or("", |measured| measured.file.as_str());
        notes.extend(
            ends.sentences()
                .iter()
                .map(|said| format!("{file}: {said}")),
        );
    }
    notes.iter().for_each(|said| note(said));
    let predictions = arguments
        .apply
        .as_deref()
        .map(|file| apply::apply(arguments, &calibrator, &plan, file))
        .transpose()?;
    // Nothing has a name yet: from here on only the disk can fail.
    if let Some(path) = &arguments.output {
        calibrator.save(path)?;
    }
    let (rows_predicted, prior) = match predictions {
        Some(predictions) => {
            predictions.writer.finish()?;
            (Some(predictions.rows), predictions.prior)
        }
        None => (None, None),
    };
    let report = Report {
        calibrator: &calibrator,
        measured: measured.as_ref(),
        measured_prior,
        notes: &notes,
        rows_predicted,
        prior,
        output: arguments.output.as_deref(),
        predictions: arguments.predictions.as_deref(),
    };
    if let (Some(path), Some(measured)) = (&arguments.html, &measured) {
        write_whole("--html", page::render(&report, measured)?.as_bytes(), path)?;
    }
    if measured.is_none() && arguments.predictions.is_none() {
        return Ok(()); // The predictions are the answer.
    }
    let mut out = stdout();
    if arguments.json {
        report.write_json(&mut out)?;
    } else {
        report.write_text(&mut out)?;
    }
    Ok(out.flush()?)
}

/// Finds options that do not go together, and places that cannot be written to, before any work.
fn check(arguments: &CalibrateArguments) -> Result<(), CliError> {
    let saved = arguments.calibrator.is_some();
    let (tests, applies) = (arguments.test.is_some(), arguments.apply.is_some());
    let refuse = |message: &str, hint: &str| Err(CliError::new(message).hint(hint));
    if arguments.results.are_rows() && !applies {
        return refuse(
            "--keep and --wide are about new examples",
            "name their file with --apply",
        );
    }
    if saved && !tests && !applies {
        return refuse(
            "--calibrator needs something to do",
            "give --apply FILE or --test FILE",
        );
    }
    if applies && arguments.predictions.is_none() && (!saved || tests) {
        return refuse(
            "--apply needs a place for its predictions",
            "give --predictions FILE.csv, .tsv, .jsonl, .parquet or .xlsx",
        );
    }
    if arguments.html.is_some() && saved && !tests {
        return refuse("--html shows measures", "give --test FILE with labels");
    }
    let shifts = !arguments.prior.prior.is_empty() || arguments.prior.adapt_prior.is_some();
    if shifts && !tests && !applies {
        return refuse(
            "--prior and --adapt-prior change the probabilities of new examples",
            "give --apply FILE or --test FILE",
        );
    }
    let inputs: Vec<&str> = [&arguments.file, &arguments.test, &arguments.apply]
        .into_iter()
        .filter_map(Option::as_deref)
        .collect();
    if inputs.iter().filter(|file| **file == "-").count() > 1 {
        return refuse(
            "standard input can be read only once",
            "give one of the files by name",
        );
    }
    let named = [
        ("--output", &arguments.output),
        ("--predictions", &arguments.predictions),
        ("--html", &arguments.html),
    ];
    let given = named.into_iter();
    let outputs: Vec<(&str, &Path)> = given
        .filter_map(|(option, path)| Some((option, path.as_deref()?)))
        .collect();
    let saved_at = arguments.calibrator.as_ref().and_then(|path| path.to_str());
    for (number, &(option, output)) in outputs.iter().enumerate() {
        for input in inputs.iter().copied().chain(saved_at) {
            check_target_of(option, output, input)?;
        }
        if outputs[..number].iter().any(|(_, other)| *other == output) {
            return Err(CliError::new(format!(
                "`{}` is named for two different things",
                output.display()
            )));
        }
    }
    Ok(())
}

/// Fits a calibrator; measures it by cross-validation unless there are examples to test it on.
fn fit(
    arguments: &CalibrateArguments,
    notes: &mut Vec<String>,
) -> Result<(ScoreCalibrator, Option<MeasuredScores>), CliError> {
    let name = arguments.file.as_deref().unwrap_or("-");
    let scores = class_fields(&all_fields(&arguments.score))?;
    let one_score = scores.len() == 1;
    let (method, multiclass) = methods(arguments, one_score)?;
    let settings = CalibrateSettings {
        scores,
        positive: arguments.positive.clone(),
        score_is: arguments.score_is,
        method,
        multiclass,
        rules: ChoiceRules {
            monotone: arguments.monotone,
        },
    };
    let options = arguments.reading.options(Vec::new(), LabelNeed::Required);
    let progress = TerminalProgress::default();
    let source = input::source(name);
    let file = name;
    let fitted = fit_scores(&source, &options, &settings, &progress)
        .map_err(|error| failure(error, file, one_score))?;
    warn_bad_rows(&fitted.read);
    note_unlabelled(&fitted.read, Task::SingleLabel);
    notes.extend(fitted.guess.as_ref().map(said_of_labels));
    notes.extend(said_of_scale(&fitted.calibrator, arguments.score_is));
    for class in fitted.classes_without_examples() {
        warn(&format!("no example of {file} has the label `{class}`"));
    }
    if arguments.test.is_some() {
        return Ok((fitted.calibrator, None));
    }
    let measured = measure_scores(
        &fitted.calibrator,
        MeasuredOn::CrossValidation,
        file,
        fitted.examples,
        fitted.cross_validated,
    )
    .map_err(|error| failure(error, file, one_score))?;
    Ok((fitted.calibrator, Some(measured)))
}

/// What was decided about labels that nobody explained.
fn said_of_labels(guess: &LabelGuess) -> String {
    match guess {
        LabelGuess::AgainstRest { positive, others } => {
            format!("`{positive}` against all other labels: {}", listed(others))
        }
        LabelGuess::ByAlphabet { positive, negative } => format!(
            "`{positive}` is taken as the positive label, `{negative}` as the negative one: a guess, by alphabetical order; --positive overrides it"
        ),
        _ => String::new(),
    }
}

fn methods(
    arguments: &CalibrateArguments,
    one_score: bool,
) -> Result<(CalibratorKind, MulticlassKind), CliError> {
    if !one_score && (arguments.monotone || arguments.positive.is_some()) {
        return Err(CliError::new(
            "--monotone and --positive are for one score per row",
        ));
    }
    match (arguments.method, one_score) {
        (Method::Auto, _) => Ok((CalibratorKind::Auto, MulticlassKind::Auto)),
        (Method::OneScore(kind), _) => Ok((kind, MulticlassKind::OneVsRest)),
        (Method::ClassScores(kind), false) => Ok((CalibratorKind::Auto, kind)),
        (Method::ClassScores(kind), true) => Err(CliError::new(format!(
            "--method {} needs one score per class",
            kind.name()
        ))
        .hint("give --score CLASS=FIELD,CLASS=FIELD,…")),
    }
}

/// What was decided about scores that look like probabilities.
fn said_of_scale(calibrator: &ScoreCalibrator, asked: ScoreIs) -> Option<String> {
    let what = match calibrator.scale() {
        ScoreScale::Number => return None,
        _ if asked != ScoreIs::Auto => return None,
        _ if calibrator.is_identity() => "which are kept as they are",
        ScoreScale::Probability { .. } => "whose log-odds are calibrated",
        ScoreScale::ClassProbability { .. } => "whose logarithms are calibrated",
    };
    Some(format!(
        "all scores lie between 0 and 1: taken as probabilities, {what}; --score-is number overrides this"
    ))
}

/// The plan for priors; what it estimates is said when it is known.
fn prior_plan(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
) -> Result<PriorPlan, CliError> {
    Ok(PriorPlan::new(
        &choice(&arguments.prior)?,
        calibrator.trained_shares(),
    )?)
}

/// The score fields of a file that a calibrator is used on: as asked, else as it was fitted.
fn score_fields(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
) -> Result<Vec<String>, CliError> {
    let fitted = &calibrator.fields().scores;
    if arguments.score.is_empty() || arguments.calibrator.is_none() {
        return Ok(fitted.clone());
    }
    let given = class_fields(&all_fields(&arguments.score))?;
    if given.len() != fitted.len() {
        return Err(CliError::new(format!(
            "the calibrator takes {} scores per row, --score names {}",
            fitted.len(),
            given.len()
        ))
        .hint("`calibrant inspect CALIBRATOR` lists them"));
    }
    if calibrator.is_binary() {
        return Ok(given.into_iter().map(|field| field.field).collect());
    }
    calibrator
        .classes()
        .iter()
        .map(|class| {
            let field = given.iter().find(|field| field.class == *class);
            field.map(|field| field.field.clone()).ok_or_else(|| {
                CliError::new(format!("--score names no field for the class `{class}`"))
                    .hint("write CLASS=FIELD")
            })
        })
        .collect()
}

/// Measures the calibrator on other examples.
fn test(
    arguments: &CalibrateArguments,
    calibrator: &ScoreCalibrator,
    plan: &PriorPlan,
    file: &str,
) -> Result<(MeasuredScores, Option<PriorReport>), CliError> {
    let fields = score_fields(arguments, calibrator)?;
    let options = arguments.reading.options(Vec::new(), LabelNeed::Required);
    let progress = TerminalProgress::default();
    let failed = |error| failure(error, file, calibrator.is_binary());
    let source = input::source(file);
    let (examples, read) =
        read_examples(calibrator, &source, fields, &options, &progress).map_err(failed)?;
    warn_bad_rows(&read);
    note_unlabelled(&read, Task::SingleLabel);
    // What `--apply` would write: zeros count as they did where the calibrator was fitted.
    let mut after = forecast_scores(calibrator, &examples.scores);
    note_ends(
        file,
        calibrator.scale().count_at_ends(&examples.scores),
        calibrator,
    );
    let weights = arguments
        .reading
        .weight
        .is_some()
        .then_some(&examples.weights[..]);
    let decided = plan.decide(&after, weights)?;
    if let Some(report) = &decided.report {
        show_prior(file, report);
    }
    decided.apply(calibrator.outputs().len(), &mut after);
    let measured =
        measure_scores(calibrator, MeasuredOn::Test, file, examples, after).map_err(failed)?;
    Ok((measured, decided.report))
}

/// Of a calibrator that leaves scores as they are, what it does about those that cannot stay.
fn note_ends(file: &str, count: usize, calibrator: &ScoreCalibrator) {
    if count > 0 && calibrator.is_identity() {
        let numbers = match count {
            1 => "1 stated probability of 0 or 1 is".to_owned(),
            more => format!("{more} stated probabilities of 0 or 1 are"),
        };
        note(&format!(
            "{file}: {numbers} replaced as they were when the calibrator was fitted; all others are kept"
        ));
    }
}
