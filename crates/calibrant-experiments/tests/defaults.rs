//! A small run of the experiment `defaults`, from corpora to page, so that it cannot rot.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn data() -> PathBuf {
    std::env::var_os("CALIBRANT_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from)
}

fn skipped(why: &str) {
    use std::io::Write;
    // Not through the captured output: it is to be seen.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

#[track_caller]
fn succeeds(command: &mut Command) -> String {
    let output = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

struct Bench {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Bench {
    /// Two corpora, prepared by the script; nothing where they or the program are missing.
    fn prepared() -> Option<Self> {
        let experiments = Path::new(env!("CARGO_BIN_EXE_calibrant-experiments"));
        let program = experiments.with_file_name("calibrant");
        if !program.exists() {
            skipped("`cargo build -p calibrant-cli` makes the program that is measured");
            return None;
        }
        for file in ["sms_spam.tsv.gz", "polarity2.jsonl.gz"] {
            if !data().join(file).exists() {
                skipped(&format!("{file} is not in {}", data().display()));
                return None;
            }
        }
        let folder = tempfile::tempdir().expect("a folder");
        succeeds(
            Command::new("python3")
                .arg(root().join("bench/defaults_corpora.py"))
                .env("CALIBRANT_DATA", data())
                .args(["--only", "sms_spam,polarity", "--into"])
                .arg(folder.path().join("corpora")),
        );
        Some(Self { folder, program })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self) -> String {
        succeeds(
            Command::new(env!("CARGO_BIN_EXE_calibrant-experiments"))
                .args(["defaults", "--sizes", "300", "--draws", "1"])
                .args(["--only", "svm,logistic,naive-bayes"])
                // From where one stands.
                .args(["--program", "./calibrant"])
                .current_dir(self.program.parent().expect("a folder"))
                .arg("--prepared")
                .arg(self.path("corpora"))
                .arg("--results")
                .arg(self.path("results"))
                .arg("--page")
                .arg(self.path("page.md")),
        )
    }

    fn lines(&self, name: &str) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path("results").join(name)).unwrap_or_default();
        let parsed = text.lines().map(serde_json::from_str);
        parsed.map(|line| line.expect("a line of JSON")).collect()
    }
}

#[test]
fn a_small_run_goes_from_corpora_to_the_page_and_resumes() {
    let Some(bench) = Bench::prepared() else {
        return;
    };
    bench.run();
    let ours = bench.lines("ours.jsonl");
    // Two corpora, with and without copies, three ways.
    assert_eq!(ours.len(), 12);
    for line in &ours {
        let loss = line["log_loss"].as_f64().expect("a log loss");
        // Knowing only how often each class comes costs 0.39 and 0.69.
        let bound = match line["corpus"].as_str() {
            Some("sms_spam") => 0.16,
            _ => 0.62,
        };
        assert!(loss > 0.01 && loss < bound, "{line}");
    }
    let page = std::fs::read_to_string(bench.path("page.md")).expect("a page");
    assert!(page.contains("## Corpora that report") && page.contains("| polarity | 300 | 10 % |"));
    assert!(page.contains("nothing to see yet"), "there are no peers");
    bench.run();
    assert_eq!(
        bench.lines("ours.jsonl").len(),
        12,
        "nothing was done twice"
    );
}

#[test]
fn what_peers_have_written_is_measured_on_the_same_rows() {
    let Some(python) = std::env::var_os("CALIBRANT_PYTHON") else {
        skipped("CALIBRANT_PYTHON names no Python with scikit-learn; ./test.sh makes one");
        return;
    };
    let Some(bench) = Bench::prepared() else {
        return;
    };
    let mut peers = Command::new(python);
    peers.arg(root().join("bench/defaults_peers.py"));
    peers.args(["--corpora", "sms_spam", "--sizes", "300", "--draws", "1"]);
    peers.args(["--peers", "svc_sigmoid,logistic", "--prepared"]);
    peers.arg(bench.path("corpora")).arg("--results");
    succeeds(peers.arg(bench.path("results")));
    bench.run();
    let theirs = bench.lines("peers.jsonl");
    assert_eq!(theirs.len(), 4, "two peers, with and without copies");
    for line in &theirs {
        // Rows in another order would cost more than knowing the classes' shares, 0.39.
        assert!(
            line["log_loss"].as_f64().expect("a log loss") < 0.35,
            "{line}"
        );
    }
    let page = std::fs::read_to_string(bench.path("page.md")).expect("a page");
    assert!(page.contains("of 2 cells"), "two cells have both sides");
}
