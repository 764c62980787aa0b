//! Many classes from the scores of binary problems: codes and their decoding. It knows numbers alone;
//! `OutputCodeScorer` has the scorers behind them.

mod codes;
mod output_codes;

pub use codes::{CodeDesign, CodeFault, CodeMatrix, Separation};
pub use output_codes::{BinaryOutput, CodeSettings, ColumnWeights, Decode};
pub(crate) use output_codes::{Decoder, DecoderFit};

// Not part of the documented interface: parts of codes, for the experiments and their examples.
#[doc(hidden)]
pub use codes::BchCode;
#[doc(hidden)]
pub use output_codes::DecodeBuffers;
