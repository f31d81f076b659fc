//! Hash functions of `mbf` and `mhf`: pairs of cyclic redundancy checks (CRCs) of a page's number.
//!
//! The ETI paper compares three pairs without naming them, so these pairs are our choice
//! (docs/algorithms.md, 3.3). The input of a CRC is the page's number as eight bytes, the lowest
//! first. For inputs of one length, a CRC is the XOR of one value per byte and a constant. Tables
//! hold these values; the compiler computes them.

use crate::addr::Lpn;

crate::choice! {
    /// Two hash functions: CRCs of a page's number, each taken modulo the number of slots.
    pub enum Hashes {
        /// CRC-32 and CRC-32C.
        Crc32 = "crc32",
        /// The low and the high half of CRC-32: at most 65536 slots are used.
        Crc32Halves = "crc32_halves",
        /// CRC-16/CCITT-FALSE and CRC-16/ARC: at most 65536 slots are used.
        Crc16 = "crc16",
    }
}

/// Computes the two slots of a page in a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hasher {
    hashes: Hashes,
    slots: u32,
    /// `slots - 1`, if the number of slots is a power of two.
    mask: Option<u32>,
}

impl Hasher {
    /// Makes a hasher for a table of this many slots, at least 1.
    pub fn new(hashes: Hashes, slots: u32) -> Self {
        assert!(slots > 0, "a table has slots");
        Self { hashes, slots, mask: slots.is_power_of_two().then_some(slots - 1) }
    }

    /// Returns the two slots of a page, which may be equal.
    #[inline(always)]
    pub fn slots(&self, lpn: Lpn) -> [usize; 2] {
        let lpn = lpn.get();
        let pair = match self.hashes {
            Hashes::Crc32 => [CRC_32.checksum(lpn), CRC_32C.checksum(lpn)],
            Hashes::Crc32Halves => {
                let checksum = CRC_32.checksum(lpn);
                [checksum & 0xFFFF, checksum >> 16]
            }
            Hashes::Crc16 => [CRC_16_CCITT.checksum(lpn), CRC_16_ARC.checksum(lpn)],
        };
        pair.map(|checksum| match self.mask {
            Some(mask) => (checksum & mask) as usize,
            None => (checksum % self.slots) as usize,
        })
    }
}

/// Parameters of a CRC, as CRC catalogues list them.
#[derive(Clone, Copy)]
struct Crc {
    width: u32,
    polynomial: u32,
    initial: u32,
    /// Whether the bits of a byte enter lowest first.
    reflected: bool,
    xor_out: u32,
}

impl Crc {
    const fn checksum(&self, bytes: &[u8]) -> u32 {
        let mut register = self.initial;
        let mut at = 0;
        while at < bytes.len() {
            register = self.add_byte(register, bytes[at]);
            at += 1;
        }
        register ^ self.xor_out
    }

    const fn add_byte(&self, mut register: u32, byte: u8) -> u32 {
        let reversed = self.polynomial.reverse_bits() >> (32 - self.width);
        register ^= if self.reflected { byte as u32 } else { (byte as u32) << (self.width - 8) };
        let mut bit = 0;
        while bit < 8 {
            register = if self.reflected {
                (register >> 1) ^ if register & 1 != 0 { reversed } else { 0 }
            } else {
                let out = (register >> (self.width - 1)) & 1 != 0;
                (register << 1) & mask(self.width) ^ if out { self.polynomial } else { 0 }
            };
            bit += 1;
        }
        register
    }
}

const fn mask(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

const CRC_32_MODEL: Crc = Crc {
    width: 32,
    polynomial: 0x04C1_1DB7,
    initial: 0xFFFF_FFFF,
    reflected: true,
    xor_out: 0xFFFF_FFFF,
};
const CRC_32C_MODEL: Crc = Crc { polynomial: 0x1EDC_6F41, ..CRC_32_MODEL };
const CRC_16_CCITT_MODEL: Crc =
    Crc { width: 16, polynomial: 0x1021, initial: 0xFFFF, reflected: false, xor_out: 0 };
const CRC_16_ARC_MODEL: Crc =
    Crc { width: 16, polynomial: 0x8005, initial: 0, reflected: true, xor_out: 0 };

static CRC_32: PageCrc = PageCrc::new(CRC_32_MODEL);
static CRC_32C: PageCrc = PageCrc::new(CRC_32C_MODEL);
static CRC_16_CCITT: PageCrc = PageCrc::new(CRC_16_CCITT_MODEL);
static CRC_16_ARC: PageCrc = PageCrc::new(CRC_16_ARC_MODEL);

/// Tables for one CRC of a page's number: for each of the four low bytes, the value to XOR for
/// each byte value. The four high bytes are zero.
struct PageCrc([[u32; 256]; 4]);

impl PageCrc {
    const fn new(crc: Crc) -> Self {
        let crc_of_zero = crc.checksum(&[0; 8]);
        let mut tables = [[0; 256]; 4];
        let mut byte = 0;
        while byte < 4 {
            let mut value = 0;
            while value < 256 {
                let mut number = [0; 8];
                number[byte] = value as u8;
                // Every checksum includes the CRC of zero. It has to enter the sum once, so the
                // other three tables take it out.
                let taken_out = if byte == 0 { 0 } else { crc_of_zero };
                tables[byte][value] = crc.checksum(&number) ^ taken_out;
                value += 1;
            }
            byte += 1;
        }
        Self(tables)
    }

    #[inline(always)]
    fn checksum(&self, number: u32) -> u32 {
        let [a, b, c, d] = number.to_le_bytes().map(usize::from);
        self.0[0][a] ^ self.0[1][b] ^ self.0[2][c] ^ self.0[3][d]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addr::PAGE_MAX;
    use crate::rng::Rng;

    const ALL: [(Crc, &PageCrc, u32); 4] = [
        (CRC_32_MODEL, &CRC_32, 0xCBF4_3926),
        (CRC_32C_MODEL, &CRC_32C, 0xE306_9283),
        (CRC_16_CCITT_MODEL, &CRC_16_CCITT, 0x29B1),
        (CRC_16_ARC_MODEL, &CRC_16_ARC, 0xBB3D),
    ];

    #[test]
    fn the_check_values_of_the_catalogues() {
        for (model, _, expected) in ALL {
            assert_eq!(model.checksum(b"123456789"), expected);
        }
    }

    #[test]
    fn the_tables_are_the_check_of_eight_bytes() {
        let mut rng = Rng::new(1);
        let random = (0..10_000).map(|_| rng.below(1 << 32) as u32);
        for number in [0, 1, 255, 256, PAGE_MAX, u32::MAX].into_iter().chain(random) {
            for (model, tables, _) in ALL {
                let bytes = u64::from(number).to_le_bytes();
                assert_eq!(tables.checksum(number), model.checksum(&bytes));
            }
        }
    }

    #[test]
    fn slots_are_the_remainder_of_the_check() {
        for slots in [1, 2, 1000, 2048, 65_536] {
            for lpn in (0..100_000).step_by(77) {
                let bytes = u64::from(lpn).to_le_bytes();
                let [a, b, c, d] = ALL.map(|(model, ..)| model.checksum(&bytes));
                let check = |hashes, pair: [u32; 2]| {
                    let expected = pair.map(|check| (check % slots) as usize);
                    assert_eq!(Hasher::new(hashes, slots).slots(Lpn::new(lpn)), expected);
                };
                check(Hashes::Crc32, [a, b]);
                check(Hashes::Crc32Halves, [a & 0xFFFF, a >> 16]);
                check(Hashes::Crc16, [c, d]);
            }
        }
        // With 2048 slots, the slots are the low 11 bits of each half.
        let check = CRC_32_MODEL.checksum(&77u64.to_le_bytes());
        let slots = Hasher::new(Hashes::Crc32Halves, 2048).slots(Lpn::new(77));
        assert_eq!(slots, [check & 0x7FF, check >> 16 & 0x7FF].map(|slot| slot as usize));
    }
}
