//! Tables of numbers and words, as documents with numbered features.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Read;
use std::path::Path;

use calibrant::corpus::Document;
use calibrant::numeric::Random;
use flate2::read::GzDecoder;

/// How training and test rows are distinguished.
#[derive(Debug, Clone, Copy)]
enum Split {
    /// In two files.
    Files,
    /// The first rows train.
    First(usize),
    /// Seven rows of ten of every class at random, so many times.
    Drawn(u64),
}

/// A table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub(super) name: &'static str,
    split: Split,
    left_out: &'static [&'static str],
}

const fn table(name: &'static str, split: Split) -> Table {
    Table {
        name,
        split,
        left_out: &[],
    }
}

/// Small tables are divided several times: one draw of fifty rows says little.
const DRAWS: u64 = 5;

/// All tables, that of the paper's figure first. Splits are those that the tables came with.
pub(super) const TABLES: [Table; 11] = [
    table("abalone", Split::First(3133)),
    table("audiology", Split::Drawn(DRAWS)),
    table("ecoli", Split::Drawn(DRAWS)),
    table("glass", Split::Drawn(DRAWS)),
    table("letter", Split::First(16_000)),
    table("optdigits", Split::Files),
    table("satimage", Split::Files),
    table("segment", Split::Files),
    table("soybean", Split::Drawn(DRAWS)),
    table("vehicle", Split::Drawn(DRAWS)),
    // The task is to recognise the vowel, not who says it.
    Table {
        left_out: &["speaker", "sex"],
        ..table("vowel", Split::Files)
    },
];

/// Training and test rows of one division.
pub(super) struct Division {
    pub(super) training: Vec<Document>,
    pub(super) test: Vec<Document>,
}

impl Table {
    /// Its divisions; `None` where the table is not there.
    pub(super) fn divisions(&self, data: &Path) -> Result<Option<Vec<Division>>, Box<dyn Error>> {
        let file = |name: String| data.join("uci").join(name + ".csv.gz");
        let (paths, split) = match self.split {
            Split::Files => {
                let parts = ["train", "test"].map(|part| file(format!("{}-{part}", self.name)));
                (parts.to_vec(), self.split)
            }
            split => (vec![file(self.name.to_owned())], split),
        };
        if !paths.iter().all(|path| path.exists()) {
            return Ok(None);
        }
        let mut lines = Vec::new();
        let mut lengths = Vec::new();
        for path in &paths {
            let mut text = String::new();
            GzDecoder::new(std::fs::File::open(path)?).read_to_string(&mut text)?;
            let own = text.lines().filter(|line| !line.is_empty());
            let own: Vec<Vec<String>> = own
                .map(|line| line.split(',').map(str::to_owned).collect())
                .collect();
            lengths.push(own.len().saturating_sub(1));
            // One header is enough.
            let skipped = usize::from(!lines.is_empty());
            lines.extend(own.into_iter().skip(skipped));
        }
        let documents = self.documents(&lines)?;
        Ok(Some(match split {
            Split::Files => vec![divide(documents, |row| row < lengths[0])],
            Split::First(count) => vec![divide(documents, |row| row < count)],
            Split::Drawn(draws) => (0..draws)
                .map(|seed| {
                    let trains = drawn(&documents, seed);
                    divide(documents.clone(), |row| trains[row])
                })
                .collect(),
        }))
    }

    /// Numbers as they are, words as one feature each; what is missing has none.
    fn documents(&self, lines: &[Vec<String>]) -> Result<Vec<Document>, Box<dyn Error>> {
        let (header, rows) = lines.split_first().ok_or("an empty table")?;
        let class = header.len().saturating_sub(1);
        if rows.iter().any(|row| row.len() != header.len()) {
            return Err(format!("{}: rows of unequal length", self.name).into());
        }
        let mut features: Vec<Vec<(u32, f32)>> = vec![Vec::new(); rows.len()];
        let mut next = 1u32;
        for (column, name) in header[..class].iter().enumerate() {
            if self.left_out.contains(&name.as_str()) {
                continue;
            }
            let cells = || rows.iter().map(|row| row[column].as_str());
            let known = cells().filter(|cell| *cell != "?");
            if known.clone().all(|cell| cell.parse::<f32>().is_ok()) {
                for (row, cell) in cells().enumerate() {
                    let value = cell.parse::<f32>().unwrap_or(0.0);
                    if value != 0.0 {
                        features[row].push((next, value));
                    }
                }
                next += 1;
                continue;
            }
            let mut numbers: BTreeMap<&str, u32> = known.map(|cell| (cell, 0)).collect();
            for number in numbers.values_mut() {
                *number = next;
                next += 1;
            }
            for (row, cell) in cells().enumerate() {
                if let Some(&number) = numbers.get(cell) {
                    features[row].push((number, 1.0));
                }
            }
        }
        let documents = rows.iter().zip(features).zip(1..);
        Ok(documents
            .map(|((row, features), line)| Document {
                line,
                ..Document::new(features).label(row[class].clone())
            })
            .collect())
    }
}

fn divide(documents: Vec<Document>, trains: impl Fn(usize) -> bool) -> Division {
    let (mut training, mut test) = (Vec::new(), Vec::new());
    for (row, document) in documents.into_iter().enumerate() {
        if trains(row) {
            training.push(document);
        } else {
            test.push(document);
        }
    }
    Division { training, test }
}

/// Which rows train: seven of ten of every class, rounded up.
fn drawn(documents: &[Document], seed: u64) -> Vec<bool> {
    let mut by_class: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, document) in documents.iter().enumerate() {
        by_class.entry(&document.labels[0]).or_default().push(row);
    }
    let mut random = Random::from_seed(seed);
    let mut trains = vec![false; documents.len()];
    for rows in by_class.values_mut() {
        random.shuffle(rows);
        let count = (rows.len() * 7).div_ceil(10);
        rows[..count].iter().for_each(|&row| trains[row] = true);
    }
    trains
}
