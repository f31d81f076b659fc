//! The layers in front of the flash of a live drive: queues and a write buffer, or SHRD.

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Paced, ShrdDevice, Ssd};
use floatgate_ftl::ftl::{Ftl, Remap};

use super::Flash;
use super::bytes::HostBytes;

/// A simulated drive that stores the bytes of its requests.
pub(super) trait Front: Paced + 'static {
    type Ftl: Ftl<Medium = Flash> + Send;

    fn ssd(&self) -> &Ssd<Self::Ftl, HostBytes>;

    fn ssd_mut(&mut self) -> &mut Ssd<Self::Ftl, HostBytes>;

    /// Returns whether a host page holds data, in a buffer, in a host log or on flash.
    fn holds(&self, lpn: Lpn) -> bool;

    /// Empties the host's log, if it keeps one, for a shutdown.
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
