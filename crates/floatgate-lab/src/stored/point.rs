//! The sync point: it states which pages were synced.

use std::ops::Range;

use floatgate_ftl::addr::Unit;

use super::format::{put, u32_at, u64_at};
use super::tally::Tally;

/// An erase that may not have been synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Erase {
    pub unit: Unit,
    /// Pages from before the erase have lower serial numbers, and pages programmed since do not.
    pub serial: u64,
}

/// States which pages were synced. It lies in one sector, which is written as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct SyncPoint {
    /// Pages with lower serial numbers were synced, except pages of the units in `erasing`.
    pub serial: u64,
    /// The last erases that may not have been synced, two at most.
    pub erasing: [Option<Erase>; 2],
    /// Tally of the synced pages.
    pub synced: Tally,
    /// Whether the drive was shut down, and nothing was programmed or erased since. The only torn
    /// pages are then those marked as torn.
    pub is_closed: bool,
}

/// Ranges of the parts of a sync point, each followed by its checksum: the serial number, the
/// erases, and the counts, which older images lack.
const PARTS: [Range<usize>; 3] = [0..8, 12..36, 40..60];
/// Messages for the damaged parts.
const NAMES: [&str; 3] =
    ["the sync point is damaged", "the erases are damaged", "the count of synced pages is damaged"];

impl SyncPoint {
    /// Bytes of a sync point.
    pub const BYTES: usize = 64;

    /// Bytes of a sync point in images of the versions without a count of pages.
    pub const OLD_BYTES: usize = 40;

    /// Returns whether a page of `unit` with this serial number was synced, and its unit not erased
    /// since.
    pub fn covers(&self, unit: Unit, serial: u64) -> bool {
        serial < self.serial && !self.erasing.iter().flatten().any(|erase| erase.unit == unit)
    }

    /// Encodes the three parts, each with its checksum.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        put(&mut bytes, 0, &self.serial.to_le_bytes());
        for (erase, at) in self.erasing.iter().zip([12, 24]) {
            let Some(erase) = erase else { continue };
            put(&mut bytes, at, &(erase.unit.0 + 1).to_le_bytes());
            put(&mut bytes, at + 4, &erase.serial.to_le_bytes());
        }
        put(&mut bytes, 40, &self.synced.pages.to_le_bytes());
        put(&mut bytes, 48, &self.synced.serials.to_le_bytes());
        put(&mut bytes, 56, &u32::from(self.is_closed).to_le_bytes());
        for part in PARTS {
            let checksum = crc32fast::hash(&bytes[part.clone()]);
            put(&mut bytes, part.end, &checksum.to_le_bytes());
        }
        bytes
    }

    /// Decodes a sync point, complete or from an older image, and names its damaged parts. A
    /// damaged sync point becomes 0, which is always safe, and damaged erases become none. The
    /// oldest images have zeros in place of both.
    pub fn decode(bytes: &[u8]) -> (Self, Vec<&'static str>) {
        let is_old = bytes.len() == Self::OLD_BYTES;
        let is_damaged = |part: &Range<usize>| {
            let stored = &bytes[part.start..part.end + 4];
            let is_missing = is_old && stored.iter().all(|&byte| byte == 0);
            !is_missing && crc32fast::hash(&bytes[part.clone()]) != u32_at(bytes, part.end)
        };
        let parts = PARTS[..if is_old { 2 } else { 3 }].iter().zip(NAMES);
        let damaged: Vec<_> =
            parts.filter(|(part, _)| is_damaged(part)).map(|(_, name)| name).collect();
        let mut point = Self::default();
        if !damaged.contains(&NAMES[1]) {
            let erase = |at| {
                let unit = u32_at(bytes, at).checked_sub(1)?;
                Some(Erase { unit: Unit(unit), serial: u64_at(bytes, at + 4) })
            };
            point.erasing = [erase(12), erase(24)];
        }
        let is_sound = if is_old { !damaged.contains(&NAMES[0]) } else { damaged.is_empty() };
        if is_sound {
            point.serial = u64_at(bytes, 0);
        }
        if is_sound && !is_old {
            point.synced = Tally { pages: u64_at(bytes, 40), serials: u64_at(bytes, 48) };
            point.is_closed = u32_at(bytes, 56) > 0;
        }
        (point, damaged)
    }
}
