//! Append relations whose members are tables of the same level: a table with inheritance children
//! or partitions. Counterpart: appendinfo.c (`adjust_appendrel_attrs`), allpaths.c
//! (`set_append_rel_size`, `set_append_rel_pathlist`).
//!
//! `PlannerInfo::append_rels` lists the members of a parent, each with its expression for each
//! column of the parent. Conditions on the parent are tested in the scans of the members. Above the
//! scans the parent is one relation.
//!
//! The range table is not expanded yet: no query has such a parent.

use crate::need::NeededExpr;
use crate::path::{AppendRel, Path, PathKind, PathRef};
use crate::rel::BaseRel;
use crate::state::{Planner, PlannerInfo};
use ids::stored::{described, number};
use pgerror::{PgError, Result};
use plan::expr::{Expr, Var};
use plan::node::{Plan, PlanInfo, PlanNode};
use querytree::refs::{CreatedPlan, pass_through, targets_of};
use querytree::relids::Relids;
use querytree::vars::{make_var, relids_of, substitute};
use std::rc::Rc;

impl AppendRel {
    /// Translates an expression over the parent's columns to one over the member's columns.
    pub(crate) fn translate(&self, expr: &Expr) -> Result<Expr> {
        let mut e = expr.clone();
        let mut failure = None;
        substitute(&mut e, &mut |e| match e {
            Expr::Var(v) if v.varno == self.parent && v.varlevelsup == 0 => {
                let column = self.column(v);
                if column.is_none() {
                    failure = Some(PgError::unsupported("whole row of a table with children"));
                }
                column
            }
            _ => None,
        });
        failure.map_or(Ok(e), Err)
    }

    pub(crate) fn translate_all(&self, exprs: &[Expr]) -> Result<Vec<Expr>> {
        exprs.iter().map(|e| self.translate(e)).collect()
    }

    /// The member's expression for a column of the parent; `None` for the whole row. Each member
    /// has system columns of its own.
    fn column(&self, v: &Var) -> Option<Expr> {
        if let Some((facet, of)) = described(v.varattno) {
            let Some(Expr::Var(own)) = self.columns.get(of as usize - 1) else { return None };
            let column = number(facet, own.varattno);
            return Some(make_var(self.child, column, v.vartype, v.vartypmod, v.varcollid));
        }
        match v.varattno {
            0 => None,
            n if n < 0 => Some(make_var(self.child, n, v.vartype, v.vartypmod, v.varcollid)),
            n => self.columns.get(n as usize - 1).cloned(),
        }
    }
}

impl PlannerInfo {
    /// The members of an append relation of this level.
    pub(crate) fn members_of(&self, parent: i32) -> Vec<AppendRel> {
        self.append_rels.iter().filter(|a| parent > 0 && a.parent == parent).cloned().collect()
    }
}

impl Planner<'_> {
    /// Creates the base relations of the members with the conditions on the parent, and the parent
    /// with their sizes.
    pub(crate) fn append_base_rel(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        quals: &[Expr],
        members: &[AppendRel],
    ) -> Result<()> {
        let (mut tuples, mut rows) = (0.0, 0.0);
        for m in members {
            self.base_rel(root, m.child, m.translate_all(quals)?)?;
            let child = root.rel(m.child)?;
            tuples += child.tuples;
            rows += child.rows;
        }
        let (table, lateral) = (None, Relids::new());
        let rel = BaseRel { rti, table, quals: Vec::new(), tuples, rows, width: 0, lateral };
        root.rels.insert(rti, rel);
        Ok(())
    }

    /// The path that appends the cheapest scans of the members.
    pub(crate) fn append_scan_path(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        members: &[AppendRel],
        needed: &[Rc<NeededExpr>],
    ) -> Result<Path> {
        let mut children: Vec<PathRef> = Vec::with_capacity(members.len());
        for m in members {
            self.host.check_interrupts()?;
            let mut own = Vec::new();
            for need in needed.iter().filter(|n| n.relids.contains(&rti)) {
                own.push(Rc::new(need.for_member(m)?));
            }
            self.set_width(root, m.child, &own)?;
            let paths = self.scan_paths(root, m.child, &[], &own)?;
            let cheapest = paths.cheapest().cloned();
            children.push(cheapest.ok_or_else(|| PgError::internal("member without a path"))?);
        }
        let rel = root.rel(rti)?;
        let total: f64 = children.iter().map(|p| p.total).sum();
        Ok(Path {
            relids: Relids::from([rti]),
            rows: rel.rows,
            width: rel.width,
            startup: children.first().map_or(0.0, |p| p.startup),
            total: total + rel.rows * self.host.costs().cpu_tuple * 0.5,
            order: Vec::new(),
            outer: Relids::new(),
            kind: PathKind::AppendScan { rti, children },
        })
    }

    /// Creates the Append node over the members' scans.
    pub(crate) fn create_append_scan(
        &mut self,
        root: &mut PlannerInfo,
        info: PlanInfo,
        (rti, paths): (i32, &[PathRef]),
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let members = root.members_of(rti);
        let mut children = Vec::with_capacity(paths.len());
        for path in paths {
            let member = members.iter().find(|m| path.relids.contains(&m.child));
            let member = member.ok_or_else(|| PgError::internal("member of no append relation"))?;
            let columns = member.translate_all(want)?;
            children.push(self.create(root, path, &columns)?.plan);
        }
        let output = targets_of(want);
        let info = PlanInfo { target_list: pass_through(&output), ..info };
        Ok(CreatedPlan { plan: Plan { info, node: PlanNode::Append { children } }, output })
    }
}

impl NeededExpr {
    /// Translates the need to a member of an append relation.
    fn for_member(&self, m: &AppendRel) -> Result<NeededExpr> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut relids = Relids::new();
        for column in &self.columns {
            let column = m.translate(column)?;
            relids.extend(relids_of(&column));
            columns.push(column);
        }
        Ok(NeededExpr { relids, columns, always: self.always, operands: None })
    }
}

#[cfg(test)]
mod tests {
    use crate::path::AppendRel;
    use crate::state::{LevelInput, Planner, PlannerInfo};
    use crate::test_host::TestHost;
    use ids::Oid;
    use plan::expr::Expr;
    use plan::node::{ModifyTable, Plan, PlanNode, RequiredPrivileges};
    use plan::query::{Query, RteKind};
    use querytree::host::{ColumnInfo, RelationLookup};
    use querytree::vars::make_var;

    const INT4: Oid = Oid(23);

    /// Plans the statement with two children of its target, which have the target's own table:
    /// the first with the same columns, the second with `relpages` and `relallvisible` exchanged.
    fn plan_with_children(sql: &str) -> ModifyTable {
        let mut host = TestHost::new();
        let mut query: Query = host.query(sql).expect("statement");
        let target = query.result_relation;
        let rte = query.rte(target).clone();
        let RteKind::Relation { relid, .. } = rte.kind else { panic!("table expected") };
        query.rtable.extend([rte.clone(), rte]);
        let children = [query.rtable.len() as i32 - 1, query.rtable.len() as i32];
        let columns = host.relation(relid).expect("table").columns.clone();
        let at =
            |name: &str| columns.iter().position(|c| c.name == name).expect("column") as i16 + 1;
        let (pages, visible) = (at("relpages"), at("relallvisible"));
        let mut root = Box::new(PlannerInfo::new(query, LevelInput::default()));
        for (i, child) in children.into_iter().enumerate() {
            let column = |(n, column): (i16, &ColumnInfo)| -> Expr {
                let attno = match n {
                    n if i == 1 && n == pages => visible,
                    n if i == 1 && n == visible => pages,
                    n => n,
                };
                make_var(child, attno, column.type_oid, -1, Oid::INVALID)
            };
            let columns = (1..).zip(&columns).map(column).collect();
            root.append_rels.push(AppendRel { parent: target, child, columns });
        }
        let mut planner = Planner::new(&mut host, RequiredPrivileges::default());
        let paths = planner.modify_paths(&mut root).expect("paths");
        let path = paths.cheapest().expect("a path").clone();
        let plan = planner.create_level(&mut root, &path).expect("plan");
        let PlanNode::ModifyTable(m) = plan.node else { panic!("ModifyTable expected") };
        *m
    }

    fn scans(plan: &Plan) -> Vec<i32> {
        match &plan.node {
            PlanNode::SeqScan { scanrelid } => vec![*scanrelid],
            _ => plan.children().into_iter().flat_map(scans).collect(),
        }
    }

    #[test]
    fn each_child_is_a_result_relation() {
        let sql = "UPDATE pg_class SET relpages = 1 WHERE relallvisible > 7";
        assert_eq!(TestHost::new().plan(sql).expect("plan"), "Modify(Seq pg_class)");
        let m = plan_with_children(sql);
        assert_eq!(m.nominal_relation, 1);
        assert_eq!(m.result_relations, [2, 3]);
        assert!(matches!(m.child.node, PlanNode::Append { .. }), "{:?}", m.child.node);
        assert_eq!(scans(&m.child), [2, 3]);
        let junk = m.child.info.target_list.iter().filter(|t| t.resjunk);
        let names: Vec<_> = junk.filter_map(|t| t.resname.as_deref()).collect();
        assert_eq!(names, ["ctid", "tableoid"]);
        // The children's scans test the condition on their own column.
        let tested = |scan: &Plan| match &scan.info.qual[0] {
            Expr::OpExpr(op) => match &op.args[0] {
                Expr::Var(v) => v.varattno,
                other => panic!("column expected: {other:?}"),
            },
            other => panic!("operator expected: {other:?}"),
        };
        let conditions: Vec<i16> = m.child.children().into_iter().map(tested).collect();
        assert_eq!(m.update_colnos[0], [conditions[1]]);
        assert_eq!(m.update_colnos[1], [conditions[0]]);
    }

    #[test]
    fn returning_refers_to_the_childs_columns() {
        let m = plan_with_children("DELETE FROM pg_class RETURNING relpages AS n");
        let column = |list: &Vec<plan::expr::TargetEntry>| match &list[0].expr {
            Expr::Var(v) => (v.varno, v.vartype),
            other => panic!("column expected: {other:?}"),
        };
        let columns: Vec<_> = m.returning_lists.iter().map(column).collect();
        assert_eq!(columns, [(2, INT4), (3, INT4)]);
        assert!(m.update_colnos.iter().all(Vec::is_empty));
    }
}
