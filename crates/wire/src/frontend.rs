//! Decodes the messages of a client.
//!
//! Counterpart: pqformat.c, the reading half of postgres.c.

use crate::backend::Format;
use crate::violation;
use pgerror::{PgError, Result, SqlState};

/// The object of Describe and Close.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    Statement,
    Portal,
}

/// A Parse message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parse<'a> {
    pub name: &'a [u8],
    pub query: &'a [u8],
    /// Parameter type OIDs; 0 where the server infers the type.
    pub types: Vec<u32>,
}

/// Format codes of parameters or result columns. Unknown codes are detected when values are
/// converted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Formats {
    /// All text.
    #[default]
    Text,
    /// One code for all; the decoder uses `Text` for that of text.
    All(Format),
    Each(Vec<Format>),
}

impl Formats {
    /// The format of value `i`.
    pub fn get(&self, i: usize) -> Format {
        match self {
            Formats::Text => Format::Text,
            Formats::All(f) => *f,
            Formats::Each(list) => list.get(i).copied().unwrap_or(Format::Text),
        }
    }

    /// The number of codes, if it must match the number of values.
    pub fn count(&self) -> Option<usize> {
        match self {
            Formats::Each(list) => Some(list.len()),
            _ => None,
        }
    }
}

/// A Bind message, decoded step by step: a missing statement is reported before errors in the rest
/// of the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bind<'a> {
    pub portal: &'a [u8],
    pub statement: &'a [u8],
    rest: Reader<'a>,
}

/// The parameters of a Bind message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BindValues<'a> {
    pub formats: Formats,
    /// `None` is NULL.
    pub values: Vec<Option<&'a [u8]>>,
    /// Number of values announced by the message. `values` has fewer if the message is truncated:
    /// see [`BindValues::check`].
    pub count: usize,
    rest: Reader<'a>,
}

impl<'a> Bind<'a> {
    /// Formats and values of the parameters, as far as the message contains them.
    pub fn values(self) -> Result<BindValues<'a>> {
        let mut rest = self.rest;
        let formats = rest.formats()?;
        let count = rest.u16()?;
        if formats.count().is_some_and(|n| n != count) {
            return Err(malformed(&format!(
                "bind message has {} parameter formats but {count} parameters",
                formats.count().unwrap_or(0)
            )));
        }
        // Each value takes at least four bytes, so a large count alone cannot allocate much memory.
        let mut values = Vec::with_capacity(count.min(rest.0.len() / 4));
        for _ in 0..count {
            let value = rest.u32().and_then(|len| match len {
                u32::MAX => Ok(None),
                len => rest.take(len as usize).map(Some),
            });
            let Ok(value) = value else { break };
            values.push(value);
        }
        Ok(BindValues { formats, values, count, rest })
    }
}

impl BindValues<'_> {
    /// 08P01 for a truncated message. To be called after the available values were processed.
    pub fn check(&self) -> Result<()> {
        match self.values.len() == self.count {
            true => Ok(()),
            false => Err(malformed("insufficient data left in message")),
        }
    }

    /// The result formats at the end of the message.
    pub fn results(self) -> Result<Formats> {
        let mut rest = self.rest;
        let formats = rest.formats()?;
        rest.end()?;
        Ok(formats)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FrontendMessage<'a> {
    Query(&'a [u8]),
    Parse(Parse<'a>),
    Bind(Bind<'a>),
    Describe {
        target: Target,
        name: &'a [u8],
    },
    /// `max_rows` 0 means no limit.
    Execute {
        portal: &'a [u8],
        max_rows: u32,
    },
    Close {
        target: Target,
        name: &'a [u8],
    },
    Flush,
    Sync,
    Terminate,
    FunctionCall(FunctionCall<'a>),
    CopyData(&'a [u8]),
    CopyDone,
    CopyFail(CopyFail<'a>),
    Password(&'a [u8]),
}

/// A function call without SQL, decoded step by step: errors about the function are reported before
/// errors in the rest of the message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionCall<'a> {
    rest: Reader<'a>,
}

impl<'a> FunctionCall<'a> {
    /// The function's OID; to be read first.
    pub fn function(&mut self) -> Result<u32> {
        self.rest.u32()
    }

    /// Formats and number of the arguments; to be read second.
    pub fn begin_arguments(&mut self) -> Result<(Formats, usize)> {
        Ok((self.rest.formats()?, self.rest.u16()?))
    }

    /// The next argument; `None` is NULL.
    pub fn argument(&mut self) -> Result<Option<&'a [u8]>> {
        match self.rest.u32()? as i32 {
            -1 => Ok(None),
            size if size < 0 => {
                Err(malformed(&format!("invalid argument size {size} in function call message")))
            }
            size => self.rest.take(size as usize).map(Some),
        }
    }

    /// The result format at the end of the message.
    pub fn result_format(mut self) -> Result<Format> {
        let format = Format::of_code(self.rest.u16()? as i16);
        self.rest.end()?;
        Ok(format)
    }
}

/// CopyFail: the client aborts a COPY.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyFail<'a> {
    rest: Reader<'a>,
}

impl<'a> CopyFail<'a> {
    /// The client's error message.
    pub fn reason(mut self) -> Result<&'a [u8]> {
        self.rest.string()
    }
}

/// A cursor over the body of a message.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Reader<'a>(&'a [u8]);

/// An error in the contents of a correctly framed message: the connection remains usable.
fn malformed(message: &str) -> PgError {
    PgError::new(SqlState::PROTOCOL_VIOLATION, message)
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        if n > self.0.len() {
            return Err(malformed("insufficient data left in message"));
        }
        let (head, tail) = self.0.split_at(n);
        self.0 = tail;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8> {
        let (&byte, rest) =
            self.0.split_first().ok_or_else(|| malformed("no data left in message"))?;
        self.0 = rest;
        Ok(byte)
    }

    fn u16(&mut self) -> Result<usize> {
        let b = self.take(2)?;
        Ok(usize::from(u16::from_be_bytes([b[0], b[1]])))
    }

    fn u32(&mut self) -> Result<u32> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn string(&mut self) -> Result<&'a [u8]> {
        match self.0.iter().position(|&b| b == 0) {
            Some(end) => {
                let text = &self.0[..end];
                self.0 = &self.0[end + 1..];
                Ok(text)
            }
            None => Err(malformed("invalid string in message")),
        }
    }

    fn formats(&mut self) -> Result<Formats> {
        let count = self.u16()?;
        let mut each = Vec::new();
        for i in 0..count {
            let format = Format::of_code(self.u16()? as i16);
            if count == 1 {
                return Ok(match format {
                    Format::Text => Formats::Text,
                    other => Formats::All(other),
                });
            }
            if i == 0 {
                each.reserve_exact(count);
            }
            each.push(format);
        }
        Ok(if count == 0 { Formats::Text } else { Formats::Each(each) })
    }

    /// Decodes a message that consists of a target. The whole message is read before the target is
    /// checked.
    fn target(mut self, message: &str) -> Result<(Target, &'a [u8])> {
        let (kind, name) = (self.byte()?, self.string()?);
        self.end()?;
        match kind {
            b'S' => Ok((Target::Statement, name)),
            b'P' => Ok((Target::Portal, name)),
            other => Err(malformed(&format!("invalid {message} message subtype {other}"))),
        }
    }

    fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(malformed("invalid message format")) }
    }
}

impl<'a> FrontendMessage<'a> {
    /// Decodes a message from its type byte and body.
    pub fn decode(kind: u8, body: &'a [u8]) -> Result<FrontendMessage<'a>> {
        let mut r = Reader(body);
        let message = match kind {
            b'Q' => FrontendMessage::Query(r.string()?),
            b'P' => FrontendMessage::Parse(parse(&mut r)?),
            b'B' => {
                let (portal, statement) = (r.string()?, r.string()?);
                return Ok(FrontendMessage::Bind(Bind { portal, statement, rest: r }));
            }
            b'D' => {
                let (target, name) = r.target("DESCRIBE")?;
                return Ok(FrontendMessage::Describe { target, name });
            }
            b'E' => {
                let portal = r.string()?;
                FrontendMessage::Execute { portal, max_rows: r.u32()? }
            }
            b'C' => {
                let (target, name) = r.target("CLOSE")?;
                return Ok(FrontendMessage::Close { target, name });
            }
            b'H' => FrontendMessage::Flush,
            b'S' => FrontendMessage::Sync,
            b'X' => FrontendMessage::Terminate,
            b'F' => return Ok(FrontendMessage::FunctionCall(FunctionCall { rest: r })),
            b'd' => return Ok(FrontendMessage::CopyData(body)),
            // Ignored outside COPY, regardless of their contents.
            b'c' => return Ok(FrontendMessage::CopyDone),
            b'f' => return Ok(FrontendMessage::CopyFail(CopyFail { rest: r })),
            b'p' => return Ok(FrontendMessage::Password(body)),
            _ => return Err(violation(format!("invalid frontend message type {kind}"))),
        };
        r.end()?;
        Ok(message)
    }
}

fn parse<'a>(r: &mut Reader<'a>) -> Result<Parse<'a>> {
    let name = r.string()?;
    let query = r.string()?;
    let count = r.u16()?;
    let types = (0..count).map(|_| r.u32()).collect::<Result<_>>()?;
    Ok(Parse { name, query, types })
}
