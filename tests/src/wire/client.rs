//! A protocol client that builds and shows each message.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// A sequence of frontend messages.
#[derive(Clone, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    pub fn new() -> Bytes {
        Bytes::default()
    }

    /// Any message: type and body.
    pub fn raw(mut self, kind: u8, body: &[u8]) -> Bytes {
        self.0.push(kind);
        self.0.extend((body.len() as u32 + 4).to_be_bytes());
        self.0.extend(body);
        self
    }

    /// Bytes that need not be a message.
    pub fn bytes(mut self, bytes: &[u8]) -> Bytes {
        self.0.extend(bytes);
        self
    }

    pub fn query(self, sql: &str) -> Bytes {
        self.raw(b'Q', &[sql.as_bytes(), b"\0"].concat())
    }

    pub fn parse(self, name: &str, sql: &str, types: &[u32]) -> Bytes {
        let mut body = [name.as_bytes(), b"\0", sql.as_bytes(), b"\0"].concat();
        body.extend((types.len() as u16).to_be_bytes());
        types.iter().for_each(|t| body.extend(t.to_be_bytes()));
        self.raw(b'P', &body)
    }

    /// Bind: formats of parameters, parameters, formats of results.
    pub fn bind(
        self,
        portal: &str,
        statement: &str,
        formats: &[u16],
        values: &[Option<&[u8]>],
        results: &[u16],
    ) -> Bytes {
        let mut body = [portal.as_bytes(), b"\0", statement.as_bytes(), b"\0"].concat();
        body.extend((formats.len() as u16).to_be_bytes());
        formats.iter().for_each(|f| body.extend(f.to_be_bytes()));
        body.extend((values.len() as u16).to_be_bytes());
        for value in values {
            match value {
                None => body.extend((-1i32).to_be_bytes()),
                Some(v) => {
                    body.extend((v.len() as u32).to_be_bytes());
                    body.extend(*v);
                }
            }
        }
        body.extend((results.len() as u16).to_be_bytes());
        results.iter().for_each(|f| body.extend(f.to_be_bytes()));
        self.raw(b'B', &body)
    }

    pub fn describe(self, kind: u8, name: &str) -> Bytes {
        self.raw(b'D', &[&[kind], name.as_bytes(), b"\0"].concat())
    }

    pub fn execute(self, portal: &str, rows: u32) -> Bytes {
        self.raw(b'E', &[portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat())
    }

    pub fn close(self, kind: u8, name: &str) -> Bytes {
        self.raw(b'C', &[&[kind], name.as_bytes(), b"\0"].concat())
    }

    pub fn sync(self) -> Bytes {
        self.raw(b'S', b"")
    }

    pub fn flush(self) -> Bytes {
        self.raw(b'H', b"")
    }

    pub fn copy_data(self, data: &[u8]) -> Bytes {
        self.raw(b'd', data)
    }

    pub fn copy_done(self) -> Bytes {
        self.raw(b'c', b"")
    }

    pub fn copy_fail(self, reason: &str) -> Bytes {
        self.raw(b'f', &[reason.as_bytes(), b"\0"].concat())
    }
}

/// A startup packet of the given version.
pub fn startup(version: u32, parameters: &[(&str, &str)]) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    for (name, value) in parameters {
        body.extend([name.as_bytes(), b"\0", value.as_bytes(), b"\0"].concat());
    }
    body.push(0);
    [&(body.len() as u32 + 4).to_be_bytes()[..], &body].concat()
}

pub const VERSION_3: u32 = 3 << 16;

/// A connection.
pub struct Client {
    stream: UnixStream,
}

impl Client {
    /// A connection on which nothing has been sent.
    pub fn silent(socket: &Path) -> Client {
        let stream = UnixStream::connect(socket).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        Client { stream }
    }

    /// A session, and the messages up to the first ReadyForQuery.
    pub fn start(socket: &Path, parameters: &[(&str, &str)]) -> (Client, Vec<Message>) {
        let mut client = Client::silent(socket);
        client.send(&startup(VERSION_3, parameters));
        let greeting = client.until_ready();
        (client, greeting)
    }

    /// A session of the superuser.
    pub fn connect(socket: &Path) -> Client {
        let (client, greeting) =
            Client::start(socket, &[("user", "postgres"), ("database", "postgres")]);
        assert_eq!(greeting.last().map(|m| m.kind), Some(b'Z'), "{greeting:?}");
        client
    }

    pub fn send(&mut self, bytes: &[u8]) {
        // The server may have closed the connection; its earlier messages can still be read.
        let _ = self.stream.write_all(bytes);
    }

    /// Closes the sending side; answers can still be read.
    pub fn close_input(&mut self) {
        let _ = self.stream.shutdown(std::net::Shutdown::Write);
    }

    /// One byte that is not a message: the answer to a request for encryption.
    pub fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.stream.read_exact(&mut byte).ok().map(|()| byte[0])
    }

    /// All bytes up to the end of the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let _ = self.stream.read_to_end(&mut bytes);
        bytes
    }

    /// The next message; `None` at the end of the connection.
    pub fn read(&mut self) -> Option<Message> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).ok()?;
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; len - 4];
        self.stream.read_exact(&mut body).ok()?;
        Some(Message { kind: head[0], body })
    }

    /// Messages up to ReadyForQuery or the end of the connection.
    pub fn until_ready(&mut self) -> Vec<Message> {
        let mut all = Vec::new();
        while let Some(message) = self.read() {
            let ready = message.kind == b'Z';
            all.push(message);
            if ready {
                break;
            }
        }
        all
    }

    /// Sends bytes; returns the messages up to `ready` ReadyForQuery messages or the end.
    pub fn talk(&mut self, bytes: &Bytes, ready: usize) -> Vec<String> {
        self.send(&bytes.0);
        let mut lines = Vec::new();
        for _ in 0..ready {
            let messages = self.until_ready();
            let ended = messages.last().is_none_or(|m| m.kind != b'Z');
            lines.extend(messages.iter().map(Message::show));
            if ended {
                lines.push("end".to_owned());
                break;
            }
        }
        lines
    }

    /// The messages that arrive before a pause of the length `span`.
    pub fn within(&mut self, span: Duration) -> Vec<String> {
        self.stream.set_read_timeout(Some(span)).expect("a socket");
        std::iter::from_fn(|| self.read()).map(|m| m.show()).collect()
    }

    /// The next `count` messages; fewer if one does not arrive in time.
    pub fn as_many(&mut self, count: usize, wait_max: Duration) -> Vec<String> {
        self.stream.set_read_timeout(Some(wait_max)).expect("a socket");
        let all = std::iter::from_fn(|| self.read()).take(count);
        let all = all.map(|m| m.show()).collect();
        self.stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        all
    }

    /// The first column of a query's rows.
    pub fn column(&mut self, sql: &str) -> Vec<String> {
        let lines = self.talk(&Bytes::new().query(sql), 1);
        let rows = lines.iter().filter_map(|l| l.strip_prefix("row "));
        let rows: Vec<String> = rows.map(str::to_owned).collect();
        let error = lines.iter().find(|l| l.starts_with("error"));
        assert!(error.is_none(), "{sql}: {error:?}");
        rows
    }
}

/// A message of the server.
#[derive(Clone, Debug)]
pub struct Message {
    pub kind: u8,
    pub body: Vec<u8>,
}

impl Message {
    /// The fields of an error or notice, in order.
    fn fields(&self) -> impl Iterator<Item = (u8, String)> {
        let fields = self.body.split(|&b| b == 0).take_while(|field| !field.is_empty());
        fields.map(|field| (field[0], String::from_utf8_lossy(&field[1..]).into_owned()))
    }

    /// A field of an error or notice.
    pub fn field(&self, code: u8) -> Option<String> {
        self.fields().find(|(kind, _)| *kind == code).map(|(_, field)| field)
    }

    /// The message as text, without parts that differ between runs.
    pub fn show(&self) -> String {
        let text = |b: &[u8]| String::from_utf8_lossy(b).trim_end_matches('\0').to_owned();
        let b = &self.body;
        match self.kind {
            b'Z' => format!("ready {}", text(b)),
            b'C' => format!("complete {}", text(b)),
            b'1' => "parsed".into(),
            b'2' => "bound".into(),
            b'3' => "closed".into(),
            b'n' => "no data".into(),
            b's' => "suspended".into(),
            b'I' => "empty".into(),
            b'c' => "copy done".into(),
            b'd' => format!("data {}", text(b).escape_debug()),
            b'G' | b'H' | b'W' => format!("copy {} {b:?}", char::from(self.kind)),
            b't' => {
                let types = b[2..].chunks(4).map(|t| type_oid(t.try_into().expect("an OID")));
                format!("parameters {}", types.collect::<Vec<_>>().join(" "))
            }
            b'S' => match text(b).split_once('\0') {
                // Minor versions differ, and packagers append text to the version.
                Some(("server_version", v)) => {
                    format!("status server_version={}", v.split('.').next().unwrap_or_default())
                }
                Some((name, value)) => format!("status {name}={value}"),
                None => format!("status {}", text(b)),
            },
            b'K' => "key".into(),
            // Without the process id.
            b'A' => format!("notification {}", text(&b[4..]).replace('\0', " ")),
            b'V' => format!("result {b:?}"),
            b'R' => format!("authentication {:?}", b.first_chunk::<4>()),
            b'v' => format!("negotiate {}", text(b).escape_debug()),
            b'D' => format!("row {}", row(b)),
            b'T' => format!("fields {}", fields(b)),
            b'E' | b'N' => {
                let kind = if self.kind == b'E' { "error" } else { "notice" };
                let mut line = kind.to_owned();
                // File, line and routine are not compared everywhere.
                for (code, mut field) in self.fields().filter(|(code, _)| !b"FLR".contains(code)) {
                    // The numbers of temporary schemas may differ.
                    if field.starts_with("pg_temp_") {
                        field.truncate("pg_temp_".len());
                    }
                    line.push_str(&format!(" {}={field}", char::from(code)));
                }
                line
            }
            other => format!("{} {b:?}", char::from(other)),
        }
    }
}

fn row(body: &[u8]) -> String {
    let mut rest = &body[2..];
    let mut values = Vec::new();
    while let Some((len, tail)) = rest.split_first_chunk::<4>() {
        let len = i32::from_be_bytes(*len);
        if len < 0 {
            values.push("null".to_owned());
            rest = tail;
            continue;
        }
        let (value, tail) = tail.split_at(len as usize);
        values.push(match std::str::from_utf8(value) {
            Ok(t) if t.chars().all(|c| !c.is_control()) => t.to_owned(),
            _ => format!("{value:?}"),
        });
        rest = tail;
    }
    values.join("|")
}

/// The OID of a built-in type; OIDs of other types differ between servers.
fn type_oid(bytes: [u8; 4]) -> String {
    match u32::from_be_bytes(bytes) {
        16_384.. => "user".to_owned(),
        oid => oid.to_string(),
    }
}

/// Names, types, formats; of a table's OID only whether it is set.
fn fields(body: &[u8]) -> String {
    let mut rest = &body[2..];
    let mut shown = Vec::new();
    while let Some(end) = rest.iter().position(|&b| b == 0) {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let f = &rest[end + 1..end + 19];
        let table = f[..4] != [0; 4];
        let ty = type_oid([f[6], f[7], f[8], f[9]]);
        shown.push(format!("{name}({table} {:?} {ty} {:?})", &f[4..6], &f[10..]));
        rest = &rest[end + 19..];
    }
    shown.join(",")
}
