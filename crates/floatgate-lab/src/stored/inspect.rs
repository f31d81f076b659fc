//! Inspection of an image: each page with its record, and the damage.

use floatgate_ftl::addr::{Ppn, Tag, Unit};
use floatgate_ftl::geometry::Mode;

use super::Stored;
use super::format::{Content, PageContent, RECORD_BYTES, Record, TORN};
use super::rows::lost_together;
use super::tally::Tally;

/// The out-of-band area of a page, and whether its data matches its checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRecord {
    /// The owner of the page, and its sequence and serial numbers.
    pub tag: Tag,
    /// The mode of its unit.
    pub mode: Mode,
    /// The kind of its data.
    pub content: Content,
    /// Bytes of data stored.
    pub bytes: u32,
    /// Whether the data matches the record's checksum; true if the data was not read.
    pub is_sound: bool,
}

/// State of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageState {
    /// Nothing was programmed.
    Erased,
    /// The page was being programmed when the power failed, or had not been synced. That is normal.
    Torn,
    /// The page was synced, and its record is invalid.
    Damaged,
    /// Padding without data, which fills up a row of pages that are programmed at once.
    Padding,
    /// The page has a record.
    Programmed(PageRecord),
}

impl Stored {
    /// Returns the pages of a unit up to the last one programmed. `data` also reads their data and
    /// compares it with the checksums. None if the file has a fault.
    pub fn inspect(&self, unit: Unit, data: bool) -> Option<Vec<PageState>> {
        let (first, pages) =
            (self.header.medium.page(unit, 0).get(), self.programmed[unit.index()]);
        let range = self.layout.records(first, pages);
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(range.start, &mut bytes)?;
        let mut states = Vec::with_capacity(pages as usize);
        let mut is_synced = false;
        let group = lost_together(&self.header.medium, &self.modes, unit) as usize;
        // From the end, because a synced page shows that the pages before it were synced, too.
        for (row, bytes) in bytes.as_chunks().0.chunks(group).enumerate().rev() {
            let first = first + (row * group) as u32;
            let is_torn = |ppn, bytes: &_| *bytes == TORN || self.torn.contains(&ppn);
            let found = (first..).zip(bytes).map(|(ppn, bytes)| match is_torn(ppn, bytes) {
                true => PageContent::Torn,
                false => Record::decode(bytes, ppn, &self.header.medium),
            });
            let found: Vec<PageContent> = found.collect();
            let mut serials = found.iter().filter_map(PageContent::serial).peekable();
            is_synced |=
                serials.peek().is_some() && serials.all(|serial| self.point.covers(unit, serial));
            let is_used = found.iter().any(|found| *found != PageContent::Erased);
            for (at, found) in found.iter().enumerate().rev() {
                let ppn = first + at as u32;
                states.push(match found {
                    PageContent::Erased if group == 1 || !is_used => PageState::Erased,
                    PageContent::Padding { .. } => PageState::Padding,
                    PageContent::Programmed(record) => {
                        PageState::Programmed(self.page_record(ppn, record, data)?)
                    }
                    _ if (is_synced || self.point.is_closed) && !is_torn(ppn, &bytes[at]) => {
                        PageState::Damaged
                    }
                    _ => PageState::Torn,
                });
            }
        }
        states.reverse();
        Some(states)
    }

    /// Names the damaged sections in front of the records: sync point, erases, count of synced
    /// pages, life of the drive.
    pub fn damaged_records(&self) -> &[&'static str] {
        &self.damaged
    }

    /// Checks that all synced pages are present and in their latest version. If not, returns the
    /// number of pages that are present and the number expected. None as well for an image of a
    /// version without a count. This reads all records.
    pub fn missing(&self) -> Option<(u64, u64)> {
        let mut present = Tally::default();
        for unit in (0..self.header.medium.units()).map(Unit) {
            let first = self.header.medium.page(unit, 0).get();
            for page in self.records(first, self.programmed[unit.index()])? {
                if page.serial().is_some_and(|serial| self.point.covers(unit, serial)) {
                    present.add(&page);
                }
            }
        }
        let expected = self.point.synced;
        let is_sound = self.header.is_old || present == expected;
        (!is_sound).then_some((present.pages, expected.pages))
    }

    fn page_record(&self, ppn: u32, record: &Record, data: bool) -> Option<PageRecord> {
        let mut is_sound = true;
        if data && record.is_stored() {
            let mut bytes = vec![0; record.length as usize];
            self.image.read(self.layout.data(ppn, 1).start, &mut bytes)?;
            is_sound = record.matches(&bytes);
        }
        let Record { tag, mode, content, length, .. } = *record;
        Some(PageRecord { tag, mode, content, bytes: length, is_sound })
    }

    /// Returns the state of one page, with its data compared with the checksum.
    pub fn inspect_page(&self, ppn: Ppn) -> Option<PageState> {
        let (unit, page) = self.header.medium.place(ppn);
        let states = self.inspect(unit, false)?;
        let state = states.get(page as usize).copied().unwrap_or(PageState::Erased);
        match (state, self.record(ppn)?) {
            (PageState::Programmed(_), PageContent::Programmed(record)) => {
                Some(PageState::Programmed(self.page_record(ppn.get(), &record, true)?))
            }
            _ => Some(state),
        }
    }
}
