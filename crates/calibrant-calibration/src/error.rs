//! What can go wrong while fitting a calibrator.

/// Why nothing could be fitted to scores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// There is nothing to fit to.
    #[error("there are no examples to learn from")]
    NoExamples,
    /// A setting is outside what makes sense.
    #[error("{setting} must be {requirement}, not {value}")]
    BadSetting {
        /// The name of the setting.
        setting: &'static str,
        /// What it must be.
        requirement: &'static str,
        /// What it is.
        value: String,
    },
    /// A score is not a finite number.
    #[error("score {position} is {value}; a calibrator needs finite scores")]
    BadScore {
        /// Which score.
        position: usize,
        /// Its value.
        value: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("{left_name} has {left} entries and {right_name} has {right}")]
    LengthMismatch {
        /// The first list.
        left_name: &'static str,
        /// Its length.
        left: usize,
        /// The second list.
        right_name: &'static str,
        /// Its length.
        right: usize,
    },
    /// A method needs more examples of each kind.
    #[error(
        "{method} needs at least {needed} positive and {needed} negative held-out examples; there are {positives} and {negatives}"
    )]
    TooFewExamples {
        /// The calibration method.
        method: &'static str,
        /// How many of each kind it needs.
        needed: usize,
        /// Positive examples there are.
        positives: usize,
        /// Negative examples there are.
        negatives: usize,
    },
    /// An iteration did not reach its tolerance.
    #[error("{method} stopped after {iterations} iterations with gradient norm {gradient:.1e}")]
    NotConverged {
        /// The method.
        method: &'static str,
        /// Iterations done.
        iterations: usize,
        /// The size of the gradient where it stopped.
        gradient: f64,
    },
    /// Something became infinite.
    #[error("numbers overflowed; use smaller scores or weights")]
    Overflow,
    /// Forecasts could not be measured.
    #[error(transparent)]
    Evaluation(#[from] crate::evaluation::EvaluationError),
}
