//! A fixture for tests and benchmarks that run plans themselves: a cluster in memory, filled by SQL
//! statements in an ordinary session.

use catalog::CatSession;
use catalog::bootstrap::{InitOptions, init};
use engine::{Backend, Engine, EngineConfig};
use ids::{Oid, RelFile};
use pgerror::{PgError, Severity};
use session::{Admission, Config, Instance, Log, LogOrigin, State, Transport};
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use sync::wait::Waiter;
use vfs::Env;

/// The database `postgres`.
const DATABASE: Oid = Oid(5);

/// A client that sends a fixed script and reads nothing.
struct Script {
    bytes: io::Cursor<Vec<u8>>,
}

impl Transport for Script {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut self.bytes, buf)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn set_read_timeout(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| {})
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        None
    }
}

/// The errors of the script.
#[derive(Default)]
struct Errors(Mutex<Vec<String>>);

impl Log for Errors {
    fn write(&self, _: &LogOrigin, report: &PgError, statement: Option<&str>) {
        if report.fields().severity >= Severity::Error {
            let text = format!("{}: {}", statement.unwrap_or_default(), report.message());
            self.0.lock().expect("no panic with the list").push(text);
        }
    }
}

fn message(kind: u8, body: &[u8], out: &mut Vec<u8>) {
    out.push(kind);
    out.extend((body.len() as u32 + 5).to_be_bytes());
    out.extend(body);
    out.push(0);
}

/// The cluster and a session in it.
pub struct Fixture {
    pub state: State,
    _instance: Arc<Instance>,
}

/// A new cluster in which the statements have been executed.
pub fn fixture(statements: &[&str], shared_buffers: usize) -> Fixture {
    let env = Env::memory(7);
    init(&env, &InitOptions { sync: false, ..InitOptions::default() }).expect("init");
    let mut config = EngineConfig::new(env);
    config.shared_buffers = shared_buffers;
    let engine = Engine::open(config).expect("open");
    let base = Arc::new(settings::ServerValues::new(Arc::new(settings::Registry::load())));
    let no_include = |_: &str| None;
    let hba = settings::hba::parse("hba", "local all all trust\n", &no_include).expect("rules");
    let errors = Arc::new(Errors::default());
    let config = Config { base: base.clone(), hba: Arc::new(hba), ident: Arc::default() };
    let instance = Instance::new(engine, config, errors.clone());
    instance.set_admission(Admission::Open);

    let mut start = 196_608u32.to_be_bytes().to_vec();
    start.extend(b"user\0postgres\0database\0postgres\0\0");
    let mut script = (start.len() as u32 + 4).to_be_bytes().to_vec();
    script.extend(start);
    for sql in statements {
        message(b'Q', sql.as_bytes(), &mut script);
    }
    script.extend([b'X', 0, 0, 0, 4]);
    session::serve(&instance, Box::new(Script { bytes: io::Cursor::new(script) }));
    let errors = errors.0.lock().expect("no panic with the list");
    assert!(errors.is_empty(), "{errors:?}");

    let waiter = Arc::new(Waiter::new());
    let tablespace = RelFile::DEFAULT_TABLESPACE;
    let backend = Backend::connect(instance.engine.storage(), 1, DATABASE, tablespace, waiter)
        .expect("connect");
    let session = CatSession::new(instance.catalogs.database(DATABASE), Oid(10));
    let store = settings::SessionValues::new(base);
    let state = State::new(backend, session, instance.catalogs.clone(), "postgres".into(), store);
    Fixture { state, _instance: instance }
}
