//! Macros that declare parameters, enums with names, and axes.

/// Declares the parameters of a policy: see [the module](mod@crate::parameters).
///
/// A field has a type and a default. Unless it is a `bool` or a
/// [`Choice`](crate::parameters::Choice), it also has a range. The range begins `from` (inclusive)
/// or `above` (exclusive) its minimum, and ends `to` (inclusive) or `below` (exclusive) its
/// maximum. Limits of sizes are in bytes, limits of durations in nanoseconds. An `Option` may stay
/// unset.
#[macro_export]
macro_rules! parameters {
    (
        $(#[doc = $title:literal])+
        pub struct $Config:ident {$(
            $(#[doc = $doc:literal])+
            $name:ident: $Type:ty = $default:expr $(, $from:ident $low:tt $to:ident $high:tt)?;
        )+}
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $Config {$(
            $(#[doc = $doc])+
            pub $name: $Type,
        )+}

        impl Default for $Config {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }

        impl $crate::parameters::Parameters for $Config {
            fn table() -> $crate::parameters::Vec<$crate::parameters::Parameter> {
                let default = Self::default();
                $crate::parameters::vec![$({
                    let bounds = $crate::parameters!(@bounds $($from $low $to $high)?);
                    $crate::parameters::Parameter {
                        name: stringify!($name),
                        doc: concat!($($doc),+).trim_ascii(),
                        range: <$Type as $crate::parameters::Quantity>::range(bounds),
                        default: $crate::parameters::Quantity::value(default.$name),
                    }
                }),+]
            }

            fn read(source: &$crate::parameters::ValueSource) -> Self {
                let mut config = Self::default();
                $(if let Some(value) = source(stringify!($name)) {
                    config.$name = $crate::parameters::Quantity::from_value(value)
                        .unwrap_or_else(|| panic!("{}: {value:?}", stringify!($name)));
                })+
                config
            }
        }
    };
    (@bounds) => { None };
    (@bounds $from:ident $low:tt $to:ident $high:tt) => {
        Some($crate::parameters::Bounds {
            low: ($low as f64, $crate::parameters!(@closed $from)),
            high: ($high as f64, $crate::parameters!(@closed $to)),
        })
    };
    (@closed from) => { true };
    (@closed above) => { false };
    (@closed to) => { true };
    (@closed below) => { false };
}

/// Declares an enum whose variants have names in a config:
/// `pub enum Hashes { /** ... */ Crc32 = "crc32", ... }`.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $title:literal])+
        pub enum $Enum:ident {$(
            $(#[doc = $doc:literal])+
            $Variant:ident = $name:literal,
        )+}
    ) => {
        $(#[doc = $title])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $Enum {$(
            $(#[doc = $doc])+
            $Variant,
        )+}

        impl $crate::parameters::Choice for $Enum {
            const VARIANTS: &'static [$crate::parameters::Variant] = &[$(
                $crate::parameters::Variant {
                    name: $name,
                    doc: concat!($($doc),+).trim_ascii(),
                },
            )+];

            fn name(self) -> &'static str {
                match self { $(Self::$Variant => $name,)+ }
            }

            fn named(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$Variant),)+
                    _ => None,
                }
            }
        }

        impl $crate::parameters::Quantity for $Enum {
            fn range(_: Option<$crate::parameters::Bounds>) -> $crate::parameters::Range {
                $crate::parameters::Range::Name(
                    <Self as $crate::parameters::Choice>::VARIANTS,
                )
            }

            fn value(self) -> Option<$crate::parameters::Value> {
                Some($crate::parameters::Value::Name($crate::parameters::Choice::name(self)))
            }

            fn from_value(value: $crate::parameters::Value) -> Option<Self> {
                match value {
                    $crate::parameters::Value::Name(name) => {
                        <Self as $crate::parameters::Choice>::named(name)
                    }
                    _ => None,
                }
            }
        }
    };
}

/// Declares an axis: the table of its policies, and the struct from which each policy is created.
/// The struct has properties of the drive and the parameters of every policy.
///
/// A row has the policy's name in a config, its type, the type of its parameters if it has any, its
/// description, and its source.
#[macro_export]
macro_rules! axis {
    (
        $(#[doc = $table_doc:literal])+
        pub const $TABLE:ident;
        $(#[doc = $config_doc:literal])+
        pub struct $Config:ident {$(
            $(#[doc = $field_doc:literal])+
            $field:ident: $Field:ty,
        )+}
        $($name:ident $Type:ident($($Own:ident)?), $doc:literal, $source:literal;)*
    ) => {
        $(#[doc = $table_doc])+
        pub const $TABLE: &[$crate::parameters::Row] = &[$($crate::parameters::Row {
            name: stringify!($name),
            doc: $doc,
            source: $source,
            parameters:
                <$crate::axis!(@own $($Own)?) as $crate::parameters::Parameters>::table,
        }),*];

        $(#[doc = $config_doc])+
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $Config {
            $($(#[doc = $field_doc])+ pub $field: $Field,)+
            $(
                #[doc = concat!("Parameters of `", stringify!($name), "`.")]
                pub $name: $crate::axis!(@own $($Own)?),
            )*
        }

        impl $Config {
            /// Returns a config with the default parameters of every policy.
            fn defaults($($field: $Field),+) -> Self {
                Self { $($field,)+ $($name: Default::default(),)* }
            }

            /// Replaces the parameters by the values of a source.
            pub fn with(self, source: &$crate::parameters::Sections) -> Self {
                use $crate::parameters::Parameters;
                Self {
                    $($name: Parameters::read(&|key| source(stringify!($name), key)),)*
                    ..self
                }
            }
        }
    };
    (@own) => { () };
    (@own $Own:ident) => { $Own };
}
