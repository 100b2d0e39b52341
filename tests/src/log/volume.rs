//! Volume of the log compared with PostgreSQL's: bytes, full-page images, syncs. Times are not
//! measured.

use crate::pair::Pair;
use engine::{Backend, ClusterOptions, Engine, EngineConfig, Isolation, create_cluster};
use ids::{Oid, RelFile};
use std::sync::Arc;
use std::time::Duration;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user, run};
use vfs::{Env, MemDisk, Op};

/// Full-page images and bytes of log that a statement writes, including those caused by hint bits.
fn usage(client: &mut Client, sql: &str) -> (i64, f64) {
    let now = |client: &mut Client| {
        client.must("SELECT pg_stat_force_next_flush()");
        let number = |text: String| text.parse::<f64>().expect("a number");
        let images = number(client.value("SELECT wal_fpi FROM pg_stat_wal"));
        (images as i64, number(client.value("SELECT pg_current_wal_insert_lsn() - '0/0'")))
    };
    let before = now(client);
    client.must(sql);
    let after = now(client);
    (after.0 - before.0, after.1 - before.1)
}

/// Document 004 on a small scale: images of half-empty pages, by compression and fillfactor. (After
/// a checkpoint the first reader of new rows logs images, because it sets hint bits.)
#[test]
fn page_images_are_as_many_and_no_larger() {
    let pair = Pair::start("images", "C", &["-c", "autovacuum=off"]);
    let mut sessions = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for compression in ["off", "pglz", "lz4", "zstd"] {
        for s in &mut sessions {
            s.must(&format!("ALTER SYSTEM SET wal_compression = {compression}"));
            s.must("ALTER SYSTEM SET autovacuum = off");
            s.must("SELECT pg_reload_conf()");
        }
        std::thread::sleep(Duration::from_millis(500));
        for fillfactor in [50, 20, 10] {
            let [ours, theirs] = sessions.each_mut().map(|s| {
                s.must("DROP TABLE IF EXISTS aa");
                s.must(&format!("CREATE TABLE aa (a int) WITH (fillfactor = {fillfactor})"));
                s.must("INSERT INTO aa VALUES (generate_series(1, 20000))");
                s.must("CHECKPOINT");
                usage(s, "UPDATE aa SET a = 7000000 + a")
            });
            let what = format!("fillfactor {fillfactor}, {compression}: {ours:?} {theirs:?}");
            println!("{what}");
            assert!(ours.0 > 150 && (ours.0 - theirs.0).abs() <= 3, "{what}");
            assert!(ours.1 <= theirs.1 * 1.01, "{what}");
        }
    }
}

/// Bytes of log that some transactions of pgbench write, without images.
fn pgbench(client: &mut Client, mut bench: std::process::Command, transactions: u64) -> f64 {
    let insert = "SELECT pg_current_wal_insert_lsn() - '0/0'";
    client.must("CHECKPOINT");
    let before: f64 = client.value(insert).parse().expect("a number");
    bench.args(["-n", "-c", "1", "-t", &transactions.to_string(), "--random-seed=5", "postgres"]);
    run(bench);
    let after: f64 = client.value(insert).parse().expect("a number");
    (after - before) / transactions as f64
}

/// Document 000: the log volume of an update of pgbench.
#[test]
fn a_transaction_of_pgbench_writes_no_more_than_postgres_does() {
    let pair = Pair::start("bytes", "C", &["-c", "autovacuum=off"]);
    pair.real.query("postgres", "ALTER SYSTEM SET autovacuum = off");
    let mut sessions = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for (s, mut init) in
        sessions.iter_mut().zip([pair.ours.client("pgbench"), pair.real.client("pgbench")])
    {
        s.must("ALTER SYSTEM SET full_page_writes = off");
        s.must("SELECT pg_reload_conf()");
        init.args(["-i", "-q", "postgres"]);
        run(init);
    }
    std::thread::sleep(Duration::from_millis(500));
    let ours = pgbench(&mut sessions[0], pair.ours.client("pgbench"), 1000);
    let theirs = pgbench(&mut sessions[1], pair.real.client("pgbench"), 1000);
    sessions[0].must("ALTER DATABASE postgres SET norsu.wal_update_delta = off");
    let without = pgbench(&mut sessions[0], pair.ours.client("pgbench"), 1000);
    println!("bytes a transaction: {ours} of ours, {theirs} of theirs, {without} without deltas");
    assert!(ours <= theirs * 1.01, "{ours} {theirs}");
    assert!(without > ours + 50.0, "{without} {ours}");
}

/// With slow syncs and many committing sessions, one sync is used for many of them (group commit).
#[test]
fn concurrent_commits_share_syncs() {
    const COMMITTERS: usize = 32;
    const COMMITS: usize = 20;
    let disk = MemDisk::new();
    let mut env = Env::memory(3);
    env.disk = Arc::new(disk.clone());
    create_cluster(&env, &ClusterOptions::default()).unwrap();
    let mut config = EngineConfig::new(env);
    config.txn.slots = COMMITTERS + 8;
    let engine = Engine::open(config).unwrap();
    disk.slow_sync(Duration::from_millis(2));
    let before = disk.count(Op::Sync);
    std::thread::scope(|scope| {
        for n in 0..COMMITTERS {
            let engine = &engine;
            scope.spawn(move || {
                let waiter = Arc::new(sync::wait::Waiter::new());
                let space = RelFile::DEFAULT_TABLESPACE;
                let number = 100 + n as i32;
                let mut be =
                    Backend::connect(engine.storage(), number, Oid(5), space, waiter).unwrap();
                for _ in 0..COMMITS {
                    be.begin(Isolation::ReadCommitted);
                    be.txn.top_xid().unwrap();
                    be.commit(Default::default()).unwrap();
                }
            });
        }
    });
    let syncs = disk.count(Op::Sync) - before;
    println!("{syncs} syncs for {} commits", COMMITTERS * COMMITS);
    assert!(syncs as usize * 8 <= COMMITTERS * COMMITS, "{syncs}");
}

/// Images logged for hint bits are counted for the session that sets the hint bits, and compressed
/// by its settings.
#[test]
fn images_for_hint_bits_count_for_the_session() {
    let pair = Pair::start("hints", "C", &["-c", "autovacuum=off"]);
    pair.real.query("postgres", "ALTER SYSTEM SET autovacuum = off");
    pair.real.query("postgres", "SELECT pg_reload_conf()");
    let mut sessions = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for s in &mut sessions {
        s.must("SET max_parallel_workers_per_gather = 0");
    }
    let mut plain = 0;
    for compression in ["off", "pglz", "lz4", "zstd"] {
        let [ours, theirs] = sessions.each_mut().map(|s| {
            s.must("DROP TABLE IF EXISTS t");
            s.must(
                "CREATE TABLE t AS SELECT g AS a, repeat('x', 60) AS b \
                 FROM generate_series(1, 5000) g",
            );
            s.must("CHECKPOINT");
            s.must(&format!("SET wal_compression = {compression}"));
            let plan = s.rows(
                "EXPLAIN (ANALYZE, WAL, BUFFERS, COSTS off, TIMING off, SUMMARY off) \
                 SELECT count(*) FROM t",
            );
            let number = |name: &str| -> u64 {
                let found = plan.iter().find_map(|line| line.split_once(name));
                let digits: String =
                    found.map_or("", |f| f.1).chars().take_while(char::is_ascii_digit).collect();
                digits.parse().unwrap_or(0)
            };
            [number(" fpi="), number(" bytes="), number(" dirtied=")]
        });
        println!("{compression}: {ours:?} {theirs:?}");
        assert!(ours[0] > 50 && ours[0].abs_diff(theirs[0]) <= 1, "{ours:?} {theirs:?}");
        assert!(ours[1] as f64 <= theirs[1] as f64 * 1.01, "{ours:?} {theirs:?}");
        assert_eq!(ours[2], theirs[2], "{compression}");
        match compression {
            "off" => plain = ours[1],
            _ => assert!(ours[1] * 3 < plain, "{compression}: {ours:?} {plain}"),
        }
    }
}

/// Images for consistency checks are logged by the sessions that enable them.
#[test]
fn consistency_checks_are_enabled_per_session() {
    let pair = Pair::start("checked", "C", &["-c", "autovacuum=off"]);
    let mut sessions = [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    let [ours, theirs] = sessions.each_mut().map(|s| {
        let inserts = "INSERT INTO t VALUES (1);".repeat(20);
        s.must("CREATE TABLE t (a int)");
        s.must(&inserts);
        let plain = usage(s, &inserts);
        s.must("SET wal_consistency_checking = 'heap'");
        let checked = usage(s, &inserts);
        s.must("SET wal_consistency_checking = 'btree, gin'");
        assert!(usage(s, &inserts).1 <= plain.1 * 1.1);
        [plain, checked]
    });
    println!("{ours:?} {theirs:?}");
    assert!(theirs[1].0 == 20 && theirs[1].1 > theirs[0].1 * 3.0, "{theirs:?}");
    assert_eq!(ours[1].0, theirs[1].0);
    assert!((ours[1].1 / theirs[1].1 - 1.0).abs() < 0.02, "{ours:?} {theirs:?}");
}

/// Number of syncs of the log while the session runs a statement several times.
fn syncs(client: &mut Client, sql: &str, times: u32) -> u64 {
    let now = |client: &mut Client| -> u64 {
        client.must("SELECT pg_stat_force_next_flush()");
        client.value("SELECT wal_sync FROM pg_stat_wal").parse().expect("a number")
    };
    let before = now(client);
    for _ in 0..times {
        client.must(sql);
    }
    now(client) - before
}

/// A commit of a single session requires one sync, as in PostgreSQL; an asynchronous commit, and
/// one of a transaction that has written nothing, requires none. (Background processes sometimes
/// sync too.)
#[test]
fn a_commit_takes_one_sync() {
    const COMMITS: u32 = 300;
    let dir = TempDir::new("syncs");
    chown_to_server_user(dir.path());
    let [ours, real] = ["ours", "real"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    postgres::init_with(&real, &["--locale=C", "-k"]);
    let ours = Norsu::start(&ours, &["-c", "wal_writer_delay=10s"]);
    let options = ["fsync=on", "autovacuum=off", "wal_writer_delay=10s"];
    let real = PostgresServer::start_with(&real, "postgres", &options);
    for mut s in [ours.connect("postgres"), real.connect("postgres")] {
        s.must("CREATE TABLE t (a int)");
        for (commit, least, most) in [
            ("on", COMMITS, COMMITS + 30),
            ("local", COMMITS, COMMITS + 30),
            ("remote_apply", COMMITS, COMMITS + 30),
            ("off", 0, 30),
        ] {
            s.must(&format!("SET synchronous_commit = {commit}"));
            let made = syncs(&mut s, "INSERT INTO t VALUES (1)", COMMITS);
            println!("{commit}: {made} syncs");
            assert!((u64::from(least)..u64::from(most)).contains(&made), "{commit}: {made}");
        }
        s.must("SET synchronous_commit = on");
        assert!(syncs(&mut s, "SELECT count(*) FROM t WHERE a = 0", COMMITS) < 30);
    }
}
