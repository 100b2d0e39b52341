//! The groups of an aggregation: for each set of grouping columns, the first rows of its groups and
//! the states of the aggregates.

use crate::accum::{Acc, Groups};
use crate::aggfn::AggCall;
use crate::run::Run;
use pgerror::Result;
use rowops::keys::{GroupTable, Keys};
use rowops::spill::{Spool, SpoolReader};
use smallvec::SmallVec;
use std::borrow::Cow;
use types::{Batch, Column, ColumnData};

/// Group number of a row that must be spilled.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// One grouping set and its groups.
pub(crate) struct Set {
    pub keys: Keys,
    /// The input columns of the grouping set.
    pub cols: Vec<usize>,
    /// The first row of each group: the columns that the output needs, and the key.
    pub first: Batch,
    pub accs: Vec<Acc>,
    pub table: GroupTable,
    /// The key is one word, which the table stores instead of a hash.
    pub one_word: bool,
    pub null_group: Option<u32>,
    /// Partitions of the rows without a group, by bits of their hash; empty until the first spill.
    pub spilled: Vec<Spool>,
    /// Partitions still to be aggregated, each with the number of hash bits that selected it.
    pub pending: Vec<(SpoolReader, u32)>,
    /// Number of hash bits that selected the current input.
    pub depth: u32,
}

impl Set {
    pub(crate) fn new(keys: Keys, cols: Vec<usize>, template: &Batch, calls: &[AggCall]) -> Set {
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

    pub(crate) fn len(&self) -> usize {
        self.first.len
    }

    /// Removes all groups but the last. A call that shares the state of another call, by `states`,
    /// has none of its own.
    pub(crate) fn keep_last(&mut self, states: &[usize]) {
        if self.len() < 2 {
            return;
        }
        let last = self.len() - 1;
        let keep = self.first.columns.iter().map(|c| match c.len() {
            0 => c.clone(),
            _ => c.gather(&[last as u32]),
        });
        self.first = Batch { len: 1, columns: keep.collect() };
        let own = self.accs.iter_mut().enumerate().filter(|(i, _)| states[*i] == *i);
        own.for_each(|(_, a)| a.keep_only(last));
    }

    /// Removes the groups.
    pub(crate) fn clear(&mut self) {
        self.first.clear();
        self.accs.iter_mut().for_each(Acc::clear);
        self.table = GroupTable::new(self.one_word);
        self.null_group = None;
    }

    pub(crate) fn memory(&self) -> usize {
        let states: usize = self.accs.iter().map(Acc::memory).sum();
        self.first.memory() + states + self.table.memory()
    }
}

/// Properties that all groups of a node share.
pub(crate) struct Shape {
    pub calls: Vec<AggCall>,
    /// For each call, the first call with the same transition state; `sum(x)` and `avg(x)` share
    /// one.
    pub states: Vec<usize>,
    /// Input columns that are stored for the first row of each group.
    pub kept: Vec<usize>,
    /// An argument or filter is volatile, and another one or a created aggregate calls functions
    /// too, so all aggregates process a row before the next row.
    pub in_order: bool,
    /// An empty batch that has the columns of the input.
    pub input: Batch,
}

impl Shape {
    /// Adds a group that starts with row `r` of the batch. Returns the number of the group.
    pub(crate) fn add_group(&self, set: &mut Set, batch: &Batch, r: usize) -> u32 {
        let at = set.first.len as u32;
        for &c in &self.kept {
            set.first.columns[c].extend_range(&batch.columns[c], r, r + 1);
        }
        set.first.len += 1;
        at
    }

    /// Finds or adds the groups of the rows of a batch. With `full`, no group is added: rows
    /// without a group get [`NO_GROUP`], and the result is true if there are any.
    pub(crate) fn hashed_groups(
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
        set.keys.hash_rows(batch, &set.cols, run.sv, hashes)?;
        for (r, &h) in hashes.iter().enumerate() {
            let (keys, cols, first) = (&set.keys, &set.cols, &set.first);
            let found = set.table.find(h, |g| {
                let have = cols.iter().map(|&c| first.get(g as usize, c));
                keys.equal(have, cols.iter().map(|&c| batch.get(r, c)), run.sv)
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
    pub(crate) fn advance(
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

    /// Advances all aggregates of several sets by the rows of a batch. `groups` has the group
    /// numbers of the rows in each set; rows with [`NO_GROUP`] are left out there. Filters and
    /// arguments are evaluated once.
    pub(crate) fn advance_all(
        &mut self,
        sets: &mut [Set],
        batch: &Batch,
        groups: &[Vec<u32>],
        run: &mut Run<'_>,
    ) -> Result<()> {
        if !self.in_order {
            return self.advance_rows(sets, batch, groups, None, run);
        }
        for row in 0..batch.len as u16 {
            self.advance_rows(sets, batch, groups, Some(&[row]), run)?;
        }
        Ok(())
    }

    fn advance_rows(
        &mut self,
        sets: &mut [Set],
        batch: &Batch,
        groups: &[Vec<u32>],
        rows: Option<&[u16]>,
        run: &mut Run<'_>,
    ) -> Result<()> {
        let calls = self.calls.iter_mut().enumerate().zip(&self.states);
        for ((i, call), _) in calls.filter(|((i, _), state)| i == *state) {
            for set in sets.iter_mut() {
                let len = set.len();
                set.accs[i].grow(len, call);
            }
            let filtered = call.filtered(run, batch, rows)?;
            let chosen = filtered.as_deref().or(rows);
            advance_sets((i, call), sets, batch, groups, chosen, run)?;
        }
        Ok(())
    }

    /// Adds a group without rows, as an aggregate without GROUP BY has for empty input.
    pub(crate) fn add_empty_group(&self, set: &mut Set) {
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

/// The arguments of an aggregate, computed for the chosen rows of a batch. `None` is a column of
/// the batch itself.
type Arguments = SmallVec<[Option<Column>; 2]>;

/// Computes the arguments; `None` if they do not fit one column.
fn arguments(
    call: &mut AggCall,
    batch: &Batch,
    rows: Option<&[u16]>,
    run: &mut Run<'_>,
) -> Result<Option<Arguments>> {
    let mut computed = Arguments::new();
    for i in 0..call.arg_count() {
        computed.push(match (call.arg_column(i), rows) {
            (Some(_), None) => None,
            _ => match call.arg_values(i, run, batch, rows)? {
                Some(column) => Some(column),
                None => return Ok(None),
            },
        });
    }
    Ok(Some(computed))
}

fn columns<'a>(
    call: &AggCall,
    computed: &'a Arguments,
    batch: &'a Batch,
) -> SmallVec<[&'a Column; 2]> {
    let column = |(i, c): (usize, &'a Option<Column>)| match c {
        Some(c) => c,
        None => &batch.columns[call.arg_column(i).unwrap_or(0)],
    };
    computed.iter().enumerate().map(column).collect()
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
    let Some(computed) = arguments(call, batch, rows, run)? else {
        return advance_halves(call, acc, batch, groups, rows, run);
    };
    let args = columns(call, &computed, batch);
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

/// Advances the aggregate with number `i` in several sets by the chosen rows of a batch.
fn advance_sets(
    (i, call): (usize, &mut AggCall),
    sets: &mut [Set],
    batch: &Batch,
    groups: &[Vec<u32>],
    rows: Option<&[u16]>,
    run: &mut Run<'_>,
) -> Result<()> {
    let Some(computed) = arguments(call, batch, rows, run)? else {
        let rows = rows.map_or_else(|| (0..batch.len as u16).collect(), <[u16]>::to_vec);
        let (first, second) = rows.split_at(rows.len() / 2);
        advance_sets((i, call), sets, batch, groups, Some(first), run)?;
        return advance_sets((i, call), sets, batch, groups, Some(second), run);
    };
    let args = columns(call, &computed, batch);
    for (set, numbers) in sets.iter_mut().zip(groups) {
        let acc = &mut set.accs[i];
        let chosen: Cow<'_, [u32]> = match rows {
            None => Cow::Borrowed(numbers),
            Some(rows) => rows.iter().map(|&r| numbers[r as usize]).collect(),
        };
        if !chosen.contains(&NO_GROUP) {
            acc.advance(call, Groups::Each(&chosen), &args, run)?;
            continue;
        }
        let has_group = |r: &u32| chosen[*r as usize] != NO_GROUP;
        let grouped: Vec<u32> = (0..chosen.len() as u32).filter(has_group).collect();
        if grouped.is_empty() {
            continue;
        }
        let numbers: Vec<u32> = grouped.iter().map(|&r| chosen[r as usize]).collect();
        let some: SmallVec<[Column; 2]> = args.iter().map(|c| c.gather(&grouped)).collect();
        let some: SmallVec<[&Column; 2]> = some.iter().collect();
        acc.advance(call, Groups::Each(&numbers), &some, run)?;
    }
    Ok(())
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
