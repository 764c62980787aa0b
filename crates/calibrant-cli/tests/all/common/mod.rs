//! What the tests of the program share: a folder of their own, small corpora, and ways to run it.

pub(crate) mod scores;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use tempfile::TempDir;

/// A folder that is gone when the test is over.
pub(crate) struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Every file below the folder with its bytes, hidden ones included.
    pub(crate) fn contents(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(self.folder.path(), &mut found);
        found
    }

    /// Runs the program inside the folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.run_with_input(arguments, b"")
    }

    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Output {
        Command::cargo_bin("calibrant")
            .unwrap()
            .current_dir(self.folder.path())
            .args(arguments)
            .write_stdin(input)
            .output()
            .unwrap()
    }

    /// Runs the program, which must succeed, and returns its standard output.
    #[track_caller]
    pub(crate) fn succeed(&self, arguments: &[&str]) -> String {
        succeeded(self.run(arguments), arguments)
    }

    #[track_caller]
    pub(crate) fn succeed_with_input(&self, arguments: &[&str], input: &[u8]) -> String {
        succeeded(self.run_with_input(arguments, input), arguments)
    }

    /// Runs the program, which must succeed, and parses its standard output.
    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.succeed(arguments)).unwrap()
    }
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.insert(path, bytes);
        }
    }
}

#[track_caller]
fn succeeded(output: Output, arguments: &[&str]) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// A labelled message of the small corpora.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) labels: Vec<&'static str>,
    pub(crate) text: String,
}

const TOPICS: [(&str, [&str; 6]); 5] = [
    ("corn", ["corn", "maize", "bushel", "crop", "acre", "feed"]),
    (
        "money",
        ["bank", "rate", "loan", "dollar", "credit", "debt"],
    ),
    (
        "oil",
        ["oil", "barrel", "crude", "opec", "well", "refinery"],
    ),
    ("ship", ["ship", "port", "cargo", "vessel", "crew", "dock"]),
    (
        "trade",
        ["trade", "tariff", "export", "quota", "deal", "tax"],
    ),
];

/// A generator that gives the same numbers everywhere (Knuth's constants).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2) + 1)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit
    }

    /// From 0 to 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}

/// Messages about `class_count` topics (at most five), with words of other topics mixed in.
pub(crate) fn messages(count: usize, class_count: usize, seed: u64) -> Vec<Message> {
    let mut dice = Dice::new(seed);
    let topics = &TOPICS[..class_count];
    (0..count)
        .map(|number| {
            let topic = dice.below(class_count);
            let words: Vec<&str> = (0..8)
                .map(|_| {
                    let which = if dice.below(3) == 0 {
                        dice.below(class_count)
                    } else {
                        topic
                    };
                    topics[which].1[dice.below(6)]
                })
                .collect();
            Message {
                id: format!("m{number}"),
                labels: vec![topics[topic].0],
                text: words.join(" "),
            }
        })
        .collect()
}

/// Messages about none, one or two of four topics.
pub(crate) fn multi_label_messages(count: usize, seed: u64) -> Vec<Message> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|number| {
            let mut labels: Vec<&str> = (0..dice.below(3))
                .map(|_| TOPICS[dice.below(4)].0)
                .collect();
            labels.sort_unstable();
            labels.dedup();
            let mut words: Vec<&str> = vec!["today", "news"];
            for _ in 0..8 {
                let word = dice.below(6);
                let topic = labels.get(dice.below(labels.len().max(1) + 1));
                let of_topic = topic.and_then(|topic| TOPICS.iter().find(|t| t.0 == *topic));
                words.push(of_topic.unwrap_or(&TOPICS[dice.below(5)]).1[word]);
            }
            Message {
                id: format!("m{number}"),
                labels,
                text: words.join(" "),
            }
        })
        .collect()
}

pub(crate) fn csv(messages: &[Message]) -> String {
    delimited(messages, ',')
}

/// None of the corpora holds a character that would need quotes.
pub(crate) fn delimited(messages: &[Message], delimiter: char) -> String {
    let mut out = format!("id{delimiter}label{delimiter}text\n");
    for message in messages {
        let labels = message.labels.join(";");
        out += &format!(
            "{}{delimiter}{labels}{delimiter}{}\n",
            message.id, message.text
        );
    }
    out
}

/// Labels as a string, or as a list.
pub(crate) fn json_lines(messages: &[Message], as_list: bool) -> String {
    let mut out = String::new();
    for message in messages {
        let label = if as_list {
            serde_json::json!(message.labels)
        } else {
            serde_json::json!(message.labels[0])
        };
        let row = serde_json::json!({"id": message.id, "label": label, "text": message.text});
        out += &format!("{row}\n");
    }
    out
}

pub(crate) fn fast_text(messages: &[Message]) -> String {
    let mut out = String::new();
    for message in messages {
        for label in &message.labels {
            out += &format!("__label__{label} ");
        }
        out += &format!("{}\n", message.text);
    }
    out
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstandard(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}

/// A folder with `mail.csv` (three classes, 90 messages) and `mail.calibrant`, fitted on it.
pub(crate) fn fitted() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(90, 3, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "mail.calibrant"]);
    sandbox
}
