//! Lines of a text trace that have the usual form of its format.
//!
//! The usual form has cells between delimiters. Lines of any other form are left over: the front
//! reads them with the format's regular expression, which also matches every usual line and is much
//! slower.

mod cursor;

use std::thread;

use cursor::Cursor;

/// Bytes that are worth a thread.
const THREAD_BYTES: usize = 1 << 20;

/// Bytes from which the length of a line is estimated.
const SAMPLE_BYTES: usize = 1 << 14;

/// Addresses and lengths are below this number, as in the front (`NUMBER_LIMIT`).
const NUMBER_LIMIT: u64 = 1 << 50;

/// Content of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cell {
    /// A time: digits, perhaps a point and up to nine decimals.
    Time,
    /// A time without a point.
    WholeTime,
    /// A time with a point.
    FractionTime,
    /// A time with a point, perhaps with another one behind it, which does not count.
    FirstTime,
    /// Words up to a time with a point, and a colon behind it.
    StampedTime,
    /// An address.
    Offset,
    /// A length.
    Length,
    /// A word that means an operation, in any case.
    Op,
    /// An operation as the kernel writes it: R, W or D, and more capital letters.
    Rwbs,
    /// Digits, whose lowest bit means an operation: 0 or 1.
    OpBit,
    /// The name of a block event of the kernel, with a colon behind it.
    Event,
    /// An address, a plus sign and a length; before them perhaps a number, and empty parentheses.
    Sectors,
    /// An address in hexadecimal, with 0x.
    HexOffset,
    /// A length in hexadecimal, with 0x.
    HexLength,
    /// Any other number in hexadecimal, with 0x.
    HexNumber,
    /// Digits.
    Digits,
    /// Digits, perhaps behind a minus sign.
    Integer,
    /// A number like a time.
    Number,
    /// A number with a point.
    Fraction,
    /// One to three numbers with a point.
    Fractions,
    /// Hexadecimal digits.
    Hex,
    /// Two numbers around a comma.
    Pair,
    /// Letters.
    Letters,
    /// Printed ASCII without blanks.
    Text,
    /// Any content that is ASCII, also none.
    Any,
    /// A plus sign.
    Plus,
}

impl Cell {
    /// Returns the content with a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "time" => Self::Time,
            "whole_time" => Self::WholeTime,
            "fraction_time" => Self::FractionTime,
            "first_time" => Self::FirstTime,
            "stamped_time" => Self::StampedTime,
            "offset" => Self::Offset,
            "length" => Self::Length,
            "op" => Self::Op,
            "rwbs" => Self::Rwbs,
            "op_bit" => Self::OpBit,
            "event" => Self::Event,
            "sectors" => Self::Sectors,
            "hex_offset" => Self::HexOffset,
            "hex_length" => Self::HexLength,
            "hex_number" => Self::HexNumber,
            "digits" => Self::Digits,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "fraction" => Self::Fraction,
            "fractions" => Self::Fractions,
            "hex" => Self::Hex,
            "pair" => Self::Pair,
            "letters" => Self::Letters,
            "text" => Self::Text,
            "any" => Self::Any,
            "plus" => Self::Plus,
            _ => return None,
        })
    }
}

/// Bytes between two cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gap {
    /// One or more blanks and tabs.
    Blanks,
    /// A byte.
    Byte(u8),
    /// A byte, once or more.
    Run(u8),
    /// A byte, and any number of blanks and tabs.
    ByteAndBlanks(u8),
}

impl Gap {
    /// Returns the gap with a name: the byte, with a plus sign if there may be several of it, with
    /// a blank if blanks may follow; empty for blanks alone.
    pub fn named(name: &str) -> Option<Self> {
        Some(match *name.as_bytes() {
            [] => Self::Blanks,
            [byte] => Self::Byte(byte),
            [byte, b'+'] => Self::Run(byte),
            [byte, b' '] => Self::ByteAndBlanks(byte),
            _ => return None,
        })
    }

    /// Returns whether blanks may stand in front of the first cell.
    fn has_blanks(self) -> bool {
        matches!(self, Self::Blanks | Self::ByteAndBlanks(_))
    }

    /// Returns whether a byte may be part of a text.
    fn is_text(self, byte: u8) -> bool {
        match self {
            Self::Blanks => true,
            Self::Byte(gap) | Self::Run(gap) | Self::ByteAndBlanks(gap) => byte != gap,
        }
    }

    fn read(self, cursor: &mut Cursor<'_>) -> Option<()> {
        match self {
            Self::Blanks => cursor.gap(),
            Self::Byte(byte) => cursor.byte(byte),
            Self::Run(byte) => cursor.word(|&next| next == byte).map(drop),
            Self::ByteAndBlanks(byte) => {
                cursor.byte(byte)?;
                cursor.blanks();
                Some(())
            }
        }
    }
}

/// Usual form of the lines of a format.
#[derive(Clone, Debug)]
pub struct UsualLine {
    /// The cells, each with the index of the text column that keeps its content, if one does.
    pub cells: Vec<(Cell, Option<usize>)>,
    /// Bytes between two cells.
    pub gap: Gap,
    /// Whether a line may have more cells, which are not read.
    pub has_rest: bool,
    /// Words in lower case, with their operations.
    pub ops: Vec<(String, u8)>,
}

/// Texts of a column, one after the other.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// Returns the texts.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        // Cells that are kept hold only ASCII.
        begins
            .zip(&self.ends)
            .map(|(begin, &end)| std::str::from_utf8(&self.bytes[begin..end]).unwrap_or_default())
    }
}

/// Requests of the usual lines of some data, and the lines that are left over.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Scanned {
    /// Number of each request's line; the first line of the data has the number 1.
    pub numbers: Vec<u64>,
    /// Times, in billionths of their unit.
    pub times: Vec<i128>,
    /// Operations.
    pub ops: Vec<u8>,
    /// Addresses.
    pub offsets: Vec<u64>,
    /// Lengths.
    pub lengths: Vec<u64>,
    /// Text columns.
    pub texts: Vec<Texts>,
    /// Lines of any other form, each with its line feed.
    pub left: Vec<u8>,
    /// The numbers of these lines.
    pub left_numbers: Vec<u64>,
    /// All lines.
    pub lines: u64,
    /// Most decimals of a time.
    pub decimals: usize,
}

/// Fields of a line that is being read.
#[derive(Clone, Copy, Default)]
struct Fields {
    time: i128,
    op: u8,
    offset: u64,
    length: u64,
    decimals: usize,
}

impl Fields {
    fn set_time(&mut self, (time, decimals): (i128, usize)) {
        (self.time, self.decimals) = (time, decimals);
    }
}

impl UsualLine {
    /// Reads data of whole lines, on several threads if it is long. The parts are in the order of
    /// the data, and their lines are numbered through.
    pub fn scan(&self, data: &[u8]) -> Vec<Scanned> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let mut parts = thread::scope(|scope| {
            let parts = split(data, threads.min(data.len() / THREAD_BYTES));
            let running = parts.map(|part| scope.spawn(move || self.scan_part(part)));
            let running: Vec<_> = running.collect();
            running.into_iter().map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
        });
        let mut before = 0;
        for part in &mut parts {
            let numbers = part.numbers.iter_mut().chain(&mut part.left_numbers);
            numbers.for_each(|number| *number += before);
            before += part.lines;
        }
        parts
    }

    fn scan_part(&self, data: &[u8]) -> Scanned {
        let columns = self.cells.iter().filter(|(_, column)| column.is_some()).count();
        let mut found = Scanned::with_room(columns, lines_in(data));
        let mut ranges = vec![(0, 0); columns];
        let mut cursor = Cursor::new(data);
        while !cursor.is_at_end() {
            found.lines += 1;
            let begin = cursor.at();
            if let Some(fields) = self.line(&mut cursor, &mut ranges) {
                found.push(fields);
                for (texts, &(from, to)) in found.texts.iter_mut().zip(&ranges) {
                    texts.push(&data[from..to]);
                }
            } else {
                cursor.skip_line();
                let line = &data[begin..cursor.at()];
                found.left.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
                found.left.push(b'\n');
                found.left_numbers.push(found.lines);
            }
        }
        found
    }

    /// Reads a line, and its line feed. Returns none at a line of another form.
    fn line(&self, cursor: &mut Cursor<'_>, ranges: &mut [(usize, usize)]) -> Option<Fields> {
        let mut fields = Fields::default();
        if self.gap.has_blanks() {
            cursor.blanks();
        }
        for (index, &(cell, column)) in self.cells.iter().enumerate() {
            if index > 0 {
                self.gap.read(cursor)?;
            }
            let range = self.cell(cell, cursor, &mut fields)?;
            if let Some(column) = column {
                ranges[column] = range;
            }
        }
        if self.has_rest && self.gap.read(cursor).is_some() {
            cursor.skip_line();
            return Some(fields);
        }
        cursor.blanks();
        cursor.line_feed().map(|()| fields)
    }

    /// Reads a cell. Returns where its text begins and ends.
    fn cell(
        &self,
        cell: Cell,
        cursor: &mut Cursor<'_>,
        fields: &mut Fields,
    ) -> Option<(usize, usize)> {
        let from = cursor.at();
        let is_text = |byte: u8| byte.is_ascii_graphic() && self.gap.is_text(byte);
        let is_any = |byte: u8| (is_text(byte) || byte == b' ') && self.gap.is_text(byte);
        match cell {
            Cell::Time => fields.set_time(cursor.time()?),
            Cell::WholeTime => {
                fields.set_time(cursor.time().filter(|&(_, decimals)| decimals == 0)?)
            }
            Cell::FractionTime => fields.set_time(cursor.fraction()?),
            Cell::FirstTime => fields.set_time(cursor.first_time()?),
            Cell::StampedTime => fields.set_time(cursor.stamped_time()?),
            Cell::Offset => fields.offset = cursor.number().filter(|&of| of < NUMBER_LIMIT)?,
            Cell::Length => fields.length = cursor.number().filter(|&of| of < NUMBER_LIMIT)?,
            Cell::HexOffset => fields.offset = cursor.hex().filter(|&of| of < NUMBER_LIMIT)?,
            Cell::HexLength => fields.length = cursor.hex().filter(|&of| of < NUMBER_LIMIT)?,
            Cell::Sectors => {
                let sectors = cursor.sectors()?;
                (sectors.0.max(sectors.1) < NUMBER_LIMIT).then_some(())?;
                (fields.offset, fields.length) = sectors;
            }
            Cell::Op => fields.op = self.op(cursor.word(u8::is_ascii_alphanumeric)?)?,
            Cell::OpBit => {
                let bit = if cursor.number()? % 2 == 0 { b"0" } else { b"1" };
                fields.op = self.op(bit)?;
            }
            Cell::Rwbs => {
                let word = cursor.word(u8::is_ascii_uppercase)?;
                b"RWD".contains(&word[0]).then_some(())?;
                fields.op = self.op(&word[..1])?;
            }
            Cell::Event => return cursor.event(),
            Cell::Digits => drop(cursor.word(u8::is_ascii_digit)?),
            Cell::Integer => {
                let _ = cursor.byte(b'-');
                cursor.word(u8::is_ascii_digit)?;
            }
            Cell::Number => drop(cursor.time()?),
            Cell::Fraction => drop(cursor.fraction()?),
            Cell::Fractions => cursor.fractions()?,
            Cell::Hex => drop(cursor.word(u8::is_ascii_hexdigit)?),
            Cell::HexNumber => drop(cursor.hex()?),
            Cell::Pair => {
                cursor.word(u8::is_ascii_digit)?;
                cursor.byte(b',')?;
                cursor.word(u8::is_ascii_digit)?;
            }
            Cell::Letters => drop(cursor.word(u8::is_ascii_alphabetic)?),
            Cell::Text => drop(cursor.word(|&byte| is_text(byte))?),
            Cell::Any => drop(cursor.word(|&byte| is_any(byte))),
            Cell::Plus => cursor.byte(b'+')?,
        }
        Some((from, cursor.at()))
    }

    fn op(&self, word: &[u8]) -> Option<u8> {
        let same = |(known, _): &&(String, u8)| word.eq_ignore_ascii_case(known.as_bytes());
        self.ops.iter().find(same).map(|&(_, op)| op)
    }
}

impl Scanned {
    /// Has room for about this number of lines.
    fn with_room(columns: usize, lines: usize) -> Self {
        Self {
            numbers: Vec::with_capacity(lines),
            times: Vec::with_capacity(lines),
            ops: Vec::with_capacity(lines),
            offsets: Vec::with_capacity(lines),
            lengths: Vec::with_capacity(lines),
            texts: vec![Texts::default(); columns],
            ..Self::default()
        }
    }

    fn push(&mut self, fields: Fields) {
        self.numbers.push(self.lines);
        self.times.push(fields.time);
        self.ops.push(fields.op);
        self.offsets.push(fields.offset);
        self.lengths.push(fields.length);
        self.decimals = self.decimals.max(fields.decimals);
    }
}

/// Estimates the number of lines from the first ones.
fn lines_in(data: &[u8]) -> usize {
    let first = &data[..data.len().min(SAMPLE_BYTES)];
    let lines = first.iter().filter(|&&byte| byte == b'\n').count() + 1;
    // A tenth more, as later lines may be shorter.
    data.len() / (first.len() / lines).max(1) * 11 / 10
}

/// Splits data behind line feeds into at most `count` parts of about equal size.
fn split(data: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let size = data.len().div_ceil(count.max(1));
    let mut rest = data;
    std::iter::from_fn(move || {
        let feed = rest.iter().skip(size.saturating_sub(1)).position(|&byte| byte == b'\n');
        let end = feed.map_or(rest.len(), |feed| size.saturating_sub(1) + feed + 1);
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests;
