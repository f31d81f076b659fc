//! The namespace: its LBA format, and ranges of blocks as ranges of bytes.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::drive::Shape;
use crate::spec::status::Status;

/// LBA formats: their block sizes as powers of two.
pub(super) const FORMATS: [u8; 2] = [9, 12];

/// The LBA format in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Format {
    /// Index of the format.
    pub index: u8,
    /// Bytes of the namespace.
    bytes: u64,
}

impl Format {
    /// Returns the block size as a power of two.
    pub fn shift(self) -> u8 {
        FORMATS[usize::from(self.index)]
    }

    pub fn block_bytes(self) -> u64 {
        1 << self.shift()
    }

    pub fn blocks(self) -> u64 {
        self.bytes >> self.shift()
    }

    /// Returns the first byte and the bytes of a range of blocks.
    ///
    /// # Errors
    /// A range that does not end within the namespace.
    pub fn range(self, start: u64, count: u64) -> Result<(u64, u64), Status> {
        let end = start.checked_add(count).filter(|end| *end <= self.blocks());
        end.ok_or(Status::LBA_OUT_OF_RANGE)?;
        Ok((start << self.shift(), count << self.shift()))
    }
}

/// The namespace. I/O commands share it; Format needs it alone.
#[derive(Debug)]
pub(super) struct Namespace(RwLock<Format>);

impl Namespace {
    /// A namespace over a drive. With zones it covers whole zones.
    pub fn new(shape: Shape, block_bytes: u32) -> Self {
        let unit = shape.zones.map_or(1, |zones| zones.bytes);
        let index = FORMATS.iter().position(|shift| 1 << shift == block_bytes).unwrap_or(0) as u8;
        Self(RwLock::new(Format { index, bytes: shape.bytes / unit * unit }))
    }

    pub fn format(&self) -> Format {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the format; it stays until the guard is dropped.
    ///
    /// # Errors
    /// A Format command works on the namespace, or waits for it.
    pub fn share(&self) -> Result<RwLockReadGuard<'_, Format>, Status> {
        self.0.try_read().map_err(|_| Status::FORMAT_IN_PROGRESS)
    }

    /// Waits for I/O commands to end, and keeps others away until the guard is dropped.
    pub fn alone(&self) -> RwLockWriteGuard<'_, Format> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn namespace(bytes: u64, block_bytes: u32) -> Namespace {
        let shape =
            Shape { bytes, page_bytes: 4096, has_cache: true, placement: None, zones: None };
        Namespace::new(shape, block_bytes)
    }

    #[test]
    fn a_range_ends_within_the_namespace() {
        let format = namespace(1 << 20, 512).format();
        assert_eq!((format.index, format.blocks(), format.block_bytes()), (0, 2048, 512));
        assert_eq!(format.range(2047, 1), Ok((2047 * 512, 512)));
        for (start, count) in [(2047, 2), (2048, 1), (u64::MAX, 1), (u64::MAX, u64::MAX)] {
            assert_eq!(format.range(start, count), Err(Status::LBA_OUT_OF_RANGE), "{start}");
        }
    }

    #[test]
    fn no_io_begins_while_the_namespace_is_formatted() {
        let namespace = namespace(1 << 20, 4096);
        assert_eq!(namespace.format().blocks(), 256);
        let mut alone = namespace.alone();
        alone.index = 0;
        assert_eq!(namespace.share().map(|format| *format), Err(Status::FORMAT_IN_PROGRESS));
        drop(alone);
        assert_eq!(namespace.share().map(|format| format.blocks()), Ok(2048));
    }
}
