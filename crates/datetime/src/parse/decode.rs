//! Decodes the fields of a date and time.

use super::{
    ADBC, AMPM, DATE, DAY, DOW, DTZMOD, DateTime, Decoder, Kind, MONTH, TIME, TZ, Token, Unit,
    Word, core_word, decode_offset, int, time_overflows,
};
use crate::abbreviations::{abbreviation, dynamic_abbreviation};
use crate::calendar::{EPOCH_JDATE, Fields, USECS_PER_DAY, j2date};
use crate::convert;
use crate::error::{ParseError, Parsed};
use values::fn_context::FnContext;
use values::zone::Zone;

/// Looks up a zone by its full name; the caller has tried the table of abbreviations.
fn named_zone(name: &str) -> Parsed<Zone> {
    Zone::named(name).ok_or_else(|| ParseError::Zone(name.to_string()))
}

/// For a time, a date is accepted only as the first field, with a time or a zone name after it.
fn is_date_allowed(fields: &[(Token, String)], i: usize) -> bool {
    i == 0
        && fields.len() >= 2
        && (fields[fields.len() - 1].0 == Token::Date || fields[1].0 == Token::Time)
}

/// The state of decoding the fields of a date and time.
struct FieldDecoder<'a> {
    cx: &'a dyn FnContext,
    fields: &'a [(Token, String)],
    /// A time with an optional date is expected.
    time_only: bool,
    d: Decoder,
    kind: Kind,
    /// The unit of the number that follows.
    prefix: Option<Unit>,
    /// A time without separators follows.
    iso_time: bool,
}

impl FieldDecoder<'_> {
    fn field(&mut self, i: usize, token_type: Token, text: &str) -> Parsed<()> {
        match token_type {
            Token::Date => self.date(i, text),
            Token::Time => {
                if self.prefix.is_some() {
                    return Err(ParseError::Format);
                }
                self.iso_time = false;
                self.d.set_time(text)
            }
            Token::Tz => {
                let offset = decode_offset(text)?;
                if self.d.mask & TZ != 0 && self.d.offset.is_none() {
                    return Err(ParseError::Format);
                }
                self.d.offset = Some(offset);
                self.d.seen(TZ)
            }
            Token::Number => self.number(text),
            Token::Word | Token::Special => self.word(i, token_type == Token::Word, text),
        }
    }

    fn date(&mut self, i: usize, text: &str) -> Parsed<()> {
        let numeric = text.starts_with(|c: char| c.is_ascii_digit());
        if self.prefix == Some(Unit::Julian) && numeric {
            // "J2451187-8": a Julian day with a zone.
            let end = text.find(['-', '+']).ok_or(ParseError::Format)?;
            self.d.set_julian(int(&text[..end])?)?;
            self.d.offset = Some(decode_offset(&text[end..])?);
            self.d.seen(TZ)?;
            self.prefix = None;
        } else if self.iso_time
            || self.d.mask & DATE == DATE
            || (self.time_only && numeric && !is_date_allowed(self.fields, i))
        {
            if numeric || self.iso_time {
                // "040506-08": a time without separators, with a zone.
                let end = text.find(['-', '+']).ok_or(ParseError::Format)?;
                self.d.offset = Some(decode_offset(&text[end..])?);
                self.d.seen(TZ)?;
                let dated = self.d.mask & DATE;
                self.d.mask |= if self.time_only { DATE } else { 0 };
                self.d.number_field(&text[..end])?;
                self.d.mask =
                    if self.time_only { self.d.mask & !DATE | dated } else { self.d.mask };
                self.iso_time = false;
            } else {
                self.d.zone = Some(named_zone(text)?);
                self.d.seen(TZ)?;
            }
        } else if self.time_only
            && !numeric
            && core_word(text.split(['-', '/', '.']).next().unwrap_or(text)).is_none()
        {
            self.d.zone = Some(named_zone(text)?);
            self.d.seen(TZ)?;
        } else if !numeric
            && core_word(text.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or(text))
                .is_none()
        {
            match Zone::named(text) {
                Some(z) => {
                    self.d.zone = Some(z);
                    self.d.seen(TZ)?;
                }
                None => self.d.date(text)?,
            }
        } else {
            self.d.date(text)?;
        }
        Ok(())
    }

    fn number(&mut self, text: &str) -> Parsed<()> {
        if let Some(unit) = self.prefix.take() {
            self.d.unit_number(unit, text)?;
        } else if self.iso_time {
            self.iso_time = false;
            let was = self.d.mask;
            self.d.mask |= DATE;
            self.d.number_field(text)?;
            self.d.mask = was | self.d.mask & !DATE | was & DATE;
        } else {
            let point = text.find('.');
            let whole = point.unwrap_or(text.len());
            let date_done = self.d.mask & DATE == DATE;
            if self.time_only
                && !date_done
                && self.d.mask & DATE == 0
                && point.is_none()
                && matches!(text.len(), 4 | 6)
                && self.fields.len() <= 2
            {
                self.d.mask |= DATE;
                self.d.number_field(text)?;
                self.d.mask &= !DATE;
            } else if point.is_some() && !date_done && !self.time_only {
                self.d.date(text)?;
            } else if point.is_some() && whole > 2 {
                let was = self.d.mask & DATE;
                if self.time_only {
                    self.d.mask |= DATE;
                }
                self.d.number_field(text)?;
                self.d.mask = self.d.mask & !DATE | was;
            } else if text.len() >= 6
                && (if self.time_only { !date_done } else { self.d.mask & DATE == 0 }
                    || self.d.mask & TIME == 0)
            {
                self.d.number_field(text)?;
            } else {
                self.d.number(text)?;
            }
        }
        Ok(())
    }

    /// A word; its meaning may depend on the position, as that of "T" does.
    fn word(&mut self, i: usize, is_word: bool, text: &str) -> Parsed<()> {
        match core_word(text) {
            Some(Word::Infinity) if self.fields.len() == 1 => self.kind = Kind::Infinity,
            Some(Word::NegInfinity) if self.fields.len() == 1 => self.kind = Kind::NegInfinity,
            Some(Word::Infinity | Word::NegInfinity) => return Err(ParseError::Format),
            Some(Word::Epoch) if !self.time_only => {
                self.kind = Kind::Epoch;
                self.d.seen(DATE | TIME | TZ)?;
            }
            Some(Word::Now) => {
                self.d.seen(DATE | TIME | TZ)?;
                let (local, offset) = convert::utc_to_local(
                    &self.cx.settings().time_zone,
                    self.cx.transaction_timestamp(),
                );
                self.d.f = Fields::of_timestamp(local);
                self.d.offset = Some(offset);
            }
            Some(w @ (Word::Today | Word::Tomorrow | Word::Yesterday)) if !self.time_only => {
                self.d.seen(DATE)?;
                let (local, _) = convert::utc_to_local(
                    &self.cx.settings().time_zone,
                    self.cx.transaction_timestamp(),
                );
                let shift = match w {
                    Word::Today => 0,
                    Word::Tomorrow => 1,
                    _ => -1,
                };
                let day = local.div_euclid(USECS_PER_DAY) as i32 + shift + EPOCH_JDATE;
                (self.d.f.year, self.d.f.month, self.d.f.day) = j2date(day);
            }
            Some(Word::Zulu) => {
                self.d.seen(TIME | TZ)?;
                self.d.offset = Some(0);
            }
            Some(Word::Month(m)) => {
                // "08 Jan": the number that was taken for the month is the day.
                if self.d.mask & MONTH != 0
                    && !self.d.text_month
                    && self.d.mask & DAY == 0
                    && (1..=31).contains(&self.d.f.month)
                {
                    self.d.f.day = self.d.f.month;
                    self.d.mask |= DAY;
                    self.d.mask &= !MONTH;
                }
                self.d.f.month = m;
                self.d.text_month = true;
                self.d.seen(MONTH)?;
            }
            Some(Word::Dow) => self.d.seen(DOW)?,
            Some(Word::Bc) => {
                self.d.bc = true;
                self.d.seen(ADBC)?;
            }
            Some(Word::Ad) => self.d.seen(ADBC)?,
            Some(Word::Am) => {
                self.d.pm = Some(false);
                self.d.seen(AMPM)?;
            }
            Some(Word::Pm) => {
                self.d.pm = Some(true);
                self.d.seen(AMPM)?;
            }
            Some(Word::Dst) if self.d.mask & TZ == 0 => return Err(ParseError::Format),
            Some(Word::Dst) => {
                self.d.dst_mod = 3600;
                self.d.seen(DTZMOD)?;
            }
            Some(Word::Ignore) => {}
            Some(Word::IsoTime) => {
                // Valid only between a date and a time.
                if self.d.mask & DATE != DATE && !self.time_only {
                    return Err(ParseError::Format);
                }
                match self.fields.get(i + 1) {
                    Some((Token::Number | Token::Time | Token::Date, _)) => self.iso_time = true,
                    _ => return Err(ParseError::Format),
                }
            }
            Some(Word::Unit(u)) => self.prefix = Some(u),
            Some(_) => return Err(ParseError::Format),
            None => self.zone_name(is_word, text)?,
        }
        Ok(())
    }

    /// An abbreviation of a time zone, or its name.
    fn zone_name(&mut self, is_word: bool, text: &str) -> Parsed<()> {
        let zone_word = is_word.then(|| abbreviation(text)).flatten();
        if let Some((offset, _)) = zone_word {
            self.d.offset = Some(offset);
            self.d.seen(TZ)?;
        } else if let Some(zone) = dynamic_abbreviation(text) {
            self.d.zone = Some(zone);
            self.d.seen(TZ)?;
        } else if is_word && text.len() > 1 {
            match Zone::named(text) {
                Some(z) => {
                    self.d.zone = Some(z);
                    self.d.seen(TZ)?;
                }
                None => return Err(ParseError::Format),
            }
        } else if text == "z" {
            self.d.offset = Some(0);
            self.d.seen(TZ)?;
        } else {
            return Err(ParseError::Format);
        }
        Ok(())
    }

    /// Completes and checks the result.
    fn finish(mut self) -> Parsed<DateTime> {
        // A trailing "T" must be followed by a time; other units without a number are ignored.
        if self.iso_time {
            return Err(ParseError::Format);
        }
        if self.kind == Kind::Finite {
            self.d.validate_date()?;
            self.d.half_day()?;
            let date = self.d.mask & DATE;
            if !self.time_only && date != DATE {
                return Err(ParseError::Format);
            }
            if self.time_only && self.d.mask & TIME != TIME {
                return Err(ParseError::Format);
            }
            // The offset of today's date is used, so an incomplete date is an error.
            if self.time_only && self.d.mask & TZ == 0 && date != 0 && date != DATE {
                return Err(ParseError::Format);
            }
            if self.time_only
                && time_overflows(self.d.f.hour, self.d.f.minute, self.d.f.second, self.d.f.micros)
            {
                return Err(ParseError::Overflow);
            }
        }
        Ok(DateTime {
            kind: self.kind,
            fields: self.d.f,
            offset: self.d.offset.map(|o| o + self.d.dst_mod),
            zone: self.d.zone,
            has_date: self.d.mask & DATE == DATE,
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
        iso_time: false,
    };
    for (i, (token_type, text)) in fields.iter().enumerate() {
        decoder.field(i, *token_type, text)?;
    }
    decoder.finish()
}
