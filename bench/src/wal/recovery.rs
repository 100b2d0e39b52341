//! Recovery of pgbench's log. Two crashed directories, one of each server; each is recovered by both, so that the log
//! is the same.

use super::{Size, both, load, options};
use crate::cells::median;
use crate::servers::{Contender, Server, output};
use std::fmt::Write;

/// Runs pgbench until so many megabytes follow the redo pointer; returns how many do.
fn fill(server: &Server, size: &Size) -> Result<f64, String> {
    let wal =
        "SELECT (pg_current_wal_insert_lsn() - redo_lsn) / 1048576 FROM pg_control_checkpoint()";
    let megabytes = || -> Result<f64, String> {
        let text = server.query(wal)?;
        text.trim().parse().map_err(|_| format!("not a number: {text}"))
    };
    server.query("CHECKPOINT")?;
    loop {
        let now = megabytes()?;
        if now >= f64::from(size.recover) {
            return Ok(now);
        }
        let mut bench = server.client("pgbench");
        bench.args(["-n", "-M", "prepared", "-c", "8", "-j", "2", "-T", "5", "postgres"]);
        output(&mut bench)?;
    }
}

pub(super) fn run(size: &Size, out: &mut String) -> Result<(), String> {
    let settings = ["synchronous_commit=off"];
    let servers = both(&settings)?;
    load(&servers, size.scale)?;
    let _ = writeln!(
        out,
        "\n## Recovery\n\nServers killed under pgbench (scale {}), at least {} MB of log after the redo pointer; time from \
         the start to the first answer, median of {}, every directory recovered by both.\n\n\
         | crashed by | log MB | Norsu s | PostgreSQL s | ratio |\n|---|---|---|---|---|",
        size.scale, size.recover, size.rounds
    );
    for crashed in &servers {
        let megabytes = fill(crashed, size)?;
        crashed.crash()?;
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..size.rounds {
            for (times, contender) in
                times.iter_mut().zip([Contender::Norsu, Contender::PostgreSql])
            {
                let (server, time) = Server::recover(contender, &options(&settings)?, crashed)?;
                times.push(time.as_secs_f64());
                drop(server);
            }
        }
        let [ours, theirs] = times.map(|t| median(&t));
        let _ = writeln!(
            out,
            "| {} | {megabytes:.0} | {ours:.2} | {theirs:.2} | {:.2} |",
            crashed.contender.name(),
            ours / theirs.max(1e-9)
        );
    }
    Ok(())
}
