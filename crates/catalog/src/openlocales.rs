//! The open locales that the sessions of a database share.

use hashbrown::HashMap;
use locale::{Locale, LocaleError};
use std::sync::Arc;

/// What an open locale depends on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LocaleKey {
    is_icu: bool,
    deterministic: bool,
    single_byte: bool,
    collate: String,
    ctype: String,
}

impl LocaleKey {
    pub(crate) fn libc(collate: &str, ctype: &str, single_byte: bool) -> LocaleKey {
        let (collate, ctype) = (collate.to_owned(), ctype.to_owned());
        LocaleKey { is_icu: false, deterministic: true, single_byte, collate, ctype }
    }

    pub(crate) fn icu(name: &str, deterministic: bool) -> LocaleKey {
        let (collate, ctype) = (name.to_owned(), String::new());
        LocaleKey { is_icu: true, deterministic, single_byte: false, collate, ctype }
    }

    pub(crate) fn open(&self) -> std::result::Result<Locale, (LocaleError, &str)> {
        if self.is_icu {
            return Locale::icu(&self.collate, self.deterministic).map_err(|e| (e, &*self.collate));
        }
        Locale::libc(&self.collate, &self.ctype, self.single_byte).map_err(|e| {
            let missing =
                if locale::codeset(&self.collate).is_none() { &self.collate } else { &self.ctype };
            (e, &**missing)
        })
    }
}

/// The open locales of a database's sessions.
pub(crate) type OpenLocales = HashMap<LocaleKey, Arc<Locale>>;
