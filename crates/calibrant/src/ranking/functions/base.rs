//! A retrieval function over one analysis of the text.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::function::RetrievalFunction;
use crate::text::{Analyzer, Language};

/// How the text was made into terms. An index keeps all three side by side.
///
/// ```
/// use calibrant::ranking::functions::Analysis;
/// use calibrant::text::Language;
/// let terms = |analysis: Analysis| {
///     let analyzer = analysis.analyzer(Language::Porter, Language::English);
///     analyzer.compile().map(|analyzer| analyzer.terms("The Flying foxes"))
/// };
/// assert_eq!(terms(Analysis::Plain)?, ["the", "flying", "foxes"]);
/// assert_eq!(terms(Analysis::Stems)?, ["the", "fly", "fox"]);
/// assert_eq!(terms(Analysis::StemsNoStop)?, ["fly", "fox"]);
/// # Ok::<(), calibrant::text::AnalyzerError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Analysis {
    /// Words in lower case.
    Plain,
    /// Stems.
    Stems,
    /// Stems of the words that are not stop words.
    #[serde(rename = "stems-nostop")]
    StemsNoStop,
}

impl Analysis {
    /// All three, in the order of an index.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Stems, Self::StemsNoStop];

    /// The name, as it stands behind the dot in `bm25.stems`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Stems => "stems",
            Self::StemsNoStop => "stems-nostop",
        }
    }

    /// The settings of the text analysis, given whose stems and whose stop words are meant.
    pub fn analyzer(self, stemmer: Language, stop_words: Language) -> Analyzer {
        Analyzer {
            stemmer: (self != Self::Plain).then_some(stemmer),
            stop_words: (self == Self::StemsNoStop).then_some(stop_words),
            ..Analyzer::default()
        }
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A retrieval function over one analysis of the text: a column of a ranking table.
///
/// Written `bm25.stems`; parameters other than the default follow a colon: `bm25.stems:k1=0.9,b=0.4`.
///
/// ```
/// use calibrant::ranking::functions::{Analysis, BaseFunction, RetrievalFunction};
/// let function: BaseFunction = "dirichlet.plain:mu=500".parse()?;
/// assert_eq!(function.function, RetrievalFunction::Dirichlet { mu: 500.0 });
/// assert_eq!(function.analysis, Analysis::Plain);
/// assert_eq!(function.to_string(), "dirichlet.plain:mu=500");
/// assert_eq!(BaseFunction::paper().len(), 15); // by hand: 5 formulas over 3 analyses
/// # Ok::<(), calibrant::ranking::functions::FunctionNameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaseFunction {
    /// The formula.
    pub function: RetrievalFunction,
    /// What counts as a term.
    pub analysis: Analysis,
}

impl BaseFunction {
    /// The default for searching: BM25 over stems.
    pub const fn bm25_stems() -> Self {
        Self {
            function: RetrievalFunction::bm25(),
            analysis: Analysis::Stems,
        }
    }

    /// The fifteen base functions of Yue et al. (SIGIR 2007), with our default parameters: cosine, tf-idf, BM25,
    /// Dirichlet and Jelinek-Mercer language models, each over all analyses in turn.
    pub fn paper() -> Vec<Self> {
        Self::every()
            .into_iter()
            .filter(|base| !matches!(base.function, RetrievalFunction::AbsoluteDiscount { .. }))
            .collect()
    }

    /// Every formula over every analysis, with default parameters.
    pub fn every() -> Vec<Self> {
        let over = |function| Analysis::ALL.map(|analysis| Self { function, analysis });
        RetrievalFunction::ALL.into_iter().flat_map(over).collect()
    }
}
