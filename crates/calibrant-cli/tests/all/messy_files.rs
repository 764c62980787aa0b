//! From files that spreadsheets write to predictions, without a conversion by hand.

use crate::common;

use common::Sandbox;

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
