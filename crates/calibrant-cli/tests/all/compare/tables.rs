//! Tables of probabilities that other programs wrote.

use super::*;

#[test]
fn predictions_written_to_any_file_compare_as_their_model_does() {
    let sandbox = two_models();
    for file in ["p.csv", "p.tsv", "p.jsonl", "p.parquet"] {
        sandbox.succeed(&[
            "predict",
            "much.calibrant",
            "test.csv",
            "-o",
            file,
            "--id",
            "id",
        ]);
        let report = compared(&sandbox, &["test.csv", "much.calibrant", file]);
        let pair = &report["pairs"][0];
        assert_eq!(pair["log_loss"]["sign"]["ties"], 120, "{file}");
        assert_eq!(pair["log_loss"]["difference"], 0.0, "{file}");
    }
    sandbox.write("p.jsonl.gz", gzip(&sandbox.read("p.jsonl")));
    let report = compared(&sandbox, &["test.csv", "p.jsonl.gz", "p.parquet"]);
    assert_eq!(report["systems"][1]["name"], "p");
    assert_eq!(report["pairs"][0]["brier"]["sign"]["ties"], 120);
    // Joined by identifier, from a test set in another order and with fewer documents.
    let mut turned: Vec<Message> = messages(120, 3, 3);
    turned.reverse();
    turned.truncate(70);
    sandbox.write("turned.csv", csv(&turned));
    for file in ["p.csv", "p.jsonl"] {
        let report = compared(
            &sandbox,
            &["turned.csv", "much.calibrant", file, "--id", "id"],
        );
        assert_eq!(report["pairs"][0]["log_loss"]["sign"]["ties"], 70, "{file}");
    }
    // Without a word, too: both have a column `id`.
    let report = compared(&sandbox, &["turned.csv", "much.calibrant", "p.csv"]);
    assert_eq!(report["pairs"][0]["log_loss"]["sign"]["ties"], 70);
}

#[test] // Its own output, sorted by something else, scored 1.51 instead of 0.006, "significantly".
fn tables_are_joined_by_id_whatever_their_order() {
    let sandbox = two_models();
    let predict = ["predict", "much.calibrant", "test.csv", "-o", "p.csv"];
    for more in [&["--id", "id"][..], &[]] {
        sandbox.succeed(&[&predict[..], more].concat());
        let text = String::from_utf8(sandbox.read("p.csv")).unwrap();
        let mut lines: Vec<&str> = text.lines().skip(1).collect();
        lines.sort_by(|a, b| a.rsplit(',').next().cmp(&b.rsplit(',').next()));
        let sorted = format!("id,rank,label,probability,log_odds\n{}\n", lines.join("\n"));
        sandbox.write("sorted.csv", sorted);
        let report = compared(&sandbox, &["test.csv", "much.calibrant", "sorted.csv"]);
        assert_eq!(
            report["pairs"][0]["log_loss"]["sign"]["ties"], 120,
            "{more:?}"
        );
        let alone = [
            "evaluate",
            "sorted.csv",
            "test.csv",
            "--json",
            "--no-ledger",
        ];
        let alone = sandbox.json(&alone);
        let mean = report["systems"][0]["log_loss"]["mean"].as_f64().unwrap();
        assert!((alone["log_loss"].as_f64().unwrap() - mean).abs() < 1e-12);
    }
    let header = "corn,money,oil";
    let plain = wide(&sandbox, "much.calibrant", "test.csv", true, header);
    let mut lines: Vec<&str> = plain.lines().skip(1).collect();
    lines.reverse();
    sandbox.write("wide.csv", format!("id,{header}\n{}\n", lines.join("\n")));
    let report = compared(&sandbox, &["test.csv", "much.calibrant", "wide.csv"]);
    let gap = report["pairs"][0]["log_loss"]["difference"]
        .as_f64()
        .unwrap();
    assert!(gap.abs() < 1e-9, "{gap}");
    // Too few rows are an error with counts and names, and rows of no document are reported.
    sandbox.write(
        "few.csv",
        format!("id,{header}\n{}\n", lines[3..].join("\n")),
    );
    refused(
        &sandbox,
        &["test.csv", "much.calibrant", "few.csv"],
        &[
            "no row for 3 of 120 documents",
            "`m119`",
            "0 rows of its own",
        ],
    );
    sandbox.write("other.csv", plain.replace("\nm", "\nx"));
    refused(
        &sandbox,
        &["test.csv", "much.calibrant", "other.csv"],
        &["no row for 120 of 120", "120 rows of its own (`x0`"],
    );
    let more = format!("{plain}stranger,0.2,0.3,0.5\n");
    sandbox.write("more.csv", more);
    let output = sandbox.run(&[
        "compare",
        "test.csv",
        "much.calibrant",
        "more.csv",
        "--no-ledger",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("1 row of `more.csv` is of no document"),
        "{stderr}"
    );
}

#[test]
fn a_table_that_does_not_sum_to_one_is_named_with_its_row() {
    let sandbox = two_models();
    let header = "corn,money,oil";
    let plain = wide(&sandbox, "much.calibrant", "test.csv", true, header);
    let mut lines: Vec<String> = plain.lines().map(str::to_owned).collect();
    lines[5] = "m4,0.9,0.5,0.18".to_owned();
    sandbox.write("bad.csv", lines.join("\n") + "\n");
    refused(
        &sandbox,
        &["test.csv", "much.calibrant", "bad.csv"],
        &["document 5 (`m4`) of `bad.csv` sum to 1.58"],
    );
}

#[test]
fn a_column_for_each_class_is_understood_as_other_programs_write_it() {
    let sandbox = two_models();
    let plain = wide(
        &sandbox,
        "much.calibrant",
        "test.csv",
        false,
        "corn,money,oil",
    );
    sandbox.write("plain.csv", &plain);
    let report = compared(&sandbox, &["test.csv", "much.calibrant", "plain.csv"]);
    // Plain probabilities lose a bit of the log-odds, and no more.
    let difference = report["pairs"][0]["log_loss"]["difference"]
        .as_f64()
        .unwrap();
    assert!(difference.abs() < 1e-12, "{difference}");
    assert_eq!(report["pairs"][0]["errors"]["sign"]["ties"], 120);
    let with_ids = wide(
        &sandbox,
        "much.calibrant",
        "test.csv",
        true,
        "corn,money,oil",
    );
    sandbox.write("ids.csv", &with_ids);
    sandbox.write(
        "prefix.csv",
        plain.replacen("corn,money,oil", "proba_corn,proba_money,proba_oil", 1),
    );
    let json: String = plain
        .lines()
        .skip(1)
        .map(|line| {
            let values: Vec<&str> = line.split(',').collect();
            format!(
                "{{\"oil\":{},\"corn\":{},\"money\":{}}}\n",
                values[2], values[0], values[1]
            )
        })
        .collect();
    sandbox.write("rows.jsonl", json);
    // No model at all: classes are inferred from the labels and the columns.
    let systems = ["plain.csv", "ids.csv", "prefix.csv", "rows.jsonl"];
    let report = compared(&sandbox, &[&["test.csv"], &systems[..]].concat());
    assert_eq!(report["pairs"].as_array().unwrap().len(), 6);
    for pair in report["pairs"].as_array().unwrap() {
        assert_eq!(pair["brier"]["sign"]["ties"], 120, "{pair}");
    }
    // The test set needs no text then.
    let labels: String = messages(120, 3, 3)
        .iter()
        .map(|m| format!("{}\n", m.labels[0]))
        .collect();
    sandbox.write("labels.csv", format!("label\n{labels}"));
    let same = compared(&sandbox, &[&["labels.csv"], &systems[..]].concat());
    assert_eq!(same["systems"], report["systems"]);
}

#[test]
fn one_column_is_enough_for_two_classes() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "test.csv",
        "id,label,text\n1,ham,a\n2,spam,b\n3,spam,c\n4,ham,d\n",
    );
    sandbox.write("a.csv", "probability\n0.1\n0.9\n0.8\n0.3\n");
    sandbox.write("b.csv", "ham,spam\n0.9,0.1\n0.1,0.9\n0.2,0.8\n0.7,0.3\n");
    sandbox.write("c.csv", "id,probability\n4,0.7\n3,0.2\n2,0.1\n1,0.9\n");
    let report = compared(&sandbox, &["test.csv", "a.csv", "b.csv"]);
    let difference = report["pairs"][0]["log_loss"]["difference"]
        .as_f64()
        .unwrap();
    assert!(difference.abs() < 1e-15);
    // By hand: -(ln 0.9 + ln 0.9 + ln 0.8 + ln 0.7) / 4.
    let expected = -(0.9f64 * 0.9 * 0.8 * 0.7).ln() / 4.0;
    let found = report["systems"][0]["log_loss"]["mean"].as_f64().unwrap();
    assert!((found - expected).abs() < 1e-12, "{found}");
    assert_eq!(report["systems"][0]["auc"], 1.0);
    let output = sandbox.run(&["compare", "test.csv", "a.csv", "b.csv", "--no-ledger"]);
    let warning = String::from_utf8_lossy(&output.stderr);
    assert!(
        warning.contains("`a.csv` is taken as that of the class `spam`"),
        "{warning}"
    );
    // In another order and of the other class, joined by identifier.
    sandbox.write(
        "d.csv",
        "spam,ham,id\n0.1,0.9,1\n0.9,0.1,2\n0.8,0.2,3\n0.3,0.7,4\n",
    );
    let joined = [
        "test.csv",
        "c.csv",
        "d.csv",
        "--id",
        "id",
        "--positive",
        "ham",
    ];
    let report = compared(&sandbox, &joined);
    let difference = report["pairs"][0]["log_loss"]["difference"]
        .as_f64()
        .unwrap();
    assert!(difference.abs() < 1e-15);
    refused(
        &sandbox,
        &["test.csv", "c.csv", "b.csv", "--id", "id"],
        &["`b.csv` has no column `id`"],
    );
    refused(
        &sandbox,
        &["test.csv", "a.csv", "b.csv", "--positive", "eggs"],
        &["`eggs`", "`ham`, `spam`"],
    );
}

#[test]
fn certain_probabilities_are_kept_off_the_ends_with_a_word() {
    let sandbox = Sandbox::new();
    sandbox.write("test.csv", "label,text\nham,a\nspam,b\n");
    sandbox.write("a.csv", "ham,spam\n1.0,0.0\n1,0\n");
    sandbox.write("b.csv", "ham,spam\n0.5,0.5\n0.5,0.5\n");
    let output = sandbox.run(&[
        "compare",
        "test.csv",
        "a.csv",
        "b.csv",
        "--json",
        "--no-ledger",
    ]);
    let warning = String::from_utf8_lossy(&output.stderr);
    for piece in [
        "`a.csv`: 2 stated probabilities of 0 are replaced by 1.11e-16",
        "2 stated probabilities of 1",
    ] {
        assert!(warning.contains(piece), "`{piece}` is not in {warning}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let loss = report["systems"][0]["log_loss"]["mean"].as_f64().unwrap();
    assert!((loss - 0.5 * 53.0 * 2f64.ln()).abs() < 1e-9, "{loss}"); // by hand: -ln 2^-53 once of two
}

#[test] // The complement that was made of the column was counted with it: 42 and 42.
fn zeros_and_ones_are_counted_as_they_are_written() {
    let sandbox = Sandbox::new();
    let rows: String = (0..60)
        .map(|row| match row {
            0..29 => "no,0\n".to_owned(),
            29..42 => "yes,1\n".to_owned(),
            _ => format!("{},0.{row}\n", if row % 2 == 0 { "no" } else { "yes" }),
        })
        .collect();
    sandbox.write("p.csv", format!("label,probability\n{rows}"));
    let evaluate = ["evaluate", "p.csv", "p.csv", "--positive", "yes", "--json"];
    let output = sandbox.run(&[&evaluate[..], &["--no-ledger"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    // By hand: the least other number is 0.42, the largest 0.59.
    for piece in [
        "29 stated probabilities of 0 are replaced by 2.10e-1, half",
        "13 stated probabilities of 1 are replaced by 1 minus 2.05e-1, half",
    ] {
        assert!(said.contains(piece), "no `{piece}` in {said}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ends = &report["stated_ends"];
    assert_eq!((&ends["zeros"], &ends["ones"]), (&29.into(), &13.into()));
}

#[test] // Data frames write 1 as 1.0 where a value is missing.
fn whole_numbers_that_are_written_otherwise_are_told_and_not_joined() {
    let sandbox = Sandbox::new();
    let mut all = messages(160, 2, 1);
    for message in &mut all {
        message.labels = vec![if message.labels[0] == "corn" {
            "0"
        } else {
            "1"
        }];
    }
    sandbox.write("train.csv", csv(&all[..120]));
    let test = csv(&all[120..]);
    let floats = test.replace(",0,", ",0.0,").replace(",1,", ",1.0,");
    sandbox.write("floats.csv", &floats);
    sandbox.succeed(&["fit", "train.csv", "-o", "a"]);
    sandbox.succeed(&["fit", "train.csv", "-o", "b", "--classifier", "naive-bayes"]);
    let message = "all unknown labels are whole numbers written differently: `0.0` instead of `0`";
    for arguments in [
        &["evaluate", "a", "floats.csv", "--no-ledger"][..],
        &["compare", "floats.csv", "a", "b", "--no-ledger"],
    ] {
        let output = sandbox.run(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(message) && said.contains("alike"), "{said}");
    }
    // Other unknown labels are another matter.
    sandbox.write("mixed.csv", floats.replacen(",0.0,", ",eggs,", 1));
    let output = sandbox.run(&["evaluate", "a", "mixed.csv", "--no-ledger"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("otherwise"), "{said}");
}
