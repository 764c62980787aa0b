//! Which fields of a file are features beside its text.

use calibrant::corpus::{Fields, LabelNeed, field_names, identifier_fields};
use calibrant::features::{MostlyUnknown, UnknownCells};
use calibrant::rules::RuleSet;

use crate::arguments::{TrainingArguments, all_fields};
use crate::error::CliError;
use crate::input;
use crate::output::note;

/// The fields that fitting reads, with `*` written out.
pub(crate) fn fields(
    arguments: &TrainingArguments,
    rules: Option<&RuleSet>,
) -> Result<Fields, CliError> {
    let remembered = arguments.remembered.as_ref();
    let remembered = remembered.map_or_else(Fields::default, |model| model.fields.clone());
    let mut fields = arguments.reading.fields(&remembered);
    fields.group = arguments.group.clone().or(remembered.group);
    fields.asked = rules.map(RuleSet::fields).unwrap_or_default();
    let features = &arguments.features;
    if !features.numeric.is_empty() {
        fields.numeric = distinct(&all_fields(&features.numeric), "--numeric")?;
    }
    if !features.categorical.is_empty() {
        fields.categorical = distinct(&all_fields(&features.categorical), "--categorical")?;
    }
    if !features.vector.is_empty() {
        fields.vector = distinct(&all_fields(&features.vector), "--vector")?;
    }
    // A file that is learned from may have other vectors than one that was.
    fields.vector_lengths = Vec::new();
    if fields.numeric.iter().any(|name| name == "*")
        || fields.categorical.iter().any(|name| name == "*")
    {
        expand(arguments, &mut fields)?;
    }
    for (option, names) in [
        ("--numeric", &fields.numeric),
        ("--categorical", &fields.categorical),
        ("--vector", &fields.vector),
        ("--rules", &fields.asked),
    ] {
        if names.iter().any(|name| name == fields.label_name()) {
            let label = fields.label_name();
            return Err(CliError::new(format!(
                "{option}: `{label}` is the label field, which cannot be a feature"
            ))
            .hint("leave it out, or name another field with --label"));
        }
    }
    Ok(fields)
}

/// Says which fields mean little to the model, or less than they say, in a line each.
pub(crate) fn unknown_notes(unknown: &UnknownCells) -> Vec<String> {
    let beyond = unknown.beyond().map(|beyond| {
        let (low, high) = beyond.counts_as;
        let cells = match beyond.cells {
            1 => "1 cell lies".to_owned(),
            more => format!("{more} cells lie"),
        };
        let (field, farthest) = (&beyond.field, beyond.farthest);
        let nearest = if farthest > high { high } else { low };
        format!(
            "field `{field}`: {cells} far outside the numbers of the training documents, such as {farthest}, which counts as \
             {nearest:.6}"
        )
    });
    let fields = unknown.mostly().into_iter();
    let mut notes: Vec<String> = fields
        .map(
            |MostlyUnknown {
                 field,
                 share,
                 example,
             }| {
                let percent = 100.0 * share;
                match example {
                    Some(example) => format!(
                        "field `{field}`: {percent:.0} % of the cells hold values that no training document had, such as `{example}`; the model ignores them"
                    ),
                    None => format!(
                        "field `{field}`: {percent:.0} % of the cells are empty, although none was in training; the model ignores them"
                    ),
                }
            },
        )
        .collect();
    notes.extend(beyond);
    notes
}

fn distinct(names: &[String], option: &str) -> Result<Vec<String>, CliError> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if name.is_empty() {
            return Err(CliError::new(format!("{option}: a field name is empty"))
                .hint(format!("for example {option} price,length")));
        }
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    Ok(seen)
}

/// Puts every field of the file that has no other meaning instead of `*`.
fn expand(arguments: &TrainingArguments, fields: &mut Fields) -> Result<(), CliError> {
    let source = input::source(&arguments.file);
    if !source.can_be_read_again() {
        return Err(
            CliError::new("`*` needs a file whose fields can be read in advance")
                .hint("name the fields one by one, or give a file instead of `-`"),
        );
    }
    if fields.numeric.iter().any(|name| name == "*")
        && fields.categorical.iter().any(|name| name == "*")
    {
        return Err(CliError::new(
            "`*` can stand for --numeric or for --categorical, not for both",
        )
        .hint("name the fields of one of them"));
    }
    let reading = arguments
        .reading
        .options(fields.clone(), LabelNeed::Ignored);
    let available = field_names(&source, &reading)?;
    let text = match fields.text.as_slice() {
        [] => vec!["text".to_owned()],
        text => text.to_vec(),
    };
    let filters = &arguments.reading.rows.filters;
    let has_meaning = |name: &String| {
        name.is_empty()
            || name == fields.label_name()
            || text.contains(name)
            || fields.id.as_ref() == Some(name)
            || fields.weight.as_ref() == Some(name)
            || fields.group.as_ref() == Some(name)
            || fields.side_names().any(|named| named == name)
            || fields.asked.contains(name)
            || filters.iter().any(|filter| filter.field == *name)
    };
    let mut rest: Vec<String> = available
        .into_iter()
        .filter(|name| !has_meaning(name))
        .collect();
    let numeric = fields.numeric.iter().any(|name| name == "*");
    let option = if numeric {
        "--numeric"
    } else {
        "--categorical"
    };
    for name in identifier_fields(&source, &reading, &rest, numeric)? {
        rest.retain(|other| *other != name);
        note(&format!(
            "`{name}` identifies documents and is not a feature; {option} '*,{name}' includes it anyway"
        ));
    }
    for names in [&mut fields.numeric, &mut fields.categorical] {
        if let Some(at) = names.iter().position(|name| name == "*") {
            names.splice(at..=at, rest.iter().cloned());
        }
    }
    if !fields.has_side_columns() {
        return Err(CliError::new(format!(
            "{}: no field is left for `*` to stand for",
            arguments.file
        ))
        .hint("leave out --numeric and --categorical"));
    }
    Ok(())
}
