//! The work queue of ALTER TABLE.
//!
//! Phase 1 prepares each subcommand and adds it to the pass that runs it. Phase 2 changes the
//! catalogs pass by pass, and in each pass the tables in the order in which they were added to the
//! queue. A step may add steps of later passes, also for other tables: the parts of a new column or
//! constraint, and the objects that were dropped because a column type changed. Phase 3 reads each
//! table once, to rewrite it or to check its rows, and then checks foreign keys. This module
//! contains the queue; `phases` runs it.
//!
//! Counterpart: `AlteredTableInfo`, `AlterTablePass`.

use super::rewrite::Rewrite;
use crate::partitions::attach;
use catalog::RelDesc;
use catalog::rows::Text;
use ids::{AttrNo, Oid};
use parse::ast::{self, AlterTableCmd, AlterTableType, ConstrType, Constraint, Node};
use pgerror::Result;
use std::sync::Arc;
use utility::host::CommandHost;

/// The passes of phase 2, in the order in which they run. Counterpart: `AlterTablePass`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pass {
    Drop,
    AlterType,
    /// Indexes that were dropped because the type of a column changed.
    OldIndex,
    /// Constraints that were dropped because the type of a column changed.
    OldConstraint,
    AddColumn,
    /// New constraints, which are divided into steps of the passes below.
    AddConstraint,
    ColumnAttributes,
    /// Constraints that use existing indexes.
    AddIndexConstraint,
    AddIndex,
    AddOther,
    Misc,
}

impl Pass {
    pub const ALL: [Pass; 11] = [
        Pass::Drop,
        Pass::AlterType,
        Pass::OldIndex,
        Pass::OldConstraint,
        Pass::AddColumn,
        Pass::AddConstraint,
        Pass::ColumnAttributes,
        Pass::AddIndexConstraint,
        Pass::AddIndex,
        Pass::AddOther,
        Pass::Misc,
    ];

    /// The pass that runs a subcommand.
    pub fn of(cmd: &AlterTableCmd) -> Pass {
        match cmd.subtype {
            AlterTableType::DropColumn
            | AlterTableType::DropConstraint
            | AlterTableType::DropNotNull
            | AlterTableType::DropExpression
            | AlterTableType::DropIdentity => Pass::Drop,
            AlterTableType::ColumnDefault if cmd.def.is_none() => Pass::Drop,
            AlterTableType::AlterColumnType => Pass::AlterType,
            AlterTableType::AddColumn => Pass::AddColumn,
            AlterTableType::AddConstraint => Pass::AddConstraint,
            AlterTableType::SetNotNull => Pass::ColumnAttributes,
            AlterTableType::ColumnDefault | AlterTableType::AddIdentity => Pass::AddOther,
            _ => Pass::Misc,
        }
    }
}

/// Whether a subcommand applies to the tables below a table.
#[derive(Clone, Copy)]
pub struct Scope {
    /// ONLY is not given.
    pub recurse: bool,
    /// The table is below the one of the statement.
    pub recursing: bool,
}

impl Scope {
    /// A subcommand that was queued for each table below the one of the statement.
    pub const CHILD: Scope = Scope { recurse: false, recursing: true };
}

/// One change of the catalogs.
pub enum Step {
    Command(AlterTableCmd, Scope),
    Constraint(Box<Constraint>, Scope),
    SetNotNull(String, Scope),
    /// Recreates an object by its definition.
    Recreate(Box<SavedDefinition>, Node),
}

/// The dropped objects that will be recreated.
#[derive(Default)]
pub struct DroppedObjects {
    /// Definitions, by the OIDs of the dropped objects.
    pub constraints: Vec<(Oid, SavedDefinition)>,
    pub indexes: Vec<(Oid, SavedDefinition)>,
    pub statistics: Vec<(Oid, SavedDefinition)>,
}

/// An object that was dropped because the type of a column changed.
pub struct SavedDefinition {
    /// OID of the object's catalog.
    pub class: Oid,
    pub sql: String,
    pub comment: Option<Text>,
    /// Comment of the index of the constraint.
    pub index_comment: Option<Text>,
    /// OID of the table, and name of the constraint, index or statistics object.
    pub table: Oid,
    /// The domain of a domain constraint; invalid for all others.
    pub domain: Oid,
    pub name: String,
    pub schema: Oid,
    pub foreign: bool,
    /// It is not only inherited.
    pub local: bool,
    pub clustered: bool,
    pub replica_identity: bool,
    /// Tablespace of the index.
    pub tablespace: Option<ast::Name>,
}

/// A table of the queue: its steps, and the work that they leave to phase 3.
pub struct Work {
    pub oid: Oid,
    steps: [Vec<Step>; Pass::ALL.len()],
    /// The pending changes and checks of rows.
    pub rewrite: Rewrite,
    /// New and validated foreign keys, whose rows are checked at the end of phase 3.
    pub foreign_keys: Vec<Oid>,
    /// Constraints and indexes that were dropped because a column type changed, to be recreated.
    pub rebuild: DroppedObjects,
    /// Columns whose type has been changed.
    pub retyped: Vec<AttrNo>,
    /// Constraints are being recreated.
    pub readds: bool,
}

impl Work {
    fn new(rel: Arc<RelDesc>) -> Work {
        Work {
            oid: rel.oid(),
            steps: Default::default(),
            rewrite: Rewrite::new(rel),
            foreign_keys: Vec::new(),
            rebuild: DroppedObjects::default(),
            retyped: Vec::new(),
            readds: false,
        }
    }

    /// Removes the steps of a pass and returns them.
    pub fn take(&mut self, pass: Pass) -> Vec<Step> {
        std::mem::take(&mut self.steps[pass as usize])
    }

    /// Adds a step of a pass that has not run yet.
    pub fn push(&mut self, pass: Pass, step: Step) {
        self.steps[pass as usize].push(step);
    }

    /// Divides a new constraint into steps.
    pub fn push_constraint(&mut self, c: Constraint, scope: Scope) {
        let pass = match c.contype {
            ConstrType::Primary | ConstrType::Unique if c.indexname.is_some() => {
                Pass::AddIndexConstraint
            }
            ConstrType::Primary | ConstrType::Unique => Pass::AddIndex,
            _ => Pass::AddOther,
        };
        // A column that occurs twice is an error, which comes before those of the columns.
        let twice = c.keys.iter().enumerate().any(|(i, key)| c.keys[..i].contains(key));
        if pass == Pass::AddIndex && c.contype == ConstrType::Primary && !twice {
            for name in &c.keys {
                self.push(Pass::ColumnAttributes, Step::SetNotNull(name.to_string(), scope));
            }
        }
        self.push(pass, Step::Constraint(Box::new(c), scope));
    }
}

/// The tables that the statement changes.
pub struct Queue {
    pub tables: Vec<Work>,
    /// The lock of the statement, which the tables below are locked with.
    pub lock: i32,
    /// The checks of rows that attaching a partition leaves to phase 3.
    pub pending: attach::Pending,
}

impl Queue {
    /// The place of a table that has an entry.
    pub fn position(&self, table: Oid) -> usize {
        self.tables.iter().position(|work| work.oid == table).unwrap_or(0)
    }

    /// The table's entry, which is created if there is none.
    pub fn entry(&mut self, host: &mut dyn CommandHost, table: Oid) -> Result<&mut Work> {
        let n = match self.tables.iter().position(|work| work.oid == table) {
            Some(n) => n,
            None => {
                self.tables.push(Work::new(host.catalog().relation(table)?));
                self.tables.len() - 1
            }
        };
        Ok(&mut self.tables[n])
    }
}
