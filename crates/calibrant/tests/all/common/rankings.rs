//! What the tests of rankings share: small judged tables.

use calibrant::numeric::Random;
use calibrant::ranking::RankingTable;
use calibrant::ranking::learning::{RankLoss, RankModel, RankParameters};

/// Queries of about ten documents with grades 0 to 2; the first column helps, others are noise, some values are missing.
pub(crate) fn table(seed: u64, queries: usize, columns: usize) -> RankingTable {
    let mut random = Random::from_seed(seed);
    let (mut names, mut labels, mut values, mut sizes) = (vec![], vec![], vec![], vec![]);
    for query in 0..queries {
        let count = 6 + random.below(8);
        sizes.push((format!("q{query}"), count));
        for document in 0..count {
            let grade = [0, 0, 0, 1, 2][random.below(5)];
            names.push(format!("d{document}"));
            labels.push(grade);
            for column in 0..columns {
                let value = random.normal() + if column == 0 { f64::from(grade) } else { 0.0 };
                values.push(if random.below(12) == 0 {
                    f32::NAN
                } else {
                    value as f32
                });
            }
        }
    }
    let functions = (1..=columns).map(|column| column.to_string()).collect();
    RankingTable::new(functions, &sizes, &names, labels, values).unwrap()
}

pub(crate) fn quick(loss: RankLoss) -> RankParameters {
    RankParameters {
        loss,
        c: vec![0.1, 1.0],
        ..RankParameters::default()
    }
}

pub(crate) fn fit(table: &RankingTable, settings: &RankParameters) -> RankModel {
    RankModel::fit_with(table, None, settings, &calibrant::NoProgress).unwrap()
}
