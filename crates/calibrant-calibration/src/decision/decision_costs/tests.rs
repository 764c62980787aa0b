use proptest::prelude::*;

use super::*;

fn entries(written: &[(&str, &str, f64)]) -> Vec<CostEntry> {
    let entry = |&(truth, action, cost): &(&str, &str, f64)| CostEntry::new(truth, action, cost);
    written.iter().map(entry).collect()
}

fn single(written: &[(&str, &str, f64)]) -> Result<DecisionCosts, CostError> {
    let classes = ["billing", "outage", "refund"];
    DecisionCosts::new(&entries(written), Task::SingleLabel, classes)
}

fn several(written: &[(&str, &str, f64)]) -> Result<DecisionCosts, CostError> {
    DecisionCosts::new(&entries(written), Task::MultiLabel, ["sports", "a:b"])
}

#[track_caller]
fn refused(costs: Result<DecisionCosts, CostError>, pieces: &[&str]) {
    let error = costs.unwrap_err().to_string();
    for piece in pieces {
        assert!(error.contains(piece), "{error}");
    }
}

#[test]
fn the_more_specific_entry_wins_whatever_the_order() {
    let mut written = vec![
        ("*", "*", 5.0),
        ("*", "refund", 50.0),
        ("outage", "*", 9.0),
        ("outage", "refund", 70.0),
        ("billing", "billing", -1.0),
        ("*", "ask", 2.0),
        ("outage", "ask", 3.0),
    ];
    for _ in 0..written.len() {
        let costs = single(&written).unwrap();
        let matrix = costs.of_document(0, &[]);
        let rows = Vec::<Vec<f64>>::from(matrix.into_owned());
        let expected = [
            [-1.0, 5.0, 50.0, 2.0],
            [9.0, 0.0, 70.0, 3.0],
            [5.0, 5.0, 0.0, 2.0],
        ];
        assert_eq!(rows, expected);
        assert_eq!(costs.ask(), Some(3));
        written.rotate_left(1);
    }
}

#[test]
fn what_is_not_settled_is_refused_with_the_line_to_add() {
    let written = [("*", "refund", 50.0), ("outage", "*", 9.0)];
    let pieces = [
        "`outage,*,9` and `*,refund,50`",
        "add a line `outage,refund,COST`",
    ];
    refused(single(&written), &pieces);
    // Equal costs need no judge.
    assert!(single(&[("*", "refund", 9.0), ("outage", "*", 9.0)]).is_ok());
    let twice = [("outage", "refund", 1.0), ("outage", "refund", 2.0)];
    refused(
        single(&twice),
        &["`outage,refund,2` contradicts `outage,refund,1`"],
    );
    assert!(single(&[("outage", "refund", 1.0), ("outage", "refund", 1.0)]).is_ok());
}

#[test]
fn names_that_mean_nothing_are_refused() {
    refused(
        single(&[("billng", "refund", 1.0)]),
        &["`billng` is named as a truth", "nearest is `billing`"],
    );
    refused(
        single(&[("spam", "refund", 1.0)]),
        &["`spam`", "not a class"],
    );
    refused(
        single(&[("outage", "Refund", 1.0)]),
        &["looks like `refund`"],
    );
    refused(single(&[("outage", "Ask", 1.0)]), &["looks like `ask`"]);
    refused(single(&[("outage", " ", 1.0)]), &["is empty"]);
    refused(
        single(&[("outage", "escalate", 1.0)]),
        &["no cost for `billing`, `refund`", "`*,escalate,COST`"],
    );
    refused(
        single(&[("outage", "refnd", 1.0)]),
        &["is the class `refund` meant?"],
    );
    refused(
        single(&[("outage", "refund", f64::NAN)]),
        &["NaN is not a cost"],
    );
    let placed = CostEntry::new("spam", "refund", 1.0).at("costs.csv, line 7");
    let costs = DecisionCosts::new(&[placed], Task::SingleLabel, ["ham", "refund"]);
    refused(costs, &["costs.csv, line 7: `spam`"]);
    let many: Vec<String> = (0..6000).map(|class| class.to_string()).collect();
    let many = DecisionCosts::new(&[], Task::SingleLabel, many.iter().map(String::as_str));
    refused(many, &["6000 classes are too many"]);
}

#[test]
fn labels_have_costs_of_their_own() {
    let costs = several(&[
        ("yes", "no", 4.0),
        ("sports:yes", "no", 9.0),
        ("a:b:*", "ask", 0.5),
        ("*", "ask", 0.25),
    ])
    .unwrap();
    assert_eq!(costs.actions(), ["no", "yes", "ask"]);
    let rows = |label| Vec::<Vec<f64>>::from(costs.of_document(label, &[]).into_owned());
    assert_eq!(rows(0), [[0.0, 1.0, 0.25], [9.0, 0.0, 0.25]]);
    assert_eq!(rows(1), [[0.0, 1.0, 0.5], [4.0, 0.0, 0.5]]);
    refused(
        several(&[("sports", "no", 1.0)]),
        &["`sports`", "yes or no"],
    );
    refused(
        several(&[("yes", "sports", 1.0)]),
        &["`sports`", "yes or no"],
    );
    refused(
        several(&[("tennis:yes", "no", 1.0)]),
        &["`tennis`", "not a class"],
    );
    refused(
        several(&[("sports:yes", "ask", 1.0)]),
        &["no cost for `sports:no`"],
    );
}

#[test]
fn fields_of_documents_are_costs() {
    let missed = CostAmount::OfField {
        factor: 2.0,
        field: "amount".into(),
    };
    let written = [
        CostEntry::new("fraud", "fine", missed),
        CostEntry::new("*", "ask", "@hours".parse::<CostAmount>().unwrap()),
    ];
    let costs = DecisionCosts::new(&written, Task::SingleLabel, ["fine", "fraud"]).unwrap();
    assert_eq!(costs.fields(), ["amount", "hours"]);
    let rows = Vec::<Vec<f64>>::from(costs.of_document(0, &[100.0, 3.0]).into_owned());
    assert_eq!(rows, [[0.0, 1.0, 3.0], [200.0, 0.0, 3.0]]);
}

/// One entry as drawn: `None` is a wildcard.
type Drawn = (Option<usize>, Option<usize>, i32);

/// What entries say of a pair, read slowly: all that match, of which those remain that no other match refines.
fn slowly(drawn: &[Drawn], truth: usize, action: usize, classes: usize) -> Result<f64, ()> {
    let wrong = action < classes && action != truth;
    let matches = |&&(t, a, _): &&Drawn| match (t, a) {
        (Some(t), Some(a)) => t == truth && a == action,
        (Some(t), None) => t == truth && wrong,
        (None, Some(a)) => a == action && (wrong || action >= classes),
        (None, None) => wrong,
    };
    let found: Vec<&Drawn> = drawn.iter().filter(matches).collect();
    let refines = |a: &Drawn, b: &Drawn| {
        let at_least = (b.0.is_none() || a.0 == b.0) && (b.1.is_none() || a.1 == b.1);
        at_least && (a.0, a.1) != (b.0, b.1)
    };
    let mut left: Vec<i32> = found
        .iter()
        .filter(|b| !found.iter().any(|a| refines(a, b)))
        .map(|entry| entry.2)
        .collect();
    left.sort_unstable();
    left.dedup();
    match (left[..].first(), left.len()) {
        (Some(&cost), 1) => Ok(f64::from(cost)),
        (Some(_), _) => Err(()),
        (None, _) if truth == action => Ok(0.0),
        (None, _) if wrong => Ok(1.0),
        _ => Err(()),
    }
}

proptest! {
    #[test]
    fn entries_and_decisions_agree_with_a_slow_reading(
        classes in 2usize..5,
        further in 0usize..3,
        drawn in prop::collection::vec((0usize..6, 0usize..8, -3i32..40), 0..14),
        weights in prop::collection::vec(1u32..1000, 5),
    ) {
        let actions = classes + further;
        let mut drawn: Vec<Drawn> = drawn
            .into_iter()
            .map(|(truth, action, cost)| (
                (truth < classes).then_some(truth),
                (action < actions).then_some(action),
                cost,
            ))
            .collect();
        // Further actions have a cost for every truth.
        drawn.extend((classes..actions).map(|action| (None, Some(action), 7)));
        let truths: Vec<String> = (0..classes).map(|class| format!("class {class}")).collect();
        let action_name = |action: usize| {
            truths.get(action).cloned().unwrap_or_else(|| format!("action {action}"))
        };
        let written: Vec<CostEntry> = drawn
            .iter()
            .map(|&(truth, action, cost)| CostEntry::new(
                truth.map_or("*".to_owned(), |truth| truths[truth].clone()),
                action.map_or("*".to_owned(), action_name),
                f64::from(cost),
            ))
            .collect();
        let names = || truths.iter().map(String::as_str);
        let costs = DecisionCosts::new(&written, Task::SingleLabel, names());
        let contradiction = drawn.iter().enumerate().any(|(i, a)| {
            drawn[..i].iter().any(|b| (a.0, a.1) == (b.0, b.1) && a.2 != b.2)
        });
        let expected: Result<Vec<f64>, ()> = (0..classes * actions)
            .map(|cell| slowly(&drawn, cell / actions, cell % actions, classes))
            .collect();
        prop_assert_eq!(costs.is_err(), contradiction || expected.is_err(), "{:?}", costs);
        let (Ok(costs), Ok(expected)) = (costs, expected) else { return Ok(()) };
        let mut backwards = written.clone();
        backwards.reverse();
        let backwards = DecisionCosts::new(&backwards, Task::SingleLabel, names()).unwrap();
        let total: f64 = weights[..classes].iter().map(|&w| f64::from(w)).sum();
        let stated: Vec<f64> = weights[..classes].iter().map(|&w| f64::from(w) / total).collect();
        for usual in 0..classes {
            let matrix = costs.of_document(0, &[]);
            // By brute force, over the names of actions, whose order depends on that of the entries.
            let cost_of = |name: &str| -> f64 {
                let action = (0..actions).find(|&action| action_name(action) == name).unwrap();
                (0..classes).map(|truth| stated[truth] * expected[truth * actions + action]).sum()
            };
            let every: Vec<f64> = costs.actions().iter().map(|name| cost_of(name)).collect();
            let least = every.iter().copied().fold(f64::INFINITY, f64::min);
            let decided = matrix.decide(&stated, usual);
            let tolerance = 1e-12 * (1.0 + least.abs());
            prop_assert!((decided.expected_cost - least).abs() <= tolerance);
            prop_assert!((every[decided.action] - least).abs() <= tolerance);
            if (every[usual] - least).abs() <= 1e-13 * least.abs() {
                prop_assert_eq!(decided.action, usual);
            }
            let others = every.iter().enumerate().filter(|(action, _)| *action != decided.action);
            let second = others.map(|(_, &cost)| cost).fold(f64::INFINITY, f64::min);
            let runner_up = decided.runner_up.unwrap();
            prop_assert!(runner_up.0 != decided.action);
            prop_assert!((runner_up.1 - second).abs() <= 1e-12 * (1.0 + second.abs()));
            let mirrored = backwards.of_document(0, &[]).decide(&stated, usual);
            prop_assert!((mirrored.expected_cost - least).abs() <= tolerance);
        }
    }
}
