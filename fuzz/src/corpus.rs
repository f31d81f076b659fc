//! Inputs stored as text: one per line, in hexadecimal. A line that begins with `#` is a comment on
//! the next line.

use std::path::Path;
use std::{fs, io};

/// Reads inputs.
///
/// # Errors
/// A file cannot be read, or a line is not hexadecimal.
pub fn read(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let text = fs::read_to_string(path)?;
    let wrong = |line: &str| {
        let text = format!("{}: expected pairs of hexadecimal digits: {line}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, text)
    };
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| decode(line).ok_or_else(|| wrong(line))).collect()
}

/// Writes inputs, the shortest first.
///
/// # Errors
/// A file cannot be written.
pub fn write(path: &Path, mut inputs: Vec<Vec<u8>>) -> io::Result<()> {
    inputs.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    let digits = |input: &Vec<u8>| input.iter().map(|byte| format!("{byte:02x}")).collect();
    let lines: Vec<String> = inputs.iter().map(digits).collect();
    fs::write(path, lines.join("\n") + "\n")
}

fn decode(line: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(line.get(at..at + 2)?, 16).ok();
    (0..line.len()).step_by(2).map(pair).collect()
}
