//! Output codes around the learner.

use calibrant::multiclass::{BinaryOutput, CodeDesign, CodeSettings, ColumnWeights, Decode};
use clap::Args;

use super::choice::choice;

#[derive(Debug, Args)]
#[command(next_help_heading = "Output codes (three or more classes, one per document)")]
pub(crate) struct CodeArguments {
    /// Learn the binary problems of an error-correcting output code, instead of each class against the rest
    #[arg(long, value_parser = choice::<CodeDesign>(), value_name = "DESIGN")]
    pub(crate) code: Option<CodeDesign>,
    /// Columns of the code, one binary problem per column (by default the design's usual number)
    #[arg(long, value_name = "N", requires = "code")]
    pub(crate) code_length: Option<usize>,
    /// How the columns' answers are decoded into class scores
    #[arg(long, value_parser = choice::<Decode>(), value_name = "WAY", requires = "code", default_value_t)]
    pub(crate) decode: Decode,
    /// Which output of a binary problem is decoded
    #[arg(long, value_parser = choice::<BinaryOutput>(), value_name = "WHAT", requires = "code", default_value_t)]
    pub(crate) code_output: BinaryOutput,
    /// How columns are weighted in distances
    #[arg(long, value_parser = choice::<ColumnWeights>(), value_name = "HOW", requires = "code", default_value_t)]
    pub(crate) code_weights: ColumnWeights,
}

impl CodeArguments {
    pub(crate) fn settings(&self) -> Option<CodeSettings> {
        Some(CodeSettings {
            design: self.code?,
            length: self.code_length,
            decode: self.decode,
            output: self.code_output,
            weights: self.code_weights,
        })
    }
}
