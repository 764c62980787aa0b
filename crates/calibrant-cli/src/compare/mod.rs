//! `calibrant compare`

mod groups;
mod page;
mod probabilities;
mod stated;
mod terminal;
mod test_set;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use calibrant::corpus::{Format, Source, field_names};
use calibrant::evaluation::{
    CompareSettings, Comparison, Forecasts, LedgerNote, StatedEnds, TestSetHash, compare_groups,
};
use calibrant::pipeline::{Acquaintance, Model, TestDocuments};
use calibrant::{Probability, Task};

use crate::arguments::{CompareArguments, LabelCount, ReadArguments};
use crate::error::CliError;
use crate::fit::warn_known;
use crate::ledger::{Look, learner_name, record};
use crate::output::{
    WRITE_ALIKE, check_target, stdout, unknown_label_notes, warn, write_whole, written_otherwise,
};
use stated::Stated;
pub(crate) use terminal::{copies_sentence, show_copies};
use test_set::TestSet;

#[derive(serde::Serialize)]
struct CompareReport {
    #[serde(flatten)]
    comparison: Comparison,
    /// Labels of the test documents that the systems do not know, with how many documents have them.
    unknown_labels: BTreeMap<String, usize>,
    /// Documents that could not be measured because their only label is unknown (one label a document).
    documents_left_out: usize,
    bad_rows: u64,
    /// What was done about stated zeros and ones, by the name of the system; models state none.
    stated_ends: BTreeMap<String, StatedEnds>,
    /// How many of the documents are copies of others; zero where no model reads them.
    copies: usize,
    /// Whether documents are in groups that were asked for.
    #[serde(skip)]
    grouped: bool,
    /// About how many of the documents models had learned from, where there is a sign of any.
    learned_from: BTreeMap<String, usize>,
    /// How often the test set was evaluated before; absent without a ledger.
    ledger: Option<LedgerNote>,
}

/// What is asked: which systems on which documents.
pub(crate) struct Question<'a> {
    pub(crate) file: &'a str,
    pub(crate) systems: &'a [PathBuf],
    pub(crate) reading: &'a ReadArguments,
    /// The field that says which documents belong together.
    pub(crate) group: Option<&'a str>,
    pub(crate) classes: &'a [String],
    pub(crate) positive: Option<&'a str>,
    pub(crate) labels: Option<LabelCount>,
    /// In which order the command takes its files.
    pub(crate) order: &'static str,
}

/// One of the things compared.
pub(crate) struct System {
    name: String,
    path: PathBuf,
    /// `None` for a file of probabilities.
    model: Option<Model>,
}

/// What all systems say of the documents that can be measured.
pub(crate) struct Answers {
    pub(crate) systems: Vec<System>,
    /// One a system.
    pub(crate) forecasts: Vec<Forecasts>,
    /// One a system; absent for models.
    pub(crate) ends: Vec<Option<StatedEnds>>,
    pub(crate) unknown_labels: BTreeMap<String, usize>,
    pub(crate) left_out: usize,
    pub(crate) bad_rows: u64,
    pub(crate) hash: TestSetHash,
    /// Which of the measured documents belong together.
    pub(crate) measured: TestDocuments,
    /// One a system: how many of the documents it had learned from.
    pub(crate) known: Vec<Acquaintance>,
}

impl Question<'_> {
    /// Asks every system about every document.
    pub(crate) fn ask(&self) -> Result<Answers, CliError> {
        let systems = open_systems(self)?;
        let test_set = test_set::read(self, &systems)?;
        let task = task(self, &systems, &test_set)?;
        let stated = all_stated(self, &systems, &test_set, task)?;
        let classes = common_classes(self, &systems, &stated, task)?;
        let truth = Truth::new(&test_set, &classes, task);
        // A model that was asked for some classes only is expected not to know the others.
        let chosen = !self.classes.is_empty()
            || systems.iter().any(|system| {
                let model = system.model.as_ref();
                model.is_some_and(Model::chose_classes)
            });
        let unknown_labels = if chosen {
            BTreeMap::new()
        } else {
            truth.unknown_labels.clone()
        };
        warn_left_out(&unknown_labels, truth.left_out());
        let names = classes.iter().map(String::as_str);
        if let Some(said) = written_otherwise(&unknown_labels, names) {
            if truth.documents.is_empty() {
                return Err(CliError::new(said).hint(WRITE_ALIKE));
            }
            warn(&format!("{said}; {WRITE_ALIKE}"));
        }
        let forecasts = stated
            .iter()
            .map(|stated| truth.forecasts(task, &classes, stated))
            .collect();
        Ok(Answers {
            systems,
            forecasts,
            ends: stated.into_iter().map(|stated| stated.ends).collect(),
            unknown_labels,
            left_out: truth.left_out(),
            bad_rows: test_set.bad_rows,
            hash: test_set.hash,
            measured: test_set.documents.part(&truth.documents),
            known: test_set.known,
        })
    }
}

pub(crate) fn run(arguments: &CompareArguments) -> Result<(), CliError> {
    if let Some(path) = &arguments.html {
        check_target(path, &arguments.file)?;
    }
    let answers = Question {
        file: &arguments.file,
        systems: &arguments.systems,
        reading: &arguments.reading,
        group: arguments.group.as_deref(),
        classes: &arguments.classes,
        positive: arguments.positive.as_deref(),
        labels: arguments.labels,
        order: "the test set comes first, then the systems: calibrant compare TEST A B",
    }
    .ask()?;
    let (systems, forecasts) = (&answers.systems, &answers.forecasts);
    let mut learned_from = BTreeMap::new();
    for (system, known) in systems.iter().zip(&answers.known) {
        warn_known(&format!("`{}`", system.name), known);
        let count = known.learned_from();
        learned_from.extend(count.map(|count| (system.name.clone(), count)));
    }
    let named: Vec<(&str, &Forecasts)> = systems
        .iter()
        .map(|system| system.name.as_str())
        .zip(forecasts)
        .collect();
    let settings = CompareSettings {
        level: arguments.level,
        bootstrap: arguments.bootstrap,
        seed: arguments.seed,
        ..CompareSettings::default()
    };
    let comparison = compare_groups(&named, &answers.measured.together(), &settings)?;
    let looks: Vec<Look<'_>> = systems
        .iter()
        .zip(&comparison.systems)
        .map(|(system, compared)| Look {
            path: &system.path,
            classifier: system
                .model
                .as_ref()
                .map_or_else(|| "probabilities".to_owned(), learner_name),
            log_loss: compared.log_loss.mean,
        })
        .collect();
    let ledger = record(!arguments.no_ledger, &answers.hash, &looks);
    let named = systems.iter().map(|system| system.name.clone());
    let ends = named.zip(answers.ends);
    let report = CompareReport {
        comparison,
        unknown_labels: answers.unknown_labels,
        documents_left_out: answers.left_out,
        bad_rows: answers.bad_rows,
        stated_ends: ends
            .filter_map(|(name, ends)| Some((name, ends?)))
            .collect(),
        copies: answers.measured.copies(),
        grouped: arguments.group.is_some(),
        learned_from,
        ledger,
    };
    if let Some(path) = &arguments.html {
        write_whole("--html", page::render(&report).as_bytes(), path)?;
    }
    let mut out = stdout();
    if arguments.json {
        serde_json::to_writer(&mut out, &report)?;
        writeln!(out)?;
    } else {
        terminal::show(&mut out, &report)?;
    }
    Ok(out.flush()?)
}

fn open_systems(arguments: &Question<'_>) -> Result<Vec<System>, CliError> {
    let mut systems: Vec<System> = Vec::new();
    for path in arguments.systems {
        if path.as_os_str() == "-" {
            return Err(CliError::new("a system must be a file")
                .hint("only the test set can come from standard input"));
        }
        let model = open_model(path)?;
        systems.push(System {
            name: String::new(),
            path: path.clone(),
            model,
        });
    }
    for (number, name) in names(arguments.systems).into_iter().enumerate() {
        systems[number].name = name;
    }
    Ok(systems)
}

/// The model in a file; `None` if it is a table.
pub(crate) fn open_model(path: &Path) -> Result<Option<Model>, CliError> {
    let tables = [Format::Csv, Format::Tsv, Format::JsonLines, Format::Parquet];
    if Format::of_path(path).is_some_and(|format| tables.contains(&format)) {
        return Ok(None);
    }
    match Model::open(path) {
        Ok(model) => Ok(Some(model)),
        Err(error) if error.is_foreign() => {
            let names = field_names(&Source::Path(path.to_owned()), None);
            if path.is_file() && names.is_ok_and(|names| !names.is_empty()) {
                return Ok(None);
            }
            Err(CliError::from(error).hint(
                "systems are model files, or files of probabilities in .csv, .tsv, .jsonl or .parquet",
            ))
        }
        Err(error) => Err(error.into()),
    }
}

/// The file's name without its ending, or the whole path where several would be called the same.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &PathBuf| {
        let stem = path.file_stem().unwrap_or(path.as_os_str());
        stem.to_string_lossy().into_owned()
    };
    let count = |name: &str| paths.iter().filter(|path| stem(path) == name).count();
    let mut names: Vec<String> = Vec::new();
    for path in paths {
        let short = stem(path);
        let name = if count(&short) == 1 {
            short
        } else {
            path.display().to_string()
        };
        let mut unique = name.clone();
        let mut copies = 1;
        while names.contains(&unique) {
            copies += 1;
            unique = format!("{name} ({copies})");
        }
        names.push(unique);
    }
    names
}

fn task(
    arguments: &Question<'_>,
    systems: &[System],
    test_set: &TestSet,
) -> Result<Task, CliError> {
    let asked = arguments.labels.map(|labels| match labels {
        LabelCount::One => Task::SingleLabel,
        LabelCount::Several => Task::MultiLabel,
    });
    let mut models = systems
        .iter()
        .filter_map(|system| Some((&system.name, system.model.as_ref()?.task())));
    let Some((first, task)) = models.next() else {
        return Ok(asked.unwrap_or(if test_set.any_list {
            Task::MultiLabel
        } else {
            Task::SingleLabel
        }));
    };
    if let Some((other, other_task)) = models.find(|(_, other)| *other != task) {
        return Err(CliError::new(format!(
            "`{first}` is {task} and `{other}` is {other_task}, so they cannot be compared"
        )));
    }
    if asked.is_some_and(|asked| asked != task) {
        return Err(
            CliError::new(format!("`{first}` is {task}, which --labels contradicts"))
                .hint("--labels is for files of probabilities; models know it themselves"),
        );
    }
    if task == Task::SingleLabel && !arguments.classes.is_empty() {
        return Err(CliError::new(format!(
            "--classes needs multi-label models: the classes of `{first}` exclude each other"
        ))
        .hint("use --where to choose documents"));
    }
    Ok(task)
}

/// What every system states, in its own order of classes.
fn all_stated(
    arguments: &Question<'_>,
    systems: &[System],
    test_set: &TestSet,
    task: Task,
) -> Result<Vec<Stated>, CliError> {
    let model_classes = systems.iter().find_map(|system| {
        let names = system.model.as_ref()?.class_names();
        Some(names.map(str::to_owned).collect::<Vec<_>>())
    });
    let wanted = if !arguments.classes.is_empty() {
        probabilities::Wanted::Exactly(arguments.classes.to_vec())
    } else if let Some(classes) = model_classes {
        probabilities::Wanted::Exactly(classes)
    } else {
        probabilities::Wanted::AtLeast(test_set.label_names())
    };
    let mut found = Vec::new();
    for (number, system) in systems.iter().enumerate() {
        found.push(match &system.model {
            Some(model) => Stated {
                classes: model.class_names().map(str::to_owned).collect(),
                probabilities: test_set.predictions[number].clone(),
                ends: None,
            },
            None => probabilities::read(arguments, &system.path, test_set, &wanted, task)?,
        });
    }
    Ok(found)
}

/// The classes that are compared: those that were asked for, else those that all systems have.
fn common_classes(
    arguments: &Question<'_>,
    systems: &[System],
    stated: &[Stated],
    task: Task,
) -> Result<Vec<String>, CliError> {
    let lacks = |number: usize, class: &str| !stated[number].classes.iter().any(|c| c == class);
    let quoted = |names: &[&str]| {
        let shown: Vec<String> = names
            .iter()
            .take(10)
            .map(|name| format!("`{name}`"))
            .collect();
        let more = if names.len() > 10 { ", …" } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let classes = if arguments.classes.is_empty() {
        stated[0].classes.clone()
    } else {
        let mut classes = arguments.classes.to_vec();
        classes.sort_unstable();
        classes.dedup();
        classes
    };
    for (number, system) in systems.iter().enumerate() {
        let missing: Vec<&str> = classes
            .iter()
            .map(String::as_str)
            .filter(|class| lacks(number, class))
            .collect();
        let whose = if arguments.classes.is_empty() {
            format!(", which `{}` has", systems[0].name)
        } else {
            String::new()
        };
        if !missing.is_empty() {
            let message = format!("`{}` has no class {}{whose}", system.name, quoted(&missing));
            return Err(different_classes(message, task));
        }
        let more: Vec<&str> = stated[number]
            .classes
            .iter()
            .map(String::as_str)
            .filter(|class| !classes.iter().any(|c| c == class))
            .collect();
        if !more.is_empty() && (arguments.classes.is_empty() || task == Task::SingleLabel) {
            let whose = if arguments.classes.is_empty() {
                format!("which `{}` has not", systems[0].name)
            } else {
                "which --classes leaves out".to_owned()
            };
            let message = format!("`{}` has the class {}, {whose}", system.name, quoted(&more));
            return Err(different_classes(message, task));
        }
    }
    Ok(classes)
}

fn different_classes(message: String, task: Task) -> CliError {
    CliError::new(message).hint(match task {
        Task::MultiLabel => "--classes chooses classes that all systems have",
        Task::SingleLabel => "only systems that choose among the same classes can be compared",
    })
}

/// The documents that are measured, with labels as numbers of classes.
struct Truth {
    /// Positions in the test set.
    documents: Vec<usize>,
    labels: Vec<Vec<u32>>,
    weights: Vec<f64>,
    unknown_labels: BTreeMap<String, usize>,
    document_count: usize,
}

impl Truth {
    fn new(test_set: &TestSet, classes: &[String], task: Task) -> Self {
        let numbers: BTreeMap<&str, u32> = classes.iter().map(String::as_str).zip(0..).collect();
        let mut truth = Self {
            documents: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            unknown_labels: BTreeMap::new(),
            document_count: test_set.labels.len(),
        };
        for (document, names) in test_set.labels.iter().enumerate() {
            let mut known = Vec::new();
            for name in names {
                match numbers.get(name.as_str()) {
                    Some(&class) => known.push(class),
                    None => *truth.unknown_labels.entry(name.clone()).or_default() += 1,
                }
            }
            if task == Task::MultiLabel || known.len() == 1 {
                truth.documents.push(document);
                truth.labels.push(known);
                truth.weights.push(test_set.weights[document]);
            }
        }
        truth
    }

    fn left_out(&self) -> usize {
        self.document_count - self.documents.len()
    }

    fn forecasts(&self, task: Task, classes: &[String], stated: &Stated) -> Forecasts {
        let columns: Vec<usize> = classes
            .iter()
            .filter_map(|class| stated.classes.iter().position(|c| c == class))
            .collect();
        let row = |document: usize| &stated.probabilities[document * stated.classes.len()..];
        let probabilities: Vec<Probability> = self
            .documents
            .iter()
            .flat_map(|&document| columns.iter().map(move |&column| row(document)[column]))
            .collect();
        Forecasts {
            task,
            class_names: classes.to_vec(),
            probabilities,
            labels: self.labels.iter().collect(),
            weights: Some(self.weights.clone()),
        }
    }
}

fn warn_left_out(unknown_labels: &BTreeMap<String, usize>, left_out: usize) {
    let fate = ["is not measured", "are not measured"];
    for note in unknown_label_notes(unknown_labels, left_out, "systems", fate) {
        warn(&note);
    }
}
