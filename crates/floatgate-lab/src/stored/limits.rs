//! What an image begins with, and how large things in it may be.

/// What an image begins with.
pub(super) const MAGIC: [u8; 8] = *b"FLOATIMG";
/// The versions of the format that are read. Even versions are of drives that program rows of pages
/// at once, whose header has four more numbers. New images have one of the last two versions. The
/// first two have no count of synced pages.
pub(super) const VERSIONS: [u32; 4] = [1, 2, 3, 4];
/// Bytes set aside for the header.
pub(super) const HEADER_BYTES: usize = 16 << 10;
/// Bytes of the header before its text, of a drive that programs page by page and of one with rows.
pub(super) const TEXT_AT: [usize; 2] = [60, 76];
/// Longest config text, in bytes; 16 less of a drive with rows.
pub const TEXT_BYTES_MAX: usize = HEADER_BYTES - TEXT_AT[0];
/// Largest page, in bytes: a few are held in memory.
pub const PAGE_BYTES_MAX: u32 = 16 << 20;
