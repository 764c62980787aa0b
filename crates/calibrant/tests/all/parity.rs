//! The cases of `testdata/parity` through the library's jobs: what they answer, written as JSON, is what the program prints.

mod documents;
mod rankings;
mod scores;
mod settings;
mod systems;

use std::error::Error;
use std::path::PathBuf;

use calibrant::corpus::Source;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use crate::common::parity::{Step, check_family, folder};

type Answer = Result<Value, Box<dyn Error>>;

/// The JSON of an answer, through its text: a number of single precision has fewer digits there than as a value.
fn written(answer: impl Serialize) -> Answer {
    Ok(serde_json::from_slice(&serde_json::to_vec(&answer)?)?)
}

/// What earlier steps of a case made, as files: what is saved is what is opened.
struct Made(TempDir);

impl Made {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Where something of this name is, or goes.
    fn target(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Where a step writes what later ones read.
    fn output(&self, step: &Step) -> PathBuf {
        let name = step.output.as_ref();
        self.target(name.expect("what is made has a name to be kept by"))
    }

    /// What an earlier step made, else a file of the cases.
    fn path(&self, name: &str) -> PathBuf {
        let made = [self.target(name), folder().join("data").join(name)];
        let found = made.iter().find(|path| path.exists());
        found
            .unwrap_or_else(|| panic!("nothing is called `{name}`"))
            .clone()
    }

    /// The bytes of a file under its bare name, as the program is given it.
    fn source(&self, name: &str) -> Source {
        Source::bytes(name, std::fs::read(self.path(name)).unwrap())
    }

    /// All files of a role: none, one or several.
    fn sources(&self, names: Option<&Value>) -> Vec<Source> {
        let names = settings::texts(names);
        names.iter().map(|name| self.source(name)).collect()
    }

    /// The answer to a step.
    fn run(&self, step: &Step) -> Answer {
        match step.job.as_str() {
            "fit" => documents::fit(self, step),
            "predict" => documents::predict(self, step),
            "explain" => documents::explained(self, step),
            "combine" => documents::combine(self, step),
            "inspect" => documents::inspect(self, step),
            "rules check" => documents::rules(self, step),
            "evaluate" => systems::evaluate(self, step),
            "compare" => systems::compare(self, step),
            "calibrate" => scores::calibrate(self, step),
            "apply" => scores::apply(self, step),
            "index" => rankings::index(self, step),
            "search" => rankings::search(self, step),
            "rank fit" => rankings::fit(self, step),
            "rank predict" => rankings::predict(self, step),
            "rank evaluate" => rankings::evaluate(self, step),
            "rank outlook" => rankings::look_ahead(self, step),
            other => panic!("`{other}` is not a job of the parity cases"),
        }
    }
}

fn run(family: &str) {
    check_family(family, |case| {
        let made = Made::new();
        case.differences(|step| made.run(step).map_err(|error| error.to_string()))
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
