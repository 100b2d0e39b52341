//! One session of the workload: a state machine that runs the next step of its transaction when it
//! is called, and never waits for another session, which could not run in the meantime.

use super::bank::{ACCOUNTS, BRANCHES, Changed, HISTORY, Row, TELLERS, Table};
use super::model::{Model, Write};
use engine::{Backend, BackendSettings, CommitExtras, Isolation};
use pgerror::{PgError, Result, Severity};
use vfs::SeededRandom;

pub const ACCOUNT_COUNT: u64 = 60;
pub const TELLER_COUNT: u64 = 8;
pub const BRANCH_COUNT: u64 = 3;

/// The next step of a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Account,
    Teller,
    Branch,
    History,
    Extras,
    End,
}

struct Transfer {
    marker: i32,
    account: i32,
    teller: i32,
    branch: i32,
    delta: i32,
    stage: Stage,
    /// Rows written by the transaction, except those that were rolled back.
    writes: Vec<Write>,
    /// Lengths of `writes` at the open savepoints.
    savepoints: Vec<usize>,
    refusals: u32,
    repeatable: bool,
}

pub struct Teller {
    pub be: Backend,
    transfer: Option<Transfer>,
}

/// The effect of a step on the model.
#[derive(PartialEq, Eq)]
pub enum StepEffect {
    Something,
    /// A commit returned after its record was flushed.
    Durable,
}

pub fn filler(random: &SeededRandom) -> String {
    let len = match random.below(40) {
        0 => 2500 + random.below(6000),
        1..4 => 600,
        _ => random.below(60),
    };
    (0..len).map(|_| (b'a' + random.below(26) as u8) as char).collect()
}

impl Teller {
    pub fn new(be: Backend) -> Teller {
        Teller { be, transfer: None }
    }

    pub fn idle(&self) -> bool {
        self.transfer.is_none()
    }

    /// Rolls back after an error.
    pub fn roll_back(&mut self) -> Result<()> {
        self.transfer = None;
        if self.be.in_transaction() { self.be.abort() } else { Ok(()) }
    }

    /// Runs one step. `next_marker` numbers transactions and rows of all sessions.
    pub fn step(
        &mut self,
        random: &SeededRandom,
        tables: &[Table],
        model: &mut Model,
        next_marker: &mut i32,
    ) -> Result<StepEffect> {
        let Some(mut t) = self.transfer.take() else {
            self.begin(random, tables, next_marker)?;
            return Ok(StepEffect::Something);
        };
        if random.below(24) == 0 || t.refusals > 3 {
            self.be.abort()?;
            return Ok(StepEffect::Something);
        }
        if t.stage == Stage::End {
            return self.commit(random, model, t);
        }
        match random.below(12) {
            0 if t.savepoints.len() < 3 => {
                self.be.begin_subxact()?;
                t.savepoints.push(t.writes.len());
            }
            1 if !t.savepoints.is_empty() => {
                self.be.commit_subxact()?;
                t.savepoints.pop();
            }
            2 => self.undone(random, tables, model, &t)?,
            _ => self.advance(random, tables, model, &mut t, next_marker)?,
        }
        self.be.command_counter_increment()?;
        self.transfer = Some(t);
        Ok(StepEffect::Something)
    }

    fn begin(
        &mut self,
        random: &SeededRandom,
        tables: &[Table],
        next_marker: &mut i32,
    ) -> Result<()> {
        let repeatable = random.below(5) == 0;
        let isolation =
            if repeatable { Isolation::RepeatableRead } else { Isolation::ReadCommitted };
        self.be.begin(isolation);
        for table in tables {
            table.lock(&mut self.be, lmgr::LockMode::RowExclusive)?;
        }
        *next_marker += 1;
        let teller = random.below(TELLER_COUNT);
        self.transfer = Some(Transfer {
            marker: *next_marker,
            account: random.below(ACCOUNT_COUNT) as i32,
            teller: teller as i32,
            branch: (teller % BRANCH_COUNT) as i32,
            delta: random.below(10_000) as i32 - 5000,
            stage: Stage::Account,
            writes: Vec::new(),
            savepoints: Vec::new(),
            refusals: 0,
            repeatable,
        });
        Ok(())
    }

    fn commit(
        &mut self,
        random: &SeededRandom,
        model: &mut Model,
        t: Transfer,
    ) -> Result<StepEffect> {
        let wait = random.below(4) != 0;
        let settings = BackendSettings { synchronous_commit: wait, ..self.be.settings().clone() };
        self.be.configure(settings);
        model.committing(t.marker, t.writes);
        if let Err(e) = self.be.commit(CommitExtras::default()) {
            // After a PANIC only recovery determines whether the transaction committed.
            if e.fields().severity < Severity::Panic {
                model.withdraw_last();
            }
            return Err(e);
        }
        Ok(if wait { StepEffect::Durable } else { StepEffect::Something })
    }

    /// A savepoint, a change, and a rollback to the savepoint.
    fn undone(
        &mut self,
        random: &SeededRandom,
        tables: &[Table],
        model: &Model,
        t: &Transfer,
    ) -> Result<()> {
        self.be.begin_subxact()?;
        self.be.command_counter_increment()?;
        if random.below(2) == 0 {
            let row = Row { a: 0, b: 0, balance: 7, filler: filler(random) };
            tables[HISTORY].insert(&mut self.be, -t.marker, &row)?;
        } else {
            let id = random.below(ACCOUNT_COUNT) as i32;
            let seen = expected(model, &t.writes, ACCOUNTS, id);
            tables[ACCOUNTS].change(&mut self.be, id, !t.repeatable, &mut |row| {
                check(seen.as_ref(), &row, id, t.repeatable)?;
                Ok(Some(Row { balance: row.balance + 1, filler: filler(random), ..row }))
            })?;
        }
        self.be.abort_subxact()?;
        Ok(())
    }

    fn advance(
        &mut self,
        random: &SeededRandom,
        tables: &[Table],
        model: &Model,
        t: &mut Transfer,
        next_marker: &mut i32,
    ) -> Result<()> {
        let (stage, delta) = (t.stage, t.delta);
        let add = |row: Row| Some(Row { balance: row.balance + delta, ..row });
        let next = match stage {
            Stage::Account => {
                let fill = (random.below(5) == 0).then(|| filler(random));
                let done = self.write(tables, model, t, ACCOUNTS, t.account, &mut |row| {
                    let filler = fill.clone().unwrap_or(row.filler);
                    Some(Row { balance: row.balance + delta, filler, ..row })
                })?;
                done.then_some(Stage::Teller)
            }
            Stage::Teller => {
                let done = self.write(tables, model, t, TELLERS, t.teller, &mut { add })?;
                done.then_some(Stage::Branch)
            }
            Stage::Branch => {
                let done = self.write(tables, model, t, BRANCHES, t.branch, &mut { add })?;
                done.then_some(Stage::History)
            }
            Stage::History => {
                let row =
                    Row { a: t.account, b: t.teller, balance: t.delta, filler: filler(random) };
                tables[HISTORY].insert(&mut self.be, t.marker, &row)?;
                t.writes.push(Write { table: HISTORY, id: t.marker, row: Some(row) });
                Some(Stage::Extras)
            }
            Stage::Extras => {
                self.churn(random, tables, model, t, next_marker)?;
                (random.below(3) == 0).then_some(Stage::End)
            }
            Stage::End => None,
        };
        t.stage = next.unwrap_or(stage);
        Ok(())
    }

    /// Inserts and deletes accounts without money.
    fn churn(
        &mut self,
        random: &SeededRandom,
        tables: &[Table],
        model: &Model,
        t: &mut Transfer,
        next_marker: &mut i32,
    ) -> Result<()> {
        let extras: Vec<i32> =
            model.now[ACCOUNTS].range(ACCOUNT_COUNT as i32..).map(|(id, _)| *id).collect();
        if extras.len() as u64 > random.below(80) {
            // Many adjacent rows are deleted together, so that pages become empty.
            let from = random.below(extras.len() as u64) as usize;
            for &id in extras[from..].iter().take(1 + random.below(20) as usize) {
                self.write(tables, model, t, ACCOUNTS, id, &mut |_| None)?;
            }
        } else {
            for _ in 0..1 + random.below(8) {
                *next_marker += 1;
                let id = ACCOUNT_COUNT as i32 + *next_marker;
                let row = Row { a: 0, b: 0, balance: 0, filler: filler(random) };
                tables[ACCOUNTS].insert(&mut self.be, id, &row)?;
                t.writes.push(Write { table: ACCOUNTS, id, row: Some(row) });
            }
        }
        Ok(())
    }

    /// Changes a row. Returns true if that was possible. The previous contents of the row must be
    /// those of the model.
    fn write(
        &mut self,
        tables: &[Table],
        model: &Model,
        t: &mut Transfer,
        table: usize,
        id: i32,
        change: &mut dyn FnMut(Row) -> Option<Row>,
    ) -> Result<bool> {
        let seen = expected(model, &t.writes, table, id);
        let mut written = None;
        let done = tables[table].change(&mut self.be, id, !t.repeatable, &mut |row| {
            check(seen.as_ref(), &row, id, t.repeatable)?;
            written = change(row);
            Ok(written.clone())
        })?;
        match done {
            Changed::Done => t.writes.push(Write { table, id, row: written }),
            // The row was deleted by this transaction, or (repeatable read) is newer than the
            // snapshot.
            Changed::Missing if seen.is_none() || t.repeatable => t.refusals += 1,
            Changed::Missing => {
                return Err(PgError::internal(format!("table {table}: row {id} is gone")));
            }
            Changed::Refused => t.refusals += 1,
        }
        Ok(matches!(done, Changed::Done))
    }
}

/// The contents of the row that this transaction must find after it has locked the row.
fn expected(model: &Model, writes: &[Write], table: usize, id: i32) -> Option<Row> {
    match writes.iter().rev().find(|w| w.table == table && w.id == id) {
        Some(own) => own.row.clone(),
        None => model.now[table].get(&id).cloned(),
    }
}

fn check(expected: Option<&Row>, found: &Row, id: i32, repeatable: bool) -> Result<()> {
    // Under repeatable read, a lock is granted only if the row has not changed since the snapshot
    // was taken.
    match expected {
        Some(row) if row == found => Ok(()),
        _ => Err(PgError::internal(format!(
            "row {id} is {found:?} instead of {expected:?} (repeatable read: {repeatable})"
        ))),
    }
}
