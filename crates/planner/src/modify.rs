//! INSERT, UPDATE, DELETE: the target list of the child, the ModifyTable node above it, and row
//! marks. Counterpart: preptlist.c, planner.c, plancat.c (`infer_arbiter_indexes`).

use crate::state::{Planner, PlannerInfo};
use crate::subselect::exec_param;
use ids::code::Volatility;
use ids::{AttrNo, Oid, RelKind};
use pgerror::{PgError, Result};
use plan::expr::{Const, Expr, Location, TargetEntry};
use plan::node::{
    MergeActionPlan, ModifyTable, OnConflictPlan, Plan, PlanInfo, PlanNode, PlanRowMark,
    RowMarkType,
};
use plan::query::{
    CmdType, FromExpr, InferenceElem, JoinExpr, JoinTreeNode, JoinType, LockStrength,
    LockWaitPolicy, OnConflictExpr, Query, RteKind, WithCheckOption,
};
use plan::walk;
use querytree::host::{IndexKey, RelationInfo};
use querytree::path::{AppendRel, Path, PathKind, PathSet};
use querytree::pullup::multi_column;
use querytree::refs::{ChildOutputs, CreatedPlan, label};
use querytree::stage::Modification;
use querytree::vars::{conjuncts, make_var, pull_vars, substitute};
use std::rc::Rc;

const CTID: i16 = -1;
const TABLEOID: i16 = -6;

/// The functions that a query calls.
#[derive(Default)]
struct Calls {
    /// Functions, and the operators to which they belong.
    functions: Vec<(Oid, Oid)>,
    /// Domains whose constraints are checked.
    domains: Vec<Oid>,
    /// User-defined aggregates.
    aggregates: Vec<Oid>,
}

impl Calls {
    /// Adds the call that an expression node stands for. The result is always true.
    fn add(&mut self, e: &Expr) -> bool {
        self.functions.extend(match e {
            Expr::FuncExpr(f) => Some((f.funcid, Oid::INVALID)),
            Expr::OpExpr(o) | Expr::Distinct(o) | Expr::NullIf(o) => Some((o.opfuncid, o.opno)),
            Expr::ScalarArrayOp(o) => Some((o.opfuncid, o.opno)),
            Expr::CoerceToDomain(c) => {
                if !self.domains.contains(&c.resulttype) {
                    self.domains.push(c.resulttype);
                }
                None
            }
            Expr::Aggref(a) if a.aggfnoid >= Oid::FIRST_NORMAL => {
                self.aggregates.push(a.aggfnoid);
                None
            }
            Expr::WindowFunc(w) if w.winagg && w.winfnoid >= Oid::FIRST_NORMAL => {
                self.aggregates.push(w.winfnoid);
                None
            }
            _ => None,
        });
        true
    }
}

impl Planner<'_> {
    /// The paths of INSERT, UPDATE and DELETE.
    pub(crate) fn modify_paths(&mut self, root: &mut PlannerInfo) -> Result<PathSet> {
        let command = root.query.command_type;
        let target = root.query.result_relation;
        merge_to_join(&mut root.query);
        let row_by_row = self.sees_changes(&mut root.query)?;
        querytree::pullup::move_multi_assignments(&mut root.query.target_list);
        if let Some(c) = &mut root.query.on_conflict {
            querytree::pullup::move_multi_assignments(&mut c.on_conflict_set);
        }
        for action in &mut root.query.merge_actions {
            querytree::pullup::move_multi_assignments(&mut action.target_list);
        }
        self.prepare(root)?;
        let multi = std::mem::take(&mut root.multi_assignments);
        let conflict = root.query.on_conflict.iter_mut().flat_map(|c| &mut c.on_conflict_set);
        let actions = root.query.merge_actions.iter_mut().flat_map(|a| &mut a.target_list);
        for t in root.query.target_list.iter_mut().chain(conflict).chain(actions) {
            substitute(&mut t.expr, &mut |e| match e {
                Expr::Param(p) => {
                    let (id, column) = multi_column(p)?;
                    let (_, ids) = multi.iter().find(|(have, _)| *have == id)?;
                    Some(exec_param(*ids.get(column as usize - 1)?, e))
                }
                _ => None,
            });
        }
        self.flatten_rtable(root);
        let RteKind::Relation { relid, relkind, .. } = root.query.rte(target).kind else {
            return Err(PgError::internal("result relation is not a relation"));
        };
        let table = self.host.relation(relid)?;
        let (mut targets, update_colnos) = written_columns(&root.query, &table);
        let is_tree = root.query.rte(target).inh || root.members.trees.contains(&target);
        if is_tree && command != CmdType::Insert {
            let tableoid = make_var(target, TABLEOID, types::oids::OID, -1, Oid::INVALID);
            push_target(&mut targets, tableoid, Some("tableoid".into()), true);
        }
        // The triggers of a view get its old row, which the rewriter has added.
        if command != CmdType::Insert && relkind != RelKind::View {
            let ctid = make_var(target, CTID, types::oids::TID, -1, Oid::INVALID);
            push_target(&mut targets, ctid, Some("ctid".into()), true);
        }
        push_source_columns(&root.query, &mut targets);
        let marks = self.row_marks(root)?;
        for t in root.query.target_list.iter().filter(|t| t.resjunk) {
            // Columns that `row_marks` added for other relations.
            if !targets.iter().any(|have| have.expr == t.expr) {
                push_target(&mut targets, t.expr.clone(), t.resname.clone(), true);
            }
        }
        let paths = self.body_paths(root, &targets)?;
        let stage = Rc::new(Modification {
            command,
            target,
            table,
            // The members are known when the scans have been planned.
            members: root.members_of(target),
            targets,
            update_colnos,
            marks: self.member_marks(root, marks),
            row_by_row,
            epq_param: self.new_param(Oid::INVALID),
        });
        let relations = result_relations(&stage).map(|rti| root.flat(rti));
        self.result_relations.extend(relations);
        // The cost of writing is the same for every path.
        let returns = !root.query.returning_list.is_empty();
        let mut out = paths.above();
        for p in paths.unparameterized() {
            out.add(Path {
                kind: PathKind::Modify { child: p.clone(), stage: stage.clone() },
                rows: if returns { p.rows } else { 0.0 },
                width: if returns { p.width } else { 0 },
                order: Vec::new(),
                ..Path::clone(p)
            });
        }
        Ok(out)
    }

    /// Creates the ModifyTable node of a path.
    pub(crate) fn create_modify(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        child: &Path,
        stage: &Modification,
    ) -> Result<CreatedPlan> {
        let mut made = self.create(root, child, &[])?;
        label(&mut made.plan, &stage.targets);
        let below = ChildOutputs::one(&made.output);
        let (mut returning_lists, mut with_check_options, mut update_colnos) =
            (Vec::new(), Vec::new(), Vec::new());
        let mut merge_actions = Vec::new();
        let members = stage.members.iter().map(|m| Some(&**m));
        let only = stage.members.is_empty().then_some(None);
        for member in members.chain(only) {
            let relation = Modified { target: stage.target, member, root };
            let (returning, checks) = relation.lists(&below)?;
            update_colnos.push(relation.columns(&stage.update_colnos)?);
            returning_lists.push(returning);
            with_check_options.push(checks);
            merge_actions.push(relation.actions(&stage.table, &below)?);
        }
        let (moved_returning, moved_checks) =
            match root.members.partitioned.contains_key(&stage.target) {
                true => Modified { target: stage.target, member: None, root }.lists(&below)?,
                false => (Vec::new(), Vec::new()),
            };
        let on_conflict = match root.query.on_conflict.clone() {
            Some(c) => Some(self.on_conflict(root, *c, &stage.table)?),
            None => None,
        };
        let target_list = returning_lists.first().cloned().unwrap_or_default();
        let info = PlanInfo { target_list, ..path.info() };
        let node = PlanNode::ModifyTable(Box::new(ModifyTable {
            child: made.plan,
            operation: stage.command,
            can_set_tag: root.query.can_set_tag,
            nominal_relation: self.flat(root, stage.target),
            result_relations: result_relations(stage).map(|rti| root.flat(rti)).collect(),
            update_colnos,
            with_check_options,
            returning_lists,
            merge_actions,
            moved_returning,
            moved_checks,
            row_marks: stage.marks.clone(),
            epq_param: stage.epq_param,
            on_conflict,
            row_by_row: stage.row_by_row,
        }));
        Ok(CreatedPlan { plan: Plan { info, node }, output: Vec::new() })
    }

    /// True if a volatile user-defined function is called, which may read rows that the statement
    /// has written. Built-in functions do not. Functions of aggregates and constraints of domains
    /// count too, except constraints that only a conversion of text or JSON checks.
    fn sees_changes(&mut self, query: &mut Query) -> Result<bool> {
        let mut calls = Calls::default();
        walk::deep_query_mut(query, 0, &mut |e, _| calls.add(e));
        let mut at = 0;
        while let Some(&domain) = calls.domains.get(at) {
            at += 1;
            for check in self.host.domain_checks(domain)?.iter() {
                if let Some(mut e) = check.check.clone() {
                    walk::deep_expr_mut(&mut e, 0, &mut |e, _| calls.add(e));
                }
            }
        }
        for &aggregate in &calls.aggregates {
            let functions = self.host.aggregate(aggregate)?.functions;
            calls.functions.extend(functions.map(|f| (f, Oid::INVALID)));
        }
        for (function, operator) in calls.functions {
            let function = match function.valid() {
                Some(f) => f,
                // A built-in operator, or no function at all.
                None if operator < Oid::FIRST_NORMAL => continue,
                None => self.host.operator_function(operator)?,
            };
            if function >= Oid::FIRST_NORMAL
                && self.host.function(function)?.volatility == Volatility::Volatile
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn on_conflict(
        &mut self,
        root: &PlannerInfo,
        c: OnConflictExpr,
        table: &querytree::host::RelationInfo,
    ) -> Result<OnConflictPlan> {
        let arbiter_indexes = self.infer_arbiters(root, &c, table)?;
        let offset = root.rt_offset;
        let renumber = |e: &Expr| {
            let mut e = e.clone();
            walk::deep_expr_mut(&mut e, 0, &mut |e, _| {
                if let Expr::Var(v) = e
                    && v.varno > 0
                {
                    v.varno += offset;
                }
                true
            });
            e
        };
        let mut set = Vec::new();
        let mut set_cols = Vec::new();
        for t in c.on_conflict_set.iter().filter(|t| !t.resjunk) {
            set_cols.push(t.resno);
            set.push(TargetEntry { expr: renumber(&t.expr), ..t.clone() });
        }
        let mut where_ = Vec::new();
        if let Some(w) = &c.on_conflict_where {
            conjuncts(renumber(w), &mut where_);
        }
        Ok(OnConflictPlan {
            action: c.action,
            arbiter_indexes,
            set,
            set_cols,
            where_,
            excl_rel_rti: c.excl_rel_index + offset,
        })
    }

    /// The unique indexes that an ON CONFLICT clause specifies. Counterpart:
    /// `infer_arbiter_indexes`.
    fn infer_arbiters(
        &mut self,
        root: &PlannerInfo,
        c: &OnConflictExpr,
        table: &querytree::host::RelationInfo,
    ) -> Result<Vec<Oid>> {
        if c.constraint.is_valid() {
            return Ok(vec![self.host.constraint_index(c.constraint)?]);
        }
        if c.arbiter_elems.is_empty() {
            return Ok(Vec::new());
        }
        let target = root.query.result_relation;
        let whole = |e: &InferenceElem| matches!(&e.expr, Expr::Var(v) if v.varattno == 0);
        if c.arbiter_elems.iter().any(whole) {
            return Err(pgerror::pg_err!(
                FEATURE_NOT_SUPPORTED,
                "whole row unique index inference specifications are not supported"
            ));
        }
        let mut given = Vec::new();
        if let Some(w) = &c.arbiter_where {
            conjuncts(w.clone(), &mut given);
        }
        let mut classes = Vec::with_capacity(c.arbiter_elems.len());
        for e in &c.arbiter_elems {
            let class = e.inferopclass.valid();
            classes.push(class.map(|oid| self.host.opclass(oid)).transpose()?);
        }
        let mut found = Vec::new();
        // Deferrable indexes match too: the executor then raises an error that names the index.
        for index in table.indexes.iter().rev().filter(|i| i.unique) {
            // Compare as sets: an element may be listed twice, and an index may have a column
            // twice. A collation or operator class of an element must be that of some key over it.
            let is_key =
                |e: &InferenceElem, k: &IndexKey| crate::scan::is_index_key(&e.expr, target, k);
            let named = |k: &IndexKey| c.arbiter_elems.iter().any(|e| is_key(e, k));
            let known = |(e, class): (&InferenceElem, &Option<(Oid, Oid)>)| {
                index.keys.iter().any(|k| {
                    is_key(e, k)
                        && (!e.infercollid.is_valid() || e.infercollid == k.collation)
                        && class.is_none_or(|c| c == (k.opfamily, k.opcintype))
                })
            };
            let same =
                index.keys.iter().all(named) && c.arbiter_elems.iter().zip(&classes).all(known);
            if same && self.implies_all(target, &given, &index.predicate)? {
                found.push(index.oid);
            }
        }
        if found.is_empty() {
            return Err(pgerror::pg_err!(
                INVALID_COLUMN_REFERENCE,
                "there is no unique or exclusion constraint matching the ON CONFLICT specification"
            ));
        }
        Ok(found)
    }

    /// Row marks of the level: lock modes for the tables of FOR UPDATE, and `Reference` for other
    /// tables, which an EvalPlanQual recheck refetches. Adds their ctid columns to the query's
    /// target list as junk.
    pub(crate) fn row_marks(&mut self, root: &mut PlannerInfo) -> Result<Vec<PlanRowMark>> {
        let q = &root.query;
        let modifies = q.command_type != CmdType::Select && q.command_type != CmdType::Insert;
        if q.row_marks.is_empty() && !modifies {
            return Ok(Vec::new());
        }
        let in_from: Vec<i32> =
            querytree::vars::node_relids(&JoinTreeNode::From(Box::new(FromExpr {
                fromlist: q.jointree.fromlist.clone(),
                quals: None,
            })))
            .into_iter()
            .filter(|r| *r != q.result_relation)
            .collect();
        let clauses = q.row_marks.clone();
        let mut marks = Vec::new();
        for rti in in_from {
            let kind = &root.query.rte(rti).kind;
            let is_table = matches!(kind, RteKind::Relation { .. });
            let clause = clauses.iter().filter(|m| m.rti == rti).max_by_key(|m| m.strength);
            let (mark_type, strength, wait_policy) = match clause {
                Some(m) if is_table => {
                    let t = match m.strength {
                        LockStrength::ForUpdate => RowMarkType::Exclusive,
                        LockStrength::ForNoKeyUpdate => RowMarkType::NoKeyExclusive,
                        LockStrength::ForShare => RowMarkType::Share,
                        LockStrength::ForKeyShare => RowMarkType::KeyShare,
                        LockStrength::None => RowMarkType::Reference,
                    };
                    (t, m.strength, m.wait_policy)
                }
                _ if is_table => {
                    (RowMarkType::Reference, LockStrength::None, LockWaitPolicy::Block)
                }
                _ => continue,
            };
            let rowmark_id = marks.len() as u32 + 1;
            let ctid = make_var(rti, CTID, types::oids::TID, -1, Oid::INVALID);
            let list = &mut root.query.target_list;
            push_target(list, ctid, Some(format!("ctid{rowmark_id}")), true);
            if root.query.rtable[rti as usize - 1].inh {
                let tableoid = make_var(rti, TABLEOID, types::oids::OID, -1, Oid::INVALID);
                push_target(list, tableoid, Some(format!("tableoid{rowmark_id}")), true);
            }
            marks.push(PlanRowMark {
                rti,
                prti: rti,
                rowmark_id,
                mark_type,
                strength,
                wait_policy,
                is_parent: false,
            });
        }
        Ok(marks)
    }

    /// Adds marks for the members of marked tables, once the members are known, and renumbers all
    /// to the flat range table.
    pub(crate) fn member_marks(
        &mut self,
        root: &PlannerInfo,
        marks: Vec<PlanRowMark>,
    ) -> Vec<PlanRowMark> {
        let mut out = Vec::with_capacity(marks.len());
        for mark in marks {
            let (prti, is_parent) = (root.flat(mark.rti), root.members.trees.contains(&mark.rti));
            let members = root.members_of(mark.rti);
            out.push(PlanRowMark { rti: prti, prti, is_parent, ..mark.clone() });
            out.extend(members.iter().map(|m| PlanRowMark {
                rti: root.flat(m.child),
                prti,
                is_parent: false,
                ..mark.clone()
            }));
        }
        self.row_marks.extend(out.iter().cloned());
        out
    }
}

/// The range-table indexes of the relations whose rows are modified.
fn result_relations(stage: &Modification) -> impl Iterator<Item = i32> {
    let members = stage.members.iter().map(|m| m.child);
    members.chain(stage.members.is_empty().then_some(stage.target))
}

/// A result relation.
struct Modified<'a> {
    /// The relation that the statement names.
    target: i32,
    /// The member of the target that is modified; `None` if it is the target itself.
    member: Option<&'a AppendRel>,
    root: &'a PlannerInfo,
}

impl Modified<'_> {
    /// The RETURNING list and the check options.
    fn lists(&self, below: &ChildOutputs<'_>) -> Result<(Vec<TargetEntry>, Vec<WithCheckOption>)> {
        let query = &self.root.query;
        let mut returning = Vec::with_capacity(query.returning_list.len());
        for t in &query.returning_list {
            returning.push(TargetEntry { expr: self.expr(&t.expr, below)?, ..t.clone() });
        }
        let mut checks = Vec::with_capacity(query.with_check_options.len());
        for c in &query.with_check_options {
            let mut c = c.clone();
            if let Some(q) = &c.qual {
                c.qual = Some(self.expr(q, below)?);
            }
            checks.push(c);
        }
        Ok((returning, checks))
    }

    /// Converts an expression of RETURNING or a check option: columns of the target are those of
    /// the result relation, renumbered to the flat range table; others refer to the child's output.
    fn expr(&self, expr: &Expr, below: &ChildOutputs<'_>) -> Result<Expr> {
        let mut e = match self.member {
            Some(m) => m.translate(expr)?,
            None => expr.clone(),
        };
        let own = self.member.map_or(self.target, |m| m.child);
        let mut failure = None;
        walk::deep_expr_mut(&mut e, 0, &mut |e, _| {
            if let Expr::Var(v) = e {
                if v.varno == own {
                    v.varno = self.root.flat(own);
                } else if v.varno > 0 {
                    match below.fix(e) {
                        Ok(new) => *e = new,
                        Err(err) => failure = Some(err),
                    }
                }
                return false;
            }
            true
        });
        failure.map_or(Ok(e), Err)
    }

    /// The actions of MERGE.
    fn actions(
        &self,
        table: &RelationInfo,
        below: &ChildOutputs<'_>,
    ) -> Result<Vec<MergeActionPlan>> {
        let mut out = Vec::with_capacity(self.root.query.merge_actions.len());
        for action in &self.root.query.merge_actions {
            let (list, update_colnos) = columns_of(action.command_type, &action.target_list, table);
            let mut target_list = Vec::with_capacity(list.len());
            for t in list {
                target_list.push(TargetEntry { expr: self.expr(&t.expr, below)?, ..t });
            }
            let mut conditions = Vec::new();
            if let Some(condition) = &action.condition {
                conjuncts(condition.clone(), &mut conditions);
            }
            let mut condition = Vec::with_capacity(conditions.len());
            for e in &conditions {
                condition.push(self.expr(e, below)?);
            }
            out.push(MergeActionPlan {
                matched: action.matched,
                command: action.command_type,
                condition,
                target_list,
                update_colnos: self.columns(&update_colnos)?,
            });
        }
        Ok(out)
    }

    /// The numbers of the result relation's columns for these columns of the target.
    fn columns(&self, of_target: &[AttrNo]) -> Result<Vec<AttrNo>> {
        let Some(m) = self.member else { return Ok(of_target.to_vec()) };
        let column = |n: &AttrNo| match m.columns.get(*n as usize - 1) {
            Some(Expr::Var(v)) => Ok(v.varattno),
            _ => Err(PgError::internal("updated column is not a column of the member")),
        };
        of_target.iter().map(column).collect()
    }
}

/// Joins the source of MERGE with its target: an outer join if there are actions for unmatched
/// rows. Counterpart: `transform_MERGE_to_join`.
fn merge_to_join(query: &mut Query) {
    if query.command_type != CmdType::Merge {
        return;
    }
    let unmatched = query.merge_actions.iter().any(|a| !a.matched);
    let from = std::mem::take(&mut query.jointree);
    let source = FromExpr { fromlist: from.fromlist, quals: None };
    let join = JoinExpr {
        jointype: if unmatched { JoinType::Left } else { JoinType::Inner },
        is_natural: false,
        larg: JoinTreeNode::From(Box::new(source)),
        rarg: JoinTreeNode::Rtr(query.result_relation),
        using_clause: Vec::new(),
        join_using_alias: None,
        quals: from.quals,
        alias: None,
        rtindex: 0,
    };
    query.jointree.fromlist = vec![JoinTreeNode::Join(Box::new(join))];
}

fn push_target(targets: &mut Vec<TargetEntry>, expr: Expr, name: Option<String>, junk: bool) {
    let resno = targets.len() as i16 + 1;
    targets.push(TargetEntry {
        expr,
        resno,
        resname: name,
        ressortgroupref: 0,
        resorigtbl: Oid::INVALID,
        resorigcol: 0,
        resjunk: junk,
    });
}

pub(crate) fn null_of(dropped: bool, ty: Oid, typmod: i32, collation: Oid) -> Expr {
    // The type of a dropped column may not exist any more.
    let (ty, typmod, collation) =
        if dropped { (types::oids::INT4, -1, Oid::INVALID) } else { (ty, typmod, collation) };
    Expr::Const(Const {
        consttype: ty,
        consttypmod: typmod,
        constcollid: collation,
        constlen: -1,
        constbyval: false,
        value: types::Datum::Null,
        location: Location::UNKNOWN,
    })
}

/// Adds the columns of the source that RETURNING and the actions of MERGE refer to.
fn push_source_columns(query: &Query, targets: &mut Vec<TargetEntry>) {
    let mut columns = Vec::new();
    query.returning_list.iter().for_each(|t| pull_vars(&t.expr, &mut columns));
    for a in &query.merge_actions {
        let list = a.target_list.iter().map(|t| &t.expr);
        a.condition.iter().chain(list).for_each(|e| pull_vars(e, &mut columns));
    }
    for v in columns {
        if let Expr::Var(x) = &v
            && x.varno != query.result_relation
            && !targets.iter().any(|t| t.expr == v)
        {
            push_target(targets, v, None, true);
        }
    }
}

/// The new values of the table's columns, and for UPDATE the numbers of these columns. INSERT has a
/// value for each column.
fn written_columns(query: &Query, table: &RelationInfo) -> (Vec<TargetEntry>, Vec<AttrNo>) {
    columns_of(query.command_type, &query.target_list, table)
}

/// As [`written_columns`], for a command with this target list.
fn columns_of(
    command: CmdType,
    list: &[TargetEntry],
    table: &RelationInfo,
) -> (Vec<TargetEntry>, Vec<AttrNo>) {
    let mut update_colnos = Vec::new();
    let mut targets: Vec<TargetEntry> = Vec::new();
    match command {
        CmdType::Insert => {
            for (i, col) in table.columns.iter().enumerate() {
                let attno = i as i16 + 1;
                let given = list.iter().find(|t| t.resno == attno && !t.resjunk);
                let expr = match given {
                    Some(t) => t.expr.clone(),
                    None => null_of(col.dropped, col.type_oid, col.typmod, col.collation),
                };
                push_target(&mut targets, expr, Some(col.name.clone()), false);
            }
        }
        CmdType::Update => {
            let mut set: Vec<&TargetEntry> = list.iter().filter(|t| !t.resjunk).collect();
            set.sort_by_key(|t| t.resno);
            for t in set {
                update_colnos.push(t.resno);
                push_target(&mut targets, t.expr.clone(), t.resname.clone(), false);
            }
        }
        _ => {}
    }
    (targets, update_colnos)
}
