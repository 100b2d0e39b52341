//! Commands for objects of many kinds: RENAME, SET SCHEMA, OWNER TO, COMMENT, CREATE SCHEMA.
//!
//! Counterpart: alter.c, comment.c, schemacmds.c, `RenameRelation`, `AlterTableNamespace`.

use crate::{creation, drop, relation, sequence};
use catalog::rows::{
    AclItem, CatalogRow, Name, PgAuthid, PgClass, PgCollation, PgConstraint, PgDatabase,
    PgDescription, PgExtension, PgLanguage, PgNamespace, PgPolicy, PgProc, PgRewrite,
    PgShdescription, PgStatisticExt, PgTablespace, PgTrigger, PgType, Text, indexes,
};
use catalog::{ObjectAddress, RelDesc, acl};
use ids::Oid;
use parse::ast::{
    AlterObjectSchemaStmt, AlterOwnerStmt, CommentStmt, CreateSchemaStmt, DropBehavior, Node,
    ObjectType, RangeVar, RenameStmt,
};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::{CommandHost, notice};
use utility::names;

/// The relation of an ALTER statement; `None`, after a notice, if it is missing and IF EXISTS was
/// given.
fn target(
    host: &mut dyn CommandHost,
    rv: &Option<Box<RangeVar>>,
    missing_ok: bool,
) -> Result<Option<Arc<RelDesc>>> {
    let Some(rv) = rv else { return Err(PgError::internal("statement without a relation")) };
    let Some(oid) = names::find(host, rv, names::mode::ACCESS_EXCLUSIVE)? else {
        if !missing_ok {
            return Err(names::missing(host, rv)?);
        }
        let shown = &rv.relname;
        host.notice(notice(pg_err!(
            SUCCESSFUL_COMPLETION,
            "relation \"{shown}\" does not exist, skipping"
        )));
        return Ok(None);
    };
    let rel = host.catalog().relation(oid)?;
    names::must_own_relation(host, &rel)?;
    names::not_a_catalog(&rel)?;
    Ok(Some(rel))
}

/// ALTER … RENAME.
pub fn rename(host: &mut dyn CommandHost, stmt: &RenameStmt) -> Result<()> {
    let new = stmt.newname.as_deref().map(|n| stdx::clip(n, 63)).unwrap_or_default();
    let old = stmt.subname.as_deref().unwrap_or_default();
    match stmt.rename_type {
        ObjectType::Table
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::View
        | ObjectType::Matview
        | ObjectType::Column
        | ObjectType::Attribute
        | ObjectType::Tabconstraint
        | ObjectType::Rule
        | ObjectType::Trigger => {
            let Some(rel) = target(host, &stmt.relation, stmt.missing_ok)? else {
                return Ok(());
            };
            match stmt.rename_type {
                ObjectType::Attribute if rel.kind() != b'c' => {
                    bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a composite type", rel.name())
                }
                ObjectType::Column | ObjectType::Attribute => {
                    let cascade = stmt.behavior == DropBehavior::Cascade;
                    rename_column(host, &rel, old, new, cascade)
                }
                ObjectType::Tabconstraint => rename_constraint(host, &rel, old, new),
                ObjectType::Rule => rename_rule(host, &rel, old, new),
                ObjectType::Trigger => rename_trigger(host, &rel, old, new),
                _ => rename_relation(host, &rel, new),
            }
        }
        ObjectType::Schema => rename_schema(host, old, new),
        ObjectType::Role => crate::role::rename(host, old, new),
        ObjectType::Type | ObjectType::Domain => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            let domain = stmt.rename_type == ObjectType::Domain;
            crate::typecmd::rename(host, &parts, new, domain)
        }
        ObjectType::Domconstraint => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            let parts: Vec<parse::ast::Name> = parts.iter().map(|p| (*p).into()).collect();
            crate::domain::rename_constraint(host, &parts, old, new)
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = crate::routine::named(host, stmt.object.as_ref(), stmt.rename_type)?;
            crate::routine::rename(host, oid, new)
        }
        ObjectType::StatisticExt => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            crate::extstats::rename(host, &parts, new)
        }
        ObjectType::Database => crate::database::rename(host, old, new),
        ObjectType::Tablespace => crate::tablespace::rename(host, old, new),
        other => Err(PgError::unsupported(format!("RENAME of kind {other:?}"))),
    }
}

/// Counterpart: `RenameRelationInternal`.
pub fn rename_relation(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, new: &str) -> Result<()> {
    let schema = rel.class.relnamespace;
    if host.catalog().relation_in(schema, new)?.is_some() {
        bail!(DUPLICATE_TABLE, "relation \"{new}\" already exists");
    }
    let mut cat = host.catalog();
    let row = relation::class(&mut cat, rel.oid())?;
    cat.update(&row, &PgClass { relname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()?;
    if let Some(ty) = rel.class.reltype.valid() {
        rename_type(host, ty, new)?;
    }
    if rel.index.is_some() {
        // An index and its constraint have the same name.
        let object = ObjectAddress::relation(rel.oid());
        let mut cat = host.catalog();
        for d in cat.dependencies_of(object)? {
            if d.refclassid != PgConstraint::RELATION || d.deptype != b'i' {
                continue;
            }
            let keys = [d.refobjid.into()];
            for row in cat.scan(indexes::PG_CONSTRAINT_OID_INDEX, &keys)? {
                cat.update(&row, &PgConstraint { conname: Name::new(new), ..row.row.clone() })?;
            }
        }
        if let Some(part) = &rel.index {
            cat.invalidate_relation(part.row.indrelid, false);
        }
    }
    host.catalog().increment_command_counter()
}

pub fn rename_type(host: &mut dyn CommandHost, ty: Oid, new: &str) -> Result<()> {
    let row = host.catalog().type_row(ty)?;
    let before = host.catalog().type_in(row.typnamespace, new)?;
    crate::domain::name_is_free(host, row.typnamespace, new)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgType { typname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()?;
    // If the new name was that of its own array type, that type was renamed already.
    if let Some(array) = row.typarray.valid().filter(|a| before != Some(*a)) {
        let name = relation::array_type_name(host, new, row.typnamespace)?;
        let mut cat = host.catalog();
        let row = cat.type_row(array)?;
        cat.update(&row, &PgType { typname: Name::new(name), ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}

fn rename_column(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    old: &str,
    new: &str,
    cascade: bool,
) -> Result<()> {
    if rel.class.reloftype.is_valid() {
        bail!(WRONG_OBJECT_TYPE, "cannot rename column of typed table");
    }
    host.catalog().check_typed_tables(rel, cascade)?;
    let Some(a) = rel.column(old) else {
        if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == old) {
            bail!(FEATURE_NOT_SUPPORTED, "cannot rename system column \"{old}\"");
        }
        bail!(UNDEFINED_COLUMN, "column \"{old}\" does not exist")
    };
    if relation::SYSTEM_COLUMNS.iter().any(|s| s.0 == new) {
        bail!(DUPLICATE_COLUMN, "column name \"{new}\" conflicts with a system column name");
    }
    if rel.column(new).is_some() {
        bail!(DUPLICATE_COLUMN, "column \"{new}\" of relation \"{}\" already exists", rel.name());
    }
    if a.attinhcount > 0 {
        bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited column \"{old}\"");
    }
    if matches!(rel.kind(), b'r' | b'p') {
        host.catalog().check_children(&rel.class.row)?;
    }
    let number = a.attnum;
    crate::alter_table::change_column(host, rel.oid(), number, |a| a.attname = Name::new(new))?;
    // The column names of indexes do not change.
    Ok(())
}

fn rename_constraint(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    old: &str,
    new: &str,
) -> Result<()> {
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    let mut cat = host.catalog();
    let found = |cat: &mut catalog::CatCx<'_>, name: &str| {
        cat.scan(index, &[rel.oid().into(), Oid::INVALID.into(), name.into()])
    };
    let Some(row) = found(&mut cat, old)?.pop() else {
        bail!(UNDEFINED_OBJECT, "constraint \"{old}\" for table \"{}\" does not exist", rel.name())
    };
    if !found(&mut cat, new)?.is_empty() {
        bail!(
            DUPLICATE_OBJECT,
            "constraint \"{new}\" for relation \"{}\" already exists",
            rel.name()
        );
    }
    if matches!(row.contype, b'p' | b'u' | b'x')
        && let Some(index) = row.conindid.valid()
    {
        let index = host.catalog().relation(index)?;
        return rename_relation(host, &index, new);
    }
    if row.contype == b'c' && !row.connoinherit {
        if row.coninhcount > 0 {
            bail!(INVALID_TABLE_DEFINITION, "cannot rename inherited constraint \"{old}\"");
        }
        cat.check_children(&rel.class.row)?;
    }
    cat.update(&row, &PgConstraint { conname: Name::new(new), ..row.row.clone() })?;
    cat.invalidate_relation(rel.oid(), false);
    cat.increment_command_counter()
}

fn rename_rule(host: &mut dyn CommandHost, rel: &RelDesc, old: &str, new: &str) -> Result<()> {
    let index = indexes::PG_REWRITE_REL_RULENAME_INDEX;
    let mut cat = host.catalog();
    let Some(row) = cat.scan(index, &[rel.oid().into(), old.into()])?.pop() else {
        bail!(UNDEFINED_OBJECT, "rule \"{old}\" for relation \"{}\" does not exist", rel.name())
    };
    if !cat.scan(index, &[rel.oid().into(), new.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "rule \"{new}\" for relation \"{}\" already exists", rel.name());
    }
    if row.ev_type == b'1' {
        bail!(INVALID_OBJECT_DEFINITION, "renaming an ON SELECT rule is not allowed");
    }
    cat.update(&row, &PgRewrite { rulename: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

fn rename_trigger(host: &mut dyn CommandHost, rel: &RelDesc, old: &str, new: &str) -> Result<()> {
    let index = indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX;
    let mut cat = host.catalog();
    let Some(row) = cat.scan(index, &[rel.oid().into(), old.into()])?.pop() else {
        bail!(UNDEFINED_OBJECT, "trigger \"{old}\" for table \"{}\" does not exist", rel.name())
    };
    if !cat.scan(index, &[rel.oid().into(), new.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "trigger \"{new}\" for relation \"{}\" already exists", rel.name());
    }
    cat.update(&row, &PgTrigger { tgname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// The schema's row; 42501 unless the user owns the schema.
pub(crate) fn schema_row(
    host: &mut dyn CommandHost,
    name: &str,
) -> Result<catalog::Row<PgNamespace>> {
    let mut cat = host.catalog();
    let Some(oid) = cat.find_namespace(name)? else {
        bail!(INVALID_SCHEMA_NAME, "schema \"{name}\" does not exist")
    };
    let row = cat.scan(indexes::PG_NAMESPACE_OID_INDEX, &[oid.into()])?.pop();
    let row = row.ok_or_else(|| PgError::internal("schema without a row"))?;
    if !names::is_owner(host, row.nspowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of schema {name}");
    }
    Ok(row)
}

fn rename_schema(host: &mut dyn CommandHost, old: &str, new: &str) -> Result<()> {
    let row = schema_row(host, old)?;
    check_schema_name(host, new)?;
    let mut cat = host.catalog();
    cat.update(&row, &PgNamespace { nspname: Name::new(new), ..row.row.clone() })?;
    cat.increment_command_counter()
}

/// ALTER … SET SCHEMA.
pub fn set_schema(host: &mut dyn CommandHost, stmt: &AlterObjectSchemaStmt) -> Result<()> {
    match stmt.object_type {
        ObjectType::Table | ObjectType::Sequence | ObjectType::View | ObjectType::Matview => {}
        ObjectType::Type | ObjectType::Domain => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            let domain = stmt.object_type == ObjectType::Domain;
            return crate::typecmd::set_schema(host, &parts, &stmt.newschema, domain);
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = crate::routine::named(host, stmt.object.as_ref(), stmt.object_type)?;
            return crate::routine::set_schema(host, oid, &stmt.newschema);
        }
        ObjectType::StatisticExt => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            return crate::extstats::set_schema(host, &parts, &stmt.newschema);
        }
        other => return Err(PgError::unsupported(format!("SET SCHEMA of kind {other:?}"))),
    }
    let Some(rel) = target(host, &stmt.relation, stmt.missing_ok)? else { return Ok(()) };
    let schema = host.catalog().namespace(&stmt.newschema)?;
    if schema == rel.class.relnamespace {
        return Ok(());
    }
    creation::may_create_in(host, schema)?;
    move_relation(host, &rel, schema)
}

/// Moves a relation with its row type, indexes, constraints and owned sequences to another schema.
pub fn move_relation(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, schema: Oid) -> Result<()> {
    let old = rel.class.relnamespace;
    if host.catalog().relation_in(schema, rel.name())?.is_some() {
        let shown = host.catalog().namespace_name(schema)?.unwrap_or_default();
        bail!(DUPLICATE_TABLE, "relation \"{}\" already exists in schema \"{shown}\"", rel.name());
    }
    let mut cat = host.catalog();
    let row = relation::class(&mut cat, rel.oid())?;
    cat.update(&row, &PgClass { relnamespace: schema, ..row.row.clone() })?;
    if rel.index.is_none() {
        let this = ObjectAddress::relation(rel.oid());
        cat.change_dependency(this, PgNamespace::RELATION, old, schema)?;
    }
    if let Some(ty) = rel.class.reltype.valid() {
        let row = cat.type_row(ty)?;
        cat.update(&row, &PgType { typnamespace: schema, ..row.row.clone() })?;
        if let Some(array) = row.typarray.valid() {
            let row = cat.type_row(array)?;
            cat.update(&row, &PgType { typnamespace: schema, ..row.row.clone() })?;
        }
    }
    let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
    for row in cat.scan(index, &[rel.oid().into()])? {
        cat.update(&row, &PgConstraint { connamespace: schema, ..row.row.clone() })?;
    }
    cat.increment_command_counter()?;
    let mut parts: Vec<Oid> = rel.indexes.iter().map(|i| i.indexrelid).collect();
    parts.extend(sequence::owned_by(host, rel.oid(), None)?);
    for part in parts {
        let part = host.catalog().relation(part)?;
        move_relation(host, &part, schema)?;
    }
    Ok(())
}

/// ALTER … OWNER TO for objects other than relations.
pub fn set_owner(host: &mut dyn CommandHost, stmt: &AlterOwnerStmt) -> Result<()> {
    let owner = names::role_oid(host, &stmt.newowner)?;
    let name = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
    let name = name.last().copied().unwrap_or("");
    match stmt.object_type {
        ObjectType::Schema => {
            let row = schema_row(host, name)?;
            if !names::is_superuser(host)? {
                names::must_be_member(host, owner)?;
            }
            let this = ObjectAddress::of::<PgNamespace>(row.oid);
            let mut cat = host.catalog();
            let nspacl = new_owner_acl(row.nspacl.clone(), row.nspowner, owner);
            cat.update(&row, &PgNamespace { nspowner: owner, nspacl, ..row.row.clone() })?;
            change_owner_row(host, this, owner)
        }
        ObjectType::Database => {
            let mut cat = host.catalog();
            let Some(row) = cat.find_database(name)? else {
                bail!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
            };
            if row.datdba == owner {
                return Ok(());
            }
            crate::database::may_change_owner(host, &row, owner)?;
            let mut cat = host.catalog();
            let datacl = new_owner_acl(row.datacl.clone(), row.datdba, owner);
            cat.update(&row, &PgDatabase { datdba: owner, datacl, ..row.row.clone() })?;
            change_owner_row(host, ObjectAddress::of::<PgDatabase>(row.oid), owner)
        }
        ObjectType::Type | ObjectType::Domain => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            let domain = stmt.object_type == ObjectType::Domain;
            crate::typecmd::set_owner(host, &parts, owner, domain)
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = crate::routine::named(host, stmt.object.as_ref(), stmt.object_type)?;
            crate::routine::set_owner(host, oid, owner)
        }
        ObjectType::StatisticExt => {
            let parts = stmt.object.as_ref().map(drop::parts).unwrap_or_default();
            crate::extstats::set_owner(host, &parts, owner)
        }
        ObjectType::Tablespace => {
            let oid = crate::tablespace::oid_of(host, name)?;
            let mut cat = host.catalog();
            let row = cat.scan(indexes::PG_TABLESPACE_OID_INDEX, &[oid.into()])?.pop();
            let row = row.ok_or_else(|| PgError::internal("tablespace without a row"))?;
            if !names::is_owner(host, row.spcowner)? {
                bail!(INSUFFICIENT_PRIVILEGE, "must be owner of tablespace {name}");
            }
            names::must_be_member(host, owner)?;
            let mut cat = host.catalog();
            let spcacl = new_owner_acl(row.spcacl.clone(), row.spcowner, owner);
            cat.update(&row, &PgTablespace { spcowner: owner, spcacl, ..row.row.clone() })?;
            change_owner_row(host, ObjectAddress::of::<PgTablespace>(oid), owner)
        }
        other => Err(PgError::unsupported(format!("OWNER TO of kind {other:?}"))),
    }
}

/// Transfers the old owner's privileges to the new owner.
pub fn new_owner_acl(list: Option<Vec<AclItem>>, old: Oid, new: Oid) -> Option<Vec<AclItem>> {
    list.map(|l| crate::grant::list::new_owner(&l, old, new))
}

/// Updates the owner in `pg_shdepend`.
pub fn change_owner_row(host: &mut dyn CommandHost, this: ObjectAddress, owner: Oid) -> Result<()> {
    let mut cat = host.catalog();
    let shared = catalog::write::is_shared_catalog(this.class);
    let database = if shared { Oid::INVALID } else { cat.session.catalog.database() };
    // ACLs of columns may contain the new owner.
    let keys = [database.into(), this.class.into(), this.object.into()];
    for d in cat.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys)? {
        // The owner's own ACL entries are not recorded as dependencies.
        if d.deptype == b'o' && d.objsubid == 0 || d.deptype == b'a' && d.refobjid == owner {
            cat.delete(&d)?;
        }
    }
    cat.record_owner(this, owner)?;
    cat.increment_command_counter()
}

fn check_schema_name(host: &mut dyn CommandHost, name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(pg_err!(RESERVED_NAME, "unacceptable schema name \"{name}\"")
            .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    if host.catalog().find_namespace(name)?.is_some() {
        bail!(DUPLICATE_SCHEMA, "schema \"{name}\" already exists");
    }
    Ok(())
}

/// CREATE SCHEMA with its schema elements.
pub fn create_schema(host: &mut dyn CommandHost, stmt: &CreateSchemaStmt, sql: &str) -> Result<()> {
    let user = names::user(host);
    let owner = match &stmt.authrole {
        Some(role) => names::role_oid(host, role)?,
        None => user,
    };
    let name = match &stmt.schemaname {
        Some(name) => name.to_string(),
        None => host.catalog().role_name(owner)?,
    };
    let name = stdx::clip(&name, 63).to_string();
    let database = host.backend().database();
    if let Some(row) = host.catalog().database(database)? {
        let (kind, list) = (acl::Kind::Database, row.datacl.as_deref());
        if !host.catalog().has_privilege(user, row.datdba, list, kind, acl::CREATE)? {
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for database {}", row.datname);
        }
    }
    names::must_be_member(host, owner)?;
    if stmt.if_not_exists && host.catalog().find_namespace(&name)?.is_some() {
        host.notice(notice(pg_err!(
            DUPLICATE_SCHEMA,
            "schema \"{name}\" already exists, skipping"
        )));
        return Ok(());
    }
    check_schema_name(host, &name)?;
    let nspacl =
        crate::grant::defaults::of_new_object(host, ObjectType::Schema, owner, Oid::INVALID)?;
    let mut cat = host.catalog();
    let oid = cat.new_oid(indexes::PG_NAMESPACE_OID_INDEX)?;
    cat.insert(&PgNamespace {
        oid,
        nspname: Name::new(&name),
        nspowner: owner,
        nspacl: nspacl.clone(),
    })?;
    let this = ObjectAddress::of::<PgNamespace>(oid);
    cat.record_owner(this, owner)?;
    crate::grant::defaults::note_new(host, this, nspacl.as_deref(), owner)?;
    host.catalog().increment_command_counter()?;
    if stmt.schema_elts.is_empty() {
        return Ok(());
    }
    let mut elements: Vec<&Node> = stmt.schema_elts.iter().collect();
    elements.sort_by_key(|node| element_rank(node));
    // Elements find each other by unqualified names and belong to the schema's owner.
    let path = host.catalog().session.search_path().to_owned();
    let quoted = format!("\"{}\"", name.replace('"', "\"\""));
    let inner = if path.trim().is_empty() { quoted } else { format!("{quoted}, {path}") };
    host.catalog().session.set_search_path(&inner);
    host.catalog().session.set_user(owner);
    let made = elements.into_iter().try_for_each(|elt| {
        let elt = in_schema(elt, &name)?;
        crate::utility::run_utility(host, &elt, sql).map(|_| ())
    });
    host.catalog().session.set_user(user);
    host.catalog().session.set_search_path(&path);
    made
}

/// Creation order of CREATE SCHEMA elements. Counterpart: `transformCreateSchemaStmtElements`.
fn element_rank(node: &Node) -> u8 {
    match node {
        Node::CreateSeqStmt(_) => 0,
        Node::CreateStmt(_) => 1,
        Node::ViewStmt(_) => 2,
        Node::IndexStmt(_) => 3,
        Node::GrantStmt(_) => 5,
        _ => 4,
    }
}

/// The schema element with its object placed in the schema.
fn in_schema(node: &Node, schema: &str) -> Result<Node> {
    let mut node = node.clone();
    let rv = match &mut node {
        Node::CreateStmt(s) => Some(&mut s.relation),
        Node::ViewStmt(s) => Some(&mut s.view),
        Node::IndexStmt(s) => Some(&mut s.relation),
        Node::CreateSeqStmt(s) => Some(&mut s.sequence),
        _ => None,
    };
    if let Some(rv) = rv {
        match &rv.schemaname {
            Some(other) if **other != *schema => bail!(
                INVALID_SCHEMA_DEFINITION,
                "CREATE specifies a schema ({other}) different from the one being created ({schema})"
            ),
            _ => rv.schemaname = Some(schema.into()),
        }
    }
    Ok(node)
}

/// COMMENT ON.
pub fn comment(host: &mut dyn CommandHost, stmt: &CommentStmt) -> Result<()> {
    let parts = drop::parts(&stmt.object);
    let object = match stmt.objtype {
        ObjectType::Table
        | ObjectType::View
        | ObjectType::Index
        | ObjectType::Sequence
        | ObjectType::Matview => {
            let rv = names::range_var_of(&parts)?;
            let rel = names::open(host, &rv, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
            names::must_own_relation(host, &rel)?;
            ObjectAddress::relation(rel.oid())
        }
        ObjectType::Column => {
            let [table @ .., column] = parts.as_slice() else {
                return Err(PgError::internal("column without a name"));
            };
            if table.is_empty() {
                bail!(SYNTAX_ERROR, "column name must be qualified");
            }
            let rv = names::range_var_of(table)?;
            let rel = names::open(host, &rv, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
            names::must_own_parts(host, &rel)?;
            let Some(a) = rel.column(column) else {
                bail!(
                    UNDEFINED_COLUMN,
                    "column \"{column}\" of relation \"{}\" does not exist",
                    rel.name()
                )
            };
            ObjectAddress::column(rel.oid(), a.attnum)
        }
        ObjectType::Schema => {
            let row = schema_row(host, parts.last().copied().unwrap_or(""))?;
            ObjectAddress::of::<PgNamespace>(row.oid)
        }
        ObjectType::Tabconstraint => {
            let [table @ .., name] = parts.as_slice() else {
                return Err(PgError::internal("constraint without a name"));
            };
            let rv = names::range_var_of(table)?;
            let rel = names::open(host, &rv, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
            names::must_own_parts(host, &rel)?;
            let keys = [rel.oid().into(), Oid::INVALID.into(), (*name).into()];
            let index = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
            let row = host.catalog().scan(index, &keys)?.pop();
            let Some(row) = row else {
                bail!(
                    UNDEFINED_OBJECT,
                    "constraint \"{name}\" for table \"{}\" does not exist",
                    rel.name()
                )
            };
            ObjectAddress::of::<PgConstraint>(row.oid)
        }
        ObjectType::Type | ObjectType::Domain => {
            let row = crate::typecmd::find(host, &parts)?;
            if stmt.objtype == ObjectType::Domain && row.typtype != b'd' {
                let shown = host.catalog().format_type(row.oid)?;
                bail!(WRONG_OBJECT_TYPE, "\"{shown}\" is not a domain");
            }
            crate::typecmd::must_own(host, &row)?;
            ObjectAddress::of::<PgType>(row.oid)
        }
        ObjectType::Domconstraint => {
            let (ty, name) = match &stmt.object {
                Node::List(list) => match list.as_ref() {
                    [ty, name] => (drop::parts(ty), name.as_str().unwrap_or("")),
                    _ => (Vec::new(), ""),
                },
                _ => (Vec::new(), ""),
            };
            let row = crate::typecmd::find(host, &ty)?;
            crate::typecmd::must_own(host, &row)?;
            let oid = crate::domain::constraint_oid(host, row.oid, name)?;
            ObjectAddress::of::<PgConstraint>(oid)
        }
        ObjectType::Function
        | ObjectType::Procedure
        | ObjectType::Routine
        | ObjectType::Aggregate => {
            let oid = crate::routine::named(host, Some(&stmt.object), stmt.objtype)?;
            crate::routine::must_own(host, oid)?;
            ObjectAddress::of::<PgProc>(oid)
        }
        ObjectType::Rule | ObjectType::Trigger | ObjectType::Policy => {
            let [table @ .., name] = parts.as_slice() else {
                return Err(PgError::internal("object without a name"));
            };
            let rv = names::range_var_of(table)?;
            let rel = names::open(host, &rv, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
            names::must_own_parts(host, &rel)?;
            part_of(host, &rel, stmt.objtype, name)?
        }
        ObjectType::StatisticExt => {
            let row = crate::extstats::find(host, &parts)?;
            ObjectAddress::of::<PgStatisticExt>(row.oid)
        }
        ObjectType::Collation => {
            let (schema, name) = match parts.as_slice() {
                [.., schema, name] => (Some(*schema), *name),
                [name] => (None, *name),
                [] => (None, ""),
            };
            let oid = host.catalog().collation_oid(schema, name)?;
            let row = host.catalog().collation(oid)?;
            if !names::is_owner(host, row.collowner)? {
                bail!(INSUFFICIENT_PRIVILEGE, "must be owner of collation {name}");
            }
            ObjectAddress::of::<PgCollation>(oid)
        }
        ObjectType::Language => {
            let name = parts.last().copied().unwrap_or("");
            let Some(row) = host.catalog().find_language(name)? else {
                bail!(UNDEFINED_OBJECT, "language \"{name}\" does not exist")
            };
            ObjectAddress::of::<PgLanguage>(row.oid)
        }
        ObjectType::Extension => {
            let name = parts.last().copied().unwrap_or("");
            let Some(row) = host.catalog().find_extension(name)? else {
                bail!(UNDEFINED_OBJECT, "extension \"{name}\" does not exist")
            };
            ObjectAddress::of::<PgExtension>(row.oid)
        }
        ObjectType::Database => {
            let name = parts.last().copied().unwrap_or("");
            let Some(row) = host.catalog().find_database(name)? else {
                bail!(UNDEFINED_DATABASE, "database \"{name}\" does not exist")
            };
            return shared_comment(host, PgDatabase::RELATION, row.oid, stmt.comment.as_deref());
        }
        ObjectType::Tablespace => {
            let name = parts.last().copied().unwrap_or("");
            let oid = crate::tablespace::oid_of(host, name)?;
            return shared_comment(host, PgTablespace::RELATION, oid, stmt.comment.as_deref());
        }
        ObjectType::Role => {
            let name = parts.last().copied().unwrap_or("");
            let oid = host.catalog().role(name)?.oid;
            return shared_comment(host, PgAuthid::RELATION, oid, stmt.comment.as_deref());
        }
        other => return Err(PgError::unsupported(format!("COMMENT ON of kind {other:?}"))),
    };
    set_comment(host, object, stmt.comment.as_deref())
}

/// Sets or removes the comment of an object.
pub fn set_comment(
    host: &mut dyn CommandHost,
    object: ObjectAddress,
    text: Option<&str>,
) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [object.object.into(), object.class.into(), object.sub.into()];
    let old = cat.scan(indexes::PG_DESCRIPTION_O_C_O_INDEX, &keys)?.pop();
    let new = text.filter(|t| !t.is_empty()).map(|t| PgDescription {
        objoid: object.object,
        classoid: object.class,
        objsubid: object.sub,
        description: Text::from(t),
    });
    match (old, new) {
        (Some(old), Some(new)) => cat.update(&old, &new).map(|_| ()),
        (Some(old), None) => cat.delete(&old),
        (None, Some(new)) => cat.insert(&new).map(|_| ()),
        (None, None) => Ok(()),
    }
}

/// The OID of a rule, trigger or policy of a relation.
pub fn part_of(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    kind: ObjectType,
    name: &str,
) -> Result<ObjectAddress> {
    let keys = [rel.oid().into(), name.into()];
    let mut cat = host.catalog();
    let found = match kind {
        ObjectType::Rule => cat
            .scan(indexes::PG_REWRITE_REL_RULENAME_INDEX, &keys)?
            .pop()
            .map(|r| ObjectAddress::of::<PgRewrite>(r.oid)),
        ObjectType::Trigger => cat
            .scan(indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX, &keys)?
            .pop()
            .map(|r| ObjectAddress::of::<PgTrigger>(r.oid)),
        _ => cat
            .scan(indexes::PG_POLICY_POLRELID_POLNAME_INDEX, &keys)?
            .pop()
            .map(|r| ObjectAddress::of::<PgPolicy>(r.oid)),
    };
    let (noun, of) = match kind {
        ObjectType::Rule => ("rule", "relation"),
        ObjectType::Trigger => ("trigger", "table"),
        _ => ("policy", "table"),
    };
    found.ok_or_else(|| {
        pg_err!(UNDEFINED_OBJECT, "{noun} \"{name}\" for {of} \"{}\" does not exist", rel.name())
    })
}

fn shared_comment(
    host: &mut dyn CommandHost,
    class: Oid,
    oid: Oid,
    text: Option<&str>,
) -> Result<()> {
    let mut cat = host.catalog();
    let keys = [oid.into(), class.into()];
    let old = cat.scan(indexes::PG_SHDESCRIPTION_O_C_INDEX, &keys)?.pop();
    let new = text.filter(|t| !t.is_empty()).map(|t| PgShdescription {
        objoid: oid,
        classoid: class,
        description: Text::from(t),
    });
    match (old, new) {
        (Some(old), Some(new)) => cat.update(&old, &new).map(|_| ()),
        (Some(old), None) => cat.delete(&old),
        (None, Some(new)) => cat.insert(&new).map(|_| ()),
        (None, None) => Ok(()),
    }
}
