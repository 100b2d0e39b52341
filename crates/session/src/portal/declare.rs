//! DECLARE CURSOR and CLOSE. Counterpart: commands/portalcmds.c (`PerformCursorOpen`,
//! `PerformPortalClose`).

use super::run::no_cursor;
use crate::plancache::Statement;
use crate::prepared::Prepared;
use crate::simple::check_parameters;
use crate::state::State;
use analyze::SessionLookup;
use ids::Oid;
use parse::ast::{ClosePortalStmt, DeclareCursorStmt, Node};
use pgerror::{PgError, Result, SqlState, bail, pg_err};
use std::sync::Arc;
use types::Datum;

/// Bits of DECLARE CURSOR.
const CURSOR_BINARY: i32 = 1 << 0;

const CURSOR_SCROLL: i32 = 1 << 1;

const CURSOR_NO_SCROLL: i32 = 1 << 2;

const CURSOR_INSENSITIVE: i32 = 1 << 3;

const CURSOR_ASENSITIVE: i32 = 1 << 4;

pub(crate) const CURSOR_HOLD: i32 = 1 << 5;

impl State {
    /// The prepared query of DECLARE CURSOR. Errors are those of PostgreSQL before it opens the
    /// cursor.
    pub(crate) fn check_cursor(
        &mut self,
        stmt: &DeclareCursorStmt,
        sql: &Arc<str>,
        param_types: &[Oid],
    ) -> Result<Prepared> {
        let raw = parse::RawStmt::within(stmt.query.clone(), 0);
        check_cursor(stmt)?;
        self.may_declare(stmt)?;
        if !analyze::is_query(&raw.stmt) {
            // SELECT INTO: analysis reports the error.
            analyze::analyze(&mut SessionLookup::new(self), &raw, sql, param_types)?;
            return Err(PgError::internal("unexpected non-SELECT command in DECLARE CURSOR"));
        }
        check_parameters(self, &raw, sql, param_types)?;
        let types = param_types.to_vec();
        // Only the DECLARE itself is counted in statistics.
        let prepared = self.unidentified(|state| {
            Prepared::new(state, sql.clone(), Some(raw), types, None, false)
        })?;
        check_cursor_query(stmt)?;
        if stmt.portalname.is_empty() {
            bail!(INVALID_CURSOR_NAME, "invalid cursor name: must not be empty");
        }
        Ok(prepared)
    }

    /// Error 42501 for a cursor that may not be declared here.
    fn may_declare(&self, stmt: &DeclareCursorStmt) -> Result<()> {
        if stmt.options & CURSOR_HOLD != 0 && self.catalog.restricted {
            bail!(
                INSUFFICIENT_PRIVILEGE,
                "cannot create a cursor WITH HOLD within security-restricted operation"
            );
        }
        Ok(())
    }

    /// DECLARE CURSOR.
    pub(crate) fn declare_cursor(
        &mut self,
        stmt: &DeclareCursorStmt,
        sql: &Arc<str>,
        params: &Arc<[Datum]>,
        param_types: &[Oid],
    ) -> Result<()> {
        let prepared = self.check_cursor(stmt, sql, param_types)?;
        self.declare_prepared(stmt, prepared, params.clone())
    }

    /// DECLARE CURSOR in a function, with the analysed query.
    pub(crate) fn declare_analysed(
        &mut self,
        stmt: &DeclareCursorStmt,
        query: &Arc<Statement>,
        params: &Arc<[Datum]>,
    ) -> Result<()> {
        self.may_declare(stmt)?;
        let prepared = Prepared::of(query.clone(), &query.param_types);
        self.declare_prepared(stmt, prepared, params.clone())
    }

    fn declare_prepared(
        &mut self,
        stmt: &DeclareCursorStmt,
        prepared: Prepared,
        params: Arc<[Datum]>,
    ) -> Result<()> {
        let name = stmt.portalname.to_string();
        if self.named.portals.contains_key(&name) || self.is_executing(&name) {
            bail!(DUPLICATE_CURSOR, "cursor \"{name}\" already exists");
        }
        let mut portal = self.cursor(prepared, params);
        portal.binary = stmt.options & CURSOR_BINARY != 0;
        portal.hold = stmt.options & CURSOR_HOLD != 0;
        self.start_portal(&mut portal)?;
        portal.make_scrollable(match stmt.options & (CURSOR_SCROLL | CURSOR_NO_SCROLL) {
            0 => None,
            chosen => Some(chosen == CURSOR_SCROLL),
        });
        self.named.portals.insert(name, portal);
        Ok(())
    }

    /// True if the portal of that name is being executed.
    pub(crate) fn is_executing(&self, name: &str) -> bool {
        self.named.executing.as_ref().is_some_and(|(running, ..)| running == name)
    }

    /// CLOSE. Returns the command tag. Counterpart of CLOSE ALL: `PortalHashTableDeleteAll`.
    pub(crate) fn close_cursor(&mut self, stmt: &ClosePortalStmt) -> Result<&'static str> {
        let Some(name) = &stmt.portalname else {
            if let Some((name, _)) = self.named.portals.iter().find(|(_, p)| p.pinned) {
                return Err(pinned(name));
            }
            self.named.portals.clear();
            return Ok("CLOSE CURSOR ALL");
        };
        match self.named.portals.get(&**name) {
            Some(portal) if portal.pinned => return Err(pinned(name)),
            None if self.is_executing(name) => {
                bail!(INVALID_CURSOR_STATE, "cannot drop active portal \"{name}\"")
            }
            None => return Err(no_cursor(name)),
            Some(_) => self.named.portals.remove(&**name),
        };
        Ok("CLOSE CURSOR")
    }
}

/// Error 24000 for a cursor over which a loop runs.
fn pinned(name: &str) -> PgError {
    pg_err!(INVALID_CURSOR_STATE, "cannot drop pinned portal \"{name}\"")
}

/// Error 42P11 if the options of DECLARE CURSOR contradict each other. Counterpart:
/// `transformDeclareCursorStmt`.
pub(crate) fn check_cursor(stmt: &DeclareCursorStmt) -> Result<()> {
    let chosen = |bits: i32| stmt.options & bits == bits;
    let both = match () {
        () if chosen(CURSOR_SCROLL | CURSOR_NO_SCROLL) => "SCROLL and NO SCROLL",
        () if chosen(CURSOR_INSENSITIVE | CURSOR_ASENSITIVE) => "ASENSITIVE and INSENSITIVE",
        () => return Ok(()),
    };
    Err(pg_err!(INVALID_CURSOR_DEFINITION, "cannot specify both {both}"))
}

/// Error 0A000 for queries that are not allowed in a cursor, or in a cursor with these options.
pub(crate) fn check_cursor_query(stmt: &DeclareCursorStmt) -> Result<()> {
    let Node::SelectStmt(select) = &stmt.query else { return Ok(()) };
    let writes = |n: &Node| !matches!(n, Node::SelectStmt(_));
    if select.with_clause.iter().flat_map(|w| &w.ctes).any(|c| writes(&c.ctequery)) {
        return Err(pg_err!(
            FEATURE_NOT_SUPPORTED,
            "DECLARE CURSOR must not contain data-modifying statements in WITH"
        ));
    }
    let Some(lock) = select.locking_clause.first() else { return Ok(()) };
    let lock = analyze::lock_name(analyze::lock_strength(lock));
    let (code, message, kind) = match () {
        () if stmt.options & CURSOR_HOLD != 0 => (
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("DECLARE CURSOR WITH HOLD ... {lock} is not supported"),
            "Holdable",
        ),
        () if stmt.options & CURSOR_SCROLL != 0 => (
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("DECLARE SCROLL CURSOR ... {lock} is not supported"),
            "Scrollable",
        ),
        () if stmt.options & CURSOR_INSENSITIVE != 0 => (
            SqlState::INVALID_CURSOR_DEFINITION,
            format!("DECLARE INSENSITIVE CURSOR ... {lock} is not valid"),
            "Insensitive",
        ),
        () => return Ok(()),
    };
    Err(PgError::new(code, message).detail(format!("{kind} cursors must be READ ONLY.")))
}
