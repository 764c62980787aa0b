//! Several fields in one option.

use std::str::FromStr;

/// Names of fields with commas between them. A name that holds a comma stands in quotation marks, as in CSV, and a quotation mark
/// within these is doubled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldList(Vec<String>);

/// The names of all lists, where an option was given more than once.
pub(crate) fn all_fields(lists: &[FieldList]) -> Vec<String> {
    lists.iter().flat_map(|list| list.0.clone()).collect()
}

impl FromStr for FieldList {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut names = Vec::new();
        let mut rest = text;
        loop {
            let (name, after) = match rest.strip_prefix('"') {
                Some(quoted) => unquoted(quoted)
                    .ok_or_else(|| format!("the quotation mark before {quoted} is never closed"))?,
                None => {
                    let end = rest.find(',').unwrap_or(rest.len());
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            names.push(name);
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(Self(names)),
                None => {
                    return Err(format!(
                        "found {after} behind a closing quotation mark; a comma must follow it"
                    ));
                }
            }
        }
    }
}

/// What stands before the closing quotation mark, and what comes behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut name = String::new();
    let mut rest = text;
    loop {
        let end = rest.find('"')?;
        name.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        match rest.strip_prefix('"') {
            Some(after) => {
                name.push('"');
                rest = after;
            }
            None => return Some((name, rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_stand_in_quotes() {
        let list = |text: &str| text.parse::<FieldList>().map(|list| list.0);
        assert_eq!(list("a,b c").unwrap(), ["a", "b c"]);
        assert_eq!(
            list("\"Subject, line\",Body").unwrap(),
            ["Subject, line", "Body"]
        );
        assert_eq!(
            list("x,\"say \"\"hi\"\", you\"").unwrap(),
            ["x", "say \"hi\", you"]
        );
        // Inside a name a quotation mark is one.
        assert_eq!(list("5\" disk,b").unwrap(), ["5\" disk", "b"]);
        assert_eq!(list("").unwrap(), [""]);
        assert!(list("\"a,b").is_err());
        assert!(list("\"a\"b").is_err());
    }
}
