//! What clients ask for, as calls.

use std::sync::atomic::Ordering;
use std::time::Instant;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::request::{Op, Request};

use super::gauges::Asked;
use super::pacing::Waiter;
use super::{Backend, How, ServeError, Served};
use crate::drive::live::LiveError;

/// Bytes of zeros that are written at once.
const ZEROS: u64 = 4 << 20;

/// Pages that one question for extents looks at.
const EXTENT_PAGES: u64 = 1 << 16;

impl Served {
    fn get(&self, entered: Instant, offset: u64, into: &mut [u8]) -> Result<(), ServeError> {
        LiveError::if_beyond(offset, into.len() as u64, self.bytes)?;
        let waiter = Waiter::new(entered, 1);
        let mut state = self.with_room();
        let at_ns = state.stamp(entered);
        let request = Request { at_ns, op: Op::Read, offset, length: into.len() as u64, stream: 0 };
        let begun = state.begin(request, &waiter)?;
        let reading = state.drive()?.reading();
        // From under the lock on: nothing is erased before the bytes have been fetched.
        let held = reading.hold();
        self.hurry(&state);
        drop(state);
        let fetched = match begun.is_damaged {
            true => Err(LiveError::Damaged),
            false => {
                let _counted = self.gauges.fetch();
                begun.answer.fetch(&reading.file, into)
            }
        };
        drop(held);
        self.wait(&waiter)?;
        // What the drive has found damaged itself it has counted.
        if fetched == Err(LiveError::Damaged)
            && !begun.is_damaged
            && let Ok(drive) = self.locked().drive()
        {
            drive.medium_mut().note_damage();
        }
        Ok(fetched?)
    }

    fn durable(&self, entered: Instant, how: How) -> Result<(), ServeError> {
        if how.durable { self.flush_for(entered) } else { Ok(()) }
    }

    fn write_zeros(
        &self,
        entered: Instant,
        (offset, end): (u64, u64),
        how: How,
    ) -> Result<(), ServeError> {
        let mut at = offset;
        while at < end {
            let length = ZEROS.min(end - at);
            self.put(entered, (at, vec![0; length as usize]), how)?;
            at += length;
        }
        Ok(())
    }
}

impl Backend for Served {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn page_bytes(&self) -> u32 {
        self.page_bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> Result<(), ServeError> {
        self.answer(Asked::Read, |entered| self.get(entered, offset, into))
    }

    fn write(&self, offset: u64, bytes: &[u8], how: How) -> Result<(), ServeError> {
        self.answer(Asked::Write, |entered| {
            self.put(entered, (offset, bytes.to_vec()), how)?;
            self.durable(entered, how)
        })
    }

    fn trim(&self, offset: u64, length: u64, how: How) -> Result<(), ServeError> {
        self.answer(Asked::Trim, |entered| {
            self.ask(entered, (Op::Trim, offset, length), how)?;
            self.durable(entered, how)
        })
    }

    fn zero(&self, offset: u64, length: u64, may_trim: bool, how: How) -> Result<(), ServeError> {
        self.answer(Asked::Zero, |entered| {
            LiveError::if_beyond(offset, length, self.bytes)?;
            let (page, end) = (u64::from(self.page_bytes), offset + length);
            let (first, last) = (offset.next_multiple_of(page), end / page * page);
            if may_trim && first < last {
                self.write_zeros(entered, (offset, first), how)?;
                self.ask(entered, (Op::Trim, first, last - first), how)?;
                self.write_zeros(entered, (last, end), how)?;
            } else {
                self.write_zeros(entered, (offset, end), how)?;
            }
            self.durable(entered, how)
        })
    }

    fn flush(&self) -> Result<(), ServeError> {
        self.answer(Asked::Flush, |entered| self.flush_for(entered))
    }

    fn extents(&self, offset: u64, length: u64) -> Result<Vec<(u64, u64, bool)>, ServeError> {
        LiveError::if_beyond(offset, length, self.bytes)?;
        let page = u64::from(self.page_bytes);
        let end = (offset + length).min((offset / page + EXTENT_PAGES) * page);
        let mut state = self.locked();
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
        self.gauges.connections.fetch_add(1, Ordering::Relaxed);
    }

    fn disconnect(&self) {
        self.gauges.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
