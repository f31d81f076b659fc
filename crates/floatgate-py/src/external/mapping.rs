//! A map cache in Python.

use std::cell::Cell;
use std::sync::Arc;

use floatgate_ftl::addr::{Lpn, Ppn, Tpn};
use floatgate_ftl::counters::Counters;
use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::mapping::{
    Access, AccessKind, MapConfig, MapOp, MapStats, MapUnreported, Mapping, Prefetch, Residency,
};
use floatgate_ftl::policy::Policy;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Border, bytes, shown};

/// Access to a map entry, as a policy sees it.
#[pyclass(frozen, get_all, module = "floatgate")]
pub(crate) struct MapAccess {
    lpn: u32,
    tpn: u32,
    kind: &'static str,
    remaining: u32,
    first: bool,
    mapped: bool,
}

/// Counts of a policy since its start, each if the policy reports it: hits, misses, evictions,
/// dirty evictions, entries prefetched, prefetched entries used, and not used. The last is the
/// present size of its cache in bytes.
type Counts = [Option<u64>; 8];

/// The mapping of a drive.
pub(super) struct Mapped {
    policy: Py<PyAny>,
    geometry: Geometry,
    /// Maximum size of the cache.
    bytes_max: u64,
    hears_assigned: bool,
    tells_counts: bool,
    /// Accesses that hit, judged by the policy's answers. `misses` counts the others.
    hits: u64,
    misses: u64,
    /// Latest counts from the policy. `before` has the counts at the last reset.
    reported: Cell<Counts>,
    before: Counts,
    border: Arc<Border>,
}

impl Mapped {
    pub(super) fn new(policy: Py<PyAny>, config: &MapConfig, border: &Arc<Border>) -> Self {
        let flag = |name| border.ask(false, |py| policy.getattr(py, name)?.extract(py));
        let (hears_assigned, tells_counts) = (flag("hears_assigned"), flag("tells_counts"));
        Self {
            policy,
            geometry: config.geometry,
            bytes_max: config.cache_bytes,
            hears_assigned,
            tells_counts,
            hits: 0,
            misses: 0,
            reported: Cell::default(),
            before: Counts::default(),
            border: Arc::clone(border),
        }
    }

    /// Returns the policy's counts since its start.
    fn counted(&self) -> Counts {
        if self.tells_counts {
            let counts = self
                .border
                .ask(self.reported.get(), |py| self.policy.call_method0(py, "counts")?.extract(py));
            self.reported.set(counts);
        }
        self.reported.get()
    }

    /// Returns the map operations in the answer of a method.
    fn asked(
        &self,
        method: &str,
        call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Py<PyAny>>,
    ) -> Vec<MapOp> {
        self.border.ask(Vec::new(), |py| {
            let answer = call(self.policy.bind(py))?.into_bound(py);
            if answer.is_none() {
                return Ok(Vec::new());
            }
            let found = answer.extract::<Vec<(String, u32)>>().ok();
            found.and_then(|ops| ops.iter().map(|op| self.op(op)).collect()).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "{method}() returned {}: expected a list of (\"fetch\", \"update\" or \
                     \"rewrite\", translation page from 0 to {}), or None",
                    shown(&answer),
                    self.geometry.translation_pages() - 1
                ))
            })
        })
    }

    fn op(&self, (kind, tpn): &(String, u32)) -> Option<MapOp> {
        let tpn = (*tpn < self.geometry.translation_pages()).then(|| Tpn::new(*tpn))?;
        match kind.as_str() {
            "fetch" => Some(MapOp::Fetch(tpn)),
            "update" => Some(MapOp::Update(tpn)),
            "rewrite" => Some(MapOp::Rewrite(tpn)),
            _ => None,
        }
    }
}

/// Returns the number of operations that program a translation page.
fn programs(ops: &[MapOp]) -> usize {
    ops.iter().filter(|op| !matches!(op, MapOp::Fetch(_))).count()
}

impl Prefetch for Mapped {}

impl Mapping for Mapped {
    fn access(&mut self, access: Access, io: &mut Vec<MapOp>) {
        let Access { lpn, kind, remaining, first, mapped } = access;
        let tpn = self.geometry.translation_page(lpn);
        let kind = match kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::Trim => "trim",
        };
        let (lpn, page) = (lpn.get(), tpn.get());
        let given = MapAccess { lpn, tpn: page, kind, remaining, first, mapped };
        let ops =
            self.asked("access", |policy| Ok(policy.call_method1("access", (given,))?.unbind()));
        let missed = ops.contains(&MapOp::Fetch(tpn)) || ops.contains(&MapOp::Update(tpn));
        self.hits += u64::from(!missed);
        self.misses += u64::from(missed);
        io.extend(ops);
    }

    fn relocated(&mut self, moved: &[(Lpn, Ppn)], io: &mut Vec<MapOp>) {
        let most = moved.len().min(self.geometry.translation_pages() as usize);
        let ops = self.asked("relocated", |policy| {
            let lpns = bytes(policy.py(), moved.iter().map(|(lpn, _)| lpn.get().into()));
            Ok(policy.call_method1("relocated", (lpns,))?.unbind())
        });
        if programs(&ops) > most {
            let text = format!(
                "relocated() returned {} programs: expected at most {most}, one for each page \
                 moved or translation page",
                programs(&ops)
            );
            return self.border.fail(PyValueError::new_err(text));
        }
        io.extend(ops);
    }

    fn residency(&self, lpn: Lpn) -> Residency {
        self.border.ask(Residency::Clean, |py| {
            let answer = self.policy.bind(py).call_method1("residency", (lpn.get(),))?;
            match answer.extract::<String>().as_deref() {
                Ok("absent") => Ok(Residency::Absent),
                Ok("clean") => Ok(Residency::Clean),
                Ok("dirty") => Ok(Residency::Dirty),
                _ => Err(PyValueError::new_err(format!(
                    "residency() returned {}: expected \"absent\", \"clean\" or \"dirty\"",
                    shown(&answer)
                ))),
            }
        })
    }

    fn assigned(&mut self, lpn: Lpn, _: Ppn, io: &mut Vec<MapOp>) {
        if self.hears_assigned {
            let given = (lpn.get(),);
            let ops = self
                .asked("assigned", |policy| Ok(policy.call_method1("assigned", given)?.unbind()));
            io.extend(ops);
        }
    }

    fn flush(&mut self, io: &mut Vec<MapOp>) {
        let ops = self.asked("flush", |policy| Ok(policy.call_method0("flush")?.unbind()));
        io.extend(ops);
    }
}

impl Policy for Mapped {
    fn report(&self, counters: &mut Counters) {
        let now = self.counted();
        let of = |at: usize| now[at].map(|count| count - self.before[at].unwrap_or(0));
        let (count, is_unreported) = (|at| of(at).unwrap_or(0), |at: usize| now[at].is_none());
        counters.map = MapStats {
            hits: of(0).unwrap_or(self.hits),
            misses: of(1).unwrap_or(self.misses),
            evictions: count(2),
            dirty_evictions: count(3),
            prefetched: count(4),
            prefetch_used: count(5),
            prefetch_unused: count(6),
            unreported: MapUnreported {
                evictions: is_unreported(2),
                dirty_evictions: is_unreported(3),
                prefetched: is_unreported(4),
                prefetch_used: is_unreported(5),
                prefetch_unused: is_unreported(6),
                cache_bytes: is_unreported(7),
            },
        };
    }

    fn memory_bytes(&self) -> u64 {
        self.reported.get()[7].unwrap_or(0)
    }

    fn check(&self) {
        let (bytes, most) = (self.counted()[7].unwrap_or(0), self.bytes_max);
        assert!(bytes <= most, "its cache has {bytes} bytes, of at most {most} (mapping.cache)");
    }

    fn reset_counters(&mut self) {
        self.before = self.counted();
        (self.hits, self.misses) = (0, 0);
    }
}

floatgate_ftl::state!(Mapped unsaved);
