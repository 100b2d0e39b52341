//! The model of the contents: a base state, and the subsequently committed transactions in log
//! order. A crash may lose only a suffix of the transactions that were not acknowledged as durable.

use super::bank::{HISTORY, Rows, TABLES};
use std::array;

/// A row that was written (`None`: deleted).
#[derive(Clone, Debug)]
pub struct Write {
    pub table: usize,
    pub id: i32,
    pub row: Option<super::bank::Row>,
}

pub type State = [Rows; TABLES];

pub fn empty() -> State {
    array::from_fn(|_| Rows::new())
}

pub fn apply(state: &mut State, writes: &[Write]) {
    for write in writes {
        let rows = &mut state[write.table];
        match &write.row {
            Some(row) => rows.insert(write.id, row.clone()),
            None => rows.remove(&write.id),
        };
    }
}

/// A committed transaction; each inserts a row into the history.
struct Committed {
    marker: i32,
    writes: Vec<Write>,
}

pub struct Model {
    base: State,
    committed: Vec<Committed>,
    /// Number of leading transactions that are known to be durable.
    durable: usize,
    /// The state that is visible to a new snapshot while the server runs.
    pub now: State,
    committed_total: u64,
    recovered_total: u64,
}

impl Model {
    pub fn new() -> Model {
        Model {
            base: empty(),
            committed: Vec::new(),
            durable: 0,
            now: empty(),
            committed_total: 0,
            recovered_total: 0,
        }
    }

    /// Called before the commit: from now on the transaction may survive a crash.
    pub fn committing(&mut self, marker: i32, writes: Vec<Write>) {
        apply(&mut self.now, &writes);
        self.committed_total += 1;
        self.committed.push(Committed { marker, writes });
    }

    /// Called after a failed commit, which was rolled back.
    pub fn withdraw_last(&mut self) {
        self.committed.pop();
        self.now = self.base.clone();
        for t in &self.committed {
            apply(&mut self.now, &t.writes);
        }
    }

    /// Called when all previous commits have been acknowledged as durable.
    pub fn acknowledged(&mut self) {
        self.durable = self.committed.len();
    }

    /// Number of committed transactions, and number of those that were found after a crash.
    pub fn totals(&self) -> (u64, u64) {
        (self.committed_total, self.recovered_total)
    }

    /// Checks the state found after a crash, and continues from it.
    pub fn recovered(&mut self, found: State) -> Result<(), String> {
        let kept = self.committed.iter().filter(|t| found[HISTORY].contains_key(&t.marker)).count();
        if kept < self.durable {
            let lost: Vec<i32> = (self.committed[..self.durable].iter())
                .map(|t| t.marker)
                .filter(|m| !found[HISTORY].contains_key(m))
                .collect();
            return Err(format!("acknowledged transactions are lost: {lost:?}"));
        }
        for t in &self.committed[..kept] {
            apply(&mut self.base, &t.writes);
        }
        difference(&self.base, &found)?;
        balances(&found)?;
        self.now = found;
        self.recovered_total += kept as u64;
        self.committed.clear();
        self.durable = 0;
        Ok(())
    }
}

impl Model {
    /// Called after other programs have changed the tables: continues from the state found.
    pub fn adopt(&mut self, found: State) {
        self.base = found.clone();
        self.now = found;
    }
}

/// An error that names the first difference.
pub fn difference(expected: &State, found: &State) -> Result<(), String> {
    for (n, (expected, found)) in expected.iter().zip(found).enumerate() {
        let ids = expected.keys().chain(found.keys());
        if let Some(id) = ids.into_iter().find(|id| expected.get(id) != found.get(id)) {
            let short = |rows: &Rows| match rows.get(id) {
                Some(r) => format!("({}, {}, {}, {:.40})", r.a, r.b, r.balance, r.filler),
                None => "nothing".to_owned(),
            };
            return Err(format!(
                "table {n}, id {id}: {} instead of {}",
                short(found),
                short(expected)
            ));
        }
    }
    Ok(())
}

/// Checks that all four sums are equal.
fn balances(state: &State) -> Result<(), String> {
    let sums =
        state.each_ref().map(|rows| rows.values().map(|r| i64::from(r.balance)).sum::<i64>());
    if sums.iter().any(|s| *s != sums[0]) {
        return Err(format!("the sums differ: {sums:?}"));
    }
    Ok(())
}
