//! Runs a plan in all ways in which a statement may run it.

use super::plans::{Row, V, types_of};
use super::services::TestServices;
use super::source::cell;
use crate::build::build;
use crate::node::Node;
use crate::run::{ExecParam, QueryDesc, Run, RunState};
use pgerror::Result;
use plan::node::{Plan, PlannedStmt, RequiredPrivileges};
use plan::query::{CmdType, StatementSource};
use std::sync::Arc;
use types::{BATCH_ROWS_MAX, Datum};

/// Number of exec parameters; the first one is changed between scans.
const PARAMS: usize = 4;
/// A limit that is exceeded by a few rows.
const LITTLE_MEMORY: usize = 600;
const MUCH_MEMORY: usize = 4 << 20;

/// Whether the rows of a plan have a defined order.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Order {
    Defined,
    Any,
}

pub(super) struct Fixture {
    sv: TestServices,
}

fn statement(plan: Plan) -> PlannedStmt {
    PlannedStmt {
        command_type: CmdType::Select,
        has_returning: false,
        has_modifying_cte: false,
        can_set_tag: true,
        depends_on_role: false,
        transient: false,
        plan_tree: plan,
        rtable: Vec::new(),
        result_relations: Vec::new(),
        subplans: Vec::new(),
        rewind_plan_ids: Vec::new(),
        row_marks: Vec::new(),
        append_relations: Vec::new(),
        relation_oids: Vec::new(),
        inval_items: Vec::new(),
        privileges: RequiredPrivileges::default(),
        param_exec_types: vec![types::oids::INT4; PARAMS],
        calls_volatile: false,
        bound: Vec::new(),
        source: StatementSource::default(),
    }
}

fn state(plan: &Arc<PlannedStmt>, sv: &TestServices) -> RunState {
    let snapshot = sv.backend.no_snapshot();
    RunState {
        desc: QueryDesc { plan: plan.clone(), params: Arc::from([]), snapshot },
        exec: vec![ExecParam::Unset; PARAMS],
        versions: vec![0; PARAMS],
        version: 0,
        computations: Vec::new(),
        init_plans: Vec::new(),
        started: Default::default(),
        subs: Vec::new(),
        shared: Default::default(),
        work_tables: Default::default(),
        instruments: None,
        modifying: Vec::new(),
        processed: 0,
        tally: statements::Tally::default(),
        relations: Default::default(),
        epq: None,
        crosscheck: None,
        built: Default::default(),
        no_params: Arc::from([]),
        build,
    }
}

/// The rows of one scan.
fn scan(node: &mut Node, run: &mut Run<'_>, want: usize, plan: &Plan) -> Result<Vec<Row>> {
    let types = types_of(plan);
    let mut rows = Vec::new();
    while let Some(batch) = node.next(run, want)? {
        assert!(batch.columns.iter().all(|c| c.len() == batch.len), "columns of equal length");
        for r in 0..batch.len {
            rows.push(batch.row(r).zip(&types).map(|(v, t)| cell(v, *t)).collect());
        }
        node.recycle(batch);
    }
    Ok(rows)
}

fn arranged(mut rows: Vec<Row>, order: Order) -> Vec<Row> {
    if order == Order::Any {
        rows.sort();
    }
    rows
}

impl Fixture {
    pub(super) fn new() -> Fixture {
        Fixture { sv: TestServices::new() }
    }

    /// Compares the plan's rows with those of a model, whose argument is the value of the first
    /// exec parameter. Returns the number of temporary files that runs with little memory created.
    pub(super) fn check(
        &mut self,
        plan: Plan,
        order: Order,
        model: impl Fn(i32) -> Vec<Row>,
    ) -> u64 {
        let stmt = Arc::new(statement(plan));
        for want in [1, 3, BATCH_ROWS_MAX] {
            self.scans(&stmt, order, want, &model);
        }
        self.sv.backend.temp_space().take_totals();
        self.sv.memory = LITTLE_MEMORY;
        self.scans(&stmt, order, BATCH_ROWS_MAX, &model);
        let files = self.sv.backend.temp_space().take_totals().0;
        self.sv.memory = MUCH_MEMORY;
        self.cancelled_scans(&stmt, order, &model);
        files
    }

    fn scans(
        &mut self,
        stmt: &Arc<PlannedStmt>,
        order: Order,
        want: usize,
        model: &impl Fn(i32) -> Vec<Row>,
    ) {
        let plan = &stmt.plan_tree;
        let mut st = state(stmt, &self.sv);
        let mut run = Run { sv: &mut self.sv, st: &mut st };
        run.set_param(0, Datum::int4(1));
        let mut node = build(plan, &mut run).expect("a tree of nodes");
        let all = |node: &mut Node, run: &mut Run<'_>| {
            arranged(scan(node, run, want, plan).expect("a scan without errors"), order)
        };
        let expected = |p: i32| arranged(model(p), order);
        assert_eq!(all(&mut node, &mut run), expected(1), "first scan, {want} rows a call");
        assert!(node.next(&mut run, want).expect("the end").is_none(), "rows after the end");
        node.rescan(&mut run).expect("a rescan");
        assert_eq!(all(&mut node, &mut run), expected(1), "second scan");
        // A scan that ends before the last row.
        node.rescan(&mut run).expect("a rescan");
        node.next(&mut run, 2).expect("some rows");
        node.rescan(&mut run).expect("a rescan");
        assert_eq!(all(&mut node, &mut run), expected(1), "scan after a partial one");
        let parameters: &[i32] = if want < BATCH_ROWS_MAX { &[2] } else { &[2, 1, 5] };
        for &p in parameters {
            run.set_param(0, Datum::int4(p));
            node.rescan(&mut run).expect("a rescan");
            assert_eq!(all(&mut node, &mut run), expected(p), "scan with the parameter {p}");
        }
        // An execution that is parked and run again.
        if node.reset(&mut run).expect("a reset") {
            run.set_param(0, Datum::int4(3));
            assert_eq!(all(&mut node, &mut run), expected(3), "scan after a reset");
        }
    }

    /// Cancels the statement at each of the first checks for interrupts.
    fn cancelled_scans(
        &mut self,
        stmt: &Arc<PlannedStmt>,
        order: Order,
        model: &impl Fn(i32) -> Vec<Row>,
    ) {
        let plan = &stmt.plan_tree;
        for checks in [0, 1, 2, 9, 40] {
            let mut st = state(stmt, &self.sv);
            self.sv.cx.checks_left.set(None);
            let mut run = Run { sv: &mut self.sv, st: &mut st };
            run.set_param(0, Datum::int4(1));
            let mut node = build(plan, &mut run).expect("a tree of nodes");
            self.sv.cx.checks_left.set(Some(checks));
            let mut run = Run { sv: &mut self.sv, st: &mut st };
            match scan(&mut node, &mut run, BATCH_ROWS_MAX, plan) {
                Err(e) => assert_eq!(e.code().as_str(), "57014", "{}", e.message()),
                Ok(rows) => assert_eq!(arranged(rows, order), arranged(model(1), order)),
            }
            drop(node);
            self.sv.cx.checks_left.set(None);
        }
    }

    /// The error of a plan's first scan, and the rows that it returned before.
    pub(super) fn failure(&mut self, plan: Plan, want: usize) -> (Vec<Row>, String) {
        let stmt = Arc::new(statement(plan));
        let mut st = state(&stmt, &self.sv);
        let mut run = Run { sv: &mut self.sv, st: &mut st };
        run.set_param(0, Datum::int4(1));
        let mut node = build(&stmt.plan_tree, &mut run).expect("a tree of nodes");
        let types = types_of(&stmt.plan_tree);
        let mut rows = Vec::new();
        loop {
            match node.next(&mut run, want) {
                Ok(Some(batch)) => {
                    rows.extend((0..batch.len).map(|r| {
                        batch.row(r).zip(&types).map(|(v, t)| cell(v, *t)).collect::<Row>()
                    }))
                }
                Ok(None) => panic!("the scan does not fail"),
                Err(e) => return (rows, e.code().as_str().to_string()),
            }
        }
    }
}

/// Rows of an int4 with few values, a text, and the number of the row; some are NULL.
pub(super) fn some_rows(count: usize, seed: u64) -> Vec<Row> {
    let mut state = seed;
    let mut below = |n: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    (0..count)
        .map(|i| {
            let key = match below(8) {
                0 => V::Null,
                k => V::Int(k as i64 - 3),
            };
            let name = match below(6) {
                0 => V::Null,
                k => V::Text("abcdefgh"[..k as usize].to_string()),
            };
            vec![key, name, V::Int(i as i64)]
        })
        .collect()
}
