//! Queries in parts.

use super::RankFitError;
use crate::corpus::{QueryRows, RankingTable};

/// Queries outside and inside a part, both in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) rest: Vec<usize>,
    pub(super) held: Vec<usize>,
}

/// The queries in parts of equal size, as far as possible.
pub(super) fn split_queries(
    table: &RankingTable,
    folds: usize,
    seed: u64,
) -> Result<Vec<Split>, RankFitError> {
    let queries = table.query_count();
    if folds < 2 || folds > queries {
        return Err(RankFitError::TooManyFolds { queries, folds });
    }
    let fold_of = fold_of_queries(table.queries(), folds, seed);
    let split = |fold: usize| {
        let (held, rest) = (0..queries).partition(|&query| fold_of[query] == fold);
        Split { rest, held }
    };
    Ok((0..folds).map(split).collect())
}

/// The part of each query: they are dealt out in the order of a hash of their name and the seed, so that neither the order of the table nor the
/// names' own order matters.
pub(super) fn fold_of_queries(queries: &[QueryRows], folds: usize, seed: u64) -> Vec<usize> {
    let key = |query: &QueryRows| {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(query.id.as_bytes());
        *hasher.finalize().as_bytes()
    };
    let keys: Vec<[u8; 32]> = queries.iter().map(key).collect();
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_unstable_by_key(|&query| keys[query]);
    let mut fold_of = vec![0; queries.len()];
    for (place, query) in order.into_iter().enumerate() {
        fold_of[query] = place % folds.max(1);
    }
    fold_of
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(names: &[&str]) -> Vec<QueryRows> {
        let query = |name: &&str| QueryRows {
            id: (*name).to_owned(),
            rows: 0..0,
        };
        names.iter().map(query).collect()
    }

    #[test]
    fn parts_follow_names_and_seed_and_are_of_equal_size() {
        let names: Vec<String> = (0..23).map(|number| format!("q{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let turned: Vec<&str> = names.iter().rev().copied().collect();
        let found = fold_of_queries(&queries(&names), 5, 7);
        let mut again = fold_of_queries(&queries(&turned), 5, 7);
        again.reverse();
        assert_eq!(found, again);
        assert_ne!(found, fold_of_queries(&queries(&names), 5, 8));
        for fold in 0..5 {
            let size = found.iter().filter(|&&own| own == fold).count();
            assert!((4..=5).contains(&size), "{found:?}");
        }
    }
}
