//! Scans of tables: sequential, by index, by bitmap, by TID.
//! Counterpart: nodeSeqscan.c, nodeIndexscan.c, nodeIndexonlyscan.c, nodeBitmapHeapscan.c, nodeTidscan.c.

use crate::node::*;
use crate::probe::Probe;
use crate::project::Projection;
use crate::relation::OpenRel;
use crate::run::Run;
use crate::sample::Sample;
use engine::index::{IndexScan, IndexScanOptions, scan_tids};
use engine::table::{self, ScanOptions, TableScan};
use engine::{Snapshot, SnapshotKind};
use eval::{EvalState, Program, RowInput, select_true};
use ids::{AttrNo, BlockNo, Tid};
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::node::{BitmapNode, Plan, PlanNode};
use std::collections::BTreeMap;
use std::sync::Arc;
use types::array::ArrayRef;
use types::{Batch, Datum, DatumRef};

/// What every table scan has.
struct Source {
    rti: i32,
    rel: Arc<OpenRel>,
    columns: Vec<AttrNo>,
    projection: Projection,
    /// Conditions that the access path has tested, for rows that come another way.
    recheck: Option<(Program, EvalState)>,
    epq_done: bool,
    /// TABLESAMPLE: the TID is the last column read.
    sample: Option<Sample>,
}

/// How rows are found.
enum Access {
    Seq(Option<TableScan>),
    Index { probe: Box<Probe>, scan: Option<IndexScan>, open: bool, index_only: bool, empty: bool },
    Bitmap { parts: Bitmap, pages: Option<std::vec::IntoIter<(BlockNo, Vec<u16>)>> },
    Tid { quals: Vec<TidQual>, tids: Option<std::vec::IntoIter<Tid>> },
}

enum TidQual {
    One(Program),
    Any(Program),
}

enum Bitmap {
    Index(Box<Probe>),
    And(Vec<Bitmap>),
    Or(Vec<Bitmap>),
}

pub(crate) struct ScanNode {
    source: Source,
    access: Access,
    done: bool,
}

/// Makes a scan node of any kind.
pub(crate) fn build(plan: &Plan, run: &mut Run<'_>) -> Result<Node> {
    let (rti, recheck): (i32, Vec<Expr>) = match &plan.node {
        PlanNode::SeqScan { scanrelid } | PlanNode::SampleScan { scanrelid, .. } => {
            (*scanrelid, Vec::new())
        }
        PlanNode::IndexScan { scanrelid, probe }
        | PlanNode::IndexOnlyScan { scanrelid, probe, .. } => {
            (*scanrelid, probe.index_qual_orig.clone())
        }
        PlanNode::BitmapHeapScan { scanrelid, recheck, .. } => (*scanrelid, recheck.clone()),
        PlanNode::TidScan { scanrelid, tid_quals } => (*scanrelid, tid_quals.clone()),
        _ => return Err(PgError::internal("table scan expected")),
    };
    let rel = run.relation(rti)?;
    let mut cols = ScanColumns::new(rti);
    cols.row = Some(rel.columns.clone());
    let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut cols, run)?;
    let recheck = if recheck.is_empty() {
        None
    } else {
        Some((compile_all(&recheck, &mut cols, run)?, EvalState::default()))
    };
    let access = match &plan.node {
        PlanNode::IndexScan { probe, .. } => Access::Index {
            probe: Box::new(Probe::new(probe, run)?),
            scan: None,
            open: false,
            index_only: false,
            empty: false,
        },
        PlanNode::IndexOnlyScan { probe, .. } => Access::Index {
            probe: Box::new(Probe::new(probe, run)?),
            scan: None,
            open: false,
            index_only: true,
            empty: false,
        },
        PlanNode::BitmapHeapScan { bitmap, .. } => {
            Access::Bitmap { parts: bitmap_of(bitmap, run)?, pages: None }
        }
        PlanNode::TidScan { tid_quals, .. } => {
            Access::Tid { quals: tid_quals_of(tid_quals, run)?, tids: None }
        }
        _ => Access::Seq(None),
    };
    let sample = match &plan.node {
        PlanNode::SampleScan { sample, .. } => {
            cols.columns.push(-1);
            Some(Sample::new(sample, run)?)
        }
        _ => None,
    };
    let source =
        Source { sample, rti, rel, columns: cols.columns, projection, recheck, epq_done: false };
    Ok(Box::new(ScanNode { source, access, done: false }))
}

fn bitmap_of(b: &BitmapNode, run: &mut Run<'_>) -> Result<Bitmap> {
    let list = |children: &[BitmapNode], run: &mut Run<'_>| {
        children.iter().map(|c| bitmap_of(c, run)).collect::<Result<Vec<_>>>()
    };
    Ok(match b {
        BitmapNode::Index { probe, .. } => Bitmap::Index(Box::new(Probe::new(probe, run)?)),
        BitmapNode::And { children, .. } => Bitmap::And(list(children, run)?),
        BitmapNode::Or { children, .. } => Bitmap::Or(list(children, run)?),
    })
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
            _ => return Err(PgError::unsupported("WHERE CURRENT OF")),
        }
    }
    Ok(out)
}

impl ScanNode {
    /// Fills a batch with raw rows; false at the end.
    fn fill(&mut self, run: &mut Run<'_>, batch: &mut Batch, want: usize) -> Result<bool> {
        let Source { rel, columns, .. } = &self.source;
        let snapshot = run.st.desc.snapshot.clone();
        match &mut self.access {
            Access::Seq(scan) => {
                let scan = match scan {
                    Some(s) => s,
                    slot => {
                        let synchronize = self.source.sample.is_none();
                        let options = ScanOptions { synchronize, ..ScanOptions::default() };
                        let be = run.sv.backend();
                        slot.insert(TableScan::new(be, &rel.table, snapshot, columns, options)?)
                    }
                };
                scan.next_batch(run.sv.backend(), batch, want)
            }
            Access::Index { probe, scan, open, index_only, empty } => {
                if !*open {
                    *open = true;
                    match probe.keys(run)? {
                        None => *empty = true,
                        Some(keys) => {
                            *empty = false;
                            let be = run.sv.backend();
                            match scan {
                                Some(s) => {
                                    s.set_snapshot(snapshot);
                                    s.rescan(be, keys)?;
                                }
                                None => {
                                    let options = IndexScanOptions { index_only: *index_only };
                                    *scan = Some(IndexScan::new(
                                        be,
                                        &rel.table,
                                        &probe.index,
                                        snapshot,
                                        keys,
                                        columns,
                                        options,
                                    )?);
                                }
                            }
                        }
                    }
                }
                match scan {
                    Some(s) if !*empty => {
                        s.next_batch(run.sv.backend(), probe.direction, batch, want)
                    }
                    _ => Ok(false),
                }
            }
            Access::Bitmap { parts, pages } => {
                let pages = match pages {
                    Some(p) => p,
                    slot => {
                        let set = parts.collect(run)?;
                        let list: Vec<(BlockNo, Vec<u16>)> = set.into_iter().collect();
                        slot.insert(list.into_iter())
                    }
                };
                // A page's rows go out together: they may be more than were asked for.
                let Some((block, offsets)) = pages.next() else { return Ok(false) };
                let (be, t) = (run.sv.backend(), &rel.table);
                let offsets = Some(offsets.as_slice());
                engine::index::bitmap_fetch(be, t, block, offsets, &snapshot, columns, batch)?;
                Ok(true)
            }
            Access::Tid { quals, tids } => {
                let tids = match tids {
                    Some(t) => t,
                    slot => {
                        let mut list = Vec::new();
                        for q in quals.iter() {
                            tids_of(q, run, &mut list)?;
                        }
                        list.sort_unstable();
                        list.dedup();
                        slot.insert(list.into_iter())
                    }
                };
                while batch.len < want {
                    let Some(tid) = tids.next() else { return Ok(batch.len > 0) };
                    table::fetch(run.sv.backend(), &rel.table, tid, &snapshot, columns, batch)?;
                }
                Ok(true)
            }
        }
    }

    /// The one row that a recheck substitutes for this relation.
    fn epq_row(&mut self, run: &mut Run<'_>, tid: Option<Tid>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.source.epq_done, true) {
            return Ok(None);
        }
        let Some(tid) = tid else { return Ok(None) };
        let s = &mut self.source;
        let mut batch = table::new_batch(&s.rel.table, &s.columns);
        let any = Snapshot::of_kind(SnapshotKind::Any);
        table::fetch(run.sv.backend(), &s.rel.table, tid, &any, &s.columns, &mut batch)?;
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

fn tids_of(q: &TidQual, run: &mut Run<'_>, out: &mut Vec<Tid>) -> Result<()> {
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
                ArrayRef::new(v.as_ref()).iter(&elem).for_each(push);
            }
        }
    }
    Ok(())
}

type PageSet = BTreeMap<BlockNo, Vec<u16>>;

impl Bitmap {
    /// The TIDs by block, offsets ascending.
    fn collect(&mut self, run: &mut Run<'_>) -> Result<PageSet> {
        let mut set = PageSet::new();
        match self {
            Bitmap::Index(probe) => {
                if let Some(keys) = probe.keys(run)? {
                    let mut each = |tid: Tid| set.entry(tid.block).or_default().push(tid.offset);
                    scan_tids(run.sv.backend(), &probe.index, keys, &mut each)?;
                }
                for list in set.values_mut() {
                    list.sort_unstable();
                    list.dedup();
                }
            }
            Bitmap::Or(parts) => {
                for p in parts {
                    for (block, list) in p.collect(run)? {
                        let have = set.entry(block).or_default();
                        have.extend(list);
                        have.sort_unstable();
                        have.dedup();
                    }
                }
            }
            Bitmap::And(parts) => {
                for (i, p) in parts.iter_mut().enumerate() {
                    let mut next = p.collect(run)?;
                    if i == 0 {
                        set = next;
                        continue;
                    }
                    set.retain(|block, list| match next.remove(block) {
                        Some(other) => {
                            list.retain(|o| other.binary_search(o).is_ok());
                            !list.is_empty()
                        }
                        None => false,
                    });
                }
            }
        }
        Ok(set)
    }
}

impl Exec for ScanNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(epq) = &run.st.epq
            && let Some(tid) = epq.get(&self.source.rti).copied()
        {
            return self.epq_row(run, tid);
        }
        if self.done {
            return Ok(None);
        }
        let recheck = matches!(self.access, Access::Bitmap { .. });
        loop {
            run.interrupts()?;
            let mut batch = table::new_batch(&self.source.rel.table, &self.source.columns);
            if !self.fill(run, &mut batch, want)? && batch.len == 0 {
                self.done = true;
                return Ok(None);
            }
            if recheck
                && let Some((p, st)) = &mut self.source.recheck
                && batch.len > 0
            {
                let sel = select_true(p, st, run, &batch, None)?;
                if sel.len() < batch.len {
                    let columns =
                        batch.columns.iter().map(|c| crate::project::take(c, Some(&sel))).collect();
                    batch = Batch { len: sel.len(), columns };
                }
            }
            if let Some(sample) = &mut self.source.sample {
                batch = sample.take(run, batch)?;
            }
            let out = self.source.projection.apply(run, batch)?;
            if out.len > 0 {
                return Ok(Some(out));
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.done = false;
        self.source.epq_done = false;
        if let Some(s) = &mut self.source.sample {
            s.restart();
        }
        match &mut self.access {
            Access::Seq(scan) => {
                if let Some(s) = scan {
                    s.rescan(run.sv.backend())?;
                }
            }
            Access::Index { open, .. } => *open = false,
            Access::Bitmap { pages, .. } => *pages = None,
            Access::Tid { tids, .. } => *tids = None,
        }
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.done = false;
        self.source.epq_done = false;
        match &mut self.access {
            Access::Seq(scan) => *scan = None,
            Access::Index { scan, open, empty, .. } => {
                (*open, *empty) = (false, false);
                if let Some(s) = scan {
                    s.let_go(run.sv.backend())?;
                }
            }
            Access::Bitmap { pages, .. } => *pages = None,
            Access::Tid { tids, .. } => *tids = None,
        }
        Ok(true)
    }
}
