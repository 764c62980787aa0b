//! What is timed inside calibrant, without starting a program or reading a model for every call. The scripts beside it
//! run this and a peer on the same files in turn.
//!
//! `cargo run --release -p calibrant-bench -- count FILE`; every file beside this one says what its arguments are.
#![allow(clippy::print_stdout)]

mod boosting;
mod count;
mod latency;
mod linear;
mod neighbours;
mod ranking;
mod read;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (what, rest) = match arguments.split_first() {
        Some((what, rest)) => (what.as_str(), rest),
        None => ("", &[][..]),
    };
    match what {
        "boosting" => boosting::run(rest),
        "count" => count::run(rest),
        "latency" => latency::run(rest),
        "linear" => linear::run(rest),
        "neighbours" => neighbours::run(rest),
        "ranking" => ranking::run(rest),
        "read" => read::run(rest),
        _ => Err(
            "usage: calibrant-bench boosting|count|latency|linear|neighbours|ranking|read ARGUMENT..."
                .into(),
        ),
    }
}
