//! Differential test of random message sequences: both servers must send the same messages.
//!
//! A sequence is sent completely, and then the client closes its sending side. A server that reads
//! the end of the input discards answers that it has not flushed. So the answers to a sequence that
//! ends after any message are those that were flushed by then: by a Flush, a Sync or an error.
//!
//! Sequences are run in batches. Each batch begins with new tables, which its sequences change.
//! `NORSU_WIRE_SEED=n` runs batch n, `n..m` a range of batches; `NORSU_TEST_LONG=1` runs many.

mod forms;
mod generate;
mod texts;

use super::client::{Bytes, Client, Message};
use crate::pair::Pair;
use generate::{Generator, Step};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use texts::Texts;

/// Number of sequences in a batch.
const BATCH: u64 = 50;
/// Number of concurrent runs, each with a database of its own on both servers.
const WORKERS: usize = 2;
/// A run ends after this many different kinds of differences.
const WRONG_MAX: usize = 60;

/// The statements at the start of every batch.
const TABLES: &[&str] = &[
    "drop schema public cascade; create schema public",
    "create table t (a int4 primary key, b text default 'd', c numeric(6, 2) check (c > 0))",
    "insert into t select g, 'b' || g, g * 1.5 from generate_series(1, 5) g",
    "create table u (k int4 references t, v date, w int4[])",
    "insert into u select g, date '2024-01-31' + g, array[g, null] from generate_series(1, 3) g",
    "create view vt as select a, b from t where a > 1",
    "create sequence sq",
    "create domain dm as int4 not null check (value > 0)",
    "create type mood as enum ('sad', 'ok')",
    "create type pair as (x int4, y text)",
    "create function plus(p int4, q int4 default 1) returns int4 language sql as 'select p + q'",
    "create function many(p int4) returns setof int4 language sql \
     as 'select g from generate_series(1, p) g'",
    "create procedure put(p int4, q text) language sql as 'insert into t values (p, q)'",
];

#[test]
fn random_messages_have_the_answers_of_postgres() {
    let pair = Pair::start_both(
        "wire-random",
        "C.UTF-8",
        &["max_connections=300", "fsync=off", "autovacuum=off"],
    );
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    let batches = match std::env::var("NORSU_WIRE_SEED") {
        Ok(text) => {
            let number = |n: &str| n.parse::<u64>().expect("a number");
            let range = text.split_once("..").map(|(from, to)| number(from)..number(to));
            range.unwrap_or_else(|| number(&text)..number(&text) + 1)
        }
        Err(_) if long => 0..400,
        Err(_) => 0..16,
    };
    let (next, start) = (AtomicU64::new(batches.start), Instant::now());
    let texts = Texts::read(&mut pair.real.connect("postgres"));
    let wrong = Mutex::new(Wrong::new());
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (pair, texts, next, wrong, end) = (&pair, &texts, &next, &wrong, batches.end);
            scope.spawn(move || {
                let databases = Databases::new(pair, worker);
                loop {
                    let batch = next.fetch_add(1, Ordering::Relaxed);
                    let enough = wrong.lock().expect("no panic while it is held").len();
                    if batch >= end || enough >= WRONG_MAX {
                        break;
                    }
                    databases.run_batch(batch, texts, wrong);
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("no panic while it was held");
    eprintln!(
        "{} sequences in {} s, differences: {:?}",
        (batches.end - batches.start) * BATCH,
        start.elapsed().as_secs(),
        wrong.iter().map(|(first, (_, count))| (count, first)).collect::<Vec<_>>(),
    );
    let report: Vec<&str> = wrong.values().map(|(report, _)| report.as_str()).collect();
    assert!(report.is_empty(), "{} kinds of differences:\n{}", report.len(), report.join("\n"));
    assert!(!pair.ours.log().contains("panicked"), "{}", pair.ours.log());
}

/// By the first answers that differ, Norsu's and PostgreSQL's: the shortened sequence of the first
/// occurrence, and the number of occurrences.
type Wrong = BTreeMap<String, (String, u32)>;

/// A database on each server.
struct Databases<'p> {
    pair: &'p Pair,
    database: String,
    sockets: [PathBuf; 2],
}

impl<'p> Databases<'p> {
    fn new(pair: &'p Pair, number: usize) -> Databases<'p> {
        let database = format!("worker{number}");
        let databases = Databases { pair, sockets: pair.sockets(), database };
        for socket in &databases.sockets {
            Client::connect(socket).column(&format!("create database {}", databases.database));
        }
        databases
    }

    /// Starts a session. Ended sessions may occupy all connection slots for some time, and
    /// PostgreSQL may be in recovery, which sets `recovers`.
    fn connect_noting(&self, socket: &Path, recovers: &mut bool) -> Client {
        let parameters = [("user", "postgres"), ("database", self.database.as_str())];
        loop {
            let (client, greeting) = Client::start(socket, &parameters);
            let last = greeting.last();
            let code = last.and_then(|last| last.field(b'C')).unwrap_or_default();
            match code.as_str() {
                _ if last.is_some_and(|last| last.kind == b'Z') => return client,
                "53300" => {}
                "" | "57P02" | "57P03" if socket == self.sockets[1] => *recovers = true,
                _ => {
                    let said: Vec<String> = greeting.iter().map(Message::show).collect();
                    panic!("no session: {said:?}\n{}", self.pair.ours.log());
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn connect(&self, socket: &Path) -> Client {
        self.connect_noting(socket, &mut false)
    }

    /// True if PostgreSQL has just crashed. Some sequences crash it, which ends all its sessions.
    fn postgres_crashed(&self, said: &[String]) -> bool {
        let mut recovers = said.iter().any(|line| line.contains("C=57P02"));
        // The postmaster notices the end of a process with a delay.
        std::thread::sleep(Duration::from_millis(50));
        let mut client = self.connect_noting(&self.sockets[1], &mut recovers);
        client.send(&Bytes::new().query("select 1").0);
        recovers |= client.until_ready().last().is_none_or(|last| last.kind != b'Z');
        self.connect_noting(&self.sockets[1], &mut recovers);
        recovers
    }

    fn make_tables(&self) {
        for socket in &self.sockets {
            let mut client = self.connect(socket);
            for sql in TABLES {
                client.column(sql);
            }
        }
    }

    fn run_batch(&self, batch: u64, texts: &Texts, wrong: &Mutex<Wrong>) {
        self.make_tables();
        for i in 0..BATCH {
            let sequence = Generator::new(texts, batch * BATCH + i).sequence();
            let Some(found) = self.differ(&sequence) else { continue };
            let known = |first: &String| {
                let mut wrong = wrong.lock().expect("no panic while it is held");
                wrong.get_mut(first).map(|(_, count)| *count += 1).is_some()
            };
            if !known(&found.first) {
                let found = self.shorten(sequence).unwrap_or(found);
                if !known(&found.first) {
                    let report = format!("batch {batch}, sequence {i}:\n{}", found.report);
                    eprintln!("{report}");
                    let mut wrong = wrong.lock().expect("no panic while it is held");
                    wrong.insert(found.first, (report, 1));
                }
            }
            self.make_tables();
        }
    }

    /// The difference between the servers' answers to the steps, if there is one.
    fn differ(&self, steps: &[Step]) -> Option<Difference> {
        if !generate::is_allowed(steps) {
            return None;
        }
        let bytes: Vec<u8> = steps.iter().flat_map(|s| &s.bytes.0).copied().collect();
        let [ours, theirs] = [0, 1].map(|i| self.answers(&self.sockets[i], &bytes));
        if ours == theirs {
            return None;
        }
        // PostgreSQL warns about portals that it has lost.
        let lost_a_portal = theirs.iter().any(|line| line.contains("skipping cleanup for portal"));
        if lost_a_portal || self.postgres_crashed(&theirs) {
            return None;
        }
        let mut report = String::new();
        for step in steps {
            let _ = writeln!(report, "  > {}", step.what);
        }
        let at = ours.iter().zip(&theirs).take_while(|(a, b)| a == b).count();
        for line in &theirs[at.saturating_sub(2)..at] {
            let _ = writeln!(report, "    both: {line}");
        }
        for (name, lines) in [("ours", &ours), ("real", &theirs)] {
            for line in lines[at..].iter().take(3) {
                let _ = writeln!(report, "    {name}: {line}");
            }
        }
        let line = |lines: &[String]| lines.get(at).map_or("nothing", String::as_str).to_owned();
        Some(Difference { first: format!("{} | {}", line(&ours), line(&theirs)), report })
    }

    fn answers(&self, socket: &Path, bytes: &[u8]) -> Vec<String> {
        let mut client = self.connect(socket);
        client.send(bytes);
        client.close_input();
        std::iter::from_fn(|| client.read()).map(|m| show(&m)).collect()
    }

    /// Removes steps as long as the answers differ. Returns `None` if they are equal with new
    /// tables.
    fn shorten(&self, mut steps: Vec<Step>) -> Option<Difference> {
        let differ = |steps: &[Step]| {
            self.make_tables();
            self.differ(steps)
        };
        let mut found = differ(&steps)?;
        let mut i = steps.len();
        while i > 0 {
            i -= 1;
            let step = steps.remove(i);
            match differ(&steps) {
                Some(shorter) => found = shorter,
                None => steps.insert(i, step),
            }
        }
        Some(found)
    }
}

/// Different answers.
struct Difference {
    /// The first answers that differ, Norsu's and PostgreSQL's.
    first: String,
    /// The steps and both answers.
    report: String,
}

/// As [`Message::show`], and also shows the routine that reported an error if clients depend on it.
fn show(message: &Message) -> String {
    let mut line = message.show();
    if message.kind == b'E'
        && let Some(routine) = message.field(b'R')
        && ["RevalidateCachedQuery", "RI_PlanCheck"].contains(&routine.as_str())
    {
        let _ = write!(line, " R={routine}");
    }
    line
}
