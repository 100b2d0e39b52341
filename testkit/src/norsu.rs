//! Norsu servers, run from the binary that was built with the tests.

use crate::client::Client;
use crate::dir::TempDir;
use crate::postgres::{chown_to_server_user, program, run};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The path of the program: `NORSU_BIN`, or else the binary of the profile of the tests.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("NORSU_BIN") {
        return path.into();
    }
    let tests = std::env::current_exe().expect("a running program has a path");
    let profile = tests.parent().and_then(Path::parent).expect("tests lie in target/*/deps");
    let path = profile.join("norsu");
    assert!(path.exists(), "{} is not there: cargo build -p server", path.display());
    path
}

/// Creates a cluster in `data` (superuser postgres). It is owned by the user that runs the servers.
pub fn init(data: &Path) {
    init_with(data, &[]);
}

/// Like [`init`], with more options of initdb.
pub fn init_with(data: &Path, options: &[&str]) {
    let mut init = Command::new(binary());
    init.arg("init").arg("-D").arg(data).args(["-U", "postgres", "--auth=trust"]).args(options);
    run(init);
    chown_to_server_user(data);
}

/// A running server that listens on a Unix-domain socket. Killed on drop.
pub struct Norsu {
    child: Child,
    sockets: TempDir,
}

impl Norsu {
    /// Starts a server on `data` and waits until it accepts connections. A server that is started
    /// as root switches to the owner of the directory by itself.
    pub fn start(data: &Path, options: &[&str]) -> Norsu {
        Norsu::try_start(data, options).unwrap_or_else(|log| panic!("no server:\n{log}"))
    }

    /// Like [`Norsu::start`], through a launcher that executes the command in its last arguments.
    pub fn start_by(launcher: &[String], data: &Path, options: &[&str]) -> Result<Norsu, String> {
        let mut start = Command::new(&launcher[0]);
        start.args(&launcher[1..]).arg(binary());
        Norsu::try_start_as(start, data, options)
    }

    /// Like [`Norsu::start`]; if the server does not start, the error is its log.
    pub fn try_start(data: &Path, options: &[&str]) -> Result<Norsu, String> {
        Norsu::try_start_as(Command::new(binary()), data, options)
    }

    fn try_start_as(mut start: Command, data: &Path, options: &[&str]) -> Result<Norsu, String> {
        let sockets = TempDir::new("norsu");
        chown_to_server_user(sockets.path());
        let log = std::fs::File::create(sockets.path().join("log")).expect("a new file");
        start.arg("start").arg("-D").arg(data).arg("-k").arg(sockets.path()).args(["-h", ""]);
        // Most tests must not depend on the time at which a worker runs.
        if !options.iter().any(|option| option.contains("autovacuum")) {
            start.args(["-c", "autovacuum=off"]);
        }
        start.args(options).stdin(Stdio::null());
        start.stdout(log.try_clone().expect("a descriptor")).stderr(log);
        let child = start.spawn().expect("the server can be run");
        let mut server = Norsu { child, sockets };
        if server.is_ready() { Ok(server) } else { Err(server.log()) }
    }

    /// Waits until the server accepts connections (true) or has exited.
    fn is_ready(&mut self) -> bool {
        // Polls, as pg_ctl does.
        for _ in 0..600 {
            let mut ready = self.client("pg_isready");
            ready.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            if ready.status().is_ok_and(|s| s.success()) {
                return true;
            }
            if self.child.try_wait().expect("a child can be waited for").is_some() {
                return false;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        false
    }

    /// The directory of the socket.
    pub fn sockets(&self) -> &Path {
        self.sockets.path()
    }

    /// A connection to this server.
    pub fn connect(&self, database: &str) -> Client {
        Client::connect(self.sockets.path(), database).unwrap_or_else(|e| panic!("{e}"))
    }

    /// A client program of PostgreSQL that connects to this server.
    pub fn client(&self, name: &str) -> Command {
        let mut command = program(name);
        command.arg("-h").arg(self.sockets.path()).args(["-U", "postgres"]);
        command
    }

    /// The path of its socket.
    pub fn socket(&self) -> PathBuf {
        self.sockets.path().join(".s.PGSQL.5432")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// True if the process is still running.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Output of a query by psql: unaligned, without headers.
    pub fn query(&self, sql: &str) -> String {
        let mut psql = self.client("psql");
        psql.args(["-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        run(psql).trim_end().to_owned()
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.sockets.path().join("log")).unwrap_or_default()
    }

    /// kill -9.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Shuts the server down cleanly and returns its log.
    pub fn stop(mut self, data: &Path) -> String {
        self.shut_down(data)
    }

    /// Like [`Norsu::stop`], for a borrowed server.
    pub fn shut_down(&mut self, data: &Path) -> String {
        let mut stop = Command::new(binary());
        stop.arg("stop").arg("-D").arg(data).args(["-m", "fast"]);
        run(stop);
        let _ = self.child.wait();
        self.log()
    }
}

impl Drop for Norsu {
    fn drop(&mut self) {
        self.kill();
    }
}
