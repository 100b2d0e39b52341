//! Developer tasks: extraction of catalog contents from a real PostgreSQL 15.

#![forbid(unsafe_code)]

mod facts;
mod scratch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let result = match task.as_deref() {
        Some("facts") => facts::run(),
        _ => Err("usage: cargo run -p xtask -- facts".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
