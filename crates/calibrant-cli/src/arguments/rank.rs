//! Arguments of `calibrant rank`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use calibrant::evaluation::ranking::{Baseline, LetorCounting};
use calibrant::ranking::Unjudged;
use clap::{Args, Subcommand};

use super::choice::{choice, positive};
use super::rank_learning::{RankFitArguments, RankPredictArguments};

#[derive(Debug, Args)]
pub(crate) struct RankArguments {
    #[command(subcommand)]
    pub(crate) command: RankCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RankCommand {
    /// Learn a ranking from judged documents: SVM-MAP and relatives, on LETOR files or on runs
    Fit(Box<RankFitArguments>),
    /// Score documents with a learned ranking
    Predict(RankPredictArguments),
    /// Measure rankings: runs against judgements (the figures of trec_eval), or scores of a LETOR file
    Evaluate(RankEvaluateArguments),
    /// Estimate how many relevant documents are left below a rank, and where to stop reading
    Outlook(RankOutlookArguments),
}

const EVALUATE_HELP: &str = "\
Examples:
  calibrant rank evaluate qrels.txt run.txt                  what trec_eval prints
  calibrant rank evaluate -q -m map -m P.5,10 qrels.txt run.txt
  calibrant rank evaluate -c qrels.txt base.txt new.txt      a comparison with three tests
  calibrant rank evaluate --probabilities qrels.txt run.txt  are scores in [0, 1] right?
  calibrant rank evaluate --letor 3 test.txt scores.txt      a score for each line of test.txt

Judgements have the columns query, iteration, document, grade; runs query, Q0, document, rank, score, name. The rank is not looked at: documents are put in the order of their scores, equal ones by name, the larger first.

Queries that are not judged are passed over. Judged queries that the run lacks are passed over, too, and so a system gains by leaving out what is hard: -c counts them as 0.

iprec_at_recall and 11pt_avg follow trec_eval 10, which rounds recall otherwise than earlier versions do: a few values differ from pytrec_eval's, which has the older code.";

#[derive(Debug, Args)]
#[command(after_help = EVALUATE_HELP)]
pub(crate) struct RankEvaluateArguments {
    /// Judgements (TREC qrels), or with --letor the test file; also .gz or .zst; `-` is standard input
    #[arg(value_name = "QRELS|TEST")]
    pub(crate) truth: String,
    /// Runs, or with --letor files with a score per line; with several they are compared
    #[arg(value_name = "RUN|SCORES", required = true)]
    pub(crate) rankings: Vec<String>,
    /// A measure by trec_eval's name, with parameters after a dot: map, P.5,10, ndcg_cut.10, ndcg.1=3,2=9; or `official` (the default), `all_trec` or `set`; with --letor MAP, NDCG@10, P@5. May be repeated
    #[arg(short, long = "measure", value_name = "MEASURE")]
    pub(crate) measures: Vec<String>,
    /// Also show every query
    #[arg(short = 'q', long)]
    pub(crate) per_query: bool,
    /// Count judged queries that a run lacks as 0, rather than leaving them out
    #[arg(short = 'c', long, conflicts_with = "letor")]
    pub(crate) complete: bool,
    /// The smallest grade that is relevant
    #[arg(short = 'l', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) relevant_from: i32,
    /// Use only the first N documents of each query
    #[arg(short = 'M', long, value_name = "N", conflicts_with = "letor", value_parser = positive)]
    pub(crate) most_documents: Option<NonZeroUsize>,
    /// The number of documents in the collection, for `utility` with a fourth cost
    #[arg(short = 'N', long, value_name = "N", conflicts_with = "letor")]
    pub(crate) collection_size: Option<u64>,
    /// Count as LETOR does. Version 4 gives NDCG@k = 0 for lists shorter than k, as in published figures
    #[arg(long, value_name = "VERSION", value_parser = choice::<LetorCounting>())]
    pub(crate) letor: Option<LetorCounting>,
    /// Scores are probabilities of relevance: measure log loss, Brier score, calibration, and the expected and observed numbers of relevant documents
    #[arg(long, conflicts_with_all = ["measures", "complete", "most_documents", "collection_size"])]
    pub(crate) probabilities: bool,
    /// With --probabilities, unjudged documents of judged queries: `zero` counts them as not relevant, `leave-out` ignores them
    #[arg(
        long,
        value_name = "zero|leave-out",
        default_value_t,
        requires = "probabilities"
    )]
    pub(crate) unjudged: Unjudged,
    /// Which of several rankings the others are compared with
    #[arg(long, value_name = "BASELINE", default_value = "first", value_parser = choice::<Baseline>())]
    pub(crate) baseline: Baseline,
    /// The random seed of the randomisation test
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

const OUTLOOK_HELP: &str = "\
Example:
  calibrant rank predict model.calibrant new.txt --run --probabilities -o new.run
  calibrant rank outlook new.run --model model.calibrant --recall 0.95 --at 10,100

For every query: how many relevant documents are expected in all and below some ranks, the first rank where the expected
recall is reached, and the first where it is reached with the wanted certainty. For that it counts that probabilities which are right over
all queries are off in each, and that few queries (or labelled documents) tell little: --model takes both from the ranking model, or from the
classifier whose probabilities they are, where the run's queries have the names of its classes. Without it a default is
used, learned on other collections, and said. Relevant documents that the run does not list are not expected, and not counted in what came true.";

#[derive(Debug, Args)]
#[command(after_help = OUTLOOK_HELP)]
pub(crate) struct RankOutlookArguments {
    /// A run whose scores are probabilities of relevance; also .gz or .zst; `-` is standard input
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// The model whose probabilities these are: of `rank fit`, or of `fit` with a class for each query of the run
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
    /// The share of the relevant documents to find
    #[arg(long, value_name = "SHARE", default_value_t = 0.95, value_parser = share)]
    pub(crate) recall: f64,
    /// The probability with which that recall must be reached
    #[arg(long, value_name = "SHARE", default_value_t = 0.9, value_parser = share)]
    pub(crate) certainty: f64,
    /// Ranks below which to count the expected relevant documents
    #[arg(
        long,
        value_name = "RANK,…",
        value_delimiter = ',',
        default_value = "10,100"
    )]
    pub(crate) at: Vec<usize>,
    /// Judgements, to compare with the expected numbers
    #[arg(long, value_name = "QRELS")]
    pub(crate) qrels: Option<String>,
    /// The smallest grade that is relevant
    #[arg(short = 'l', long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) relevant_from: i32,
    /// One JSON list on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// Above 0, at most 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("a number above 0 and at most 1 is needed".to_owned()),
    }
}
