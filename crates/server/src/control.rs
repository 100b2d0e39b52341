//! Starts, stops, reloads and queries a server of Norsu or PostgreSQL.
//!
//! Counterpart: pg_ctl.c.

use crate::failure::{Failure, Outcome};
use crate::options::{self, AcceptedOption, CommandLine};
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vfs::process::{self, Signal};

const OPTIONS: [AcceptedOption; 14] = [
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
    ('U', "username", true),
];

/// Process ID and status line in `postmaster.pid`.
fn running(data: &str) -> Result<Option<(i32, String)>, Failure> {
    if fs::metadata(data).is_err() {
        return Err(Failure { message: format!("directory \"{data}\" does not exist"), status: 4 });
    }
    if fs::metadata(format!("{data}/PG_VERSION")).is_err() {
        return Err(Failure {
            message: format!("directory \"{data}\" is not a database cluster directory"),
            status: 4,
        });
    }
    let Ok(text) = fs::read_to_string(format!("{data}/postmaster.pid")) else { return Ok(None) };
    let mut lines = text.lines();
    let pid = lines.next().and_then(|l| l.trim().parse().ok());
    let status = lines.nth(6).unwrap_or_default().trim().to_owned();
    Ok(pid.map(|pid| (pid, status)))
}

fn alive(data: &str) -> Result<Option<i32>, Failure> {
    Ok(running(data)?.map(|(pid, _)| pid).filter(|pid| process::exists(*pid)))
}

fn not_running(data: &str) -> Failure {
    Failure::new(format!("PID file \"{data}/postmaster.pid\" does not exist\nIs server running?"))
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

/// Polls a condition until it is true or the time limit expires.
fn wait(
    limit: Duration,
    mut holds: impl FnMut() -> Result<bool, Failure>,
) -> Result<bool, Failure> {
    let end = Instant::now() + limit;
    loop {
        if holds()? {
            return Ok(true);
        }
        if Instant::now() >= end {
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn print_message(given: &CommandLine, text: &str) {
    if !given.has("silent") {
        println!("{text}");
    }
}

/// As [`print_message`], without a line terminator.
fn announce(given: &CommandLine, text: &str) {
    if !given.has("silent") {
        print!("{text}");
        // A write error cannot be reported anywhere.
        let _ = std::io::stdout().flush();
    }
}

fn signal(pid: i32, signal: Signal) -> Result<(), Failure> {
    process::send_signal(pid, signal)
        .map_err(|e| Failure::new(format!("could not send a signal to process {pid}: {e}")))
}

/// Runs a verb of `norsu` with its options.
pub(crate) fn run(verb: &str, args: &[String]) -> Outcome {
    let given = options::parse(args, &OPTIONS, false)?;
    act(verb, &given)
}

/// Runs `pg_ctl`, with the verb among the arguments.
pub(crate) fn pg_ctl(args: &[String]) -> Outcome {
    let given = options::parse(args, &OPTIONS, false)?;
    if given.has("version") {
        println!("pg_ctl (PostgreSQL) {}", crate::version::SERVER_VERSION);
        return Ok(0);
    }
    let Some(verb) = given.rest.first() else {
        return Err(Failure::new("no operation specified"));
    };
    act(&verb.clone(), &given)
}

fn act(verb: &str, given: &CommandLine) -> Outcome {
    match verb {
        "start" => start(given),
        "stop" => stop(given),
        "restart" => {
            let data = data_directory(given)?;
            let kept = fs::read_to_string(format!("{data}/postmaster.opts")).unwrap_or_default();
            if alive(&data)?.is_some() {
                stop(given)?;
            }
            start_with(given, &kept_options(&kept))
        }
        "reload" => {
            let data = data_directory(given)?;
            let pid = alive(&data)?.ok_or_else(|| not_running(&data))?;
            signal(pid, Signal::Hangup)?;
            print_message(given, "server signaled");
            Ok(0)
        }
        "status" => status(given),
        "init" | "initdb" => {
            let mut args: Vec<String> = Vec::new();
            if let Some(data) = given.value("pgdata") {
                args.extend(["-D".to_owned(), data.to_owned()]);
            }
            args.extend(shell_words(given.value("options").unwrap_or_default()));
            crate::init::run(&args)
        }
        "kill" => kill(given),
        "logrotate" => {
            let data = data_directory(given)?;
            let pid = alive(&data)?.ok_or_else(|| not_running(&data))?;
            signal(pid, Signal::User1)?;
            print_message(given, "server signaled to rotate log file");
            Ok(0)
        }
        "promote" => {
            let data = data_directory(given)?;
            alive(&data)?.ok_or_else(|| not_running(&data))?;
            Err(Failure::new("cannot promote server; server is not in standby mode"))
        }
        other => Err(Failure::new(format!("unrecognized operation mode \"{other}\""))),
    }
}

/// The given directory, or the data directory named by the configuration files in it.
fn data_directory(given: &CommandLine) -> Result<String, Failure> {
    let directory = options::data_directory(given.value("pgdata"))?;
    match fs::exists(format!("{directory}/PG_VERSION")) {
        Ok(false) => crate::config::data_directory(&directory, &[]),
        _ => Ok(directory),
    }
}

/// `pg_ctl kill SIGNAL PID`.
fn kill(given: &CommandLine) -> Outcome {
    let [_, name, pid] = &given.rest[..] else {
        return Err(Failure::new("missing arguments for kill mode"));
    };
    let known = match name.as_str() {
        "HUP" => Signal::Hangup,
        "INT" => Signal::Interrupt,
        "QUIT" => Signal::Quit,
        "TERM" => Signal::Terminate,
        "USR1" => Signal::User1,
        "KILL" => Signal::Kill,
        other => return Err(Failure::new(format!("unrecognized signal name \"{other}\""))),
    };
    let pid = pid.parse().map_err(|_| Failure::new(format!("invalid process ID \"{pid}\"")))?;
    signal(pid, known)?;
    Ok(0)
}

fn status(given: &CommandLine) -> Outcome {
    let data = data_directory(given)?;
    match alive(&data)? {
        Some(pid) => {
            println!("pg_ctl: server is running (PID: {pid})");
            let kept = fs::read_to_string(format!("{data}/postmaster.opts")).unwrap_or_default();
            print!("{kept}");
            Ok(0)
        }
        None => {
            println!("pg_ctl: no server running");
            Ok(3)
        }
    }
}

fn stop(given: &CommandLine) -> Outcome {
    let data = data_directory(given)?;
    let how = match given.value("mode").unwrap_or("fast") {
        "s" | "smart" => Signal::Terminate,
        "f" | "fast" => Signal::Interrupt,
        "i" | "immediate" => Signal::Quit,
        other => return Err(Failure::new(format!("unrecognized shutdown mode \"{other}\""))),
    };
    let pid = alive(&data)?.ok_or_else(|| not_running(&data))?;
    signal(pid, how)?;
    if given.has("no-wait") {
        print_message(given, "server shutting down");
        return Ok(0);
    }
    let gone = || Ok(running(&data)?.is_none_or(|(now, _)| now != pid || !process::exists(pid)));
    announce(given, "waiting for server to shut down...");
    if !wait(timeout(given)?, gone)? {
        announce(given, " failed\n");
        return Err(Failure::new("server does not shut down"));
    }
    announce(given, " done\n");
    print_message(given, "server stopped");
    Ok(0)
}

fn start(given: &CommandLine) -> Outcome {
    start_with(given, &[])
}

/// The options of the last start, from `postmaster.opts`.
fn kept_options(text: &str) -> Vec<String> {
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Starts a server in the background.
fn start_with(given: &CommandLine, kept: &[String]) -> Outcome {
    let data = data_directory(given)?;
    if alive(&data)?.is_some() {
        eprintln!("pg_ctl: another server might be running; trying to start server anyway");
    }
    let mut command = Command::new("/proc/self/exe");
    command.arg0("postgres").arg("-D").arg(&data).args(kept);
    command.args(shell_words(given.value("options").unwrap_or_default()));
    command.stdin(Stdio::null()).process_group(0);
    if let Some(path) = given.value("log") {
        let open = || fs::OpenOptions::new().create(true).append(true).open(path);
        let failed = |e| Failure::new(format!("could not open log file \"{path}\": {e}"));
        let out = open().map_err(failed)?;
        let errors = out.try_clone().map_err(failed)?;
        command.stdout(out).stderr(errors);
    }
    let mut child =
        command.spawn().map_err(|e| Failure::new(format!("could not start server: {e}")))?;
    if given.has("no-wait") {
        print_message(given, "server starting");
        return Ok(0);
    }
    let pid = child.id() as i32;
    let ready = || {
        if let Ok(Some(_)) = child.try_wait() {
            return Err(Failure::new("could not start server\nExamine the log output."));
        }
        Ok(running(&data)?.is_some_and(|(now, status)| now == pid && status == "ready"))
    };
    announce(given, "waiting for server to start...");
    match wait(timeout(given)?, ready) {
        Ok(true) => announce(given, " done\n"),
        Ok(false) => {
            announce(given, " stopped waiting\n");
            return Err(Failure::new("server did not start in time"));
        }
        Err(e) => {
            announce(given, " stopped waiting\n");
            return Err(e);
        }
    }
    print_message(given, "server started");
    Ok(0)
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
}
