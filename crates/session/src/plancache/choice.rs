//! The choice between generic and custom plans. Counterpart: utils/cache/plancache.c
//! (`choose_custom_plan`).

use super::Statement;
use super::plans::{CustomPlans, Generic, Mode, Plans};
use crate::query;
use crate::state::{State, engine_lock_mode};
use ids::strategy::btree;
use ids::{AttrNo, Oid};
use lmgr::LockTag;
use pgerror::Result;
use plan::expr::Expr;
use plan::node::{IndexProbe, Plan, PlanNode};
use plan::query::{CmdType, Query, RteKind};
use plan::{PlannedStmt, expr, walk};
use std::sync::Arc;
use types::Datum;

/// Estimated cost of planning in units of `cpu_operator_cost`, for each relation plus one.
const PLANNING_OPERATORS: f64 = 1000.0;
/// A statement whose parameters are literals of its text always gets a custom plan, if its custom
/// plans cost more than planning multiplied by this ratio.
const PARAMETERIZED_CUSTOM_COST_RATIO: f64 = 200.0;
/// A difference in size up to this many blocks does not invalidate a generic plan.
const SAME_SIZE_BLOCKS: u32 = 8;

impl Generic {
    /// True if the tables still have about the sizes for which the plan was made.
    pub(crate) fn fits(&self, state: &State) -> Result<bool> {
        for (table, planned) in &self.sizes {
            let now = engine::table::nblocks(&state.backend, table)?;
            let (small, large) = (now.min(*planned), now.max(*planned));
            if large > small.saturating_mul(2).saturating_add(SAME_SIZE_BLOCKS) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The chosen plan, with its [`Generic`] if it is a generic one.
pub(crate) struct Chosen {
    pub(crate) plan: Arc<PlannedStmt>,
    pub(crate) generic: Option<Arc<Generic>>,
}

impl Chosen {
    fn generic(generic: Arc<Generic>) -> Chosen {
        let plan = generic.plan.clone();
        Chosen { generic: (!plan.transient).then_some(generic), plan }
    }
}

impl Statement {
    /// Chooses a plan for these parameter values. The caller has locked the relations.
    pub(crate) fn choose(
        &self,
        state: &mut State,
        params: &Arc<[Datum]>,
        mode: Mode,
    ) -> Result<Chosen> {
        if params.is_empty() || mode == Mode::Generic {
            return self.generic(state).map(Chosen::generic);
        }
        if mode == Mode::Custom {
            return self.custom(state, params);
        }
        let (known, custom) = {
            let plans = self.plans.lock();
            (plans.generic.clone(), plans.custom)
        };
        let known = match known {
            // An error in generic planning is ignored, because planning for the actual values may
            // succeed.
            None if custom.is_empty() && may_settle(&self.query) => self.generic(state).ok(),
            known => known,
        };
        if let Some(generic) = known.filter(|g| g.settled) {
            return Ok(Chosen::generic(generic));
        }
        if custom.are_few() {
            return self.custom(state, params);
        }
        let average = custom.average_cost();
        if self.parameterized
            && average > PARAMETERIZED_CUSTOM_COST_RATIO * planning_cost(state, self.locks.len())
        {
            return self.custom(state, params);
        }
        let known = self.plans.lock().generic.clone();
        // Whether a known plan fits the sizes of its tables matters only if it may be used.
        let generic = match known {
            Some(known) if known.cost() > average => known,
            _ => self.generic(state)?,
        };
        if generic.cost() > average {
            return self.custom(state, params);
        }
        Ok(Chosen::generic(generic))
    }

    /// Chooses a plan by PostgreSQL's rule for a named statement, whose custom plans are counted in
    /// `counts`. The caller has locked the relations.
    pub(crate) fn choose_named(
        &self,
        state: &mut State,
        params: &Arc<[Datum]>,
        mode: Mode,
        counts: &mut CustomPlans,
    ) -> Result<Chosen> {
        let has_params = !params.is_empty();
        let known = self.plans.lock().generic.clone();
        // Whether a known generic plan fits the sizes of its tables matters only if it is used.
        if !counts.is_custom_next(has_params, mode, known.as_deref()) {
            let generic = self.generic(state)?;
            if !counts.is_custom_next(has_params, mode, Some(&generic)) {
                return Ok(Chosen::generic(generic));
            }
        }
        let plan = self.custom_plan(state, params)?;
        let planning = planning_cost(state, plan.rtable.len());
        counts.add(plan.plan_tree.info.total_cost + planning);
        Ok(Chosen { plan: Arc::new(plan), generic: None })
    }

    /// Discards the plans, because table sizes have changed.
    pub(crate) fn forget_plans(&self) {
        *self.plans.lock() = Plans::default();
    }

    fn generic(&self, state: &mut State) -> Result<Arc<Generic>> {
        let known = self.plans.lock().generic.clone();
        if let Some(known) = known {
            if known.fits(state)? {
                return Ok(known);
            }
            self.forget_plans();
        }
        let plan = Arc::new(query::plan_query(state, &self.query)?);
        let generic = Arc::new(make_generic(state, plan)?);
        if !generic.plan.transient {
            self.plans.lock().generic = Some(generic.clone());
        }
        Ok(generic)
    }

    fn custom(&self, state: &mut State, params: &Arc<[Datum]>) -> Result<Chosen> {
        let plan = self.custom_plan(state, params)?;
        let planning = planning_cost(state, self.locks.len());
        self.plans.lock().custom.add(plan.plan_tree.info.total_cost + planning);
        Ok(Chosen { plan: Arc::new(plan), generic: None })
    }

    fn custom_plan(&self, state: &mut State, params: &Arc<[Datum]>) -> Result<PlannedStmt> {
        let query = state.with_values(&self.query, params)?;
        query::plan_query(state, &query)
    }
}

/// Estimated cost of planning a statement over so many relations.
fn planning_cost(state: &State, relations: usize) -> f64 {
    PLANNING_OPERATORS * state.values.costs.cpu_operator * (relations as f64 + 1.0)
}

fn make_generic(state: &mut State, plan: Arc<PlannedStmt>) -> Result<Generic> {
    let mut locks = Vec::new();
    for entry in &plan.rtable {
        if let RteKind::Relation { relid, rellockmode, .. } = entry.kind
            && let Some(lock) = state.relation_lock(relid, rellockmode)?
            && !locks.contains(&lock)
        {
            locks.push(lock);
        }
    }
    let settled =
        !plan.transient && plan.subplans.is_empty() && is_settled(state, &plan.plan_tree)?;
    let mut sizes = Vec::new();
    if !settled {
        for entry in &plan.rtable {
            if let RteKind::Relation { relid, .. } = entry.kind
                && let Some(table) = state.cat().relation(relid)?.table.clone()
            {
                let blocks = engine::table::nblocks(&state.backend, &table)?;
                sizes.push((table, blocks));
            }
        }
    }
    Ok(Generic { plan, settled, locks: locks.into(), sizes })
}

/// True if the query may have a settled plan. This cheap test avoids useless planning.
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

/// True if the plan accesses rows only by the full key of a unique index, or has only rows of
/// VALUES.
fn is_settled(state: &mut State, plan: &Plan) -> Result<bool> {
    if !plan.info.init_plan.is_empty() {
        return Ok(false);
    }
    Ok(match &plan.node {
        PlanNode::Result { child: None, .. } | PlanNode::ValuesScan { .. } => true,
        PlanNode::Result { child: Some(child), .. } => is_settled(state, child)?,
        PlanNode::ModifyTable(m) => is_settled(state, &m.child)?,
        PlanNode::LockRows { child, .. } | PlanNode::Limit { child, .. } => {
            is_settled(state, child)?
        }
        PlanNode::IndexScan { probe, .. } | PlanNode::IndexOnlyScan { probe, .. } => {
            is_unique_probe(state, probe)?
        }
        _ => false,
    })
}

/// True if the index scan has equality conditions on all key columns of a unique index.
fn is_unique_probe(state: &mut State, probe: &IndexProbe) -> Result<bool> {
    let desc = state.cat().relation(probe.indexid)?;
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
        let member = state.cat().operator_in_family(op.opno, family)?;
        if member.is_some_and(|m| m.amopstrategy == btree::EQUAL) && !bound.contains(varattno) {
            bound.push(*varattno);
        }
    }
    Ok(bound.len() == row.indnkeyatts as usize)
}

impl State {
    /// The query with its parameters replaced by constants, for a custom plan.
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

    /// The lock tag and mode of a relation, for a lock mode number; `None` for 0.
    pub(crate) fn relation_lock(
        &mut self,
        relation: Oid,
        mode: i32,
    ) -> Result<Option<(LockTag, lmgr::LockMode)>> {
        let Some(mode) = engine_lock_mode(mode) else { return Ok(None) };
        let shared = self.cat().find_class(relation)?.is_some_and(|class| class.relisshared);
        let database = if shared { Oid::INVALID } else { self.backend.database() };
        Ok(Some((LockTag::relation(database, relation), mode)))
    }
}
