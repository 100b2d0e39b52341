//! Append relations whose members are tables of the same level: a table with inheritance children
//! or partitions. Counterpart: appendinfo.c (`adjust_appendrel_attrs`), allpaths.c
//! (`set_append_rel_size`, `set_append_rel_pathlist`).
//!
//! `PlannerInfo::append_rels` lists the members of a parent (`expand`), each with its expression
//! for each column of the parent. Conditions on the parent are tested in the scans of the members.
//! Above the scans the parent is one relation.

use crate::need::{NeededExpr, collect};
use crate::state::BaseRel;
use crate::state::{MemberPaths, PartScans, PartitionedTable, Planner, PlannerInfo};
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::{Plan, PlanInfo, PlanNode, ScanDirection};
use plan::query::{JoinTreeNode, RteKind};
use querytree::path::{AppendRel, Path, PathKey, PathKind, PathRef, PathSet, starts_with};
use querytree::refs::{ChildOutputs, CreatedPlan, pass_through, targets_of};
use querytree::relids::Relids;
use querytree::vars::{pull_vars, push_unique, relids_of, target_for};
use std::collections::HashMap;
use std::rc::Rc;

impl MemberPaths {
    /// The cheapest path without parameters that has this order of the parent's columns.
    fn cheapest(&self, order: &[PathKey], by: fn(&Path) -> f64) -> Option<&PathRef> {
        let pairs = self.paths.paths.iter().zip(&self.orders);
        let fits = pairs.filter(|(p, own)| p.outer.is_empty() && starts_with(own, order));
        fits.map(|(p, _)| p).min_by(|a, b| by(a).total_cmp(&by(b)))
    }
}

impl PlannerInfo {
    /// The members of an append relation of this level.
    pub(crate) fn members_of(&self, parent: i32) -> Vec<Rc<AppendRel>> {
        if let Some(members) = self.members.of_sub_tables.get(&parent) {
            return members.clone();
        }
        self.members
            .append_rels
            .iter()
            .filter(|a| parent > 0 && a.parent == parent)
            .cloned()
            .collect()
    }

    /// The expressions over relation `rti` by which an order of its rows may be useful.
    fn useful_keys(&self, rti: i32, join_quals: &[Expr]) -> Vec<Expr> {
        let q = &self.query;
        let windows = q.window_clause.iter();
        let clauses = windows.flat_map(|w| w.partition_clause.iter().chain(&w.order_clause));
        let clauses = clauses.chain(&q.sort_clause).chain(&q.group_clause);
        let mut out: Vec<Expr> = Vec::new();
        for c in clauses.chain(&q.distinct_clause) {
            if let Ok(e) = target_for(c, &q.target_list) {
                push_unique(&mut out, e);
            }
        }
        for resno in &self.input.from_above.wanted_columns {
            let column = q.target_list.iter().find(|t| t.resno == *resno && !t.resjunk);
            column.iter().for_each(|t| push_unique(&mut out, &t.expr));
        }
        for qual in join_quals {
            if let Expr::OpExpr(op) = qual {
                op.args.iter().for_each(|e| push_unique(&mut out, e));
            }
        }
        out.retain(|e| relids_of(e) == Relids::from([rti]));
        out
    }

    /// The direction in which the partitions of table `rti` follow one another in this order, if
    /// their bounds give it. Counterpart: `partitions_are_ordered`, `build_partition_pathkeys`.
    fn order_by_bounds(&self, rti: i32, order: &[PathKey]) -> Option<ScanDirection> {
        let tables = self.members.partitioned.get(&rti)?;
        let backward = order.first()?.descending;
        // The rows of a table with one partition need no order of partitions.
        let several = tables.iter().filter(|t| t.partitions.len() > 1);
        let mut fits = several.map(|t| self.is_order_by_bounds(t, order, backward));
        let ordered = tables.iter().any(|t| t.partitions.len() > 1) && fits.all(|fits| fits);
        let direction = if backward { ScanDirection::Backward } else { ScanDirection::Forward };
        ordered.then_some(direction)
    }

    /// True if the bounds of the table's partitions, one after another, give this order.
    /// Counterpart: `partitions_are_ordered`, `build_partition_pathkeys`.
    fn is_order_by_bounds(
        &self,
        table: &PartitionedTable,
        order: &[PathKey],
        backward: bool,
    ) -> bool {
        let live: Vec<usize> = table.partitions.iter().map(|(at, _)| *at).collect();
        if !table.desc.is_ordered(&live) {
            return false;
        }
        let own = |e: &Expr| match &table.below {
            Some(below) => below.translate(e).ok(),
            None => Some(e.clone()),
        };
        let constants: Vec<Expr> = self.constants.iter().filter_map(own).collect();
        let mut columns = table.desc.key.columns.iter();
        for k in order {
            // Key columns with one value do not matter.
            let next = columns.find_map(|column| {
                let e = crate::scan::renumber(&column.expr, table.rti);
                (!constants.contains(&e)).then_some((column, e))
            });
            let Some((column, e)) = next else { return true };
            let same = own(&k.expr).is_some_and(|own| own == e);
            let direction = k.descending == backward && k.nulls_first == backward;
            if !same || !direction || k.family != column.family || k.collation != column.collation {
                return false;
            }
        }
        true
    }

    /// The number of rows that are read of relation `rti`, if LIMIT bounds it.
    fn bounded_rows(&self, planner: &Planner<'_>, rti: i32) -> Option<f64> {
        let q = &self.query;
        let alone = matches!(q.jointree.fromlist.as_slice(), [JoinTreeNode::Rtr(r)] if *r == rti);
        let staged = q.has_aggs
            || q.has_window_funcs
            || !q.group_clause.is_empty()
            || !q.grouping_sets.is_empty()
            || !q.distinct_clause.is_empty();
        if alone && !staged { planner.limit_tuples(q) } else { None }
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
    ) -> Result<()> {
        let (mut rows, mut lateral) = (0.0, Relids::new());
        for m in root.members_of(rti) {
            self.base_rel(root, m.child, m.translate_all(quals)?)?;
            let rel = root.rel(m.child)?;
            rows += rel.rows;
            lateral.add(&rel.lateral);
        }
        let rows = f64::max(rows, 1.0);
        let table = match root.query.rte(rti).kind {
            RteKind::Relation { relid, .. } => {
                Some(std::sync::Arc::new(self.host.relation(relid)?.without_indexes()))
            }
            _ => None,
        };
        let rel =
            BaseRel { rti, table, quals: quals.to_vec(), tuples: rows, rows, width: 0, lateral };
        root.rels.insert(rti, rel);
        Ok(())
    }

    /// Adds the paths over the scans of the members: the cheapest scans one after another, scans
    /// with a common order merged, and scans with the same parameters.
    pub(crate) fn append_scan_paths(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        join_quals: &[Expr],
        needed: &[Rc<NeededExpr>],
        set: &mut PathSet,
    ) -> Result<()> {
        let members = root.members_of(rti);
        if members.is_empty() {
            set.add(dummy(rti, root.rel(rti)?.width));
            return Ok(());
        }
        let keys = root.useful_keys(rti, join_quals);
        let mut all = Vec::with_capacity(members.len());
        for member in members {
            all.push(self.member_paths(root, member, (join_quals, &keys), needed)?);
        }
        self.append_members(root, rti, (join_quals, &all), set)?;
        if root.members.partitionwise && root.members.partitioned.contains_key(&rti) {
            let join_quals = join_quals.to_vec();
            root.members.scans.insert(rti, Rc::new(PartScans { all, join_quals }));
        }
        Ok(())
    }

    /// Adds the paths over these scans of the members.
    pub(crate) fn append_members(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        (join_quals, all): (&[Expr], &[MemberPaths]),
        set: &mut PathSet,
    ) -> Result<()> {
        let children = all.iter().map(|m| m.cheapest(&[], |p| p.total).cloned());
        let children: Option<Vec<PathRef>> = children.collect();
        let Some(children) = children else { return self.lateral_append_scan(root, rti, all, set) };
        let single = all.len() == 1;
        if !single {
            set.add(self.append_of(root, (rti, &Relids::new()), children, Vec::new())?);
            self.ordered_append_scans(root, rti, all, set)?;
        }
        if single {
            let m = &all[0];
            for (p, order) in m.paths.paths.iter().zip(&m.orders) {
                if p.outer.is_empty() {
                    let path = self.append_of(root, (rti, &p.outer), vec![p.clone()], vec![])?;
                    set.add(Path { order: order.clone(), ..path });
                }
            }
        }
        self.parameterized_append_scans(root, rti, (join_quals, all), set)
    }

    /// Adds the path over scans that all need columns of other relations (TABLESAMPLE).
    fn lateral_append_scan(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        all: &[MemberPaths],
        set: &mut PathSet,
    ) -> Result<()> {
        let cheapest = |m: &MemberPaths| {
            m.paths.paths.iter().min_by(|a, b| a.total.total_cmp(&b.total)).cloned()
        };
        let children: Option<Vec<PathRef>> = all.iter().map(cheapest).collect();
        let children = children.ok_or_else(|| PgError::internal("member without a path"))?;
        let outer = children.iter().fold(Relids::new(), |all, p| all.union(&p.outer));
        set.add(self.append_of(root, (rti, &outer), children, Vec::new())?);
        Ok(())
    }

    /// Adds a path for each order that a member has.
    fn ordered_append_scans(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        all: &[MemberPaths],
        set: &mut PathSet,
    ) -> Result<()> {
        let costs: &[fn(&Path) -> f64] = match root.wants_early_rows() {
            true => &[|p| p.total, |p| p.startup],
            false => &[|p| p.total],
        };
        let mut orders: Vec<&[PathKey]> = Vec::new();
        for order in all.iter().flat_map(|m| &m.orders) {
            if !order.is_empty() && !orders.contains(&order.as_slice()) {
                orders.push(order);
            }
        }
        let limit = root.bounded_rows(self, rti);
        for order in orders {
            let by_bounds = root.order_by_bounds(rti, order);
            for by in costs {
                let mut children = Vec::with_capacity(all.len());
                for m in all {
                    children.push(match m.cheapest(order, *by) {
                        Some(p) => p.clone(),
                        None => {
                            let p = m.cheapest(&[], |p| p.total);
                            let p = p.ok_or_else(|| PgError::internal("member without a path"))?;
                            let own = m.member.translate_order(order)?;
                            Rc::new(self.sorted(p, &own, limit))
                        }
                    });
                }
                set.add(match by_bounds {
                    Some(direction) => {
                        if direction == ScanDirection::Backward {
                            children.reverse();
                        }
                        let path = self.append_of(root, (rti, &Relids::new()), children, vec![])?;
                        Path { order: order.to_vec(), ..path }
                    }
                    None => self.merge_append_of(root, rti, children, order)?,
                });
            }
        }
        Ok(())
    }

    fn member_paths(
        &mut self,
        root: &mut PlannerInfo,
        member: Rc<AppendRel>,
        (join_quals, keys): (&[Expr], &[Expr]),
        needed: &[Rc<NeededExpr>],
    ) -> Result<MemberPaths> {
        self.host.check_interrupts()?;
        let mut own = Vec::new();
        for need in needed.iter().filter(|n| n.relids.contains(&member.parent)) {
            own.push(Rc::new(need.for_member(&member)?));
        }
        self.set_width(root, member.child, &own)?;
        let join_quals = member.translate_all(join_quals)?;
        let paths = self.scan_paths(root, member.child, &join_quals, &own)?;
        let mut orders = Vec::with_capacity(paths.paths.len());
        for p in &paths.paths {
            let mut order: Vec<PathKey> = Vec::new();
            for k in &p.order {
                let Some(e) = member.translate_up(&k.expr) else { break };
                let class = root.column_class(&e);
                if class.is_none() && !keys.contains(&e) {
                    break;
                }
                order.push(PathKey { expr: Rc::new(e), class, ..k.clone() });
            }
            orders.push(order);
        }
        Ok(MemberPaths { member, paths, orders, join_quals })
    }

    /// The path that appends these scans. Counterpart: `cost_append`.
    fn append_of(
        &self,
        root: &PlannerInfo,
        (rti, outer): (i32, &Relids),
        children: Vec<PathRef>,
        tested: Vec<Expr>,
    ) -> Result<Path> {
        let rel = root.rel(rti)?;
        let rows: f64 = match outer.is_empty() {
            true => rel.rows,
            false => children.iter().map(|p| p.rows).sum(),
        };
        let own = match children.len() {
            1 => 0.0,
            _ => rows * self.host.costs().cpu_tuple * 0.5,
        };
        Ok(Path {
            relids: Relids::from([rti]),
            rows,
            width: rel.width,
            startup: children.first().map_or(0.0, |p| p.startup),
            total: own + children.iter().map(|p| p.total).sum::<f64>(),
            order: Vec::new(),
            outer: outer.clone(),
            kind: PathKind::AppendScan { rti, children, tested, merges: false },
        })
    }

    /// The path that merges these scans. Counterpart: `cost_merge_append`.
    fn merge_append_of(
        &self,
        root: &PlannerInfo,
        rti: i32,
        children: Vec<PathRef>,
        order: &[PathKey],
    ) -> Result<Path> {
        let c = self.host.costs();
        let count = children.len() as f64;
        let depth = count.max(2.0).log2();
        let compare = 2.0 * c.cpu_operator;
        let heap = compare * count * depth;
        let rel = root.rel(rti)?;
        let below: f64 = children.iter().map(|p| p.total).sum();
        Ok(Path {
            relids: Relids::from([rti]),
            rows: rel.rows,
            width: rel.width,
            startup: heap + children.iter().map(|p| p.startup).sum::<f64>(),
            total: heap + below + rel.rows * (compare * depth + c.cpu_tuple * 0.5),
            order: order.to_vec(),
            outer: Relids::new(),
            kind: PathKind::AppendScan { rti, children, tested: Vec::new(), merges: true },
        })
    }

    /// Adds a path for each set of relations that supplies the parameters of a member's scan: all
    /// members test the join conditions with these relations.
    fn parameterized_append_scans(
        &mut self,
        root: &PlannerInfo,
        rti: i32,
        (join_quals, all): (&[Expr], &[MemberPaths]),
        set: &mut PathSet,
    ) -> Result<()> {
        let mut groups: Vec<Relids> = Vec::new();
        for p in all.iter().flat_map(|m| &m.paths.paths) {
            if !p.outer.is_empty() && !groups.contains(&p.outer) {
                groups.push(p.outer.clone());
            }
        }
        for outer in groups {
            let mut children = Vec::with_capacity(all.len());
            for m in all {
                let own = m.paths.paths.iter().filter(|p| p.outer == outer);
                let cheapest = own.min_by(|a, b| a.total.total_cmp(&b.total)).cloned();
                let sequential = self.reparameterized(root, m, &outer)?;
                let both = cheapest.into_iter().chain(sequential);
                children.extend(both.min_by(|a, b| a.total.total_cmp(&b.total)));
            }
            if children.len() == all.len() {
                let tested = self.testable_join_quals(root, rti, join_quals, &outer, &|_| false)?;
                set.add(self.append_of(root, (rti, &outer), children, tested)?);
            }
        }
        Ok(())
    }

    /// A sequential scan of the member that tests the join conditions with `outer`. Counterpart:
    /// `reparameterize_path`.
    fn reparameterized(
        &mut self,
        root: &PlannerInfo,
        m: &MemberPaths,
        outer: &Relids,
    ) -> Result<Option<PathRef>> {
        let rti = m.member.child;
        let is_plain =
            |p: &&PathRef| p.outer.is_empty() && matches!(p.kind, PathKind::SeqScan { .. });
        let Some(scan) = m.paths.paths.iter().find(is_plain) else { return Ok(None) };
        let PathKind::SeqScan { quals, .. } = &scan.kind else { return Ok(None) };
        let mut more = self.testable_join_quals(root, rti, &m.join_quals, outer, &|_| false)?;
        // The outer side of an equality comes first, as in conditions of equivalence classes.
        for q in &mut more {
            if let Expr::OpExpr(op) = q
                && relids_of(&op.args[0]) == Relids::from([rti])
                && self.host.operator(op.opno)?.can_merge
            {
                *q = self.commute(q)?;
            }
        }
        let selected = self.lookup_selectivity(root, rti, &more)?;
        let tuples = root.rel(rti)?.tuples;
        let total = scan.total + tuples * self.quals_cost(&more)?;
        let kind = PathKind::SeqScan { rti, quals: [&quals[..], &more].concat() };
        let rows = crate::rel::clamp_rows(scan.rows * selected);
        Ok(Some(Rc::new(Path { kind, rows, total, outer: outer.clone(), ..Path::clone(scan) })))
    }

    /// Creates the Append or MergeAppend node over the members' scans; the scan alone if there is
    /// only one.
    pub(crate) fn create_append_scan(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let PathKind::AppendScan { rti, children: paths, merges, tested } = &path.kind else {
            return Err(PgError::internal("path of an append relation expected"));
        };
        // The members of a partitioned table compute expressions; above others a Result does.
        let simple = want.iter().all(|e| matches!(e, Expr::Var(_)));
        let is_partitioned = root.members.partitioned.contains_key(rti);
        let mut ask = want.to_vec();
        if !simple && !is_partitioned && paths.len() > 1 {
            ask.clear();
            want.iter().for_each(|e| pull_vars(e, &mut ask));
        }
        if *merges {
            path.order.iter().for_each(|k| push_unique(&mut ask, &k.expr));
        }
        let members: HashMap<i32, Rc<AppendRel>> =
            root.members_of(*rti).into_iter().map(|m| (m.child, m)).collect();
        let mut children = Vec::with_capacity(paths.len());
        let mut scanned = Vec::with_capacity(paths.len());
        for path in paths {
            let member = path.relids.iter().find_map(|child| members.get(&child));
            let member = member.ok_or_else(|| PgError::internal("member of no append relation"))?;
            let columns = member.translate_all(&ask)?;
            scanned.push(member.child);
            children.push(self.create(root, path, &columns)?.plan);
        }
        let output = targets_of(&ask);
        if let [_] = children[..]
            && let Some(only) = children.pop()
        {
            return Ok(CreatedPlan { plan: only, output });
        }
        let info = PlanInfo { target_list: pass_through(&output), ..info };
        let relations = vec![root.flat(*rti)];
        let pruning = self.append_pruning(root, path, (*rti, tested, &scanned))?;
        let node = match merges {
            true => {
                let keys = self.sort_keys(&path.order, &output)?;
                PlanNode::MergeAppend { children, keys, relations, pruning }
            }
            false => PlanNode::Append { children, relations, pruning },
        };
        let made = CreatedPlan { plan: Plan { info, node }, output };
        if simple || is_partitioned {
            return Ok(made);
        }
        let output = targets_of(want);
        let target_list = ChildOutputs::one(&made.output).fix_targets(&output)?;
        let info = PlanInfo { target_list, ..path.info() };
        let node = PlanNode::Result { child: Some(Box::new(made.plan)), constant_qual: Vec::new() };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }
}

/// The path of a relation without rows.
fn dummy(rti: i32, width: i32) -> Path {
    Path {
        relids: Relids::from([rti]),
        rows: 1.0,
        width,
        startup: 0.0,
        total: 0.0,
        order: Vec::new(),
        outer: Relids::new(),
        kind: PathKind::Dummy,
    }
}

impl NeededExpr {
    /// Translates the need to a member of an append relation.
    fn for_member(&self, m: &AppendRel) -> Result<NeededExpr> {
        let mut columns = Vec::with_capacity(self.columns.len());
        let mut relids = Relids::new();
        for column in &self.columns {
            let of_member = m.translate(column)?;
            relids.extend(relids_of(&of_member));
            // A whole row of the parent is a converted row of the member.
            collect(&of_member, &mut columns);
        }
        Ok(NeededExpr { relids, columns, always: self.always, operands: None })
    }
}

#[cfg(test)]
mod tests {
    use crate::state::{LevelInput, Planner, PlannerInfo};
    use crate::test_host::TestHost;
    use ids::Oid;
    use plan::expr::Expr;
    use plan::node::{ModifyTable, Plan, PlanNode, RequiredPrivileges};
    use plan::query::{Query, RteKind};
    use querytree::host::{ColumnInfo, RelationLookup};
    use querytree::path::AppendRel;
    use querytree::vars::make_var;
    use std::rc::Rc;

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
            let row_type = Oid::INVALID;
            root.members.append_rels.push(Rc::new(AppendRel {
                parent: target,
                child,
                columns,
                row_type,
            }));
        }
        root.members.trees.insert(target);
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
        let sql = "UPDATE pg_class SET relpages = relallvisible WHERE relallvisible > 7";
        assert_eq!(TestHost::new().plan(sql).expect("plan"), "Modify(Seq pg_class)");
        let m = plan_with_children(sql);
        assert_eq!(m.nominal_relation, 1);
        assert_eq!(m.result_relations, [2, 3]);
        assert!(matches!(m.child.node, PlanNode::Append { .. }), "{:?}", m.child.node);
        assert_eq!(scans(&m.child), [2, 3]);
        let junk = m.child.info.target_list.iter().filter(|t| t.resjunk);
        let names: Vec<_> = junk.filter_map(|t| t.resname.as_deref()).collect();
        assert_eq!(names, ["tableoid", "ctid"]);
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
