//! Where the values of a function are cut.

/// `0, 1/n, …, (n-1)/n`, for values from 0 to 1.
pub(super) fn even_thresholds(count: usize) -> Vec<f32> {
    (0..count)
        .map(|k| (k as f64 / count as f64) as f32)
        .collect()
}

/// At most `count` of the values, at even steps of the weight below them, where relevant documents (`true`) weigh as
/// much together as all others; none that is not exceeded by any value.
pub(super) fn spread_thresholds(mut values: Vec<(f32, bool)>, count: usize) -> Vec<f32> {
    values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let Some(&(greatest, _)) = values.last() else {
        return Vec::new();
    };
    let relevant = values.iter().filter(|(_, relevant)| *relevant).count();
    let others = values.len() - relevant;
    let weight = |of: usize| if of == 0 { 0.0 } else { 1.0 / of as f64 };
    let (relevant_weight, other_weight) = (weight(relevant), weight(others));
    let total = f64::from(u8::from(relevant > 0)) + f64::from(u8::from(others > 0));
    let mut thresholds: Vec<f32> = Vec::with_capacity(count);
    let mut below = 0.0;
    let mut next = 1;
    for (value, is_relevant) in values {
        below += if is_relevant {
            relevant_weight
        } else {
            other_weight
        };
        // The last digits of a sum of many weights must not decide where a threshold lies.
        while next <= count && below >= total * next as f64 / (count + 1) as f64 - 1e-9 {
            next += 1;
            if value < greatest && thresholds.last().is_none_or(|&last| last < value) {
                thresholds.push(value);
            }
        }
    }
    thresholds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test] // By hand: ten others at 0..9, two relevant at 20 and 30.
    fn relevant_documents_draw_thresholds() {
        let mut values: Vec<(f32, bool)> = (0..10).map(|i| (i as f32, false)).collect();
        values.extend([(20.0, true), (30.0, true)]);
        // Weights 0.1 and 0.5 of 2 in all; steps of 0.5: after 0.5 (value 4), 1.0 (value 9), 1.5 (value 20).
        assert_eq!(spread_thresholds(values, 3), [4.0, 9.0, 20.0]);
        assert_eq!(even_thresholds(4), [0.0, 0.25, 0.5, 0.75]);
    }

    proptest! {
        #[test]
        fn thresholds_rise_and_are_exceeded(
            values in prop::collection::vec((-5i8..5, any::<bool>()), 0..40),
            count in 0usize..60,
        ) {
            let values: Vec<(f32, bool)> = values.into_iter().map(|(v, r)| (f32::from(v), r)).collect();
            let found = spread_thresholds(values.clone(), count);
            prop_assert!(found.len() <= count);
            prop_assert!(found.windows(2).all(|pair| pair[0] < pair[1]));
            for threshold in found {
                prop_assert!(values.iter().any(|value| value.0 > threshold));
            }
        }
    }
}
