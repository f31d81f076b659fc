//! The sync point: what was synced, as the file says.

use std::ops::Range;

use floatgate_ftl::addr::Unit;

use super::format::{put, u32_at, u64_at};

/// An erase that may not have been synced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Erase {
    pub unit: Unit,
    /// Pages that were in the unit before have lower serial numbers, and no page since has.
    pub serial: u64,
}

/// What was synced, as the file says. It lies in one sector, which is written as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SyncPoint {
    /// Pages with lower serial numbers were synced,
    pub serial: u64,
    /// but for those of units of which an erase may not have been: of the last two at most.
    pub erasing: [Option<Erase>; 2],
}

impl SyncPoint {
    /// Bytes of it.
    pub const BYTES: usize = 40;

    /// Whether a page of a unit, with such a serial number, was synced and not erased since.
    pub fn covers(&self, unit: Unit, serial: u64) -> bool {
        serial < self.serial && !self.erasing.iter().flatten().any(|erase| erase.unit == unit)
    }

    /// Two parts, each with its checksum.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        put(&mut bytes, 0, &self.serial.to_le_bytes());
        for (erase, at) in self.erasing.iter().zip([12, 24]) {
            let Some(erase) = erase else { continue };
            put(&mut bytes, at, &(erase.unit.0 + 1).to_le_bytes());
            put(&mut bytes, at + 4, &erase.serial.to_le_bytes());
        }
        for part in [0..8, 12..36] {
            let checksum = crc32fast::hash(&bytes[part.clone()]);
            put(&mut bytes, part.end, &checksum.to_le_bytes());
        }
        bytes
    }

    /// What cannot be read is 0, which is always safe, and no erase: images had none at first.
    pub fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        let is_sound =
            |part: Range<usize>| crc32fast::hash(&bytes[part.clone()]) == u32_at(bytes, part.end);
        let erase = |at| {
            let unit = u32_at(bytes, at).checked_sub(1).filter(|_| is_sound(12..36))?;
            Some(Erase { unit: Unit(unit), serial: u64_at(bytes, at + 4) })
        };
        Self {
            serial: if is_sound(0..8) { u64_at(bytes, 0) } else { 0 },
            erasing: [erase(12), erase(24)],
        }
    }
}
