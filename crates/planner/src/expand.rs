//! Expansion of the range table: adds an entry for each member of a table with inheritance
//! children. Counterpart: inherit.c.
//!
//! The level's range table has been appended to the flat one before: the members' entries follow at
//! its end (`PlannerInfo::added_entries`). Privileges are checked for the parent only.

use crate::modify::null_of;
use crate::path::AppendRel;
use crate::state::{Planner, PlannerInfo};
use ids::{AttrNo, Oid, RelKind};
use pgerror::{PgError, Result};
use plan::expr::Expr;
use plan::node::AppendRelation;
use plan::query::{Alias, RangeTblEntry, RteKind};
use querytree::host::RelationInfo;
use querytree::vars::make_var;
use std::rc::Rc;

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
    pub(crate) fn expand(&mut self, root: &mut PlannerInfo, rti: i32) -> Result<()> {
        let RteKind::Relation { relid, rellockmode, .. } = root.query.rte(rti).kind else {
            return Ok(());
        };
        if root.trees.contains(&rti) {
            return Ok(());
        }
        let children = self.host.children(relid, rellockmode)?;
        if children.is_empty() {
            root.query.rtable[rti as usize - 1].inh = false;
            return Ok(());
        }
        root.trees.insert(rti);
        let parent = self.host.relation(relid)?;
        for member in std::iter::once(relid).chain(children) {
            self.host.check_interrupts()?;
            self.add_member(root, rti, &parent, member)?;
        }
        Ok(())
    }

    /// Adds the entry of a member. Counterpart: `expand_single_inheritance_child`.
    fn add_member(
        &mut self,
        root: &mut PlannerInfo,
        rti: i32,
        parent: &RelationInfo,
        member: Oid,
    ) -> Result<()> {
        let table = self.host.relation(member)?;
        let map = column_map(parent, &table)?;
        let child = root.query.rtable.len() as i32 + 1;
        let entry = member_entry(root.query.rte(rti), &table, &map);
        self.rtable.push(entry.without_parts());
        root.added_entries.push(self.rtable.len() as i32);
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
        root.append_rels.push(Rc::new(AppendRel { parent: rti, child, columns, row_type }));
        Ok(())
    }
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
