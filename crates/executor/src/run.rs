//! A running statement: its parameters, sub-plans and shared row sets, and the entry points of the
//! executor. Counterpart: execMain.c, execUtils.c (`EState`).

use crate::depend::{Sources, Watch};
use crate::instrument::{self, Instruments, NodeStats};
use crate::node::{self, Node};
use crate::relation::OpenRel;
use crate::services::Services;
use crate::sorter::SortStats;
use crate::source;
use crate::spill::RowStore;
use crate::subplan::{self, SubState};
use eval::{Host, HostCall};
use hashbrown::HashMap;
use ids::Oid;
use pgerror::{PgError, Result, pg_err};
use plan::expr::{SqlValueKind, SubPlan};
use plan::node::PlannedStmt;
use std::any::Any;
use std::sync::Arc;
use types::{Batch, Datum, FnContext};

/// A plan with its parameters and snapshot. Counterpart: execdesc.h.
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
    /// The init plan with this index sets it when it is first read.
    Pending(usize),
}

/// State shared by all nodes of a running statement.
pub(crate) struct RunState {
    pub desc: QueryDesc,
    pub exec: Vec<ExecParam>,
    /// For each exec parameter, the version number of its value; each change gets a new number.
    pub versions: Vec<u64>,
    /// The last version number given.
    pub version: u64,
    /// Debug builds: computations in progress whose results are kept, innermost last.
    pub watches: Vec<Watch>,
    /// Debug builds: for each plan node, its parameters' versions at the start of the scan, and
    /// whether it has been read since.
    pub started: HashMap<usize, (Sources, bool)>,
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
    /// Open relations by range-table index.
    pub relations: HashMap<i32, Arc<OpenRel>>,
    /// During an EvalPlanQual recheck: the only row of each scanned relation, by range-table index.
    /// `None`: no row (the null-extended side of an outer join).
    pub epq: Option<HashMap<i32, Option<ids::Tid>>>,
    /// Rows to be changed must also be visible to this snapshot. Counterpart:
    /// `es_crosscheck_snapshot`.
    pub crosscheck: Option<Arc<engine::Snapshot>>,
    no_params: Arc<[Datum]>,
}

impl RunState {
    /// The value of `$id`.
    pub(crate) fn extern_param(&self, id: i32) -> Option<&Datum> {
        usize::try_from(id - 1).ok().and_then(|i| self.desc.params.get(i))
    }

    /// Drops the state of one run: see [`Execution::park`].
    fn clear(&mut self, no_snapshot: Arc<engine::Snapshot>) {
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

/// Rows of a `WITH` query read so far, and whether they are complete.
pub(crate) struct Shared {
    pub rows: RowStore,
    pub done: bool,
}

/// A running statement and the session's services, for the duration of one call.
pub(crate) struct Run<'a> {
    pub sv: &'a mut dyn Services,
    pub st: &'a mut RunState,
}

/// A statement in execution. It may be suspended between calls (portals).
pub struct Execution {
    root: Node,
    state: RunState,
    /// The plan's `bound` expressions, compiled at first use.
    bound: Option<Vec<eval::Program>>,
    done: bool,
    /// No row has been read yet.
    fresh: bool,
    /// It may be run again by [`Execution::rerun`].
    parked: bool,
}

impl Execution {
    /// Checks the privileges and builds the node tree. Counterpart: `ExecutorStart`.
    pub fn start(desc: QueryDesc, sv: &mut dyn Services) -> Result<Execution> {
        Execution::start_with(desc, sv, None)
    }

    /// As [`Self::start`], with statistics for each node; times are measured only with `timing`.
    pub fn start_instrumented(
        desc: QueryDesc,
        sv: &mut dyn Services,
        timing: bool,
    ) -> Result<Execution> {
        let instruments = Instruments { timing, ..Instruments::default() };
        Execution::start_with(desc, sv, Some(instruments))
    }

    /// The statistics of a node of the executed plan or of its sub-plans; `None` if it never ran.
    pub fn stats(&self, plan: &plan::Plan) -> Option<NodeStats> {
        let all = self.state.instruments.as_ref()?;
        all.stats.get(&instrument::key_of(plan)).copied()
    }

    /// Method and size of a Sort node of the executed plan; `None` if it has not sorted.
    pub fn sort_stats(&self, plan: &plan::Plan) -> Option<SortStats> {
        let all = self.state.instruments.as_ref()?;
        all.sorts.get(&instrument::key_of(plan)).copied()
    }

    /// The statistics of a node of a bitmap scan's index tree.
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

    /// Evaluates the expressions `PlannedStmt::bound`, for their errors. Called after values are
    /// bound to a generic plan, before the first row is read.
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

    /// Returns the next rows, about `max` (at least 1), with all columns of the target list,
    /// including junk columns. `None` at the end. Counterpart: `ExecutorRun`.
    pub fn next(&mut self, sv: &mut dyn Services, max: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        let mut run = Run { sv, st: &mut self.state };
        if std::mem::take(&mut self.fresh) {
            let plan = &run.st.desc.plan;
            if !plan.result_relations.is_empty() || !plan.row_marks.is_empty() {
                // Marks the command id as used, so that functions called by the statement write
                // under later command ids than the statement itself.
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

    /// Runs data-modifying `WITH` queries to completion, even if their rows are not read.
    /// [`Self::next`] does this at the end of the rows; the caller does it for a portal that is
    /// closed earlier. Counterpart: `ExecPostprocessPlan`.
    pub fn finish(&mut self, sv: &mut dyn Services) -> Result<()> {
        self.done = true;
        finish_modifying(&mut Run { sv, st: &mut self.state })
    }

    /// Ends the run, complete or not, and keeps the node tree for [`Self::rerun`]. Rows, snapshot,
    /// parameters and running scans are released: afterwards no pin, lock or snapshot is held, only
    /// descriptors and compiled expressions.
    ///
    /// After false or an error, the caller must drop the execution. After an error of
    /// [`Self::next`] it must be dropped without calling this function.
    pub fn park(&mut self, sv: &mut dyn Services) -> Result<bool> {
        let mut run = Run { sv, st: &mut self.state };
        let reset = self.root.reset(&mut run)? && subplan::reset_all(&mut run)?;
        let nothing = sv.backend().no_snapshot();
        self.state.clear(nothing);
        self.parked = reset && self.state.instruments.is_none();
        Ok(self.parked)
    }

    /// Prepares a parked execution for another run with these parameters. It is then in the same
    /// state as after [`Self::start`] with the same plan.
    ///
    /// The caller guarantees that the catalogs have not changed since the start (their generation
    /// is the same, and the present transaction has made no catalog changes), that the session, its
    /// role and the settings used in planning are the same, that all relations of the plan are
    /// locked by the present transaction, and that privileges have been checked.
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

    /// Sets the crosscheck snapshot until the end of the run: changing a row that is not visible to
    /// it is a serialization failure. Used for foreign-key actions under REPEATABLE READ, which
    /// search rows with a newer snapshot than the transaction's.
    pub fn crosscheck(&mut self, snapshot: Arc<engine::Snapshot>) {
        self.state.crosscheck = Some(snapshot);
    }

    /// Gives back a batch that [`Self::next`] returned, to reuse its memory.
    pub fn recycle(&mut self, batch: Batch) {
        self.root.recycle(batch);
    }

    /// The executed plan.
    pub fn plan(&self) -> &Arc<PlannedStmt> {
        &self.state.desc.plan
    }

    /// The statement's snapshot.
    pub fn snapshot(&self) -> &Arc<engine::Snapshot> {
        &self.state.desc.snapshot
    }

    /// Number of rows processed by the topmost INSERT, UPDATE or DELETE.
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
    /// Registers the init plans of a node; each runs when one of its parameters is first read.
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

    /// Sets a parameter. If the value differs, data computed from the old value becomes stale.
    pub(crate) fn set_param(&mut self, id: i32, value: Datum) {
        if !matches!(&self.st.exec[id as usize], ExecParam::Set(old) if *old == value) {
            self.invalidate(id);
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
            ExecParam::Pending(index) => {
                let index = *index;
                let plan = self.st.init_plans[index].clone();
                if let Err(e) = stdx::stack::deep(|| subplan::run_init_plan(self, &plan)) {
                    // After a failed batch evaluation the caller evaluates row by row, which must
                    // fail as well.
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

    types::delegate_fn_context!(self, self.sv);
}
