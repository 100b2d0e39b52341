//! A client that discards received data and can stop in the middle of a message.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

pub(super) struct Raw {
    pub stream: UnixStream,
    buffer: Vec<u8>,
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut packet = vec![kind];
    packet.extend((body.len() as u32 + 4).to_be_bytes());
    packet.extend_from_slice(body);
    packet
}

impl Raw {
    /// Connects; an answer that takes longer than `wait_max` is an error.
    pub(super) fn connect(socket: &Path, wait_max: Duration) -> io::Result<Raw> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(wait_max))?;
        let body = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
        stream.write_all(&(body.len() as u32 + 4).to_be_bytes())?;
        stream.write_all(body)?;
        let mut raw = Raw { stream, buffer: vec![0; 64 << 10] };
        raw.outcome()?;
        Ok(raw)
    }

    pub(super) fn send(&mut self, kind: u8, body: &[u8]) -> io::Result<()> {
        self.stream.write_all(&message(kind, body))
    }

    pub(super) fn send_query(&mut self, sql: &str) -> io::Result<()> {
        let mut packet = Vec::with_capacity(sql.len() + 6);
        packet.push(b'Q');
        packet.extend((sql.len() as u32 + 5).to_be_bytes());
        packet.extend_from_slice(sql.as_bytes());
        packet.push(0);
        self.stream.write_all(&packet)
    }

    /// SQLSTATE of the last error, or an empty string.
    pub(super) fn query(&mut self, sql: &str) -> io::Result<String> {
        self.send_query(sql)?;
        self.outcome()
    }

    /// Reads up to ReadyForQuery.
    pub(super) fn outcome(&mut self) -> io::Result<String> {
        let mut code = String::new();
        loop {
            let (kind, error) = self.message()?;
            match kind {
                b'E' => code = error,
                b'Z' => return Ok(code),
                b'G' => self.send(b'f', b"no data\0")?,
                _ => {}
            }
        }
    }

    /// The kind of the next message, and the SQLSTATE of an error.
    pub(super) fn message(&mut self) -> io::Result<(u8, String)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head)?;
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize - 4;
        match head[0] {
            b'E' => Ok((head[0], self.error_code(len)?)),
            kind => {
                self.skip(len)?;
                Ok((kind, String::new()))
            }
        }
    }

    fn error_code(&mut self, len: usize) -> io::Result<String> {
        let mut body = vec![0; len];
        self.stream.read_exact(&mut body)?;
        let field = |kind: &[u8]| body.split(|b| *b == 0).find_map(|f| f.strip_prefix(kind));
        // PostgreSQL's error for values above 1 GB is an internal error.
        if field(b"M").is_some_and(|m| m.starts_with(b"invalid memory alloc request size")) {
            return Ok("54000".to_owned());
        }
        Ok(String::from_utf8_lossy(field(b"C").unwrap_or_default()).into_owned())
    }

    fn skip(&mut self, mut len: usize) -> io::Result<()> {
        while len > 0 {
            let part = len.min(self.buffer.len());
            self.stream.read_exact(&mut self.buffer[..part])?;
            len -= part;
        }
        Ok(())
    }

    /// Sends Parse, Bind with these values, Execute, Sync.
    pub(super) fn extended(
        &mut self,
        sql: &str,
        values: &[&[u8]],
        binary: bool,
    ) -> io::Result<String> {
        let parse = [b"\0", sql.as_bytes(), b"\0\0\0"].concat();
        self.send(b'P', &parse)?;
        let len: usize = values.iter().map(|v| v.len() + 4).sum();
        let mut bind = Vec::with_capacity(len + 20);
        bind.extend(b"\0\0\0\x01\0");
        bind.push(u8::from(binary));
        bind.extend((values.len() as u16).to_be_bytes());
        for value in values {
            bind.extend((value.len() as u32).to_be_bytes());
            bind.extend_from_slice(value);
        }
        bind.extend(b"\0\0");
        self.send(b'B', &bind)?;
        self.send(b'E', b"\0\0\0\0\0")?;
        self.send(b'S', b"")?;
        self.outcome()
    }
}
