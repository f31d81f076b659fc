//! A buffer policy in Python.

use std::ops::Range;
use std::sync::Arc;

use floatgate_ftl::buffer::ExternalBuffer;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Border, bytes, shown};

/// Maximum number of writes passed to a policy at a time.
const BATCH: usize = 1024;

/// Policy that chooses the block to evict.
pub(super) struct PyBuffer {
    policy: Py<PyAny>,
    hears_writes: bool,
    is_batched: bool,
    hears_reads: bool,
    hears_trims: bool,
    /// Writes not yet passed to a batched policy. For each: block, first page, number of pages, and
    /// pages of the block that were buffered then.
    pending: Vec<[u32; 4]>,
    border: Arc<Border>,
}

impl PyBuffer {
    pub(super) fn new(policy: Py<PyAny>, border: &Arc<Border>) -> Self {
        let flag = |name| border.ask(false, |py| policy.getattr(py, name)?.extract(py));
        Self {
            hears_writes: flag("hears_writes"),
            is_batched: flag("is_batched"),
            hears_reads: flag("hears_reads"),
            hears_trims: flag("hears_trims"),
            pending: Vec::new(),
            border: Arc::clone(border),
            policy,
        }
    }

    /// Reports an event to the policy, after all earlier writes.
    fn tell<A>(&mut self, method: &str, given: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.catch_up();
        self.border.ask((), |py| self.policy.call_method1(py, method, given).map(drop));
    }

    /// Passes the pending writes to the policy.
    fn catch_up(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        self.border.ask((), |py| {
            let column = |at: usize| bytes(py, self.pending.iter().map(|write| write[at].into()));
            let given = (column(0), column(1), column(2), column(3));
            self.policy.call_method1(py, "written_batch", given).map(drop)
        });
        self.pending.clear();
    }
}

/// Passes the last writes, because users inspect the policy after the run.
impl Drop for PyBuffer {
    fn drop(&mut self) {
        self.catch_up();
    }
}

impl ExternalBuffer for PyBuffer {
    fn written(&mut self, block: u32, pages: Range<u32>, buffered: u32) {
        let count = pages.end - pages.start;
        if self.hears_writes {
            self.tell("written", (block, pages.start, count, buffered));
        }
        if self.is_batched {
            self.pending.push([block, pages.start, count, buffered]);
            if self.pending.len() == BATCH {
                self.catch_up();
            }
        }
    }

    fn read(&mut self, block: u32) {
        if self.hears_reads {
            self.tell("read", (block,));
        }
    }

    fn trimmed(&mut self, block: u32, left: u32) {
        if self.hears_trims {
            self.tell("trimmed", (block, left));
        }
    }

    fn victim(&mut self, blocks: &[u32]) -> u32 {
        self.catch_up();
        self.border.ask(blocks[0], |py| {
            let given = (bytes(py, blocks.iter().map(|&block| block.into())),);
            let answer = self.policy.bind(py).call_method1("victim", given)?;
            let chosen = answer.extract::<u32>().ok().filter(|block| blocks.contains(block));
            chosen.ok_or_else(|| {
                PyValueError::new_err(format!(
                    "victim() returned {}: expected one of the {} blocks that it was given",
                    shown(&answer),
                    blocks.len()
                ))
            })
        })
    }
}
