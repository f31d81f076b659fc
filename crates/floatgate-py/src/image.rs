//! Images: create, inspect, check, dump and read them. Also a live drive, for tests that end it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use floatgate_lab::drive::live::{self, Live, LiveError};
use floatgate_lab::image::{self, OpenError, Selection};
use floatgate_lab::run::{AgedError, New, create_aged};
use floatgate_lab::stored::{ImageError, Problem};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::resolved::Config;
use crate::{ConfigError, Control, RunError, run_error, text};

/// Returns the exception for an error. A wrong config or a file that is no image is a config error;
/// an error of the system is a run error.
fn open_error(error: OpenError) -> PyErr {
    let words = error.to_string();
    let is_run = match &error {
        OpenError::Image(ImageError { problem: Problem::Io { error, .. }, .. }) => {
            error.kind() != ErrorKind::NotFound
        }
        OpenError::Image(ImageError { problem: Problem::InUse, .. }) => true,
        OpenError::Unusable { .. } | OpenError::Fault { .. } => true,
        _ => false,
    };
    if is_run { RunError::new_err(words) } else { ConfigError::new_err(words) }
}

fn live_error(error: LiveError) -> PyErr {
    match error {
        LiveError::Beyond { .. } => ConfigError::new_err(error.to_string()),
        error => PyOSError::new_err(error.to_string()),
    }
}

/// Makes an image with an erased drive of `size` bytes, which hosts see in zones if it is `zoned`.
#[pyfunction]
#[pyo3(signature = (path, config, *, size, seed, zoned))]
pub fn image_create(
    py: Python<'_>,
    path: PathBuf,
    config: &Config,
    size: u64,
    seed: u64,
    zoned: bool,
) -> PyResult<()> {
    let create = if zoned { image::create_zoned } else { image::create };
    py.detach(|| create(&path, &config.inner, size, seed)).map_err(open_error)
}

/// Makes an image with a drive of `size` bytes that is aged according to the config's start.
#[pyfunction]
#[pyo3(signature = (path, config, *, size, seed, control))]
pub fn image_create_aged(
    py: Python<'_>,
    path: PathBuf,
    config: &Config,
    size: u64,
    seed: u64,
    control: &Control,
) -> PyResult<()> {
    let new = New { config: &config.inner, bytes: size, seed };
    py.detach(|| create_aged(&new, &path, &control.0)).map_err(|error| match error {
        AgedError::Open(error) => open_error(error),
        AgedError::Run(error) => run_error(error),
        error => RunError::new_err(error.to_string()),
    })
}

/// Returns a description of an image, as JSON text.
#[pyfunction]
pub fn image_info(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    text(&py.detach(|| image::info(&path)).map_err(open_error)?)
}

/// Returns the problems of an image, as JSON text.
#[pyfunction]
pub fn image_check(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    text(&json!(py.detach(|| image::check(&path)).map_err(open_error)?))
}

/// Calls `tell` with rows, as JSON text, a unit at a time.
#[pyfunction]
#[pyo3(signature = (path, *, unit, lpn, tell))]
pub fn image_dump(
    path: PathBuf,
    unit: Option<u32>,
    lpn: Option<u32>,
    tell: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let selection = match (unit, lpn) {
        (Some(unit), _) => Selection::Unit(unit),
        (None, Some(lpn)) => Selection::Lpn(lpn),
        (None, None) => Selection::All,
    };
    let mut failure = None;
    let dumped = image::dump(&path, selection, |rows| {
        let result = text(&json!(rows)).and_then(|rows| tell.call1((rows,)));
        failure = result.err();
        failure.is_none()
    });
    failure.map_or(Ok(()), Err)?;
    dumped.map_err(open_error)
}

/// Reader of an image's bytes. Several readers can have the image open.
#[pyclass(frozen)]
pub struct Reader(Mutex<image::Reader>);

#[pymethods]
impl Reader {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let reader = py.detach(|| image::Reader::open(&path)).map_err(open_error)?;
        Ok(Self(Mutex::new(reader)))
    }

    #[getter]
    fn size(&self) -> PyResult<u64> {
        Ok(self.lock()?.bytes())
    }

    fn read(&self, py: Python<'_>, offset: u64, length: usize) -> PyResult<Py<PyBytes>> {
        let bytes = py.detach(|| {
            let mut bytes = vec![0; length];
            self.lock()?.read(offset, &mut bytes).map_err(live_error)?;
            PyResult::Ok(bytes)
        })?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }
}

impl Reader {
    fn lock(&self) -> PyResult<MutexGuard<'_, image::Reader>> {
        self.0.lock().map_err(|_| RunError::new_err("reading has failed"))
    }
}

/// The drive of an image, until it is closed or the process ends.
#[pyclass(frozen)]
pub struct Drive(Mutex<Option<Box<dyn Live>>>);

impl Drive {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Live) -> Result<T, LiveError> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut drive = self.0.lock().map_err(|_| RunError::new_err("the drive has failed"))?;
            let drive = drive.as_deref_mut();
            work(drive.ok_or_else(|| RunError::new_err("the drive is closed"))?).map_err(live_error)
        })
    }
}

#[pymethods]
impl Drive {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let path: &Path = &path;
        let drive = py.detach(|| live::open(path)).map_err(open_error)?;
        Ok(Self(Mutex::new(Some(drive))))
    }

    #[getter]
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |drive| Ok(drive.bytes()))
    }

    /// Returns the cost of mounting the drive, as JSON text.
    fn mount(&self, py: Python<'_>) -> PyResult<String> {
        let mount = self.with(py, |drive| Ok(drive.mount()))?;
        text(&json!({
            "from_checkpoint": mount.from_checkpoint,
            "journal_reads": mount.journal_reads,
            "tag_reads": mount.tag_reads,
            "moved": mount.moved,
            "map_programs": mount.map_programs,
            "erased": mount.erased,
        }))
    }

    fn read(&self, py: Python<'_>, offset: u64, length: usize) -> PyResult<Py<PyBytes>> {
        let bytes = self.with(py, |drive| {
            let mut bytes = vec![0; length];
            drive.read(offset, &mut bytes).map(|()| bytes)
        })?;
        Ok(PyBytes::new(py, &bytes).unbind())
    }

    fn write(&self, py: Python<'_>, offset: u64, bytes: &[u8]) -> PyResult<()> {
        self.with(py, |drive| drive.write(offset, bytes))
    }

    fn trim(&self, py: Python<'_>, offset: u64, length: u64) -> PyResult<()> {
        self.with(py, |drive| drive.trim(offset, length))
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |drive| drive.flush())
    }

    /// Shuts down, and releases the image.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |drive| drive.shut_down())?;
        if let Ok(mut drive) = self.0.lock() {
            *drive = None;
        }
        Ok(())
    }
}
