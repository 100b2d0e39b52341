//! CREATE EXTENSION, for the built-in extensions.
//!
//! Counterpart: extension.c.

use crate::default_acl;
use catalog::ObjectAddress;
use catalog::rows::{Name, OidVector, PgExtension, PgNamespace, PgProc, Text, indexes};
use ids::Oid;
use ids::builtin::language;
use ids::code::{DepType, ParallelSafety, ProKind, Volatility};
use parse::ast::{CreateExtensionStmt, Node, ObjectType};
use pgerror::{Result, bail, pg_err};
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
}

/// A built-in extension.
pub struct Extension {
    pub name: &'static str,
    pub version: &'static str,
    pub comment: &'static str,
    library: &'static str,
    pub relocatable: bool,
    functions: &'static [Function],
}

const EXTENSIONS: &[Extension] = &[Extension {
    name: "pg_prewarm",
    version: "1.2",
    comment: "prewarm relation data",
    library: "$libdir/pg_prewarm",
    relocatable: true,
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
        },
        Function {
            name: "autoprewarm_start_worker",
            symbol: "autoprewarm_start_worker",
            args: &[],
            result: oids::VOID,
            strict: true,
            volatility: Volatility::Volatile,
        },
        Function {
            name: "autoprewarm_dump_now",
            symbol: "autoprewarm_dump_now",
            args: &[],
            result: oids::INT8,
            strict: true,
            volatility: Volatility::Volatile,
        },
    ],
}];

/// The extensions that CREATE EXTENSION accepts.
pub fn extensions() -> &'static [Extension] {
    EXTENSIONS
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
    if !names::is_superuser(host)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to create extension \"{name}\""
        )
        .hint("Must be superuser to create this extension."));
    }
    let mut schema = None;
    for d in &stmt.options {
        if let ("schema", Some(Node::String(s))) = (&*d.defname, &d.arg) {
            schema = Some(s.to_string());
        }
    }
    let schema = host.catalog().creation_namespace(schema.as_deref())?;
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
    for f in known.functions {
        add_function(host, known, f, schema, owner, this)?;
    }
    host.catalog().increment_command_counter()
}

fn add_function(
    host: &mut dyn CommandHost,
    of: &Extension,
    f: &Function,
    schema: Oid,
    owner: Oid,
    extension: ObjectAddress,
) -> Result<()> {
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
        proparallel: match f.args.is_empty() {
            true => ParallelSafety::Unsafe,
            false => ParallelSafety::Safe,
        },
        pronargs: f.args.len() as i16,
        pronargdefaults: defaults.len() as i16,
        prorettype: f.result,
        proargtypes: OidVector(f.args.iter().map(|a| a.1).collect()),
        proallargtypes: None,
        proargmodes: None,
        proargnames: named.then(|| f.args.iter().map(|a| Text::from(a.0)).collect()),
        proargdefaults: (!defaults.is_empty()).then(|| crate::stored::write_list(&defaults)),
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
    host.catalog().increment_command_counter()
}
