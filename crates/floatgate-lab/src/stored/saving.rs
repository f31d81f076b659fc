//! Moves an image from memory to a new file, which gets its name only when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use super::error::{ImageError, Problem};
use super::{ImageStore, Stored};

/// Bytes copied in one piece.
const COPIED_AT_ONCE: usize = 1 << 20;

impl Stored {
    /// Writes the image to a new file, and continues in that file, locked for this process alone.
    ///
    /// # Errors
    /// If the file exists or the system refuses. The image then stays where it is, and no new file
    /// remains.
    pub fn save_to(&mut self, path: &Path) -> Result<(), ImageError> {
        self.try_save_to(path).map_err(|problem| problem.at(path))
    }

    fn try_save_to(&mut self, path: &Path) -> Result<(), Problem> {
        let new = NewFile::create(path).map_err(Problem::io("created"))?;
        copy(self.image.store(), &new.file).map_err(Problem::io("written"))?;
        let store = ImageStore::File(new.file.try_clone().map_err(Problem::io("opened"))?);
        if !store.lock(false).map_err(Problem::io("locked"))? {
            return Err(Problem::InUse);
        }
        new.publish(path)?;
        self.image.move_to(store);
        Ok(())
    }
}

/// Copies bytes without their holes, and waits until they are on the disk.
fn copy(from: &ImageStore, to: &File) -> io::Result<()> {
    let length = from.length()?;
    to.set_len(length)?;
    let mut bytes = vec![0; COPIED_AT_ONCE];
    let mut stored = from.next_stored(0..length)?;
    while !stored.is_empty() {
        for at in stored.clone().step_by(COPIED_AT_ONCE) {
            let bytes = &mut bytes[..COPIED_AT_ONCE.min((stored.end - at) as usize)];
            from.read(at, bytes)?;
            to.write_all_at(bytes, at)?;
        }
        stored = from.next_stored(stored.end..length)?;
    }
    to.sync_all()
}

/// A file without a name, or with a hidden name if the file system has no files without names.
struct NewFile {
    file: File,
    hidden: Option<PathBuf>,
}

impl NewFile {
    /// Creates the file for its owner alone, in the folder of `path`.
    fn create(path: &Path) -> io::Result<Self> {
        match unnamed(folder(path)) {
            Ok(file) => Ok(Self { file, hidden: None }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(error),
            Err(_) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let hidden = path.with_file_name(format!(".{name}.{}.part", process::id()));
                let mut how = OpenOptions::new();
                let how = how.read(true).write(true).create_new(true).mode(0o600);
                Ok(Self { file: how.open(&hidden)?, hidden: Some(hidden) })
            }
        }
    }

    /// Gives the file its name; fails if another file has that name.
    fn publish(&self, path: &Path) -> Result<(), Problem> {
        let named = match &self.hidden {
            Some(hidden) => fs::hard_link(hidden, path),
            None => name(&self.file, path),
        };
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Problem::Exists,
            _ => Problem::io("named")(error),
        })?;
        // Syncs the folder where that is possible, so that the name survives a crash as well as the
        // file does.
        let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            // The image has its final name by now, or saving has failed.
            let _ = fs::remove_file(hidden);
        }
    }
}

fn folder(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> io::Result<File> {
    let flags = rustix::fs::OFlags::TMPFILE.bits().cast_signed();
    OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(flags).open(folder)
}

#[cfg(target_os = "linux")]
fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let file = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, file, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// If the file system has no files without names, the image has a hidden name until it is
    /// complete.
    #[test]
    fn a_hidden_file_gets_its_name_or_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (path, hidden) = (folder.path().join("flash.img"), folder.path().join(".part"));
        let new = || {
            let how = OpenOptions::new().write(true).create_new(true).open(&hidden);
            NewFile { file: how.unwrap(), hidden: Some(hidden.clone()) }
        };
        new().publish(&path).unwrap();
        assert!(path.exists() && !hidden.exists());
        assert!(matches!(new().publish(&path), Err(Problem::Exists)));
        assert!(!hidden.exists());
    }
}
