//! Text → lexemes: the tokens of the parser go through the dictionaries of a configuration.
//! Counterpart: ts_parse.c.

use crate::ctype::Ctype;
use crate::dict::{Dictionary, Lexeme, Lexized, Phrase};
use crate::limits::{LEXEME_BYTES_LIMIT, limited};
use crate::parser::Parser;
use ids::Oid;
use pgerror::{PgError, Result, Severity, SqlState};
use std::collections::VecDeque;
use std::sync::Arc;
use values::fn_context::SessionContext;

/// The dictionaries of a configuration, in order, by number of token type.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    pub map: Vec<Vec<Oid>>,
}

/// What the processing of a text needs of the session.
pub trait Lexer: SessionContext {
    /// The dictionary with this OID.
    fn dictionary_by_oid(&mut self, oid: Oid) -> Result<Arc<dyn Dictionary>>;
}

impl Configuration {
    fn dictionaries(&self, kind: u8) -> &[Oid] {
        self.map.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }
}

/// A token that waits for its dictionaries, or whose lexemes were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting<'a> {
    /// Number of the token type; 0 for the end of the text.
    pub kind: u8,
    pub text: &'a [u8],
    number: usize,
}

/// A dictionary that gets several tokens.
struct Multiword {
    dictionary: Oid,
    /// Number of the next token for it.
    next: usize,
}

/// Passes tokens to dictionaries.
struct Lexizer<'a, 'c> {
    configuration: &'c Configuration,
    waiting: VecDeque<Waiting<'a>>,
    /// Tokens whose lexemes are returned, or that have none.
    done: Vec<Waiting<'a>>,
    count: usize,
    multiword: Option<Multiword>,
    /// Dictionaries of the first token that were tried.
    tried: usize,
    phrase: Phrase,
    /// The longest phrase that was found so far, and the number of its last token.
    best: Option<(Vec<Lexeme>, usize)>,
}

impl<'a> Lexizer<'a, '_> {
    fn add(&mut self, kind: u8, text: &'a [u8]) {
        self.waiting.push_back(Waiting { kind, text, number: self.count });
        self.count += 1;
    }

    fn finish_first(&mut self) {
        self.done.extend(self.waiting.pop_front());
        self.tried = 0;
    }

    /// Finishes the tokens up to a number.
    fn finish_to(&mut self, number: usize) {
        while let Some(first) = self.waiting.front() {
            let last = first.number == number;
            self.finish_first();
            if last {
                break;
            }
        }
    }

    fn get(&self, number: usize) -> Option<Waiting<'a>> {
        let first = self.waiting.front()?.number;
        self.waiting.get(number.checked_sub(first)?).copied()
    }

    /// The lexemes of the next token or phrase; `None` if more tokens are needed.
    fn next(&mut self, lexer: &mut dyn Lexer) -> Result<Lexized> {
        loop {
            let result = match self.multiword {
                None => self.single(lexer)?,
                Some(_) => self.several(lexer)?,
            };
            match result {
                Step::Found(lexemes) => return Ok(Some(lexemes)),
                Step::Changed => {}
                Step::Exhausted => return Ok(None),
            }
        }
    }

    /// Lexizes tokens one by one.
    fn single(&mut self, lexer: &mut dyn Lexer) -> Result<Step> {
        let configuration = self.configuration;
        while let Some(first) = self.waiting.front().copied() {
            let dictionaries = configuration.dictionaries(first.kind);
            let mut filtered: Option<Box<[u8]>> = None;
            for (i, oid) in dictionaries.iter().enumerate().skip(self.tried) {
                let dictionary = lexer.dictionary_by_oid(*oid)?;
                self.phrase = Phrase::default();
                let text = filtered.as_deref().unwrap_or(first.text);
                let result = dictionary.lexize(text, &mut self.phrase)?;
                if self.phrase.wants_next {
                    let next = first.number + 1;
                    self.multiword = Some(Multiword { dictionary: *oid, next });
                    self.tried = i + 1;
                    if let Some(result) = result {
                        self.best = Some((result, first.number));
                    }
                    return Ok(Step::Changed);
                }
                let Some(mut lexemes) = result else { continue };
                if lexemes.first().is_some_and(|l| l.filter) {
                    filtered = Some(lexemes.swap_remove(0).text);
                    continue;
                }
                self.finish_first();
                return Ok(Step::Found(lexemes));
            }
            self.finish_first();
        }
        Ok(Step::Exhausted)
    }

    /// Passes tokens to the dictionary that wants several.
    fn several(&mut self, lexer: &mut dyn Lexer) -> Result<Step> {
        while let Some(Multiword { dictionary: oid, next }) = self.multiword {
            let Some(token) = self.get(next) else { return Ok(Step::Exhausted) };
            let advanced = Some(Multiword { dictionary: oid, next: next + 1 });
            if token.kind != 0 {
                let dictionaries = self.configuration.dictionaries(token.kind);
                if dictionaries.is_empty() {
                    self.multiword = advanced;
                    continue;
                }
                if !dictionaries.contains(&oid) {
                    // The tokens are lexized one by one instead.
                    self.multiword = None;
                    return Ok(Step::Changed);
                }
            }
            let dictionary = lexer.dictionary_by_oid(oid)?;
            self.phrase.at_end = token.kind == 0;
            self.phrase.wants_next = false;
            let result = dictionary.lexize(token.text, &mut self.phrase)?;
            if self.phrase.wants_next {
                self.multiword = advanced;
                if let Some(result) = result {
                    self.best = Some((result, token.number));
                }
                continue;
            }
            self.multiword = None;
            let Some((lexemes, last)) = result.map(|r| (r, token.number)).or(self.best.take())
            else {
                return Ok(Step::Changed);
            };
            self.best = None;
            self.finish_to(last);
            self.tried = 0;
            return Ok(Step::Found(lexemes));
        }
        Ok(Step::Changed)
    }
}

enum Step {
    Found(Vec<Lexeme>),
    /// The kind of processing changed.
    Changed,
    /// More tokens are needed.
    Exhausted,
}

/// Lexizes a text. `each` gets the tokens that were processed, and their lexemes: `None` if there
/// are none because no dictionary knows the tokens.
pub(crate) fn each_lexized<'a>(
    lexer: &mut dyn Lexer,
    configuration: &Configuration,
    text: &'a [u8],
    mut each: impl FnMut(&[Waiting<'a>], Option<&[Lexeme]>),
) -> Result<()> {
    let ctype = Ctype::of(lexer.settings());
    let mut parser = Parser::new(text, ctype);
    let mut lexizer = Lexizer {
        configuration,
        waiting: VecDeque::new(),
        done: Vec::new(),
        count: 0,
        multiword: None,
        tried: 0,
        phrase: Phrase::default(),
        best: None,
    };
    let mut rounds = 0u32;
    loop {
        rounds = rounds.wrapping_add(1);
        if rounds.is_multiple_of(256) {
            lexer.check_interrupts()?;
        }
        let token = parser.next_token();
        if token.is_some_and(|t| t.text.len() >= LEXEME_BYTES_LIMIT) {
            lexer.notice(too_long());
            continue;
        }
        lexizer.add(token.map_or(0, |t| t.kind as u8), token.map_or(&[], |t| t.text));
        loop {
            let lexemes = lexizer.next(lexer)?;
            each(&lexizer.done, lexemes.as_deref());
            lexizer.done.clear();
            if lexemes.is_none() {
                break;
            }
        }
        if token.is_none() {
            return Ok(());
        }
    }
}

fn too_long() -> PgError {
    PgError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "word is too long to be indexed")
        .severity(Severity::Notice)
        .detail(format!("Words longer than {LEXEME_BYTES_LIMIT} characters are ignored."))
}

/// A lexeme with its position in a text.
#[derive(Clone, Debug)]
pub struct PlacedLexeme {
    pub lexeme: Lexeme,
    pub position: u16,
}

/// The lexemes of one or several texts.
#[derive(Clone, Debug, Default)]
pub struct Lexemes {
    pub words: Vec<PlacedLexeme>,
    /// The last position.
    pub position: u32,
}

impl Lexemes {
    /// Adds the lexemes of a text after those before. Counterpart: `parsetext`.
    pub fn add(
        &mut self,
        lexer: &mut dyn Lexer,
        configuration: &Configuration,
        text: &[u8],
    ) -> Result<()> {
        each_lexized(lexer, configuration, text, |_, lexemes| {
            let Some(lexemes) = lexemes else { return };
            self.position += 1;
            for lexeme in lexemes {
                if lexeme.next_position {
                    self.position += 1;
                }
                let position = limited(self.position);
                self.words.push(PlacedLexeme { lexeme: lexeme.clone(), position });
            }
        })
    }
}
