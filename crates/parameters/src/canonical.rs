//! The canonical forms of values that have a check function of their own. Counterpart: the check
//! hooks of guc.c, variable.c.

use catalog::conversion::Conversion;
use catalog::encoding::UTF8;
use engine::RmgrId;
use pgerror::{PgError, Result, pg_err};
use settings::{SessionValues, Setting};
use types::datetime::interval;
use types::settings::{DateOrder, DateStyle, IntervalStyle};
use types::zone::Zone;

/// The error for a value that the setting does not accept.
pub fn wrong_value(setting: &Setting, text: &str, detail: Option<String>) -> PgError {
    let error = setting.invalid(text);
    match detail {
        Some(detail) => error.detail(detail),
        None => error,
    }
}

/// Parses a `DateStyle`. A part that is not specified keeps its old value.
pub(crate) fn date_style(
    text: &str,
    old: (DateStyle, DateOrder),
) -> Result<(DateStyle, DateOrder), Option<String>> {
    let (mut style, mut order): (Option<DateStyle>, Option<DateOrder>) = (None, None);
    // What DEFAULT and the style German imply does not conflict with what is given.
    let (mut implied_style, mut implied_order) = old;
    let conflict = || Some("Conflicting \"datestyle\" specifications.".to_owned());
    for word in text.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let lower = word.to_ascii_lowercase();
        let begins = |with: &str| lower.starts_with(with);
        let new_style = match lower.as_str() {
            "iso" => Some(DateStyle::Iso),
            "sql" => Some(DateStyle::Sql),
            _ if begins("postgres") => Some(DateStyle::Postgres),
            "german" => Some(DateStyle::German),
            _ => None,
        };
        let new_order = match lower.as_str() {
            "ymd" => Some(DateOrder::Ymd),
            "dmy" => Some(DateOrder::Dmy),
            "mdy" | "us" => Some(DateOrder::Mdy),
            _ if begins("euro") => Some(DateOrder::Dmy),
            _ if begins("noneuro") => Some(DateOrder::Mdy),
            _ => None,
        };
        match (new_style, new_order) {
            (Some(s), _) if style.is_some_and(|known| known != s) => return Err(conflict()),
            (Some(s), _) => {
                style = Some(s);
                if s == DateStyle::German {
                    implied_order = DateOrder::Dmy;
                }
            }
            (None, Some(o)) if order.is_some_and(|known| known != o) => return Err(conflict()),
            (None, Some(o)) => order = Some(o),
            (None, None) if lower == "default" => {
                (implied_style, implied_order) = (DateStyle::Iso, DateOrder::Mdy);
            }
            (None, None) => return Err(Some(format!("Unrecognized key word: \"{lower}\"."))),
        }
    }
    Ok((style.unwrap_or(implied_style), order.unwrap_or(implied_order)))
}

fn date_style_text((style, order): (DateStyle, DateOrder)) -> String {
    let style = match style {
        DateStyle::Iso => "ISO",
        DateStyle::Sql => "SQL",
        DateStyle::Postgres => "Postgres",
        DateStyle::German => "German",
    };
    let order = match order {
        DateOrder::Ymd => "YMD",
        DateOrder::Dmy => "DMY",
        DateOrder::Mdy => "MDY",
    };
    format!("{style}, {order}")
}

/// A time zone: a name, a number of hours east of Greenwich, or `INTERVAL '…'`. Counterpart:
/// `check_timezone`.
fn time_zone(setting: &Setting, text: &str) -> Result<Zone> {
    let wrong = |detail: &str| wrong_value(setting, text, Some(detail.to_owned()));
    let fixed = |seconds: i32| {
        Zone::fixed(seconds).ok_or_else(|| wrong("UTC timezone offset is out of range."))
    };
    if let Some(interval) = interval_argument(text) {
        let interval = interval.ok_or_else(|| wrong_value(setting, text, None))?;
        let value = interval::parse(interval.as_bytes(), -1, IntervalStyle::Postgres)?;
        return match (value.month, value.day) {
            (0, 0) => fixed((value.time / 1_000_000) as i32),
            (0, _) => Err(wrong("Cannot specify days in time zone interval.")),
            _ => Err(wrong("Cannot specify months in time zone interval.")),
        };
    }
    match text.trim_start().parse::<f64>() {
        Ok(hours) => fixed((hours * 3600.0) as i32),
        Err(_) => zone_named(setting, text),
    }
}

/// The quoted part of `INTERVAL '…'`; `Some(None)` if it is malformed.
fn interval_argument(text: &str) -> Option<Option<&str>> {
    let word = text.get(..8)?;
    let rest = word.eq_ignore_ascii_case("interval").then(|| text[8..].trim_start())?;
    let inner = rest.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    Some(inner.filter(|inner| !inner.contains('\'')))
}

fn zone_named(setting: &Setting, text: &str) -> Result<Zone> {
    match Zone::named(text) {
        Some(zone) if zone.is_acceptable() => Ok(zone),
        Some(_) => Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "time zone \"{text}\" appears to use leap seconds"
        )
        .detail("PostgreSQL does not support leap seconds.")),
        None => Err(wrong_value(setting, text, None)),
    }
}

/// The canonical form of a value, for settings with a check function of their own.
pub fn canonical(store: &SessionValues, setting: &Setting, text: &str) -> Result<String> {
    if setting.name == "client_encoding" {
        return client_encoding(store.named("server_encoding").as_text(), setting, text);
    }
    canonical_value(store.named("DateStyle").as_text(), setting, text)
}

/// Accepted are the encoding of the database, SQL_ASCII, and those with a conversion if the
/// database has UTF8.
fn client_encoding(server: &str, setting: &Setting, text: &str) -> Result<String> {
    let Some(number) = catalog::encoding::number(text) else {
        return Err(wrong_value(setting, text, None));
    };
    let name = catalog::encoding::name(number);
    let same = name == server || name == "SQL_ASCII" || server == "SQL_ASCII";
    if same || client_conversions(server, name).is_some() {
        // Old drivers expect this spelling in the reply. Counterpart: `check_client_encoding`.
        let shown = if text == "UNICODE" { text } else { name };
        return Ok(shown.to_owned());
    }
    let detail = format!("Conversion between {name} and {server} is not supported.");
    let message = format!("invalid value for parameter \"client_encoding\": \"{text}\"");
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "{message}").detail(detail))
}

/// The conversions of texts for the client and from the client; `None` if they are not converted.
/// Databases in encodings other than UTF8 are not converted.
pub fn client_conversions(server: &str, client: &str) -> Option<(Conversion, Conversion)> {
    let encoding = catalog::encoding::number(client).filter(|_| server == "UTF8")?;
    let to_client = Conversion::with_utf8(UTF8, encoding)?;
    Some((to_client, Conversion::with_utf8(encoding, UTF8)?))
}

/// As [`canonical`]. `date_style_before` is the old `DateStyle`, which supplies the missing part of
/// a new one.
pub fn canonical_value(date_style_before: &str, setting: &Setting, text: &str) -> Result<String> {
    match setting.name {
        "DateStyle" => {
            let old = date_style(date_style_before, (DateStyle::Iso, DateOrder::Mdy));
            let old = old.unwrap_or((DateStyle::Iso, DateOrder::Mdy));
            match date_style(text, old) {
                Ok(new) => Ok(date_style_text(new)),
                Err(detail) => Err(wrong_value(setting, text, detail)),
            }
        }
        "TimeZone" => Ok(time_zone(setting, text)?.name().to_owned()),
        "log_timezone" => Ok(zone_named(setting, text)?.name().to_owned()),
        name if settings::LOCALES.contains(&name) => {
            // An empty name selects the locale of the environment.
            let is_there = match text {
                "" => name != settings::NEVER_EMPTY,
                _ => locale::codeset(text).is_some(),
            };
            if is_there { Ok(text.to_owned()) } else { Err(wrong_value(setting, text, None)) }
        }
        "timezone_abbreviations" => match text {
            "Default" | "Australia" | "India" => Ok(text.to_owned()),
            _ => Err(wrong_value(setting, text, None)),
        },
        // The server's configuration belongs to no database, so UTF8 is assumed.
        "client_encoding" => client_encoding("UTF8", setting, text),
        "application_name" | "cluster_name" => {
            // The replacement is made byte by byte, even within a multibyte character.
            let plain = |c: u8| if (b' '..=b'~').contains(&c) { char::from(c) } else { '?' };
            Ok(text.bytes().map(plain).take(63).collect())
        }
        "search_path" | "temp_tablespaces" => {
            if catalog::namespace::split_identifiers(text).is_none() {
                let detail = "List syntax is invalid.".to_owned();
                return Err(wrong_value(setting, text, Some(detail)));
            }
            Ok(text.to_owned())
        }
        "wal_consistency_checking" => {
            let Some(words) = catalog::namespace::split_identifiers(text) else {
                let detail = "List syntax is invalid.".to_owned();
                return Err(wrong_value(setting, text, Some(detail)));
            };
            let known = |word: &str| {
                let mut managers = RmgrId::ALL.into_iter().filter(|id| id.is_checkable());
                word == "all" || managers.any(|id| id.name().eq_ignore_ascii_case(word))
            };
            if let Some(word) = words.iter().find(|word| !known(word)) {
                let detail = format!("Unrecognized key word: \"{word}\".");
                return Err(wrong_value(setting, text, Some(detail)));
            }
            Ok(text.to_owned())
        }
        "plpgsql.extra_errors" | "plpgsql.extra_warnings" => match plpgsql::checks(text) {
            Ok(_) => Ok(text.to_owned()),
            Err(detail) => Err(wrong_value(setting, text, Some(detail))),
        },
        _ => Ok(text.to_owned()),
    }
}
