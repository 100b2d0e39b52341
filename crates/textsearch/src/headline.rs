//! Excerpts of a document with the query's words marked. Counterpart: wparser_def.c
//! (`prsd_headline`), ts_parse.c (`generateHeadline`).

mod cover;
mod select;

use crate::dict::Options;
use crate::lexize::{Configuration, Lexer, each_lexized};
use crate::limits::limited;
use crate::parser::TokenType;
use crate::query::Query;
use pgerror::{PgError, Result, pg_err};

/// A token of the document.
#[derive(Clone)]
pub(super) struct Word<'a> {
    kind: u8,
    text: &'a [u8],
    position: u16,
    /// The query's item that it matches.
    item: Option<usize>,
    /// A copy of the word before for another item.
    repeated: bool,
    shown: bool,
    marked: bool,
    /// A space is shown in its place.
    replaced: bool,
    skipped: bool,
}

const TAG: u8 = TokenType::Tag as u8;
const BLANK: u8 = TokenType::Blank as u8;

impl Word<'_> {
    /// The token is a whole whose parts follow.
    fn is_compound(&self) -> bool {
        const COMPOUNDS: [u8; 4] = [
            TokenType::Url as u8,
            TokenType::NumHyphenated as u8,
            TokenType::AsciiHyphenated as u8,
            TokenType::Hyphenated as u8,
        ];
        COMPOUNDS.contains(&self.kind)
    }

    fn is_no_word(&self) -> bool {
        self.kind == BLANK || self.kind == TAG || self.is_compound()
    }

    /// Whether a headline should not end here by the kind of the token.
    fn is_no_end(&self) -> bool {
        const NUMBERS: [u8; 7] = [
            TokenType::Scientific as u8,
            TokenType::Version as u8,
            TokenType::Float as u8,
            TokenType::Int as u8,
            TokenType::UInt as u8,
            TokenType::Protocol as u8,
            TokenType::Entity as u8,
        ];
        self.is_no_word() || NUMBERS.contains(&self.kind)
    }

    fn is_searched(&self) -> bool {
        self.item.is_some() && !self.repeated
    }
}

/// What the options say.
pub(super) struct Settings {
    min_words: i32,
    max_words: i32,
    /// Words of at most so many bytes are no good ends.
    short_word: i32,
    max_fragments: i32,
    all: bool,
    start: String,
    stop: String,
    delimiter: String,
}

fn integer(text: &str) -> Result<i32> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(values::type_io::bad_syntax("integer", text.as_bytes()));
    }
    let number = trimmed.strip_prefix('+').unwrap_or(trimmed).parse();
    number.map_err(|_| values::type_io::text_out_of_range("integer", text.as_bytes()))
}

impl Settings {
    fn read(options: &Options) -> Result<Settings> {
        let mut out = Settings {
            min_words: 15,
            max_words: 35,
            short_word: 3,
            max_fragments: 0,
            all: false,
            start: "<b>".to_owned(),
            stop: "</b>".to_owned(),
            delimiter: " ... ".to_owned(),
        };
        for (name, value) in options {
            let text = value.text();
            match name.to_ascii_lowercase().as_str() {
                "maxwords" => out.max_words = integer(&text)?,
                "minwords" => out.min_words = integer(&text)?,
                "shortword" => out.short_word = integer(&text)?,
                "maxfragments" => out.max_fragments = integer(&text)?,
                "startsel" => out.start = text,
                "stopsel" => out.stop = text,
                "fragmentdelimiter" => out.delimiter = text,
                "highlightall" => {
                    let text = text.to_ascii_lowercase();
                    out.all = ["1", "on", "true", "t", "y", "yes"].contains(&text.as_str());
                }
                _ => {
                    return Err(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "unrecognized headline parameter: \"{name}\""
                    ));
                }
            }
        }
        out.check()?;
        Ok(out)
    }

    fn check(&self) -> Result<()> {
        let error = |message: &str| Err(pg_err!(INVALID_PARAMETER_VALUE, "{message}"));
        if self.all {
            return Ok(());
        }
        match () {
            () if self.min_words >= self.max_words => {
                error("MinWords should be less than MaxWords")
            }
            () if self.min_words <= 0 => error("MinWords should be positive"),
            () if self.short_word < 0 => error("ShortWord should be >= 0"),
            () if self.max_fragments < 0 => error("MaxFragments should be >= 0"),
            () => Ok(()),
        }
    }

    /// Checked after the headline is selected.
    fn check_lengths(&self) -> Result<()> {
        let texts = [
            ("StartSel", &self.start),
            ("StopSel", &self.stop),
            ("FragmentDelimiter", &self.delimiter),
        ];
        match texts.iter().find(|(_, text)| text.len() > i16::MAX as usize) {
            None => Ok(()),
            Some((name, _)) => {
                Err(pg_err!(INVALID_PARAMETER_VALUE, "value for \"{name}\" is too long"))
            }
        }
    }
}

/// Sets the position of the last word, and the query's items that match the lexeme.
fn add_items(words: &mut Vec<Word<'_>>, query: Query<'_>, position: u32, lexeme: &[u8]) {
    let Some(last) = words.len().checked_sub(1) else { return };
    words[last].position = limited(position);
    for (item, operand) in query.operands() {
        let word = query.word(&operand);
        let found = if operand.prefix { lexeme.starts_with(word) } else { lexeme == word };
        if !found {
            continue;
        }
        if words[last].item.is_none() {
            words[last].item = Some(item);
        } else {
            words.push(Word { item: Some(item), repeated: true, ..words[last].clone() });
        }
    }
}

/// The tokens of the document with the query's items that they match.
fn words<'a>(
    lexer: &mut dyn Lexer,
    configuration: &Configuration,
    query: Query<'_>,
    text: &'a [u8],
) -> Result<Vec<Word<'a>>> {
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut position = 0u32;
    each_lexized(lexer, configuration, text, |tokens, lexemes| {
        if lexemes.is_some() {
            position += 1;
        }
        for token in tokens {
            if token.kind > 0 {
                words.push(Word {
                    kind: token.kind,
                    text: token.text,
                    position: 0,
                    item: None,
                    repeated: false,
                    shown: false,
                    marked: false,
                    replaced: false,
                    skipped: false,
                });
            }
            let mut place = position;
            for lexeme in lexemes.unwrap_or_default() {
                if lexeme.next_position {
                    place += 1;
                }
                add_items(&mut words, query, place, &lexeme.text);
            }
        }
        let moved = lexemes.unwrap_or_default().iter().filter(|l| l.next_position).count();
        position += moved as u32;
    })?;
    Ok(words)
}

/// The marked words as text.
fn write(words: &[Word<'_>], settings: &Settings) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut inside, mut fragments) = (false, 0);
    for word in words.iter().filter(|w| !w.repeated) {
        if !word.shown {
            inside = false;
            continue;
        }
        if !inside {
            inside = true;
            fragments += 1;
            if fragments > 1 {
                out.extend(settings.delimiter.as_bytes());
            }
        }
        if word.replaced {
            out.push(b' ');
        } else if !word.skipped {
            let (start, stop) = match word.marked {
                true => (settings.start.as_bytes(), settings.stop.as_bytes()),
                false => (&b""[..], &b""[..]),
            };
            out.extend(start);
            out.extend(word.text);
            out.extend(stop);
        }
    }
    out
}

/// The headline of a document (`ts_headline`).
pub fn headline(
    lexer: &mut dyn Lexer,
    configuration: &Configuration,
    text: &[u8],
    query: &[u8],
    options: &Options,
) -> Result<Vec<u8>> {
    let query = Query::new(query);
    let mut words = words(lexer, configuration, query, text)?;
    let settings = Settings::read(options)?;
    select::select(lexer, &mut words, query, &settings)?;
    settings.check_lengths()?;
    Ok(write(&words, &settings))
}

/// 0A000: the parser of a configuration makes no headlines.
pub fn no_headlines() -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "text search parser does not support headline creation")
}
