//! Indexing and searching.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use calibrant::index::{DocumentFormat, QueryFormat, TopicField};
use calibrant::ranking::Unjudged;
use calibrant::text::{Language, Segmentation, WordRules};
use clap::Args;

use super::RowArguments;
use super::choice::{choice, positive, stem_language, stop_language};
use super::field_list::FieldList;

#[derive(Debug, Args)]
pub(crate) struct IndexArguments {
    /// Files of documents: CSV, TSV, JSON Lines, Parquet, xlsx, ods, fastText, a folder of texts, or TREC documents (`<DOC><DOCNO>…`), also .gz or .zst; `-` is standard input
    #[arg(value_name = "DOCS", required = true)]
    pub(crate) files: Vec<String>,
    /// Where to write the index: a new or empty folder, or one that holds an index, which is replaced
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Text fields to search, joined in this order (default: `text`)
    #[arg(long, value_name = "FIELD,…")]
    pub(crate) text: Vec<FieldList>,
    /// The field that identifies a document (default: `id`); identifiers must be unique
    #[arg(long, value_name = "FIELD")]
    pub(crate) id: Option<String>,
    /// Number the documents 1, 2, … in order, if there is no such field
    #[arg(long, conflicts_with = "id")]
    pub(crate) numbered: bool,
    /// A field to show above each hit; it is searched only if --text also names it
    #[arg(long, value_name = "FIELD")]
    pub(crate) title: Option<String>,
    /// csv, tsv, jsonl, parquet, xlsx, ods, fasttext, folder or trec (detected from the name or the content by default)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<DocumentFormat>,
    #[command(flatten)]
    pub(crate) rows: RowArguments,
    /// The language of the stemmer
    #[arg(long, value_name = "LANGUAGE", value_parser = stem_language, default_value_t = Language::Porter)]
    pub(crate) stemmer: Language,
    /// The language of the stop words
    #[arg(long, value_name = "LANGUAGE", value_parser = stop_language, default_value_t = Language::English)]
    pub(crate) stop_words: Language,
    /// What a word is in Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no spaces between words
    #[arg(long, value_parser = choice::<Segmentation>(), default_value = WordRules::default().segmentation.name())]
    pub(crate) segmentation: Segmentation,
    /// Do not store the texts: the index is smaller, and searches show only identifiers and scores
    #[arg(long)]
    pub(crate) no_text: bool,
    /// Print the summary as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A FUNCTION is a formula and an analysis of the text, as in bm25.stems:
  formulas   cosine, tf-idf, bm25, dirichlet, jelinek-mercer, absolute-discount
  analyses   plain (words in lower case), stems, stems-nostop (stems without stop words)
Parameters may follow a colon: bm25.stems:k1=0.9,b=0.4; dirichlet.plain:mu=500
BM25 is the sum over the query's terms of idf (k1+1) tf / (tf + k1 (1-b + b L/avg)) (k3+1) qtf / (k3+qtf), with k1 = 1.2, b = 0.75, k3 = 7 and
idf = ln(1 + (N-df+0.5)/(df+0.5)), never negative (idf=robertson leaves out the 1+). Other programs drop (k1+1), which does not change the order, or
count a repeated word of the query qtf times, as k3=1e9 does.
Documents with equal scores are in descending order of their identifiers, as in trec_eval.

Examples:
  calibrant index docs.jsonl --text title,text --title title -o docs.index
  calibrant search docs.index wing in a slipstream --explain
  calibrant search docs.index --queries queries.tsv --run bm25.run
  calibrant search docs.index --queries queries.tsv --qrels qrels.txt --features train.letor
  calibrant rank fit train.letor -o ranking.calibrant
  calibrant search docs.index --model ranking.calibrant wing in a slipstream      by the learned ranking, with P(relevant)")]
pub(crate) struct RetrievalArguments {
    /// An index, as `calibrant index` writes it
    pub(crate) index: PathBuf,
    /// The words to search for (`-` reads them from standard input); or use --queries
    #[arg(
        value_name = "QUERY",
        required_unless_present = "queries",
        conflicts_with_all = ["queries", "query_format", "run", "run_name", "probabilities", "features", "qrels"]
    )]
    pub(crate) query: Vec<String>,
    /// How documents are scored; `all` stands for the fifteen functions of Yue et al. 2007. May be repeated with --run and --features (default: bm25.stems; all with --features)
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) function: Vec<String>,
    /// A ranking model of `calibrant rank fit`, learned from a file that `search --features` wrote: documents are ranked by it and shown with the probability that each is relevant
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["function", "features"])]
    pub(crate) model: Option<PathBuf>,
    /// With --model, how many documents per function are ranked (default: 1000, as with --features)
    #[arg(long, value_name = "N", requires = "model", value_parser = positive)]
    pub(crate) depth: Option<NonZeroUsize>,
    /// How many documents to find (default: 10; with --run and --features 1000; with --features per function)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) top: Option<NonZeroUsize>,
    /// Show what each term of the query, or with --model each column, adds to the score of each document
    #[arg(long, conflicts_with_all = ["run", "features"])]
    pub(crate) explain: bool,
    /// Print the hits as JSON on standard output, one line per query
    #[arg(long, conflicts_with_all = ["run", "features"])]
    pub(crate) json: bool,
    /// Search for every query of a file: JSON Lines with `id` and `text`, `id<TAB>text`, or TREC topics; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) queries: Option<String>,
    /// jsonl, tsv or topics (detected from the first line by default)
    #[arg(long, value_name = "FORMAT", requires = "queries")]
    pub(crate) query_format: Option<QueryFormat>,
    /// Which parts of a topic form the query: title, desc, narr
    #[arg(
        long,
        value_name = "PART,…",
        value_delimiter = ',',
        default_value = "title"
    )]
    pub(crate) topic_fields: Vec<TopicField>,
    /// Where to write the hits as a TREC run (`-` is standard output); with several functions, a folder with a file for each
    #[arg(long, value_name = "OUT", requires = "queries")]
    pub(crate) run: Option<PathBuf>,
    /// The name of the run, its last column (default: the function's, or `calibrant` with --model); with several functions each run is called NAME.FUNCTION
    #[arg(long, alias = "name", value_name = "NAME", requires = "run")]
    pub(crate) run_name: Option<String>,
    /// With --model and --run: write probabilities of relevance instead of scores
    #[arg(long, requires_all = ["model", "run"])]
    pub(crate) probabilities: bool,
    /// Where to write the value of every function for every document that one of them found, as a LETOR file; `-` is standard output
    #[arg(long, value_name = "OUT", requires = "queries", conflicts_with = "run")]
    pub(crate) features: Option<PathBuf>,
    /// Judgements that give the rows of --features their grades (without them every grade is 0); queries without judgements are left out, unjudged documents get grade 0 and the mark `judged = no`
    #[arg(
        long,
        value_name = "FILE",
        requires = "features",
        conflicts_with = "run"
    )]
    pub(crate) qrels: Option<String>,
    /// Whether unjudged documents are written (`zero`: grade 0, marked) or not (`leave-out`)
    #[arg(
        long,
        value_name = "zero|leave-out",
        default_value_t,
        requires = "qrels"
    )]
    pub(crate) unjudged: Unjudged,
    /// Skip the check of the index against its checksums, which reads all of it
    #[arg(long)]
    pub(crate) no_verify: bool,
}
