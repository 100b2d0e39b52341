//! Materialized views: REFRESH (CONCURRENTLY: `merge`) and population.
//!
//! Counterpart: matview.c, createas.c.

mod merge;

use crate::{create_as, truncate};
use analyze::SessionLookup;
use catalog::RelDesc;
use catalog::rows::PgClass;
use engine::table::InsertOptions;
use ids::{Oid, RelKind};
use parse::ast::RefreshMatViewStmt;
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use plan::query::Query;
use utility::host::CommandHost;
use utility::{class, names};

/// REFRESH MATERIALIZED VIEW.
pub fn refresh(host: &mut dyn CommandHost, stmt: &RefreshMatViewStmt) -> Result<()> {
    // Readers are not blocked while the rows are compared by CONCURRENTLY.
    let lock = match stmt.concurrent {
        true => names::mode::EXCLUSIVE,
        false => names::mode::ACCESS_EXCLUSIVE,
    };
    let rel = names::open(host, &stmt.relation, lock)?;
    if !matches!(
        rel.kind(),
        RelKind::Table | RelKind::Toast | RelKind::MaterializedView | RelKind::PartitionedTable
    ) {
        bail!(WRONG_OBJECT_TYPE, "\"{}\" is not a table or materialized view", rel.name());
    }
    names::must_own_relation(host, &rel)?;
    if rel.kind() != RelKind::MaterializedView {
        bail!(FEATURE_NOT_SUPPORTED, "\"{}\" is not a materialized view", rel.name());
    }
    if stmt.concurrent && !rel.class.relispopulated {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "CONCURRENTLY cannot be used when the materialized view is not populated"
        );
    }
    if stmt.concurrent && stmt.skip_data {
        bail!(SYNTAX_ERROR, "CONCURRENTLY and WITH NO DATA options cannot be used together");
    }
    if stmt.concurrent && usable_indexes(host, &rel)?.is_empty() {
        let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
        let quote = catalog::format_type::quote_identifier;
        let shown = format!("{}.{}", quote(schema.unwrap_or_default().as_str()), quote(rel.name()));
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cannot refresh materialized view \"{shown}\" concurrently"
        )
        .hint(
            "Create a unique index with no WHERE clause on one or more columns of the \
             materialized view.",
        ));
    }
    let query = query_of(host, &rel)?;
    set_populated(host, rel.oid(), !stmt.skip_data)?;
    if stmt.concurrent {
        host.catalog().check_new_rows(&rel)?;
        return merge::merge(host, &rel, &query);
    }
    class::new_files(host, rel.oid())?;
    if let Some(toast) = rel.class.reltoastrelid.valid() {
        host.lock_relation(toast, names::mode::ACCESS_EXCLUSIVE)?;
        class::new_files(host, toast)?;
        let desc = host.catalog().relation(toast)?;
        truncate::rebuild_indexes(host, &desc)?;
    }
    let rel = host.catalog().relation(rel.oid())?;
    if let Some(table) = &rel.table {
        host.backend().count_truncation(table);
    }
    if !stmt.skip_data {
        let how = InsertOptions { skip_fsm: true, ..InsertOptions::default() };
        host.as_owner(rel.class.relowner, &mut |host| {
            create_as::write_heap(host, rel.oid(), &query, how).map(|_| ())
        })?;
    }
    truncate::rebuild_indexes(host, &rel)
}

fn is_true(e: &Expr) -> bool {
    matches!(e, Expr::Const(c) if !c.is_null() && c.value.as_ref().as_bool())
}

/// The unique indexes of columns that contain all rows: those without a predicate, or with one that
/// is constantly true. Counterpart: `is_usable_unique_index`.
fn usable_indexes(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<Vec<Oid>> {
    let mut usable = Vec::new();
    for index in &rel.indexes {
        if !index.indisunique || !index.indisvalid || index.indexprs.is_some() {
            continue;
        }
        let mut is_whole = true;
        if let Some(text) = &index.indpred {
            let list = plan::nodetree::read_exprs(text.as_str())?;
            // Immutable functions are called.
            host.as_owner(rel.class.relowner, &mut |host| {
                for e in &list {
                    let folded = host.planner().fold(e.clone())?;
                    is_whole &= is_true(&folded);
                }
                Ok(())
            })?;
        }
        if is_whole {
            usable.push(index.indexrelid);
        }
    }
    Ok(usable)
}

fn query_of(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<Query> {
    let rule = rel.rules.iter().find(|r| r.ev_type == b'1');
    let rule = rule.ok_or_else(|| {
        PgError::internal(format!(
            "materialized view \"{}\" is missing rewrite information",
            rel.name()
        ))
    })?;
    let mut list =
        analyze::stored::queries(&mut SessionLookup::new(host), rule.ev_action.as_str())?;
    list.pop().ok_or_else(|| PgError::internal("rule without an action"))
}

/// Stores whether the view is populated.
pub fn set_populated(host: &mut dyn CommandHost, oid: Oid, populated: bool) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    if row.relispopulated != populated {
        cat.update(&row, &PgClass { relispopulated: populated, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}
