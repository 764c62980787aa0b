//! Workbooks that openpyxl, pandas and odfpy wrote.

use calibrant::NoProgress;
use calibrant::corpus::{Document, Fields, Layout, ReadOptions, Source, read_all};
use serde_json::json;

use super::python::ask;

#[test]
fn cells_of_every_kind_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let question = json!({
        "header": ["Betreff, kurz", "Team", "Dauer", "Tag", "Um", "Offen"],
        "rows": [
            ["Konto gesperrt", " Zugang ", 1.5, {"date": "2026-11-18"}, {"time": "07:30:00"}, true],
            ["Größe 数 <b> & \"so\"\nweiter", "Buchhaltung", 3, {"moment": "2026-11-18T07:30:05"}, {"time": "23:59:59"}, false],
            [null, "Zugang", null, null, null, null],
            [12, "Buchhaltung", -0.25, {"date": "1999-12-31"}, {"time": "00:00:01"}, true],
        ],
        "blank": 2,
        "openpyxl": path("openpyxl.xlsx"), "pandas": path("pandas.xlsx"), "odfpy": path("odfpy.ods"),
    });
    if ask("write_sheets.py", &question).is_none() {
        return;
    }
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let options = ReadOptions {
        fields: Fields {
            text: names(&["Betreff, kurz"]),
            label: Some("Team".into()),
            numeric: names(&["Dauer"]),
            categorical: names(&["Tag", "Um", "Offen"]),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let read = |name: &str, options: &ReadOptions| -> Vec<Document> {
        let source = Source::from(path(name));
        read_all(&source, options, &NoProgress).unwrap().0
    };
    // The sheet that is not hidden, from its third row on.
    let first = read("openpyxl.xlsx", &options);
    let lines: Vec<u64> = first.iter().map(|document| document.line).collect();
    assert_eq!(lines, [4, 5, 6, 7]);
    let text = |document: &Document| document.content.as_record().unwrap().text.clone();
    assert_eq!(text(&first[1]).unwrap(), "Größe 数 <b> & \"so\"\nweiter");
    assert_eq!(text(&first[2]).unwrap(), "");
    assert_eq!(text(&first[3]).unwrap(), "12");
    assert_eq!(first[0].labels, ["Zugang"]);
    let numbers: Vec<Option<f64>> = first
        .iter()
        .map(|document| document.content.as_record().unwrap().numbers[0])
        .collect();
    assert_eq!(numbers, [Some(1.5), Some(3.0), None, Some(-0.25)]);
    let cells = |document: &Document| -> Vec<String> {
        let cells = &document.content.as_record().unwrap().categories;
        cells
            .iter()
            .map(|cell| cell.clone().unwrap_or_default())
            .collect()
    };
    assert_eq!(cells(&first[0]), ["2026-11-18", "07:30:00", "TRUE"]);
    assert_eq!(
        cells(&first[1]),
        ["2026-11-18T07:30:05", "23:59:59", "FALSE"]
    );
    assert_eq!(cells(&first[2]), ["", "", ""]);
    // The same from the others; pandas begins in the first row.
    let same = |mut documents: Vec<Document>, offset: u64| {
        for document in &mut documents {
            document.line += offset;
        }
        assert_eq!(documents, first);
    };
    same(read("odfpy.ods", &options), 0);
    same(read("pandas.xlsx", &options), 2);
    for sheet in ["Tickets", "2"] {
        let layout = Layout {
            sheet: Some(sheet.into()),
            ..Layout::default()
        };
        let options = ReadOptions {
            layout,
            ..options.clone()
        };
        same(read("openpyxl.xlsx", &options), 0);
    }
}
