//! CREATE EXTENSION, for the built-in extensions.
//!
//! Counterpart: extension.c.

use crate::default_acl;
use catalog::ObjectAddress;
use catalog::acl;
use catalog::rows::{Name, OidVector, PgExtension, PgLanguage, PgNamespace, PgProc, Text, indexes};
use ids::Oid;
use ids::builtin::{language, namespace, role};
use ids::code::{DepType, ParallelSafety, ProKind, Volatility};
use parse::ast::{CreateExtensionStmt, Node, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use types::oids;
use utility::host::{CommandHost, notice};
use utility::names;

/// A function of an extension, with names and types as declared in its script.
struct Function {
    name: &'static str,
    symbol: &'static str,
    args: &'static [(&'static str, Oid, Option<&'static str>)],
    result: Oid,
    strict: bool,
    volatility: Volatility,
    parallel: ParallelSafety,
}

/// A procedural language of an extension: its name and comment. The first three functions of the
/// extension are its handler, its inline handler and its validator.
struct Language {
    name: &'static str,
    comment: &'static str,
}

/// A built-in extension.
pub struct Extension {
    pub name: &'static str,
    pub version: &'static str,
    pub comment: &'static str,
    library: &'static str,
    pub relocatable: bool,
    /// The schema of its objects, if that is fixed.
    pub schema: Option<&'static str>,
    /// Users with the privilege CREATE on the database may create it.
    pub trusted: bool,
    language: Option<Language>,
    functions: &'static [Function],
}

const PREWARM: Extension = Extension {
    name: "pg_prewarm",
    version: "1.2",
    comment: "prewarm relation data",
    library: "$libdir/pg_prewarm",
    relocatable: true,
    schema: None,
    trusted: false,
    language: None,
    functions: &[
        Function {
            name: "pg_prewarm",
            symbol: "pg_prewarm",
            args: &[
                ("", oids::REGCLASS, None),
                ("mode", oids::TEXT, Some("'buffer'")),
                ("fork", oids::TEXT, Some("'main'")),
                ("first_block", oids::INT8, Some("null")),
                ("last_block", oids::INT8, Some("null")),
            ],
            result: oids::INT8,
            strict: false,
            volatility: Volatility::Volatile,
            parallel: ParallelSafety::Safe,
        },
        Function {
            name: "autoprewarm_start_worker",
            symbol: "autoprewarm_start_worker",
            args: &[],
            result: oids::VOID,
            strict: true,
            volatility: Volatility::Volatile,
            parallel: ParallelSafety::Unsafe,
        },
        Function {
            name: "autoprewarm_dump_now",
            symbol: "autoprewarm_dump_now",
            args: &[],
            result: oids::INT8,
            strict: true,
            volatility: Volatility::Volatile,
            parallel: ParallelSafety::Unsafe,
        },
    ],
};

/// A function of a language: with one argument, it is strict.
const fn handler(
    name: &'static str,
    args: &'static [(&'static str, Oid, Option<&'static str>)],
    result: Oid,
) -> Function {
    Function {
        name,
        symbol: name,
        args,
        result,
        strict: !args.is_empty(),
        volatility: Volatility::Volatile,
        parallel: ParallelSafety::Unsafe,
    }
}

const PLPGSQL: Extension = Extension {
    name: "plpgsql",
    version: "1.0",
    comment: "PL/pgSQL procedural language",
    library: "$libdir/plpgsql",
    relocatable: false,
    schema: Some("pg_catalog"),
    trusted: true,
    language: Some(Language { name: "plpgsql", comment: "PL/pgSQL procedural language" }),
    functions: &[
        handler("plpgsql_call_handler", &[], oids::LANGUAGE_HANDLER),
        handler("plpgsql_inline_handler", &[("", oids::INTERNAL, None)], oids::VOID),
        handler("plpgsql_validator", &[("", oids::OID, None)], oids::VOID),
    ],
};

const EXTENSIONS: &[Extension] = &[PREWARM, PLPGSQL];

/// The extensions that CREATE EXTENSION accepts.
pub fn extensions() -> &'static [Extension] {
    EXTENSIONS
}

/// 42704 for a language that does not exist.
pub fn no_language(name: &str) -> PgError {
    let e = pg_err!(UNDEFINED_OBJECT, "language \"{name}\" does not exist");
    match EXTENSIONS.iter().any(|known| known.name == name) {
        true => e.hint("Use CREATE EXTENSION to load the language into the database."),
        false => e,
    }
}

/// CREATE EXTENSION.
pub fn create_extension(host: &mut dyn CommandHost, stmt: &CreateExtensionStmt) -> Result<()> {
    let name = &*stmt.extname;
    if host.catalog().find_extension(name)?.is_some() {
        if stmt.if_not_exists {
            host.notice(notice(pg_err!(
                DUPLICATE_OBJECT,
                "extension \"{name}\" already exists, skipping"
            )));
            return Ok(());
        }
        bail!(DUPLICATE_OBJECT, "extension \"{name}\" already exists");
    }
    let Some(known) = EXTENSIONS.iter().find(|e| e.name == name) else {
        return Err(pg_err!(FEATURE_NOT_SUPPORTED, "extension \"{name}\" is not available").hint(
            "The extension must first be installed on the system where PostgreSQL is running.",
        ));
    };
    check_privilege(host, known)?;
    let mut schema = known.schema.map(str::to_owned);
    for d in &stmt.options {
        if let ("schema", Some(Node::String(s))) = (&*d.defname, &d.arg) {
            if let Some(fixed) = known.schema.filter(|fixed| *fixed != &**s) {
                bail!(
                    FEATURE_NOT_SUPPORTED,
                    "extension \"{name}\" must be installed in schema \"{fixed}\""
                );
            }
            schema = Some(s.to_string());
        }
    }
    let schema = match known.schema {
        Some(_) => namespace::PG_CATALOG,
        None => host.catalog().creation_namespace(schema.as_deref())?,
    };
    let owner = names::user(host);
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_EXTENSION_OID_INDEX)?;
    cat.insert(&PgExtension {
        oid,
        extname: Name::new(name),
        extowner: owner,
        extnamespace: schema,
        extrelocatable: known.relocatable,
        extversion: Text::from(known.version),
        extconfig: None,
        extcondition: None,
    })?;
    let this = ObjectAddress::of::<PgExtension>(oid);
    cat.record_owner(this, owner)?;
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.increment_command_counter()?;
    host.catalog().set_comment(this, Some(known.comment))?;
    // The script of a trusted extension is run by the bootstrap superuser.
    let script_owner = if known.trusted { role::BOOTSTRAP_SUPERUSER } else { owner };
    let mut functions = Vec::new();
    for f in known.functions {
        functions.push(add_function(host, known, f, schema, script_owner, this)?);
    }
    if let Some(language) = &known.language {
        add_language(host, language, &functions, owner, this)?;
    }
    host.catalog().increment_command_counter()
}

/// 42501 if the user may not create the extension.
fn check_privilege(host: &mut dyn CommandHost, known: &Extension) -> Result<()> {
    if names::is_superuser(host)? {
        return Ok(());
    }
    let (user, database) = (names::user(host), host.backend().database());
    if let Some(row) = host.catalog().database(database)?.filter(|_| known.trusted) {
        let (kind, list) = (acl::Kind::Database, row.datacl.as_deref());
        if host.catalog().has_privilege(user, row.datdba, list, kind, acl::CREATE)? {
            return Ok(());
        }
    }
    let name = known.name;
    let hint = match known.trusted {
        true => "Must have CREATE privilege on current database to create this extension.",
        false => "Must be superuser to create this extension.",
    };
    Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied to create extension \"{name}\"")
        .hint(hint))
}

fn add_language(
    host: &mut dyn CommandHost,
    language: &Language,
    functions: &[Oid],
    owner: Oid,
    extension: ObjectAddress,
) -> Result<()> {
    let &[handler, inline, validator] = functions else {
        return Err(PgError::internal("a language needs three functions"));
    };
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_LANGUAGE_OID_INDEX)?;
    cat.insert(&PgLanguage {
        oid,
        lanname: Name::new(language.name),
        lanowner: owner,
        lanispl: true,
        lanpltrusted: true,
        lanplcallfoid: handler,
        laninline: inline,
        lanvalidator: validator,
        lanacl: None,
    })?;
    let this = ObjectAddress::of::<PgLanguage>(oid);
    cat.record_owner(this, owner)?;
    cat.record_dependency(this, extension, DepType::Extension)?;
    for function in functions {
        let function = ObjectAddress::of::<PgProc>(*function);
        cat.record_dependency(this, function, DepType::Normal)?;
    }
    cat.increment_command_counter()?;
    cat.set_comment(this, Some(language.comment))
}

fn add_function(
    host: &mut dyn CommandHost,
    of: &Extension,
    f: &Function,
    schema: Oid,
    owner: Oid,
    extension: ObjectAddress,
) -> Result<Oid> {
    let mut defaults = Vec::new();
    for (_, ty, default) in f.args {
        let Some(text) = default else { continue };
        let sql = format!("SELECT {text}");
        let node = match parse::parse(&sql)?.pop().map(|s| s.stmt) {
            Some(Node::SelectStmt(mut s)) => s.target_list.pop().and_then(|t| t.val),
            _ => None,
        };
        let Some(node) = node else { continue };
        let mut lookup = analyze::SessionLookup::new(host);
        let e = analyze::ddl::column_default(&mut lookup, &node, &sql, "", *ty, -1, None)?;
        defaults.push(e);
    }
    let proacl = default_acl::of_new_object(host, ObjectType::Function, owner, schema)?;
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_PROC_OID_INDEX)?;
    let named = f.args.iter().any(|a| !a.0.is_empty());
    cat.insert(&PgProc {
        oid,
        proname: Name::new(f.name),
        pronamespace: schema,
        proowner: owner,
        prolang: language::C,
        procost: 1.0,
        prorows: 0.0,
        provariadic: Oid::INVALID,
        prosupport: Oid::INVALID,
        prokind: ProKind::Function,
        prosecdef: false,
        proleakproof: false,
        proisstrict: f.strict,
        proretset: false,
        provolatile: f.volatility,
        proparallel: f.parallel,
        pronargs: f.args.len() as i16,
        pronargdefaults: defaults.len() as i16,
        prorettype: f.result,
        proargtypes: OidVector(f.args.iter().map(|a| a.1).collect()),
        proallargtypes: None,
        proargmodes: None,
        proargnames: named.then(|| f.args.iter().map(|a| Text::from(a.0)).collect()),
        proargdefaults: (!defaults.is_empty()).then(|| utility::stored::write_list(&defaults)),
        protrftypes: None,
        prosrc: Text::from(f.symbol),
        probin: Some(Text::from(of.library)),
        prosqlbody: None,
        proconfig: None,
        proacl: proacl.clone(),
    })?;
    let this = ObjectAddress::of::<PgProc>(oid);
    cat.record_owner(this, owner)?;
    cat.record_dependency(this, ObjectAddress::of::<PgNamespace>(schema), DepType::Normal)?;
    cat.record_dependency(this, extension, DepType::Extension)?;
    drop(cat);
    default_acl::record_acl_dependencies(host, this, proacl.as_deref(), owner)?;
    host.catalog().increment_command_counter()?;
    Ok(oid)
}
