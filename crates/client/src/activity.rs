//! The entries of sessions in `pg_stat_activity`. Counterpart: utils/activity/backend_status.c.
//!
//! Each entry has its own lock, which only its session and readers of the view take.

use crate::transport::Encryption;
use ids::Oid;
use std::net::IpAddr;
use std::sync::Arc;
use sync::Mutex;

/// What a session is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum State {
    /// The client is not authenticated yet.
    #[default]
    Starting,
    Idle,
    Running,
    InTransaction,
    InFailedTransaction,
    /// A FunctionCall message called the function that is running.
    FunctionCall,
    /// The setting `track_activities` is off.
    Disabled,
}

impl State {
    /// The state's name in the view.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            State::Starting => return None,
            State::Idle => "idle",
            State::Running => "active",
            State::InTransaction => "idle in transaction",
            State::InFailedTransaction => "idle in transaction (aborted)",
            State::FunctionCall => "fastpath function call",
            State::Disabled => "disabled",
        })
    }
}

/// The visible part of an entry. Times are in microseconds since 2000-01-01; 0 means none.
#[derive(Clone)]
pub struct VisibleActivity {
    pub database: Oid,
    pub user: Oid,
    /// The session's number in the proc array.
    pub proc: Option<u32>,
    /// The session has created or taken over the temporary schema with that number.
    pub has_temp_schema: bool,
    pub application: Arc<str>,
    pub address: Option<(IpAddr, u16)>,
    pub encryption: Option<Arc<Encryption>>,
    pub backend_start: i64,
    pub xact_start: i64,
    pub query_start: i64,
    pub state_since: i64,
    pub state: State,
    /// The visible part of the query text (`track_activity_query_size`).
    pub query: Vec<u8>,
    /// The identifier of the query; 0: none.
    pub query_id: i64,
}

/// The entry of one session.
pub struct Activity(Mutex<Entry>);

struct Entry {
    shown: VisibleActivity,
    /// The remaining part of the query text.
    rest: Vec<u8>,
}

impl Activity {
    pub fn new(backend_start: i64, address: Option<(IpAddr, u16)>) -> Activity {
        let empty: Arc<str> = Arc::from("");
        let shown = VisibleActivity {
            database: Oid::INVALID,
            user: Oid::INVALID,
            proc: None,
            has_temp_schema: false,
            application: empty,
            address,
            encryption: None,
            backend_start,
            xact_start: 0,
            query_start: 0,
            state_since: 0,
            state: State::Starting,
            query: Vec::new(),
            query_id: 0,
        };
        Activity(Mutex::new(Entry { shown, rest: Vec::new() }))
    }

    pub fn get(&self) -> VisibleActivity {
        self.0.lock().shown.clone()
    }

    pub fn get_query_id(&self) -> i64 {
        self.0.lock().shown.query_id
    }

    pub fn change(&self, change: impl FnOnce(&mut VisibleActivity)) {
        change(&mut self.0.lock().shown);
    }

    /// Shows the start of a statement at the time `begun`. `bytes_max`: the length of the text that
    /// the view shows; `None` if activities are not tracked.
    pub fn start(&self, sql: &[u8], bytes_max: Option<usize>, begun: i64) {
        let Entry { shown, rest } = &mut *self.0.lock();
        let Some(bytes_max) = bytes_max else {
            shown.state = State::Disabled;
            return;
        };
        if shown.state != State::Running {
            shown.state = State::Running;
            shown.state_since = begun;
            shown.query_start = begun;
            if shown.xact_start == 0 {
                shown.xact_start = begun;
            }
        }
        shown.query_id = 0;
        let (sql, long) = sql.split_at(sql.len().min(bytes_max));
        if shown.query != sql {
            shown.query.clear();
            shown.query.extend_from_slice(sql);
        }
        if rest.as_slice() != long {
            *rest = long.to_vec();
        }
    }

    /// The complete text of the running statement.
    pub fn running(&self) -> Option<String> {
        let entry = self.0.lock();
        let running = entry.shown.state == State::Running;
        running.then(|| {
            let text = [&entry.shown.query[..], &entry.rest].concat();
            String::from_utf8_lossy(&text).into_owned()
        })
    }
}
