//! Hostile sessions concurrent with pgbench in 4 GiB of memory, with the default of
//! `norsu.memory_limit`: pgbench loses no connection and no transaction, each hostile statement
//! ends with its own error or within two seconds of its `statement_timeout`, and the server's
//! memory stays within the limit.
//!
//! `NORSU_HOSTILE=part` runs the attacks whose name or text contains the part, and prints each.

use super::clients::{self, WAIT_MAX};
use super::memory_limit::{Limit, MEMORY_BYTES};
use super::raw::Raw;
use super::{depth, numbers, sets, values};
use crate::memory::kilobytes;
use crate::pgbench::{check_sums, counted, long};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use testkit::dir::TempDir;
use testkit::norsu::{self, Norsu};
use testkit::postgres::{chown_to_server_user, run};

/// Time that a statement may take beyond its timeout. A debug build runs concurrently with other
/// tests, and detects only loops without checks for interrupts.
const GRACE: Duration = Duration::from_secs(if cfg!(debug_assertions) { 15 } else { 2 });
const SESSIONS: usize = 4;
/// One of this number of attacks is run in the short form.
const SHORT_SHARE: usize = 16;

/// The statements of one session, each of which has a timeout.
struct Attack {
    name: String,
    kind: Kind,
}

enum Kind {
    Statements(Vec<String>),
    Client(fn(&mut Raw) -> std::io::Result<String>),
}

fn attacks() -> Vec<Attack> {
    let alone = |name: &str, sql: String| Attack {
        name: name.to_owned(),
        kind: Kind::Statements(vec![sql]),
    };
    let texts = values::VALUES.iter().chain(sets::SETS).chain(numbers::NUMBERS);
    let mut all: Vec<Attack> = texts.map(|sql| alone(sql, (*sql).to_owned())).collect();
    all.extend(depth::statements().into_iter().map(|(name, sql)| alone(name, sql)));
    all.extend(sets::SCRIPTS.iter().map(|script| Attack {
        name: script[0].to_owned(),
        kind: Kind::Statements(script.iter().map(|s| (*s).to_owned()).collect()),
    }));
    let sequences = depth::sequences(if long() { 20_000 } else { 300 });
    all.extend(sequences.into_iter().map(|(name, statements)| Attack {
        name: name.to_owned(),
        kind: Kind::Statements(statements),
    }));
    all.extend(
        clients::CLIENTS
            .iter()
            .map(|(name, peer)| Attack { name: (*name).to_owned(), kind: Kind::Client(*peer) }),
    );
    match std::env::var("NORSU_HOSTILE") {
        Ok(part) => all.retain(|a| a.name.contains(&part) || a.statements().contains(&part)),
        // Adjacent entries of the lists use the same resource, so the order of the entries is
        // shuffled.
        Err(_) => {
            spread(&mut all);
            if !long() {
                all.truncate(all.len() / SHORT_SHARE);
            }
        }
    }
    all
}

/// Shuffles the entries. The order is the same in each run.
fn spread<T>(all: &mut [T]) {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for i in (1..all.len()).rev() {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(i, (state >> 33) as usize % (i + 1));
    }
}

impl Attack {
    fn statements(&self) -> String {
        match &self.kind {
            Kind::Statements(all) => {
                all.iter().map(|s| shortened(s)).collect::<Vec<_>>().join("; ")
            }
            Kind::Client(_) => String::new(),
        }
    }
}

fn shortened(sql: &str) -> String {
    sql.chars().take(150).collect()
}

/// The server under attack, and the errors found.
struct Target {
    socket: PathBuf,
    pid: u32,
    timeout: Duration,
    /// Prints each statement.
    verbose: bool,
    wrong: Mutex<Vec<String>>,
}

impl Target {
    fn report(&self, what: String) {
        println!("WRONG: {what}");
        self.wrong.lock().expect("no panic").push(what);
    }

    fn connect(&self) -> std::io::Result<Raw> {
        let mut raw = Raw::connect(&self.socket, self.timeout + WAIT_MAX)?;
        raw.query(&format!("SET statement_timeout = '{}ms'", self.timeout.as_millis()))?;
        Ok(raw)
    }

    /// Runs an attack; returns the statements that exceeded their time.
    fn attack(&self, attack: &Attack) -> Vec<String> {
        let outcome = self.connect().and_then(|mut raw| match &attack.kind {
            Kind::Statements(statements) => self.run_statements(&attack.name, &mut raw, statements),
            Kind::Client(client) => {
                let started = Instant::now();
                let code = client(&mut raw)?;
                let late =
                    self.check_time(&attack.name, &attack.name, &code, started.elapsed(), GRACE);
                Ok(late.into_iter().collect())
            }
        });
        outcome.unwrap_or_else(|e| {
            self.report(format!("{e}: {} {}", shortened(&attack.name), attack.statements()));
            Vec::new()
        })
    }

    fn run_statements(
        &self,
        name: &str,
        raw: &mut Raw,
        sql: &[String],
    ) -> std::io::Result<Vec<String>> {
        let mut late = Vec::new();
        for sql in sql {
            raw.send_query(sql)?;
            let started = Instant::now();
            let code = raw.outcome()?;
            late.extend(self.check_time(name, sql, &code, started.elapsed(), Duration::ZERO));
        }
        Ok(late)
    }

    /// A message if the statement has exceeded its time. `sending` is the time that the client
    /// itself may take.
    fn check_time(
        &self,
        name: &str,
        sql: &str,
        code: &str,
        took: Duration,
        sending: Duration,
    ) -> Option<String> {
        let what = format!("{took:?} {code:5} {} {}", shortened(name), shortened(sql));
        if self.verbose {
            println!("{} kB: {what}", resident(self.pid));
        }
        // An internal error is a bug; an undefined name is an error in the list of attacks.
        // PostgreSQL's grammar refuses statements that are too deep with 42601, and so does Norsu.
        let strange = code.starts_with("XX") || ["42703", "42883", "42P01"].contains(&code);
        if strange && !is_expected(name) {
            self.report(what.clone());
        }
        (took > self.timeout + GRACE + sending).then_some(what)
    }

    /// Runs all attacks once, from several sessions. Statements that exceeded their time are
    /// repeated with pgbench as the only other load: with more sessions than processors, a delay is
    /// not caused by the server.
    fn run_all(&self, attacks: &[Attack]) {
        let next = AtomicUsize::new(0);
        let late = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..SESSIONS {
                scope.spawn(|| {
                    while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let first = self.attack(attack);
                        if !first.is_empty() {
                            late.lock().expect("no panic").push((attack, first));
                        }
                    }
                });
            }
        });
        for (attack, first) in late.into_inner().expect("no panic") {
            println!("late: {first:?}");
            self.attack(attack).into_iter().for_each(|what| self.report(what));
        }
    }

    /// Runs the same statement in many sessions concurrently, so that together they reach the
    /// limit.
    fn run_concurrently(&self, sql: &str, sessions: usize) {
        let attack = Attack { name: sql.to_owned(), kind: Kind::Statements(vec![sql.to_owned()]) };
        let all = || -> Vec<String> {
            std::thread::scope(|scope| {
                let each: Vec<_> =
                    (0..sessions).map(|_| scope.spawn(|| self.attack(&attack))).collect();
                each.into_iter().flat_map(|s| s.join().expect("no panic")).collect()
            })
        };
        let first = all();
        if !first.is_empty() {
            println!("late: {first:?}");
            all().into_iter().for_each(|what| self.report(what));
        }
    }
}

/// The resident memory of the process; 0 if it has exited.
fn resident(pid: u32) -> usize {
    match std::path::Path::new(&format!("/proc/{pid}/status")).exists() {
        true => kilobytes(pid, "VmRSS:"),
        false => 0,
    }
}

/// Attacks whose errors are syntax errors or undefined names.
fn is_expected(name: &str) -> bool {
    [
        "syntax error at the end",
        "fields",
        "names with dots",
        "aliases",
        "errors, then",
        "SELECT repeat('a', 10000000)::regclass",
        "subscripts",
    ]
    .iter()
    .any(|n| name.starts_with(n))
}

/// Runs pgbench until `done`; returns the number of its transactions.
fn load(server: &Norsu, script: &[&str], done: &AtomicBool) -> u64 {
    let mut sum = 0;
    while !done.load(Ordering::Relaxed) {
        let mut bench = server.client("pgbench");
        bench
            .args(["-n", "-c", "4", "-T", if long() { "20" } else { "4" }])
            .args(script)
            .arg("postgres");
        let text = run(bench);
        let n = counted(&text);
        assert!(n > 0 && !text.contains("aborted"), "{text}");
        sum += n;
    }
    sum
}

/// The last lines of the log, without the long statements in them.
fn log_end(server: &Norsu) -> String {
    let log = server.log();
    let mut lines: Vec<String> = log.lines().rev().take(40).map(shortened).collect();
    lines.reverse();
    lines.join("\n")
}

/// Statements that many sessions run at once.
const CONCURRENT: &[(&str, usize)] = &[
    ("SELECT length(repeat('x', 400000000))", 8),
    ("SELECT array_length(array_agg(g), 1) FROM generate_series(1, 1000000000) g", 8),
    ("SELECT length(string_agg(repeat('x', 1000000), ',')) FROM generate_series(1, 2000)", 8),
    ("SELECT length(encode(repeat('x', 90000000)::bytea, 'hex'))", 8),
    ("SELECT jsonb_agg(g) FROM generate_series(1, 100000000) g", 8),
    (
        "SELECT count(*) FROM (SELECT DISTINCT repeat('x', 1000) || g \
         FROM generate_series(1, 10000000) g) s",
        8,
    ),
    ("SELECT length(repeat('x', 3000000)), pg_sleep(0.5)", 60),
    ("SELECT length(replace(repeat('a', 1000), 'a', repeat('b', 20000))), pg_sleep(0.5)", 60),
    ("SELECT length(array_agg(repeat('x', 1000))::text) FROM generate_series(1, 2000)", 60),
];

#[test]
fn hostile_statements_end_in_time_and_do_not_affect_pgbench() {
    let dir = TempDir::new("target");
    chown_to_server_user(dir.path());
    let data = dir.path().join("data");
    norsu::init(&data);
    let limit = Limit::find();
    // Temporary files are limited, because a full disk would end any server at its next log write.
    let settings = ["shared_buffers=128MB", "max_connections=200", "temp_file_limit=1GB"];
    let mut server = limit.start(&data, &settings.map(|s| ["-c", s]).concat());
    run({
        let mut fill = server.client("pgbench");
        fill.args(["-i", "-q", "-s", "2", "postgres"]);
        fill
    });
    let target = Target {
        socket: server.socket(),
        pid: server.pid(),
        timeout: if long() { Duration::from_secs(4) } else { Duration::from_secs(1) },
        verbose: std::env::var_os("NORSU_HOSTILE").is_some() || long(),
        wrong: Mutex::default(),
    };
    let attacks = attacks();
    let done = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let loads = [&["-b", "select-only"][..], &["-b", "tpcb-like", "-M", "prepared"]]
            .map(|script| scope.spawn(|| load(&server, script, &done)));
        let silent_connections = clients::silent_connections(&target.socket, 20);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            target.run_all(&attacks);
            let run_concurrently = if long() { CONCURRENT } else { &CONCURRENT[..3] };
            for (sql, sessions) in run_concurrently {
                target.run_concurrently(sql, *sessions);
            }
        }));
        drop(silent_connections);
        done.store(true, Ordering::Relaxed);
        let counts = loads.map(|load| load.join());
        assert!(outcome.is_ok(), "the attack itself has failed");
        counts
    });
    assert!(server.is_running(), "the server has ended:\n{}", log_end(&server));
    let peak = kilobytes(server.pid(), "VmHWM:");
    println!("{} attacks, {counts:?} transactions beside", attacks.len());
    println!("{peak} kB at the peak, {}", limit.describe());
    let counts =
        counts.map(|n| n.unwrap_or_else(|_| panic!("pgbench has lost:\n{}", log_end(&server))));
    let wrong = target.wrong.lock().expect("no panic");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(peak as u64 * 1024 <= MEMORY_BYTES, "{peak} kB");
    assert_eq!(server.query("SELECT count(*) FROM pgbench_history"), counts[1].to_string());
    check_sums(&mut |sql| server.query(sql));
    let log = server.shut_down(&data);
    assert!(!log.contains("PANIC") && !log.contains("panicked"), "{log}");
}
