//! A session's parameters: what it has changed, over the server's values, with `SET LOCAL`,
//! savepoints and rollback.
//!
//! Each changed parameter has a current value and the value that stays when the transaction
//! commits; `SET LOCAL` changes the first only. What was before is noted with the nesting level
//! that changed it, so that a rollback restores the notes of its levels, latest first.
//!
//! Counterpart: the transactional half of guc.c.

use crate::exclusive;
use crate::promises;
use crate::registry::{Context, Id, Setting, unrecognized};
use crate::server::{Base, Origin, Source, cannot_be_changed, is_custom_name, misnamed};
use crate::value::Value;
use pgerror::{PgError, Result, SqlState};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What is shown for `archive_command` where archiving is off, as here it always is.
const NO_ARCHIVE: &str = "(disabled)";

/// Found at the start rather than given: NULL in `pg_settings.boot_val`, an empty text elsewhere.
const WITHOUT_BOOT_VALUE: &[&str] = &[
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "timezone_abbreviations",
];

/// How long a new value lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Set,
    /// To the end of the transaction.
    Local,
}

/// What a parameter is called inside: a place in the registry, or the name of one of an
/// extension's.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Key {
    Known(Id),
    Custom(String),
}

/// A changed parameter. `None`: the server's value.
#[derive(Clone, PartialEq, Debug, Default)]
struct Live {
    current: Option<Origin>,
    stays: Option<Origin>,
}

/// A parameter's value, kept by [`Store::save`].
pub struct Saved {
    key: Key,
    live: Option<Live>,
}

/// All parameters' values, kept by [`Store::save_all`].
pub struct SavedAll {
    changed: BTreeMap<Key, Live>,
    notes: Vec<Note>,
}

#[derive(Clone)]
struct Note {
    level: usize,
    key: Key,
    before: Option<Live>,
}

/// See the module's text.
pub struct Store {
    base: Arc<Base>,
    changed: BTreeMap<Key, Live>,
    /// What RESET goes back to where that is not the server's value: from the startup packet, the
    /// role, the database.
    session: BTreeMap<Key, Origin>,
    notes: Vec<Note>,
    /// Parameters whose value may have changed since they were last asked for.
    touched: Vec<Id>,
    /// Parameters of extensions that have been set once: they are there from then on.
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

impl Store {
    pub fn new(base: Arc<Base>) -> Store {
        let ids = base.registry.ids();
        let touched = ids.filter(|id| base.origin(*id).source != Source::Default).collect();
        Store {
            base,
            changed: BTreeMap::new(),
            session: BTreeMap::new(),
            notes: Vec::new(),
            touched,
            customs: BTreeSet::new(),
        }
    }

    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// New values of the server, after a reload.
    pub fn rebase(&mut self, base: Arc<Base>) {
        for id in base.registry.ids() {
            if base.origin(id).value != self.base.origin(id).value {
                self.touched.push(id);
            }
        }
        self.base = base;
    }

    fn find(&self, name: &str) -> Result<Key> {
        match self.base.registry.find(name) {
            Some(id) => Ok(Key::Known(id)),
            None if is_custom_name(name) => Ok(Key::Custom(name.to_ascii_lowercase())),
            None => Err(unrecognized(name)),
        }
    }

    /// The value in force. `None` for an extension's parameter that nobody has set.
    fn origin(&self, key: &Key) -> Option<&Origin> {
        let current = self.changed.get(key).and_then(|live| live.current.as_ref());
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

    /// The value in force of a parameter that exists.
    pub fn value(&self, id: Id) -> &Value {
        match self.origin(&Key::Known(id)) {
            Some(origin) => &origin.value,
            None => &self.base.origin(id).value,
        }
    }

    /// What RESET goes back to.
    pub fn reset_value(&self, id: Id) -> &Value {
        match self.reset_origin(&Key::Known(id)) {
            Some(origin) => &origin.value,
            None => &self.base.origin(id).value,
        }
    }

    /// The value in force of a parameter that the program names.
    pub fn named(&self, name: &str) -> &Value {
        let id = self.base.registry.find(name);
        self.value(id.expect("the program names only parameters that exist"))
    }

    /// The parameters whose values are the session's own and not the server's: always in the same
    /// order.
    pub fn session_values(&self) -> impl Iterator<Item = (Id, &Value)> {
        let changed = self.changed.iter().filter(|(_, live)| live.current.is_some());
        let own = self
            .session
            .keys()
            .filter(move |key| self.changed.get(key).is_none_or(|live| live.current.is_none()));
        let known = move |key: &Key| match key {
            Key::Known(id) => Some((*id, self.value(*id))),
            Key::Custom(_) => None,
        };
        changed.map(|(key, _)| key).chain(own).filter_map(known)
    }

    /// Is the value of this source? (For "unless the user has set it".)
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

    /// May this session set the parameter now? Superusers may set more. Errors name it as the
    /// client does.
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

    /// Parses and checks a new value without setting it: its place and value.
    pub fn prepare(&self, name: &str, text: &str, superuser: bool) -> Result<(Id, Value)> {
        let id = self.base.registry.get(name)?;
        let setting = self.base.registry.setting(id);
        self.check_context((setting, name), superuser, false)?;
        Ok((id, self.parse(setting, text)?))
    }

    /// The value that a text means, if it goes with the values of the other parameters.
    pub fn parse(&self, setting: &Setting, text: &str) -> Result<Value> {
        let value = setting.parse(text)?;
        exclusive::check(setting, &value, |name| self.named(name).as_bool())?;
        promises::check(setting, &value)?;
        Ok(value)
    }

    /// SET. `text` `None`: to the default (RESET). `level`: the transaction's nesting, 0 outside of
    /// one.
    pub fn set(
        &mut self,
        name: &str,
        text: Option<&str>,
        action: Action,
        level: usize,
        superuser: bool,
    ) -> Result<()> {
        let retired = text.and_then(|t| self.base.registry.retired(name, t));
        let (name, text) = match &retired {
            Some((name, text)) => (*name, Some(text.as_str())),
            None => (name, text),
        };
        let key = self.find(name).map_err(|e| misnamed(name).unwrap_or(e))?;
        let value = match (&key, text) {
            (Key::Known(id), _) => {
                let setting = self.base.registry.setting(*id);
                self.check_context((setting, name), superuser, false)?;
                text.map(|t| self.parse(setting, t)).transpose()?
            }
            (Key::Custom(_), _) => text.map(|t| Value::Text(t.into())),
        };
        let origin = value.map(|value| Origin { value, source: Source::Session, place: None });
        self.put(key, origin, action, level);
        Ok(())
    }

    /// Sets a value that has been checked.
    pub fn set_value(&mut self, id: Id, value: Value, action: Action, level: usize) {
        let origin = Origin { value, source: Source::Session, place: None };
        self.put(Key::Known(id), Some(origin), action, level);
    }

    fn put(&mut self, key: Key, origin: Option<Origin>, action: Action, level: usize) {
        match &key {
            Key::Known(id) => self.touched.push(*id),
            Key::Custom(name) => {
                self.customs.insert(name.clone());
            }
        }
        let before = self.changed.get(&key).cloned();
        let mut live = before.clone().unwrap_or_default();
        if level > 0 {
            self.notes.push(Note { level, key: key.clone(), before });
        }
        if action == Action::Set {
            live.stays = origin.clone();
        }
        live.current = origin;
        self.changed.insert(key, live);
    }

    /// A value for the whole session that RESET goes back to: from the startup packet and the like.
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
                let value = self.parse(setting, text)?;
                self.touched.push(*id);
                value
            }
            Key::Custom(_) => Value::Text(text.into()),
        };
        self.session.insert(key, Origin { value, source, place: None });
        Ok(())
    }

    /// Sets what the session determines itself (`is_superuser`, `server_encoding`, …).
    pub fn set_internal(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::Override, place: None });
    }

    /// Sets a default that depends on the database.
    pub fn set_found(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::Found, place: None });
    }

    fn set_origin(&mut self, name: &str, origin: Origin) {
        if let Some(id) = self.base.registry.find(name) {
            self.touched.push(id);
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

    /// RELEASE of that nesting level: its notes become its parent's.
    pub fn release(&mut self, level: usize) {
        for note in self.notes.iter_mut().rev().take_while(|n| n.level >= level) {
            note.level = level - 1;
        }
    }

    /// Rollback of that nesting level and those above it.
    pub fn rollback(&mut self, level: usize) {
        while self.notes.last().is_some_and(|n| n.level >= level) {
            let Some(note) = self.notes.pop() else { break };
            if let Key::Known(id) = note.key {
                self.touched.push(id);
            }
            match note.before {
                Some(live) => self.changed.insert(note.key, live),
                None => self.changed.remove(&note.key),
            };
        }
    }

    /// What a parameter is now, to be put back by [`Store::restore`].
    pub fn save(&self, name: &str) -> Result<Saved> {
        let key = self.find(name)?;
        let live = self.changed.get(&key).cloned();
        Ok(Saved { key, live })
    }

    /// Puts back what was saved, whatever has been set since.
    pub fn restore(&mut self, saved: Saved) {
        let Saved { key, live } = saved;
        if let Key::Known(id) = key {
            self.touched.push(id);
        }
        match live {
            Some(live) => self.changed.insert(key, live),
            None => self.changed.remove(&key),
        };
    }

    /// What all parameters are now, to be put back by [`Store::restore_all`].
    pub fn save_all(&self) -> SavedAll {
        SavedAll { changed: self.changed.clone(), notes: self.notes.clone() }
    }

    /// Puts back what was saved, whatever has been set since.
    pub fn restore_all(&mut self, saved: SavedAll) {
        let known = |key: &Key| match key {
            Key::Known(id) => Some(*id),
            Key::Custom(_) => None,
        };
        for (key, live) in &self.changed {
            if saved.changed.get(key) != Some(live) {
                self.touched.extend(known(key));
            }
        }
        let gone = saved.changed.keys().filter(|key| !self.changed.contains_key(*key));
        self.touched.extend(gone.filter_map(known));
        (self.changed, self.notes) = (saved.changed, saved.notes);
    }

    /// Commit: values that were for the transaction only are gone.
    pub fn commit(&mut self) {
        for note in std::mem::take(&mut self.notes) {
            let Some(live) = self.changed.get_mut(&note.key) else { continue };
            if live.current != live.stays {
                live.current = live.stays.clone();
                if let Key::Known(id) = note.key {
                    self.touched.push(id);
                }
            }
            if live.current.is_none() && live.stays.is_none() {
                self.changed.remove(&note.key);
            }
        }
    }

    /// Has anything been touched since [`Store::take_touched`]?
    pub fn is_touched(&self) -> bool {
        !self.touched.is_empty()
    }

    /// Parameters whose values may have changed; the session takes them over.
    pub fn take_touched(&mut self) -> Vec<Id> {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort();
        touched.dedup();
        touched
    }

    /// The rows of `pg_settings`; what only superusers may see is left out unless `all`.
    pub fn rows(&self, all: bool) -> Vec<Row> {
        let mut rows = Vec::new();
        for id in self.base.registry.ids() {
            let setting = self.base.registry.setting(id);
            if setting.flags.no_show_all || (setting.flags.superuser_only && !all) {
                continue;
            }
            rows.push(self.row(id, all));
        }
        rows
    }

    fn row(&self, id: Id, all: bool) -> Row {
        use crate::registry::Kind;
        let setting = self.base.registry.setting(id);
        let key = Key::Known(id);
        let fallback = self.base.origin(id);
        let origin = self.origin(&key).unwrap_or(fallback);
        let reset = self.reset_origin(&key).unwrap_or(fallback);
        // File modes are octal in `setting` only.
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
        let place = origin.place.as_ref().filter(|_| all);
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
            sourcefile: place.map(|(file, _)| file.to_string()),
            sourceline: place.map(|(_, line)| *line as i32),
            pending_restart: self.base.needs_restart(id),
        }
    }
}
