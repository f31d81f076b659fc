//! Digest that distinguishes workloads. It does not resist an adversary.

use floatgate_ftl::request::Request;

/// FNV-1a (Fowler, Noll, Vo) over 64-bit words, folded so that high bits reach low ones too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

impl Digest {
    pub(crate) fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    #[inline]
    pub(crate) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        self.0 ^= self.0 >> 32;
    }

    pub(crate) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.word(u64::from(byte));
        }
        self.word(text.len() as u64);
    }

    pub(super) fn request(&mut self, request: &Request) {
        for word in [request.at_ns, request.op as u64, request.offset, request.length] {
            self.word(word);
        }
        // Requests without a placement handle add no word, so the digest of a workload without
        // handles does not depend on this field.
        if request.stream != 0 {
            self.word(!u64::from(request.stream));
        }
    }

    /// Returns the digest of requests that are repeated `repeat` times.
    pub(super) fn repeated(mut self, repeat: u64) -> u64 {
        self.word(repeat);
        self.value()
    }

    pub(crate) fn value(self) -> u64 {
        self.0
    }
}
