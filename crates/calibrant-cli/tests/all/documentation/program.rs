//! The built program, as a shell finds it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("calibrant")
}

/// Where the corpora are.
pub(super) fn data_folder() -> PathBuf {
    let beside = super::root().join("../shared/data");
    std::env::var_os("CALIBRANT_DATA").map_or(beside, PathBuf::from)
}

/// A command in a folder by a shell that finds the program; standard output and error come in one stream, as a reader sees them.
pub(super) fn shell(folder: &Path, command: &str) -> (i32, String) {
    let (status, printed, _) = shell_apart(folder, &format!("exec 2>&1\n{command}"));
    (status, printed)
}

/// The same with standard output and error apart.
pub(super) fn shell_apart(folder: &Path, command: &str) -> (i32, String, String) {
    let before = std::env::var_os("PATH").unwrap_or_default();
    let folders = [program().parent().unwrap().to_owned()]
        .into_iter()
        .chain(std::env::split_paths(&before));
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .env("CALIBRANT_DATA", data_folder())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().unwrap_or(-1);
    (status, text(&output.stdout), text(&output.stderr))
}

/// A folder with the files of the documentation in it.
pub(super) fn folder_with_files() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(super::root().join("testdata/docs")).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

/// The help of every command, by its name (`rank fit`).
pub(super) static HELP: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let mut found = BTreeMap::new();
    collect_help(&mut Vec::new(), &mut found);
    found
});

fn collect_help(command: &mut Vec<String>, found: &mut BTreeMap<String, String>) {
    let output = Command::new(program())
        .args(command.iter())
        .arg("--help")
        .output()
        .unwrap();
    assert!(output.status.success(), "no help of {command:?}");
    let help = String::from_utf8(output.stdout).unwrap();
    let mut listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    let mut inner: Vec<String> = Vec::new();
    for line in &mut listed {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        if let Some(name) = line.split_whitespace().next().filter(|_| is_name) {
            inner.push(name.to_owned());
        }
    }
    found.insert(command.join(" "), help.clone());
    for name in inner.into_iter().filter(|name| name != "help") {
        command.push(name);
        collect_help(command, found);
        command.pop();
    }
}
