//! Server-wide values, from which every session starts: built-in defaults, configuration files,
//! command line.

use crate::conf::Entry;
use crate::exclusive;
use crate::registry::{Context, Id, Registry, unrecognized};
use crate::unsupported;
use crate::value::Value;
use pgerror::{PgError, Result, Severity, SqlState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The source of a value; later ones take precedence. Counterpart: `GucSource`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    Default,
    /// A default determined at start-up.
    DynamicDefault,
    Override,
    Environment,
    File,
    CommandLine,
    Global,
    Database,
    User,
    DatabaseUser,
    Client,
    Session,
}

impl Source {
    /// The name in `pg_settings.source`.
    pub fn name(self) -> &'static str {
        match self {
            Source::Default | Source::DynamicDefault => "default",
            Source::Override => "override",
            Source::Environment => "environment variable",
            Source::File => "configuration file",
            Source::CommandLine => "command line",
            Source::Global => "global",
            Source::Database => "database",
            Source::User => "user",
            Source::DatabaseUser => "database user",
            Source::Client => "client",
            Source::Session => "session",
        }
    }
}

/// A value and its source.
#[derive(Clone, PartialEq, Debug)]
pub struct Origin {
    pub value: Value,
    pub source: Source,
    /// File and line, if the value comes from a file.
    pub location: Option<(Arc<str>, u32)>,
}

/// One value for each parameter. Immutable after start-up; a reload creates a new one.
#[derive(Clone, Debug)]
pub struct ServerValues {
    pub registry: Arc<Registry>,
    values: Vec<Origin>,
    /// Parameters of extensions (`class.name`), which have no definitions.
    custom: Vec<(String, Origin)>,
    /// Parameters changed in the files that need a restart.
    pending: Vec<Id>,
    /// Parameters that have an invalid value in the files.
    faulty: Vec<Id>,
    /// Values as written in the files.
    given: BTreeMap<Id, String>,
    /// File and line of each parameter set in the files.
    locations: BTreeMap<Id, (Arc<str>, u32)>,
}

impl ServerValues {
    /// The built-in defaults.
    pub fn new(registry: Arc<Registry>) -> ServerValues {
        let values = registry
            .ids()
            .map(|id| Origin {
                value: registry.setting(id).boot.clone(),
                source: Source::Default,
                location: None,
            })
            .collect();
        ServerValues {
            registry,
            values,
            custom: Vec::new(),
            pending: Vec::new(),
            faulty: Vec::new(),
            given: BTreeMap::new(),
            locations: BTreeMap::new(),
        }
    }

    /// The value of a parameter and its source.
    pub fn origin(&self, id: Id) -> &Origin {
        &self.values[usize::from(id.0)]
    }

    /// The extension parameters that are set.
    pub fn custom(&self) -> &[(String, Origin)] {
        &self.custom
    }

    /// The file that sets the parameter.
    pub fn location(&self, id: Id) -> Option<String> {
        self.locations.get(&id).map(|(file, _)| file.to_string())
    }

    /// Whether the files have another value for the parameter, which needs a restart.
    pub fn needs_restart(&self, id: Id) -> bool {
        self.pending.contains(&id)
    }

    /// The value of a parameter, which must exist.
    pub fn value(&self, name: &str) -> &Value {
        let id = self.registry.find(name);
        &self.origin(id.expect("the program names only parameters that exist")).value
    }

    /// The value of a boolean parameter, which must exist.
    pub fn bool(&self, name: &str) -> bool {
        self.value(name).as_bool()
    }

    /// The value of an integer parameter, which must exist, in its base unit.
    pub fn int(&self, name: &str) -> i64 {
        self.value(name).as_int()
    }

    /// The value of a floating-point parameter, which must exist, in its base unit.
    pub fn real(&self, name: &str) -> f64 {
        self.value(name).as_real()
    }

    /// The value of a string or enum parameter, which must exist.
    pub fn text(&self, name: &str) -> &str {
        self.value(name).as_text()
    }

    /// Replaces the text of a value; its source stays the same.
    pub fn rewrite(&mut self, id: Id, text: &str) {
        self.values[usize::from(id.0)].value = Value::Text(text.into());
    }

    /// Replaces a value that the server does not support; its source stays the same.
    pub fn correct(&mut self, id: Id, value: Value) {
        self.values[usize::from(id.0)].value = value;
    }

    /// Resets a parameter whose value turned out to be invalid to its built-in default.
    pub fn reset_invalid(&mut self, id: Id) {
        let value = self.registry.setting(id).boot.clone();
        self.values[usize::from(id.0)] = Origin { value, source: Source::Default, location: None };
        self.faulty.push(id);
    }

    /// Sets a value that the server itself determines.
    pub fn set_internal(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::Override, location: None });
    }

    /// Sets a default that depends on the environment.
    pub fn set_dynamic_default(&mut self, name: &str, value: Value) {
        self.set_origin(name, Origin { value, source: Source::DynamicDefault, location: None });
    }

    fn set_origin(&mut self, name: &str, origin: Origin) {
        if let Some(id) = self.registry.find(name) {
            self.values[usize::from(id.0)] = origin;
        }
    }

    /// Sets a parameter from the command line or a similar source. It has no effect if the current
    /// value is from a source of higher precedence.
    pub fn set(&mut self, name: &str, text: &str, source: Source) -> Result<()> {
        self.put(name, text, source, None)
    }

    fn put(
        &mut self,
        name: &str,
        text: &str,
        source: Source,
        location: Option<(Arc<str>, u32)>,
    ) -> Result<()> {
        let replacement = self.registry.replacement_of(name, text);
        let (name, text) = match &replacement {
            Some((name, text)) => (*name, text.as_str()),
            None => (name, text),
        };
        let Some(id) = self.registry.find(name) else {
            return self.put_custom(name, text, source, location);
        };
        let setting = self.registry.setting(id);
        if setting.context == Context::Internal
            || (source == Source::File && setting.flags.not_in_file)
        {
            return Err(cannot_be_changed(setting.name));
        }
        let value = setting.parse_as(name, text)?;
        exclusive::check(setting, &value, |name| self.bool(name))?;
        unsupported::check(setting, &value)?;
        let slot = &mut self.values[usize::from(id.0)];
        if source == Source::File {
            self.given.insert(id, text.to_owned());
        }
        if slot.source <= source {
            *slot = Origin { value, source, location };
        }
        Ok(())
    }

    fn put_custom(
        &mut self,
        name: &str,
        text: &str,
        source: Source,
        location: Option<(Arc<str>, u32)>,
    ) -> Result<()> {
        if !is_custom_name(name) {
            return Err(unrecognized(name));
        }
        let origin = Origin { value: Value::Text(text.into()), source, location };
        match self.custom.iter_mut().find(|(n, _)| n.eq_ignore_ascii_case(name)) {
            Some((_, slot)) => *slot = origin,
            None => self.custom.push((name.to_owned(), origin)),
        }
        Ok(())
    }

    /// Applies the settings of the files; of several lines for a parameter the last one counts.
    /// Returns the errors, each with its index in `entries`.
    pub fn apply_file(&mut self, entries: &[Entry]) -> Vec<(usize, PgError)> {
        let mut errors = Vec::new();
        for (i, entry) in entries.iter().enumerate() {
            if is_overridden(entries, i) {
                continue;
            }
            let location = Some((entry.file.clone(), entry.line));
            if let Err(mut error) = self.put(&entry.name, &entry.value, Source::File, location) {
                if matches!(
                    error.code(),
                    SqlState::UNDEFINED_OBJECT | SqlState::FEATURE_NOT_SUPPORTED
                ) {
                    let message = &mut error.fields_mut().message;
                    message.push_str(&format!(" in file \"{}\" line {}", entry.file, entry.line));
                }
                self.faulty.extend(self.registry.find(&entry.name));
                errors.push((i, error.severity(Severity::Log)));
            }
        }
        errors
    }

    /// The values after a reload: the current ones with those changes of `fresh` (built from the
    /// files) that are allowed at run time. Also returns log messages about changed and refused
    /// parameters, and the ids of the parameters that need a restart.
    pub fn after_reload(&self, mut fresh: ServerValues) -> (ServerValues, Vec<PgError>, Vec<Id>) {
        let mut reports = Vec::new();
        let mut refused = Vec::new();
        let mut report = |code: SqlState, message: String| {
            reports.push(PgError::new(code, message).severity(Severity::Log));
        };
        fresh.pending.clear();
        for id in self.registry.ids() {
            let setting = self.registry.setting(id);
            let (old, new) = (self.origin(id), fresh.origin(id).clone());
            let same = old.value == new.value;
            let fixed = setting.context <= Context::Postmaster;
            if setting.context == Context::Postmaster && !same {
                report(
                    SqlState::CANT_CHANGE_RUNTIME_PARAM,
                    format!(
                        "parameter \"{}\" cannot be changed without restarting the server",
                        setting.name
                    ),
                );
                fresh.pending.push(id);
                refused.push(id);
            }
            if new.source == Source::File
                && let Some((file, line)) = &new.location
            {
                fresh.locations.insert(id, (file.clone(), *line));
            }
            if fixed || fresh.faulty.contains(&id) {
                fresh.values[usize::from(id.0)] = old.clone();
            } else if !same && new.source == Source::File {
                let value = setting.plain(&new.value);
                let value = fresh.given.get(&id).unwrap_or(&value);
                report(
                    SqlState::SUCCESSFUL_COMPLETION,
                    format!("parameter \"{}\" changed to \"{value}\"", setting.name),
                );
            } else if !same && old.source == Source::File {
                report(
                    SqlState::SUCCESSFUL_COMPLETION,
                    format!(
                        "parameter \"{}\" removed from configuration file, reset to default",
                        setting.name
                    ),
                );
            }
        }
        (fresh, reports, refused)
    }
}

/// Whether a later line sets the same parameter.
pub fn is_overridden(entries: &[Entry], i: usize) -> bool {
    entries[i + 1..].iter().any(|e| e.name.eq_ignore_ascii_case(&entries[i].name))
}

pub(crate) fn cannot_be_changed(name: &str) -> PgError {
    PgError::new(
        SqlState::CANT_CHANGE_RUNTIME_PARAM,
        format!("parameter \"{name}\" cannot be changed"),
    )
}

/// Prefixes of names whose parameters are all in the registry.
const RESERVED: &[&str] = &["plpgsql"];

/// The prefix of a name, if all parameters with that prefix are in the registry.
pub(crate) fn reserved_prefix(name: &str) -> Option<&str> {
    let (prefix, _) = name.split_once('.')?;
    RESERVED.contains(&prefix).then_some(prefix)
}

/// 42602 for a dotted name that is not a valid extension parameter.
pub(crate) fn invalid_custom_name(name: &str) -> Option<PgError> {
    if !name.contains('.') {
        return None;
    }
    let detail = match reserved_prefix(name) {
        Some(prefix) => format!("\"{prefix}\" is a reserved prefix."),
        None if is_custom_name(name) => return None,
        None => "Custom parameter names must be two or more simple identifiers separated by dots."
            .to_owned(),
    };
    let message = format!("invalid configuration parameter name \"{name}\"");
    Some(PgError::new(SqlState::INVALID_NAME, message).detail(detail))
}

/// A valid name of an extension parameter: identifiers joined by dots, at least two.
pub(crate) fn is_custom_name(name: &str) -> bool {
    let part = |p: &str| {
        p.chars().enumerate().all(|(i, c)| {
            c == '_' || c.is_alphabetic() || (i > 0 && (c.is_ascii_digit() || c == '$'))
        }) && !p.is_empty()
    };
    name.contains('.') && name.split('.').all(part)
}
