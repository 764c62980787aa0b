//! Do relative links and anchors lead somewhere?

use std::collections::BTreeMap;
use std::path::Path;

use super::page::Page;

/// Links of a page that lead nowhere. Addresses of other places are not asked for.
pub(super) fn check(page: &Page) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in page.prose() {
        for target in targets(line) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() {
                page.path.clone()
            } else {
                page.path.parent().unwrap().join(path)
            };
            if !file.exists() {
                wrong.push(format!(
                    "{}:{number}: `{target}` leads nowhere",
                    page.name()
                ));
            } else if !anchor.is_empty() && !anchors(&file).contains(&anchor.to_owned()) {
                wrong.push(format!(
                    "{}:{number}: `{target}`: no such heading",
                    page.name()
                ));
            }
        }
    }
    wrong
}

/// The targets of `[text](target)` outside of code.
fn targets(line: &str) -> Vec<String> {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
    let mut parts = prose.split("](");
    parts.next();
    parts
        .filter_map(|part| part.split_once(')'))
        .map(|(target, _)| target.trim().to_owned())
        .collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(path: &Path) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let page = Page::read(path);
    page.prose()
        .iter()
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            let kept = |letter: &char| letter.is_alphanumeric() || " -_".contains(*letter);
            let name: String = heading.chars().filter(kept).collect();
            let name = name.replace(' ', "-");
            let before = seen.entry(name.clone()).or_insert(0);
            *before += 1;
            match *before {
                1 => name,
                times => format!("{name}-{}", times - 1),
            }
        })
        .collect()
}

#[test]
fn anchors_are_those_of_github() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.md");
    let text = "# What's in it?\n## Fit, predict\n```text\n# no heading\n```\n## Fit, predict\n";
    std::fs::write(&path, text).unwrap();
    assert_eq!(
        anchors(&path),
        ["whats-in-it", "fit-predict", "fit-predict-1"]
    );
    let link = targets("see [a](b.md#c), `[x](y)` and [`d`](e.md)");
    assert_eq!(link, ["b.md#c", "e.md"]);
}
