//! A connection to each server with pipelined statements: messages are sent before the answers to
//! earlier ones are read, so that neither server waits for the test or for the other server.

use super::generate::{Generator, Statement};
use crate::corpus::{ComparedReply, compared_reply};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use testkit::client::{Client, Reply};

/// Limit of the bytes sent and not yet answered, so that no `send` blocks while a server waits for
/// its answers to be read.
const AHEAD_BYTES_MAX: usize = 32 * 1024;

/// Time limit for an answer. A server that exceeds it ignores the statement timeout.
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Norsu should not exceed the timeout if PostgreSQL answers within this part of it.
const QUICK_PART: u32 = 10;

/// Limit of statements that wait to be repeated.
const AGAIN_MAX: usize = 20;

const QUERY_CANCELED: &str = "57014";

/// PostgreSQL's planner raises this internal error for some joins with LATERAL queries.
const NO_JOIN: &str = "failed to build any ";

/// If the answers differ, PostgreSQL is queried again with each of these settings, which must not
/// change its answers. If its answer is then the same as Norsu's, its answers depend on its plan.
const OTHER_PLANS: [&str; 7] = [
    "SET enable_seqscan = on",
    "SET enable_hashagg = off",
    "SET enable_memoize = off",
    "SET enable_sort = off; SET enable_incremental_sort = off",
    "SET enable_hashjoin = off; SET enable_mergejoin = off",
    "SET enable_nestloop = off; SET enable_hashjoin = off",
    "SET join_collapse_limit = 1; SET from_collapse_limit = 1; SET enable_hashagg = off",
];

/// The purpose of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Its answers are compared; `ordered` is true if the order of rows is total.
    Step { ordered: bool },
    /// Settings of Norsu only.
    Set,
    /// It must succeed on both servers.
    Must,
}

struct Message {
    sql: String,
    role: Role,
}

struct InFlight {
    seed: u64,
    statement: Statement,
    messages: Vec<Message>,
}

impl InFlight {
    fn new(seed: u64, statement: Statement) -> InFlight {
        let mut messages = Vec::new();
        let set: Vec<String> = statement.settings.iter().map(|s| format!("SET {s}")).collect();
        if !set.is_empty() {
            messages.push(Message { sql: set.join("; "), role: Role::Set });
        }
        messages.extend(statement.steps.iter().map(|step| Message {
            sql: step.sql.clone(),
            role: Role::Step { ordered: step.ordered },
        }));
        if statement.prepares {
            messages.push(Message { sql: "DEALLOCATE ALL".to_owned(), role: Role::Must });
        }
        if statement.changes {
            messages.push(Message {
                sql: "SELECT * FROM a; SELECT * FROM b; SELECT * FROM c; SELECT * FROM e"
                    .to_owned(),
                role: Role::Step { ordered: false },
            });
        }
        if statement.opened {
            messages.push(Message { sql: "ROLLBACK".to_owned(), role: Role::Must });
        }
        if !set.is_empty() {
            let names = statement.settings.iter().map(|s| s.split(' ').next().unwrap_or_default());
            let reset: Vec<String> = names.map(|name| format!("RESET {name}")).collect();
            messages.push(Message { sql: reset.join("; "), role: Role::Set });
        }
        InFlight { seed, statement, messages }
    }

    fn bytes(&self) -> usize {
        self.messages.iter().map(|m| m.sql.len() + 6).sum()
    }
}

/// Numbers of compared statements and messages.
#[derive(Default, Clone, Copy)]
pub(super) struct Counts {
    /// Generated statements.
    pub statements: usize,
    /// Compared messages.
    pub steps: usize,
    /// Statements that were cancelled by a server, or that PostgreSQL could not plan; their later
    /// messages were not compared.
    pub canceled: usize,
    /// Cancelled statements that only Norsu cancelled although PostgreSQL answered quickly, after
    /// they were repeated alone.
    pub slow_in_norsu: usize,
    /// Messages that both servers refused with the same error.
    pub refused: usize,
    /// Statements for which PostgreSQL has the same answer as Norsu with another plan
    /// ([`OTHER_PLANS`]).
    pub ambiguous: usize,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.statements += other.statements;
        self.steps += other.steps;
        self.canceled += other.canceled;
        self.slow_in_norsu += other.slow_in_norsu;
        self.refused += other.refused;
        self.ambiguous += other.ambiguous;
    }
}

enum Compared {
    Same,
    /// Both raised the same error.
    Refused(String),
    Other(String),
    /// A server exceeded the timeout, or PostgreSQL failed: the subsequent steps may differ.
    Canceled {
        ours_alone: bool,
    },
}

/// Compares the answers; rows as sets unless the order is total.
fn compare(sql: &str, ordered: bool, mut replies: [Reply; 2]) -> Compared {
    let canceled = replies.each_ref().map(|r| r.code() == QUERY_CANCELED);
    if canceled.contains(&true) {
        return Compared::Canceled { ours_alone: !canceled[0] };
    }
    if !ordered {
        for reply in &mut replies {
            reply.answers.iter_mut().for_each(|a| a.rows.sort());
            // Functions are called in the order of the rows, up to a row that fails, and as often
            // as the plan requires.
            match reply.error {
                Some(_) => reply.notices.clear(),
                None => {
                    reply.notices.sort_by(|a, b| a.message.cmp(&b.message));
                    reply.notices.dedup_by(|a, b| a.message == b.message);
                }
            }
        }
    }
    // `compared_reply` sorts rows unless the text contains ORDER BY, which may be in a sub-select
    // only.
    let [real, ours] = replies.map(|reply| compared_reply("order by", reply));
    if real == ours {
        return match &real.error {
            Some(error) => Compared::Refused(error.message.clone()),
            None => Compared::Same,
        };
    }
    if real.error.as_ref().is_some_and(|e| e.message.starts_with(NO_JOIN)) {
        return Compared::Canceled { ours_alone: false };
    }
    let short = |text: String| text.chars().take(1500).collect::<String>();
    let [real, ours] = [real, ours].map(|seen| short(format!("{seen:?}")));
    Compared::Other(format!("{sql};\n    real {real}\n    ours {ours}"))
}

/// The connections with their pipelined statements.
pub(super) struct Pipeline {
    /// PostgreSQL is the first.
    servers: [Client; 2],
    timeout: Duration,
    in_flight: VecDeque<InFlight>,
    /// Bytes sent and not answered.
    bytes: usize,
    /// Statements to repeat while no others are in progress.
    again: Vec<InFlight>,
    /// Statements with differences that have not been sent to PostgreSQL again.
    unconfirmed: Vec<(InFlight, Vec<String>)>,
    pub(super) counts: Counts,
    shows_refused: bool,
}

impl Pipeline {
    pub(super) fn new(servers: [Client; 2], timeout: Duration) -> Pipeline {
        let mut pipeline = Pipeline {
            servers,
            timeout,
            in_flight: VecDeque::new(),
            bytes: 0,
            again: Vec::new(),
            unconfirmed: Vec::new(),
            counts: Counts::default(),
            shows_refused: std::env::var_os("NORSU_RANDOM_SQL_REFUSED").is_some(),
        };
        pipeline.reset();
        pipeline
    }

    /// Runs the seeds and reports differences as they are found.
    pub(super) fn run(
        &mut self,
        mut seeds: impl FnMut() -> Option<u64>,
        mut differs: impl FnMut(u64, Vec<String>),
    ) {
        loop {
            // Statements that must be repeated alone wait until the pipeline is empty.
            while self.bytes < AHEAD_BYTES_MAX
                && self.again.len() < AGAIN_MAX
                && self.unconfirmed.is_empty()
                && let Some(seed) = seeds()
            {
                self.counts.statements += 1;
                self.send(InFlight::new(seed, Generator::new(seed).statement()));
            }
            if let Some(statement_in_flight) = self.in_flight.pop_front() {
                self.bytes -= statement_in_flight.bytes();
                self.read(statement_in_flight);
            } else if self.again.is_empty() && self.unconfirmed.is_empty() {
                break;
            } else {
                for statement_in_flight in std::mem::take(&mut self.again) {
                    self.run_again(&statement_in_flight);
                }
                for (statement, wrong) in std::mem::take(&mut self.unconfirmed) {
                    match self.settings_of_another_answer(&statement) {
                        Some(settings) => {
                            self.counts.ambiguous += 1;
                            eprintln!("seed {}: several answers, with {settings}", statement.seed);
                        }
                        None => differs(statement.seed, wrong),
                    }
                }
            }
        }
    }

    fn send(&mut self, statement_in_flight: InFlight) {
        for message in &statement_in_flight.messages {
            let first = usize::from(message.role == Role::Set);
            for server in &mut self.servers[first..] {
                server.send(&message.sql).unwrap_or_else(|e| panic!("{}: {e}", message.sql));
            }
        }
        self.bytes += statement_in_flight.bytes();
        self.in_flight.push_back(statement_in_flight);
    }

    fn receive(&mut self, server: usize, sql: &str) -> Reply {
        let reply = self.servers[server].receive_within(WAIT_MAX);
        reply
            .unwrap_or_else(|e| panic!("{sql}: {e}"))
            .unwrap_or_else(|| panic!("no answer, and the timeout is not heeded: {sql}"))
    }

    /// Reads the answers to all messages of a statement. A statement with differences is added to
    /// the unconfirmed ones.
    fn read(&mut self, statement_in_flight: InFlight) {
        let (mut wrong, mut canceled, mut ours_alone, mut lost) = (Vec::new(), false, false, false);
        for Message { sql, role } in &statement_in_flight.messages {
            let ordered = match role {
                Role::Step { ordered } => *ordered,
                Role::Set => {
                    lost |= self.failed(1, sql);
                    continue;
                }
                Role::Must => {
                    lost |= self.failed(0, sql) | self.failed(1, sql);
                    continue;
                }
            };
            let replies = [self.receive(0, sql), self.receive(1, sql)];
            if canceled {
                continue;
            }
            match compare(sql, ordered, replies) {
                Compared::Same => {}
                Compared::Refused(why) => {
                    self.counts.refused += 1;
                    if self.shows_refused {
                        eprintln!("seed {}: {why}: {sql}", statement_in_flight.seed);
                    }
                }
                Compared::Other(difference) => wrong.push(difference),
                Compared::Canceled { ours_alone: alone } => (canceled, ours_alone) = (true, alone),
            }
            self.counts.steps += usize::from(!canceled);
        }
        self.counts.canceled += usize::from(canceled);
        let wrong = with_statement(&statement_in_flight.statement, wrong);
        if !wrong.is_empty() {
            self.unconfirmed.push((statement_in_flight, wrong));
        } else if ours_alone {
            self.again.push(statement_in_flight);
        }
        if lost {
            self.recover();
        }
    }

    /// The first of [`OTHER_PLANS`] with which PostgreSQL's answers are those of Norsu.
    fn settings_of_another_answer(&mut self, statement: &InFlight) -> Option<&'static str> {
        let ours = self.answers(1, statement, None);
        let found = OTHER_PLANS
            .into_iter()
            .find(|settings| ours.is_some() && self.answers(0, statement, Some(settings)) == ours);
        self.reset();
        found
    }

    /// The answers of a server to the messages of a statement; `None` if it was cancelled.
    fn answers(
        &mut self,
        server: usize,
        statement: &InFlight,
        settings: Option<&str>,
    ) -> Option<Vec<ComparedReply>> {
        self.reset();
        if let Some(settings) = settings {
            self.servers[server].must(settings);
        }
        let mut out = Vec::new();
        for Message { sql, role } in &statement.messages {
            if *role == Role::Set && server == 0 {
                continue;
            }
            self.servers[server].send(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let mut reply = self.receive(server, sql);
            if reply.code() == QUERY_CANCELED {
                return None;
            }
            let Role::Step { ordered } = role else { continue };
            if !ordered {
                reply.answers.iter_mut().for_each(|a| a.rows.sort());
            }
            out.push(compared_reply("order by", reply));
        }
        Some(out)
    }

    /// Reads the answer to a message that must succeed. Returns true if the timeout cancelled it,
    /// which may happen on an overloaded machine.
    fn failed(&mut self, server: usize, sql: &str) -> bool {
        match self.receive(server, sql).code() {
            "" => false,
            QUERY_CANCELED => true,
            code => panic!("{sql}: {code}"),
        }
    }

    /// Called after a failed ROLLBACK, SET or RESET: resets the sessions and sends the pipeline
    /// again.
    fn recover(&mut self) {
        let in_flight = std::mem::take(&mut self.in_flight);
        self.bytes = 0;
        for Message { sql, role } in in_flight.iter().flat_map(|f| &f.messages) {
            for server in usize::from(*role == Role::Set)..2 {
                self.receive(server, sql);
            }
        }
        self.reset();
        for statement_in_flight in in_flight {
            self.send(statement_in_flight);
        }
    }

    /// Sets the initial state of a statement.
    fn reset(&mut self) {
        let timeout = format!("SET statement_timeout = {}", self.timeout.as_millis());
        let first = ["ROLLBACK", "SET statement_timeout = 0", "DEALLOCATE ALL", "RESET ALL"];
        for sql in first.into_iter().chain([timeout.as_str()]) {
            for server in &mut self.servers {
                let done = (0..10).any(|_| {
                    server.query(sql).unwrap_or_else(|e| panic!("{sql}: {e}")).code().is_empty()
                });
                assert!(done, "{sql} is canceled each time");
            }
        }
    }

    /// Repeats a statement that only Norsu canceled, on one server after the other.
    fn run_again(&mut self, statement_in_flight: &InFlight) {
        for Message { sql, role } in &statement_in_flight.messages {
            let mut took = [Duration::ZERO; 2];
            let mut codes = [String::new(), String::new()];
            for server in usize::from(*role == Role::Set)..2 {
                let start = Instant::now();
                self.servers[server].send(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
                codes[server] = self.receive(server, sql).code().to_owned();
                took[server] = start.elapsed();
            }
            if codes[1] == QUERY_CANCELED && took[0] <= self.timeout / QUICK_PART {
                self.counts.slow_in_norsu += 1;
                let (seed, set) =
                    (statement_in_flight.seed, statement_in_flight.statement.settings.join("; "));
                let steps: Vec<&str> =
                    statement_in_flight.statement.steps.iter().map(|s| s.sql.as_str()).collect();
                let whole = if steps.len() > 1 { steps.join("; ") } else { String::new() };
                eprintln!("seed {seed}: canceled by ours alone, with {set}: {sql} {whole}");
            }
            if codes.iter().any(|code| code == QUERY_CANCELED) {
                break;
            }
        }
        self.reset();
    }
}

/// Adds the complete statement and its settings to the differences.
fn with_statement(statement: &Statement, mut wrong: Vec<String>) -> Vec<String> {
    if !wrong.is_empty() && statement.steps.len() > 1 {
        let all: Vec<&str> = statement.steps.iter().map(|s| s.sql.as_str()).collect();
        wrong.insert(0, format!("in: {}", all.join("; ")));
    }
    if !wrong.is_empty() && !statement.settings.is_empty() {
        wrong.insert(0, format!("with {}", statement.settings.join("; ")));
    }
    wrong
}
