//! A drive that lives: the same translation layers, queues and buffers, on the flash of an image.
//!
//! The image says which drive it is: its header holds the config, the size and the seed. Nothing of
//! the map is kept outside the flash, so that opening an image is finding the drive again after a
//! loss of power; a drive that was shut down is only found faster.
//!
//! What was acknowledged before a flush is on the disk when the flush returns. A page that cannot
//! be read is an I/O error of the requests that need it; a file that cannot be written stops the
//! drive.
//!
//! Time stands still, unless the drive is to have a clock: then requests are begun, and end when
//! whoever asked lets time pass.

mod answer;
mod bytes;
mod error;
mod front;
mod opening;

pub use answer::{Answer, Reading};
pub use error::{LiveError, OpenError};
pub(crate) use opening::to_be_aged;
pub use opening::{
    Description, Opened, Timekeeping, create, in_memory, live_config, open, open_with, reopen,
};

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Counters, Paced};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::nand::{Chain, Clock, Nand, Timed};
use floatgate_ftl::recovery::Mount;
use floatgate_ftl::request::{Completion, Op, Request};

use crate::stored::{Life, Plug, Stored};
use front::Front;

/// Flash in a file, under a clock.
type Flash = Timed<Stored>;

/// A drive whose requests have bytes.
pub trait Live: Send {
    /// Bytes that the host can address.
    fn bytes(&self) -> u64;

    /// What finding the drive has cost.
    fn mount(&self) -> Mount;

    /// Begins a request without bytes at a time, in nanoseconds since the counters were reset; of a
    /// read the bytes come with the answer. A clock that stands still has it complete.
    ///
    /// # Errors
    /// A request beyond the drive, or a failed file.
    fn begin(&mut self, request: Request) -> Result<Begun, LiveError>;

    /// Begins writes, each with its bytes, that have come at the same time. If there are several
    /// they cover whole pages.
    ///
    /// # Errors
    /// As [`Live::begin`].
    fn begin_writes(&mut self, writes: Vec<(Request, Vec<u8>)>) -> Result<Begun, LiveError>;

    /// What was begun, and changed, is on the disk when this returns. It takes no simulated time.
    ///
    /// # Errors
    /// A failed file.
    fn sync(&mut self) -> Result<(), LiveError>;

    /// Flushes, and writes down all that makes the next start quick, and that it was shut down.
    ///
    /// # Errors
    /// A failed file.
    fn shut_down(&mut self) -> Result<(), LiveError>;

    /// The drive that is simulated.
    fn device(&self) -> &dyn Paced;

    /// The drive that is simulated. Requests are begun with their bytes: by [`Live::begin`].
    fn device_mut(&mut self) -> &mut dyn Paced;

    /// What it has been through up to now, when it was last off as well.
    fn life(&self) -> Life;

    /// It is on from now on, after such a life.
    fn turn_on(&mut self, before: Life);

    /// Counters and clocks back to zero; its life goes on.
    fn reset_counters(&mut self);

    /// Whether a page of the host holds nothing, so that it reads as zeros.
    fn is_hole(&self, lpn: Lpn) -> bool;

    /// The flash.
    fn medium(&self) -> &Stored;

    /// The flash.
    fn medium_mut(&mut self) -> &mut Stored;

    /// Reads bytes; what was never written, or trimmed, is zeros.
    ///
    /// # Errors
    /// A page that cannot be read, a request beyond the drive, or a failed file.
    fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LiveError> {
        let request =
            Request { at_ns: 0, op: Op::Read, offset, length: into.len() as u64, stream: 0 };
        let answer = self.begin(request)?.sound()?.answer;
        let (place, _) = self.medium().shared();
        answer.fetch(&place, into)
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// As [`Live::read`]: what a write leaves of a page must be read.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> Result<(), LiveError> {
        let length = bytes.len() as u64;
        let write = Request { at_ns: 0, op: Op::Write, offset, length, stream: 0 };
        self.begin_writes(vec![(write, bytes.to_vec())])?.sound().map(drop)
    }

    /// Forgets the pages that lie within these bytes: they read as zeros.
    ///
    /// # Errors
    /// A request beyond the drive, or a failed file.
    fn trim(&mut self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.begin(Request { at_ns: 0, op: Op::Trim, offset, length, stream: 0 }).map(drop)
    }

    /// Makes all that was acknowledged durable.
    ///
    /// # Errors
    /// A failed file.
    fn flush(&mut self) -> Result<(), LiveError> {
        self.begin(Request { at_ns: 0, op: Op::Flush, offset: 0, length: 0, stream: 0 })?;
        self.sync()
    }

    /// What has been counted since the drive was found, or the counters were reset.
    fn counters(&self) -> Counters {
        self.device().counters()
    }

    /// Recomputes what can be recomputed, and asserts that it agrees.
    fn check(&self) {
        self.device().check();
    }

    /// The plug.
    fn plug(&self) -> Plug {
        self.medium().plug()
    }

    /// What who fetches an answer needs.
    fn reading(&self) -> Reading {
        let (place, erases) = self.medium().shared();
        Reading { place, erases }
    }
}

/// Requests that were begun.
#[derive(Debug, Default)]
pub struct Begun {
    /// The number of the first.
    pub first: u64,
    /// What became of them, if that took no time.
    pub done: Vec<Completion>,
    /// The bytes of a read.
    pub answer: Answer,
    /// Whether a page that was to be read cannot be. The other pages are not affected.
    pub is_damaged: bool,
}

impl Begun {
    /// The same, if all pages could be read.
    ///
    /// # Errors
    /// A damaged page.
    pub fn sound(self) -> Result<Self, LiveError> {
        if self.is_damaged { Err(LiveError::Damaged) } else { Ok(self) }
    }
}

/// A drive whose requests have bytes, behind a front.
struct Drive<D> {
    front: D,
    bytes: u64,
    mount: Mount,
    /// Up to when the counters were zero.
    before: Life,
}

impl<D: Front> Drive<D> {
    /// The file will have the drive's life up to now, and whether it is on.
    fn set_life(&mut self, is_on: bool) {
        let life = Life { is_on, ..self.life() };
        self.medium_mut().set_life(life);
    }

    /// Checks a request before anything of it is done.
    fn admit(&self, offset: u64, length: u64) -> Result<(), LiveError> {
        self.go_on()?;
        LiveError::if_beyond(offset, length, self.bytes)
    }

    /// Whether the file has not failed.
    fn go_on(&self) -> Result<(), LiveError> {
        LiveError::if_stopped(self.medium().fault())
    }

    fn run(&mut self, requests: &[Request]) -> Result<Begun, LiveError> {
        let mut begun = Begun::default();
        if self.front.ssd().ftl().nand().clock().takes_time() {
            begun.first = self.front.begin(requests);
        } else {
            self.front.run(requests, &mut begun.done);
        }
        self.go_on()?;
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

    fn begin(&mut self, request: Request) -> Result<Begun, LiveError> {
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

    fn begin_writes(&mut self, writes: Vec<(Request, Vec<u8>)>) -> Result<Begun, LiveError> {
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
        self.go_on()
    }

    fn shut_down(&mut self) -> Result<(), LiveError> {
        self.front.empty_log();
        self.flush()?;
        let Ok(()) = self.front.ssd_mut().ftl_mut().shut_down(&mut Chain::default());
        // Only when all else is on the disk is it written down that the drive is off.
        self.sync()?;
        self.set_life(false);
        self.medium_mut().close();
        self.go_on()
    }

    fn life(&self) -> Life {
        let Counters { host, flash, .. } = self.counters();
        Life {
            read_bytes: self.before.read_bytes + host.read_bytes,
            written_bytes: self.before.written_bytes + host.write_bytes,
            programs: self.before.programs + flash.programs.iter().sum::<u64>(),
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

    fn medium(&self) -> &Stored {
        self.front.ssd().ftl().nand().inner()
    }

    fn medium_mut(&mut self) -> &mut Stored {
        self.front.ssd_mut().ftl_mut().nand_mut().inner_mut()
    }
}
