//! Sizes, durations and rates as text: "4KiB", "25us", "40MB/s".
//!
//! A text is parsed exactly or refused: the value must be a whole number of bytes, nanoseconds or
//! bytes per second. A value is printed in the unit that gives the smallest whole number.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Unit names, each with the value of one unit.
type Scale = [(&'static str, u64)];

const SIZES: &Scale = &[
    ("B", 1),
    ("KB", 1_000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

const DURATIONS: &Scale = &[("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Durations of real time, such as between the requests of a trace.
const SPANS: &Scale = &[
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

const RATES: &Scale = &[
    ("B/s", 1),
    ("KB/s", 1_000),
    ("KiB/s", 1 << 10),
    ("MB/s", 1_000_000),
    ("MiB/s", 1 << 20),
    ("GB/s", 1_000_000_000),
    ("GiB/s", 1 << 30),
];

const COUNTS: &Scale = &[
    ("", 1),
    ("k", 1_000),
    ("Ki", 1 << 10),
    ("M", 1_000_000),
    ("Mi", 1 << 20),
    ("G", 1_000_000_000),
    ("Gi", 1 << 30),
];

/// Error of a text that is not a quantity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnitError(String);

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnitError {}

/// A number of bytes. Written "4KiB"; units B, KB, KiB, MB, MiB, GB, GiB, TB, TiB; no unit: bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "SizeText", into = "String")]
pub struct Size(pub u64);

/// A duration in nanoseconds. Written "25us"; units ns, us, ms, s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Time(pub u64);

/// Durations in nanoseconds, one or more. Written "25us", or ["25us", "40us"].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "OneOrMore<Time>", into = "OneOrMore<Time>")]
pub struct Times(pub Vec<Time>);

/// Numbers of bytes, one or more. Written "64MiB", or ["64MiB", "16MiB"].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "OneOrMore<Size>", into = "OneOrMore<Size>")]
pub struct Sizes(pub Vec<Size>);

/// Text forms of [`Times`] and [`Sizes`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    fn into_list(self) -> Vec<T> {
        match self {
            Self::One(value) => vec![value],
            Self::More(values) => values,
        }
    }

    fn from_list(mut values: Vec<T>) -> Self {
        match values.pop() {
            Some(value) if values.is_empty() => Self::One(value),
            last => {
                values.extend(last);
                Self::More(values)
            }
        }
    }
}

impl From<OneOrMore<Time>> for Times {
    fn from(written: OneOrMore<Time>) -> Self {
        Self(written.into_list())
    }
}

impl From<Times> for OneOrMore<Time> {
    fn from(times: Times) -> Self {
        Self::from_list(times.0)
    }
}

impl From<OneOrMore<Size>> for Sizes {
    fn from(written: OneOrMore<Size>) -> Self {
        Self(written.into_list())
    }
}

impl From<Sizes> for OneOrMore<Size> {
    fn from(sizes: Sizes) -> Self {
        Self::from_list(sizes.0)
    }
}

impl Times {
    /// Returns one time that applies to all types.
    pub fn one(ns: u64) -> Self {
        Self(vec![Time(ns)])
    }

    /// Returns the times of `N` types in nanoseconds. If there are fewer times, they repeat.
    pub fn by_type<const N: usize>(&self) -> [u64; N] {
        std::array::from_fn(|at| self.0[at % self.0.len()].0)
    }

    /// Returns the mean in nanoseconds, rounded down.
    pub fn mean(&self) -> u64 {
        self.0.iter().map(|time| time.0).sum::<u64>() / (self.0.len() as u64).max(1)
    }
}

/// A transfer rate in bytes per second, or none: then transfers take no time. Written "40MB/s" or
/// "none"; units B/s, KB/s, KiB/s, MB/s, MiB/s, GB/s, GiB/s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate(pub Option<NonZeroU64>);

impl Size {
    /// Parses "4KiB", "1.5GiB" or "4096".
    ///
    /// # Errors
    /// The text is not a whole number of bytes below 2^64.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let bare = text.trim().bytes().all(|b| b.is_ascii_digit());
        let bare = bare.then(|| text.trim().parse().ok()).flatten();
        let bytes = bare
            .or_else(|| quantity(text, SIZES))
            .ok_or_else(|| UnitError(format!("expected a size such as \"4KiB\", not {text:?}")))?;
        Ok(Self(bytes))
    }

    /// Parses "4KiB" or "1.5GiB", and "0". Refuses any other number without a unit, as for a
    /// duration: a bare 64 may be meant in GiB as well as in bytes.
    ///
    /// # Errors
    /// The text has no unit, or is not a whole number of bytes below 2^64.
    pub fn parse_with_unit(text: &str) -> Result<Self, UnitError> {
        let bytes = quantity(text, SIZES).or((text.trim() == "0").then_some(0));
        let bytes = bytes.ok_or_else(|| {
            UnitError(format!("expected a size with a unit, such as \"4KiB\", not {text:?}"))
        })?;
        Ok(Self(bytes))
    }
}

impl Time {
    /// Parses "25us" or "1.5ms".
    ///
    /// # Errors
    /// The text is not a whole number of nanoseconds below 2^64, or has no unit.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let ns = quantity(text, DURATIONS).ok_or_else(|| {
            UnitError(format!("expected a duration such as \"25us\", not {text:?}"))
        })?;
        Ok(Self(ns))
    }
}

impl Rate {
    /// Parses "40MB/s" or "none".
    ///
    /// # Errors
    /// The text is not a whole number of bytes per second, from 1 to below 2^64, nor "none".
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "none" {
            return Ok(Self(None));
        }
        let rate = quantity(text, RATES).and_then(NonZeroU64::new).ok_or_else(|| {
            UnitError(format!("expected a rate such as \"40MB/s\", or \"none\", not {text:?}"))
        })?;
        Ok(Self(Some(rate)))
    }

    /// Returns the nanoseconds of a transfer of `bytes`, rounded up: it ends with the last byte.
    pub fn transfer_ns(self, bytes: u64) -> u64 {
        let Some(rate) = self.0 else { return 0 };
        let ns = (u128::from(bytes) * 1_000_000_000).div_ceil(u128::from(rate.get()));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// Parses a count such as "10M", "64Ki" or "1.5k": k, M, G are decimal, Ki, Mi, Gi binary.
///
/// # Errors
/// The text is not a whole number below 2^64.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    quantity(text, COUNTS)
        .ok_or_else(|| UnitError(format!("expected a count such as 10M or 64Ki, not {text:?}")))
}

/// Returns the nanoseconds of a duration of real time such as "90s", "1.5h" or "2d"; units ns, us,
/// ms, s, min, h, d. Returns None for any other text, or if the value is not a whole number of
/// nanoseconds below 2^64.
pub fn parse_span(text: &str) -> Option<u64> {
    quantity(text, SPANS)
}

/// Returns the value of a config's key as a number: bytes of a size, seconds of a duration, bytes
/// per second of a rate, the share of a percentage, or a plain number. Returns None for any other
/// text.
pub fn parse_number(text: &str) -> Option<f64> {
    let plain = |text: &str| {
        let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        is_plain.then(|| text.parse::<f64>().ok()).flatten()
    };
    let text = text.trim();
    let size = Size::parse(text).ok().map(|size| size.0 as f64);
    size.or_else(|| plain(text))
        .or_else(|| quantity(text, DURATIONS).map(|ns| ns as f64 / 1e9))
        .or_else(|| quantity(text, RATES).map(|rate| rate as f64))
        .or_else(|| plain(text.strip_suffix('%')?.trim_end()).map(|percent| percent / 100.0))
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, SIZES)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, self.0, DURATIONS)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(rate) => print(f, rate.get(), RATES),
            None => f.write_str("none"),
        }
    }
}

/// Size in a config: text, or a plain number of bytes.
#[derive(Deserialize)]
#[serde(untagged)]
enum SizeText {
    Bytes(u64),
    Text(String),
}

impl TryFrom<SizeText> for Size {
    type Error = UnitError;

    fn try_from(raw: SizeText) -> Result<Self, UnitError> {
        match raw {
            SizeText::Bytes(bytes) => Ok(Self(bytes)),
            SizeText::Text(text) => Self::parse(&text),
        }
    }
}

impl TryFrom<String> for Time {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        Self::parse(&text)
    }
}

impl TryFrom<String> for Rate {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        Self::parse(&text)
    }
}

macro_rules! text_form {
    ($Type:ident, $format:literal, $kind:tt, $pattern:literal) => {
        impl From<$Type> for String {
            fn from(value: $Type) -> Self {
                value.to_string()
            }
        }

        impl JsonSchema for $Type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($Type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $kind, "format": $format, "pattern": $pattern })
            }
        }
    };
}

text_form!(Size, "size", ["string", "integer"], r"^\s*[0-9]+(\.[0-9]+)?\s*(([KMGT]i?)?B)?\s*$");
text_form!(Time, "duration", "string", r"^\s*[0-9]+(\.[0-9]+)?\s*[num]?s\s*$");
impl JsonSchema for Times {
    fn schema_name() -> Cow<'static, str> {
        "Times".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = Time::json_schema(generator);
        json_schema!({ "type": ["string", "array"], "format": "durations", "items": time })
    }
}

impl JsonSchema for Sizes {
    fn schema_name() -> Cow<'static, str> {
        "Sizes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = Size::json_schema(generator);
        json_schema!({ "type": ["string", "integer", "array"], "format": "sizes", "items": size })
    }
}

text_form!(Rate, "rate", "string", r"^\s*(none|[0-9]+(\.[0-9]+)?\s*([KMG]i?)?B/s)\s*$");

/// Returns the number in front of a unit of the scale, times that unit. Returns None unless the
/// result is a whole number.
fn quantity(text: &str, scale: &Scale) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let &(_, worth) = scale.iter().find(|(name, _)| *name == unit.trim_start())?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let whole = u128::from(whole.parse::<u64>().ok()?) * u128::from(worth);
    let parts = u128::from(fraction.parse::<u64>().ok()?) * u128::from(worth);
    let in_one = 10u128.pow(fraction.len() as u32);
    if !parts.is_multiple_of(in_one) {
        return None;
    }
    u64::try_from(whole + parts / in_one).ok()
}

/// Prints in the unit that gives the smallest whole number. Zero is printed in the base unit.
fn print(f: &mut fmt::Formatter<'_>, n: u64, scale: &Scale) -> fmt::Result {
    let fits = scale.iter().filter(|(_, worth)| n > 0 && n.is_multiple_of(*worth));
    let (unit, worth) = fits.max_by_key(|(_, worth)| *worth).unwrap_or(&scale[0]);
    write!(f, "{}{unit}", n / worth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_real_time_go_up_to_days() {
        for (text, ns) in [("1ns", 1), ("1.5s", 1_500_000_000), ("0.25h", 900_000_000_000)] {
            assert_eq!(parse_span(text), Some(ns), "{text}");
        }
        assert_eq!(parse_span(" 2 d "), Some(2 * 86_400 * 1_000_000_000));
        assert_eq!(parse_span("5min"), Some(300_000_000_000));
        for text in ["", "1", "h", "0.1ns", "-1h", "1e3s", "1m"] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }

    #[test]
    fn a_value_is_a_number_in_base_units() {
        for (text, number) in [
            ("4096", 4096.0),
            ("64KiB", 65_536.0),
            ("0.07", 0.07),
            (" 25us ", 25e-6),
            ("40MB/s", 4e7),
            ("12.5 %", 0.125),
        ] {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        for text in ["", ".", "%", "dftl", "none", "-1", "1e3", "4 KiBs", "inf"] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }
}
