//! The `calibrant` program.
fn main() {}
