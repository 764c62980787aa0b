//! Arguments of `calibrant rank fit` and `calibrant rank predict`.

use std::path::PathBuf;

use calibrant::calibration::CalibratorKind;
use calibrant::ranking::Unjudged;
use calibrant::ranking::learning::{Choice, GradeUse, QueryScale, RankLoss, RankSettings};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::choice::choice;

const FIT_HELP: &str = "\
Examples:
  calibrant rank fit train.txt --validation vali.txt -o model        SVM-MAP on a LETOR file
  calibrant rank fit S1.txt.gz S2.txt.gz --loss ndcg -o model         C by cross-validation over queries
  calibrant rank fit train.txt --bins 50 --c 0.1 -o model            50 thresholds for each column
  calibrant rank fit train.txt --bins 0 --grades one -o model        the plain method: slopes, relevant or not
  calibrant rank fit --qrels qrels.txt --from-run a.txt --from-run b.txt -o model   combine two systems

Losses:
  map      one minus average precision (SVM-MAP)      acc    right or wrong, document by document
  roc      one minus the area under the ROC curve     acc2   the same, relevant documents weigh as much as others
  ndcg     one minus NDCG, graded; ndcg@K: K ranks    acc3   acc on percentiles within the query
  rr       one minus the reciprocal rank              acc4   acc on values from 0 to 1 within the query
  pairs    the ranking support vector machine, graded";

#[derive(Debug, Args)]
#[command(after_help = FIT_HELP)]
pub(crate) struct RankFitArguments {
    /// Judged documents as LETOR files (`grade qid:Q 1:V 2:V … # document`), also .gz or .zst; `-` is standard input
    #[arg(value_name = "TRAIN", required_unless_present = "qrels")]
    pub(crate) train: Vec<String>,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// Judgements (TREC qrels), to learn from runs instead of LETOR files
    #[arg(long, value_name = "QRELS", requires = "runs", conflicts_with_all = ["train", "validation"])]
    pub(crate) qrels: Option<String>,
    /// A run that becomes a column named after it; may be repeated
    #[arg(long = "from-run", value_name = "RUN", requires = "qrels")]
    pub(crate) runs: Vec<String>,
    /// The objective of the ranking: map, roc, ndcg, ndcg@K, rr, acc, acc2, acc3, acc4 or pairs
    #[arg(long, default_value = "map", value_parser = parse_loss)]
    pub(crate) loss: RankLoss,
    /// A LETOR file on which to choose C, bins and grades; never learned from. Without it, they are chosen by cross-validation over queries
    #[arg(long, value_name = "FILE")]
    pub(crate) validation: Option<String>,
    /// The cost of errors, C, or several values to choose from by mean average precision; by default seven values scaled to the features, and up to five larger ones while the largest is the best
    #[arg(long, value_name = "C,…", value_delimiter = ',')]
    pub(crate) c: Vec<f64>,
    /// Cut each column at N thresholds and learn a step function of it; 0 learns one slope per column; `auto` chooses between 0 and 10 on held-out queries
    #[arg(long, value_name = "N|auto", default_value = "auto", value_parser = bins)]
    pub(crate) bins: Choice<usize>,
    /// How values are scaled first
    #[arg(long, value_name = "SCALE", default_value = "as-given", value_parser = choice::<QueryScale>())]
    pub(crate) scale: QueryScale,
    /// The smallest grade that is relevant
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) relevant_from: i32,
    /// With map, roc and rr: how grades above the smallest relevant one are used
    #[arg(long, value_name = "GRADES", default_value = "auto", value_parser = grades())]
    pub(crate) grades: Choice<GradeUse>,
    /// The relative gap to the minimum of the objective at which to stop
    #[arg(long, value_name = "PART", default_value_t = 1e-3)]
    pub(crate) tolerance: f64,
    /// Folds of queries for cross-validated choices; with --validation both count together (5 by default; none with --validation of 500 queries, or if only C is open)
    #[arg(long, value_name = "N")]
    pub(crate) folds: Option<usize>,
    /// The random seed of the folds
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Unjudged documents of judged queries: `zero` counts them as not relevant, as trec_eval does; `leave-out` learns from judged ones only. Queries without judgements are always left out. (In LETOR files `#docid = NAME judged = no` marks them, as `search --features --qrels` writes.)
    #[arg(long, value_name = "zero|leave-out", default_value_t)]
    pub(crate) unjudged: Unjudged,
    /// How scores become probabilities of relevance, on held-out queries: `auto`, any method of `fit --calibrator`, or `none` for no probabilities
    #[arg(long, value_name = "METHOD", value_parser = super::choice::choice::<CalibratorKind>(), default_value_t = CalibratorKind::Auto)]
    pub(crate) calibrator: CalibratorKind,
    /// Folds of held-out queries for that
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(2..=100))]
    pub(crate) calibration_folds: u8,
    /// Print the training summary as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

const PREDICT_HELP: &str = "\
Examples:
  calibrant rank predict model test.txt -o scores.txt              one score per line, in the order of test.txt
  calibrant rank predict model test.txt --probabilities            score and probability of relevance on each line
  calibrant rank predict model test.txt --run -o run.txt           a TREC run, best document first
  calibrant rank predict model --from-run a.txt --from-run b.txt   for a model that was fitted on runs";

#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub(crate) struct RankPredictArguments {
    /// A model that `calibrant rank fit` wrote
    pub(crate) model: PathBuf,
    /// Documents as LETOR files; grades are ignored; `-` is standard input
    #[arg(value_name = "TEST", required_unless_present = "runs")]
    pub(crate) test: Vec<String>,
    /// A run, for a model that was fitted on runs; may be repeated
    #[arg(long = "from-run", value_name = "RUN", conflicts_with = "test")]
    pub(crate) runs: Vec<String>,
    /// Where to write (standard output by default)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Write a TREC run: query, Q0, document, rank, score, name
    #[arg(long)]
    pub(crate) run: bool,
    /// Also write the probability of relevance: after each score, or instead of it in a run
    #[arg(long)]
    pub(crate) probabilities: bool,
    /// Write JSON Lines: query, document, rank, score, probability
    #[arg(long, conflicts_with_all = ["run", "probabilities"])]
    pub(crate) json: bool,
    /// The name of the run
    #[arg(
        long,
        visible_alias = "run-name",
        value_name = "NAME",
        default_value = "calibrant"
    )]
    pub(crate) name: String,
    /// Ignore columns that the model does not know
    #[arg(long)]
    pub(crate) ignore_unknown: bool,
    /// Continue if columns that the model was fitted on are missing: their values count as missing for every document
    #[arg(long)]
    pub(crate) ignore_missing: bool,
}

impl RankFitArguments {
    /// What is asked for.
    pub(crate) fn settings(&self) -> RankSettings {
        RankSettings {
            loss: self.loss,
            c: self.c.clone(),
            scale: self.scale,
            bins: self.bins,
            grades: self.grades,
            relevant_from: self.relevant_from,
            tolerance: self.tolerance,
            folds: self.folds,
            seed: self.seed,
            unjudged: self.unjudged,
            calibrator: self.calibrator,
            calibration_folds: self.calibration_folds.into(),
        }
    }
}

/// A use of grades, or `auto`.
fn grades() -> impl TypedValueParser<Value = Choice<GradeUse>> {
    let auto = PossibleValue::new("auto").help("Chosen on held-out queries");
    let named = GradeUse::ALL.map(|one| PossibleValue::new(one.name()).help(one.help()));
    let values = PossibleValuesParser::new([auto].into_iter().chain(named));
    values.try_map(|word| word.parse::<Choice<GradeUse>>())
}

fn bins(given: &str) -> Result<Choice<usize>, String> {
    given
        .parse()
        .map_err(|_| "give a number of thresholds, 0 for none, or auto".to_owned())
}

fn parse_loss(name: &str) -> Result<RankLoss, String> {
    name.parse()
        .map_err(|error: calibrant::ranking::learning::UnknownLoss| error.to_string())
}
