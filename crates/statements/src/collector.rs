//! The counting of one session: which statements are counted, and the entries that it has used.

use crate::counters::{Phase, Usage};
use crate::registry::{Entry, Key, Registry};
use hashbrown::HashMap;
use ids::Oid;
use plan::query::Identity;
use std::time::{Duration, Instant};
use sync::Arc;

/// Entries that a session keeps.
const KNOWN_MAX: usize = 1024;

/// `pg_stat_statements.track`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Track {
    None,
    /// Statements of clients.
    #[default]
    Top,
    /// Also statements inside others.
    All,
}

/// The settings of the extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    pub track: Track,
    pub utility: bool,
    pub planning: bool,
}

type Known = HashMap<(Oid, i64, bool), Arc<Entry>, foldhash::fast::FixedState>;

/// The counting of one session.
pub struct Collector {
    registry: Arc<Registry>,
    pub settings: Settings,
    database: Oid,
    stripe: usize,
    /// The user, and the number of statements and function calls that are running.
    user: Oid,
    depth: u32,
    /// Utility statements that are being measured.
    utilities: u32,
    known: Known,
}

/// The start of a measurement.
#[derive(Clone, Copy)]
pub struct Mark {
    at: Instant,
    usage: Usage,
}

impl Mark {
    pub fn new(usage: Usage) -> Mark {
        Mark { at: Instant::now(), usage }
    }
}

impl Collector {
    /// `session`: the number of the session.
    pub fn new(registry: Arc<Registry>, database: Oid, session: usize) -> Collector {
        Collector {
            registry,
            settings: Settings::default(),
            database,
            stripe: session,
            user: Oid::INVALID,
            depth: 0,
            utilities: 0,
            known: Known::default(),
        }
    }

    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    /// The collector for a statement of this user inside so many function calls.
    #[inline]
    pub fn at(&mut self, user: Oid, depth: u32) -> &mut Collector {
        (self.user, self.depth) = (user, depth);
        self
    }

    fn is_toplevel(&self) -> bool {
        self.depth + self.utilities == 0
    }

    /// True if statements are counted at the present level.
    pub fn counts(&self) -> bool {
        match self.settings.track {
            Track::None => false,
            Track::Top => self.is_toplevel(),
            Track::All => true,
        }
    }

    /// The entry of a statement that begins; `None` if it is not counted.
    pub fn entry(&mut self, identity: &Arc<Identity>) -> Option<Arc<Entry>> {
        self.counts().then(|| self.find(identity))
    }

    fn find(&mut self, identity: &Arc<Identity>) -> Arc<Entry> {
        let toplevel = self.is_toplevel();
        let known = (self.user, identity.id, toplevel);
        if let Some(entry) = self.known.get(&known)
            && entry.is_live()
        {
            return entry.clone();
        }
        let key = Key { user: self.user, database: self.database, id: identity.id, toplevel };
        let entry = self.registry.entry(key, identity);
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(known, entry.clone());
        entry
    }

    /// Begins the execution of a statement.
    pub fn begin(&mut self, identity: &Arc<Identity>) -> Tally {
        Tally { stripe: self.stripe, entry: self.entry(identity), ..Tally::default() }
    }

    /// Counts one planning since `mark`.
    pub fn planned(&mut self, identity: &Arc<Identity>, mark: &Mark, now: Usage) {
        if let Some(entry) = self.entry(identity) {
            let (spent, usage) = (mark.at.elapsed(), now - mark.usage);
            entry.count(self.stripe, Phase::Plan, spent, 0, &usage);
        }
    }

    /// True if a planning is counted.
    pub fn counts_planning(&self) -> bool {
        self.settings.planning && self.counts()
    }

    /// Begins a utility statement: statements that it runs are inside it. `None` if it is not
    /// counted.
    pub fn begin_utility(&mut self, usage: Usage) -> Option<Mark> {
        if !self.settings.utility || !self.counts() {
            return None;
        }
        self.utilities += 1;
        Some(Mark::new(usage))
    }

    /// Ends a utility statement. `rows`: `None` if it has failed, and is not counted.
    pub fn end_utility(
        &mut self,
        mark: &Mark,
        now: Usage,
        rows: Option<u64>,
        identity: impl FnOnce() -> Identity,
    ) {
        let spent = mark.at.elapsed();
        self.utilities = self.utilities.saturating_sub(1);
        let Some(rows) = rows else { return };
        // Also if the statement has changed what is counted.
        let entry = self.find(&Arc::new(identity()));
        entry.count(self.stripe, Phase::Execution, spent, rows, &(now - mark.usage));
    }
}

/// The running execution of a statement. It is counted when this is dropped, or earlier.
#[derive(Default)]
pub struct Tally {
    entry: Option<Arc<Entry>>,
    stripe: usize,
    spent: Duration,
    usage: Usage,
    rows: u64,
}

impl Tally {
    #[inline]
    pub fn is_active(&self) -> bool {
        self.entry.is_some()
    }

    /// Adds what was used since `mark`.
    pub fn add(&mut self, mark: &Mark, now: Usage) {
        self.spent += mark.at.elapsed();
        self.usage += now - mark.usage;
    }

    pub fn add_rows(&mut self, rows: u64) {
        self.rows += rows;
    }

    pub fn set_rows(&mut self, rows: u64) {
        self.rows = rows;
    }

    /// Ends an execution that has failed.
    pub fn discard(&mut self) {
        self.entry = None;
    }

    /// Ends and counts the execution.
    pub fn record(&mut self) {
        if let Some(entry) = self.entry.take() {
            entry.count(self.stripe, Phase::Execution, self.spent, self.rows, &self.usage);
            (self.spent, self.usage, self.rows) = Default::default();
        }
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.record();
    }
}
