#![no_main]

use calibrant::corpus::Format;
use calibrant_fuzz::{archive, read};

// The bytes as a document, and as the content of one.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read(Format::Ods, bytes);
    let mime = b"application/vnd.oasis.opendocument.spreadsheet";
    read(Format::Ods, &archive(&[("mimetype", mime), ("content.xml", bytes)]));
});
