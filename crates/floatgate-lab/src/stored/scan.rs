//! What an image is asked once, when it is opened: how far every unit is programmed, and whether
//! what was written last is there.

use std::collections::BTreeSet;

use floatgate_ftl::geometry::Geometry;

use super::format::{Found, Layout, RECORD_BYTES, Record, TORN, is_erased, is_plausible, serial};
use super::image::Image;

/// Records read at once: about 1 MiB of them.
const CHUNK: u64 = (1 << 20) / RECORD_BYTES as u64 * RECORD_BYTES as u64;

/// What was found.
#[derive(Debug)]
pub(super) struct Scan {
    /// The page after the last one programmed, by unit.
    pub programmed: Vec<u32>,
    /// Pages of which record or data is not what was programmed, and was never synced.
    pub torn: BTreeSet<u32>,
    /// Pages of the unit in hand that have no sound record, and none of a synced page behind them.
    suspects: Vec<u32>,
    /// Above all serial numbers whose data is known to be there.
    pub point: u64,
    /// Bytes read of the out-of-band area.
    pub bytes: u64,
}

/// Reads the records that are not in a hole. Pages programmed from serial number `point` on have
/// their data read, too.
pub(super) fn scan(image: &Image, layout: &Layout, medium: &Geometry, point: u64) -> Option<Scan> {
    let programmed = vec![0; medium.units() as usize];
    let mut scan = Scan { programmed, torn: BTreeSet::new(), suspects: vec![], point, bytes: 0 };
    let oob = layout.oob();
    let mut chunk = vec![];
    let mut data = vec![];
    let mut at = oob.start;
    while at < oob.end {
        let stored = image.next_stored(at..oob.end)?;
        if stored.is_empty() {
            break;
        }
        // A hole ends where a block does, which may be inside a record.
        let record = RECORD_BYTES as u64;
        at = oob.start + (stored.start - oob.start) / record * record;
        let end = oob.start + (stored.end - oob.start).next_multiple_of(record);
        while at < end {
            let bytes = (end - at).min(CHUNK);
            chunk.resize(bytes as usize, 0);
            image.read(at, &mut chunk)?;
            scan.bytes += bytes;
            let first = ((at - oob.start) / record) as u32;
            for (ppn, record) in (first..).zip(chunk.as_chunks().0) {
                scan.look_at(ppn, record, medium);
                scan.suspect(image, layout, medium, (ppn, record), point)?;
                if serial(record) >= point {
                    scan.verify(image, layout, (ppn, record), medium, &mut data)?;
                }
            }
            at += bytes;
        }
    }
    scan.tear_suspects(image, layout)?;
    Some(scan)
}

impl Scan {
    fn look_at(&mut self, ppn: u32, record: &[u8; RECORD_BYTES], medium: &Geometry) {
        if !is_erased(record) {
            let (unit, page) = (ppn / medium.pages_per_unit(), ppn % medium.pages_per_unit());
            self.programmed[unit as usize] = page + 1;
        }
    }

    /// A record of which only a part was written is torn, like its page. It is damage if a page
    /// behind it in its unit was synced, for then so was this one.
    fn suspect(
        &mut self,
        image: &Image,
        layout: &Layout,
        medium: &Geometry,
        (ppn, record): (u32, &[u8; RECORD_BYTES]),
        point: u64,
    ) -> Option<()> {
        let unit = |ppn: u32| ppn / medium.pages_per_unit();
        if self.suspects.last().is_some_and(|&suspect| unit(suspect) != unit(ppn)) {
            self.tear_suspects(image, layout)?;
        }
        if is_erased(record) || *record == TORN {
            return Some(());
        }
        let is_synced = serial(record) < point;
        let is_sound = (is_synced && is_plausible(record))
            || Record::decode(record, ppn, medium.shape()) != Found::Torn;
        match (is_sound, is_synced) {
            (false, _) => self.suspects.push(ppn),
            (true, true) => self.suspects.clear(),
            (true, false) => {}
        }
        Some(())
    }

    fn tear_suspects(&mut self, image: &Image, layout: &Layout) -> Option<()> {
        for ppn in std::mem::take(&mut self.suspects) {
            self.tear(image, layout, ppn)?;
        }
        Some(())
    }

    /// Nothing can be read from a page any more, and later sessions see why.
    fn tear(&mut self, image: &Image, layout: &Layout, ppn: u32) -> Option<()> {
        self.torn.insert(ppn);
        if image.is_read_only() {
            return Some(());
        }
        image.write(layout.records(ppn, 1).start, &TORN)
    }

    fn verify(
        &mut self,
        image: &Image,
        layout: &Layout,
        (ppn, record): (u32, &[u8; RECORD_BYTES]),
        medium: &Geometry,
        data: &mut Vec<u8>,
    ) -> Option<()> {
        let data_of_page = layout.data(ppn, 1);
        let Found::Programmed(found) = Record::decode(record, ppn, medium.shape()) else {
            return Some(());
        };
        self.point = self.point.max(found.tag.serial.saturating_add(1));
        if found.is_stored() {
            data.resize(found.length as usize, 0);
            image.read(data_of_page.start, data)?;
            if !found.matches(data) {
                self.tear(image, layout, ppn)?;
            }
        }
        Some(())
    }
}
