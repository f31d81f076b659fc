//! A victim policy in Python.

use std::sync::Arc;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::policy::Policy;
use floatgate_ftl::unit_table::{Pool, UnitTable};
use floatgate_ftl::victim::Victim;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{Border, bytes, shown};

/// Policy that chooses units to clean.
pub(super) struct Chosen {
    policy: Py<PyAny>,
    units: Vec<Unit>,
    border: Arc<Border>,
}

impl Chosen {
    pub(super) fn new(policy: Py<PyAny>, border: &Arc<Border>) -> Self {
        Self { policy, units: Vec::new(), border: Arc::clone(border) }
    }

    fn ask(&self, py: Python<'_>, table: &UnitTable) -> PyResult<Unit> {
        let of = |value: &dyn Fn(Unit) -> u64| {
            bytes(py, self.units.iter().map(|&unit| value(unit) as i64))
        };
        let columns = [
            of(&|unit| unit.0.into()),
            of(&|unit| table.reclaim_valid(unit).into()),
            of(&|unit| table.reclaim_capacity(unit).into()),
            of(&|unit| table.stream(unit).into()),
            of(&|unit| table.erases(unit).into()),
            of(&|unit| table.sealed_after(unit)),
            of(&|unit| table.opened(unit)),
            of(&|unit| table.sealed_at(unit)),
            of(&|unit| table.modified(unit)),
        ];
        let answer = self.policy.bind(py).call_method1("pick", (columns.to_vec(), table.now()))?;
        let picked = answer.extract::<u32>().ok().map(Unit);
        picked.filter(|unit| self.units.contains(unit)).ok_or_else(|| {
            PyValueError::new_err(format!(
                "pick() returned {}: expected one of the {} numbers in candidates.unit",
                shown(&answer),
                self.units.len(),
            ))
        })
    }
}

impl Victim for Chosen {
    fn pick(&mut self, table: &mut UnitTable, pool: Pool) -> Option<Unit> {
        self.units.clear();
        self.units.extend(table.sealed(pool));
        let emptiest = *self.units.iter().min_by_key(|&&unit| table.valid_share(unit))?;
        Some(self.border.ask(emptiest, |py| self.ask(py, table)))
    }
}

impl Policy for Chosen {}

floatgate_ftl::state!(Chosen unsaved);
