//! What several systems, models or tables of probabilities, say of the same labelled documents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::forecast::WrittenOtherwise;
use super::tables::{
    StatedForecasts, TableError, TableNote, TableQuestion, Wanted, quoted, read_forecasts,
};
use super::test_set::{Ask, Matched, Said, TestSet};
use crate::corpus::{
    Fields, Format, LabelNeed, ReadError, ReadOptions, ReadSummary, Source, field_names,
};
use crate::evaluation::{Forecasts, StatedEnds, TestSetHash};
use crate::pipeline::{Acquaintance, Model, TestDocuments};
use crate::saved::SavedFileError;
use crate::{Progress, Task};

/// One of the things that are asked.
#[derive(Debug)]
pub struct System {
    /// Its name in reports.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The model; `None` for a file of probabilities.
    pub model: Option<Model>,
}

/// What is asked of systems.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SystemSettings {
    /// Only these classes, or the class columns of files of probabilities; none named means those that all systems have.
    pub classes: Vec<String>,
    /// The class that a single column `probability` speaks of.
    pub positive: Option<String>,
    /// Whether classes exclude each other; told from the models, else from the test set, where `None`.
    pub task: Option<Task>,
}

/// What all systems say of the documents that can be measured.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answers {
    /// One per system.
    pub forecasts: Vec<Forecasts>,
    /// One per system; absent for models.
    pub ends: Vec<Option<StatedEnds>>,
    /// Labels that the systems do not know, with how many documents have them.
    pub unknown_labels: BTreeMap<String, usize>,
    /// Documents that cannot be measured.
    pub left_out: usize,
    /// What was read.
    pub read: ReadSummary,
    /// What tells this test set from others.
    pub test_set: TestSetHash,
    /// Which of the measured documents belong together.
    pub documents: TestDocuments,
    /// Document by document, the numbers of [`Fields::amounts`].
    pub amounts: Vec<f64>,
    /// One per system: how many of the documents it had learned from.
    pub known: Vec<Acquaintance>,
    /// What is worth saying about files of probabilities.
    pub notes: Vec<TableNote>,
}

/// Why systems cannot be asked, or do not answer the same question.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// A system is neither a model nor a table.
    #[error(transparent)]
    NotASystem(SavedFileError),
    /// A model cannot be opened.
    #[error(transparent)]
    Model(#[from] SavedFileError),
    /// The test set cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A file of probabilities cannot be used.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A model stands where the test set should.
    #[error("`{file}` is a model, not a test set")]
    IsAModel {
        /// The file.
        file: String,
    },
    /// No truth in common.
    #[error("`{first}` learned the field `{label}` and `{second}` the field `{other}`")]
    LabelFields {
        /// A system.
        first: String,
        /// Its label field.
        label: String,
        /// Another system.
        second: String,
        /// Its label field.
        other: String,
    },
    /// The source would have to be read twice.
    #[error("the models read different fields, and {name} can be read only once")]
    ReadOnce {
        /// The source.
        name: String,
    },
    /// Models that read different fields found different rows.
    #[error("the models read different numbers of documents: {first} and {second}")]
    DocumentCounts {
        /// What one read.
        first: u64,
        /// What another read.
        second: u64,
    },
    /// Systems of different kinds.
    #[error("`{first}` is {first_task} and `{other}` is {other_task}, so they cannot be compared")]
    Tasks {
        /// A system.
        first: String,
        /// Its task.
        first_task: Task,
        /// Another system.
        other: String,
        /// Its task.
        other_task: Task,
    },
    /// A task was asked for that a model does not have.
    #[error("`{system}` is {task}, which the settings contradict")]
    TaskContradicted {
        /// The model.
        system: String,
        /// Its task.
        task: Task,
    },
    /// Some of the classes cannot be measured where they exclude each other.
    #[error("the classes of `{system}` exclude each other: all of them are compared, or none")]
    ExclusiveClasses {
        /// The model.
        system: String,
    },
    /// Systems have different classes.
    #[error("{message}")]
    Classes {
        /// Which system has or lacks what.
        message: String,
        /// Whether classes exclude each other.
        task: Task,
    },
    /// No label of the test set is a class, but for how numbers are written.
    #[error("{0}")]
    WrittenOtherwise(WrittenOtherwise),
}

impl System {
    /// Opens models, and looks whether other files are tables.
    pub fn open(paths: &[PathBuf]) -> Result<Vec<Self>, SystemError> {
        let mut systems = Vec::new();
        for (path, name) in paths.iter().zip(system_names(paths)) {
            systems.push(Self {
                name,
                path: path.clone(),
                model: open_model(path)?,
            });
        }
        Ok(systems)
    }
}

/// The model in a file; `None` if it is a table.
pub fn open_model(path: &Path) -> Result<Option<Model>, SystemError> {
    let tables = [
        Format::Csv,
        Format::Tsv,
        Format::JsonLines,
        Format::Parquet,
        Format::Xlsx,
        Format::Ods,
    ];
    if Format::of_path(path).is_some_and(|format| tables.contains(&format)) {
        return Ok(None);
    }
    match Model::open(path) {
        Ok(model) => Ok(Some(model)),
        Err(error) if error.is_foreign() => {
            let names = field_names(&Source::Path(path.to_owned()), &ReadOptions::default());
            if path.is_file() && names.is_ok_and(|names| !names.is_empty()) {
                return Ok(None);
            }
            Err(SystemError::NotASystem(error))
        }
        Err(error) => Err(error.into()),
    }
}

/// A name for each file: without its ending, or the whole path where several would be called the same.
pub fn system_names(paths: &[PathBuf]) -> Vec<String> {
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

/// Asks every system about every document. Fields that `options` do not name are those that the models learned from.
pub fn ask_systems(
    systems: &[System],
    source: &Source,
    options: &ReadOptions,
    settings: &SystemSettings,
    progress: &dyn Progress,
) -> Result<Answers, SystemError> {
    let question = Question {
        systems,
        source,
        options,
        settings,
    };
    let (test_set, said, read) = question.read(progress)?;
    let task = question.task(&test_set)?;
    let known = said.iter().map(|said| said.known).collect();
    let mut notes = Vec::new();
    let stated = question.stated(&test_set, said, task, &mut notes)?;
    let classes = question.common_classes(&stated, task)?;
    let mut models = systems.iter().filter_map(|system| system.model.as_ref());
    let fold = models.any(Model::folds_labels);
    let matched = test_set.matched(task, classes.iter().cloned(), fold);
    // A model that was asked for some classes only is expected not to know the others.
    let mut models = systems.iter().filter_map(|system| system.model.as_ref());
    let chosen = !settings.classes.is_empty() || models.any(Model::chose_classes);
    let unknown_labels = match chosen {
        true => BTreeMap::new(),
        false => matched.matcher.unknown_labels.clone(),
    };
    if matched.measured.is_empty()
        && let Some(found) =
            WrittenOtherwise::of(&unknown_labels, classes.iter().map(String::as_str))
    {
        return Err(SystemError::WrittenOtherwise(found));
    }
    let amounts = test_set.amounts_of(&matched);
    let weights = matched.rows(test_set.weights, 1);
    let mut ends = Vec::new();
    let mut forecasts = Vec::new();
    for mut of_system in stated {
        ends.push(of_system.ends.take());
        forecasts.push(Forecasts {
            task,
            probabilities: columns(&matched, of_system, &classes),
            class_names: classes.clone(),
            labels: matched.labels(),
            weights: Some(weights.clone()),
        });
    }
    Ok(Answers {
        forecasts,
        ends,
        unknown_labels,
        left_out: matched.matcher.left_out,
        read,
        test_set: test_set.hash,
        documents: test_set.documents.part(&matched.measured),
        amounts,
        known,
        notes,
    })
}

/// The probabilities of these classes for the measured documents.
fn columns(
    matched: &Matched,
    stated: StatedForecasts,
    classes: &[String],
) -> Vec<crate::Probability> {
    if stated.classes == classes {
        return matched.rows(stated.probabilities, classes.len());
    }
    let position = |class| stated.classes.iter().position(|c| c == class);
    let columns: Vec<usize> = classes.iter().filter_map(position).collect();
    let width = stated.classes.len();
    let row = |document: usize| &stated.probabilities[document * width..(document + 1) * width];
    let measured = matched.measured.iter();
    measured
        .flat_map(|&document| columns.iter().map(move |&column| row(document)[column]))
        .collect()
}

/// Which systems are asked about which documents.
struct Question<'a> {
    systems: &'a [System],
    source: &'a Source,
    options: &'a ReadOptions,
    settings: &'a SystemSettings,
}

impl<'a> Question<'a> {
    /// Systems that are models, with their numbers.
    fn models(&self) -> impl Iterator<Item = (usize, &'a System, &'a Model)> {
        let systems = self.systems.iter().enumerate();
        systems.filter_map(|(number, system)| Some((number, system, system.model.as_ref()?)))
    }

    /// Reads the test set once for every way in which models read documents, and predicts along the way.
    fn read(
        &self,
        progress: &dyn Progress,
    ) -> Result<(TestSet, Vec<Said>, ReadSummary), SystemError> {
        self.check_labels()?;
        let mut test_set = TestSet::default();
        let mut said = vec![Said::default(); self.systems.len()];
        let mut first: Option<ReadSummary> = None;
        let passes = self.passes();
        if passes.len() > 1 && !self.source.can_be_read_again() {
            let name = self.source.name();
            return Err(SystemError::ReadOnce { name });
        }
        for (fields, members) in passes {
            let options = ReadOptions {
                fields,
                labels_required: LabelNeed::Required,
                // Tables are joined by the test set's `id` where it has one.
                own_id: self.models().count() < self.systems.len(),
                ..self.options.clone()
            };
            let asks = members.iter().filter_map(|&member| {
                let model = self.systems[member].model.as_ref();
                model.map(Ask::plain)
            });
            let asks: Vec<Ask<'_>> = asks.collect();
            let mut own: Vec<&mut Said> = said
                .iter_mut()
                .enumerate()
                .filter(|(number, _)| members.contains(number))
                .map(|(_, said)| said)
                .collect();
            let read = test_set
                .read(self.source, &options, &asks, &mut own, progress)
                .map_err(|error| self.or_swapped(error))?;
            match &first {
                Some(first) if first.rows != read.rows => {
                    return Err(SystemError::DocumentCounts {
                        first: first.rows,
                        second: read.rows,
                    });
                }
                Some(_) => {}
                None => first = Some(read),
            }
        }
        match first {
            Some(read) => Ok((test_set, said, read)),
            // There is at least one pass.
            None => Err(ReadError::NotFound {
                path: self.source.name().into(),
            }
            .into()),
        }
    }

    /// Models that read the same fields share one pass over the file; there is one even without models.
    fn passes(&self) -> Vec<(Fields, Vec<usize>)> {
        let remembered = self.models().next().map(|(_, _, model)| model.fields());
        let asked = &self.options.fields;
        let common = asked.completed_by(remembered.unwrap_or(&Fields::default()));
        let mut passes: Vec<(Fields, Vec<usize>)> = Vec::new();
        for (number, _, model) in self.models() {
            let own = asked.completed_by(model.fields());
            let fields = Fields {
                text: own.text,
                numeric: own.numeric,
                categorical: own.categorical,
                vector: own.vector,
                vector_lengths: own.vector_lengths,
                asked: own.asked,
                ..common.clone()
            };
            match passes.iter_mut().find(|(known, _)| *known == fields) {
                Some((_, members)) => members.push(number),
                None => passes.push((fields, vec![number])),
            }
        }
        if passes.is_empty() {
            let text = self.text_without_models(&common);
            passes.push((Fields { text, ..common }, Vec::new()));
        }
        passes
    }

    /// Models that learned from different label fields have no truth in common until one is named.
    fn check_labels(&self) -> Result<(), SystemError> {
        if self.options.fields.label.is_some() {
            return Ok(());
        }
        let mut fields = self
            .models()
            .map(|(_, system, model)| (&system.name, model.fields().label_name()));
        let Some((first, label)) = fields.next() else {
            return Ok(());
        };
        match fields.find(|(_, other)| *other != label) {
            Some((second, other)) => Err(SystemError::LabelFields {
                first: first.clone(),
                label: label.to_owned(),
                second: second.clone(),
                other: other.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Without models nobody reads the text, but it tells this test set from others. Where the file has
    /// no such field, the labels alone must do.
    fn text_without_models(&self, common: &Fields) -> Vec<String> {
        if !common.text.is_empty() || !self.source.can_be_read_again() {
            return common.text.clone();
        }
        match field_names(self.source, self.options) {
            Ok(names) if !names.is_empty() && !names.iter().any(|name| name == "text") => {
                vec![common.label_name().to_owned()]
            }
            _ => Vec::new(),
        }
    }

    /// Other jobs take the model first, so that this mistake is a likely one.
    fn or_swapped(&self, error: ReadError) -> SystemError {
        match self.source {
            Source::Path(path) if Model::open(path).is_ok() => SystemError::IsAModel {
                file: self.source.name(),
            },
            _ => error.into(),
        }
    }

    /// Whether classes exclude each other.
    fn task(&self, test_set: &TestSet) -> Result<Task, SystemError> {
        let asked = self.settings.task;
        let mut models = self
            .models()
            .map(|(_, system, model)| (&system.name, model.task()));
        let Some((first, task)) = models.next() else {
            return Ok(asked.unwrap_or(match test_set.any_list {
                true => Task::MultiLabel,
                false => Task::SingleLabel,
            }));
        };
        if let Some((other, other_task)) = models.find(|(_, other)| *other != task) {
            return Err(SystemError::Tasks {
                first: first.clone(),
                first_task: task,
                other: other.clone(),
                other_task,
            });
        }
        let system = first.clone();
        if asked.is_some_and(|asked| asked != task) {
            return Err(SystemError::TaskContradicted { system, task });
        }
        if task == Task::SingleLabel && !self.settings.classes.is_empty() {
            return Err(SystemError::ExclusiveClasses { system });
        }
        Ok(task)
    }

    /// What every system states, in its own order of classes.
    fn stated(
        &self,
        test_set: &TestSet,
        said: Vec<Said>,
        task: Task,
        notes: &mut Vec<TableNote>,
    ) -> Result<Vec<StatedForecasts>, SystemError> {
        let names = |model: &Model| model.class_names().map(str::to_owned).collect::<Vec<_>>();
        let first = self.models().next();
        let wanted = if !self.settings.classes.is_empty() {
            Wanted::Exactly(self.settings.classes.clone())
        } else if let Some((_, _, model)) = first {
            Wanted::Exactly(names(model))
        } else {
            Wanted::AtLeast(test_set.label_names())
        };
        let table = TableQuestion {
            wanted: &wanted,
            positive: self.settings.positive.as_deref(),
            reading: self.options,
            rows: &test_set.rows,
        };
        let mut found = Vec::new();
        for (system, said) in self.systems.iter().zip(said) {
            found.push(match &system.model {
                Some(model) => StatedForecasts {
                    classes: names(model),
                    probabilities: said.probabilities,
                    ends: None,
                },
                None => read_forecasts(&system.path, &test_set.ids, &table, task, notes)?,
            });
        }
        Ok(found)
    }

    /// The classes that are compared: those that were asked for, else those that all systems have.
    fn common_classes(
        &self,
        stated: &[StatedForecasts],
        task: Task,
    ) -> Result<Vec<String>, SystemError> {
        let asked = &self.settings.classes;
        let classes = if asked.is_empty() {
            stated[0].classes.clone()
        } else {
            let mut classes = asked.clone();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        let first = &self.systems[0].name;
        for (system, stated) in self.systems.iter().zip(stated) {
            let name = &system.name;
            let missing: Vec<&String> = classes
                .iter()
                .filter(|class| !stated.classes.contains(class))
                .collect();
            if !missing.is_empty() {
                let whose = match asked.is_empty() {
                    true => format!(", which `{first}` has"),
                    false => String::new(),
                };
                let message = format!("`{name}` has no class {}{whose}", quoted(&missing));
                return Err(SystemError::Classes { message, task });
            }
            let more: Vec<&String> = stated
                .classes
                .iter()
                .filter(|class| !classes.contains(class))
                .collect();
            if !more.is_empty() && (asked.is_empty() || task == Task::SingleLabel) {
                let whose = match asked.is_empty() {
                    true => format!("which `{first}` has not"),
                    false => "which was not asked for".to_owned(),
                };
                let message = format!("`{name}` has the class {}, {whose}", quoted(&more));
                return Err(SystemError::Classes { message, task });
            }
        }
        Ok(classes)
    }
}
