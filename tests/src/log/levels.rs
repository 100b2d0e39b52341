//! The messages of a session in the server's log and their format, compared with PostgreSQL's.

use crate::pair::Pair;
use testkit::client::Client;

const STATEMENTS: [&str; 16] = [
    "SELECT 1/0",
    "COMMIT",
    "SET log_min_error_statement = fatal",
    "SELECT 2/0",
    "SET log_error_verbosity = verbose",
    "SELECT nothing(3)",
    "SET log_error_verbosity = terse",
    "SELECT nothing(4)",
    "SET log_min_messages = fatal",
    "SELECT nothing(5)",
    "COMMIT",
    "SET log_min_messages = notice; RESET log_error_verbosity; RESET log_min_error_statement",
    "DROP TABLE IF EXISTS nothing",
    "SELECT nothing(6)",
    "SET log_min_error_statement = notice",
    "DROP TABLE IF EXISTS nothing",
];

/// The session's lines, without PostgreSQL's source locations of errors.
fn lines(log: &str) -> Vec<&str> {
    let own = log.lines().filter(|l| l.starts_with("client backend|"));
    own.filter(|l| !l.contains("|LOCATION:")).collect()
}

fn run(mut client: Client) {
    for sql in STATEMENTS {
        client.query(sql).expect("an answer");
    }
}

#[test]
fn logging_is_configured_per_session() {
    let pair = Pair::start("levels", "C", &["-c", "log_line_prefix=%b|"]);
    pair.real.query("postgres", "ALTER SYSTEM SET log_line_prefix = '%b|'");
    pair.real.query("postgres", "SELECT pg_reload_conf()");
    while pair.real.query("postgres", "SHOW log_line_prefix").trim() != "%b|" {}
    run(pair.ours.connect("postgres"));
    run(pair.real.connect("postgres"));
    let (ours, real) = (pair.ours.log(), pair.real.log());
    let (ours, real) = (lines(&ours), lines(&real));
    assert!(real.len() > 10, "{real:?}");
    assert_eq!(ours, real);
}
