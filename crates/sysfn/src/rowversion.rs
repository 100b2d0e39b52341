//! The newest version of a row. Counterpart: utils/adt/tid.c (`currtid_byrelname`).

use crate::function::{SysCall, SysFn, text};
use crate::host::SystemHost;
use crate::reg::split_relation_name;
use analyze::{RelationLookup, SessionLookup};
use catalog::{RelDesc, acl};
use ids::code::RelKind;
use ids::{Oid, Tid};
use pgerror::{PgError, Result, pg_err};
use plan::Expr;
use plan::query::RteKind;
use std::sync::Arc;
use types::system::tid_of;
use types::{Datum, DatumRef, oids};

pub(super) const FNS: &[SysFn] =
    &[SysFn { name: "currtid_byrelname", call: SysCall::One(newest_version) }];

const ACCESS_SHARE: i32 = 1;

/// `plan::Var::varattno` of the column ctid.
const CTID: i16 = -1;

/// `currtid2(relation, ctid)`.
fn newest_version(core: &mut dyn SystemHost, args: &[DatumRef<'_>]) -> Result<Datum> {
    let (schema, name) = split_relation_name(core, &text(args[0]))?;
    if let Some(schema) = &schema {
        core.catalog().namespace(schema)?;
    }
    let found = core.catalog().find_relation(schema.as_deref(), &name)?;
    let Some(oid) = found else {
        let shown = schema.map_or_else(|| name.clone(), |s| format!("{s}.{name}"));
        return Err(pg_err!(UNDEFINED_TABLE, "relation \"{shown}\" does not exist"));
    };
    let desc = open(core, oid)?;
    let tid = newest_in(core, &desc, tid_of(args[1]))?;
    Ok(Datum::bytes(tid.to_bytes().to_vec()))
}

/// The relation, which is locked. Error 42809 for an index or a composite type.
fn open(core: &mut dyn SystemHost, oid: Oid) -> Result<Arc<RelDesc>> {
    core.lock_relation(oid, ACCESS_SHARE)?;
    let desc = core.catalog().relation(oid)?;
    let what = match desc.kind() {
        RelKind::Index | RelKind::PartitionedIndex => "an index",
        RelKind::CompositeType => "a composite type",
        _ => return Ok(desc),
    };
    Err(pg_err!(WRONG_OBJECT_TYPE, "\"{}\" is {what}", desc.name()))
}

/// The newest version of the row that is visible to a new snapshot.
fn newest_in(core: &mut dyn SystemHost, desc: &Arc<RelDesc>, tid: Tid) -> Result<Tid> {
    let user = core.catalog_session().user;
    if core.catalog().relation_privileges(user, &desc.class, acl::SELECT)? == 0 {
        return Err(acl::relation_denied(&desc.class));
    }
    if desc.kind() == RelKind::View {
        let table = table_of_view(core, desc)?;
        let table = stdx::stack::deep(|| open(core, table))?;
        return newest_in(core, &table, tid);
    }
    let Some(table) = desc.table.clone() else {
        let schema = core.catalog().namespace_name(desc.class.relnamespace)?.unwrap_or_default();
        return Err(PgError::internal(format!(
            "cannot look at latest visible tid for relation \"{schema}.{}\"",
            desc.name()
        )));
    };
    let be = core.backend();
    if tid.offset == 0 || tid.block.0 >= engine::table::nblocks(be, &table)? {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "tid ({}, {}) is not valid for relation \"{}\"",
            tid.block.0,
            tid.offset,
            desc.name()
        ));
    }
    let snapshot = be.snapshot();
    engine::table::latest_tid(be, &table, tid, &snapshot)
}

/// The table whose `ctid` is the column of that name of the view. Counterpart: `currtid_for_view`.
fn table_of_view(core: &mut dyn SystemHost, view: &RelDesc) -> Result<Oid> {
    let fault = |text: &str| PgError::internal(text.to_owned());
    let column = view.attributes.iter().find(|a| a.attname.as_str() == "ctid");
    let column = column.ok_or_else(|| fault("currtid cannot handle views with no CTID"))?;
    if column.atttypid != oids::TID {
        return Err(fault("ctid isn't of type TID"));
    }
    let rule = SessionLookup::new(core).view_rule(view.oid())?;
    let query = rule.ok_or_else(|| fault("the view has no rules"))?.query.clone();
    let target = query.target_list.iter().find(|t| t.resno == column.attnum);
    if let Some(Expr::Var(v)) = target.map(|t| &t.expr)
        && v.varattno == CTID
        && let RteKind::Relation { relid, .. } = query.rte(v.varno).kind
    {
        return Ok(relid);
    }
    Err(fault("currtid cannot handle this view"))
}
