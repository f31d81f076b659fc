//! Checks that the file of an image is still there, complete, under its name.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{ImageStore, Stored};

impl Stored {
    /// Stops the medium, because the file has failed outside an operation of the flash.
    pub fn stop(&mut self, error: io::Error) {
        self.image.stop(error);
    }

    /// Stops the medium if its file has become shorter, because pages are then lost.
    pub fn look_at_length(&mut self) {
        let expected = self.layout.end();
        let shorter = self.image.store().length().map(|found| (found < expected).then_some(found));
        match shorter {
            Ok(None) => {}
            Ok(Some(found)) => {
                let text = format!("the file has {found} bytes; expected {expected}");
                self.stop(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
            Err(error) => self.stop(error),
        }
    }

    /// Returns whether `path` names the file of this image. Memory has no name; the answer is then
    /// true.
    pub fn is_at(&self, path: &Path) -> bool {
        let ImageStore::File(file) = &**self.image.store() else { return true };
        let (Ok(ours), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
        (ours.dev(), ours.ino()) == (there.dev(), there.ino())
    }
}
