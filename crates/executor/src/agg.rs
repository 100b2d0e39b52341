//! Aggregation: plain (one group), over sorted input, or hashed; all grouping sets are hashed in
//! one pass. Counterpart: nodeAgg.c.
//!
//! For each input batch the group numbers of its rows are determined first; then each aggregate
//! processes the whole batch. A hash table that exceeds its share of `hash_mem` accepts no new
//! groups: rows without a group are written to partitions on disk, by bits of their hash. Each
//! partition is aggregated after the groups in memory have been returned.

use crate::accum::{Acc, Groups};
use crate::aggfn::AggCall;
use crate::instrument::{Counts, HashCounts};
use crate::keys::{GroupTable, Keys, word_hash};
use crate::node::{ChildColumns, Exec, Node, batch_for};
use crate::project::{Projection, is_volatile};
use crate::run::Run;
use crate::sort::group_keys;
use crate::spill::{Spool, SpoolReader};
use eval::{Resolve, Slot, Source, Volatility};
use pgerror::{PgError, Result};
use plan::expr::{Aggref, Expr, GroupingFunc, Var};
use plan::node::{Agg, AggStrategy, Plan};
use plan::walk;
use smallvec::SmallVec;
use types::{BATCH_ROWS_MAX, Batch, Column, ColumnData, Datum};

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

/// Group number of a row that must be spilled.
const NO_GROUP: u32 = u32::MAX;

/// One grouping set and its groups.
struct Set {
    keys: Keys,
    /// The input columns of the grouping set.
    cols: Vec<usize>,
    /// The first row of each group: the columns that the output needs, and the key.
    first: Batch,
    accs: Vec<Acc>,
    table: GroupTable,
    /// The key is one word, which the table stores instead of a hash.
    one_word: bool,
    null_group: Option<u32>,
    /// Partitions of the rows without a group, by bits of their hash; empty until the first spill.
    spilled: Vec<Spool>,
    /// Partitions still to be aggregated, each with the number of hash bits that selected it.
    pending: Vec<(SpoolReader, u32)>,
    /// Number of hash bits that selected the current input.
    depth: u32,
}

impl Set {
    fn new(keys: Keys, cols: Vec<usize>, template: &Batch, calls: &[AggCall]) -> Set {
        let one_word = keys.is_one_word();
        Set {
            keys,
            cols,
            first: template.clone(),
            accs: calls.iter().map(Acc::new).collect(),
            table: GroupTable::new(one_word),
            one_word,
            null_group: None,
            spilled: Vec::new(),
            pending: Vec::new(),
            depth: 0,
        }
    }

    fn len(&self) -> usize {
        self.first.len
    }

    /// Removes the groups.
    fn clear(&mut self) {
        self.first.clear();
        self.accs.iter_mut().for_each(Acc::clear);
        self.table = GroupTable::new(self.one_word);
        self.null_group = None;
    }

    fn memory(&self) -> usize {
        let states: usize = self.accs.iter().map(Acc::memory).sum();
        self.first.memory() + states + self.table.memory()
    }
}

/// Properties that all groups of a node share.
struct Shape {
    calls: Vec<AggCall>,
    /// For each call, the first call with the same transition state; `sum(x)` and `avg(x)` share
    /// one.
    states: Vec<usize>,
    /// Input columns that are stored for the first row of each group.
    kept: Vec<usize>,
    /// An argument or filter is volatile, so all aggregates process a row before the next row.
    in_order: bool,
    /// An empty batch that has the columns of the input.
    input: Batch,
}

impl Shape {
    /// Adds a group whose first row is row `r`; returns its number.
    fn add_group(&self, set: &mut Set, batch: &Batch, r: usize) -> u32 {
        let at = set.first.len as u32;
        for &c in &self.kept {
            set.first.columns[c].extend_range(&batch.columns[c], r, r + 1);
        }
        set.first.len += 1;
        at
    }

    /// Finds or adds the groups of the rows of a batch. With `full`, no group is added: rows
    /// without a group get [`NO_GROUP`], and the result is true if there are any.
    fn hashed_groups(
        &self,
        set: &mut Set,
        batch: &Batch,
        full: bool,
        run: &mut Run<'_>,
        hashes: &mut Vec<u64>,
        out: &mut Vec<u32>,
    ) -> Result<bool> {
        out.clear();
        let mut spills = false;
        if set.cols.is_empty() {
            if set.len() == 0 {
                self.add_group(set, batch, 0);
            }
            out.resize(batch.len, 0);
            return Ok(false);
        }
        if set.one_word
            && let ColumnData::Word(words) = &batch.columns[set.cols[0]].data
        {
            let nulls = batch.columns[set.cols[0]].nulls.as_ref();
            for (r, &w) in words.iter().enumerate() {
                let null = nulls.is_some_and(|n| n.get(r));
                let found = if null { set.null_group } else { set.table.find_word(w) };
                out.push(match found {
                    Some(g) => g,
                    None if full => {
                        spills = true;
                        NO_GROUP
                    }
                    None => {
                        let g = self.add_group(set, batch, r);
                        if null {
                            set.null_group = Some(g);
                        } else {
                            set.table.insert(w, g);
                        }
                        g
                    }
                });
            }
            return Ok(spills);
        }
        set.keys.hash_rows(batch, &set.cols, run, hashes)?;
        for (r, &h) in hashes.iter().enumerate() {
            let (keys, cols, first) = (&set.keys, &set.cols, &set.first);
            let found = set.table.find(h, |g| {
                let have = cols.iter().map(|&c| first.get(g as usize, c));
                keys.equal(have, cols.iter().map(|&c| batch.get(r, c)), run)
            })?;
            out.push(match found {
                Some(g) => g,
                None if full => {
                    spills = true;
                    NO_GROUP
                }
                None => {
                    let g = self.add_group(set, batch, r);
                    set.table.insert(h, g);
                    g
                }
            });
        }
        Ok(spills)
    }

    /// Advances all aggregates by the `chosen` rows of a batch (all rows if `None`). `groups` is
    /// indexed by the row number in the batch.
    fn advance(
        &mut self,
        set: &mut Set,
        batch: &Batch,
        groups: Groups<'_>,
        chosen: Option<&[u16]>,
        run: &mut Run<'_>,
    ) -> Result<()> {
        let one = |rows: Option<&[u16]>| rows.is_some_and(|r| r.len() == 1);
        if self.in_order && !one(chosen) {
            for i in 0..chosen.map_or(batch.len, <[u16]>::len) {
                let row = chosen.map_or(i as u16, |c| c[i]);
                self.advance(set, batch, groups, Some(&[row]), run)?;
            }
            return Ok(());
        }
        let len = set.len();
        let calls = self.calls.iter_mut().zip(&mut set.accs).zip(&self.states);
        for (_, ((call, acc), _)) in calls.enumerate().filter(|(i, (_, state))| i == *state) {
            acc.grow(len, call);
            let filtered = call.filtered(run, batch, chosen)?;
            advance_call(call, acc, batch, groups, filtered.as_deref().or(chosen), run)?;
        }
        Ok(())
    }

    /// Adds a group without rows, as an aggregate without GROUP BY has for empty input.
    fn add_empty_group(&self, set: &mut Set) {
        for &c in &self.kept {
            set.first.columns[c].push_null();
        }
        set.first.len += 1;
        let len = set.len();
        for (call, acc) in self.calls.iter().zip(&mut set.accs) {
            acc.grow(len, call);
        }
    }
}

/// Advances one aggregate by the chosen rows of a batch.
fn advance_call(
    call: &mut AggCall,
    acc: &mut Acc,
    batch: &Batch,
    groups: Groups<'_>,
    rows: Option<&[u16]>,
    run: &mut Run<'_>,
) -> Result<()> {
    let mut computed: SmallVec<[Option<Column>; 2]> = SmallVec::new();
    for i in 0..call.arg_count() {
        computed.push(match (call.arg_column(i), rows) {
            (Some(_), None) => None,
            _ => match call.arg_values(i, run, batch, rows)? {
                Some(column) => Some(column),
                None => return advance_halves(call, acc, batch, groups, rows, run),
            },
        });
    }
    let mut args: SmallVec<[&Column; 2]> = SmallVec::new();
    for (i, c) in computed.iter().enumerate() {
        args.push(match c {
            Some(c) => c,
            None => &batch.columns[call.arg_column(i).unwrap_or(0)],
        });
    }
    match (groups, rows) {
        (groups, None) => acc.advance(call, groups, &args, run),
        (Groups::One(g, _), Some(rows)) => {
            acc.advance(call, Groups::One(g, rows.len()), &args, run)
        }
        (Groups::Each(all), Some(rows)) => {
            let some: Vec<u32> = rows.iter().map(|&r| all[r as usize]).collect();
            acc.advance(call, Groups::Each(&some), &args, run)
        }
    }
}

/// As [`advance_call`], in two halves, because the arguments do not fit one column.
fn advance_halves(
    call: &mut AggCall,
    acc: &mut Acc,
    batch: &Batch,
    groups: Groups<'_>,
    rows: Option<&[u16]>,
    run: &mut Run<'_>,
) -> Result<()> {
    let rows = rows.map_or_else(|| (0..batch.len as u16).collect(), <[u16]>::to_vec);
    let (first, second) = rows.split_at(rows.len() / 2);
    advance_call(call, acc, batch, groups, Some(first), run)?;
    advance_call(call, acc, batch, groups, Some(second), run)
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

pub(crate) struct AggNode {
    child: Node,
    strategy: AggStrategy,
    shape: Shape,
    sets: Vec<Set>,
    /// All grouping columns. A column that is not in a grouping set is NULL in the rows of that
    /// set.
    all_cols: Vec<usize>,
    /// For each GROUPING call, its columns.
    groupings: Vec<Vec<usize>>,
    template: Batch,
    projection: Projection,
    phase: Phase,
    ended: bool,
    hashes: Vec<u64>,
    numbers: Vec<u32>,
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
        let mut in_order = false;
        for agg in found.aggs.clone() {
            for e in agg.args.iter().map(|t| &t.expr).chain(&agg.aggfilter) {
                in_order |= is_volatile(e, run)?;
            }
            let mut below = ChildColumns { outer: Source::Scan };
            calls.push(AggCall::new(&agg, &mut below, &mut found, run)?);
        }
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
        let mut sets = Vec::new();
        if a.grouping_sets.is_empty() {
            sets.push(Set::new(all_keys, all_cols.clone(), &input, &calls));
        } else {
            for set in &a.grouping_sets {
                let mut keys = Vec::new();
                let mut cols = Vec::new();
                for (k, c) in all_keys.0.iter().zip(&all_cols) {
                    if set.contains(&(*c as i16 + 1)) {
                        keys.push(k.clone());
                        cols.push(*c);
                    }
                }
                sets.push(Set::new(Keys(keys), cols, &input, &calls));
            }
        }
        Ok(Box::new(AggNode {
            child,
            strategy: a.strategy,
            shape: Shape { calls, states, kept, in_order, input },
            sets,
            all_cols,
            groupings,
            template,
            projection,
            phase: Phase::Start,
            ended: false,
            hashes: Vec::new(),
            numbers: Vec::new(),
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
        let set = &mut self.sets[s];
        let full = !set.spilled.is_empty() || (set.len() > 0 && set.memory() > limit);
        let (hashes, numbers) = (&mut self.hashes, &mut self.numbers);
        let spills = self.shape.hashed_groups(set, b, full, run, hashes, numbers)?;
        if !spills {
            return self.shape.advance(set, b, Groups::Each(numbers), None, run);
        }
        let rows_with = |want: bool| {
            let hit = numbers.iter().enumerate().filter(move |(_, g)| (**g != NO_GROUP) == want);
            hit.map(|(r, _)| r as u16).collect::<Vec<u16>>()
        };
        let (grouped, rest) = (rows_with(true), rows_with(false));
        if !grouped.is_empty() {
            self.shape.advance(set, b, Groups::Each(numbers), Some(&grouped), run)?;
        }
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
            spool.push(run, b, rows)?;
        }
        Ok(())
    }

    /// Memory limit of each hashed set in bytes.
    fn limit(&self, run: &Run<'_>) -> usize {
        run.sv.hash_mem() / self.sets.len().max(1)
    }

    fn run_hashed(&mut self, run: &mut Run<'_>) -> Result<()> {
        let limit = self.limit(run);
        while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            if b.len == 0 {
                continue;
            }
            for s in 0..self.sets.len() {
                self.add_batch(s, &b, limit, run)?;
            }
            self.child.recycle(b);
        }
        for s in 0..self.sets.len() {
            self.queue_partitions(s);
            let set = &mut self.sets[s];
            // The empty grouping set has a group even without input rows.
            if set.len() == 0 && set.cols.is_empty() {
                self.shape.add_empty_group(set);
            }
        }
        self.phase = Phase::Emit { set: 0, from: 0, to: self.sets[0].len() };
        Ok(())
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
            while let Some(b) = reader.next()? {
                run.interrupts()?;
                self.add_batch(s, &b, limit, run)?;
            }
            self.queue_partitions(s);
            self.phase = Phase::Emit { set: s, from: 0, to: self.sets[s].len() };
            return Ok(());
        }
        let next = s + 1;
        self.phase = match self.sets.get(next) {
            Some(set) => Phase::Emit { set: next, from: 0, to: set.len() },
            None => Phase::Done,
        };
        Ok(())
    }

    /// Reads sorted input until at least one group is complete.
    fn step_sorted(&mut self, run: &mut Run<'_>) -> Result<()> {
        let set = &mut self.sets[0];
        // The last group may continue; the groups before it have been returned.
        if set.len() > 1 {
            let last = set.len() - 1;
            let keep = set.first.columns.iter().map(|c| match c.len() {
                0 => c.clone(),
                _ => c.gather(&[last as u32]),
            });
            set.first = Batch { len: 1, columns: keep.collect() };
            // A call that shares another call's state has none of its own.
            let own = set.accs.iter_mut().enumerate().filter(|(i, _)| self.shape.states[*i] == *i);
            own.for_each(|(_, a)| a.keep_only(last));
        }
        loop {
            let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? else {
                self.ended = true;
                self.phase = Phase::Emit { set: 0, from: 0, to: set.len() };
                return Ok(());
            };
            run.interrupts()?;
            if b.len == 0 {
                continue;
            }
            self.numbers.clear();
            for r in 0..b.len {
                let have = match (r, set.len()) {
                    (0, 0) => None,
                    (0, n) => Some((&set.first, n - 1)),
                    _ => Some((&b, r - 1)),
                };
                let same = match have {
                    None => false,
                    Some((rows, at)) => {
                        let prev = set.cols.iter().map(|&c| rows.get(at, c));
                        set.keys.equal(prev, set.cols.iter().map(|&c| b.get(r, c)), run)?
                    }
                };
                if !same {
                    self.shape.add_group(set, &b, r);
                }
                self.numbers.push(set.len() as u32 - 1);
            }
            self.shape.advance(set, &b, Groups::Each(&self.numbers), None, run)?;
            if set.len() > 1 {
                self.phase = Phase::Emit { set: 0, from: 0, to: set.len() - 1 };
                return Ok(());
            }
        }
    }

    fn restart(&mut self) {
        self.phase = Phase::Start;
        self.ended = false;
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
    let mut states = Vec::with_capacity(aggs.len());
    for (i, (agg, call)) in aggs.iter().zip(calls).enumerate() {
        let mut stable = call.is_simple() && !matches!(Acc::new(call), Acc::General { .. });
        for e in agg.args.iter().map(|t| &t.expr).chain(&agg.aggfilter) {
            stable = stable && eval::volatility(e, run.sv.as_facts())? != Volatility::Volatile;
        }
        let same = |j: &usize| {
            let other = &aggs[*j];
            calls[*j].is_simple()
                && calls[*j].trans_name() == call.trans_name()
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

impl Exec for AggNode {
    fn report(&self, counts: &mut Counts) {
        counts.removed = self.projection.removed;
        if matches!(self.strategy, AggStrategy::Hashed | AggStrategy::Mixed) {
            let bytes: usize = self.sets.iter().map(Set::memory).sum();
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
                    AggStrategy::Plain => self.run_plain(run)?,
                    AggStrategy::Hashed | AggStrategy::Mixed => self.run_hashed(run)?,
                    AggStrategy::Sorted => self.phase = Phase::Read,
                },
                Phase::Emit { set, from, to } if from < to => {
                    let end = (from + want.min(BATCH_ROWS_MAX)).min(to);
                    self.phase = Phase::Emit { set, from: end, to };
                    return self.emit(set, from, end, run).map(Some);
                }
                Phase::Emit { set, .. } => match self.strategy {
                    AggStrategy::Plain => self.phase = Phase::Done,
                    AggStrategy::Sorted if self.ended => self.phase = Phase::Done,
                    AggStrategy::Sorted => self.phase = Phase::Read,
                    _ => self.next_groups(set, run)?,
                },
                Phase::Read => self.step_sorted(run)?,
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
