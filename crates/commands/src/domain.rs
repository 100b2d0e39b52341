//! CREATE and ALTER DOMAIN. As in PostgreSQL, expressions are analysed without the statement text:
//! error messages about them have no position.
//!
//! Counterpart: `DefineDomain` and the `AlterDomain…` functions of typecmds.c.

use crate::constraint;
use analyze::SessionLookup;
use catalog::rows::{
    CatalogRow, Name, PgAttribute, PgClass, PgCollation, PgConstraint, PgNamespace, PgType, Text,
    indexes,
};
use catalog::{ObjectAddress, Row};
use define::{creation, deletion, typerow};
use deparse::{Deparser, Style};
use ids::builtin::proc;
use ids::code::{ConType, DepType, TypType};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterDomainStmt, ColumnDef, ConstrType, Constraint, CreateDomainStmt, Node};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use plan::Expr;
use plan::expr::{Location, Var};
use types::Datum;
use utility::host::{CommandHost, notice};
use utility::names;
use utility::{stored, type_usage};

/// A default as expression, node tree text and display text; `None` if it is NULL.
fn default_of(
    host: &mut dyn CommandHost,
    node: &Node,
    name: &str,
    base: Oid,
    typmod: i32,
) -> Result<Option<(Expr, Text, Text)>> {
    let mut lookup = SessionLookup::new(host);
    let e = analyze::ddl::column_default(&mut lookup, node, "", name, base, typmod, None)?;
    if matches!(&e, Expr::Const(c) if c.value.is_null()) {
        return Ok(None);
    }
    let shown = Deparser::new(host, Style::PLAIN).expression(&e)?;
    let stored = stored::write(&e);
    Ok(Some((e, stored, Text::from(shown))))
}

/// CREATE DOMAIN.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateDomainStmt) -> Result<()> {
    let (schema, name) = typerow::new_name(host, &stmt.domainname)?;
    typerow::name_is_free(host, schema, &name)?;
    let def = ColumnDef {
        colname: Some(name.as_str().into()),
        type_name: Some(Box::new(stmt.type_name.clone())),
        coll_clause: stmt.coll_clause.clone(),
        ..ColumnDef::default()
    };
    let (base, typmod, collation) =
        analyze::ddl::column_type(&mut SessionLookup::new(host), &def, "")?;
    let base_row = host.catalog().type_row(base)?;
    if base_row.typtype == TypType::Pseudo {
        let shown = analyze::typename::type_name_text(&stmt.type_name);
        bail!(DATATYPE_MISMATCH, "\"{shown}\" is not a valid base type for a domain");
    }
    names::check_type_privilege(host, base)?;
    let (mut default, mut saw_default, mut not_null) = (None, false, None);
    for c in &stmt.constraints {
        match c.contype {
            ConstrType::Default => {
                if saw_default {
                    bail!(SYNTAX_ERROR, "multiple default expressions");
                }
                saw_default = true;
                if let Some(node) = &c.raw_expr {
                    default = default_of(host, node, &name, base, typmod)?;
                }
            }
            ConstrType::NotNull | ConstrType::Null => {
                let wanted = c.contype == ConstrType::NotNull;
                if not_null.is_some_and(|n| n != wanted) {
                    bail!(SYNTAX_ERROR, "conflicting NULL/NOT NULL constraints");
                }
                not_null = Some(wanted);
            }
            ConstrType::Check if c.is_no_inherit => bail!(
                INVALID_OBJECT_DEFINITION,
                "check constraints for domains cannot be marked NO INHERIT"
            ),
            ConstrType::Check => {}
            other => return Err(impossible(other)),
        }
    }
    let (typdefaultbin, typdefault, default) = match default {
        Some((e, bin, shown)) => (Some(bin), Some(shown), Some(e)),
        // The base type's default is copied; it adds no dependencies of the domain.
        None if !saw_default => (base_row.typdefaultbin.clone(), base_row.typdefault.clone(), None),
        None => (None, None, None),
    };
    let oid = host.catalog().new_oid(indexes::PG_TYPE_OID_INDEX)?;
    let owner = names::user(host);
    let row = PgType {
        oid,
        typname: Name::new(&name),
        typnamespace: schema,
        typowner: owner,
        typtype: TypType::Domain,
        typispreferred: false,
        typisdefined: true,
        typrelid: Oid::INVALID,
        typsubscript: Oid::INVALID,
        typelem: Oid::INVALID,
        typarray: Oid::INVALID,
        typinput: proc::DOMAIN_IN,
        typreceive: proc::DOMAIN_RECV,
        typmodin: Oid::INVALID,
        typmodout: Oid::INVALID,
        typnotnull: not_null == Some(true),
        typbasetype: base,
        typtypmod: typmod,
        typndims: stmt.type_name.array_bounds.len() as i32,
        typcollation: collation,
        typdefaultbin,
        typdefault,
        typacl: None,
        ..base_row.row.clone()
    };
    typerow::insert_with_array(host, row)?;
    if let Some(e) = default {
        let this = ObjectAddress::of::<PgType>(oid);
        let normal = DepType::Normal;
        stored::record(host, this, std::slice::from_ref(&e), Oid::INVALID, normal, normal)?;
    }
    for c in stmt.constraints.iter().filter(|c| c.contype == ConstrType::Check) {
        add_check(host, oid, c, false)?;
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}

fn impossible(kind: ConstrType) -> PgError {
    let what = match kind {
        ConstrType::Unique => "unique constraints",
        ConstrType::Primary => "primary key constraints",
        ConstrType::Exclusion => "exclusion constraints",
        ConstrType::Foreign => "foreign key constraints",
        ConstrType::AttrDeferrable
        | ConstrType::AttrNotDeferrable
        | ConstrType::AttrDeferred
        | ConstrType::AttrImmediate => {
            return PgError::unsupported("specifying constraint deferrability for domains");
        }
        _ => "such constraints",
    };
    pg_err!(SYNTAX_ERROR, "{what} not possible for domains")
}

/// The CHECK constraint with this name on the domain.
fn check_named(
    host: &mut dyn CommandHost,
    domain: Oid,
    name: &str,
) -> Result<Option<Row<PgConstraint>>> {
    let keys = [Oid::INVALID.into(), domain.into(), name.into()];
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    Ok(host.catalog().scan(index, &keys)?.pop())
}

/// Counterpart: `domainAddConstraint`.
fn add_check(
    host: &mut dyn CommandHost,
    domain: Oid,
    c: &Constraint,
    validate: bool,
) -> Result<()> {
    let row = host.catalog().type_row(domain)?;
    let name = match &c.conname {
        Some(name) => {
            if check_named(host, domain, name)?.is_some() {
                bail!(
                    DUPLICATE_OBJECT,
                    "constraint \"{name}\" for domain \"{}\" already exists",
                    row.typname
                );
            }
            name.to_string()
        }
        None => {
            let (domain, schema) = (row.typname.to_string(), row.typnamespace);
            creation::free_constraint_name(host, &domain, None, "check", schema, &[])?
        }
    };
    let Some(node) = &c.raw_expr else { return Ok(()) };
    let mut lookup = SessionLookup::new(host);
    let (base, typmod) = (row.typbasetype, row.typtypmod);
    let e = analyze::ddl::domain_check(&mut lookup, node, "", base, typmod)?;
    if validate && !c.skip_validation {
        test_rows(host, domain, &e)?;
    }
    let bare = constraint::bare_row(host, &name, row.typnamespace, ConType::Check)?;
    let oid = bare.oid;
    let mut cat = host.catalog();
    cat.insert(&PgConstraint {
        convalidated: !c.skip_validation,
        contypid: domain,
        conbin: Some(stored::write(&e)),
        ..bare
    })?;
    let this = ObjectAddress::of::<PgConstraint>(oid);
    cat.record_dependency(this, ObjectAddress::of::<PgType>(domain), DepType::Auto)?;
    let normal = DepType::Normal;
    stored::record(host, this, std::slice::from_ref(&e), Oid::INVALID, normal, normal)?;
    changed(host, domain)
}

/// Invalidates cached information about the domain in all sessions.
fn changed(host: &mut dyn CommandHost, domain: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_TYPE_OID_INDEX, &[domain.into()])?.pop();
    if let Some(row) = row {
        cat.update(&row, &row.row)?;
    }
    cat.increment_command_counter()
}

/// The table columns whose type is the domain or a domain based on it; the tables are locked. Error
/// 0A000 if the domain is nested in other types, whose values would have to be checked too.
/// Counterpart: `get_rels_with_domain`.
fn columns_with(host: &mut dyn CommandHost, domain: Oid) -> Result<Vec<(Oid, AttrNo)>> {
    let mut out = Vec::new();
    let mut todo = vec![domain];
    while let Some(ty) = todo.pop() {
        for d in host.catalog().dependents_of(ObjectAddress::of::<PgType>(ty))? {
            if d.classid == PgType::RELATION {
                let row = host.catalog().find_type(d.objid)?;
                if row.is_some_and(|t| t.typtype == TypType::Domain) {
                    todo.push(d.objid);
                } else {
                    let shown = host.catalog().format_type(ty)?;
                    type_usage::check_type(host, d.objid, &shown)?;
                }
                continue;
            }
            if d.classid != PgClass::RELATION || d.objsubid == 0 {
                continue;
            }
            let Some(class) = host.catalog().find_class(d.objid)? else { continue };
            if let Some(rows) = class.reltype.valid() {
                let shown = host.catalog().format_type(ty)?;
                type_usage::check_type(host, rows, &shown)?;
            }
            if !matches!(class.relkind, RelKind::Table | RelKind::MaterializedView) {
                continue;
            }
            host.lock_relation(d.objid, names::mode::SHARE)?;
            out.push((d.objid, d.objsubid as AttrNo));
        }
    }
    Ok(out)
}

fn var_of(a: &PgAttribute) -> Expr {
    Expr::Var(Var {
        varno: 1,
        varattno: a.attnum,
        vartype: a.atttypid,
        vartypmod: a.atttypmod,
        varcollid: a.attcollation,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    })
}

/// Replaces `VALUE` in a check expression by a column.
fn with_value(mut e: Expr, value: &Expr) -> Expr {
    fn replace(e: &mut Expr, value: &Expr) {
        match e {
            Expr::CoerceToDomainValue(_) => *e = value.clone(),
            e => plan::walk::each_child_mut(e, &mut |c| replace(c, value)),
        }
    }
    replace(&mut e, value);
    e
}

/// Error 23514 if an existing row violates the check.
fn test_rows(host: &mut dyn CommandHost, domain: Oid, check: &Expr) -> Result<()> {
    for (table, number) in columns_with(host, domain)? {
        let rel = host.catalog().relation(table)?;
        let Some(a) = rel.attribute(number) else { continue };
        let e = with_value(check.clone(), &var_of(a));
        let e = host.planner().fold(e)?;
        let refused = |v: &Datum| !v.is_null() && !v.as_ref().as_bool();
        if constraint::find_row(host, &rel, &e, refused)? {
            let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
            return Err(pg_err!(
                CHECK_VIOLATION,
                "column \"{}\" of table \"{}\" contains values that violate the new constraint",
                a.attname,
                rel.name()
            )
            .table(schema.unwrap_or_default().as_str(), rel.name())
            .column(a.attname.as_str()));
        }
    }
    Ok(())
}

/// The domain of an ALTER statement. Error 42809 for other types.
fn find(host: &mut dyn CommandHost, parts: &[&str]) -> Result<Row<PgType>> {
    let row = typerow::find(host, parts)?;
    if row.typtype != TypType::Domain {
        let shown = host.catalog().format_type(row.oid)?;
        bail!(WRONG_OBJECT_TYPE, "{shown} is not a domain");
    }
    Ok(row)
}

/// ALTER DOMAIN.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterDomainStmt) -> Result<()> {
    let parts: Vec<&str> = stmt.type_name.iter().map(|p| &**p).collect();
    let row = find(host, &parts)?;
    typerow::must_own(host, &row)?;
    let name = stmt.name.as_deref().unwrap_or("");
    match stmt.subtype {
        b'T' => set_default(host, &row, stmt.def.as_ref())?,
        b'N' => set_not_null(host, &row, false)?,
        b'O' => set_not_null(host, &row, true)?,
        b'C' => {
            let Some(Node::Constraint(c)) = &stmt.def else {
                return Err(PgError::internal("ALTER DOMAIN ADD without a constraint"));
            };
            match c.contype {
                ConstrType::Check => add_check(host, row.oid, c, true)?,
                other => return Err(impossible(other)),
            }
        }
        b'X' => drop_constraint(host, &row, stmt)?,
        b'V' => {
            let Some(c) = check_named(host, row.oid, name)? else {
                return Err(PgError::new(SqlState::UNDEFINED_OBJECT, no_constraint(&row, name)));
            };
            if !c.convalidated {
                let text = c.conbin.as_ref().map_or("", |t| t.as_str());
                let e = plan::nodetree::read_expr(text)?;
                test_rows(host, row.oid, &e)?;
                let mut cat = host.catalog();
                cat.update(&c, &PgConstraint { convalidated: true, ..c.row.clone() })?;
            }
        }
        _ => return Err(PgError::unsupported("this form of ALTER DOMAIN")),
    }
    host.catalog().increment_command_counter()
}

fn no_constraint(domain: &PgType, name: &str) -> String {
    format!("constraint \"{name}\" of domain \"{}\" does not exist", domain.typname)
}

/// SET DEFAULT and DROP DEFAULT.
fn set_default(
    host: &mut dyn CommandHost,
    row: &Row<PgType>,
    default: Option<&Node>,
) -> Result<()> {
    let this = ObjectAddress::of::<PgType>(row.oid);
    let new = match default {
        Some(node) => {
            let name = row.typname.to_string();
            default_of(host, node, &name, row.typbasetype, row.typtypmod)?
        }
        None => None,
    };
    let (e, bin, shown) = match new {
        Some((e, bin, shown)) => (Some(e), Some(bin), Some(shown)),
        None => (None, None, None),
    };
    let mut cat = host.catalog();
    let new = PgType { typdefaultbin: bin, typdefault: shown, ..row.row.clone() };
    cat.update(row, &new)?;
    // Delete the dependencies of the old default.
    for d in cat.dependencies_of(this)? {
        let keep = matches!(d.refclassid, PgNamespace::RELATION | PgCollation::RELATION)
            || d.refclassid == PgType::RELATION && d.refobjid == row.typbasetype;
        if !keep && d.deptype == DepType::Normal {
            cat.delete(&d)?;
        }
    }
    if let Some(e) = e {
        let normal = DepType::Normal;
        let list = std::slice::from_ref(&e);
        stored::record(host, this, list, Oid::INVALID, normal, normal)?;
    }
    Ok(())
}

/// SET NOT NULL and DROP NOT NULL.
fn set_not_null(host: &mut dyn CommandHost, row: &Row<PgType>, wanted: bool) -> Result<()> {
    if row.typnotnull == wanted {
        return Ok(());
    }
    if wanted {
        for (table, number) in columns_with(host, row.oid)? {
            let rel = host.catalog().relation(table)?;
            let Some(a) = rel.attribute(number) else { continue };
            let e = var_of(a);
            if constraint::find_row(host, &rel, &e, Datum::is_null)? {
                let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
                return Err(pg_err!(
                    NOT_NULL_VIOLATION,
                    "column \"{}\" of table \"{}\" contains null values",
                    a.attname,
                    rel.name()
                )
                .table(schema.unwrap_or_default().as_str(), rel.name())
                .column(a.attname.as_str()));
            }
        }
    }
    let mut cat = host.catalog();
    cat.update(row, &PgType { typnotnull: wanted, ..row.row.clone() })?;
    Ok(())
}

/// DROP CONSTRAINT.
fn drop_constraint(host: &mut dyn CommandHost, row: &PgType, stmt: &AlterDomainStmt) -> Result<()> {
    let name = stmt.name.as_deref().unwrap_or("");
    let Some(c) = check_named(host, row.oid, name)? else {
        let message = no_constraint(row, name);
        if !stmt.missing_ok {
            bail!(UNDEFINED_OBJECT, "{message}");
        }
        host.notice(notice(pg_err!(SUCCESSFUL_COMPLETION, "{message}, skipping")));
        return Ok(());
    };
    let object = ObjectAddress::of::<PgConstraint>(c.oid);
    deletion::drop_objects(host, &[object], deletion::behavior(stmt.behavior), false)?;
    changed(host, row.oid)
}

/// RENAME CONSTRAINT of a domain.
pub fn rename_constraint(
    host: &mut dyn CommandHost,
    parts: &[&str],
    old: &str,
    new: &str,
) -> Result<()> {
    let row = find(host, parts)?;
    typerow::must_own(host, &row)?;
    let Some(c) = check_named(host, row.oid, old)? else {
        bail!(UNDEFINED_OBJECT, "constraint \"{old}\" for domain {} does not exist", row.typname)
    };
    if check_named(host, row.oid, new)?.is_some() {
        bail!(DUPLICATE_OBJECT, "constraint \"{new}\" for domain {} already exists", row.typname);
    }
    let mut cat = host.catalog();
    cat.update(&c, &PgConstraint { conname: Name::new(new), ..c.row.clone() })?;
    changed(host, row.oid)
}
