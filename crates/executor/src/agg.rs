//! Grouping and aggregation: one group, sorted input, or hashed; grouping sets hashed one beside the
//! other. Counterpart: nodeAgg.c.

use crate::aggfn::{AggCall, AggValue};
use crate::keys::Keys;
use crate::node::*;
use crate::project::Projection;
use crate::run::Run;
use crate::sort::group_keys;
use eval::{Resolve, RowInput, RowRef, Slot, Source};
use hashbrown::HashTable;
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::node::{Agg, AggStrategy, Plan};
use plan::walk;
use std::collections::VecDeque;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// Columns above the aggregation: the group's first row, then the aggregates' results, then (with
/// grouping sets) the values of GROUPING.
struct AggColumns {
    width: usize,
    aggs: Vec<Aggref>,
    groupings: Vec<GroupingFunc>,
}

impl Resolve for AggColumns {
    fn var(&mut self, var: &Var) -> Result<Slot> {
        Ok(Slot { source: Source::Scan, column: var.varattno as usize - 1 })
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

struct Group {
    /// The first row of the group.
    row: Vec<Datum>,
    values: Vec<AggValue>,
    set: usize,
}

pub(crate) struct AggNode {
    child: Node,
    strategy: AggStrategy,
    calls: Vec<AggCall>,
    /// For each grouping set: the columns it groups by.
    sets: Vec<(Keys, Vec<usize>)>,
    /// All grouping columns: those not in a set are NULL in its rows.
    all_cols: Vec<usize>,
    /// For each GROUPING: its columns.
    groupings: Vec<Vec<usize>>,
    template: Batch,
    projection: Projection,
    started: bool,
    done: bool,
    ready: VecDeque<Group>,
    current: Option<Group>,
    input: Option<(Batch, usize)>,
}

impl AggNode {
    pub(crate) fn boxed(plan: &Plan, a: &Agg, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let below = &a.child.info.target_list;
        let mut found = AggColumns { width: below.len(), aggs: Vec::new(), groupings: Vec::new() };
        let targets = plan.info.target_list.iter().map(|t| &t.expr);
        for e in targets.chain(&plan.info.qual) {
            collect(e, &mut found);
        }
        let mut calls = Vec::new();
        for agg in &found.aggs {
            calls.push(AggCall::new(agg, &mut ChildColumns { outer: Source::Scan }, run)?);
        }
        let (all_keys, all_cols) = group_keys(&a.keys, below, run)?;
        let mut sets = Vec::new();
        if a.grouping_sets.is_empty() {
            sets.push((all_keys, all_cols.clone()));
        } else {
            for set in &a.grouping_sets {
                let mut keys = Vec::new();
                let mut cols = Vec::new();
                for (k, c) in all_keys.0.iter().zip(&all_cols) {
                    if set.contains(&(*c as i16 + 1)) {
                        keys.push(*k);
                        cols.push(*c);
                    }
                }
                sets.push((Keys(keys), cols));
            }
        }
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
        let mut template = batch_for(below, run)?;
        for agg in &found.aggs {
            let by_val = run.sv.as_facts().type_info(agg.aggtype)?.by_val;
            template.columns.push(types::Column::new(by_val));
        }
        for _ in &found.groupings {
            template.columns.push(types::Column::new(true));
        }
        let projection = Projection::new(&plan.info.target_list, &plan.info.qual, &mut found, run)?;
        Ok(Box::new(AggNode {
            child,
            strategy: a.strategy,
            calls,
            sets,
            all_cols,
            groupings,
            template,
            projection,
            started: false,
            done: false,
            ready: VecDeque::new(),
            current: None,
            input: None,
        }))
    }

    fn new_group(&self, row: Vec<Datum>, set: usize) -> Group {
        Group { row, values: self.calls.iter().map(AggCall::start).collect(), set }
    }

    fn advance(&mut self, group: &mut Group, run: &mut Run<'_>, row: RowRef<'_>) -> Result<()> {
        let input = RowInput::scan(row);
        for (c, v) in self.calls.iter_mut().zip(&mut group.values) {
            c.add(v, run, &input)?;
        }
        Ok(())
    }

    fn run_plain(&mut self, run: &mut Run<'_>) -> Result<()> {
        let mut group: Option<Group> = None;
        while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            for r in 0..b.len {
                let mut g = match group.take() {
                    Some(g) => g,
                    None => self.new_group(b.row_owned(r), 0),
                };
                self.advance(&mut g, run, RowRef::Batch(&b, r))?;
                group = Some(g);
            }
        }
        let group = match group {
            Some(g) => g,
            None => self.empty_group(0),
        };
        self.ready.push_back(group);
        Ok(())
    }

    /// The group of no rows.
    fn empty_group(&self, set: usize) -> Group {
        let width = self.template.columns.len() - self.calls.len() - self.groupings.len();
        self.new_group(vec![Datum::Null; width], set)
    }

    fn run_hashed(&mut self, run: &mut Run<'_>) -> Result<()> {
        // Groups in the order in which they appeared, set after set.
        let n = self.sets.len();
        let mut groups: Vec<Vec<Group>> = (0..n).map(|_| Vec::new()).collect();
        let mut tables: Vec<HashTable<(u64, u32)>> = (0..n).map(|_| HashTable::new()).collect();
        while let Some(b) = self.child.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            for r in 0..b.len {
                for set in 0..n {
                    let place = {
                        let (keys, cols) = &self.sets[set];
                        let key = cols.iter().map(|&c| b.get(r, c));
                        let h = keys.hash(key, true, run)?.unwrap_or(0);
                        let mut hit = None;
                        for (_, at) in tables[set].iter_hash(h).filter(|e| e.0 == h) {
                            let g = &groups[set][*at as usize];
                            let have = cols.iter().map(|&c| g.row[c].as_ref());
                            let want = cols.iter().map(|&c| b.get(r, c));
                            if keys.equal(have, want, run)? {
                                hit = Some(*at as usize);
                                break;
                            }
                        }
                        match hit {
                            Some(at) => at,
                            None => {
                                let at = groups[set].len();
                                let group = self.new_group(b.row_owned(r), set);
                                groups[set].push(group);
                                tables[set].insert_unique(h, (h, at as u32), |e| e.0);
                                at
                            }
                        }
                    };
                    let mut g = std::mem::replace(
                        &mut groups[set][place],
                        Group { row: Vec::new(), values: Vec::new(), set },
                    );
                    self.advance(&mut g, run, RowRef::Batch(&b, r))?;
                    groups[set][place] = g;
                }
            }
        }
        for (set, mut list) in groups.into_iter().enumerate() {
            // An empty grouping set has a group even without rows.
            if list.is_empty() && self.sets[set].1.is_empty() {
                list.push(self.empty_group(set));
            }
            self.ready.extend(list);
        }
        Ok(())
    }

    /// Reads on until a group is complete.
    fn step_sorted(&mut self, run: &mut Run<'_>) -> Result<bool> {
        loop {
            let (b, r) = match self.input.take() {
                Some(x) => x,
                None => match self.child.next(run, BATCH_ROWS_MAX)? {
                    Some(b) => {
                        run.interrupts()?;
                        (b, 0)
                    }
                    None => {
                        let last = self.current.take();
                        let any = last.is_some();
                        self.ready.extend(last);
                        return Ok(any);
                    }
                },
            };
            let mut r = r;
            while r < b.len {
                let same = match &self.current {
                    None => false,
                    Some(g) => {
                        let (keys, cols) = &self.sets[0];
                        let have = cols.iter().map(|&c| g.row[c].as_ref());
                        keys.equal(have, cols.iter().map(|&c| b.get(r, c)), run)?
                    }
                };
                if !same {
                    let fresh = self.new_group(b.row_owned(r), 0);
                    if let Some(done) = self.current.replace(fresh) {
                        self.ready.push_back(done);
                        self.input = Some((b, r));
                        return Ok(true);
                    }
                }
                if let Some(mut g) = self.current.take() {
                    self.advance(&mut g, run, RowRef::Batch(&b, r))?;
                    self.current = Some(g);
                }
                r += 1;
            }
        }
    }

    fn emit(&mut self, run: &mut Run<'_>, want: usize) -> Result<Batch> {
        let mut out = self.template.clone();
        while out.len < want {
            let Some(mut g) = self.ready.pop_front() else { break };
            let width = g.row.len();
            let set_cols = self.sets[g.set].1.clone();
            for (c, v) in g.row.iter().enumerate() {
                let masked = self.all_cols.contains(&c) && !set_cols.contains(&c);
                let v = if masked { types::DatumRef::Null } else { v.as_ref() };
                out.columns[c].push(v);
            }
            for (i, (call, v)) in self.calls.iter_mut().zip(&mut g.values).enumerate() {
                let d = call.finish(v, run)?;
                out.columns[width + i].push(d.as_ref());
            }
            for (i, cols) in self.groupings.iter().enumerate() {
                let bits = cols.iter().fold(0i32, |acc, c| {
                    acc << 1 | i32::from(self.all_cols.contains(c) && !set_cols.contains(c))
                });
                let at = width + self.calls.len() + i;
                out.columns[at].push(Datum::int4(bits).as_ref());
            }
            out.len += 1;
        }
        self.projection.apply(run, out)
    }
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
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !self.started {
            self.started = true;
            match self.strategy {
                AggStrategy::Plain => self.run_plain(run)?,
                AggStrategy::Hashed | AggStrategy::Mixed => self.run_hashed(run)?,
                AggStrategy::Sorted => {}
            }
        }
        if self.strategy == AggStrategy::Sorted {
            while self.ready.len() < want && !self.done {
                self.done = !self.step_sorted(run)?;
            }
        }
        if self.ready.is_empty() {
            return Ok(None);
        }
        self.emit(run, want).map(Some)
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.started = false;
        self.done = false;
        self.ready.clear();
        self.current = None;
        self.input = None;
        self.child.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.started = false;
        self.done = false;
        self.ready = VecDeque::new();
        self.current = None;
        self.input = None;
        self.child.reset(run)
    }
}
