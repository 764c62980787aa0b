//! A Markdown page as the tests see it: prose, and fenced blocks of which some are files and some are commands.

use std::path::{Path, PathBuf};

/// A page with its lines.
pub(super) struct Page {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<String>,
}

/// A fenced block.
pub(super) struct Block {
    /// The word behind the fence.
    pub(super) language: String,
    /// Where its first line stands in the page, counted from 0.
    pub(super) first: usize,
    pub(super) lines: Vec<String>,
    /// The last line above it that is not empty.
    above: String,
}

/// A command of a console block and what the page shows of it.
pub(super) struct Step {
    pub(super) command: String,
    /// The exit code that is shown by a line `? N`, else 0.
    pub(super) status: i32,
    /// Where the shown output stands in the page, counted from 0.
    pub(super) first: usize,
    pub(super) shown: Vec<String>,
}

impl Page {
    pub(super) fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        Self {
            path: path.to_owned(),
            lines: text.lines().map(str::to_owned).collect(),
        }
    }

    /// The page's name inside the repository.
    pub(super) fn name(&self) -> String {
        let root = super::root();
        let path = self.path.strip_prefix(&root).unwrap_or(&self.path);
        path.display().to_string()
    }

    /// Fenced blocks in order.
    pub(super) fn blocks(&self) -> Vec<Block> {
        self.cut().1
    }

    /// Lines outside of fenced blocks, with their numbers from 1.
    pub(super) fn prose(&self) -> Vec<(usize, &str)> {
        self.cut().0
    }

    fn cut(&self) -> (Vec<(usize, &str)>, Vec<Block>) {
        let (mut prose, mut blocks) = (Vec::new(), Vec::new());
        let mut open: Option<Block> = None;
        let mut above = String::new();
        for (number, line) in self.lines.iter().enumerate() {
            let fence = line.strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(language)) => {
                    open = Some(Block {
                        language: language.trim().to_owned(),
                        first: number + 1,
                        lines: Vec::new(),
                        above: std::mem::take(&mut above),
                    });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => block.lines.push(line.clone()),
                (None, None) => {
                    prose.push((number + 1, line.as_str()));
                    if !line.trim().is_empty() {
                        above.clone_from(line);
                    }
                }
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        (prose, blocks)
    }
}

impl Block {
    /// The name of the file that this block is: the line above ends with it, as in "`rules.txt`:".
    pub(super) fn file_name(&self) -> Option<&str> {
        let (_, name) = self.above.strip_suffix("`:")?.rsplit_once('`')?;
        let is_file = self.language != "console" && name.contains('.') && !name.contains(' ');
        is_file.then_some(name)
    }

    /// Whether `<!-- test: long -->` stands above it.
    pub(super) fn is_long(&self) -> bool {
        self.above.trim() == "<!-- test: long -->"
    }

    /// The commands of a console block: `$ ` begins one, `> ` continues it, `? N` is its exit code, the rest is what it prints.
    pub(super) fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (number, line) in self.lines.iter().enumerate() {
            let at = self.first + number + 1;
            if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step {
                    command: command.to_owned(),
                    status: 0,
                    first: at,
                    shown: Vec::new(),
                });
                continue;
            }
            let Some(step) = steps.last_mut() else {
                panic!("a console block begins with `{line}` and not with a command (line {at})");
            };
            let untouched = step.shown.is_empty();
            if let Some(more) = line.strip_prefix("> ").filter(|_| untouched) {
                step.command.push('\n');
                step.command.push_str(more);
                step.first = at;
            } else if let Some(status) = line.strip_prefix("? ").filter(|_| untouched) {
                step.status = status.parse().expect("an exit code behind `? `");
                step.first = at;
            } else {
                step.shown.push(line.clone());
            }
        }
        steps
    }
}
