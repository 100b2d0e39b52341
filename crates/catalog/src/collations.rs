//! Collations that this machine's C library and ICU offer, as `init` takes them into
//! `pg_collation`. Counterpart: `pg_import_system_collations`, `get_collation_actual_version`.

use crate::encoding;
use crate::rows::{Name, PgCollation, Text};
use ids::Oid;

/// Provider codes of `pg_collation.collprovider`.
const LIBC: u8 = b'c';
const ICU: u8 = b'i';
/// Encoding of a collation that goes with every encoding.
const ANY_ENCODING: i32 = -1;

/// Collations by name and encoding that a new cluster has without the machine's.
const BUILT_IN: [(&str, i32); 4] = [
    ("default", ANY_ENCODING),
    ("C", ANY_ENCODING),
    ("POSIX", ANY_ENCODING),
    ("ucs_basic", encoding::UTF8),
];

/// The collations of this machine in the order in which initdb makes them: locales of the C library
/// as `locale -a` lists them, their names without the character set, ICU's. Their OIDs are set by
/// `init`.
pub fn of_this_machine() -> Vec<PgCollation> {
    let locales = vfs::locale::libc_locales();
    let locales: Vec<(String, i32)> = locales
        .into_iter()
        .filter(|l| l.name.is_ascii() && l.name.len() < NAME_BYTES_MAX)
        .filter_map(|l| Some((l.name, encoding_of(&l.codeset)?)))
        .collect();
    let mut found = Vec::new();
    for (name, encoding) in &locales {
        add(&mut found, libc_collation(name, name, *encoding));
    }
    // A name of the list itself comes before a shortened one, and of several names that are
    // shortened to the same one the first in ASCII order counts.
    let mut sorted: Vec<&(String, i32)> = locales.iter().collect();
    sorted.sort();
    for (name, encoding) in sorted {
        if let Some(alias) = without_codeset(name) {
            add(&mut found, libc_collation(&alias, name, *encoding));
        }
    }
    for locale in vfs::locale::icu_locales() {
        add(&mut found, icu_collation(&locale));
    }
    found
}

/// Length that a name of a locale must stay below, in bytes.
const NAME_BYTES_MAX: usize = 63;

/// Adds a collation unless its name is taken, for its encoding or for all.
fn add(found: &mut Vec<PgCollation>, new: PgCollation) {
    let taken = |name: &str, encoding: i32| {
        name == new.collname.as_str() && (encoding == new.collencoding || encoding == ANY_ENCODING)
    };
    let built_in = BUILT_IN.iter().any(|&(name, encoding)| taken(name, encoding));
    if !built_in && !found.iter().any(|c| taken(c.collname.as_str(), c.collencoding)) {
        found.push(new);
    }
}

fn collation(name: &str, provider: u8, encoding: i32) -> PgCollation {
    PgCollation {
        oid: Oid::INVALID,
        collname: Name::new(name),
        collnamespace: crate::namespace::PG_CATALOG,
        collowner: Oid(10),
        collprovider: provider,
        collisdeterministic: true,
        collencoding: encoding,
        collcollate: None,
        collctype: None,
        colliculocale: None,
        collversion: None,
    }
}

fn libc_collation(name: &str, locale: &str, encoding: i32) -> PgCollation {
    PgCollation {
        collcollate: Some(Text::from(locale)),
        collctype: Some(Text::from(locale)),
        collversion: actual_version(LIBC, locale).map(Text::from),
        ..collation(name, LIBC, encoding)
    }
}

fn icu_collation(locale: &vfs::locale::IcuLocale) -> PgCollation {
    PgCollation {
        colliculocale: Some(Text::from(locale.tag.as_str())),
        collversion: locale.version.as_deref().map(Text::from),
        ..collation(&format!("{}-x-icu", locale.tag), ICU, ANY_ENCODING)
    }
}

/// A locale's name without its character set, `de_DE@euro` for `de_DE.ISO-8859-15@euro`; `None` if
/// it names none.
fn without_codeset(locale: &str) -> Option<String> {
    let mut rest = locale;
    let mut short = String::new();
    while let Some((before, after)) = rest.split_once('.') {
        short.push_str(before);
        rest = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '-');
    }
    short.push_str(rest);
    (short != locale).then_some(short)
}

/// Number of the encoding that the C library calls so; `None` for those that no database can have,
/// and for ASCII, the character set of C and POSIX.
fn encoding_of(codeset: &str) -> Option<i32> {
    let page = codeset.strip_prefix("CP").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let number = match page {
        Some(page) => encoding::number(&format!("WIN{page}")),
        None => encoding::number(codeset),
    };
    number.filter(|n| (1..=encoding::LAST_SERVER).contains(n))
}

/// The version of a collation that its provider has now; `None` for those that never change.
pub fn actual_version(provider: u8, locale: &str) -> Option<String> {
    match provider {
        ICU => vfs::locale::icu_version(locale),
        LIBC => {
            let upper = locale.to_ascii_uppercase();
            let fixed = upper == "C" || upper == "POSIX" || upper.starts_with("C.");
            if fixed { None } else { vfs::locale::libc_version() }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_character_sets() {
        for (name, short) in [
            ("en_US.utf8", Some("en_US")),
            ("de_DE.ISO-8859-15@euro", Some("de_DE@euro")),
            ("de_DE@euro", None),
            ("POSIX", None),
        ] {
            assert_eq!(without_codeset(name).as_deref(), short, "{name}");
        }
    }

    #[test]
    fn character_sets_are_encodings() {
        for (codeset, name) in [
            ("UTF-8", "UTF8"),
            ("ISO-8859-15", "LATIN9"),
            ("CP1251", "WIN1251"),
            ("EUC-JP", "EUC_JP"),
        ] {
            assert_eq!(encoding_of(codeset).map(encoding::name), Some(name));
        }
        for none in ["ANSI_X3.4-1968", "GB18030", "BIG5", "ARMSCII-8"] {
            assert_eq!(encoding_of(none), None, "{none}");
        }
    }

    #[test]
    fn the_first_of_equal_names_counts() {
        let mut found = Vec::new();
        for (name, locale, encoding) in [
            ("de_DE", "de_DE.utf8", 6),
            ("de_DE", "de_DE.UTF-8", 6),
            ("de_DE", "de_DE", 8),
            ("C", "C.utf8", 6),
        ] {
            add(&mut found, libc_collation(name, locale, encoding));
        }
        let kept: Vec<_> = found.iter().filter_map(|c| c.collcollate.as_ref()).collect();
        assert_eq!(kept.iter().map(|t| t.as_str()).collect::<Vec<_>>(), ["de_DE.utf8", "de_DE"]);
    }
}
