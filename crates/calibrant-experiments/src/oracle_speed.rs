//! Seconds to find the most violated ranking for average precision: divide and conquer beside comparing all places.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use calibrant::numeric::Random;
use calibrant::ranking::learning::{
    SortedSides, most_violated_average_precision, most_violated_average_precision_plain,
};

#[derive(serde::Serialize)]
struct OracleSpeed {
    relevant: usize,
    others: usize,
    /// The sort, which both need.
    sort_seconds: f64,
    fast_seconds: f64,
    plain_seconds: f64,
    loss: f64,
    /// How far the two answers are apart in `Δ - w·(ψ(true) - ψ(ŷ))`.
    difference: f64,
}

pub(crate) fn run(json: bool, relevant: usize, others: usize) -> Result<(), Box<dyn Error>> {
    let mut random = Random::from_seed(1);
    let labels: Vec<bool> = (0..relevant + others).map(|d| d < relevant).collect();
    // Scores as they are half way through learning: relevant ones higher, but by no means apart.
    let spread = 1.0 / (relevant.max(1) as f64).sqrt();
    let scores: Vec<f64> = labels
        .iter()
        .map(|&relevant| spread * (random.normal() + f64::from(u8::from(relevant))))
        .collect();
    let mut sides = SortedSides::default();
    let (sort_seconds, ()) = seconds(|| sides.sort(&scores, &labels));
    let mut before = Vec::new();
    let (mut fast, mut plain) = (vec![0.0; scores.len()], vec![0.0; scores.len()]);
    let (fast_seconds, loss) =
        seconds(|| most_violated_average_precision(&sides, &mut before, &mut fast));
    let (plain_seconds, plain_loss) =
        seconds(|| most_violated_average_precision_plain(&sides, &mut before, &mut plain));
    let value = |loss: f64, numbers: &[f64]| {
        let product: f64 = numbers.iter().zip(&scores).map(|(c, s)| c * s).sum();
        loss - product
    };
    let speed = OracleSpeed {
        relevant,
        others,
        sort_seconds,
        fast_seconds,
        plain_seconds,
        loss,
        difference: (value(loss, &fast) - value(plain_loss, &plain)).abs(),
    };
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer(&mut out, &speed)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "{relevant} relevant, {others} others: sort {:.4} s, divide and conquer {:.4} s, all places {:.4} s ({:.0} times); answers differ by {:.1e}",
        speed.sort_seconds,
        speed.fast_seconds,
        speed.plain_seconds,
        speed.plain_seconds / speed.fast_seconds,
        speed.difference,
    )?;
    Ok(())
}

/// The least of three runs, and the last answer.
fn seconds<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let start = Instant::now();
        let answer = work();
        (start.elapsed().as_secs_f64(), answer)
    };
    let (first, _) = timed();
    let (second, _) = timed();
    let (third, answer) = timed();
    (first.min(second).min(third), answer)
}
