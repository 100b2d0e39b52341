//! LIKE in CREATE TABLE.
//!
//! Expressions of the source table are copied as text, because its columns have the same names in
//! the new table but possibly other numbers. Index columns keep their own names, which do not
//! change if a column of the table is renamed.
//!
//! Counterpart: `transformTableLikeClause`, `expandTableLikeClause`.

use crate::create_table::{Column, Constraints};
use crate::index;
use crate::partitions::indexes::{self as partitioned, Cause, Creation};
use crate::relation::NewColumn;
use catalog::rows::{PgAttribute, PgConstraint, PgDescription, PgStatisticExt, Text, indexes};
use catalog::{ObjectAddress, RelDesc};
use clusterwide::tablespace;
use deparse::{self as definition, IndexParts, Style};
use ids::code::{ColumnGenerated, ColumnIdentity};
use ids::{Oid, RelKind};
use parse::ast::{Constraint, DefElem, IndexStmt, Node, TableLikeClause};
use pgerror::{PgError, Result, bail, pg_err};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::query::parse_shown;
use utility::{class, names};

const COMMENTS: u32 = 1 << 0;
const COMPRESSION: u32 = 1 << 1;
const CONSTRAINTS: u32 = 1 << 2;
const DEFAULTS: u32 = 1 << 3;
const GENERATED: u32 = 1 << 4;
const IDENTITY: u32 = 1 << 5;
const INDEXES: u32 = 1 << 6;
const STATISTICS: u32 = 1 << 7;
const STORAGE: u32 = 1 << 8;

/// Objects that are created after the table exists.
#[derive(Default)]
pub struct DeferredObjects {
    /// Index definitions with their comments.
    indexes: Vec<(IndexStmt, Option<Text>)>,
    /// Comments of columns, by column name.
    comments: Vec<(String, Text)>,
    constraint_comments: Vec<(String, Text)>,
    /// Definitions with their comments.
    statistics: Vec<(String, Option<Text>)>,
}

fn comment_of(host: &mut dyn CommandHost, object: ObjectAddress) -> Result<Option<Text>> {
    let keys = [object.object.into(), object.class.into(), object.sub.into()];
    let row = host.catalog().scan(indexes::PG_DESCRIPTION_O_C_O_INDEX, &keys)?.pop();
    Ok(row.map(|r| r.description.clone()))
}

/// Adds the columns of the source table, and collects the other objects to copy.
pub fn add(
    host: &mut dyn CommandHost,
    like: &TableLikeClause,
    columns: &mut Vec<Column>,
    constraints: &mut Constraints,
    deferred: &mut DeferredObjects,
    sql: &str,
) -> Result<()> {
    let place = parse::position(sql, like.relation.location);
    let rel =
        names::open(host, &like.relation, names::mode::ACCESS_SHARE).map_err(|e| e.at(place))?;
    if !matches!(
        rel.kind(),
        RelKind::Table
            | RelKind::View
            | RelKind::MaterializedView
            | RelKind::CompositeType
            | RelKind::ForeignTable
            | RelKind::PartitionedTable
    ) {
        let message = format!("relation \"{}\" is invalid in LIKE clause", rel.name());
        return Err(pg_err!(WRONG_OBJECT_TYPE, "{message}")
            .detail(class::kind_not_supported(rel.kind()))
            .at(place));
    }
    names::check_table_privileges(host, &rel, catalog::acl::SELECT)?;
    let has = |bit: u32| like.options & bit != 0;
    for a in rel.attributes.iter().filter(|a| !a.attisdropped) {
        let mut c = NewColumn::new(a.attname.as_str(), a.atttypid, a.atttypmod, a.attcollation);
        c.not_null = a.attnotnull;
        if has(STORAGE) {
            c.storage = Some(a.attstorage);
        }
        if has(COMPRESSION) {
            c.compression = a.attcompression;
        }
        let mut column = Column {
            column: c,
            default: None,
            stored_default: None,
            generated: false,
            sequence: None,
        };
        let generated = a.attgenerated == ColumnGenerated::Stored;
        if let Some(text) = rel.default(a.attnum) {
            if generated && has(GENERATED) {
                let shown = definition::stored_expr(host, text.as_str(), rel.oid(), Style::PLAIN)?;
                column.default = expression(host, &shown.unwrap_or_default())?;
                column.generated = true;
                column.column.generated = ColumnGenerated::Stored;
            } else if !generated && has(DEFAULTS) {
                column.stored_default = Some(plan::nodetree::read_expr(text.as_str())?);
            }
        }
        if a.attidentity != ColumnIdentity::No && has(IDENTITY) {
            column.column.identity = a.attidentity;
            column.sequence = Some((sequence_options(host, &rel, a)?, true));
        }
        if has(COMMENTS)
            && let Some(text) = comment_of(host, ObjectAddress::column(rel.oid(), a.attnum))?
        {
            deferred.comments.push((a.attname.to_string(), text));
        }
        columns.push(column);
    }
    if has(CONSTRAINTS) {
        for check in &rel.checks {
            let def = definition::constraint_def(host, check.oid, false)?.unwrap_or_default();
            if let Some(mut c) = constraint(host, &def)? {
                c.conname = Some(check.conname.as_str().into());
                constraints.checks.push(c);
            }
            if has(COMMENTS)
                && let Some(text) = comment_of(host, ObjectAddress::of::<PgConstraint>(check.oid))?
            {
                deferred.constraint_comments.push((check.conname.to_string(), text));
            }
        }
    }
    if has(INDEXES) {
        add_indexes(host, &rel, has(COMMENTS), deferred)?;
    }
    if has(STATISTICS) {
        let index = indexes::PG_STATISTIC_EXT_RELID_INDEX;
        for row in host.catalog().scan(index, &[rel.oid().into()])? {
            let text = match has(COMMENTS) {
                true => comment_of(host, ObjectAddress::of::<PgStatisticExt>(row.oid))?,
                false => None,
            };
            let def = definition::statistics_def(host, row.oid, false)?;
            deferred.statistics.extend(def.map(|def| (def, text)));
        }
    }
    Ok(())
}

/// Parses an expression.
fn expression(host: &mut dyn CommandHost, text: &str) -> Result<Option<Node>> {
    let sql = format!("SELECT {text}");
    match parse_shown(host, &sql)?.pop().map(|s| s.stmt) {
        Some(Node::SelectStmt(mut s)) => Ok(s.target_list.pop().and_then(|t| t.val)),
        _ => Err(PgError::internal("SELECT was parsed as another statement")),
    }
}

/// Parses a constraint definition.
fn constraint(host: &mut dyn CommandHost, def: &str) -> Result<Option<Constraint>> {
    let sql = format!("ALTER TABLE t ADD {def}");
    let Some(Node::AlterTableStmt(mut s)) = parse_shown(host, &sql)?.pop().map(|s| s.stmt) else {
        return Err(PgError::internal("ALTER TABLE was parsed as another statement"));
    };
    match s.cmds.pop().and_then(|c| c.def) {
        Some(Node::Constraint(c)) => Ok(Some(*c)),
        _ => Ok(None),
    }
}

/// The options of an identity column's sequence.
fn sequence_options(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    a: &PgAttribute,
) -> Result<Vec<DefElem>> {
    // AS is omitted: as in PostgreSQL, the copied sequence is of type bigint.
    let mut out = Vec::new();
    let owned = crate::sequence::owned_by(host, rel.oid(), Some(a.attnum))?;
    let Some(oid) = owned.first() else { return Ok(out) };
    let rows = host.catalog().scan(indexes::PG_SEQUENCE_SEQRELID_INDEX, &[(*oid).into()])?;
    let Some(row) = rows.first() else { return Ok(out) };
    let mut option = |name: &str, arg: Node| {
        out.push(DefElem {
            defname: name.into(),
            arg: Some(arg),
            location: -1,
            ..DefElem::default()
        });
    };
    let number = |n: i64| Node::Float(n.to_string().as_str().into());
    option("increment", number(row.seqincrement));
    option("maxvalue", number(row.seqmax));
    option("minvalue", number(row.seqmin));
    option("start", number(row.seqstart));
    option("cache", number(row.seqcache));
    option("cycle", Node::Boolean(row.seqcycle));
    Ok(out)
}

/// Copies the indexes with new names. Indexes of constraints are copied as constraints.
fn add_indexes(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    comments: bool,
    deferred: &mut DeferredObjects,
) -> Result<()> {
    for i in &rel.indexes {
        let parts = IndexParts { column: 0, exclusion: false };
        let def = definition::index_def(host, i.indexrelid, parts, false)?.unwrap_or_default();
        let Some(Node::IndexStmt(mut s)) = parse_shown(host, &def)?.pop().map(|s| s.stmt) else {
            return Err(PgError::internal("CREATE INDEX was parsed as another statement"));
        };
        s.idxname = None;
        let old = host.catalog().relation(i.indexrelid)?;
        let elements = s.index_params.iter_mut().chain(&mut s.index_including_params);
        for (element, a) in elements.zip(&old.attributes) {
            element.indexcolname = Some(a.attname.as_str().into());
        }
        if let Some(place) = old.class.reltablespace.valid() {
            s.table_space = Some(tablespace::name_of(host, place)?);
        }
        if let Some(oid) = index::constraint_of(host, i.indexrelid)? {
            let row = host.catalog().scan(indexes::PG_CONSTRAINT_OID_INDEX, &[oid.into()])?.pop();
            let row = row.ok_or_else(|| PgError::internal("the constraint has no index"))?;
            s.isconstraint = true;
            s.primary = i.indisprimary;
            (s.deferrable, s.initdeferred) = (row.condeferrable, row.condeferred);
            for &operator in row.conexclop.iter().flatten().filter(|_| i.indisexclusion) {
                let mut cat = host.catalog();
                let operator = cat.operator(operator)?;
                let schema = cat.namespace_name(operator.oprnamespace)?.unwrap_or_default();
                let names = [schema.as_str(), operator.oprname.as_str()];
                s.exclude_op_names.push(names.map(|n| Node::String(n.into())).to_vec());
            }
        }
        let text = match comments {
            true => comment_of(host, ObjectAddress::relation(i.indexrelid))?,
            false => None,
        };
        deferred.indexes.push((*s, text));
    }
    Ok(())
}

/// Creates indexes, comments and statistics of the new table.
pub fn finish(host: &mut dyn CommandHost, oid: Oid, deferred: DeferredObjects) -> Result<()> {
    for (mut stmt, text) in deferred.indexes {
        let rel = host.catalog().relation(oid)?;
        stmt.relation = parse::ast::RangeVar::default();
        if stmt.primary && rel.indexes.iter().any(|i| i.indisprimary) {
            bail!(
                INVALID_TABLE_DEFINITION,
                "multiple primary keys for table \"{}\" are not allowed",
                rel.name()
            );
        }
        let new = index::describe(host, &stmt, &rel, "")?;
        let how = Creation { filled: true, recurse: true, by: Cause::CreateTable };
        let new = partitioned::create(host, &rel, &new, how)?;
        if let Some(text) = text {
            put_comment(host, ObjectAddress::relation(new), text)?;
        }
    }
    let rel = host.catalog().relation(oid)?;
    for (column, text) in deferred.comments {
        if let Some(a) = rel.column(&column) {
            put_comment(host, ObjectAddress::column(oid, a.attnum), text)?;
        }
    }
    for (name, text) in deferred.constraint_comments {
        if let Some(c) = rel.checks.iter().find(|c| c.conname == name.as_str()) {
            put_comment(host, ObjectAddress::of::<PgConstraint>(c.oid), text)?;
        }
    }
    for (def, text) in deferred.statistics {
        let Some(Node::CreateStatsStmt(mut s)) = parse_shown(host, &def)?.pop().map(|s| s.stmt)
        else {
            continue;
        };
        s.defnames.clear();
        let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
        let target = names::range_var_of(&[schema.as_str(), rel.name()])?;
        s.relations = vec![Node::RangeVar(Box::new(target))];
        let new = crate::extstats::create(host, &s, &def)?;
        if let (Some(new), Some(text)) = (new, text) {
            put_comment(host, ObjectAddress::of::<PgStatisticExt>(new), text)?;
        }
        host.catalog().increment_command_counter()?;
    }
    Ok(())
}

fn put_comment(host: &mut dyn CommandHost, object: ObjectAddress, text: Text) -> Result<()> {
    host.catalog().insert(&PgDescription {
        objoid: object.object,
        classoid: object.class,
        objsubid: object.sub,
        description: text,
    })?;
    Ok(())
}
