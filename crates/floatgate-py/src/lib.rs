//! The engine as a Python module. This module only translates: it takes Arrow batches, returns JSON
//! text, and releases the interpreter while a drive runs. `python/floatgate` is the front that
//! users see.

mod crash;
mod curve;
mod external;
mod hotness;
mod huge_pages;
#[cfg(unix)]
mod image;
#[cfg(target_os = "linux")]
mod nvme;
mod resolved;
mod units;
mod usual_lines;
mod workload;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use floatgate_lab::config;
use floatgate_lab::drive::ExternalPolicies;
use floatgate_lab::result::{self, Facts};
use floatgate_lab::run::{self, Options, RunError as LabError, StartCache};
use floatgate_lab::workload::{Feed, GENERATORS, Workload as Requests};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

use external::{BufferShape, DriveShape, HostWrite, MapAccess, MapShape, PyPolicies, Reclaimed};
use resolved::Config;
use usual_lines::PyUsualLine;
use workload::{PyTurns, Reading, Workload};

#[global_allocator]
static MEMORY: huge_pages::HugePages = huge_pages::HugePages;

create_exception!(
    floatgate._core,
    ConfigError,
    PyValueError,
    "The call, the config or the workload is wrong."
);
create_exception!(floatgate._core, RunError, PyRuntimeError, "A run failed.");
create_exception!(floatgate._core, Cancelled, PyException, "A run was asked to end.");

pub(crate) fn config_error(error: config::ConfigError) -> PyErr {
    ConfigError::new_err(error.to_string())
}

pub(crate) fn run_error(error: LabError) -> PyErr {
    match error {
        LabError::Config(error) => config_error(error),
        LabError::Cancelled => Cancelled::new_err("interrupted"),
        LabError::Unreadable(why) => RunError::new_err(why),
    }
}

/// Handle to watch and stop a run from another thread.
#[pyclass(frozen)]
#[derive(Default)]
struct Control(Arc<run::Control>);

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    fn progress(&self) -> (&'static str, u64, u64) {
        self.0.progress()
    }
}

/// Returns the settings in a preset and a file, without defaults, as JSON text.
#[pyfunction]
fn said(preset: Option<&str>, toml: Option<&str>) -> PyResult<String> {
    text(&json!(config::said(preset, toml).map_err(config_error)?))
}

#[pyfunction]
fn schema() -> PyResult<String> {
    text(&config::schema())
}

#[pyfunction]
fn result_schema() -> PyResult<String> {
    text(&result::schema())
}

#[pyfunction]
fn presets() -> PyResult<String> {
    let rows = config::presets().iter().map(|preset| {
        json!({
            "name": preset.name,
            "summary": preset.doc,
            "source": preset.source,
            "toml": preset.toml,
        })
    });
    text(&Value::Array(rows.collect()))
}

#[pyfunction]
fn policies() -> PyResult<String> {
    text(&config::policies())
}

#[pyfunction]
fn generators() -> PyResult<String> {
    let rows = GENERATORS.iter().map(|row| {
        let keys = row
            .keys()
            .map(|key| json!({ "name": key.name, "default": key.default, "doc": key.doc }));
        json!({
            "name": row.name,
            "doc": row.doc,
            "example": row.example,
            "source": row.source,
            "keys": keys.collect::<Vec<_>>(),
        })
    });
    text(&Value::Array(rows.collect()))
}

#[pyfunction]
#[pyo3(signature = (
    config, workload, *, seed, span_bytes, verify, start_cache, device, skipped, notes,
    can_shrink, control, turns, reading=None, guests=None
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn simulate(
    py: Python<'_>,
    config: &Config,
    workload: &Workload,
    seed: u64,
    span_bytes: Option<u64>,
    verify: bool,
    start_cache: Option<(PathBuf, String)>,
    device: String,
    skipped: u64,
    notes: Vec<String>,
    can_shrink: bool,
    control: &Control,
    turns: &PyTurns,
    reading: Option<&Reading>,
    guests: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    // The seat comes first: if anything fails here, dropping it releases the runs that wait for it.
    let seat = reading.map(Reading::seat).transpose()?;
    let control = Arc::clone(&control.0);
    let policies = guests.map(|guests| PyPolicies::new(guests, &control)).transpose()?;
    let facts = Facts { device, skipped, notes, can_shrink, ..workload.facts() };
    let span_bytes = span_bytes.unwrap_or(workload.span_bytes());
    let start_cache =
        start_cache.as_ref().map(|(directory, build)| StartCache { directory, build });
    let options = Options { span_bytes, seed, verify, start_cache };
    let border = policies.as_ref().map(PyPolicies::border);
    let policies = policies.map(|policies| Box::new(policies) as Box<dyn ExternalPolicies>);
    let play = || {
        turns.0.with(|| {
            if let Some(jobs) = workload.jobs() {
                return run::run_jobs(&config.inner, policies, jobs, facts, options, &control);
            }
            let run = |requests: &mut dyn Requests| {
                run::run_with(&config.inner, policies, requests, facts, options, &control)
            };
            match seat {
                Some(mut seat) => run(&mut seat),
                None if workload.is_held() => run(workload.start()?.as_mut()),
                None => Feed::ahead(workload.start()?, run),
            }
        })
    };
    let result = match (border, guests) {
        (Some(border), Some(guests)) => {
            let describe = guests.getattr("failure")?.unbind();
            let result = py.detach(|| external::guarded(&border, play));
            if let Some(fault) = border.fault(py, &describe) {
                return Err(fault);
            }
            result
        }
        _ => py.detach(|| catch_unwind(AssertUnwindSafe(play))).map_err(stopped)?,
    };
    serde_json::to_string(&result.map_err(run_error)?)
        .map_err(|error| RunError::new_err(format!("the result cannot be printed: {error}")))
}

/// Returns the error for a panic: one run of several fails, and the others go on.
fn stopped(panic: Box<dyn Any + Send>) -> PyErr {
    RunError::new_err(format!("the simulation stopped: {}", text_of(&*panic)))
}

/// Returns the text of a panic, empty if it has none.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}

fn text(value: &Value) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| RunError::new_err(error.to_string()))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ConfigError", py.get_type::<ConfigError>())?;
    module.add("RunError", py.get_type::<RunError>())?;
    module.add("Cancelled", py.get_type::<Cancelled>())?;
    module.add_class::<Config>()?;
    module.add_class::<Control>()?;
    module.add_class::<Workload>()?;
    module.add_class::<PyTurns>()?;
    module.add_class::<PyUsualLine>()?;
    module.add_class::<Reading>()?;
    module.add_class::<DriveShape>()?;
    module.add_class::<MapShape>()?;
    module.add_class::<MapAccess>()?;
    module.add_class::<BufferShape>()?;
    module.add_class::<HostWrite>()?;
    module.add_class::<Reclaimed>()?;
    for function in [
        wrap_pyfunction!(said, module)?,
        wrap_pyfunction!(schema, module)?,
        wrap_pyfunction!(result_schema, module)?,
        wrap_pyfunction!(units::parse_size, module)?,
        wrap_pyfunction!(units::size_bytes, module)?,
        wrap_pyfunction!(units::span_ns, module)?,
        wrap_pyfunction!(units::number, module)?,
        wrap_pyfunction!(presets, module)?,
        wrap_pyfunction!(policies, module)?,
        wrap_pyfunction!(generators, module)?,
        wrap_pyfunction!(simulate, module)?,
        wrap_pyfunction!(crash::crash, module)?,
        wrap_pyfunction!(curve::map_curve, module)?,
        wrap_pyfunction!(hotness::hotness, module)?,
    ] {
        module.add_function(function)?;
    }
    #[cfg(unix)]
    add_images(module)?;
    #[cfg(target_os = "linux")]
    module.add_class::<nvme::NvmeTarget>()?;
    Ok(())
}

#[cfg(unix)]
fn add_images(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<image::Drive>()?;
    module.add_class::<image::Reader>()?;
    for function in [
        wrap_pyfunction!(image::image_create, module)?,
        wrap_pyfunction!(image::image_create_aged, module)?,
        wrap_pyfunction!(image::image_info, module)?,
        wrap_pyfunction!(image::image_check, module)?,
        wrap_pyfunction!(image::image_dump, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
