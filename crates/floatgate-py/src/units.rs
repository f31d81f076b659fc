//! Texts with units as functions of the module: what the config reads, Python reads alike.

use floatgate_lab::units::{self, Size};
use pyo3::prelude::*;

use crate::ConfigError;

/// Bytes of a size with a unit, such as "64GiB", that was given as `name`.
#[pyfunction]
pub fn parse_size(name: &str, text: &str) -> PyResult<u64> {
    let size = Size::parse_with_unit(text);
    size.map(|size| size.0).map_err(|error| ConfigError::new_err(format!("{name}: {error}")))
}

/// Bytes of "4KiB" or "4096"; None for a text that is no size.
#[pyfunction]
pub fn size_bytes(text: &str) -> Option<u64> {
    Size::parse(text).ok().map(|size| size.0)
}

/// Nanoseconds of "90s" or "1.5h"; None for a text that is no duration.
#[pyfunction]
pub fn span_ns(text: &str) -> Option<u64> {
    units::parse_span(text)
}

/// A config's value as a number in base units; None for a text that is none.
#[pyfunction]
pub fn number(text: &str) -> Option<f64> {
    units::parse_number(text)
}
