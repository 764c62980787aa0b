//! The paper's tables: mean average precision, queries won and lost, significance.

use std::io::Write;

use calibrant::evaluation::wilcoxon_signed_rank;
use serde_json::{Value, json};

/// A method and the average precision of each query, averaged over the draws that tested it.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) precisions: Vec<f64>,
}

pub(super) struct Outcome {
    pub(super) trials: usize,
    pub(super) functions: usize,
    pub(super) candidates: usize,
    /// The first is what all others are compared with.
    pub(super) rows: Vec<Row>,
}

/// The first row beside another.
struct Beside {
    wins: usize,
    losses: usize,
    p_value: f64,
}

impl Row {
    fn map(&self) -> f64 {
        self.precisions.iter().sum::<f64>() / self.precisions.len().max(1) as f64
    }

    fn beside(&self, first: &Row) -> Beside {
        let differences: Vec<f64> = first
            .precisions
            .iter()
            .zip(&self.precisions)
            .map(|(first, other)| first - other)
            .collect();
        Beside {
            wins: differences.iter().filter(|&&more| more > 0.0).count(),
            losses: differences.iter().filter(|&&more| more < 0.0).count(),
            p_value: wilcoxon_signed_rank(&differences).p_value,
        }
    }
}

impl Outcome {
    pub(super) fn json(&self) -> Value {
        let mut methods = serde_json::Map::new();
        for (place, row) in self.rows.iter().enumerate() {
            let mut value = json!({ "map": row.map() });
            if place > 0 {
                let beside = row.beside(&self.rows[0]);
                value["svm_map_wins"] = json!(beside.wins);
                value["svm_map_losses"] = json!(beside.losses);
                value["wilcoxon_p"] = json!(beside.p_value);
            }
            // `best: bm25.stems` is `best` for scripts.
            let (name, function) = match row.name.split_once(": ") {
                Some((name, function)) => (name, Some(function)),
                None => (row.name.as_str(), None),
            };
            if let Some(function) = function {
                value["function"] = json!(function);
            }
            methods.insert(name.to_owned(), value);
        }
        json!({
            "queries": self.rows[0].precisions.len(),
            "candidates": self.candidates,
            "functions": self.functions,
            "trials": self.trials,
            "methods": methods,
        })
    }

    pub(super) fn print(&self, name: &str, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(
            out,
            "\n{name}: {} queries, {} candidates, {} functions, {} trials",
            self.rows[0].precisions.len(),
            self.candidates,
            self.functions,
            self.trials
        )?;
        writeln!(
            out,
            "{:<36} {:>7} {:>9}    {:>9}",
            "model", "MAP", "W/L", "p"
        )?;
        for (place, row) in self.rows.iter().enumerate() {
            if place == 0 {
                writeln!(out, "{:<36} {:>7.4} {:>9}", row.name, row.map(), "-")?;
                continue;
            }
            let beside = row.beside(&self.rows[0]);
            // The paper's stars: two for a significance level of 0.95.
            let stars = if beside.p_value < 0.05 { "**" } else { "" };
            let score = format!("{}/{}", beside.wins, beside.losses);
            writeln!(
                out,
                "{:<36} {:>7.4} {score:>9} {stars:<2} {:>9.2e}",
                row.name,
                row.map(),
                beside.p_value
            )?;
        }
        Ok(())
    }
}
