//! Command dispatch: a verb of `norsu`, or the name of a PostgreSQL program as `argv[0]`.

use crate::failure::{Failure, Outcome};
use std::ffi::OsString;
use std::process::ExitCode;

const HELP: &str = "\
norsu is a database server that is compatible with PostgreSQL.

Usage:
  norsu init -D DIR [options of initdb]     create a data directory
  norsu start -D DIR [options of postgres]  run a server in the foreground
  norsu single -D DIR [options of postgres] [DATABASE]
                                            run one session without a server
  norsu stop -D DIR [-m smart|fast|immediate] [-W] [-t SECONDS]
  norsu restart -D DIR [-m MODE] [-t SECONDS]
  norsu reload -D DIR                       read the configuration files again
  norsu status -D DIR
  norsu controldata -D DIR                  show the control file
  norsu waldump [options of pg_waldump]     show or count the records of the log

The directory may also be given by the environment variable PGDATA.
Called as initdb, postgres, pg_ctl, pg_controldata or pg_waldump it takes their arguments.
";

/// Runs the program with its arguments.
pub fn run(args: Vec<OsString>) -> ExitCode {
    let args: Vec<String> = args.into_iter().map(|a| a.to_string_lossy().into_owned()).collect();
    types::zone::use_files(&MachineZones);
    let program = args.first().map_or("norsu", |a| a.rsplit('/').next().unwrap_or(a)).to_owned();
    let rest = args.get(1..).unwrap_or_default();
    let outcome = match program.as_str() {
        "initdb" => crate::init::run(rest),
        "postgres" | "postmaster" => crate::start::run(rest, &args),
        "pg_ctl" => crate::control::pg_ctl(rest),
        "pg_controldata" => crate::controldata::run(rest),
        "pg_waldump" => crate::waldump::run(rest),
        _ => verb(rest, &args),
    };
    match outcome {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            if !failure.message.is_empty() {
                eprintln!("{program}: {}", failure.message);
            }
            ExitCode::from(failure.status)
        }
    }
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

fn verb(args: &[String], all: &[String]) -> Outcome {
    let (verb, rest) = match args.split_first() {
        Some((verb, rest)) => (verb.as_str(), rest),
        None => ("--help", args),
    };
    match verb {
        "init" | "initdb" => crate::init::run(rest),
        "start" => crate::start::run(rest, all),
        "stop" | "restart" | "reload" | "status" => crate::control::run(verb, rest),
        "controldata" => crate::controldata::run(rest),
        "waldump" => crate::waldump::run(rest),
        "single" => crate::single::run(rest),
        "--version" | "-V" | "version" => {
            println!("norsu (PostgreSQL) {}", crate::version::SERVER_VERSION);
            Ok(0)
        }
        "--help" | "-?" | "-h" | "help" => {
            print!("{HELP}");
            Ok(0)
        }
        other => Err(Failure::new(format!(
            "unknown command \"{other}\" (try \"norsu --help\" for more information)"
        ))),
    }
}
