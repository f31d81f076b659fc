//! Parameters of policies, each declared once, next to its policy.
//!
//! [`parameters!`](macro@crate::parameters) turns one declaration into three things: the struct
//! that the policy receives, its `Default`, and its table of [`Parameter`]s. A reader of configs
//! takes schema, errors and documentation from that table, and passes the values back by name
//! ([`ValueSource`]). This crate knows no file format. [`choice!`](crate::choice) declares an enum
//! whose variants have names.
//!
//! ```
//! use floatgate_ftl::parameters::{Parameters, Range, Value};
//!
//! floatgate_ftl::parameters! {
//!     /// Parameters of a policy that cools down.
//!     pub struct CoolingConfig {
//!         /// Page writes from one halving of all counters to the next.
//!         period: u32 = 4096, from 1 to 1_000_000;
//!         /// Share of the counters that are halved.
//!         share: f64 = 0.5, above 0 to 1;
//!     }
//! }
//! let period = &CoolingConfig::table()[0];
//! assert_eq!((period.name, period.default), ("period", Some(Value::Integer(4096))));
//! assert!(period.range.holds(Value::Integer(7)) && !period.range.holds(Value::Integer(0)));
//! let given = CoolingConfig::read(&|name| (name == "share").then_some(Value::Number(0.25)));
//! assert_eq!(given, CoolingConfig { period: 4096, share: 0.25 });
//! ```

mod declare;

use alloc::string::String;
// The macros use these.
#[doc(hidden)]
pub use alloc::{vec, vec::Vec};

/// Size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(pub u64);

/// Duration in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Nanoseconds(pub u64);

/// Value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// Name of a variant of a [`Choice`].
    Name(&'static str),
    /// A size.
    Bytes(Bytes),
    /// A duration.
    Nanoseconds(Nanoseconds),
}

/// Minimum and maximum of a range, and whether each is included. Whole numbers are at most 2^53.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Minimum, and whether it is in the range.
    pub low: (f64, bool),
    /// Maximum, and whether it is in the range.
    pub high: (f64, bool),
}

impl Bounds {
    fn hold(&self, x: f64) -> bool {
        let ((low, with_low), (high, with_high)) = (self.low, self.high);
        let is_above = if with_low { x >= low } else { x > low };
        is_above && if with_high { x <= high } else { x < high }
    }
}

/// Values that a parameter accepts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// Whole numbers.
    Integer(Bounds),
    /// Numbers.
    Number(Bounds),
    /// Yes or no.
    Flag,
    /// One of these names.
    Name(&'static [Variant]),
    /// Sizes, in bytes.
    Bytes(Bounds),
    /// Durations, in nanoseconds.
    Nanoseconds(Bounds),
}

impl Range {
    /// Returns whether a value is in the range. Values of another kind and NaN are not.
    pub fn holds(&self, value: Value) -> bool {
        match (self, value) {
            (Self::Integer(bounds), Value::Integer(n)) => bounds.hold(n as f64),
            (Self::Number(bounds), Value::Number(x)) => bounds.hold(x),
            (Self::Flag, Value::Flag(_)) => true,
            (Self::Name(variants), Value::Name(name)) => variants.iter().any(|v| v.name == name),
            (Self::Bytes(bounds), Value::Bytes(size)) => bounds.hold(size.0 as f64),
            (Self::Nanoseconds(bounds), Value::Nanoseconds(time)) => bounds.hold(time.0 as f64),
            _ => false,
        }
    }
}

/// Declaration of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    /// Name of the field, and of the key in a config.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
    /// Accepted values.
    pub range: Range,
    /// Value if the config gives none; `None` if the parameter is then unset.
    pub default: Option<Value>,
}

/// Returns a value by the name of its parameter; `None` selects the default.
pub type ValueSource<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Returns a value by the names of its policy and its parameter.
pub type Sections<'a> = dyn Fn(&str, &str) -> Option<Value> + 'a;

/// Parameters of one policy, implemented by [`parameters!`](macro@crate::parameters). `()` has
/// none.
pub trait Parameters: Default {
    /// Returns the declarations in order.
    fn table() -> Vec<Parameter>;

    /// Takes the values of a source, and the defaults of the missing ones.
    ///
    /// # Panics
    /// A value is of the wrong kind or does not fit its field's type.
    fn read(source: &ValueSource) -> Self;
}

impl Parameters for () {
    fn table() -> Vec<Parameter> {
        Vec::new()
    }

    fn read(_: &ValueSource) -> Self {}
}

/// Type of a parameter.
pub trait Quantity: Copy {
    /// Returns the range of this type within bounds.
    fn range(bounds: Option<Bounds>) -> Range;

    /// Converts to a value; `None` if unset.
    fn value(self) -> Option<Value>;

    /// Converts from a value; `None` if its kind is wrong or it does not fit.
    fn from_value(value: Value) -> Option<Self>;
}

impl Quantity for bool {
    fn range(_: Option<Bounds>) -> Range {
        Range::Flag
    }

    fn value(self) -> Option<Value> {
        Some(Value::Flag(self))
    }

    fn from_value(value: Value) -> Option<Self> {
        if let Value::Flag(flag) = value { Some(flag) } else { None }
    }
}

/// Implements [`Quantity`] for types with bounds, each with its kind of value.
macro_rules! bounded {
    ($($Type:ty: $Kind:ident;)*) => {$(
        impl Quantity for $Type {
            fn range(bounds: Option<Bounds>) -> Range {
                Range::$Kind(bounds.expect("a number has a range"))
            }

            fn value(self) -> Option<Value> {
                Some(Value::$Kind(self.into()))
            }

            fn from_value(value: Value) -> Option<Self> {
                if let Value::$Kind(value) = value { value.try_into().ok() } else { None }
            }
        }
    )*};
}

bounded! {
    u8: Integer;
    u32: Integer;
    f64: Number;
    Bytes: Bytes;
    Nanoseconds: Nanoseconds;
}

impl<T: Quantity> Quantity for Option<T> {
    fn range(bounds: Option<Bounds>) -> Range {
        T::range(bounds)
    }

    fn value(self) -> Option<Value> {
        self.and_then(T::value)
    }

    fn from_value(value: Value) -> Option<Self> {
        T::from_value(value).map(Some)
    }
}

/// Variant of a [`Choice`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Name.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
}

/// Enum whose variants have names, implemented by [`choice!`](crate::choice).
pub trait Choice: Copy + 'static {
    /// Variants, in the order of the declaration.
    const VARIANTS: &'static [Variant];

    /// Returns the name of this variant.
    fn name(self) -> &'static str;

    /// Returns the variant with this name, if there is one.
    fn named(name: &str) -> Option<Self>;
}

/// Row in the table of an axis: a policy and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Name of the policy in a config.
    pub name: &'static str,
    /// Description in one line.
    pub doc: &'static str,
    /// Origin, such as a paper.
    pub source: &'static str,
    /// Returns the declarations of its parameters.
    pub parameters: fn() -> Vec<Parameter>,
}

/// Yields the names in a table.
pub fn names(table: &[Row]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|row| row.name)
}

/// Error in a combination of parameters that are each in range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The key, such as "eti.hot_threshold".
    pub key: &'static str,
    /// Its value, in the syntax of a config.
    pub given: String,
    /// The expected value.
    pub expected: String,
}

/// Rounds to the nearest whole number, halves upwards. For numbers from 0 to 2^53.
pub fn round(x: f64) -> u64 {
    let whole = x as u64;
    whole + u64::from(x - whole as f64 >= 0.5)
}

/// Converts a share to thousandths, rounded to the nearest.
pub fn permille(share: f64) -> u32 {
    round(share * 1000.0) as u32
}

#[cfg(test)]
mod tests;
