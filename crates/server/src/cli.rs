//! Command dispatch: a verb of `norsu`, or the name of a PostgreSQL program as `argv[0]`.

use crate::call::Call;
use crate::failure::{Failure, Outcome, Style};
use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
norsu is a database server that is compatible with PostgreSQL.

Usage:
  norsu COMMAND [OPTION]...

Commands:
  init         create a data directory
  start        run a server in the foreground
  stop         stop a server
  restart      stop a server, and start it in the background
  reload       have a server read its configuration files again
  status       show whether a server is running
  promote      end the standby mode of a server
  logrotate    have a server open a new log file
  kill         send a signal to a process
  single       run one session without a server
  controldata  show the control file
  waldump      show or count the records of the log
  help         show the help of a command: norsu help COMMAND

Other options:
  -V, --version  show the version, then exit
  -?, --help     show this help, then exit

The directory may also be given by the environment variable PGDATA.

Called as initdb, postgres, pg_ctl, pg_controldata or pg_waldump, the program takes the arguments
of that program of PostgreSQL 15 and behaves like it.
";

struct Program {
    /// Names as `argv[0]`.
    names: &'static [&'static str],
    /// Verbs of `norsu`.
    verbs: &'static [&'static str],
    style: Style,
    run: fn(&Call<'_>) -> Outcome,
}

const PROGRAMS: [Program; 6] = [
    Program {
        names: &["initdb"],
        verbs: &["init", "initdb"],
        style: Style::Labelled,
        run: crate::init::run,
    },
    Program {
        names: &["postgres", "postmaster"],
        verbs: &["start"],
        style: Style::Plain,
        run: crate::start::run,
    },
    Program {
        names: &["pg_ctl"],
        verbs: &["stop", "restart", "reload", "status", "promote", "logrotate", "kill"],
        style: Style::Plain,
        run: crate::control::run,
    },
    Program {
        names: &["pg_controldata"],
        verbs: &["controldata"],
        style: Style::Labelled,
        run: crate::controldata::run,
    },
    Program {
        names: &["pg_waldump"],
        verbs: &["waldump"],
        style: Style::Labelled,
        run: crate::waldump::run,
    },
    Program { names: &[], verbs: &["single"], style: Style::Plain, run: crate::single::run },
];

/// Runs the program with its arguments.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let all: Vec<String> = args.into_iter().map(|a| a.to_string_lossy().into_owned()).collect();
    types::zone::use_files(&MachineZones);
    let name = all.first().map_or("norsu", |a| a.rsplit('/').next().unwrap_or(a));
    let args = all.get(1..).unwrap_or_default();
    match PROGRAMS.iter().find(|p| p.names.contains(&name)) {
        Some(program) => {
            let call = Call { name, command: name.to_owned(), verb: "", args, all: &all };
            finish((program.run)(&call), program.style, &call)
        }
        None => run_verb(args, &all),
    }
}

fn finish(outcome: Outcome, style: Style, call: &Call<'_>) -> ExitCode {
    match outcome {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            eprint!("{}", failure.text(style, call.name, &call.command));
            ExitCode::from(failure.status)
        }
    }
}

fn run_verb(args: &[String], all: &[String]) -> ExitCode {
    let help = ["--help".to_owned()];
    let (verb, rest) = match args {
        [] => ("--help", args),
        [first, verb, ..] if first == "help" => (verb.as_str(), &help[..]),
        [verb, rest @ ..] => (verb.as_str(), rest),
    };
    let name = "norsu";
    let known = PROGRAMS.iter().find(|p| p.verbs.contains(&verb));
    let command = known.map_or_else(|| name.to_owned(), |_| format!("{name} {verb}"));
    let call = Call { name, command, verb, args: rest, all };
    let outcome = match (known, verb) {
        (Some(program), _) => (program.run)(&call),
        (None, "--version" | "-V" | "version") => call.print_version(name),
        (None, "--help" | "-?" | "-h" | "help") => call.print_help(HELP),
        (None, other) => Err(Failure::usage(format!("unknown command \"{other}\""))),
    };
    finish(outcome, known.map_or(Style::Plain, |p| p.style), &call)
}

/// The time zone files of this machine.
struct MachineZones;

impl types::zone::ZoneFiles for MachineZones {
    fn read(&self, name: &str) -> Option<(String, Vec<u8>)> {
        vfs::zoneinfo::read(name)
    }

    fn names(&self) -> Vec<String> {
        vfs::zoneinfo::names()
    }
}
