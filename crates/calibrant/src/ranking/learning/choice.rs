//! A setting that is given, or left to be chosen.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A setting that is given, or left to be chosen on held-out queries. Written `auto`, or as the value itself.
///
/// ```
/// use calibrant::ranking::learning::Choice;
/// assert_eq!("auto".parse(), Ok(Choice::<usize>::Auto));
/// assert_eq!("10".parse(), Ok(Choice::Given(10)));
/// assert_eq!(serde_json::from_str::<Choice<usize>>("\"auto\"")?, Choice::Auto);
/// assert_eq!(serde_json::to_string(&Choice::Given(10))?, "10");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Choice<T> {
    /// Chosen on held-out queries.
    #[default]
    Auto,
    /// This one.
    Given(T),
}

/// How the open setting is written.
const AUTO: &str = "auto";

impl<T> Choice<T> {
    /// Whether it is left to be chosen.
    pub fn is_auto(&self) -> bool {
        matches!(self, Self::Auto)
    }

    /// The value, where one is given.
    pub fn given(self) -> Option<T> {
        match self {
            Self::Auto => None,
            Self::Given(value) => Some(value),
        }
    }
}

impl<T: FromStr> FromStr for Choice<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            AUTO => Ok(Self::Auto),
            value => value.parse().map(Self::Given),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Choice<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => formatter.write_str(AUTO),
            Self::Given(value) => value.fmt(formatter),
        }
    }
}

impl<T: Serialize> Serialize for Choice<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str(AUTO),
            Self::Given(value) => value.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Choice<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        enum Word {
            #[serde(rename = "auto")]
            Auto,
        }
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "`auto` or a value is needed")]
        enum Written<T> {
            Word(Word),
            Value(T),
        }
        Ok(match Written::deserialize(deserializer)? {
            Written::Word(Word::Auto) => Self::Auto,
            Written::Value(value) => Self::Given(value),
        })
    }
}
