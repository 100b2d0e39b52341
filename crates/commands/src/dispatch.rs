//! Dispatch of utility statements.
//!
//! Counterpart: utility.c.

use crate::alter_object as alter;
use crate::create_as;
use crate::{
    alter_table, cluster, create_index, define_table, domain, extstats, grant, maintenance,
    matview, owned, schema, sequence, trigger, truncate, typecmd, vacuum, view,
};
use clusterwide::{database, role, setting, tablespace};
use define::object::{self, comment};
use define::tag::{command_tag, is_allowed_read_only};
use define::{
    access_method, aggregate, alter_type, basetype, cast, collation, conversion, drop, event,
    extension, language, opclass, operator, rangetype, routine, textsearch, transform,
};
use parse::ast::{DefineStmt, Node, ObjectType};
use pgerror::{PgError, Result, bail};
use utility::host::CommandHost;

/// Runs a utility statement that does not concern the session itself (transactions, settings,
/// prepared statements, cursors, LISTEN). `sql` is the text to which positions in the tree refer.
/// Returns the command tag.
pub fn run_utility(host: &mut dyn CommandHost, stmt: &Node, sql: &str) -> Result<String> {
    if host.read_only() && !is_allowed_read_only(stmt) {
        let tag = command_tag(stmt);
        bail!(READ_ONLY_SQL_TRANSACTION, "cannot execute {tag} in a read-only transaction");
    }
    if event::fires(stmt) && event::are_any(host)? {
        return event::complete(host, stmt, &mut |host| execute(host, stmt, sql));
    }
    execute(host, stmt, sql)
}

/// Runs a utility statement without event triggers.
fn execute(host: &mut dyn CommandHost, stmt: &Node, sql: &str) -> Result<String> {
    match stmt {
        Node::CreateStmt(s) => define_table::create_table(host, s, sql),
        Node::IndexStmt(s) => create_index::create_index(host, s, sql),
        Node::CreateSeqStmt(s) => sequence::create_sequence(host, s, sql),
        Node::AlterSeqStmt(s) => sequence::alter_sequence(host, s, sql),
        Node::DropStmt(s) => drop::drop_statement(host, s),
        Node::TruncateStmt(s) => truncate::truncate(host, s),
        Node::AlterTableStmt(s) => alter_table::alter_table(host, s, sql),
        Node::CreateTrigStmt(s) => trigger::create(host, s, sql),
        Node::CreateDomainStmt(s) => domain::create(host, s),
        Node::AlterDomainStmt(s) => domain::alter(host, s),
        Node::CreateEnumStmt(s) => typecmd::create_enum(host, s),
        Node::AlterEnumStmt(s) => typecmd::alter_enum(host, s),
        Node::AlterTypeStmt(s) => alter_type::set(host, s),
        Node::CreateRangeStmt(s) => rangetype::create(host, s, sql),
        Node::CompositeTypeStmt(s) => typecmd::create_composite(host, s),
        Node::CreateFunctionStmt(s) => routine::create(host, s, sql),
        Node::AlterFunctionStmt(s) => routine::alter(host, s, sql),
        Node::CreateCastStmt(s) => cast::create(host, s),
        Node::CreateTransformStmt(s) => transform::create(host, s),
        Node::CreateConversionStmt(s) => conversion::create(host, s),
        Node::DefineStmt(s) => define(host, s, sql),
        Node::AlterTsDictionaryStmt(s) => textsearch::alter_dictionary(host, s),
        Node::AlterTsConfigurationStmt(s) => textsearch::alter_configuration(host, s),
        Node::AlterOperatorStmt(s) => operator::alter(host, s),
        Node::CreateOpClassStmt(s) => opclass::create_class(host, s),
        Node::CreateOpFamilyStmt(s) => opclass::create_family(host, s),
        Node::AlterOpFamilyStmt(s) => opclass::alter_family(host, s),
        Node::CreateAmStmt(s) => access_method::create(host, s),
        Node::CreatePLangStmt(s) => language::create(host, s),
        Node::CreateStatsStmt(s) => extstats::create(host, s, sql).map(drop),
        Node::AlterStatsStmt(s) => extstats::alter(host, s),
        Node::SecLabelStmt(s) => return Err(no_label_provider(s.provider.as_deref())),
        Node::RenameStmt(s) => alter::rename(host, s),
        Node::AlterObjectDependsStmt(s) => object::depends::alter(host, s),
        Node::AlterObjectSchemaStmt(s) => alter::set_schema(host, s),
        Node::AlterOwnerStmt(s) => alter::set_owner(host, s),
        Node::CommentStmt(s) => comment::comment(host, s),
        Node::CreateSchemaStmt(s) => schema::create_schema(host, s, &mut |host, element| {
            execute(host, element, sql).map(|_| ())
        }),
        Node::ViewStmt(s) => view::create_view(host, s, sql),
        Node::CreateTableAsStmt(s) => {
            let count = create_as::create_table_as(host, s, sql)?;
            host.catalog().increment_command_counter()?;
            return Ok(match count {
                Some(n) if !s.into.skip_data => format!("SELECT {n}"),
                _ if s.objtype == ObjectType::Matview => "CREATE MATERIALIZED VIEW".to_string(),
                _ => "CREATE TABLE AS".to_string(),
            });
        }
        Node::RefreshMatViewStmt(s) => matview::refresh(host, s),
        Node::ClusterStmt(s) => cluster::cluster(host, s, sql),
        Node::SelectStmt(s) => {
            let Some(stmt) = create_as::select_into(s) else {
                return Err(PgError::internal("a query is not a utility command"));
            };
            return execute(host, &Node::CreateTableAsStmt(Box::new(stmt)), sql);
        }
        Node::CreateEventTrigStmt(s) => event::definition::create(host, s),
        Node::AlterEventTrigStmt(s) => event::definition::alter(host, s),
        Node::CreateRoleStmt(s) => role::create_role(host, s, sql),
        Node::AlterRoleStmt(s) => role::alter_role(host, s, sql),
        Node::DropRoleStmt(s) => role::drop_role(host, s),
        Node::GrantRoleStmt(s) => role::grant_role(host, s),
        Node::GrantStmt(s) => grant::grant(host, s),
        Node::AlterDefaultPrivilegesStmt(s) => grant::defaults::alter(host, s),
        Node::DropOwnedStmt(s) => owned::drop_owned(host, s),
        Node::ReassignOwnedStmt(s) => owned::reassign_owned(host, s),
        Node::LockStmt(s) => maintenance::lock_table(host, s),
        Node::ReindexStmt(s) => maintenance::reindex(host, s, sql),
        Node::VacuumStmt(s) => vacuum::vacuum(host, s, sql),
        Node::CreateExtensionStmt(s) => extension::create(host, s, sql, &mut |host, node, sql| {
            run_utility(host, node, sql).map(|_| ())
        }),
        Node::AlterExtensionStmt(s) => extension::update(host, s, &mut |host, node, sql| {
            run_utility(host, node, sql).map(|_| ())
        }),
        Node::AlterExtensionContentsStmt(s) => extension::change_contents(host, s),
        Node::CopyStmt(s) => {
            let count = copy::copy(host, s, sql)?;
            host.catalog().increment_command_counter()?;
            return Ok(format!("COPY {count}"));
        }
        Node::CreatedbStmt(s) => database::create_database(host, s),
        Node::DropdbStmt(s) => database::drop_database(host, s),
        Node::AlterDatabaseStmt(s) => database::alter_database(host, s),
        Node::AlterDatabaseSetStmt(s) => database::alter_database_set(host, s),
        Node::AlterDatabaseRefreshCollStmt(s) => database::refresh_collation(host, &s.dbname),
        Node::AlterCollationStmt(s) => collation::refresh_version(host, &s.collname),
        Node::AlterRoleSetStmt(s) => setting::alter_role_set(host, s),
        Node::CreateTableSpaceStmt(s) => tablespace::create(host, s),
        Node::DropTableSpaceStmt(s) => tablespace::drop(host, s),
        Node::AlterTableSpaceOptionsStmt(s) => tablespace::set_options(host, s),
        Node::AlterTableMoveAllStmt(s) => alter_table::move_all(host, s, sql),
        Node::CheckPointStmt => checkpoint(host),
        other => return Err(PgError::unsupported(statement_name(other))),
    }?;
    host.catalog().increment_command_counter()?; // for the next statement
    Ok(command_tag(stmt).to_string())
}

/// CREATE of an object that is described by a list of attributes.
fn define(host: &mut dyn CommandHost, stmt: &DefineStmt, sql: &str) -> Result<()> {
    match stmt.kind {
        ObjectType::Aggregate => aggregate::create(host, stmt, sql),
        ObjectType::Operator => operator::create(host, stmt),
        ObjectType::Type => basetype::create(host, stmt, sql),
        ObjectType::Collation => collation::create(host, stmt, sql),
        kind if textsearch::is_defined(kind) => textsearch::create(host, stmt),
        _ => Err(PgError::internal("unrecognized object type")),
    }
}

/// True if [`run_utility`] handles the statement.
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
                | Node::CallStmt(_)
                | Node::NotifyStmt(_)
                | Node::ListenStmt(_)
                | Node::UnlistenStmt(_)
        )
}

fn checkpoint(host: &mut dyn CommandHost) -> Result<()> {
    if !utility::names::is_superuser(host)? {
        let user = utility::names::user(host);
        if !host.catalog().is_member(user, ids::builtin::role::CHECKPOINT, true)? {
            return Err(pgerror::pg_err!(
                INSUFFICIENT_PRIVILEGE,
                "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT"
            ));
        }
    }
    host.checkpoint()
}

/// Error 22023: there is no label provider.
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

/// The name of an unsupported statement.
fn statement_name(node: &Node) -> &'static str {
    match node {
        Node::CreatePublicationStmt(_) | Node::AlterPublicationStmt(_) => "publications",
        Node::CreateSubscriptionStmt(_)
        | Node::AlterSubscriptionStmt(_)
        | Node::DropSubscriptionStmt(_) => "subscriptions",
        Node::RuleStmt(_) => "CREATE RULE",
        Node::CreatePolicyStmt(_) | Node::AlterPolicyStmt(_) => "policies",
        Node::CallStmt(_) => "CALL",
        _ => "this statement",
    }
}
