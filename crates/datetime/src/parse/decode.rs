//! Decodes the fields of a date and time. The fields of a time with an optional date follow rules
//! of their own. Counterpart: DecodeDateTime, DecodeTimeOnly.

use super::{
    ADBC, AMPM, DATE, DAY, DOW, DTZ, DTZMOD, DYNTZ, DateTime, Decoder, Kind, MONTH, RESERVED, TIME,
    TZ, Token, Unit, Word, core_word, decode_offset, leading_int, time_overflows,
};
use crate::abbreviations::{abbreviation, dynamic_abbreviation};
use crate::calendar::{EPOCH_JDATE, Fields, USECS_PER_DAY, j2date};
use crate::convert;
use crate::error::{ParseError, Parsed};
use values::fn_context::FnContext;
use values::zone::Zone;

/// The state of decoding the fields of a date and time.
struct FieldDecoder<'a> {
    cx: &'a dyn FnContext,
    fields: &'a [(Token, String)],
    /// A time with an optional date is expected.
    time_only: bool,
    d: Decoder,
    kind: Kind,
    /// What the last word says of the number that follows.
    prefix: Option<Unit>,
    /// The zone has been given by its name, not by an abbreviation.
    named_zone: bool,
    text_month: bool,
}

impl FieldDecoder<'_> {
    /// Decodes a field; returns the mask of what it sets.
    fn field(&mut self, i: usize, token_type: Token, text: &str) -> Parsed<u32> {
        match token_type {
            Token::Date if self.time_only => self.date_of_time(i, text),
            Token::Date => self.date(text),
            Token::Time if self.time_only => self.d.time(text),
            Token::Time => {
                if self.prefix.take().is_some_and(|p| p != Unit::Time) {
                    return Err(ParseError::Format);
                }
                let mask = self.d.time(text)?;
                self.check_time()?;
                Ok(mask)
            }
            Token::Tz => {
                self.d.offset = decode_offset(text)?;
                Ok(TZ)
            }
            Token::Number => match self.prefix.take() {
                Some(unit) => {
                    self.kind = Kind::Finite;
                    self.d.unit_number(unit, text)
                }
                None if self.time_only => self.number_of_time(i, text),
                None => self.number(text),
            },
            Token::Word | Token::Special => self.word(i, token_type == Token::Word, text),
        }
    }

    fn check_time(&self) -> Parsed<()> {
        let f = &self.d.f;
        match time_overflows(f.hour, f.minute, f.second, f.micros) {
            true => Err(ParseError::Overflow),
            false => Ok(()),
        }
    }

    fn date(&mut self, text: &str) -> Parsed<u32> {
        if self.prefix == Some(Unit::Julian) {
            // "J2451187-8": a Julian day with a zone.
            self.prefix = None;
            let (day, rest) = leading_int(text)?;
            let date = self.d.julian_day(day)?;
            self.d.offset = decode_offset(rest)?;
            return Ok(date | TIME | TZ);
        }
        // After a month and a day, this is a time without separators, with a zone, or a zone's
        // name.
        if self.prefix.is_none() && self.d.mask & (MONTH | DAY) != MONTH | DAY {
            return self.d.date(text);
        }
        let prefix = self.prefix.take();
        if prefix.is_some_and(|p| p != Unit::Time) {
            return Err(ParseError::Format);
        }
        if prefix.is_some() || text.starts_with(|c: char| c.is_ascii_digit()) {
            return self.time_with_offset(text, self.d.mask);
        }
        self.zone(text)
    }

    fn date_of_time(&mut self, i: usize, text: &str) -> Parsed<u32> {
        if self.is_date_allowed(i, true) {
            return self.d.date(text);
        }
        match text.starts_with(|c: char| c.is_ascii_digit()) {
            true => self.time_with_offset(text, self.d.mask | DATE),
            false => self.zone(text),
        }
    }

    /// For a time, a date is accepted only as the first field, before a name with delimiters; if
    /// `before_time`, also before a time.
    fn is_date_allowed(&self, i: usize, before_time: bool) -> bool {
        let token = |i: usize| self.fields[i].0;
        let n = self.fields.len();
        i == 0
            && n >= 2
            && (token(n - 1) == Token::Date || (before_time && token(1) == Token::Time))
    }

    /// "040506-08": a time without separators, with an offset.
    fn time_with_offset(&mut self, text: &str, seen: u32) -> Parsed<u32> {
        if self.d.mask & TIME == TIME {
            return Err(ParseError::Format);
        }
        let end = text.find('-').ok_or(ParseError::Format)?;
        self.d.offset = decode_offset(&text[end..])?;
        Ok(self.d.number_field(&text[..end], seen)? | TZ)
    }

    /// The name of a time zone.
    fn zone(&mut self, name: &str) -> Parsed<u32> {
        let zone = Zone::named(name).ok_or_else(|| ParseError::Zone(name.to_string()))?;
        self.d.zone = Some(zone);
        self.named_zone = true;
        Ok(TZ)
    }

    fn number(&mut self, text: &str) -> Parsed<u32> {
        let seen = self.d.mask;
        match text.find('.') {
            Some(_) if seen & DATE == 0 => self.d.date(text),
            Some(whole) if whole > 2 => self.d.number_field(text, seen),
            _ if text.len() >= 6 && (seen & DATE == 0 || seen & TIME == 0) => {
                self.d.number_field(text, seen)
            }
            _ => self.d.number(text, seen, self.text_month),
        }
    }

    fn number_of_time(&mut self, i: usize, text: &str) -> Parsed<u32> {
        let seen = self.d.mask | DATE;
        match text.find('.') {
            Some(_) if self.is_date_allowed(i, false) => self.d.date(text),
            Some(whole) if whole > 2 => self.d.number_field(text, seen),
            Some(_) => Err(ParseError::Format),
            None if text.len() > 4 => self.d.number_field(text, seen),
            None => self.d.number(text, seen, false),
        }
    }

    /// A word; its meaning may depend on the position, as that of "T" does.
    fn word(&mut self, i: usize, is_word: bool, text: &str) -> Parsed<u32> {
        if let Some(mask) = self.abbreviation(is_word, text) {
            return Ok(mask);
        }
        Ok(match core_word(text) {
            Some(Word::Ignore) => 0,
            Some(Word::Dst) => {
                self.d.offset += 3600;
                DTZMOD | DTZ
            }
            Some(Word::Bc | Word::Ad) => {
                self.d.bc = text == "bc";
                ADBC
            }
            Some(Word::Am | Word::Pm) => {
                self.d.pm = Some(text == "pm");
                AMPM
            }
            Some(Word::IsoTime) => {
                if self.d.mask & DATE != DATE && !self.time_only {
                    return Err(ParseError::Format);
                }
                match self.fields.get(i + 1) {
                    Some((Token::Number | Token::Time | Token::Date, _)) => {
                        self.prefix = Some(Unit::Time);
                    }
                    _ => return Err(ParseError::Format),
                }
                0
            }
            Some(Word::Unit(unit)) => {
                self.prefix = Some(unit);
                0
            }
            Some(Word::Zulu) => {
                self.kind = Kind::Finite;
                (self.d.f.hour, self.d.f.minute, self.d.f.second) = (0, 0, 0);
                self.d.offset = 0;
                TIME | TZ
            }
            Some(Word::Now) => {
                self.kind = Kind::Finite;
                let (local, offset) = self.now();
                self.d.f = Fields::of_timestamp(local);
                if self.time_only {
                    return Ok(TIME);
                }
                self.d.offset = offset;
                DATE | TIME | TZ
            }
            Some(word) if !self.time_only => self.word_of_date(word),
            Some(_) => return Err(ParseError::Format),
            None => {
                self.d.zone = Some(Zone::named(text).ok_or(ParseError::Format)?);
                self.named_zone = true;
                TZ
            }
        })
    }

    /// The local time at the start of the transaction and its offset.
    fn now(&self) -> (i64, i32) {
        convert::utc_to_local(&self.cx.settings().time_zone, self.cx.transaction_timestamp())
    }

    /// A word that a time cannot have.
    fn word_of_date(&mut self, word: Word) -> u32 {
        let shift = match word {
            Word::Month(m) => {
                // "08 Jan": the number that was taken for the month is the day.
                let mask = self.d.mask;
                let is_day = mask & MONTH != 0
                    && !self.text_month
                    && mask & DAY == 0
                    && (1..=31).contains(&self.d.f.month);
                if is_day {
                    self.d.f.day = self.d.f.month;
                }
                self.d.f.month = m;
                self.text_month = true;
                return if is_day { DAY } else { MONTH };
            }
            Word::Dow => return DOW,
            Word::Yesterday => -1,
            Word::Today => 0,
            Word::Tomorrow => 1,
            _ => {
                self.kind = match word {
                    Word::Infinity => Kind::Infinity,
                    Word::NegInfinity => Kind::NegInfinity,
                    _ => Kind::Epoch,
                };
                return RESERVED;
            }
        };
        self.kind = Kind::Finite;
        let (local, _) = self.now();
        let day = local.div_euclid(USECS_PER_DAY) as i32 + shift + EPOCH_JDATE;
        (self.d.f.year, self.d.f.month, self.d.f.day) = j2date(day);
        DATE
    }

    /// An abbreviation of a time zone; these take precedence over other words.
    fn abbreviation(&mut self, is_word: bool, text: &str) -> Option<u32> {
        if !is_word {
            return None;
        }
        if let Some((offset, daylight)) = abbreviation(text) {
            self.d.offset = offset;
            return Some(if daylight { DTZ | TZ } else { TZ });
        }
        self.d.zone = Some(dynamic_abbreviation(text)?);
        Some(DYNTZ | TZ)
    }

    /// Completes and checks the result.
    fn finish(mut self) -> Parsed<DateTime> {
        self.d.validate_date()?;
        self.d.half_day()?;
        let mask = self.d.mask;
        let date = mask & DATE;
        if self.time_only {
            self.check_time()?;
            if mask & TIME != TIME {
                return Err(ParseError::Format);
            }
            // An offset that depends on the date requires a date; today's is used only for the
            // session's zone and for abbreviations.
            let zone = self.d.zone.as_ref().filter(|_| self.named_zone);
            let wants_date = match zone {
                Some(zone) => date != DATE && !zone.is_fixed(),
                None if mask & TZ == 0 || self.d.zone.is_some() => date != 0 && date != DATE,
                None => false,
            };
            if wants_date {
                return Err(ParseError::Format);
            }
        } else if self.kind == Kind::Finite && date != DATE {
            return Err(ParseError::Format);
        }
        let has_offset = mask & TZ != 0 && self.d.zone.is_none();
        if self.kind == Kind::Finite && mask & DTZMOD != 0 && !has_offset {
            return Err(ParseError::Format);
        }
        Ok(DateTime {
            kind: self.kind,
            fields: self.d.f,
            offset: has_offset.then_some(self.d.offset),
            zone: self.d.zone,
            has_date: date == DATE,
        })
    }
}

/// Decodes the fields of a date and time (`time_only`: of a time with an optional date).
pub fn decode(cx: &dyn FnContext, fields: &[(Token, String)], time_only: bool) -> Parsed<DateTime> {
    let mut decoder = FieldDecoder {
        cx,
        fields,
        time_only,
        d: Decoder::new(cx.settings().date_order),
        kind: Kind::Finite,
        prefix: None,
        named_zone: false,
        text_month: false,
    };
    for (i, (token_type, text)) in fields.iter().enumerate() {
        let mask = decoder.field(i, *token_type, text)?;
        decoder.d.seen(mask)?;
    }
    decoder.finish()
}
