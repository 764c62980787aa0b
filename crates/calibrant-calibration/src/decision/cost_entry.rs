//! A cost as people write it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One cost as people write it: the names of a truth and of an action, and what that costs.
///
/// `*` as an action stands for every wrong class, as a truth for every truth (for which the action, if it is a class, is wrong).
/// With several labels per document truths are `yes` and `no`, or `sports:yes` for one label alone.
///
/// ```
/// use calibrant_calibration::decision::CostEntry;
/// let refund = CostEntry::new("*", "refund", 50.0);
/// let read: CostEntry = serde_json::from_str(r#"{"truth": "*", "decision": "refund", "cost": 50}"#)?;
/// assert_eq!(read, refund);
/// assert_eq!(refund.to_string(), "*,refund,50");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostEntry {
    /// What is true.
    pub truth: String,
    /// What is done.
    #[serde(alias = "action")]
    pub decision: String,
    /// What that costs.
    pub cost: CostAmount,
    /// Where it is written, for messages; empty where nobody knows.
    #[serde(skip)]
    pub place: String,
}

/// An amount: a number, or a multiple of a number that every document has in a field of its own. Written `20`, `@amount`,
/// `0.5*@amount`; in JSON as a number or such a text.
///
/// ```
/// use calibrant_calibration::decision::CostAmount;
/// let half: CostAmount = "0.5*@amount".parse()?;
/// assert_eq!(half, CostAmount::OfField { factor: 0.5, field: "amount".into() });
/// assert!("amount".parse::<CostAmount>().is_err());
/// # Ok::<(), calibrant_calibration::decision::AmountError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "WrittenAmount", try_from = "WrittenAmount")]
pub enum CostAmount {
    /// The same for every document.
    Fixed(f64),
    /// So many times what the document has in a field.
    OfField {
        /// How many times.
        factor: f64,
        /// The field.
        field: String,
    },
}

/// What is not an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number, nor @FIELD or NUMBER*@FIELD")]
pub struct AmountError(pub String);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenAmount {
    Number(f64),
    Text(String),
}

impl CostEntry {
    /// Not written anywhere.
    pub fn new(
        truth: impl Into<String>,
        decision: impl Into<String>,
        cost: impl Into<CostAmount>,
    ) -> Self {
        Self {
            truth: truth.into(),
            decision: decision.into(),
            cost: cost.into(),
            place: String::new(),
        }
    }

    /// Written there.
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = place.into();
        self
    }
}

impl fmt::Display for CostEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{},{},{}", self.truth, self.decision, self.cost)
    }
}

impl fmt::Display for CostAmount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(cost) => write!(formatter, "{cost}"),
            Self::OfField { factor, field } if *factor == 1.0 => write!(formatter, "@{field}"),
            Self::OfField { factor, field } => write!(formatter, "{factor}*@{field}"),
        }
    }
}

impl FromStr for CostAmount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        let wrong = || AmountError(text.to_owned());
        let Some((factor, field)) = text.split_once('@') else {
            return Ok(Self::Fixed(text.trim().parse().map_err(|_| wrong())?));
        };
        let factor = match factor.trim() {
            "" => 1.0,
            "-" => -1.0,
            written => {
                let number = written.strip_suffix('*').ok_or_else(wrong)?;
                number.trim().parse().map_err(|_| wrong())?
            }
        };
        match field.trim() {
            "" => Err(wrong()),
            field => Ok(Self::OfField {
                factor,
                field: field.to_owned(),
            }),
        }
    }
}

impl From<f64> for CostAmount {
    fn from(cost: f64) -> Self {
        Self::Fixed(cost)
    }
}

impl From<CostAmount> for WrittenAmount {
    fn from(amount: CostAmount) -> Self {
        match amount {
            CostAmount::Fixed(cost) => Self::Number(cost),
            of_field => Self::Text(of_field.to_string()),
        }
    }
}

impl TryFrom<WrittenAmount> for CostAmount {
    type Error = AmountError;

    fn try_from(written: WrittenAmount) -> Result<Self, AmountError> {
        match written {
            WrittenAmount::Number(cost) => Ok(Self::Fixed(cost)),
            WrittenAmount::Text(text) => text.parse(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (text, factor, field) in [
            ("@amount", 1.0, "amount"),
            ("-@amount", -1.0, "amount"),
            (" 0.25 * @ order value ", 0.25, "order value"),
            ("-2*@a@b", -2.0, "a@b"),
        ] {
            let amount: CostAmount = text.parse().unwrap();
            let field = field.to_owned();
            assert_eq!(amount, CostAmount::OfField { factor, field }, "{text}");
            assert_eq!(amount.to_string().parse(), Ok(amount.clone()), "{text}");
            let json = serde_json::to_string(&amount).unwrap();
            assert_eq!(serde_json::from_str::<CostAmount>(&json).unwrap(), amount);
        }
        assert_eq!("-1e3".parse(), Ok(CostAmount::Fixed(-1000.0)));
        for wrong in [
            "",
            "much",
            "2@amount",
            "*@amount",
            "2*@",
            "@",
            "two*@amount",
        ] {
            let error = wrong.parse::<CostAmount>().unwrap_err();
            assert_eq!(error, AmountError(wrong.to_owned()));
        }
    }
}
