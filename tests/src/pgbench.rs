//! Unmodified pgbench: every way to fill the tables, every script in every protocol mode with one
//! client and with many clients, and the same load while other sessions alter, vacuum, index, lock
//! and copy the tables. The sums of the tables must remain equal.
//!
//! `NORSU_TEST_LONG=1` runs each combination for seconds instead of a few transactions.

mod concurrent;
mod scripts;

use std::process::{Command, Stdio};
use testkit::dir::TempDir;
use testkit::norsu::{Norsu, init};
use testkit::postgres::{chown_to_server_user, run};

pub(crate) fn long() -> bool {
    std::env::var_os("NORSU_TEST_LONG").is_some()
}

/// A Norsu server on a new cluster.
pub(crate) struct Fixture {
    pub server: Norsu,
    pub dir: TempDir,
}

impl Fixture {
    pub(crate) fn new(name: &str, options: &[&str]) -> Fixture {
        let dir = TempDir::new(name);
        chown_to_server_user(dir.path());
        let data = dir.path().join("data");
        init(&data);
        Fixture { server: Norsu::start(&data, options), dir }
    }

    /// Runs pgbench with these arguments, which must succeed; returns its output.
    pub(crate) fn pgbench(&self, args: &[&str]) -> String {
        let mut bench = self.server.client("pgbench");
        bench.args(args).arg("postgres");
        run(bench)
    }

    /// Stops the server cleanly. Its log must not contain errors other than the allowed ones.
    pub(crate) fn stop(self, allowed: &[&str]) {
        let log = self.server.stop(&self.dir.path().join("data"));
        let bad: Vec<&str> = log
            .lines()
            .filter(|l| ["PANIC", "FATAL", "ERROR", "panicked"].iter().any(|b| l.contains(b)))
            .filter(|l| !allowed.iter().any(|a| l.contains(a)))
            .collect();
        assert!(bad.is_empty(), "{}", bad.join("\n"));
    }
}

/// The number after `label` in the output of pgbench.
pub(crate) fn number_after(text: &str, label: &str) -> u64 {
    let line = text.lines().find_map(|l| l.strip_prefix(label));
    let digits: String = line
        .unwrap_or_else(|| panic!("no {label:?} in {text}"))
        .trim()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().expect("a number")
}

/// The number of transactions of pgbench; none may have failed.
pub(crate) fn counted(text: &str) -> u64 {
    assert_eq!(number_after(text, "number of failed transactions: "), 0, "{text}");
    number_after(text, "number of transactions actually processed: ")
}

/// The sums of the four tables must be equal, read through the heap and through the index.
pub(crate) fn check_sums(query: &mut dyn FnMut(&str) -> String) {
    let history = query("SELECT coalesce(sum(delta), 0) FROM pgbench_history");
    for (column, table) in
        [("abalance", "accounts"), ("tbalance", "tellers"), ("bbalance", "branches")]
    {
        let sum = query(&format!("SELECT sum({column}) FROM pgbench_{table}"));
        assert_eq!(sum, history, "{table}");
    }
    let by_index =
        query("SET enable_seqscan = off; SELECT sum(abalance) FROM pgbench_accounts WHERE aid > 0");
    assert_eq!(by_index, history);
}

/// The options that set the duration of a run.
fn span(clients: u32) -> [String; 2] {
    match long() {
        true => ["-T".to_owned(), "10".to_owned()],
        false => ["-t".to_owned(), if clients == 1 { "30" } else { "8" }.to_owned()],
    }
}

#[test]
fn every_script_runs_in_every_mode() {
    let f = Fixture::new("matrix", &[]);
    let scale = if long() { "10" } else { "1" };
    f.pgbench(&["-i", "-q", "-s", scale]);
    let mut expected = 0;
    for script in ["tpcb-like", "simple-update", "select-only"] {
        for mode in ["simple", "extended", "prepared"] {
            for clients in [1, 8, 32] {
                let span = span(clients);
                let text = f.pgbench(&[
                    "-n",
                    "-b",
                    script,
                    "-M",
                    mode,
                    "-c",
                    &clients.to_string(),
                    "-j",
                    if clients == 1 { "1" } else { "2" },
                    &span[0],
                    &span[1],
                ]);
                let n = counted(&text);
                assert!(n >= u64::from(clients), "{text}");
                match script {
                    "tpcb-like" => expected += n,
                    // This script does not update tellers and branches, so their sums are
                    // corrected.
                    "simple-update" => {
                        expected += n;
                        f.server.query(
                            "UPDATE pgbench_tellers SET tbalance = tbalance + \
                             (SELECT sum(delta) FROM pgbench_history) - \
                             (SELECT sum(tbalance) FROM pgbench_tellers) WHERE tid = 1; \
                             UPDATE pgbench_branches SET bbalance = bbalance + \
                             (SELECT sum(delta) FROM pgbench_history) - \
                             (SELECT sum(bbalance) FROM pgbench_branches) WHERE bid = 1",
                        );
                    }
                    _ => {}
                }
                let found = f.server.query("SELECT count(*) FROM pgbench_history");
                assert_eq!(found, expected.to_string(), "{script} {mode} {clients}");
                check_sums(&mut |sql| f.server.query(sql));
            }
        }
    }
    f.stop(&[]);
}

#[test]
fn every_way_to_initialize_pgbench_works() {
    let f = Fixture::new("filled", &[]);
    let rows = |f: &Fixture| {
        f.server.query(
            "SELECT (SELECT count(*) FROM pgbench_accounts), (SELECT count(*) \
             FROM pgbench_tellers), \
             (SELECT count(*) FROM pgbench_branches), (SELECT count(*) FROM pgbench_history)",
        )
    };
    for (args, keys, persistence) in [
        (&["-I", "dtgvp"][..], "p", "p"),
        (&["-I", "dtGvp"], "p", "p"),
        (&["--foreign-keys"], "f,p", "p"),
        (&["-I", "dtGvpf"], "f,p", "p"),
        (&["--unlogged-tables"], "p", "u"),
        (&["-F", "50", "--no-vacuum"], "p", "p"),
        (&["-I", "dtpg", "-n"], "p", "p"),
    ] {
        let all: Vec<&str> = ["-i", "-q"].iter().chain(args).copied().collect();
        f.pgbench(&all);
        assert_eq!(rows(&f), "100000|10|1|0", "{args:?}");
        let found = f.server.query(
            "SELECT string_agg(DISTINCT contype::text, ',' ORDER BY contype::text) \
             FROM pg_constraint WHERE conrelid::regclass::text LIKE 'pgbench%'",
        );
        assert_eq!(found, keys, "{args:?}");
        let found = f.server.query(
            "SELECT string_agg(DISTINCT relpersistence::text, ',') FROM pg_class \
             WHERE relname LIKE 'pgbench%' AND relkind IN ('r', 'i')",
        );
        assert_eq!(found, persistence, "{args:?}");
        assert_eq!(counted(&f.pgbench(&["-t", "20", "-c", "4"])), 80, "{args:?}");
        check_sums(&mut |sql| f.server.query(sql));
    }
    f.stop(&[]);
}

/// A program that runs in the background; killed on drop.
pub(crate) struct Background(std::process::Child);

impl Background {
    pub(crate) fn spawn(mut command: Command) -> Background {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Background(command.spawn().expect("the program can be run"))
    }

    /// The output of the program, which must succeed.
    pub(crate) fn finish(mut self) -> String {
        use std::io::Read;
        let (mut text, mut errors) = (String::new(), String::new());
        // Little is written to stderr, so its pipe does not become full.
        self.0.stdout.take().map(|mut s| s.read_to_string(&mut text));
        self.0.stderr.take().map(|mut s| s.read_to_string(&mut errors));
        let status = self.0.wait().expect("a child can be waited for");
        assert!(status.success(), "{status}\n{text}{errors}");
        text
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
