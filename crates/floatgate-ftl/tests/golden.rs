//! Exact counters of one fixed workload for every row of the tables. `UPDATE_GOLDEN=1` rewrites the
//! file, and fails if that changes it: review the difference.

use std::fmt::Write;
use std::path::Path;

use crate::common::buffer_rig::{BufferRig, LAYERS, Layered};
use crate::common::log_rig::LogRig;
use crate::common::workload::{ANYTHING, Workload};
use crate::common::{Rig, STRIPED};
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::{Acknowledge, Device};
use floatgate_ftl::log_block::LOG_BLOCKS;
use floatgate_ftl::mapping::MAPPINGS;
use floatgate_ftl::nand::{Cause, Component, Shadow};
use floatgate_ftl::page_ftl::StreamCounts;
use floatgate_ftl::parameters::names;
use floatgate_ftl::placement::PLACEMENTS;
use floatgate_ftl::victim::VICTIMS;

const SEED: u64 = 2009;
const REQUESTS: usize = 4000;

/// Returns the rows of a page-mapped drive.
fn page_mapped(mapping: &'static str, placement: &'static str, victim: &'static str) -> String {
    let rig = Rig { placement, low_water: 0, ..Rig::new(STRIPED, mapping, victim) };
    let low_water = rig.cleaning().least_low_water(rig.frontiers(), 1).max(4);
    let (mut drive, _) = Rig { low_water, ..rig }.spare(2).build();
    counters(&format!("{mapping} {placement} {victim}"), drive.device())
}

/// Returns the rows of a drive behind SHRD.
fn behind_shrd(mapping: &'static str) -> String {
    let rig = Rig { log: 64, depth: 16, ..Rig::new(STRIPED, mapping, "greedy") };
    let (mut drive, _) = rig.spare(4).build_behind_shrd();
    counters(&format!("shrd {mapping}"), drive.device())
}

/// Returns the rows of one drive, `name value value ...`, without zero rows.
fn counters(title: &str, drive: &mut dyn Device) -> String {
    let (pages, page_bytes) = (STRIPED.logical_pages, STRIPED.page_bytes);
    let mut done = vec![];
    drive.run(&Workload::new(SEED, ANYTHING, pages, page_bytes).batch(REQUESTS), &mut done);
    drive.check();
    let all = drive.counters();
    let mut text = format!("[{title}]\n");
    let mut row = |name: &str, values: &[u64]| {
        if values.iter().any(|&value| value > 0) {
            let values = values.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
            writeln!(text, "{name} {values}").unwrap();
        }
    };
    let host = all.host;
    row("requests", &host.requests);
    row("host_pages", &[host.read_pages, host.write_pages, host.trimmed_pages]);
    row("empty_and_merge_reads", &[host.empty_reads, host.partial_page_reads]);
    for (index, (_, cause)) in Cause::ALL.iter().enumerate() {
        let flash = all.flash;
        row(cause, &[flash.reads[index], flash.programs[index], flash.erases[index]]);
    }
    let map = all.map;
    row("map_hits_misses", &[map.hits, map.misses]);
    row("map_evictions", &[map.evictions, map.dirty_evictions]);
    row("map_prefetched", &[map.prefetched, map.prefetch_used]);
    let pages =
        |of: fn(&StreamCounts) -> u64| drive.counters().streams.iter().map(of).collect::<Vec<_>>();
    row("stream_host_pages", &pages(|stream| stream.host_pages));
    row("stream_gc_pages", &pages(|stream| stream.gc_pages));
    row("emergencies", &[all.cleans.emergency]);
    let layer = all.layer.unwrap_or_default().shrd;
    row("twrites", &[layer.commands, layer.twrites, layer.packed, layer.packed_pages]);
    row("remaps", &[layer.remaps, layer.windows, layer.remapped_pages, layer.remapped_alone]);
    row("log", &[layer.redirected_reads, layer.dropped, layer.log_full]);
    let merges = all.merges;
    row("merges", &[merges.switch, merges.partial, merges.full, merges.dropped_logs]);
    row("shared_logs", &[merges.shared_logs, merges.shared_merges, merges.shared_most]);
    if let Some(buffer) = all.buffer {
        row("buffer_hits", &[buffer.write_hits, buffer.read_hits]);
        row("buffer_misses", &[buffer.write_misses, buffer.read_misses]);
        row("buffer_left", &[buffer.flushed, buffer.padded, buffer.trimmed, buffer.held]);
    }
    let time = all.occupation;
    row("end_busy_busiest_ns", &[time.end_ns, time.busy_ns, time.busiest_ns]);
    for (index, component) in Component::NAMES.iter().enumerate() {
        let sum = done.iter().map(|completion| completion.blame.0[index]).sum();
        row(&format!("blame_{component}_ns"), &[sum]);
    }
    text
}

#[test]
fn every_row_has_its_golden_counters() {
    let mut actual = String::new();
    for mapping in names(MAPPINGS) {
        actual += &page_mapped(mapping, "single", "greedy");
    }
    for victim in names(VICTIMS) {
        actual += &page_mapped("dftl", "single", victim);
        actual += &page_mapped("ideal", "eti", victim);
    }
    for placement in names(PLACEMENTS) {
        actual += &page_mapped("dftl", placement, "cost_benefit");
    }
    for scheme in names(LOG_BLOCKS) {
        let (mut drive, _) = LogRig::new(STRIPED, scheme, 5).build();
        actual += &counters(scheme, &mut *drive);
    }
    for buffer in names(BUFFERS) {
        for layer in LAYERS {
            let rig = BufferRig::new(buffer, Acknowledge::WriteBack);
            let data = Shadow::new(STRIPED.logical_pages);
            let mut drive = Layered::new(layer, STRIPED, rig, data).drive;
            actual += &counters(&format!("{buffer} {layer}"), &mut *drive);
        }
    }
    for mapping in ["ideal", "dftl", "page_cache"] {
        actual += &behind_shrd(mapping);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.txt");
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let Some((line, ours, theirs)) = first_difference(&actual, &golden) else { return };
    let next = match std::env::var_os("UPDATE_GOLDEN") {
        Some(_) => {
            std::fs::write(&path, &actual).unwrap();
            "it has been rewritten: review the difference"
        }
        None => "UPDATE_GOLDEN=1 rewrites it",
    };
    panic!("golden.txt:{line}: counted {ours:?}, expected {theirs:?}; {next}");
}

/// Returns the first line in which two texts differ, and its content in each text.
fn first_difference<'a>(
    ours: &'a str,
    theirs: &'a str,
) -> Option<(usize, Option<&'a str>, Option<&'a str>)> {
    let (mut ours, mut theirs) = (ours.lines(), theirs.lines());
    (1..).find_map(|line| match (ours.next(), theirs.next()) {
        (None, None) => Some(None),
        (ours, theirs) => (ours != theirs).then_some(Some((line, ours, theirs))),
    })?
}

#[test]
fn a_difference_is_found_wherever_it_is() {
    let differs = |ours, theirs| first_difference(ours, theirs);
    assert_eq!(differs("a\nb\n", "a\nb\n"), None);
    assert_eq!(differs("a\nb\n", "a\nc\n"), Some((2, Some("b"), Some("c"))));
    assert_eq!(differs("a\n", "a\nc\n"), Some((2, None, Some("c"))));
    assert_eq!(differs("a\nb\n", "a\n"), Some((2, Some("b"), None)));
    assert_eq!(differs("a\n", ""), Some((1, Some("a"), None)));
}
