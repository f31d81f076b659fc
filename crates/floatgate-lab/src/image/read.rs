//! Reads the bytes of an image without starting its drive.

use std::path::Path;

use floatgate_ftl::addr::{Lpn, Owner, Ppn};
use floatgate_ftl::nand::{Cause, Chain, Nand, ReadSource};
use floatgate_ftl::recovery::scan;

use super::{OpenError, View};
use crate::drive::live::LiveError;
use crate::stored::Stored;

/// Reader that returns the same bytes as the drive of an image: bytes that were never written, or
/// that were trimmed, are zeros. It starts no drive, because a drive would write to the image.
pub struct Reader {
    stored: Stored,
    table: Vec<Option<Ppn>>,
    bytes: u64,
    page_bytes: u64,
}

impl Reader {
    /// Opens an image and locates every page.
    ///
    /// # Errors
    /// A file that is in use, is no image, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let view = View::open(path)?;
        let View { stored, plan, journal, .. } = &view;
        let table = scan(stored, &plan.geometry, plan.log_pages, journal.find(stored)).table;
        view.sound(path)?;
        let page_bytes = view.plan.geometry.shape().page_bytes.into();
        Ok(Self { stored: view.stored, table, bytes: view.description.bytes, page_bytes })
    }

    /// Bytes that the host can address.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// A request beyond the drive, a page that is damaged, or a failed file.
    pub fn read(&mut self, offset: u64, into: &mut [u8]) -> Result<(), LiveError> {
        LiveError::if_beyond(offset, into.len() as u64, self.bytes)?;
        let mut rest = into;
        let mut at = offset;
        while !rest.is_empty() {
            let within = (at % self.page_bytes) as usize;
            let length = rest.len().min(self.page_bytes as usize - within);
            let (part, behind) = rest.split_at_mut(length);
            match self.page((at / self.page_bytes) as u32)? {
                Some(page) => part.copy_from_slice(&page[within..within + length]),
                None => part.fill(0),
            }
            (rest, at) = (behind, at + length as u64);
        }
        Ok(())
    }

    /// Returns the bytes of a logical page; none if it holds no data.
    fn page(&mut self, number: u32) -> Result<Option<&[u8]>, LiveError> {
        let lpn = Lpn::new(number);
        let Some(ppn) = self.table[lpn.index()] else { return Ok(None) };
        let Ok(()) = self.stored.read(
            ppn,
            Owner::Data(lpn),
            ReadSource::Cells,
            Cause::Host,
            &mut Chain::default(),
        );
        LiveError::if_stopped(self.stored.fault())?;
        match self.stored.read_failed() {
            true => Err(LiveError::DamagedAt { offset: u64::from(number) * self.page_bytes }),
            false => Ok(Some(self.stored.register())),
        }
    }
}
