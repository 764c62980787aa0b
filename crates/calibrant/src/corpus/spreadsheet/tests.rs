//! Workbooks made by hand: what is read of them, and what is refused.

use std::io::{Cursor, Seek, SeekFrom, Write};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::testing::{gzip, read, text_of};
use super::super::{Document, Fields, Layout, field_names};
use super::*;
use crate::corpus::Source;

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let options = match *name {
            "mimetype" => {
                SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored)
            }
            _ => SimpleFileOptions::default(),
        };
        writer.start_file(*name, options).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook whose sheets have this content between `sheetData`.
fn xlsx_with(sheets: &[(&str, &str)], strings: &str) -> Vec<u8> {
    let list = |piece: &dyn Fn(usize, &str) -> String| -> String {
        let all = sheets.iter().enumerate();
        all.map(|(at, (name, _))| piece(at + 1, name)).collect()
    };
    let workbook = format!(
        "<workbook xmlns:r=\"{RELATIONS}\"><sheets>{}</sheets></workbook>",
        list(&|at, name| format!("<sheet name=\"{name}\" sheetId=\"{at}\" r:id=\"r{at}\"/>"))
    );
    let relations = format!(
        "<Relationships>{}</Relationships>",
        list(&|at, _| format!(
            "<Relationship Id=\"r{at}\" Type=\"{RELATIONS}/worksheet\" Target=\"worksheets/sheet{at}.xml\"/>"
        ))
    );
    let root = format!(
        "<Relationships><Relationship Id=\"r1\" Type=\"{RELATIONS}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"
    );
    let mut parts = vec![
        ("_rels/.rels".to_owned(), root),
        ("xl/workbook.xml".to_owned(), workbook),
        ("xl/_rels/workbook.xml.rels".to_owned(), relations),
        ("xl/sharedStrings.xml".to_owned(), strings.to_owned()),
    ];
    for (at, (_, rows)) in sheets.iter().enumerate() {
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/sheet{}.xml", at + 1), sheet));
    }
    let parts: Vec<(&str, &str)> = parts
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    archive(&parts)
}

fn xlsx(sheets: &[(&str, &str)]) -> Vec<u8> {
    xlsx_with(
        sheets,
        "<sst uniqueCount=\"1\"><si><t>shared</t></si></sst>",
    )
}

/// A row of texts.
fn row(number: usize, cells: &[&str]) -> String {
    let cell = |(at, text): (usize, &&str)| {
        let column = char::from(b'A' + at as u8);
        format!("<c r=\"{column}{number}\" t=\"inlineStr\"><is><t>{text}</t></is></c>")
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<row r=\"{number}\">{cells}</row>")
}

fn ods(tables: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    );
    archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("content.xml", &content),
    ])
}

fn documents(bytes: &[u8], options: &ReadOptions) -> Vec<Document> {
    read(bytes, options).unwrap().0
}

fn error(bytes: &[u8]) -> String {
    read(bytes, &ReadOptions::default())
        .unwrap_err()
        .to_string()
}

fn sheet(name: &str) -> ReadOptions {
    ReadOptions {
        layout: Layout {
            sheet: Some(name.into()),
            ..Layout::default()
        },
        ..ReadOptions::default()
    }
}

#[test]
fn the_first_sheet_or_the_one_that_is_asked_for() {
    let first = row(1, &["text", "label"]) + &row(2, &["one", "a"]) + &row(9, &["two", "b"]);
    let second = row(3, &["label", "text"]) + &row(4, &["c", "three"]);
    let book = xlsx(&[("First", &first), ("2023", &second)]);
    let found = documents(&book, &ReadOptions::default());
    assert_eq!(text_of(&found), ["one", "two"]);
    // Rows are those of the sheet, whatever is empty between them.
    assert_eq!(found.iter().map(|d| d.line).collect::<Vec<_>>(), [2, 9]);
    assert_eq!(documents(&gzip(&book), &ReadOptions::default()), found);
    for name in ["2", "2023"] {
        assert_eq!(text_of(&documents(&book, &sheet(name))), ["three"]);
    }
    let missing = read(&book, &sheet("3")).unwrap_err().to_string();
    assert!(
        missing.ends_with("there is no sheet `3`; the sheets are `First`, `2023`"),
        "{missing}"
    );
    let names = field_names(&Source::bytes("b.xlsx", book), &sheet("2")).unwrap();
    assert_eq!(names, ["label", "text"]);
}

#[test]
fn cells_of_every_kind_become_text() {
    let cells = "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"str\"><v>label</v></c></row>\
        <row r=\"2\"><c r=\"A2\"><v>3</v></c><c r=\"B2\" t=\"b\"><v>1</v></c></row>\
        <row r=\"3\"><c r=\"A3\"><v>0.5</v></c><c r=\"B3\" t=\"e\"><v>#N/A</v></c></row>\
        <row r=\"4\"><c r=\"A4\"/><c r=\"B4\" t=\"d\"><v>2025-10-13T00:00:00</v></c></row>\
        <row r=\"5\"><c r=\"A5\"/><c r=\"B5\"/></row>";
    let options = ReadOptions {
        fields: Fields {
            text: vec!["shared".into()],
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let found = documents(&xlsx(&[("s", cells)]), &options);
    assert_eq!(text_of(&found), ["3", "0.5", ""]);
    let labels: Vec<String> = found.iter().map(|d| d.labels.join("+")).collect();
    assert_eq!(labels, ["TRUE", "#N/A", "2025-10-13"]);
}

#[test]
fn open_document_repeats_rows_and_cells() {
    let tables = "<table:table table:name=\"S\"><table:table-column table:number-columns-repeated=\"1024\"/>\
        <table:table-row table:number-rows-repeated=\"2\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"string\"><text:p>text</text:p></table:table-cell>\
          <table:table-cell office:value-type=\"string\"><text:p>label</text:p></table:table-cell>\
          <table:table-cell office:value-type=\"string\"><text:p>n</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated=\"2\"><table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"2\">\
          <office:annotation><text:p>a note</text:p></office:annotation>\
          <text:p>a &amp;<text:s text:c=\"2\"/><text:span>b</text:span></text:p><text:p>c</text:p></table:table-cell>\
          <table:table-cell office:value-type=\"float\" office:value=\"3\"><text:p>3,00</text:p></table:table-cell></table:table-row>\
        <table:table-row><table:table-cell office:value-type=\"time\" office:time-value=\"PT07H30M00S\"><text:p>7:30</text:p></table:table-cell>\
          <table:table-cell office:value-type=\"boolean\" office:boolean-value=\"false\"><text:p>FALSCH</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated=\"1048570\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>\
        </table:table>";
    let options = ReadOptions {
        fields: Fields {
            categorical: vec!["n".into()],
            text: vec!["text".into()],
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let found = documents(&ods(tables), &options);
    let texts: Vec<&str> = found
        .iter()
        .map(|d| d.content.as_record().unwrap().text.as_deref().unwrap())
        .collect();
    assert_eq!(texts, ["a &  b\nc", "a &  b\nc", "07:30:00"]);
    assert_eq!(found.iter().map(|d| d.line).collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(found[2].labels, ["FALSE"]);
    let record = found[0].content.as_record().unwrap();
    assert_eq!(record.categories, [Some("3".to_owned())]);
}

#[test]
fn columns_without_a_header_are_numbered_up_to_the_widest_row() {
    let rows = row(1, &["a"]) + &row(2, &["b", "x"]);
    let options = ReadOptions {
        fields: Fields {
            text: vec!["1".into()],
            label: Some("2".into()),
            ..Fields::default()
        },
        layout: Layout {
            no_header: true,
            ..Layout::default()
        },
        ..ReadOptions::default()
    };
    let found = documents(&xlsx(&[("s", &rows)]), &options);
    assert_eq!(text_of(&found), ["a", "b"]);
    assert_eq!((found[0].line, found[1].labels.join("")), (1, "x".into()));
}

#[test]
fn a_malformed_row_is_named_by_sheet_and_row() {
    let rows = row(1, &["text", "label", "w"]) + &row(5, &["one", "a", "heavy"]);
    let options = ReadOptions {
        fields: Fields {
            weight: Some("w".into()),
            ..Fields::default()
        },
        ..ReadOptions::default()
    };
    let book = xlsx(&[("Tickets", &rows)]);
    let said = read(&book, &options).unwrap_err().to_string();
    assert!(
        said.contains(", sheet `Tickets`, row 5, field `w`: a weight must"),
        "{said}"
    );
    let skipping = ReadOptions {
        skip_bad_rows: true,
        ..options
    };
    let said = read(&book, &skipping).unwrap_err().to_string();
    assert!(said.contains("sheet `Tickets`, row 5"), "{said}");
}

#[test]
fn two_cells_far_apart_take_no_room() {
    let rows = format!(
        "{}<row r=\"1048576\"><c r=\"A1048576\" t=\"s\"><v>0</v></c><c r=\"XFD1048576\"><v>1</v></c></row>",
        row(1, &["text", "label"])
    );
    let found = documents(&xlsx(&[("s", &rows)]), &ReadOptions::default());
    assert_eq!(
        (text_of(&found), found[0].line),
        (vec!["shared"], 1_048_576)
    );
}

#[test]
fn what_would_fill_the_memory_is_refused() {
    // A long text in very many cells.
    let strings = format!(
        "<sst uniqueCount=\"2\"><si><t>text</t></si><si><t>{}</t></si></sst>",
        "x".repeat(1 << 20)
    );
    let rows: String = (2..1200)
        .map(|number| format!("<row r=\"{number}\"><c r=\"A{number}\" t=\"s\"><v>1</v></c></row>"))
        .collect();
    let rows = format!("{}{rows}", row(1, &["text", "label"]));
    let said = error(&xlsx_with(&[("s", &rows)], &strings));
    assert!(
        said.contains("larger than 1024 MiB; save the sheet as CSV"),
        "{said}"
    );
    // A table that promises what it does not have.
    let said = error(&xlsx_with(
        &[("s", "")],
        "<sst uniqueCount=\"9999999999999\"/>",
    ));
    assert!(said.contains("promises more texts than it has"), "{said}");
    // Rows that say they are repeated.
    let tables = "<table:table table:name=\"S\">\
        <table:table-row><table:table-cell office:value-type=\"string\"><text:p>text</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>label</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated=\"99999999999\"><table:table-cell office:value-type=\"string\" table:number-columns-repeated=\"99999999999\"><text:p>x<text:s text:c=\"4000000000\"/></text:p></table:table-cell></table:table-row></table:table>";
    let said = error(&ods(tables));
    assert!(said.contains("larger than 1024 MiB"), "{said}");
    let deep = "<a>".repeat(300);
    let said = error(&ods(&deep));
    assert!(said.contains("nested too deeply"), "{said}");
}

#[test]
fn what_unpacks_to_too_much_is_refused_whatever_it_declares() {
    let book = xlsx(&[("s", &row(1, &["text"; 20]).repeat(200))]);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&book).unwrap();
    let name = FileName("f");
    check_archive(name, &file, 1 << 20).unwrap();
    let refused = |file: &File| {
        matches!(
            check_archive(name, file, 1 << 16),
            Err(ReadError::UnpackedTooLarge { .. })
        )
    };
    assert!(refused(&file));
    // The same with sizes in the archive that lie: 4 bytes each, wherever the sizes stand.
    let mut lying = book;
    for at in 0..lying.len() - 30 {
        let size_at = match &lying[at..at + 4] {
            b"PK\x03\x04" => at + 22,
            b"PK\x01\x02" => at + 24,
            _ => continue,
        };
        lying[size_at..size_at + 4].copy_from_slice(&4u32.to_le_bytes());
    }
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&lying).unwrap();
    // Cut off where it says, or measured: refused either way.
    assert!(check_archive(name, &file, 1 << 16).is_err());
}

#[test]
fn files_that_only_look_like_workbooks_are_said_to_be_damaged() {
    let whole = xlsx(&[("s", &row(1, &["text", "label"]))]);
    for bytes in [
        whole[..whole.len() / 2].to_vec(),
        archive(&[("a.txt", "x")]),
        b"PK\x03\x04".to_vec(),
        ods("<table:table table:name=\"S\"><table:table-row>"),
        xlsx(&[("s", "<row><c t=\"s\"><v>77</v></c></row>")]),
    ] {
        let said = error(&bytes);
        assert!(said.contains("the spreadsheet cannot be read"), "{said}");
    }
    let old = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 whatever".to_vec();
    assert!(error(&old).contains("save it as .xlsx"), "{}", error(&old));
    let secret = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        (
            "META-INF/manifest.xml",
            "<m:manifest><m:encryption-data/></m:manifest>",
        ),
    ]);
    assert!(error(&secret).contains("has a password"));
}

/// Damaged inside, where no checksum of the archive notices it.
fn damaged(content: &str, at: &prop::sample::Index, with: &str) -> String {
    let mut place = at.index(content.len());
    while !content.is_char_boundary(place) {
        place -= 1;
    }
    format!("{}{with}{}", &content[..place], &content[place..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn damaged_workbooks_give_documents_or_an_error(
        at in any::<prop::sample::Index>(),
        with in "(<row>|</row>|<c |<v>|</c>|</sheetData>|<si>|r=\"ZZZZ9\"|t=\"s\"|[<>\"/&;=0-9 a-z]){1,6}",
        byte in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let rows = row(1, &["text", "label"]) + &row(2, &["one", "a"]) + &row(3, &["two", "b"]);
        let strings = "<sst uniqueCount=\"1\"><si><t>shared</t></si></sst>";
        for book in [
            xlsx_with(&[("s", &damaged(&rows, &at, &with))], strings),
            xlsx_with(&[("s", &rows)], &damaged(strings, &at, &with)),
        ] {
            let _ = read(&book, &ReadOptions::default());
        }
        let mut book = xlsx(&[("s", &rows)]);
        let place = byte.index(book.len());
        book[place] ^= flip;
        let _ = read(&book, &ReadOptions::default());
    }

    #[test]
    fn damaged_open_documents_give_documents_or_an_error(
        at in any::<prop::sample::Index>(),
        with in "(<table:table-row>|</table:table-row>|<table:table>|</table:table>|<text:p>|<office:annotation>|[<>\"/&;=0-9 a-z]){1,6}",
        repeats in any::<u64>(),
    ) {
        let tables = format!("<table:table table:name=\"S\"><table:table-row><table:table-cell office:value-type=\"string\"><text:p>text</text:p></table:table-cell></table:table-row>\
            <table:table-row table:number-rows-repeated=\"{repeats}\"><table:table-cell table:number-columns-repeated=\"{repeats}\"/></table:table-row></table:table>");
        let _ = read(&ods(&damaged(&tables, &at, &with)), &ReadOptions::default());
    }
}

#[test]
fn cells_without_a_header_are_kept() {
    use super::super::{Kept, KeptRow, read_kept_batches};
    let rows =
        row(1, &["text", "label"]) + &row(2, &["one", "a"]) + &row(3, &["two", "b", "", "note"]);
    let options = ReadOptions {
        keep: true,
        ..ReadOptions::default()
    };
    let source = Source::bytes("a.xlsx", xlsx(&[("s", &rows)]));
    let kept = |found: Vec<Kept<Document>>| -> Vec<KeptRow> {
        found.into_iter().filter_map(|row| row.kept).collect()
    };
    let mut all = Vec::new();
    read_kept_batches(&source, &options, &crate::NoProgress, kept, |batch| {
        all.extend(batch);
        ControlFlow::Continue(())
    })
    .unwrap();
    let names: Vec<_> = all[0].names().collect();
    assert_eq!(names, ["text", "label", "column_3", "column_4"]);
    let width = |row: &KeptRow| row.cells().unwrap().len();
    assert_eq!((width(&all[0]), width(&all[1])), (4, 4));
    assert_eq!(all[1].cells().unwrap()[3], Cell::text("note"));
}
