//! CREATE TRIGGER, and changes of the rows of triggers.
//!
//! Counterpart: commands/trigger.c (`CreateTriggerFiringOn`).

use crate::constraint;
use crate::partitions::triggers;
use analyze::SessionLookup;
use analyze::ddl::TriggerKind;
use catalog::rows::{Int2Vector, Name, PgClass, PgConstraint, PgProc, PgTrigger, Text, indexes};
use catalog::{ObjectAddress, RelDesc, acl};
use executor::trigger::kind;
use ids::builtin::ty;
use ids::code::{ConType, DepType, Firing};
use ids::{AttrNo, Oid, RelKind};
use parse::ast::{self, CreateTrigStmt};
use pgerror::{PgError, Result, bail, pg_err};
use plan::Expr;
use utility::host::CommandHost;
use utility::stored;
use utility::{class, names};

/// CREATE TRIGGER.
pub(crate) fn create(host: &mut dyn CommandHost, stmt: &CreateTrigStmt, sql: &str) -> Result<()> {
    let rel = names::open(host, &stmt.relation, names::mode::SHARE_ROW_EXCLUSIVE)?;
    check_relation(&rel, stmt)?;
    names::not_a_catalog(host, &rel)?;
    let other = match &stmt.constrrel {
        Some(rv) if stmt.isconstraint => Some(names::open(host, rv, names::mode::ACCESS_SHARE)?),
        _ => None,
    };
    names::check_table_privileges(host, &rel, acl::TRIGGER)?;
    if let Some(other) = &other {
        names::check_table_privileges(host, other, acl::TRIGGER)?;
    }
    let tgtype = if stmt.row { kind::ROW } else { 0 } | stmt.timing | stmt.events;
    check_kind(stmt, tgtype)?;
    let is_child = stmt.row && !stmt.transition_rels.is_empty() && has_parent(host, &rel)?;
    let (old_table, new_table) = transition_tables(&rel, stmt, tgtype, is_child)?;
    let condition = match &stmt.when_clause {
        Some(node) => Some(analyze::ddl::trigger_condition(
            &mut SessionLookup::new(host),
            &rel,
            node,
            sql,
            TriggerKind {
                for_row: stmt.row,
                before: tgtype & kind::BEFORE != 0,
                on_insert: tgtype & kind::INSERT != 0,
                on_delete: tgtype & kind::DELETE != 0,
            },
        )?),
        None => None,
    };
    let function = function(host, &stmt.funcname)?;
    let existing = existing(host, &rel, stmt)?;
    let oid = match &existing {
        Some(row) => row.oid,
        None => host.catalog().new_oid(indexes::PG_TRIGGER_OID_INDEX)?,
    };
    let constraint = match stmt.isconstraint {
        true => add_constraint(host, &rel, &stmt.trigname, (stmt.deferrable, stmt.initdeferred))?,
        false => Oid::INVALID,
    };
    let columns = columns(&rel, &stmt.columns)?;
    let row = PgTrigger {
        oid,
        tgrelid: rel.oid(),
        tgparentid: Oid::INVALID,
        tgname: Name::new(&*stmt.trigname),
        tgfoid: function,
        tgtype,
        tgenabled: Firing::Origin,
        tgisinternal: false,
        tgconstrrelid: other.as_ref().map_or(Oid::INVALID, |other| other.oid()),
        tgconstrindid: Oid::INVALID,
        tgconstraint: constraint,
        tgdeferrable: stmt.deferrable,
        tginitdeferred: stmt.initdeferred,
        tgnargs: i16::try_from(stmt.args.len()).unwrap_or(i16::MAX),
        tgattr: Int2Vector(columns.clone().into()),
        tgargs: arguments(&stmt.args),
        tgqual: condition.as_ref().map(stored::write),
        tgoldtable: old_table.map(Name::new),
        tgnewtable: new_table.map(Name::new),
    };
    store(host, &row, existing.as_ref())?;
    record(host, &row, condition.as_ref())?;
    triggers::clone_to_all(host, &row, stmt.replace)
}

/// Error 42809 for a relation that cannot have triggers of this kind.
fn check_relation(rel: &RelDesc, stmt: &CreateTrigStmt) -> Result<()> {
    let name = rel.name();
    let wrong = |what: &str, detail: &str| {
        Err(pg_err!(WRONG_OBJECT_TYPE, "\"{name}\" is {what}").detail(detail))
    };
    let instead = stmt.timing == kind::INSTEAD;
    match rel.kind() {
        RelKind::Table | RelKind::PartitionedTable if instead => {
            wrong("a table", "Tables cannot have INSTEAD OF triggers.")
        }
        RelKind::Table => Ok(()),
        RelKind::PartitionedTable if stmt.row && !stmt.transition_rels.is_empty() => {
            Err(pg_err!(FEATURE_NOT_SUPPORTED, "\"{name}\" is a partitioned table").detail(
                "ROW triggers with transition tables are not supported on partitioned tables.",
            ))
        }
        RelKind::PartitionedTable => Ok(()),
        RelKind::View if !instead && stmt.row => {
            wrong("a view", "Views cannot have row-level BEFORE or AFTER triggers.")
        }
        RelKind::View if stmt.events & kind::TRUNCATE != 0 => {
            wrong("a view", "Views cannot have TRUNCATE triggers.")
        }
        RelKind::View => Ok(()),
        RelKind::Index | RelKind::PartitionedIndex => {
            bail!(WRONG_OBJECT_TYPE, "\"{name}\" is an index")
        }
        RelKind::CompositeType => bail!(WRONG_OBJECT_TYPE, "\"{name}\" is a composite type"),
        RelKind::ForeignTable => Err(PgError::unsupported(format!("foreign table \"{name}\""))),
        other => {
            let e = pg_err!(WRONG_OBJECT_TYPE, "relation \"{name}\" cannot have triggers");
            Err(e.detail(class::kind_not_supported(other)))
        }
    }
}

/// Errors for kinds of triggers that do not exist.
fn check_kind(stmt: &CreateTrigStmt, tgtype: i16) -> Result<()> {
    if stmt.row && tgtype & kind::TRUNCATE != 0 {
        bail!(FEATURE_NOT_SUPPORTED, "TRUNCATE FOR EACH ROW triggers are not supported");
    }
    if tgtype & kind::INSTEAD != 0 {
        if !stmt.row {
            bail!(FEATURE_NOT_SUPPORTED, "INSTEAD OF triggers must be FOR EACH ROW");
        }
        if stmt.when_clause.is_some() {
            bail!(FEATURE_NOT_SUPPORTED, "INSTEAD OF triggers cannot have WHEN conditions");
        }
        if !stmt.columns.is_empty() {
            bail!(FEATURE_NOT_SUPPORTED, "INSTEAD OF triggers cannot have column lists");
        }
    }
    Ok(())
}

/// The names of the old and the new transition table.
fn transition_tables<'a>(
    rel: &RelDesc,
    stmt: &'a CreateTrigStmt,
    tgtype: i16,
    is_child: bool,
) -> Result<(Option<&'a str>, Option<&'a str>)> {
    let (mut old, mut new) = (None, None);
    for table in &stmt.transition_rels {
        if !table.is_table {
            return Err(pg_err!(
                FEATURE_NOT_SUPPORTED,
                "ROW variable naming in the REFERENCING clause is not supported"
            )
            .hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        check_transition(rel, stmt, tgtype, is_child)?;
        let (slot, events, word, on) = match table.is_new {
            true => (&mut new, kind::INSERT | kind::UPDATE, "NEW", "an INSERT or UPDATE"),
            false => (&mut old, kind::DELETE | kind::UPDATE, "OLD", "a DELETE or UPDATE"),
        };
        if tgtype & events == 0 {
            bail!(INVALID_OBJECT_DEFINITION, "{word} TABLE can only be specified for {on} trigger");
        }
        if slot.replace(&*table.name).is_some() {
            bail!(INVALID_OBJECT_DEFINITION, "{word} TABLE cannot be specified multiple times");
        }
    }
    if old.is_some() && old == new {
        bail!(INVALID_OBJECT_DEFINITION, "OLD TABLE name and NEW TABLE name cannot be the same");
    }
    Ok((old, new))
}

/// True if the table is a partition or inherits from another one. Counterpart: `has_superclass`.
fn has_parent(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<bool> {
    let index = indexes::PG_INHERITS_RELID_SEQNO_INDEX;
    let parents = host.catalog().scan(index, &[rel.oid().into()])?;
    Ok(!parents.is_empty())
}

/// Errors for triggers that cannot have transition tables. `is_child`: a trigger for each row of a
/// table that has a parent.
fn check_transition(
    rel: &RelDesc,
    stmt: &CreateTrigStmt,
    tgtype: i16,
    is_child: bool,
) -> Result<()> {
    if rel.kind() == RelKind::View {
        return Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is a view", rel.name())
            .detail("Triggers on views cannot have transition tables."));
    }
    if is_child {
        let what = match rel.class.relispartition {
            true => "partitions",
            false => "inheritance children",
        };
        bail!(
            FEATURE_NOT_SUPPORTED,
            "ROW triggers with transition tables are not supported on {what}"
        );
    }
    if stmt.timing != 0 {
        bail!(
            INVALID_OBJECT_DEFINITION,
            "transition table name can only be specified for an AFTER trigger"
        );
    }
    if tgtype & kind::TRUNCATE != 0 {
        bail!(FEATURE_NOT_SUPPORTED, "TRUNCATE triggers with transition tables are not supported");
    }
    let events = tgtype & (kind::INSERT | kind::UPDATE | kind::DELETE);
    if events.count_ones() != 1 {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "transition tables cannot be specified for triggers with more than one event"
        );
    }
    if !stmt.columns.is_empty() {
        bail!(
            FEATURE_NOT_SUPPORTED,
            "transition tables cannot be specified for triggers with column lists"
        );
    }
    Ok(())
}

/// The trigger function with this name, which has no arguments.
fn function(host: &mut dyn CommandHost, name: &[ast::Name]) -> Result<Oid> {
    let shown: Vec<&str> = name.iter().map(|n| &**n).collect();
    let shown = shown.join(".");
    let object = ast::ObjectWithArgs { objname: name.to_vec(), ..Default::default() };
    let kind = ast::ObjectType::Routine;
    let Some(oid) = define::routine::lookup::find(host, &object, kind, false)? else {
        bail!(UNDEFINED_FUNCTION, "function {shown}() does not exist")
    };
    let row = host.catalog().function(oid)?;
    let (user, list) = (names::user(host), row.proacl.as_deref());
    let kind = acl::Kind::Function;
    if !host.catalog().has_privilege(user, row.proowner, list, kind, acl::EXECUTE)? {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for function {shown}");
    }
    if row.prorettype != ty::TRIGGER {
        bail!(INVALID_OBJECT_DEFINITION, "function {shown} must return type trigger");
    }
    Ok(oid)
}

/// The trigger that OR REPLACE replaces. An error if there is one that cannot be replaced.
fn existing(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    stmt: &CreateTrigStmt,
) -> Result<Option<catalog::Row<PgTrigger>>> {
    let keys = [rel.oid().into(), (&*stmt.trigname).into()];
    let found = host.catalog().scan(indexes::PG_TRIGGER_TGRELID_TGNAME_INDEX, &keys)?.pop();
    let Some(row) = found else { return Ok(None) };
    let is = match () {
        () if !stmt.replace => "already exists",
        () if row.tgisinternal || row.tgparentid.is_valid() => "is an internal or a child trigger",
        () if stmt.isconstraint || row.tgconstraint.is_valid() => "is a constraint trigger",
        () => return Ok(Some(row)),
    };
    bail!(DUPLICATE_OBJECT, "trigger \"{}\" for relation \"{}\" {is}", stmt.trigname, rel.name())
}

/// Creates the constraint of a constraint trigger.
pub(crate) fn add_constraint(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    name: &str,
    (condeferrable, condeferred): (bool, bool),
) -> Result<Oid> {
    let row = constraint::row(host, name, rel, ConType::Trigger)?;
    let row = PgConstraint { condeferrable, condeferred, connoinherit: true, ..row };
    constraint::insert(host, row, &[]).map(|address| address.object)
}

/// The columns of UPDATE OF, by number.
fn columns(rel: &RelDesc, names: &[ast::Name]) -> Result<Vec<AttrNo>> {
    let mut out = Vec::new();
    for name in names {
        let Some(a) = rel.column(name) else {
            bail!(
                UNDEFINED_COLUMN,
                "column \"{name}\" of relation \"{}\" does not exist",
                rel.name()
            )
        };
        if out.contains(&a.attnum) {
            bail!(DUPLICATE_COLUMN, "column \"{name}\" specified more than once");
        }
        out.push(a.attnum);
    }
    Ok(out)
}

/// The arguments as zero-terminated strings.
fn arguments(args: &[ast::Name]) -> Text {
    let mut all = String::new();
    for arg in args {
        all.push_str(arg);
        all.push('\0');
    }
    Text::from(all)
}

/// Inserts or replaces the row, and marks the table.
pub(crate) fn store(
    host: &mut dyn CommandHost,
    row: &PgTrigger,
    existing: Option<&catalog::Row<PgTrigger>>,
) -> Result<()> {
    let mut cat = host.catalog();
    match existing {
        Some(old) => {
            cat.update(old, row)?;
            cat.delete_dependencies(ObjectAddress::of::<PgTrigger>(row.oid), true)?;
        }
        None => {
            cat.insert(row)?;
        }
    }
    let table = class::row(&mut cat, row.tgrelid)?;
    match table.relhastriggers {
        true => cat.invalidate_relation(row.tgrelid, false),
        false => {
            cat.update(&table, &PgClass { relhastriggers: true, ..table.row.clone() })?;
        }
    }
    Ok(())
}

/// Records the dependencies of a trigger.
pub(crate) fn record(
    host: &mut dyn CommandHost,
    row: &PgTrigger,
    condition: Option<&Expr>,
) -> Result<()> {
    let this = ObjectAddress::of::<PgTrigger>(row.oid);
    let mut cat = host.catalog();
    let function = ObjectAddress::of::<PgProc>(row.tgfoid);
    cat.record_dependency(this, function, DepType::Normal)?;
    cat.record_dependency(this, ObjectAddress::relation(row.tgrelid), DepType::Auto)?;
    if row.tgconstrrelid.is_valid() {
        let other = ObjectAddress::relation(row.tgconstrrelid);
        cat.record_dependency(this, other, DepType::Auto)?;
    }
    if row.tgconstraint.is_valid() {
        let constraint = ObjectAddress::of::<PgConstraint>(row.tgconstraint);
        cat.record_dependency(constraint, this, DepType::Internal)?;
    }
    for &column in row.tgattr.iter() {
        let column = ObjectAddress::column(row.tgrelid, column);
        cat.record_dependency(this, column, DepType::Normal)?;
    }
    if let Some(condition) = condition {
        let mut list = Vec::new();
        stored::references(condition, row.tgrelid, &mut list);
        // A reference to the whole row is not one to a column.
        list.retain(|a| *a != ObjectAddress::relation(row.tgrelid));
        stored::normalize_references(host, &mut list)?;
        host.catalog().record_dependencies(this, &list, DepType::Normal)?;
    }
    host.catalog().increment_command_counter()
}
