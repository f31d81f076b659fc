//! The host's end of the page register: the source of written data, and the destination of read
//! data.

use crate::addr::Lpn;

/// Source of the data of host writes, and destination of the data of host reads.
pub trait HostData<N> {
    /// Accepts a page that the host has written.
    fn accept(&mut self, lpn: Lpn);

    /// Loads the data that the host last wrote to the page into the medium's register, just before
    /// the page is programmed.
    fn load(&mut self, lpn: Lpn, nand: &mut N);

    /// Takes a page that the host reads. `found` states whether the page has data; if not, it reads
    /// as zeros.
    fn unload(&mut self, lpn: Lpn, found: bool, nand: &N);

    /// Drops a page that the host has trimmed.
    fn forget(&mut self, lpn: Lpn);

    // The following methods only matter to a drive that stores bytes.

    /// Takes a page that the host reads from the write buffer. No flash is read, so nothing is
    /// unloaded.
    #[inline(always)]
    fn recall(&mut self, _: Lpn) {}

    /// Notes that a page leaves a write-through buffer without a program, because the flash already
    /// has it.
    #[inline(always)]
    fn release(&mut self, _: Lpn) {}
}

/// No data: the simulation only follows where pages go and when.
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
