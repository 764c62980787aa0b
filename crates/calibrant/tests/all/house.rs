//! What the source of every crate promises: short functions, and no public item without documentation.

use std::path::{Path, PathBuf};

/// A function longer than this does several things.
const MOST_LINES: usize = 80;

/// Functions that are longer, as `file under crates/: function`. Nothing may be added; what has become shorter or is gone must be taken
/// off, until the list is empty.
const STILL_TOO_LONG: [&str; 0] = [];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all crates.
fn crates() -> Vec<PathBuf> {
    let mut found = vec![workspace().join("bench")];
    for entry in std::fs::read_dir(workspace().join("crates")).unwrap() {
        found.push(entry.unwrap().path());
    }
    found.retain(|folder| folder.join("Cargo.toml").exists());
    found
}

/// All source files below a folder but those of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// Functions with their lines, from the signature to the closing brace. This goes by the layout that `cargo fmt` gives, which
/// is checked: the brace stands where the signature began. Test modules are passed over.
fn functions(source: &str) -> Vec<(String, usize)> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    let mut number = 0;
    while number < lines.len() {
        let line = lines[number];
        let indent = &line[..line.len() - line.trim_start().len()];
        let closed = |from: usize| {
            let brace = format!("{indent}}}");
            let rest = lines[from..].iter();
            from + rest.take_while(|&&line| line != brace).count()
        };
        if line.trim() == "#[cfg(test)]"
            && lines
                .get(number + 1)
                .is_some_and(|next| next.ends_with('{'))
        {
            number = closed(number) + 1;
            continue;
        }
        if let Some(name) = function_name(line) {
            // Where the body begins, or the declaration ends without one.
            let head = lines[number..]
                .iter()
                .position(|line| line.ends_with('{') || line.ends_with(';') || line.ends_with('}'));
            let head = number + head.unwrap_or(0);
            if lines[head].ends_with('{') {
                found.push((name, closed(head) + 1 - number));
            }
        }
        number += 1;
    }
    found
}

fn function_name(line: &str) -> Option<String> {
    let mut words = line.trim_start().split(' ');
    let name = loop {
        match words.next()? {
            "fn" => break words.next()?,
            "const" | "async" | "unsafe" | "extern" | "\"C\"" => {}
            visible if visible == "pub" || visible.starts_with("pub(") => {}
            // The second word of `pub(in path)`.
            path if path.ends_with(')') && line.trim_start().starts_with("pub(in ") => {}
            _ => return None,
        }
    };
    let end = name.find(['(', '<']).unwrap_or(name.len());
    Some(name[..end].to_owned())
}

#[test]
fn functions_are_measured_from_signature_to_brace() {
    let source = "\
pub(crate) fn first<T>(
    a: T,
) -> T {
    let text = if a { b } else { c };
    a
}

trait Some {
    fn declared(&self) -> bool;
    fn with_body(&self) {
        loop {}
    }
}

#[cfg(test)]
mod tests {
    fn of_a_test() {
        x();
    }
}
";
    let expected = [("first".to_owned(), 6), ("with_body".to_owned(), 3)];
    assert_eq!(functions(source), expected);
}

#[test]
fn no_function_is_too_long() {
    let mut too_long = Vec::new();
    for folder in crates() {
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let name = file
                .strip_prefix(workspace().join("crates"))
                .unwrap_or(&file);
            let source = std::fs::read_to_string(&file).unwrap();
            for (function, lines) in functions(&source) {
                if lines > MOST_LINES {
                    let function = format!("{}: {function}", name.display()).replace('\\', "/");
                    too_long.push((function, lines));
                }
            }
        }
    }
    let new: Vec<_> = too_long
        .iter()
        .filter(|(function, _)| !STILL_TOO_LONG.contains(&function.as_str()))
        .collect();
    assert!(new.is_empty(), "more than {MOST_LINES} lines: {new:#?}");
    let mended: Vec<_> = STILL_TOO_LONG
        .iter()
        .filter(|listed| !too_long.iter().any(|(function, _)| function == *listed))
        .collect();
    assert!(
        mended.is_empty(),
        "take these off STILL_TOO_LONG: {mended:#?}"
    );
}

/// `missing_docs` is a lint of the workspace, and lints are errors in `./test.sh`: every crate must take part.
#[test]
fn every_crate_is_linted_for_missing_documentation() {
    let manifest = std::fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let strict = ["warn", "deny", "forbid"]
        .iter()
        .any(|level| manifest.contains(&format!("\nmissing_docs = \"{level}\"\n")));
    assert!(strict, "the workspace does not ask for documentation");
    for folder in crates() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("\n[lints]\nworkspace = true\n"),
            "{} has lints of its own",
            folder.display()
        );
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let source = std::fs::read_to_string(&file).unwrap();
            assert!(
                !source.contains("allow(missing_docs") && !source.contains("expect(missing_docs"),
                "{} hides what is not documented",
                file.display()
            );
        }
    }
}

/// Words of a line that name an option of a program, `--like-this`, outside comments.
fn options_named(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if line.starts_with("//") {
        return None;
    }
    let named = line.match_indices("--").find(|(place, _)| {
        let before = line[..*place].chars().next_back();
        let after = line[place + 2..].chars().next();
        matches!(before, Some(' ' | '`' | '"' | '('))
            && after.is_some_and(|letter| letter.is_ascii_lowercase())
    })?;
    Some(&line[named.0..])
}

#[test] // A library has no options: the program that called it adds hints that name its own.
fn libraries_do_not_name_options_of_the_program() {
    assert_eq!(
        options_named(r#"#[error("no measure with --letor")]"#),
        Some(r#"--letor")]"#)
    );
    assert_eq!(options_named("/// As `--letor` has it."), None);
    for name in ["calibrant", "calibrant-calibration"] {
        let mut files = Vec::new();
        sources(
            &workspace().join("crates").join(name).join("src"),
            &mut files,
        );
        // Variables of style sheets look alike.
        files.retain(|file| !file.ends_with("plot/theme.rs"));
        for file in files {
            let source = std::fs::read_to_string(&file).unwrap();
            let production = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for (number, line) in (1..).zip(production.lines()) {
                let named = options_named(line);
                assert_eq!(named, None, "{}:{number}", file.display());
            }
        }
    }
}
