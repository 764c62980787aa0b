#![no_main]

use calibrant::corpus::{RankingTable, Source};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = RankingTable::read(&Source::bytes("fuzzed", bytes));
});
