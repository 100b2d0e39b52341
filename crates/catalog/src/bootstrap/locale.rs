//! Checks the locales given to `init`.
//!
//! Counterpart: initdb.c (`check_locale_encoding`).

use super::InitOptions;
use crate::{collations, encoding};
use pgerror::{PgError, Result, SqlState};

/// Error if the encoding of the new databases is not that of a chosen locale, or if the provider is
/// ICU and it is not UTF8.
pub(super) fn check(options: &InitOptions) -> Result<()> {
    for locale in [&options.lc_collate, &options.lc_ctype] {
        // C and POSIX work with every encoding.
        let needed = collations::encoding_of_locale(locale).filter(|e| *e != encoding::SQL_ASCII);
        let Some(needed) = needed else { continue };
        // SQL_ASCII disables the check, as in initdb.
        if needed != options.encoding && options.encoding != encoding::SQL_ASCII {
            return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "encoding mismatch")
                .detail(format!(
                    "The encoding {} does not go with the locale \"{locale}\", which has {}.",
                    encoding::name(options.encoding),
                    encoding::name(needed),
                )));
        }
    }
    if options.icu_locale.is_some() && options.encoding != encoding::UTF8 {
        return Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, "encoding mismatch").detail(
            format!(
                "The encoding {} is not supported with the ICU provider.",
                encoding::name(options.encoding)
            ),
        ));
    }
    Ok(())
}
