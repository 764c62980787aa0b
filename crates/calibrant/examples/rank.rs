//! Learn a ranking from judged documents (a LETOR file), and rank those of new queries with their probabilities of relevance.
//!
//! `cargo run --example rank -- judged.letor new.letor`; without files it takes those of `testdata/`.
#![allow(clippy::print_stdout)]

use std::error::Error;

use calibrant::NoProgress;
use calibrant::corpus::{RankingTable, Source};
use calibrant::ranking::learning::{RankModel, RankSettings};

fn main() -> Result<(), Box<dyn Error>> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/parity/data/");
    let mut files = std::env::args().skip(1);
    let judged = files
        .next()
        .unwrap_or_else(|| format!("{data}judged.letor"));
    let new = files
        .next()
        .unwrap_or_else(|| format!("{data}judged-new.letor"));

    // Weights that bring average precision to its best, features and C chosen by cross-validation over queries; then a curve
    // from scores to probabilities, on queries that were held out one fifth at a time.
    let judged = RankingTable::read(&Source::Path(judged.into()))?;
    let model = RankModel::fit(&judged, None, &RankSettings::default(), &NoProgress)?;

    let table = RankingTable::read(&Source::Path(new.into()))?;
    let scores = model.scores(&table)?;
    let probabilities = model.probabilities(&table, &scores).unwrap_or_default();
    for query in table.queries() {
        let mut rows: Vec<usize> = query.rows.clone().collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        println!("query {}", query.id);
        for row in rows.into_iter().take(3) {
            let probability = probabilities[row].value();
            println!("  {:<10} {probability:.3}", table.document(row));
        }
    }
    Ok(())
}
