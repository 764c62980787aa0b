//! Opens a source: a path, bytes or a reader, compressed or not, and tells its format.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::decoded::Decoded;
use super::delimited::has_quoted_rows;
use super::live::Live;
use super::{Encoding, FileStyle, Format, ReadError, ReadOptions};

/// Where a corpus comes from: a file or a folder, bytes in memory, or anything that can be read.
///
/// ```
/// use calibrant::corpus::Source;
/// assert_eq!(Source::from("a.csv".as_ref()).name(), "a.csv");
/// let mail = Source::bytes("mail.csv", *b"text,label\nSee you,ham\n");
/// assert_eq!(mail.name(), "mail.csv");
/// let input = Source::reader("standard input", std::io::stdin());
/// assert!(mail.can_be_read_again() && !input.can_be_read_again());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Source {
    /// A file or a folder.
    Path(PathBuf),
    /// What a file would hold, in memory.
    Bytes {
        /// The name used in messages; its ending may tell the format.
        name: String,
        /// The content, compressed or not.
        bytes: Arc<[u8]>,
    },
    /// Anything that can be read, once. See [`Source::reader`].
    Reader(ReadOnce),
}

/// A reader that is taken when the source is opened.
#[derive(Clone)]
pub struct ReadOnce {
    name: String,
    reader: Arc<Mutex<Option<Box<dyn Read + Send>>>>,
}

impl fmt::Debug for ReadOnce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        formatter
            .debug_struct("ReadOnce")
            .field("name", name)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// Whatever can be read: a socket, a pipe, standard input. It can be read once; `name` is used in messages, and its ending may
    /// tell the format.
    pub fn reader(name: impl Into<String>, reader: impl Read + Send + 'static) -> Self {
        Source::Reader(ReadOnce {
            name: name.into(),
            reader: Arc::new(Mutex::new(Some(Box::new(reader)))),
        })
    }

    /// What a file called `name` would hold.
    pub fn bytes(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        Source::Bytes {
            name: name.into(),
            bytes: bytes.into(),
        }
    }

    /// The name used in messages.
    pub fn name(&self) -> String {
        match self {
            Source::Path(path) => path.display().to_string(),
            Source::Bytes { name, .. } => name.clone(),
            Source::Reader(once) => once.name.clone(),
        }
    }

    /// Whether it may be opened more than once.
    pub fn can_be_read_again(&self) -> bool {
        !matches!(self, Source::Reader(_))
    }
}

impl From<&Path> for Source {
    fn from(path: &Path) -> Self {
        Source::Path(path.to_owned())
    }
}

impl From<PathBuf> for Source {
    fn from(path: PathBuf) -> Self {
        Source::Path(path)
    }
}

/// What a source turned out to be.
pub(super) enum Opened {
    Folder(PathBuf),
    Stream(Stream, Format),
}

/// Opens the source as the options say, if anything.
pub(super) fn open(source: &Source, options: &ReadOptions) -> Result<Opened, ReadError> {
    let encoding = options.layout.encoding;
    match open_bytes(source, options.format, encoding, options.as_they_come)? {
        Raw::Folder(path) => Ok(Opened::Folder(path)),
        Raw::Stream(mut stream) => {
            // A name that says text does not make text of a spreadsheet; which kind a packed one is that does not say, its name does.
            let told = || {
                let by_name = Format::of_path(Path::new(&source.name()));
                match sniff_binary(&stream.head) {
                    Some(Format::Xlsx) if by_name == Some(Format::Ods) => by_name,
                    found => found.or(by_name),
                }
            };
            let format = options.format.or_else(told);
            let format = stream.format(format)?;
            Ok(Opened::Stream(stream, format))
        }
    }
}

/// Opens the source as text whose format is somebody else's business; a folder is `None`.
pub(super) fn open_text(source: &Source) -> Result<Option<Stream>, ReadError> {
    match open_bytes(source, None, None, false)? {
        Raw::Folder(_) => Ok(None),
        Raw::Stream(mut stream) => {
            stream.put_back_head(true);
            Ok(Some(stream))
        }
    }
}

/// What is opened, before its format is known.
enum Raw {
    Folder(PathBuf),
    Stream(Stream),
}

fn open_bytes(
    source: &Source,
    format: Option<Format>,
    encoding: Option<Encoding>,
    as_they_come: bool,
) -> Result<Raw, ReadError> {
    let path = match source {
        Source::Path(path) => path,
        Source::Bytes { name, bytes } => {
            let size = Some(bytes.len() as u64);
            let reader = Box::new(Cursor::new(Arc::clone(bytes)));
            let stream = Stream::new(name.clone(), reader, size, None, false)?;
            return stream.decoded(encoding).map(Raw::Stream);
        }
        Source::Reader(once) => {
            let taken = once.reader.lock().ok().and_then(|mut held| held.take());
            let reader = taken.ok_or_else(|| ReadError::ReadBefore {
                file: once.name.clone(),
            })?;
            let stream = Stream::new(once.name.clone(), reader, None, None, as_they_come)?;
            return stream.decoded(encoding).map(Raw::Stream);
        }
    };
    let metadata = std::fs::metadata(path).map_err(|error| path_error(path, error))?;
    if metadata.is_dir() {
        return match format {
            None | Some(Format::Folder) => Ok(Raw::Folder(path.clone())),
            Some(_) => Err(ReadError::IsDirectory {
                path: path.clone(),
                hint: "name a file, or use the folder format (one subfolder of text files per class)",
            }),
        };
    }
    if format == Some(Format::Folder) {
        return Err(ReadError::NotADirectory { path: path.clone() });
    }
    let file = File::open(path).map_err(|error| path_error(path, error))?;
    // Only a regular file knows its size; a named pipe says zero.
    let size = metadata.is_file().then_some(metadata.len());
    let plain_file = metadata.is_file().then(|| path.clone());
    let live = as_they_come && !metadata.is_file();
    let stream = Stream::new(source.name(), Box::new(file), size, plain_file, live)?;
    stream.decoded(encoding).map(Raw::Stream)
}

pub(super) fn path_error(path: &Path, error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::NotFound => ReadError::NotFound {
            path: path.to_owned(),
        },
        _ => ReadError::Io {
            file: path.display().to_string(),
            source: error,
        },
    }
}

/// Decompressed bytes, and what is known about where they come from.
pub(super) struct Stream {
    pub(super) name: String,
    /// The bytes themselves; a byte-order mark at the start is left out.
    pub(super) reader: Box<dyn Read + Send>,
    /// The size as stored, where known.
    pub(super) size: Option<u64>,
    /// The file, if it is a regular one and not compressed: Parquet and spreadsheets are read out of order.
    pub(super) plain_file: Option<PathBuf>,
    /// The first bytes, for a look at how the file is written.
    pub(super) head: Vec<u8>,
    /// Whoever writes it may wait for answers to what is written so far.
    pub(super) live: bool,
    /// What is known of how it is written.
    pub(super) style: FileStyle,
    compressed: bool,
    meter: Arc<Meter>,
}

const HEAD_BYTES: usize = 1 << 16;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
const PARQUET_MAGIC: &[u8] = b"PAR1";
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// How Excel files of before 2007 begin, and newer ones with a password.
const COMPOUND_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

impl Stream {
    pub(super) fn new(
        name: String,
        raw: Box<dyn Read + Send>,
        size: Option<u64>,
        plain_file: Option<PathBuf>,
        live: bool,
    ) -> Result<Self, ReadError> {
        let meter = Arc::new(Meter::default());
        let mut counted = Counted {
            inner: raw,
            meter: Arc::clone(&meter),
        };
        let io_error = |source| ReadError::Io {
            file: name.clone(),
            source,
        };
        // The first bytes decide, not the ending: names lie more often than magic numbers.
        let magic = read_up_to(&mut counted, 4).map_err(io_error)?;
        let compression = Compression::of(&magic);
        let stored = BufReader::with_capacity(1 << 16, Cursor::new(magic).chain(counted));
        let mut reader: Box<dyn Read + Send> = match compression {
            None => Box::new(stored),
            Some(Compression::Gzip) => Box::new(flate2::bufread::MultiGzDecoder::new(stored)),
            Some(Compression::Zstandard) => {
                Box::new(zstd::stream::read::Decoder::with_buffer(stored).map_err(io_error)?)
            }
        };
        let compressed = compression.is_some();
        let head = read_head(&mut reader, Vec::new(), live);
        let plain_file = plain_file.filter(|_| !compressed);
        let mut stream = Self {
            name,
            reader,
            size,
            plain_file,
            head: Vec::new(),
            live,
            style: FileStyle::default(),
            compressed,
            meter,
        };
        stream.head = head.map_err(|error| stream.error(error))?;
        if stream.head.is_empty() || stream.head == BYTE_ORDER_MARK {
            return Err(ReadError::Empty { file: stream.name });
        }
        Ok(stream)
    }

    #[cfg(test)]
    pub(super) fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            reader: Box::new(Cursor::new(bytes)),
            size: None,
            plain_file: None,
            head: Vec::new(),
            live: false,
            style: FileStyle::default(),
            compressed: false,
            meter: Arc::default(),
        }
    }

    /// Text in another encoding becomes UTF-8: the one that was given, or UTF-16 by its mark.
    fn decoded(mut self, given: Option<Encoding>) -> Result<Self, ReadError> {
        let by_mark = match *self.head.as_slice() {
            [0xFF, 0xFE, ..] => Some(Encoding::UTF_16LE),
            [0xFE, 0xFF, ..] => Some(Encoding::UTF_16BE),
            _ => None,
        };
        let Some(encoding) = by_mark.or(given).filter(|_| !is_binary(&self.head)) else {
            return Ok(self);
        };
        self.style.encoding = Some(encoding);
        self.style.byte_order_mark = by_mark.is_some() || self.head.starts_with(BYTE_ORDER_MARK);
        let stored = Cursor::new(std::mem::take(&mut self.head));
        let after = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        let mut reader = Decoded::new(stored.chain(after), encoding);
        let head = read_head(&mut reader, Vec::new(), self.live);
        self.head = head.map_err(|error| self.error(error))?;
        self.reader = Box::new(reader);
        self.plain_file = None;
        if self.head.is_empty() {
            return Err(ReadError::Empty { file: self.name });
        }
        Ok(self)
    }

    /// Settles the format, by what is known or by the first bytes, and readies the reader.
    fn format(&mut self, known: Option<Format>) -> Result<Format, ReadError> {
        if self.head.starts_with(COMPOUND_MAGIC) {
            return Err(ReadError::OldSpreadsheet {
                file: self.name.clone(),
            });
        }
        let mut format = known.or_else(|| sniff(&self.head));
        // The first line alone may not tell.
        while self.live && format.is_none() {
            let before = self.head.len();
            let head = std::mem::take(&mut self.head);
            let more = read_head(&mut self.reader, head, true);
            self.head = more.map_err(|error| self.error(error))?;
            format = sniff(&self.head);
            if self.head.len() == before {
                break;
            }
        }
        let format = format.ok_or_else(|| ReadError::UnknownFormat {
            file: self.name.clone(),
        })?;
        self.put_back_head(!format.is_binary());
        Ok(format)
    }

    /// Readies the reader: what was looked at comes first, of text without a mark of its byte order.
    fn put_back_head(&mut self, is_text: bool) {
        if is_text && self.head.starts_with(BYTE_ORDER_MARK) {
            self.head.drain(..BYTE_ORDER_MARK.len());
            self.style.byte_order_mark = true;
        }
        let after = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(self.head.clone()).chain(after));
    }

    /// Takes off the bracket that opens a list, if the text begins with one.
    pub(super) fn take_bracket(&mut self) -> bool {
        let blank = self
            .head
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let after = self.head.get(blank + 1..).unwrap_or_default();
        let first = after.trim_ascii_start().first();
        // Of what else a list holds no row can be made: it is a bad line among lines.
        let opens = self.head.get(blank) == Some(&b'[') && matches!(first, Some(b'{' | b']'));
        if opens {
            let after = std::mem::replace(&mut self.reader, Box::new(io::empty()));
            let bracket = Blanked {
                inner: after,
                place: Some(blank),
            };
            self.reader = Box::new(bracket);
        }
        opens
    }

    /// The bytes, read on a thread of their own; where there can be none, the first read fails.
    pub(super) fn take_live(&mut self) -> Live {
        let inner = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        Live::new(inner).unwrap_or_else(Live::failed)
    }

    /// Bytes taken from the source so far, as stored.
    pub(super) fn bytes_read(&self) -> u64 {
        self.meter.bytes.load(Ordering::Relaxed)
    }

    /// Says whose fault a failed read is: the system's, or that of the compressed data.
    pub(super) fn error(&self, error: io::Error) -> ReadError {
        let file = self.name.clone();
        if self.compressed && !self.meter.failed.load(Ordering::Relaxed) {
            ReadError::Compressed {
                file,
                reason: error.to_string(),
            }
        } else {
            ReadError::Io {
                file,
                source: error,
            }
        }
    }
}

/// All decompressed bytes of one small file, at most `limit` of them; `None` if there are more.
pub(super) fn read_small_file(
    path: &Path,
    limit: usize,
    encoding: Option<Encoding>,
) -> Result<Option<Vec<u8>>, ReadError> {
    let file = File::open(path).map_err(|error| path_error(path, error))?;
    let name = path.display().to_string();
    let stream = Stream::new(name, Box::new(file), None, None, false);
    let mut stream = match stream.and_then(|stream| stream.decoded(encoding)) {
        // An empty file is an empty document.
        Err(ReadError::Empty { .. }) => return Ok(Some(Vec::new())),
        outcome => outcome?,
    };
    stream.format(Some(Format::Folder))?;
    let mut bytes = Vec::new();
    let outcome = (&mut stream.reader)
        .take(limit as u64 + 1)
        .read_to_end(&mut bytes);
    outcome.map_err(|error| stream.error(error))?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

/// Whether the first bytes are those of a file that is not text.
fn is_binary(head: &[u8]) -> bool {
    head.starts_with(COMPOUND_MAGIC) || sniff_binary(head).is_some()
}

/// The format of bytes that are not text, by their mark.
fn sniff_binary(head: &[u8]) -> Option<Format> {
    if head.starts_with(PARQUET_MAGIC) {
        return Some(Format::Parquet);
    }
    // Behind the thirty bytes before the name of the first part OpenDocument names itself.
    let part = head.get(30..).unwrap_or_default();
    match head.starts_with(ZIP_MAGIC) {
        true if part.starts_with(b"mimetypeapplication/vnd.oasis") => Some(Format::Ods),
        true => Some(Format::Xlsx),
        false => None,
    }
}

/// Guesses the format of decompressed bytes.
fn sniff(head: &[u8]) -> Option<Format> {
    if let Some(format) = sniff_binary(head) {
        return Some(format);
    }
    let text = head
        .strip_prefix(BYTE_ORDER_MARK)
        .unwrap_or(head)
        .trim_ascii_start();
    if text.starts_with(b"{") {
        Some(Format::JsonLines)
    } else if text.starts_with(b"__label__") {
        Some(Format::FastText)
    } else if text.starts_with(b"[") {
        Some(Format::JsonLines)
    } else {
        looks_delimited(text)
    }
}

/// Whether several lines have the same delimiter equally often: a table, as spreadsheets save it under `.txt`.
///
/// In text with tabs a quotation mark is far more often speech than quoting: it is TSV.
fn looks_delimited(head: &[u8]) -> Option<Format> {
    let mut lines: Vec<&[u8]> = head.split(|&byte| byte == b'\n').take(21).collect();
    // The last line may be cut off, or be what follows the last line end.
    lines.pop();
    lines.retain(|line| !line.trim_ascii().is_empty());
    let steady = |byte: u8| {
        let mut counts = lines
            .iter()
            .map(|line| line.iter().filter(|&&other| other == byte).count());
        let first = counts.next().unwrap_or(0);
        first > 0 && lines.len() > 1 && counts.all(|count| count == first)
    };
    match b"\t;|,".iter().find(|&&byte| steady(byte)) {
        Some(b'\t') => Some(Format::Tsv),
        Some(_) => Some(Format::Csv),
        // Quoted cells may hold line breaks.
        None => has_quoted_rows(head).then_some(Format::Csv),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, ..] => Some(Compression::Gzip),
            // A frame, or a skippable frame, which parallel compressors write first.
            [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => {
                Some(Compression::Zstandard)
            }
            _ => None,
        }
    }
}

/// Reads until `limit` bytes or the end, however small the single reads are.
fn read_up_to(reader: &mut impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(limit);
    reader.take(limit as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes, behind those that are there. Of a live source no more than there is, at least a line: to wait for more could be
/// to wait for ever.
fn read_head(reader: &mut impl Read, mut head: Vec<u8>, live: bool) -> io::Result<Vec<u8>> {
    if !live {
        return read_up_to(reader, HEAD_BYTES);
    }
    let mut buffer = vec![0; HEAD_BYTES];
    while head.len() < HEAD_BYTES {
        match reader.read(&mut buffer[..HEAD_BYTES - head.len()]) {
            Ok(0) => break,
            Ok(read) => head.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        // A bracket alone does not say whether it opens a list of objects.
        if head.contains(&b'\n') && head.trim_ascii().len() > 1 {
            break;
        }
    }
    Ok(head)
}

/// Gives a space in place of one byte.
struct Blanked {
    inner: Box<dyn Read + Send>,
    /// How far away the byte is.
    place: Option<usize>,
}

impl Read for Blanked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        if let Some(place) = self.place {
            self.place = place.checked_sub(read);
            if place < read {
                buffer[place] = b' ';
                self.place = None;
            }
        }
        Ok(read)
    }
}

#[derive(Debug, Default)]
struct Meter {
    bytes: AtomicU64,
    failed: AtomicBool,
}

/// Counts stored bytes below the decoder, and remembers whether the source itself failed.
struct Counted {
    inner: Box<dyn Read + Send>,
    meter: Arc<Meter>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(read) => {
                self.meter.bytes.fetch_add(read as u64, Ordering::Relaxed);
                Ok(read)
            }
            Err(error) => {
                if error.kind() != io::ErrorKind::Interrupted {
                    self.meter.failed.store(true, Ordering::Relaxed);
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gzip, zstandard};
    use super::*;

    fn stream(bytes: Vec<u8>) -> Result<Stream, ReadError> {
        Stream::new(
            "test".into(),
            Box::new(Cursor::new(bytes)),
            None,
            None,
            false,
        )
    }

    fn content(bytes: Vec<u8>) -> Result<Vec<u8>, ReadError> {
        let mut stream = stream(bytes)?;
        stream.format(Some(Format::Csv))?;
        let mut content = Vec::new();
        let outcome = stream.reader.read_to_end(&mut content);
        outcome.map_err(|error| stream.error(error))?;
        Ok(content)
    }

    #[test]
    fn compression_is_told_by_the_first_bytes() {
        let text = b"text,label\nhello,a\n".repeat(1000);
        assert_eq!(content(text.clone()).unwrap(), text);
        assert_eq!(content(gzip(&text)).unwrap(), text);
        assert_eq!(content(zstandard(&text)).unwrap(), text);
    }

    #[test]
    fn all_members_of_a_gzip_file_and_all_frames_of_a_zstandard_file_are_read() {
        assert_eq!(
            content([gzip(b"one "), gzip(b"two")].concat()).unwrap(),
            b"one two"
        );
        assert_eq!(
            content([zstandard(b"one "), zstandard(b"two")].concat()).unwrap(),
            b"one two"
        );
        let skippable = [
            &[0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9][..],
            &zstandard(b"three"),
        ];
        assert_eq!(content(skippable.concat()).unwrap(), b"three");
    }

    #[test]
    fn cut_off_and_damaged_streams_are_named_as_such() {
        let text: Vec<u8> = (0..20_000u32)
            .flat_map(|n| (n * n).to_string().into_bytes())
            .collect();
        for packed in [gzip(&text), zstandard(&text)] {
            let cut = content(packed[..packed.len() / 2].to_vec()).unwrap_err();
            assert!(matches!(cut, ReadError::Compressed { .. }), "{cut}");
            let mut damaged = packed.clone();
            let middle = packed.len() / 2;
            damaged[middle..middle + 20].fill(0xFF);
            assert!(matches!(
                content(damaged),
                Err(ReadError::Compressed { .. })
            ));
        }
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        assert_eq!(content(b"\xEF\xBB\xBFa,b".to_vec()).unwrap(), b"a,b");
        assert_eq!(content(gzip(b"\xEF\xBB\xBFa,b")).unwrap(), b"a,b");
    }

    #[test]
    fn nothing_at_all_is_said_to_be_empty() {
        for bytes in [vec![], b"\xEF\xBB\xBF".to_vec(), gzip(b""), zstandard(b"")] {
            assert!(matches!(content(bytes), Err(ReadError::Empty { .. })));
        }
    }

    #[test]
    fn first_bytes_tell_some_formats_and_the_others_must_be_given() {
        assert_eq!(sniff(b" \n{\"a\":1}"), Some(Format::JsonLines));
        assert_eq!(sniff(b"\xEF\xBB\xBF__label__a b"), Some(Format::FastText));
        assert_eq!(sniff(b"PAR1...."), Some(Format::Parquet));
        assert_eq!(sniff(b"text,label"), None);
        assert_eq!(sniff(b" [{\"a\":1}]"), Some(Format::JsonLines));
        assert_eq!(sniff(b"text\tlabel\na\tb\nc\td"), Some(Format::Tsv));
        assert_eq!(sniff(b"Hello, you\nthere\nmore\n"), None);
        let quoted = b"text;label\n\"two\nlines\";a\n\"three\n\nlines\";b\n";
        assert_eq!(sniff(quoted), Some(Format::Csv));
        let error = stream(b"text,label".to_vec())
            .unwrap()
            .format(None)
            .unwrap_err();
        assert!(error.to_string().contains("say which"), "{error}");
    }

    #[test]
    fn bytes_can_be_read_again_and_a_reader_once() {
        let text = |source: &Source| {
            let mut content = String::new();
            let mut stream = open_text(source)?.unwrap();
            stream.reader.read_to_string(&mut content).unwrap();
            Ok::<_, ReadError>(content)
        };
        let bytes = Source::bytes("a.csv", gzip(b"\xEF\xBB\xBFone"));
        assert_eq!(text(&bytes).unwrap(), "one");
        assert_eq!(text(&bytes.clone()).unwrap(), "one");
        let reader = Source::reader("a socket", &b"two"[..]);
        let copy = reader.clone();
        assert_eq!(text(&reader).unwrap(), "two");
        let error = text(&copy).unwrap_err();
        assert_eq!(error.to_string(), "a socket: can be read only once");
    }

    #[test]
    fn the_ending_of_a_name_tells_the_format_of_bytes_and_readers() {
        let formats = |source: Source| match open(&source, &ReadOptions::default()) {
            Ok(Opened::Stream(_, format)) => Some(format),
            _ => None,
        };
        let text = b"text,label\nhello,a\n";
        assert_eq!(
            formats(Source::bytes("a.csv.gz", gzip(text))),
            Some(Format::Csv)
        );
        assert_eq!(
            formats(Source::reader("a.tsv", &text[..])),
            Some(Format::Tsv)
        );
        // Without an ending the rows tell.
        let table = formats(Source::reader("a socket", &text[..]));
        assert_eq!(table, Some(Format::Csv));
        let lines = formats(Source::reader("a socket", &b"one\ntwo\n"[..]));
        assert_eq!(lines, None);
        // A packed spreadsheet that does not begin with its type.
        let packed = || b"PK\x03\x04 and whatever follows".to_vec();
        let sheet = |name: &str| formats(Source::bytes(name, packed()));
        assert_eq!(sheet("a.ODS"), Some(Format::Ods));
        assert_eq!(sheet("a.csv"), Some(Format::Xlsx));
    }

    #[test]
    fn a_path_is_never_taken_for_standard_input() {
        let error = open_text(&Source::from(Path::new("-")))
            .map(|_| ())
            .unwrap_err();
        assert!(matches!(error, ReadError::NotFound { .. }), "{error}");
    }

    /// Fails after a few bytes, as a broken disk does.
    struct Failing(usize);

    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::Error::other("disk on fire"));
            }
            let length = self.0.min(buffer.len());
            self.0 -= length;
            buffer[..length].fill(b'a');
            Ok(length)
        }
    }

    #[test]
    fn a_failing_disk_is_not_blamed_on_the_compression() {
        let packed = gzip(
            &(0..200_000u32)
                .flat_map(u32::to_le_bytes)
                .collect::<Vec<u8>>(),
        );
        let half = packed[..packed.len() / 2].to_vec();
        let broken = Cursor::new(half).chain(Failing(0));
        let mut stream = Stream::new("f".into(), Box::new(broken), None, None, false).unwrap();
        let error = stream.reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(matches!(stream.error(error), ReadError::Io { .. }));
    }
}
