//! Files that the program writes and reads: whole or not there, named in errors, and distinguished by kind.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Sandbox, fitted};

fn golden(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/saved");
    folder.join(name).to_str().unwrap().to_owned()
}

/// Fails, and says all of this.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], parts: &[&str]) {
    let output = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{arguments:?}: {part} in {stderr}");
    }
}

/// Starts the program in the folder with a pipe to write to. Whoever runs the tests may ignore signals; the program
/// would then do so, too.
#[cfg(unix)]
fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    Command::new("env")
        .arg("--default-signal=INT,TERM,HUP")
        .arg(assert_cmd::cargo::cargo_bin("calibrant"))
        .args(arguments)
        .current_dir(sandbox.path("."))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn hidden(sandbox: &Sandbox) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(sandbox.path(".")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(".calibrant")
    };
    paths.filter(is_hidden).collect()
}

/// Feeds the program until it writes, stops it, and sees what is left.
#[cfg(unix)]
#[track_caller]
fn stopped_leaves_nothing(sandbox: &Sandbox, arguments: &[&str], rows: &str, signal: (&str, i32)) {
    let before = sandbox.contents();
    let mut child = start(sandbox, arguments);
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(rows.as_bytes()).unwrap();
    pipe.flush().unwrap();
    let begun = Instant::now();
    while hidden(sandbox).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{arguments:?}");
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?} ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let name = format!("-{}", signal.0);
    let sent = Command::new("kill")
        .args([&name, &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let output = child.wait_with_output().unwrap();
    // Held open to here: the program did not just come to the end of its input.
    drop(pipe);
    let stderr = String::from_utf8_lossy(&output.stderr);
    // It ends by the signal itself, so that a shell's loop ends with it.
    let by = std::os::unix::process::ExitStatusExt::signal(&output.status);
    assert_eq!(by, Some(signal.1), "{arguments:?}: {stderr}");
    assert_eq!(hidden(sandbox), Vec::<PathBuf>::new(), "{arguments:?}");
    assert!(sandbox.contents() == before, "{arguments:?} left something");
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_sigterm_leave_no_predictions_behind() {
    let sandbox = fitted();
    let mut rows = "id,text\n".to_owned();
    for number in 0..20_000 {
        rows += &format!("r{number},corn and oil by the barrel\n");
    }
    sandbox.write("old.csv", "what was there before\n");
    for signal in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        for target in ["out.csv", "out.jsonl", "out.parquet", "old.csv"] {
            let arguments = [
                "predict",
                "mail.calibrant",
                "-",
                "--format",
                "csv",
                "-o",
                target,
            ];
            stopped_leaves_nothing(&sandbox, &arguments, &rows, signal);
        }
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_and_sigterm_leave_no_index_behind() {
    let sandbox = Sandbox::new();
    let rows: String = (0..2000)
        .map(|number| format!("{{\"id\":\"{number}\",\"text\":\"w{number} common\"}}\n"))
        .collect();
    for signal in [("INT", 2), ("TERM", 15)] {
        let arguments = ["index", "-", "--format", "jsonl", "-o", "index"];
        stopped_leaves_nothing(&sandbox, &arguments, &rows, signal);
    }
}

/// Nobody, not even the system's owner, can make files there.
#[cfg(target_os = "linux")]
#[test]
fn an_unwritable_folder_is_found_before_the_work() {
    let sandbox = fitted();
    // Whoever read these first would complain about them.
    sandbox.write("broken.csv", "id,label,text\n1,corn,\"never closed\n");
    sandbox.write("other.calibrant", sandbox.read("mail.calibrant"));
    sandbox.write("broken.letor", "this is no table\n");
    sandbox.write("broken.tsv", "q1\tno such\tthing\n");
    let ranking = golden("ranking-4-plain.calibrant");
    let index = golden("index-1");
    let calibrator = golden("calibrator-4-two-classes.calibrant");
    let cases: [&[&str]; 15] = [
        &["fit", "broken.csv", "-o", "/proc/x.calibrant"],
        &["fit", "broken.csv", "--search", "-o", "/proc/x.calibrant"],
        &[
            "predict",
            "mail.calibrant",
            "broken.csv",
            "-o",
            "/proc/x.csv",
        ],
        &[
            "predict",
            "mail.calibrant",
            "broken.csv",
            "-o",
            "/proc/x.parquet",
        ],
        &[
            "evaluate",
            "mail.calibrant",
            "broken.csv",
            "--html",
            "/proc/x.html",
        ],
        &[
            "compare",
            "broken.csv",
            "mail.calibrant",
            "other.calibrant",
            "--html",
            "/proc/x.html",
        ],
        &[
            "combine",
            "mail.calibrant",
            "other.calibrant",
            "--data",
            "broken.csv",
            "-o",
            "/proc/x.calibrant",
        ],
        &[
            "calibrate",
            "broken.csv",
            "--score",
            "id",
            "-o",
            "/proc/x.calibrant",
        ],
        &[
            "calibrate",
            "broken.csv",
            "--score",
            "id",
            "--html",
            "/proc/x.html",
        ],
        &[
            "calibrate",
            "--calibrator",
            &calibrator,
            "--apply",
            "broken.csv",
            "--predictions",
            "/proc/x.csv",
        ],
        &["rank", "fit", "broken.letor", "-o", "/proc/x.calibrant"],
        &[
            "rank",
            "predict",
            &ranking,
            "broken.letor",
            "-o",
            "/proc/x.run",
        ],
        &["index", "broken.csv", "-o", "/proc/x"],
        &[
            "search",
            &index,
            "--queries",
            "broken.tsv",
            "--run",
            "/proc/x.run",
        ],
        &["demo", "-o", "/proc/x.html"],
    ];
    for arguments in cases {
        refused(&sandbox, arguments, &["/proc"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_of_standard_output() {
    let sandbox = fitted();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(assert_cmd::cargo::cargo_bin("calibrant"))
        .args(["predict", "mail.calibrant", "mail.csv"])
        .current_dir(sandbox.path("."))
        .stdout(full.unwrap())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("cannot write to standard output: No space left on device"),
        "{stderr}"
    );
}

#[test]
fn a_missing_file_is_made_by_the_command_for_its_kind() {
    let sandbox = fitted();
    sandbox.write("table.letor", "1 qid:1 1:0.5 # d1\n");
    refused(
        &sandbox,
        &["predict", "none", "mail.csv"],
        &[
            "there is no model file at `none`",
            "`calibrant fit FILE -o MODEL`",
        ],
    );
    refused(
        &sandbox,
        &["rank", "predict", "none", "table.letor"],
        &[
            "there is no ranking model at `none`",
            "`calibrant rank fit FILE -o MODEL`",
        ],
    );
    refused(
        &sandbox,
        &["calibrate", "--calibrator", "none", "--apply", "mail.csv"],
        &[
            "there is no calibrator file at `none`",
            "`calibrant calibrate FILE",
        ],
    );
    refused(
        &sandbox,
        &["search", "none", "query"],
        &[
            "there is no index at `none`",
            "`calibrant index DOCS -o DIR`",
        ],
    );
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is() {
    let sandbox = fitted();
    sandbox.write("table.letor", "1 qid:1 1:0.5 # d1\n");
    let ranking = golden("ranking-4-relevance.calibrant");
    let calibrator = golden("calibrator-4-three-classes.calibrant");
    refused(
        &sandbox,
        &["predict", &ranking, "mail.csv"],
        &[
            "is a ranking model, not a model of texts",
            "calibrant rank predict",
        ],
    );
    refused(
        &sandbox,
        &["predict", &golden("index-1"), "mail.csv"],
        &["is an index, not a model of texts", "calibrant search"],
    );
    refused(
        &sandbox,
        &["rank", "predict", "mail.calibrant", "table.letor"],
        &[
            "is a model of texts, not a ranking model",
            "calibrant rank fit",
        ],
    );
    refused(
        &sandbox,
        &["calibrate", "--calibrator", &ranking, "--apply", "mail.csv"],
        &["is a ranking model, not a calibrator of scores"],
    );
    refused(
        &sandbox,
        &["search", "mail.calibrant", "query"],
        &["is a model of texts, not an index", "calibrant predict"],
    );
    refused(
        &sandbox,
        &["explain", &calibrator, "text"],
        &["is a calibrator of scores, not a model of texts"],
    );
}

#[test]
fn inspect_says_the_kind_of_every_file() {
    let sandbox = fitted();
    let files = [
        ("mail.calibrant".to_owned(), "model"),
        (golden("combination-4.calibrant"), "combination"),
        (golden("ranking-4-relevance.calibrant"), "ranking"),
        (golden("ranking-4-plain.calibrant"), "ranking"),
        (golden("calibrator-4-two-classes.calibrant"), "calibrator"),
        (golden("calibrator-4-three-classes.calibrant"), "calibrator"),
        (golden("index-1"), "index"),
    ];
    for (file, kind) in files {
        let shown = sandbox.json(&["inspect", &file, "--json"]);
        assert_eq!(shown["kind"], kind, "{file}");
        assert!(shown["format_version"].as_u64() >= Some(1), "{file}");
        assert!(shown["file_bytes"].as_u64() > Some(100), "{file}");
        assert!(sandbox.succeed(&["inspect", &file]).contains("calibrant"));
    }
}

/// Numbers to 1e-12, all else to the letter.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && b.iter()
                    .all(|(key, b)| a.get(key).is_some_and(|a| same(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-12 * b.abs().max(1.0)
        }
        _ => found == expected,
    }
}

#[test]
fn golden_files_get_the_answers_that_they_got() {
    let sandbox = Sandbox::new();
    for (name, input, command) in [
        ("calibrator-4-two-classes", "csv", "calibrate"),
        ("calibrator-4-three-classes", "csv", "calibrate"),
        ("ranking-4-relevance", "letor", "rank"),
        ("ranking-4-plain", "letor", "rank"),
        ("combination-4", "csv", "predict"),
    ] {
        let file = golden(&format!("{name}.calibrant"));
        let input = golden(&format!("{name}.input.{input}"));
        let answer = match command {
            "calibrate" => sandbox.succeed(&[
                "calibrate",
                "--calibrator",
                &file,
                "--apply",
                &input,
                "--json",
            ]),
            "rank" => sandbox.succeed(&["rank", "predict", &file, &input, "--json"]),
            _ => sandbox.succeed(&["predict", &file, &input, "--json"]),
        };
        let expected = std::fs::read_to_string(golden(&format!("{name}.expected.jsonl"))).unwrap();
        assert_eq!(answer.lines().count(), expected.lines().count(), "{name}");
        for (found, expected) in answer.lines().zip(expected.lines()) {
            let parsed: Value = serde_json::from_str(found).unwrap();
            let wanted: Value = serde_json::from_str(expected).unwrap();
            assert!(same(&parsed, &wanted), "{name}: {found} for {expected}");
        }
    }
}
