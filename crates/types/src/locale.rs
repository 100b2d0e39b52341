//! Locales: which of them order text by its bytes, the only order there is so far, and which have
//! upper and lower case as Unicode has it. A database, a collation or an `init` that asks for
//! another one is refused by name, because indexes in the wrong order would be worse than none.
//! Counterpart: pg_locale.c.

use pgerror::{PgError, Result};

/// Does this `LC_COLLATE` order text by bytes (in UTF-8: by code points)? True for C, POSIX and the
/// C.UTF-8 of glibc, in any spelling of its encoding.
pub fn orders_by_bytes(locale: &str) -> bool {
    matches!(locale, "" | "C" | "POSIX")
        || locale
            .strip_prefix("C.")
            .is_some_and(|e| e.eq_ignore_ascii_case("utf8") || e.eq_ignore_ascii_case("utf-8"))
}

/// An error (0A000) naming the locale where it does not order text by bytes.
pub fn check_order(locale: &str) -> Result<()> {
    if orders_by_bytes(locale) {
        return Ok(());
    }
    Err(PgError::unsupported(format!("ordering of text by the locale \"{locale}\""))
        .hint("Locales that order by code point work: \"C\", \"POSIX\" and \"C.UTF-8\"."))
}

/// Locales of the C library in which the dotless i is the lower case of I.
const DOTLESS: [&str; 5] = ["tr_TR", "tr_CY", "az_AZ", "crh_UA", "ku_TR"];

/// An error (0A000) naming the locale where its `LC_CTYPE` has other letters or other cases of them
/// than we: than Unicode's in UTF-8, than those of ASCII elsewhere.
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
    fn only_c_and_its_like_order_by_bytes() {
        for name in ["C", "POSIX", "C.UTF-8", "C.utf8", ""] {
            assert!(check_order(name).is_ok(), "{name}");
        }
        for name in ["en_US.UTF-8", "de_DE", "C.ISO-8859-1", "CX"] {
            let e = check_order(name).unwrap_err();
            assert!(e.message().contains(name), "{e}");
        }
    }
    #[test]
    fn dotless_letters_have_other_cases() {
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
