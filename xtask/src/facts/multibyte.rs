//! The maps between multibyte encodings and Unicode, as the reference server converts:
//! `crates/catalog/facts/multibyte/<name>.map`. The form of the files is described in
//! `catalog::multibyte`.
//!
//! Of GB18030, only codes of two bytes are listed; those of four bytes follow from them.

use crate::scratch::{Result, Scratch};
use std::collections::BTreeMap;

/// The encodings with a map.
pub(super) const ENCODINGS: [&str; 12] = [
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

/// All characters and all codes, converted by the server; what it does not convert is missing.
const QUERY: &str = "\
    CREATE FUNCTION pg_temp.code(c text, e text) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN \
      RETURN convert_to(c, e); EXCEPTION WHEN others THEN RETURN NULL; END $$; \
    CREATE FUNCTION pg_temp.text(b bytea, e text) RETURNS bytea LANGUAGE plpgsql AS $$ BEGIN \
      RETURN convert_to(convert_from(b, e), 'UTF8'); \
      EXCEPTION WHEN others THEN RETURN NULL; END $$; \
    CREATE TEMP VIEW codes AS \
      SELECT substring(int4send(c) FROM 4) AS b FROM generate_series(128, 255) c UNION ALL \
      SELECT substring(int4send(c) FROM 3) FROM generate_series(32768, 65535) c UNION ALL \
      SELECT '\\x8f' || substring(int4send(c * 256 + d) FROM 3) \
        FROM generate_series(161, 254) c, generate_series(161, 254) d UNION ALL \
      SELECT '\\x8e' || substring(int4send((p * 256 + c) * 256 + d) FROM 2) \
        FROM generate_series(161, 167) p, generate_series(161, 254) c, \
          generate_series(161, 254) d; \
    SELECT 'to', to_hex(c), encode(pg_temp.code(chr(c), ENCODING), 'hex') \
      FROM generate_series(128, 196607) c WHERE c NOT BETWEEN 55296 AND 57343 \
      AND pg_temp.code(chr(c), ENCODING) IS NOT NULL; \
    SELECT 'from', encode(b, 'hex'), encode(pg_temp.text(b, ENCODING), 'hex') \
      FROM codes WHERE pg_temp.text(b, ENCODING) IS NOT NULL";

/// The map of an encoding.
pub(super) fn map(reference: &Scratch, encoding: &str) -> Result<Vec<u8>> {
    let rows = reference.query(&QUERY.replace("ENCODING", &format!("'{encoding}'")))?;
    let unexpected = |row: &str| format!("unexpected row: {row}");
    let mut codes: BTreeMap<u32, u32> = BTreeMap::new();
    let mut points: BTreeMap<u32, u32> = BTreeMap::new();
    let mut pairs: Vec<[u32; 3]> = Vec::new();
    for row in rows.lines() {
        let fields: Vec<&str> = row.split('\t').collect();
        let [kind, key, value] = fields[..] else { return Err(unexpected(row)) };
        let number = u32::from_str_radix(key, 16).map_err(|_| unexpected(row))?;
        if kind == "to" {
            let code = u32::from_str_radix(value, 16).map_err(|_| unexpected(row))?;
            if encoding != "GB18030" || code <= 0xffff {
                points.insert(number, code);
            }
            continue;
        }
        match characters(value).ok_or_else(|| unexpected(row))?[..] {
            _ if is_kana(encoding, number) => {}
            [point] => drop(codes.insert(number, point)),
            [first, second] => pairs.push([number, first, second]),
            _ => return Err(unexpected(row)),
        }
    }
    Ok(encoded(&codes, &points, &pairs))
}

/// Whether the bytes are a katakana of one byte and another character.
fn is_kana(encoding: &str, code: u32) -> bool {
    matches!(encoding, "SJIS" | "SHIFT_JIS_2004") && (0xa1..=0xdf).contains(&(code >> 8))
}

/// The characters of a text in UTF-8, in hexadecimal.
fn characters(hex: &str) -> Option<Vec<u32>> {
    let bytes = (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<Vec<u8>>>()?).ok()?;
    Some(text.chars().map(u32::from).collect())
}

fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// A signed number as an unsigned one, small for small absolute values.
fn zigzag(n: i64) -> u64 {
    ((n << 1) ^ (n >> 63)) as u64
}

fn encoded(codes: &BTreeMap<u32, u32>, points: &BTreeMap<u32, u32>, pairs: &[[u32; 3]]) -> Vec<u8> {
    let mut out = Vec::new();
    put(&mut out, codes.len() as u64);
    let (mut last_code, mut last_point) = (0, 0);
    for (&code, &point) in codes {
        let one_way = u64::from(points.get(&point) != Some(&code));
        put(&mut out, u64::from(code - last_code));
        put(&mut out, zigzag(i64::from(point) - i64::from(last_point)) << 1 | one_way);
        (last_code, last_point) = (code, point);
    }
    let only: Vec<(u32, u32)> = points
        .iter()
        .filter(|(point, code)| codes.get(code) != Some(point))
        .map(|(point, code)| (*point, *code))
        .collect();
    put(&mut out, only.len() as u64);
    let (mut last_point, mut last_code) = (0, 0);
    for (point, code) in only {
        put(&mut out, u64::from(point - last_point));
        put(&mut out, zigzag(i64::from(code) - i64::from(last_code)));
        (last_point, last_code) = (point, code);
    }
    put(&mut out, pairs.len() as u64);
    for number in pairs.iter().flatten() {
        put(&mut out, u64::from(*number));
    }
    out
}
