//! Sheets of OpenDocument, as LibreOffice writes them.
//!
//! Rows and cells say how often they are repeated, up to billions of times, so nothing is written out: a row comes with the range
//! of its numbers, a cell with the range of its columns. (calamine writes them out, and does not come back from a
//! sheet that is cut off.)

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

use super::super::ReadError;
use super::archive::FileName;
use super::cell::{SheetCell, clock, date, moment_cell, number_cell, text_cell, truth};
use super::{RowCells, Sheet, VisitRow};

pub(super) struct OpenDocument {
    archive: ZipArchive<BufReader<File>>,
    sheets: Vec<Sheet>,
}

/// Parts of a sheet whose texts and tables are not its own.
const PASSED_OVER: [&str; 4] = [
    "office:annotation",
    "table:shapes",
    "draw:frame",
    "office:forms",
];

impl OpenDocument {
    pub(super) fn open(name: FileName<'_>, file: File) -> Result<Self, ReadError> {
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| name.damaged(error))?;
        let mut book = Self {
            archive,
            sheets: Vec::new(),
        };
        let mut found = SheetNames::default();
        book.each_event(name, |event| {
            found.look_at(event);
            Ok(true)
        })?;
        book.sheets = found.sheets;
        Ok(book)
    }

    pub(super) fn sheets(&self) -> Vec<Sheet> {
        self.sheets.clone()
    }

    pub(super) fn each_row(
        &mut self,
        name: FileName<'_>,
        sheet: &str,
        visit: &mut VisitRow<'_>,
    ) -> Result<(), ReadError> {
        let mut walk = Walk::new(name, sheet);
        self.each_event(name, |event| walk.step(event, visit))
    }

    /// Hands every event of the content to `visit` until that is false.
    fn each_event(
        &mut self,
        name: FileName<'_>,
        mut visit: impl FnMut(&Event<'_>) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let part = self.archive.by_name("content.xml");
        let part = part.map_err(|error| name.damaged(error))?;
        let mut reader = Reader::from_reader(BufReader::with_capacity(1 << 16, part));
        let config = reader.config_mut();
        config.check_comments = false;
        config.expand_empty_elements = true;
        let mut buffer = Vec::new();
        while let Some(event) = next(name, &mut reader, &mut buffer)? {
            if !visit(&event)? {
                break;
            }
        }
        Ok(())
    }
}

fn next<'b>(
    name: FileName<'_>,
    reader: &mut Reader<impl BufRead>,
    buffer: &'b mut Vec<u8>,
) -> Result<Option<Event<'b>>, ReadError> {
    buffer.clear();
    match reader.read_event_into(buffer) {
        Ok(Event::Eof) => Ok(None),
        Ok(event) => Ok(Some(event)),
        Err(error) => Err(name.damaged(error)),
    }
}

/// The sheets in their order, and which of them are hidden.
#[derive(Default)]
struct SheetNames {
    style: String,
    hiding: HashSet<String>,
    inside: usize,
    sheets: Vec<Sheet>,
}

impl SheetNames {
    fn look_at(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(element) => match element.name().as_ref() {
                "style:style" => self.style = attribute(element, "style:name").unwrap_or_default(),
                "style:table-properties"
                    if attribute(element, "table:display").as_deref() == Some("false") =>
                {
                    self.hiding.insert(std::mem::take(&mut self.style));
                }
                "table:table" => {
                    self.inside += 1;
                    if self.inside == 1 {
                        let style = attribute(element, "table:style-name").unwrap_or_default();
                        self.sheets.push(Sheet {
                            name: attribute(element, "table:name").unwrap_or_default(),
                            hidden: self.hiding.contains(&style),
                        });
                    }
                }
                _ => {}
            },
            Event::End(element) if element.name().as_ref() == "table:table" => {
                self.inside = self.inside.saturating_sub(1);
            }
            _ => {}
        }
    }
}

/// Where in the content we are.
struct Walk<'a> {
    name: FileName<'a>,
    sheet: &'a str,
    /// How many tables we are in, the sheet being the first.
    tables: usize,
    in_sheet: bool,
    /// How many elements we are inside of something that is passed over.
    skipped: usize,
    /// The number of the next row, from 0.
    next_row: u64,
    row: RowCells,
    row_repeats: u64,
    next_column: u64,
    cell: Option<OpenCell>,
}

/// A cell that has not ended yet.
struct OpenCell {
    repeats: u64,
    /// What its attributes say.
    value: Option<SheetCell>,
    text: String,
    paragraphs: usize,
    /// How many elements we are inside of it.
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(name: FileName<'a>, sheet: &'a str) -> Self {
        Self {
            name,
            sheet,
            tables: 0,
            in_sheet: false,
            skipped: 0,
            next_row: 0,
            row: RowCells::default(),
            row_repeats: 1,
            next_column: 0,
            cell: None,
        }
    }

    /// One event; false where nothing more is wanted.
    fn step(&mut self, event: &Event<'_>, visit: &mut VisitRow<'_>) -> Result<bool, ReadError> {
        match event {
            Event::Start(element) if self.skipped > 0 => {
                let _ = element;
                self.skipped += 1;
            }
            Event::End(_) if self.skipped > 0 => self.skipped -= 1,
            _ if self.skipped > 0 => {}
            Event::Start(element) => self.start(element)?,
            Event::End(element) => return self.end(element.name().as_ref(), visit),
            Event::Text(text) => self.write(&text.xml10_content())?,
            Event::CData(text) => self.write(&text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let known = quick_xml::escape::resolve_xml_entity(reference.as_ref());
                match (known, reference.resolve_char_ref()) {
                    (Some(text), _) => self.write(text)?,
                    (None, Ok(Some(character))) => {
                        self.write(character.encode_utf8(&mut [0; 4]))?
                    }
                    _ => return Err(self.name.damaged("an entity that is not known")),
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), ReadError> {
        let name = element.name();
        let name = name.as_ref();
        if self.in_sheet && PASSED_OVER.contains(&name) {
            self.skipped = 1;
            return Ok(());
        }
        if let Some(cell) = &mut self.cell {
            cell.depth += 1;
            match name {
                "text:p" | "text:h" => {
                    cell.paragraphs += 1;
                    if cell.paragraphs > 1 {
                        cell.text.push('\n');
                    }
                }
                "text:tab" => cell.text.push('\t'),
                "text:line-break" => cell.text.push('\n'),
                // A text of nothing but spaces would be as long as it says.
                "text:s" => {
                    let count = repeats(element, "text:c").min(1 << 10);
                    cell.text.extend((0..count).map(|_| ' '));
                }
                _ => {}
            }
            return Ok(());
        }
        match name {
            "table:table" => {
                self.tables += 1;
                if self.tables == 1 && !self.in_sheet {
                    self.in_sheet = attribute(element, "table:name").as_deref() == Some(self.sheet);
                }
            }
            "table:table-row" if self.in_sheet => {
                self.row_repeats = repeats(element, "table:number-rows-repeated");
                self.next_column = 0;
            }
            "table:table-cell" | "table:covered-table-cell" if self.in_sheet => {
                self.cell = Some(OpenCell {
                    repeats: repeats(element, "table:number-columns-repeated"),
                    value: value_of(element),
                    text: String::new(),
                    paragraphs: 0,
                    depth: 0,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, visit: &mut VisitRow<'_>) -> Result<bool, ReadError> {
        if let Some(mut cell) = self.cell.take() {
            if cell.depth > 0 {
                cell.depth -= 1;
                self.cell = Some(cell);
                return Ok(true);
            }
            let columns = self.next_column..self.next_column.saturating_add(cell.repeats);
            self.next_column = columns.end;
            if let Some(value) = cell.value.or_else(|| text_cell(&cell.text)) {
                self.row.push(self.name, columns, value)?;
            }
            return Ok(true);
        }
        match name {
            "table:table-row" if self.in_sheet => {
                let rows = self.next_row..self.next_row.saturating_add(self.row_repeats);
                self.next_row = rows.end;
                return Ok(self.row.hand_on(rows, visit)?.is_continue());
            }
            "table:table" => {
                self.tables = self.tables.saturating_sub(1);
                if self.tables == 0 && self.in_sheet {
                    return Ok(false);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn write(&mut self, text: &str) -> Result<(), ReadError> {
        // What stands between paragraphs makes the file easier to read.
        if let Some(cell) = &mut self.cell
            && cell.depth > 0
        {
            cell.text.push_str(text);
        }
        Ok(())
    }
}

/// The value that a cell's attributes say; a text may stand in its paragraphs alone.
fn value_of(element: &BytesStart<'_>) -> Option<SheetCell> {
    let kind = attribute(element, "office:value-type")?;
    // What went wrong is said in the paragraph.
    if attribute(element, "calcext:value-type").as_deref() == Some("error") {
        return None;
    }
    match kind.as_str() {
        "float" | "percentage" | "currency" => {
            let written = attribute(element, "office:value")?;
            match written.parse::<f64>() {
                Ok(number) => Some(number_cell(number)),
                Err(_) => text_cell(&written),
            }
        }
        "date" => moment_cell(date(&attribute(element, "office:date-value")?)),
        "time" => moment_cell(&clock(&attribute(element, "office:time-value")?)),
        "boolean" => Some(truth(attribute(element, "office:boolean-value")? == "true")),
        _ => text_cell(&attribute(element, "office:string-value")?),
    }
}

fn repeats(element: &BytesStart<'_>, name: &str) -> u64 {
    let written = attribute(element, name);
    written.and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut all = element.attributes();
    let all = all.with_checks(false).flatten();
    let found = all.into_iter().find(|one| one.key.as_ref() == name)?;
    let value = found.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}
