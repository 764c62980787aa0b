//! Experiments on real corpora.
fn main() {}
