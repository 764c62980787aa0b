//! Files of scores, and what the tests of `calibrate` ask of them.

use serde_json::Value;

use super::{Dice, Sandbox};

/// A uniform number strictly between 0 and 1.
pub(crate) fn uniform(dice: &mut Dice) -> f64 {
    (dice.below(1_000_000) as f64 + 0.5) / 1e6
}

/// Examples whose true log-odds are `2 s + shift`.
pub(crate) fn examples(count: usize, shift: f64, seed: u64) -> Vec<(f64, bool)> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|_| {
            let score = 6.0 * uniform(&mut dice) - 3.0;
            let p = 1.0 / (1.0 + (-2.0 * score - shift).exp());
            (score, uniform(&mut dice) < p)
        })
        .collect()
}

/// Normal scores around -1 and 1, of which this share is positive: priors may differ, classes do not.
pub(crate) fn two_normals(count: usize, positives: f64, seed: u64) -> Vec<(f64, bool)> {
    let mut dice = Dice::new(seed);
    (0..count)
        .map(|_| {
            let label = uniform(&mut dice) < positives;
            let (u, v) = (uniform(&mut dice), uniform(&mut dice));
            let normal = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
            (normal + if label { 1.0 } else { -1.0 }, label)
        })
        .collect()
}

pub(crate) fn scores_csv(examples: &[(f64, bool)], names: [&str; 2]) -> String {
    let mut text = String::from("key,margin,truth\n");
    for (number, (score, label)) in examples.iter().enumerate() {
        text += &format!("k{number},{score},{}\n", names[usize::from(*label)]);
    }
    text
}

pub(crate) const FIT: [&str; 6] = [
    "calibrate",
    "a.csv",
    "--score",
    "margin",
    "--label",
    "truth",
];

pub(crate) fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.csv", scores_csv(&examples(600, 0.0, 1), ["no", "yes"]));
    sandbox.write("b.csv", scores_csv(&examples(300, 0.0, 2), ["no", "yes"]));
    sandbox
}

pub(crate) fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&FIT[..], more].concat()
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Code 2, pieces of the message, nothing on standard output, every file as it was.
#[track_caller]
pub(crate) fn refused(sandbox: &Sandbox, arguments: &[&str], pieces: &[&str]) {
    let before = sandbox.contents();
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(2), "{arguments:?}: {stderr}");
    for piece in pieces {
        assert!(stderr.contains(piece), "no `{piece}` in: {stderr}");
    }
    assert!(found.stdout.is_empty(), "{arguments:?}");
    assert!(sandbox.contents() == before, "{arguments:?} left a trace");
}

#[track_caller]
pub(crate) fn stderr_of(sandbox: &Sandbox, arguments: &[&str]) -> String {
    let found = sandbox.run(arguments);
    let stderr = String::from_utf8(found.stderr).unwrap();
    assert_eq!(found.status.code(), Some(0), "{arguments:?}: {stderr}");
    stderr
}

/// The rows of a written CSV file below its header.
pub(crate) fn rows(sandbox: &Sandbox, name: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(sandbox.read(name)).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}
