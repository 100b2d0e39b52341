//! Transactions during consecutive checkpoints, and the size of the log during that time.

use super::{Size, load, options};
use crate::cells::median;
use crate::servers::{Contender, Server, output};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Small, so that the log triggers a checkpoint every few seconds.
const MAX_WAL_MB: u32 = 256;
const CLIENTS: &str = "8";

struct Outcome {
    /// Transactions per second, for each second.
    seconds: Vec<f64>,
    /// Maximum size of `pg_wal` in megabytes.
    most: f64,
    checkpoints: u64,
}

/// Runs pgbench for some seconds and samples the size of `pg_wal` ten times a second.
fn watch(server: &Server, seconds: u32) -> Result<Outcome, String> {
    let done = "SELECT checkpoints_req + checkpoints_timed FROM pg_stat_bgwriter";
    let count = || -> Result<u64, String> {
        let text = server.query(done)?;
        text.trim().parse().map_err(|_| format!("not a number: {text}"))
    };
    let before = count()?;
    let mut bench = server.client("pgbench");
    bench.args(["-n", "-M", "prepared", "-c", CLIENTS, "-j", "2", "-P", "1"]);
    bench.args(["-T", &seconds.to_string(), "postgres"]);
    // pgbench writes its progress to standard error.
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(bench.get_program()).args(bench.get_args());
    let ended = AtomicBool::new(false);
    let directory = server.data().join("pg_wal");
    let (text, most) = std::thread::scope(|scope| {
        let most = scope.spawn(|| {
            let mut most = 0;
            while !ended.load(Relaxed) {
                let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
                let sizes = entries.filter_map(|e| e.metadata().ok()).filter(|m| m.is_file());
                most = sizes.map(|m| m.len()).sum::<u64>().max(most);
                std::thread::sleep(Duration::from_millis(100));
            }
            most
        });
        let text = output(&mut shell);
        ended.store(true, Relaxed);
        (text, most.join().unwrap_or_default())
    });
    let text = text?;
    // "progress: 1.0 s, 3000.0 tps, lat …"
    let tps = |line: &str| line.strip_prefix("progress: ")?.split(' ').nth(2)?.parse().ok();
    let seconds: Vec<f64> = text.lines().filter_map(tps).collect();
    if seconds.is_empty() {
        return Err(text);
    }
    std::thread::sleep(Duration::from_secs(1));
    Ok(Outcome { seconds, most: most as f64 / 1_048_576.0, checkpoints: count()? - before })
}

pub(super) fn run(size: &Size, out: &mut String) -> Result<(), String> {
    let seconds = size.seconds * 6;
    let max = format!("max_wal_size={MAX_WAL_MB}MB");
    let _ = writeln!(
        out,
        "\n## While checkpoints run\n\npgbench's TPC-B, scale {}, {CLIENTS} clients, {seconds} s, \
         `synchronous_commit = off`, `max_wal_size = {MAX_WAL_MB}MB`.\n\n\
         | server | median second, tps | slowest second, tps | ratio | checkpoints | most MB in \
         pg_wal |\n\
         |---|---|---|---|---|---|",
        size.scale
    );
    for contender in [Contender::Norsu, Contender::PostgreSql] {
        let server = Server::start(contender, &options(&["synchronous_commit=off", &max])?)?;
        load(std::slice::from_ref(&server), size.scale)?;
        let Outcome { seconds, most, checkpoints } = watch(&server, seconds)?;
        let (middle, least) = (median(&seconds), seconds.iter().copied().fold(f64::MAX, f64::min));
        let _ = writeln!(
            out,
            "| {} | {middle:.0} | {least:.0} | {:.2} | {checkpoints} | {most:.0} |",
            contender.name(),
            least / middle.max(1e-9)
        );
    }
    Ok(())
}
