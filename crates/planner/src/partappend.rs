//! Paths that append the partitions of a join or of a grouping; and the partitions of tables as
//! relations of their own. Counterpart: joinrels.c (`generate_partitionwise_join_paths`),
//! allpaths.c (`add_paths_to_append_rel`).

use crate::join::JoinRel;
use crate::partwise::{Parts, translated, translated_all, useful_below};
use crate::state::BaseRel;
use crate::state::MemberPaths;
use crate::state::{Planner, PlannerInfo};
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::{Plan, PlanInfo, PlanNode};
use querytree::path::{AppendRel, Path, PathKey, PathKind, PathRef, PathSet, starts_with};
use querytree::refs::{ChildOutputs, CreatedPlan, pass_through, targets_of};
use querytree::relids::Relids;
use querytree::vars::push_unique;
use std::rc::Rc;

/// A partition with its paths.
pub(crate) struct Child<'a> {
    pub paths: &'a PathSet,
    pub relids: &'a Relids,
}

impl Child<'_> {
    fn cheapest(&self, by: fn(&Path) -> f64) -> Option<&PathRef> {
        self.paths.unparameterized().min_by(|a, b| by(a).total_cmp(&by(b)))
    }
}

/// What the paths that append partitions have in common.
pub(crate) struct AppendTarget<'a> {
    pub relids: &'a Relids,
    pub width: i32,
    /// The output of the children if it is fixed, over the relations of the level.
    pub want: Option<Rc<[Expr]>>,
}

impl Planner<'_> {
    /// Adds the paths that append the partitions of a join whose other paths are known.
    /// Counterpart: `generate_partitionwise_join_paths`.
    pub(crate) fn finish_parts(&mut self, root: &PlannerInfo, rel: &mut JoinRel) -> Result<()> {
        if rel.relids.len() < 2 {
            return Ok(());
        }
        let Some(parts) = rel.parts.known_mut() else { return Ok(()) };
        for child in parts.children.iter_mut().flatten() {
            stdx::stack::deep(|| self.finish_parts(root, child))?;
            if child.paths.paths.is_empty() {
                parts.give_up();
                return Ok(());
            }
        }
        let mut paths = std::mem::take(&mut rel.paths);
        self.add_parts_paths(root, rel, &mut paths)?;
        rel.paths = paths;
        Ok(())
    }

    /// Adds the paths that append the partitions of the relation to `out`.
    pub(crate) fn add_parts_paths(
        &mut self,
        root: &PlannerInfo,
        rel: &JoinRel,
        out: &mut PathSet,
    ) -> Result<()> {
        let Some(parts) = rel.parts.known() else { return Ok(()) };
        let live = parts.children.iter().flatten().filter(|c| !is_dummy(&c.paths));
        let children: Vec<_> = live.map(|c| Child { paths: &c.paths, relids: &c.relids }).collect();
        if children.is_empty() {
            *out = out.above();
            out.add(dummy_path(&rel.relids, rel.width));
            return Ok(());
        }
        let target = AppendTarget { relids: &rel.relids, width: rel.width, want: None };
        self.append_children(root, &target, &children, out)
    }

    /// The paths of all joins of a level. If these are done partition by partition, the paths that
    /// append the partitions are the only ones, because the stages above compute their expressions
    /// in the partitions. Counterpart: `apply_scanjoin_target_to_paths`.
    pub(crate) fn whole_paths(&mut self, root: &PlannerInfo, rel: &JoinRel) -> Result<PathSet> {
        let mut out = rel.paths.above();
        if rel.relids.len() > 1 {
            self.add_parts_paths(root, rel, &mut out)?;
        }
        Ok(if out.paths.is_empty() { rel.paths.clone() } else { out })
    }

    /// Adds the paths that append these children. Counterpart: `add_paths_to_append_rel`.
    pub(crate) fn append_children(
        &mut self,
        root: &PlannerInfo,
        target: &AppendTarget<'_>,
        children: &[Child<'_>],
        out: &mut PathSet,
    ) -> Result<()> {
        let cheapest: Option<Vec<PathRef>> =
            children.iter().map(|c| c.cheapest(|p| p.total).cloned()).collect();
        if let Some(list) = cheapest {
            if let [only] = list.as_slice() {
                let order = order_above(root, only, target.relids)?;
                out.add(Path { order, ..self.append_parts(target, vec![only.clone()]) });
            } else {
                out.add(self.append_parts(target, list));
            }
        }
        self.ordered_children(root, target, children, out)?;
        let mut groups: Vec<&Relids> = Vec::new();
        for p in children.iter().flat_map(|c| &c.paths.paths) {
            if !p.outer.is_empty() && !groups.contains(&&p.outer) {
                groups.push(&p.outer);
            }
        }
        for outer in groups {
            let fitting = |c: &Child<'_>| {
                let own = c.paths.paths.iter().filter(|p| p.outer == *outer);
                own.min_by(|a, b| a.total.total_cmp(&b.total)).cloned()
            };
            let list: Option<Vec<PathRef>> = children.iter().map(fitting).collect();
            if let Some(list) = list {
                out.add(Path { outer: outer.clone(), ..self.append_parts(target, list) });
            }
        }
        Ok(())
    }

    /// Adds a path for each order that a child has. Counterpart: `generate_orderedappend_paths`.
    fn ordered_children(
        &mut self,
        root: &PlannerInfo,
        target: &AppendTarget<'_>,
        children: &[Child<'_>],
        out: &mut PathSet,
    ) -> Result<()> {
        // The orders of the children's paths, over the relations of the level.
        let mut known = Vec::with_capacity(children.len());
        let mut orders: Vec<Vec<PathKey>> = Vec::new();
        for c in children {
            let mut own = Vec::new();
            for p in c.paths.unparameterized() {
                let order = order_above(root, p, target.relids)?;
                if !order.is_empty() && !orders.contains(&order) {
                    orders.push(order.clone());
                }
                own.push((p, order));
            }
            known.push(own);
        }
        if children.len() < 2 {
            for (p, order) in known.into_iter().flatten() {
                out.add(Path { order, ..self.append_parts(target, vec![p.clone()]) });
            }
            return Ok(());
        }
        let costs: &[fn(&Path) -> f64] = match root.wants_early_rows() {
            true => &[|p| p.total, |p| p.startup],
            false => &[|p| p.total],
        };
        for order in &orders {
            for by in costs {
                let mut list = Vec::with_capacity(children.len());
                for (c, own) in children.iter().zip(&known) {
                    let fits = own.iter().filter(|(_, has)| starts_with(has, order));
                    let best = fits.map(|(p, _)| *p).min_by(|a, b| by(a).total_cmp(&by(b)));
                    list.push(match (best, c.cheapest(|p| p.total)) {
                        (Some(p), _) => p.clone(),
                        (None, Some(p)) => {
                            let order = order_between(root, order, target.relids, c.relids)?;
                            Rc::new(self.sorted(p, &order, None))
                        }
                        (None, None) => return Ok(()),
                    });
                }
                out.add(self.merge_parts(target, list, order));
            }
        }
        Ok(())
    }

    /// Counterpart: `cost_append`.
    fn append_parts(&self, target: &AppendTarget<'_>, children: Vec<PathRef>) -> Path {
        let rows: f64 = children.iter().map(|p| p.rows).sum();
        let children = flattened(children);
        let own = match children.len() {
            1 => 0.0,
            _ => rows * self.host.costs().cpu_tuple * 0.5,
        };
        Path {
            relids: target.relids.clone(),
            rows,
            width: target.width,
            startup: children.first().map_or(0.0, |p| p.startup),
            total: own + children.iter().map(|p| p.total).sum::<f64>(),
            order: Vec::new(),
            outer: Relids::new(),
            kind: PathKind::AppendParts { children, merges: false, want: target.want.clone() },
        }
    }

    /// Counterpart: `cost_merge_append`.
    fn merge_parts(
        &self,
        target: &AppendTarget<'_>,
        children: Vec<PathRef>,
        order: &[PathKey],
    ) -> Path {
        let c = self.host.costs();
        let rows: f64 = children.iter().map(|p| p.rows).sum();
        let children = flattened(children);
        let depth = (children.len().max(2) as f64).log2();
        let compare = 2.0 * c.cpu_operator;
        let heap = compare * children.len() as f64 * depth;
        let below: f64 = children.iter().map(|p| p.total).sum();
        Path {
            relids: target.relids.clone(),
            rows,
            width: target.width,
            startup: heap + children.iter().map(|p| p.startup).sum::<f64>(),
            total: heap + below + rows * (compare * depth + c.cpu_tuple * 0.5),
            order: order.to_vec(),
            outer: Relids::new(),
            kind: PathKind::AppendParts { children, merges: true, want: target.want.clone() },
        }
    }

    /// Creates the Append or MergeAppend node over partitions; the child alone if there is only
    /// one.
    pub(crate) fn create_append_parts(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        info: PlanInfo,
        want: &[Expr],
    ) -> Result<CreatedPlan> {
        let PathKind::AppendParts { children: paths, merges, want: fixed } = &path.kind else {
            return Err(PgError::internal("path of partitions expected"));
        };
        let relids = &path.relids;
        let mut ask = fixed.as_deref().unwrap_or(want).to_vec();
        if *merges {
            path.order.iter().for_each(|k| push_unique(&mut ask, &k.expr));
        }
        let mut children = Vec::with_capacity(paths.len());
        for path in paths {
            let members = root.translations_from(relids, &path.relids);
            let columns = translated_all(&members, &ask)?;
            let made = self.create(root, path, &columns)?;
            children.push(exactly(made, &columns)?);
        }
        let output = targets_of(&ask);
        if let [_] = children[..]
            && let Some(plan) = children.pop()
        {
            return Ok(CreatedPlan { plan, output });
        }
        let info = PlanInfo { target_list: pass_through(&output), ..info };
        // The groups of all partitions of a table are no relation that the query names.
        let is_named = |rti: &i32| fixed.is_none() || root.members.by_child.contains_key(rti);
        let relations = path.relids.iter().filter(is_named).map(|rti| root.flat(rti)).collect();
        let node = match merges {
            true => {
                let keys = self.sort_keys(&path.order, &output)?;
                PlanNode::MergeAppend { children, keys, relations, pruning: None }
            }
            false => PlanNode::Append { children, relations, pruning: None },
        };
        Ok(CreatedPlan { plan: Plan { info, node }, output })
    }

    /// A partition that is not partitioned itself.
    pub(crate) fn leaf_rel(
        &mut self,
        root: &PlannerInfo,
        top: i32,
        child: i32,
        parent: &JoinRel,
    ) -> Result<Option<JoinRel>> {
        let scans = root.members.scans.get(&top);
        let Some(scan) = scans.and_then(|s| s.all.iter().find(|m| m.member.child == child)) else {
            return Ok(None);
        };
        let relids = Relids::from([child]);
        let translations = root.translations_from(&parent.relids, &relids);
        let useful = useful_below(&parent.useful, &translations)?;
        let rel = root.rel(child)?;
        Ok(Some(JoinRel {
            rows: rel.rows,
            width: rel.width,
            paths: scan.paths.clone().with_useful_orders(&useful),
            lateral: rel.lateral.clone(),
            useful,
            parts: Parts::None,
            relids,
        }))
    }

    /// A partition that is partitioned itself, with the paths that append the scans of its
    /// partitions.
    pub(crate) fn sub_table_rel(
        &mut self,
        root: &mut PlannerInfo,
        top: i32,
        position: usize,
        parent: &JoinRel,
    ) -> Result<Option<JoinRel>> {
        let (Some(scans), Some(tables)) =
            (root.members.scans.get(&top).cloned(), root.members.partitioned.get(&top))
        else {
            return Ok(None);
        };
        let table = &tables[position];
        let (rti, relid) = (table.rti, table.relid);
        let Some(below) = table.below.clone() else { return Ok(None) };
        let mut leaves = Vec::new();
        crate::state::leaves_of(tables, position, &mut leaves);
        let (mut members, mut all, mut rows) = (Vec::new(), Vec::new(), 0.0);
        for table in tables.iter().filter_map(|t| t.below.as_ref()) {
            members.push(Rc::new(of_sub_table(&below, table)));
        }
        for leaf in scans.all.iter().filter(|m| leaves.contains(&m.member.child)) {
            let member = Rc::new(of_sub_table(&below, &leaf.member));
            rows += root.rel(leaf.member.child)?.rows;
            members.push(member.clone());
            all.push(under_sub_table(leaf, member));
        }
        if all.is_empty() {
            return Ok(None);
        }
        root.members.of_sub_tables.insert(rti, members);
        let table = Some(std::sync::Arc::new(self.host.relation(relid)?.without_indexes()));
        let whole = root.rel(top)?;
        let (rows, width) = (f64::max(rows, 1.0), whole.width);
        let quals = below.translate_all(&whole.quals)?;
        let lateral = Relids::new();
        root.rels.insert(rti, BaseRel { rti, table, quals, tuples: rows, rows, width, lateral });
        let join_quals = below.translate_all(&scans.join_quals)?;
        let mut set = PathSet::new(root.wants_early_rows());
        self.append_members(root, rti, (&join_quals, &all), &mut set)?;
        let relids = Relids::from([rti]);
        let translations = root.translations_from(&parent.relids, &relids);
        let useful = useful_below(&parent.useful, &translations)?;
        Ok(Some(JoinRel {
            rows,
            width,
            paths: set.with_useful_orders(&useful),
            lateral: Relids::new(),
            useful,
            parts: Parts::None,
            relids,
        }))
    }
}

/// A partition of a partitioned table `below` the one that the statement names.
fn of_sub_table(below: &AppendRel, leaf: &AppendRel) -> AppendRel {
    let mut columns = Vec::new();
    for (own, of_leaf) in below.columns.iter().zip(&leaf.columns) {
        let Expr::Var(v) = own else { continue };
        let at = v.varattno as usize;
        if columns.len() < at {
            columns.resize(at, of_leaf.clone());
        }
        columns[at - 1] = of_leaf.clone();
    }
    AppendRel { parent: below.child, child: leaf.child, columns, row_type: leaf.row_type }
}

/// The paths of a partition as those of a partition of this table.
fn under_sub_table(leaf: &MemberPaths, member: Rc<AppendRel>) -> MemberPaths {
    let order = |p: &PathRef| -> Vec<PathKey> {
        let key = |k: &PathKey| {
            Some(PathKey { expr: Rc::new(member.translate_up(&k.expr)?), ..k.clone() })
        };
        p.order.iter().map_while(key).collect()
    };
    let orders = leaf.paths.paths.iter().map(order).collect();
    let (paths, join_quals) = (leaf.paths.clone(), leaf.join_quals.clone());
    MemberPaths { member, paths, orders, join_quals }
}

/// The order of a partition's path as one of the rows of all partitions of this relation.
fn order_above(root: &PlannerInfo, p: &Path, relids: &Relids) -> Result<Vec<PathKey>> {
    let translations = root.translations(relids);
    let mut out = Vec::with_capacity(p.order.len());
    for k in &p.order {
        let Some(e) = root.over_parents(&k.expr) else { break };
        let expr = Rc::new(translated(&translations, &e)?);
        out.push(PathKey { expr, ..k.clone() });
    }
    Ok(out)
}

/// The order of the rows of all partitions of a relation as one of these members' rows.
pub(crate) fn order_below(
    root: &PlannerInfo,
    order: &[PathKey],
    relids: &Relids,
) -> Result<Vec<PathKey>> {
    let translations = root.translations(relids);
    order.iter().map(|k| key_below(&translations, k)).collect()
}

/// As [`order_below`], for partitions of the relation `from`.
fn order_between(
    root: &PlannerInfo,
    order: &[PathKey],
    from: &Relids,
    relids: &Relids,
) -> Result<Vec<PathKey>> {
    let translations = root.translations_from(from, relids);
    order.iter().map(|k| key_below(&translations, k)).collect()
}

fn key_below(translations: &[Rc<AppendRel>], k: &PathKey) -> Result<PathKey> {
    Ok(PathKey { expr: Rc::new(translated(translations, &k.expr)?), ..k.clone() })
}

/// The children with those of Appends in place of these. Counterpart: `accumulate_append_subpath`.
fn flattened(paths: Vec<PathRef>) -> Vec<PathRef> {
    let mut out = Vec::with_capacity(paths.len());
    for p in paths {
        match &p.kind {
            PathKind::AppendParts { children, .. } | PathKind::AppendScan { children, .. } => {
                out.extend(children.iter().cloned());
            }
            _ => out.push(p),
        }
    }
    out
}

pub(crate) fn is_dummy(paths: &PathSet) -> bool {
    !paths.paths.is_empty() && paths.paths.iter().all(|p| matches!(p.kind, PathKind::Dummy))
}

/// The path of a relation or join without rows.
pub(crate) fn dummy_path(relids: &Relids, width: i32) -> Path {
    Path {
        relids: relids.clone(),
        rows: 1.0,
        width,
        startup: 0.0,
        total: 0.0,
        order: Vec::new(),
        outer: Relids::new(),
        kind: PathKind::Dummy,
    }
}

/// The plan with these output columns and no others.
fn exactly(made: CreatedPlan, want: &[Expr]) -> Result<Plan> {
    if made.output.iter().map(|t| &t.expr).eq(want) {
        return Ok(made.plan);
    }
    let target_list = ChildOutputs::one(&made.output).fix_targets(&targets_of(want))?;
    let below = &made.plan.info;
    let info = PlanInfo {
        target_list,
        startup_cost: below.startup_cost,
        total_cost: below.total_cost,
        plan_rows: below.plan_rows,
        plan_width: below.plan_width,
        ..PlanInfo::default()
    };
    let node = PlanNode::Result { child: Some(Box::new(made.plan)), constant_qual: Vec::new() };
    Ok(Plan { info, node })
}
