//! Beginning of an image, and the limits of its sections.

/// First bytes of an image.
pub(super) const MAGIC: [u8; 8] = *b"FLOATIMG";
/// Versions of the format that can be read. Even versions are for drives that program rows of pages
/// at once; their header has four more numbers. New images have one of the last two versions. The
/// first two have no count of synced pages.
pub(super) const VERSIONS: [u32; 4] = [1, 2, 3, 4];
/// Bytes reserved for the header.
pub(super) const HEADER_BYTES: usize = 16 << 10;
/// Bytes of the header before its text, first for a drive that programs page by page, then for a
/// drive with rows.
pub(super) const TEXT_AT: [usize; 2] = [60, 76];
/// Longest config text, in bytes; 16 less for a drive with rows.
pub const TEXT_BYTES_MAX: usize = HEADER_BYTES - TEXT_AT[0];
/// Largest page, in bytes; the process keeps a few pages in memory.
pub const PAGE_BYTES_MAX: u32 = 16 << 20;
