//! Tests of every buffer in front of every kind of translation layer. Random requests include
//! flushes, trims and partial pages. Reads must return the data written last, and the counters of
//! host, buffer and flash must agree.

use crate::common::GEOMETRIES;
use crate::common::buffer_rig::{BufferRig, LAYERS, Layered};
use crate::common::laws::Laws;
use crate::common::workload::{ANYTHING, Mix, Workload};
use floatgate_ftl::buffer::BUFFERS;
use floatgate_ftl::device::{Acknowledge, BufferCounts, Counters};
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{COMPONENTS, Component, Shadow};
use floatgate_ftl::parameters::names;
use floatgate_ftl::request::Op;

const FLUSHING: Mix = Mix { flushes: 3, trims: 2, ..ANYTHING };

const ACKNOWLEDGE: [Acknowledge; 2] = [Acknowledge::WriteBack, Acknowledge::WriteThrough];

/// Runs random requests. The drive checks itself after every `check_every` requests.
fn run(
    layer: &'static str,
    shape: Shape,
    rig: BufferRig,
    (seed, requests, check_every): (u64, usize, usize),
) -> (Counters, [u64; COMPONENTS]) {
    let data = Shadow::new(shape.logical_pages);
    let Layered { mut drive, log, geometry, full_units } = Layered::new(layer, shape, rig, data);
    let mut laws = Laws::with(geometry, log, full_units);
    let mut workload = Workload::new(seed, FLUSHING, shape.logical_pages, shape.page_bytes);
    let mut requests = workload.batch(requests);
    let all = Workload::pages(Op::Read, 0, shape.logical_pages.into(), shape.page_bytes.into());
    requests.push(all);
    rig.next_uses(shape, &requests, &mut *drive);
    let (mut done, ahead, mut blame) = (vec![], drive.sees_ahead(), [0; COMPONENTS]);
    for (number, request) in requests.iter().enumerate() {
        let end = requests.len().min(number + 1 + ahead);
        drive.run_ahead(&requests[number..end], 1, &mut done);
        laws.account();
        let last = number + 1 == requests.len();
        if last {
            drive.run(&[], &mut done);
        }
        if last || number % check_every == 0 || request.op == Op::Flush {
            drive.check();
            let held = laws.hold_counts(&*drive).buffer.unwrap().held;
            let flushed = request.op == Op::Flush && rig.acknowledge == Acknowledge::WriteBack;
            assert!(!flushed || held == 0, "a flush leaves nothing behind");
        }
    }
    assert_eq!(done.len(), requests.len());
    for completion in &done {
        laws.hold_completion(completion);
        blame.iter_mut().zip(completion.blame.0).for_each(|(sum, ns)| *sum += ns);
    }
    (laws.hold(&*drive), blame)
}

#[test]
fn every_buffer_over_every_layer_reads_the_written_data() {
    for (seed, scheme) in names(BUFFERS).enumerate() {
        for layer in LAYERS {
            for (_, shape) in GEOMETRIES {
                for acknowledge in ACKNOWLEDGE {
                    let rig = BufferRig::new(scheme, acknowledge);
                    let (counters, blame) = run(layer, shape, rig, (seed as u64, 500, 16));
                    let BufferCounts { flushed, trimmed, padded, read_hits, write_hits, .. } =
                        counters.buffer.unwrap();
                    assert!(read_hits > 0 && write_hits > 0 && trimmed > 0, "{counters:?}");
                    let back = acknowledge == Acknowledge::WriteBack;
                    assert_eq!(flushed > 0, back, "{counters:?}");
                    assert_eq!(padded > 0, back && scheme == "bplru", "{scheme} {layer}");
                    assert!(blame[Component::Buffer as usize] > 0, "{scheme} {layer}");
                    let merged = counters.merges.full > 0;
                    assert_eq!(merged, layer == "bast" || layer == "fast", "{counters:?}");
                }
            }
        }
    }
}

#[test]
fn every_buffer_over_every_layer_is_consistent_after_every_request() {
    for (seed, scheme) in names(BUFFERS).enumerate() {
        for layer in LAYERS {
            for acknowledge in ACKNOWLEDGE {
                for (block_pages, capacity_pages, serial) in
                    [(8, 40, false), (5, 5, true), (70, 90, true)]
                {
                    let rig = BufferRig::new(scheme, acknowledge);
                    let rig = BufferRig { block_pages, capacity_pages, serial, ..rig };
                    run(layer, GEOMETRIES[0].1, rig, (100 + seed as u64, 150, 1));
                }
            }
        }
    }
}
