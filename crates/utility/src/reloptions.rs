//! Storage parameters of relations.
//!
//! Counterpart: reloptions.c.

use crate::options::{boolean, text};
use catalog::rows::Text;
use engine::index::{MethodInfo, OptionKind as Check};
use ids::RelKind;
use parse::ast::DefElem;
use pgerror::{PgError, Result, bail, pg_err};
use types::gist::Parameter;

/// Table parameters. The flag marks those that are also allowed with the prefix `toast.`.
const TABLE: &[(&str, Check, bool)] = &[
    ("autovacuum_enabled", Check::Bool, true),
    ("vacuum_truncate", Check::Bool, true),
    ("user_catalog_table", Check::Bool, false),
    ("fillfactor", Check::Int(10, 100), false),
    ("autovacuum_vacuum_threshold", Check::Int(0, i32::MAX as i64), true),
    ("autovacuum_vacuum_insert_threshold", Check::Int(-1, i32::MAX as i64), true),
    ("autovacuum_analyze_threshold", Check::Int(0, i32::MAX as i64), false),
    ("autovacuum_vacuum_cost_limit", Check::Int(1, 10000), true),
    ("autovacuum_freeze_min_age", Check::Int(0, 1_000_000_000), true),
    ("autovacuum_multixact_freeze_min_age", Check::Int(0, 1_000_000_000), true),
    ("autovacuum_freeze_max_age", Check::Int(100_000, 2_000_000_000), true),
    ("autovacuum_multixact_freeze_max_age", Check::Int(10_000, 2_000_000_000), true),
    ("autovacuum_freeze_table_age", Check::Int(0, 2_000_000_000), true),
    ("autovacuum_multixact_freeze_table_age", Check::Int(0, 2_000_000_000), true),
    ("log_autovacuum_min_duration", Check::Int(-1, i32::MAX as i64), true),
    ("toast_tuple_target", Check::Int(128, 8160), false),
    ("parallel_workers", Check::Int(0, 1024), false),
    ("autovacuum_vacuum_cost_delay", Check::Real(0.0, 100.0), true),
    ("autovacuum_vacuum_scale_factor", Check::Real(0.0, 100.0), true),
    ("autovacuum_vacuum_insert_scale_factor", Check::Real(0.0, 100.0), true),
    ("autovacuum_analyze_scale_factor", Check::Real(0.0, 100.0), false),
    ("vacuum_index_cleanup", Check::Words(&["on", "off", "auto"]), true),
];

const VIEW: &[(&str, Check, bool)] = &[
    ("security_barrier", Check::Bool, false),
    ("security_invoker", Check::Bool, false),
    ("check_option", Check::Words(&["local", "cascaded"]), false),
];

fn check(name: &str, value: &str, check: Check) -> Result<()> {
    let bad = || {
        pg_err!(
            INVALID_PARAMETER_VALUE,
            "invalid value for {} option \"{name}\": {value}",
            "integer"
        )
    };
    match check {
        Check::Bool => {
            let v = value.to_ascii_lowercase();
            let ok = ["true", "false", "on", "off", "yes", "no", "1", "0", "t", "f", "y", "n"];
            if !ok.contains(&v.as_str()) {
                bail!(
                    INVALID_PARAMETER_VALUE,
                    "invalid value for boolean option \"{name}\": {value}"
                );
            }
        }
        Check::Int(min, max) => {
            // Fractional values are rounded.
            let rounded = |v: &str| v.parse::<f64>().ok().map(|f| f.round_ties_even() as i64);
            let v = value.trim();
            let n = v.parse().ok().or_else(|| rounded(v)).ok_or_else(bad)?;
            if n < min || n > max {
                return Err(pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "value {value} out of bounds for option \"{name}\""
                )
                .detail(format!("Valid values are between \"{min}\" and \"{max}\".")));
            }
        }
        Check::Real(min, max) => {
            let n: f64 = value.trim().parse().map_err(|_| {
                pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "invalid value for floating point option \"{name}\": {value}"
                )
            })?;
            if n < min || n > max {
                return Err(pg_err!(
                    INVALID_PARAMETER_VALUE,
                    "value {value} out of bounds for option \"{name}\""
                )
                .detail(format!("Valid values are between \"{min:.6}\" and \"{max:.6}\".")));
            }
        }
        Check::Words(words) => {
            let v = value.to_ascii_lowercase();
            let more = words.contains(&"auto")
                && ["true", "false", "yes", "no", "1", "0"].contains(&v.as_str());
            if !words.contains(&v.as_str()) && !more {
                let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                let valid = match quoted.as_slice() {
                    [a, b] => format!("{a} and {b}"),
                    [first @ .., last] => format!("{}, and {last}", first.join(", ")),
                    [] => String::new(),
                };
                let message = format!("invalid value for enum option \"{name}\": {value}");
                return Err(pg_err!(INVALID_PARAMETER_VALUE, "{message}")
                    .detail(format!("Valid values are {valid}.")));
            }
        }
    }
    Ok(())
}

/// The parameters of an operator class, as a column of an index stores them.
pub fn class_options(known: &[Parameter], defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    let checks: Vec<(&str, Check, bool)> =
        known.iter().map(|p| (p.name, Check::Int(p.min, p.max), false)).collect();
    let list = transform(None, defs, None, &checks, false)?;
    for (parameter, multiple, message) in
        known.iter().filter_map(|p| p.multiple.map(|(multiple, message)| (p, multiple, message)))
    {
        let mut pairs = list.iter().flatten().filter_map(|o| o.as_str().split_once('='));
        let value = pairs.find(|(name, _)| *name == parameter.name);
        let value = value.and_then(|(_, value)| value.parse::<i64>().ok());
        if value.is_some_and(|value| value % multiple != 0) {
            return Err(PgError::internal(message));
        }
    }
    Ok(list)
}

/// Applies `defs` of one namespace to the old list; with `reset` removes the parameters.
fn transform(
    old: Option<&[Text]>,
    defs: &[DefElem],
    namespace: Option<&str>,
    known: &[(&str, Check, bool)],
    reset: bool,
) -> Result<Option<Vec<Text>>> {
    let concerned = |d: &&DefElem| d.defnamespace.as_deref() == namespace;
    let mut list: Vec<Text> = old.map(<[Text]>::to_vec).unwrap_or_default();
    list.retain(|t| {
        let name = t.as_str().split('=').next().unwrap_or("");
        !defs.iter().filter(concerned).any(|d| *d.defname == *name)
    });
    for def in defs {
        if let Some(other) = def.defnamespace.as_deref()
            && other != "toast"
        {
            bail!(INVALID_PARAMETER_VALUE, "unrecognized parameter namespace \"{other}\"");
        }
        if def.defnamespace.as_deref() != namespace {
            continue;
        }
        let name = &*def.defname;
        if reset {
            // RESET accepts unknown parameters.
            if def.arg.is_some() {
                bail!(SYNTAX_ERROR, "RESET must not include values for parameters");
            }
            continue;
        }
        let entry = known
            .iter()
            .find(|k| k.0 == name && (namespace.is_none() || k.2))
            .ok_or_else(|| pg_err!(INVALID_PARAMETER_VALUE, "unrecognized parameter \"{name}\""))?;
        let value = match &def.arg {
            None => "true".to_string(),
            Some(_) => text(def)?,
        };
        let set = |t: &Text| t.as_str().split('=').next() == Some(name);
        if list.iter().any(set) {
            bail!(INVALID_PARAMETER_VALUE, "parameter \"{name}\" specified more than once");
        }
        check(name, &value, entry.1)?;
        list.push(Text::from(format!("{name}={value}")));
    }
    Ok((!list.is_empty()).then_some(list))
}

/// Parameters of a new table.
pub fn table_options(defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    for d in defs.iter().filter(|d| is_oids(d)) {
        if boolean(d)? {
            bail!(FEATURE_NOT_SUPPORTED, "tables declared WITH OIDS are not supported");
        }
    }
    let defs: Vec<DefElem> = defs.iter().filter(|d| !is_oids(d)).cloned().collect();
    transform(None, &defs, None, TABLE, false)
}

/// Parameters of a new partitioned table, which has none.
pub fn partitioned_options(defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    let defs: Vec<DefElem> = defs.iter().filter(|d| !is_oids(d)).cloned().collect();
    transform(None, &defs, None, &[], false)
}

fn is_oids(def: &DefElem) -> bool {
    def.defnamespace.is_none() && &*def.defname == "oids"
}

/// Parameters of the TOAST table of a new table.
pub fn toast_options(defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    transform(None, defs, Some("toast"), TABLE, false)
}

/// Parameters of a new index.
pub fn index_options(method: &MethodInfo, defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    if let Some(namespace) = defs.iter().find_map(|d| d.defnamespace.as_deref()) {
        bail!(INVALID_PARAMETER_VALUE, "unrecognized parameter namespace \"{namespace}\"");
    }
    transform(None, defs, None, &of_index(method), false)
}

fn of_index(method: &MethodInfo) -> Vec<(&'static str, Check, bool)> {
    method.options.iter().map(|o| (o.name, o.kind, false)).collect()
}

pub fn view_options(defs: &[DefElem]) -> Result<Option<Vec<Text>>> {
    transform(None, defs, None, VIEW, false)
}

/// The parameters of a relation after SET or RESET. `method` is that of an index, if it is known.
pub fn changed(
    old: Option<&[Text]>,
    defs: &[DefElem],
    (kind, method): (RelKind, Option<&MethodInfo>),
    toast: bool,
    reset: bool,
) -> Result<Option<Vec<Text>>> {
    let index;
    let known = match kind {
        RelKind::Index => {
            index = method.map_or(Vec::new(), of_index);
            &index
        }
        RelKind::View => VIEW,
        _ => TABLE,
    };
    transform(old, defs, toast.then_some("toast"), known, reset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parse::ast::Node;

    fn def(name: &str, arg: Option<Node>) -> DefElem {
        DefElem { defname: name.into(), arg, ..DefElem::default() }
    }

    #[test]
    fn storage_parameters() {
        let ok = table_options(&[def("fillfactor", Some(Node::Integer(90)))]).unwrap();
        assert_eq!(ok.unwrap()[0].as_str(), "fillfactor=90");
        let e = table_options(&[def("fillfactor", Some(Node::Integer(5)))]).unwrap_err();
        assert_eq!(e.message(), "value 5 out of bounds for option \"fillfactor\"");
        let e = table_options(&[def("colour", None)]).unwrap_err();
        assert_eq!(e.message(), "unrecognized parameter \"colour\"");
        let old = [Text::from("fillfactor=90")];
        let left =
            changed(Some(&old), &[def("fillfactor", None)], (RelKind::Table, None), false, true)
                .unwrap();
        assert_eq!(left, None);
    }
}
