//! Expansion of the range table: adds an entry for each member of a table with inheritance
//! children or partitions. Counterpart: inherit.c.
//!
//! The level's range table has been appended to the flat one before: the members' entries follow at
//! its end (`Members::added_entries`). Privileges are checked for the parent only.

use crate::modify::null_of;
use crate::state::{Part, PartitionedTable, Planner, PlannerInfo};
use ids::{AttrNo, Oid, RelKind};
use partition::{HashCall, PruneHost, SupportCall};
use pgerror::{PgError, Result};
use plan::expr::{CoercionForm, Const, Expr, FuncExpr, Location, ParamKind};
use plan::node::AppendRelation;
use plan::prune::{AppendPruning, PrunedPart, PrunedTable, Pruning};
use plan::query::{Alias, RangeTblEntry, RteKind};
use querytree::host::{PlannerHost, RelationInfo};
use querytree::path::{AppendRel, Path};
use querytree::prune;
use querytree::vars::{make_var, relids_of};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use types::{Comparer, Datum, oids};

impl Planner<'_> {
    /// Clears the flag `inh` of the level's tables that have no children.
    pub(crate) fn find_trees(&mut self, root: &mut PlannerInfo) -> Result<()> {
        for rte in &mut root.query.rtable {
            if rte.inh
                && let RteKind::Relation { relid, relkind, .. } = rte.kind
            {
                rte.inh =
                    relkind == RelKind::PartitionedTable || self.host.may_have_children(relid)?;
            }
        }
        Ok(())
    }

    /// Adds the members of a table whose entry has the flag `inh`; the flag is cleared if it has no
    /// children. Counterpart: `expand_inherited_rtentry`.
    /// Partitions that cannot have rows that satisfy the conditions `quals` are left out.
    pub(crate) fn expand(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        quals: &[Expr],
    ) -> Result<()> {
        let RteKind::Relation { relid, relkind, rellockmode, .. } = root.query.rte(rti).kind else {
            return Ok(());
        };
        if root.members.trees.contains(&rti) {
            return Ok(());
        }
        if self.is_contradiction(quals)? {
            root.members.trees.insert(rti);
            if relkind == RelKind::PartitionedTable {
                root.members.partitioned.insert(rti, Vec::new());
            }
            return Ok(());
        }
        if relkind == RelKind::PartitionedTable {
            let c = self.host.costs();
            root.members.partitionwise |=
                c.enable_partitionwise.joins || c.enable_partitionwise.aggregates;
            root.members.trees.insert(rti);
            root.members.partitioned.insert(rti, Vec::new());
            let top = Top { rti, table: self.host.relation(relid)?, lock: rellockmode };
            return self.expand_partitions(root, &top, None, quals).map(|_| ());
        }
        let children = self.host.children(relid, rellockmode)?;
        if children.is_empty() {
            root.query.rtable[rti as usize - 1].inh = false;
            return Ok(());
        }
        root.members.trees.insert(rti);
        let parent = self.host.relation(relid)?;
        for relid in std::iter::once(relid).chain(children) {
            self.host.check_interrupts()?;
            let member = self.add_entry(root, rti, &parent, relid)?;
            if !self.is_member_excluded(relid, &member, quals)? {
                root.members.append_rels.push(member);
            }
        }
        Ok(())
    }

    /// Adds the partitions of a table: `below` is the table, if it is not the one that the
    /// statement names. Partitions of all levels become members of the latter. Returns the
    /// table's position in `PlannerInfo::partitioned`. Counterpart: `expand_partitioned_rtentry`.
    fn expand_partitions(
        &mut self,
        root: &mut PlannerInfo,
        top: &Top,
        below: Option<Rc<AppendRel>>,
        quals: &[Expr],
    ) -> Result<usize> {
        stdx::stack::deep(|| self.expand_level(root, top, below, quals))
    }

    fn expand_level(
        &mut self,
        root: &mut PlannerInfo,
        top: &Top,
        below: Option<Rc<AppendRel>>,
        quals: &[Expr],
    ) -> Result<usize> {
        let rti = below.as_ref().map_or(top.rti, |b| b.child);
        let RteKind::Relation { relid, .. } = root.query.rte(rti).kind else {
            return Err(PgError::internal("partitioned table expected"));
        };
        let desc = self.host.partitions(relid)?;
        let own = match &below {
            Some(b) => b.translate_all(quals)?,
            None => quals.to_vec(),
        };
        // A default partition cannot be left out because of its bound.
        let own = match desc.default {
            Some(_) => self.within_partition(relid, rti, own)?,
            None => Some(own),
        };
        let live: Vec<usize> = match own {
            Some(own) if self.host.costs().enable_partition_pruning => {
                let condition = prune::of_conditions(self.host, &desc.key, rti, &own)?;
                desc.matching(&condition, &mut Constants(self.host))?.iter().collect()
            }
            Some(_) => desc.matching(&Pruning::All, &mut Constants(self.host))?.iter().collect(),
            None => Vec::new(),
        };
        let tables = root.members.partitioned.entry(top.rti).or_default();
        let position = tables.len();
        tables.push(PartitionedTable {
            relid,
            rti,
            below,
            desc: desc.clone(),
            partitions: Vec::new(),
        });
        let mut parts = Vec::new();
        for at in live {
            self.host.check_interrupts()?;
            let partition = &desc.partitions[at];
            self.host.lock_member(partition.oid, top.lock)?;
            let member = self.add_entry(root, top.rti, &top.table, partition.oid)?;
            if self.is_member_excluded(partition.oid, &member, quals)? {
                continue;
            }
            let part = match partition.is_leaf {
                true => {
                    let child = member.child;
                    root.members.append_rels.push(member);
                    Part::Leaf(child)
                }
                false => Part::Table(self.expand_partitions(root, top, Some(member), quals)?),
            };
            parts.push((at, part));
        }
        if let Some(tables) = root.members.partitioned.get_mut(&top.rti) {
            tables[position].partitions = parts;
        }
        Ok(position)
    }

    /// The pruning that an Append over these members does when it starts and while it runs, if its
    /// conditions (those on the table, and join conditions that all members test) have values that
    /// are not known now. `children` are the members in the order of the Append's children.
    /// Counterpart: `make_partition_pruneinfo`.
    pub(crate) fn append_pruning(
        &mut self,
        root: &mut PlannerInfo,
        path: &Path,
        (rti, tested, children): (i32, &[Expr], &[i32]),
    ) -> Result<Option<Box<AppendPruning>>> {
        if !self.host.costs().enable_partition_pruning
            || !root.members.partitioned.contains_key(&rti)
        {
            return Ok(None);
        }
        let mut quals = root.rel(rti)?.quals.clone();
        quals.extend_from_slice(tested);
        if !quals.iter().any(has_unknown_value) {
            return Ok(None);
        }
        let tables = root.members.partitioned.remove(&rti).unwrap_or_default();
        let places: HashMap<i32, usize> =
            children.iter().enumerate().map(|(at, child)| (*child, at)).collect();
        let mut out = AppendPruning { tables: Vec::new(), at_start: false, while_running: false };
        for table in &tables {
            let own = match &table.below {
                Some(b) => b.translate_all(&quals)?,
                None => quals.clone(),
            };
            let mut condition = prune::of_conditions(self.host, &table.desc.key, table.rti, &own)?;
            condition.each_value_mut(&mut |value| {
                *value = self.scan_expr(root, path, value);
                if plan::walk::any(value, &mut |e| is_exec_param(e)) {
                    out.while_running = true;
                } else if !matches!(value, Expr::Const(_)) {
                    out.at_start = true;
                }
            });
            let partitions = table.partitions.iter().filter_map(|(at, part)| {
                let part = match part {
                    Part::Leaf(child) => PrunedPart::Child(*places.get(child)?),
                    Part::Table(position) => PrunedPart::Table(*position),
                };
                Some((table.desc.partitions[*at].oid, part))
            });
            let partitions = partitions.collect();
            out.tables.push(PrunedTable { relid: table.relid, condition, partitions });
        }
        root.members.partitioned.insert(rti, tables);
        Ok((out.at_start || out.while_running).then(|| Box::new(out)))
    }

    /// Adds the entry of a member. Counterpart: `expand_single_inheritance_child`.
    fn add_entry(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        parent: &RelationInfo,
        member: Oid,
    ) -> Result<Rc<AppendRel>> {
        let table = self.host.relation(member)?;
        let map = column_map(parent, &table)?;
        let child = root.query.rtable.len() as i32 + 1;
        let entry = member_entry(root.query.rte(rti), &table, &map);
        self.rtable.push(entry.without_parts());
        root.members.added_entries.push(self.rtable.len() as i32);
        root.query.rtable.push(entry);
        let column = |attno: &AttrNo| match table.columns.get((*attno as usize).wrapping_sub(1)) {
            Some(c) => make_var(child, *attno, c.type_oid, c.typmod, c.collation),
            None => null_of(true, Oid::INVALID, -1, Oid::INVALID),
        };
        let columns: Vec<Expr> = map.iter().map(column).collect();
        let mut parent_columns = vec![0; table.columns.len()];
        for (own, of_parent) in map.iter().zip(1..) {
            if let Some(slot) = parent_columns.get_mut((*own as usize).wrapping_sub(1)) {
                *slot = of_parent;
            }
        }
        let (flat_parent, flat_child) = (root.flat(rti), root.flat(child));
        self.append_relations.push(AppendRelation {
            parent: flat_parent,
            child: flat_child,
            parent_columns,
        });
        let row_type = table.row_type;
        let member = Rc::new(AppendRel { parent: rti, child, columns, row_type });
        if root.members.partitionwise {
            root.members.by_child.insert(child, member.clone());
        }
        Ok(member)
    }
}

/// The partitioned table that the statement names.
struct Top {
    rti: i32,
    table: Arc<RelationInfo>,
    lock: i32,
}

/// Evaluates conditions that are known when the statement is planned.
struct Constants<'a>(&'a mut dyn PlannerHost);

impl SupportCall for Constants<'_> {
    fn hash_extended(&mut self, call: HashCall<'_>) -> Result<u64> {
        let info = self.0.type_info(call.input)?;
        let constant = |ty, len, by_val, value| {
            Expr::Const(Const {
                consttype: ty,
                consttypmod: -1,
                constcollid: call.collation,
                constlen: len,
                constbyval: by_val,
                value,
                location: Location::UNKNOWN,
            })
        };
        let value = constant(call.input, info.len, info.by_val, call.value.to_owned());
        let seed = constant(oids::INT8, 8, true, Datum::Word(call.seed));
        let folded = self.0.fold(Expr::FuncExpr(Box::new(FuncExpr {
            funcid: call.function,
            funcresulttype: oids::INT8,
            funcretset: false,
            funcvariadic: false,
            funcformat: CoercionForm::ExplicitCall,
            funccollid: Oid::INVALID,
            inputcollid: call.collation,
            args: vec![value, seed],
            location: Location::UNKNOWN,
        })))?;
        match folded {
            Expr::Const(Const { value: Datum::Word(hash), .. }) => Ok(hash),
            _ => Err(PgError::internal("hash function of a partition key is not immutable")),
        }
    }
}

impl PruneHost for Constants<'_> {
    fn value(&mut self, expr: &Expr) -> Result<Option<Datum>> {
        Ok(match expr {
            Expr::Const(c) => Some(c.value.clone()),
            Expr::Relabel(r) => return self.value(&r.arg),
            _ => None,
        })
    }

    fn comparer(
        &mut self,
        family: Oid,
        left: Oid,
        right: Oid,
        collation: Oid,
    ) -> Result<Option<Comparer>> {
        self.0.family_compare(family, left, right, collation).map(Some)
    }

    fn as_support(&mut self) -> &mut dyn SupportCall {
        self
    }
}

fn is_exec_param(e: &Expr) -> bool {
    matches!(e, Expr::Param(p) if p.paramkind == ParamKind::Exec)
}

/// True if the condition may have a value that is known only when the statement runs.
fn has_unknown_value(q: &Expr) -> bool {
    plan::walk::any(q, &mut |e| matches!(e, Expr::Param(_) | Expr::FuncExpr(_) | Expr::SqlValue(_)))
        || relids_of(q).len() > 1
}

/// The member's column for each column of the parent; 0 for dropped ones. Columns correspond by
/// name. Counterpart: `make_inh_translation_list`.
fn column_map(parent: &RelationInfo, member: &RelationInfo) -> Result<Vec<AttrNo>> {
    if parent.oid == member.oid {
        let own = parent.columns.iter().zip(1..);
        return Ok(own.map(|(c, n)| if c.dropped { 0 } else { n }).collect());
    }
    let mut out = Vec::with_capacity(parent.columns.len());
    for (i, c) in parent.columns.iter().enumerate() {
        if c.dropped {
            out.push(0);
            continue;
        }
        let same =
            |i: usize| member.columns.get(i).is_some_and(|own| !own.dropped && own.name == c.name);
        let at = if same(i) { Some(i) } else { (0..member.columns.len()).find(|&i| same(i)) };
        let Some(at) = at else {
            let what = format!(
                "could not find inherited attribute \"{}\" of relation {}",
                c.name, member.oid
            );
            return Err(PgError::internal(what));
        };
        let own = &member.columns[at];
        if (own.type_oid, own.typmod) != (c.type_oid, c.typmod) {
            let what = format!(
                "attribute \"{}\" of relation {} does not match parent's type",
                c.name, member.oid
            );
            return Err(PgError::internal(what));
        }
        out.push(at as AttrNo + 1);
    }
    Ok(out)
}

/// The range-table entry of a member. Its columns have the names that the statement gives to those
/// of the parent.
fn member_entry(parent: &RangeTblEntry, table: &RelationInfo, map: &[AttrNo]) -> RangeTblEntry {
    let mut names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    for (own, name) in map.iter().zip(&parent.eref.colnames) {
        if let Some(slot) = names.get_mut((*own as usize).wrapping_sub(1)) {
            slot.clone_from(name);
        }
    }
    let mapped = |columns: &[AttrNo]| -> Vec<AttrNo> {
        let own = |n: &AttrNo| match usize::try_from(*n - 1) {
            Ok(at) => map.get(at).copied().unwrap_or_default(),
            Err(_) => *n,
        };
        columns.iter().map(own).collect()
    };
    let alias = Alias { aliasname: parent.eref.aliasname.clone(), colnames: names };
    let mut kind = parent.kind.clone();
    if let RteKind::Relation { relid, relkind, .. } = &mut kind {
        (*relid, *relkind) = (table.oid, table.kind);
    }
    RangeTblEntry {
        kind,
        alias: Some(alias.clone()),
        eref: alias,
        lateral: parent.lateral,
        inh: false,
        in_from_cl: parent.in_from_cl,
        required_perms: 0,
        check_as_user: parent.check_as_user,
        selected_cols: mapped(&parent.selected_cols),
        inserted_cols: mapped(&parent.inserted_cols),
        updated_cols: mapped(&parent.updated_cols),
        security_quals: Vec::new(),
    }
}
