//! Dependencies between objects (`pg_depend`, `pg_shdepend`) and the order of a cascading drop.
//!
//! A drop is planned first: the dependents of each object are collected depth first, so that every
//! object comes after its dependents in the result. An object that is an internal part of another
//! one (the index of a constraint, the row type of a table) cannot be dropped alone. If it is
//! reached through another dependency, its owner is dropped with it. `commands` executes the plan
//! object by object.
//!
//! Counterpart: dependency.c, pg_depend.c, pg_shdepend.c.

use crate::cache::Row;
use crate::cx::CatCx;
use crate::rows::{
    CatalogRow, PgAuthid, PgClass, PgDatabase, PgDepend, PgLargeobject, PgNamespace, PgShdepend,
    PgTablespace, indexes,
};
use ids::Oid;
use ids::code::{DepType, SharedDepType};
use pgerror::{PgError, Result, SqlState};
use std::fmt::Write as _;

/// An object, or a column of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ObjectAddress {
    /// OID of the catalog with the object's row.
    pub class: Oid,
    pub object: Oid,
    /// Attribute number, or 0 for the whole object.
    pub sub: i32,
}

impl ObjectAddress {
    /// A whole object of the catalog `class`.
    pub const fn new(class: Oid, object: Oid) -> ObjectAddress {
        ObjectAddress { class, object, sub: 0 }
    }

    /// The object whose row is in the catalog of `R`.
    pub const fn of<R: CatalogRow>(object: Oid) -> ObjectAddress {
        ObjectAddress { class: R::RELATION, object, sub: 0 }
    }

    /// A whole relation.
    pub const fn relation(object: Oid) -> ObjectAddress {
        Self::of::<PgClass>(object)
    }

    /// A column of a relation.
    pub const fn column(relation: Oid, number: ids::AttrNo) -> ObjectAddress {
        ObjectAddress { class: PgClass::RELATION, object: relation, sub: number as i32 }
    }
}

/// RESTRICT or CASCADE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DropBehavior {
    Restrict,
    Cascade,
}

/// How a drop reaches an object.
#[derive(Clone, Copy, Debug)]
pub struct DropOrigin {
    /// The statement names it.
    pub original: bool,
    /// A normal dependency leads to it.
    pub normal: bool,
    /// It is a part of an object that is dropped, or nothing without one, so that CASCADE is not
    /// needed.
    pub automatic: bool,
}

impl DropOrigin {
    /// The statement names the object.
    pub const NAMED: DropOrigin = DropOrigin { original: true, normal: false, automatic: false };
}

/// The plan of a drop.
#[derive(Clone, Debug, Default)]
pub struct Deletion {
    /// The objects in the order in which to drop them.
    pub objects: Vec<ObjectAddress>,
    /// How the drop reaches each of them.
    pub origins: Vec<DropOrigin>,
    /// Message and detail of the CASCADE notice.
    pub notice: Option<(String, Option<String>)>,
}

/// Objects that every cluster has and that cannot be dropped; dependencies on them are not
/// recorded. Counterpart: `IsPinnedObject`.
pub fn is_pinned(class: Oid, object: Oid) -> bool {
    object < Oid::FIRST_UNPINNED
        && class != PgLargeobject::RELATION
        && class != PgDatabase::RELATION
        && !(class == PgNamespace::RELATION && object == crate::namespace::PUBLIC)
}

const ORIGINAL: u32 = 1 << 0;
const NORMAL: u32 = 1 << 1;
const AUTO: u32 = 1 << 2;
const INTERNAL: u32 = 1 << 3;
const PARTITION: u32 = 1 << 4;
const EXTENSION: u32 = 1 << 5;
const IS_PART: u32 = 1 << 6;
/// A column whose table is dropped too: only the table is reported.
const SUBOBJECT: u32 = 1 << 7;

struct Target {
    address: ObjectAddress,
    flags: u32,
    /// The object whose deletion led to this one.
    dependee: Option<ObjectAddress>,
}

struct Search<'a> {
    targets: Vec<Target>,
    /// The objects being visited, outermost first, with their flags.
    stack: Vec<(ObjectAddress, u32)>,
    pending: &'a [ObjectAddress],
}

/// Maximum number of dependents listed in a message.
const REPORTED_MAX: usize = 100;
/// Maximum depth of a dependency chain; a drop beyond it fails.
const DEPTH_MAX: usize = 10_000;

impl CatCx<'_> {
    /// Records that `depender` depends on `referenced`. Counterpart: `recordDependencyOn`.
    pub fn record_dependency(
        &mut self,
        depender: ObjectAddress,
        referenced: ObjectAddress,
        kind: DepType,
    ) -> Result<()> {
        if is_pinned(referenced.class, referenced.object) {
            return Ok(());
        }
        self.lock_referenced(referenced)?;
        self.insert(&PgDepend {
            classid: depender.class,
            objid: depender.object,
            objsubid: depender.sub,
            refclassid: referenced.class,
            refobjid: referenced.object,
            refobjsubid: referenced.sub,
            deptype: kind,
        })?;
        Ok(())
    }

    /// Records dependencies on several objects, without duplicates. Counterpart:
    /// `recordMultipleDependencies`.
    pub fn record_dependencies(
        &mut self,
        depender: ObjectAddress,
        referenced: &[ObjectAddress],
        kind: DepType,
    ) -> Result<()> {
        for (i, object) in referenced.iter().enumerate() {
            if !referenced[..i].contains(object) {
                self.record_dependency(depender, *object, kind)?;
            }
        }
        Ok(())
    }

    /// Records that an object of this database depends on a role or tablespace.
    pub fn record_shared_dependency(
        &mut self,
        depender: ObjectAddress,
        class: Oid,
        object: Oid,
        kind: SharedDepType,
    ) -> Result<()> {
        if is_pinned(class, object) {
            return Ok(());
        }
        self.lock_referenced(ObjectAddress::new(class, object))?;
        let shared = crate::write::is_shared_catalog(depender.class);
        let dbid = if shared { Oid::INVALID } else { self.session.catalog.database() };
        self.insert(&PgShdepend {
            dbid,
            classid: depender.class,
            objid: depender.object,
            objsubid: depender.sub,
            refclassid: class,
            refobjid: object,
            deptype: kind,
        })?;
        Ok(())
    }

    /// Records the owner of an object. Counterpart: `recordDependencyOnOwner`.
    pub fn record_owner(&mut self, depender: ObjectAddress, owner: Oid) -> Result<()> {
        self.record_shared_dependency(depender, PgAuthid::RELATION, owner, SharedDepType::Owner)
    }

    /// Records the tablespace of a relation without files, which makes the tablespace impossible to
    /// drop; 0 is the database's default. Replaces the record of an earlier one. Counterpart:
    /// `recordDependencyOnTablespace`, `changeDependencyOnTablespace`.
    pub fn record_tablespace(&mut self, relation: Oid, tablespace: Oid) -> Result<()> {
        let depender = ObjectAddress::relation(relation);
        let database = self.session.catalog.database();
        let keys = [database.into(), depender.class.into(), relation.into()];
        for row in self.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys)? {
            if row.deptype == SharedDepType::Tablespace {
                self.delete(&row)?;
            }
        }
        if !tablespace.is_valid() {
            return Ok(());
        }
        let (class, kind) = (PgTablespace::RELATION, SharedDepType::Tablespace);
        self.record_shared_dependency(depender, class, tablespace, kind)
    }

    /// The dependencies of the object. With `sub` 0 those of its columns too.
    pub fn dependencies_of(&mut self, object: ObjectAddress) -> Result<Vec<Row<PgDepend>>> {
        let keys = [object.class.into(), object.object.into(), object.sub.into()];
        let count = if object.sub == 0 { 2 } else { 3 };
        self.scan(indexes::PG_DEPEND_DEPENDER_INDEX, &keys[..count])
    }

    /// The dependents of the object. With `sub` 0 those of its columns too.
    pub fn dependents_of(&mut self, object: ObjectAddress) -> Result<Vec<Row<PgDepend>>> {
        let keys = [object.class.into(), object.object.into(), object.sub.into()];
        let count = if object.sub == 0 { 2 } else { 3 };
        self.scan(indexes::PG_DEPEND_REFERENCE_INDEX, &keys[..count])
    }

    /// Deletes the dependency records of the object; membership in an extension stays if
    /// `keep_extension`. Counterpart: `deleteDependencyRecordsFor`.
    pub fn delete_dependencies(
        &mut self,
        object: ObjectAddress,
        keep_extension: bool,
    ) -> Result<usize> {
        let mut count = 0;
        for row in self.dependencies_of(object)? {
            if keep_extension && row.deptype == DepType::Extension {
                continue;
            }
            self.delete(&row)?;
            count += 1;
        }
        Ok(count)
    }

    /// Deletes the records of the object's dependencies on roles and tablespaces.
    pub fn delete_shared_dependencies(&mut self, object: ObjectAddress) -> Result<()> {
        let shared = crate::write::is_shared_catalog(object.class);
        let dbid = if shared { Oid::INVALID } else { self.session.catalog.database() };
        let keys = [dbid.into(), object.class.into(), object.object.into(), object.sub.into()];
        let count = if object.sub == 0 { 3 } else { 4 };
        for row in self.scan(indexes::PG_SHDEPEND_DEPENDER_INDEX, &keys[..count])? {
            self.delete(&row)?;
        }
        Ok(())
    }

    /// Replaces the dependency on `old` by one on `new`, both of catalog `class`. Counterpart:
    /// `changeDependencyFor`.
    pub fn change_dependency(
        &mut self,
        depender: ObjectAddress,
        class: Oid,
        old: Oid,
        new: Oid,
    ) -> Result<usize> {
        let mut count = 0;
        for row in self.dependencies_of(depender)? {
            if row.refclassid == class && row.refobjid == old {
                if is_pinned(class, new) {
                    self.delete(&row)?;
                } else {
                    self.lock_referenced(ObjectAddress::new(class, new))?;
                    self.update(&row, &PgDepend { refobjid: new, ..row.row.clone() })?;
                }
                count += 1;
            }
        }
        if count == 0 && is_pinned(class, old) && !is_pinned(class, new) {
            let new = ObjectAddress::new(class, new);
            self.record_dependency(depender, new, DepType::Normal)?;
            count = 1;
        }
        Ok(count)
    }

    /// Plans the drop of `objects`: which other objects are dropped, in which order, or the error
    /// that forbids it. Counterpart: `performDeletion`, `performMultipleDeletions` up to
    /// `reportDependentObjects`.
    pub fn plan_deletion(
        &mut self,
        objects: &[ObjectAddress],
        behavior: DropBehavior,
    ) -> Result<Deletion> {
        self.lock_for_deletion(objects)?;
        let mut search = Search { targets: Vec::new(), stack: Vec::new(), pending: objects };
        for &object in objects {
            self.collect_dependents(&mut search, object, ORIGINAL)?;
        }
        let notice = self.report(&search.targets, objects, behavior)?;
        let origin = |t: &Target| DropOrigin {
            original: t.flags & ORIGINAL != 0,
            normal: t.flags & NORMAL != 0,
            automatic: t.flags & (AUTO | INTERNAL | PARTITION | EXTENSION) != 0
                && t.flags & (ORIGINAL | SUBOBJECT) == 0,
        };
        let origins = search.targets.iter().map(origin).collect();
        let objects = search.targets.iter().map(|t| t.address).collect();
        Ok(Deletion { objects, origins, notice })
    }

    fn required_by_system(&mut self, object: ObjectAddress) -> Result<PgError> {
        let what = self.describe_object(object)?;
        Ok(PgError::new(
            SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
            format!("cannot drop {what} because it is required by the database system"),
        ))
    }

    /// Counterpart: `findDependentObjects`.
    fn collect_dependents(
        &mut self,
        search: &mut Search<'_>,
        object: ObjectAddress,
        flags: u32,
    ) -> Result<()> {
        if search.mark_on_stack(object, flags) || search.mark_target(object, flags) {
            return Ok(());
        }
        if is_pinned(object.class, object.object) {
            return Err(self.required_by_system(object)?);
        }
        if search.stack.len() > DEPTH_MAX {
            return Err(PgError::new(
                SqlState::STATEMENT_TOO_COMPLEX,
                "stack depth limit exceeded",
            ));
        }
        let mut flags = flags;
        // Find the owner or partition parent of this object.
        let (mut owner, mut partition) = (None, None);
        for row in self.dependencies_of(object)? {
            if object.sub != 0 && row.objsubid != object.sub {
                continue;
            }
            let other =
                ObjectAddress { class: row.refclassid, object: row.refobjid, sub: row.refobjsubid };
            // A dependency between a table and its own column.
            if other.class == object.class && other.object == object.object && object.sub == 0 {
                continue;
            }
            match row.deptype {
                DepType::Internal | DepType::Extension => {
                    if search.stack.is_empty() {
                        let whole = ObjectAddress { sub: 0, ..other };
                        if search.pending.contains(&other) || search.pending.contains(&whole) {
                            // The owner is in the list of objects to drop, and its turn will
                            // include this object.
                            return Ok(());
                        }
                        owner = owner.or(Some(other));
                        continue;
                    }
                    if search.is_on_stack(other) {
                        continue;
                    }
                    // Drop the owner instead; the recursion reaches this object again.
                    return self.collect_via_owner(search, object, other, flags);
                }
                DepType::PartitionPrimary => {
                    partition = Some(other);
                    flags |= IS_PART;
                }
                DepType::PartitionSecondary => {
                    partition = partition.or(Some(other));
                    flags |= IS_PART;
                }
                DepType::Normal | DepType::Auto | DepType::AutoExtension => {}
            }
        }
        if let Some(owner) = owner {
            // Of a partition's object, the one of the partitioned table.
            let owner = partition.unwrap_or(owner);
            let (what, owner) = (self.describe_object(object)?, self.describe_object(owner)?);
            return Err(PgError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop {what} because {owner} requires it"),
            )
            .hint(format!("You can drop {owner} instead.")));
        }
        let dependents = self.locked_dependents(object)?;
        search.stack.push((object, flags));
        for (other, flag) in dependents {
            self.collect_dependents(search, other, flag)?;
        }
        let (_, flags) = search.stack.pop().unwrap_or((object, flags));
        let dependee =
            if flags & IS_PART != 0 { partition } else { search.stack.last().map(|s| s.0) };
        search.targets.push(Target { address: object, flags, dependee });
        Ok(())
    }

    /// The dependents of an object that is being dropped, locked, and how they depend on it.
    fn locked_dependents(&mut self, object: ObjectAddress) -> Result<Vec<(ObjectAddress, u32)>> {
        loop {
            let mut dependents = Vec::new();
            for row in self.dependents_of(object)? {
                let other =
                    ObjectAddress { class: row.classid, object: row.objid, sub: row.objsubid };
                if other.class == object.class
                    && other.object == object.object
                    && (object.sub == 0 || other.sub == object.sub)
                {
                    continue;
                }
                let flag = match row.deptype {
                    DepType::Auto | DepType::AutoExtension => AUTO,
                    DepType::Internal => INTERNAL,
                    DepType::PartitionPrimary | DepType::PartitionSecondary => PARTITION,
                    DepType::Extension => EXTENSION,
                    DepType::Normal => NORMAL,
                };
                dependents.push((other, flag));
            }
            // Newer objects first, so that the order does not depend on the order of the rows.
            dependents.sort_by_key(|(a, _)| (std::cmp::Reverse(a.object), a.class, a.sub as u32));
            let addresses: Vec<ObjectAddress> = dependents.iter().map(|(a, _)| *a).collect();
            if !self.lock_for_deletion(&addresses)? {
                return Ok(dependents);
            }
        }
    }

    fn collect_via_owner(
        &mut self,
        search: &mut Search<'_>,
        object: ObjectAddress,
        owner: ObjectAddress,
        flags: u32,
    ) -> Result<()> {
        // Flag the owner as a normal dependent, so that dropping it needs CASCADE.
        self.collect_dependents(search, owner, NORMAL)?;
        // The recursion through the owner has added this object; merge the flags of this path.
        if !search.mark_target(object, flags) {
            let what = self.describe_object(object)?;
            return Err(PgError::internal(format!(
                "deletion of owning object failed to delete {what}"
            )));
        }
        Ok(())
    }

    /// Counterpart: `reportDependentObjects`.
    fn report(
        &mut self,
        targets: &[Target],
        objects: &[ObjectAddress],
        behavior: DropBehavior,
    ) -> Result<Option<(String, Option<String>)>> {
        for target in targets {
            if target.flags & IS_PART != 0 && target.flags & (PARTITION | ORIGINAL) == ORIGINAL {
                let what = self.describe_object(target.address)?;
                let owner = match target.dependee {
                    Some(owner) => self.describe_object(owner)?,
                    None => "its parent".to_owned(),
                };
                return Err(PgError::new(
                    SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!("cannot drop {what} because {owner} requires it"),
                )
                .hint(format!("You can drop {owner} instead.")));
            }
        }
        let mut lines = Vec::new();
        for target in targets.iter().rev() {
            let unreported = ORIGINAL | AUTO | INTERNAL | PARTITION | EXTENSION | SUBOBJECT;
            if target.flags & unreported != 0 {
                continue;
            }
            let what = self.describe_object(target.address)?;
            if behavior == DropBehavior::Cascade {
                lines.push(format!("drop cascades to {what}"));
                continue;
            }
            match target.dependee {
                Some(dependee) => {
                    let dependee = self.describe_object(dependee)?;
                    lines.push(format!("{what} depends on {dependee}"));
                }
                None => lines.push(format!("drop cascades to {what}")),
            }
        }
        if lines.is_empty() {
            return Ok(None);
        }
        let count = lines.len();
        let mut detail = lines[..count.min(REPORTED_MAX)].join("\n");
        if count > REPORTED_MAX {
            let more = count - REPORTED_MAX;
            let noun = if more == 1 { "object" } else { "objects" };
            let _ = write!(detail, "\nand {more} other {noun} (see server log for list)");
        }
        if behavior == DropBehavior::Cascade {
            return Ok(Some(match count {
                1 => (lines.swap_remove(0), None),
                _ => (format!("drop cascades to {count} other objects"), Some(detail)),
            }));
        }
        let message = match objects {
            [one] => {
                let what = self.describe_object(*one)?;
                format!("cannot drop {what} because other objects depend on it")
            }
            _ => "cannot drop desired object(s) because other objects depend on them".to_owned(),
        };
        Err(PgError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            .detail(detail)
            .hint("Use DROP ... CASCADE to drop the dependent objects too."))
    }

    /// Deletes the records of a dropped object: its dependencies, comments, security labels and
    /// initial privileges. Counterpart: the end of `deleteOneObject`.
    pub fn delete_object_records(&mut self, object: ObjectAddress) -> Result<()> {
        self.delete_dependencies(object, false)?;
        if object.sub == 0 || !crate::write::is_shared_catalog(object.class) {
            self.delete_shared_dependencies(object)?;
        }
        let keys = [object.object.into(), object.class.into(), object.sub.into()];
        let count = if object.sub == 0 { 2 } else { 3 };
        for row in self.scan(indexes::PG_DESCRIPTION_O_C_O_INDEX, &keys[..count])? {
            self.delete(&row)?;
        }
        for row in self.scan(indexes::PG_SECLABEL_OBJECT_INDEX, &keys[..count])? {
            self.delete(&row)?;
        }
        for row in self.scan(indexes::PG_INIT_PRIVS_O_C_O_INDEX, &keys[..count])? {
            self.delete(&row)?;
        }
        Ok(())
    }
}

impl Search<'_> {
    fn is_on_stack(&self, object: ObjectAddress) -> bool {
        self.stack.iter().any(|(o, _)| covers(*o, object))
    }

    /// Whether the object, or the table that contains the column, is on the stack. If it is, adds
    /// the flags to it.
    fn mark_on_stack(&mut self, object: ObjectAddress, flags: u32) -> bool {
        for (visited, its) in self.stack.iter_mut() {
            if covers(*visited, object) {
                if *visited == object {
                    *its |= flags;
                }
                return true;
            }
            if covers(object, *visited) {
                *its |= flags | SUBOBJECT;
            }
        }
        false
    }

    /// Whether the object, or the table that contains the column, is already a target. If it is,
    /// adds the flags to it. Columns of the object that are targets inherit the flags.
    fn mark_target(&mut self, object: ObjectAddress, flags: u32) -> bool {
        let mut known = false;
        for target in &mut self.targets {
            if covers(target.address, object) {
                if target.address == object {
                    target.flags |= flags;
                }
                known = true;
            } else if covers(object, target.address) {
                target.flags |= flags | SUBOBJECT;
            }
        }
        known
    }
}

/// Whether `object` is equal to `whole`, or a column of it.
fn covers(whole: ObjectAddress, object: ObjectAddress) -> bool {
    whole.class == object.class
        && whole.object == object.object
        && (whole.sub == object.sub || whole.sub == 0)
}

#[cfg(test)]
mod tests;
