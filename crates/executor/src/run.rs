//! The state of a running statement: its parameters, sub-plans and shared row sets. Counterpart:
//! execUtils.c (`EState`).

use crate::depend::{Computation, Dependencies};
use crate::instrument::Instruments;
use crate::node::Node;
use crate::subplan::{self, SubState};
use eval::{Host, HostCall, Val};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{SqlValueKind, SubPlan};
use plan::node::{Plan, PlannedStmt};
use rowops::relation::OpenRel;
use rowops::services::Services;
use rowops::spill::RowStore;
use std::any::Any;
use std::sync::Arc;
use types::{Datum, FnContext};

/// A plan with its parameters and snapshot. Counterpart: execdesc.h.
#[derive(Clone)]
pub(crate) struct QueryDesc {
    pub(crate) plan: Arc<PlannedStmt>,
    /// Values of `$1` ….
    pub(crate) params: Arc<[Datum]>,
    pub(crate) snapshot: Arc<engine::Snapshot>,
}

/// An exec parameter.
#[derive(Clone, Default)]
pub(crate) enum ExecParam {
    #[default]
    Unset,
    Set(Val<'static>),
    /// The init plan with this index sets it when it is first read.
    Pending(usize),
}

/// State shared by all nodes of a running statement.
pub(crate) struct RunState {
    pub desc: QueryDesc,
    pub exec: Vec<ExecParam>,
    /// For each exec parameter, the version number of its value; each change gets a new number.
    pub versions: Vec<u64>,
    /// The version number that was assigned last.
    pub version: u64,
    /// In debug builds, the computations in progress whose results are kept, innermost last.
    pub computations: Vec<Computation>,
    /// In debug builds, for each plan node the versions of its parameters at the start of the scan,
    /// and whether it has been read since then.
    pub started: HashMap<usize, (Dependencies, bool)>,
    /// Init plans registered so far.
    pub init_plans: Vec<SubPlan>,
    /// Running sub-plans by plan id - 1; `None` while one runs.
    pub subs: Vec<Option<Box<SubState>>>,
    /// Rows of `WITH` queries by exec parameter.
    pub shared: HashMap<i32, Shared>,
    /// Working tables of recursive queries by exec parameter.
    pub work_tables: HashMap<i32, RowStore>,
    /// Statistics for EXPLAIN ANALYZE.
    pub instruments: Option<Instruments>,
    /// Data-modifying `WITH` queries: (parameter, plan id).
    pub modifying: Vec<(i32, u32)>,
    /// Rows processed by the topmost ModifyTable.
    pub processed: u64,
    /// The statistics of the statement, if they are collected.
    pub tally: statements::Tally,
    /// Open relations by range-table index.
    pub relations: HashMap<i32, Arc<OpenRel>>,
    /// During an EvalPlanQual recheck: the only row of each scanned relation, by range-table index.
    /// `None`: no row (the null-extended side of an outer join).
    pub epq: Option<HashMap<i32, Option<ids::Tid>>>,
    /// Rows to be changed must also be visible to this snapshot. Counterpart:
    /// `es_crosscheck_snapshot`.
    pub crosscheck: Option<Arc<engine::Snapshot>>,
    /// For each Append that leaves out children when the execution starts, by `key_of` its plan:
    /// whether each child was built.
    pub built: HashMap<usize, Vec<bool>>,
    pub no_params: Arc<[Datum]>,
    /// Builds the node tree of a sub-plan. This is a function pointer to `build`, because that
    /// module depends on all nodes, which depend on this module.
    pub build: fn(&Plan, &mut Run<'_>) -> Result<Node>,
}

impl RunState {
    /// The value of `$id`.
    pub(crate) fn extern_param(&self, id: i32) -> Option<&Datum> {
        usize::try_from(id - 1).ok().and_then(|i| self.desc.params.get(i))
    }

    /// Removes the state of one run: see [`crate::Execution::park`].
    pub(crate) fn clear(&mut self, no_snapshot: Arc<engine::Snapshot>) {
        self.desc.params = self.no_params.clone();
        self.desc.snapshot = no_snapshot;
        for (value, version) in self.exec.iter_mut().zip(&mut self.versions) {
            self.version += 1;
            (*value, *version) = (ExecParam::Unset, self.version);
        }
        for (index, plan) in self.init_plans.iter().enumerate() {
            for &id in &plan.set_param {
                self.exec[id as usize] = ExecParam::Pending(index);
            }
        }
        self.shared.clear();
        self.work_tables.clear();
        self.processed = 0;
        self.epq = None;
        self.crosscheck = None;
    }
}

/// The rows of a `WITH` query that have been read, and whether they are complete.
pub(crate) struct Shared {
    pub rows: RowStore,
    pub done: bool,
    /// The error after these rows, which each reader of further rows raises.
    pub failed: Option<PgError>,
}

/// A running statement and the session's services, for the duration of one call.
pub(crate) struct Run<'a> {
    pub sv: &'a mut dyn Services,
    pub st: &'a mut RunState,
}

impl Run<'_> {
    /// Registers the init plans of a node. Each runs when one of its parameters is first read.
    pub(crate) fn register_init_plans(&mut self, plans: &[plan::Expr]) {
        for p in plans {
            let plan::Expr::SubPlan(s) = p else { continue };
            if s.kind == plan::expr::SubLinkKind::Cte {
                let plan = &self.st.desc.plan.subplans[s.plan_id as usize - 1];
                let entry = (s.set_param[0], s.plan_id);
                if matches!(plan.node, plan::node::PlanNode::ModifyTable(_))
                    && !self.st.modifying.contains(&entry)
                {
                    self.st.modifying.push(entry);
                }
                continue;
            }
            let index = self.st.init_plans.len();
            for &id in &s.set_param {
                self.st.exec[id as usize] = ExecParam::Pending(index);
            }
            self.st.init_plans.push((**s).clone());
        }
    }

    /// The table of a range-table entry.
    pub(crate) fn relation(&mut self, rti: i32) -> Result<Arc<OpenRel>> {
        if let Some(r) = self.st.relations.get(&rti) {
            return Ok(r.clone());
        }
        let rte = &self.st.desc.plan.rtable[rti as usize - 1];
        let plan::query::RteKind::Relation { relid, .. } = rte.kind else {
            return Err(PgError::internal("range-table entry is not a relation"));
        };
        let rel = self.sv.open_relation(relid)?;
        self.st.relations.insert(rti, rel.clone());
        Ok(rel)
    }

    /// Sets a parameter. If the value differs, data computed from the old value becomes stale; data
    /// that volatile functions computed also becomes stale if it is equal.
    pub(crate) fn set_param(&mut self, id: i32, value: Datum) {
        let known = &self.st.exec[id as usize];
        if self.st.desc.plan.calls_volatile
            || !matches!(known, ExecParam::Set(old) if old.as_ref() == value.as_ref())
        {
            self.invalidate(id);
        }
        self.st.exec[id as usize] = ExecParam::Set(Val::of_param(value));
    }

    pub(crate) fn interrupts(&self) -> Result<()> {
        self.sv.check_interrupts()
    }
}

impl Host for Run<'_> {
    fn extern_param(&mut self, id: i32) -> Result<Val<'static>> {
        usize::try_from(id - 1)
            .ok()
            .and_then(|i| Val::param_of(&self.st.desc.params, i))
            .ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "no value found for parameter {id}"))
    }

    fn exec_param(&mut self, id: i32) -> Result<Val<'static>> {
        self.note_read(id)?;
        match &self.st.exec[id as usize] {
            ExecParam::Set(v) => Ok(v.clone()),
            ExecParam::Unset => Ok(Val::NULL),
            ExecParam::Pending(index) => {
                let index = *index;
                let plan = self.st.init_plans[index].clone();
                if let Err(e) = stdx::stack::deep(|| subplan::run_init_plan(self, &plan)) {
                    // The caller evaluates row by row after a failed batch evaluation, which must
                    // fail in the same way.
                    for &id in &plan.set_param {
                        self.st.exec[id as usize] = ExecParam::Pending(index);
                    }
                    return Err(e);
                }
                match &self.st.exec[id as usize] {
                    ExecParam::Set(v) => Ok(v.clone()),
                    _ => Err(PgError::internal("init plan did not set its parameter")),
                }
            }
        }
    }

    fn set_exec_param(&mut self, id: i32, value: Datum) {
        self.set_param(id, value);
    }

    fn subplan(
        &mut self,
        plan: &SubPlan,
        outer: &[Datum],
        test: &mut dyn FnMut(&mut dyn Host) -> Result<Datum>,
    ) -> Result<Datum> {
        stdx::stack::deep(|| subplan::run_subplan(self, plan, outer, test))
    }

    fn call_host(&mut self, call: &HostCall<'_>) -> Result<Datum> {
        self.sv.call_host(call)
    }

    fn next_value(&mut self, sequence: Oid) -> Result<i64> {
        self.sv.next_value(sequence)
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        self.sv.sql_value(kind)
    }
}

/// Delegates to the session.
impl FnContext for Run<'_> {
    fn collation(&self) -> Oid {
        self.sv.collation()
    }

    fn arg_type(&self, i: usize) -> Oid {
        self.sv.arg_type(i)
    }

    fn result_type(&self) -> Oid {
        self.sv.result_type()
    }

    fn extra(&mut self) -> &mut Option<Box<dyn Any + Send>> {
        self.sv.extra()
    }
}

types::delegate_fn_context! { Run<'_>, self, self.sv }
