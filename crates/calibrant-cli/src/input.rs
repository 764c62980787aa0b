//! Files to read as they are named on the command line.

use calibrant::corpus::Source;

/// A path, or standard input where the name is `-`: the library never opens that by itself.
pub(crate) fn source(name: &str) -> Source {
    match name {
        "-" => Source::reader("standard input", std::io::stdin()),
        path => Source::Path(path.into()),
    }
}
