#![no_main]

use calibrant::corpus::{Qrels, Source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Qrels::read(&Source::bytes("fuzzed", bytes));
});
