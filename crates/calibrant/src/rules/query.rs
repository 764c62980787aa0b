//! Rules as values, and as text again.

use std::fmt;

use super::error::Place;
use super::tokens::is_plain_word;

/// The rules of a file: one query for each category, in the order of their first lines.
///
/// ```
/// use calibrant::rules::RuleSet;
/// let rules: RuleSet = "wheat: wheat OR grain\nwheat: \"winter crop\"  # again".parse()?;
/// assert_eq!(rules.rules().len(), 1);
/// assert_eq!(rules.to_string(), "wheat: wheat OR grain OR \"winter crop\"\n");
/// # Ok::<(), calibrant::rules::RulesError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleSet {
    pub(super) rules: Vec<Rule>,
}

/// The query of one category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The category.
    pub category: String,
    /// What its documents are like.
    pub query: Query,
}

/// A Boolean query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// A word, a phrase or the beginning of a word.
    Atom(Atom),
    /// None of it.
    Not(Box<Query>),
    /// All of these.
    And(Vec<Query>),
    /// Any of these.
    Or(Vec<Query>),
    /// So many of these.
    AtLeast(usize, Vec<Query>),
}

/// Something to look for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atom {
    /// The field to look into; the text if absent.
    pub field: Option<String>,
    /// What to look for.
    pub wanted: Wanted,
    pub(super) place: Place,
}

/// What an [`Atom`] looks for, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A word; one that the analyzer takes apart is looked for as a phrase.
    Word(String),
    /// Words that begin like this.
    Prefix(String),
    /// Words one after the other.
    Phrase(String),
}

impl RuleSet {
    /// The rules.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The categories, in the order of the rules.
    pub fn categories(&self) -> impl ExactSizeIterator<Item = &str> {
        self.rules.iter().map(|rule| rule.category.as_str())
    }

    /// The fields that the rules ask for by name, rising and without repeats.
    pub fn fields(&self) -> Vec<String> {
        let mut fields = Vec::new();
        for rule in &self.rules {
            rule.query
                .for_each_atom(&mut |atom| fields.extend(atom.field.clone()));
        }
        fields.sort_unstable();
        fields.dedup();
        fields
    }
}

impl Query {
    pub(super) fn for_each_atom(&self, visit: &mut impl FnMut(&Atom)) {
        match self {
            Query::Atom(atom) => visit(atom),
            Query::Not(part) => part.for_each_atom(visit),
            Query::And(parts) | Query::Or(parts) | Query::AtLeast(_, parts) => {
                parts.iter().for_each(|part| part.for_each_atom(visit));
            }
        }
    }

    /// The clauses that are joined by `OR` at the top; the query itself if there is but one.
    pub fn clauses(&self) -> &[Query] {
        match self {
            Query::Or(clauses) => clauses,
            query => std::slice::from_ref(query),
        }
    }

    /// Joins another clause (or several) by `OR` at the top.
    pub(super) fn or(self, other: Query) -> Query {
        let open = |query| match query {
            Query::Or(clauses) => clauses,
            query => vec![query],
        };
        let mut clauses = open(self);
        clauses.extend(open(other));
        Query::Or(clauses)
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.iter().try_for_each(|rule| writeln!(f, "{rule}"))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_name(f, &self.category)?;
        write!(f, ": {}", self.query)
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::Atom(atom) => write!(f, "{atom}"),
            Query::Not(part) => {
                f.write_str("NOT ")?;
                part.write_inside(f, false)
            }
            Query::And(parts) => write_joined(f, parts, " AND "),
            Query::Or(parts) => write_joined(f, parts, " OR "),
            Query::AtLeast(count, parts) => {
                write!(f, "{count} of (")?;
                for (number, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if number > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// `AND` parts stand without parentheses below `OR`; everything else that is joined needs them.
fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Query], sign: &str) -> fmt::Result {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            f.write_str(sign)?;
        }
        part.write_inside(f, sign == " OR ")?;
    }
    Ok(())
}

impl Query {
    fn write_inside(&self, f: &mut fmt::Formatter<'_>, bare_and: bool) -> fmt::Result {
        match self {
            Query::Or(_) => write!(f, "({self})"),
            Query::And(_) if !bare_and => write!(f, "({self})"),
            _ => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write_name(f, field)?;
            f.write_str(":")?;
        }
        match &self.wanted {
            Wanted::Word(word) => f.write_str(word),
            Wanted::Prefix(prefix) => write!(f, "{prefix}*"),
            Wanted::Phrase(phrase) => write_quoted(f, phrase),
        }
    }
}

fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    if is_plain_word(name) {
        f.write_str(name)
    } else {
        write_quoted(f, name)
    }
}

fn write_quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    write!(f, "\"{escaped}\"")
}
