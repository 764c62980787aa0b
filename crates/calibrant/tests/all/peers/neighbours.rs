//! Nearest neighbours beside scikit-learn's, on 20 Newsgroups.

use std::io::Write;
use std::sync::LazyLock;

use calibrant::Task;
use calibrant::features::SparseMatrix;
use calibrant::problem::{ClassFactors, ClassLabels, Targets};
use calibrant::scorers::{
    Approximate, ClassLearner, NearestNeighbours, Neighbour, NeighbourCount, NeighbourIndex,
    SavedScorer, SearchBuffers, Vote, recall_at_k,
};
use serde_json::json;

use super::data::{check_near, log_tf_idf_of_both, numbers, part_of_newsgroups, rows_as_json};
use super::python::ask;

const K: usize = 10;

/// Rows and classes of both splits.
pub(crate) struct Newsgroups {
    pub(crate) train: SparseMatrix,
    pub(crate) test: SparseMatrix,
    pub(crate) train_classes: Vec<u32>,
    pub(crate) test_classes: Vec<u32>,
}

/// Read once for all tests.
static NEWSGROUPS: LazyLock<Option<Newsgroups>> = LazyLock::new(Newsgroups::read);

impl Newsgroups {
    /// `None` where the file is missing.
    pub(crate) fn get() -> Option<&'static Self> {
        NEWSGROUPS.as_ref()
    }

    fn read() -> Option<Self> {
        let (train, test) = (part_of_newsgroups("train")?, part_of_newsgroups("test")?);
        let mut names: Vec<&str> = train.iter().map(|post| post.labels[0].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let class = |label: &str| names.binary_search(&label).unwrap() as u32;
        let train_classes = train.iter().map(|post| class(&post.labels[0])).collect();
        let test_classes = test.iter().map(|post| class(&post.labels[0])).collect();
        let (train, test) = log_tf_idf_of_both(&train, &test);
        Some(Self {
            train,
            test,
            train_classes,
            test_classes,
        })
    }

    pub(crate) fn labels(&self) -> ClassLabels {
        ClassLabels {
            task: Task::SingleLabel,
            class_count: 20,
            of_row: self
                .train_classes
                .iter()
                .map(|&class| vec![class])
                .collect(),
        }
    }

    /// The share of test posts whose highest score is that of their class.
    pub(crate) fn accuracy(&self, scorer: &SavedScorer) -> f64 {
        let right = self
            .test
            .rows()
            .zip(&self.test_classes)
            .filter(|(row, class)| {
                let scores = scorer.output_scores(*row);
                let best = (0..scores.len()).max_by(|&a, &b| {
                    // Of equals the first, as scikit-learn has it.
                    scores[a].total_cmp(&scores[b]).then(b.cmp(&a))
                });
                best == Some(**class as usize)
            });
        right.count() as f64 / self.test_classes.len() as f64
    }
}

fn everyone(rows: &SparseMatrix) -> Vec<u32> {
    (0..rows.row_count() as u32).collect()
}

#[test]
fn neighbours_and_accuracy_are_scikit_learns_on_twenty_newsgroups() {
    let Some(posts) = Newsgroups::get() else {
        return;
    };
    let question = json!({
        "k": K, "listed": 200,
        "train": rows_as_json(&posts.train), "train_classes": posts.train_classes,
        "test": rows_as_json(&posts.test), "test_classes": posts.test_classes,
    });
    let Some(answer) = ask("neighbours.py", &question) else {
        return;
    };
    let index = NeighbourIndex::build(&posts.train, &everyone(&posts.train)).unwrap();
    let mut buffer = SearchBuffers::default();
    for (number, theirs) in answer["similarities"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
    {
        let ours = index.search(posts.test.row(number), K, &mut buffer);
        let theirs = numbers(theirs);
        for (place, one) in ours.iter().enumerate() {
            let what = format!("neighbour {place} of post {number}");
            check_near(&what, one.similarity, theirs[place], 1e-5, 1.0);
        }
    }
    for (vote, theirs) in [
        (Vote::Majority, "uniform"),
        (Vote::Similarity, "similarity"),
    ] {
        let settings = NearestNeighbours {
            k: NeighbourCount::Fixed(K),
            vote,
            ..NearestNeighbours::default()
        };
        let factors = ClassFactors {
            by_output: vec![(1.0, 1.0); 20],
        };
        let weights = vec![1.0; posts.train.row_count()];
        let members = everyone(&posts.train);
        let labels = posts.labels();
        let problem = Targets::new(&labels, &weights, &factors).among(&posts.train, &members);
        let ours = posts.accuracy(&settings.fit(&problem).unwrap().scorer);
        let theirs = answer[theirs].as_f64().unwrap();
        let plain = answer["uniform"].as_f64().unwrap();
        assert!(ours >= plain, "{vote:?}: ours {ours}, theirs {plain}");
        // Equal votes are settled by the size of the class here and by its name there.
        assert!(
            ours >= theirs - 0.002,
            "{vote:?}: ours {ours}, theirs {theirs}"
        );
    }
}

#[test]
fn most_entries_are_never_read_and_approximate_searches_find_most_neighbours() {
    let Some(posts) = Newsgroups::get() else {
        return;
    };
    let index = NeighbourIndex::build(&posts.train, &everyone(&posts.train)).unwrap();
    let mut buffer = SearchBuffers::default();
    let (mut added, mut all, mut compared, mut queries) = (0, 0, 0, 0);
    let mut recall = 0.0;
    for query in posts.test.rows().step_by(10) {
        let exact: Vec<Neighbour> = index.search(query, K, &mut buffer).to_vec();
        let work = buffer.work();
        added += work.added;
        all += work.all;
        compared += work.compared;
        queries += 1;
        if queries % 25 == 0 {
            assert_eq!(exact, index.scan(query, K, &mut buffer));
        }
        let found = index.search_approximately(query, K, Approximate::default(), &mut buffer);
        recall += recall_at_k(&exact, found);
    }
    let recall = recall / f64::from(queries);
    let (read, compared) = (
        added as f64 / all as f64,
        compared as f64 / f64::from(queries),
    );
    let _ = writeln!(
        std::io::stderr(),
        "20 Newsgroups, k = {K}: {:.1} % of the entries read, {compared:.0} rows compared in full; approximate: recall {recall:.3}",
        100.0 * read
    );
    assert!(read < 0.2, "{read}");
    assert!(compared < 30.0, "{compared}");
    assert!(recall > 0.93, "{recall}");
}
