//! What a command has created or changed, for `pg_event_trigger_ddl_commands`. New objects are
//! those whose rows the command inserted; the objects of other commands are found by their names
//! before the command runs, because it may change them.
//!
//! Counterpart: `EventTriggerCollectSimpleCommand` and its kin.

use crate::object::{address, depends};
use crate::tag::command_tag;
use catalog::object::ObjectClass;
use catalog::rows::{
    CatalogRow, PgAttrdef, PgClass, PgConstraint, PgNamespace, PgOpfamily, PgProc, PgRewrite,
    PgTrigger, PgType, indexes,
};
use catalog::{ChangedRow, ObjectAddress};
use ids::code::{ConType, TypType};
use ids::{Oid, RelKind};
use parse::ast::{Name, Node, ObjectType, RangeVar};
use pgerror::Result;
use trigger::{ChangedObject, CollectedCommand};
use utility::host::CommandHost;

/// The schema of TOAST tables.
const PG_TOAST: Oid = Oid(99);

/// The existing object that a statement changes. Errors are those of the statement itself, which
/// will raise them.
pub(super) fn subject(host: &mut dyn CommandHost, stmt: &Node) -> Option<ObjectAddress> {
    match stmt {
        Node::AlterTableStmt(s) => relation(host, &s.relation),
        Node::AlterSeqStmt(s) => relation(host, &s.sequence),
        Node::RefreshMatViewStmt(s) => relation(host, &s.relation),
        Node::ViewStmt(s) if s.replace => relation(host, &s.view),
        Node::RenameStmt(s) => {
            let name = s.subname.as_deref();
            match &s.relation {
                Some(rv) => part(host, rv, s.rename_type, name),
                None => {
                    let name = s.subname.clone().map(Node::String);
                    object(host, s.rename_type, s.object.as_ref().or(name.as_ref()))
                }
            }
        }
        Node::AlterObjectSchemaStmt(s) => match &s.relation {
            Some(rv) => relation(host, rv),
            None => object(host, s.object_type, s.object.as_ref()),
        },
        Node::AlterObjectDependsStmt(s) => depends::find(host, s).ok().map(|(object, _)| object),
        Node::AlterOwnerStmt(s) => match &s.relation {
            Some(rv) => relation(host, rv),
            None => object(host, s.object_type, s.object.as_ref()),
        },
        Node::CommentStmt(s) => object(host, s.objtype, Some(&s.object)),
        Node::AlterDomainStmt(s) => named(host, ObjectType::Domain, &s.type_name),
        Node::AlterEnumStmt(s) => named(host, ObjectType::Type, &s.type_name),
        Node::AlterTypeStmt(s) => named(host, ObjectType::Type, &s.type_name),
        Node::AlterStatsStmt(s) => named(host, ObjectType::StatisticExt, &s.defnames),
        Node::AlterFunctionStmt(s) => {
            let node = Node::ObjectWithArgs(Box::new(s.func.clone()));
            object(host, s.objtype, Some(&node))
        }
        _ => None,
    }
}

fn object(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    node: Option<&Node>,
) -> Option<ObjectAddress> {
    address::resolve(host, object_type, node?, false).ok().flatten()
}

fn named(
    host: &mut dyn CommandHost,
    object_type: ObjectType,
    name: &[Name],
) -> Option<ObjectAddress> {
    let list = name.iter().cloned().map(Node::String).collect();
    object(host, object_type, Some(&Node::List(list)))
}

fn relation(host: &mut dyn CommandHost, rv: &RangeVar) -> Option<ObjectAddress> {
    let found = host.catalog().find_relation(rv.schemaname.as_deref(), &rv.relname);
    found.ok().flatten().map(ObjectAddress::relation)
}

/// A relation, or a part of it.
fn part(
    host: &mut dyn CommandHost,
    rv: &RangeVar,
    object_type: ObjectType,
    name: Option<&str>,
) -> Option<ObjectAddress> {
    let whole = relation(host, rv)?;
    let object_type = match object_type {
        ObjectType::Attribute => ObjectType::Column,
        other => other,
    };
    let is_part = matches!(
        object_type,
        ObjectType::Column
            | ObjectType::Tabconstraint
            | ObjectType::Rule
            | ObjectType::Trigger
            | ObjectType::Policy
    );
    if !is_part {
        return Some(whole);
    }
    let rel = host.catalog().relation(whole.object).ok()?;
    address::part_of(host, &rel, object_type, name?).ok()
}

/// Adds what the statement has done to the innermost command. `changed`: the rows that it inserted
/// and updated.
pub(super) fn collect(
    host: &mut dyn CommandHost,
    stmt: &Node,
    subject: Option<ObjectAddress>,
    changed: &[ChangedRow],
) -> Result<()> {
    let tag = command_tag(stmt);
    let mut out: Vec<(ChangedObject, &'static str)> = Vec::new();
    match stmt {
        Node::GrantStmt(s) => out.push((ChangedObject::Privileges(type_word(s.objtype)), tag)),
        Node::AlterDefaultPrivilegesStmt(s) => {
            out.push((ChangedObject::Privileges(plural_word(s.action.objtype)), tag));
        }
        Node::DropStmt(_) | Node::DropOwnedStmt(_) => {}
        _ => match subject {
            Some(object) => {
                let sequences = match stmt {
                    Node::AlterTableStmt(_) => new_sequences(host, changed, object.object)?,
                    _ => Vec::new(),
                };
                let all = sequences.iter().map(|s| ChangedObject::One(*s));
                out.extend(all.clone().map(|s| (s, "CREATE SEQUENCE")));
                out.push((ChangedObject::One(object), tag));
                out.extend(all.map(|s| (s, "ALTER SEQUENCE")));
                if let Node::ViewStmt(_) = stmt {
                    // The options of a replaced view are set by a command of their own.
                    out.push((ChangedObject::One(object), tag));
                }
            }
            None => created(host, stmt, tag, changed, &mut out)?,
        },
    }
    // The command that creates an extension is not part of it.
    let all = &mut host.trigger_host().triggers().commands.0;
    let in_extension = all.len() > 1 && all[all.len() - 2].tag == "CREATE EXTENSION";
    if let Some(command) = all.last_mut() {
        let parts = out.into_iter();
        command.commands.extend(parts.map(|(object, tag)| CollectedCommand {
            object,
            tag,
            in_extension,
        }));
    }
    Ok(())
}

/// The objects that a statement has created or replaced.
fn created(
    host: &mut dyn CommandHost,
    stmt: &Node,
    tag: &'static str,
    changed: &[ChangedRow],
    out: &mut Vec<(ChangedObject, &'static str)>,
) -> Result<()> {
    let mut push = |object, tag| out.push((ChangedObject::One(object), tag));
    let is_of = |row: &&ChangedRow, class: Oid| row.catalog == class && row.is_new;
    match stmt {
        Node::CreateSchemaStmt(_) => {
            for row in changed.iter().filter(|r| is_of(r, PgNamespace::RELATION)) {
                push(ObjectAddress::of::<PgNamespace>(row.oid), tag);
            }
            relations(host, changed, None, out)
        }
        Node::CreateStmt(_) | Node::CreateSeqStmt(_) | Node::IndexStmt(_) | Node::ViewStmt(_) => {
            relations(host, changed, None, out)
        }
        Node::CreateTableAsStmt(_) | Node::SelectStmt(_) => {
            relations(host, changed, Some(tag), out)
        }
        Node::CreateDomainStmt(_)
        | Node::CreateEnumStmt(_)
        | Node::CreateRangeStmt(_)
        | Node::CompositeTypeStmt(_) => {
            for row in changed.iter().filter(|r| is_of(r, PgType::RELATION)) {
                let ty = host.catalog().type_row(row.oid)?;
                let is_array = ty.typelem.is_valid() && ty.typlen == -1;
                if !is_array && ty.typtype != TypType::Multirange {
                    push(ObjectAddress::of::<PgType>(row.oid), tag);
                }
            }
            Ok(())
        }
        Node::CreateFunctionStmt(_) => {
            for row in changed.iter().filter(|r| r.catalog == PgProc::RELATION) {
                push(ObjectAddress::of::<PgProc>(row.oid), tag);
            }
            Ok(())
        }
        Node::CreateTrigStmt(_) => {
            for row in changed.iter().filter(|r| r.catalog == PgTrigger::RELATION) {
                let by_oid = indexes::PG_TRIGGER_OID_INDEX;
                let found = host.catalog().scan(by_oid, &[row.oid.into()])?.pop();
                if found.is_some_and(|t| t.tgparentid.is_valid()) {
                    continue;
                }
                push(ObjectAddress::of::<PgTrigger>(row.oid), tag);
            }
            Ok(())
        }
        _ => {
            let ignored = [PgClass::RELATION, PgConstraint::RELATION, PgAttrdef::RELATION];
            let rules = if tag == "CREATE RULE" { Oid::INVALID } else { PgRewrite::RELATION };
            for row in changed.iter().filter(|r| r.is_new) {
                let class = ObjectClass::of(row.catalog);
                let is_object = class.is_some_and(|class| class.catalog == row.catalog);
                if !is_object || ignored.contains(&row.catalog) || row.catalog == rules {
                    continue;
                }
                let tag = match row.catalog {
                    PgOpfamily::RELATION if tag == "CREATE OPERATOR CLASS" => {
                        "CREATE OPERATOR FAMILY"
                    }
                    _ => tag,
                };
                push(ObjectAddress::new(row.catalog, row.oid), tag);
            }
            Ok(())
        }
    }
}

/// The new relations, each table with its sequences before it, and the indexes of its constraints
/// after it. Indexes that are created for an index of the partitioned table are not included.
/// `tag`: that of a statement which creates one table.
fn relations(
    host: &mut dyn CommandHost,
    changed: &[ChangedRow],
    tag: Option<&'static str>,
    out: &mut Vec<(ChangedObject, &'static str)>,
) -> Result<()> {
    let mut new = Vec::new();
    for row in changed.iter().filter(|r| r.catalog == PgClass::RELATION && r.is_new) {
        if let Some(class) = host.catalog().find_class(row.oid)?
            && class.relnamespace != PG_TOAST
            && class.relkind != RelKind::CompositeType
            && class.relkind != RelKind::Toast
            && !(class.relkind.is_index() && class.relispartition)
        {
            new.push((row.oid, class.relkind));
        }
    }
    let mut push = |oid, tag| out.push((ChangedObject::One(ObjectAddress::relation(oid)), tag));
    let mut indexes_left = Vec::new();
    let mut owned = Vec::new();
    for &(oid, kind) in &new {
        if kind == RelKind::Sequence
            && let Some(owner) = owner_of(host, oid)?
            && new.iter().any(|(table, _)| *table == owner)
        {
            owned.push(oid);
        }
        if matches!(kind, RelKind::Index | RelKind::PartitionedIndex) {
            indexes_left.push((oid, constrained_table(host, oid)?));
        }
    }
    for &(oid, kind) in &new {
        let tag = match kind {
            RelKind::Sequence if owned.contains(&oid) => continue,
            RelKind::Index | RelKind::PartitionedIndex => continue,
            RelKind::Sequence => "CREATE SEQUENCE",
            RelKind::View => "CREATE VIEW",
            RelKind::MaterializedView => tag.unwrap_or("CREATE MATERIALIZED VIEW"),
            RelKind::ForeignTable => "CREATE FOREIGN TABLE",
            _ => tag.unwrap_or("CREATE TABLE"),
        };
        let mut sequences = Vec::new();
        for &sequence in &owned {
            if owner_of(host, sequence)? == Some(oid) {
                sequences.push(sequence);
            }
        }
        sequences.iter().for_each(|s| push(*s, "CREATE SEQUENCE"));
        push(oid, tag);
        for (index, _) in indexes_left.iter().filter(|(_, table)| *table == Some(oid)) {
            push(*index, "CREATE INDEX");
        }
        let constraints = indexes::PG_CONSTRAINT_CONRELID_CONTYPID_CONNAME_INDEX;
        let rows = host.catalog().scan(constraints, &[oid.into()])?;
        let is_table = matches!(kind, RelKind::Table | RelKind::PartitionedTable);
        let has_key =
            rows.iter().any(|c| c.contype == ConType::ForeignKey && !c.conparentid.is_valid());
        if is_table && has_key {
            push(oid, "ALTER TABLE");
        }
        sequences.iter().for_each(|s| push(*s, "ALTER SEQUENCE"));
    }
    let is_left = |table: &Option<Oid>| table.is_none_or(|t| !new.iter().any(|(oid, _)| *oid == t));
    for (index, _) in indexes_left.iter().filter(|(_, table)| is_left(table)) {
        push(*index, "CREATE INDEX");
    }
    Ok(())
}

/// The new sequences that columns of the table own.
fn new_sequences(
    host: &mut dyn CommandHost,
    changed: &[ChangedRow],
    table: Oid,
) -> Result<Vec<ObjectAddress>> {
    let mut found = Vec::new();
    for row in changed.iter().filter(|r| r.catalog == PgClass::RELATION && r.is_new) {
        let kind = host.catalog().find_class(row.oid)?.map(|class| class.relkind);
        if kind == Some(RelKind::Sequence) && owner_of(host, row.oid)? == Some(table) {
            found.push(ObjectAddress::relation(row.oid));
        }
    }
    Ok(found)
}

/// The table whose column owns a sequence.
fn owner_of(host: &mut dyn CommandHost, sequence: Oid) -> Result<Option<Oid>> {
    let rows = host.catalog().dependencies_of(ObjectAddress::relation(sequence))?;
    let owner = rows.iter().find(|r| r.refclassid == PgClass::RELATION && r.refobjsubid > 0);
    Ok(owner.map(|r| r.refobjid))
}

/// The table of a constraint's index; `None` for another index.
fn constrained_table(host: &mut dyn CommandHost, index: Oid) -> Result<Option<Oid>> {
    let rows = host.catalog().dependencies_of(ObjectAddress::relation(index))?;
    let Some(row) = rows.iter().find(|r| r.refclassid == PgConstraint::RELATION) else {
        return Ok(None);
    };
    Ok(host.catalog().constraint(row.refobjid)?.map(|c| c.conrelid))
}

/// Counterpart: `stringify_grant_objtype`.
fn type_word(object_type: ObjectType) -> &'static str {
    match object_type {
        ObjectType::Column => "COLUMN",
        ObjectType::Table => "TABLE",
        ObjectType::Sequence => "SEQUENCE",
        ObjectType::Domain => "DOMAIN",
        ObjectType::Fdw => "FOREIGN DATA WRAPPER",
        ObjectType::ForeignServer => "FOREIGN SERVER",
        ObjectType::Function => "FUNCTION",
        ObjectType::Language => "LANGUAGE",
        ObjectType::Largeobject => "LARGE OBJECT",
        ObjectType::Schema => "SCHEMA",
        ObjectType::Procedure => "PROCEDURE",
        ObjectType::Routine => "ROUTINE",
        ObjectType::Type => "TYPE",
        _ => "???",
    }
}

/// Counterpart: `stringify_adefprivs_objtype`.
fn plural_word(object_type: ObjectType) -> &'static str {
    match object_type {
        ObjectType::Table => "TABLES",
        ObjectType::Sequence => "SEQUENCES",
        ObjectType::Function => "FUNCTIONS",
        ObjectType::Schema => "SCHEMAS",
        ObjectType::Procedure => "PROCEDURES",
        ObjectType::Routine => "ROUTINES",
        ObjectType::Type => "TYPES",
        _ => "???",
    }
}
