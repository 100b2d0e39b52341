//! kill -9 of the real server beneath pgbench, again and again. The kernel keeps what was written, so
//! this proves no fsync (the disk in memory does that), but the whole way from the client to the files.

use std::process::Stdio;
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::{RealServer, hand_over, program, run};
use vfs::SeededRandom;

const CLIENTS: u64 = 4;

/// The number after `label` in what pgbench prints.
fn number_after(text: &str, label: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(label));
    let digits: String = line
        .unwrap_or_else(|| panic!("no {label:?} in {text}"))
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a number")
}

#[test]
fn killed_servers_come_back_with_all_acknowledged_transactions() {
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let rounds = if long { 200 } else { 10 };
    let dir = TempDir::new("kill");
    hand_over(dir.path());
    let data = dir.path().join("data");
    init(&data);
    let options = ["-c", "max_wal_size=32MB", "-c", "shared_buffers=2MB"];
    let mut server = Norsu::start(&data, &options);
    let mut load = server.client("pgbench");
    load.args(["-i", "-q", "postgres"]);
    run(load);
    let random = SeededRandom::new(9);
    // Transactions of which pgbench was told that they are committed.
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

        server = Norsu::start(&data, &options);
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
    let real = RealServer::start(&data, "postgres");
    check_sums(&mut |sql| real.query("postgres", sql).trim_end().to_owned());
    let mut amcheck = real.client("pg_amcheck");
    amcheck.args(["--all", "--install-missing", "--heapallindexed", "--parent-check"]);
    assert_eq!(run(amcheck), "");
}

fn check_sums(query: &mut dyn FnMut(&str) -> String) {
    let history = query("SELECT sum(delta) FROM pgbench_history");
    for (column, table) in
        [("abalance", "accounts"), ("tbalance", "tellers"), ("bbalance", "branches")]
    {
        assert_eq!(
            query(&format!("SELECT sum({column}) FROM pgbench_{table}")),
            history,
            "{table}"
        );
    }
    // Through the index, too.
    let by_index =
        query("SET enable_seqscan = off; SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0");
    assert_eq!(by_index, history);
}
