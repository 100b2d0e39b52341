//! The entry points of the executor. Counterpart: execMain.c.

use crate::build::build;
use crate::instrument::{self, Instruments, NodeStats};
use crate::node::{self, Node};
use crate::run::{ExecParam, QueryDesc, Run, RunState};
use crate::{source, subplan};
use hashbrown::HashMap;
use pgerror::{PgError, Result};
use plan::node::PlannedStmt;
use plan::query::CmdType;
use rowops::services::Services;
use rowops::sorter::SortStats;
use statements::{Mark, Tally, Usage};
use std::sync::Arc;
use types::{Batch, Datum};

/// A statement in execution. It may be suspended between calls (portals).
pub struct Execution {
    root: Node,
    /// In a box, since executions are passed by value, parked and resumed for each run.
    state: Box<RunState>,
    /// The plan's `bound` expressions, compiled at first use.
    bound: Option<Vec<eval::Program>>,
    done: bool,
    /// No row has been read.
    fresh: bool,
    /// [`Execution::rerun`] may run it again.
    parked: bool,
}

impl Execution {
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

    /// Whether each child of an Append was built; `None` if all were.
    pub fn built_children(&self, plan: &plan::Plan) -> Option<&[bool]> {
        self.state.built.get(&instrument::key_of(plan)).map(Vec::as_slice)
    }

    /// The statistics of a node of a bitmap scan's index tree.
    pub fn bitmap_stats(&self, node: &plan::node::BitmapNode) -> Option<NodeStats> {
        let all = self.state.instruments.as_ref()?;
        all.stats.get(&std::ptr::from_ref(node).addr()).copied()
    }

    /// Checks the privileges and builds the node tree. With `instrument`, statistics are collected
    /// for each node, including times if its value is true. Only [`crate::spi`] calls this.
    /// Counterpart: `ExecutorStart`.
    pub(crate) fn start(
        desc: QueryDesc,
        sv: &mut dyn Services,
        instrument: Option<bool>,
    ) -> Result<Execution> {
        let instruments = instrument.map(|timing| Instruments { timing, ..Instruments::default() });
        let plan = desc.plan.clone();
        sv.check_privileges(&plan)?;
        let mut state = Box::new(RunState {
            exec: vec![ExecParam::Unset; plan.param_exec_types.len()],
            versions: vec![0; plan.param_exec_types.len()],
            version: 0,
            computations: Vec::new(),
            started: HashMap::new(),
            instruments,
            modifying: Vec::new(),
            init_plans: Vec::new(),
            subs: (0..plan.subplans.len()).map(|_| None).collect(),
            shared: HashMap::new(),
            work_tables: HashMap::new(),
            processed: 0,
            tally: Tally::default(),
            relations: HashMap::new(),
            epq: None,
            crosscheck: None,
            built: HashMap::new(),
            no_params: Arc::from([]),
            build,
            desc,
        });
        let mut run = Run { sv, st: &mut state };
        let root = build(&plan.plan_tree, &mut run)?;
        Ok(Execution { root, state, bound: None, done: false, fresh: true, parked: false })
    }

    /// Evaluates the expressions `PlannedStmt::bound`, so that their errors are raised. Called
    /// after values are bound to a generic plan, before the first row is read.
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
    #[inline]
    pub fn next(&mut self, sv: &mut dyn Services, max: usize) -> Result<Option<Batch>> {
        if self.done {
            return Ok(None);
        }
        if self.state.desc.plan.source.identity.is_some() {
            return self.next_measured(sv, max);
        }
        self.advance(sv, max)
    }

    /// As [`Self::next`], for a statement whose statistics may be collected.
    fn next_measured(&mut self, sv: &mut dyn Services, max: usize) -> Result<Option<Batch>> {
        if self.fresh {
            let plan = &self.state.desc.plan;
            self.state.tally = match (sv.statements(), &plan.source.identity) {
                (Some(statements), Some(identity)) => statements.begin(identity),
                _ => Tally::default(),
            };
        }
        if !self.state.tally.is_active() {
            return self.advance(sv, max);
        }
        let mark = Mark::new(usage(sv));
        let result = self.advance(sv, max);
        let tally = &mut self.state.tally;
        match &result {
            Ok(batch) => {
                tally.add(&mark, usage(sv));
                match self.state.desc.plan.command_type {
                    CmdType::Select => tally.add_rows(batch.as_ref().map_or(0, |b| b.len as u64)),
                    _ => tally.set_rows(self.state.processed),
                }
            }
            Err(_) => tally.discard(),
        }
        result
    }

    fn advance(&mut self, sv: &mut dyn Services, max: usize) -> Result<Option<Batch>> {
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
    /// parameters and running scans are released: afterwards the execution has no pin, lock or
    /// snapshot, only descriptors and compiled expressions.
    ///
    /// If the result is false or an error, the caller must drop the execution. After an error of
    /// [`Self::next`] it must be dropped without a call of this function.
    pub fn park(&mut self, sv: &mut dyn Services) -> Result<bool> {
        self.state.tally.record();
        let mut run = Run { sv, st: &mut self.state };
        let reset = self.root.reset(&mut run)? && subplan::reset_all(&mut run)?;
        let nothing = sv.backend().no_snapshot();
        self.state.clear(nothing);
        self.parked = reset && self.state.instruments.is_none();
        Ok(self.parked)
    }

    /// Prepares a parked execution for another run with these parameters. It is then in the same
    /// state as after a start with the same plan.
    ///
    /// The caller guarantees that the catalogs have not changed since the start (their generation
    /// is the same, and the current transaction has made no catalog changes), that the session, its
    /// role and the settings used in planning are the same, that the current transaction has locked
    /// all relations of the plan, and that privileges have been checked.
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

    /// Returns a batch of [`Self::next`], so that its memory is reused.
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

/// What the session has used since its start.
fn usage(sv: &mut dyn Services) -> Usage {
    let backend = sv.backend();
    Usage { buffers: backend.buffer_usage(), wal: backend.wal_usage() }
}

fn finish_modifying(run: &mut Run<'_>) -> Result<()> {
    // PostgreSQL runs them in the reverse order of the query.
    for (param, plan_id) in run.st.modifying.clone().into_iter().rev() {
        while source::read_shared(run, param, plan_id, types::BATCH_ROWS_MAX)? {
            run.interrupts()?;
        }
    }
    Ok(())
}
