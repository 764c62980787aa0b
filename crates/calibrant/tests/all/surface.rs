//! What readers of the documentation see is what users of the library need: few names at the root, and no step that
//! only we put together.

use std::fs;
use std::path::{Path, PathBuf};

/// Names at the root of `calibrant`, without its modules. What most programs need; the rest stands in a module.
const MOST_AT_THE_ROOT: usize = 32;

/// Crates with the names that their public modules re-export. Raise a number only for what a user of the library calls.
const MOST_NAMES: [(&str, usize); 2] = [("calibrant", 550), ("calibrant-calibration", 270)];

/// Modules that only our own crates and tests use.
const HIDDEN: [(&str, &str); 8] = [
    ("calibrant", "inbox"),
    ("calibrant", "numeric"),
    ("calibrant", "parallel"),
    ("calibrant", "problem"),
    ("calibrant", "solvers"),
    ("calibrant-calibration", "numeric"),
    ("calibrant-calibration", "parallel"),
    ("calibrant-calibration", "solvers"),
];

#[test]
fn the_root_has_what_most_programs_need() {
    let root = sources("calibrant").join("lib.rs");
    let modules = ["calibration", "decision"];
    let mut names: Vec<String> = shown(&exports(&root)).map(str::to_owned).collect();
    names.retain(|name| !modules.contains(&name.as_str()));
    names.push("fit".to_owned());
    assert!(names.len() <= MOST_AT_THE_ROOT, "{}", names.len());
}

#[test]
fn public_modules_show_no_more_than_before() {
    for (name, most) in MOST_NAMES {
        let sources = sources(name);
        let names = shown_below(&sources.join("lib.rs"), &sources);
        assert!(
            names <= most,
            "{name} shows {names} names, at most {most}: make what no user needs `pub(crate)` or hide it"
        );
    }
}

#[test]
fn what_is_hidden_stays_hidden() {
    for (name, module) in HIDDEN {
        let root = exports(&sources(name).join("lib.rs"));
        let found = root.iter().find(|export| export.names == [module]);
        let found = found.unwrap_or_else(|| panic!("{name}::{module} is not at the root"));
        assert!(found.hidden, "{name}::{module} is documented");
    }
}

#[test] // The test of the test.
fn exports_are_read_as_they_are_written() {
    let source = "pub mod a;\n#[doc(hidden)] // Why.\npub mod b;\nmod c;\n#[doc(inline)]\npub use c::{\n    D, e::{F, G as H},\n};\n\
                  // pub use x::Y;\npub(crate) use c::I;\n#[cfg(feature = \"j\")]\n#[doc(hidden)]\npub use c::J;\npub use k::*;\n";
    let found: Vec<_> = read(source)
        .into_iter()
        .map(|export| (export.names.join(" "), export.module, export.hidden))
        .collect();
    let expected = [
        ("a", true, false),
        ("b", true, true),
        ("D F H", false, false),
        ("J", false, true),
        ("", false, false),
    ];
    assert_eq!(found, expected.map(|(n, m, h)| (n.to_owned(), m, h)));
}

/// One `pub mod` or `pub use`.
struct Export {
    names: Vec<String>,
    module: bool,
    hidden: bool,
}

fn sources(name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    crates.join(name).join("src")
}

fn exports(file: &Path) -> Vec<Export> {
    read(&fs::read_to_string(file).unwrap())
}

/// The `pub mod` and `pub use` lines of a file, which `cargo fmt` begins at the margin.
fn read(source: &str) -> Vec<Export> {
    let mut found = Vec::new();
    let mut hidden = false;
    let mut lines = source.lines().map(without_comment);
    while let Some(line) = lines.next() {
        if line.starts_with("#[") {
            hidden |= line.starts_with("#[doc(hidden)]");
            continue;
        }
        let module = line.strip_prefix("pub mod ");
        if let Some(statement) = module.or(line.strip_prefix("pub use ")) {
            let mut statement = statement.to_owned();
            while !statement.contains(';') {
                statement += lines.next().expect("a statement ends");
            }
            found.push(Export {
                names: names(&statement),
                module: module.is_some(),
                hidden,
            });
        }
        hidden &= line.is_empty();
    }
    found
}

fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default().trim_end()
}

/// The names that a tree of paths brings in.
fn names(tree: &str) -> Vec<String> {
    tree.split([',', '{', '}', ';'])
        .map(str::trim)
        .filter(|part| !part.is_empty() && !part.ends_with("::") && !part.ends_with('*'))
        .map(|part| {
            part.rsplit([':', ' '])
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect()
}

/// The names of re-exports that the documentation shows.
fn shown(exports: &[Export]) -> impl Iterator<Item = &str> {
    let shown = exports
        .iter()
        .filter(|export| !export.hidden && !export.module);
    shown.flat_map(|export| export.names.iter().map(String::as_str))
}

/// How many names a module and the public modules in it show; `folder` is where these lie.
fn shown_below(file: &Path, folder: &Path) -> usize {
    let exports = exports(file);
    let modules = exports
        .iter()
        .filter(|export| !export.hidden && export.module);
    let below = modules.map(|export| {
        let folder = folder.join(&export.names[0]);
        let inside = folder.join("mod.rs");
        match inside.exists() {
            true => shown_below(&inside, &folder),
            false => shown_below(&folder.with_extension("rs"), &folder),
        }
    });
    shown(&exports).count() + below.sum::<usize>()
}
