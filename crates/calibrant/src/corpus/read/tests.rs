//! Order, errors and progress, whatever the number of threads; every format alike.

use std::sync::Mutex;

use super::*;
use crate::NoProgress;
use crate::corpus::testing::{gzip, read, text_of};
use crate::corpus::{Fields, Filter};

/// JSON Lines of about three mebibytes, so that there are several pieces and windows.
fn long_file() -> Vec<u8> {
    let mut text = String::new();
    for number in 0..30_000 {
        let filler = "word ".repeat(number % 37);
        let label = number % 3;
        text.push_str(&format!(
            "{{\"text\":\"{number} {filler}\",\"label\":{label}}}\n"
        ));
    }
    text.into_bytes()
}

fn temporary(bytes: &[u8]) -> (tempfile::NamedTempFile, Source) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let source = Source::Path(file.path().to_owned());
    (file, source)
}

fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

#[test]
fn batches_come_in_order_and_do_not_depend_on_the_number_of_threads() {
    let (_file, source) = temporary(&gzip(&long_file()));
    let batches = |threads| {
        with_threads(threads, || {
            let mut batches: Vec<Vec<Document>> = Vec::new();
            let options = ReadOptions::default();
            let push = |batch| batches.push(batch);
            let summary = read_batches(&source, &options, &NoProgress, |batch| batch, push);
            (batches, summary.unwrap())
        })
    };
    let (one, summary) = batches(1);
    assert!(
        one.len() > 2,
        "the test needs several batches, there are {}",
        one.len()
    );
    assert_eq!((&one, &summary), (&batches(4).0, &batches(4).1));
    assert_eq!(summary.rows, 30_000);
    let lines: Vec<u64> = one.iter().flatten().map(|document| document.line).collect();
    assert_eq!(lines, (1..=30_000).collect::<Vec<u64>>());
}

#[test]
fn reading_ends_where_the_sink_breaks_off() {
    let (_file, source) = temporary(&long_file());
    let mut batches = 0;
    let outcome = read_batches_until(
        &source,
        &ReadOptions::default(),
        &NoProgress,
        |batch| batch.len() as u64,
        |_| {
            batches += 1;
            ControlFlow::Break(())
        },
    );
    assert_eq!(batches, 1);
    assert!(outcome.unwrap().rows < 30_000);
}

#[test]
fn the_first_bad_row_in_file_order_is_reported() {
    let mut bytes = long_file();
    let breaks: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
    bytes[breaks[19_998] + 1] = b'?';
    bytes[breaks[29_988] + 1] = b'!';
    let (_file, source) = temporary(&bytes);
    for threads in [1, 4] {
        let mut seen = 0;
        let outcome = with_threads(threads, || {
            let count = |batch: Vec<Document>| batch.len();
            let options = ReadOptions::default();
            read_batches(&source, &options, &NoProgress, count, |rows| seen += rows)
        });
        assert!(matches!(outcome, Err(ReadError::BadRow(row)) if row.line == 20_000));
        assert!(
            seen > 5000 && seen < 20_000,
            "{seen} rows came before the bad one"
        );
    }
    let skipping = ReadOptions {
        skip_bad_rows: true,
        ..ReadOptions::default()
    };
    let (_, summary) = read_all(&source, &skipping, &NoProgress).unwrap();
    assert_eq!((summary.rows, summary.bad_row_count), (29_998, 2));
    assert_eq!(summary.bad_rows[0].line, 20_000);
}

#[test]
fn rows_have_their_numbers_in_the_file_whatever_is_left_out() {
    let mut bytes = long_file();
    let breaks: Vec<usize> = memchr::memchr_iter(b'\n', &bytes).collect();
    bytes[breaks[7] + 1] = b'?';
    bytes[breaks[9] + 1] = b'\n';
    let (_file, source) = temporary(&bytes);
    let options = ReadOptions {
        skip_bad_rows: true,
        filters: vec!["label!=1".parse().unwrap()],
        ..ReadOptions::default()
    };
    for threads in [1, 4] {
        let read = || read_all(&source, &options, &NoProgress).unwrap();
        let (documents, summary) = with_threads(threads, read);
        assert_eq!((documents.len(), summary.bad_row_count), (19_999, 2));
        for (document, text) in documents.iter().zip(text_of(&documents)) {
            let number: u64 = text.split(' ').next().unwrap().parse().unwrap();
            assert_eq!(document.row, number + 1);
        }
    }
}

#[test]
fn rows_before_a_cut_in_the_compressed_data_are_still_handed_on() {
    let packed = gzip(&long_file());
    let (_file, source) = temporary(&packed[..packed.len() * 9 / 10]);
    let mut rows = 0;
    let count = |batch: Vec<Document>| batch.len();
    let options = ReadOptions::default();
    let outcome = read_batches(&source, &options, &NoProgress, count, |more| rows += more);
    assert!(
        matches!(outcome, Err(ReadError::Compressed { .. })),
        "{outcome:?}"
    );
    assert!(rows > 10_000);
}

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>, AtomicU64);

impl Progress for Recorder {
    fn begin(&self, stage: &str, total: Option<u64>) {
        self.0
            .lock()
            .unwrap()
            .push(format!("{stage} {}", total.unwrap_or(0)));
    }
    fn advance(&self, amount: u64) -> ControlFlow<()> {
        self.1
            .fetch_add(amount, std::sync::atomic::Ordering::Relaxed);
        ControlFlow::Continue(())
    }
    fn end(&self) {
        self.0.lock().unwrap().push("end".into());
    }
}

#[test]
fn progress_counts_the_stored_bytes_and_always_ends() {
    let packed = gzip(&long_file());
    let (_file, source) = temporary(&packed);
    let recorder = Recorder::default();
    let (_, summary) = read_all(&source, &ReadOptions::default(), &recorder).unwrap();
    let size = packed.len() as u64;
    assert_eq!(
        *recorder.0.lock().unwrap(),
        [format!("reading {size}"), "end".into()]
    );
    assert_eq!((recorder.1.into_inner(), summary.bytes), (size, size));

    let (_file, source) = temporary(b"{\"text\":\"x\",\"label\":1}\n!\n");
    let recorder = Recorder::default();
    read_all(&source, &ReadOptions::default(), &recorder).unwrap_err();
    assert_eq!(recorder.0.lock().unwrap().last().unwrap(), "end");
}

#[test]
fn reading_ends_when_nobody_wants_it_any_more() {
    let source = Source::bytes("long.jsonl", long_file().repeat(20));
    let mut rows = 0;
    let outcome = read_batches(
        &source,
        &ReadOptions::default(),
        &crate::progress::EndsAfter::questions(1),
        |batch| batch.len(),
        |batch| rows += batch,
    );
    assert!(matches!(outcome, Err(ReadError::Cancelled)));
    assert!((1..600_000).contains(&rows), "{rows} of 600000 rows");
}

#[test]
fn a_huge_line_is_refused_and_a_long_one_is_read() {
    let row = |length: usize| {
        let text = "x".repeat(length);
        format!("{{\"text\":\"a\",\"label\":1}}\n{{\"text\":\"{text}\",\"label\":1}}\n")
    };
    let options = ReadOptions {
        max_row_bytes: 4 << 20,
        ..ReadOptions::default()
    };
    let (documents, _) = read(row(3 << 20).as_bytes(), &options).unwrap();
    assert_eq!(text_of(&documents)[1].len(), 3 << 20);
    for (length, limit) in [(6 << 20, 4 << 20), (5000, 1000)] {
        let options = ReadOptions {
            max_row_bytes: limit,
            ..ReadOptions::default()
        };
        let error = read(row(length).as_bytes(), &options).unwrap_err();
        assert!(
            matches!(error, ReadError::RowTooLong { line: 2, .. }),
            "{error}"
        );
    }
}

#[test]
fn a_quote_that_is_never_closed_cannot_fill_the_memory() {
    let mut text = b"text,label\n\"".to_vec();
    text.extend(b"a line\n".repeat(1 << 20));
    let options = ReadOptions {
        format: Some(Format::Csv),
        max_row_bytes: 2 << 20,
        ..ReadOptions::default()
    };
    let error = read(&text, &options).unwrap_err();
    assert!(
        matches!(error, ReadError::RowTooLong { line: 2, .. }),
        "{error}"
    );
}

#[test]
fn missing_empty_and_misplaced_sources_are_explained() {
    let options = ReadOptions::default();
    let read = |source: &Source, options: &ReadOptions| {
        read_all(source, options, &NoProgress).unwrap_err()
    };
    let error = read(&Source::Path("/no/such/file.csv".into()), &options);
    assert_eq!(
        error.to_string(),
        "/no/such/file.csv: no such file or folder"
    );
    let folder = tempfile::tempdir().unwrap();
    let source = Source::Path(folder.path().to_owned());
    let csv = ReadOptions {
        format: Some(Format::Csv),
        ..ReadOptions::default()
    };
    assert!(matches!(read(&source, &csv), ReadError::IsDirectory { .. }));
    assert!(matches!(
        read(&source, &options),
        ReadError::IsDirectory { .. }
    ));
    let (_file, source) = temporary(b"");
    assert!(matches!(read(&source, &options), ReadError::Empty { .. }));
    let (_file, source) = temporary(b"what is this?");
    assert!(matches!(
        read(&source, &options),
        ReadError::UnknownFormat { .. }
    ));
    let as_folder = ReadOptions {
        format: Some(Format::Folder),
        ..ReadOptions::default()
    };
    assert!(matches!(
        read(&source, &as_folder),
        ReadError::NotADirectory { .. }
    ));
    let (_file, source) = temporary(b" \n\n{");
    let skipping = ReadOptions {
        skip_bad_rows: true,
        ..ReadOptions::default()
    };
    let error = read(&source, &skipping).to_string();
    assert!(
        error.contains("all 1 rows are malformed; the first:"),
        "{error}"
    );
}

#[test]
fn filters_that_leave_nothing_are_named() {
    let filters: Vec<Filter> = vec!["label=7".parse().unwrap(), "text=a".parse().unwrap()];
    let options = ReadOptions {
        filters,
        ..ReadOptions::default()
    };
    let error = read(b"{\"text\":\"a\",\"label\":1}\n", &options)
        .unwrap_err()
        .to_string();
    assert!(
        error.ends_with("none of the 1 rows passes the filter label=7 and text=a"),
        "{error}"
    );
}

#[test]
fn every_format_gives_the_same_documents() {
    let expected = ["a quick note", "buy now"];
    let options = |format| ReadOptions {
        format,
        ..ReadOptions::default()
    };
    let csv = "text,label\na quick note,ham\nbuy now,spam\n";
    let tsv = csv.replace(',', "\t");
    let json =
        "{\"text\":\"a quick note\",\"label\":\"ham\"}\n{\"label\":\"spam\",\"text\":\"buy now\"}";
    let fast_text = "__label__ham a quick note\n__label__spam buy now";
    for (text, format) in [
        (csv, Some(Format::Csv)),
        (&tsv, Some(Format::Tsv)),
        (json, None),
        (fast_text, None),
    ] {
        let crlf = text.replace('\n', "\r\n");
        for text in [text, &crlf, &format!("\u{FEFF}{text}")] {
            let (documents, _) = read(text.as_bytes(), &options(format)).unwrap();
            assert_eq!(text_of(&documents), expected);
            assert_eq!(documents[1].labels, ["spam"]);
        }
    }
    let fields = Fields {
        text: vec!["text".into(), "label".into()],
        ..Fields::default()
    };
    let joined = ReadOptions {
        fields,
        ..options(Some(Format::Csv))
    };
    let (documents, _) = read(csv.as_bytes(), &joined).unwrap();
    assert_eq!(text_of(&documents)[1], "buy now\n\u{1F}spam");
}
