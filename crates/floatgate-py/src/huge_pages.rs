//! Large tables on huge pages, where Linux is asked for them.
//!
//! The map and the owners of a drive of 64 Mi pages are half a gigabyte, accessed at random: on
//! pages of 4 KiB nearly every access misses the processor's translations of addresses, too, and
//! each page is a fault of its own when it is written first. All other memory is the system's.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// What is smaller would gain nothing: two huge pages.
const LARGE: usize = 4 << 20;

/// The system's allocator, which advises huge pages for large tables.
pub struct HugePages;

// SAFETY: every call goes to the system's allocator as it is; advice changes no content.
unsafe impl GlobalAlloc for HugePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        advised(unsafe { System.realloc(pointer, layout, size) }, size)
    }
}

/// The same memory; if it is large, the pages that are in it as a whole may become huge.
#[inline]
fn advised(pointer: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !pointer.is_null() {
        use rustix::mm::{Advice, madvise};
        use rustix::param::page_size;
        let skipped = pointer.align_offset(page_size());
        let pages = (bytes - skipped) / page_size() * page_size();
        // SAFETY: the range is inside of what was allocated. That the advice is not taken, as where
        // a system has no huge pages, is no error.
        let _ = unsafe { madvise(pointer.add(skipped).cast(), pages, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
    pointer
}
