//! What stands before the flash of a live drive: queues and a write buffer, or SHRD.

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Paced, ShrdDevice, Ssd};
use floatgate_ftl::ftl::{Ftl, Remap};

use super::Flash;
use super::bytes::HostBytes;

/// A simulated drive whose requests have bytes.
pub(super) trait Front: Paced + 'static {
    type Ftl: Ftl<Medium = Flash> + Send;

    fn ssd(&self) -> &Ssd<Self::Ftl, HostBytes>;

    fn ssd_mut(&mut self) -> &mut Ssd<Self::Ftl, HostBytes>;

    /// Whether a page of the host holds something, wherever it is.
    fn holds(&self, lpn: Lpn) -> bool;

    /// Nothing is left of what the host keeps in a log: it shuts down.
    fn empty_log(&mut self) {}
}

impl<F: Ftl<Medium = Flash> + Send + 'static> Front for Ssd<F, HostBytes> {
    type Ftl = F;

    fn ssd(&self) -> &Self {
        self
    }

    fn ssd_mut(&mut self) -> &mut Self {
        self
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.data().holds(lpn) || self.ftl().is_mapped(lpn)
    }
}

impl<F: Remap<Medium = Flash> + Send + 'static> Front for ShrdDevice<F, HostBytes> {
    type Ftl = F;

    fn ssd(&self) -> &Ssd<F, HostBytes> {
        self.drive()
    }

    fn ssd_mut(&mut self) -> &mut Ssd<F, HostBytes> {
        self.drive_mut()
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.host().lookup(lpn).is_some() || self.drive().holds(lpn)
    }

    fn empty_log(&mut self) {
        self.flush_log();
    }
}
