//! Runs all inputs that the fuzzer has kept or found, without the fuzzer.

use std::path::Path;

use floatgate_fuzz::{config, corpus, image, nvme_commands, nvme_pdu, operations};

fn replay(name: &str, target: fn(&[u8])) {
    for folder in ["corpus", "findings"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
        let inputs = corpus::read(&file).unwrap_or_else(|error| panic!("{error}"));
        println!("{}: {} inputs", file.display(), inputs.len());
        for input in inputs {
            target(&input);
        }
    }
}

#[test]
fn configs() {
    replay("config.hex", config::run);
}

#[test]
fn images() {
    replay("image.hex", image::run);
}

#[test]
fn nvme_hosts() {
    replay("nvme_commands.hex", nvme_commands::run);
    replay("nvme_pdu.hex", nvme_pdu::run);
}

#[test]
fn operations() {
    replay("operations.hex", operations::run);
}
