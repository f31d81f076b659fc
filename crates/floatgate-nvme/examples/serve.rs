//! Serves a drive in memory, to try hosts:
//!
//! ```text
//! cargo run --release -p floatgate-nvme --example serve -- 127.0.0.1:4420 placed
//! ```
//!
//! Drives: `plain`, `placed` (8 handles, units of 16 MiB), `zoned` (zones of 16 MiB).

use std::env;
use std::error::Error;
use std::sync::Arc;
use std::thread;

use floatgate_nvme::drive::{Isolation, Placement, Shape, ZoneShape};
use floatgate_nvme::memory::MemoryDrive;
use floatgate_nvme::subsystem::{Settings, Subsystem};
use floatgate_nvme::tcp::{Options, Server};

const MIB: u64 = 1 << 20;

fn shape(name: &str) -> Option<Shape> {
    let plain =
        Shape { bytes: 512 * MIB, page_bytes: 4096, has_cache: true, placement: None, zones: None };
    let isolation = Isolation::Initially;
    let placement = Placement { handles: 8, unit_bytes: 16 * MIB, isolation };
    let zones =
        ZoneShape { bytes: 16 * MIB, capacity: 12 * MIB, open_max: Some(6), active_max: Some(8) };
    Some(match name {
        "plain" => plain,
        "placed" => Shape { placement: Some(placement), ..plain },
        "zoned" => Shape { zones: Some(zones), ..plain },
        _ => return None,
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let address = arguments.next().unwrap_or("127.0.0.1:4420".into()).parse()?;
    let name = arguments.next().unwrap_or("plain".into());
    let shape = shape(&name).ok_or(format!("{name} given; expected plain, placed or zoned"))?;
    let settings = Settings {
        nqn: "nqn.2026-10.org.floatgate:memory".into(),
        serial: "FG0001".into(),
        model: "Floatgate drive in memory".into(),
        firmware: env!("CARGO_PKG_VERSION").into(),
        uuid: *b"floatgate memory",
        block_bytes: 4096,
        queues_max: 16,
    };
    let nqn = settings.nqn.clone();
    let subsystem = Subsystem::new(settings, Arc::new(MemoryDrive::new(shape)))?;
    let server = Server::start(subsystem, address, Options::default())?;
    let address = server.address();
    println!("nvme connect -t tcp -a {} -s {} -n {nqn}", address.ip(), address.port());
    loop {
        thread::park();
    }
}
