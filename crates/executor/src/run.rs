//! A running statement: parameters, sub-plans, shared sets, and the way through them.
//! Counterpart: execMain.c.

use crate::depend::{Sources, Watch};
use crate::instrument::{self, Instruments, NodeStats};
use crate::node::{self, Node};
use crate::relation::OpenRel;
use crate::services::Services;
use crate::sorter::SortStats;
use crate::source;
use crate::spill::RowStore;
use crate::subplan::{self, SubState};
use eval::Host;
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{SqlValueKind, SubPlan};
use plan::node::PlannedStmt;
use std::any::Any;
use std::sync::Arc;
use types::{Batch, Datum, DatumRef, FnContext};

/// What is executed: a plan with its parameters.
#[derive(Clone)]
pub struct QueryDesc {
    pub plan: Arc<PlannedStmt>,
    /// Values of `$1` ….
    pub params: Arc<[Datum]>,
    pub snapshot: Arc<engine::Snapshot>,
}

/// An exec parameter.
#[derive(Clone, Default)]
pub(crate) enum ExecParam {
    #[default]
    Unset,
    Set(Datum),
    /// An init plan will set it when it is first asked for.
    Pending(usize),
}

/// State shared by all nodes of a running statement.
pub(crate) struct RunState {
    pub desc: QueryDesc,
    pub exec: Vec<ExecParam>,
    /// For each exec parameter, the number that its present value has been given; no two values of
    /// one have the same.
    pub versions: Vec<u64>,
    /// The last such number.
    pub version: u64,
    /// Debug builds: what is being computed to be kept, innermost last.
    pub watches: Vec<Watch>,
    /// Debug builds: the parameters that each plan node was started with, and whether it has been
    /// read since.
    pub started: HashMap<usize, (Sources, bool)>,
    /// Init plans seen so far.
    pub init_plans: Vec<SubPlan>,
    /// Running sub-plans by plan id - 1; taken out while they run.
    pub subs: Vec<Option<Box<SubState>>>,
    /// Rows of `WITH` queries by exec parameter.
    pub shared: HashMap<i32, Shared>,
    /// Working tables of recursive queries by exec parameter.
    pub work_tables: HashMap<i32, RowStore>,
    /// Figures for EXPLAIN ANALYZE.
    pub instruments: Option<Instruments>,
    /// Data-modifying `WITH` queries: (parameter, plan id).
    pub modifying: Vec<(i32, u32)>,
    /// Rows processed by the topmost ModifyTable.
    pub processed: u64,
    /// Open relations by range-table index.
    pub relations: HashMap<i32, Arc<OpenRel>>,
    /// While a changed row is rechecked: the one row that each scanned relation has. `None`: no row
    /// (the missing side of an outer join).
    pub epq: Option<HashMap<i32, Option<ids::Tid>>>,
    /// Rows that are changed must be visible to this snapshot too. Counterpart:
    /// `es_crosscheck_snapshot`.
    pub crosscheck: Option<Arc<engine::Snapshot>>,
    no_params: Arc<[Datum]>,
}

impl RunState {
    /// The value of `$id`, lent.
    pub(crate) fn extern_param(&self, id: i32) -> Option<&Datum> {
        usize::try_from(id - 1).ok().and_then(|i| self.desc.params.get(i))
    }

    /// Forgets what belongs to one run: see [`Execution::park`].
    fn clear(&mut self, no_snapshot: Arc<engine::Snapshot>) {
        self.desc.params = self.no_params.clone();
        self.desc.snapshot = no_snapshot;
        for (value, version) in self.exec.iter_mut().zip(&mut self.versions) {
            self.version += 1;
            (*value, *version) = (ExecParam::Unset, self.version);
        }
        for (place, plan) in self.init_plans.iter().enumerate() {
            for &id in &plan.set_param {
                self.exec[id as usize] = ExecParam::Pending(place);
            }
        }
        self.shared.clear();
        self.work_tables.clear();
        self.processed = 0;
        self.epq = None;
        self.crosscheck = None;
    }
}

/// Rows of a `WITH` query read so far, and whether there may be more.
pub(crate) struct Shared {
    pub rows: RowStore,
    pub done: bool,
}

/// A running statement and the services it uses, for the time of one call.
pub(crate) struct Run<'a> {
    pub sv: &'a mut dyn Services,
    pub st: &'a mut RunState,
}

/// A statement in execution. It may be left between calls and taken up again (portals).
pub struct Execution {
    root: Node,
    state: RunState,
    /// The plan's `bound` expressions, once they have been asked for.
    bound: Option<Vec<eval::Program>>,
    done: bool,
    /// No row has been asked for yet.
    fresh: bool,
    /// It may be run again.
    parked: bool,
}

impl Execution {
    /// Prepares the plan for running.
    pub fn start(desc: QueryDesc, sv: &mut dyn Services) -> Result<Execution> {
        Execution::start_with(desc, sv, None)
    }

    /// As [`Self::start`], with figures kept for each node; times only with `timing`.
    pub fn start_instrumented(
        desc: QueryDesc,
        sv: &mut dyn Services,
        timing: bool,
    ) -> Result<Execution> {
        let instruments = Instruments { timing, ..Instruments::default() };
        Execution::start_with(desc, sv, Some(instruments))
    }

    /// The figures of a node of the plan that is executed (of its tree or of a sub-plan); `None`
    /// where it never ran.
    pub fn stats(&self, plan: &plan::Plan) -> Option<NodeStats> {
        let all = self.state.instruments.as_ref()?;
        all.stats.get(&instrument::key_of(plan)).copied()
    }

    /// How a Sort node of the plan that is executed has sorted; `None` where it has not.
    pub fn sort_stats(&self, plan: &plan::Plan) -> Option<SortStats> {
        let all = self.state.instruments.as_ref()?;
        all.sorts.get(&instrument::key_of(plan)).copied()
    }

    /// The figures of a part of a bitmap scan.
    pub fn bitmap_stats(&self, node: &plan::node::BitmapNode) -> Option<NodeStats> {
        let all = self.state.instruments.as_ref()?;
        all.stats.get(&std::ptr::from_ref(node).addr()).copied()
    }

    fn start_with(
        desc: QueryDesc,
        sv: &mut dyn Services,
        instruments: Option<Instruments>,
    ) -> Result<Execution> {
        let plan = desc.plan.clone();
        sv.check_rights(&plan)?;
        let mut state = RunState {
            exec: vec![ExecParam::Unset; plan.param_exec_types.len()],
            versions: vec![0; plan.param_exec_types.len()],
            version: 0,
            watches: Vec::new(),
            started: HashMap::new(),
            instruments,
            modifying: Vec::new(),
            init_plans: Vec::new(),
            subs: (0..plan.subplans.len()).map(|_| None).collect(),
            shared: HashMap::new(),
            work_tables: HashMap::new(),
            processed: 0,
            relations: HashMap::new(),
            epq: None,
            crosscheck: None,
            no_params: Arc::from([]),
            desc,
        };
        let mut run = Run { sv, st: &mut state };
        let root = node::build(&plan.plan_tree, &mut run)?;
        Ok(Execution { root, state, bound: None, done: false, fresh: true, parked: false })
    }

    /// Computes what of the plan's expressions the parameters alone decide, for its errors: for
    /// whoever binds values to a plan made for any. To be called before the first row is asked for.
    pub fn check_values(&mut self, sv: &mut dyn Services) -> Result<()> {
        if self.state.desc.plan.bound.is_empty() {
            return Ok(());
        }
        let plan = self.state.desc.plan.clone();
        let run = &mut Run { sv, st: &mut self.state };
        if self.bound.is_none() {
            let programs = plan.bound.iter().map(|e| node::compile(e, &mut eval::NoColumns, run));
            self.bound = Some(programs.collect::<Result<_>>()?);
        }
        let mut memory = eval::EvalState::default();
        for program in self.bound.iter().flatten() {
            program.eval_row(&mut memory, run, &eval::RowInput::EMPTY)?;
        }
        Ok(())
    }

    /// The next rows, at most `max` (at least 1): the plan's whole target list, junk included.
    /// `None` at the end.
    pub fn next(&mut self, sv: &mut dyn Services, max: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        let mut run = Run { sv, st: &mut self.state };
        if std::mem::take(&mut self.fresh) {
            let plan = &run.st.desc.plan;
            if !plan.result_relations.is_empty() || !plan.row_marks.is_empty() {
                // What functions of this statement write belongs to later commands than its own
                // changes.
                run.sv.backend().txn.current_command(true);
            }
        }
        loop {
            run.sv.check_interrupts()?;
            let batch = self.root.next(&mut run, max.clamp(1, types::BATCH_ROWS_MAX))?;
            run.sv.check_compared_rows()?;
            match batch {
                Some(b) if b.len == 0 => {}
                Some(b) => return Ok(Some(b)),
                None => {
                    self.done = true;
                    finish_modifying(&mut run)?;
                    return Ok(None);
                }
            }
        }
    }

    /// Runs data-modifying `WITH` queries to their end, whether or not anybody reads them. Done at
    /// the end of the rows; a portal that is left earlier asks for it. Counterpart:
    /// ExecPostprocessPlan.
    pub fn finish(&mut self, sv: &mut dyn Services) -> Result<()> {
        self.done = true;
        finish_modifying(&mut Run { sv, st: &mut self.state })
    }

    /// Ends the run, which may have come to its end or not, and keeps what was built for another
    /// one: see [`Self::rerun`]. Rows, snapshot, parameters and running scans are let go; no pin,
    /// lock or snapshot is held from here on, only descriptors and compiled expressions.
    ///
    /// False, or an error: drop it. After an error of [`Self::next`] it is dropped without being
    /// parked.
    pub fn park(&mut self, sv: &mut dyn Services) -> Result<bool> {
        let mut run = Run { sv, st: &mut self.state };
        let reset = self.root.reset(&mut run)? && subplan::reset_all(&mut run)?;
        let nothing = sv.backend().no_snapshot();
        self.state.clear(nothing);
        self.parked = reset && self.state.instruments.is_none();
        Ok(self.parked)
    }

    /// Runs a parked execution again, with these parameters. It then stands as if
    /// [`Self::start`] had just made it from the same plan.
    ///
    /// The caller guarantees what holds for a plan that is run again: that the catalogs are as they
    /// were when it was started (by their generation, and this transaction has made no changes of
    /// its own), that the session, its role, and what settings went into planning are the same,
    /// that all relations of the plan are locked for the present transaction, and that privileges
    /// have been checked.
    pub fn rerun(&mut self, params: Arc<[Datum]>, snapshot: Arc<engine::Snapshot>) -> Result<()> {
        if !std::mem::replace(&mut self.parked, false) {
            return Err(PgError::internal("execution is not parked"));
        }
        self.state.desc.params = params;
        self.state.desc.snapshot = snapshot;
        self.done = false;
        self.fresh = true;
        Ok(())
    }

    /// A change to a row that this snapshot does not see is a serialization failure: for the
    /// actions of foreign keys under REPEATABLE READ, which look for rows under a newer snapshot
    /// than the transaction's. Holds until the end of the run.
    pub fn crosscheck(&mut self, snapshot: Arc<engine::Snapshot>) {
        self.state.crosscheck = Some(snapshot);
    }

    /// Takes back a batch that [`Self::next`] has returned, once its rows are used: its memory
    /// serves for the next rows.
    pub fn recycle(&mut self, batch: Batch) {
        self.root.recycle(batch);
    }

    /// The plan that is executed.
    pub fn plan(&self) -> &Arc<PlannedStmt> {
        &self.state.desc.plan
    }

    /// What the statement sees.
    pub fn snapshot(&self) -> &Arc<engine::Snapshot> {
        &self.state.desc.snapshot
    }

    /// Rows that INSERT, UPDATE or DELETE has processed.
    pub fn processed(&self) -> u64 {
        self.state.processed
    }
}

fn finish_modifying(run: &mut Run<'_>) -> Result<()> {
    for (param, plan_id) in run.st.modifying.clone() {
        while source::read_shared(run, param, plan_id)? {
            run.interrupts()?;
        }
    }
    Ok(())
}

impl Run<'_> {
    /// Registers the init plans of a node: their parameters are computed when first asked for.
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
            let place = self.st.init_plans.len();
            for &id in &s.set_param {
                self.st.exec[id as usize] = ExecParam::Pending(place);
            }
            self.st.init_plans.push((**s).clone());
        }
    }

    /// The table behind a range-table entry.
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

    /// Sets a parameter; what was computed from another value becomes stale.
    pub(crate) fn set_param(&mut self, id: i32, value: Datum) {
        if !matches!(&self.st.exec[id as usize], ExecParam::Set(old) if *old == value) {
            self.outdate(id);
        }
        self.st.exec[id as usize] = ExecParam::Set(value);
    }

    pub(crate) fn interrupts(&self) -> Result<()> {
        self.sv.check_interrupts()
    }
}

impl Host for Run<'_> {
    fn extern_param(&mut self, id: i32) -> Result<Datum> {
        self.st
            .extern_param(id)
            .cloned()
            .ok_or_else(|| pg_err!(UNDEFINED_OBJECT, "no value found for parameter {id}"))
    }

    fn exec_param(&mut self, id: i32) -> Result<Datum> {
        self.note_read(id)?;
        match &self.st.exec[id as usize] {
            ExecParam::Set(v) => Ok(v.clone()),
            ExecParam::Unset => Ok(Datum::Null),
            ExecParam::Pending(place) => {
                let place = *place;
                let plan = self.st.init_plans[place].clone();
                if let Err(e) = stdx::stack::deep(|| subplan::run_init_plan(self, &plan)) {
                    // Who asked for a batch's values asks again for one row's: that must fail as
                    // well.
                    for &id in &plan.set_param {
                        self.st.exec[id as usize] = ExecParam::Pending(place);
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

    fn call_host(
        &mut self,
        function: Oid,
        arg_types: &[Oid],
        args: &[DatumRef<'_>],
    ) -> Result<Datum> {
        self.sv.call_host(function, arg_types, args)
    }

    fn next_value(&mut self, sequence: Oid) -> Result<i64> {
        self.sv.next_value(sequence)
    }

    fn sql_value(&mut self, kind: SqlValueKind) -> Result<Datum> {
        self.sv.sql_value(kind)
    }
}

/// All of it is the session's.
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

    types::delegate_fn_context!(self, self.sv);
}
