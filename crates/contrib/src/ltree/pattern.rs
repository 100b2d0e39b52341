//! lquery: patterns of paths.
//!
//! ```text
//! u16 count, u16 number of leading levels that are plain labels, u16 flags; from offset 12 levels:
//! u16 size, flags, count of variants (0: `*`), lowest and highest number of repetitions
//! variants from offset 16: i32 checksum, u16 length, u8 flags, the word; 8 bytes and the length,
//! rounded up to a multiple of 8
//! ```

use super::label::{self, flag_of, push_flags};
use super::value::{
    LEVELS_MAX, Ltree, char_at, check_label, count, is_label_char, received, sent, unexpected,
    unexpected_end,
};
use pgerror::{Result, pg_err};
use stdx::stack::deep;
use types::string::case::Letters;
use types::textsearch::ctype::Ctype;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker, InterruptTicker};
use values::memory;

/// Flags of a level beyond those of its variants.
const NOT: u16 = 0x10;
const COUNTED: u16 = 0x20;
/// A flag of the pattern: a level has [`NOT`].
const HAS_NOT: u16 = 1;
const LEVELS_AT: usize = 12;
const LEVEL_HEADER: usize = 16;
const VARIANT_HEADER: usize = 8;
const WORD_AT: usize = 7;
/// Bytes of a level, and variants of it, at most.
const LEVEL_MAX: usize = 65_535;
/// The highest number of repetitions without limit.
const UNLIMITED: u16 = 65_535;

/// A level of a pattern.
#[derive(Clone, Debug, Default)]
struct Level<'a> {
    flags: u16,
    /// The lowest and highest number of labels, of levels with [`COUNTED`] and of `*`.
    low: u16,
    high: u16,
    /// Words and their flags; none for `*`.
    variants: Vec<(&'a [u8], u8)>,
}

impl Level<'_> {
    fn range(&self) -> (usize, usize) {
        match self.variants.is_empty() || self.flags & COUNTED != 0 {
            true => (usize::from(self.low), usize::from(self.high)),
            false => (1, 1),
        }
    }

    /// Whether a label matches, without regard to the number of repetitions.
    fn matches(&self, label: &[u8], letters: &Letters) -> bool {
        let found = self.variants.is_empty()
            || self
                .variants
                .iter()
                .any(|(word, flags)| label::matches(word, label, *flags, letters));
        found != (self.flags & NOT != 0)
    }
}

/// What the parser expects.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Level,
    Variant,
    /// More characters of a word, or what follows it.
    Word,
    /// A count or the end of `*`.
    Star,
    Low,
    LowDigits,
    High,
    HighDigits,
    End,
}

/// The word that is being read.
#[derive(Clone, Copy, Default)]
struct Word {
    start: usize,
    chars: i64,
    flags: u8,
}

struct Parser<'a> {
    text: &'a [u8],
    ctype: Ctype,
    levels: Vec<Level<'a>>,
    word: Word,
    at: usize,
    /// Position of the character, from 1.
    position: i64,
}

impl<'a> Parser<'a> {
    fn level(&mut self) -> &mut Level<'a> {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        self.levels.last_mut().expect("there is a level")
    }

    fn unexpected(&self) -> pgerror::PgError {
        unexpected("lquery", self.position)
    }

    /// Ends a word. Flags behind it are not part of it.
    fn end_word(&mut self) -> Result<()> {
        let mut end = self.at;
        let (mut chars, mut position) = (self.word.chars, self.position);
        while end > self.word.start && b"@*%".contains(&self.text[end - 1]) {
            end -= 1;
            chars -= 1;
            position -= 1;
        }
        if end == self.word.start {
            return Err(unexpected("lquery", position).detail("Empty labels are not allowed."));
        }
        check_label(chars, position)?;
        let (start, flags) = (self.word.start, self.word.flags);
        let text = self.text;
        self.level().variants.push((&text[start..end], flags));
        Ok(())
    }

    fn number(&self) -> i32 {
        let digits = self.text[self.at..].iter().take_while(|c| c.is_ascii_digit());
        let value = digits.fold(0i64, |value, digit| {
            value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
        });
        value as i32
    }

    fn next_level(&mut self) -> State {
        self.levels.push(Level::default());
        State::Level
    }

    /// Reads a character; returns what is expected next.
    fn step(&mut self, state: State, c: u32) -> Result<State> {
        let sign = u8::try_from(c).unwrap_or(0);
        let in_label = is_label_char(self.ctype, c);
        Ok(match (state, sign) {
            (State::Level, _) if in_label => {
                self.level();
                self.word = Word { start: self.at, ..Word::default() };
                State::Word
            }
            (State::Level, b'!') => {
                self.level().flags |= NOT;
                self.word = Word { start: self.at + 1, chars: -1, flags: 0 };
                State::Word
            }
            (State::Level, b'*') => {
                self.level();
                State::Star
            }
            (State::Variant, _) if in_label => {
                if self.level().variants.len() == LEVEL_MAX {
                    return Err(too_many_variants());
                }
                self.word = Word { start: self.at, ..Word::default() };
                State::Word
            }
            (State::Word, b'@' | b'*' | b'%') => {
                let flag = flag_of(c).unwrap_or_default();
                self.word.flags |= flag;
                self.level().flags |= u16::from(flag);
                State::Word
            }
            (State::Word, b'|' | b'{' | b'.') => {
                self.end_word()?;
                match sign {
                    b'|' => State::Variant,
                    b'{' => {
                        self.level().flags |= COUNTED;
                        State::Low
                    }
                    _ => self.next_level(),
                }
            }
            // No characters may follow flags.
            (State::Word, _) if in_label && self.word.flags == 0 => State::Word,
            (State::Star, b'{') => State::Low,
            (State::Star, b'.') => {
                self.level().high = UNLIMITED;
                self.next_level()
            }
            (State::End, b'.') => self.next_level(),
            _ => return self.count_step(state, sign),
        })
    }

    /// Reads a character of the number of repetitions.
    fn count_step(&mut self, state: State, sign: u8) -> Result<State> {
        Ok(match (state, sign) {
            (State::Low, b',') => State::High,
            (State::Low, b'0'..=b'9') => {
                let low = self.number();
                self.level().low = u16::try_from(low).map_err(|_| self.limit("Low", low))?;
                State::LowDigits
            }
            (State::LowDigits, b'}') => {
                let low = self.level().low;
                self.level().high = low;
                State::End
            }
            (State::LowDigits, b',') => State::High,
            (State::LowDigits, b'0'..=b'9') => State::LowDigits,
            (State::High, b'0'..=b'9') => {
                self.high()?;
                State::HighDigits
            }
            (State::High, b'}') => {
                self.level().high = UNLIMITED;
                State::End
            }
            (State::HighDigits, b'}') => State::End,
            (State::HighDigits, b'0'..=b'9') => State::HighDigits,
            _ => return Err(self.unexpected()),
        })
    }

    fn high(&mut self) -> Result<()> {
        let (high, low) = (self.number(), self.level().low);
        let value = u16::try_from(high).map_err(|_| self.limit("High", high))?;
        if low > value {
            let position = self.position;
            return Err(pg_err!(SYNTAX_ERROR, "lquery syntax error").detail(format!(
                "Low limit ({low}) is greater than high limit ({high}), at character {position}."
            )));
        }
        self.level().high = value;
        Ok(())
    }

    #[cold]
    fn limit(&self, which: &str, value: i32) -> pgerror::PgError {
        let position = self.position;
        pg_err!(PROGRAM_LIMIT_EXCEEDED, "lquery syntax error").detail(format!(
            "{which} limit ({value}) exceeds the maximum allowed ({LEVELS_MAX}), at character \
             {position}."
        ))
    }

    fn parse(mut self, cx: &dyn FnContext) -> Result<Vec<Level<'a>>> {
        let (mut state, mut ticker) = (State::Level, InterruptTicker::default());
        while let Some((c, length)) = char_at(self.ctype, self.text, self.at) {
            ticker.tick(cx)?;
            state = self.step(state, c)?;
            self.at += length;
            if state == State::Word {
                self.word.chars += 1;
            }
            self.position += 1;
        }
        match state {
            State::Word => self.end_word()?,
            State::Star => self.level().high = UNLIMITED,
            State::End => {}
            _ => return Err(unexpected_end("lquery")),
        }
        Ok(self.levels)
    }
}

#[cold]
fn too_many_variants() -> pgerror::PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "lquery level has too many variants")
        .detail(format!("Number of variants exceeds the maximum allowed ({LEVEL_MAX})."))
}

/// The stored form.
fn encode(levels: &[Level<'_>]) -> Result<Datum> {
    let plain = levels.iter().take_while(|l| l.variants.len() == 1 && l.flags == 0).count();
    let has_not = levels.iter().any(|l| l.flags & NOT != 0);
    let mut out = Vec::new();
    for word in [levels.len() as u16, plain as u16, if has_not { HAS_NOT } else { 0 }] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.resize(LEVELS_AT, 0);
    for level in levels {
        let sizes = level.variants.iter().map(|(word, _)| variant_size(word.len()));
        let size = LEVEL_HEADER + sizes.sum::<usize>();
        if size > LEVEL_MAX {
            return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "lquery level is too large").detail(
                format!("Total size of level exceeds the maximum allowed ({LEVEL_MAX} bytes)."),
            ));
        }
        memory::reserve(&mut out, size)?;
        let start = out.len();
        let words = [size as u16, level.flags, level.variants.len() as u16, level.low, level.high];
        words.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        out.resize(start + LEVEL_HEADER, 0);
        for (word, flags) in &level.variants {
            let end = out.len() + variant_size(word.len());
            out.extend_from_slice(&label::checksum(word).to_le_bytes());
            out.extend_from_slice(&(word.len() as u16).to_le_bytes());
            out.push(*flags);
            out.extend_from_slice(word);
            out.resize(end, 0);
        }
    }
    Ok(Datum::bytes(out))
}

fn variant_size(length: usize) -> usize {
    VARIANT_HEADER + length.next_multiple_of(8)
}

/// The levels of a stored pattern; of a damaged one those within its bytes.
fn decode(d: DatumRef<'_>) -> Vec<Level<'_>> {
    let bytes = d.as_bytes();
    let word = |at: usize| {
        let word = bytes.get(at..).and_then(|b| b.first_chunk());
        word.map_or(0, |b| u16::from_le_bytes(*b))
    };
    let mut at = LEVELS_AT;
    let mut levels = Vec::new();
    for _ in 0..word(0) {
        if at >= bytes.len() {
            break;
        }
        let mut level = Level {
            flags: word(at + 2),
            low: word(at + 6),
            high: word(at + 8),
            variants: Vec::new(),
        };
        let mut variant = at + LEVEL_HEADER;
        for _ in 0..word(at + 4) {
            if variant >= bytes.len() {
                break;
            }
            let length = usize::from(word(variant + 4));
            let flags = bytes.get(variant + 6).copied().unwrap_or_default();
            let start = variant + WORD_AT;
            level.variants.push((bytes.get(start..start + length).unwrap_or_default(), flags));
            variant += variant_size(length);
        }
        at += usize::from(word(at)).next_multiple_of(8).max(LEVEL_HEADER);
        levels.push(level);
    }
    levels
}

fn input(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let ctype = Ctype::of(cx.settings());
    let items = count(ctype, text, b'.') + 1;
    if items > LEVELS_MAX {
        return Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "number of lquery items ({items}) exceeds the maximum allowed ({LEVELS_MAX})"
        ));
    }
    let (word, levels) = (Word::default(), Vec::new());
    let parser = Parser { text, ctype, levels, word, at: 0, position: 1 };
    encode(&parser.parse(cx)?)
}

fn output(d: DatumRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, level) in decode(d).iter().enumerate() {
        if i > 0 {
            out.push(b'.');
        }
        if level.flags & NOT != 0 && !level.variants.is_empty() {
            out.push(b'!');
        }
        for (n, (word, flags)) in level.variants.iter().enumerate() {
            if n > 0 {
                out.push(b'|');
            }
            out.extend_from_slice(word);
            push_flags(*flags, &mut out);
        }
        let is_star = level.variants.is_empty();
        if is_star {
            out.push(b'*');
        }
        if is_star || level.flags & COUNTED != 0 {
            out.extend_from_slice(range_text(level.low, level.high, is_star).as_bytes());
        }
    }
    out
}

fn range_text(low: u16, high: u16, is_star: bool) -> String {
    match (low, high) {
        _ if low == high => format!("{{{low}}}"),
        (0, UNLIMITED) if is_star => String::new(),
        (0, UNLIMITED) => "{,}".to_owned(),
        (0, high) => format!("{{,{high}}}"),
        (low, UNLIMITED) => format!("{{{low},}}"),
        (low, high) => format!("{{{low},{high}}}"),
    }
}

/// Whether the labels match the levels.
fn matches_levels(
    levels: &[Level<'_>],
    labels: &[&[u8]],
    letters: &Letters,
    interrupts: &InterruptChecker<'_>,
) -> Result<bool> {
    interrupts.tick()?;
    let (mut levels, mut labels) = (levels, labels);
    while let Some((level, rest)) = levels.split_first() {
        let (low, high) = level.range();
        let high = high.min(labels.len());
        if high < low {
            return Ok(false);
        }
        for matched in 0..high {
            if matched >= low && deep(|| matches_levels(rest, labels, letters, interrupts))? {
                return Ok(true);
            }
            let Some((label, others)) = labels.split_first() else { return Ok(false) };
            if !level.matches(label, letters) {
                return Ok(false);
            }
            labels = others;
        }
        levels = rest;
    }
    Ok(labels.is_empty())
}

/// Whether a path matches a pattern.
pub(super) fn matches(cx: &dyn FnContext, tree: DatumRef<'_>, query: DatumRef<'_>) -> Result<bool> {
    let labels: Vec<&[u8]> = Ltree::new(tree).labels().collect();
    let interrupts = InterruptChecker::new(cx);
    let letters = Letters::of_database(cx.settings());
    matches_levels(&decode(query), &labels, &letters, &interrupts)
}

scalars! { FNS;
    "lquery_in" => |cx, a| input(cx, a[0].as_bytes()),
    "lquery_out" => |_, a| Ok(Datum::bytes(output(a[0]))),
    "lquery_recv" => |cx, a| input(cx, &received(cx, a[0].as_bytes(), "lquery")?),
    "lquery_send" => |cx, a| sent(cx, &output(a[0])),
    "ltq_regex" => |cx, a| Ok(Datum::bool(matches(cx, a[0], a[1])?)),
    "ltq_rregex" => |cx, a| Ok(Datum::bool(matches(cx, a[1], a[0])?)),
}
