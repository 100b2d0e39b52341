//! The parameter values of a session: its changes over the server's values, with `SET LOCAL`,
//! savepoints and rollback.
//!
//! Each changed parameter has a current value and the value that remains when the transaction
//! commits; `SET LOCAL` changes only the former. Previous values are kept in an undo list with the
//! nesting level of the change. A rollback restores the entries of its levels in reverse order.
//!
//! Counterpart: the transactional half of guc.c.

use crate::exclusive;
use crate::registry::{Context, Id, Setting, unrecognized};
use crate::server::{
    Origin, ServerValues, Source, cannot_be_changed, invalid_custom_name, is_custom_name,
    reserved_prefix,
};
use crate::unsupported;
use crate::value::Value;
use pgerror::{PgError, Result, SqlState};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The displayed value of `archive_command` while archiving is off, as it always is in Norsu.
const NO_ARCHIVE: &str = "(disabled)";

/// Parameters whose value is determined at start-up. Their `pg_settings.boot_val` is NULL.
const WITHOUT_BOOT_VALUE: &[&str] = &[
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "timezone_abbreviations",
];

/// Lifetime of a new value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Set,
    /// Until the end of the transaction.
    Local,
}

/// Identifies a parameter: an index in the registry, or the name of an extension parameter.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    Known(Id),
    Custom(String),
}

/// A changed parameter. `None` means the server's value.
#[derive(Clone, PartialEq, Debug, Default)]
struct ChangedValue {
    current: Option<Origin>,
    /// The value that remains when the transaction commits; differs from `current` after SET LOCAL.
    committed: Option<Origin>,
    /// Number of times that SET or RESET has set `committed`.
    sets: u64,
}

/// The value of a parameter saved by [`SessionValues::save`].
pub struct Saved {
    key: Key,
    slot: Option<ChangedValue>,
}

/// The values of all parameters saved by [`SessionValues::save_all`].
pub struct SavedAll {
    changed: BTreeMap<Key, ChangedValue>,
    undo: Vec<UndoEntry>,
}

#[derive(Clone)]
struct UndoEntry {
    level: usize,
    key: Key,
    before: Option<ChangedValue>,
}

/// The parameter values of a session.
pub struct SessionValues {
    base: Arc<ServerValues>,
    changed: BTreeMap<Key, ChangedValue>,
    /// Values that RESET restores, if not the server's: from the startup packet, the role or the
    /// database.
    session: BTreeMap<Key, Origin>,
    undo: Vec<UndoEntry>,
    /// Parameters whose value may have changed since the last [`SessionValues::take_changed`].
    maybe_changed: Vec<Id>,
    /// Extension parameters that have been set; they exist from then on.
    customs: BTreeSet<String>,
}

/// A row of `pg_settings`.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: String,
    pub setting: String,
    pub unit: Option<&'static str>,
    pub category: &'static str,
    pub context: &'static str,
    pub vartype: &'static str,
    pub source: &'static str,
    pub min_val: Option<String>,
    pub max_val: Option<String>,
    pub enumvals: Option<Vec<&'static str>>,
    pub boot_val: Option<String>,
    pub reset_val: Option<String>,
    pub sourcefile: Option<String>,
    pub sourceline: Option<i32>,
    pub pending_restart: bool,
}

impl SessionValues {
    /// A session whose values are all those of the server.
    pub fn new(base: Arc<ServerValues>) -> SessionValues {
        let ids = base.registry.ids();
        let maybe_changed = ids.filter(|id| base.origin(*id).source != Source::Default).collect();
        SessionValues {
            base,
            changed: BTreeMap::new(),
            session: BTreeMap::new(),
            undo: Vec::new(),
            maybe_changed,
            customs: BTreeSet::new(),
        }
    }

    /// The server's values.
    pub fn base(&self) -> &Arc<ServerValues> {
        &self.base
    }

    /// Replaces the server's values after a reload.
    pub fn set_base(&mut self, base: Arc<ServerValues>) {
        for id in base.registry.ids() {
            if base.origin(id).value != self.base.origin(id).value {
                self.maybe_changed.push(id);
            }
        }
        self.base = base;
    }

    fn find(&self, name: &str) -> Result<Key> {
        match self.base.registry.find(name) {
            Some(id) => Ok(Key::Known(id)),
            None if is_custom_name(name) && reserved_prefix(name).is_none() => {
                Ok(Key::Custom(name.to_ascii_lowercase()))
            }
            None => Err(unrecognized(name)),
        }
    }

    /// The current value. `None` for an extension parameter that was never set.
    fn origin(&self, key: &Key) -> Option<&Origin> {
        let current = self.changed.get(key).and_then(|slot| slot.current.as_ref());
        current.or_else(|| self.reset_origin(key))
    }

    fn reset_origin(&self, key: &Key) -> Option<&Origin> {
        self.session.get(key).or_else(|| match key {
            Key::Known(id) => Some(self.base.origin(*id)),
            Key::Custom(name) => {
                let found = self.base.custom().iter().find(|(n, _)| n.eq_ignore_ascii_case(name));
                found.map(|(_, origin)| origin)
            }
        })
    }

    /// The current value of a parameter.
    pub fn value(&self, id: Id) -> &Value {
        match self.origin(&Key::Known(id)) {
            Some(origin) => &origin.value,
            None => &self.base.origin(id).value,
        }
    }

    /// The value that RESET restores.
    pub fn reset_value(&self, id: Id) -> &Value {
        match self.reset_origin(&Key::Known(id)) {
            Some(origin) => &origin.value,
            None => &self.base.origin(id).value,
        }
    }

    /// The current value of a parameter with this name, which must exist.
    pub fn named(&self, name: &str) -> &Value {
        let id = self.base.registry.find(name);
        self.value(id.expect("the program names only parameters that exist"))
    }

    /// The parameters with values of the session instead of the server's, in a stable order.
    pub fn session_values(&self) -> impl Iterator<Item = (Id, &Value)> {
        let changed = self.changed.iter().filter(|(_, slot)| slot.current.is_some());
        let own = self
            .session
            .keys()
            .filter(move |key| self.changed.get(key).is_none_or(|slot| slot.current.is_none()));
        let known = move |key: &Key| match key {
            Key::Known(id) => Some((*id, self.value(*id))),
            Key::Custom(_) => None,
        };
        changed.map(|(key, _)| key).chain(own).filter_map(known)
    }

    /// The source of the current value.
    pub fn source(&self, name: &str) -> Option<Source> {
        self.origin(&self.find(name).ok()?).map(|o| o.source)
    }

    /// SHOW. 42704 if there is no such parameter.
    pub fn show(&self, name: &str) -> Result<String> {
        let key = self.find(name)?;
        let origin = match (self.origin(&key), &key) {
            (Some(origin), _) => origin,
            (None, Key::Custom(name)) if self.customs.contains(name) => return Ok(String::new()),
            _ => return Err(unrecognized(name)),
        };
        Ok(match &key {
            Key::Known(id) => match self.base.registry.setting(*id) {
                setting if setting.name == "archive_command" => NO_ARCHIVE.to_owned(),
                setting => setting.show(&origin.value),
            },
            Key::Custom(_) => origin.value.as_text().to_owned(),
        })
    }

    /// Fails if this session is not allowed to set the parameter at this time. Superusers may set
    /// more parameters. Errors contain the name as the client wrote it.
    pub fn check_context(
        &self,
        (setting, name): (&Setting, &str),
        superuser: bool,
        startup: bool,
    ) -> Result<()> {
        let refused = |why: &str| {
            Err(PgError::new(
                SqlState::CANT_CHANGE_RUNTIME_PARAM,
                format!("parameter \"{name}\" {why}"),
            ))
        };
        let denied = || {
            Err(PgError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied to set parameter \"{name}\""),
            ))
        };
        match setting.context {
            Context::Internal => Err(cannot_be_changed(name)),
            Context::Postmaster => refused("cannot be changed without restarting the server"),
            Context::Sighup => refused("cannot be changed now"),
            Context::SuperuserBackend if startup && !superuser => denied(),
            Context::SuperuserBackend | Context::Backend if !startup => {
                refused("cannot be set after connection start")
            }
            Context::Superuser if !superuser => denied(),
            _ => Ok(()),
        }
    }

    /// Parses and checks a value without setting it; returns the parameter and the value.
    pub fn prepare(&self, name: &str, text: &str, superuser: bool) -> Result<(Id, Value)> {
        let id = self.base.registry.get(name)?;
        let setting = self.base.registry.setting(id);
        self.check_context((setting, name), superuser, false)?;
        Ok((id, self.parse((setting, name), text)?))
    }

    /// Parses a value and checks it against the other parameters.
    /// Errors show the parameter's name as it was written, `name`.
    pub fn parse(&self, (setting, name): (&Setting, &str), text: &str) -> Result<Value> {
        let value = setting.parse_as(name, text)?;
        exclusive::check(setting, &value, |name| self.named(name).as_bool())?;
        unsupported::check(setting, &value)?;
        Ok(value)
    }

    /// SET. `None` as `text` sets the default (RESET). `level`: nesting depth of the transaction, 0
    /// outside a transaction.
    pub fn set(
        &mut self,
        name: &str,
        text: Option<&str>,
        action: Action,
        level: usize,
        superuser: bool,
    ) -> Result<()> {
        let replacement = text.and_then(|t| self.base.registry.replacement_of(name, t));
        let (name, text) = match &replacement {
            Some((name, text)) => (*name, Some(text.as_str())),
            None => (name, text),
        };
        let key = self.find(name).map_err(|e| invalid_custom_name(name).unwrap_or(e))?;
        let value = match (&key, text) {
            (Key::Known(id), _) => {
                let setting = self.base.registry.setting(*id);
                self.check_context((setting, name), superuser, false)?;
                text.map(|t| self.parse((setting, name), t)).transpose()?
            }
            (Key::Custom(_), _) => text.map(|t| Value::Text(t.into())),
        };
        let origin = value.map(|value| Origin { value, source: Source::Session, location: None });
        self.put(key, origin, action, level);
        Ok(())
    }

    /// Sets a value that was checked before.
    pub fn set_value(&mut self, id: Id, value: Value, action: Action, level: usize) {
        let origin = Origin { value, source: Source::Session, location: None };
        self.put(Key::Known(id), Some(origin), action, level);
    }

    fn put(&mut self, key: Key, origin: Option<Origin>, action: Action, level: usize) {
        match &key {
            Key::Known(id) => self.maybe_changed.push(*id),
            Key::Custom(name) => {
                self.customs.insert(name.clone());
            }
        }
        let before = self.changed.get(&key).cloned();
        let mut slot = before.clone().unwrap_or_default();
        if level > 0 {
            self.undo.push(UndoEntry { level, key: key.clone(), before });
        }
        if action == Action::Set {
            slot.committed = origin.clone();
            slot.sets += 1;
        }
        slot.current = origin;
        self.changed.insert(key, slot);
    }

    /// Sets a value for the whole session, which RESET restores: from the startup packet or
    /// catalogs.
    pub fn set_startup(
        &mut self,
        name: &str,
        text: &str,
        source: Source,
        superuser: bool,
    ) -> Result<()> {
        let key = self.find(name)?;
        let value = match &key {
            Key::Known(id) => {
                let setting = self.base.registry.setting(*id);
                self.check_context((setting, name), superuser, true)?;
                let value = self.parse((setting, name), text)?;
                self.maybe_changed.push(*id);
                value
            }
            Key::Custom(_) => Value::Text(text.into()),
        };
        self.session.insert(key, Origin { value, source, location: None });
        Ok(())
    }

    /// Sets a value that the session determines itself (`is_superuser`, `server_encoding`, …).
    pub fn set_internal(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::Override, location: None });
    }

    /// Sets a default that depends on the database.
    pub fn set_dynamic_default(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::DynamicDefault, location: None });
    }

    fn set_origin(&mut self, name: &str, origin: Origin) {
        if let Some(id) = self.base.registry.find(name) {
            self.maybe_changed.push(id);
            self.session.insert(Key::Known(id), origin);
        }
    }

    /// RESET ALL.
    pub fn reset_all(&mut self, level: usize) {
        let keys: Vec<Key> = self.changed.keys().cloned().collect();
        for key in keys {
            let keep = match &key {
                Key::Known(id) => self.base.registry.setting(*id).flags.no_reset_all,
                Key::Custom(_) => false,
            };
            if !keep {
                self.put(key, None, Action::Set, level);
            }
        }
    }

    /// RELEASE of a nesting level: its undo entries move to the parent level.
    pub fn release(&mut self, level: usize) {
        for entry in self.undo.iter_mut().rev().take_while(|n| n.level >= level) {
            entry.level = level - 1;
        }
    }

    /// Rollback of this nesting level and all deeper ones.
    pub fn rollback(&mut self, level: usize) {
        while self.undo.last().is_some_and(|n| n.level >= level) {
            let Some(entry) = self.undo.pop() else { break };
            if let Key::Known(id) = entry.key {
                self.maybe_changed.push(id);
            }
            match entry.before {
                Some(slot) => self.changed.insert(entry.key, slot),
                None => self.changed.remove(&entry.key),
            };
        }
    }

    /// Saves the value of a parameter for [`SessionValues::restore`].
    pub fn save(&self, name: &str) -> Result<Saved> {
        let key = self.find(name)?;
        let slot = self.changed.get(&key).cloned();
        Ok(Saved { key, slot })
    }

    /// Restores the saved value. A value that SET (not SET LOCAL) has set since then is kept.
    /// Counterpart: the nesting levels of `AtEOXact_GUC`.
    pub fn restore(&mut self, saved: Saved) {
        let Saved { key, slot } = saved;
        if let Key::Known(id) = key {
            self.maybe_changed.push(id);
        }
        let before = slot.as_ref().map_or(0, |slot| slot.sets);
        if self.changed.get(&key).is_some_and(|now| now.sets != before) {
            return;
        }
        match slot {
            Some(slot) => self.changed.insert(key, slot),
            None => self.changed.remove(&key),
        };
    }

    /// Saves the values of all parameters for [`SessionValues::restore_all`].
    pub fn save_all(&self) -> SavedAll {
        SavedAll { changed: self.changed.clone(), undo: self.undo.clone() }
    }

    /// Restores the saved values, regardless of changes since then.
    pub fn restore_all(&mut self, saved: SavedAll) {
        let known = |key: &Key| match key {
            Key::Known(id) => Some(*id),
            Key::Custom(_) => None,
        };
        for (key, slot) in &self.changed {
            if saved.changed.get(key) != Some(slot) {
                self.maybe_changed.extend(known(key));
            }
        }
        let reset = saved.changed.keys().filter(|key| !self.changed.contains_key(*key));
        self.maybe_changed.extend(reset.filter_map(known));
        (self.changed, self.undo) = (saved.changed, saved.undo);
    }

    /// Commit: discards transaction-local values.
    pub fn commit(&mut self) {
        for entry in std::mem::take(&mut self.undo) {
            let Some(slot) = self.changed.get_mut(&entry.key) else { continue };
            if slot.current != slot.committed {
                slot.current = slot.committed.clone();
                if let Key::Known(id) = entry.key {
                    self.maybe_changed.push(id);
                }
            }
            if slot.current.is_none() && slot.committed.is_none() {
                self.changed.remove(&entry.key);
            }
        }
    }

    /// Whether any value may have changed since the last [`SessionValues::take_changed`].
    pub fn has_changed(&self) -> bool {
        !self.maybe_changed.is_empty()
    }

    /// Takes the list of parameters whose values may have changed.
    pub fn take_changed(&mut self) -> Vec<Id> {
        let mut maybe_changed = std::mem::take(&mut self.maybe_changed);
        maybe_changed.sort();
        maybe_changed.dedup();
        maybe_changed
    }

    /// The parameters of SHOW ALL and `pg_settings`, without superuser-only ones unless `all`, and
    /// without those of libraries that are not loaded.
    pub fn listed(&self, all: bool) -> Vec<Id> {
        let registry = &self.base.registry;
        let loaded = self.named("shared_preload_libraries").as_text();
        let is_listed = |id: &Id| {
            let setting = registry.setting(*id);
            let library = setting.name.split('.').next();
            !setting.flags.no_show_all
                && (all || !setting.flags.superuser_only)
                && (!setting.flags.preloaded || crate::words(loaded).any(|n| Some(n) == library))
        };
        registry.ids().filter(is_listed).collect()
    }

    /// The rows of `pg_settings`; see [`SessionValues::listed`].
    pub fn rows(&self, all: bool) -> Vec<Row> {
        self.listed(all).into_iter().map(|id| self.row(id, all)).collect()
    }

    fn row(&self, id: Id, all: bool) -> Row {
        use crate::registry::Kind;
        let setting = self.base.registry.setting(id);
        let key = Key::Known(id);
        let fallback = self.base.origin(id);
        let origin = self.origin(&key).unwrap_or(fallback);
        let reset = self.reset_origin(&key).unwrap_or(fallback);
        // File modes are octal only in `setting`.
        let raw = |value: &Value| match value {
            Value::Int(i) => i.to_string(),
            other => setting.plain(other),
        };
        let (min_val, max_val) = match &setting.kind {
            Kind::Int { min, max } => (Some(min.to_string()), Some(max.to_string())),
            Kind::Real { min, max } => {
                (Some(crate::value::general(*min)), Some(crate::value::general(*max)))
            }
            _ => (None, None),
        };
        let enumvals = match &setting.kind {
            Kind::Enum { values } => Some(values.clone()),
            _ => None,
        };
        let location = origin.location.as_ref().filter(|_| all);
        Row {
            name: setting.name.to_owned(),
            setting: match setting.name {
                "archive_command" => NO_ARCHIVE.to_owned(),
                _ => setting.plain(&origin.value),
            },
            unit: setting.unit.map(|u| u.name()),
            category: setting.category,
            context: setting.context.name(),
            vartype: setting.kind.name(),
            source: origin.source.name(),
            min_val,
            max_val,
            enumvals,
            boot_val: Some(raw(&setting.boot))
                .filter(|_| !WITHOUT_BOOT_VALUE.contains(&setting.name)),
            reset_val: Some(raw(&reset.value)),
            sourcefile: location.map(|(file, _)| file.to_string()),
            sourceline: location.map(|(_, line)| *line as i32),
            pending_restart: self.base.needs_restart(id),
        }
    }
}
