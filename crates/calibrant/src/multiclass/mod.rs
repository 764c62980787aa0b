//! Many classes from the scores of binary problems: codes and their decoding. It knows numbers alone;
//! [`OutputCodeScorer`](crate::scorers::OutputCodeScorer) has the scorers behind them.

mod codes;
mod output_codes;

pub use codes::{BchCode, CodeDesign, CodeFault, CodeMatrix, Separation};
pub use output_codes::{
    BinaryOutput, CodeSettings, ColumnWeights, Decode, DecodeBuffers, Decoder, DecoderFit,
};
