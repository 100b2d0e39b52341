//! Supported locales. An `LC_COLLATE` is supported if it orders text bytewise, an `LC_CTYPE` if its
//! upper and lower case are Unicode's. A database, a collation or an `init` with another locale is
//! refused with an error that names it, because an index in the wrong order would return wrong
//! results. Counterpart: pg_locale.c.

use pgerror::{PgError, Result};

/// Whether this `LC_COLLATE` orders text bytewise (in UTF-8: by code points). True for C, POSIX and
/// glibc's C.UTF-8, in any spelling of the encoding.
pub fn orders_by_bytes(locale: &str) -> bool {
    matches!(locale, "" | "C" | "POSIX")
        || locale
            .strip_prefix("C.")
            .is_some_and(|e| e.eq_ignore_ascii_case("utf8") || e.eq_ignore_ascii_case("utf-8"))
}

/// An error (0A000) that names the locale if it does not order text bytewise.
pub fn check_order(locale: &str) -> Result<()> {
    if orders_by_bytes(locale) {
        return Ok(());
    }
    Err(PgError::unsupported(format!("ordering of text by the locale \"{locale}\""))
        .hint("Locales that order by code point work: \"C\", \"POSIX\" and \"C.UTF-8\"."))
}

/// Locales of the C library in which the lower case of I is the dotless i.
const DOTLESS: [&str; 5] = ["tr_TR", "tr_CY", "az_AZ", "crh_UA", "ku_TR"];

/// An error (0A000) that names the locale if its `LC_CTYPE` differs from the supported letters and
/// case mappings: Unicode's in UTF-8, ASCII's in other encodings.
pub fn check_case(locale: &str, utf8: bool) -> Result<()> {
    let dotless = DOTLESS.contains(&locale.split(['.', '@']).next().unwrap_or_default())
        || locale.starts_with("tt_RU") && locale.ends_with("@iqtelif");
    if !dotless && (utf8 || matches!(locale, "" | "C" | "POSIX")) {
        return Ok(());
    }
    Err(PgError::unsupported(format!("upper and lower case by the locale \"{locale}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_c_locales_order_by_bytes() {
        for name in ["C", "POSIX", "C.UTF-8", "C.utf8", ""] {
            assert!(check_order(name).is_ok(), "{name}");
        }
        for name in ["en_US.UTF-8", "de_DE", "C.ISO-8859-1", "CX"] {
            let e = check_order(name).unwrap_err();
            assert!(e.message().contains(name), "{e}");
        }
    }
    #[test]
    fn locales_with_a_dotless_i_are_refused() {
        for (name, utf8) in [("C", false), ("en_US.UTF-8", true), ("tt_RU", true), ("tr", true)] {
            assert!(check_case(name, utf8).is_ok(), "{name}");
        }
        for (name, utf8) in
            [("tr_TR.UTF-8", true), ("az_AZ", true), ("tt_RU@iqtelif", true), ("de_DE", false)]
        {
            let e = check_case(name, utf8).unwrap_err();
            assert!(e.message().contains(name), "{e}");
        }
    }
}
