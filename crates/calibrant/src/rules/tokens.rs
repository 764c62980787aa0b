//! A line of a rules file to tokens.

use super::RulesError;
use super::error::Place;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Open,
    Close,
    Comma,
    Colon,
    And,
    Or,
    Not,
    /// A word as written, without quotes.
    Word(String),
    /// A word that ended in `*`.
    Prefix(String),
    /// What stood between quotes.
    Quoted(String),
}

impl Token {
    /// As it would be written, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Token::Open => "(".into(),
            Token::Close => ")".into(),
            Token::Comma => ",".into(),
            Token::Colon => ":".into(),
            Token::And => "AND".into(),
            Token::Or => "OR".into(),
            Token::Not => "NOT".into(),
            Token::Word(word) => shortened(word),
            Token::Prefix(prefix) => format!("{}*", shortened(prefix)),
            Token::Quoted(text) => format!("\"{}\"", shortened(text)),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a name can be written without quotes.
pub(super) fn is_plain_word(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('#')
        && !matches!(name, "AND" | "OR" | "NOT")
        && name.chars().all(is_word_character)
}

fn is_word_character(character: char) -> bool {
    !character.is_whitespace() && !matches!(character, '(' | ')' | ',' | ':' | '"' | '*')
}

/// The tokens of a line with their places, up to a comment.
pub(super) fn tokens(line: &str, number: usize) -> Result<Vec<(Token, Place)>, RulesError> {
    let mut found = Vec::new();
    let mut rest = line.char_indices().peekable();
    let mut column = 0;
    while let Some((start, character)) = rest.next() {
        column += 1;
        let place = Place {
            line: number,
            column,
        };
        let token = match character {
            blank if blank.is_whitespace() => continue,
            '#' => break,
            '(' => Token::Open,
            ')' => Token::Close,
            ',' => Token::Comma,
            ':' => Token::Colon,
            '*' => {
                return Err(place
                    .error("`*` must follow the beginning of a word directly, as in `barrel*`"));
            }
            '"' => {
                let mut text = String::new();
                let mut escaped = false;
                loop {
                    let Some((_, character)) = rest.next() else {
                        return Err(place.error(
                            "the quote opened here is never closed; close it on the same line",
                        ));
                    };
                    column += 1;
                    match (escaped, character) {
                        (false, '\\') => escaped = true,
                        (false, '"') => break,
                        (_, character) => {
                            text.push(character);
                            escaped = false;
                        }
                    }
                }
                Token::Quoted(text)
            }
            first => {
                let mut end = start + first.len_utf8();
                while let Some((at, character)) = rest.next_if(|(_, c)| is_word_character(*c)) {
                    column += 1;
                    end = at + character.len_utf8();
                }
                let word = &line[start..end];
                let begins = rest.next_if(|(_, c)| *c == '*').is_some();
                column += usize::from(begins);
                if begins
                    && rest
                        .peek()
                        .is_some_and(|&(_, c)| is_word_character(c) || c == '*')
                {
                    let place = Place {
                        line: number,
                        column,
                    };
                    return Err(place.error("`*` can stand only at the end of a word"));
                }
                match word {
                    _ if begins => Token::Prefix(word.to_owned()),
                    "AND" => Token::And,
                    "OR" => Token::Or,
                    "NOT" => Token::Not,
                    _ => Token::Word(word.to_owned()),
                }
            }
        };
        found.push((token, place));
    }
    Ok(found)
}
