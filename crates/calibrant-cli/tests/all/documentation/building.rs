//! Commands that build, or run for minutes, are not run here: what they name must exist.

use std::path::Path;

use super::page::Page;
use super::program::HELP;
use super::root;

/// Whether a command is of that kind.
pub(super) fn is_building(command: &str) -> bool {
    let first = command.split_whitespace().next().unwrap_or_default();
    matches!(
        first,
        "cargo" | "./test.sh" | "bench/run" | "calibrant-experiments"
    )
}

/// What is missing of what a building command names.
pub(super) fn check(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    match words[0] {
        "cargo" => check_cargo(&words),
        "bench/run" => words
            .get(1)
            .filter(|word| !word.starts_with('-'))
            .and_then(|section| check_section(section)),
        "calibrant-experiments" => words.get(1).and_then(|name| check_experiment(name)),
        script => missing_file(Path::new(script)),
    }
}

fn missing_file(path: &Path) -> Option<String> {
    let is_there = root().join(path).exists();
    (!is_there).then(|| format!("there is no {}", path.display()))
}

fn check_cargo(words: &[&str]) -> Option<String> {
    let after = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1).copied()
    };
    let package = after("-p").or(after("--package"));
    let folder = package.map(|name| Path::new("crates").join(name).join("Cargo.toml"));
    let path = after("--path").map(|path| Path::new(path).join("Cargo.toml"));
    let example = after("--example").map(|name| {
        let package = package.unwrap_or("calibrant");
        Path::new("crates")
            .join(package)
            .join(format!("examples/{name}.rs"))
    });
    let files = [folder, path, example];
    let missing = files.iter().flatten().find_map(|path| missing_file(path));
    missing.or_else(|| match (package, after("--")) {
        (Some("calibrant-experiments"), Some(name)) => check_experiment(name),
        (None | Some("calibrant-cli"), Some(command)) => {
            let known = HELP.contains_key(command);
            (!known).then(|| format!("there is no command `{command}`"))
        }
        _ => None,
    })
}

/// `bench/run SECTION` runs `bench/SECTION.py`, but for the one that runs experiments.
fn check_section(section: &str) -> Option<String> {
    let script = std::fs::read_to_string(root().join("bench/run")).unwrap();
    let is_case = script.lines().any(|line| {
        let cases = line.trim().trim_end_matches(')');
        line.trim().ends_with(')') && cases.split('|').any(|case| case.trim() == section)
    });
    (!is_case).then(|| format!("`bench/run` has no section `{section}`"))
}

fn check_experiment(name: &str) -> Option<String> {
    // `NAME` stands for any of them.
    if name == "NAME" {
        return None;
    }
    let main = "crates/calibrant-experiments/src/main.rs";
    let source = std::fs::read_to_string(root().join(main)).unwrap();
    let variant: String = name
        .split('-')
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        })
        .collect();
    let is_there = source.lines().any(|line| {
        line.strip_prefix("    ")
            .and_then(|line| line.strip_prefix(variant.as_str()))
            .is_some_and(|rest| rest.starts_with(['(', ' ', ',']))
    });
    (!is_there).then(|| format!("there is no experiment `{name}`"))
}

/// Commands and options that stand in the text of a page, between backquotes, and do not exist.
pub(super) fn check_spans(page: &Page) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in page.prose() {
        for span in line.split('`').skip(1).step_by(2) {
            let found = if is_building(span) {
                check(span)
            } else {
                check_options(span)
            };
            wrong.extend(found.map(|found| format!("{}:{number}: `{span}`: {found}", page.name())));
        }
    }
    wrong
}

/// `calibrant rank fit --loss map`, `fit --search`, `--top 3`: the command and its options, or options of any command.
fn check_options(span: &str) -> Option<String> {
    let words: Vec<&str> = span.split_whitespace().collect();
    let named = words.first() == Some(&"calibrant");
    let words = &words[usize::from(named)..];
    let command = (1..=2.min(words.len()))
        .rev()
        .map(|length| words[..length].join(" "))
        .find(|command| HELP.contains_key(command));
    if named && command.is_none() {
        let first = words.first()?;
        let is_name = first.chars().all(|letter| letter.is_ascii_lowercase());
        return is_name.then(|| format!("there is no command `{first}`"));
    }
    let begins_with_option = words.first().is_some_and(|word| word.starts_with("--"));
    if command.is_none() && !begins_with_option {
        return None;
    }
    let options = words.iter().filter(|word| word.starts_with("--"));
    for option in options {
        let name: &str = option
            .split(['=', ','])
            .next()
            .unwrap_or_default()
            .trim_end_matches('…');
        let knows = |help: &String| {
            help.split(|letter: char| letter.is_whitespace() || "[=<,.;`".contains(letter))
                .any(|word| word == name)
        };
        let known = match &command {
            Some(command) => knows(&HELP[command]),
            None => HELP.values().any(knows),
        };
        if !known {
            return Some(format!("no option `{name}`"));
        }
    }
    None
}
