//! Requests of clients, as calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::request::Op;

use super::backend::{Backend, ChangeOptions, ServeError};
use super::delivery::Entered;
use super::gauges::Asked;
use super::served::Served;
use crate::drive::live::LiveError;

/// Maximum number of pages that one request for extents checks.
const EXTENT_PAGES: u64 = 1 << 16;

/// A client of a drive since it connected. A power cut ends the connection for good, because data
/// acknowledged to the client may be lost: the client must connect again.
pub struct Client {
    served: Arc<Served>,
    cuts: u64,
}

impl Served {
    /// Returns a client that connects now. The count of connections includes it after its call of
    /// [`Backend::connect`].
    pub fn client(self: &Arc<Self>) -> Client {
        Client { served: Arc::clone(self), cuts: self.leader.look(|state| state.power.cuts) }
    }
}

impl Client {
    /// Gives a placement handle an empty reclaim unit. Returns the number of pages that the
    /// handle's previous unit still had room for. No request is recorded, and shadow drives do not
    /// follow.
    ///
    /// # Errors
    /// No power, or a failed file.
    pub(super) fn next_unit(&self, handle: u8) -> Result<u64, ServeError> {
        let entered = Entered { at: Instant::now(), cuts: self.cuts };
        let next = || {
            let mut state = self.served.leader.locked();
            state.has_power_since(entered)?;
            let left = state.drive()?.next_unit(handle)?;
            state.release_begun();
            Ok(left)
        };
        next().map_err(|error| self.served.unless_off(error, entered))
    }
}

impl Backend for Client {
    fn bytes(&self) -> u64 {
        self.served.bytes
    }

    fn page_bytes(&self) -> u32 {
        self.served.page_bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), ServeError> {
        let served = &self.served;
        served.answer(Asked::Read, self.cuts, |entered| served.get(entered, offset, into))
    }

    fn write(&self, offset: u64, bytes: &[u8], options: ChangeOptions) -> Result<(), ServeError> {
        let served = &self.served;
        served.answer(Asked::Write, self.cuts, |entered| {
            served.put(entered, (offset, bytes.to_vec()), options)?;
            served.durable(entered, options)
        })
    }

    fn trim(&self, offset: u64, length: u64, options: ChangeOptions) -> Result<(), ServeError> {
        let served = &self.served;
        served.answer(Asked::Trim, self.cuts, |entered| {
            served.ask(entered, (Op::Trim, offset, length), options)?;
            served.durable(entered, options)
        })
    }

    fn zero(
        &self,
        offset: u64,
        length: u64,
        may_trim: bool,
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        let served = &self.served;
        served.answer(Asked::Zero, self.cuts, |entered| {
            LiveError::if_beyond(offset, length, served.bytes)?;
            let (page, end) = (u64::from(served.page_bytes), offset + length);
            let (first, last) = (offset.next_multiple_of(page), end / page * page);
            if may_trim && first < last {
                served.write_zeros(entered, (offset, first), options)?;
                served.ask(entered, (Op::Trim, first, last - first), options)?;
                served.write_zeros(entered, (last, end), options)?;
            } else {
                served.write_zeros(entered, (offset, end), options)?;
            }
            served.durable(entered, options)
        })
    }

    fn flush(&self) -> Result<(), ServeError> {
        let served = &self.served;
        served.answer(Asked::Flush, self.cuts, |entered| served.flush(entered))
    }

    fn extents(&self, offset: u64, length: u64) -> Result<Vec<(u64, u64, bool)>, ServeError> {
        let served = &self.served;
        LiveError::if_beyond(offset, length, served.bytes)?;
        let page = u64::from(served.page_bytes);
        let end = (offset + length).min((offset / page + EXTENT_PAGES) * page);
        let mut state = served.leader.locked();
        state.has_power_since(Entered { at: Instant::now(), cuts: self.cuts })?;
        let drive = state.drive()?;
        let mut extents: Vec<(u64, u64, bool)> = vec![];
        let mut at = offset;
        while at < end {
            let next = ((at / page + 1) * page).min(end);
            let is_hole = drive.is_hole(Lpn::new((at / page) as u32));
            match extents.last_mut() {
                Some((_, length, was_hole)) if *was_hole == is_hole => *length += next - at,
                _ => extents.push((at, next - at, is_hole)),
            }
            at = next;
        }
        Ok(extents)
    }

    fn connect(&self) {
        self.served.gauges.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn disconnect(&self) {
        self.served.gauges.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
