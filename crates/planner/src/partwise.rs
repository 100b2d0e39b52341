//! Joins done partition by partition: partitioned relations that are joined on their partition
//! keys. Counterpart: joinrels.c (`try_partitionwise_join`), relnode.c
//! (`build_joinrel_partition_info`).
//!
//! A join of partitioned relations is itself partitioned: its partitions are the joins of their
//! partitions. They get their paths together with the join's own paths (`join_partitions`). Once
//! all paths of a join are known, those that append its partitions are added (`partappend`).
//! Partitions may be partitioned themselves, so that all of this is recursive.
//!
//! A path of a partition that takes parameters from the other side of the join takes them from the
//! partition of that side that it is joined with (`childpath`).

use crate::clause::Clause;
use crate::join::JoinRel;
use crate::state::{Part, Planner, PlannerInfo};
use ids::Oid;
use ids::code::PartStrategy;
use partition::{Layout, PartitionKey};
use pgerror::Result;
use plan::expr::{CoalesceExpr, Expr, Location};
use plan::query::JoinType;
use querytree::path::{AppendRel, Ordered, Path, PathSet, UsefulOrders};
use querytree::relids::Relids;
use querytree::vars::push_unique;
use std::rc::Rc;
use std::sync::Arc;

/// What is known about the partitions of a relation or join.
#[derive(Clone, Debug, Default)]
pub(crate) enum Parts {
    /// No join of the relations has been tried yet.
    #[default]
    Unknown,
    None,
    Some(Rc<Partitions>),
}

/// A partitioned relation. Counterpart: the part of `RelOptInfo` on partitioning.
#[derive(Clone)]
pub(crate) struct Partitions {
    /// The key of one of the joined tables. The others have the same strategy, operator families
    /// and collations.
    key: Arc<PartitionKey>,
    /// For each column of the key.
    columns: Vec<KeyExprs>,
    /// It can be joined partition by partition. Counterpart: `consider_partitionwise_join`.
    joinable: bool,
    bounds: PartBounds,
    /// `None` for a partition without rows, or one that was left out.
    pub children: Vec<Option<JoinRel>>,
}

impl std::fmt::Debug for Partitions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partitions").field("children", &self.children).finish_non_exhaustive()
    }
}

/// Expressions that have the value of a partition key's column.
#[derive(Clone, Default)]
pub(crate) struct KeyExprs {
    pub exprs: Vec<Expr>,
    /// Those that may be NULL instead, by an outer join.
    nullable: Vec<Expr>,
}

#[derive(Clone)]
enum PartBounds {
    /// No pair of partitioned relations has been joined to this join yet.
    Unknown,
    /// The relation cannot be partitioned.
    None,
    Some {
        layout: Rc<Layout>,
        /// Partitions of the two sides of a join do not correspond by their numbers.
        merged: bool,
    },
}

impl Parts {
    /// The partitions, if the relation is partitioned. Counterpart: `IS_PARTITIONED_REL`.
    pub(crate) fn known(&self) -> Option<&Partitions> {
        match self {
            Parts::Some(parts) if matches!(parts.bounds, PartBounds::Some { .. }) => Some(parts),
            _ => None,
        }
    }

    /// As [`Self::known`], for changes.
    pub(crate) fn known_mut(&mut self) -> Option<&mut Partitions> {
        match self {
            Parts::Some(parts) if matches!(parts.bounds, PartBounds::Some { .. }) => {
                Some(Rc::make_mut(parts))
            }
            _ => None,
        }
    }

    /// Adds the paths of the partitions of another join of the same relations.
    pub(crate) fn add_paths(&mut self, more: &Parts) {
        let (Some(own), Some(more)) = (self.known_mut(), more.known()) else { return };
        for child in own.children.iter_mut().flatten() {
            let other = more.children.iter().flatten().find(|c| c.relids == child.relids);
            let Some(other) = other else { continue };
            child.parts.add_paths(&other.parts);
            for p in &other.paths.paths {
                child.paths.add(Path { rows: child.rows, ..Path::clone(p) });
            }
        }
    }

    /// The same partitions with other paths.
    pub(crate) fn map(
        &self,
        f: &mut dyn FnMut(&JoinRel) -> Result<Option<JoinRel>>,
    ) -> Result<Parts> {
        let Some(known) = self.known() else { return Ok(Parts::None) };
        let mut parts = known.clone();
        for child in &mut parts.children {
            if let Some(rel) = child {
                let Some(new) = f(rel)? else { return Ok(Parts::None) };
                *child = Some(new);
            }
        }
        Ok(Parts::Some(Rc::new(parts)))
    }
}

impl Partitions {
    /// The relation cannot be partitioned.
    pub(crate) fn give_up(&mut self) {
        self.bounds = PartBounds::None;
        self.children.clear();
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = (&KeyExprs, Oid)> {
        self.columns.iter().zip(self.key.columns.iter().map(|c| c.collation))
    }

    /// True if relations with these keys can be joined partition by partition. Counterpart:
    /// `find_partition_scheme`.
    fn has_scheme_of(&self, other: &Partitions) -> bool {
        let columns = self.key.columns.iter().zip(&other.key.columns);
        self.key.strategy == other.key.strategy
            && self.key.columns.len() == other.key.columns.len()
            && { columns }
                .all(|(a, b)| (a.family, a.input, a.collation) == (b.family, b.input, b.collation))
    }

    /// The column of the key whose value the expression has. Counterpart:
    /// `match_expr_to_partition_keys`.
    fn column_of(&self, e: &Expr) -> Option<usize> {
        let e = crate::selectivity::strip(e);
        self.columns.iter().position(|c| c.exprs.contains(e) || c.nullable.contains(e))
    }

    /// The partitions that a partition of a join of this relation is made of.
    fn child_in(&self, relids: &Relids) -> Option<&JoinRel> {
        self.children.iter().flatten().find(|c| c.relids.is_subset(relids))
    }

    fn live(&self) -> Vec<bool> {
        self.children.iter().map(Option::is_some).collect()
    }
}

/// A join of two partitioned relations.
struct PartJoin<'a> {
    jointype: JoinType,
    l: &'a Partitions,
    r: &'a Partitions,
    clauses: Vec<Expr>,
}

impl PartJoin<'_> {
    /// True if the join has no rows of this pair of partitions.
    fn skips(&self, l: Option<&JoinRel>, r: Option<&JoinRel>) -> bool {
        match self.jointype {
            JoinType::Inner | JoinType::Semi => l.is_none() || r.is_none(),
            JoinType::Left | JoinType::Anti => l.is_none(),
            JoinType::Full => l.is_none() && r.is_none(),
            JoinType::Right => r.is_none(),
        }
    }
}

impl PlannerInfo {
    /// How expressions over the relations of the level become expressions over these members.
    pub(crate) fn translations(&self, relids: &Relids) -> Vec<Rc<AppendRel>> {
        relids.iter().filter_map(|rti| self.members.by_child.get(&rti).cloned()).collect()
    }

    /// How expressions over these relations, which may be partitions themselves, become expressions
    /// over their partitions.
    pub(crate) fn translations_from(&self, from: &Relids, relids: &Relids) -> Vec<Rc<AppendRel>> {
        let of_sub_table = |child: i32| {
            let tables = from.iter().filter_map(|rti| self.members.of_sub_tables.get(&rti));
            tables.flatten().find(|m| m.child == child).cloned()
        };
        let member = |child: i32| match self.members.by_child.get(&child) {
            Some(m) if from.contains(&m.parent) => Some(m.clone()),
            _ => of_sub_table(child),
        };
        relids.iter().filter_map(member).collect()
    }

    /// The expression over members of this level as one over the tables that the query names;
    /// `None` if it has no columns of members.
    pub(crate) fn over_parents(&self, e: &Expr) -> Option<Expr> {
        if !self.members.partitionwise {
            return None;
        }
        let translations = self.translations(&querytree::vars::relids_of(e));
        if translations.is_empty() {
            return None;
        }
        translations.iter().try_fold(e.clone(), |e, t| t.translate_up(&e))
    }
}

/// Translates an expression by several members.
pub(crate) fn translated(translations: &[Rc<AppendRel>], e: &Expr) -> Result<Expr> {
    translations.iter().try_fold(e.clone(), |e, t| t.translate(&e))
}

pub(crate) fn translated_all(translations: &[Rc<AppendRel>], list: &[Expr]) -> Result<Vec<Expr>> {
    list.iter().map(|e| translated(translations, e)).collect()
}

/// The orders that are useful above a partition.
pub(crate) fn useful_below(
    useful: &UsefulOrders,
    translations: &[Rc<AppendRel>],
) -> Result<UsefulOrders> {
    let list = |list: &[Ordered]| -> Result<Vec<Ordered>> {
        let each = list.iter().map(|o| {
            Ok(Ordered { expr: Rc::new(translated(translations, &o.expr)?), class: o.class })
        });
        each.collect()
    };
    Ok(UsefulOrders { merges: list(&useful.merges)?, query: list(&useful.query)? })
}

impl Planner<'_> {
    /// The partitions of a table, whose scan paths have been made. `joinable`: its whole row is not
    /// needed.
    pub(crate) fn table_parts(
        &mut self,
        root: &mut PlannerInfo,
        rel: &JoinRel,
        joinable: bool,
    ) -> Result<Parts> {
        let Some(rti) = rel.relids.first() else { return Ok(Parts::None) };
        if !root.members.partitionwise || !root.members.scans.contains_key(&rti) {
            return Ok(Parts::None);
        }
        let joinable = joinable && self.host.costs().enable_partitionwise.joins;
        self.parts_at(root, rti, 0, (rel, joinable))
    }

    fn parts_at(
        &mut self,
        root: &mut PlannerInfo,
        top: i32,
        position: usize,
        (rel, joinable): (&JoinRel, bool),
    ) -> Result<Parts> {
        let Some(table) = root.members.partitioned.get(&top).and_then(|t| t.get(position)) else {
            return Ok(Parts::None);
        };
        let (desc, rti, live) = (table.desc.clone(), table.rti, table.partitions.clone());
        let mut children: Vec<Option<JoinRel>> = Vec::new();
        children.resize_with(desc.partitions.len(), || None);
        for (at, part) in live {
            let child = match part {
                Part::Leaf(child) => self.leaf_rel(root, top, child, rel)?,
                Part::Table(position) => match self.sub_table_rel(root, top, position, rel)? {
                    Some(mut sub) => {
                        sub.parts = stdx::stack::deep(|| {
                            self.parts_at(root, top, position, (&sub, joinable))
                        })?;
                        Some(sub)
                    }
                    None => None,
                },
            };
            children[at] = child;
        }
        let columns = desc.key.columns.iter().map(|c| KeyExprs {
            exprs: vec![crate::scan::renumber(crate::selectivity::strip(&c.expr), rti)],
            nullable: Vec::new(),
        });
        let columns = columns.collect();
        let bounds = PartBounds::Some { layout: Rc::new(Layout::of(&desc)), merged: false };
        let key = desc.key.clone();
        Ok(Parts::Some(Rc::new(Partitions { key, columns, joinable, bounds, children })))
    }

    /// Adds the paths of the partitions of the join of `l` and `r`. Counterpart:
    /// `try_partitionwise_join`.
    pub(crate) fn join_partitions(
        &mut self,
        root: &PlannerInfo,
        jointype: JoinType,
        (l, r): (&JoinRel, &JoinRel),
        clauses: &[Rc<Clause>],
        out: &mut JoinRel,
    ) -> Result<()> {
        if !root.members.partitionwise || !self.host.costs().enable_partitionwise.joins {
            return Ok(());
        }
        if matches!(out.parts, Parts::Unknown) {
            out.parts = self.joined_parts(jointype, l, r, clauses)?;
        }
        let (Some(l), Some(r)) = (l.parts.known(), r.parts.known()) else { return Ok(()) };
        let Parts::Some(mut parts) = std::mem::take(&mut out.parts) else {
            out.parts = Parts::None;
            return Ok(());
        };
        let clauses = clauses.iter().map(|c| (*c.expr).clone()).collect();
        let join = PartJoin { jointype, l, r, clauses };
        let target = Rc::make_mut(&mut parts);
        if !self.join_children(root, &join, out, target)? {
            target.give_up();
        }
        out.parts = Parts::Some(parts);
        Ok(())
    }

    /// False if the join cannot be done partition by partition.
    fn join_children(
        &mut self,
        root: &PlannerInfo,
        join: &PartJoin<'_>,
        out: &JoinRel,
        target: &mut Partitions,
    ) -> Result<bool> {
        let mut pairs: Vec<(Option<usize>, Option<usize>)> = Vec::new();
        match &target.bounds {
            PartBounds::None => return Ok(false),
            PartBounds::Unknown => match matching(join) {
                Some((bounds, found)) => {
                    target.bounds = bounds;
                    target.children.resize_with(found.len(), || None);
                    pairs = found;
                }
                None => return Ok(false),
            },
            PartBounds::Some { merged: true, .. } => {}
            PartBounds::Some { layout, .. } => {
                pairs = (0..layout.count).map(|at| (Some(at), Some(at))).collect();
            }
        }
        let by_number = !pairs.is_empty();
        let child = |parts: &Partitions, at: Option<usize>| -> Option<JoinRel> {
            parts.children.get(at?).cloned().flatten()
        };
        let mut children = std::mem::take(&mut target.children);
        for (at, slot) in children.iter_mut().enumerate() {
            let (l, r) = match &*slot {
                _ if by_number => (child(join.l, pairs[at].0), child(join.r, pairs[at].1)),
                Some(known) => {
                    let side = |parts: &Partitions| parts.child_in(&known.relids).cloned();
                    (side(join.l), side(join.r))
                }
                None => continue,
            };
            if join.skips(l.as_ref(), r.as_ref()) {
                continue;
            }
            let (Some(l), Some(r)) = (l, r) else { return Ok(false) };
            let known = slot.take();
            *slot = Some(self.join_child(root, join, (l, r), out, known)?);
        }
        target.children = children;
        Ok(true)
    }

    /// Adds the paths of a pair of partitions. Counterpart: `build_child_join_rel`.
    fn join_child(
        &mut self,
        root: &PlannerInfo,
        join: &PartJoin<'_>,
        (l, r): (JoinRel, JoinRel),
        parent: &JoinRel,
        known: Option<JoinRel>,
    ) -> Result<JoinRel> {
        self.host.check_interrupts()?;
        let relids = l.relids.union(&r.relids);
        let translations = root.translations_from(&parent.relids, &relids);
        let exprs = translated_all(&translations, &join.clauses)?;
        let clauses = self.clauses(root, &exprs)?;
        let mut out = match known {
            Some(known) => known,
            None => JoinRel {
                rows: self.join_rows(root, join.jointype, &l, &r, &clauses)?,
                width: parent.width,
                paths: PathSet::new(root.wants_early_rows()),
                lateral: parent.lateral.clone(),
                useful: useful_below(&parent.useful, &translations)?,
                parts: Parts::Unknown,
                relids,
            },
        };
        let (l, r) = (for_partner(&l, &r, root)?, for_partner(&r, &l, root)?);
        stdx::stack::deep(|| self.join_paths(root, join.jointype, &l, &r, &clauses, &mut out))?;
        if join.jointype == JoinType::Full {
            stdx::stack::deep(|| {
                self.join_paths(root, JoinType::Full, &r, &l, &clauses, &mut out)
            })?;
        }
        Ok(out)
    }

    /// The partition key of a join, if it can be done partition by partition. Counterpart:
    /// `build_joinrel_partition_info`.
    fn joined_parts(
        &mut self,
        jointype: JoinType,
        l: &JoinRel,
        r: &JoinRel,
        clauses: &[Rc<Clause>],
    ) -> Result<Parts> {
        let (Parts::Some(a), Parts::Some(b)) = (&l.parts, &r.parts) else {
            return Ok(Parts::None);
        };
        let fits = a.joinable && b.joinable && a.has_scheme_of(b);
        if !fits || !self.joins_keys((l, a), (r, b), clauses)? {
            return Ok(Parts::None);
        }
        let columns = a.columns.iter().zip(&b.columns);
        Ok(Parts::Some(Rc::new(Partitions {
            key: a.key.clone(),
            columns: columns.map(|(a, b)| joined_column(jointype, a, b)).collect(),
            joinable: true,
            bounds: PartBounds::Unknown,
            children: Vec::new(),
        })))
    }

    /// True if each column of the partition keys is compared with that of the other side.
    /// Counterpart: `have_partkey_equi_join`.
    fn joins_keys(
        &mut self,
        (l, a): (&JoinRel, &Partitions),
        (r, b): (&JoinRel, &Partitions),
        clauses: &[Rc<Clause>],
    ) -> Result<bool> {
        let mut equal = vec![false; a.columns.len()];
        for clause in clauses {
            let Expr::OpExpr(op) = &*clause.expr else { continue };
            let (Some(as_written), [x, y]) = (clause.is_as_written(l, r), op.args.as_slice())
            else {
                continue;
            };
            let (x, y) = if as_written { (x, y) } else { (y, x) };
            let Some(column) = a.column_of(x).filter(|n| b.column_of(y) == Some(*n)) else {
                continue;
            };
            let key = &a.key.columns[column];
            if key.collation != op.inputcollid {
                return Ok(false);
            }
            equal[column] |= match a.key.strategy {
                PartStrategy::Hash => {
                    self.can_hash(op)? && self.host.strategy(op.opno, key.family)?.is_some()
                }
                _ => self.host.equality_families(op.opno)?.contains(&key.family),
            };
        }
        Ok(equal.iter().all(|equal| *equal))
    }
}

/// The partitions of a join, and the pairs of partitions that they are made of. Counterpart:
/// `compute_partition_bounds`.
fn matching(join: &PartJoin<'_>) -> Option<(PartBounds, Vec<(Option<usize>, Option<usize>)>)> {
    let (
        PartBounds::Some { layout: a, merged: a_merged },
        PartBounds::Some { layout: b, merged: b_merged },
    ) = (&join.l.bounds, &join.r.bounds)
    else {
        return None;
    };
    if !a_merged && !b_merged && (Rc::ptr_eq(a, b) || a == b) {
        let pairs = (0..a.count).map(|at| (Some(at), Some(at))).collect();
        return Some((PartBounds::Some { layout: a.clone(), merged: false }, pairs));
    }
    let live = [join.l.live(), join.r.live()];
    let merged = a.merge(b, &join.l.key, join.jointype, [&live[0], &live[1]])?;
    Some((PartBounds::Some { layout: Rc::new(merged.layout), merged: true }, merged.pairs))
}

/// The relation with the parameters of its paths taken from partitions of the other side.
fn for_partner(rel: &JoinRel, partner: &JoinRel, root: &PlannerInfo) -> Result<JoinRel> {
    if rel.paths.paths.iter().all(|p| p.outer.is_empty()) {
        return Ok(rel.clone());
    }
    let translations = root.translations(&partner.relids);
    let mut paths = rel.paths.above();
    for p in &rel.paths.paths {
        if translations.iter().any(|t| p.outer.contains(&t.parent)) {
            if let Some(p) = crate::childpath::with_parameters(p, &translations)? {
                paths.add_ref(p);
            }
        } else {
            paths.add_ref(p.clone());
        }
    }
    Ok(JoinRel { paths, ..rel.clone() })
}

/// Counterpart: `set_joinrel_partition_key_exprs`.
fn joined_column(jointype: JoinType, a: &KeyExprs, b: &KeyExprs) -> KeyExprs {
    let union = |lists: &[&[Expr]]| {
        let mut out = Vec::new();
        lists.iter().flat_map(|list| list.iter()).for_each(|e| push_unique(&mut out, e));
        out
    };
    match jointype {
        JoinType::Inner => KeyExprs {
            exprs: union(&[&a.exprs, &b.exprs]),
            nullable: union(&[&a.nullable, &b.nullable]),
        },
        JoinType::Semi | JoinType::Anti => a.clone(),
        JoinType::Left | JoinType::Right => KeyExprs {
            exprs: a.exprs.clone(),
            nullable: union(&[&b.exprs, &a.nullable, &b.nullable]),
        },
        JoinType::Full => {
            let mut nullable = union(&[&a.exprs, &b.exprs, &a.nullable, &b.nullable]);
            // The merged column of USING.
            for x in a.exprs.iter().chain(&a.nullable) {
                for y in b.exprs.iter().chain(&b.nullable) {
                    push_unique(&mut nullable, &either(x, y));
                }
            }
            KeyExprs { exprs: Vec::new(), nullable }
        }
    }
}

fn either(x: &Expr, y: &Expr) -> Expr {
    Expr::Coalesce(Box::new(CoalesceExpr {
        coalescetype: x.type_oid(),
        coalescecollid: x.collation(),
        args: vec![x.clone(), y.clone()],
        location: Location::UNKNOWN,
    }))
}
