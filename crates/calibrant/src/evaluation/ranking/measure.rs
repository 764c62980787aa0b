//! Measures by the names that trec_eval gave them.

use std::fmt;
use std::str::FromStr;

use super::measure_kind::{MeasureKind, Takes};
use super::{Gains, JudgedList};

/// A measure with its parameters, such as `map`, `P.5,10` or `ndcg.1=3,2=9`.
///
/// A name may be followed by a point and parameters with commas between: cuts (`P.5,10`), shares (`iprec_at_recall.0.5`), gains of grades
/// (`ndcg.1=3`) or prices (`utility.2,-1,0,0`). Without, the usual ones are taken. A measure with several cuts gives one value for each.
///
/// ```
/// use calibrant::evaluation::ranking::{JudgedList, Mark, Measure};
/// let measure: Measure = "P.2,1".parse()?;
/// assert_eq!(measure.names(), ["P_1", "P_2"]); // cuts rise
/// let list = JudgedList::new(vec![Mark::Grade(0), Mark::Grade(1)], &[0, 1], 1);
/// assert_eq!(measure.numbers(&list, 0), [0.0, 0.5]);
/// assert!("P.0".parse::<Measure>().is_err());
/// # Ok::<(), calibrant::evaluation::ranking::MeasureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Measure {
    kind: MeasureKind,
    parameters: Parameters,
    /// As they were written; empty where the usual ones are taken.
    written: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Parameters {
    None,
    Cuts(Vec<usize>),
    Shares(Vec<f64>),
    Numbers(Vec<f64>),
    Gains(Gains),
}

/// Why a name is not that of a measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// There is no such measure.
    #[error(
        "there is no measure `{name}`; the measures are {}",
        MeasureKind::list()
    )]
    Unknown {
        /// The name.
        name: String,
    },
    /// The parameters make no sense.
    #[error("measure `{name}`: {reason}")]
    Parameters {
        /// The name as given.
        name: String,
        /// What is wrong.
        reason: String,
    },
}

impl Measure {
    /// The measure with its usual parameters.
    pub fn new(kind: MeasureKind) -> Self {
        let parameters = match kind.takes() {
            Takes::Nothing => Parameters::None,
            Takes::Cuts(usual) => Parameters::Cuts(usual.to_vec()),
            Takes::Shares(usual) => Parameters::Shares(usual.to_vec()),
            Takes::Numbers(usual) => Parameters::Numbers(usual.to_vec()),
            Takes::Gains => Parameters::Gains(Gains::default()),
        };
        Self {
            kind,
            parameters,
            written: String::new(),
        }
    }

    /// What is measured, whatever the parameters.
    pub fn kind(&self) -> MeasureKind {
        self.kind
    }

    /// The names of its values.
    pub fn names(&self) -> Vec<String> {
        let name = self.kind.name();
        match &self.parameters {
            Parameters::Cuts(cuts) => cuts.iter().map(|cut| format!("{name}_{cut}")).collect(),
            Parameters::Shares(shares) => {
                let named = shares.iter().map(|share| format!("{name}_{share:.2}"));
                named.collect()
            }
            _ if self.written.is_empty() => vec![name.to_owned()],
            _ => vec![format!("{name}_{}", self.written)],
        }
    }

    /// Its values for one list, one for each of [`Measure::names`]. What only has a value over all queries (`num_q`) gives 1, and what
    /// is text ([`Measure::text`]) 0. `collection_size` is needed by `utility` with a fourth price alone.
    pub fn numbers(&self, list: &JudgedList, collection_size: u64) -> Vec<f64> {
        match &self.parameters {
            Parameters::Cuts(cuts) => cuts.iter().map(|&cut| self.at_cut(list, cut)).collect(),
            Parameters::Shares(shares) => shares
                .iter()
                .map(|&share| match self.kind {
                    MeasureKind::RprecMultiples => list.r_precision_multiple(share),
                    _ => list.interpolated_precision(share),
                })
                .collect(),
            Parameters::Gains(gains) => vec![match self.kind {
                MeasureKind::NormalisedGain => list.normalised_gain(gains),
                MeasureKind::NdcgAtRelevant => list.ndcg_at_relevant(gains),
                MeasureKind::NdcgAtLevels => list.ndcg_at_levels(gains),
                _ => list.ndcg(gains),
            }],
            Parameters::Numbers(numbers) => vec![match self.kind {
                MeasureKind::ElevenPoints => list.mean_interpolated_precision(numbers),
                MeasureKind::SetF => list.set_f(numbers.first().copied().unwrap_or(1.0)),
                MeasureKind::Utility => list.utility(four(numbers), collection_size),
                _ => 0.0,
            }],
            Parameters::None => vec![self.plain(list)],
        }
    }

    /// For `relstring`, the grades of the first documents as characters: a digit is a grade, `>` one above 9, `-` a document without
    /// a line and `.` one with a grade below 0.
    pub fn text(&self, list: &JudgedList) -> String {
        let most = match &self.parameters {
            Parameters::Numbers(numbers) => numbers.first().copied().unwrap_or(0.0) as usize,
            _ => 0,
        };
        let marks = list.marks().iter().take(most);
        marks
            .map(|mark| match mark {
                super::Mark::Unknown => '-',
                super::Mark::NotJudged => '.',
                super::Mark::Grade(grade) => u32::try_from(*grade)
                    .ok()
                    .and_then(|grade| char::from_digit(grade, 10))
                    .unwrap_or('>'),
            })
            .collect()
    }

    /// Whether the value depends on the size of the collection, which the files do not hold.
    pub fn needs_collection_size(&self) -> bool {
        match (&self.parameters, self.kind) {
            (Parameters::Numbers(numbers), MeasureKind::Utility) => four(numbers)[3] != 0.0,
            _ => false,
        }
    }

    fn at_cut(&self, list: &JudgedList, cut: usize) -> f64 {
        match self.kind {
            MeasureKind::Precision => list.precision(cut),
            MeasureKind::Recall => list.recall(cut),
            MeasureKind::NdcgCut => list.ndcg_cut(cut),
            MeasureKind::MapCut => list.average_precision_up_to(cut),
            MeasureKind::RelativePrecision => list.relative_precision(cut),
            MeasureKind::Success => list.success(cut),
            _ => list.unjudged(cut),
        }
    }

    fn plain(&self, list: &JudgedList) -> f64 {
        match self.kind {
            MeasureKind::QueryCount => 1.0,
            MeasureKind::Retrieved => list.retrieved() as f64,
            MeasureKind::Relevant => list.relevant() as f64,
            MeasureKind::RelevantRetrieved => list.relevant_retrieved() as f64,
            MeasureKind::NotRelevantRetrieved => list.judged_not_relevant_retrieved() as f64,
            MeasureKind::Map | MeasureKind::GeometricMap => list.average_precision(),
            MeasureKind::Rprec => list.r_precision(),
            MeasureKind::Bpref | MeasureKind::GeometricBpref => list.bpref(),
            MeasureKind::ReciprocalRank => list.reciprocal_rank(),
            MeasureKind::InferredAp => list.inferred_average_precision(),
            MeasureKind::BinaryNormalisedGain => list.binary_normalised_gain(),
            MeasureKind::SetPrecision => list.set_precision(),
            MeasureKind::SetRelativePrecision => list.set_relative_precision(),
            MeasureKind::SetRecall => list.set_recall(),
            MeasureKind::SetMap => list.set_average_precision(),
            _ => 0.0,
        }
    }
}

fn four(numbers: &[f64]) -> [f64; 4] {
    std::array::from_fn(|place| numbers.get(place).copied().unwrap_or(0.0))
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.written.as_str() {
            "" => f.write_str(self.kind.name()),
            written => write!(f, "{}.{written}", self.kind.name()),
        }
    }
}

impl FromStr for Measure {
    type Err = MeasureError;

    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let (name, written) = match text.split_once('.') {
            Some((name, written)) => (name, Some(written)),
            None => (text, None),
        };
        let Some(kind) = MeasureKind::from_name(name) else {
            return Err(MeasureError::Unknown {
                name: name.to_owned(),
            });
        };
        let Some(written) = written else {
            return Ok(Self::new(kind));
        };
        let problem = |reason: String| MeasureError::Parameters {
            name: text.to_owned(),
            reason,
        };
        let parameters = match kind.takes() {
            Takes::Nothing => return Err(problem("takes no parameters".to_owned())),
            Takes::Cuts(_) => Parameters::Cuts(cuts(written).map_err(problem)?),
            Takes::Shares(_) => {
                let mut shares = numbers(written).map_err(problem)?;
                if let Some(share) = shares.iter().find(|share| !(0.0..=1e6).contains(*share)) {
                    return Err(problem(format!("{share} is not a non-negative share")));
                }
                shares.sort_by(f64::total_cmp);
                distinct(&shares).map_err(problem)?;
                Parameters::Shares(shares)
            }
            Takes::Numbers(usual) => {
                let given = numbers(written).map_err(problem)?;
                if kind != MeasureKind::ElevenPoints && given.len() != usual.len() {
                    return Err(problem(format!(
                        "takes {} numbers separated by commas, but {} were given",
                        usual.len(),
                        given.len()
                    )));
                }
                Parameters::Numbers(given)
            }
            Takes::Gains => Parameters::Gains(gains(written).map_err(problem)?),
        };
        Ok(Self {
            kind,
            parameters,
            written: written.to_owned(),
        })
    }
}

fn numbers(written: &str) -> Result<Vec<f64>, String> {
    let number = |word: &str| {
        let value = word.trim().parse::<f64>().ok();
        value
            .filter(|value| value.is_finite())
            .ok_or_else(|| format!("`{word}` is not a number"))
    };
    written.split(',').map(number).collect()
}

/// Cuts are whole numbers from 1, rising; what comes after a decimal point is dropped, as trec_eval does.
fn cuts(written: &str) -> Result<Vec<usize>, String> {
    const LARGEST: f64 = 1e15;
    let mut cuts = Vec::new();
    for number in numbers(written)? {
        if !(1.0..=LARGEST).contains(&number) {
            return Err(format!("{number} is not a positive number of documents"));
        }
        cuts.push(number as usize);
    }
    cuts.sort_unstable();
    distinct(&cuts)?;
    Ok(cuts)
}

fn gains(written: &str) -> Result<Gains, String> {
    let mut set: Vec<(i32, f64)> = Vec::new();
    for pair in written.split(',') {
        let parsed = pair.split_once('=').and_then(|(grade, gain)| {
            let grade = grade.trim().parse::<i32>().ok()?;
            let gain = gain
                .trim()
                .parse::<f64>()
                .ok()
                .filter(|gain| gain.is_finite())?;
            Some((grade, gain))
        });
        let Some((grade, gain)) = parsed else {
            return Err(format!("`{pair}` is not of the form grade=gain"));
        };
        if set.iter().any(|(other, _)| *other == grade) {
            return Err(format!("grade {grade} is given twice"));
        }
        set.push((grade, gain));
    }
    Ok(Gains::new(&set))
}

fn distinct<T: PartialEq + fmt::Display>(sorted: &[T]) -> Result<(), String> {
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("{} is given twice", pair[0])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_trec_eval() {
        for (written, names) in [
            ("map", &["map"][..]),
            ("P.5,7,3", &["P_3", "P_5", "P_7"]),
            ("ndcg_cut.23.4", &["ndcg_cut_23"]),
            (
                "iprec_at_recall..10,.25",
                &["iprec_at_recall_0.10", "iprec_at_recall_0.25"],
            ),
            ("utility.2,-1,0,0", &["utility_2,-1,0,0"]),
            ("11pt_avg..25,.5,.75", &["11pt_avg_.25,.5,.75"]),
            ("ndcg.1=3,2=9,4=4.5", &["ndcg_1=3,2=9,4=4.5"]),
            ("relstring.20", &["relstring_20"]),
            ("set_F.0.5", &["set_F_0.5"]),
        ] {
            let measure: Measure = written.parse().unwrap();
            assert_eq!(measure.names(), names);
            assert_eq!(measure.to_string(), written);
        }
    }

    #[test]
    fn parameters_that_make_no_sense_are_named() {
        for (written, expected) in [
            (
                "mapp",
                "there is no measure `mapp`; the measures are runid, num_q,",
            ),
            ("map.5", "measure `map.5`: takes no parameters"),
            ("P.", "measure `P.`: `` is not a number"),
            ("P.5,x", "`x` is not a number"),
            ("P.0", "0 is not a positive number of documents"),
            ("P.1e300", "is not a positive number of documents"),
            ("P.5,5.5", "5 is given twice"),
            ("iprec_at_recall.-1", "-1 is not a non-negative share"),
            ("ndcg.1", "`1` is not of the form grade=gain"),
            ("ndcg.1=1,1=2", "grade 1 is given twice"),
            (
                "utility.1,2",
                "takes 4 numbers separated by commas, but 2 were given",
            ),
        ] {
            let error = written.parse::<Measure>().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
