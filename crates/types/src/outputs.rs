//! Types that have only an output function, so that rows written by PostgreSQL can be read and
//! dumped: xml, extended statistics. Counterpart: xml.c, mvdistinct.c, dependencies.c.

use pgerror::{PgError, Result, pg_err};
use std::fmt::Write;
use values::datum::Datum;

fn damaged() -> PgError {
    pg_err!(DATA_CORRUPTED, "stored value is truncated")
}

/// `N` bytes at offset `at`.
fn bytes<const N: usize>(payload: &[u8], at: usize) -> Result<[u8; N]> {
    payload.get(at..).and_then(|b| b.first_chunk()).copied().ok_or_else(damaged)
}

/// The text with its XML declaration without the encoding; a declaration that has default values
/// only is removed. Counterpart: `xml_out_internal`.
pub fn xml(text: &str) -> String {
    let Some((declared, rest)) = declaration(text) else { return text.to_owned() };
    let (version, standalone) = declared;
    if version.is_none_or(|v| v == "1.0") && standalone.is_none() {
        return rest.strip_prefix('\n').unwrap_or(rest).to_owned();
    }
    let mut out = format!("<?xml version=\"{}\"", version.unwrap_or("1.0"));
    if let Some(standalone) = standalone {
        let _ = write!(out, " standalone=\"{standalone}\"");
    }
    out + "?>" + rest
}

/// Version and standalone of an XML declaration, and the text after it.
#[expect(clippy::type_complexity, reason = "two optional words and the rest")]
fn declaration(text: &str) -> Option<((Option<&str>, Option<&str>), &str)> {
    let inside = text.strip_prefix("<?xml").filter(|t| t.starts_with(char::is_whitespace))?;
    let (mut fields, rest) = inside.split_once("?>")?;
    let (mut version, mut standalone) = (None, None);
    while !fields.trim().is_empty() {
        let (name, value) = fields.split_once('=')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (word, next) = value[1..].split_once(quote)?;
        match name.trim() {
            "version" => version = Some(word),
            "standalone" => standalone = Some(word),
            _ => {}
        }
        fields = next;
    }
    Some(((version, standalone), rest))
}

const NDISTINCT: u32 = 0xA352_BFA4;
const DEPENDENCIES: u32 = 0xB454_9A2C;

/// The payload of pg_ndistinct and pg_dependencies: a magic number, the kind, the number of items;
/// for each item a double, the number of columns, the columns. The last column of a dependency is
/// the dependent one. Counterpart: mvdistinct.c, dependencies.c.
fn statistics(payload: &[u8], dependencies: bool) -> Result<String> {
    let words = |at| Ok::<_, PgError>(u32::from_le_bytes(bytes(payload, at)?));
    if words(0)? != if dependencies { DEPENDENCIES } else { NDISTINCT } || words(4)? != 1 {
        return Err(pg_err!(DATA_CORRUPTED, "invalid extended statistics"));
    }
    let mut at = 12;
    let mut items = Vec::new();
    for _ in 0..words(8)? {
        let value = f64::from_le_bytes(bytes(payload, at)?);
        // The number of columns takes two bytes in pg_dependencies and four in pg_ndistinct.
        let (count, size) = match dependencies {
            true => (usize::from(u16::from_le_bytes(bytes(payload, at + 8)?)), 2),
            false => (words(at + 8)? as usize, 4),
        };
        at += 8 + size;
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(i16::from_le_bytes(bytes(payload, at)?).to_string());
            at += 2;
        }
        items.push(if dependencies {
            let last = columns.pop().ok_or_else(damaged)?;
            format!("\"{} => {last}\": {value:.6}", columns.join(", "))
        } else {
            format!("\"{}\": {}", columns.join(", "), value as i32)
        });
    }
    Ok(format!("{{{}}}", items.join(", ")))
}

scalars! { FNS;
    "xml_out" => |_, a| Ok(Datum::text(&xml(&String::from_utf8_lossy(a[0].as_bytes())))),
    "pg_ndistinct_out" => |_, a| Ok(Datum::text(&statistics(a[0].as_bytes(), false)?)),
    "pg_dependencies_out" => |_, a| Ok(Datum::text(&statistics(a[0].as_bytes(), true)?)),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_xml_lose_their_encoding() {
        for (stored, shown) in [
            ("<a/>", "<a/>"),
            ("<?xml version=\"1.0\" encoding=\"latin1\"?>\n<a/>", "<a/>"),
            ("<?xml version='1.1' encoding='x'?><a/>", "<?xml version=\"1.1\"?><a/>"),
            (
                "<?xml version=\"1.0\" standalone=\"yes\"?>\n<a/>",
                "<?xml version=\"1.0\" standalone=\"yes\"?>\n<a/>",
            ),
            ("<?xmlish?>", "<?xmlish?>"),
        ] {
            assert_eq!(xml(stored), shown);
        }
    }
}
