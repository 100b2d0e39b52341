//! Recovery of pgbench's log. There are two crashed directories, one of each server; both servers
//! recover each of them, so that they replay the same log.

use super::{Size, both, load, options};
use crate::cells::median;
use crate::servers::{Contender, Server, output};
use std::fmt::Write;
use std::time::{Duration, Instant};

const REDO: &str = "SELECT redo_lsn FROM pg_control_checkpoint()";

/// Runs pgbench until that many megabytes of log follow the redo pointer; returns the actual number
/// and the pointer.
fn fill(server: &Server, size: &Size) -> Result<(f64, String), String> {
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
            return Ok((now, server.query_value(REDO)?));
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
        "\n## Recovery\n\nServers killed during pgbench (scale {}), at least {} MB of log after \
         the redo pointer; time from the start to the first answer, median of {}, every directory \
         recovered by both. PostgreSQL makes its checkpoint before it answers; Norsu makes it in \
         the background, and the time until its end is shown too.\n\n\
         | crashed by | log MB | Norsu s | its checkpoint made s | PostgreSQL s | ratio \
         |\n|---|---|---|---|---|---|",
        size.scale, size.recover, size.rounds
    );
    for crashed in &servers {
        let (megabytes, redo) = fill(crashed, size)?;
        crashed.crash()?;
        let (mut times, mut checkpoint) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..size.rounds {
            for (times, contender) in
                times.iter_mut().zip([Contender::Norsu, Contender::PostgreSql])
            {
                let (server, time) = Server::recover(contender, &options(&settings)?, crashed)?;
                times.push(time.as_secs_f64());
                let answered = Instant::now();
                while server.query_value(REDO)? == redo {
                    std::thread::sleep(Duration::from_millis(20));
                }
                if contender == Contender::Norsu {
                    checkpoint.push((time + answered.elapsed()).as_secs_f64());
                }
                drop(server);
            }
        }
        let [ours, theirs] = times.map(|t| median(&t));
        let _ = writeln!(
            out,
            "| {} | {megabytes:.0} | {ours:.2} | {:.2} | {theirs:.2} | {:.2} |",
            crashed.contender.name(),
            median(&checkpoint),
            ours / theirs.max(1e-9)
        );
    }
    Ok(())
}
