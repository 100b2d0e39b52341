//! Message sequences of the protocol, on both servers.

use super::Both;
use super::client::{Bytes, Client, VERSION_3, startup};

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    simple_queries,
    statements_and_portals,
    errors_skip_to_sync,
    formats,
    formats_of_prepared_statements_and_cursors,
    errors_among_rows,
    domains_as_parameters,
    void_parameters_represent_out_arguments,
    pipelines,
    copy_both_ways,
    notices_and_fields_of_errors,
    beginnings,
    startup_parameters_are_the_same,
}

fn simple_queries(both: &Both) {
    for sql in [
        "select 1 as a, 'x'::text as b, null::int4 as c",
        "",
        ";",
        "-- nothing",
        "select 1; select 2",
        "select 1; select 1/g from generate_series(0, 0) g; select 3",
        "select 1; select 1/0; select 3",
        "select 1/0",
        "begin; select 1; commit",
        "begin; select 1/g from generate_series(0, 0) g",
        "commit",
        "begin; begin; rollback; rollback",
        "create temp table t (a int4); insert into t values (1), (2); select * from t; \
         drop table t",
        "select nosuch",
        "select 'a' ~ 1",
        "selec 1",
        "select $1",
        "show server_encoding",
        "set application_name = 'me'; select 1",
        "set work_mem = 'abc'",
        "set nosuch = 1",
        "select 1::int2, 2::int8, 1.5::numeric, 'a'::\"char\", true, '\\x01'::bytea",
        "values (1, 'a'), (2, null)",
        "select 'x'::internal",
        "select null::internal",
        "select int8_avg_accum(null, 1)",
    ] {
        both.check(sql, b().query(sql), 1);
    }
}

fn statements_and_portals(both: &Both) {
    both.check(
        "unnamed",
        b().parse("", "select $1::int4 + 1 as x", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[Some(b"41")], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "binary both ways",
        b().parse("", "select $1::int4, $2::text, $3::bool", &[])
            .bind("", "", &[1], &[Some(&7u32.to_be_bytes()), Some(b"abc"), Some(&[1])], &[1])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "formats one by one",
        b().parse("", "select $1::int8, $2::int4", &[20, 23])
            .bind("", "", &[1, 0], &[Some(&7u64.to_be_bytes()), Some(b"8")], &[0, 1])
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "null",
        b().parse("", "select $1::text is null", &[])
            .bind("", "", &[], &[None], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "named",
        b().parse("s", "select 1", &[])
            .sync()
            .bind("p", "s", &[], &[], &[])
            .execute("p", 0)
            .close(b'P', "p")
            .close(b'S', "s")
            .close(b'S', "nosuch")
            .sync(),
        2,
    );
    both.check(
        "named twice",
        b().parse("s", "select 1", &[])
            .parse("s", "select 2", &[])
            .sync()
            .parse("s", "select 3", &[])
            .sync(),
        2,
    );
    both.check(
        "portal twice",
        b().query("begin")
            .parse("s", "select 1", &[])
            .bind("p", "s", &[], &[], &[])
            .bind("p", "s", &[], &[], &[])
            .sync()
            .query("rollback"),
        3,
    );
    both.check(
        "row limits",
        b().parse("", "select g from generate_series(1, 5) g", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 2)
            .execute("", 2)
            .execute("", 2)
            .execute("", 2)
            .sync(),
        1,
    );
    both.check(
        "row limit and writes",
        b().query("create temp table w (a int)")
            .parse("", "insert into w select generate_series(1, 3) returning a", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 2)
            .execute("", 2)
            .sync()
            .query("select count(*) from w"),
        3,
    );
    both.check(
        "portal ends with its transaction",
        b().parse("", "select 1", &[]).bind("p", "", &[], &[], &[]).sync().execute("p", 0).sync(),
        2,
    );
    both.check(
        "portal in a block",
        b().query("begin")
            .parse("", "select g from generate_series(1, 3) g", &[])
            .bind("p", "", &[], &[], &[])
            .sync()
            .execute("p", 2)
            .sync()
            .execute("p", 2)
            .sync()
            .query("commit")
            .execute("p", 1)
            .sync(),
        6,
    );
    both.check(
        "empty",
        b().parse("", "", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "no rows",
        b().parse("", "begin", &[])
            .bind("", "", &[], &[], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync()
            .query("rollback"),
        2,
    );
    both.check(
        "show",
        b().parse("", "show server_encoding", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[], &[1])
            .execute("", 0)
            .sync(),
        1,
    );
    both.check("several", b().parse("", "select 1; select 2", &[]).sync(), 1);
    both.check(
        "unknown types",
        b().parse("", "select $1, $2 + 1, $3 || 'x'", &[]).describe(b'S', "").sync(),
        1,
    );
    both.check("internal", b().parse("", "select $1::internal", &[]).describe(b'S', "").sync(), 1);
    both.check("undetermined", b().parse("", "select $2::int4", &[]).describe(b'S', "").sync(), 1);
    both.check("given types", b().parse("", "select $1", &[23]).describe(b'S', "").sync(), 1);
}

fn errors_skip_to_sync(both: &Both) {
    both.check(
        "parse error",
        b().parse("", "selec", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync()
            .query("select 1"),
        2,
    );
    both.check(
        "bind count",
        b().parse("", "select $1::int4", &[]).bind("", "", &[], &[], &[]).execute("", 0).sync(),
        1,
    );
    both.check(
        "bind value",
        b().parse("", "select $1::int4", &[])
            .bind("", "", &[], &[Some(b"x")], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "binary value",
        b().parse("", "select $1::int4", &[])
            .bind("", "", &[1], &[Some(b"xyz")], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    both.check(
        "formats",
        b().parse("", "select $1::int4", &[]).bind("", "", &[0, 0], &[Some(b"1")], &[]).sync(),
        1,
    );
    both.check(
        "result formats",
        b().parse("", "select 1", &[]).bind("", "", &[], &[], &[0, 0, 0]).sync(),
        1,
    );
    both.check(
        "format code",
        b().parse("", "select 1", &[]).bind("", "", &[], &[], &[7]).sync(),
        1,
    );
    both.check(
        "no statement",
        b().bind("", "nosuch", &[], &[], &[])
            .sync()
            .describe(b'S', "nosuch")
            .sync()
            .describe(b'P', "nosuch")
            .sync()
            .execute("nosuch", 0)
            .sync(),
        4,
    );
    both.check(
        "at run time",
        b().parse("", "select 1/$1::int4", &[])
            .bind("", "", &[], &[Some(b"0")], &[])
            .execute("", 0)
            .bind("", "", &[], &[Some(b"1")], &[])
            .execute("", 0)
            .sync()
            .bind("", "", &[], &[Some(b"1")], &[])
            .execute("", 0)
            .sync(),
        2,
    );
    both.check(
        "at run time, of rows",
        b().parse("", "select 1/(g - $1::int4) from generate_series(0, 0) g", &[])
            .bind("", "", &[], &[Some(b"0")], &[])
            .execute("", 0)
            .bind("", "", &[], &[Some(b"1")], &[])
            .execute("", 0)
            .sync()
            .bind("", "", &[], &[Some(b"1")], &[])
            .execute("", 0)
            .sync(),
        2,
    );
    both.check(
        "implicit block",
        b().parse("", "create temp table z (a int)", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .parse("", "select 1/0", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync()
            .query("select count(*) from pg_class where relname = 'z'"),
        2,
    );
    both.check(
        "implicit block, of rows",
        b().parse("", "create temp table z (a int)", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .parse("", "select 1/(g - g) from generate_series(1, 1) g", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync()
            .query("select count(*) from pg_class where relname = 'z'"),
        2,
    );
    both.check(
        "failed block",
        b().query("begin")
            .query("select 1/0")
            .parse("", "select 1", &[])
            .sync()
            .parse("", "rollback", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync(),
        4,
    );
    both.check(
        "failed block, of rows",
        b().query("begin")
            .query("select 1/(g - g) from generate_series(1, 1) g")
            .parse("", "select 1", &[])
            .sync()
            .parse("", "rollback", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync(),
        4,
    );
}

/// The result formats of a Bind are checked only when a row is sent.
fn formats(both: &Both) {
    let ask = |name: &str, sql: &str, results: &[u16]| {
        let bytes = b().parse("", sql, &[]).bind("", "", &[], &[], results);
        both.check(name, bytes.describe(b'P', "").execute("", 0).sync(), 1);
    };
    for sql in [
        "select 1",
        "select 1 where false",
        "show work_mem",
        "explain (costs off) select 1",
        "begin",
    ] {
        for code in [1, 7, 0xffff] {
            ask(&format!("{sql}, format {code}"), sql, &[code]);
        }
        ask(&format!("{sql}, several"), sql, &[7, 0]);
    }
    ask("one of two", "select 1, 2", &[0, 9]);
    ask("two of two", "select 1, 2", &[8, 9]);
    ask("nothing returned", "create temp table f (a int)", &[7]);
    both.check(
        "insert",
        b().query("create temp table f (a int)")
            .parse("", "insert into f values (1) returning a", &[])
            .bind("", "", &[], &[], &[7])
            .describe(b'P', "")
            .execute("", 0)
            .sync()
            .query("select count(*) from f"),
        3,
    );
    let two = "select $1::int4, $2::int4";
    for (name, codes, values) in [
        ("null", &[7][..], &[None, None][..]),
        ("the second", &[0, 7], &[Some(&b"1"[..]), Some(b"1")]),
        ("after a bad value", &[0, 7], &[Some(b"x"), Some(b"1")]),
        ("before a bad value", &[7, 0], &[Some(b"1"), Some(b"x")]),
    ] {
        let bytes = b().parse("", two, &[]).bind("", "", codes, values, &[]);
        both.check(name, bytes.execute("", 0).sync(), 1);
    }
    both.check(
        "none to use it",
        b().parse("", "select 1", &[]).bind("", "", &[7], &[], &[]).execute("", 0).sync(),
        1,
    );
    both.check(
        "a bad value, and then the message is cut short",
        b().parse("", two, &[]).raw(b'B', b"\0\0\0\0\0\x02\0\0\0\x01x").sync(),
        1,
    );
}

/// EXECUTE and FETCH send rows in the formats of their own Bind, for any statement that they
/// execute.
fn formats_of_prepared_statements_and_cursors(both: &Both) {
    for code in [0, 1, 7] {
        let bind = |sql: &str| {
            let bytes = b().parse("", sql, &[]).bind("", "", &[], &[], &[code]);
            bytes.describe(b'P', "").execute("", 0).sync()
        };
        both.check(
            &format!("execute, format {code}"),
            b().query("prepare s as select 258, 'a'::text").bytes(&bind("execute s").0),
            2,
        );
        for kind in ["", "binary", "scroll", "binary scroll"] {
            both.check(
                &format!("{kind} cursor, format {code}"),
                b().query(&format!(
                    "begin; declare c {kind} cursor for select g + 257, 'a'::text \
                     from generate_series(1, 3) g"
                ))
                .query("fetch c")
                .bytes(&bind("fetch c").0)
                .query("fetch all c; close c"),
                4,
            );
        }
        both.check(
            &format!("a portal of the protocol, format {code}"),
            b().query("begin")
                .parse("s", "select g + 257 from generate_series(1, 3) g", &[])
                .bind("p", "s", &[], &[], &[code])
                .sync()
                .query("fetch p")
                .execute("p", 1)
                .sync()
                .query("fetch backward p"),
            5,
        );
    }
}

/// Parameters of type void represent OUT arguments, which the look-up of the function ignores.
fn void_parameters_represent_out_arguments(both: &Both) {
    let make = "create function outs(a int4, out b int4, out c text) language sql \
                as 'select a + 1, ''q''::text'";
    both.check(make, b().query(make), 1);
    let procedure =
        "create procedure gives(a int4, out b text) language sql as 'select ''q''::text'";
    both.check(procedure, b().query(procedure), 1);
    for (sql, types) in [
        // Arguments of CALL include those of OUT parameters.
        ("call gives($1, $2)", &[23, 2278][..]),
        ("call gives($1, $2)", &[2278, 2278]),
        ("call outs($1, $2, $3)", &[23, 2278, 2278]),
        ("call abs($1, $2)", &[2278, 23]),
        ("select * from outs($1, $2, $3) as result", &[23, 2278, 2278]),
        ("select abs($1, $2)", &[23, 2278]),
        ("select $1", &[2278]),
        ("select length($1)", &[2278]),
    ] {
        let values = [Some(&b"41"[..]), None, None];
        both.check(
            sql,
            b().parse("", sql, types)
                .describe(b'S', "")
                .bind("", "", &[], &values[..types.len()], &[])
                .execute("", 0)
                .sync(),
            1,
        );
    }
    let drop = "drop function outs(int4); drop procedure gives(int4)";
    both.check("drop", b().query(drop), 1);
}

/// EXECUTE and FETCH send no rows of a query that fails.
fn errors_among_rows(both: &Both) {
    for rows in [
        "select 1 / (g - 2) from generate_series(1, 3) g",
        "select generate_series(1, 2), 10 / (3 - g) from generate_series(1, 5) g",
        "select unnest(array[2, 0]), generate_series(1, 3), 10 / (3 - g) \
         from generate_series(1, 5) g",
        "select generate_series(1, 10 / (3 - g)) from generate_series(1, 5) g",
    ] {
        errors_among(both, rows);
    }
}

fn errors_among(both: &Both, rows: &str) {
    both.check(
        "rows",
        b().query(&format!("prepare s as {rows}"))
            .query("execute s")
            .query(&format!("begin; declare c cursor for {rows}"))
            .query("fetch c")
            .query("fetch c")
            .query("rollback")
            .query(&format!("begin; declare c cursor for {rows}; fetch all c")),
        7,
    );
    both.check(
        "extended",
        b().query(&format!("prepare s as {rows}"))
            .parse("", "execute s", &[])
            .bind("", "", &[], &[], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        2,
    );
}

fn domains_as_parameters(both: &Both) {
    for format in [0, 1] {
        for value in [None, Some(&7u32.to_be_bytes()[..]), Some(b"7")] {
            both.check(
                &format!("{value:?} in format {format}"),
                b().query("create domain pg_temp.d as int not null check (value > 0)")
                    .parse("", "select $1::pg_temp.d", &[])
                    .bind("", "", &[format], &[value], &[])
                    .execute("", 0)
                    .sync(),
                2,
            );
        }
    }
    both.check(
        "refused by the check",
        b().query("create domain pg_temp.d as int check (value > 0)")
            .query("select (-1)::pg_temp.d")
            .query("select null::pg_temp.d"),
        3,
    );
}

fn pipelines(both: &Both) {
    let mut many = b();
    for i in 0..200 {
        let text = i.to_string();
        many = many
            .parse("", "select $1::int4", &[])
            .bind("", "", &[], &[Some(text.as_bytes())], &[])
            .execute("", 0);
    }
    assert_eq!(both.check("one sync", many.clone().sync(), 1).len(), 200 * 4 + 1);
    both.check(
        "flush",
        b().parse("", "select 1", &[])
            .flush()
            .bind("", "", &[], &[], &[])
            .flush()
            .execute("", 0)
            .flush()
            .sync(),
        1,
    );
    both.check("queries", b().query("select 1").query("select 2").query("select 3"), 3);
}

fn copy_both_ways(both: &Both) {
    let table = b().query("create temp table c (a int4, b text)");
    both.check(
        "in",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\n2\t")
            .copy_data(b"y\n")
            .copy_done()
            .query("select * from c"),
        3,
    );
    both.check(
        "fail",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\n")
            .copy_fail("no more")
            .query("select count(*) from c"),
        3,
    );
    both.check(
        "bad row",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\nz\ty\n")
            .copy_data(b"3\tz\n")
            .copy_done()
            .query("select count(*) from c"),
        3,
    );
    both.check(
        "out",
        table
            .clone()
            .query("insert into c values (1, E'a\\tb'), (2, null)")
            .query("copy c to stdout")
            .query("copy (select 1, 2) to stdout with (format csv, header)"),
        4,
    );
    both.check(
        "end marker",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\n\\.\n2\ty\n")
            .copy_done()
            .query("select count(*) from c"),
        3,
    );
    both.check(
        "extended",
        table
            .clone()
            .parse("", "copy c from stdin", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .copy_data(b"5\tq\n")
            .copy_done()
            .sync()
            .query("select * from c"),
        3,
    );
    both.check(
        "sync during copy",
        table
            .clone()
            .parse("", "copy c from stdin", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync()
            .copy_data(b"5\tq\n")
            .copy_done()
            .sync()
            .query("select * from c"),
        3,
    );
    for (sql, data) in [
        ("copy c from stdin with (format csv, force_null (nosuch))", &b"1,x\n"[..]),
        ("copy c (a) from stdin with (format csv, force_not_null (b))", b"1\n"),
        ("copy c from stdin", b"1\tx\n\\"),
        ("copy c from stdin", b"1\tx\\"),
        ("copy (select 1) to stdout with (freeze)", b""),
    ] {
        let bytes = table.clone().query(sql).copy_data(data).copy_done();
        both.check(sql, bytes.query("select * from c"), 3);
    }
    for sql in [
        "copy (select 1/0) to stdout",
        "copy (select * from pg_authid) to stdout",
        "copy (select 1, 2) to stdout with (format csv, force_quote (nosuch))",
        "copy pg_am (oid) to stdout with (format csv, force_quote (nosuch))",
        "copy pg_am (oid) to stdout with (format csv, force_quote (amname))",
    ] {
        both.check(sql, b().query("set role pg_monitor").query(sql), 2);
    }
    both.check("left over", b().copy_data(b"1").copy_done().copy_fail("x").query("select 1"), 1);
    both.check(
        "several",
        table.query("copy c from stdin; select count(*) from c").copy_data(b"1\tx\n").copy_done(),
        2,
    );
}

fn notices_and_fields_of_errors(both: &Both) {
    both.check(
        "names",
        b().query("create temp table e (a int primary key, b int not null check (b > 0))")
            .query("insert into e values (1, 1)")
            .query("insert into e values (1, 2)")
            .query("insert into e values (2, null)")
            .query("insert into e values (3, -1)")
            .query("drop table if exists nosuch")
            .query("set client_min_messages = error")
            .query("drop table if exists nosuch")
            .query("commit"),
        9,
    );
    both.check(
        "positions",
        b().query("select a,\n b from (select 1 as a) x").query("select 'ä', nosuch"),
        2,
    );
    both.check(
        "parameter status",
        b().query("set datestyle = 'sql, dmy'")
            .query("set timezone = 'UTC'")
            .query("begin; set application_name = 'x'; rollback")
            .query("set standard_conforming_strings = off")
            .query("reset all"),
        5,
    );
}

fn beginnings(both: &Both) {
    for packet in [
        startup(VERSION_3, &[("user", "postgres"), ("database", "nosuch")]),
        startup(VERSION_3, &[("user", "nosuch"), ("database", "postgres")]),
        startup(VERSION_3, &[("database", "postgres")]),
        startup(VERSION_3, &[("user", "postgres"), ("database", "postgres"), ("work_mem", "x")]),
        startup(VERSION_3, &[("user", "postgres"), ("database", "postgres"), ("nosuch", "x")]),
        startup(VERSION_3, &[("user", "postgres"), ("options", "-c nosuch=1")]),
        startup(VERSION_3, &[("user", "postgres"), ("options", "-q")]),
        startup(VERSION_3, &[("user", "postgres"), ("shared_buffers", "1")]),
        startup(2 << 16, &[("user", "postgres")]),
        startup(4 << 16, &[("user", "postgres")]),
        startup(VERSION_3, &[("user", "postgres"), ("replication", "maybe")]),
    ] {
        both.greeting(&String::from_utf8_lossy(&packet), &packet);
    }
    // Versions before 3.0 are answered in their own format, which is not a message of version 3.0.
    for version in [2 << 16, 2 << 16 | 5, 1 << 16, 1] {
        let packet = startup(version, &[("user", "postgres")]);
        let [ours, theirs] = both.0.sockets().map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(&packet);
            client.rest()
        });
        assert_eq!(ours, theirs, "version {version:#x}");
        assert!(ours.starts_with(b"EFATAL:  unsupported frontend protocol "), "{ours:?}");
    }
    for version in [0, 0xffff << 16] {
        let packet = startup(version, &[("user", "postgres")]);
        assert_eq!(both.greeting(&format!("version {version:#x}"), &packet).len(), 1);
    }
    // A newer minor version and an unknown protocol option lead to NegotiateProtocolVersion.
    for (version, extra) in [(VERSION_3 + 1, "x"), (VERSION_3, "_pq_.nosuch")] {
        let packet = startup(version, &[("user", "postgres"), (extra, "on")]);
        let [ours, theirs] = both.0.sockets().map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(&packet);
            client.read().map(|m| m.show())
        });
        assert_eq!(ours, theirs);
    }
    // Encryption is requested and refused, more than once.
    for socket in both.0.sockets() {
        let mut client = Client::silent(&socket);
        for code in [5679u32, 5680] {
            client.send(&[&8u32.to_be_bytes()[..], &(1234 << 16 | code).to_be_bytes()].concat());
            assert_eq!(client.byte(), Some(b'N'));
        }
        client.send(&startup(VERSION_3, &[("user", "postgres")]));
        assert_eq!(client.until_ready().last().map(|m| m.show()).as_deref(), Some("ready I"));
    }
}

fn startup_parameters_are_the_same(both: &Both) {
    let packet = startup(
        VERSION_3,
        &[
            ("user", "postgres"),
            ("application_name", "app"),
            ("options", "-c datestyle=german -c TimeZone=UTC"),
        ],
    );
    let greeting = both.greeting("parameters", &packet);
    assert!(greeting.contains(&"status application_name=app".to_owned()), "{greeting:?}");
    assert_eq!(greeting.iter().filter(|l| l.starts_with("status ")).count(), 13);
}
