//! What the fuzzer's bytes are made into.
//!
//! Each target is a function of bytes that panics if something is wrong. `cargo fuzz` looks for
//! bytes that make it; `tests/corpus.rs` runs what it has kept, without the fuzzer.

pub mod bytes;
pub mod config;
pub mod corpus;
pub mod image;
pub mod operations;

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;
use std::{env, fs, io};

thread_local! {
    /// What the last panic said.
    static LAST: RefCell<String> = const { RefCell::new(String::new()) };
}

fn keep(info: &PanicHookInfo<'_>) {
    LAST.with_borrow_mut(|last| *last = info.to_string());
}

/// Runs a target. A panic that it lets out is told; one that it catches is not, and does not end
/// the process as the fuzzer's own hook would have it.
pub fn loudly(target: fn(&[u8]), input: &[u8]) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| panic::set_hook(Box::new(keep)));
    if let Err(panic) = panic::catch_unwind(|| target(input)) {
        LAST.with_borrow(|last| eprintln!("{last}"));
        panic::resume_unwind(panic);
    }
}

/// Runs a target with the files that are named on the command line.
///
/// # Errors
/// A file that cannot be read.
pub fn replay(target: fn(&[u8])) -> io::Result<()> {
    for file in env::args_os().skip(1) {
        println!("{}", file.to_string_lossy());
        target(&fs::read(file)?);
    }
    Ok(())
}
