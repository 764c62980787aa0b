//! Workbooks: every command that reads documents or scores reads them, and those that would fill the memory are refused.

use serde_json::{Value, json};

use crate::common::{Sandbox, csv, messages};
use crate::python;

/// Sixty tickets with a score and a moment, as openpyxl, pandas and odfpy write them.
fn written(sandbox: &Sandbox) -> bool {
    let rows: Vec<Value> = (0..60)
        .map(|number| {
            let (subject, team, score) = match number % 2 {
                0 => (format!("Konto gesperrt, Paßwort {number}"), " Zugang ", 1.5),
                _ => (format!("Rechnung über {number} €"), "Buchhaltung", -0.5),
            };
            let score = score * (1.0 + f64::from(number % 7));
            let score = if number % 5 == 0 { -score } else { score };
            json!([
                number,
                subject,
                team,
                score,
                {"date": format!("2026-11-{:02}", 1 + number % 28)},
            ])
        })
        .collect();
    let question = json!({
        "header": ["id", "Betreff, kurz", "Team", "Score", "Tag"],
        "rows": rows,
        "blank": 1,
        "openpyxl": sandbox.path("t.xlsx"),
        "pandas": sandbox.path("pandas.xlsx"),
        "odfpy": sandbox.path("t.ods"),
    });
    python::ask("write_sheets.py", &question).is_some()
}

#[test]
fn every_command_reads_workbooks() {
    let sandbox = Sandbox::new();
    if !written(&sandbox) {
        return;
    }
    let mut said = Vec::new();
    for file in ["t.xlsx", "t.ods", "pandas.xlsx"] {
        sandbox.succeed(&[
            "fit",
            file,
            "--text",
            "\"Betreff, kurz\"",
            "--label",
            "Team",
            "-o",
            "m",
        ]);
        let predicted = sandbox.succeed(&["predict", "m", file, "--top", "1"]);
        assert!(predicted.contains("\n0,1,Zugang,"), "{predicted}");
        let measured = sandbox.json(&["evaluate", "m", file, "--json", "--no-ledger"]);
        let calibrated = sandbox.json(&[
            "calibrate",
            file,
            "--score",
            "Score",
            "--label",
            "Team",
            "--positive",
            "Zugang",
            "--json",
        ]);
        said.push((
            predicted,
            measured["log_loss"].clone(),
            calibrated["documents"].clone(),
        ));
        sandbox.succeed(&[
            "index",
            file,
            "--text",
            "\"Betreff, kurz\"",
            "-o",
            "i",
            "--numbered",
        ]);
        let found = sandbox.succeed(&["search", "i", "Rechnung", "--top", "3"]);
        assert!(found.contains("Rechnung"), "{found}");
    }
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0], said[2]);
    let missing = sandbox.run(&["fit", "t.xlsx", "--sheet", "Tickts", "-o", "no"]);
    let stderr = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("the sheets are `Notes`, `Tickets`"),
        "{stderr}"
    );
    assert!(
        stderr.contains("hint: name one of them with --sheet"),
        "{stderr}"
    );
}

#[test]
fn results_leave_the_cells_of_a_sheet_what_they_are() {
    let sandbox = Sandbox::new();
    sandbox.write("train.csv", csv(&messages(60, 2, 1)));
    sandbox.succeed(&["fit", "train.csv", "-o", "m"]);
    let question = json!({
        "header": ["text", "day", "at", "clock", "paid", "amount", "large", "code"],
        "rows": [
            ["maize", {"date": "2026-11-18"}, {"moment": "2026-11-18T07:30:15"}, {"time": "07:30:00"}, true, 12.5, 1e20, "007"],
            ["bank", {"date": "1999-12-31"}, {"moment": "2024-02-29T23:59:59"}, {"time": "00:00:01"}, false, -3, 7, "TRUE"],
            ["loan", null, null, null, null, null, null, null],
        ],
        "blank": 0,
        "openpyxl": sandbox.path("new.xlsx"),
        "pandas": sandbox.path("pandas.xlsx"),
        "odfpy": sandbox.path("new.ods"),
    });
    if python::ask("write_sheets.py", &question).is_none() {
        return;
    }
    for file in ["new.xlsx", "new.ods"] {
        sandbox.succeed(&["predict", "m", file, "--keep", "-o", "out.xlsx"]);
        let asked = json!({"step": "typed_sheet", "folder": sandbox.path("")});
        let told = python::ask("results_tables.py", &asked).unwrap();
        let kept = |row: usize| told["rows"][row].as_array().unwrap()[1..8].to_vec();
        // openpyxl calls a date without a time a moment at midnight.
        let expected = json!([
            ["datetime", "2026-11-18T00:00:00"],
            ["datetime", "2026-11-18T07:30:15"],
            ["time", "07:30:00"],
            ["bool", true],
            ["float", 12.5],
            ["float", 1e20],
            ["str", "007"],
        ]);
        let said = Value::from(kept(1));
        // A whole number is one, however large.
        let large = &said[5][1];
        assert_eq!(large.as_f64(), Some(1e20), "{file}: {said}");
        let mut said = said;
        said[5] = expected[5].clone();
        assert_eq!(said, expected, "{file}");
        let second = Value::from(kept(2));
        assert_eq!(second[1], json!(["datetime", "2024-02-29T23:59:59"]));
        assert_eq!(second[3], json!(["bool", false]));
        assert_eq!(second[6], json!(["str", "TRUE"]));
        assert!(kept(3).iter().all(|cell| cell[1].is_null()));
        // In text they are what the same sheet saved as CSV would have.
        let text = sandbox.succeed(&["predict", "m", file, "--keep"]);
        assert!(
            text.contains("\nmaize,2026-11-18,2026-11-18T07:30:15,07:30:00,TRUE,12.5,1e20,007,"),
            "{text}"
        );
        assert!(
            text.contains("\nbank,1999-12-31,2024-02-29T23:59:59,00:00:01,FALSE,-3,7,TRUE,"),
            "{text}"
        );
        // What was written is read as the same.
        let again = sandbox.succeed(&["predict", "m", "out.xlsx", "--keep"]);
        for (before, after) in text.lines().zip(again.lines()).skip(1) {
            assert!(after.starts_with(before), "{after}");
        }
    }
}

/// A zip archive with one deflated part that declares `declared` bytes and unpacks to `mebibytes`.
fn bomb(name: &str, mebibytes: usize, declared: u32) -> Vec<u8> {
    use flate2::{Compress, Compression, FlushCompress};
    let mut packer = Compress::new(Compression::best(), false);
    let space = vec![b' '; 1 << 20];
    let mut block = Vec::with_capacity(1 << 16);
    packer
        .compress_vec(&space, &mut block, FlushCompress::Full)
        .unwrap();
    // Complete blocks can stand one behind the other; the last is empty and says so.
    let mut packed = block.repeat(mebibytes);
    packed.extend([0x03, 0x00]);
    let size = (packed.len() as u32).to_le_bytes();
    let declared = declared.to_le_bytes();
    let common = [
        &[20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &size,
        &declared,
        &(name.len() as u16).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    let local = [b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat();
    let central = [
        b"PK\x01\x02\x14\x00",
        &common[..],
        &[0; 14],
        name.as_bytes(),
    ]
    .concat();
    let end = [
        b"PK\x05\x06\0\0\0\0\x01\0\x01\0",
        &(central.len() as u32).to_le_bytes()[..],
        &(local.len() as u32).to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    [local, central, end].concat()
}

#[test]
fn a_bomb_is_refused_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let sheet = "xl/worksheets/sheet1.xml";
    let honest = bomb(sheet, 1100, 1100 << 20);
    assert!(honest.len() < 4 << 20, "{}", honest.len());
    sandbox.write("honest.xlsx", honest);
    sandbox.write("lying.xlsx", bomb(sheet, 1100, 1024));
    sandbox.write("one-text.xlsx", bomb(sheet, 100, 100 << 20));
    sandbox.write("half.xlsx", b"PK\x03\x04 and so on");
    for (file, reason) in [
        ("honest.xlsx", "larger than 1024 MiB; save the sheet as CSV"),
        ("lying.xlsx", "larger than its declared"),
        ("one-text.xlsx", "a single text has more than 64 MiB"),
        ("half.xlsx", "cannot be read"),
    ] {
        for arguments in [
            &["fit", file, "-o", "m"][..],
            &["calibrate", file, "--score", "s", "-o", "m"],
            &["index", file, "-o", "m"],
        ] {
            let refused = sandbox.run(arguments);
            let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
            assert_eq!(refused.status.code(), Some(2), "{stderr}");
            assert!(stderr.contains(reason), "{stderr}");
            assert!(stderr.contains("hint: save the sheet as CSV"), "{stderr}");
            assert!(!sandbox.path("m").exists());
        }
    }
}
