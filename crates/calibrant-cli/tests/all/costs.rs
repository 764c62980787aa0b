//! Decisions of least expected cost: `--costs` of `predict`, `evaluate` and `compare`, and `--ask`.

use crate::common;

use std::collections::BTreeMap;

use common::{Sandbox, csv, fitted, json_lines, messages, multi_label_messages};
use serde_json::Value;

/// Wrong answers of `corn` cost 50, other wrong answers 5, a person 2.
const WRITTEN: &str = "*,*,5;*,corn,50;*,ask,2";

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn lines(sandbox: &Sandbox, arguments: &[&str]) -> Vec<Value> {
    let printed = sandbox.succeed(arguments);
    let rows = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    rows.collect()
}

fn probabilities(row: &Value) -> BTreeMap<String, f64> {
    let classes = row["classes"].as_array().unwrap().iter();
    classes
        .map(|class| {
            (
                class["label"].as_str().unwrap().to_owned(),
                number(&class["probability"]),
            )
        })
        .collect()
}

/// By hand: what each action is expected to cost.
fn by_hand(stated: &BTreeMap<String, f64>) -> Vec<(String, f64)> {
    let wrong = |class: &str| if class == "corn" { 50.0 } else { 5.0 };
    let classes = stated
        .iter()
        .map(|(class, p)| (class.clone(), (1.0 - p) * wrong(class)));
    let mut costs: Vec<(String, f64)> = classes.chain([("ask".to_owned(), 2.0)]).collect();
    costs.sort_by(|a, b| a.1.total_cmp(&b.1));
    costs
}

#[test]
fn decisions_are_those_of_least_expected_cost_by_hand() {
    let sandbox = fitted();
    let rows = lines(
        &sandbox,
        &[
            "predict",
            "mail.calibrant",
            "mail.csv",
            "--costs",
            WRITTEN,
            "--json",
        ],
    );
    let plain = lines(
        &sandbox,
        &["predict", "mail.calibrant", "mail.csv", "--json"],
    );
    let mut actions = BTreeMap::<String, usize>::new();
    for (row, plain) in rows.iter().zip(&plain) {
        assert_eq!(
            row["classes"], plain["classes"],
            "probabilities are as they were"
        );
        assert!(plain.get("decision").is_none());
        let costs = by_hand(&probabilities(row));
        let decision = &row["decision"];
        assert_eq!(decision["action"], costs[0].0);
        assert!((number(&decision["expected_cost"]) - costs[0].1).abs() < 1e-9);
        assert_eq!(decision["runner_up"]["action"], costs[1].0);
        assert!((number(&decision["runner_up"]["expected_cost"]) - costs[1].1).abs() < 1e-9);
        *actions.entry(costs[0].0.clone()).or_default() += 1;
    }
    assert!(actions["ask"] > 0 && actions.len() > 2, "{actions:?}");
    // The same in a table: the decision stands with the most probable class alone.
    let table = sandbox.succeed(&["predict", "mail.calibrant", "mail.csv", "--costs", WRITTEN]);
    let mut table = table.lines();
    let header = table.next().unwrap();
    assert!(
        header.ends_with("log_odds,decision,expected_cost,runner_up"),
        "{header}"
    );
    for (line, row) in table
        .clone()
        .filter(|line| line.split(',').nth(1) == Some("1"))
        .zip(&rows)
    {
        let cells: Vec<&str> = line.rsplitn(4, ',').collect();
        assert_eq!(cells[2], row["decision"]["action"].as_str().unwrap());
        assert_eq!(
            cells[1].parse::<f64>().unwrap(),
            number(&row["decision"]["expected_cost"])
        );
    }
    assert!(
        table
            .filter(|line| line.split(',').nth(1) == Some("2"))
            .all(|line| line.ends_with(",,,"))
    );
    for name in ["said.parquet", "said.tsv", "said.jsonl"] {
        sandbox.succeed(&[
            "predict",
            "mail.calibrant",
            "mail.csv",
            "--costs",
            WRITTEN,
            "-o",
            name,
        ]);
        // Predictions with decisions are forecasts like others.
        sandbox.succeed(&[
            "evaluate",
            name,
            "mail.csv",
            "--costs",
            WRITTEN,
            "--no-ledger",
            "--bootstrap",
            "0",
        ]);
    }
}

#[test]
fn every_kind_of_file_says_the_same() {
    let sandbox = fitted();
    sandbox.write(
        "list.csv",
        "\u{feff}truth;decision;cost\r\n*;*;5\r\n*;corn;50\r\n*;ask;2,0\r\n",
    );
    sandbox.write("table.csv", "truth,corn,*,ask\n*,50,5,2\n");
    sandbox.write("costs.toml", "[\"*\"]\n\"*\" = 5\ncorn = 50\nask = 2.0\n");
    sandbox.write(
        "costs.json",
        r#"[{"truth":"*","decision":"ask","cost":2},{"truth":"*","decision":"corn","cost":50},{"truth":"*","action":"*","cost":5}]"#,
    );
    let predict =
        |costs: &str| sandbox.succeed(&["predict", "mail.calibrant", "mail.csv", "--costs", costs]);
    let expected = predict(WRITTEN);
    for file in ["list.csv", "table.csv", "costs.toml", "costs.json"] {
        assert_eq!(predict(file), expected, "{file}");
    }
}

#[test]
fn evaluate_and_compare_count_what_decisions_cost() {
    let sandbox = fitted();
    let rows = lines(
        &sandbox,
        &[
            "predict",
            "mail.calibrant",
            "mail.csv",
            "--costs",
            WRITTEN,
            "--json",
        ],
    );
    let truths: Vec<&str> = messages(90, 3, 1)
        .iter()
        .map(|message| message.labels[0])
        .collect();
    assert_eq!(truths.len(), rows.len());
    let evaluate = [
        "evaluate",
        "mail.calibrant",
        "mail.csv",
        "--no-ledger",
        "--costs",
        WRITTEN,
    ];
    let report = sandbox.json(&[&evaluate[..], &["--json"]].concat());
    let costs = &report["costs"];
    let paid = rows.iter().zip(&truths).map(|(row, &truth)| {
        match row["decision"]["action"].as_str().unwrap() {
            "ask" => 2.0,
            action if action == truth => 0.0,
            "corn" => 50.0,
            _ => 5.0,
        }
    });
    let mean = paid.sum::<f64>() / rows.len() as f64;
    assert!((number(&costs["mean_cost"]) - mean).abs() < 1e-9);
    let stated = rows
        .iter()
        .map(|row| number(&row["decision"]["expected_cost"]));
    let stated = stated.sum::<f64>() / rows.len() as f64;
    assert!((number(&costs["stated_mean_cost"]) - stated).abs() < 1e-9);
    assert_eq!(number(&costs["mean_cost_of_asking"]), 2.0);
    assert_eq!(costs["best_threshold"]["of"], "most_probable");
    assert!(number(&costs["interval"]["lower"]) <= number(&costs["mean_cost"]));
    let shares = costs["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| number(&action["share"]));
    assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
    let shown = sandbox.succeed(&evaluate);
    for piece in [
        "mean cost",
        "never answering",
        "best threshold",
        "always answering",
        "if always",
    ] {
        assert!(shown.contains(piece), "{piece}: {shown}");
    }
    sandbox.succeed(&[
        "fit",
        "mail.csv",
        "--classifier",
        "naive-bayes",
        "-o",
        "bayes.calibrant",
    ]);
    let compare = [
        "compare",
        "mail.csv",
        "mail.calibrant",
        "bayes.calibrant",
        "--no-ledger",
        "--costs",
        WRITTEN,
    ];
    let compared = sandbox.json(&[&compare[..], &["--json"]].concat());
    let cost = &compared["systems"][0]["cost"];
    assert!((number(&cost["mean"]) - number(&costs["mean_cost"])).abs() < 1e-9);
    assert!(compared["pairs"][0]["cost"]["bootstrap"]["lower"].is_number());
    assert!(sandbox.succeed(&compare).contains("mean cost"));
    // Without costs nothing is said of them.
    let plain = sandbox.json(&[
        "compare",
        "mail.csv",
        "mail.calibrant",
        "bayes.calibrant",
        "--no-ledger",
        "--json",
    ]);
    assert!(plain["systems"][0].get("cost").is_none() && plain["pairs"][0].get("cost").is_none());
}

#[test]
fn the_documents_most_worth_a_look_are_asked_about() {
    let sandbox = fitted();
    let plain = lines(
        &sandbox,
        &["predict", "mail.calibrant", "mail.csv", "--json"],
    );
    let sure = |row: &Value| number(&row["classes"][0]["probability"]);
    let mut order: Vec<usize> = (0..plain.len()).collect();
    order.sort_by(|&a, &b| sure(&plain[a]).total_cmp(&sure(&plain[b])));
    let asked = |arguments: &[&str]| -> Vec<usize> {
        let all = [
            &["predict", "mail.calibrant", "mail.csv", "--json"],
            arguments,
        ]
        .concat();
        let rows = lines(&sandbox, &all);
        let numbered = rows.iter().enumerate();
        let asked = numbered.filter(|(_, row)| row["decision"]["action"] == "ask");
        asked.map(|(number, _)| number).collect()
    };
    let mut least_sure = order[..10].to_vec();
    least_sure.sort_unstable();
    assert_eq!(asked(&["--ask", "10"]), least_sure);
    assert_eq!(asked(&["--ask", "0"]), [0usize; 0]);
    let some = plain.len() / 20;
    assert_eq!(asked(&["--ask", "5%"]).len(), some);
    // With costs, by what the best answer is expected to cost beyond the question.
    let worth = |row: &Value| {
        let costs = by_hand(&probabilities(row));
        costs.iter().find(|(action, _)| action != "ask").unwrap().1 - 2.0
    };
    order.sort_by(|&a, &b| worth(&plain[b]).total_cmp(&worth(&plain[a])));
    let mut expected: Vec<usize> = order[..7]
        .iter()
        .copied()
        .filter(|&row| worth(&plain[row]) >= 0.0)
        .collect();
    expected.sort_unstable();
    assert_eq!(asked(&["--costs", WRITTEN, "--ask", "7"]), expected);
    let found = sandbox.run(&["predict", "mail.calibrant", "mail.csv", "--ask", "3"]);
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(
        said.contains("`ask` for 3 of") && said.contains("mistakes expected instead of"),
        "{said}"
    );
}

#[test]
fn costs_of_documents_come_from_their_fields() {
    let sandbox = Sandbox::new();
    let training = messages(120, 2, 1);
    sandbox.write("mail.csv", csv(&training));
    sandbox.succeed(&["fit", "mail.csv", "-o", "mail.calibrant"]);
    let names: Vec<String> = probabilities(
        &lines(
            &sandbox,
            &["predict", "mail.calibrant", "mail.csv", "--json"],
        )[0],
    )
    .into_keys()
    .collect();
    let text = &training[0].text;
    sandbox.write(
        "new.csv",
        format!("text;stake\n{text};0,001\n{text};1e9\n{text};0,001\n"),
    );
    let costs = format!(
        "{1},{0},@stake;{0},{1},2*@stake;*,ask,0.5",
        names[0], names[1]
    );
    let rows = lines(
        &sandbox,
        &[
            "predict",
            "mail.calibrant",
            "new.csv",
            "--costs",
            &costs,
            "--json",
        ],
    );
    let actions: Vec<&str> = rows
        .iter()
        .map(|row| row["decision"]["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions[1], "ask");
    assert!(actions[0] != "ask" && actions[0] == actions[2]);
    for (cell, piece) in [("", "line 3"), ("much", "`stake`")] {
        sandbox.write("bad.csv", format!("text,stake\n{text},1\n{text},{cell}\n"));
        let found = sandbox.run(&["predict", "mail.calibrant", "bad.csv", "--costs", &costs]);
        let said = String::from_utf8_lossy(&found.stderr).into_owned();
        assert_eq!(found.status.code(), Some(2), "{said}");
        assert!(
            said.contains("a cost must be a number") && said.contains(piece),
            "{said}"
        );
    }
    let found = sandbox.run(&["predict", "mail.calibrant", "mail.csv", "--costs", &costs]);
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(said.contains("`stake`"), "{said}");
    // The truth beside it: evaluate reads the field, too.
    let label = training[0].labels[0];
    sandbox.write(
        "test.csv",
        format!("text,label,stake\n{text},{label},3\n{text},{label},4\n"),
    );
    let report = sandbox.json(&[
        "evaluate",
        "mail.calibrant",
        "test.csv",
        "--costs",
        &costs,
        "--no-ledger",
        "--json",
    ]);
    assert!(report["costs"]["mean_cost"].is_number());
    sandbox.write("again.calibrant", sandbox.read("mail.calibrant"));
    sandbox.succeed(&[
        "compare",
        "test.csv",
        "mail.calibrant",
        "again.calibrant",
        "--costs",
        &costs,
        "--no-ledger",
    ]);
}

#[test]
fn labels_and_other_have_costs() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "several.jsonl",
        json_lines(&multi_label_messages(100, 1), true),
    );
    sandbox.succeed(&["fit", "several.jsonl", "-o", "several.calibrant"]);
    let costs = "yes,no,4;*,ask,0.3";
    let rows = lines(
        &sandbox,
        &[
            "predict",
            "several.calibrant",
            "several.jsonl",
            "--costs",
            costs,
            "--json",
        ],
    );
    for class in rows
        .iter()
        .flat_map(|row| row["classes"].as_array().unwrap())
    {
        let p = number(&class["probability"]);
        let expected = [("no", 4.0 * p), ("yes", 1.0 - p), ("ask", 0.3)];
        let least = expected.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(class["decision"]["action"], least.0, "{class}");
        assert!((number(&class["decision"]["expected_cost"]) - least.1).abs() < 1e-9);
    }
    assert!(rows[0].get("decision").is_none());
    let asked = lines(
        &sandbox,
        &[
            "predict",
            "several.calibrant",
            "several.jsonl",
            "--ask",
            "3",
            "--json",
        ],
    );
    let is_asked = |row: &&Value| {
        row["classes"]
            .as_array()
            .unwrap()
            .iter()
            .all(|class| class["decision"]["action"] == "ask")
    };
    assert_eq!(asked.iter().filter(is_asked).count(), 3);
    let sandbox = fitted();
    let costs = "*,*,5;other,*,9;*,other,3;*,ask,2;other,corn,9;other,money,9;other,oil,9";
    let predict = [
        "predict",
        "mail.calibrant",
        "mail.csv",
        "--costs",
        costs,
        "--json",
    ];
    let rows = lines(&sandbox, &[&predict[..], &["--other", "0.2"]].concat());
    assert!(rows.iter().all(|row| row["decision"]["action"].is_string()));
    let found = sandbox.run(&predict);
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(
        said.contains("`other` is named as a truth") && said.contains("--other"),
        "{said}"
    );
}
