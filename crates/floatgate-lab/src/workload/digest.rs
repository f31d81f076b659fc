//! A digest to tell workloads apart; not against an adversary.

/// FNV-1a (Fowler, Noll, Vo) over 64-bit words, folded so that high bits reach low ones too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) fn new() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }

    #[inline]
    pub(super) fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        self.0 ^= self.0 >> 32;
    }

    pub(super) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.word(u64::from(byte));
        }
        self.word(text.len() as u64);
    }

    pub(super) fn value(self) -> u64 {
        self.0
    }
}
