//! A run: a random configuration determined by the seed, with repeated work and crashes.

use super::bank::{ACCOUNTS, BRANCHES, HISTORY, Row, TELLERS, Table, TableIds};
use super::model::{Model, State, Write, difference};
use super::teller::{ACCOUNT_COUNT, BRANCH_COUNT, StepEffect, TELLER_COUNT, Teller, filler};
use engine::{Backend, CheckpointFlags, ClusterOptions, CommitExtras, Engine, EngineConfig};
use engine::{BackendSettings, Isolation, create_cluster};
use ids::{Oid, RelFile};
use pgerror::PgError;
use std::sync::Arc;
use std::time::Duration;
use sync::wait::Waiter;
use vfs::{Env, MemDisk, SeededRandom};
use wal::Compression;

/// A fault that is injected to check that the run detects it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum InjectedFault {
    #[default]
    Nothing,
    /// Syncs of paths that contain the text have no effect.
    Unsynced(&'static str),
    /// `full_page_writes = off` on a disk that tears pages.
    NoPageImages,
}

/// An error is a failure of the test; a run must not end with an error or a panic of the engine.
pub type Outcome<T> = Result<T, String>;

fn in_step(what: &str) -> impl Fn(PgError) -> String + '_ {
    move |e| format!("{what}: {e} ({})", e.code())
}

pub(super) struct Fixture {
    pub(super) random: SeededRandom,
    pub(super) env: Env,
    pub(super) disk: MemDisk,
    pub(super) config: EngineConfig,
    pub(super) injected: InjectedFault,
    pub(super) ids: TableIds,
    /// One of this number of steps is a checkpoint.
    pub(super) checkpoint_every: u64,
    pub(super) model: Model,
    pub(super) next_marker: i32,
    pub(super) crashes: u64,
}

/// Statistics of a run.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub crashes: u64,
    /// Committed transactions, and those of them that were found after a crash.
    pub committed: u64,
    pub recovered: u64,
}

/// Runs one seed until it has crashed `crashes` times.
pub fn run(seed: u64, crashes: u64, injected: InjectedFault) -> Outcome<Counts> {
    let mut fixture = Fixture::new(seed, injected)?;
    let mut engine = fixture.open()?;
    fixture.fill(&engine)?;
    while fixture.crashes < crashes {
        let left = fixture.work(&engine)?;
        drop(engine);
        fixture.replace_disk(left);
        engine = fixture.recover()?;
        fixture.verify(&engine)?;
    }
    let (committed, recovered) = fixture.model.totals();
    Ok(Counts { crashes: fixture.crashes, committed, recovered })
}

pub fn session(engine: &Engine, database: Oid) -> Outcome<Backend> {
    let waiter = Arc::new(Waiter::new());
    let tablespace = RelFile::DEFAULT_TABLESPACE;
    let mut be = Backend::connect(engine.storage(), 100, database, tablespace, waiter)
        .map_err(in_step("connection"))?;
    // No session waits for locks here; a timeout reveals a session that does.
    be.configure(BackendSettings {
        lock_timeout: Duration::from_secs(10),
        ..BackendSettings::default()
    });
    Ok(be)
}

/// Inserts the initial rows and commits.
pub fn fill(
    be: &mut Backend,
    tables: &[Table],
    random: &SeededRandom,
    model: &mut Model,
    next_marker: &mut i32,
) -> pgerror::Result<()> {
    let mut writes = Vec::new();
    let counts = [(ACCOUNTS, ACCOUNT_COUNT), (TELLERS, TELLER_COUNT), (BRANCHES, BRANCH_COUNT)];
    *next_marker += 1;
    let ids = counts.iter().flat_map(|(table, n)| (0..*n as i32).map(move |id| (*table, id)));
    for (table, id) in ids.chain([(HISTORY, *next_marker)]) {
        let row = Row { a: 0, b: 0, balance: 0, filler: filler(random) };
        tables[table].insert(be, id, &row)?;
        writes.push(Write { table, id, row: Some(row) });
    }
    model.committing(*next_marker, writes);
    be.commit(CommitExtras::default())?;
    model.acknowledged();
    Ok(())
}

impl Fixture {
    pub(super) fn new(seed: u64, injected: InjectedFault) -> Outcome<Fixture> {
        let random = SeededRandom::new(seed);
        let disk = MemDisk::new();
        let mut env = Env::memory(seed);
        env.disk = Arc::new(disk.clone());
        let options = ClusterOptions { segment_size: 1 << 20, checksums: random.below(4) != 0 };
        create_cluster(&env, &options).map_err(in_step("init"))?;
        let mut config = EngineConfig::new(env.clone());
        config.shared_buffers = [16, 24, 40, 200][random.below(4) as usize];
        config.background.log_checkpoints = false;
        config.txn.slots = 16;
        config.wal.buffers = [4, 8, 64][random.below(3) as usize];
        config.wal.min_wal_size = 2 << 20;
        config.wal.max_wal_size = 3 << 20;
        config.wal.compression = match random.below(6) {
            0 => Compression::Pglz,
            1 => Compression::Lz4,
            2 => Compression::Zstd,
            _ => Compression::Off,
        };
        config.wal_log_hints = random.below(4) == 0;
        if random.below(8) == 0 {
            config.wal.consistency_checking = u32::MAX;
        }
        config.redo_workers = [0, 2, 3][(seed % 3) as usize];
        config.wal.full_page_writes = injected != InjectedFault::NoPageImages;
        let mut fixture = Fixture {
            ids: TableIds::bare(random.below(2) == 0),
            checkpoint_every: [20, 60, 200][random.below(3) as usize],
            random,
            env,
            disk,
            config,
            injected,
            model: Model::new(),
            next_marker: 0,
            crashes: 0,
        };
        fixture.inject();
        Ok(fixture)
    }

    fn inject(&mut self) {
        if let InjectedFault::Unsynced(part) = self.injected {
            self.disk.ignore_sync_on(part);
        }
    }

    pub(super) fn replace_disk(&mut self, disk: MemDisk) {
        self.disk = disk;
        self.env.disk = Arc::new(self.disk.clone());
        self.config.env = self.env.clone();
        self.inject();
    }

    pub(super) fn open(&self) -> Outcome<Arc<Engine>> {
        Engine::open(self.config.clone()).map_err(in_step("recovery"))
    }

    /// A session with random settings.
    pub(super) fn teller(&self, engine: &Engine) -> Outcome<Teller> {
        let mut be = session(engine, self.ids.database)?;
        be.configure(BackendSettings {
            wal_update_delta: self.random.below(2) == 0,
            bottom_up_deletion: self.random.below(4) != 0,
            ..be.settings().clone()
        });
        Ok(Teller::new(be))
    }

    pub(super) fn fill(&mut self, engine: &Engine) -> Outcome<()> {
        let mut be = session(engine, self.ids.database)?;
        let tables = self.ids.open();
        be.begin(Isolation::ReadCommitted);
        tables.iter().try_for_each(|t| t.create(&mut be)).map_err(in_step("tables"))?;
        fill(&mut be, &tables, &self.random, &mut self.model, &mut self.next_marker)
            .map_err(in_step("rows"))
    }

    /// Works until the crash. Returns the disk after it.
    fn work(&mut self, engine: &Arc<Engine>) -> Outcome<MemDisk> {
        let tables = self.ids.open();
        let count = 1 + self.random.below(5) as usize;
        let mut tellers = (0..count).map(|_| self.teller(engine)).collect::<Outcome<Vec<_>>>()?;
        // The crash is either in the middle of a write or (below) between two steps.
        if self.random.below(4) != 0 {
            self.disk.crash_at_change(1 + self.random.below(120), self.random.next());
        }
        let steps = 20 + self.random.below(500);
        let mut left = None;
        for _ in 0..steps {
            let n = self.random.below(tellers.len() as u64) as usize;
            let step = self.step(engine, &tables, &mut tellers[n]);
            let durable = step.map_err(in_step("work"))?;
            left = self.disk.crashed();
            if left.is_some() {
                break;
            }
            if durable {
                self.model.acknowledged();
            }
        }
        let left = match left {
            Some(left) => left,
            None => self.end(engine, &mut tellers)?,
        };
        self.crashes += 1;
        Ok(left)
    }

    /// Runs a step. Returns true if all commits are durable now.
    pub(super) fn step(
        &mut self,
        engine: &Arc<Engine>,
        tables: &[Table],
        teller: &mut Teller,
    ) -> pgerror::Result<bool> {
        if self.random.below(self.checkpoint_every) == 0 {
            engine.checkpoint(CheckpointFlags::IMMEDIATE)?;
            return Ok(false);
        }
        match self.random.below(150) {
            1 | 2 => {
                engine.bgwriter_step()?;
            }
            3 | 4 => {
                engine.walwriter_step()?;
            }
            5 => {
                engine.checkpointer_step()?;
            }
            6 | 7 if teller.idle() => {
                let table = &tables[self.random.below(tables.len() as u64) as usize];
                let be = &mut teller.be;
                be.begin(Isolation::ReadCommitted);
                table.vacuum(be, self.random.below(3) == 0, true)?;
                be.commit(CommitExtras::default())?;
            }
            8 if teller.idle() => self.compare(&mut teller.be, tables)?,
            _ => {
                let (model, next) = (&mut self.model, &mut self.next_marker);
                return teller
                    .step(&self.random, tables, model, next)
                    .map(|d| d == StepEffect::Durable);
            }
        }
        Ok(false)
    }

    /// While the server runs, the tables contain all committed transactions, durable or not.
    pub(super) fn compare(&self, be: &mut Backend, tables: &[Table]) -> pgerror::Result<()> {
        be.begin(Isolation::ReadCommitted);
        let found = read(be, tables)?;
        be.commit(CommitExtras::default())?;
        difference(&self.model.now, &found)
            .map_err(|e| PgError::internal(format!("while running: {e}")))
    }

    /// Ends the run between two steps: by power failures of several kinds, a killed process, or a
    /// shutdown.
    fn end(&mut self, engine: &Arc<Engine>, tellers: &mut Vec<Teller>) -> Outcome<MemDisk> {
        Ok(match self.random.below(8) {
            0 => {
                tellers.clear();
                engine.shutdown().map_err(in_step("shutdown"))?;
                self.model.acknowledged();
                self.disk.crash(self.random.next())
            }
            1 => self.disk.killed(),
            2 => self.disk.crash_losing_all(),
            _ => self.disk.crash(self.random.next()),
        })
    }

    /// Opens the engine. The power may fail again during recovery.
    fn recover(&mut self) -> Outcome<Arc<Engine>> {
        for _ in 0..3 {
            if self.random.below(3) != 0 {
                break;
            }
            self.disk.crash_at_change(1 + self.random.below(60), self.random.next());
            let engine = self.open()?;
            let Some(left) = self.disk.crashed() else { return Ok(engine) };
            drop(engine);
            self.crashes += 1;
            self.replace_disk(left);
        }
        self.open()
    }

    pub(super) fn verify(&mut self, engine: &Arc<Engine>) -> Outcome<()> {
        let mut be = session(engine, self.ids.database)?;
        let tables = self.ids.open();
        be.begin(Isolation::ReadCommitted);
        let found = read(&mut be, &tables).map_err(in_step("scan"))?;
        for table in &tables {
            table.check(&mut be).map_err(in_step("check"))?;
        }
        be.commit(CommitExtras::default()).map_err(in_step("commit"))?;
        self.model.recovered(found)
    }
}

fn read(be: &mut Backend, tables: &[Table]) -> pgerror::Result<State> {
    let mut state = super::model::empty();
    for (rows, table) in state.iter_mut().zip(tables) {
        *rows = table.rows(be)?;
    }
    Ok(state)
}
