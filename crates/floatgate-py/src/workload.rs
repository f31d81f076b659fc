//! Workloads across the border: Arrow batches in, and out again.

use std::sync::{Arc, Mutex};

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt8Type, UInt64Type};
use arrow_array::{RecordBatch, UInt8Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use floatgate_lab::config;
use floatgate_lab::result::Facts;
use floatgate_lab::workload::{Recorded, Summary, Workload as Requests, generator};
use pyo3::prelude::*;
use pyo3_arrow::{PyRecordBatch, PyRecordBatchReader};

use crate::{ConfigError, RunError, config_error};

#[derive(Clone)]
enum Source {
    Generator { spec: String, seed: u64 },
    Recorded(Box<Recorded>),
}

/// Requests that can be run any number of times, on any number of threads.
#[pyclass(frozen)]
pub struct Workload {
    source: Source,
    summary: Summary,
    /// A generator's text as the user wrote it, and what it stands in for; a recording's name.
    name: String,
}

impl Workload {
    /// The requests, from the start.
    pub fn start(&self) -> Result<Box<dyn Requests + Send>, config::ConfigError> {
        match &self.source {
            Source::Generator { spec, seed } => generator(spec, *seed),
            Source::Recorded(recorded) => Ok(recorded.clone()),
        }
    }

    /// What goes into the result.
    pub fn facts(&self) -> Facts {
        Facts { name: self.name.clone(), digest: self.digest(), ..Facts::default() }
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
        let source = Source::Generator { spec: spec.to_owned(), seed };
        Ok(Self { source, summary: workload.summary(), name })
    }

    #[staticmethod]
    fn recorded(
        name: &str,
        frame: PyRecordBatchReader,
        repeat: u64,
        time_scale: f64,
    ) -> PyResult<Self> {
        let mut recorded = Recorded::new(name, repeat, time_scale).map_err(config_error)?;
        for batch in frame.into_reader()? {
            let batch = batch.map_err(|error| RunError::new_err(error.to_string()))?;
            let [at_ns, offset, length] =
                ["at_ns", "offset", "length"].map(|name| numbers(&batch, name));
            let op = column(&batch, "op")?.as_primitive_opt::<UInt8Type>();
            let op = op.ok_or_else(|| ConfigError::new_err("column `op`: expected uint8"))?;
            recorded
                .push_columns(at_ns?.values(), op.values(), offset?.values(), length?.values())
                .map_err(config_error)?;
        }
        let (summary, name) = (recorded.summary(), name.to_owned());
        Ok(Self { source: Source::Recorded(Box::new(recorded)), summary, name })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    #[getter]
    fn requests(&self) -> u64 {
        self.summary.requests
    }

    #[getter]
    fn span_bytes(&self) -> u64 {
        self.summary.span_bytes
    }

    #[getter]
    fn digest(&self) -> String {
        format!("{:016x}", self.summary.digest)
    }

    /// The requests as Arrow record batches of `size` rows.
    fn batches(&self, size: usize) -> PyResult<Batches> {
        let requests = Mutex::new(self.start().map_err(config_error)?);
        Ok(Batches { requests, size: size.max(1), schema: batch_schema() })
    }
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

fn batch_schema() -> SchemaRef {
    let field = |name, kind| Field::new(name, kind, false);
    Arc::new(Schema::new(vec![
        field("at_ns", DataType::UInt64),
        field("op", DataType::UInt8),
        field("offset", DataType::UInt64),
        field("length", DataType::UInt64),
    ]))
}

/// An iterator over Arrow record batches.
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
        py.detach(|| {
            if let Ok(mut requests) = self.requests.lock() {
                requests.next_batch(&mut batch, self.size);
            }
        });
        if batch.is_empty() {
            return Ok(None);
        }
        let numbers = |of: fn(&floatgate_lab::Request) -> u64| {
            Arc::new(UInt64Array::from_iter_values(batch.iter().map(of)))
        };
        let op = UInt8Array::from_iter_values(batch.iter().map(|request| request.op as u8));
        let columns: Vec<Arc<dyn arrow_array::Array>> = vec![
            numbers(|request| request.at_ns),
            Arc::new(op),
            numbers(|request| request.offset),
            numbers(|request| request.length),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(|error| RunError::new_err(error.to_string()))?;
        Ok(Some(PyRecordBatch::new(batch)))
    }
}
