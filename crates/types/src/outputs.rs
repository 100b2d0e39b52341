//! Types that have only an output function, so that rows written by PostgreSQL can be read and
//! dumped: xml, extended statistics. Counterpart: xml.c.

use crate::extstats::{dependencies_text, ndistinct_text};
use std::fmt::Write;
use values::datum::Datum;

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

scalars! { FNS;
    "xml_out" => |_, a| Ok(Datum::text(&xml(&String::from_utf8_lossy(a[0].as_bytes())))),
    "pg_ndistinct_out" => |_, a| Ok(Datum::text(&ndistinct_text(a[0].as_bytes())?)),
    "pg_dependencies_out" => |_, a| Ok(Datum::text(&dependencies_text(a[0].as_bytes())?)),
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
