//! Memoize: an LRU cache of the rows of a parameterized scan, keyed by its parameters. Counterpart:
//! nodeMemoize.c.

use crate::depend::Dependencies;
use crate::instrument::{Counts, MemoCounts};
use crate::node::{Exec, NoScanColumns, Node, compile};
use crate::run::Run;
use eval::{EvalState, Program, RowInput};
use hashbrown::HashTable;
use pgerror::{PgError, Result};
use plan::expr::{Expr, ParamKind};
use plan::node::{Plan, PlanNode};
use rowops::keys::{Key, Keys};
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Batch, Datum};

/// The rows for one key.
struct Entry {
    hash: u64,
    key: Vec<Datum>,
    rows: Vec<Arc<Batch>>,
    bytes: usize,
    /// Value of `MemoizeNode::turn` at the last use.
    used: u64,
}

enum State {
    /// The key has not been looked up.
    Fresh,
    /// Cache hit: the rows of the entry, and the next batch.
    Hit {
        rows: Vec<Arc<Batch>>,
        at: usize,
    },
    /// Cache miss: rows come from the child and are added to an entry.
    Filling(Entry),
    /// Rows come from the child and are too many for the cache.
    Passing,
    Ended,
}

pub(crate) struct MemoizeNode {
    child: Node,
    child_started: bool,
    params: Vec<(Program, EvalState)>,
    keys: Keys,
    table: HashTable<Entry>,
    bytes: usize,
    turn: u64,
    state: State,
    /// Dependencies of all entries, without the parameters in the key.
    dependencies: Dependencies,
    /// See [`PlanNode::Memoize`].
    single_row: bool,
    counts: MemoCounts,
    /// Peak of `bytes`.
    bytes_peak: usize,
}

impl MemoizeNode {
    /// The node for a plan node of this kind, over its child.
    pub(crate) fn boxed(plan: &PlanNode, child: Node, run: &mut Run<'_>) -> Result<Node> {
        let PlanNode::Memoize {
            child: child_plan,
            param_exprs,
            operators,
            collations,
            single_row,
            ..
        } = plan
        else {
            return Err(PgError::internal("Memoize node expected"));
        };
        let mut params = Vec::new();
        let mut keys = Vec::new();
        let mut own = Vec::new();
        for ((e, op), coll) in param_exprs.iter().zip(operators).zip(collations) {
            plan::walk::any(e, &mut |e| {
                if let Expr::Param(p) = e
                    && p.paramkind == ParamKind::Exec
                {
                    own.push(p.paramid);
                }
                false
            });
            params.push((compile(e, &mut NoScanColumns, run)?, EvalState::default()));
            keys.push(Key::new(e.type_oid(), *op, *coll, run.sv)?);
        }
        let child_plan: &Plan = child_plan;
        let dependencies = Dependencies::new(&[child_plan], &[], run).excluding(&own);
        Ok(Box::new(MemoizeNode {
            child,
            child_started: false,
            params,
            keys: Keys(keys),
            table: HashTable::new(),
            bytes: 0,
            turn: 0,
            state: State::Fresh,
            dependencies,
            single_row: *single_row,
            counts: MemoCounts::default(),
            bytes_peak: 0,
        }))
    }

    fn look_up(&mut self, run: &mut Run<'_>) -> Result<()> {
        if self.dependencies.changed(run) {
            self.dependencies.record(run);
            self.table.clear();
            self.bytes = 0;
        }
        self.turn += 1;
        let mut key = Vec::with_capacity(self.params.len());
        for (p, st) in &mut self.params {
            key.push(p.eval_row(st, run, &RowInput::EMPTY)?.into_owned());
        }
        let hash = self.keys.hash(key.iter().map(Datum::as_ref), true, run.sv)?.unwrap_or(0);
        for e in self.table.iter_hash_mut(hash).filter(|e| e.hash == hash) {
            // Compares bytes, because the scan's output or filter may distinguish values that are
            // equal by the operator, such as 1.0 and 1.00 or -0 and 0.
            if e.key == key {
                e.used = self.turn;
                self.counts.hits += 1;
                self.state = State::Hit { rows: e.rows.clone(), at: 0 };
                return Ok(());
            }
        }
        self.counts.misses += 1;
        if std::mem::replace(&mut self.child_started, true) {
            self.child.rescan(run)?;
        }
        let entry = Entry { hash, key, rows: Vec::new(), bytes: 128, used: self.turn };
        self.state = State::Filling(entry);
        Ok(())
    }

    /// Adds a complete entry to the cache; evicts the least recently used entries if necessary.
    fn keep(&mut self, entry: Entry, limit: usize) {
        if self.bytes + entry.bytes > limit {
            let mut ages: Vec<(u64, usize)> =
                self.table.iter().map(|e| (e.used, e.bytes)).collect();
            ages.sort_unstable();
            // Evict until a quarter of the memory is free, so that evictions are rare.
            let mut free = self.bytes + entry.bytes;
            let mut oldest = 0;
            for (used, bytes) in ages {
                if free * 4 <= limit * 3 {
                    break;
                }
                free -= bytes;
                oldest = used;
            }
            let mut gone = 0;
            self.table.retain(|e| {
                let stay = e.used > oldest;
                if !stay {
                    gone += e.bytes;
                    self.counts.evictions += 1;
                }
                stay
            });
            self.bytes -= gone;
        }
        self.bytes += entry.bytes;
        self.bytes_peak = self.bytes_peak.max(self.bytes);
        self.table.insert_unique(entry.hash, entry, |e| e.hash);
    }
}

impl Exec for MemoizeNode {
    fn report(&self, counts: &mut Counts) {
        let kilobytes = self.bytes_peak.div_ceil(1024) as u64;
        counts.memo = Some(MemoCounts { kilobytes, ..self.counts });
    }

    fn is_volatile(&self) -> bool {
        self.child.is_volatile()
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if matches!(self.state, State::Fresh) {
            self.look_up(run)?;
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Hit { rows, at } => {
                let Some(b) = rows.get(at).map(|b| (**b).clone()) else { return Ok(None) };
                self.state = State::Hit { rows, at: at + 1 };
                Ok(Some(b))
            }
            State::Filling(mut entry) => {
                let limit = run.sv.hash_mem();
                let rows_max = if self.single_row { 1 } else { BATCH_ROWS_MAX };
                loop {
                    let computation = self.dependencies.computation();
                    match computation
                        .perform(run, |run| self.child.next(run, rows_max.max(want)))?
                    {
                        None => {
                            self.keep(entry, limit);
                            return Ok(None);
                        }
                        Some(b) if b.len == 0 => run.interrupts()?,
                        Some(b) => {
                            entry.bytes += b.memory() + 64;
                            if entry.bytes > limit {
                                self.counts.overflows += 1;
                                self.state = State::Passing;
                                return Ok(Some(b));
                            }
                            entry.rows.push(Arc::new(b.clone()));
                            match self.single_row {
                                true => self.keep(entry, limit),
                                false => self.state = State::Filling(entry),
                            }
                            return Ok(Some(b));
                        }
                    }
                }
            }
            State::Passing => {
                let out = self.child.next(run, want)?;
                if out.is_some() {
                    self.state = State::Passing;
                }
                Ok(out)
            }
            State::Ended | State::Fresh => Ok(None),
        }
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.state = State::Fresh;
        self.child_started = false;
        self.table = HashTable::new();
        self.bytes = 0;
        self.child.reset(run)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        // An incomplete entry is discarded.
        self.state = State::Fresh;
        Ok(())
    }
}
