//! Parameters of policies: declared once, beside the policy that has them.
//!
//! [`parameters!`](macro@crate::parameters) makes of one declaration the struct that the policy is
//! given, its `Default`, and its table of [`Parameter`]s. Whoever reads a config takes schema,
//! errors and documentation from that table, and hands the values back by name ([`Source`]); this
//! crate knows no file format. [`choice!`](crate::choice) declares an enum whose variants have
//! names.
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
// For the macros.
#[doc(hidden)]
pub use alloc::{vec, vec::Vec};

/// A size, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Bytes(pub u64);

/// A duration, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Nanoseconds(pub u64);

/// A value of a parameter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// A whole number.
    Integer(u64),
    /// A number.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// The name of a variant of a [`Choice`].
    Name(&'static str),
    /// A size.
    Bytes(Bytes),
    /// A duration.
    Nanoseconds(Nanoseconds),
}

/// The least and the greatest of a range, and whether each is in it. Whole numbers are up to 2^53.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// The least, and whether it is in the range.
    pub low: (f64, bool),
    /// The greatest, and whether it is in the range.
    pub high: (f64, bool),
}

impl Bounds {
    fn hold(&self, x: f64) -> bool {
        let ((low, with_low), (high, with_high)) = (self.low, self.high);
        let is_above = if with_low { x >= low } else { x > low };
        is_above && if with_high { x <= high } else { x < high }
    }
}

/// The values that a parameter can have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Range {
    /// Whole numbers.
    Integer(Bounds),
    /// Numbers.
    Number(Bounds),
    /// Yes or no.
    Flag,
    /// One of these.
    Name(&'static [Variant]),
    /// Sizes, in bytes.
    Bytes(Bounds),
    /// Durations, in nanoseconds.
    Nanoseconds(Bounds),
}

impl Range {
    /// Whether a value is in the range; one of another kind is not, nor is what is not a number.
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

/// A parameter as it is declared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Parameter {
    /// Its name: that of the field, and of the key in a config.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// The values that it can have.
    pub range: Range,
    /// Its value if none is given; none: it is not set then.
    pub default: Option<Value>,
}

/// Where values come from, by the name of the parameter. None: the default.
pub type Source<'a> = dyn Fn(&str) -> Option<Value> + 'a;

/// Where the values of all policies come from, by the names of policy and parameter.
pub type Sections<'a> = dyn Fn(&str, &str) -> Option<Value> + 'a;

/// The parameters of one policy, made by [`parameters!`](macro@crate::parameters). `()` has none.
pub trait Parameters: Default {
    /// What they are, in the order of the declaration.
    fn table() -> Vec<Parameter>;

    /// Takes the values of a source, and the defaults of what it does not give.
    ///
    /// # Panics
    /// A value is not in its parameter's range.
    fn read(source: &Source) -> Self;
}

impl Parameters for () {
    fn table() -> Vec<Parameter> {
        Vec::new()
    }

    fn read(_: &Source) -> Self {}
}

/// A type that a parameter can have.
pub trait Quantity: Copy {
    /// The values that it can have within bounds.
    fn range(bounds: Option<Bounds>) -> Range;

    /// As a value; none of what is not set.
    fn value(self) -> Option<Value>;

    /// From a value, if it is of this kind and fits.
    fn of(value: Value) -> Option<Self>;
}

impl Quantity for bool {
    fn range(_: Option<Bounds>) -> Range {
        Range::Flag
    }

    fn value(self) -> Option<Value> {
        Some(Value::Flag(self))
    }

    fn of(value: Value) -> Option<Self> {
        if let Value::Flag(flag) = value { Some(flag) } else { None }
    }
}

/// Types whose values are within bounds, and the kind of value that they are.
macro_rules! bounded {
    ($($Type:ty: $Kind:ident;)*) => {$(
        impl Quantity for $Type {
            fn range(bounds: Option<Bounds>) -> Range {
                Range::$Kind(bounds.expect("a number has a range"))
            }

            fn value(self) -> Option<Value> {
                Some(Value::$Kind(self.into()))
            }

            fn of(value: Value) -> Option<Self> {
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

    fn of(value: Value) -> Option<Self> {
        T::of(value).map(Some)
    }
}

/// A variant of a [`Choice`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
}

/// An enum whose variants have names, made by [`choice!`](crate::choice).
pub trait Choice: Copy + 'static {
    /// Its variants, in the order of the declaration.
    const VARIANTS: &'static [Variant];

    /// The name of this variant.
    fn name(self) -> &'static str;

    /// The variant of a name, if there is one.
    fn named(name: &str) -> Option<Self>;
}

/// A row of the table of an axis: a policy and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The name that chooses it in a config.
    pub name: &'static str,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Where it is from.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
}

/// The names in a table.
pub fn names(table: &[Row]) -> impl Iterator<Item = &'static str> {
    table.iter().map(|row| row.name)
}

/// What is wrong with parameters that are each in their range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The key, such as "eti.hot_threshold".
    pub key: &'static str,
    /// Its value, as it is written in a config.
    pub given: String,
    /// What it should be.
    pub expected: String,
}

/// The nearest whole number; of two, the greater. For numbers from 0 to 2^53.
pub fn round(x: f64) -> u64 {
    let whole = x as u64;
    whole + u64::from(x - whole as f64 >= 0.5)
}

/// A share in thousandths, rounded to the nearest.
pub fn permille(share: f64) -> u32 {
    round(share * 1000.0) as u32
}

#[cfg(test)]
mod tests;
