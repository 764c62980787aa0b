//! How much more often does a term come with the class than without it?

use super::linear::{DualFit, LaneData, PreparedRows};
use crate::features::SparseMatrix;

/// For each column the naive-Bayes log-count ratio of one class.
///
/// # Formula
/// ```text
/// p_j = α + Σ_positive w_i [x_ij ≠ 0],   q_j = α + Σ_negative w_i [x_ij ≠ 0]
/// r_j = ln (p_j / Σ p) - ln (q_j / Σ q)
/// ```
///
/// # Reference
/// Wang & Manning, ACL 2012, section 2.1, with their binary counts.
fn ratios(
    rows: &SparseMatrix,
    weights: &[f64],
    members: &[u32],
    labels: &[bool],
    alpha: f64,
) -> Vec<f32> {
    let mut with = vec![alpha; rows.column_count()];
    let mut without = with.clone();
    for &row in members {
        let row = row as usize;
        let side = if labels[row] { &mut with } else { &mut without };
        let entries = rows.row(row).entries().filter(|(_, value)| *value != 0.0);
        entries.for_each(|(column, _)| side[column] += weights[row]);
    }
    let base = without.iter().sum::<f64>().ln() - with.iter().sum::<f64>().ln();
    let each = with.iter().zip(&without);
    each.map(|(with, without)| (base + (with / without).ln()) as f32)
        .collect()
}

/// Solves each problem over columns that are scaled by its own ratios. Weights come back times the ratios, so that they
/// serve rows as they are.
pub(super) fn fit_scaled<E>(
    rows: &PreparedRows<'_>,
    weights: &[f64],
    members: &[u32],
    lanes: &[LaneData<'_>],
    alpha: f64,
    fit: impl Fn(&PreparedRows<'_>, &LaneData<'_>) -> Result<Vec<DualFit>, E>,
) -> Result<Vec<DualFit>, E> {
    let mut fits = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let ratios = ratios(rows.rows(), weights, members, &lane.labels, alpha);
        let scaled = rows.rows().clone().map_rows(|columns, values| {
            for (&column, value) in columns.iter().zip(values) {
                *value *= ratios[column as usize];
            }
        });
        for mut own in fit(&PreparedRows::new(&scaled), lane)? {
            own.model.scale_weights(&ratios);
            fits.push(own);
        }
    }
    Ok(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{ClassFactors, ClassLabels, Targets};
    use crate::scorers::{ClassLearner, LinearSvm};

    fn rows() -> SparseMatrix {
        let rows: [&[(u32, f32)]; 4] = [
            &[(0, 1.0), (1, 2.0)],
            &[(0, 1.0)],
            &[(1, 1.0), (2, 3.0)],
            &[(2, 1.0)],
        ];
        SparseMatrix::from_rows(3, rows.iter().map(|row| row.to_vec()))
    }

    const LABELS: [bool; 4] = [true, true, false, false];

    #[test]
    fn ratios_are_those_by_hand() {
        let found = ratios(&rows(), &[1.0, 1.0, 1.0, 3.0], &[0, 1, 2, 3], &LABELS, 1.0);
        // By hand: p = (3, 2, 1) of 6, q = (1, 2, 5) of 8, the last row counting three times.
        let expected = [3.0f64 / 6.0 * 8.0, 8.0 / 6.0, 1.0 / 6.0 * 8.0 / 5.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected.ln()).abs() < 1e-6, "{found}");
        }
        // Rows that take no part do not count.
        let part = ratios(&rows(), &[1.0; 4], &[0, 2], &LABELS, 0.5);
        let expected = [1.5f64 / 0.5, 1.0, 0.5 / 1.5];
        for (found, expected) in part.iter().zip(expected) {
            assert!((f64::from(*found) - expected.ln()).abs() < 1e-6, "{found}");
        }
    }

    #[test]
    fn the_model_of_scaled_rows_scores_rows_as_they_are() {
        let (rows, weights) = (rows(), [1.0; 4]);
        let svm = LinearSvm {
            log_count_ratio: Some(1.0),
            ..LinearSvm::default()
        };
        let scaled_here = {
            let ratios = ratios(&rows, &weights, &[0, 1, 2, 3], &LABELS, 1.0);
            rows.clone().map_rows(|columns, values| {
                for (&column, value) in columns.iter().zip(values) {
                    *value *= ratios[column as usize];
                }
            })
        };
        let (labels, factors) = (ClassLabels::of_one_class(&LABELS), ClassFactors::equal(1));
        let fit = |svm: LinearSvm, rows: &SparseMatrix| {
            let problem = Targets::new(&labels, &weights, &factors);
            let problem = problem.among(rows, &[0, 1, 2, 3]);
            svm.fit(&problem).unwrap().scorer
        };
        let plain = fit(LinearSvm::default(), &scaled_here);
        let model = fit(svm, &rows);
        for row in 0..4 {
            let (own, expected) = (
                model.output_scores(rows.row(row))[0],
                plain.output_scores(scaled_here.row(row))[0],
            );
            assert!((own - expected).abs() < 1e-5, "{own} {expected}");
        }
        // A term that comes as often on both sides says nothing.
        assert!(model.as_linear().unwrap().weight(1, 0).abs() < 1e-6);
    }
}
