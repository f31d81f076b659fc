//! Workloads from Python and to Python, as Arrow batches.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt16Type, UInt64Type};
use arrow_array::{RecordBatch, UInt8Array, UInt16Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use floatgate_lab::Request;
use floatgate_lab::config;
use floatgate_lab::jobs::JobSet;
use floatgate_lab::result::Facts;
use floatgate_lab::workload::{
    Broken, Extent, Feed, Reader, Recorded, Rows, RunSlots, Seat, Streamed, Summary,
    Workload as Requests, append_requests, generator,
};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};

use crate::{ConfigError, RunError, config_error, run_error};

#[derive(Clone)]
enum WorkloadSource {
    Generator { spec: String, seed: u64 },
    Jobs(JobSet),
    Recorded(Box<Recorded>),
    Streamed(Box<Streamed>),
}

/// Requests that can be run any number of times, on any number of threads.
#[pyclass(frozen)]
pub struct Workload {
    source: WorkloadSource,
    requests: u64,
    span_bytes: u64,
    /// Name: a generator's text as the user wrote it, with the trace that it imitates, or a
    /// recording's name.
    name: String,
}

impl Workload {
    fn new(source: WorkloadSource, summary: &Summary, name: String) -> Self {
        Self { source, requests: summary.requests, span_bytes: summary.span_bytes, name }
    }

    /// Returns the requests, from the start. Jobs send theirs in the order of a drive without a
    /// clock.
    pub fn start(&self) -> Result<Box<dyn Requests + Send>, config::ConfigError> {
        match &self.source {
            WorkloadSource::Generator { spec, seed } => generator(spec, *seed),
            WorkloadSource::Jobs(jobs) => Ok(Box::new(jobs.in_turns()?)),
            WorkloadSource::Recorded(recorded) => Ok(recorded.clone()),
            WorkloadSource::Streamed(streamed) => Ok(streamed.clone()),
        }
    }

    /// Returns the jobs, if the workload consists of closed loops.
    pub fn jobs(&self) -> Option<&JobSet> {
        match &self.source {
            WorkloadSource::Jobs(jobs) => Some(jobs),
            _ => None,
        }
    }

    /// Returns the facts for the result.
    pub fn facts(&self) -> Facts {
        Facts { name: self.name.clone(), ..Facts::default() }
    }
}

#[pymethods]
impl Workload {
    #[staticmethod]
    fn generator(spec: &str, seed: u64) -> PyResult<Self> {
        let workload = generator(spec, seed).map_err(config_error)?;
        let name = match workload.stands_for() {
            Some(trace) => format!("{spec} (stand-in for {trace})"),
            None => spec.to_owned(),
        };
        let source = WorkloadSource::Generator { spec: spec.to_owned(), seed };
        Ok(Self::new(source, &workload.summary(), name))
    }

    #[staticmethod]
    fn jobs_of(name: &str, text: &str, seed: u64, limit: Option<u64>) -> PyResult<Self> {
        let jobs = JobSet::new(name, text, seed, limit).map_err(config_error)?;
        let summary = jobs.summary();
        Ok(Self::new(WorkloadSource::Jobs(jobs), &summary, name.to_owned()))
    }

    #[staticmethod]
    #[pyo3(signature = (name, frame, repeat, time_scale, *, closed = false))]
    fn recorded(
        name: &str,
        frame: PyRecordBatchReader,
        repeat: u64,
        time_scale: f64,
        closed: bool,
    ) -> PyResult<Self> {
        let recorded = Recorded::new(name, repeat, time_scale).map_err(config_error)?;
        let mut recorded = recorded.closed(closed);
        let mut requests = Vec::new();
        for batch in frame.into_reader()? {
            let batch = batch.map_err(|error| RunError::new_err(error.to_string()))?;
            requests.clear();
            append(&mut requests, &batch)?;
            recorded.push(&requests).map_err(config_error)?;
        }
        let source = WorkloadSource::Recorded(Box::new(recorded.clone()));
        Ok(Self::new(source, &recorded.summary(), name.to_owned()))
    }

    #[staticmethod]
    #[pyo3(signature = (name, open, repeat, time_scale, *, closed, requests, span_bytes, last_ns))]
    #[allow(clippy::too_many_arguments)]
    fn streamed(
        name: &str,
        open: Py<PyAny>,
        repeat: u64,
        time_scale: f64,
        closed: bool,
        requests: u64,
        span_bytes: u64,
        last_ns: u64,
    ) -> PyResult<Self> {
        let extent = Extent { name: name.to_owned(), requests, span_bytes, last_ns };
        let streamed = Streamed::new(Arc::new(Frames(open)), extent, repeat, time_scale);
        let streamed = streamed.map_err(config_error)?.closed(closed);
        let source = WorkloadSource::Streamed(Box::new(streamed.clone()));
        Ok(Self::new(source, &streamed.summary(), name.to_owned()))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Whether requests have no times, and wait for each other.
    #[getter]
    fn is_closed(&self) -> PyResult<bool> {
        Ok(self.start().map_err(config_error)?.summary().closed)
    }

    /// Whether requests may have placement handles.
    #[getter]
    fn has_streams(&self) -> PyResult<bool> {
        if let Some(jobs) = self.jobs() {
            return Ok(jobs.has_handles());
        }
        Ok(self.start().map_err(config_error)?.has_streams())
    }

    #[getter]
    fn requests(&self) -> u64 {
        self.requests
    }

    #[getter]
    pub fn span_bytes(&self) -> u64 {
        self.span_bytes
    }

    /// Whether runs share no reading: all requests are in memory, or each run makes its own because
    /// their order depends on the drive.
    #[getter]
    pub fn is_held(&self) -> bool {
        matches!(self.source, WorkloadSource::Recorded(_) | WorkloadSource::Jobs(_))
    }

    #[getter]
    fn digest(&self, py: Python<'_>) -> PyResult<String> {
        let digest = match &self.source {
            WorkloadSource::Streamed(streamed) => py.detach(|| streamed.digest()),
            WorkloadSource::Jobs(jobs) => Ok(jobs.summary().digest),
            _ => Ok(self.start().map_err(config_error)?.summary().digest),
        };
        Ok(format!("{:016x}", digest.map_err(|broken| run_error(broken.into()))?))
    }

    /// Returns the requests as Arrow record batches of `size` rows, with the column `stream` if
    /// there are placement handles.
    fn batches(&self, size: usize) -> PyResult<Batches> {
        let requests = self.start().map_err(config_error)?;
        let schema = batch_schema(requests.has_streams());
        Ok(Batches { requests: Mutex::new(requests), size: size.max(1), schema })
    }
}

/// Limit on the number of runs that work at a time.
#[pyclass(frozen, name = "Turns")]
pub struct PyTurns(pub Arc<RunSlots>);

#[pymethods]
impl PyTurns {
    #[new]
    fn new(count: usize) -> Self {
        Self(Arc::new(RunSlots::new(count)))
    }
}

/// One reading of a workload for several runs.
#[pyclass(frozen)]
pub struct Reading {
    feed: Arc<Feed>,
    seats: Mutex<Vec<Seat>>,
}

impl Reading {
    /// Returns the workload for one of the runs.
    pub fn seat(&self) -> PyResult<Seat> {
        let seat = self.seats.lock().ok().and_then(|mut seats| seats.pop());
        seat.ok_or_else(|| RunError::new_err("more runs than the reading is for"))
    }
}

#[pymethods]
impl Reading {
    #[new]
    fn new(workload: &Workload, runs: usize, turns: &PyTurns) -> PyResult<Self> {
        let requests = workload.start().map_err(config_error)?;
        let (feed, seats) = Feed::new(requests, runs, Some(Arc::clone(&turns.0)));
        Ok(Self { feed, seats: Mutex::new(seats) })
    }

    /// Ends the runs that wait for requests.
    fn stop(&self) {
        self.feed.stop();
    }
}

/// Frames that Python reads: a function that returns an iterator over all frames.
struct Frames(Py<PyAny>);

impl Rows for Frames {
    fn open(&self) -> Result<Box<dyn Reader>, Broken> {
        let iterator = Python::attach(|py| {
            let frames = self.0.call0(py)?;
            Ok(frames.bind(py).try_iter()?.unbind().into_any())
        });
        Ok(Box::new(FrameReader(iterator.map_err(unreadable)?)))
    }
}

struct FrameReader(Py<PyAny>);

impl Reader for FrameReader {
    fn read(&mut self, out: &mut Vec<Request>) -> Result<bool, Broken> {
        let batches = Python::attach(|py| {
            let Some(frame) = self.0.bind(py).try_iter()?.next() else { return Ok(None) };
            let batches = frame?.extract::<PyRecordBatchReader>()?.into_reader()?;
            Ok(Some(batches))
        });
        let Some(batches) = batches.map_err(unreadable)? else { return Ok(false) };
        for batch in batches {
            let batch = batch.map_err(|error| Broken::Unreadable(error.to_string()))?;
            append(out, &batch).map_err(unreadable)?;
        }
        Ok(true)
    }
}

fn unreadable(error: PyErr) -> Broken {
    Broken::Unreadable(Python::attach(|py| error.value(py).to_string()))
}

/// Appends the requests of a batch with the columns at_ns, op, offset and length, and with stream
/// if the batch has that column.
fn append(out: &mut Vec<Request>, batch: &RecordBatch) -> PyResult<()> {
    let [at_ns, offset, length] = ["at_ns", "offset", "length"].map(|name| numbers(batch, name));
    let op = column(batch, "op")?.as_primitive_opt::<UInt8Type>();
    let op = op.ok_or_else(|| ConfigError::new_err("column `op`: expected uint8"))?;
    let first = out.len();
    append_requests(out, at_ns?.values(), op.values(), offset?.values(), length?.values())
        .map_err(config_error)?;
    if batch.column_by_name("stream").is_some() {
        let streams = column(batch, "stream")?.as_primitive_opt::<UInt16Type>();
        let streams =
            streams.ok_or_else(|| ConfigError::new_err("column `stream`: expected uint16"))?;
        for (request, &stream) in out[first..].iter_mut().zip(streams.values()) {
            request.stream = stream;
        }
    }
    Ok(())
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a Arc<dyn arrow_array::Array>> {
    let found = batch.column_by_name(name);
    let column =
        found.ok_or_else(|| ConfigError::new_err(format!("column `{name}` is missing")))?;
    if column.null_count() > 0 {
        return Err(ConfigError::new_err(format!("column `{name}`: expected no nulls")));
    }
    Ok(column)
}

fn numbers<'a>(batch: &'a RecordBatch, name: &str) -> PyResult<&'a UInt64Array> {
    column(batch, name)?
        .as_primitive_opt::<UInt64Type>()
        .ok_or_else(|| ConfigError::new_err(format!("column `{name}`: expected uint64")))
}

fn batch_schema(has_streams: bool) -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, false);
    let mut fields = vec![
        field("at_ns", DataType::UInt64),
        field("op", DataType::UInt8),
        field("offset", DataType::UInt64),
        field("length", DataType::UInt64),
    ];
    fields.extend(has_streams.then(|| field("stream", DataType::UInt16)));
    Arc::new(Schema::new(fields))
}

/// Iterator over Arrow record batches.
#[pyclass(frozen)]
struct Batches {
    requests: Mutex<Box<dyn Requests + Send>>,
    size: usize,
    schema: SchemaRef,
}

#[pymethods]
impl Batches {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<PyRecordBatch>> {
        let mut batch = Vec::with_capacity(self.size);
        let read = py.detach(|| match self.requests.lock() {
            Ok(mut requests) => requests.next_batch(&mut batch, self.size),
            Err(_) => Ok(()),
        });
        read.map_err(|broken| run_error(broken.into()))?;
        if batch.is_empty() {
            return Ok(None);
        }
        let numbers =
            |of: fn(&Request) -> u64| Arc::new(UInt64Array::from_iter_values(batch.iter().map(of)));
        let op = UInt8Array::from_iter_values(batch.iter().map(|request| request.op as u8));
        let mut columns: Vec<Arc<dyn arrow_array::Array>> = vec![
            numbers(|request| request.at_ns),
            Arc::new(op),
            numbers(|request| request.offset),
            numbers(|request| request.length),
        ];
        if self.schema.fields().len() > columns.len() {
            let streams = batch.iter().map(|request| request.stream);
            columns.push(Arc::new(UInt16Array::from_iter_values(streams)));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(|error| RunError::new_err(error.to_string()))?;
        Ok(Some(PyRecordBatch::new(batch)))
    }
}
