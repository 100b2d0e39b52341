//! Unlogged tables made by a transaction that was rolled back just before the crash. Their files
//! are gone; were the record that says so lost with the log's unwritten end, replay would make the
//! init fork anew, and PostgreSQL would not start because of the emptied main fork beside it.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{RealServer, hand_over};
use testkit::verify;

#[test]
fn a_rolled_back_unlogged_table_does_not_stop_recovery() {
    let dir = TempDir::new("unlogged");
    hand_over(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let mut server = Norsu::start(&data, &["-c", "wal_writer_delay=10s"]);
    let mut client = server.connect("postgres");
    client.must("CREATE TABLE kept (i int)");
    client.must("CHECKPOINT");
    for end in ["ROLLBACK", "ROLLBACK TO a"] {
        client.must("BEGIN; SAVEPOINT a; CREATE UNLOGGED TABLE gone (i int PRIMARY KEY)");
        let file = client.value("SELECT pg_relation_filepath('gone')");
        // What was logged up to here reaches the disk.
        server.query("INSERT INTO kept VALUES (1)");
        client.must(end);
        assert!(!data.join(format!("{file}_init")).exists());
        assert!(data.join(file).exists());
    }
    server.kill();
    let real = RealServer::start_with(&data, "postgres", &["autovacuum=off"]);
    assert_eq!(real.query("postgres", "SELECT count(*) FROM kept"), "2\n");
    verify::check(&real);
}
