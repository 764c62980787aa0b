//! The parity cases of `testdata/parity`: what they are made of, and how an answer is held against them.
//! Every front end has a runner of its own; this is what runners share.

use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How far a number may be from the expected one, in parts of the larger of the two.
const RELATIVE: f64 = 1e-12;

/// Differences that are nothing but the rounding of numbers near 0, such as the sum of terms that cancel.
const ABSOLUTE: f64 = 1e-15;

/// What says something of a file, of a version or in prose, but nothing of what was computed.
const NOT_COMPARED: [&str; 12] = [
    "brier_definition",
    "bytes",
    "calibrant_version",
    "file_bytes",
    "format_version",
    "ledger",
    "model",
    "model_bytes",
    "notes",
    "seconds",
    "snippet",
    "warnings",
];

/// Steps over common files, each with the answer it must give.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What the case holds fast.
    pub(crate) about: String,
    /// In order: later ones use what earlier ones wrote.
    pub(crate) steps: Vec<Step>,
}

/// One job.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// `fit`, `predict`, `rank fit` and so on.
    pub(crate) job: String,
    /// What it reads, by role: names of files in `data/`, or of what an earlier step wrote.
    #[serde(rename = "in", default)]
    pub(crate) inputs: Map<String, Value>,
    /// What it writes, where it writes something that later steps read.
    #[serde(rename = "out", default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// Options by the program's long names, without dashes in front.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) settings: Map<String, Value>,
    /// Keys of the answer that are not compared, at any depth, beside those that never are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) leave_out: Vec<String>,
    /// The answer.
    #[serde(default)]
    pub(crate) expected: Value,
}

impl Step {
    /// An input that is one name.
    pub(crate) fn input(&self, role: &str) -> &str {
        match self.inputs.get(role) {
            Some(Value::String(name)) => name,
            other => panic!("`{}` needs one name as `{role}`, not {other:?}", self.job),
        }
    }

    /// The answer without what is not compared.
    pub(crate) fn compared(&self, answer: Value) -> Value {
        strip(answer, &self.leave_out)
    }

    /// Where an answer differs from the expected one; nothing if it does not.
    pub(crate) fn differences(&self, answer: Value) -> Vec<String> {
        let mut found = Vec::new();
        compare("", &self.expected, &self.compared(answer), &mut found);
        found
    }
}

impl Case {
    /// What differs, step by step, where `answer` runs a step; what could not be run ends the case.
    pub(crate) fn differences(
        &self,
        mut answer: impl FnMut(&Step) -> Result<Value, String>,
    ) -> Vec<String> {
        let mut wrong = Vec::new();
        for (number, step) in (1..).zip(&self.steps) {
            let place = format!("step {number}, {}", step.job);
            match answer(step) {
                Ok(answer) => {
                    let found = step.differences(answer).into_iter().take(5);
                    wrong.extend(found.map(|said| format!("{place}: {said}")));
                }
                Err(said) => {
                    wrong.push(format!("{place}: {said}"));
                    break;
                }
            }
        }
        wrong
    }
}

/// Runs all cases of a family at once by `check`, which says what differs; whatever differs is said of all.
pub(crate) fn check_family(family: &str, check: impl Fn(&Case) -> Vec<String> + Sync) {
    let cases = cases(family);
    assert!(!cases.is_empty(), "no cases in {family}");
    let wrong: Vec<String> = cases
        .par_iter()
        .map(|(path, case)| {
            assert!(
                case.steps.iter().any(|step| !step.expected.is_null()),
                "{} expects nothing",
                path.display()
            );
            let name = path.file_stem().unwrap().to_string_lossy();
            let wrong = check(case);
            let lines = wrong
                .iter()
                .map(|said| format!("{family}/{name}, {said}\n"));
            lines.collect()
        })
        .collect();
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "numbers changed:\n{wrong}");
}

/// `testdata/parity`.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/parity")
}

/// The cases of a family (a folder of `cases/`) with their paths, by name.
pub(crate) fn cases(family: &str) -> Vec<(PathBuf, Case)> {
    let folder = folder().join("cases").join(family);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, case)
    };
    paths.into_iter().map(read).collect()
}

fn strip(value: Value, leave_out: &[String]) -> Value {
    match value {
        Value::Object(entries) => {
            let kept = entries.into_iter().filter(|(key, _)| {
                !NOT_COMPARED.contains(&key.as_str()) && !leave_out.contains(key)
            });
            kept.map(|(key, value)| (key, strip(value, leave_out)))
                .collect()
        }
        Value::Array(values) => {
            let kept = values.into_iter().map(|value| strip(value, leave_out));
            kept.collect()
        }
        other => other,
    }
}

/// Every expected key and element must be there; an answer may have keys that are new.
fn compare(path: &str, expected: &Value, found: &Value, differences: &mut Vec<String>) {
    match (expected, found) {
        (Value::Number(expected), Value::Number(found)) => {
            let (a, b) = (expected.as_f64().unwrap(), found.as_f64().unwrap());
            if !near(a, b) {
                differences.push(format!("{path}: {a} expected, {b} found"));
            }
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (index, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(&format!("{path}[{index}]"), expected, found, differences);
            }
        }
        (Value::Object(expected), Value::Object(found)) => {
            for (key, expected) in expected {
                let found = found.get(key).unwrap_or(&Value::Null);
                compare(&format!("{path}.{key}"), expected, found, differences);
            }
        }
        (expected, found) if expected == found => {}
        (expected, found) => {
            differences.push(format!(
                "{path}: {} expected, {} found",
                short(expected),
                short(found)
            ));
        }
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= RELATIVE * a.abs().max(b.abs()) + ABSOLUTE
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(expected: Value) -> Step {
        let text = json!({"job": "fit", "leave_out": ["curve"], "expected": expected});
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_number_that_moved_by_more_than_rounding_is_found() {
        let step = step(json!({"a": [1.0, {"p": 0.25}], "n": 3}));
        let answer = |p: f64| json!({"a": [1.0, {"p": p, "new": 1}], "n": 3.0, "curve": 7});
        assert!(
            step.differences(answer(0.25 * (1.0 + 1e-13))).is_empty(),
            "rounding"
        );
        let found = step.differences(answer(0.25 * (1.0 + 1e-11)));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with(".a[1].p: 0.25 expected"), "{found:?}");
    }

    #[test]
    fn what_is_missing_or_of_another_kind_is_found() {
        let step = step(json!({"a": [1, 2], "s": "x", "t": true, "none": null}));
        assert!(
            step.differences(json!({"a": [1, 2], "s": "x", "t": true}))
                .is_empty()
        );
        for wrong in [
            json!({"a": [1], "s": "x", "t": true}),
            json!({"a": [1, 2], "t": true}),
            json!({"a": [1, 2], "s": "y", "t": true}),
            json!({"a": [1, 2], "s": "x", "t": "true"}),
            json!({"a": [1, 2], "s": "x", "t": true, "none": 0}),
        ] {
            assert_eq!(step.differences(wrong.clone()).len(), 1, "{wrong}");
        }
    }
}
