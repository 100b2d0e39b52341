//! Indexes over every supported type, built by CREATE INDEX and by INSERT: their entries must be
//! PostgreSQL's byte for byte, and so must be the flag that allows deduplication; amcheck must find
//! each row.

use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{self, PostgresServer, chown_to_server_user};
use testkit::verify;

/// Column types and values.
const COLUMNS: [(&str, &str); 31] = [
    ("bool", "(true), (false)"),
    ("smallint", "(-32768), (32767)"),
    ("int", "(0), (-2147483648)"),
    ("bigint", "(0), (9223372036854775807)"),
    ("real", "('NaN'), ('-0'), ('1e-45')"),
    ("float8", "('-Infinity'), ('-0'), ('0')"),
    ("numeric", "('NaN'), ('-Infinity'), (0), (1e-1000), (1.50)"),
    ("text", "(''), (repeat('x', 200)), ('é')"),
    ("text COLLATE \"C\"", "('b'), ('a')"),
    ("varchar(5)", "('abc  '), ('')"),
    ("char(7)", "('ab'), ('')"),
    ("bpchar", "('ab'), ('ab  '), ('')"),
    ("\"char\"", "('a'), ('')"),
    ("name", "('n'), (repeat('n', 63)), ('')"),
    ("bytea", "(''), ('\\x00ff')"),
    ("date", "('infinity'), ('4713-01-01 BC')"),
    ("time", "('24:00:00'), ('00:00')"),
    ("timetz", "('24:00:00+15:59'), ('00:00-15:59:59')"),
    ("timestamp", "('infinity'), ('4714-11-24 00:00:00 BC')"),
    ("timestamptz", "('-infinity'), ('2000-01-01 00:00+00')"),
    ("interval", "('1 mon -1 day'), ('30 days'), ('1 mon')"),
    ("uuid", "('00000000-0000-0000-0000-000000000000')"),
    ("bit(3)", "('101')"),
    ("varbit", "(''), ('1')"),
    ("jsonb", "('null'), ('{\"a\": [1, null]}')"),
    ("oid", "(0), (4294967295)"),
    ("tid", "('(4294967295,65535)')"),
    ("pg_lsn", "('0/0'), ('FFFFFFFF/FFFFFFFF')"),
    ("oidvector", "('1 4294967295'), ('')"),
    ("int[]", "('{}'), ('[-2:0]={1,NULL,3}')"),
    ("text[]", "('{a,NULL,\"\"}')"),
];

/// The entries of the index of each type.
fn entries(server: &PostgresServer) -> Vec<String> {
    server.query("postgres", "CREATE EXTENSION pageinspect");
    let of = |n: usize| {
        let data = "string_agg(data, ' | ' ORDER BY itemoffset)";
        let meta = format!("(SELECT allequalimage FROM bt_metap('i{n}'))");
        server.query("postgres", &format!("SELECT {meta}, {data} FROM bt_page_items('i{n}', 1)"))
    };
    (0..COLUMNS.len()).map(of).collect()
}

#[test]
fn index_entries_equal_those_of_postgres() {
    let dir = TempDir::new("indexed");
    chown_to_server_user(dir.path());
    let [ours, theirs] = ["ours", "theirs"].map(|name| dir.path().join(name));
    norsu::init_with(&ours, &["--locale=C"]);
    postgres::init_with(&theirs, &["--locale=C"]);
    let made: Vec<String> = COLUMNS
        .iter()
        .enumerate()
        .map(|(n, (column, values))| {
            let insert = format!("INSERT INTO t{n} VALUES {values}");
            format!(
                "CREATE TABLE t{n} (v {column}); {insert}; CREATE INDEX i{n} ON t{n} (v); {insert}"
            )
        })
        .collect();
    let server = Norsu::start(&ours, &[]);
    let mut client = server.connect("postgres");
    made.iter().for_each(|sql| drop(client.must(sql)));
    drop(client);
    server.stop(&ours);
    let server = PostgresServer::start(&theirs, "postgres");
    made.iter().for_each(|sql| drop(server.query("postgres", sql)));
    let want = entries(&server);
    drop(server);
    let server = PostgresServer::start(&ours, "postgres");
    for ((have, want), (column, _)) in entries(&server).iter().zip(&want).zip(COLUMNS) {
        assert_eq!(have, want, "{column}");
    }
    verify::check(&server);
}
