//! The one place with `unsafe`: asking the processor to load a cache line before it is needed.
//!
//! On a drive larger than the processor's cache the map entry, the owner of the replaced page and
//! its unit are three misses per random write. Asked for some requests ahead they overlap; the
//! benchmark `write_path` shows what that is worth. A prefetch reads nothing and cannot fault, so
//! the pointer need not be valid, but it always is.

#![allow(unsafe_code)]

/// Asks for the cache line of `slice[index]`; does nothing if there is no such element.
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
