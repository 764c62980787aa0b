//! Error-correcting output codes: one binary problem a column of a [`CodeMatrix`], and classes by the
//! code word that the answers are nearest to.
//!
//! [`CodeSettings`] says which code and how to decode; [`DecoderFit`] learns from held-out binary
//! scores how far each column can be trusted; a [`Decoder`] turns binary scores into one score per class, and
//! [`OutputCodeScorer`](crate::scorers::OutputCodeScorer) is it with the binary scorers behind it.
//!
//! [`CodeMatrix`]: super::CodeMatrix

mod attribution;
mod decoder;
mod decoder_fit;
mod settings;

pub use decoder::DecodeBuffers;
pub(crate) use decoder::Decoder;
pub(crate) use decoder_fit::DecoderFit;
pub use settings::{BinaryOutput, CodeSettings, ColumnWeights, Decode};
