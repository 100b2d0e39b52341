//! CREATE, ALTER and DROP FUNCTION and PROCEDURE.
//!
//! Counterpart: functioncmds.c, pg_proc.c.

mod body;
pub mod lookup;
mod shell;
pub(crate) mod signature;
pub mod transpose;

use crate::object::owner;
use crate::{basetype, creation, default_acl, typerow};
use analyze::coerce::Context;
use analyze::{Analyzer, ExprKind, Params, SessionLookup};
use body::standard_body;
use catalog::rows::{
    CatalogRow, Name, OidVector, PgLanguage, PgNamespace, PgProc, PgTransform, PgType, Text,
    indexes,
};
use catalog::{ObjectAddress, Row, acl};
use engine::StatsKind;
use ids::Oid;
use ids::builtin::language::{C, INTERNAL, SQL};
use ids::code::{ArgMode, DepType, ParallelSafety, ProKind, Volatility};
use lookup::{exact, find, missing_argument, must_own, must_own_as, noun, shown, type_of};
use parse::ast::{
    AlterFunctionStmt, CreateFunctionStmt, DefElem, FunctionParameterMode as Mode, Node,
    ObjectType, ObjectWithArgs, TypeName, VariableSetKind,
};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use plan::Expr;
use plan::expr::{CoercionForm, Location};
use types::oids;
use utility::host::{CommandHost, notice};
use utility::stored;
use utility::{names, options};

/// The parameters as stored in `pg_proc`.
pub(crate) struct Parameters {
    pub input: Vec<Oid>,
    /// Types of all parameters, if some are not input parameters.
    pub all: Option<Vec<Oid>>,
    pub modes: Option<Vec<ArgMode>>,
    pub names: Option<Vec<Text>>,
    pub variadic: Oid,
    defaults: Vec<Expr>,
    /// The result type implied by OUT parameters.
    result: Option<Oid>,
}

impl Parameters {
    /// No parameters.
    pub fn none() -> Parameters {
        Parameters {
            input: Vec::new(),
            all: None,
            modes: None,
            names: None,
            variadic: Oid::INVALID,
            defaults: Vec::new(),
            result: None,
        }
    }
}

/// The type of a parameter; errors show its name without quotes.
fn parameter_type(host: &mut dyn CommandHost, name: &TypeName) -> Result<Oid> {
    type_of(host, name).map_err(|e| {
        let missing = format!("\"{}\" does not exist", analyze::typename::type_name_text(name));
        if e.code() == SqlState::UNDEFINED_OBJECT && e.message().ends_with(&missing) {
            let shown = analyze::typename::type_name_text(name);
            return pg_err!(UNDEFINED_OBJECT, "type {shown} does not exist");
        }
        e
    })
}

/// The element type of a VARIADIC parameter's type.
fn variadic_element(host: &mut dyn CommandHost, ty: Oid) -> Result<Oid> {
    Ok(match ty {
        oids::ANY => oids::ANY,
        oids::ANYARRAY => oids::ANYELEMENT,
        oids::ANYCOMPATIBLEARRAY => oids::ANYCOMPATIBLE,
        _ => {
            let row = host.catalog().type_row(ty)?;
            match row.typelem.valid().filter(|_| analyze::typename::is_true_array(&row)) {
                Some(elem) => elem,
                None => bail!(INVALID_FUNCTION_DEFINITION, "VARIADIC parameter must be an array"),
            }
        }
    })
}

/// Error unless the name is unique: an input parameter and an output parameter may have the same
/// name, but two of the same kind may not.
fn check_unique_name(
    stmt: &CreateFunctionStmt,
    (name, mode): (&str, Mode),
    earlier: &[Text],
) -> Result<()> {
    let only_in = |m: Mode| matches!(m, Mode::In | Mode::Variadic);
    let only_out = |m: Mode| matches!(m, Mode::Out | Mode::Table);
    for (other, label) in stmt.parameters.iter().zip(earlier) {
        let other = if other.mode == Mode::Default { Mode::In } else { other.mode };
        let apart = only_in(mode) && only_out(other) || only_out(mode) && only_in(other);
        if !apart && label.as_str() == name {
            bail!(INVALID_FUNCTION_DEFINITION, "parameter name \"{name}\" used more than once");
        }
    }
    Ok(())
}

/// Counterpart: `interpret_function_parameter_list`.
pub(crate) fn parameters(
    host: &mut dyn CommandHost,
    stmt: &CreateFunctionStmt,
    sql: &str,
) -> Result<Parameters> {
    let mut out = Parameters::none();
    let (mut types, mut modes, mut labels) = (Vec::new(), Vec::new(), Vec::<Text>::new());
    let (mut outs, mut out_type) = (0, Oid::INVALID);
    let mut any_name = false;
    for p in &stmt.parameters {
        if p.arg_type.setof {
            let what = if stmt.is_procedure { "procedures" } else { "functions" };
            bail!(INVALID_FUNCTION_DEFINITION, "{what} cannot accept set arguments");
        }
        let ty = match basetype::shell_type(host, &p.arg_type)? {
            Some(shell) => shell::argument(host, stmt, shell)?,
            None => parameter_type(host, &p.arg_type)?,
        };
        names::check_type_privilege(host, ty)?;
        let mode = if p.mode == Mode::Default { Mode::In } else { p.mode };
        let is_input = matches!(mode, Mode::In | Mode::InOut | Mode::Variadic);
        if is_input {
            if out.variadic.is_valid() {
                bail!(
                    INVALID_FUNCTION_DEFINITION,
                    "VARIADIC parameter must be the last input parameter"
                );
            }
            out.input.push(ty);
        }
        if matches!(mode, Mode::Out | Mode::InOut | Mode::Table) {
            if stmt.is_procedure && out.variadic.is_valid() {
                bail!(INVALID_FUNCTION_DEFINITION, "VARIADIC parameter must be the last parameter");
            }
            outs += 1;
            out_type = ty;
        }
        if mode == Mode::Variadic {
            out.variadic = variadic_element(host, ty)?;
        }
        let name = p.name.as_deref().unwrap_or("");
        if !name.is_empty() {
            any_name = true;
            check_unique_name(stmt, (name, mode), &labels)?;
        }
        labels.push(Text::from(name));
        types.push(ty);
        modes.push(match mode {
            Mode::Out => ArgMode::Out,
            Mode::InOut => ArgMode::InOut,
            Mode::Variadic => ArgMode::Variadic,
            Mode::Table => ArgMode::Table,
            Mode::In | Mode::Default => ArgMode::In,
        });
        if let Some(node) = &p.defexpr {
            if !is_input {
                bail!(INVALID_FUNCTION_DEFINITION, "only input parameters can have default values");
            }
            out.defaults.push(default_value(host, node, ty, sql)?);
        } else if is_input && !out.defaults.is_empty() {
            bail!(
                INVALID_FUNCTION_DEFINITION,
                "input parameters after one with a default value must also have defaults"
            );
        } else if stmt.is_procedure && !out.defaults.is_empty() {
            // CALL passes output arguments by position too.
            bail!(
                INVALID_FUNCTION_DEFINITION,
                "procedure OUT parameters cannot appear after one with a default value"
            );
        }
    }
    if outs > 0 || out.variadic.is_valid() {
        out.all = (outs > 0).then(|| types.clone());
        out.all = out.all.or_else(|| Some(types.clone()));
        out.modes = Some(modes);
    }
    if outs > 0 {
        out.result = Some(if outs == 1 && !stmt.is_procedure { out_type } else { oids::RECORD });
    }
    out.names = any_name.then_some(labels);
    Ok(out)
}

fn default_value(host: &mut dyn CommandHost, node: &Node, ty: Oid, sql: &str) -> Result<Expr> {
    let mut lookup = SessionLookup::new(host);
    let mut cx = Analyzer::new(&mut lookup, sql, Params::Fixed(Vec::new()));
    let e = cx.expr_in(node, ExprKind::FunctionDefault)?;
    let from = e.type_oid();
    let form = CoercionForm::ImplicitCast;
    let done = cx.coerce_to_target(e, ty, -1, Context::Assignment, form, Location::UNKNOWN)?;
    let Some(mut e) = done else {
        let (from, to) = (cx.format_type(from), cx.format_type(ty));
        bail!(DATATYPE_MISMATCH, "argument of DEFAULT must be type {to}, not type {from}")
    };
    cx.assign_collations(&mut e)?;
    if plan::walk::any(&e, &mut |e| matches!(e, Expr::Var(_))) {
        bail!(INVALID_COLUMN_REFERENCE, "cannot use table references in parameter default value");
    }
    Ok(e)
}

/// The attributes given in the statement.
struct Attributes {
    language: Option<String>,
    body: Option<Vec<String>>,
    window: bool,
    volatility: Option<Volatility>,
    strict: Option<bool>,
    security: Option<bool>,
    leakproof: Option<bool>,
    cost: Option<f32>,
    rows: Option<f32>,
    support: Option<Oid>,
    parallel: Option<ParallelSafety>,
    config: Vec<(String, Option<String>)>,
    reset_all: bool,
    /// The types of TRANSFORM.
    transforms: Vec<TypeName>,
}

/// The value of an option that must be positive; `shown` is its name in the error.
fn positive(d: &DefElem, shown: &str) -> Result<f32> {
    let value = number(d)?;
    if value <= 0.0 {
        bail!(INVALID_PARAMETER_VALUE, "{shown} must be positive");
    }
    Ok(value)
}

fn attributes(
    host: &mut dyn CommandHost,
    defs: &[DefElem],
    procedure: bool,
    sql: &str,
) -> Result<Attributes> {
    let mut a = Attributes {
        language: None,
        body: None,
        window: false,
        volatility: None,
        strict: None,
        security: None,
        leakproof: None,
        cost: None,
        rows: None,
        support: None,
        parallel: None,
        config: Vec::new(),
        reset_all: false,
        transforms: Vec::new(),
    };
    let mut seen: Vec<&str> = Vec::new();
    for d in defs {
        let name = &*d.defname;
        if name != "set" {
            if seen.contains(&name) {
                let e = pg_err!(SYNTAX_ERROR, "conflicting or redundant options");
                return Err(e.at(parse::position(sql, d.location)));
            }
            seen.push(name);
        }
        let not_for_procedures =
            ["window", "volatility", "strict", "leakproof", "cost", "rows", "support", "parallel"];
        if procedure && not_for_procedures.contains(&name) {
            let e =
                pg_err!(INVALID_FUNCTION_DEFINITION, "invalid attribute in procedure definition");
            return Err(e.at(parse::position(sql, d.location)));
        }
        match name {
            "language" => a.language = Some(options::text(d)?),
            "as" => {
                a.body = Some(match &d.arg {
                    Some(Node::List(l)) => {
                        l.iter().filter_map(Node::as_str).map(str::to_string).collect()
                    }
                    _ => vec![options::text(d)?],
                });
            }
            "window" => a.window = options::boolean(d)?,
            "volatility" => {
                a.volatility = Some(match options::text(d)?.as_str() {
                    "immutable" => Volatility::Immutable,
                    "stable" => Volatility::Stable,
                    _ => Volatility::Volatile,
                });
            }
            "strict" => a.strict = Some(options::boolean(d)?),
            "security" => a.security = Some(options::boolean(d)?),
            "leakproof" => a.leakproof = Some(options::boolean(d)?),
            "cost" => a.cost = Some(positive(d, "COST")?),
            "rows" => a.rows = Some(positive(d, "ROWS")?),
            "parallel" => {
                a.parallel = Some(match options::text(d)?.as_str() {
                    "safe" => ParallelSafety::Safe,
                    "unsafe" => ParallelSafety::Unsafe,
                    "restricted" => ParallelSafety::Restricted,
                    _ => bail!(
                        SYNTAX_ERROR,
                        "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE"
                    ),
                });
            }
            "set" => {
                let Some(Node::VariableSetStmt(s)) = &d.arg else { continue };
                if s.kind == VariableSetKind::ResetAll {
                    a.reset_all = true;
                    a.config.clear();
                } else {
                    let value = host.setting_value(s)?;
                    a.config.push((host.setting_name(s.name.as_deref().unwrap_or("")), value));
                }
            }
            "support" => a.support = Some(support_function(host, d)?),
            "transform" => {
                let Some(Node::List(list)) = &d.arg else { continue };
                let types = list.iter().filter_map(|node| match node {
                    Node::TypeName(name) => Some((**name).clone()),
                    _ => None,
                });
                a.transforms = types.collect();
            }
            other => return Err(PgError::internal(format!("option \"{other}\" not recognized"))),
        }
    }
    Ok(a)
}

/// The function that SUPPORT names. Counterpart: `interpret_func_support`.
fn support_function(host: &mut dyn CommandHost, d: &DefElem) -> Result<Oid> {
    let names: Vec<Box<str>> = match &d.arg {
        Some(Node::List(list)) => list.iter().filter_map(Node::as_str).map(Box::from).collect(),
        _ => vec![options::text(d)?.into()],
    };
    let row = exact(host, &names, &[oids::INTERNAL])?;
    if row.prorettype != oids::INTERNAL {
        let name = shown(&names);
        bail!(INVALID_OBJECT_DEFINITION, "support function {name} must return type internal");
    }
    if !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be superuser to specify a support function");
    }
    Ok(row.oid)
}

fn number(d: &DefElem) -> Result<f32> {
    match &d.arg {
        Some(Node::Integer(n)) => Ok(*n as f32),
        Some(Node::Float(s)) => {
            s.parse().map_err(|_| pg_err!(SYNTAX_ERROR, "{} requires a numeric value", d.defname))
        }
        _ => Err(pg_err!(SYNTAX_ERROR, "{} requires a numeric value", d.defname)),
    }
}

fn with_config(old: Option<Vec<Text>>, changes: &[(String, Option<String>)]) -> Option<Vec<Text>> {
    let mut list = old.unwrap_or_default();
    for (name, value) in changes {
        list.retain(|t| t.as_str().split('=').next() != Some(name.as_str()));
        if let Some(value) = value {
            list.push(Text::from(format!("{name}={value}")));
        }
    }
    (!list.is_empty()).then_some(list)
}

/// The language of a new function. The user must have the privilege to use it.
fn usable_language(host: &mut dyn CommandHost, language: &str) -> Result<Row<PgLanguage>> {
    let Some(lang) = host.catalog().find_language(language)? else {
        return Err(crate::extension::no_language(language));
    };
    let user = names::user(host);
    let (owner, list) = (lang.lanowner, lang.lanacl.as_deref());
    let usable = match lang.lanpltrusted {
        true => host.catalog().has_privilege(user, owner, list, acl::Kind::Language, acl::USAGE)?,
        false => names::is_superuser(host)?,
    };
    if !usable {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for language {language}");
    }
    Ok(lang)
}

/// The result type of a new function, and whether it returns a set. `wanted` is the type that its
/// output parameters determine.
fn result_type(
    host: &mut dyn CommandHost,
    stmt: &CreateFunctionStmt,
    wanted: Option<Oid>,
) -> Result<(Oid, bool)> {
    Ok(match (&stmt.return_type, wanted) {
        (Some(t), wanted) => {
            let ty = shell::result(host, stmt, t)?;
            names::check_type_privilege(host, ty)?;
            if let Some(wanted) = wanted.filter(|w| *w != ty) {
                let shown = host.catalog().format_type(wanted)?;
                bail!(
                    INVALID_FUNCTION_DEFINITION,
                    "function result type must be {shown} because of OUT parameters"
                );
            }
            (ty, t.setof)
        }
        (None, Some(ty)) => (ty, false),
        (None, None) if stmt.is_procedure => (oids::VOID, false),
        (None, None) => {
            bail!(INVALID_FUNCTION_DEFINITION, "function result type must be specified")
        }
    })
}

/// `prosrc` and `probin` of a new function. Counterpart: `interpret_AS_clause`.
fn source_of(
    stmt: &CreateFunctionStmt,
    body: Option<&[String]>,
    (language, oid): (&str, Oid),
    name: &str,
) -> Result<(String, Option<String>)> {
    Ok(match (body, oid) {
        (Some([file, symbol]), C) => (symbol.clone(), Some(file.clone())),
        (Some([file]), C) => (name.to_owned(), Some(file.clone())),
        (Some(_), C) => (String::new(), None),
        (Some([source]), INTERNAL) if source.is_empty() => (name.to_owned(), None),
        (Some([source]), _) => (source.clone(), None),
        (Some(_), _) => bail!(
            INVALID_FUNCTION_DEFINITION,
            "only one AS item needed for language \"{language}\""
        ),
        (None, _) if stmt.sql_body.is_some() => (String::new(), None),
        (None, INTERNAL) => (name.to_owned(), None),
        (None, _) => bail!(INVALID_FUNCTION_DEFINITION, "no function body specified"),
    })
}

/// CREATE FUNCTION and CREATE PROCEDURE.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateFunctionStmt, sql: &str) -> Result<()> {
    let (schema, name) = typerow::new_name(host, &stmt.funcname)?;
    let a = attributes(host, &stmt.options, stmt.is_procedure, sql)?;
    let language = match (&a.language, &stmt.sql_body) {
        (Some(l), _) => l.clone(),
        (None, Some(_)) => "sql".to_string(),
        (None, None) => bail!(INVALID_FUNCTION_DEFINITION, "no language specified"),
    };
    let lang = usable_language(host, &language)?;
    if a.leakproof == Some(true) && !names::is_superuser(host)? {
        bail!(INSUFFICIENT_PRIVILEGE, "only superuser can define a leakproof function");
    }
    let (transformed, transforms) = transformed_types(host, &a.transforms, &lang)?;
    let p = parameters(host, stmt, sql)?;
    let (result, set) = result_type(host, stmt, p.result)?;
    if a.rows.is_some() && !set {
        bail!(
            INVALID_PARAMETER_VALUE,
            "ROWS is not applicable when function does not return a set"
        );
    }
    signature::check(host, &p.input, &outputs_of(&p), result)?;
    if a.body.is_some() && stmt.sql_body.is_some() {
        bail!(INVALID_FUNCTION_DEFINITION, "duplicate function body specified");
    }
    if stmt.sql_body.is_some() && lang.oid != SQL {
        bail!(INVALID_FUNCTION_DEFINITION, "inline SQL function body only valid for language SQL");
    }
    let (prosrc, probin) = source_of(stmt, a.body.as_deref(), (&language, lang.oid), &name)?;
    let body = match &stmt.sql_body {
        // The names of the first parameters, whether or not they are input parameters, because
        // deparsing shows these.
        Some(node) => {
            let all = p.names.iter().flatten().take(p.input.len());
            let names: Vec<String> = all.map(|n| n.as_str().to_string()).collect();
            Some(standard_body(host, node, sql, &name, &p.input, &names)?)
        }
        None => None,
    };
    let fast = matches!(lang.oid, INTERNAL | C);
    let new = PgProc {
        oid: Oid::INVALID,
        proname: Name::new(&name),
        pronamespace: schema,
        proowner: names::user(host),
        prolang: lang.oid,
        procost: a.cost.unwrap_or(if fast { 1.0 } else { 100.0 }),
        prorows: a.rows.unwrap_or(if set { 1000.0 } else { 0.0 }),
        provariadic: p.variadic,
        prosupport: a.support.unwrap_or(Oid::INVALID),
        prokind: match (stmt.is_procedure, a.window) {
            (true, _) => ProKind::Procedure,
            (_, true) => ProKind::Window,
            _ => ProKind::Function,
        },
        prosecdef: a.security.unwrap_or(false),
        proleakproof: a.leakproof.unwrap_or(false),
        proisstrict: a.strict.unwrap_or(false),
        proretset: set,
        provolatile: a.volatility.unwrap_or(Volatility::Volatile),
        proparallel: a.parallel.unwrap_or(ParallelSafety::Unsafe),
        pronargs: p.input.len() as i16,
        pronargdefaults: p.defaults.len() as i16,
        prorettype: result,
        proargtypes: OidVector(p.input.clone().into()),
        proallargtypes: p.all.clone(),
        proargmodes: p.modes.clone(),
        proargnames: p.names.clone(),
        proargdefaults: (!p.defaults.is_empty()).then(|| stored::write_list(&p.defaults)),
        protrftypes: (!transformed.is_empty()).then_some(transformed),
        prosrc: Text::from(prosrc),
        probin: probin.map(Text::from),
        prosqlbody: body.as_ref().map(|b| b.0.clone()),
        proconfig: with_config(None, &a.config),
        proacl: None,
    };
    let mut needs = body.map(|b| b.1).unwrap_or_default();
    needs.extend(transforms);
    let oid = insert(host, new, stmt.replace, &p, needs)?;
    // Checked after the insertion, because the function may call itself.
    host.validate_function(oid, sql)
}

/// The types of TRANSFORM, elements in place of arrays, and their transforms for the language.
fn transformed_types(
    host: &mut dyn CommandHost,
    names: &[TypeName],
    language: &PgLanguage,
) -> Result<(Vec<Oid>, Vec<ObjectAddress>)> {
    let (mut types, mut transforms) = (Vec::new(), Vec::new());
    for name in names {
        let ty = type_of(host, name)?;
        let ty = host.catalog().element_type(ty)?.valid().unwrap_or(ty);
        let transform = crate::transform::named(host, ty, language)?;
        types.push(ty);
        transforms.push(ObjectAddress::of::<PgTransform>(transform));
    }
    Ok((types, transforms))
}

/// Types of the output parameters.
fn outputs_of(p: &Parameters) -> Vec<Oid> {
    let (Some(all), Some(modes)) = (&p.all, &p.modes) else { return Vec::new() };
    let pairs = all.iter().zip(modes);
    pairs.filter(|(_, m)| m.is_output()).map(|(t, _)| *t).collect()
}

/// Inserts the row, or replaces the one with the same name and argument types; returns its OID.
/// Counterpart: `ProcedureCreate`.
pub(crate) fn insert(
    host: &mut dyn CommandHost,
    mut new: PgProc,
    replace: bool,
    p: &Parameters,
    body: Vec<ObjectAddress>,
) -> Result<Oid> {
    let old = existing(host, &new)?;
    let mut cat = host.catalog();
    let this = match &old {
        Some(old) => {
            let name = new.proname.as_str();
            if !replace {
                bail!(
                    DUPLICATE_FUNCTION,
                    "function \"{name}\" already exists with same argument types"
                );
            }
            let owner = old.proowner;
            let shown = cat.format_function(old.oid)?;
            drop(cat);
            if !names::is_owner(host, owner)? {
                bail!(INSUFFICIENT_PRIVILEGE, "must be owner of function {name}");
            }
            may_replace(old, &new, &shown)?;
            (new.oid, new.proowner, new.proacl) = (old.oid, old.proowner, old.proacl.clone());
            let mut cat = host.catalog();
            cat.update(old, &new)?;
            let this = ObjectAddress::of::<PgProc>(old.oid);
            cat.delete_dependencies(this, true)?;
            this
        }
        None => {
            new.oid = cat.new_oid(indexes::PG_PROC_OID_INDEX)?;
            drop(cat);
            let (owner, schema) = (new.proowner, new.pronamespace);
            new.proacl = default_acl::of_new_object(host, ObjectType::Function, owner, schema)?;
            let mut cat = host.catalog();
            cat.insert(&new)?;
            host.backend().count_created(StatsKind::Function, new.oid, false);
            let mut cat = host.catalog();
            let this = ObjectAddress::of::<PgProc>(new.oid);
            cat.record_owner(this, owner)?;
            drop(cat);
            default_acl::record_acl_dependencies(host, this, new.proacl.as_deref(), owner)?;
            this
        }
    };
    // Dependencies of the signature are recorded separately from those of the body.
    let mut signature = vec![
        ObjectAddress::of::<PgNamespace>(new.pronamespace),
        ObjectAddress::of::<PgLanguage>(new.prolang),
        ObjectAddress::of::<PgType>(new.prorettype),
    ];
    let all = new.proallargtypes.as_deref().unwrap_or(&new.proargtypes);
    signature.extend(all.iter().map(|t| ObjectAddress::of::<PgType>(*t)));
    signature.extend(new.prosupport.valid().map(ObjectAddress::of::<PgProc>));
    let mut defaults = Vec::new();
    for e in &p.defaults {
        stored::references(e, Oid::INVALID, &mut defaults);
    }
    stored::normalize_references(host, &mut signature)?;
    stored::normalize_references(host, &mut defaults)?;
    let mut cat = host.catalog();
    for object in signature.into_iter().chain(body).chain(defaults) {
        cat.record_dependency(this, object, DepType::Normal)?;
    }
    cat.increment_command_counter()?;
    Ok(new.oid)
}

fn existing(host: &mut dyn CommandHost, new: &PgProc) -> Result<Option<catalog::Row<PgProc>>> {
    let mut cat = host.catalog();
    let list = cat.scan(indexes::PG_PROC_PRONAME_ARGS_NSP_INDEX, &[new.proname.as_str().into()])?;
    Ok(list
        .into_iter()
        .find(|f| f.pronamespace == new.pronamespace && f.proargtypes.0 == new.proargtypes.0))
}

fn may_replace(old: &PgProc, new: &PgProc, shown: &str) -> Result<()> {
    let name = new.proname.as_str();
    if old.prokind != new.prokind {
        let is = match old.prokind {
            ProKind::Aggregate => "an aggregate function",
            ProKind::Procedure => "a procedure",
            ProKind::Window => "a window function",
            _ => "a function",
        };
        return Err(pg_err!(WRONG_OBJECT_TYPE, "cannot change routine kind")
            .detail(format!("\"{name}\" is {is}.")));
    }
    let hint = match new.prokind {
        ProKind::Procedure => "PROCEDURE",
        ProKind::Aggregate => "AGGREGATE",
        _ => "FUNCTION",
    };
    let hint = format!("Use DROP {hint} {shown} first.");
    if old.prorettype != new.prorettype || old.proretset != new.proretset {
        let message = match new.prokind {
            ProKind::Procedure => "cannot change whether a procedure has output parameters",
            _ => "cannot change return type of existing function",
        };
        return Err(pg_err!(INVALID_FUNCTION_DEFINITION, "{message}").hint(hint));
    }
    if old.prorettype == types::oids::RECORD && output_columns(old) != output_columns(new) {
        return Err(pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "cannot change return type of existing function"
        )
        .detail("Row type defined by OUT parameters is different.")
        .hint(hint));
    }
    if old.proargnames.is_some() {
        let names = input_names(new);
        let old_names = input_names(old);
        for (i, was) in old_names.iter().enumerate().filter(|(_, n)| !n.as_str().is_empty()) {
            if names.get(i).is_none_or(|n| n != was) {
                return Err(pg_err!(
                    INVALID_FUNCTION_DEFINITION,
                    "cannot change name of input parameter \"{}\"",
                    was.as_str()
                )
                .hint(hint));
            }
        }
    }
    if old.pronargdefaults > new.pronargdefaults {
        return Err(pg_err!(
            INVALID_FUNCTION_DEFINITION,
            "cannot remove parameter defaults from existing function"
        )
        .hint(hint));
    }
    Ok(())
}

/// Names and types of the columns of a returned record. Counterpart:
/// `build_function_result_tupdesc_t`.
fn output_columns(p: &PgProc) -> Option<Vec<(Text, Oid)>> {
    let (all, modes) = (p.proallargtypes.as_ref()?, p.proargmodes.as_ref()?);
    let names = p.proargnames.as_deref().unwrap_or_default();
    let columns = all.iter().zip(modes).enumerate();
    let columns = columns.filter(|(_, (_, mode))| mode.is_output());
    let columns = columns.enumerate().map(|(n, (i, (ty, _)))| {
        let name = names.get(i).filter(|n| !n.as_str().is_empty()).cloned();
        (name.unwrap_or_else(|| Text::from(format!("column{}", n + 1))), *ty)
    });
    Some(columns.collect())
}

/// Names of the input parameters.
fn input_names(p: &PgProc) -> Vec<Text> {
    let names = p.proargnames.as_deref().unwrap_or_default();
    let Some(modes) = &p.proargmodes else { return names.to_vec() };
    let inputs = names.iter().zip(modes).filter(|(_, mode)| mode.is_input());
    inputs.map(|(name, _)| name.clone()).collect()
}

fn row_of(host: &mut dyn CommandHost, oid: Oid) -> Result<catalog::Row<PgProc>> {
    let row = host.catalog().scan(indexes::PG_PROC_OID_INDEX, &[oid.into()])?.pop();
    row.ok_or_else(|| PgError::internal(format!("cache lookup failed for function {oid}")))
}

/// Error 42723 if the schema has a routine with this name and argument types.
fn name_is_free(host: &mut dyn CommandHost, row: &PgProc, name: &str, schema: Oid) -> Result<()> {
    let probe = PgProc { proname: Name::new(name), pronamespace: schema, ..row.clone() };
    if existing(host, &probe)?.is_some() {
        let mut list = Vec::new();
        for ty in &row.proargtypes.0 {
            list.push(host.catalog().format_type(*ty)?);
        }
        let shown = host.catalog().namespace_name(schema)?.unwrap_or_default();
        bail!(
            DUPLICATE_FUNCTION,
            "function {name}({}) already exists in schema \"{shown}\"",
            list.join(", ")
        );
    }
    Ok(())
}

/// The kind that RENAME, SET SCHEMA and OWNER TO name in messages, also for other routines.
const ALTERED: &str = "function";

pub fn rename(host: &mut dyn CommandHost, oid: Oid, new: &str) -> Result<()> {
    must_own_as(host, oid, ALTERED)?;
    let row = row_of(host, oid)?;
    name_is_free(host, &row, new, row.pronamespace)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgProc { proname: Name::new(new), ..row.row.clone() })?;
    Ok(())
}

pub fn set_schema(host: &mut dyn CommandHost, oid: Oid, schema: &str) -> Result<()> {
    let schema = creation::target_schema(host, schema)?;
    must_own_as(host, oid, ALTERED)?;
    let row = row_of(host, oid)?;
    if schema == row.pronamespace {
        return Ok(());
    }
    creation::check_move(host, row.pronamespace, schema)?;
    let name = row.proname.to_string();
    name_is_free(host, &row, &name, schema)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgProc { pronamespace: schema, ..row.row.clone() })?;
    let this = ObjectAddress::of::<PgProc>(oid);
    cat.change_dependency(this, PgNamespace::RELATION, row.pronamespace, schema)?;
    Ok(())
}

pub fn set_owner(host: &mut dyn CommandHost, oid: Oid, owner: Oid) -> Result<()> {
    let row = row_of(host, oid)?;
    if row.proowner == owner {
        return Ok(());
    }
    must_own_as(host, oid, ALTERED)?;
    names::must_be_member(host, owner)?;
    let proacl = owner::acl_of(row.proacl.clone(), row.proowner, owner);
    let mut cat = host.catalog();
    cat.update(&row, &PgProc { proowner: owner, proacl, ..row.row.clone() })?;
    owner::record(host, ObjectAddress::of::<PgProc>(oid), owner)
}

/// ALTER FUNCTION with options.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterFunctionStmt, sql: &str) -> Result<()> {
    let found = find(host, &stmt.func, stmt.objtype, false)?;
    let oid = found.ok_or_else(|| PgError::internal("routine was not found"))?;
    must_own(host, oid)?;
    let row = row_of(host, oid)?;
    if row.prokind == ProKind::Aggregate {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is an aggregate function", row.proname);
    }
    let a = attributes(host, &stmt.actions, row.prokind == ProKind::Procedure, sql)?;
    let mut new = row.row.clone();
    if let Some(v) = a.volatility {
        new.provolatile = v;
    }
    if let Some(v) = a.strict {
        new.proisstrict = v;
    }
    if let Some(v) = a.security {
        new.prosecdef = v;
    }
    if let Some(v) = a.leakproof {
        if v && !names::is_superuser(host)? {
            bail!(INSUFFICIENT_PRIVILEGE, "only superuser can define a leakproof function");
        }
        new.proleakproof = v;
    }
    if let Some(v) = a.cost {
        new.procost = v;
    }
    if let Some(v) = a.rows {
        if !new.proretset {
            bail!(
                INVALID_PARAMETER_VALUE,
                "ROWS is not applicable when function does not return a set"
            );
        }
        new.prorows = v;
    }
    if let Some(v) = a.parallel {
        new.proparallel = v;
    }
    if let Some(support) = a.support {
        let this = ObjectAddress::of::<PgProc>(oid);
        let mut cat = host.catalog();
        match new.prosupport.valid() {
            Some(old) => {
                cat.change_dependency(this, PgProc::RELATION, old, support)?;
            }
            None => {
                let support = ObjectAddress::of::<PgProc>(support);
                cat.record_dependency(this, support, DepType::Normal)?;
            }
        }
        new.prosupport = support;
    }
    let old = if a.reset_all { None } else { new.proconfig.clone() };
    new.proconfig = with_config(old, &a.config);
    let mut cat = host.catalog();
    cat.update(&row, &new)?;
    Ok(())
}

/// The message for a missing schema or argument type in the reference to a routine.
fn missing_name(host: &mut dyn CommandHost, object: &ObjectWithArgs) -> Result<Option<String>> {
    if let [.., schema, _] = object.objname.as_slice()
        && host.catalog().find_namespace(schema)?.is_none()
    {
        return Ok(Some(format!("schema \"{schema}\" does not exist")));
    }
    missing_argument(host, object)
}

/// The routines of a DROP statement.
pub fn to_drop(
    host: &mut dyn CommandHost,
    objects: &[Node],
    kind: ObjectType,
    missing_ok: bool,
) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in objects {
        let Node::ObjectWithArgs(object) = node else { continue };
        let Some(oid) = find(host, object, kind, missing_ok)? else {
            if let Some(message) = missing_name(host, object)? {
                host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
                continue;
            }
            let mut list = Vec::new();
            for t in object.objargs.iter().flatten() {
                list.push(analyze::typename::type_name_text(t));
            }
            let parts: Vec<&str> = object.objname.iter().map(|n| &**n).collect();
            let args = list.join(",");
            host.notice(notice(pg_err!(
                SUCCESSFUL_COMPLETION,
                "{} {}({args}) does not exist, skipping",
                noun(kind),
                parts.join(".")
            )));
            continue;
        };
        let row = host.catalog().function(oid)?;
        let schema = row.pronamespace;
        let what = format_args!("namespace {schema}");
        let schema = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
        if !names::is_owner(host, schema.nspowner)? {
            must_own(host, oid)?;
        }
        out.push(ObjectAddress::of::<PgProc>(oid));
    }
    Ok(out)
}
