//! Table scans: sequential, sample, index, index-only, bitmap, TID and TID range. Counterpart:
//! nodeSeqscan.c, nodeSamplescan.c, nodeIndexscan.c, nodeIndexonlyscan.c, nodeTidscan.c,
//! nodeTidrangescan.c.

use crate::bitmap::BitmapScan;
use crate::instrument::Counts;
use crate::node::{Exec, NoScanColumns, Node, ScanColumns, compile, compile_all};
use crate::probe::Probe;
use crate::project::Projection;
use crate::pushdown;
use crate::pushdown::PushedPredicate;
use crate::run::Run;
use crate::sample::Sample;
use engine::index::{IndexScan, IndexScanOptions};
use engine::table::{self, ScanOptions, TableScan};
use engine::{Snapshot, SnapshotKind};
use eval::{EvalState, Program, RowInput, select_true};
use ids::{AttrNo, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::expr::{BoolExpr, BoolOp, CurrentOfExpr, Expr};
use plan::node::{IndexProbe, Plan, PlanNode};
use rowops::relation::OpenRel;
use std::borrow::Cow;
use std::sync::Arc;
use types::array::ArrayRef;
use types::{Batch, Datum, DatumRef};

/// State common to all table scans.
struct Source {
    rti: i32,
    rel: Arc<OpenRel>,
    /// Columns read of each row.
    columns: Vec<AttrNo>,
    projection: Projection,
    /// Pushed-down predicates, which the sequential scan tests on the tuples.
    pushed: Vec<PushedPredicate>,
    /// Conditions that the access method guarantees. They are evaluated for the row of an
    /// EvalPlanQual recheck, which is fetched by TID, and for rows found by a lossy index.
    recheck: Option<(Program, EvalState)>,
    /// Columns read of such a row: `columns`, followed by those that the conditions need.
    recheck_columns: Vec<AttrNo>,
    /// `recheck_columns` are read for all rows.
    lossy: bool,
    epq_done: bool,
    /// TABLESAMPLE. The TID is then the last column that is read.
    sample: Option<Sample>,
    /// An empty batch whose memory is reused.
    spare: Option<Batch>,
}

impl Source {
    /// The columns that the scan reads.
    fn read(&self) -> &[AttrNo] {
        if self.lossy { &self.recheck_columns } else { &self.columns }
    }

    /// Selects the columns that are read. Called before a batch is filled.
    fn set_lossy(&mut self, lossy: bool) {
        let lossy = lossy && self.recheck.is_some();
        if lossy != std::mem::replace(&mut self.lossy, lossy) {
            self.spare = None;
        }
    }
}

/// Access method and its state.
enum Access {
    /// `true`: the scan is from an earlier execution and needs the current snapshot.
    Seq(Option<TableScan>, bool),
    Index(Box<IndexAccess>),
    Bitmap(Box<BitmapScan>),
    Tid {
        quals: Vec<TidQual>,
        tids: Option<std::vec::IntoIter<Tid>>,
    },
    /// A scan of the blocks within bounds on the TID.
    TidRange {
        bounds: Vec<TidBound>,
        scan: Option<TableScan>,
    },
}

struct IndexAccess {
    probe: Probe,
    scan: Option<IndexScan>,
    /// The scan has been started with the current values of its conditions.
    open: bool,
    /// The scan is from an earlier execution and needs the current snapshot.
    stale: bool,
    /// No row can satisfy the conditions.
    empty: bool,
    index_only: bool,
}

impl IndexAccess {
    fn boxed(probe: &IndexProbe, index_only: bool, run: &mut Run<'_>) -> Result<Box<IndexAccess>> {
        let probe = Probe::new(probe, run)?;
        let (open, stale, empty) = (false, false, false);
        Ok(Box::new(IndexAccess { probe, scan: None, open, stale, empty, index_only }))
    }

    /// Starts the scan with the current values of its conditions.
    fn open(&mut self, rel: &OpenRel, columns: &[AttrNo], run: &mut Run<'_>) -> Result<()> {
        self.open = true;
        self.empty = !self.probe.refresh(run)?;
        if self.empty {
            return Ok(());
        }
        let (be, st) = (run.sv.backend(), &*run.st);
        match &mut self.scan {
            Some(scan) => {
                if std::mem::replace(&mut self.stale, false) {
                    scan.set_snapshot(st.desc.snapshot.clone());
                }
                if self.probe.by_values {
                    scan.rescan_values(be, &self.probe.values(st))
                } else {
                    scan.rescan(be, self.probe.scan_keys(st))
                }
            }
            slot => {
                let options = IndexScanOptions { index_only: self.index_only };
                let snapshot = st.desc.snapshot.clone();
                let (probe, table) = (&self.probe, &rel.table);
                let keys = probe.scan_keys(st);
                let scan =
                    IndexScan::new(be, table, &probe.index, snapshot, keys, columns, options)?;
                *slot = Some(scan);
                Ok(())
            }
        }
    }
}

/// A bound on the TID: `ctid < value`, `<=`, `>` or `>=`.
struct TidBound {
    upper: bool,
    value: Program,
}

/// The cursor of CURRENT OF.
enum CursorName {
    Literal(String),
    /// In a parameter of type refcursor.
    Param(i32),
}

enum TidQual {
    One(Program),
    Any(Program),
    /// WHERE CURRENT OF: the current row of the cursor with this name.
    Current(CursorName),
}

pub(crate) struct ScanNode {
    source: Source,
    access: Access,
    done: bool,
    /// Rows of the current batch whose conditions must be checked again, because the index is
    /// lossy.
    flagged: Vec<u16>,
    /// Number of rows that this recheck removed.
    rechecked: u64,
}

/// Builds a table scan of any kind.
pub(crate) fn build(plan: &Plan, run: &mut Run<'_>) -> Result<Node> {
    let mut qual = &plan.info.qual[..];
    let mut pushed = Vec::new();
    let (rti, recheck): (i32, Vec<Expr>) = match &plan.node {
        PlanNode::SeqScan { scanrelid } => {
            pushed = pushdown::leading_predicates(qual, *scanrelid, run.sv.as_facts())?;
            let (tested, rest) = qual.split_at(pushed.len());
            qual = rest;
            (*scanrelid, tested.to_vec())
        }
        PlanNode::SampleScan { scanrelid, .. } => (*scanrelid, Vec::new()),
        PlanNode::IndexScan { scanrelid, probe }
        | PlanNode::IndexOnlyScan { scanrelid, probe, .. } => {
            (*scanrelid, probe.index_qual_orig.clone())
        }
        PlanNode::BitmapHeapScan { scanrelid, recheck, .. } => (*scanrelid, recheck.clone()),
        PlanNode::TidScan { scanrelid, tid_quals } => {
            // CURRENT OF needs no recheck.
            let tested = tid_quals.iter().filter(|q| !matches!(q, Expr::CurrentOf(_)));
            (*scanrelid, any_of(tested.cloned().collect()))
        }
        PlanNode::TidRangeScan { scanrelid, tid_quals } => (*scanrelid, tid_quals.clone()),
        _ => return Err(PgError::internal("table scan expected")),
    };
    let rel = run.relation(rti)?;
    if !rel.populated {
        return Err(pg_err!(
            OBJECT_NOT_IN_PREREQUISITE_STATE,
            "materialized view \"{}\" has not been populated",
            rel.table.name
        )
        .hint("Use the REFRESH MATERIALIZED VIEW command."));
    }
    let mut cols = ScanColumns::new(rti);
    cols.row = Some(rel.columns.clone());
    // The first and the last block contain rows outside the bounds, so the filter retains these
    // conditions.
    let bounded: Vec<Expr>;
    if let PlanNode::TidRangeScan { tid_quals, .. } = &plan.node {
        bounded = tid_quals.iter().chain(qual).cloned().collect();
        qual = &bounded;
    }
    let projection = Projection::new(&plan.info.target_list, qual, &mut cols, run)?;
    let mut columns = cols.columns.clone();
    let recheck = if recheck.is_empty() {
        None
    } else {
        Some((compile_all(&recheck, &mut cols, run)?, EvalState::default()))
    };
    let recheck_columns = cols.columns;
    let access = match &plan.node {
        PlanNode::IndexScan { probe, .. } => Access::Index(IndexAccess::boxed(probe, false, run)?),
        PlanNode::IndexOnlyScan { probe, .. } => {
            Access::Index(IndexAccess::boxed(probe, true, run)?)
        }
        PlanNode::BitmapHeapScan { bitmap, .. } => Access::Bitmap(BitmapScan::boxed(bitmap, run)?),
        PlanNode::TidScan { tid_quals, .. } => {
            Access::Tid { quals: tid_quals_of(tid_quals, run)?, tids: None }
        }
        PlanNode::TidRangeScan { tid_quals, .. } => {
            Access::TidRange { bounds: bounds_of(tid_quals, run)?, scan: None }
        }
        _ => Access::Seq(None, false),
    };
    let sample = match &plan.node {
        PlanNode::SampleScan { sample, .. } => {
            columns.push(-1);
            Some(Sample::new(sample, run)?)
        }
        _ => None,
    };
    let lossy = matches!(&access, Access::Index(a) if a.probe.index.capabilities().lossy);
    let source = Source {
        rti,
        rel,
        columns,
        projection,
        pushed,
        lossy: lossy && recheck.is_some(),
        recheck,
        recheck_columns,
        epq_done: false,
        sample,
        spare: None,
    };
    let (flagged, rechecked) = (Vec::new(), 0);
    Ok(Box::new(ScanNode { source, access, done: false, flagged, rechecked }))
}

fn tid_quals_of(quals: &[Expr], run: &mut Run<'_>) -> Result<Vec<TidQual>> {
    let is_ctid = |e: &Expr| matches!(e, Expr::Var(v) if v.varattno == -1);
    let mut out = Vec::new();
    for q in quals {
        match q {
            Expr::OpExpr(op) => {
                let value = if is_ctid(&op.args[0]) { &op.args[1] } else { &op.args[0] };
                out.push(TidQual::One(compile(value, &mut NoScanColumns, run)?));
            }
            Expr::ScalarArrayOp(op) => {
                out.push(TidQual::Any(compile(&op.args[1], &mut NoScanColumns, run)?));
            }
            Expr::CurrentOf(CurrentOfExpr { cursor_name, cursor_param, .. }) => {
                out.push(TidQual::Current(match cursor_name {
                    Some(name) => CursorName::Literal(name.clone()),
                    None => CursorName::Param(*cursor_param),
                }));
            }
            _ => return Err(PgError::internal("unsupported condition of a TID scan")),
        }
    }
    Ok(out)
}

/// The name of the cursor in a parameter.
fn cursor_in(value: Option<&Datum>) -> Result<Cow<'static, str>> {
    match value {
        Some(Datum::Bytes(name)) => Ok(String::from_utf8_lossy(name).into_owned().into()),
        _ => Err(PgError::internal("no value found for the parameter of CURRENT OF")),
    }
}

/// The disjunction of the conditions, as a list of at most one condition.
fn any_of(quals: Vec<Expr>) -> Vec<Expr> {
    if quals.len() < 2 {
        return quals;
    }
    let location = plan::expr::Location::UNKNOWN;
    vec![Expr::Bool(Box::new(BoolExpr { boolop: BoolOp::Or, args: quals, location }))]
}

fn bounds_of(quals: &[Expr], run: &mut Run<'_>) -> Result<Vec<TidBound>> {
    // OIDs of the tid operators `<` and `<=`. The other operators are `>` and `>=`.
    const BELOW: [u32; 2] = [2799, 2801];
    let mut out = Vec::new();
    for q in quals {
        let Expr::OpExpr(op) = q else {
            return Err(PgError::internal("unsupported condition of a TID range scan"));
        };
        let left = matches!(&op.args[0], Expr::Var(v) if v.varattno == -1);
        let value = compile(&op.args[usize::from(left)], &mut NoScanColumns, run)?;
        out.push(TidBound { upper: BELOW.contains(&op.opno.0) == left, value });
    }
    Ok(out)
}

/// The range of blocks within the bounds; empty if a bound is NULL.
fn blocks_within(bounds: &[TidBound], run: &mut Run<'_>) -> Result<std::ops::Range<u32>> {
    let (mut from, mut to) = (0, u32::MAX);
    for b in bounds {
        let mut st = EvalState::default();
        let v: Datum = b.value.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
        if v.is_null() {
            return Ok(0..0);
        }
        let block = types::system::tid_of(v.as_ref()).block.0;
        if b.upper {
            to = to.min(block.saturating_add(1));
        } else {
            from = from.max(block);
        }
    }
    Ok(from..to.max(from))
}

impl ScanNode {
    /// Fills a batch with rows that are not yet filtered. A batch without columns only counts them.
    /// Returns false at the end.
    fn fill(&mut self, run: &mut Run<'_>, batch: &mut Batch, want: usize) -> Result<bool> {
        let Source { rel, pushed, .. } = &self.source;
        let columns = self.source.read();
        self.flagged.clear();
        match &mut self.access {
            Access::Seq(scan, stale) => {
                let scan = match scan {
                    Some(s) => {
                        if std::mem::replace(stale, false) {
                            s.set_snapshot(run.st.desc.snapshot.clone());
                            s.set_conditions(
                                pushed.iter().map(|s| s.condition(&run.st.desc.params)),
                            );
                            s.rescan(run.sv.backend())?;
                        }
                        s
                    }
                    slot => {
                        let synchronize = self.source.sample.is_none();
                        let is_sample = !synchronize;
                        let options =
                            ScanOptions { synchronize, is_sample, ..ScanOptions::default() };
                        let snapshot = run.st.desc.snapshot.clone();
                        let be = run.sv.backend();
                        let mut s = TableScan::new(be, &rel.table, snapshot, columns, options)?;
                        s.set_conditions(pushed.iter().map(|s| s.condition(&run.st.desc.params)));
                        slot.insert(s)
                    }
                };
                scan.next_batch(run.sv.backend(), batch, want)
            }
            Access::Index(a) => {
                if !a.open {
                    a.open(rel, columns, run)?;
                }
                match &mut a.scan {
                    Some(s) if !a.empty => {
                        s.next_batch(run.sv.backend(), a.probe.direction, batch, want)?;
                        // A short batch does not imply the end of the scan: large values end
                        // batches early.
                        self.done = s.has_ended();
                        self.flagged.extend(s.rechecks().iter().map(|row| *row as u16));
                        Ok(batch.len > 0)
                    }
                    _ => Ok(false),
                }
            }
            Access::Bitmap(b) => b.fill(run, (rel, columns), batch, want, &mut self.flagged),
            Access::TidRange { bounds, scan } => {
                let scan = match scan {
                    Some(s) => s,
                    slot => {
                        let blocks = Some(blocks_within(bounds, run)?);
                        let options = ScanOptions { blocks, ..ScanOptions::default() };
                        let snapshot = run.st.desc.snapshot.clone();
                        let be = run.sv.backend();
                        slot.insert(TableScan::new(be, &rel.table, snapshot, columns, options)?)
                    }
                };
                scan.next_batch(run.sv.backend(), batch, want)
            }
            Access::Tid { quals, tids } => {
                let tids = match tids {
                    Some(t) => t,
                    slot => {
                        let mut list = Vec::new();
                        for q in quals.iter() {
                            tids_of(q, rel, run, &mut list)?;
                        }
                        list.sort_unstable();
                        list.dedup();
                        slot.insert(list.into_iter())
                    }
                };
                while batch.len < want {
                    let Some(tid) = tids.next() else { return Ok(batch.len > 0) };
                    let (be, snapshot) = (run.sv.backend(), &*run.st.desc.snapshot);
                    table::fetch(be, &rel.table, tid, snapshot, columns, batch)?;
                }
                Ok(true)
            }
        }
    }

    /// Scans the indexes of a bitmap scan, if that has not been done. The result determines the
    /// columns to read.
    fn prepare(&mut self, run: &mut Run<'_>) -> Result<()> {
        if let Access::Bitmap(b) = &mut self.access
            && let Some(lossy) = b.collect(run)?
        {
            self.source.set_lossy(lossy);
        }
        Ok(())
    }

    /// Removes the flagged rows that do not satisfy the conditions.
    #[cold]
    fn check_again(&mut self, run: &mut Run<'_>, batch: Batch) -> Result<Batch> {
        let Some((program, st)) = &mut self.source.recheck else { return Ok(batch) };
        let passed = select_true(program, st, run, &batch, Some(&self.flagged))?;
        let removed = self.flagged.len() - passed.len();
        self.rechecked += removed as u64;
        if removed == 0 {
            return Ok(batch);
        }
        self.flagged.retain(|row| passed.binary_search(row).is_err());
        let failed = &self.flagged;
        let kept = (0..batch.len as u16).filter(|row| failed.binary_search(row).is_err());
        Ok(batch.gather(&kept.collect::<Vec<u16>>()))
    }

    /// Returns the row that an EvalPlanQual recheck substitutes for this relation, if it satisfies
    /// the scan's conditions.
    fn epq_row(&mut self, run: &mut Run<'_>, tid: Option<Tid>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.source.epq_done, true) {
            return Ok(None);
        }
        let Some(tid) = tid else { return Ok(None) };
        let s = &mut self.source;
        let columns = &s.recheck_columns;
        let mut batch = table::new_batch(&s.rel.table, columns);
        let any = Snapshot::of_kind(SnapshotKind::Any);
        table::fetch(run.sv.backend(), &s.rel.table, tid, &any, columns, &mut batch)?;
        if batch.len == 0 {
            return Ok(None);
        }
        if let Some((p, st)) = &mut s.recheck
            && select_true(p, st, run, &batch, None)?.is_empty()
        {
            return Ok(None);
        }
        s.projection.apply(run, batch).map(Some)
    }
}

fn tids_of(q: &TidQual, rel: &OpenRel, run: &mut Run<'_>, out: &mut Vec<Tid>) -> Result<()> {
    let mut push = |d: DatumRef<'_>| {
        if let DatumRef::Bytes(b) = d
            && let Ok(bytes) = <[u8; 6]>::try_from(b)
        {
            out.push(Tid::from_bytes(bytes));
        }
    };
    let mut st = EvalState::default();
    match q {
        TidQual::One(p) => {
            let v: Datum = p.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
            push(v.as_ref());
        }
        TidQual::Any(p) => {
            let v: Datum = p.eval_row(&mut st, run, &RowInput::EMPTY)?.into_owned();
            if !v.is_null() {
                let elem = run.sv.as_facts().type_info(types::oids::TID)?;
                ArrayRef::new(v.as_ref())?.iter(&elem).for_each(push);
            }
        }
        TidQual::Current(cursor) => {
            let name = match cursor {
                CursorName::Literal(name) => Cow::Borrowed(name.as_str()),
                CursorName::Param(id) => cursor_in(run.st.extern_param(*id))?,
            };
            let name = &*name;
            if let Some(tid) = run.sv.cursor_row(name, rel.table.oid)? {
                let snapshot = run.st.desc.snapshot.clone();
                out.push(table::latest_tid(run.sv.backend(), &rel.table, tid, &snapshot)?);
            }
        }
    }
    Ok(())
}

impl Exec for ScanNode {
    fn report(&self, counts: &mut Counts) {
        counts.removed = self.source.projection.removed;
        counts.removed_late = self.rechecked;
        match &self.access {
            Access::Index(a) if a.index_only => {
                counts.heap_fetches = a.scan.as_ref().map_or(0, IndexScan::heap_fetches);
            }
            Access::Bitmap(b) => {
                (counts.exact_blocks, counts.lossy_blocks) = (b.exact_blocks, b.lossy_blocks);
            }
            Access::Seq(Some(s), _) => counts.removed += s.rows_filtered(),
            _ => {}
        }
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(epq) = &run.st.epq
            && let Some(tid) = epq.get(&self.source.rti).copied()
        {
            return self.epq_row(run, tid);
        }
        if let Some(rest) = self.source.projection.rest(run)? {
            return Ok(Some(rest));
        }
        if self.done {
            return Ok(None);
        }
        self.prepare(run)?;
        loop {
            run.interrupts()?;
            let mut batch = match self.source.spare.take() {
                Some(b) => b,
                None => table::new_batch(&self.source.rel.table, self.source.read()),
            };
            if self.done || (!self.fill(run, &mut batch, want)? && batch.len == 0) {
                self.done = true;
                self.source.spare = Some(batch);
                return Ok(None);
            }
            if !self.flagged.is_empty() {
                batch = self.check_again(run, batch)?;
            }
            let s = &mut self.source;
            let out = match &mut s.sample {
                Some(sample) => {
                    let batch = sample.take(run, batch)?;
                    s.projection.apply(run, batch)?
                }
                None => s.projection.apply_keeping(run, batch, &mut s.spare)?,
            };
            if out.len > 0 {
                return Ok(Some(out));
            }
            self.recycle(out);
        }
    }

    fn skip(&mut self, run: &mut Run<'_>, rows: usize) -> Result<Option<usize>> {
        let s = &self.source;
        let substituted = run.st.epq.as_ref().is_some_and(|epq| epq.contains_key(&s.rti));
        if substituted || s.sample.is_some() || !s.projection.only_takes_columns() {
            return Ok(None);
        }
        self.prepare(run)?;
        if self.source.lossy {
            return Ok(None);
        }
        run.interrupts()?;
        let mut batch = Batch::default();
        self.done = self.done || !self.fill(run, &mut batch, rows)?;
        Ok(Some(batch.len))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.done = false;
        self.source.epq_done = false;
        self.source.projection.restart();
        if let Some(s) = &mut self.source.sample {
            s.restart();
        }
        match &mut self.access {
            Access::Seq(Some(s), false) => s.rescan(run.sv.backend())?,
            Access::Seq(..) => {}
            Access::Index(a) => a.open = false,
            Access::Bitmap(b) => b.restart(),
            Access::Tid { tids, .. } => *tids = None,
            // The bounds may have changed.
            Access::TidRange { scan, .. } => *scan = None,
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        self.source.epq_done = false;
        if let Some(s) = &mut self.source.sample {
            s.restart();
        }
        match &mut self.access {
            Access::Seq(scan, stale) => {
                if let Some(s) = scan {
                    s.release(run.sv.backend());
                    *stale = true;
                }
            }
            Access::Index(a) => {
                a.open = false;
                a.probe.reset();
                if let Some(s) = &mut a.scan
                    && !std::mem::replace(&mut a.stale, true)
                {
                    s.release(run.sv.backend())?;
                }
            }
            Access::Bitmap(b) => b.restart(),
            Access::Tid { tids, .. } => *tids = None,
            Access::TidRange { scan, .. } => *scan = None,
        }
        let s = &mut self.source;
        s.spare.take_if(|b| rowops::spare::is_large(b));
        s.projection.release();
        Ok(true)
    }

    fn is_volatile(&self) -> bool {
        self.source.projection.is_volatile()
    }

    fn recycle(&mut self, mut batch: Batch) {
        let s = &mut self.source;
        if s.spare.is_none() && s.projection.passes(&batch, s.read().len()) {
            batch.clear();
            s.spare = Some(batch);
        } else {
            s.projection.recycle(batch);
        }
    }
}
