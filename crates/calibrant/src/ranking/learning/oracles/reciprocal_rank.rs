//! The rank of the first relevant document.

use super::SortedSides;

/// The most violated ranking for the loss `1 - 1/rank` of the first relevant document.
///
/// # Formula
/// With `m` other documents before the first relevant one the loss is `1 - 1/(m+1)`. Those are the `m`
/// of highest score; all further pairs stand by score, as nothing but the first relevant document counts:
/// ```text
/// 1 - 1/(m+1) + 1/(|R||N|) [ Σ_{j<=m} Σ_i (t_j - s_i) + Σ_{j>m} Σ_i |s_i - t_j| ]
/// ```
/// and the best `m` is found in one pass over the sorted lists. (Standing by score may put still more others in
/// front, whose loss is even higher; so the largest value is never overstated.)
///
/// # When it misleads
/// It learns from the first relevant document alone and forgets the rest; with several relevant
/// documents per query, average precision often gives the better reciprocal rank on new queries, too.
///
/// # Reference
/// Named as an extension by Yue et al. 2007; Chakrabarti, Khanna, Sawant & Bhattacharyya, KDD 2008, section 3.
///
/// ```
/// use calibrant::ranking::learning::{SortedSides, most_violated_reciprocal_rank};
/// let (mut sides, mut before, mut c) = (SortedSides::default(), Vec::new(), [0.0; 2]);
/// sides.sort(&[0.2, 0.0], &[true, false]);
/// // By hand: standing second costs ½, more than twice the lead of 0.2.
/// assert_eq!(most_violated_reciprocal_rank(&sides, &mut before, &mut c), 0.5);
/// assert_eq!(c, [2.0, -2.0]);
/// ```
pub fn most_violated_reciprocal_rank(
    sides: &SortedSides,
    relevant_before: &mut Vec<u32>,
    coefficients: &mut [f64],
) -> f64 {
    let Some((relevant, others)) = sides.begin(relevant_before, coefficients) else {
        return 0.0;
    };
    // By score alone; what moving each of the others to the front changes is twice the lead of the
    // relevant ones that stand before it.
    let mut place = 0;
    let mut lead_sum = 0.0;
    let pair = 2.0 / (relevant as f64 * others as f64);
    let mut worth = 0.0;
    let mut best = (0.0, 0);
    for (j, &t) in sides.other_scores().iter().enumerate() {
        while place < relevant && sides.relevant_scores()[place] >= t {
            lead_sum += sides.relevant_scores()[place];
            place += 1;
        }
        relevant_before.push(place as u32);
        worth -= pair * (lead_sum - place as f64 * t);
        let value = worth + 1.0 - 1.0 / (j + 2) as f64;
        if value > best.0 {
            best = (value, j + 1);
        }
    }
    relevant_before[..best.1].fill(0);
    sides.coefficients_into(relevant_before, coefficients);
    let ahead = relevant_before.partition_point(|&before| before == 0);
    1.0 - 1.0 / (ahead + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::check_interleavings;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_interleaving_is_more_violated(
            documents in prop::collection::vec((-1.5f64..1.5, any::<bool>()), 2..8),
            coarse in any::<bool>(),
        ) {
            let mut before = Vec::new();
            let loss = |order: &[bool]| {
                let first = order.iter().position(|&relevant| relevant).unwrap();
                1.0 - 1.0 / (first + 1) as f64
            };
            check_interleavings(&documents, coarse, loss, |sides, coefficients| {
                most_violated_reciprocal_rank(sides, &mut before, coefficients)
            })?;
        }
    }
}
