//! One person per test: from the file that their own program writes to decisions beside its columns, without a conversion by hand.

use crate::common::Sandbox;

/// The tickets of the documentation: identifier, subject, body, queue.
fn tickets(name: &str) -> Vec<Vec<String>> {
    let path = format!("{}/../../testdata/docs/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(path).unwrap();
    let rows = reader.records().map(|row| row.unwrap());
    rows.map(|row| row.iter().map(str::to_owned).collect())
        .collect()
}

fn copy_tickets(sandbox: &Sandbox) {
    for name in ["tickets.csv", "tickets-march.csv"] {
        let path = format!("{}/../../testdata/docs/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::copy(path, sandbox.path(name)).unwrap();
    }
}

/// As a spreadsheet of a country with decimal commas writes it, in Windows-1252: semicolons, CRLF, a comma in a header.
fn export(rows: &[Vec<String>], labelled: bool) -> String {
    let mut text = "Nr;Betreff;Text, lang;Betrag".to_owned();
    text += if labelled { ";Team\r\n" } else { "\r\n" };
    for (number, row) in rows.iter().enumerate() {
        // A greeting with an accent, an amount with a decimal comma, a cell that is left empty now and then.
        let subject = if number % 11 == 5 { "" } else { &row[1] };
        let body = format!("\"Café; {}\"", row[2]);
        let amount = format!("{},{:02}", number % 90, number % 100);
        text += &[&row[0], subject, &body, &amount].join(";");
        if labelled {
            // Typed by hand: capitals, spaces, and nothing at all.
            let team = match number % 9 {
                3 => format!("{} ", row[3].to_uppercase()),
                7 if number % 2 == 1 => String::new(),
                _ => row[3].clone(),
            };
            text += &format!(";{team}");
        }
        text += "\r\n";
    }
    text
}

fn windows_1252(text: &str) -> Vec<u8> {
    let bytes = text.chars();
    bytes
        .map(|character| u8::try_from(u32::from(character)).unwrap())
        .collect()
}

fn of_windows_1252(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// What a mistake costs, as a table in the same spreadsheet: wrong answers 5, an outage that nobody sees 50,5, a person 2.
const COSTS: &str = "\u{FEFF}truth;access;billing;delivery;outage;ask\r\naccess;0;5;5;5;2\r\n\
    billing;5;0;5;5;2\r\ndelivery;5;5;0;5;2\r\noutage;50,5;50,5;50,5;0;2\r\n";

fn cost(truth: usize, action: usize) -> f64 {
    match (truth, action) {
        (_, 4) => 2.0,
        (truth, action) if truth == action => 0.0,
        (3, _) => 50.5,
        _ => 5.0,
    }
}

#[test]
fn an_analyst_gets_decisions_beside_the_columns_of_a_semicolon_export() {
    let sandbox = Sandbox::new();
    let (known, new) = (tickets("tickets.csv"), tickets("tickets-march.csv"));
    sandbox.write("export.csv", windows_1252(&export(&known, true)));
    let input = export(&new[..80], false);
    sandbox.write("neu.csv", windows_1252(&input));
    sandbox.write("kosten.csv", COSTS);
    let encoding = ["--encoding", "windows-1252"];
    let fields = [
        "--text",
        "Betreff,\"Text, lang\"",
        "--label",
        "Team",
        "--fold-labels",
    ];
    let fit = [&["fit", "export.csv", "-o", "model", "--json"], &fields[..]].concat();
    let fitted = sandbox.run(&[&fit[..], &encoding].concat());
    assert_eq!(fitted.status.code(), Some(0), "{fitted:?}");
    let notes = String::from_utf8_lossy(&fitted.stderr).into_owned();
    let empty = (0..known.len()).filter(|number| number % 9 == 7 && number % 2 == 1);
    assert!(notes.contains(&empty.count().to_string()), "{notes}");
    let report: serde_json::Value = serde_json::from_slice(&fitted.stdout).unwrap();
    assert_eq!(report["classes"].as_array().unwrap().len(), 4, "{report}");
    let predict = [&["predict", "model", "neu.csv"], &encoding[..]].concat();
    let decide = [
        "--keep",
        "--like-input",
        "--costs",
        "kosten.csv",
        "-o",
        "out.csv",
    ];
    sandbox.succeed(&[&predict[..], &decide].concat());
    let decided = of_windows_1252(&sandbox.read("out.csv"));
    let wide = sandbox.succeed(&[&predict[..], &["--wide"]].concat());
    let names = ["access", "billing", "delivery", "outage", "ask"];
    let mut asked = 0;
    let lines: Vec<&str> = decided.split_terminator("\r\n").collect();
    let own: Vec<&str> = input.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), own.len());
    for (place, (line, own)) in lines.iter().zip(&own).enumerate() {
        let added = line.strip_prefix(own).unwrap_or_else(|| panic!("{line}"));
        let added: Vec<&str> = added.split(';').collect();
        if place == 0 {
            let ours = "label probability decision expected_cost runner_up";
            assert_eq!(added[1..].join(" "), ours);
            continue;
        }
        // The decision of least expected cost, by brute force over the probabilities as they are written elsewhere.
        let stated = wide.lines().nth(place).unwrap().split(',').skip(1);
        let stated: Vec<f64> = stated.map(|cell| cell.parse().unwrap()).collect();
        let expected = (0..5).map(|action| {
            let truths = stated.iter().enumerate();
            truths
                .map(|(truth, p)| p * cost(truth, action))
                .sum::<f64>()
        });
        let expected: Vec<f64> = expected.collect();
        let best = (0..5).min_by(|&a, &b| expected[a].total_cmp(&expected[b]));
        assert_eq!(added[3], names[best.unwrap()], "{line}");
        let paid: f64 = added[4].replace(',', ".").parse().unwrap();
        assert!((paid - expected[best.unwrap()]).abs() < 1e-9, "{line}");
        assert!(added[2].contains(',') && !added[2].contains('.'), "{line}");
        asked += usize::from(added[3] == "ask");
    }
    assert!(asked > 0 && asked < 80, "{asked}");
}

#[test]
fn a_workbook_goes_in_and_a_workbook_with_decisions_comes_out() {
    let sandbox = Sandbox::new();
    copy_tickets(&sandbox);
    let fields = ["--text", "subject,body", "--label", "queue"];
    sandbox.succeed(&[&["fit", "tickets.csv", "-o", "first"], &fields[..]].concat());
    sandbox.succeed(&[
        "predict",
        "first",
        "tickets.csv",
        "--keep",
        "-o",
        "book.xlsx",
    ]);
    // The workbook has the same rows: the same model, and the same answers.
    sandbox.succeed(&[&["fit", "book.xlsx", "-o", "second"], &fields[..]].concat());
    let of = |model: &str, file: &str| sandbox.succeed(&["predict", model, file, "--top", "1"]);
    assert_eq!(of("second", "book.xlsx"), of("first", "tickets.csv"));
    sandbox.succeed(&[
        "predict",
        "first",
        "tickets-march.csv",
        "--keep",
        "-o",
        "march.xlsx",
    ]);
    sandbox.succeed(&[
        "predict",
        "second",
        "march.xlsx",
        "--keep",
        "--ask",
        "10%",
        "-o",
        "asked.xlsx",
    ]);
    // A table of decisions is read like any other: twenty of two hundred go to a person.
    let kept = sandbox.succeed(&["predict", "second", "asked.xlsx", "--keep"]);
    let mut reader = csv::Reader::from_reader(kept.as_bytes());
    let header = reader.headers().unwrap().clone();
    let place = header.iter().position(|name| name == "decision").unwrap();
    // Columns of the first round stay as they are; ours step aside.
    assert!(header.iter().any(|name| name.starts_with("calibrant_")));
    let asked = reader
        .records()
        .filter(|row| &row.as_ref().unwrap()[place] == "ask");
    assert_eq!(asked.count(), 20);
}

#[test]
fn a_team_divides_its_file_measures_decides_and_corrects_for_drift() {
    let sandbox = Sandbox::new();
    copy_tickets(&sandbox);
    let fields = ["--text", "subject,body", "--label", "queue"];
    sandbox.succeed(&[&["split", "tickets.csv", "--test", "0.3"], &fields[..]].concat());
    let fit = ["fit", "tickets.train.csv", "-o", "model"];
    sandbox.succeed(&[&fit, &fields[..]].concat());
    let page = [
        "--costs",
        "outage,*,50;*,*,5;*,ask,2",
        "--html",
        "page.html",
    ];
    let evaluate = ["evaluate", "model", "tickets.test.csv", "--no-ledger"];
    let said = sandbox.succeed(&[&evaluate[..], &page].concat());
    assert!(said.contains("mean cost"), "{said}");
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(
        page.contains("cost") && page.contains("by machine"),
        "the page tells what to do"
    );
    sandbox.succeed(&[
        "recalibrate",
        "model",
        "tickets.test.csv",
        "-o",
        "corrected",
    ]);
    sandbox.succeed(&["fit", "tickets.csv", "--like", "model", "-o", "again"]);
    let answers = sandbox.succeed(&[
        "predict",
        "corrected",
        "tickets.test.csv",
        "--max-error",
        "0.3",
        "--calibration",
        "tickets-march.csv",
        "--top",
        "1",
    ]);
    assert!(answers.lines().count() > 100, "{answers}");
}
