//! The curve of the map cache as a function of the module.

use std::sync::Arc;

use floatgate_lab::curve::{self, Options};
use pyo3::prelude::*;

use crate::workload::Workload;
use crate::{Control, config_error, run_error, text};

#[pyfunction]
#[pyo3(signature = (workload, *, page_bytes, sample, control))]
pub fn map_curve(
    py: Python<'_>,
    workload: &Workload,
    page_bytes: u64,
    sample: Option<f64>,
    control: &Control,
) -> PyResult<String> {
    let control = Arc::clone(&control.0);
    let mut requests = workload.start().map_err(config_error)?;
    let options = Options { page_bytes, sample };
    let document = py.detach(|| {
        let curve = curve::map_curve(requests.as_mut(), options, &control)?;
        Ok(curve.document())
    });
    text(&document.map_err(run_error)?)
}
