//! A buffer policy in Python.

use std::ops::Range;
use std::sync::Arc;

use floatgate_ftl::buffer::GuestBuffer;
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Border, bytes, shown};

/// Says which block leaves.
pub(super) struct Held {
    policy: Py<PyAny>,
    border: Arc<Border>,
}

impl Held {
    pub(super) fn new(policy: Py<PyAny>, border: &Arc<Border>) -> Self {
        Self { policy, border: Arc::clone(border) }
    }

    fn tell<A>(&self, method: &str, given: A)
    where
        A: for<'py> PyCallArgs<'py>,
    {
        self.border.ask((), |py| self.policy.call_method1(py, method, given).map(drop));
    }
}

impl GuestBuffer for Held {
    fn written(&mut self, block: u32, pages: Range<u32>, buffered: u32) {
        self.tell("written", (block, pages.start, pages.end - pages.start, buffered));
    }

    fn read(&mut self, block: u32) {
        self.tell("read", (block,));
    }

    fn trimmed(&mut self, block: u32, left: u32) {
        self.tell("trimmed", (block, left));
    }

    fn victim(&mut self, blocks: &[u32]) -> u32 {
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
