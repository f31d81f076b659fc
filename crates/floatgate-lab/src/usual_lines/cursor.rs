//! Position in the bytes of some lines.

/// Digits of a number that certainly fits: 10^18 is below 2^60.
const DIGITS_MAX: usize = 18;

/// Digits of a hexadecimal number that certainly fits.
const HEX_DIGITS_MAX: usize = 16;

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

    fn is_at_blank(&self) -> bool {
        matches!(self.next(), Some(b' ' | b'\t'))
    }

    /// Reads a byte that is expected.
    pub fn byte(&mut self, expected: u8) -> Option<()> {
        (self.next() == Some(expected)).then(|| self.at += 1)
    }

    /// Reads blanks and tabs; returns their number.
    pub fn blanks(&mut self) -> usize {
        let begin = self.at;
        while self.is_at_blank() {
            self.at += 1;
        }
        self.at - begin
    }

    /// Reads blanks and tabs, at least one.
    pub fn gap(&mut self) -> Option<()> {
        (self.blanks() > 0).then_some(())
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

    /// Reads a time with a point.
    pub fn fraction(&mut self) -> Option<(i128, usize)> {
        self.time().filter(|&(_, decimals)| decimals > 0)
    }

    /// Reads a time with a point, and another one behind it if there is one.
    pub fn first_time(&mut self) -> Option<(i128, usize)> {
        let first = self.fraction()?;
        let end = self.at;
        let second = self.gap().and_then(|()| self.fraction());
        if second.is_none() || self.next().is_some_and(|byte| byte.is_ascii_graphic()) {
            self.at = end;
        }
        Some(first)
    }

    /// Reads words, at least one, up to a time with a point and a colon behind it. A comment has no
    /// time.
    pub fn stamped_time(&mut self) -> Option<(i128, usize)> {
        let mut time = None;
        (self.next() != Some(b'#')).then_some(())?;
        while time.is_none() {
            self.word(u8::is_ascii_graphic)?;
            self.gap()?;
            let begin = self.at;
            time = self.fraction().filter(|_| self.byte(b':').is_some());
            if time.is_none() {
                self.at = begin;
            }
        }
        time
    }

    /// Reads the name of a block event, perhaps behind its subsystem, and a colon. Returns where
    /// the name begins and ends.
    pub fn event(&mut self) -> Option<(usize, usize)> {
        if self.data[self.at..].starts_with(b"block:") {
            self.at += b"block:".len();
        }
        let from = self.at;
        let name = self.word(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
        (name.starts_with(b"block_") && name.len() > b"block_".len()).then_some(())?;
        let to = self.at;
        self.byte(b':').map(|()| (from, to))
    }

    /// Reads an address, a plus sign and a length. In front of them may stand the bytes of the
    /// request, and parentheses without a command.
    pub fn sectors(&mut self) -> Option<(u64, u64)> {
        let mut first = None;
        if self.next().is_some_and(|byte| byte.is_ascii_digit()) {
            first = Some(self.number_and_gap()?);
        }
        if first.is_none() || self.byte(b'+').is_none() {
            if self.byte(b'(').is_some() {
                self.byte(b')')?;
                self.gap()?;
            }
            first = self.number_and_gap();
            self.byte(b'+')?;
        }
        self.gap()?;
        first.zip(self.number())
    }

    fn number_and_gap(&mut self) -> Option<u64> {
        let number = self.number()?;
        self.gap().map(|()| number)
    }

    /// Reads one to three numbers with a point.
    pub fn fractions(&mut self) -> Option<()> {
        self.fraction()?;
        for _ in 0..2 {
            let end = self.at;
            if self.gap().and_then(|()| self.fraction()).is_none() {
                self.at = end;
                break;
            }
        }
        Some(())
    }

    /// Reads a hexadecimal number of up to 16 digits, behind 0x.
    pub fn hex(&mut self) -> Option<u64> {
        self.byte(b'0')?;
        self.byte(b'x')?;
        let digits = self.word(u8::is_ascii_hexdigit)?;
        let of = |digit: u8| u64::from(char::from(digit).to_digit(16).unwrap_or(0));
        let value = digits.iter().fold(0, |sum, &digit| sum << 4 | of(digit));
        (digits.len() <= HEX_DIGITS_MAX).then_some(value)
    }
}

fn value(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| 10 * sum + u64::from(digit - b'0'))
}
