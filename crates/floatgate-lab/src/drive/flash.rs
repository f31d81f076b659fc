//! The flash of a simulated drive: timed or untimed, verified or not.

use std::convert::Infallible;

use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::{Checked, Counted, Faults, Faulty, Nand, Stamped, Timed};

use super::Plan;

/// Flash that counts its operations, timed or untimed.
pub(super) trait Medium: Nand<Error = Infallible, Clock: Send> + Send + 'static {
    /// Makes the flash of a plan in the shape `geometry`, erased.
    fn erased(plan: &Plan, geometry: Geometry) -> Self;
}

impl Medium for Timed<Counted> {
    fn erased(plan: &Plan, geometry: Geometry) -> Self {
        Self::with_schedule(Counted::new(&geometry), geometry, plan.timing, plan.schedule)
    }
}

impl Medium for Counted {
    fn erased(_: &Plan, geometry: Geometry) -> Self {
        Self::new(&geometry)
    }
}

/// Makes erased flash that checks the rules of NAND, stores a version per page, and fails as the
/// plan's faults state. `gaps` allows units with gaps, which log blocks leave.
pub(super) fn verified<N: Medium>(
    plan: &Plan,
    seed: u64,
    gaps: bool,
) -> Stamped<Faulty<Checked<N>>> {
    let faults = Faults { seed, ..plan.faults.unwrap_or_default() };
    let checked = Checked::new(N::erased(plan, plan.flash), plan.flash);
    let checked = if gaps { checked.with_gaps() } else { checked };
    let pages = plan.medium.physical_pages();
    Stamped::new(Faulty::new(checked, plan.medium, faults), pages)
}
