//! ARCHITECTURE.md is the map, and the map is true: no folder uses what its row does not allow, every folder has a
//! row, and the arrows point one way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates whose folders have a table, with the heading above it.
const TABLES: [(&str, &str); 2] = [
    ("calibrant", "## The library, as questions"),
    (
        "calibrant-calibration",
        "## The calibration crate, as questions",
    ),
];

type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn every_folder_uses_only_what_the_map_allows() {
    let wrong: Vec<String> = TABLES
        .iter()
        .flat_map(|&(name, heading)| {
            let allowed = allowed(&map(), heading);
            let mut found = found(&sources(name));
            let front_door = front_door(&sources(name));
            // What stands beside the folders (progress, names, errors) is everybody's.
            let folders = folders();
            for uses in found.values_mut() {
                *uses = uses
                    .iter()
                    .map(|used| front_door.get(used).unwrap_or(used).clone())
                    .filter(|used| folders.contains(used))
                    .collect();
            }
            violations(&allowed, &found)
                .into_iter()
                .map(move |line| format!("{name}: {line}"))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "ARCHITECTURE.md does not allow this:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn every_folder_has_a_row_and_every_row_a_folder() {
    for (name, heading) in TABLES {
        let rows: BTreeSet<String> = allowed(&map(), heading).into_keys().collect();
        let folders: BTreeSet<String> = fs::read_dir(sources(name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir())
            .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(rows, folders, "{name}: rows of ARCHITECTURE.md and folders");
    }
}

#[test]
fn the_arrows_of_the_map_point_one_way() {
    // The folders of both crates: what calibrant re-exports lies below it.
    let mut uses: Uses = BTreeMap::new();
    for (_, heading) in TABLES {
        for (folder, below) in allowed(&map(), heading) {
            uses.entry(folder).or_default().extend(below);
        }
    }
    let folders: BTreeSet<String> = uses.keys().cloned().collect();
    for below in uses.values_mut().filter(|below| below.contains("all")) {
        below.extend(folders.iter().cloned());
    }
    // Take away, again and again, what uses nothing that is left.
    while !uses.is_empty() {
        let left: BTreeSet<String> = uses.keys().cloned().collect();
        let before = uses.len();
        uses.retain(|folder, below| {
            below
                .iter()
                .any(|below| below != folder && left.contains(below))
        });
        assert!(uses.len() < before, "a circle of arrows: {uses:?}");
    }
}

#[test]
fn files_beside_the_folders_use_only_what_lies_at_the_bottom() {
    let folders = folders();
    for (name, _) in TABLES {
        for entry in fs::read_dir(sources(name)).unwrap() {
            let path = entry.unwrap().path();
            let file = path.file_name().unwrap().to_str().unwrap();
            // The front door names everything, and an error of the whole wraps those of its parts.
            if path.is_dir() || ["lib.rs", "error.rs"].contains(&file) {
                continue;
            }
            let mut uses = uses_of(&fs::read_to_string(&path).unwrap());
            uses.retain(|used| folders.contains(used) && used != "numeric");
            assert!(uses.is_empty(), "{name}: {file} uses {uses:?}");
        }
    }
}

#[test] // A file in a folder may reach the root by `super::`, and a folder within it by one more.
fn a_way_through_super_is_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("inner")).unwrap();
    let files = [
        ("mod.rs", "use super::text::A;"),
        ("file.rs", "use super::super::index::B;\nuse super::own;"),
        ("inner/deep.rs", "fn f() { super::super::super::plot::c() }"),
        ("inner/mod.rs", "use super::super::{jobs::D};"),
    ];
    for (name, source) in files {
        fs::write(folder.path().join(name), source).unwrap();
    }
    let mut uses = BTreeSet::new();
    add_uses(folder.path(), 1, &mut uses);
    let expected = ["index", "jobs", "plot", "text"].map(String::from);
    assert_eq!(uses, BTreeSet::from(expected));
}

#[test] // The test of the test: a forbidden line is seen, however it is written.
fn a_forbidden_use_is_found() {
    let allowed = Uses::from([("calibration".into(), BTreeSet::from(["numeric".into()]))]);
    for line in [
        "use crate::text::Analyzer;",
        "use crate::{numeric::{softplus, sigmoid}, text::Analyzer};",
        "use calibrant_calibration::{\n    numeric,\n    text,\n};",
        "fn f() { crate::text::split() }",
        "#[cfg(test)]\nmod tests;\nuse crate::text::Analyzer;",
    ] {
        let uses = Uses::from([("calibration".into(), uses_of(line))]);
        assert_eq!(violations(&allowed, &uses).len(), 1, "{line}");
    }
    let model = &front_door(&sources("calibrant"))["Model"];
    assert_eq!(model, "pipeline");
    for line in [
        "use crate::numeric::sigmoid;",
        "/// [`crate::text`] is not used by speaking of it",
        "mod x;\n#[cfg(test)]\nmod tests {\n    use crate::text::Analyzer;\n}",
    ] {
        let uses = Uses::from([("calibration".into(), uses_of(line))]);
        assert!(violations(&allowed, &uses).is_empty(), "{line}");
    }
}

/// Names at the root of a crate that stand for something in a folder, with that folder: `use crate::Model` uses `pipeline`.
fn front_door(sources: &Path) -> BTreeMap<String, String> {
    let root = fs::read_to_string(sources.join("lib.rs")).unwrap();
    let mut names = BTreeMap::new();
    for line in root.split("pub use ").skip(1) {
        let statement = line.split(';').next().unwrap_or_default();
        let Some((folder, items)) = statement.split_once("::") else {
            continue;
        };
        let words = items.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        names.extend(
            words
                .filter(|word| !word.is_empty())
                .map(|word| (word.to_owned(), folder.trim().to_owned())),
        );
    }
    // The crate below is no folder: its names are everybody's, its modules stand in the table.
    names.retain(|_, folder| folder != "calibrant_calibration");
    names
}

/// The folders of both crates.
fn folders() -> BTreeSet<String> {
    let rows = TABLES.iter().map(|&(_, heading)| allowed(&map(), heading));
    rows.flat_map(Uses::into_keys).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(name: &str) -> PathBuf {
    root().join("crates").join(name).join("src")
}

fn map() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap()
}

fn violations(allowed: &Uses, found: &Uses) -> Vec<String> {
    let none = BTreeSet::new();
    let mut wrong = Vec::new();
    for (folder, uses) in found {
        let allowed = allowed.get(folder).unwrap_or(&none);
        let forbidden = uses
            .iter()
            .filter(|used| *used != folder && !allowed.contains("all"))
            .filter(|used| !allowed.contains(*used));
        wrong.extend(forbidden.map(|used| format!("{folder}/ uses {used}")));
    }
    wrong
}

/// The rows of the table under a heading: `folder/` in the first column, and in the last what it may use, with words
/// in parentheses that say what for.
fn allowed(map: &str, heading: &str) -> Uses {
    let (_, section) = map
        .split_once(heading)
        .unwrap_or_else(|| panic!("ARCHITECTURE.md has no `{heading}`"));
    let section = section.split("\n## ").next().unwrap_or_default();
    let mut uses = Uses::new();
    for row in section.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let folder = cells[0].trim_matches('`').trim_end_matches('/');
        // A row of a folder inside another adds to the outer one.
        let folder = folder.split('/').next().unwrap_or_default().to_owned();
        let last = without_parentheses(cells[cells.len() - 1]);
        let names = last.split(',').map(|name| name.trim().to_owned());
        uses.entry(folder)
            .or_default()
            .extend(names.filter(|name| !name.is_empty() && name != "-"));
    }
    assert!(!uses.is_empty(), "no table under `{heading}`");
    uses
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0;
    let mut outside = String::new();
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 => outside.push(character),
            _ => {}
        }
    }
    outside
}

/// What each folder's production code uses of its crate, and of the crate below.
fn found(sources: &Path) -> Uses {
    let mut found = Uses::new();
    for folder in fs::read_dir(sources).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            add_uses(&folder, 1, found.entry(name).or_default());
        }
    }
    found
}

/// Adds what the files of a folder use, `depth` modules below the root of the crate.
fn add_uses(folder: &Path, depth: usize, uses: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let of_tests = ["tests", "testing"].iter().any(|word| {
            let stem = name.trim_end_matches(".rs");
            stem == *word || stem.ends_with("_tests")
        });
        if of_tests || name == "promises.rs" {
            continue;
        }
        if path.is_dir() {
            add_uses(&path, depth + 1, uses);
        } else if name.ends_with(".rs") {
            let depth = depth + usize::from(name != "mod.rs");
            let source = fs::read_to_string(&path).unwrap();
            // `super::` as often as the module is deep is the root of the crate.
            uses.extend(uses_of(
                &source.replace(&"super::".repeat(depth), "crate::"),
            ));
        }
    }
}

/// What is named after `crate::` or `calibrant_calibration::`, outside comments and test modules.
fn uses_of(source: &str) -> BTreeSet<String> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let code = production(&code);
    let mut uses = BTreeSet::new();
    for mark in ["crate::", "calibrant_calibration::"] {
        for (place, _) in code.match_indices(mark) {
            let before = code[..place].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
                continue;
            }
            let after = &code[place + mark.len()..];
            let items = match after.strip_prefix('{') {
                Some(group) => top_items(group),
                None => vec![after],
            };
            for item in items {
                let name: String = item
                    .trim_start()
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect();
                if !name.is_empty() {
                    uses.insert(name);
                }
            }
        }
    }
    uses
}

/// What stands before the first module of tests.
fn production(code: &str) -> &str {
    let test_module = code.match_indices("#[cfg(test)]").find(|(place, _)| {
        let rest = code[place + "#[cfg(test)]".len()..].trim_start();
        // `mod tests;` leaves the rest of the file where it is.
        let end = rest.find(['{', ';']).map(|end| &rest[..=end]);
        end.is_some_and(|end| end.contains("mod ") && end.ends_with('{'))
    });
    test_module.map_or(code, |(place, _)| &code[..place])
}

/// The items of `{a, b::{c, d}, e}`, without its first brace.
fn top_items(group: &str) -> Vec<&str> {
    let (mut depth, mut start) = (0, 0);
    let mut items = Vec::new();
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&group[start..place]);
                return items;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&group[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    items
}
