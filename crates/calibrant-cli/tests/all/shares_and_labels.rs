//! `suspects`, `prevalence` and `cascade`: from files to lists, shares and policies.

use crate::common;

use common::{Dice, Message, Sandbox, csv, json_lines, messages, multi_label_messages};
use serde_json::Value;

/// The rows of a CSV file, by the names of their columns.
fn table(sandbox: &Sandbox, name: &str) -> Vec<serde_json::Map<String, Value>> {
    let bytes = sandbox.read(name);
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let header = reader.headers().unwrap().clone();
    let row = |row: Result<csv::StringRecord, csv::Error>| {
        let row = row.unwrap();
        let cells = header.iter().zip(row.iter());
        cells.map(|(k, v)| (k.to_owned(), v.into())).collect()
    };
    reader.records().map(row).collect()
}

fn write_table(sandbox: &Sandbox, name: &str, rows: &[serde_json::Map<String, Value>]) {
    let lines: Vec<String> = rows
        .iter()
        .map(|row| Value::Object(row.clone()).to_string())
        .collect();
    sandbox.write(name, lines.join("\n"));
}

/// Messages of which every tenth has the label of another topic; and which.
fn flipped() -> (Vec<Message>, Vec<String>) {
    let mut all = messages(200, 3, 5);
    let mut wrong = Vec::new();
    for message in all.iter_mut().step_by(10) {
        let next = match message.labels[0] {
            "corn" => "money",
            "money" => "oil",
            _ => "corn",
        };
        message.labels = vec![next];
        wrong.push(message.id.clone());
    }
    (all, wrong)
}

#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

#[test]
fn flipped_labels_are_listed_and_a_sample_that_is_read_again_says_how_many_are_wrong() {
    let sandbox = Sandbox::new();
    let (all, wrong) = flipped();
    sandbox.write("mail.csv", csv(&all));
    let run = ["suspects", "mail.csv", "--most", "20"];
    let list = sandbox.json(&[&run[..], &["--json"]].concat());
    let listed = list["suspects"].as_array().unwrap();
    assert_eq!(listed.len(), 20);
    let hits = listed.iter().filter(|suspect| {
        let id = suspect["id"].as_str().unwrap();
        assert!(suspect["likely_probability"].as_f64() > suspect["given_probability"].as_f64());
        assert!(!suspect["words"].as_array().unwrap().is_empty());
        wrong.iter().any(|wrong| wrong == id)
    });
    assert!(hits.count() >= 14);
    let files = [
        "-o",
        "list.csv",
        "--html",
        "list.html",
        "--sample",
        "again.csv",
    ];
    let sized = ["--sample-size", "12"];
    sandbox.succeed(&[&run[..], &files, &sized].concat());
    assert_eq!(table(&sandbox, "list.csv").len(), 20);
    let page = String::from_utf8(sandbox.read("list.html")).unwrap();
    assert!(page.contains("Suspect labels in mail.csv") && page.contains("→"));
    // The sample is the same again, and nobody has read it yet.
    let mut sample = table(&sandbox, "again.csv");
    assert_eq!(sample.len(), 12);
    refused(
        &sandbox,
        &[&run[..], &["--reread", "again.csv"]].concat(),
        &["line 2", "`correct` is empty", "every row"],
    );
    let truth = |id: &str| wrong.iter().any(|wrong| wrong == id);
    let mut really = 0;
    for row in &mut sample {
        let is_wrong = truth(row["id"].as_str().unwrap());
        really += u64::from(is_wrong);
        let right = if is_wrong {
            row["likely"].clone()
        } else {
            row["given"].clone()
        };
        row.insert("correct".into(), right);
    }
    write_table(&sandbox, "read.jsonl", &sample[1..]);
    refused(
        &sandbox,
        &[&run[..], &["--reread", "read.jsonl"]].concat(),
        &["12 labels were drawn, and the file has 11"],
    );
    write_table(&sandbox, "read.jsonl", &sample);
    let found = sandbox.json(&[&run[..], &["--reread", "read.jsonl", "--json"]].concat());
    let found = &found["reread"];
    assert_eq!(
        (found["read"].as_u64(), found["wrong"].as_u64()),
        (Some(12), Some(really))
    );
    assert!(found["lower"].as_u64().unwrap() >= really && found["upper"].as_u64().unwrap() <= 20);
    let said = sandbox.succeed(&[&run[..], &["--reread", "read.jsonl"]].concat());
    assert!(said.contains("labels read again are wrong"), "{said}");
    // Another list.
    refused(
        &sandbox,
        &[
            "suspects",
            "mail.csv",
            "--most",
            "19",
            "--reread",
            "read.jsonl",
        ],
        &["a list of 20", "--most"],
    );
    let mut odd = sample.clone();
    odd[3] = odd[2].clone();
    write_table(&sandbox, "twice.jsonl", &odd);
    refused(
        &sandbox,
        &[&run[..], &["--reread", "twice.jsonl"]].concat(),
        &["comes twice"],
    );
    odd[3].insert("id".into(), "m1999".into());
    write_table(&sandbox, "other.jsonl", &odd);
    refused(
        &sandbox,
        &[&run[..], &["--reread", "other.jsonl"]].concat(),
        &["not on the list"],
    );
    odd[3] = sample[3].clone();
    odd[3].insert("correct".into(), "weather".into());
    write_table(&sandbox, "weather.jsonl", &odd);
    refused(
        &sandbox,
        &[&run[..], &["--reread", "weather.jsonl"]].concat(),
        &["`weather`"],
    );
    refused(
        &sandbox,
        &[&run[..], &["--reread", "mail.csv"]].concat(),
        &["no column `given`"],
    );
}

#[test]
fn a_fit_lists_suspects_beside_its_model_and_several_labels_have_them_too() {
    let sandbox = Sandbox::new();
    let (all, _) = flipped();
    sandbox.write("mail.csv", csv(&all));
    sandbox.succeed(&["fit", "mail.csv", "-o", "a.calibrant"]);
    sandbox.succeed(&[
        "fit",
        "mail.csv",
        "-o",
        "b.calibrant",
        "--suspects",
        "list.csv",
    ]);
    assert_eq!(sandbox.read("a.calibrant"), sandbox.read("b.calibrant"));
    sandbox.succeed(&["suspects", "mail.csv", "-o", "again.csv"]);
    assert_eq!(sandbox.read("list.csv"), sandbox.read("again.csv"));
    // From standard input, and without identifiers.
    let bare: String = csv(&all)
        .lines()
        .map(|line| format!("{}\n", line.split_once(',').unwrap().1))
        .collect();
    let found = sandbox.succeed_with_input(
        &["suspects", "-", "--json", "--format", "csv"],
        bare.as_bytes(),
    );
    let found: Value = serde_json::from_str(&found).unwrap();
    assert!(found["suspects"][0]["row"].is_u64(), "{found}");
    let several = json_lines(&multi_label_messages(150, 3), true);
    sandbox.write("several.jsonl", several);
    let found = sandbox.json(&["suspects", "several.jsonl", "--json"]);
    let suspects = found["suspects"].as_array().unwrap();
    assert!(!suspects.is_empty());
    for suspect in suspects {
        let (given, likely) = (
            suspect["given"].as_str().unwrap(),
            suspect["likely"].as_str().unwrap(),
        );
        assert!(
            format!("not {given}") == likely || given == format!("not {likely}"),
            "{suspect}"
        );
    }
    for (arguments, piece) in [
        (
            &["suspects", "mail.csv", "-o", "list.xml"][..],
            ".csv, .tsv, .jsonl, .parquet or .xlsx",
        ),
        (
            &["suspects", "mail.csv", "-o", "mail.csv"],
            "would be overwritten",
        ),
        (
            &["suspects", "mail.csv", "-o", "x.csv", "--sample", "x.csv"],
            "same name",
        ),
        (
            &["suspects", "mail.csv", "--certainty", "NaN"],
            "between 0 and 1",
        ),
        (&["suspects", "missing.csv"], "missing.csv"),
        (
            &["suspects", "mail.csv", "--reread", "missing.csv"],
            "missing.csv",
        ),
        (&["suspects", "mail.csv", "--alpha", "1"], "naive-bayes"),
        (
            &["fit", "mail.csv", "-o", "m", "--suspects", "list.html"],
            ".csv, .tsv, .jsonl, .parquet or .xlsx",
        ),
    ] {
        refused(&sandbox, arguments, &[piece]);
    }
}

/// A model, a pool of other messages, and their truth.
fn pool() -> (Sandbox, Vec<Message>) {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(200, 2, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "mail.calibrant"]);
    let all = messages(600, 2, 77);
    sandbox.write("pool.csv", csv(&all));
    (sandbox, all)
}

/// The same where every eighth message is a single word, of which the model is unsure: strata are worth it, since most labels are
/// better spent there.
fn unsure_pool() -> (Sandbox, Vec<Message>) {
    let short = |count: usize, seed: u64| {
        let mut all = messages(count, 2, seed);
        for message in all.iter_mut().step_by(8) {
            message.text = message.text.split(' ').take(1).collect();
        }
        all
    };
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&short(200, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "mail.calibrant"]);
    let all = short(600, 77);
    sandbox.write("pool.csv", csv(&all));
    (sandbox, all)
}

#[test]
fn a_planned_sample_that_is_labelled_gives_shares_that_hold() {
    let (sandbox, all) = unsure_pool();
    let share = |class: &str| all.iter().filter(|m| m.labels[0] == class).count() as f64 / 600.0;
    for (options, design) in [
        (&["--class", "money"][..], "stratified"),
        (
            &["--class", "money", "--strata", "1", "--seed", "3"],
            "simple_random",
        ),
    ] {
        let run = ["prevalence", "mail.calibrant", "pool.csv"];
        let plan = [
            &run[..],
            &["--plan", "0.06", "-o", "todo.csv", "--json"],
            options,
        ]
        .concat();
        let planned = sandbox.json(&plan);
        let strata = planned["plan"]["strata"].as_array().unwrap().len();
        assert_eq!(strata > 1, design == "stratified", "{planned}");
        let mut rows = table(&sandbox, "todo.csv");
        assert_eq!(planned["plan"]["labels"].as_u64(), Some(rows.len() as u64));
        refused(
            &sandbox,
            &[&run[..], &["--labelled", "todo.csv"]].concat(),
            &["line 2: the label is missing", "every row"],
        );
        for row in &mut rows {
            let id = row["id"].as_str().unwrap();
            let message = all.iter().find(|message| message.id == id).unwrap();
            assert_eq!(row["text"], message.text);
            row.insert("label".into(), message.labels[0].into());
        }
        write_table(&sandbox, "done.jsonl", &rows);
        let estimate = [&run[..], &["--labelled", "done.jsonl", "--json"]].concat();
        let found = sandbox.json(&estimate);
        assert_eq!(found["design"], design);
        for class in found["classes"].as_array().unwrap() {
            let truth = share(class["label"].as_str().unwrap());
            let interval = &class["interval"];
            let (low, high) = (
                interval["low"].as_f64().unwrap(),
                interval["high"].as_f64().unwrap(),
            );
            assert!(
                low <= truth && truth <= high && high - low < 0.15,
                "{class}"
            );
            let counts = (
                interval["count_low"].as_f64().unwrap(),
                interval["count_high"].as_f64().unwrap(),
            );
            assert!(counts.0 <= 600.0 * truth + 0.5 && 600.0 * truth - 0.5 <= counts.1);
        }
        sandbox.succeed(
            &[
                &run[..],
                &[
                    "--labelled",
                    "done.jsonl",
                    "--together",
                    "--method",
                    "stratified-exact",
                ],
            ]
            .concat(),
        );
        write_table(&sandbox, "part.jsonl", &rows[1..]);
        refused(
            &sandbox,
            &[&run[..], &["--labelled", "part.jsonl"]].concat(),
            &["rows of the sample that was drawn are missing"],
        );
        if design == "stratified" {
            refused(
                &sandbox,
                &[&estimate[..], &["--method", "labels-alone"]].concat(),
                &["drawn in strata"],
            );
            sandbox.write("half.csv", csv(&all[..300]));
            let other = [
                "prevalence",
                "mail.calibrant",
                "half.csv",
                "--labelled",
                "done.jsonl",
            ];
            refused(&sandbox, &other, &["not in the pool"]);
        }
    }
    let stated = sandbox.json(&["prevalence", "mail.calibrant", "pool.csv", "--json"]);
    assert_eq!(stated["labelled"], 0);
    let said = sandbox.succeed(&["prevalence", "mail.calibrant", "pool.csv"]);
    assert!(said.contains("none labelled"), "{said}");
}

#[test]
fn samples_are_found_by_row_or_by_text_and_odd_ones_are_refused() {
    let (sandbox, all) = pool();
    let bare = |messages: &[Message], numbered: bool| -> String {
        let mut out = String::from(if numbered {
            "row,label,text\n"
        } else {
            "label,text\n"
        });
        for (row, message) in messages.iter().enumerate() {
            let number = if numbered {
                format!("{},", row + 1)
            } else {
                String::new()
            };
            out += &format!("{number}{},{}\n", message.labels[0], message.text);
        }
        out
    };
    sandbox.write("bare.csv", bare(&all, false));
    sandbox.write("rows.csv", bare(&all[..80], true));
    sandbox.write("texts.csv", bare(&all[..80], false));
    sandbox.write("ids.csv", csv(&all[..80]));
    let found = |pool: &str, labelled: &str| {
        sandbox.json(&[
            "prevalence",
            "mail.calibrant",
            pool,
            "--labelled",
            labelled,
            "--json",
        ])
    };
    let by_id = found("pool.csv", "ids.csv");
    assert_eq!(by_id["labelled"], 80);
    for other in [
        found("bare.csv", "rows.csv"),
        found("bare.csv", "texts.csv"),
        found("pool.csv", "texts.csv"),
    ] {
        assert_eq!(other["classes"], by_id["classes"]);
    }
    let line = |text: &str| format!("id,label,text\n{text}\n");
    let run = [
        "prevalence",
        "mail.calibrant",
        "pool.csv",
        "--labelled",
        "odd.csv",
    ];
    for (rows, pieces) in [
        (
            "m9999,corn,x",
            &["line 2", "id `m9999` is not in the pool", "--plan"][..],
        ),
        ("m1,corn,x\nm1,corn,x", &["line 3", "comes twice"]),
        ("m1,weather,x", &["no class `weather`"]),
        ("m1,,x", &["the label is missing"]),
    ] {
        sandbox.write("odd.csv", line(rows));
        refused(&sandbox, &run, pieces);
    }
    for (options, piece) in [
        (&["--plan", "0"][..], "--plan 0.1"),
        (&["--plan", "NaN"], "not a width"),
        (
            &["--labelled", "ids.csv", "--confidence", "1"],
            "--confidence 0.95",
        ),
        (&["--labelled", "missing.csv"], "missing.csv"),
        (&["--plan", "0.1", "--class", "snow"], "no class `snow`"),
        (
            &["--plan", "0.1", "-o", "todo.xml"],
            ".csv, .tsv, .jsonl, .parquet or .xlsx",
        ),
    ] {
        refused(
            &sandbox,
            &[&["prevalence", "mail.calibrant", "pool.csv"], options].concat(),
            &[piece],
        );
    }
    // The model learned from the sample, and from nothing else of the pool.
    let both = [
        messages(200, 2, 1),
        all.iter()
            .cloned()
            .map(|m| Message {
                id: format!("p{}", m.id),
                ..m
            })
            .collect(),
    ]
    .concat();
    sandbox.write("both.csv", csv(&both));
    sandbox.write("learned.csv", csv(&both[..100]));
    let learned = [
        "prevalence",
        "mail.calibrant",
        "both.csv",
        "--labelled",
        "learned.csv",
    ];
    refused(
        &sandbox,
        &learned,
        &["the model learned from about 100", "labels-alone"],
    );
    sandbox.succeed(&[&learned[..], &["--method", "labels-alone"]].concat());
}

/// Truth, a model, and answers of a better source in a file.
fn sources() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(300, 3, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "mail.calibrant"]);
    let truth = messages(1_200, 3, 9);
    sandbox.write("truth.csv", csv(&truth));
    let mut dice = Dice::new(4);
    let mut answers = String::from("id,label,logprob\n");
    for message in &truth {
        let sure = dice.below(4) > 0;
        let right = sure || dice.below(2) == 0;
        let label = if right { message.labels[0] } else { "nothing" };
        let log = if sure { -0.001 } else { -0.7 };
        answers += &format!("{},{label},{log}\n", message.id);
    }
    sandbox.write("llm.csv", answers);
    sandbox
}

const SOURCES: [&str; 8] = [
    "--source",
    "model=mail.calibrant",
    "--source",
    "llm=llm.csv",
    "--cost",
    "model=0.001,llm=0.02",
    "--max-error",
    "0.05",
];

#[test]
fn a_cascade_is_certified_saved_and_shown() {
    let sandbox = sources();
    let run = [&["cascade", "truth.csv"], &SOURCES[..]].concat();
    let person = [&run[..], &["--person", "1", "-o", "policy.json"]].concat();
    let found = sandbox.json(&[&person[..], &["--json"]].concat());
    let report = &found["report"];
    assert!(report["cost"].as_f64().unwrap() < 0.5, "{report}");
    assert!(report["upper_risk"].as_f64().unwrap() <= 0.05);
    let answered: f64 = report["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["answered"].as_f64().unwrap())
        .sum();
    assert!((answered - 1.0).abs() < 1e-9);
    let said = sandbox.succeed(&person);
    assert!(
        said.contains("at most 5.0 % of all answers are wrong, with 95.0 % certainty"),
        "{said}"
    );
    let inspected = sandbox.json(&["inspect", "policy.json", "--json"]);
    assert_eq!(
        (&inspected["kind"], &inspected["report"]),
        (&"policy".into(), report)
    );
    assert!(
        sandbox
            .succeed(&["inspect", "policy.json"])
            .contains("a document costs")
    );
    // Followed by predict: an answer, or who is asked; with the other source's answers, fewer are left.
    let follow = [
        "predict",
        "mail.calibrant",
        "truth.csv",
        "--policy",
        "policy.json",
        "-o",
        "decided.csv",
    ];
    sandbox.succeed(&follow);
    let asked = |rows: &[serde_json::Map<String, Value>], whom: &str| {
        rows.iter()
            .filter(|row| row["decision"] == format!("ask {whom}"))
            .count()
    };
    let alone = table(&sandbox, "decided.csv");
    sandbox.succeed(&[&follow[..], &["--answers", "llm=llm.csv", "--as", "model"]].concat());
    let both = table(&sandbox, "decided.csv");
    assert_eq!(alone.len(), 1_200);
    assert_eq!(asked(&both, "llm"), 0);
    let share = |tier: usize| report["tiers"][tier]["answered"].as_f64().unwrap();
    assert_eq!(asked(&both, "person") as f64 / 1_200.0, share(2));
    assert!(asked(&alone, "llm") + asked(&alone, "person") >= asked(&both, "person"));
    let wrong = both.iter().zip(table(&sandbox, "truth.csv"));
    let wrong = wrong.filter(|(said, truth)| {
        let decision = said["decision"].as_str().unwrap();
        !decision.starts_with("ask ") && truth["label"] != decision
    });
    assert_eq!(Some(wrong.count() as u64), report["errors"].as_u64());
    refused(
        &sandbox,
        &[&follow[..], &["--as", "oracle"]].concat(),
        &["no source `oracle`"],
    );
    // The same beside the columns of the file, whose own label stays what it is.
    sandbox.succeed(&[&follow[..], &["--keep", "--wide"]].concat());
    let beside = table(&sandbox, "decided.csv");
    assert_eq!(beside.len(), 1_200);
    for (beside, alone) in beside.iter().zip(&alone) {
        assert_eq!(beside["decision"], alone["decision"]);
        assert_eq!(beside["calibrant_label"], alone["label"]);
        assert_eq!(beside["id"], alone["id"]);
        assert!(beside.contains_key("text") && beside.contains_key("corn"));
    }
    refused(
        &sandbox,
        &[
            "predict",
            "mail.calibrant",
            "truth.csv",
            "--policy",
            "mail.calibrant",
        ],
        &["mail.calibrant"],
    );
    // A policy is for the model that it was certified with.
    sandbox.write("other.csv", csv(&messages(300, 3, 2)));
    sandbox.succeed(&["fit", "other.csv", "-o", "other.calibrant"]);
    refused(
        &sandbox,
        &[
            "predict",
            "other.calibrant",
            "truth.csv",
            "--policy",
            "policy.json",
        ],
        &[
            "certified with another model as `model`",
            "calibrant cascade",
        ],
    );
    let known = [&["cascade", "mail.csv"], &SOURCES[..2], &SOURCES[4..5]].concat();
    refused(
        &sandbox,
        &[&known[..], &["model=0.001", "--person", "1"]].concat(),
        &[
            "learned from about 300 of the 300 documents",
            "calibrant split",
        ],
    );
    // The model as a table of its predictions says the same.
    sandbox.succeed(&["predict", "mail.calibrant", "truth.csv", "-o", "said.csv"]);
    let table: Vec<&str> = person
        .iter()
        .map(|&a| {
            if a == "model=mail.calibrant" {
                "model=said.csv"
            } else {
                a
            }
        })
        .collect();
    let again = sandbox.json(&[&table[..], &["--json"]].concat());
    assert_eq!(again["report"]["policy"], report["policy"]);
    sandbox.succeed(
        &[
            &person[..],
            &["--set-aside", "0.3", "--person-accuracy", "0.99"],
        ]
        .concat(),
    );
}

#[test]
fn impossible_cascades_are_refused() {
    let sandbox = sources();
    let run = [&["cascade", "truth.csv"], &SOURCES[..]].concat();
    let person = [&run[..], &["--person", "1"]].concat();
    sandbox.write("few.csv", csv(&messages(40, 3, 9)));
    let few = [&["cascade", "few.csv"], &SOURCES[..]].concat();
    refused(
        &sandbox,
        &few,
        &["by 40 documents", "are needed", "--person"],
    );
    refused(
        &sandbox,
        &[&person[..], &["-o", "llm.csv"]].concat(),
        &["would be overwritten"],
    );
    for (options, piece) in [
        (&["--certainty", "1"][..], "between 0 and 1"),
        (&["--set-aside", "NaN"], "between 0 and 1"),
        (&["--person", "-1"], "costs"),
        (&["--person", "1", "--person-accuracy", "2"], "accuracy"),
        (
            &["--source", "third=llm.csv", "--cost", "third=1"],
            "given twice",
        ),
        (
            &["--source", "third=missing.csv", "--cost", "third=1"],
            "missing.csv",
        ),
        (&["--source", "third=truth.csv"], "has no cost"),
        (&["--cost", "third=1"], "no source `third`"),
        (
            &[
                "--source",
                "third=truth.csv",
                "--cost",
                "third=1",
                "--person",
                "1",
            ],
            "`probability`",
        ),
    ] {
        refused(&sandbox, &[&run[..], options].concat(), &[piece]);
    }
    for cost in ["llm=NaN", "llm=-1", "llm", "=1"] {
        let bad = [
            "cascade",
            "truth.csv",
            "--source",
            "llm=llm.csv",
            "--cost",
            cost,
            "--person",
            "1",
        ];
        let found = sandbox.run(&bad);
        assert_eq!(found.status.code(), Some(2), "{cost}");
    }
    sandbox.write("short.csv", "id,label,probability\nm1,corn,0.5\n");
    let short = [
        "cascade",
        "truth.csv",
        "--source",
        "llm=short.csv",
        "--cost",
        "llm=1",
        "--person",
        "2",
    ];
    refused(&sandbox, &short, &["no answer for the document `m0`"]);
}
