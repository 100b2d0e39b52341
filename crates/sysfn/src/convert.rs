//! Encoding conversion functions: `convert`, `convert_to`, `convert_from`. Counterpart:
//! utils/mb/mbutils.c.

use crate::function::{SysCall, SysFn};
use crate::host::SystemHost;
use catalog::conversion::{count_multibyte, verify};
use catalog::encoding::{self, SQL_ASCII, UTF8};
use pgerror::{PgError, Result, pg_err};
use types::settings::Encoding;
use types::{Datum, DatumRef};

fn encoding_named(d: DatumRef<'_>, what: &str) -> Result<i32> {
    let name = String::from_utf8_lossy(d.as_name()).into_owned();
    encoding::number(&name)
        .ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "invalid {what} encoding name \"{name}\""))
}

fn converted(core: &mut dyn SystemHost, text: &[u8], from: i32, to: i32) -> Result<Vec<u8>> {
    verify(text, from)?;
    if from == SQL_ASCII && to != SQL_ASCII {
        verify(text, to)?;
    }
    // An empty text needs no conversion function.
    let conversion = match text.is_empty() {
        true => None,
        false => core.catalog().conversion(from, to)?,
    };
    let Some(conversion) = conversion else { return Ok(text.to_vec()) };
    let mut out = Vec::new();
    conversion.append(text, &mut out)?;
    Ok(out)
}

/// `length(bytea, encoding)`: the number of characters.
fn length(a: &[DatumRef<'_>]) -> Result<Datum> {
    let name = String::from_utf8_lossy(a[1].as_name()).into_owned();
    let encoding = encoding::number(&name)
        .ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "invalid encoding name \"{name}\""))?;
    let text = a[0].as_bytes();
    verify(text, encoding)?;
    let count = match encoding {
        UTF8 => types::text::char_count(text, Encoding::Utf8),
        _ if encoding::bytes_max(encoding) == Some(1) => text.len(),
        _ => match encoding::name(encoding) {
            name @ "MULE_INTERNAL" => {
                return Err(PgError::unsupported(format!("length of text in {name}")));
            }
            _ => count_multibyte(text, encoding)?,
        },
    };
    Ok(Datum::int4(count as i32))
}

/// `to_ascii` is not supported for any encoding that databases of Norsu can have.
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
    SysFn { name: "length_in_encoding", call: SysCall::One(|_, a| length(a)) },
    SysFn {
        name: "to_ascii_default",
        call: SysCall::One(|c, _| to_ascii(c.catalog_session().encoding)),
    },
];
