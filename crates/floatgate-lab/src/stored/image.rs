//! The bytes of an image: locked, sparse, and stopped after their first fault.

use std::cell::{Cell, OnceCell};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::error::Problem;
use super::image_store::ImageStore;

/// Bytes written at once if the file system cannot punch holes.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// A locked store with the bytes of an image, and its first fault. After a fault it reads and
/// writes nothing.
#[derive(Debug)]
pub(super) struct Image {
    store: Arc<ImageStore>,
    /// A client that fetches the bytes of a located page holds this lock, and an erase waits for
    /// it.
    erases: Arc<RwLock<()>>,
    power: Plug,
    read_only: bool,
    /// Whether holes can be punched, as far as is known.
    punches: Cell<bool>,
    stopped: Cell<bool>,
    fault: OnceCell<io::Error>,
    /// All changes of the image.
    #[cfg(test)]
    pub log: std::cell::RefCell<Vec<Change>>,
}

/// The plug of a drive: any holder can pull it while the drive works.
#[derive(Clone, Debug, Default)]
pub struct Plug(Arc<AtomicBool>);

impl Plug {
    /// Cuts the power. The file does not change any more, and an operation in progress stops where
    /// it is.
    pub fn pull(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Returns whether the power is off.
    pub fn is_pulled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A change of the file, as passed to the operating system.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(super) enum Change {
    Write(u64, Vec<u8>),
    Punch(Range<u64>),
    Sync,
}

impl Image {
    /// Locks the store: for this process alone, or shared with other readers.
    pub fn new(store: impl Into<Arc<ImageStore>>, read_only: bool) -> Result<Self, Problem> {
        let store = store.into();
        if !store.lock(read_only).map_err(Problem::io("locked"))? {
            return Err(Problem::InUse);
        }
        let (punches, stopped) = (Cell::new(true), Cell::new(false));
        Ok(Self {
            store,
            erases: Arc::default(),
            power: Plug::default(),
            read_only,
            punches,
            stopped,
            fault: OnceCell::new(),
            #[cfg(test)]
            log: std::cell::RefCell::default(),
        })
    }

    pub fn store(&self) -> &Arc<ImageStore> {
        &self.store
    }

    pub fn erases(&self) -> &Arc<RwLock<()>> {
        &self.erases
    }

    pub fn plug(&self) -> &Plug {
        &self.power
    }

    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    pub fn fault(&self) -> Option<&io::Error> {
        self.fault.get()
    }

    pub fn take_fault(&mut self) -> Option<io::Error> {
        self.fault.take()
    }

    /// Continues in another, locked store with the same bytes.
    pub fn move_to(&mut self, store: ImageStore) {
        self.store = Arc::new(store);
    }

    /// Stops all reads and writes, and keeps the first error.
    pub fn stop(&self, error: io::Error) {
        if !self.stopped.replace(true) {
            // The fault is still empty, because only this line sets it.
            let _ = self.fault.set(error);
        }
    }

    /// Does work on the store. None after a fault, now or earlier.
    fn attempt<T>(&self, work: impl FnOnce(&ImageStore) -> io::Result<T>) -> Option<T> {
        if self.stopped.get() {
            return None;
        }
        work(&self.store).map_err(|error| self.stop(error)).ok()
    }

    /// Changes the store. None after a fault, now or earlier. A change is a fault itself if the
    /// file is read-only or the power is off.
    fn change<T>(&self, work: impl FnOnce(&ImageStore) -> io::Result<T>) -> Option<T> {
        let refused = || io::Error::new(io::ErrorKind::PermissionDenied, "opened for reading only");
        let cut = || io::Error::other("the power is off");
        self.attempt(|store| match (self.read_only, self.power.is_pulled()) {
            (true, _) => Err(refused()),
            (_, true) => Err(cut()),
            _ => work(store),
        })
    }

    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Option<()> {
        self.attempt(|store| store.read(at, bytes))
    }

    pub fn write(&self, at: u64, bytes: &[u8]) -> Option<()> {
        #[cfg(test)]
        self.log.borrow_mut().push(Change::Write(at, bytes.to_vec()));
        self.change(|store| store.write(at, bytes))
    }

    /// Puts everything written on the disk before it returns.
    pub fn sync(&self) -> Option<()> {
        #[cfg(test)]
        self.log.borrow_mut().push(Change::Sync);
        self.change(ImageStore::sync)
    }

    /// Waits until no client fetches the bytes of a located page.
    pub fn wait_for_readers(&self) {
        drop(self.erases.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Makes a range read as zeros.
    pub fn clear(&self, range: Range<u64>) -> Option<()> {
        if self.punch(range.clone())? {
            return Some(());
        }
        let mut at = range.start;
        while at < range.end {
            let bytes = (range.end - at).min(ZEROS.len() as u64);
            self.write(at, &ZEROS[..bytes as usize])?;
            at += bytes;
        }
        Some(())
    }

    /// Returns a range to the file system. False if the file system cannot do that; then nothing
    /// has changed.
    pub fn punch(&self, range: Range<u64>) -> Option<bool> {
        if self.punches.get() {
            #[cfg(test)]
            self.log.borrow_mut().push(Change::Punch(range.clone()));
            self.punches.set(self.change(|store| store.punch(&range))?);
        }
        Some(self.punches.get())
    }

    /// Returns the first part of `range` that may hold stored data; empty if there is none.
    pub fn next_stored(&self, range: Range<u64>) -> Option<Range<u64>> {
        self.attempt(|store| store.next_stored(range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_written_where_no_hole_can_be_punched() {
        let image = Image::new(ImageStore::File(tempfile::tempfile().unwrap()), false).unwrap();
        let length = 3 * ZEROS.len();
        for punches in [false, true] {
            image.punches.set(punches);
            image.write(0, &vec![1; length]).unwrap();
            image.clear(5..length as u64 - 7).unwrap();
            let mut bytes = vec![2; length];
            image.read(0, &mut bytes).unwrap();
            assert!(bytes[..5].iter().chain(&bytes[length - 7..]).all(|&byte| byte == 1));
            assert!(bytes[5..length - 7].iter().all(|&byte| byte == 0));
        }
    }
}
