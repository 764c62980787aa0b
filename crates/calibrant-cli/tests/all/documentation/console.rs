//! Runs the console blocks of a page.

use std::io::Write;

use super::page::{Block, Page, Step};
use super::{building, program, shown};

/// What is wanted by the variable `CALIBRANT_DOCS`: `all` runs long blocks, too; `write` puts what is printed into the pages.
fn wanted(what: &str) -> bool {
    std::env::var("CALIBRANT_DOCS").is_ok_and(|value| value == what)
}

/// Runs all blocks of a page in one folder, in order, and says what is wrong.
pub(super) fn run_page(page: &Page) -> Vec<String> {
    let folder = program::folder_with_files();
    let mut wrong = Vec::new();
    let mut corrections = Vec::new();
    for block in page.blocks() {
        if let Some(name) = block.file_name() {
            std::fs::write(folder.path().join(name), block.lines.join("\n") + "\n").unwrap();
        }
        if block.language != "console" || is_skipped(page, &block) {
            continue;
        }
        for step in block.steps() {
            let place = format!("{}:{}: `{}`", page.name(), step.first, step.command);
            if building::is_building(&step.command) {
                let missing = building::check(&step.command);
                wrong.extend(missing.map(|missing| format!("{place}: {missing}")));
                continue;
            }
            let (status, printed) = program::shell(folder.path(), &step.command);
            if status != step.status {
                wrong.push(format!(
                    "{place} ended with {status} in place of {}:\n{printed}",
                    step.status
                ));
            } else if !step.shown.is_empty() && !shown::matches(&step.shown, &printed) {
                wrong.push(format!(
                    "{place} prints otherwise than shown:\n{printed}\n(CALIBRANT_DOCS=write puts that into the page)"
                ));
                corrections.push((step, printed));
            }
        }
    }
    if wanted("write") {
        write_into(page, corrections);
    }
    wrong
}

/// Whether a block is passed over, which is said past the test harness, which would swallow it.
fn is_skipped(page: &Page, block: &Block) -> bool {
    let place = format!("{}:{}", page.name(), block.first);
    let say = |why: &str| {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {place} {why}");
    };
    if block.is_long() && !wanted("all") {
        say("takes long (set CALIBRANT_DOCS=all)");
        return true;
    }
    for name in data_files(&block.lines.join("\n")) {
        let path = program::data_folder().join(&name);
        if !path.exists() {
            say(&format!(
                "needs {}, which is missing (set CALIBRANT_DATA)",
                path.display()
            ));
            return true;
        }
    }
    false
}

/// The files of `$CALIBRANT_DATA` that commands name.
fn data_files(commands: &str) -> Vec<String> {
    let mut parts = commands.split("$CALIBRANT_DATA/");
    parts.next();
    let ends = |letter: char| letter.is_whitespace() || letter == '"';
    parts
        .map(|part| part.split(ends).next().unwrap_or_default().to_owned())
        .collect()
}

/// Replaces what a page shows by what was printed, from the last step to the first, so that line numbers stay right.
fn write_into(page: &Page, corrections: Vec<(Step, String)>) {
    if corrections.is_empty() {
        return;
    }
    let mut lines = page.lines.clone();
    for (step, printed) in corrections.into_iter().rev() {
        let range = step.first..step.first + step.shown.len();
        lines.splice(
            range,
            printed.lines().map(|line| line.trim_end().to_owned()),
        );
    }
    std::fs::write(&page.path, lines.join("\n") + "\n").unwrap();
}
