//! Lines of text traces as columns.

use std::sync::Arc;

use arrow_array::types::Decimal128Type;
use arrow_array::{
    ArrayRef, Decimal128Array, PrimitiveArray, RecordBatch, StringViewArray, UInt8Array,
    UInt64Array,
};
use floatgate_lab::usual_lines::{Cell, Gap, Scanned, UsualLine};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::ConfigError;

/// Digits of a time in all, and behind its point.
const PRECISION: (u8, i8) = (38, 9);

/// Usual form of the lines of a format. Each cell has a content, and a name if it is a text column.
#[pyclass(frozen, name = "UsualLine")]
pub struct PyUsualLine {
    line: UsualLine,
    names: Vec<String>,
}

/// Requests and other lines of some data.
#[pyclass(frozen, get_all)]
pub struct ScannedLines {
    lines: u64,
    decimals: usize,
    left: Vec<u8>,
    left_numbers: Vec<u64>,
}

#[pymethods]
impl PyUsualLine {
    #[new]
    fn new(
        cells: Vec<(String, Option<String>)>,
        gap: &str,
        has_rest: bool,
        ops: Vec<(String, u8)>,
    ) -> PyResult<Self> {
        let mut names = Vec::new();
        let cells = cells.into_iter().map(|(content, name)| {
            let cell = Cell::named(&content);
            let unknown = || ConfigError::new_err(format!("cell {content}: unknown content"));
            let column = name.map(|name| {
                names.push(name);
                names.len() - 1
            });
            Ok((cell.ok_or_else(unknown)?, column))
        });
        let cells = cells.collect::<PyResult<_>>()?;
        let unknown = || ConfigError::new_err(format!("gap {gap:?}: unknown"));
        let gap = Gap::named(gap).ok_or_else(unknown)?;
        Ok(Self { line: UsualLine { cells, gap, has_rest, ops }, names })
    }

    /// Reads whole lines. Returns record batches with the columns number, time, op, offset, length
    /// and the named ones, and the lines of other forms.
    fn scan(&self, py: Python<'_>, data: &[u8]) -> PyResult<(Vec<PyRecordBatch>, ScannedLines)> {
        let (batches, left) = py.detach(|| {
            let parts = self.line.scan(data);
            let left = ScannedLines {
                lines: parts.iter().map(|part| part.lines).sum(),
                decimals: parts.iter().map(|part| part.decimals).max().unwrap_or(0),
                left: parts.iter().flat_map(|part| &part.left).copied().collect(),
                left_numbers: parts.iter().flat_map(|part| &part.left_numbers).copied().collect(),
            };
            let batches = parts.into_iter().map(|part| self.batch(part)).collect::<PyResult<_>>();
            (batches, left)
        });
        Ok((batches?, left))
    }
}

impl PyUsualLine {
    fn batch(&self, part: Scanned) -> PyResult<PyRecordBatch> {
        let times = PrimitiveArray::<Decimal128Type>::from(part.times);
        let times = times.with_precision_and_scale(PRECISION.0, PRECISION.1);
        let times: Decimal128Array =
            times.map_err(|error| ConfigError::new_err(error.to_string()))?;
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("number", Arc::new(UInt64Array::from(part.numbers))),
            ("time", Arc::new(times)),
            ("op", Arc::new(UInt8Array::from(part.ops))),
            ("offset", Arc::new(UInt64Array::from(part.offsets))),
            ("length", Arc::new(UInt64Array::from(part.lengths))),
        ];
        for (name, texts) in self.names.iter().zip(&part.texts) {
            columns.push((name, Arc::new(StringViewArray::from_iter_values(texts.iter()))));
        }
        let batch = RecordBatch::try_from_iter(columns);
        let batch = batch.map_err(|error| ConfigError::new_err(error.to_string()))?;
        Ok(PyRecordBatch::new(batch))
    }
}
