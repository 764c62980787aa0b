//! Texts to sparse rows, for learners of others.

use calibrant::features::{BatchCounter, ColumnSpace, CorpusCounts, FittedWeighting, Vocabulary};
use calibrant::jobs::FitWords;
use calibrant::pipeline::FitSettings;
use calibrant::text::{AnalyzerBuffers, CompiledAnalyzer};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::texts::{TextColumn, Texts};
use crate::{errors, json, pool};

/// Texts that a thread counts before it takes others.
const TEXTS_AT_ONCE: usize = 512;

/// Terms, their document frequencies and how they are weighted.
#[pyclass(frozen, name = "Vectorizer", module = "calibrant._calibrant")]
pub(crate) struct PyVectorizer {
    words: String,
    analyzer: CompiledAnalyzer,
    space: ColumnSpace,
    vocabulary: Option<Vocabulary>,
    weighting: FittedWeighting,
}

/// The arrays of a CSR matrix, and its number of columns.
type Csr<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f32>>,
    usize,
);

/// What a vectoriser is made of: words, terms and where each ends, document frequencies, documents and their total length.
type Parts = (String, String, Vec<u32>, Vec<u32>, u64, f64);

fn compiled(words: &str) -> PyResult<(FitSettings, CompiledAnalyzer)> {
    let settings: FitWords = json::read(words)?;
    let settings = settings.settings().map_err(errors::fit)?;
    let analyzer = settings.analyzer.compile().map_err(errors::general)?;
    Ok((settings, analyzer))
}

#[pymethods]
impl PyVectorizer {
    /// Learns terms and document frequencies.
    #[staticmethod]
    fn fit(py: Python<'_>, column: &Bound<'_, PyAny>, words: &str) -> PyResult<Self> {
        let (settings, analyzer) = compiled(words)?;
        let column = TextColumn::of(column)?;
        let texts = column.read()?;
        texts.check_all_there()?;
        let space = settings.column_space();
        let arranged = pool::run(py, || {
            let mut counts = CorpusCounts::new(space);
            let parts: Vec<usize> = (0..texts.len()).step_by(TEXTS_AT_ONCE).collect();
            let batches: Vec<_> = parts
                .into_par_iter()
                .map(|first| {
                    let mut batch = BatchCounter::new(&analyzer, space);
                    for row in first..(first + TEXTS_AT_ONCE).min(texts.len()) {
                        batch.count_text(texts.get(row).unwrap_or_default());
                    }
                    batch.finish()
                })
                .collect();
            batches.into_iter().for_each(|batch| counts.merge(batch));
            let order: Vec<u32> = (0..texts.len() as u32).collect();
            counts.arrange(&order, &settings.limits)
        })?;
        let weighting = settings.effective_weighting();
        let counts = arranged.counts.to_rows();
        if arranged
            .vocabulary
            .as_ref()
            .is_some_and(Vocabulary::is_empty)
        {
            return Err(errors::FitError::new_err(
                "no term is within the limits on document frequency, so there are no features (empty vocabulary)",
            ));
        }
        Ok(Self {
            words: words.to_owned(),
            analyzer,
            space,
            vocabulary: arranged.vocabulary,
            weighting: FittedWeighting::fit(weighting, &counts),
        })
    }

    #[staticmethod]
    fn from_parts(parts: Parts) -> PyResult<Self> {
        let (words, terms, ends, frequencies, documents, length) = parts;
        let (settings, analyzer) = compiled(&words)?;
        let vocabulary = match settings.column_space() {
            ColumnSpace::Hashed { .. } => None,
            ColumnSpace::Vocabulary => {
                let vocabulary = Vocabulary::from_parts(terms, ends);
                let vocabulary = vocabulary.filter(|known| known.len() == frequencies.len());
                Some(vocabulary.ok_or_else(|| errors::saved("a vocabulary that is damaged"))?)
            }
        };
        Ok(Self {
            words,
            analyzer,
            space: settings.column_space(),
            vocabulary,
            weighting: FittedWeighting::from_parts(
                settings.effective_weighting(),
                documents,
                length,
                frequencies,
            ),
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Parts,))> {
        let (terms, ends) = match &self.vocabulary {
            Some(vocabulary) => {
                let (terms, ends) = vocabulary.parts();
                (terms.to_owned(), ends.to_vec())
            }
            None => (String::new(), Vec::new()),
        };
        let (documents, length) = self.weighting.collection_size();
        let frequencies = self.weighting.document_frequencies().to_vec();
        let parts = (
            self.words.clone(),
            terms,
            ends,
            frequencies,
            documents,
            length,
        );
        Ok((py.get_type::<Self>().getattr("from_parts")?, (parts,)))
    }

    /// The terms in the order of the columns; `None` where they are hashed.
    #[getter]
    fn terms(&self) -> Option<Vec<&str>> {
        Some(self.vocabulary.as_ref()?.terms().collect())
    }

    #[getter]
    fn document_frequencies<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.weighting
            .document_frequencies()
            .to_vec()
            .into_pyarray(py)
    }

    /// The terms of one text, in order, as they are counted.
    fn analyze(&self, text: &str) -> Vec<String> {
        self.analyzer.terms(text)
    }

    /// Rows of a CSR matrix; terms that are not known have no column.
    fn transform<'py>(&self, py: Python<'py>, column: &Bound<'py, PyAny>) -> PyResult<Csr<'py>> {
        let column = TextColumn::of(column)?;
        let texts = column.read()?;
        texts.check_all_there()?;
        let parts = pool::run(py, || {
            let firsts: Vec<usize> = (0..texts.len()).step_by(TEXTS_AT_ONCE).collect();
            firsts
                .into_par_iter()
                .map(|first| self.rows(&texts, first))
                .collect::<Vec<_>>()
        })?;
        let entries = parts.iter().map(|(_, columns, _)| columns.len()).sum();
        let mut starts = Vec::with_capacity(texts.len() + 1);
        let (mut columns, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        starts.push(0);
        for (lengths, some_columns, some_values) in parts {
            for length in lengths {
                starts.push(starts.last().copied().unwrap_or(0) + i64::from(length));
            }
            columns.extend(some_columns);
            values.extend(some_values);
        }
        let width = self.weighting.document_frequencies().len();
        Ok((
            starts.into_pyarray(py),
            columns.into_pyarray(py),
            values.into_pyarray(py),
            width,
        ))
    }
}

impl PyVectorizer {
    fn column(&self, term: &str) -> Option<u32> {
        match (self.space, &self.vocabulary) {
            (ColumnSpace::Hashed { bits }, _) => Some(ColumnSpace::hashed_column(term, bits)),
            (ColumnSpace::Vocabulary, Some(vocabulary)) => vocabulary.get(term),
            (ColumnSpace::Vocabulary, None) => None,
        }
    }

    /// Some texts from `first` on: how many entries each row has, their columns and values.
    fn rows(&self, texts: &Texts<'_>, first: usize) -> (Vec<u32>, Vec<i32>, Vec<f32>) {
        let mut buffers = AnalyzerBuffers::default();
        let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut found, mut own): (Vec<u32>, Vec<u32>) = Default::default();
        for row in first..(first + TEXTS_AT_ONCE).min(texts.len()) {
            found.clear();
            own.clear();
            let text = texts.get(row).unwrap_or_default();
            self.analyzer
                .for_each_term(text, &mut buffers, |term| found.extend(self.column(term)));
            found.sort_unstable();
            let start = values.len();
            for run in found.chunk_by(|a, b| a == b) {
                own.push(run[0]);
                values.push(run.len() as f32);
            }
            self.weighting.apply_row(&own, &mut values[start..]);
            columns.extend(own.iter().map(|&column| column as i32));
            lengths.push(own.len() as u32);
        }
        (lengths, columns, values)
    }
}
