//! Text to rules.

use std::collections::HashMap;
use std::str::FromStr;

use super::error::Place;
use super::tokens::{Token, tokens};
use super::{Atom, Query, Rule, RuleSet, RulesError, Wanted};

/// More than any person writes, and little enough to be read, kept and matched at once.
const LARGEST_FILE: usize = 1 << 20;
/// How deep parentheses and `NOT` may be nested.
const DEEPEST: usize = 64;

impl FromStr for RuleSet {
    type Err = RulesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if text.len() > LARGEST_FILE {
            let place = Place { line: 1, column: 1 };
            let message = format!("the rules are longer than {LARGEST_FILE} bytes; divide them up");
            return Err(place.error(message));
        }
        let mut rules: Vec<Rule> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        // The category that indented lines belong to.
        let mut current = None;
        for (number, line) in text.lines().enumerate() {
            let found = tokens(line, number + 1)?;
            if found.is_empty() {
                continue;
            }
            let mut parser = Parser {
                end: Place {
                    line: number + 1,
                    column: line.trim_end().chars().count() + 1,
                },
                tokens: &found,
                next: 0,
            };
            let indented = line.starts_with(char::is_whitespace);
            let (category, place) = match (indented, &current) {
                (true, Some(category)) => (String::clone(category), parser.place()),
                (true, None) => {
                    return Err(parser.place().error(
                        "an indented line goes on with the category above, and there is none; \
                         begin at the left with `category: query`",
                    ));
                }
                (false, _) => parser.category()?,
            };
            let query = parser.whole_query()?;
            match numbers.get(&category) {
                Some(&at) => {
                    let known = std::mem::replace(&mut rules[at].query, Query::Or(Vec::new()));
                    rules[at].query = known.or(query);
                }
                None => {
                    if category.trim().is_empty() {
                        return Err(place.error("the name of a category is empty"));
                    }
                    numbers.insert(category.clone(), rules.len());
                    rules.push(Rule {
                        category: category.clone(),
                        query,
                    });
                }
            }
            current = Some(category);
        }
        if rules.is_empty() {
            let place = Place { line: 1, column: 1 };
            return Err(place.error("there are no rules; write lines like `category: query`"));
        }
        Ok(RuleSet { rules })
    }
}

struct Parser<'a> {
    tokens: &'a [(Token, Place)],
    next: usize,
    /// Behind the last token.
    end: Place,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn place(&self) -> Place {
        self.tokens
            .get(self.next)
            .map_or(self.end, |(_, place)| *place)
    }

    fn take(&mut self, wanted: &Token) -> bool {
        let found = self.peek() == Some(wanted);
        self.next += usize::from(found);
        found
    }

    fn category(&mut self) -> Result<(String, Place), RulesError> {
        let place = self.place();
        let name = match self.peek() {
            Some(Token::Word(name) | Token::Quoted(name)) => name.clone(),
            _ => return Err(place.error("a line begins with a category: `category: query`")),
        };
        self.next += 1;
        if !self.take(&Token::Colon) {
            return Err(self.place().error(format!(
                "a colon must follow the category `{name}`; quote names of several words, and \
                 indent lines that go on with the category above"
            )));
        }
        Ok((name, place))
    }

    fn whole_query(&mut self) -> Result<Query, RulesError> {
        let query = self.or(0)?;
        let place = self.place();
        match self.peek() {
            None => Ok(query),
            Some(Token::Close) => Err(place.error("this parenthesis was never opened")),
            Some(Token::Comma) => Err(place
                .error("commas divide only the parts of `N of (a, b, c)`; write AND or OR here")),
            Some(token) => Err(place.error(misplaced(token))),
        }
    }

    fn or(&mut self, depth: usize) -> Result<Query, RulesError> {
        self.joined(depth, &Token::Or, Self::and, Query::Or)
    }

    fn and(&mut self, depth: usize) -> Result<Query, RulesError> {
        self.joined(depth, &Token::And, Self::part, Query::And)
    }

    fn joined(
        &mut self,
        depth: usize,
        sign: &Token,
        part: fn(&mut Self, usize) -> Result<Query, RulesError>,
        join: fn(Vec<Query>) -> Query,
    ) -> Result<Query, RulesError> {
        let first = part(self, depth)?;
        if self.peek() != Some(sign) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(sign) {
            parts.push(part(self, depth)?);
        }
        Ok(join(parts))
    }

    /// What `AND` joins.
    fn part(&mut self, depth: usize) -> Result<Query, RulesError> {
        let place = self.place();
        if depth > DEEPEST {
            return Err(place.error(format!(
                "parentheses and NOT are nested more than {DEEPEST} deep; divide the rule up"
            )));
        }
        let Some((token, _)) = self.tokens.get(self.next) else {
            return Err(place.error("a word, a phrase or a parenthesis must follow here"));
        };
        self.next += 1;
        match token {
            Token::Not => Ok(Query::Not(Box::new(self.part(depth + 1)?))),
            Token::Open => {
                let query = self.or(depth + 1)?;
                self.close(place)?;
                Ok(query)
            }
            Token::Word(word) if self.is_minimum(word) => self.at_least(word, place, depth),
            Token::Word(word) | Token::Quoted(word) if self.peek() == Some(&Token::Colon) => {
                self.next += 1;
                let field = word.clone();
                if field.trim().is_empty() {
                    return Err(place.error("the name of a field is empty"));
                }
                let place = self.place();
                let wanted = self.wanted(place)?;
                Ok(atom(Some(field), wanted, place))
            }
            Token::Word(_) | Token::Prefix(_) | Token::Quoted(_) => {
                self.next -= 1;
                let wanted = self.wanted(place)?;
                Ok(atom(None, wanted, place))
            }
            token => Err(place.error(format!(
                "`{}` cannot stand here: a word, a phrase or a parenthesis must come first",
                token.shown()
            ))),
        }
    }

    fn wanted(&mut self, place: Place) -> Result<Wanted, RulesError> {
        let wanted = match self.peek() {
            Some(Token::Word(word)) => Wanted::Word(word.clone()),
            Some(Token::Prefix(prefix)) => Wanted::Prefix(prefix.clone()),
            Some(Token::Quoted(phrase)) if phrase.trim().is_empty() => {
                return Err(place.error("the phrase is empty"));
            }
            Some(Token::Quoted(phrase)) => Wanted::Phrase(phrase.clone()),
            _ => {
                return Err(place.error(
                    "a word or a phrase must follow the field; write `field:a OR field:b` in \
                     place of `field:(a OR b)`",
                ));
            }
        };
        self.next += 1;
        Ok(wanted)
    }

    /// Whether this word, already taken, begins `N of (`.
    fn is_minimum(&self, word: &str) -> bool {
        word.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(self.peek(), Some(Token::Word(of)) if of == "of")
    }

    fn at_least(&mut self, word: &str, place: Place, depth: usize) -> Result<Query, RulesError> {
        self.next += 1;
        let open = self.place();
        if !self.take(&Token::Open) {
            return Err(open.error(format!(
                "the parts must follow in parentheses, as in `{word} of (a, b, c)`"
            )));
        }
        let mut parts = vec![self.or(depth + 1)?];
        while self.take(&Token::Comma) {
            parts.push(self.or(depth + 1)?);
        }
        self.close(open)?;
        match word.parse::<usize>() {
            Ok(count) if (1..=parts.len()).contains(&count) => Ok(Query::AtLeast(count, parts)),
            _ => Err(place.error(format!(
                "{word} of {} parts is not possible; choose 1 to {}",
                parts.len(),
                parts.len()
            ))),
        }
    }

    fn close(&mut self, opened: Place) -> Result<(), RulesError> {
        if self.take(&Token::Close) {
            return Ok(());
        }
        match self.peek() {
            None => Err(opened.error("the parenthesis opened here is never closed")),
            Some(token) => Err(self.place().error(misplaced(token))),
        }
    }
}

fn atom(field: Option<String>, wanted: Wanted, place: Place) -> Query {
    Query::Atom(Atom {
        field,
        wanted,
        place,
    })
}

/// What to say of a token where AND, OR or the end should be.
fn misplaced(token: &Token) -> String {
    let shown = token.shown();
    match token {
        Token::Word(word) if matches!(word.to_uppercase().as_str(), "AND" | "OR" | "NOT") => {
            format!("`{shown}` is a word here; operators are written in capitals: AND, OR, NOT")
        }
        Token::Not => "AND or OR must come before NOT".to_owned(),
        _ => format!(
            "AND or OR must come before `{shown}`; words that follow each other are quoted, as in \
             \"several words\""
        ),
    }
}

#[cfg(test)]
mod tests;
