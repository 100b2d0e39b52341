//! Numbers in memory: sign or special value, weight, display scale, and base-10000 digits.

use pgerror::{PgError, Result, pg_err};
use smallvec::SmallVec;
use values::datum::{Datum, DatumRef};

pub(crate) const NBASE: i32 = 10_000;
pub(crate) const DEC_DIGITS: i32 = 4;
pub(crate) const MAX_DISPLAY_SCALE: i32 = 1000;
pub(crate) const MIN_SIG_DIGITS: i32 = 16;
/// The largest scale of the long format.
pub(crate) const DSCALE_MAX: i32 = 0x3fff;
pub(super) const WEIGHT_MAX: i32 = i16::MAX as i32;

pub(crate) type Digits = SmallVec<[i16; 16]>;

/// Sign of a finite number, or the special value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sign {
    Pos,
    Neg,
    NaN,
    PosInf,
    NegInf,
}

/// A number in memory. After [`Num::strip`] it has no leading or trailing zero digits; zero has no
/// digits, weight 0 and a positive sign.
#[derive(Clone, Debug)]
pub struct Num {
    pub sign: Sign,
    pub weight: i32,
    pub dscale: i32,
    pub digits: Digits,
}

/// 22003: the number does not fit the format.
#[cold]
pub fn overflow() -> PgError {
    pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "value overflows numeric format")
}

impl Num {
    /// Zero with this display scale.
    pub fn zero(dscale: i32) -> Num {
        Num { sign: Sign::Pos, weight: 0, dscale, digits: Digits::new() }
    }

    /// NaN or an infinity.
    pub fn special(sign: Sign) -> Num {
        Num { sign, ..Num::zero(0) }
    }

    /// The number 1.
    pub fn one() -> Num {
        Num::from(1i64)
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.is_finite() && self.digits.is_empty()
    }

    /// Whether the number is neither NaN nor infinite.
    pub fn is_finite(&self) -> bool {
        matches!(self.sign, Sign::Pos | Sign::Neg)
    }

    /// Whether the number is NaN.
    pub fn is_nan(&self) -> bool {
        self.sign == Sign::NaN
    }

    /// Whether the number is +Infinity or -Infinity.
    pub fn is_infinite(&self) -> bool {
        matches!(self.sign, Sign::PosInf | Sign::NegInf)
    }

    /// -1, 0 or 1, also for infinities; 0 for NaN.
    pub fn signum(&self) -> i32 {
        match self.sign {
            Sign::PosInf => 1,
            Sign::NegInf => -1,
            Sign::NaN => 0,
            _ if self.digits.is_empty() => 0,
            Sign::Pos => 1,
            Sign::Neg => -1,
        }
    }

    /// Whether the number is an integer.
    pub fn is_integral(&self) -> bool {
        self.digits.is_empty() || self.digits.len() as i32 <= self.weight + 1
    }

    /// Removes leading and trailing zero digits, and makes the sign of zero positive.
    pub fn strip(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let lead = self.digits.iter().take_while(|&&d| d == 0).count();
        if lead > 0 {
            self.digits.drain(..lead);
            self.weight -= lead as i32;
        }
        if self.digits.is_empty() && self.is_finite() {
            self.weight = 0;
            self.sign = Sign::Pos;
        }
    }

    /// The number with the opposite sign; zero and NaN unchanged.
    #[must_use]
    pub fn negated(mut self) -> Num {
        self.sign = match self.sign {
            Sign::Pos if !self.digits.is_empty() => Sign::Neg,
            Sign::Neg => Sign::Pos,
            Sign::PosInf => Sign::NegInf,
            Sign::NegInf => Sign::PosInf,
            other => other,
        };
        self
    }

    /// Reads a datum.
    pub fn of(d: DatumRef<'_>) -> Num {
        Num::from_payload(d.as_bytes())
    }

    /// Reads a payload; NaN if it is too short for a header.
    pub fn from_payload(b: &[u8]) -> Num {
        let [low, high, ..] = *b else { return Num::special(Sign::NaN) };
        let header = u16::from_le_bytes([low, high]);
        let (sign, weight, dscale, at) = match header & 0xC000 {
            0xC000 => {
                return Num::special(match header & 0xF000 {
                    0xD000 => Sign::PosInf,
                    0xF000 => Sign::NegInf,
                    _ => Sign::NaN,
                });
            }
            0x8000 => {
                let sign = if header & 0x2000 != 0 { Sign::Neg } else { Sign::Pos };
                let low = i32::from(header & 0x3F);
                let weight = if header & 0x40 != 0 { low - 64 } else { low };
                (sign, weight, i32::from(header >> 7 & 0x3F), 2)
            }
            bits => {
                let sign = if bits == 0x4000 { Sign::Neg } else { Sign::Pos };
                let [_, _, low, high, ..] = *b else { return Num::special(Sign::NaN) };
                let weight = i32::from(i16::from_le_bytes([low, high]));
                (sign, weight, i32::from(header & 0x3FFF), 4)
            }
        };
        let mut digits = Digits::from_elem(0, (b.len() - at) / 2);
        for (digit, bytes) in digits.iter_mut().zip(b[at..].chunks_exact(2)) {
            // A damaged digit is in the range of digits, on which the arithmetic relies.
            *digit = i16::from_le_bytes([bytes[0], bytes[1]]).clamp(0, NBASE as i16 - 1);
        }
        let mut number = Num { sign, weight, dscale, digits };
        // The order of numbers relies on the form without such digits.
        if number.digits.first() == Some(&0) || number.digits.last() == Some(&0) {
            number.strip();
        }
        number
    }

    /// The payload; 22003 if weight or scale do not fit it.
    pub fn to_payload(&self) -> Result<Vec<u8>> {
        let header = match self.sign {
            Sign::NaN => Some(0xC000u16),
            Sign::PosInf => Some(0xD000),
            Sign::NegInf => Some(0xF000),
            _ => None,
        };
        if let Some(header) = header {
            return Ok(header.to_le_bytes().to_vec());
        }
        let lead = self.digits.iter().take_while(|&&d| d == 0).count();
        let digits = &self.digits[lead..];
        let end = digits.iter().rposition(|&d| d != 0).map_or(0, |i| i + 1);
        let digits = &digits[..end];
        let (weight, negative) = if digits.is_empty() {
            (0, false)
        } else {
            (self.weight - lead as i32, self.sign == Sign::Neg)
        };
        let mut out = Vec::with_capacity(4 + 2 * digits.len());
        if (0..=0x3F).contains(&self.dscale) && (-64..=63).contains(&weight) {
            let mut header = 0x8000 | (self.dscale as u16) << 7 | weight as u16 & 0x3F;
            if negative {
                header |= 0x2000;
            }
            if weight < 0 {
                header |= 0x40;
            }
            out.extend_from_slice(&header.to_le_bytes());
        } else {
            if !(-WEIGHT_MAX - 1..=WEIGHT_MAX).contains(&weight)
                || !(0..=DSCALE_MAX).contains(&self.dscale)
            {
                return Err(overflow());
            }
            let header = self.dscale as u16 | if negative { 0x4000 } else { 0 };
            out.extend_from_slice(&header.to_le_bytes());
            out.extend_from_slice(&(weight as i16).to_le_bytes());
        }
        let start = out.len();
        out.resize(start + 2 * digits.len(), 0);
        for (bytes, digit) in out[start..].chunks_exact_mut(2).zip(digits) {
            bytes.copy_from_slice(&digit.to_le_bytes());
        }
        Ok(out)
    }

    /// The number as a datum; 22003 if weight or scale do not fit the format.
    pub fn datum(&self) -> Result<Datum> {
        Ok(Datum::bytes(self.to_payload()?))
    }

    /// The value rounded to an integer, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        if !self.is_finite() {
            return None;
        }
        let mut n = self.clone();
        n.round(0);
        n.strip();
        if n.weight > 10 {
            return None;
        }
        let mut value: i128 = 0;
        for i in 0..=n.weight.max(-1) {
            let digit = n.digits.get(i as usize).copied().unwrap_or(0);
            value = value.checked_mul(NBASE.into())?.checked_add(digit.into())?;
        }
        Some(if n.sign == Sign::Neg { -value } else { value })
    }

    /// The value rounded to an integer, if it fits.
    pub fn to_i64(&self) -> Option<i64> {
        i64::try_from(self.to_i128()?).ok()
    }

    /// The nearest double; infinite if the value is out of range.
    pub fn to_f64(&self) -> f64 {
        match self.exact_f64() {
            Some(v) => v,
            None => self.to_string().parse().unwrap_or(f64::NAN),
        }
    }

    /// The nearest double of an integer below 2^53 multiplied or divided by a power of ten that a
    /// double represents exactly. Such a number needs a single operation, which rounds correctly.
    pub(crate) fn exact_f64(&self) -> Option<f64> {
        const POWERS: [f64; 6] = [1.0, 1e4, 1e8, 1e12, 1e16, 1e20];
        if !self.is_finite() || self.digits.len() > 4 {
            return None;
        }
        let whole = self.digits.iter().fold(0i64, |sum, &d| sum * i64::from(NBASE) + i64::from(d));
        if whole >= 1 << 53 {
            return None;
        }
        let exponent = self.weight + 1 - self.digits.len() as i32;
        let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
        let value = whole as f64;
        let value = if exponent < 0 { value / power } else { value * power };
        Some(if self.sign == Sign::Neg { -value } else { value })
    }
}

impl From<i64> for Num {
    fn from(v: i64) -> Num {
        Num::from(i128::from(v))
    }
}

impl From<i128> for Num {
    fn from(v: i128) -> Num {
        let mut rest = v.unsigned_abs();
        let mut digits = Digits::new();
        while rest > 0 {
            digits.push((rest % 10_000) as i16);
            rest /= 10_000;
        }
        digits.reverse();
        let weight = (digits.len() as i32 - 1).max(0);
        let sign = if v < 0 { Sign::Neg } else { Sign::Pos };
        let mut n = Num { sign, weight, dscale: 0, digits };
        n.strip();
        n
    }
}
