//! A linear problem solved on arrays, without anything around it.

use crate::features::RowSource;
use crate::scorers::{BorrowedLearner, BorrowedOutput, BorrowedProblem, Classifier};
use crate::solvers::Convergence;
use crate::{FitError, Progress};

/// What to solve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolveSettings {
    /// A linear SVM or logistic regression, with its cost and limits. The default cost is taken where none is given.
    pub classifier: Classifier,
    /// The value `B` of a constant feature, whose weight times `B` is the intercept: 1 is usual, and penalises the intercept like any
    /// weight. With 0 there is none; with infinity it is not penalised, which the hinge cannot have.
    pub intercept_scaling: f64,
}

impl Default for SolveSettings {
    fn default() -> Self {
        Self {
            classifier: Classifier::default(),
            intercept_scaling: 1.0,
        }
    }
}

/// Weights of columns. Two classes share one output, which speaks for the second; of more each has one against the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearSolution {
    /// Output after output, the weight of each column.
    pub coefficients: Vec<f64>,
    /// The intercept of each output.
    pub intercepts: Vec<f64>,
    /// How many columns there are.
    pub column_count: usize,
    /// How each output's solver ended, with the objective that it came to.
    pub convergence: Vec<Convergence>,
}

/// Solves a linear learner's problem on borrowed rows, with no fold and no calibration.
///
/// # Formula
/// For each output, with `y_i` 1 for its class and -1 for the rest:
/// ```text
/// minimise over w, b:   (|w|² + (b / B)²) / 2  +  C Σ_i weight_i loss(y_i (w·x_i + b))
/// ```
/// Rows of weight zero are left out; a row of weight 2 is the same as the row twice. Sparse rows are solved by dual coordinate
/// descent, dense ones in the primal unless the loss is the hinge; nothing of the entries is copied. Classes are numbers from 0, all below
/// the largest of which are classes.
///
/// ```
/// use calibrant::NoProgress;
/// use calibrant::features::DenseRows;
/// use calibrant::jobs::{SolveSettings, solve_rows};
/// use calibrant::scorers::{Classifier, LinearSvm};
/// let svm = LinearSvm { c: Some(0.25), ..LinearSvm::default() };
/// let settings = SolveSettings { classifier: Classifier::LinearSvm(svm), ..SolveSettings::default() };
/// let rows = DenseRows::new(&[-1.0f64, 1.0], 1)?;
/// let solved = solve_rows(&rows, &[0, 1], None, &settings, &NoProgress)?;
/// // By hand: w²/2 + 2 · 0.25 (1 - w)² is least at w = 1/2, where it is 1/8 + 1/8.
/// assert!((solved.coefficients[0] - 0.5).abs() < 1e-2 && solved.intercepts[0].abs() < 1e-2);
/// assert!((solved.convergence[0].objective - 0.25).abs() < 1e-4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn solve_rows(
    rows: &dyn RowSource,
    classes: &[u32],
    weights: Option<&[f64]>,
    settings: &SolveSettings,
    progress: &dyn Progress,
) -> Result<LinearSolution, FitError> {
    settings.check()?;
    let learner =
        BorrowedLearner::of(&settings.classifier).ok_or_else(|| FitError::BadSetting {
            setting: "the classifier",
            requirement: "a linear SVM or logistic regression on the columns as they are",
            value: settings.classifier.name().into(),
        })?;
    let members = members(rows, classes, weights)?;
    let problem = BorrowedProblem {
        rows,
        weights: weights.unwrap_or_default(),
        members: members.as_deref().into(),
        constant: settings.intercept_scaling,
    };
    let count = classes.iter().max().map_or(0, |&class| class as usize + 1);
    let spoken_for: Vec<u32> = match count {
        0 | 1 => return Err(one_class(count, classes.len())),
        2 => vec![1],
        _ => (0..count as u32).collect(),
    };
    let labels: Vec<_> = spoken_for
        .iter()
        .map(|&class| move |row: usize| classes[row] == class)
        .collect();
    let outputs: Vec<BorrowedOutput<'_>> = labels
        .iter()
        .map(|labels| BorrowedOutput {
            labels,
            factors: (1.0, 1.0),
            start: None,
            is_start: false,
        })
        .collect();
    if !learner.is_primal(&problem) {
        refuse_infinite(rows)?;
    }
    let fits = learner.solve(&problem, &outputs, progress)?;
    if fits
        .iter()
        .any(|fit| !fit.convergence.objective.is_finite())
    {
        refuse_infinite(rows)?;
        return Err(FitError::Overflow);
    }
    Ok(LinearSolution {
        intercepts: fits.iter().map(|fit| fit.bias).collect(),
        convergence: fits.iter().map(|fit| fit.convergence).collect(),
        column_count: rows.column_count(),
        coefficients: match <[_; 1]>::try_from(fits) {
            Ok([only]) => only.weights,
            Err(fits) => fits.into_iter().flat_map(|fit| fit.weights).collect(),
        },
    })
}

impl SolveSettings {
    fn check(&self) -> Result<(), FitError> {
        self.classifier.learner().check()?;
        if self.intercept_scaling >= 0.0 {
            return Ok(());
        }
        Err(FitError::BadSetting {
            setting: "the scaling of the intercept",
            requirement: "a number from 0 to infinity",
            value: self.intercept_scaling.to_string(),
        })
    }
}

/// The rows that weigh anything, where not all do.
fn members(
    rows: &dyn RowSource,
    classes: &[u32],
    weights: Option<&[f64]>,
) -> Result<Option<Vec<u32>>, FitError> {
    let same_length = |right_name, right| match rows.row_count() {
        left if left == right => Ok(()),
        left => Err(FitError::LengthMismatch {
            left_name: "rows",
            left,
            right_name,
            right,
        }),
    };
    same_length("classes", classes.len())?;
    let Some(weights) = weights else {
        return Ok(None);
    };
    same_length("weights", weights.len())?;
    if let Some(weight) = weights.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
        return Err(FitError::BadSetting {
            setting: "a weight",
            requirement: "zero or a positive number",
            value: weight.to_string(),
        });
    }
    let weighs = |&row: &u32| weights[row as usize] > 0.0;
    let all = 0..weights.len() as u32;
    Ok(weights.contains(&0.0).then(|| all.filter(weighs).collect()))
}

fn one_class(count: usize, documents: usize) -> FitError {
    match count {
        0 => FitError::NoDocuments,
        _ => FitError::OneClass {
            class: "0".into(),
            documents,
        },
    }
}

/// Names the first value that is infinite or no number.
pub(super) fn refuse_infinite(rows: &dyn RowSource) -> Result<(), FitError> {
    match rows.first_not_finite() {
        None => Ok(()),
        Some((row, column)) => Err(FitError::BadSetting {
            setting: "a feature",
            requirement: "a finite number",
            value: format!("infinite or no number in row {row}, column {column}"),
        }),
    }
}

#[cfg(test)]
mod tests;
