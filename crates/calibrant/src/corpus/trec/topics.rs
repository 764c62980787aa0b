//! Topics of the Text REtrieval Conference.

use calibrant_calibration::named;
use serde::{Deserialize, Serialize};

use super::queries::Query;

/// A part of a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicField {
    /// A few words, as somebody might type them.
    Title,
    /// A sentence.
    Description,
    /// What counts as relevant. It also says what does not, which misleads functions that look at words alone.
    Narrative,
}

named! {
    TopicField, "a part of a topic";
    Title = "title", "A few words, as somebody might type them";
    Description = "desc" | "description", "A sentence";
    Narrative = "narr" | "narrative", "What counts as relevant";
}

impl TopicField {
    /// A word that often begins it and says nothing.
    const fn label(self) -> &'static str {
        match self {
            Self::Title => "topic:",
            Self::Description => "description:",
            Self::Narrative => "narrative:",
        }
    }
}

/// Where, and what is wrong.
type Problem = (u64, String);

/// Takes lines and gives topics.
#[derive(Debug)]
pub(super) struct TopicReader {
    wanted: Vec<TopicField>,
    open: Option<OpenTopic>,
    /// Topics that have ended, with the line where they began.
    pub(super) finished: Vec<(u64, Query)>,
}

#[derive(Debug, Default)]
struct OpenTopic {
    line: u64,
    number: Option<String>,
    /// In the order of [`TopicField::ALL`].
    fields: [Option<String>; 3],
    current: Current,
}

#[derive(Debug, Default, Clone, Copy)]
enum Current {
    #[default]
    Nothing,
    Number,
    Field(TopicField),
}

impl TopicReader {
    pub(super) fn new(wanted: &[TopicField]) -> Self {
        Self {
            wanted: wanted.to_vec(),
            open: None,
            finished: Vec::new(),
        }
    }

    pub(super) fn line(&mut self, number: u64, line: &str) -> Result<(), Problem> {
        let mut rest = line;
        while let Some((before, tag, after)) = next_tag(rest) {
            self.text(number, before)?;
            self.tag(number, &tag.to_ascii_lowercase())?;
            rest = after;
        }
        self.text(number, rest)
    }

    fn text(&mut self, number: u64, text: &str) -> Result<(), Problem> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        let Some(topic) = &mut self.open else {
            return Err((
                number,
                "there is text outside of <top> and </top>".to_owned(),
            ));
        };
        let place = match topic.current {
            Current::Nothing => return Ok(()),
            Current::Number => &mut topic.number,
            Current::Field(field) => &mut topic.fields[field as usize],
        };
        let place = place.get_or_insert_default();
        if !place.is_empty() {
            place.push(' ');
        }
        place.push_str(text);
        Ok(())
    }

    fn tag(&mut self, number: u64, tag: &str) -> Result<(), Problem> {
        match (tag, &mut self.open) {
            ("top", None) => {
                self.open = Some(OpenTopic {
                    line: number,
                    ..OpenTopic::default()
                });
            }
            ("top", Some(topic)) => return Err(not_closed(topic.line)),
            ("/top", Some(_)) => {
                let topic = self.open.take().unwrap_or_default();
                let line = topic.line;
                let query = self.query(topic).map_err(|reason| (line, reason))?;
                self.finished.push((line, query));
            }
            (_, None) => {
                return Err((
                    number,
                    format!("<{tag}> stands outside of <top> and </top>"),
                ));
            }
            (tag, Some(topic)) => {
                let field = TopicField::ALL
                    .into_iter()
                    .find(|field| field.name() == tag);
                topic.current = match (tag, field) {
                    ("num", _) => Current::Number,
                    (_, Some(field)) => Current::Field(field),
                    _ => Current::Nothing,
                };
            }
        }
        Ok(())
    }

    fn query(&self, topic: OpenTopic) -> Result<Query, String> {
        let number = topic.number.as_deref().unwrap_or_default();
        let id = without_label(number, "number:");
        if id.is_empty() {
            return Err("the topic has no <num>".to_owned());
        }
        let mut texts = Vec::new();
        for &field in &self.wanted {
            let text = topic.fields[field as usize].as_deref().unwrap_or_default();
            let text = without_label(text, field.label());
            if text.is_empty() {
                return Err(format!("topic {id} has no <{}>", field.name()));
            }
            texts.push(text);
        }
        Ok(Query {
            id: id.to_owned(),
            text: texts.join(" "),
        })
    }

    /// No more lines come.
    pub(super) fn end(&self) -> Result<(), Problem> {
        match &self.open {
            Some(topic) => Err(not_closed(topic.line)),
            None => Ok(()),
        }
    }
}

fn not_closed(line: u64) -> Problem {
    (line, "the topic that begins here has no </top>".to_owned())
}

/// The text before the first tag, the tag's name (with `/` if it closes something) and the text behind it.
/// `<` that no name and `>` follow is ordinary text.
fn next_tag(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('<')?;
        let inner = &text[open + 1..];
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let letters = name
            .find(|c: char| !c.is_ascii_alphanumeric())
            .unwrap_or(name.len());
        if letters > 0 && name[letters..].starts_with('>') {
            let end = inner.len() - name.len() + letters;
            return Some((&text[..open], &inner[..end], &inner[end + 1..]));
        }
        from = open + 1;
    }
}

fn without_label<'a>(text: &'a str, label: &str) -> &'a str {
    let text = text.trim();
    match text.get(..label.len()) {
        Some(start) if start.eq_ignore_ascii_case(label) => text[label.len()..].trim(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topics(text: &str, fields: &[TopicField]) -> Result<Vec<(String, String)>, Problem> {
        let mut reader = TopicReader::new(fields);
        for (number, line) in text.lines().enumerate() {
            reader.line(number as u64 + 1, line)?;
        }
        reader.end()?;
        let queries = reader.finished.into_iter();
        Ok(queries.map(|(_, query)| (query.id, query.text)).collect())
    }

    #[test]
    fn closed_and_unclosed_tags_are_understood() {
        let expected = vec![("1".to_owned(), "x < y or z".to_owned())];
        for text in [
            "<top>\n<num> Number: 1\n<title> x < y\nor z\n<desc> Description:\nd\n</top>",
            "<TOP><NUM>1</NUM><TITLE>Topic: x < y or z</TITLE><desc>d</desc></TOP>",
            "<top>\n<head> Tipster\n<num>1\n<dom> Domain: none\n<title>x < y or z\n</top>",
        ] {
            assert_eq!(
                topics(text, &[TopicField::Title]).unwrap(),
                expected,
                "{text}"
            );
        }
        let both = [TopicField::Title, TopicField::Description];
        let text = "<top><num>1<title>a\n<desc> Description:\n b\n c\n<narr>n</top>";
        assert_eq!(
            topics(text, &both).unwrap(),
            [("1".to_owned(), "a b c".to_owned())]
        );
    }

    #[test]
    fn broken_topics_name_the_line_where_they_begin() {
        for (text, line, piece) in [
            ("<top>\n<num>1\n<title>x\n", 1, "no </top>"),
            ("\n<top>\n<num>1\n<top>\n", 2, "no </top>"),
            ("<top>\n<title>x\n</top>", 1, "no <num>"),
            ("<top>\n<num>5\n</top>", 1, "topic 5 has no <title>"),
            ("x\n", 1, "outside"),
            ("\n<title> x\n", 2, "outside"),
            ("</top>\n", 1, "outside"),
        ] {
            let (found, reason) = topics(text, &[TopicField::Title]).unwrap_err();
            assert_eq!(found, line, "{text}: {reason}");
            assert!(reason.contains(piece), "{text}: {reason}");
        }
    }
}
