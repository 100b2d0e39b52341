//! Unicode normalization forms. Counterpart: varlena.c (`unicode_normalize_func`).

use pgerror::{Result, pg_err};
use unicode_normalization::UnicodeNormalization;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::limits::TextBuffer;
use values::settings::Encoding;
use values::type_io::lossy_text;

fn normalized(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<String> {
    if cx.settings().encoding != Encoding::Utf8 {
        return Err(pg_err!(
            SYNTAX_ERROR,
            "Unicode normalization can only be performed if server encoding is UTF8"
        ));
    }
    let text = String::from_utf8_lossy(a[0].as_bytes());
    let form = a[1].as_bytes().to_ascii_uppercase();
    Ok(match form.as_slice() {
        b"NFC" => collect(cx, text.nfc())?,
        b"NFD" => collect(cx, text.nfd())?,
        b"NFKC" => collect(cx, text.nfkc())?,
        b"NFKD" => collect(cx, text.nfkd())?,
        _ => {
            let form = lossy_text(a[1].as_bytes());
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid normalization form: {form}"));
        }
    })
}

/// Collects the characters, with checks for interrupts.
fn collect(cx: &dyn FnContext, chars: impl Iterator<Item = char>) -> Result<String> {
    let mut out = TextBuffer::new();
    let interrupts = InterruptChecker::new(cx);
    for c in chars {
        interrupts.tick()?;
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
    Ok(String::from_utf8(out.into_bytes()?).expect("characters make UTF-8"))
}

scalars! { FNS;
    "unicode_normalize_func" => |cx, a| Ok(Datum::text(&normalized(cx, a)?)),
    "unicode_is_normalized" =>
        |cx, a| Ok(Datum::bool(normalized(cx, a)?.as_bytes() == a[0].as_bytes())),
}
