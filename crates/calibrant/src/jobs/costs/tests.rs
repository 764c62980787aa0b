use super::*;
use crate::Task;
use crate::decision::DecisionCosts;

fn file(name: &str, text: &str) -> Result<Vec<CostEntry>, ReadCostsError> {
    read_costs(&Source::bytes(name, text.as_bytes()))
}

fn written(entries: Vec<CostEntry>) -> Vec<String> {
    let mut lines: Vec<String> = entries.iter().map(CostEntry::to_string).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_way_of_writing_says_the_same() {
    let json = r#"[{"truth":"ham","decision":"spam","cost":20},{"truth":"spam","action":"spam","cost":-0.5},
        {"truth":"*","decision":"ask","cost":"0.25*@amount"}]"#;
    let toml = "# Costs of a day.\n[ham]\nspam = 20\n[spam]\nspam = -0.5\n[\"*\"]\nask = \"0.25*@amount\"\n";
    let table = "\u{feff}truth;ham;spam;ask\r\nham;;20;\r\nspam;;-0,5;\r\n*;;;0,25*@amount\r\n";
    let expected = ["*,ask,0.25*@amount", "ham,spam,20", "spam,spam,-0.5"];
    for (name, text) in [
        (
            "costs.csv",
            "truth,decision,cost\nham,spam,20\n\"spam\",spam,-0.5\n*,ask,0.25*@amount\n",
        ),
        (
            "costs.csv",
            "ham,spam,20\nspam,spam,-0.5\n\n*,ask,0.25*@amount\n",
        ),
        (
            "costs.txt",
            "Truth;Action;Cost\nham;spam;20\nspam;spam;-0,5\n*;ask;0,25*@amount\n",
        ),
        (
            "costs.tsv",
            "truth\tdecision\tcost\nham\tspam\t20\nspam\tspam\t-0.5\n*\task\t0.25*@amount\n",
        ),
        (
            "kosten.csv",
            "Wahrheit;Entscheidung;Kosten\nham;spam;20\nspam;spam;-0,5\n*;ask;0,25*@amount\n",
        ),
        ("costs.csv", table),
        ("costs.json", json),
        ("costs", json),
        ("costs.toml", toml),
    ] {
        let entries = file(name, text).unwrap_or_else(|error| panic!("{name} {text}: {error}"));
        assert!(entries.iter().all(|entry| entry.place.starts_with(name)));
        assert_eq!(written(entries), expected, "{name} {text}");
    }
    let text = parse_costs("ham,spam,20; spam,spam,-0.5;*,ask,0.25*@amount").unwrap();
    assert_eq!(written(text), expected);
    let yes = parse_costs("yes,no,5").unwrap();
    let yes = DecisionCosts::new(&yes, Task::MultiLabel, ["a"]).unwrap();
    let yes = yes.of_document(0, &[]);
    assert_eq!((yes.cost(1, 0), yes.cost(0, 1)), (5.0, 1.0));
}

#[test]
fn entries_know_where_they_are_written() {
    let entries = file("costs.csv", "truth,a,b\na,,2\n\nb,3,\n").unwrap();
    let places: Vec<&str> = entries.iter().map(|entry| entry.place.as_str()).collect();
    assert_eq!(places, ["costs.csv, line 2", "costs.csv, line 4"]);
    let entries = file("costs.toml", "[b]\na = 1\n\n[a]\nb = 2\n").unwrap();
    let places: Vec<&str> = entries.iter().map(|entry| entry.place.as_str()).collect();
    assert_eq!(places, ["costs.toml, line 2", "costs.toml, line 5"]);
}

#[test]
fn what_is_no_cost_is_refused_by_its_place() {
    for (text, message) in [
        ("", "cost 1: 0 values"),
        ("ham,spam", "cost 1: 2 values instead of 3"),
        ("a,b,1;ham,spam,much", "cost 2: `much` is not a number"),
        ("nowhere.csv", "cost 1: 1 values"),
    ] {
        let error = parse_costs(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
    for (name, text, message) in [
        ("costs.csv", "", "costs.csv"),
        ("costs.csv", "truth,decision,cost\n", "costs.csv"),
        ("costs.csv", "truth,a,b\nx,,\n", "costs.csv: holds no costs"),
        ("costs.csv", "a,b,1\n\nham,spam\n", "costs.csv, line 3"),
        (
            "costs.csv",
            "a;b;1\nham;spam;1,234\n",
            "costs.csv, line 2: `1,234` may be",
        ),
        (
            "costs.csv",
            "truth,decision,cost\nham,,3\n",
            "costs.csv, line 2: the column `decision` is empty",
        ),
        (
            "costs.csv",
            "truth,a\n,3\n",
            "costs.csv, line 2: the column `truth` is empty",
        ),
        (
            "costs.csv",
            "truth,a,b\nx,many,2\n",
            "costs.csv, line 2: `many` is not a number",
        ),
        (
            "costs.csv",
            "truth\nham\n",
            "costs.csv, line 1: a table of costs",
        ),
        ("costs.json", "[1]", "costs.json: is not a list of costs"),
        (
            "costs.csv",
            r#"[{"truth":"a","cost":1}]"#,
            "costs.csv: is not a list",
        ),
        (
            "costs.toml",
            "[ham]\nspam = true\n",
            "costs.toml, line 2: `true` is not a number",
        ),
        ("costs.toml", "[ham]\nspam = \n", "costs.toml, line 2: "),
        ("costs.toml", "spam = 3\n", "costs.toml, line 1: "),
        ("costs.toml", "[sci.space]\nspam = 3\n", "costs.toml, line"),
    ] {
        let error = file(name, text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{text}: {error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_file_of_costs_ends_the_program(
        text in "[a-c*,;@=.\\[\\]{}\"\n\t0-9 -]{0,60}",
        name in "costs\\.(csv|toml|json|tsv|txt|jsonl)",
    ) {
        // Read or refused, and what is read has a place and can be written again.
        for entry in file(&name, &text).unwrap_or_default() {
            proptest::prop_assert!(entry.place.starts_with(&name));
            let written = serde_json::to_string(&entry).unwrap();
            let read: CostEntry = serde_json::from_str(&written).unwrap();
            proptest::prop_assert_eq!(read.to_string(), entry.to_string());
        }
        let _ = parse_costs(&text);
    }

    #[test]
    fn tables_and_lists_say_the_same(
        costs in proptest::collection::vec(proptest::option::of(-999i32..999), 9),
        delimiter in proptest::sample::select(vec![',', ';', '\t']),
    ) {
        let names = ["a", "b", "c"];
        let decimal = if delimiter == ';' { ',' } else { '.' };
        let shown = |cost: i32| (f64::from(cost) / 100.0).to_string().replace('.', &decimal.to_string());
        let mut list = vec![["truth", "decision", "cost"].join(&delimiter.to_string())];
        let mut table = vec![["truth", "a", "b", "c"].join(&delimiter.to_string())];
        for (truth, row) in names.iter().zip(costs.chunks(3)) {
            let cells = row.iter().map(|cost| cost.map_or_else(String::new, shown));
            let cells: Vec<String> = cells.collect();
            table.push(format!("{truth}{delimiter}{}", cells.join(&delimiter.to_string())));
            for (action, cell) in names.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
                list.push(format!("{truth}{delimiter}{action}{delimiter}{cell}"));
            }
        }
        let read = |lines: Vec<String>| file("costs.txt", &lines.join("\n")).map(written).ok();
        if costs.iter().any(Option::is_some) {
            let list = read(list);
            proptest::prop_assert!(list.is_some());
            proptest::prop_assert_eq!(list, read(table));
        }
    }
}
