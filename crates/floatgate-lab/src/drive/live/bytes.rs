//! The bytes of a live drive's host: those of the request in hand, and those that wait in its
//! write buffer.

use std::collections::BTreeMap;
use std::ops::Range;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::HostData;
use floatgate_ftl::nand::Nand;

use crate::stored::Stored;

/// What the host has asked for, and what it is answered.
#[derive(Debug)]
pub(super) struct HostBytes {
    page_bytes: usize,
    /// Whether a page stays after it was programmed, as in a write-through buffer.
    keeps: bool,
    /// The first byte of the request in hand.
    offset: u64,
    /// The bytes written, or those of the answer.
    bytes: Vec<u8>,
    is_read: bool,
    failed: bool,
    /// What was accepted, until it is programmed and has left the buffer.
    pages: BTreeMap<u32, Vec<u8>>,
    /// Pages read to be written again: in part by the host, or whole as padding.
    unloaded: BTreeMap<u32, Vec<u8>>,
    /// Pages without a use, so that a write need not ask for memory.
    unused: Vec<Vec<u8>>,
}

impl HostBytes {
    pub fn new(page_bytes: u32, keeps: bool) -> Self {
        Self {
            page_bytes: page_bytes as usize,
            keeps,
            offset: 0,
            bytes: vec![],
            is_read: false,
            failed: false,
            pages: BTreeMap::new(),
            unloaded: BTreeMap::new(),
            unused: vec![],
        }
    }

    /// A read of as many bytes is next.
    pub fn begin_read(&mut self, offset: u64, length: usize) {
        self.begin(offset);
        self.is_read = true;
        self.bytes.resize(length, 0);
    }

    /// A write of these bytes is next.
    pub fn begin_write(&mut self, offset: u64, bytes: &[u8]) {
        self.begin(offset);
        self.bytes.extend_from_slice(bytes);
    }

    /// A request without bytes is next.
    pub fn begin(&mut self, offset: u64) {
        (self.offset, self.is_read, self.failed) = (offset, false, false);
        self.bytes.clear();
        self.unused.extend(std::mem::take(&mut self.unloaded).into_values());
        self.unused.truncate(64);
    }

    /// The answer to the last read.
    pub fn answer(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a page that the last request touched could not be read.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// The bytes that request and page have in common, in the request and in the page.
    fn common(&self, lpn: Lpn) -> (Range<usize>, Range<usize>) {
        let size = self.page_bytes as u64;
        let page = u64::from(lpn.get()) * size;
        let end = (self.offset + self.bytes.len() as u64).min(page + size).max(page);
        let start = self.offset.max(page).min(end);
        let part = |from: u64| (start - from.min(start)) as usize..(end - from.min(end)) as usize;
        (part(self.offset), part(page))
    }

    fn page(&mut self) -> Vec<u8> {
        let mut page = self.unused.pop().unwrap_or_default();
        page.clear();
        page
    }
}

impl HostData<Stored> for HostBytes {
    fn accept(&mut self, lpn: Lpn) {
        let key = lpn.get();
        let known = self.pages.remove(&key).or_else(|| self.unloaded.remove(&key));
        let mut page = known.unwrap_or_else(|| self.page());
        page.resize(self.page_bytes, 0);
        let (from, to) = self.common(lpn);
        page[to].copy_from_slice(&self.bytes[from]);
        self.pages.insert(key, page);
    }

    fn load(&mut self, lpn: Lpn, nand: &mut Stored) {
        let accepted = match self.keeps {
            true => self.pages.get(&lpn.get()).cloned(),
            false => self.pages.remove(&lpn.get()),
        };
        let page = accepted.or_else(|| self.unloaded.remove(&lpn.get()));
        let page = page.expect("only what was written or read is programmed");
        nand.set_register(&page);
        self.unused.push(page);
        self.unused.truncate(64);
    }

    fn unload(&mut self, lpn: Lpn, found: bool, nand: &Stored) {
        let is_lost = found && nand.read_failed();
        self.failed |= is_lost;
        if self.is_read {
            let (to, from) = self.common(lpn);
            match found {
                true => self.bytes[to].copy_from_slice(&nand.register()[from]),
                false => self.bytes[to].fill(0),
            }
            return;
        }
        if !is_lost {
            let mut page = self.page();
            match found {
                true => page.extend_from_slice(nand.register()),
                false => page.resize(self.page_bytes, 0),
            }
            self.unloaded.insert(lpn.get(), page);
        }
    }

    fn forget(&mut self, lpn: Lpn) {
        self.pages.remove(&lpn.get());
    }

    fn recall(&mut self, lpn: Lpn) {
        let (to, from) = self.common(lpn);
        let page = self.pages.get(&lpn.get()).expect("what is buffered was accepted");
        self.bytes[to].copy_from_slice(&page[from]);
    }

    fn release(&mut self, lpn: Lpn) {
        self.pages.remove(&lpn.get());
    }
}
