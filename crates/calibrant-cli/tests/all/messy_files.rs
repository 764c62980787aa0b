//! From files that spreadsheets write to predictions, without a conversion by hand.

use crate::common;

use common::{Message, Sandbox, csv, messages};

/// Tickets with a number, as a table whose fields are divided by `delimiter`.
fn tickets(delimiter: &str, decimal: char) -> String {
    let mut table = ["Größe", "Betreff", "Team"].join(delimiter) + "\r\n";
    for number in 0..60 {
        let (subject, team) = match number % 2 {
            0 => (format!("Konto gesperrt, Paßwort {number}"), " Zugang "),
            _ => (format!("Rechnung über {number} €"), "Buchhaltung"),
        };
        let size = format!("{}.{}", number % 7, number % 10).replace('.', &decimal.to_string());
        let row = [size, format!("\"{subject}\""), team.to_owned()];
        table += &(row.join(delimiter) + "\r\n");
    }
    table
}

fn windows_1252(text: &str) -> Vec<u8> {
    let byte = |character: char| match character {
        '€' => 0x80,
        other => u8::try_from(u32::from(other)).unwrap(),
    };
    text.chars().map(byte).collect()
}

fn utf_16(text: &str) -> Vec<u8> {
    let marked = format!("\u{FEFF}{text}");
    marked.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn the_same_table_gives_the_same_answers_however_it_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("plain.csv", tickets(",", '.'));
    sandbox.write("german.csv", format!("\u{FEFF}{}", tickets(";", ',')));
    sandbox.write("western.csv", windows_1252(&tickets(";", ',')));
    sandbox.write("unicode.txt", utf_16(&tickets("\t", ',')));
    sandbox.write("marked.csv", format!("sep=|\r\n{}", tickets("|", '.')));
    let answers = |file: &str, more: &[&str]| {
        let fields = ["--text", "Betreff", "--numeric", "Größe", "--label", "Team"];
        let fit = [&["fit", file, "-o", "model"], &fields[..], more].concat();
        sandbox.succeed(&fit);
        sandbox.succeed(&[&["predict", "model", file, "--top", "1"], more].concat())
    };
    let expected = answers("plain.csv", &[]);
    assert!(
        expected.contains(",Zugang,") && !expected.contains(" Zugang"),
        "{expected}"
    );
    assert_eq!(answers("german.csv", &[]), expected);
    assert_eq!(answers("western.csv", &["--encoding", "latin1"]), expected);
    assert_eq!(answers("unicode.txt", &[]), expected);
    assert_eq!(answers("marked.csv", &[]), expected);
}

#[test]
fn the_likely_encoding_is_named_with_the_option() {
    let sandbox = Sandbox::new();
    sandbox.write("western.csv", windows_1252(&tickets(";", ',')));
    let fields = ["--text", "Betreff", "--label", "Team"];
    let found = sandbox.run(&[&["fit", "western.csv", "-o", "model"], &fields[..]].concat());
    assert_eq!(found.status.code(), Some(2));
    let stderr = String::from_utf8_lossy(&found.stderr);
    assert!(
        stderr.contains("line 1, column 3: not valid UTF-8"),
        "{stderr}"
    );
    assert!(stderr.contains("--encoding windows-1252"), "{stderr}");
    assert!(!sandbox.path("model").exists());
}

#[test]
fn rows_are_chosen_by_what_they_are_not() {
    let sandbox = Sandbox::new();
    sandbox.write("t.csv", "text,label,split\nan a,x,train\nto b,y,train\nan c,x,\nto d,y,\nan e,x,test\nto f,y,test\n");
    let rows = |filter: &str| {
        let said = sandbox.succeed(&[
            "fit", "t.csv", "--where", filter, "--folds", "2", "-o", "m", "--json",
        ]);
        let report: serde_json::Value = serde_json::from_str(&said).unwrap();
        report["rows"].as_u64().unwrap()
    };
    assert_eq!(
        [rows("split!=test"), rows("split="), rows("split!=")],
        [4, 2, 4]
    );
}

/// A table of messages with an accent in every text.
fn accented(all: &[Message], names: &[&str], delimiter: &str) -> String {
    let mut table = names.join(delimiter) + "\n";
    for message in all {
        let cells = names.iter().map(|name| match *name {
            "id" => message.id.clone(),
            "label" => message.labels[0].to_owned(),
            _ => format!("{} café", message.text),
        });
        table += &(cells.collect::<Vec<_>>().join(delimiter) + "\n");
    }
    table
}

#[test]
fn a_file_beside_another_is_read_as_it_is_written_itself() {
    let sandbox = Sandbox::new();
    sandbox.write("mail.csv", csv(&messages(200, 2, 1)));
    sandbox.succeed(&["fit", "mail.csv", "-o", "m"]);
    let all = messages(300, 2, 7);
    let pool = |delimiter| accented(&all, &["id", "text"], delimiter);
    let sample = |delimiter| accented(&all[..60], &["id", "label", "text"], delimiter);
    sandbox.write("pool.csv", pool(","));
    sandbox.write("export.csv", windows_1252(&pool(":")));
    sandbox.write("done.csv", sample(","));
    sandbox.write("done-export.csv", windows_1252(&sample(":")));
    sandbox.succeed(&["predict", "m", "done.csv", "--keep", "-o", "done.xlsx"]);
    sandbox.succeed(&["predict", "m", "pool.csv", "--keep", "-o", "pool.xlsx"]);
    let shares = |pool: &str, done: &str, options: &[&str]| {
        let run = ["prevalence", "m", pool, "--labelled", done, "--json"];
        sandbox.json(&[&run[..], options].concat())["classes"].clone()
    };
    let plain = shares("pool.csv", "done.csv", &[]);
    let export = ["--encoding", "windows-1252", "--delimiter", ":"];
    let sheet = ["--sheet", "calibrant"];
    for (pool, done, options) in [
        ("export.csv", "done.csv", &export[..]),
        ("export.csv", "done-export.csv", &export),
        ("export.csv", "done.xlsx", &export),
        ("pool.xlsx", "done.csv", &sheet),
        ("pool.xlsx", "done.xlsx", &sheet),
        ("pool.csv", "done.xlsx", &[]),
    ] {
        assert_eq!(shares(pool, done, options), plain, "{pool} {done}");
    }
    // What neither says cannot be guessed.
    let bad = [
        "prevalence",
        "m",
        "pool.csv",
        "--labelled",
        "done-export.csv",
    ];
    let output = sandbox.run(&bad);
    assert_eq!(output.status.code(), Some(2));
    // The same for labels that were read again.
    let mut labelled = messages(120, 2, 3);
    for message in labelled.iter_mut().step_by(9) {
        message.labels = vec![if message.labels[0] == "corn" {
            "money"
        } else {
            "corn"
        }];
    }
    let names = ["id", "label", "text"];
    let text = accented(&labelled, &names, ":");
    sandbox.write("labelled.csv", windows_1252(&text));
    let suspects = [&["suspects", "labelled.csv"][..], &export].concat();
    sandbox.succeed(&[&suspects[..], &["--sample", "again.csv"]].concat());
    let drawn = String::from_utf8(sandbox.read("again.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(drawn.as_bytes());
    let header = rows.headers().unwrap().clone();
    let [given, correct] =
        ["given", "correct"].map(|name| header.iter().position(|own| own == name).unwrap());
    let mut filled = vec![header.iter().map(str::to_owned).collect::<Vec<_>>()];
    for row in rows.records() {
        let mut row: Vec<String> = row.unwrap().iter().map(str::to_owned).collect();
        row[correct] = row[given].clone();
        filled.push(row);
    }
    let written = |delimiter| -> String {
        let lines = filled.iter().map(|row| row.join(delimiter) + "\n");
        lines.collect()
    };
    sandbox.write("read.csv", written(","));
    sandbox.write("read-export.csv", windows_1252(&written(":")));
    for file in ["read.csv", "read-export.csv"] {
        let reread = [&suspects[..], &["--reread", file, "--json"]].concat();
        assert_eq!(sandbox.json(&reread)["reread"]["wrong"], 0, "{file}");
    }
}
