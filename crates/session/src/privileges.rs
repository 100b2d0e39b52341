//! Privilege checks before the execution of a plan.
//!
//! For a superuser the check costs two comparisons, unless views are checked for their owners. For
//! other roles the result is cached with the plan until catalogs or the current role change.
//!
//! Counterpart: executor/execMain.c (`ExecCheckRTPerms`), catalog/aclchk.c
//! (`pg_attribute_aclcheck_all`).

use crate::caches::PrivilegeCache;
use crate::state::State;
use catalog::acl::{self, Kind};
use ids::code::ProKind;
use ids::{Oid, RelKind};
use pgerror::{Result, pg_err};
use plan::PlannedStmt;
use plan::node::RelationPrivileges;
use std::sync::Arc;

impl State {
    /// True if the current user is a superuser. Cached until the role or the catalogs change.
    pub fn is_superuser(&mut self) -> Result<bool> {
        let (user, state) = (self.catalog.user, self.catalog.catalog_state());
        let known = &self.caches.privilege_cache;
        if known.user == user && known.state == state {
            return Ok(known.superuser);
        }
        let superuser = self.cat().is_superuser(user)?;
        self.caches.privilege_cache = PrivilegeCache { user, state, superuser, allowed: None };
        Ok(superuser)
    }
}

/// Error 42501 if the user lacks a privilege that the plan requires.
pub(crate) fn check_plan(state: &mut State, plan: &Arc<PlannedStmt>) -> Result<()> {
    let superuser = state.is_superuser()?;
    let needed = &plan.privileges;
    if superuser && needed.relations.iter().all(|r| !r.check_as_user.is_valid()) {
        return Ok(());
    }
    if state.caches.privilege_cache.allowed.as_ref().is_some_and(|p| Arc::ptr_eq(p, plan)) {
        return Ok(());
    }
    let user = state.catalog.user;
    // Views are checked first, as for a plan that is not shared.
    for views in [true, false] {
        check_relations(state, &needed.relations, views)?;
    }
    for &f in &needed.functions {
        check_function(state, f, user)?;
    }
    if state.caches.privilege_cache.user == user {
        state.caches.privilege_cache.allowed = Some(plan.clone());
    }
    Ok(())
}

/// Error 42501 unless the roles have the privileges on views, or on other relations. Those on views
/// are checked before planning too (see `RelationLookup::check_view_privileges`).
pub(crate) fn check_relations(
    state: &mut State,
    needed: &[RelationPrivileges],
    views: bool,
) -> Result<()> {
    let checked_as_user = needed.iter().any(|r| r.check_as_user.is_valid());
    if needed.is_empty() || !checked_as_user && state.is_superuser()? {
        return Ok(());
    }
    for r in needed {
        if (state.cat().class(r.relid)?.relkind == RelKind::View) == views {
            let role = r.check_as_user.valid().unwrap_or(state.catalog.user);
            check_relation(state, r, role)?;
        }
    }
    Ok(())
}

/// Error 42501 unless the current user may call the functions.
pub(crate) fn check_calls(state: &mut State, functions: &[Oid]) -> Result<()> {
    if functions.is_empty() || state.is_superuser()? {
        return Ok(());
    }
    let user = state.catalog.user;
    functions.iter().try_for_each(|&f| check_function(state, f, user))
}

/// Error 42501 unless the role may call the function.
pub(crate) fn check_function(state: &mut State, function: Oid, role: Oid) -> Result<()> {
    let row = state.cat().function(function)?;
    let acl = row.proacl.as_deref();
    if state.cat().has_privilege(role, row.proowner, acl, Kind::Function, acl::EXECUTE)? {
        return Ok(());
    }
    let noun = match row.prokind {
        ProKind::Procedure => "procedure",
        ProKind::Aggregate => "aggregate",
        _ => "function",
    };
    Err(pg_err!(INSUFFICIENT_PRIVILEGE, "permission denied for {noun} {}", row.proname))
}

fn check_relation(state: &mut State, r: &RelationPrivileges, role: Oid) -> Result<()> {
    let class = state.cat().class(r.relid)?;
    state.cat().check_row_security(role, &class)?;
    let have = state.cat().relation_privileges(role, &class, r.required)?;
    let missing = r.required & !have;
    if missing == 0 {
        return Ok(());
    }
    // These privileges can be granted on single columns.
    let by_column = acl::SELECT | acl::INSERT | acl::UPDATE;
    let mut ok = missing & !by_column == 0;
    for (right, columns) in [
        (acl::SELECT, &r.selected_cols),
        (acl::INSERT, &r.inserted_cols),
        (acl::UPDATE, &r.updated_cols),
    ] {
        if ok && missing & right != 0 {
            ok = state.cat().may_columns(role, &class, right, columns)?;
        }
    }
    if ok { Ok(()) } else { Err(acl::relation_denied(&class)) }
}
