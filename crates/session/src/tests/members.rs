//! Changes of several tables by one ModifyTable node. No statement has such a plan before tables
//! can have members, so the tests combine the plans of two statements.

use super::shared::{Client, Fixture};
use crate::query::{plan_text, run_nested};
use executor::spi::{self, QuerySnapshot};
use ids::Oid;
use plan::PlannedStmt;
use plan::expr::{Expr, Location, TargetEntry, Var};
use plan::node::{ModifyTable, Plan, PlanInfo, PlanNode};
use std::sync::Arc;
use types::oids;

const TABLEOID: i16 = -6;

fn renumber(e: &mut Expr, varno: i32) {
    plan::walk::deep_expr_mut(e, 0, &mut |e, _| {
        if let Expr::Var(v) = e
            && v.varno > 0
        {
            v.varno = varno;
        }
        true
    });
}

fn column(varno: i32, varattno: i16, vartype: Oid) -> Expr {
    Expr::Var(Var {
        varno,
        varattno,
        vartype,
        vartypmod: -1,
        varcollid: Oid::INVALID,
        varlevelsup: 0,
        location: Location::UNKNOWN,
    })
}

/// The scan of a changed table with the column `tableoid`, as a scan of range-table entry `rti`.
fn member_scan(mut scan: Plan, rti: i32) -> Plan {
    let PlanNode::SeqScan { scanrelid } = &mut scan.node else {
        panic!("sequential scan expected")
    };
    *scanrelid = rti;
    let list = &mut scan.info.target_list;
    let resno = list.len() as i16 + 1;
    list.push(TargetEntry {
        expr: column(rti, TABLEOID, oids::OID),
        resno,
        resname: Some("tableoid".into()),
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: true,
    });
    let exprs = list.iter_mut().map(|t| &mut t.expr).chain(&mut scan.info.qual);
    exprs.for_each(|e| renumber(e, rti));
    scan
}

fn modify_table(plan: Plan) -> ModifyTable {
    let PlanNode::ModifyTable(m) = plan.node else { panic!("ModifyTable expected") };
    *m
}

/// One plan of two UPDATE or DELETE statements of the same form on two tables.
fn of_both(client: &mut Client, statements: [&str; 2]) -> PlannedStmt {
    let [mut both, other] = statements.map(|sql| {
        let mut plans = plan_text(&mut client.session.state, sql, &[]).unwrap();
        PlannedStmt::clone(&plans.remove(0))
    });
    both.rtable.extend(other.rtable);
    both.relation_oids.extend(other.relation_oids);
    both.result_relations = vec![1, 2];
    let info = both.plan_tree.info.clone();
    let (mut first, mut second) = (modify_table(both.plan_tree), modify_table(other.plan_tree));
    let children = vec![member_scan(first.child, 1), member_scan(second.child, 2)];
    let list = children[0].info.target_list.iter();
    let passed = list
        .map(|t| TargetEntry { expr: column(Var::OUTER, t.resno, t.expr.type_oid()), ..t.clone() });
    first.child = Plan {
        info: PlanInfo { target_list: passed.collect(), ..PlanInfo::default() },
        node: PlanNode::Append { children, relations: Vec::new(), pruning: None },
    };
    first.result_relations = vec![1, 2];
    first.update_colnos.append(&mut second.update_colnos);
    first.with_check_options.append(&mut second.with_check_options);
    let returning = second.returning_lists.iter_mut().flatten();
    returning.for_each(|t| renumber(&mut t.expr, 2));
    first.returning_lists.append(&mut second.returning_lists);
    PlannedStmt { plan_tree: Plan { info, node: PlanNode::ModifyTable(Box::new(first)) }, ..both }
}

/// Runs the plan; its rows, which are integers.
fn run(client: &mut Client, plan: PlannedStmt) -> Vec<Vec<i32>> {
    let query = spi::Query::new(Arc::new(plan), Arc::from([])).under(QuerySnapshot::NewCommand);
    let state = &mut client.session.state;
    let rows = run_nested(state, query).unwrap();
    state.cat().increment_command_counter().unwrap();
    rows.iter().map(|row| row.iter().map(|v| v.as_ref().as_i32()).collect()).collect()
}

fn two_tables() -> Fixture {
    let mut fixture = Fixture::new(true, 1);
    let client = &mut fixture.clients[0];
    client.query("BEGIN; SET enable_indexscan = off; SET enable_bitmapscan = off");
    client.query("CREATE TABLE one (k int, x int, CHECK (x < 100))");
    client.query("CREATE TABLE two (x int, t text, k int)");
    client.query("CREATE INDEX ON two (x)");
    client.query("INSERT INTO one SELECT g, g * 2 FROM generate_series(1, 4) g");
    client.query("INSERT INTO two SELECT g * 3, 't', g FROM generate_series(1, 4) g");
    fixture
}

fn both_tables(client: &mut Client) -> String {
    client.query(
        "SELECT (SELECT string_agg(k || '=' || x, ' ' ORDER BY k) FROM one) || ' | ' ||
                (SELECT string_agg(k || '=' || x || t, ' ' ORDER BY k) FROM two)",
    )
}

#[test]
fn an_update_changes_the_rows_of_each_relation() {
    let mut fixture = two_tables();
    let client = &mut fixture.clients[0];
    let statements = ["one", "two"]
        .map(|table| format!("UPDATE {table} SET x = x + 10 WHERE k > 2 RETURNING k, x"));
    let plan = of_both(client, [&statements[0], &statements[1]]);
    let mut rows = run(client, plan);
    rows.sort_unstable();
    assert_eq!(rows, [[3, 16], [3, 19], [4, 18], [4, 22]]);
    let rows = both_tables(client);
    assert!(rows.contains("1=2 2=4 3=16 4=18 | 1=3t 2=6t 3=19t 4=22t"), "{rows}");
    let found = client.query(
        "SET enable_seqscan = off; SET enable_indexscan = on; SELECT k FROM two WHERE x = 22",
    );
    assert!(found.contains('4'), "{found}");
}

#[test]
fn a_delete_removes_the_rows_of_each_relation() {
    let mut fixture = two_tables();
    let client = &mut fixture.clients[0];
    let plan = of_both(
        client,
        ["DELETE FROM one WHERE x = 6 RETURNING k", "DELETE FROM two WHERE x = 6 RETURNING k"],
    );
    let mut rows = run(client, plan);
    rows.sort_unstable();
    assert_eq!(rows, [[2], [3]]);
    let rows = both_tables(client);
    assert!(rows.contains("1=2 2=4 4=8 | 1=3t 3=9t 4=12t"), "{rows}");
}

#[test]
fn explain_names_each_relation() {
    let mut fixture = two_tables();
    let client = &mut fixture.clients[0];
    let plan = of_both(client, ["DELETE FROM one WHERE x = 6", "DELETE FROM two WHERE x = 6"]);
    let explain = |client: &mut Client, options: explain::Options| {
        let subject = explain::Subject {
            plan: Arc::new(plan.clone()),
            params: Arc::from([]),
            planning_us: 0,
            planning_buffers: Default::default(),
            into: None,
            sql: "",
        };
        let mut out = explain::Explanation::new(options);
        out.plan(&mut client.session, &subject).unwrap();
        out.rows()
    };
    let lines = explain(client, explain::Options::default());
    assert_eq!(
        lines[..4],
        ["Delete on one", "  Delete on one", "  Delete on two", "  ->  Append"],
        "{lines:?}"
    );
    let json = explain(
        client,
        explain::Options { format: explain::Format::Json, ..explain::Options::default() },
    );
    assert!(json[0].contains("\"Target Tables\": ["), "{json:?}");
}
