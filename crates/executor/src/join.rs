//! Nested loops and hash joins. Counterpart: nodeNestloop.c, nodeHashjoin.c.

use crate::keys::{Key, Keys};
use crate::node::*;
use crate::run::Run;
use eval::{EvalState, Host, Program, RowInput, RowRef, Source};
use hashbrown::HashTable;
use pgerror::{PgError, Result};
use plan::expr::*;
use plan::node::{Plan, PlanNode};
use plan::query::JoinType;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// The output columns of a join and the conditions on a pair of rows.
struct Pairs {
    join_qual: Option<(Program, EvalState)>,
    qual: Option<(Program, EvalState)>,
    columns: Vec<Output>,
    template: Batch,
}

enum Output {
    Outer(usize),
    Inner(usize),
    Compute(Program, EvalState),
}

impl Pairs {
    fn new(plan: &Plan, join_qual: &[Expr], run: &mut Run<'_>) -> Result<Pairs> {
        let mut cols = ChildColumns { outer: Source::Outer };
        let mut test = |q: &[Expr], run: &mut Run<'_>| -> Result<Option<(Program, EvalState)>> {
            Ok(match q {
                [] => None,
                q => Some((compile_all(q, &mut cols, run)?, EvalState::default())),
            })
        };
        let join_qual = test(join_qual, run)?;
        let qual = test(&plan.info.qual, run)?;
        let mut columns = Vec::new();
        for t in &plan.info.target_list {
            columns.push(match &t.expr {
                Expr::Var(v) if v.varno == Var::OUTER && v.varattno > 0 => {
                    Output::Outer(v.varattno as usize - 1)
                }
                Expr::Var(v) if v.varno == Var::INNER && v.varattno > 0 => {
                    Output::Inner(v.varattno as usize - 1)
                }
                e => Output::Compute(compile(e, &mut cols, run)?, EvalState::default()),
            });
        }
        let template = batch_for(&plan.info.target_list, run)?;
        Ok(Pairs { join_qual, qual, columns, template })
    }

    fn matches(&mut self, run: &mut Run<'_>, outer: RowRef<'_>, inner: RowRef<'_>) -> Result<bool> {
        match &mut self.join_qual {
            None => Ok(true),
            Some((p, st)) => p.test_row(st, run, &RowInput { scan: RowRef::Nulls, outer, inner }),
        }
    }

    /// Adds the pair to the output if the conditions above the join hold.
    fn emit(
        &mut self,
        run: &mut Run<'_>,
        outer: RowRef<'_>,
        inner: RowRef<'_>,
        out: &mut Batch,
    ) -> Result<()> {
        let input = RowInput { scan: RowRef::Nulls, outer, inner };
        if let Some((p, st)) = &mut self.qual
            && !p.test_row(st, run, &input)?
        {
            return Ok(());
        }
        for (c, column) in self.columns.iter_mut().zip(&mut out.columns) {
            match c {
                Output::Outer(i) => column.push(outer.get(*i)),
                Output::Inner(i) => column.push(inner.get(*i)),
                Output::Compute(p, st) => {
                    let v = p.eval_row(st, run, &input)?;
                    column.push(v.as_ref());
                }
            }
        }
        out.len += 1;
        Ok(())
    }
}

/// For each outer row, all inner rows.
pub(crate) struct NestLoopNode {
    jointype: JoinType,
    outer: Node,
    inner: Node,
    pairs: Pairs,
    params: Vec<(i32, Program, EvalState)>,
    outer_batch: Option<(Batch, usize)>,
    /// The inner side is running for the outer row at hand.
    inner_open: bool,
    inner_batch: Option<(Batch, usize)>,
    matched: bool,
    first: bool,
    /// In a full join: the inner row's place among all, and which of them have met a partner.
    inner_at: usize,
    inner_matched: Vec<bool>,
    /// In a full join: the inner rows are gone through once more for those alone.
    leftovers: bool,
}

impl NestLoopNode {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn boxed(
        plan: &Plan,
        jointype: JoinType,
        outer: Node,
        inner: Node,
        join_qual: &[Expr],
        nest_params: &[(i32, Expr)],
        _: &Plan,
        run: &mut Run<'_>,
    ) -> Result<Node> {
        if jointype == JoinType::Right {
            return Err(PgError::internal("nested loop for a right join"));
        }
        let pairs = Pairs::new(plan, join_qual, run)?;
        let mut params = Vec::new();
        for (id, e) in nest_params {
            let p = compile(e, &mut ChildColumns { outer: Source::Outer }, run)?;
            params.push((*id, p, EvalState::default()));
        }
        Ok(Box::new(NestLoopNode {
            jointype,
            outer,
            inner,
            pairs,
            params,
            outer_batch: None,
            inner_open: false,
            inner_batch: None,
            matched: false,
            first: true,
            inner_at: 0,
            inner_matched: Vec::new(),
            leftovers: false,
        }))
    }

    /// The inner rows of a full join that met no outer row.
    fn alone(&mut self, run: &mut Run<'_>, want: usize, out: &mut Batch) -> Result<()> {
        if !std::mem::replace(&mut self.leftovers, true) {
            if !std::mem::replace(&mut self.first, false) {
                self.inner.rescan(run)?;
            }
            self.inner_at = 0;
            self.inner_batch = None;
        }
        while out.len < want {
            let (ib, ii) = match &mut self.inner_batch {
                Some(x) => x,
                slot => match self.inner.next(run, BATCH_ROWS_MAX)? {
                    Some(b) => slot.insert((b, 0)),
                    None => break,
                },
            };
            if *ii >= ib.len {
                self.inner_batch = None;
                run.interrupts()?;
                continue;
            }
            if !self.inner_matched.get(self.inner_at).copied().unwrap_or(false) {
                self.pairs.emit(run, RowRef::Nulls, RowRef::Batch(ib, *ii), out)?;
            }
            *ii += 1;
            self.inner_at += 1;
        }
        Ok(())
    }
}

impl Exec for NestLoopNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        let mut out = self.pairs.template.clone();
        let mut steps = 0u32;
        while out.len < want {
            steps += 1;
            if steps.is_multiple_of(1024) {
                run.interrupts()?;
            }
            let (ob, oi) = match &mut self.outer_batch {
                Some(x) => x,
                slot if !self.leftovers => match self.outer.next(run, want)? {
                    Some(b) => slot.insert((b, 0)),
                    None if self.jointype == JoinType::Full => {
                        self.alone(run, want, &mut out)?;
                        break;
                    }
                    None => break,
                },
                _ => {
                    self.alone(run, want, &mut out)?;
                    break;
                }
            };
            if *oi >= ob.len {
                self.outer_batch = None;
                continue;
            }
            let outer_row = RowRef::Batch(ob, *oi);
            if !self.inner_open {
                for (id, p, st) in &mut self.params {
                    let input =
                        RowInput { scan: RowRef::Nulls, outer: outer_row, inner: RowRef::Nulls };
                    let v = p.eval_row(st, run, &input)?.into_owned();
                    run.set_exec_param(*id, v);
                }
                if !std::mem::replace(&mut self.first, false) {
                    self.inner.rescan(run)?;
                }
                self.inner_open = true;
                self.inner_at = 0;
                self.inner_batch = None;
                self.matched = false;
            }
            let semi = matches!(self.jointype, JoinType::Semi | JoinType::Anti);
            let ended = loop {
                let (ib, ii) = match &mut self.inner_batch {
                    Some(x) => x,
                    slot => {
                        let ask =
                            if semi && self.pairs.join_qual.is_none() { 1 } else { BATCH_ROWS_MAX };
                        match self.inner.next(run, ask)? {
                            Some(b) => slot.insert((b, 0)),
                            None => break true,
                        }
                    }
                };
                if *ii >= ib.len {
                    self.inner_batch = None;
                    run.interrupts()?;
                    continue;
                }
                let inner_row = RowRef::Batch(ib, *ii);
                *ii += 1;
                self.inner_at += 1;
                if !self.pairs.matches(run, outer_row, inner_row)? {
                    continue;
                }
                self.matched = true;
                if self.jointype == JoinType::Full {
                    if self.inner_matched.len() < self.inner_at {
                        self.inner_matched.resize(self.inner_at, false);
                    }
                    self.inner_matched[self.inner_at - 1] = true;
                }
                if semi {
                    break true;
                }
                self.pairs.emit(run, outer_row, inner_row, &mut out)?;
                if out.len >= want {
                    break false;
                }
            };
            if !ended {
                break;
            }
            let alone = match self.jointype {
                JoinType::Left | JoinType::Anti | JoinType::Full => !self.matched,
                JoinType::Semi => self.matched,
                _ => false,
            };
            if alone {
                self.pairs.emit(run, outer_row, RowRef::Nulls, &mut out)?;
            }
            *oi += 1;
            self.inner_open = false;
        }
        let ended = out.len == 0 && self.outer_batch.is_none();
        Ok(if ended { None } else { Some(out) })
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.outer_batch = None;
        self.inner_batch = None;
        self.inner_open = false;
        self.inner_matched.clear();
        self.leftovers = false;
        self.outer.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.outer_batch = None;
        self.inner_open = false;
        self.inner_batch = None;
        self.matched = false;
        self.first = true;
        self.inner_at = 0;
        self.inner_matched = Vec::new();
        self.leftovers = false;
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }
}

/// A row of the hashed side.
struct Hashed {
    hash: u64,
    batch: u32,
    row: u32,
    matched: bool,
}

/// The inner side in a hash table, probed by the outer side.
pub(crate) struct HashJoinNode {
    jointype: JoinType,
    outer: Node,
    inner: Node,
    pairs: Pairs,
    outer_keys: Vec<(Program, EvalState)>,
    inner_keys: Vec<(Program, EvalState)>,
    outer_hash: Keys,
    inner_hash: Keys,
    table: HashTable<Vec<u32>>,
    rows: Vec<Hashed>,
    batches: Vec<Batch>,
    key_rows: Vec<Vec<Datum>>,
    built: bool,
    outer_batch: Option<(Batch, usize)>,
    /// Candidates of the outer row at hand, and the next one.
    chain: Vec<u32>,
    chain_at: usize,
    probing: bool,
    matched: bool,
    outer_key: Vec<Datum>,
    /// Rows without a partner, once the outer side has ended.
    tail: Option<usize>,
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
            ..
        } = &plan.node
        else {
            return Err(PgError::internal("hash join expected"));
        };
        let pairs = Pairs::new(plan, join_qual, run)?;
        // Each side's keys are computed over that child alone.
        let mut cols = ChildColumns { outer: Source::Scan };
        let mut sides = [Vec::new(), Vec::new()];
        let mut hashes = [Vec::new(), Vec::new()];
        for (side, keys) in [outer_keys, inner_keys].into_iter().enumerate() {
            for (i, k) in keys.iter().enumerate() {
                sides[side].push((compile(k, &mut cols, run)?, EvalState::default()));
                let coll = collations.get(i).copied().unwrap_or_default();
                let op = operators.get(i).copied().unwrap_or_default();
                hashes[side].push(Key::new(k.type_oid(), op, coll, run)?);
            }
        }
        let [outer_keys, inner_keys] = sides;
        let [oh, ih] = hashes;
        Ok(Box::new(HashJoinNode {
            jointype: *jointype,
            outer,
            inner,
            pairs,
            outer_keys,
            inner_keys,
            outer_hash: Keys(oh),
            inner_hash: Keys(ih),
            table: HashTable::new(),
            rows: Vec::new(),
            batches: Vec::new(),
            key_rows: Vec::new(),
            built: false,
            outer_batch: None,
            chain: Vec::new(),
            chain_at: 0,
            probing: false,
            matched: false,
            outer_key: Vec::new(),
            tail: None,
        }))
    }

    fn build(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.built = true;
        let keep_nulls = matches!(self.jointype, JoinType::Right | JoinType::Full);
        while let Some(batch) = self.inner.next(run, BATCH_ROWS_MAX)? {
            run.interrupts()?;
            let at = self.batches.len() as u32;
            for r in 0..batch.len {
                let input = RowInput::scan(RowRef::Batch(&batch, r));
                let mut key = Vec::with_capacity(self.inner_keys.len());
                for (p, st) in &mut self.inner_keys {
                    key.push(p.eval_row(st, run, &input)?.into_owned());
                }
                let hash = self.inner_hash.hash(key.iter().map(Datum::as_ref), false, run)?;
                let place = self.rows.len() as u32;
                match hash {
                    None if !keep_nulls => continue,
                    None => {
                        self.rows.push(Hashed {
                            hash: 0,
                            batch: at,
                            row: r as u32,
                            matched: false,
                        });
                        self.key_rows.push(Vec::new());
                    }
                    Some(h) => {
                        let row = Hashed { hash: h, batch: at, row: r as u32, matched: false };
                        self.rows.push(row);
                        self.key_rows.push(key);
                        // Rows of equal hash share an entry; equality is tested when probing.
                        let rows = &self.rows;
                        let entry = self.table.entry(
                            h,
                            |e| rows[e[0] as usize].hash == h,
                            |e| rows[e[0] as usize].hash,
                        );
                        entry.and_modify(|e| e.push(place)).or_insert_with(|| vec![place]);
                    }
                }
            }
            self.batches.push(batch);
        }
        Ok(())
    }

    /// Finds the candidates of an outer row.
    fn probe(&mut self, run: &mut Run<'_>, row: RowRef<'_>) -> Result<()> {
        self.outer_key.clear();
        self.chain.clear();
        self.chain_at = 0;
        for (p, st) in &mut self.outer_keys {
            let v = p.eval_row(st, run, &RowInput::scan(row))?.into_owned();
            self.outer_key.push(v);
        }
        let key = self.outer_key.iter().map(Datum::as_ref);
        if let Some(h) = self.outer_hash.hash(key, false, run)?
            && let Some(found) = self.table.find(h, |e| self.rows[e[0] as usize].hash == h)
        {
            self.chain.extend_from_slice(found);
        }
        self.probing = true;
        self.matched = false;
        Ok(())
    }

    fn clear(&mut self) {
        self.table.clear();
        self.rows.clear();
        self.batches.clear();
        self.key_rows.clear();
        self.built = false;
    }
}

impl Exec for HashJoinNode {
    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if !self.built {
            self.build(run)?;
        }
        let mut out = self.pairs.template.clone();
        let semi = matches!(self.jointype, JoinType::Semi | JoinType::Anti);
        while out.len < want && self.tail.is_none() {
            let (ob, oi) = match self.outer_batch.take() {
                Some(x) => x,
                None => match self.outer.next(run, BATCH_ROWS_MAX.min(want.max(1)))? {
                    Some(b) => (b, 0),
                    None => {
                        self.tail = Some(0);
                        break;
                    }
                },
            };
            if oi >= ob.len {
                run.interrupts()?;
                continue;
            }
            let row = RowRef::Batch(&ob, oi);
            if !self.probing {
                self.probe(run, row)?;
            }
            let mut full = false;
            while self.chain_at < self.chain.len() {
                let place = self.chain[self.chain_at] as usize;
                self.chain_at += 1;
                let equal = {
                    let inner = &self.key_rows[place];
                    let a = self.outer_key.iter().map(Datum::as_ref);
                    self.outer_hash.equal(a, inner.iter().map(Datum::as_ref), run)?
                };
                if !equal {
                    continue;
                }
                let (b, r) = (self.rows[place].batch as usize, self.rows[place].row as usize);
                let inner_row = RowRef::Batch(&self.batches[b], r);
                if !self.pairs.matches(run, row, inner_row)? {
                    continue;
                }
                self.matched = true;
                self.rows[place].matched = true;
                if semi {
                    break;
                }
                self.pairs.emit(run, row, inner_row, &mut out)?;
                if out.len >= want {
                    full = true;
                    break;
                }
            }
            if full {
                self.outer_batch = Some((ob, oi));
                break;
            }
            let alone = match self.jointype {
                JoinType::Left | JoinType::Full | JoinType::Anti => !self.matched,
                JoinType::Semi => self.matched,
                _ => false,
            };
            if alone {
                self.pairs.emit(run, row, RowRef::Nulls, &mut out)?;
            }
            self.probing = false;
            self.outer_batch = Some((ob, oi + 1));
        }
        if let Some(at) = &mut self.tail {
            let inner_too = matches!(self.jointype, JoinType::Right | JoinType::Full);
            while inner_too && out.len < want && *at < self.rows.len() {
                let h = &self.rows[*at];
                if !h.matched {
                    let inner = RowRef::Batch(&self.batches[h.batch as usize], h.row as usize);
                    self.pairs.emit(run, RowRef::Nulls, inner, &mut out)?;
                }
                *at += 1;
            }
            if out.len == 0 {
                return Ok(None);
            }
        }
        Ok(Some(out))
    }

    fn rescan(&mut self, run: &mut Run<'_>) -> Result<()> {
        self.clear();
        self.outer_batch = None;
        self.probing = false;
        self.tail = None;
        self.inner.rescan(run)?;
        self.outer.rescan(run)
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.table = HashTable::new();
        self.rows = Vec::new();
        self.batches = Vec::new();
        self.key_rows = Vec::new();
        self.built = false;
        self.outer_batch = None;
        self.chain = Vec::new();
        self.outer_key = Vec::new();
        self.probing = false;
        self.tail = None;
        Ok(self.outer.reset(run)? & self.inner.reset(run)?)
    }
}
