//! Rows to one score per class, by way of a code's binary problems.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{
    ClassScorer, Link, NamedTensor, OpenScorer, SavedScorer, ScorerBuffers, ScorerDescription,
    Stored, TensorReader,
};
use crate::calibration::PlattCalibrator;
use crate::features::RowView;
use crate::multiclass::{CodeMatrix, CodeSettings, DecodeBuffers, Decoder};

/// The binary scorers of a code and what makes classes of their answers.
#[derive(Debug, Clone)]
pub struct OutputCodeScorer {
    decoder: Decoder,
    /// One with an output per column, or one per column.
    base: Vec<SavedScorer>,
}

/// What a file keeps of an output code beside the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputCodeDescription {
    settings: CodeSettings,
    base: Vec<ScorerDescription>,
}

/// Buffers for the binary scores of one row.
#[derive(Debug, Default)]
pub(crate) struct CodeBuffers {
    binary: Vec<f64>,
    decode: DecodeBuffers,
}

impl OutputCodeScorer {
    /// From parts; `None` unless the binary scorers together have one output per column of the code
    /// and know the same features.
    pub fn new(decoder: Decoder, base: Vec<SavedScorer>) -> Option<Self> {
        let columns: usize = base.iter().map(SavedScorer::output_count).sum();
        let features = base.first()?.feature_count();
        let usable = |scorer: &SavedScorer| {
            scorer.feature_count() == features
                && scorer.link() != Link::AgainstRest
                && !matches!(scorer, SavedScorer::OutputCodes(_))
        };
        let fits = columns == decoder.code().length() && base.iter().all(usable);
        fits.then_some(Self { decoder, base })
    }

    /// The code and its decoding.
    pub fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Fills `binary` with the score of each binary problem.
    ///
    /// # Panics
    /// If it is not as long as the code.
    pub fn binary_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, binary: &mut [f64]) {
        let mut rest = binary;
        for scorer in &self.base {
            let (own, others) = rest.split_at_mut(scorer.output_count());
            scorer.scores_into(row, buffer, own);
            rest = others;
        }
    }

    fn prefix(&self, number: usize) -> String {
        prefix(number, self.base.len())
    }
}

impl ClassScorer for OutputCodeScorer {
    /// One output per class.
    fn output_count(&self) -> usize {
        self.decoder.code().class_count()
    }

    /// Each class's score stands for itself.
    fn link(&self) -> Link {
        Link::Independent
    }

    /// How many features there are.
    fn feature_count(&self) -> usize {
        self.base.first().map_or(0, SavedScorer::feature_count)
    }

    /// Fills `outputs` with the score of each class.
    fn outputs_into(&self, row: RowView<'_>, buffer: &mut ScorerBuffers, outputs: &mut [f64]) {
        let mut own = std::mem::take(&mut buffer.code);
        own.binary.resize(self.decoder.code().length(), 0.0);
        self.binary_into(row, buffer, &mut own.binary);
        self.decoder
            .scores_into(&own.binary, &mut own.decode, outputs);
        buffer.code = own;
    }

    /// Each entry's parts in the binary scores, by how much those moved the class's score: see
    /// `Decoder::slopes`.
    fn parts_into(
        &self,
        row: RowView<'_>,
        output: usize,
        buffer: &mut ScorerBuffers,
        parts: &mut [f64],
    ) {
        let mut to = vec![0.0; self.decoder.code().length()];
        self.binary_into(row, buffer, &mut to);
        let mut of_columns = Vec::with_capacity(to.len());
        for scorer in &self.base {
            for column in 0..scorer.output_count() {
                let mut of_column = vec![0.0; parts.len()];
                scorer.parts_into(row, column, buffer, &mut of_column);
                of_columns.push(of_column);
            }
        }
        let from: Vec<f64> = to
            .iter()
            .zip(&of_columns)
            .map(|(to, parts)| to - parts.iter().sum::<f64>())
            .collect();
        let slopes = self.decoder.slopes(output, &from, &to);
        parts.fill(0.0);
        for (of_column, slope) in of_columns.iter().zip(slopes) {
            for (part, own) in parts.iter_mut().zip(of_column) {
                *part += slope * own;
            }
        }
    }

    /// The code, what decoding needs, and the binary scorers' own under `base`.
    fn tensors(&self) -> Vec<NamedTensor<'_>> {
        let code = self.decoder.code();
        let shape = vec![code.class_count(), code.length()];
        let mut tensors = vec![
            NamedTensor::shaped("code", shape, code.entries()),
            NamedTensor::vector("code.weights", self.decoder.weights()),
        ];
        let curves = self.decoder.curves().iter();
        let curves: Vec<f64> = curves
            .flat_map(|curve| [curve.slope, curve.intercept])
            .collect();
        if !curves.is_empty() {
            tensors.push(NamedTensor {
                name: "code.curves".to_owned(),
                dtype: f64::DTYPE,
                shape: vec![curves.len()],
                bytes: Cow::Owned(bytemuck::cast_slice(&curves).to_vec()),
            });
        }
        for (number, scorer) in self.base.iter().enumerate() {
            let prefix = self.prefix(number);
            let own = scorer.tensors().into_iter();
            tensors.extend(own.map(|tensor| tensor.under(&prefix)));
        }
        tensors
    }
}

impl OpenScorer for OutputCodeScorer {
    type Description = OutputCodeDescription;

    /// What a file keeps beside the tensors.
    fn description(&self) -> OutputCodeDescription {
        OutputCodeDescription {
            settings: *self.decoder.settings(),
            base: self.base.iter().map(SavedScorer::description).collect(),
        }
    }

    /// What [`Self::description`] and [`Self::tensors`] came from; `None` if they do not fit together.
    fn from_tensors(description: OutputCodeDescription, reader: &TensorReader<'_>) -> Option<Self> {
        let OutputCodeDescription { settings, base } = description;
        settings.check().ok()?;
        let (entries, class_count, length) = reader.stored_matrix::<i8>("code")?;
        let code = CodeMatrix::new(class_count, entries.to_vec()).ok()?;
        if code.length() != length || base.is_empty() || base.len() > length {
            return None;
        }
        let weights = reader.vector::<f64>("code.weights")?;
        let curves = if settings.needs_curves() {
            reader.vector::<f64>("code.curves")?
        } else {
            Vec::new()
        };
        let curves = curves.chunks_exact(2).map(|curve| PlattCalibrator {
            slope: curve[0],
            intercept: curve[1],
        });
        let decoder = Decoder::new(code, settings, weights, curves.collect())?;
        let count = base.len();
        let base = base.into_iter().enumerate().map(|(number, description)| {
            // A code in a code is never written, and would let a file go as deep as it likes.
            if matches!(description, ScorerDescription::OutputCodes(_)) {
                return None;
            }
            SavedScorer::from_tensors(description, &reader.under(&prefix(number, count)))
        });
        Self::new(decoder, base.collect::<Option<Vec<_>>>()?)
    }
}

fn prefix(number: usize, count: usize) -> String {
    if count == 1 {
        "base".to_owned()
    } else {
        format!("base.{number:05}")
    }
}
