//! Output codes around the learner.

use calibrant::multiclass::{BinaryOutput, CodeDesign, CodeSettings, ColumnWeights, Decode};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(next_help_heading = "Output codes (three or more classes, one a document)")]
pub(crate) struct CodeArguments {
    /// Learn the binary problems of an error-correcting code, in place of each class against the rest
    #[arg(long, value_enum, value_name = "DESIGN")]
    pub(crate) code: Option<DesignName>,
    /// Columns of the code, one binary problem each (the design's usual number by default)
    #[arg(long, value_name = "N", requires = "code")]
    pub(crate) code_length: Option<usize>,
    /// How the answers become scores of classes
    #[arg(long, value_enum, value_name = "WAY", requires = "code", default_value_t = DecodeName::Margin)]
    pub(crate) decode: DecodeName,
    /// What of a binary score counts
    #[arg(long, value_enum, value_name = "WHAT", requires = "code", default_value_t = OutputName::Probability)]
    pub(crate) code_output: OutputName,
    /// How much the columns count in distances
    #[arg(long, value_enum, value_name = "HOW", requires = "code", default_value_t = WeightsName::Accuracy)]
    pub(crate) code_weights: WeightsName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DesignName {
    /// Each class against all others
    #[value(name = "one_vs_all", alias = "one-vs-all")]
    OneVsAll,
    /// Each class against each other
    #[value(name = "all_pairs", alias = "all-pairs")]
    AllPairs,
    /// Every way to divide the classes (at most ten)
    Exhaustive,
    /// Sides by chance, improved step by step
    #[value(name = "random_dense", alias = "random-dense")]
    RandomDense,
    /// As random_dense, half of the classes left out of each problem
    #[value(name = "random_sparse", alias = "random-sparse")]
    RandomSparse,
    /// Words of a Bose-Chaudhuri-Hocquenghem code
    Bch,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum DecodeName {
    /// How much nearer a class's code word is than the nearest other
    Margin,
    /// Class probabilities that explain those of all columns best
    #[value(name = "least_squares", alias = "least-squares")]
    LeastSquares,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OutputName {
    /// Its sign
    Sign,
    /// The score, cut at -1 and 1
    Clip,
    /// Its hyperbolic tangent
    Tanh,
    /// The expected answer, by Platt's curve on held-out scores
    Probability,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WeightsName {
    /// All alike
    Equal,
    /// By their held-out error
    Accuracy,
}

impl CodeArguments {
    pub(crate) fn settings(&self) -> Option<CodeSettings> {
        let design = match self.code? {
            DesignName::OneVsAll => CodeDesign::OneVsAll,
            DesignName::AllPairs => CodeDesign::AllPairs,
            DesignName::Exhaustive => CodeDesign::Exhaustive,
            DesignName::RandomDense => CodeDesign::RandomDense,
            DesignName::RandomSparse => CodeDesign::RandomSparse,
            DesignName::Bch => CodeDesign::Bch,
        };
        Some(CodeSettings {
            design,
            length: self.code_length,
            decode: match self.decode {
                DecodeName::Margin => Decode::Margin,
                DecodeName::LeastSquares => Decode::LeastSquares,
            },
            output: match self.code_output {
                OutputName::Sign => BinaryOutput::Sign,
                OutputName::Clip => BinaryOutput::Clip,
                OutputName::Tanh => BinaryOutput::Tanh,
                OutputName::Probability => BinaryOutput::Probability,
            },
            weights: match self.code_weights {
                WeightsName::Equal => ColumnWeights::Equal,
                WeightsName::Accuracy => ColumnWeights::Accuracy,
            },
        })
    }
}
