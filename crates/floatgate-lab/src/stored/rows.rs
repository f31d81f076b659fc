//! Rows of pages that are programmed at once.
//!
//! If a loss of power takes rows that are not full, such a row is in memory until it is full, or
//! filled with padding. It then goes to the file in one piece. The file thus holds exactly the
//! contents of the flash, and a process that ends loses the pages that waited in the controller's
//! memory. If that memory is protected, every page goes to the file at once, as on a drive that
//! programs page by page.

use std::ops::Range;

use floatgate_ftl::addr::{Ppn, Unit};
use floatgate_ftl::geometry::{Geometry, Modes};

use super::Stored;
use super::format::PageContent;
use super::tally::Tally;

/// A row that is being filled.
#[derive(Debug, Default)]
pub(super) struct Row {
    pages: Vec<PageContent>,
    /// Data of the pages, each padded to a page.
    data: Vec<u8>,
    /// Tally of all pages programmed before the row's first page, without erased ones.
    pub before: Tally,
}

impl Row {
    /// The serial number of the row's first page. None if the first page is padding: the row is
    /// then full.
    pub fn first(&self) -> Option<u64> {
        match self.pages.first() {
            Some(PageContent::Programmed(record)) => Some(record.tag.serial),
            _ => None,
        }
    }
}

/// Number of pages of a unit that are torn together: the pages of a row, or 1.
pub(super) fn lost_together(medium: &Geometry, modes: &Modes, unit: Unit) -> u32 {
    if medium.loses_pages() { modes.geometry_of(unit).program_unit() } else { 1 }
}

/// Returns the ranges of adjacent pages with stored data.
pub(super) fn stored(pages: &[PageContent]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    pages.chunk_by(|a, b| a.is_stored() == b.is_stored()).filter_map(move |run| {
        let start = end;
        end += run.len();
        run[0].is_stored().then_some(start..end)
    })
}

impl Stored {
    /// Programs adjacent pages. `data` has a page for each; the last page may be shorter.
    pub(super) fn put(&mut self, first: Ppn, pages: &[PageContent], data: &[u8]) -> Option<()> {
        if !self.header.medium.loses_pages() {
            self.write_pages(first, pages, data)?;
            (first.get()..).zip(pages).for_each(|(ppn, page)| self.advance(Ppn::new(ppn), page));
            return Some(());
        }
        let mut data = data.chunks(self.page_bytes());
        for (ppn, &page) in (first.get()..).zip(pages) {
            self.put_in_row(Ppn::new(ppn), page, data.next().unwrap_or_default())?;
        }
        Some(())
    }

    /// Writes adjacent pages to the file. `data` has a page for each.
    fn write_pages(&mut self, first: Ppn, pages: &[PageContent], data: &[u8]) -> Option<()> {
        self.is_changed = true;
        let at = self.layout.data(first.get(), pages.len() as u32).start;
        for range in stored(pages) {
            let from = range.start * self.page_bytes();
            let end = data.len().min(range.end * self.page_bytes());
            self.image.write(at + from as u64, &data[from..end])?;
        }
        let records = (first.get()..).zip(pages).flat_map(|(ppn, page)| page.encode(ppn));
        let records: Vec<u8> = records.collect();
        self.image.write(self.layout.records(first.get(), pages.len() as u32).start, &records)
    }

    fn put_in_row(&mut self, to: Ppn, page: PageContent, data: &[u8]) -> Option<()> {
        let geometry = self.modes.geometry_of(self.modes.unit(to));
        let left = geometry.left_in_program_unit(to);
        let first = to.get() + left - geometry.program_unit();
        let page_bytes = self.page_bytes();
        let begin = || Row { before: self.tally, ..Row::default() };
        let row = self.begun.entry(first).or_insert_with(begin);
        row.pages.push(page);
        row.data.extend_from_slice(data);
        row.data.resize(row.pages.len() * page_bytes, 0);
        self.advance(to, &page);
        if left > 1 {
            return Some(());
        }
        let Row { pages, data, .. } = self.begun.remove(&first)?;
        self.write_pages(Ppn::new(first), &pages, &data)
    }

    /// Returns a page that waits in memory, with its data.
    pub(super) fn waiting(&self, ppn: u32) -> Option<(&PageContent, &[u8])> {
        let (first, row) = self.begun.range(..=ppn).next_back()?;
        let at = (ppn - first) as usize;
        Some((row.pages.get(at)?, row.data.chunks(self.page_bytes()).nth(at)?))
    }

    /// Reads the data of adjacent pages. The last page may be read in part.
    pub(super) fn read_data(&self, first: u32, data: &mut [u8]) -> Option<()> {
        self.image.read(self.layout.data(first, 1).start, data)?;
        if !self.begun.is_empty() {
            for (ppn, data) in (first..).zip(data.chunks_mut(self.page_bytes())) {
                if let Some((_, waiting)) = self.waiting(ppn) {
                    data.copy_from_slice(&waiting[..data.len()]);
                }
            }
        }
        Some(())
    }

    /// Returns a serial number and the tally of all pages in the file: every page with a lower
    /// number is in the file.
    pub(super) fn written(&self) -> (u64, Tally) {
        let waiting = self.begun.values().filter_map(|row| Some((row.first()?, row.before)));
        waiting.min_by_key(|&(first, _)| first).unwrap_or((self.next_point, self.tally))
    }
}
