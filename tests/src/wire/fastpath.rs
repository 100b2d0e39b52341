//! The function call protocol (fastpath), as used by `PQfn` and psycopg2's large objects.

use super::Both;
use super::client::{Bytes, Client};

fn b() -> Bytes {
    Bytes::new()
}

cases! {
    calls_in_both_formats,
    calls_that_fail,
    calls_within_transactions,
    large_objects,
    privileges_of_calls,
}

/// A FunctionCall message.
fn call(function: u32, formats: &[u16], args: &[Option<&[u8]>], result: u16) -> Bytes {
    let mut body = function.to_be_bytes().to_vec();
    body.extend((formats.len() as u16).to_be_bytes());
    formats.iter().for_each(|f| body.extend(f.to_be_bytes()));
    body.extend((args.len() as u16).to_be_bytes());
    for arg in args {
        match arg {
            None => body.extend((-1i32).to_be_bytes()),
            Some(value) => {
                body.extend((value.len() as u32).to_be_bytes());
                body.extend(*value);
            }
        }
    }
    body.extend(result.to_be_bytes());
    b().raw(b'F', &body)
}

const INT4PL: u32 = 177;
const INT4DIV: u32 = 154;
const TEXTCAT: u32 = 1258;
const TEXT_UPPER: u32 = 871;
const NOW: u32 = 1299;
const PG_TRY_ADVISORY_LOCK: u32 = 2882;
const PG_ADVISORY_LOCK: u32 = 2880;
const COUNT: u32 = 2803;
const GENERATE_SERIES: u32 = 1067;
const ARRAY_APPEND: u32 = 378;
const VERSION: u32 = 89;
const CONCAT: u32 = 3058;

fn calls_in_both_formats(both: &Both) {
    let (one, two) = (1u32.to_be_bytes(), 2u32.to_be_bytes());
    for (name, bytes) in [
        ("binary", call(INT4PL, &[1], &[Some(&one), Some(&two)], 1)),
        ("text", call(INT4PL, &[], &[Some(b"40"), Some(b"2")], 0)),
        ("each its own", call(INT4PL, &[0, 1], &[Some(b"40"), Some(&two)], 1)),
        ("null to a strict function", call(INT4PL, &[1], &[None, Some(&two)], 1)),
        ("strings", call(TEXTCAT, &[], &[Some("ä".as_bytes()), Some(b"b")], 0)),
        ("strings, binary", call(TEXTCAT, &[1], &[Some("ä".as_bytes()), Some(b"")], 1)),
        ("void", call(PG_ADVISORY_LOCK, &[], &[Some(b"4711")], 0)),
        ("void, binary", call(PG_ADVISORY_LOCK, &[], &[Some(b"4711")], 1)),
        // Another key, because a session that has just ended may still hold the first one.
        ("bool", call(PG_TRY_ADVISORY_LOCK, &[], &[Some(b"4712")], 1)),
    ] {
        both.check(name, bytes, 1);
    }
    // Results that differ between servers or over time: only the message type is compared.
    for (bytes, kind) in
        [(call(NOW, &[], &[], 1), "result"), (call(VERSION, &[], &[], 0), "result")]
    {
        let said = Client::connect(&both.0.ours.socket()).talk(&bytes, 1);
        assert!(said[0].starts_with(kind), "{said:?}");
    }
}

fn calls_that_fail(both: &Both) {
    let one = 1u32.to_be_bytes();
    for (name, bytes) in [
        ("no function", call(1, &[], &[], 0)),
        ("an aggregate", call(COUNT, &[], &[], 0)),
        ("a set", call(GENERATE_SERIES, &[], &[Some(b"1"), Some(b"2")], 0)),
        ("too few arguments", call(INT4PL, &[], &[Some(b"1")], 0)),
        ("too many formats", call(INT4PL, &[0, 0, 0], &[Some(b"1"), Some(b"1")], 0)),
        ("a wrong value", call(INT4PL, &[], &[Some(b"x"), Some(b"1")], 0)),
        ("a wrong binary value", call(INT4PL, &[1], &[Some(b"x"), Some(&one)], 0)),
        ("a binary value too long", call(INT4PL, &[1], &[Some(b"12345"), Some(&one)], 0)),
        ("an unknown format", call(INT4PL, &[7], &[Some(b"1"), Some(b"1")], 0)),
        ("an unknown format of the result", call(INT4PL, &[], &[Some(b"1"), Some(b"1")], 7)),
        ("an error within", call(INT4DIV, &[], &[Some(b"1"), Some(b"0")], 0)),
        ("a polymorphic function", call(ARRAY_APPEND, &[], &[Some(b"{1}"), Some(b"1")], 0)),
        ("a variadic function", call(CONCAT, &[], &[Some(b"{1}")], 0)),
        ("a collation", call(TEXT_UPPER, &[], &[Some(b"abc")], 0)),
        ("cut short", b().raw(b'F', &INT4PL.to_be_bytes())),
        ("cut off in an argument", b().raw(b'F', b"\0\0\0\xb1\0\0\0\x02\0\0\0\x09x")),
        ("a negative size", b().raw(b'F', b"\0\0\0\xb1\0\0\0\x02\xff\xff\xff\xf0")),
        ("a byte too many", b().raw(b'F', b"\0\0\0\xb1\0\0\0\x02\0\0\0\x011\0\0\0\x012\0\0x")),
    ] {
        both.check(name, bytes.query("select 1"), 2);
    }
}

fn calls_within_transactions(both: &Both) {
    let divide = |by: &'static [u8]| call(INT4DIV, &[], &[Some(b"8"), Some(by)], 0);
    both.check(
        "in a block",
        b().query("begin")
            .bytes(&divide(b"2").0)
            .bytes(&divide(b"0").0)
            .bytes(&divide(b"2").0)
            .query("rollback")
            .bytes(&divide(b"4").0),
        6,
    );
    both.check(
        "after an error of the extended protocol it is skipped",
        b().parse("", "selec", &[]).bytes(&divide(b"2").0).sync().bytes(&divide(b"2").0),
        2,
    );
    both.check(
        "amid the extended protocol",
        b().parse("", "select 1", &[])
            .bytes(&divide(b"2").0)
            .bind("", "", &[], &[], &[])
            .execute("", 0)
            .sync(),
        2,
    );
}

/// The calls of a client library that writes and reads a large object.
fn large_objects(both: &Both) {
    const CREATE: u32 = 715;
    const OPEN: u32 = 952;
    const CLOSE: u32 = 953;
    const READ: u32 = 954;
    const WRITE: u32 = 955;
    const SEEK: u32 = 956;
    const TELL64: u32 = 3171;
    const UNLINK: u32 = 964;
    let int = |n: i32| n.to_be_bytes();
    let (oid, zero, ten) = (int(7701), int(0), int(10));
    let one = |function, args: &[&[u8]]| {
        let args: Vec<Option<&[u8]>> = args.iter().map(|a| Some(*a)).collect();
        call(function, &[1], &args, 1)
    };
    let all = [
        one(CREATE, &[&oid]),
        b().query("begin"),
        one(OPEN, &[&oid, &int(0x60000)]),
        one(WRITE, &[&zero, b"some bytes\0\xff"]),
        one(TELL64, &[&zero]),
        one(SEEK, &[&zero, &int(5), &zero]),
        one(READ, &[&zero, &ten]),
        call(READ, &[0], &[Some(b"0"), Some(b"3")], 0),
        one(CLOSE, &[&zero]),
        b().query("savepoint a"),
        one(READ, &[&zero, &ten]),
        b().query("rollback to a"),
        one(OPEN, &[&oid, &int(0x40000)]),
        one(WRITE, &[&zero, b"x"]),
        b().query("rollback to a"),
        b().query("commit"),
        one(READ, &[&zero, &ten]),
        one(UNLINK, &[&oid]),
        one(UNLINK, &[&oid]),
    ];
    let count = all.len();
    let bytes = all.into_iter().fold(b(), |all, next| all.bytes(&next.0));
    both.check("a large object", bytes, count);
}

fn privileges_of_calls(both: &Both) {
    both.ask(&[
        "create role wire_fast",
        "create schema wire_fast",
        "create function wire_fast.f(int4) returns int4 language sql as 'select $1 + 1'",
        "revoke execute on function wire_fast.f(int4) from public",
    ]);
    let said = both.0.sockets().map(|socket| {
        let mut client = Client::connect(&socket);
        let oid = client.column("select 'wire_fast.f'::regproc::oid");
        let call = call(oid[0].parse().expect("a number"), &[], &[Some(b"1")], 0);
        let mut all = client.talk(&call, 1);
        client.column("set role wire_fast");
        all.extend(client.talk(&call, 1));
        client.column("reset role");
        client.column("grant usage on schema wire_fast to wire_fast");
        client.column("set role wire_fast");
        all.extend(client.talk(&call, 1));
        client.column("reset role");
        client.column("grant execute on function wire_fast.f(int4) to wire_fast");
        client.column("set role wire_fast");
        all.extend(client.talk(&call, 1));
        all
    });
    assert_eq!(said[0], said[1], "Norsu's, then PostgreSQL's");
    both.ask(&["drop schema wire_fast cascade", "drop role wire_fast"]);
}
