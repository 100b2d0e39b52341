//! Parses COPY text format and the text representation of the catalogs' column types.

use crate::rows::{AclItem, Text, Value, array};
use ids::builtin::ty;
use ids::{Lsn, Oid, Xid};
use std::borrow::Cow;
use types::{Datum, TypeInfo};

/// The rows after the header line; `None` is NULL.
pub fn text_rows(text: &str) -> impl Iterator<Item = Vec<Option<Cow<'_, str>>>> {
    text.lines().skip(1).map(|line| line.split('\t').map(field).collect())
}

fn field(text: &str) -> Option<Cow<'_, str>> {
    if text == "\\N" {
        return None;
    }
    if !text.contains('\\') {
        return Some(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, if c == '\\' { chars.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some('b')) => out.push('\u{8}'),
            ('\\', Some('f')) => out.push('\u{c}'),
            ('\\', Some('v')) => out.push('\u{b}'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    Some(Cow::Owned(out))
}

/// The datum for a text representation; `None` where the type or the text is not supported.
pub fn parse(type_oid: Oid, text: &str) -> Option<Datum> {
    Some(match type_oid {
        ty::BOOL => (text == "true" || text == "t").to_datum(),
        ty::CHAR => Datum::char(char_of(text)?),
        ty::NAME => Datum::name(text),
        ty::INT8 => Datum::int8(text.parse().ok()?),
        ty::INT2 => Datum::int2(text.parse().ok()?),
        ty::INT4 => Datum::int4(text.parse().ok()?),
        ty::REGPROC | ty::OID | ty::REGCLASS | ty::REGTYPE => Oid(text.parse().ok()?).to_datum(),
        ty::XID => Xid(text.parse().ok()?).to_datum(),
        ty::TEXT | ty::PG_NODE_TREE | ty::VARCHAR => Datum::text(text),
        ty::FLOAT4 => Datum::float4(text.parse().ok()?),
        ty::FLOAT8 => Datum::float8(text.parse().ok()?),
        ty::INT2VECTOR => {
            let numbers: Option<Vec<i16>> = words(text).map(|w| w.parse().ok()).collect();
            array::int2vector(&numbers?)
        }
        ty::OIDVECTOR => array::oidvector(&oids(words(text))?),
        ty::CHAR_ARRAY => {
            let chars: Option<Vec<u8>> = list(text)?.iter().map(|c| char_of(c)).collect();
            chars?.to_datum()
        }
        ty::INT2_ARRAY => {
            let numbers: Option<Vec<i16>> = list(text)?.iter().map(|n| n.parse().ok()).collect();
            numbers?.to_datum()
        }
        ty::FLOAT4_ARRAY => {
            let numbers: Option<Vec<f32>> = list(text)?.iter().map(|n| n.parse().ok()).collect();
            numbers?.to_datum()
        }
        ty::TEXT_ARRAY => list(text)?.into_iter().map(Text::from).collect::<Vec<_>>().to_datum(),
        ty::OID_ARRAY => oids(list(text)?.iter().map(String::as_str))?.to_datum(),
        ty::ACLITEM_ARRAY => {
            let items: Option<Vec<AclItem>> = list(text)?.iter().map(|i| acl_item(i)).collect();
            items?.to_datum()
        }
        ty::PG_LSN => Lsn::parse(text)?.to_datum(),
        ty::ANYARRAY => any_array(text)?,
        _ => return None,
    })
}

/// The values of a slot of `pg_statistic`: `element base {values}`, see `xtask facts`.
fn any_array(text: &str) -> Option<Datum> {
    let (element, rest) = text.split_once(' ')?;
    let (base, values) = rest.split_once(' ')?;
    let base = Oid(base.parse().ok()?);
    let values: Option<Vec<Datum>> = list(values)?.iter().map(|v| parse(base, v)).collect();
    let info =
        TypeInfo { oid: Oid(element.parse().ok()?), ..types::array::payload::builtin_info(base) };
    types::array::build_1d(&info, &values?).ok()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|w| !w.is_empty())
}

fn oids<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Vec<Oid>> {
    texts.map(|n| n.parse().ok().map(Oid)).collect()
}

/// A "char": the empty string is the zero byte, `\ooo` a byte above 127.
fn char_of(text: &str) -> Option<u8> {
    match text.as_bytes() {
        [] => Some(0),
        [c] => Some(*c),
        [b'\\', digits @ ..] => u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok(),
        _ => None,
    }
}

/// The elements of an array's text representation `{a,"b c",d}`.
fn list(text: &str) -> Option<Vec<String>> {
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut out = Vec::new();
    if inner.is_empty() {
        return Some(out);
    }
    let (mut item, mut quoted) = (String::new(), false);
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' => item.push(chars.next()?),
            ',' if !quoted => out.push(std::mem::take(&mut item)),
            c => item.push(c),
        }
    }
    out.push(item);
    Some(out)
}

/// Privilege letters in bit order. Counterpart: `ACL_ALL_RIGHTS_STR`.
const PRIVILEGE_LETTERS: &str = "arwdDxtXUCTcsA";

/// `grantee=privileges/grantor` with role OIDs; an empty grantee is PUBLIC, `*` after a privilege
/// marks its grant option.
fn acl_item(text: &str) -> Option<AclItem> {
    let (grantee, rest) = text.split_once('=')?;
    let (rights, grantor) = rest.split_once('/')?;
    let grantee = if grantee.is_empty() { Oid::INVALID } else { Oid(grantee.parse().ok()?) };
    let grantor = Oid(grantor.parse().ok()?);
    let (mut privs, mut last) = (0, 0);
    for c in rights.chars() {
        if c == '*' {
            privs |= last << 16;
        } else {
            last = 1u32 << PRIVILEGE_LETTERS.find(c)?;
            privs |= last;
        }
    }
    Some(AclItem { grantee, grantor, privs })
}
