//! The host layer SHRD alone: random one-page writes, packed as they come, looked up once in four,
//! and remapped by windows; 64 MiB of log in front of 32 GiB.

use criterion::{BenchmarkId, Criterion, Throughput};
use floatgate_ftl::addr::Lpn;
use floatgate_ftl::host::{Shrd, ShrdConfig};
use floatgate_ftl::request::{Op, Request};
use floatgate_ftl::rng::Rng;

const REQUESTS: usize = 100_000;
const USER_PAGES: u32 = 8 << 20;
const SLOTS: u32 = 16_384;

/// A window of a sixteenth of the log, as in the authors' driver, and one of a quarter.
const WINDOWS: [u32; 2] = [SLOTS / 16, SLOTS / 4];

fn requests() -> Vec<Request> {
    let mut rng = Rng::new(1);
    let offset = |rng: &mut Rng| rng.below(u64::from(USER_PAGES)) << 12;
    let one = |rng: &mut Rng| Request {
        at_ns: 0,
        op: Op::Write,
        offset: offset(rng),
        length: 4096,
        stream: 0,
    };
    (0..REQUESTS).map(|_| one(&mut rng)).collect()
}

/// Sends all requests. Returns the number of pages remapped or found.
fn send(host: &mut Shrd, requests: &[Request]) -> u64 {
    let mut seen = 0;
    let mut rest = requests;
    while !rest.is_empty() {
        while host.is_low() {
            let batch = host.remap().expect("a log that is low has something in it");
            seen += batch.commands().map(|entries| entries.len() as u64).sum::<u64>();
        }
        assert!(host.begin(), "the log is not full");
        let fit = rest.iter().take_while(|request| host.is_small(request) && host.add(request));
        let packed = fit.count();
        seen += host.twrite().entries.len() as u64;
        for request in rest[..packed].iter().step_by(4) {
            let lpn = Lpn::new((request.offset >> 12) as u32 ^ 1);
            seen += u64::from(host.lookup(lpn).is_some());
        }
        rest = &rest[packed..];
    }
    seen
}

fn main() {
    let requests = requests();
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("host");
    group.throughput(Throughput::Elements(REQUESTS as u64));
    for window in WINDOWS {
        let config = ShrdConfig { remap_size: window, ..ShrdConfig::new(12, USER_PAGES, SLOTS) };
        let mut host = Shrd::new(config);
        group.bench_function(BenchmarkId::new("shrd, window", window), |bencher| {
            bencher.iter(|| send(&mut host, &requests));
        });
        host.check();
    }
    group.finish();
    criterion.final_summary();
}
