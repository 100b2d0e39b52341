//! A client of the protocol's simple form, for both servers: it shows all that an answer has (names
//! and types of columns, rows as text, tags, the fields of errors), and it can leave a statement
//! unanswered, which programs of PostgreSQL cannot be asked to do.

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
    /// Where it came from, a line each.
    pub context: String,
    /// Of the statement's text, from 1; 0 where none was sent.
    pub position: u32,
}

/// A column of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    pub name: String,
    pub type_oid: u32,
    pub typmod: i32,
}

/// What one statement answered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Answer {
    pub fields: Vec<Field>,
    pub rows: Vec<Vec<Option<String>>>,
    pub tag: String,
}

/// What came for one query message.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reply {
    pub answers: Vec<Answer>,
    pub error: Option<Report>,
    pub notices: Vec<Report>,
    /// `I`, `T` or `E`.
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

    /// SQLSTATE, or nothing.
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
        Client::over(UnixStream::connect(dir.join(".s.PGSQL.5432"))?, parameters)
    }

    /// Speaks over a stream that leads to a server.
    pub fn over(stream: UnixStream, parameters: &[(&str, &str)]) -> io::Result<Client> {
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

    /// Asks and waits for the answer. An `Err` is a connection that has ended.
    pub fn query(&mut self, sql: &str) -> io::Result<Reply> {
        self.send(sql)?;
        self.receive()
    }

    /// As [`Client::query`], where nothing may fail.
    pub fn must(&mut self, sql: &str) -> Reply {
        let reply = self.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert!(reply.error.is_none(), "{sql}: {:?}", reply.error);
        reply
    }

    /// Rows of the last statement, columns separated by `|`.
    pub fn rows(&mut self, sql: &str) -> Vec<String> {
        self.must(sql).text()
    }

    /// The only value of the last statement.
    pub fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}");
        rows.into_iter().next().unwrap_or_default()
    }

    /// Asks without waiting.
    pub fn send(&mut self, sql: &str) -> io::Result<()> {
        self.message(b'Q', &[sql.as_bytes(), b"\0"].concat())
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        let mut packet = vec![kind];
        packet.extend((body.len() as u32 + 4).to_be_bytes());
        packet.extend_from_slice(body);
        self.stream.write_all(&packet)
    }

    /// COPY … FROM STDIN with these bytes.
    pub fn copy_in(&mut self, sql: &str, data: &[u8]) -> io::Result<Reply> {
        self.send(sql)?;
        self.receive_copying(Some(data))
    }

    /// Waits for the answer until the server is ready for more.
    pub fn receive(&mut self) -> io::Result<Reply> {
        self.receive_copying(None)
    }

    /// The answer, unless it takes longer than this.
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

    /// Data for a COPY that asks for it; without any it is told to fail.
    fn receive_copying(&mut self, data: Option<&[u8]>) -> io::Result<Reply> {
        let mut reply = Reply::default();
        let mut answer = Answer::default();
        loop {
            let mut head = [0; 5];
            if let Err(e) = self.reader.read_exact(&mut head) {
                // The reason, if one was given.
                return Err(match &reply.error {
                    Some(r) => broken(format!("{}: {}", r.code, r.message)),
                    None => e,
                });
            }
            let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let mut body = vec![0; len.checked_sub(4).ok_or_else(|| broken("short message"))?];
            self.reader.read_exact(&mut body)?;
            let mut cut = Cut(&body);
            match head[0] {
                b'R' if cut.u32()? != 0 => return Err(broken("a password is asked for")),
                b'R' | b'S' | b'A' | b'H' | b'c' => {}
                b'K' => (self.pid, self.key) = (cut.u32()?, cut.u32()?),
                b'T' => answer.fields = fields(&mut cut)?,
                b'D' => answer.rows.push(row(&mut cut)?),
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
                    answer.tag = cut.text()?;
                    reply.answers.push(std::mem::take(&mut answer));
                }
                b'I' => reply.answers.push(std::mem::take(&mut answer)),
                b'E' => {
                    // Rows that came before the error.
                    if !answer.fields.is_empty() {
                        reply.answers.push(std::mem::take(&mut answer));
                    }
                    answer = Answer::default();
                    reply.error = Some(report(&mut cut)?);
                }
                b'N' => reply.notices.push(report(&mut cut)?),
                b'Z' => {
                    reply.status = char::from(cut.take(1)?[0]);
                    return Ok(reply);
                }
                other => return Err(broken(format!("message {:?}", char::from(other)))),
            }
        }
    }

    /// What a cancel request must say.
    pub fn secret(&self) -> (u32, u32) {
        (self.pid, self.key)
    }
}

/// A message being read.
struct Cut<'a>(&'a [u8]);

impl Cut<'_> {
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

fn fields(cut: &mut Cut<'_>) -> io::Result<Vec<Field>> {
    (0..cut.u16()?)
        .map(|_| {
            let name = cut.text()?;
            cut.take(6)?;
            let type_oid = cut.u32()?;
            cut.take(2)?;
            let typmod = cut.u32()? as i32;
            cut.take(2)?;
            Ok(Field { name, type_oid, typmod })
        })
        .collect()
}

fn row(cut: &mut Cut<'_>) -> io::Result<Vec<Option<String>>> {
    (0..cut.u16()?)
        .map(|_| match cut.u32()? {
            u32::MAX => Ok(None),
            n => Ok(Some(String::from_utf8_lossy(cut.take(n as usize)?).into_owned())),
        })
        .collect()
}

fn report(cut: &mut Cut<'_>) -> io::Result<Report> {
    let mut report = Report::default();
    loop {
        let kind = cut.take(1)?[0];
        if kind == 0 {
            return Ok(report);
        }
        let text = cut.text()?;
        match kind {
            b'V' => report.severity = text,
            b'C' => report.code = text,
            b'M' => report.message = text,
            b'D' => report.detail = text,
            b'H' => report.hint = text,
            b'W' => report.context = text,
            b'P' => report.position = text.parse().unwrap_or_default(),
            _ => {}
        }
    }
}
