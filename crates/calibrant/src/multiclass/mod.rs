//! Many classes, or many labels a document, from binary scorers.

mod codes;
mod labels;
mod one_vs_rest;
mod output_codes;

pub use codes::{BchCode, CodeDesign, CodeFault, CodeMatrix, Separation};
pub use labels::ClassLabels;
pub use one_vs_rest::{ClassFactors, OneVsRest, OneVsRestFit};
pub(crate) use output_codes::CodeRoom;
pub use output_codes::{
    BinaryOutput, CodeSettings, ColumnWeights, Decode, DecodeRoom, Decoder, DecoderFit,
    OutputCodeDescription, OutputCodeScorer,
};
