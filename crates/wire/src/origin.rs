//! Source locations of common PostgreSQL errors: fields F (file) and R (routine) of ErrorResponse.
//!
//! Some clients depend on the routine: pgjdbc and asyncpg prepare a statement again after an error
//! of `RevalidateCachedQuery`. psql shows it in verbose output. Errors raised in many places of
//! PostgreSQL are omitted, as are line numbers, which differ between minor versions.

use pgerror::Fields;

/// Routine that raises an error, and its file.
pub type Origin = (&'static str, &'static str);

/// SQLSTATE, prefix of the message, and source location.
const ORIGINS: &[(&str, &str, Origin)] = &[
    ("0A000", "cached plan must not change result type", ("RevalidateCachedQuery", "plancache.c")),
    ("08P01", "bind message supplies", ("exec_bind_message", "postgres.c")),
    ("22007", "invalid input syntax for type", ("DateTimeParseError", "datetime.c")),
    ("22008", "date/time field value out of range", ("DateTimeParseError", "datetime.c")),
    ("22P02", "invalid input syntax for type boolean", ("boolin", "bool.c")),
    ("22P02", "invalid input syntax for type integer", ("pg_strtoint32", "numutils.c")),
    ("22P02", "invalid input syntax for type smallint", ("pg_strtoint16", "numutils.c")),
    ("22P02", "invalid input syntax for type uuid", ("string_to_uuid", "uuid.c")),
    ("23502", "null value in column", ("ExecConstraints", "execMain.c")),
    ("23503", "insert or update on table", ("ri_ReportViolation", "ri_triggers.c")),
    ("23503", "update or delete on table", ("ri_ReportViolation", "ri_triggers.c")),
    ("23505", "duplicate key value", ("_bt_check_unique", "nbtinsert.c")),
    ("23514", "new row for relation", ("ExecConstraints", "execMain.c")),
    ("26000", "prepared statement \"", ("FetchPreparedStatement", "prepare.c")),
    ("40P01", "deadlock detected", ("DeadLockReport", "deadlock.c")),
    ("42501", "must be owner of", ("aclcheck_error", "aclchk.c")),
    ("42501", "permission denied for", ("aclcheck_error", "aclchk.c")),
    ("42601", "syntax error at", ("scanner_yyerror", "scan.l")),
    ("42803", "column \"", ("check_ungrouped_columns_walker", "parse_agg.c")),
    ("42883", "function ", ("ParseFuncOrColumn", "parse_func.c")),
    ("42883", "operator does not exist", ("op_error", "parse_oper.c")),
    ("42704", "type \"", ("typenameType", "parse_type.c")),
    ("42P01", "missing FROM-clause entry", ("errorMissingRTE", "parse_relation.c")),
    ("42P01", "relation \"", ("parserOpenTable", "parse_relation.c")),
    ("42P02", "there is no parameter", ("transformParamRef", "parse_expr.c")),
    ("42P03", "cursor \"", ("CreatePortal", "portalmem.c")),
    ("42P05", "prepared statement \"", ("StorePreparedStatement", "prepare.c")),
    ("42P07", "relation \"", ("heap_create_with_catalog", "heap.c")),
    ("57014", "canceling statement due to", ("ProcessInterrupts", "postgres.c")),
    ("57P01", "terminating connection due to", ("ProcessInterrupts", "postgres.c")),
];

/// The source location of the error, if known.
pub fn origin(fields: &Fields) -> Option<Origin> {
    let code = fields.code.as_str();
    let found = ORIGINS.iter().find(|(c, m, _)| *c == code && fields.message.starts_with(m))?;
    // Errors without a position come from utility commands, which use other routines.
    let has_position =
        !matches!(found.2.0, "parserOpenTable" | "typenameType" | "ParseFuncOrColumn")
            || fields.position.is_some();
    match (code, has_position) {
        ("42P01", false) => Some(("RangeVarGetRelidExtended", "namespace.c")),
        (_, false) => None,
        (_, true) => Some(found.2),
    }
}
