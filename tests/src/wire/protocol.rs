//! Conversations, held with both servers.

use super::both;
use super::client::{Bytes, Client, VERSION_3, startup};

/// The answers of both servers to the same messages must be the same.
fn check(name: &str, bytes: Bytes, ready: usize) -> Vec<String> {
    let both = both();
    let [ours, theirs] = [both.norsu.socket(), both.real.socket()]
        .map(|socket| Client::connect(&socket).talk(&bytes, ready));
    assert_eq!(ours, theirs, "{name}: ours, then the real server's");
    ours
}

fn b() -> Bytes {
    Bytes::new()
}

#[test]
fn simple_queries() {
    for sql in [
        "select 1 as a, 'x'::text as b, null::int4 as c",
        "",
        ";",
        "-- nothing",
        "select 1; select 2",
        "select 1; select 1/g from generate_series(0, 0) g; select 3",
        "begin; select 1; commit",
        "begin; select 1/g from generate_series(0, 0) g",
        "commit",
        "begin; begin; rollback; rollback",
        "create temp table t (a int4); insert into t values (1), (2); select * from t; drop table t",
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
    ] {
        check(sql, b().query(sql), 1);
    }
}

#[test]
fn statements_and_portals() {
    check(
        "unnamed",
        b().parse("", "select $1::int4 + 1 as x", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[Some(b"41")], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "binary both ways",
        b().parse("", "select $1::int4, $2::text, $3::bool", &[])
            .bind("", "", &[1], &[Some(&7u32.to_be_bytes()), Some(b"abc"), Some(&[1])], &[1])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "formats one by one",
        b().parse("", "select $1::int8, $2::int4", &[20, 23])
            .bind("", "", &[1, 0], &[Some(&7u64.to_be_bytes()), Some(b"8")], &[0, 1])
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "null",
        b().parse("", "select $1::text is null", &[])
            .bind("", "", &[], &[None], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    check(
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
    check(
        "named twice",
        b().parse("s", "select 1", &[])
            .parse("s", "select 2", &[])
            .sync()
            .parse("s", "select 3", &[])
            .sync(),
        2,
    );
    check(
        "portal twice",
        b().query("begin")
            .parse("s", "select 1", &[])
            .bind("p", "s", &[], &[], &[])
            .bind("p", "s", &[], &[], &[])
            .sync()
            .query("rollback"),
        3,
    );
    check(
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
    check(
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
    check(
        "portal ends with its transaction",
        b().parse("", "select 1", &[]).bind("p", "", &[], &[], &[]).sync().execute("p", 0).sync(),
        2,
    );
    check(
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
    check(
        "empty",
        b().parse("", "", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "no rows",
        b().parse("", "begin", &[])
            .bind("", "", &[], &[], &[])
            .describe(b'P', "")
            .execute("", 0)
            .sync()
            .query("rollback"),
        2,
    );
    check(
        "show",
        b().parse("", "show server_encoding", &[])
            .describe(b'S', "")
            .bind("", "", &[], &[], &[1])
            .execute("", 0)
            .sync(),
        1,
    );
    check("several", b().parse("", "select 1; select 2", &[]).sync(), 1);
    check(
        "unknown types",
        b().parse("", "select $1, $2 + 1, $3 || 'x'", &[]).describe(b'S', "").sync(),
        1,
    );
    check("undetermined", b().parse("", "select $2::int4", &[]).describe(b'S', "").sync(), 1);
    check("given types", b().parse("", "select $1", &[23]).describe(b'S', "").sync(), 1);
}

#[test]
fn errors_skip_to_sync() {
    check(
        "parse error",
        b().parse("", "selec", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync()
            .query("select 1"),
        2,
    );
    check(
        "bind count",
        b().parse("", "select $1::int4", &[]).bind("", "", &[], &[], &[]).execute("", 0).sync(),
        1,
    );
    check(
        "bind value",
        b().parse("", "select $1::int4", &[])
            .bind("", "", &[], &[Some(b"x")], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "binary value",
        b().parse("", "select $1::int4", &[])
            .bind("", "", &[1], &[Some(b"xyz")], &[])
            .execute("", 0)
            .sync(),
        1,
    );
    check(
        "formats",
        b().parse("", "select $1::int4", &[]).bind("", "", &[0, 0], &[Some(b"1")], &[]).sync(),
        1,
    );
    check(
        "result formats",
        b().parse("", "select 1", &[]).bind("", "", &[], &[], &[0, 0, 0]).sync(),
        1,
    );
    check(
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
    check(
        "at run time",
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
    check(
        "implicit block",
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
    check(
        "failed block",
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

#[test]
fn pipelines() {
    let mut many = b();
    for i in 0..200 {
        let text = i.to_string();
        many = many
            .parse("", "select $1::int4", &[])
            .bind("", "", &[], &[Some(text.as_bytes())], &[])
            .execute("", 0);
    }
    assert_eq!(check("one sync", many.clone().sync(), 1).len(), 200 * 4 + 1);
    check(
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
    check("queries", b().query("select 1").query("select 2").query("select 3"), 3);
}

#[test]
fn copy_both_ways() {
    let table = b().query("create temp table c (a int4, b text)");
    check(
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
    check(
        "fail",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\n")
            .copy_fail("no more")
            .query("select count(*) from c"),
        3,
    );
    check(
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
    check(
        "out",
        table
            .clone()
            .query("insert into c values (1, E'a\\tb'), (2, null)")
            .query("copy c to stdout")
            .query("copy (select 1, 2) to stdout with (format csv, header)"),
        4,
    );
    check(
        "end marker",
        table
            .clone()
            .query("copy c from stdin")
            .copy_data(b"1\tx\n\\.\n2\ty\n")
            .copy_done()
            .query("select count(*) from c"),
        3,
    );
    check(
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
    check(
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
    check("left over", b().copy_data(b"1").copy_done().copy_fail("x").query("select 1"), 1);
    check(
        "several",
        table.query("copy c from stdin; select count(*) from c").copy_data(b"1\tx\n").copy_done(),
        2,
    );
}

#[test]
fn notices_and_fields_of_errors() {
    check(
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
    check(
        "positions",
        b().query("select a,\n b from (select 1 as a) x").query("select 'ä', nosuch"),
        2,
    );
    check(
        "parameter status",
        b().query("set datestyle = 'sql, dmy'")
            .query("set timezone = 'UTC'")
            .query("begin; set application_name = 'x'; rollback")
            .query("set standard_conforming_strings = off")
            .query("reset all"),
        5,
    );
}

#[test]
fn beginnings() {
    let both = both();
    for packet in [
        startup(VERSION_3, &[("user", "postgres"), ("database", "nosuch")]),
        startup(VERSION_3, &[("user", "nosuch"), ("database", "postgres")]),
        startup(VERSION_3, &[("database", "postgres")]),
        startup(VERSION_3, &[("user", "postgres"), ("database", "postgres"), ("work_mem", "x")]),
        startup(VERSION_3, &[("user", "postgres"), ("database", "postgres"), ("nosuch", "x")]),
        startup(VERSION_3, &[("user", "postgres"), ("options", "-c nosuch=1")]),
        startup(VERSION_3, &[("user", "postgres"), ("options", "-q")]),
        startup(VERSION_3, &[("user", "postgres"), ("shared_buffers", "1")]),
        startup(4 << 16, &[("user", "postgres")]),
        startup(VERSION_3, &[("user", "postgres"), ("replication", "maybe")]),
    ] {
        let [ours, theirs] = [both.norsu.socket(), both.real.socket()].map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(&packet);
            let all = client.until_ready();
            all.iter().map(|m| m.show()).collect::<Vec<_>>()
        });
        assert_eq!(ours, theirs, "{}", String::from_utf8_lossy(&packet));
    }
    // A newer minor version and an unknown protocol option are negotiated down.
    for (version, extra) in [(VERSION_3 + 1, "x"), (VERSION_3, "_pq_.nosuch")] {
        let packet = startup(version, &[("user", "postgres"), (extra, "on")]);
        let [ours, theirs] = [both.norsu.socket(), both.real.socket()].map(|socket| {
            let mut client = Client::silent(&socket);
            client.send(&packet);
            client.read().map(|m| m.show())
        });
        assert_eq!(ours, theirs);
    }
    // Encryption is asked for and declined, more than once.
    for socket in [both.norsu.socket(), both.real.socket()] {
        let mut client = Client::silent(&socket);
        for code in [5679u32, 5680] {
            client.send(&[&8u32.to_be_bytes()[..], &(1234 << 16 | code).to_be_bytes()].concat());
            assert_eq!(client.byte(), Some(b'N'));
        }
        client.send(&startup(VERSION_3, &[("user", "postgres")]));
        assert_eq!(client.until_ready().last().map(|m| m.show()).as_deref(), Some("ready I"));
    }
}

#[test]
fn the_greeting_has_the_same_parameters() {
    let both = both();
    let parameters = [
        ("user", "postgres"),
        ("application_name", "app"),
        ("options", "-c datestyle=german -c TimeZone=UTC"),
    ];
    let [ours, theirs] = [both.norsu.socket(), both.real.socket()].map(|socket| {
        let (_, greeting) = Client::start(&socket, &parameters);
        let lines: Vec<String> = greeting.iter().map(|m| m.show()).collect();
        let mut lines: Vec<String> =
            lines.into_iter().filter(|l| !l.contains("server_version")).collect();
        lines.sort();
        lines
    });
    assert_eq!(ours, theirs);
}
