//! `calibrant rank evaluate`: trec_eval's layout, comparisons, LETOR counting, probabilities, and everything that can be wrong.

use crate::common;
use crate::data_file;

use std::io::Read;

use common::{Sandbox, gzip};
use data_file::data_file;

const QRELS: &str = "q1 0 a 2\nq1 0 b 0\nq1 0 c 1\nq2 0 a 1\nq2 0 d 0\n";
/// By hand: q1 lists c, b, a: AP (1/1 + 2/3)/2 = 0.8333; q2 lists d, a: AP 1/2.
const RUN: &str = "q2 Q0 a 1 0.4 mine\nq1 Q0 a 1 0.1 mine\nq1 Q0 b 2 0.2 mine\nq1 Q0 c 3 0.9 mine\nq2 Q0 d 2 0.5 mine\n";
/// q1 lists a, c, b: AP 1; q2 lists a, d: AP 1.
const BETTER: &str = "q1 Q0 a 1 0.9 other\nq1 Q0 b 2 0.1 other\nq1 Q0 c 3 0.8 other\nq2 Q0 a 1 0.5 other\nq2 Q0 d 2 0.4 other\n";

fn rankings() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("qrels.txt", QRELS);
    sandbox.write("run.txt", RUN);
    sandbox.write("better.txt", BETTER);
    sandbox
}

/// Runs the program, which must refuse with these words and write nothing.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let output = sandbox.run(&[&["rank", "evaluate"], arguments].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert!(output.stdout.is_empty());
    for piece in pieces {
        assert!(stderr.contains(piece), "{piece:?} is not in {stderr}");
    }
    assert_eq!(sandbox.contents(), before);
}

/// Standard output and standard error of a run that succeeds.
#[track_caller]
fn both(sandbox: &Sandbox, arguments: &[&str]) -> (String, String) {
    let output = sandbox.run(&[&["rank", "evaluate"], arguments].concat());
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

#[test]
fn one_run_is_shown_in_the_layout_of_trec_eval() {
    let sandbox = rankings();
    let (shown, said) = both(
        &sandbox,
        &["-q", "-m", "map", "-mP.1", "qrels.txt", "run.txt"],
    );
    let expected = "map                   \tq1\t0.8333\nP_1                   \tq1\t1.0000\nmap                   \tq2\t0.5000\nP_1                   \tq2\t0.0000\nmap                   \tall\t0.6667\nP_1                   \tall\t0.5000\n";
    assert_eq!((shown.as_str(), said.as_str()), (expected, ""));
    let (official, _) = both(&sandbox, &["qrels.txt", "run.txt"]);
    assert!(
        official.starts_with("runid                 \tall\tmine\nnum_q                 \tall\t2\n")
    );
    assert_eq!(official.lines().count(), 30);
}

#[test]
fn options_with_a_letter_are_those_of_trec_eval() {
    let sandbox = rankings();
    // Only a is relevant from grade 2: AP 1/3 for q1, nothing for q2.
    let (shown, _) = both(&sandbox, &["-l2", "-m", "map", "qrels.txt", "run.txt"]);
    assert_eq!(shown, "map                   \tall\t0.1667\n");
    // The first document alone: AP (1/1)/2 and 0.
    let (shown, _) = both(&sandbox, &["-M1", "-m", "map", "qrels.txt", "run.txt"]);
    assert_eq!(shown, "map                   \tall\t0.2500\n");
}

#[test]
fn queries_on_one_side_alone_are_told_and_counted_with_complete() {
    let sandbox = rankings();
    sandbox.write("part.txt", "q1 Q0 a 1 1 part\nq9 Q0 a 1 1 part\n");
    let (shown, said) = both(&sandbox, &["-m", "map", "qrels.txt", "part.txt"]);
    assert_eq!(shown, "map                   \tall\t0.5000\n");
    assert!(said.contains("note: part.txt: 1 query without judgements ignored"));
    assert!(said.contains("warning: part.txt: 1 query with judgements not in the run, and left out of all means; -c counts them as 0"));
    let (shown, said) = both(&sandbox, &["-c", "-m", "map", "qrels.txt", "part.txt"]);
    assert_eq!(shown, "map                   \tall\t0.2500\n");
    assert!(!said.contains("warning"));
}

#[test]
fn compressed_files_and_standard_input_are_read() {
    let sandbox = rankings();
    sandbox.write("qrels.gz", gzip(QRELS.as_bytes()));
    sandbox.write("run.zst", zstd::encode_all(RUN.as_bytes(), 3).unwrap());
    let (shown, _) = both(&sandbox, &["-m", "map", "qrels.gz", "run.zst"]);
    let piped = sandbox.succeed_with_input(
        &["rank", "evaluate", "-m", "map", "qrels.txt", "-"],
        RUN.as_bytes(),
    );
    assert_eq!(shown, piped);
}

#[test]
fn json_holds_what_is_printed() {
    let sandbox = rankings();
    let found = sandbox.json(&[
        "rank",
        "evaluate",
        "--json",
        "-q",
        "-m",
        "all_trec",
        "qrels.txt",
        "run.txt",
    ]);
    let run = &found["runs"][0];
    assert_eq!(
        (run["name"].as_str(), run["file"].as_str()),
        (Some("mine"), Some("run.txt"))
    );
    assert_eq!(run["measures"]["num_ret"], 5);
    assert!((run["measures"]["map"].as_f64().unwrap() - (5.0 / 6.0 + 0.5) / 2.0).abs() < 1e-12);
    assert_eq!(run["queries"][0]["measures"]["relstring"], "102");
    assert_eq!(run["queries"][1]["query"], "q2");
}

#[test]
fn several_runs_are_compared_with_the_first_or_the_best() {
    let sandbox = rankings();
    let (shown, _) = both(&sandbox, &["qrels.txt", "run.txt", "better.txt"]);
    assert!(
        shown.starts_with("map over 2 queries, against mine\n"),
        "{shown}"
    );
    let other = shown
        .lines()
        .find(|line| line.starts_with("other"))
        .unwrap();
    let cells: Vec<&str> = other.split_whitespace().collect();
    // By hand: both of two up is a chance of one in two for both tests that count.
    assert_eq!(cells[..5], ["other", "1.0000", "+0.3333", "2/0", "0.5000"]);
    assert_eq!(cells[6], "0.5000");
    let found = sandbox.json(&[
        "rank",
        "evaluate",
        "--json",
        "--baseline",
        "best",
        "-m",
        "map",
        "-m",
        "P.1",
        "qrels.txt",
        "run.txt",
        "better.txt",
    ]);
    let comparison = &found["comparisons"][0];
    assert_eq!(comparison["baseline"], 1);
    assert_eq!(comparison["systems"][0]["against_baseline"]["losses"], 2);
    assert_eq!(found["comparisons"][1]["measure"], "P_1");
    // Runs with one name are distinguished by their files.
    let (shown, _) = both(&sandbox, &["qrels.txt", "run.txt", "./run.txt"]);
    assert!(shown.contains("against run.txt"), "{shown}");
}

#[test]
fn runs_are_compared_on_the_queries_that_all_have() {
    let sandbox = rankings();
    sandbox.write("part.txt", "q1 Q0 a 1 1 part\n");
    let (shown, said) = both(&sandbox, &["qrels.txt", "run.txt", "part.txt"]);
    assert!(shown.starts_with("map over 1 query"), "{shown}");
    assert!(said.contains("only 1 query in all runs"), "{said}");
    let (shown, _) = both(&sandbox, &["-c", "qrels.txt", "run.txt", "part.txt"]);
    assert!(shown.starts_with("map over 2 queries"), "{shown}");
}

const TEST: &str =
    "0 qid:1 1:0.5 #docid = a\n2 qid:1 1:0.1 #docid = b\n1 qid:1 1:0.2 #docid = c\n0 qid:2 1:1\n";

#[test]
fn letor_counting_is_told_apart_and_its_trap_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("test.txt", TEST);
    sandbox.write("scores.txt", "0.9\n0.8\n0.7\n0\n");
    let three = [
        "--letor", "3", "-q", "-m", "MAP", "-m", "ndcg@2", "-m", "NDCG@4",
    ];
    let (shown, said) = both(
        &sandbox,
        &[&three[..], &["test.txt", "scores.txt"]].concat(),
    );
    // By hand: labels 0 2 1; AP (1/2 + 2/3)/2; NDCG@2 3/4; query 2 has nothing relevant.
    assert!(
        shown.starts_with("MAP                   \t1\t0.5833\nNDCG@2                \t1\t0.7500\n"),
        "{shown}"
    );
    assert!(
        shown.contains("MAP                   \tall\t0.2917\n"),
        "{shown}"
    );
    assert!(
        said.contains("1 of 2 queries have no relevant document and count as 0"),
        "{said}"
    );
    let four = ["--letor", "4", "-m", "NDCG@4", "test.txt", "scores.txt"];
    let (shown, said) = both(&sandbox, &four);
    assert_eq!(shown, "NDCG@4                \tall\t0.0000\n");
    assert!(
        said.contains("2 of 2 queries have fewer than 10 documents"),
        "{said}"
    );
    // From grade 2 only b is relevant.
    let (shown, _) = both(
        &sandbox,
        &[
            "--letor",
            "3",
            "--relevant-from",
            "2",
            "-m",
            "MAP",
            "test.txt",
            "scores.txt",
        ],
    );
    assert_eq!(shown, "MAP                   \tall\t0.2500\n");
    sandbox.write("others.txt", "0.1\n0.8\n0.7\n0\n");
    let (shown, _) = both(
        &sandbox,
        &["--letor", "3", "test.txt", "scores.txt", "others.txt"],
    );
    assert!(
        shown.contains("MAP over 2 queries, against scores.txt"),
        "{shown}"
    );
    let found = sandbox.json(&[
        "rank",
        "evaluate",
        "--letor",
        "4",
        "--json",
        "test.txt",
        "scores.txt",
    ]);
    assert_eq!(found["rankings"][0]["measures"]["P@1"], 0.0);
}

#[test]
fn probabilities_are_measured_and_other_scores_refused() {
    let sandbox = rankings();
    let (shown, _) = both(&sandbox, &["--probabilities", "-q", "qrels.txt", "run.txt"]);
    // By hand: expected 1.2 and 0.9, observed 2 and 1.
    assert!(shown.contains("1.05") && shown.contains("1.50"), "{shown}");
    let found = sandbox.json(&[
        "rank",
        "evaluate",
        "--probabilities",
        "--json",
        "-q",
        "qrels.txt",
        "run.txt",
        "better.txt",
    ]);
    let first = &found["rankings"][0];
    assert!((first["count_error"].as_f64().unwrap() - 0.45).abs() < 1e-12);
    assert_eq!(first["queries"][0]["observed"], 2);
    assert!(
        first["calibration"]["yes_no"]["log_loss"].as_f64().unwrap()
            > found["rankings"][1]["calibration"]["yes_no"]["log_loss"]
                .as_f64()
                .unwrap()
    );
    sandbox.write("raw.txt", "q1 Q0 a 1 0.5 raw\nq1 Q0 b 2 1.5 raw\n");
    refused(
        &sandbox,
        &["--probabilities", "qrels.txt", "raw.txt"],
        &[
            "raw.txt, line 2: the score 1.5 is not a probability",
            "hint: without --probabilities scores may be any numbers",
        ],
    );
    sandbox.write("test.txt", TEST);
    sandbox.write("sure.txt", "1\n0.5\n0.5\n0\n");
    let (shown, said) = both(
        &sandbox,
        &["--letor", "3", "--probabilities", "test.txt", "sure.txt"],
    );
    assert!(shown.contains("sure.txt"));
    assert!(
        said.contains("1 document stated with certainty and wrong"),
        "{said}"
    );
    sandbox.write("bad.txt", "1\n0.5\n-0.5\n0\n");
    refused(
        &sandbox,
        &["--letor", "3", "--probabilities", "test.txt", "bad.txt"],
        &["bad.txt, line 3: the score -0.5"],
    );
}

#[test]
fn everything_that_is_wrong_with_files_is_named_with_its_place() {
    let sandbox = rankings();
    sandbox.write("test.txt", TEST);
    sandbox.write("scores.txt", "0.9\n0.8\n0.7\n0\n");
    for (name, text, piece) in [
        (
            "twice",
            "q1 Q0 a 1 1 x\nq1 Q0 b 1 1 x\nq1 Q0 a 1 0 x\n",
            "line 3, field `document`: document `a` of query `q1` was already listed in line 1",
        ),
        (
            "short",
            "q1 Q0 a 1 1\n",
            "line 1: has 5 columns; a run has six",
        ),
        (
            "word",
            "q1 Q0 a 1 high x\n",
            "line 1, column 11, field `score`: `high` is not a finite number",
        ),
        ("nan", "q1 Q0 a 1 NaN x\n", "`NaN` is not a finite number"),
        (
            "other",
            "q7 Q0 a 1 1 x\n",
            "no query of the run is judged; its queries (1) are such as `q7`, those of the judgements (2) such as `q1`",
        ),
        ("empty", "", "is empty"),
        ("blank", "\n#\n", "has no rows"),
    ] {
        sandbox.write(name, text);
        refused(&sandbox, &["qrels.txt", name], &[name, piece]);
    }
    sandbox.write("bytes", b"q1 Q0 \xff 1 1 x\n");
    refused(
        &sandbox,
        &["qrels.txt", "bytes"],
        &["bytes, line 1, column 7: not valid UTF-8"],
    );
    refused(
        &sandbox,
        &["run.txt", "run.txt"],
        &["run.txt, line 1", "is this a run?"],
    );
    refused(
        &sandbox,
        &["qrels.txt", "qrels.txt"],
        &["is this a file of judgements?"],
    );
    refused(
        &sandbox,
        &["qrels.txt", "nowhere.txt"],
        &["nowhere.txt: no such file", "hint: check the path"],
    );
    refused(&sandbox, &["qrels.txt", "."], &["is a folder; name a file"]);
    for (name, text, piece) in [
        (
            "torn",
            "0 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:1\n",
            "line 3, column 3, field `qid`: query `1` began in line 1, and other queries come between",
        ),
        ("zero", "0 qid:1 0:1\n", "`0:1` needs a number from 1"),
        (
            "huge",
            "0 qid:1 99999999999999999999:1\n",
            "needs a number from 1 to 100000",
        ),
        (
            "infinite",
            "0 qid:1 1:inf\n",
            "`1:inf` needs a finite number, or NULL",
        ),
        (
            "again",
            "0 qid:1 1:1 1:2\n",
            "`1:2` gives a feature of this line a second time",
        ),
    ] {
        sandbox.write(name, text);
        refused(
            &sandbox,
            &["--letor", "3", name, "scores.txt"],
            &[name, piece],
        );
    }
    sandbox.write("few.txt", "1\n2\n");
    refused(
        &sandbox,
        &["--letor", "3", "test.txt", "few.txt"],
        &["few.txt has 2 scores, and test.txt 4 rows", "hint:"],
    );
    refused(
        &sandbox,
        &["--letor", "3", "test.txt", "run.txt"],
        &["a file of scores has one number per line"],
    );
}

#[test]
fn everything_that_is_wrong_with_options_is_named() {
    let sandbox = rankings();
    sandbox.write("test.txt", TEST);
    sandbox.write("scores.txt", "0.9\n0.8\n0.7\n0\n");
    let files = ["qrels.txt", "run.txt"];
    for (options, piece) in [
        (
            &["-m", "mapp"][..],
            "there is no measure `mapp`; the measures are runid",
        ),
        (&["-m", "P.0"], "0 is not a positive number of documents"),
        (&["-m", "P.5", "-m", "P.10"], "`P.5` is given too"),
        (
            &["-m", "utility.1,1,1,1"],
            "depends on the number of documents in the collection",
        ),
        (&["-l0"], "0 is not in"),
        (&["-M0"], "--most-documents"),
        (&["--letor", "5"], "invalid value '5'"),
        (&["--probabilities", "-c"], "cannot be used with"),
        (&["--letor", "3", "-c"], "cannot be used with"),
    ] {
        refused(&sandbox, &[options, &files[..]].concat(), &[piece]);
    }
    refused(&sandbox, &["-", "-"], &["`-` is given twice"]);
    refused(
        &sandbox,
        &["-q", "qrels.txt", "run.txt", "better.txt"],
        &["-q shows the queries of one ranking", "hint: add --json"],
    );
    refused(
        &sandbox,
        &["-m", "num_ret", "qrels.txt", "run.txt", "better.txt"],
        &["can be compared query by query"],
    );
    refused(
        &sandbox,
        &["--letor", "3", "-m", "map@3", "test.txt", "scores.txt"],
        &["LETOR has no measure `map@3`"],
    );
    let (shown, _) = both(
        &sandbox,
        &["-N", "100", "-m", "utility.1,1,1,1", "qrels.txt", "run.txt"],
    );
    assert_eq!(shown, "utility_1,1,1,1       \tall\t100.0000\n");
}

#[test]
fn the_program_prints_what_trec_eval_prints() {
    let (Some(qrels), Some(run), Some(expected)) = (
        data_file("ir/cranfield/qrels.txt"),
        data_file("trec_eval/cranfield-bm25/run.ties.gz"),
        data_file("trec_eval/cranfield-bm25/expected.ties.all_trec.q.txt.gz"),
    ) else {
        return;
    };
    let mut theirs = String::new();
    let packed = std::fs::File::open(expected).unwrap();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut theirs)
        .unwrap();
    let sandbox = Sandbox::new();
    let (ours, _) = both(
        &sandbox,
        &[
            "-q",
            "-m",
            "all_trec",
            qrels.to_str().unwrap(),
            run.to_str().unwrap(),
        ],
    );
    assert!(ours == theirs, "the output differs");
}
