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
        if fields.len() >= 25 {
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
        "infinity" | "+infinity" => Word::Infinity,
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
const MICRO: u32 = 4096;
const DATE: u32 = YEAR | MONTH | DAY;
const TIME: u32 = HOUR | MINUTE | SECOND;

pub(super) struct Decoder {
    order: DateOrder,
    mask: u32,
    pub f: Fields,
    yday: i32,
    julian: bool,
    is2digits: bool,
    bc: bool,
    pm: Option<bool>,
    text_month: bool,
    offset: Option<i32>,
    dst_mod: i32,
    zone: Option<Zone>,
}

fn int(text: &str) -> Parsed<i32> {
    text.parse::<i64>().ok().and_then(|v| i32::try_from(v).ok()).ok_or(ParseError::Overflow)
}

/// Parses a fraction ".ddd" to microseconds, rounded.
pub fn fraction(text: &str) -> Parsed<i32> {
    let digits = &text[1..];
    if !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(ParseError::Format);
    }
    if digits.is_empty() {
        return Ok(0);
    }
    let value: f64 = format!("0.{digits}").parse().map_err(|_| ParseError::Format)?;
    Ok((value * 1e6).round_ties_even() as i32)
}

/// Parses `[+-]hh[[:]mm[[:]ss]]` to seconds east of Greenwich.
pub fn decode_offset(text: &str) -> Parsed<i32> {
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(ParseError::Format),
    };
    let body = &text[1..];
    let parts: Vec<&str> = body.split(':').collect();
    let number = |s: &str| -> Parsed<i32> {
        if s.is_empty() || !s.bytes().all(|c| c.is_ascii_digit()) {
            return Err(ParseError::Format);
        }
        s.parse().map_err(|_| ParseError::ZoneOverflow)
    };
    // A part after a colon may be empty.
    let part = |s: &str| if s.is_empty() { Ok(0) } else { number(s) };
    let (h, m, s) = match parts[..] {
        [h, m] => (number(h)?, part(m)?, 0),
        [h, m, s] => (number(h)?, part(m)?, part(s)?),
        [h] if h.len() > 4 => {
            let v = number(h)?;
            (v / 10000, v / 100 % 100, v % 100)
        }
        [h] if h.len() > 2 => {
            let v = number(h)?;
            (v / 100, v % 100, 0)
        }
        [h] => (number(h)?, 0, 0),
        _ => return Err(ParseError::Format),
    };
    if !(0..=15).contains(&h) || !(0..60).contains(&m) || !(0..60).contains(&s) {
        return Err(ParseError::ZoneOverflow);
    }
    Ok(sign * (h * 3600 + m * 60 + s))
}

/// Parses `hh:mm[:ss[.frac]]`. The caller handles `mm:ss` of intervals with such a range.
pub fn decode_time(text: &str) -> Parsed<(i64, i32, i32, i32)> {
    let number = |s: &str| -> Parsed<i64> {
        if s.is_empty() || !s.bytes().all(|c| c.is_ascii_digit()) {
            return Err(ParseError::Format);
        }
        s.parse().map_err(|_| ParseError::Overflow)
    };
    let mut parts = text.splitn(3, ':');
    let hour = number(parts.next().unwrap_or(""))?;
    let second_part = parts.next().unwrap_or("");
    let split_fraction = |s: &str| -> Parsed<(i64, i32)> {
        match s.find('.') {
            Some(i) => Ok((number(&s[..i])?, fraction(&s[i..])?)),
            None => Ok((number(s)?, 0)),
        }
    };
    let (h, m, s, us) = match parts.next() {
        Some(sec) => {
            let (s, us) = split_fraction(sec)?;
            (hour, number(second_part)?, s, us)
        }
        // "mm:ss.frac" is minutes and seconds.
        None if second_part.contains('.') => {
            let (s, us) = split_fraction(second_part)?;
            (0, hour, s, us)
        }
        None => (hour, number(second_part)?, 0, 0),
    };
    if !(0..60).contains(&m) || !(0..=60).contains(&s) || !(0..=1_000_000).contains(&us) {
        return Err(ParseError::Overflow);
    }
    Ok((h, m as i32, s as i32, us))
}

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
            text_month: false,
            offset: None,
            dst_mod: 0,
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

    fn set_time(&mut self, text: &str) -> Parsed<()> {
        let (h, m, s, us) = decode_time(text)?;
        self.f.hour = i32::try_from(h).map_err(|_| ParseError::Overflow)?;
        (self.f.minute, self.f.second, self.f.micros) = (m, s, us);
        if time_overflows(self.f.hour, m, s, us) {
            return Err(ParseError::Overflow);
        }
        self.seen(TIME)
    }

    fn set_year(&mut self, digits: &str, value: i32) {
        self.f.year = value;
        self.is2digits = digits.len() <= 2;
    }

    /// Decodes a date of numbers with delimiters; one of its parts may be the name of a month.
    fn date(&mut self, text: &str) -> Parsed<()> {
        let mut parts: Vec<String> = Vec::new();
        let mut current = String::new();
        for c in text.chars() {
            let switch =
                current.chars().last().is_some_and(|l| l.is_ascii_digit() != c.is_ascii_digit());
            if !c.is_ascii_alphanumeric() {
                if !current.is_empty() {
                    parts.push(std::mem::take(&mut current));
                }
            } else {
                if switch {
                    parts.push(std::mem::take(&mut current));
                }
                current.push(c);
            }
        }
        if !current.is_empty() {
            parts.push(current);
        }
        if parts.len() > 3 && !text.contains(|c: char| c.is_ascii_alphabetic()) {
            return Err(ParseError::Format);
        }
        let mut rest = Vec::new();
        let start = self.mask;
        for p in parts {
            if p.starts_with(|c: char| c.is_ascii_alphabetic()) {
                match core_word(&p) {
                    Some(Word::Month(m)) => {
                        self.f.month = m;
                        self.text_month = true;
                        self.seen(MONTH)?;
                    }
                    Some(Word::Ignore) => {}
                    _ => return Err(ParseError::Format),
                }
            } else {
                rest.push(p);
            }
        }
        for p in rest {
            if self.mask & DATE == DATE {
                return Err(ParseError::Format);
            }
            self.number(&p)?;
        }
        let done = self.mask & !start;
        if done & DATE != DATE && self.mask & DOY == 0 {
            return Err(ParseError::Format);
        }
        Ok(())
    }

    /// Decodes a number that is a field of its own: whether it is year, month or day follows from
    /// its length, the fields seen so far, and DateStyle.
    fn number(&mut self, text: &str) -> Parsed<()> {
        let digits: usize = text.bytes().take_while(u8::is_ascii_digit).count();
        let val = int(&text[..digits])?;
        let frac = &text[digits..];
        if frac.starts_with('.') {
            if digits > 2 || self.mask & DATE == DATE {
                return self.number_field(text);
            }
            self.f.micros = fraction(frac)?;
        } else if !frac.is_empty() {
            return Err(ParseError::Format);
        }
        let flen = digits;
        let dmy = self.order == DateOrder::Dmy;
        let ymd = self.order == DateOrder::Ymd;
        if flen == 3 && self.mask & DATE == YEAR && (1..=366).contains(&val) {
            self.yday = val;
            return self.seen(DOY | MONTH | DAY);
        }
        let year = |d: &mut Decoder| {
            d.set_year(&text[..digits], val);
            d.seen(YEAR)
        };
        let month = |d: &mut Decoder| {
            d.f.month = val;
            d.seen(MONTH)
        };
        let day = |d: &mut Decoder| {
            d.f.day = val;
            d.seen(DAY)
        };
        match (self.mask & DATE, self.text_month) {
            (0, _) => {
                if flen >= 3 || ymd {
                    year(self)
                } else if dmy {
                    day(self)
                } else {
                    month(self)
                }
            }
            (YEAR, _) => month(self),
            (MONTH, true) => {
                // After the name of a month, the first of two numbers is the day unless it looks
                // like a year.
                if flen >= 3 || ymd { year(self) } else { day(self) }
            }
            (MONTH, false) => day(self),
            (m, true) if m == YEAR | MONTH => {
                // The number before the month was taken for the year: right for "99-Jan-08",
                // swapped for "08-Jan-1999".
                if flen >= 3 && self.is2digits {
                    self.f.day = self.f.year;
                    self.set_year(&text[..digits], val);
                    self.seen(DAY)
                } else {
                    day(self)
                }
            }
            (m, false) if m == YEAR | MONTH => day(self),
            (DAY, _) => month(self),
            (m, _) if m == MONTH | DAY => year(self),
            (DATE, _) if flen > 2 => self.number_field(text),
            _ => Err(ParseError::Format),
        }
    }

    /// Decodes digits without separators: a date (yymmdd, yyyymmdd), or after a date a time (hhmm,
    /// hhmmss).
    fn number_field(&mut self, text: &str) -> Parsed<()> {
        let mut digits = text;
        if let Some(i) = text.find('.') {
            // A fraction of seconds. (A fraction of days exists in intervals only.)
            self.f.micros = fraction(&text[i..])?;
            digits = &text[..i];
        } else if self.mask & DATE != DATE && text.len() >= 6 {
            let n = text.len();
            self.f.day = int(&text[n - 2..])?;
            self.f.month = int(&text[n - 4..n - 2])?;
            self.f.year = int(&text[..n - 4])?;
            self.is2digits = n - 4 == 2;
            return self.seen(DATE);
        }
        if self.mask & TIME != TIME {
            let part = |s: &str| int(s);
            match digits.len() {
                6 => {
                    self.f.second = part(&digits[4..])?;
                    self.f.minute = part(&digits[2..4])?;
                    self.f.hour = part(&digits[..2])?;
                }
                4 => {
                    self.f.second = 0;
                    self.f.minute = part(&digits[2..])?;
                    self.f.hour = part(&digits[..2])?;
                }
                _ => return Err(ParseError::Format),
            }
            if time_overflows(self.f.hour, self.f.minute, self.f.second, self.f.micros) {
                return Err(ParseError::Overflow);
            }
            return self.seen(TIME);
        }
        Err(ParseError::Format)
    }

    /// Decodes a number with a unit letter ("y2001 m02 d04", "j2451545").
    fn unit_number(&mut self, unit: Unit, text: &str) -> Parsed<()> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let val = int(&text[..digits])?;
        let frac = &text[digits..];
        if !frac.is_empty() && !matches!(unit, Unit::Julian | Unit::Second) {
            return Err(ParseError::Format);
        }
        match unit {
            Unit::Year => {
                self.f.year = val;
                self.seen(YEAR)
            }
            Unit::Month if self.mask & (MONTH | HOUR) == MONTH | HOUR => {
                self.f.minute = val;
                self.seen(MINUTE)
            }
            Unit::Month => {
                self.f.month = val;
                self.seen(MONTH)
            }
            Unit::Day => {
                self.f.day = val;
                self.seen(DAY)
            }
            Unit::Hour => {
                self.f.hour = val;
                self.seen(HOUR)
            }
            Unit::Minute => {
                self.f.minute = val;
                self.seen(MINUTE)
            }
            Unit::Second => {
                self.f.second = val;
                if !frac.is_empty() {
                    self.f.micros = fraction(frac)?;
                    self.mask |= MICRO;
                }
                self.seen(SECOND)
            }
            Unit::Julian => {
                self.set_julian(val)?;
                if !frac.is_empty() {
                    let part: f64 = format!("0{frac}").parse().map_err(|_| ParseError::Format)?;
                    let t = (part * USECS_PER_DAY as f64) as i64;
                    (self.f.hour, self.f.minute, self.f.second, self.f.micros) = time_fields(t);
                    self.seen(TIME)?;
                }
                Ok(())
            }
        }
    }

    fn set_julian(&mut self, jd: i32) -> Parsed<()> {
        if jd < 0 {
            return Err(ParseError::Overflow);
        }
        (self.f.year, self.f.month, self.f.day) = j2date(jd);
        self.julian = true;
        self.seen(DATE)
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

/// Whether the time is later than 24:00:00.
pub fn time_overflows(h: i32, m: i32, s: i32, us: i32) -> bool {
    !(0..=24).contains(&h)
        || !(0..60).contains(&m)
        || !(0..=60).contains(&s)
        || !(0..=1_000_000).contains(&us)
        || time_of(h, m, s, us) > USECS_PER_DAY
}
