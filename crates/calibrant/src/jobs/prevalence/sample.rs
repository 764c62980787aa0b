//! The labelled documents, found again in the pool.

use std::collections::HashMap;

use super::PrevalenceJobError;
use super::plan::StratumMark;
use super::pool::{Pool, content_key};
use crate::corpus::{
    ContentRef, Document, Fields, LabelNeed, ReadOptions, Source, field_names, read_all,
};
use crate::jobs::DocumentKey;
use crate::pipeline::LabelMatcher;
use crate::{Progress, RowLabels, Task};

/// Labelled documents by their places in the pool.
pub(super) struct Sample {
    pub(super) places: Vec<usize>,
    pub(super) labels: RowLabels,
    /// The strata of the pool's documents and of these, where the sample was drawn so.
    pub(super) strata: Option<(Vec<u32>, Vec<u32>)>,
}

/// By what rows are found again.
enum Way {
    Id(String),
    Row,
    Content,
}

impl Sample {
    pub(super) fn read(
        pool: &Pool<'_>,
        source: &Source,
        options: &ReadOptions,
        progress: &dyn Progress,
    ) -> Result<Self, PrevalenceJobError> {
        let asked = options.fields.completed_by(pool.model.fields());
        let names = field_names(source, options)?;
        let way = Way::of(pool, &asked, &names);
        let marked = names.iter().any(|name| name == StratumMark::COLUMN);
        let mut beside: Vec<String> = way.field().into_iter().collect();
        beside.extend(marked.then(|| StratumMark::COLUMN.to_owned()));
        let read = |fields: Fields| {
            let options = ReadOptions {
                fields,
                labels_required: LabelNeed::Required,
                own_id: false,
                ..options.clone()
            };
            read_all(source, &options, progress)
        };
        // Categories are cells as they are written; with them no text is asked for.
        let cells_only = Fields {
            label: asked.label.clone(),
            label_separator: asked.label_separator.clone(),
            categorical: beside.clone(),
            ..Fields::default()
        };
        // The content is asked for as that of the pool was.
        let with_content = Fields {
            id: None,
            weight: None,
            group: None,
            ..asked.clone()
        };
        let by_content = matches!(way, Way::Content);
        let cells = match by_content && beside.is_empty() {
            true => None,
            false => Some(read(cells_only)?.0),
        };
        let labelled = match (by_content, cells) {
            (false, Some(cells)) => (cells, None),
            (_, cells) => (read(with_content)?.0, cells),
        };
        let (labelled, cells) = (&labelled.0, labelled.1.as_ref().unwrap_or(&labelled.0));
        let cell = |row: usize, at: usize| -> Option<&str> {
            let record = cells.get(row)?.content.as_record()?;
            record.categories.get(at)?.as_deref().map(str::trim)
        };
        let mut finder = Finder::new(pool, &way, source.name())?;
        let mut places = Vec::with_capacity(labelled.len());
        for (row, document) in labelled.iter().enumerate() {
            places.push(finder.place(document, cell(row, 0))?);
        }
        let at = beside.len().saturating_sub(1);
        let planned = marked && (0..labelled.len()).any(|row| cell(row, at).is_some());
        let labels = labels(pool, labelled, &source.name(), planned)?;
        let mut strata = None;
        if marked {
            let marks = labelled.iter().enumerate();
            let marks: Vec<(u64, Option<&str>)> = marks
                .map(|(row, document)| (document.line, cell(row, at)))
                .collect();
            strata = StratumMark::strata(&marks, &places, pool, &source.name())?;
        }
        Ok(Self {
            places,
            labels,
            strata,
        })
    }
}

impl Way {
    /// By identifiers where both files have them, by the numbers of rows where the pool has none, else by what documents say.
    fn of(pool: &Pool<'_>, asked: &Fields, names: &[String]) -> Self {
        let has = |name: &str| names.iter().any(|found| found == name);
        let have_ids = matches!(pool.keys.first(), Some(DocumentKey::Id(_)));
        let id = asked.id.clone().unwrap_or_else(|| "id".to_owned());
        // What was drawn for labelling calls the field so, whatever it was called.
        let id = [id, "id".to_owned()].into_iter().find(|name| has(name));
        match id {
            Some(name) if have_ids => Self::Id(name),
            _ if !have_ids && has("row") => Self::Row,
            _ => Self::Content,
        }
    }

    fn field(&self) -> Option<String> {
        match self {
            Self::Id(name) => Some(name.clone()),
            Self::Row => Some("row".to_owned()),
            Self::Content => None,
        }
    }
}

/// Finds rows in the pool.
struct Finder<'a> {
    way: &'a Way,
    file: String,
    ids: HashMap<&'a str, usize>,
    rows: HashMap<u64, usize>,
    contents: HashMap<u128, Vec<usize>>,
    seen: Vec<bool>,
}

impl<'a> Finder<'a> {
    fn new(pool: &'a Pool<'_>, way: &'a Way, file: String) -> Result<Self, PrevalenceJobError> {
        let mut finder = Self {
            way,
            file,
            ids: HashMap::new(),
            rows: HashMap::new(),
            contents: HashMap::new(),
            seen: vec![false; pool.keys.len()],
        };
        for (place, key) in pool.keys.iter().enumerate() {
            match (way, key) {
                (Way::Id(_), DocumentKey::Id(id)) if !id.is_empty() => {
                    let before = finder.ids.insert(id, place);
                    if before.is_some() {
                        let id = id.clone();
                        return Err(PrevalenceJobError::SameId { id });
                    }
                }
                (Way::Row, DocumentKey::Row(row)) => {
                    finder.rows.insert(*row, place);
                }
                (Way::Content, _) => {
                    let same = finder.contents.entry(pool.contents[place]).or_default();
                    same.push(place);
                }
                _ => {}
            }
        }
        // Of equal documents the first comes first.
        finder.contents.values_mut().for_each(|same| same.reverse());
        Ok(finder)
    }

    fn place(
        &mut self,
        document: &Document,
        key: Option<&str>,
    ) -> Result<usize, PrevalenceJobError> {
        let (file, line) = (self.file.clone(), document.line);
        let key = key.unwrap_or_default();
        let (found, what) = match self.way {
            Way::Id(name) => (self.ids.get(key).copied(), format!("{name} `{key}`")),
            Way::Row => {
                let number: Option<u64> = key.parse().ok();
                let place = number.and_then(|number| self.rows.get(&number));
                (place.copied(), format!("row `{key}`"))
            }
            Way::Content => {
                let key = content_key(ContentRef::from(document));
                let what = "a document with this text".to_owned();
                match self.contents.get_mut(&key) {
                    Some(left) if left.is_empty() => {
                        return Err(PrevalenceJobError::Twice { file, line, what });
                    }
                    Some(left) => (left.pop(), what),
                    None => (None, what),
                }
            }
        };
        let Some(place) = found else {
            return Err(PrevalenceJobError::NotInPool { file, line, what });
        };
        match std::mem::replace(&mut self.seen[place], true) {
            true => Err(PrevalenceJobError::Twice { file, line, what }),
            false => Ok(place),
        }
    }
}

/// What says, where documents may have several labels, that one has none: an empty cell may be one that nobody has read.
const NONE: &str = "-";

/// Labels as numbers of classes. In a sample that was planned every row must have been read.
fn labels(
    pool: &Pool<'_>,
    labelled: &[Document],
    file: &str,
    planned: bool,
) -> Result<RowLabels, PrevalenceJobError> {
    let single = pool.model.task() == Task::SingleLabel;
    let matcher = LabelMatcher::new(pool.model.task(), pool.model.class_names());
    let mut matcher = matcher.folding(pool.model.folds_labels());
    let empty = labelled.iter().filter(|own| own.labels.is_empty()).count();
    if planned && !single && empty > 0 {
        let (file, rows) = (file.to_owned(), labelled.len());
        return Err(PrevalenceJobError::NotRead { file, empty, rows });
    }
    let none = |labels: &[String]| {
        labels == [NONE] && !single && !pool.model.class_names().any(|name| name == NONE)
    };
    let mut labels = RowLabels::new();
    for document in labelled {
        if none(&document.labels) {
            labels.push([]);
            continue;
        }
        let (file, line) = (file.to_owned(), document.line);
        if single && document.labels.is_empty() {
            return Err(PrevalenceJobError::NotLabelled { file, line });
        }
        if single && document.labels.len() > 1 {
            let found = document.labels.len();
            return Err(PrevalenceJobError::SeveralLabels { file, line, found });
        }
        let (of_row, _) = matcher.classes(document.labels.iter().map(String::as_str));
        if let Some((label, _)) = matcher.unknown_labels.pop_first() {
            return Err(PrevalenceJobError::UnknownLabel { file, line, label });
        }
        labels.push(of_row);
    }
    Ok(labels)
}
