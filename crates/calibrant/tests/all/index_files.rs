//! Indexes on disk: written as a whole, replaced only where that is safe, and checked when they are opened.

use std::path::Path;

use calibrant::NoProgress;
use calibrant::corpus::{Fields, ReadOptions, Source};
use calibrant::index::{
    DocumentFormat, DocumentOptions, IndexBuilder, IndexDocument, IndexError, IndexSettings,
    SearchIndex, build_index,
};
use calibrant::ranking::functions::BaseFunction;
use calibrant::saved::SavedProblem;

fn write(path: &Path, documents: &[(&str, &str)]) -> Result<(), IndexError> {
    let mut builder = IndexBuilder::create(path, IndexSettings::default())?;
    for (number, (id, text)) in documents.iter().enumerate() {
        let document = IndexDocument {
            id: (*id).to_owned(),
            title: Some(format!("Title of {id}")),
            text: (*text).to_owned(),
            line: number as u64 + 1,
        };
        builder.add("memory", document)?;
    }
    builder.finish().map(|_| ())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn ids(index: &SearchIndex, query: &str) -> Vec<String> {
    let hits = index
        .search(query, &BaseFunction::bm25_stems(), 10)
        .unwrap();
    hits.into_iter().map(|hit| hit.id).collect()
}

#[test]
fn an_index_is_there_as_a_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let builder = IndexBuilder::create(&path, IndexSettings::default()).unwrap();
    assert!(!path.exists());
    drop(builder);
    assert!(
        names(folder.path()).is_empty(),
        "{:?}",
        names(folder.path())
    );
    let error = write(&path, &[]).unwrap_err();
    assert!(matches!(error, IndexError::NoDocuments));
    assert!(names(folder.path()).is_empty());
    write(&path, &[("a", "fox"), ("b", "")]).unwrap();
    assert_eq!(names(folder.path()), ["index"]);
    let index = SearchIndex::open(&path).unwrap();
    assert_eq!(index.document_count(), 2);
    assert_eq!(ids(&index, "foxes"), ["a"]);
    assert!(ids(&index, "").is_empty());
    assert!(ids(&index, "unheard of").is_empty());
    let stored = index.stored("a").unwrap().unwrap();
    assert_eq!(stored.title.as_deref(), Some("Title of a"));
    assert_eq!(stored.text.as_deref(), Some("fox"));
    assert_eq!(index.stored("c").unwrap(), None);
    assert_eq!(
        index
            .explain("fox", &BaseFunction::bm25_stems(), "c")
            .unwrap(),
        None
    );
}

#[cfg(unix)]
#[test]
fn an_index_has_the_permissions_of_any_new_folder_and_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    write(&path, &[("a", "fox")]).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (usual_folder, usual_file) = (folder.path().join("folder"), folder.path().join("file"));
    std::fs::create_dir(&usual_folder).unwrap();
    std::fs::write(&usual_file, "").unwrap();
    assert_eq!(mode(&path), mode(&usual_folder));
    for name in names(&path) {
        assert_eq!(mode(&path.join(&name)), mode(&usual_file), "{name}");
    }
}

#[test]
fn only_an_index_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    std::fs::create_dir(&path).unwrap();
    write(&path, &[("a", "fox")]).unwrap(); // an empty folder may be taken
    write(&path, &[("b", "fox")]).unwrap();
    assert_eq!(ids(&SearchIndex::open(&path).unwrap(), "fox"), ["b"]);
    assert_eq!(names(folder.path()), ["index"]);

    std::fs::write(path.join("notes.txt"), "mine").unwrap();
    let error = write(&path, &[("c", "fox")]).unwrap_err().to_string();
    assert!(
        error.contains("notes.txt") && error.contains("not replaced"),
        "{error}"
    );
    assert_eq!(std::fs::read(path.join("notes.txt")).unwrap(), b"mine");

    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("photo.jpg"), "mine").unwrap();
    let error = write(&other, &[("c", "fox")]).unwrap_err().to_string();
    assert!(error.contains("is not an index"), "{error}");
    let file = folder.path().join("file");
    std::fs::write(&file, "mine").unwrap();
    let error = write(&file, &[("c", "fox")]).unwrap_err().to_string();
    assert!(error.contains("not a folder"), "{error}");
    assert_eq!(names(&other), ["photo.jpg"]);
}

#[test]
fn identifiers_are_given_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let error = write(&path, &[("a", "x"), ("b", "y"), ("a", "z")])
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "memory, line 3: the id `a` already occurs in memory, line 1"
    );
    let error = write(&path, &[("a", "x"), ("", "y")])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2") && error.contains("no id"),
        "{error}"
    );
    let long = "x".repeat(2000);
    let error = write(&path, &[(&long, "x")]).unwrap_err().to_string();
    assert!(error.contains("2000 bytes"), "{error}");
    assert!(names(folder.path()).is_empty());
}

#[test]
fn what_is_no_index_or_damaged_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let open = |path: &Path| match SearchIndex::open(path).unwrap_err() {
        IndexError::Saved(error) => error.problem,
        error => panic!("{error}"),
    };
    assert!(matches!(open(&path), SavedProblem::NotFound));
    assert!(matches!(open(folder.path()), SavedProblem::Foreign { .. }));
    std::fs::write(&path, "x").unwrap();
    assert!(matches!(open(&path), SavedProblem::Foreign { .. }));
    std::fs::remove_file(&path).unwrap();
    write(&path, &[("a", "red fox"), ("b", "fox")]).unwrap();

    // Any byte of any file may be changed, any file cut short, lengthened or removed.
    for name in names(&path) {
        let file = path.join(&name);
        let bytes = std::fs::read(&file).unwrap();
        for place in [0, bytes.len() / 3, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[place] ^= 0x15;
            std::fs::write(&file, &changed).unwrap();
            // The line break at the end of the manifest is the one byte that means nothing.
            if !(name == "calibrant-index.json" && place + 1 == bytes.len()) {
                let error = open(&path);
                assert!(
                    matches!(
                        error,
                        SavedProblem::Damaged { .. }
                            | SavedProblem::Foreign { .. }
                            | SavedProblem::UnknownVersion { .. }
                    ),
                    "{name}: {error:?}"
                );
            }
        }
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        let _ = SearchIndex::open(&path).unwrap_err().to_string();
        std::fs::write(&file, [&bytes[..], b"x"].concat()).unwrap();
        let _ = SearchIndex::open(&path).unwrap_err().to_string();
        std::fs::remove_file(&file).unwrap();
        let _ = SearchIndex::open(&path).unwrap_err().to_string();
        std::fs::write(&file, &bytes).unwrap();
    }
    assert_eq!(ids(&SearchIndex::open(&path).unwrap(), "fox"), ["b", "a"]);
    assert_eq!(
        ids(&SearchIndex::open_unverified(&path).unwrap(), "fox"),
        ["b", "a"]
    );
}

#[test]
fn names_in_the_manifest_do_not_lead_out_of_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    write(&path, &[("a", "fox")]).unwrap();
    let manifest = path.join("calibrant-index.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let body = text.split_once("\"index\":").unwrap().1.trim_end();
    let body = body.strip_suffix('}').unwrap();
    let hostile = body.replacen("meta.json", "../../meta.json", 1);
    assert_ne!(hostile, body);
    let mut hasher = blake3::Hasher::new();
    hasher.update(&1u32.to_le_bytes());
    hasher.update(hostile.as_bytes());
    let checksum = hasher.finalize().to_hex();
    let text = format!(
        "{{\"calibrant\":\"index\",\"version\":1,\"checksum\":\"{checksum}\",\"index\":{hostile}}}\n"
    );
    std::fs::write(&manifest, text).unwrap();
    let error = SearchIndex::open(&path).unwrap_err().to_string();
    assert!(error.contains("outside its folder"), "{error}");
}

#[test]
fn every_format_gives_the_same_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        Source::Path(path)
    };
    let json = file(
        "a.jsonl",
        "{\"id\":\"1\",\"title\":\"Foxes\",\"text\":\"red foxes\"}\n{\"id\":\"2\",\"title\":\"\",\"text\":\"a tree\"}\n",
    );
    let csv = file("a.csv", "id,title,text\n1,Foxes,red foxes\n2,,a tree\n");
    let trec = file(
        "a.sgml",
        "<DOC>\n<DOCNO>1</DOCNO>\n<TITLE>Foxes</TITLE>\n<TEXT>red foxes</TEXT>\n</DOC>\n<DOC>\n<DOCNO>2</DOCNO>\na tree\n</DOC>\n",
    );
    let first = file(
        "parts/1",
        "<DOC><DOCNO>1</DOCNO><TITLE>Foxes</TITLE>red foxes</DOC>",
    );
    file("parts/below/2", "<DOC><DOCNO>2</DOCNO>a tree</DOC>");
    let Source::Path(first) = first else { return };
    let parts = Source::Path(first.parent().unwrap().to_owned());
    let fields = Fields {
        text: vec!["title".into(), "text".into()],
        ..Fields::default()
    };
    let options = DocumentOptions {
        reading: ReadOptions {
            fields,
            ..ReadOptions::default()
        },
        title: Some("title".into()),
        ..DocumentOptions::default()
    };
    // TREC documents have no fields to choose from.
    let whole = DocumentOptions::default();
    for (source, format, options) in [
        (json, None, &options),
        (csv, None, &options),
        (trec, None, &whole),
        (parts, Some(DocumentFormat::Trec), &whole),
    ] {
        let target = folder.path().join("index");
        let options = DocumentOptions {
            format,
            ..options.clone()
        };
        let (summary, bad) = build_index(
            std::slice::from_ref(&source),
            &target,
            IndexSettings::default(),
            &options,
            &NoProgress,
        )
        .unwrap();
        assert_eq!((summary.documents, bad), (2, 0), "{source:?}");
        let index = SearchIndex::open(&target).unwrap();
        let function: BaseFunction = "tf-idf.stems".parse().unwrap();
        let hits = index.search("fox", &function, 10).unwrap();
        assert_eq!(hits.len(), 1, "{source:?}");
        assert_eq!(hits[0].id, "1");
        assert_eq!(hits[0].score, 2.0 * 2f64.ln()); // by hand: twice, in one of two documents
        let stored = index.stored("1").unwrap().unwrap();
        assert_eq!(stored.title.as_deref(), Some("Foxes"));
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let lines: String = (0..20_000)
        .map(|number: u64| {
            let words = number.wrapping_mul(2_654_435_761) % 1000;
            format!(
                "{{\"id\":{number},\"text\":\"w{words} w{} common text\"}}\n",
                words % 37
            )
        })
        .collect();
    std::fs::write(&path, lines).unwrap();
    let answers = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let target = folder.path().join(format!("index{threads}"));
            build_index(
                &[Source::Path(path.clone())],
                &target,
                IndexSettings::default(),
                &DocumentOptions::default(),
                &NoProgress,
            )
            .unwrap();
            let index = SearchIndex::open(&target).unwrap();
            index
                .search("w3 w36 common", &BaseFunction::bm25_stems(), 500)
                .unwrap()
        })
    };
    assert_eq!(answers(1), answers(4));
}

/// Wants nothing any more after so many questions.
struct Impatient(std::sync::atomic::AtomicI64);

impl calibrant::Progress for Impatient {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}
    fn advance(&self, _amount: u64) -> std::ops::ControlFlow<()> {
        match self.0.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) > 0 {
            true => std::ops::ControlFlow::Continue(()),
            false => std::ops::ControlFlow::Break(()),
        }
    }
    fn end(&self) {}
}

#[test]
fn an_index_that_nobody_wants_any_more_leaves_nothing() {
    for questions in [0, 1] {
        let folder = tempfile::tempdir().unwrap();
        let documents = Source::bytes("a.jsonl", *b"{\"id\":1,\"text\":\"a fox\"}\n");
        let outcome = build_index(
            &[documents],
            &folder.path().join("index"),
            IndexSettings::default(),
            &DocumentOptions::default(),
            &Impatient(questions.into()),
        );
        let error = outcome.unwrap_err();
        assert!(
            matches!(
                error,
                IndexError::Read(calibrant::corpus::ReadError::Cancelled)
            ),
            "{error}"
        );
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
