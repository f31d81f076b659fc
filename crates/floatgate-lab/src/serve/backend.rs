//! Requests of clients, as calls.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::request::{Op, Request};

use super::gauges::Asked;
use super::waiting::{Entered, Waiter};
use super::{Backend, ChangeOptions, ServeError, Served, lock};
use crate::drive::live::LiveError;

/// Bytes of zeros in one write.
const ZEROS: u64 = 4 << 20;

/// Most pages that one request for extents checks.
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
        Client { served: Arc::clone(self), cuts: lock(&self.state).power.cuts }
    }
}

impl Served {
    fn get(&self, entered: Entered, offset: u64, into: &mut [u8]) -> Result<(), ServeError> {
        LiveError::if_beyond(offset, into.len() as u64, self.bytes)?;
        let waiter = Waiter::new(entered, 1);
        let mut state = self.with_room();
        state.has_power_since(entered)?;
        let at_ns = state.stamp(entered.at);
        let request = Request { at_ns, op: Op::Read, offset, length: into.len() as u64, stream: 0 };
        let begun = state.begin(request, &waiter)?;
        let reading = state.drive()?.reading();
        // The guard is taken under the lock of the drive, and prevents erases until the bytes are
        // fetched.
        let held = reading.hold();
        self.hurry(&state);
        drop(state);
        let fetched = match begun.is_damaged {
            true => Err(LiveError::Damaged),
            false => {
                let _counted = self.gauges.fetch();
                begun.answer.fetch(&reading.store, into)
            }
        };
        drop(held);
        self.wait(&waiter)?;
        // If the drive itself found the damage, it has already counted it.
        if let Err(error) = fetched.as_ref()
            && !begun.is_damaged
            && let Ok(drive) = self.locked().drive()
        {
            match error {
                LiveError::Stopped { kind, error } => {
                    drive.medium_mut().stop(io::Error::new(*kind, error.clone()));
                }
                _ => drive.medium_mut().note_damage(),
            }
        }
        Ok(fetched?)
    }

    fn durable(&self, entered: Entered, options: ChangeOptions) -> Result<(), ServeError> {
        if options.durable { self.flush_for(entered) } else { Ok(()) }
    }

    fn write_zeros(
        &self,
        entered: Entered,
        (offset, end): (u64, u64),
        options: ChangeOptions,
    ) -> Result<(), ServeError> {
        let mut at = offset;
        while at < end {
            let length = ZEROS.min(end - at);
            self.put(entered, (at, vec![0; length as usize]), options)?;
            at += length;
        }
        Ok(())
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
        served.answer(Asked::Flush, self.cuts, |entered| served.flush_for(entered))
    }

    fn extents(&self, offset: u64, length: u64) -> Result<Vec<(u64, u64, bool)>, ServeError> {
        let served = &self.served;
        LiveError::if_beyond(offset, length, served.bytes)?;
        let page = u64::from(served.page_bytes);
        let end = (offset + length).min((offset / page + EXTENT_PAGES) * page);
        let mut state = served.locked();
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

#[cfg(test)]
mod tests {
    use super::super::test_drive::{PAGE, SHRD, served};
    use super::super::waiting::Write;
    use super::*;
    use crate::drive::live::Timekeeping;

    const NOW: ChangeOptions = ChangeOptions { stream: 0, durable: true };

    /// The plug is pulled after a durable request completes, but before its flush.
    #[test]
    fn a_durable_request_fails_when_the_plug_is_pulled_before_its_flush() {
        let buffer = [("buffer.scheme", "lru"), ("buffer.capacity", "1MiB")];
        for sets in [&[][..], &buffer] {
            let served = served(sets, Timekeeping::None);
            let entered = Entered { at: Instant::now(), cuts: 0 };
            served.put(entered, (0, vec![7; PAGE]), NOW).unwrap();
            served.ask(entered, (Op::Trim, 8 * PAGE as u64, PAGE as u64), NOW).unwrap();
            served.pull_plug().unwrap();
            assert_eq!(served.durable(entered, NOW), Err(ServeError::PowerOff));
            // A second piece of the same request is refused, too.
            let piece = served.put(entered, (PAGE as u64, vec![7; PAGE]), NOW);
            assert_eq!(piece, Err(ServeError::PowerOff));
            let piece = served.ask(entered, (Op::Trim, 0, PAGE as u64), NOW);
            assert_eq!(piece, Err(ServeError::PowerOff));
            assert_eq!(
                served.client().write(0, &[8; PAGE], NOW),
                Ok(()),
                "who comes now is served"
            );
        }
    }

    /// If writes from before and after a power cut wait together, only those from before fail.
    #[test]
    fn writes_that_waited_when_the_plug_was_pulled_fail_alone() {
        let served = served(SHRD, Timekeeping::None);
        assert!(served.packs);
        let old = Waiter::new(Entered { at: Instant::now(), cuts: 0 }, 1);
        let bytes = vec![1; PAGE];
        served.writes.push(Write { offset: 0, bytes, stream: 0, waiter: Arc::clone(&old) });
        served.pull_plug().unwrap();
        let new = served.client();
        new.write(PAGE as u64, &[2; PAGE], NOW).unwrap();
        assert_eq!(served.wait(&old), Err(ServeError::PowerOff));
        let mut page = [9; 2 * PAGE];
        new.read(0, &mut page).unwrap();
        assert_eq!((page[0], page[PAGE]), (0, 2));
    }
}
