//! Transaction ids around 2^31 and 2^32, and around an epoch: `pg_resetwal` advances the counter,
//! each server runs transactions across the boundary and freezes old rows, and the other one
//! continues after a crash.

use std::path::Path;
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, program, run};
use testkit::verify;

/// Advances the transaction counter and creates the corresponding pg_xact segment.
pub(super) fn advance_xid(data: &Path, xid: u32, epoch: u32) {
    let segment = data.join(format!("pg_xact/{:04X}", xid >> 20));
    if !segment.exists() {
        std::fs::write(segment, vec![0; 256 << 10]).expect("room for a segment");
    }
    chown_to_server_user(data);
    let mut reset = program("pg_resetwal");
    reset.args(["-f", "-x", &xid.to_string(), "-e", &epoch.to_string(), "-D"]).arg(data);
    run(reset);
}

/// Several hundred transactions with savepoints, locks that become multixacts, and rollbacks.
fn work(client: &mut Client) {
    for _ in 0..40 {
        client.must(
            "BEGIN; SAVEPOINT a; UPDATE t SET v = -v WHERE id = 5; ROLLBACK TO a; \
             UPDATE t SET v = v WHERE id = 6; \
             SELECT FROM t WHERE id = 7 FOR SHARE; SAVEPOINT b; UPDATE t SET v = v WHERE id = 7; \
             COMMIT",
        );
    }
    client.must("UPDATE t SET v = v WHERE id % 7 = 1");
    assert_eq!(client.value("SELECT count(*), sum(v) FROM t"), "100|5050");
}

/// Freezes every table of every database, which advances the oldest id and removes old segments.
fn freeze(connect: &dyn Fn(&str) -> Client, data: &Path) {
    connect("postgres").must("UPDATE pg_database SET datallowconn = true");
    for database in ["template0", "template1", "postgres"] {
        connect(database).must("VACUUM (FREEZE)");
    }
    let ages = "SELECT max(age(datfrozenxid)), max(mxid_age(datminmxid)) FROM pg_database";
    let ages = connect("postgres").value(ages);
    let mut numbers = ages.split('|').map(|n| n.parse::<u32>().expect("a number"));
    assert!(numbers.all(|n| n < 1000), "{ages}");
    let status = std::fs::read_dir(data.join("pg_xact")).expect("a directory").count();
    assert!(status <= 2, "{status} segments of pg_xact");
}

#[test]
fn ids_wrap_around_on_both_servers() {
    let dir = TempDir::new("wraparound");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C", "--wal-segsize=1"]);
    let server = Norsu::start(&data, &[]);
    server.query("CREATE TABLE t (id int PRIMARY KEY, v int)");
    server.query("INSERT INTO t SELECT g, g FROM generate_series(1, 100) g");
    server.stop(&data);
    // Each step is less than 2^31, because no id may be older than that.
    let places = [
        (1_000_000_000, 0),
        (2_147_483_600, 0),
        (3_200_000_000, 0),
        (4_294_967_250, 0),
        (1_500_000_000, 1),
    ];
    for (round, (xid, epoch)) in places.into_iter().enumerate() {
        advance_xid(&data, xid, epoch);
        for turn in 0..2 {
            // Each server is the first one in half of the rounds.
            if (round + turn) % 2 == 0 {
                let mut server = Norsu::start(&data, &["-c", "wal_consistency_checking=all"]);
                work(&mut server.connect("postgres"));
                freeze(&|name| server.connect(name), &data);
                work(&mut server.connect("postgres"));
                server.kill();
            } else {
                let settings = ["autovacuum=off", "wal_consistency_checking=all"];
                let server = PostgresServer::start_with(&data, "postgres", &settings);
                work(&mut server.connect("postgres"));
                freeze(&|name| server.connect(name), &data);
                work(&mut server.connect("postgres"));
                server.crash();
            }
        }
        let server = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
        let now = server.query("postgres", "SELECT pg_current_xact_id()");
        let now: u64 = now.trim().parse().expect("a number");
        let from = (u64::from(epoch) << 32) + u64::from(xid);
        assert!((from + 100..from + 2000).contains(&now), "{now} from {from}");
        verify::check(&server);
    }
}
