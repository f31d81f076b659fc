//! What there is to see of an image from outside: each page with its record, and what is wrong.

use floatgate_ftl::addr::{Ppn, Tag, Unit};

use super::Stored;
use super::format::{Content, Found, RECORD_BYTES, Record, TORN};

/// The out-of-band area of a page, and whether its data is what the record says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRecord {
    /// Whom the page was written for, and when.
    pub tag: Tag,
    /// What its data is.
    pub content: Content,
    /// Bytes of data that are stored.
    pub bytes: u32,
    /// Whether they have the checksum of the record; taken to be so if they were not read.
    pub is_sound: bool,
}

/// What is found of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageState {
    /// Nothing was programmed.
    Erased,
    /// It was being programmed when the power failed, or was never synced before. That is normal.
    Torn,
    /// It has been synced, and its record is none.
    Damaged,
    /// It has a record.
    Programmed(PageRecord),
}

impl Stored {
    /// The pages of a unit up to the last one programmed. With `data` their data is read and
    /// compared with the checksums. None if the file has a fault.
    pub fn inspect(&self, unit: Unit, data: bool) -> Option<Vec<PageState>> {
        let (first, pages) =
            (self.header.medium.page(unit, 0).get(), self.programmed[unit.index()]);
        let range = self.layout.records(first, pages);
        let mut bytes = vec![0; pages as usize * RECORD_BYTES];
        self.image.read(range.start, &mut bytes)?;
        let mut states = Vec::with_capacity(pages as usize);
        let mut is_synced = false;
        // From the end, for a page that was synced says that those before it were.
        for (page, bytes) in bytes.as_chunks().0.iter().enumerate().rev() {
            let ppn = first + page as u32;
            let is_torn = *bytes == TORN || self.torn.contains(&ppn);
            let state = match Record::decode(bytes, ppn, self.header.medium.shape()) {
                Found::Erased => PageState::Erased,
                Found::Programmed(record) if !is_torn => {
                    is_synced |= record.tag.serial < self.point;
                    PageState::Programmed(self.page_record(ppn, &record, data)?)
                }
                Found::Torn if !is_torn && is_synced => PageState::Damaged,
                _ => PageState::Torn,
            };
            states.push(state);
        }
        states.reverse();
        Some(states)
    }

    fn page_record(&self, ppn: u32, record: &Record, data: bool) -> Option<PageRecord> {
        let mut is_sound = true;
        if data && record.is_stored() {
            let mut bytes = vec![0; record.length as usize];
            self.image.read(self.layout.data(ppn, 1).start, &mut bytes)?;
            is_sound = record.matches(&bytes);
        }
        let Record { tag, content, length, .. } = *record;
        Some(PageRecord { tag, content, bytes: length, is_sound })
    }

    /// What is found of one page, and its data compared.
    pub fn inspect_page(&self, ppn: Ppn) -> Option<PageState> {
        let (unit, page) = self.header.medium.place(ppn);
        let states = self.inspect(unit, false)?;
        let state = states.get(page as usize).copied().unwrap_or(PageState::Erased);
        match (state, self.record(ppn)?) {
            (PageState::Programmed(_), Found::Programmed(record)) => {
                Some(PageState::Programmed(self.page_record(ppn.get(), &record, true)?))
            }
            _ => Some(state),
        }
    }
}
