//! How a file is written where neither its name nor its first bytes say so.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the text of a file is written. What is not said is read off the file: the delimiter off the header line, UTF-16 off
/// its byte-order mark, the decimal sign off the numbers.
///
/// ```
/// use calibrant::corpus::{Layout, ReadOptions, Source, read_all};
/// use calibrant::NoProgress;
/// // What a German spreadsheet writes.
/// let export = b"Text;Klasse\r\nGr\xFC\xDFe, bis bald;privat\r\n";
/// let mut options = ReadOptions::default();
/// options.fields.text = vec!["Text".into()];
/// options.fields.label = Some("Klasse".into());
/// options.layout = Layout { encoding: Some("windows-1252".parse()?), ..Layout::default() };
/// let (documents, _) = read_all(&Source::bytes("mail.csv", *export), &options, &NoProgress)?;
/// assert_eq!(documents[0].content.as_text(), Some("Grüße, bis bald"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Layout {
    /// What divides the fields of CSV; `None` means whichever of `,` `;` tab and `|` the header line has.
    pub delimiter: Option<Delimiter>,
    /// The first row of a table is a row like the others; its fields are called 1, 2, and so on.
    pub no_header: bool,
    /// The decimal sign of numbers; `None` means a point, or a comma where the delimiter is not one.
    pub decimal: Option<DecimalSign>,
    /// How characters are written; `None` means UTF-8, or UTF-16 where the file begins with its mark.
    pub encoding: Option<Encoding>,
    /// The sheet of a spreadsheet, by its name or its number from 1; `None` means the first that is not hidden.
    pub sheet: Option<String>,
}

/// What stands between the whole and the parts of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalSign {
    /// 1.5
    Point,
    /// 1,5
    Comma,
}

calibrant_calibration::named! {
    DecimalSign, "decimal sign";
    Point = "point" | ".", "numbers are written 1.5";
    Comma = "comma" | ",", "numbers are written 1,5";
}

/// What divides the fields of a row: one ASCII character.
///
/// ```
/// use calibrant::corpus::Delimiter;
/// assert_eq!("tab".parse::<Delimiter>()?.byte(), b'\t');
/// assert_eq!(";".parse::<Delimiter>()?.to_string(), ";");
/// assert!("ab".parse::<Delimiter>().is_err());
/// # Ok::<(), calibrant::corpus::DelimiterError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Delimiter(u8);

/// What cannot divide fields.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot divide fields; give one character, for example `;` or `|`, or `tab`, `comma`, `semicolon`, `space`"
)]
pub struct DelimiterError(pub String);

impl Delimiter {
    /// The comma of CSV.
    pub const COMMA: Delimiter = Delimiter(b',');
    /// The tab of TSV.
    pub const TAB: Delimiter = Delimiter(b'\t');
    /// Those that are looked for in a header line; of equals the first is taken.
    pub(super) const USUAL: [Delimiter; 4] = [
        Delimiter::COMMA,
        Delimiter(b';'),
        Delimiter::TAB,
        Delimiter(b'|'),
    ];

    /// As it stands in the file.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = DelimiterError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let byte = match text {
            "tab" | "\\t" => b'\t',
            "comma" => b',',
            "semicolon" => b';',
            "pipe" => b'|',
            "space" => b' ',
            _ => match *text.as_bytes() {
                [byte] => byte,
                _ => b'"',
            },
        };
        // Letters, digits and signs stand in cells; quotes and line ends have a meaning of their own.
        let can = matches!(byte, b'\t' | 0x1C..=0x1F)
            || ((b' '..=b'~').contains(&byte)
                && !byte.is_ascii_alphanumeric()
                && !b"\"'+-.".contains(&byte));
        can.then_some(Delimiter(byte))
            .ok_or_else(|| DelimiterError(text.to_owned()))
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            b'\t' => f.write_str("tab"),
            b' ' => f.write_str("space"),
            byte => write!(f, "{}", char::from(byte)),
        }
    }
}

impl TryFrom<String> for Delimiter {
    type Error = DelimiterError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Delimiter> for String {
    fn from(delimiter: Delimiter) -> Self {
        delimiter.to_string()
    }
}

/// How characters are written as bytes, by any of the names of the WHATWG Encoding Standard.
///
/// ```
/// use calibrant::corpus::Encoding;
/// assert_eq!("latin1".parse::<Encoding>()?.to_string(), "windows-1252"); // as browsers read it
/// assert!("klingon".parse::<Encoding>().is_err());
/// # Ok::<(), calibrant::corpus::EncodingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Encoding(&'static encoding_rs::Encoding);

/// A name that stands for no encoding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not an encoding; known are utf-8, utf-16le, utf-16be, windows-1252 (latin1), windows-1250, windows-1251, iso-8859-2, koi8-r, macintosh, shift_jis, euc-jp, gb18030, big5, euc-kr and the others of the WHATWG standard"
)]
pub struct EncodingError(pub String);

impl Encoding {
    /// UTF-16 with the lower byte first.
    pub(super) const UTF_16LE: Encoding = Encoding(encoding_rs::UTF_16LE);
    /// UTF-16 with the higher byte first.
    pub(super) const UTF_16BE: Encoding = Encoding(encoding_rs::UTF_16BE);

    /// The library's own.
    pub(super) fn inner(self) -> &'static encoding_rs::Encoding {
        self.0
    }

    /// The bytes of a text, or the first character that has none.
    pub(crate) fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        if self == Self::UTF_16LE {
            return Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect());
        }
        if self == Self::UTF_16BE {
            return Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect());
        }
        let (bytes, _, lossy) = self.0.encode(text);
        let cannot = |c: &char| self.0.encode(c.encode_utf8(&mut [0; 4])).2;
        match lossy {
            true => Err(text.chars().find(cannot).unwrap_or('\u{FFFD}')),
            false => Ok(bytes.into_owned()),
        }
    }

    /// What bytes that are not UTF-8 are most likely written in.
    pub(super) fn likely(bytes: &[u8]) -> Encoding {
        let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
        detector.feed(bytes, true);
        Encoding(detector.guess(None, chardetng::Utf8Detection::Deny))
    }
}

impl FromStr for Encoding {
    type Err = EncodingError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        // Names that Python and Windows use beside those of the standard.
        let lower = name.trim().to_ascii_lowercase().replace('_', "-");
        let known = match lower.as_str() {
            "cp1252" | "ansi" | "western" => "windows-1252",
            "utf16" => "utf-16le",
            "utf8" | "utf-8-sig" => "utf-8",
            "mac-roman" => "macintosh",
            "shift-jis" | "cp932" => "shift_jis",
            "cp936" => "gbk",
            "cp949" => "euc-kr",
            "cp950" => "big5",
            other => other,
        };
        let found = encoding_rs::Encoding::for_label(known.as_bytes());
        found
            .filter(|encoding| *encoding != encoding_rs::REPLACEMENT)
            .map(Encoding)
            .ok_or_else(|| EncodingError(name.to_owned()))
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

impl TryFrom<String> for Encoding {
    type Error = EncodingError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl From<Encoding> for String {
    fn from(encoding: Encoding) -> Self {
        encoding.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_survives_being_written_and_may_be_left_out() {
        let layout = Layout {
            delimiter: Some(";".parse().unwrap()),
            no_header: true,
            decimal: Some(DecimalSign::Comma),
            encoding: Some("Latin1".parse().unwrap()),
            sheet: Some("2".into()),
        };
        let written = serde_json::to_string(&layout).unwrap();
        assert_eq!(serde_json::from_str::<Layout>(&written).unwrap(), layout);
        assert_eq!(
            serde_json::from_str::<Layout>("{}").unwrap(),
            Layout::default()
        );
        assert!(serde_json::from_str::<Layout>("{\"delimiter\":\"ab\"}").is_err());
        assert!(serde_json::from_str::<Layout>("{\"encoding\":\"x-klingon\"}").is_err());
    }

    #[test]
    fn what_stands_in_cells_divides_nothing() {
        for bad in [
            "", "a", "1", "\"", "'", "\n", "\r", "-", ".", "ü", ";;", "\0",
        ] {
            assert!(bad.parse::<Delimiter>().is_err(), "{bad:?}");
        }
        for (good, byte) in [
            ("\t", b'\t'),
            ("\\t", b'\t'),
            ("~", b'~'),
            ("space", b' '),
            ("\u{1F}", 0x1F),
        ] {
            assert_eq!(good.parse::<Delimiter>().unwrap().byte(), byte);
        }
    }

    #[test]
    fn encodings_are_known_by_the_names_people_use() {
        for (name, expected) in [
            ("cp1252", "windows-1252"),
            ("ISO-8859-1", "windows-1252"),
            ("UTF16", "utf-16le"),
            ("shift-jis", "shift_jis"),
            ("utf-8-sig", "utf-8"),
            ("GB18030", "gb18030"),
        ] {
            assert_eq!(name.parse::<Encoding>().unwrap().to_string(), expected);
        }
        assert!("iso-2022-kr".parse::<Encoding>().is_err()); // browsers refuse it, for good reasons
    }

    #[test]
    fn the_likely_encoding_is_that_of_the_text() {
        let western = encoding_rs::WINDOWS_1252
            .encode("Grüße aus Köln, bis später für alle")
            .0;
        assert_eq!(Encoding::likely(&western).to_string(), "windows-1252");
        let russian = encoding_rs::WINDOWS_1251
            .encode("Здравствуйте, дорогие друзья")
            .0;
        assert_eq!(Encoding::likely(&russian).to_string(), "windows-1251");
        let japanese = encoding_rs::SHIFT_JIS
            .encode("お世話になっております。よろしくお願いします。")
            .0;
        assert_eq!(Encoding::likely(&japanese).to_string(), "shift_jis");
    }
}
