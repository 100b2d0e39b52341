//! Command tags, and the classification of commands as read-only.
//!
//! Counterpart: `CreateCommandTag`, `ClassifyUtilityCommandAsReadOnly`.

use crate::object::kind::{alter_tag, drop_tag};
use parse::ast::{DiscardMode, Node, ObjectType, TransactionStmtKind, VariableSetKind};

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
        Node::AlterTableMoveAllStmt(s) => alter_tag(s.objtype),
        Node::CreateDomainStmt(_) => "CREATE DOMAIN",
        Node::AlterDomainStmt(_) => "ALTER DOMAIN",
        Node::CreateEnumStmt(_) | Node::CreateRangeStmt(_) => "CREATE TYPE",
        Node::CompositeTypeStmt(_) => "CREATE TYPE",
        Node::AlterEnumStmt(_) | Node::AlterTypeStmt(_) => "ALTER TYPE",
        Node::CreateFunctionStmt(s) if s.is_procedure => "CREATE PROCEDURE",
        Node::CreateFunctionStmt(_) => "CREATE FUNCTION",
        Node::AlterFunctionStmt(s) => alter_tag(s.objtype),
        Node::CreateStatsStmt(_) => "CREATE STATISTICS",
        Node::AlterStatsStmt(_) => "ALTER STATISTICS",
        Node::RenameStmt(s) => alter_tag(match s.rename_type {
            ObjectType::Column => s.relation_type,
            other => other,
        }),
        Node::AlterObjectDependsStmt(s) => alter_tag(s.object_type),
        Node::AlterObjectSchemaStmt(s) => alter_tag(s.object_type),
        Node::AlterOwnerStmt(s) => alter_tag(s.object_type),
        Node::CommentStmt(_) => "COMMENT",
        Node::CreateSchemaStmt(_) => "CREATE SCHEMA",
        Node::ViewStmt(_) => "CREATE VIEW",
        Node::RefreshMatViewStmt(_) => "REFRESH MATERIALIZED VIEW",
        Node::ClusterStmt(_) => "CLUSTER",
        Node::CreateEventTrigStmt(_) => "CREATE EVENT TRIGGER",
        Node::AlterEventTrigStmt(_) => "ALTER EVENT TRIGGER",
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
        Node::AlterExtensionStmt(_) | Node::AlterExtensionContentsStmt(_) => "ALTER EXTENSION",
        Node::CreateOpClassStmt(_) => "CREATE OPERATOR CLASS",
        Node::CreateOpFamilyStmt(_) => "CREATE OPERATOR FAMILY",
        Node::AlterOpFamilyStmt(_) => "ALTER OPERATOR FAMILY",
        Node::AlterOperatorStmt(_) => "ALTER OPERATOR",
        Node::CreateConversionStmt(_) => "CREATE CONVERSION",
        Node::CreateAmStmt(_) => "CREATE ACCESS METHOD",
        Node::CreatePLangStmt(_) => "CREATE LANGUAGE",
        Node::CreatedbStmt(_) => "CREATE DATABASE",
        Node::DropdbStmt(_) => "DROP DATABASE",
        Node::AlterDatabaseStmt(_) => "ALTER DATABASE",
        Node::AlterDatabaseSetStmt(_) => "ALTER DATABASE",
        Node::AlterDatabaseRefreshCollStmt(_) => "ALTER DATABASE",
        Node::AlterCollationStmt(_) => "ALTER COLLATION",
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
        Node::TransactionStmt(s) => transaction_tag(s.kind),
        Node::CopyStmt(_) => "COPY",
        Node::SecLabelStmt(_) => "SECURITY LABEL",
        Node::CreateTrigStmt(_) => "CREATE TRIGGER",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::CreateCastStmt(_) => "CREATE CAST",
        Node::CreateTransformStmt(_) => "CREATE TRANSFORM",
        Node::DefineStmt(s) => definition_tag(s.kind),
        Node::AlterTsDictionaryStmt(_) => "ALTER TEXT SEARCH DICTIONARY",
        Node::AlterTsConfigurationStmt(_) => "ALTER TEXT SEARCH CONFIGURATION",
        other => session_tag(other),
    }
}

/// The tag of a statement that concerns the session.
fn session_tag(stmt: &Node) -> &'static str {
    match stmt {
        Node::AlterSystemStmt(_) => "ALTER SYSTEM",
        Node::DoStmt(_) => "DO",
        Node::LoadStmt(_) => "LOAD",
        Node::CallStmt(_) => "CALL",
        Node::VariableSetStmt(s) => match s.kind {
            VariableSetKind::Reset | VariableSetKind::ResetAll => "RESET",
            _ => "SET",
        },
        Node::VariableShowStmt(_) => "SHOW",
        Node::ExplainStmt(_) => "EXPLAIN",
        Node::DiscardStmt(s) => match s.target {
            DiscardMode::All => "DISCARD ALL",
            DiscardMode::Plans => "DISCARD PLANS",
            DiscardMode::Sequences => "DISCARD SEQUENCES",
            DiscardMode::Temp => "DISCARD TEMP",
        },
        Node::PrepareStmt(_) => "PREPARE",
        Node::ExecuteStmt(_) => "EXECUTE",
        Node::DeallocateStmt(s) if s.name.is_none() => "DEALLOCATE ALL",
        Node::DeallocateStmt(_) => "DEALLOCATE",
        Node::DeclareCursorStmt(_) => "DECLARE CURSOR",
        Node::FetchStmt(s) if s.ismove => "MOVE",
        Node::FetchStmt(_) => "FETCH",
        Node::ClosePortalStmt(s) if s.portalname.is_none() => "CLOSE CURSOR ALL",
        Node::ClosePortalStmt(_) => "CLOSE CURSOR",
        Node::ListenStmt(_) => "LISTEN",
        Node::NotifyStmt(_) => "NOTIFY",
        Node::UnlistenStmt(_) => "UNLISTEN",
        Node::ConstraintsSetStmt(_) => "SET CONSTRAINTS",
        _ => "???",
    }
}

/// The tag of a statement that begins, divides or ends a transaction.
fn transaction_tag(kind: TransactionStmtKind) -> &'static str {
    match kind {
        TransactionStmtKind::Begin => "BEGIN",
        TransactionStmtKind::Start => "START TRANSACTION",
        TransactionStmtKind::Commit => "COMMIT",
        TransactionStmtKind::Rollback | TransactionStmtKind::RollbackTo => "ROLLBACK",
        TransactionStmtKind::Savepoint => "SAVEPOINT",
        TransactionStmtKind::Release => "RELEASE",
        TransactionStmtKind::Prepare => "PREPARE TRANSACTION",
        TransactionStmtKind::CommitPrepared => "COMMIT PREPARED",
        TransactionStmtKind::RollbackPrepared => "ROLLBACK PREPARED",
    }
}

/// The tag of a CREATE statement that has only a list of options.
fn definition_tag(kind: ObjectType) -> &'static str {
    match kind {
        ObjectType::Aggregate => "CREATE AGGREGATE",
        ObjectType::Collation => "CREATE COLLATION",
        ObjectType::Operator => "CREATE OPERATOR",
        ObjectType::Type => "CREATE TYPE",
        ObjectType::Tsconfiguration => "CREATE TEXT SEARCH CONFIGURATION",
        ObjectType::Tsdictionary => "CREATE TEXT SEARCH DICTIONARY",
        ObjectType::Tsparser => "CREATE TEXT SEARCH PARSER",
        ObjectType::Tstemplate => "CREATE TEXT SEARCH TEMPLATE",
        _ => "???",
    }
}

/// True if the command is allowed in a READ ONLY transaction. COPY makes its own check.
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
