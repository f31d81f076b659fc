//! Large tables on huge pages, if Linux provides them.
//!
//! The map and the owners of a drive of 64 Mi pages take half a gigabyte, with random accesses. On
//! pages of 4 KiB nearly every access also misses the processor's address translations (TLB), and
//! the first write to each page causes a page fault. Smaller allocations are left unchanged.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};

/// Two huge pages. Smaller allocations would gain nothing.
const LARGE: usize = 4 << 20;

/// The system's allocator, with advice to use huge pages for large tables.
pub struct HugePages;

// SAFETY: every call goes unchanged to the system's allocator; advice changes no content.
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

/// Returns the same memory. If it is large, the whole pages inside it may become huge.
#[inline]
fn advised(pointer: *mut u8, bytes: usize) -> *mut u8 {
    #[cfg(target_os = "linux")]
    if bytes >= LARGE && !pointer.is_null() {
        use rustix::mm::{Advice, madvise};
        use rustix::param::page_size;
        let skipped = pointer.align_offset(page_size());
        let pages = (bytes - skipped) / page_size() * page_size();
        // SAFETY: the range is inside the allocation. Ignored advice, as on a system without huge
        // pages, is no error.
        let _ = unsafe { madvise(pointer.add(skipped).cast(), pages, Advice::LinuxHugepage) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = bytes;
    pointer
}
