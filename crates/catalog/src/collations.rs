//! The collations that the C library and ICU of this machine offer, as `init` imports them into
//! `pg_collation`.
//!
//! Counterpart: `pg_import_system_collations`, `get_collation_actual_version`.

use crate::encoding;
use crate::rows::{Name, PgCollation, Text};
use ids::Oid;
use ids::builtin::role;
use ids::code::CollProvider;
use pgerror::{Result, pg_err};

/// `collencoding` of a collation that is valid for every encoding.
pub const ANY_ENCODING: i32 = -1;

/// Name and encoding of the collations that every cluster has.
const BUILT_IN: [(&str, i32); 4] = [
    ("default", ANY_ENCODING),
    ("C", ANY_ENCODING),
    ("POSIX", ANY_ENCODING),
    ("ucs_basic", encoding::UTF8),
];

/// The collations of this machine in the order of initdb: locales of the C library as listed by
/// `locale -a`, aliases without the codeset, ICU locales. `init` assigns the OIDs.
pub fn of_this_machine() -> Vec<PgCollation> {
    let names = vfs::locale::libc_locales().into_iter();
    let locales: Vec<(String, i32)> = names
        .filter(|name| name.is_ascii() && name.len() < NAME_BYTES_MAX)
        .filter_map(|name| {
            let encoding = encoding_of(&locale::codeset(&name)?)?;
            Some((name, encoding))
        })
        .collect();
    let mut found = Vec::new();
    for (name, encoding) in &locales {
        add(&mut found, libc_collation(name, name, *encoding));
    }
    // A listed name takes precedence over an alias. Of several names with the same alias, the first
    // in ASCII order is used.
    let mut sorted: Vec<&(String, i32)> = locales.iter().collect();
    sorted.sort();
    for (name, encoding) in sorted {
        if let Some(alias) = without_codeset(name) {
            add(&mut found, libc_collation(&alias, name, *encoding));
        }
    }
    for locale in locale::icu_locales() {
        add(&mut found, icu_collation(&locale));
    }
    found
}

/// Length of a locale name must be below this many bytes.
const NAME_BYTES_MAX: usize = 63;

/// Adds a collation unless its name is already taken for its encoding or for every encoding.
fn add(found: &mut Vec<PgCollation>, new: PgCollation) {
    let taken = |name: &str, encoding: i32| {
        name == new.collname.as_str() && (encoding == new.collencoding || encoding == ANY_ENCODING)
    };
    let built_in = BUILT_IN.iter().any(|&(name, encoding)| taken(name, encoding));
    if !built_in && !found.iter().any(|c| taken(c.collname.as_str(), c.collencoding)) {
        found.push(new);
    }
}

fn collation(name: &str, provider: CollProvider, encoding: i32) -> PgCollation {
    PgCollation {
        oid: Oid::INVALID,
        collname: Name::new(name),
        collnamespace: ids::builtin::namespace::PG_CATALOG,
        collowner: role::BOOTSTRAP_SUPERUSER,
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
        collversion: actual_version(CollProvider::Libc, locale).map(Text::from),
        ..collation(name, CollProvider::Libc, encoding)
    }
}

fn icu_collation(locale: &locale::IcuLocale) -> PgCollation {
    PgCollation {
        colliculocale: Some(Text::from(locale.tag.as_str())),
        collversion: locale.version.as_deref().map(Text::from),
        ..collation(&format!("{}-x-icu", locale.tag), CollProvider::Icu, ANY_ENCODING)
    }
}

/// The locale name without its codeset: `de_DE@euro` for `de_DE.ISO-8859-15@euro`. `None` if the
/// name has no codeset.
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

/// Encoding number for a codeset name of the C library. `None` for codesets without a server
/// encoding, and for ASCII, the codeset of C and POSIX.
fn encoding_of(codeset: &str) -> Option<i32> {
    let page = codeset.strip_prefix("CP").filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
    let number = match page {
        Some(page) => encoding::number(&format!("WIN{page}")),
        None => encoding::number(codeset),
    };
    number.filter(|n| (1..=encoding::LAST_SERVER).contains(n))
}

/// The encoding of a locale of the C library: 0 for C and POSIX, `None` for an unknown one.
pub fn encoding_of_locale(locale: &str) -> Option<i32> {
    match locale::codeset(locale)?.as_str() {
        "ANSI_X3.4-1968" => Some(0),
        codeset => encoding_of(codeset),
    }
}

/// Error 22023 unless texts in this encoding can be compared by the locale. `word` names the
/// setting. Counterpart: `check_encoding_locale_matches`.
pub fn check_encoding(locale: &str, word: &str, wanted: i32, superuser: bool) -> Result<()> {
    let Some(has) = encoding_of_locale(locale) else { return Ok(()) };
    if has == wanted || has == 0 || wanted == 0 && superuser {
        return Ok(());
    }
    Err(pg_err!(
        INVALID_PARAMETER_VALUE,
        "encoding \"{}\" does not match locale \"{locale}\"",
        encoding::name(wanted)
    )
    .detail(format!("The chosen {word} setting requires encoding \"{}\".", encoding::name(has))))
}

/// The current version of a collation, as reported by its provider. `None` for collations that are
/// not versioned.
pub fn actual_version(provider: CollProvider, locale: &str) -> Option<String> {
    match provider {
        CollProvider::Icu => locale::icu_version(locale),
        CollProvider::Libc => {
            let upper = locale.to_ascii_uppercase();
            let fixed = upper == "C" || upper == "POSIX" || upper.starts_with("C.");
            if fixed { None } else { locale::libc_version() }
        }
        CollProvider::Default => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codesets_are_removed_from_locale_names() {
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
    fn codesets_map_to_encodings() {
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
    fn first_of_equal_names_wins() {
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
