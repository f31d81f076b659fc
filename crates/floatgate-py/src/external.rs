//! Policies in Python as external policies of the engine.
//!
//! `floatgate.guests` is the Python side: it has checked the policies, and makes arrays of the
//! bytes that it gets. When a policy raises an exception, this module keeps the exception,
//! cancels the run at once, and calls no policy again. The exception is raised when the run has
//! ended.

mod buffer;
mod mapping;
mod placement;
mod shapes;
mod victim;

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use floatgate_ftl::buffer::{BufferConfig, ExternalBuffer};
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{Boxed, MapConfig};
use floatgate_ftl::placement::ExternalPlacement;
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::victim::{Victim, VictimConfig};
use floatgate_lab::drive::ExternalPolicies;
use floatgate_lab::run::{Control, RunError};
use pyo3::exceptions::PyAssertionError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use buffer::PyBuffer;
pub(crate) use mapping::MapAccess;
use mapping::Mapped;
use placement::{Ahead, Placed};
pub(crate) use shapes::{BufferShape, DriveShape, HostWrite, MapShape, Reclaimed};
use victim::Chosen;

/// A request, with the number of requests before it.
type Numbered = (u64, Request);

/// Position of the drive in the requests of the host.
#[derive(Clone, Copy)]
struct At {
    /// Whether the drive is being brought to its start state.
    is_start: bool,
    /// The latest request of the drive, or the first of a batch that a policy sorts.
    request: Option<Numbered>,
    /// Number of requests up to the last one of a batch.
    until: Option<u64>,
}

/// State that the external policies of a run share: the position of the run, and the first error.
pub(crate) struct Border {
    control: Arc<Control>,
    has_failed: AtomicBool,
    fault: Mutex<Option<(PyErr, At)>>,
    at: Mutex<At>,
}

impl Border {
    /// Returns the answer of a policy. After an error of any policy, returns `instead`.
    fn ask<T>(&self, instead: T, call: impl FnOnce(Python<'_>) -> PyResult<T>) -> T {
        if self.has_failed.load(Ordering::Relaxed) {
            return instead;
        }
        Python::attach(call).unwrap_or_else(|error| {
            self.fail(error);
            instead
        })
    }

    fn fail(&self, error: PyErr) {
        let at = *locked(&self.at);
        self.fail_at(error, at);
    }

    fn fail_at(&self, error: PyErr, at: At) {
        self.has_failed.store(true, Ordering::Relaxed);
        locked(&self.fault).get_or_insert((error, at));
        self.control.cancel();
    }

    /// Fails like [`Border::fail`], for a request that the drive has not received yet, or for a
    /// batch that begins with it. `until` is the number of requests up to the end of the batch.
    fn fail_ahead(&self, error: PyErr, request: Numbered, until: Option<u64>) {
        let is_start = locked(&self.at).is_start;
        self.fail_at(error, At { is_start, request: Some(request), until });
    }

    /// Returns the exception of a policy, or None if there was none. `describe` adds the request
    /// that the policy was called for.
    pub(crate) fn fault(&self, py: Python<'_>, describe: &Py<PyAny>) -> Option<PyErr> {
        let (error, at) = locked(&self.fault).take()?;
        let request = at.request.map(|(number, request)| {
            (number + 1, format!("{:?}", request.op).to_lowercase(), request.offset, request.length)
        });
        let cause = error.into_value(py);
        let described = describe.call1(py, (cause, at.is_start, request, at.until));
        Some(described.map_or_else(|error| error, |error| PyErr::from_value(error.into_bound(py))))
    }
}

/// Returns the result of `run`. A failed assertion is attributed to the external policies, because
/// they are the only new code.
pub(crate) fn guarded<T>(
    border: &Border,
    run: impl FnOnce() -> Result<T, RunError>,
) -> Result<T, RunError> {
    panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|cause| {
        let text = crate::text_of(&*cause);
        border.fail(PyAssertionError::new_err(format!("the drive is not as it should be: {text}")));
        Err(RunError::Cancelled)
    })
}

/// Locks a mutex. A panic in another thread cannot have left its state half updated.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the text of an answer for an error.
fn shown(answer: &Bound<'_, PyAny>) -> String {
    answer.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string())
}

/// Returns whole numbers as the bytes of an array of int64.
fn bytes<'py>(py: Python<'py>, numbers: impl ExactSizeIterator<Item = i64>) -> Bound<'py, PyBytes> {
    let mut bytes = Vec::with_capacity(numbers.len() * size_of::<i64>());
    for number in numbers {
        bytes.extend_from_slice(&number.to_ne_bytes());
    }
    PyBytes::new(py, &bytes)
}

/// The policies of a run, as prepared by `floatgate.guests`. None stands for a built-in policy.
pub(crate) struct PyPolicies {
    border: Arc<Border>,
    placement: Option<Py<PyAny>>,
    victim: Option<Py<PyAny>>,
    mapping: Option<Py<PyAny>>,
    buffer: Option<Py<PyAny>>,
    ahead: Option<Arc<Mutex<Ahead>>>,
    log2_page: u32,
}

impl PyPolicies {
    /// Takes the policies from the attributes `placement`, `victim`, `mapping` and `buffer`.
    pub(crate) fn new(given: &Bound<'_, PyAny>, control: &Arc<Control>) -> PyResult<Self> {
        let named = |name| {
            let policy = given.getattr(name)?;
            PyResult::Ok((!policy.is_none()).then(|| policy.unbind()))
        };
        let at = At { is_start: true, request: None, until: None };
        Ok(Self {
            border: Arc::new(Border {
                control: Arc::clone(control),
                has_failed: AtomicBool::new(false),
                fault: Mutex::new(None),
                at: Mutex::new(at),
            }),
            placement: named("placement")?,
            victim: named("victim")?,
            mapping: named("mapping")?,
            buffer: named("buffer")?,
            ahead: None,
            log2_page: 0,
        })
    }

    /// Returns the shared state, which has the first error.
    pub(crate) fn border(&self) -> Arc<Border> {
        Arc::clone(&self.border)
    }

    /// Passes the shape of the drive to a policy.
    fn start<S>(&self, policy: &Py<PyAny>, shape: S)
    where
        (S,): for<'py> pyo3::call::PyCallArgs<'py>,
    {
        self.border.ask((), |py| policy.call_method1(py, "start", (shape,)).map(drop));
    }
}

impl ExternalPolicies for PyPolicies {
    fn placement(&mut self, geometry: &Geometry) -> Option<Box<dyn ExternalPlacement>> {
        let policy = self.placement.take()?;
        self.start(&policy, DriveShape::new(geometry));
        self.log2_page = geometry.log2_page_bytes();
        let made = Python::attach(|py| Placed::new(py, policy, &self.border));
        let (placed, ahead) = made.map_err(|error| self.border.fail(error)).ok()?;
        self.ahead = ahead;
        Some(Box::new(placed))
    }

    fn victim(&mut self, geometry: &Geometry, _: &VictimConfig) -> Option<Box<dyn Victim + Send>> {
        let policy = self.victim.take()?;
        self.start(&policy, DriveShape::new(geometry));
        Some(Box::new(Chosen::new(policy, &self.border)))
    }

    fn mapping(&mut self, config: &MapConfig) -> Option<Boxed> {
        let policy = self.mapping.take()?;
        self.start(&policy, MapShape::new(config));
        Some(Boxed::new(Mapped::new(policy, config, &self.border)))
    }

    fn buffer(
        &mut self,
        geometry: &Geometry,
        config: &BufferConfig,
    ) -> Option<Box<dyn ExternalBuffer>> {
        let policy = self.buffer.take()?;
        self.start(&policy, BufferShape::new(geometry, config));
        Some(Box::new(PyBuffer::new(policy, &self.border)))
    }

    fn upcoming(&mut self, before: u64, requests: &[Request]) {
        let Some(ahead) = &self.ahead else { return };
        let mut ahead = locked(ahead);
        for (number, request) in (before..).zip(requests) {
            if request.op == Op::Write {
                ahead.expect((number, *request), self.log2_page);
            }
        }
        ahead.sort(&self.border);
    }

    fn begin(&mut self, number: u64, request: &Request) {
        locked(&self.border.at).request = Some((number, *request));
    }

    fn started(&mut self) {
        *locked(&self.border.at) = At { is_start: false, request: None, until: None };
    }
}
