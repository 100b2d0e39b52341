//! Settings through SQL, as the real server has them.

use super::both;
use super::client::{Bytes, Client};

fn b() -> Bytes {
    Bytes::new()
}

fn check(sql: &[&str]) {
    let both = both();
    let [ours, theirs] = [both.norsu.socket(), both.real.socket()].map(|socket| {
        let mut client = Client::connect(&socket);
        sql.iter().flat_map(|sql| client.talk(&b().query(sql), 1)).collect::<Vec<_>>()
    });
    assert_eq!(ours, theirs, "{sql:?}");
}

#[test]
fn functions_and_the_view() {
    check(&["select current_setting('work_mem'), current_setting('nosuch', true)"]);
    check(&["select current_setting('nosuch')"]);
    check(&[
        "select set_config('work_mem', '8MB', false)",
        "show work_mem",
        "select setting, unit, source, reset_val from pg_settings where name = 'work_mem'",
        "reset work_mem",
        "show work_mem",
    ]);
    check(&["begin", "select set_config('work_mem', '8MB', true)", "commit", "show work_mem"]);
    check(&[
        "select set_config('my.own', 'x', false), current_setting('my.own')",
        "show my.own",
        "reset my.own",
        "show my.own",
    ]);
    check(&["select set_config(null, 'x', false)", "select set_config('work_mem', null, false)"]);
    check(&[
        "select set_config('work_mem', '1 foo', false)",
        "select set_config('port', '1', false)",
    ]);
    check(&["select name, setting, unit, context, vartype, min_val, max_val, enumvals, boot_val \
        from pg_settings where name in ('synchronous_commit', 'checkpoint_timeout', 'seq_page_cost', \
        'wal_level', 'enable_seqscan', 'search_path', 'log_min_messages') order by name"]);
    check(&[
        "select name from pg_settings where name not like 'norsu.%' order by name collate \"C\"",
    ]);
    check(&[
        "select name, context, vartype, unit, category, min_val, max_val, enumvals, boot_val \
        from pg_settings where name not like 'norsu.%' and name not in ('data_checksums', 'krb_server_keyfile', 'server_version') \
        order by name collate \"C\"",
    ]);
    check(&[
        "select current_setting('transaction_isolation')",
        "begin isolation level repeatable read",
        "select current_setting('transaction_isolation')",
        "rollback",
    ]);
}

#[test]
fn roles_come_and_go_with_their_transaction() {
    check(&[
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

#[test]
fn reports_of_changes() {
    check(&[
        "set timezone = 'Europe/Berlin'",
        "show timezone",
        "set time zone 'UTC'",
        "set time zone interval '+02:00' hour to minute",
        "set intervalstyle = 'iso_8601'",
        "set client_encoding = 'nosuch'",
        "set client_encoding = 'UTF8'",
        "set datestyle = 'nosuch'",
        "set session characteristics as transaction isolation level serializable",
        "show default_transaction_isolation",
        "set default_transaction_read_only = on",
        "reset all",
    ]);
}
