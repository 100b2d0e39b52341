//! Locales of this machine: order of texts, case and classes of characters, by the C library or by
//! ICU. The order must be that of the PostgreSQL on the same machine, because indexes of one are
//! read by the other, so both use the same libraries.
//!
//! A [`Locale`] is opened once and then shared by all sessions and threads; nothing depends on the
//! locale of the process. `glibc` and `icu` are the calls of the libraries; `letters` are case and
//! classes, `unicode` those of the locale C.UTF-8; `abbreviation` makes sort keys of eight bytes.
//!
//! Counterpart: pg_locale.c, varlena.c (`varstr_cmp`).

mod abbreviation;
mod formats;
mod glibc;
mod icu;
mod letters;
pub mod unicode;

pub use formats::{
    MoneyFormat, NumberFormat, SignLayout, TimeNames, capitalized, date_order, money_format,
    number_format, time_names,
};
pub use glibc::{codeset, library_version as libc_version};
pub use icu::{
    IcuLocale, display_name as icu_display_name, locales as icu_locales, version as icu_version,
};
pub use letters::Class;

use abbreviation::Ranks;
use std::cmp::Ordering;
use std::sync::OnceLock;

/// Why a locale could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LocaleError {
    /// The C library has no such locale; the system's error number.
    Libc(i32),
    /// ICU refuses the locale, with the name of its error.
    Icu(String),
    /// ICU's library is not installed.
    NoIcu,
    /// The name contains a zero byte.
    Name,
}

/// Functions of a provider.
#[derive(Debug)]
enum Provider {
    Libc { collate: glibc::Handle, ctype: glibc::Handle },
    Icu(icu::Collator),
}

/// An opened locale.
#[derive(Debug)]
pub struct Locale {
    provider: Provider,
    /// The order is that of the bytes.
    bytewise: bool,
    /// Texts that the provider takes as equal are ordered by their bytes.
    deterministic: bool,
    /// One byte is one character. Only for the C library.
    single_byte: bool,
    ranks: OnceLock<Option<Ranks>>,
    letters: letters::Cache,
}

/// True if this `LC_COLLATE` of the C library orders texts by their bytes: C, POSIX and glibc's
/// C.UTF-8, in any spelling of the encoding.
pub fn orders_by_bytes(name: &str) -> bool {
    matches!(name, "" | "C" | "POSIX") || is_c_utf8(name)
}

/// True for glibc's locale C.UTF-8.
pub fn is_c_utf8(name: &str) -> bool {
    name.strip_prefix("C.")
        .is_some_and(|e| e.eq_ignore_ascii_case("utf8") || e.eq_ignore_ascii_case("utf-8"))
}

impl Locale {
    /// Opens locales of the C library, for texts in UTF-8 or, with `single_byte`, in an encoding of
    /// one byte for each character. The encoding must be that of the locales.
    pub fn libc(collate: &str, ctype: &str, single_byte: bool) -> Result<Locale, LocaleError> {
        let provider = Provider::Libc {
            collate: glibc::Handle::open(collate)?,
            ctype: glibc::Handle::open(ctype)?,
        };
        Ok(Locale::new(provider, orders_by_bytes(collate), true, single_byte))
    }

    /// Opens a locale of ICU, for texts in UTF-8. The name may contain attributes of the collation.
    pub fn icu(name: &str, deterministic: bool) -> Result<Locale, LocaleError> {
        Ok(Locale::new(Provider::Icu(icu::Collator::open(name)?), false, deterministic, false))
    }

    fn new(provider: Provider, bytewise: bool, deterministic: bool, single_byte: bool) -> Locale {
        Locale {
            provider,
            bytewise,
            deterministic,
            single_byte,
            ranks: OnceLock::new(),
            letters: letters::Cache::default(),
        }
    }

    /// True if the order is that of the bytes.
    pub fn orders_by_bytes(&self) -> bool {
        self.bytewise
    }

    /// True if equal texts have equal bytes.
    pub fn is_deterministic(&self) -> bool {
        self.deterministic
    }

    /// The order of two texts. If the locale is deterministic, only texts of equal bytes are equal.
    pub fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.bytewise {
            return a.cmp(b);
        }
        if a == b {
            return Ordering::Equal;
        }
        let order = match &self.provider {
            Provider::Libc { collate, .. } => collate.compare(a, b),
            Provider::Icu(collator) => match self.ranks() {
                Some(ranks) => {
                    let order = ranks.plain_order(a, b);
                    debug_assert!(order.is_eq() || order == collator.compare(a, b));
                    order.then_with(|| collator.compare(a, b))
                }
                None => collator.compare(a, b),
            },
        };
        if self.deterministic { order.then_with(|| a.cmp(b)) } else { order }
    }

    /// True if the locale takes two texts as equal.
    pub fn is_equal(&self, a: &[u8], b: &[u8]) -> bool {
        a == b || !self.deterministic && self.compare(a, b).is_eq()
    }

    /// Replaces `key` by bytes that are equal exactly for texts that the locale takes as equal: the
    /// provider's sort key for a nondeterministic locale, else the text.
    pub fn hash_key(&self, text: &[u8], key: &mut Vec<u8>) {
        key.clear();
        match &self.provider {
            Provider::Icu(collator) if !self.deterministic => collator.sort_key(text, key),
            _ => key.extend_from_slice(text),
        }
    }

    fn ranks(&self) -> Option<&Ranks> {
        self.ranks.get_or_init(|| Ranks::of(&self.provider, self.single_byte)).as_ref()
    }

    /// True if the abbreviation of this text and those of others for which this is true have
    /// exactly the order of the texts, where they differ. Such abbreviations need no verification.
    pub fn has_exact_abbreviation(&self, text: &[u8]) -> bool {
        self.bytewise || self.ranks().is_some_and(|ranks| ranks.is_plain(text))
    }

    /// A number that *usually* has the order of the text: sorts use it and then verify the result
    /// by [`Locale::compare`], since no library promises that its sort keys have the order of its
    /// comparison. 0 for every text if the locale has no such numbers.
    pub fn abbreviation(&self, text: &[u8]) -> u64 {
        if self.bytewise {
            return abbreviation::first_bytes(text);
        }
        match self.ranks() {
            Some(ranks) => ranks.abbreviation(text),
            None => 0,
        }
    }

    /// An order that is *usually* that of [`Locale::compare`] and takes less time: texts whose
    /// abbreviations differ have the order of these, and texts are equal as there. It is a total
    /// order, but a sort by it must verify its result.
    pub fn guess(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.ranks.get() {
            Some(Some(ranks)) if !self.bytewise => {
                ranks.compare(a, b).then_with(|| self.compare(a, b))
            }
            _ => self.compare(a, b),
        }
    }
}

#[cfg(test)]
mod tests;
