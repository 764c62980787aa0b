//! Boosting against the plain reading of its definition.

use proptest::prelude::*;

use super::super::{ClassLearner, ClassScorer, SavedScorer, ScorerBuffers};
use super::stump::Stump;
use super::{AdaBoost, AdaBoostModel, BoostingKind, StumpScorer};
use crate::features::SparseMatrix;
use crate::problem::{ClassFactors, ClassLabels, Targets};
use crate::scorers::Link;
use crate::{FitError, Task};

/// One committee per output.
fn committees(
    learner: AdaBoost,
    rows: &SparseMatrix,
    targets: (&ClassLabels, &[f64], &ClassFactors),
    members: &[u32],
) -> Result<StumpScorer, FitError> {
    let (labels, weights, factors) = targets;
    let fitted = learner.fit(&Targets::new(labels, weights, factors).among(rows, members))?;
    match fitted.scorer {
        SavedScorer::Stumps(scorer) => Ok(scorer),
        other => panic!("stumps, not {other:?}"),
    }
}

/// The committee of one question with yes or no.
fn committee(
    learner: AdaBoost,
    rows: &SparseMatrix,
    labels: &[bool],
    weights: &[f64],
) -> Result<AdaBoostModel, FitError> {
    let members: Vec<u32> = (0..rows.row_count() as u32).collect();
    let labels = ClassLabels::of_one_class(labels);
    let targets = (&labels, weights, &ClassFactors::equal(1));
    let scorer = committees(learner, rows, targets, &members)?;
    Ok(scorer.models()[0].clone())
}

/// Rows as a full table, with labels and weights.
#[derive(Debug, Clone)]
struct Table {
    cells: Vec<Vec<f32>>,
    labels: Vec<bool>,
    weights: Vec<f64>,
}

impl Table {
    fn rows(&self) -> SparseMatrix {
        let column_count = self.cells[0].len();
        let rows = self.cells.iter().map(|cells| {
            let stored = cells.iter().enumerate().filter(|&(_, &cell)| cell != 0.0);
            stored
                .map(|(column, &cell)| (column as u32, cell))
                .collect()
        });
        SparseMatrix::from_rows(column_count, rows)
    }

    fn fit(&self, learner: AdaBoost) -> AdaBoostModel {
        committee(learner, &self.rows(), &self.labels, &self.weights).unwrap()
    }

    fn shares(&self) -> Vec<f64> {
        let sum: f64 = self.weights.iter().sum();
        self.weights.iter().map(|weight| weight / sum).collect()
    }

    /// Every question that can be asked: `None` for one answer to all.
    fn questions(&self) -> Vec<Option<(usize, f64)>> {
        let mut questions = vec![None];
        for column in 0..self.cells[0].len() {
            let mut values: Vec<f64> = self
                .cells
                .iter()
                .map(|row| f64::from(row[column]))
                .collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            let middles = values.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0);
            questions.extend(middles.map(|middle| Some((column, middle))));
        }
        questions
    }

    /// Positive and negative weight at or below a question's threshold, and above it.
    fn sides(&self, shares: &[f64], question: Option<(usize, f64)>) -> [(f64, f64); 2] {
        let mut sides = [(0.0, 0.0); 2];
        for ((cells, &label), share) in self.cells.iter().zip(&self.labels).zip(shares) {
            let above = question.is_none_or(|(column, middle)| f64::from(cells[column]) > middle);
            let side = &mut sides[usize::from(above)];
            *if label { &mut side.0 } else { &mut side.1 } += share;
        }
        sides
    }
}

fn objective(kind: BoostingKind, sides: [(f64, f64); 2]) -> f64 {
    let of_side = |(plus, minus): (f64, f64)| match kind {
        BoostingKind::Discrete | BoostingKind::Shares => f64::min(plus, minus),
        BoostingKind::Real => 2.0 * (plus * minus).sqrt(),
    };
    of_side(sides[0]) + of_side(sides[1])
}

/// The answers below and above that the definition gives.
fn answers(kind: BoostingKind, sides: [(f64, f64); 2], row_count: usize) -> [f64; 2] {
    match kind {
        BoostingKind::Real => {
            let epsilon = 1.0 / row_count as f64;
            sides.map(|(plus, minus)| 0.5 * ((plus + epsilon) / (minus + epsilon)).ln())
        }
        BoostingKind::Discrete | BoostingKind::Shares => {
            let error = objective(kind, sides);
            let error = if error < 1e-12 {
                1.0 / (row_count as f64 + 2.0)
            } else {
                error
            };
            let alpha = 0.5 * ((1.0 - error) / error).ln();
            sides.map(|(plus, minus)| if plus > minus { alpha } else { -alpha })
        }
    }
}

/// Follows a committee round by round, trying every question in each, with weights computed
/// from the whole sum so far. Members that answer all rows alike are taken where the definition wants one.
fn check_every_round(
    table: &Table,
    kind: BoostingKind,
    rounds: usize,
) -> Result<(), TestCaseError> {
    let model = table.fit(AdaBoost { kind, rounds });
    let row_count = table.cells.len();
    let mut sums = vec![0f64; row_count];
    let mut bias = 0.0;
    let mut stumps = model.stumps().iter();
    for round in 0..rounds {
        let mut shares: Vec<f64> = (table.shares().iter().zip(&sums).zip(&table.labels))
            .map(|((share, sum), &label)| share * (if label { -sum } else { *sum }).exp())
            .collect();
        let total: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= total);

        let values: Vec<f64> = (table.questions().iter())
            .map(|&question| objective(kind, table.sides(&shares, question)))
            .collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let none = if kind == BoostingKind::Real { 1.0 } else { 0.5 };
        if least > none - 1e-11 {
            // Rounding decides whether such a round still counts; its answers are next to nothing.
            break;
        }
        let question = if values[0] <= least + 1e-13 && values[0] < none {
            None
        } else {
            let stump = stumps.next();
            prop_assert!(
                stump.is_some(),
                "round {}: no stump, {} was there",
                round,
                least
            );
            let Stump {
                column, threshold, ..
            } = *stump.unwrap();
            Some((column as usize, threshold))
        };
        let sides = table.sides(&shares, question);
        let found = objective(kind, sides);
        prop_assert!(
            found <= least + 1e-9,
            "round {}: {} where {} was there",
            round,
            found,
            least
        );
        let answers = answers(kind, sides, row_count);
        match question {
            None => bias += answers[1],
            Some((column, middle)) => {
                prop_assert!(table.questions().contains(&Some((column, middle))));
                let stump = model.stumps()[model.stumps().len() - stumps.len() - 1];
                prop_assert!(
                    (stump.below - answers[0]).abs() < 1e-6,
                    "{:?} {:?}",
                    stump,
                    answers
                );
                prop_assert!(
                    (stump.above - answers[1]).abs() < 1e-6,
                    "{:?} {:?}",
                    stump,
                    answers
                );
            }
        }
        for (sum, cells) in sums.iter_mut().zip(&table.cells) {
            let above = question.is_none_or(|(column, middle)| f64::from(cells[column]) > middle);
            *sum += answers[usize::from(above)];
        }
        if least < 1e-7 {
            break;
        }
    }
    // By hand: a normalizer of 1 - 1e-11 comes from answers of about 5e-6, and there may be a few such
    // rounds.
    for left in stumps {
        prop_assert!(
            left.below.abs() < 1e-4 && left.above.abs() < 1e-4,
            "{left:?}"
        );
    }
    prop_assert!(
        (model.bias() - bias).abs() < 1e-4,
        "{} {}",
        model.bias(),
        bias
    );
    Ok(())
}

fn a_cell() -> impl Strategy<Value = f32> {
    // Many zeros, a few values that repeat, and others that do not.
    prop_oneof![
        4 => Just(0.0f32),
        2 => prop::sample::select(vec![-2.0f32, -1.0, 1.0, 3.0]),
        3 => -5.0f32..5.0,
    ]
}

fn a_table() -> impl Strategy<Value = Table> {
    (2usize..14, 1usize..5).prop_flat_map(|(rows, columns)| {
        let cells = prop::collection::vec(prop::collection::vec(a_cell(), columns), rows);
        let labels = prop::collection::vec(any::<bool>(), rows);
        let weights = prop::collection::vec(0.1f64..3.0, rows);
        (cells, labels, weights).prop_map(|(cells, labels, weights)| Table {
            cells,
            labels,
            weights,
        })
    })
}

proptest! {
    #[test]
    fn every_round_adds_the_stump_of_least_error(table in a_table()) {
        check_every_round(&table, BoostingKind::Discrete, 12)?;
    }

    #[test]
    fn every_round_adds_the_stump_of_least_normalizer(table in a_table()) {
        check_every_round(&table, BoostingKind::Real, 12)?;
    }

    #[test]
    fn curves_and_parts_give_the_sum_of_the_stumps(
        table in a_table(),
        others in prop::collection::vec(any::<bool>(), 14),
        kind in prop::sample::select(vec![BoostingKind::Discrete, BoostingKind::Real]),
    ) {
        let rows = table.rows();
        let models = vec![
            table.fit(AdaBoost { kind, rounds: 20 }),
            Table { labels: others[..table.labels.len()].to_vec(), ..table.clone() }.fit(AdaBoost { kind, rounds: 20 }),
        ];
        let scorer = StumpScorer::new(models.clone(), Link::Independent, rows.column_count()).unwrap();
        for row in rows.rows() {
            let mut outputs = [0.0; 2];
            scorer.outputs_into(row, &mut ScorerBuffers::default(), &mut outputs);
            for (output, model) in models.iter().enumerate() {
                prop_assert!((outputs[output] - model.score(row)).abs() < 1e-9);
                let mut parts = vec![0.0; row.columns().len()];
                scorer.parts_into(row, output, &mut ScorerBuffers::default(), &mut parts);
                let sum = scorer.bases()[output] + parts.iter().sum::<f64>();
                prop_assert!((outputs[output] - sum).abs() < 1e-9);
            }
        }
    }
}

/// Rows of three classes, with a few columns of each kind.
fn three_classes() -> (SparseMatrix, ClassLabels, Vec<f64>) {
    let mut random = crate::numeric::Random::from_seed(5);
    let of_row: Vec<Vec<u32>> = (0..300)
        .map(|_| vec![random.below(6).min(5) as u32])
        .collect();
    let rows = of_row.iter().map(|classes| {
        let class = f64::from(classes[0]);
        let mut row = vec![
            (0, (class + random.normal()) as f32),
            (1, random.normal() as f32),
        ];
        if random.uniform() < 0.1 + class / 8.0 {
            row.push((2 + classes[0], 1.0));
        }
        row
    });
    let rows = SparseMatrix::from_rows(8, rows.collect::<Vec<_>>());
    let weights = (0..300).map(|row| 1.0 + f64::from(row % 3)).collect();
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count: 6,
        of_row: of_row.into(),
    };
    (rows, labels, weights)
}

#[test]
fn outputs_side_by_side_are_the_same_as_one_by_one() {
    let (rows, labels, weights) = three_classes();
    let members: Vec<u32> = (0..300).filter(|row| row % 7 != 0).collect();
    for kind in [BoostingKind::Discrete, BoostingKind::Real] {
        let learner = AdaBoost { kind, rounds: 40 };
        let even = ClassFactors::equal(6);
        let all = committees(learner, &rows, (&labels, &weights, &even), &members).unwrap();
        assert_eq!((all.output_count(), all.link()), (6, Link::Independent));
        for class in 0..6 {
            let one = ClassLabels::of_one_class(&labels.membership(class));
            let targets = (&one, &weights[..], &ClassFactors::equal(1));
            let alone = committees(learner, &rows, targets, &members).unwrap();
            assert_eq!(all.models()[class], alone.models()[0]);
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (rows, labels, weights) = three_classes();
    let members: Vec<u32> = (0..300).collect();
    let fit = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let targets = (&labels, &weights[..], &ClassFactors::equal(6));
        pool.install(|| committees(AdaBoost::default(), &rows, targets, &members))
            .unwrap()
    };
    assert_eq!(fit(1).models(), fit(3).models());
}

#[test]
fn class_factors_count_like_row_weights() {
    let (rows, labels, weights) = three_classes();
    let members: Vec<u32> = (0..300).collect();
    let factors = ClassFactors {
        by_output: vec![(4.0, 0.5); 6],
    };
    let learner = AdaBoost {
        rounds: 10,
        ..AdaBoost::default()
    };
    let fit = committees(learner, &rows, (&labels, &weights, &factors), &members).unwrap();
    let membership = labels.membership(2);
    let heavier: Vec<f64> = (weights.iter().zip(&membership))
        .map(|(weight, &on)| weight * if on { 4.0 } else { 0.5 })
        .collect();
    let alone = committee(learner, &rows, &membership, &heavier).unwrap();
    assert_eq!(fit.models()[2], alone);
}

#[test]
fn two_exclusive_classes_share_one_output_that_speaks_for_the_second() {
    let rows = SparseMatrix::from_rows(1, [vec![], vec![(0, 1.0)], vec![(0, 2.0)]]);
    let labels = ClassLabels {
        task: Task::SingleLabel,
        class_count: 2,
        of_row: [vec![0], vec![1], vec![1]].into(),
    };
    let targets = (&labels, &[1.0; 3][..], &ClassFactors::equal(1));
    let fit = committees(AdaBoost::default(), &rows, targets, &[0, 1, 2]).unwrap();
    assert_eq!((fit.output_count(), fit.link()), (1, Link::Mirror));
    let stump = fit.models()[0].stumps()[0];
    // By hand: the first stump makes no error, so that there is no second one; ε is a third.
    let (yes, no) = (
        0.5 * (1.0f64 / (1.0 / 3.0)).ln(),
        0.5 * ((1.0f64 / 3.0) / (2.0 / 3.0)).ln(),
    );
    assert_eq!(fit.models()[0].stumps().len(), 1);
    assert_eq!((stump.column, stump.threshold), (0, 0.5));
    assert!(
        (stump.above - yes).abs() < 1e-12 && (stump.below - no).abs() < 1e-12,
        "{stump:?}"
    );
}

#[test]
fn among_equal_stumps_the_lowest_column_and_threshold_win() {
    // Columns 1 and 2 are the same, and each of their two thresholds is wrong for one row in four.
    let table = Table {
        cells: vec![
            vec![1.0, 1.0, 1.0],
            vec![1.0, 2.0, 2.0],
            vec![1.0, 2.0, 2.0],
            vec![1.0, 3.0, 3.0],
        ],
        labels: vec![false, true, false, true],
        weights: vec![1.0; 4],
    };
    let model = table.fit(AdaBoost {
        kind: BoostingKind::Discrete,
        rounds: 1,
    });
    assert_eq!(
        (model.stumps()[0].column, model.stumps()[0].threshold),
        (1, 1.5)
    );
    // The mirror image: negative values are read the other way round.
    let mirrored = Table {
        cells: table
            .cells
            .iter()
            .map(|row| row.iter().map(|cell| -cell).collect())
            .collect(),
        ..table
    };
    let model = mirrored.fit(AdaBoost {
        kind: BoostingKind::Discrete,
        rounds: 1,
    });
    assert_eq!(
        (model.stumps()[0].column, model.stumps()[0].threshold),
        (1, -2.5)
    );
}

#[test]
fn rows_without_anything_to_learn_give_one_answer() {
    let table = |labels: Vec<bool>| Table {
        cells: vec![vec![0.0]; labels.len()],
        weights: vec![1.0; labels.len()],
        labels,
    };
    for kind in [BoostingKind::Discrete, BoostingKind::Real] {
        let learner = AdaBoost { kind, rounds: 5 };
        let one_class = table(vec![true; 3]).fit(learner);
        assert!(one_class.stumps().is_empty());
        // By hand: half the log of m + 1 = 4, by ε as by the error 1/(m + 2).
        assert!(
            (one_class.bias() - 0.5 * 4f64.ln()).abs() < 1e-12,
            "{one_class:?}"
        );
        let balanced = table(vec![true, false]).fit(learner);
        assert_eq!(balanced, AdaBoostModel::default());
        let nobody = table(vec![true]).rows();
        let yes = ClassLabels::of_one_class(&[true]);
        let targets = (&yes, &[1.0][..], &ClassFactors::equal(1));
        let empty = committees(learner, &nobody, targets, &[]).unwrap();
        assert_eq!(empty.models(), [AdaBoostModel::default()]);
    }
}

#[test]
fn numbers_that_are_not_finite_and_rounds_that_make_no_sense_are_refused() {
    let rows = SparseMatrix::from_rows(1, [vec![(0, f32::INFINITY)], vec![]]);
    let refused = committee(AdaBoost::default(), &rows, &[true, false], &[1.0; 2]);
    assert_eq!(refused, Err(FitError::Overflow));
    let rows = SparseMatrix::from_rows(1, [vec![(0, 1.0)], vec![]]);
    let refused = committee(
        AdaBoost::default(),
        &rows,
        &[true, false],
        &[1.0, f64::INFINITY],
    );
    assert_eq!(refused, Err(FitError::Overflow));
    let none = AdaBoost {
        rounds: 0,
        ..AdaBoost::default()
    };
    assert!(matches!(none.check(), Err(FitError::BadSetting { .. })));
}

#[test]
fn shares_are_the_votes_for_less_the_votes_against() {
    let table = Table {
        cells: [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
            .map(|value| vec![value])
            .to_vec(),
        labels: vec![true, false, true, true, false, true],
        weights: vec![1.0; 6],
    };
    let fit = |kind| table.fit(AdaBoost { kind, rounds: 7 });
    let (plain, shares) = (fit(BoostingKind::Discrete), fit(BoostingKind::Shares));
    // The weight of each vote, from the plain committee.
    let all = plain.bias().abs()
        + plain
            .stumps()
            .iter()
            .map(|stump| stump.above.abs())
            .sum::<f64>();
    for row in table.rows().rows() {
        let share = shares.score(row);
        assert!((share - plain.score(row) / all).abs() < 1e-12);
        assert!(share.abs() <= 1.0 + 1e-12);
    }
}
