//! Answer of a read: bytes from memory, and locations in the image that are still to be read.
//!
//! Flash is not overwritten: a page stays as it is until its unit is erased. A client can thus read
//! the bytes of a page after the drive has continued with other requests if no erase comes in
//! between ([`PageFetcher`]). If the read itself causes an erase, the drive saves the bytes first.

use std::io;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::error::LiveError;
use crate::stored::{ImageStore, Located};

#[derive(Debug)]
pub(super) enum AnswerPart {
    /// Bytes from memory.
    Bytes {
        /// Range in the answer.
        to: Range<usize>,
        bytes: Vec<u8>,
    },
    /// Bytes of a page in the image.
    Located {
        /// Range in the answer.
        to: Range<usize>,
        /// Range in the page.
        from: Range<usize>,
        located: Located,
    },
}

/// Answer of a read; bytes that no part covers are zeros.
#[derive(Debug, Default)]
pub struct Answer {
    pub(super) parts: Vec<AnswerPart>,
    /// Pages whose unit was erased in the course of the read itself, with their bytes.
    pub(super) saved: Vec<(Located, Vec<u8>)>,
}

/// The bytes of an image, and a lock that an erase waits for.
#[derive(Clone, Debug)]
pub struct PageFetcher {
    /// The bytes.
    pub store: Arc<ImageStore>,
    pub(crate) erases: Arc<RwLock<()>>,
}

impl PageFetcher {
    /// Prevents erases until the guard is dropped.
    pub fn hold(&self) -> RwLockReadGuard<'_, ()> {
        self.erases.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// Copies the answer into `into`.
    ///
    /// # Errors
    /// A page that is damaged, or an image that cannot be read.
    pub fn fetch(self, store: &ImageStore, into: &mut [u8]) -> Result<(), LiveError> {
        into.fill(0);
        let mut page = Vec::new();
        for part in self.parts {
            match part {
                AnswerPart::Bytes { to, bytes } => into[to].copy_from_slice(&bytes),
                AnswerPart::Located { to, from, located } => {
                    let saved = self.saved.iter().find(|(saved, _)| *saved == located);
                    let is_whole = from.len() == located.length as usize;
                    match saved {
                        Some((_, bytes)) => {
                            into[to].copy_from_slice(&sound(bytes, &located)?[from]);
                        }
                        None if is_whole => read(store, &located, &mut into[to])?,
                        None => {
                            page.resize(located.length as usize, 0);
                            read(store, &located, &mut page)?;
                            into[to].copy_from_slice(&page[from]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns the bytes of a page if their checksum is right.
fn sound<'a>(bytes: &'a [u8], located: &Located) -> Result<&'a [u8], LiveError> {
    if crc32fast::hash(bytes) == located.checksum { Ok(bytes) } else { Err(LiveError::Damaged) }
}

/// Reads a page from the image and checks it.
fn read(store: &ImageStore, located: &Located, into: &mut [u8]) -> Result<(), LiveError> {
    let failed =
        |error: io::Error| LiveError::Stopped { kind: error.kind(), error: error.to_string() };
    store.read(located.at, into).map_err(failed)?;
    sound(into, located).map(drop)
}
