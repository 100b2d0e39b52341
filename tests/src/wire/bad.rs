//! Malformed input. If the protocol determines PostgreSQL's answer, Norsu's must be the same, and
//! the server must continue to run.

use super::Both;
use super::client::{Bytes, Client, VERSION_3, startup};

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    messages_that_break_the_protocol_end_the_session,
    messages_with_wrong_contents_are_errors,
    texts_that_are_not_utf_8,
    invalid_startup_packets,
    too_deeply_nested_statements_are_refused,
    values_too_large_are_refused,
}

fn messages_that_break_the_protocol_end_the_session(both: &Both) {
    both.compare("unknown kind", b().raw(b'y', b"").sync());
    both.compare("kind zero", b().raw(0, b"").sync());
    both.compare("length too small", b().bytes(&[b'Q', 0, 0, 0, 3]));
    both.compare("negative length", b().bytes(&[b'Q', 0xff, 0xff, 0xff, 0xff]));
    both.compare("huge length", b().bytes(&[b'Q', 0x7f, 0xff, 0xff, 0xff]));
    both.compare("sync too long", b().raw(b'S', &[0; 20_000]));
    both.compare("password out of turn", b().raw(b'p', b"x\0"));
}

fn messages_with_wrong_contents_are_errors(both: &Both) {
    both.compare("query without its end", b().raw(b'Q', b"select 1").sync());
    both.compare("query with two ends", b().raw(b'Q', b"select 1\0x\0").sync());
    both.compare("parse cut short", b().raw(b'P', b"\0select 1\0").sync());
    both.compare("parse counts too much", b().raw(b'P', b"\0select 1\0\xff\xff").sync());
    both.compare(
        "bind counts too much",
        b().parse("", "select 1", &[]).raw(b'B', b"\0\0\0\0\xff\xff").sync(),
    );
    both.compare(
        "bind value too long",
        b().parse("", "select $1::text", &[]).raw(b'B', b"\0\0\0\0\0\x01\x7f\xff\xff\xffx").sync(),
    );
    both.compare(
        "bind value of a negative length",
        b().parse("", "select $1::text", &[])
            .raw(b'B', b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0")
            .sync(),
    );
    both.compare(
        "bind goes on",
        b().parse("", "select 1", &[]).raw(b'B', b"\0\0\0\0\0\0\0\0zz").sync(),
    );
    both.compare("describe what", b().raw(b'D', b"x\0").sync());
    both.compare("close what", b().raw(b'C', b"x\0").sync());
    both.compare("describe nothing", b().raw(b'D', b"").sync());
    both.compare("execute cut short", b().raw(b'E', b"\0\0\0").sync());
}

fn texts_that_are_not_utf_8(both: &Both) {
    both.compare("query", b().raw(b'Q', b"select '\xff'\0"));
    both.compare("cut off", b().raw(b'Q', b"select '\xe2\x82'\0"));
    both.compare("surrogate", b().raw(b'Q', b"select '\xed\xa0\x80'\0"));
    both.compare("overlong", b().raw(b'Q', b"select '\xc0\x80'\0"));
    both.compare(
        "parameter",
        b().parse("", "select $1::text", &[])
            .bind("", "", &[], &[Some(b"a\xffb")], &[])
            .execute("", 0)
            .sync(),
    );
    both.compare(
        "binary parameter",
        b().parse("", "select $1::text", &[])
            .bind("", "", &[1], &[Some(b"a\xffb")], &[])
            .execute("", 0)
            .sync(),
    );
    both.compare(
        "zero byte in a parameter",
        b().parse("", "select $1::text", &[])
            .bind("", "", &[1], &[Some(b"a\0b")], &[])
            .execute("", 0)
            .sync(),
    );
    both.compare(
        "zero byte in a text parameter",
        b().parse("", "select $1::text", &[])
            .bind("", "", &[], &[Some(b"a\0b")], &[])
            .execute("", 0)
            .sync(),
    );
    both.compare("escape", b().query("select E'\\xff'"));
    both.compare("escaped zero", b().query("select E'a\\000b'"));
    both.compare(
        "copy",
        b().query("create temp table u (a text); copy u from stdin")
            .copy_data(b"a\xffb\n")
            .copy_done(),
    );
}

fn invalid_startup_packets(both: &Both) {
    let good = startup(VERSION_3, &[("user", "postgres")]);
    let mut unterminated = good.clone();
    *unterminated.last_mut().unwrap() = b'x';
    let layout = |body: &[u8]| {
        let head = [(body.len() as u32 + 8).to_be_bytes(), VERSION_3.to_be_bytes()].concat();
        [&head, body].concat()
    };
    for (name, packet) in [
        ("http", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("zeros", vec![0; 64]),
        ("ones", vec![0xff; 64]),
        ("short length", vec![0, 0, 0, 4]),
        ("no terminator", unterminated),
        ("a name for a terminator", layout(b"user\0postgres\0x")),
        ("a longer name", layout(b"user\0postgres\0xy")),
        ("a name without a value", layout(b"user\0postgres\0xy\0")),
        ("the last terminator is missing", layout(b"user\0postgres\0")),
        ("two are missing", layout(b"user\0postgres")),
        ("one too many", layout(b"user\0postgres\0\0\0")),
        ("more after the end", layout(b"user\0postgres\0\0zz\0")),
        ("no body", layout(b"")),
        ("only a terminator", layout(b"\0")),
        ("only a byte", layout(b"x")),
        (
            "cancel cut short",
            [&12u32.to_be_bytes()[..], &(1234u32 << 16 | 5678).to_be_bytes(), &[0; 4]].concat(),
        ),
        (
            "cancel of nobody",
            [&16u32.to_be_bytes()[..], &(1234u32 << 16 | 5678).to_be_bytes(), &[1; 8]].concat(),
        ),
        ("only a user's name", startup(VERSION_3, &[("user", "")])),
    ] {
        both.greeting(name, &packet);
    }
}

fn too_deeply_nested_statements_are_refused(both: &Both) {
    let socket = both.0.ours.socket();
    let mut client = Client::connect(&socket);
    let many = |piece: &str, n: usize| piece.repeat(n);
    for (name, sql) in [
        ("parentheses", format!("select {}1{}", many("(", 100_000), many(")", 100_000))),
        ("left-deep operators", format!("select 1{}", many(" + 1", 100_000))),
        ("minus signs", format!("select {}1", many("- ", 100_000))),
        ("not", format!("select {}true", many("not ", 100_000))),
        ("subqueries", format!("select {}1{}", many("(select ", 50_000), many(")", 50_000))),
        (
            "from",
            format!(
                "select * from {}(select 1){}",
                many("(select * from ", 20_000),
                many(" x)", 20_000)
            ),
        ),
        ("arrays", format!("select {}1{}", many("array[", 50_000), many("]", 50_000))),
        (
            "case",
            format!("select {}1{}", many("case when true then ", 30_000), many(" end", 30_000)),
        ),
        ("functions", format!("select {}1{}", many("abs(", 50_000), many(")", 50_000))),
        ("unions", format!("select 1{}", many(" union all select 1", 50_000))),
        ("casts", format!("select 1{}", many("::int", 100_000))),
        ("concatenation", format!("select 'a'{}", many(" || 'a'", 60_000))),
        ("json", format!("select '{}'::json", many("[", 100_000))),
        ("array text", format!("select '{}'::int[]", many("{", 100_000))),
        (
            "joins",
            format!("select 1 from (values (1)) t0{}", many(" cross join (values (1)) t", 3000)),
        ),
    ] {
        let lines = client.talk(&b().query(&sql), 1);
        let error = lines.iter().find(|l| l.starts_with("error")).cloned().unwrap_or_default();
        let refused = ["C=54001", "C=54000", "C=54011", "C=42601", "C=22P02", "C=53200", "C=42712"];
        assert!(refused.iter().any(|code| error.contains(code)), "{name}: {lines:?}");
        assert_eq!(client.column("select 1"), ["1"], "{name}");
    }
    // Statements within the limit are run.
    for (sql, answer) in [
        (format!("select 1{}", many(" + 1", 500)), "501"),
        (format!("select {}1{}", many("(", 500), many(")", 500)), "1"),
        (format!("select 1 in (1{})", many(", 1", 20_000)), "t"),
        (format!("select true{}", many(" and true", 5000)), "t"),
    ] {
        assert_eq!(client.column(&sql), [answer]);
    }
}

fn values_too_large_are_refused(both: &Both) {
    let socket = both.0.ours.socket();
    let mut client = Client::connect(&socket);
    for sql in [
        "select length(repeat('x', 1073741824))",
        "select length(repeat('xxxxxxxxxx', 200000000))",
        "select length(lpad('x', 2000000000))",
    ] {
        let lines = client.talk(&b().query(sql), 1);
        let error = lines.iter().find(|l| l.starts_with("error")).cloned().unwrap_or_default();
        assert!(error.contains("C=54000"), "{sql}: {error}");
    }
    assert_eq!(client.column("select 1"), ["1"]);
}
