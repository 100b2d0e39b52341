//! Schedules of several sessions on both servers: which sessions wait for locks, their answers, and
//! the order of events.
//!
//! A schedule in one of `tests/sql/schedules*.txt` begins with `# name` and has steps `session:
//! statement`, in order. A step whose session waits for a lock (according to `pg_locks`) stays
//! waiting; after each further step the answers of the sessions that were unblocked are read. A
//! step `session!: statement` ends by itself even if it waits for a lock (by a deadlock or
//! timeout). The transcripts of both servers must be equal.

use crate::corpus::{ComparedReply, compared_reply, connect_both, folder, read};
use crate::pair::Pair;
use std::time::{Duration, Instant};
use testkit::client::{Client, Reply};

/// Time limit of a step during which no session waits for a lock.
const WAIT_MAX: Duration = Duration::from_secs(30);

const FILES: [&str; 6] = [
    "schedules.txt",
    "schedules-dependencies.txt",
    "schedules-dropped.txt",
    "schedules-in-place.txt",
    "schedules-prepared.txt",
    "schedules-references.txt",
];

struct Step {
    session: usize,
    /// The step ends without an action of another session.
    ends_by_itself: bool,
    sql: String,
}

struct Schedule {
    name: String,
    steps: Vec<Step>,
}

const SESSIONS_MAX: usize = 4;
const ENDS_BY_ITSELF: &str = "!";

fn parse(text: &str) -> Vec<Schedule> {
    let mut all: Vec<Schedule> = Vec::new();
    for line in text.lines().filter(|l| !l.is_empty() && !l.starts_with("--")) {
        if let Some(name) = line.strip_prefix("# ") {
            all.push(Schedule { name: name.to_owned(), steps: Vec::new() });
            continue;
        }
        let (session, sql) = line.split_once(": ").unwrap_or_else(|| panic!("step {line:?}"));
        let ends_by_itself = session.ends_with('!');
        let session: usize =
            session.trim_end_matches('!').parse().unwrap_or_else(|e| panic!("{line:?}: {e}"));
        assert!(session < SESSIONS_MAX, "{line}");
        let schedule = all.last_mut().expect("a name before the steps");
        schedule.steps.push(Step { session, ends_by_itself, sql: sql.to_owned() });
    }
    all
}

/// The sessions of one server; session 0 reads `pg_locks` and never waits.
struct Sessions {
    clients: Vec<Client>,
    /// For each session the statement that has not been answered.
    waiting: Vec<Option<String>>,
    transcript: Vec<String>,
}

/// The answer without process ids and transaction ids, which deadlock reports contain.
fn reply_without_ids(sql: &str, reply: Reply) -> ComparedReply {
    let mut seen = compared_reply(sql, reply);
    if let Some(e) = seen.error.as_mut().filter(|e| e.code == "40P01") {
        e.detail.retain(|c| !c.is_ascii_digit());
    }
    seen
}

impl Sessions {
    fn new(clients: Vec<Client>) -> Sessions {
        let waiting = clients.iter().map(|_| None).collect();
        Sessions { clients, waiting, transcript: Vec::new() }
    }

    fn blocked(&mut self, session: usize) -> bool {
        let sql = format!(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = {}",
            self.clients[session].pid
        );
        self.clients[0].value(&sql) != "0"
    }

    /// Reads the session's answer unless the session waits for a lock.
    fn settle(&mut self, session: usize, what: &str) {
        let Some(sql) = self.waiting[session].clone() else { return };
        let start = Instant::now();
        loop {
            let answer = self.clients[session].receive_within(Duration::from_millis(2));
            if let Some(reply) = answer.unwrap_or_else(|e| panic!("{sql}: {e}")) {
                self.waiting[session] = None;
                self.transcript.push(format!(
                    "{what}{session}: {sql} -> {:?}",
                    reply_without_ids(&sql, reply)
                ));
                return;
            }
            // Checked twice, because a lock may be requested and granted between the two checks.
            let may_wait = session != 0 && what != ENDS_BY_ITSELF;
            if may_wait && self.blocked(session) && self.blocked(session) {
                let answer = self.clients[session].receive_within(Duration::from_millis(20));
                if let Some(reply) = answer.unwrap_or_else(|e| panic!("{sql}: {e}")) {
                    self.waiting[session] = None;
                    self.transcript.push(format!(
                        "{what}{session}: {sql} -> {:?}",
                        reply_without_ids(&sql, reply)
                    ));
                    return;
                }
                if what.is_empty() {
                    self.transcript.push(format!("{session}: {sql} waits"));
                }
                return;
            }
            assert!(start.elapsed() < WAIT_MAX, "{sql}: no answer and no lock waited for");
        }
    }

    fn step(&mut self, step: &Step) {
        let Step { session, ends_by_itself, sql } = step;
        if self.waiting[*session].is_some() {
            // The previous steps must have unblocked the session.
            self.settle_all();
            assert!(self.waiting[*session].is_none(), "session {session} still waits before {sql}");
        }
        self.clients[*session].send(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        self.waiting[*session] = Some(sql.clone());
        let what = if *ends_by_itself { ENDS_BY_ITSELF } else { "" };
        self.settle(*session, what);
        self.settle_all();
    }

    fn settle_all(&mut self) {
        for session in 1..self.clients.len() {
            if self.waiting[session].is_some() {
                self.settle(session, "then ");
            }
        }
    }

    /// Ends the transactions of all sessions.
    fn end(&mut self) {
        for session in 0..self.clients.len() {
            self.settle(session, "at the end ");
            if self.waiting[session].is_none() {
                self.clients[session].query("ROLLBACK").unwrap_or_else(|e| panic!("{e}"));
                self.settle_all();
            }
        }
        assert!(self.waiting.iter().all(Option::is_none), "a session waits forever");
    }
}

#[test]
fn schedules_have_the_transcripts_of_postgres() {
    let settings = ["deadlock_timeout=10ms", "max_prepared_transactions=3"];
    let pair = Pair::start_both("schedules", "C", &settings);
    let schedules: Vec<Schedule> =
        FILES.iter().flat_map(|file| parse(&read(&folder().join(file)))).collect();
    let mut wrong = Vec::new();
    for schedule in &schedules {
        let [ours, real] = connect_both(&pair, SESSIONS_MAX).map(|clients| {
            let mut sessions = Sessions::new(clients);
            schedule.steps.iter().for_each(|s| sessions.step(s));
            sessions.end();
            sessions.transcript
        });
        if ours != real {
            let at = ours
                .iter()
                .zip(&real)
                .position(|(a, b)| a != b)
                .unwrap_or(ours.len().min(real.len()));
            let line = |t: &[String]| t.get(at).cloned().unwrap_or_default();
            wrong.push(format!(
                "{}:\n    want {}\n    have {}",
                schedule.name,
                line(&real),
                line(&ours)
            ));
        }
        assert!(schedule.steps.len() > 2, "{}", schedule.name);
    }
    assert!(schedules.len() > 20);
    assert!(
        wrong.is_empty(),
        "{} of {} differ:\n{}",
        wrong.len(),
        schedules.len(),
        wrong.join("\n")
    );
}
