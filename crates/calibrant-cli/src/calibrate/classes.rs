//! Which class a score field speaks for.

use calibrant::jobs::ClassField;

use crate::error::CliError;

/// `FIELD` or `CLASS=FIELD`, one per class.
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

#[cfg(test)]
mod tests {
    use super::*;

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
