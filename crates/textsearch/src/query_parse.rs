//! Parses the text forms of queries: tsquery's own, plain text, and the syntax of web searches.
//! Counterpart: tsquery.c (`parse_tsquery`).

use crate::ctype::Ctype;
use crate::lexeme_reader::{Form, LexemeReader, is_operator};
use crate::limits::{LEXEME_BYTES_LIMIT, POSITION_LIMIT, TEXT_BYTES_MAX};
use crate::query::{Item, Operand, Operator, QueryBuilder, check_levels, checksum};
use crate::query_tree::without_stop_words;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use values::fn_context::{FnContext, SessionContext};
use values::type_io::lossy_text;

/// The syntax of a query's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    Standard,
    /// The whole text is one operand.
    Plain,
    Web,
}

/// An operand as it is written.
#[derive(Clone, Copy)]
pub struct Word<'a> {
    pub text: &'a [u8],
    pub weights: u8,
    pub prefix: bool,
}

/// The query so far, in postfix order.
pub struct Parsed {
    query: QueryBuilder,
    /// The whole text, for errors.
    source: String,
}

impl Parsed {
    /// Adds an operand.
    pub fn operand(&mut self, word: Word<'_>) -> Result<()> {
        let what = match (word.text.len(), self.query.text.len()) {
            (LEXEME_BYTES_LIMIT.., _) => "word is too long",
            (_, TEXT_BYTES_MAX..) => "value is too big",
            (len, _) => {
                let operand = Operand {
                    weights: word.weights,
                    prefix: word.prefix,
                    checksum: checksum(word.text),
                    len: len as u16,
                    at: 0,
                };
                self.query.operand(operand, word.text);
                return Ok(());
            }
        };
        Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "{what} in tsquery: \"{}\"", self.source))
    }

    /// Adds a stop word.
    pub fn stop(&mut self) {
        self.query.items.push(Item::Stop);
    }

    /// Adds an operator after its operands.
    pub fn operator(&mut self, operator: Operator, distance: i16) {
        let distance = if operator == Operator::Phrase { distance } else { 0 };
        self.query.items.push(Item::Operator { operator, distance, left: 0 });
    }
}

enum Token {
    End,
    /// A word is in `LexemeReader::word`.
    Word {
        weights: u8,
        prefix: bool,
    },
    Operator(Operator, i16),
    Open,
    Close,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    FirstOperand,
    Operand,
    Operator,
}

struct Parser<'a> {
    text: &'a [u8],
    ctype: Ctype,
    syntax: Syntax,
    expect: Expect,
    words: LexemeReader<'a>,
    /// Open parentheses.
    open: usize,
}

impl Parser<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.get(self.words.at).copied()
    }

    fn syntax_error(&self) -> PgError {
        pg_err!(SYNTAX_ERROR, "syntax error in tsquery: \"{}\"", lossy_text(self.text))
    }

    fn at_space(&self) -> bool {
        let at = self.words.at;
        at < self.text.len() && self.ctype.is_space(self.ctype.char_at(self.text, at).0)
    }

    fn skip_space(&mut self) {
        while self.at_space() {
            self.words.at += self.ctype.len_at(self.text, self.words.at);
        }
    }

    fn operator(&mut self, operator: Operator, distance: i16) -> Token {
        self.expect = Expect::Operand;
        Token::Operator(operator, distance)
    }

    fn standard(&mut self) -> Result<Token> {
        self.skip_space();
        if self.expect == Expect::Operator {
            return self.standard_operator();
        }
        match self.byte() {
            Some(b'!') => {
                self.words.at += 1;
                Ok(self.operator(Operator::Not, 0))
            }
            Some(b'(') => {
                self.words.at += 1;
                self.expect = Expect::Operand;
                self.open += 1;
                Ok(Token::Open)
            }
            Some(b':') => Err(self.syntax_error()),
            _ if self.words.next()? => {
                let (weights, prefix) = self.modifiers();
                self.expect = Expect::Operator;
                Ok(Token::Word { weights, prefix })
            }
            _ if self.expect == Expect::FirstOperand => Ok(Token::End),
            _ => Err(pg_err!(SYNTAX_ERROR, "no operand in tsquery: \"{}\"", lossy_text(self.text))),
        }
    }

    fn standard_operator(&mut self) -> Result<Token> {
        let operator = match self.byte() {
            Some(b'&') => Operator::And,
            Some(b'|') => Operator::Or,
            Some(b'<') => {
                let distance = self.distance()?.ok_or_else(|| self.syntax_error())?;
                return Ok(self.operator(Operator::Phrase, distance));
            }
            Some(b')') if self.open > 0 => {
                self.words.at += 1;
                self.open -= 1;
                return Ok(Token::Close);
            }
            None if self.open == 0 => return Ok(Token::End),
            _ => return Err(self.syntax_error()),
        };
        self.words.at += 1;
        Ok(self.operator(operator, 0))
    }

    /// Reads `<->` or `<N>`. The operator must not be the end of the text.
    fn distance(&mut self) -> Result<Option<i16>> {
        let rest = &self.text[self.words.at + 1..];
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let (len, distance) = match (rest.first(), digits) {
            (Some(b'-'), _) => (1, Some(1)),
            (_, 0) => return Ok(None),
            _ => {
                let text = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
                (digits, text.parse().ok().filter(|n| *n <= POSITION_LIMIT))
            }
        };
        let distance = distance.ok_or_else(bad_distance)?;
        if rest.get(len) != Some(&b'>') || rest.len() == len + 1 {
            return Ok(None);
        }
        self.words.at += len + 2;
        Ok(Some(distance as i16))
    }

    /// Reads weights and the sign of a prefix after a word.
    fn modifiers(&mut self) -> (u8, bool) {
        let (mut weights, mut prefix) = (0, false);
        if self.byte() == Some(b':') {
            self.words.at += 1;
            while let Some(c) = self.byte() {
                match crate::vector::weight_number(c) {
                    Some(weight) => weights |= 1 << weight,
                    None if c == b'*' => prefix = true,
                    None => break,
                }
                self.words.at += 1;
            }
        }
        (weights, prefix)
    }

    fn web(&mut self, out: &mut Parsed) -> Result<Token> {
        self.skip_space();
        if self.expect == Expect::Operator {
            return Ok(self.web_operator());
        }
        loop {
            self.skip_space();
            match self.byte() {
                Some(b'-') => {
                    self.words.at += 1;
                    return Ok(self.operator(Operator::Not, 0));
                }
                Some(b'"') => {
                    let rest = &self.text[self.words.at + 1..];
                    let len = rest.iter().position(|c| *c == b'"').unwrap_or(rest.len());
                    self.words.word.clear();
                    self.words.word.extend(&rest[..len]);
                    self.words.at = (self.words.at + len + 2).min(self.text.len());
                    break;
                }
                Some(c) if is_operator(c) => {
                    self.words.at += 1;
                    self.expect = Expect::Operand;
                }
                _ if self.words.next()? => break,
                _ if self.expect == Expect::FirstOperand => return Ok(Token::End),
                _ => {
                    out.stop();
                    return Ok(Token::End);
                }
            }
        }
        self.expect = Expect::Operator;
        Ok(Token::Word { weights: 0, prefix: false })
    }

    fn web_operator(&mut self) -> Token {
        loop {
            self.skip_space();
            match self.byte() {
                None => return Token::End,
                Some(_) if self.at_or() => {
                    self.words.at += 2;
                    return self.operator(Operator::Or, 0);
                }
                Some(c) if is_operator(c) => self.words.at += 1,
                Some(_) => return self.operator(Operator::And, 0),
            }
        }
    }

    /// Whether the word `or` is here, and something after it that can be an operand.
    fn at_or(&self) -> bool {
        let rest = &self.text[self.words.at..];
        if rest.len() < 3 || !rest[..2].eq_ignore_ascii_case(b"or") {
            return false;
        }
        let (c, len) = self.ctype.char_at(rest, 2);
        if matches!(rest[2], b'-' | b'_' | b'0'..=b'9') || self.ctype.is_alpha(c) {
            return false;
        }
        let mut at = 2 + len;
        while at < rest.len() {
            let (c, len) = self.ctype.char_at(rest, at);
            if !self.ctype.is_space(c) {
                return true;
            }
            at += len;
        }
        false
    }

    fn next(&mut self, out: &mut Parsed) -> Result<Token> {
        match self.syntax {
            Syntax::Standard => self.standard(),
            Syntax::Web => self.web(out),
            Syntax::Plain if self.words.at >= self.text.len() => Ok(Token::End),
            Syntax::Plain => {
                self.words.word = self.text.to_vec();
                self.words.at = self.text.len();
                Ok(Token::Word { weights: 0, prefix: false })
            }
        }
    }
}

/// Operators that wait for their right operand, within one pair of parentheses.
type Waiting = Vec<(Operator, i16)>;

/// Most operators that can wait. Counterpart: `STACKDEPTH`.
const WAITING_MAX: usize = 32;

/// Pushes those operators that bind stronger than `operator`, which comes next.
fn release(waiting: &mut Waiting, out: &mut Parsed, operator: Operator) {
    while let Some(&(top, distance)) = waiting.last() {
        let stays = match operator {
            // It is the only one that is right-associative.
            Operator::Not => operator.priority() >= top.priority(),
            _ => operator.priority() > top.priority(),
        };
        if stays {
            break;
        }
        waiting.pop();
        out.operator(top, distance);
    }
}

/// The payload of the query with this text. `expand` gets the operands as they are written, and
/// pushes an expression for each: at least one operand or stop word.
pub fn parse<C: SessionContext + ?Sized>(
    cx: &mut C,
    text: &[u8],
    syntax: Syntax,
    expand: &mut dyn FnMut(&mut C, &mut Parsed, Word<'_>) -> Result<()>,
) -> Result<Vec<u8>> {
    let ctype = Ctype::of(cx.settings());
    let form = if syntax == Syntax::Web { Form::Web } else { Form::Query };
    let words = LexemeReader::new(text, ctype, form);
    let expect = Expect::FirstOperand;
    let mut parser = Parser { text, ctype, syntax, expect, words, open: 0 };
    let source = lossy_text(text).into_owned();
    let mut out = Parsed { query: QueryBuilder::default(), source };
    let mut levels = vec![Waiting::new()];
    loop {
        let token = parser.next(&mut out)?;
        let Some(waiting) = levels.last_mut() else { break };
        match token {
            Token::End => break,
            Token::Word { weights, prefix } => {
                cx.check_interrupts()?;
                let word = Word { text: &parser.words.word, weights, prefix };
                expand(cx, &mut out, word)?;
            }
            Token::Operator(operator, distance) => {
                release(waiting, &mut out, operator);
                if waiting.len() == WAITING_MAX {
                    return Err(PgError::internal("tsquery stack too small"));
                }
                waiting.push((operator, distance));
            }
            Token::Open => {
                check_levels(cx.settings(), levels.len())?;
                levels.push(Waiting::new());
            }
            Token::Close => {
                release(waiting, &mut out, Operator::Or);
                levels.pop();
            }
        }
    }
    levels.iter_mut().rev().for_each(|waiting| release(waiting, &mut out, Operator::Or));
    finish(cx, out)
}

fn finish<C: SessionContext + ?Sized>(cx: &mut C, parsed: Parsed) -> Result<Vec<u8>> {
    let Parsed { mut query, source } = parsed;
    if query.items.is_empty() {
        cx.notice(notice(format!("text-search query doesn't contain lexemes: \"{source}\"")));
        return Ok(query.finish());
    }
    query.items.reverse();
    query.link(cx.settings().max_stack_kb)?;
    if !query.items.contains(&Item::Stop) {
        return Ok(query.finish());
    }
    let query = without_stop_words(query);
    if query.items.is_empty() {
        cx.notice(notice(
            "text-search query contains only stop words or doesn't contain lexemes, ignored"
                .to_owned(),
        ));
    }
    Ok(query.finish())
}

fn notice(message: String) -> PgError {
    PgError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Notice)
}

/// 22023: a distance is out of range.
pub(crate) fn bad_distance() -> PgError {
    pg_err!(
        INVALID_PARAMETER_VALUE,
        "distance in phrase operator must be an integer value between zero and {POSITION_LIMIT} \
         inclusive"
    )
}

/// The payload of a query whose words are taken as they are written.
pub(crate) fn parse_as_is(cx: &mut dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    parse(cx, text, Syntax::Standard, &mut |_, out, word| out.operand(word))
}
