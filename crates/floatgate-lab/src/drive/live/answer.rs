//! What a read is answered: bytes that were at hand, and places in the image that are
//! still to be read.
//!
//! Flash is not overwritten: a page that was found stays as it is until its unit is erased. So its
//! bytes can be read after the drive went on to other requests, as long as no erase comes between
//! ([`Reading`]). If the read itself has brought one, the bytes were saved before.

use std::io;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::error::LiveError;
use crate::stored::{Located, Place};

/// A part of an answer.
#[derive(Debug)]
pub(super) enum Part {
    /// Bytes that were at hand.
    Bytes {
        /// Where they are in the answer.
        to: Range<usize>,
        bytes: Vec<u8>,
    },
    /// Bytes of a page in the image.
    Located {
        /// Where they are in the answer, and in the page.
        to: Range<usize>,
        from: Range<usize>,
        located: Located,
    },
}

/// What a read is answered; what is in no part is zeros.
#[derive(Debug, Default)]
pub struct Answer {
    pub(super) parts: Vec<Part>,
    /// Pages that are no longer where they were found.
    pub(super) saved: Vec<(Located, Vec<u8>)>,
}

/// The bytes of an image, and a lock that an erase waits for.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The bytes.
    pub place: Arc<Place>,
    pub(crate) erases: Arc<RwLock<()>>,
}

impl Reading {
    /// Nothing is erased until this is dropped.
    pub fn hold(&self) -> RwLockReadGuard<'_, ()> {
        self.erases.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer {
    /// Fills in the bytes.
    ///
    /// # Errors
    /// A page that is damaged, or an image that cannot be read.
    pub fn fetch(self, place: &Place, into: &mut [u8]) -> Result<(), LiveError> {
        into.fill(0);
        let mut page = Vec::new();
        for part in self.parts {
            match part {
                Part::Bytes { to, bytes } => into[to].copy_from_slice(&bytes),
                Part::Located { to, from, located } => {
                    let saved = self.saved.iter().find(|(saved, _)| *saved == located);
                    let is_whole = from.len() == located.length as usize;
                    match saved {
                        Some((_, bytes)) => {
                            into[to].copy_from_slice(&sound(bytes, &located)?[from]);
                        }
                        None if is_whole => read(place, &located, &mut into[to])?,
                        None => {
                            page.resize(located.length as usize, 0);
                            read(place, &located, &mut page)?;
                            into[to].copy_from_slice(&page[from]);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The bytes of a page, if they are those that were stored.
fn sound<'a>(bytes: &'a [u8], located: &Located) -> Result<&'a [u8], LiveError> {
    if crc32fast::hash(bytes) == located.checksum { Ok(bytes) } else { Err(LiveError::Damaged) }
}

/// Reads a page as it was stored.
fn read(place: &Place, located: &Located, into: &mut [u8]) -> Result<(), LiveError> {
    let failed =
        |error: io::Error| LiveError::Stopped { kind: error.kind(), error: error.to_string() };
    place.read(located.at, into).map_err(failed)?;
    sound(into, located).map(drop)
}
