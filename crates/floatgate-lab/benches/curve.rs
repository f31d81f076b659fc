//! The curve of the map cache: page accesses per second, exact and sampled, for one recording.
//!
//! `cargo bench -p floatgate-lab --bench curve` takes 10 M Zipf accesses over 16 Mi pages.
//! `FLOATGATE_BENCH_ACCESSES=100M` sets another number, at 25 bytes of memory for each access.

use std::time::Instant;

use floatgate_lab::curve::{MapCurve, Options, map_curve};
use floatgate_lab::run::Control;
use floatgate_lab::units::parse_count;
use floatgate_lab::workload::{Recorded, generator};

/// Requests that are generated at once.
const BATCH: usize = 1 << 16;
const RATE: f64 = 0.01;

fn main() {
    let accesses = std::env::var("FLOATGATE_BENCH_ACCESSES").unwrap_or("10M".to_owned());
    let accesses = parse_count(&accesses).expect("FLOATGATE_BENCH_ACCESSES is a count such as 10M");
    let spec = format!("zipf:span=64GiB,theta=0.99,requests={accesses},reads=0.5");
    println!("{spec}");
    let recording = record(&spec);
    let (exact, exact_seconds) = measure("exact", &recording, None);
    let (sampled, sampled_seconds) = measure("sampled", &recording, Some(RATE));
    let points = sampled.points();
    let error = |&entries: &u64| {
        exact.hit_ratio_at(entries).zip(sampled.hit_ratio_at(entries)).map(|(a, b)| (a - b).abs())
    };
    let error = points.iter().filter_map(error).sum::<f64>() / points.len() as f64;
    let stated = sampled.expected_error();
    println!("ratio     {:.1}", exact_seconds / sampled_seconds);
    println!("error     {error:.4} on average, {stated:.4} stated, at a rate of {RATE}");
}

/// Stores the requests in memory, so that the benchmark does not measure the generator.
fn record(spec: &str) -> Recorded {
    let mut recording = Recorded::new(spec, 1, 1.0).expect("once, at its own speed");
    let mut workload = generator(spec, 1).expect("the text names a generator");
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        workload.next_batch(&mut batch, BATCH).expect("it makes its requests");
        if batch.is_empty() {
            return recording;
        }
        recording.push(&batch).expect("generated requests are in range");
    }
}

fn measure(name: &str, recording: &Recorded, sample: Option<f64>) -> (MapCurve, f64) {
    let options = Options { page_bytes: 4096, sample };
    let begin = Instant::now();
    let curve = map_curve(&mut recording.clone(), options, &Control::default());
    let curve = curve.expect("the options are right");
    let seconds = begin.elapsed().as_secs_f64();
    let ns = seconds * 1e9 / curve.accesses as f64;
    let (pages, rate) = (curve.distinct_pages, 1e3 / ns);
    println!("{name:9} {seconds:.3} s, {rate:.1} M accesses/s, {ns:.1} ns each, {pages} pages");
    (curve, seconds)
}
