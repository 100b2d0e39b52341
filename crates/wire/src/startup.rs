//! The first packet of a connection. It has no type byte.

use crate::violation;
use pgerror::{PgError, Result, Severity};

/// Longest first packet. Counterpart: `MAX_STARTUP_PACKET_LENGTH`.
const STARTUP_BYTES_MAX: usize = 10_000;

const CANCEL: u32 = 1234 << 16 | 5678;
const SSL: u32 = 1234 << 16 | 5679;
const GSS: u32 = 1234 << 16 | 5680;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartupPacket {
    /// Answered by one byte; another first packet follows.
    SslRequest,
    GssRequest,
    Cancel {
        pid: i32,
        key: i32,
    },
    Startup(StartupParameters),
}

/// What a client says about the session that it wants.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartupParameters {
    /// Minor version asked for; only 0 exists.
    pub minor: u16,
    pub user: Option<String>,
    pub database: Option<String>,
    /// `options`, `replication` and settings, in order.
    pub other: Vec<(String, String)>,
    /// Protocol options (`_pq_.…`), none of which is known.
    pub unknown: Vec<String>,
}

impl StartupPacket {
    /// Takes the packet from the front of `bytes`; `None` if it is not all there. Returns its length too.
    pub fn decode(bytes: &[u8]) -> Result<Option<(StartupPacket, usize)>> {
        let Some(&head) = bytes.first_chunk::<4>() else { return Ok(None) };
        let len = u32::from_be_bytes(head) as usize;
        if !(8..=STARTUP_BYTES_MAX).contains(&len) {
            return Err(bad_length());
        }
        if bytes.len() < len {
            return Ok(None);
        }
        let body = &bytes[4..len];
        Ok(Some((decode_body(body)?, len)))
    }
}

/// Who sends such a length speaks something else: nothing is answered.
fn bad_length() -> PgError {
    violation("invalid length of startup packet").severity(Severity::Log)
}

fn decode_body(body: &[u8]) -> Result<StartupPacket> {
    let word =
        |at: usize| body.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    let version = word(0).ok_or_else(|| bad_length())?;
    match version {
        SSL => Ok(StartupPacket::SslRequest),
        GSS => Ok(StartupPacket::GssRequest),
        CANCEL => match (word(4), word(8), body.len()) {
            (Some(pid), Some(key), 12) => {
                Ok(StartupPacket::Cancel { pid: pid as i32, key: key as i32 })
            }
            _ => Err(bad_length()),
        },
        _ if version >> 16 == 3 => {
            parameters(version as u16, &body[4..]).map(StartupPacket::Startup)
        }
        _ => Err(pgerror::pg_err!(
            FEATURE_NOT_SUPPORTED,
            "unsupported frontend protocol {}.{}: server supports 3.0 to 3.0",
            version >> 16,
            version & 0xffff
        )
        .severity(Severity::Fatal)),
    }
}

fn parameters(minor: u16, body: &[u8]) -> Result<StartupParameters> {
    let bad = || violation("invalid startup packet layout: expected terminator as last byte");
    let mut found = StartupParameters { minor, ..StartupParameters::default() };
    let mut rest = body;
    let mut next = || -> Result<String> {
        let end = rest.iter().position(|&b| b == 0).ok_or_else(bad)?;
        let text = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        Ok(text)
    };
    loop {
        let name = next()?;
        if name.is_empty() {
            break;
        }
        let value = next()?;
        match name.as_str() {
            "user" => found.user = Some(value),
            "database" => found.database = Some(value),
            _ if name.starts_with("_pq_.") => found.unknown.push(name),
            _ => found.other.push((name, value)),
        }
    }
    if rest.is_empty() { Ok(found) } else { Err(bad()) }
}
