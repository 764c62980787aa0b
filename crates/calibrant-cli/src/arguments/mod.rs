//! The command line.

mod calibrate;
mod cascade;
mod certainty;
mod choice;
mod code;
mod combine;
mod costs;
mod features;
mod field_list;
mod folds;
mod held_out;
mod labels;
mod learner_options;
mod learning;
mod other;
mod policy;
mod prevalence;
mod prior;
mod promises;
mod rank;
mod rank_learning;
mod reading;
mod recalibrate;
mod results;
mod retrieval;
mod rules;
mod search;
mod spelling;
mod split;
mod suspects;
mod training;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use calibrant::corpus::{Fields, LabelNeed, ReadOptions};
use calibrant::decision::AskBudget;
use calibrant::jobs::SystemSettings;
use clap::{Args, Parser, Subcommand};

use choice::{choice, positive};

pub(crate) use calibrate::{CalibrateArguments, Method};
pub(crate) use cascade::CascadeArguments;
pub(crate) use certainty::CertaintyArguments;
pub(crate) use code::CodeArguments;
pub(crate) use combine::CombineArguments;
pub(crate) use costs::CostArguments;
pub(crate) use features::FeatureArguments;
pub(crate) use field_list::all_fields;
pub(crate) use folds::FoldArguments;
pub(crate) use held_out::HeldOutArguments;
pub(crate) use labels::{EmptyLabelArguments, LabelArguments};
pub(crate) use learner_options::check as check_learner_options;
pub(crate) use learning::{LabelCount, LearningArguments};
pub(crate) use other::OtherArguments;
pub(crate) use policy::PolicyArguments;
pub(crate) use prevalence::PrevalenceArguments;
pub(crate) use prior::PriorArguments;
pub(crate) use promises::{FArguments, PromiseArguments};
pub(crate) use rank::{RankArguments, RankCommand, RankEvaluateArguments, RankOutlookArguments};
pub(crate) use rank_learning::{RankFitArguments, RankPredictArguments};
pub(crate) use reading::{ReadArguments, RowArguments};
pub(crate) use recalibrate::RecalibrateArguments;
pub(crate) use results::ResultArguments;
pub(crate) use retrieval::{IndexArguments, RetrievalArguments};
pub(crate) use rules::{RulesArguments, RulesCheckArguments, RulesCommand};
pub(crate) use search::SearchArguments;
pub(crate) use spelling::SpellingArguments;
pub(crate) use split::SplitArguments;
pub(crate) use suspects::SuspectsArguments;
pub(crate) use training::TrainingArguments;

/// Classify text with probabilities that can be trusted.
#[derive(Debug, Parser)]
#[command(name = "calibrant", version, about, max_term_width = 100)]
pub(crate) struct Arguments {
    /// Threads to use (all cores by default); results do not depend on it
    #[arg(long, global = true, value_name = "N", value_parser = positive)]
    pub(crate) threads: Option<NonZeroUsize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn a calibrated classifier from a labelled file
    Fit(Box<FitArguments>),
    /// Divide a file into one to learn from and one to test on: copies, groups and the newest on one side
    Split(SplitArguments),
    /// Compute the class probabilities of every document of a file
    Predict(PredictArguments),
    /// Measure a model, or a file of probabilities, on labelled documents that it has not seen
    Evaluate(EvaluateArguments),
    /// Compare models, or files of probabilities, on one test set
    Compare(CompareArguments),
    /// Combine several models into one, weighted by how well they forecast documents that none has seen
    Combine(CombineArguments),
    /// Correct a model's probabilities by a few new labels: the answer to drift
    Recalibrate(RecalibrateArguments),
    /// Show which terms moved a document's log-odds, up and down
    Explain(ExplainArguments),
    /// Turn scores of any classifier into probabilities: no text needed
    Calibrate(Box<CalibrateArguments>),
    /// Decide which of several sources of answers (a model, a language model, a person) answers what, at least cost and with few errors
    Cascade(Box<CascadeArguments>),
    /// Check hand-written rules on labelled documents
    Rules(RulesArguments),
    /// Rank documents for queries: learn rankings, score documents, measure the results
    Rank(RankArguments),
    /// Build an index of documents, to be searched with any of eighteen retrieval functions
    Index(IndexArguments),
    /// Find the documents of an index that answer a query, or write runs and features for many queries
    Search(RetrievalArguments),
    /// Estimate how many documents of each class there really are, from labels of a random sample, or plan that sample
    Prevalence(Box<PrevalenceArguments>),
    /// List the labels of a file that are probably wrong, with the likelier label and the words for it
    Suspects(Box<SuspectsArguments>),
    /// Show what is in a model or calibrator file
    Inspect(InspectArguments),
    /// Compare stated and true probabilities on a simulated inbox: no file needed
    Demo(DemoArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    pub(crate) training: TrainingArguments,
    /// Where to write the model
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) output: PathBuf,
    /// Fit as this model was fitted: its fields, features, learner, calibration, folds and seed, where no option says otherwise
    #[arg(long, value_name = "MODEL", conflicts_with = "search")]
    pub(crate) like: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: SearchArguments,
    /// Do not store the filter of training documents (15 bits per document) by which `evaluate`, `compare` and `combine` count test documents that the model has seen
    #[arg(long)]
    pub(crate) no_training_keys: bool,
    /// Also write the labels that are probably wrong, as `calibrant suspects -o` does: .csv, .tsv, .jsonl, .parquet or .xlsx
    #[arg(long, value_name = "FILE", conflicts_with = "search")]
    pub(crate) suspects: Option<PathBuf>,
    /// Print the training summary as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PredictArguments {
    /// A model file
    pub(crate) model: PathBuf,
    /// Documents in any readable format; `-` is standard input, whose lines are answered as they come (--ask, --adapt-prior, .parquet and .xlsx need it whole)
    pub(crate) file: String,
    /// Where to write: .csv, .tsv, .jsonl, .parquet or .xlsx by its ending (CSV on standard output by default)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Only the K most probable classes per document (all by default; with --keep one, and the second is called label_2)
    #[arg(long, value_name = "K", value_parser = positive, conflicts_with = "wide")]
    pub(crate) top: Option<NonZeroUsize>,
    /// Add the learner's own score of each class, before calibration
    #[arg(long, conflicts_with_all = ["other", "wide"])]
    pub(crate) scores: bool,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    #[command(flatten)]
    pub(crate) prior: PriorArguments,
    #[command(flatten)]
    pub(crate) other: OtherArguments,
    #[command(flatten)]
    pub(crate) costs: CostArguments,
    /// Decide `ask` for the N documents (or the share, as 5%) that are most worth a person's time: those whose best answer is expected to cost most above what asking costs (without --costs: the least sure). All documents are read before the first is written
    #[arg(long, value_name = "N|SHARE%", help_heading = "Decisions")]
    pub(crate) ask: Option<AskBudget>,
    #[command(flatten)]
    pub(crate) promises: PromiseArguments,
    #[command(flatten)]
    pub(crate) f_beta: FArguments,
    #[command(flatten)]
    pub(crate) policy: PolicyArguments,
    /// JSON Lines on standard output
    #[arg(long, conflicts_with = "output")]
    pub(crate) json: bool,
}

/// How a test set is read, and what of the systems is measured on it.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    #[command(flatten)]
    pub(crate) spelling: LabelArguments,
    /// The field that says which documents belong together (a thread, a customer, an author, near-copies): they are resampled together in intervals and tests
    #[arg(long, value_name = "FIELD", help_heading = "Reading")]
    pub(crate) group: Option<String>,
    /// Measure only these classes (multi-label), or name the class columns of a file of probabilities
    #[arg(long, value_name = "CLASS,…", value_delimiter = ',')]
    pub(crate) classes: Vec<String>,
    /// The class that a single column `probability` refers to (default: the second in the order of their names)
    #[arg(long, value_name = "CLASS")]
    pub(crate) positive: Option<String>,
    /// One label per document or several, for files of probabilities (default: as a model says, else detected from the test set)
    #[arg(long, value_parser = choice::<LabelCount>())]
    pub(crate) labels: Option<LabelCount>,
}

impl TestArguments {
    /// How the test set is read; what is not named is as the model learned it.
    pub(crate) fn options(&self) -> ReadOptions {
        let fields = Fields {
            group: self.group.clone(),
            ..self.reading.fields(&Fields::default())
        };
        let options = self.reading.options(fields, LabelNeed::Required);
        self.spelling.with(options)
    }

    /// What is measured where systems may be files of probabilities.
    pub(crate) fn settings(&self) -> SystemSettings {
        SystemSettings {
            classes: self.classes.clone(),
            positive: self.positive.clone(),
            task: self.labels.map(Into::into),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArguments {
    /// A model file, or a file of probabilities as `calibrant compare` takes it
    pub(crate) model: PathBuf,
    /// Labelled documents that the model has not seen; `-` is standard input
    pub(crate) file: String,
    #[command(flatten)]
    pub(crate) test: TestArguments,
    #[command(flatten)]
    pub(crate) prior: PriorArguments,
    #[command(flatten)]
    pub(crate) costs: CostArguments,
    /// Bootstrap replicates for the 95 % intervals, resampled by document; 0 leaves them out (1000 by default, fewer for very many decisions)
    #[arg(long, value_name = "N")]
    pub(crate) bootstrap: Option<usize>,
    #[command(flatten)]
    pub(crate) other: OtherArguments,
    #[command(flatten)]
    pub(crate) promises: PromiseArguments,
    /// Neither read nor write the ledger of evaluations beside the model
    #[arg(long)]
    pub(crate) no_ledger: bool,
    /// Read no labels: say what the probabilities promise of these documents (expected accuracy and mistakes, how much can be answered, net benefit), for
    /// a model at work
    #[arg(long)]
    pub(crate) without_labels: bool,
    /// Also write a report for a browser: measures, tables and figures in one file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Leave texts and words of documents out of the report, for data that is confidential
    #[arg(long, requires = "html")]
    pub(crate) no_texts: bool,
    /// Print all measures as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Labelled documents that no system has seen; `-` is standard input
    #[arg(value_name = "TEST")]
    pub(crate) file: String,
    /// Model files, or files of probabilities (CSV, TSV, JSON Lines or Parquet): as `calibrant predict` writes them, or one row per document with a column per class, or with one column `probability` where there are two
    #[arg(value_name = "SYSTEM", required = true, num_args = 2..)]
    pub(crate) systems: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) test: TestArguments,
    #[command(flatten)]
    pub(crate) costs: CostArguments,
    /// A p-value below this counts as significant
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "P",
        default_value_t = 0.01
    )]
    pub(crate) level: f64,
    /// Bootstrap replicates for the intervals of differences; 0 leaves them out
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) bootstrap: usize,
    /// The random seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also write the comparison as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Neither read nor write the ledgers of evaluations beside the systems
    #[arg(long)]
    pub(crate) no_ledger: bool,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// A model file
    pub(crate) model: PathBuf,
    /// The text to explain (`-` reads it from standard input); or use --file and --row
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) input: Vec<String>,
    /// Take the document from this file
    #[arg(long, value_name = "FILE", requires = "row")]
    pub(crate) file: Option<String>,
    /// Which row of the file, counting from 1; rows that --where leaves out count
    #[arg(long, value_name = "N", requires = "file", value_parser = positive)]
    pub(crate) row: Option<NonZeroUsize>,
    /// Explain this class (the most probable one by default); may be repeated
    #[arg(long, value_name = "CLASS")]
    pub(crate) class: Vec<String>,
    /// How many terms to show on each side
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) terms: usize,
    #[command(flatten)]
    pub(crate) reading: ReadArguments,
    /// Print all terms as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArguments {
    /// A model, ranking or calibrator file, or the folder of an index
    pub(crate) model: PathBuf,
    /// Also show this many of the strongest terms for each class
    #[arg(long, value_name = "N")]
    pub(crate) terms: Option<usize>,
    /// Print everything as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where to write the HTML report
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "calibrant-demo.html"
    )]
    pub(crate) output: PathBuf,
    /// The random seed of the simulated messages
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) seed: u64,
    /// Print the comparison as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}
