//! The documentation says what is so: its console blocks are run, its links lead somewhere, and the JSON of commands is as
//! its schemas say. CONTRIBUTING.md tells how pages are written for that.

mod building;
mod console;
mod links;
mod page;
mod program;
mod schema;
mod schemas;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use page::Page;

/// The folder of the whole repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Markdown files below a folder, in the order of their names.
fn markdown_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            markdown_below(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

/// The pages whose console blocks are run: the README and everything under `docs/`.
fn pages() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    markdown_below(&root().join("docs"), &mut paths);
    paths.iter().map(|path| Page::read(path)).collect()
}

/// Fails with everything that is wrong, not with the first of it.
#[track_caller]
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn console_blocks_do_what_the_pages_show() {
    let pages = Mutex::new(pages());
    let wrong = Mutex::new(Vec::new());
    // Two at a time: each page has a folder of its own.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = pages.lock().unwrap().pop();
                    let Some(page) = next else { break };
                    let found = console::run_page(&page);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    assert_none(&wrong.into_inner().unwrap());
}

#[test]
fn commands_and_options_in_the_text_exist() {
    let wrong: Vec<String> = pages().iter().flat_map(building::check_spans).collect();
    assert_none(&wrong);
}

#[test]
fn links_and_anchors_lead_somewhere() {
    let mut paths = Vec::new();
    for name in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ] {
        paths.push(root().join(name));
    }
    for folder in ["docs", "bench", "testdata"] {
        markdown_below(&root().join(folder), &mut paths);
    }
    let wrong: Vec<String> = paths
        .iter()
        .flat_map(|path| links::check(&Page::read(path)))
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_page_can_be_reached_from_the_index() {
    let index = std::fs::read_to_string(root().join("docs/README.md")).unwrap();
    let mut paths = Vec::new();
    markdown_below(&root().join("docs"), &mut paths);
    for path in paths {
        let name = path.strip_prefix(root().join("docs")).unwrap();
        let name = name.display().to_string();
        assert!(
            name == "README.md" || index.contains(&format!("({name}")),
            "docs/README.md does not link to {name}"
        );
    }
}

#[test]
fn the_readme_is_short() {
    let lines = std::fs::read_to_string(root().join("README.md"))
        .unwrap()
        .lines()
        .count();
    assert!(
        lines <= 200,
        "README.md has {lines} lines: what is more belongs in docs/"
    );
}
