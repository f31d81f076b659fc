//! Resolved configs, which Python makes once and passes on.

use floatgate_lab::config::Config as LabConfig;
use floatgate_lab::drive::Plan;
#[cfg(unix)]
use floatgate_lab::drive::live::live_config;
use floatgate_lab::result::SpaceResult;
use pyo3::prelude::*;
use serde_json::json;

use crate::{ConfigError, config_error, text};

/// Resolved config of a drive.
#[pyclass(frozen, module = "floatgate._core")]
pub struct Config {
    pub inner: LabConfig,
    text: String,
}

impl Config {
    fn of(inner: LabConfig) -> PyResult<Self> {
        Ok(Self { text: text(&json!(inner))?, inner })
    }

    fn plan(&self, span_bytes: u64) -> PyResult<Plan> {
        Plan::new(&self.inner, span_bytes).map_err(config_error)
    }
}

#[pymethods]
impl Config {
    /// Parses the text of a config. The lab checks its values when it makes a drive.
    #[new]
    fn new(text: String) -> PyResult<Self> {
        let inner = serde_json::from_str(&text);
        Ok(Self { inner: inner.map_err(|error| ConfigError::new_err(error.to_string()))?, text })
    }

    #[staticmethod]
    fn resolve(
        preset: Option<&str>,
        toml: Option<&str>,
        sets: Vec<(String, String)>,
    ) -> PyResult<Self> {
        Self::of(LabConfig::load(preset, toml, &sets).map_err(config_error)?)
    }

    /// Returns the config of a live drive of `size` bytes.
    #[cfg(unix)]
    fn live(&self, size: u64) -> PyResult<Self> {
        let config = live_config(&self.inner, size);
        Self::of(config.map_err(|error| ConfigError::new_err(error.to_string()))?)
    }

    /// Returns the arguments with which `pickle` makes the config again.
    fn __getnewargs__(&self) -> (&str,) {
        (&self.text,)
    }

    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// Returns the config as new nested dicts.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.text,))
    }

    #[getter]
    fn page_bytes(&self) -> u64 {
        self.inner.unit_bytes()
    }

    #[getter]
    fn spare_factor(&self) -> f64 {
        self.inner.capacity.spare()
    }

    /// Returns the logical bytes of the drive for a workload of `span_bytes`.
    fn logical_bytes(&self, span_bytes: u64) -> PyResult<u64> {
        Ok(self.plan(span_bytes)?.logical_bytes())
    }

    /// Returns how a drive for a workload of `span_bytes` uses its flash, as JSON text.
    fn space(&self, span_bytes: u64) -> PyResult<String> {
        text(&json!(SpaceResult::new(&self.plan(span_bytes)?)))
    }
}
