//! Opens a data directory that PostgreSQL created, and compares object definitions and foreign key
//! behaviour with PostgreSQL's.

use super::{Fixture, query_in};
use crate::state::State;
use catalog::{CatSession, Catalogs};
use engine::{Backend, Engine, EngineConfig};
use ids::{Oid, RelFile};
use std::process::Command;
use std::sync::Arc;
use sync::wait::Waiter;
use txn::Isolation;
use vfs::Env;

const BIN: &str = "/usr/lib/postgresql/15/bin";

struct TempDir(String);

impl TempDir {
    fn new(name: &str) -> TempDir {
        let path = format!("/tmp/norsu-session-{name}-{}", std::process::id());
        let _ = std::fs::remove_dir_all(&path);
        run("install", &["-d", "-o", "postgres", &path]);
        TempDir(path)
    }

    fn data(&self) -> String {
        format!("{}/data", self.0)
    }

    fn start(&self) {
        let options = format!("-k {} -h ''", self.0);
        let log = format!("{}/log", self.0);
        pg("pg_ctl", &["-D", &self.data(), "-w", "-l", &log, "-o", &options, "start"]);
    }

    fn sql(&self, sql: &str) -> String {
        pg("psql", &["-h", &self.0, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-Atqc", sql])
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let pid = std::fs::read_to_string(format!("{}/postmaster.pid", self.data()));
        if let Some(pid) = pid.ok().and_then(|text| text.lines().next().map(str::to_owned)) {
            // The kill of the shell: a minimal system has no program of that name.
            let _ = Command::new("sh").args(["-c", "kill -QUIT \"$1\"", "sh", &pid]).status();
        }
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(program: &str, args: &[&str]) -> String {
    let out = Command::new(program).args(args).output().expect(program);
    assert!(
        out.status.success(),
        "{program} {args:?}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).trim_end_matches('\n').to_owned()
}

fn pg(program: &str, args: &[&str]) -> String {
    let path = format!("{BIN}/{program}");
    let mut all = vec!["-u", "postgres", "--", &path];
    all.extend_from_slice(args);
    run("runuser", &all)
}

fn open(dir: &TempDir) -> Fixture {
    let mut config = EngineConfig::new(Env::os(dir.data()));
    config.shared_buffers = 2000;
    let engine = Engine::open(config).unwrap();
    let catalogs = Arc::new(Catalogs::new());
    let database = Oid(5);
    let tablespace = RelFile::DEFAULT_TABLESPACE;
    let waiter = Arc::new(Waiter::new());
    let backend = Backend::connect(engine.storage(), 1, database, tablespace, waiter).unwrap();
    let session = CatSession::new(catalogs.database(database), Oid(10));
    let registry = Arc::new(settings::Registry::load());
    let store = settings::SessionValues::new(Arc::new(settings::ServerValues::new(registry)));
    let state = State::new(backend, session, catalogs, "postgres".into(), store);
    Fixture { _engine: engine, state }
}

const OBJECTS: &str = include_str!("objects.sql");

/// Queries that both servers can execute; each returns one text column.
const DEFINITION_QUERIES: &[&str] = &[
    "select pg_get_viewdef(oid) from pg_class where relkind = 'v' and relnamespace = 2200 \
     order by relname",
    "select pg_get_viewdef(oid, true) from pg_class where relkind = 'v' and relnamespace = 2200 \
     order by relname",
    "select pg_get_viewdef(oid, 60) from pg_class where relkind = 'v' and relnamespace = 2200 \
     order by relname",
    "select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid \
     where relnamespace in (11, 2200) order by relname",
    "select pg_get_indexdef(i.indexrelid, 0, true) from pg_index i \
     join pg_class c on c.oid = i.indexrelid where relnamespace = 2200 order by relname",
    "select pg_get_indexdef(i.indexrelid, 1, true) from pg_index i \
     join pg_class c on c.oid = i.indexrelid where relnamespace = 2200 order by relname",
    "select conname || pg_get_constraintdef(oid) from pg_constraint where connamespace = 2200 \
     order by conname, oid",
    "select conname || pg_get_constraintdef(oid, true) from pg_constraint \
     where connamespace = 2200 order by conname, oid",
    "select pg_get_expr(adbin, adrelid) from pg_attrdef order by oid",
    "select pg_get_expr(adbin, adrelid, true) from pg_attrdef order by oid",
    "select pg_get_triggerdef(oid) from pg_trigger where not tgisinternal order by tgname",
    "select pg_get_triggerdef(oid, true) from pg_trigger order by tgname",
    "select pg_get_ruledef(oid) from pg_rewrite where rulename like 'r\\_%' order by rulename",
    "select pg_get_functiondef(oid) from pg_proc where pronamespace = 2200 order by proname",
    "select pg_get_function_arguments(oid) from pg_proc where pronamespace in (11, 2200) \
     and (proargdefaults is null or pronamespace = 2200) order by proname, oid",
    "select pg_get_function_identity_arguments(oid) from pg_proc where pronamespace = 2200 \
     order by proname, oid",
    "select pg_get_function_result(oid) from pg_proc where pronamespace in (11, 2200) \
     order by proname, oid",
    "select pg_get_statisticsobjdef(oid) from pg_statistic_ext order by oid",
    "select pg_get_statisticsobjdef_columns(oid) from pg_statistic_ext order by oid",
    "select pg_get_serial_sequence('child', 'id')",
    "select word || catcode::text || barelabel::text || catdesc || baredesc \
     from pg_get_keywords() order by 1",
];

#[test]
fn objects_and_foreign_keys_of_a_postgresql_directory() {
    let dir = TempDir::new("objects");
    pg("initdb", &["-D", &dir.data(), "-A", "trust", "-k", "--no-sync", "--wal-segsize=1"]);
    dir.start();
    dir.sql(OBJECTS);
    let wanted: Vec<String> = DEFINITION_QUERIES.iter().map(|q| dir.sql(q)).collect();
    pg("pg_ctl", &["-D", &dir.data(), "-w", "-m", "fast", "stop"]);
    let mut f = open(&dir);
    let mut wrong = Vec::new();
    for (sql, want) in DEFINITION_QUERIES.iter().zip(&wanted) {
        match super::query(&mut f.state, sql) {
            Ok(rows) => {
                let have = rows.join("\n").replace("null", "");
                let want = want.replace("null", "");
                let (h, w): (Vec<_>, Vec<_>) = (have.lines().collect(), want.lines().collect());
                for i in 0..h.len().max(w.len()) {
                    if h.get(i) != w.get(i) && wrong.len() < 60 {
                        wrong.push(format!(
                            "{}\n  want {:?}\n  have {:?}",
                            &sql[..sql.len().min(60)],
                            w.get(i),
                            h.get(i)
                        ));
                        if h.len() != w.len() {
                            break;
                        }
                    }
                }
            }
            Err(e) => wrong.push(format!("{sql}\n   {}", e.message())),
        }
    }
    let keys = foreign_keys(&mut f.state);
    assert!(wrong.is_empty(), "{} wrong:\n{}\n{keys:?}", wrong.len(), wrong.join("\n"));
    keys.unwrap();
}

/// Lists of statements, each of which is run in one transaction, and the expected result: rows of
/// the last statement, or an error.
const STEPS: &[(&[&str], &str)] = &[
    (
        &["insert into child(p) values (99)"],
        "23503 insert or update on table \"child\" violates foreign key constraint \
         \"child_p_fkey\": Key (p)=(99) is not present in table \"parent\".",
    ),
    (&["insert into child(p) values (1)", "select count(*) from child"], "4"),
    (&["insert into child(p) values (null)", "select count(*) from child"], "4"),
    (
        &["delete from parent where id = 1"],
        "23503 update or delete on table \"parent\" violates foreign key constraint \
         \"child_p_fkey\" on table \"child\": Key (id)=(1) is still referenced from table \
         \"child\".",
    ),
    (&["delete from parent where id = 3", "select count(*) from parent"], "2"),
    (
        &["update parent set id = 7 where id = 1"],
        "23503 update or delete on table \"parent\" violates foreign key constraint \
         \"child_p_fkey\" on table \"child\": Key (id)=(1) is still referenced from table \
         \"child\".",
    ),
    (&["update parent set name = 'z' where id = 1", "select name from parent where id = 1"], "z"),
    (&["update parent set id = id + 1", "select 1"], "23505"),
    (&["delete from pc where id = 1", "select count(*) from cascades"], "1"),
    (
        &[
            "update pc set id = 5 where id = 1",
            "select string_agg(p::text, ',' order by p) from cascades",
        ],
        "2,5,5",
    ),
    (&["delete from pn where id = 1", "select count(*) from nulls where p is null"], "1"),
    (&["delete from pd where id = 1", "select p from defaults"], "2"),
    (&["delete from pd where id = 2"], ""),
    (
        &[
            "insert into late values (50)",
            "insert into pl values (50)",
            "select count(*) from late",
        ],
        "1",
    ),
    (
        &["insert into late values (51)"],
        "23503 insert or update on table \"late\" violates foreign key constraint \"late_p_fkey\": \
         Key (p)=(51) is not present in table \"pl\".",
    ),
    (&["insert into late values (51)", "delete from late", "select 1"], "1"),
    (
        &["insert into late values (51)", "update late set other = 1", "select 1"],
        "23503 insert or update on table \"late\" violates foreign key constraint \"late_p_fkey\": \
         Key (p)=(51) is not present in table \"pl\".",
    ),
    (
        &["insert into full2 values (1, null)"],
        "23503 insert or update on table \"full2\" violates foreign key constraint \
         \"full2_a_b_fkey\": MATCH FULL does not allow mixing of null and nonnull key values.",
    ),
    (&["insert into full2 values (1, 2)", "select count(*) from full2"], "1"),
    (
        &["insert into full2 values (1, 3)"],
        "23503 insert or update on table \"full2\" violates foreign key constraint \
         \"full2_a_b_fkey\": Key (a, b)=(1, 3) is not present in table \"pair\".",
    ),
    (&["delete from tree where id = 1", "select count(*) from tree"], "0"),
];

fn foreign_keys(state: &mut State) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (statements, want) in STEPS {
        state.backend.begin(Isolation::ReadCommitted);
        let mut have = Ok(Vec::new());
        for sql in *statements {
            have = query_in(state, sql);
            if have.is_err() {
                break;
            }
            if let Err(e) = state.cat().increment_command_counter() {
                have = Err(e);
            }
        }
        if have.is_ok()
            && let Err(e) = trigger::before_commit(state)
        {
            have = Err(e);
        }
        state.triggers.end_transaction();
        state.backend.truncate_snapshots(0);
        state.backend.abort().unwrap();
        let have = match have {
            Ok(rows) => rows.join("\n"),
            Err(e) => {
                let detail = e.fields().detail.as_deref().unwrap_or("").to_owned();
                format!("{} {}: {detail}", e.code(), e.message())
            }
        };
        if have != *want && !(want.len() == 5 && have.starts_with(want)) {
            wrong.push(format!("{statements:?}\n  want {want}\n  have {have}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}
