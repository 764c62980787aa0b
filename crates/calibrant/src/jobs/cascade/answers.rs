//! What a source of answers said, from a table.

use std::collections::HashMap;

use super::CascadeJobError;
use crate::Progress;
use crate::corpus::{ReadOptions, Source};
use crate::jobs::cells::{CellRow, names_of, number, read_cells};

/// The columns that hold a confidence, and whether it is a logarithm.
const CONFIDENCES: [(&str, bool); 6] = [
    ("probability", false),
    ("confidence", false),
    ("log_probability", true),
    ("logprob", true),
    ("log_prob", true),
    ("avg_logprob", true),
];

/// What a source said of documents: a label, and how sure it is.
///
/// A table has the document (`id` or `row`), its `label`, and `probability` or `confidence` between 0 and 1, or `log_probability` or `logprob`, a
/// natural logarithm. Of predictions with several classes for a document (a column `rank`), the most probable counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SourceAnswers {
    of_document: HashMap<String, Said>,
}

#[derive(Debug, Clone, PartialEq)]
struct Said {
    /// Empty cells are no answer.
    label: Option<String>,
    confidence: Option<f64>,
}

impl SourceAnswers {
    /// Reads a table; `key` is the column that names documents. Without `sure`, no confidence is asked for.
    pub fn read(
        source: &Source,
        options: &ReadOptions,
        key: &str,
        sure: bool,
        progress: &dyn Progress,
    ) -> Result<Self, CascadeJobError> {
        let file = source.name();
        let names = names_of(source, options)?;
        let has = |name: &str| names.iter().any(|found| found == name);
        for column in [key, "label"] {
            if !has(column) {
                let column = column.to_owned();
                return Err(CascadeJobError::NoColumn { file, column });
            }
        }
        let confidence = CONFIDENCES.into_iter().find(|(name, _)| has(name));
        if confidence.is_none() && sure {
            return Err(CascadeJobError::NoConfidence { file });
        }
        let mut wanted = vec![key, "label"];
        wanted.extend(confidence.map(|(name, _)| name));
        let rows = read_cells(source, options, &wanted, progress)?;
        let reader = Reader {
            file: &file,
            confidence,
            ranked: has("rank"),
        };
        let mut answers = Self::default();
        for row in &rows {
            reader.add(row, &mut answers)?;
        }
        Ok(answers)
    }

    /// What was said of a document: the label, if there is one, and the confidence, if any was asked for.
    pub fn of(&self, document: &str) -> Option<(Option<&str>, Option<f64>)> {
        let said = self.of_document.get(document)?;
        Some((said.label.as_deref(), said.confidence))
    }
}

struct Reader<'a> {
    file: &'a str,
    confidence: Option<(&'static str, bool)>,
    /// Whether a document may have several rows.
    ranked: bool,
}

impl Reader<'_> {
    fn add(&self, row: &CellRow, answers: &mut SourceAnswers) -> Result<(), CascadeJobError> {
        let (file, line) = (self.file.to_owned(), row.line);
        let id = row.cell(0).unwrap_or_default().to_owned();
        let label = row.cell(1).map(str::to_owned);
        let confidence = self.confidence_of(row, label.is_some())?;
        let said = Said { label, confidence };
        match answers.of_document.get_mut(&id) {
            Some(_) if !self.ranked => Err(CascadeJobError::Twice { file, line, id }),
            Some(kept) => {
                if said.confidence > kept.confidence {
                    *kept = said;
                }
                Ok(())
            }
            None => {
                answers.of_document.insert(id, said);
                Ok(())
            }
        }
    }

    fn confidence_of(&self, row: &CellRow, answered: bool) -> Result<Option<f64>, CascadeJobError> {
        let Some((column, logarithm)) = self.confidence else {
            return Ok(None);
        };
        let text = row.cell(2).unwrap_or_default();
        if !answered {
            return Ok(Some(0.0));
        }
        let stated = number(text).map(|number| match logarithm {
            true => number.exp(),
            false => number,
        });
        match stated.filter(|stated| (0.0..=1.0).contains(stated)) {
            Some(stated) => Ok(Some(stated)),
            None => Err(CascadeJobError::BadConfidence {
                file: self.file.to_owned(),
                line: row.line,
                column: column.to_owned(),
                found: text.to_owned(),
            }),
        }
    }
}
