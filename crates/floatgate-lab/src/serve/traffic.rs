//! Traffic of the flash by cause and by placement handle, since the server started. Resets of the
//! counters and power cuts do not reset it.

use floatgate_ftl::counters::{CAUSES, Counters, OwnerCounts};

/// Pages and units, by cause in the order of [`Cause::ALL`](floatgate_ftl::nand::Cause::ALL).
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    /// Pages read.
    pub reads: [u64; CAUSES],
    /// Pages programmed.
    pub programs: [u64; CAUSES],
    /// Units erased.
    pub erases: [u64; CAUSES],
    /// By handle: pages programmed for the host, and all pages programmed.
    pub handles: Vec<(u64, u64)>,
}

impl Traffic {
    pub fn add(&mut self, counters: &Counters) {
        let flash = &counters.flash;
        for (sums, counts) in [
            (&mut self.reads, &flash.reads),
            (&mut self.programs, &flash.programs),
            (&mut self.erases, &flash.erases),
        ] {
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        self.handles.resize(counters.owners.len().max(self.handles.len()), (0, 0));
        for ((host, media), owner) in self.handles.iter_mut().zip(&counters.owners) {
            let OwnerCounts { host_pages, gc_pages, fold_pages, wear_pages, .. } = owner;
            *host += host_pages;
            *media += host_pages + gc_pages.iter().sum::<u64>() + fold_pages + wear_pages;
        }
    }
}
