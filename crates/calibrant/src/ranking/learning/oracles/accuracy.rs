//! Right and wrong answers, document by document.

/// The most violated labels for a weighted hinge loss: documents with a margin below one.
///
/// # Formula
/// `Σ_d v_d max(0, 1 - y_d s_d)` with `y_d = 1` for relevant documents, else `-1`; `v_d` is `relevant_weight`
/// or `other_weight`. Ranking plays no part: this is the linear support vector machine, a document an example.
pub(crate) fn most_violated_labels(
    scores: &[f64],
    relevant: &[bool],
    [relevant_weight, other_weight]: [f64; 2],
    coefficients: &mut [f64],
) -> f64 {
    let mut loss = 0.0;
    for ((&score, &relevant), coefficient) in scores.iter().zip(relevant).zip(coefficients) {
        let (sign, weight) = if relevant {
            (1.0, relevant_weight)
        } else {
            (-1.0, other_weight)
        };
        *coefficient = if sign * score < 1.0 {
            sign * weight
        } else {
            0.0
        };
        loss += coefficient.abs();
    }
    loss
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // By hand: margins 0.5 and 2 of relevant documents, 0 and 3 of others.
    fn only_documents_with_a_margin_below_one_count() {
        let mut coefficients = [0.0; 4];
        let relevant = [true, true, false, false];
        let loss = most_violated_labels(
            &[0.5, 2.0, 0.0, -3.0],
            &relevant,
            [3.0, 1.0],
            &mut coefficients,
        );
        assert_eq!(loss, 4.0);
        assert_eq!(coefficients, [3.0, 0.0, -1.0, 0.0]);
        // Σ v (1 - y s) over the violated ones: 3 · 0.5 + 1 · 1.
        assert_eq!(loss - 3.0 * 0.5 + 1.0 * 0.0, 2.5);
    }
}
