//! A client of the simple query protocol for both servers. It returns all parts of the answer
//! (names and types of columns, rows as text, command tags, the fields of errors). In contrast to
//! psql, it can send a statement without waiting for the answer.

use std::io::{self, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// An error or notice.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    pub severity: String,
    pub code: String,
    pub message: String,
    pub detail: String,
    pub hint: String,
    /// The context field, one line for each level.
    pub context: String,
    /// Character position in the statement's text, 1-based; 0 if none was sent.
    pub position: u32,
    /// The text of a statement that the server generated, such as one in a function's body.
    pub internal_query: String,
    /// Character position in the internal query, 1-based; 0 if none was sent.
    pub internal_position: u32,
    /// The names of what the error is about.
    pub object: ObjectNames,
}

/// The fields of an error that name an object; an absent one is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ObjectNames {
    pub schema: String,
    pub table: String,
    pub column: String,
    pub data_type: String,
    pub constraint: String,
}

/// A column of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: String,
    pub type_oid: u32,
    pub typmod: i32,
}

/// The result of one statement.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    pub fields: Vec<Field>,
    pub rows: Vec<Vec<Option<String>>>,
    pub tag: String,
}

/// All results of one query message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    pub answers: Vec<Answer>,
    pub error: Option<Report>,
    pub notices: Vec<Report>,
    /// Transaction status: `I`, `T` or `E`.
    pub status: char,
}

impl Reply {
    /// Rows of the last answer, columns separated by `|`; panics on an error.
    pub fn text(&self) -> Vec<String> {
        assert!(self.error.is_none(), "{:?}", self.error);
        let rows = self.answers.last().map_or(&[][..], |a| &a.rows);
        let cell = |c: &Option<String>| c.clone().unwrap_or_else(|| "NULL".to_owned());
        rows.iter().map(|r| r.iter().map(cell).collect::<Vec<_>>().join("|")).collect()
    }

    /// The error's SQLSTATE; empty without an error.
    pub fn code(&self) -> &str {
        self.error.as_ref().map_or("", |e| &e.code)
    }
}

/// A connection.
pub struct Client {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    pub pid: u32,
    key: u32,
}

fn broken(what: impl Into<String>) -> io::Error {
    io::Error::other(what.into())
}

impl Client {
    /// Connects to the server that listens on the socket in `dir`.
    pub fn connect(dir: &Path, database: &str) -> io::Result<Client> {
        Client::connect_with(dir, &[("user", "postgres"), ("database", database)])
    }

    pub fn connect_with(dir: &Path, parameters: &[(&str, &str)]) -> io::Result<Client> {
        Client::with_stream(UnixStream::connect(dir.join(".s.PGSQL.5432"))?, parameters)
    }

    /// Starts a session over a stream that is connected to a server.
    pub fn with_stream(stream: UnixStream, parameters: &[(&str, &str)]) -> io::Result<Client> {
        let mut body = 0x0003_0000u32.to_be_bytes().to_vec();
        for (name, value) in parameters {
            for text in [name, value] {
                body.extend_from_slice(text.as_bytes());
                body.push(0);
            }
        }
        body.push(0);
        let mut packet = (body.len() as u32 + 4).to_be_bytes().to_vec();
        packet.extend(body);
        (&stream).write_all(&packet)?;
        let reader = BufReader::new(stream.try_clone()?);
        let mut client = Client { stream, reader, pid: 0, key: 0 };
        let reply = client.receive()?;
        match reply.error {
            None => Ok(client),
            Some(e) => Err(broken(format!("{}: {}", e.code, e.message))),
        }
    }

    /// Sends a query and waits for the answer. An `Err` means that the connection has ended.
    pub fn query(&mut self, sql: &str) -> io::Result<Reply> {
        self.send(sql)?;
        self.receive()
    }

    /// Like [`Client::query`]; panics on an error.
    pub fn must(&mut self, sql: &str) -> Reply {
        let reply = self.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert!(reply.error.is_none(), "{sql}: {:?}", reply.error);
        reply
    }

    /// Rows of the last statement, columns separated by `|`.
    pub fn rows(&mut self, sql: &str) -> Vec<String> {
        self.must(sql).text()
    }

    /// The single value of the last statement.
    pub fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}");
        rows.into_iter().next().unwrap_or_default()
    }

    /// Sends a query without waiting for the answer.
    pub fn send(&mut self, sql: &str) -> io::Result<()> {
        self.message(b'Q', &[sql.as_bytes(), b"\0"].concat())
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let mut packet = vec![kind];
        packet.extend((body.len() as u32 + 4).to_be_bytes());
        packet.extend_from_slice(body);
        self.stream.write_all(&packet)
    }

    /// Runs COPY … FROM STDIN with this data.
    pub fn copy_in(&mut self, sql: &str, data: &[u8]) -> io::Result<Reply> {
        self.send(sql)?;
        self.receive_copying(Some(data))
    }

    /// Waits for the answer, up to ReadyForQuery.
    pub fn receive(&mut self) -> io::Result<Reply> {
        self.receive_copying(None)
    }

    /// Waits for the answer for at most `span`; `None` if it takes longer.
    pub fn receive_within(&mut self, span: Duration) -> io::Result<Option<Reply>> {
        if self.reader.buffer().is_empty() {
            self.stream.set_read_timeout(Some(span))?;
            let peeked = io::BufRead::fill_buf(&mut self.reader).map(|b| b.len());
            self.stream.set_read_timeout(None)?;
            match peeked {
                Ok(_) => {}
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock
                            | io::ErrorKind::TimedOut
                            | io::ErrorKind::Interrupted
                    ) =>
                {
                    return Ok(None);
                }
                Err(e) => return Err(e),
            }
        }
        self.receive().map(Some)
    }

    /// Receives an answer and sends `data` to a COPY; without data it sends CopyFail.
    fn receive_copying(&mut self, data: Option<&[u8]>) -> io::Result<Reply> {
        let mut reply = Reply::default();
        let mut answer = Answer::default();
        loop {
            let mut head = [0; 5];
            if let Err(e) = self.reader.read_exact(&mut head) {
                // The server's error, if it sent one.
                return Err(match &reply.error {
                    Some(r) => broken(format!("{}: {}", r.code, r.message)),
                    None => e,
                });
            }
            let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; len.checked_sub(4).ok_or_else(|| broken("short message"))?];
            self.reader.read_exact(&mut body)?;
            let mut reader = MessageReader(&body);
            match head[0] {
                b'R' if reader.u32()? != 0 => return Err(broken("a password is asked for")),
                b'R' | b'S' | b'A' | b'H' | b'c' => {}
                b'K' => (self.pid, self.key) = (reader.u32()?, reader.u32()?),
                b'T' => answer.fields = fields(&mut reader)?,
                b'D' => answer.rows.push(row(&mut reader)?),
                b'd' => {
                    answer.rows.push(vec![Some(String::from_utf8_lossy(&body).into_owned())]);
                }
                b'G' => match data {
                    Some(data) => {
                        self.message(b'd', data)?;
                        self.message(b'c', b"")?;
                    }
                    None => self.message(b'f', b"no data\0")?,
                },
                b'C' => {
                    answer.tag = reader.text()?;
                    reply.answers.push(std::mem::take(&mut answer));
                }
                b'I' => reply.answers.push(std::mem::take(&mut answer)),
                b'E' => {
                    // Keep the rows that were sent before the error.
                    if !answer.fields.is_empty() {
                        reply.answers.push(std::mem::take(&mut answer));
                    }
                    answer = Answer::default();
                    reply.error = Some(report(&mut reader)?);
                }
                b'N' => reply.notices.push(report(&mut reader)?),
                b'Z' => {
                    reply.status = char::from(reader.take(1)?[0]);
                    return Ok(reply);
                }
                other => return Err(broken(format!("message {:?}", char::from(other)))),
            }
        }
    }

    /// Process id and secret key of a cancel request for this session.
    pub fn cancel_key(&self) -> (u32, u32) {
        (self.pid, self.key)
    }
}

/// A reader of a message's body.
struct MessageReader<'a>(&'a [u8]);

impl MessageReader<'_> {
    fn take(&mut self, n: usize) -> io::Result<&[u8]> {
        let (head, rest) = self.0.split_at_checked(n).ok_or_else(|| broken("short message"))?;
        self.0 = rest;
        Ok(head)
    }

    fn u16(&mut self) -> io::Result<u16> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    fn u32(&mut self) -> io::Result<u32> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    fn text(&mut self) -> io::Result<String> {
        let end = self.0.iter().position(|b| *b == 0).ok_or_else(|| broken("endless text"))?;
        let text = String::from_utf8_lossy(&self.0[..end]).into_owned();
        self.0 = &self.0[end + 1..];
        Ok(text)
    }
}

fn fields(reader: &mut MessageReader<'_>) -> io::Result<Vec<Field>> {
    (0..reader.u16()?)
        .map(|_| {
            let name = reader.text()?;
            reader.take(6)?;
            let type_oid = reader.u32()?;
            reader.take(2)?;
            let typmod = reader.u32()? as i32;
            reader.take(2)?;
            Ok(Field { name, type_oid, typmod })
        })
        .collect()
}

fn row(reader: &mut MessageReader<'_>) -> io::Result<Vec<Option<String>>> {
    (0..reader.u16()?)
        .map(|_| match reader.u32()? {
            u32::MAX => Ok(None),
            n => Ok(Some(String::from_utf8_lossy(reader.take(n as usize)?).into_owned())),
        })
        .collect()
}

fn report(reader: &mut MessageReader<'_>) -> io::Result<Report> {
    let mut report = Report::default();
    loop {
        let kind = reader.take(1)?[0];
        if kind == 0 {
            return Ok(report);
        }
        let text = reader.text()?;
        match kind {
            b'V' => report.severity = text,
            b'C' => report.code = text,
            b'M' => report.message = text,
            b'D' => report.detail = text,
            b'H' => report.hint = text,
            b'W' => report.context = text,
            b'P' => report.position = text.parse().unwrap_or_default(),
            b'q' => report.internal_query = text,
            b'p' => report.internal_position = text.parse().unwrap_or_default(),
            b's' => report.object.schema = text,
            b't' => report.object.table = text,
            b'c' => report.object.column = text,
            b'd' => report.object.data_type = text,
            b'n' => report.object.constraint = text,
            _ => {}
        }
    }
}
