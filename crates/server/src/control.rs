//! Starts, stops, reloads and queries a server of Norsu or PostgreSQL.
//!
//! Counterpart: pg_ctl.c.

use crate::call::Call;
use crate::failure::{Failure, Outcome};
use crate::listen::reason;
use crate::options::{self, AcceptedOption, CommandLine};
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use vfs::process::{self, Signal};

const OPTIONS: [AcceptedOption; 13] = [
    ('D', "pgdata", true),
    ('m', "mode", true),
    ('w', "wait", false),
    ('W', "no-wait", false),
    ('t', "timeout", true),
    ('s', "silent", false),
    ('l', "log", true),
    ('o', "options", true),
    ('p', "path", true),
    ('c', "core-files", false),
    ('V', "version", false),
    ('?', "help", false),
    ('h', "usage", false),
];

const HELP: &str = "\
{command} creates, starts, stops and controls a server.

Usage:
  {command} init[db]   [-D DATADIR] [-s] [-o OPTIONS]
  {command} start      [-D DATADIR] [-l FILENAME] [-W] [-t SECS] [-s]
                    [-o OPTIONS] [-p PATH] [-c]
  {command} stop       [-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s]
  {command} restart    [-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s]
                    [-o OPTIONS] [-c]
  {command} reload     [-D DATADIR] [-s]
  {command} status     [-D DATADIR]
  {command} promote    [-D DATADIR] [-W] [-t SECS] [-s]
  {command} logrotate  [-D DATADIR] [-s]
  {command} kill       SIGNALNAME PID
";

/// The usage of the verbs of `norsu`.
const VERB_USAGE: [(&str, &str); 7] = [
    ("stop", "[-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s]"),
    (
        "restart",
        "[-D DATADIR] [-m SHUTDOWN-MODE] [-W] [-t SECS] [-s] [-l FILENAME] [-o OPTIONS] [-c]",
    ),
    ("reload", "[-D DATADIR] [-s]"),
    ("status", "[-D DATADIR]"),
    ("promote", "[-D DATADIR] [-W] [-t SECS] [-s]"),
    ("logrotate", "[-D DATADIR] [-s]"),
    ("kill", "SIGNALNAME PID"),
];

const HELP_OPTIONS: &str = "
Options:
  -D, --pgdata=DATADIR   the data directory (default: the environment variable PGDATA)
  -s, --silent           print errors only
  -t, --timeout=SECS     time to wait for the end of the operation (default: 60 seconds)
  -w, --wait             wait for the end of the operation (the default)
  -W, --no-wait          do not wait
  -V, --version          show the version, then exit
  -?, --help             show this help, then exit

Options of start and restart:
  -c, --core-files       allow core files
  -l, --log=FILENAME     append the server's log to the file
  -o, --options=OPTIONS  options of the server, or of initdb
  -p PATH                program of the server, if not the one beside this program

Options of stop and restart:
  -m, --mode=MODE        \"smart\", \"fast\" or \"immediate\"

Shutdown modes:
  smart       wait until all clients have disconnected
  fast        disconnect the clients, then shut down (the default)
  immediate   exit at once; the next start recovers from the log

Signals of kill:
  ABRT HUP INT KILL QUIT TERM USR1 USR2

Exit status: 0; 1 after an error; of status, 3 if no server is running, and 4 if the directory is
not a data directory.
";

const PID_FILE: &str = "postmaster.pid";

/// A running server, or one that left its lock file: from `postmaster.pid`.
struct Running {
    pid: i32,
    /// A single-user session, not a server.
    single: bool,
    /// The last line: `starting`, `ready`, …
    status: String,
}

impl Running {
    fn is_alive(&self) -> bool {
        process::exists(self.pid)
    }
}

/// An operation on the server of a data directory.
struct Control<'a> {
    call: &'a Call<'a>,
    given: &'a CommandLine,
    data: String,
}

/// Splits a command line into words like a shell.
fn shell_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn timeout(given: &CommandLine) -> Result<Duration, Failure> {
    let text = given.value("timeout").map(str::to_owned);
    let text = text.or_else(|| std::env::var("PGCTLTIMEOUT").ok()).unwrap_or("60".to_owned());
    let seconds = text.parse().map_err(|_| Failure::new(format!("invalid timeout \"{text}\"")))?;
    Ok(Duration::from_secs(seconds))
}

/// Runs `pg_ctl`, or a verb of `norsu` that controls a server.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    let given = options::parse(call.args, &OPTIONS, false)?;
    if given.has("help") || given.has("usage") {
        return help(call);
    }
    if given.has("version") {
        return call.print_version("pg_ctl");
    }
    if call.is_by_name() && process::effective_user() == 0 {
        return Err(Failure::new("cannot be run as root").hint(
            "Please log in (using, e.g., \"su\") as the (unprivileged) user that will\n\
             own the server process.",
        ));
    }
    let (verb, arguments) = match given.rest.split_first() {
        _ if !call.is_by_name() => (call.verb, &given.rest[..]),
        Some((verb, rest)) => (verb.as_str(), rest),
        None => return Err(Failure::usage("no operation specified")),
    };
    if verb == "kill" {
        return kill(arguments);
    }
    // PostgreSQL names the first of all arguments.
    if let (Some(_), Some(first)) = (arguments.first(), given.rest.first()) {
        return Err(Failure::usage(format!(
            "too many command-line arguments (first is \"{first}\")"
        )));
    }
    if matches!(verb, "init" | "initdb") {
        return initialize(call, &given);
    }
    let how = shutdown_signal(&given)?;
    let Some(operation) = operation(verb) else {
        return Err(Failure::usage(format!("unrecognized operation mode \"{verb}\"")));
    };
    let control = Control { call, given: &given, data: data_directory(&given)? };
    operation(&control, how)
}

type Operation = fn(&Control<'_>, Signal) -> Outcome;

fn operation(verb: &str) -> Option<Operation> {
    Some(match verb {
        "start" => |control, _| control.start(&[]),
        "stop" => |control, how| control.stop(how),
        "restart" => |control, how| control.restart(how),
        "reload" => |control, _| control.reload(),
        "status" => |control, _| control.status(),
        "logrotate" => |control, _| control.rotate_log(),
        "promote" => |control, _| control.promote(),
        _ => return None,
    })
}

fn help(call: &Call<'_>) -> Outcome {
    match VERB_USAGE.iter().find(|(verb, _)| *verb == call.verb) {
        Some((_, usage)) => {
            print!("Usage:\n  {} {usage}\n{HELP_OPTIONS}", call.command);
            Ok(0)
        }
        None => call.print_help(&format!("{HELP}{HELP_OPTIONS}")),
    }
}

/// The given directory, or the data directory named by the configuration files in it.
fn data_directory(given: &CommandLine) -> Result<String, Failure> {
    let directory = options::data_directory(given.value("pgdata"))?.ok_or_else(|| {
        Failure::usage("no database directory specified and environment variable PGDATA unset")
    })?;
    match fs::exists(format!("{directory}/PG_VERSION")) {
        Ok(false) => crate::config::data_directory(&directory, &[]),
        _ => Ok(directory),
    }
}

fn shutdown_signal(given: &CommandLine) -> Result<Signal, Failure> {
    match given.value("mode").unwrap_or("fast") {
        "s" | "smart" => Ok(Signal::Terminate),
        "f" | "fast" => Ok(Signal::Interrupt),
        "i" | "immediate" => Ok(Signal::Quit),
        other => Err(Failure::usage(format!("unrecognized shutdown mode \"{other}\""))),
    }
}

/// `pg_ctl kill SIGNAL PID`.
fn kill(arguments: &[String]) -> Outcome {
    let [name, pid] = arguments else {
        return Err(Failure::usage("missing arguments for kill mode"));
    };
    let signal = match name.as_str() {
        "ABRT" => Signal::Abort,
        "HUP" => Signal::Hangup,
        "INT" => Signal::Interrupt,
        "KILL" => Signal::Kill,
        "QUIT" => Signal::Quit,
        "TERM" => Signal::Terminate,
        "USR1" => Signal::User1,
        "USR2" => Signal::User2,
        other => return Err(Failure::usage(format!("unrecognized signal name \"{other}\""))),
    };
    // 0 and negative numbers are groups of processes.
    let known = pid.parse().ok().filter(|pid| *pid > 0);
    let pid = known.ok_or_else(|| Failure::usage(format!("invalid process ID \"{pid}\"")))?;
    process::send_signal(pid, signal).map_err(|e| {
        let (number, reason) = (signal.number(), reason(&e));
        Failure::new(format!("could not send signal {number} (PID: {pid}): {reason}"))
    })?;
    Ok(0)
}

/// `pg_ctl init`: runs initdb.
fn initialize(call: &Call<'_>, given: &CommandLine) -> Outcome {
    let mut args: Vec<String> = Vec::new();
    if let Some(data) = given.value("pgdata") {
        args.extend(["-D".to_owned(), data.to_owned()]);
    }
    args.extend(given_words(given));
    let initdb = Call { name: "initdb", command: "initdb".to_owned(), args: &args, ..*call };
    crate::init::run_with(&initdb, &args, given.has("silent")).map_err(|e| {
        let name = initdb.name;
        eprint!("{}", e.text(crate::failure::Style::Labelled, name, &initdb.command));
        Failure::new("database system initialization failed")
    })
}

/// The words of all options `-o`.
fn given_words(given: &CommandLine) -> Vec<String> {
    given.values("options").flat_map(shell_words).collect()
}

/// The options of the last start, from `postmaster.opts`.
fn kept_options(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    if words.first().is_some_and(|first| first == "start") {
        words.remove(0);
    }
    words
}

/// Reads `postmaster.pid`. A server that changes its status empties it for a moment.
fn read_pid_file(path: &str) -> std::io::Result<String> {
    for _ in 0..50 {
        let text = fs::read_to_string(path)?;
        if !text.is_empty() {
            return Ok(text);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(String::new())
}

impl Control<'_> {
    fn print_message(&self, text: &str) {
        if !self.given.has("silent") {
            println!("{text}");
        }
    }

    /// As [`Control::print_message`], without a line terminator.
    fn announce(&self, text: &str) {
        if !self.given.has("silent") {
            print!("{text}");
            // A write error cannot be reported anywhere.
            let _ = std::io::stdout().flush();
        }
    }

    /// A message on standard error that is not an error.
    fn remark(&self, text: &str) {
        eprintln!("{}: {text}", self.call.name);
    }

    /// The contents of `postmaster.pid`; `None` if there is no such file. `status` is the exit
    /// status if this is not a data directory.
    fn find(&self, status: u8) -> Result<Option<Running>, Failure> {
        let data = &self.data;
        match fs::metadata(data) {
            Ok(_) => {}
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("directory \"{data}\" does not exist");
                return Err(Failure::new(message).status(status));
            }
            Err(e) => {
                let message = format!("could not access directory \"{data}\": {}", reason(&e));
                return Err(Failure::new(message).status(status));
            }
        }
        if fs::metadata(format!("{data}/PG_VERSION")).is_err() {
            let message = format!("directory \"{data}\" is not a database cluster directory");
            return Err(Failure::new(message).status(status));
        }
        let path = format!("{data}/{PID_FILE}");
        let text = match read_pid_file(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => {
                let reason = reason(&e);
                return Err(Failure::new(format!("could not open PID file \"{path}\": {reason}")));
            }
        };
        let Some(first) = text.lines().next() else {
            return Err(Failure::new(format!("the PID file \"{path}\" is empty")));
        };
        let Ok(pid) = first.trim().parse::<i32>() else {
            return Err(Failure::new(format!("invalid data in PID file \"{path}\"")));
        };
        let status = text.lines().nth(7).unwrap_or_default().trim().to_owned();
        Ok(Some(Running { pid: pid.saturating_abs(), single: pid < 0, status }))
    }

    /// The server to which a signal can be sent. `what` is the operation in messages: `stop
    /// server`.
    fn server(&self, what: &str) -> Result<Running, Failure> {
        let missing = || {
            let path = format!("{}/{PID_FILE}", self.data);
            Failure::new(format!("PID file \"{path}\" does not exist")).hint("Is server running?")
        };
        let found = self.find(1)?.ok_or_else(missing)?;
        if found.single {
            return Err(Failure::new(format!(
                "cannot {what}; single-user server is running (PID: {})",
                found.pid
            )));
        }
        Ok(found)
    }

    fn signal(&self, pid: i32, signal: Signal, which: &str) -> Result<(), Failure> {
        process::send_signal(pid, signal).map_err(|e| {
            let reason = reason(&e);
            Failure::new(format!("could not send {which} signal (PID: {pid}): {reason}"))
        })
    }

    /// Polls a condition until it is true or the time limit expires. Shows a dot per second.
    fn wait(&self, mut holds: impl FnMut() -> Result<bool, Failure>) -> Result<bool, Failure> {
        let begun = Instant::now();
        let limit = timeout(self.given)?;
        let mut dots = 0;
        loop {
            if holds()? {
                return Ok(true);
            }
            if begun.elapsed() >= limit {
                return Ok(false);
            }
            while dots < begun.elapsed().as_secs() {
                self.announce(".");
                dots += 1;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn status(&self) -> Outcome {
        let name = self.call.name;
        match self.find(4)?.filter(Running::is_alive) {
            Some(Running { pid, single: true, .. }) => {
                println!("{name}: single-user server is running (PID: {pid})");
            }
            Some(Running { pid, .. }) => {
                println!("{name}: server is running (PID: {pid})");
                print!("{}", self.kept_line());
            }
            None => {
                println!("{name}: no server running");
                return Ok(3);
            }
        }
        Ok(0)
    }

    /// The command line of the last start.
    fn kept_line(&self) -> String {
        fs::read_to_string(format!("{}/postmaster.opts", self.data)).unwrap_or_default()
    }

    fn reload(&self) -> Outcome {
        let server = self.server("reload server")?;
        self.signal(server.pid, Signal::Hangup, "reload")?;
        self.print_message("server signaled");
        Ok(0)
    }

    fn rotate_log(&self) -> Outcome {
        let server = self.server("rotate log file")?;
        self.signal(server.pid, Signal::User1, "log rotation")?;
        self.print_message("server signaled to rotate log file");
        Ok(0)
    }

    fn promote(&self) -> Outcome {
        self.server("promote server")?;
        Err(Failure::new("cannot promote server; server is not in standby mode"))
    }

    fn stop(&self, how: Signal) -> Outcome {
        if !self.given.has("no-wait") {
            return self.stop_and_wait(how);
        }
        let server = self.server("stop server")?;
        self.signal(server.pid, how, "stop")?;
        self.print_message("server shutting down");
        Ok(0)
    }

    fn stop_and_wait(&self, how: Signal) -> Outcome {
        let pid = self.server("stop server")?.pid;
        self.signal(pid, how, "stop")?;
        let gone = || Ok(self.find(1)?.is_none_or(|now| now.pid != pid || !now.is_alive()));
        self.announce("waiting for server to shut down...");
        if !self.wait(gone)? {
            self.announce(" failed\n");
            let failed = Failure::new("server does not shut down");
            return Err(match how {
                Signal::Terminate => failed.hint(
                    "HINT: The \"-m fast\" option disconnects the clients instead of waiting for \
                     them.",
                ),
                _ => failed,
            });
        }
        self.announce(" done\n");
        self.print_message("server stopped");
        Ok(0)
    }

    fn restart(&self, how: Signal) -> Outcome {
        let path = format!("{}/{PID_FILE}", self.data);
        let kept = kept_options(&self.kept_line());
        match self.find(1)? {
            None => {
                self.remark(&format!("PID file \"{path}\" does not exist"));
                eprintln!("Is server running?\ntrying to start server anyway");
            }
            Some(found) if !found.is_alive() => {
                self.remark(&format!("old server process (PID: {}) seems to be gone", found.pid));
                eprintln!("starting server anyway");
            }
            Some(found) if found.single => {
                return Err(Failure::new(format!(
                    "cannot restart server; single-user server is running (PID: {})",
                    found.pid
                ))
                .hint("Please terminate the single-user server and try again."));
            }
            // A restart always waits for the end of the old server.
            Some(_) => {
                self.stop_and_wait(how)?;
            }
        }
        // Options replace those of the last start.
        self.start(if self.given.has("options") { &[] } else { &kept })
    }

    /// The command that runs a server. Its first argument is its name.
    fn server_command(&self) -> Command {
        let beside = self.call.is_by_name().then(|| self.call.sibling("postgres")).flatten();
        if let Some(path) = self.given.value("path").map(PathBuf::from).or(beside) {
            return Command::new(path);
        }
        let mut command = Command::new("/proc/self/exe");
        if self.call.is_by_name() {
            command.arg0("postgres");
        } else {
            let own = fs::read_link("/proc/self/exe").unwrap_or_else(|_| "norsu".into());
            command.arg0(own).arg("start");
        }
        command
    }

    fn spawn(&self, kept: &[String]) -> Result<Child, Failure> {
        let mut command = self.server_command();
        command.arg("-D").arg(&self.data).args(kept).args(given_words(self.given));
        command.stdin(Stdio::null()).process_group(0);
        if let Some(path) = self.given.value("log") {
            let open = || fs::OpenOptions::new().create(true).append(true).open(path);
            let failed =
                |e| Failure::new(format!("could not open log file \"{path}\": {}", reason(&e)));
            let out = open().map_err(failed)?;
            let errors = out.try_clone().map_err(failed)?;
            command.stdout(out).stderr(errors);
        }
        let failed = |e| Failure::new(format!("could not start server: {}", reason(&e)));
        command.spawn().map_err(failed)
    }

    /// Starts a server in the background. `kept` are options of the last start.
    fn start(&self, kept: &[String]) -> Outcome {
        if self.given.has("core-files") && !process::allow_core_files() {
            self.remark("cannot set core file size limit; disallowed by hard limit");
        }
        if self.find(1)?.is_some() {
            self.remark("another server might be running; trying to start server anyway");
        }
        let mut child = self.spawn(kept)?;
        if self.given.has("no-wait") {
            self.print_message("server starting");
            return Ok(0);
        }
        let pid = child.id() as i32;
        let ready = || {
            if let Ok(Some(_)) = child.try_wait() {
                let advice = "Examine the log output.";
                return Err(Failure::new("could not start server").hint(advice));
            }
            Ok(self.find(1)?.is_some_and(|now| {
                now.pid == pid && matches!(now.status.as_str(), "ready" | "standby")
            }))
        };
        self.announce("waiting for server to start...");
        match self.wait(ready) {
            Ok(true) => self.announce(" done\n"),
            Ok(false) => {
                self.announce(" stopped waiting\n");
                return Err(Failure::new("server did not start in time"));
            }
            Err(e) => {
                self.announce(" stopped waiting\n");
                return Err(e);
            }
        }
        self.print_message("server started");
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_like_a_shell() {
        for (text, words) in [
            ("-p 5433 -c a=b", &["-p", "5433", "-c", "a=b"][..]),
            ("-c 'a=b c'  -k \"/tmp/x y\"", &["-c", "a=b c", "-k", "/tmp/x y"]),
            ("a\\ b '' \"c\\\"d\"", &["a b", "", "c\"d"]),
            ("", &[]),
        ] {
            assert_eq!(shell_words(text), words);
        }
    }

    #[test]
    fn options_of_the_last_start_are_kept() {
        for line in [
            "/a/postgres \"-D\" \"/d\" \"-p\" \"1\"\n",
            "/a/norsu \"start\" \"-D\" \"/d\" \"-p\" \"1\"",
        ] {
            assert_eq!(kept_options(line), ["-D", "/d", "-p", "1"]);
        }
    }
}
