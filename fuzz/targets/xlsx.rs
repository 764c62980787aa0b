#![no_main]

use calibrant::corpus::Format;
use calibrant_fuzz::{archive, read};

const TYPE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

// The bytes as a workbook, and as the sheet, the texts, the formats and the list of sheets of one.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    read(Format::Xlsx, bytes);
    let relation = |id: &str, kind: &str, target: &str| {
        format!("<Relationships><Relationship Id=\"{id}\" Type=\"{TYPE}/{kind}\" Target=\"{target}\"/></Relationships>")
    };
    let root = relation("r", "officeDocument", "xl/workbook.xml");
    let of_workbook = relation("s", "worksheet", "sheet.xml");
    let whole: [(&str, &[u8]); 6] = [
        ("_rels/.rels", root.as_bytes()),
        ("xl/_rels/workbook.xml.rels", of_workbook.as_bytes()),
        ("xl/workbook.xml", b"<workbook><sheets><sheet name=\"s\" r:id=\"s\"/></sheets></workbook>"),
        ("xl/sharedStrings.xml", b"<sst><si><t>text</t></si><si><t>label</t></si></sst>"),
        ("xl/styles.xml", b"<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
        (
            "xl/sheet.xml",
            b"<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"B1\" t=\"s\"><v>1</v></c></row>\
              <row r=\"2\"><c r=\"A2\" s=\"0\"><v>45000</v></c><c r=\"B2\" t=\"b\"><v>1</v></c></row></sheetData></worksheet>",
        ),
    ];
    for part in 2..whole.len() {
        let mut parts = whole;
        parts[part].1 = bytes;
        read(Format::Xlsx, &archive(&parts));
    }
});
