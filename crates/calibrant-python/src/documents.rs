//! Documents as columns that Python holds.

use calibrant::corpus::{Content, Document, Record};
use calibrant::text::FIELD_BREAK;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::rows::Matrix;
use crate::texts::{TextColumn, Texts};

/// Columns as they came, kept alive while they are read.
pub(crate) struct Columns<'py> {
    texts: Vec<TextColumn<'py>>,
    numbers: Vec<PyReadonlyArray1<'py, f64>>,
    categories: Vec<TextColumn<'py>>,
    vectors: Vec<PyReadonlyArray2<'py, f32>>,
    asked: Vec<TextColumn<'py>>,
    amounts: Vec<PyReadonlyArray1<'py, f64>>,
    ids: Option<TextColumn<'py>>,
    groups: Option<TextColumn<'py>>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    labels: Option<Labels<'py>>,
    matrix: Option<Matrix<'py>>,
    rows: usize,
}

/// Classes by number: one per row, or those between two starts.
struct Labels<'py> {
    names: Vec<String>,
    numbers: PyReadonlyArray1<'py, u32>,
    starts: Option<PyReadonlyArray1<'py, i64>>,
}

impl<'py> Columns<'py> {
    /// From a dictionary that the package makes: `rows`, and lists of columns by what they are.
    pub(crate) fn of(table: &Bound<'py, PyDict>) -> PyResult<Self> {
        let texts = |name: &str| -> PyResult<Vec<TextColumn<'py>>> {
            let Some(list) = table.get_item(name)? else {
                return Ok(Vec::new());
            };
            list.try_iter()?
                .map(|column| TextColumn::of(&column?))
                .collect()
        };
        let text = |name: &str| -> PyResult<Option<TextColumn<'py>>> {
            let given = table.get_item(name)?.filter(|column| !column.is_none());
            given.map(|column| TextColumn::of(&column)).transpose()
        };
        let numbers = |name: &str| -> PyResult<Vec<PyReadonlyArray1<'py, f64>>> {
            let list = table.get_item(name)?;
            list.map_or(Ok(Vec::new()), |list| list.extract())
        };
        let labels = match table.get_item("labels")?.filter(|labels| !labels.is_none()) {
            None => None,
            Some(labels) => {
                let (names, numbers, starts) = labels.extract()?;
                Some(Labels {
                    names,
                    numbers,
                    starts,
                })
            }
        };
        let weights = table.get_item("weights")?.filter(|w| !w.is_none());
        let rows = table.get_item("rows")?;
        let rows = rows.ok_or_else(|| errors::general("a table without `rows`"))?;
        Ok(Self {
            texts: texts("texts")?,
            numbers: numbers("numbers")?,
            categories: texts("categories")?,
            vectors: match table.get_item("vectors")? {
                Some(list) => list.extract()?,
                None => Vec::new(),
            },
            asked: texts("asked")?,
            amounts: numbers("amounts")?,
            ids: text("ids")?,
            groups: text("groups")?,
            weights: weights.map(|weights| weights.extract()).transpose()?,
            labels,
            matrix: match table.get_item("matrix")?.filter(|matrix| !matrix.is_none()) {
                Some(matrix) => Some(Matrix::of(&matrix)?),
                None => None,
            },
            rows: rows.extract()?,
        })
    }

    /// Documents of their own: texts and cells, or rows of a matrix.
    pub(crate) fn documents(&self) -> PyResult<Vec<Document>> {
        let mut documents = self.read()?.documents();
        if let Some(matrix) = &self.matrix {
            matrix.with_rows(|rows| {
                if rows.row_count() != documents.len() {
                    return Err(errors::general("the matrix has another number of rows"));
                }
                for (row, document) in documents.iter_mut().enumerate() {
                    let mut entries = Vec::new();
                    rows.row_into(row, &mut entries);
                    document.content = Content::Features(entries);
                }
                Ok(())
            })?;
        }
        Ok(documents)
    }

    /// What can be shared with other threads. Every column must have as many rows as the table.
    pub(crate) fn read(&self) -> PyResult<Rows<'_>> {
        fn all<'a>(columns: &'a [TextColumn<'_>]) -> PyResult<Vec<Texts<'a>>> {
            columns.iter().map(TextColumn::read).collect()
        }
        fn slices<'a>(columns: &'a [PyReadonlyArray1<'_, f64>]) -> PyResult<Vec<&'a [f64]>> {
            let slice = |column: &'a PyReadonlyArray1<'_, f64>| Ok(column.as_slice()?);
            columns.iter().map(slice).collect()
        }
        let labels = match &self.labels {
            None => None,
            Some(labels) => Some(RowLabels {
                names: &labels.names,
                numbers: labels.numbers.as_slice()?,
                starts: match &labels.starts {
                    Some(starts) => Some(starts.as_slice()?),
                    None => None,
                },
            }),
        };
        let rows = Rows {
            texts: all(&self.texts)?,
            numbers: slices(&self.numbers)?,
            categories: all(&self.categories)?,
            vectors: {
                let mut read = Vec::new();
                for column in &self.vectors {
                    read.push((column.as_slice()?, column.as_array().ncols()));
                }
                read
            },
            asked: all(&self.asked)?,
            amounts: slices(&self.amounts)?,
            ids: self.ids.as_ref().map(TextColumn::read).transpose()?,
            groups: self.groups.as_ref().map(TextColumn::read).transpose()?,
            weights: match &self.weights {
                Some(weights) => Some(weights.as_slice()?),
                None => None,
            },
            labels,
            count: self.rows,
        };
        rows.check()?;
        Ok(rows)
    }
}

struct RowLabels<'a> {
    names: &'a [String],
    numbers: &'a [u32],
    starts: Option<&'a [i64]>,
}

impl RowLabels<'_> {
    fn len(&self) -> usize {
        self.starts
            .map_or(self.numbers.len(), |starts| starts.len().saturating_sub(1))
    }

    fn are_sound(&self) -> bool {
        let known = |&number: &u32| (number as usize) < self.names.len();
        let starts = self.starts.is_none_or(|starts| {
            let rise = starts.is_sorted() && starts.first() == Some(&0);
            rise && starts.last() == Some(&(self.numbers.len() as i64))
        });
        starts && self.numbers.iter().all(known)
    }

    fn label(&self, document: Document, row: usize) -> Document {
        match self.starts {
            None => document.label(&*self.names[self.numbers[row] as usize]),
            Some(starts) => {
                let own = &self.numbers[starts[row] as usize..starts[row + 1] as usize];
                document.labels(own.iter().map(|&number| &*self.names[number as usize]))
            }
        }
    }
}

/// Documents by row, for any thread.
pub(crate) struct Rows<'a> {
    texts: Vec<Texts<'a>>,
    numbers: Vec<&'a [f64]>,
    categories: Vec<Texts<'a>>,
    /// The numbers of all rows, and how many each row has.
    vectors: Vec<(&'a [f32], usize)>,
    asked: Vec<Texts<'a>>,
    amounts: Vec<&'a [f64]>,
    ids: Option<Texts<'a>>,
    groups: Option<Texts<'a>>,
    weights: Option<&'a [f64]>,
    labels: Option<RowLabels<'a>>,
    count: usize,
}

impl Rows<'_> {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    fn check(&self) -> PyResult<()> {
        let texts = self.texts.iter().chain(&self.categories).chain(&self.asked);
        let texts = texts.chain(&self.ids).chain(&self.groups).map(Texts::len);
        let numbers = self
            .numbers
            .iter()
            .chain(&self.amounts)
            .chain(&self.weights);
        let numbers = numbers.map(|numbers| numbers.len());
        let labels = self.labels.iter().map(RowLabels::len);
        let vectors = self.vectors.iter();
        let vectors = vectors.map(|(values, width)| values.len() / (*width).max(1));
        if let Some(other) = texts
            .chain(numbers)
            .chain(labels)
            .chain(vectors)
            .find(|&other| other != self.count)
        {
            return Err(errors::general(format!(
                "columns differ in length: {} rows and {other}",
                self.count
            )));
        }
        if self
            .labels
            .as_ref()
            .is_some_and(|labels| !labels.are_sound())
        {
            return Err(errors::general("labels that are no numbers of classes"));
        }
        // One text alone is the text of the document; beside other columns a gap is an empty text.
        match &self.texts[..] {
            [only] => only.check_all_there(),
            _ => Ok(()),
        }
    }

    /// Whether a document is one text and nothing else, which can be read where it lies.
    pub(crate) fn only_text(&self) -> Option<&Texts<'_>> {
        match &self.texts[..] {
            [only] if !self.has_cells() => Some(only),
            _ => None,
        }
    }

    fn has_cells(&self) -> bool {
        !(self.numbers.is_empty()
            && self.categories.is_empty()
            && self.vectors.is_empty()
            && self.asked.is_empty())
    }

    fn text(&self, row: usize) -> Option<String> {
        let mut joined = String::new();
        for (position, column) in self.texts.iter().enumerate() {
            if position > 0 {
                joined.push('\n');
                joined.push(FIELD_BREAK);
            }
            joined.push_str(column.get(row).unwrap_or_default());
        }
        (!self.texts.is_empty()).then_some(joined)
    }

    pub(crate) fn content(&self, row: usize) -> Content {
        let text = self.text(row);
        if !self.has_cells() {
            return Content::Text(text.unwrap_or_default());
        }
        let owned = |column: &Texts<'_>| column.get(row).map(str::to_owned);
        Content::Record(Box::new(Record {
            text,
            numbers: self
                .numbers
                .iter()
                .map(|column| Some(column[row]).filter(|number| !number.is_nan()))
                .collect(),
            categories: self.categories.iter().map(owned).collect(),
            vectors: self
                .vectors
                .iter()
                .map(|&(values, width)| Some(values[row * width..(row + 1) * width].to_vec()))
                .collect(),
            asked: self
                .asked
                .iter()
                .map(|column| owned(column).unwrap_or_default())
                .collect(),
        }))
    }

    /// A document of its own.
    pub(crate) fn document(&self, row: usize) -> Document {
        let mut document = Document::new(self.content(row));
        document.row = row as u64 + 1;
        document.line = row as u64 + 1;
        if let Some(labels) = &self.labels {
            document = labels.label(document, row);
        }
        if let Some(weights) = self.weights {
            document.weight = weights[row];
        }
        let own = |column: &Option<Texts<'_>>| {
            let text = column.as_ref().and_then(|column| column.get(row));
            text.map(str::to_owned)
        };
        document.group = own(&self.groups);
        document.id = own(&self.ids);
        document.amounts = self.amounts.iter().map(|column| column[row]).collect();
        document
    }

    /// All of them, one after the other. Rows of weight zero are left out, as scikit-learn has it.
    pub(crate) fn weighted_documents(&self) -> impl Iterator<Item = Document> {
        let weighs = |row: &usize| self.weights.is_none_or(|weights| weights[*row] != 0.0);
        (0..self.count).filter(weighs).map(|row| self.document(row))
    }

    pub(crate) fn documents(&self) -> Vec<Document> {
        (0..self.count).map(|row| self.document(row)).collect()
    }
}
