//! The corpora: where they lie, which fields they have, how training and test documents are told apart.

use std::error::Error;
use std::io::Write;
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields, Filter, ReadOptions, Source, read_all};

/// A corpus: its name, file, text fields, label field, how training and test rows are told apart, classes.
pub(crate) struct Corpus {
    pub(crate) name: &'static str,
    file: &'static str,
    text: &'static [&'static str],
    label: &'static str,
    split: (&'static str, &'static str, &'static str),
    classes: &'static [&'static str],
}

pub(crate) const REUTERS_TEN: &[&str] = &[
    "earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship", "wheat", "corn",
];

pub(crate) const CORPORA: &[Corpus] = &[
    Corpus {
        name: "20newsgroups",
        file: "20newsgroups.jsonl.gz",
        text: &["subject", "text"],
        label: "label",
        split: ("split", "train", "test"),
        classes: &[],
    },
    Corpus {
        name: "reuters-10",
        file: "reuters21578.jsonl.gz",
        text: &["title", "body"],
        label: "topics",
        split: ("split", "train", "test"),
        classes: REUTERS_TEN,
    },
    Corpus {
        name: "reuters-all",
        file: "reuters21578.jsonl.gz",
        text: &["title", "body"],
        label: "topics",
        split: ("split", "train", "test"),
        classes: &[],
    },
    Corpus {
        name: "ag-news",
        file: "ag_news_part.jsonl.gz",
        text: &["text"],
        label: "label",
        split: ("split", "train", "test"),
        classes: &[],
    },
    Corpus {
        name: "imdb",
        file: "imdb.jsonl.gz",
        text: &["text"],
        label: "label",
        split: ("split", "train", "test"),
        classes: &[],
    },
    Corpus {
        name: "tweet-emoji",
        file: "tweet_emoji.jsonl.gz",
        text: &["text"],
        label: "label",
        split: ("split", "train", "test"),
        classes: &[],
    },
];

impl Corpus {
    /// The corpus of this name.
    pub(crate) fn named(name: &str) -> &'static Self {
        CORPORA
            .iter()
            .find(|corpus| corpus.name == name)
            .expect("experiments name corpora of the table")
    }

    pub(crate) fn fields(&self) -> Fields {
        Fields {
            text: self.text.iter().map(|&field| field.to_owned()).collect(),
            label: Some(self.label.to_owned()),
            ..Fields::default()
        }
    }

    /// The classes that are asked for; all if absent.
    pub(crate) fn classes(&self) -> Option<Vec<String>> {
        let names = self.classes.iter().map(|&class| class.to_owned());
        (!self.classes.is_empty()).then(|| names.collect())
    }

    /// Training and test documents; nothing, and a loud line, where the file is missing.
    pub(crate) fn read(
        &self,
        data: &Path,
    ) -> Result<Option<(Vec<Document>, Vec<Document>)>, Box<dyn Error>> {
        let path = data.join(self.file);
        if !path.exists() {
            writeln!(
                std::io::stderr(),
                "SKIPPED: {} is not in {}",
                self.file,
                data.display()
            )?;
            return Ok(None);
        }
        let part = |value: &str| -> Result<Vec<Document>, Box<dyn Error>> {
            let filter = Filter {
                field: self.split.0.to_owned(),
                value: value.to_owned(),
            };
            let options = ReadOptions {
                fields: self.fields(),
                filters: vec![filter],
                ..ReadOptions::default()
            };
            Ok(read_all(&Source::Path(path.clone()), &options, &NoProgress)?.0)
        };
        Ok(Some((part(self.split.1)?, part(self.split.2)?)))
    }
}
