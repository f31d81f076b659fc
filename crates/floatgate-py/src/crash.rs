//! The exploration of power failures as a function of the module.

use std::sync::Arc;

use floatgate_lab::crash::{Moments, Options, explore};
use pyo3::prelude::*;
use serde_json::json;

use crate::resolved::Config;
use crate::workload::Workload;
use crate::{Control, config_error, run_error, text};

/// Every n-th recovery is cut by default.
const SECOND: u64 = 50;

#[pyfunction]
#[pyo3(signature = (
    config, workload, *, seed, span_bytes, every, point, second, most, control
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn crash(
    py: Python<'_>,
    config: &Config,
    workload: &Workload,
    seed: u64,
    span_bytes: Option<u64>,
    every: Option<u64>,
    point: Option<u64>,
    second: Option<u64>,
    most: u64,
    control: &Control,
) -> PyResult<String> {
    let control = Arc::clone(&control.0);
    let mut requests = workload.start().map_err(config_error)?;
    let span_bytes = span_bytes.unwrap_or_else(|| requests.span_bytes());
    let moments = match (point, every) {
        (Some(point), _) => Moments::Only(point),
        (None, Some(every)) => Moments::Every(every),
        (None, None) => Moments::AtMost(most),
    };
    // A single explored moment has its recovery cut, too.
    let again = if point.is_some() { 1 } else { second.unwrap_or(SECOND) };
    // An explicit `second` disables the automatic limit.
    let again_most = if second.is_some() { u64::MAX } else { most };
    let options = Options { span_bytes, seed, moments, again, again_most, bug: None };
    let report = py.detach(|| explore(&config.inner, requests.as_mut(), options, &control));
    text(&json!(report.map_err(run_error)?))
}
