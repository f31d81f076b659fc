//! Prefetch hints to the processor for a cache line: the only `unsafe` module of the crate.
//!
//! On a drive larger than the processor's cache, a random write has three cache misses: the map
//! entry, the owner of the replaced page, and its unit. If they are prefetched a few requests
//! ahead, the misses overlap. The benchmark `write_path` shows the gain. A prefetch reads nothing
//! and cannot fault, so the pointer need not be valid, but it always is.

#![allow(unsafe_code)]

/// Prefetches the cache line of `slice[index]`. Does nothing if there is no such element.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the pointer comes from a reference, and prefetching has no effect on memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(element).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
