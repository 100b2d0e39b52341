//! Running plan nodes: the trait [`Exec`], and parts that all kinds of nodes use. Module `build`
//! creates the nodes. Counterpart: execProcnode.c, execAmi.c.

use crate::instrument::Counts;
use crate::run::Run;
use eval::{Compiler, Program, Resolve, Slot, Source};
use pgerror::{PgError, Result};
use plan::expr::{Expr, TargetEntry, Var};
use types::Batch;

/// A running node.
pub(crate) trait Exec: Send {
    /// Returns the next rows, about `want` of them; a node that already has more rows in memory may
    /// return more. A batch may be empty. `None` at the end.
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>>;

    /// Skips at most `rows` rows without computing them. Returns the number of skipped rows, 0 at
    /// the end. Returns `None` if the node does not support it, or if the rows could have side
    /// effects or errors: the caller must then read them.
    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        let _ = (run, rows);
        Ok(None)
    }

    /// Starts the scan again. Parameters may have changed: the rules are in `depend`.
    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()>;

    /// Returns to the state after construction, for another execution of the statement: releases
    /// rows, snapshots, pages and running functions, and keeps compiled expressions. Returns false
    /// if the node does not support it: the tree is then built again.
    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        let _ = run;
        Ok(false)
    }

    /// Takes back a batch that the node has returned, to reuse its memory.
    fn recycle(&mut self, batch: Batch) {
        let _ = batch;
    }

    /// Announces that no more than `bound` rows will be read per scan (`None`: any number). Called
    /// before the first row is read; valid until the next call.
    fn set_bound(&mut self, bound: Option<usize>) {
        let _ = bound;
    }

    /// True if rows that the caller does not use must not be computed, because expressions or
    /// sub-plans are volatile.
    fn is_volatile(&self) -> bool {
        false
    }

    /// Stores the node's counters since its construction (EXPLAIN ANALYZE).
    fn report(&self, _: &mut Counts) {}
}

pub(crate) type Node = Box<dyn Exec>;

/// Resets all nodes; false if one of them does not support it.
pub(crate) fn reset_all<'n>(
    nodes: impl IntoIterator<Item = &'n mut Node>,
    run: &mut Run<'_>,
) -> Result<bool> {
    let mut all = true;
    for n in nodes {
        all &= n.reset(run)?;
    }
    Ok(all)
}

/// Resolves `OUTER` and `INNER` Vars to columns of the children's batches.
pub(crate) struct ChildColumns {
    /// `Source::Scan` for nodes with one child whose expressions are evaluated over batches.
    pub outer: Source,
}

impl Resolve for ChildColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let source = match var.varno {
            Var::OUTER => self.outer,
            Var::INNER => Source::Inner,
            other => {
                return Err(PgError::internal(format!(
                    "column of relation {other} above its scan"
                )));
            }
        };
        Ok(Slot { source, column: var.varattno as usize - 1 })
    }
}

/// Columns of a scan: `columns[k]` is the attribute number of column `k` of its batches.
pub(crate) struct ScanColumns {
    pub rti: i32,
    pub columns: Vec<ids::AttrNo>,
    /// Description of the row type, for whole-row references.
    pub row: Option<std::sync::Arc<types::fn_context::RowDesc>>,
}

impl ScanColumns {
    pub(crate) fn new(rti: i32) -> ScanColumns {
        ScanColumns { rti, columns: Vec::new(), row: None }
    }

    /// Position of the column in the batches. A column that is not read yet is added.
    pub(crate) fn position(&mut self, attno: ids::AttrNo) -> usize {
        match self.columns.iter().position(|c| *c == attno) {
            Some(i) => i,
            None => {
                self.columns.push(attno);
                self.columns.len() - 1
            }
        }
    }
}

impl Resolve for ScanColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        if var.varno != self.rti {
            return Err(PgError::internal(format!(
                "column of relation {} in the scan of {}",
                var.varno, self.rti
            )));
        }
        Ok(Slot { source: Source::Scan, column: self.position(var.varattno) })
    }

    fn whole_row(
        &mut self,
        var: &Var,
    ) -> Result<(Vec<Slot>, std::sync::Arc<types::fn_context::RowDesc>)> {
        let Some(row) = self.row.clone() else {
            return Err(PgError::unsupported("whole-row reference to this relation"));
        };
        let mut slots = Vec::new();
        for i in 0..row.columns.len() {
            let column = self.position(i as i16 + 1);
            slots.push(Slot { source: Source::Scan, column });
        }
        let _ = var;
        Ok((slots, row))
    }
}

/// Compiles an expression; `cols` resolves its columns.
pub(crate) fn compile(expr: &Expr, cols: &mut dyn Resolve, run: &mut Run<'_>) -> Result<Program> {
    Compiler::new(run.sv.as_facts(), cols).compile(expr)
}

/// Compiles a list of conditions, implicitly ANDed.
pub(crate) fn compile_all(
    quals: &[Expr],
    cols: &mut dyn Resolve,
    run: &mut Run<'_>,
) -> Result<Program> {
    Compiler::new(run.sv.as_facts(), cols).compile_all(quals)
}

/// An empty batch with the columns of a target list.
pub(crate) fn batch_for(targets: &[TargetEntry], run: &mut Run<'_>) -> Result<Batch> {
    let mut by_val = Vec::with_capacity(targets.len());
    for t in targets {
        by_val.push(run.sv.as_facts().type_info(t.expr.type_oid())?.by_val);
    }
    Ok(Batch::new(by_val))
}

/// An error raised after other rows of the same batch were computed. As in row-at-a-time execution,
/// those rows are returned first. The error is raised when more rows are requested, and dropped if
/// no more rows are requested.
#[derive(Default)]
pub(crate) struct DeferredError(Option<PgError>);

impl DeferredError {
    /// Raises the deferred error. Called before more rows are computed.
    pub(crate) fn raise(&mut self) -> Result<()> {
        self.0.take().map_or(Ok(()), Err)
    }

    /// Handles the result `done` of computing a row after `rows` others. If there are no other
    /// rows, an error is returned at once; otherwise it is deferred, and the result is false.
    pub(crate) fn defer(&mut self, rows: usize, done: Result<()>) -> Result<bool> {
        match done {
            Ok(()) => Ok(true),
            Err(e) if rows == 0 => Err(e),
            Err(e) => {
                self.0 = Some(e);
                Ok(false)
            }
        }
    }
}

/// Resolver for expressions that may refer to parameters but not to columns.
pub(crate) struct NoScanColumns;

impl Resolve for NoScanColumns {
    fn var(&mut self, _: &Var) -> Result<Slot> {
        Err(PgError::internal("column where only parameters are allowed"))
    }
}
