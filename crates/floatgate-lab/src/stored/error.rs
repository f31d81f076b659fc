//! Errors of making and opening images.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use floatgate_ftl::geometry::ShapeError;

use super::limits::{MAGIC, PAGE_BYTES_MAX, VERSIONS};

/// Reason why an image cannot be made or opened.
#[derive(Debug)]
pub struct ImageError {
    /// The image, as the caller named it.
    pub path: PathBuf,
    /// The problem.
    pub problem: Problem,
}

/// Problem of an image.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The operating system refused.
    Io {
        /// The failed action on the file, as a participle.
        doing: &'static str,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file of a new image exists already.
    Exists,
    /// Another process has the image open.
    InUse,
    /// The file does not begin with an image's magic number.
    Magic {
        /// The first bytes of the file, as far as there are any.
        found: Vec<u8>,
    },
    /// The path names a directory, a FIFO, a socket or a device.
    NotRegular,
    /// The file ends within its header.
    Cut {
        /// Bytes of the file.
        found: usize,
    },
    /// The image is of an unknown version of the format.
    Version {
        /// The version in the header.
        found: u32,
    },
    /// The header states an impossible length.
    HeaderLength {
        /// The stated length, in bytes.
        found: u32,
    },
    /// The header is damaged.
    Checksum {
        /// The checksum stored in the header.
        stored: u32,
        /// The checksum computed from the header.
        computed: u32,
    },
    /// The numbers in the header make no drive.
    Shape(ShapeError),
    /// Too many units for unit numbers, including the units of the journal.
    Units {
        /// Units of the translation layer.
        units: u32,
        /// Units of its journal.
        journal_units: u32,
    },
    /// A page is too large to be kept in memory.
    Page {
        /// Bytes in a page.
        page_bytes: u32,
    },
    /// The file is shorter or longer than its header states.
    Length {
        /// Bytes that the file should have.
        expected: u64,
        /// Bytes that the file has.
        found: u64,
    },
    /// The config text does not fit into the header.
    TextTooLong {
        /// Bytes of the text.
        bytes: usize,
        /// Maximum number of bytes that fit.
        most: usize,
    },
    /// The config text is not UTF-8.
    Text,
}

impl Problem {
    /// Makes an error from the problem and the image's path.
    pub(crate) fn at(self, path: &Path) -> ImageError {
        ImageError { path: path.to_path_buf(), problem: self }
    }

    /// Makes a problem from an error of the operating system, for `map_err`.
    pub(super) fn io(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Io { doing, error }
    }
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.problem)
    }
}

/// Writes the end of a sentence that begins with the name of the image.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { doing, error } => write!(f, "could not be {doing}: {error}"),
            Self::Exists => write!(f, "exists already, and is not overwritten"),
            Self::InUse => write!(f, "is in use by another process"),
            Self::Magic { found } => write!(
                f,
                "is not a Floatgate image: it begins with \"{}\", not with \"{}\"",
                found.escape_ascii(),
                MAGIC.escape_ascii()
            ),
            Self::NotRegular => write!(f, "is no regular file; expected an image"),
            Self::Cut { found } => write!(
                f,
                "is a Floatgate image that was cut short: its {found} bytes are less than a header"
            ),
            Self::Version { found } => {
                let [first, .., last] = VERSIONS;
                write!(
                    f,
                    "is an image of version {found}; this program reads versions {first} to {last}"
                )
            }
            Self::HeaderLength { found } => {
                write!(f, "has a damaged header: it cannot be {found} bytes long")
            }
            Self::Checksum { stored, computed } => write!(
                f,
                "has a damaged header: its checksum is {computed:08x}, and {stored:08x} is stored"
            ),
            Self::Shape(error) => write!(f, "is not a drive: {error}"),
            Self::Units { units, journal_units } => {
                write!(f, "is not a drive: {units} + {journal_units} units cannot be numbered")
            }
            Self::Page { page_bytes } => write!(
                f,
                "is not a drive: a page may have at most {PAGE_BYTES_MAX} bytes, not {page_bytes}"
            ),
            Self::Length { expected, found } => {
                write!(f, "is {found} bytes long; by its header it should be {expected}")
            }
            Self::TextTooLong { bytes, most } => {
                write!(f, "cannot hold a config text of {bytes} bytes, but at most {most}")
            }
            Self::Text => write!(f, "has a damaged header: its config text is not UTF-8"),
        }
    }
}

impl std::error::Error for ImageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Io { error, .. } => Some(error),
            Problem::Shape(error) => Some(error),
            _ => None,
        }
    }
}
