//! OpenPGP: messages, identifiers of keys, armor. The formats are those of the crate `openpgp`.
//!
//! Counterpart: pgp-pgsql.c.

use openpgp::armor::{self, Headers};
use openpgp::{DecryptionKey, EncryptionKey, Options};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::cell::RefCell;
use values::array::ArrayRef;
use values::array::payload::builtin_info;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;
use values::function::SetSource;
use values::memory;
use values::oids;
use values::settings::Encoding;
use values::text;

/// The session, as the crate `openpgp` sees it.
struct Session<'a>(RefCell<&'a mut dyn FnContext>);

impl<'a> Session<'a> {
    fn new(cx: &'a mut dyn FnContext) -> Session<'a> {
        Session(RefCell::new(cx))
    }
}

/// Seconds from 1970 to 2000.
const EPOCH_SHIFT: i64 = 946_684_800;

impl openpgp::Host for Session<'_> {
    fn random_bytes(&self, out: &mut [u8]) -> Result<()> {
        self.0.borrow_mut().random_bytes(out)
    }

    fn unix_seconds(&self) -> u32 {
        let micros = self.0.borrow().clock_timestamp();
        (micros.div_euclid(1_000_000) + EPOCH_SHIFT) as u32
    }

    fn notice(&self, message: String) {
        let notice = PgError::new(SqlState::SUCCESSFUL_COMPLETION, message);
        self.0.borrow_mut().notice(notice.severity(Severity::Notice));
    }

    fn check_interrupts(&self) -> Result<()> {
        self.0.borrow().check_interrupts()
    }
}

/// Whether the data of a function is text or bytea.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Data {
    Text,
    Bytes,
}

/// Whether a message is encrypted by a password or by a public key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Symmetric,
    Public,
}

fn options(data: Data, argument: Option<&DatumRef<'_>>) -> Result<Options> {
    let argument = argument.map_or(&[][..], |a| a.as_bytes());
    Options::parse(data == Data::Text, argument)
}

/// 0A000 for a text that must be converted. The tables of conversions are in a higher layer.
fn no_conversion(encoding: Encoding) -> PgError {
    let name = encoding.name();
    PgError::unsupported(format!("conversion between {name} and UTF8 in an OpenPGP message"))
}

/// Checks that a text of the database is the same in UTF-8.
fn check_unicode(encoding: Encoding, text: &[u8]) -> Result<()> {
    match encoding {
        Encoding::Utf8 => Ok(()),
        Encoding::SqlAscii => text::verify_in(Encoding::Utf8, text),
        Encoding::SingleByte(..) if text.is_ascii() => Ok(()),
        Encoding::SingleByte(..) => Err(no_conversion(encoding)),
    }
}

fn encrypt(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    scheme: Scheme,
    data: Data,
) -> Result<Datum> {
    let options = options(data, a.get(2))?;
    let bytes = a[0].as_bytes();
    if data == Data::Text && options.unicode() {
        check_unicode(cx.settings().encoding, bytes)?;
    }
    let key = match scheme {
        Scheme::Symmetric => EncryptionKey::Password(a[1].as_bytes()),
        Scheme::Public => EncryptionKey::Public(a[1].as_bytes()),
    };
    openpgp::encrypt(&Session::new(cx), &options, bytes, key).map(Datum::bytes)
}

fn decrypt(
    cx: &mut dyn FnContext,
    a: &[DatumRef<'_>],
    scheme: Scheme,
    data: Data,
) -> Result<Datum> {
    let (key, argument) = match scheme {
        Scheme::Symmetric => (DecryptionKey::Password(a[1].as_bytes()), a.get(2)),
        Scheme::Public => {
            let password = a.get(2).map(|p| p.as_bytes());
            (DecryptionKey::Secret(a[1].as_bytes(), password), a.get(3))
        }
    };
    let options = options(data, argument)?;
    let message = a[0].as_bytes();
    let (bytes, unicode) = openpgp::decrypt(&Session::new(cx), &options, message, key)?;
    if data == Data::Text {
        let encoding = cx.settings().encoding;
        if unicode && encoding != Encoding::SqlAscii {
            check_unicode(encoding, &bytes)?;
        }
        text::verify_in(encoding, &bytes)?;
    }
    Ok(Datum::bytes(bytes))
}

/// The texts of an array of header names or values.
fn header_texts(array: ArrayRef<'_>) -> Vec<Option<&[u8]>> {
    let elements = array.iter(&builtin_info(oids::TEXT));
    elements.map(|e| if e.is_null() { None } else { Some(e.as_bytes()) }).collect()
}

/// Checks the name or value of a header.
fn header_text<'a>(text: Option<&'a [u8]>, what: &str) -> Result<&'a [u8]> {
    let Some(text) = text else {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "null value not allowed for header {what}"));
    };
    let refused = |found: &str| {
        Err(pg_err!(INVALID_PARAMETER_VALUE, "header {what} must not contain {found}"))
    };
    if !text.is_ascii() {
        return refused("non-ASCII characters");
    }
    if what == "key" && text.windows(2).any(|two| two == b": ") {
        return refused("\": \"");
    }
    if text.contains(&b'\n') {
        return refused("newlines");
    }
    Ok(text)
}

fn encode_armor(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let mut headers = Vec::new();
    if let [_, keys, values] = a {
        let wrong = |message: &str| Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "{message}"));
        let (keys, values) = (ArrayRef::new(*keys)?, ArrayRef::new(*values)?);
        if keys.ndim() > 1 || keys.ndim() != values.ndim() {
            return wrong("wrong number of array subscripts");
        }
        let (keys, values) = (header_texts(keys), header_texts(values));
        if keys.len() != values.len() {
            return wrong("mismatched array dimensions");
        }
        for (key, value) in keys.into_iter().zip(values) {
            headers.push((header_text(key, "key")?, header_text(value, "value")?));
        }
    }
    armor::encode(&Session::new(cx), a[0].as_bytes(), &headers).map(Datum::bytes)
}

/// The headers of an armored text, as rows.
struct HeaderRows {
    lines: Vec<u8>,
    /// How many bytes of the lines have been returned.
    done: usize,
}

impl SetSource for HeaderRows {
    fn next(&mut self, cx: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        let mut headers = Headers::of_lines(&self.lines[self.done..]);
        let Some((key, value)) = headers.next() else { return Ok(false) };
        let encoding = cx.settings().encoding;
        for text in [key, value] {
            // Headers are UTF-8.
            text::verify_in(Encoding::Utf8, text)?;
            if encoding != Encoding::SqlAscii {
                check_unicode(encoding, text)?;
            }
            out.push(Datum::bytes(text));
        }
        self.done = self.lines.len() - headers.lines().len();
        Ok(true)
    }
}

fn armor_headers(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Box<dyn SetSource>> {
    let headers = Headers::read(&Session::new(cx), a[0].as_bytes())?;
    let mut lines = Vec::new();
    memory::append(&mut lines, headers.lines())?;
    Ok(Box::new(HeaderRows { lines, done: 0 }))
}

scalars! { FNS;
    "pgp_sym_encrypt_text" => |cx, a| encrypt(cx, a, Scheme::Symmetric, Data::Text),
    "pgp_sym_encrypt_bytea" => |cx, a| encrypt(cx, a, Scheme::Symmetric, Data::Bytes),
    "pgp_sym_decrypt_text" => |cx, a| decrypt(cx, a, Scheme::Symmetric, Data::Text),
    "pgp_sym_decrypt_bytea" => |cx, a| decrypt(cx, a, Scheme::Symmetric, Data::Bytes),
    "pgp_pub_encrypt_text" => |cx, a| encrypt(cx, a, Scheme::Public, Data::Text),
    "pgp_pub_encrypt_bytea" => |cx, a| encrypt(cx, a, Scheme::Public, Data::Bytes),
    "pgp_pub_decrypt_text" => |cx, a| decrypt(cx, a, Scheme::Public, Data::Text),
    "pgp_pub_decrypt_bytea" => |cx, a| decrypt(cx, a, Scheme::Public, Data::Bytes),
    "pgp_key_id_w" => |cx, a| {
        Ok(Datum::text(&openpgp::key_id(&Session::new(cx), a[0].as_bytes())?))
    },
    "pg_armor" => encode_armor,
    "pg_dearmor" => |cx, a| {
        armor::decode(&Session::new(cx), a[0].as_bytes()).map(Datum::bytes)
    },
}

builtins! { SETS;
    "pgp_armor_headers" => Srf(armor_headers),
}
