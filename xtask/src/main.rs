//! Developer tasks: extraction of catalog contents from PostgreSQL 15, and counts of the code's
//! structure.

#![forbid(unsafe_code)]

mod facts;
mod scratch;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.first().map(String::as_str) {
        Some("facts") => facts::run(),
        Some("counts") => xtask::counts::run(&arguments[1..]),
        _ => Err("usage: cargo run -p xtask -- facts | counts [option]".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
