//! Pull-up: merges subqueries and views into the parent query, and turns sub-selects in WHERE into
//! semi and anti joins. Counterpart: prepjointree.c, subselect.c (convert_ANY_sublink_to_join,
//! convert_EXISTS_sublink_to_join).

use crate::host::PlannerHost;
use crate::relids::Relids;
use crate::values::pull_up_values;
use crate::vars::node_relids;
use crate::vars::{
    conjunction, conjuncts, contains_sublinks, make_var, offset_query, relids_of, replace_rte_vars,
    substitute,
};
use eval::Volatility;
use pgerror::Result;
use plan::expr::{
    BoolExpr, BoolOp, CoercionForm, Expr, Param, ParamKind, RowExpr, SubLink, SubLinkKind,
    TargetEntry, Var,
};
use plan::levels::{shift_levels_expr, shift_levels_query};
use plan::query::{
    Alias, CmdType, FromExpr, JoinExpr, JoinTreeNode, JoinType, Query, RangeTblEntry, RteKind,
};
use plan::walk;
use std::collections::HashMap;
use stdx::Nested;
use stdx::stack::deep;

/// True if the expression is volatile, or if that cannot be determined.
fn is_volatile(e: &Expr, host: &mut dyn PlannerHost) -> bool {
    !matches!(eval::volatility(e, host), Ok(Volatility::Immutable | Volatility::Stable))
}

/// Turns top-level EXISTS and IN conditions of the level's WHERE into semi and anti joins.
pub fn pull_up_sublinks(query: &mut Query, host: &mut dyn PlannerHost) {
    pull_up_sublinks_within(query, Reach::Any, host);
}

/// The levels that a sub-select may refer to so that it becomes a join.
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    Any,
    /// Only the level of the condition: that level is about to become a join itself, and only its
    /// WHERE may refer to other levels.
    OneLevel,
}

fn pull_up_sublinks_within(query: &mut Query, reach: Reach, host: &mut dyn PlannerHost) {
    let Some(quals) = query.jointree.quals.take() else { return };
    let mut parts = Vec::new();
    conjuncts(quals, &mut parts);
    let mut rest = Vec::new();
    for part in parts {
        let join = match part {
            Expr::SubLink(s) => convert(query, *s, false, reach, host),
            Expr::Bool(b) if b.boolop == BoolOp::Not && is_exists(&b.args) => {
                let location = b.location;
                match b.args.into_iter().next() {
                    Some(Expr::SubLink(s)) => convert(query, *s, true, reach, host).map_err(|e| {
                        Expr::Bool(Box::new(BoolExpr {
                            boolop: BoolOp::Not,
                            args: vec![e],
                            location,
                        }))
                    }),
                    _ => continue,
                }
            }
            other => Err(other),
        };
        match join {
            Ok((jointype, rarg, quals)) => {
                let fromlist = std::mem::take(&mut query.jointree.fromlist);
                let larg = match <[JoinTreeNode; 1]>::try_from(fromlist) {
                    Ok([single]) => single,
                    Err(fromlist) => {
                        JoinTreeNode::From(Box::new(FromExpr { fromlist, quals: None }))
                    }
                };
                query.jointree.fromlist = vec![JoinTreeNode::Join(Box::new(JoinExpr {
                    jointype,
                    is_natural: false,
                    larg,
                    rarg,
                    using_clause: Vec::new(),
                    join_using_alias: None,
                    quals,
                    alias: None,
                    rtindex: 0,
                }))];
            }
            Err(expr) => rest.push(expr),
        }
    }
    query.jointree.quals = conjunction(rest);
}

fn is_exists(args: &[Expr]) -> bool {
    matches!(args, [Expr::SubLink(s)] if s.kind == SubLinkKind::Exists)
}

type Converted = (JoinType, JoinTreeNode, Option<Expr>);

/// Converts a sublink to a join; returns the sublink if that is impossible.
fn convert(
    query: &mut Query,
    s: SubLink,
    negated: bool,
    reach: Reach,
    host: &mut dyn PlannerHost,
) -> Result<Converted, Expr> {
    // A FROM-less query has no rows to join to.
    if query.jointree.fromlist.is_empty() {
        return Err(Expr::SubLink(Box::new(s)));
    }
    match s.kind {
        SubLinkKind::Exists => deep(|| convert_exists(query, s, negated, reach, host)),
        SubLinkKind::Any if !negated => convert_any(query, s, host),
        _ => Err(Expr::SubLink(Box::new(s))),
    }
}

fn convert_any(
    query: &mut Query,
    s: SubLink,
    host: &mut dyn PlannerHost,
) -> Result<Converted, Expr> {
    let usable = !refers_up(&s.subselect)
        && s.testexpr.as_ref().is_some_and(|t| {
            !relids_of(t).is_empty()
                && !contains_sublinks(t)
                && !has_upper_vars(t)
                && !is_volatile(t, host)
        });
    let (true, Some(mut test)) = (usable, s.testexpr.clone()) else {
        return Err(Expr::SubLink(Box::new(s)));
    };
    let rti = query.rtable.len() as i32 + 1;
    let columns: Vec<Expr> = s
        .subselect
        .target_list
        .iter()
        .filter(|t| !t.resjunk)
        .map(|t| make_var(rti, t.resno, t.expr.type_oid(), t.expr.typmod(), t.expr.collation()))
        .collect();
    substitute(&mut test, &mut |e| match e {
        Expr::Param(p) if p.paramkind == ParamKind::Sublink => {
            columns.get(p.paramid as usize - 1).cloned()
        }
        _ => None,
    });
    query.rtable.push(subquery_rte("ANY_subquery", s.subselect.into_inner()));
    Ok((JoinType::Semi, JoinTreeNode::Rtr(rti), Some(test)))
}

/// Removes a LIMIT that keeps at least one row, which is all that EXISTS needs. Counterpart:
/// `simplify_EXISTS_query`.
pub fn drop_unneeded_limit(query: &mut Query, host: &mut dyn PlannerHost) {
    if query.limit_offset.is_some() {
        return;
    }
    let Some(count) = query.limit_count.clone() else { return };
    if let Ok(Expr::Const(c)) = host.fold_query(count, &|_| false)
        && (c.is_null() || c.value.as_ref().as_i64() > 0)
    {
        query.limit_count = None;
    }
}

fn convert_exists(
    query: &mut Query,
    mut s: SubLink,
    negated: bool,
    reach: Reach,
    host: &mut dyn PlannerHost,
) -> Result<Converted, Expr> {
    drop_unneeded_limit(&mut s.subselect, host);
    let sub = &s.subselect;
    let simple = sub.command_type == CmdType::Select
        && sub.set_operations.is_none()
        && !sub.has_aggs
        && !sub.has_window_funcs
        && !sub.has_target_srfs
        && sub.grouping_sets.is_empty()
        && sub.having_qual.is_none()
        && sub.limit_offset.is_none()
        && sub.limit_count.is_none()
        && sub.row_marks.is_empty()
        && sub.cte_list.is_empty()
        && !sub.jointree.fromlist.is_empty();
    if !simple {
        return Err(Expr::SubLink(Box::new(s)));
    }
    // There is a group if and only if there is a row.
    s.subselect.group_clause.clear();
    pull_up_sublinks_within(&mut s.subselect, Reach::OneLevel, host);
    // If a FROM item or an ON clause refers to the outer level, it remains a sub-select: only WHERE
    // may do so.
    let mut probe = (*s.subselect).clone();
    probe.target_list.clear();
    let where_clause = probe.jointree.quals.take();
    let (mut correlated, mut reaches_far) = (false, false);
    if let Some(w) = &where_clause {
        walk::deep_expr(w, 0, &mut |e, level| {
            if let Expr::Var(v) = e {
                correlated |= v.varlevelsup == level + 1;
                reaches_far |= v.varlevelsup > level + 1;
            }
            true
        });
    }
    // A join could evaluate volatile conditions a different number of times.
    let volatile = where_clause.as_ref().is_some_and(|w| is_volatile(w, host));
    let too_far = reaches_far && reach == Reach::OneLevel;
    if refers_up(&probe) || !correlated || too_far || volatile {
        return Err(Expr::SubLink(Box::new(s)));
    }
    s.subselect.target_list.clear();
    s.subselect.sort_clause.clear();
    s.subselect.distinct_clause.clear();
    let mut sub = s.subselect.into_inner();
    let offset = query.rtable.len() as i32;
    offset_query(&mut sub, offset);
    shift_levels_query(&mut sub, -1, 1);
    query.rtable.append(&mut sub.rtable);
    let quals = sub.jointree.quals.take();
    let jointype = if negated { JoinType::Anti } else { JoinType::Semi };
    Ok((jointype, JoinTreeNode::From(Box::new(sub.jointree)), quals))
}

/// `UPDATE … SET (a, b) = (SELECT …)`: moves the sub-select into the first target column that uses
/// it, and reorders its columns by use. It then runs once per row, returns its first column and
/// stores the others in parameters.
pub fn move_multi_assignments(targets: &mut Vec<TargetEntry>) {
    let mut sources: Vec<SubLink> = Vec::new();
    targets.retain(|t| match &t.expr {
        Expr::SubLink(s) if s.kind == SubLinkKind::MultiExpr => {
            sources.push((**s).clone());
            false
        }
        _ => true,
    });
    if sources.is_empty() {
        return;
    }
    targets.sort_by_key(|t| t.resno);
    for mut source in sources {
        // The columns in the order of their use.
        let mut positions: Vec<i16> = Vec::new();
        for t in targets.iter_mut() {
            substitute(&mut t.expr, &mut |e| match e {
                Expr::Param(p) if multi_column(p).is_some_and(|(id, _)| id == source.id) => {
                    let (_, column) = multi_column(p)?;
                    positions.push(column);
                    let position = positions.len() as i32;
                    Some(Expr::Param(Param { paramid: source.id << 16 | position, ..p.clone() }))
                }
                _ => None,
            });
        }
        let list = &mut source.subselect.target_list;
        for t in list.iter_mut().filter(|t| !t.resjunk) {
            if let Some(position) = positions.iter().position(|c| *c == t.resno) {
                t.resno = position as i16 + 1;
            }
        }
        list.sort_by_key(|t| (t.resjunk, t.resno));
        let first = source.id << 16 | 1;
        let mut link = Some(Expr::SubLink(Box::new(source)));
        for t in targets.iter_mut() {
            substitute(&mut t.expr, &mut |e| match e {
                Expr::Param(p) if p.paramkind == ParamKind::MultiExpr && p.paramid == first => {
                    link.take()
                }
                _ => None,
            });
        }
    }
}

/// Number of the sub-select and of its column, if the parameter is a multi-assignment's.
pub fn multi_column(p: &Param) -> Option<(i32, i16)> {
    (p.paramkind == ParamKind::MultiExpr).then_some((p.paramid >> 16, (p.paramid & 0xffff) as i16))
}

pub(crate) fn subquery_rte(name: &str, subquery: Query) -> RangeTblEntry {
    let colnames =
        subquery.target_list.iter().map(|t| t.resname.clone().unwrap_or_default()).collect();
    let alias = Alias { aliasname: name.to_string(), colnames };
    RangeTblEntry {
        kind: RteKind::Subquery {
            subquery: Nested::new(subquery),
            security_barrier: false,
            relid: ids::Oid::INVALID,
        },
        alias: Some(alias.clone()),
        eref: alias,
        lateral: false,
        inh: false,
        in_from_cl: true,
        required_perms: 0,
        check_as_user: ids::Oid::INVALID,
        selected_cols: Vec::new(),
        inserted_cols: Vec::new(),
        updated_cols: Vec::new(),
        security_quals: Vec::new(),
    }
}

/// True if the expression, or a sub-select in it, uses columns of an outer level.
pub(crate) fn has_upper_vars(expr: &Expr) -> bool {
    let mut found = false;
    walk::deep_expr_mut(&mut expr.clone(), 0, &mut |e, level| {
        found |= matches!(e, Expr::Var(v) if v.varlevelsup > level);
        !found
    });
    found
}

/// True if anything in the query refers to an outer level.
pub fn refers_up(query: &Query) -> bool {
    let mut found = false;
    walk::deep_query(query, 0, &mut |e, level| {
        found |= match e {
            Expr::Var(v) => v.varlevelsup > level,
            Expr::Aggref(a) => a.agglevelsup > level,
            Expr::GroupingFunc(g) => g.agglevelsup > level,
            _ => false,
        };
        !found
    });
    found
}

/// The expressions of LATERAL entries in FROM that may refer to other entries of the level.
pub fn lateral_exprs(query: &Query) -> Vec<Expr> {
    let mut used = Vec::new();
    for rte in &query.rtable {
        match &rte.kind {
            RteKind::Function { functions, .. } => {
                used.extend(functions.iter().map(|f| f.funcexpr.clone()));
            }
            RteKind::Values { values_lists, .. } => {
                used.extend(values_lists.iter().flatten().cloned());
            }
            RteKind::Subquery { subquery, .. } if rte.lateral => {
                walk::deep_query(subquery, 0, &mut |e, level| {
                    if let Expr::Var(v) = e
                        && v.varlevelsup == level + 1
                    {
                        let mut var = v.clone();
                        var.varlevelsup = 0;
                        used.push(Expr::Var(var));
                    }
                    true
                });
            }
            _ => {}
        }
    }
    used
}

/// Merges simple subqueries in FROM into the query.
pub fn pull_up_subqueries(query: &mut Query, host: &mut dyn PlannerHost) -> Result<()> {
    pull_up_values(query, host);
    // Computed before parts are detached from the tree.
    let mut whole_rows = whole_rows(query);
    let mut from = std::mem::take(&mut query.jointree);
    // Computed columns below the nullable side of an outer join are not pulled up, because they
    // must become NULL with the rest of the row.
    let mut fromlist = std::mem::take(&mut from.fromlist);
    query.jointree = from;
    for node in &mut fromlist {
        let top = Context { position: Position::Inner, fixed: None };
        let mut pending = Pending { targets: HashMap::new(), whole_rows };
        pull_up_node(query, node, top, &mut pending, host)?;
        whole_rows = pending.whole_rows;
    }
    query.jointree.fromlist.extend(fromlist);
    drop_empty(&mut query.jointree);
    Ok(())
}

/// Position of a node in the join tree relative to outer joins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Below inner joins only.
    Inner,
    /// Below another join, on a side that is not null-extended.
    Preserved,
    /// Below the nullable side of an outer join.
    Nullable,
}

/// As [`Position`], with the relations of the lowest enclosing join that is not an inner join: its
/// conditions cannot refer to others.
#[derive(Clone, Copy)]
struct Context<'r> {
    position: Position,
    fixed: Option<&'r Relids>,
}

/// The relations of the parent level that the subquery's columns and conditions use.
fn used_above(sub: &Query) -> Relids {
    let mut out = Relids::new();
    let mut see = |e: &mut Expr| {
        walk::deep_expr_mut(e, 0, &mut |e, level| {
            if let Expr::Var(v) = e
                && v.varlevelsup == level + 1
            {
                out.insert(v.varno);
            }
            true
        });
    };
    sub.target_list.iter().for_each(|t| see(&mut t.expr.clone()));
    walk::jointree_exprs_mut(&mut sub.jointree.clone(), &mut see);
    out
}

/// Removes items without relations, which are subqueries without FROM that were pulled up, and
/// moves their conditions to the parent. Counterpart: `remove_useless_result_rtes`.
fn drop_empty(from: &mut FromExpr) {
    let mut quals: Vec<Expr> = from.quals.take().into_iter().collect();
    for node in std::mem::take(&mut from.fromlist) {
        match without_empty(node) {
            JoinTreeNode::From(f) if f.fromlist.is_empty() => quals.extend(f.quals),
            other => from.fromlist.push(other),
        }
    }
    from.quals = conjunction(quals);
}

fn without_empty(mut node: JoinTreeNode) -> JoinTreeNode {
    match &mut node {
        JoinTreeNode::Rtr(_) => return node,
        JoinTreeNode::From(f) => {
            deep(|| drop_empty(f));
            return node;
        }
        JoinTreeNode::Join(_) => {}
    }
    let JoinTreeNode::Join(mut j) = node else { return node };
    for side in [&mut j.larg, &mut j.rarg] {
        let node = std::mem::replace(side, JoinTreeNode::Rtr(0));
        *side = deep(|| without_empty(node));
    }
    let empty = |n: &JoinTreeNode| matches!(n, JoinTreeNode::From(f) if f.fromlist.is_empty());
    if j.jointype != JoinType::Inner || !(empty(&j.larg) || empty(&j.rarg)) {
        return JoinTreeNode::Join(j);
    }
    let mut from = FromExpr { fromlist: vec![j.larg, j.rarg], quals: j.quals };
    drop_empty(&mut from);
    JoinTreeNode::From(Box::new(from))
}

/// State of the pull-up while parts of the join tree are detached from the query.
struct Pending {
    /// Target lists of pulled-up subqueries, by range-table entry, to substitute in the detached
    /// part of the tree.
    targets: HashMap<i32, Vec<TargetEntry>>,
    /// Range-table entries with a whole-row reference.
    whole_rows: Relids,
}

fn pull_up_node(
    query: &mut Query,
    node: &mut JoinTreeNode,
    context: Context<'_>,
    pending: &mut Pending,
    host: &mut dyn PlannerHost,
) -> Result<()> {
    host.check_interrupts()?;
    match node {
        JoinTreeNode::Rtr(rti) => {
            let rti = *rti;
            return deep(|| pull_up_entry(query, node, rti, context, pending, host));
        }
        JoinTreeNode::From(f) => {
            let mut list = std::mem::take(&mut f.fromlist);
            for n in &mut list {
                pull_up_node(query, n, context, pending, host)?;
            }
            f.fromlist = list;
        }
        JoinTreeNode::Join(j) => {
            let position = context.position;
            let kept = if position == Position::Inner { Position::Preserved } else { position };
            let (left, right) = match j.jointype {
                JoinType::Inner => (position, position),
                JoinType::Semi | JoinType::Anti => (kept, kept),
                JoinType::Left => (kept, Position::Nullable),
                JoinType::Right => (Position::Nullable, kept),
                JoinType::Full => (Position::Nullable, Position::Nullable),
            };
            let own = |j: &JoinExpr| -> Option<Relids> {
                let both = || node_relids(&j.larg).union(&node_relids(&j.rarg));
                (j.jointype != JoinType::Inner).then(both)
            };
            let relids = own(j);
            let left = Context { position: left, fixed: relids.as_ref().or(context.fixed) };
            deep(|| pull_up_node(query, &mut j.larg, left, pending, host))?;
            // Subqueries pulled up on the left have been replaced by other entries.
            let relids = own(j);
            let right = Context { position: right, fixed: relids.as_ref().or(context.fixed) };
            deep(|| pull_up_node(query, &mut j.rarg, right, pending, host))?;
        }
    }
    apply_pending(node, pending);
    Ok(())
}

/// As [`pull_up_node`], for one entry of the range table.
fn pull_up_entry(
    query: &mut Query,
    node: &mut JoinTreeNode,
    rti: i32,
    context: Context<'_>,
    pending: &mut Pending,
    host: &mut dyn PlannerHost,
) -> Result<()> {
    // The whole row of a null-extended entry must be NULL, not a row of NULLs.
    let whole = context.position == Position::Nullable && pending.whole_rows.contains(&rti);
    if !is_plain(query, rti, context.position) {
        return Ok(());
    }
    if whole || !may_move_columns(query, rti, context.position, host) {
        return simplified_typmods(query, rti, host);
    }
    let rte = &mut query.rtable[rti as usize - 1];
    let RteKind::Subquery { subquery, .. } = &mut rte.kind else { return Ok(()) };
    let mut sub = std::mem::take(&mut **subquery);
    // The entry stays in the range table without its query, because the numbers of the other
    // entries must not change.
    let lateral = rte.lateral;
    pull_up_sublinks(&mut sub, host);
    if context.position == Position::Inner {
        pull_up_values(&mut sub, host);
    }
    let reaches_out = |fixed: &Relids| !used_above(&sub).is_subset(fixed);
    if lateral && (from_reaches_up(&sub.jointree, false) || context.fixed.is_some_and(reaches_out))
    {
        **subquery = sub;
        return Ok(());
    }
    let offset = query.rtable.len() as i32;
    offset_query(&mut sub, offset);
    shift_levels_query(&mut sub, -1, 1);
    pending.whole_rows.add(&whole_rows(&sub));
    if lateral {
        sub.rtable.iter_mut().for_each(|r| {
            if !matches!(r.kind, RteKind::Relation { .. } | RteKind::Join { .. }) {
                r.lateral = true;
            }
        });
    }
    query.rtable.append(&mut sub.rtable);
    query.has_sub_links |= sub.has_sub_links;
    let mut targets = std::mem::take(&mut sub.target_list);
    // Whole-row values have the column names of the parent query's alias.
    let names = &query.rte(rti).eref.colnames;
    for (t, name) in targets.iter_mut().filter(|t| !t.resjunk).zip(names) {
        t.resname = Some(name.clone());
    }
    replace_rte_vars(query, rti, &|v| target_of(&targets, v));
    pending.targets.insert(rti, targets);
    *node = JoinTreeNode::From(Box::new(sub.jointree));
    // Earlier substitutions apply to the pulled-up part, too (LATERAL), and it may contain further
    // subqueries.
    apply_pending(node, pending);
    pull_up_node(query, node, context, pending, host)?;
    apply_pending(node, pending);
    Ok(())
}
/// Applies substitutions to the conditions in a detached part of the join tree.
fn apply_pending(node: &mut JoinTreeNode, pending: &Pending) {
    if pending.targets.is_empty() {
        return;
    }
    let mut holder = FromExpr { fromlist: Vec::new(), quals: None };
    let inner = std::mem::replace(node, JoinTreeNode::Rtr(0));
    holder.fromlist.push(inner);
    walk::jointree_exprs_mut(&mut holder, &mut |e| {
        walk::deep_expr_mut(e, 0, &mut |e, level| {
            // A replacement may be a column of a subquery that was pulled up later.
            while let Expr::Var(v) = e
                && v.varlevelsup == level
                && let Some(targets) = pending.targets.get(&v.varno)
                && let Some(mut new) = target_of(targets, v)
            {
                if level > 0 {
                    shift_levels_expr(&mut new, level as i32, 0);
                }
                *e = new;
            }
            true
        });
    });
    if let Some(n) = holder.fromlist.pop() {
        *node = n;
    }
}

fn target_of(targets: &[TargetEntry], v: &Var) -> Option<Expr> {
    if v.varattno > 0 {
        let t = targets.iter().find(|t| t.resno == v.varattno && !t.resjunk)?;
        return Some(t.expr.clone());
    }
    if v.varattno == 0 {
        let cols: Vec<&TargetEntry> = targets.iter().filter(|t| !t.resjunk).collect();
        return Some(Expr::Row(Box::new(RowExpr {
            args: cols.iter().map(|t| t.expr.clone()).collect(),
            row_typeid: v.vartype,
            row_format: CoercionForm::ImplicitCast,
            colnames: cols.iter().map(|t| t.resname.clone().unwrap_or_default()).collect(),
            location: v.location,
        })));
    }
    None
}

/// True if a join that is not an inner join, or anything below it, has a condition with references
/// to the parent level. After a pull-up that join would lack the inputs for it.
fn from_reaches_up(from: &FromExpr, fixed: bool) -> bool {
    fixed && from.quals.as_ref().is_some_and(has_upper_vars)
        || from.fromlist.iter().any(|n| node_reaches_up(n, fixed))
}

fn node_reaches_up(node: &JoinTreeNode, fixed: bool) -> bool {
    match node {
        JoinTreeNode::Rtr(_) => false,
        JoinTreeNode::From(f) => from_reaches_up(f, fixed),
        JoinTreeNode::Join(j) => {
            let fixed = fixed || j.jointype != JoinType::Inner;
            fixed && j.quals.as_ref().is_some_and(has_upper_vars)
                || node_reaches_up(&j.larg, fixed)
                || node_reaches_up(&j.rarg, fixed)
        }
    }
}

/// The range-table entries with whole-row references, in the query itself or its sub-selects.
fn whole_rows(query: &Query) -> Relids {
    let mut out = Relids::new();
    walk::deep_query(query, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && v.varattno == 0
            && v.varlevelsup == level
        {
            out.insert(v.varno);
        }
        true
    });
    out
}

/// True if the column of the entry is used in the target list or HAVING.
fn used_by_groups(query: &Query, rti: i32, column: i16) -> bool {
    let mut found = false;
    let list = query.target_list.iter().map(|t| &t.expr);
    for e in list.chain(&query.having_qual) {
        walk::deep_expr(e, 0, &mut |e, level| {
            found |= matches!(e, Expr::Var(v) if v.varno == rti
                && v.varlevelsup == level
                && (v.varattno == column || v.varattno == 0));
            !found
        });
    }
    found
}

/// Gives references to a subquery's columns the type modifiers of the folded expressions, as in
/// PostgreSQL, which pulls the expressions up. Columns without references are not folded, because
/// that could raise an error.
fn simplified_typmods(query: &mut Query, rti: i32, host: &mut dyn PlannerHost) -> Result<()> {
    let RteKind::Subquery { subquery, .. } = &query.rte(rti).kind else { return Ok(()) };
    // PostgreSQL does not pull these up either.
    if subquery.target_list.iter().any(|t| is_volatile(&t.expr, host)) {
        return Ok(());
    }
    // Alias variables of joins are not uses.
    let mut used: Vec<i16> = Vec::new();
    walk::clause_exprs(query, &mut |e| {
        walk::deep_expr(e, 0, &mut |e, level| {
            if let Expr::Var(v) = e
                && (v.varno, v.varlevelsup) == (rti, level)
                && !used.contains(&v.varattno)
            {
                used.push(v.varattno);
            }
            true
        });
    });
    let mut changed: Vec<(i16, i32)> = Vec::new();
    for t in subquery.target_list.iter().filter(|t| used.contains(&t.resno)) {
        if !matches!(t.expr, Expr::Var(_) | Expr::Const(_)) {
            let typmod = host.fold_query(t.expr.clone(), &|_| false)?.typmod();
            if typmod != t.expr.typmod() {
                changed.push((t.resno, typmod));
            }
        }
    }
    if changed.is_empty() {
        return Ok(());
    }
    walk::deep_query_mut(query, 0, &mut |e, level| {
        if let Expr::Var(v) = e
            && (v.varno, v.varlevelsup) == (rti, level)
            && let Some(&(_, typmod)) = changed.iter().find(|c| c.0 == v.varattno)
        {
            v.vartypmod = typmod;
        }
        true
    });
    Ok(())
}

/// True if the entry is a subquery whose clauses allow a pull-up: no grouping, sorting, LIMIT and
/// so on. Counterpart: `is_simple_subquery`.
fn is_plain(query: &Query, rti: i32, position: Position) -> bool {
    let rte = query.rte(rti);
    let RteKind::Subquery { subquery: sub, security_barrier, .. } = &rte.kind else {
        return false;
    };
    query.set_operations.is_none()
        && !security_barrier
        && is_plain_select(sub)
        // An outer join needs at least one relation on each side.
        && (position == Position::Inner || !sub.jointree.fromlist.is_empty())
}

/// True for a SELECT of FROM and WHERE only, without any stage above the joins.
pub fn is_plain_select(sub: &Query) -> bool {
    sub.command_type == CmdType::Select
        && sub.set_operations.is_none()
        && !sub.has_aggs
        && !sub.has_window_funcs
        && !sub.has_target_srfs
        && sub.group_clause.is_empty()
        && sub.grouping_sets.is_empty()
        && sub.having_qual.is_none()
        && sub.sort_clause.is_empty()
        && sub.distinct_clause.is_empty()
        && sub.limit_offset.is_none()
        && sub.limit_count.is_none()
        && !sub.has_for_update
        && sub.cte_list.is_empty()
}

/// True if the subquery's columns may be computed by the parent query.
fn may_move_columns(
    query: &Query,
    rti: i32,
    position: Position,
    host: &mut dyn PlannerHost,
) -> bool {
    let RteKind::Subquery { subquery: sub, .. } = &query.rte(rti).kind else { return false };
    let nullable = position == Position::Nullable;
    // Below a nullable side every column must be a plain column of that side. Grouping sets also
    // replace columns by NULL: a computed column must remain a column of the subquery.
    let computed = |t: &&TargetEntry| !matches!(&t.expr, Expr::Var(v) if v.varlevelsup == 0);
    for t in sub.target_list.iter().filter(computed) {
        if nullable || !query.grouping_sets.is_empty() && used_by_groups(query, rti, t.resno) {
            return false;
        }
    }
    // Volatile columns could be evaluated a different number of times.
    sub.target_list.iter().all(|t| !is_volatile(&t.expr, host))
}
