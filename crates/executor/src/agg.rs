//! Aggregation: plain (one group), over sorted input, or hashed. Counterpart: nodeAgg.c.
//!
//! Grouping sets are computed in phases. A sorted phase has a rollup: all its sets are prefixes of
//! the order of its input, so that each row continues or ends the current group of each set. The
//! input of a further phase is sorted while the phase before it is run. Hashed sets are computed
//! together with the first phase, and returned last.
//!
//! For each input batch the group numbers of its rows are determined first; then each aggregate
//! processes the whole batch. A hash table that exceeds its share of `hash_mem` accepts no new
//! groups: rows without a group are written to partitions on disk, by bits of their hash. Each
//! partition is aggregated after the groups in memory have been returned.

use crate::accum::{Acc, Groups};
use crate::aggfn::AggCall;
use crate::aggset::{NO_GROUP, Set, Shape};
use crate::instrument::{Counts, HashCounts};
use crate::node::{ChildColumns, Exec, Node, batch_for};
use crate::project::{Projection, is_volatile};
use crate::run::Run;
use crate::sort::{group_keys, sort_columns};
use eval::{Resolve, Slot, Source, Volatility};
use ids::Oid;
use pgerror::{PgError, Result};
use plan::expr::{Aggref, Expr, GroupingFunc, TargetEntry, Var};
use plan::node::{Agg, AggStrategy, Plan};
use plan::walk;
use rowops::keys::{Keys, word_hash};
use rowops::sorter::SortColumn;
use rowops::sorter::Sorter;
use rowops::spill::Spool;
use std::collections::VecDeque;
use std::ops::Range;
use types::{BATCH_ROWS_MAX, Batch, Column, Datum};

/// Input columns of the node's target list and qual: the group's first row, then the aggregates'
/// results, then (with grouping sets) the values of GROUPING.
struct AggColumns {
    width: usize,
    aggs: Vec<Aggref>,
    groupings: Vec<GroupingFunc>,
    /// Columns of the first row that expressions refer to.
    used: Vec<bool>,
}

impl Resolve for AggColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        let column = var.varattno as usize - 1;
        if let Some(u) = self.used.get_mut(column) {
            *u = true;
        }
        Ok(Slot { source: Source::Scan, column })
    }

    fn aggref(&mut self, agg: &Aggref) -> Result<Slot> {
        let at = match self.aggs.iter().position(|a| a == agg) {
            Some(i) => i,
            None => return Err(PgError::internal("aggregate that was not collected")),
        };
        Ok(Slot { source: Source::Scan, column: self.width + at })
    }

    fn grouping(&mut self, g: &GroupingFunc) -> Result<Slot> {
        let at = self
            .groupings
            .iter()
            .position(|x| x == g)
            .ok_or_else(|| PgError::internal("GROUPING that was not collected"))?;
        Ok(Slot { source: Source::Scan, column: self.width + self.aggs.len() + at })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Start,
    /// Groups `from..to` of this set are to be returned.
    Emit {
        set: usize,
        from: usize,
        to: usize,
    },
    /// Sorted input, of which more rows must be read.
    Read,
    Done,
}

/// A sorted phase.
struct SortedPhase {
    /// Its sets, the largest first.
    sets: Range<usize>,
    /// The order of its input, unless it reads the child's rows as they are.
    order: Option<Vec<SortColumn>>,
}

/// Groups `from..to` of a set, which have no further rows.
#[derive(Clone, Copy)]
struct Complete {
    set: usize,
    from: usize,
    to: usize,
}

/// The sets of a node: the hashed ones, then those of each sorted phase.
struct Sets {
    all: Vec<Set>,
    hashed: usize,
    phases: Vec<SortedPhase>,
}

impl Sets {
    /// `new_set` makes the set of these columns.
    fn of(
        a: &Agg,
        below: &[TargetEntry],
        new_set: &dyn Fn(&[i16]) -> Set,
        run: &mut Run<'_>,
    ) -> Result<Sets> {
        let hashes = matches!(a.strategy, AggStrategy::Hashed | AggStrategy::Mixed);
        let mut out = Sets { all: Vec::new(), hashed: 0, phases: Vec::new() };
        if a.grouping_sets.is_empty() {
            out.all.push(new_set(&a.keys.cols));
            match a.strategy {
                AggStrategy::Sorted => out.phases.push(SortedPhase { sets: 0..1, order: None }),
                _ => out.hashed = usize::from(hashes),
            }
            return Ok(out);
        }
        let first = (hashes, None, &a.grouping_sets);
        let others = a.chain.iter();
        let others =
            others.map(|p| (p.strategy == AggStrategy::Hashed, p.sort.as_ref(), &p.grouping_sets));
        let phases: Vec<_> = std::iter::once(first).chain(others).collect();
        for (_, _, sets) in phases.iter().filter(|p| p.0) {
            out.all.extend(sets.iter().map(|set| new_set(set)));
        }
        out.hashed = out.all.len();
        for (_, sort, sets) in phases.iter().filter(|p| !p.0) {
            let start = out.all.len();
            out.all.extend(sets.iter().map(|set| new_set(set)));
            let order = sort.map(|keys| sort_columns(keys, below, run)).transpose()?;
            out.phases.push(SortedPhase { sets: start..out.all.len(), order });
        }
        Ok(out)
    }
}

pub(crate) struct AggNode {
    child: Node,
    strategy: AggStrategy,
    has_grouping_sets: bool,
    shape: Shape,
    /// The hashed sets, then those of the sorted phases.
    sets: Vec<Set>,
    /// Number of hashed sets.
    hashed: usize,
    sorted: Vec<SortedPhase>,
    /// The current sorted phase; their number if the hashed sets are being computed or returned.
    at: usize,
    /// The rows of the current sorted phase, unless it reads the child.
    input: Option<Sorter>,
    /// Collects the rows for the next sorted phase.
    next_input: Option<Sorter>,
    /// Groups of the current sorted phase that are to be returned.
    complete: VecDeque<Complete>,
    /// All grouping columns. A column that is not in a grouping set is NULL in the rows of that
    /// set.
    all_cols: Vec<usize>,
    /// For each GROUPING call, its columns.
    groupings: Vec<Vec<usize>>,
    template: Batch,
    projection: Projection,
    phase: Phase,
    /// The current sorted phase has read all its rows.
    ended: bool,
    /// More input rows may be read than the groups need that are returned.
    reads_ahead: bool,
    hashes: Vec<u64>,
    numbers: Vec<u32>,
    /// The group numbers of the rows of a batch in each hashed set, if these are computed, and in
    /// each set of the current sorted phase.
    levels: Vec<Vec<u32>>,
}

impl AggNode {
    pub(crate) fn boxed(plan: &Plan, a: &Agg, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let below = &a.child.info.target_list;
        let mut found = AggColumns {
            width: below.len(),
            aggs: Vec::new(),
            groupings: Vec::new(),
            used: vec![false; below.len()],
        };
        let targets = plan.info.target_list.iter().map(|t| &t.expr);
        for e in targets.chain(&plan.info.qual) {
            collect(e, &mut found);
        }
        let mut calls = Vec::new();
        let (mut volatile, mut own) = (0, 0);
        for agg in found.aggs.clone() {
            for e in agg.args.iter().map(|t| &t.expr).chain(&agg.aggfilter) {
                volatile += usize::from(is_volatile(e, run)?);
            }
            own += usize::from(agg.aggfnoid >= Oid::FIRST_NORMAL);
            let mut below = ChildColumns { outer: Source::Scan };
            calls.push(AggCall::new(&agg, &mut below, &mut found, run)?);
        }
        // The calls of a single volatile expression are in the order of the rows anyway.
        let in_order = volatile > 0 && volatile + own > 1;
        let states = shared_states(&found.aggs, &calls, run)?;
        let (all_keys, all_cols) = group_keys(&a.keys, below, run)?;
        let groupings = found
            .groupings
            .iter()
            .map(|g| {
                g.args
                    .iter()
                    .map(|e| match e {
                        Expr::Var(v) => v.varattno as usize - 1,
                        _ => usize::MAX,
                    })
                    .collect()
            })
            .collect();
        let input = batch_for(below, run)?;
        let mut template = input.clone();
        for agg in &found.aggs {
            let by_val = run.sv.as_facts().type_info(agg.aggtype)?.by_val;
            template.columns.push(Column::new(by_val));
        }
        for _ in &found.groupings {
            template.columns.push(Column::new(true));
        }
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut found, run)?;
        all_cols.iter().for_each(|&c| found.used[c] = true);
        let kept = (0..below.len()).filter(|&c| found.used[c]).collect();
        let new_set = |columns: &[i16]| {
            let (mut keys, mut cols) = (Vec::new(), Vec::new());
            for (k, c) in all_keys.0.iter().zip(&all_cols) {
                if columns.contains(&(*c as i16 + 1)) {
                    keys.push(k.clone());
                    cols.push(*c);
                }
            }
            Set::new(Keys(keys), cols, &input, &calls)
        };
        let Sets { all: sets, hashed, phases } = Sets::of(a, below, &new_set, run)?;
        let reads_ahead = phases.is_empty() || !(volatile > 0 || child.is_volatile());
        Ok(Box::new(AggNode {
            child,
            strategy: a.strategy,
            has_grouping_sets: !a.grouping_sets.is_empty(),
            shape: Shape { calls, states, kept, in_order, input },
            sets,
            hashed,
            sorted: phases,
            at: 0,
            input: None,
            next_input: None,
            complete: VecDeque::new(),
            all_cols,
            groupings,
            template,
            projection,
            phase: Phase::Start,
            ended: false,
            reads_ahead,
            hashes: Vec::new(),
            numbers: Vec::new(),
            levels: Vec::new(),
        }))
    }

    fn run_plain(&mut self, run: &mut Run<'_>) -> Result<()> {
        let set = &mut self.sets[0];
        while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            if b.len == 0 {
                continue;
            }
            if set.len() == 0 {
                self.shape.add_group(set, &b, 0);
            }
            self.shape.advance(set, &b, Groups::One(0, b.len), None, run)?;
            self.child.recycle(b);
        }
        if set.len() == 0 {
            self.shape.add_empty_group(set);
        }
        self.phase = Phase::Emit { set: 0, from: 0, to: 1 };
        Ok(())
    }

    /// Aggregates a batch in a hashed set. `limit` is the set's share of memory in bytes.
    fn add_batch(&mut self, s: usize, b: &Batch, limit: usize, run: &mut Run<'_>) -> Result<()> {
        let mut numbers = std::mem::take(&mut self.numbers);
        let spills = self.find_hashed_groups(s, b, limit, &mut numbers, run)?;
        let set = &mut self.sets[s];
        if !spills {
            self.shape.advance(set, b, Groups::Each(&numbers), None, run)?;
        } else {
            let grouped = rows_with(&numbers, true);
            if !grouped.is_empty() {
                self.shape.advance(set, b, Groups::Each(&numbers), Some(&grouped), run)?;
            }
        }
        self.numbers = numbers;
        Ok(())
    }

    /// Finds or adds the groups of a batch's rows in a hashed set. If its memory is full, rows
    /// without a group are spilled and get [`NO_GROUP`]; then the result is true.
    fn find_hashed_groups(
        &mut self,
        s: usize,
        b: &Batch,
        limit: usize,
        numbers: &mut Vec<u32>,
        run: &mut Run<'_>,
    ) -> Result<bool> {
        let set = &mut self.sets[s];
        let full = !set.spilled.is_empty() || (set.len() > 0 && set.memory() > limit);
        let spills = self.shape.hashed_groups(set, b, full, run, &mut self.hashes, numbers)?;
        if !spills {
            return Ok(false);
        }
        let rest = rows_with(numbers, false);
        if set.spilled.is_empty() {
            let count = (limit / 16384).clamp(4, 32).next_power_of_two();
            set.spilled.resize_with(count, Spool::default);
        }
        let mask = set.spilled.len() as u64 - 1;
        let mut by_part: Vec<Vec<u16>> = vec![Vec::new(); set.spilled.len()];
        if set.one_word {
            let col = &b.columns[set.cols[0]];
            for r in rest {
                let v = col.get(r as usize);
                let h = if v.is_null() { 0 } else { word_hash(v.word()) };
                by_part[(h.rotate_left(8 + set.depth) & mask) as usize].push(r);
            }
        } else {
            for r in rest {
                let h = self.hashes[r as usize];
                by_part[(h.rotate_left(8 + set.depth) & mask) as usize].push(r);
            }
        }
        for (spool, rows) in set.spilled.iter_mut().zip(&by_part) {
            spool.push(run.sv, b, rows)?;
        }
        Ok(true)
    }

    /// Aggregates a batch in the first `hashed` sets, which are hashed, and in the `sorted` sets.
    fn add_to_sets(
        &mut self,
        hashed: usize,
        sorted: Range<usize>,
        b: &Batch,
        run: &mut Run<'_>,
    ) -> Result<()> {
        self.levels.resize_with(hashed + sorted.len(), Vec::new);
        let limit = self.limit(run);
        for s in 0..hashed {
            let mut numbers = std::mem::take(&mut self.levels[s]);
            self.find_hashed_groups(s, b, limit, &mut numbers, run)?;
            self.levels[s] = numbers;
        }
        self.find_sorted_groups(hashed, sorted.clone(), b, run)?;
        // The sets of the first sorted phase follow the hashed ones.
        match &mut self.sets[sorted.start - hashed..sorted.end] {
            [only] => self.shape.advance(only, b, Groups::Each(&self.levels[0]), None, run),
            all => self.shape.advance_all(all, b, &self.levels, run),
        }
    }

    /// Memory limit of each hashed set in bytes.
    fn limit(&self, run: &Run<'_>) -> usize {
        run.sv.hash_mem() / self.hashed.max(1)
    }

    fn run_hashed(&mut self, run: &mut Run<'_>) -> Result<()> {
        let limit = self.limit(run);
        while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            if b.len == 0 {
                continue;
            }
            match self.hashed {
                1 => self.add_batch(0, &b, limit, run)?,
                all => self.add_to_sets(all, all..all, &b, run)?,
            }
            self.child.recycle(b);
        }
        self.return_hashed();
        Ok(())
    }

    /// Called at the end of the input of the hashed sets: their groups are returned next.
    fn return_hashed(&mut self) {
        for s in 0..self.hashed {
            self.queue_partitions(s);
            let set = &mut self.sets[s];
            // The empty grouping set has a group even without input rows.
            if set.len() == 0 && set.cols.is_empty() {
                self.shape.add_empty_group(set);
            }
        }
        self.phase = match self.hashed {
            0 => Phase::Done,
            _ => Phase::Emit { set: 0, from: 0, to: self.sets[0].len() },
        };
    }

    /// Moves the spilled rows to the queue of partitions.
    fn queue_partitions(&mut self, s: usize) {
        let set = &mut self.sets[s];
        let bits = set.spilled.len().trailing_zeros();
        let depth = set.depth + bits;
        let parts = set.spilled.drain(..).filter(|p| !p.is_empty());
        set.pending.extend(parts.map(|p| (p.into_reader(), depth)));
    }

    /// After the groups of set `s` have been returned: aggregates its next partition, or goes to
    /// the next set.
    fn next_groups(&mut self, s: usize, run: &mut Run<'_>) -> Result<()> {
        self.sets[s].clear();
        if let Some((mut reader, depth)) = self.sets[s].pending.pop() {
            self.sets[s].depth = depth;
            // A partition cannot be divided further when all hash bits have been used. It then has
            // few groups, so memory is no longer limited.
            let limit = if depth >= 56 { usize::MAX } else { self.limit(run) };
            while let Some(b) = reader.next_batch()? {
                run.interrupts()?;
                self.add_batch(s, &b, limit, run)?;
            }
            self.queue_partitions(s);
            self.phase = Phase::Emit { set: s, from: 0, to: self.sets[s].len() };
            return Ok(());
        }
        let next = s + 1;
        self.phase = match self.sets[..self.hashed].get(next) {
            Some(set) => Phase::Emit { set: next, from: 0, to: set.len() },
            None => Phase::Done,
        };
        Ok(())
    }

    /// Starts the sorted phase `self.at`.
    fn start_phase(&mut self, run: &mut Run<'_>) -> Result<()> {
        if let Some(sorter) = &mut self.input {
            sorter.finish(run.sv)?;
        }
        let order = self.sorted.get(self.at + 1).and_then(|next| next.order.clone());
        self.next_input = order.map(|order| Sorter::new(order, run.sv.work_mem(), None));
        self.ended = false;
        self.phase = Phase::Read;
        Ok(())
    }

    /// Ends the current sorted phase, after all its groups have been returned, and starts the next.
    fn next_phase(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.sets[self.sorted[self.at].sets.clone()].iter_mut().for_each(Set::clear);
        self.at += 1;
        self.input = self.next_input.take();
        if self.at < self.sorted.len() {
            return self.start_phase(run);
        }
        self.return_hashed();
        Ok(())
    }

    /// The next rows of the current sorted phase. They are collected for the next one.
    fn next_rows(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let rows = match &mut self.input {
            Some(sorter) => sorter.next(BATCH_ROWS_MAX)?,
            None => self.child.next(run, want)?,
        };
        run.interrupts()?;
        let Some(b) = rows else { return Ok(None) };
        if b.len == 0 {
            return Ok(Some(b));
        }
        if let Some(next) = &mut self.next_input {
            next.push(run.sv, &b)?;
        }
        Ok(Some(b))
    }

    /// Reads sorted input until at least one group is complete. `want` groups are needed, so as
    /// many rows are.
    fn step_sorted(&mut self, run: &mut Run<'_>, mut want: usize) -> Result<()> {
        let sets = self.sorted[self.at].sets.clone();
        // The last group of a set may continue; the groups before it have been returned.
        for set in &mut self.sets[sets.clone()] {
            set.keep_last(&self.shape.states);
        }
        while self.complete.is_empty() {
            let ask = if self.reads_ahead { want.min(BATCH_ROWS_MAX) } else { 1 };
            want = want.saturating_mul(2);
            let Some(b) = self.next_rows(run, ask)? else {
                self.ended = true;
                self.complete_all(sets);
                break;
            };
            if b.len > 0 {
                let hashed = if self.at == 0 { self.hashed } else { 0 };
                self.add_to_sets(hashed, sets.clone(), &b, run)?;
            }
        }
        self.phase = self.next_complete();
        Ok(())
    }

    /// At the end of the input, the last group of each set is complete.
    fn complete_all(&mut self, sets: Range<usize>) {
        for s in sets {
            let set = &mut self.sets[s];
            // The empty grouping set has a group even without input rows.
            if set.len() == 0 && set.cols.is_empty() && self.has_grouping_sets {
                self.shape.add_empty_group(set);
            }
            if set.len() > 0 {
                self.complete.push_back(Complete { set: s, from: 0, to: set.len() });
            }
        }
    }

    /// Determines the groups of a batch's rows in each set of a sorted phase: the levels from
    /// `level` on. A group ends where a key differs from that of the row before it.
    fn find_sorted_groups(
        &mut self,
        level: usize,
        sets: Range<usize>,
        b: &Batch,
        run: &mut Run<'_>,
    ) -> Result<()> {
        self.levels[level..].iter_mut().for_each(Vec::clear);
        if sets.is_empty() {
            return Ok(());
        }
        for r in 0..b.len {
            // A row that continues a group continues those of all smaller sets.
            let mut starts = true;
            for (s, numbers) in sets.clone().zip(&mut self.levels[level..]) {
                let set = &mut self.sets[s];
                if starts {
                    let have = match (r, set.len()) {
                        (0, 0) => None,
                        (0, n) => Some((&set.first, n - 1)),
                        _ => Some((b, r - 1)),
                    };
                    if let Some((rows, at)) = have {
                        let prev = set.cols.iter().map(|&c| rows.get(at, c));
                        let key = set.cols.iter().map(|&c| b.get(r, c));
                        starts = !set.keys.equal(prev, key, run.sv)?;
                    }
                }
                if starts {
                    let ended = set.len();
                    match self.complete.back_mut() {
                        _ if ended == 0 => {}
                        Some(last) if last.set == s && last.to + 1 == ended => last.to = ended,
                        _ => {
                            self.complete.push_back(Complete { set: s, from: ended - 1, to: ended })
                        }
                    }
                    self.shape.add_group(set, b, r);
                }
                numbers.push(set.len() as u32 - 1);
            }
        }
        Ok(())
    }

    /// The state in which the next complete groups of the current sorted phase are returned.
    fn next_complete(&mut self) -> Phase {
        match self.complete.pop_front() {
            Some(Complete { set, from, to }) => Phase::Emit { set, from, to },
            None => Phase::Read,
        }
    }

    fn restart(&mut self) {
        self.phase = Phase::Start;
        self.ended = false;
        self.at = 0;
        self.input = None;
        self.next_input = None;
        self.complete.clear();
        self.projection.restart();
        for set in &mut self.sets {
            set.clear();
            set.spilled.clear();
            set.pending.clear();
            set.depth = 0;
        }
    }

    /// Returns groups `from..to` of a set, filtered and projected.
    fn emit(&mut self, s: usize, from: usize, to: usize, run: &mut Run<'_>) -> Result<Batch> {
        let mut out = self.template.clone();
        let width = self.shape.input.columns.len();
        let set = &mut self.sets[s];
        let masked = |c: &usize| self.all_cols.contains(c) && !set.cols.contains(c);
        for c in &self.shape.kept {
            if masked(c) {
                (from..to).for_each(|_| out.columns[*c].push_null());
            } else {
                out.columns[*c].extend_range(&set.first.columns[*c], from, to);
            }
        }
        for (i, cols) in self.groupings.iter().enumerate() {
            let bits = cols.iter().fold(0i32, |acc, c| acc << 1 | i32::from(masked(c)));
            let at = width + self.shape.calls.len() + i;
            (from..to).for_each(|_| out.columns[at].push(Datum::int4(bits).as_ref()));
        }
        out.len = to - from;
        let mut results = out.columns.split_off(width);
        let states = &self.shape.states;
        for ((call, &state), column) in self.shape.calls.iter_mut().zip(states).zip(&mut results) {
            set.accs[state].results(call, from, to, &out, column, run)?;
        }
        out.columns.append(&mut results);
        self.projection.apply(run, out)
    }
}

/// For each aggregate, the first one with the same transition function and arguments, whose state
/// it shares. Counterpart: prepagg.c (`find_compatible_trans`).
fn shared_states(aggs: &[Aggref], calls: &[AggCall], run: &mut Run<'_>) -> Result<Vec<usize>> {
    let is_general = |call: &AggCall| matches!(Acc::new(call), Acc::General { .. });
    let mut states = Vec::with_capacity(aggs.len());
    for (i, (agg, call)) in aggs.iter().zip(calls).enumerate() {
        let general = is_general(call);
        let mut stable = i > 0 && (general || call.is_simple());
        for e in agg.args.iter().map(|t| &t.expr).chain(&agg.aggfilter) {
            stable = stable && eval::volatility(e, run.sv.as_facts())? != Volatility::Volatile;
        }
        let same = |j: &usize| {
            let other = &aggs[*j];
            let same_state = match general {
                true => {
                    is_general(&calls[*j])
                        && call.has_state_of(&calls[*j])
                        && other.args == agg.args
                        && other.aggorder == agg.aggorder
                        && other.aggdistinct == agg.aggdistinct
                }
                false => calls[*j].is_simple() && calls[*j].trans_name() == call.trans_name(),
            };
            same_state
                && other.inputcollid == agg.inputcollid
                && other.args.iter().map(|t| &t.expr).eq(agg.args.iter().map(|t| &t.expr))
                && other.aggfilter == agg.aggfilter
        };
        states.push(if stable { (0..i).find(same).unwrap_or(i) } else { i });
    }
    Ok(states)
}

fn collect(e: &Expr, found: &mut AggColumns) {
    match e {
        Expr::Aggref(a) => {
            if !found.aggs.contains(a) {
                found.aggs.push((**a).clone());
            }
        }
        Expr::GroupingFunc(g) => {
            if !found.groupings.contains(g) {
                found.groupings.push((**g).clone());
            }
        }
        _ => walk::each_child(e, &mut |c| collect(c, found)),
    }
}

/// The rows that have a group, or those that have none.
fn rows_with(numbers: &[u32], group: bool) -> Vec<u16> {
    let hit = numbers.iter().enumerate().filter(|(_, g)| (**g != NO_GROUP) == group);
    hit.map(|(r, _)| r as u16).collect()
}

impl Exec for AggNode {
    fn is_volatile(&self) -> bool {
        !self.reads_ahead
    }

    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
        if self.hashed > 0 {
            let bytes: usize = self.sets[..self.hashed].iter().map(Set::memory).sum();
            let before = counts.hash.map_or(24, |h| h.kilobytes);
            counts.hash = Some(HashCounts {
                buckets: 0,
                buckets_original: 0,
                batches: 1,
                batches_original: 1,
                kilobytes: (bytes.div_ceil(1024) as u64).max(before),
                disk_kilobytes: 0,
            });
        }
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(rest) = self.projection.rest(run)? {
            return Ok(Some(rest));
        }
        loop {
            match self.phase {
                Phase::Start => match self.strategy {
                    AggStrategy::Plain if !self.has_grouping_sets => self.run_plain(run)?,
                    _ if self.sorted.is_empty() => self.run_hashed(run)?,
                    _ => self.start_phase(run)?,
                },
                Phase::Emit { set, from, to } if from < to => {
                    let end = (from + want.min(BATCH_ROWS_MAX)).min(to);
                    self.phase = Phase::Emit { set, from: end, to };
                    return self.emit(set, from, end, run).map(Some);
                }
                Phase::Emit { set, .. } => {
                    if self.at == self.sorted.len() {
                        match self.hashed {
                            0 => self.phase = Phase::Done,
                            _ => self.next_groups(set, run)?,
                        }
                    } else {
                        self.phase = self.next_complete();
                    }
                }
                Phase::Read if self.ended => self.next_phase(run)?,
                Phase::Read => self.step_sorted(run, want)?,
                Phase::Done => return Ok(None),
            }
        }
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.restart();
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.restart();
        // A node that is reset keeps no memory.
        for set in &mut self.sets {
            set.first = set.first.empty_like();
            set.accs = self.shape.calls.iter().map(Acc::new).collect();
        }
        self.child.reset(run)
    }
}
