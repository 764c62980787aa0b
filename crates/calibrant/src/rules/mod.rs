//! Hand-written rules: a Boolean query for each category.
//!
//! People who know their domain often know the words that give a category away. A rules file says
//! so, one query for each category:
//!
//! ```text
//! # grain stories
//! wheat: wheat OR durum OR "winter crop"
//!     grain AND NOT (rice OR maize)          # indented: another clause for wheat
//! "crude oil": 2 of (barrel*, opec, refinery, crude) OR subject:petroleum
//! ```
//! - `AND`, `OR`, `NOT` in capitals; `NOT` binds closest, then `AND`, then `OR`; parentheses group.
//! - `"several words"` are a phrase, `begin*` is any word that begins so, `field:word` (or a phrase, or a
//!   beginning) looks into that field of the record alone, `2 of (a, b, c)` needs two of its parts.
//! - A line `category: query` begins a category; indented lines, and further lines for the same
//!   category, are joined by `OR`. Names with blanks or signs are quoted. `#` begins a comment.
//! - Words are analysed as the model's texts are (case, accents, stems), except that stop words and
//!   short words count: who writes them means them. Beginnings are compared with unstemmed words.
//!
//! [`RuleSet`] reads and prints such files, and [`jobs::check_rules`](crate::jobs::check_rules) measures what rules and their
//! clauses bring and cost on labelled documents. Inside, `RuleMatcher` gives a document the strength of every rule.
//!
//! # Reference
//! Manual categorisation by Boolean queries with phrases, as Construe did for Reuters: Hayes &
//! Weinstein, IAAI 1990.

mod audit;
mod error;
mod matcher;
mod parser;
mod query;
mod tokens;

pub use audit::{AuditCounts, ClauseReport, PartReport, RuleReport, RulesReport};
pub use error::RulesError;
pub use query::{Atom, Query, Rule, RuleSet, Wanted};

// Not part of the documented interface: `jobs::check_rules` puts these together.
#[doc(hidden)]
pub use audit::RuleAudit;
#[doc(hidden)]
pub use matcher::{MatchBuffers, RuleMatcher};
