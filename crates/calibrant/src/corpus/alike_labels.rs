//! Labels that differ in case or space alone, as people type them.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

/// What labels have in common that are the same but for case and space.
///
/// ```
/// use calibrant::corpus::folded_label;
/// assert_eq!(folded_label(" Customer  Service"), folded_label("customerservice"));
/// assert_ne!(folded_label("service 1"), folded_label("service 2"));
/// ```
pub fn folded_label(label: &str) -> String {
    let letters = label.nfc().filter(|character| !character.is_whitespace());
    letters.flat_map(char::to_lowercase).collect()
}

/// The labels, with how often each comes, in sets that differ in case or space alone. The spelling to keep stands first:
/// the most frequent, of equals the first in the order of bytes. So the sets do not depend on the order of rows.
///
/// ```
/// use calibrant::corpus::alike_labels;
/// let counts = [("Billing", 3), ("access", 9), ("billing ", 1), ("BILLING", 3)];
/// let sets = alike_labels(counts);
/// assert_eq!(sets, [vec!["access"], vec!["BILLING", "Billing", "billing "]]);
/// ```
pub fn alike_labels<'l>(counts: impl IntoIterator<Item = (&'l str, usize)>) -> Vec<Vec<&'l str>> {
    let mut sets: BTreeMap<String, Vec<(&str, usize)>> = BTreeMap::new();
    for (label, count) in counts {
        sets.entry(folded_label(label))
            .or_default()
            .push((label, count));
    }
    sets.into_values()
        .map(|mut set| {
            set.sort_unstable_by_key(|&(label, count)| (std::cmp::Reverse(count), label));
            set.into_iter().map(|(label, _)| label).collect()
        })
        .collect()
}
