#![no_main]

use calibrant::corpus::{Run, Source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = Run::read(&Source::bytes("fuzzed", bytes));
});
