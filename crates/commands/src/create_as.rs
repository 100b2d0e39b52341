//! CREATE TABLE AS, SELECT INTO and CREATE MATERIALIZED VIEW: creates a relation from the rows of a
//! query.
//!
//! Counterpart: createas.c.

use crate::relation::{self, NewColumn, NewRelation};
use crate::{table_am, toast, view};
use analyze::SessionLookup;
use analyze::state::Params;
use clusterwide::tablespace;
use define::creation;
use engine::table::InsertOptions;
use executor::BulkWriter;
use executor::spi::{self, Finished, QuerySnapshot};
use ids::{Oid, RelKind};
use parse::ast::{self, CreateTableAsStmt, Node, ObjectType};
use pgerror::{Result, bail, pg_err};
use plan::PlannedStmt;
use plan::query::{CmdType, Query};
use std::sync::Arc;
use types::{Batch, Datum, oids};
use utility::host::{CommandHost, Writing, notice};
use utility::{names, query, reloptions};

/// Insert options for a relation that is not yet visible to other sessions.
fn new_relation_options() -> InsertOptions {
    InsertOptions { skip_fsm: true, ..InsertOptions::default() }
}

/// CREATE TABLE AS with a query. Returns the number of rows, or `None` if the table existed.
pub fn create_table_as(
    host: &mut dyn CommandHost,
    stmt: &CreateTableAsStmt,
    sql: &str,
) -> Result<Option<u64>> {
    let query = inner_query(host, stmt, sql)?;
    if table_exists(host, stmt)? {
        return Ok(None);
    }
    let list =
        if query.returning_list.is_empty() { &query.target_list } else { &query.returning_list };
    let mut columns = view::columns_of(host, list, &stmt.into.col_names)?;
    if stmt.into.skip_data {
        create_relation(host, stmt, columns, Some(&query))?;
        return Ok(Some(0));
    }
    let plan = query::plan(host, &query)?;
    // Planning may simplify an expression to one with a more specific type modifier. For set
    // operations the modifier from the analysis is used, because the plan shows that of the first
    // input.
    if query.set_operations.is_none() {
        let targets = plan.plan_tree.info.target_list.iter().filter(|t| !t.resjunk);
        for (column, t) in columns.iter_mut().zip(targets) {
            if column.ty == t.expr.type_oid() {
                column.typmod = t.expr.typmod();
            }
        }
    }
    // The snapshot is taken first, because the new table in the catalogs must not be visible to the
    // query.
    let snapshot = host.backend().snapshot();
    let oid = create_relation(host, stmt, columns, Some(&query))?;
    let query = query::of_plan(&plan, QuerySnapshot::Given(snapshot));
    write_rows(host, oid, query).map(|done| Some(done.rows))
}

/// CREATE TABLE AS EXECUTE, with the plan of the prepared statement. Returns the number of rows.
pub fn create_table_of_plan(
    host: &mut dyn CommandHost,
    stmt: &CreateTableAsStmt,
    sql: &str,
    plan: &Arc<PlannedStmt>,
    params: Arc<[Datum]>,
) -> Result<u64> {
    if plan.command_type != CmdType::Select {
        bail!(WRONG_OBJECT_TYPE, "prepared statement is not a SELECT");
    }
    let snapshot = host.backend().snapshot();
    spi::with_snapshot(host, &snapshot, |host| {
        let oid = empty_table(host, stmt, sql, plan)?;
        if stmt.into.skip_data {
            return Ok(0);
        }
        Ok(write_rows(host, oid, spi::Query::new(plan.clone(), params))?.rows)
    })
}

/// Creates the relation for the rows of a plan, without rows.
pub fn empty_table(
    host: &mut dyn CommandHost,
    stmt: &CreateTableAsStmt,
    sql: &str,
    plan: &PlannedStmt,
) -> Result<Oid> {
    let targets = &plan.plan_tree.info.target_list;
    let columns = view::columns_of(host, targets, &stmt.into.col_names)?;
    let query = match stmt.objtype {
        ObjectType::Matview => Some(inner_query(host, stmt, sql)?),
        _ => None,
    };
    create_relation(host, stmt, columns, query.as_ref())
}

fn inner_query(host: &mut dyn CommandHost, stmt: &CreateTableAsStmt, sql: &str) -> Result<Query> {
    let mut node = stmt.query.clone();
    if let Node::SelectStmt(s) = &mut node {
        take_into(s);
    }
    let mut cat = SessionLookup::new(host);
    let mut query = analyze::ddl::inner_query(&mut cat, &node, sql, Params::Fixed(Vec::new()))?;
    query.can_set_tag = true;
    Ok(query)
}

/// Creates the empty relation. `query` is stored as the rule of a materialized view.
fn create_relation(
    host: &mut dyn CommandHost,
    stmt: &CreateTableAsStmt,
    mut columns: Vec<NewColumn>,
    query: Option<&Query>,
) -> Result<Oid> {
    let into = &stmt.into;
    crate::create_table::check_on_commit(into.on_commit, &into.rel)?;
    let (schema, persistence) = creation::creation_target(host, &into.rel)?;
    let name = stdx::clip(&into.rel.relname, 63).to_string();
    if into.col_names.len() > columns.len() {
        bail!(SYNTAX_ERROR, "too many column names were specified");
    }
    for c in &mut columns {
        if c.ty == oids::UNKNOWN {
            c.ty = oids::TEXT;
        }
    }
    relation::check_collations(host, &columns, |name, ty| {
        format!("no collation was derived for column \"{name}\" with collatable type {ty}")
    })?;
    let remembered = query.filter(|_| stmt.objtype == ObjectType::Matview);
    if let Some(query) = remembered {
        check_matview_query(host, query, persistence)?;
    }
    let owner = names::user(host);
    let spec = NewRelation {
        name: &name,
        namespace: schema,
        kind: if remembered.is_some() { RelKind::MaterializedView } else { RelKind::Table },
        persistence,
        owner,
        tablespace: tablespace::of_relation(
            host,
            into.table_space_name.as_deref(),
            persistence == ids::Persistence::Temporary,
        )?,
        access_method: table_am::named(host, into.access_method.as_deref())?,
        columns: &columns,
        options: reloptions::table_options(&into.options)?,
    };
    let oid = relation::create(host, &spec)?;
    toast::add_toast(host, oid, reloptions::toast_options(&into.options)?)?;
    if let Some(query) = remembered {
        if into.skip_data {
            crate::matview::set_populated(host, oid, false)?;
        }
        let mut stored = query.clone();
        let visible = stored.target_list.iter_mut().filter(|t| !t.resjunk);
        for (t, name) in visible.zip(&into.col_names) {
            t.resname = Some(name.to_string());
        }
        view::store_rule(host, oid, stored)?;
    }
    match into.on_commit {
        ast::OnCommitAction::DeleteRows => host.on_commit(oid, false),
        ast::OnCommitAction::Drop => host.on_commit(oid, true),
        _ => {}
    }
    Ok(oid)
}

/// Refuses queries that a materialized view does not allow.
fn check_matview_query(
    host: &mut dyn CommandHost,
    query: &Query,
    persistence: ids::Persistence,
) -> Result<()> {
    if query.has_modifying_cte {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "materialized views must not use data-modifying statements in WITH"
        );
    }
    if view::uses_temporary(host, query)? {
        bail!(FEATURE_NOT_SUPPORTED, "materialized views must not use temporary tables or views");
    }
    if persistence == ids::Persistence::Unlogged {
        bail!(FEATURE_NOT_SUPPORTED, "materialized views cannot be unlogged");
    }
    Ok(())
}

/// Batches of at least this many rows are written directly; smaller ones are buffered.
const DIRECT_WRITE_ROWS_MIN: usize = 64;

/// Buffers the rows of a query and writes them to the new relation.
struct RowBuffer {
    writer: BulkWriter,
    batch: Batch,
    rows: u64,
}

impl RowBuffer {
    fn new(host: &mut dyn CommandHost, oid: Oid, how: InsertOptions) -> Result<RowBuffer> {
        let writer = BulkWriter::open(&mut Writing(host), oid, how)?;
        let batch = writer.batch();
        Ok(RowBuffer { writer, batch, rows: 0 })
    }

    /// Runs the query and writes its rows; returns their number.
    fn run(mut self, host: &mut dyn CommandHost, query: &Query) -> Result<u64> {
        query::run(host, query, &mut |host, rows, indexes| self.take(host, rows, indexes))?;
        self.finish(host)
    }

    /// Appends the given columns of all rows.
    fn take(&mut self, host: &mut dyn CommandHost, rows: &Batch, indexes: &[usize]) -> Result<()> {
        self.rows += rows.len as u64;
        let all = indexes.iter().copied().eq(0..rows.columns.len());
        if all && self.batch.len == 0 && rows.len >= DIRECT_WRITE_ROWS_MIN {
            return self.writer.write(&mut Writing(host), rows, &mut None);
        }
        for (column, &index) in self.batch.columns.iter_mut().zip(indexes) {
            column.extend_range(&rows.columns[index], 0, rows.len);
        }
        self.batch.len += rows.len;
        if self.batch.is_full() {
            self.writer.write(&mut Writing(host), &self.batch, &mut None)?;
            self.batch.clear();
        }
        Ok(())
    }

    fn finish(mut self, host: &mut dyn CommandHost) -> Result<u64> {
        self.writer.write(&mut Writing(host), &self.batch, &mut None)?;
        self.writer.finish(&mut Writing(host))?;
        Ok(self.rows)
    }
}

/// Runs the query and writes its rows into the relation, without index entries; returns their
/// number.
pub fn write_heap(
    host: &mut dyn CommandHost,
    oid: Oid,
    query: &Query,
    how: InsertOptions,
) -> Result<u64> {
    let mut buffer = RowBuffer::new(host, oid, how)?;
    buffer.writer = buffer.writer.without_indexes();
    buffer.run(host, query)
}

/// Runs a query and writes its rows into the new relation.
pub fn write_rows(host: &mut dyn CommandHost, oid: Oid, query: spi::Query) -> Result<Finished> {
    let mut buffer = RowBuffer::new(host, oid, new_relation_options())?;
    let done = query.run(host, &mut |host, rows, indexes| buffer.take(host, rows, indexes))?;
    Ok(Finished { rows: buffer.finish(host)?, ..done })
}

/// True if the table of CREATE TABLE AS exists. An error in that case without IF NOT EXISTS.
pub fn table_exists(host: &mut dyn CommandHost, stmt: &CreateTableAsStmt) -> Result<bool> {
    let (schema, _) = creation::creation_target(host, &stmt.into.rel)?;
    let name = stdx::clip(&stmt.into.rel.relname, 63).to_string();
    if host.catalog().relation_in(schema, &name)?.is_none() {
        return Ok(false);
    }
    if !stmt.if_not_exists {
        bail!(DUPLICATE_TABLE, "relation \"{name}\" already exists");
    }
    host.notice(notice(pg_err!(DUPLICATE_TABLE, "relation \"{name}\" already exists, skipping")));
    Ok(true)
}

/// Removes INTO from the leftmost SELECT.
fn take_into(s: &mut ast::SelectStmt) -> Option<Box<ast::IntoClause>> {
    match &mut s.larg {
        Some(left) => take_into(left),
        None => s.into_clause.take(),
    }
}

/// Converts SELECT … INTO to CREATE TABLE AS.
pub fn select_into(s: &ast::SelectStmt) -> Option<CreateTableAsStmt> {
    let mut copy = s.clone();
    let into = take_into(&mut copy)?;
    Some(CreateTableAsStmt {
        query: Node::SelectStmt(Box::new(copy)),
        into: *into,
        objtype: ObjectType::Table,
        is_select_into: true,
        if_not_exists: false,
    })
}
