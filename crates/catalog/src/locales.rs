//! The locales of collations and of a database's default collation. Open locales are shared by the
//! sessions of a database; each session reports a version mismatch once.
//!
//! Counterpart: pg_locale.c (`pg_newlocale_from_collation`), postinit.c (`CheckMyDatabase`).

use crate::collations::actual_version;
use crate::cx::CatCx;
use crate::encoding;
use crate::openlocales::LocaleKey;
use crate::rows::{PgCollation, PgDatabase, Text};
use crate::session::CatSession;
use crate::shared::Catalog;
use ids::Oid;
use ids::builtin::collation;
use ids::code::CollProvider;
use locale::{Locale, LocaleError};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use std::sync::Arc;
use types::settings::Encoding;
use types::string::case::Letters;

/// Open locales that are kept at most. Beyond that all are forgotten; those in use stay open.
const OPEN_MAX: usize = 256;

impl CatSession {
    /// The locale of the default collation; `None` if it orders by bytes and has the letters that
    /// the encoding and the names C and POSIX imply.
    pub fn default_locale(&self) -> Option<&Arc<Locale>> {
        self.locales.default.as_ref()
    }

    /// The letters of the default collation.
    pub fn letters(&self) -> Letters {
        match &self.locales.default {
            Some(locale) => Letters::Locale(locale.clone()),
            None if self.ctype_is_ascii => Letters::Ascii,
            None => Letters::Unicode,
        }
    }

    /// The warnings about versions of collations since the last call.
    pub fn take_collation_warnings(&mut self) -> Vec<PgError> {
        std::mem::take(&mut self.locales.warnings)
    }

    /// Opens the locale of the session's database. Error XX000 if this machine lacks it.
    pub fn open_default_locale(&mut self, row: &PgDatabase) -> Result<()> {
        let (collate, ctype) = (row.datcollate.as_str(), row.datctype.as_str());
        let single_byte = is_single_byte(row.encoding);
        let key = match (&row.daticulocale, row.datlocprovider) {
            (Some(name), CollProvider::Icu) if row.encoding == encoding::UTF8 => {
                LocaleKey::icu(name.as_str(), true)
            }
            (_, CollProvider::Icu) => return Err(unsupported_encoding()),
            // The letters of these are known without the C library.
            _ if locale::orders_by_bytes(collate) && locale::orders_by_bytes(ctype) => {
                self.locales.default = None;
                return Ok(());
            }
            _ => LocaleKey::libc(collate, ctype, single_byte),
        };
        match self.catalog.open_locale(&key) {
            Ok(locale) => self.locales.default = Some(locale),
            Err(e) => {
                let missing = [("LC_COLLATE", collate), ("LC_CTYPE", ctype)]
                    .into_iter()
                    .find(|(_, name)| locale::codeset(name).is_none());
                return Err(missing.map_or(e, |(category, name)| incompatible(category, name)));
            }
        }
        Ok(())
    }
}

fn incompatible(category: &str, name: &str) -> PgError {
    pg_err!(INTERNAL_ERROR, "database locale is incompatible with operating system")
        .detail(format!(
            "The database was initialized with {category} \"{name}\",  which is not recognized by \
             setlocale()."
        ))
        .hint("Recreate the database with another locale or install the missing locale.")
}

fn unsupported_encoding() -> PgError {
    PgError::unsupported("ICU collation in a database with an encoding other than UTF8")
}

/// An error if ICU has no such locale. Counterpart: `check_icu_locale`.
pub fn check_icu(name: &str) -> Result<()> {
    Locale::icu(name, true).map(drop).map_err(|error| cannot_open(error, name))
}

fn is_single_byte(number: i32) -> bool {
    !matches!(encoding::of_database(number), Some(Encoding::Utf8))
}

/// The error for a locale that cannot be opened. Counterpart: `report_newlocale_failure`.
fn cannot_open(error: LocaleError, name: &str) -> PgError {
    match error {
        LocaleError::Libc(code) => {
            let system = std::io::Error::from_raw_os_error(code).to_string();
            let system = system.split(" (os error").next().unwrap_or_default().to_owned();
            let e =
                pg_err!(INVALID_PARAMETER_VALUE, "could not create locale \"{name}\": {system}");
            if !matches!(system.as_str(), "No such file or directory") {
                return e;
            }
            e.detail(format!(
                "The operating system could not find any locale data for the locale name \
                 \"{name}\"."
            ))
        }
        LocaleError::Icu(error) => {
            pg_err!(INTERNAL_ERROR, "could not open collator for locale \"{name}\": {error}")
        }
        LocaleError::NoIcu => {
            pg_err!(FEATURE_NOT_SUPPORTED, "the library of ICU is not installed")
        }
        LocaleError::Name => pg_err!(INVALID_PARAMETER_VALUE, "invalid locale name: \"{name}\""),
    }
}

impl Catalog {
    fn open_locale(&self, key: &LocaleKey) -> Result<Arc<Locale>> {
        if let Some(open) = self.locales.lock().get(key) {
            return Ok(open.clone());
        }
        let new = key.open().map_err(|(error, name)| cannot_open(error, name))?;
        let new = Arc::new(new);
        let mut open = self.locales.lock();
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        Ok(open.entry(key.clone()).or_insert(new).clone())
    }
}

/// The name of a collation's locale. `pg_collation` records which version of that locale the
/// library had when the collation was created.
fn versioned_locale(row: &PgCollation) -> &str {
    let locale = match row.collprovider {
        CollProvider::Icu => &row.colliculocale,
        _ => &row.collcollate,
    };
    locale.as_ref().map_or("", Text::as_str)
}

/// The warning that the library now has another version of a database's locale than when the
/// database was created. `None` if the version is the same.
pub fn database_version_warning(row: &PgDatabase) -> Option<PgError> {
    let old = row.datcollversion.as_ref()?.as_str();
    let name = row.datname.as_str();
    let locale = match (&row.daticulocale, row.datlocprovider) {
        (Some(icu), CollProvider::Icu) => icu.as_str(),
        _ => row.datcollate.as_str(),
    };
    let Some(new) = actual_version(row.datlocprovider, locale) else {
        let message = format!(
            "database \"{name}\" has no actual collation version, but a version was recorded"
        );
        return Some(PgError::internal(message).severity(Severity::Warning));
    };
    if new == old {
        return None;
    }
    let quoted = crate::format_type::quote_identifier(name);
    let warning = pg_err!(WARNING, "database \"{name}\" has a collation version mismatch")
        .detail(format!(
            "The database was created using collation version {old}, but the operating system \
             provides version {new}."
        ))
        .hint(format!(
            "Rebuild all objects in this database that use the default collation and run ALTER \
             DATABASE {quoted} REFRESH COLLATION VERSION, or build PostgreSQL with the right \
             library version."
        ));
    Some(warning.severity(Severity::Warning))
}

impl CatCx<'_> {
    /// The locale of a collation; `None` if it orders by bytes and has the letters that the
    /// encoding and the names C and POSIX imply. Error 22023 or XX000 if this machine lacks it.
    pub fn locale(&mut self, collation: Oid) -> Result<Option<Arc<Locale>>> {
        match collation {
            Oid::INVALID | collation::C | collation::POSIX => return Ok(None),
            collation::DEFAULT => return Ok(self.session.locales.default.clone()),
            _ => {}
        }
        let state = self.session.catalog_state();
        let locales = &mut self.session.locales;
        if locales.known_at != state {
            locales.known.clear();
            locales.known_at = state;
        }
        if let Some(known) = locales.known.get(&collation) {
            return Ok(known.clone());
        }
        let row = self.collation(collation)?;
        let opened = self.open_collation(&row)?;
        self.compare_versions(&row)?;
        self.session.locales.known.insert(collation, opened.clone());
        Ok(opened)
    }

    fn open_collation(&mut self, row: &PgCollation) -> Result<Option<Arc<Locale>>> {
        let name = |name: &Option<Text>| name.as_ref().map_or("", Text::as_str).to_owned();
        let single_byte = is_single_byte(self.session.encoding);
        let key = match row.collprovider {
            CollProvider::Default => return Ok(self.session.locales.default.clone()),
            CollProvider::Icu if single_byte => return Err(unsupported_encoding()),
            CollProvider::Icu => LocaleKey::icu(&name(&row.colliculocale), row.collisdeterministic),
            CollProvider::Libc => {
                let (collate, ctype) = (name(&row.collcollate), name(&row.collctype));
                let unicode = locale::is_c_utf8(&ctype) && !single_byte;
                if locale::orders_by_bytes(&collate) && unicode {
                    return Ok(None);
                }
                LocaleKey::libc(&collate, &ctype, single_byte)
            }
        };
        self.session.catalog.open_locale(&key).map(Some)
    }

    /// Compares the recorded version of a collation with that of its provider, once in a session.
    fn compare_versions(&mut self, row: &PgCollation) -> Result<()> {
        let Some(old) = &row.collversion else { return Ok(()) };
        if !self.session.locales.compared.insert(row.oid) {
            return Ok(());
        }
        let (old, name) = (old.as_str(), row.collname.as_str());
        let Some(new) = actual_version(row.collprovider, versioned_locale(row)) else {
            return Err(PgError::new(
                SqlState::INTERNAL_ERROR,
                format!("collation \"{name}\" has no actual version, but a version was recorded"),
            ));
        };
        if new == old {
            return Ok(());
        }
        let schema = self.namespace_name(row.collnamespace)?.unwrap_or_default();
        let quote = crate::format_type::quote_identifier;
        let shown = format!("{}.{}", quote(schema.as_str()), quote(name));
        let warning = pg_err!(WARNING, "collation \"{name}\" has version mismatch")
            .detail(format!(
                "The collation in the database was created using version {old}, but the operating \
                 system provides version {new}."
            ))
            .hint(format!(
                "Rebuild all objects affected by this collation and run ALTER COLLATION {shown} \
                 REFRESH VERSION, or build PostgreSQL with the right library version."
            ));
        self.session.locales.warnings.push(warning.severity(Severity::Warning));
        Ok(())
    }

    /// True unless texts of different bytes may be equal under the collation.
    pub fn is_deterministic(&mut self, collation: Oid) -> Result<bool> {
        Ok(self.locale(collation)?.is_none_or(|l| l.is_deterministic()))
    }
}
