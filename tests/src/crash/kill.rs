//! kill -9 of the server during pgbench, repeatedly. The kernel keeps all writes, so this does not
//! test fsync (the tests on the in-memory disk do), but the complete path from the client to the
//! files.

use crate::pgbench::{check_sums, number_after};
use std::process::Stdio;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};
use vfs::SeededRandom;

const CLIENTS: u64 = 4;
/// Number of additional clients besides pgbench's.
const WRITERS: usize = 2;

/// An additional client that records acknowledged commits: it inserts numbers in transactions that
/// also update a row. Returns the last number whose COMMIT was acknowledged.
fn write_down(mut client: Client, client_no: usize, from: u64) -> u64 {
    let mut recorded = from;
    loop {
        let n = recorded + 1;
        let sql = format!(
            "BEGIN; INSERT INTO recorded VALUES ({client_no}, {n}); \
             UPDATE last_recorded SET n = {n} WHERE client_no = {client_no}; COMMIT"
        );
        match client.query(&sql) {
            Ok(reply) if reply.error.is_none() => recorded = n,
            Ok(reply) => panic!("{sql}: {:?}", reply.error),
            Err(_) => return recorded,
        }
    }
}

#[test]
fn killed_servers_recover_all_acknowledged_transactions() {
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let rounds = if long { 100 } else { 5 };
    let dir = TempDir::new("kill");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let options = ["-c", "max_wal_size=32MB", "-c", "shared_buffers=2MB"];
    let mut server = Norsu::start(&data, &options);
    let mut load = server.client("pgbench");
    load.args(["-i", "-q", "postgres"]);
    run(load);
    server.query(
        "CREATE TABLE recorded (client_no int, n int, PRIMARY KEY (client_no, n)); \
         CREATE TABLE last_recorded (client_no int PRIMARY KEY, n int); \
         INSERT INTO last_recorded SELECT g, 0 FROM generate_series(0, 9) g",
    );
    let mut recorded = [0; WRITERS];
    let random = SeededRandom::new(9);
    // Number of transactions whose commit was acknowledged to pgbench.
    let mut acknowledged = 0;
    for round in 1..=rounds {
        let before: u64 = server.query("SELECT count(*) FROM pgbench_history").parse().unwrap();
        let mut bench = server.client("pgbench");
        bench.args(["-n", "-T", "600", "-c", &CLIENTS.to_string()]);
        if random.below(2) == 0 {
            bench.args(["-M", "prepared"]);
        }
        bench.arg("postgres").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let bench = bench.spawn().unwrap();
        let writers: Vec<_> = (0..WRITERS)
            .map(|client_no| {
                let client = server.connect("postgres");
                let from = recorded[client_no];
                std::thread::spawn(move || write_down(client, client_no, from))
            })
            .collect();
        let target = before + 20 + random.below(400);
        while server.query("SELECT count(*) FROM pgbench_history").parse::<u64>().unwrap() < target
        {
            if random.below(4) == 0 {
                server.query("CHECKPOINT");
            }
        }
        server.kill();
        let out = bench.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        acknowledged += number_after(&text, "number of transactions actually processed: ");

        for (recorded, writer) in recorded.iter_mut().zip(writers) {
            *recorded = writer.join().expect("a client failed");
        }
        server = Norsu::start(&data, &options);
        for (client_no, recorded) in recorded.iter_mut().enumerate() {
            let found = server.query(&format!(
                "SELECT count(*) || ' ' || coalesce(max(n), 0) || ' ' || \
                 (SELECT n FROM last_recorded WHERE client_no = {client_no}) \
                 FROM recorded WHERE client_no = {client_no}"
            ));
            // The last commit may have succeeded although its acknowledgement was lost.
            let same = |n: u64| format!("{n} {n} {n}") == found;
            assert!(
                same(*recorded) || same(*recorded + 1),
                "round {round}: recorded {recorded}, found {found}"
            );
            *recorded += u64::from(!same(*recorded));
        }
        let found: u64 = server.query("SELECT count(*) FROM pgbench_history").parse().unwrap();
        let possible = acknowledged + CLIENTS * round;
        assert!(
            (acknowledged..=possible).contains(&found),
            "round {round}: {found} transactions of {acknowledged} to {possible}"
        );
        check_sums(&mut |sql| server.query(sql));
    }
    let log = server.stop(&data);
    assert!(!log.contains("PANIC") && !log.contains("ERROR"), "{log}");
    let mut checksums = program("pg_checksums");
    checksums.arg("--check").arg("-D").arg(&data);
    assert!(run(checksums).contains("Bad checksums:  0"));
    let real = PostgresServer::start(&data, "postgres");
    check_sums(&mut |sql| real.query("postgres", sql).trim_end().to_owned());
    let mut amcheck = real.client("pg_amcheck");
    amcheck.args(["--all", "--install-missing", "--heapallindexed", "--parent-check"]);
    assert_eq!(run(amcheck), "");
}
