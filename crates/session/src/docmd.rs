//! DO. Counterpart: commands/functioncmds.c (`ExecuteDoStmt`).

use crate::function::language;
use crate::state::State;
use catalog::acl::{self, Kind};
use parse::ast::{DoStmt, Node};
use pgerror::{PgError, Result, bail, pg_err};

/// Runs the code of DO in its language.
pub(crate) fn run(state: &mut State, stmt: &DoStmt, sql: &str) -> Result<()> {
    let (mut code, mut name) = (None, None);
    for d in &stmt.args {
        let slot = if &*d.defname == "as" { &mut code } else { &mut name };
        let text = d.arg.as_ref().and_then(Node::as_str).unwrap_or_default();
        if slot.replace(text).is_some() {
            let e = pg_err!(SYNTAX_ERROR, "conflicting or redundant options");
            return Err(e.at(parse::position(sql, d.location)));
        }
    }
    let Some(code) = code else { bail!(SYNTAX_ERROR, "no inline code specified") };
    let name = name.unwrap_or("plpgsql");
    let Some(row) = state.cat().find_language(name)? else {
        return Err(define::extension::no_language(name));
    };
    let (user, list) = (state.catalog.user, row.lanacl.as_deref());
    let usable = match row.lanpltrusted {
        true => state.cat().has_privilege(user, row.lanowner, list, Kind::Language, acl::USAGE)?,
        false => state.roles.superuser,
    };
    if !usable {
        bail!(INSUFFICIENT_PRIVILEGE, "permission denied for language {name}");
    }
    match language::of(state, row.oid)? {
        Some(language) => language.run_inline(state, name, code),
        None => Err(PgError::unsupported(format!("language {name}"))),
    }
}
