//! Protocol behaviour of utility statements: parameters, routines in errors, addresses, start-up.

use super::Both;
use super::client::{Bytes, Client, Message};
use std::time::{Duration, Instant};

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    parameters_of_contained_queries,
    routines_of_errors,
    names_take_precedence_over_options,
    a_copy_whose_session_is_ended,
    addresses_of_a_unix_socket,
    failed_concurrent_indexes,
    serializable_transactions_raise_a_warning,
    statements_of_a_message_are_timed_one_by_one,
    discard_all_ends_roles,
    privileges_of_nested_views,
    settings_for_superusers,
    notices_of_the_lexer,
    settings_that_name_objects,
    views_that_read_themselves_are_locked,
    tables_of_others_are_not_vacuumed,
}

fn parameters_of_contained_queries(both: &Both) {
    both.ask(&[
        "create table wire_params (a int4, b text)",
        "insert into wire_params values (1, 'x'), (2, 'y')",
        "create procedure wire_proc(a int4, b text) language sql as 'insert into wire_params \
         values (a, b)'",
    ]);
    let one = |sql: &str, value: &[u8]| {
        b().query("begin")
            .parse("s", sql, &[])
            .describe(b'S', "s")
            .bind("", "s", &[], &[Some(value)], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync()
    };
    for (sql, then) in [
        ("explain (costs off) select * from wire_params where b = $1", "select 1"),
        (
            "explain (costs off, analyze, timing off, summary off) select * from wire_params \
             where a = $1",
            "select 1",
        ),
        (
            "explain (costs off) create table wire_new as select $1 || b as c from wire_params",
            "select 1",
        ),
        ("explain (costs off) declare c cursor for select a + $1 from wire_params", "select 1"),
        ("explain (costs off) insert into wire_params values ($1)", "select 1"),
        ("explain (costs off) select $1", "select 1"),
        ("explain select * from nosuch where a = $1", "select 1"),
        (
            "create table wire_new as select a, $1 || b as c from wire_params order by a",
            "select * from wire_new order by a",
        ),
        (
            "create table wire_new as select * from wire_params where a = $1 with no data",
            "select * from wire_new",
        ),
        (
            "create table if not exists wire_params as select $1::int4",
            "select count(*) from wire_params",
        ),
        (
            "create temp table wire_new (c) as select a = $1 from wire_params order by a",
            "select * from wire_new order by c",
        ),
        (
            "select a, $1::text as c into wire_new from wire_params order by a",
            "select * from wire_new order by a",
        ),
        ("create table wire_new as select $1", "select * from wire_new"),
        ("create table wire_new as select $2::int4", "select 1"),
        ("create materialized view wire_new as select a from wire_params where a = $1", "select 1"),
        ("create materialized view wire_new as select a from wire_params", "select 1"),
        ("create view wire_new as select $1::int4", "select 1"),
        (
            "declare c cursor for select * from wire_params where b >= $1 order by a",
            "fetch all from c",
        ),
        ("declare c scroll no scroll cursor for select $1::int4", "select 1"),
        ("declare c cursor for select $1::int4 + nosuch", "select 1"),
        (
            "declare c scroll cursor for select a from wire_params where a > $1 for update",
            "select 1",
        ),
        ("copy (select $1::int4) to stdout", "select 1"),
        ("prepare p as select $1::int4", "execute p(3)"),
        ("call wire_proc($1, 'z')", "select * from wire_params order by a, b"),
        ("call wire_proc(3, $1)", "select * from wire_params order by a, b"),
        ("call wire_proc(3, $2)", "select 1"),
        ("call wire_proc($1)", "select 1"),
    ] {
        for value in [&b"1"[..], b"x"] {
            both.check(sql, one(sql, value).query(then).query("rollback"), 4);
        }
    }
    both.check(
        "several, with types given for some",
        b().parse(
            "",
            "explain (costs off) select * from wire_params where a = $1 and b = $2",
            &[20, 0],
        )
        .describe(b'S', "")
        .bind("", "", &[0, 1], &[Some(b"7"), Some(b"x")], &[])
        .execute("", 0)
        .sync(),
        1,
    );
    both.check(
        "in a read-only transaction",
        b().query("begin read only")
            .parse("", "create table wire_new as select $1::int4", &[])
            .bind("", "", &[], &[Some(b"1")], &[])
            .execute("", 0)
            .sync()
            .query("rollback"),
        3,
    );
    both.check("not in a simple query", b().query("explain select $1::int4"), 1);
    both.check("nor here", b().query("create table wire_new as select $1::int4"), 1);
    both.ask(&["drop procedure wire_proc", "drop table wire_params"]);
}

fn routines_of_errors(both: &Both) {
    both.ask(&[
        "create table wire_routine (a int4 primary key check (a < 10), b int4 \
         references wire_routine, c int4 not null)",
        "insert into wire_routine values (1, 1, 1)",
        "create role wire_routine",
    ]);
    let run = |sql: &str| b().query(sql);
    let changed = b()
        .query("create temp table changing (a int4)")
        .parse("s", "select * from changing", &[])
        .sync()
        .query("alter table changing add b int4")
        .bind("", "s", &[], &[], &[])
        .sync();
    for (name, bytes) in [
        ("a plan whose result has changed", changed),
        ("unique", run("insert into wire_routine values (1, 1, 1)")),
        ("foreign", run("insert into wire_routine values (2, 7, 1)")),
        (
            "referenced",
            run("delete from wire_routine where a = 1; insert into wire_routine values (3, 1, 1)"),
        ),
        ("check", run("insert into wire_routine values (10, 1, 1)")),
        ("not null", run("insert into wire_routine values (2, 1, null)")),
        ("syntax", run("selec 1")),
        ("table", run("select * from nosuch")),
        ("table of a command", run("alter table nosuch add a int4")),
        ("entry", run("select nosuch.a from wire_routine")),
        ("function", run("select nosuch(1)")),
        ("operator", run("select 1 + true")),
        ("type", run("select 1::nosuch")),
        ("parameter", run("select $1")),
        ("group", run("select a, b from wire_routine group by b")),
        ("there already", run("create table wire_routine (a int4)")),
        ("input", run("select 'x'::int4")),
        ("date", run("select 'x'::date")),
        ("rights", run("set role wire_routine; select * from wire_routine")),
        ("owner", run("set role wire_routine; drop table wire_routine")),
        ("timeout", run("set statement_timeout = 300; select pg_sleep(60)")),
        ("bind", b().parse("", "select $1::int4", &[]).bind("", "", &[], &[], &[]).sync()),
        ("prepared", run("execute nosuch")),
        ("prepared twice", run("prepare s as select 1; prepare s as select 1")),
    ] {
        let [ours, theirs] = both.0.sockets().map(|socket| {
            let mut client = Client::connect(&socket);
            let parts = bytes.0.clone();
            client.send(&parts);
            loop {
                let said = client.until_ready();
                assert!(!said.is_empty(), "{name}: no error");
                if let Some(error) = said.into_iter().find(|m| m.kind == b'E') {
                    return [b'R', b'F'].map(|field| error.field(field));
                }
            }
        });
        if ours != [None, None] || name.starts_with("a plan") {
            assert_eq!(ours, theirs, "{name}: Norsu's, then PostgreSQL's");
        }
    }
    both.ask(&["drop table wire_routine", "drop role wire_routine"]);
}

fn statements_of_a_message_are_timed_one_by_one(both: &Both) {
    both.ask(&[
        "set statement_timeout = 600; select 1 where pg_sleep(0.4) is null; \
         select 2 where pg_sleep(0.4) is null",
        "set statement_timeout = 60000; set statement_timeout = 300; select pg_sleep(60)",
        "set statement_timeout = 300; set statement_timeout = 0; \
         select 1 where pg_sleep(0.4) is null",
        "begin; set statement_timeout = 300; commit; select pg_sleep(60)",
    ]);
}

fn names_take_precedence_over_options(both: &Both) {
    for parameters in [
        &[("options", "-c client_encoding=SQL_ASCII"), ("client_encoding", "UTF8")][..],
        &[("client_encoding", "UTF8"), ("options", "-c client_encoding=SQL_ASCII")],
        &[("options", "-c work_mem=1MB"), ("work_mem", "2MB"), ("options", "-c work_mem=3MB")],
        &[("options", "-c work_mem=1MB"), ("options", "-c application_name=x")],
        &[("application_name", "me"), ("options", "-c application_name=you")],
    ] {
        let said = both.0.sockets().map(|socket| {
            let mut all = vec![("user", "postgres"), ("database", "postgres")];
            all.extend(parameters);
            let (mut client, _) = Client::start(&socket, &all);
            ["client_encoding", "work_mem", "application_name"]
                .map(|name| client.column(&format!("show {name}")))
        });
        assert_eq!(said[0], said[1], "{parameters:?}: Norsu's, then PostgreSQL's");
    }
}

fn a_copy_whose_session_is_ended(both: &Both) {
    both.ask(&["create table wire_copied (a int4)"]);
    let said = both.0.sockets().map(|socket| {
        let mut client = Client::connect(&socket);
        let pid = client.column("select pg_backend_pid()");
        client.send(&b().query("copy wire_copied from stdin").copy_data(b"1\n").0);
        // CopyInResponse.
        client.read();
        let mut other = Client::connect(&socket);
        let waits = format!(
            "select 1 from pg_stat_activity where pid = {} and wait_event = 'ClientRead'",
            pid[0]
        );
        let began = Instant::now();
        while other.column(&waits).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "{socket:?} does not wait");
        }
        assert_eq!(other.column(&format!("select pg_terminate_backend({})", pid[0])), ["t"]);
        client.until_ready().iter().map(Message::show).collect::<Vec<_>>()
    });
    assert_eq!(said[0], said[1], "Norsu's, then PostgreSQL's");
    both.ask(&["select count(*) from wire_copied", "drop table wire_copied"]);
}

fn addresses_of_a_unix_socket(both: &Both) {
    both.ask(&[
        "select inet_server_addr(), inet_server_port(), inet_client_addr(), inet_client_port()",
        "select client_addr, client_port from pg_stat_activity where pid = pg_backend_pid()",
    ]);
}

fn failed_concurrent_indexes(both: &Both) {
    let state = "select indexrelid::regclass, indisvalid, indisready, indislive, indisunique from \
        pg_index where indrelid = 'wire_twice'::regclass order by 1";
    both.ask(&[
        "create table wire_twice (a int4, b int4)",
        "insert into wire_twice values (1, 1), (1, 2), (2, 3)",
        "create unique index concurrently wire_twice_a on wire_twice (a)",
        state,
        "create unique index concurrently wire_twice_a on wire_twice (a)",
        "create unique index concurrently if not exists wire_twice_a on wire_twice (a)",
        // The index whose build failed is neither used nor maintained.
        "insert into wire_twice values (2, 4)",
        "set enable_seqscan = off",
        "explain (costs off) select * from wire_twice where a = 1",
        "insert into wire_twice values (1, 5) on conflict (a) do nothing",
        "alter table wire_twice add primary key using index wire_twice_a",
        "cluster wire_twice using wire_twice_a",
        "reindex index wire_twice_a",
        state,
        "delete from wire_twice where b in (2, 4)",
        "reindex index wire_twice_a",
        state,
        "explain (costs off) select * from wire_twice where a = 1",
        "select * from wire_twice where a = 1",
        "insert into wire_twice values (1, 5)",
        "insert into wire_twice values (1, 5) on conflict (a) do nothing",
        "drop index wire_twice_a",
        "insert into wire_twice values (1, 6)",
        "create unique index concurrently on wire_twice (a)",
        state,
        "drop index concurrently wire_twice_a_idx",
        "create index concurrently wire_twice_f on wire_twice ((1 / (b - 5)))",
        state,
        "drop index wire_twice_f",
        "create index concurrently wire_twice_b on wire_twice (b)",
        state,
        "begin; create index concurrently on wire_twice (b)",
        "rollback",
        "begin; drop index concurrently wire_twice_b",
        "rollback",
        "begin; reindex index concurrently wire_twice_b",
        "rollback",
        "drop index concurrently wire_twice_b, wire_twice_a",
        "drop index concurrently wire_twice_b cascade",
        "drop table wire_twice",
        "create temp table wire_twice (a int4)",
        "insert into wire_twice values (1), (1)",
        "create unique index concurrently wire_twice_a on wire_twice (a)",
        state,
    ]);
}

fn discard_all_ends_roles(both: &Both) {
    both.ask(&[
        "create role wire_a superuser; create role wire_b",
        "set role wire_b",
        "discard all",
        "select current_user, session_user",
        "set session authorization wire_a; set role wire_b",
        "reset all",
        "select current_user, session_user",
        "discard all",
        "select current_user, session_user",
        "show role",
        "show session_authorization",
        "show is_superuser",
        "set session authorization wire_b",
        "discard all",
        "select current_user, session_user",
        "set session authorization wire_b; set role wire_b",
        "reset session authorization",
        "select current_user, session_user",
        "set work_mem = '1MB'; prepare p as select 1; create temp table t (a int4); listen l; \
         select pg_advisory_lock(1)",
        "begin; discard all",
        "rollback",
        "select 1; discard all",
        "declare c cursor with hold for select 1",
        "discard all",
        "show work_mem",
        "execute p",
        "select * from t",
        "select * from pg_listening_channels()",
        "fetch from c",
        "select count(*) from pg_locks where locktype = 'advisory'",
        "drop role wire_a, wire_b",
    ]);
}

fn privileges_of_nested_views(both: &Both) {
    both.ask(&[
        "create role wire_u1; create role wire_u2; create role wire_u3",
        "grant create on schema public to wire_u1, wire_u2",
        "create table wire_bt (a int4, b int4)",
        "insert into wire_bt values (1, 1)",
        "grant select, update on wire_bt to wire_u1",
        "set role wire_u1; create view wire_w1 as select * from wire_bt; \
         grant select on wire_w1 to wire_u2",
        "set role wire_u2; create view wire_w2 as select * from wire_w1; \
         grant select, update, insert, delete on wire_w2 to wire_u3",
        "create view wire_wi with (security_invoker) as select * from wire_w1; \
         grant select, update on wire_wi to wire_u3",
        "reset role; create view wire_w3 as select x.a, y.b from wire_w2 x join (select * \
         from wire_w1 where a > 0) y using (a)",
        "grant select, update on wire_w3 to wire_u3",
    ]);
    for grant in [
        "select 1",
        "grant update on wire_w1 to wire_u2",
        "grant select, update on wire_w1 to wire_u3",
        "revoke update on wire_bt from wire_u1",
        "grant all on wire_bt, wire_w1 to wire_u1, wire_u2",
        "revoke select on wire_bt from wire_u1",
    ] {
        both.ask(&[grant]);
        for user in ["wire_u1", "wire_u2", "wire_u3"] {
            for view in ["wire_bt", "wire_w1", "wire_w2", "wire_wi", "wire_w3"] {
                let statements = [
                    "select * from V",
                    "select * from V for update",
                    "select * from V for key share",
                    "select * from (select * from V offset 0) s for share",
                    "select * from V x, wire_w2 y for update of x",
                    "with c as (select * from V for update) select * from c",
                    "select (select a from V limit 1)",
                    "update V set b = b",
                    "update V set b = 2",
                    "delete from V",
                    "insert into V values (2, 2)",
                    "insert into V values (2, 2) returning a",
                ];
                let mut all = vec![format!("set role {user}")];
                for sql in statements {
                    all.extend(["begin".into(), sql.replace('V', view), "rollback".into()]);
                }
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                both.ask(&all);
            }
        }
    }
    both.ask(&[
        "drop table wire_bt cascade",
        "revoke create on schema public from wire_u1, wire_u2",
        "drop role wire_u1, wire_u2, wire_u3",
    ]);
}

fn settings_for_superusers(both: &Both) {
    both.ask(&["create role wire_s1; create role wire_s2; grant pg_read_all_settings to wire_s2"]);
    let shared = "name not like 'norsu.%' and name not like 'plpgsql.%' and name not in \
                  ('composite_type_mismatch', 'output_plugin_libraries')";
    for role in ["wire_s1", "wire_s2"] {
        let set = format!("set role {role}");
        both.ask(&[
            &set,
            &format!("select name from pg_settings where {shared} order by name collate \"C\""),
        ]);
        for name in [
            "hba_file",
            "ident_file",
            "config_file",
            "data_directory",
            "log_directory",
            "unix_socket_directories",
            "shared_preload_libraries",
            "port",
            "Config_File",
        ] {
            let said = both.0.sockets().map(|socket| {
                let all = b()
                    .query(&set)
                    .query(&format!("show {name}"))
                    .query(&format!("select current_setting('{name}') is null"))
                    .query(&format!("select set_config('{name}', 'x', false)"));
                let said = Client::connect(&socket).talk(&all, 4);
                // The values differ between the servers.
                said.into_iter().filter(|l| !l.starts_with("row /")).collect::<Vec<_>>()
            });
            let strip = |said: &[String]| {
                said.iter()
                    .map(|l| match l.starts_with("row") {
                        true => "row".to_owned(),
                        false => l.clone(),
                    })
                    .filter(|l| l != "row")
                    .collect::<Vec<_>>()
            };
            assert_eq!(
                strip(&said[0]),
                strip(&said[1]),
                "{role}, {name}: Norsu's, then PostgreSQL's"
            );
        }
    }
    both.ask(&["drop role wire_s1, wire_s2"]);
}

fn notices_of_the_lexer(both: &Both) {
    let long = "x".repeat(70);
    let wide = format!("{}ä{}", "y".repeat(62), "z".repeat(10));
    for sql in [
        format!("select 1 as {long}"),
        format!("select 1 as \"{long}A\""),
        format!("select 1 as A{long}"),
        format!("select 1 as \"{wide}\""),
        format!("select 1 as \"{}\"\"\"", "q".repeat(62)),
        format!("select 1 as \"{}\"\"\"", "q".repeat(63)),
        format!("select 1 as {}", "q".repeat(63)),
        format!("select '{long}', $${long}$$, $a${long}$a$ /* {long} */ -- {long}"),
        format!("create temp table {long} ({long} int4, c int4 constraint {long} check (c > 0))"),
        format!("select {long} from {long}"),
        format!("select 1 as a; select 2 as {long}; selec; select 3 as {long}"),
        format!("set role {long}"),
        format!("prepare {long} as select 1; execute {long}; deallocate {long}"),
        format!("begin; savepoint {long}; release {long}; commit"),
        format!("listen {long}; unlisten {long}"),
        format!("select :{long}"),
        format!("set {long} = 1"),
        format!("show {long}"),
        "select 'a\\b', E'a\\n', 'a'\n'\\b'".to_owned(),
    ] {
        both.check(&sql, b().query(&sql), 1);
        both.check(
            &sql,
            b().parse("", &sql, &[]).describe(b'S', "").sync().parse("", &sql, &[]).sync(),
            2,
        );
        let off = b()
            .query("set standard_conforming_strings = off")
            .query(&sql)
            .query("set escape_string_warning = off")
            .query(&sql);
        both.check(&sql, off, 4);
    }
    for literal in [
        r"'a\\b'",
        r"'a\nb'",
        r"'a\'b'",
        r"'\000'",
        r"N'\\'",
        r"E'\n'",
        r"'a' '\n'",
        r"'\''\n'",
        r"$$\n$$",
        r"U&'\0061'",
        r#""\n""#,
        r"'ä' || '\n' || '\t'",
        r"-- '\n'",
    ] {
        let sql = format!("select {literal} as a\n");
        let off = b()
            .query("set standard_conforming_strings = off; set backslash_quote = on")
            .query(&sql);
        both.check(&sql, off, 2);
    }
}

fn settings_that_name_objects(both: &Both) {
    both.ask(&[
        "set default_table_access_method = 'nope'",
        "set default_table_access_method = ''",
        "set default_table_access_method = btree",
        "set default_table_access_method = heap",
        "select set_config('default_table_access_method', 'nope', false)",
        "set default_tablespace = 'nope'",
        "set default_tablespace = ''",
        "set default_tablespace = pg_default",
        "show default_table_access_method",
    ]);
}

fn views_that_read_themselves_are_locked(both: &Both) {
    both.ask(&[
        "create view wire_v1 as select 1 as a",
        "create view wire_v2 as select * from wire_v1",
        "create or replace view wire_v1 as select * from wire_v2",
        "begin; lock table wire_v1; select relation::regclass, mode from pg_locks \
         where relation in \
         ('wire_v1'::regclass, 'wire_v2'::regclass) order by 1",
        "rollback",
        "begin; lock table wire_v2 in share mode nowait; rollback",
        "select * from wire_v1",
        "drop view wire_v1 cascade",
    ]);
}

/// The number of warnings in Norsu's answers.
fn warnings(client: &mut Client, bytes: &Bytes, ready: usize) -> usize {
    let said = client.talk(bytes, ready);
    said.iter().filter(|line| line.contains("SERIALIZABLE is not enforced")).count()
}

fn serializable_transactions_raise_a_warning(both: &Both) {
    let mut client = Client::connect(&both.0.ours.socket());
    let mut count = |sql: &[&str]| {
        let all = sql.iter().fold(b(), |bytes, sql| bytes.query(sql));
        warnings(&mut client, &all, sql.len())
    };
    assert_eq!(count(&["begin", "commit", "select 1"]), 0);
    assert_eq!(count(&["begin isolation level serializable", "select 1", "commit"]), 1);
    assert_eq!(count(&["begin; set transaction isolation level serializable; commit"]), 1);
    assert_eq!(count(&["begin", "set transaction_isolation = serializable", "commit"]), 1);
    assert_eq!(count(&["begin isolation level serializable", "commit and chain", "commit"]), 2);
    assert_eq!(count(&["begin isolation level repeatable read", "select 1", "commit"]), 0);
    assert_eq!(count(&["set default_transaction_isolation = serializable"]), 0);
    assert_eq!(count(&["begin", "select 1", "select 2", "commit"]), 1);
    assert_eq!(count(&["begin isolation level serializable", "commit"]), 1);
    assert_eq!(count(&["select 1", "select 2"]), 2);
    assert_eq!(count(&["reset default_transaction_isolation", "select 1"]), 1);
    let log = both.0.ours.log();
    assert!(log.contains("WARNING:  isolation level SERIALIZABLE is not enforced"), "{log}");
}

/// VACUUM of a database warns about each relation of another owner. The catalogs of the servers
/// have different relations, in the order of their rows in pg_class, which depends on the space
/// that earlier rows have left.
fn tables_of_others_are_not_vacuumed(both: &Both) {
    let [ours, theirs] = both.0.sockets().map(|socket| {
        let mut client = Client::connect(&socket);
        let statements = [
            "create role wire_vacuum; create table wire_others (a int primary key)",
            "create table wire_own (a int); alter table wire_own owner to wire_vacuum",
            "set role wire_vacuum",
            "vacuum",
            "analyze",
            "vacuum wire_others, pg_class, pg_database",
            "reset role",
            "drop table wire_others, wire_own; drop role wire_vacuum",
        ];
        let bytes = statements.iter().fold(b(), |bytes, sql| bytes.query(sql));
        let mut lines = client.talk(&bytes, statements.len());
        lines.retain(|l| !l.contains("skipping") || l.contains("wire_") || l.contains("pg_class "));
        lines.chunk_by_mut(|a, b| a.contains("skipping") && b.contains("skipping")).for_each(|l| {
            l.sort();
        });
        lines
    });
    assert_eq!(ours, theirs, "Norsu's, then PostgreSQL's");
}
