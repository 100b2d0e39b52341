//! Encoding conversion functions: `convert`, `convert_to`, `convert_from`. Conversion between
//! single-byte encodings goes through code points, as if through UTF8. Counterpart:
//! utils/mb/mbutils.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::encoding::{self, SingleByte, UTF8};
use catalog::rows::indexes;
use pgerror::{PgError, Result, pg_err};
use types::settings::Encoding;
use types::text::verify_in;
use types::{Datum, DatumRef};

const SQL_ASCII: i32 = 0;

fn encoding_named(d: DatumRef<'_>, what: &str) -> Result<i32> {
    let name = String::from_utf8_lossy(d.as_name()).into_owned();
    encoding::number(&name)
        .ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "invalid {what} encoding name \"{name}\""))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("0x{b:02x}")).collect::<Vec<_>>().join(" ")
}

/// Error 22021 if the text is not valid in the encoding.
fn verify(text: &[u8], encoding: i32) -> Result<()> {
    if encoding == UTF8 {
        return verify_in(Encoding::Utf8, text);
    }
    match text.contains(&0) {
        true => Err(pg_err!(
            CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"{}\": 0x00",
            encoding::name(encoding)
        )),
        false => Ok(()),
    }
}

/// Is there a default conversion between the encodings?
fn conversion_exists(core: &mut dyn SystemHost, from: i32, to: i32) -> Result<bool> {
    let keys = [catalog::namespace::PG_CATALOG.into(), from.into(), to.into()];
    let rows = core.catalog().scan(indexes::PG_CONVERSION_DEFAULT_INDEX, &keys)?;
    Ok(rows.iter().any(|r| r.condefault))
}

fn untranslatable(bytes: &[u8], from: i32, to: i32) -> PgError {
    pg_err!(
        UNTRANSLATABLE_CHARACTER,
        "character with byte sequence {} in encoding \"{}\" has no equivalent in encoding \"{}\"",
        hex(bytes),
        encoding::name(from),
        encoding::name(to)
    )
}

/// The characters of a text, each with its bytes.
fn characters(text: &[u8], from: i32, table: Option<&SingleByte>) -> Vec<(Option<char>, Vec<u8>)> {
    match table {
        Some(table) => text.iter().map(|&b| (table.char_of(b), vec![b])).collect(),
        None if from == UTF8 => String::from_utf8_lossy(text)
            .chars()
            .map(|c| (Some(c), c.to_string().into_bytes()))
            .collect(),
        None => Vec::new(),
    }
}

fn converted(core: &mut dyn SystemHost, text: &[u8], from: i32, to: i32) -> Result<Vec<u8>> {
    verify(text, from)?;
    if text.is_empty() || from == to || to == SQL_ASCII {
        return Ok(text.to_vec());
    }
    if from == SQL_ASCII {
        verify(text, to)?;
        return Ok(text.to_vec());
    }
    if !conversion_exists(core, from, to)? {
        return Err(pg_err!(
            UNDEFINED_FUNCTION,
            "default conversion function for encoding \"{}\" to \"{}\" does not exist",
            encoding::name(from),
            encoding::name(to)
        ));
    }
    let (source, target) = (encoding::single_byte(from), encoding::single_byte(to));
    if (source.is_none() && from != UTF8) || (target.is_none() && to != UTF8) {
        return Err(PgError::unsupported(format!(
            "conversion between {} and {}",
            encoding::name(from),
            encoding::name(to)
        )));
    }
    let mut out = Vec::with_capacity(text.len());
    for (c, bytes) in characters(text, from, source) {
        let Some(c) = c else { return Err(untranslatable(&bytes, from, to)) };
        match target {
            None => out.extend_from_slice(c.to_string().as_bytes()),
            Some(target) => match target.byte_of(c) {
                Some(byte) => out.push(byte),
                None => return Err(untranslatable(&bytes, from, to)),
            },
        }
    }
    Ok(out)
}

/// `length(bytea, encoding)`: the number of characters.
fn length(core: &mut dyn SystemHost, a: &[DatumRef<'_>]) -> Result<Datum> {
    let name = String::from_utf8_lossy(a[1].as_name()).into_owned();
    let encoding = encoding::number(&name)
        .ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "invalid encoding name \"{name}\""))?;
    let text = a[0].as_bytes();
    verify(text, encoding)?;
    let _ = core;
    let count = match encoding {
        UTF8 => types::text::char_count(text, Encoding::Utf8),
        _ if encoding::bytes_max(encoding) == Some(1) => text.len(),
        _ => {
            let name = encoding::name(encoding);
            return Err(PgError::unsupported(format!("length of text in {name}")));
        }
    };
    Ok(Datum::int4(count as i32))
}

/// `to_ascii` is not supported in any encoding that databases can have here.
fn to_ascii(encoding: i32) -> Result<Datum> {
    Err(pg_err!(
        FEATURE_NOT_SUPPORTED,
        "encoding conversion from {} to ASCII not supported",
        encoding::name(encoding)
    ))
}

pub(super) const FNS: &[SysFn] = &[
    SysFn {
        name: "pg_convert",
        call: SysCall::One(|c, a| {
            let from = encoding_named(a[1], "source")?;
            let to = encoding_named(a[2], "destination")?;
            Ok(Datum::bytes(converted(c, a[0].as_bytes(), from, to)?))
        }),
    },
    SysFn {
        name: "pg_convert_to",
        call: SysCall::One(|c, a| {
            let to = encoding_named(a[1], "destination")?;
            let from = c.catalog_session().encoding;
            Ok(Datum::bytes(converted(c, a[0].as_bytes(), from, to)?))
        }),
    },
    SysFn {
        name: "pg_convert_from",
        call: SysCall::One(|c, a| {
            let from = encoding_named(a[1], "source")?;
            let to = c.catalog_session().encoding;
            Ok(Datum::bytes(converted(c, a[0].as_bytes(), from, to)?))
        }),
    },
    SysFn { name: "length_in_encoding", call: SysCall::One(length) },
    SysFn {
        name: "to_ascii_default",
        call: SysCall::One(|c, _| to_ascii(c.catalog_session().encoding)),
    },
];
