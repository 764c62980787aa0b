//! The cases of `testdata/parity` through the program: numbers stay what they were.
//!
//! `CALIBRANT_PARITY_WRITE=PROGRAM cargo test -p calibrant-cli --test all parity` writes the expected answers anew with
//! that program; see `testdata/parity/README.md` for when that is right.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::Sandbox;
use crate::parity_cases::{Case, Step, cases, check_family, folder};

/// How an input reaches the program.
enum Role {
    /// In its place on the command line: one name, several, or none.
    Place(&'static str),
    /// Behind an option.
    Option(&'static str, &'static str),
}

use Role::{Option as Behind, Place};

/// The program's words for a job: its command, its inputs in order, and what it is always told.
fn words(
    job: &str,
) -> (
    &'static [&'static str],
    &'static [Role],
    &'static [&'static str],
) {
    match job {
        "fit" => (&["fit"], &[Place("documents")], &[]),
        "predict" => (&["predict"], &[Place("model"), Place("documents")], &[]),
        "explain" => (&["explain"], &[Place("model"), Place("text")], &[]),
        "evaluate" => (
            &["evaluate"],
            &[Place("system"), Place("documents")],
            &["--no-ledger"],
        ),
        "compare" => (
            &["compare"],
            &[Place("documents"), Place("systems")],
            &["--no-ledger"],
        ),
        "combine" => (
            &["combine"],
            &[Place("models"), Behind("--data", "documents")],
            &[],
        ),
        "inspect" => (&["inspect"], &[Place("model")], &[]),
        "rules check" => (
            &["rules", "check"],
            &[Place("rules"), Place("documents")],
            &[],
        ),
        "calibrate" => (&["calibrate"], &[Place("scores")], &[]),
        "apply" => (
            &["calibrate"],
            &[
                Behind("--calibrator", "calibrator"),
                Behind("--apply", "scores"),
            ],
            &[],
        ),
        "index" => (&["index"], &[Place("documents")], &[]),
        "search" => (&["search"], &[Place("index"), Place("query")], &[]),
        "rank fit" => (&["rank", "fit"], &[Place("tables")], &[]),
        "rank predict" => (
            &["rank", "predict"],
            &[Place("model"), Place("tables")],
            &[],
        ),
        "rank evaluate" => (
            &["rank", "evaluate"],
            &[Place("judgements"), Place("rankings")],
            &[],
        ),
        "rank outlook" => (&["rank", "outlook"], &[Place("run")], &[]),
        other => panic!("`{other}` is not a job of the parity cases"),
    }
}

/// What stands in a place of the command line.
fn names(step: &Step, role: &str) -> Vec<String> {
    match step.inputs.get(role) {
        None => Vec::new(),
        Some(Value::String(name)) => vec![name.clone()],
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().unwrap());
            names.map(str::to_owned).collect()
        }
        Some(other) => panic!("`{role}` is {other}"),
    }
}

fn arguments(step: &Step) -> Vec<String> {
    let (command, roles, always) = words(&step.job);
    let mut arguments: Vec<String> = command.iter().map(ToString::to_string).collect();
    for role in roles {
        match role {
            Place(name) => {
                arguments.extend(names(step, name));
            }
            Behind(option, name) => {
                arguments.extend([(*option).to_owned(), step.input(name).to_owned()]);
            }
        }
    }
    for (name, value) in &step.settings {
        let values = match value {
            Value::Array(values) => values.as_slice(),
            one => std::slice::from_ref(one),
        };
        for value in values {
            match value {
                Value::Bool(true) => arguments.push(format!("--{name}")),
                Value::Bool(false) => {}
                Value::String(text) => arguments.push(format!("--{name}={text}")),
                other => arguments.push(format!("--{name}={other}")),
            }
        }
    }
    if let Some(output) = &step.output {
        arguments.extend(["--output".to_owned(), output.clone()]);
    }
    arguments.extend(always.iter().map(ToString::to_string));
    // What is written to files in formats of their own is not printed as JSON.
    let to_file = step.job == "predict" && step.output.is_some()
        || ["run", "features"]
            .iter()
            .any(|key| step.settings.contains_key(*key));
    if !to_file {
        arguments.push("--json".to_owned());
    }
    arguments
}

/// One JSON value, or a list of them where each has its line; nothing where nothing is printed.
fn parse(printed: &str) -> Value {
    if printed.trim().is_empty() {
        return Value::Null;
    }
    serde_json::from_str(printed).unwrap_or_else(|_| {
        let lines = printed.lines().map(serde_json::from_str);
        Value::Array(lines.collect::<Result<_, _>>().unwrap())
    })
}

/// Runs a step, and returns what it printed.
fn answer(program: &Path, sandbox: &Sandbox, step: &Step) -> Result<Value, String> {
    let arguments = arguments(step);
    let output = Command::new(program)
        .current_dir(sandbox.path(""))
        .args(&arguments)
        .output()
        .unwrap();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("calibrant {}\n{said}", arguments.join(" ")));
    }
    Ok(parse(&String::from_utf8(output.stdout).unwrap()))
}

fn with_data() -> Sandbox {
    let sandbox = Sandbox::new();
    for entry in std::fs::read_dir(folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        sandbox.write(name, std::fs::read(&path).unwrap());
    }
    sandbox
}

fn write(program: &Path, path: &Path, mut case: Case) {
    let sandbox = with_data();
    for step in &mut case.steps {
        let answer = answer(program, &sandbox, step)
            .unwrap_or_else(|said| panic!("{}: {said}", path.display()));
        step.expected = step.compared(answer);
    }
    std::fs::write(path, pretty_case(&case)).unwrap();
}

/// JSON for people: what fits into a line stays in one, and so do lists of numbers.
fn write_pretty(value: &Value, depth: usize, out: &mut String) {
    const WIDTH: usize = 140;
    let line = value.to_string();
    let numbers = value
        .as_array()
        .is_some_and(|values| values.iter().all(Value::is_number));
    if numbers || line.len() + 2 * depth <= WIDTH {
        out.push_str(&line);
        return;
    }
    let (open, close, entries): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        Value::Array(values) => ('[', ']', values.iter().map(|value| (None, value)).collect()),
        Value::Object(entries) => (
            '{',
            '}',
            entries
                .iter()
                .map(|(key, value)| (Some(key), value))
                .collect(),
        ),
        _ => return out.push_str(&line),
    };
    out.push(open);
    for (index, (key, value)) in entries.into_iter().enumerate() {
        out.push_str(if index == 0 { "\n" } else { ",\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&format!("{}: ", Value::from(key.as_str())));
        }
        write_pretty(value, depth + 1, out);
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

/// The case with its keys in the order of reading.
fn pretty_case(case: &Case) -> String {
    let mut out = String::from("{\n  \"about\": ");
    out.push_str(&Value::from(case.about.as_str()).to_string());
    out.push_str(",\n  \"steps\": [");
    for (number, step) in case.steps.iter().enumerate() {
        out.push_str(if number == 0 { "\n    {" } else { ",\n    {" });
        let Value::Object(entries) = serde_json::to_value(step).unwrap() else {
            unreachable!("a step is an object")
        };
        let keys = ["job", "in", "out", "settings", "leave_out", "expected"];
        let mut first = true;
        for key in keys {
            let Some(value) = entries.get(key) else {
                continue;
            };
            out.push_str(if first { "\n      " } else { ",\n      " });
            first = false;
            out.push_str(&format!("\"{key}\": "));
            write_pretty(value, 3, &mut out);
        }
        out.push_str("\n    }");
    }
    out.push_str("\n  ]\n}\n");
    out
}

/// All cases of a family at once; whatever differs is said of all.
fn run(family: &str) {
    if let Some(program) = std::env::var_os("CALIBRANT_PARITY_WRITE") {
        for (path, case) in cases(family) {
            write(Path::new(&program), &path, case);
        }
        return;
    }
    // Another build of the program, such as the static one, may be held against the cases as well.
    let program = std::env::var_os("CALIBRANT_PARITY_PROGRAM")
        .map_or_else(|| assert_cmd::cargo::cargo_bin("calibrant"), PathBuf::from);
    check_family(family, |case| {
        let sandbox = with_data();
        case.differences(|step| answer(&program, &sandbox, step))
    });
}

#[test]
fn classify() {
    run("classify");
}

#[test]
fn calibrate() {
    run("calibrate");
}

#[test]
fn evaluate() {
    run("evaluate");
}

#[test]
fn rank() {
    run("rank");
}

#[test]
fn every_family_has_its_test() {
    let folders = std::fs::read_dir(folder().join("cases")).unwrap();
    let mut names: Vec<String> = folders
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["calibrate", "classify", "evaluate", "rank"]);
}
