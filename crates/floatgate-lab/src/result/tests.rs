//! Tests of the result. Hand-made counters give every field another number, so that mixed-up fields
//! are noticed in sections where a small run would not show them. The conservation laws must reject
//! counters that break them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use floatgate_ftl::counters::CAUSES;
use floatgate_ftl::device::{BufferCounts, Counters, LayerCounts};
use floatgate_ftl::host::ShrdCounts;
use floatgate_ftl::nand::{Cause, Health};
use serde_json::json;

use super::*;

#[test]
fn a_host_layer_has_its_counts() {
    let shrd = ShrdCounts {
        commands: 1,
        twrites: 2,
        packed: 3,
        packed_pages: 4,
        log_full: 5,
        padded: 6,
        remaps: 7,
        windows: 8,
        remapped_pages: 9,
        remapped_alone: 10,
        redirected_reads: 11,
        dropped: 12,
    };
    let layer = LayerCounts { shrd, memory_bytes: 13, slots_used: 14 };
    let mut counters = Counters { layer: Some(layer), ..Counters::default() };
    counters.host.requests = [20, 21, 22, 23];
    let expected = json!({
        "commands": 1,
        "remaps": 7,
        "remapped_pages": 9,
        "redirected_reads": 11,
        "windows": 8,
        "twrites": 2,
        "packed_requests": 3,
        "packed_pages": 4,
        "dropped_pages": 12,
        "log_full": 5,
        "log_pages_used": 14,
        "memory_bytes": 13,
    });
    assert_eq!(json!(HostResult::new(&counters)), expected);
    counters.layer = None;
    assert_eq!(HostResult::new(&counters).commands, 20 + 21 + 22 + 23);
}

#[test]
fn a_buffer_has_its_counts() {
    let counts = BufferCounts {
        write_hits: 30,
        write_misses: 50,
        read_hits: 12,
        read_misses: 20,
        flushed: 1,
        padded: 2,
        trimmed: 3,
        held: 4,
        memory_bytes: 5,
        ..BufferCounts::default()
    };
    let counters = Counters { buffer: Some(counts), ..Counters::default() };
    let expected = json!({
        "hit_ratio": 0.375,
        "hits": 42,
        "misses": 70,
        "write_hits": 30,
        "read_hits": 12,
        "flushed_pages": 1,
        "padded_pages": 2,
        "trimmed_pages": 3,
        "held_pages": 4,
        "memory_bytes": 5,
    });
    assert_eq!(json!(BufferResult::new(&counters)), expected);
}

#[test]
fn failures_are_counted() {
    let health = Health {
        factory_bad: 1,
        program_failures: 2,
        erase_failures: 3,
        worn_out: 4,
        retired: 5,
        moved: 6,
        rewritten: 14,
        read_errors: 7,
        corrupt_pages: 8,
        spares_left: 9,
        read_only: true,
    };
    let mut counters = Counters { health: Some(health), ..Counters::default() };
    counters.host.failed_pages = 10;
    counters.host.unwritten_pages = 11;
    counters.host.refused = 12;
    counters.buffer = Some(BufferCounts { unpadded: 13, ..BufferCounts::default() });
    let expected = json!({
        "factory_bad_units": 1,
        "program_failures": 2,
        "erase_failures": 3,
        "worn_out_units": 4,
        "retired_units": 5,
        "moved_pages": 6,
        "rewritten_pages": 14,
        "unreadable_pages": 7,
        "corrupt_pages": 8,
        "failed_page_reads": 10,
        "unwritten_pages": 11,
        "unpadded_pages": 13,
        "spare_units_left": 9,
        "read_only": true,
        "refused_requests": 12,
    });
    assert_eq!(json!(FaultsResult::new(&counters)), expected);
}

#[test]
fn cleans_are_counted_by_occasion() {
    let mut counters = Counters::default();
    let cleans = &mut counters.cleans;
    (cleans.foreground, cleans.emergency, cleans.incremental) = (1, 2, 3);
    (cleans.idle, cleans.wear, cleans.relabelled) = (4, 5, 6);
    counters.flash.erases = [90, 90, 5, 90, 90, 90, 90, 90, 90, 90, 90, 90];
    counters.flash.programs = [90, 90, 20, 90, 90, 90, 90, 90, 90, 90, 90, 90];
    let expected = json!({
        "foreground": 1,
        "emergency": 2,
        "incremental": 3,
        "idle": 4,
        "wear": 5,
        "relabelled": 6,
        "victim_valid_mean": 0.25,
    });
    assert_eq!(json!(CleaningResult::new(&counters, 16)), expected);
    assert_eq!(FlashResult::new(&counters).emergency_cleans, 2);
}

/// Returns whether the laws accept the counters of a small drive whose units have these erases.
fn is_lawful(change: impl Fn(&mut Counters), wear: &[u32]) -> bool {
    let config = Config::default();
    let plan = Plan::new(&config, 1 << 20).unwrap();
    let mut counters = Counters::default();
    // 10 pages written, one of them after a read; 20 pages read, two of them empty; five pages
    // moved, and three erases.
    counters.host.write_pages = 10;
    counters.host.partial_page_reads = 1;
    counters.host.read_pages = 20;
    counters.host.empty_reads = 2;
    counters.flash.programs[Cause::Host as usize] = 10;
    counters.flash.reads[Cause::Host as usize] = 19;
    counters.flash.programs[Cause::Gc as usize] = 5;
    counters.flash.reads[Cause::Gc as usize] = 5;
    counters.flash.erases[Cause::Gc as usize] = 3;
    (counters.flash.program_units, counters.flash.senses) = (15, 24);
    counters.occupation.end_ns = 1000;
    counters.occupation.busy_ns = 1000;
    change(&mut counters);
    catch_unwind(AssertUnwindSafe(|| assert_conserved(&counters, wear, &plan))).is_ok()
}

#[test]
fn counters_that_break_a_law_are_a_bug() {
    assert!(is_lawful(|_| {}, &[0, 1, 2]));
    assert!(!is_lawful(|_| {}, &[0, 1, 1]), "an erase that no unit had");
    assert!(is_lawful(|c| c.flash.erases[Cause::Journal as usize] = 1, &[0, 1, 2]));
    let breaks: [fn(&mut Counters); 15] = [
        |c| c.host.write_pages += 1,
        |c| c.host.unwritten_pages += 1,
        |c| c.host.read_pages += 1,
        |c| c.host.empty_reads += 1,
        |c| c.host.partial_page_reads += 1,
        |c| c.flash.reads[Cause::Gc as usize] += 1,
        |c| c.flash.programs[Cause::Merge as usize] += 1,
        |c| c.flash.reads[Cause::Retire as usize] += 1,
        |c| c.flash.programs[Cause::Retire as usize] += 1,
        |c| c.flash.erases[Cause::Map as usize] += 1,
        |c| c.flash.programs[Cause::Map as usize] += 1_000_000,
        |c| c.flash.memory_reads[Cause::Host as usize] += 1,
        |c| c.flash.program_units -= 1,
        |c| c.flash.senses += 1,
        |c| c.occupation.busy_ns += 1,
    ];
    for (number, change) in breaks.into_iter().enumerate() {
        assert!(!is_lawful(change, &[0, 1, 2]), "break {number} was not noticed");
    }
}

/// With a buffer, the flash programs the pages that leave the buffer.
#[test]
fn a_buffer_keeps_the_laws() {
    let buffered = |counts: BufferCounts| {
        move |counters: &mut Counters| {
            counters.buffer = Some(counts);
            counters.flash.programs[Cause::Host as usize] = 7;
            counters.flash.reads[Cause::Host as usize] = 17;
            (counters.flash.program_units, counters.flash.senses) = (12, 22);
        }
    };
    // 10 pages written, of which six were new to the buffer. Five left the buffer, with two more
    // that were read as padding. Of the 18 reads of pages with data, the buffer served four.
    let counts = BufferCounts {
        write_hits: 4,
        write_misses: 6,
        read_hits: 4,
        flushed: 5,
        padded: 2,
        ..BufferCounts::default()
    };
    assert!(is_lawful(buffered(counts), &[3]));
    for wrong in [
        BufferCounts { write_hits: 5, ..counts },
        BufferCounts { flushed: 6, ..counts },
        BufferCounts { read_hits: 5, ..counts },
        BufferCounts { padded: 3, flushed: 4, ..counts },
        BufferCounts { unpadded: 1, ..counts },
        BufferCounts { writes_through: true, ..counts },
    ] {
        assert!(!is_lawful(buffered(wrong), &[3]), "{wrong:?}");
    }
}

#[test]
fn causes_add_up() {
    let counts: [u64; CAUSES] = std::array::from_fn(|cause| 1 << cause);
    let mut counters = Counters::default();
    counters.flash.programs = counts;
    let flash = FlashResult::new(&counters);
    for (cause, name) in Cause::ALL {
        assert_eq!(json!(flash.programs)[name], counts[cause as usize]);
    }
    assert_eq!(flash.programs.total(), (1 << CAUSES) - 1);
    let of_map = [Cause::Map, Cause::GcMap, Cause::Remap, Cause::Journal];
    let sum: u64 = of_map.map(|cause| counts[cause as usize]).iter().sum();
    assert_eq!(flash.programs.of_map(), sum);
}

/// Returns every object in the schema with its name.
fn objects(schema: &Value) -> Vec<(&str, &Value)> {
    let named = schema["$defs"].as_object().unwrap().iter();
    let objects = named.filter(|(_, def)| def["type"] == "object");
    objects.map(|(name, def)| (name.as_str(), def)).chain([("Result", schema)]).collect()
}

#[test]
fn every_field_of_the_schema_is_described_and_always_there() {
    let schema = schema();
    assert_eq!(schema["title"], "Result");
    for (name, object) in objects(&schema) {
        let properties = object["properties"].as_object().unwrap();
        assert_eq!(object["required"].as_array().unwrap().len(), properties.len(), "{name}");
        for (field, property) in properties {
            let text = property["description"].as_str().unwrap_or_default();
            assert!(text.ends_with('.') && !text.contains('\n'), "{name}.{field}: {text:?}");
        }
    }
    assert_eq!(objects(&schema).len(), 37);
}
