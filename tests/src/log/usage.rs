//! CPU and resource usage of statements: the server's log compared with PostgreSQL's, and the view
//! `norsu_stat_rusage`.

use crate::pair::Pair;
use testkit::client::Client;
use testkit::postgres::run;

/// The statistics in a server's log: title and statement. The format of the details is checked.
fn reports(log: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        let Some((_, title)) = line.split_once("LOG:  ") else { continue };
        let Some(title) = title.strip_suffix(" STATISTICS") else { continue };
        let detail: Vec<&str> = lines.by_ref().take(9).collect();
        let shape = |line: &&str| {
            let text = line.split_once("DETAIL:  ").map_or(line.trim_start(), |(_, rest)| rest);
            text.split(|c: char| c.is_ascii_digit()).filter(|p| !p.is_empty()).collect::<String>()
        };
        let shape: Vec<String> = detail[..8].iter().map(shape).collect();
        assert_eq!(shape, SHAPE, "{title}: {detail:?}");
        let statement = detail[8].split_once("STATEMENT:  ").map_or("", |(_, text)| text);
        found.push((title.to_owned(), statement.to_owned()));
    }
    found
}

/// The lines of PostgreSQL's reports without their digits.
const SHAPE: [&str; 8] = [
    "! system usage stats:",
    "!\t. s user, . s system, . s elapsed",
    "!\t[. s user, . s system total]",
    "!\t kB max resident size",
    "!\t/ [/] filesystem blocks in/out",
    "!\t/ [/] page faults/reclaims,  [] swaps",
    "!\t [] signals rcvd, / [/] messages rcvd/sent",
    "!\t/ [/] voluntary/involuntary context switches",
];

const STATEMENTS: [&str; 14] = [
    "CREATE TABLE t (a int)",
    "SET log_statement_stats = on",
    "SELECT 1",
    "SELECT 2; SELECT 3",
    "INSERT INTO t VALUES (1)",
    "SELECT 1 / 0",
    "BEGIN; DECLARE c CURSOR FOR SELECT 4; FETCH c; COMMIT",
    "RESET log_statement_stats",
    "SET log_planner_stats = on",
    "SET log_executor_stats = on; SET log_parser_stats = on",
    "SELECT count(*) FROM t",
    "UPDATE t SET a = 2; DELETE FROM t",
    "SELECT * FROM pg_user LIMIT 1",
    "RESET log_parser_stats",
];

#[test]
fn statistics_of_statements_are_logged_as_postgres_logs_them() {
    let pair = Pair::start("usage", "C", &[]);
    let script = pair.dir().join("script");
    std::fs::write(&script, "SELECT 5 AS five;\n").expect("a new file");
    let mut seen = Vec::new();
    for (client, log, mut bench) in [
        (
            pair.ours.connect("postgres"),
            &(|| pair.ours.log()) as &dyn Fn() -> String,
            pair.ours.client("pgbench"),
        ),
        (pair.real.connect("postgres"), &|| pair.real.log(), pair.real.client("pgbench")),
    ] {
        let mut client: Client = client;
        for sql in STATEMENTS {
            let reply = client.query(sql).expect("a connection");
            assert_eq!(reply.error.is_some(), sql.contains("/ 0"), "{sql}: {:?}", reply.error);
        }
        bench.args(["-n", "-M", "extended", "-t", "2", "-f"]).arg(&script).arg("postgres");
        run({
            bench.env("PGOPTIONS", "-c log_statement_stats=on");
            bench
        });
        seen.push(reports(&log()));
    }
    // Analysis and rewriting of utility statements are not reported here.
    let queries = |list: &[(String, String)]| -> Vec<(String, String)> {
        let is_query = |s: &str| !["SET", "RESET"].iter().any(|word| s.starts_with(word));
        let found = list.iter().filter(|(title, text)| {
            is_query(text) || !matches!(title.as_str(), "PARSE ANALYSIS" | "REWRITER")
        });
        found.cloned().collect()
    };
    assert!(seen[1].len() > 30, "{:?}", seen[1]);
    assert_eq!(queries(&seen[0]), queries(&seen[1]));
}

fn number(client: &mut Client, sql: &str) -> f64 {
    client.value(sql).parse().unwrap_or_else(|e| panic!("{sql}: {e}"))
}

#[test]
fn the_view_shows_resource_usage_of_sessions() {
    let pair = Pair::start("rusage", "C", &[]);
    let (mut busy, mut other) = (pair.ours.connect("postgres"), pair.ours.connect("postgres"));
    let pid = busy.value("SELECT pg_backend_pid()");
    let of = |column: &str| format!("SELECT {column} FROM norsu_stat_rusage WHERE pid = {pid}");
    let work = "SELECT sum(sqrt(g)) FROM generate_series(1, 300000) g";
    assert_eq!(other.value(&of("queries::text || coalesce(query_user_time::text, '-')")), "0-");
    let used = |client: &mut Client| number(client, &of("user_time + system_time"));
    let before = used(&mut other);
    busy.must("SET norsu.track_rusage = on");
    // The resolution of the kernel's clock is a hundredth of a second.
    while used(&mut other) < before + 100.0 {
        busy.must(work);
    }
    let query = number(&mut other, &of("query_user_time + query_system_time"));
    assert!(query > 1.0 && query < used(&mut other) + 20.0, "{query}");
    let queries = number(&mut other, &of("queries"));
    busy.must("RESET norsu.track_rusage");
    assert_eq!(number(&mut other, &of("queries")), queries + 1.0);
    busy.must(work);
    assert_eq!(number(&mut other, &of("queries")), queries + 1.0);
    let whole = "SELECT user_time + system_time FROM norsu_stat_rusage WHERE backend_type = \
                 'server process'";
    assert!(number(&mut other, whole) + 20.0 >= used(&mut other));
    let kinds = "SELECT backend_type FROM norsu_stat_rusage WHERE pid <> pg_backend_pid() \
                 AND queries IS NULL ORDER BY 1";
    let workers = ["background writer", "checkpointer", "server process", "walwriter"];
    assert_eq!(other.rows(kinds), workers);
    // Statistics of other users require the privilege to read all statistics.
    other.must("CREATE ROLE plain; SET ROLE plain");
    assert_eq!(other.value(&of("user_time IS NULL AND queries IS NULL")), "t");
    assert_eq!(other.rows(kinds).len(), 5);
    other.must("RESET ROLE; GRANT pg_read_all_stats TO plain; SET ROLE plain");
    assert_eq!(other.value(&of("user_time IS NULL OR queries IS NULL")), "f");
}
