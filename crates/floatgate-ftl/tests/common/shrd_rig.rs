//! Drives behind SHRD, in a separate module because they double the compiled code.

use std::convert::Infallible;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::{Device, Dispatching, HostData, ShrdDevice, Ssd};
use floatgate_ftl::ftl::Ftl;
use floatgate_ftl::host::{Shrd, ShrdConfig};
use floatgate_ftl::mapping::*;
use floatgate_ftl::nand::{Nand, Shadow};
use floatgate_ftl::page_ftl::PageFtl;
use floatgate_ftl::queue::Queue;

use super::log::Log;
use super::{Probe, Rig};

impl Rig {
    /// Returns a host layer that is small enough for the drives of the tests.
    pub fn host(&self) -> (Shrd, Dispatching) {
        let log2_page = self.shape.page_bytes.trailing_zeros();
        let mut config = ShrdConfig {
            threshold: 2 << log2_page,
            twrite_pages: 8,
            contiguous: 4,
            remap_entries: 5,
            ..ShrdConfig::new(log2_page, self.shape.logical_pages, self.log)
        };
        let mut dispatching = Dispatching { commands: 3, ..Dispatching::default() };
        (self.tune_host)(&mut config, &mut dispatching);
        (Shrd::new(config), dispatching)
    }

    /// Builds a drive behind SHRD that checks everything, and returns the log of its operations.
    pub fn build_behind_shrd(&self) -> (Box<dyn Probe>, Log) {
        let (nand, log) = self.medium();
        let data = Shadow::new(self.shape.logical_pages);
        (Box::new(self.behind_shrd(nand, data, true)), log)
    }

    /// Builds a drive on any medium behind SHRD.
    pub fn behind_shrd<N, D>(
        &self,
        nand: N,
        data: D,
        verify: bool,
    ) -> ShrdDevice<PageFtl<N, Boxed>, D>
    where
        N: Nand<Error = Infallible>,
        D: HostData<N>,
    {
        let config = self.page_config(verify);
        let Ok(ftl) = PageFtl::with_log(nand, self.mapping(), config, self.log);
        self.before(ftl, data)
    }

    /// Puts SHRD in front of a drive.
    pub fn before<N, M, D>(&self, ftl: PageFtl<N, M>, data: D) -> ShrdDevice<PageFtl<N, M>, D>
    where
        N: Nand<Error = Infallible>,
        M: Mapping,
        D: HostData<N>,
    {
        let queue = Queue::new(self.depth, self.arrivals);
        let (host, dispatching) = self.host();
        let ssd = Ssd::new(ftl, data, queue, &self.geometry()).with_link(self.front.link);
        ShrdDevice::new(ssd, host, dispatching)
    }
}

impl<N, M, D> Probe for ShrdDevice<PageFtl<N, M>, D>
where
    N: Nand<Error = Infallible> + Send,
    M: Mapping + Send,
    D: HostData<N> + Send,
    Self: Device,
{
    fn mapped(&self, pages: u32) -> Vec<bool> {
        let logged = |lpn| self.host().lookup(lpn).is_some();
        let lpns = (0..pages).map(Lpn::new);
        lpns.map(|lpn| logged(lpn) || self.drive().ftl().is_mapped(lpn)).collect()
    }

    fn residency(&self, lpn: u32) -> Residency {
        self.drive().ftl().mapping().residency(Lpn::new(lpn))
    }

    fn device(&mut self) -> &mut dyn Device {
        self
    }
}
