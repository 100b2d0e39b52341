//! The registry of parameters and their definitions.
//!
//! Counterpart: guc.c (the tables), guc.h.

use crate::server::is_custom_name;
use crate::value::{Unit, Value};
use pgerror::{PgError, Result, SqlState};
use std::collections::HashMap;

const FACTS: [&str; 2] = [include_str!("../facts/settings.tsv"), include_str!("../facts/more.tsv")];

/// When a parameter can be changed, from never to always. Counterpart: `GucContext`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Context {
    Internal,
    Postmaster,
    Sighup,
    SuperuserBackend,
    Backend,
    Superuser,
    User,
}

impl Context {
    fn named(name: &str) -> Option<Context> {
        Some(match name {
            "internal" => Context::Internal,
            "postmaster" => Context::Postmaster,
            "sighup" => Context::Sighup,
            "superuser-backend" => Context::SuperuserBackend,
            "backend" => Context::Backend,
            "superuser" => Context::Superuser,
            "user" => Context::User,
            _ => return None,
        })
    }

    /// The name in `pg_settings.context`.
    pub fn name(self) -> &'static str {
        match self {
            Context::Internal => "internal",
            Context::Postmaster => "postmaster",
            Context::Sighup => "sighup",
            Context::SuperuserBackend => "superuser-backend",
            Context::Backend => "backend",
            Context::Superuser => "superuser",
            Context::User => "user",
        }
    }
}

/// Type and range of a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    Bool,
    Int { min: i64, max: i64 },
    Real { min: f64, max: f64 },
    Enum { values: Vec<&'static str> },
    Text,
}

impl Kind {
    /// The name in `pg_settings.vartype`.
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Int { .. } => "integer",
            Kind::Real { .. } => "real",
            Kind::Enum { .. } => "enum",
            Kind::Text => "string",
        }
    }
}

/// Flags of a parameter. Counterpart: the `GUC_…` flags.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags {
    pub explain: bool,
    pub no_reset_all: bool,
    pub no_show_all: bool,
    pub not_in_sample: bool,
    /// Reported to the client by ParameterStatus when it changes.
    pub report: bool,
    /// A comma-separated list.
    pub list: bool,
    /// A list of identifiers, which are quoted where necessary.
    pub quoted: bool,
    /// Visible only to superusers and members of `pg_read_all_settings`.
    pub superuser_only: bool,
    pub not_in_file: bool,
    /// Of a library that only `shared_preload_libraries` loads. The library is the name's first
    /// part.
    pub preloaded: bool,
}

/// Index of a parameter in the registry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub u16);

/// The definition of a parameter.
#[derive(Clone, Debug)]
pub struct Setting {
    pub name: &'static str,
    pub kind: Kind,
    pub unit: Option<Unit>,
    pub context: Context,
    pub boot: Value,
    pub flags: Flags,
    pub category: &'static str,
    /// The maximum that the platform allows, if there is one.
    pub platform_max: Option<i64>,
}

/// Parameters whose value is a locale name, which must exist.
pub const LOCALES: [&str; 4] = ["lc_messages", "lc_monetary", "lc_numeric", "lc_time"];

/// The only one of [`LOCALES`] that does not accept the empty name, which means the locale of the
/// environment.
pub const NEVER_EMPTY: &str = LOCALES[0];

/// All parameters, sorted by name.
#[derive(Debug)]
pub struct Registry {
    settings: Vec<Setting>,
    by_name: HashMap<String, Id>,
}

const REPORT: [&str; 13] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];
const LISTS: [&str; 14] = [
    "DateStyle",
    "listen_addresses",
    "local_preload_libraries",
    "log_destination",
    "plpgsql.extra_errors",
    "plpgsql.extra_warnings",
    "restrict_nonsystem_relation_kind",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "synchronous_standby_names",
    "temp_tablespaces",
    "unix_socket_directories",
    "wal_consistency_checking",
];
const QUOTED: [&str; 5] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
];
const SUPERUSER_ONLY: [&str; 22] = [
    "config_file",
    "data_directory",
    "dynamic_library_path",
    "extension_destdir",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "jit_provider",
    "krb_server_keyfile",
    "log_directory",
    "log_filename",
    "output_plugin_libraries",
    "primary_conninfo",
    "session_preload_libraries",
    "shared_preload_libraries",
    "ssl_ciphers",
    "ssl_dh_params_file",
    "ssl_ecdh_curve",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "ssl_passphrase_command",
    "unix_socket_directories",
];
const NOT_IN_FILE: [&str; 8] = [
    "config_file",
    "is_superuser",
    "role",
    "session_authorization",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "data_directory_mode",
];

/// Former names of parameters. The value of `checkpoint_segments` counts segments of 16 MB.
const RETIRED: [(&str, &str); 4] = [
    ("checkpoint_segments", "max_wal_size"),
    ("sort_mem", "work_mem"),
    ("vacuum_mem", "maintenance_work_mem"),
    ("wal_keep_segments", "wal_keep_size"),
];

impl Registry {
    /// Decodes the fact tables.
    pub fn load() -> Registry {
        let lines = FACTS.iter().flat_map(|facts| facts.lines());
        let decoded =
            lines.map(|l| decode(l).expect("the table is part of the program, and tested"));
        let mut settings: Vec<Setting> = decoded.collect();
        settings.sort_by_key(|s| s.name.to_ascii_lowercase());
        let by_name = settings
            .iter()
            .enumerate()
            .map(|(i, s)| (s.name.to_ascii_lowercase(), Id(i as u16)))
            .collect();
        Registry { settings, by_name }
    }

    /// Adds the platform's limit of `max_stack_depth`, in kB.
    pub fn with_stack_limit(mut self, kilobytes: Option<i64>) -> Registry {
        if let Some(id) = self.find("max_stack_depth") {
            self.settings[usize::from(id.0)].platform_max = kilobytes;
        }
        self
    }

    /// The parameter with this name, case-insensitive.
    pub fn find(&self, name: &str) -> Option<Id> {
        if let Some(&id) = self.by_name.get(name) {
            return Some(id);
        }
        self.by_name.get(&name.to_ascii_lowercase()).copied()
    }

    /// As [`Registry::find`], or 42704.
    pub fn get(&self, name: &str) -> Result<Id> {
        self.find(name).ok_or_else(|| unrecognized(name))
    }

    /// The current name and value for a former parameter.
    pub fn replacement_of(&self, name: &str, value: &str) -> Option<(&'static str, String)> {
        let (old, new) = RETIRED.iter().find(|(old, _)| old.eq_ignore_ascii_case(name))?;
        if *old == "sort_mem" || *old == "vacuum_mem" {
            return Some((new, value.to_owned()));
        }
        // `checkpoint_segments` triggered a checkpoint; up to three times as many segments were
        // kept.
        let factor = if *old == "checkpoint_segments" { 3 * 16 } else { 16 };
        let segments: i64 = value.trim().parse().ok()?;
        Some((new, format!("{}MB", segments.checked_mul(factor)?)))
    }

    /// The name of a parameter in privileges on it. Counterpart:
    /// `convert_GUC_name_for_parameter_acl`.
    pub fn privilege_name(&self, name: &str) -> String {
        let retired = ["sort_mem", "vacuum_mem"];
        let lower = name.to_ascii_lowercase();
        match RETIRED.iter().find(|(old, _)| *old == lower && retired.contains(old)) {
            Some((_, new)) => (*new).to_owned(),
            None => lower,
        }
    }

    /// [`Self::privilege_name`], and whether privileges can be granted on that parameter.
    pub fn privileged(&self, name: &str) -> (String, bool) {
        let name = self.privilege_name(name);
        let grantable = self.find(&name).is_some() || is_custom_name(&name);
        (name, grantable)
    }

    /// The definition of a parameter.
    pub fn setting(&self, id: Id) -> &Setting {
        &self.settings[usize::from(id.0)]
    }

    /// The ids of all parameters, in order of their names.
    pub fn ids(&self) -> impl Iterator<Item = Id> + use<> {
        (0..self.settings.len() as u16).map(Id)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.settings.len()
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }
}

/// 42704.
pub(crate) fn unrecognized(name: &str) -> PgError {
    PgError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("unrecognized configuration parameter \"{name}\""),
    )
}

/// Decodes a line of the table; `None` if a field is malformed.
pub(crate) fn decode(line: &'static str) -> Option<Setting> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (name, kind, unit, context) = (next()?, next()?, next()?, next()?);
    let (boot, min, max, values) = (next()?, next()?, next()?, next()?);
    let (flag_words, category) = (next()?, next()?);
    let kind = match kind {
        "bool" => Kind::Bool,
        "integer" => Kind::Int { min: min.parse().ok()?, max: max.parse().ok()? },
        "real" => Kind::Real { min: min.parse().ok()?, max: max.parse().ok()? },
        "enum" if !values.is_empty() => Kind::Enum { values: values.split(',').collect() },
        "string" => Kind::Text,
        _ => return None,
    };
    let boot = match &kind {
        Kind::Bool if matches!(boot, "on" | "off") => Value::Bool(boot == "on"),
        Kind::Bool => return None,
        Kind::Int { .. } => Value::Int(int_fact(boot)?),
        Kind::Real { .. } => Value::Real(boot.parse().ok()?),
        Kind::Enum { values } if !values.contains(&boot) => return None,
        _ => Value::Text(boot.into()),
    };
    let has = |word: &str| flag_words.split(',').any(|w| w == word);
    let flags = Flags {
        explain: has("EXPLAIN"),
        no_reset_all: has("NO_RESET_ALL"),
        no_show_all: has("NO_SHOW_ALL"),
        not_in_sample: has("NOT_IN_SAMPLE"),
        report: REPORT.contains(&name),
        list: LISTS.contains(&name),
        quoted: QUOTED.contains(&name),
        superuser_only: SUPERUSER_ONLY.contains(&name),
        not_in_file: NOT_IN_FILE.contains(&name),
        preloaded: has("PRELOADED"),
    };
    let context = Context::named(context)?;
    let unit = match unit {
        "" => None,
        unit => Some(Unit::named(unit)?),
    };
    Some(Setting { name, kind, unit, context, boot, flags, category, platform_max: None })
}

/// File modes are octal.
fn int_fact(text: &str) -> Option<i64> {
    match text.strip_prefix('0') {
        Some(octal) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok(),
        _ => text.parse().ok(),
    }
}
