//! Command tags, and the classification of commands as read-only.
//!
//! Counterpart: `CreateCommandTag`, `ClassifyUtilityCommandAsReadOnly`.

use parse::ast::{Node, ObjectType, TransactionStmtKind};

/// The tag of a command that is not a query.
pub fn command_tag(stmt: &Node) -> &'static str {
    match stmt {
        Node::CreateStmt(_) => "CREATE TABLE",
        Node::IndexStmt(_) => "CREATE INDEX",
        Node::CreateSeqStmt(_) => "CREATE SEQUENCE",
        Node::AlterSeqStmt(_) => "ALTER SEQUENCE",
        Node::DropStmt(s) => drop_tag(s.remove_type),
        Node::TruncateStmt(_) => "TRUNCATE TABLE",
        Node::AlterTableStmt(s) => alter_tag(s.objtype),
        Node::CreateDomainStmt(_) => "CREATE DOMAIN",
        Node::AlterDomainStmt(_) => "ALTER DOMAIN",
        Node::CreateEnumStmt(_) => "CREATE TYPE",
        Node::AlterEnumStmt(_) => "ALTER TYPE",
        Node::CompositeTypeStmt(_) => "CREATE TYPE",
        Node::CreateFunctionStmt(s) => {
            if s.is_procedure {
                "CREATE PROCEDURE"
            } else {
                "CREATE FUNCTION"
            }
        }
        Node::AlterFunctionStmt(s) => alter_tag(s.objtype),
        Node::CreateStatsStmt(_) => "CREATE STATISTICS",
        Node::AlterStatsStmt(_) => "ALTER STATISTICS",
        Node::RenameStmt(s) => alter_tag(match s.rename_type {
            ObjectType::Column | ObjectType::Tabconstraint => s.relation_type,
            other => other,
        }),
        Node::AlterObjectSchemaStmt(s) => alter_tag(s.object_type),
        Node::AlterOwnerStmt(s) => alter_tag(s.object_type),
        Node::CommentStmt(_) => "COMMENT",
        Node::CreateSchemaStmt(_) => "CREATE SCHEMA",
        Node::ViewStmt(_) => "CREATE VIEW",
        Node::RefreshMatViewStmt(_) => "REFRESH MATERIALIZED VIEW",
        Node::ClusterStmt(_) => "CLUSTER",
        Node::CreateRoleStmt(_) => "CREATE ROLE",
        Node::AlterRoleStmt(_) => "ALTER ROLE",
        Node::DropRoleStmt(_) => "DROP ROLE",
        Node::GrantRoleStmt(s) => {
            if s.is_grant {
                "GRANT ROLE"
            } else {
                "REVOKE ROLE"
            }
        }
        Node::GrantStmt(s) => {
            if s.is_grant {
                "GRANT"
            } else {
                "REVOKE"
            }
        }
        Node::AlterDefaultPrivilegesStmt(_) => "ALTER DEFAULT PRIVILEGES",
        Node::DropOwnedStmt(_) => "DROP OWNED",
        Node::ReassignOwnedStmt(_) => "REASSIGN OWNED",
        Node::LockStmt(_) => "LOCK TABLE",
        Node::ReindexStmt(_) => "REINDEX",
        Node::VacuumStmt(s) => {
            if s.is_vacuumcmd {
                "VACUUM"
            } else {
                "ANALYZE"
            }
        }
        Node::CreateExtensionStmt(_) => "CREATE EXTENSION",
        Node::CreatedbStmt(_) => "CREATE DATABASE",
        Node::DropdbStmt(_) => "DROP DATABASE",
        Node::AlterDatabaseStmt(_) => "ALTER DATABASE",
        Node::AlterDatabaseSetStmt(_) => "ALTER DATABASE",
        Node::AlterDatabaseRefreshCollStmt(_) => "ALTER DATABASE",
        Node::AlterRoleSetStmt(_) => "ALTER ROLE",
        Node::CreateTableSpaceStmt(_) => "CREATE TABLESPACE",
        Node::DropTableSpaceStmt(_) => "DROP TABLESPACE",
        Node::AlterTableSpaceOptionsStmt(_) => "ALTER TABLESPACE",
        Node::CheckPointStmt => "CHECKPOINT",
        Node::CreateTableAsStmt(s) => match s.objtype {
            ObjectType::Matview => "CREATE MATERIALIZED VIEW",
            _ if s.is_select_into => "SELECT INTO",
            _ => "CREATE TABLE AS",
        },
        Node::SelectStmt(_) => "SELECT INTO",
        Node::TransactionStmt(s) => match s.kind {
            TransactionStmtKind::Begin => "BEGIN",
            TransactionStmtKind::Start => "START TRANSACTION",
            TransactionStmtKind::Commit => "COMMIT",
            TransactionStmtKind::Rollback | TransactionStmtKind::RollbackTo => "ROLLBACK",
            TransactionStmtKind::Savepoint => "SAVEPOINT",
            TransactionStmtKind::Release => "RELEASE",
            TransactionStmtKind::Prepare => "PREPARE TRANSACTION",
            TransactionStmtKind::CommitPrepared => "COMMIT PREPARED",
            TransactionStmtKind::RollbackPrepared => "ROLLBACK PREPARED",
        },
        Node::CopyStmt(_) => "COPY",
        Node::SecLabelStmt(_) => "SECURITY LABEL",
        Node::DoStmt(_) => "DO",
        Node::LoadStmt(_) => "LOAD",
        Node::CallStmt(_) => "CALL",
        Node::CreateTrigStmt(_) => "CREATE TRIGGER",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::CreateCastStmt(_) => "CREATE CAST",
        _ => "???",
    }
}

/// Is the command allowed in a READ ONLY transaction? COPY checks itself.
pub fn is_allowed_read_only(stmt: &Node) -> bool {
    matches!(
        stmt,
        Node::CheckPointStmt
            | Node::ClusterStmt(_)
            | Node::CopyStmt(_)
            | Node::LoadStmt(_)
            | Node::LockStmt(_)
            | Node::ReindexStmt(_)
            | Node::VacuumStmt(_)
            | Node::CallStmt(_)
            | Node::DoStmt(_)
    )
}

fn alter_tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Index => "ALTER INDEX",
        ObjectType::Sequence => "ALTER SEQUENCE",
        ObjectType::View => "ALTER VIEW",
        ObjectType::Matview => "ALTER MATERIALIZED VIEW",
        ObjectType::Schema => "ALTER SCHEMA",
        ObjectType::Role => "ALTER ROLE",
        ObjectType::Type | ObjectType::Attribute => "ALTER TYPE",
        ObjectType::Domain | ObjectType::Domconstraint => "ALTER DOMAIN",
        ObjectType::Function => "ALTER FUNCTION",
        ObjectType::Procedure => "ALTER PROCEDURE",
        ObjectType::Routine => "ALTER ROUTINE",
        ObjectType::Aggregate => "ALTER AGGREGATE",
        ObjectType::Rule => "ALTER RULE",
        ObjectType::Trigger => "ALTER TRIGGER",
        ObjectType::StatisticExt => "ALTER STATISTICS",
        ObjectType::Database => "ALTER DATABASE",
        ObjectType::Tablespace => "ALTER TABLESPACE",
        ObjectType::Cast => "ALTER CAST",
        ObjectType::Collation => "ALTER COLLATION",
        ObjectType::Conversion => "ALTER CONVERSION",
        ObjectType::Extension => "ALTER EXTENSION",
        ObjectType::ForeignTable => "ALTER FOREIGN TABLE",
        ObjectType::Language => "ALTER LANGUAGE",
        ObjectType::Opclass => "ALTER OPERATOR CLASS",
        ObjectType::Operator => "ALTER OPERATOR",
        ObjectType::Opfamily => "ALTER OPERATOR FAMILY",
        ObjectType::Policy => "ALTER POLICY",
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
        ObjectType::Function => "DROP FUNCTION",
        ObjectType::Procedure => "DROP PROCEDURE",
        ObjectType::Routine => "DROP ROUTINE",
        ObjectType::Aggregate => "DROP AGGREGATE",
        ObjectType::Rule => "DROP RULE",
        ObjectType::Trigger => "DROP TRIGGER",
        ObjectType::Policy => "DROP POLICY",
        ObjectType::StatisticExt => "DROP STATISTICS",
        ObjectType::Collation => "DROP COLLATION",
        ObjectType::Operator => "DROP OPERATOR",
        ObjectType::Cast => "DROP CAST",
        _ => "DROP",
    }
}
