//! `cargo fuzz run nvme_commands`; see `floatgate_fuzz::nvme_commands`. Without the fuzzer, the
//! program runs the files named on the command line.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|input: &[u8]| floatgate_fuzz::loudly(
    floatgate_fuzz::nvme_commands::run,
    input
));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    floatgate_fuzz::replay(floatgate_fuzz::nvme_commands::run)
}
