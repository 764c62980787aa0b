//! A ranked list with what is known of its documents: all that a measure looks at.

use std::hash::BuildHasher;

use hashbrown::HashTable;

use crate::corpus::{JudgedQuery, RankedQuery};

/// What is known of a document of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Somebody gave this grade, 0 or above.
    Grade(i32),
    /// It was set aside to be judged and was not: the file has a grade below 0.
    NotJudged,
    /// The file has no line for it.
    Unknown,
}

impl Mark {
    /// The grade; `None` where nobody gave one.
    pub fn grade(self) -> Option<i32> {
        match self {
            Mark::Grade(grade) => Some(grade),
            Mark::NotJudged | Mark::Unknown => None,
        }
    }

    fn of(grade: i32) -> Self {
        match grade < 0 {
            true => Mark::NotJudged,
            false => Mark::Grade(grade),
        }
    }
}

/// The list of one query, as marks by rank, and how many documents of each grade there are to be found.
///
/// A document is relevant if its grade is at least `relevant_from` (1 unless said otherwise). What nobody judged counts
/// as not relevant in all measures but bpref, infAP and those that count judgements.
///
/// ```
/// use calibrant::evaluation::ranking::{JudgedList, Mark};
/// // Listed: a relevant document, one that is not, an unknown one; one relevant document was not found.
/// let list = JudgedList::new(vec![Mark::Grade(1), Mark::Grade(0), Mark::Unknown], &[1, 0, 2], 1);
/// assert_eq!((list.relevant(), list.relevant_retrieved(), list.retrieved()), (2, 1, 3));
/// assert_eq!(list.average_precision(), 0.5); // by hand: (1/1) / 2
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedList {
    marks: Vec<Mark>,
    /// Ranks from 0 of the relevant documents.
    relevant_at: Vec<usize>,
    /// The grades that were given, rising, with the number of documents of each, listed or not.
    levels: Vec<(i32, usize)>,
    relevant: usize,
    relevant_from: i32,
}

impl JudgedList {
    /// A list of its parts. `judged` holds the grade of every document that was judged for the query, listed or not.
    pub fn new(marks: Vec<Mark>, judged: &[i32], relevant_from: i32) -> Self {
        let mut grades: Vec<i32> = judged.iter().copied().filter(|&grade| grade >= 0).collect();
        grades.sort_unstable();
        let levels: Vec<(i32, usize)> = grades
            .chunk_by(|a, b| a == b)
            .map(|equal| (equal[0], equal.len()))
            .collect();
        let is_relevant = |mark: &Mark| mark.grade().is_some_and(|grade| grade >= relevant_from);
        let relevant_at = marks
            .iter()
            .enumerate()
            .filter(|(_, mark)| is_relevant(mark))
            .map(|(rank, _)| rank)
            .collect();
        let relevant = levels
            .iter()
            .filter(|(grade, _)| *grade >= relevant_from)
            .map(|(_, count)| count)
            .sum();
        Self {
            marks,
            relevant_at,
            levels,
            relevant,
            relevant_from,
        }
    }

    /// Looks up the first `most` documents of a list among the judgements of its query.
    pub fn of_query(
        judged: JudgedQuery<'_>,
        ranked: Option<RankedQuery<'_>>,
        relevant_from: i32,
        most: usize,
    ) -> Self {
        let marks = match ranked {
            None => Vec::new(),
            Some(ranked) => look_up(judged, ranked, most),
        };
        Self::new(marks, judged.grades(), relevant_from)
    }

    /// The marks, best document first.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The number of documents in the list.
    pub fn retrieved(&self) -> usize {
        self.marks.len()
    }

    /// The number of relevant documents there are to be found.
    pub fn relevant(&self) -> usize {
        self.relevant
    }

    /// The number of relevant documents in the list.
    pub fn relevant_retrieved(&self) -> usize {
        self.relevant_at.len()
    }

    /// The ranks of the relevant documents in the list, from 0.
    pub fn relevant_at(&self) -> &[usize] {
        &self.relevant_at
    }

    /// The grades that were given, rising, with the number of documents that have each.
    pub fn levels(&self) -> &[(i32, usize)] {
        &self.levels
    }

    /// The grade from which a document is relevant.
    pub fn relevant_from(&self) -> i32 {
        self.relevant_from
    }

    /// The number of relevant documents among the first `cut`.
    pub fn relevant_up_to(&self, cut: usize) -> usize {
        self.relevant_at.partition_point(|&rank| rank < cut)
    }
}

fn look_up(judged: JudgedQuery<'_>, ranked: RankedQuery<'_>, most: usize) -> Vec<Mark> {
    // A hash of its own for every list: a crafted file cannot make searches slow.
    let hasher = foldhash::fast::RandomState::default();
    let mut known: HashTable<(&str, i32)> = HashTable::with_capacity(judged.grades().len());
    for judgement in judged.judgements() {
        let entry = (judgement.document, judgement.grade);
        known.insert_unique(hasher.hash_one(entry.0), entry, |(document, _)| {
            hasher.hash_one(*document)
        });
    }
    let mark = |document: &str| {
        let found = known.find(hasher.hash_one(document), |(other, _)| *other == document);
        found.map_or(Mark::Unknown, |&(_, grade)| Mark::of(grade))
    };
    ranked.documents().take(most).map(mark).collect()
}
