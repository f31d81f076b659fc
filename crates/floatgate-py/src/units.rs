//! Texts with units as functions of the module. Python thus reads the same texts as the config.

use floatgate_lab::units::{self, Size};
use pyo3::prelude::*;

use crate::ConfigError;

/// Returns the bytes of a size with a unit, such as "64GiB". Errors call the size `name`.
#[pyfunction]
pub fn parse_size(name: &str, text: &str) -> PyResult<u64> {
    let size = Size::parse_with_unit(text);
    size.map(|size| size.0).map_err(|error| ConfigError::new_err(format!("{name}: {error}")))
}

/// Returns the bytes of "4KiB" or "4096", or None if the text is no size.
#[pyfunction]
pub fn size_bytes(text: &str) -> Option<u64> {
    Size::parse(text).ok().map(|size| size.0)
}

/// Returns the nanoseconds of "90s" or "1.5h", or None if the text is no duration.
#[pyfunction]
pub fn span_ns(text: &str) -> Option<u64> {
    units::parse_span(text)
}

/// Returns a config value as a number in base units, or None if the text is no such value.
#[pyfunction]
pub fn number(text: &str) -> Option<f64> {
    units::parse_number(text)
}
