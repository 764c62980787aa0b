//! Runs a script beside this file: a question as JSON on its standard input, an answer as JSON back.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

/// The answer of a script, or `None` with a loud word where there is no Python to ask. Where the
/// variable CI is set, nothing may be skipped.
///
/// # Panics
/// If the script fails, with what it said.
#[track_caller]
pub(crate) fn ask(script: &str, question: &Value) -> Option<Value> {
    let python = interpreter();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../calibrant/tests/all/peers");
    let started = Command::new(&python)
        .arg(PathBuf::from(folder).join(script))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Tests run side by side: libraries that start a thread per core, and let it spin, only slow them down.
        .envs(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"].map(|name| (name, "1")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            let python = python.display();
            assert!(
                std::env::var_os("CI").is_none(),
                "cannot run {python}: {error}"
            );
            // Written past the test harness, which would swallow it.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {script} needs {python}, which cannot be run: {error} (set CALIBRANT_PYTHON)"
            );
            return None;
        }
    };
    if let Some(mut input) = child.stdin.take() {
        // A script that failed has closed its end; its own words say more than ours would.
        let _ = input.write_all(question.to_string().as_bytes());
    }
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{script} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

fn interpreter() -> PathBuf {
    let usual = if cfg!(windows) {
        "target/venv/Scripts/python.exe"
    } else {
        "target/venv/bin/python"
    };
    std::env::var_os("CALIBRANT_PYTHON").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(usual),
        PathBuf::from,
    )
}
