//! The two servers under test, each on a directory of its own on the same disk and with the same
//! settings.

use crate::options::Options;
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::client::Client;
use testkit::dir::TempDir;
use testkit::postgres;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contender {
    Norsu,
    PostgreSql,
}

impl Contender {
    pub fn name(self) -> &'static str {
        match self {
            Contender::Norsu => "Norsu",
            Contender::PostgreSql => "PostgreSQL 15",
        }
    }
}

pub struct Server {
    pub contender: Contender,
    dir: TempDir,
    port: u16,
    child: Child,
    pub version: String,
}

const NORSU: &str = "target/release/norsu";
/// Time limit of a start, including recovery.
const START_MAX: Duration = Duration::from_secs(300);

impl Server {
    /// Creates a data directory and starts the server on it.
    pub fn start(contender: Contender, options: &Options) -> Result<Server, String> {
        let dir = TempDir::new("bench");
        postgres::chown_to_server_user(dir.path());
        let data = dir.path().join("data");
        let mut init = match contender {
            Contender::Norsu => {
                let mut init = postgres::command(&absolute(NORSU)?);
                init.arg("init");
                init
            }
            Contender::PostgreSql => postgres::program("initdb"),
        };
        init.arg("-D").arg(&data).args(["-U", "postgres", "--auth=trust", "-k", "--no-locale"]);
        init.args(["-E", "UTF8"]);
        quiet(&mut init)?;
        Server::start_on(contender, dir, options)
    }

    /// Starts a server on a copy of the directory of a crashed server. Returns the server and the
    /// time until it accepted connections.
    pub fn recover(
        contender: Contender,
        options: &Options,
        crashed: &Server,
    ) -> Result<(Server, Duration), String> {
        let dir = TempDir::new("bench");
        let mut copy = Command::new("cp");
        copy.arg("-a").args([crashed.data(), dir.path().join("data")]);
        quiet(&mut copy)?;
        quiet(&mut Command::new("sync"))?;
        postgres::chown_to_server_user(dir.path());
        let begin = Instant::now();
        let server = Server::start_on(contender, dir, options)?;
        Ok((server, begin.elapsed()))
    }

    fn start_on(contender: Contender, dir: TempDir, options: &Options) -> Result<Server, String> {
        let data = dir.path().join("data");
        let port = free_port()?;
        let mut start = match contender {
            Contender::Norsu => {
                let mut start = postgres::command(&absolute(NORSU)?);
                start.arg("start");
                start
            }
            Contender::PostgreSql => postgres::program("postgres"),
        };
        start.arg("-D").arg(&data).args(["-p", &port.to_string(), "-k"]).arg(dir.path());
        start.args(["-h", "127.0.0.1"]);
        for s in &options.settings {
            start.args(["-c", s]);
        }
        let log = std::fs::File::create(dir.path().join("log")).map_err(|e| e.to_string())?;
        let log_too = log.try_clone().map_err(|e| e.to_string())?;
        start.stdin(Stdio::null()).stdout(log).stderr(log_too);
        let child = start.spawn().map_err(|e| format!("{}: {e}", contender.name()))?;
        let mut server = Server { contender, dir, port, child, version: String::new() };
        let begin = Instant::now();
        loop {
            match server.query_value("select version()") {
                Ok(v) => {
                    server.version = v;
                    return Ok(server);
                }
                Err(e) if begin.elapsed() > START_MAX || server.has_ended() => {
                    let log = std::fs::read_to_string(server.dir.path().join("log"));
                    return Err(format!(
                        "{} did not start: {e}\n{}",
                        contender.name(),
                        log.unwrap_or_default()
                    ));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// The single value of a query, over a connection of its own. No process is started for it,
    /// because a process would use CPU time that the measured recovery needs.
    pub fn query_value(&self, sql: &str) -> Result<String, String> {
        let reply = self.connect()?.query(sql).map_err(|e| e.to_string())?;
        if let Some(e) = &reply.error {
            return Err(format!("{}: {}", e.code, e.message));
        }
        reply.text().pop().ok_or_else(|| format!("no answer to {sql}"))
    }

    /// A connection.
    pub fn connect(&self) -> Result<Client, String> {
        let socket = self.dir.path().join(format!(".s.PGSQL.{}", self.port));
        let connect = || {
            let stream = UnixStream::connect(&socket)?;
            Client::with_stream(stream, &[("user", "postgres"), ("database", "postgres")])
        };
        connect().map_err(|e| e.to_string())
    }

    fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// Stops the server without a checkpoint. Its directory is kept as long as this object.
    pub fn crash(&self) -> Result<(), String> {
        let mut stop = postgres::program("pg_ctl");
        quiet(stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]))
    }

    /// A client program of PostgreSQL for this server, over the Unix-domain socket.
    pub fn client(&self, program: &str) -> Command {
        let mut c = Command::new(format!("{}/{program}", postgres::BIN));
        c.arg("-h").arg(self.dir.path()).args(["-p", &self.port.to_string(), "-U", "postgres"]);
        c
    }

    pub fn query(&self, sql: &str) -> Result<String, String> {
        let mut psql = self.client("psql");
        psql.args(["-d", "postgres", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]);
        output(&mut psql)
    }

    /// Seconds of user and system time used so far by all processes and threads of the server.
    pub fn cpu_seconds(&self) -> f64 {
        let mut ticks = 0;
        for pid in self.processes() {
            if let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat"))
                && let Some((_, rest)) = stat.rsplit_once(')')
            {
                let f: Vec<&str> = rest.split_whitespace().collect();
                // utime, stime, cutime, cstime
                ticks += (11..15).filter_map(|i| f.get(i)?.parse::<u64>().ok()).sum::<u64>();
            }
        }
        ticks as f64 / 100.0
    }

    /// CPU time used so far by the threads that exist now, in nanoseconds.
    pub fn cpu_nanoseconds(&self) -> u64 {
        let mut sum = 0;
        for pid in self.processes() {
            let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for task in tasks.flatten() {
                let text = std::fs::read_to_string(task.path().join("schedstat"));
                let text = text.unwrap_or_default();
                let spent = text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
                sum += spent.unwrap_or(0);
            }
        }
        sum
    }

    /// The server's processes. The child may be `runuser`, whose child is the server.
    fn processes(&self) -> Vec<u32> {
        let (mut found, mut stack) = (Vec::new(), vec![self.child.id()]);
        while let Some(pid) = stack.pop() {
            found.push(pid);
            let children = format!("/proc/{pid}/task/{pid}/children");
            let list = std::fs::read_to_string(children).unwrap_or_default();
            stack.extend(list.split_whitespace().filter_map(|p| p.parse::<u32>().ok()));
        }
        found
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = postgres::program("pg_ctl");
        stop.arg("-D").arg(self.data()).args(["-m", "fast", "-w", "stop"]);
        let _ = stop.stdout(Stdio::null()).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn absolute(path: &str) -> Result<PathBuf, String> {
    std::fs::canonicalize(path).map_err(|e| format!("{path}: {e}; run make first"))
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener.local_addr().map(|a| a.port()).map_err(|e| e.to_string())
}

fn quiet(c: &mut Command) -> Result<(), String> {
    output(c).map(|_| ())
}

/// Standard output of a program; an error if it fails.
pub fn output(c: &mut Command) -> Result<String, String> {
    let out = c.stdin(Stdio::null()).output().map_err(|e| format!("{c:?}: {e}"))?;
    if !out.status.success() {
        return Err(format!("{c:?}\n{}", String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
