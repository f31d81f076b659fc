//! Creates images and opens them.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use floatgate_ftl::addr::Unit;
use floatgate_ftl::geometry::Shape;
use floatgate_ftl::nand::{Counted, Nand};
use rustix::fs::OFlags;

use super::Stored;
use super::error::{ImageError, Problem};
use super::format::{Header, LIFE_AT, Layout, POINT_AT};
use super::image::Image;
use super::image_store::ImageStore;
use super::life::Life;
use super::limits::HEADER_BYTES;
use super::point::SyncPoint;
use super::reading::Failing;
use super::scan::scan;

/// Opens a regular file. Opening a FIFO could block for ever, and opening a device could have any
/// effect.
fn open_regular(path: &Path, read_only: bool) -> Result<File, Problem> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut how = OpenOptions::new();
    let opened =
        how.read(true).write(!read_only).custom_flags(flags.bits().cast_signed()).open(path);
    let is_regular = |metadata: io::Result<Metadata>| metadata.map(|metadata| metadata.is_file());
    let file = opened.map_err(|error| match is_regular(fs::metadata(path)) {
        Ok(false) => Problem::NotRegular,
        _ => Problem::io("opened")(error),
    })?;
    match is_regular(file.metadata()).map_err(Problem::io("examined"))? {
        true => Ok(file),
        false => Err(Problem::NotRegular),
    }
}

/// Creating and opening images.
impl Stored {
    /// Creates an image of an erased drive, with `journal_units` units for the translation layer's
    /// journal after the units of `shape`, and opens it. The header keeps `text`: the config of the
    /// device.
    ///
    /// # Errors
    /// If the file exists, the numbers make no drive, the text has more bytes than
    /// [`TEXT_BYTES_MAX`](super::TEXT_BYTES_MAX), or the system refuses. After an error no new file
    /// remains.
    pub fn create(
        path: &Path,
        shape: Shape,
        journal_units: u32,
        text: &str,
    ) -> Result<Self, ImageError> {
        let header = Header::new(shape, journal_units, text).map_err(|problem| problem.at(path))?;
        // Only the owner may read the contents of a drive.
        let mut how = OpenOptions::new();
        let file = how.read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Problem::Exists.at(path),
            _ => Problem::io("created")(error).at(path),
        })?;
        Self::format(file, header, path).map_err(|problem| {
            // The caller gets the error of the format; an error of the removal matters less.
            let _ = fs::remove_file(path);
            problem.at(path)
        })
    }

    /// Creates an image of an erased drive in memory, which lasts until the process ends. `name`
    /// stands for the path in error messages.
    ///
    /// # Errors
    /// As [`Stored::create`].
    pub fn in_memory(
        name: &Path,
        shape: Shape,
        journal_units: u32,
        text: &str,
    ) -> Result<Self, ImageError> {
        let header = Header::new(shape, journal_units, text).map_err(|problem| problem.at(name))?;
        let store = ImageStore::memory(Layout::new(&header.medium).end());
        let image = Self::lay_out(store, &header).map_err(|problem| problem.at(name))?;
        Self::load(image, header).map_err(|problem| problem.at(name))
    }

    /// Turns a store full of zeros into an image.
    fn lay_out(store: ImageStore, header: &Header) -> Result<Image, Problem> {
        let image = Image::new(store, false)?;
        let (point, life) = (SyncPoint::default().encode(), Life::default().encode());
        for (at, bytes) in [(0, &header.encode()[..]), (POINT_AT, &point), (LIFE_AT, &life)] {
            image.store().write(at, bytes).map_err(Problem::io("written"))?;
        }
        image.store().sync().map_err(Problem::io("synced"))?;
        Ok(image)
    }

    fn format(file: File, header: Header, path: &Path) -> Result<Self, Problem> {
        file.set_len(Layout::new(&header.medium).end()).map_err(Problem::io("given its length"))?;
        let image = Self::lay_out(ImageStore::File(file), &header)?;
        // Syncs the folder where that is possible, so that the name survives a crash as well as the
        // file does.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let _ = File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
        Self::load(image, header)
    }

    /// Opens an image for this process alone.
    ///
    /// # Errors
    /// If it is in use, is not an image, is damaged in its header or length, or cannot be read.
    pub fn open(path: &Path) -> Result<Self, ImageError> {
        Self::open_as(path, false).map_err(|problem| problem.at(path))
    }

    /// Opens an image for inspection, together with other readers. A change is a fault.
    ///
    /// # Errors
    /// As [`Stored::open`].
    pub fn open_read_only(path: &Path) -> Result<Self, ImageError> {
        Self::open_as(path, true).map_err(|problem| problem.at(path))
    }

    /// Opens the image in a store for this process alone. `name` stands for the path in error
    /// messages.
    ///
    /// # Errors
    /// As [`Stored::open`].
    pub fn open_store(name: &Path, store: Arc<ImageStore>) -> Result<Self, ImageError> {
        Self::open_in(store, false).map_err(|problem| problem.at(name))
    }

    fn open_as(path: &Path, read_only: bool) -> Result<Self, Problem> {
        Self::open_in(Arc::new(ImageStore::File(open_regular(path, read_only)?)), read_only)
    }

    fn open_in(store: Arc<ImageStore>, read_only: bool) -> Result<Self, Problem> {
        let image = Image::new(store, read_only)?;
        let store = image.store();
        let found = store.length().map_err(Problem::io("examined"))?;
        let mut bytes = vec![0; found.min(HEADER_BYTES as u64) as usize];
        store.read(0, &mut bytes).map_err(Problem::io("read"))?;
        let header = Header::decode(&bytes)?;
        let expected = Layout::new(&header.medium).end();
        if found != expected {
            return Err(Problem::Length { expected, found });
        }
        Self::load(image, header)
    }

    /// Opens an image with a sound header.
    fn load(mut image: Image, header: Header) -> Result<Self, Problem> {
        let layout = Layout::new(&header.medium);
        let page_bytes = header.geometry.shape().page_bytes;
        let mut bytes = vec![0; header.point_bytes()];
        let point = image.read(POINT_AT, &mut bytes).map(|()| SyncPoint::decode(&bytes));
        let mut bytes = [0; Life::BYTES];
        let life = image
            .read(LIFE_AT, &mut bytes)
            .map(|()| Life::decode(&bytes, page_bytes, header.is_old));
        let scanned = point.zip(life).and_then(|((point, damaged), life)| {
            Some((point, damaged, life, scan(&image, &layout, &header.medium, point)?))
        });
        let Some((point, mut damaged, life, scan)) = scanned else {
            let error = image.take_fault().unwrap_or_else(|| io::ErrorKind::Other.into());
            return Err(Problem::Io { doing: "read", error });
        };
        if life.is_none() {
            damaged.push("the record of the drive's life is damaged");
        }
        let life = life.unwrap_or_default();
        let mut counted = Counted::new(&header.medium);
        for unit in (0..header.medium.units()).map(Unit) {
            counted.set_mode(unit, scan.modes.mode(unit));
        }
        let mut stored = Self {
            image,
            header,
            layout,
            counted,
            modes: scan.modes,
            programmed: scan.programmed,
            begun: BTreeMap::new(),
            torn: scan.torn,
            damaged,
            tally: point.synced.with(scan.uncovered),
            scanned_bytes: scan.bytes,
            register: vec![0; page_bytes as usize],
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
            // The previous user may have ended without a sync.
            is_changed: true,
        };
        if stored.point.erasing != [None; 2] {
            // Erases that a crash may have undone must be synced before others begin.
            stored.sync();
        }
        Ok(stored)
    }
}
