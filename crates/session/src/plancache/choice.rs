//! Which plan runs a statement: one for all values or one for these.

use super::{Locks, Statement};
use crate::core::{Core, engine_lock_mode};
use crate::query;
use ids::{AttrNo, Oid};
use lmgr::LockTag;
use pgerror::Result;
use plan::expr::Expr;
use plan::node::{IndexProbe, Plan, PlanNode};
use plan::query::{CmdType, Query, RteKind};
use plan::{PlannedStmt, expr, walk};
use std::sync::Arc;
use types::Datum;

/// Executions that are planned for their values before a general plan is thought of.
const CUSTOM_PLANS_FIRST: u32 = 5;
/// What planning costs, in the planner's units: for each relation and one more.
const PLANNING_OPERATORS: f64 = 1000.0;
/// A statement of literals whose plans cost more than this times their planning is always planned
/// for its values.
const DEAR: f64 = 200.0;
/// Tables of so many blocks more or less are of the same size.
const SAME_SIZE_BLOCKS: u32 = 8;

/// `plan_cache_mode`
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mode {
    #[default]
    Auto,
    Generic,
    Custom,
}

impl Mode {
    pub(crate) fn named(name: &str) -> Mode {
        match name {
            "force_generic_plan" => Mode::Generic,
            "force_custom_plan" => Mode::Custom,
            _ => Mode::Auto,
        }
    }
}

/// What is known of a statement's plans.
#[derive(Default)]
pub(crate) struct Plans {
    generic: Option<Arc<Generic>>,
    custom_count: u32,
    custom_cost: f64,
}

/// A plan for any values.
pub(crate) struct Generic {
    pub(crate) plan: Arc<PlannedStmt>,
    /// No value could make another plan worth while.
    settled: bool,
    pub(crate) locks: Locks,
    /// Tables whose size the plan rests on, and their blocks when it was made.
    sizes: Vec<(Arc<engine::TableDesc>, u32)>,
}

impl Generic {
    /// Have the tables still about the size for which the plan was made?
    pub(crate) fn fits(&self, core: &Core) -> Result<bool> {
        for (table, planned) in &self.sizes {
            let now = engine::table::nblocks(&core.backend, table)?;
            let (small, large) = (now.min(*planned), now.max(*planned));
            if large > small.saturating_mul(2).saturating_add(SAME_SIZE_BLOCKS) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What to run: the plan and, if it serves any values, all that is known of it.
pub(crate) struct Chosen {
    pub(crate) plan: Arc<PlannedStmt>,
    pub(crate) generic: Option<Arc<Generic>>,
}

impl Chosen {
    fn generic(generic: Arc<Generic>) -> Chosen {
        Chosen { plan: generic.plan.clone(), generic: Some(generic) }
    }
}

impl Statement {
    /// Chooses a plan for these values. The relations are locked by the caller.
    pub(crate) fn choose(
        &self,
        core: &mut Core,
        params: &Arc<[Datum]>,
        mode: Mode,
    ) -> Result<Chosen> {
        if params.is_empty() || mode == Mode::Generic {
            return self.generic(core).map(Chosen::generic);
        }
        if mode == Mode::Custom {
            return self.custom(core, params);
        }
        let (known, count, cost) = {
            let plans = self.plans.lock();
            (plans.generic.clone(), plans.custom_count, plans.custom_cost)
        };
        let known = match known {
            // What fails for all values may have to succeed for these.
            None if count == 0 && may_settle(&self.query) => self.generic(core).ok(),
            known => known,
        };
        if let Some(generic) = known.filter(|g| g.settled) {
            return Ok(Chosen::generic(generic));
        }
        if count < CUSTOM_PLANS_FIRST {
            return self.custom(core, params);
        }
        let average = cost / f64::from(count);
        if self.lifted && average > DEAR * self.planning_cost(core) {
            return self.custom(core, params);
        }
        let generic = self.generic(core)?;
        if generic.plan.plan_tree.info.total_cost > average {
            return self.custom(core, params);
        }
        Ok(Chosen::generic(generic))
    }

    /// Plans anew next time: tables have grown.
    pub(crate) fn forget_plans(&self) {
        *self.plans.lock() = Plans::default();
    }

    fn generic(&self, core: &mut Core) -> Result<Arc<Generic>> {
        let known = self.plans.lock().generic.clone();
        if let Some(known) = known {
            if known.fits(core)? {
                return Ok(known);
            }
            self.forget_plans();
        }
        let plan = Arc::new(query::plan_query(core, &self.query)?);
        let generic = Arc::new(make_generic(core, plan)?);
        self.plans.lock().generic = Some(generic.clone());
        Ok(generic)
    }

    fn planning_cost(&self, core: &Core) -> f64 {
        let relations = self.locks.len() as f64;
        PLANNING_OPERATORS * core.costs.cpu_operator * (relations + 1.0)
    }

    fn custom(&self, core: &mut Core, params: &Arc<[Datum]>) -> Result<Chosen> {
        let query = core.with_values(&self.query, params)?;
        let plan = query::plan_query(core, &query)?;
        let cost = plan.plan_tree.info.total_cost + self.planning_cost(core);
        let mut plans = self.plans.lock();
        plans.custom_count = plans.custom_count.saturating_add(1);
        plans.custom_cost += cost;
        drop(plans);
        Ok(Chosen { plan: Arc::new(plan), generic: None })
    }
}

fn make_generic(core: &mut Core, plan: Arc<PlannedStmt>) -> Result<Generic> {
    let mut locks = Vec::new();
    for entry in &plan.rtable {
        if let RteKind::Relation { relid, rellockmode, .. } = entry.kind
            && let Some(lock) = core.relation_lock(relid, rellockmode)?
            && !locks.contains(&lock)
        {
            locks.push(lock);
        }
    }
    let settled = plan.subplans.is_empty() && is_settled(core, &plan.plan_tree)?;
    let mut sizes = Vec::new();
    if !settled {
        for entry in &plan.rtable {
            if let RteKind::Relation { relid, .. } = entry.kind
                && let Some(table) = core.cat().relation(relid)?.table.clone()
            {
                let blocks = engine::table::nblocks(&core.backend, &table)?;
                sizes.push((table, blocks));
            }
        }
    }
    Ok(Generic { plan, settled, locks: locks.into(), sizes })
}

/// May the query's plan be a settled one? Only a look, so that no plan is made in vain.
fn may_settle(query: &Query) -> bool {
    let plain = query.cte_list.is_empty()
        && !query.has_sub_links
        && !query.has_aggs
        && query.set_operations.is_none();
    let tables = query.rtable.iter().filter(|r| !matches!(r.kind, RteKind::Values { .. })).count();
    let subquery = query.rtable.iter().any(|r| matches!(r.kind, RteKind::Subquery { .. }));
    let bound = query.command_type == CmdType::Insert || query.jointree.quals.is_some();
    plain && tables <= 1 && !subquery && bound
}

/// Does the plan read rows by their full unique key, or make them of values?
fn is_settled(core: &mut Core, plan: &Plan) -> Result<bool> {
    if !plan.info.init_plan.is_empty() {
        return Ok(false);
    }
    Ok(match &plan.node {
        PlanNode::Result { child: None, .. } | PlanNode::ValuesScan { .. } => true,
        PlanNode::Result { child: Some(child), .. } => is_settled(core, child)?,
        PlanNode::ModifyTable(m) => is_settled(core, &m.child)?,
        PlanNode::LockRows { child, .. } | PlanNode::Limit { child, .. } => {
            is_settled(core, child)?
        }
        PlanNode::IndexScan { probe, .. } | PlanNode::IndexOnlyScan { probe, .. } => {
            is_unique_probe(core, probe)?
        }
        _ => false,
    })
}

/// Are all key columns of a unique index compared for equality?
fn is_unique_probe(core: &mut Core, probe: &IndexProbe) -> Result<bool> {
    let desc = core.cat().relation(probe.indexid)?;
    let Some(part) = &desc.index else { return Ok(false) };
    let row = &part.row;
    if !row.indisunique || row.indpred.is_some() || !probe.order_by.is_empty() {
        return Ok(false);
    }
    let mut bound: Vec<AttrNo> = Vec::new();
    for qual in &probe.index_qual {
        let Expr::OpExpr(op) = qual else { return Ok(false) };
        let [Expr::Var(expr::Var { varattno, .. }), _] = &op.args[..] else { return Ok(false) };
        let family = usize::try_from(varattno - 1).ok().and_then(|i| part.opfamilies.get(i));
        let Some(&family) = family else { return Ok(false) };
        let member = core.cat().operator_in_family(op.opno, family)?;
        if member.is_some_and(|m| m.amopstrategy == 3) && !bound.contains(varattno) {
            bound.push(*varattno);
        }
    }
    Ok(bound.len() == row.indnkeyatts as usize)
}

impl Core {
    /// The query with its parameters replaced by these values, so that planning can reason with
    /// them.
    fn with_values(&mut self, query: &Query, params: &[Datum]) -> Result<Query> {
        let mut query = query.clone();
        let mut failure = None;
        walk::deep_query_mut(&mut query, 0, &mut |e, _| {
            let Expr::Param(p) = e else { return true };
            let value = usize::try_from(p.paramid - 1).ok().and_then(|i| params.get(i));
            if let (expr::ParamKind::Extern, Some(value)) = (p.paramkind, value) {
                match self.type_facts(p.paramtype) {
                    Ok(info) => {
                        *e = Expr::Const(expr::Const {
                            consttype: p.paramtype,
                            consttypmod: p.paramtypmod,
                            constcollid: p.paramcollid,
                            constlen: info.len,
                            constbyval: info.by_val,
                            value: value.clone(),
                            location: p.location,
                        });
                    }
                    Err(error) => failure = Some(error),
                }
            }
            true
        });
        failure.map_or(Ok(query), Err)
    }

    /// The lock of a relation in a mode given by its number; 0 is none.
    pub(crate) fn relation_lock(
        &mut self,
        relation: Oid,
        mode: i32,
    ) -> Result<Option<(LockTag, lmgr::LockMode)>> {
        let Some(mode) = engine_lock_mode(mode) else { return Ok(None) };
        let shared = self.cat().class(relation)?.relisshared;
        let database = if shared { Oid::INVALID } else { self.backend.database() };
        Ok(Some((LockTag::relation(database, relation), mode)))
    }
}
