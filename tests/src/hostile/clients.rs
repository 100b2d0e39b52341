//! Clients that violate the protocol: slow readers, incomplete messages, false lengths, large
//! parameters.

use super::raw::Raw;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

/// Time limit for an answer.
pub(super) const WAIT_MAX: Duration = Duration::from_secs(30);

type Client = fn(&mut Raw) -> std::io::Result<String>;

/// Each returns an SQLSTATE or an empty string, and whether the connection continues.
pub(super) const CLIENTS: &[(&str, Client)] = &[
    ("reads nothing for a while", |raw| {
        raw.send_query("SELECT repeat('x', 100000) FROM generate_series(1, 100000)")?;
        std::thread::sleep(Duration::from_secs(1));
        raw.outcome()
    }),
    ("reads slowly", |raw| {
        raw.send_query("SELECT g FROM generate_series(1, 100000000) g")?;
        let mut part = [0; 4096];
        for _ in 0..50 {
            raw.stream.read_exact(&mut part)?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(String::new())
    }),
    ("asks a hundred times and reads nothing", |raw| {
        raw.stream.set_write_timeout(Some(Duration::from_secs(2)))?;
        for _ in 0..100 {
            if raw.send_query("SELECT repeat('x', 1000000)").is_err() {
                break;
            }
        }
        Ok(String::new())
    }),
    ("stops in a message", |raw| {
        raw.stream.write_all(&[b'Q', 0x3f, 0, 0, 0])?;
        raw.stream.write_all(&vec![b'x'; 50_000_000])?;
        Ok(String::new())
    }),
    ("stops in a header", |raw| {
        raw.stream.write_all(&[b'Q', 0])?;
        Ok(String::new())
    }),
    ("announces 1 GB and sends nothing", |raw| {
        raw.stream.write_all(&[b'B', 0x3f, 0xff, 0xff, 0xff])?;
        std::thread::sleep(Duration::from_secs(1));
        Ok(String::new())
    }),
    ("announces too much", |raw| {
        raw.stream.write_all(&[b'Q', 0x7f, 0xff, 0xff, 0xff])?;
        raw.outcome().or(Ok(String::new()))
    }),
    ("a text parameter of 200 MB", |raw| {
        raw.extended("SELECT length($1::text)", &[&vec![b'x'; 200_000_000]], false)
    }),
    ("a binary parameter of 200 MB", |raw| {
        raw.extended("SELECT length($1::bytea)", &[&vec![b'x'; 200_000_000]], true)
    }),
    ("a parameter that comes back", |raw| {
        raw.extended("SELECT $1::text, $1::text, $1 || $1", &[&vec![b'x'; 100_000_000]], false)
    }),
    ("an array of 100 MB", |raw| {
        let text = format!("{{{}1}}", "1,".repeat(50_000_000));
        raw.extended("SELECT array_length($1::int[], 1)", &[text.as_bytes()], false)
    }),
    ("a binary array that promises much", |raw| {
        let mut array = [1i32, 0, 23, 134_000_000, 1].map(i32::to_be_bytes).concat();
        array.extend([0; 8]);
        raw.extended("SELECT array_length($1::int[], 1)", &[&array], true)
    }),
    ("jsonb of 100 MB", |raw| {
        let text = format!("[{}1]", "{\"a\":1},".repeat(12_000_000));
        raw.extended("SELECT jsonb_array_length($1::jsonb)", &[text.as_bytes()], false)
    }),
    ("numeric of 20 MB", |raw| {
        raw.extended("SELECT $1::numeric > 0", &[&vec![b'9'; 20_000_000]], false)
    }),
    ("60,000 parameters", |raw| {
        let sql = (1..=60_000).map(|i| format!("${i}::text")).collect::<Vec<_>>().join("||");
        let values = vec![&b"0123456789"[..]; 60_000];
        raw.extended(&format!("SELECT length({sql})"), &values, false)
    }),
    ("COPY of a row of 300 MB", |raw| {
        raw.query("CREATE TEMP TABLE copied (a text, b text)")?;
        raw.send_query("COPY copied FROM STDIN")?;
        let part = vec![b'x'; 10_000_000];
        for _ in 0..30 {
            raw.send(b'd', &part)?;
        }
        raw.send(b'd', b"\tb\n")?;
        raw.send(b'c', b"")?;
        copied(raw)
    }),
    ("COPY of a quoted value without end", |raw| {
        raw.query("CREATE TEMP TABLE copied (a text, b text)")?;
        raw.send_query("COPY copied FROM STDIN (FORMAT csv)")?;
        raw.send(b'd', b"\"")?;
        let part = vec![b'\n'; 10_000_000];
        for _ in 0..30 {
            raw.send(b'd', &part)?;
        }
        raw.send(b'c', b"")?;
        copied(raw)
    }),
    ("COPY of columns without end", |raw| {
        raw.query("CREATE TEMP TABLE copied (a text, b text)")?;
        raw.send_query("COPY copied FROM STDIN")?;
        let part = vec![b'\t'; 10_000_000];
        for _ in 0..10 {
            raw.send(b'd', &part)?;
        }
        raw.send(b'c', b"")?;
        copied(raw)
    }),
    ("COPY in binary that promises much", |raw| {
        raw.query("CREATE TEMP TABLE copied (a text, b text)")?;
        raw.send_query("COPY copied FROM STDIN (FORMAT binary)")?;
        raw.send(b'd', b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x02\x3f\xff\xff\xff")?;
        let part = vec![b'x'; 10_000_000];
        for _ in 0..10 {
            raw.send(b'd', &part)?;
        }
        raw.send(b'c', b"")?;
        copied(raw)
    }),
    ("errors, then a thousand messages without Sync", |raw| {
        for _ in 0..1000 {
            raw.send(b'P', b"\0SELECT * FROM nothing\0\0\0")?;
        }
        raw.send(b'S', b"")?;
        raw.outcome()
    }),
    ("30,000 messages in one pipeline", |raw| {
        let mut pipeline = Vec::new();
        for _ in 0..30_000 {
            pipeline.extend(
                b"P\0\0\0\x10\0SELECT 1\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0E\0\0\0\x09\0\0\0\0\0",
            );
        }
        pipeline.extend(b"S\0\0\0\x04");
        let mut writer = raw.stream.try_clone()?;
        let write = std::thread::spawn(move || writer.write_all(&pipeline));
        let outcome = raw.outcome();
        write.join().expect("no panic")?;
        outcome
    }),
    ("named portals and statements", |raw| {
        for i in 0..10_000 {
            raw.send(b'P', format!("s{i}\0SELECT * FROM pg_class\0\0\0").as_bytes())?;
        }
        raw.send(b'S', b"")?;
        raw.outcome()
    }),
];

/// The answer to COPY, which may have been ended by an error.
fn copied(raw: &mut Raw) -> std::io::Result<String> {
    let mut code = String::new();
    loop {
        let (kind, body) = raw.message()?;
        match kind {
            b'E' => code = body,
            b'Z' => return Ok(code),
            _ => {}
        }
    }
}

/// Connections that never send a startup packet.
pub(super) fn silent_connections(socket: &Path, n: usize) -> Vec<std::os::unix::net::UnixStream> {
    (0..n)
        .filter_map(|_| {
            let mut stream = std::os::unix::net::UnixStream::connect(socket).ok()?;
            stream.write_all(&[0x3f, 0xff, 0xff, 0xff, 0, 3]).ok()?;
            Some(stream)
        })
        .collect()
}
