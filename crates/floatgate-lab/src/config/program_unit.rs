//! Flash pages that differ in size from the map unit, and rows of flash pages that a die programs
//! at once.

use floatgate_ftl::geometry::ProgramUnit;

use super::{Config, ConfigError, Flash, expect, expect_text};

/// Rows of write memory for each die if `controller.write_memory` is not set.
const ROWS_PER_DIE: u64 = 4;

impl Config {
    /// Returns the bytes of a map unit.
    pub fn unit_bytes(&self) -> u64 {
        self.mapping.unit.unwrap_or(self.flash.page).0
    }

    /// Returns the bytes that a die programs at once.
    fn row_bytes(&self) -> u64 {
        self.flash.page.0 * u64::from(self.flash.program_pages) * u64::from(self.flash.planes)
    }

    /// Returns the map units in a block.
    pub(crate) fn unit_pages_per_block(&self) -> u32 {
        let pages = u64::from(self.flash.pages_per_block) * self.flash.page.0 / self.unit_bytes();
        u32::try_from(pages).unwrap_or(u32::MAX)
    }

    /// Returns the map units in an erase unit, without those that hold parity.
    pub(crate) fn unit_pages(&self) -> u64 {
        let pages = u64::from(self.unit_pages_per_block()) * u64::from(self.flash.superblock);
        match self.flash.parity.map(u64::from) {
            None => pages,
            Some(dies) => pages / dies * (dies - 1),
        }
    }

    /// Whether a die programs a row of flash pages at once.
    pub(crate) fn has_program_units(&self) -> bool {
        let Flash { program_pages, parity, page, .. } = &self.flash;
        *program_pages > 1 || parity.is_some() || self.unit_bytes() != page.0
    }

    /// Returns the row that a die programs at once, if the drive programs rows.
    pub(super) fn program_unit(&self) -> Option<ProgramUnit> {
        self.has_program_units().then(|| ProgramUnit {
            pages: u32::try_from(self.row_bytes() / self.unit_bytes()).unwrap_or(u32::MAX),
            levels: self.flash.program_pages,
            is_protected: self.controller.power_protected,
            stripe: self.flash.parity,
        })
    }

    /// Returns the map units that fit into the write memory, if there is such a memory.
    pub(super) fn write_pages(&self) -> Option<u64> {
        let dies = u64::from(self.flash.channels) * u64::from(self.flash.dies);
        let usual = self.has_program_units().then(|| ROWS_PER_DIE * dies * self.row_bytes());
        let bytes = self.controller.write_memory.map(|size| size.0).or(usual)?;
        Some((bytes / self.unit_bytes()).max(1))
    }

    /// Whether a loss of power can destroy an acknowledged write.
    pub(crate) fn loses_write_memory(&self) -> bool {
        self.write_pages().is_some() && !self.controller.power_protected
    }

    pub(super) fn check_program_unit(&self) -> Result<(), ConfigError> {
        let page = self.flash.page;
        if let Some(unit) = self.mapping.unit {
            let fits = unit.0.is_power_of_two();
            let other = "a power of two".to_owned();
            expect(fits, "mapping.unit", &format!("\"{unit}\""), other)?;
        }
        if let Some(after) = self.controller.flush_after {
            let text = "no value on a drive that programs page by page (see flash.program_pages)";
            let key = "controller.flush_after";
            expect(self.has_program_units(), key, &format!("\"{after}\""), text.to_owned())?;
        }
        if !self.has_program_units() {
            return Ok(());
        }
        let (levels, planes) = (self.flash.program_pages, self.flash.planes);
        let (row, unit) = (self.row_bytes(), self.unit_bytes());
        expect(
            row.is_multiple_of(unit) && (row / unit >= 2 || self.flash.parity.is_some()),
            "mapping.unit",
            &format!("\"{}\"", self.mapping.unit.unwrap_or(page)),
            format!(
                "a half, a third, ... of the {row} bytes that a die programs at once \
                 (flash.page x flash.program_pages x flash.planes)"
            ),
        )?;
        let blocks = self.flash.pages_per_block;
        expect(
            blocks.is_multiple_of(levels),
            "flash.pages_per_block",
            &blocks,
            format!("a multiple of flash.program_pages ({levels})"),
        )?;
        let superblock = self.flash.superblock;
        let all = format!("a multiple of flash.planes ({planes}): a row is on all planes of a die");
        expect(superblock.is_multiple_of(planes), "flash.superblock", &superblock, all)?;
        if let Some(stripe) = self.flash.parity {
            let dies = superblock / planes;
            let fits = stripe >= 2 && dies.is_multiple_of(stripe);
            let other = format!("at least 2, and a divisor of the {dies} dies of an erase unit");
            expect(fits, "flash.parity", &stripe, other)?;
        }
        let rows = "a die that programs a row of pages at once";
        let types = self.flash.read.0.len();
        let by_level = types == 1 || types == levels as usize;
        let other = format!("one time, or {levels} as of flash.program_pages");
        expect(by_level, "flash.read", &format!("a list of {types}"), other)?;
        let types = self.flash.program.0.len();
        let other = format!("one time with {rows}");
        expect(types == 1, "flash.program", &format!("a list of {types}"), other)?;
        expect_text("ftl.scheme", &self.ftl.scheme, "page", rows)?;
        let protected = self.controller.power_protected || !self.host.keeps_log();
        let other = "true with a log of the host, whose pages are durable when written";
        expect(protected, "controller.power_protected", &false, other.to_owned())
    }
}
