//! A random workload with a model of its results. Each session owns some tables, which it creates,
//! changes and drops; all sessions lock and change rows of the table `shared`, without waiting.

use std::collections::{BTreeMap, BTreeSet};
use testkit::client::{Client, Reply};
use vfs::SeededRandom;

type Row = Vec<Option<String>>;

/// The expected contents of a table. The column `id` is the key of `rows`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Table {
    columns: Vec<String>,
    rows: BTreeMap<i32, Row>,
    indexes: BTreeSet<String>,
    unlogged: bool,
}

type Tables = BTreeMap<String, Table>;

const SHARED: &str = "shared";
const SHARED_ROWS: i32 = 8;

/// Statements that give system catalogs new files.
const REWRITES: [&str; 9] = [
    "VACUUM FULL pg_class",
    "REINDEX TABLE pg_class",
    "CLUSTER pg_class USING pg_class_relname_nsp_index",
    "REINDEX TABLE pg_attribute",
    "VACUUM FULL pg_type",
    "VACUUM FULL pg_index",
    "REINDEX TABLE pg_depend",
    "VACUUM FULL pg_database",
    "BEGIN; CLUSTER pg_attribute USING pg_attribute_relid_attnum_index; ROLLBACK",
];

/// More keys than fit one leaf page of an index.
const EVERY_KIND_ROWS: i32 = 500;

/// The contents of the tables that a transaction may change, as seen by that transaction.
#[derive(Clone, Default)]
struct Work {
    tables: Tables,
    shared: BTreeMap<i32, Row>,
}

#[derive(Clone)]
struct Transaction {
    work: Work,
    savepoints: Vec<Work>,
    sync: bool,
    changed: bool,
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StepResult {
    Nothing,
    /// A commit that waited for the flush of the log.
    Durable,
    /// A commit that did not wait (`synchronous_commit = off`, or without log records).
    Lazy,
}

/// The workload and its model.
#[derive(Clone)]
pub(crate) struct Script {
    committed: Tables,
    /// The states that may be found after a crash at this time, oldest first; the last one is
    /// `committed`.
    possible: Vec<Tables>,
    /// The state that the running statement commits.
    in_doubt: Option<Tables>,
    transactions: Vec<Option<Transaction>>,
    next: i32,
    /// The largest value of the sequence, at present and when the log was last known to be flushed.
    sequence_now: i64,
    sequence_acknowledged: i64,
    log: Vec<String>,
    loud: bool,
    /// VACUUM must not truncate files.
    pub(crate) keep_length: bool,
    /// No files are removed: no table is dropped or truncated, and none is created whose creation
    /// could be rolled back.
    pub(crate) keep_files: bool,
    /// Some transactions are prepared before they are committed.
    pub(crate) two_phase: bool,
}

/// A statement and its effect on the transaction's view.
struct Op {
    sql: String,
    work: Work,
    changed: bool,
    /// Data for COPY.
    data: Option<String>,
}

fn quoted(value: &Option<String>, column: &str) -> String {
    match value {
        None => "NULL".to_owned(),
        Some(v) if column.starts_with('t') => format!("'{v}'"),
        Some(v) => v.clone(),
    }
}

fn text(random: &SeededRandom) -> String {
    let len = match random.below(20) {
        0 => 2500 + random.below(7000),
        1 => 900,
        _ => random.below(40),
    };
    (0..len).map(|_| (b'a' + random.below(26) as u8) as char).collect()
}

fn value(random: &SeededRandom, column: &str) -> Option<String> {
    (random.below(8) != 0).then(|| match column.starts_with('t') {
        true => text(random),
        false => (random.below(2000) as i64 - 1000).to_string(),
    })
}

fn pick<'a>(random: &SeededRandom, tables: &'a Tables) -> Option<(&'a String, &'a Table)> {
    let n = tables.len() as u64;
    if n == 0 { None } else { tables.iter().nth(random.below(n) as usize) }
}

impl Script {
    pub(crate) fn new(loud: bool) -> Script {
        Script {
            committed: Tables::new(),
            possible: vec![Tables::new()],
            in_doubt: None,
            transactions: Vec::new(),
            next: 0,
            sequence_acknowledged: 0,
            sequence_now: 0,
            log: Vec::new(),
            loud,
            keep_length: false,
            keep_files: false,
            two_phase: false,
        }
    }

    /// The last statements, for the message of a failure.
    pub(crate) fn history(&self) -> String {
        let from = self.log.len().saturating_sub(60);
        self.log[from..].join("\n")
    }

    fn say(&mut self, owner: usize, sql: &str, reply: &Reply) {
        let short: String = sql.chars().take(160).collect();
        let line = format!("  {owner}: {short} -> {}{}", reply.code(), reply.status);
        if self.loud {
            println!("{line}");
        }
        self.log.push(line);
    }

    fn ask(
        &mut self,
        session: &mut Client,
        owner: usize,
        sql: &str,
        data: Option<&str>,
    ) -> Result<Reply, String> {
        let reply = match data {
            Some(data) => session.copy_in(sql, data.as_bytes()),
            None => session.query(sql),
        };
        let reply = reply.map_err(|e| format!("{sql}: {e}\n{}", self.history()))?;
        self.say(owner, sql, &reply);
        Ok(reply)
    }

    fn must(&mut self, session: &mut Client, owner: usize, sql: &str) -> Result<Reply, String> {
        let reply = self.ask(session, owner, sql, None)?;
        match &reply.error {
            None => Ok(reply),
            Some(e) => Err(format!("{sql}: {} {}\n{}", e.code, e.message, self.history())),
        }
    }

    /// Starts new sessions. The first ones create the objects that all sessions use.
    pub(crate) fn start(&mut self, sessions: &mut [Client]) -> Result<(), String> {
        self.log.push("start".to_owned());
        self.transactions = sessions.iter().map(|_| None).collect();
        for (owner, session) in sessions.iter_mut().enumerate() {
            self.must(session, owner, "SET lock_timeout = '5s'")?;
        }
        if self.committed.contains_key(SHARED) {
            return Ok(());
        }
        let first = &mut sessions[0];
        self.must(first, 0, "CREATE TABLE shared (id int PRIMARY KEY, v int, t text)")?;
        self.must(first, 0, "CREATE SEQUENCE sq")?;
        self.must(
            first,
            0,
            &format!(
                "INSERT INTO shared SELECT g, 0, 'x' FROM generate_series(1, {SHARED_ROWS}) g"
            ),
        )?;
        let row = || vec![Some("0".to_owned()), Some("x".to_owned())];
        let shared = Table {
            columns: vec!["v".to_owned(), "t".to_owned()],
            rows: (1..=SHARED_ROWS).map(|id| (id, row())).collect(),
            indexes: BTreeSet::from(["shared_pkey".to_owned()]),
            unlogged: false,
        };
        self.committed = Tables::from([(SHARED.to_owned(), shared)]);
        self.possible = vec![self.committed.clone()];
        Ok(())
    }

    fn owned(&self, owner: usize) -> Work {
        let mine = |name: &&String| name.starts_with(&format!("o{owner}_"));
        let tables = self.committed.iter().filter(|(name, _)| mine(name));
        Work { tables: tables.map(|(n, t)| (n.clone(), t.clone())).collect(), ..Work::default() }
    }

    /// The committed state after this transaction.
    fn after(&self, owner: usize, work: &Work) -> Tables {
        let mut tables = self.committed.clone();
        tables.retain(|name, _| !name.starts_with(&format!("o{owner}_")));
        tables.extend(work.tables.iter().map(|(n, t)| (n.clone(), t.clone())));
        if let Some(shared) = tables.get_mut(SHARED) {
            shared.rows.extend(work.shared.iter().map(|(id, row)| (*id, row.clone())));
        }
        tables
    }

    /// Runs one statement of one session.
    pub(crate) fn step(
        &mut self,
        sessions: &mut [Client],
        random: &SeededRandom,
    ) -> Result<StepResult, String> {
        let owner = random.below(sessions.len() as u64) as usize;
        let session = &mut sessions[owner];
        match self.transactions[owner].take() {
            Some(transaction) => self.within(session, owner, transaction, random),
            None if random.below(3) == 0 => {
                let sync = random.below(4) != 0;
                let begin =
                    if sync { "BEGIN" } else { "BEGIN; SET LOCAL synchronous_commit = off" };
                self.must(session, owner, begin)?;
                self.transactions[owner] = Some(Transaction {
                    work: self.owned(owner),
                    savepoints: Vec::new(),
                    sync,
                    changed: false,
                });
                Ok(StepResult::Nothing)
            }
            None => self.alone(session, owner, random),
        }
    }

    /// A statement outside a transaction block.
    fn alone(
        &mut self,
        session: &mut Client,
        owner: usize,
        random: &SeededRandom,
    ) -> Result<StepResult, String> {
        // Other transactions keep their locks of catalogs.
        let may_rewrite = !self.keep_files && self.transactions.iter().all(Option::is_none);
        if random.below(30) == 0 && may_rewrite {
            let sql = REWRITES[random.below(REWRITES.len() as u64) as usize];
            self.must(session, owner, sql)?;
            return Ok(StepResult::Nothing);
        }
        if random.below(8) == 0 {
            let own = self.owned(owner);
            let table = match random.below(4) {
                0 => Some("pg_class".to_owned()),
                1 => Some("pg_attribute".to_owned()),
                2 => None,
                _ => pick(random, &own.tables).map(|(name, _)| name.clone()),
            };
            // Never all tables, because other sessions have locked some.
            let table = table.as_deref().unwrap_or(SHARED);
            let verb = match (random.below(4), self.keep_length) {
                (0, true) => "VACUUM (FREEZE, TRUNCATE off)",
                (0, false) => "VACUUM (FREEZE)",
                (1, _) => "ANALYZE",
                (_, true) => "VACUUM (TRUNCATE off)",
                (_, false) => "VACUUM",
            };
            self.must(session, owner, &format!("{verb} {table}"))?;
            return Ok(StepResult::Nothing);
        }
        if random.below(10) == 0 {
            self.take_number(session, owner)?;
            return Ok(StepResult::Nothing);
        }
        let Some(op) = self.op(owner, &self.owned(owner), random) else {
            return Ok(StepResult::Nothing);
        };
        let after = self.after(owner, &op.work);
        self.in_doubt = Some(after.clone());
        let reply = self.ask(session, owner, &op.sql, op.data.as_deref())?;
        if !self.succeeded(&reply, &op.sql)? {
            self.in_doubt = None;
            return Ok(StepResult::Nothing);
        }
        self.committed = after;
        Ok(if op.changed { StepResult::Durable } else { StepResult::Lazy })
    }

    fn take_number(&mut self, session: &mut Client, owner: usize) -> Result<(), String> {
        let reply = self.must(session, owner, "SELECT nextval('sq')")?;
        let value = reply.text()[0].parse().map_err(|e| format!("nextval: {e}"))?;
        self.sequence_now = self.sequence_now.max(value);
        Ok(())
    }

    fn within(
        &mut self,
        session: &mut Client,
        owner: usize,
        mut tx: Transaction,
        random: &SeededRandom,
    ) -> Result<StepResult, String> {
        match random.below(14) {
            0 => {
                self.must(session, owner, "ROLLBACK")?;
                return Ok(StepResult::Nothing);
            }
            1 if self.two_phase => return self.prepare_and_commit(session, owner, &tx),
            1 | 2 => return self.commit(session, owner, &tx),
            3 if tx.savepoints.len() < 3 => {
                self.must(session, owner, &format!("SAVEPOINT p{}", tx.savepoints.len()))?;
                tx.savepoints.push(tx.work.clone());
            }
            4 if !tx.savepoints.is_empty() => {
                tx.work = tx.savepoints.pop().expect("one is open");
                let n = tx.savepoints.len();
                self.must(session, owner, &format!("ROLLBACK TO p{n}; RELEASE p{n}"))?;
            }
            5 if !tx.savepoints.is_empty() => {
                tx.savepoints.pop();
                self.must(session, owner, &format!("RELEASE p{}", tx.savepoints.len()))?;
            }
            6 => {
                self.take_number(session, owner)?;
            }
            _ => {
                let Some(op) = self.op(owner, &tx.work, random) else {
                    self.transactions[owner] = Some(tx);
                    return Ok(StepResult::Nothing);
                };
                let reply = self.ask(session, owner, &op.sql, op.data.as_deref())?;
                if self.succeeded(&reply, &op.sql)? {
                    tx.work = op.work;
                    tx.changed |= op.changed;
                } else if let Some(work) = tx.savepoints.pop() {
                    tx.work = work;
                    let n = tx.savepoints.len();
                    self.must(session, owner, &format!("ROLLBACK TO p{n}; RELEASE p{n}"))?;
                } else {
                    self.must(session, owner, "ROLLBACK")?;
                    return Ok(StepResult::Nothing);
                }
            }
        }
        self.transactions[owner] = Some(tx);
        Ok(StepResult::Nothing)
    }

    fn commit(
        &mut self,
        session: &mut Client,
        owner: usize,
        tx: &Transaction,
    ) -> Result<StepResult, String> {
        let after = self.after(owner, &tx.work);
        self.in_doubt = Some(after.clone());
        self.must(session, owner, "COMMIT")?;
        self.committed = after;
        Ok(if tx.sync && tx.changed { StepResult::Durable } else { StepResult::Lazy })
    }

    /// Commits in two phases, which both wait for the flush of the log.
    fn prepare_and_commit(
        &mut self,
        session: &mut Client,
        owner: usize,
        tx: &Transaction,
    ) -> Result<StepResult, String> {
        let after = self.after(owner, &tx.work);
        self.in_doubt = Some(after.clone());
        self.next += 1;
        let gid = format!("{owner}_{}", self.next);
        self.must(session, owner, &format!("PREPARE TRANSACTION '{gid}'"))?;
        self.must(session, owner, &format!("COMMIT PREPARED '{gid}'"))?;
        self.committed = after;
        Ok(StepResult::Durable)
    }

    /// Ends the transactions that were prepared when the server crashed, in either way.
    fn end_prepared(&mut self, session: &mut Client) -> Result<(), String> {
        let gids = self.must(session, 9, "SELECT gid FROM pg_prepared_xacts")?.text();
        for (n, gid) in gids.iter().enumerate() {
            let commits = (gid.len() + n + self.log.len()).is_multiple_of(2);
            let what = if commits { "COMMIT" } else { "ROLLBACK" };
            self.must(session, 9, &format!("{what} PREPARED '{gid}'"))?;
        }
        Ok(())
    }

    /// Ends all transactions, and then runs statements that write a record of every kind, because
    /// the random part may have omitted some. No other transaction is running, so VACUUM can remove
    /// deleted rows.
    pub(crate) fn every_kind(&mut self, sessions: &mut [Client]) -> Result<(), String> {
        for (owner, session) in sessions.iter_mut().enumerate() {
            if let Some(tx) = self.transactions[owner].take() {
                let stepped = self.commit(session, owner, &tx)?;
                self.settle(stepped);
            }
        }
        self.next += 1;
        let name = format!("o0_{}", self.next);
        let first = &mut sessions[0];
        let row = |n: i32| vec![Some(n.to_string()), Some(format!("row {n}"))];
        let mut table = Table {
            columns: vec!["v".to_owned(), "t".to_owned()],
            indexes: BTreeSet::from([format!("{name}_pkey")]),
            unlogged: false,
            rows: (1..=EVERY_KIND_ROWS).map(|n| (n, row(n))).collect(),
        };
        let lines = table.rows.keys().map(|n| format!("{n}\t{n}\trow {n}\n"));
        let data: String = lines.collect();
        self.must(first, 0, &format!("CREATE TABLE {name} (id int PRIMARY KEY, v int, t text)"))?;
        let sql = format!("COPY {name} FROM STDIN");
        let reply = self.ask(first, 0, &sql, Some(&data))?;
        if let Some(e) = reply.error {
            return Err(format!("{sql}: {} {}\n{}", e.code, e.message, self.history()));
        }
        let vacuum = if self.keep_length { "VACUUM (TRUNCATE off" } else { "VACUUM (TRUNCATE on" };
        let changes = [
            format!("INSERT INTO {name} VALUES (0, 0, 'row 0')"),
            // The first pages are full, so the new version is stored on another page.
            format!("UPDATE {name} SET t = 'elsewhere' WHERE id = 1"),
            format!("UPDATE {name} SET v = -1 WHERE id = {EVERY_KIND_ROWS}"),
            format!("SELECT id FROM {name} WHERE id = 5 FOR SHARE"),
            format!("DELETE FROM {name} WHERE id BETWEEN 10 AND 90"),
            format!("{vacuum}) {name}"),
            format!("{vacuum}, FREEZE) {name}"),
            "SELECT nextval('sq') FROM generate_series(1, 40)".to_owned(),
        ];
        for sql in &changes {
            let reply = self.must(first, 0, sql)?;
            if sql.contains("nextval") {
                let last = reply.text().last().and_then(|t| t.parse().ok()).ok_or("no number")?;
                self.sequence_now = self.sequence_now.max(last);
            }
        }
        table.rows.insert(0, row(0));
        table.rows.insert(1, vec![Some("1".to_owned()), Some("elsewhere".to_owned())]);
        let last = vec![Some("-1".to_owned()), Some(format!("row {EVERY_KIND_ROWS}"))];
        table.rows.insert(EVERY_KIND_ROWS, last);
        table.rows.retain(|id, _| !(10..=90).contains(id));
        self.committed.insert(name, table);
        self.settle(StepResult::Durable);
        Ok(())
    }

    /// Checks the reason of a failure: a statement may fail because of rows that other sessions
    /// have locked, or because of unsupported features, but not for other reasons.
    fn succeeded(&self, reply: &Reply, sql: &str) -> Result<bool, String> {
        match &reply.error {
            None => Ok(true),
            Some(e) if e.code == "55P03" || e.code == "0A000" => Ok(false),
            Some(e) => Err(format!("{sql}: {} {}\n{}", e.code, e.message, self.history())),
        }
    }

    /// A random statement; `None` if it is not applicable now.
    fn op(&mut self, owner: usize, work: &Work, random: &SeededRandom) -> Option<Op> {
        self.next += 1;
        let n = self.next;
        if work.tables.is_empty() || (work.tables.len() < 3 && random.below(8) == 0) {
            let kept = self.keep_files;
            return Some(if kept { share(work, random) } else { create(owner, n, work, random) });
        }
        if random.below(5) == 0 {
            return Some(share(work, random));
        }
        let (name, table) = pick(random, &work.tables)?;
        let mut new = table.clone();
        let mut data = None;
        let mut renamed = None;
        let columns = || ["id"].into_iter().chain(table.columns.iter().map(String::as_str));
        let sql = match random.below(24) {
            0..4 if self.keep_files => return Some(share(work, random)),
            0 => {
                let mut work = work.clone();
                work.tables.remove(name);
                return Some(Op { sql: format!("DROP TABLE {name}"), work, changed: true, data });
            }
            1 => {
                new.rows.clear();
                format!("TRUNCATE {name}")
            }
            2 => {
                let index = format!("i{n}");
                new.indexes.insert(index.clone());
                let column = columns().nth(random.below(table.columns.len() as u64 + 1) as usize)?;
                match column.starts_with('t') {
                    _ if n % 3 == 0 => {
                        format!("CREATE INDEX {index} ON {name} USING hash ({column})")
                    }
                    true => format!("CREATE INDEX {index} ON {name} (left({column}, 20))"),
                    false => format!("CREATE UNIQUE INDEX {index} ON {name} ({column}, id)"),
                }
            }
            3 => {
                let index = new.indexes.iter().find(|i| i.starts_with('i'))?.clone();
                new.indexes.remove(&index);
                format!("DROP INDEX {index}")
            }
            4 => {
                let column = if random.below(2) == 0 { format!("v{n}") } else { format!("t{n}") };
                let kind = if column.starts_with('t') { "text" } else { "int" };
                new.columns.push(column.clone());
                let default = (random.below(2) == 0).then(|| "7".to_owned());
                new.rows.values_mut().for_each(|r| r.push(default.clone()));
                let clause = if default.is_some() { " DEFAULT 7" } else { "" };
                format!("ALTER TABLE {name} ADD COLUMN {column} {kind}{clause}")
            }
            5 if table.columns.len() > 2 => {
                // The last column has no index, or an index that is dropped with it.
                let column = new.columns.pop()?;
                new.rows.values_mut().for_each(|r| drop(r.pop()));
                if table.indexes.iter().any(|i| i.starts_with('i')) {
                    return None;
                }
                format!("ALTER TABLE {name} DROP COLUMN {column}")
            }
            6 => {
                let to = format!("o{owner}_r{n}");
                let sql = format!("ALTER TABLE {name} RENAME TO {to}");
                renamed = Some(to);
                sql
            }
            7..10 => delete(name, &mut new, random)?,
            10..14 => update(name, &mut new, random)?,
            14 => {
                let rows = make_rows(table, n, random);
                let mut text = String::new();
                for (id, row) in &rows {
                    let cell = |c: &Option<String>| c.clone().unwrap_or_else(|| "\\N".to_owned());
                    let cells: Vec<String> = row.iter().map(cell).collect();
                    text.push_str(&format!("{id}\t{}\n", cells.join("\t")));
                }
                new.rows.extend(rows);
                data = Some(text);
                format!("COPY {name} FROM STDIN")
            }
            15 => {
                let id = *new.rows.keys().next()?;
                let row = new.rows.get_mut(&id)?;
                row[0] = Some("77".to_owned());
                format!(
                    "INSERT INTO {name} (id, v) VALUES ({id}, 5) ON CONFLICT (id) DO UPDATE \
                     SET v = 77"
                )
            }
            _ => {
                let rows = make_rows(table, n, random);
                let tuples: Vec<String> = rows
                    .iter()
                    .map(|(id, row)| {
                        let cells = row.iter().zip(&table.columns).map(|(v, c)| quoted(v, c));
                        format!("({id}, {})", cells.collect::<Vec<_>>().join(", "))
                    })
                    .collect();
                new.rows.extend(rows);
                let columns: Vec<&str> = columns().collect();
                let columns = columns.join(", ");
                format!("INSERT INTO {name} ({columns}) VALUES {}", tuples.join(", "))
            }
        };
        // A transaction that changes only unlogged tables writes no log records, so its commit does
        // not wait for those of other sessions.
        let silent = table.unlogged
            && ["DELETE", "UPDATE", "COPY", "INSERT"].iter().any(|verb| sql.starts_with(verb));
        let changed = !silent && (new != *table || renamed.is_some());
        let mut work = work.clone();
        work.tables.remove(name);
        work.tables.insert(renamed.unwrap_or_else(|| name.clone()), new);
        Some(Op { sql, work, changed, data })
    }

    /// Updates the model after a step without a crash. Returns true if the step made commits
    /// durable.
    pub(crate) fn settle(&mut self, stepped: StepResult) -> bool {
        self.in_doubt = None;
        match stepped {
            StepResult::Nothing => {}
            StepResult::Lazy => self.possible.push(self.committed.clone()),
            StepResult::Durable => {
                self.sequence_acknowledged = self.sequence_acknowledged.max(self.sequence_now);
                self.possible = vec![self.committed.clone()];
            }
        }
        stepped == StepResult::Durable
    }

    /// The committed state as text.
    pub(crate) fn state(&self) -> String {
        format!("{:?}", self.committed)
    }

    /// Updates the model after a clean shutdown.
    pub(crate) fn shut_down(&mut self) {
        self.log.push("shutdown".to_owned());
        self.sequence_acknowledged = self.sequence_acknowledged.max(self.sequence_now);
        self.possible = vec![self.committed.clone()];
    }

    /// Updates the model after a power failure, or after the process was killed.
    pub(crate) fn after_crash(&mut self) {
        self.log.push("crash".to_owned());
        self.possible.extend(self.in_doubt.take());
        for table in self.possible.iter_mut().flat_map(|t| t.values_mut()) {
            if table.unlogged {
                table.rows.clear();
            }
        }
    }

    /// Updates the model after another failure during start-up. If the server had marked the
    /// control file as running, unlogged tables are emptied even after a clean shutdown.
    pub(crate) fn after_crash_in_recovery(&mut self) {
        let mut emptied = self.possible.clone();
        for table in emptied.iter_mut().flat_map(|t| t.values_mut()).filter(|t| t.unlogged) {
            table.rows.clear();
        }
        self.possible.extend(emptied);
    }

    /// Compares the rows on a standby with the committed state. The standby cannot read unlogged
    /// tables.
    pub(crate) fn verify_standby(&mut self, session: &mut Client) -> Result<(), String> {
        let mut expected = self.committed.clone();
        expected.retain(|_, table| !table.unlogged);
        let mut found = Tables::new();
        for name in expected.keys() {
            found.insert(name.clone(), self.table(session, name, false)?);
        }
        if found == expected { Ok(()) } else { Err(difference(&expected, &found)) }
    }

    /// Compares the contents with the possible states. The script continues from the one that is
    /// found.
    pub(crate) fn verify(&mut self, session: &mut Client) -> Result<(), String> {
        if self.two_phase {
            self.end_prepared(session)?;
        }
        let mut found = Tables::new();
        let names = self.must(
            session,
            9,
            "SELECT relname, relpersistence FROM pg_class WHERE relkind = 'r' \
             AND relnamespace = 2200 AND relname ~ '^(o[0-9]|shared)'",
        )?;
        for line in names.text() {
            let (name, persistence) = line.split_once('|').ok_or("a line without columns")?;
            let table = self.table(session, name, persistence == "u")?;
            found.insert(name.to_owned(), table);
        }
        let Some(at) = self.possible.iter().rposition(|t| *t == found) else {
            let last = self.possible.last().cloned().unwrap_or_default();
            return Err(format!(
                "none of {} states was found; against the last: {}",
                self.possible.len(),
                difference(&last, &found)
            ));
        };
        self.committed = self.possible.swap_remove(at);
        self.possible = vec![self.committed.clone()];
        if self.committed.contains_key(SHARED) {
            let value = self.must(session, 9, "SELECT nextval('sq')")?.text();
            let value: i64 = value[0].parse().map_err(|e| format!("nextval: {e}"))?;
            if value <= self.sequence_acknowledged {
                return Err(format!(
                    "the sequence gave {} before, and {value} now",
                    self.sequence_acknowledged
                ));
            }
            self.sequence_now = value;
            self.sequence_acknowledged = value;
        }
        Ok(())
    }

    fn table(&mut self, session: &mut Client, name: &str, unlogged: bool) -> Result<Table, String> {
        let sql = format!("SELECT * FROM {name} ORDER BY id");
        let reply = self.must(session, 9, &sql)?;
        let answer = reply.answers.first().ok_or("no answer")?;
        let mut table = Table { unlogged, ..Table::default() };
        table.columns = answer.fields.iter().skip(1).map(|f| f.name.clone()).collect();
        for row in &answer.rows {
            let id = row[0].as_deref().and_then(|t| t.parse().ok()).ok_or("a row without id")?;
            if table.rows.insert(id, row[1..].to_vec()).is_some() {
                return Err(format!("{name} has row {id} twice"));
            }
        }
        // The same rows through the index.
        let sql = format!("SET enable_seqscan = off; SELECT count(*) FROM {name} WHERE id > -1");
        let by_index = self.must(session, 9, &sql)?.text();
        if by_index != [table.rows.len().to_string()] {
            return Err(format!(
                "{name}: {by_index:?} rows by index, {} by heap",
                table.rows.len()
            ));
        }
        let sql = format!(
            "SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid \
             WHERE i.indrelid = '{name}'::regclass"
        );
        table.indexes = self.must(session, 9, &sql)?.text().into_iter().collect();
        Ok(table)
    }
}

fn create(owner: usize, n: i32, work: &Work, random: &SeededRandom) -> Op {
    let name = format!("o{owner}_{n}");
    let mut table = Table {
        columns: vec!["v".to_owned(), "t".to_owned()],
        indexes: BTreeSet::from([format!("{name}_pkey")]),
        unlogged: random.below(6) == 0,
        rows: BTreeMap::new(),
    };
    let kind = if table.unlogged { "UNLOGGED " } else { "" };
    let options = if random.below(3) == 0 { " WITH (fillfactor = 50)" } else { "" };
    let mut sql = format!("CREATE {kind}TABLE {name} (id int PRIMARY KEY, v int, t text){options}");
    if random.below(3) == 0 {
        // One message, hence one transaction, creates a table and inserts rows into it.
        sql.push_str(&format!(
            "; INSERT INTO {name} SELECT g, g * 2, 'row ' || g FROM generate_series(1, 40) g"
        ));
        table.rows = (1..=40)
            .map(|g| (g, vec![Some((g * 2).to_string()), Some(format!("row {g}"))]))
            .collect();
    }
    let mut work = work.clone();
    work.tables.insert(name, table);
    Op { sql, work, changed: true, data: None }
}

fn make_rows(table: &Table, n: i32, random: &SeededRandom) -> BTreeMap<i32, Row> {
    let count = if random.below(6) == 0 { 60 } else { 1 + random.below(6) as i32 };
    (0..count)
        .map(|i| (1000 + n * 100 + i, table.columns.iter().map(|c| value(random, c)).collect()))
        .collect()
}

fn delete(name: &str, table: &mut Table, random: &SeededRandom) -> Option<String> {
    let ids: Vec<i32> = table.rows.keys().copied().collect();
    let from = *ids.get(random.below(ids.len().max(1) as u64) as usize)?;
    let to = if random.below(4) == 0 { i32::MAX } else { from + 20 };
    table.rows.retain(|id, _| !(from..=to).contains(id));
    Some(format!("DELETE FROM {name} WHERE id BETWEEN {from} AND {to}"))
}

fn update(name: &str, table: &mut Table, random: &SeededRandom) -> Option<String> {
    let ids: Vec<i32> = table.rows.keys().copied().collect();
    let from = *ids.get(random.below(ids.len().max(1) as u64) as usize)?;
    let to = if random.below(4) == 0 { i32::MAX } else { from + 3 };
    let at = random.below(table.columns.len() as u64) as usize;
    let column = table.columns[at].clone();
    let new = value(random, &column);
    for (_, row) in table.rows.range_mut(from..=to) {
        row[at].clone_from(&new);
    }
    Some(format!(
        "UPDATE {name} SET {column} = {} WHERE id BETWEEN {from} AND {to}",
        quoted(&new, &column)
    ))
}

/// Locks on shared rows, which are refused if another session has locked the row.
fn share(work: &Work, random: &SeededRandom) -> Op {
    let id = 1 + random.below(SHARED_ROWS as u64) as i32;
    let mut work = work.clone();
    let strength = ["KEY SHARE", "SHARE", "NO KEY UPDATE", "UPDATE"][random.below(4) as usize];
    let lock = format!("SELECT id FROM {SHARED} WHERE id = {id} FOR {strength} NOWAIT");
    if random.below(2) == 0 {
        return Op { sql: lock, work, changed: false, data: None };
    }
    let row = vec![Some(random.below(1000).to_string()), Some(text(random))];
    let sql = format!(
        "SELECT id FROM {SHARED} WHERE id = {id} FOR NO KEY UPDATE NOWAIT; \
         UPDATE {SHARED} SET v = {}, t = '{}' WHERE id = {id}",
        row[0].clone().unwrap_or_default(),
        row[1].clone().unwrap_or_default()
    );
    work.shared.insert(id, row);
    Op { sql, work, changed: true, data: None }
}

fn difference(want: &Tables, have: &Tables) -> String {
    for (name, table) in want {
        let Some(other) = have.get(name) else { return format!("{name} is gone") };
        if table == other {
            continue;
        }
        let shape = (&table.columns, &table.indexes, table.unlogged);
        if shape != (&other.columns, &other.indexes, other.unlogged) {
            return format!("{name}: {shape:?} became {:?} {:?}", other.columns, other.indexes);
        }
        let ids: BTreeSet<_> = table.rows.keys().chain(other.rows.keys()).collect();
        for id in ids {
            if table.rows.get(id) != other.rows.get(id) {
                let short =
                    |r: Option<&Row>| format!("{r:?}").chars().take(200).collect::<String>();
                return format!(
                    "{name} {id}: {} became {}",
                    short(table.rows.get(id)),
                    short(other.rows.get(id))
                );
            }
        }
    }
    let surplus: Vec<_> = have.keys().filter(|n| !want.contains_key(*n)).collect();
    format!("surplus tables {surplus:?}")
}
