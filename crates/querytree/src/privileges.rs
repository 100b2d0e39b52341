//! Collects the privileges that a statement needs. They are taken from the query before planning,
//! because parts that the planner removes must be checked as well. Counterpart: setrefs.c
//! (`add_rtes_to_flat_rtable`).

use crate::host::PlannerHost;
use ids::Oid;
use pgerror::Result;
use plan::expr::Expr;
use plan::node::{RelationPrivileges, RequiredPrivileges};
use plan::query::{Query, RangeTblEntry, RteKind};
use plan::walk;
use std::collections::BTreeSet;

/// The privileges that the query and its subqueries need, and whether they call a function that
/// describes how a value is stored (`stored`).
pub fn of_query(query: &Query, host: &mut dyn PlannerHost) -> Result<(RequiredPrivileges, bool)> {
    let mut privileges = RequiredPrivileges::default();
    let mut called = BTreeSet::new();
    visit(query, &mut privileges, &mut called);
    let stored_forms = called.iter().any(|&f| crate::stored::facet(f).is_some());
    for f in called {
        if host.function_is_restricted(f)? {
            privileges.functions.push(f);
        }
    }
    Ok((privileges, stored_forms))
}

fn visit(query: &Query, privileges: &mut RequiredPrivileges, called: &mut BTreeSet<Oid>) {
    stdx::stack::deep(|| visit_parts(query, privileges, called));
}

fn visit_parts(query: &Query, privileges: &mut RequiredPrivileges, called: &mut BTreeSet<Oid>) {
    for rte in &query.rtable {
        table(rte, privileges);
        if let RteKind::Subquery { subquery, .. } = &rte.kind {
            visit(subquery, privileges, called);
        }
    }
    for cte in &query.cte_list {
        visit(&cte.query, privileges, called);
    }
    walk::query_exprs(query, &mut |e| expression(e, privileges, called));
}

fn table(rte: &RangeTblEntry, privileges: &mut RequiredPrivileges) {
    let RteKind::Relation { relid, .. } = rte.kind else { return };
    if rte.required_perms == 0 {
        return;
    }
    privileges.relations.push(RelationPrivileges {
        relid,
        required: rte.required_perms,
        check_as_user: rte.check_as_user,
        selected_cols: rte.selected_cols.clone(),
        inserted_cols: rte.inserted_cols.clone(),
        updated_cols: rte.updated_cols.clone(),
    });
}

fn expression(e: &Expr, privileges: &mut RequiredPrivileges, called: &mut BTreeSet<Oid>) {
    let function = match e {
        Expr::FuncExpr(f) => f.funcid,
        Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => o.opfuncid,
        Expr::ScalarArrayOp(o) => o.opfuncid,
        Expr::Aggref(a) => a.aggfnoid,
        Expr::WindowFunc(w) => w.winfnoid,
        Expr::SubLink(s) => {
            visit(&s.subselect, privileges, called);
            Oid::INVALID
        }
        _ => Oid::INVALID,
    };
    if function.is_valid() {
        called.insert(function);
    }
    walk::each_child(e, &mut |c| expression(c, privileges, called));
}
