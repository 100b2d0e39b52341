//! pgcrypto: digests, password hashes, ciphers, random bytes, OpenPGP messages.
//!
//! Reading order: `digests`; `passwords` with `bcrypt`, `md5crypt` and `descrypt`; `ciphers`;
//! `messages`, the functions in front of the crate `openpgp`.
//!
//! Counterpart: contrib/pgcrypto.

mod bcrypt;
mod ciphers;
mod descrypt;
mod digests;
mod md5crypt;
mod messages;
mod passwords;

use crate::library::Library;
use pgerror::{PgError, Result, SqlState, pg_err};
use values::datum::Datum;
use values::fn_context::FnContext;

pub static LIBRARY: Library = Library {
    name: "pgcrypto",
    functions: &[FNS, digests::FNS, passwords::FNS, ciphers::FNS, messages::FNS, messages::SETS],
    ..Library::EMPTY
};

/// 39000: an error of a cryptographic function.
fn failed(message: impl Into<String>) -> PgError {
    PgError::new(SqlState::EXTERNAL_ROUTINE_INVOCATION_EXCEPTION, message)
}

/// 22023: a digest or cipher that does not exist.
fn cannot_use(name: &str, reason: &str) -> PgError {
    pg_err!(INVALID_PARAMETER_VALUE, "Cannot use \"{name}\": {reason}")
}

/// The name of an algorithm, in lower case.
fn algorithm(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_ascii_lowercase()
}

fn random_bytes(cx: &mut dyn FnContext, count: i32) -> Result<Datum> {
    if !(1..=1024).contains(&count) {
        return Err(failed("Length not in range"));
    }
    let mut bytes = vec![0; count as usize];
    cx.random_bytes(&mut bytes)?;
    Ok(Datum::bytes(bytes))
}

fn random_uuid(cx: &mut dyn FnContext) -> Result<Datum> {
    let mut bytes = [0; 16];
    cx.random_bytes(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    Ok(Datum::bytes(bytes))
}

scalars! { FNS;
    "pg_random_bytes" => |cx, a| random_bytes(cx, a[0].as_i32()),
    "pg_random_uuid" => |cx, _| random_uuid(cx),
}
