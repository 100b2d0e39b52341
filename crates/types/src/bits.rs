//! Bit strings: bit, varbit. A payload is the number of bits and the bits, the first one in the
//! most significant bit; unused bits of the last byte are zero. Counterpart: varbit.c.
//!
//! ```text
//!  | bits i32 | byte … |
//! ```

use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use std::cmp::Ordering;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::limits::{allocate, allocate_payload};
use values::type_io::{Reader, out_of_range};

/// The largest declared length in bits (10 MB).
const TYPMOD_MAX: i32 = 10 * 1024 * 1024 * 8;

/// The largest number of bits of a value.
const BITS_MAX: usize = i32::MAX as usize / 8 * 8;

struct Bits {
    len: usize,
    bytes: Vec<u8>,
}

impl Bits {
    fn zeros(len: usize) -> Bits {
        Bits { len, bytes: vec![0; len.div_ceil(8)] }
    }

    fn of(d: DatumRef<'_>) -> Bits {
        let b = d.as_bytes();
        let len = b.first_chunk::<4>().map_or(0, |n| i32::from_le_bytes(*n).max(0) as usize);
        let mut bytes = b.get(4..).unwrap_or_default().to_vec();
        // A damaged value has the bits that are within its bytes.
        let len = len.min(bytes.len().saturating_mul(8));
        bytes.truncate(len.div_ceil(8));
        Bits { len, bytes }
    }

    fn get(&self, at: usize) -> bool {
        self.bytes[at / 8] >> (7 - at % 8) & 1 == 1
    }

    fn set(&mut self, at: usize, bit: bool) {
        let mask = 1 << (7 - at % 8);
        match bit {
            true => self.bytes[at / 8] |= mask,
            false => self.bytes[at / 8] &= !mask,
        }
    }

    /// Clears the unused bits of the last byte.
    fn trimmed(mut self) -> Bits {
        let rest = self.bytes.len() * 8 - self.len;
        if let Some(last) = self.bytes.last_mut() {
            *last = *last >> rest << rest;
        }
        self
    }

    /// Bits `from..to`.
    fn part(&self, from: usize, to: usize) -> Bits {
        let len = to.saturating_sub(from);
        let (first, shift) = (from / 8, from % 8);
        let byte = |i: usize| u16::from(self.bytes.get(i).copied().unwrap_or(0));
        let moved = |i: usize| ((byte(i) << 8 | byte(i + 1)) << shift >> 8) as u8;
        let bytes = (first..first + len.div_ceil(8)).map(moved).collect();
        Bits { len, bytes }.trimmed()
    }

    /// The value truncated or zero-extended at its end to `len` bits.
    fn resized(&self, len: usize) -> Result<Bits> {
        let size = len.div_ceil(8);
        let mut bytes = allocate_payload(4 + size)?;
        bytes.extend_from_slice(&self.bytes[..self.bytes.len().min(size)]);
        let kept = Bits { len: self.len.min(len), bytes };
        let mut out = if kept.bytes.len() * 8 >= kept.len { kept.trimmed() } else { kept };
        out.len = len;
        out.bytes.resize(size, 0);
        Ok(out)
    }

    fn joined(&self, other: &Bits) -> Result<Bits> {
        if self.len + other.len > BITS_MAX {
            return Err(too_long());
        }
        let mut out = self.resized(self.len + other.len)?;
        let (first, shift) = (self.len / 8, self.len % 8);
        for (i, &byte) in other.bytes.iter().enumerate() {
            let moved = u16::from(byte) << 8 >> shift;
            out.bytes[first + i] |= (moved >> 8) as u8;
            if let Some(next) = out.bytes.get_mut(first + i + 1) {
                *next |= moved as u8;
            }
        }
        Ok(out)
    }

    fn datum(self) -> Datum {
        let mut out = (self.len as i32).to_le_bytes().to_vec();
        out.extend_from_slice(&self.bytes);
        Datum::bytes(out)
    }
}

fn too_long() -> PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "bit string length exceeds the maximum allowed ({})", BITS_MAX)
}

/// Parses a bit string. `check` is called with the number of bits before any digit is read.
fn parse(text: &[u8], check: impl Fn(usize) -> Result<()>) -> Result<Bits> {
    let (digits, hex) = match text {
        [b'b' | b'B', rest @ ..] => (rest, false),
        [b'x' | b'X', rest @ ..] => (rest, true),
        rest => (rest, false),
    };
    let width = if hex { 4 } else { 1 };
    if digits.len().saturating_mul(width) > BITS_MAX {
        return Err(too_long());
    }
    check(digits.len() * width)?;
    let mut out = Bits::zeros(digits.len() * width);
    for (i, &c) in digits.iter().enumerate() {
        let radix = if hex { 16 } else { 2 };
        let Some(digit) = (c as char).to_digit(radix).filter(|_| c.is_ascii()) else {
            let len = values::text::char_len(&digits[i..], values::settings::Encoding::Utf8);
            let shown = values::type_io::lossy_text(&digits[i..i + len]);
            let kind = if hex { "hexadecimal" } else { "binary" };
            return Err(pg_err!(
                INVALID_TEXT_REPRESENTATION,
                "\"{shown}\" is not a valid {kind} digit"
            ));
        };
        for bit in 0..width {
            out.set(i * width + bit, digit >> (width - 1 - bit) & 1 == 1);
        }
    }
    Ok(out)
}

/// The length check of `bit(n)`: exactly `n` bits.
fn fit_exactly(len: usize, typmod: i32) -> Result<()> {
    if typmod > 0 && len != typmod as usize {
        return Err(pg_err!(
            STRING_DATA_LENGTH_MISMATCH,
            "bit string length {len} does not match type bit({typmod})"
        ));
    }
    Ok(())
}

/// The length check of `bit varying(n)`: at most `n` bits.
fn fit_within(len: usize, typmod: i32) -> Result<()> {
    if typmod > 0 && len > typmod as usize {
        return Err(pg_err!(
            STRING_DATA_RIGHT_TRUNCATION,
            "bit string too long for type bit varying({typmod})"
        ));
    }
    Ok(())
}

fn text(bits: &Bits) -> Result<Datum> {
    // PostgreSQL's allocation includes a terminating zero byte.
    let mut out = allocate(bits.len + 1)?;
    out.extend((0..bits.len).map(|i| if bits.get(i) { b'1' } else { b'0' }));
    Ok(Datum::bytes(out))
}

/// Reads the external form. `fits` checks the length, before the bits are read.
fn receive(message: &[u8], fits: impl Fn(usize) -> Result<()>) -> Result<Bits> {
    let mut r = Reader::new(message);
    let len = r.i32()?;
    if !(0..=i32::MAX - 7).contains(&len) {
        return Err(pg_err!(
            INVALID_BINARY_REPRESENTATION,
            "invalid length in external bit string"
        ));
    }
    let len = len as usize;
    fits(len)?;
    let bytes = r.bytes(len.div_ceil(8))?.to_vec();
    r.end()?;
    Ok(Bits { len, bytes }.trimmed())
}

fn typmod_in(array: DatumRef<'_>, name: &str) -> Result<Datum> {
    let list = values::array::payload::cstring_integers(array)?;
    let [len] = list[..] else {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid type modifier"));
    };
    if len < 1 {
        return Err(pg_err!(INVALID_PARAMETER_VALUE, "length for type {name} must be at least 1"));
    }
    if len > TYPMOD_MAX {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "length for type {name} cannot exceed {TYPMOD_MAX}"
        ));
    }
    Ok(Datum::int4(len))
}

fn typmod_out(typmod: i32) -> Datum {
    Datum::text(&if typmod >= 0 { format!("({typmod})") } else { String::new() })
}

/// Compares bytewise; of two strings with equal bytes the one with fewer bits is less.
pub fn bitcmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    let (a, b) = (Bits::of(a), Bits::of(b));
    let n = a.bytes.len().min(b.bytes.len());
    a.bytes[..n].cmp(&b.bytes[..n]).then(a.len.cmp(&b.len))
}

fn combined(a: &[DatumRef<'_>], word: &str, op: fn(u8, u8) -> u8) -> Result<Datum> {
    let (x, y) = (Bits::of(a[0]), Bits::of(a[1]));
    if x.len != y.len {
        return Err(pg_err!(
            STRING_DATA_LENGTH_MISMATCH,
            "cannot {word} bit strings of different sizes"
        ));
    }
    let bytes = x.bytes.iter().zip(&y.bytes).map(|(p, q)| op(*p, *q)).collect();
    Ok(Bits { len: x.len, bytes }.datum())
}

/// Shifts left by `n` bits, right if `n` is negative.
fn shifted(bits: &Bits, n: i64) -> Bits {
    let by = n.unsigned_abs() as usize;
    if by >= bits.len {
        return Bits::zeros(bits.len);
    }
    if n >= 0 {
        let mut out = bits.part(by, bits.len);
        (out.len, _) = (bits.len, out.bytes.resize(bits.bytes.len(), 0));
        return out;
    }
    let (first, shift) = (by / 8, by % 8);
    let mut out = Bits::zeros(bits.len);
    for (i, &byte) in bits.bytes.iter().enumerate() {
        let moved = u16::from(byte) << 8 >> shift;
        for (at, part) in [(first + i, moved >> 8), (first + i + 1, moved & 0xff)] {
            if let Some(to) = out.bytes.get_mut(at) {
                *to |= part as u8;
            }
        }
    }
    out.trimmed()
}

/// Bits from position `start` (1-based) on: `len` of them, or all to the end.
fn substring(bits: &Bits, start: i32, len: Option<i32>) -> Result<Bits> {
    let end = match len {
        None => i64::MAX,
        Some(n) if n < 0 => {
            return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
        }
        Some(n) => i64::from(start) + i64::from(n),
    };
    let from = i64::from(start).max(1) - 1;
    let to = (end - 1).clamp(0, bits.len as i64);
    Ok(if from >= to { Bits::zeros(0) } else { bits.part(from as usize, to as usize) })
}

fn overlay(a: &[DatumRef<'_>], len: Option<i32>) -> Result<Datum> {
    let (bits, new, start) = (Bits::of(a[0]), Bits::of(a[1]), a[2].as_i32());
    if start <= 0 {
        return Err(pg_err!(SUBSTRING_ERROR, "negative substring length not allowed"));
    }
    let after =
        start.checked_add(len.unwrap_or(new.len as i32)).ok_or_else(|| out_of_range("integer"))?;
    let head = substring(&bits, 1, Some(start - 1))?;
    let tail = substring(&bits, after, None)?;
    Ok(head.joined(&new)?.joined(&tail)?.datum())
}

/// The lowest `len` bits of a number; an invalid `len` counts as 1.
fn from_number(n: i64, len: i32) -> Result<Bits> {
    let len = if (1..=BITS_MAX as i32).contains(&len) { len as usize } else { 1 };
    let sign = if n < 0 { 0xff } else { 0 };
    let mut bytes = allocate_payload(4 + len.div_ceil(8))?;
    bytes.resize(len.div_ceil(8), sign);
    let mut out = Bits { len, bytes };
    for checked_index in 0..len.min(64) {
        out.set(len - 1 - checked_index, n >> checked_index & 1 == 1);
    }
    Ok(out.trimmed())
}

fn to_number(bits: &Bits, width: usize, name: &str) -> Result<u64> {
    if bits.len > width {
        return Err(out_of_range(name));
    }
    Ok((0..bits.len).fold(0, |n, i| n << 1 | u64::from(bits.get(i))))
}

fn position(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<i32> {
    let (bits, wanted) = (Bits::of(a[0]), Bits::of(a[1]));
    if bits.len == 0 || wanted.len > bits.len {
        return Ok(0);
    }
    if wanted.len == 0 {
        return Ok(1);
    }
    let mut compared = 0;
    for at in 0..=bits.len - wanted.len {
        let differs = (0..wanted.len).position(|i| bits.get(at + i) != wanted.get(i));
        let Some(same) = differs else { return Ok(at as i32 + 1) };
        compared += same + 1;
        if compared > 1 << 20 {
            compared = 0;
            cx.check_interrupts()?;
        }
    }
    Ok(0)
}

fn checked_index(bits: &Bits, n: i32) -> Result<usize> {
    match usize::try_from(n) {
        Ok(at) if at < bits.len => Ok(at),
        _ => Err(pg_err!(
            ARRAY_SUBSCRIPT_ERROR,
            "bit index {n} out of valid range (0..{})",
            bits.len as i64 - 1
        )),
    }
}

scalars! { FNS;
    "bit_in" => |_, a| {
        Ok(parse(a[0].as_bytes(), |len| fit_exactly(len, a[2].as_i32()))?.datum())
    },
    "varbit_in" => |_, a| {
        Ok(parse(a[0].as_bytes(), |len| fit_within(len, a[2].as_i32()))?.datum())
    },
    "bit_out" => |_, a| text(&Bits::of(a[0])),
    "varbit_out" => |_, a| text(&Bits::of(a[0])),
    "bit_recv" => |_, a| {
        let typmod = a[2].as_i32();
        Ok(receive(a[0].as_bytes(), |len| fit_exactly(len, typmod))?.datum())
    },
    "varbit_recv" => |_, a| {
        let typmod = a[2].as_i32();
        Ok(receive(a[0].as_bytes(), |len| fit_within(len, typmod))?.datum())
    },
    "bit_send" => |_, a| send(a[0]),
    "varbit_send" => |_, a| send(a[0]),
    "bittypmodin" => |_, a| typmod_in(a[0], "bit"),
    "varbittypmodin" => |_, a| typmod_in(a[0], "varbit"),
    "bittypmodout" => |_, a| Ok(typmod_out(a[0].as_i32())),
    "varbittypmodout" => |_, a| Ok(typmod_out(a[0].as_i32())),
    "bit" => |_, a| {
        let (bits, len) = (Bits::of(a[0]), a[1].as_i32());
        if len <= 0 || len as usize > BITS_MAX || bits.len == len as usize {
            return Ok(a[0].to_owned());
        }
        if !a[2].as_bool() {
            fit_exactly(bits.len, len)?;
        }
        Ok(bits.resized(len as usize)?.datum())
    },
    "varbit" => |_, a| {
        let (bits, len) = (Bits::of(a[0]), a[1].as_i32());
        if len <= 0 || bits.len <= len as usize {
            return Ok(a[0].to_owned());
        }
        if !a[2].as_bool() {
            fit_within(bits.len, len)?;
        }
        Ok(bits.resized(len as usize)?.datum())
    },
    "bit_and" => |_, a| combined(a, "AND", |x, y| x & y),
    "bit_or" => |_, a| combined(a, "OR", |x, y| x | y),
    "bitxor" => |_, a| combined(a, "XOR", |x, y| x ^ y),
    "bitnot" => |_, a| {
        let bits = Bits::of(a[0]);
        let bytes = bits.bytes.iter().map(|b| !b).collect();
        Ok(Bits { len: bits.len, bytes }.trimmed().datum())
    },
    "bitshiftleft" => |_, a| Ok(shifted(&Bits::of(a[0]), a[1].as_i32().into()).datum()),
    "bitshiftright" => |_, a| Ok(shifted(&Bits::of(a[0]), -i64::from(a[1].as_i32())).datum()),
    "bitcat" => |_, a| Ok(Bits::of(a[0]).joined(&Bits::of(a[1]))?.datum()),
    "bitsubstr" =>
        |_, a| Ok(substring(&Bits::of(a[0]), a[1].as_i32(), Some(a[2].as_i32()))?.datum()),
    "bitsubstr_no_len" => |_, a| Ok(substring(&Bits::of(a[0]), a[1].as_i32(), None)?.datum()),
    "bitoverlay" => |_, a| overlay(a, Some(a[3].as_i32())),
    "bitoverlay_no_len" => |_, a| overlay(a, None),
    "bit_bit_count" => |_, a| {
        Ok(Datum::int8(Bits::of(a[0]).bytes.iter().map(|b| i64::from(b.count_ones())).sum()))
    },
    "bitlength" => |_, a| Ok(Datum::int4(Bits::of(a[0]).len as i32)),
    "bitoctetlength" => |_, a| Ok(Datum::int4(Bits::of(a[0]).bytes.len() as i32)),
    "bitfromint4" => |_, a| Ok(from_number(a[0].as_i32().into(), a[1].as_i32())?.datum()),
    "bitfromint8" => |_, a| Ok(from_number(a[0].as_i64(), a[1].as_i32())?.datum()),
    "bittoint4" => |_, a| Ok(Datum::int4(to_number(&Bits::of(a[0]), 32, "integer")? as u32 as i32)),
    "bittoint8" => |_, a| Ok(Datum::int8(to_number(&Bits::of(a[0]), 64, "bigint")? as i64)),
    "bitposition" => |cx, a| Ok(Datum::int4(position(cx, a)?)),
    "bitgetbit" => |_, a| {
        let bits = Bits::of(a[0]);
        let at = checked_index(&bits, a[1].as_i32())?;
        Ok(Datum::int4(bits.get(at).into()))
    },
    "bitsetbit" => |_, a| {
        let mut bits = Bits::of(a[0]);
        let at = checked_index(&bits, a[1].as_i32())?;
        let bit = match a[2].as_i32() {
            0 => false,
            1 => true,
            _ => return Err(pg_err!(INVALID_PARAMETER_VALUE, "new bit must be 0 or 1")),
        };
        bits.set(at, bit);
        Ok(bits.datum())
    },
}

fn send(d: DatumRef<'_>) -> Result<Datum> {
    let bits = Bits::of(d);
    let mut out = (bits.len as i32).to_be_bytes().to_vec();
    out.extend_from_slice(&bits.bytes);
    Ok(Datum::bytes(out))
}

comparisons! { COMPARISONS;
    bitcmp => "biteq" "bitne" "bitlt" "bitle" "bitgt" "bitge";
}

scalars! { SUPPORT;
    "bitcmp" => |_, a| Ok(Datum::int4(bitcmp(a[0], a[1], Oid::INVALID) as i32)),
}
