//! Copies, groups, weights and documents that were learned from, as the program shows them.

use crate::common;

use common::{Dice, Message, Sandbox, csv, messages};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

/// Messages with a weight and a thread: `id,label,text,weight,thread`.
fn table(
    messages: &[Message],
    weight: impl Fn(usize) -> f64,
    thread: impl Fn(usize) -> String,
) -> String {
    let mut table = "id,label,text,weight,thread\n".to_owned();
    for (row, message) in messages.iter().enumerate() {
        let (weight, thread) = (weight(row), thread(row));
        table += &format!(
            "{},{},{},{weight},{thread}\n",
            message.id, message.labels[0], message.text
        );
    }
    table
}

fn repeated(messages: &[Message], times: usize) -> Vec<Message> {
    (0..times).flat_map(|_| messages.to_vec()).collect()
}

#[test]
fn copies_are_weights_and_are_counted() {
    let sandbox = Sandbox::new();
    let once = messages(80, 3, 5);
    sandbox.write("once.csv", csv(&once));
    sandbox.write("thrice.csv", csv(&repeated(&once, 3)));
    let plain = sandbox.json(&["fit", "once.csv", "-o", "a", "--json"]);
    let copied = sandbox.json(&["fit", "thrice.csv", "-o", "b", "--json"]);
    assert_eq!(plain["held_out"], copied["held_out"]);
    assert_eq!(number(&copied["documents"]), 240.0);
    let natural = plain["copies"].as_u64().unwrap_or(0);
    assert_eq!(copied["copies"].as_u64(), Some(160 + natural));
    let said = sandbox.succeed(&["fit", "thrice.csv", "-o", "b"]);
    assert!(said.contains("of them are copies of others"), "{said}");
    let predictions = |model| sandbox.succeed(&["predict", model, "once.csv"]);
    assert_eq!(predictions("a"), predictions("b"));
}

#[test]
fn the_unit_of_weights_makes_no_difference_anywhere() {
    let sandbox = Sandbox::new();
    let all = messages(90, 3, 6);
    for (name, unit) in [("large", 1000.0), ("small", 1.0 / 65_536.0)] {
        let weight = |row: usize| unit * [1.0, 2.0, 0.5][row % 3];
        sandbox.write(
            &format!("{name}.csv"),
            table(&all, weight, |_| String::new()),
        );
        let scores: String = (0..60)
            .map(|row| {
                format!(
                    "{},{},{}\n",
                    f64::from(row % 17) - 8.0,
                    row * 7 % 3 / 2,
                    unit * [1.0, 3.0][row as usize % 2]
                )
            })
            .collect();
        sandbox.write(
            &format!("{name}-scores.csv"),
            format!("score,label,weight\n{scores}"),
        );
    }
    let of = |name: &str| {
        let file = format!("{name}.csv");
        let fit = sandbox.json(&["fit", &file, "-o", name, "--weight", "weight", "--json"]);
        let predictions = sandbox.succeed(&["predict", name, &file]);
        let scores = format!("{name}-scores.csv");
        let calibrated = sandbox.json(&[
            "calibrate",
            &scores,
            "--score",
            "score",
            "--weight",
            "weight",
            "--json",
        ]);
        // Sums are in the unit of the weights; what is fitted and every mean are not.
        let fitted = (
            calibrated["calibrator"].clone(),
            calibrated["cross_validated_log_loss"].clone(),
            calibrated["after"]["calibration"].clone(),
        );
        (fit["held_out"].clone(), predictions, fitted)
    };
    assert_eq!(of("large"), of("small"));
}

#[test]
fn groups_are_asked_for_by_name_and_by_nobody_else() {
    let sandbox = Sandbox::new();
    let all = messages(160, 3, 7);
    let thread = |row: usize| {
        if row.is_multiple_of(7) {
            String::new()
        } else {
            format!("t{}", row % 40)
        }
    };
    sandbox.write("train.csv", table(&all[..100], |_| 1.0, thread));
    sandbox.write("held.csv", table(&all[100..], |_| 1.0, thread));
    sandbox.write("plain.csv", csv(&all[100..]));
    let fit = ["fit", "train.csv", "-o", "model", "--group", "thread"];
    let report = sandbox.json(&[&fit[..], &["--json"]].concat());
    assert!(report["groups"].as_u64().unwrap() < 100, "{report}");
    assert!(
        sandbox
            .succeed(&fit)
            .contains("groups, none split between folds")
    );
    // The field is needed neither for predictions nor for measures.
    sandbox.succeed(&["predict", "model", "plain.csv"]);
    let plain = sandbox.json(&["evaluate", "model", "plain.csv", "--json"]);
    let grouped = sandbox.json(&[
        "evaluate", "model", "held.csv", "--group", "thread", "--json",
    ]);
    assert_eq!(plain["log_loss"], grouped["log_loss"]);
    assert_ne!(plain["bootstrap"], grouped["bootstrap"]);
    sandbox.succeed(&[
        "fit",
        "train.csv",
        "-o",
        "bayes",
        "--classifier",
        "naive-bayes",
    ]);
    let compare = [
        "compare",
        "held.csv",
        "model",
        "bayes",
        "--json",
        "--no-ledger",
    ];
    let apart = sandbox.json(&compare);
    let together = sandbox.json(&[&compare[..], &["--group", "thread"]].concat());
    assert_eq!(apart["systems"], together["systems"]);
    assert_ne!(apart["pairs"], together["pairs"]);
    let combine = [
        "combine", "model", "bayes", "--data", "held.csv", "-o", "both", "--group", "thread",
        "--json",
    ];
    assert!(sandbox.json(&combine)["groups"].as_u64().unwrap() < 60);
    sandbox.succeed(&[
        "fit",
        "train.csv",
        "-o",
        "found",
        "--group",
        "thread",
        "--search",
        "--time-budget",
        "1",
    ]);
    let unknown = sandbox.run(&["fit", "train.csv", "-o", "model", "--group", "tread"]);
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        said.contains("no field `tread`") && said.contains("--group"),
        "{said}"
    );
    let few = sandbox.run(&["fit", "train.csv", "-o", "few", "--group", "label"]);
    let said = String::from_utf8_lossy(&few.stderr).into_owned();
    assert!(
        few.status.code() == Some(2) && said.contains("groups cannot fill 5 folds"),
        "{said}"
    );
    assert!(!sandbox.path("few").exists());
}

#[test]
fn calibrate_holds_groups_out_together() {
    let sandbox = Sandbox::new();
    let rows: String = (0..120)
        .map(|row| {
            format!(
                "{},{},g{}\n",
                f64::from(row * 37 % 41) / 7.0 - 3.0,
                u8::from(row % 5 + row * 37 % 41 > 22),
                row / 4
            )
        })
        .collect();
    let table = format!("score,label,group\n{rows}");
    sandbox.write("scores.csv", &table);
    // Copies of one group's scores change nothing; without the group they are further examples.
    sandbox.write("twice.csv", format!("{table}{rows}"));
    let calibrate = |file: &str, options: &[&str]| {
        sandbox.json(&[&["calibrate", file, "--score", "score", "--json"], options].concat())
    };
    let grouped = calibrate("scores.csv", &["--group", "group"]);
    let twice = calibrate("twice.csv", &["--group", "group"]);
    let loss = |report: &Value| report["cross_validated_log_loss"].clone();
    assert!(loss(&grouped).is_number(), "{grouped}");
    assert_eq!(loss(&grouped), loss(&twice));
    assert_ne!(loss(&calibrate("twice.csv", &[])), loss(&twice));
}

#[test]
fn copies_in_a_test_set_make_no_interval_shorter() {
    let sandbox = Sandbox::new();
    let all = messages(300, 3, 9);
    sandbox.write("train.csv", csv(&all[..100]));
    sandbox.write("once.csv", csv(&all[100..]));
    sandbox.write("often.csv", csv(&repeated(&all[100..], 4)));
    sandbox.succeed(&["fit", "train.csv", "-o", "a"]);
    sandbox.succeed(&["fit", "train.csv", "-o", "b", "--classifier", "naive-bayes"]);
    let width = |interval: &Value| number(&interval["upper"]) - number(&interval["lower"]);
    let evaluated = |file| {
        let report = sandbox.json(&["evaluate", "a", file, "--no-ledger", "--json"]);
        let widths = [
            &report["bootstrap"]["log_loss"],
            &report["bootstrap"]["accuracy"],
            &report["calibration"]["line"]["slope"],
        ];
        let z = number(&report["error_likelihood"]["z"]);
        let copies = report["copies"].as_u64().unwrap();
        (widths.map(width).to_vec(), copies, z)
    };
    let compared = |file| {
        let report = sandbox.json(&["compare", file, "a", "b", "--no-ledger", "--json"]);
        let found = &report["pairs"][0]["log_loss"];
        let p = number(&found["sign"]["ln_p_value"]);
        let copies = report["copies"].as_u64().unwrap();
        (vec![width(&found["bootstrap"])], copies, p)
    };
    for (once, often) in [
        (evaluated("once.csv"), evaluated("often.csv")),
        (compared("once.csv"), compared("often.csv")),
    ] {
        // Were they drawn apart, it would be half as wide. (Of units, lines take account of what each pulls by itself.)
        for (often, once) in often.0.iter().zip(&once.0) {
            assert!((0.85..1.3).contains(&(often / once)), "{once:?} {often:?}");
        }
        assert_eq!(often.1, 600 + once.1);
        // Neither is the number of errors more surprising, nor the sign test surer.
        assert!(
            (often.2 - once.2).abs() < 0.01 * once.2.abs() + 1e-9,
            "{once:?} {often:?}"
        );
    }
    for (said, rows) in [
        (
            sandbox.succeed(&["evaluate", "a", "often.csv", "--no-ledger"]),
            "Spiegelhalter, Kolmogorov-Smirnov and Kuiper, and a perfect forecaster's errors count rows.",
        ),
        (
            sandbox.succeed(&["compare", "often.csv", "a", "b", "--no-ledger"]),
            "tests count them once; means and a perfect forecaster's ECE count rows.",
        ),
    ] {
        let copies = "of the documents are copies of others: intervals and";
        assert!(said.contains(copies) && said.contains(rows), "{said}");
    }
}

#[test]
fn test_documents_that_were_learned_from_are_told() {
    let sandbox = Sandbox::new();
    let all = messages(400, 3, 8);
    sandbox.write("train.csv", csv(&all[..200]));
    sandbox.write("mixed.csv", csv(&[&all[150..200], &all[200..300]].concat()));
    sandbox.write("fresh.csv", csv(&all[300..]));
    sandbox.succeed(&["fit", "train.csv", "-o", "model"]);
    sandbox.succeed(&[
        "fit",
        "train.csv",
        "-o",
        "bayes",
        "--classifier",
        "naive-bayes",
        "--no-training-keys",
    ]);
    let learned = |model: &str, file: &str| {
        sandbox.json(&["evaluate", model, file, "--json"])["learned_from"].clone()
    };
    // Short messages may be equal by chance, so that there are a few more than were put there.
    let known = learned("model", "train.csv").as_u64().unwrap();
    assert!((199..=200).contains(&known), "{known}");
    let mixed = learned("model", "mixed.csv").as_u64().unwrap();
    assert!((49..=60).contains(&mixed), "{mixed}");
    assert!(learned("model", "fresh.csv").as_u64().unwrap_or(0) < 10);
    assert_eq!(learned("bayes", "train.csv"), Value::Null);
    let said = sandbox.run(&["evaluate", "model", "train.csv", "--html", "page.html"]);
    let stderr = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        stderr.contains("the model learned from about")
            && stderr.contains("of these 200 documents"),
        "{stderr}"
    );
    let page = String::from_utf8(sandbox.read("page.html")).unwrap();
    assert!(page.contains("learned from about"));
    let compared = sandbox.json(&[
        "compare",
        "train.csv",
        "model",
        "bayes",
        "--json",
        "--no-ledger",
    ]);
    assert_eq!(compared["learned_from"]["model"], Value::from(known));
    assert!(compared["learned_from"].get("bayes").is_none());
    let combined = sandbox.json(&[
        "combine",
        "model",
        "bayes",
        "--data",
        "mixed.csv",
        "-o",
        "both",
        "--json",
    ]);
    assert_eq!(combined["learned_from"], serde_json::json!([mixed, null]));
    let train = [
        "combine",
        "model",
        "bayes",
        "--data",
        "train.csv",
        "-o",
        "own",
    ];
    let refused = sandbox.run(&train);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("of the 200 documents of train.csv; weights need documents that no model has learned from")
            && said.contains("--even-if-learned-from"),
        "{said}"
    );
    assert!(!sandbox.path("own").exists());
    let insisted = sandbox.run(&[&train[..], &["--even-if-learned-from"]].concat());
    let said = String::from_utf8_lossy(&insisted.stderr).into_owned();
    assert!(
        insisted.status.success() && said.contains("gets too much weight"),
        "{said}"
    );
    // A combination knows what its models know, and what decided its weights.
    assert!(learned("both", "train.csv").as_u64().unwrap() >= known);
    assert!(learned("both", "mixed.csv").as_u64().unwrap() >= 145);
    let size = |name: &str| std::fs::metadata(sandbox.path(name)).unwrap().len();
    sandbox.succeed(&["fit", "train.csv", "-o", "without", "--no-training-keys"]);
    assert!(size("model") - size("without") < 800);
}

#[test]
fn a_class_that_is_all_in_one_group_is_calibrated_and_warned_of() {
    let sandbox = Sandbox::new();
    for class_count in [2, 4] {
        let mut rows = "text,label,thread\n".to_owned();
        for (number, message) in messages(120, class_count, 5).iter().enumerate() {
            let label = message.labels[0];
            let thread = if label == "corn" { 0 } else { 1 + number };
            rows += &format!("{},{label},{thread}\n", message.text);
        }
        sandbox.write("mail.csv", rows);
        let output = sandbox.run(&["fit", "mail.csv", "--group", "thread", "-o", "model"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("held out together"), "{said}");
        // Thirty documents or more are not few, only all in one fold.
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(!shown.contains("few positives"), "{shown}");
        let alone = sandbox.succeed(&[
            "fit",
            "mail.csv",
            "--group",
            "thread",
            "--multiclass",
            "one_vs_rest",
            "-o",
            "model",
        ]);
        assert!(!alone.contains("few positives"), "{alone}");
        assert!(alone.contains("all held out together"), "{alone}");
        assert!(said.contains("corn") && !said.contains("money"), "{said}");
    }
}

#[test]
fn copies_do_not_fill_folds() {
    let sandbox = Sandbox::new();
    let once = "text,label\ncorn crop,a\nbank loan,b\ncorn feed,a\nbank rate,b\n";
    let rows: String = once.lines().skip(1).map(|row| format!("{row}\n")).collect();
    sandbox.write("mail.csv", format!("text,label\n{}", rows.repeat(10)));
    let output = sandbox.run(&["fit", "mail.csv", "-o", "model"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("copies count as one"), "{said}");
}

#[test]
fn calibrate_warns_of_a_class_in_one_group_and_refuses_a_single_group() {
    let sandbox = Sandbox::new();
    let table = |group: &dyn Fn(usize, bool) -> String| {
        let mut rows = "s,label,thread\n".to_owned();
        for row in 0..200 {
            let yes = row % 4 == 0;
            let score = (row * 37 % 100) as f64 / 25.0 + f64::from(u8::from(yes));
            let label = if yes { "yes" } else { "no" };
            rows += &format!("{score},{label},{}\n", group(row, yes));
        }
        rows
    };
    let arguments = [
        "calibrate",
        "scores.csv",
        "--score",
        "s",
        "--label",
        "label",
        "--positive",
        "yes",
        "--group",
        "thread",
    ];
    sandbox.write(
        "scores.csv",
        table(&|row, yes| {
            if yes {
                "one".to_owned()
            } else {
                format!("t{}", row % 30)
            }
        }),
    );
    let output = sandbox.run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("warning") && said.contains("held out together"),
        "{said}"
    );
    sandbox.write("scores.csv", table(&|_, _| "all".to_owned()));
    let output = sandbox.run(&arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("one group") && !said.contains("--folds"),
        "{said}"
    );
}

#[test] // 124 errors were "0.0 by weight", and 0.02 in `compare`.
fn errors_are_counted_and_weighed_in_documents() {
    let sandbox = Sandbox::new();
    let mut all = messages(120, 3, 9);
    for message in all.iter_mut().step_by(5) {
        message.labels = vec!["corn"];
    }
    sandbox.write("train.csv", csv(&messages(30, 3, 4)));
    for (model, learner) in [("a", "svm"), ("b", "naive-bayes")] {
        sandbox.succeed(&["fit", "train.csv", "-o", model, "--classifier", learner]);
    }
    let weight = |row: usize| 1e-4 * [1.0, 2.0, 3.0][row % 3];
    sandbox.write("test.csv", table(&all, weight, |_| String::new()));
    let more = ["--weight", "weight", "--no-ledger"];
    let evaluate = [&["evaluate", "a", "test.csv"][..], &more].concat();
    let compare = [&["compare", "test.csv", "a", "b"][..], &more].concat();
    let alone = sandbox.json(&[&evaluate[..], &["--json"]].concat());
    let beside = sandbox.json(&[&compare[..], &["--json"]].concat());
    let (errors, system) = (&alone["errors"], &beside["systems"][0]);
    assert!(errors.as_u64().unwrap() > 5, "{errors}");
    assert_eq!(&system["error_count"], errors);
    // By hand: the mean weight is 2e-4, which counts as one document.
    let by_weight = number(&alone["error_likelihood"]["observed"]);
    let share = 1.0 - number(&alone["accuracy"]);
    assert!((by_weight - 120.0 * share).abs() < 1e-9, "{by_weight}");
    assert!((number(&system["errors"]["sum"]) - by_weight).abs() < 1e-9);
    let said = sandbox.succeed(&evaluate);
    let words = format!("{by_weight:.1} by weight (mean weight 1); ");
    assert!(said.contains(&words), "no `{words}` in {said}");
    let said = sandbox.succeed(&compare);
    assert!(said.contains(&format!("{by_weight:.1}")), "{said}");
    let legend = "by weight: their total weight, with a mean document weight of 1";
    assert!(said.contains(legend), "{said}");
}

#[test] // One copy among the documents made it "drawn by group" where nobody had asked for groups.
fn draws_are_called_what_they_are() {
    let sandbox = Sandbox::new();
    let mut all = messages(90, 3, 10);
    for (row, message) in all.iter_mut().enumerate() {
        message.text += &format!(" only{row}");
    }
    sandbox.write("train.csv", csv(&all[..30]));
    for (model, learner) in [("a", "svm"), ("b", "naive-bayes")] {
        sandbox.succeed(&["fit", "train.csv", "-o", model, "--classifier", learner]);
    }
    let mut tests = all[30..].to_vec();
    let thread = |row: usize| format!("t{}", row % 20);
    sandbox.write("alone.csv", table(&tests, |_| 1.0, thread));
    tests.push(tests[0].clone());
    sandbox.write("copied.csv", table(&tests, |_| 1.0, thread));
    let said = |command: &[&str], more: &[&str]| {
        sandbox.succeed(&[command, &["--no-ledger"], more].concat())
    };
    let by_thread = ["--group", "thread"];
    for (file, more, drawn, votes) in [
        (
            "alone.csv",
            &[][..],
            "resampled by document.",
            "bootstrap replicates of the documents;",
        ),
        (
            "copied.csv",
            &[],
            "resampled by document, copies together (60 distinct).",
            "bootstrap replicates of the documents (copies together);",
        ),
        (
            "copied.csv",
            &by_thread,
            "resampled by group (20 in all",
            "bootstrap replicates of the groups;",
        ),
    ] {
        let evaluated = said(&["evaluate", "a", file], more);
        assert!(evaluated.contains(drawn), "no `{drawn}` in {evaluated}");
        let compared = said(&["compare", file, "a", "b"], more);
        assert!(compared.contains(votes), "no `{votes}` in {compared}");
        let one_copy = "1 of the documents is a copy of another: ";
        assert_eq!(evaluated.contains(one_copy), file == "copied.csv");
        assert!(!evaluated.contains("robust"), "{evaluated}");
    }
}

/// Rows of a table at random: `row(dice)` gives the cells, the label last.
fn drawn(header: &str, count: usize, seed: u64, row: impl Fn(&mut Dice) -> String) -> String {
    let mut dice = Dice::new(seed);
    let rows: String = (0..count).map(|_| row(&mut dice) + "\n").collect();
    format!("{header}\n{rows}")
}

fn yes(dice: &mut Dice, share: f64) -> &'static str {
    if dice.uniform() < share { "yes" } else { "no" }
}

/// What a model states of the rows of a file, and how many different ones there are.
fn stated(sandbox: &Sandbox, fit: &[&str], file: &str) -> Vec<f64> {
    sandbox.succeed(fit);
    let said = sandbox.succeed(&["predict", "m", file, "--json", "--top", "2"]);
    let of_row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let classes = row["classes"].as_array().unwrap();
        let yes = classes
            .iter()
            .find(|class| class["label"] == "yes")
            .unwrap();
        number(&yes["probability"])
    };
    said.lines().map(of_row).collect()
}

#[test] // With fewer than ten rows to a category all of them were copies, and every answer was the opposite.
fn what_a_category_tells_is_learned_from_a_handful_of_rows_each() {
    let sandbox = Sandbox::new();
    let row = |dice: &mut Dice| {
        let plan = dice.below(8);
        format!("p{plan},{}", yes(dice, 0.05 + 0.9 * plan as f64 / 7.0))
    };
    sandbox.write("train.csv", drawn("plan,label", 76, 3, row));
    let plans: String = (0..8).map(|plan| format!("p{plan}\n")).collect();
    sandbox.write("plans.csv", format!("plan\n{plans}"));
    let fit = [
        "fit",
        "train.csv",
        "--categorical",
        "plan",
        "--label",
        "label",
        "-o",
        "m",
    ];
    let said = stated(&sandbox, &fit, "plans.csv");
    assert!(said[0] < 0.35 && said[7] > 0.65, "{said:?}");
    sandbox.write("test.csv", drawn("plan,label", 1_000, 4, row));
    let report = sandbox.json(&["evaluate", "m", "test.csv", "--no-ledger", "--json"]);
    assert!(number(&report["accuracy"]) > 0.75, "{}", report["accuracy"]);
    assert!(
        report["learned_from"].is_null(),
        "{}",
        report["learned_from"]
    );
}

#[test] // Rows whose only cell is missing were one document.
fn rows_with_a_missing_cell_are_not_each_others_copies() {
    let sandbox = Sandbox::new();
    let row = |dice: &mut Dice| match dice.below(10) {
        0..3 => format!(",{}", yes(dice, 0.85)),
        _ => format!("{:.4},{}", dice.uniform(), yes(dice, 0.3)),
    };
    sandbox.write("train.csv", drawn("income,label", 1_500, 5, row));
    sandbox.write("new.csv", "income\n\n0.5\n".replace("\n\n", "\n\"\"\n"));
    let fit = [
        "fit",
        "train.csv",
        "--numeric",
        "income",
        "--label",
        "label",
        "-o",
        "m",
    ];
    let said = stated(&sandbox, &fit, "new.csv");
    assert!(
        (said[0] - 0.85).abs() < 0.06 && (said[1] - 0.3).abs() < 0.08,
        "{said:?}"
    );
}

#[test] // 600 tickets say "see attachment", 85 of 100 about one thing; 97 were stated.
fn a_standard_text_gets_the_share_that_its_labels_have() {
    let sandbox = Sandbox::new();
    let row = |dice: &mut Dice| {
        if dice.below(10) < 3 {
            return format!("please see attachment,{}", yes(dice, 0.85));
        }
        let label = yes(dice, 0.5);
        let words: Vec<String> = (0..12)
            .map(|_| match dice.below(6) {
                0 => format!("{label}{}", dice.below(40)),
                _ => format!("w{}", dice.below(500)),
            })
            .collect();
        format!("{},{label}", words.join(" "))
    };
    sandbox.write("train.csv", drawn("text,label", 2_000, 6, row));
    sandbox.write("new.csv", "text\nplease see attachment\n");
    let fit = ["fit", "train.csv", "-o", "m"];
    let said = stated(&sandbox, &fit, "new.csv");
    assert!((said[0] - 0.85).abs() < 0.06, "{said:?}");
}

#[test]
fn a_list_of_texts_to_choose_from_gets_a_hint() {
    let sandbox = Sandbox::new();
    let row = |dice: &mut Dice| {
        let text = dice.below(10);
        format!(
            "the usual subject number {text},{}",
            yes(dice, text as f64 / 10.0)
        )
    };
    sandbox.write("train.csv", drawn("text,label", 400, 7, row));
    let said = sandbox.succeed(&["fit", "train.csv", "-o", "m"]);
    assert!(
        said.contains("10 distinct documents")
            && said.contains("use --categorical instead of --text"),
        "{said}"
    );
}
