//! Translates a program in the language Snowball to commands.

use std::collections::HashMap;

/// Numbers of routines, variables, groupings and amongs in their lists.
pub(super) type Id = usize;

/// A command. `bool` results: whether it succeeds.
#[derive(Debug)]
pub(super) enum Command {
    Sequence(Vec<Command>),
    And(Vec<Command>),
    Or(Vec<Command>),
    Not(Box<Command>),
    Test(Box<Command>),
    Try(Box<Command>),
    Do(Box<Command>),
    Fail(Box<Command>),
    Repeat(Box<Command>),
    /// Moves to the next place where the command succeeds: before it, or with `past` after it.
    Goto {
        command: Box<Command>,
        past: bool,
    },
    /// At least so many times; `Repeat` after it if there is no upper limit.
    Times {
        count: Number,
        command: Box<Command>,
        more: bool,
    },
    Backwards(Box<Command>),
    SetLimit {
        limit: Box<Command>,
        command: Box<Command>,
    },
    Hop(Number),
    Next,
    ToLimit,
    AtLimit,
    ToMark(Number),
    AtMark(Number),
    SetMark(Id),
    LeftSlice,
    RightSlice,
    /// Replaces the slice by a text.
    SliceFrom(Text),
    SliceTo(Id),
    /// Inserts a text; the cursor stays before it in forward mode if `before`.
    Insert {
        text: Text,
        before: bool,
    },
    SetBoolean(Id, bool),
    Boolean(Id),
    Constant(bool),
    Call(Id),
    Grouping {
        id: Id,
        negated: bool,
    },
    Match(Text),
    Assign {
        variable: Id,
        operator: u8,
        value: Number,
    },
    Compare {
        left: Number,
        relation: Relation,
        right: Number,
    },
    Substring(Id),
    Among {
        id: Id,
        implicit: bool,
        starter: Option<Box<Command>>,
    },
}

#[derive(Debug)]
pub(super) enum Text {
    Literal(Vec<u8>),
    Variable(Id),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An arithmetic expression.
#[derive(Debug)]
pub(super) enum Number {
    Constant(i64),
    Cursor,
    Limit,
    /// Of the whole text, in characters.
    Length,
    /// Of the whole text, in bytes.
    Size,
    LengthOf(Text),
    SizeOf(Text),
    Variable(Id),
    Negative(Box<Number>),
    Binary {
        operator: u8,
        left: Box<Number>,
        right: Box<Number>,
    },
}

/// A string of an among.
#[derive(Debug)]
pub(super) struct Entry {
    /// In backward mode with its bytes in reverse order.
    pub key: Vec<u8>,
    /// Must succeed after the string.
    pub condition: Option<Id>,
    /// The action.
    pub action: Option<usize>,
    /// The longest other entry that `key` begins with.
    pub shorter: Option<usize>,
}

/// The strings of an among, sorted, and its actions.
#[derive(Default, Debug)]
pub(super) struct Among {
    pub entries: Vec<Entry>,
    pub actions: Vec<Command>,
    /// For each byte, and 256, the number of entries whose first byte is lower.
    firsts: Vec<usize>,
}

impl Among {
    /// Sorts the entries, and finds for each the longest that it begins with.
    fn link(&mut self) {
        let entries = &mut self.entries;
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        for i in 0..entries.len() {
            let key = &entries[i].key;
            entries[i].shorter = (0..i).rev().find(|j| key.starts_with(&entries[*j].key));
        }
        let lower = |byte| entries.partition_point(|e| e.key.first().is_none_or(|&b| b < byte));
        self.firsts = (0..=u8::MAX).map(lower).chain([entries.len()]).collect();
    }

    /// The last entry that is not above a text beginning with `byte`; `below` compares a key with
    /// the text. The entries that the text begins with are this one and shorter ones, if any.
    pub fn last_before(&self, byte: u8, below: impl Fn(&[u8]) -> bool) -> Option<usize> {
        let (from, to) = (self.firsts[usize::from(byte)], self.firsts[usize::from(byte) + 1]);
        let count = self.entries[from..to].partition_point(|e| below(&e.key));
        // None of these: only the empty string is left.
        match from + count {
            last if count > 0 => Some(last - 1),
            _ => self.entries.first().filter(|e| e.key.is_empty()).map(|_| 0),
        }
    }
}

/// The characters of a grouping.
pub(super) struct Set {
    /// A bit for each ASCII character.
    ascii: u128,
    /// The others, sorted.
    others: Vec<char>,
}

impl Set {
    fn new(chars: Vec<char>) -> Set {
        let (ascii, mut others): (Vec<char>, Vec<char>) =
            chars.into_iter().partition(char::is_ascii);
        others.sort_unstable();
        Set { ascii: ascii.into_iter().fold(0, |bits, c| bits | 1 << c as u32), others }
    }

    pub fn contains(&self, c: char) -> bool {
        match c.is_ascii() {
            true => self.ascii >> c as u32 & 1 == 1,
            false => self.others.binary_search(&c).is_ok(),
        }
    }
}

pub(super) struct Routine {
    pub body: Command,
    pub backward: bool,
}

/// A translated program.
pub(super) struct Program {
    pub routines: Vec<Routine>,
    pub groupings: Vec<Set>,
    pub amongs: Vec<Among>,
    pub integers: usize,
    pub booleans: usize,
    pub strings: usize,
    /// The routine `stem`.
    pub main: Id,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Word(String),
    Number(i64),
    Literal(Vec<u8>),
    Symbol(&'static str),
    End,
}

const SYMBOLS: [&str; 24] = [
    "+=", "-=", "*=", "/=", "==", "!=", ">=", "<=", "<+", "<-", "->", "=>", "(", ")", "[", "]",
    "$", "=", "+", "-", "*", "/", "<", ">",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Routine,
    Integer,
    Boolean,
    Str,
    Grouping,
}

type Fallible<T> = Result<T, String>;

/// Reads tokens, and from them commands.
struct Source<'a> {
    text: &'a str,
    at: usize,
    token: Token,
    escapes: Option<(char, char)>,
    /// Texts that are named by `stringdef`.
    defined: HashMap<String, Vec<u8>>,
    names: HashMap<String, (Kind, Id)>,
    counts: [usize; 5],
    routines: HashMap<Id, Routine>,
    groupings: HashMap<Id, Vec<char>>,
    amongs: Vec<Among>,
    /// The among of the last `substring`.
    pending: Option<Id>,
    backward: bool,
}

impl Program {
    /// Translates a program; an error if it is not understood.
    pub fn read(text: &str) -> Fallible<Program> {
        let mut source = Source {
            text,
            at: 0,
            token: Token::End,
            escapes: None,
            defined: HashMap::new(),
            names: HashMap::new(),
            counts: [0; 5],
            routines: HashMap::new(),
            groupings: HashMap::new(),
            amongs: Vec::new(),
            pending: None,
            backward: false,
        };
        source.advance()?;
        source.program()?;
        if source.token != Token::End {
            return Err(source.unexpected());
        }
        let main = source.name("stem", Kind::Routine)?;
        let take = |id| source.routines.remove(&id).ok_or("a routine is not defined");
        let routines =
            (0..source.counts[Kind::Routine as usize]).map(take).collect::<Result<_, _>>()?;
        let set = |id| {
            let chars = source.groupings.remove(&id).ok_or("a grouping is not defined")?;
            Ok::<_, &str>(Set::new(chars))
        };
        let groupings =
            (0..source.counts[Kind::Grouping as usize]).map(set).collect::<Result<_, _>>()?;
        Ok(Program {
            routines,
            groupings,
            amongs: source.amongs,
            integers: source.counts[Kind::Integer as usize],
            booleans: source.counts[Kind::Boolean as usize],
            strings: source.counts[Kind::Str as usize],
            main,
        })
    }
}

impl Source<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn unexpected(&self) -> String {
        let line = self.text[..self.at].lines().count();
        format!("line {line}: unexpected {:?}", self.token)
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let skipped = match rest {
                _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
                _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |i| i + 2),
                _ => rest.len() - rest.trim_start().len(),
            };
            if skipped == 0 {
                return;
            }
            self.at += skipped;
        }
    }

    /// Reads the next token.
    fn advance(&mut self) -> Fallible<()> {
        self.skip_blank();
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        let span = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
        let (len, token) = if first.is_ascii_alphabetic() {
            let len = span(|c| c.is_ascii_alphanumeric() || c == '_');
            (len, Token::Word(rest[..len].to_owned()))
        } else if first.is_ascii_digit() {
            let len = span(|c| c.is_ascii_digit());
            (len, Token::Number(rest[..len].parse().map_err(|_| "number too large")?))
        } else if first == '\'' {
            let (len, bytes) = self.literal(rest)?;
            (len, Token::Literal(bytes))
        } else {
            let symbol = SYMBOLS.iter().find(|s| rest.starts_with(**s));
            let symbol = symbol.ok_or_else(|| format!("unknown character {first}"))?;
            (symbol.len(), Token::Symbol(symbol))
        };
        self.at += len;
        self.token = token;
        Ok(())
    }

    /// The literal at the start of `rest`: its length in the source, and its bytes.
    fn literal(&self, rest: &str) -> Fallible<(usize, Vec<u8>)> {
        let mut out = Vec::new();
        let mut at = 1;
        loop {
            let c = rest[at..].chars().next().ok_or("string not terminated")?;
            at += c.len_utf8();
            match self.escapes {
                Some((open, close)) if c == open => {
                    let len = rest[at..].find(close).ok_or("string not terminated")?;
                    let name = &rest[at..at + len];
                    at += len + close.len_utf8();
                    if !name.contains('\n') {
                        self.escape(name, open, &mut out)?;
                    }
                }
                _ if c == '\'' => return Ok((at, out)),
                _ => out.extend(c.encode_utf8(&mut [0; 4]).bytes()),
            }
        }
    }

    fn escape(&self, name: &str, open: char, out: &mut Vec<u8>) -> Fallible<()> {
        if let Some(bytes) = self.defined.get(name) {
            out.extend(bytes);
            return Ok(());
        }
        let unicode = name.strip_prefix("U+").and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let c = match unicode.and_then(char::from_u32) {
            Some(c) => c,
            None if name == "'" => '\'',
            None if name.chars().eq([open]) => open,
            None => return Err(format!("undefined string {name}")),
        };
        out.extend(c.encode_utf8(&mut [0; 4]).bytes());
        Ok(())
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(s) if s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(w) if w == word)
    }

    fn accept(&mut self, symbol: &str) -> Fallible<bool> {
        let found = self.is(symbol) || self.is_word(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str) -> Fallible<()> {
        match self.accept(symbol)? {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    fn word(&mut self) -> Fallible<String> {
        match std::mem::replace(&mut self.token, Token::End) {
            Token::Word(word) => {
                self.advance()?;
                Ok(word)
            }
            other => {
                self.token = other;
                Err(self.unexpected())
            }
        }
    }

    /// The number of a declared name.
    fn name(&self, name: &str, kind: Kind) -> Fallible<Id> {
        match self.names.get(name) {
            Some((found, id)) if *found == kind => Ok(*id),
            _ => Err(format!("{name} is not declared so")),
        }
    }

    fn named(&mut self, kind: Kind) -> Fallible<Id> {
        let name = self.word()?;
        self.name(&name, kind)
    }

    fn declare(&mut self, kind: Kind) -> Fallible<()> {
        self.expect("(")?;
        while !self.accept(")")? {
            let name = self.word()?;
            let count = &mut self.counts[kind as usize];
            self.names.entry(name).or_insert_with(|| {
                *count += 1;
                (kind, *count - 1)
            });
        }
        Ok(())
    }

    fn program(&mut self) -> Fallible<()> {
        loop {
            let Token::Word(word) = self.token.clone() else { return Ok(()) };
            match word.as_str() {
                "stringescapes" => {
                    let rest = self.rest();
                    let mut marks = rest.chars().filter(|c| !c.is_whitespace());
                    let (open, close) = marks.next().zip(marks.next()).ok_or("no escapes")?;
                    let end = rest.find(open).unwrap_or_default() + open.len_utf8();
                    let end = end + rest[end..].find(close).unwrap_or_default() + close.len_utf8();
                    self.escapes = Some((open, close));
                    self.at += end;
                    self.advance()?;
                    continue;
                }
                "stringdef" => {
                    let rest = self.rest();
                    let start = rest.len() - rest.trim_start().len();
                    let len = rest[start..].find(char::is_whitespace).ok_or("no name")?;
                    let name = rest[start..start + len].to_owned();
                    self.at += start + len;
                    self.advance()?;
                    let Token::Literal(bytes) = self.token.clone() else {
                        return Err(self.unexpected());
                    };
                    self.defined.insert(name, bytes);
                    self.advance()?;
                    continue;
                }
                _ => self.advance()?,
            }
            match word.as_str() {
                "routines" | "externals" => self.declare(Kind::Routine)?,
                "integers" => self.declare(Kind::Integer)?,
                "booleans" => self.declare(Kind::Boolean)?,
                "strings" => self.declare(Kind::Str)?,
                "groupings" => self.declare(Kind::Grouping)?,
                "define" => self.define()?,
                "backwardmode" => {
                    self.expect("(")?;
                    self.backward = true;
                    self.program()?;
                    self.backward = false;
                    self.expect(")")?;
                }
                _ => return Err(format!("unknown declaration {word}")),
            }
        }
    }

    fn define(&mut self) -> Fallible<()> {
        let name = self.word()?;
        if let Ok(id) = self.name(&name, Kind::Grouping) {
            let set = self.grouping()?;
            self.groupings.insert(id, set);
            return Ok(());
        }
        let id = self.name(&name, Kind::Routine)?;
        self.expect("as")?;
        let body = self.command()?;
        self.routines.insert(id, Routine { body, backward: self.backward });
        Ok(())
    }

    fn grouping(&mut self) -> Fallible<Vec<char>> {
        let mut set: Vec<char> = Vec::new();
        let mut add = true;
        loop {
            let part: Vec<char> = match self.token.clone() {
                Token::Literal(bytes) => {
                    self.advance()?;
                    String::from_utf8_lossy(&bytes).chars().collect()
                }
                _ => {
                    let id = self.named(Kind::Grouping)?;
                    self.groupings.get(&id).cloned().ok_or("a grouping is used too early")?
                }
            };
            match add {
                true => set.extend(part),
                false => set.retain(|c| !part.contains(c)),
            }
            add = match () {
                () if self.accept("+")? => true,
                () if self.accept("-")? => false,
                () => break,
            };
        }
        set.sort_unstable();
        set.dedup();
        Ok(set)
    }

    /// The commands up to the closing parenthesis.
    fn list(&mut self) -> Fallible<Command> {
        let mut commands = Vec::new();
        while !self.accept(")")? {
            let mut command = self.command()?;
            loop {
                let and = match () {
                    () if self.is_word("and") => true,
                    () if self.is_word("or") => false,
                    () => break,
                };
                let mut parts = vec![command];
                while self.accept(if and { "and" } else { "or" })? {
                    parts.push(self.command()?);
                }
                command = if and { Command::And(parts) } else { Command::Or(parts) };
            }
            commands.push(command);
        }
        Ok(Command::Sequence(commands))
    }

    fn boxed(&mut self) -> Fallible<Box<Command>> {
        Ok(Box::new(self.command()?))
    }

    fn command(&mut self) -> Fallible<Command> {
        match self.token.clone() {
            Token::Literal(bytes) => {
                self.advance()?;
                Ok(Command::Match(Text::Literal(bytes)))
            }
            Token::Symbol(symbol) => {
                self.advance()?;
                self.symbol_command(symbol)
            }
            Token::Word(word) => {
                self.advance()?;
                match self.names.get(&word).copied() {
                    Some(named) => Ok(name_command(named)),
                    None => self.word_command(&word),
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    fn symbol_command(&mut self, symbol: &str) -> Fallible<Command> {
        Ok(match symbol {
            "(" => self.list()?,
            "[" => Command::LeftSlice,
            "]" => Command::RightSlice,
            "<-" => Command::SliceFrom(self.text()?),
            "->" => Command::SliceTo(self.named(Kind::Str)?),
            "<+" => Command::Insert { text: self.text()?, before: false },
            "$" => self.integer_command()?,
            _ => return Err(format!("unknown command {symbol}")),
        })
    }

    fn text(&mut self) -> Fallible<Text> {
        match self.token.clone() {
            Token::Literal(bytes) => {
                self.advance()?;
                Ok(Text::Literal(bytes))
            }
            _ => Ok(Text::Variable(self.named(Kind::Str)?)),
        }
    }

    fn word_command(&mut self, word: &str) -> Fallible<Command> {
        Ok(match word {
            "not" => Command::Not(self.boxed()?),
            "test" => Command::Test(self.boxed()?),
            "try" => Command::Try(self.boxed()?),
            "do" => Command::Do(self.boxed()?),
            "fail" => Command::Fail(self.boxed()?),
            "repeat" => Command::Repeat(self.boxed()?),
            "goto" => Command::Goto { command: self.boxed()?, past: false },
            "gopast" => Command::Goto { command: self.boxed()?, past: true },
            "loop" | "atleast" => Command::Times {
                count: self.number()?,
                command: self.boxed()?,
                more: word == "atleast",
            },
            "backwards" => {
                let outer = std::mem::replace(&mut self.backward, true);
                let command = self.boxed()?;
                self.backward = outer;
                Command::Backwards(command)
            }
            "setlimit" => {
                let limit = self.boxed()?;
                self.expect("for")?;
                Command::SetLimit { limit, command: self.boxed()? }
            }
            "hop" => Command::Hop(self.number()?),
            "next" => Command::Next,
            "tolimit" => Command::ToLimit,
            "atlimit" => Command::AtLimit,
            "tomark" => Command::ToMark(self.number()?),
            "atmark" => Command::AtMark(self.number()?),
            "setmark" => Command::SetMark(self.named(Kind::Integer)?),
            "delete" => Command::SliceFrom(Text::Literal(Vec::new())),
            "insert" => Command::Insert { text: self.text()?, before: false },
            "attach" => Command::Insert { text: self.text()?, before: true },
            "set" => Command::SetBoolean(self.named(Kind::Boolean)?, true),
            "unset" => Command::SetBoolean(self.named(Kind::Boolean)?, false),
            "true" => Command::Constant(true),
            "false" => Command::Constant(false),
            "non" => {
                self.accept("-")?;
                Command::Grouping { id: self.named(Kind::Grouping)?, negated: true }
            }
            "substring" => {
                self.amongs.push(Among::default());
                let id = self.amongs.len() - 1;
                self.pending = Some(id);
                Command::Substring(id)
            }
            "among" => self.among()?,
            _ => return Err(format!("unknown command {word}")),
        })
    }

    /// A command on a variable, or a comparison, after `$`.
    fn integer_command(&mut self) -> Fallible<Command> {
        if self.accept("(")? {
            let left = self.number()?;
            let relation = self.relation()?.ok_or_else(|| self.unexpected())?;
            let right = self.number()?;
            self.expect(")")?;
            return Ok(Command::Compare { left, relation, right });
        }
        let variable = self.named(Kind::Integer)?;
        if let Some(relation) = self.relation()? {
            let left = Number::Variable(variable);
            return Ok(Command::Compare { left, relation, right: self.number()? });
        }
        for (symbol, operator) in
            [("=", b'='), ("+=", b'+'), ("-=", b'-'), ("*=", b'*'), ("/=", b'/')]
        {
            if self.accept(symbol)? {
                return Ok(Command::Assign { variable, operator, value: self.number()? });
            }
        }
        Err(self.unexpected())
    }

    fn relation(&mut self) -> Fallible<Option<Relation>> {
        for (symbol, relation) in [
            ("==", Relation::Equal),
            ("!=", Relation::NotEqual),
            ("<", Relation::Less),
            ("<=", Relation::LessOrEqual),
            (">", Relation::Greater),
            (">=", Relation::GreaterOrEqual),
        ] {
            if self.accept(symbol)? {
                return Ok(Some(relation));
            }
        }
        Ok(None)
    }

    fn number(&mut self) -> Fallible<Number> {
        let mut left = self.term()?;
        loop {
            let operator = match () {
                () if self.accept("+")? => b'+',
                () if self.accept("-")? => b'-',
                () => return Ok(left),
            };
            let right = Box::new(self.term()?);
            left = Number::Binary { operator, left: Box::new(left), right };
        }
    }

    fn term(&mut self) -> Fallible<Number> {
        let mut left = self.factor()?;
        loop {
            let operator = match () {
                () if self.accept("*")? => b'*',
                () if self.accept("/")? => b'/',
                () => return Ok(left),
            };
            let right = Box::new(self.factor()?);
            left = Number::Binary { operator, left: Box::new(left), right };
        }
    }

    fn factor(&mut self) -> Fallible<Number> {
        if self.accept("-")? {
            return Ok(Number::Negative(Box::new(self.factor()?)));
        }
        if self.accept("(")? {
            let inner = self.number()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if let Token::Number(n) = self.token {
            self.advance()?;
            return Ok(Number::Constant(n));
        }
        let word = self.word()?;
        if let Ok(id) = self.name(&word, Kind::Integer) {
            return Ok(Number::Variable(id));
        }
        Ok(match word.as_str() {
            "cursor" => Number::Cursor,
            "limit" => Number::Limit,
            "len" => Number::Length,
            "size" => Number::Size,
            "lenof" => Number::LengthOf(self.text()?),
            "sizeof" => Number::SizeOf(self.text()?),
            "maxint" => Number::Constant(i64::from(i32::MAX)),
            "minint" => Number::Constant(i64::from(i32::MIN)),
            _ => return Err(format!("{word} is not a number")),
        })
    }

    fn among(&mut self) -> Fallible<Command> {
        let pending = self.pending.take();
        let implicit = pending.is_none();
        let id = pending.unwrap_or_else(|| {
            self.amongs.push(Among::default());
            self.amongs.len() - 1
        });
        let backward = self.backward;
        let mut among = Among::default();
        let mut starter = None;
        // Entries from here on have no action yet.
        let mut first = 0;
        self.expect("(")?;
        loop {
            match self.token.clone() {
                Token::Literal(mut key) => {
                    self.advance()?;
                    if backward {
                        key.reverse();
                    }
                    let mut condition = None;
                    if let Token::Word(name) = self.token.clone() {
                        condition = Some(self.name(&name, Kind::Routine)?);
                        self.advance()?;
                    }
                    among.entries.push(Entry { key, condition, action: None, shorter: None });
                }
                Token::Symbol("(") => {
                    self.advance()?;
                    let action = self.list()?;
                    if among.entries.is_empty() {
                        starter = Some(Box::new(action));
                        continue;
                    }
                    among.actions.push(action);
                    for entry in &mut among.entries[first..] {
                        entry.action = Some(among.actions.len() - 1);
                    }
                    first = among.entries.len();
                }
                _ => break,
            }
        }
        self.expect(")")?;
        among.link();
        self.amongs[id] = among;
        Ok(Command::Among { id, implicit, starter })
    }
}

fn name_command((kind, id): (Kind, Id)) -> Command {
    match kind {
        Kind::Routine => Command::Call(id),
        Kind::Grouping => Command::Grouping { id, negated: false },
        Kind::Boolean => Command::Boolean(id),
        Kind::Str => Command::Match(Text::Variable(id)),
        Kind::Integer => Command::Constant(false),
    }
}
