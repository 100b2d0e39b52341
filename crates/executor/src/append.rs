//! Append, and the choice of the children that an Append or MergeAppend runs: partitions that
//! cannot have matching rows are left out when the execution starts, and again for each change of
//! the parameters. Counterpart: nodeAppend.c, execPartition.c (`ExecFindMatchingSubPlans`).

use crate::node::{Exec, NoScanColumns, Node, compile, reset_all};
use crate::run::Run;
use eval::{EvalState, Program, RowInput};
use hashbrown::HashMap;
use ids::Oid;
use partition::{HashCall, PartitionDesc, PruneHost, SupportCall};
use pgerror::Result;
use plan::expr::{Expr, ParamKind};
use plan::prune::{AppendPruning, PrunedPart};
use std::sync::Arc;
use types::{Batch, Comparer, Datum};

/// The values that conditions on partition keys are compared with.
struct Values {
    /// By the address of the expression in the pruning.
    by_expr: HashMap<usize, (Program, bool)>,
    state: EvalState,
}

/// Chooses the children to run.
pub(crate) struct Pruner {
    pruning: Arc<AppendPruning>,
    descs: Vec<Arc<PartitionDesc>>,
    /// For each table, the index in its descriptor of each of its partitions in `pruning`.
    places: Vec<Vec<Option<usize>>>,
    values: Values,
    /// The number of children in the plan.
    children: usize,
    /// For each child of the plan, its number among the children that were built.
    built: Vec<Option<usize>>,
}

fn address(e: &Expr) -> usize {
    std::ptr::from_ref(e).addr()
}

/// Evaluates values, those with exec parameters only if `running`.
struct Known<'a, 'r> {
    values: &'a mut Values,
    run: &'a mut Run<'r>,
    running: bool,
}

impl SupportCall for Known<'_, '_> {
    fn hash_extended(&mut self, call: HashCall<'_>) -> Result<u64> {
        rowops::write::Call(self.run.sv).hash_extended(call)
    }
}

impl PruneHost for Known<'_, '_> {
    fn value(&mut self, expr: &Expr) -> Result<Option<Datum>> {
        let Some((program, is_exec)) = self.values.by_expr.get(&address(expr)) else {
            return Ok(None);
        };
        if *is_exec && !self.running {
            return Ok(None);
        }
        let v = program.eval_row(&mut self.values.state, self.run, &RowInput::EMPTY)?;
        Ok(Some(v.into_owned()))
    }

    fn comparer(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        collation: Oid,
    ) -> Result<Option<Comparer>> {
        self.run.sv.as_facts().family_compare(family, left, right, collation).map(Some)
    }

    fn as_support(&mut self) -> &mut dyn SupportCall {
        self
    }
}

impl Pruner {
    /// The pruning of a node with that many children. All children are taken as built.
    pub(crate) fn new(
        pruning: &AppendPruning,
        children: usize,
        run: &mut Run<'_>,
    ) -> Result<Pruner> {
        let pruning = Arc::new(pruning.clone());
        let mut descs = Vec::with_capacity(pruning.tables.len());
        let mut places = Vec::with_capacity(pruning.tables.len());
        let mut exprs = Vec::new();
        for table in &pruning.tables {
            let desc = run.sv.partitions(table.relid)?;
            // Both lists have the same order.
            let mut next = 0;
            let place = |(oid, _): &(Oid, PrunedPart)| {
                let rest = desc.partitions.get(next..).unwrap_or_default();
                let at = next + rest.iter().position(|p| p.oid == *oid)?;
                next = at + 1;
                Some(at)
            };
            places.push(table.partitions.iter().map(place).collect());
            descs.push(desc);
            table.condition.each_value(&mut |e| exprs.push(e));
        }
        let mut by_expr = HashMap::new();
        for e in exprs {
            let is_exec = plan::walk::any(
                e,
                &mut |e| matches!(e, Expr::Param(p) if p.paramkind == ParamKind::Exec),
            );
            by_expr.insert(address(e), (compile(e, &mut NoScanColumns, run)?, is_exec));
        }
        let values = Values { by_expr, state: EvalState::default() };
        let built = (0..children).map(Some).collect();
        Ok(Pruner { pruning: pruning.clone(), descs, places, values, children, built })
    }

    /// The children that may have matching rows; `running`: exec parameters are known.
    fn matching(&mut self, run: &mut Run<'_>, running: bool) -> Result<Vec<bool>> {
        let pruning = self.pruning.clone();
        let mut live = vec![true; self.children];
        let parts = pruning.tables.iter().flat_map(|t| &t.partitions);
        for part in parts {
            if let PrunedPart::Child(child) = part.1 {
                live[child] = false;
            }
        }
        let mut tables = vec![0];
        while let Some(at) = tables.pop() {
            let (table, desc) = (&pruning.tables[at], self.descs[at].clone());
            let mut known = Known { values: &mut self.values, run: &mut *run, running };
            let found = desc.matching(&table.condition, &mut known)?;
            for ((_, part), index) in table.partitions.iter().zip(&self.places[at]) {
                if !index.is_none_or(|i| found.contains(i)) {
                    continue;
                }
                match part {
                    PrunedPart::Child(child) => live[*child] = true,
                    PrunedPart::Table(table) => tables.push(*table),
                }
            }
        }
        Ok(live)
    }

    /// The children to build.
    pub(crate) fn at_start(&mut self, run: &mut Run<'_>) -> Result<Vec<bool>> {
        let live = match self.pruning.at_start {
            true => self.matching(run, false)?,
            false => vec![true; self.children],
        };
        let mut next = 0;
        self.built = live
            .iter()
            .map(|live| {
                live.then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        Ok(live)
    }

    /// The built children to run now, if the conditions have exec parameters.
    pub(crate) fn now(&mut self, run: &mut Run<'_>) -> Result<Option<Vec<bool>>> {
        if !self.pruning.while_running {
            return Ok(None);
        }
        let live = self.matching(run, true)?;
        let mut out = vec![false; self.built.iter().flatten().count()];
        for (built, live) in self.built.iter().zip(live) {
            if let Some(at) = built {
                out[*at] = live;
            }
        }
        Ok(Some(out))
    }

    /// True if the conditions have exec parameters.
    fn runs(&self) -> bool {
        self.pruning.while_running
    }

    /// True if other children may have to be built for another execution.
    pub(crate) fn depends_on_start(&self) -> bool {
        self.pruning.at_start
    }
}

/// Append: reads one child after the other.
pub(crate) struct AppendNode {
    children: Vec<Node>,
    at: usize,
    pruner: Option<Pruner>,
    /// The children to run in this scan; `None` before the first row is read.
    live: Option<Vec<bool>>,
    /// Children whose scan has to be started again.
    stale: Vec<bool>,
}

impl AppendNode {
    pub(crate) fn boxed(children: Vec<Node>, pruner: Option<Pruner>) -> Node {
        let stale = vec![false; children.len()];
        Box::new(AppendNode { children, at: 0, pruner, live: None, stale })
    }
}

impl Exec for AppendNode {
    fn is_volatile(&self) -> bool {
        self.children.iter().any(|c| c.is_volatile())
    }

    fn next(&mut self, run: &mut Run<'_>, want: usize) -> Result<Option<Batch>> {
        if let Some(pruner) = &mut self.pruner
            && self.live.is_none()
            && pruner.runs()
        {
            self.live = pruner.now(run)?;
        }
        while let Some(c) = self.children.get_mut(self.at) {
            if self.live.as_ref().is_none_or(|live| live[self.at]) {
                if std::mem::take(&mut self.stale[self.at]) {
                    c.rescan(run)?;
                }
                if let Some(b) = c.next(run, want)? {
                    return Ok(Some(b));
                }
            }
            self.at += 1;
        }
        Ok(None)
    }

    fn rescan(&mut self, _: &mut Run<'_>) -> Result<()> {
        self.at = 0;
        self.live = None;
        self.stale.fill(true);
        Ok(())
    }

    fn reset(&mut self, run: &mut Run<'_>) -> Result<bool> {
        self.at = 0;
        self.live = None;
        self.stale.fill(false);
        let same = !self.pruner.as_ref().is_some_and(Pruner::depends_on_start);
        Ok(reset_all(&mut self.children, run)? && same)
    }
}
