//! Parsing of dates and times: the text is split into fields by their lexical form, then the fields
//! are decoded from left to right. Counterpart: datetime.c (ParseDateTime, DecodeDateTime).

mod decode;

pub use decode::decode;

use super::calendar::{Fields, USECS_PER_DAY, date2j, days_in_month, j2date, time_fields, time_of};
pub use super::error::{ParseError, Parsed, parse_error};
use values::settings::DateOrder;
use values::type_io::is_space;
use values::zone::Zone;

/// Lexical type of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    Number,
    Date,
    Time,
    Tz,
    Word,
    Special,
}

/// The kind of the field that begins with a digit at `at`, and its end.
fn token_of_digits(text: &[u8], mut at: usize) -> (Token, usize) {
    let get = |i: usize| text.get(i).copied().unwrap_or(0);
    let digit = |i: usize| get(i).is_ascii_digit();
    let token_type;
    while digit(at) {
        at += 1;
    }
    if get(at) == b':' {
        token_type = Token::Time;
        while digit(at) || matches!(get(at), b':' | b'.') {
            at += 1;
        }
    } else if matches!(get(at), b'-' | b'/' | b'.') {
        let delim = get(at);
        at += 1;
        if digit(at) {
            let mut l = if delim == b'.' { Token::Number } else { Token::Date };
            while digit(at) {
                at += 1;
            }
            if get(at) == delim {
                l = Token::Date;
                at += 1;
                while digit(at) || get(at) == delim {
                    at += 1;
                }
            }
            token_type = l;
        } else {
            token_type = Token::Date;
            while get(at).is_ascii_alphanumeric() || get(at) == delim {
                at += 1;
            }
        }
    } else {
        token_type = Token::Number;
    }
    (token_type, at)
}

/// Maximum number of fields of a text (`MAXDATEFIELDS`).
const FIELDS_MAX: usize = 25;

/// Splits the text into fields; letters are folded to lower case.
pub fn tokenize(text: &[u8]) -> Parsed<Vec<(Token, String)>> {
    let mut fields = Vec::new();
    let mut at = 0;
    let get = |i: usize| text.get(i).copied().unwrap_or(0);
    let digit = |i: usize| get(i).is_ascii_digit();
    while at < text.len() {
        let c = text[at];
        if is_space(c) {
            at += 1;
            continue;
        }
        if fields.len() >= FIELDS_MAX {
            return Err(ParseError::Format);
        }
        let start = at;
        let token_type;
        if c.is_ascii_digit() {
            (token_type, at) = token_of_digits(text, at);
        } else if c == b'.' {
            token_type = Token::Number;
            at += 1;
            while digit(at) {
                at += 1;
            }
        } else if c.is_ascii_alphabetic() {
            while get(at).is_ascii_alphabetic() {
                at += 1;
            }
            let word = String::from_utf8_lossy(&text[start..at]).to_ascii_lowercase();
            let dated = match get(at) {
                b'-' | b'/' | b'.' => true,
                b'+' => core_word(&word).is_none(),
                c if c.is_ascii_digit() => core_word(&word).is_none(),
                _ => false,
            };
            if dated {
                while matches!(get(at), b'+' | b'-' | b'/' | b'_' | b'.' | b':')
                    || get(at).is_ascii_alphanumeric()
                {
                    at += 1;
                }
            }
            token_type = if dated { Token::Date } else { Token::Word };
        } else if matches!(c, b'+' | b'-') {
            at += 1;
            while is_space(get(at)) {
                at += 1;
            }
            let body = at;
            if digit(at) || get(at) == b'.' {
                while digit(at) || matches!(get(at), b':' | b'.' | b'-') {
                    at += 1;
                }
                token_type = Token::Tz;
            } else if get(at).is_ascii_alphabetic() {
                while get(at).is_ascii_alphabetic() {
                    at += 1;
                }
                token_type = Token::Special;
            } else {
                return Err(ParseError::Format);
            }
            let field = [&text[start..start + 1], &text[body..at]].concat();
            fields.push((token_type, String::from_utf8_lossy(&field).to_ascii_lowercase()));
            continue;
        } else if c.is_ascii_punctuation() {
            at += 1;
            continue;
        } else {
            return Err(ParseError::Format);
        }
        fields.push((token_type, String::from_utf8_lossy(&text[start..at]).to_ascii_lowercase()));
    }
    Ok(fields)
}

/// Meaning of a keyword.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    Infinity,
    NegInfinity,
    Epoch,
    Now,
    Today,
    Tomorrow,
    Yesterday,
    Zulu,
    Bc,
    Ad,
    Am,
    Pm,
    Month(i32),
    Dow,
    Dst,
    Unit(Unit),
    IsoTime,
    Ignore,
}

/// Units that may be written before a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    Day,
    Hour,
    Minute,
    Month,
    Second,
    Year,
    Julian,
    /// "T": a time without separators follows.
    Time,
    /// A unit that no number may follow, such as "dow".
    Other,
}

/// Looks up a date keyword (the first ten letters are significant).
pub fn core_word(word: &str) -> Option<Word> {
    let word = &word[..word.len().min(10)];
    const MONTHS: &[&str] = &[
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    if let Some(i) =
        MONTHS.iter().position(|m| *m == word || (word.len() == 3 && m.starts_with(word)))
    {
        return Some(Word::Month(i as i32 + 1));
    }
    Some(match word {
        "sept" => Word::Month(9),
        "infinity" => Word::Infinity,
        "-infinity" => Word::NegInfinity,
        "epoch" => Word::Epoch,
        "now" => Word::Now,
        "today" => Word::Today,
        "tomorrow" => Word::Tomorrow,
        "yesterday" => Word::Yesterday,
        "allballs" => Word::Zulu,
        "bc" => Word::Bc,
        "ad" => Word::Ad,
        "am" => Word::Am,
        "pm" => Word::Pm,
        "dst" => Word::Dst,
        "d" => Word::Unit(Unit::Day),
        "h" => Word::Unit(Unit::Hour),
        "m" => Word::Unit(Unit::Month),
        "mm" => Word::Unit(Unit::Minute),
        "s" => Word::Unit(Unit::Second),
        "y" => Word::Unit(Unit::Year),
        "j" | "jd" | "julian" => Word::Unit(Unit::Julian),
        "dow" | "doy" | "isodow" | "isoyear" => Word::Unit(Unit::Other),
        "t" => Word::IsoTime,
        "at" | "on" => Word::Ignore,
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds"
        | "wednesday" | "thu" | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat"
        | "saturday" => Word::Dow,
        _ => return None,
    })
}

/// A decoded date and time.
pub struct DateTime {
    pub kind: Kind,
    pub fields: Fields,
    /// Seconds east of Greenwich if the text gives an offset or one was computed.
    pub offset: Option<i32>,
    /// The zone that the text names.
    pub zone: Option<Zone>,
    pub has_date: bool,
}

/// Finite, infinite, or the epoch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Finite,
    Infinity,
    NegInfinity,
    Epoch,
}

// The fields that have been read.
const YEAR: u32 = 1;
const MONTH: u32 = 2;
const DAY: u32 = 4;
const HOUR: u32 = 8;
const MINUTE: u32 = 16;
const SECOND: u32 = 32;
const DOY: u32 = 64;
const TZ: u32 = 128;
const DTZMOD: u32 = 256;
const AMPM: u32 = 512;
const ADBC: u32 = 1024;
const DOW: u32 = 2048;
/// Milliseconds and microseconds.
const FRACTION: u32 = 4096;
/// A zone with daylight saving time.
const DTZ: u32 = 8192;
/// An abbreviation or a name of a time zone whose offset from UTC changes with the date.
const DYNTZ: u32 = 32768;
/// The epoch, or infinity.
const RESERVED: u32 = 16384;
const DATE: u32 = YEAR | MONTH | DAY;
const TIME: u32 = HOUR | MINUTE | SECOND | FRACTION;

pub(super) struct Decoder {
    order: DateOrder,
    mask: u32,
    pub f: Fields,
    yday: i32,
    julian: bool,
    is2digits: bool,
    bc: bool,
    pm: Option<bool>,
    /// Seconds east of Greenwich, if `TZ` is set and `zone` is not.
    offset: i32,
    zone: Option<Zone>,
}

/// The number at the start of the text and the rest; 0 if there is none. `None` if it is out of
/// range.
pub(super) fn leading_number(text: &str) -> Option<(i64, &str)> {
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return Some((0, text));
    }
    let (number, rest) = text.split_at(sign + digits);
    number.parse().ok().map(|n| (n, rest))
}

/// As [`leading_number`] with the error of a field that is out of range.
fn leading_int(text: &str) -> Parsed<(i32, &str)> {
    let number = leading_number(text).and_then(|(n, rest)| Some((i32::try_from(n).ok()?, rest)));
    number.ok_or(ParseError::Overflow)
}

/// The number at the start of the text.
fn int(text: &str) -> Parsed<i32> {
    leading_int(text).map(|(n, _)| n)
}

/// Parses a fraction ".ddd".
pub fn fraction_of(text: &str) -> Parsed<f64> {
    let digits = &text[1..];
    if !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(ParseError::Format);
    }
    if digits.is_empty() {
        return Ok(0.0);
    }
    format!("0.{digits}").parse().map_err(|_| ParseError::Format)
}

/// Parses a fraction ".ddd" to microseconds, rounded.
pub fn fraction(text: &str) -> Parsed<i32> {
    Ok((fraction_of(text)? * 1e6).round_ties_even() as i32)
}

/// Parses `[+-]hh[[:]mm]` and `[+-]hh:mm:ss` to seconds east of Greenwich. The range of the numbers
/// is checked before what follows them.
pub fn decode_offset(text: &str) -> Parsed<i32> {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(ParseError::Format),
    };
    let (mut h, mut rest) = offset_part(text[1..].trim_start())?;
    let (mut m, mut s) = (0, 0);
    if let Some(minutes) = rest.strip_prefix(':') {
        (m, rest) = offset_part(minutes)?;
        if let Some(seconds) = rest.strip_prefix(':') {
            (s, rest) = offset_part(seconds)?;
        }
    } else if rest.is_empty() && text.len() > 3 {
        (h, m) = (h / 100, h % 100);
    }
    if !(0..=15).contains(&h) || !(0..60).contains(&m) || !(0..60).contains(&s) {
        return Err(ParseError::ZoneOverflow);
    }
    if rest.is_empty() { Ok(sign * (h * 3600 + m * 60 + s)) } else { Err(ParseError::Format) }
}

fn offset_part(text: &str) -> Parsed<(i32, &str)> {
    leading_int(text).map_err(|_| ParseError::ZoneOverflow)
}

/// Parses `hh:mm[:ss[.frac]]`, where a part may be empty, and `mm:ss.frac`. `short_is_minutes`:
/// `mm:ss` too is minutes and seconds, as in intervals with such a range.
pub fn decode_time(text: &str, short_is_minutes: bool) -> Parsed<(i64, i32, i32, i32)> {
    let (first, rest) = leading_number(text).ok_or(ParseError::Overflow)?;
    let rest = rest.strip_prefix(':').ok_or(ParseError::Format)?;
    let (second, rest) = leading_int(rest)?;
    let (h, m, s, us) = match rest.as_bytes().first() {
        None if short_is_minutes => (0, first, second, 0),
        None => (first, second.into(), 0, 0),
        Some(b'.') => (0, first, second, fraction(rest)?),
        Some(b':') => {
            let (s, rest) = leading_int(&rest[1..])?;
            let us = match rest.as_bytes().first() {
                None => 0,
                Some(b'.') => fraction(rest)?,
                Some(_) => return Err(ParseError::Format),
            };
            (first, second.into(), s, us)
        }
        Some(_) => return Err(ParseError::Format),
    };
    if h < 0 || !(0..60).contains(&m) || !(0..=60).contains(&s) || !(0..=1_000_000).contains(&us) {
        return Err(ParseError::Overflow);
    }
    Ok((h, m as i32, s, us))
}

// The functions that decode a field return the mask of what they have set.
impl Decoder {
    pub(super) fn new(order: DateOrder) -> Decoder {
        Decoder {
            order,
            mask: 0,
            f: Fields::default(),
            yday: 0,
            julian: false,
            is2digits: false,
            bc: false,
            pm: None,
            offset: 0,
            zone: None,
        }
    }

    /// Marks fields as seen; an error if one has been seen.
    fn seen(&mut self, bits: u32) -> Parsed<()> {
        if self.mask & bits != 0 {
            return Err(ParseError::Format);
        }
        self.mask |= bits;
        Ok(())
    }

    fn time(&mut self, text: &str) -> Parsed<u32> {
        let (h, m, s, us) = decode_time(text, false)?;
        self.f.hour = i32::try_from(h).map_err(|_| ParseError::Overflow)?;
        (self.f.minute, self.f.second, self.f.micros) = (m, s, us);
        Ok(TIME)
    }

    /// Decodes a date of numbers with delimiters; one of its parts may be the name of a month. With
    /// the fields before, nothing but a date may have been read.
    fn date(&mut self, text: &str) -> Parsed<u32> {
        let parts = date_parts(text)?;
        let (before, mut mask) = (self.mask, 0);
        let mut add = |bits: u32| {
            let twice = (before | mask) & bits != 0;
            mask |= bits;
            if twice { Err(ParseError::Format) } else { Ok(mask) }
        };
        let mut text_month = false;
        for part in parts.iter().filter(|p| is_word(p)) {
            match core_word(part) {
                Some(Word::Month(m)) => {
                    self.f.month = m;
                    text_month = true;
                    add(MONTH)?;
                }
                Some(Word::Ignore) => {}
                _ => return Err(ParseError::Format),
            }
        }
        let mut done = add(0)?;
        for part in parts.iter().filter(|p| !is_word(p)) {
            done = add(self.number(part, before | done, text_month)?)?;
        }
        if (before | done) & !(DOY | TZ) != DATE {
            return Err(ParseError::Format);
        }
        Ok(done)
    }

    /// Decodes a number that is a field of its own: whether it is year, month or day follows from
    /// its length, the fields `seen` so far, and DateStyle.
    fn number(&mut self, text: &str, seen: u32, text_month: bool) -> Parsed<u32> {
        let (val, frac) = leading_int(text)?;
        let digits = text.len() - frac.len();
        if digits == 0 {
            return Err(ParseError::Format);
        }
        if frac.starts_with('.') {
            if digits > 2 {
                return self.number_field(text, seen | DATE);
            }
            self.f.micros = fraction(frac)?;
        } else if !frac.is_empty() {
            return Err(ParseError::Format);
        }
        let flen = text.len();
        let dated = seen & DATE;
        if flen == 3 && dated == YEAR && (1..=366).contains(&val) {
            self.yday = val;
            return Ok(DOY | MONTH | DAY);
        }
        if dated == DATE {
            return self.number_field(text, seen);
        }
        if dated == YEAR | MONTH && text_month && flen >= 3 && self.is2digits {
            // The number before the month was taken for the year: right for "99-Jan-08", swapped
            // for "08-Jan-1999".
            self.f.day = self.f.year;
            (self.f.year, self.is2digits) = (val, false);
            return Ok(DAY);
        }
        let year_first = flen >= 3 || self.order == DateOrder::Ymd;
        let field = match dated {
            0 if year_first => YEAR,
            0 if self.order == DateOrder::Dmy => DAY,
            0 | YEAR | DAY => MONTH,
            // After the name of a month, the first of two numbers is the day unless it looks like a
            // year.
            MONTH if text_month && year_first => YEAR,
            MONTH => DAY,
            d if d == YEAR | MONTH => DAY,
            d if d == MONTH | DAY => YEAR,
            _ => return Err(ParseError::Format),
        };
        match field {
            YEAR => (self.f.year, self.is2digits) = (val, flen <= 2),
            MONTH => self.f.month = val,
            _ => self.f.day = val,
        }
        Ok(field)
    }

    /// Decodes digits without separators: a date (yymmdd, yyyymmdd), or after a date a time (hhmm,
    /// hhmmss). The range of the time is checked by callers, for types that require it.
    fn number_field(&mut self, text: &str, seen: u32) -> Parsed<u32> {
        let mut digits = text;
        if let Some(i) = text.find('.') {
            // A fraction of seconds. (A fraction of days exists in intervals only.)
            self.f.micros = fraction(&text[i..])?;
            digits = &text[..i];
        } else if seen & DATE != DATE && text.len() >= 6 {
            let n = text.len();
            self.f.day = int(&text[n - 2..])?;
            self.f.month = int(&text[n - 4..n - 2])?;
            // A year out of range wraps, as that of C's atoi.
            self.f.year = leading_number(&text[..n - 4]).map_or(-1, |(year, _)| year as i32);
            self.is2digits |= n - 4 == 2;
            return Ok(DATE);
        }
        let n = digits.len();
        if seen & TIME == TIME || (n != 6 && n != 4) {
            return Err(ParseError::Format);
        }
        self.f.second = if n == 6 { int(&digits[4..])? } else { 0 };
        self.f.minute = int(&digits[2..4])?;
        self.f.hour = int(&digits[..2])?;
        Ok(TIME)
    }

    /// Decodes a number with a unit letter ("y2001 m02 d04", "j2451545").
    fn unit_number(&mut self, unit: Unit, text: &str) -> Parsed<u32> {
        let (val, frac) = leading_int(text)?;
        if !frac.is_empty()
            && (!frac.starts_with('.') || !matches!(unit, Unit::Julian | Unit::Second | Unit::Time))
        {
            return Err(ParseError::Format);
        }
        Ok(match unit {
            Unit::Year => {
                self.f.year = val;
                YEAR
            }
            Unit::Month if self.mask & (MONTH | HOUR) == MONTH | HOUR => {
                self.f.minute = val;
                MINUTE
            }
            Unit::Month => {
                self.f.month = val;
                MONTH
            }
            Unit::Day => {
                self.f.day = val;
                DAY
            }
            Unit::Hour => {
                self.f.hour = val;
                HOUR
            }
            Unit::Minute => {
                self.f.minute = val;
                MINUTE
            }
            Unit::Second => {
                self.f.second = val;
                if frac.is_empty() {
                    return Ok(SECOND);
                }
                self.f.micros = fraction(frac)?;
                SECOND | FRACTION
            }
            Unit::Julian => {
                let date = self.julian_day(val)?;
                if frac.is_empty() {
                    return Ok(date);
                }
                let t = (fraction_of(frac)? * USECS_PER_DAY as f64) as i64;
                (self.f.hour, self.f.minute, self.f.second, self.f.micros) = time_fields(t);
                date | TIME
            }
            Unit::Time => match self.number_field(text, self.mask | DATE)? {
                TIME => TIME,
                _ => return Err(ParseError::Format),
            },
            Unit::Other => return Err(ParseError::Format),
        })
    }

    fn julian_day(&mut self, jd: i32) -> Parsed<u32> {
        if jd < 0 {
            return Err(ParseError::Overflow);
        }
        (self.f.year, self.f.month, self.f.day) = j2date(jd);
        self.julian = true;
        Ok(DATE)
    }

    /// Completes and checks the date.
    pub(super) fn validate_date(&mut self) -> Parsed<()> {
        if self.mask & YEAR != 0 && !self.julian {
            if self.bc {
                if self.f.year <= 0 {
                    return Err(ParseError::Overflow);
                }
                self.f.year = 1 - self.f.year;
            } else if self.is2digits {
                self.f.year += match self.f.year {
                    0..70 => 2000,
                    70..100 => 1900,
                    _ => 0,
                };
            } else if self.f.year <= 0 {
                return Err(ParseError::Overflow);
            }
        }
        if self.mask & DOY != 0 {
            let jd = date2j(self.f.year, 1, 1) + self.yday - 1;
            (self.f.year, self.f.month, self.f.day) = j2date(jd);
        }
        if self.mask & MONTH != 0 && !(1..=12).contains(&self.f.month) {
            return Err(ParseError::MonthDay);
        }
        if self.mask & DAY != 0 && !(1..=31).contains(&self.f.day) {
            return Err(ParseError::MonthDay);
        }
        if self.mask & DATE == DATE && self.f.day > days_in_month(self.f.year, self.f.month) {
            return Err(ParseError::Overflow);
        }
        Ok(())
    }

    fn half_day(&mut self) -> Parsed<()> {
        if let Some(pm) = self.pm {
            if self.f.hour > 12 {
                return Err(ParseError::Overflow);
            }
            if !pm && self.f.hour == 12 {
                self.f.hour = 0;
            } else if pm && self.f.hour != 12 {
                self.f.hour += 12;
            }
        }
        Ok(())
    }
}

fn is_word(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The words and numbers of a date. The character after each of them is skipped, whatever it is.
fn date_parts(text: &str) -> Parsed<Vec<&str>> {
    let bytes = text.as_bytes();
    let (mut parts, mut at) = (Vec::new(), 0);
    while at < bytes.len() && parts.len() < FIELDS_MAX {
        let Some(skipped) = bytes[at..].iter().position(u8::is_ascii_alphanumeric) else {
            return Err(ParseError::Format);
        };
        let start = at + skipped;
        let same = match bytes[start].is_ascii_digit() {
            true => u8::is_ascii_digit,
            false => u8::is_ascii_alphabetic,
        };
        let len = bytes[start..].iter().take_while(|b| same(b)).count();
        parts.push(&text[start..start + len]);
        at = start + len + 1;
    }
    Ok(parts)
}

/// Whether the time is later than 24:00:00.
pub fn time_overflows(h: i32, m: i32, s: i32, us: i32) -> bool {
    !(0..=24).contains(&h)
        || !(0..60).contains(&m)
        || !(0..=60).contains(&s)
        || !(0..=1_000_000).contains(&us)
        || time_of(h, m, s, us) > USECS_PER_DAY
}
