#![no_main]

use calibrant::corpus::Format;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    calibrant_fuzz::read(Format::SvmLight, bytes);
});
