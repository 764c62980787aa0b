//! Class probabilities by least squares beside scipy's.

use calibrant::multiclass::{CodeDesign, CodeMatrix};
use calibrant::numeric::Random;
use calibrant::solvers::{SimplexBuffers, SimplexLeastSquares};
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

struct Case {
    code: CodeMatrix,
    targets: Vec<Vec<f64>>,
}

impl Case {
    /// Which classes each column speaks for, column after column.
    fn equations(&self) -> Vec<f64> {
        let columns = (0..self.code.length()).flat_map(|column| self.code.column(column));
        columns.map(|side| f64::from(u8::from(side == 1))).collect()
    }

    fn squared_error(&self, solution: &[f64], target: &[f64]) -> f64 {
        let equations = self.equations();
        let said = equations.chunks_exact(solution.len()).map(|equation| {
            let parts = equation.iter().zip(solution);
            parts.map(|(a, z)| a * z).sum::<f64>()
        });
        said.zip(target).map(|(said, p)| (said - p).powi(2)).sum()
    }
}

fn cases() -> Vec<Case> {
    let mut random = Random::from_seed(5);
    let designs = [
        (CodeDesign::OneVsAll, 5),
        (CodeDesign::Exhaustive, 6),
        (CodeDesign::RandomDense, 12),
        (CodeDesign::Bch, 20),
        (CodeDesign::RandomDense, 28),
    ];
    let case = |(design, classes): (CodeDesign, usize)| {
        let code = design.build(classes, None, 1).unwrap();
        let targets = (0..30).map(|number| {
            // Answers that lean to a class's word, some hardly and some so far that signs decide.
            let word = code.row(number % classes);
            let lean = number as f64 / 30.0;
            let answer = |&side: &i8| {
                let noise = random.uniform();
                lean * f64::from(u8::from(side == 1)) + (1.0 - lean) * noise
            };
            word.iter().map(answer).collect()
        });
        let targets = targets.collect();
        Case { code, targets }
    };
    designs.map(case).into_iter().collect()
}

#[test]
fn class_probabilities_by_least_squares_are_those_of_scipy() {
    let cases = cases();
    let asked: Vec<Value> = cases
        .iter()
        .map(|case| {
            json!({
                "class_count": case.code.class_count(),
                "code": case.code.entries(), "targets": case.targets,
            })
        })
        .collect();
    let Some(answers) = ask("output_codes.py", &json!({"cases": asked})) else {
        return;
    };
    let mut buffer = SimplexBuffers::default();
    for (number, case) in cases.iter().enumerate() {
        let classes = case.code.class_count();
        let prepared = SimplexLeastSquares::new(classes, case.equations()).unwrap();
        let errors = numbers(&answers[number]["squared_errors"]);
        for (row, target) in case.targets.iter().enumerate() {
            let mut ours = vec![0.0; classes];
            prepared.solve_into(target, &mut buffer, &mut ours);
            let what = format!("code {number}, row {row}");
            let theirs = numbers(&answers[number]["solutions"][row]);
            for (&ours, &theirs) in ours.iter().zip(&theirs) {
                check_near(&what, ours, theirs, 2e-5, 1.0);
            }
            let error = case.squared_error(&ours, target);
            check_near(&what, error, errors[row], 1e-6, 1.0);
        }
    }
}
