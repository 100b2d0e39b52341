//! Table rewrites, and checks of existing rows without a rewrite.
//!
//! Rows are read through the relation's descriptor before the statement, from its old files, and
//! written through the new descriptor into new files under the same OIDs. The old files are removed
//! at commit.
//!
//! Counterpart: `ATRewriteTable`.

use crate::{cluster, toast, truncate};
use catalog::RelDesc;
use catalog::rows::PgAttribute;
use define::event;
use engine::table::{self, BulkInsert, InsertOptions, ScanOptions, TableScan, system};
use eval::{EvalState, Program};
use ids::code::ColumnStorage;
use ids::{AttrNo, Oid, Persistence, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::Expr;
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Datum, DatumRef};
use utility::host::{CommandHost, debug};
use utility::type_usage;
use utility::{class, exprs};

/// The pending changes to a table's rows.
pub struct Rewrite {
    /// The relation before the statement.
    old: Arc<RelDesc>,
    /// New values, computed from the old row.
    pub values: Vec<(AttrNo, Expr)>,
    /// Generated columns to compute from the new row.
    pub generated: Vec<(AttrNo, Expr)>,
    pub verify_not_null: bool,
    /// New CHECK constraints, by name.
    pub checks: Vec<(String, Expr)>,
    /// Rewrite even if no value changes.
    pub forced: bool,
    /// New `relpersistence`, if it changes.
    pub persistence: Option<Persistence>,
    pub tablespace: Option<Oid>,
    /// The new access method, which the catalogs contain already, if it changes.
    pub access_method: Option<Oid>,
    /// For event triggers: bits of [`reason`].
    pub reasons: i32,
}

/// The reasons of a rewrite. Counterpart: `AT_REWRITE_…`.
pub mod reason {
    pub const PERSISTENCE: i32 = 1;
    pub const DEFAULT: i32 = 2;
    pub const COLUMN: i32 = 4;
    pub const ACCESS_METHOD: i32 = 8;
}

impl Rewrite {
    pub fn new(old: Arc<RelDesc>) -> Rewrite {
        Rewrite {
            old,
            values: Vec::new(),
            generated: Vec::new(),
            verify_not_null: false,
            checks: Vec::new(),
            forced: false,
            persistence: None,
            tablespace: None,
            access_method: None,
            reasons: 0,
        }
    }

    /// The relation before the statement.
    pub fn before(&self) -> &Arc<RelDesc> {
        &self.old
    }

    /// True if a rewrite is needed.
    pub fn is_needed(&self) -> bool {
        self.forced || self.persistence.is_some() || self.tablespace.is_some()
    }
}

struct Programs {
    values: Vec<(AttrNo, Program)>,
    generated: Vec<(AttrNo, Program)>,
    checks: Vec<(String, Program)>,
}

impl Programs {
    fn sets(&self, column: AttrNo) -> bool {
        self.values.iter().chain(&self.generated).any(|(n, _)| *n == column)
    }
}

fn compile(host: &mut dyn CommandHost, work: &Rewrite, new: &RelDesc) -> Result<Programs> {
    let mut out = Programs { values: Vec::new(), generated: Vec::new(), checks: Vec::new() };
    for (n, e) in &work.values {
        let e = host.planner().fold(e.clone())?;
        out.values.push((*n, exprs::compile(host.facts(), &e, &[])?));
    }
    for (n, e) in &work.generated {
        let e = host.planner().fold(e.clone())?;
        out.generated.push((*n, exprs::compile_over(host, new, &e)?));
    }
    for c in new.checks.iter().filter(|c| c.convalidated) {
        let Some(text) = &c.conbin else { continue };
        let e = plan::nodetree::read_expr(text.as_str())?;
        let e = host.planner().fold(e)?;
        out.checks.push((c.conname.to_string(), exprs::compile_over(host, new, &e)?));
    }
    Ok(out)
}

/// Performs the rewrite or check, if one is pending.
pub fn run(host: &mut dyn CommandHost, oid: Oid, work: &Rewrite) -> Result<()> {
    let needed = work.is_needed();
    if !work.values.is_empty() || !work.generated.is_empty() {
        type_usage::check_row_type(host, &work.old)?;
    }
    if !needed && !work.verify_not_null && work.checks.is_empty() {
        return Ok(());
    }
    let Some(old) = work.old.table.clone() else { return Ok(()) };
    if !needed {
        let new = host.catalog().relation(oid)?;
        return verify(host, &new, work);
    }
    if work.reasons != 0 {
        event::rewriting(host, oid, work.reasons)?;
    }
    set_location(host, oid, work)?;
    if let Some(persistence) = work.persistence {
        // Includes the sequences of identity columns added by the same statement.
        for seq in crate::sequence::owned_by(host, oid, None)? {
            host.lock_relation(seq, utility::names::mode::ACCESS_EXCLUSIVE)?;
            crate::sequence::change_persistence(host, seq, persistence)?;
        }
    }
    class::new_files(host, oid)?;
    cluster::clear_missing(host, oid)?;
    toast::renew_toast(host, oid)?;
    let new = host.catalog().relation(oid)?;
    if !new.kind().has_table_am() {
        return Ok(());
    }
    if work.tablespace.is_none() || work.reasons != 0 {
        host.notice(debug(format!("rewriting table \"{}\"", new.name())));
    }
    // Rows that are only moved keep their visibility, also to older snapshots.
    let moves = work.tablespace.is_some()
        && work.persistence.is_none()
        && work.values.is_empty()
        && work.generated.is_empty()
        && !work.verify_not_null
        && new.checks.len() == work.old.checks.len();
    if moves {
        let target = new.table.clone().ok_or_else(|| PgError::internal("table without files"))?;
        cluster::copy_versions(host, &work.old, &target, None)?;
    } else {
        let programs = compile(host, work, &new)?;
        copy(host, &old, &new, &programs)?;
    }
    let new = host.catalog().relation(oid)?;
    truncate::rebuild_indexes(host, &new)?;
    Ok(())
}

/// Sets persistence and tablespace of the relation, its indexes and its TOAST table.
fn set_location(host: &mut dyn CommandHost, oid: Oid, work: &Rewrite) -> Result<()> {
    let rel = host.catalog().relation(oid)?;
    let mut parts = vec![(oid, true)];
    let indexes = rel.indexes.iter().map(|i| (i.indexrelid, false));
    parts.extend(indexes);
    if let Some(toast) = rel.class.reltoastrelid.valid() {
        parts.push((toast, true));
        let toast = host.catalog().relation(toast)?;
        parts.extend(toast.indexes.iter().map(|i| (i.indexrelid, true)));
    }
    for (part, moves) in parts {
        let mut cat = host.catalog();
        let row = class::row(&mut cat, part)?;
        let mut class = row.row.clone();
        if let Some(persistence) = work.persistence {
            class.relpersistence = persistence;
        }
        if let Some(tablespace) = work.tablespace.filter(|_| moves) {
            class.reltablespace = tablespace;
        }
        if class != row.row {
            // The old files are scheduled for removal before the row changes.
            class::replace_files(host, &row, class)?;
        }
    }
    host.catalog().increment_command_counter()
}

fn copy(
    host: &mut dyn CommandHost,
    old: &Arc<engine::TableDesc>,
    new: &Arc<RelDesc>,
    programs: &Programs,
) -> Result<()> {
    let Some(target) = &new.table else { return Ok(()) };
    let width = new.attributes.len();
    let old_width = old.tupdesc.len();
    let mut columns: Vec<AttrNo> = (1..=old_width as AttrNo).collect();
    // Values keep their compressed form even if their column's storage is now plain.
    let has_plain =
        new.attributes.iter().any(|a| a.attlen == -1 && a.attstorage == ColumnStorage::Plain);
    let same: Vec<AttrNo> = match has_plain {
        true => columns.iter().copied().filter(|n| !programs.sets(*n)).collect(),
        false => Vec::new(),
    };
    columns.extend(has_plain.then_some(system::CTID));
    let all: Vec<AttrNo> = (1..=width as AttrNo).collect();
    let snapshot = host.backend().catalog_snapshot();
    let options = ScanOptions::default();
    let mut scan = TableScan::new(host.backend(), old, snapshot, &columns, options)?;
    let mut batch = table::new_batch(old, &columns);
    let mut out = table::new_batch(target, &all);
    let mut bulk = BulkInsert::new(host.backend(), target);
    let mut tids: Vec<Tid> = Vec::new();
    let how = InsertOptions { skip_fsm: true, is_rewrite: true, ..InsertOptions::default() };
    let mut state = EvalState::default();
    let mut row: Vec<Datum> = Vec::with_capacity(width);
    while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
        host.backend().check_interrupts()?;
        for r in 0..batch.len {
            let source = batch.row_owned(r);
            row.clear();
            row.extend(source[..old_width].iter().cloned());
            row.resize(width, Datum::Null);
            for (value, a) in row.iter_mut().zip(&new.attributes) {
                if a.attisdropped {
                    *value = Datum::Null;
                }
            }
            for (n, program) in &programs.values {
                let v = exprs::value(program, &mut state, host.expressions(), &source)?;
                row[*n as usize - 1] = v;
            }
            for (n, program) in &programs.generated {
                let v = exprs::value(program, &mut state, host.expressions(), &row)?;
                row[*n as usize - 1] = v;
            }
            test(host, new, &programs.checks, &mut state, &row)?;
            let refs: Vec<DatumRef<'_>> = row.iter().map(Datum::as_ref).collect();
            if has_plain {
                let at = (old, types::system::tid_of(source[old_width].as_ref()));
                table::insert_again(host.backend(), target, &refs, how, at, &same)?;
                continue;
            }
            out.push_row(&refs);
            if out.is_full() {
                flush(host, target, &mut out, how, &mut bulk, &mut tids)?;
            }
        }
        batch.clear();
    }
    flush(host, target, &mut out, how, &mut bulk, &mut tids)?;
    bulk.finish(host.backend(), target)
}

fn flush(
    host: &mut dyn CommandHost,
    target: &Arc<engine::TableDesc>,
    rows: &mut types::Batch,
    how: InsertOptions,
    bulk: &mut BulkInsert,
    tids: &mut Vec<Tid>,
) -> Result<()> {
    if rows.len > 0 {
        tids.clear();
        table::multi_insert(host.backend(), target, rows, how, bulk, tids)?;
        rows.clear();
    }
    Ok(())
}

fn schema_of(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<String> {
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
    Ok(schema.unwrap_or_default().to_string())
}

/// Error 23502 for a column of existing rows.
fn contains_nulls(host: &mut dyn CommandHost, rel: &RelDesc, column: &str) -> Result<PgError> {
    let schema = schema_of(host, rel)?;
    Ok(pg_err!(
        NOT_NULL_VIOLATION,
        "column \"{column}\" of relation \"{}\" contains null values",
        rel.name()
    )
    .table(schema.as_str(), rel.name())
    .column(column))
}

/// Error 23514 for a constraint that existing rows violate.
fn violated(host: &mut dyn CommandHost, rel: &RelDesc, name: &str) -> Result<PgError> {
    let schema = schema_of(host, rel)?;
    Ok(pg_err!(
        CHECK_VIOLATION,
        "check constraint \"{name}\" of relation \"{}\" is violated by some row",
        rel.name()
    )
    .table(schema.as_str(), rel.name())
    .constraint(name))
}

fn test(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    checks: &[(String, Program)],
    state: &mut EvalState,
    row: &[Datum],
) -> Result<()> {
    for (value, a) in row.iter().zip(&rel.attributes) {
        if a.attnotnull && !a.attisdropped && value.is_null() {
            return Err(contains_nulls(host, rel, a.attname.as_str())?);
        }
    }
    for (name, program) in checks {
        let v = exprs::value(program, state, host.expressions(), row)?;
        if !v.is_null() && !v.as_ref().as_bool() {
            return Err(violated(host, rel, name)?);
        }
    }
    Ok(())
}

/// Checks existing rows for NOT NULL columns and new CHECK constraints. As in PostgreSQL, the first
/// row that violates one of them is reported.
fn verify(host: &mut dyn CommandHost, rel: &Arc<RelDesc>, work: &Rewrite) -> Result<()> {
    class::not_of_other_session(rel, "access")?;
    let Some(table) = &rel.table else { return Ok(()) };
    host.notice(debug(format!("verifying table \"{}\"", rel.name())));
    if work.checks.is_empty() {
        return verify_not_null(host, rel, table);
    }
    let mut checks = Vec::with_capacity(work.checks.len());
    for (name, expr) in &work.checks {
        let expr = host.planner().fold(expr.clone())?;
        checks.push((name.clone(), exprs::compile_over(host, rel, &expr)?));
    }
    let columns: Vec<AttrNo> = (1..=rel.attributes.len() as AttrNo).collect();
    let snapshot = host.backend().catalog_snapshot();
    let options = ScanOptions::default();
    let mut scan = TableScan::new(host.backend(), table, snapshot, &columns, options)?;
    let mut batch = table::new_batch(table, &columns);
    let mut state = EvalState::default();
    while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
        host.backend().check_interrupts()?;
        for r in 0..batch.len {
            test(host, rel, &checks, &mut state, &batch.row_owned(r))?;
        }
        batch.clear();
    }
    Ok(())
}

fn verify_not_null(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    table: &Arc<engine::TableDesc>,
) -> Result<()> {
    let strict = rel.attributes.iter().filter(|a| a.attnotnull && !a.attisdropped);
    let strict: Vec<&PgAttribute> = strict.collect();
    let columns: Vec<AttrNo> = strict.iter().map(|a| a.attnum).collect();
    if columns.is_empty() {
        return Ok(());
    }
    let snapshot = host.backend().catalog_snapshot();
    let options = ScanOptions::default();
    let mut scan = TableScan::new(host.backend(), table, snapshot, &columns, options)?;
    let mut batch = table::new_batch(table, &columns);
    while scan.next_batch(host.backend(), &mut batch, BATCH_ROWS_MAX)? {
        host.backend().check_interrupts()?;
        let null_in = |column: usize| {
            (0..batch.len).find(|r| matches!(batch.get(*r, column), DatumRef::Null))
        };
        let nulls = (0..strict.len()).filter_map(|column| Some((null_in(column)?, column)));
        if let Some((_, column)) = nulls.min() {
            return Err(contains_nulls(host, rel, strict[column].attname.as_str())?);
        }
        batch.clear();
    }
    Ok(())
}
