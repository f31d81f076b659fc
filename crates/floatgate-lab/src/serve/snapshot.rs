//! Copies of an image. A copy gets its name only when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{CWD, FlockOperation, OFlags, RenameFlags, flock, ioctl_ficlone, renameat_with};
use rustix::io::Errno;

use crate::stored::ImageStore;

/// Bytes copied in one piece.
const COPIED_AT_ONCE: usize = 1 << 20;

/// Start and end of the name of an unfinished copy; the process number is in between.
const PART: (&str, &str) = (".floatgate-snapshot-", ".part");

/// Copies an image to a file that does not exist, and returns its length.
///
/// The copy is made in another file of the same folder, synced, and renamed. If the process is
/// killed, that other file is left; the next snapshot in the folder removes it.
pub(super) fn snapshot(from: &ImageStore, to: &Path) -> io::Result<u64> {
    if to.symlink_metadata().is_ok() {
        return Err(Errno::EXIST.into());
    }
    let folder = to.parent().unwrap_or(Path::new("/"));
    remove_leftovers(folder);
    let part = folder.join(format!("{}{}{}", PART.0, process::id(), PART.1));
    let copied = copy(from, &part).and_then(|length| {
        publish(&part, to)?;
        Ok(length)
    });
    match copied {
        // Syncs the folder where that is possible, so that the name survives a crash as well as the
        // file does.
        Ok(_) => drop(File::open(folder).and_then(|folder| folder.sync_all())),
        // The caller gets the first error; an error of the removal matters less.
        Err(_) => drop(fs::remove_file(&part)),
    }
    copied
}

/// Removes unfinished copies of processes that have ended; a running process holds a lock on its
/// copy.
fn remove_leftovers(folder: &Path) {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in names.filter(|path| path.file_name().is_some_and(is_part)) {
        if is_abandoned(&path).unwrap_or(false) {
            let _ = fs::remove_file(path);
        }
    }
}

fn is_part(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(PART.0) && name.ends_with(PART.1))
}

fn is_abandoned(path: &PathBuf) -> io::Result<bool> {
    let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file.metadata()?.is_file() && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Renames a file, unless another file has the new name.
fn publish(part: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, part, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot check and rename in one step.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => match to.symlink_metadata() {
            Ok(_) => Err(Errno::EXIST.into()),
            Err(_) => fs::rename(part, to),
        },
        renamed => Ok(renamed?),
    }
}

/// Copies bytes without their holes. If the file system can share the data between both files, the
/// copy takes no time.
fn copy(from: &ImageStore, to: &Path) -> io::Result<u64> {
    let target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    flock(&target, FlockOperation::NonBlockingLockExclusive)?;
    let length = from.length()?;
    let is_shared = matches!(from, ImageStore::File(file) if ioctl_ficlone(&target, file).is_ok());
    if !is_shared {
        target.set_len(length)?;
        copy_stored(from, &target, length)?;
    }
    target.sync_all()?;
    Ok(length)
}

fn copy_stored(from: &ImageStore, target: &File, length: u64) -> io::Result<()> {
    let mut bytes = vec![0; COPIED_AT_ONCE];
    let mut stored = from.next_stored(0..length)?;
    while !stored.is_empty() {
        let mut at = stored.start;
        while at < stored.end {
            let bytes = &mut bytes[..COPIED_AT_ONCE.min((stored.end - at) as usize)];
            from.read(at, bytes)?;
            target.write_all_at(bytes, at)?;
            at += bytes.len() as u64;
        }
        stored = from.next_stored(at..length)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The image cannot be read, as on a failing disk.
    #[test]
    fn a_copy_that_fails_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        fs::write(&image, vec![1; 3 << 20]).unwrap();
        let store = ImageStore::File(OpenOptions::new().write(true).open(&image).unwrap());
        assert!(snapshot(&store, &folder.path().join("copy")).is_err(), "it cannot be read");
        assert_eq!(names(folder.path()), ["image"]);
    }

    #[test]
    fn a_copy_has_its_name_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("copy");
        let image = tempfile::tempfile().unwrap();
        image.write_all_at(&vec![1; 32 << 20], 0).unwrap();
        let store = ImageStore::File(image);
        std::thread::scope(|scope| {
            let copied = scope.spawn(|| snapshot(&store, &to).unwrap());
            while !copied.is_finished() {
                if to.exists() {
                    assert_eq!(fs::read(&to).unwrap().last(), Some(&1));
                }
            }
        });
        assert_eq!(names(folder.path()), ["copy"]);
        assert_eq!(snapshot(&store, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }

    #[test]
    fn files_of_a_killed_process_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let part = |number: u32| format!("{}{number}{}", PART.0, PART.1);
        for number in 0..2 {
            fs::write(folder.path().join(part(number)), "half").unwrap();
        }
        let running = File::open(folder.path().join(part(1))).unwrap();
        flock(&running, FlockOperation::LockExclusive).unwrap();
        snapshot(&ImageStore::memory(9), &folder.path().join("copy")).unwrap();
        assert_eq!(names(folder.path()), [part(1), "copy".to_string()]);
    }
}
