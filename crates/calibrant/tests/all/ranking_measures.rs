//! Measures of rankings beside the published outputs of trec_eval and the figures of LETOR, where they are at hand.

use crate::common::data_file;

use std::io::Read;
use std::path::PathBuf;

use calibrant::corpus::Source;
use calibrant::evaluation::ranking::{
    Gains, JudgedList, LetorCounting, Mark, MeasureSet, RunEvaluationOptions, evaluate_letor,
    evaluate_run,
};
use calibrant::ranking::{Qrels, RankingTable, Run};
use data_file::data_file;
use proptest::prelude::*;

fn text(path: PathBuf) -> String {
    let mut text = String::new();
    let lines = calibrant::corpus::open_lines(&Source::Path(path));
    let mut reader = lines.unwrap().unwrap();
    reader.read_to_string(&mut text).unwrap();
    text
}

/// Measures as the options say and compares with what trec_eval printed, byte by byte.
#[track_caller]
fn check(
    qrels: &str,
    run: &str,
    expected: &str,
    per_query: bool,
    measures: &[&str],
    change: impl FnOnce(&mut RunEvaluationOptions),
) {
    let (Some(qrels), Some(run), Some(expected)) =
        (data_file(qrels), data_file(run), data_file(expected))
    else {
        return;
    };
    let qrels = Qrels::read(&Source::Path(qrels)).unwrap();
    let run = Run::read(&Source::Path(run)).unwrap();
    let mut options = RunEvaluationOptions {
        measures: MeasureSet::parse(measures).unwrap(),
        ..RunEvaluationOptions::default()
    };
    change(&mut options);
    let found = evaluate_run(&qrels, &run, &options).unwrap();
    let mut ours = Vec::new();
    found.write_trec(&mut ours, per_query).unwrap();
    let ours = String::from_utf8(ours).unwrap();
    // The rbp lines of this version read memory that was never written.
    let theirs: Vec<String> = text(expected)
        .lines()
        .filter(|line| !line.starts_with("rbp"))
        .map(str::to_owned)
        .collect();
    let wrong: Vec<(&str, &String)> = ours
        .lines()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} differ: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(12)]
    );
    assert_eq!(ours.lines().count(), theirs.len());
}

#[test]
fn the_outputs_of_trec_eval_are_reproduced_to_the_byte() {
    let (qrels, run) = ("trec_eval/test/qrels.test", "trec_eval/test/results.test");
    let truncated = "trec_eval/test/results.trunc";
    let expected = |name: &str| format!("trec_eval/test/{name}");
    check(
        qrels,
        run,
        &expected("out.test"),
        false,
        &["official"],
        |_| {},
    );
    check(
        qrels,
        run,
        &expected("out.test.a"),
        false,
        &["all_trec"],
        |_| {},
    );
    check(
        qrels,
        run,
        &expected("out.test.aq"),
        true,
        &["all_trec"],
        |_| {},
    );
    check(
        qrels,
        truncated,
        &expected("out.test.aqc"),
        true,
        &["all_trec"],
        |options| {
            options.complete = true;
        },
    );
    check(
        qrels,
        truncated,
        &expected("out.test.aqcM"),
        true,
        &["all_trec"],
        |options| {
            options.complete = true;
            options.most_documents = 100;
        },
    );
    check(
        "trec_eval/test/qrels.rel_level",
        run,
        &expected("out.test.aql"),
        true,
        &["all_trec", "relstring.20"],
        |options| options.relevant_from = 2,
    );
    let measures = [
        "iprec_at_recall..10,.20,.25,.75,.50",
        "P.5,7,3",
        "recall.20,2000",
        "Rprec_mult.5.0,0.2,0.35",
        "utility.2,-1,0,0",
        "11pt_avg..25,.5,.75",
        "ndcg.1=3,2=9,4=4.5",
        "ndcg_cut.10,20,23.4",
        "success.2,5,20",
    ];
    check(
        qrels,
        run,
        &expected("out.test.meas_params"),
        true,
        &measures,
        |_| {},
    );
    check(
        "trec_eval/test/qrels.comment.test.gz",
        "trec_eval/test/results.comment.test.gz",
        &expected("out.comment.test"),
        false,
        &["official"],
        |_| {},
    );
}

#[test]
fn a_run_over_cranfield_has_the_figures_of_trec_eval_with_and_without_ties() {
    let qrels = "ir/cranfield/qrels.txt";
    for kind in ["bm25", "ties"] {
        let run = format!("trec_eval/cranfield-bm25/run.{kind}.gz");
        let of_all = format!("trec_eval/cranfield-bm25/expected.{kind}.all_trec.txt");
        let by_query = format!("trec_eval/cranfield-bm25/expected.{kind}.all_trec.q.txt.gz");
        check(qrels, &run, &of_all, false, &["all_trec"], |_| {});
        check(qrels, &run, &by_query, true, &["all_trec"], |_| {});
    }
}

#[test]
fn all_figures_of_single_features_of_ohsumed_are_reproduced() {
    let parts = (1..=5).map(|part| data_file(&format!("letor/OHSUMED-2.0/S{part}.txt.gz")));
    let (Some(parts), Some(figures)) = (
        parts.collect::<Option<Vec<PathBuf>>>(),
        data_file("letor/OHSUMED-2.0/single-features.tsv"),
    ) else {
        return;
    };
    let sources: Vec<Source> = parts.into_iter().map(Source::Path).collect();
    let table = RankingTable::read_files(&sources).unwrap();
    assert_eq!((table.query_count(), table.row_count()), (106, 16_140));
    assert_eq!(table.feature_count(), 25);
    assert_eq!(table.document(0), "40626");
    let figures = text(figures);
    let mut lines = figures.lines();
    let names: Vec<&str> = lines.next().unwrap().split('\t').collect();
    let mut compared = 0;
    for line in lines {
        let cells: Vec<f64> = line.split('\t').map(|cell| cell.parse().unwrap()).collect();
        let feature = cells[0] as usize - 1;
        let scores: Vec<f64> = (0..table.row_count())
            .map(|row| f64::from(table.row(row)[feature]))
            .collect();
        for counting in [LetorCounting::Three, LetorCounting::Four] {
            // No list is shorter than ten: both versions agree.
            let mean = evaluate_letor(&table, &scores, counting, 1).unwrap().mean;
            let ours = mean.ndcg.iter().chain(&mean.precision);
            let ours = ours.chain(std::iter::once(&mean.average_precision));
            for ((ours, theirs), name) in ours.zip(&cells[1..]).zip(&names[1..]) {
                assert!(
                    (ours - theirs).abs() < 0.0005,
                    "feature {}: {name} is {ours}, not {theirs}",
                    feature + 1
                );
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 2 * 525);
}

#[test]
fn real_tables_have_their_known_counts() {
    let count = |name: &str, queries, rows, functions, missing: f64| {
        let parts = (1..=5).map(|part| data_file(&format!("letor/{name}/S{part}.txt.gz")));
        let Some(parts) = parts.collect::<Option<Vec<PathBuf>>>() else {
            return;
        };
        let sources: Vec<Source> = parts.into_iter().map(Source::Path).collect();
        let table = RankingTable::read_files(&sources).unwrap();
        assert_eq!((table.query_count(), table.row_count()), (queries, rows));
        assert_eq!(table.feature_count(), functions);
        let share = table.missing_count() as f64 / table.values().len() as f64;
        assert!((share - missing).abs() < 0.0005, "{name}: {share}");
    };
    count("MQ2008", 784, 15_211, 46, 0.0);
    count("MQ2007-agg", 1_692, 69_623, 21, 0.348);
}

#[test]
fn short_lists_count_nothing_in_version_four() {
    let Some(path) = data_file("letor/MQ2008/S1.txt.gz") else {
        return;
    };
    let table = RankingTable::read(&Source::Path(path)).unwrap();
    // Feature 39 is the best alone.
    let scores: Vec<f64> = (0..table.row_count())
        .map(|row| f64::from(table.row(row)[38]))
        .collect();
    let three = evaluate_letor(&table, &scores, LetorCounting::Three, 1).unwrap();
    let four = evaluate_letor(&table, &scores, LetorCounting::Four, 1).unwrap();
    assert_eq!(three.mean.ndcg[0], four.mean.ndcg[0]);
    assert_eq!(three.mean.average_precision, four.mean.average_precision);
    assert!(four.mean.ndcg[9] < 0.6 * three.mean.ndcg[9]);
    assert!(four.short > table.query_count() / 3);
}

fn table_of(labels: &[i32]) -> RankingTable {
    let documents = vec![""; labels.len()];
    let queries = [("q".to_owned(), labels.len())];
    let values = vec![0.0; labels.len()];
    RankingTable::new(
        vec!["1".into()],
        &queries,
        &documents,
        labels.to_vec(),
        values,
    )
    .unwrap()
}

#[test]
fn equal_scores_keep_the_order_of_the_file_in_letor_counting() {
    let three = LetorCounting::Three;
    let first = evaluate_letor(&table_of(&[1, 0, 0]), &[0.5; 3], three, 1).unwrap();
    let last = evaluate_letor(&table_of(&[0, 0, 1]), &[0.5; 3], three, 1).unwrap();
    assert_eq!(first.mean.average_precision, 1.0);
    assert_eq!(last.mean.average_precision, 1.0 / 3.0);
    // The third place is worth 1/log2(3), the first and the second 1.
    assert_eq!(last.mean.ndcg[2], 1.0 / 3f64.log2());
    assert_eq!(last.mean.precision[9], 0.1);
    assert!(evaluate_letor(&table_of(&[1]), &[0.5; 2], three, 1).is_err());
    assert!(evaluate_letor(&table_of(&[1]), &[f64::NAN], three, 1).is_err());
    let none = evaluate_letor(&table_of(&[0, -3]), &[2.0, 1.0], three, 1).unwrap();
    assert_eq!(
        (none.mean.ndcg[0], none.without_relevant, none.short),
        (0.0, 1, 1)
    );
}

/// A list of grades and the grades of documents that were judged and not listed.
fn lists() -> impl Strategy<Value = (Vec<Mark>, Vec<i32>)> {
    let mark = prop_oneof![
        (0..4i32).prop_map(Mark::Grade),
        Just(Mark::NotJudged),
        Just(Mark::Unknown),
    ];
    let marks = proptest::collection::vec(mark, 0..30);
    let rest = proptest::collection::vec(-1..4i32, 0..10);
    (marks, rest).prop_map(|(marks, mut judged)| {
        judged.extend(marks.iter().filter_map(|mark| mark.grade()));
        (marks, judged)
    })
}

proptest! {
    #[test]
    fn measures_of_lists_stay_between_nothing_and_everything((marks, judged) in lists(), from in 1..4i32) {
        let list = JudgedList::new(marks, &judged, from);
        for measure in MeasureSet::everything().measures() {
            let name = measure.kind().name();
            if name.starts_with("num_") || name == "utility" {
                continue;
            }
            for number in measure.numbers(&list, 0) {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&number), "{name}: {number}");
            }
        }
    }

    #[test]
    fn the_best_order_is_worth_one((mut marks, judged) in lists()) {
        // List all that was judged, best first.
        marks.clear();
        let mut grades: Vec<i32> = judged.iter().copied().filter(|&grade| grade >= 0).collect();
        grades.sort_by(|a, b| b.cmp(a));
        marks.extend(grades.iter().map(|&grade| Mark::Grade(grade)));
        let list = JudgedList::new(marks, &judged, 1);
        if list.relevant() > 0 {
            for value in [
                list.average_precision(),
                list.ndcg(&Gains::default()),
                list.ndcg_cut(3),
                list.ndcg_at_relevant(&Gains::default()),
                list.ndcg_at_levels(&Gains::default()),
                list.bpref(),
                list.reciprocal_rank(),
                list.r_precision(),
                list.interpolated_precision(1.0),
                list.binary_normalised_gain(),
                list.normalised_gain(&Gains::default()),
            ] {
                prop_assert!((value - 1.0).abs() < 1e-9, "{value}");
            }
            // Its epsilon takes a little away.
            prop_assert!((list.inferred_average_precision() - 1.0).abs() < 1e-4);
        }
    }

    #[test]
    fn average_precision_is_the_mean_of_precisions((marks, judged) in lists()) {
        let list = JudgedList::new(marks, &judged, 1);
        let slow: f64 = list.relevant_at().iter().map(|&rank| list.precision(rank + 1)).sum();
        let slow = if list.relevant() == 0 { 0.0 } else { slow / list.relevant() as f64 };
        prop_assert!((list.average_precision() - slow).abs() < 1e-12);
        for cut in 1..40 {
            let slow = list.marks().iter().take(cut).filter(|mark| mark.grade().is_some_and(|g| g >= 1)).count();
            prop_assert_eq!(list.relevant_up_to(cut), slow);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let source = Source::Path(file.path().to_owned());
        let _ = Qrels::read(&source);
        let _ = Run::read(&source);
        let _ = RankingTable::read(&source);
    }

    #[test]
    fn lines_that_look_right_are_read_or_refused(
        words in proptest::collection::vec(
            proptest::sample::select(vec!["q", "qid:1", "qid:", "1", "2:NULL", "1:1e400", "1:-0", "0:1", "99999999999:1", "#", "#docid =", "-3", "nan", "1.5", "\n", "\t", "\u{feff}", "é"]),
            0..60,
        )
    ) {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), words.join(" ")).unwrap();
        let source = Source::Path(file.path().to_owned());
        let _ = Qrels::read(&source);
        let _ = Run::read(&source);
        if let Ok(table) = RankingTable::read(&source) {
            prop_assert_eq!(table.values().len(), table.row_count() * table.feature_count());
        }
    }
}
