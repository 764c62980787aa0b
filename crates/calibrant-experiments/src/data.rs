//! The corpora: where they lie, which fields they have, how training and test documents are distinguished.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields, Filter, ReadOptions, Source, read_all};

use crate::bennett::human_ratings;

/// A corpus: its name, file, text fields, label field, how training and test rows are distinguished, classes.
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
    pub(crate) fn read(&self, data: &Path) -> Result<Parts, Box<dyn Error>> {
        let Some(path) = found(data, self.file)? else {
            return Ok(None);
        };
        let part = |value: &str| -> Result<Vec<Document>, Box<dyn Error>> {
            let filter = Filter {
                field: self.split.0.to_owned(),
                value: value.to_owned(),
                negated: false,
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

/// Training and test documents with what a fit needs to know of them.
pub(crate) struct LoadedCorpus {
    pub(crate) training: Vec<Document>,
    pub(crate) test: Vec<Document>,
    pub(crate) fields: Fields,
    pub(crate) classes: Option<Vec<String>>,
}

/// Every corpus once.
pub(crate) const ALL_CORPORA: &[&str] = &[
    "reuters-10",
    "20newsgroups",
    "ag-news",
    "imdb",
    "tweet-emoji",
    "polarity",
    "sms-spam",
    "human-ratings",
];

/// A corpus by name, once for each of its divisions: two small ones come without training and test
/// documents and are tested on fold after fold. Nothing, and a loud line, where its file is missing.
pub(crate) fn load(name: &str, data: &Path) -> Result<Vec<LoadedCorpus>, Box<dyn Error>> {
    let loaded = |parts: (Vec<Document>, Vec<Document>), classes: &[&str]| LoadedCorpus {
        training: parts.0,
        test: parts.1,
        fields: Fields::default(),
        classes: Some(classes.iter().map(|&class| class.to_owned()).collect()),
    };
    let in_folds = |documents: Vec<(Document, usize)>, class: &str| {
        let folds = documents
            .iter()
            .map(|(_, fold)| fold + 1)
            .max()
            .unwrap_or(0);
        let without = |fold: usize| {
            let (test, training): (Vec<_>, Vec<_>) =
                documents.iter().cloned().partition(|(_, own)| *own == fold);
            let bare = |part: Vec<(Document, usize)>| part.into_iter().map(|(d, _)| d).collect();
            loaded((bare(training), bare(test)), &[class])
        };
        (0..folds).map(without).collect()
    };
    Ok(match name {
        "polarity" => in_folds(polarity(data)?, "pos"),
        "sms-spam" => in_folds(sms_spam(data)?, "spam"),
        "human-ratings" => human_ratings::read(data)?
            .map(|rated| loaded(rated.one_rater_a_text(), &["positive"]))
            .into_iter()
            .collect(),
        _ => {
            let corpus = Corpus::named(name);
            let parts = corpus.read(data)?;
            let loaded = parts.map(|(training, test)| LoadedCorpus {
                training,
                test,
                fields: corpus.fields(),
                classes: match name {
                    "imdb" => Some(vec!["pos".to_owned()]),
                    _ => corpus.classes(),
                },
            });
            loaded.into_iter().collect()
        }
    })
}

/// The file, or a loud line where it is missing.
pub(crate) fn found(data: &Path, file: &str) -> std::io::Result<Option<std::path::PathBuf>> {
    let path = data.join(file);
    if path.exists() {
        return Ok(Some(path));
    }
    writeln!(
        std::io::stderr(),
        "SKIPPED: {file} is not in {}",
        data.display()
    )?;
    Ok(None)
}

type Parts = Option<(Vec<Document>, Vec<Document>)>;

/// In the ten folds of its authors.
fn polarity(data: &Path) -> Result<Vec<(Document, usize)>, Box<dyn Error>> {
    let Some(path) = found(data, "polarity2.jsonl.gz")? else {
        return Ok(Vec::new());
    };
    let options = ReadOptions {
        fields: Fields {
            text: vec!["text".into()],
            label: Some("label".into()),
            id: Some("fold".into()),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let documents = read_all(&Source::Path(path), &options, &NoProgress)?.0;
    let folded = documents.into_iter().map(|document| {
        let fold = document
            .id
            .as_deref()
            .unwrap_or_default()
            .parse::<usize>()?;
        Ok((document, fold.checked_sub(1).ok_or("folds count from 1")?))
    });
    folded.collect()
}

/// Label, tab, message, without a header; in five folds, message after message.
pub(crate) fn sms_spam(data: &Path) -> Result<Vec<(Document, usize)>, Box<dyn Error>> {
    let Some(path) = found(data, "sms_spam.tsv.gz")? else {
        return Ok(Vec::new());
    };
    let lines = BufReader::new(flate2::read::GzDecoder::new(File::open(path)?)).lines();
    let messages = lines.enumerate().map(|(number, line)| {
        let line = line?;
        let (label, message) = line.split_once('\t').ok_or("a message without a label")?;
        let document = Document {
            line: number as u64 + 1,
            ..Document::new(message).label(label)
        };
        Ok((document, number % 5))
    });
    messages.collect()
}
