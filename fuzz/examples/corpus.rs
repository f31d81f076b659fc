//! `cargo run --example corpus unpack|pack FILE FOLDER`: converts inputs from one text file into
//! the fuzzer's folder, and back.

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use floatgate_fuzz::corpus::{read, write};

fn unpack(file: &Path, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let inputs = read(file)?;
    (0..).zip(inputs).try_for_each(|(at, input): (u32, _)| {
        fs::write(folder.join(format!("kept-{at:05}")), input)
    })
}

fn pack(file: &Path, folder: &Path) -> io::Result<()> {
    let entries = fs::read_dir(folder)?;
    let inputs = entries.map(|entry| fs::read(entry?.path())).collect::<io::Result<_>>()?;
    write(file, inputs)
}

fn main() -> ExitCode {
    let given: Vec<String> = env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let done = match given[..] {
        ["unpack", file, folder] => unpack(file.as_ref(), folder.as_ref()),
        ["pack", file, folder] => pack(file.as_ref(), folder.as_ref()),
        _ => Err(io::Error::other("expected: corpus unpack|pack FILE FOLDER")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
