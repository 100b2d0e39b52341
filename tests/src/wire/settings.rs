//! Settings through SQL, compared with PostgreSQL's.

use super::Both;

cases! {
    functions_and_the_view,
    roles_change_with_their_transaction,
    reports_of_changes,
}

fn functions_and_the_view(both: &Both) {
    both.ask(&["select current_setting('work_mem'), current_setting('nosuch', true)"]);
    both.ask(&["select current_setting('nosuch')"]);
    both.ask(&[
        "select set_config('work_mem', '8MB', false)",
        "show work_mem",
        "select setting, unit, source, reset_val from pg_settings where name = 'work_mem'",
        "reset work_mem",
        "show work_mem",
    ]);
    both.ask(&["begin", "select set_config('work_mem', '8MB', true)", "commit", "show work_mem"]);
    both.ask(&[
        "select set_config('my.own', 'x', false), current_setting('my.own')",
        "show my.own",
        "reset my.own",
        "show my.own",
    ]);
    both.ask(&[
        "select set_config(null, 'x', false)",
        "select set_config('work_mem', null, false)",
    ]);
    both.ask(&[
        "select set_config('work_mem', '1 foo', false)",
        "select set_config('port', '1', false)",
    ]);
    both.ask(&[
        "select name, setting, unit, context, vartype, min_val, max_val, enumvals, boot_val \
         from pg_settings where name in ('synchronous_commit', 'checkpoint_timeout', \
         'seq_page_cost', \
         'wal_level', 'enable_seqscan', 'search_path', 'log_min_messages') order by name",
    ]);
    // Two settings that exist only in recent minor versions.
    let shared = "name not like 'norsu.%' and name not like 'plpgsql.%' and name not in \
                  ('composite_type_mismatch', 'output_plugin_libraries')";
    both.ask(&[&format!(
        "select name from pg_settings where {shared} order by name collate \"C\""
    )]);
    both.ask(&[
        // Only the first number of versions is compared.
        &format!(
            "select name, context, vartype, unit, category, enumvals, \
        case when name like 'server_version%' then left(min_val, 2) else min_val end, \
        case when name like 'server_version%' then left(max_val, 2) else max_val end, \
        case when name like 'server_version%' then left(boot_val, 2) else boot_val end \
        from pg_settings where {shared} order by name collate \"C\""
        ),
    ]);
    // The servers are started with different options.
    both.ask(&[&format!(
        "select name, source, sourcefile is null, sourceline is null, pending_restart \
         from pg_settings \
        where {shared} and name not in ('fsync', 'max_connections', 'autovacuum') \
         order by name collate \"C\""
    )]);
    both.ask(&[
        "select current_setting('server_version_num')::int / 10000",
        "show data_checksums",
        "show wal_segment_size",
    ]);
    both.ask(&[
        "select current_setting('transaction_isolation')",
        "begin isolation level repeatable read",
        "select current_setting('transaction_isolation')",
        "rollback",
    ]);
}

fn roles_change_with_their_transaction(both: &Both) {
    both.ask(&[
        "create role wire_r1; create role wire_r2 superuser",
        "set role wire_r1",
        "select current_user, session_user",
        "set work_mem = '1MB'",
        "set log_statement = 'all'",
        "reset role",
        "select current_user",
        "begin; set local role wire_r1; select current_user; commit",
        "select current_user",
        "begin; set role wire_r1",
        "rollback",
        "select current_user",
        "set session authorization wire_r1",
        "select current_user, session_user",
        "set role wire_r2",
        "show is_superuser",
        "reset session authorization",
        "select current_user, session_user",
        "set role nosuch",
        "drop role wire_r1, wire_r2",
    ]);
}

fn reports_of_changes(both: &Both) {
    both.ask(&[
        "set timezone = 'Europe/Berlin'",
        "show timezone",
        "set time zone 'UTC'",
        "set time zone interval '+02:00' hour to minute",
        "set intervalstyle = 'iso_8601'",
        "set client_encoding = 'nosuch'",
        "set client_encoding = 'UTF8'",
        "set client_encoding = 'UNICODE'",
        "show client_encoding",
        "set client_encoding = 'unicode'",
        "set application_name = 'é\t€'",
        "set datestyle = 'nosuch'",
        "set session characteristics as transaction isolation level repeatable read",
        "show default_transaction_isolation",
        "set default_transaction_read_only = on",
        "reset all",
    ]);
}
