//! Benchmarks of Norsu and PostgreSQL 15: the same pgbench scripts with the same settings in one
//! run, in rounds that alternate between the servers. Prints a table of medians, ranges and ratios
//! and writes it to `docs/benchmarks/pgbench.md`.
//!
//! `bench/run wal` compares the write-ahead log (`wal`), `bench/run queries` analytical queries
//! (`queries`), `bench/run programs` PL/pgSQL, triggers, GIN indexes, partitions and texts
//! (`programs`). Reading order: `options`, `servers`, `cells`, `table`, `wal`, `queries`,
//! `programs`.

#![forbid(unsafe_code)]

mod cells;
mod options;
mod programs;
mod queries;
mod servers;
mod table;
mod wal;

use options::Options;
use servers::{Contender, Server};
use std::process::ExitCode;

fn main() -> ExitCode {
    let part = match std::env::args().nth(1).as_deref() {
        Some("wal") => Some(wal::run(std::env::args().skip(2))),
        Some("queries") => Some(queries::run(std::env::args().skip(2))),
        Some("programs") => Some(programs::run(std::env::args().skip(2))),
        _ => None,
    };
    if let Some(done) = part {
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => {
                eprintln!("bench: {e}");
                ExitCode::FAILURE
            }
        };
    }
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(o) => o,
        Err(text) => {
            eprintln!("{text}");
            return ExitCode::FAILURE;
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("bench: {e}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), String> {
    let servers =
        [Server::start(Contender::Norsu, options)?, Server::start(Contender::PostgreSql, options)?];
    let loads = cells::load(&servers, options)?;
    let results = cells::run(&servers, options)?;
    let text = table::render(options, &servers, &loads, &results);
    println!("{text}");
    let path = "docs/benchmarks/pgbench.md";
    std::fs::create_dir_all("docs/benchmarks").map_err(|e| e.to_string())?;
    std::fs::write(path, text).map_err(|e| format!("{path}: {e}"))?;
    eprintln!("written to {path}");
    Ok(())
}
