//! DROP for every kind of object: name resolution, cascade and the deletion of single objects.
//!
//! Counterpart: dropcmds.c, the second half of dependency.c, `RemoveRelations`.

use catalog::depend::DropBehavior;
use catalog::rows::{
    CatalogRow, Name, PgAttrdef, PgAttribute, PgCast, PgClass, PgCollation, PgConstraint,
    PgDefaultAcl, PgExtension, PgNamespace, PgOpclass, PgOperator, PgPartitionedTable, PgPolicy,
    PgProc, PgRewrite, PgStatisticExt, PgTrigger, PgType, indexes,
};
use catalog::{CatCx, ObjectAddress, RelDesc};
use engine::storage::drop_relation_files;
use ids::{AttrNo, Oid};
use parse::ast::{self, DropStmt, Node, ObjectType};
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::{CommandHost, notice};
use utility::names;

/// Converts the parser's RESTRICT or CASCADE to the catalog crate's.
pub fn behavior(b: ast::DropBehavior) -> DropBehavior {
    match b {
        ast::DropBehavior::Restrict => DropBehavior::Restrict,
        ast::DropBehavior::Cascade => DropBehavior::Cascade,
    }
}

/// The parts of an object's name in a DROP statement.
pub fn parts(node: &Node) -> Vec<&str> {
    match node {
        Node::List(list) => list.iter().filter_map(Node::as_str).collect(),
        Node::String(s) => vec![s],
        Node::TypeName(t) => t.names.iter().map(|n| &**n).collect(),
        _ => Vec::new(),
    }
}

/// Executes DROP TABLE and all other DROP statements of this form.
pub fn drop_statement(host: &mut dyn CommandHost, stmt: &DropStmt, sql: &str) -> Result<()> {
    if stmt.concurrent {
        check_concurrent(host, stmt)?;
    }
    let objects = match stmt.remove_type {
        ObjectType::Table
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::View
        | ObjectType::Matview
        | ObjectType::ForeignTable => relations(host, stmt)?,
        ObjectType::Schema => schemas(host, stmt)?,
        ObjectType::Extension => extensions(host, stmt)?,
        ObjectType::Type | ObjectType::Domain => types(host, stmt, sql)?,
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            crate::routine::to_drop(host, &stmt.objects, stmt.remove_type, stmt.missing_ok)?
        }
        ObjectType::StatisticExt => crate::extstats::to_drop(host, &stmt.objects, stmt.missing_ok)?,
        ObjectType::Rule | ObjectType::Trigger | ObjectType::Policy => {
            parts_of_relations(host, stmt)?
        }
        other => {
            return Err(PgError::unsupported(format!("DROP of kind {other:?}")));
        }
    };
    if objects.is_empty() {
        return Ok(());
    }
    let objects = match stmt.concurrent {
        // In PostgreSQL the last of several transactions drops it, and is open in a pipeline. Its
        // locks are new ones.
        true => {
            host.next_transaction()?;
            relations(host, stmt)?
        }
        false => objects,
    };
    drop_objects(host, &objects, behavior(stmt.behavior), false)
}

fn skip(host: &mut dyn CommandHost, what: &str, name: &str) {
    host.notice(notice(pg_err!(
        SUCCESSFUL_COMPLETION,
        "{what} \"{name}\" does not exist, skipping"
    )));
}

fn wanted(kind: ObjectType) -> (u8, &'static str, &'static str, &'static str) {
    match kind {
        ObjectType::Index => (b'i', "index", "an index", "DROP INDEX"),
        ObjectType::Sequence => (b'S', "sequence", "a sequence", "DROP SEQUENCE"),
        ObjectType::View => (b'v', "view", "a view", "DROP VIEW"),
        ObjectType::Matview => {
            (b'm', "materialized view", "a materialized view", "DROP MATERIALIZED VIEW")
        }
        ObjectType::ForeignTable => {
            (b'f', "foreign table", "a foreign table", "DROP FOREIGN TABLE")
        }
        _ => (b'r', "table", "a table", "DROP TABLE"),
    }
}

/// Checks the restrictions of DROP INDEX CONCURRENTLY.
fn check_concurrent(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<()> {
    host.prevent_in_transaction_block("DROP INDEX CONCURRENTLY")?;
    if stmt.objects.len() != 1 {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "DROP INDEX CONCURRENTLY does not support dropping multiple objects"
        );
    }
    if stmt.behavior == parse::ast::DropBehavior::Cascade {
        bail!(FEATURE_NOT_SUPPORTED, "DROP INDEX CONCURRENTLY does not support CASCADE");
    }
    Ok(())
}

fn relations(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let (kind, noun, article, _) = wanted(stmt.remove_type);
    let mut out = Vec::new();
    for node in &stmt.objects {
        let rv = names::range_var_of(&parts(node))?;
        let mut may_drop =
            |host: &mut dyn CommandHost, rel: &RelDesc| may_drop(host, rel, kind, article);
        names::check_before_lock(host, &rv, &mut may_drop)?;
        if kind == b'i' {
            names::exclude_readers(host, &rv)?;
        }
        let Some(oid) = names::find(host, &rv, names::mode::ACCESS_EXCLUSIVE)? else {
            if let Some(schema) = rv.schemaname.as_deref()
                && host.catalog().find_namespace(schema)?.is_none()
            {
                if !stmt.missing_ok {
                    bail!(INVALID_SCHEMA_NAME, "schema \"{schema}\" does not exist");
                }
                skip(host, "schema", schema);
                continue;
            }
            if !stmt.missing_ok {
                let code = if matches!(kind, b'i' | b'f') {
                    pgerror::SqlState::UNDEFINED_OBJECT
                } else {
                    pgerror::SqlState::UNDEFINED_TABLE
                };
                let message = format!("{noun} \"{}\" does not exist", rv.relname);
                return Err(PgError::new(code, message));
            }
            skip(host, noun, &rv.relname);
            continue;
        };
        let rel = host.catalog().relation(oid)?;
        may_drop(host, &rel)?;
        out.push(ObjectAddress::relation(oid));
    }
    Ok(out)
}

/// 42809 or 42501 unless the relation is of the kind that the statement names and owned by the
/// user. Counterpart: `RangeVarCallbackForDropRelation`.
fn may_drop(host: &mut dyn CommandHost, rel: &RelDesc, kind: u8, article: &str) -> Result<()> {
    let actual = match rel.kind() {
        b'p' => b'r',
        b'I' => b'i',
        k => k,
    };
    if actual != kind {
        return Err(wrong_kind(rel, actual, article));
    }
    let owns_schema = {
        let schema = rel.class.relnamespace;
        let what = format_args!("namespace {schema}");
        let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
        names::is_owner(host, row.nspowner)?
    };
    if !owns_schema {
        names::must_own_relation(host, rel)?;
    }
    names::not_a_catalog(rel)
}

fn wrong_kind(rel: &RelDesc, actual: u8, article: &str) -> PgError {
    let e = pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is not {article}", rel.name());
    match actual {
        b'r' => e.hint("Use DROP TABLE to remove a table."),
        b'i' => e.hint("Use DROP INDEX to remove an index."),
        b'S' => e.hint("Use DROP SEQUENCE to remove a sequence."),
        b'v' => e.hint("Use DROP VIEW to remove a view."),
        b'm' => e.hint("Use DROP MATERIALIZED VIEW to remove a materialized view."),
        b'f' => e.hint("Use DROP FOREIGN TABLE to remove a foreign table."),
        b'c' => e.hint("Use DROP TYPE to remove a type."),
        _ => e,
    }
}

fn schemas(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = parts(node);
        let name = list.first().copied().unwrap_or("");
        let Some(oid) = host.catalog().find_namespace(name)? else {
            let code = pgerror::SqlState::INVALID_SCHEMA_NAME;
            if stmt.missing_ok {
                skip(host, "schema", name);
                continue;
            }
            return Err(PgError::new(code, format!("schema \"{name}\" does not exist")));
        };
        let what = format_args!("namespace {oid}");
        let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[oid.into()], what)?;
        if !names::is_owner(host, row.nspowner)? {
            bail!(INSUFFICIENT_PRIVILEGE, "must be owner of schema {name}");
        }
        out.push(ObjectAddress::of::<PgNamespace>(oid));
    }
    Ok(out)
}

fn extensions(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = parts(node);
        let name = list.first().copied().unwrap_or("");
        match host.catalog().find_extension(name)? {
            Some(row) => {
                if !names::is_owner(host, row.extowner)? {
                    bail!(INSUFFICIENT_PRIVILEGE, "must be owner of extension {name}");
                }
                out.push(ObjectAddress::of::<PgExtension>(row.oid));
            }
            None if stmt.missing_ok => {
                skip(host, "extension", name);
            }
            None => bail!(UNDEFINED_OBJECT, "extension \"{name}\" does not exist"),
        }
    }
    Ok(out)
}

/// Rules, triggers and policies, which are named together with their relation.
fn parts_of_relations(host: &mut dyn CommandHost, stmt: &DropStmt) -> Result<Vec<ObjectAddress>> {
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = parts(node);
        let [table @ .., name] = list.as_slice() else { continue };
        let rv = names::range_var_of(table)?;
        let noun = match stmt.remove_type {
            ObjectType::Rule => "rule",
            ObjectType::Trigger => "trigger",
            _ => "policy",
        };
        let Some(oid) = names::find(host, &rv, names::mode::ACCESS_EXCLUSIVE)? else {
            if !stmt.missing_ok {
                return Err(names::missing(host, &rv)?);
            }
            skip(host, "relation", &rv.relname);
            continue;
        };
        let rel = host.catalog().relation(oid)?;
        match crate::object::part_of(host, &rel, stmt.remove_type, name) {
            Ok(object) => {
                names::must_own_relation(host, &rel)?;
                out.push(object);
            }
            Err(_) if stmt.missing_ok => {
                host.notice(notice(pg_err!(
                    SUCCESSFUL_COMPLETION,
                    "{noun} \"{name}\" for relation \"{}\" does not exist, skipping",
                    rv.relname
                )));
            }
            Err(e) => return Err(e),
        }
    }
    Ok(out)
}

fn types(host: &mut dyn CommandHost, stmt: &DropStmt, sql: &str) -> Result<Vec<ObjectAddress>> {
    let _ = sql;
    let mut out = Vec::new();
    for node in &stmt.objects {
        let list = parts(node);
        let (schema, name) = match list.as_slice() {
            [.., schema, name] => (Some(*schema), *name),
            [name] => (None, *name),
            [] => continue,
        };
        let Some(oid) = host.catalog().find_type_by_name(schema, name)? else {
            let shown = catalog::namespace::qualified(schema, name);
            if stmt.missing_ok {
                skip(host, "type", &shown);
                continue;
            }
            bail!(UNDEFINED_OBJECT, "type \"{shown}\" does not exist");
        };
        let row = host.catalog().type_row(oid)?;
        if stmt.remove_type == ObjectType::Domain && row.typtype != b'd' {
            let shown = catalog::namespace::qualified(schema, name);
            bail!(WRONG_OBJECT_TYPE, "\"{shown}\" is not a domain");
        }
        if !names::is_owner(host, row.typowner)? {
            let shown = host.catalog().format_type(oid)?;
            bail!(INSUFFICIENT_PRIVILEGE, "must be owner of type {shown}");
        }
        out.push(ObjectAddress::of::<PgType>(oid));
    }
    Ok(out)
}

/// Drops the objects and everything that depends on them; `quiet` suppresses the notice.
pub fn drop_objects(
    host: &mut dyn CommandHost,
    objects: &[ObjectAddress],
    behavior: DropBehavior,
    quiet: bool,
) -> Result<()> {
    let plan = host.catalog().plan_deletion(objects, behavior)?;
    if let Some((message, detail)) = plan.notice
        && !quiet
    {
        let mut n = pg_err!(SUCCESSFUL_COMPLETION, "{message}");
        if let Some(detail) = detail {
            n = n.detail(detail);
        }
        host.notice(notice(n));
    }
    for object in plan.objects {
        drop_one(host, object)?;
    }
    host.catalog().increment_command_counter()
}

/// Deletes the row with this OID from its catalog.
fn delete_row<R: CatalogRow>(
    host: &mut dyn CommandHost,
    index: catalog::rows::Index<R>,
    oid: Oid,
) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(index, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| {
        PgError::internal(format!("cache lookup failed for object {oid} of {}", R::NAME))
    })?;
    cat.delete(&row)
}

/// Drops one object without checking its dependents; for parts of an object that remains.
pub fn drop_single(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<()> {
    drop_one(host, object)
}

/// Counterpart: `deleteOneObject` with `doDeletion`.
fn drop_one(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<()> {
    let oid = object.object;
    match object.class {
        PgClass::RELATION if object.sub != 0 => {
            drop_column(host, oid, object.sub as AttrNo)?;
        }
        PgClass::RELATION => drop_relation(host, oid)?,
        PgType::RELATION => drop_type(host, oid)?,
        PgConstraint::RELATION => drop_constraint(host, oid)?,
        PgAttrdef::RELATION => drop_default(host, oid)?,
        PgRewrite::RELATION => drop_rule(host, oid)?,
        PgTrigger::RELATION => drop_trigger(host, oid)?,
        PgNamespace::RELATION => delete_row(host, indexes::PG_NAMESPACE_OID_INDEX, oid)?,
        PgProc::RELATION => {
            if let Some(row) = host.catalog().find_aggregate(oid)? {
                host.catalog().delete(&row)?;
            }
            delete_row(host, indexes::PG_PROC_OID_INDEX, oid)?;
        }
        PgExtension::RELATION => delete_row(host, indexes::PG_EXTENSION_OID_INDEX, oid)?,
        PgCast::RELATION => delete_row(host, indexes::PG_CAST_OID_INDEX, oid)?,
        PgCollation::RELATION => delete_row(host, indexes::PG_COLLATION_OID_INDEX, oid)?,
        PgOperator::RELATION => delete_row(host, indexes::PG_OPERATOR_OID_INDEX, oid)?,
        PgOpclass::RELATION => delete_row(host, indexes::PG_OPCLASS_OID_INDEX, oid)?,
        PgDefaultAcl::RELATION => delete_row(host, indexes::PG_DEFAULT_ACL_OID_INDEX, oid)?,
        PgPolicy::RELATION => delete_row(host, indexes::PG_POLICY_OID_INDEX, oid)?,
        PgStatisticExt::RELATION => {
            let mut cat = host.catalog();
            for row in cat.scan(indexes::PG_STATISTIC_EXT_DATA_STXOID_INH_INDEX, &[oid.into()])? {
                cat.delete(&row)?;
            }
            delete_row(host, indexes::PG_STATISTIC_EXT_OID_INDEX, oid)?;
        }
        class => {
            return Err(PgError::unsupported(format!("DROP of objects of catalog {class}")));
        }
    }
    let mut cat = host.catalog();
    cat.delete_object_records(object)?;
    cat.increment_command_counter()
}

/// Counterpart: `heap_drop_with_catalog`, `index_drop`.
fn drop_relation(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    host.lock_relation(oid, names::mode::ACCESS_EXCLUSIVE)?;
    // No descriptor can be built: the TOAST table is already dropped.
    let row = crate::relation::class(&mut host.catalog(), oid)?;
    let class = &row.row;
    if matches!(class.relkind, b'r' | b'm' | b'v' | b'S') {
        host.check_not_in_use(oid, class.relname.as_str(), "DROP TABLE")?;
    }
    if class.relfilenode.is_valid() {
        let file = crate::relation::file_of(host, class);
        let persistence = crate::sequence::persistence_of(class);
        drop_relation_files(host.backend(), file, persistence);
    }
    let mut cat = host.catalog();
    for row in cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
        cat.invalidate_relation(row.indrelid, false);
    }
    if class.relkind == b'S' {
        for row in cat.scan(indexes::PG_SEQUENCE_SEQRELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    if class.relkind == b'p' {
        for row in cat.scan(indexes::PG_PARTITIONED_TABLE_PARTRELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    if class.relkind == b'f' {
        for row in cat.scan(indexes::PG_FOREIGN_TABLE_RELID_INDEX, &[oid.into()])? {
            cat.delete(&row)?;
        }
    }
    for row in cat.scan(indexes::PG_INHERITS_RELID_SEQNO_INDEX, &[oid.into()])? {
        if class.relispartition {
            clear_default_partition(&mut cat, row.inhparent, oid)?;
        }
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    for row in cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[oid.into()])? {
        cat.delete(&row)?;
    }
    cat.delete(&row)
}

/// Clears the partitioned table's default partition if it is this one, and invalidates the parent's
/// descriptor.
fn clear_default_partition(cat: &mut CatCx<'_>, parent: Oid, partition: Oid) -> Result<()> {
    let index = indexes::PG_PARTITIONED_TABLE_PARTRELID_INDEX;
    if let Some(row) = cat.scan(index, &[parent.into()])?.pop()
        && row.partdefid == partition
    {
        cat.update(&row, &PgPartitionedTable { partdefid: Oid::INVALID, ..row.row.clone() })?;
    }
    cat.invalidate_relation(parent, false);
    Ok(())
}

/// Marks the column as dropped; rows keep its attribute number. Counterpart: `RemoveAttributeById`.
fn drop_column(host: &mut dyn CommandHost, table: Oid, number: AttrNo) -> Result<()> {
    host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
    let mut cat = host.catalog();
    let keys = [table.into(), number.into()];
    let row = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop();
    let row = row.ok_or_else(|| PgError::internal("column to be dropped has no row"))?;
    let new = PgAttribute {
        attname: Name::new(format!("........pg.dropped.{number}........")),
        atttypid: Oid::INVALID,
        attnotnull: false,
        attstattarget: 0,
        attgenerated: 0,
        attidentity: 0,
        atthasdef: row.atthasdef,
        atthasmissing: false,
        attmissingval: None,
        attisdropped: true,
        attacl: None,
        attfdwoptions: None,
        ..row.row.clone()
    };
    cat.update(&row, &new)?;
    for row in cat.scan(indexes::PG_STATISTIC_RELID_ATT_INH_INDEX, &keys)? {
        cat.delete(&row)?;
    }
    cat.invalidate_relation(table, false);
    Ok(())
}

fn drop_type(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let row = host.catalog().type_row(oid)?;
    if row.typtype == b'e' {
        let mut cat = host.catalog();
        for label in cat.scan(indexes::PG_ENUM_TYPID_LABEL_INDEX, &[oid.into()])? {
            cat.delete(&label)?;
        }
    }
    if row.typtype == b'r' {
        let mut cat = host.catalog();
        for range in cat.scan(indexes::PG_RANGE_RNGTYPID_INDEX, &[oid.into()])? {
            cat.delete(&range)?;
        }
    }
    delete_row(host, indexes::PG_TYPE_OID_INDEX, oid)
}

/// Counterpart: `RemoveConstraintById`.
fn drop_constraint(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no constraint {oid}")))?;
    if row.contype == b'c' && row.conrelid.is_valid() {
        let class = crate::relation::class(&mut cat, row.conrelid)?;
        let relchecks = class.relchecks - 1;
        cat.update(&class, &PgClass { relchecks, ..class.row.clone() })?;
    }
    cat.delete(&row)
}

/// Counterpart: `RemoveAttrDefaultById`.
fn drop_default(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_ATTRDEF_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal(format!("no default {oid}")))?;
    let keys = [row.adrelid.into(), row.adnum.into()];
    cat.delete(&row)?;
    if let Some(column) = cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &keys)?.pop() {
        cat.update(&column, &PgAttribute { atthasdef: false, ..column.row.clone() })?;
    }
    Ok(())
}

fn drop_rule(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_REWRITE_OID_INDEX, &[oid.into()])?.pop();
    let row =
        row.ok_or_else(|| PgError::internal(format!("could not find tuple for rule {oid}")))?;
    cat.delete(&row)?;
    cat.invalidate_relation(row.ev_class, false);
    Ok(())
}

fn drop_trigger(host: &mut dyn CommandHost, oid: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_TRIGGER_OID_INDEX, &[oid.into()])?.pop();
    let row =
        row.ok_or_else(|| PgError::internal(format!("could not find tuple for trigger {oid}")))?;
    let table = row.tgrelid;
    drop(cat);
    host.lock_relation(table, names::mode::ACCESS_EXCLUSIVE)?;
    let mut cat = host.catalog();
    cat.delete(&row)?;
    cat.invalidate_relation(table, false);
    Ok(())
}
