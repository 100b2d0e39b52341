//! The row writer, through which all statements write new rows and new versions of a table. It
//! computes generated columns, checks constraints, stores rows, inserts their index entries and
//! reports them to the trigger manager.
//!
//! INVARIANT: a version is in the heap before its index entries, and has all of them before its
//! event is reported.
//!
//! Values are borrowed. Reading order: this file, `constraint`, `entry` (index entries), `bulk`
//! (COPY, CREATE TABLE AS, REFRESH).
//!
//! Counterpart: nodeModifyTable.c (`ExecInsert`, `ExecUpdate`), copyfrom.c (`CopyFrom`).

mod bulk;
mod capture;
mod constraint;
mod entry;
mod exclusion;
mod route;

pub use bulk::BulkWriter;
pub use entry::unique_violation;
pub use entry::{EntryOptions, columns_unchanged};
pub use exclusion::{Excluding, exclusion_violation};
pub use route::{Call, Leaf, Router};

use crate::relation::OpenRel;
use crate::services::Services;
use crate::trigger::{Change, Movement, RowEvent, RowVersion};
use capture::Capture;
use constraint::Generated;
use engine::table::{self, BulkInsert, InsertOptions, RowFetch};
use entry::IndexUse;
use eval::{Compiler, EvalState, Facts, Program, Resolve, Slot, Source, Volatility};
use ids::{AttrNo, Oid, RelKind, Tid};
use pgerror::{PgError, Result};
use plan::Expr;
use plan::expr::Var;
use smallvec::SmallVec;
use std::sync::Arc;
use types::fn_context::RowDesc;
use types::{Batch, Datum, DatumRef};

/// Borrowed values of a row.
pub type Refs<'a> = SmallVec<[DatumRef<'a>; 16]>;
/// Values computed for some columns of a row, by index.
pub type Computed = SmallVec<[(usize, Datum); 1]>;

/// The context of a statement that writes rows.
pub trait WriteHost {
    /// The context in which the table's expressions are evaluated.
    fn expressions(&mut self) -> &mut dyn eval::Host;
    /// Storage, catalogs and the trigger manager.
    fn services(&mut self) -> &mut dyn Services;
}

/// Resolves the columns of expressions that catalogs store for a table.
struct OwnColumns<'a>(&'a Arc<RowDesc>);

impl Resolve for OwnColumns<'_> {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        match usize::try_from(var.varattno - 1) {
            Ok(column) => Ok(Slot { source: Source::Scan, column }),
            Err(_) => Err(PgError::internal("system column in an expression of a table")),
        }
    }

    fn whole_row(&mut self, _: &Var) -> Result<(Vec<Slot>, Arc<RowDesc>)> {
        let slots = (0..self.0.columns.len()).map(|column| Slot { source: Source::Scan, column });
        Ok((slots.collect(), self.0.clone()))
    }
}

/// The expressions of a table that were not evaluated yet by a writer. The privilege EXECUTE on
/// their functions is checked before the first evaluation.
struct Unchecked {
    checks: bool,
    partition: bool,
    generated: bool,
    indexes: bool,
}

impl Unchecked {
    fn of(rel: &OpenRel) -> Unchecked {
        let calls = &rel.calls;
        Unchecked {
            checks: !calls.checks.is_empty(),
            partition: !calls.partition.is_empty(),
            generated: !calls.generated.is_empty(),
            indexes: !calls.indexes.is_empty(),
        }
    }
}

/// Error 42501 unless the user may call the functions, unless they are known to be allowed.
#[inline]
fn allow<H: WriteHost + ?Sized>(
    unchecked: &mut bool,
    functions: &[Oid],
    host: &mut H,
) -> Result<()> {
    if *unchecked {
        host.services().as_facts().may_call(functions)?;
        *unchecked = false;
    }
    Ok(())
}

/// Writes rows of one table.
pub struct RowWriter {
    pub rel: Arc<OpenRel>,
    /// The columns to which the statement assigns values, which errors may show.
    pub written: Vec<AttrNo>,
    /// The columns that an UPDATE sets, generated columns included.
    pub updated: Vec<AttrNo>,
    indexes: Vec<IndexUse>,
    /// Columns of a row that are needed for its index entries.
    entry_columns: Vec<AttrNo>,
    entry_fetch: Option<(RowFetch, Batch)>,
    /// Indexes of deferrable constraints in which the entry of the last version may be a duplicate.
    duplicates: SmallVec<[Oid; 1]>,
    checks: Vec<(String, Program)>,
    generated: Vec<Generated>,
    /// Indexes of the NOT NULL columns.
    not_null: Vec<usize>,
    /// The partition constraint, and the columns that it refers to.
    partition: Option<(Program, Vec<AttrNo>)>,
    /// Expressions whose functions the user is not yet known to may call.
    unchecked: Unchecked,
    /// Rows come through a partitioned table.
    pub routed: bool,
    /// Rows satisfy the partition constraint.
    in_partition: bool,
    /// The relation that the statement names, if it is another one. Errors show rows in its
    /// columns.
    root: Option<Arc<OpenRel>>,
    /// Rows that are inserted come from another partition, by an UPDATE.
    pub receives_moved: bool,
    /// A CHECK constraint calls a volatile function, which may read the table.
    reads_changes: bool,
    /// The statement's triggers have transition tables.
    capture: Option<Box<Capture>>,
    state: EvalState,
}

impl RowWriter {
    /// Compiles the table's expressions.
    pub fn new(rel: &Arc<OpenRel>, facts: &mut dyn Facts) -> Result<RowWriter> {
        let mut own = OwnColumns(&rel.columns);
        let mut indexes = Vec::new();
        for i in &rel.indexes {
            indexes.push(IndexUse::new(i, &mut own, facts)?);
        }
        let mut checks = Vec::new();
        let mut reads_changes = false;
        for c in &rel.checks {
            reads_changes |= eval::volatility(&c.expr, facts)? == Volatility::Volatile;
            checks.push((c.name.clone(), compile(&c.expr, &mut own, facts)?));
        }
        let mut generated = Vec::new();
        for (n, e) in &rel.generated {
            generated.push(Generated::new(*n, e, &mut own, facts)?);
        }
        let mut partition = None;
        if !rel.partition.is_empty() {
            let program = Compiler::new(facts, &mut own).compile_all(&rel.partition)?;
            partition = Some((program, columns_used(&rel.partition)));
        }
        let attrs = &rel.table.tupdesc.attrs;
        let not_null = (0..attrs.len()).filter(|&i| attrs[i].not_null && !attrs[i].dropped);
        Ok(RowWriter {
            rel: rel.clone(),
            written: Vec::new(),
            updated: Vec::new(),
            entry_columns: entry::columns_of(rel, &indexes),
            indexes,
            entry_fetch: None,
            partition,
            unchecked: Unchecked::of(rel),
            routed: false,
            in_partition: false,
            root: None,
            receives_moved: false,
            duplicates: SmallVec::new(),
            checks,
            generated,
            not_null: not_null.collect(),
            reads_changes,
            capture: None,
            state: EvalState::default(),
        })
    }

    /// True if rows must be written one by one, because a constraint may read rows that were
    /// written before.
    pub fn reads_changes(&self) -> bool {
        self.reads_changes
    }

    pub fn has_indexes(&self) -> bool {
        !self.indexes.is_empty()
    }

    /// Releases memory that was allocated for large values.
    pub fn reset(&mut self) {
        if let Some((_, batch)) = &mut self.entry_fetch
            && crate::spare::is_large(batch)
        {
            *batch = Batch::new(batch.columns.iter().map(types::Column::is_by_val));
        }
    }

    /// Inserts a complete row; returns its TID.
    pub fn insert<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
        how: InsertOptions,
    ) -> Result<Tid> {
        let tid = table::insert(host.services().backend(), &self.rel.table, row, how)?;
        self.insert_entries(host, row, tid, EntryOptions::default())?;
        self.report(host, None, Some(RowVersion { tid, values: row }))?;
        Ok(tid)
    }

    /// Inserts a complete row speculatively. Returns `None` if one of the arbiter indexes, given by
    /// position, contains a conflicting entry; the row is then removed again.
    pub fn insert_unless_conflict<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        row: &[DatumRef<'_>],
        how: InsertOptions,
        arbiters: &[usize],
    ) -> Result<Option<Tid>> {
        let token = table::begin_speculative(host.services().backend())?;
        let how = InsertOptions { speculative_token: token, ..how };
        let tid = table::insert(host.services().backend(), &self.rel.table, row, how)?;
        let entries = EntryOptions { arbiters: Some(arbiters), unchanged: &[] };
        let keep = !self.insert_entries(host, row, tid, entries)?;
        let be = host.services().backend();
        table::finish_speculative(be, &self.rel.table, tid, token, keep)?;
        if !keep {
            return Ok(None);
        }
        self.report(host, None, Some(RowVersion { tid, values: row }))?;
        Ok(Some(tid))
    }

    /// Inserts complete rows. After an error in the index entries or the event of a row, `at_fault`
    /// is the index of that row.
    pub fn insert_batch<H: WriteHost + ?Sized>(
        &mut self,
        host: &mut H,
        rows: &Batch,
        how: InsertOptions,
        bulk: &mut BulkInsert,
        (tids, at_fault): (&mut Vec<Tid>, &mut Option<usize>),
    ) -> Result<()> {
        tids.clear();
        let be = host.services().backend();
        table::multi_insert(be, &self.rel.table, rows, how, bulk, tids)?;
        let reports = self.rel.triggers.are_after_row(Change::Insert) || self.capture.is_some();
        if self.indexes.is_empty() && !reports {
            return Ok(());
        }
        for (r, &tid) in tids.iter().enumerate() {
            *at_fault = Some(r);
            let row: Refs<'_> = rows.row(r).collect();
            self.insert_entries(host, &row, tid, EntryOptions::default())?;
            self.report(host, None, Some(RowVersion { tid, values: &row }))?;
        }
        *at_fault = None;
        Ok(())
    }

    /// The last version is heap-only, so none of its index entries can be a duplicate.
    #[inline]
    pub fn without_entries(&mut self) {
        self.duplicates.clear();
    }

    /// Reports a changed row to the trigger manager.
    pub fn report<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        old: Option<RowVersion<'_>>,
        new: Option<RowVersion<'_>>,
    ) -> Result<()> {
        if self.rel.triggers.is_empty() && self.capture.is_none() {
            return Ok(());
        }
        let event = self.event(old, new);
        if self.capture.is_some() {
            let change = if self.receives_moved { Change::Update } else { event.change() };
            self.capture(host, change, old, new)?;
        }
        match self.rel.triggers.are_after_row(event.change()) {
            true => host.services().row_event(event),
            false => Ok(()),
        }
    }

    /// Reports that a row was deleted here because it moves to another partition. `captured`: the
    /// change for whose transition table it is captured.
    pub fn report_departure<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        old: RowVersion<'_>,
        captured: Change,
    ) -> Result<()> {
        if self.capture.is_some() {
            self.capture(host, captured, Some(old), None)?;
        }
        if !self.rel.triggers.are_after_row(Change::Delete) {
            return Ok(());
        }
        let movement = Some(Movement::Deletion);
        host.services().row_event(RowEvent { movement, ..self.event(Some(old), None) })
    }

    fn event<'a>(
        &'a self,
        old: Option<RowVersion<'a>>,
        new: Option<RowVersion<'a>>,
    ) -> RowEvent<'a> {
        RowEvent {
            rel: &self.rel,
            old,
            new,
            possible_duplicates: &self.duplicates,
            updated: &self.updated,
            movement: None,
        }
    }

    /// Prepares for a statement that names the relation `named`: this one, or one from which it
    /// inherits or of which it is a partition.
    pub fn set_named(&mut self, named: &Arc<OpenRel>) {
        self.routed = named.kind == RelKind::PartitionedTable;
        // A trigger before the insertion may change the key of a row that has been routed.
        self.in_partition = self.routed && !self.rel.triggers.are_before_row(Change::Insert);
        self.root = (named.table.oid != self.rel.table.oid).then(|| named.clone());
        self.capture_for(named);
    }

    /// As [`Self::report`], for a new version when neither its columns nor those of the old version
    /// have been read.
    #[cold]
    pub fn report_update_of<H: WriteHost + ?Sized>(
        &self,
        host: &mut H,
        old: Tid,
        new: Tid,
    ) -> Result<()> {
        let columns: Vec<AttrNo> = (1..=self.rel.columns.columns.len() as AttrNo).collect();
        let mut fetch = RowFetch::new(&self.rel.table, &columns)?;
        let mut batch = table::new_batch(&self.rel.table, &columns);
        for tid in [old, new] {
            if !fetch.version(host.services().backend(), tid, &mut batch)? {
                return Err(PgError::internal("failed to fetch tuple for a trigger"));
            }
        }
        let (before, after): (Refs<'_>, Refs<'_>) =
            (batch.row(0).collect(), batch.row(1).collect());
        let version = |tid, values| Some(RowVersion { tid, values });
        self.report(host, version(old, &before), version(new, &after))
    }

    /// True if an update needs an event although it sets none of the columns that triggers depend
    /// on. `own`: the transaction inserted the old version, which its pending checks will not find
    /// any more.
    pub fn is_checked_again(&self, own: bool) -> bool {
        !self.rel.triggers.is_empty() && (own || !self.duplicates.is_empty())
    }
}

/// The row with the computed values inserted.
pub fn with_computed<'a>(row: &[DatumRef<'a>], computed: &'a [(usize, Datum)]) -> Refs<'a> {
    let mut out: Refs<'a> = row.iter().copied().collect();
    for (i, v) in computed {
        out[*i] = v.as_ref();
    }
    out
}

fn compile(expr: &Expr, own: &mut OwnColumns<'_>, facts: &mut dyn Facts) -> Result<Program> {
    Compiler::new(facts, own).compile(expr)
}

/// The columns that the expressions refer to.
fn columns_used(exprs: &[Expr]) -> Vec<AttrNo> {
    let mut out = Vec::new();
    for e in exprs {
        plan::walk::any(e, &mut |e| {
            if let Expr::Var(v) = e
                && !out.contains(&v.varattno)
            {
                out.push(v.varattno);
            }
            false
        });
    }
    out
}
