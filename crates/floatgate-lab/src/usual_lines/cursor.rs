//! Position in the bytes of some lines.

/// Digits of a number that certainly fits: 10^18 is below 2^60.
const DIGITS_MAX: usize = 18;

/// Most decimals of a time.
const DECIMALS: usize = 9;

/// Powers of ten, by which a time with fewer decimals is multiplied.
const TENS: [u64; DECIMALS + 1] = {
    let mut tens = [1; DECIMALS + 1];
    let mut at = 1;
    while at <= DECIMALS {
        tens[at] = 10 * tens[at - 1];
        at += 1;
    }
    tens
};

/// Position in the bytes of some lines. No function moves it behind a line feed, except
/// [`Self::line_feed`] and [`Self::skip_line`].
pub(super) struct Cursor<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, at: 0 }
    }

    pub fn at(&self) -> usize {
        self.at
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.data.len()
    }

    fn next(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    /// Reads a byte that is expected.
    pub fn byte(&mut self, expected: u8) -> Option<()> {
        (self.next() == Some(expected)).then(|| self.at += 1)
    }

    /// Reads blanks and tabs; returns their number.
    pub fn blanks(&mut self) -> usize {
        let begin = self.at;
        while matches!(self.next(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        self.at - begin
    }

    /// Reads the end of a line: a line feed, perhaps behind a carriage return, or the end of the
    /// data.
    pub fn line_feed(&mut self) -> Option<()> {
        let _ = self.byte(b'\r');
        if self.is_at_end() { Some(()) } else { self.byte(b'\n') }
    }

    /// Moves to the next line.
    pub fn skip_line(&mut self) {
        let rest = &self.data[self.at..];
        let feed = rest.iter().position(|&byte| byte == b'\n');
        self.at += feed.map_or(rest.len(), |feed| feed + 1);
    }

    /// Reads bytes of a kind, at least one.
    pub fn word(&mut self, is_of: impl Fn(&u8) -> bool) -> Option<&'a [u8]> {
        let rest = &self.data[self.at..];
        let length = rest.iter().position(|byte| !is_of(byte)).unwrap_or(rest.len());
        self.at += length;
        (length > 0).then(|| &rest[..length])
    }

    /// Reads a number of up to 18 digits.
    pub fn number(&mut self) -> Option<u64> {
        let digits = self.word(u8::is_ascii_digit)?;
        (digits.len() <= DIGITS_MAX).then(|| value(digits))
    }

    /// Reads a time of up to nine decimals; returns it in billionths, and its decimals.
    pub fn time(&mut self) -> Option<(i128, usize)> {
        let whole = i128::from(self.number()?) * i128::from(TENS[DECIMALS]);
        if self.byte(b'.').is_none() {
            return Some((whole, 0));
        }
        let digits = self.word(u8::is_ascii_digit)?;
        let missing = DECIMALS.checked_sub(digits.len())?;
        Some((whole + i128::from(value(digits) * TENS[missing]), digits.len()))
    }
}

fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'))
}
