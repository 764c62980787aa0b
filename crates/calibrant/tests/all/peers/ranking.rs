//! Measures of rankings beside pytrec_eval's, and tests of differences beside scipy's.

use calibrant::evaluation::ranking::{
    MeasureSet, RankingValue, RunEvaluationOptions, evaluate_run,
};
use calibrant::evaluation::{paired_t_test, randomisation_test};
use calibrant::numeric::Random;
use calibrant::ranking::{Qrels, QrelsBuilder, Run, RunBuilder};
use serde_json::{Map, Value, json};

use super::data::{check_near, numbers};
use super::python::ask;

/// Judgements and a run with many ties, made by chance, and both as JSON.
fn made_up(random: &mut Random, largest_grade: usize) -> (Qrels, Run, Value, Value) {
    let mut qrels = QrelsBuilder::default();
    let mut run = RunBuilder::new("made-up").unwrap();
    let (mut judged, mut ranked) = (Map::new(), Map::new());
    for query in 0..12 {
        let query = format!("q{query}");
        let (mut grades, mut scores) = (Map::new(), Map::new());
        let documents = 1 + random.below(120);
        for document in 0..documents {
            let document = format!("d{document}");
            if random.uniform() < 0.6 {
                let grade = random.below(largest_grade + 2) as i32 - 1;
                qrels.push(&query, &document, grade).unwrap();
                grades.insert(document.clone(), json!(grade));
            }
            // The first is always listed: a query without a list would not be measured.
            if scores.is_empty() || random.uniform() < 0.7 {
                // Eighths, which 32 bits hold exactly: older versions round to them.
                let score = (random.normal() * 16.0).round() / 8.0;
                run.push(&query, &document, score).unwrap();
                scores.insert(document, json!(score));
            }
        }
        qrels.push(&query, "known", 1).unwrap();
        grades.insert("known".to_owned(), json!(1));
        judged.insert(query.clone(), Value::Object(grades));
        ranked.insert(query, Value::Object(scores));
    }
    let (qrels, run) = (qrels.finish().unwrap(), run.finish().unwrap());
    (qrels, run, Value::Object(judged), Value::Object(ranked))
}

#[test]
fn measures_of_rankings_are_those_of_pytrec_eval_and_p_values_those_of_scipy() {
    let mut random = Random::from_seed(31);
    let mut ours = Vec::new();
    let mut cases = Vec::new();
    for (largest_grade, relevant_from) in [(1, 1), (3, 1), (3, 2), (2, 2)] {
        for _ in 0..4 {
            let (qrels, run, judged, ranked) = made_up(&mut random, largest_grade);
            let options = RunEvaluationOptions {
                measures: MeasureSet::everything(),
                relevant_from,
                ..RunEvaluationOptions::default()
            };
            ours.push(evaluate_run(&qrels, &run, &options).unwrap());
            cases.push(json!({ "qrels": judged, "run": ranked, "relevant_from": relevant_from }));
        }
    }
    let mut differences: Vec<Vec<f64>> = Vec::new();
    for count in [2, 3, 7, 12, 30, 400] {
        for shift in [0.0, 0.3, -1.0] {
            differences.push((0..count).map(|_| shift + random.normal()).collect());
        }
    }
    let question = json!({ "cases": cases, "differences": differences });
    let Some(answer) = ask("ranking.py", &question) else {
        return;
    };
    let mut compared = 0;
    for (case, found) in ours.iter().enumerate() {
        for query in &found.queries {
            let theirs = answer["queries"][case][&query.id].as_object().unwrap();
            for (name, value) in found.names.iter().zip(&query.values) {
                // Its version rounds these recalls in another way.
                if name.starts_with("iprec_at_recall") || name == "11pt_avg" {
                    continue;
                }
                let (ours, theirs) = match (value, theirs.get(name)) {
                    (RankingValue::Number(ours), Some(theirs)) => (*ours, theirs),
                    (RankingValue::Count(ours), Some(theirs)) => (*ours as f64, theirs),
                    _ => continue,
                };
                let what = format!("case {case}, {}, {name}", query.id);
                check_near(&what, ours, theirs.as_f64().unwrap(), 1e-9, 1.0);
                compared += 1;
            }
        }
    }
    assert!(compared > 10_000, "{compared}");
    let t = numbers(&answer["t"]);
    for (case, theirs) in differences.iter().zip(&t) {
        check_near("t-test", paired_t_test(case).p_value, *theirs, 1e-10, 1.0);
    }
    let small = differences.iter().filter(|case| case.len() <= 12);
    for (case, theirs) in small.zip(numbers(&answer["swaps"])) {
        let ours = randomisation_test(case, 0, 1);
        check_near("randomisation", ours.p_value, theirs, 1e-12, 1.0);
    }
}
