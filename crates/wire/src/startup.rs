//! Decodes the first packet of a connection, which has no type byte.
//!
//! Counterpart: `ProcessStartupPacket` of postmaster.c.

use crate::{backend, violation};
use pgerror::{PgError, Result, Severity};

/// Maximum length of the packet in bytes. Counterpart: `MAX_STARTUP_PACKET_LENGTH`.
const STARTUP_BYTES_MAX: usize = 10_000;

const CANCEL: u32 = 1234 << 16 | 5678;
const SSL: u32 = 1234 << 16 | 5679;
const GSS: u32 = 1234 << 16 | 5680;

/// The kinds of first packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartupPacket {
    /// Answered with one byte; another first packet follows.
    SslRequest,
    GssRequest,
    Cancel {
        pid: i32,
        key: i32,
    },
    Startup(StartupParameters),
    /// An unsupported protocol version: see [`refuse_version`].
    Unsupported(u32),
}

/// The session parameters requested by the client.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartupParameters {
    /// Requested minor version; only 0 exists.
    pub minor: u16,
    pub user: Option<String>,
    pub database: Option<String>,
    /// `options`, `replication` and settings, in order.
    pub other: Vec<(String, String)>,
    /// Protocol options (`_pq_.…`); none is supported.
    pub unknown: Vec<String>,
}

impl StartupPacket {
    /// Decodes the packet at the front of `bytes`; `None` if it is incomplete. Also returns its
    /// length.
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

/// A client that sends such a length does not use this protocol: it gets no response.
fn bad_length() -> PgError {
    violation("invalid length of startup packet").severity(Severity::Log)
}

fn decode_body(body: &[u8]) -> Result<StartupPacket> {
    let word =
        |at: usize| body.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes);
    let version = word(0).ok_or_else(bad_length)?;
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
        _ => Ok(StartupPacket::Unsupported(version)),
    }
}

/// Rejects a protocol version with an error in the format of that version.
pub fn refuse_version(out: &mut Vec<u8>, version: u32) -> PgError {
    let (major, minor) = (version >> 16, version & 0xffff);
    let error = pgerror::pg_err!(
        FEATURE_NOT_SUPPORTED,
        "unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0"
    )
    .severity(Severity::Fatal);
    // Version 0 does not exist.
    if major < 3 && version != 0 {
        backend::report_old(out, &error);
    } else {
        backend::report(out, &error);
    }
    error
}

/// Names and values, each zero-terminated, and a final zero byte. As in PostgreSQL, a slightly
/// different layout is accepted: a last name of one byte may replace the final zero.
fn parameters(minor: u16, body: &[u8]) -> Result<StartupParameters> {
    let mut found = StartupParameters { minor, ..StartupParameters::default() };
    let text = |from: usize| {
        let rest = &body[from..];
        &rest[..rest.iter().position(|&b| b == 0).unwrap_or(rest.len())]
    };
    let mut at = 0;
    while at < body.len() {
        let name = text(at);
        let value_at = at + name.len() + 1;
        if name.is_empty() || value_at >= body.len() {
            break;
        }
        let value = text(value_at);
        at = value_at + value.len() + 1;
        let value = String::from_utf8_lossy(value).into_owned();
        match name {
            b"user" => found.user = Some(value),
            b"database" => found.database = Some(value),
            _ => {
                let name = String::from_utf8_lossy(name).into_owned();
                match name.starts_with("_pq_.") {
                    true => found.unknown.push(name),
                    false => found.other.push((name, value)),
                }
            }
        }
    }
    if at + 1 != body.len() {
        return Err(violation("invalid startup packet layout: expected terminator as last byte"));
    }
    Ok(found)
}
