//! Which statement goes where, and the tag that the client gets. Counterpart: utility.c.

use crate::host::CommandHost;
use crate::{
    alter_table, cluster, copy, create_table, database, domain, drop, extension, extstats, grant,
    index, maintenance, matview, object, owned, role, routine, sequence, setting, tablespace,
    truncate, typecmd, vacuum, view,
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
                ObjectType::Type => "ALTER TYPE",
                _ => "ALTER TABLE",
            }
        }
        Node::CreateDomainStmt(s) => {
            domain::create(host, s, sql)?;
            "CREATE DOMAIN"
        }
        Node::AlterDomainStmt(s) => {
            domain::alter(host, s, sql)?;
            "ALTER DOMAIN"
        }
        Node::CreateEnumStmt(s) => {
            typecmd::create_enum(host, s)?;
            "CREATE TYPE"
        }
        Node::AlterEnumStmt(s) => {
            typecmd::alter_enum(host, s)?;
            "ALTER TYPE"
        }
        Node::CompositeTypeStmt(s) => {
            typecmd::create_composite(host, s, sql)?;
            "CREATE TYPE"
        }
        Node::CreateFunctionStmt(s) => {
            routine::create(host, s, sql)?;
            if s.is_procedure { "CREATE PROCEDURE" } else { "CREATE FUNCTION" }
        }
        Node::AlterFunctionStmt(s) => {
            routine::alter(host, s)?;
            alter_tag(s.objtype)
        }
        Node::CreateStatsStmt(s) => {
            extstats::create(host, s, sql)?;
            "CREATE STATISTICS"
        }
        Node::AlterStatsStmt(s) => {
            extstats::alter(host, s)?;
            "ALTER STATISTICS"
        }
        Node::SecLabelStmt(s) => return Err(no_label_provider(s.provider.as_deref())),
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
                _ if s.objtype == ObjectType::Matview => "CREATE MATERIALIZED VIEW".to_string(),
                _ => "CREATE TABLE AS".to_string(),
            });
        }
        Node::RefreshMatViewStmt(s) => {
            matview::refresh(host, s)?;
            "REFRESH MATERIALIZED VIEW"
        }
        Node::ClusterStmt(s) => {
            cluster::cluster(host, s)?;
            "CLUSTER"
        }
        Node::SelectStmt(s) => {
            let Some(stmt) = view::select_into(s) else {
                return Err(PgError::internal("a query is no command"));
            };
            return run_utility(host, &Node::CreateTableAsStmt(Box::new(stmt)), sql);
        }
        Node::CreateRoleStmt(s) => {
            role::create_role(host, s, sql)?;
            "CREATE ROLE"
        }
        Node::AlterRoleStmt(s) => {
            role::alter_role(host, s, sql)?;
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
        Node::GrantStmt(s) => {
            grant::grant(host, s, sql)?;
            if s.is_grant { "GRANT" } else { "REVOKE" }
        }
        Node::AlterDefaultPrivilegesStmt(s) => {
            grant::defaults::alter(host, s)?;
            "ALTER DEFAULT PRIVILEGES"
        }
        Node::DropOwnedStmt(s) => {
            owned::drop_owned(host, s)?;
            "DROP OWNED"
        }
        Node::ReassignOwnedStmt(s) => {
            owned::reassign_owned(host, s)?;
            "REASSIGN OWNED"
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
        Node::CreatedbStmt(s) => {
            database::create_database(host, s)?;
            "CREATE DATABASE"
        }
        Node::DropdbStmt(s) => {
            database::drop_database(host, s)?;
            "DROP DATABASE"
        }
        Node::AlterDatabaseStmt(s) => {
            database::alter_database(host, s)?;
            "ALTER DATABASE"
        }
        Node::AlterDatabaseSetStmt(s) => {
            database::alter_database_set(host, s)?;
            "ALTER DATABASE"
        }
        Node::AlterDatabaseRefreshCollStmt(s) => {
            database::refresh_collation_version(host, &s.dbname)?;
            "ALTER DATABASE"
        }
        Node::AlterRoleSetStmt(s) => {
            setting::alter_role_set(host, s)?;
            "ALTER ROLE"
        }
        Node::CreateTableSpaceStmt(s) => {
            tablespace::create(host, s)?;
            "CREATE TABLESPACE"
        }
        Node::DropTableSpaceStmt(s) => {
            tablespace::drop(host, s)?;
            "DROP TABLESPACE"
        }
        Node::AlterTableSpaceOptionsStmt(s) => {
            tablespace::set_options(host, s)?;
            "ALTER TABLESPACE"
        }
        Node::CheckPointStmt => {
            checkpoint(host)?;
            "CHECKPOINT"
        }
        other => return Err(PgError::unsupported(statement_name(other))),
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

/// 22023: there is no label provider.
fn no_label_provider(name: Option<&str>) -> PgError {
    match name {
        Some(name) => pgerror::pg_err!(
            INVALID_PARAMETER_VALUE,
            "security label provider \"{name}\" is not loaded"
        ),
        None => pgerror::pg_err!(
            INVALID_PARAMETER_VALUE,
            "no security label providers have been loaded"
        ),
    }
}

/// What a statement that is not there is called.
fn statement_name(node: &Node) -> &'static str {
    match node {
        Node::CreateEventTrigStmt(_) | Node::AlterEventTrigStmt(_) => "event triggers",
        Node::CreatePublicationStmt(_) | Node::AlterPublicationStmt(_) => "publications",
        Node::CreateSubscriptionStmt(_)
        | Node::AlterSubscriptionStmt(_)
        | Node::DropSubscriptionStmt(_) => "subscriptions",
        Node::DoStmt(_) => "DO",
        Node::LoadStmt(_) => "LOAD",
        Node::CreateRangeStmt(_) => "CREATE TYPE AS RANGE",
        Node::CreateConversionStmt(_) => "CREATE CONVERSION",
        Node::CreateOpClassStmt(_) => "CREATE OPERATOR CLASS",
        Node::CreateOpFamilyStmt(_) | Node::AlterOpFamilyStmt(_) => "operator families",
        Node::CreateTrigStmt(_) => "CREATE TRIGGER",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::CreatePolicyStmt(_) | Node::AlterPolicyStmt(_) => "policies",
        Node::CreateCastStmt(_) => "CREATE CAST",
        Node::DefineStmt(s) => match s.kind {
            ObjectType::Aggregate => "CREATE AGGREGATE",
            ObjectType::Operator => "CREATE OPERATOR",
            ObjectType::Collation => "CREATE COLLATION",
            ObjectType::Type => "CREATE TYPE of base types",
            _ => "text search objects",
        },
        Node::CallStmt(_) => "CALL",
        Node::AlterTableMoveAllStmt(_) => "ALTER TABLE ALL IN TABLESPACE",
        _ => "this statement",
    }
}
