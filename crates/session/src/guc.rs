//! The settings of a session: SET, SHOW, and the effects of changed values.
//!
//! Counterpart: utils/misc/guc.c, commands/variable.c.

use crate::core::Core;
use crate::instance::LogLevels;
use crate::resolved::Resolved;
use crate::xact::{isolation_name, isolation_named};
use catalog::conversion::Conversion;
use catalog::encoding::UTF8;
use catalog::format_type::Quoting;
use catalog::rows::PgTsConfig;
use client::statementlog::LoggedStatements;
use engine::{CommitDelay, Isolation, PoolSettings, RmgrId};
use ids::Oid;
use ids::code::AmType;
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use planner::{ConstraintExclusion, CostSettings};
use settings::{Action, Id, SessionValues, Setting, Value};
use stats::{Consistency, TrackFunctions};
use std::sync::Arc;
use std::time::Duration;
use types::RegKind;
use types::datetime::interval;
use types::settings::{ByteaOutput, DateOrder, DateStyle, IntervalStyle, TextDecoder, TextEncoder};
use types::zone::Zone;

fn wrong_value(setting: &Setting, text: &str, detail: Option<String>) -> PgError {
    let error = setting.invalid(text);
    match detail {
        Some(detail) => error.detail(detail),
        None => error,
    }
}

/// Parses a `DateStyle`. A part that is not specified keeps its old value.
fn date_style(
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
pub(crate) fn canonical(store: &SessionValues, setting: &Setting, text: &str) -> Result<String> {
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
pub(crate) fn client_conversions(server: &str, client: &str) -> Option<(Conversion, Conversion)> {
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

fn missing_notice(kind: &str, name: &str) -> PgError {
    pg_err!(UNDEFINED_OBJECT, "{kind} \"{name}\" does not exist").severity(Severity::Notice)
}

/// The warning that SERIALIZABLE is not enforced.
#[cold]
fn not_serializable() -> PgError {
    pg_err!(WARNING, "isolation level SERIALIZABLE is not enforced beyond REPEATABLE READ")
        .severity(Severity::Warning)
        .detail(
            "Concurrent transactions can have a result that no serial order of them would have.",
        )
        .hint("Lock the rows that a decision depends on, for example with SELECT ... FOR UPDATE.")
}

/// Settings of the storage layer.
const STORAGE_SETTINGS: &[&str] = &[
    "maintenance_work_mem",
    "work_mem",
    "gin_pending_list_limit",
    "synchronous_commit",
    "lock_timeout",
    "deadlock_timeout",
    "temp_buffers",
    "temp_file_limit",
    "log_temp_files",
    "default_toast_compression",
    "wal_compression",
    "wal_consistency_checking",
    "track_wal_io_timing",
    "commit_delay",
    "commit_siblings",
    "backend_flush_after",
    "wal_skip_threshold",
    "zero_damaged_pages",
    "ignore_checksum_failure",
    "norsu.wal_update_delta",
    "norsu.bottom_up_deletion",
];

/// Applies a setting that functions on values depend on.
fn apply_to_types(types: &mut types::Settings, name: &str, value: &Value) {
    match name {
        "DateStyle" => {
            if let Ok((style, order)) =
                date_style(value.as_text(), (DateStyle::Iso, DateOrder::Mdy))
            {
                types.date_style = style;
                types.date_order = order;
            }
        }
        "IntervalStyle" => {
            types.interval_style = match value.as_text() {
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                _ => IntervalStyle::Postgres,
            }
        }
        "TimeZone" => {
            if let Some(zone) = Zone::named(value.as_text()) {
                types.time_zone = zone;
            }
        }
        "extra_float_digits" => types.extra_float_digits = value.as_int() as i32,
        "bytea_output" => {
            types.bytea_output = match value.as_text() {
                "escape" => ByteaOutput::Escape,
                _ => ByteaOutput::Hex,
            }
        }
        "array_nulls" => types.array_nulls = value.as_bool(),
        "quote_all_identifiers" => types.quote_all_identifiers = value.as_bool(),
        "lc_numeric" => types.formats.number = locale::number_format(value.as_text()),
        "lc_monetary" => types.formats.money = locale::money_format(value.as_text()),
        "lc_time" => types.formats.time = locale::time_names(value.as_text()),
        "max_stack_depth" => {
            types.max_stack_kb = u32::try_from(value.as_int()).unwrap_or(u32::MAX);
        }
        _ => {}
    }
}

/// Applies a setting that SQL texts that are shown depend on.
fn apply_quoting(quoting: &mut Quoting, name: &str, value: &Value) {
    match name {
        "quote_all_identifiers" => quoting.all_identifiers = value.as_bool(),
        "standard_conforming_strings" => quoting.escapes = !value.as_bool(),
        _ => {}
    }
}

/// Applies a setting of the planner.
fn apply_cost(costs: &mut CostSettings, name: &str, value: &Value, store: &SessionValues) {
    match name {
        "work_mem" => {
            costs.work_mem = value.as_int() as f64 * 1024.0;
            costs.hash_mem = costs.work_mem * store.named("hash_mem_multiplier").as_real();
        }
        "hash_mem_multiplier" => costs.hash_mem = costs.work_mem * value.as_real(),
        "seq_page_cost" => costs.seq_page = value.as_real(),
        "random_page_cost" => costs.random_page = value.as_real(),
        "cpu_tuple_cost" => costs.cpu_tuple = value.as_real(),
        "cpu_index_tuple_cost" => costs.cpu_index_tuple = value.as_real(),
        "cpu_operator_cost" => costs.cpu_operator = value.as_real(),
        "effective_cache_size" => costs.effective_cache_size = value.as_int() as f64,
        "enable_seqscan" => costs.enable_seqscan = value.as_bool(),
        "enable_indexscan" => costs.enable_indexscan = value.as_bool(),
        "enable_indexonlyscan" => costs.enable_indexonlyscan = value.as_bool(),
        "enable_bitmapscan" => costs.enable_bitmapscan = value.as_bool(),
        "enable_tidscan" => costs.enable_tidscan = value.as_bool(),
        "enable_nestloop" => costs.enable_nestloop = value.as_bool(),
        "enable_hashjoin" => costs.enable_hashjoin = value.as_bool(),
        "enable_mergejoin" => costs.enable_mergejoin = value.as_bool(),
        "enable_sort" => costs.enable_sort = value.as_bool(),
        "enable_hashagg" => costs.enable_hashagg = value.as_bool(),
        "constraint_exclusion" => {
            costs.constraint_exclusion = match value.as_text() {
                "on" => ConstraintExclusion::On,
                "off" => ConstraintExclusion::Off,
                _ => ConstraintExclusion::Partition,
            };
        }
        "enable_partition_pruning" => costs.enable_partition_pruning = value.as_bool(),
        "enable_memoize" => costs.enable_memoize = value.as_bool(),
        "enable_incremental_sort" => costs.enable_incremental_sort = value.as_bool(),
        "enable_partitionwise_join" => costs.enable_partitionwise_join = value.as_bool(),
        "enable_partitionwise_aggregate" => {
            costs.enable_partitionwise_aggregate = value.as_bool();
        }
        "enable_material" => costs.enable_material = value.as_bool(),
        "from_collapse_limit" => costs.collapse.from = value.as_int().max(1) as usize,
        "join_collapse_limit" => costs.collapse.join = value.as_int().max(1) as usize,
        _ => {}
    }
}

impl Core {
    /// Applies changed settings to the state of the session and of the crates below.
    pub(crate) fn apply_settings(&mut self) {
        if !self.store.has_changed() {
            return;
        }
        let mut storage = false;
        for id in self.store.take_changed() {
            storage |= self.apply(id);
        }
        if storage {
            self.apply_storage();
        }
        self.settings_changed();
    }

    /// As [`Self::apply_settings`] for all settings, in a new session.
    pub(crate) fn apply_all_settings(&mut self) {
        self.store.take_changed();
        for id in self.store.base().registry.clone().ids() {
            self.apply(id);
        }
        self.apply_storage();
        self.settings_changed();
    }

    fn settings_changed(&mut self) {
        self.environment.settings_version += 1;
        self.values.resolved = Resolved::new(&self.store);
        self.apply_statement_settings();
        self.report_due = true;
    }

    /// Applies one setting. Returns true for a setting of the storage layer
    /// ([`Self::apply_storage`]).
    fn apply(&mut self, id: Id) -> bool {
        let store = &self.store;
        let name = store.base().registry.setting(id).name;
        let value = store.value(id);
        match name {
            "search_path" => self.catalog.set_search_path(value.as_text()),
            "work_mem" => {
                self.values.work_mem_bytes = value.as_int() as usize * 1024;
                apply_cost(&mut self.values.costs, name, value, store);
                return true;
            }
            "role" | "session_authorization" => self.apply_users(),
            "client_encoding" => {
                let server = store.named("server_encoding").as_text();
                let conversions = client_conversions(server, value.as_text());
                let (to, from) = conversions.unzip();
                let types = &mut self.values.types;
                types.client_encoder = to.map(|to| Arc::new(to) as Arc<dyn TextEncoder>);
                types.client_decoder = from.map(|from| Arc::new(from) as Arc<dyn TextDecoder>);
            }
            _ if STORAGE_SETTINGS.contains(&name) => return true,
            _ => {
                apply_to_types(&mut self.values.types, name, value);
                apply_quoting(&mut self.catalog.quoting, name, value);
                apply_cost(&mut self.values.costs, name, value, store);
                self.apply_to_log(id);
            }
        }
        false
    }

    /// Applies a setting that affects the server log or `pg_stat_activity`.
    fn apply_to_log(&mut self, id: Id) {
        let store = &self.store;
        let value = store.value(id);
        match store.base().registry.setting(id).name {
            "application_name" => {
                self.activity.client.application = value.as_text().to_owned();
                self.publish_log_origin();
                let name = Arc::from(value.as_text());
                self.show_activity(|shown| shown.application = name);
            }
            "log_statement" => {
                self.activity.log.which = match value.as_text() {
                    "all" => LoggedStatements::All,
                    "mod" => LoggedStatements::Mod,
                    "ddl" => LoggedStatements::Ddl,
                    _ => LoggedStatements::None,
                }
            }
            "log_min_messages" | "log_min_error_statement" | "log_error_verbosity" => {
                let text = |name: &str| store.named(name).as_text();
                let least = text("log_min_messages");
                let statement = text("log_min_error_statement");
                let levels = LogLevels::new(least, statement, text("log_error_verbosity"));
                self.activity.client.levels = Some(levels);
                self.publish_log_origin();
            }
            "log_statement_stats" => self.activity.log.stats = value.as_bool(),
            "log_parser_stats" => self.activity.log.parser_stats = value.as_bool(),
            "log_planner_stats" => self.activity.log.planner_stats = value.as_bool(),
            "log_executor_stats" => self.activity.log.executor_stats = value.as_bool(),
            "log_duration" => self.activity.log.duration = value.as_bool(),
            "log_min_duration_statement" => self.activity.log.min_duration = value.as_int(),
            "track_activity_query_size" => {
                self.activity.activity_bytes_max = (value.as_int().max(1) - 1) as usize;
            }
            "track_activities" => self.activity.track_activities = value.as_bool(),
            "track_counts" => self.backend.stats.set_track_counts(value.as_bool()),
            "track_functions" => {
                self.backend.stats.track_functions = match value.as_text() {
                    "all" => TrackFunctions::All,
                    "pl" => TrackFunctions::Procedural,
                    _ => TrackFunctions::None,
                }
            }
            "stats_fetch_consistency" => {
                self.backend.stats.set_consistency(match value.as_text() {
                    "none" => Consistency::None,
                    "snapshot" => Consistency::Snapshot,
                    _ => Consistency::Cache,
                });
            }
            _ => {}
        }
    }

    /// Publishes the log origin, which other threads use for reports about this session.
    fn publish_log_origin(&self) {
        if let Some((_, handle)) = &self.server {
            handle.log_origin.lock().clone_from(&self.activity.client);
        }
    }

    fn apply_storage(&mut self) {
        let store = &self.store;
        let mut settings = self.backend.settings().clone();
        settings.synchronous_commit = store.named("synchronous_commit").as_text() != "off";
        let ms = u64::try_from(store.named("lock_timeout").as_int()).unwrap_or(0);
        settings.lock_timeout = Duration::from_millis(ms);
        let kilobytes = |n: i64| u64::try_from(n).ok().map(|n| n * 1024);
        settings.temp_file_limit = kilobytes(store.named("temp_file_limit").as_int());
        settings.log_temp_files = kilobytes(store.named("log_temp_files").as_int());
        let ms = u64::try_from(store.named("deadlock_timeout").as_int()).unwrap_or(1000);
        settings.deadlock_timeout = Duration::from_millis(ms);
        settings.temp_buffers = store.named("temp_buffers").as_int() as usize;
        settings.toast_compression = match store.named("default_toast_compression").as_text() {
            "lz4" => engine::ToastCompression::Lz4,
            _ => engine::ToastCompression::Pglz,
        };
        settings.maintenance_work_mem =
            store.named("maintenance_work_mem").as_int() as usize * 1024;
        settings.work_mem = store.named("work_mem").as_int() as usize * 1024;
        settings.gin_pending_list_limit =
            store.named("gin_pending_list_limit").as_int() as usize * 1024;
        settings.wal_compression = Some(match store.named("wal_compression").as_text() {
            "off" => engine::WalCompression::Off,
            "lz4" => engine::WalCompression::Lz4,
            "zstd" => engine::WalCompression::Zstd,
            _ => engine::WalCompression::Pglz,
        });
        let checked = store.named("wal_consistency_checking");
        settings.wal_consistency_checking = Some(RmgrId::mask(checked.as_text()));
        let number = |name: &str| u32::try_from(store.named(name).as_int()).unwrap_or(0);
        settings.commit_delay = CommitDelay {
            span: Duration::from_micros(number("commit_delay").into()),
            siblings: number("commit_siblings"),
        };
        settings.wal_skip_threshold = number("wal_skip_threshold").into();
        settings.pool = PoolSettings {
            zero_damaged_pages: store.named("zero_damaged_pages").as_bool(),
            ignore_checksum_failure: store.named("ignore_checksum_failure").as_bool(),
            flush_after: number("backend_flush_after"),
        };
        settings.track_wal_io_timing = store.named("track_wal_io_timing").as_bool();
        settings.wal_update_delta = store.named("norsu.wal_update_delta").as_bool();
        settings.bottom_up_deletion = store.named("norsu.bottom_up_deletion").as_bool();
        self.backend.configure(settings);
    }

    /// Sets a setting; `None` resets it to its default.
    pub(crate) fn set(&mut self, name: &str, text: Option<&str>, action: Action) -> Result<()> {
        let level = self.backend.txn.nesting();
        let lower = name.to_ascii_lowercase();
        if let Some(text) = text {
            match lower.as_str() {
                "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => {
                    return self.set_characteristic(&lower, text);
                }
                "role" => return self.set_role(text, action, level),
                "session_authorization" => {
                    return self.set_authorization(Some(text), action, level);
                }
                "seed" => {
                    let (_, value) = self.store.prepare(name, text, self.roles.superuser)?;
                    types::fn_context::SessionContext::set_seed(self, value.as_real());
                    return Ok(());
                }
                _ => {}
            }
        } else if lower == "role" {
            let id = self.store.base().registry.get("role")?;
            let begun_with = self.store.reset_value(id).as_text().to_owned();
            return self.set_role(&begun_with, action, level);
        } else if lower == "session_authorization" {
            return self.set_authorization(None, action, level);
        } else if lower == "transaction_isolation" {
            // The default does not depend on `default_transaction_isolation`.
            return self.set_characteristic(&lower, "read committed");
        }
        let registry = self.store.base().registry.clone();
        let checked = match (text, registry.find(name)) {
            (Some(text), Some(id)) => Some(canonical(&self.store, registry.setting(id), text)?),
            (text, _) => text.map(str::to_owned),
        };
        if let Some(text) = text {
            self.check_named_object(&lower, text)?;
        }
        let checked = match (text, lower.as_str()) {
            (Some(text), "default_text_search_config") => Some(self.qualified_config(text)?),
            _ => checked,
        };
        let allowed = self.may_set(name)?;
        self.store.set(name, checked.as_deref(), action, level, allowed)?;
        self.apply_settings();
        Ok(())
    }

    /// Error 22023 for a value that names an object that does not exist. Counterpart:
    /// `check_default_table_access_method`, `check_default_tablespace`.
    fn check_named_object(&mut self, name: &str, text: &str) -> Result<()> {
        let missing = match name {
            "default_table_access_method" if text.is_empty() => {
                Some("default_table_access_method cannot be empty.".to_owned())
            }
            "default_table_access_method" => match self.cat().find_access_method(text)? {
                Some(am) if am.amtype != AmType::Table => {
                    return Err(pg_err!(
                        OBJECT_NOT_IN_PREREQUISITE_STATE,
                        "access method \"{text}\" is not of type TABLE"
                    ));
                }
                Some(_) => None,
                None => Some(format!("Table access method \"{text}\" does not exist.")),
            },
            "default_tablespace" if !text.is_empty() => {
                let found = self.cat().find_tablespace(text)?;
                found.is_none().then(|| format!("Tablespace \"{text}\" does not exist."))
            }
            "temp_tablespaces" => {
                let names = catalog::namespace::split_identifiers(text).unwrap_or_default();
                for name in names.iter().filter(|n| !n.is_empty()) {
                    if self.cat().find_tablespace(name)?.is_none() {
                        return Err(pg_err!(
                            UNDEFINED_OBJECT,
                            "tablespace \"{name}\" does not exist"
                        ));
                    }
                }
                None
            }
            _ => None,
        };
        let Some(detail) = missing else { return Ok(()) };
        let registry = self.store.base().registry.clone();
        Err(wrong_value(registry.setting(registry.get(name)?), text, Some(detail)))
    }

    /// The schema-qualified name of a text search configuration, so that it no longer depends on
    /// the search path. Counterpart: `check_TSCurrentConfig`.
    fn qualified_config(&mut self, text: &str) -> Result<String> {
        let Some(oid) = self.find_config(text)? else {
            let registry = self.store.base().registry.clone();
            let setting = registry.setting(registry.get("default_text_search_config")?);
            return Err(wrong_value(setting, text, None));
        };
        let mut cat = self.cat();
        let Some(row) = cat.search::<PgTsConfig>(catalog::cache::TSCONFIGOID, &[oid.into()])?
        else {
            return Err(PgError::internal("cache lookup failed for a text search configuration"));
        };
        let schema = cat.namespace_name(row.cfgnamespace)?.unwrap_or_default();
        let quote = catalog::format_type::quote_identifier;
        Ok(format!("{}.{}", quote(schema.as_str()), quote(row.cfgname.as_str())))
    }

    /// A text search configuration; also `None` if its schema does not exist.
    fn find_config(&mut self, text: &str) -> Result<Option<Oid>> {
        match sysfn::reg::lookup_name(self, RegKind::Config, text) {
            Err(e) if e.code() == SqlState::INVALID_SCHEMA_NAME => Ok(None),
            found => found,
        }
    }

    /// A notice for an object that does not exist, in a value that is only stored (ALTER ROLE SET
    /// and ALTER DATABASE SET). The object may exist when the value is used.
    pub(crate) fn notice_of_missing_object(&mut self, name: &str, text: &str) -> Result<()> {
        let (kind, found) = match name {
            "default_table_access_method" if !text.is_empty() => {
                ("table access method", self.cat().find_access_method(text)?.is_some())
            }
            "default_tablespace" if !text.is_empty() => {
                ("tablespace", self.cat().find_tablespace(text)?.is_some())
            }
            "default_text_search_config" => {
                ("text search configuration", self.find_config(text)?.is_some())
            }
            "temp_tablespaces" => {
                let names = catalog::namespace::split_identifiers(text).unwrap_or_default();
                for name in names.iter().filter(|n| !n.is_empty()) {
                    if self.cat().find_tablespace(name)?.is_none() {
                        self.notices.push(missing_notice("tablespace", name));
                    }
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        if !found {
            self.notices.push(missing_notice(kind, text));
        }
        Ok(())
    }

    /// Stores the role of a name in SET ROLE. A rollback may restore the name at a time when no
    /// catalog can be read.
    fn remember_role(&mut self, name: &str, oid: Oid, superuser: bool) {
        self.roles.set.retain(|(known, ..)| known != name);
        self.roles.set.push((name.to_owned(), oid, superuser));
    }

    fn set_role(&mut self, name: &str, action: Action, level: usize) -> Result<()> {
        self.check_may_change_role("role")?;
        let id = self.store.base().registry.get("role")?;
        self.check_role(name)?;
        self.store.set_value(id, Value::Text(name.into()), action, level);
        self.apply_settings();
        Ok(())
    }

    /// Error 42501 unless the session user may set the role. Counterpart: `check_role`.
    fn check_role(&mut self, name: &str) -> Result<()> {
        if name == "none" {
            return Ok(());
        }
        let row = self.cat().find_role(name)?;
        let row =
            row.ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "role \"{name}\" does not exist"))?;
        let session_user = self.catalog.session_user;
        if !self.roles.session_superuser && !self.cat().is_member(session_user, row.oid, false)? {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to set role \"{name}\""
            ));
        }
        self.remember_role(name, row.oid, row.rolsuper);
        Ok(())
    }

    /// Checks an initial value of the session, if the check needs catalogs.
    pub(crate) fn check_at_start(&mut self, name: &str, text: &str) -> Result<()> {
        match name.to_ascii_lowercase().as_str() {
            "role" => self.check_role(text),
            "session_authorization" => self.check_authorization(text),
            // Only SET reports errors for these settings.
            "temp_tablespaces" => Ok(()),
            name => self.check_named_object(name, text),
        }
    }

    /// Sets `session_authorization`; `None` means the role that logged in.
    fn set_authorization(
        &mut self,
        name: Option<&str>,
        action: Action,
        level: usize,
    ) -> Result<()> {
        self.check_may_change_role("session_authorization")?;
        let id = self.store.base().registry.get("session_authorization")?;
        // The current role is reset to the role with which the session started.
        let role_id = self.store.base().registry.get("role")?;
        let (name, role) = match name {
            Some(name) => (name.to_owned(), "none".into()),
            None => {
                let begun_with = |id| self.store.reset_value(id).as_text();
                (begun_with(id).to_owned(), begun_with(role_id).into())
            }
        };
        self.check_authorization(&name)?;
        self.store.set_value(role_id, Value::Text(role), action, level);
        self.store.set_value(id, Value::Text(name.into()), action, level);
        self.apply_settings();
        Ok(())
    }

    /// Error 42501 unless the session user may be set to the role. Counterpart:
    /// `check_session_authorization`.
    fn check_authorization(&mut self, name: &str) -> Result<()> {
        let row = self.cat().find_role(name)?;
        let row =
            row.ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "role \"{name}\" does not exist"))?;
        if row.oid != self.roles.login_user && !self.roles.login_superuser {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to set session authorization \"{name}\""
            ));
        }
        self.remember_role(name, row.oid, row.rolsuper);
        Ok(())
    }

    /// Applies `session_authorization` and `role` to the session.
    fn apply_users(&mut self) {
        let known = |core: &Core, name: &str| {
            core.roles.set.iter().find(|(n, ..)| n == name).map(|(_, oid, su)| (*oid, *su))
        };
        let login = (self.roles.login_user, self.roles.login_superuser);
        let session = self.store.named("session_authorization").as_text();
        let session = known(self, session).unwrap_or(login);
        let current = match self.store.named("role").as_text() {
            "none" => session,
            role => known(self, role).unwrap_or(session),
        };
        self.roles.session_superuser = session.1;
        self.roles.superuser = current.1;
        self.catalog.session_user = session.0;
        self.catalog.set_user(current.0);
        self.store.set_internal("is_superuser", Value::Bool(current.1));
        self.reapply_switched_role();
    }

    /// Sets `transaction_isolation`, `transaction_read_only` or `transaction_deferrable`.
    pub(crate) fn set_characteristic(&mut self, name: &str, value: &str) -> Result<()> {
        let truth = matches!(value, "1" | "on" | "true");
        match name {
            "transaction_isolation" => {
                let isolation = isolation_named(&value.to_ascii_lowercase()).ok_or_else(|| {
                    pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "invalid value for parameter \"transaction_isolation\": \"{value}\""
                    )
                    .hint(
                        "Available values: serializable, repeatable read, read committed, \
                         read uncommitted.",
                    )
                })?;
                self.set_isolation(isolation)
            }
            "transaction_read_only" => {
                if !truth && self.transaction.mode.read_only {
                    let fault = if self.backend.txn.nesting() > 1 {
                        "cannot set transaction read-write mode inside a read-only transaction"
                    } else if self.transaction.mode.queried {
                        "transaction read-write mode must be set before any query"
                    } else {
                        ""
                    };
                    if !fault.is_empty() {
                        return Err(pg_err!(ACTIVE_SQL_TRANSACTION, "{fault}"));
                    }
                }
                self.transaction.mode.read_only = truth;
                Ok(())
            }
            "transaction_deferrable" => {
                let fault = if self.backend.txn.nesting() > 1 {
                    "cannot be called within a subtransaction"
                } else if self.transaction.mode.queried {
                    "must be called before any query"
                } else {
                    ""
                };
                if !fault.is_empty() {
                    return Err(pg_err!(
                        ACTIVE_SQL_TRANSACTION,
                        "SET TRANSACTION [NOT] DEFERRABLE {fault}"
                    ));
                }
                self.transaction.mode.deferrable = truth;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn set_isolation(&mut self, isolation: Isolation) -> Result<()> {
        if isolation == self.backend.txn.isolation() {
            return Ok(());
        }
        if self.transaction.mode.queried {
            return Err(pg_err!(
                ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION ISOLATION LEVEL must be called before any query"
            ));
        }
        if self.backend.txn.nesting() > 1 {
            return Err(pg_err!(
                ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction"
            ));
        }
        self.backend.txn.set_isolation(isolation);
        self.warn_of_isolation(isolation);
        Ok(())
    }

    /// Warns client and log about a transaction with isolation level SERIALIZABLE.
    pub(crate) fn warn_of_isolation(&mut self, isolation: Isolation) {
        if isolation == Isolation::Serializable {
            self.notices.push(not_serializable());
        }
    }

    /// The value of a setting that is a transaction characteristic.
    pub(crate) fn show_characteristic(&self, name: &str) -> Option<String> {
        let truth = |on: bool| (if on { "on" } else { "off" }).to_owned();
        match name {
            "transaction_isolation" => {
                Some(isolation_name(self.backend.txn.isolation()).to_owned())
            }
            "transaction_read_only" => Some(truth(self.transaction.mode.read_only)),
            "transaction_deferrable" => Some(truth(self.transaction.mode.deferrable)),
            _ => None,
        }
    }

    /// The value of a setting as SHOW prints it.
    pub(crate) fn show(&self, name: &str) -> Result<String> {
        if let Some(value) = self.show_characteristic(&name.to_ascii_lowercase()) {
            return Ok(value);
        }
        self.store.show(name)
    }
}
