//! Invalid databases (`datconnlimit` -2), whose DROP was interrupted. Both servers refuse the same
//! statements with the same messages until the database is dropped.

use crate::pair::Pair;
use std::process::Command;

/// The error of the statement in a session of its own, because some errors end the session.
fn refusal(mut psql: Command, sql: &str) -> String {
    psql.args(["-d", "postgres", "-X", "-v", "VERBOSITY=verbose", "-c", sql]);
    let out = psql.output().expect("psql can be run");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(!said.is_empty(), "{sql} was not refused");
    said.lines().filter(|l| !l.starts_with("LOCATION")).map(|l| format!("{l}\n")).collect()
}

fn connection(mut psql: Command) -> String {
    let out = psql.args(["-d", "doomed", "-XAtc", "SELECT 1"]).output().expect("psql can be run");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    said.split_once("FATAL: ").map_or(said.clone(), |(_, reason)| reason.to_owned())
}

#[test]
fn an_invalid_database_can_only_be_dropped() {
    let pair = Pair::start("invalid", "C", &[]);
    let both = || [pair.ours.connect("postgres"), pair.real.connect("postgres")];
    for mut client in both() {
        client.must("CREATE DATABASE doomed");
        client.must("UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'doomed'");
    }
    for sql in [
        "CREATE DATABASE copy TEMPLATE doomed",
        "ALTER DATABASE doomed CONNECTION LIMIT 10",
        "ALTER DATABASE doomed WITH ALLOW_CONNECTIONS false",
    ] {
        let ours = refusal(pair.ours.client("psql"), sql);
        assert_eq!(ours, refusal(pair.real.client("psql"), sql), "{sql}");
        assert!(ours.contains("invalid database"), "{ours}");
    }
    let (ours, real) = (connection(pair.ours.client("psql")), connection(pair.real.client("psql")));
    assert_eq!(ours, real);
    assert!(ours.contains("cannot connect to invalid database"), "{ours}");
    for mut client in both() {
        client.must("VACUUM (FREEZE)");
        client.must("DROP DATABASE doomed");
        assert_eq!(client.value("SELECT count(*) FROM pg_database WHERE datname = 'doomed'"), "0");
    }
}
