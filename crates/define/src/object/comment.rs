//! COMMENT ON.
//!
//! Counterpart: comment.c.

use super::address;
use ids::RelKind;
use parse::ast::{CommentStmt, ObjectType};
use pgerror::{PgError, Result, Severity, SqlState, pg_err};
use utility::class::kind_not_supported;
use utility::host::CommandHost;

/// COMMENT ON.
pub fn comment(host: &mut dyn CommandHost, stmt: &CommentStmt) -> Result<()> {
    let found = match address::resolve(host, stmt.objtype, &stmt.object, false) {
        // The database into which a dump is restored may have another name.
        Err(e) if stmt.objtype == ObjectType::Database && is_undefined(&e) => {
            host.notice(e.severity(Severity::Warning));
            return Ok(());
        }
        found => found?,
    };
    let object = found.ok_or_else(|| PgError::internal("object was not found"))?;
    address::must_own(host, object, &stmt.object)?;
    if stmt.objtype == ObjectType::Column {
        let rel = host.catalog().relation(object.object)?;
        if !matches!(
            rel.kind(),
            RelKind::Table
                | RelKind::View
                | RelKind::MaterializedView
                | RelKind::CompositeType
                | RelKind::ForeignTable
                | RelKind::PartitionedTable
        ) {
            let name = rel.name();
            return Err(pg_err!(WRONG_OBJECT_TYPE, "cannot set comment on relation \"{name}\"")
                .detail(kind_not_supported(rel.kind())));
        }
    }
    host.catalog().set_comment(object, stmt.comment.as_deref())
}

fn is_undefined(error: &PgError) -> bool {
    error.code() == SqlState::UNDEFINED_DATABASE
}
