//! Normal forms of Unicode. Counterpart: varlena.c (`unicode_normalize_func`).

use crate::form::shown;
use crate::settings::Encoding;
use crate::{Datum, DatumRef, FnContext};
use pgerror::{Result, pg_err};
use unicode_normalization::UnicodeNormalization;

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
        b"NFC" => text.nfc().collect(),
        b"NFD" => text.nfd().collect(),
        b"NFKC" => text.nfkc().collect(),
        b"NFKD" => text.nfkd().collect(),
        _ => {
            let form = shown(a[1].as_bytes());
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "invalid normalization form: {form}"));
        }
    })
}

scalars! { FNS;
    "unicode_normalize_func" => |cx, a| Ok(Datum::text(&normalized(cx, a)?)),
    "unicode_is_normalized" =>
        |cx, a| Ok(Datum::bool(normalized(cx, a)?.as_bytes() == a[0].as_bytes())),
}
