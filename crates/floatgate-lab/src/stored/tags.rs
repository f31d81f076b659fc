//! Access of recovery to an image: the tags of its pages.

use floatgate_ftl::addr::{Ppn, Tag, Unit};
use floatgate_ftl::geometry::{Geometry, Mode};
use floatgate_ftl::nand::Tagged;

use super::Stored;
use super::format::{Content, PageContent};

fn tag_of(found: PageContent) -> Option<Tag> {
    match found {
        PageContent::Programmed(record) => Some(record.tag),
        PageContent::Erased | PageContent::Torn | PageContent::Padding { .. } => None,
    }
}

impl Tagged for Stored {
    fn tag(&self, ppn: Ppn) -> Option<Tag> {
        let (unit, page) = self.header.medium.place(ppn);
        let is_programmed = page < self.programmed[unit.index()];
        if is_programmed { self.record(ppn).and_then(tag_of) } else { None }
    }

    fn programmed(&self, unit: Unit) -> u32 {
        self.programmed[unit.index()]
    }

    fn mode(&self, unit: Unit) -> Mode {
        self.modes.mode(unit)
    }

    fn payload(&self, ppn: Ppn) -> Option<Vec<u8>> {
        let record = match self.record(ppn)? {
            PageContent::Programmed(record) if record.content == Content::Note => record,
            _ => return None,
        };
        let mut note = vec![0; record.length as usize];
        self.read_data(ppn.get(), &mut note)?;
        record.matches(&note).then_some(note)
    }

    fn tags(&self, unit: Unit, geometry: &Geometry, tags: &mut Vec<Option<Tag>>) {
        tags.clear();
        let programmed = self.programmed[unit.index()];
        if programmed > 0 {
            let found = self.records(geometry.page(unit, 0).get(), programmed);
            tags.extend(found.into_iter().flatten().map(tag_of));
            // After a fault no tag can be read.
            tags.resize(programmed as usize, None);
        }
    }
}
