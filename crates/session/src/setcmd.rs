//! SET, SHOW, RESET, ALTER SYSTEM; what the values mean for the session.
//! Counterpart: guc.c (statements), variable.c (checks and effects).

use crate::resolved::Resolved;
use crate::session::Session;
use crate::utility::text_field;
use crate::xact::Block;
use parse::ast::{Node, Value as Const, VariableSetKind, VariableSetStmt};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::{Action, Context, Id, Setting, Store, Value, conf};
use std::time::Duration;
use types::settings::{ByteaOutput, DateOrder, DateStyle, IntervalStyle};
use types::zone::Zone;
use wire::FieldDescription;

fn wrong_value(setting: &Setting, text: &str, detail: Option<String>) -> PgError {
    let error = setting.invalid(text);
    match detail {
        Some(detail) => error.detail(detail),
        None => error,
    }
}

/// `DateStyle`: style and order, from what they were.
fn date_style(
    text: &str,
    old: (DateStyle, DateOrder),
) -> Result<(DateStyle, DateOrder), Option<String>> {
    let (mut style, mut order): (Option<DateStyle>, Option<DateOrder>) = (None, None);
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
                if s == DateStyle::German && order.is_none() {
                    order = Some(DateOrder::Dmy);
                }
            }
            (None, Some(o)) if order.is_some_and(|known| known != o) => return Err(conflict()),
            (None, Some(o)) => order = Some(o),
            (None, None) if lower == "default" => {
                style = style.or(Some(DateStyle::Iso));
                order = order.or(Some(DateOrder::Mdy));
            }
            (None, None) => return Err(Some(format!("Unrecognized key word: \"{word}\"."))),
        }
    }
    Ok((style.unwrap_or(old.0), order.unwrap_or(old.1)))
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

/// A zone by its name, or hours east of Greenwich.
fn zone(text: &str) -> Option<Zone> {
    if let Ok(hours) = text.trim().parse::<f64>() {
        return Zone::fixed((hours * 3600.0) as i32);
    }
    Zone::named(text)
}

/// DateStyle from a file, as clients expect it to be spelled: drivers look for `ISO, MDY`.
pub fn spell_date_style(base: &mut settings::Base) {
    if let Ok(style) = date_style(base.text("DateStyle"), (DateStyle::Iso, DateOrder::Mdy)) {
        base.respell("DateStyle", settings::Value::Text(date_style_text(style).into()));
    }
}

/// What a text becomes for parameters whose values are more than a number or a word.
pub(crate) fn canonical(store: &Store, setting: &Setting, text: &str) -> Result<String> {
    match setting.name {
        "DateStyle" => {
            let old =
                date_style(store.named("DateStyle").as_text(), (DateStyle::Iso, DateOrder::Mdy));
            let old = old.unwrap_or((DateStyle::Iso, DateOrder::Mdy));
            match date_style(text, old) {
                Ok(new) => Ok(date_style_text(new)),
                Err(detail) => Err(wrong_value(setting, text, detail)),
            }
        }
        "TimeZone" | "log_timezone" => match zone(text) {
            Some(zone) => Ok(zone.name().to_owned()),
            None => Err(wrong_value(setting, text, None)),
        },
        "client_encoding" => match catalog::encoding::number(text) {
            Some(number) => {
                let name = catalog::encoding::name(number);
                if matches!(name, "UTF8" | "SQL_ASCII") {
                    Ok(name.to_owned())
                } else {
                    Err(pg_err!(
                        FEATURE_NOT_SUPPORTED,
                        "conversion between {name} and UTF8 is not supported"
                    ))
                }
            }
            None => Err(wrong_value(setting, text, None)),
        },
        "application_name" | "cluster_name" => {
            let plain = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
            Ok(text.chars().map(plain).take(63).collect())
        }
        "search_path" | "temp_tablespaces" => {
            if catalog::namespace::split_identifiers(text).is_none() {
                let detail = "List syntax is invalid.".to_owned();
                return Err(wrong_value(setting, text, Some(detail)));
            }
            Ok(text.to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}

impl Session {
    /// Takes changed parameters over into what the crates below look at.
    pub(crate) fn apply_settings(&mut self) {
        if !self.core.store.is_touched() {
            return;
        }
        for id in self.core.store.take_touched() {
            self.apply(id);
        }
        self.settings_changed();
    }

    /// As [`Self::apply_settings`], of a new session: all of them.
    pub(crate) fn apply_all_settings(&mut self) {
        self.core.store.take_touched();
        for id in self.core.store.base().registry.clone().ids() {
            self.apply(id);
        }
        self.settings_changed();
    }

    fn settings_changed(&mut self) {
        self.core.settings_version += 1;
        self.resolved = Resolved::new(&self.core.store);
        self.report_due = true;
    }

    fn apply(&mut self, id: Id) {
        let store = &self.core.store;
        let setting = store.base().registry.setting(id);
        let value = store.value(id);
        let types = &mut self.core.types;
        let costs = &mut self.core.costs;
        match setting.name {
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
                if let Some(zone) = zone(value.as_text()) {
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
            "search_path" => self.core.catalog.set_search_path(value.as_text()),
            "work_mem" => {
                self.core.work_mem_bytes = value.as_int() as usize * 1024;
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
            "enable_memoize" => costs.enable_memoize = value.as_bool(),
            "enable_incremental_sort" => costs.enable_incremental_sort = value.as_bool(),
            "enable_material" => costs.enable_material = value.as_bool(),
            "join_collapse_limit" => costs.join_collapse_limit = value.as_int().max(1) as usize,
            "application_name" => self.speaker.application = value.as_text().to_owned(),
            "synchronous_commit"
            | "lock_timeout"
            | "deadlock_timeout"
            | "temp_buffers"
            | "temp_file_limit"
            | "log_temp_files"
            | "default_toast_compression"
            | "wal_compression" => self.apply_storage(),
            _ => {}
        }
    }

    fn apply_storage(&mut self) {
        let store = &self.core.store;
        let mut settings = self.core.backend.settings().clone();
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
        settings.wal_compression = Some(match store.named("wal_compression").as_text() {
            "off" => engine::WalCompression::Off,
            "lz4" => engine::WalCompression::Lz4,
            "zstd" => engine::WalCompression::Zstd,
            _ => engine::WalCompression::Pglz,
        });
        self.core.backend.configure(settings);
    }

    /// The text of a SET's arguments. `None`: DEFAULT.
    fn set_text(&self, name: &str, args: &[Node]) -> Result<Option<String>> {
        if args.is_empty() {
            return Ok(None);
        }
        let registry = &self.core.store.base().registry;
        let flags = registry.find(name).map(|id| registry.setting(id).flags).unwrap_or_default();
        if args.len() > 1 && !flags.list {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "SET {name} takes only one argument"));
        }
        let mut words = Vec::new();
        for arg in args {
            words.push(match constant(arg)? {
                Const::String(s) if matches!(arg, Node::TypeCast(_)) => {
                    interval_hours(s).unwrap_or_else(|| s.to_string())
                }
                Const::String(s) if flags.quoted => parse::quote_identifier(s).to_string(),
                Const::String(s) | Const::Float(s) | Const::BitString(s) => s.to_string(),
                Const::Integer(i) => i.to_string(),
                Const::Boolean(b) => (if *b { "true" } else { "false" }).to_owned(),
                Const::Null => String::new(),
            });
        }
        Ok(Some(words.join(", ")))
    }

    /// SET and RESET.
    pub(crate) fn set_statement(&mut self, stmt: &VariableSetStmt) -> Result<&'static str> {
        let action = if stmt.is_local { Action::Local } else { Action::Set };
        if stmt.is_local && self.xact.block == Block::Single {
            self.warn_no_block("SET LOCAL");
        }
        let name = stmt.name.as_deref().unwrap_or_default();
        match stmt.kind {
            VariableSetKind::SetValue => {
                let text = self.set_text(name, &stmt.args)?;
                self.set(name, text.as_deref(), action)?;
                Ok("SET")
            }
            VariableSetKind::SetDefault => {
                self.set(name, None, action)?;
                Ok("SET")
            }
            VariableSetKind::SetCurrent => {
                let text = self.core.store.show(name)?;
                self.set(name, Some(&text), action)?;
                Ok("SET")
            }
            VariableSetKind::Reset => {
                self.set(name, None, action)?;
                Ok("RESET")
            }
            VariableSetKind::ResetAll => {
                self.core.store.reset_all(self.core.backend.txn.nesting());
                self.apply_settings();
                Ok("RESET")
            }
            VariableSetKind::SetMulti => {
                self.set_multi(name, stmt)?;
                Ok("SET")
            }
        }
    }

    /// The value of a SET clause in ALTER DATABASE and the like: as it would be set, but only checked.
    pub(crate) fn checked_setting(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>> {
        let name = stmt.name.as_deref().unwrap_or_default();
        let text = match stmt.kind {
            VariableSetKind::SetValue => self.set_text(name, &stmt.args)?,
            VariableSetKind::SetCurrent => Some(self.core.store.show(name)?),
            _ => None,
        };
        let registry = self.core.store.base().registry.clone();
        match (&text, registry.find(name)) {
            (Some(text), Some(id)) => {
                let setting = registry.setting(id);
                self.core.store.check_context(setting, self.superuser, false)?;
                setting.parse(text)?;
                canonical(&self.core.store, setting, text)?;
            }
            (None, Some(id)) => {
                let setting = registry.setting(id);
                self.core.store.check_context(setting, self.superuser, false)?;
            }
            (_, None) if !name.contains('.') => {
                registry.get(name)?;
            }
            _ => {}
        }
        Ok(text)
    }

    fn warn_no_block(&mut self, what: &str) {
        let message = format!("{what} can only be used in transaction blocks");
        let warning = PgError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, message);
        self.core.notices.push(warning.severity(Severity::Warning));
    }

    /// SET TRANSACTION and SET SESSION CHARACTERISTICS.
    fn set_multi(&mut self, name: &str, stmt: &VariableSetStmt) -> Result<()> {
        let options = stmt.args.iter().filter_map(|n| match n {
            Node::DefElem(d) => Some((**d).clone()),
            _ => None,
        });
        let options: Vec<_> = options.collect();
        match name {
            "TRANSACTION" => {
                if self.xact.block == Block::Single {
                    self.warn_no_block("SET TRANSACTION");
                }
                self.set_characteristics(&options)
            }
            "SESSION CHARACTERISTICS" => {
                for option in options {
                    let name = format!("default_{}", option.defname);
                    let args: Vec<Node> = option.arg.into_iter().collect();
                    let text = self.set_text(&name, &args)?;
                    self.set(&name, text.as_deref(), Action::Set)?;
                }
                Ok(())
            }
            _ => Err(PgError::unsupported(format!("SET {name}"))),
        }
    }

    /// Sets a parameter; `None` is its default.
    pub(crate) fn set(&mut self, name: &str, text: Option<&str>, action: Action) -> Result<()> {
        let level = self.core.backend.txn.nesting();
        let lower = name.to_ascii_lowercase();
        if let Some(text) = text {
            match lower.as_str() {
                "transaction_isolation" | "transaction_read_only" | "transaction_deferrable" => {
                    return self.set_characteristic(&lower, text);
                }
                "role" => return self.set_role(text, action, level),
                "session_authorization" => return self.set_authorization(text, action, level),
                "seed" => {
                    let (_, value) = self.core.store.prepare(name, text, self.superuser)?;
                    types::fncx::FnContext::set_seed(&mut self.core, value.as_real());
                    return Ok(());
                }
                _ => {}
            }
        } else if lower == "role" {
            return self.set_role("none", action, level);
        } else if lower == "session_authorization" {
            let user = self.speaker.user.clone();
            return self.set_authorization(&user, action, level);
        }
        let registry = self.core.store.base().registry.clone();
        let checked = match (text, registry.find(name)) {
            (Some(text), Some(id)) => {
                Some(canonical(&self.core.store, registry.setting(id), text)?)
            }
            (text, _) => text.map(str::to_owned),
        };
        self.core.store.set(name, checked.as_deref(), action, level, self.superuser)?;
        self.apply_settings();
        Ok(())
    }

    fn set_role(&mut self, name: &str, action: Action, level: usize) -> Result<()> {
        let id = self.core.store.base().registry.get("role")?;
        if name == "none" {
            let user = self.core.catalog.session_user;
            self.core.catalog.set_user(user);
        } else {
            let row = self.core.cat().find_role(name)?;
            let row = row.ok_or_else(|| {
                pg_err!(INVALID_PARAMETER_VALUE, "role \"{name}\" does not exist")
            })?;
            let session_user = self.core.catalog.session_user;
            if !self.superuser && !self.core.cat().is_member(session_user, row.oid, false)? {
                return Err(pg_err!(
                    INSUFFICIENT_PRIVILEGE,
                    "permission denied to set role \"{name}\""
                ));
            }
            self.core.catalog.set_user(row.oid);
        }
        self.core.store.set_value(id, Value::Text(name.into()), action, level);
        Ok(())
    }

    fn set_authorization(&mut self, name: &str, action: Action, level: usize) -> Result<()> {
        let id = self.core.store.base().registry.get("session_authorization")?;
        let row = self.core.cat().find_role(name)?;
        let row =
            row.ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "role \"{name}\" does not exist"))?;
        let itself = row.oid == self.core.catalog.session_user;
        if !itself && !self.superuser {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to set session authorization \"{name}\""
            ));
        }
        self.core.catalog.session_user = row.oid;
        self.core.catalog.set_user(row.oid);
        self.core.store.set_value(id, Value::Text(name.into()), action, level);
        self.core.store.set_internal("is_superuser", Value::Bool(row.rolsuper));
        Ok(())
    }

    /// What SHOW prints.
    pub(crate) fn show(&self, name: &str) -> Result<String> {
        if let Some(value) = self.show_characteristic(&name.to_ascii_lowercase()) {
            return Ok(value);
        }
        self.core.store.show(name)
    }

    pub(crate) fn show_fields(&self, name: &str) -> Vec<FieldDescription> {
        if name == "all" {
            return ["name", "setting", "description"].map(text_field).to_vec();
        }
        let registry = &self.core.store.base().registry;
        vec![text_field(registry.find(name).map_or(name, |id| registry.setting(id).name))]
    }

    pub(crate) fn show_statement(&mut self, name: &str, describe: bool) -> Result<()> {
        let fields = self.show_fields(name);
        if name != "all" {
            let value = self.show(name)?;
            return self.send_texts(&fields, &[vec![value]], describe);
        }
        let registry = self.core.store.base().registry.clone();
        let mut lines = Vec::new();
        for id in registry.ids() {
            let setting = registry.setting(id);
            if !setting.flags.no_show_all && (self.superuser || !setting.flags.superuser_only) {
                let value = self.show(setting.name)?;
                lines.push(vec![setting.name.to_owned(), value, String::new()]);
            }
        }
        self.send_texts(&fields, &lines, describe)
    }

    /// ALTER SYSTEM: rewrites `postgresql.auto.conf`.
    pub(crate) fn alter_system(&mut self, stmt: &VariableSetStmt) -> Result<()> {
        const FILE: &str = "postgresql.auto.conf";
        if self.xact.block == Block::Explicit {
            return Err(pg_err!(
                ACTIVE_SQL_TRANSACTION,
                "ALTER SYSTEM cannot run inside a transaction block"
            ));
        }
        if !self.superuser {
            let name = stmt.name.as_deref().unwrap_or_default();
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to set parameter \"{name}\""
            ));
        }
        let disk = self.instance.engine.env().disk.clone();
        let name = stmt.name.as_deref().unwrap_or_default();
        let value = match stmt.kind {
            VariableSetKind::SetValue => self.set_text(name, &stmt.args)?,
            _ => None,
        };
        let all = stmt.kind == VariableSetKind::ResetAll;
        if !all {
            let registry = &self.core.store.base().registry;
            let setting = registry.setting(registry.get(name)?);
            if setting.context == Context::Internal
                || setting.flags.not_in_file
                || setting.name == "data_directory"
            {
                return Err(pg_err!(
                    CANT_CHANGE_RUNTIME_PARAM,
                    "parameter \"{name}\" cannot be changed"
                ));
            }
            if let Some(value) = &value {
                setting.parse(value)?;
                canonical(&self.core.store, setting, value)?;
                if value.contains('\n') {
                    return Err(pg_err!(
                        INVALID_PARAMETER_VALUE,
                        "parameter value for ALTER SYSTEM must not contain a newline"
                    ));
                }
            }
        }
        let _one_at_a_time = self.instance.auto_conf.lock();
        let old = match vfs::exists(&*disk, FILE)? {
            true => vfs::read_file(&*disk, FILE)?,
            false => Vec::new(),
        };
        let entries = conf::parse_one(FILE, &String::from_utf8_lossy(&old)).entries;
        let entries = if all { &[][..] } else { &entries[..] };
        let text = conf::rewrite_auto(entries, name, value.as_deref());
        vfs::replace_file(&*disk, FILE, text.as_bytes())
    }

    /// `log_statement`.
    pub(crate) fn log_statement(&self, sql: &str) {
        if self.resolved.log_statements {
            let report = PgError::new(SqlState::SUCCESSFUL_COMPLETION, format!("statement: {sql}"));
            let log = &self.instance.log;
            log.write(&self.speaker, &report.severity(Severity::Log), None);
        }
    }
}

/// The constant that an argument of SET is; `SET TIME ZONE INTERVAL …` comes as a cast.
fn constant(arg: &Node) -> Result<&Const> {
    match arg {
        Node::AConst(c) => Ok(&c.val),
        Node::TypeCast(cast) => constant(&cast.arg),
        _ => Err(PgError::internal("unexpected argument of SET")),
    }
}

/// `SET TIME ZONE INTERVAL '-08:00'` means so many hours, as a number does.
fn interval_hours(text: &str) -> Option<String> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let mut hours = 0.0;
    let mut unit = 1.0;
    for part in digits.split(':') {
        hours += f64::from(part.parse::<u16>().ok()?) * unit;
        unit /= 60.0;
    }
    Some((sign * hours).to_string())
}
