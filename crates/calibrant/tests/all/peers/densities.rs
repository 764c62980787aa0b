//! Densities beside scipy's, and their likelihoods beside the best that scipy's optimiser finds.

use calibrant::calibration::{
    AsymmetricGauss, AsymmetricLaplace, ClassScores, Density, Gauss, Hybrid, Laplace, Side,
};
use calibrant::numeric::Random;
use serde_json::{Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

fn ln_likelihood<D: Density>(class: &ClassScores) -> f64 {
    let density = D::fit(class).unwrap();
    class
        .examples()
        .map(|(score, weight)| weight * density.ln_pdf(score))
        .sum()
}

/// The optimiser may stop short of the best; ours may not be beaten, and must not be far from it.
#[track_caller]
fn check<D: Density>(class: &ClassScores, theirs: &Value) {
    let (ours, theirs) = (ln_likelihood::<D>(class), theirs.as_f64().unwrap());
    assert!(ours >= theirs - 1e-7, "{}: {ours} {theirs}", D::NAME);
    check_near(D::NAME, ours, theirs, 1e-3, 1.0);
}

#[test]
fn made_up_scores_get_the_densities_of_scipy() {
    let mut random = Random::from_seed(77);
    let mut cases = Vec::new();
    for (count, left, right, unit, most_weight) in [
        (60, 1.0, 1.0, 1.0, 1),
        (300, 0.3, 2.0, 1.0, 1),
        (200, 2.0, 0.5, 25.0, 3),
        (41, 1.0, 3.0, 0.02, 2),
    ] {
        let examples: Vec<(f64, f64)> = (0..count)
            .map(|_| {
                let draw = random.normal() + 0.3 * random.normal().powi(3);
                let width = if draw < 0.0 { left } else { right };
                let weight = (1 + random.below(most_weight)) as f64;
                (unit * (draw * width + 0.7), weight)
            })
            .collect();
        cases.push(examples);
    }
    let asked: Vec<Value> = cases
        .iter()
        .map(|examples| {
            let (scores, weights): (Vec<f64>, Vec<f64>) = examples.iter().copied().unzip();
            json!({"scores": scores, "weights": weights})
        })
        .collect();
    let Some(answers) = ask("densities.py", &json!({"cases": asked})) else {
        return;
    };
    for (number, examples) in cases.iter().enumerate() {
        // A spread of next to nothing: no floor.
        let class = ClassScores::new(examples, Side::Left, 1e-40).unwrap();
        let answer = &answers[number];
        let (gauss, theirs) = (Gauss::fit(&class).unwrap(), numbers(&answer["gauss"]));
        check_near("mean", gauss.mean(), theirs[0], 1e-12, theirs[1]);
        check_near("deviation", gauss.deviation(), theirs[1], 1e-12, theirs[1]);
        let (laplace, theirs) = (Laplace::fit(&class).unwrap(), numbers(&answer["laplace"]));
        check_near("median", laplace.median(), theirs[0], 1e-12, theirs[1]);
        check_near(
            "deviation",
            laplace.deviation(),
            theirs[1],
            1e-12,
            theirs[1],
        );
        check::<AsymmetricLaplace>(&class, &answer["asymmetric_laplace"]);
        check::<AsymmetricGauss>(&class, &answer["asymmetric_gauss"]);
        check::<Hybrid>(&class, &answer["hybrid"]);
    }
}
