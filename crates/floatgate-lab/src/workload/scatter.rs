//! Places in a random order, without a table.

use floatgate_ftl::rng::Rng;

/// Bijection of 0..n without visible order.
///
/// Additions, multiplications by an odd number, and xors with a number's own high bits are
/// bijections of the k-bit numbers. A result of n or more goes through the bijection again until it
/// is below n (a cycle that began below n returns there). k is the smallest number of bits that
/// hold n - 1, so a rank takes at most two passes on average.
#[derive(Clone)]
pub(crate) struct Scatter {
    n: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); 3],
}

impl Scatter {
    /// Makes a bijection of 0..`n`, where `n` is at least 1.
    pub(crate) fn new(n: u64, first: &mut Rng) -> Self {
        let bits = u64::BITS - (n - 1).leading_zeros();
        let mask = if bits == 0 { 0 } else { u64::MAX >> (u64::BITS - bits) };
        let shift = bits.div_ceil(2).max(1);
        Self { n, mask, shift, rounds: [(); 3].map(|()| (first.bits(), first.bits() | 1)) }
    }

    /// Returns the place of `rank`; both are below n.
    pub(crate) fn place(&self, rank: u64) -> u64 {
        let mut x = rank;
        loop {
            for (add, odd) in self.rounds {
                x = x.wrapping_add(add).wrapping_mul(odd) & self.mask;
                x ^= x >> self.shift;
            }
            if x < self.n {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattering_is_a_bijection() {
        for n in [1u64, 2, 3, 5, 64, 1000, 4097] {
            let scatter = Scatter::new(n, &mut Rng::new(n));
            let mut seen = vec![false; n as usize];
            for rank in 0..n {
                assert!(!std::mem::replace(&mut seen[scatter.place(rank) as usize], true));
            }
        }
    }

    #[test]
    fn popular_places_are_not_neighbours() {
        let scatter = Scatter::new(1 << 20, &mut Rng::new(1));
        let close = (0..1000)
            .filter(|&rank| scatter.place(rank).abs_diff(scatter.place(rank + 1)) < 64)
            .count();
        assert!(close < 5, "{close}");
    }
}
