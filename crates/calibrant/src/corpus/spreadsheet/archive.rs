//! Is it safe to unpack? Workbooks are zip archives of XML, and a few kilobytes can unpack to any size.
//!
//! Everything is measured before a cell is read: what the archive declares, and what really comes out. The XML must be
//! well-formed and flat, so that whoever reads it later comes to the end of every element, and what is kept in
//! memory for the whole workbook (texts, formats, names) must not be too much.

use std::fs::File;
use std::io::{self, BufReader, Read};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::super::ReadError;

/// The most bytes of XML that are unpacked, and the most text that the cells of a sheet may come to.
pub(super) const UNPACKED_LIMIT: u64 = 1 << 30;

/// No spreadsheet nests elements deeper.
const DEEPEST: usize = 200;
/// What is read at once. A cell of Excel holds 32,767 characters.
const LONGEST_TEXT: u64 = 64 << 20;
/// The most texts that cells share; as many as cells in sixteen full columns.
const MOST_TEXTS: u64 = 1 << 24;
/// The most formats, names and sheets of a workbook together. Excel allows 65,490 formats.
const MOST_FORMATS: u64 = 1_000_000;

/// What an archive is known by in errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileName<'a>(pub(super) &'a str);

impl FileName<'_> {
    pub(super) fn damaged(self, reason: impl ToString) -> ReadError {
        // Messages may quote whole texts.
        let reason = reason.to_string().chars().take(300).collect();
        ReadError::Spreadsheet {
            file: self.0.to_owned(),
            reason,
        }
    }

    pub(super) fn too_large(self) -> ReadError {
        ReadError::UnpackedTooLarge {
            file: self.0.to_owned(),
            limit: UNPACKED_LIMIT,
        }
    }

    pub(super) fn io(self, source: io::Error) -> ReadError {
        ReadError::Io {
            file: self.0.to_owned(),
            source,
        }
    }
}

/// Looks through all XML of the archive; pictures and the like are never unpacked.
pub(super) fn check_archive(name: FileName<'_>, file: &File, limit: u64) -> Result<(), ReadError> {
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(|error| {
        name.damaged(format!(
            "it is cut off, damaged, or not a workbook whatever its name says ({error})"
        ))
    })?;
    let mut declared = 0u64;
    let mut parts: Vec<(usize, String)> = Vec::new();
    for at in 0..archive.len() {
        let damaged = |error| name.damaged(error);
        let part = archive.by_index_raw(at).map_err(damaged)?;
        let part_name = part.name().map_err(damaged)?;
        if is_xml(&part_name) {
            declared = declared.saturating_add(part.size());
            parts.push((at, part_name.into_owned()));
        }
    }
    if declared > limit {
        return Err(name.too_large());
    }
    let mut left = limit;
    let mut counts = Counts::default();
    for (at, part_name) in parts {
        let part = archive.by_index(at).map_err(|error| name.damaged(error))?;
        let mut measured = Measured {
            inner: part,
            left,
            since_event: 0,
        };
        let outcome = counts.check_part(&mut measured, part_name.ends_with(".rels"));
        left = measured.left;
        if left == 0 {
            return Err(name.too_large());
        }
        outcome.map_err(|reason| name.damaged(format!("{part_name}: {reason}")))?;
    }
    Ok(())
}

fn is_xml(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    part.ends_with(".xml") || part.ends_with(".rels")
}

/// Ends, as if the file did, before too many bytes are out.
struct Measured<R> {
    inner: R,
    left: u64,
    /// Bytes since the last element began or ended.
    since_event: u64,
}

impl<R: Read> Read for Measured<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.inner.read(&mut buffer[..most])?;
        self.left -= read as u64;
        self.since_event += read as u64;
        if self.since_event > LONGEST_TEXT {
            return Err(io::Error::other("a single text has more than 64 MiB"));
        }
        Ok(read)
    }
}

/// What stays in memory as long as the workbook is read.
#[derive(Debug, Default)]
struct Counts {
    texts: u64,
    formats: u64,
}

impl Counts {
    fn check_part<R: Read>(
        &mut self,
        part: &mut Measured<R>,
        relations: bool,
    ) -> Result<(), String> {
        let mut reader = Reader::from_reader(BufReader::with_capacity(1 << 16, part));
        reader.config_mut().check_comments = false;
        let mut buffer = Vec::new();
        let mut depth = 0usize;
        let mut promised = 0u64;
        let texts_before = self.texts;
        loop {
            buffer.clear();
            let event = reader.read_event_into(&mut buffer);
            let event = event.map_err(|error| error.to_string())?;
            reader.get_mut().get_mut().since_event = 0;
            match &event {
                Event::Start(element) | Event::Empty(element) => {
                    self.count(element.local_name().as_ref())?;
                    promised = promised.max(promised_texts(element)?);
                    if relations {
                        check_relation(element)?;
                    }
                    if matches!(event, Event::Start(_)) {
                        depth += 1;
                    }
                    if depth > DEEPEST {
                        return Err("elements are nested too deeply".into());
                    }
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Eof if depth > 0 => return Err("ends in the middle".into()),
                Event::Eof => break,
                _ => {}
            }
        }
        // Room is made for as many texts as are promised, before the first is read.
        if promised > 2 * (self.texts - texts_before) + 65_536 {
            return Err("promises more texts than it has".into());
        }
        Ok(())
    }

    fn count(&mut self, element: &str) -> Result<(), String> {
        match element {
            "si" => self.texts += 1,
            "xf" | "font" | "fill" | "border" | "numFmt" | "sheet" | "definedName"
            | "Relationship" => self.formats += 1,
            "encryption-data" => return Err("the file has a password".into()),
            _ => {}
        }
        if self.texts > MOST_TEXTS || self.formats > MOST_FORMATS {
            return Err(format!("too many elements `{element}`"));
        }
        Ok(())
    }
}

/// How many texts the table of shared ones says it has.
fn promised_texts(element: &BytesStart<'_>) -> Result<u64, String> {
    if element.local_name().as_ref() != "sst" {
        return Ok(0);
    }
    let mut most = 0;
    for attribute in element.attributes().with_checks(false).flatten() {
        if attribute.key.as_ref() == "uniqueCount" {
            let number = attribute.value.parse::<u64>();
            most = most.max(number.map_err(|_| "uniqueCount is not a number")?);
        }
    }
    Ok(most)
}

/// Workbook and sheets must be among the parts that were looked through. Those of the binary kind are not.
fn check_relation(element: &BytesStart<'_>) -> Result<(), String> {
    let mut kind = String::new();
    let mut target = String::new();
    for attribute in element.attributes().with_checks(false).flatten() {
        match attribute.key.as_ref() {
            "Type" => kind = attribute.value.to_ascii_lowercase(),
            "Target" => target = attribute.value.to_ascii_lowercase(),
            _ => {}
        }
    }
    let is_read = ["/officedocument", "/worksheet"]
        .iter()
        .any(|ending| kind.ends_with(ending));
    if is_read && target.ends_with(".bin") {
        return Err("is of the binary kind (.xlsb); save it as .xlsx or CSV".into());
    }
    if is_read && !target.ends_with(".xml") {
        return Err(format!("leads to `{target}`, which is no sheet"));
    }
    Ok(())
}
