//! Finds the table names in a raw parse tree, for dependencies between WITH queries. Counterpart:
//! `raw_expression_tree_walker`.

use parse::ast::{self, Node, SelectStmt};

/// Calls `f` for every unqualified table name in FROM, at any depth. WITH queries of inner levels
/// hide the names that they define.
pub fn each_table<'t>(
    node: &'t Node,
    hidden: &mut Vec<&'t str>,
    f: &mut dyn FnMut(&'t ast::RangeVar),
) {
    match node {
        Node::RangeVar(v) if v.schemaname.is_none() && !hidden.contains(&&*v.relname) => {
            f(v);
        }
        Node::SelectStmt(s) => select(s, hidden, f),
        Node::InsertStmt(s) => with(&s.with_clause, hidden, f, |h, f| {
            all_opt([&s.select_stmt], h, f);
            targets(&s.returning_list, h, f);
        }),
        Node::UpdateStmt(s) => with(&s.with_clause, hidden, f, |h, f| {
            targets(&s.target_list, h, f);
            all(&s.from_clause, h, f);
            all_opt([&s.where_clause], h, f);
            targets(&s.returning_list, h, f);
        }),
        Node::DeleteStmt(s) => with(&s.with_clause, hidden, f, |h, f| {
            all(&s.using_clause, h, f);
            all_opt([&s.where_clause], h, f);
            targets(&s.returning_list, h, f);
        }),
        Node::JoinExpr(j) => {
            each_table(&j.larg, hidden, f);
            each_table(&j.rarg, hidden, f);
            all_opt([&j.quals], hidden, f);
        }
        Node::RangeSubselect(r) => each_table(&r.subquery, hidden, f),
        Node::RangeFunction(r) => {
            for function in &r.functions {
                each_table(&function.func, hidden, f);
            }
        }
        Node::RangeTableSample(r) => each_table(&r.relation, hidden, f),
        Node::List(l) => all(l, hidden, f),
        Node::ResTarget(t) => all_opt([&t.val], hidden, f),
        Node::AExpr(e) => {
            all_opt([&e.lexpr], hidden, f);
            each_table(&e.rexpr, hidden, f);
        }
        Node::BoolExpr(e) => all(&e.args, hidden, f),
        Node::TypeCast(e) => each_table(&e.arg, hidden, f),
        Node::CollateClause(e) => all_opt([&e.arg], hidden, f),
        Node::FuncCall(e) => {
            all(&e.args, hidden, f);
            for item in &e.agg_order {
                each_table(&item.node, hidden, f);
            }
            all_opt([&e.agg_filter], hidden, f);
        }
        Node::NamedArgExpr(e) => each_table(&e.arg, hidden, f),
        Node::AIndirection(e) => each_table(&e.arg, hidden, f),
        Node::AArrayExpr(e) => all(&e.elements, hidden, f),
        Node::SubLink(e) => {
            all_opt([&e.testexpr], hidden, f);
            each_table(&e.subselect, hidden, f);
        }
        Node::NullTest(e) => each_table(&e.arg, hidden, f),
        Node::BooleanTest(e) => each_table(&e.arg, hidden, f),
        Node::CaseExpr(e) => {
            all_opt([&e.arg, &e.defresult], hidden, f);
            for when in &e.args {
                each_table(&when.expr, hidden, f);
                each_table(&when.result, hidden, f);
            }
        }
        Node::RowExpr(e) => all(&e.args, hidden, f),
        Node::CoalesceExpr(e) => all(&e.args, hidden, f),
        Node::MinMaxExpr(e) => all(&e.args, hidden, f),
        Node::MultiAssignRef(e) => each_table(&e.source, hidden, f),
        Node::GroupingSet(e) => all(&e.content, hidden, f),
        _ => {}
    }
}

type Visit<'t, 'f> = &'f mut dyn FnMut(&'t ast::RangeVar);

fn all<'t>(nodes: &'t [Node], hidden: &mut Vec<&'t str>, f: Visit<'t, '_>) {
    for node in nodes {
        each_table(node, hidden, f);
    }
}

fn all_opt<'t, const N: usize>(
    nodes: [&'t Option<Node>; N],
    hidden: &mut Vec<&'t str>,
    f: Visit<'t, '_>,
) {
    for node in nodes.into_iter().flatten() {
        each_table(node, hidden, f);
    }
}

fn targets<'t>(list: &'t [ast::ResTarget], hidden: &mut Vec<&'t str>, f: Visit<'t, '_>) {
    for target in list {
        all_opt([&target.val], hidden, f);
    }
}

fn with<'t>(
    clause: &'t Option<Box<ast::WithClause>>,
    hidden: &mut Vec<&'t str>,
    f: Visit<'t, '_>,
    rest: impl FnOnce(&mut Vec<&'t str>, Visit<'t, '_>),
) {
    let before = hidden.len();
    if let Some(clause) = clause {
        if clause.recursive {
            hidden.extend(clause.ctes.iter().map(|c| &*c.ctename));
        }
        for cte in &clause.ctes {
            each_table(&cte.ctequery, hidden, f);
            if !clause.recursive {
                hidden.push(&cte.ctename);
            }
        }
    }
    rest(hidden, f);
    hidden.truncate(before);
}

fn select<'t>(s: &'t SelectStmt, hidden: &mut Vec<&'t str>, f: Visit<'t, '_>) {
    with(&s.with_clause, hidden, f, |h, f| {
        if let (Some(l), Some(r)) = (&s.larg, &s.rarg) {
            select(l, h, f);
            select(r, h, f);
        }
        targets(&s.target_list, h, f);
        all(&s.from_clause, h, f);
        all_opt([&s.where_clause, &s.having_clause, &s.limit_offset, &s.limit_count], h, f);
        all(&s.group_clause, h, f);
        for list in &s.values_lists {
            all(list, h, f);
        }
        for item in &s.sort_clause {
            each_table(&item.node, h, f);
        }
        if let ast::DistinctClause::On(list) = &s.distinct_clause {
            all(list, h, f);
        }
    });
}
