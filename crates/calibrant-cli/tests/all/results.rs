//! Results beside the columns that a person has, as their file is written; answers line by line.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Sandbox, csv, messages};
use crate::python::ask;

/// A folder with a model of two classes, `corn` and `money`.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(60, 2, 1)));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    sandbox
}

const NEW: &str = "label,text,\"no, \"\"te\"\"\",id\r\nmine,maize crop,\"a,b\",7\r\n,\"bank\r\nloan\",,x\r\n\"\",,\"\",\r\n";

#[test]
fn columns_stay_as_they_are_and_results_follow() {
    let sandbox = sandbox();
    sandbox.write("new.csv", NEW);
    let kept = sandbox.succeed(&["predict", "model", "new.csv", "--keep"]);
    let long = sandbox.succeed(&["predict", "model", "new.csv", "--top", "1"]);
    let long: Vec<Vec<&str>> = long
        .lines()
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    // By hand: the rows as they stand, with a line feed behind what is added.
    let expected = format!(
        "label,text,\"no, \"\"te\"\"\",id,calibrant_label,probability\n\
         mine,maize crop,\"a,b\",7,{},{}\n,\"bank\r\nloan\",,x,{},{}\n\"\",,\"\",,{},{}\n",
        long[0][2], long[0][3], long[1][2], long[1][3], long[2][2], long[2][3]
    );
    assert_eq!(kept, expected);
    // A second label, and a table with a column for each class.
    let two = sandbox.succeed(&[
        "predict", "model", "new.csv", "--keep", "--top", "2", "--scores",
    ]);
    let header = two.lines().next().unwrap();
    let added = ",calibrant_label,probability,score,label_2,probability_2,score_2";
    assert!(header.ends_with(added), "{header}");
    let wide = sandbox.succeed(&["predict", "model", "new.csv", "--wide"]);
    assert_eq!(wide.lines().next(), Some("id,corn,money"));
    let numbers: Vec<f64> = wide
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .skip(1)
        .map(|n| n.parse().unwrap())
        .collect();
    assert!((numbers.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let both = sandbox.succeed(&["predict", "model", "new.csv", "--keep", "--wide"]);
    let header = both.lines().next().unwrap();
    assert!(
        header.ends_with(",calibrant_label,probability,corn,money"),
        "{header}"
    );
}

#[test]
fn json_keeps_its_text_and_its_types() {
    let sandbox = sandbox();
    sandbox.write(
        "new.jsonl",
        "{\"text\": \"maize\", \"n\": 1.50, \"deep\": {\"a\": [1, null]}, \"Label\": true }\n{\"text\":\"bank\"}\n{}\n",
    );
    let answer = sandbox.run(&["predict", "model", "new.jsonl", "--keep", "--json"]);
    assert_eq!(
        answer.status.code(),
        Some(0),
        "a row without any text has an answer, too"
    );
    sandbox.write(
        "new.jsonl",
        "{\"text\": \"maize\", \"n\": 1.50, \"deep\": {\"a\": [1, null]}, \"Label\": true }\n{\"text\":\"bank\"}\n",
    );
    let kept = sandbox.succeed(&["predict", "model", "new.jsonl", "--keep", "--json"]);
    let first = "{\"text\": \"maize\", \"n\": 1.50, \"deep\": {\"a\": [1, null]}, \"Label\": true,\"calibrant_label\":\"corn\",\"probability\":0.";
    assert!(kept.starts_with(first), "{kept}");
    let second: Value = serde_json::from_str(kept.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["calibrant_label"], "money");
    let table = sandbox.succeed(&["predict", "model", "new.jsonl", "--keep"]);
    let begin = "text,n,deep,Label,calibrant_label,probability\nmaize,1.50,\"{\"\"a\"\": [1, null]}\",true,corn,0.";
    assert!(table.starts_with(begin), "{table}");
    assert!(table.contains("\nbank,,,,money,0."), "{table}");
    // Behind the rows that were looked at a new field has no column.
    let many: String = (0..1500)
        .map(|number| match number {
            1400 => "{\"text\":\"bank\",\"late\":1}\n".to_owned(),
            _ => "{\"text\":\"maize\"}\n".to_owned(),
        })
        .collect();
    sandbox.write("many.jsonl", many);
    let refused = sandbox.run(&["predict", "model", "many.jsonl", "--keep", "-o", "out.csv"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("line 1401 has a field `late`") && said.contains(".jsonl"),
        "{said}"
    );
    assert!(!sandbox.path("out.csv").exists());
    sandbox.succeed(&[
        "predict",
        "model",
        "many.jsonl",
        "--keep",
        "-o",
        "out.jsonl",
    ]);
}

fn windows_1252(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}

#[test]
fn a_file_is_written_as_the_input_is() {
    let sandbox = sandbox();
    let table = "Größe;text;label\r\n1,5;maize;\r\n2,25;\"bank; loan\";\r\n";
    let marked = format!("\u{FEFF}sep=;\r\n{table}");
    let utf_16: Vec<u8> = format!("\u{FEFF}{table}")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    sandbox.write("marked.csv", &marked);
    sandbox.write("western.csv", windows_1252(table));
    sandbox.write("wide.csv", &utf_16);
    for (file, more) in [
        ("marked.csv", &[][..]),
        ("western.csv", &["--encoding", "windows-1252"]),
        ("wide.csv", &[]),
    ] {
        let command = [
            "predict",
            "model",
            file,
            "--keep",
            "--like-input",
            "-o",
            "out.csv",
        ];
        sandbox.succeed(&[&command[..], more].concat());
        let bytes = sandbox.read("out.csv");
        let text = match file {
            "marked.csv" => String::from_utf8(bytes).unwrap(),
            "western.csv" => bytes.iter().copied().map(char::from).collect(),
            _ => {
                let units: Vec<u16> = bytes
                    .chunks(2)
                    .map(|two| u16::from_le_bytes([two[0], two[1]]))
                    .collect();
                String::from_utf16(&units).unwrap()
            }
        };
        let begin = match file {
            "marked.csv" => "\u{FEFF}sep=;\r\n",
            "wide.csv" => "\u{FEFF}",
            _ => "",
        };
        let rest = text
            .strip_prefix(begin)
            .unwrap_or_else(|| panic!("{file}: {text}"));
        let begin = "Größe;text;label;calibrant_label;probability\r\n1,5;maize;;corn;0,";
        assert!(rest.starts_with(begin), "{file}: {rest}");
        assert!(
            rest.contains("\r\n2,25;\"bank; loan\";;money;0,") && rest.ends_with("\r\n"),
            "{rest}"
        );
    }
    // Without it a table is as ever.
    let plain = sandbox.succeed(&["predict", "model", "marked.csv", "--keep"]);
    assert!(
        plain.starts_with("Größe,text,label,calibrant_label,probability\n\"1,5\",maize,,corn,0."),
        "{plain}"
    );
}

#[test]
fn what_the_encoding_of_the_input_lacks_is_said() {
    let sandbox = Sandbox::new();
    let train = csv(&messages(60, 2, 1)).replace("corn,", "кукуруза,");
    sandbox.write("train.csv", train.replace(",corn", ",кукуруза"));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    sandbox.write(
        "new.csv",
        windows_1252("Größe;text\r\n1,5;maize\r\n2,5;bank\r\n"),
    );
    let command = [
        "predict",
        "model",
        "new.csv",
        "--encoding",
        "windows-1252",
        "--keep",
        "--like-input",
    ];
    let refused = sandbox.run(&[&command[..], &["-o", "no.csv"]].concat());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot be written in windows-1252"), "{said}");
    assert!(!sandbox.path("no.csv").exists());
}

/// What the other readers say of the folder.
fn told(sandbox: &Sandbox, step: &str) -> Option<Value> {
    let folder = sandbox.path("");
    ask(
        "results_tables.py",
        &json!({"step": step, "folder": folder}),
    )
}

#[test]
fn parquet_keeps_its_types_by_other_readers() {
    let sandbox = sandbox();
    if told(&sandbox, "write").is_none() {
        return;
    }
    let out = [
        "predict",
        "model",
        "new.parquet",
        "--keep",
        "-o",
        "out.parquet",
    ];
    sandbox.succeed(&out);
    let told = told(&sandbox, "differences").unwrap();
    assert_eq!(told["differences"], json!([]));
    let names = json!([
        "text",
        "n",
        "day",
        "tags",
        "x",
        "ok",
        "at",
        "deep",
        "label",
        "probability"
    ]);
    assert_eq!(told["names"], names);
    // Whatever is nested otherwise than in a list is JSON.
    assert_eq!(told["deep"], json!(["{\"a\":1}", null]));
    assert_eq!(
        (&told["label"], &told["kind"]),
        (&json!(["corn", "money"]), &json!("double"))
    );
    let text = sandbox.succeed(&["predict", "model", "new.parquet", "--keep"]);
    let row = "maize,1,2024-01-02,\"[\"\"a\"\",null]\",0.5,true,";
    assert!(text.lines().nth(1).unwrap().starts_with(row), "{text}");
}

#[test]
fn a_sheet_holds_numbers_as_numbers_and_text_as_text() {
    let sandbox = sandbox();
    let rows = "{\"code\":\"007\",\"n\":1.5,\"text\":\"=1+1 maize\"}\n{\"text\":\"bank\",\"n\":9007199254740993}\n";
    sandbox.write("new.jsonl", rows);
    sandbox.succeed(&["predict", "model", "new.jsonl", "--keep", "-o", "out.xlsx"]);
    sandbox.succeed(&["predict", "model", "new.jsonl", "-o", "long.xlsx"]);
    let Some(told) = told(&sandbox, "sheet") else {
        return;
    };
    let rows = &told["kept"];
    assert_eq!(
        rows[0],
        json!(["code", "n", "text", "label", "probability"])
    );
    let cells = ["007".into(), json!(1.5), "=1+1 maize".into()];
    assert_eq!(rows[1].as_array().unwrap()[..3], cells);
    // A number that a cell would round stays text.
    assert_eq!(rows[2][1], "9007199254740993");
    assert!(rows[2][4].as_f64().unwrap() > 0.5);
    assert_eq!(told["long"].as_array().unwrap().len(), 5);
}

#[test]
fn what_does_not_go_together_is_refused() {
    let sandbox = sandbox();
    sandbox.write("new.csv", NEW);
    for wrong in [
        &["--like-input"][..],
        &["--wide", "--top", "1"],
        &["--wide", "--scores"],
        &["--keep", "-o", "new.csv"],
        &["--keep", "-o", "out.xls"],
    ] {
        let refused = sandbox.run(&[&["predict", "model", "new.csv"], wrong].concat());
        assert_eq!(refused.status.code(), Some(2), "{wrong:?}");
    }
    assert_eq!(sandbox.read("new.csv"), NEW.as_bytes());
    let told = sandbox.run(&["predict", "model", "new.csv", "--keep", "--where", "id!=x"]);
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(said.contains("1 row that --where leaves out"), "{said}");
    for needs in ["out.xlsx", "out.parquet"] {
        let command = ["predict", "model", "-", "--format", "csv", "-o", needs];
        let told = sandbox.run_with_input(&command, NEW.as_bytes());
        let said = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(said.contains("needs the whole input"), "{said}");
    }
}

#[test]
fn calibrated_scores_stand_beside_their_columns() {
    let sandbox = Sandbox::new();
    let rows: String = (0..60)
        .map(|n| {
            format!(
                "{};{};{}\r\n",
                n,
                f64::from(n) / 10.0 - 3.0,
                ["no", "yes"][usize::from((n * 17) % 60 < n)]
            )
        })
        .collect::<String>()
        .replace('.', ",");
    sandbox.write("scores.csv", format!("probability;s;label\r\n{rows}"));
    sandbox.succeed(&["calibrate", "scores.csv", "--score", "s", "-o", "c.json"]);
    let kept = sandbox.succeed(&[
        "calibrate",
        "--calibrator",
        "c.json",
        "--apply",
        "scores.csv",
        "--keep",
        "--like-input",
    ]);
    let mut lines = kept.split("\r\n");
    assert_eq!(
        lines.next(),
        Some("probability;s;label;calibrant_label;calibrant_probability")
    );
    assert!(lines.next().unwrap().starts_with("0;-3;no;no;0,"), "{kept}");
    let wide = sandbox.succeed(&[
        "calibrate",
        "--calibrator",
        "c.json",
        "--apply",
        "scores.csv",
        "--wide",
    ]);
    assert_eq!(wide.lines().next(), Some("row,no,yes"));
    let refused = sandbox.run(&[
        "calibrate",
        "scores.csv",
        "--score",
        "s",
        "-o",
        "d.json",
        "--keep",
    ]);
    assert_eq!(refused.status.code(), Some(2));
    let sheet = [
        "calibrate",
        "--calibrator",
        "c.json",
        "--apply",
        "scores.csv",
        "--keep",
        "--predictions",
        "out.xlsx",
    ];
    sandbox.succeed(&sheet);
    assert!(sandbox.read("out.xlsx").starts_with(b"PK"));
}

/// Writes a line, waits for its answer, writes the next.
fn speak(
    sandbox: &Sandbox,
    arguments: &[&str],
    header: &str,
    lines: &[&str],
    answers_before: usize,
) -> Vec<String> {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("calibrant"))
        .current_dir(sandbox.path(""))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let (sender, answers) = channel();
    std::thread::spawn(move || {
        for line in output.lines() {
            let _ = sender.send(line.unwrap());
        }
    });
    let mut said = Vec::new();
    let mut wait = |count: usize| {
        for _ in 0..count {
            said.push(
                answers
                    .recv_timeout(Duration::from_secs(60))
                    .expect("no answer came"),
            );
        }
    };
    input.write_all(header.as_bytes()).unwrap();
    input.flush().unwrap();
    for (number, line) in lines.iter().enumerate() {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
        wait(if number == 0 { answers_before } else { 0 } + 1);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
    said
}

#[test]
fn standard_input_is_answered_line_by_line() {
    let sandbox = sandbox();
    let csv = speak(
        &sandbox,
        &["predict", "model", "-", "--format", "csv", "--top", "1"],
        "id,text\n",
        &["1,maize", "2,bank", "3,\"crop\nacre\""],
        1,
    );
    assert_eq!(csv.len(), 4);
    assert!(
        csv[1].starts_with("1,1,corn,") && csv[2].starts_with("2,1,money,"),
        "{csv:?}"
    );
    // The format is told by the first line.
    let json = speak(
        &sandbox,
        &["predict", "model", "-", "--json", "--keep"],
        "",
        &["{\"text\":\"maize\"}", "{\"id\":1,\"text\":\"bank\"}"],
        0,
    );
    assert!(
        json[1].starts_with("{\"id\":1,\"text\":\"bank\",\"label\":\"money\""),
        "{json:?}"
    );
    let kept = speak(
        &sandbox,
        &[
            "predict",
            "model",
            "-",
            "--format",
            "csv",
            "--keep",
            "--like-input",
        ],
        "id;text\n",
        &["1;maize", "2;bank"],
        1,
    );
    assert!(
        kept[0] == "id;text;label;probability" && kept[2].starts_with("2;bank;money;0,"),
        "{kept:?}"
    );
}

#[test]
fn a_pipe_and_a_file_give_the_same_answers() {
    let sandbox = sandbox();
    let table = csv(&messages(3000, 2, 5));
    sandbox.write("new.csv", &table);
    let file = sandbox.succeed(&["predict", "model", "new.csv"]);
    let pipe = sandbox.succeed_with_input(
        &["predict", "model", "-", "--format", "csv"],
        table.as_bytes(),
    );
    assert!(file == pipe, "they differ");
}

#[test]
fn decisions_stand_beside_the_columns() {
    let sandbox = sandbox();
    sandbox.write("new.csv", "text,decision\nmaize,mine\nbank,mine\n");
    let costs = ["--costs", "*,ask,0.000001"];
    let command = ["predict", "model", "new.csv", "--keep"];
    let kept = sandbox.succeed(&[&command[..], &costs].concat());
    let header = "text,decision,label,probability,calibrant_decision,expected_cost,runner_up";
    assert_eq!(kept.lines().next(), Some(header));
    let row: Vec<&str> = kept.lines().nth(1).unwrap().split(',').collect();
    assert_eq!((row[2], row[4], row[6]), ("corn", "ask", "corn"), "{kept}");
    let told = sandbox.run_with_input(
        &["predict", "model", "-", "--format", "csv", "--ask", "1"],
        b"text\nmaize\nbank\n",
    );
    let said = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(said.contains("--ask needs the whole input"), "{said}");
}
