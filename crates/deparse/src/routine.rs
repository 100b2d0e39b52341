//! Definitions of functions and procedures. Counterpart: ruleutils.c (`pg_get_functiondef` and the
//! functions for its parts).

use crate::names::Scope;
use crate::{Deparser, Style};
use analyze::session::{Host, SessionLookup};
use analyze::stored;
use analyze::stored::malformed;
use catalog::rows::PgProc;
use ids::Oid;
use ids::builtin::language;
use ids::code::{AggKind, ArgMode, ParallelSafety, ProKind, Volatility};
use pgerror::{Result, pg_err};
use plan::expr::Expr;

/// A parameter.
struct Arg {
    mode: ArgMode,
    name: String,
    ty: Oid,
}

fn args_of(row: &PgProc) -> Vec<Arg> {
    let types: &[Oid] = match &row.proallargtypes {
        Some(all) => all,
        None => &row.proargtypes,
    };
    let of = |i: usize, ty: Oid| Arg {
        mode: row.proargmodes.as_ref().and_then(|m| m.get(i)).copied().unwrap_or(ArgMode::In),
        name: row
            .proargnames
            .as_ref()
            .and_then(|n| n.get(i))
            .map_or_else(String::new, |n| n.as_str().to_owned()),
        ty,
    };
    types.iter().enumerate().map(|(i, ty)| of(i, *ty)).collect()
}

fn defaults_of(host: &mut dyn Host, row: &PgProc) -> Result<Vec<Expr>> {
    match &row.proargdefaults {
        Some(text) => stored::exprs(&mut SessionLookup::new(host), text.as_str()),
        None => Ok(Vec::new()),
    }
}

/// The parameter list, or with `table` the columns of RETURNS TABLE. Returns the text and the
/// number of parameters in it.
fn arguments(
    host: &mut dyn Host,
    row: &PgProc,
    table: bool,
    with_defaults: bool,
) -> Result<(String, usize)> {
    let defaults = if with_defaults { defaults_of(host, row)? } else { Vec::new() };
    let args = args_of(row);
    let inputs = args.iter().filter(|a| a.mode.is_input()).count();
    let without_default = inputs.saturating_sub(defaults.len());
    // The direct arguments of an ordered-set aggregate come before its ORDER BY.
    let mut order_by_at = usize::MAX;
    let mut repeat_variadic = false;
    if row.prokind == ProKind::Aggregate
        && let Some(agg) = host.catalog().find_aggregate(row.oid)?
        && agg.aggkind != AggKind::Normal
    {
        order_by_at = agg.aggnumdirectargs as usize;
        repeat_variadic = row.provariadic.is_valid() && order_by_at == args.len();
    }
    let mut out = String::new();
    let (mut written, mut input) = (0, 0);
    for (i, a) in args.iter().enumerate() {
        let (mode, is_input) = match a.mode {
            ArgMode::In => (if row.prokind == ProKind::Procedure { "IN " } else { "" }, true),
            ArgMode::InOut => ("INOUT ", true),
            ArgMode::Out => ("OUT ", false),
            ArgMode::Variadic => ("VARIADIC ", true),
            ArgMode::Table => ("", false),
        };
        if is_input {
            input += 1;
        }
        if table != (a.mode == ArgMode::Table) {
            continue;
        }
        if written == order_by_at {
            if written > 0 {
                out.push(' ');
            }
            out.push_str("ORDER BY ");
        } else if written > 0 {
            out.push_str(", ");
        }
        let start = out.len();
        out.push_str(mode);
        if !a.name.is_empty() {
            out.push_str(&host.catalog().session.quoting.identifier(&a.name));
            out.push(' ');
        }
        out.push_str(&host.catalog().format_type(a.ty)?);
        if with_defaults && is_input && input > without_default {
            let e = defaults.get(input - without_default - 1).ok_or_else(malformed)?;
            let text = Deparser::new(host, Style::PLAIN).expression(e)?;
            out.push_str(&format!(" DEFAULT {text}"));
        }
        written += 1;
        if repeat_variadic && i + 1 == args.len() {
            let again = out[start..].to_owned();
            out.push_str(&format!(" ORDER BY {again}"));
        }
    }
    Ok((out, written))
}

/// `pg_get_function_arguments`, and without defaults `pg_get_function_identity_arguments`.
pub fn function_arguments(
    host: &mut dyn Host,
    oid: Oid,
    with_defaults: bool,
) -> Result<Option<String>> {
    match host.catalog().find_function(oid)? {
        Some(row) => Ok(Some(arguments(host, &row, false, with_defaults)?.0)),
        None => Ok(None),
    }
}

/// `pg_get_function_result`; `None` for procedures.
pub fn function_result(host: &mut dyn Host, oid: Oid) -> Result<Option<String>> {
    match host.catalog().find_function(oid)? {
        Some(row) if row.prokind != ProKind::Procedure => result_of(host, &row).map(Some),
        _ => Ok(None),
    }
}

fn result_of(host: &mut dyn Host, row: &PgProc) -> Result<String> {
    if row.proretset {
        let (columns, count) = arguments(host, row, true, false)?;
        if count > 0 {
            return Ok(format!("TABLE({columns})"));
        }
    }
    let set = if row.proretset { "SETOF " } else { "" };
    Ok(format!("{set}{}", host.catalog().format_type(row.prorettype)?))
}

/// The default of one parameter (from 1). Counterpart: `pg_get_function_arg_default`.
pub fn function_default(host: &mut dyn Host, oid: Oid, number: i32) -> Result<Option<String>> {
    let Some(row) = host.catalog().find_function(oid)? else { return Ok(None) };
    let args = args_of(&row);
    let is_input = |a: &Arg| a.mode.is_input();
    let Some(at) = usize::try_from(number - 1).ok().filter(|i| *i < args.len()) else {
        return Ok(None);
    };
    if !is_input(&args[at]) {
        return Ok(None);
    }
    let input_index = args[..=at].iter().filter(|a| is_input(a)).count();
    let inputs = args.iter().filter(|a| is_input(a)).count();
    let defaults = defaults_of(host, &row)?;
    let Some(i) = (input_index + defaults.len()).checked_sub(inputs + 1) else { return Ok(None) };
    match defaults.get(i) {
        Some(e) => Deparser::new(host, Style::PLAIN).expression(e).map(Some),
        None => Ok(None),
    }
}

/// The SQL-standard body, if the function has one. Counterpart: `pg_get_function_sqlbody`.
pub fn function_body(host: &mut dyn Host, oid: Oid) -> Result<Option<String>> {
    match host.catalog().find_function(oid)? {
        Some(row) if row.prosqlbody.is_some() => body_of(host, &row).map(Some),
        _ => Ok(None),
    }
}

fn body_of(host: &mut dyn Host, row: &PgProc) -> Result<String> {
    let text = row.prosqlbody.as_ref().ok_or_else(malformed)?.as_str();
    let (queries, block) = stored::body(&mut SessionLookup::new(host), text)?;
    let names: Vec<String> = args_of(row).into_iter().map(|a| a.name).collect();
    let mut out = String::new();
    if block {
        out.push_str("BEGIN ATOMIC\n");
    }
    for q in &queries {
        let mut d = Deparser::new(host, Style { pretty: false, indent: block });
        // The scope of the function encloses the statement, so that columns are qualified.
        d.scopes.push(Scope::default());
        d.param_names = names.clone();
        d.function_name = format!("{}.", d.quoting.identifier(row.proname.as_str()));
        if block {
            d.wrap = 0;
            d.indent = 1;
        }
        out.push_str(&d.statement(q, None, false)?);
        if block {
            out.push_str(";\n");
        }
    }
    if block {
        out.push_str("END");
    }
    Ok(out)
}

/// `CREATE OR REPLACE FUNCTION …`. Counterpart: `pg_get_functiondef`.
pub fn function_def(host: &mut dyn Host, oid: Oid) -> Result<Option<String>> {
    let Some(row) = host.catalog().find_function(oid)? else { return Ok(None) };
    let name = row.proname.as_str();
    if row.prokind == ProKind::Aggregate {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{name}\" is an aggregate function"));
    }
    let procedure = row.prokind == ProKind::Procedure;
    let quoting = host.catalog().session.quoting;
    let schema = host.catalog().namespace_name_or_temp(row.pronamespace)?;
    let full = quoting.qualified(schema.as_ref().map(|s| s.as_str()), name);
    let noun = if procedure { "PROCEDURE" } else { "FUNCTION" };
    let (args, _) = arguments(host, &row, false, true)?;
    let mut out = format!("CREATE OR REPLACE {noun} {full}({args})\n");
    if !procedure {
        out.push_str(&format!(" RETURNS {}\n", result_of(host, &row)?));
    }
    if let Some(types) = &row.protrftypes {
        let mut names = Vec::new();
        for &t in types {
            names.push(format!("FOR TYPE {}", host.catalog().format_type(t)?));
        }
        out.push_str(&format!(" TRANSFORM {}\n", names.join(", ")));
    }
    let language = host.catalog().language(row.prolang)?.lanname;
    out.push_str(&format!(" LANGUAGE {}\n", quoting.identifier(language.as_str())));
    let before = out.len();
    if row.prokind == ProKind::Window {
        out.push_str(" WINDOW");
    }
    out.push_str(match row.provolatile {
        Volatility::Immutable => " IMMUTABLE",
        Volatility::Stable => " STABLE",
        Volatility::Volatile => "",
    });
    out.push_str(match row.proparallel {
        ParallelSafety::Safe => " PARALLEL SAFE",
        ParallelSafety::Restricted => " PARALLEL RESTRICTED",
        ParallelSafety::Unsafe => "",
    });
    if row.proisstrict {
        out.push_str(" STRICT");
    }
    if row.prosecdef {
        out.push_str(" SECURITY DEFINER");
    }
    if row.proleakproof {
        out.push_str(" LEAKPROOF");
    }
    let usual = if matches!(row.prolang, language::INTERNAL | language::C) { 1.0 } else { 100.0 };
    if row.procost != usual {
        out.push_str(&format!(" COST {}", format_g(row.procost)));
    }
    if row.prorows > 0.0 && row.prorows != 1000.0 {
        out.push_str(&format!(" ROWS {}", format_g(row.prorows)));
    }
    if let Some(support) = row.prosupport.valid() {
        let (name, _) = Deparser::new(host, Style::PLAIN).function_name(support, false)?;
        out.push_str(&format!(" SUPPORT {name}"));
    }
    if out.len() > before {
        out.push('\n');
    }
    for setting in row.proconfig.iter().flatten() {
        let Some((name, value)) = setting.as_str().split_once('=') else { continue };
        out.push_str(&format!(" SET {} TO ", quoting.identifier(name)));
        // Settings that are lists of names are stored with each element quoted.
        const LISTS: [&str; 6] = [
            "search_path",
            "temp_tablespaces",
            "session_preload_libraries",
            "shared_preload_libraries",
            "local_preload_libraries",
            "unix_socket_directories",
        ];
        if LISTS.contains(&name) {
            let parts = types::string::split_setting(value).unwrap_or_default();
            let quoted: Vec<String> = parts.iter().map(|p| quoting.literal(p)).collect();
            out.push_str(&quoted.join(", "));
        } else {
            out.push_str(&quoting.literal(value));
        }
        out.push('\n');
    }
    if row.prosqlbody.is_some() {
        out.push_str(&body_of(host, &row)?);
    } else {
        out.push_str("AS ");
        if let Some(file) = &row.probin {
            out.push_str(&format!("{}, ", quoting.literal(file.as_str())));
        }
        let source = row.prosrc.as_str();
        let mut tag = String::from(if procedure { "$procedure" } else { "$function" });
        while source.contains(&tag) {
            tag.push('x');
        }
        out.push_str(&format!("{tag}${source}{tag}$"));
    }
    out.push('\n');
    Ok(Some(out))
}

/// As C's `%g`.
fn format_g(value: f32) -> String {
    types::float::float4_text(value, 0)
}
