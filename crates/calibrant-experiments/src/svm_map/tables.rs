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
    /// The others are compared with those of [`COMPARED`].
    pub(super) rows: Vec<Row>,
}

/// The rows that all others are compared with.
pub(super) const COMPARED: [&str; 2] = ["svm_map", "svm_map_chosen"];

/// A row of [`COMPARED`] beside another.
struct Beside {
    name: &'static str,
    wins: usize,
    losses: usize,
    p_value: f64,
}

impl Row {
    fn map(&self) -> f64 {
        self.precisions.iter().sum::<f64>() / self.precisions.len().max(1) as f64
    }

    fn beside(&self, name: &'static str, compared: &Row) -> Beside {
        let differences: Vec<f64> = compared
            .precisions
            .iter()
            .zip(&self.precisions)
            .map(|(compared, other)| compared - other)
            .collect();
        Beside {
            name,
            wins: differences.iter().filter(|&&more| more > 0.0).count(),
            losses: differences.iter().filter(|&&more| more < 0.0).count(),
            p_value: wilcoxon_signed_rank(&differences).p_value,
        }
    }
}

impl Outcome {
    /// The compared rows that were learned, beside this one.
    fn beside(&self, row: &Row) -> Vec<Beside> {
        let compared = COMPARED.into_iter().filter(|name| *name != row.name);
        let found = compared.filter_map(|name| {
            let of_name = self.rows.iter().find(|other| other.name == name)?;
            Some(row.beside(name, of_name))
        });
        found.collect()
    }

    pub(super) fn json(&self) -> Value {
        let mut methods = serde_json::Map::new();
        for row in &self.rows {
            let mut value = json!({ "map": row.map() });
            for beside in self.beside(row) {
                value[format!("beside_{}", beside.name)] = json!({
                    "wins": beside.wins,
                    "losses": beside.losses,
                    "wilcoxon_p": beside.p_value,
                });
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
        write!(out, "{:<36} {:>7}", "model", "MAP")?;
        for name in COMPARED {
            write!(out, " | {:<23}", format!("W/L of {name}, p"))?;
        }
        writeln!(out)?;
        for row in &self.rows {
            write!(out, "{:<36} {:>7.4}", row.name, row.map())?;
            let besides = self.beside(row);
            for name in COMPARED {
                let cell = besides.iter().find(|beside| beside.name == name);
                let cell = cell.map_or_else(|| "-".to_owned(), Beside::cell);
                write!(out, " | {cell:<23}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl Beside {
    fn cell(&self) -> String {
        // The paper's stars: two for a significance level of 0.95.
        let stars = if self.p_value < 0.05 { "**" } else { "" };
        let score = format!("{}/{}", self.wins, self.losses);
        format!("{score:>9} {stars:<2} {:>9.1e}", self.p_value)
    }
}
