//! The flash of a simulated drive: timed or untimed, verified or not.

use std::convert::Infallible;

use floatgate_ftl::geometry::Geometry;
use floatgate_ftl::nand::{
    Checked, Counted, Faults, Faulty, HostData, Nand, Shadow, Stamped, Timed,
};

use super::Plan;

/// Flash that counts its operations, timed or untimed.
pub(super) trait Medium: Nand<Error = Infallible, Clock: Send> + Send + 'static {
    /// Makes the flash of a plan in the shape `geometry`, erased.
    fn with_shape(plan: &Plan, geometry: Geometry) -> Self;
}

impl Medium for Timed<Counted> {
    fn with_shape(plan: &Plan, geometry: Geometry) -> Self {
        Self::with_schedule(Counted::new(&geometry), geometry, plan.timing, plan.schedule)
    }
}

impl Medium for Counted {
    fn with_shape(_: &Plan, geometry: Geometry) -> Self {
        Self::new(&geometry)
    }
}

/// New flash for a simulated drive, and the host data that fits it.
pub(super) trait NewFlash:
    Nand<Error = Infallible, Clock: Send> + Send + Sized + 'static
{
    /// Data of the host.
    type Data: HostData<Self> + Send + 'static;

    /// Makes the flash of a plan, erased. `gaps` allows units in which pages are left out, as in
    /// log blocks.
    fn erased(plan: &Plan, seed: u64, gaps: bool) -> Self;

    /// Makes the data of a host that can address `pages` pages.
    fn data(pages: u32) -> Self::Data;
}

/// Flash without checks, at full speed.
impl<N: Medium> NewFlash for N {
    type Data = ();

    fn erased(plan: &Plan, _: u64, _: bool) -> Self {
        Self::with_shape(plan, plan.medium)
    }

    fn data(_: u32) {}
}

/// Flash that checks the rules of NAND, stores a version per page, and fails as the plan's faults
/// state.
pub(super) type Verified<N> = Stamped<Faulty<Checked<N>>>;

impl<N: Medium> NewFlash for Verified<N> {
    type Data = Shadow;

    fn erased(plan: &Plan, seed: u64, gaps: bool) -> Self {
        let faults = Faults { seed, ..plan.faults.unwrap_or_default() };
        let checked = Checked::new(N::with_shape(plan, plan.flash), plan.flash);
        let checked = if gaps { checked.with_gaps() } else { checked };
        let pages = plan.medium.physical_pages();
        Self::new(Faulty::new(checked, plan.medium, faults), pages)
    }

    fn data(pages: u32) -> Shadow {
        Shadow::new(pages)
    }
}
