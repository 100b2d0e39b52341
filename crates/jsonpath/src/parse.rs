//! The grammar of paths, as a parser by recursive descent. Counterpart: jsonpath_gram.y.
//!
//! An operand is an expression or a predicate. A predicate is an operand of `&&`, `||` and `!`, and
//! becomes an expression by an accessor after its parentheses. A syntax error is reported at the
//! first token that continues no valid path.

use crate::error::check_depth;
use crate::format::{Kind, LAST_LEVEL, PatternFlags};
use crate::scan::{Keyword, Scanner, Token};
use crate::tree::{Args, Chain, Node};
use crate::write::payload;
use numeric::num::Num;
use pgerror::{Result, pg_err};
use stdx::stack::deep;
use values::fn_context::InterruptChecker;
use values::int::parse_int4;
use values::memory;
use values::settings::Encoding;
use values::type_io::lossy_text;

/// What the parser needs of the session.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    pub interrupts: &'a InterruptChecker<'a>,
    pub encoding: Encoding,
    /// An error if a pattern of `like_regex` is not valid.
    pub check_pattern: &'a dyn Fn(&[u8], PatternFlags) -> Result<()>,
}

/// The stored form of a path. 42601, 22P02 or the error of a pattern or number if it is not valid,
/// 54001 if it is nested too deeply.
pub fn parse(text: &[u8], input: Input<'_>) -> Result<Vec<u8>> {
    let scanner = Scanner::new(text, input.encoding, input.interrupts);
    let mut parser = Parser { scanner, token: Token::End, input, depth: 0 };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(pg_err!(
            INVALID_TEXT_REPRESENTATION,
            "invalid input syntax for type jsonpath: \"{}\"",
            lossy_text(text)
        ));
    }
    let lax = match parser.token {
        Token::Keyword(Keyword::Strict) => false,
        Token::Keyword(Keyword::Lax) => true,
        _ => {
            return parser.path(true);
        }
    };
    parser.advance()?;
    parser.path(lax)
}

/// A part of a path.
struct Operand {
    chain: Chain,
    /// Levels of nesting.
    depth: u32,
    is_predicate: bool,
}

impl Operand {
    fn single(node: Node) -> Operand {
        Operand { chain: vec![node], depth: 1, is_predicate: false }
    }
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    token: Token,
    input: Input<'a>,
    /// Levels of the recursion.
    depth: u32,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<()> {
        self.token = self.scanner.next()?;
        Ok(())
    }

    /// The text of the current token, which it reads.
    fn take(&mut self) -> Result<Vec<u8>> {
        let value = std::mem::take(&mut self.scanner.value);
        self.advance()?;
        Ok(value)
    }

    fn is(&self, keyword: Keyword) -> bool {
        self.token == Token::Keyword(keyword)
    }

    /// Reads a token that must be there.
    fn expect(&mut self, token: Token) -> Result<()> {
        if self.token != token {
            return Err(self.scanner.unexpected());
        }
        self.advance()
    }

    fn path(&mut self, lax: bool) -> Result<Vec<u8>> {
        let whole = self.any_operand()?;
        if self.token != Token::End {
            return Err(self.scanner.unexpected());
        }
        payload(&whole.chain, lax, self.input.interrupts)
    }

    /// Runs a level of the recursion.
    fn level<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        check_depth(self.depth, self.input.interrupts)?;
        let done = deep(|| f(self));
        self.depth -= 1;
        done
    }

    fn expression(&mut self, operand: Operand) -> Result<Operand> {
        if operand.is_predicate { Err(self.scanner.unexpected()) } else { Ok(operand) }
    }

    fn predicate(&mut self, operand: Operand) -> Result<Operand> {
        if operand.is_predicate { Ok(operand) } else { Err(self.scanner.unexpected()) }
    }

    /// An item with two operands.
    fn two(
        &self,
        kind: Kind,
        left: Operand,
        right: Operand,
        is_predicate: bool,
    ) -> Result<Operand> {
        let depth = left.depth.max(right.depth) + 1;
        check_depth(depth, self.input.interrupts)?;
        let args = Args::Two(left.chain, right.chain);
        Ok(Operand { chain: vec![Node { kind, args }], depth, is_predicate })
    }

    /// A predicate with one operand.
    fn one(&self, kind: Kind, operand: Operand) -> Operand {
        let chain = vec![Node::one(kind, operand.chain)];
        Operand { chain, depth: operand.depth + 1, is_predicate: true }
    }

    /// An expression or a predicate: operands of `||`.
    fn any_operand(&mut self) -> Result<Operand> {
        let mut left = self.conjunction()?;
        while self.token == Token::Or {
            left = self.predicate(left)?;
            self.advance()?;
            let right = self.conjunction()?;
            let right = self.predicate(right)?;
            left = self.two(Kind::Or, left, right, true)?;
        }
        Ok(left)
    }

    /// Operands of `&&`.
    fn conjunction(&mut self) -> Result<Operand> {
        let mut left = self.comparison()?;
        while self.token == Token::And {
            left = self.predicate(left)?;
            self.advance()?;
            let right = self.comparison()?;
            let right = self.predicate(right)?;
            left = self.two(Kind::And, left, right, true)?;
        }
        Ok(left)
    }

    /// `!`, or an expression that may be compared.
    fn comparison(&mut self) -> Result<Operand> {
        if self.token == Token::Not {
            self.advance()?;
            let inner = match self.token {
                Token::Keyword(Keyword::Exists) => self.exists()?,
                _ => {
                    self.expect(Token::Sign(b'('))?;
                    self.parenthesized_predicate()?
                }
            };
            return Ok(self.one(Kind::Not, inner));
        }
        let left = self.sum()?;
        let kind = match self.token {
            _ if left.is_predicate => return Ok(left),
            Token::Equal => Kind::Equal,
            Token::NotEqual => Kind::NotEqual,
            Token::Less => Kind::Less,
            Token::LessOrEqual => Kind::LessOrEqual,
            Token::Greater => Kind::Greater,
            Token::GreaterOrEqual => Kind::GreaterOrEqual,
            Token::Keyword(Keyword::Starts) => return self.starts_with(left),
            Token::Keyword(Keyword::LikeRegex) => return self.like_regex(left),
            _ => return Ok(left),
        };
        self.advance()?;
        let right = self.sum()?;
        let right = self.expression(right)?;
        self.two(kind, left, right, true)
    }

    /// The rest of `starts with`.
    fn starts_with(&mut self, left: Operand) -> Result<Operand> {
        self.advance()?;
        self.expect(Token::Keyword(Keyword::With))?;
        let kind = match self.token {
            Token::String => Kind::String,
            Token::Variable => Kind::Variable,
            _ => return Err(self.scanner.unexpected()),
        };
        let right = Operand::single(Node::text(kind, self.take()?));
        self.two(Kind::StartsWith, left, right, true)
    }

    /// The rest of `like_regex`.
    fn like_regex(&mut self, left: Operand) -> Result<Operand> {
        self.advance()?;
        if self.token != Token::String {
            return Err(self.scanner.unexpected());
        }
        let pattern = self.take()?;
        let has_flags = self.is(Keyword::Flag);
        let mut flags = PatternFlags::default();
        if has_flags {
            self.advance()?;
            if self.token != Token::String {
                return Err(self.scanner.unexpected());
            }
            flags = flags_of(&self.scanner.value)?;
        }
        (self.input.check_pattern)(&pattern, flags)?;
        if has_flags {
            self.advance()?;
        }
        let depth = left.depth + 1;
        let args = Args::Pattern { operand: left.chain, pattern, flags };
        let chain = vec![Node { kind: Kind::LikeRegex, args }];
        Ok(Operand { chain, depth, is_predicate: true })
    }

    /// Operands of `+` and `-`.
    fn sum(&mut self) -> Result<Operand> {
        let mut left = self.product()?;
        loop {
            let kind = match self.token {
                Token::Sign(b'+') => Kind::Add,
                Token::Sign(b'-') => Kind::Sub,
                _ => return Ok(left),
            };
            left = self.expression(left)?;
            self.advance()?;
            let right = self.product()?;
            let right = self.expression(right)?;
            left = self.two(kind, left, right, false)?;
        }
    }

    /// Operands of `*`, `/` and `%`.
    fn product(&mut self) -> Result<Operand> {
        let mut left = self.signed()?;
        loop {
            let kind = match self.token {
                Token::Sign(b'*') => Kind::Mul,
                Token::Sign(b'/') => Kind::Div,
                Token::Sign(b'%') => Kind::Mod,
                _ => return Ok(left),
            };
            left = self.expression(left)?;
            self.advance()?;
            let right = self.signed()?;
            let right = self.expression(right)?;
            left = self.two(kind, left, right, false)?;
        }
    }

    /// An operand that may have a sign. A sign before a number is part of it.
    fn signed(&mut self) -> Result<Operand> {
        let kind = match self.token {
            Token::Sign(b'+') => Kind::Plus,
            Token::Sign(b'-') => Kind::Minus,
            _ => return self.accessed(),
        };
        self.advance()?;
        let inner = self.level(Self::signed)?;
        let inner = self.expression(inner)?;
        if let [Node { args: Args::Number(payload), .. }] = &inner.chain[..] {
            if kind == Kind::Plus {
                return Ok(inner);
            }
            let payload = Num::from_payload(payload).negated().to_payload()?;
            let node = Node { kind: Kind::Numeric, args: Args::Number(payload) };
            return Ok(Operand::single(node));
        }
        Ok(Operand { is_predicate: false, ..self.one(kind, inner) })
    }

    /// A primary expression with its accessors, or a predicate.
    fn accessed(&mut self) -> Result<Operand> {
        let mut operand = match self.token {
            Token::Keyword(Keyword::Exists) => return self.exists(),
            Token::Sign(b'(') => {
                self.advance()?;
                let inner = self.level(Self::any_operand)?;
                self.expect(Token::Sign(b')'))?;
                let accessed = matches!(self.token, Token::Sign(b'.' | b'[' | b'?'));
                if inner.is_predicate && !accessed {
                    return self.is_unknown(inner);
                }
                Operand { is_predicate: false, ..inner }
            }
            _ => Operand::single(self.primary()?),
        };
        while matches!(self.token, Token::Sign(b'.' | b'[' | b'?')) {
            let (node, depth) = self.accessor()?;
            memory::reserve(&mut operand.chain, 1)?;
            operand.chain.push(node);
            operand.depth = operand.depth.max(depth);
        }
        Ok(operand)
    }

    /// `is unknown` after a predicate in parentheses.
    fn is_unknown(&mut self, predicate: Operand) -> Result<Operand> {
        if !self.is(Keyword::Is) {
            return Ok(predicate);
        }
        self.advance()?;
        self.expect(Token::Keyword(Keyword::Unknown))?;
        Ok(self.one(Kind::IsUnknown, predicate))
    }

    fn exists(&mut self) -> Result<Operand> {
        self.advance()?;
        self.expect(Token::Sign(b'('))?;
        let inner = self.level(Self::sum)?;
        let inner = self.expression(inner)?;
        self.expect(Token::Sign(b')'))?;
        Ok(self.one(Kind::Exists, inner))
    }

    /// A predicate after an opening parenthesis, and the closing one.
    fn parenthesized_predicate(&mut self) -> Result<Operand> {
        let inner = self.level(Self::any_operand)?;
        let inner = self.predicate(inner)?;
        self.expect(Token::Sign(b')'))?;
        Ok(inner)
    }

    /// A literal, a variable, `$`, `@` or `last`.
    fn primary(&mut self) -> Result<Node> {
        let node = match self.token {
            Token::String => return Ok(Node::text(Kind::String, self.take()?)),
            Token::Variable => return Ok(Node::text(Kind::Variable, self.take()?)),
            Token::Integer | Token::Number => {
                let payload = numeric::parse(&self.scanner.value)?.to_payload()?;
                Node { kind: Kind::Numeric, args: Args::Number(payload) }
            }
            Token::Keyword(Keyword::Null) => Node::plain(Kind::Null),
            Token::Keyword(Keyword::True) => Node { kind: Kind::Bool, args: Args::Bool(true) },
            Token::Keyword(Keyword::False) => Node { kind: Kind::Bool, args: Args::Bool(false) },
            Token::Keyword(Keyword::Last) => Node::plain(Kind::Last),
            Token::Sign(b'$') => Node::plain(Kind::Root),
            Token::Sign(b'@') => Node::plain(Kind::Current),
            _ => return Err(self.scanner.unexpected()),
        };
        self.advance()?;
        Ok(node)
    }

    /// An accessor, and its levels of nesting.
    fn accessor(&mut self) -> Result<(Node, u32)> {
        let sign = self.token;
        self.advance()?;
        match sign {
            Token::Sign(b'?') => {
                self.expect(Token::Sign(b'('))?;
                let predicate = self.parenthesized_predicate()?;
                let depth = predicate.depth + 1;
                Ok((Node::one(Kind::Filter, predicate.chain), depth))
            }
            Token::Sign(b'[') => self.subscripts(),
            _ => self.member().map(|node| (node, 1)),
        }
    }

    /// Subscripts after the opening bracket.
    fn subscripts(&mut self) -> Result<(Node, u32)> {
        if self.token == Token::Sign(b'*') {
            self.advance()?;
            self.expect(Token::Sign(b']'))?;
            return Ok((Node::plain(Kind::AnyArray), 1));
        }
        let (mut list, mut depth) = (Vec::new(), 0);
        loop {
            let from = self.subscript()?;
            depth = from.depth.max(depth);
            let mut to = None;
            if self.is(Keyword::To) {
                self.advance()?;
                let bound = self.subscript()?;
                depth = bound.depth.max(depth);
                to = Some(bound.chain);
            }
            memory::reserve(&mut list, 1)?;
            list.push((from.chain, to));
            if self.token != Token::Sign(b',') {
                break;
            }
            self.advance()?;
        }
        self.expect(Token::Sign(b']'))?;
        Ok((Node { kind: Kind::IndexArray, args: Args::Subscripts(list) }, depth + 1))
    }

    fn subscript(&mut self) -> Result<Operand> {
        let operand = self.level(Self::sum)?;
        self.expression(operand)
    }

    /// What follows a dot.
    fn member(&mut self) -> Result<Node> {
        let method = match self.token {
            Token::Sign(b'*') => {
                self.advance()?;
                return Ok(Node::plain(Kind::AnyKey));
            }
            Token::AnyLevels => return self.levels(),
            Token::Keyword(keyword) => method(keyword),
            Token::Name | Token::String => None,
            _ => return Err(self.scanner.unexpected()),
        };
        let name = self.take()?;
        let Some(kind) = method.filter(|_| self.token == Token::Sign(b'(')) else {
            return Ok(Node::text(Kind::Key, name));
        };
        self.advance()?;
        let mut node = Node::plain(kind);
        if kind == Kind::Datetime {
            let template = match self.token {
                Token::String => Some(vec![Node::text(Kind::String, self.take()?)]),
                _ => None,
            };
            node.args = Args::One(template);
        }
        self.expect(Token::Sign(b')'))?;
        Ok(node)
    }

    /// `**` with its levels.
    fn levels(&mut self) -> Result<Node> {
        self.advance()?;
        let (mut first, mut last) = (0, LAST_LEVEL);
        if self.token == Token::Sign(b'{') {
            self.advance()?;
            first = self.any_level()?;
            last = first;
            if self.is(Keyword::To) {
                self.advance()?;
                last = self.any_level()?;
            }
            self.expect(Token::Sign(b'}'))?;
        }
        Ok(Node { kind: Kind::Any, args: Args::Levels(first, last) })
    }

    fn any_level(&mut self) -> Result<u32> {
        let level = match self.token {
            Token::Integer => parse_int4(&self.scanner.value)? as u32,
            Token::Keyword(Keyword::Last) => LAST_LEVEL,
            _ => return Err(self.scanner.unexpected()),
        };
        self.advance()?;
        Ok(level)
    }
}

/// The method with this name.
fn method(keyword: Keyword) -> Option<Kind> {
    Some(match keyword {
        Keyword::Abs => Kind::Abs,
        Keyword::Size => Kind::Size,
        Keyword::Type => Kind::Type,
        Keyword::Floor => Kind::Floor,
        Keyword::Double => Kind::Double,
        Keyword::Ceiling => Kind::Ceiling,
        Keyword::KeyValue => Kind::KeyValue,
        Keyword::Datetime => Kind::Datetime,
        _ => return None,
    })
}

fn flags_of(letters: &[u8]) -> Result<PatternFlags> {
    let mut flags = 0;
    for (i, c) in letters.iter().enumerate() {
        match PatternFlags::LETTERS.iter().position(|letter| letter == c) {
            Some(bit) => flags |= 1 << bit,
            None => {
                let rest = String::from_utf8_lossy(&letters[i..]);
                let c = rest.chars().next().unwrap_or_default();
                return Err(pg_err!(SYNTAX_ERROR, "invalid input syntax for type jsonpath")
                    .detail(format!(
                        "Unrecognized flag character \"{c}\" in LIKE_REGEX predicate."
                    )));
            }
        }
    }
    Ok(PatternFlags(flags))
}
