//! PostgreSQL 15: its programs, and its servers on given data directories.
//!
//! The server refuses to run as root. If the tests run as root, its programs run as the user
//! `postgres`, which must then own the directories.

use crate::client::Client;
use crate::dir::TempDir;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// The directory of the programs in Debian's packages.
pub const BIN: &str = "/usr/lib/postgresql/15/bin";

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n")
}

/// One of PostgreSQL's programs, run as an unprivileged user.
pub fn program(name: &str) -> Command {
    command(Path::new(&format!("{BIN}/{name}")))
}

/// Any program, run as an unprivileged user.
pub fn command(path: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("runuser");
        // The user may have no access to the current directory.
        command.args(["-u", "postgres", "--"]).arg(path).current_dir("/");
        command
    } else {
        Command::new(path)
    }
}

/// Time after which a program is considered to hang.
fn timeout() -> Duration {
    let long = std::env::var_os("NORSU_TEST_LONG").is_some();
    Duration::from_secs(if long { 7200 } else { 900 })
}

/// A command that sends a signal to a process, or to the group with this number if it is negative.
/// It uses the kill of the shell: a minimal system has no program of that name.
pub fn kill(signal: &str, pid: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "kill -s \"$1\" -- \"$2\"", "sh", signal, pid]);
    command
}

/// Output of a program. Panics if it fails, or if it hangs; then it is killed.
pub fn run(mut command: Command) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().unwrap_or_else(|e| panic!("could not run {command:?}: {e}"));
    let group = child.id();
    let (done, ended) = mpsc::channel::<()>();
    let watch = std::thread::spawn(move || {
        let hangs = ended.recv_timeout(timeout()) == Err(mpsc::RecvTimeoutError::Timeout);
        if hangs {
            let _ = kill("KILL", &format!("-{group}")).status();
        }
        hangs
    });
    let out = child.wait_with_output();
    drop(done);
    assert!(!watch.join().unwrap(), "{command:?} did not end");
    let out = out.unwrap_or_else(|e| panic!("could not run {command:?}: {e}"));
    let (stdout, stderr) =
        (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{command:?} failed:\n{stdout}{stderr}");
    stdout.into_owned()
}

/// Changes the owner of a directory and its contents to the user that runs the programs.
pub fn chown_to_server_user(path: &Path) {
    if is_root() {
        let mut chown = Command::new("chown");
        chown.args(["-R", "postgres"]).arg(path);
        run(chown);
    }
}

/// Creates a cluster in `data` (superuser postgres, UTF-8), with more options of initdb.
pub fn init_with(data: &Path, options: &[&str]) {
    let mut initdb = program("initdb");
    initdb.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "-D"]).arg(data);
    initdb.args(options);
    run(initdb);
}

/// A running server of PostgreSQL. It is stopped on drop.
pub struct PostgresServer {
    data: PathBuf,
    sockets: TempDir,
    user: String,
}

impl PostgresServer {
    /// Starts a server on `data`; `user` is the superuser.
    pub fn start(data: &Path, user: &str) -> PostgresServer {
        PostgresServer::start_with(data, user, &[])
    }

    /// Like [`PostgresServer::start`], with settings `name=value`.
    pub fn start_with(data: &Path, user: &str, settings: &[&str]) -> PostgresServer {
        PostgresServer::try_start(data, user, settings)
            .unwrap_or_else(|log| panic!("the server did not start:\n{log}"))
    }

    /// Like [`PostgresServer::start`], through a launcher that executes the command in its last
    /// arguments.
    pub fn start_by(launcher: &[String], data: &Path, user: &str) -> PostgresServer {
        let mut start = command(Path::new(&launcher[0]));
        start.args(&launcher[1..]).arg(format!("{BIN}/pg_ctl"));
        PostgresServer::try_start_as(start, data, user, &[])
            .unwrap_or_else(|log| panic!("the server did not start:\n{log}"))
    }

    /// Like [`PostgresServer::start_with`]; if the server does not start, the error is its log.
    pub fn try_start(data: &Path, user: &str, settings: &[&str]) -> Result<PostgresServer, String> {
        PostgresServer::try_start_as(program("pg_ctl"), data, user, settings)
    }

    fn try_start_as(
        mut start: Command,
        data: &Path,
        user: &str,
        settings: &[&str],
    ) -> Result<PostgresServer, String> {
        chown_to_server_user(data);
        let sockets = TempDir::new("sockets");
        chown_to_server_user(sockets.path());
        let log = sockets.path().join("log");
        let mut options = format!(
            "-c listen_addresses= -c unix_socket_directories={} -c fsync=off",
            sockets.path().display()
        );
        for setting in settings {
            options.push_str(&format!(" -c {setting}"));
        }
        start.arg("-D").arg(data).arg("-w").arg("-l").arg(&log).arg("-o").arg(options);
        // The server inherits the standard streams and keeps them open.
        start.arg("start").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = start.status().expect("pg_ctl can be run");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        // A server that is not ready in time may still be starting, so it is stopped on drop too.
        let server = PostgresServer { data: data.to_owned(), sockets, user: user.to_owned() };
        if status.success() { Ok(server) } else { Err(log) }
    }

    /// The directory of the socket.
    pub fn sockets(&self) -> &Path {
        self.sockets.path()
    }

    /// A connection to this server.
    pub fn connect(&self, database: &str) -> Client {
        Client::connect_with(self.sockets.path(), &[("user", &self.user), ("database", database)])
            .unwrap_or_else(|e| panic!("{e}"))
    }

    /// A client program of PostgreSQL that connects to this server.
    pub fn client(&self, name: &str) -> Command {
        let mut command = program(name);
        command.arg("-h").arg(self.sockets.path()).args(["-U", &self.user]);
        command
    }

    /// The path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.sockets.path().join(".s.PGSQL.5432")
    }

    /// Output of a query by psql: unaligned, without headers.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let mut psql = self.client("psql");
        psql.args(["-d", database, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        run(psql)
    }

    /// Stops the server immediately, without a checkpoint, so that the directory needs recovery.
    pub fn crash(self) {
        let mut stop = program("pg_ctl");
        stop.arg("-D").arg(&self.data).args(["-w", "-m", "immediate", "stop"]);
        run(stop);
    }

    /// The text that the server has logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.sockets.path().join("log")).unwrap_or_default()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        for mode in ["fast", "immediate"] {
            let mut stop = program("pg_ctl");
            stop.arg("-D").arg(&self.data).args(["-w", "-m", mode, "stop"]);
            let stopped = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
            // The server has exited already if this file does not exist.
            if stopped.is_ok_and(|s| s.success()) || !self.data.join("postmaster.pid").exists() {
                return;
            }
        }
    }
}
