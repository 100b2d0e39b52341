//! Which statement goes where, and the tag that the client gets. Counterpart: utility.c.

use crate::host::CommandHost;
use crate::{
    alter_table, copy, create_table, drop, extension, index, maintenance, object, role, sequence,
    truncate, vacuum, view,
};
use parse::ast::{Node, ObjectType};
use pgerror::{PgError, Result};

/// Runs a statement that is not a query and not about the session itself (transactions, settings,
/// prepared statements, cursors, LISTEN). `sql` is the text that positions in the tree refer to.
/// Returns the command tag.
pub fn run_utility(host: &mut dyn CommandHost, stmt: &Node, sql: &str) -> Result<String> {
    let tag = match stmt {
        Node::CreateStmt(s) => {
            create_table::create_table(host, s, sql)?;
            "CREATE TABLE"
        }
        Node::IndexStmt(s) => {
            index::create_index(host, s, sql)?;
            "CREATE INDEX"
        }
        Node::CreateSeqStmt(s) => {
            sequence::create_sequence(host, s, sql)?;
            "CREATE SEQUENCE"
        }
        Node::AlterSeqStmt(s) => {
            sequence::alter_sequence(host, s, sql)?;
            "ALTER SEQUENCE"
        }
        Node::DropStmt(s) => {
            drop::drop_statement(host, s, sql)?;
            drop_tag(s.remove_type)
        }
        Node::TruncateStmt(s) => {
            truncate::truncate(host, s)?;
            "TRUNCATE TABLE"
        }
        Node::AlterTableStmt(s) => {
            alter_table::alter_table(host, s, sql)?;
            match s.objtype {
                ObjectType::Index => "ALTER INDEX",
                ObjectType::Sequence => "ALTER SEQUENCE",
                ObjectType::View => "ALTER VIEW",
                ObjectType::Matview => "ALTER MATERIALIZED VIEW",
                _ => "ALTER TABLE",
            }
        }
        Node::RenameStmt(s) => {
            object::rename(host, s)?;
            alter_tag(match s.rename_type {
                ObjectType::Column | ObjectType::Tabconstraint => s.relation_type,
                other => other,
            })
        }
        Node::AlterObjectSchemaStmt(s) => {
            object::set_schema(host, s)?;
            alter_tag(s.object_type)
        }
        Node::AlterOwnerStmt(s) => {
            object::set_owner(host, s)?;
            alter_tag(s.object_type)
        }
        Node::CommentStmt(s) => {
            object::comment(host, s)?;
            "COMMENT"
        }
        Node::CreateSchemaStmt(s) => {
            object::create_schema(host, s, sql)?;
            "CREATE SCHEMA"
        }
        Node::ViewStmt(s) => {
            view::create_view(host, s, sql)?;
            "CREATE VIEW"
        }
        Node::CreateTableAsStmt(s) => {
            let count = view::create_table_as(host, s, sql)?;
            host.catalog().increment_command_counter()?;
            return Ok(match count {
                Some(n) if !s.into.skip_data => format!("SELECT {n}"),
                _ => "CREATE TABLE AS".to_string(),
            });
        }
        Node::SelectStmt(s) => {
            let Some(stmt) = view::select_into(s) else {
                return Err(PgError::internal("a query is no command"));
            };
            return run_utility(host, &Node::CreateTableAsStmt(Box::new(stmt)), sql);
        }
        Node::CreateRoleStmt(s) => {
            role::create_role(host, s)?;
            "CREATE ROLE"
        }
        Node::AlterRoleStmt(s) => {
            role::alter_role(host, s)?;
            "ALTER ROLE"
        }
        Node::DropRoleStmt(s) => {
            role::drop_role(host, s)?;
            "DROP ROLE"
        }
        Node::GrantRoleStmt(s) => {
            role::grant_role(host, s)?;
            if s.is_grant { "GRANT ROLE" } else { "REVOKE ROLE" }
        }
        Node::LockStmt(s) => {
            maintenance::lock_table(host, s)?;
            "LOCK TABLE"
        }
        Node::ReindexStmt(s) => {
            maintenance::reindex(host, s)?;
            "REINDEX"
        }
        Node::VacuumStmt(s) => {
            vacuum::vacuum(host, s)?;
            if s.is_vacuumcmd { "VACUUM" } else { "ANALYZE" }
        }
        Node::CreateExtensionStmt(s) => {
            extension::create_extension(host, s)?;
            "CREATE EXTENSION"
        }
        Node::CopyStmt(s) => {
            let count = copy::copy(host, s, sql)?;
            host.catalog().increment_command_counter()?;
            return Ok(format!("COPY {count}"));
        }
        Node::CheckPointStmt => {
            checkpoint(host)?;
            "CHECKPOINT"
        }
        _ => return Err(PgError::unsupported("this statement")),
    };
    // What the statement has done is visible to the next one.
    host.catalog().increment_command_counter()?;
    Ok(tag.to_string())
}

/// Is the statement one for [`run_utility`]?
pub fn is_command(stmt: &Node) -> bool {
    !analyze::is_query(stmt)
        && !matches!(
            stmt,
            Node::TransactionStmt(_)
                | Node::VariableSetStmt(_)
                | Node::VariableShowStmt(_)
                | Node::DiscardStmt(_)
                | Node::PrepareStmt(_)
                | Node::ExecuteStmt(_)
                | Node::DeallocateStmt(_)
                | Node::DeclareCursorStmt(_)
                | Node::FetchStmt(_)
                | Node::ClosePortalStmt(_)
                | Node::ConstraintsSetStmt(_)
                | Node::NotifyStmt(_)
                | Node::ListenStmt(_)
                | Node::UnlistenStmt(_)
        )
}

fn checkpoint(host: &mut dyn CommandHost) -> Result<()> {
    if !crate::names::is_superuser(host)? {
        let user = crate::names::user(host);
        // pg_checkpoint
        if !host.catalog().is_member(user, ids::Oid(4544), true)? {
            return Err(pgerror::pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"
            ));
        }
    }
    host.checkpoint()
}

fn alter_tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Index => "ALTER INDEX",
        ObjectType::Sequence => "ALTER SEQUENCE",
        ObjectType::View => "ALTER VIEW",
        ObjectType::Matview => "ALTER MATERIALIZED VIEW",
        ObjectType::Schema => "ALTER SCHEMA",
        ObjectType::Role => "ALTER ROLE",
        ObjectType::Database => "ALTER DATABASE",
        _ => "ALTER TABLE",
    }
}

fn drop_tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Table => "DROP TABLE",
        ObjectType::Index => "DROP INDEX",
        ObjectType::Sequence => "DROP SEQUENCE",
        ObjectType::View => "DROP VIEW",
        ObjectType::Matview => "DROP MATERIALIZED VIEW",
        ObjectType::ForeignTable => "DROP FOREIGN TABLE",
        ObjectType::Schema => "DROP SCHEMA",
        ObjectType::Extension => "DROP EXTENSION",
        ObjectType::Type => "DROP TYPE",
        ObjectType::Domain => "DROP DOMAIN",
        _ => "DROP",
    }
}
