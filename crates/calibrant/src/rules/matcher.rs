//! Documents to strengths of rules.

use std::collections::HashMap;

use super::{Query, Rule, RuleSet, RulesError, Wanted};
use crate::text::{
    Analyzer, AnalyzerBuffers, CompiledAnalyzer, FIELD_BREAK, NgramRange, Segmentation, WordRules,
};

/// Rules whose words were analysed, ready to be matched.
///
/// # Formula
/// ```text
/// word, phrase, beginning   0 if absent, else 1 + ln(how often)
/// a OR b                    a + b
/// a AND b                   0 if a part is 0, else the least of the parts; NOT parts only allow or forbid
/// NOT a                     1 if a is 0, else 0
/// k of (a, b, …)            a + b + … if at least k of them are above 0, else 0
/// ```
/// A rule matches where its strength is above 0. More evidence gives a higher strength, which is what
/// makes rules worth calibrating: a story that says `wheat` ten times is a safer hit.
///
/// ```
/// use calibrant::rules::{MatchBuffers, RuleMatcher, RuleSet};
/// use calibrant::text::Analyzer;
/// let rules: RuleSet = "wheat: wheat AND NOT \"wheat street\" OR durum".parse()?;
/// let matcher = RuleMatcher::new(&rules, &Analyzer::default())?;
/// let mut strengths = [0.0];
/// let mut buffers = MatchBuffers::default();
/// matcher.strengths_into("Wheat and more wheat; durum.", &[], &mut buffers, &mut strengths);
/// let by_hand = (1.0 + 2f64.ln()) + 1.0;
/// assert!((f64::from(strengths[0]) - by_hand).abs() < 1e-6);
/// matcher.strengths_into("Wheat Street", &[], &mut buffers, &mut strengths);
/// assert_eq!(strengths[0], 0.0);
/// # Ok::<(), calibrant::rules::RulesError>(())
/// ```
#[derive(Debug, Clone)]
pub struct RuleMatcher {
    rules: Vec<Node>,
    leaves: Vec<Leaf>,
    /// What each field is searched for: the text first, then [`RuleSet::fields`].
    fields: Vec<FieldWords>,
    word_count: usize,
    analyzer: CompiledAnalyzer,
    /// Words without stems, where beginnings need them.
    unstemmed: Option<CompiledAnalyzer>,
}

#[derive(Debug, Clone, Default)]
struct FieldWords {
    /// Numbers of words; positions are kept for these.
    words: HashMap<String, u32>,
    /// Beginnings, rising, with their leaves.
    prefixes: Vec<(String, usize)>,
}

/// What can be counted; equal atoms of all rules share one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Leaf {
    /// Numbers of words one after the other.
    Words(Vec<u32>),
    /// A field and the beginning of a word.
    Prefix(usize, String),
}

#[derive(Debug, Clone)]
enum Node {
    Leaf(usize),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    AtLeast(usize, Vec<Node>),
}

/// Buffers for one document, reused between calls.
#[derive(Debug, Default, Clone)]
pub struct MatchBuffers {
    analyzer: AnalyzerBuffers,
    positions: Vec<Vec<u32>>,
    counts: Vec<u32>,
}

impl RuleMatcher {
    /// Analyses the words of the rules. A word of which the analyzer leaves nothing is an error.
    pub fn new(rules: &RuleSet, analyzer: &Analyzer) -> Result<Self, RulesError> {
        let queries: Vec<&Query> = rules.rules().iter().map(|rule| &rule.query).collect();
        Self::of_queries(&queries, &rules.fields(), analyzer).map_err(|(number, error)| {
            let Rule { category, .. } = &rules.rules()[number];
            RulesError {
                message: format!("category `{category}`: {}", error.message),
                ..error
            }
        })
    }

    /// As [`RuleMatcher::new`] for queries alone; an error comes with the number of its query.
    pub(super) fn of_queries(
        queries: &[&Query],
        fields: &[String],
        analyzer: &Analyzer,
    ) -> Result<Self, (usize, RulesError)> {
        let words = Analyzer {
            stop_words: None,
            min_token_chars: 1,
            word_ngrams: NgramRange::default(),
            char_ngrams: None,
            // A rule in Chinese or Thai finds its characters wherever they follow each other, whatever words a dictionary
            // would see around them.
            words: WordRules {
                segmentation: Segmentation::Characters,
                ..analyzer.words
            },
            ..analyzer.clone()
        };
        let plain = Analyzer {
            stemmer: None,
            ..words.clone()
        };
        let compile = |analyzer: &Analyzer| {
            analyzer.compile().map_err(|error| {
                let place = super::error::Place { line: 1, column: 1 };
                (0, place.error(error.to_string()))
            })
        };
        let mut compiler = Compiler {
            field_names: fields,
            analyzer: compile(&words)?,
            plain: compile(&plain)?,
            fields: vec![FieldWords::default(); fields.len() + 1],
            word_count: 0,
            leaves: Vec::new(),
            numbers: HashMap::new(),
        };
        let mut nodes = Vec::with_capacity(queries.len());
        for (number, query) in queries.iter().enumerate() {
            nodes.push(compiler.node(query).map_err(|error| (number, error))?);
        }
        let Compiler {
            analyzer,
            plain,
            mut fields,
            word_count,
            leaves,
            ..
        } = compiler;
        fields
            .iter_mut()
            .for_each(|field| field.prefixes.sort_unstable());
        let needs_unstemmed =
            words.stemmer.is_some() && fields.iter().any(|field| !field.prefixes.is_empty());
        Ok(Self {
            rules: nodes,
            leaves,
            fields,
            word_count,
            analyzer,
            unstemmed: needs_unstemmed.then_some(plain),
        })
    }

    /// How many rules there are.
    pub fn rule_count(&self) -> usize {
        self.rules.len()
    }

    /// Fills `strengths`, one a rule. `asked` holds the texts of [`RuleSet::fields`], in that order;
    /// what is not there is empty.
    ///
    /// # Panics
    /// If `strengths` is not as long as there are rules.
    pub fn strengths_into(
        &self,
        text: &str,
        asked: &[String],
        buffers: &mut MatchBuffers,
        strengths: &mut [f32],
    ) {
        assert_eq!(strengths.len(), self.rules.len());
        self.count(text, asked, buffers);
        for (rule, strength) in self.rules.iter().zip(strengths) {
            *strength = rule.strength(&buffers.counts) as f32;
        }
    }

    /// How often each leaf occurs.
    fn count(&self, text: &str, asked: &[String], buffers: &mut MatchBuffers) {
        let MatchBuffers {
            analyzer: buffer,
            positions,
            counts,
        } = buffers;
        positions.resize_with(self.word_count, Vec::new);
        positions.iter_mut().for_each(Vec::clear);
        counts.clear();
        counts.resize(self.leaves.len(), 0);
        let texts = std::iter::once(text).chain(asked.iter().map(String::as_str));
        for (field, text) in self.fields.iter().zip(texts) {
            let same = self.unstemmed.is_none();
            // One place is left free behind a part: words of two fields do not follow each other.
            let mut next = 0;
            let apart = self.analyzer.settings().fields_apart;
            let parts = text.split(|c: char| apart && c == FIELD_BREAK);
            parts.for_each(|part| {
                self.analyzer.for_each_term(part, buffer, |term| {
                    if let Some(&word) = field.words.get(term) {
                        positions[word as usize].push(next);
                    }
                    if same {
                        field.for_each_prefix(term, |leaf| counts[leaf] += 1);
                    }
                    next += 1;
                });
                next += 1;
            });
            if let Some(analyzer) = self
                .unstemmed
                .as_ref()
                .filter(|_| !field.prefixes.is_empty())
            {
                analyzer.for_each_term(text, buffer, |term| {
                    field.for_each_prefix(term, |leaf| counts[leaf] += 1);
                });
            }
        }
        for (leaf, count) in self.leaves.iter().zip(counts) {
            if let Leaf::Words(words) = leaf {
                *count = occurrences(words, positions);
            }
        }
    }
}

impl FieldWords {
    fn for_each_prefix(&self, term: &str, mut visit: impl FnMut(usize)) {
        if self.prefixes.is_empty() {
            return;
        }
        // Every beginning of the term is smaller than the term, and the first letter is the same.
        let end = self
            .prefixes
            .partition_point(|(prefix, _)| prefix.as_str() <= term);
        let first = term.chars().next();
        for (prefix, leaf) in self.prefixes[..end].iter().rev() {
            if prefix.chars().next() != first {
                break;
            }
            if term.starts_with(prefix.as_str()) {
                visit(*leaf);
            }
        }
    }
}

/// How often the words follow each other.
fn occurrences(words: &[u32], positions: &[Vec<u32>]) -> u32 {
    let Some((&first, rest)) = words.split_first() else {
        return 0;
    };
    let starts = &positions[first as usize];
    if rest.is_empty() {
        return starts.len() as u32;
    }
    let follows = |start: u32| {
        (1..).zip(rest).all(|(offset, &word)| {
            positions[word as usize]
                .binary_search(&(start + offset))
                .is_ok()
        })
    };
    starts.iter().filter(|&&start| follows(start)).count() as u32
}

impl Node {
    fn strength(&self, counts: &[u32]) -> f64 {
        match self {
            Node::Leaf(leaf) => match counts[*leaf] {
                0 => 0.0,
                count => 1.0 + f64::from(count).ln(),
            },
            Node::Not(part) => f64::from(u8::from(part.strength(counts) == 0.0)),
            Node::Or(parts) => parts.iter().map(|part| part.strength(counts)).sum(),
            Node::And(parts) => {
                let mut least = f64::INFINITY;
                for part in parts {
                    let strength = part.strength(counts);
                    if strength == 0.0 {
                        return 0.0;
                    }
                    if !matches!(part, Node::Not(_)) {
                        least = least.min(strength);
                    }
                }
                if least.is_finite() { least } else { 1.0 }
            }
            Node::AtLeast(needed, parts) => {
                let (mut found, mut sum) = (0, 0.0);
                for part in parts {
                    let strength = part.strength(counts);
                    found += usize::from(strength > 0.0);
                    sum += strength;
                }
                if found >= *needed { sum } else { 0.0 }
            }
        }
    }
}

struct Compiler<'a> {
    field_names: &'a [String],
    analyzer: CompiledAnalyzer,
    plain: CompiledAnalyzer,
    fields: Vec<FieldWords>,
    word_count: usize,
    leaves: Vec<Leaf>,
    numbers: HashMap<Leaf, usize>,
}

impl Compiler<'_> {
    fn node(&mut self, query: &Query) -> Result<Node, RulesError> {
        let mut nodes = |parts: &[Query]| -> Result<Vec<Node>, RulesError> {
            parts.iter().map(|part| self.node(part)).collect()
        };
        Ok(match query {
            Query::And(parts) => Node::And(nodes(parts)?),
            Query::Or(parts) => Node::Or(nodes(parts)?),
            Query::AtLeast(count, parts) => Node::AtLeast(*count, nodes(parts)?),
            Query::Not(part) => Node::Not(Box::new(self.node(part)?)),
            Query::Atom(atom) => {
                let field = match &atom.field {
                    None => 0,
                    Some(name) => self
                        .field_names
                        .iter()
                        .position(|known| known == name)
                        .map_or(0, |at| at + 1),
                };
                let nothing_left = |written: &str| {
                    let shown: String = written.chars().take(40).collect();
                    atom.place.error(format!(
                        "nothing is left of `{shown}` when it is split into words; leave it out"
                    ))
                };
                let leaf = match &atom.wanted {
                    Wanted::Word(written) | Wanted::Phrase(written) => {
                        let terms = self.analyzer.terms(written);
                        if terms.is_empty() {
                            return Err(nothing_left(written));
                        }
                        Leaf::Words(
                            terms
                                .into_iter()
                                .map(|term| self.word(field, term))
                                .collect(),
                        )
                    }
                    Wanted::Prefix(written) => match self.plain.terms(written).as_slice() {
                        [] => return Err(nothing_left(written)),
                        [prefix] => Leaf::Prefix(field, prefix.clone()),
                        several => {
                            return Err(atom.place.error(format!(
                                "`{written}*` falls into the words {}; a beginning must be that of \
                                 one word",
                                several.join(", ")
                            )));
                        }
                    },
                };
                Node::Leaf(self.leaf(leaf))
            }
        })
    }

    fn word(&mut self, field: usize, term: String) -> u32 {
        let next = self.word_count as u32;
        let number = *self.fields[field].words.entry(term).or_insert(next);
        self.word_count += usize::from(number == next);
        number
    }

    fn leaf(&mut self, leaf: Leaf) -> usize {
        if let Some(&number) = self.numbers.get(&leaf) {
            return number;
        }
        let number = self.leaves.len();
        if let Leaf::Prefix(field, prefix) = &leaf {
            self.fields[*field].prefixes.push((prefix.clone(), number));
        }
        self.leaves.push(leaf.clone());
        self.numbers.insert(leaf, number);
        number
    }
}

#[cfg(test)]
mod tests;
