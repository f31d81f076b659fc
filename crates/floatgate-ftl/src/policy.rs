//! Interface of every policy, except for its decisions.
//!
//! Each axis adds a trait of its own for the decisions. If the defaults suffice, a policy
//! implements [`Policy`] with an empty block.

use crate::counters::Counters;
use crate::future::NextUses;

/// Housekeeping of a policy. Every method has a default.
pub trait Policy {
    /// Returns whether the policy is an offline bound, and needs a call of [`Policy::set_future`].
    fn needs_future() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// Passes on the host's later uses of map entries, written pages or buffer blocks.
    fn set_future(&mut self, _future: NextUses) {}

    /// Returns the bytes of the drive's memory that the policy takes now.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Writes the counts since the last [`Policy::reset_counters`] into `counters`.
    fn report(&self, _counters: &mut Counters) {}

    /// Sets the counts to zero. All other state stays.
    fn reset_counters(&mut self) {}

    /// Recomputes derived state and asserts that it agrees.
    fn check(&self) {}

    /// Returns the policy's own counts; all others are zero.
    fn counters(&self) -> Counters {
        let mut counters = Counters::default();
        self.report(&mut counters);
        counters
    }
}
