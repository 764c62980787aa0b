use super::*;
use crate::Task;
use proptest::prelude::*;

/// A row: content, class, weight and group (zero for none).
type Row = (u8, u8, f64, u8);

struct Given {
    orders: Vec<u128>,
    documents: Vec<u128>,
    groups: Vec<u128>,
    weights: Vec<f64>,
    classes: Vec<Vec<u32>>,
}

impl Given {
    fn new(rows: &[Row]) -> Self {
        let spread =
            |content: u128| content.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let groups: Vec<u128> = rows.iter().map(|row| u128::from(row.3)).collect();
        Self {
            orders: rows
                .iter()
                .map(|row| spread(u128::from(row.0) * 7 + u128::from(row.1)))
                .collect(),
            documents: rows.iter().map(|row| u128::from(row.0)).collect(),
            groups: if groups.iter().all(|&group| group == 0) {
                Vec::new()
            } else {
                groups
            },
            weights: rows.iter().map(|row| row.2).collect(),
            classes: rows.iter().map(|row| vec![u32::from(row.1)]).collect(),
        }
    }

    /// With texts of so many words.
    fn distinct(&self, words: u8) -> Distinct {
        let keys = self
            .documents
            .iter()
            .map(|key| (key << 1) | u128::from(words > 0));
        let keys: Vec<u128> = keys.collect();
        let identities = Identities {
            orders: Orders::Listed(&self.orders),
            words: &vec![words; keys.len()],
            groups: &self.groups,
            weights: &self.weights,
            folds: 2,
        };
        let classes_of = |row: u32| Some(self.classes[row as usize].clone());
        let found = identities.keep(&keys, classes_of);
        let mut remembered = Vec::new();
        found.for_each_remembered(&keys, &mut |key| remembered.push(key));
        let found = found.in_order(&identities, classes_of);
        // Each document once, and all of them unless they are observations.
        remembered.sort_unstable();
        assert!(remembered.is_sorted_by(|a, b| a < b));
        assert!(remembered.len() <= found.documents.count);
        let weighed = keys.len() - found.documents.copy_count();
        assert!(remembered.is_empty() || remembered.len() == weighed);
        // Keys that are worked out each time say the same.
        let asked = |row: u32| self.orders[row as usize];
        let asked = Identities {
            orders: Orders::Asked(&asked),
            ..identities
        };
        let again = asked.keep(&keys, classes_of).in_order(&asked, classes_of);
        assert_eq!(again.documents.keys, found.documents.keys);
        assert!(again.documents.numbers().eq(found.documents.numbers()));
        found
    }

    /// The content of the document with this number.
    fn content(&self, found: &Distinct, document: u32) -> u128 {
        let place = found
            .documents
            .numbers()
            .position(|own| own == document)
            .unwrap();
        self.documents[found.rows[place] as usize]
    }
}

fn plain(contents_and_classes: &[(u8, u8)]) -> Vec<Row> {
    contents_and_classes
        .iter()
        .map(|&(content, class)| (content, class, 1.0, 0))
        .collect()
}

#[test]
fn copies_become_weights_and_other_labels_stay_rows_of_one_document() {
    let given = Given::new(&plain(&[(1, 0), (2, 0), (1, 0), (1, 1), (3, 1), (1, 0)]));
    let found = given.distinct(8);
    assert_eq!(found.rows.len(), 4);
    let documents = &found.documents;
    assert_eq!((documents.row_count(), documents.count), (6, 3));
    assert_eq!(documents.copy_count(), 3); // By hand: two more of the first, and one with another label.
    for (at, &row) in found.rows.iter().enumerate() {
        let (content, class) = (given.documents[row as usize], &found.classes[at]);
        let expected = if (content, class[0]) == (1, 0) { 3 } else { 1 };
        assert_eq!(documents.copies_of(at), expected);
        // By hand: six rows on three documents, so a row counts one half.
        assert!((documents.weights[at] - 0.5 * f64::from(expected)).abs() < 1e-15);
    }
    assert!(documents.keys.is_sorted());
    assert_eq!(
        documents.is_first().iter().filter(|&&first| first).count(),
        3
    );
    assert_eq!(found.is_first.iter().filter(|&&first| first).count(), 3);
    assert!(documents.together.is_none());
}

#[test]
fn rows_of_few_patterns_are_observations_and_not_copies() {
    let documents = |rows: &[(u8, u8)], words: u8| {
        let given = Given::new(&plain(rows));
        given.distinct(words).documents.count
    };
    // Ten rows to each of four patterns, which disagree about the class.
    let rows: Vec<(u8, u8)> = (0..40).map(|n| (n % 4, n % 3)).collect();
    assert_eq!(documents(&rows, 0), 40);
    assert_eq!(documents(&rows, 1), 40);
    assert_eq!(documents(&rows, 2), 40);
    // Equal texts of more words are one text, whatever their labels.
    assert_eq!(documents(&rows, 3), 4);
    // Fewer than ten to a pattern are one text; of cells it is the labels that tell.
    assert_eq!(documents(&rows[..36], 0), 36);
    assert_eq!(documents(&rows[..36], 1), 4);
    // Where they agree about the class, a text is a document; four cells may be all that there are.
    let agreeing: Vec<(u8, u8)> = (0..40).map(|n| (n % 4, n % 2)).collect();
    assert_eq!(documents(&agreeing, 1), 4);
    assert_eq!(documents(&agreeing, 0), 40);
    // Of sixty rows of cells, eleven times each, it is the labels that tell.
    let copied: Vec<(u8, u8)> = (0..660)
        .map(|n| ((n % 60) as u8, (n % 60 % 2) as u8))
        .collect();
    assert_eq!(documents(&copied, 0), 60);
    let observed: Vec<(u8, u8)> = (0..660)
        .map(|n| ((n % 60) as u8, (n / 60 % 2) as u8))
        .collect();
    assert_eq!(documents(&observed, 0), 660);
    // One document stays one, though it cannot be divided into folds: that is for the folds to say.
    assert_eq!(documents(&[(1, 0), (1, 1), (1, 0)], 1), 1);
}

#[test] // A few rows with words among others say nothing about those without.
fn rows_with_words_and_rows_without_are_judged_apart() {
    let rows: Vec<(u8, u8)> = (0..50).map(|n| (n % 4, n % 3)).collect();
    let given = Given::new(&plain(&rows));
    let words = |row: usize| u128::from(row < 2);
    let keys = given.documents.iter().enumerate();
    let keys: Vec<u128> = keys.map(|(row, key)| (key << 1) | words(row)).collect();
    let identities = Identities {
        orders: Orders::Listed(&given.orders),
        words: &vec![1; keys.len()],
        groups: &[],
        weights: &given.weights,
        folds: 2,
    };
    let classes_of = |row: u32| Some(given.classes[row as usize].clone());
    let found = identities.keep(&keys, classes_of);
    // Documents that are observations are not remembered.
    let mut remembered = 0;
    found.for_each_remembered(&keys, &mut |_| remembered += 1);
    assert_eq!(remembered, 2);
    let found = found.in_order(&identities, classes_of);
    assert_eq!(found.documents.count, 50);
}

#[test]
fn groups_with_a_document_in_common_are_one() {
    // 1 and 2 share content 5; 3 stands alone; the last has no group.
    let rows = [
        (1, 0, 1.0, 1),
        (5, 0, 1.0, 1),
        (5, 0, 1.0, 2),
        (2, 0, 1.0, 2),
        (3, 0, 1.0, 3),
        (4, 0, 1.0, 0),
    ];
    let given = Given::new(&rows);
    let found = given.distinct(8);
    let together = found.documents.together.as_ref().unwrap();
    let of = |content: u128| {
        let all = 0..found.documents.count as u32;
        let mut own = all.filter(|&document| given.content(&found, document) == content);
        together[own.next().unwrap() as usize]
    };
    assert_eq!(of(1), of(5));
    assert_eq!(of(2), of(5));
    let others = [of(1), of(3), of(4)];
    assert!(others[0] != others[1] && others[1] != others[2] && others[0] != others[2]);
}

fn any_rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        0u8..30,
        0u8..3,
        prop::sample::select(vec![1.0, 0.1, 2.5, 3.0]),
        0u8..8,
    );
    prop::collection::vec(row, 12..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]
    #[test]
    fn neither_order_nor_unit_of_weights_matters_and_nothing_is_split(
        rows in any_rows(),
        turn in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let folds_of = |rows: &[Row]| {
            let given = Given::new(rows);
            let found = given.distinct(8);
            let labels = ClassLabels {
                task: Task::SingleLabel,
                class_count: 3,
                of_row: found.classes.clone(),
            };
            let folds = found.documents.folds(&labels, 2, seed);
            let rows: Vec<(u128, Vec<u32>, f64)> = (0..found.rows.len())
                .map(|at| (found.documents.keys[at], found.classes[at].to_vec(), found.documents.weights[at]))
                .collect();
            let placed = folds.ok().map(|folds| {
                let number = |at: usize| found.documents.of_row(at);
                let of = (0..found.rows.len()).map(|at| (given.content(&found, number(at)), folds.of(at)));
                of.collect::<Vec<_>>()
            });
            (rows, placed)
        };
        let mut turned = rows.clone();
        turned.rotate_left(turn.index(rows.len()));
        turned.reverse();
        turned.iter_mut().for_each(|row| row.2 *= 8.0);
        let found = folds_of(&rows);
        prop_assert_eq!(&found, &folds_of(&turned));
        if let Some(placed) = found.1 {
            let fold_of: std::collections::BTreeMap<u128, usize> = placed.iter().copied().collect();
            for (content, fold) in placed {
                prop_assert_eq!(fold_of[&content], fold);
            }
            for a in rows.iter().filter(|row| row.3 > 0) {
                for b in rows.iter().filter(|row| row.3 == a.3) {
                    prop_assert_eq!(fold_of[&u128::from(a.0)], fold_of[&u128::from(b.0)]);
                }
            }
        }
    }

    #[test]
    fn rows_repeated_are_rows_with_weights(rows in any_rows()) {
        let counts: Vec<usize> = rows.iter().map(|row| 1 + usize::from(row.0 % 3)).collect();
        let repeated: Vec<Row> = rows
            .iter()
            .zip(&counts)
            .flat_map(|(row, &count)| vec![(row.0, row.1, 1.0, row.3); count])
            .collect();
        let weighted: Vec<Row> = rows
            .iter()
            .zip(&counts)
            .map(|(row, &count)| (row.0, row.1, count as f64 / 4.0, row.3))
            .collect();
        let (a, b) = (Given::new(&repeated).distinct(8), Given::new(&weighted).distinct(8));
        prop_assert_eq!(&a.documents.weights, &b.documents.weights);
        prop_assert_eq!(&a.documents.keys, &b.documents.keys);
        prop_assert!(a.documents.numbers().eq(b.documents.numbers()));
    }
}

#[test]
fn a_part_is_numbered_anew_and_weighs_one_a_document() {
    let rows = [
        (1, 0, 1.0, 1),
        (1, 1, 1.0, 1),
        (2, 0, 4.0, 2),
        (3, 0, 2.0, 1),
    ];
    let given = Given::new(&rows);
    let found = given.distinct(8);
    let whole = &found.documents;
    let kept: Vec<u32> = (0..4)
        .filter(|&row| given.content(&found, whole.of_row(row as usize)) != 1)
        .collect();
    let part = whole.part(&kept);
    assert!(part.numbers().eq([0, 1]));
    let mut weights = part.weights.clone();
    weights.sort_by(f64::total_cmp);
    assert!((weights[0] - 2.0 / 3.0).abs() < 1e-15 && (weights[1] - 4.0 / 3.0).abs() < 1e-15);
    assert_ne!(
        part.together.as_ref().unwrap()[0],
        part.together.as_ref().unwrap()[1]
    );
}

proptest! {
    #[test]
    fn lists_are_put_in_any_order(values in prop::collection::vec(any::<u16>(), 0..40)) {
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        order.sort_by_key(|&place| values[place as usize]);
        let (mut first, mut second) = (values.clone(), (0..values.len() as u32).collect::<Vec<_>>());
        put_in_order(order.clone(), &mut first, &mut second);
        prop_assert!(first.is_sorted());
        prop_assert_eq!(second, order);
    }
}
