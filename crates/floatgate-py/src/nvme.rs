//! The NVMe target: a drive that this process serves over NVMe/TCP.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use floatgate_lab::serve::{self, NvmeError, Parameters, Service};
use floatgate_nvme::subsystem::Settings;
use floatgate_nvme::tcp::Options;
use pyo3::prelude::*;

use crate::{ConfigError, RunError};

/// Maximum number of I/O queues of a controller. Linux asks for one for each processor.
const QUEUES_MAX: u16 = 64;

/// A target in service, until it is stopped or the process ends.
#[pyclass(frozen)]
pub struct NvmeTarget {
    service: Service,
    target: Mutex<Option<serve::NvmeTarget>>,
}

/// Names and numbers by which hosts know the drive.
#[derive(FromPyObject)]
struct Identity {
    nqn: String,
    serial: String,
    model: String,
    uuid: [u8; 16],
    block_bytes: u32,
}

impl From<Identity> for Settings {
    fn from(identity: Identity) -> Self {
        let Identity { nqn, serial, model, uuid, block_bytes } = identity;
        let firmware = env!("CARGO_PKG_VERSION").to_owned();
        Self { nqn, serial, model, firmware, uuid, block_bytes, queues_max: QUEUES_MAX }
    }
}

fn nvme_error(error: NvmeError) -> PyErr {
    match error {
        NvmeError::Settings(_) | NvmeError::Zones(_) => ConfigError::new_err(error.to_string()),
        _ => RunError::new_err(error.to_string()),
    }
}

#[pymethods]
impl NvmeTarget {
    /// Opens the drive that the parameters name, and serves it at an address with a port.
    #[new]
    #[pyo3(signature = (parameters, identity, *, at, threads, allow_remote, zoned))]
    fn new(
        py: Python<'_>,
        parameters: Vec<(String, String)>,
        identity: Identity,
        at: &str,
        threads: usize,
        allow_remote: bool,
        zoned: bool,
    ) -> PyResult<Self> {
        let expected = || format!("{at} given; expected an IP address and a port");
        let address: SocketAddr = at.parse().map_err(|_| ConfigError::new_err(expected()))?;
        let mut all = Parameters::default();
        let set = parameters.iter().try_for_each(|(key, value)| all.set(key, value));
        set.and_then(|()| all.check()).map_err(ConfigError::new_err)?;
        let options = Options { workers: threads, allow_remote, ..Options::default() };
        py.detach(|| {
            let service = Service::start(all).map_err(RunError::new_err)?;
            let drive = service.drive();
            let target = serve::NvmeTarget::start(drive, identity.into(), address, options, zoned);
            let target = Mutex::new(Some(target.map_err(nvme_error)?));
            Ok(Self { service, target })
        })
    }

    /// Disconnects all hosts, and shuts the drive down unless that has been done.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| {
            drop(self.target.lock().unwrap_or_else(PoisonError::into_inner).take());
            self.service.shut_down();
        });
    }
}
