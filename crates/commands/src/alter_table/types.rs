//! ALTER COLUMN TYPE.
//!
//! Constraints and indexes over the column are dropped, and recreated from their definitions
//! in a later pass. Views, rules, triggers and generated columns that use the column are an error.
//!
//! Counterpart: `ATPrepAlterColumnType`, `ATExecAlterColumnType`, `ATPostAlterTypeCleanup`.

use super::attribute::{self, WITH_COLUMNS, column, must_be};
use super::queue::{Pass, Queue, SavedDefinition, Scope, Step, Work};
use super::rewrite;
use super::{constraints, recurse};
use crate::{create_index, create_table, index, relation, toast};
use analyze::coerce::Context;
use analyze::{Analyzer, ExprKind, Params, SessionLookup};
use catalog::rows::{
    AnyArray, CatalogRow, PgAttrdef, PgAttribute, PgClass, PgCollation, PgConstraint,
    PgDescription, PgIndex, PgPolicy, PgProc, PgPublicationRel, PgRewrite, PgStatisticExt,
    PgTrigger, PgType, Text, indexes,
};
use catalog::{CatCx, ObjectAddress, RelDesc};
use clusterwide::tablespace;
use define::deletion;
use deparse as definition;
use ids::builtin::proc;
use ids::code::{ColumnGenerated, ColumnIdentity, ConType, DepType};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{AlterTableCmd, ColumnDef, ConstrType, Constraint, Node};
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use plan::expr::{CoercionForm, Location, Var};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::query::parse_shown;
use utility::type_usage;
use utility::{class, names};

fn quoted(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<String> {
    let quote = catalog::format_type::quote_identifier;
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
    Ok(format!("{}.{}", quote(schema.as_str()), quote(rel.name())))
}

/// True for tables and partitioned tables: a new type of a column converts the values in their rows
/// or in those of their partitions.
fn has_rows(rel: &RelDesc) -> bool {
    matches!(rel.kind(), RelKind::Table | RelKind::PartitionedTable)
}

/// Error for a USING expression that cannot be analysed. PostgreSQL analyses it before it looks up
/// the column.
pub fn check_using(
    host: &mut dyn CommandHost,
    table: Oid,
    cmd: &AlterTableCmd,
    sql: &str,
) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    let Some(Node::ColumnDef(def)) = &cmd.def else { return Ok(()) };
    if let Some(node) = &def.raw_default
        && has_rows(&rel)
    {
        let mut cat = SessionLookup::new(host);
        analyze::ddl::column_expr(&mut cat, &rel, node, sql, ExprKind::AlterColTransform)?;
    }
    Ok(())
}

/// Changes the type of a column.
pub fn alter(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    cmd: &AlterTableCmd,
    work: &mut Work,
    sql: &str,
) -> Result<()> {
    must_be(rel, WITH_COLUMNS, "ALTER COLUMN ... SET DATA TYPE")?;
    let name = cmd.name.as_deref().unwrap_or("");
    let Some(Node::ColumnDef(def)) = &cmd.def else {
        return Err(PgError::internal("ALTER COLUMN TYPE without a type"));
    };
    let a = column(rel, cmd)?.clone();
    let number = a.attnum;
    if work.retyped.contains(&number) {
        bail!(FEATURE_NOT_SUPPORTED, "cannot alter type of column \"{name}\" twice");
    }
    if a.attgenerated != ColumnGenerated::No && def.raw_default.is_some() {
        return Err(pg_err!(
            INVALID_COLUMN_DEFINITION,
            "cannot specify USING when altering type of generated column"
        )
        .detail(format!("Column \"{name}\" is a generated column.")));
    }
    work.retyped.push(number);
    let (ty, typmod, collation) =
        analyze::ddl::column_type(&mut SessionLookup::new(host), def, "")?;
    if a.attidentity != ColumnIdentity::No {
        if !create_table::is_sequence_type(ty) {
            bail!(
                INVALID_PARAMETER_VALUE,
                "identity column type must be smallint, integer, or bigint"
            );
        }
        let option = create_table::type_option(ty);
        for seq in crate::sequence::owned_by(host, rel.oid(), Some(number))? {
            host.lock_relation(seq, names::mode::SHARE_ROW_EXCLUSIVE)?;
            crate::sequence::change(host, seq, std::slice::from_ref(&option), true, sql)?;
        }
    }
    let mut new = relation::NewColumn::new(name, ty, typmod, collation);
    new.ndims = def.type_name.as_ref().map_or(0, |t| t.array_bounds.len() as i32);
    relation::check_column_type(host, &new, rel.kind(), rel.class.reltype)?;
    if matches!(rel.kind(), RelKind::CompositeType | RelKind::PartitionedTable) {
        type_usage::check_row_type(host, rel)?;
    }
    if has_rows(rel) {
        // Expressions refer to the rows before the statement, regardless of other changed columns.
        let before = work.rewrite.before().clone();
        let e = transform(host, &before, &a, def, ty, typmod, sql)?;
        let zone = types::zone::Zone::named(&host.setting("TimeZone"));
        let is_utc = zone.is_some_and(|zone| zone.is_fixed() && zone.at_unix(0).0 == 0);
        let changes = changes_bytes(&e, number, is_utc);
        let needs = work.rewrite.is_needed() || changes;
        work.rewrite.reasons |= if changes { rewrite::reason::COLUMN } else { 0 };
        if a.attgenerated == ColumnGenerated::No {
            work.rewrite.values.push((number, e));
        }
        work.rewrite.forced |= needs;
    }
    let default = new_default(host, rel, &a, ty, typmod)?;
    drop_dependents(host, rel, &a, work)?;
    attribute_row(host, rel, &a, &new)?;
    let oid = rel.oid();
    if let Some((e, generated)) = default {
        attribute::remove_default(host, oid, number)?;
        create_table::set_default(host, oid, number, &e, generated)?;
        host.catalog().increment_command_counter()?;
        if generated {
            work.rewrite.generated.push((number, e));
            work.rewrite.forced = true;
            work.rewrite.reasons |= rewrite::reason::COLUMN;
        }
    }
    if rel.kind() == RelKind::Table {
        toast::add_toast(host, oid, None)?;
    }
    Ok(())
}

/// The conversion expression, over the old row.
fn transform(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    a: &PgAttribute,
    def: &ColumnDef,
    ty: Oid,
    typmod: i32,
    sql: &str,
) -> Result<Expr> {
    let using = def.raw_default.is_some();
    let e = match &def.raw_default {
        Some(node) => {
            let mut cat = SessionLookup::new(host);
            analyze::ddl::column_expr(&mut cat, rel, node, sql, ExprKind::AlterColTransform)?
        }
        None => Expr::Var(Var {
            varno: 1,
            varattno: a.attnum,
            vartype: a.atttypid,
            vartypmod: a.atttypmod,
            varcollid: a.attcollation,
            varlevelsup: 0,
            location: Location::UNKNOWN,
        }),
    };
    let coerced = coerce(host, e, ty, typmod)?;
    if let Some(e) = coerced {
        return host.planner().fold(e);
    }
    let shown = host.catalog().format_type_mod(ty, -1)?;
    if using {
        return Err(pg_err!(
            DATATYPE_MISMATCH,
            "result of USING clause for column \"{}\" cannot be cast automatically to type {shown}",
            a.attname
        )
        .hint("You might need to add an explicit cast."));
    }
    let full = host.catalog().format_type_mod(ty, typmod)?;
    let quoted = catalog::format_type::quote_identifier(a.attname.as_str());
    Err(pg_err!(
        DATATYPE_MISMATCH,
        "column \"{}\" cannot be cast automatically to type {shown}",
        a.attname
    )
    .hint(format!("You might need to specify \"USING {quoted}::{full}\".")))
}

/// The expression coerced to the column's new type.
fn coerce(host: &mut dyn CommandHost, e: Expr, ty: Oid, typmod: i32) -> Result<Option<Expr>> {
    let mut lookup = SessionLookup::new(host);
    let mut cx = Analyzer::new(&mut lookup, "", Params::Fixed(Vec::new()));
    let form = CoercionForm::ImplicitCast;
    let coerced =
        cx.coerce_to_target(e, ty, typmod, Context::Assignment, form, Location::UNKNOWN)?;
    let Some(mut e) = coerced else { return Ok(None) };
    cx.assign_collations(&mut e)?;
    Ok(Some(e))
}

/// The function `numeric(numeric, integer)`.
const NUMERIC: Oid = Oid(1703);

/// The functions `timestamp(timestamptz)` and `timestamptz(timestamp)`.
const BETWEEN_TIMESTAMPS: [Oid; 2] = [Oid(2027), Oid(2028)];

/// True if the expression changes the stored bytes. `is_utc`: local time is UTC at all times.
/// Counterpart: `ATColumnChangeRequiresRewrite`.
fn changes_bytes(e: &Expr, number: AttrNo, is_utc: bool) -> bool {
    match e {
        Expr::Var(v) => v.varattno != number,
        Expr::Relabel(r) => changes_bytes(&r.arg, number, is_utc),
        Expr::FuncExpr(f) if is_utc && BETWEEN_TIMESTAMPS.contains(&f.funcid) => {
            f.args.first().is_none_or(|arg| changes_bytes(arg, number, is_utc))
        }
        // A varchar with a larger limit accepts all old values.
        Expr::FuncExpr(f) if f.funcid == proc::VARCHAR => {
            let Some(Expr::Const(limit)) = f.args.get(1) else { return true };
            let limit = if limit.value.is_null() { -1 } else { limit.value.as_ref().as_i32() };
            let Some(arg) = f.args.first() else { return true };
            let source = arg.typmod();
            let fits = limit < 0 || source >= 0 && source <= limit;
            !fits || changes_bytes(arg, number, is_utc)
        }
        // A numeric with the same scale and at least the precision accepts all old values.
        Expr::FuncExpr(f) if f.funcid == NUMERIC => {
            let [arg, Expr::Const(typmod), ..] = &f.args[..] else { return true };
            let typmod = if typmod.value.is_null() { -1 } else { typmod.value.as_ref().as_i32() };
            let parts = |typmod: i32| ((typmod - 4) >> 16, (typmod - 4) & 0x7ff);
            let (source, target) = (arg.typmod(), typmod);
            let fits = target < 4
                || source >= 4
                    && parts(source).1 == parts(target).1
                    && parts(source).0 <= parts(target).0;
            !fits || changes_bytes(arg, number, is_utc)
        }
        _ => true,
    }
}

/// The column's default, coerced to the new type.
fn new_default(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    a: &PgAttribute,
    ty: Oid,
    typmod: i32,
) -> Result<Option<(Expr, bool)>> {
    let Some(text) = rel.default(a.attnum) else { return Ok(None) };
    let e = plan::nodetree::read_expr(text.as_str())?;
    let e = strip_implicit(e);
    let generated = a.attgenerated != ColumnGenerated::No;
    if let Some(e) = coerce(host, e, ty, typmod)? {
        return Ok(Some((e, generated)));
    }
    let shown = host.catalog().format_type_mod(ty, -1)?;
    let what = if generated { "generation expression" } else { "default" };
    Err(pg_err!(
        DATATYPE_MISMATCH,
        "{what} for column \"{}\" cannot be cast automatically to type {shown}",
        a.attname
    ))
}

/// The expression without implicit coercions. Counterpart: `strip_implicit_coercions`.
fn strip_implicit(e: Expr) -> Expr {
    let implicit = |f: CoercionForm| f == CoercionForm::ImplicitCast;
    match e {
        Expr::FuncExpr(mut f) if implicit(f.funcformat) && !f.args.is_empty() => {
            strip_implicit(f.args.swap_remove(0))
        }
        Expr::Relabel(r) if implicit(r.relabelformat) => strip_implicit(r.arg),
        Expr::CoerceViaIo(c) if implicit(c.coerceformat) => strip_implicit(c.arg),
        Expr::ArrayCoerce(c) if implicit(c.coerceformat) => strip_implicit(c.arg),
        Expr::ConvertRowtype(c) if implicit(c.convertformat) => strip_implicit(c.arg),
        Expr::CoerceToDomain(c) if implicit(c.coercionformat) => strip_implicit(c.arg),
        e => e,
    }
}

/// Saves and drops constraints, indexes and statistics over the column. An error if there are other
/// dependents.
fn drop_dependents(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    a: &PgAttribute,
    work: &mut Work,
) -> Result<()> {
    let this = ObjectAddress::column(rel.oid(), a.attnum);
    let mut constraints: Vec<Oid> = Vec::new();
    let mut indexes_found: Vec<Oid> = Vec::new();
    let mut statistics: Vec<Oid> = Vec::new();
    for d in host.catalog().dependents_of(this)? {
        let object = ObjectAddress { class: d.classid, object: d.objid, sub: d.objsubid };
        let refuse = |host: &mut dyn CommandHost, what: &str| -> Result<()> {
            let shown = host.catalog().describe_object(object)?;
            Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot alter type of a column {what}")
                .detail(format!("{shown} depends on column \"{}\"", a.attname)))
        };
        match d.classid {
            PgClass::RELATION => {
                let Some(class) = host.catalog().find_class(d.objid)? else { continue };
                match class.relkind {
                    RelKind::Index | RelKind::PartitionedIndex => {
                        match index::constraint_of(host, d.objid)? {
                            Some(c) => constraints.push(c),
                            None => indexes_found.push(d.objid),
                        }
                    }
                    RelKind::Sequence => {}
                    _ if d.objid == rel.oid() && d.objsubid != 0 => {
                        let other = rel.attribute(d.objsubid as AttrNo);
                        let other = other.map_or("", |o| o.attname.as_str()).to_string();
                        return Err(used_by_generated_column(&other, a));
                    }
                    _ => refuse(host, "used by a view or rule")?,
                }
            }
            PgConstraint::RELATION => constraints.push(d.objid),
            PgRewrite::RELATION => refuse(host, "used by a view or rule")?,
            PgTrigger::RELATION => refuse(host, "used in a trigger definition")?,
            PgPolicy::RELATION => refuse(host, "used in a policy definition")?,
            PgProc::RELATION => refuse(host, "used by a function or procedure")?,
            PgPublicationRel::RELATION => refuse(host, "used by a publication WHERE clause")?,
            PgAttrdef::RELATION => {
                let keys = [d.objid.into()];
                let row = host.catalog().scan(indexes::PG_ATTRDEF_OID_INDEX, &keys)?.pop();
                let Some(row) = row else { continue };
                if row.adnum != a.attnum {
                    let other = rel.attribute(row.adnum);
                    let other = other.map_or("", |o| o.attname.as_str()).to_string();
                    return Err(used_by_generated_column(&other, a));
                }
            }
            PgStatisticExt::RELATION => statistics.push(d.objid),
            _ => {}
        }
    }
    constraints.sort_unstable();
    constraints.dedup();
    indexes_found.sort_unstable();
    indexes_found.dedup();
    let mut gone = Vec::new();
    for oid in constraints {
        if let Some(saved) = save_constraint(host, rel.oid(), oid)? {
            // That of the parent will be inherited again.
            if saved.local {
                work.rebuild.constraints.push((oid, saved));
            }
            gone.push(ObjectAddress::of::<PgConstraint>(oid));
        }
    }
    for oid in indexes_found {
        let saved = save_index(host, rel.oid(), oid)?;
        work.rebuild.indexes.push((oid, saved));
        gone.push(ObjectAddress::relation(oid));
    }
    statistics.sort_unstable();
    statistics.dedup();
    for oid in statistics {
        let saved = save_statistics(host, rel.oid(), oid)?;
        work.rebuild.statistics.push((oid, saved));
        gone.push(ObjectAddress::of::<PgStatisticExt>(oid));
    }
    if !gone.is_empty() {
        deletion::drop_objects(host, &gone, catalog::depend::DropBehavior::Restrict, true)?;
    }
    Ok(())
}

fn used_by_generated_column(other: &str, a: &PgAttribute) -> PgError {
    pg_err!(FEATURE_NOT_SUPPORTED, "cannot alter type of a column used by a generated column")
        .detail(format!("Column \"{}\" is used by generated column \"{other}\".", a.attname))
}

fn comment_of(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<Option<Text>> {
    let keys = [object.object.into(), object.class.into(), 0i32.into()];
    let row = host.catalog().scan(indexes::PG_DESCRIPTION_O_C_O_INDEX, &keys)?.pop();
    Ok(row.map(|r| r.description.clone()))
}

/// The constraint of a table, or of a domain over the row type of `retyped`.
fn save_constraint(
    host: &mut dyn CommandHost,
    retyped: Oid,
    oid: Oid,
) -> Result<Option<SavedDefinition>> {
    let Some(row) = host.catalog().constraint(oid)? else { return Ok(None) };
    let Some(table) = row.conrelid.valid() else {
        return match row.contypid.valid() {
            Some(domain) => save_domain_constraint(host, retyped, domain, &row).map(Some),
            None => Ok(None),
        };
    };
    host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
    let rel = host.catalog().relation(table)?;
    let def = definition::constraint_def(host, oid, false)?.unwrap_or_default();
    let quote = catalog::format_type::quote_identifier;
    let shown = quoted(host, &rel)?;
    let name = row.conname.to_string();
    let mut saved = SavedDefinition {
        class: PgConstraint::RELATION,
        sql: format!("ALTER TABLE ONLY {shown} ADD CONSTRAINT {} {def}", quote(&name)),
        comment: comment_of(host, ObjectAddress::of::<PgConstraint>(oid))?,
        index_comment: None,
        table,
        domain: Oid::INVALID,
        name,
        schema: row.connamespace,
        foreign: row.contype == ConType::ForeignKey,
        local: row.conislocal,
        clustered: false,
        replica_identity: false,
        tablespace: None,
    };
    if matches!(row.contype, ConType::PrimaryKey | ConType::Unique)
        && let Some(i) = rel.indexes.iter().find(|i| i.indexrelid == row.conindid)
    {
        saved.index_comment = comment_of(host, ObjectAddress::relation(i.indexrelid))?;
        saved.clustered = i.indisclustered;
        saved.replica_identity = i.indisreplident;
        let class = host.catalog().class(i.indexrelid)?;
        saved.tablespace = Some(tablespace::name_of(host, class.reltablespace)?);
        if let Some(options) = &class.reloptions {
            // WITH precedes DEFERRABLE in a constraint definition.
            let with = format!(
                " WITH ({})",
                definition::options_text(host.catalog().session.quoting, options)
            );
            let at = saved.sql.find(" DEFERRABLE").unwrap_or(saved.sql.len());
            saved.sql.insert_str(at, &with);
        }
    }
    Ok(Some(saved))
}

fn save_domain_constraint(
    host: &mut dyn CommandHost,
    table: Oid,
    domain: Oid,
    row: &PgConstraint,
) -> Result<SavedDefinition> {
    let shown = host.catalog().format_type_qualified(domain)?;
    let def = definition::constraint_def(host, row.oid, false)?.unwrap_or_default();
    let name = row.conname.to_string();
    let quote = catalog::format_type::quote_identifier;
    Ok(SavedDefinition {
        class: PgConstraint::RELATION,
        sql: format!("ALTER DOMAIN {shown} ADD CONSTRAINT {} {def}", quote(&name)),
        comment: comment_of(host, ObjectAddress::of::<PgConstraint>(row.oid))?,
        index_comment: None,
        table,
        domain,
        name,
        schema: row.connamespace,
        foreign: false,
        local: true,
        clustered: false,
        replica_identity: false,
        tablespace: None,
    })
}

fn save_index(host: &mut dyn CommandHost, table: Oid, oid: Oid) -> Result<SavedDefinition> {
    let parts = definition::IndexParts { column: 0, exclusion: false };
    let sql = definition::index_def(host, oid, parts, false)?.unwrap_or_default();
    let desc = host.catalog().relation(oid)?;
    let row = desc.index.as_ref().map(|p| p.row.clone());
    Ok(SavedDefinition {
        class: PgClass::RELATION,
        sql,
        comment: comment_of(host, ObjectAddress::relation(oid))?,
        index_comment: None,
        table,
        domain: Oid::INVALID,
        name: desc.name().to_string(),
        schema: desc.class.relnamespace,
        foreign: false,
        local: true,
        clustered: row.as_ref().is_some_and(|r| r.indisclustered),
        replica_identity: row.as_ref().is_some_and(|r| r.indisreplident),
        tablespace: Some(tablespace::name_of(host, desc.class.reltablespace)?),
    })
}

fn save_statistics(host: &mut dyn CommandHost, table: Oid, oid: Oid) -> Result<SavedDefinition> {
    let sql = definition::statistics_def(host, oid, false)?.unwrap_or_default();
    let row = host.catalog().scan(indexes::PG_STATISTIC_EXT_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal("statistics object without a row"))?;
    Ok(SavedDefinition {
        class: PgStatisticExt::RELATION,
        sql,
        comment: comment_of(host, ObjectAddress::of::<PgStatisticExt>(oid))?,
        index_comment: None,
        table,
        domain: Oid::INVALID,
        name: row.stxname.to_string(),
        schema: row.stxnamespace,
        foreign: false,
        local: true,
        clustered: false,
        replica_identity: false,
        tablespace: None,
    })
}

/// Updates the column's row with its new type, and its dependencies.
fn attribute_row(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    a: &PgAttribute,
    new: &relation::NewColumn,
) -> Result<()> {
    let oid = rel.oid();
    let this = ObjectAddress::column(oid, a.attnum);
    let mut cat = host.catalog();
    for d in cat.dependencies_of(this)? {
        if matches!(d.refclassid, PgType::RELATION | PgCollation::RELATION)
            && d.deptype == DepType::Normal
        {
            cat.delete(&d)?;
        }
    }
    let keys = [oid.into(), a.attnum.into()];
    for row in cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    let row = relation::attribute_row(host, oid, a.attnum, new)?;
    let missing = match &a.attmissingval {
        Some(_) if a.atthasmissing => {
            let rel = host.catalog().relation(oid)?;
            rel.attribute(a.attnum).and_then(|r| r.attmissingval.clone())
        }
        _ => None,
    };
    let missing = missing.map(|array| with_element_type(array, new.ty));
    class::change_column(host, oid, a.attnum, |old| {
        old.atttypid = row.atttypid;
        old.atttypmod = row.atttypmod;
        old.attcollation = row.attcollation;
        old.attndims = row.attndims;
        old.attlen = row.attlen;
        old.attbyval = row.attbyval;
        old.attalign = row.attalign;
        old.attstorage = row.attstorage;
        old.attcompression = 0;
        old.attmissingval = missing;
    })?;
    relation::record_column_type(host, oid, &row)?;
    host.catalog().increment_command_counter()
}

/// Replaces the element type of an array by one with the same representation.
fn with_element_type(mut array: AnyArray, ty: Oid) -> AnyArray {
    // The header of an array contains dimensions, data offset and element type.
    if let Some(place) = array.0.get_mut(8..12) {
        place.copy_from_slice(&ty.0.to_le_bytes());
    }
    array
}

/// Adds the objects that were dropped because of new column types to the passes that recreate them.
pub fn requeue(host: &mut dyn CommandHost, queue: &mut Queue, n: usize) -> Result<()> {
    let rebuild = std::mem::take(&mut queue.tables[n].rebuild);
    let mut list = rebuild.constraints;
    list.sort_by_key(|(oid, s)| (s.foreign, *oid));
    for (_, saved) in list.into_iter().chain(rebuild.indexes).chain(rebuild.statistics) {
        let Some(mut stmt) = parse_shown(host, &saved.sql)?.pop() else { continue };
        keep_tablespace(&mut stmt.stmt, &saved);
        let pass = match &stmt.stmt {
            Node::IndexStmt(_) => Pass::OldIndex,
            Node::CreateStatsStmt(_) => Pass::Misc,
            Node::AlterDomainStmt(_) => Pass::OldConstraint,
            other => match added_constraint(other)?.contype {
                ConstrType::Primary | ConstrType::Unique => Pass::OldIndex,
                _ => Pass::OldConstraint,
            },
        };
        let work = queue.entry(host, saved.table)?;
        work.push(pass, Step::Recreate(Box::new(saved), stmt.stmt));
    }
    Ok(())
}

/// The constraint in a statement that adds a constraint.
fn added_constraint(stmt: &Node) -> Result<&Constraint> {
    let command = match stmt {
        Node::AlterTableStmt(s) => s.cmds.first(),
        _ => None,
    };
    match command.and_then(|c| c.def.as_ref()) {
        Some(Node::Constraint(c)) => Ok(c),
        _ => Err(PgError::internal("unexpected definition of a dependent object")),
    }
}

/// Recreates an object that was dropped because of a new column type.
pub fn recreate(
    host: &mut dyn CommandHost,
    saved: &SavedDefinition,
    stmt: &Node,
    queue: &mut Queue,
    n: usize,
) -> Result<()> {
    match stmt {
        Node::CreateStatsStmt(s) => {
            crate::extstats::recreate(host, s, &saved.sql, saved.schema)?;
        }
        Node::AlterDomainStmt(s) => crate::domain::alter(host, s)?,
        Node::IndexStmt(s) => {
            let filled = !queue.tables[n].rewrite.is_needed();
            create_index::create_index_of(host, s, filled, &saved.sql)?;
        }
        other => {
            let c = added_constraint(other)?;
            let scope = Scope { recurse: true, recursing: false };
            if c.contype == ConstrType::Check {
                queue.tables[n].readds = true;
                let added = recurse::add_check(host, queue, n, (c, scope));
                queue.tables[n].readds = false;
                added?;
            } else {
                let work = &mut queue.tables[n];
                work.readds = true;
                let added = constraints::add(host, (c, scope), work, &saved.sql);
                work.readds = false;
                added?;
            }
        }
    }
    host.catalog().increment_command_counter()?;
    restore(host, saved)
}

/// Makes the index keep its tablespace regardless of `default_tablespace`, and without requiring a
/// privilege on it.
fn keep_tablespace(stmt: &mut Node, saved: &SavedDefinition) {
    if let Node::IndexStmt(s) = stmt {
        // The indexes of partitions are recreated with it.
        s.relation.inh = true;
    }
    let (place, again) = match stmt {
        Node::IndexStmt(s) => (&mut s.table_space, &mut s.reset_default_tblspc),
        Node::AlterTableStmt(s) => match s.cmds.first_mut().and_then(|c| c.def.as_mut()) {
            Some(Node::Constraint(c)) => (&mut c.indexspace, &mut c.reset_default_tblspc),
            _ => return,
        },
        _ => return,
    };
    *again = true;
    place.clone_from(&saved.tablespace);
}

/// Gives the indexes of partitions that were recreated with the index its comment.
fn copy_comment(cat: &mut CatCx<'_>, index: Oid, text: Option<&Text>) -> Result<()> {
    let Some(text) = text else { return Ok(()) };
    for below in partition::descendants(cat, index, Detached::Include)?.into_iter().skip(1) {
        cat.set_comment(ObjectAddress::relation(below), Some(text.as_str()))?;
    }
    Ok(())
}

/// Restores the comment, and the clustering and replica identity flags.
fn restore(host: &mut dyn CommandHost, saved: &SavedDefinition) -> Result<()> {
    let class = saved.class;
    let index = host.catalog().relation_in(saved.schema, &saved.name)?;
    let object = if class == PgClass::RELATION {
        index.map(ObjectAddress::relation)
    } else if class == PgStatisticExt::RELATION {
        let keys = [saved.name.as_str().into(), saved.schema.into()];
        let row = host.catalog().scan(indexes::PG_STATISTIC_EXT_NAME_INDEX, &keys)?.pop();
        row.map(|r| ObjectAddress::of::<PgStatisticExt>(r.oid))
    } else {
        let table = if saved.domain.is_valid() { Oid::INVALID } else { saved.table };
        let keys = [table.into(), saved.domain.into(), saved.name.as_str().into()];
        let by_name = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let row = host.catalog().scan(by_name, &keys)?.pop();
        row.map(|r| ObjectAddress::of::<PgConstraint>(r.oid))
    };
    let mut cat = host.catalog();
    let comments =
        [(object, &saved.comment), (index.map(ObjectAddress::relation), &saved.index_comment)];
    for (object, text) in comments {
        if let (Some(object), Some(text)) = (object, text) {
            cat.insert(&PgDescription {
                objoid: object.object,
                classoid: object.class,
                objsubid: 0,
                description: text.clone(),
            })?;
        }
    }
    if let Some(index) = index {
        let text = if class == PgClass::RELATION { &saved.comment } else { &saved.index_comment };
        copy_comment(&mut cat, index, text.as_ref())?;
    }
    if let Some(index) = index.filter(|_| saved.clustered || saved.replica_identity) {
        let row = cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[index.into()])?.pop();
        if let Some(row) = row {
            let new = PgIndex {
                indisclustered: saved.clustered,
                indisreplident: saved.replica_identity,
                ..row.row.clone()
            };
            cat.update(&row, &new)?;
        }
    }
    cat.increment_command_counter()
}
