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

/// The encodings from which `to_ascii` converts, each with its first code that is not a control
/// code, and the ASCII characters for the codes from there on. Counterpart: utils/adt/ascii.c.
const ASCII_FORMS: [(&str, u8, &[u8]); 4] = [
    (
        "LATIN1",
        160,
        b"  cL Y  \"Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii \
          nooooo/ouuuuyty",
    ),
    (
        "LATIN2",
        160,
        b" A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiidd\
          nnoooo/ruuuuyt.",
    ),
    (
        "LATIN9",
        160,
        b"  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii \
          nooooo/ouuuuyty",
    ),
    (
        "WIN1250",
        128,
        b"  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAALCCCEEEEII\
          DDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt ",
    ),
];

/// The bytes of a text, taken to be in the encoding, without accents.
fn to_ascii(text: &[u8], encoding: i32) -> Result<Datum> {
    let name = encoding::name(encoding);
    let Some((_, first, forms)) = ASCII_FORMS.iter().find(|(known, ..)| *known == name) else {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "encoding conversion from {name} to ASCII not supported"
        ));
    };
    let form = |b: &u8| match b.checked_sub(*first) {
        _ if b.is_ascii() => *b,
        Some(at) => forms.get(usize::from(at)).copied().unwrap_or(b' '),
        None => b' ',
    };
    Ok(Datum::bytes(text.iter().map(form).collect::<Vec<u8>>()))
}

fn to_ascii_from_name(a: &[DatumRef<'_>]) -> Result<Datum> {
    let name = String::from_utf8_lossy(a[1].as_name()).into_owned();
    let encoding = encoding::number(&name)
        .ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "{name} is not a valid encoding name"))?;
    to_ascii(a[0].as_bytes(), encoding)
}

fn to_ascii_from_number(a: &[DatumRef<'_>]) -> Result<Datum> {
    let number = a[1].as_i32();
    if encoding::name(number).is_empty() {
        return Err(pg_err!(UNDEFINED_OBJECT, "{number} is not a valid encoding code"));
    }
    to_ascii(a[0].as_bytes(), number)
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
        call: SysCall::One(|c, a| to_ascii(a[0].as_bytes(), c.catalog_session().encoding)),
    },
    SysFn { name: "to_ascii_enc", call: SysCall::One(|_, a| to_ascii_from_number(a)) },
    SysFn { name: "to_ascii_encname", call: SysCall::One(|_, a| to_ascii_from_name(a)) },
];
