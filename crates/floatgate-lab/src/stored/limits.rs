//! What an image begins with, and how large things in it may be.

/// What an image begins with.
pub(super) const MAGIC: [u8; 8] = *b"FLOATIMG";
/// The version of the format that is written and read.
pub(super) const VERSION: u32 = 1;
/// Bytes set aside for the header.
pub(super) const HEADER_BYTES: usize = 16 << 10;
/// Bytes of the header before its text.
pub(super) const TEXT_AT: usize = 60;
/// Longest config text, in bytes.
pub const TEXT_BYTES_MAX: usize = HEADER_BYTES - TEXT_AT;
/// Largest page, in bytes: a few are held in memory.
pub const PAGE_BYTES_MAX: u32 = 16 << 20;
