//! `calibrant cascade`

use std::io::Write;
use std::path::Path;

use calibrant::corpus::LabelNeed;
use calibrant::decision::{CascadeBasis, CascadeError, CascadeSettings, TierRule};
use calibrant::jobs::{
    AnswerSource, CascadeJobError, PolicyFile, Says, SystemError, build_cascade, open_model,
};
use serde::Serialize;

use crate::arguments::CascadeArguments;
use crate::error::CliError;
use crate::input;
use crate::output::{check_target, count_of, print_json, stdout};
use crate::progress::TerminalProgress;
use crate::table::{decimal, table};
use crate::training::warn_known;

#[derive(Serialize)]
struct Printed<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    policy_file: Option<String>,
    #[serde(flatten)]
    policy: &'a PolicyFile,
}

pub(crate) fn run(arguments: &CascadeArguments) -> Result<(), CliError> {
    if let Some(path) = &arguments.output {
        check_target(path, &arguments.file)?;
        for (_, file) in &arguments.sources {
            check_target(path, file)?;
        }
    }
    let sources = sources(arguments)?;
    let settings = CascadeSettings {
        risk: arguments.max_error,
        miss: 1.0 - arguments.certainty.certainty,
        set_aside: arguments.set_aside,
        seed: arguments.seed,
    };
    let fields = arguments.reading.fields(&Default::default());
    let options = arguments.reading.options(fields, LabelNeed::Required);
    let progress = TerminalProgress::default();
    let truth = input::source_to_read_twice(&arguments.file)?;
    let built = build_cascade(&truth, &options, &sources, &settings, &progress)?;
    for (name, known) in &built.known {
        warn_known(&format!("`{name}`"), known);
    }
    if let Some(path) = &arguments.output {
        built.policy.save(path)?;
    }
    if arguments.json {
        let printed = Printed {
            policy_file: arguments
                .output
                .as_ref()
                .map(|path| path.display().to_string()),
            policy: &built.policy,
        };
        return print_json(&printed);
    }
    let mut out = stdout();
    write_policy(&mut out, &built.policy)?;
    Ok(out.flush()?)
}

/// Sources with their costs, in the order in which they are asked.
fn sources(arguments: &CascadeArguments) -> Result<Vec<AnswerSource>, CliError> {
    let mut files: Vec<&str> = Vec::new();
    let mut sources = Vec::new();
    for (name, file) in &arguments.sources {
        let cost = arguments.cost.iter().find(|(of, _)| of == name);
        let Some(&(_, cost)) = cost else {
            return Err(CliError::new(format!("--source {name} has no cost"))
                .hint(format!("add --cost {name}=0.01")));
        };
        if files.contains(&file.as_str()) {
            return Err(CliError::new(format!("`{file}` is given twice"))
                .hint("give each source a file of its own"));
        }
        files.push(file);
        let says = match open_model(Path::new(file)).map_err(not_a_source)? {
            Some(model) => Says::Model(Box::new(model)),
            None => Says::Table(input::source_to_read_twice(file)?),
        };
        sources.push(AnswerSource {
            name: name.clone(),
            cost,
            says,
        });
    }
    let known = |name: &String| arguments.sources.iter().any(|(source, _)| source == name);
    if let Some((name, _)) = arguments.cost.iter().find(|(name, _)| !known(name)) {
        let message = format!("--cost: there is no source `{name}`");
        return Err(CliError::new(message).hint(format!(
            "add --source {name}=FILE; a person's cost is --person COST"
        )));
    }
    if let Some(cost) = arguments.person {
        sources.push(AnswerSource {
            name: "person".to_owned(),
            cost,
            says: Says::Person {
                accuracy: arguments.person_accuracy,
            },
        });
    }
    Ok(sources)
}

fn not_a_source(error: SystemError) -> CliError {
    match error {
        SystemError::NotASystem(error) | SystemError::Model(error) => error.into(),
        error => CliError::new(error.to_string()),
    }
}

/// The policy and its certificate, as text.
pub(crate) fn write_policy(out: &mut impl Write, policy: &PolicyFile) -> Result<(), CliError> {
    let report = &policy.report;
    writeln!(out, "{}", certificate(policy))?;
    let header = [
        "source",
        "cost",
        "answers where",
        "asked",
        "answered",
        "wrong",
        "paid",
    ];
    let mut rows = table(&header, 1);
    let rules = report.policy.rules.iter();
    for ((source, rule), tier) in policy.sources.iter().zip(rules).zip(&report.tiers) {
        let answers = match rule {
            TierRule::Skip => "never: it is not asked".to_owned(),
            TierRule::From(from) => format!("it says {from:.4} or more"),
            TierRule::All => "it is asked".to_owned(),
        };
        rows.add_row(vec![
            source.name.clone(),
            source.cost.to_string(),
            answers,
            format!("{:.1} %", 100.0 * tier.asked),
            format!("{:.1} %", 100.0 * tier.answered),
            tier.errors.to_string(),
            decimal(tier.cost),
        ]);
    }
    writeln!(out, "\n{rows}")?;
    writeln!(out, "a document costs {} on average", decimal(report.cost))?;
    for single in &report.single {
        let fate = match (single.passes, single.saving) {
            (false, _) => "and cannot be shown to be right often enough".to_owned(),
            (true, saving) if saving >= 0.0 => {
                let share = 100.0 * saving / single.cost.max(f64::MIN_POSITIVE);
                format!(
                    "which the policy saves {} of ({share:.0} %)",
                    decimal(saving)
                )
            }
            (true, saving) => format!("{} less than the policy", decimal(-saving)),
        };
        writeln!(
            out,
            "`{}` alone costs {}, is wrong in {:.1} %, {fate}",
            single.name,
            decimal(single.cost),
            100.0 * single.error,
        )?;
    }
    Ok(())
}

/// What is promised, in sentences.
fn certificate(policy: &PolicyFile) -> String {
    let report = &policy.report;
    let (risk, sure) = (report.settings.risk, 1.0 - report.settings.miss);
    match report.basis {
        CascadeBasis::Truth => format!(
            "everything goes to `{}`, whose answers are the truth: nothing cheaper can be shown to be wrong in at most {:.1} % of all answers",
            policy.sources.last().map_or("", |last| last.name.as_str()),
            100.0 * risk,
        ),
        basis => format!(
            "at most {:.1} % of all answers are wrong, with {:.1} % certainty{}: {} of {} were; for documents drawn as these were",
            100.0 * risk,
            100.0 * sure,
            match basis {
                CascadeBasis::SetAside => "",
                _ =>
                    " (nearly: the policies were chosen by the confidences of the same documents; --set-aside 0.3 makes it exact)",
            },
            report.errors,
            count_of(report.documents, "document"),
        ),
    }
}

impl From<CascadeJobError> for CliError {
    fn from(error: CascadeJobError) -> Self {
        let hint = match error {
            CascadeJobError::Read(error) => return error.into(),
            CascadeJobError::Predict(error) => return error.into(),
            CascadeJobError::Cascade(CascadeError::NotCertified { .. }) => {
                "give more documents, allow more errors with --max-error, or add --person COST"
            }
            CascadeJobError::Cascade(CascadeError::Tiers { .. }) => {
                "give --source for each, and --person COST for who answers what is left"
            }
            CascadeJobError::Cascade(CascadeError::BadSetting { .. }) => {
                "--max-error, --certainty and --set-aside are shares between 0 and 1; costs are numbers from 0 on"
            }
            CascadeJobError::Cascade(CascadeError::NoDocuments) => "check --where and --label",
            CascadeJobError::NoConfidence { .. } | CascadeJobError::BadConfidence { .. } => {
                "`calibrant calibrate` turns scores of any kind into probabilities"
            }
            CascadeJobError::NoColumn { .. } => {
                "a table of answers has the columns `id` (or `row`), `label` and `probability`"
            }
            CascadeJobError::NoAnswer { .. } => {
                "every source must have been asked about every document of the truth"
            }
            CascadeJobError::NotOneLabel { .. } => "name the label field with --label",
            CascadeJobError::Twice { .. } => "give each document once",
            CascadeJobError::BadAccuracy { .. } => "for example --person-accuracy 0.97",
            CascadeJobError::Learned { .. } => {
                "take documents that it was not fitted on; `calibrant split` sets some aside"
            }
            CascadeJobError::RowsFiltered => {
                "name the field with the identifiers: --id FIELD; or leave out --where"
            }
            CascadeJobError::OtherModel { .. } => {
                "predict with the model of the policy, or make a policy for this one with `calibrant cascade`"
            }
            CascadeJobError::NoSource { .. } => "name a source as the policy does",
            _ => return Self::new(error.to_string()),
        };
        Self::new(error.to_string()).hint(hint)
    }
}
