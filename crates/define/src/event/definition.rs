//! CREATE and ALTER EVENT TRIGGER. Counterpart: `CreateEventTrigger`, `AlterEventTrigger`.

use crate::object::address;
use crate::routine::lookup;
use catalog::ObjectAddress;
use catalog::rows::{Name, PgEventTrigger, PgProc, Text, indexes};
use ids::builtin::ty;
use ids::code::{DepType, Firing};
use parse::ast::{
    AlterEventTrigStmt, CreateEventTrigStmt, DefElem, Node, ObjectType, ObjectWithArgs,
};
use pgerror::{Result, bail, pg_err};
use trigger::CommandEvent;
use utility::host::CommandHost;
use utility::names;

/// Kinds of objects whose statements CREATE, ALTER and DROP fire event triggers.
const OBSERVED: &[&str] = &[
    "ACCESS METHOD",
    "AGGREGATE",
    "CAST",
    "COLLATION",
    "CONSTRAINT",
    "CONVERSION",
    "DOMAIN",
    "EXTENSION",
    "FOREIGN DATA WRAPPER",
    "FOREIGN TABLE",
    "FUNCTION",
    "INDEX",
    "LANGUAGE",
    "MATERIALIZED VIEW",
    "OPERATOR",
    "OPERATOR CLASS",
    "OPERATOR FAMILY",
    "POLICY",
    "PROCEDURE",
    "PUBLICATION",
    "ROUTINE",
    "RULE",
    "SCHEMA",
    "SEQUENCE",
    "SERVER",
    "STATISTICS",
    "SUBSCRIPTION",
    "TABLE",
    "TEXT SEARCH CONFIGURATION",
    "TEXT SEARCH DICTIONARY",
    "TEXT SEARCH PARSER",
    "TEXT SEARCH TEMPLATE",
    "TRANSFORM",
    "TRIGGER",
    "TYPE",
    "USER MAPPING",
    "VIEW",
];

/// Further tags that fire event triggers.
const OBSERVED_TAGS: &[&str] = &[
    "ALTER DEFAULT PRIVILEGES",
    "ALTER LARGE OBJECT",
    "COMMENT",
    "CREATE TABLE AS",
    "DROP OWNED",
    "GRANT",
    "IMPORT FOREIGN SCHEMA",
    "REFRESH MATERIALIZED VIEW",
    "REVOKE",
    "SECURITY LABEL",
    "SELECT INTO",
];

/// Tags that exist but fire no event triggers.
const OTHER_TAGS: &[&str] = &[
    "???",
    "ALTER DATABASE",
    "ALTER EVENT TRIGGER",
    "ALTER ROLE",
    "ALTER SYSTEM",
    "ALTER TABLESPACE",
    "ANALYZE",
    "BEGIN",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "CLOSE CURSOR",
    "CLOSE CURSOR ALL",
    "CLUSTER",
    "COMMIT",
    "COMMIT PREPARED",
    "COPY",
    "COPY FROM",
    "CREATE DATABASE",
    "CREATE EVENT TRIGGER",
    "CREATE ROLE",
    "CREATE TABLESPACE",
    "DEALLOCATE",
    "DEALLOCATE ALL",
    "DECLARE CURSOR",
    "DELETE",
    "DISCARD",
    "DISCARD ALL",
    "DISCARD PLANS",
    "DISCARD SEQUENCES",
    "DISCARD TEMP",
    "DO",
    "DROP DATABASE",
    "DROP EVENT TRIGGER",
    "DROP REPLICATION SLOT",
    "DROP ROLE",
    "DROP TABLESPACE",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT ROLE",
    "INSERT",
    "LISTEN",
    "LOAD",
    "LOCK TABLE",
    "MERGE",
    "MOVE",
    "NOTIFY",
    "PREPARE",
    "PREPARE TRANSACTION",
    "REASSIGN OWNED",
    "REINDEX",
    "RELEASE",
    "RESET",
    "REVOKE ROLE",
    "ROLLBACK",
    "ROLLBACK PREPARED",
    "SAVEPOINT",
    "SELECT",
    "SELECT FOR KEY SHARE",
    "SELECT FOR NO KEY UPDATE",
    "SELECT FOR SHARE",
    "SELECT FOR UPDATE",
    "SET",
    "SET CONSTRAINTS",
    "SHOW",
    "START TRANSACTION",
    "TRUNCATE TABLE",
    "UNLISTEN",
    "UPDATE",
    "VACUUM",
];

/// True if there is such a tag and event triggers fire for it.
fn is_observed(tag: &str) -> bool {
    let of_verb = |verb: &str| tag.strip_prefix(verb).is_some_and(|kind| OBSERVED.contains(&kind));
    OBSERVED_TAGS.contains(&tag) || of_verb("CREATE ") || of_verb("ALTER ") || of_verb("DROP ")
}

/// CREATE EVENT TRIGGER.
pub fn create(host: &mut dyn CommandHost, stmt: &CreateEventTrigStmt) -> Result<()> {
    let name = stmt.trigname.as_deref().unwrap_or_default();
    if !names::is_superuser(host)? {
        return Err(pg_err!(
            INSUFFICIENT_PRIVILEGE,
            "permission denied to create event trigger \"{name}\""
        )
        .hint("Must be superuser to create an event trigger."));
    }
    let event_name = stmt.eventname.as_deref().unwrap_or_default();
    let event = CommandEvent::ALL.into_iter().find(|e| e.name() == event_name);
    let Some(event) = event else {
        bail!(SYNTAX_ERROR, "unrecognized event name \"{event_name}\"")
    };
    let tags = tags(&stmt.whenclause, event)?;
    let index = indexes::PG_EVENT_TRIGGER_EVTNAME_INDEX;
    if !host.catalog().scan(index, &[name.into()])?.is_empty() {
        bail!(DUPLICATE_OBJECT, "event trigger \"{name}\" already exists");
    }
    let shown: Vec<&str> = stmt.funcname.iter().map(|n| &**n).collect();
    let shown = shown.join(".");
    let object = ObjectWithArgs { objname: stmt.funcname.clone(), ..Default::default() };
    let Some(function) = lookup::find(host, &object, ObjectType::Routine, false)? else {
        bail!(UNDEFINED_FUNCTION, "function {shown}() does not exist")
    };
    if host.catalog().function(function)?.prorettype != ty::EVENT_TRIGGER {
        bail!(INVALID_OBJECT_DEFINITION, "function {shown} must return type event_trigger");
    }
    let row = PgEventTrigger {
        oid: host.catalog().new_oid(indexes::PG_EVENT_TRIGGER_OID_INDEX)?,
        evtname: Name::new(name),
        evtevent: Name::new(event_name),
        evtowner: names::user(host),
        evtfoid: function,
        evtenabled: Firing::Origin,
        evttags: tags,
    };
    let this = ObjectAddress::of::<PgEventTrigger>(row.oid);
    let mut cat = host.catalog();
    cat.insert(&row)?;
    cat.record_owner(this, row.evtowner)?;
    cat.record_dependency(this, ObjectAddress::of::<PgProc>(function), DepType::Normal)?;
    cat.increment_command_counter()
}

/// The tags of the clause WHEN.
fn tags(filters: &[DefElem], event: CommandEvent) -> Result<Option<Vec<Text>>> {
    let mut found: Option<&Node> = None;
    for filter in filters {
        let name = &*filter.defname;
        if name != "tag" {
            bail!(SYNTAX_ERROR, "unrecognized filter variable \"{name}\"");
        }
        if found.is_some() {
            bail!(SYNTAX_ERROR, "filter variable \"{name}\" specified more than once");
        }
        found = filter.arg.as_ref();
    }
    let Some(values) = found else { return Ok(None) };
    let mut tags = Vec::new();
    for value in address::parts(values) {
        let tag = value.to_ascii_uppercase();
        let is_known = is_observed(&tag) || OTHER_TAGS.contains(&&*tag);
        let is_supported = match event {
            CommandEvent::Rewrite => {
                matches!(&*tag, "ALTER TABLE" | "ALTER TYPE" | "ALTER MATERIALIZED VIEW")
            }
            _ => is_observed(&tag),
        };
        if !is_known && event != CommandEvent::Rewrite {
            bail!(
                SYNTAX_ERROR,
                "filter value \"{value}\" not recognized for filter variable \"tag\""
            );
        }
        if !is_supported {
            bail!(FEATURE_NOT_SUPPORTED, "event triggers are not supported for {value}");
        }
        tags.push(Text::from(tag));
    }
    Ok(Some(tags))
}

/// ALTER EVENT TRIGGER … ENABLE and DISABLE.
pub fn alter(host: &mut dyn CommandHost, stmt: &AlterEventTrigStmt) -> Result<()> {
    let name = stmt.trigname.as_deref().unwrap_or_default();
    let index = indexes::PG_EVENT_TRIGGER_EVTNAME_INDEX;
    let Some(row) = host.catalog().scan(index, &[name.into()])?.pop() else {
        bail!(UNDEFINED_OBJECT, "event trigger \"{name}\" does not exist")
    };
    if !names::is_owner(host, row.evtowner)? {
        bail!(INSUFFICIENT_PRIVILEGE, "must be owner of event trigger {name}");
    }
    let evtenabled = stmt.tgenabled;
    host.catalog().update(&row, &PgEventTrigger { evtenabled, ..row.row.clone() }).map(|_| ())
}
