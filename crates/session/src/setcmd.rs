//! The statements SET, SHOW, RESET and ALTER SYSTEM.
//!
//! Counterpart: utils/misc/guc.c (`ExecSetVariableStmt`, `AlterSystemSetConfigFile`).

use crate::session::Session;
use crate::state::State;
use crate::utility::text_field;
use catalog::acl;
use parameters::canonical;
use parse::ast::{Node, Value as Const, VariableSetKind, VariableSetStmt};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use settings::{Action, Context, conf};
use utility::host::Transactions;
use utility::setting;
use wire::FieldDescription;

impl State {
    /// The text of the arguments of SET; `None` for DEFAULT.
    fn set_text(&self, name: &str, args: &[Node]) -> Result<Option<String>> {
        if args.is_empty() {
            return Ok(None);
        }
        let registry = &self.store.base().registry;
        let flags = registry.find(name).map(|id| registry.setting(id).flags).unwrap_or_default();
        if args.len() > 1 && !flags.list {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "SET {name} takes only one argument"));
        }
        let mut words = Vec::new();
        for arg in args {
            if let (Node::TypeCast(cast), Const::String(s)) = (arg, setting::constant(arg)?) {
                words.push(setting::interval_text(cast, s, self.values.types.interval_style)?);
                continue;
            }
            words.push(match setting::constant(arg)? {
                Const::String(s) if flags.quoted => parse::quote_identifier(s).to_string(),
                Const::String(s) | Const::Float(s) | Const::BitString(s) => s.to_string(),
                Const::Integer(i) => i.to_string(),
                Const::Boolean(b) => (if *b { "true" } else { "false" }).to_owned(),
                Const::Null => String::new(),
            });
        }
        Ok(Some(words.join(", ")))
    }

    /// SET and RESET. `outside`: there is no transaction block.
    pub(crate) fn set_statement(
        &mut self,
        stmt: &VariableSetStmt,
        outside: bool,
    ) -> Result<&'static str> {
        let action = if stmt.is_local { Action::Local } else { Action::Set };
        if stmt.is_local && outside {
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
                let text = self.store.show(name)?;
                self.set(name, Some(&text), action)?;
                Ok("SET")
            }
            VariableSetKind::Reset => {
                self.set(name, None, action)?;
                Ok("RESET")
            }
            VariableSetKind::ResetAll => {
                self.store.reset_all(self.backend.txn.nesting());
                self.apply_settings();
                Ok("RESET")
            }
            VariableSetKind::SetMulti => {
                self.set_multi(name, stmt, outside)?;
                Ok("SET")
            }
        }
    }

    /// The value of a SET clause in ALTER DATABASE, ALTER ROLE or CREATE FUNCTION. The value is
    /// checked, but not applied.
    pub(crate) fn checked_setting(&mut self, stmt: &VariableSetStmt) -> Result<Option<String>> {
        let name = stmt.name.as_deref().unwrap_or_default();
        let text = match stmt.kind {
            VariableSetKind::SetValue => self.set_text(name, &stmt.args)?,
            VariableSetKind::SetCurrent => Some(self.store.show(name)?),
            _ => None,
        };
        let registry = self.store.base().registry.clone();
        match (&text, registry.find(name)) {
            (Some(text), Some(id)) => {
                let setting = registry.setting(id);
                let allowed = self.may_set(name)?;
                self.store.check_context((setting, name), allowed, false)?;
                self.store.parse((setting, name), text)?;
                canonical(&self.store, setting, text)?;
                let setting = setting.name.to_ascii_lowercase();
                self.notice_of_missing_object(&setting, text)?;
            }
            (None, Some(id)) => {
                let setting = registry.setting(id);
                let allowed = self.may_set(name)?;
                self.store.check_context((setting, name), allowed, false)?;
            }
            (_, None) if !name.contains('.') => {
                registry.get(name)?;
            }
            _ => {}
        }
        Ok(text)
    }

    /// Whether the user may set parameters that only superusers may set without a privilege.
    pub(crate) fn may_set(&mut self, name: &str) -> Result<bool> {
        if self.roles.superuser {
            return Ok(true);
        }
        let registry = self.store.base().registry.clone();
        let Some(id) = registry.find(name) else { return Ok(false) };
        match registry.setting(id).context {
            Context::Superuser | Context::SuperuserBackend => {
                let (user, name) = (self.catalog.user, registry.privilege_name(name));
                self.cat().has_parameter_privilege(user, &name, acl::SET)
            }
            _ => Ok(false),
        }
    }

    /// Error 42501 unless the user may change the parameter by ALTER SYSTEM.
    fn check_alter_system(&mut self, stmt: &VariableSetStmt) -> Result<()> {
        if self.roles.superuser {
            return Ok(());
        }
        if stmt.kind == VariableSetKind::ResetAll {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to perform ALTER SYSTEM RESET ALL"
            ));
        }
        let name = stmt.name.as_deref().unwrap_or_default();
        let (user, key) = (self.catalog.user, self.store.base().registry.privilege_name(name));
        if !self.cat().has_parameter_privilege(user, &key, acl::ALTER_SYSTEM)? {
            return Err(pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied to set parameter \"{name}\""
            ));
        }
        Ok(())
    }

    pub(crate) fn warn_no_block(&mut self, what: &str) {
        let message = format!("{what} can only be used in transaction blocks");
        let warning = PgError::new(SqlState::NO_ACTIVE_SQL_TRANSACTION, message);
        self.notices.push(warning.severity(Severity::Warning));
    }

    /// SET TRANSACTION and SET SESSION CHARACTERISTICS.
    fn set_multi(&mut self, name: &str, stmt: &VariableSetStmt, outside: bool) -> Result<()> {
        let options = stmt.args.iter().filter_map(|n| match n {
            Node::DefElem(d) => Some((**d).clone()),
            _ => None,
        });
        let options: Vec<_> = options.collect();
        match name {
            "TRANSACTION" => {
                if outside {
                    self.warn_no_block("SET TRANSACTION");
                }
                self.set_characteristics(&options)
            }
            "TRANSACTION SNAPSHOT" => {
                if stmt.is_local {
                    return Err(PgError::unsupported("SET LOCAL TRANSACTION SNAPSHOT"));
                }
                if outside {
                    self.warn_no_block("SET TRANSACTION");
                }
                let id = self.set_text(name, &stmt.args)?.unwrap_or_default();
                crate::snapshots::transfer::import(self, &id)
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

    /// The result columns of SHOW. An error if there is no such setting.
    pub(crate) fn show_fields(&mut self, name: &str) -> Result<Vec<FieldDescription>> {
        if name == "all" {
            return Ok(["name", "setting", "description"].map(text_field).to_vec());
        }
        crate::serverfn::settings::check_visible(self, name)?;
        self.show(name)?;
        let registry = &self.store.base().registry;
        Ok(vec![text_field(registry.find(name).map_or(name, |id| registry.setting(id).name))])
    }

    /// The rows of SHOW.
    pub(crate) fn shown_settings(&mut self, name: &str) -> Result<Vec<Vec<String>>> {
        if name != "all" {
            return Ok(vec![vec![self.show(name)?]]);
        }
        let registry = self.store.base().registry.clone();
        let mut lines = Vec::new();
        for id in self.store.listed(self.roles.superuser) {
            let name = registry.setting(id).name;
            lines.push(vec![name.to_owned(), self.show(name)?, String::new()]);
        }
        Ok(lines)
    }
}

impl Session {
    pub(crate) fn show_statement(&mut self, name: &str, describe: bool) -> Result<()> {
        let fields = self.state.show_fields(name)?;
        let lines = self.state.shown_settings(name)?;
        self.send_texts(&fields, &lines, describe)
    }

    /// ALTER SYSTEM: rewrites `postgresql.auto.conf`.
    pub(crate) fn alter_system(&mut self, stmt: &VariableSetStmt) -> Result<()> {
        const FILE: &str = "postgresql.auto.conf";
        self.prevent_in_transaction_block("ALTER SYSTEM")?;
        self.state.check_alter_system(stmt)?;
        let disk = self.instance.engine.env().disk.clone();
        let name = stmt.name.as_deref().unwrap_or_default();
        let value = match stmt.kind {
            VariableSetKind::SetValue => self.state.set_text(name, &stmt.args)?,
            _ => None,
        };
        let all = stmt.kind == VariableSetKind::ResetAll;
        if !all {
            let registry = &self.state.store.base().registry;
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
                self.state.store.parse((setting, name), value)?;
                canonical(&self.state.store, setting, value)?;
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
}
