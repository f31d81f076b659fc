//! A live drive as a plugin of nbdkit, which speaks the NBD protocol and provides sockets, TLS and
//! filters.
//!
//! The plugin is thin: it reads parameters, passes requests to [`Backend`], and converts errors to
//! codes. nbdkit serves connections, and the requests of a connection, in its own threads.

#![cfg(target_os = "linux")]
// nbdkit's macro makes the one public function, without a doc.
#![allow(missing_docs)]

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use floatgate_lab::drive::live::LiveError;
use floatgate_lab::serve::{
    Backend, ChangeOptions, Client, PARAMETERS_HELP, Parameters, ServeError, Service, Stream,
};
use nbdkit::{
    Error, ExtentHandle, ExtentType, Flags, FuaFlags, Result, Server, ThreadModel, plugin,
};
use rustix::process::{Resource, getrlimit};

/// Maximum number of open files in this process at which it accepts another connection. An idle
/// connection has one open file, and a working one three.
const FILES_MAX: u64 = 896;

/// Files reserved for the drive and its control socket, if the system allows fewer than the
/// maximum.
const FILES_LEFT: u64 = 128;

static PARAMETERS: Mutex<Option<Parameters>> = Mutex::new(None);
static SERVING: Mutex<Option<Service>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection, with the placement handle of all its writes.
struct Connection {
    drive: Client,
    handle: Stream,
}

impl Connection {
    fn options(&self, flags: Flags) -> ChangeOptions {
        ChangeOptions { stream: self.handle, durable: flags.contains(Flags::FUA) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.drive.disconnect();
    }
}

/// Returns the placement handle in the name of an export, `handle-N`, or 0 for any other name. NBD
/// has no other way to state a handle.
fn handle(export: &str) -> Result<Stream> {
    let Some(number) = export.strip_prefix("handle-") else { return Ok(0) };
    let expected = || format!("export {export}: expected handle- and a number from 0 to 65535");
    number.parse().map_err(|_| wrong(expected()))
}

/// Returns the error for the client.
fn refused(error: ServeError) -> Error {
    let code = match &error {
        ServeError::Drive(LiveError::Beyond { .. }) => libc::EINVAL,
        ServeError::Drive(LiveError::Stopped { kind: ErrorKind::StorageFull, .. }) => libc::ENOSPC,
        ServeError::ReadOnly => libc::EROFS,
        ServeError::PowerOff | ServeError::Lost(_) => libc::ESHUTDOWN,
        _ => libc::EIO,
    };
    Error::new(code, error)
}

fn wrong(text: impl ToString) -> Error {
    Error::new(libc::EINVAL, text.to_string())
}

/// Returns the number of open files in this process, and the maximum at which a connection is
/// accepted.
fn files() -> (u64, u64) {
    let open = match fs::read_dir("/proc/self/fd") {
        Ok(files) => files.count() as u64,
        // A system without this directory.
        Err(error) if error.kind() == ErrorKind::NotFound => 0,
        // All files are open, so the directory cannot be opened.
        Err(_) => u64::MAX,
    };
    let allowed = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    (open, allowed.saturating_sub(FILES_LEFT).min(FILES_MAX))
}

impl Server for Connection {
    fn name() -> &'static str {
        "floatgate"
    }

    fn longname() -> Option<&'static str> {
        Some("Floatgate, a flash drive whose inside can be seen")
    }

    fn version() -> Option<&'static str> {
        Some(env!("CARGO_PKG_VERSION"))
    }

    fn config_help() -> Option<&'static str> {
        Some(PARAMETERS_HELP)
    }

    fn config(key: &str, value: &str) -> Result<()> {
        lock(&PARAMETERS).get_or_insert_default().set(key, value).map_err(wrong)
    }

    fn config_complete() -> Result<()> {
        lock(&PARAMETERS).get_or_insert_default().check().map_err(wrong)
    }

    fn thread_model() -> Result<ThreadModel> {
        Ok(ThreadModel::Parallel)
    }

    /// Threads are allowed from here on.
    fn after_fork() -> Result<()> {
        let parameters = lock(&PARAMETERS).take().unwrap_or_default();
        let service = Service::start(parameters).map_err(wrong)?;
        if service.is_zoned() {
            // In order, so that the drive counts no unsafe shutdown.
            service.shut_down();
            return Err(wrong("the image is a drive in zones; expected floatgate serve --nvme"));
        }
        *lock(&SERVING) = Some(service);
        Ok(())
    }

    /// Shuts down the drive. All clients are gone.
    fn unload() {
        if let Some(service) = lock(&SERVING).take() {
            service.shut_down();
        }
    }

    /// Refuses a connection before its handshake if too many files are open. Idle connections of
    /// strangers thus never take the files that the drive needs.
    fn preconnect(_: bool) -> Result<()> {
        match files() {
            (open, most) if open > most => {
                Err(Error::new(libc::EMFILE, "a connection was refused: too many are open"))
            }
            _ => Ok(()),
        }
    }

    fn open(_: bool) -> Result<Box<dyn Server>> {
        let drive = lock(&SERVING).as_ref().map(|service| Arc::clone(service.drive()));
        let drive = drive.ok_or_else(|| refused(ServeError::PowerOff))?;
        let handle = handle(&nbdkit::export_name().map_err(|error| wrong(error.to_string()))?)?;
        let drive = drive.client();
        drive.connect();
        Ok(Box::new(Self { drive, handle }))
    }

    fn get_size(&self) -> Result<i64> {
        i64::try_from(self.drive.bytes()).map_err(wrong)
    }

    fn can_write(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_flush(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_fua(&self) -> Result<FuaFlags> {
        Ok(FuaFlags::Native)
    }

    /// A flush on one connection covers the writes of all connections.
    fn can_multi_conn(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_trim(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_zero(&self) -> Result<bool> {
        Ok(true)
    }

    fn can_extents(&self) -> Result<bool> {
        Ok(true)
    }

    fn is_rotational(&self) -> Result<bool> {
        Ok(false)
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> Result<()> {
        self.drive.read(offset, into).map_err(refused)
    }

    fn write_at(&self, bytes: &[u8], offset: u64, flags: Flags) -> Result<()> {
        self.drive.write(offset, bytes, self.options(flags)).map_err(refused)
    }

    fn flush(&self) -> Result<()> {
        self.drive.flush().map_err(refused)
    }

    fn trim(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        self.drive.trim(offset, count.into(), self.options(flags)).map_err(refused)
    }

    fn zero(&self, count: u32, offset: u64, flags: Flags) -> Result<()> {
        let may_trim = flags.contains(Flags::MAY_TRIM);
        self.drive.zero(offset, count.into(), may_trim, self.options(flags)).map_err(refused)
    }

    fn extents(&self, count: u32, offset: u64, _: Flags, extents: &mut ExtentHandle) -> Result<()> {
        for (offset, length, is_hole) in
            self.drive.extents(offset, count.into()).map_err(refused)?
        {
            let kind = match is_hole {
                true => ExtentType::HoleZero,
                false => ExtentType::Allocated,
            };
            extents.add(offset, length, kind)?;
        }
        Ok(())
    }
}

plugin!(Connection {
    after_fork,
    can_extents,
    can_flush,
    can_fua,
    can_multi_conn,
    can_trim,
    can_write,
    can_zero,
    config,
    config_complete,
    config_help,
    extents,
    flush,
    is_rotational,
    preconnect,
    thread_model,
    trim,
    unload,
    write_at,
    zero
});
