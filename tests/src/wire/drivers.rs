//! Message sequences of drivers, step by step: the answers to each step must arrive before the next
//! one is sent, as from PostgreSQL. The sequences are those of asyncpg, postgres.js, pg-cursor,
//! pgjdbc, npgsql, pgx and psycopg's pipeline mode.
//!
//! PostgreSQL runs first: the messages that it sends within a time limit belong to the step. Norsu
//! must then send the same number of messages before the next step; if it sends fewer, the driver
//! would wait forever.

use super::Both;
use super::client::{Bytes, Client};
use std::time::Duration;

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    errors_at_every_position_of_a_pipeline,
    errors_within_a_block,
    asyncpg,
    postgres_js,
    pg_cursor,
    pgjdbc,
    npgsql,
    pgx,
    psycopg_pipelines,
    notices_are_sent_at_once,
    concurrent_portals,
    copies_in_pipelines,
    commands_that_commit_within_pipelines,
    a_cancelled_pipeline,
    timeouts_within_pipelines,
}

/// Time to wait for further messages of PostgreSQL.
const WHILE: Duration = Duration::from_millis(120);
/// Time limit for each message of Norsu.
const WAIT_MAX: Duration = Duration::from_secs(15);

/// Runs the steps on both servers.
fn play(both: &Both, name: &str, steps: &[Bytes]) {
    let [ours, theirs] = both.0.sockets();
    let mut client = Client::connect(&theirs);
    let mut expected = Vec::new();
    for step in steps {
        client.send(&step.0);
        expected.push(client.within(WHILE));
    }
    let mut client = Client::connect(&ours);
    for (i, (step, expected)) in steps.iter().zip(expected).enumerate() {
        client.send(&step.0);
        let said = client.as_many(expected.len(), WAIT_MAX);
        assert_eq!(said, expected, "{name}, step {i}: Norsu's, then PostgreSQL's");
    }
}

/// All messages of a statement that succeeds.
fn good(n: u32) -> Bytes {
    b().parse("", &format!("select {n} as n"), &[])
        .bind("", "", &[], &[], &[])
        .describe(b'P', "")
        .execute("", 0)
}

/// Message sequences whose last message fails, by the kind of the failing message.
fn faults() -> Vec<(&'static str, Bytes)> {
    let prepared = |sql: &str| b().parse("", sql, &[]);
    let zero: &[Option<&[u8]>] = &[Some(b"0")];
    vec![
        ("syntax", prepared("selec 1")),
        ("no table", prepared("select * from nosuch")),
        ("several", prepared("select 1; select 2")),
        ("parameter type", prepared("select $2::int4")),
        ("describe statement", b().describe(b'S', "nosuch")),
        ("describe portal", b().describe(b'P', "nosuch")),
        ("bind statement", b().bind("", "nosuch", &[], &[], &[])),
        ("bind count", prepared("select $1::int4").bind("", "", &[], &[], &[])),
        ("bind value", prepared("select $1::int4").bind("", "", &[], &[Some(b"x")], &[])),
        ("bind format", prepared("select 1").bind("", "", &[], &[], &[0, 0])),
        ("at the start", prepared("select 1/$1::int4").bind("", "", &[], zero, &[]).execute("", 0)),
        (
            "among rows",
            prepared("select 1/(2 - g) from generate_series(1, 3) g")
                .bind("", "", &[], &[], &[])
                .execute("", 0),
        ),
        ("utility", prepared("drop table nosuch").bind("", "", &[], &[], &[]).execute("", 0)),
        ("no portal", b().execute("nosuch", 0)),
        ("malformed", b().raw(b'D', b"X\0")),
    ]
}

fn errors_at_every_position_of_a_pipeline(both: &Both) {
    for (name, fault) in faults() {
        let and_flush = |bytes: Bytes| bytes.flush();
        play(
            both,
            &format!("{name}, then Flush"),
            &[
                and_flush(fault.clone()),
                and_flush(good(1)),
                b().flush(),
                b().sync(),
                good(2).sync(),
            ],
        );
        play(
            both,
            &format!("{name} after a Flush"),
            &[b().flush().bytes(&fault.0), b().sync(), good(3).sync()],
        );
        play(
            both,
            &format!("{name} behind others, no Flush"),
            &[
                good(1).bytes(&good(2).0).bytes(&fault.0),
                good(3),
                b().sync(),
                b().query("select 4"),
            ],
        );
        play(
            both,
            &format!("{name}, and the next pipeline is on its way"),
            &[fault.clone().sync().bytes(&good(1).sync().0).bytes(&fault.0), b().sync()],
        );
    }
}

fn errors_within_a_block(both: &Both) {
    for (name, fault) in faults() {
        play(
            both,
            name,
            &[
                b().query("begin"),
                fault.clone().flush(),
                good(1).flush(),
                b().sync(),
                good(2).flush(),
                b().sync(),
                b().parse("", "rollback", &[]).bind("", "", &[], &[], &[]).execute("", 0).sync(),
                good(3).sync(),
            ],
        );
    }
}

fn asyncpg(both: &Both) {
    let prepare = |name: &str, sql: &str| b().parse(name, sql, &[]).describe(b'S', name).flush();
    let run = |name: &str, values: &[Option<&[u8]>]| {
        b().bind("", name, &[1], values, &[1]).execute("", 0).sync()
    };
    let four = 4u32.to_be_bytes();
    play(
        both,
        "fetch",
        &[
            prepare("__asyncpg_stmt_1__", "select $1::int4 + 1"),
            run("__asyncpg_stmt_1__", &[Some(&four)]),
            prepare("__asyncpg_stmt_2__", "select * from nosuch"),
            b().sync(),
            prepare("__asyncpg_stmt_3__", "select 1/$1::int4"),
            run("__asyncpg_stmt_3__", &[Some(&[0; 4])]),
            run("__asyncpg_stmt_3__", &[Some(b"abc")]),
            b().close(b'S', "__asyncpg_stmt_1__").sync(),
        ],
    );
    play(
        both,
        "executemany",
        &[
            b().query("create temp table many (a int4 primary key)"),
            prepare("m", "insert into many values ($1)"),
            b().bind("", "m", &[1], &[Some(&four)], &[])
                .execute("", 0)
                .bind("", "m", &[1], &[Some(&[0; 4])], &[])
                .execute("", 0)
                .bind("", "m", &[1], &[Some(&four)], &[])
                .execute("", 0)
                .bind("", "m", &[1], &[Some(&[0, 0, 0, 9])], &[])
                .execute("", 0)
                .sync(),
            b().query("select count(*) from many"),
        ],
    );
    play(
        both,
        "a table changes under a prepared statement",
        &[
            b().query("create temp table changing (a int4)"),
            prepare("s", "select * from changing"),
            run("s", &[]),
            b().query("alter table changing add column b text"),
            run("s", &[]),
            b().close(b'S', "s").sync(),
            prepare("s", "select * from changing"),
            run("s", &[]),
        ],
    );
}

fn postgres_js(both: &Both) {
    let first = |sql: &str| b().parse("", sql, &[0]).describe(b'S', "").flush();
    let then = |value: &[u8]| b().bind("", "", &[0], &[Some(value)], &[]).execute("", 0).sync();
    play(
        both,
        "describe first",
        &[
            first("select $1::int4 * 2 as x"),
            then(b"21"),
            first("select nosuch from pg_class where relname = $1"),
            b().sync(),
            first("select $1::int4 * 2 as x"),
            then(b"x"),
            first("insert into pg_class values ($1)"),
            b().sync(),
        ],
    );
    play(
        both,
        "all at once",
        &[b()
            .parse("a", "select 1", &[])
            .describe(b'S', "a")
            .bind("", "a", &[], &[], &[])
            .execute("", 0)
            .sync()
            .parse("b", "select nosuch", &[])
            .describe(b'S', "b")
            .bind("", "b", &[], &[], &[])
            .execute("", 0)
            .sync()
            .bind("", "a", &[], &[], &[])
            .execute("", 0)
            .sync()],
    );
}

fn pg_cursor(both: &Both) {
    for sql in
        ["select g from generate_series(1, 5) g", "select 10/(4 - g) from generate_series(1, 9) g"]
    {
        play(
            both,
            sql,
            &[
                b().parse("", sql, &[]).bind("", "", &[], &[], &[]).describe(b'P', "").flush(),
                b().execute("", 2).flush(),
                b().execute("", 2).flush(),
                b().execute("", 2).flush(),
                b().execute("", 2).flush(),
                b().close(b'P', "").sync(),
            ],
        );
    }
}

fn pgjdbc(both: &Both) {
    let run = |bytes: Bytes, sql: &str| {
        bytes.parse("", sql, &[]).bind("", "", &[], &[], &[]).describe(b'P', "").execute("", 0)
    };
    let begin =
        |bytes: Bytes| bytes.parse("", "BEGIN", &[]).bind("", "", &[], &[], &[]).execute("", 0);
    play(
        both,
        "autocommit off",
        &[
            run(begin(b()), "create temp table j (a int4 primary key)").sync(),
            run(run(b(), "insert into j values (1)"), "insert into j values (2)").sync(),
            run(b(), "savepoint s").sync(),
            run(run(b(), "insert into j values (3)"), "insert into j values (1)").sync(),
            run(b(), "select 1").sync(),
            run(b(), "rollback to savepoint s").sync(),
            run(b(), "select * from j order by a").sync(),
            run(b(), "commit").sync(),
        ],
    );
    play(
        both,
        "fetch size",
        &[
            begin(b())
                .parse("S_1", "select g from generate_series(1, 5) g", &[])
                .bind("C_2", "S_1", &[], &[], &[])
                .describe(b'P', "C_2")
                .execute("C_2", 2)
                .sync(),
            b().execute("C_2", 2).sync(),
            b().close(b'P', "C_2").sync(),
            b().execute("C_2", 2).sync(),
            run(b(), "rollback").sync(),
        ],
    );
    play(
        both,
        "batch",
        &[
            b().query("create temp table j (a int4 primary key)"),
            b().parse("S_1", "insert into j values ($1)", &[23])
                .bind("", "S_1", &[], &[Some(b"1")], &[])
                .describe(b'P', "")
                .execute("", 1)
                .bind("", "S_1", &[], &[Some(b"1")], &[])
                .describe(b'P', "")
                .execute("", 1)
                .bind("", "S_1", &[], &[Some(b"2")], &[])
                .describe(b'P', "")
                .execute("", 1)
                .sync(),
            b().query("select * from j"),
        ],
    );
}

fn npgsql(both: &Both) {
    let command = |bytes: Bytes, sql: &str| {
        bytes.parse("", sql, &[]).bind("", "", &[], &[], &[1]).describe(b'P', "").execute("", 0)
    };
    play(
        both,
        "prepare, run, close",
        &[
            b().parse("_p1", "select $1::text", &[25]).describe(b'S', "_p1").sync(),
            b().bind("", "_p1", &[1], &[Some(b"x")], &[1]).execute("", 0).sync(),
            b().close(b'S', "_p1").parse("_p1", "select nosuch", &[]).describe(b'S', "_p1").sync(),
            b().bind("", "_p1", &[], &[], &[]).execute("", 0).sync(),
        ],
    );
    play(
        both,
        "batches with and without barriers",
        &[
            command(command(command(b(), "select 1::int4"), "select 1/0"), "select 2::int4").sync(),
            command(
                command(command(b(), "select 1::int4").sync(), "select 1/0").sync(),
                "select 2",
            )
            .sync(),
        ],
    );
}

fn pgx(both: &Both) {
    play(
        both,
        "pipeline",
        &[
            b().parse("a", "select $1::int8 as n", &[]).describe(b'S', "a").flush(),
            b().parse("b", "select nosuch", &[]).describe(b'S', "b").sync(),
            b().bind("", "a", &[1], &[Some(&7u64.to_be_bytes())], &[1])
                .describe(b'P', "")
                .execute("", 0)
                .flush(),
            b().bind("", "a", &[1], &[Some(b"short")], &[1])
                .describe(b'P', "")
                .execute("", 0)
                .flush(),
            b().bind("", "a", &[1], &[None], &[1]).describe(b'P', "").execute("", 0).flush(),
            b().sync(),
            b().bind("", "a", &[1], &[None], &[1]).describe(b'P', "").execute("", 0).sync(),
        ],
    );
}

fn psycopg_pipelines(both: &Both) {
    let run = |sql: &str| {
        b().parse("", sql, &[]).bind("", "", &[], &[], &[0]).describe(b'P', "").execute("", 0)
    };
    play(
        both,
        "goes on after an error",
        &[
            run("begin").flush(),
            run("create temp table p (a int4 primary key)").flush(),
            run("insert into p values (1)").flush(),
            run("insert into p values (1)").flush(),
            run("select 1").flush(),
            b().sync(),
            run("select 1").flush(),
            run("rollback").sync(),
            run("select 2").flush(),
            b().sync(),
        ],
    );
    play(
        both,
        "an error in an implicit transaction undoes what was before it",
        &[
            b().query("create temp table p (a int4)"),
            run("insert into p values (1)").flush(),
            run("select 1/0").flush(),
            run("insert into p values (2)").flush(),
            b().sync(),
            run("select count(*) from p").sync(),
        ],
    );
}

fn notices_are_sent_at_once(both: &Both) {
    play(
        both,
        "notices",
        &[
            b().parse("", "drop table if exists nosuch", &[])
                .bind("", "", &[], &[], &[])
                .execute("", 0),
            b().flush(),
            b().sync(),
            b().parse("", "commit", &[]).bind("", "", &[], &[], &[]).execute("", 0),
            b().sync(),
        ],
    );
}

fn concurrent_portals(both: &Both) {
    let series = "select g from generate_series(1, 4) g";
    play(
        both,
        "two portals",
        &[
            b().query("begin"),
            b().parse("s", series, &[])
                .bind("p", "s", &[], &[], &[])
                .bind("q", "s", &[], &[], &[1])
                .execute("p", 1)
                .execute("q", 2)
                .flush(),
            b().execute("p", 2).execute("q", 1).flush(),
            b().close(b'S', "s").execute("p", 0).flush(),
            b().execute("q", 0).execute("q", 0).flush(),
            b().bind("p", "s", &[], &[], &[]).flush(),
            b().sync(),
            b().query("rollback"),
        ],
    );
    play(
        both,
        "a portal closed, bound again, and one that failed",
        &[
            b().query("begin"),
            b().parse("s", "select 1/(2 - g) from generate_series(1, 3) g", &[])
                .bind("p", "s", &[], &[], &[])
                .execute("p", 1)
                .flush(),
            b().close(b'P', "p").bind("p", "s", &[], &[], &[]).execute("p", 0).flush(),
            b().execute("p", 0).flush(),
            b().sync(),
            b().execute("p", 0).sync(),
            b().query("rollback"),
        ],
    );
}

fn copies_in_pipelines(both: &Both) {
    let run = |sql: &str| b().parse("", sql, &[]).bind("", "", &[], &[], &[]).execute("", 0);
    play(
        both,
        "copy",
        &[
            b().query("create temp table c (a int4)"),
            run("copy c from stdin"),
            b().copy_data(b"1\n2\n").flush().copy_done().flush(),
            b().sync(),
            run("copy c from stdin"),
            b().copy_data(b"x\n").copy_data(b"3\n"),
            b().copy_done(),
            b().sync(),
            run("copy c from stdin").copy_fail("enough"),
            b().sync(),
            run("copy c to stdout").flush(),
            b().sync(),
            run("copy (select 1/(2 - g) from generate_series(1, 3) g) to stdout").flush(),
            b().sync(),
        ],
    );
    for sql in [
        "copy (values (1, 'a'), (2, null)) to stdout (format binary)",
        "copy (select 1 where false) to stdout (format binary)",
        "copy (values (1, 'a')) to stdout (format csv, header)",
    ] {
        play(both, sql, &[b().query(sql)]);
    }
}

fn commands_that_commit_within_pipelines(both: &Both) {
    let run = |bytes: Bytes, sql: &str| {
        bytes.parse("", sql, &[]).bind("", "", &[], &[], &[]).execute("", 0)
    };
    for command in [
        "vacuum wire_pipe",
        "create index concurrently wire_pipe_a on wire_pipe (a)",
        "reindex table concurrently wire_pipe",
        "drop index concurrently wire_pipe_i",
        "discard all",
        "cluster",
    ] {
        let table = "create table wire_pipe (a int4); create index wire_pipe_i on wire_pipe (a)";
        both.ask(&[table]);
        play(
            both,
            command,
            &[
                run(run(run(b(), command), "insert into wire_pipe values (1)"), "select 1/0")
                    .sync(),
                run(run(b(), "insert into wire_pipe values (2)"), command).sync(),
                run(run(b(), command), command).sync(),
                run(run(run(b(), command), "insert into wire_pipe values (4)"), command).sync(),
                b().query(&format!("insert into wire_pipe values (3); {command}")),
                b().query("begin"),
                run(b(), command).sync(),
                b().query("rollback"),
                b().query("select * from wire_pipe"),
            ],
        );
        both.ask(&["drop table wire_pipe"]);
    }
}

fn a_cancelled_pipeline(both: &Both) {
    let sleep = b()
        .parse("", "select pg_sleep(600)", &[])
        .bind("", "", &[], &[], &[])
        .execute("", 0)
        .parse("", "select 1", &[])
        .flush();
    let said = both.0.sockets().map(|socket| {
        let (mut client, greeting) =
            Client::start(&socket, &[("user", "postgres"), ("database", "postgres")]);
        let key = greeting.iter().find(|m| m.kind == b'K').expect("a key").body.clone();
        client.send(&sleep.0);
        let mut other = Client::connect(&socket);
        let pid = i32::from_be_bytes([key[0], key[1], key[2], key[3]]);
        let asleep =
            format!("select 1 from pg_stat_activity where pid = {pid} and wait_event = 'PgSleep'");
        while other.column(&asleep).is_empty() {}
        let mut cancel = Client::silent(&socket);
        cancel.send(&[&16u32.to_be_bytes()[..], &80_877_102u32.to_be_bytes(), &key].concat());
        // ParseComplete, BindComplete, and the error; nothing else.
        let mut said = client.as_many(3, WAIT_MAX);
        said.extend(client.talk(&b().sync(), 1));
        said.extend(client.talk(&good(1).sync(), 1));
        said
    });
    assert_eq!(said[0], said[1], "Norsu's, then PostgreSQL's");
}

/// A client that has not received ReadyForQuery is not idle, so the timeout of its statement
/// continues.
fn timeouts_within_pipelines(both: &Both) {
    let run = |sql: &str| b().parse("", sql, &[]).bind("", "", &[], &[], &[]).execute("", 0);
    let series = "select g from generate_series(1, 3) g";
    let idle = "idle_in_transaction_session_timeout";
    for (name, steps) in [
        ("idle", vec![b().query(&format!("set {idle} = 20")), run("begin").flush(), b().sync()]),
        (
            "between Parse and Bind",
            vec![
                b().query("set statement_timeout = 20"),
                b().parse("", "select 1", &[]).flush(),
                b().bind("", "", &[], &[], &[]).execute("", 0).sync(),
                b().query("select 2"),
            ],
        ),
        (
            "before Sync",
            vec![
                b().query("set statement_timeout = 20"),
                b().parse("", "select 1", &[]).flush(),
                b().sync(),
                b().query("select 2"),
            ],
        ),
        (
            "a portal that is suspended",
            vec![
                b().query("set statement_timeout = 20; begin"),
                b().parse("", series, &[]).bind("p", "", &[], &[], &[]).execute("p", 1).flush(),
                b().execute("p", 1).sync(),
                b().query("rollback"),
            ],
        ),
        (
            "after Execute",
            vec![
                b().query("set statement_timeout = 20"),
                run("select 1").flush(),
                run("select 2").flush(),
                b().sync(),
            ],
        ),
    ] {
        let [ours, theirs] = both.0.sockets().map(|socket| {
            let mut client = Client::connect(&socket);
            let answers = steps.iter().map(|step| {
                client.send(&step.0);
                client.within(2 * WHILE)
            });
            answers.collect::<Vec<_>>()
        });
        assert_eq!(ours, theirs, "{name}: Norsu's, then PostgreSQL's");
    }
}
