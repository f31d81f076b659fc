//! A live drive: the same translation layers, queues and buffers, on the flash of an image.
//!
//! The header of the image identifies the drive: it holds the config, the size and the seed. The
//! map is stored on the flash alone. Opening an image therefore recovers the drive, as after a loss
//! of power; after a shutdown recovery is only faster.
//!
//! All data acknowledged before a flush is on the disk when the flush returns. Requests that need a
//! page that cannot be read fail with an I/O error. A file that cannot be written stops the drive.
//!
//! The clock is frozen, unless the drive is opened with [`Timekeeping::Simulated`]. Then a request
//! begins at once and completes when the caller lets simulated time pass.

mod answer;
mod bytes;
mod error;
mod front;
mod opening;

pub use answer::{Answer, PageFetcher};
pub use error::{LiveError, OpenError};
pub(crate) use opening::to_be_aged;
pub use opening::{
    Description, Opened, Timekeeping, create, create_zoned, in_memory, live_config, open,
    open_with, reopen,
};

use std::convert::Infallible;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::{Counters, Paced};
use floatgate_ftl::ftl::{Ftl, Handles};
use floatgate_ftl::nand::{Chain, Clock, Nand, Timed};
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};

use crate::stored::{Life, Plug, Stored};
use front::Front;

/// Flash in a file, under a clock.
type Flash = Timed<Stored>;

/// A drive that stores the bytes of its requests.
pub trait Live: Send {
    /// Bytes that the host can address.
    fn bytes(&self) -> u64;

    /// Cost of the recovery when the drive was opened.
    fn mount(&self) -> Mount;

    /// Begins a request that is not a write, at the request's time, which counts from the last
    /// reset of the counters. The answer has the bytes of a read. With a frozen clock the request
    /// completes at once.
    ///
    /// # Errors
    /// A request beyond the drive, or a failed file.
    fn begin(&mut self, request: Request) -> Result<Outcome, LiveError>;

    /// Begins writes that arrive at the same time, each with its bytes. If there are several, each
    /// must cover whole pages.
    ///
    /// # Errors
    /// As [`Live::begin`].
    fn begin_writes(&mut self, writes: Vec<(Request, Vec<u8>)>) -> Result<Outcome, LiveError>;

    /// Puts all changes of the requests begun so far on the disk before it returns. This takes no
    /// simulated time.
    ///
    /// # Errors
    /// A failed file.
    fn sync(&mut self) -> Result<(), LiveError>;

    /// Flushes, writes everything that makes the next start quick, and marks the drive as shut
    /// down.
    ///
    /// # Errors
    /// A failed file.
    fn shut_down(&mut self) -> Result<(), LiveError>;

    /// The simulated drive.
    fn device(&self) -> &dyn Paced;

    /// The simulated drive. To begin requests with their bytes, call [`Live::begin`] instead.
    fn device_mut(&mut self) -> &mut dyn Paced;

    /// Totals over the drive's whole life up to now, earlier sessions included.
    fn life(&self) -> Life;

    /// Marks the drive as powered on, with `before` as its life so far.
    fn turn_on(&mut self, before: Life);

    /// Resets counters and clocks to zero; the totals of the drive's life continue.
    fn reset_counters(&mut self);

    /// Returns whether a host page holds no data, so that it reads as zeros.
    fn is_hole(&self, lpn: Lpn) -> bool;

    /// Returns the placement handles; None if the drive does not obey handles.
    fn handles(&mut self) -> Option<&mut dyn Handles<Infallible>>;

    /// Gives a placement handle an empty reclaim unit. Returns the number of pages that the
    /// handle's previous unit still had room for; 0 for a drive that does not obey handles.
    ///
    /// # Errors
    /// A failed file.
    fn next_unit(&mut self, handle: u8) -> Result<u64, LiveError>;

    /// The flash.
    fn medium(&self) -> &Stored;

    /// The flash.
    fn medium_mut(&mut self) -> &mut Stored;

    /// Reads bytes. Bytes that were never written, or that were trimmed, are zeros.
    ///
    /// # Errors
    /// A page that cannot be read, a request beyond the drive, or a failed file.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LiveError> {
        let request =
            Request { at_ns: 0, op: Op::Read, offset, length: into.len() as u64, stream: 0 };
        let answer = self.begin(request)?.sound()?.answer;
        let (store, _) = self.medium().shared();
        answer.fetch(&store, into)
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`Live::read`]: a write that covers a page in part must read the rest of the page.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), LiveError> {
        let length = bytes.len() as u64;
        let write = Request { at_ns: 0, op: Op::Write, offset, length, stream: 0 };
        self.begin_writes(vec![(write, bytes.to_vec())])?.sound().map(drop)
    }

    /// Trims the pages that lie entirely within these bytes: they then read as zeros.
    ///
    /// # Errors
    /// A request beyond the drive, or a failed file.
    fn trim(&mut self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.begin(Request { at_ns: 0, op: Op::Trim, offset, length, stream: 0 }).map(drop)
    }

    /// Makes all acknowledged data durable.
    ///
    /// # Errors
    /// A failed file.
    fn flush(&mut self) -> Result<(), LiveError> {
        self.begin(Request { at_ns: 0, op: Op::Flush, offset: 0, length: 0, stream: 0 })?;
        self.sync()
    }

    /// Counters since the drive was opened, or since they were reset.
    fn counters(&self) -> Counters {
        self.device().counters()
    }

    /// Recomputes the state where possible, and asserts that it agrees with the stored state.
    fn check(&self) {
        self.device().check();
    }

    /// The plug, which cuts the drive's power.
    fn plug(&self) -> Plug {
        self.medium().plug()
    }

    /// Returns the handle with which a thread fetches the bytes of an answer.
    fn reading(&self) -> PageFetcher {
        let (store, erases) = self.medium().shared();
        PageFetcher { store, erases }
    }
}

/// Result of beginning requests.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The number of the first request.
    pub first: u64,
    /// Completions of the requests, if they took no simulated time.
    pub done: Vec<Completion>,
    /// The bytes of a read.
    pub answer: Answer,
    /// Whether a page that the requests needed to read is damaged. The other pages are not
    /// affected.
    pub is_damaged: bool,
}

impl Outcome {
    /// Returns the outcome unchanged, if all pages could be read.
    ///
    /// # Errors
    /// A damaged page.
    pub fn sound(self) -> Result<Self, LiveError> {
        if self.is_damaged { Err(LiveError::Damaged) } else { Ok(self) }
    }
}

/// A live drive behind its host side.
struct Drive<D> {
    front: D,
    bytes: u64,
    mount: Mount,
    /// The drive's life up to the last reset of the counters.
    before: Life,
}

impl<D: Front> Drive<D> {
    /// Sets the life that the file stores: the totals up to now, and whether the drive is powered
    /// on.
    fn set_life(&mut self, is_on: bool) {
        let life = Life { is_on, ..self.life() };
        self.medium_mut().set_life(life);
    }

    /// Checks a request before the drive does anything for it.
    fn admit(&self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.check_running()?;
        LiveError::if_beyond(offset, length, self.bytes)
    }

    /// Checks that the file has not failed.
    fn check_running(&self) -> Result<(), LiveError> {
        LiveError::if_stopped(self.medium().fault())
    }

    fn run(&mut self, requests: &[Request]) -> Result<Outcome, LiveError> {
        let mut begun = Outcome::default();
        if self.front.ssd().ftl().nand().clock().takes_time() {
            begun.first = self.front.begin(requests, requests.len());
        } else {
            self.front.run(requests, &mut begun.done);
        }
        self.check_running()?;
        let saved = self.medium_mut().take_saved();
        let data = self.front.ssd_mut().data_mut();
        (begun.answer, begun.is_damaged) = (data.take_answer(saved), data.failed());
        Ok(begun)
    }
}

impl<D: Front> Live for Drive<D> {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn mount(&self) -> Mount {
        self.mount
    }

    fn begin(&mut self, request: Request) -> Result<Outcome, LiveError> {
        let Request { op, offset, length, .. } = request;
        self.admit(offset, length)?;
        self.medium_mut().locate_reads(op == Op::Read);
        let data = self.front.ssd_mut().data_mut();
        match op {
            Op::Read => data.begin_read(offset, length),
            _ => data.begin(vec![(offset, vec![])]),
        }
        self.run(&[request])
    }

    fn begin_writes(&mut self, writes: Vec<(Request, Vec<u8>)>) -> Result<Outcome, LiveError> {
        let requests: Vec<_> = writes.iter().map(|(request, _)| *request).collect();
        requests.iter().try_for_each(|request| self.admit(request.offset, request.length))?;
        self.medium_mut().locate_reads(false);
        let data = writes.into_iter().map(|(request, bytes)| (request.offset, bytes));
        self.front.ssd_mut().data_mut().begin(data.collect());
        self.run(&requests)
    }

    fn sync(&mut self) -> Result<(), LiveError> {
        self.set_life(true);
        self.medium_mut().sync();
        self.check_running()
    }

    fn shut_down(&mut self) -> Result<(), LiveError> {
        self.front.empty_log();
        self.flush()?;
        let Ok(()) = self.front.ssd_mut().ftl_mut().shut_down(&mut Chain::default());
        // The file says that the drive is off only when everything else is on the disk.
        self.sync()?;
        self.set_life(false);
        self.medium_mut().close();
        self.check_running()
    }

    fn life(&self) -> Life {
        let Counters { host, flash, .. } = self.counters();
        let (before, sum) = (self.before, |counts: [u64; CAUSES]| counts.iter().sum::<u64>());
        Life {
            read_bytes: before.read_bytes + host.read_bytes,
            written_bytes: before.written_bytes + host.write_bytes,
            programs: before.programs + sum(flash.programs),
            media_reads: before.media_reads + sum(flash.reads),
            erases: before.erases + sum(flash.erases),
            reads: before.reads + host.requests[Op::Read as usize],
            writes: before.writes + host.requests[Op::Write as usize],
            ..self.medium().life()
        }
    }

    fn turn_on(&mut self, before: Life) {
        self.before = before.turned_on();
        let life = self.before;
        self.medium_mut().set_life(life);
        self.medium_mut().keep_life();
    }

    fn reset_counters(&mut self) {
        self.before = self.life();
        self.front.reset_counters();
    }

    fn device(&self) -> &dyn Paced {
        &self.front
    }

    fn device_mut(&mut self) -> &mut dyn Paced {
        &mut self.front
    }

    fn is_hole(&self, lpn: Lpn) -> bool {
        !self.front.holds(lpn)
    }

    fn handles(&mut self) -> Option<&mut dyn Handles<Infallible>> {
        self.front.ssd_mut().ftl_mut().handles()
    }

    fn next_unit(&mut self, handle: u8) -> Result<u64, LiveError> {
        self.check_running()?;
        let left = self.handles().map_or(0, |handles| {
            let Ok(left) = handles.next_unit(handle, &mut Chain::default());
            left
        });
        self.check_running()?;
        Ok(left)
    }

    fn medium(&self) -> &Stored {
        self.front.ssd().ftl().nand().inner()
    }

    fn medium_mut(&mut self) -> &mut Stored {
        self.front.ssd_mut().ftl_mut().nand_mut().inner_mut()
    }
}
