//! Making and opening images.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{Counted, Nand};

use super::Stored;
use super::error::{ImageError, Problem};
use super::format::{Header, LIFE_AT, Layout, POINT_AT};
use super::image::Image;
use super::life::Life;
use super::limits::HEADER_BYTES;
use super::point::SyncPoint;
use super::reading::Failing;
use super::scan::scan;

/// Making and opening.
impl Stored {
    /// Makes an image of an erased drive, with `journal_units` units for the layer's journal behind
    /// those of `shape`, and opens it. `text` is kept in the header: the config of the device.
    ///
    /// # Errors
    /// If the file exists, the numbers make no drive, the text has more bytes than
    /// [`TEXT_BYTES_MAX`](super::TEXT_BYTES_MAX), or the system refuses; then there is no file that
    /// was not there before.
    pub fn create(
        path: &Path,
        shape: Shape,
        journal_units: u32,
        text: &str,
    ) -> Result<Self, ImageError> {
        let header = Header::new(shape, journal_units, text).map_err(|problem| problem.of(path))?;
        // What is on a drive is its owner's alone.
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Problem::Exists.of(path),
            _ => Problem::io("created")(error).of(path),
        })?;
        Self::format(file, header, path).map_err(|problem| {
            // What failed is told; that the rest of it is left, if it is, comes second.
            let _ = fs::remove_file(path);
            problem.of(path)
        })
    }

    /// Makes an image of an erased drive that is gone with the process. `name` is what it is called
    /// where a file has its path.
    ///
    /// # Errors
    /// As [`Stored::create`].
    pub fn in_memory(
        name: &Path,
        shape: Shape,
        journal_units: u32,
        text: &str,
    ) -> Result<Self, ImageError> {
        let header = Header::new(shape, journal_units, text).map_err(|problem| problem.of(name))?;
        let file = file_in_memory().map_err(|error| Problem::io("created")(error).of(name))?;
        let image = Self::lay_out(file, &header).map_err(|problem| problem.of(name))?;
        Self::load(image, header).map_err(|problem| problem.of(name))
    }

    fn lay_out(file: File, header: &Header) -> Result<Image, Problem> {
        let image = Image::new(file, false)?;
        let file = image.file();
        file.set_len(Layout::new(&header.medium).end()).map_err(Problem::io("given its length"))?;
        file.write_all_at(&header.encode(), 0).map_err(Problem::io("written"))?;
        file.sync_all().map_err(Problem::io("synced"))?;
        Ok(image)
    }

    fn format(file: File, header: Header, path: &Path) -> Result<Self, Problem> {
        let image = Self::lay_out(file, &header)?;
        // The name is to survive a crash as well as the file, where folders can be synced.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Self::load(image, header)
    }

    /// Opens an image for this process alone.
    ///
    /// # Errors
    /// If it is in use, is not an image, is damaged in its header or length, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        Self::open_as(path, false).map_err(|problem| problem.of(path))
    }

    /// Opens an image to look at it, beside others that do so. A change is a fault.
    ///
    /// # Errors
    /// As [`Stored::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, ImageError> {
        Self::open_as(path, true).map_err(|problem| problem.of(path))
    }

    /// Opens the image in a file that is open, and called `name`, for this process alone.
    ///
    /// # Errors
    /// As [`Stored::open`].
    pub fn open_file(name: &Path, file: Arc<File>) -> Result<Self, ImageError> {
        Self::open_in(file, false).map_err(|problem| problem.of(name))
    }

    fn open_as(path: &Path, read_only: bool) -> Result<Self, Problem> {
        let file = OpenOptions::new().read(true).write(!read_only).open(path);
        Self::open_in(Arc::new(file.map_err(Problem::io("opened"))?), read_only)
    }

    fn open_in(file: Arc<File>, read_only: bool) -> Result<Self, Problem> {
        let image = Image::new(file, read_only)?;
        let mut bytes = vec![0; HEADER_BYTES];
        let found = read_up_to(image.file(), &mut bytes).map_err(Problem::io("read"))?;
        let header = Header::decode(&bytes[..found])?;
        let expected = Layout::new(&header.medium).end();
        let found = image.file().metadata().map_err(Problem::io("examined"))?.len();
        if found != expected {
            return Err(Problem::Length { expected, found });
        }
        Self::load(image, header)
    }

    /// Opens an image with a sound header.
    fn load(mut image: Image, header: Header) -> Result<Self, Problem> {
        let layout = Layout::new(&header.medium);
        let mut bytes = [0; SyncPoint::BYTES];
        let point = image.read(POINT_AT, &mut bytes).map(|()| SyncPoint::decode(&bytes));
        let mut bytes = [0; Life::BYTES];
        let life = image.read(LIFE_AT, &mut bytes).map(|()| Life::decode(&bytes));
        let scanned = point.zip(life).and_then(|(point, life)| {
            Some((point, life, scan(&image, &layout, &header.medium, point)?))
        });
        let Some((point, life, scan)) = scanned else {
            let error = image.take_fault().unwrap_or_else(|| io::ErrorKind::Other.into());
            return Err(Problem::Io { doing: "read", error });
        };
        let page_bytes = header.geometry.shape().page_bytes as usize;
        let mut counted = Counted::new(&header.medium);
        for unit in (0..header.medium.units()).map(Unit) {
            counted.set_mode(unit, scan.modes.mode(unit));
        }
        Ok(Self {
            image,
            header,
            layout,
            counted,
            modes: scan.modes,
            programmed: scan.programmed,
            begun: BTreeMap::new(),
            torn: scan.torn,
            scanned_bytes: scan.bytes,
            register: vec![0; page_bytes],
            note: None,
            moved: vec![],
            read_failed: false,
            life,
            kept_life: life,
            locates: false,
            located: None,
            found: vec![],
            saved: vec![],
            failing: Failing::default(),
            point,
            next_point: scan.point,
            // Whoever had it open before may have ended without a sync.
            is_changed: true,
        })
    }
}

/// A file that nobody else can open, and that has no place on a disk.
#[cfg(target_os = "linux")]
fn file_in_memory() -> io::Result<File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(rustix::fs::memfd_create("floatgate", flags)?.into())
}

#[cfg(not(target_os = "linux"))]
fn file_in_memory() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "drives in memory need Linux"))
}

/// Reads from the start of a file; less than asked for if it ends before.
fn read_up_to(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
    let mut at = 0;
    while at < bytes.len() {
        match file.read_at(&mut bytes[at..], at as u64) {
            Ok(0) => break,
            Ok(count) => at += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(at)
}
