//! Moves pages inside the file: new records with other numbers, and the same data.

use std::mem;

use floatgate_ftl::addr::{Ppn, Tag};
use floatgate_ftl::geometry::Mode;
use floatgate_ftl::nand::Move;

use super::Stored;
use super::format::{Content, PageContent, Record};
use super::rows::stored;

/// Maximum number of bytes that a copy moves at once.
const RUN_BYTES: u32 = 256 << 10;

impl Stored {
    /// Moves adjacent pages to adjacent pages.
    fn copy_run(&mut self, moves: &[Move]) -> Option<()> {
        let mut moved = mem::take(&mut self.moved);
        let copies = self.read_run(moves, &mut moved);
        let done = copies.and_then(|copies| self.put(moves[0].to, &copies, &moved));
        self.moved = moved;
        done
    }

    /// Reads the pages to move; damaged pages are marked as lost.
    fn read_run(&mut self, moves: &[Move], moved: &mut Vec<u8>) -> Option<Vec<PageContent>> {
        let from = moves[0].from.get();
        let found = self.records(from, moves.len() as u32)?;
        let copies = moves.iter().zip(found);
        let copies = copies.map(|(step, found)| copy_of(found, step, self.mode_of(step.to)));
        let mut copies: Vec<PageContent> = copies.map(PageContent::Programmed).collect();
        let first = moves.iter().map(|step| step.serial).min()?;
        let last = moves.iter().map(|step| step.serial).max()?;
        self.announce(first..last.saturating_add(1))?;
        let page = self.page_bytes();
        moved.resize(moves.len() * page, 0);
        for range in stored(&copies) {
            let bytes = range.start * page..range.end * page;
            self.read_data(from + range.start as u32, &mut moved[bytes])?;
        }
        for (data, copy) in moved.chunks_exact(page).zip(&mut copies) {
            let PageContent::Programmed(copy) = copy else { continue };
            if copy.is_stored() && !copy.matches(&data[..copy.length as usize]) {
                (copy.content, copy.length) = (Content::Lost, 0);
            }
            self.life.damaged_reads += u64::from(copy.content == Content::Lost);
        }
        Some(copies)
    }

    pub(super) fn try_copy(&mut self, moves: &[Move]) -> Option<()> {
        let pages_max = RUN_BYTES as usize / self.page_bytes();
        let next_to = |a: Ppn, b: Ppn| a.get() + 1 == b.get();
        let runs = moves.chunk_by(|a, b| next_to(a.from, b.from) && next_to(a.to, b.to));
        for run in runs.flat_map(|run| run.chunks(pages_max.max(1))) {
            self.copy_run(run)?;
        }
        Some(())
    }
}

/// Returns the record of a moved page, if its old record is valid for `owner`. A page without a
/// valid record is lost and has no sequence number: it gets 0, which is older than all others.
fn copy_of(found: PageContent, &Move { owner, serial, .. }: &Move, mode: Mode) -> Record {
    match found {
        PageContent::Programmed(record) if record.belongs_to(owner) => {
            Record { tag: Tag::new(owner, record.tag.sequence, serial), mode, ..record }
        }
        _ => {
            let tag = Tag::new(owner, 0, serial);
            Record { tag, mode, content: Content::Lost, length: 0, checksum: 0 }
        }
    }
}
