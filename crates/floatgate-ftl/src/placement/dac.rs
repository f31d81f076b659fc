//! DAC, dynamic data clustering: pages climb when they are written and sink when they are cleaned
//! (Chiang, Lee and Chang, "Using Data Clustering to Improve Cleaning Performance for Flash
//! Memory", Software: Practice and Experience 29(3), 1999).
//!
//! The flash is divided into regions, from cold to hot. A page starts in the coldest region. An
//! update moves it one region up if the page was young. Cleaning moves it one region down if it is
//! old.
//!
//! According to the paper, the limits for young and old depend on the workload. By default every
//! page here is both young and old, as in the evaluation of SepBIT (Wang et al., FAST 2022), whose
//! published code does the same with six regions. The age of a page is the number of pages that the
//! host has written since its last write of the page. The cost is one access to a table per page
//! written or moved. A drive knows a page's region from the unit of the page, so this takes no
//! memory. Ages, if a threshold needs them, are 4 bytes per logical page. The simulator keeps both
//! in tables.

use alloc::vec;
use alloc::vec::Vec;

use super::{HostWrite, Placement, PlacementConfig, PlacementDemands, PlacementEvent, Relocation};
use crate::addr::Lpn;
use crate::policy::Policy;

crate::parameters! {
    /// Parameters of DAC.
    pub struct DacConfig {
        /// Regions between which pages are promoted and demoted.
        regions: u8 = 6, from 1 to 64;
        /// A written page is promoted if its age was below this, in host page writes. Not set:
        /// always.
        young: Option<u32> = None, from 1 to 4e9;
        /// A cleaned page is demoted if its age is at least this, in host page writes. Not set:
        /// always.
        old: Option<u32> = None, from 1 to 4e9;
    }
}

/// The page is in no region yet.
const NOWHERE: u8 = u8::MAX;

/// Regions between which pages climb and sink.
#[derive(Clone, Debug)]
pub struct Dac {
    config: DacConfig,
    /// Region of each page.
    regions: Vec<u8>,
    /// Time of the last write by page, if a threshold needs it.
    written: Vec<u64>,
}

crate::state!(Dac { regions, written } fixed { config });

impl Dac {
    /// Starts with no page written.
    pub fn new(config: &PlacementConfig) -> Self {
        let pages = config.geometry.logical_pages() as usize;
        let config = config.dac;
        assert!(0 < config.regions && config.regions < NOWHERE, "{} regions", config.regions);
        let aged = config.young.is_some() || config.old.is_some();
        Self {
            config,
            regions: vec![NOWHERE; pages],
            written: vec![0; if aged { pages } else { 0 }],
        }
    }

    fn age(&self, lpn: Lpn, clock: u64) -> u64 {
        clock - self.written[lpn.index()]
    }

    fn is_young(&self, lpn: Lpn, clock: u64) -> bool {
        self.config.young.is_none_or(|limit| self.age(lpn, clock) < limit.into())
    }

    fn is_old(&self, lpn: Lpn, clock: u64) -> bool {
        self.config.old.is_none_or(|limit| self.age(lpn, clock) >= limit.into())
    }
}

impl Placement for Dac {
    fn demands(config: &PlacementConfig) -> PlacementDemands {
        PlacementDemands { sorts_moved: true, ..PlacementDemands::streams(config.dac.regions) }
    }

    #[inline]
    fn stream(&mut self, write: HostWrite) -> u8 {
        let region = match self.regions[write.lpn.index()] {
            NOWHERE => 0,
            region if self.is_young(write.lpn, write.clock) => {
                (region + 1).min(self.config.regions - 1)
            }
            region => region,
        };
        self.regions[write.lpn.index()] = region;
        if let Some(written) = self.written.get_mut(write.lpn.index()) {
            *written = write.clock;
        }
        region
    }

    fn moved(&mut self, relocation: Relocation) -> u8 {
        let sinks = self.is_old(relocation.lpn, relocation.clock);
        let region = relocation.stream.saturating_sub(u8::from(sinks));
        self.regions[relocation.lpn.index()] = region;
        region
    }

    fn classify(&self, relocation: Relocation) -> u8 {
        match self.regions[relocation.lpn.index()] {
            // After a loss of power the drive knows only the place of the page.
            NOWHERE => relocation.stream,
            region => region,
        }
    }

    #[inline(always)]
    fn observe(&mut self, event: PlacementEvent) {
        if let PlacementEvent::Trimmed(lpn) = event {
            self.regions[lpn.index()] = NOWHERE;
        }
    }
}

impl Policy for Dac {
    fn memory_bytes(&self) -> u64 {
        4 * self.written.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::tests::config;

    fn dac(change: impl Fn(&mut DacConfig)) -> Dac {
        let mut config = config(64);
        change(&mut config.dac);
        Dac::new(&config)
    }

    fn write(dac: &mut Dac, lpn: u32, clock: u64) -> u8 {
        dac.stream(HostWrite { lpn: Lpn::new(lpn), request_pages: 1, clock, now_ns: 0 })
    }

    fn clean(dac: &mut Dac, lpn: u32, stream: u8, clock: u64) -> u8 {
        dac.moved(Relocation { lpn: Lpn::new(lpn), stream, clock, now_ns: 0 })
    }

    #[test]
    fn updates_promote_and_cleaning_demotes() {
        let mut dac = dac(|config| config.regions = 4);
        let climb: Vec<u8> = (0..6).map(|clock| write(&mut dac, 7, clock)).collect();
        assert_eq!(climb, [0, 1, 2, 3, 3, 3]);
        assert_eq!(write(&mut dac, 8, 6), 0, "pages climb by themselves");
        assert_eq!([3, 2, 1, 0].map(|stream| clean(&mut dac, 7, stream, 7)), [2, 1, 0, 0]);
        assert_eq!(write(&mut dac, 7, 8), 1);
        dac.observe(PlacementEvent::Trimmed(Lpn::new(7)));
        let unknown = Relocation { lpn: Lpn::new(7), stream: 2, clock: 9, now_ns: 0 };
        assert_eq!(dac.classify(unknown), 2, "a page that it knows nothing of stays");
        assert_eq!(write(&mut dac, 7, 9), 0);
    }

    #[test]
    fn only_the_young_climb_and_only_the_old_sink() {
        let mut dac = dac(|config| (config.young, config.old) = (Some(10), Some(100)));
        assert_eq!(write(&mut dac, 7, 0), 0);
        assert_eq!(write(&mut dac, 7, 9), 1);
        assert_eq!(write(&mut dac, 7, 19), 1, "ten is not young");
        assert_eq!(clean(&mut dac, 7, 1, 118), 1, "ninety-nine is not old");
        assert_eq!(clean(&mut dac, 7, 1, 119), 0);
        assert_eq!(clean(&mut dac, 7, 0, 500), 0);
        assert_eq!(dac.memory_bytes(), 4 * 64);
    }

    #[test]
    fn its_word_is_where_the_page_is() {
        let mut dac = dac(|_| ());
        assert_eq!((Dac::demands(&config(64)).streams, dac.memory_bytes()), (6, 0));
        write(&mut dac, 7, 0);
        write(&mut dac, 7, 1);
        let relocation = Relocation { lpn: Lpn::new(7), stream: 0, clock: 2, now_ns: 0 };
        assert_eq!(dac.classify(relocation), 1);
    }
}
