//! Unlogged tables created by a transaction that was rolled back just before the crash. Their files
//! are removed. If the abort record were lost with the unwritten end of the log, replay would
//! create the init fork again, and PostgreSQL would not start because of the empty main fork.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user};
use testkit::verify;

#[test]
fn a_rolled_back_unlogged_table_does_not_stop_recovery() {
    let dir = TempDir::new("unlogged");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init_with(&data, &["--locale=C"]);
    let mut server = Norsu::start(&data, &["-c", "wal_writer_delay=10s"]);
    let mut client = server.connect("postgres");
    client.must("CREATE TABLE kept (i int)");
    client.must("CHECKPOINT");
    for end in ["ROLLBACK", "ROLLBACK TO a"] {
        client.must("BEGIN; SAVEPOINT a; CREATE UNLOGGED TABLE gone (i int PRIMARY KEY)");
        let file = client.value("SELECT pg_relation_filepath('gone')");
        // Flushes the log up to here.
        server.query("INSERT INTO kept VALUES (1)");
        client.must(end);
        assert!(!data.join(format!("{file}_init")).exists());
        assert!(data.join(file).exists());
    }
    server.kill();
    let real = PostgresServer::start_with(&data, "postgres", &["autovacuum=off"]);
    assert_eq!(real.query("postgres", "SELECT count(*) FROM kept"), "2\n");
    verify::check(&real);
}
