//! Single-user mode: one session on standard input and output without a server (`norsu single`,
//! `postgres --single`). It can assign XIDs beyond the limit at which a server stops.
//!
//! The session uses the protocol with a client in the same process, which sends each line as a
//! query and prints the results. Errors and notices go to the log on standard error.
//!
//! Counterpart: `PostgresSingleUserMain`, `debugtup`.

use crate::call::Call;
use crate::config;
use crate::failure::{Failure, Outcome};
use crate::lockfile::LockFile;
use crate::options::{self, CommandLine};
use crate::start::{self, Prepared, note};
use crate::threads::STACK_BYTES;
use crate::workers::Workers;
use engine::Engine;
use pgerror::PgError;
use session::{Config, Instance, Log, LogOrigin, Transport};
use std::io::{self, BufRead, Write};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use vfs::{Env, process};

const HELP: &str = "\
{command} runs one session on standard input and output, without a server.

Usage:
  {command} [OPTION]... [DBNAME]

Options:
  -D DATADIR         data directory (default: the environment variable PGDATA)
  -c NAME=VALUE      set a parameter; also --NAME=VALUE
  -d 0-5             messages for debugging
  -E                 show each statement before its execution
  -F                 turn fsync off
  -j                 a query ends with a semicolon and an empty line
  -O                 system tables can be changed
  -P                 do not use indexes of system tables
  -r FILENAME        write standard output and standard error to a file
  -?, --help         show this help, then exit
";

/// Runs `norsu single` or `postgres --single`.
pub(crate) fn run(call: &Call<'_>) -> Outcome {
    let args = match call.args.split_first() {
        Some((first, rest)) if first == "--single" => rest,
        _ => call.args,
    };
    let given = options::parse(args, &start::OPTIONS, true)?;
    if given.has("help") {
        return call.print_help(HELP);
    }
    if given.has("version") {
        return call.print_version("postgres");
    }
    start::refuse_root(call)?;
    let database = match given.rest.as_slice() {
        // PostgreSQL chooses the database with the user's name.
        [] if call.is_by_name() => crate::user::own_name(),
        [] => "postgres".to_owned(),
        [one] => one.clone(),
        [_, extra, ..] => return Err(Failure::usage(format!("invalid argument: \"{extra}\""))),
    };
    let Prepared { origins, base, log } = start::prepare(call, &given)?;
    if let Some(path) = given.value("redirect") {
        let open = || std::fs::OpenOptions::new().create(true).append(true).open(path);
        open().and_then(|file| process::redirect_output(&file)).map_err(|e| {
            let reason = crate::listen::reason(&e);
            Failure::new(format!("could not open file \"{path}\": {reason}"))
        })?;
    }
    process::block_signals();
    let data = &origins.data;
    let env = Env::os(data);
    let began = env.clock.unix_seconds();
    // A negative process ID marks a standalone backend.
    let lines = vec![format!("-{}", std::process::id()), data.clone(), began.to_string()];
    let lock = LockFile::create(format!("{data}/postmaster.pid"), lines)
        .map_err(|e| start::refuse(&*log, e))?;
    let sink: engine::LogSink = {
        let log = log.clone();
        Arc::new(move |report| log.write(&LogOrigin::default(), report, None))
    };
    let on_panic: Arc<dyn Fn(&PgError) + Send + Sync> = {
        let log = log.clone();
        Arc::new(move |error| {
            log.write(&LogOrigin::default(), error, None);
            process::exit_now(1);
        })
    };
    let config = config::engine_config(&base, env, sink, on_panic.clone());
    let engine = Engine::open(config).map_err(|e| start::refuse(&*log, e))?;
    engine.txn().ignore_stop_limit();
    let hba = Arc::new(settings::hba::Rules::default());
    let config = Config { base: Arc::new(base), hba, ident: Arc::default() };
    let instance = Instance::new(engine.clone(), config, log.clone());
    let workers = Workers::start_for_one(&instance, &on_panic)
        .map_err(|e| Failure::new(format!("could not start background workers: {e}")))?;
    println!("\nPostgreSQL stand-alone backend {}", crate::version::SERVER_VERSION);
    let outcome = run_session(&instance, database, Terminal::new(&given));
    workers.stop();
    if let Err(e) = outcome {
        drop(lock);
        return Err(start::refuse(&*log, e));
    }
    note(&*log, "shutting down single-user session");
    engine.shutdown()?;
    drop(lock);
    process::exit_now(0)
}

/// Runs the session in a thread whose stack has the size of session stacks.
fn run_session(
    instance: &Arc<Instance>,
    database: String,
    client: Terminal,
) -> pgerror::Result<()> {
    let instance = instance.clone();
    let thread = sync::spawn_with_stack("single", STACK_BYTES, move || {
        session::serve_alone(&instance, &database, Box::new(client))
    });
    let joined = thread.map(|thread| thread.join());
    match joined {
        Ok(Ok(done)) => done,
        Ok(Err(_)) => Err(PgError::internal("the session panicked")),
        Err(e) => Err(PgError::internal(format!("could not create a thread: {e}"))),
    }
}

/// The client on standard input and output.
struct Terminal {
    /// Messages to the session, not yet read.
    input: Vec<u8>,
    /// Messages from the session, possibly incomplete.
    output: Vec<u8>,
    columns: Vec<Column>,
    echo: bool,
    /// Queries end with a semicolon and an empty line instead of a newline.
    long_queries: bool,
    ended: bool,
}

struct Column {
    name: String,
    type_oid: u32,
    len: i16,
    typmod: i32,
}

impl Column {
    /// Types of up to 8 bytes are passed by value, except `tid`, `macaddr` and `macaddr8`.
    fn by_val(&self) -> char {
        let small = (1..=8).contains(&self.len) && ![27, 829, 774].contains(&self.type_oid);
        if small { 't' } else { 'f' }
    }
}

const PROMPT: &str = "backend> ";

impl Terminal {
    fn new(given: &CommandLine) -> Terminal {
        Terminal {
            input: Vec::new(),
            output: Vec::new(),
            columns: Vec::new(),
            echo: given.has("echo"),
            long_queries: given.has("no-newline"),
            ended: false,
        }
    }

    /// Reads the next query; `None` at end of input.
    fn query(&self) -> io::Result<Option<String>> {
        print!("{PROMPT}");
        io::stdout().flush()?;
        let mut text = String::new();
        for line in io::stdin().lock().lines() {
            let line = line?;
            match (self.long_queries, line.strip_suffix('\\')) {
                // A backslash continues the query on the next line.
                (false, Some(start)) => {
                    text.push_str(start);
                    continue;
                }
                (false, None) => text.push_str(&line),
                (true, _) if line.is_empty() && text.trim_end().ends_with(';') => {}
                (true, _) => {
                    text.push_str(&line);
                    text.push('\n');
                    continue;
                }
            }
            return Ok(Some(text));
        }
        Ok((!text.trim().is_empty()).then_some(text))
    }

    /// Prints the contents of a message from the session.
    fn print_message(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        let mut rest = body;
        match kind {
            b'T' => {
                self.columns.clear();
                for n in 1..=u16::from_be_bytes(*take(&mut rest)?) {
                    let end = rest.iter().position(|b| *b == 0)?;
                    let name = String::from_utf8_lossy(&rest[..end]).into_owned();
                    rest = &rest[end + 1..];
                    let _origin: &[u8; 6] = take(&mut rest)?;
                    let type_oid = u32::from_be_bytes(*take(&mut rest)?);
                    let len = i16::from_be_bytes(*take(&mut rest)?);
                    let typmod = i32::from_be_bytes(*take(&mut rest)?);
                    let _format: &[u8; 2] = take(&mut rest)?;
                    let column = Column { name, type_oid, len, typmod };
                    print_column(n, &column, None);
                    self.columns.push(column);
                }
                println!("\t----");
            }
            b'D' => {
                let count = usize::from(u16::from_be_bytes(*take(&mut rest)?));
                for (n, column) in (1..).zip(self.columns.iter().take(count)) {
                    // NULLs are not printed.
                    let Ok(len) = usize::try_from(i32::from_be_bytes(*take(&mut rest)?)) else {
                        continue;
                    };
                    let value = rest.get(..len)?;
                    rest = &rest[len..];
                    print_column(n, column, Some(&String::from_utf8_lossy(value)));
                }
                println!("\t----");
            }
            _ => {}
        }
        Some(())
    }
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (head, tail) = rest.split_first_chunk()?;
    *rest = tail;
    Some(head)
}

fn print_column(number: u16, column: &Column, value: Option<&str>) {
    let Column { name, type_oid, len, typmod } = column;
    let value = value.map_or_else(String::new, |v| format!(" = \"{v}\""));
    println!(
        "\t{number:2}: {name}{value}\t(typeid = {type_oid}, len = {len}, typmod = {typmod}, \
         byval = {})",
        column.by_val()
    );
}

impl Transport for Terminal {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        while self.input.is_empty() && !self.ended {
            match self.query()? {
                Some(text) if text.trim().is_empty() => {}
                Some(text) => {
                    if self.echo {
                        println!("statement: {text}");
                    }
                    self.input.push(b'Q');
                    self.input.extend_from_slice(&(text.len() as u32 + 5).to_be_bytes());
                    self.input.extend_from_slice(text.as_bytes());
                    self.input.push(0);
                }
                None => {
                    self.ended = true;
                    self.input.extend_from_slice(&[b'X', 0, 0, 0, 4]);
                }
            }
        }
        let n = buf.len().min(self.input.len());
        buf[..n].copy_from_slice(&self.input[..n]);
        self.input.drain(..n);
        Ok(n)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        let pending = std::mem::take(&mut self.output);
        let mut rest = pending.as_slice();
        while let Some((head, _)) = rest.split_first_chunk::<5>() {
            let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let Some(body) = rest.get(5..1 + len) else { break };
            self.print_message(head[0], body);
            rest = &rest[1 + len..];
        }
        self.output = rest.to_vec();
        io::stdout().flush()?;
        Ok(bytes.len())
    }

    fn set_read_timeout(&mut self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn hangup(&self) -> Arc<dyn Fn() + Send + Sync> {
        Arc::new(|| {})
    }

    fn peer(&self) -> Option<(IpAddr, u16)> {
        None
    }
}
