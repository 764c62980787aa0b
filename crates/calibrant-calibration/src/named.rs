//! Closed sets of choices that name themselves once, so that every front end takes the same words.

use std::fmt;

/// A member of a closed set: it has one word, which programs, files and people use alike, and one sentence of help.
///
/// Written by [`named!`](crate::named), together with `ALL`, `name`, `help`, `Display` and `FromStr` of the set.
///
/// ```
/// use calibrant_calibration::{Named, calibration::CalibratorKind};
/// let platt: CalibratorKind = "platt".parse()?;
/// assert_eq!(platt.name(), "platt");
/// assert!(CalibratorKind::members().contains(&platt));
/// // Hyphens and underscores are one.
/// assert_eq!("three-piece".parse(), Ok(CalibratorKind::ThreePiece));
/// let unknown = "guess".parse::<CalibratorKind>().unwrap_err();
/// assert!(unknown.to_string().starts_with("`guess` is not a calibration method; it must be one of auto, "));
/// # Ok::<(), calibrant_calibration::UnknownName>(())
/// ```
pub trait Named: Copy + PartialEq + Sized + Send + Sync + 'static {
    /// What a member is called in messages, with its article: `a calibration method`.
    const WHAT: &'static str;
    /// Every member that can be asked for, in the order that help texts list them.
    fn members() -> &'static [Self];
    /// Its word.
    fn word(self) -> &'static str;
    /// Words of other times or fields that mean the same.
    fn other_words(self) -> &'static [&'static str];
    /// One sentence that says what it is.
    fn sentence(self) -> &'static str;

    /// The member of this name: hyphens and underscores are one, and so are small and capital letters.
    fn from_word(word: &str) -> Result<Self, UnknownName> {
        let plain = word.replace('-', "_");
        let same = |other: &str| other.replace('-', "_").eq_ignore_ascii_case(&plain);
        let found = Self::members().iter().find(|member| {
            same(member.word()) || member.other_words().iter().any(|word| same(word))
        });
        found.copied().ok_or_else(|| UnknownName {
            name: word.to_owned(),
            what: Self::WHAT,
            known: Self::members().iter().map(|member| member.word()).collect(),
        })
    }
}

/// A word that names no member of a closed set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The word.
    pub name: String,
    /// What it should have named, with its article.
    pub what: &'static str,
    /// The words that there are.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, what, known) = (&self.name, self.what, self.known.join(", "));
        write!(
            formatter,
            "`{name}` is not {what}; it must be one of {known}"
        )
    }
}

impl std::error::Error for UnknownName {}

/// Names the members of a closed set, each with one word (and others that mean the same) and one sentence of help:
/// gives it `ALL`, `name`, `help`, [`Display`](std::fmt::Display), [`FromStr`](std::str::FromStr) and [`Named`].
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq)]
/// pub enum Colour { Red, Grey { share: f64 } }
/// calibrant_calibration::named! {
///     Colour, "a colour";
///     Red = "red", "As roses are";
///     Grey { share: 0.5 } = "grey" | "gray", "Between black and white";
/// }
/// assert_eq!(Colour::ALL.map(Colour::name), ["red", "grey"]);
/// assert_eq!("gray".parse(), Ok(Colour::Grey { share: 0.5 }));
/// ```
#[macro_export]
macro_rules! named {
    (
        $set:ident, $what:literal;
        $($member:ident $({ $($field:ident : $value:expr),+ })? = $name:literal $(| $other:literal)*, $help:literal;)+
        $(; unlisted $($hidden:ident = $hidden_name:literal, $hidden_help:literal;)+)?
    ) => {
        impl $set {
            /// Every member that can be asked for, in the order that help texts list them.
            pub const ALL: [Self; <[&str]>::len(&[$($name),+])] =
                [$(Self::$member $({ $($field: $value),+ })?),+];

            /// Its word in programs, files and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$member $({ $($field: _),+ })? => $name,)+
                    $($(Self::$hidden => $hidden_name,)+)?
                }
            }

            /// One sentence that says what it is.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$member $({ $($field: _),+ })? => $help,)+
                    $($(Self::$hidden => $hidden_help,)+)?
                }
            }
        }

        impl $crate::Named for $set {
            const WHAT: &'static str = $what;

            fn members() -> &'static [Self] {
                &Self::ALL
            }

            fn word(self) -> &'static str {
                self.name()
            }

            #[allow(unreachable_patterns, reason = "sets without other members have none left")]
            fn other_words(self) -> &'static [&'static str] {
                match self {
                    $(Self::$member $({ $($field: _),+ })? => &[$($other),*],)+
                    _ => &[],
                }
            }

            fn sentence(self) -> &'static str {
                self.help()
            }
        }

        impl ::std::fmt::Display for $set {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                formatter.pad((*self).name())
            }
        }

        impl ::std::str::FromStr for $set {
            type Err = $crate::UnknownName;

            fn from_str(word: &str) -> Result<Self, $crate::UnknownName> {
                <Self as $crate::Named>::from_word(word)
            }
        }
    };
}
