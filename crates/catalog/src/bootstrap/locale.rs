//! Checks the locales given to `init`.
//!
//! Counterpart: initdb.c (`check_locale_encoding`).

use super::InitOptions;
use crate::encoding;
use pgerror::{PgError, Result, SqlState};

/// The encoding implied by the locale's name. `None` for C and POSIX, which work with every
/// encoding.
pub(super) fn encoding_of(locale: &str) -> Option<i32> {
    if is_c(locale) {
        return None;
    }
    let suffix = locale.split_once('.').map(|(_, s)| s.split('@').next().unwrap_or(s));
    Some(suffix.and_then(encoding::number).unwrap_or(8))
}

fn is_c(locale: &str) -> bool {
    matches!(locale, "C" | "POSIX" | "")
}

/// Rejects locales whose implied encoding differs from the database encoding.
pub(super) fn check(options: &InitOptions) -> Result<()> {
    for locale in [&options.lc_collate, &options.lc_ctype] {
        let Some(needed) = encoding_of(locale) else { continue };
        // SQL_ASCII disables the check, as in initdb.
        if needed != options.encoding && options.encoding != 0 {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "encoding mismatch")
                .detail(format!(
                    "The encoding {} does not go with the locale \"{locale}\", which has {}.",
                    encoding::name(options.encoding),
                    encoding::name(needed),
                )));
        }
    }
    Ok(())
}
