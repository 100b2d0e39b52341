//! Comparison of the write-ahead log with PostgreSQL's: full-page images by compression and
//! fillfactor, bytes and transactions with and without delta records, syncs of durable commits,
//! transactions during checkpoints (`checkpoint`), and recovery (`recovery`). The first two repeat
//! published measurements ([`SOURCES`]). The report is `docs/benchmarks/wal.md` with a plot; a run
//! of some parts only is printed.

mod checkpoint;
mod recovery;

use crate::cells::median;
use crate::options::Options;
use crate::servers::{Contender, Server, output};
use std::fmt::Write;

const COMPRESSIONS: [&str; 4] = ["off", "pglz", "lz4", "zstd"];
const FILLFACTORS: [u32; 3] = [50, 20, 10];
/// The measurements that are repeated, as a paragraph of the report.
const SOURCES: &str = "Two published measurements are repeated: full-page images, of a message to \
    the list pgsql-hackers (Michael Paquier, \"Compression of full-page-writes\", December 2014), \
    and updates, of an article (Robert Haas, \"write scalability for UPDATE operations\", 13 March \
    2014). Their results are in the columns \"published\"; they come from other machines.";
/// Number of rows of the published script for images.
const ROWS: u32 = 7_000_000;
/// The published results in megabytes by fillfactor: without compression, and with pglz.
const PUBLISHED_MB: [(u32, u32, u32); 3] = [(50, 746, 582), (20, 293, 229), (10, 148, 117)];
/// The published transactions per second by number of clients, before and after the change.
const PUBLISHED_TPS: [(u32, f64, f64); 3] =
    [(1, 1358.4, 1369.9), (8, 9156.6, 9410.4), (32, 14315.9, 15413.5)];

/// Options of `bench/run wal`.
struct Size {
    rows: u32,
    seconds: u32,
    scale: u32,
    rounds: u32,
    /// Megabytes of log to recover.
    recover: u32,
    parts: Vec<String>,
}

const PARTS: [&str; 5] = ["images", "updates", "durable", "checkpoint", "recovery"];

const HELP: &str = "usage: bench/run wal [--rows N] [--seconds N] [--scale N] [--rounds N] \
                    [--recover MB] [--parts images,updates,durable,checkpoint,recovery]";

impl Size {
    fn has(&self, part: &str) -> bool {
        self.parts.iter().any(|p| p == part)
    }
}

fn size(mut args: impl Iterator<Item = String>) -> Result<Size, String> {
    let parts = PARTS.map(str::to_owned).to_vec();
    let mut size = Size { rows: ROWS, seconds: 10, scale: 10, rounds: 3, recover: 1024, parts };
    while let Some(name) = args.next() {
        let value = args.next().ok_or(HELP)?;
        let number = || value.parse::<u32>().map_err(|_| HELP);
        match name.as_str() {
            "--rows" => size.rows = number()?,
            "--seconds" => size.seconds = number()?,
            "--scale" => size.scale = number()?,
            "--rounds" => size.rounds = number()?,
            "--recover" => size.recover = number()?,
            "--parts" => size.parts = value.split(',').map(str::to_owned).collect(),
            _ => return Err(HELP.to_owned()),
        }
    }
    if size.parts.iter().any(|p| !PARTS.contains(&p.as_str())) {
        return Err(HELP.to_owned());
    }
    Ok(size)
}

/// The settings of both measurements, for both servers.
fn options(more: &[&str]) -> Result<Options, String> {
    let mut options = Options::parse(std::iter::empty())?;
    options.settings = ["shared_buffers=512MB", "max_wal_size=16GB", "checkpoint_timeout=30min"]
        .into_iter()
        .chain(["autovacuum=off", "max_connections=100"])
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect();
    Ok(options)
}

fn both(more: &[&str]) -> Result<[Server; 2], String> {
    let options = options(more)?;
    Ok([
        Server::start(Contender::Norsu, &options)?,
        Server::start(Contender::PostgreSql, &options)?,
    ])
}

/// The published script, with its names of functions if the server has them.
fn script(rows: u32, fillfactor: u32, contender: Contender) -> String {
    let position = match contender {
        Contender::Norsu => "pg_current_xlog_location()",
        // The function was renamed in PostgreSQL 10.
        Contender::PostgreSql => "pg_current_wal_lsn()",
    };
    format!(
        "SELECT pg_backend_pid();
CREATE TABLE aa (a int);
CREATE TABLE results (phase text, position pg_lsn);
CREATE EXTENSION IF NOT EXISTS pg_prewarm;
ALTER TABLE aa SET (FILLFACTOR = {fillfactor});
INSERT INTO results VALUES ('pre-insert', {position});
INSERT INTO aa VALUES (generate_series(1,{rows}));
SELECT pg_size_pretty(pg_relation_size('aa'::regclass));
SELECT pg_prewarm('aa'::regclass);
CHECKPOINT;
INSERT INTO results VALUES ('pre-update', {position});
--
UPDATE aa SET a = {rows} + a;
CHECKPOINT;
INSERT INTO results VALUES ('post-update', {position});
SELECT * FROM results;
"
    )
}

/// One measurement of images: megabytes of log and CPU seconds of the update and the following
/// checkpoint.
fn images(server: &Server, rows: u32, fillfactor: u32) -> Result<(f64, f64), String> {
    let text = script(rows, fillfactor, server.contender);
    let (load, update) = text.split_once("--\n").ok_or("the script has two halves")?;
    server.query("DROP TABLE IF EXISTS aa, results")?;
    for statement in load.split(";\n").filter(|s| !s.trim().is_empty()) {
        server.query(statement)?;
    }
    let before = server.cpu_seconds();
    for statement in update.split(";\n").filter(|s| !s.trim().is_empty()) {
        server.query(statement)?;
    }
    let cpu = server.cpu_seconds() - before;
    let bytes = server.query(
        "SELECT (SELECT position FROM results WHERE phase = 'post-update') - (SELECT position FROM \
         results WHERE phase = 'pre-update')",
    )?;
    let bytes: f64 = bytes.trim().parse().map_err(|_| format!("not a number: {bytes}"))?;
    Ok((bytes / 1_048_576.0, cpu))
}

fn image_sizes(size: &Size, out: &mut String) -> Result<Vec<(String, [f64; 2])>, String> {
    let full = if size.rows == ROWS { "" } else { " (the published one has 7,000,000)" };
    let _ = writeln!(
        out,
        "## Full-page images\n\nThe published script with {} rows{full}: the update after a \
         checkpoint, and the checkpoint after it.\n\n\
         | fillfactor | wal_compression | Norsu MB | PostgreSQL MB | ratio | Norsu CPU s | \
         PostgreSQL CPU s | ratio | published MB |\n|---|---|---|---|---|---|---|---|---|",
        size.rows
    );
    let mut bars = Vec::new();
    for compression in COMPRESSIONS {
        let setting = format!("wal_compression={compression}");
        let servers = both(&[&setting])?;
        for fillfactor in FILLFACTORS {
            let mut cells = [(0.0, 0.0); 2];
            for (cell, server) in cells.iter_mut().zip(&servers) {
                *cell = images(server, size.rows, fillfactor)?;
            }
            let [ours, theirs] = cells;
            let published = PUBLISHED_MB.iter().find(|d| d.0 == fillfactor);
            let published = match (compression, published) {
                ("off", Some(d)) => d.1.to_string(),
                ("pglz", Some(d)) => d.2.to_string(),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                out,
                "| {fillfactor} | {compression} | {:.1} | {:.1} | {:.3} | {:.2} | {:.2} | {:.2} | \
                 {published} |",
                ours.0,
                theirs.0,
                ours.0 / theirs.0.max(1e-9),
                ours.1,
                theirs.1,
                ours.1 / theirs.1.max(1e-9),
            );
            bars.push((format!("{fillfactor} {compression}"), [ours.0, theirs.0]));
        }
    }
    Ok(bars)
}

/// Bytes per transaction, transactions per second, syncs per commit; `mode` is pgbench's protocol.
fn transactions(
    server: &Server,
    clients: u32,
    seconds: u32,
    mode: &str,
) -> Result<[f64; 3], String> {
    let count = |sql: &str| -> Result<f64, String> {
        let text = server.query(sql)?;
        text.trim().parse().map_err(|_| format!("not a number: {text}"))
    };
    let place = "SELECT pg_current_wal_insert_lsn() - '0/0'";
    // PostgreSQL's sessions report their statistics when they end, or with a delay.
    let syncs = "SELECT wal_sync FROM pg_stat_wal";
    server.query("CHECKPOINT")?;
    let before = (count(place)?, count(syncs)?);
    let mut bench = server.client("pgbench");
    let threads = clients.min(2).to_string();
    bench.args(["-n", "-M", mode, "-c", &clients.to_string(), "-j", &threads]);
    bench.args(["-T", &seconds.to_string(), "postgres"]);
    let text = output(&mut bench)?;
    let number = |name: &str| -> Result<f64, String> {
        let line = text.lines().find_map(|l| l.strip_prefix(name)).ok_or(&text[..])?;
        let word = line.split_whitespace().next().unwrap_or_default();
        word.trim_end_matches('/').parse().map_err(|_| text.clone())
    };
    let done = number("number of transactions actually processed: ")?;
    std::thread::sleep(std::time::Duration::from_secs(2));
    let after = (count(place)?, count(syncs)?);
    Ok([(after.0 - before.0) / done, number("tps = ")?, (after.1 - before.1) / done])
}

fn load(servers: &[Server], scale: u32) -> Result<(), String> {
    for server in servers {
        let mut init = server.client("pgbench");
        output(init.args(["-i", "-q", "-s", &scale.to_string(), "postgres"]))?;
    }
    Ok(())
}

/// Medians over the rounds, which alternate between the servers.
fn cells(
    servers: &[Server],
    clients: u32,
    size: &Size,
    mode: &str,
) -> Result<Vec<[f64; 3]>, String> {
    let mut all: Vec<Vec<[f64; 3]>> = vec![Vec::new(); servers.len()];
    for _ in 0..size.rounds {
        for (results, server) in all.iter_mut().zip(servers) {
            results.push(transactions(server, clients, size.seconds, mode)?);
        }
    }
    let column = |r: &[[f64; 3]], n: usize| median(&r.iter().map(|c| c[n]).collect::<Vec<_>>());
    Ok(all.iter().map(|r| [column(r, 0), column(r, 1), column(r, 2)]).collect())
}

fn updates(size: &Size, out: &mut String) -> Result<(), String> {
    // Full-page images would hide the difference.
    let settings = ["synchronous_commit=off", "full_page_writes=off"];
    let [ours, theirs] = both(&settings)?;
    let without = ["synchronous_commit=off", "full_page_writes=off", "norsu.wal_update_delta=off"];
    let plain = Server::start(Contender::Norsu, &options(&without)?)?;
    let servers = [ours, plain, theirs];
    load(&servers, size.scale)?;
    let _ = writeln!(
        out,
        "\n## Updates\n\npgbench's TPC-B, scale {}, {} s a run, medians of {}; \
         `synchronous_commit = off`, no images. Delta: `norsu.wal_update_delta`. The published \
         runs use pgbench's default, the simple protocol.\n\n\
         | clients | protocol | bytes a transaction: Norsu, delta | Norsu, no delta | PostgreSQL | \
         tps: Norsu, delta | Norsu, no delta | PostgreSQL | ratio | published tps, before and \
         after |\n|---|---|---|---|---|---|---|---|---|---|",
        size.scale, size.seconds, size.rounds
    );
    for (clients, pre, post) in PUBLISHED_TPS {
        for mode in ["simple", "prepared"] {
            let c = cells(&servers, clients, size, mode)?;
            let published = match mode {
                "simple" => format!("{pre:.0}, {post:.0}"),
                _ => "–".to_owned(),
            };
            let _ = writeln!(
                out,
                "| {clients} | {mode} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.0} | {:.2} | \
                 {published} |",
                c[0][0],
                c[1][0],
                c[2][0],
                c[0][1],
                c[1][1],
                c[2][1],
                c[0][1] / c[2][1].max(1e-9)
            );
        }
    }
    Ok(())
}

fn durable(size: &Size, out: &mut String) -> Result<(), String> {
    let servers = both(&["synchronous_commit=on"])?;
    load(&servers, size.scale)?;
    let _ = writeln!(
        out,
        "\n## Durable commits\n\npgbench's TPC-B, prepared statements.\n\n| clients | tps: Norsu | \
         PostgreSQL | ratio | syncs a commit: Norsu | PostgreSQL |\n\
         |---|---|---|---|---|---|"
    );
    for clients in [1, 8, 32] {
        let c = cells(&servers, clients, size, "prepared")?;
        let _ = writeln!(
            out,
            "| {clients} | {:.0} | {:.0} | {:.2} | {:.3} | {:.3} |",
            c[0][1],
            c[1][1],
            c[0][1] / c[1][1].max(1e-9),
            c[0][2],
            c[1][2]
        );
    }
    Ok(())
}

/// A bar chart: Norsu's and PostgreSQL's megabytes.
fn plot(bars: &[(String, [f64; 2])]) -> String {
    const HEIGHT: f64 = 240.0;
    let most = bars.iter().flat_map(|b| b.1).fold(1e-9, f64::max);
    let width = 70 * bars.len() + 20;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"300\" \
         font-family=\"sans-serif\" font-size=\"10\">\n<text x=\"10\" y=\"12\">MB of log by \
         fillfactor and wal_compression: Norsu (dark), PostgreSQL (light)</text>\n"
    );
    for (i, (name, values)) in bars.iter().enumerate() {
        let x = 20 + 70 * i;
        for (n, (value, colour)) in values.iter().zip(["#245", "#9bd"]).enumerate() {
            let h = value / most * HEIGHT;
            let (x, y) = (x + 22 * n, 30.0 + HEIGHT - h);
            let _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y:.1}\" width=\"20\" height=\"{h:.1}\" fill=\"{colour}\"/>"
            );
        }
        let _ = writeln!(out, "<text x=\"{x}\" y=\"286\">{name}</text>");
    }
    out.push_str("</svg>\n");
    out
}

/// Runs the benchmark and writes the report.
pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let size = size(args)?;
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let mut out = format!(
        "# The write-ahead log beside PostgreSQL 15\n\nBoth servers on one machine ({cores} cores) \
         in one run, checksums and fsync on in both, shared buffers 512 MB. CPU is user and system \
         time of all of a server's threads and processes. `make bench-wal` repeats \
         it.\n\n{SOURCES}\n\n"
    );
    let mut bars = Vec::new();
    for part in PARTS.into_iter().filter(|p| size.has(p)) {
        match part {
            "images" => {
                bars = image_sizes(&size, &mut out)?;
                out.push_str("\n![Megabytes of log](wal.svg)\n");
            }
            "updates" => updates(&size, &mut out)?,
            "durable" => durable(&size, &mut out)?,
            "checkpoint" => checkpoint::run(&size, &mut out)?,
            _ => recovery::run(&size, &mut out)?,
        }
        eprintln!("{part}: done");
    }
    println!("{out}");
    if size.parts != PARTS {
        return Ok(());
    }
    for (path, text) in
        [("docs/benchmarks/wal.md", &out), ("docs/benchmarks/wal.svg", &plot(&bars))]
    {
        std::fs::write(path, text).map_err(|e| format!("{path}: {e}"))?;
        eprintln!("written to {path}");
    }
    Ok(())
}
