//! Differential test of DDL scripts: the output of psql must be the same on both servers, including
//! errors with SQLSTATE and message. Then PostgreSQL runs on Norsu's directory: the rows of the
//! catalogs (`catalogs.sql`, without OIDs) and the dump of each database must be the same, and
//! `pg_amcheck` must not report errors.
//!
//! The expected output comes from PostgreSQL; none is stored.

use crate::pair::Pair;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{PostgresServer, chown_to_server_user, run};

const CATALOGS: &str = include_str!("ddl/catalogs.sql");

/// Name and text of each script.
const SCRIPTS: &[(&str, &str)] = &[
    ("database", include_str!("ddl/database.sql")),
    ("alter_table", include_str!("ddl/alter_table.sql")),
    ("rewrite", include_str!("ddl/rewrite.sql")),
    ("types", include_str!("ddl/types.sql")),
    ("views", include_str!("ddl/views.sql")),
    ("columns", include_str!("ddl/columns.sql")),
    ("transactions", include_str!("ddl/transactions.sql")),
    ("privileges", include_str!("ddl/privileges.sql")),
    ("schema_privileges", include_str!("ddl/schema_privileges.sql")),
    ("functions", include_str!("ddl/functions.sql")),
    ("inlining", include_str!("ddl/inlining.sql")),
    ("tablespaces", include_str!("ddl/tablespaces.sql")),
    ("indexes", include_str!("ddl/indexes.sql")),
];

/// The output of psql without lines that always differ.
fn output(mut psql: Command, database: &str, file: &Path) -> String {
    psql.args(["-X", "-a", "-v", "VERBOSITY=verbose", "-d", database]).arg("-f").arg(file);
    psql.stdin(Stdio::null());
    // Merges stderr into stdout, so that errors are in the order of the statements.
    let mut shell = Command::new("sh");
    shell.arg("-c").arg("exec \"$@\" 2>&1").arg("sh").arg(psql.get_program());
    shell.args(psql.get_args()).stdin(Stdio::null());
    let out = shell.output().expect("a shell");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let place = format!("psql:{}:", file.display());
    let lines = text.lines().filter(|l| !l.starts_with("LOCATION:"));
    let lines = lines.map(|l| match l.strip_prefix(&place) {
        Some(rest) => rest.split_once(": ").map_or(rest, |(_, r)| r),
        None => l,
    });
    lines.map(|l| format!("{l}\n")).collect()
}

/// Panics with the first lines at which two texts differ.
fn compare(what: &str, real: &str, ours: &str) {
    if real == ours {
        return;
    }
    let at = real.lines().zip(ours.lines()).take_while(|(a, b)| a == b).count();
    let part = |text: &str| {
        let lines: Vec<&str> = text.lines().skip(at.saturating_sub(4)).take(12).collect();
        lines.join("\n")
    };
    panic!("{what}, line {}:\n-- PostgreSQL\n{}\n-- ours\n{}", at + 1, part(real), part(ours));
}

fn dump(server: &PostgresServer, database: &str) -> String {
    let mut dump = server.client("pg_dump");
    dump.args(["--schema-only", "-d", database]);
    let text = run(dump);
    // The keys are random.
    let differs = |l: &&str| l.starts_with("--") || l.starts_with('\\') || l.is_empty();
    text.lines().filter(|l| !differs(l)).map(|l| format!("{l}\n")).collect()
}

#[test]
fn scripts_have_the_same_output_on_both_servers() {
    let mut pair = Pair::start("ddl", "C.UTF-8", &[]);
    let data = pair.our_data();
    let (ours, real) = (&pair.ours, &pair.real);
    let catalogs = pair.dir().join("catalogs.sql");
    std::fs::write(&catalogs, CATALOGS).unwrap();
    for (name, script) in SCRIPTS {
        let file = pair.dir().join(format!("{name}.sql"));
        std::fs::write(&file, script).unwrap();
        for mut createdb in [real.client("createdb"), ours.client("createdb")] {
            createdb.arg(name);
            run(createdb);
        }
        let expected = output(real.client("psql"), name, &file);
        let printed = output(ours.client("psql"), name, &file);
        compare(&format!("output of {name}"), &expected, &printed);
    }
    pair.ours.shut_down(&data);
    let taken = PostgresServer::start(&data, "postgres");
    for (name, _) in SCRIPTS {
        let expected = output(real.client("psql"), name, &catalogs);
        let printed = output(taken.client("psql"), name, &catalogs);
        compare(&format!("catalogs after {name}"), &expected, &printed);
        compare(&format!("dump of {name}"), &dump(real, name), &dump(&taken, name));
        taken.query(name, "CREATE EXTENSION amcheck");
        let mut amcheck = taken.client("pg_amcheck");
        amcheck.args(["-d", name, "--heapallindexed", "--parent-check"]);
        assert_eq!(run(amcheck), "", "{name}");
    }
}

/// Databases are created and dropped, immediately followed by a crash: recovery from the log
/// restores the databases, in Norsu and in PostgreSQL.
#[test]
fn databases_survive_a_crash() {
    let dir = TempDir::new("ddl-crash");
    chown_to_server_user(dir.path());
    let data = dir.path().join("ours");
    norsu::init(&data);
    let mut server = Norsu::start(&data, &[]);
    let ask = |server: &Norsu, database: &str, sql: &str| {
        let mut psql = server.client("psql");
        psql.args(["-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        run(psql).trim_end().to_owned()
    };
    ask(&server, "template1", "CREATE TABLE inherited AS SELECT generate_series(1, 1000) AS n");
    ask(&server, "template1", "CREATE UNLOGGED TABLE fleeting AS SELECT 1 AS n");
    for (name, strategy) in [("logged", "wal_log"), ("copied", "file_copy"), ("gone", "wal_log")] {
        let sql = format!("CREATE DATABASE {name} STRATEGY {strategy}");
        ask(&server, "postgres", &sql);
        ask(&server, name, "INSERT INTO inherited VALUES (0)");
    }
    ask(&server, "postgres", "DROP DATABASE gone");
    server.kill();
    // A copy of the directory for each server.
    let copy = dir.path().join("copy");
    let mut cp = Command::new("cp");
    cp.arg("-a").arg(&data).arg(&copy);
    run(cp);
    let real = PostgresServer::start(&copy, "postgres");
    let ours = Norsu::start(&data, &[]);
    for name in ["logged", "copied"] {
        let sql = "SELECT count(*), sum(n) FROM inherited";
        assert_eq!(real.query(name, sql).trim_end(), "1001|500500", "{name}");
        assert_eq!(ask(&ours, name, sql), "1001|500500", "{name}");
        // The unlogged table was emptied by recovery.
        assert_eq!(real.query(name, "SELECT count(*) FROM fleeting").trim_end(), "0");
        assert_eq!(ask(&ours, name, "SELECT count(*) FROM fleeting"), "0");
    }
    let names = "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database";
    assert_eq!(real.query("postgres", names).trim_end(), ask(&ours, "postgres", names));
    assert_eq!(ask(&ours, "postgres", names), "copied,logged,postgres,template0,template1");
    for database in ["template1", "postgres", "logged", "copied"] {
        real.query(database, "CREATE EXTENSION IF NOT EXISTS amcheck");
    }
    let mut amcheck = real.client("pg_amcheck");
    amcheck.args(["--all", "--heapallindexed", "--parent-check"]);
    assert_eq!(run(amcheck), "");
}
