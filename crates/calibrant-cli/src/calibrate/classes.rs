//! Which classes there are, and which of them a label means.

use calibrant::corpus::ReadSummary;
use calibrant::jobs::is_usual;

use super::columns::Columns;
use crate::error::CliError;

/// A score field and the class that it speaks for.
pub(super) struct ClassField {
    pub(super) class: String,
    pub(super) field: String,
}

/// `FIELD` or `CLASS=FIELD`, one a class.
pub(super) fn class_fields(written: &[String]) -> Result<Vec<ClassField>, CliError> {
    let fields: Vec<ClassField> = written
        .iter()
        .map(|text| {
            let (class, field) = text.split_once('=').unwrap_or((text, text));
            ClassField {
                class: class.to_owned(),
                field: field.to_owned(),
            }
        })
        .collect();
    let mut classes: Vec<&str> = fields.iter().map(|field| field.class.as_str()).collect();
    classes.sort_unstable();
    if let Some(pair) = classes.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(CliError::new(format!(
            "--score names the class `{}` twice",
            pair[0]
        )));
    }
    if let Some(field) = fields
        .iter()
        .find(|f| f.class.is_empty() || f.field.is_empty())
    {
        return Err(CliError::new(format!(
            "--score: `{}={}` lacks a name",
            field.class, field.field
        ))
        .hint("write FIELD or CLASS=FIELD"));
    }
    Ok(fields)
}

/// The negative and the positive class of a file with one score a row; what was guessed is said in `notes`.
pub(super) fn two_classes(
    columns: &Columns,
    wanted: Option<&str>,
    file: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<String>, CliError> {
    let mut names: Vec<&str> = columns.names.iter().map(|n| n.name.as_str()).collect();
    names.sort_unstable();
    if let [only] = names.as_slice() {
        let message = format!(
            "all {} examples of {file} have the label `{only}`; a calibrator needs examples of two classes",
            columns.row_count()
        );
        return Err(CliError::new(message).hint("check --label and --where"));
    }
    if let Some(positive) = wanted {
        let Some(at) = names.iter().position(|name| *name == positive) else {
            let message = format!("--positive: no example of {file} has the label `{positive}`");
            return Err(CliError::new(message).hint(format!("the labels are {}", listed(&names))));
        };
        names.remove(at);
        return Ok(match names.as_slice() {
            [negative] => vec![(*negative).to_owned(), positive.to_owned()],
            _ => {
                notes.push(format!(
                    "`{positive}` against all other labels: {}",
                    listed(&names)
                ));
                vec![rest_of(positive), positive.to_owned()]
            }
        });
    }
    let [first, second] = names.as_slice() else {
        let message = format!(
            "{file} has {} labels ({}), and one score can tell only two apart",
            names.len(),
            listed(&names)
        );
        return Err(CliError::new(message).hint(
            "give one score a class, as --score CLASS=FIELD,CLASS=FIELD,…; or --positive LABEL to set one against the rest",
        ));
    };
    let (negative, positive) = if is_usual(first, second) {
        (second, first)
    } else {
        if !is_usual(second, first) {
            notes.push(format!(
                "`{second}` is taken as the positive label, `{first}` as the negative one: a guess, by the alphabet; --positive \
                 says otherwise"
            ));
        }
        (first, second)
    };
    Ok(vec![(*negative).to_owned(), (*positive).to_owned()])
}

/// The name of everything but the positive class, where that is several labels.
fn rest_of(positive: &str) -> String {
    format!("not {positive}")
}

/// For each label of the file its class; an unknown one is an error with its place.
pub(super) fn class_of_labels(
    columns: &Columns,
    classes: &[String],
    one_score: bool,
    file: &str,
    read: &ReadSummary,
) -> Result<Vec<u32>, CliError> {
    let against_rest = one_score && classes[0] == rest_of(&classes[1]);
    columns
        .names
        .iter()
        .map(|label| {
            let found = classes.iter().position(|class| *class == label.name);
            match found {
                Some(class) => Ok(class as u32),
                None if against_rest => Ok(0),
                None => {
                    let names: Vec<&str> = classes.iter().map(String::as_str).collect();
                    let place = match read.format {
                        calibrant::corpus::Format::Parquet => "row",
                        _ => "line",
                    };
                    Err(CliError::new(format!(
                        "{file}, {place} {}: the label `{}` is none of the classes {}",
                        label.line,
                        label.name,
                        listed(&names)
                    ))
                    .hint(if one_score {
                        "check --label; --where keeps only some rows"
                    } else {
                        "--score CLASS=FIELD says which class a score field speaks for"
                    }))
                }
            }
        })
        .collect()
}

fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{}`", name.chars().take(40).collect::<String>()))
        .collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_knows_which_of_these_is_positive() {
        for (positive, negative) in [
            ("1", "0"),
            ("1.0", "0.0"),
            ("+1", "-1"),
            ("True", "False"),
            ("YES", "no"),
            ("pos", "neg"),
        ] {
            assert!(is_usual(positive, negative), "{positive} {negative}");
            assert!(!is_usual(negative, positive), "{positive} {negative}");
        }
        assert!(!is_usual("spam", "ham"));
    }

    #[test]
    fn a_score_field_may_name_its_class() {
        let written = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            class_fields(&texts).map(|fields| {
                let pair = |f: ClassField| (f.class, f.field);
                fields.into_iter().map(pair).collect::<Vec<_>>()
            })
        };
        let pairs = written(&["a", "b=p_b"]).unwrap();
        assert_eq!(pairs[0], ("a".into(), "a".into()));
        assert_eq!(pairs[1], ("b".into(), "p_b".into()));
        assert!(written(&["a", "a=b"]).is_err());
        assert!(written(&["a=", "b"]).is_err());
    }
}
