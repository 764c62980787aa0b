//! Searches beside plain ones.

use proptest::prelude::*;

use super::*;
use crate::Task;
use crate::features::{RowView, SparseMatrix};
use crate::numeric::Random;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::scorers::{ClassScorer, SavedScorer, ScorerBuffers};

/// Cosines worked out without the index, largest first, those above 0.
fn by_hand(rows: &SparseMatrix, query: &SparseMatrix) -> Vec<(f64, u32)> {
    let query = query.row(0);
    let dense = |row: RowView<'_>| {
        let mut values = vec![0.0; rows.column_count()];
        row.entries()
            .for_each(|(column, value)| values[column] = value);
        values
    };
    let q = dense(query);
    let mut found: Vec<(f64, u32)> = rows
        .rows()
        .enumerate()
        .map(|(number, row)| {
            let d = dense(row);
            let dot: f64 = q.iter().zip(&d).map(|(a, b)| a * b).sum();
            let norms = (query.squared_norm() * row.squared_norm()).sqrt();
            (if norms > 0.0 { dot / norms } else { 0.0 }, number as u32)
        })
        .filter(|&(cosine, _)| cosine > 1e-6)
        .collect();
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found
}

/// Rows with few distinct values, so that ties are common, and columns of very unequal frequency:
/// more of them than the block of the commonest has places.
fn matrix(rows: std::ops::Range<usize>, values: Vec<f32>) -> impl Strategy<Value = SparseMatrix> {
    let columns = 200u32;
    let entry = (0f64..1.0, proptest::sample::select(values))
        .prop_map(move |(draw, value)| ((draw * draw * f64::from(columns)) as u32, value));
    let row = proptest::collection::vec(entry, 0..30).prop_map(|mut entries| {
        entries.sort_by_key(|&(column, _)| column);
        entries.dedup_by_key(|&mut (column, _)| column);
        entries
    });
    proptest::collection::vec(row, rows)
        .prop_map(move |rows| SparseMatrix::from_rows(columns as usize, rows))
}

fn check(rows: &SparseMatrix, query: &SparseMatrix, k: usize) -> Result<(), TestCaseError> {
    let members: Vec<u32> = (0..rows.row_count() as u32).collect();
    let index = NeighbourIndex::build(rows, &members).unwrap();
    let mut buffer = SearchBuffers::default();
    let scanned = index.scan(query.row(0), k, &mut buffer).to_vec();
    let found = index.search(query.row(0), k, &mut buffer);
    prop_assert_eq!(found, &scanned[..]);
    let everything = Approximate {
        share: 1.0,
        candidates: rows.row_count().max(1),
    };
    let found = index.search_approximately(query.row(0), k, everything, &mut buffer);
    prop_assert_eq!(found, &scanned[..]);

    let expected = by_hand(rows, query);
    let sure = expected.len().min(k);
    prop_assert!(scanned.len() >= sure);
    for (ours, theirs) in scanned.iter().zip(&expected) {
        prop_assert!((ours.similarity - theirs.0).abs() < 1e-5);
    }
    for pair in scanned.windows(2) {
        let tie = pair[0].similarity == pair[1].similarity;
        prop_assert!(pair[0].similarity > pair[1].similarity || tie && pair[0].row < pair[1].row);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_search_finds_what_a_scan_finds(
        rows in matrix(0..120, vec![1.0, 2.0]),
        query in matrix(1..2, vec![1.0, 3.0]),
        k in 1usize..20,
    ) {
        check(&rows, &query, k)?;
    }

    #[test]
    fn values_of_any_sign_are_searched_exactly(
        rows in matrix(0..120, vec![-2.0, -1.0, 0.5, 3.0]),
        query in matrix(1..2, vec![-1.0, 1.0, 2.0]),
        k in 1usize..20,
    ) {
        check(&rows, &query, k)?;
    }
}

#[test]
fn equal_rows_come_in_the_order_of_their_numbers() {
    let rows = SparseMatrix::from_rows(3, vec![vec![(0, 1.0), (1, 1.0)]; 40]);
    let members: Vec<u32> = (0..40).collect();
    let index = NeighbourIndex::build(&rows, &members).unwrap();
    let mut buffer = SearchBuffers::default();
    let found = index.search(rows.row(7), 5, &mut buffer);
    let numbers: Vec<u32> = found.iter().map(|neighbour| neighbour.row).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
}

#[test]
fn a_query_that_shares_nothing_has_no_neighbours() {
    let rows = SparseMatrix::from_rows(3, [vec![(0, 1.0)], vec![(1, 1.0)]]);
    let index = NeighbourIndex::build(&rows, &[0, 1]).unwrap();
    let mut buffer = SearchBuffers::default();
    let queries =
        SparseMatrix::from_rows(9, [vec![(2, 1.0)], vec![], vec![(8, 1.0)], vec![(0, -1.0)]]);
    for query in queries.rows() {
        assert!(index.search(query, 2, &mut buffer).is_empty());
    }
    assert_eq!(index.search(rows.row(1), 2, &mut buffer).len(), 1);
}

/// Rows of words that lean to their class, some of them with weights above 1.
struct Sample {
    rows: SparseMatrix,
    labels: ClassLabels,
    weights: Vec<f64>,
    members: Vec<u32>,
}

impl Sample {
    fn new(seed: u64, count: usize, class_count: usize, task: Task) -> Self {
        let mut random = Random::from_seed(seed);
        let mut of_row = Vec::new();
        let rows: Vec<Vec<(u32, f32)>> = (0..count)
            .map(|_| {
                let class = random.below(class_count);
                let several = task == Task::MultiLabel;
                let classes: Vec<u32> = (0..class_count as u32)
                    .filter(|&other| other as usize == class || several && random.uniform() < 0.2)
                    .collect();
                of_row.push(classes);
                (0..40u32)
                    .filter_map(|column| {
                        let own = column as usize % class_count == class;
                        let often = if own { 0.4 } else { 0.15 };
                        let value = 1.0 + random.below(3) as f32;
                        (random.uniform() < often).then_some((column, value))
                    })
                    .collect()
            })
            .collect();
        Self {
            rows: SparseMatrix::from_rows(40, rows),
            labels: ClassLabels {
                task,
                class_count,
                of_row: of_row.into(),
            },
            weights: (0..count).map(|_| 1.0 + random.below(3) as f64).collect(),
            // Some rows are left out, to be asked about.
            members: (0..count as u32).filter(|row| row % 5 != 0).collect(),
        }
    }

    fn fit(&self, settings: NearestNeighbours, factors: (f64, f64)) -> NeighbourScorer {
        let factors = ClassFactors {
            by_output: vec![factors; self.labels.output_count()],
        };
        let targets = Targets::new(&self.labels, &self.weights, &factors);
        let problem = targets.among(&self.rows, &self.members);
        match settings.fit(&problem).unwrap().scorer {
            SavedScorer::Neighbours(scorer) => *scorer,
            other => panic!("neighbours, not {other:?}"),
        }
    }
}

fn every_setting() -> impl Iterator<Item = (Vote, Task, usize)> {
    [Vote::Majority, Vote::Similarity]
        .into_iter()
        .flat_map(|vote| {
            [
                (vote, Task::SingleLabel, 2),
                (vote, Task::SingleLabel, 4),
                (vote, Task::MultiLabel, 3),
            ]
        })
}

fn fixed(k: usize, vote: Vote) -> NearestNeighbours {
    NearestNeighbours {
        k: NeighbourCount::Fixed(k),
        vote,
        ..NearestNeighbours::default()
    }
}

#[test]
fn scores_are_the_votes_of_the_nearest_rows() {
    let mut buffer = ScorerBuffers::default();
    for (vote, task, class_count) in every_setting() {
        let sample = Sample::new(3, 60, class_count, task);
        let scorer = sample.fit(fixed(7, vote), (2.0, 0.5));
        let mut outputs = vec![0.0; scorer.output_count()];
        let mean = sample
            .members
            .iter()
            .map(|&row| sample.weights[row as usize]);
        let mean = mean.sum::<f64>() / sample.members.len() as f64;
        let kept = sample.members.iter().map(|&row| {
            let row = sample.rows.row(row as usize);
            row.columns()
                .iter()
                .copied()
                .zip(row.values().iter().copied())
                .collect()
        });
        let kept = SparseMatrix::from_rows(40, kept);
        for asked in (0..60).step_by(5) {
            let query = sample.rows.row(asked);
            scorer.outputs_into(query, &mut buffer, &mut outputs);
            let one = SparseMatrix::from_rows(
                40,
                [query
                    .columns()
                    .iter()
                    .copied()
                    .zip(query.values().iter().copied())
                    .collect()],
            );
            for (output, &score) in outputs.iter().enumerate() {
                let class = sample.labels.class_of_output(output) as u32;
                let (mut positive, mut negative) = (0.0, 0.0);
                for &row in &sample.members {
                    let weight = sample.weights[row as usize] / mean;
                    if sample.labels.of_row[row as usize].contains(&class) {
                        positive += 2.0 * weight;
                    } else {
                        negative += 0.5 * weight;
                    }
                }
                let prior = (positive + 0.5) / (positive + negative + 1.0);
                let (mut ahead, mut against) = (prior, 1.0 - prior);
                for &(cosine, place) in by_hand(&kept, &one).iter().take(7) {
                    let row = sample.members[place as usize] as usize;
                    let similarity = if vote == Vote::Majority { 1.0 } else { cosine };
                    let votes = similarity * sample.weights[row] / mean;
                    if sample.labels.of_row[row].contains(&class) {
                        ahead += 2.0 * votes;
                    } else {
                        against += 0.5 * votes;
                    }
                }
                let expected = (ahead / against).ln();
                assert!((score - expected).abs() < 1e-5, "{score} {expected}");
            }
        }
    }
}

#[test]
fn the_parts_of_a_score_add_up() {
    let mut buffer = ScorerBuffers::default();
    for (vote, task, class_count) in every_setting() {
        let sample = Sample::new(4, 80, class_count, task);
        let scorer = sample.fit(fixed(5, vote), (3.0, 1.0));
        let mut outputs = vec![0.0; scorer.output_count()];
        for asked in (0..80).step_by(5) {
            let query = sample.rows.row(asked);
            scorer.outputs_into(query, &mut buffer, &mut outputs);
            let mut parts = vec![f64::NAN; query.columns().len()];
            for (output, score) in outputs.iter().enumerate() {
                scorer.parts_into(query, output, &mut buffer, &mut parts);
                let prior = scorer.priors()[output];
                let sum = parts.iter().sum::<f64>() + (prior / (1.0 - prior)).ln();
                assert!((sum - score).abs() < 1e-9, "{sum} {score}");
            }
        }
    }
}

#[test]
fn a_row_without_neighbours_has_the_log_odds_of_the_class() {
    let sample = Sample::new(5, 50, 3, Task::SingleLabel);
    let scorer = sample.fit(fixed(5, Vote::Similarity), (1.0, 1.0));
    let mut outputs = [0.0; 3];
    let empty = SparseMatrix::from_rows(40, [vec![]]);
    scorer.outputs_into(empty.row(0), &mut ScorerBuffers::default(), &mut outputs);
    for (score, prior) in outputs.iter().zip(scorer.priors()) {
        assert!((score - (prior / (1.0 - prior)).ln()).abs() < 1e-12);
    }
}

/// The log loss of leaving one out, as plainly as it can be written.
fn leave_one_out_loss(sample: &Sample, k: usize, vote: Vote) -> f64 {
    let outputs = sample.labels.output_count();
    let whole = sample.fit(fixed(1, vote), (1.0, 1.0));
    let mut loss = 0.0;
    for (number, &asked) in sample.members.iter().enumerate() {
        let mut buffer = SearchBuffers::default();
        let query = sample.rows.row(asked as usize);
        let found = whole.index().scan(query, sample.members.len(), &mut buffer);
        let others = found.iter().filter(|other| other.row as usize != number);
        let others: Vec<Neighbour> = others.take(k).copied().collect();
        let all: f64 = others.iter().map(|&other| whole.vote(other)).sum();
        for output in 0..outputs {
            let class = sample.labels.class_of_output(output) as u32;
            let is = |row: u32| sample.labels.of_row[row as usize].contains(&class);
            let votes: f64 = others
                .iter()
                .filter(|other| is(sample.members[other.row as usize]))
                .map(|&other| whole.vote(other))
                .sum();
            let p = (votes + whole.priors()[output]) / (all + 1.0);
            let right = if is(asked) { p } else { 1.0 - p };
            loss -= whole.row_weight(number as u32) * right.ln();
        }
    }
    loss
}

#[test]
fn the_chosen_number_has_the_least_loss_when_rows_are_left_out() {
    for (vote, task, class_count) in every_setting() {
        let sample = Sample::new(6, 90, class_count, task);
        let settings = NearestNeighbours {
            vote,
            ..NearestNeighbours::default()
        };
        let chosen = sample.fit(settings, (1.0, 1.0)).k();
        let chosen_loss = leave_one_out_loss(&sample, chosen, vote);
        for k in [1, 3, 5, 10, 15] {
            assert!(chosen_loss <= leave_one_out_loss(&sample, k, vote) + 1e-9);
        }
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    assert!(fixed(0, Vote::Majority).check().is_err());
    for (share, candidates) in [(0.0, 5), (1.5, 5), (f64::NAN, 5), (0.1, 0)] {
        let settings = NearestNeighbours {
            approximate: Some(Approximate { share, candidates }),
            ..NearestNeighbours::default()
        };
        assert!(settings.check().is_err(), "{share} {candidates}");
    }
}
