//! Bytes of a live drive's host: those that belong to the current requests, and those that wait in
//! the write buffer.

use std::collections::BTreeMap;
use std::mem;
use std::ops::Range;

use floatgate_ftl::addr::Lpn;
use floatgate_ftl::device::HostData;
use floatgate_ftl::nand::Nand;

use super::Flash;
use super::answer::{Answer, AnswerPart};
use crate::stored::Located;

/// Maximum number of unused page buffers to keep.
const UNUSED_MAX: usize = 64;

/// Data of the host's current requests, and the answer to a read.
#[derive(Debug)]
pub(super) struct HostBytes {
    page_bytes: usize,
    /// Whether a page stays in memory after it is programmed, as in a write-through buffer.
    keeps: bool,
    /// Current requests in order: the first byte, and the bytes to write, which are empty for a
    /// read.
    asked: Vec<(u64, Vec<u8>)>,
    /// Index of the request whose pages come next.
    at: usize,
    /// Length of the current request if it is a read.
    read: Option<u64>,
    answer: Answer,
    failed: bool,
    /// Accepted pages, until they are programmed and have left the buffer.
    pages: BTreeMap<u32, Vec<u8>>,
    /// Pages that the drive reads in order to write them again: because the host writes them in
    /// part, or as padding.
    unloaded: BTreeMap<u32, Vec<u8>>,
    /// Unused page buffers, so that a write need not allocate memory.
    unused: Vec<Vec<u8>>,
}

impl HostBytes {
    pub fn new(page_bytes: u32, keeps: bool) -> Self {
        Self {
            page_bytes: page_bytes as usize,
            keeps,
            asked: vec![],
            at: 0,
            read: None,
            answer: Answer::default(),
            failed: false,
            pages: BTreeMap::new(),
            unloaded: BTreeMap::new(),
            unused: vec![],
        }
    }

    /// Returns whether no client has sent a request yet. Until then, writes that age the drive
    /// store zeros.
    fn writes_zeros(&self) -> bool {
        self.asked.is_empty()
    }

    pub fn begin_read(&mut self, offset: u64, length: u64) {
        self.begin(vec![(offset, vec![])]);
        self.read = Some(length);
    }

    /// Prepares for requests that write these bytes, each from its offset on.
    pub fn begin(&mut self, asked: Vec<(u64, Vec<u8>)>) {
        (self.asked, self.at, self.read, self.failed) = (asked, 0, None, false);
        self.answer = Answer::default();
        self.unused.extend(mem::take(&mut self.unloaded).into_values());
        self.unused.truncate(UNUSED_MAX);
    }

    /// Takes the answer to the last read. `saved` has the pages whose unit was erased in the course
    /// of the read. Bytes that no part covers are zeros.
    pub fn take_answer(&mut self, saved: Vec<(Located, Vec<u8>)>) -> Answer {
        Answer { saved, ..mem::take(&mut self.answer) }
    }

    /// Returns whether a page that the last requests touched could not be read.
    pub fn failed(&self) -> bool {
        self.failed
    }

    /// Returns whether a page waits to be programmed.
    pub fn holds(&self, lpn: Lpn) -> bool {
        self.pages.contains_key(&lpn.get())
    }

    /// Returns the bytes that the current request and a page have in common: their range in the
    /// request, and their range in the page.
    fn common(&self, lpn: Lpn) -> (Range<usize>, Range<usize>) {
        let Some((offset, bytes)) = self.asked.get(self.at) else { return (0..0, 0..0) };
        let (offset, length) = (*offset, self.read.unwrap_or(bytes.len() as u64));
        let size = self.page_bytes as u64;
        let page = u64::from(lpn.get()) * size;
        let end = (offset + length).min(page + size).max(page);
        let start = offset.max(page).min(end);
        let part = |from: u64| (start - from.min(start)) as usize..(end - from.min(end)) as usize;
        (part(offset), part(page))
    }

    fn page(&mut self) -> Vec<u8> {
        let mut page = self.unused.pop().unwrap_or_default();
        page.clear();
        page
    }

    fn put_back(&mut self, page: Vec<u8>) {
        if self.unused.len() < UNUSED_MAX {
            self.unused.push(page);
        }
    }
}

impl HostData<Flash> for HostBytes {
    /// The pages of several requests come in the order of the requests.
    fn accept(&mut self, lpn: Lpn) {
        let key = lpn.get();
        let known = self.pages.remove(&key).or_else(|| self.unloaded.remove(&key));
        let mut page = known.unwrap_or_else(|| self.page());
        page.resize(self.page_bytes, 0);
        let (from, to) = self.common(lpn);
        let mut is_last = false;
        if let Some((_, bytes)) = self.asked.get(self.at) {
            is_last = from.end == bytes.len();
            page[to].copy_from_slice(&bytes[from]);
        }
        self.pages.insert(key, page);
        if is_last && self.at + 1 < self.asked.len() {
            self.at += 1;
        }
    }

    fn load(&mut self, lpn: Lpn, nand: &mut Flash) {
        let accepted = match self.keeps {
            true => self.pages.get(&lpn.get()).cloned(),
            false => self.pages.remove(&lpn.get()),
        };
        let page = accepted.or_else(|| self.unloaded.remove(&lpn.get()));
        let page = match self.writes_zeros() {
            true => page.unwrap_or_default(),
            false => page.expect("only what was written or read is programmed"),
        };
        nand.inner_mut().set_register(&page);
        self.put_back(page);
    }

    fn unload(&mut self, lpn: Lpn, found: bool, nand: &Flash) {
        if self.writes_zeros() {
            return;
        }
        let stored = nand.inner();
        let is_lost = found && nand.read_failed();
        self.failed |= is_lost;
        if self.read.is_some() {
            let (to, from) = self.common(lpn);
            if found && !is_lost {
                self.answer.parts.push(match stored.located() {
                    Some(located) => AnswerPart::Located { to, from, located },
                    None => AnswerPart::Bytes { to, bytes: stored.register()[from].to_vec() },
                });
            }
            return;
        }
        if !is_lost {
            let mut page = self.page();
            match found {
                true => page.extend_from_slice(stored.register()),
                false => page.resize(self.page_bytes, 0),
            }
            self.unloaded.insert(lpn.get(), page);
        }
    }

    fn forget(&mut self, lpn: Lpn) {
        self.pages.remove(&lpn.get());
    }

    fn recall(&mut self, lpn: Lpn) {
        if self.writes_zeros() {
            return;
        }
        let (to, from) = self.common(lpn);
        let page = self.pages.get(&lpn.get()).expect("what is buffered was accepted");
        self.answer.parts.push(AnswerPart::Bytes { to, bytes: page[from].to_vec() });
    }

    fn release(&mut self, lpn: Lpn) {
        self.pages.remove(&lpn.get());
    }
}
