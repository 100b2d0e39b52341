//! The order in which the parts of a message are checked, and the state of a portal or of the
//! connection after an error. Random messages found each of these cases first.

use super::Both;
use super::client::Bytes;

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    contents_of_messages,
    copies_that_lose_the_connection,
    copies_refused_after_their_start,
    parameters_without_values,
    parameters_of_inserted_queries,
    state_after_a_failed_bind,
    failed_blocks,
    statements_that_write_wait_for_execute,
    utility_portals,
    implicit_blocks,
    binary_values_with_too_many_bytes,
    binary_values_with_wrong_contents,
    binary_values_that_name_other_types,
    cursors_of_sql_are_executed,
    closing_all_cursors_ends_portals,
    portals_that_fail_in_a_savepoint,
    changed_statements_are_described,
    types_are_inferred_again_after_a_change,
    binary_labels_of_enumerations,
}

fn contents_of_messages(both: &Both) {
    for (name, kind, body) in [
        ("close, two faults", b'C', &b"\0\0x"[..]),
        ("describe, two faults", b'D', b"\0"),
        ("copy done out of turn", b'c', b"S\0xx"),
        ("copy fail out of turn", b'f', b"PP"),
        ("bind without a statement", b'B', b"\0\0\0\x02\0\0\0\x01\0\0\0\0"),
        ("bind of no statement, cut short", b'B', b"\0s\0\0"),
    ] {
        both.check(name, b().raw(kind, body).sync(), 1);
    }
    both.check(
        "declared as unknown",
        b().parse("", "release a", &[705]).sync().parse("", "", &[705]).sync(),
        2,
    );
    // The types of parameters are checked before the setting.
    both.check(
        "a setting that does not exist",
        b().parse("", "show nosuch", &[705]).sync().parse("", "show nosuch", &[23]).sync(),
        2,
    );
    both.check(
        "a type that does not exist",
        b().parse("", "select 1", &[99_999]).bind("", "", &[], &[Some(b"a")], &[]).sync(),
        1,
    );
    both.check("prepared later", b().parse("", "execute wire_order", &[]).sync(), 1);
}

fn copies_that_lose_the_connection(both: &Both) {
    let table = b().query("create temp table c (a int4)").query("copy c from stdin");
    for (name, rest) in [
        ("an Execute", b().execute("", 0)),
        ("a Query", b().copy_data(b"1\n").query("select 1")),
        ("an unknown kind", b().raw(b'y', b"")),
    ] {
        both.check(name, table.clone().bytes(&rest.0), 3);
    }
    both.check(
        "Flush and Sync are ignored",
        table.raw(b'H', b"x").raw(b'S', b"y").copy_data(b"1\n").copy_done(),
        2,
    );
}

fn copies_refused_after_their_start(both: &Both) {
    let make = b().query("create temp view v as select 1 as a; create temp sequence s");
    for sql in ["copy v from stdin", "copy s from stdin", "copy pg_class from stdin (freeze)"] {
        both.check(sql, make.clone().query(sql).copy_data(b"1\n").copy_done().query("select 1"), 3);
        let extended = make.clone().parse("", sql, &[]).bind("", "", &[], &[], &[]);
        both.check(sql, extended.execute("", 0).copy_done().sync(), 2);
    }
}

fn parameters_without_values(both: &Both) {
    both.ask(&[
        "select to_char($1, 'YYYY')",
        "select g from generate_series($1, $2) g",
        "select case $1 when 1 then 'one' when 2 then $2 end",
        "select row($1, $2)",
        "select '$1', $tag$ $1 $tag$",
        "explain select to_char($1, 'YYYY')",
        "begin",
        "declare c cursor for select to_char($1, 'YYYY')",
        "rollback",
    ]);
}

fn parameters_of_inserted_queries(both: &Both) {
    let table = "create temp table t (a int4, b varchar(3), c numeric(4, 1), d text default 'd')";
    for sql in [
        "insert into t (a, b) select $1, $2",
        "insert into t (a, b) select $1, $2 where $3",
        "insert into t (b, a) select distinct $1, $2 returning *",
        "insert into t (a, b) select $1, $2 union all select 1, 'x'",
        "insert into t (a, b) (with w as (select 1) select $1, $2 from w) returning b",
        "insert into t (c, b) select $1, $2 from generate_series(1, 2) order by 1 returning c, b",
        "insert into t (a, b, c) select $1, $2, $1",
    ] {
        let values: &[Option<&[u8]>] = match sql.contains("$3") {
            true => &[Some(b"7"), Some(b"8"), Some(b"t")],
            false => &[Some(b"7"), Some(b"8")],
        };
        both.check(
            sql,
            b().query(table)
                .parse("", sql, &[])
                .describe(b'S', "")
                .bind("", "", &[], values, &[])
                .execute("", 0)
                .sync()
                .query("select * from t"),
            3,
        );
    }
}

fn state_after_a_failed_bind(both: &Both) {
    let value = |value: &'static [u8]| {
        b().query("begin").parse("s", "select $1::bool", &[]).bind(
            "p",
            "s",
            &[],
            &[Some(value)],
            &[],
        )
    };
    both.check(
        "a portal without a statement",
        value(b"3").sync().describe(b'P', "p").execute("p", 0).close(b'P', "p").sync(),
        3,
    );
    both.check(
        "its name is taken",
        value(b"3")
            .sync()
            .parse("", "rollback", &[])
            .bind("p", "", &[], &[], &[])
            .sync()
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync(),
        4,
    );
    both.check(
        "a portal with columns",
        b().query("begin")
            .parse("s", "select 1, 2, 3", &[])
            .bind("p", "s", &[], &[], &[0, 1])
            .sync()
            .describe(b'P', "p")
            .sync(),
        3,
    );
}

fn failed_blocks(both: &Both) {
    let failed = b().query("begin").parse("s", "select 1", &[]).parse("t", "vacuum", &[]).sync();
    let failed = failed.query("select nosuch");
    both.check("an empty text", failed.clone().parse("", " ", &[]).sync(), 4);
    both.check("bound", failed.clone().parse("", "", &[]).bind("", "", &[], &[], &[]).sync(), 4);
    both.check("with rows", failed.clone().describe(b'S', "s").sync(), 4);
    both.check("without rows", failed.describe(b'S', "t").sync(), 4);
}

fn statements_that_write_wait_for_execute(both: &Both) {
    for sql in [
        "insert into t values (1)",
        "update t set a = 2 returning a",
        "with d as (delete from t returning a) select a from d",
        "select a from t for update",
    ] {
        both.check(
            sql,
            b().query("create table wire_order (a int4); begin read only")
                .parse("", &sql.replace(" t ", " wire_order "), &[])
                .bind("", "", &[], &[], &[])
                .flush()
                .execute("", 0)
                .sync()
                .query("rollback; drop table wire_order"),
            3,
        );
    }
}

fn utility_portals(both: &Both) {
    for sql in ["set work_mem = '1MB'", "drop table if exists nosuch", "listen a", "show work_mem"]
    {
        let twice = b().parse("", sql, &[]).bind("", "", &[], &[], &[]).execute("", 0);
        both.check(sql, twice.execute("", 0).sync(), 1);
    }
    let run = |sql: &str| b().parse("", sql, &[]).bind("", "", &[], &[], &[]);
    both.check(
        "written once",
        run("delete from pg_class where false").execute("", 0).execute("", 0).sync(),
        1,
    );
    for sql in [
        "show work_mem",
        "explain (costs off, verbose) select 1 where $1 = 1",
        "fetch all from c",
        "execute e",
        "execute i",
    ] {
        for limits in [[1, 0, 0], [2, 2, 2], [0, 0, 1], [9, 1, 0], [1, 1, u32::MAX]] {
            let portal = match sql.contains("$1") {
                true => b().parse("", sql, &[]).bind("", "", &[], &[Some(b"1")], &[]),
                false => run(sql),
            };
            let all = limits.iter().fold(portal.describe(b'P', ""), |all, n| all.execute("", *n));
            both.check(
                &format!("{sql} {limits:?}"),
                b().query("create temp table t (a int4); begin")
                    .query("declare c cursor for select g from generate_series(1, 4) g")
                    .query("prepare e as select g, 'x' from generate_series(1, 3) g")
                    .query("prepare i as insert into t values (1), (2) returning a")
                    .bytes(&all.sync().0)
                    .query("select count(*) from t")
                    .query("rollback"),
                7,
            );
        }
    }
    both.check(
        "a portal sees itself",
        b().parse("", "select name, statement, is_holdable from pg_cursors", &[])
            .bind("q", "", &[], &[], &[])
            .execute("q", 0)
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync(),
        1,
    );
}

fn implicit_blocks(both: &Both) {
    both.ask(&[
        "select 1; declare c cursor for select 2; fetch c",
        "declare c cursor for select 2",
        "set constraints all deferred",
        "select 1; set constraints all deferred",
    ]);
    let run = |sql: &str| b().parse("", sql, &[]).bind("", "", &[], &[], &[]).execute("", 0);
    both.check("constraints", run("set constraints all immediate").sync(), 1);
}

fn binary_values_with_too_many_bytes(both: &Both) {
    let array = |elements: &[u8]| [&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23][..], elements].concat();
    let one = [0, 0, 0, 1, 0, 0, 0, 1];
    for (ty, value) in [
        ("int4[]", b"\0\0\0\0\0\0\0\x02".to_vec()),
        ("int4[]", array(&[&one[..], &[0, 0, 0, 4, 0, 0, 0, 9, 7]].concat())),
        ("int4[]", array(&[&one[..], &[0, 0, 0, 5, 0, 0, 0, 9, 7]].concat())),
        ("int4[]", array(&[&one[..], &[0, 0, 0, 9, 0, 0, 0, 9]].concat())),
        ("int4[]", array(&[&one[..], &[0xff, 0xff, 0xff, 0xfe]].concat())),
        ("numeric", b"\0\x01\0\0\0\0\0\0\0\x05z".to_vec()),
        ("numeric", b"\0\x01\0\0\x12\x34\0\0\0\x05".to_vec()),
        ("int8", vec![0; 9]),
        ("bit varying", b"\0\0\0\x03\xe0z".to_vec()),
        ("uuid", vec![1; 17]),
        ("date", vec![0; 3]),
        ("timetz", vec![0; 13]),
        ("interval", vec![0; 17]),
        ("text", b"x".to_vec()),
        ("oidvector", vec![0; 8]),
    ] {
        let sql = format!("select $1::{ty}");
        let bytes = b().parse("", &sql, &[]).bind("", "", &[1], &[Some(&value)], &[]);
        both.check(&format!("{sql} {value:?}"), bytes.execute("", 0).sync(), 1);
    }
    let row = |column: &[u8]| [b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01", column].concat();
    for (ty, column) in [
        ("int4", &b"\0\0\0\x05\0\0\0\x01z\xff\xff"[..]),
        ("int4", b"\0\0\0\x04\0\0\0\x01\xff\xff"),
        // Longer than the data, and than any value.
        ("int4", b"\0\0\0\x09\0\0\0\x01"),
        ("int4", b"\x3f\xff\xff\xff\0\0\0\x01"),
        ("int4", b"\x7f\xff\xff\xff\0\0\0\x01"),
        ("int4", b"\xff\xff\xff\xfe\0\0\0\x01"),
        // The length of the type is checked before the bits are read.
        ("bit(3)", b"\0\0\0\x04\0\0\0\x09"),
        ("varbit(3)", b"\0\0\0\x04\0\0\0\x09"),
        ("varbit(3)", b"\0\0\0\x04\0\0\0\x02"),
    ] {
        both.check(
            "binary copy",
            b().query(&format!("create temp table c (a {ty})"))
                .query("copy c from stdin (format binary)")
                .copy_data(&row(column))
                .copy_done()
                .query("select * from c"),
            3,
        );
    }
}

/// Binds the value in binary format to a parameter of the type.
fn receive(both: &Both, ty: &str, value: &[u8]) {
    let sql = format!("select $1::{ty}");
    let bytes = b().parse("", &sql, &[]).bind("", "", &[1], &[Some(value)], &[]);
    both.check(&format!("{sql} {value:?}"), bytes.execute("", 0).sync(), 1);
}

fn binary_values_with_wrong_contents(both: &Both) {
    for ty in ["bool", "\"char\"", "inet", "cidr", "bool[]"] {
        receive(both, ty, b"");
    }
    for ty in ["inet", "cidr"] {
        for value in [
            &b"\x02"[..],
            b"\x04\x20\0\x04",
            b"\x02\x21\0\x04abcd",
            b"\x03\x81\0\x10",
            b"\x02\x18\0\x05abcde",
            b"\x02\x18\0\x04\x0a\0\0",
            b"\x02\x18\0\x04\x0a\0\0\x01",
            b"\x02\x18\x01\x04\x0a\0\0\0",
        ] {
            receive(both, ty, value);
        }
    }
    receive(both, "pg_snapshot", b"\xff\xff\xff\xff");
    let vector = |words: [u8; 5], rest: &[u8]| {
        let head: Vec<u8> = words.iter().flat_map(|&w| u32::from(w).to_be_bytes()).collect();
        [&head, rest].concat()
    };
    let one = b"\0\0\0\x04\0\0\0\x07";
    for (words, rest) in [
        ([1, 0, 26, 1, 0], &one[..]),
        ([1, 1, 26, 1, 0], one),
        ([1, 2, 26, 1, 0], one),
        ([1, 0, 23, 1, 0], one),
        ([1, 0, 26, 1, 1], one),
        ([7, 0, 26, 1, 0], one),
        ([1, 0, 26, 1, 0], b"\xff\xff\xff\xff"),
        ([1, 0, 26, 1, 0], b"\0\0\0\x03\0\0\0"),
        ([1, 0, 26, 2, 0], one),
        ([1, 0, 26, 1, 0], b"\0\0\0\x04\0\0\0\x07z"),
        ([2, 0, 26, 1, 0], b"\0\0\0\x01\0\0\0\0\0\0\0\x04\0\0\0\x07"),
    ] {
        receive(both, "oidvector", &vector(words, rest));
    }
    receive(both, "oidvector", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26]);
    receive(both, "oidvector", &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 26, 0]);
    receive(both, "pg_snapshot", b"\x7f\xff\xff\xff");
    receive(both, "oidvector", b"\xff\xff\xff\xff");
    receive(both, "int2vector", &vector([1, 0, 21, 1, 0], b"\0\0\0\x02\0\x07"));
    receive(both, "int2vector", &vector([1, 0, 26, 1, 0], one));
}

/// Only the OIDs of built-in types have the same meaning on all servers, so other types are not
/// looked up.
fn binary_values_that_name_other_types(both: &Both) {
    let make = "create domain wire_d as int4; create type wire_c as (a int4, b wire_d)";
    both.check(make, b().query(make), 1);
    let array = |ty: u32| {
        [
            &[0, 0, 0, 1, 0, 0, 0, 0],
            &ty.to_be_bytes()[..],
            b"\0\0\0\x01\0\0\0\x01\0\0\0\x04\0\0\0\x07",
        ]
        .concat()
    };
    let row = |a: u32, b: u32| {
        let value = b"\0\0\0\x04\0\0\0\x07";
        [&[0, 0, 0, 2], &a.to_be_bytes()[..], value, &b.to_be_bytes(), value].concat()
    };
    for ty in [23, 20, 0, 9999, 10_000, 99_999] {
        receive(both, "int4[]", &array(ty));
        receive(both, "wire_d[]", &array(ty));
        receive(both, "wire_c", &row(ty, 23));
        receive(both, "wire_c", &row(23, ty));
    }
    let copied =
        [b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x1c", &array(99_999)[..], b"\xff\xff"];
    both.check(
        "binary copy from another database",
        b().query("create temp table c (a wire_d[])")
            .query("copy c from stdin (format binary)")
            .copy_data(&copied.concat())
            .copy_done()
            .query("select * from c; drop table c"),
        3,
    );
    let drop = "drop type wire_c; drop domain wire_d";
    both.check(drop, b().query(drop), 1);
}

fn cursors_of_sql_are_executed(both: &Both) {
    for kind in ["", "scroll", "no scroll", "binary"] {
        let declare = format!(
            "begin; declare c {kind} cursor for select g + 256 as g from generate_series(1, 6) g"
        );
        both.check(
            &declare,
            b().query(&declare)
                .describe(b'P', "c")
                .execute("c", 2)
                .execute("c", 1)
                .sync()
                .query("fetch c")
                .execute("c", 2)
                .execute("c", 2)
                .execute("c", 0)
                .sync()
                .query("fetch backward 2 c")
                .query("rollback"),
            6,
        );
        both.check(
            &format!("{declare}, held"),
            b().query(&declare.replace("cursor for", "cursor with hold for"))
                .query("fetch c; commit")
                .execute("c", 2)
                .sync()
                .execute("c", 3)
                .execute("c", 1)
                .sync()
                .query("fetch backward c")
                .close(b'P', "c")
                .sync(),
            6,
        );
    }
    both.check(
        "an error among its rows",
        b().query("begin; declare c cursor for select 1 / (g - 2) from generate_series(1, 3) g")
            .execute("c", 1)
            .execute("c", 1)
            .sync()
            .query("rollback"),
        3,
    );
}

fn closing_all_cursors_ends_portals(both: &Both) {
    let series = "select g from generate_series(1, 6) g";
    both.check(
        "close all",
        b().query("begin")
            .parse("s", series, &[])
            .bind("p", "s", &[], &[], &[])
            .execute("p", 2)
            .sync()
            .query("close all")
            .execute("p", 2)
            .sync()
            .query("rollback"),
        5,
    );
    both.check(
        "within a pipeline",
        b().parse("s", series, &[])
            .bind("p", "s", &[], &[], &[])
            .parse("", "close all", &[])
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .execute("p", 2)
            .sync(),
        1,
    );
}

/// The parameters of a changed statement are described before its columns are checked.
fn changed_statements_are_described(both: &Both) {
    let make = "create table wire_changed (a int4, b text)";
    both.check(
        make,
        b().query(make)
            .parse("s", "select * from wire_changed where a = $1", &[])
            .parse("i", "insert into wire_changed values ($1, $2)", &[])
            .sync()
            .query("alter table wire_changed add column c int4")
            .describe(b'S', "s")
            .sync()
            .describe(b'S', "i")
            .sync()
            .query("drop table wire_changed")
            .describe(b'S', "s")
            .sync()
            .describe(b'S', "i")
            .sync(),
        8,
    );
}

/// The binary form of a label is its text, of any length, also in arrays.
fn binary_labels_of_enumerations(both: &Both) {
    let make = "create type wire_label as enum ('one', 'a longer label')";
    let bound = |label: &[u8]| {
        let types = b().parse("", "select $1::wire_label, array[$1::wire_label]", &[]);
        let values = [Some(label)];
        types.bind("", "", &[1], &values, &[1, 0]).execute("", 0).sync()
    };
    both.check(make, b().query(make), 1);
    for label in [&b"one"[..], b"a longer label", b"another", b"a longer label\0"] {
        both.check("binary label", bound(label), 1);
    }
    both.check("drop", b().query("drop type wire_label"), 1);
}

/// A text that is parsed again has the parameter types of the changed table, even if the old ones
/// would do (`time` is converted to `timetz`).
fn types_are_inferred_again_after_a_change(both: &Both) {
    let sql = "insert into wire_inferred values ($1)";
    let parse = |bytes: Bytes, name| bytes.parse(name, sql, &[]).describe(b'S', name).sync();
    let make = "create table wire_inferred (v time)";
    let first = parse(parse(b().query(make), "a"), "");
    let changed = first.query("drop table wire_inferred");
    let changed = changed.query("create table wire_inferred (v timetz)");
    let again = parse(parse(changed, "b"), "").query("drop table wire_inferred");
    both.check(make, again, 8);
}

/// A portal that is older than the savepoint in which it fails still exists after the rollback to
/// the savepoint, and cannot be run. A younger one is gone.
fn portals_that_fail_in_a_savepoint(both: &Both) {
    let sql = "select 10 / (4 - g) from generate_series(1, 9) g";
    let begin = b().query("begin").parse("q", sql, &[]).bind("p", "q", &[], &[], &[]);
    let older = begin.execute("p", 2).sync().query("savepoint s");
    let failed = older.execute("p", 0).sync();
    let back = failed.clone().query("rollback to s");
    let bound = |bytes: Bytes| bytes.bind("p", "q", &[], &[], &[]);
    for (name, rest, ready) in [
        ("executed", back.clone().execute("p", 1).sync().execute("p", 0).sync(), 7),
        ("described", back.clone().describe(b'P', "p").sync(), 6),
        ("bound again", bound(back.clone()).sync(), 6),
        ("closed and bound again", bound(back.clone().close(b'P', "p")).execute("p", 1).sync(), 6),
        ("fetched from", back.clone().query("fetch 1 from p").query("close p"), 7),
        ("closed by SQL", back.clone().query("close p").query("rollback to s"), 7),
        ("after the release", back.clone().query("release s").execute("p", 1).sync(), 7),
        ("after the commit", back.clone().query("commit").execute("p", 1).sync(), 7),
        (
            "executed while failed",
            failed.clone().execute("p", 1).sync().query("rollback to s").execute("p", 1).sync(),
            7,
        ),
        ("listed", back.query("select name, statement from pg_cursors order by 1"), 6),
    ] {
        both.check(name, rest, ready);
    }
    let younger = b().query("begin").query("savepoint s").parse("q", sql, &[]);
    let younger = bound(younger).execute("p", 0).sync().query("rollback to s");
    both.check("a younger one", younger.execute("p", 1).sync(), 5);
    let utility = b().query("begin").parse("u", "drop table nosuch", &[]);
    let utility = utility.bind("p", "u", &[], &[], &[]).sync().query("savepoint s");
    let utility = utility.execute("p", 0).sync().query("rollback to s");
    both.check("a utility statement", utility.execute("p", 0).sync(), 6);
}
