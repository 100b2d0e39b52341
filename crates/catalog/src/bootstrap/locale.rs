//! Locales that `init` accepts, and the collations that it makes of those on this machine.

use super::InitOptions;
use crate::encoding;
use crate::rows::{Name, PgCollation, Text};
use ids::Oid;
use pgerror::{PgError, Result, SqlState};
use vfs::{Disk, FileKind};

/// Where glibc keeps compiled locales.
const LOCALE_DIR: &str = "/usr/lib/locale";

/// First OID for collations of locales: behind all that the facts use.
const FIRST_COLLATION: u32 = 15_000;

/// The encoding that a locale's name implies; `None` for C and POSIX, which go with any.
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

/// Refuses locales whose encoding is not the database's.
pub(super) fn check(options: &InitOptions) -> Result<()> {
    for locale in [&options.lc_collate, &options.lc_ctype] {
        let Some(needed) = encoding_of(locale) else { continue };
        // SQL_ASCII means that the user knows better.
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

/// A collation for each locale of this machine besides C and POSIX.
pub(super) fn collations(disk: &dyn Disk) -> Vec<PgCollation> {
    let mut names: Vec<String> = disk
        .list(LOCALE_DIR)
        .unwrap_or_default()
        .into_iter()
        .filter(|entry| entry.kind == FileKind::Dir && !is_c(&entry.name))
        .map(|entry| entry.name)
        .filter(|name| name.len() < 64 && name.contains('.'))
        .collect();
    names.sort();
    let rows = names.into_iter().zip(FIRST_COLLATION..).filter_map(|(name, oid)| {
        let encoding = encoding_of(&name).filter(|e| *e <= encoding::LAST_SERVER)?;
        Some(PgCollation {
            oid: Oid(oid),
            collname: Name::new(&name),
            collnamespace: crate::namespace::PG_CATALOG,
            collowner: Oid(10),
            collprovider: b'c',
            collisdeterministic: true,
            collencoding: encoding,
            collcollate: Some(Text::from(name.as_str())),
            collctype: Some(Text::from(name.as_str())),
            colliculocale: None,
            collversion: None,
        })
    });
    rows.collect()
}
