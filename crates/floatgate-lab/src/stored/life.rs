//! What a drive has been through: the image keeps it beside the sync point.

use super::Stored;
use super::format::{LIFE_AT, put, u32_at, u64_at};

/// A bit beside the one that says that the drive is on: the host's reads and writes are in bytes.
const IN_BYTES: u32 = 2;

/// The life of a drive, as far as it was written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Life {
    /// Bytes that the host has read.
    pub read_bytes: u64,
    /// Bytes that the host has written.
    pub written_bytes: u64,
    /// Pages programmed.
    pub programs: u64,
    /// How often it was opened without having been shut down before.
    pub unsafe_shutdowns: u64,
    /// Pages whose record or data was found damaged when they were read or moved.
    pub damaged_reads: u64,
    /// Reads that failed as somebody wanted it so.
    pub failed_reads: u64,
    /// Whether it has not been shut down since it was opened.
    pub is_on: bool,
}

impl Life {
    /// Bytes of it.
    pub(super) const BYTES: usize = 56;

    /// It is opened.
    #[must_use]
    pub fn turned_on(self) -> Self {
        let unsafe_shutdowns = self.unsafe_shutdowns + u64::from(self.is_on);
        Self { unsafe_shutdowns, is_on: true, ..self }
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
        bytes
    }

    /// The life in the bytes of an image. None if it is damaged; an image of an older version may
    /// have zeros, and counts pages of `page_bytes` where newer ones count bytes.
    pub(super) fn decode(bytes: &[u8; Self::BYTES], page_bytes: u32, is_old: bool) -> Option<Self> {
        if is_old && bytes.iter().all(|&byte| byte == 0) {
            return Some(Self::default());
        }
        let state = u32_at(bytes, 48);
        let unit = if state & IN_BYTES > 0 { 1 } else { u64::from(page_bytes) };
        (crc32fast::hash(&bytes[..52]) == u32_at(bytes, 52)).then(|| Self {
            read_bytes: u64_at(bytes, 0).saturating_mul(unit),
            written_bytes: u64_at(bytes, 8).saturating_mul(unit),
            programs: u64_at(bytes, 16),
            unsafe_shutdowns: u64_at(bytes, 24),
            damaged_reads: u64_at(bytes, 32),
            failed_reads: u64_at(bytes, 40),
            is_on: state & 1 > 0,
        })
    }
}

impl Stored {
    /// What the drive has been through. Of damage and failures it is told here, of all else by
    /// [`Stored::set_life`].
    pub fn life(&self) -> Life {
        self.life
    }

    /// The file has it when it is kept, or synced.
    pub fn set_life(&mut self, life: Life) {
        self.life = life;
    }

    /// The file has the life of the drive, unless there is a fault.
    pub fn keep_life(&mut self) {
        let _ = self.try_keep_life();
    }

    /// The data of a page that was only found is damaged.
    pub fn note_damage(&mut self) {
        self.life.damaged_reads += 1;
    }

    /// Where nothing else was changed it may reach the disk whenever it does.
    pub(super) fn try_keep_life(&mut self) -> Option<()> {
        if self.life != self.kept_life {
            self.image.write(LIFE_AT, &self.life.encode())?;
            self.kept_life = self.life;
        }
        Some(())
    }
}
