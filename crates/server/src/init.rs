//! `norsu init`: parses initdb's options and calls `catalog::bootstrap`.
//!
//! Counterpart: initdb.c.

use crate::failure::{Failure, Outcome};
use crate::options::{self, AcceptedOption};
use crate::user;
use catalog::bootstrap::{InitOptions, init};
use vfs::{Env, process};

const OPTIONS: [AcceptedOption; 35] = [
    ('D', "pgdata", true),
    ('U', "username", true),
    ('A', "auth", true),
    (' ', "auth-local", true),
    (' ', "auth-host", true),
    ('E', "encoding", true),
    (' ', "locale", true),
    (' ', "lc-collate", true),
    (' ', "lc-ctype", true),
    (' ', "lc-messages", true),
    (' ', "lc-monetary", true),
    (' ', "lc-numeric", true),
    (' ', "lc-time", true),
    (' ', "no-locale", false),
    (' ', "locale-provider", true),
    (' ', "icu-locale", true),
    ('k', "data-checksums", false),
    (' ', "no-data-checksums", false),
    (' ', "wal-segsize", true),
    ('X', "waldir", true),
    ('N', "no-sync", false),
    (' ', "sync", false),
    ('W', "pwprompt", false),
    (' ', "pwfile", true),
    ('g', "allow-group-access", false),
    ('T', "text-search-config", true),
    ('n', "no-clean", false),
    (' ', "no-instructions", false),
    ('d', "debug", false),
    ('s', "show", false),
    ('L', "directory", true),
    (' ', "discard-caches", false),
    ('V', "version", false),
    ('?', "help", false),
    ('h', "usage", false),
];

const HELP: &str = "\
norsu init creates a data directory.

Usage:
  norsu init [OPTION]... [DATADIR]

Options:
  -A, --auth=METHOD         authentication method for connections (trust)
  [-D, --pgdata=]DATADIR    location of the data directory
  -E, --encoding=ENCODING   encoding of new databases
  -g, --allow-group-access  allow group read access to the data directory
  -k, --data-checksums      data page checksums (the default)
      --no-data-checksums   no data page checksums
      --locale=LOCALE       locale of new databases; also --lc-collate, --lc-ctype, ...
      --no-locale           the same as --locale=C
      --locale-provider={libc|icu}
                            locale provider of new databases
      --icu-locale=LOCALE   ICU locale of new databases
  -N, --no-sync             do not flush files to disk
      --pwfile=FILE         read the superuser's password from a file
  -T, --text-search-config=CFG
  -U, --username=NAME       name of the superuser
      --wal-segsize=SIZE    size of WAL segments, in megabytes
  -X, --waldir=WALDIR       location of the write-ahead log
";

/// The environment's locale for a category.
fn environment_locale(category: &str) -> String {
    let names = ["LC_ALL", category, "LANG"];
    let found = names.iter().filter_map(|n| std::env::var(n).ok()).find(|v| !v.is_empty());
    found.unwrap_or_else(|| "C".to_owned())
}

/// The locale that an option names, or else that of the environment, if it exists. Counterpart:
/// `check_locale_name`.
fn existing_locale(named: Option<String>, category: &str) -> Result<String, Failure> {
    let from_option = named.is_some();
    let locale = named.unwrap_or_else(|| environment_locale(category));
    if matches!(locale.as_str(), "C" | "POSIX") {
        return Ok("C".to_owned());
    }
    if !locale.is_empty() && locale::codeset(&locale).is_some() {
        return Ok(locale);
    }
    Err(Failure::new(match from_option {
        true => format!("invalid locale name \"{locale}\""),
        false => "invalid locale settings; check LANG and LC_* environment variables".to_owned(),
    }))
}

/// The encoding implied by the locale.
fn locale_encoding(locale: &str) -> Result<i32, Failure> {
    if locale == "C" {
        // C works with every encoding; UTF-8 is the most useful default.
        return Ok(catalog::encoding::UTF8);
    }
    catalog::collations::encoding_of_locale(locale).ok_or_else(|| {
        Failure::new(format!("could not find suitable encoding for locale \"{locale}\" (use -E)"))
    })
}

/// An error if the encodings of a locale and of the cluster differ.
fn check_encoding(locale: &str, wanted: i32) -> Result<(), Failure> {
    let has = catalog::collations::encoding_of_locale(locale);
    match has.filter(|&has| has != wanted && has != 0 && wanted != 0) {
        None => Ok(()),
        Some(has) => Err(Failure::new(format!(
            "encoding mismatch: the encoding that was selected is {}, that of the locale is {}",
            catalog::encoding::name(wanted),
            catalog::encoding::name(has)
        ))),
    }
}

/// The ICU locale of the databases, if their locale provider is ICU.
fn icu_locale(given: &options::CommandLine) -> Result<Option<String>, Failure> {
    let name = given.value("icu-locale").map(str::to_owned);
    match given.value("locale-provider") {
        Some("icu") => {}
        None | Some("libc") => {
            return match name {
                None => Ok(None),
                Some(_) => Err(Failure::new(
                    "--icu-locale cannot be specified unless locale provider \"icu\" is chosen",
                )),
            };
        }
        Some(other) => {
            return Err(Failure::new(format!("unrecognized locale provider: {other}")));
        }
    }
    let name = name.ok_or_else(|| Failure::new("ICU locale must be specified"))?;
    catalog::locales::check_icu(&name)?;
    Ok(Some(name))
}

/// The time zone of this machine.
pub(crate) fn time_zone() -> String {
    let known = |name: &str| types::zone::Zone::named(name).is_some();
    if let Ok(tz) = std::env::var("TZ")
        && known(&tz)
    {
        return tz;
    }
    let link = std::fs::read_link("/etc/localtime").ok();
    let name = link.as_ref().and_then(|p| p.to_str()?.split_once("zoneinfo/").map(|(_, n)| n));
    name.filter(|n| known(n)).unwrap_or("Etc/UTC").to_owned()
}

pub(crate) fn run(args: &[String]) -> Outcome {
    let given = options::parse(args, &OPTIONS, false)?;
    if given.has("help") || given.has("usage") {
        print!("{HELP}");
        return Ok(0);
    }
    if given.has("version") {
        println!("initdb (PostgreSQL) {}", crate::version::SERVER_VERSION);
        return Ok(0);
    }
    if given.rest.len() > 1 {
        return Err(Failure::new(format!(
            "too many command-line arguments (first is \"{}\")",
            given.rest[1]
        )));
    }
    let named = given.value("pgdata").or(given.rest.first().map(String::as_str));
    let directory = options::data_directory(named)?;
    user::become_owner(&directory)?;
    let wanted = init_options(&given)?;
    process::set_umask(wanted.group_access);
    let clean = !given.has("no-clean");
    let existed = std::fs::metadata(&directory).is_ok();
    if !existed {
        std::fs::create_dir_all(&directory).map_err(|e| {
            Failure::new(format!("could not create directory \"{directory}\": {e}"))
        })?;
    }
    let not_empty = std::fs::read_dir(&directory).is_ok_and(|mut d| d.next().is_some());
    if let Err(e) = init(&Env::os(&directory), &wanted) {
        if clean && !not_empty {
            remove(&directory, existed);
        }
        return Err(e.into());
    }
    println!("Success. A server on this data directory is started with:");
    println!("\n    norsu start -D {directory}\n");
    Ok(0)
}

/// Removes the files of a failed attempt.
fn remove(directory: &str, keep: bool) {
    if keep {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            let _ = std::fs::remove_dir_all(&path).or_else(|_| std::fs::remove_file(&path));
        }
    } else {
        let _ = std::fs::remove_dir_all(directory);
    }
}

fn init_options(given: &options::CommandLine) -> Result<InitOptions, Failure> {
    let text = |name: &str| given.value(name).map(str::to_owned);
    let all = if given.has("no-locale") { Some("C".to_owned()) } else { text("locale") };
    let locale = |option: &str, category: &str| {
        existing_locale(text(option).or_else(|| all.clone()), category)
    };
    let lc_ctype = locale("lc-ctype", "LC_CTYPE")?;
    let lc_collate = locale("lc-collate", "LC_COLLATE")?;
    let icu_locale = icu_locale(given)?;
    let encoding = match given.value("encoding") {
        Some(name) => {
            let number = name.parse().ok().or_else(|| catalog::encoding::number(name));
            number.ok_or_else(|| {
                Failure::new(format!("\"{name}\" is not a valid server encoding name"))
            })?
        }
        None if icu_locale.is_some() => catalog::encoding::UTF8,
        None => locale_encoding(&lc_ctype)?,
    };
    check_encoding(&lc_ctype, encoding)?;
    check_encoding(&lc_collate, encoding)?;
    if icu_locale.is_some() && encoding != catalog::encoding::UTF8 {
        return Err(Failure::new(format!(
            "encoding \"{}\" is not supported with ICU provider",
            catalog::encoding::name(encoding)
        )));
    }
    let segment: u32 = match given.value("wal-segsize") {
        Some(size) => size.parse().ok().filter(|s| (1..=1024).contains(s)).ok_or_else(|| {
            Failure::new("argument of --wal-segsize must be a power of two between 1 and 1024")
        })?,
        None => 16,
    };
    let auth = text("auth").unwrap_or_else(|| "trust".to_owned());
    let user = text("username").unwrap_or_else(user::own_name);
    let password = match given.value("pwfile") {
        Some(file) => {
            let read = std::fs::read_to_string(file).map_err(|e| {
                Failure::new(format!("could not open file \"{file}\" for reading: {e}"))
            })?;
            let password = read.lines().next().unwrap_or_default().to_owned();
            if password.is_empty() {
                return Err(Failure::new(format!("password file \"{file}\" is empty")));
            }
            Some(crate::init::secret(&password))
        }
        None if given.has("pwprompt") => {
            return Err(Failure::new("--pwprompt is not supported; use --pwfile"));
        }
        None => None,
    };
    let wal_dir = given.value("waldir").map(str::to_owned);
    let search_config = search_configuration(&lc_ctype);
    Ok(InitOptions {
        user,
        password,
        encoding,
        lc_collate,
        lc_ctype,
        icu_locale,
        lc_messages: locale("lc-messages", "LC_MESSAGES")?,
        lc_monetary: locale("lc-monetary", "LC_MONETARY")?,
        lc_numeric: locale("lc-numeric", "LC_NUMERIC")?,
        lc_time: locale("lc-time", "LC_TIME")?,
        checksums: !given.has("no-data-checksums"),
        wal_segment_size: segment << 20,
        wal_dir,
        auth_local: text("auth-local").unwrap_or_else(|| auth.clone()),
        auth_host: text("auth-host").unwrap_or(auth),
        timezone: time_zone(),
        text_search_config: match text("text-search-config") {
            Some(name) if !name.contains('.') => format!("pg_catalog.{name}"),
            Some(name) => name,
            None => format!("pg_catalog.{search_config}"),
        },
        group_access: given.has("allow-group-access"),
        sync: !given.has("no-sync"),
        collations: catalog::collations::of_this_machine(),
    })
}

/// The text search configuration for the language of a locale.
fn search_configuration(lc_ctype: &str) -> &'static str {
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

/// The SCRAM secret stored in `pg_authid` for a password (RFC 5803), with a new salt.
pub(crate) fn secret(password: &str) -> String {
    use vfs::Random;
    let mut salt = [0; 16];
    vfs::OsRandom.fill(&mut salt);
    scram_secret(password.as_bytes(), &salt, 4096)
}

fn hmac(key: &[u8], message: &[&[u8]]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    let mut block = [0; 64];
    if key.len() > 64 {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = Sha256::new();
    inner.update(block.map(|b| b ^ 0x36));
    for part in message {
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(block.map(|b| b ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

fn scram_secret(password: &[u8], salt: &[u8], rounds: u32) -> String {
    use sha2::{Digest, Sha256};
    let mut turn = hmac(password, &[salt, &1u32.to_be_bytes()]);
    let mut salted = turn;
    for _ in 1..rounds {
        turn = hmac(password, &[&turn]);
        for (s, t) in salted.iter_mut().zip(turn) {
            *s ^= t;
        }
    }
    let client = hmac(&salted, &[b"Client Key"]);
    let stored: [u8; 32] = Sha256::digest(client).into();
    let server = hmac(&salted, &[b"Server Key"]);
    format!("SCRAM-SHA-256${rounds}:{}${}:{}", base64(salt), base64(&stored), base64(&server))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().enumerate().fold(0u32, |w, (i, b)| w | u32::from(*b) << (16 - 8 * i));
        for i in 0..4 {
            if i <= chunk.len() {
                out.push(char::from(DIGITS[(word >> (18 - 6 * i) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scram_secret_matches_rfc_7677() {
        // RFC 7677, section 3: the password "pencil" with this salt and 4096 iterations gives this
        // secret, which PostgreSQL stores too.
        let salt = [
            0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e, 0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36,
            0xfa, 0x81,
        ];
        let secret = scram_secret(b"pencil", &salt, 4096);
        assert_eq!(
            secret,
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$\
             WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:\
             wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
    }
}
