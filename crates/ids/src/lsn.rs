//! Positions in the write-ahead log. Counterpart: access/xlogdefs.h.

use std::fmt;
use std::ops::{Add, Sub};

/// Byte position in the write-ahead log; 0 is "none". Printed as `hi/lo` in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lsn(pub u64);

impl Lsn {
    pub const INVALID: Lsn = Lsn(0);
    pub const MAX: Lsn = Lsn(u64::MAX);

    pub const fn is_valid(self) -> bool {
        self.0 != 0
    }

    /// Parses `hi/lo`; `None` if the text has another form.
    pub fn parse(text: &str) -> Option<Lsn> {
        let (hi, lo) = text.split_once('/')?;
        let half = |s: &str| {
            let good = !s.is_empty() && s.len() <= 8 && s.bytes().all(|b| b.is_ascii_hexdigit());
            if good { u32::from_str_radix(s, 16).ok() } else { None }
        };
        Some(Lsn(u64::from(half(hi)?) << 32 | u64::from(half(lo)?)))
    }
}

impl Add<u64> for Lsn {
    type Output = Lsn;
    fn add(self, bytes: u64) -> Lsn {
        Lsn(self.0 + bytes)
    }
}

impl Sub<Lsn> for Lsn {
    type Output = u64;
    fn sub(self, other: Lsn) -> u64 {
        self.0 - other.0
    }
}

impl fmt::Display for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:X}/{:X}", self.0 >> 32, self.0 as u32)
    }
}

impl fmt::Debug for Lsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        assert_eq!(Lsn::parse("1/2000028"), Some(Lsn(0x1_0200_0028)));
        assert_eq!(Lsn(0x1_0200_0028).to_string(), "1/2000028");
        for bad in ["", "/", "1/", "/1", "g/1", "1/123456789", "+1/1", "1/2/3"] {
            assert_eq!(Lsn::parse(bad), None, "{bad}");
        }
    }
}
