//! PostgreSQL's regression and isolation tests, and those of its extensions, on Norsu and on
//! PostgreSQL, compared statement by statement. The tests are in PostgreSQL's source package
//! (`scripts/postgresql-source`); no part of them is stored here. `docs/compatibility.md` records
//! how many statements of each file agree, and why others do not: the test fails if fewer
//! statements of a file agree than recorded.
//!
//! The test is one of the long tests. `NORSU_REGRESS=part,part` runs only files whose name contains
//! one of the parts (and `test_setup`, on which all others depend); `NORSU_REGRESS_WRITE=1` writes
//! the table; `NORSU_REGRESS_OUT=dir` keeps the output of the servers.

mod compare;
mod consequence;
mod contrib;
mod isolation;
mod split;
mod table;

use crate::pair::Pair;
use consequence::Consequences;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use table::Table;
use testkit::dir::TempDir;

/// Time limit of a file on one server, in seconds.
const FILE_SECONDS_MAX: &str = "300";

/// Settings of the server that pg_regress starts.
const SETTINGS: &[&str] = &["max_prepared_transactions=2"];

/// Files of the regression suite whose tables others use.
const SHARED_FILES: &[&str] =
    &["test_setup", "point", "lseg", "line", "box", "path", "polygon", "circle", "create_misc"];

fn is_long() -> bool {
    std::env::var_os("NORSU_TEST_LONG").is_some()
}

/// The sources. The first test that needs them downloads them, once per build directory.
fn sources() -> PathBuf {
    static SOURCES: OnceLock<PathBuf> = OnceLock::new();
    SOURCES.get_or_init(fetched).clone()
}

fn fetched() -> PathBuf {
    if let Some(path) = std::env::var_os("NORSU_POSTGRESQL_SOURCE") {
        return path.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the repository");
    let mut fetch = Command::new(root.join("scripts/postgresql-source"));
    fetch.arg(root.join("target/postgresql-source")).stdin(Stdio::null()).stderr(Stdio::inherit());
    let out = fetch.output().expect("the script can be run");
    assert!(out.status.success(), "the source package of PostgreSQL 15 cannot be had");
    PathBuf::from(String::from_utf8_lossy(&out.stdout).trim())
}

/// The test names of a schedule, in order.
fn schedule(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines = text.lines().filter_map(|l| l.strip_prefix("test:"));
    lines.flat_map(|l| l.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn is_wanted(name: &str) -> bool {
    let only = std::env::var("NORSU_REGRESS").unwrap_or_default();
    only.split(',').any(|part| name.contains(part)) || name == "test_setup"
}

/// The directory of the outputs, which is given by the user, or removed at the end of the test.
struct Outputs {
    folder: PathBuf,
    _own: Option<TempDir>,
}

impl Outputs {
    fn new() -> Outputs {
        match std::env::var_os("NORSU_REGRESS_OUT") {
            Some(folder) => {
                std::fs::create_dir_all(&folder).expect("a folder can be made");
                Outputs { folder: folder.into(), _own: None }
            }
            None => {
                let own = TempDir::new("regress");
                Outputs { folder: own.path().to_owned(), _own: Some(own) }
            }
        }
    }

    fn keep(&self, name: &str, server: &str, text: &str) {
        let path = self.folder.join(format!("{name}.{server}.out"));
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

/// A copy of the suite's data that the servers, which run as another user, can read.
fn copy_of_suite(from: &Path, to: &Path) {
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(from).arg(to);
    assert!(copy.status().is_ok_and(|s| s.success()), "{} cannot be copied", from.display());
    let mut modes = Command::new("chmod");
    modes.args(["-R", "a+rX"]).arg(to);
    assert!(modes.status().is_ok_and(|s| s.success()));
    // The directory for files that COPY TO writes.
    let results = to.join("results");
    std::fs::create_dir_all(&results).expect("a new folder");
    assert!(Command::new("chmod").arg("a+rwx").arg(results).status().is_ok_and(|s| s.success()));
}

/// One of the two servers.
struct Side {
    name: &'static str,
    sockets: PathBuf,
    /// The copy of the suite, with a directory for results.
    suite: PathBuf,
}

impl Side {
    /// Runs statements in a database with the settings of pg_regress; returns output and messages
    /// in order.
    fn psql(&self, database: &str, input: &Path, more: &[&str]) -> String {
        let mut psql = self.client();
        psql.arg(format!("{}/psql", testkit::postgres::BIN));
        psql.arg("-h").arg(&self.sockets).args(["-U", "postgres", "-d", database, "-X"]).args(more);
        psql.env("PG_LIBDIR", "/usr/lib/postgresql/15/lib").env("PG_DLSUFFIX", ".so");
        psql.env("PG_ABS_SRCDIR", &self.suite).env("PG_ABS_BUILDDIR", &self.suite);
        self.run(psql, input)
    }

    /// A client with the settings of pg_regress and a time limit; its first argument is the
    /// program. Its output and its messages are written to one stream, so that they stay in order.
    fn client(&self) -> Command {
        let mut client = testkit::postgres::command(Path::new("sh"));
        client.args(["-c", "exec \"$@\" 2>&1", "sh", "timeout", "-k", "5", FILE_SECONDS_MAX]);
        for (name, value) in [
            ("PGTZ", "PST8PDT"),
            ("PGDATESTYLE", "Postgres, MDY"),
            ("PGOPTIONS", "-c intervalstyle=postgres_verbose"),
            ("LC_MESSAGES", "C"),
        ] {
            client.env(name, value);
        }
        for name in ["LANG", "LANGUAGE", "LC_ALL", "PGCLIENTENCODING"] {
            client.env_remove(name);
        }
        client.current_dir(&self.suite);
        client
    }

    /// The output of the client, in which paths that differ between the servers are replaced.
    fn run(&self, mut client: Command, input: &Path) -> String {
        let input =
            std::fs::File::open(input).unwrap_or_else(|e| panic!("{}: {e}", input.display()));
        let out = client.stdin(input).output().expect("the client can be run");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let text = text.replace(&self.suite.display().to_string(), "SUITE");
        let text = text.replace(&self.sockets.display().to_string(), "SOCKETS");
        without_isolation_warning(&text)
    }

    /// Runs preparatory statements. Only the first server must support all of them.
    fn prepare(&self, database: &str, sql: &str) -> String {
        let path = self.suite.join("prepare.sql");
        std::fs::write(&path, sql).expect("a file can be written");
        self.psql(database, &path, &["-q"])
    }
}

/// The output without the warning that SERIALIZABLE is not enforced. Only Norsu raises it, and it
/// would conceal whether the statements agree.
fn without_isolation_warning(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        if line.contains("WARNING:  isolation level SERIALIZABLE is not enforced") {
            // Skip its detail and its hint.
            lines.next();
            lines.next();
        } else {
            out.push_str(line);
        }
    }
    out
}

/// Both servers with a new database of that name, which is created as by pg_regress.
fn sides(pair: &Pair, suite: &Path, database: &str) -> [Side; 2] {
    let servers = [("norsu", pair.ours.sockets()), ("postgresql", pair.real.sockets())];
    servers.map(|(name, sockets)| {
        let own = pair.dir().join(format!("{name}-{database}"));
        copy_of_suite(suite, &own);
        let side = Side { name, sockets: sockets.to_owned(), suite: own };
        let made = side.prepare(
            "postgres",
            &format!(
                "CREATE DATABASE {database} TEMPLATE = template0;\n\
                 ALTER DATABASE {database} SET lc_messages TO 'C';\n\
                 ALTER DATABASE {database} SET lc_monetary TO 'C';\n\
                 ALTER DATABASE {database} SET lc_numeric TO 'C';\n\
                 ALTER DATABASE {database} SET lc_time TO 'C';\n\
                 ALTER DATABASE {database} SET bytea_output TO 'hex';\n\
                 ALTER DATABASE {database} SET timezone_abbreviations TO 'Default';\n"
            ),
        );
        assert!(!made.contains("ERROR"), "{name}: {made}");
        side
    })
}

/// A file of a suite whose statements are run by psql.
struct File<'a> {
    /// Its name in the table and in the names of outputs.
    row: &'a str,
    database: &'a str,
    /// Its name without `sql/` and `.sql`.
    name: &'a str,
}

impl File<'_> {
    /// Runs the file on both servers and compares the answers. `refused` is what earlier files
    /// leave behind.
    fn run(
        &self,
        suite: &Path,
        sides: &[Side; 2],
        outputs: &Outputs,
        refused: &mut Consequences,
    ) -> compare::Tally {
        let path = format!("sql/{}.sql", self.name);
        let input = suite.join(&path);
        let text = std::fs::read(&input).unwrap_or_else(|e| panic!("{}: {e}", input.display()));
        let script = split::Script::new(&String::from_utf8_lossy(&text));
        let [ours, theirs] = sides.each_ref().map(|side| {
            let own = side.suite.join(&path);
            std::fs::write(&own, &script.marked).expect("a script can be written");
            let switches = ["-q", "-v", "HIDE_TABLEAM=on", "-v", "HIDE_TOAST_COMPRESSION=on"];
            let said = side.psql(self.database, &own, &switches);
            outputs.keep(self.row, side.name, &script.transcript(&said));
            said
        });
        let tally = compare::regression(&script, &ours, &theirs, refused);
        outputs.keep(self.row, "differences", &tally.differences);
        println!("{}: {} of {} agree; {}", self.row, tally.agreeing, tally.total, tally.reason());
        tally
    }
}

#[test]
fn the_regression_suite_agrees_as_far_as_recorded() {
    if !is_long() {
        return table::check_form();
    }
    let source = sources();
    let suite = source.join("src/test/regress");
    let pair = Pair::start_both("regress", "C", SETTINGS);
    let sides = sides(&pair, &suite, "regression");
    let outputs = Outputs::new();
    let mut table = Table::load("regression");
    let mut shared = Consequences::default();
    let names = schedule(&suite.join("parallel_schedule"));
    for name in names.iter().filter(|n| is_wanted(n)) {
        let mut refused = shared.clone();
        let file = File { row: name, database: "regression", name };
        let tally = file.run(&suite, &sides, &outputs, &mut refused);
        if SHARED_FILES.contains(&name.as_str()) {
            shared = refused;
        }
        table.note(name, &tally);
    }
    table.finish();
}

#[test]
fn the_isolation_suite_agrees_as_far_as_recorded() {
    if !is_long() {
        return table::check_form();
    }
    let source = sources();
    let tester = isolation::tester(&source);
    let suite = source.join("src/test/isolation");
    let pair = Pair::start_both("isolation", "C", SETTINGS);
    let sides = sides(&pair, &suite, "isolation_regression");
    let outputs = Outputs::new();
    let mut table = Table::load("isolation");
    let names = schedule(&suite.join("isolation_schedule"));
    for name in names.iter().filter(|n| is_wanted(n)) {
        let [ours, theirs] = sides.each_ref().map(|side| {
            let said = isolation::run(&tester, side, name);
            outputs.keep(name, side.name, &said);
            said
        });
        let tally = compare::isolation(&ours, &theirs);
        outputs.keep(name, "differences", &tally.differences);
        println!("{name}: {} of {} agree; {}", tally.agreeing, tally.total, tally.reason());
        table.note(name, &tally);
    }
    table.finish();
}
