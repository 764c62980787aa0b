//! Base functions as they are written: `bm25.stems:k1=0.9,b=0.4`.

use std::fmt;
use std::str::FromStr;

use super::base::{Analysis, BaseFunction};
use super::function::{Bm25Idf, ParameterError, RetrievalFunction};

/// Why a name is not a base function.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FunctionNameError {
    /// There is no such formula.
    #[error("there is no function `{0}`; choose one of {names}", names = formulas())]
    Function(String),
    /// The part behind the dot is not an analysis, or is missing.
    #[error(
        "`{0}` names no analysis; write it behind a dot: plain, stems or stems-nostop, as in bm25.stems"
    )]
    Analysis(String),
    /// The function has no such parameter.
    #[error("{function} has no parameter `{parameter}`; {known}")]
    Parameter {
        /// The function.
        function: &'static str,
        /// What was written.
        parameter: String,
        /// What it has instead.
        known: &'static str,
    },
    /// A parameter is not written as `name=number`.
    #[error("`{0}` is not a parameter; write name=number, as in bm25.stems:k1=0.9,b=0.4")]
    Number(String),
    /// A parameter is outside its range.
    #[error(transparent)]
    Range(#[from] ParameterError),
}

fn formulas() -> String {
    RetrievalFunction::ALL
        .map(|function| function.name())
        .join(", ")
}

impl FromStr for BaseFunction {
    type Err = FunctionNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name, Some(parameters)),
            None => (text, None),
        };
        // As everywhere, hyphens and underscores are one.
        let plain = name.replace('_', "-");
        let (formula, analysis) = plain.split_once('.').unwrap_or((&plain, ""));
        let mut function = RetrievalFunction::ALL
            .into_iter()
            .find(|function| function.name() == formula)
            .ok_or_else(|| FunctionNameError::Function(formula.to_owned()))?;
        let analysis = Analysis::ALL
            .into_iter()
            .find(|candidate| candidate.name() == analysis)
            .ok_or_else(|| FunctionNameError::Analysis(name.to_owned()))?;
        for parameter in parameters.into_iter().flat_map(|list| list.split(',')) {
            change(&mut function, parameter)?;
        }
        function.check()?;
        Ok(Self { function, analysis })
    }
}

/// Sets one parameter, written `name=number`.
fn change(function: &mut RetrievalFunction, written: &str) -> Result<(), FunctionNameError> {
    let wrong = || FunctionNameError::Number(written.to_owned());
    let (parameter, value) = written.split_once('=').ok_or_else(wrong)?;
    let (parameter, value) = (parameter.trim(), value.trim());
    let name = function.name();
    let unknown = |known| FunctionNameError::Parameter {
        function: name,
        parameter: parameter.to_owned(),
        known,
    };
    if let RetrievalFunction::Bm25 { idf, .. } = function
        && parameter == "idf"
    {
        *idf = match value {
            "positive" => Bm25Idf::Positive,
            "robertson" => Bm25Idf::Robertson,
            _ => return Err(unknown("idf is positive or robertson")),
        };
        return Ok(());
    }
    let number: f64 = value.parse().map_err(|_| wrong())?;
    let place = match function {
        RetrievalFunction::Cosine | RetrievalFunction::TfIdf => {
            return Err(unknown("it has none"));
        }
        RetrievalFunction::Bm25 { k1, b, k3, .. } => match parameter {
            "k1" => k1,
            "b" => b,
            "k3" => k3,
            _ => return Err(unknown("it has k1, b, k3 and idf")),
        },
        RetrievalFunction::Dirichlet { mu } if parameter == "mu" => mu,
        RetrievalFunction::Dirichlet { .. } => return Err(unknown("it has mu")),
        RetrievalFunction::JelinekMercer { lambda } if parameter == "lambda" => lambda,
        RetrievalFunction::JelinekMercer { .. } => return Err(unknown("it has lambda")),
        RetrievalFunction::AbsoluteDiscount { delta } if parameter == "delta" => delta,
        RetrievalFunction::AbsoluteDiscount { .. } => return Err(unknown("it has delta")),
    };
    *place = number;
    Ok(())
}

impl fmt::Display for BaseFunction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.function.name(), self.analysis)?;
        let mut changed: Vec<String> = Vec::new();
        let mut number = |name: &str, value: f64, default: f64| {
            if value.to_bits() != default.to_bits() {
                changed.push(format!("{name}={value}"));
            }
        };
        match (self.function, default_of(&self.function)) {
            (
                RetrievalFunction::Bm25 { k1, b, k3, idf },
                RetrievalFunction::Bm25 {
                    k1: default_k1,
                    b: default_b,
                    k3: default_k3,
                    idf: default_idf,
                },
            ) => {
                number("k1", k1, default_k1);
                number("b", b, default_b);
                number("k3", k3, default_k3);
                if idf != default_idf {
                    changed.push("idf=robertson".to_owned());
                }
            }
            (RetrievalFunction::Dirichlet { mu }, RetrievalFunction::Dirichlet { mu: default }) => {
                number("mu", mu, default);
            }
            (
                RetrievalFunction::JelinekMercer { lambda },
                RetrievalFunction::JelinekMercer { lambda: default },
            ) => number("lambda", lambda, default),
            (
                RetrievalFunction::AbsoluteDiscount { delta },
                RetrievalFunction::AbsoluteDiscount { delta: default },
            ) => number("delta", delta, default),
            _ => {}
        }
        if changed.is_empty() {
            return Ok(());
        }
        write!(formatter, ":{}", changed.join(","))
    }
}

/// The same formula with its default parameters.
fn default_of(function: &RetrievalFunction) -> RetrievalFunction {
    RetrievalFunction::ALL
        .into_iter()
        .find(|candidate| candidate.name() == function.name())
        .unwrap_or(*function)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_function_is_read_back_from_its_name() {
        let names: Vec<String> = BaseFunction::every()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(names.len(), 18);
        assert_eq!(names[0], "cosine.plain");
        assert_eq!(names[8], "bm25.stems-nostop");
        for (name, function) in names.iter().zip(BaseFunction::every()) {
            assert_eq!(name.parse::<BaseFunction>().unwrap(), function);
        }
    }

    #[test]
    fn hyphens_and_underscores_are_one() {
        for (one, other) in [
            ("tf_idf.stems", "tf-idf.stems"),
            (
                "jelinek_mercer.stems_nostop:lambda=0.25",
                "jelinek-mercer.stems-nostop:lambda=0.25",
            ),
        ] {
            let function: BaseFunction = one.parse().unwrap();
            assert_eq!(function, other.parse().unwrap());
            assert_eq!(function.to_string(), other);
        }
    }

    #[test]
    fn wrong_names_say_what_there_is() {
        for (name, piece) in [
            ("okapi.stems", "cosine, tf-idf, bm25"),
            ("bm25", "stems-nostop"),
            ("bm25.stem", "stems-nostop"),
            ("bm25.stems:mu=3", "k1, b, k3 and idf"),
            ("bm25.stems:idf=x", "positive or robertson"),
            ("bm25.stems:k1", "name=number"),
            ("bm25.stems:", "name=number"),
            ("bm25.stems:k1=fast", "name=number"),
            ("bm25.stems:b=2", "from 0 to 1"),
            ("dirichlet.plain:mu=NaN", "above 0"),
            ("cosine.plain:k1=1", "it has none"),
            ("", "there is no function"),
        ] {
            let error = name.parse::<BaseFunction>().unwrap_err().to_string();
            assert!(error.contains(piece), "{name}: {error}");
        }
    }

    proptest! {
        #[test]
        fn changed_parameters_are_read_back(k1 in 0.0..9.0, b in 0.0..=1.0, mu in 1e-3..1e6) {
            let bm25 = RetrievalFunction::Bm25 { k1, b, k3: 7.0, idf: Bm25Idf::Robertson };
            for function in [bm25, RetrievalFunction::Dirichlet { mu }] {
                let base = BaseFunction { function, analysis: Analysis::StemsNoStop };
                prop_assert_eq!(base.to_string().parse::<BaseFunction>().unwrap(), base);
            }
        }

        #[test]
        fn any_text_is_a_function_or_an_error(text in ".{0,40}") {
            let _ = text.parse::<BaseFunction>();
        }
    }
}
