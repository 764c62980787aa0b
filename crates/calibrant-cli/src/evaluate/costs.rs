//! What `--costs` says.

use std::path::Path;

use calibrant::Task;
use calibrant::decision::CostMatrix;

use crate::error::CliError;

/// One cost as it is written.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    truth: String,
    decision: String,
    cost: f64,
}

/// Reads costs from a file, or from the argument itself if there is no such file.
pub(super) fn read<'a>(
    given: &str,
    task: Task,
    class_names: impl Iterator<Item = &'a str>,
) -> Result<CostMatrix, CliError> {
    let names: Vec<&str> = match task {
        Task::SingleLabel => class_names.collect(),
        Task::MultiLabel => vec!["no", "yes"],
    };
    let entries = if Path::new(given).is_file() {
        let text = std::fs::read_to_string(given)
            .map_err(|error| CliError::new(format!("cannot read `{given}`: {error}")))?;
        if text.trim_start().starts_with('[') {
            serde_json::from_str(&text).map_err(|error| {
                CliError::new(format!("`{given}` is not a list of costs: {error}"))
            })?
        } else {
            from_csv(&text)?
        }
    } else {
        from_csv(&given.replace(';', "\n"))?
    };
    let mut costs = CostMatrix::zero_one(names.len());
    for entry in entries {
        let position = |name: &str| {
            names
                .iter()
                .position(|known| *known == name)
                .ok_or_else(|| {
                    CliError::new(format!("--costs names `{name}`, which is not a class")).hint(
                        match task {
                            Task::SingleLabel => "`calibrant inspect MODEL` lists the classes",
                            Task::MultiLabel => {
                                "with a multi-label model, truth and decision are yes or no"
                            }
                        },
                    )
                })
        };
        costs = costs.with_cost(
            position(&entry.truth)?,
            position(&entry.decision)?,
            entry.cost,
        )?;
    }
    Ok(costs)
}

/// Lines of truth, decision and cost, with or without a line that says so.
fn from_csv(text: &str) -> Result<Vec<Entry>, CliError> {
    let wrong = |line: u64, what: &str| {
        CliError::new(format!("--costs: {what} in line {line}")).hint(
            "write truth,decision,cost: `spam,ham,1;ham,spam,20`, or a CSV file of such lines",
        )
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let mut entries = Vec::new();
    for (line, record) in (1..).zip(reader.records()) {
        let record = record.map_err(|error| wrong(line, &error.to_string()))?;
        let fields: Vec<&str> = record.iter().collect();
        let [truth, decision, cost] = fields[..] else {
            return Err(wrong(
                line,
                &format!("{} values instead of 3", fields.len()),
            ));
        };
        if line == 1 && [truth, decision, cost] == ["truth", "decision", "cost"] {
            continue;
        }
        let cost = cost
            .parse()
            .map_err(|_| wrong(line, &format!("`{cost}` is not a number")))?;
        entries.push(Entry {
            truth: truth.to_owned(),
            decision: decision.to_owned(),
            cost,
        });
    }
    if entries.is_empty() {
        return Err(wrong(1, "nothing"));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spam(given: &str) -> Result<CostMatrix, CliError> {
        read(given, Task::SingleLabel, ["ham", "spam"].into_iter())
    }

    #[test]
    fn costs_are_read_from_the_argument_and_from_files() {
        let expected = CostMatrix::new(2, vec![0.0, 20.0, 1.0, -0.5]).unwrap();
        assert_eq!(spam("ham,spam,20; spam,spam,-0.5").unwrap(), expected);
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            (
                "costs.csv",
                "truth,decision,cost\nham,spam,20\n\"spam\",spam,-0.5\n",
            ),
            (
                "costs.json",
                r#"[{"truth":"ham","decision":"spam","cost":20},{"truth":"spam","decision":"spam","cost":-0.5}]"#,
            ),
        ] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            assert_eq!(spam(path.to_str().unwrap()).unwrap(), expected);
        }
        let yes = read("yes,no,5", Task::MultiLabel, ["a"].into_iter()).unwrap();
        assert_eq!((yes.cost(1, 0), yes.cost(0, 1)), (5.0, 1.0));
    }

    #[test]
    fn what_is_no_cost_is_refused() {
        for given in [
            "",
            "ham,spam",
            "ham,spam,much",
            "ham,eggs,1",
            "ham,spam,inf",
            "nowhere.csv",
        ] {
            assert!(spam(given).is_err(), "{given}");
        }
        assert!(read("ham,spam,1", Task::MultiLabel, ["ham"].into_iter()).is_err());
    }
}
