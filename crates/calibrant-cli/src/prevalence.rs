//! `calibrant prevalence`

use std::io::Write;

use calibrant::corpus::LabelNeed;
use calibrant::decision::{PrevalenceError, PrevalenceSettings};
use calibrant::jobs::{PlanReport, Pool, PrevalenceJobError, PrevalenceReport, SamplePlanSettings};
use calibrant::pipeline::Model;

use crate::arguments::PrevalenceArguments;
use crate::error::CliError;
use crate::fit_report::warn_bad_rows;
use crate::input;
use crate::output::{check_target_of, count_of, note, print_json, stdout};
use crate::progress::TerminalProgress;
use crate::suspects::check_list;
use crate::table::{decimal, table};

#[allow(clippy::result_large_err)] // The library's error, once for a file.
pub(crate) fn run(arguments: &PrevalenceArguments) -> Result<(), CliError> {
    let model = Model::open(&arguments.model)?;
    let settings = PrevalenceSettings {
        confidence: arguments.confidence,
        simultaneous: arguments.together,
        method: arguments.method,
        target: arguments.share_of,
    };
    if let Some(path) = &arguments.output {
        check_list("--output", path, &arguments.file)?;
        check_target_of("--output", path, &arguments.model.to_string_lossy())?;
    }
    let remembered = model.fields().clone();
    let fields = arguments.reading.fields(&remembered);
    let options = arguments.reading.options(fields, LabelNeed::Ignored);
    let progress = TerminalProgress::default();
    let source = match arguments.plan {
        Some(_) => input::source_to_read_twice(&arguments.file)?,
        None => input::source(&arguments.file),
    };
    let pool = Pool::read(&model, &source, &options, &progress)?;
    warn_bad_rows(&pool.read);
    if let Some(width) = arguments.plan {
        let wanted = SamplePlanSettings {
            width,
            class: arguments.class.clone(),
            strata: arguments.strata,
            prevalence: settings,
            seed: arguments.seed,
        };
        let (report, sample) = pool.plan(&source, &options, &wanted, &progress)?;
        if let Some(path) = &arguments.output {
            sample.save(path)?;
        }
        return show_plan(arguments, &report);
    }
    let report = match &arguments.labelled {
        Some(file) => {
            let labelled = input::source_to_read_twice(file)?;
            options.read_beside(PrevalenceJobError::is_of_layout, |options| {
                pool.estimate(&labelled, options, &settings, &progress)
            })?
        }
        None => pool.stated()?,
    };
    show(arguments, &report)
}

fn show_plan(arguments: &PrevalenceArguments, report: &PlanReport) -> Result<(), CliError> {
    if arguments.json {
        return print_json(report);
    }
    let mut out = stdout();
    let plan = &report.plan;
    writeln!(
        out,
        "{} of {} to label for `{}`{}, an interval at most {} wide; by labels alone it would be {}",
        count_of(plan.labels, "document"),
        report.documents,
        report.class,
        match arguments.class {
            Some(_) => "",
            None => " (the class that needs most; the others need no more)",
        },
        report.width,
        plan.labels_alone,
    )?;
    writeln!(
        out,
        "expected width {}, kept in {:.0} % of imagined samples, if the stated probabilities are calibrated",
        decimal(plan.expected_width),
        100.0 * plan.kept,
    )?;
    if plan.strata.len() > 1 {
        let header = ["stratum", "from", "documents", "labels"];
        let mut rows = table(&header, 1);
        for (number, stratum) in plan.strata.iter().enumerate() {
            rows.add_row(vec![
                (number + 1).to_string(),
                decimal(stratum.from),
                stratum.documents.to_string(),
                stratum.labels.to_string(),
            ]);
        }
        writeln!(out, "\n{rows}")?;
    }
    match &arguments.output {
        Some(path) => note(&format!(
            "{}: drawn at random; label every row, then --labelled {}",
            path.display(),
            path.display()
        )),
        None => note("-o FILE writes the documents to label"),
    }
    Ok(out.flush()?)
}

fn show(arguments: &PrevalenceArguments, report: &PrevalenceReport) -> Result<(), CliError> {
    if arguments.json {
        return print_json(report);
    }
    let mut out = stdout();
    match report.design.as_deref() {
        None => writeln!(
            out,
            "{}, none labelled: shares as the model states them{}, without an interval; --plan 0.1 says how many labels give one",
            count_of(report.documents as usize, "document"),
            match report.adapted {
                true => ", adapted to these documents",
                false => "",
            },
        )?,
        Some(design) => writeln!(
            out,
            "{}, {} labelled{}; {:.0} % intervals{}",
            count_of(report.documents as usize, "document"),
            report.labelled,
            match design {
                "stratified" => ", drawn in strata as planned",
                _ => ", taken to be a simple random sample of them",
            },
            100.0 * report.settings.confidence,
            match report.settings.simultaneous {
                true => " that hold together",
                false => ", each by itself",
            },
        )?,
    }
    let with_intervals = report.labelled > 0;
    let mut header = vec!["class", "share", "documents"];
    if with_intervals {
        header = vec![
            "class",
            "share",
            "from",
            "to",
            "documents",
            "from",
            "to",
            "method",
        ];
    }
    let mut rows = table(&header, 1);
    let mut reasons: Vec<String> = Vec::new();
    for class in &report.classes {
        let count = format!("{:.0}", class.count);
        let mut row = vec![class.label.clone(), decimal(class.share)];
        match &class.interval {
            None => row.push(count),
            Some(interval) => {
                row.extend([decimal(interval.low), decimal(interval.high), count]);
                row.extend([
                    interval.count_low.to_string(),
                    interval.count_high.to_string(),
                ]);
                row.push(interval.method.to_string());
                reasons.push(format!(
                    "{}: {}, since {}",
                    class.label, interval.method, interval.reason
                ));
            }
        }
        rows.add_row(row);
    }
    writeln!(out, "\n{rows}")?;
    for reason in reasons {
        writeln!(out, "{reason}")?;
    }
    Ok(out.flush()?)
}

impl From<PrevalenceJobError> for CliError {
    fn from(error: PrevalenceJobError) -> Self {
        let hint = match error {
            PrevalenceJobError::Read(error) => return error.into(),
            PrevalenceJobError::Predict(error) => return error.into(),
            PrevalenceJobError::Prior(error) => return error.into(),
            PrevalenceJobError::Adapt(error) => return error.into(),
            PrevalenceJobError::NoClass { .. } => "`calibrant inspect MODEL` lists its classes",
            PrevalenceJobError::NotInPool { .. } => {
                "label documents of the pool, drawn at random: --plan 0.1 -o FILE draws them"
            }
            PrevalenceJobError::Twice { .. } => "give each document once",
            PrevalenceJobError::SameId { .. } => {
                "name a field that tells documents apart with --id"
            }
            PrevalenceJobError::NotLabelled { .. } => {
                "label every row that was drawn: leaving out the hard ones would make the sample no random one"
            }
            PrevalenceJobError::UnknownLabel { .. } | PrevalenceJobError::SeveralLabels { .. } => {
                "name the label field with --label, and its separator with --label-separator; `calibrant inspect MODEL` lists the classes"
            }
            PrevalenceJobError::Learned { .. } => {
                "fit the model without these documents, or use --method labels-alone, which asks no model"
            }
            PrevalenceJobError::OtherPlan { .. } => {
                "use the model and the pool that the sample was drawn with, and all of its rows"
            }
            PrevalenceJobError::Prevalence(PrevalenceError::BadWidth { .. }) => {
                "for example --plan 0.1"
            }
            PrevalenceJobError::Prevalence(PrevalenceError::BadConfidence { .. }) => {
                "for example --confidence 0.95"
            }
            PrevalenceJobError::Prevalence(PrevalenceError::NotForStrata { .. }) => {
                "use --method auto, stratified or stratified-exact"
            }
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}
