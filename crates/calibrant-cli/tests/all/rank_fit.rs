//! `calibrant rank fit`, `rank predict`, `rank outlook` and `inspect` of ranking models, good input and bad.

use crate::common;
mod judgements;
mod outlook;

use std::fmt::Write as _;

use common::Sandbox;

/// Queries with ten documents each; column 1 helps, column 2 misleads, column 3 is noise that may be missing.
fn letor(first: usize, queries: usize) -> String {
    let mut text = String::new();
    for query in first..first + queries {
        for document in 0..10 {
            let relevant = (query + document) % 3 == 0;
            let grade = if relevant {
                1 + (query + document) % 2
            } else {
                0
            };
            let wobble = ((query * 7 + document * 13) % 10) as f64 / 10.0;
            let helps = if relevant { 0.8 } else { 0.2 } + 0.5 * wobble;
            let noise = match document % 4 {
                0 => "NULL".to_owned(),
                _ => format!("{}", (query * 31 + document * 17) % 7),
            };
            writeln!(
                text,
                "{grade} qid:{query} 1:{helps} 2:{} 3:{noise} #docid = d{query}-{document}",
                1.0 - helps
            )
            .unwrap();
        }
    }
    text
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.txt", letor(0, 20));
    sandbox.write("vali.txt", letor(100, 8));
    sandbox.write("test.txt", letor(200, 8));
    sandbox
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let output = sandbox.run(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{said}");
    for part in parts {
        assert!(said.contains(part), "{arguments:?}: no `{part}` in\n{said}");
    }
}

#[test]
fn every_loss_learns_a_ranking_that_can_be_used() {
    let sandbox = sandbox();
    for loss in [
        "map", "roc", "ndcg@5", "ndcg", "rr", "acc", "acc2", "acc3", "acc4", "pairs",
    ] {
        for bins in ["0", "10"] {
            let arguments = [
                "rank",
                "fit",
                "train.txt",
                "--validation",
                "vali.txt",
                "--loss",
                loss,
                "--bins",
                bins,
                "--grades",
                "one",
                "--c",
                "0.1,1,10",
                "-o",
                "model",
                "--json",
            ];
            let summary = sandbox.json(&arguments);
            let trials = summary["trials"].as_array().unwrap();
            assert_eq!(trials.len(), 3, "{loss}");
            assert_eq!(summary["choice"], "validation");
            let map = summary["training_map"].as_f64().unwrap();
            assert!(map > 0.8, "{loss} {bins}: {map}");
            for trial in trials {
                let (primal, dual) = (&trial["primal"], &trial["dual"]);
                let gap = primal.as_f64().unwrap() - dual.as_f64().unwrap();
                assert!(gap <= 1.1e-3 * primal.as_f64().unwrap(), "{loss} {trial}");
            }
            sandbox.succeed(&["rank", "predict", "model", "test.txt", "-o", "scores.txt"]);
            let scores = String::from_utf8(sandbox.read("scores.txt")).unwrap();
            assert_eq!(scores.lines().count(), 80);
            assert!(
                scores
                    .lines()
                    .all(|line| line.parse::<f64>().unwrap().is_finite())
            );
            let shown = sandbox.succeed(&["inspect", "model"]);
            assert!(
                shown.contains("ranking model") && shown.contains("held-out MAP"),
                "{shown}"
            );
        }
    }
}

#[test]
fn the_result_is_told_on_standard_output() {
    let sandbox = sandbox();
    let output = sandbox.run(&["rank", "fit", "train.txt", "-o", "model"]);
    assert!(output.status.success() && output.stderr.is_empty());
    let said = String::from_utf8(output.stdout).unwrap();
    for part in [
        "held-out MAP",
        "primal",
        "gap",
        "planes",
        "20 queries",
        "held-out training queries",
        "MAP counts the relevant documents that the files list",
    ] {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
}

#[test]
fn what_is_not_given_is_chosen_and_told() {
    let sandbox = sandbox();
    let arguments = ["rank", "fit", "train.txt", "--validation", "vali.txt"];
    let rest = ["--c", "0.1,10", "-o", "model"];
    let output = sandbox.run(&[&arguments[..], &rest].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let chosen = sandbox.json(&["inspect", "model", "--json"]);
    let shown = String::from_utf8(sandbox.run(&["inspect", "model"]).stdout).unwrap();
    let held_out = |summary: &serde_json::Value| -> f64 {
        let chosen = summary["chosen"].as_u64().unwrap() as usize;
        summary["trials"][chosen]["held_out_map"].as_f64().unwrap()
    };
    let mut all = Vec::new();
    for grades in ["one", "every"] {
        for bins in ["0", "10"] {
            let given = ["--grades", grades, "--bins", bins, "--folds", "5", "--json"];
            let summary = sandbox.json(&[&arguments[..], &given, &rest].concat());
            assert_eq!(summary["settings_tried"], serde_json::json!([]));
            let map = held_out(&summary);
            for text in [&said, &shown] {
                assert!(text.contains(&format!("{map:.4}")), "no {map} in\n{text}");
            }
            all.push(map);
        }
    }
    let tried = chosen["summary"]["settings_tried"].as_array().unwrap();
    let tried: Vec<f64> = tried
        .iter()
        .map(|one| one["held_out_map"].as_f64().unwrap())
        .collect();
    assert_eq!(tried, all);
    let best = all.into_iter().fold(0.0, f64::max);
    assert_eq!(held_out(&chosen["summary"]), best);
    assert_eq!(chosen["summary"]["choice"], "both");
}

#[test]
fn with_one_cost_there_is_still_something_to_choose() {
    let sandbox = sandbox();
    let fit = ["rank", "fit", "train.txt", "--c", "1", "-o", "model"];
    let summary = sandbox.json(&[&fit[..], &["--json"]].concat());
    assert_eq!(
        (&summary["choice"], &summary["choice_queries"]),
        (&"given".into(), &20.into())
    );
    assert_eq!(summary["settings_tried"].as_array().unwrap().len(), 4);
    // Given all, there is nothing to hold queries out for.
    let all = ["--bins", "0", "--grades", "one", "--json"];
    let summary = sandbox.json(&[&fit[..], &all].concat());
    assert_eq!(summary["choice_queries"], 0);
    // A single query cannot be held out from itself.
    sandbox.write("single.txt", letor(0, 1));
    let single = ["rank", "fit", "single.txt", "--c", "1", "-o", "single"];
    let output = sandbox.run(&single);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--bins and --grades"), "{said}");
    sandbox.succeed(&[&single[..], &all[..4]].concat());
}

#[test]
fn files_in_parts_on_standard_input_and_compressed_are_read() {
    let sandbox = sandbox();
    sandbox.write("part1.txt", letor(0, 12));
    sandbox.write("part2.txt", letor(12, 8));
    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "whole"]);
    sandbox.succeed(&[
        "rank",
        "fit",
        "part1.txt",
        "part2.txt",
        "--c",
        "1",
        "-o",
        "parts",
    ]);
    assert_eq!(sandbox.read("whole"), sandbox.read("parts"));
    let input = sandbox.read("train.txt");
    sandbox.succeed_with_input(&["rank", "fit", "-", "--c", "1", "-o", "piped"], &input);
    assert_eq!(sandbox.read("whole"), sandbox.read("piped"));
}

#[test]
fn the_model_does_not_depend_on_the_number_of_threads() {
    let sandbox = sandbox();
    sandbox.succeed(&["--threads", "1", "rank", "fit", "train.txt", "-o", "one"]);
    sandbox.succeed(&["--threads", "5", "rank", "fit", "train.txt", "-o", "five"]);
    assert_eq!(sandbox.read("one"), sandbox.read("five"));
}

#[test]
fn a_run_lists_the_best_document_first() {
    let sandbox = sandbox();
    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "model"]);
    let run = sandbox.succeed(&[
        "rank", "predict", "model", "test.txt", "--run", "--name", "mine",
    ]);
    let first: Vec<&str> = run.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(first.len(), 6);
    assert_eq!((first[1], first[3], first[5]), ("Q0", "1", "mine"));
    assert!(first[2].starts_with("d2"));
    assert_eq!(run.lines().count(), 80);
    sandbox.write("nameless.txt", "1 qid:1 1:0.5\n");
    let arguments = ["rank", "predict", "model", "nameless.txt", "--run"];
    refused(&sandbox, &arguments, &["document", "docid"]);
}

#[test]
fn runs_become_columns() {
    let sandbox = Sandbox::new();
    let (mut qrels, mut good, mut bad) = (String::new(), String::new(), String::new());
    for query in 1..=12 {
        for document in 0..6 {
            let relevant = usize::from((query + document) % 3 == 0);
            writeln!(qrels, "{query} 0 d{document} {relevant}").unwrap();
            let wobble = (query * 5 + document * 3) % 4;
            writeln!(
                good,
                "{query} Q0 d{document} 1 {} good",
                relevant * 3 + wobble
            )
            .unwrap();
            if document != 2 {
                writeln!(
                    bad,
                    "{query} Q0 d{document} 1 {} bad",
                    10 - relevant * 3 + wobble
                )
                .unwrap();
            }
        }
    }
    sandbox.write("qrels.txt", qrels);
    sandbox.write("good.txt", &good);
    sandbox.write("bad.txt", bad);
    let fit = [
        "rank",
        "fit",
        "--qrels",
        "qrels.txt",
        "--from-run",
        "good.txt",
        "--from-run",
        "bad.txt",
        "-o",
        "model",
        "--json",
    ];
    let summary = sandbox.json(&fit);
    assert_eq!(summary["queries"], 12);
    assert_eq!(summary["missing_values"], 12);
    let shown = sandbox.json(&["inspect", "model", "--json"]);
    assert_eq!(shown["kind"], "ranking");
    let functions = shown["functions"].as_array().unwrap();
    let names: Vec<&str> = functions
        .iter()
        .map(|f| f["function"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"good") && names.contains(&"bad"));
    let run = sandbox.succeed(&[
        "rank",
        "predict",
        "model",
        "--from-run",
        "good.txt",
        "--from-run",
        "bad.txt",
    ]);
    assert_eq!(run.lines().count(), 72);
    sandbox.write("same.txt", good);
    let same = [
        "rank",
        "fit",
        "--qrels",
        "qrels.txt",
        "--from-run",
        "good.txt",
        "--from-run",
        "same.txt",
        "-o",
        "m",
    ];
    refused(&sandbox, &same, &["two runs have the name `good`"]);
    sandbox.write("other.txt", "99 0 d1 1\n");
    let other = [
        "rank",
        "fit",
        "--qrels",
        "other.txt",
        "--from-run",
        "good.txt",
        "-o",
        "m",
    ];
    refused(&sandbox, &other, &["no query of the runs is judged"]);
}

#[test]
fn columns_that_the_model_does_not_know_are_refused_unless_told_otherwise() {
    let sandbox = sandbox();
    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "model"]);
    sandbox.write("wide.txt", "0 qid:1 1:0.5 2:0.5 3:1 4:9 5:9\n");
    refused(
        &sandbox,
        &["rank", "predict", "model", "wide.txt"],
        &["2 of the columns", "`4`", "--ignore-unknown"],
    );
    let wide = sandbox.succeed(&["rank", "predict", "model", "wide.txt", "--ignore-unknown"]);
    sandbox.write("usual.txt", "0 qid:1 1:0.5 2:0.5 3:1\n");
    assert_eq!(
        wide,
        sandbox.succeed(&["rank", "predict", "model", "usual.txt"])
    );
    sandbox.write("narrow.txt", "0 qid:1 1:0.5\n");
    sandbox.succeed(&["rank", "predict", "model", "narrow.txt"]);
}

#[test]
fn columns_are_known_by_name_and_by_number_where_a_file_has_no_names() {
    let sandbox = sandbox();
    let named = |names: &str, text: String| format!("# features: {names}\n{text}");
    sandbox.write(
        "named.txt",
        named("1=helps 2=misleads 3=noise", letor(0, 20)),
    );
    sandbox.write(
        "test-named.txt",
        named("1=helps 2=misleads 3=noise", letor(200, 8)),
    );
    // The first two columns change places, and their names with them.
    let turned = letor(200, 8)
        .replace(" 1:", " x:")
        .replace(" 2:", " 1:")
        .replace(" x:", " 2:");
    sandbox.write("turned.txt", named("1=misleads 2=helps 3=noise", turned));
    let fit = |train: &str, model: &str| {
        sandbox.succeed(&["rank", "fit", train, "--c", "1", "-o", model]);
    };
    fit("train.txt", "by-number");
    fit("named.txt", "by-name");
    let scores = |model: &str, test: &str| sandbox.succeed(&["rank", "predict", model, test]);
    let expected = scores("by-number", "test.txt");
    for (model, test) in [
        ("by-number", "test-named.txt"),
        ("by-name", "test.txt"),
        ("by-name", "test-named.txt"),
        ("by-name", "turned.txt"),
    ] {
        assert_eq!(scores(model, test), expected, "{model} {test}");
    }
    let curves = sandbox.json(&["inspect", "by-name", "--json"]);
    assert_eq!(curves["functions"][0]["function"], "helps");
    sandbox.write("other.txt", named("1=a 2=b 3=c", letor(200, 8)));
    refused(
        &sandbox,
        &["rank", "predict", "by-name", "other.txt"],
        &["3 of the columns: `a`, `b`, `c`", "`helps`"],
    );
    refused(
        &sandbox,
        &[
            "rank",
            "fit",
            "named.txt",
            "--validation",
            "other.txt",
            "-o",
            "m",
        ],
        &[
            "none of the columns that are learned from",
            "`a`",
            "`helps`",
        ],
    );
    refused(
        &sandbox,
        &["rank", "predict", "nowhere", "test.txt"],
        &["nowhere", "calibrant rank fit"],
    );
}

#[test]
fn queries_that_say_nothing_are_left_out_and_told() {
    let sandbox = sandbox();
    sandbox.write(
        "train.txt",
        format!(
            "{}0 qid:900 1:1\n0 qid:900 1:2\n1 qid:901 1:1\n",
            letor(0, 20)
        ),
    );
    let output = sandbox.run(&["rank", "fit", "train.txt", "--c", "1", "-o", "model"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("2 of 22 queries"),
        "{said}"
    );
}

#[test]
fn the_wrong_kind_of_model_is_told_both_ways() {
    let sandbox = sandbox();
    sandbox.succeed(&["rank", "fit", "train.txt", "--c", "1", "-o", "ranking"]);
    let mut texts = String::from("text,label\n");
    for i in 0..30 {
        writeln!(texts, "good word{i},yes\nbad word{i},no").unwrap();
    }
    sandbox.write("texts.csv", texts);
    sandbox.succeed(&["fit", "texts.csv", "-o", "texts"]);
    refused(
        &sandbox,
        &["predict", "ranking", "texts.csv"],
        &["is a ranking model", "rank predict"],
    );
    refused(
        &sandbox,
        &["evaluate", "ranking", "texts.csv"],
        &["is a ranking model"],
    );
    refused(
        &sandbox,
        &["rank", "predict", "texts", "test.txt"],
        &["is a model of texts", "calibrant predict"],
    );
    refused(
        &sandbox,
        &["rank", "predict", "train.txt", "test.txt"],
        &["is not a ranking model"],
    );
    refused(
        &sandbox,
        &["rank", "predict", "nowhere", "test.txt"],
        &["there is no ranking model", "calibrant rank fit"],
    );
    let mut bytes = sandbox.read("ranking");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    sandbox.write("changed", bytes);
    refused(
        &sandbox,
        &["rank", "predict", "changed", "test.txt"],
        &["damaged"],
    );
}

#[test]
fn bad_input_is_refused_with_the_next_step_and_nothing_is_written() {
    let sandbox = sandbox();
    sandbox.write("broken.txt", "1 qid:1 1:0.5\n0 qid:1 1:zebra\n");
    sandbox.write("empty.txt", "");
    sandbox.write("bytes.txt", [0xff, 0xfe, b'\n']);
    sandbox.write("flat.txt", "0 qid:991 1:1\n0 qid:991 1:2\n");
    sandbox.write("bare.txt", "1 qid:1\n0 qid:1\n");
    let before = sandbox.contents();
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["train.txt", "--loss", "mrr", "-o", "m"],
            &["is not a loss", "ndcg@K"],
        ),
        (
            &["train.txt", "--loss", "ndcg@0", "-o", "m"],
            &["is not a loss"],
        ),
        (&["train.txt", "--c", "0", "-o", "m"], &["C must be"]),
        (&["train.txt", "--c", "nan", "-o", "m"], &["C must be"]),
        (&["train.txt", "--c", "-1", "-o", "m"], &["-1"]),
        (
            &["train.txt", "--tolerance", "2", "-o", "m"],
            &["tolerance"],
        ),
        (
            &["train.txt", "--bins", "100000000", "-o", "m"],
            &["bins must be"],
        ),
        (
            &["train.txt", "--folds", "1", "-o", "m"],
            &["folds must be"],
        ),
        (
            &["train.txt", "--folds", "50", "-o", "m"],
            &["20 queries cannot be divided into 50 parts"],
        ),
        (
            &["train.txt", "--relevant-from", "9", "-o", "m"],
            &["none of the 20 queries", "--relevant-from"],
        ),
        (
            &["train.txt", "--validation", "train.txt", "-o", "m"],
            &["query `0`", "validation"],
        ),
        (
            &["train.txt", "--validation", "flat.txt", "-o", "m"],
            &["to choose C on"],
        ),
        (&["train.txt", "train.txt", "-o", "m"], &["train.txt"]),
        (&["broken.txt", "-o", "m"], &["broken.txt", "line 2"]),
        (&["empty.txt", "-o", "m"], &["empty.txt"]),
        (&["bytes.txt", "-o", "m"], &["bytes.txt"]),
        (&["flat.txt", "-o", "m"], &["nothing to learn"]),
        (&["nowhere.txt", "-o", "m"], &["nowhere.txt"]),
        (&["bare.txt", "-o", "m"], &["error"]),
        (&["-", "-", "-o", "m"], &["standard input"]),
        (&["train.txt", "-o", "train.txt"], &["overwritten"]),
        (
            &["train.txt", "-o", "no/such/folder/m"],
            &["does not exist"],
        ),
        (&["-o", "m"], &["TRAIN"]),
        (&["--qrels", "train.txt", "-o", "m"], &["--from-run"]),
    ];
    for (arguments, parts) in cases {
        let mut all = vec!["rank", "fit"];
        all.extend_from_slice(arguments);
        refused(&sandbox, &all, parts);
    }
    assert_eq!(sandbox.contents(), before);
}

/// The same rows, queries and the documents in them in another order.
fn turned(letor: &str) -> String {
    let mut queries: Vec<Vec<&str>> = Vec::new();
    let qid = |line: &str| line.split(' ').nth(1).map(str::to_owned);
    for line in letor.lines() {
        match queries.last_mut() {
            Some(last) if qid(last[0]) == qid(line) => last.push(line),
            _ => queries.push(vec![line]),
        }
    }
    let lines = queries.iter().rev().flat_map(|query| query.iter().rev());
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_order_of_the_file_changes_no_byte_of_the_model() {
    let sandbox = sandbox();
    sandbox.write("turned.txt", turned(&letor(0, 20)));
    sandbox.write("turned-vali.txt", turned(&letor(100, 8)));
    let fit = |train: &str, validation: &str, model: &str| {
        sandbox.succeed(&[
            "rank",
            "fit",
            train,
            "--validation",
            validation,
            "-o",
            model,
        ]);
        sandbox.read(model)
    };
    assert_eq!(
        fit("train.txt", "vali.txt", "one"),
        fit("turned.txt", "turned-vali.txt", "two")
    );
}

#[test]
fn the_map_of_fit_is_that_of_evaluate() {
    let sandbox = sandbox();
    let fit = [
        "rank",
        "fit",
        "train.txt",
        "--c",
        "1",
        "-o",
        "model",
        "--json",
    ];
    let summary = sandbox.json(&fit);
    sandbox.succeed(&["rank", "predict", "model", "train.txt", "-o", "scores.txt"]);
    let found = sandbox.json(&[
        "rank",
        "evaluate",
        "--letor",
        "3",
        "--json",
        "train.txt",
        "scores.txt",
    ]);
    let map = found["rankings"][0]["measures"]["MAP"].as_f64().unwrap();
    assert!((map - summary["training_map"].as_f64().unwrap()).abs() < 1e-12);
}
