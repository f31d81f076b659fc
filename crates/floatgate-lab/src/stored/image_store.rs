//! Place of an image's bytes: a file, or memory of this process.

use std::fs::File;
use std::io;
use std::iter;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

/// Bytes of memory that are allocated at once, and locked together.
const EXTENT: usize = 2 << 20;

/// Bytes of memory that count as a hole if all are zeros.
const BLOCK: u64 = 4 << 10;

/// The bytes of an image. Any number of threads may read while one writes; a reader of bytes that
/// are being written may see some of the new bytes.
#[derive(Debug)]
pub enum ImageStore {
    /// A file.
    File(File),
    /// Memory, which lasts until the process ends.
    Memory(Memory),
}

/// Memory that is zeros at first. The first write to an extent allocates its memory, and an erase
/// does not free it: the drive will soon fill the extent again, and new memory from the system
/// would cost more than the rest of a write.
#[derive(Debug)]
pub struct Memory {
    length: u64,
    /// An extent is empty if nothing was written to it.
    extents: Box<[RwLock<Vec<u8>>]>,
}

/// The part of a range of bytes in one extent.
struct StoredPart<'a> {
    extent: &'a RwLock<Vec<u8>>,
    inside: Range<usize>,
    /// Position of the part in the range.
    of: Range<usize>,
}

impl ImageStore {
    /// Makes a store of `length` bytes of memory.
    pub fn memory(length: u64) -> Self {
        let extents = (0..length.div_ceil(EXTENT as u64)).map(|_| RwLock::default()).collect();
        Self::Memory(Memory { length, extents })
    }

    /// Locks the store for this process alone, or shared with other readers. False if another
    /// process has a lock that excludes this one.
    pub(super) fn lock(&self, read_only: bool) -> io::Result<bool> {
        let Self::File(file) = self else { return Ok(true) };
        let lock = match read_only {
            true => FlockOperation::NonBlockingLockShared,
            false => FlockOperation::NonBlockingLockExclusive,
        };
        match rustix::fs::flock(file, lock) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Number of bytes.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Memory(memory) => Ok(memory.length),
        }
    }

    /// Fills `into` with the bytes from `at` on.
    ///
    /// # Errors
    /// If the store has fewer bytes, or the operating system refuses.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.read_exact_at(into, at),
            Self::Memory(memory) => memory.read(at, into),
        }
    }

    pub(super) fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_all_at(bytes, at),
            Self::Memory(memory) => memory.write(at, bytes),
        }
    }

    /// Puts everything written on the disk before it returns; memory needs no sync.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_data(),
            Self::Memory(_) => Ok(()),
        }
    }

    /// Returns a range to the file system; the range then reads as zeros. False if the store cannot
    /// do that; then nothing has changed.
    pub(super) fn punch(&self, range: &Range<u64>) -> io::Result<bool> {
        match self {
            Self::File(file) => punch(file, range),
            Self::Memory(_) => Ok(false),
        }
    }

    /// Returns the first part of `range` that may hold stored data; empty if there is none.
    ///
    /// # Errors
    /// An error of the operating system.
    pub fn next_stored(&self, range: Range<u64>) -> io::Result<Range<u64>> {
        match self {
            Self::File(file) => next_stored(file, range),
            Self::Memory(memory) => Ok(memory.next_stored(range)),
        }
    }
}

impl Memory {
    /// Splits a range of bytes into its parts by extent.
    fn parts(&self, at: u64, length: usize) -> io::Result<impl Iterator<Item = StoredPart<'_>>> {
        let end = at.checked_add(length as u64).filter(|&end| end <= self.length);
        let end = end.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut from = at;
        Ok(iter::from_fn(move || {
            let inside = (from % EXTENT as u64) as usize;
            let bytes = (EXTENT - inside).min((end - from) as usize);
            let extent = self.extents.get((from / EXTENT as u64) as usize).filter(|_| bytes > 0)?;
            let start = (from - at) as usize;
            from += bytes as u64;
            Some(StoredPart { extent, inside: inside..inside + bytes, of: start..start + bytes })
        }))
    }

    fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        for StoredPart { extent, inside, of } in self.parts(at, into.len())? {
            match shared(extent).get(inside) {
                Some(bytes) => into[of].copy_from_slice(bytes),
                None => into[of].fill(0),
            }
        }
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        for StoredPart { extent, inside, of } in self.parts(at, bytes.len())? {
            let mut extent = extent.write().unwrap_or_else(PoisonError::into_inner);
            if extent.is_empty() {
                *extent = vec![0; EXTENT];
            }
            extent[inside].copy_from_slice(&bytes[of]);
        }
        Ok(())
    }

    fn next_stored(&self, range: Range<u64>) -> Range<u64> {
        let mut start = range.start;
        while start < range.end && self.is_hole(start) {
            start = self.after(start).min(range.end);
        }
        let mut end = start;
        while end < range.end && !self.is_hole(end) {
            end = self.after(end).min(range.end);
        }
        start..end
    }

    /// Returns the start of the next block, or of the next extent if this extent is empty.
    fn after(&self, at: u64) -> u64 {
        let is_empty = shared(&self.extents[(at / EXTENT as u64) as usize]).is_empty();
        let step = if is_empty { EXTENT as u64 } else { BLOCK };
        (at / step + 1) * step
    }

    /// Returns whether the block around a byte is all zeros.
    fn is_hole(&self, at: u64) -> bool {
        let extent = shared(&self.extents[(at / EXTENT as u64) as usize]);
        let block = (at % EXTENT as u64 / BLOCK * BLOCK) as usize;
        extent.is_empty() || extent[block..block + BLOCK as usize].iter().all(|&byte| byte == 0)
    }
}

fn shared(extent: &RwLock<Vec<u8>>) -> RwLockReadGuard<'_, Vec<u8>> {
    extent.read().unwrap_or_else(PoisonError::into_inner)
}

/// Returns whether an error means that the file system does not support holes.
#[cfg(target_os = "linux")]
fn is_unsupported(error: Errno) -> bool {
    [Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL].contains(&error)
}

#[cfg(target_os = "linux")]
fn punch(file: &File, range: &Range<u64>) -> io::Result<bool> {
    use rustix::fs::{FallocateFlags, fallocate};
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let length = range.end - range.start;
    match rustix::io::retry_on_intr(|| fallocate(file, flags, range.start, length)) {
        Ok(()) => Ok(true),
        Err(error) if is_unsupported(error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn punch(_: &File, _: &Range<u64>) -> io::Result<bool> {
    Ok(false)
}

#[cfg(target_os = "linux")]
fn next_stored(file: &File, range: Range<u64>) -> io::Result<Range<u64>> {
    use rustix::fs::{SeekFrom, seek};
    let start = match seek(file, SeekFrom::Data(range.start)) {
        Ok(start) => start.clamp(range.start, range.end),
        Err(Errno::NXIO) => range.end,
        Err(error) if is_unsupported(error) => return Ok(range),
        Err(error) => return Err(error.into()),
    };
    if start == range.end {
        return Ok(start..start);
    }
    // The end of the file counts as a hole, so this finds one after the last data.
    let end = seek(file, SeekFrom::Hole(start))?;
    Ok(start..end.clamp(start + 1, range.end))
}

#[cfg(not(target_os = "linux"))]
fn next_stored(_: &File, range: Range<u64>) -> io::Result<Range<u64>> {
    Ok(range)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Three extents, the last of them partial.
    const LENGTH: u64 = 2 * EXTENT as u64 + 3 * BLOCK + 7;

    fn offset() -> impl Strategy<Value = u64> {
        let edges = [0, BLOCK, EXTENT as u64, 2 * EXTENT as u64, LENGTH];
        let near = (prop::sample::select(edges.to_vec()), -9_i64..9)
            .prop_map(|(edge, by)| edge.saturating_add_signed(by));
        prop_oneof![near, 0..LENGTH + 9]
    }

    proptest! {
        #[test]
        fn memory_is_as_a_file(
            writes in prop::collection::vec((offset(), 1..3 * BLOCK as usize, 0..4_u8), 1..9),
            asked in offset(),
            length in 1..2 * EXTENT,
        ) {
            let file = tempfile::tempfile().unwrap();
            file.set_len(LENGTH).unwrap();
            let [file, memory] = [ImageStore::File(file), ImageStore::memory(LENGTH)];
            for (at, length, byte) in writes {
                let bytes = vec![byte; length];
                let is_within = at + length as u64 <= LENGTH;
                prop_assert_eq!(memory.write(at, &bytes).is_ok(), is_within);
                if is_within {
                    file.write(at, &bytes).unwrap();
                }
            }
            prop_assert_eq!(memory.length().unwrap(), file.length().unwrap());
            let mut found = [vec![8; length], vec![9; length]];
            let read = memory.read(asked, &mut found[0]).is_ok();
            prop_assert_eq!(read, file.read(asked, &mut found[1]).is_ok());
            if read {
                prop_assert!(found[0] == found[1]);
            }
        }

        #[test]
        fn stored_bytes_are_found_and_holes_are_zeros(
            writes in prop::collection::vec((0..LENGTH - 2 * BLOCK, 1..2 * BLOCK as usize), 0..5),
            start in 0..LENGTH,
        ) {
            let store = ImageStore::memory(LENGTH);
            let mut shadow = vec![0_u8; LENGTH as usize];
            for (at, length) in writes {
                shadow[at as usize..][..length].fill(1);
                store.write(at, &vec![1; length]).unwrap();
            }
            let mut at = start;
            while at < LENGTH {
                let stored = store.next_stored(at..LENGTH).unwrap();
                prop_assert!(at <= stored.start && stored.end <= LENGTH);
                let hole = &shadow[at as usize..stored.start as usize];
                prop_assert!(hole.iter().all(|&byte| byte == 0));
                if stored.is_empty() {
                    prop_assert_eq!(stored.start, LENGTH);
                    break;
                }
                for block in (stored.start..stored.end).step_by(BLOCK as usize) {
                    let block = (block / BLOCK * BLOCK) as usize;
                    let end = shadow.len().min(block + BLOCK as usize);
                    prop_assert!(shadow[block..end].contains(&1), "a hole at {block}");
                }
                at = stored.end;
            }
        }
    }
}
