#![no_main]

use calibrant::corpus::Source;
use calibrant::jobs::{parse_costs, read_costs};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for name in ["costs.csv", "costs.json", "costs.toml"] {
        let _ = read_costs(&Source::bytes(name, bytes));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = parse_costs(text);
    }
});
