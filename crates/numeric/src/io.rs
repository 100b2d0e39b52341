//! Text and binary formats, typmods, and conversion from floats. Counterpart: numeric.c.

use super::num::{DEC_DIGITS, DSCALE_MAX, Digits, NBASE, Num, Sign, WEIGHT_MAX, overflow};
use super::small;
use pgerror::{Result, pg_err};
use std::fmt;
use values::array::payload::cstring_integers;
use values::datum::Datum;
use values::type_io::{Reader, bad_syntax, is_space, trim_space};

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text_of(self, self.dscale))
    }
}

/// Passes the text of a payload to `f`.
pub fn with_text<T>(payload: &[u8], f: impl FnOnce(&[u8]) -> T) -> T {
    match small::text(payload) {
        Some(text) => f(text.as_bytes()),
        None => f(long_text(payload).as_bytes()),
    }
}

pub(super) fn long_text(payload: &[u8]) -> String {
    Num::from_payload(payload).to_string()
}

/// The decimal text; the number must not have more than `dscale` decimals.
pub fn text_of(n: &Num, dscale: i32) -> String {
    match n.sign {
        Sign::NaN => return "NaN".into(),
        Sign::PosInf => return "Infinity".into(),
        Sign::NegInf => return "-Infinity".into(),
        _ => {}
    }
    let whole = ((n.weight + 1).max(1) * DEC_DIGITS) as usize;
    let mut out = Vec::with_capacity(whole + dscale as usize + 6);
    if n.sign == Sign::Neg {
        out.push(b'-');
    }
    let digit = |w: i32| {
        let i = n.weight - w;
        if i < 0 { 0 } else { n.digits.get(i as usize).copied().unwrap_or(0) as u16 }
    };
    let push4 = |out: &mut Vec<u8>, d: u16| {
        for unit in [1000, 100, 10, 1] {
            out.push(b'0' + (d / unit % 10) as u8);
        }
    };
    if n.weight < 0 {
        out.push(b'0');
    } else {
        let start = out.len();
        for w in (0..=n.weight).rev() {
            push4(&mut out, digit(w));
        }
        let zeros = out[start..].iter().take_while(|&&c| c == b'0').count();
        let drop = zeros.min(out.len() - start - 1);
        out.drain(start..start + drop);
    }
    if dscale > 0 {
        out.push(b'.');
        let end = out.len() + dscale as usize;
        let mut w = -1;
        while out.len() < end {
            push4(&mut out, digit(w));
            w -= 1;
        }
        out.truncate(end);
    }
    String::from_utf8(out).expect("ASCII digits")
}

/// Parses a finite number at the start of `text`; returns it and the rest. `None` if there is none.
/// The number is 22003 if it is too large; with an exponent that is too large there is no rest.
pub(crate) fn parse_finite(text: &[u8]) -> Option<(Result<Num>, &[u8])> {
    let (negative, mut body) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut decimals: Vec<u8> = Vec::with_capacity(body.len() + 8);
    let mut dweight: i64 = -1;
    let mut dscale: i64 = 0;
    let mut point = false;
    while let Some(&c) = body.first() {
        if c.is_ascii_digit() {
            decimals.push(c - b'0');
            if point {
                dscale += 1;
            } else {
                dweight += 1;
            }
        } else if c == b'.' && !point {
            point = true;
        } else {
            break;
        }
        body = &body[1..];
    }
    if decimals.is_empty() {
        return None;
    }
    if let [b'e' | b'E', tail @ ..] = body {
        let (minus, digits) = match tail {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let count = digits.iter().take_while(|c| c.is_ascii_digit()).count();
        if count == 0 {
            return None;
        }
        let exponent: i64 = digits[..count]
            .iter()
            .fold(0i64, |v, c| v.saturating_mul(10).saturating_add(i64::from(c - b'0')));
        if exponent >= i64::from(i32::MAX / 2) {
            return Some((Err(overflow()), &[]));
        }
        let exponent = if minus { -exponent } else { exponent };
        dweight += exponent;
        dscale = (dscale - exponent).max(0);
        body = &digits[count..];
    }
    // Groups of four decimal digits around the point are base-10000 digits.
    let weight = (dweight + 1).div_euclid(4) - i64::from((dweight + 1).rem_euclid(4) == 0);
    let offset = (weight + 1) * 4 - (dweight + 1);
    let total = offset as usize + decimals.len();
    let mut digits = Digits::with_capacity(total.div_ceil(4));
    let mut group = 0i16;
    for i in 0..total.div_ceil(4) * 4 {
        let d = i.checked_sub(offset as usize).and_then(|i| decimals.get(i)).copied().unwrap_or(0);
        group = group * 10 + i16::from(d);
        if i % 4 == 3 {
            digits.push(group);
            group = 0;
        }
    }
    let sign = if negative { Sign::Neg } else { Sign::Pos };
    let lead = digits.iter().take_while(|&&d| d == 0).count() as i64;
    let all_zero = lead as usize == digits.len();
    if !all_zero && weight - lead > i64::from(WEIGHT_MAX) || dscale > i64::from(i32::MAX) {
        return Some((Err(overflow()), body));
    }
    let mut n = Num { sign, weight: weight as i32, dscale: dscale as i32, digits };
    if all_zero {
        n.weight = 0;
    }
    n.strip();
    Some((Ok(n), body))
}

/// Parses a numeric by the rules of its input function.
pub fn parse(text: &[u8]) -> Result<Num> {
    let bad = || bad_syntax("numeric", text);
    let start = text.iter().position(|&c| !is_space(c)).unwrap_or(text.len());
    let body = &text[start..];
    let words: [(&[u8], Sign); 7] = [
        (b"nan", Sign::NaN),
        (b"infinity", Sign::PosInf),
        (b"+infinity", Sign::PosInf),
        (b"-infinity", Sign::NegInf),
        (b"inf", Sign::PosInf),
        (b"+inf", Sign::PosInf),
        (b"-inf", Sign::NegInf),
    ];
    if let Some((n, rest)) = parse_finite(body) {
        return if trim_space(rest).is_empty() { n } else { Err(bad()) };
    }
    let word = trim_space(body);
    words
        .iter()
        .find(|(w, _)| word.eq_ignore_ascii_case(w))
        .map(|(_, sign)| Num::special(*sign))
        .ok_or_else(bad)
}

/// Converts a float8 with 15 significant digits.
pub fn from_float8(v: f64) -> Num {
    from_float(v, 15)
}

pub(crate) fn from_float(v: f64, digits: usize) -> Num {
    if v.is_nan() {
        return Num::special(Sign::NaN);
    }
    if v.is_infinite() {
        return Num::special(if v > 0.0 { Sign::PosInf } else { Sign::NegInf });
    }
    parse(values::float::format_g(v, digits).as_bytes()).expect("a float's text is a number")
}

/// Precision and scale of a typmod.
pub fn typmod_parts(typmod: i32) -> (i32, i32) {
    let t = typmod.wrapping_sub(4);
    (t >> 16 & 0xffff, (t & 0x7ff ^ 1024) - 1024)
}

impl Num {
    /// Rounds to the typmod's scale; 22003 if the value exceeds the precision.
    pub fn apply_typmod(&mut self, typmod: i32) -> Result<()> {
        if typmod < 4 {
            return Ok(());
        }
        let (precision, scale) = typmod_parts(typmod);
        if self.is_nan() {
            return Ok(());
        }
        let overflow = || pg_err!(NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow");
        if self.is_infinite() {
            return Err(overflow().detail(format!(
                "A field with precision {precision}, scale {scale} cannot hold an infinite value."
            )));
        }
        self.round(scale);
        self.strip();
        self.dscale = self.dscale.max(0);
        let max_digits = precision - scale;
        let Some(&first) = self.digits.first() else { return Ok(()) };
        let have = (self.weight + 1) * DEC_DIGITS
            - match first {
                0..10 => 3,
                10..100 => 2,
                100..1000 => 1,
                _ => 0,
            };
        if have > max_digits {
            let limit = if max_digits == 0 { "1".into() } else { format!("10^{max_digits}") };
            return Err(overflow().detail(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value \
                 less than {limit}."
            )));
        }
        Ok(())
    }
}

fn typmod_of(mods: &[i32]) -> Result<i32> {
    let (precision, scale) = match *mods {
        [p] => (p, 0),
        [p, s] => (p, s),
        _ => return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid NUMERIC type modifier")),
    };
    if !(1..=1000).contains(&precision) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "NUMERIC precision {precision} must be between 1 and 1000"
        ));
    }
    if !(-1000..=1000).contains(&scale) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "NUMERIC scale {scale} must be between -1000 and 1000"
        ));
    }
    Ok((precision << 16 | scale & 0x7ff) + 4)
}

fn receive(bytes: &[u8], typmod: i32) -> Result<Datum> {
    let mut r = Reader::new(bytes);
    let count = r.i16()? as u16;
    let weight = r.i16()?;
    let sign = r.i16()? as u16;
    let bad = |what: &str| {
        pg_err!(INVALID_BINARY_REPRESENTATION, "invalid {what} in external \"numeric\" value")
    };
    let sign = match sign {
        0 => Sign::Pos,
        0x4000 => Sign::Neg,
        0xC000 => Sign::NaN,
        0xD000 => Sign::PosInf,
        0xF000 => Sign::NegInf,
        _ => return Err(bad("sign")),
    };
    let dscale = r.i16()? as u16;
    if i32::from(dscale) > DSCALE_MAX {
        return Err(bad("scale"));
    }
    let mut digits = Digits::with_capacity(count.into());
    for _ in 0..count {
        let d = r.i16()?;
        if !(0..NBASE as i16).contains(&d) {
            return Err(bad("digit"));
        }
        digits.push(d);
    }
    let mut n = Num { sign, weight: weight.into(), dscale: dscale.into(), digits };
    if n.is_finite() {
        // Digits beyond the scale are truncated.
        n.truncate(dscale.into());
        n.strip();
    } else {
        n = Num::special(sign);
    }
    n.apply_typmod(typmod)?;
    let value = n.datum()?;
    r.end()?;
    Ok(value)
}

fn send(n: &Num) -> Vec<u8> {
    let (sign, weight, dscale) = match n.sign {
        Sign::Pos => (0u16, n.weight, n.dscale),
        Sign::Neg => (0x4000, n.weight, n.dscale),
        Sign::NaN => (0xC000, 0, 0),
        // The scale field of an infinity is not zero in the binary format.
        Sign::PosInf => (0xD000, 0, 0x20),
        Sign::NegInf => (0xF000, 0, 0x20),
    };
    let mut out = Vec::with_capacity(8 + 2 * n.digits.len());
    out.extend_from_slice(&(n.digits.len() as u16).to_be_bytes());
    out.extend_from_slice(&(weight as i16).to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&(dscale as u16).to_be_bytes());
    n.digits.iter().for_each(|d| out.extend_from_slice(&d.to_be_bytes()));
    out
}

scalars! { FNS;
    "numeric_in" => |_, a| {
        let mut n = parse(a[0].as_bytes())?;
        n.apply_typmod(a.get(2).map_or(-1, |t| t.as_i32()))?;
        n.datum()
    },
    "numeric_out" => |_, a| Ok(with_text(a[0].as_bytes(), |text| Datum::bytes(text))),
    "numeric_recv" => |_, a| receive(a[0].as_bytes(), a.get(2).map_or(-1, |t| t.as_i32())),
    "numeric_send" => |_, a| Ok(Datum::bytes(send(&Num::of(a[0])))),
    "numeric" => |_, a| {
        let mut n = Num::of(a[0]);
        n.apply_typmod(a[1].as_i32())?;
        n.datum()
    },
    "numerictypmodin" => |_, a| Ok(Datum::int4(typmod_of(&cstring_integers(a[0])?)?)),
    "numerictypmodout" => |_, a| {
        let typmod = a[0].as_i32();
        let (p, s) = typmod_parts(typmod);
        Ok(if typmod >= 4 { Datum::text(&format!("({p},{s})")) } else { Datum::bytes([]) })
    },
}
