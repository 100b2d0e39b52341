//! Subcommands that change properties of the whole relation: storage parameters, owner,
//! persistence, index flags, triggers, rules and row-level security.
//!
//! Counterpart: `ATExecSetRelOptions`, `ATExecChangeOwner`, `ATPrepChangePersistence`,
//! `ATExecClusterOn`, `ATExecReplicaIdentity` and others of tablecmds.c.

use super::attribute::{TABLES, TABLES_AND_FOREIGN, TABLES_AND_MATVIEWS, must_be};
use super::queue::Work;
use super::rewrite;
use crate::{cluster, index, sequence, table_am};
use catalog::rows::{
    CatalogRow, PgAttribute, PgClass, PgConstraint, PgDepend, PgIndex, PgRewrite, PgTrigger,
    PgType, indexes,
};
use catalog::{ObjectAddress, RelDesc};
use clusterwide::tablespace;
use define::object::owner;
use ids::code::{ConType, DepType, Firing, ReplicaIdentity};
use ids::{Oid, Persistence, RelKind};
use parse::ast::{self, AlterTableCmd, AlterTableType, Node};
use partition::Detached;
use pgerror::{PgError, Result, bail, pg_err};
use utility::host::CommandHost;
use utility::{class, names, reloptions};

/// Runs the preparation pass, before any row is read.
pub fn prepare(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    work: &mut Work,
) -> Result<()> {
    match cmd.subtype {
        AlterTableType::SetLogged => set_persistence(host, rel, Persistence::Permanent, work),
        AlterTableType::SetUnLogged => set_persistence(host, rel, Persistence::Unlogged, work),
        AlterTableType::SetTableSpace => {
            must_be(
                rel,
                &[
                    RelKind::Table,
                    RelKind::MaterializedView,
                    RelKind::Index,
                    RelKind::PartitionedTable,
                    RelKind::PartitionedIndex,
                ],
                "SET TABLESPACE",
            )?;
            let name = cmd.name.as_deref();
            let wanted = tablespace::of_relation(
                host,
                name,
                rel.class.relpersistence == Persistence::Temporary,
            )?;
            if wanted != rel.class.reltablespace {
                if rel.kind() == RelKind::Index {
                    return move_index(host, rel, wanted);
                }
                if !rel.kind().has_storage() {
                    host.catalog().record_tablespace(rel.oid(), wanted)?;
                    return change_class(host, rel.oid(), |c| c.reltablespace = wanted);
                }
                work.rewrite.tablespace = Some(wanted);
                work.rewrite.forced = true;
            }
            Ok(())
        }
        AlterTableType::SetAccessMethod => {
            if rel.kind() == RelKind::PartitionedTable {
                bail!(WRONG_OBJECT_TYPE, "cannot change access method of a partitioned table");
            }
            must_be(rel, TABLES_AND_MATVIEWS, "SET ACCESS METHOD")?;
            if work.rewrite.access_method.is_some() {
                bail!(FEATURE_NOT_SUPPORTED, "cannot have multiple SET ACCESS METHOD subcommands");
            }
            let wanted = table_am::named(host, cmd.name.as_deref())?;
            if wanted != rel.class.relam {
                table_am::set(host, rel, wanted)?;
                work.rewrite.access_method = Some(wanted);
                work.rewrite.forced = true;
                work.rewrite.reasons |= rewrite::reason::ACCESS_METHOD;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn move_index(host: &mut dyn CommandHost, rel: &RelDesc, tablespace: Oid) -> Result<()> {
    let Some(part) = &rel.index else { return Ok(()) };
    let mut cat = host.catalog();
    let row = class::row(&mut cat, rel.oid())?;
    let new = PgClass { reltablespace: tablespace, ..row.row.clone() };
    class::replace_files(host, &row, new)?;
    host.catalog().increment_command_counter()?;
    index::fill(host, part.row.indrelid, rel.oid())
}

fn set_persistence(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    wanted: Persistence,
    work: &mut Work,
) -> Result<()> {
    let logged = wanted == Persistence::Permanent;
    let word = if logged { "SET LOGGED" } else { "SET UNLOGGED" };
    must_be(rel, &[RelKind::Table, RelKind::Sequence], word)?;
    if work.rewrite.persistence.is_some() {
        bail!(FEATURE_NOT_SUPPORTED, "cannot change persistence setting twice");
    }
    if rel.class.relpersistence == Persistence::Temporary {
        return Err(pg_err!(
            INVALID_TABLE_DEFINITION,
            "cannot change logged status of table \"{}\" because it is temporary",
            rel.name()
        )
        .table("", rel.name()));
    }
    if rel.class.relpersistence == wanted {
        return Ok(());
    }
    // A permanent table must not reference an unlogged one.
    for c in foreign_keys(host, rel, logged)? {
        let other = if logged { c.confrelid } else { c.conrelid };
        if other == rel.oid() {
            continue;
        }
        let class = host.catalog().class(other)?;
        let message = match logged {
            true => "logged because it references unlogged table",
            false => "unlogged because it references logged table",
        };
        if logged != (class.relpersistence == Persistence::Permanent) {
            bail!(
                INVALID_TABLE_DEFINITION,
                "could not change table \"{}\" to {message} \"{}\"",
                rel.name(),
                class.relname
            );
        }
    }
    if rel.kind() == RelKind::Sequence {
        return sequence::change_persistence(host, rel.oid(), wanted);
    }
    work.rewrite.persistence = Some(wanted);
    work.rewrite.forced = true;
    work.rewrite.reasons |= rewrite::reason::PERSISTENCE;
    Ok(())
}

/// Foreign keys of the table, or those that reference it.
fn foreign_keys(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    from: bool,
) -> Result<Vec<PgConstraint>> {
    if from {
        return Ok(rel.foreign_keys.clone());
    }
    let rows = host.catalog().scan_all::<PgConstraint>()?;
    let to = rows.iter().filter(|c| c.contype == ConType::ForeignKey && c.confrelid == rel.oid());
    Ok(to.map(|c| c.row.clone()).collect())
}

/// Runs the subcommands of the last pass.
pub fn set(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    recurse: bool,
) -> Result<()> {
    let oid = rel.oid();
    match cmd.subtype {
        AlterTableType::SetRelOptions | AlterTableType::ResetRelOptions => {
            set_options(host, rel, cmd)
        }
        AlterTableType::ChangeOwner => {
            let Some(role) = &cmd.newowner else {
                return Err(PgError::internal("OWNER TO without a role"));
            };
            let owner = names::role_oid(host, role)?;
            if rel.kind() == RelKind::Sequence {
                owned_sequence(host, rel)?;
            }
            change_owner(host, oid, owner, true)
        }
        AlterTableType::SetLogged
        | AlterTableType::SetUnLogged
        | AlterTableType::SetTableSpace
        | AlterTableType::SetAccessMethod => Ok(()),
        AlterTableType::ClusterOn => {
            must_be(rel, MAY_CLUSTER, "CLUSTER ON")?;
            cluster_on(host, rel, cmd.name.as_deref())
        }
        AlterTableType::DropCluster => {
            must_be(rel, MAY_CLUSTER, "SET WITHOUT CLUSTER")?;
            cluster::mark_clustered(host, rel, Oid::INVALID)
        }
        // Tables no longer have OIDs, so there is nothing to do.
        AlterTableType::DropOids => must_be(rel, TABLES_AND_FOREIGN, "SET WITHOUT OIDS"),
        AlterTableType::ReplicaIdentity => replica_identity(host, rel, cmd),
        AlterTableType::EnableRowSecurity | AlterTableType::DisableRowSecurity => {
            must_be(rel, TABLES, row_security_word(cmd.subtype))?;
            let on = cmd.subtype == AlterTableType::EnableRowSecurity;
            change_class(host, oid, |c| c.relrowsecurity = on)
        }
        AlterTableType::ForceRowSecurity | AlterTableType::NoForceRowSecurity => {
            must_be(rel, TABLES, row_security_word(cmd.subtype))?;
            let on = cmd.subtype == AlterTableType::ForceRowSecurity;
            change_class(host, oid, |c| c.relforcerowsecurity = on)
        }
        AlterTableType::EnableTrig
        | AlterTableType::EnableAlwaysTrig
        | AlterTableType::EnableReplicaTrig
        | AlterTableType::DisableTrig
        | AlterTableType::EnableTrigAll
        | AlterTableType::DisableTrigAll
        | AlterTableType::EnableTrigUser
        | AlterTableType::DisableTrigUser => triggers(host, rel, cmd, recurse),
        AlterTableType::EnableRule
        | AlterTableType::EnableAlwaysRule
        | AlterTableType::EnableReplicaRule
        | AlterTableType::DisableRule => rules(host, rel, cmd),
        other => Err(PgError::unsupported(format!("ALTER TABLE subcommand {other:?}"))),
    }
}

fn row_security_word(kind: AlterTableType) -> &'static str {
    match kind {
        AlterTableType::EnableRowSecurity => "ENABLE ROW SECURITY",
        AlterTableType::DisableRowSecurity => "DISABLE ROW SECURITY",
        AlterTableType::ForceRowSecurity => "FORCE ROW SECURITY",
        _ => "NO FORCE ROW SECURITY",
    }
}

fn change_class(
    host: &mut dyn CommandHost,
    oid: Oid,
    change: impl FnOnce(&mut PgClass),
) -> Result<()> {
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    let mut new = row.row.clone();
    change(&mut new);
    cat.update(&row, &new)?;
    cat.increment_command_counter()
}

/// Refuses a change of owner of a sequence that belongs to a column.
fn owned_sequence(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let list = host.catalog().dependencies_of(ObjectAddress::relation(rel.oid()))?;
    let owned = |d: &&catalog::Row<PgDepend>| {
        d.refclassid == PgClass::RELATION
            && d.refobjsubid != 0
            && matches!(d.deptype, DepType::Auto | DepType::Internal)
    };
    let Some(d) = list.iter().find(owned) else { return Ok(()) };
    let table = host.catalog().class(d.refobjid)?.relname;
    Err(pg_err!(FEATURE_NOT_SUPPORTED, "cannot change owner of sequence \"{}\"", rel.name())
        .detail(format!("Sequence \"{}\" is linked to table \"{table}\".", rel.name())))
}

fn set_options(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let defs: Vec<ast::DefElem> = match &cmd.def {
        Some(Node::List(list)) => list
            .iter()
            .filter_map(|n| match n {
                Node::DefElem(d) => Some((**d).clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    };
    must_be(
        rel,
        &[
            RelKind::Table,
            RelKind::View,
            RelKind::MaterializedView,
            RelKind::Index,
            RelKind::PartitionedIndex,
            RelKind::Toast,
            RelKind::PartitionedTable,
        ],
        "SET/RESET storage parameters",
    )
    .map_err(|_| {
        pg_err!(
            WRONG_OBJECT_TYPE,
            "\"{}\" is not a table, view, materialized view, index, or TOAST table",
            rel.name()
        )
    })?;
    let reset = cmd.subtype == AlterTableType::ResetRelOptions;
    let method = match rel.kind() {
        RelKind::Index => host.catalog().access_method(rel.class.relam)?.map(|m| m.info),
        _ => None,
    };
    for (oid, toast) in [(rel.oid(), false), (rel.class.reltoastrelid, true)] {
        if !oid.is_valid() {
            continue;
        }
        if toast {
            host.lock_relation(oid, super::lock_of_options(cmd))?;
            if !defs.iter().any(|d| d.defnamespace.is_some()) {
                continue;
            }
        }
        let mut cat = host.catalog();
        let row = class::row(&mut cat, oid)?;
        let old = row.reloptions.as_deref();
        let kind = (rel.kind(), method);
        let reloptions = reloptions::changed(old, &defs, kind, toast, reset)?;
        if rel.kind() == RelKind::View {
            crate::view::check_view_option(host, rel, reloptions.as_deref())?;
        }
        let mut cat = host.catalog();
        cat.update(&row, &PgClass { reloptions, ..row.row.clone() })?;
        cat.increment_command_counter()?;
    }
    Ok(())
}

/// The index with this name on the table.
fn index_named(host: &mut dyn CommandHost, rel: &RelDesc, name: &str) -> Result<PgIndex> {
    let Some(oid) = host.catalog().relation_in(rel.class.relnamespace, name)? else {
        bail!(UNDEFINED_OBJECT, "index \"{name}\" for table \"{}\" does not exist", rel.name())
    };
    let found = rel.indexes.iter().find(|i| i.indexrelid == oid);
    found.cloned().ok_or_else(|| {
        pg_err!(WRONG_OBJECT_TYPE, "\"{name}\" is not an index for table \"{}\"", rel.name())
    })
}

/// Relations of which an index can be marked, or which have the error of partitioned tables.
const MAY_CLUSTER: &[RelKind] =
    &[RelKind::Table, RelKind::MaterializedView, RelKind::PartitionedTable];

fn cluster_on(host: &mut dyn CommandHost, rel: &RelDesc, name: Option<&str>) -> Result<()> {
    let name = name.unwrap_or("");
    let row = index_named(host, rel, name)?;
    host.lock_relation(row.indexrelid, names::mode::SHARE_UPDATE_EXCLUSIVE)?;
    cluster::check_clusterable(host, &row, name)?;
    cluster::mark_clustered(host, rel, row.indexrelid)
}

fn replica_identity(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    must_be(
        rel,
        &[RelKind::Table, RelKind::MaterializedView, RelKind::PartitionedTable],
        "REPLICA IDENTITY",
    )?;
    let Some(Node::ReplicaIdentityStmt(stmt)) = &cmd.def else {
        return Err(PgError::internal("REPLICA IDENTITY without a kind"));
    };
    let mut chosen = Oid::INVALID;
    if stmt.identity_type == ReplicaIdentity::Index {
        let name = stmt.name.as_deref().unwrap_or("");
        let row = index_named(host, rel, name)?;
        let cannot = |why: &str| {
            pg_err!(WRONG_OBJECT_TYPE, "cannot use {why} index \"{name}\" as replica identity")
        };
        if !row.indisunique {
            return Err(cannot("non-unique"));
        }
        if !row.indimmediate {
            return Err(cannot("non-immediate"));
        }
        if row.indexprs.is_some() {
            return Err(cannot("expression"));
        }
        if row.indpred.is_some() {
            return Err(cannot("partial"));
        }
        for number in &row.indkey[..(row.indnkeyatts as usize).min(row.indkey.len())] {
            let Some(a) = rel.attribute(*number) else {
                bail!(
                    INVALID_COLUMN_REFERENCE,
                    "index \"{name}\" cannot be used as replica identity because column {number} \
                     is a system column"
                )
            };
            if !a.attnotnull {
                bail!(
                    WRONG_OBJECT_TYPE,
                    "index \"{name}\" cannot be used as replica identity because column \"{}\" is \
                     nullable",
                    a.attname
                );
            }
        }
        chosen = row.indexrelid;
    }
    let identity = stmt.identity_type;
    if rel.class.relreplident != identity {
        change_class(host, rel.oid(), |c| c.relreplident = identity)?;
    }
    let mut cat = host.catalog();
    for i in &rel.indexes {
        let wanted = i.indexrelid == chosen;
        if i.indisreplident == wanted {
            continue;
        }
        let row = cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[i.indexrelid.into()])?.pop();
        if let Some(row) = row {
            cat.update(&row, &PgIndex { indisreplident: wanted, ..row.row.clone() })?;
        }
    }
    Ok(())
}

fn triggers(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    cmd: &AlterTableCmd,
    recurse: bool,
) -> Result<()> {
    let action = match cmd.subtype {
        AlterTableType::EnableTrig => "ENABLE TRIGGER",
        AlterTableType::EnableAlwaysTrig => "ENABLE ALWAYS TRIGGER",
        AlterTableType::EnableReplicaTrig => "ENABLE REPLICA TRIGGER",
        AlterTableType::EnableTrigAll => "ENABLE TRIGGER ALL",
        AlterTableType::EnableTrigUser => "ENABLE TRIGGER USER",
        AlterTableType::DisableTrigAll => "DISABLE TRIGGER ALL",
        AlterTableType::DisableTrigUser => "DISABLE TRIGGER USER",
        _ => "DISABLE TRIGGER",
    };
    let kinds = [RelKind::Table, RelKind::PartitionedTable, RelKind::ForeignTable];
    must_be(rel, &kinds, action)?;
    let firing = match cmd.subtype {
        AlterTableType::EnableAlwaysTrig => Firing::Always,
        AlterTableType::EnableReplicaTrig => Firing::Replica,
        AlterTableType::DisableTrig
        | AlterTableType::DisableTrigAll
        | AlterTableType::DisableTrigUser => Firing::Disabled,
        _ => Firing::Origin,
    };
    let all = matches!(cmd.subtype, AlterTableType::EnableTrigAll | AlterTableType::DisableTrigAll);
    let user =
        matches!(cmd.subtype, AlterTableType::EnableTrigUser | AlterTableType::DisableTrigUser);
    let superuser = names::is_superuser(host)?;
    let mut found = all || user;
    for t in &rel.triggers {
        let wanted = if all || user {
            all || !t.tgisinternal
        } else {
            cmd.name.as_deref() == Some(t.tgname.as_str())
        };
        if !wanted {
            continue;
        }
        if t.tgisinternal && !superuser {
            bail!(
                INSUFFICIENT_PRIVILEGE,
                "permission denied: \"{}\" is a system trigger",
                t.tgname
            );
        }
        found = true;
        if recurse && t.tgtype & executor::trigger::kind::ROW != 0 {
            triggers_below(host, rel, (t.oid, firing), user)?;
        }
        if t.tgenabled == firing {
            continue;
        }
        set_firing(host, t.oid, firing)?;
    }
    if !found {
        bail!(
            UNDEFINED_OBJECT,
            "trigger \"{}\" for table \"{}\" does not exist",
            cmd.name.as_deref().unwrap_or(""),
            rel.name()
        );
    }
    Ok(())
}

fn set_firing(host: &mut dyn CommandHost, trigger: Oid, firing: Firing) -> Result<()> {
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_TRIGGER_OID_INDEX, &[trigger.into()])?.pop();
    if let Some(row) = row {
        cat.update(&row, &PgTrigger { tgenabled: firing, ..row.row.clone() })?;
        cat.invalidate_relation(row.tgrelid, false);
    }
    Ok(())
}

/// Changes the triggers of partitions that are children of a trigger.
fn triggers_below(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    (parent, firing): (Oid, Firing),
    user: bool,
) -> Result<()> {
    if rel.kind() != RelKind::PartitionedTable {
        return Ok(());
    }
    let lock = names::mode::SHARE_ROW_EXCLUSIVE;
    for oid in partition::children(&mut host.catalog(), rel.oid(), Detached::Omit)? {
        host.lock_relation(oid, lock)?;
        let part = host.catalog().relation(oid)?;
        for t in part.triggers.iter().filter(|t| t.tgparentid == parent) {
            if user && t.tgisinternal {
                continue;
            }
            triggers_below(host, &part, (t.oid, firing), user)?;
            if t.tgenabled != firing {
                set_firing(host, t.oid, firing)?;
            }
        }
    }
    Ok(())
}

fn rules(host: &mut dyn CommandHost, rel: &RelDesc, cmd: &AlterTableCmd) -> Result<()> {
    let action = match cmd.subtype {
        AlterTableType::EnableAlwaysRule => "ENABLE ALWAYS RULE",
        AlterTableType::EnableReplicaRule => "ENABLE REPLICA RULE",
        AlterTableType::DisableRule => "DISABLE RULE",
        _ => "ENABLE RULE",
    };
    must_be(rel, &[RelKind::Table, RelKind::PartitionedTable], action)?;
    let firing = match cmd.subtype {
        AlterTableType::EnableAlwaysRule => Firing::Always,
        AlterTableType::EnableReplicaRule => Firing::Replica,
        AlterTableType::DisableRule => Firing::Disabled,
        _ => Firing::Origin,
    };
    let name = cmd.name.as_deref().unwrap_or("");
    let keys = [rel.oid().into(), name.into()];
    let mut cat = host.catalog();
    let row = cat.scan(indexes::PG_REWRITE_REL_RULENAME_INDEX, &keys)?.pop();
    let Some(row) = row else {
        bail!(UNDEFINED_OBJECT, "rule \"{name}\" for relation \"{}\" does not exist", rel.name())
    };
    if row.ev_enabled != firing {
        cat.update(&row, &PgRewrite { ev_enabled: firing, ..row.row.clone() })?;
    }
    Ok(())
}

/// Changes the owner of a relation, its row type, indexes, TOAST table and owned sequences.
/// Counterpart: `ATExecChangeOwner`.
pub fn change_owner(host: &mut dyn CommandHost, oid: Oid, owner: Oid, check: bool) -> Result<()> {
    let rel = host.catalog().relation(oid)?;
    if rel.class.relowner == owner {
        return Ok(());
    }
    if check && !names::is_superuser(host)? {
        names::must_own_relation(host, &rel)?;
        names::must_be_member(host, owner)?;
        let schema = rel.class.relnamespace;
        let what = format_args!("namespace {schema}");
        let row = host.catalog().get(catalog::cache::NAMESPACEOID, &[schema.into()], what)?;
        let (kind, list) = (catalog::acl::Kind::Schema, row.nspacl.as_deref());
        let create = catalog::acl::CREATE;
        if !host.catalog().has_privilege(owner, row.nspowner, list, kind, create)? {
            bail!(INSUFFICIENT_PRIVILEGE, "permission denied for schema {}", row.nspname);
        }
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, oid)?;
    let relacl = owner::acl_of(row.relacl.clone(), row.relowner, owner);
    cat.update(&row, &PgClass { relowner: owner, relacl, ..row.row.clone() })?;
    for a in cat.scan(indexes::PG_ATTRIBUTE_RELID_ATTNUM_INDEX, &[oid.into()])? {
        if a.attacl.is_some() {
            let attacl = owner::acl_of(a.attacl.clone(), row.relowner, owner);
            cat.update(&a, &PgAttribute { attacl, ..a.row.clone() })?;
        }
    }
    match rel.kind() {
        RelKind::Index | RelKind::PartitionedIndex | RelKind::Toast => {}
        RelKind::CompositeType => {
            owner::record(host, ObjectAddress::of::<PgType>(rel.class.reltype), owner)?
        }
        _ => owner::record(host, ObjectAddress::relation(oid), owner)?,
    }
    let mut cat = host.catalog();
    if let Some(ty) = rel.class.reltype.valid() {
        for ty in [Some(ty), cat.find_type(ty)?.map(|t| t.typarray)].into_iter().flatten() {
            if let Some(row) = cat.find_type(ty)? {
                let typacl = owner::acl_of(row.typacl.clone(), row.typowner, owner);
                cat.update(&row, &PgType { typowner: owner, typacl, ..row.row.clone() })?;
            }
        }
    }
    cat.increment_command_counter()?;
    let mut parts: Vec<Oid> = rel.indexes.iter().map(|i| i.indexrelid).collect();
    parts.extend(rel.class.reltoastrelid.valid());
    parts.extend(sequence::owned_by(host, oid, None)?);
    for part in parts {
        change_owner(host, part, owner, false)?;
    }
    Ok(())
}
