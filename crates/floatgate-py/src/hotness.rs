//! The hot and cold data of a workload as a function of the module.

use std::sync::Arc;

use floatgate_lab::hotness::{self as lab, Options, Rounding};
use pyo3::prelude::*;

use crate::workload::Workload;
use crate::{ConfigError, Control, config_error, run_error, text};

#[pyfunction]
#[pyo3(signature = (workload, *, gb_bytes, hot_from, rounding, partial, control))]
pub fn hotness(
    py: Python<'_>,
    workload: &Workload,
    gb_bytes: u64,
    hot_from: u32,
    rounding: &str,
    partial: bool,
    control: &Control,
) -> PyResult<String> {
    let known = Rounding::NAMES.iter().find(|known| known.0 == rounding);
    let rounding = known.map(|known| known.1).ok_or_else(|| {
        let names = Rounding::NAMES.map(|known| known.0).join(" or ");
        ConfigError::new_err(format!("rounding: {rounding:?} given; expected {names}"))
    })?;
    let control = Arc::clone(&control.0);
    let mut requests = workload.start().map_err(config_error)?;
    let options = Options { gb_bytes, hot_from, rounding, partial };
    let document = py.detach(|| {
        let found = lab::hotness(requests.as_mut(), options, &control)?;
        Ok(found.document())
    });
    text(&document.map_err(run_error)?)
}
