//! Fuzz targets, and the conversion of the fuzzer's bytes into their inputs.
//!
//! Each target is a function of bytes that panics if it finds an error. `cargo fuzz` searches for
//! bytes that cause a panic. `tests/corpus.rs` runs the kept inputs without the fuzzer.

pub mod bytes;
pub mod config;
pub mod corpus;
pub mod image;
pub mod nvme_commands;
pub mod nvme_pdu;
pub mod operations;

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::{env, fs, io};

thread_local! {
    /// Message of the last panic.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn keep(info: &PanicHookInfo<'_>) {
    LAST.with_borrow_mut(|last| *last = info.to_string());
}

/// Runs a target. Prints the message of a panic that leaves the target. A panic that the target
/// catches prints nothing, and does not end the process as the fuzzer's own hook would.
pub fn loudly(target: fn(&[u8]), input: &[u8]) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| panic::set_hook(Box::new(keep)));
    if let Err(panic) = panic::catch_unwind(|| target(input)) {
        LAST.with_borrow(|last| eprintln!("{last}"));
        panic::resume_unwind(panic);
    }
}

/// Runs a target with the files named on the command line.
///
/// # Errors
/// A file cannot be read.
pub fn replay(target: fn(&[u8])) -> io::Result<()> {
    for file in env::args_os().skip(1) {
        println!("{}", file.to_string_lossy());
        target(&fs::read(file)?);
    }
    Ok(())
}
