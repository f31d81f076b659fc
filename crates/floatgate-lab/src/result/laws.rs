//! Conservation laws that hold in every run, with any policies.

use floatgate_ftl::counters::OwnerCounts;
use floatgate_ftl::device::Counters;
use floatgate_ftl::geometry::Mode;
use floatgate_ftl::nand::{Cause, FlashCounts};

use crate::drive::Plan;
use crate::metrics::programs;

/// Asserts the conservation laws.
pub(super) fn assert_conserved(counters: &Counters, wear: &[u32], plan: &Plan) {
    let flash = &counters.flash;
    let host = counters.host;
    let health = counters.health.unwrap_or_default();
    let mut writes = host.write_pages - host.unwritten_pages;
    let mut reads = host.read_pages - host.empty_reads;
    if let Some(buffer) = &counters.buffer {
        reads = reads - buffer.read_hits + buffer.padded + buffer.unpadded;
        // A write-through buffer sends every page to the flash; any other buffer sends only the
        // pages that leave it.
        if !buffer.writes_through {
            assert_eq!(buffer.write_hits + buffer.write_misses, writes);
            writes = buffer.flushed + buffer.padded;
        }
    }
    assert_eq!(flash.programs[Cause::Host as usize], writes);
    // The controller's memory serves reads of pages that are not programmed yet.
    let read = |cause: usize| flash.reads[cause] + flash.memory_reads[cause];
    assert_eq!(read(Cause::Host as usize), reads + host.partial_page_reads);
    for cause in [Cause::Gc as usize, Cause::Merge as usize, Cause::Retire as usize] {
        assert_eq!(read(cause), flash.programs[cause]);
    }
    assert_programmed(flash, plan);
    assert_owned(counters);
    // The journal has its own units, which `wear` does not include.
    let erases = flash.erases.iter().sum::<u64>() - flash.erases[Cause::Journal as usize];
    assert_eq!(flash.programs[Cause::Retire as usize], health.moved + health.rewritten);
    assert_eq!(wear.iter().map(|&n| u64::from(n)).sum::<u64>(), erases);
    let pages = u64::from(plan.geometry.pages_with_parity());
    let capacity = u64::from(plan.flash.units()) * pages;
    let erased = flash.erases.iter().sum::<u64>() * pages;
    assert!(programs(counters) <= erased + capacity, "more programs than erased pages");
    let shape = plan.geometry.shape();
    let dies = u64::from(shape.channels) * u64::from(shape.dies);
    assert!(counters.occupation.busy_ns <= counters.occupation.end_ns * dies);
}

/// Asserts that each page that the host wrote, and each data page that cleaning copied, has one
/// owner. A layer with log blocks has no owners.
fn assert_owned(counters: &Counters) {
    if counters.owners.is_empty() {
        return;
    }
    let sum = |of: fn(&OwnerCounts) -> u64| counters.owners.iter().map(of).sum::<u64>();
    let programs = |cause: Cause| counters.flash.programs[cause as usize];
    let written = counters.streams.iter().map(|stream| stream.host_pages);
    assert_eq!(sum(|owner| owner.host_pages), written.sum::<u64>());
    assert_eq!(sum(|owner| owner.gc_pages.iter().sum()), programs(Cause::Gc));
    assert_eq!(sum(|owner| owner.fold_pages), programs(Cause::Fold));
    assert!(sum(|owner| owner.wear_pages) <= programs(Cause::Wear), "the map has no owner");
}

/// Asserts that rows are programmed whole, except rows that the streams are filling when the counts
/// begin and when they end.
fn assert_programmed(flash: &FlashCounts, plan: &Plan) {
    let pages = flash.programs.iter().sum::<u64>();
    let in_mode = |mode| u64::from(plan.geometry.in_mode(mode).program_unit());
    let in_slc = flash.slc_program_units * in_mode(Mode::Slc);
    let native = flash.program_units - flash.slc_program_units;
    let in_rows = native * in_mode(Mode::Native) + in_slc;
    let open = u64::from(u8::MAX) * u64::from(plan.geometry.program_unit() - 1);
    assert!(pages.abs_diff(in_rows) <= open, "{pages} pages, {in_rows} in rows");
    assert!(flash.senses <= flash.reads.iter().sum(), "a flash page is read for a page");
}
