//! Little-endian fields at byte offsets (Base 2.0, 1.8).

/// A structure that the controller returns: bytes with fields at fixed offsets.
#[derive(Clone, Debug)]
pub struct Record(Vec<u8>);

impl Record {
    /// Returns a structure of `length` bytes, all zero: unsupported bits and reserved bytes are 0.
    pub fn new(length: usize) -> Self {
        Self(vec![0; length])
    }

    /// Sets the bytes from `at` on.
    pub fn bytes(&mut self, at: usize, bytes: &[u8]) -> &mut Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Sets a byte.
    pub fn u8(&mut self, at: usize, value: u8) -> &mut Self {
        self.bytes(at, &[value])
    }

    /// Sets a field of 2 bytes.
    pub fn u16(&mut self, at: usize, value: u16) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    /// Sets a field of 4 bytes.
    pub fn u32(&mut self, at: usize, value: u32) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    /// Sets a field of 8 bytes.
    pub fn u64(&mut self, at: usize, value: u64) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    /// Sets a field of 16 bytes.
    pub fn u128(&mut self, at: usize, value: u128) -> &mut Self {
        self.bytes(at, &value.to_le_bytes())
    }

    /// Sets an ASCII string: left-justified, padded with spaces, cut at `length` bytes.
    pub fn text(&mut self, at: usize, length: usize, text: &str) -> &mut Self {
        let used = text.len().min(length);
        self.bytes(at, &text.as_bytes()[..used]);
        self.0[at + used..at + length].fill(b' ');
        self
    }

    /// Appends another structure.
    pub fn append(&mut self, more: &Self) -> &mut Self {
        self.0.extend_from_slice(&more.0);
        self
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// Returns the `N` bytes at `at`.
fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

/// Returns the field of 2 bytes at `at`.
pub fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

/// Returns the field of 4 bytes at `at`.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

/// Returns the field of 8 bytes at `at`.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// Returns the text up to the first zero byte, if it is UTF-8.
pub fn text_at(bytes: &[u8], at: usize, length: usize) -> Option<&str> {
    let field = &bytes[at..at + length];
    let end = field.iter().position(|byte| *byte == 0).unwrap_or(length);
    std::str::from_utf8(&field[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_little_endian_and_texts_are_padded() {
        let mut record = Record::new(20);
        record.u8(0, 1).u16(1, 0x0302).u32(3, 0x0706_0504).u64(7, 0x0e0d_0c0b_0a09_0807);
        record.text(15, 5, "abc");
        let bytes = record.into_bytes();
        assert_eq!(&bytes[..7], [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(&bytes[7..], b"\x07\x08\x09\x0a\x0b\x0c\x0d\x0eabc  ");
        assert_eq!((u16_at(&bytes, 1), u32_at(&bytes, 3)), (0x0302, 0x0706_0504));
        assert_eq!(u64_at(&bytes, 7), 0x0e0d_0c0b_0a09_0807);
    }

    #[test]
    fn a_text_ends_at_its_first_zero() {
        assert_eq!(text_at(b"xab\0c", 1, 4), Some("ab"));
        assert_eq!(text_at(b"ab", 0, 2), Some("ab"));
        assert_eq!(text_at(b"\xff\0", 0, 2), None);
    }

    #[test]
    fn a_long_text_is_cut() {
        let mut record = Record::new(2);
        record.text(0, 2, "abc");
        assert_eq!(record.into_bytes(), b"ab");
    }
}
