//! Determines the live pages of an image: those that the drive would recover if it were opened now.

use floatgate_ftl::addr::{Lpn, Owner, Ppn, Tag, Unit};
use floatgate_ftl::journal::Checkpoint;
use floatgate_ftl::nand::Tagged;
use floatgate_ftl::recovery::{ScanResult, scan};

use super::View;

/// The drive as recovery would find it, determined without a write to the image.
pub(super) struct Owners {
    /// Result of the recovery with the journal.
    pub found: ScanResult,
    /// The checkpoint from which the recovery starts.
    pub checkpoint: Option<Checkpoint>,
    /// The first unit of the journal half with the checkpoint, and the first unit after that half.
    area: (u32, u32),
    /// The newest flash page of each translation page, with its serial number.
    map: Vec<Option<(u64, Ppn)>>,
}

impl Owners {
    pub fn read(view: &View) -> Self {
        let View { stored, plan, journal, .. } = view;
        let checkpoint = journal.find(stored);
        let found = scan(stored, &plan.geometry, plan.log_pages, checkpoint.clone());
        let half = journal.units() / 2;
        let first = plan.geometry.units();
        // The first page programmed for a checkpoint has the serial number after the checkpoint's
        // stamp.
        let begins = |&unit: &u32| {
            let tag = stored.tag(plan.medium.page(Unit(unit), 0));
            let taken = checkpoint.as_ref().map(|checkpoint| checkpoint.stamp.serial + 1);
            tag.is_some() && tag.map(|tag| tag.serial) == taken
        };
        let area = [first, first + half].into_iter().find(begins);
        let area = area.map_or((0, 0), |start| (start, start + half));
        let mut owners = Self { found, checkpoint, area, map: vec![] };
        owners.map = owners.newest_map(view);
        owners
    }

    fn newest_map(&self, view: &View) -> Vec<Option<(u64, Ppn)>> {
        let geometry = &view.plan.geometry;
        let mut map = vec![None; geometry.translation_pages() as usize];
        let mut tags = vec![];
        for found in &self.found.units {
            view.stored.tags(found.unit, geometry, &mut tags);
            for (page, tag) in tags.iter().enumerate() {
                let Some(Tag { owner: Owner::Translation(tpn), serial, .. }) = tag else {
                    continue;
                };
                if let Some(newest) = map.get_mut(tpn.index()) {
                    *newest =
                        (*newest).max(Some((*serial, geometry.page(found.unit, page as u32))));
                }
            }
        }
        map
    }

    /// Returns whether a unit belongs to the journal.
    pub fn is_journal(view: &View, unit: Unit) -> bool {
        unit.0 >= view.plan.geometry.units()
    }

    /// Returns the flash page to which a logical page is mapped.
    pub fn place(&self, lpn: Lpn) -> Option<Ppn> {
        self.found.table.get(lpn.index()).copied().flatten()
    }

    /// Returns whether a flash page is valid.
    pub fn is_live(&self, view: &View, ppn: Ppn, tag: Tag) -> bool {
        let unit = view.plan.medium.unit(ppn);
        if Self::is_journal(view, unit) {
            return (self.area.0..self.area.1).contains(&unit.0);
        }
        match tag.owner {
            Owner::Data(lpn) => self.place(tag.original.unwrap_or(lpn)) == Some(ppn),
            Owner::Translation(tpn) => {
                self.map.get(tpn.index()).is_some_and(|newest| newest.is_some_and(|n| n.1 == ppn))
            }
        }
    }
}
