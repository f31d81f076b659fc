//! Totals over the life of a drive. The image stores them near the sync point.

use super::Stored;
use super::format::{LIFE_AT, put, u32_at, u64_at};

/// Flag: the host's reads and writes are counted in bytes. Flag 1 marks a drive that is on.
const IN_BYTES: u32 = 2;

/// Totals over the life of a drive, as far as they were stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Bytes that the host has read.
    pub read_bytes: u64,
    /// Bytes that the host has written.
    pub written_bytes: u64,
    /// Pages programmed.
    pub programs: u64,
    /// How often the drive was opened without a shutdown before.
    pub unsafe_shutdowns: u64,
    /// Pages whose record or data was damaged when they were read or moved.
    pub damaged_reads: u64,
    /// Reads that were made to fail.
    pub failed_reads: u64,
    /// Pages read. This and the counts below begin at 0 in an image of an older version.
    pub media_reads: u64,
    /// Units erased.
    pub erases: u64,
    /// Read requests of the host.
    pub reads: u64,
    /// Write requests of the host.
    pub writes: u64,
    /// How often the drive was opened.
    pub power_cycles: u64,
    /// Whether the drive has not been shut down since it was opened.
    pub is_on: bool,
}

impl Life {
    /// Bytes of the encoded totals: a record that all versions have, and a second one.
    pub(super) const BYTES: usize = Self::SECOND_AT + 44;

    /// Offset of the second record.
    const SECOND_AT: usize = 56;

    /// Returns the totals of a drive that is opened with these totals.
    #[must_use]
    pub fn turned_on(self) -> Self {
        let unsafe_shutdowns = self.unsafe_shutdowns + u64::from(self.is_on);
        Self { unsafe_shutdowns, is_on: true, power_cycles: self.power_cycles + 1, ..self }
    }

    pub(super) fn encode(&self) -> [u8; Self::BYTES] {
        let Self { read_bytes, written_bytes, programs, .. } = *self;
        let Self { unsafe_shutdowns, damaged_reads, failed_reads, is_on, .. } = *self;
        let mut bytes = [0; Self::BYTES];
        let host = [read_bytes, written_bytes, programs];
        let numbers = host.into_iter().chain([unsafe_shutdowns, damaged_reads, failed_reads]);
        for (at, number) in (0..).step_by(8).zip(numbers) {
            put(&mut bytes, at, &number.to_le_bytes());
        }
        put(&mut bytes, 48, &(u32::from(is_on) | IN_BYTES).to_le_bytes());
        let checksum = crc32fast::hash(&bytes[..52]);
        put(&mut bytes, 52, &checksum.to_le_bytes());
        self.encode_second(&mut bytes[Self::SECOND_AT..]);
        bytes
    }

    fn encode_second(&self, bytes: &mut [u8]) {
        let Self { media_reads, erases, reads, writes, power_cycles, .. } = *self;
        let numbers = [media_reads, erases, reads, writes, power_cycles];
        for (at, number) in (0..).step_by(8).zip(numbers) {
            put(bytes, at, &number.to_le_bytes());
        }
        let checksum = crc32fast::hash(&bytes[..40]);
        put(bytes, 40, &checksum.to_le_bytes());
    }

    /// Decodes the totals in an image. None if they are damaged. An image of an older version may
    /// have zeros, in both records or in the second one. Its first two totals are in pages of
    /// `page_bytes` unless the flag for bytes is set.
    pub(super) fn decode(bytes: &[u8; Self::BYTES], page_bytes: u32, is_old: bool) -> Option<Self> {
        if is_old && bytes.iter().all(|&byte| byte == 0) {
            return Some(Self::default());
        }
        let state = u32_at(bytes, 48);
        let unit = if state & IN_BYTES > 0 { 1 } else { u64::from(page_bytes) };
        let second = Self::decode_second(&bytes[Self::SECOND_AT..])?;
        (crc32fast::hash(&bytes[..52]) == u32_at(bytes, 52)).then(|| Self {
            read_bytes: u64_at(bytes, 0).saturating_mul(unit),
            written_bytes: u64_at(bytes, 8).saturating_mul(unit),
            programs: u64_at(bytes, 16),
            unsafe_shutdowns: u64_at(bytes, 24),
            damaged_reads: u64_at(bytes, 32),
            failed_reads: u64_at(bytes, 40),
            is_on: state & 1 > 0,
            ..second
        })
    }

    fn decode_second(bytes: &[u8]) -> Option<Self> {
        if bytes.iter().all(|&byte| byte == 0) {
            return Some(Self::default());
        }
        (crc32fast::hash(&bytes[..40]) == u32_at(bytes, 40)).then(|| Self {
            media_reads: u64_at(bytes, 0),
            erases: u64_at(bytes, 8),
            reads: u64_at(bytes, 16),
            writes: u64_at(bytes, 24),
            power_cycles: u64_at(bytes, 32),
            ..Self::default()
        })
    }
}

impl Stored {
    /// The totals of the drive. The medium counts damaged and failed reads itself;
    /// [`Stored::set_life`] sets all others.
    pub fn life(&self) -> Life {
        self.life
    }

    /// Sets the totals. They reach the file with the next [`Stored::keep_life`] or sync.
    pub fn set_life(&mut self, life: Life) {
        self.life = life;
    }

    /// Writes the totals to the file, unless there is a fault.
    pub fn keep_life(&mut self) {
        let _ = self.try_keep_life();
    }

    /// Counts a located page whose data turned out to be damaged.
    pub fn note_damage(&mut self) {
        self.life.damaged_reads += 1;
    }

    /// Writes the totals if they have changed. If nothing else has changed, they may reach the disk
    /// at any time.
    pub(super) fn try_keep_life(&mut self) -> Option<()> {
        if self.life != self.kept_life {
            self.image.write(LIFE_AT, &self.life.encode())?;
            self.kept_life = self.life;
        }
        Some(())
    }
}
