//! Which terms tell the classes apart?

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::SparseMatrix;
use crate::parallel;

/// How a term's worth for a class is measured, over presence and absence in documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionMeasure {
    /// Mutual information of term and class.
    MutualInformation,
    /// Pearson's chi-square of the two-by-two table.
    ChiSquare,
    /// In how many documents the term occurs; knows no classes.
    DocumentFrequency,
    /// Conditional mutual information, given the terms already chosen (CMIM): avoids choosing the same
    /// information twice.
    ConditionalMutualInformation,
}

named! {
    SelectionMeasure, "a measure of terms";
    MutualInformation = "mutual_information", "Mutual information of term and class";
    ChiSquare = "chi_square", "Pearson's chi-square";
    DocumentFrequency = "document_frequency", "In how many documents the term occurs";
    ConditionalMutualInformation = "conditional_mutual_information", "Conditional mutual information, given the terms already chosen";
}

/// Whether all classes share one list of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionScope {
    /// One list: the classes take turns, each adding its best term that is not there yet.
    Global,
    /// A list for each class, used by that class's classifier alone.
    PerClass,
}

/// Keeps the best terms.
///
/// # Formula
/// ```text
/// I(T;C)   = Σ_t Σ_c P(t,c) ln(P(t,c) / (P(t) P(c)))             t, c in {absent, present}
/// χ²       = N (n11 n00 - n10 n01)² / ((n11+n10) (n01+n00) (n11+n01) (n10+n00))
/// CMIM     picks, one after another, the term with the largest  min over chosen s of I(T;C|S)
/// ```
/// # When it misleads
/// Choosing sees the labels. Scores of documents that took part in the choice are not held out,
/// so cross-fitting chooses again without each fold. Documents count once whatever their weight.
///
/// # Reference
/// CMIM: Fleuret, JMLR 5 (2004), with its lazy evaluation: a term's score only falls as more are
/// chosen, so most terms are never compared with most choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// The worth of a term.
    pub measure: SelectionMeasure,
    /// One list or one per class.
    pub scope: SelectionScope,
    /// How many terms a list keeps.
    pub count: usize,
}

/// The chosen columns, rising.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selected {
    /// For all classes alike.
    Global(Vec<u32>),
    /// For each class.
    PerClass(Vec<Vec<u32>>),
}

impl Selection {
    /// Chooses from the rows that `takes_part` (all but the held-out fold). `members[class]` lists
    /// the rows of each class.
    pub(crate) fn choose(
        &self,
        rows: &SparseMatrix,
        members: &[Vec<u32>],
        takes_part: impl Fn(usize) -> bool + Sync,
    ) -> Selected {
        let whole = Presence::count(rows, &takes_part);
        if self.measure == SelectionMeasure::DocumentFrequency {
            let mut best = ranked(whole.with_term.iter().map(|&n| f64::from(n)).collect());
            best.truncate(self.count);
            best.sort_unstable();
            return match self.scope {
                SelectionScope::Global => Selected::Global(best),
                SelectionScope::PerClass => Selected::PerClass(vec![best; members.len()]),
            };
        }
        let lists: Vec<Vec<u32>> = parallel::map(members, |members| {
            let in_class: Vec<u32> = members
                .iter()
                .copied()
                .filter(|&row| takes_part(row as usize))
                .collect();
            self.ranking_for(rows, &whole, &in_class, &takes_part)
        });
        match self.scope {
            SelectionScope::PerClass => Selected::PerClass(
                lists
                    .into_iter()
                    .map(|mut list| {
                        list.truncate(self.count);
                        list.sort_unstable();
                        list
                    })
                    .collect(),
            ),
            SelectionScope::Global => {
                Selected::Global(take_turns(&lists, self.count, rows.column_count()))
            }
        }
    }

    fn ranking_for(
        &self,
        rows: &SparseMatrix,
        whole: &Presence,
        in_class: &[u32],
        takes_part: &(impl Fn(usize) -> bool + Sync),
    ) -> Vec<u32> {
        let mut with_term = vec![0u32; rows.column_count()];
        for &row in in_class {
            for &column in rows.row(row as usize).columns() {
                with_term[column as usize] += 1;
            }
        }
        let table = |column: usize| Table {
            both: f64::from(with_term[column]),
            term: f64::from(whole.with_term[column]),
            class: in_class.len() as f64,
            all: whole.document_count as f64,
        };
        let worth = |measure: fn(Table) -> f64| {
            (0..rows.column_count())
                .map(|column| measure(table(column)))
                .collect()
        };
        match self.measure {
            SelectionMeasure::ChiSquare => ranked(worth(Table::chi_square)),
            SelectionMeasure::ConditionalMutualInformation => conditional_ranking(
                rows,
                worth(Table::mutual_information),
                in_class,
                takes_part,
                whole,
                self.count,
            ),
            SelectionMeasure::MutualInformation | SelectionMeasure::DocumentFrequency => {
                ranked(worth(Table::mutual_information))
            }
        }
    }
}

/// In how many of the documents that take part each term occurs.
struct Presence {
    with_term: Vec<u32>,
    document_count: usize,
}

impl Presence {
    fn count(rows: &SparseMatrix, takes_part: impl Fn(usize) -> bool) -> Self {
        let mut presence = Self {
            with_term: vec![0; rows.column_count()],
            document_count: 0,
        };
        for number in (0..rows.row_count()).filter(|&number| takes_part(number)) {
            presence.document_count += 1;
            for &column in rows.row(number).columns() {
                presence.with_term[column as usize] += 1;
            }
        }
        presence
    }
}

/// A two-by-two table: documents with term and class, with the term, in the class, in all.
#[derive(Clone, Copy)]
struct Table {
    both: f64,
    term: f64,
    class: f64,
    all: f64,
}

impl Table {
    fn cells(self) -> [(f64, f64, f64); 4] {
        let Self {
            both,
            term,
            class,
            all,
        } = self;
        [
            (both, term, class),
            (term - both, term, all - class),
            (class - both, all - term, class),
            (all - term - class + both, all - term, all - class),
        ]
    }

    fn mutual_information(self) -> f64 {
        self.cells()
            .into_iter()
            .filter(|&(cell, _, _)| cell > 0.0)
            .map(|(cell, row, column)| cell / self.all * (cell * self.all / (row * column)).ln())
            .sum::<f64>()
            .max(0.0)
    }

    fn chi_square(self) -> f64 {
        let [(n11, ..), (n10, ..), (n01, ..), (n00, ..)] = self.cells();
        let margins = self.term * (self.all - self.term) * self.class * (self.all - self.class);
        if margins <= 0.0 {
            0.0
        } else {
            self.all * (n11 * n00 - n10 * n01).powi(2) / margins
        }
    }
}

/// Columns by falling worth, ties by number; worthless ones left out.
fn ranked(worth: Vec<f64>) -> Vec<u32> {
    let mut columns: Vec<u32> = (0..worth.len() as u32)
        .filter(|&column| worth[column as usize] > 0.0)
        .collect();
    columns.sort_unstable_by(|&a, &b| {
        worth[b as usize]
            .total_cmp(&worth[a as usize])
            .then(a.cmp(&b))
    });
    columns
}

fn take_turns(lists: &[Vec<u32>], count: usize, column_count: usize) -> Vec<u32> {
    let mut chosen = vec![false; column_count];
    let mut kept = Vec::new();
    let mut turns: Vec<_> = lists.iter().map(|list| list.iter()).collect();
    loop {
        let before = kept.len();
        for turn in &mut turns {
            if kept.len() == count {
                break;
            }
            if let Some(&next) = turn.find(|&&column| !chosen[column as usize]) {
                chosen[next as usize] = true;
                kept.push(next);
            }
        }
        if kept.len() == before {
            break;
        }
    }
    kept.sort_unstable();
    kept
}

fn conditional_ranking(
    rows: &SparseMatrix,
    worth: Vec<f64>,
    in_class: &[u32],
    takes_part: &impl Fn(usize) -> bool,
    whole: &Presence,
    count: usize,
) -> Vec<u32> {
    let mut postings: Vec<Vec<u32>> = vec![Vec::new(); rows.column_count()];
    for (number, row) in rows
        .rows()
        .enumerate()
        .filter(|&(number, _)| takes_part(number))
    {
        for &column in row.columns() {
            postings[column as usize].push(number as u32);
        }
    }
    let class = BitSet::of(rows.row_count(), in_class);
    let (class_size, all) = (in_class.len() as f64, whole.document_count as f64);
    // `bound` is the smallest conditional information over the first `compared` choices: it can
    // only fall, so a candidate whose bound is below the best so far need not be looked at.
    let candidates = ranked(worth.clone());
    let mut bound = worth;
    let mut compared = vec![0u32; rows.column_count()];
    let mut chosen: Vec<(u32, BitSet)> = Vec::new();
    let mut is_chosen = vec![false; rows.column_count()];
    while chosen.len() < count.min(candidates.len()) {
        let mut best: Option<(f64, u32)> = None;
        for &column in &candidates {
            let index = column as usize;
            if is_chosen[index] {
                continue;
            }
            while best.is_none_or(|(score, _)| bound[index] > score)
                && (compared[index] as usize) < chosen.len()
            {
                let (other, documents) = &chosen[compared[index] as usize];
                let information = conditional_information(
                    &postings[index],
                    documents,
                    &postings[*other as usize],
                    &class,
                    class_size,
                    all,
                );
                bound[index] = bound[index].min(information);
                compared[index] += 1;
            }
            if best.is_none_or(|(score, _)| bound[index] > score) {
                best = Some((bound[index], column));
            }
        }
        let Some((_, column)) = best.filter(|&(score, _)| score > 0.0) else {
            break;
        };
        is_chosen[column as usize] = true;
        chosen.push((
            column,
            BitSet::of(rows.row_count(), &postings[column as usize]),
        ));
    }
    chosen.into_iter().map(|(column, _)| column).collect()
}

/// `I(T;C|S)`: the mutual information of term and class within the documents that have `S` and
/// within those that do not, each by its share.
fn conditional_information(
    term: &[u32],
    other: &BitSet,
    other_postings: &[u32],
    class: &BitSet,
    class_size: f64,
    all: f64,
) -> f64 {
    let (mut term_other, mut term_other_class, mut term_class) = (0u32, 0u32, 0u32);
    for &document in term {
        let in_class = u32::from(class.has(document));
        let in_other = u32::from(other.has(document));
        term_class += in_class;
        term_other += in_other;
        term_other_class += in_class & in_other;
    }
    let other_class = other_postings
        .iter()
        .filter(|&&document| class.has(document))
        .count() as f64;
    let with = Table {
        both: f64::from(term_other_class),
        term: f64::from(term_other),
        class: other_class,
        all: other_postings.len() as f64,
    };
    let without = Table {
        both: f64::from(term_class - term_other_class),
        term: f64::from(term.len() as u32 - term_other),
        class: class_size - other_class,
        all: all - other_postings.len() as f64,
    };
    [with, without]
        .into_iter()
        .filter(|table| table.all > 0.0)
        .map(|table| table.all / all * table.mutual_information())
        .sum()
}

struct BitSet(Vec<u64>);

impl BitSet {
    fn of(size: usize, members: &[u32]) -> Self {
        let mut words = vec![0u64; size.div_ceil(64)];
        for &member in members {
            words[member as usize / 64] |= 1 << (member % 64);
        }
        Self(words)
    }

    #[inline]
    fn has(&self, member: u32) -> bool {
        self.0[member as usize / 64] >> (member % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matrix(rows: &[Vec<bool>]) -> SparseMatrix {
        let width = rows.first().map_or(0, Vec::len);
        SparseMatrix::from_rows(
            width,
            rows.iter().map(|row| {
                row.iter()
                    .enumerate()
                    .filter(|(_, on)| **on)
                    .map(|(c, _)| (c as u32, 1.0))
                    .collect()
            }),
        )
    }

    fn selection(measure: SelectionMeasure, count: usize) -> Selection {
        Selection {
            measure,
            scope: SelectionScope::PerClass,
            count,
        }
    }

    #[test] // 8 documents, term in 4, class in 4, together in 3: worked by hand.
    fn measures_give_the_number_worked_by_hand() {
        let table = Table {
            both: 3.0,
            term: 4.0,
            class: 4.0,
            all: 8.0,
        };
        let expected =
            2.0 * 3.0 / 8.0 * (3.0 * 8.0 / 16.0f64).ln() + 2.0 / 8.0 * (8.0 / 16.0f64).ln();
        assert!((table.mutual_information() - expected).abs() < 1e-15);
        assert!((table.chi_square() - 8.0 * (9.0f64 - 1.0).powi(2) / 256.0).abs() < 1e-15);
    }

    #[test]
    fn a_copy_of_a_chosen_term_is_passed_over() {
        // Terms 0 and 1 are the same; term 2 is weaker but new.
        let rows: Vec<Vec<bool>> = [
            [1, 1, 0],
            [1, 1, 1],
            [1, 1, 0],
            [0, 0, 1],
            [0, 0, 0],
            [0, 0, 0],
            [0, 0, 0],
            [1, 1, 1],
        ]
        .iter()
        .map(|row| row.iter().map(|&v| v == 1).collect())
        .collect();
        let members = vec![vec![0, 1, 2, 3]];
        let rows = matrix(&rows);
        let choose = |measure| match selection(measure, 2).choose(&rows, &members, |_| true) {
            Selected::PerClass(lists) => lists[0].clone(),
            Selected::Global(list) => list,
        };
        assert_eq!(choose(SelectionMeasure::MutualInformation), vec![0, 1]);
        assert_eq!(
            choose(SelectionMeasure::ConditionalMutualInformation),
            vec![0, 2]
        );
    }

    #[test]
    fn classes_take_turns_in_a_global_list() {
        assert_eq!(
            take_turns(&[vec![5, 4, 3], vec![5, 1]], 3, 6),
            vec![1, 4, 5]
        );
        assert_eq!(take_turns(&[vec![5], vec![5]], 3, 6), vec![5]);
    }

    fn brute_force_information(
        rows: &[Vec<bool>],
        class: &[bool],
        term: usize,
        given: Option<usize>,
    ) -> f64 {
        let n = rows.len() as f64;
        let probability =
            |test: &dyn Fn(usize) -> bool| (0..rows.len()).filter(|&i| test(i)).count() as f64 / n;
        let mut sum = 0.0;
        for s in [false, true] {
            for t in [false, true] {
                for c in [false, true] {
                    let in_s = |i: usize| given.is_none_or(|g| rows[i][g] == s);
                    let joint = probability(&|i| in_s(i) && rows[i][term] == t && class[i] == c);
                    let ps = probability(&in_s);
                    let pts = probability(&|i| in_s(i) && rows[i][term] == t);
                    let pcs = probability(&|i| in_s(i) && class[i] == c);
                    if joint > 0.0 {
                        sum += joint * (joint * ps / (pts * pcs)).ln();
                    }
                }
            }
        }
        if given.is_none() { sum / 2.0 } else { sum }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn conditional_choice_equals_brute_force(
            rows in prop::collection::vec(prop::collection::vec(any::<bool>(), 6), 6..24),
            class in prop::collection::vec(any::<bool>(), 24),
        ) {
            let class = &class[..rows.len()];
            let members: Vec<u32> = (0..rows.len() as u32).filter(|&i| class[i as usize]).collect();
            let matrix = matrix(&rows);
            let order = selection(SelectionMeasure::ConditionalMutualInformation, 3)
                .ranking_for(&matrix, &Presence::count(&matrix, |_| true), &members, &|_| true);
            // Where terms tie to rounding any of them may be next, and the ones behind it depend
            // on which it was: follow the order taken, and compare scores.
            for (place, next) in order.iter().map(|&c| Some(c as usize)).chain([None]).take(3).enumerate() {
                let chosen: Vec<usize> = order[..place].iter().map(|&c| c as usize).collect();
                let score = |t: usize| chosen.iter()
                    .map(|&s| brute_force_information(&rows, class, t, Some(s)))
                    .fold(brute_force_information(&rows, class, t, None), f64::min);
                let best = (0..6).filter(|t| !chosen.contains(t)).map(score).fold(0.0, f64::max);
                let ours = next.map_or(0.0, score);
                prop_assert!((ours - best).abs() < 1e-9, "{:?} at {}: {} of {}", order, place, ours, best);
                prop_assert!(next.is_none_or(|next| !chosen.contains(&next)));
            }
        }

        #[test]
        fn held_out_rows_do_not_take_part(
            rows in prop::collection::vec(prop::collection::vec(any::<bool>(), 5), 8..20),
            class in prop::collection::vec(any::<bool>(), 20),
        ) {
            let half = rows.len() / 2;
            let members = |n: usize| vec![(0..n as u32).filter(|&i| class[i as usize]).collect::<Vec<_>>()];
            for measure in [SelectionMeasure::MutualInformation, SelectionMeasure::ChiSquare,
                            SelectionMeasure::ConditionalMutualInformation, SelectionMeasure::DocumentFrequency] {
                let part = selection(measure, 2).choose(&matrix(&rows), &members(rows.len()), |row| row < half);
                let alone = selection(measure, 2).choose(&matrix(&rows[..half]), &members(half), |_| true);
                prop_assert_eq!(part, alone);
            }
        }
    }
}
