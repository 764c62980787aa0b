//! The JSON of every command is as its schema in `docs/json/` says.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::schema::Schemas;
use super::{assert_none, program, root};

/// A command whose output is held against a schema.
struct Case {
    /// The name of the schema; `prepare` for one that only makes what others need.
    schema: &'static str,
    /// Whether it prints a value per line.
    by_line: bool,
    command: &'static str,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("json_commands.txt").lines();
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (kind, command) = line.split_once(": ").unwrap();
            let schema = kind.strip_suffix(" lines");
            Case {
                schema: schema.unwrap_or(kind),
                by_line: schema.is_some(),
                command,
            }
        })
        .collect()
}

/// The values that a command prints.
fn values(folder: &Path, case: &Case) -> Vec<Value> {
    let command = case.command;
    let printed = match command {
        // It takes seconds, and other tests look at the same.
        "calibrant demo --seed 1 --json" => {
            String::from_utf8(crate::demo::shown("1").printed.clone()).unwrap()
        }
        _ => {
            let (status, printed, said) = program::shell_apart(folder, command);
            assert_eq!(status, 0, "{command}:\n{said}");
            printed
        }
    };
    let parse = |text: &str| {
        serde_json::from_str(text).unwrap_or_else(|error| panic!("{command}: {error}:\n{printed}"))
    };
    if case.by_line {
        printed.lines().map(parse).collect()
    } else if case.schema == "prepare" {
        Vec::new()
    } else {
        vec![parse(&printed)]
    }
}

#[test]
fn json_is_as_its_schemas_say() {
    let schemas = Schemas::read(&root().join("docs/json"));
    let folder = program::folder_with_files();
    let mut wrong = Vec::new();
    let mut met = BTreeSet::new();
    for case in cases() {
        for value in values(folder.path(), &case) {
            let outcome = schemas.check(&format!("{}.schema.json", case.schema), &value);
            let place = |wrong: &String| format!("{}: {wrong}", case.command);
            wrong.extend(outcome.wrong.iter().take(5).map(place));
            met.extend(outcome.met);
        }
    }
    assert_none(&wrong);
    let never: Vec<String> = schemas
        .properties()
        .into_keys()
        .filter(|place| !met.contains(place) && !is_rare(place))
        .map(|place| {
            format!("no command here prints {place}: it is gone, or the test lacks a case")
        })
        .collect();
    assert_none(&never);
}

/// Keys that small files, or a slow machine, do not bring about.
fn is_rare(place: &str) -> bool {
    // A trial of a search that failed, and what only a search with enough time says; classes that are easily distinguished.
    ["/failure", "/search_gain", "/analyzer", "/prices"]
        .iter()
        .any(|part| place.contains(part))
}

#[test]
fn every_key_is_described() {
    let schemas = Schemas::read(&root().join("docs/json"));
    let silent: Vec<String> = schemas
        .properties()
        .into_iter()
        .filter(|(_, description)| description.as_ref().is_none_or(String::is_empty))
        .map(|(place, _)| format!("{place} has no description"))
        .collect();
    assert_none(&silent);
}

#[test]
fn every_command_with_json_has_a_schema_on_the_page() {
    let page = std::fs::read_to_string(root().join("docs/guide/json.md")).unwrap();
    let schemas = Schemas::read(&root().join("docs/json"));
    let checked: BTreeSet<&str> = cases().iter().map(|case| case.schema).collect();
    for (command, help) in program::HELP.iter() {
        if help.contains("--json") {
            let name = command.replace(' ', "-");
            assert!(checked.contains(name.as_str()), "`{command}` has no case");
        }
    }
    for name in schemas.names() {
        let link = format!("(../json/{name})");
        assert!(
            page.contains(&link),
            "docs/guide/json.md has no link to {name}"
        );
    }
}
