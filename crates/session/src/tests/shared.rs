//! Compares sessions with and without the plan cache: their messages must be equal, byte for byte.
//! In one fixture `norsu.plan_cache` is on, in the other it is off; all other settings are equal.
//! No query returns rows in an unspecified order.

use crate::instance::{Admission, Config, Instance};
use crate::{Session, State};
use catalog::CatSession;
use catalog::bootstrap::{InitOptions, init};
use client::connection::Connection;
use client::transport::Transport;
use engine::{Backend, Engine, EngineConfig};
use ids::{Oid, RelFile};
use parameters::{Log, LogOrigin};
use pgerror::PgError;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;
use vfs::Env;

const DATABASE: Oid = Oid(5);

struct DiscardingLog;

impl Log for DiscardingLog {
    fn write(&self, _: &LogOrigin, _: &PgError, _: Option<&str>) {}
}

/// A transport that stores the sent bytes.
struct RecordingTransport(Arc<Mutex<Vec<u8>>>);

impl Transport for RecordingTransport {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Ok(0)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn set_read_timeout(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| ())
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        None
    }
}

pub(super) struct Fixture {
    instance: Arc<Instance>,
    pub(super) clients: Vec<Client>,
}

pub(super) struct Client {
    pub(super) session: Session,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Fixture {
    pub(super) fn new(plan_cache: bool, clients: usize) -> Fixture {
        let env = Env::memory(7);
        init(&env, &InitOptions { sync: false, ..InitOptions::default() }).unwrap();
        let mut config = EngineConfig::new(env);
        config.shared_buffers = 2048;
        let engine = Engine::open(config).unwrap();
        let base = Arc::new(settings::ServerValues::new(Arc::new(settings::Registry::load())));
        let config = Config { base, hba: Arc::default(), ident: Arc::default() };
        let instance = Instance::new(engine, config, Arc::new(DiscardingLog));
        instance.set_admission(Admission::Open);
        let mut fixture = Fixture { instance, clients: Vec::new() };
        for _ in 0..clients {
            let client = fixture.connect(plan_cache);
            fixture.clients.push(client);
        }
        fixture
    }

    fn connect(&self, plan_cache: bool) -> Client {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let transport = RecordingTransport(sent.clone());
        let handle =
            self.instance.register(transport.hangup(), None, Default::default(), 0).unwrap();
        let space = RelFile::DEFAULT_TABLESPACE;
        let storage = self.instance.engine.storage();
        let waiter = handle.waiter.clone();
        let backend = Backend::connect(storage, handle.pid, DATABASE, space, waiter).unwrap();
        let catalog = CatSession::new(self.instance.catalogs.database(DATABASE), Oid(10));
        let store = settings::SessionValues::new(self.instance.base());
        let catalogs = self.instance.catalogs.clone();
        let mut state = State::new(backend, catalog, catalogs, "postgres".into(), store);
        let conn = Connection::new(Box::new(transport));
        state.activity.client = LogOrigin { user: "postgres".into(), ..LogOrigin::default() };
        let instance = self.instance.clone();
        let mut session = Session::new(state, instance, handle, conn);
        session.state.apply_all_settings();
        let mut client = Client { session, sent };
        let switch = if plan_cache { "on" } else { "off" };
        client.query(&format!("SET norsu.plan_cache = {switch}"));
        client
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.clients.clear();
        self.instance.engine.shutdown().unwrap();
    }
}

impl Client {
    fn message(&mut self, kind: u8, body: &[u8]) -> String {
        self.session.statement_begins();
        self.session.dispatch_message(kind, body).unwrap();
        self.session.conn.flush().unwrap();
        show(&std::mem::take(&mut *self.sent.lock()))
    }

    /// Runs a simple query and returns the messages.
    pub(super) fn query(&mut self, sql: &str) -> String {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.message(b'Q', &body)
    }

    /// Parse, Bind and Execute of the unnamed statement, with text parameters.
    fn extended(&mut self, sql: &str, params: &[&str]) -> String {
        let mut out = self.message(b'P', &[b"\0", sql.as_bytes(), b"\0\0\0"].concat());
        let mut bind = b"\0\0\0\0".to_vec();
        bind.extend_from_slice(&(params.len() as u16).to_be_bytes());
        for param in params {
            bind.extend_from_slice(&(param.len() as u32).to_be_bytes());
            bind.extend_from_slice(param.as_bytes());
        }
        bind.extend_from_slice(&[0, 0]);
        for (kind, body) in [(b'B', &bind[..]), (b'D', b"P\0"), (b'E', b"\0\0\0\0\0"), (b'S', b"")]
        {
            out.push_str(&self.message(kind, body));
        }
        out
    }
}

/// Messages in readable form: type and body, with non-text bytes escaped.
fn show(mut bytes: &[u8]) -> String {
    let mut out = String::new();
    while let [kind, a, b, c, d, rest @ ..] = bytes {
        let len = u32::from_be_bytes([*a, *b, *c, *d]) as usize - 4;
        out.push(char::from(*kind));
        out.push(' ');
        // RowDescription contains table OIDs, which are the same in both fixtures.
        let dotted = rest[..len].iter().map(|&b| match b {
            b' '..=b'~' => char::from(b).to_string(),
            b => format!("\\{b}"),
        });
        out.extend(dotted);
        out.push('\n');
        bytes = &rest[len..];
    }
    out
}

/// Runs statements in both fixtures and compares the messages. The prefix `@n:` selects session
/// `n`, `P:` the extended protocol.
fn compare(statements: &[String], clients: usize) -> (Fixture, Fixture) {
    let (mut with, mut without) = (Fixture::new(true, clients), Fixture::new(false, clients));
    let mut wrong = Vec::new();
    for statement in statements {
        let (client, sql) = match statement.strip_prefix('@').and_then(|s| s.split_once(':')) {
            Some((n, sql)) => (n.parse().unwrap(), sql),
            None => (0, statement.as_str()),
        };
        let answer = |fixture: &mut Fixture| match sql.strip_prefix("P:") {
            Some(sql) => fixture.clients[client].extended(sql, &[]),
            None => fixture.clients[client].query(sql),
        };
        let (got, want) = (answer(&mut with), answer(&mut without));
        if got != want {
            wrong.push(format!("{statement}\n  with    {got}\n  without {want}"));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    (with, without)
}

/// Replaces the integer literals of a text.
fn with_numbers(sql: &str, change: impl Fn(&str) -> String) -> String {
    let bytes = sql.as_bytes();
    let mut out = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'\'' | b'$');
        let end = at + bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let alone = end > at
            && (at == 0 || !word(bytes[at - 1]))
            && bytes.get(end).is_none_or(|&b| !word(b));
        if alone {
            out.push_str(&change(&sql[at..end]));
            at = end;
        } else {
            let next = end.max(at + 1);
            let next = (next..=sql.len()).find(|&n| sql.is_char_boundary(n)).unwrap_or(next);
            out.push_str(&sql[at..next]);
            at = next;
        }
    }
    out
}

/// Runs the statements of the case files repeatedly, as they are and with other numbers.
#[test]
fn cases_have_the_same_results_with_the_plan_cache() {
    let mut statements = Vec::new();
    for cases in [
        include_str!("../../../../tests/src/cases/select.tsv"),
        include_str!("../../../../tests/src/cases/queries.tsv"),
    ] {
        for line in cases.lines() {
            let Some((sql, _)) = line.split_once('\t') else { continue };
            // Results that depend on the time or the fixture cannot be compared.
            if ["random", "now(", "clock", "xid", "_timestamp", "pg_backend", "txid"]
                .iter()
                .any(|word| sql.to_ascii_lowercase().contains(word))
            {
                continue;
            }
            let changed = |from: &str| match from.parse::<i64>() {
                Ok(n) if n < 1000 => (n + 1).to_string(),
                _ => from.to_owned(),
            };
            statements.push(sql.to_owned());
            statements.push(with_numbers(sql, changed));
            statements.push(format!("P:{sql}"));
            statements.push(sql.to_owned());
        }
    }
    compare(&statements, 1);
}

/// One statement for each line; `=` repeats the previous line.
fn script(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        match line {
            "=" => out.push(out.last().unwrap().clone()),
            line => out.push(line.to_owned()),
        }
    }
    out
}

#[test]
fn changes_between_statements_invalidate_plans() {
    compare(&script(include_str!("shared.txt")), 2);
}

#[test]
fn statements_that_differ_in_literals_share_a_plan() {
    let mut fixture = Fixture::new(true, 2);
    fixture.clients[0].query("CREATE TABLE t (a int PRIMARY KEY, b text, c numeric(6,2))");
    let known = fixture.instance.plans.len();
    for i in 0..50 {
        let insert = format!("INSERT INTO t VALUES ({i}, 'b{i}', {i}.5)");
        assert!(fixture.clients[i % 2].query(&insert).contains("INSERT 0 1"), "{insert}");
        let select = format!("SELECT b, c FROM t WHERE a = {i}");
        assert!(fixture.clients[i % 2].query(&select).contains(&format!("{i}.50")), "{select}");
    }
    assert_eq!(fixture.instance.plans.len(), known + 2);
    // A parameter of a client must not be confused with one that replaces a literal.
    let answer = fixture.clients[0].extended("SELECT b FROM t WHERE a = $1", &["7"]);
    assert!(answer.contains("b7"), "{answer}");
    let again = fixture.clients[1].extended("SELECT b FROM t WHERE a = $1", &["8"]);
    assert!(again.contains("b8"), "{again}");
    assert_eq!(fixture.instance.plans.len(), known + 3);
}

/// Plans that were made after uncommitted catalog changes remain valid until further changes or a
/// rollback, and other sessions do not find them.
#[test]
fn uncommitted_catalog_changes_have_plans_of_their_own() {
    let mut fixture = Fixture::new(true, 2);
    let client = &mut fixture.clients[0];
    client.query("CREATE TABLE t (a int)");
    let committed = client.session.state.environment().unwrap();
    let known = fixture.instance.plans.len();
    let mut seen = vec![committed];
    let steps = [
        ("BEGIN", true),
        ("CREATE TABLE u (a int)", false),
        ("SELECT * FROM u", true),
        ("INSERT INTO u VALUES (1)", true),
        ("SAVEPOINT s", true),
        ("ALTER TABLE u ADD b int", false),
        ("SELECT b FROM u", true),
        ("ROLLBACK TO s", false),
        ("SELECT * FROM u", true),
        ("DROP TABLE u", false),
    ];
    for (sql, stays) in steps {
        let answer = client.query(sql);
        assert!(!answer.contains("ERROR"), "{sql}: {answer}");
        let environment = client.session.state.environment().unwrap();
        assert_eq!(seen.last() == Some(&environment), stays, "{sql}");
        if !stays {
            assert!(!seen.contains(&environment), "{sql}");
            seen.push(environment);
        }
    }
    client.query("ROLLBACK");
    assert_eq!(client.session.state.environment().unwrap(), committed);
    assert_eq!(fixture.instance.plans.len(), known);
}
