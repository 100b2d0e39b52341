//! Rejects values of parameters that this server does not support, where a client would otherwise
//! rely on their effect: log destinations, synchronous standbys.
//!
//! Values that only tune behaviour and are ignored are listed in `docs/settings.md`.

use crate::registry::Setting;
use crate::value::Value;
use pgerror::{PgError, Result, SqlState};

const OFF: &str = "Turn it off, or remove it from the configuration.";

/// Boolean parameters that cannot be enabled: name, message, hint.
const SWITCHES: &[(&str, &str, &str)] = &[
    ("bonjour", "Bonjour is not supported by this server", OFF),
    (
        "logging_collector",
        "a logging collector is not supported by this server",
        "Set \"logging_collector\" to off and direct the server's standard error to a file or a \
         log service.",
    ),
    ("db_user_namespace", "\"db_user_namespace\" is not supported by this server", OFF),
];

/// Log destinations of PostgreSQL other than standard error.
const DESTINATIONS: [&str; 3] = ["csvlog", "jsonlog", "syslog"];

/// Error 0A000 for a value that this server does not support.
pub(crate) fn check(setting: &Setting, value: &Value) -> Result<()> {
    let refuse = |message: &str, hint: &str| {
        Err(PgError::new(SqlState::FEATURE_NOT_SUPPORTED, message).hint(hint))
    };
    match (setting.name, value) {
        // A parameter of older servers that dumps still set to off.
        ("default_with_oids", Value::Bool(true)) => Err(PgError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "tables declared WITH OIDS are not supported",
        )),
        (name, Value::Bool(true)) => match SWITCHES.iter().find(|s| s.0 == name) {
            Some((_, message, hint)) => refuse(message, hint),
            None => Ok(()),
        },
        ("log_destination", Value::Text(text)) => {
            match words(text).find(|word| !word.eq_ignore_ascii_case("stderr")) {
                Some(word) if !DESTINATIONS.iter().any(|d| word.eq_ignore_ascii_case(d)) => {
                    Err(setting.invalid(text).detail(format!("Unrecognized key word: \"{word}\".")))
                }
                Some(word) => refuse(
                    &format!("log destination \"{word}\" is not supported by this server"),
                    "Set \"log_destination\" to stderr.",
                ),
                None => Ok(()),
            }
        }
        ("restrict_nonsystem_relation_kind", Value::Text(text)) => {
            const KINDS: [&str; 2] = ["view", "foreign-table"];
            match words(text).find(|word| !KINDS.iter().any(|k| word.eq_ignore_ascii_case(k))) {
                Some(word) => {
                    Err(setting.invalid(text).detail(format!("Unrecognized key word: \"{word}\".")))
                }
                None => Ok(()),
            }
        }
        ("synchronous_standby_names", Value::Text(text)) if !text.trim().is_empty() => refuse(
            "synchronous replication is not supported by this server",
            "Set \"synchronous_standby_names\" to an empty string.",
        ),
        ("huge_pages", Value::Text(text)) if &**text == "on" => refuse(
            "huge pages are not supported by this server",
            "Set \"huge_pages\" to try or off.",
        ),
        (name, &Value::Int(wanted)) => match setting.platform_max {
            Some(there) if wanted > there => {
                let message = format!("invalid value for parameter \"{name}\": {wanted}");
                Err(PgError::new(SqlState::INVALID_PARAMETER_VALUE, message)
                    .detail(format!("\"{name}\" must not exceed {there}kB."))
                    .hint(
                        "Increase the platform's stack depth limit via \"ulimit -s\" or local \
                         equivalent.",
                    ))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The items of a comma-separated list, without quotes.
pub fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(|w| w.trim().trim_matches('"')).filter(|w| !w.is_empty())
}
