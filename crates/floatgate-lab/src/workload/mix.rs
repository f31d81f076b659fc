//! Number and order of the requests of each kind.

use floatgate_ftl::request::Op;
use floatgate_ftl::rng::Rng;

use super::keys::Keys;
use crate::config::ConfigError;

/// Requests still to come, by kind. The kinds are drawn without replacement: their order is random
/// and their numbers are exact. A workload of a million writes thus has exactly a million, and its
/// length is fixed in advance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mix {
    left: [u64; 4],
    total: u64,
}

/// Tolerance for the sum of three shares.
const ROUNDING: f64 = 1e-9;

const OPS: [Op; 4] = [Op::Read, Op::Write, Op::Trim, Op::Flush];

impl Mix {
    /// Reads the counts and shares.
    pub(super) fn new(keys: &mut Keys) -> Result<Self, ConfigError> {
        let mut share = |key| keys.number(key, 0.0, (0.0, 1.0));
        let (reads, trims, flushes) = (share("reads")?, share("trim")?, share("flush")?);
        let others = reads + trims + flushes;
        if others > 1.0 + ROUNDING {
            let sum = format!("reads + trim + flush = {others}: expected at most 1");
            return Err(keys.error(&sum));
        }
        let (total, writes) = match (keys.count("requests")?, keys.count("writes")?) {
            (Some(_), Some(_)) => {
                return Err(keys.error("requests and writes are both given: expected one of them"));
            }
            (None, None) => {
                return Err(keys.error("writes is missing; for example writes=1M (or requests=1M)"));
            }
            (Some(total), None) => (total as f64, None),
            (None, Some(_)) if others > 1.0 - ROUNDING => {
                return Err(keys.error("writes is given, but reads, trim and flush leave no share"));
            }
            (None, Some(writes)) => (writes as f64 / (1.0 - others), Some(writes)),
        };
        // The limit is far above any run. Below it, a floating-point number holds a count exactly.
        if !(1.0..(1u64 << 53) as f64).contains(&total) {
            return Err(keys.error("expected at least 1 request and fewer than 2^53"));
        }
        // The sums are rounded, and not the shares, so that the kinds do not exceed the total.
        let up_to = |share: f64| (total * share.min(1.0)).round() as u64;
        let (end_reads, end_trims, end) = (up_to(reads), up_to(reads + trims), up_to(others));
        let writes = writes.unwrap_or(total as u64 - end);
        let left = [end_reads, writes, end_trims - end_reads, end - end_trims];
        Ok(Self { left, total: left.iter().sum() })
    }

    /// Returns the number of requests still to come.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Returns the kind of the next request, if there is one.
    #[inline]
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Op> {
        if self.total == 0 {
            return None;
        }
        // No draw is needed if only one kind is left: most workloads only write.
        let all_of_one = self.left.iter().position(|&left| left == self.total);
        let kind = all_of_one.unwrap_or_else(|| {
            let mut drawn = rng.below(self.total);
            self.left
                .iter()
                .position(|&left| {
                    let here = drawn < left;
                    drawn = drawn.saturating_sub(left);
                    here
                })
                .expect("the kinds sum to the total")
        });
        self.left[kind] -= 1;
        self.total -= 1;
        Some(OPS[kind])
    }
}
