//! A placement in Python: called page by page, or for all pages of a batch of requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::pages;
use floatgate_ftl::placement::{self as engine, ExternalPlacement, Relocation};
use pyo3::exceptions::{PyAssertionError, PyValueError};
use pyo3::prelude::*;

use super::{Border, HostWrite, Numbered, Reclaimed, bytes, locked, shown};

/// Page that will be written soon.
struct Expected {
    page: u32,
    request_pages: u32,
    of: Numbered,
}

/// Streams of the next written pages, for a policy that sorts many pages at a time.
pub(super) struct Ahead {
    policy: Py<PyAny>,
    expected: Vec<Expected>,
    sorted: VecDeque<(u32, u8)>,
    /// Number of pages before the first expected one.
    clock: u64,
}

impl Ahead {
    /// Adds the pages of a request, if it writes pages.
    pub(super) fn expect(&mut self, of: Numbered, log2_page: u32) {
        let pages = pages(&of.1, log2_page);
        let request_pages = (pages.end - pages.start) as u32;
        let expected = |page| Expected { page: page as u32, request_pages, of };
        self.expected.extend(pages.map(expected));
    }

    /// Gets the streams of all expected pages from the policy.
    pub(super) fn sort(&mut self, border: &Border) {
        let expected = &self.expected;
        if expected.is_empty() {
            return;
        }
        let streams = border.ask(Vec::new(), |py| {
            let lpns = bytes(py, expected.iter().map(|one| one.page.into()));
            let counts = bytes(py, expected.iter().map(|one| one.request_pages.into()));
            let handles = bytes(py, expected.iter().map(|one| one.of.1.stream.into()));
            let arrivals = bytes(py, expected.iter().map(|one| one.of.1.at_ns as i64));
            let given = (lpns, counts, handles, arrivals, self.clock);
            let answer = self.policy.call_method1(py, "stream_batch", given);
            answer.and_then(|answer| answer.extract::<Vec<u8>>(py)).or_else(|error| {
                self.fail(py, border, error)?;
                Ok(Vec::new())
            })
        });
        self.sorted.extend(expected.iter().zip(streams).map(|(one, stream)| (one.page, stream)));
        self.clock += expected.len() as u64;
        self.expected.clear();
    }

    /// Reports an error: for the request of the page with an invalid answer, or else for the batch.
    fn fail(&self, py: Python<'_>, border: &Border, error: PyErr) -> PyResult<()> {
        match self.policy.getattr(py, "at_fault")?.extract::<Option<usize>>(py)? {
            Some(at) => border.fail_ahead(error, self.expected[at].of, None),
            None => {
                let last = self.expected.last().map(|one| one.of.0 + 1);
                border.fail_ahead(error, self.expected[0].of, last);
            }
        }
        Ok(())
    }

    /// Returns the stream of `lpn`, the next page. Skips pages before it that were not written.
    fn next(&mut self, lpn: u32) -> Option<u8> {
        while let Some((page, stream)) = self.sorted.pop_front() {
            if page == lpn {
                return Some(stream);
            }
        }
        None
    }
}

/// The placement of a drive.
pub(super) struct Placed {
    policy: Py<PyAny>,
    /// Method that is called for each page.
    stream: Py<PyAny>,
    ahead: Option<Arc<Mutex<Ahead>>>,
    streams: u8,
    sorts_moved: bool,
    hears_trims: bool,
    hears_reclaims: bool,
    border: Arc<Border>,
}

impl Placed {
    /// Makes the placement. For a batched policy, also returns the part that sorts ahead.
    pub(super) fn new(
        py: Python<'_>,
        policy: Py<PyAny>,
        border: &Arc<Border>,
    ) -> PyResult<(Self, Option<Arc<Mutex<Ahead>>>)> {
        let flag = |name| policy.getattr(py, name)?.extract::<bool>(py);
        let ahead = flag("is_batched")?.then(|| {
            let (expected, sorted) = (Vec::new(), VecDeque::new());
            let policy = policy.clone_ref(py);
            Arc::new(Mutex::new(Ahead { policy, expected, sorted, clock: 0 }))
        });
        let placed = Self {
            stream: policy.getattr(py, "stream")?,
            streams: policy.getattr(py, "streams")?.extract(py)?,
            sorts_moved: flag("sorts_moved")?,
            hears_trims: flag("hears_trims")?,
            hears_reclaims: flag("hears_reclaims")?,
            ahead: ahead.clone(),
            border: Arc::clone(border),
            policy,
        };
        Ok((placed, ahead))
    }

    fn stream_of(&self, py: Python<'_>, write: engine::HostWrite, handle: u16) -> PyResult<u8> {
        let answer = self.stream.bind(py).call1((HostWrite::new(write, handle),))?;
        let stream = answer.extract::<u8>().ok().filter(|&stream| stream < self.streams);
        stream.ok_or_else(|| {
            PyValueError::new_err(format!(
                "stream() returned {}: expected an int from 0 to {}",
                shown(&answer),
                self.streams - 1
            ))
        })
    }
}

impl ExternalPlacement for Placed {
    fn stream(&mut self, write: engine::HostWrite, handle: u16) -> u8 {
        match &self.ahead {
            None => self.border.ask(0, |py| self.stream_of(py, write, handle)),
            Some(ahead) => locked(ahead).next(write.lpn.get()).unwrap_or_else(|| {
                let text = format!("page {} is written, and was not expected", write.lpn.get());
                self.border.fail(PyAssertionError::new_err(text));
                0
            }),
        }
    }

    fn sorts_moved(&self) -> bool {
        self.sorts_moved
    }

    fn moved(&mut self, pages: &[Lpn], handles: &[u16], of: Relocation, streams: &mut Vec<u8>) {
        let stay = vec![of.stream; pages.len()];
        let found = self.border.ask(stay, |py| {
            let lpns = bytes(py, pages.iter().map(|lpn| lpn.get().into()));
            let handles = bytes(py, handles.iter().map(|&handle| handle.into()));
            let given = (lpns, handles, of.stream, of.clock, of.now_ns);
            self.policy.call_method1(py, "moved", given)?.extract::<Vec<u8>>(py)
        });
        streams.extend(found);
    }

    fn trimmed(&mut self, lpn: Lpn) {
        if self.hears_trims {
            let given = (lpn.get(),);
            self.border.ask((), |py| self.policy.call_method1(py, "trimmed", given).map(drop));
        }
    }

    fn reclaimed(&mut self, unit: engine::Reclaimed) {
        if self.hears_reclaims {
            let given = (Reclaimed::from(unit),);
            self.border.ask((), |py| self.policy.call_method1(py, "reclaimed", given).map(drop));
        }
    }
}
