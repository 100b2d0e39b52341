//! bool. Counterpart: bool.c.

use values::datum::Datum;
use values::type_io::{Reader, bad_syntax, trim_space};

/// Parses a boolean: unambiguous prefixes of true, false, yes, no, on, off, and 1, 0, in any case.
pub fn parse_bool(word: &[u8]) -> Option<bool> {
    let lower = word.to_ascii_lowercase();
    let begins = |full: &str, at_least: usize| {
        lower.len() >= at_least && full.as_bytes().starts_with(&lower)
    };
    if begins("true", 1) || begins("yes", 1) || lower == b"on" || lower == b"1" {
        Some(true)
    } else if begins("false", 1) || begins("no", 1) || begins("off", 2) || lower == b"0" {
        Some(false)
    } else {
        None
    }
}

scalars! { FNS;
    "boolin" => |_, a| {
        let text = a[0].as_bytes();
        parse_bool(trim_space(text)).map(Datum::bool).ok_or_else(|| bad_syntax("boolean", text))
    },
    "boolout" => |_, a| Ok(Datum::text(if a[0].as_bool() { "t" } else { "f" })),
    "booltext" => |_, a| Ok(Datum::text(if a[0].as_bool() { "true" } else { "false" })),
    "boolrecv" => |_, a| Ok(Datum::bool(Reader::new(a[0].as_bytes()).byte()? != 0)),
    "boolsend" => |_, a| Ok(Datum::bytes([a[0].as_bool() as u8])),
    "booland_statefunc" => |_, a| Ok(Datum::bool(a[0].as_bool() && a[1].as_bool())),
    "boolor_statefunc" => |_, a| Ok(Datum::bool(a[0].as_bool() || a[1].as_bool())),
}
