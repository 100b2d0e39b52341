//! Hash join: the inner side is loaded into a hash table, which the outer side probes. Counterpart:
//! nodeHash.c, nodeHashjoin.c.
//!
//! When the inner side exceeds `hash_mem`, the join is divided into batches by bits of the hash
//! (hybrid hash join): the rows of the first batch stay in memory, those of later batches are
//! written to files on both sides and joined afterwards. If a batch is too large while it is
//! loaded, the number of batches is doubled; rows only move to later batches. Doubling stops when
//! it moves no rows or all rows (many equal keys). In this module, "batch number" means a batch of
//! the join, not a `types::Batch`.

use crate::depend::Dependencies;
use crate::instrument::{Counts, HashCounts};
use crate::node::{ChildColumns, Exec, Node, batch_for, compile};
use crate::pairs::{NO_ROW, Pairs};
use crate::run::Run;
use eval::{EvalState, Program, RowRef, Source};
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::{Plan, PlanNode};
use plan::query::JoinType;
use rowops::keys::{Key, Keys};
use rowops::spill::{Spool, SpoolReader};
use types::{BATCH_ROWS_MAX, Batch, Column, ColumnData};

/// The end of a chain.
const END: u32 = u32::MAX;
const BATCHES_MAX: usize = 1 << 16;

/// The join keys of one side.
struct Side {
    programs: Vec<(Program, EvalState)>,
    keys: Keys,
    /// Column of each key in the side's batches; computed keys follow the child's columns.
    cols: Vec<usize>,
    width: usize,
}

impl Side {
    fn new(exprs: &[Expr], plan: &Plan, keys: Vec<Key>, run: &mut Run<'_>) -> Result<Side> {
        let width = plan.info.target_list.len();
        let mut programs = Vec::new();
        let mut cols = Vec::new();
        let mut next = width;
        for e in exprs {
            let p = compile(e, &mut ChildColumns { outer: Source::Scan }, run)?;
            cols.push(p.scan_column().unwrap_or_else(|| {
                next += 1;
                next - 1
            }));
            programs.push((p, EvalState::default()));
        }
        Ok(Side { programs, keys: Keys(keys), cols, width })
    }

    /// Adds the computed keys to a batch of the child, and computes the hashes of its rows.
    fn prepare(&mut self, b: &mut Batch, hashes: &mut Vec<u64>, run: &mut Run<'_>) -> Result<()> {
        for (i, (p, st)) in self.programs.iter_mut().enumerate() {
            if self.cols[i] >= self.width {
                let col = p.eval_batch(st, run, b, None)?;
                b.columns.push(col);
            }
        }
        self.keys.hash_rows(b, &self.cols, run.sv, hashes)
    }

    fn is_null(&self, b: &Batch, row: usize) -> bool {
        self.cols.iter().any(|&c| b.columns[c].is_null(row))
    }

    fn may_be_null(&self, b: &Batch) -> bool {
        self.cols.iter().any(|&c| b.columns[c].nulls.is_some())
    }
}

/// The hash table of the current batch: its rows, chained per bucket.
struct Table {
    rows: Batch,
    hashes: Vec<u64>,
    next: Vec<u32>,
    heads: Vec<u32>,
    matched: Vec<bool>,
}

impl Table {
    fn new(rows: Batch) -> Table {
        let (hashes, next, heads) = (Vec::new(), Vec::new(), Vec::new());
        Table { rows, hashes, next, heads, matched: Vec::new() }
    }

    fn memory(&self) -> usize {
        self.rows.memory() + self.hashes.len() * 20
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.hashes.clear();
        self.next.clear();
        self.heads.clear();
        self.matched.clear();
    }

    /// Builds the chains of the rows whose keys are not NULL. Rows with equal keys keep their input
    /// order.
    fn link(&mut self, side: &Side, keep_matches: bool) {
        let n = self.rows.len;
        let buckets = (n * 2).next_power_of_two().max(64);
        self.heads.clear();
        self.heads.resize(buckets, END);
        self.next.clear();
        self.next.resize(n, END);
        // The columns of computed keys do not exist if there are no rows.
        let nulls = n > 0 && side.may_be_null(&self.rows);
        for i in (0..n).rev() {
            if nulls && side.is_null(&self.rows, i) {
                continue;
            }
            let head = &mut self.heads[self.hashes[i] as usize & (buckets - 1)];
            self.next[i] = *head;
            *head = i as u32;
        }
        if keep_matches {
            self.matched.clear();
            self.matched.resize(n, false);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    Probe,
    /// Return unmatched inner rows from this one on.
    UnmatchedInner(usize),
    Done,
}

/// A hash join; the head of the module describes the algorithm.
pub(crate) struct HashJoinNode {
    jointype: JoinType,
    outer: Node,
    inner: Node,
    pairs: Pairs,
    outer_side: Side,
    inner_side: Side,
    single: bool,
    one_word: bool,
    /// Dependencies of the table: the inner plan and the inner keys.
    dependencies: Dependencies,
    table: Table,
    phase: Phase,
    /// Number of batches, a power of two, and the current one.
    batches: usize,
    batch: usize,
    /// The number of batches may still be doubled.
    growing: bool,
    first_batches: usize,
    /// Number of batches when the first outer row was read.
    outer_batches: usize,
    inner_files: Vec<Spool>,
    outer_files: Vec<Spool>,
    outer_reader: Option<SpoolReader>,
    outer_batch: Option<Batch>,
    outer_hashes: Vec<u64>,
    outer_at: usize,
    /// Next table entry for the current outer row; `None` if the row has not been looked up.
    chain: Option<u32>,
    matched: bool,
    /// Counter that distributes rows with NULL keys over the batches.
    null_count: u64,
}

fn batch_of(hash: u64, batches: usize) -> usize {
    (hash >> 40) as usize & (batches - 1)
}

impl HashJoinNode {
    pub(crate) fn boxed(plan: &Plan, outer: Node, inner: Node, run: &mut Run<'_>) -> Result<Node> {
        let PlanNode::HashJoin {
            jointype,
            join_qual,
            operators,
            collations,
            outer_keys,
            inner_keys,
            inner_unique,
            outer: outer_plan,
            inner: inner_plan,
            ..
        } = &plan.node
        else {
            return Err(PgError::internal("hash join expected"));
        };
        let pairs = Pairs::new(plan, join_qual, run)?;
        let keys = |exprs: &[Expr], run: &mut Run<'_>| -> Result<Vec<Key>> {
            let mut out = Vec::new();
            for (i, k) in exprs.iter().enumerate() {
                let coll = collations.get(i).copied().unwrap_or_default();
                let op = operators.get(i).copied().unwrap_or_default();
                out.push(Key::new(k.type_oid(), op, coll, run.sv)?);
            }
            Ok(out)
        };
        let (ok, ik) = (keys(outer_keys, run)?, keys(inner_keys, run)?);
        let outer_side = Side::new(outer_keys, outer_plan, ok, run)?;
        let inner_side = Side::new(inner_keys, inner_plan, ik, run)?;
        let info = &inner_plan.info;
        let bytes = info.plan_rows * (f64::from(info.plan_width) + 20.0);
        let parts = (bytes / run.sv.hash_mem().max(1) as f64).min(256.0) as usize;
        let first_batches = if parts == 0 { 1 } else { (parts + 1).next_power_of_two() };
        let keys: Vec<&Expr> = inner_keys.iter().collect();
        let dependencies = Dependencies::new(&[inner_plan], &keys, run);
        let semi = matches!(jointype, JoinType::Semi | JoinType::Anti);
        let inner_kept = matches!(jointype, JoinType::Right | JoinType::Full);
        Ok(Box::new(HashJoinNode {
            jointype: *jointype,
            outer,
            inner,
            pairs,
            single: semi || (*inner_unique && !inner_kept),
            one_word: outer_side.keys.is_one_word() && inner_side.keys.is_one_word(),
            outer_side,
            inner_side,
            dependencies,
            table: Table::new(batch_for(&inner_plan.info.target_list, run)?),
            phase: Phase::Start,
            batches: 1,
            batch: 0,
            growing: true,
            first_batches,
            outer_batches: 1,
            inner_files: Vec::new(),
            outer_files: Vec::new(),
            outer_reader: None,
            outer_batch: None,
            outer_hashes: Vec::new(),
            outer_at: 0,
            chain: None,
            matched: false,
            null_count: 0,
        }))
    }

    fn keeps_inner(&self) -> bool {
        matches!(self.jointype, JoinType::Right | JoinType::Full)
    }

    fn keeps_outer(&self) -> bool {
        matches!(self.jointype, JoinType::Left | JoinType::Full | JoinType::Anti)
    }

    fn set_batches(&mut self, n: usize) {
        self.batches = n;
        self.inner_files.resize_with(n, Spool::default);
        self.outer_files.resize_with(n, Spool::default);
    }

    /// Reads the whole inner side.
    fn build(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.growing = true;
        self.set_batches(self.first_batches);
        let mut hashes = Vec::new();
        while let Some(mut b) = self.inner.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            if b.len == 0 {
                continue;
            }
            self.inner_side.prepare(&mut b, &mut hashes, run)?;
            if self.inner_side.may_be_null(&b) {
                self.distribute_nulls(&mut b, &mut hashes);
            }
            self.add_inner(&b, &hashes, run)?;
        }
        self.outer_batches = self.batches;
        let keep = self.keeps_inner();
        self.table.link(&self.inner_side, keep);
        Ok(())
    }

    /// Handles rows with NULL keys, which match no row: they are dropped or, if unmatched inner
    /// rows are returned, distributed over the batches.
    fn distribute_nulls(&mut self, b: &mut Batch, hashes: &mut Vec<u64>) {
        if self.keeps_inner() {
            for (r, h) in hashes.iter_mut().enumerate() {
                if self.inner_side.is_null(b, r) {
                    self.null_count += 1;
                    *h = self.null_count.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                }
            }
            return;
        }
        let rows: Vec<u16> =
            (0..b.len as u16).filter(|&r| !self.inner_side.is_null(b, r as usize)).collect();
        if rows.len() < b.len {
            *b = b.gather(&rows);
            *hashes = rows.iter().map(|&r| hashes[r as usize]).collect();
        }
    }

    /// Adds rows of the current batch to the table, and writes rows of later batches to their
    /// files.
    fn add_inner(&mut self, b: &Batch, hashes: &[u64], run: &mut Run<'_>) -> Result<()> {
        if self.table.rows.columns.len() != b.columns.len() {
            self.table.rows = b.empty_like();
        }
        if self.batches == 1 {
            self.table.rows.extend_range(b, 0, b.len);
            self.table.hashes.extend_from_slice(hashes);
        } else {
            let here = distribute(b, hashes, self.batches, self.batch, &mut self.inner_files, run)?;
            self.table.rows.extend_rows(b, &here);
            self.table.hashes.extend(here.iter().map(|&r| hashes[r as usize]));
        }
        while self.growing && self.table.memory() > run.sv.hash_mem() {
            self.double_batches(run)?;
        }
        Ok(())
    }

    /// Doubles the number of batches; rows that no longer belong to the current one leave the
    /// table.
    fn double_batches(&mut self, run: &mut Run<'_>) -> Result<()> {
        if self.batches >= BATCHES_MAX {
            self.growing = false;
            return Ok(());
        }
        self.set_batches(self.batches * 2);
        let before = self.table.rows.len;
        let (rows, hashes) = (&self.table.rows, &self.table.hashes);
        let mut stay: Vec<u32> = Vec::new();
        let mut from = 0;
        while from < before {
            let to = (from + BATCH_ROWS_MAX).min(before);
            let mut part = rows.empty_like();
            part.extend_range(rows, from, to);
            let here = distribute(
                &part,
                &hashes[from..to],
                self.batches,
                self.batch,
                &mut self.inner_files,
                run,
            )?;
            stay.extend(here.iter().map(|&r| u32::from(r) + from as u32));
            from = to;
        }
        if stay.is_empty() || stay.len() == before {
            self.growing = false;
        }
        if stay.len() < before {
            let hashes = stay.iter().map(|&r| self.table.hashes[r as usize]).collect();
            self.table.rows = self.table.rows.gather(&stay);
            self.table.hashes = hashes;
        }
        Ok(())
    }

    /// Loads the next batch that can produce rows. Returns false after the last one.
    fn next_batch(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.outer_reader = None;
        loop {
            self.batch += 1;
            if self.batch >= self.batches {
                return Ok(false);
            }
            let inner = std::mem::take(&mut self.inner_files[self.batch]);
            let outer_empty = self.outer_files[self.batch].is_empty();
            // If the number of batches increased after rows had been written, the file may contain
            // rows of later batches. It is then read even if its other side is empty.
            let outer_settled = self.batches == self.outer_batches;
            let inner_settled = self.batches == self.first_batches;
            let skip = (inner.is_empty()
                && (outer_empty || (!self.keeps_outer() && outer_settled)))
                || (outer_empty && !self.keeps_inner() && inner_settled);
            if skip {
                self.outer_files[self.batch] = Spool::default();
                continue;
            }
            self.table.clear();
            self.growing = true;
            let mut reader = inner.into_reader();
            while let Some(mut b) = reader.next_batch()? {
                run.interrupts()?;
                let hashes = take_hashes(&mut b)?;
                self.add_inner(&b, &hashes, run)?;
            }
            let keep = self.keeps_inner();
            self.table.link(&self.inner_side, keep);
            self.outer_reader =
                Some(std::mem::take(&mut self.outer_files[self.batch]).into_reader());
            return Ok(true);
        }
    }

    /// Reads the next outer rows that belong to the current batch, with their hashes; false at the
    /// end.
    fn next_outer(&mut self, run: &mut Run<'_>, want: usize) -> Result<bool> {
        loop {
            let (b, hashes) = match &mut self.outer_reader {
                Some(r) => match r.next_batch()? {
                    Some(mut b) => {
                        let hashes = take_hashes(&mut b)?;
                        (b, hashes)
                    }
                    None => return Ok(false),
                },
                None if self.batch > 0 => return Ok(false),
                None => match self.outer.next(run, want)? {
                    Some(mut b) => {
                        let mut hashes = std::mem::take(&mut self.outer_hashes);
                        self.outer_side.prepare(&mut b, &mut hashes, run)?;
                        (b, hashes)
                    }
                    None => return Ok(false),
                },
            };
            run.interrupts()?;
            self.outer_at = 0;
            self.chain = None;
            if self.batches == 1 {
                self.outer_hashes = hashes;
                self.outer_batch = Some(b);
                return Ok(true);
            }
            // A row with a NULL key matches no row: it is handled in the current batch.
            let nulls = self.outer_side.may_be_null(&b);
            let mut routing = hashes.clone();
            if nulls {
                for (r, h) in routing.iter_mut().enumerate() {
                    if self.outer_side.is_null(&b, r) {
                        *h = (self.batch as u64) << 40;
                    }
                }
            }
            let here =
                distribute(&b, &routing, self.batches, self.batch, &mut self.outer_files, run)?;
            if here.is_empty() {
                continue;
            }
            if here.len() == b.len {
                self.outer_hashes = hashes;
                self.outer_batch = Some(b);
            } else {
                self.outer_hashes = here.iter().map(|&r| hashes[r as usize]).collect();
                self.outer_batch = Some(b.gather(&here));
            }
            return Ok(true);
        }
    }

    /// Looks up rows of the current outer batch until `room` pairs have been found.
    fn probe(&mut self, run: &mut Run<'_>, room: usize, out: &mut Batch) -> Result<()> {
        let Some(ob) = self.outer_batch.take() else { return Ok(()) };
        let (mut left, mut right): (Vec<u16>, Vec<u32>) = (Vec::new(), Vec::new());
        let found = self.look_up(&ob, run, room, &mut left, &mut right);
        self.pairs.push_numbers(&ob, &left, &self.table.rows, &right, out);
        if self.outer_at < ob.len {
            self.outer_batch = Some(ob);
        }
        found
    }

    /// Finds pairs and appends their row numbers to `left` and `right`.
    fn look_up(
        &mut self,
        ob: &Batch,
        run: &mut Run<'_>,
        room: usize,
        left: &mut Vec<u16>,
        right: &mut Vec<u32>,
    ) -> Result<()> {
        let words = match (&self.table.rows.columns.get(self.inner_side.cols[0]), self.one_word) {
            (Some(Column { data: ColumnData::Word(w), .. }), true) => Some(w.as_slice()),
            _ => None,
        };
        let outer_words = match (&ob.columns[self.outer_side.cols[0]].data, self.one_word) {
            (ColumnData::Word(w), true) => Some(w.as_slice()),
            _ => None,
        };
        let nulls = self.outer_side.may_be_null(ob);
        let semi = matches!(self.jointype, JoinType::Semi | JoinType::Anti);
        let keeps_outer = self.keeps_outer();
        let keeps_inner = self.keeps_inner();
        let mask = self.table.heads.len() - 1;
        'rows: while self.outer_at < ob.len {
            let r = self.outer_at;
            let h = self.outer_hashes[r];
            let mut at = match self.chain {
                Some(c) => c,
                None => {
                    self.matched = false;
                    if nulls && self.outer_side.is_null(ob, r) {
                        END
                    } else {
                        self.table.heads[h as usize & mask]
                    }
                }
            };
            while at != END {
                let e = at as usize;
                at = self.table.next[e];
                let equal = match (words, outer_words) {
                    (Some(w), Some(o)) => w[e] == o[r],
                    _ => {
                        self.table.hashes[e] == h && {
                            let rows = &self.table.rows;
                            let a = self.outer_side.cols.iter().map(|&c| ob.get(r, c));
                            let b = self.inner_side.cols.iter().map(|&c| rows.get(e, c));
                            self.outer_side.keys.equal(a, b, run.sv)?
                        }
                    }
                };
                if !equal {
                    continue;
                }
                if self.pairs.has_join_qual() {
                    let (o, i) = (RowRef::Batch(ob, r), RowRef::Batch(&self.table.rows, e));
                    if !self.pairs.matches(run, o, i)? {
                        continue;
                    }
                }
                self.matched = true;
                if keeps_inner {
                    self.table.matched[e] = true;
                }
                if semi {
                    break;
                }
                left.push(r as u16);
                right.push(e as u32);
                if self.single {
                    break;
                }
                if left.len() >= room {
                    self.chain = Some(at);
                    break 'rows;
                }
            }
            let emit_outer = match self.jointype {
                JoinType::Semi => self.matched,
                _ => keeps_outer && !self.matched,
            };
            if emit_outer {
                left.push(r as u16);
                right.push(NO_ROW);
            }
            self.chain = None;
            self.outer_at += 1;
            if left.len() >= room {
                break;
            }
        }
        Ok(())
    }

    fn emit_unmatched_inner(&mut self, mut at: usize, room: usize, out: &mut Batch) -> Phase {
        let n = self.table.rows.len;
        let end = out.len + room;
        while at < n && out.len < end {
            if !self.table.matched[at] {
                self.pairs.push(RowRef::Nulls, RowRef::Batch(&self.table.rows, at), out);
            }
            at += 1;
        }
        Phase::UnmatchedInner(at)
    }

    fn restart(&mut self) {
        self.pairs.restart();
        self.table.clear();
        self.phase = Phase::Start;
        self.batch = 0;
        self.batches = 1;
        self.inner_files.clear();
        self.outer_files.clear();
    }

    /// Joins until `out` has `want` rows or the input ends.
    fn fill(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<()> {
        while out.len < want {
            match self.phase {
                Phase::Start => {
                    self.dependencies.record(run);
                    self.dependencies.computation().perform(run, |run| self.build(run))?;
                    let empty = self.batches == 1 && self.table.rows.len == 0;
                    // The outer side need not run if the inner side is empty.
                    let done = empty && !self.keeps_outer();
                    self.phase = if done { Phase::Done } else { Phase::Probe };
                }
                Phase::Probe => {
                    if self.outer_batch.is_none() && !self.next_outer(run, want)? {
                        self.phase = if self.keeps_inner() {
                            Phase::UnmatchedInner(0)
                        } else if self.next_batch(run)? {
                            Phase::Probe
                        } else {
                            Phase::Done
                        };
                        continue;
                    }
                    let room = want - out.len;
                    self.probe(run, room, out)?;
                }
                Phase::UnmatchedInner(at) if at < self.table.rows.len => {
                    let room = want - out.len;
                    self.phase = self.emit_unmatched_inner(at, room, out);
                }
                Phase::UnmatchedInner(_) => {
                    self.phase = if self.next_batch(run)? { Phase::Probe } else { Phase::Done };
                }
                Phase::Done => break,
            }
        }
        Ok(())
    }
}

/// Writes rows of later batches to their files, with their hashes in an additional column. Returns
/// the rows of the current batch.
fn distribute(
    b: &Batch,
    hashes: &[u64],
    batches: usize,
    this: usize,
    files: &mut [Spool],
    run: &mut Run<'_>,
) -> Result<Vec<u16>> {
    let mut here = Vec::with_capacity(b.len);
    let mut away: Vec<(usize, u16)> = Vec::new();
    for (r, &h) in hashes.iter().enumerate() {
        match batch_of(h, batches) {
            n if n == this => here.push(r as u16),
            n => away.push((n, r as u16)),
        }
    }
    if away.is_empty() {
        return Ok(here);
    }
    let mut with_hash = Batch { len: b.len, columns: b.columns.clone() };
    with_hash.columns.push(Column::words(hashes.to_vec()));
    away.sort_unstable();
    let mut rows: Vec<u16> = Vec::new();
    for (i, &(n, r)) in away.iter().enumerate() {
        rows.push(r);
        if away.get(i + 1).is_none_or(|next| next.0 != n) {
            // Batches before the current one are finished.
            if n > this {
                files[n].push(run.sv, &with_hash, &rows)?;
            }
            rows.clear();
        }
    }
    Ok(here)
}

/// Removes the column of hashes that [`distribute`] has added to a batch.
fn take_hashes(b: &mut Batch) -> Result<Vec<u64>> {
    match b.columns.pop() {
        Some(Column { data: ColumnData::Word(w), .. }) => Ok(w),
        _ => Err(PgError::internal("row of a hash join without its hash")),
    }
}

impl Exec for HashJoinNode {
    fn is_volatile(&self) -> bool {
        self.pairs.is_volatile() || self.outer.is_volatile()
    }

    fn report(&self, counts: &mut Counts) {
        self.pairs.report(counts);
        let buckets = self.table.heads.len().max(1024) as u64;
        let bytes = self.table.memory() as u64 + buckets * 8;
        let before = counts.hash.map_or(0, |h| h.kilobytes);
        counts.hash = Some(HashCounts {
            buckets,
            buckets_original: buckets,
            batches: self.batches as u64,
            batches_original: self.first_batches as u64,
            kilobytes: bytes.div_ceil(1024).max(before),
            disk_kilobytes: 0,
        });
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.pairs.rest(run)? {
            return Ok(Some(rest));
        }
        let mut out = self.pairs.start();
        let found = self.fill(run, want, &mut out);
        if found.is_ok() && out.len == 0 && self.phase == Phase::Done {
            return Ok(None);
        }
        self.pairs.finish(run, out, found).map(Some)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.restart();
        // A node that is reset keeps no memory.
        self.table = Table::new(self.table.rows.empty_like());
        self.outer_batch = None;
        self.outer_reader = None;
        self.chain = None;
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.pairs.restart();
        self.outer_batch = None;
        self.outer_reader = None;
        self.chain = None;
        // A complete table whose parameters have not changed is reused.
        let built = self.phase != Phase::Start && self.batches == 1;
        if built && !self.dependencies.changed(run) {
            self.table.matched.fill(false);
            self.batch = 0;
            let empty = self.table.rows.len == 0 && !self.keeps_outer();
            self.phase = if empty { Phase::Done } else { Phase::Probe };
        } else {
            self.restart();
            self.inner.rescan(run)?;
        }
        self.outer.rescan(run)
    }
}
