//! Statements that exceed resource limits: memory, nesting depth, size. Each must fail with an
//! error of its own, the process must stay within its limit, and other sessions must not be
//! affected.

mod clients;
mod depth;
mod memory_limit;
mod numbers;
mod raw;
mod sets;
mod values;
mod with_pgbench;

use crate::memory::kilobytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};

const LIMIT_MB: usize = 192;
/// Limit of the resident memory: the limit of the setting, shared buffers, code, and free memory of
/// the allocator.
const RESIDENT_MAX_KB: usize = 400 << 10;

/// Each statement must be refused: with 53200, or with PostgreSQL's error for values that exceed
/// its limits.
const REFUSED: &[&str] = &[
    "SELECT length(repeat('x', 300000000))",
    "SELECT repeat('x', 90000000) || repeat('y', 90000000)",
    "SELECT length(replace(repeat('a', 30000), 'a', repeat('b', 10000)))",
    "SELECT length(string_agg(repeat('x', 100000), '')) FROM generate_series(1, 5000)",
    "SELECT array_length(array_agg(repeat('x', 1000)), 1) FROM generate_series(1, 400000)",
    "SELECT array_length(array_agg(g), 1) FROM generate_series(1, 50000000) g",
    "SELECT json_agg(repeat('x', 1000)) FROM generate_series(1, 400000)",
    "SELECT jsonb_agg(g) FROM generate_series(1, 20000000) g",
    "SELECT lpad('', 200000000, 'x')",
    "SELECT array_fill(1::bigint, ARRAY[30000000])",
    "SELECT string_to_array(repeat('a,', 20000000), ',')",
    "SELECT count(*) FROM (SELECT repeat('x', 1000) || g AS t FROM generate_series(1, 400000) g) s \
     WHERE t NOT IN (SELECT repeat('y', 1000) || g FROM generate_series(1, 400000) g)",
    "WITH RECURSIVE r(n, t) AS (SELECT 1, repeat('x', 1000) UNION \
     SELECT n + 1, repeat('x', 1000) || n \
     FROM r WHERE n < 1000000) SELECT count(*) FROM r",
    "SELECT regexp_split_to_array(repeat('a,', 20000000), ',')",
    "SELECT format('%s%s', repeat('x', 90000000), repeat('y', 90000000))",
    "SELECT row(repeat('x', 70000000), repeat('x', 70000000))::text",
    "SELECT convert_to(repeat('x', 150000000), 'UTF8')",
    "SELECT encode(repeat('x', 90000000)::bytea, 'hex')",
];

/// Statements that need much memory but succeed, because sorts and hash tables spill to files.
const ANSWERED: &[&str] = &[
    "SELECT count(*) FROM (SELECT repeat('x', 200) || g AS t FROM generate_series(1, 600000) g \
     ORDER BY 1 DESC) s",
    "SELECT count(*) FROM generate_series(1, 300000) a JOIN \
     (SELECT g, repeat('x', 500) AS t FROM generate_series(1, 300000) g) b ON a = g WHERE t <> ''",
    "SELECT count(*) FROM (SELECT DISTINCT repeat('x', 300) || g \
     FROM generate_series(1, 400000) g) s",
    "SELECT length(percentile_disc(0.5) WITHIN GROUP (ORDER BY repeat('x', 1000) || g)) \
     FROM generate_series(1, 400000) g",
    "SELECT length(repeat('x', 30000000))",
];

/// A session that needs little memory and counts its statements.
fn modest(mut client: Client, done: &AtomicBool, count: &AtomicU64) {
    while !done.load(Ordering::Relaxed) {
        client.must("UPDATE modest SET n = n + 1 WHERE id = 1");
        assert_eq!(client.value("SELECT count(*) FROM modest"), "100");
        count.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn excessive_statements_do_not_affect_other_sessions() {
    let dir = TempDir::new("hostile");
    let data = dir.path().join("data");
    norsu::init(&data);
    let limit = format!("norsu.memory_limit={LIMIT_MB}MB");
    let server = Norsu::start(&data, &["-c", "shared_buffers=8MB", "-c", &limit]);
    let mut client = server.connect("postgres");
    client.must("CREATE TABLE modest AS SELECT g AS id, 0 AS n FROM generate_series(1, 100) g");
    client.must("SET work_mem = '4GB'");
    client.must("SET statement_timeout = '60s'");
    let (done, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let modest = {
        let (client, done, count) = (server.connect("postgres"), done.clone(), count.clone());
        std::thread::spawn(move || modest(client, &done, &count))
    };
    let mut wrong = Vec::new();
    let all = REFUSED.iter().map(|s| (s, true)).chain(ANSWERED.iter().map(|s| (s, false)));
    for (sql, refused) in all {
        std::fs::write(format!("/proc/{}/clear_refs", server.pid()), "5").unwrap();
        let started = std::time::Instant::now();
        let reply = client.query(sql);
        let reply = reply.unwrap_or_else(|e| panic!("{e} by {sql}:\n{}", server.log()));
        let peak = kilobytes(server.pid(), "VmHWM:");
        println!("{:?} {} {} kB: {sql}", started.elapsed(), reply.code(), peak);
        let expected = match refused {
            true => ["53200", "54000"].contains(&reply.code()),
            false => reply.code().is_empty(),
        };
        if !expected || peak > RESIDENT_MAX_KB {
            wrong.push(format!("{sql}: {:?}, {peak} kB", reply.code()));
        }
    }
    done.store(true, Ordering::Relaxed);
    modest.join().expect("a session that needs little is never refused");
    assert!(count.load(Ordering::Relaxed) > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(client.value("SELECT 1"), "1");
    server.stop(&data);
}

/// Nested rows double their quotes at each level, and so do arrays of them.
#[test]
fn long_texts_of_nested_values_end_at_the_timeout() {
    let dir = TempDir::new("hostile-time");
    let data = dir.path().join("data");
    norsu::init(&data);
    let server = Norsu::start(&data, &["-c", "norsu.memory_limit=3GB"]);
    let mut client = server.connect("postgres");
    client.must("SET statement_timeout = '1s'");
    let nested = |open: &str, close: &str, depth: usize, within: &str| {
        format!("SELECT length({}{within}{}::text)", open.repeat(depth), close.repeat(depth))
    };
    for sql in [
        nested("row(", ")", 200, "'a\"b'"),
        nested("row(1, ", ")", 40, "'\\'"),
        nested("row(array[", "])", 40, "'a\"b'"),
    ] {
        let started = std::time::Instant::now();
        let reply = client.query(&sql).unwrap_or_else(|e| panic!("{e} by {sql}"));
        // On a fast machine the text reaches its size limit before the timeout.
        assert!(["57014", "54000"].contains(&reply.code()), "{}: {sql}", reply.code());
        assert!(started.elapsed().as_secs() < 4, "{:?} {sql}", started.elapsed());
    }
}
