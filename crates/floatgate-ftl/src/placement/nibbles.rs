//! Counters of four bits, sixteen to a word.

use alloc::vec;
use alloc::vec::Vec;

/// Counters in a word.
const PER_WORD: usize = 16;
/// All bits of a word's counters except the highest bit of each.
const LOW_BITS: u64 = 0x7777_7777_7777_7777;

/// A row of counters. Takes half a byte each, rounded up to 8 bytes.
#[derive(Clone, Debug)]
pub(super) struct Nibbles(Vec<u64>);

crate::state!(Nibbles(_));

impl Nibbles {
    /// Largest value of a counter.
    pub const MAX: u8 = 15;

    /// Makes the counters `0..count`, all zero.
    pub fn new(count: usize) -> Self {
        Self(vec![0; count.div_ceil(PER_WORD)])
    }

    /// Returns the value of a counter.
    #[inline(always)]
    pub fn get(&self, at: usize) -> u8 {
        (self.0[at / PER_WORD] >> (at % PER_WORD * 4)) as u8 & Self::MAX
    }

    /// Sets the value of a counter.
    #[inline(always)]
    pub fn set(&mut self, at: usize, value: u8) {
        assert!(value <= Self::MAX, "four bits");
        let shift = at % PER_WORD * 4;
        let word = &mut self.0[at / PER_WORD];
        *word = *word & !(u64::from(Self::MAX) << shift) | u64::from(value) << shift;
    }

    /// Halves every counter, rounding down.
    pub fn halve(&mut self) {
        self.0.iter_mut().for_each(|word| *word = *word >> 1 & LOW_BITS);
    }

    /// Returns the bytes that the counters take.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn behaves_as_bytes_that_end_at_15() {
        let mut rng = Rng::new(1);
        let (mut nibbles, mut model) = (Nibbles::new(48), vec![0u8; 48]);
        for _ in 0..20_000 {
            let at = rng.below(48) as usize;
            match rng.below(8) {
                0 => {
                    nibbles.halve();
                    model.iter_mut().for_each(|value| *value /= 2);
                }
                _ => {
                    let value = rng.below(16) as u8;
                    nibbles.set(at, value);
                    model[at] = value;
                }
            }
            assert!((0..48).all(|at| nibbles.get(at) == model[at]));
        }
        assert_eq!(nibbles.bytes(), 24);
    }
}
