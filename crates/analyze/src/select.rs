//! SELECT, VALUES and set operations. Counterpart: parser/analyze.c.

use crate::coerce::Context;
use crate::relation::{Column, JoinColumns};
use crate::state::{Analyzer, ExprKind};
use crate::target::entry;
use crate::ty;
use ids::{AttrNo, Oid};
use parse::ast::{self, DistinctClause, Node, SelectStmt};
use pgerror::{Result, bail, pg_err};
use plan::expr::{Expr, Location, TargetEntry, Var};
use plan::query::{
    Alias, CmdType, FromExpr, JoinTreeNode, JoinType, LimitOption, LockStrength, LockWaitPolicy,
    Query, RangeTblEntry, RowMarkClause, RteKind, SetOpNode, SetOperation, SetOperationStmt, acl,
};
use stdx::stack::deep;

/// One side of a set operation, while the columns of both sides are matched.
struct SetChild {
    node: SetOpNode,
    /// Type, modifier, collation and an expression to report and coerce, per column.
    columns: Vec<Expr>,
}

impl Analyzer<'_> {
    /// Analyses a statement that becomes a query. The innermost level is that of the statement.
    pub fn statement(&mut self, node: &Node) -> Result<Query> {
        let mut query = match node {
            Node::SelectStmt(s) if !s.values_lists.is_empty() => self.values_stmt(s)?,
            Node::SelectStmt(s) if s.op == ast::SetOperation::None => self.select_stmt(s)?,
            Node::SelectStmt(s) => self.set_operation_stmt(s)?,
            Node::InsertStmt(s) => self.insert_stmt(s)?,
            Node::UpdateStmt(s) => self.update_stmt(s)?,
            Node::DeleteStmt(s) => self.delete_stmt(s)?,
            Node::MergeStmt(s) => self.merge_stmt(s)?,
            _ => bail!(INTERNAL_ERROR, "unexpected kind of statement in analysis"),
        };
        self.check_length()?;
        query.can_set_tag = true;
        Ok(query)
    }

    /// Moves the range table and the flags of the level into the query.
    pub fn finish(&mut self, query: &mut Query, qual: Option<Expr>) {
        let level = self.level();
        query.rtable = std::mem::take(&mut level.rtable);
        query.jointree = FromExpr { fromlist: std::mem::take(&mut level.joinlist), quals: qual };
        query.has_aggs = level.has_aggs;
        query.has_window_funcs = level.has_window_funcs;
        query.has_target_srfs = level.has_target_srfs;
        query.has_sub_links = level.has_sub_links;
        query.has_modifying_cte |= level.has_modifying_cte;
        query.cte_list = std::mem::take(&mut level.ctes);
    }

    fn select_stmt(&mut self, s: &SelectStmt) -> Result<Query> {
        self.select_stmt_with(s, &mut |_, _| Ok(()))
    }

    /// Analyses a SELECT. `change` is applied to its target list before the other clauses are
    /// analysed.
    pub(crate) fn select_stmt_with(
        &mut self,
        s: &SelectStmt,
        change: &mut dyn FnMut(&mut Self, &mut Vec<TargetEntry>) -> Result<()>,
    ) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Select, ..Query::default() };
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        if let Some(into) = &s.into_clause {
            let e = pg_err!(SYNTAX_ERROR, "SELECT ... INTO is not allowed here");
            return Err(self.at(e, into.rel.location));
        }
        self.level().locking.clone_from(&s.locking_clause);
        self.level().windows.clone_from(&s.window_clause);
        self.transform_from(&s.from_clause)?;
        query.target_list = self.target_list(&s.target_list, ExprKind::SelectTarget)?;
        self.mark_origins(&mut query.target_list);
        change(self, &mut query.target_list)?;
        let qual = self.where_clause(s.where_clause.as_ref(), ExprKind::Where, "WHERE")?;
        query.having_qual =
            self.where_clause(s.having_clause.as_ref(), ExprKind::Having, "HAVING")?;
        query.sort_clause =
            self.sort_clause(&s.sort_clause, &mut query.target_list, ExprKind::OrderBy, false)?;
        (query.group_clause, query.grouping_sets) = self.group_clause(
            &s.group_clause,
            &mut query.target_list,
            &query.sort_clause,
            ExprKind::GroupBy,
            false,
        )?;
        query.group_distinct = s.group_distinct;
        match &s.distinct_clause {
            DistinctClause::None => {}
            DistinctClause::Distinct => {
                query.distinct_clause =
                    self.distinct_clause(&mut query.target_list, &query.sort_clause, false)?;
            }
            DistinctClause::On(items) => {
                query.distinct_clause =
                    self.distinct_on_clause(items, &mut query.target_list, &query.sort_clause)?;
                query.has_distinct_on = true;
            }
        }
        self.limits(s, &mut query)?;
        query.window_clause = self.window_definitions(&mut query.target_list)?;
        if self.level_ref().resolve_unknowns {
            self.resolve_unknowns(&mut query.target_list)?;
        }
        self.locking_clauses(&s.locking_clause, &mut query, false)?;
        self.complete(query, qual)
    }

    /// Assigns collations, then runs the checks that need them.
    fn complete(&mut self, mut query: Query, qual: Option<Expr>) -> Result<Query> {
        let ctes = self.level_ref().ctes.clone();
        self.finish(&mut query, qual);
        // The checks resolve references to the WITH queries of this level.
        self.level().ctes = ctes;
        self.assign_query_collations(&mut query)?;
        if Self::needs_group_check(&query) {
            self.check_aggregates(&mut query)?;
        }
        Ok(query)
    }

    fn limits(&mut self, s: &SelectStmt, query: &mut Query) -> Result<()> {
        let ties = s.limit_option == ast::LimitOption::WithTies;
        query.limit_offset = self.limit_clause(s.limit_offset.as_ref(), ExprKind::Offset, false)?;
        query.limit_count = self.limit_clause(s.limit_count.as_ref(), ExprKind::Limit, ties)?;
        query.limit_option = if ties { LimitOption::WithTies } else { LimitOption::Count };
        Ok(())
    }

    /// FOR UPDATE and the other row locking clauses. Counterpart: `transformLockingClause`.
    fn locking_clauses(
        &mut self,
        clauses: &[ast::LockingClause],
        query: &mut Query,
        pushed_down: bool,
    ) -> Result<()> {
        for clause in clauses {
            let strength = lock_strength(clause);
            let policy = match clause.wait_policy {
                ast::LockWaitPolicy::Block => LockWaitPolicy::Block,
                ast::LockWaitPolicy::Skip => LockWaitPolicy::Skip,
                ast::LockWaitPolicy::Error => LockWaitPolicy::Error,
            };
            let name = lock_name(strength);
            let forbidden = if query.set_operations.is_some() {
                Some("UNION/INTERSECT/EXCEPT")
            } else if !query.distinct_clause.is_empty() {
                Some("DISTINCT clause")
            } else if !query.group_clause.is_empty() || !query.grouping_sets.is_empty() {
                Some("GROUP BY clause")
            } else if query.having_qual.is_some() {
                Some("HAVING clause")
            } else if self.level_ref().has_aggs {
                Some("aggregate functions")
            } else if self.level_ref().has_window_funcs {
                Some("window functions")
            } else if self.level_ref().has_target_srfs {
                Some("set-returning functions in the target list")
            } else {
                None
            };
            if let Some(what) = forbidden {
                bail!(FEATURE_NOT_SUPPORTED, "{name} is not allowed with {what}");
            }
            query.has_for_update = true;
            if clause.locked_rels.is_empty() {
                for rti in 1..=self.level_ref().rtable.len() as i32 {
                    let rte = self.level().rte_mut(rti);
                    if !rte.in_from_cl {
                        continue;
                    }
                    lock_rte(rte, rti, strength, policy, pushed_down, &mut query.row_marks);
                }
                continue;
            }
            for rel in &clause.locked_rels {
                if rel.catalogname.is_some() || rel.schemaname.is_some() {
                    let e = pg_err!(SYNTAX_ERROR, "{name} must specify unqualified relation names");
                    return Err(self.at(e, rel.location));
                }
                let found = self
                    .level_ref()
                    .rtable
                    .iter()
                    .position(|r| r.in_from_cl && lockable_name(r) == Some(&*rel.relname));
                let Some(index) = found else {
                    let e = pg_err!(
                        UNDEFINED_TABLE,
                        "relation \"{}\" in {name} clause not found in FROM clause",
                        rel.relname
                    );
                    return Err(self.at(e, rel.location));
                };
                let rte = &mut self.level().rtable[index];
                let what = match rte.kind {
                    RteKind::Relation { .. } | RteKind::Subquery { .. } => None,
                    RteKind::Join { .. } => Some("a join"),
                    RteKind::Function { .. } => Some("a function"),
                    RteKind::Values { .. } => Some("VALUES"),
                    RteKind::Cte { .. } => Some("a WITH query"),
                    RteKind::NamedTuplestore { .. } => Some("a named tuplestore"),
                    RteKind::TableFunc(_) | RteKind::Result => Some("a table function"),
                };
                if let Some(what) = what {
                    let e = pg_err!(FEATURE_NOT_SUPPORTED, "{name} cannot be applied to {what}");
                    return Err(self.at(e, rel.location));
                }
                let rti = (index + 1) as i32;
                lock_rte(rte, rti, strength, policy, pushed_down, &mut query.row_marks);
            }
        }
        Ok(())
    }

    /// Coerces rows of VALUES of equal length to a common type in each column.
    pub fn values_columns(
        &mut self,
        mut rows: Vec<Vec<Expr>>,
    ) -> Result<(Vec<Vec<Expr>>, Vec<Column>)> {
        let width = rows.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for i in 0..width {
            let mut column: Vec<Expr> =
                rows.iter_mut().map(|row| crate::target::take(&mut row[i])).collect();
            let common = self.select_common_type(&column, Some("VALUES"))?;
            column = self.all_to_common(column, common, "VALUES")?;
            let typmod = Self::common_typmod(&column, common);
            let collation = self.select_common_collation(&mut column, true)?;
            for (row, e) in rows.iter_mut().zip(column) {
                row[i] = e;
            }
            columns.push(Column {
                name: format!("column{}", i + 1),
                ty: common,
                typmod,
                collation,
                dropped: false,
            });
        }
        Ok((rows, columns))
    }

    fn values_stmt(&mut self, s: &SelectStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Select, ..Query::default() };
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        let mut rows: Vec<Vec<Expr>> = Vec::with_capacity(s.values_lists.len());
        for list in &s.values_lists {
            let row = self.expression_list(list, ExprKind::Values, false)?;
            if let Some(first) = rows.first()
                && first.len() != row.len()
            {
                let e = pg_err!(SYNTAX_ERROR, "VALUES lists must all be the same length");
                let location = row.first().map_or(-1, |e| e.location().0);
                return Err(self.at(e, location));
            }
            rows.push(row);
        }
        let (rows, columns) = self.values_columns(rows)?;
        let lateral = rows.iter().flatten().any(|e| crate::walk::contains_vars_of_level(e, 0));
        let item = self.add_values_rte(rows, columns, None, lateral, true)?;
        self.add_ns_item(item.clone(), true, true, true);
        for (name, e) in self.expand_item(&item, 0, -1) {
            let resno = self.next_resno();
            query.target_list.push(entry(e, resno, Some(name), false));
        }
        query.sort_clause =
            self.sort_clause(&s.sort_clause, &mut query.target_list, ExprKind::OrderBy, false)?;
        self.limits(s, &mut query)?;
        if let Some(lock) = s.locking_clause.first() {
            let name = lock_name(lock_strength(lock));
            bail!(FEATURE_NOT_SUPPORTED, "{name} cannot be applied to VALUES");
        }
        self.complete(query, None)
    }

    fn set_operation_stmt(&mut self, s: &SelectStmt) -> Result<Query> {
        let mut query = Query { command_type: CmdType::Select, ..Query::default() };
        if let Some(with) = &s.with_clause {
            self.with_clause(with, &mut query)?;
        }
        if let Some(into) = &s.into_clause {
            let e = pg_err!(SYNTAX_ERROR, "SELECT ... INTO is not allowed here");
            return Err(self.at(e, into.rel.location));
        }
        if let Some(lock) = s.locking_clause.first() {
            let name = lock_name(lock_strength(lock));
            bail!(FEATURE_NOT_SUPPORTED, "{name} is not allowed with UNION/INTERSECT/EXCEPT");
        }
        let top = self.set_operation_tree(s, true)?;
        let SetOpNode::Op(op) = top.node else {
            bail!(INTERNAL_ERROR, "set operation analysis returned no set operation")
        };
        let mut leftmost = &op.larg;
        while let SetOpNode::Op(inner) = &**leftmost {
            leftmost = &inner.larg;
        }
        let SetOpNode::Leaf(left_rti) = **leftmost else {
            bail!(INTERNAL_ERROR, "a set operation has no leftmost query")
        };
        let RteKind::Subquery { subquery, .. } = &self.level_ref().rte(left_rti).kind else {
            bail!(INTERNAL_ERROR, "member of a set operation is not a subquery")
        };
        let names: Vec<(String, Location)> = subquery
            .result_columns()
            .map(|t| (t.resname.clone().unwrap_or_default(), t.expr.location()))
            .collect();
        let mut aliasvars = Vec::new();
        let mut ns_columns = Vec::new();
        for (i, (name, location)) in names.iter().enumerate() {
            let var = Var {
                varno: left_rti,
                varattno: (i + 1) as AttrNo,
                vartype: op.col_types[i],
                vartypmod: op.col_typmods[i],
                varcollid: op.col_collations[i],
                varlevelsup: 0,
                location: *location,
            };
            ns_columns.push(crate::state::NsColumn {
                varno: var.varno,
                varattno: var.varattno,
                vartype: var.vartype,
                vartypmod: var.vartypmod,
                varcollid: var.varcollid,
                hidden: false,
            });
            aliasvars.push(Expr::Var(var.clone()));
            let resno = self.next_resno();
            query.target_list.push(entry(Expr::Var(var), resno, Some(name.clone()), false));
        }
        query.set_operations = Some(Box::new(SetOpNode::Op(op)));
        // ORDER BY may refer only to the result columns.
        let colnames: Vec<String> = names.into_iter().map(|n| n.0).collect();
        let before = self.level_ref().rtable.len();
        let columns =
            JoinColumns { names: colnames, columns: ns_columns, aliasvars, ..Default::default() };
        let item = self.add_join_rte(JoinType::Inner, columns, None, None)?;
        let namespace = std::mem::take(&mut self.level().namespace);
        self.add_ns_item(item, false, false, true);
        let width = query.target_list.len();
        let sorted =
            self.sort_clause(&s.sort_clause, &mut query.target_list, ExprKind::OrderBy, false);
        let level = self.level();
        level.namespace = namespace;
        level.rtable.truncate(before);
        query.sort_clause = sorted?;
        if query.target_list.len() != width {
            let e = pg_err!(
                FEATURE_NOT_SUPPORTED,
                "invalid UNION/INTERSECT/EXCEPT ORDER BY clause"
            )
            .detail("Only result column names can be used, not expressions or functions.")
            .hint(
                "Add the expression/function to every SELECT, or move the UNION into a FROM \
                 clause.",
            );
            return Err(self.at(e, &query.target_list[width].expr));
        }
        self.limits(s, &mut query)?;
        self.complete(query, None)
    }

    fn set_operation_tree(&mut self, s: &SelectStmt, top: bool) -> Result<SetChild> {
        self.cat.check_interrupts()?;
        deep(|| self.set_operation_member(s, top))
    }

    fn set_operation_member(&mut self, s: &SelectStmt, top: bool) -> Result<SetChild> {
        // A member with its own ORDER BY, LIMIT, locking clause or WITH is a separate query.
        let leaf = s.op == ast::SetOperation::None
            || (!top
                && (!s.sort_clause.is_empty()
                    || s.limit_offset.is_some()
                    || s.limit_count.is_some()
                    || !s.locking_clause.is_empty()
                    || s.with_clause.is_some()));
        if leaf {
            return self.set_operation_leaf(s);
        }
        let (Some(larg), Some(rarg)) = (&s.larg, &s.rarg) else {
            bail!(INTERNAL_ERROR, "set operation without a left or right side")
        };
        let construct = match s.op {
            ast::SetOperation::Union => "UNION",
            ast::SetOperation::Intersect => "INTERSECT",
            _ => "EXCEPT",
        };
        let left = self.set_operation_tree(larg, false)?;
        let recursive = top && self.recursive_parent().is_some();
        if recursive {
            self.determine_recursive_types(&left.columns, &left.node)?;
        }
        let right = self.set_operation_tree(rarg, false)?;
        if left.columns.len() != right.columns.len() {
            let e = pg_err!(
                SYNTAX_ERROR,
                "each {construct} query must have the same number of columns"
            );
            let position = right.columns.first().map_or(-1, |e| e.location().0);
            return Err(self.at(e, position));
        }
        let mut op = SetOperationStmt {
            op: match s.op {
                ast::SetOperation::Union => SetOperation::Union,
                ast::SetOperation::Intersect => SetOperation::Intersect,
                _ => SetOperation::Except,
            },
            all: s.all,
            larg: Box::new(left.node),
            rarg: Box::new(right.node),
            col_types: Vec::new(),
            col_typmods: Vec::new(),
            col_collations: Vec::new(),
            group_clauses: Vec::new(),
        };
        let mut columns = Vec::with_capacity(left.columns.len());
        for (i, (l, r)) in left.columns.into_iter().zip(right.columns).enumerate() {
            let both = [l, r];
            let common = self.select_common_type(&both, Some(construct))?;
            let [l, r] = both;
            let location = if l.type_oid() == common { l.location() } else { r.location() };
            let mut sides = Vec::with_capacity(2);
            for (side, node) in [(l, &op.larg), (r, &op.rarg)] {
                let was_literal = side.type_oid() == ty::UNKNOWN
                    && matches!(side, Expr::Const(_) | Expr::Param(_));
                if side.type_oid() == ty::UNKNOWN && !was_literal {
                    sides.push(side);
                    continue;
                }
                let coerced = self.coerce_to_common(side, common, construct)?;
                if was_literal {
                    // Literals are coerced here; the planner converts other expressions.
                    if let SetOpNode::Leaf(rti) = **node {
                        let rte = self.level().rte_mut(rti);
                        if let RteKind::Subquery { subquery, .. } = &mut rte.kind {
                            let target =
                                subquery.target_list.iter_mut().filter(|t| !t.resjunk).nth(i);
                            if let Some(target) = target {
                                target.expr = coerced.clone();
                            }
                        }
                    }
                }
                sides.push(coerced);
            }
            let typmod = Self::common_typmod(&sides, common);
            let none_ok = op.op == SetOperation::Union && op.all;
            let collation = self.select_common_collation(&mut sides, none_ok)?;
            op.col_types.push(common);
            op.col_typmods.push(typmod);
            op.col_collations.push(collation);
            if op.op != SetOperation::Union || !op.all {
                let ops = self.need_sort_operators(common, false, true, false);
                let ops = self.with_position(ops, location)?;
                let recursive = self.recursive_parent().is_some();
                op.group_clauses.push(ops.set_operation_clause(common, recursive));
            }
            columns.push(Expr::SetToDefault(plan::expr::SetToDefault {
                typeid: common,
                typmod,
                collation,
                location,
            }));
        }
        Ok(SetChild { node: SetOpNode::Op(op), columns })
    }

    fn set_operation_leaf(&mut self, s: &SelectStmt) -> Result<SetChild> {
        if let Some(into) = &s.into_clause {
            let e = pg_err!(
                SYNTAX_ERROR,
                "INTO is only allowed on first SELECT of UNION/INTERSECT/EXCEPT"
            );
            return Err(self.at(e, into.rel.location));
        }
        // The entry point takes a node, so the statement is copied into one.
        let node = Node::SelectStmt(Box::new(s.clone()));
        let query = self.nested(|cx| {
            cx.level().resolve_unknowns = false;
            cx.statement(&node)
        })?;
        if !self.level_ref().namespace.is_empty() {
            let mut location = None;
            crate::walk::query_deep(&query, 1, &mut |e, up| {
                if let Expr::Var(v) = e
                    && v.varlevelsup == up
                {
                    location = Some(v.location);
                }
                location.is_none()
            });
            if let Some(location) = location {
                let e = pg_err!(
                    INVALID_COLUMN_REFERENCE,
                    "UNION/INTERSECT/EXCEPT member statement cannot refer to other relations of \
                     same query level"
                );
                return Err(self.at(e, location));
            }
        }
        let columns: Vec<Expr> = query.result_columns().map(|t| t.expr.clone()).collect();
        let name = format!("*SELECT* {}", self.level_ref().rtable.len() + 1);
        let alias = Alias { aliasname: name, colnames: Vec::new() };
        let item = self.add_subquery_rte(query, Some(alias), false, false)?;
        Ok(SetChild { node: SetOpNode::Leaf(item.rtindex), columns })
    }

    /// The index, in the level above, of the recursive WITH query that the innermost level
    /// analyses.
    fn recursive_parent(&mut self) -> Option<usize> {
        let index = self.level_ref().in_cte?;
        let cte = &self.level_up(1).ctes[index];
        cte.recursive.then_some(index)
    }

    /// The non-recursive term decides the columns of a recursive query.
    fn determine_recursive_types(&mut self, columns: &[Expr], node: &SetOpNode) -> Result<()> {
        let Some(index) = self.recursive_parent() else { return Ok(()) };
        let mut leftmost = node;
        while let SetOpNode::Op(op) = leftmost {
            leftmost = &op.larg;
        }
        let names: Vec<String> = match leftmost {
            SetOpNode::Leaf(rti) => match &self.level_ref().rte(*rti).kind {
                RteKind::Subquery { subquery, .. } => subquery
                    .result_columns()
                    .map(|t| t.resname.clone().unwrap_or_default())
                    .collect(),
                _ => Vec::new(),
            },
            SetOpNode::Op(_) => Vec::new(),
        };
        let described: Vec<Column> = columns
            .iter()
            .zip(names)
            .map(|(e, name)| Column {
                name,
                ty: e.type_oid(),
                typmod: e.typmod(),
                collation: e.collation(),
                dropped: false,
            })
            .collect();
        self.describe_cte(1, index, described)
    }

    /// Text for the type unknown, any other type unchanged.
    pub fn text_if_unknown(ty: Oid) -> Oid {
        if ty == ty::UNKNOWN { ty::TEXT } else { ty }
    }

    /// Coerces an expression to a type to which an implicit coercion is known to exist.
    pub fn to_type_implicitly(&mut self, e: Expr, target: Oid) -> Result<Expr> {
        self.coerce_type(
            e,
            target,
            -1,
            Context::Implicit,
            plan::expr::CoercionForm::ImplicitCast,
            Location::UNKNOWN,
        )
    }
}

/// The strength that a locking clause names.
pub fn lock_strength(clause: &ast::LockingClause) -> LockStrength {
    match clause.strength {
        ast::LockClauseStrength::None => LockStrength::None,
        ast::LockClauseStrength::ForKeyShare => LockStrength::ForKeyShare,
        ast::LockClauseStrength::ForShare => LockStrength::ForShare,
        ast::LockClauseStrength::ForNoKeyUpdate => LockStrength::ForNoKeyUpdate,
        ast::LockClauseStrength::ForUpdate => LockStrength::ForUpdate,
    }
}

/// The name of the entry in FOR UPDATE. A join without an alias has the alias of its USING clause,
/// if any.
fn lockable_name(rte: &RangeTblEntry) -> Option<&str> {
    match &rte.kind {
        RteKind::Join { join_using_alias, .. } if rte.alias.is_none() => {
            join_using_alias.as_ref().map(|a| a.aliasname.as_str())
        }
        _ => Some(&rte.eref.aliasname),
    }
}

/// The lock strength in messages. Counterpart: `LCS_asString`.
pub fn lock_name(strength: LockStrength) -> &'static str {
    match strength {
        LockStrength::ForKeyShare => "FOR KEY SHARE",
        LockStrength::ForShare => "FOR SHARE",
        LockStrength::ForNoKeyUpdate => "FOR NO KEY UPDATE",
        LockStrength::ForUpdate | LockStrength::None => "FOR UPDATE",
    }
}

fn lock_rte(
    rte: &mut RangeTblEntry,
    rti: i32,
    strength: LockStrength,
    policy: LockWaitPolicy,
    pushed_down: bool,
    marks: &mut Vec<RowMarkClause>,
) {
    match &mut rte.kind {
        RteKind::Relation { .. } => {
            rte.required_perms |= acl::SELECT_FOR_UPDATE;
            mark_row(marks, rti, strength, policy, pushed_down);
        }
        RteKind::Subquery { subquery, .. } => {
            mark_row(marks, rti, strength, policy, pushed_down);
            // All tables of the sub-select are locked too.
            subquery.has_for_update = true;
            let Query { rtable, row_marks, .. } = &mut **subquery;
            for (i, inner) in rtable.iter_mut().enumerate() {
                if inner.in_from_cl {
                    lock_rte(inner, (i + 1) as i32, strength, policy, true, row_marks);
                }
            }
        }
        _ => {}
    }
}

/// Adds row marks to all tables of a view's query, for a lock on the view. Counterpart:
/// `markQueryForLocking`.
pub fn lock_query(query: &mut Query, strength: LockStrength, policy: LockWaitPolicy) {
    query.has_for_update = true;
    let Query { rtable, row_marks, jointree, .. } = query;
    let mut read = Vec::new();
    for item in &jointree.fromlist {
        from_leaves(item, &mut read);
    }
    for rti in read {
        let rte = &mut rtable[rti as usize - 1];
        lock_rte(rte, rti, strength, policy, true, row_marks);
    }
}

fn from_leaves(node: &JoinTreeNode, out: &mut Vec<i32>) {
    match node {
        JoinTreeNode::Rtr(rti) => out.push(*rti),
        JoinTreeNode::Join(join) => {
            from_leaves(&join.larg, out);
            from_leaves(&join.rarg, out);
        }
        JoinTreeNode::From(from) => from.fromlist.iter().for_each(|n| from_leaves(n, out)),
    }
}

fn mark_row(
    marks: &mut Vec<RowMarkClause>,
    rti: i32,
    strength: LockStrength,
    wait_policy: LockWaitPolicy,
    pushed_down: bool,
) {
    if let Some(mark) = marks.iter_mut().find(|m| m.rti == rti) {
        mark.strength = mark.strength.max(strength);
        mark.wait_policy = mark.wait_policy.max(wait_policy);
        mark.pushed_down &= pushed_down;
        return;
    }
    marks.push(RowMarkClause { rti, strength, wait_policy, pushed_down });
}
