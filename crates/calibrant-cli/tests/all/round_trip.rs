//! The same messages in every format, through every command, to the same answers.

use crate::common;

use std::path::Path;

use common::{
    Message, Sandbox, csv, delimited, fast_text, fitted, gzip, json_lines, messages,
    multi_label_messages, zstandard,
};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;

/// A Parquet file of the messages, all columns strings.
fn parquet_file(messages: &[Message]) -> Vec<u8> {
    let schema = "message m { required binary id (UTF8); required binary label (UTF8); required binary text (UTF8); }";
    let schema = parse_message_type(schema).unwrap().into();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for column in 0..3 {
        let values: Vec<ByteArray> = messages
            .iter()
            .map(|message| [message.id.as_str(), message.labels[0], &message.text][column].into())
            .collect();
        let mut column = group.next_column().unwrap().unwrap();
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&values, None, None).unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.into_inner().unwrap()
}

/// One answer: identifier or number of the row, rank, label, probability, log-odds.
type Answer = (String, u64, String, f64, f64);

fn parse_delimited(text: &str, delimiter: u8) -> Vec<Answer> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    assert!(["id", "row"].contains(&&names[0]), "{names:?}");
    assert!(
        names
            .iter()
            .skip(1)
            .eq(["rank", "label", "probability", "log_odds"])
    );
    reader.deserialize().map(|row| row.unwrap()).collect()
}

fn parse_json_lines(text: &str) -> Vec<Answer> {
    let mut answers = Vec::new();
    for line in text.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        for (rank, class) in row["classes"].as_array().unwrap().iter().enumerate() {
            answers.push((
                row["id"].as_str().unwrap().to_owned(),
                rank as u64 + 1,
                class["label"].as_str().unwrap().to_owned(),
                class["probability"].as_f64().unwrap(),
                class["log_odds"].as_f64().unwrap(),
            ));
        }
    }
    answers
}

fn parse_parquet(path: &Path) -> Vec<Answer> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| {
        let row = row.unwrap();
        (
            row.get_string(0).unwrap().clone(),
            row.get_int(1).unwrap() as u64,
            row.get_string(2).unwrap().clone(),
            row.get_double(3).unwrap(),
            row.get_double(4).unwrap(),
        )
    })
    .collect()
}

/// Fits the file and answers for `probe.csv`, whose rows have no ids.
#[track_caller]
fn answers_after_fit(sandbox: &Sandbox, file: &str, more: &[&str]) -> Vec<Answer> {
    let probe = "text\ncorn bushel oil\nbank rate crude\n\"\"\nnothing known\n";
    sandbox.write("probe.csv", probe);
    sandbox.succeed(&[&["fit", file, "-o", "model"], more].concat());
    let found = sandbox.succeed(&["predict", "model", "probe.csv"]);
    parse_delimited(&found, b',')
}

#[test]
fn every_input_format_gives_the_same_model() {
    let sandbox = Sandbox::new();
    let messages = messages(90, 3, 1);
    let rows = csv(&messages);
    sandbox.write("a.csv", &rows);
    sandbox.write("a.tsv", delimited(&messages, '\t'));
    sandbox.write("a.jsonl", json_lines(&messages, false));
    sandbox.write("a.parquet", parquet_file(&messages));
    sandbox.write("a.ft", fast_text(&messages));
    for message in &messages {
        let name = format!("folder/{}/{}.txt", message.labels[0], message.id);
        sandbox.write(&name, &message.text);
    }
    sandbox.write("a.csv.gz", gzip(rows.as_bytes()));
    sandbox.write(
        "a.jsonl.zst",
        zstandard(json_lines(&messages, false).as_bytes()),
    );
    sandbox.write("a.parquet.gz", gzip(&parquet_file(&messages)));
    sandbox.write("a.txt", fast_text(&messages));
    sandbox.write("crlf.csv", rows.replace('\n', "\r\n"));
    sandbox.write("mark.csv", format!("\u{feff}{rows}"));

    let expected = answers_after_fit(&sandbox, "a.csv", &[]);
    let model = sandbox.read("model");
    assert_eq!(expected.len(), 4 * 3);
    for file in [
        "a.tsv",
        "a.jsonl",
        "a.parquet",
        "a.csv.gz",
        "a.jsonl.zst",
        "a.parquet.gz",
        "folder",
        "crlf.csv",
        "mark.csv",
    ] {
        assert_eq!(answers_after_fit(&sandbox, file, &[]), expected, "{file}");
        assert!(sandbox.read("model") == model, "{file} gave another model");
    }
    for file in ["a.ft", "a.txt"] {
        assert_eq!(
            answers_after_fit(&sandbox, file, &["--labels", "one"]).len(),
            12
        );
    }
    let lines = json_lines(&messages, false);
    let named: &[&str] = &["--format", "csv"];
    for (input, more) in [
        (rows.clone().into_bytes(), named),
        (gzip(rows.as_bytes()), named),
        (zstandard(rows.as_bytes()), named),
        (lines.clone().into_bytes(), &[]),
        (gzip(lines.as_bytes()), &[]),
        (parquet_file(&messages), &[]),
    ] {
        let fit = [&["fit", "-", "-o", "model"], more].concat();
        sandbox.succeed_with_input(&fit, &input);
        assert!(
            sandbox.read("model") == model,
            "standard input gave another model"
        );
    }
}

#[test]
fn fast_text_lines_give_the_same_answers() {
    let sandbox = Sandbox::new();
    let messages = messages(90, 3, 1);
    sandbox.write("a.csv", csv(&messages));
    sandbox.write("a.ft", fast_text(&messages));
    let expected = answers_after_fit(&sandbox, "a.csv", &[]);
    let found = answers_after_fit(&sandbox, "a.ft", &["--labels", "one"]);
    assert_eq!(found, expected);
}

#[test]
fn numbered_features_are_learned_and_predicted() {
    let sandbox = Sandbox::new();
    let mut rows = String::new();
    for number in 0..60 {
        let (class, feature) = if number % 3 == 0 {
            ("yes", 1)
        } else {
            ("no", 2)
        };
        rows += &format!("{class} {feature}:1.5 {}:0.5\n", 3 + number % 4);
    }
    sandbox.write("a.svm", &rows);
    for more in [
        &[][..],
        &["--hash-bits", "6"],
        &["--classifier", "naive-bayes"],
    ] {
        sandbox.succeed(&[&["fit", "a.svm", "-o", "model"], more].concat());
        sandbox.write("b.svm", "2:1.5 3:0.5\n1:1.5 77:3\n");
        let found = sandbox.succeed(&["predict", "model", "b.svm", "--top", "1"]);
        let labels: Vec<String> = parse_delimited(&found, b',')
            .into_iter()
            .map(|a| a.2)
            .collect();
        assert_eq!(labels, ["no", "yes"], "{more:?}");
        let report = sandbox.json(&["evaluate", "model", "a.svm", "--json"]);
        assert_eq!(report["accuracy"], 1.0);
        sandbox.succeed(&["explain", "model", "--file", "b.svm", "--row", "2"]);
        sandbox.succeed(&["inspect", "model"]);
    }
}

#[test]
fn every_output_format_holds_the_same_answers_with_their_ids() {
    let sandbox = fitted();
    let predict = ["predict", "mail.calibrant", "mail.csv", "--id", "id"];
    let expected = parse_delimited(&sandbox.succeed(&predict), b',');
    assert_eq!(expected.len(), 90 * 3);
    let ids: Vec<&str> = expected
        .iter()
        .step_by(3)
        .map(|answer| answer.0.as_str())
        .collect();
    assert_eq!(
        ids,
        (0..90)
            .map(|number| format!("m{number}"))
            .collect::<Vec<_>>()
    );
    for three in expected.chunks(3) {
        assert!(three[0].3 >= three[1].3 && three[1].3 >= three[2].3);
        assert_eq!(
            three.iter().map(|answer| answer.1).collect::<Vec<_>>(),
            [1, 2, 3]
        );
    }
    let json = sandbox.succeed(&[&predict[..], &["--json"]].concat());
    assert_eq!(parse_json_lines(&json), expected);
    for name in [
        "out.csv",
        "out.tsv",
        "out.jsonl",
        "out.ndjson",
        "out.parquet",
    ] {
        let shown = sandbox.succeed(&[&predict[..], &["-o", name]].concat());
        assert_eq!(shown, "", "{name}");
        let text = || String::from_utf8(sandbox.read(name)).unwrap();
        let found = match name {
            "out.csv" => parse_delimited(&text(), b','),
            "out.tsv" => parse_delimited(&text(), b'\t'),
            "out.parquet" => parse_parquet(&sandbox.path(name)),
            _ => parse_json_lines(&text()),
        };
        assert_eq!(found, expected, "{name}");
    }
    for (top, count) in [("1", 90), ("2", 180), ("3", 270), ("99", 270)] {
        let found = sandbox.succeed(&[&predict[..], &["--top", top]].concat());
        let found = parse_delimited(&found, b',');
        assert_eq!(found.len(), count);
        assert!(found.iter().all(|answer| expected.contains(answer)));
    }
}

#[test]
fn documents_without_ids_are_numbered() {
    let sandbox = fitted();
    let named = String::from_utf8(sandbox.read("mail.csv")).unwrap();
    assert!(named.starts_with("id,"));
    sandbox.write("nameless.csv", named.replacen("id,", "key,", 1));
    let predict = ["predict", "mail.calibrant", "nameless.csv", "--top", "1"];
    let found = sandbox.succeed(&predict);
    assert!(found.starts_with("row,"), "{found}");
    let ids: Vec<String> = parse_delimited(&found, b',')
        .into_iter()
        .map(|a| a.0)
        .collect();
    assert_eq!(
        ids,
        (1..=90)
            .map(|number| number.to_string())
            .collect::<Vec<_>>()
    );
}

#[test]
fn ids_and_labels_with_every_kind_of_character_survive() {
    let sandbox = Sandbox::new();
    let odd = ["comma, \"quote\"", "tab\tbreak\nline", "🦀 é"];
    let mut rows = String::new();
    for (number, message) in messages(60, 3, 1).iter().enumerate() {
        let label = odd[["corn", "money", "oil"]
            .iter()
            .position(|l| *l == message.labels[0])
            .unwrap()];
        let id = format!("{number} {}", odd[number % 3]);
        rows += &format!(
            "{}\n",
            serde_json::json!({"id": id, "label": label, "text": message.text})
        );
    }
    sandbox.write("odd.jsonl", rows);
    sandbox.succeed(&["fit", "odd.jsonl", "-o", "model", "--id", "id"]);
    let expected = parse_delimited(&sandbox.succeed(&["predict", "model", "odd.jsonl"]), b',');
    assert_eq!(expected[0].0, format!("0 {}", odd[0]));
    for name in ["out.csv", "out.tsv"] {
        sandbox.succeed(&["predict", "model", "odd.jsonl", "-o", name]);
        let text = String::from_utf8(sandbox.read(name)).unwrap();
        let delimiter = if name == "out.csv" { b',' } else { b'\t' };
        assert_eq!(parse_delimited(&text, delimiter), expected);
    }
    sandbox.succeed(&["explain", "model", "--class", odd[1], "corn", "oil"]);
    let report = sandbox.json(&["evaluate", "model", "odd.jsonl", "--json"]);
    assert_eq!(report["documents"], 60);
}

#[test]
fn labels_in_lists_and_labels_with_a_separator_are_the_same_labels() {
    let sandbox = Sandbox::new();
    let messages = multi_label_messages(150, 1);
    assert!(messages.iter().any(|message| message.labels.is_empty()));
    sandbox.write("list.jsonl", json_lines(&messages, true));
    sandbox.write("list.csv", csv(&messages));
    let expected = answers_after_fit(&sandbox, "list.jsonl", &[]);
    assert_eq!(expected.len(), 4 * 4);
    let separator = ["--label-separator", ";"];
    assert_eq!(
        answers_after_fit(&sandbox, "list.csv", &separator),
        expected
    );
    let report = sandbox.json(&["evaluate", "model", "list.csv", "--json"]);
    assert_eq!(report["task"], "multi_label");
    assert_eq!(report["decisions"], 600);
    assert_eq!(report["log_loss_over"], "decisions");
    assert!(report["accuracy"].is_null());
    let some = [
        "evaluate",
        "model",
        "list.csv",
        "--json",
        "--classes",
        "oil,corn",
    ];
    let report = sandbox.json(&some);
    assert_eq!(report["classes"].as_array().unwrap().len(), 2);
    assert_eq!(report["decisions"], 300);
    // Costs of yes and no, and no intervals.
    let priced = ["--costs", "yes,no,4;no,yes,0.5", "--bootstrap", "0"];
    let report = sandbox.json(&[&some[..], &priced].concat());
    assert!(report["bootstrap"].is_null() && report["costs"]["mean_cost"].is_number());
    assert_eq!(report["calibration"]["count"], 300);
}

#[test]
fn fields_that_a_model_learned_from_are_remembered() {
    let sandbox = Sandbox::new();
    let mut rows = "kind,head,body\n".to_owned();
    for message in messages(60, 2, 1) {
        let (head, body) = message.text.split_once(' ').unwrap();
        rows += &format!("{},{head},{body}\n", message.labels[0]);
    }
    sandbox.write("a.csv", rows);
    let fit = [
        "fit",
        "a.csv",
        "--text",
        "head,body",
        "--label",
        "kind",
        "-o",
        "m",
    ];
    sandbox.succeed(&fit);
    let report = sandbox.json(&["evaluate", "m", "a.csv", "--json"]);
    assert_eq!(report["documents"], 60);
    sandbox.write("new.csv", "body,head\ncorn acre,bushel\n");
    let found = parse_delimited(&sandbox.succeed(&["predict", "m", "new.csv"]), b',');
    assert_eq!(found[0].2, "corn");
}

#[test]
fn threads_and_the_order_of_rows_do_not_change_the_model() {
    let sandbox = Sandbox::new();
    let mut messages = messages(90, 3, 1);
    sandbox.write("a.csv", csv(&messages));
    messages.reverse();
    sandbox.write("b.csv", csv(&messages));
    sandbox.succeed(&["fit", "a.csv", "-o", "one", "--threads", "1"]);
    sandbox.succeed(&["--threads", "3", "fit", "b.csv", "-o", "three"]);
    assert!(sandbox.read("one") == sandbox.read("three"));
}

#[test] // Without calibration the score is the log-odds.
fn scores_are_the_learners_own() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "mail.jsonl",
        json_lines(&multi_label_messages(120, 3), true),
    );
    sandbox.succeed(&["fit", "mail.jsonl", "-o", "raw", "--calibrator", "none"]);
    let predict = ["predict", "raw", "mail.jsonl", "--scores", "--id", "id"];
    let said = sandbox.succeed(&predict);
    let mut reader = csv::Reader::from_reader(said.as_bytes());
    let names = reader.headers().unwrap().clone();
    assert_eq!(
        names,
        vec!["id", "rank", "label", "probability", "log_odds", "score"]
    );
    let rows: Vec<(String, u64, String, f64, f64, f64)> =
        reader.deserialize().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), 120 * 4);
    for (_, _, _, _, log_odds, score) in &rows {
        assert!((log_odds - score).abs() < 1e-9, "{log_odds} {score}");
    }
    let lines = sandbox.succeed(&[&predict[..], &["--json", "--top", "1"]].concat());
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["classes"][0]["score"].as_f64(), Some(rows[0].5));

    // Two classes share a score, and it stays with its class when shares are shifted.
    sandbox.write("two.csv", csv(&messages(90, 2, 1)));
    sandbox.succeed(&["fit", "two.csv", "-o", "two"]);
    let said = sandbox.succeed(&["predict", "two", "two.csv", "--scores", "--adapt-prior"]);
    let mut reader = csv::Reader::from_reader(said.as_bytes());
    let rows: Vec<(String, u64, String, f64, f64, f64)> =
        reader.deserialize().map(|row| row.unwrap()).collect();
    for pair in rows.chunks_exact(2) {
        assert_eq!(pair[0].5, -pair[1].5);
        let money = if pair[0].2 == "money" {
            &pair[0]
        } else {
            &pair[1]
        };
        assert_eq!(money.5 > 0.0, money.5 > -money.5);
    }
    let refused = sandbox.run(&["predict", "two", "two.csv", "--scores", "--other", "0.05"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// Thirty-odd messages of which so many are spam, told by one word and never by another document.
fn few_positives(positives: usize) -> String {
    let mut rows = "text,label\n".to_owned();
    for number in 0..40 {
        let (word, label) = if number < positives {
            ("prize winner", "spam")
        } else {
            ("meeting notes", "ham")
        };
        rows += &format!("{word} w{} v{},{label}\n", number % 7, number % 5);
    }
    rows
}

#[test]
fn two_classes_with_few_positives_get_probabilities_that_rise_with_the_score() {
    let sandbox = Sandbox::new();
    for (positives, note) in [
        (1, "is a guess"),
        (2, "is a guess"),
        (3, "shrunk towards a typical value"),
        (4, "shrunk towards a typical value"),
    ] {
        sandbox.write("mail.csv", few_positives(positives));
        let said = sandbox.succeed(&["fit", "mail.csv", "-o", "model"]);
        assert!(said.contains(note), "{said}");
        assert!(!said.contains("help of other classes"), "{said}");
        sandbox.write("new.csv", "text\nprize winner w1 v2\nmeeting notes w1 v2\n");
        let lines = sandbox.succeed(&["predict", "model", "new.csv", "--json", "--scores"]);
        let spam: Vec<(f64, f64)> = lines
            .lines()
            .map(|line| {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                let classes = row["classes"].as_array().unwrap().clone();
                let class = classes
                    .iter()
                    .find(|class| class["label"] == "spam")
                    .unwrap()
                    .clone();
                (
                    class["score"].as_f64().unwrap(),
                    class["probability"].as_f64().unwrap(),
                )
            })
            .collect();
        assert!(
            spam[0].0 > spam[1].0 && spam[0].1 > 1.2 * spam[1].1,
            "{positives}: {spam:?}"
        );
    }
}

#[test]
fn classes_with_fewer_documents_than_folds_are_named() {
    let sandbox = Sandbox::new();
    let mut rows = csv(&messages(120, 3, 4));
    for row in 0..3 {
        rows += &format!("r{row},rare,seldom seen word{row}\n");
    }
    sandbox.write("mail.csv", rows);
    let said = sandbox.succeed(&["fit", "mail.csv", "-o", "model"]);
    assert!(said.contains("(5 folds): rare (3)\n"), "{said}");
    sandbox.write("mail.csv", csv(&messages(120, 3, 4)));
    let said = sandbox.succeed(&["fit", "mail.csv", "-o", "model"]);
    assert!(!said.contains("fewer documents than folds"), "{said}");
}

#[test]
fn a_curve_holds_beyond_the_scores_it_was_fitted_to() {
    let sandbox = Sandbox::new();
    let mut rows = "score,label\n".to_owned();
    for number in 0..200 {
        let score = f64::from(number) / 20.0 - 5.0;
        let label = if (number * 7 + number / 3) % 10 < number / 20 {
            "yes"
        } else {
            "no"
        };
        rows += &format!("{score},{label}\n");
    }
    sandbox.write("scores.csv", rows);
    sandbox.write("new.csv", "score\n4.95\n6\n3000000\n");
    for method in ["platt", "spline", "gauss", "asymmetric_laplace", "auto"] {
        sandbox.succeed(&[
            "calibrate",
            "scores.csv",
            "--score",
            "score",
            "--label",
            "label",
            "--positive",
            "yes",
            "--method",
            method,
            "-o",
            "curve",
        ]);
        sandbox.succeed(&[
            "calibrate",
            "--calibrator",
            "curve",
            "--apply",
            "new.csv",
            "--predictions",
            "said.jsonl",
        ]);
        let lines = String::from_utf8(sandbox.read("said.jsonl")).unwrap();
        let said: Vec<f64> = lines
            .lines()
            .map(|line| {
                serde_json::from_str::<serde_json::Value>(line).unwrap()["log_odds"]
                    .as_f64()
                    .unwrap()
            })
            .collect();
        assert_eq!(said[1], said[2], "{method}: {said:?}");
        assert!((said[2] - said[0]).abs() < 10.0, "{method}: {said:?}");
    }
}

#[test]
fn fit_says_of_every_loss_what_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(150, 3, 1)));
    let said = sandbox.succeed(&["fit", "mail.csv", "-o", "model"]);
    for piece in [
        "(held-out log loss of trials on 150 documents, with one curve for all classes: ",
        "log_tf_idf is kept unless another is better by a standard error",
        "held-out performance (with pool weights fitted without the document's fold): accuracy",
        "(held-out log loss of each method alone × its weight: ",
    ] {
        assert!(said.contains(piece), "no `{piece}` in {said}");
    }
    // One calibrator serves all classes, so that none has figures of its own.
    assert!(!said.contains("next best"), "{said}");
    let alone = ["fit", "mail.csv", "-o", "model", "--calibrator", "platt"];
    let said = sandbox.succeed(&alone);
    assert!(said.contains("yes/no held-out log loss"), "{said}");
    let bayes = ["--classifier", "complement-naive-bayes"];
    let said = sandbox.succeed(&[&alone[..], &bayes].concat());
    assert!(
        said.starts_with("complement naive Bayes on 150 documents"),
        "{said}"
    );
}

#[test]
fn the_table_of_classes_has_no_empty_columns() {
    let sandbox = Sandbox::new();
    sandbox.write("few.csv", few_positives(2));
    let said = sandbox.succeed(&["fit", "few.csv", "-o", "m"]);
    assert!(!said.contains("next best"), "{said}");
    sandbox.write("mail.csv", csv(&messages(300, 2, 1)));
    let said = sandbox.succeed(&["fit", "mail.csv", "-o", "m"]);
    assert!(said.contains("next best"), "{said}");
}
