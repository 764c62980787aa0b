//! Which measures are asked for.

use super::measure_kind::MeasureKind;
use super::{Measure, MeasureError};

/// Measures in the order in which they are shown, each once.
///
/// ```
/// use calibrant::evaluation::ranking::MeasureSet;
/// let set = MeasureSet::parse(&["ndcg", "map", "P.10"])?;
/// let names: Vec<String> = set.measures().iter().map(ToString::to_string).collect();
/// assert_eq!(names, ["map", "P.10", "ndcg"]); // trec_eval's order, not that of the request
/// # Ok::<(), calibrant::evaluation::ranking::MeasureError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MeasureSet {
    measures: Vec<Measure>,
}

impl MeasureSet {
    /// What is shown if nothing is asked for: counts, average precision, R-precision, bpref, reciprocal rank and both curves.
    pub fn official() -> Self {
        Self::of_kinds(|kind| kind <= MeasureKind::Precision)
    }

    /// Every measure.
    pub fn everything() -> Self {
        Self::of_kinds(|_| true)
    }

    /// Measures of the list as a set.
    pub fn set() -> Self {
        Self::of_kinds(|kind| {
            kind <= MeasureKind::RelevantRetrieved
                || kind == MeasureKind::Utility
                || (MeasureKind::SetPrecision..=MeasureKind::SetF).contains(&kind)
        })
    }

    /// Measures by name; `official`, `all_trec` and `set` stand for several. A measure that is named with parameters keeps them
    /// beside a name that stands for several; two sets of parameters of one measure are an error.
    pub fn parse(names: &[impl AsRef<str>]) -> Result<Self, MeasureError> {
        let mut usual: Vec<Measure> = Vec::new();
        let mut given: Vec<Measure> = Vec::new();
        for name in names {
            match name.as_ref() {
                "official" => usual.extend(Self::official().measures),
                "all_trec" => usual.extend(Self::everything().measures),
                "set" => usual.extend(Self::set().measures),
                name => {
                    let measure: Measure = name.parse()?;
                    let same = given.iter().find(|other| other.kind() == measure.kind());
                    match same {
                        None => given.push(measure),
                        Some(other) if *other == measure => {}
                        Some(other) => {
                            return Err(MeasureError::Parameters {
                                name: name.to_owned(),
                                reason: format!(
                                    "`{other}` is given too; put all parameters after one name, separated by commas"
                                ),
                            });
                        }
                    }
                }
            }
        }
        let mut measures = given;
        for measure in usual {
            if !measures.iter().any(|other| other.kind() == measure.kind()) {
                measures.push(measure);
            }
        }
        measures.sort_by_key(Measure::kind);
        Ok(Self { measures })
    }

    /// The measures.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    fn of_kinds(wanted: impl Fn(MeasureKind) -> bool) -> Self {
        let kinds = MeasureKind::all().filter(|kind| wanted(*kind));
        Self {
            measures: kinds.map(Measure::new).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measure_with_parameters_takes_the_place_of_the_usual_one() {
        let set = MeasureSet::parse(&["all_trec", "relstring.20", "all_trec"]).unwrap();
        assert_eq!(
            set.measures().len(),
            MeasureSet::everything().measures().len()
        );
        assert!(
            set.measures()
                .iter()
                .any(|measure| measure.to_string() == "relstring.20")
        );
        let error = MeasureSet::parse(&["P.5", "P.10"]).unwrap_err().to_string();
        assert!(error.contains("`P.5` is given too"), "{error}");
        assert_eq!(
            MeasureSet::parse(&["P.5", "P.5"]).unwrap().measures().len(),
            1
        );
    }
}
