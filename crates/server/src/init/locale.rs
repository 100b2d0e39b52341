//! The locales and the encoding of a new cluster.

use crate::call::Call;
use crate::failure::Failure;
use crate::options::CommandLine;

/// The locales of a new cluster by category.
#[derive(Clone)]
pub(super) struct Locales {
    pub(super) lc_collate: String,
    pub(super) lc_ctype: String,
    pub(super) lc_messages: String,
    pub(super) lc_monetary: String,
    pub(super) lc_numeric: String,
    pub(super) lc_time: String,
    /// The ICU locale, if the locale provider is ICU.
    pub(super) icu: Option<String>,
}

impl Locales {
    fn categories(&self) -> [(&'static str, &str); 6] {
        [
            ("LC_COLLATE", &self.lc_collate),
            ("LC_CTYPE", &self.lc_ctype),
            ("LC_MESSAGES", &self.lc_messages),
            ("LC_MONETARY", &self.lc_monetary),
            ("LC_NUMERIC", &self.lc_numeric),
            ("LC_TIME", &self.lc_time),
        ]
    }

    /// For messages: one locale, or the locale of each category.
    pub(super) fn description(&self) -> String {
        let categories = self.categories();
        if let Some(icu) = &self.icu {
            let libc = Locales { icu: None, ..self.clone() };
            return format!("ICU locale \"{icu}\", {}", libc.description());
        }
        if categories.iter().all(|(_, name)| *name == self.lc_collate) {
            return format!("locale \"{}\"", self.lc_collate);
        }
        let each: Vec<String> =
            categories.iter().map(|(c, name)| format!("{c} \"{name}\"")).collect();
        format!("locale {}", each.join(", "))
    }
}

/// The environment's locale for a category.
fn environment_locale(category: &str) -> String {
    let names = ["LC_ALL", category, "LANG"];
    let found = names.iter().filter_map(|n| std::env::var(n).ok()).find(|v| !v.is_empty());
    found.unwrap_or_else(|| "C".to_owned())
}

/// The name that the C library has for the locale.
fn canonical(name: String) -> String {
    if name == "POSIX" { "C".to_owned() } else { name }
}

/// True if the options choose the locale provider ICU.
pub(super) fn is_icu(given: &CommandLine) -> Result<bool, Failure> {
    let icu = match given.value("locale-provider") {
        None | Some("libc") => false,
        Some("icu") => true,
        Some(other) => return Err(Failure::new(format!("unrecognized locale provider: {other}"))),
    };
    if !icu && given.has("icu-locale") {
        return Err(Failure::new(
            "--icu-locale cannot be specified unless locale provider \"icu\" is chosen",
        ));
    }
    Ok(icu)
}

fn icu_locale(given: &CommandLine) -> Result<String, Failure> {
    let name = given.value("icu-locale");
    let name = name.ok_or_else(|| Failure::new("ICU locale must be specified"))?;
    catalog::locales::check_icu(name)?;
    Ok(name.to_owned())
}

/// The locales from the options and the environment.
pub(super) fn choose(
    call: &Call<'_>,
    given: &CommandLine,
    is_icu: bool,
) -> Result<Locales, Failure> {
    let all = if given.has("no-locale") { Some("C") } else { given.value("locale") };
    let locale = |option: &str, category: &str| {
        let named = given.value(option).or(all);
        let name = canonical(named.map_or_else(|| environment_locale(category), str::to_owned));
        if ::locale::codeset(&name).is_some() {
            return Ok(name);
        }
        match named {
            Some(_) => Err(Failure::new(format!("invalid locale name \"{name}\""))),
            None if call.is_by_name() => Err(Failure::new(
                "invalid locale settings; check LANG and LC_* environment variables",
            )),
            None => {
                let hint = format!("{category} is \"C\". Check LANG and LC_* in the environment.");
                call.warn(&format!("there is no locale \"{name}\""), &hint);
                Ok("C".to_owned())
            }
        }
    };
    Ok(Locales {
        lc_collate: locale("lc-collate", "LC_COLLATE")?,
        lc_ctype: locale("lc-ctype", "LC_CTYPE")?,
        lc_messages: locale("lc-messages", "LC_MESSAGES")?,
        lc_monetary: locale("lc-monetary", "LC_MONETARY")?,
        lc_numeric: locale("lc-numeric", "LC_NUMERIC")?,
        lc_time: locale("lc-time", "LC_TIME")?,
        icu: is_icu.then(|| icu_locale(given)).transpose()?,
    })
}

/// The encoding from the options, or that of the locale; UTF8 if the provider is ICU.
pub(super) fn encoding(
    call: &Call<'_>,
    given: &CommandLine,
    chosen: &Locales,
) -> Result<i32, Failure> {
    if let Some(name) = given.value("encoding") {
        let number = name.parse().ok().or_else(|| catalog::encoding::number(name));
        let valid = number.filter(|n| (0..=catalog::encoding::LAST_SERVER).contains(n));
        return valid.ok_or_else(|| {
            Failure::new(format!("\"{name}\" is not a valid server encoding name"))
        });
    }
    if chosen.icu.is_some() {
        return Ok(catalog::encoding::UTF8);
    }
    let lc_ctype = &chosen.lc_ctype;
    let codeset = ::locale::codeset(lc_ctype).unwrap_or_default();
    if matches!(codeset.as_str(), "ANSI_X3.4-1968" | "US-ASCII") {
        // C works with every encoding; UTF-8 is the most useful default.
        return Ok(match call.is_by_name() {
            true => catalog::encoding::SQL_ASCII,
            false => catalog::encoding::UTF8,
        });
    }
    catalog::encoding::number(&codeset).ok_or_else(|| {
        Failure::new(format!("could not find suitable encoding for locale \"{lc_ctype}\""))
            .hint("Choose an encoding with the option -E, or another locale.")
    })
}

/// The order of day, month and year in the dates of a locale, as a keyword of DateStyle.
pub(super) fn date_order(lc_time: &str) -> &'static str {
    ::locale::date_order(lc_time).unwrap_or("mdy")
}

/// The text search configuration for the language of a locale.
pub(super) fn search_configuration(lc_ctype: &str) -> &'static str {
    const LANGUAGES: [(&str, &str); 30] = [
        ("arabic", "ar"),
        ("armenian", "hy"),
        ("basque", "eu"),
        ("catalan", "ca"),
        ("danish", "da"),
        ("dutch", "nl"),
        ("english", "C"),
        ("english", "POSIX"),
        ("english", "en"),
        ("finnish", "fi"),
        ("french", "fr"),
        ("german", "de"),
        ("greek", "el"),
        ("hindi", "hi"),
        ("hungarian", "hu"),
        ("indonesian", "id"),
        ("irish", "ga"),
        ("italian", "it"),
        ("lithuanian", "lt"),
        ("nepali", "ne"),
        ("norwegian", "no"),
        ("portuguese", "pt"),
        ("romanian", "ro"),
        ("russian", "ru"),
        ("serbian", "sr"),
        ("spanish", "es"),
        ("swedish", "sv"),
        ("tamil", "ta"),
        ("turkish", "tr"),
        ("yiddish", "yi"),
    ];
    let language = lc_ctype.split(['_', '-', '.', '@']).next().unwrap_or_default();
    let found = LANGUAGES
        .iter()
        .find(|(name, code)| [name, code].iter().any(|known| known.eq_ignore_ascii_case(language)));
    found.map_or("simple", |(name, _)| name)
}
