//! The host's end of the page register: where what is written comes from, and where what is read
//! goes.

use crate::addr::Lpn;

/// Where the data of host writes comes from, and where that of reads goes.
pub trait HostData<N> {
    /// The host has written a page.
    fn accept(&mut self, lpn: Lpn);

    /// A page is about to be programmed: what the host wrote last goes to the medium's register.
    fn load(&mut self, lpn: Lpn, nand: &mut N);

    /// The host has read a page; `found` is whether there was one (if not, it reads as zeros).
    fn unload(&mut self, lpn: Lpn, found: bool, nand: &N);

    /// The host has trimmed a page.
    fn forget(&mut self, lpn: Lpn);

    // What follows only matters to a drive that stores bytes.

    /// The host has read a page that is in the write buffer: no flash is read, so nothing is
    /// unloaded.
    #[inline(always)]
    fn recall(&mut self, _: Lpn) {}

    /// A page leaves a write-through buffer without being programmed: it has been.
    #[inline(always)]
    fn release(&mut self, _: Lpn) {}
}

/// No data: what is simulated is where pages go and when.
impl<N> HostData<N> for () {
    #[inline(always)]
    fn accept(&mut self, _: Lpn) {}

    #[inline(always)]
    fn load(&mut self, _: Lpn, _: &mut N) {}

    #[inline(always)]
    fn unload(&mut self, _: Lpn, _: bool, _: &N) {}

    #[inline(always)]
    fn forget(&mut self, _: Lpn) {}
}
