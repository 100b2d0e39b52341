//! The settings of a session: SET, SHOW, and the effects of changed values.
//!
//! Counterpart: utils/misc/guc.c, commands/variable.c.

use crate::resolved::Resolved;
use crate::state::State;
use catalog::rows::PgTsConfig;
use client::statementlog::LoggedStatements;
use engine::{CommitDelay, Isolation, PoolSettings, RmgrId};
use ids::Oid;
use ids::code::AmType;
use parameters::LogLevels;
use parameters::{
    apply_cost, apply_quoting, apply_to_types, canonical, client_conversions, isolation_name,
    isolation_named, wrong_value,
};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::{Action, Id, Value};
use stats::{Consistency, TrackFunctions};
use std::sync::Arc;
use std::time::Duration;
use types::RegKind;
use types::settings::{TextDecoder, TextEncoder};

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
    "track_io_timing",
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

impl State {
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
            times_io: store.named("track_io_timing").as_bool(),
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
        let known = |state: &State, name: &str| {
            state.roles.set.iter().find(|(n, ..)| n == name).map(|(_, oid, su)| (*oid, *su))
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
