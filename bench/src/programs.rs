//! What applications use above storage, compared with PostgreSQL 15: programs in PL/pgSQL,
//! triggers, GIN indexes, partitions, texts in a locale, transactions as procedures, and encrypted
//! connections. Each statement runs in rounds that alternate between the servers; results are
//! compared. The report is `docs/benchmarks/programs.md`.

mod cases;
mod transactions;

use crate::cells::{Cell, median};
use crate::options::Options;
use crate::queries::{Measured, measure_with, must, table};
use crate::servers::{Contender, Server};
use cases::{GROUPS, Group};
use std::fmt::Write;
use testkit::client::Client;

const HELP: &str = "usage: bench/run programs [--rounds N] [--seconds N] [--texts N] [--only \
                    title,…] [-c name=value]…";

/// Options of `bench/run programs`.
struct Size {
    rounds: usize,
    /// Seconds of a cell of pgbench.
    seconds: u32,
    /// Rows of the table of texts.
    texts: u32,
    /// Titles of the groups to run; all if empty.
    only: Vec<String>,
    settings: Vec<String>,
}

const SETTINGS: [&str; 8] = [
    "shared_buffers=1GB",
    "work_mem=64MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=16GB",
    "checkpoint_timeout=30min",
    "autovacuum=off",
    "max_parallel_workers_per_gather=0",
    "max_parallel_maintenance_workers=0",
];

fn size(mut args: impl Iterator<Item = String>) -> Result<Size, String> {
    let settings = SETTINGS.map(str::to_owned).to_vec();
    let mut size = Size { rounds: 5, seconds: 10, texts: 1_000_000, only: Vec::new(), settings };
    while let Some(name) = args.next() {
        let value = args.next().ok_or(HELP)?;
        match name.as_str() {
            "--rounds" => size.rounds = value.parse().map_err(|_| HELP)?,
            "--seconds" => size.seconds = value.parse().map_err(|_| HELP)?,
            "--texts" => size.texts = value.parse().map_err(|_| HELP)?,
            "--only" => size.only = value.split(',').map(str::to_owned).collect(),
            "-c" => size.settings.push(value),
            _ => return Err(HELP.to_owned()),
        }
    }
    Ok(size)
}

impl Size {
    fn wants(&self, title: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| title.starts_with(&**o))
    }
}

pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let size = size(args)?;
    let mut options = Options::parse(std::iter::empty())?;
    options.settings.clone_from(&size.settings);
    let servers = [
        Server::start(Contender::Norsu, &options)?,
        Server::start(Contender::PostgreSql, &options)?,
    ];
    let mut clients = Vec::new();
    for s in &servers {
        clients.push(s.connect()?);
    }
    let mut out = head(&size, &servers);
    for group in GROUPS.iter().filter(|g| size.wants(g.title)) {
        let measured = measure_group(&servers, &mut clients, &size, group)?;
        let _ = writeln!(out, "## {}\n", group.title);
        if group.setup.contains("{rows}") {
            let collation = common_collation(&mut clients)?;
            let _ = writeln!(out, "{} texts of 65 bytes, collation `{collation}`.\n", size.texts);
        }
        table(&mut out, &measured);
    }
    options.seconds = size.seconds;
    options.rounds = size.rounds as u32;
    if size.wants("Procedures") {
        let cells = transactions::run(&servers, &mut clients, &options)?;
        out.push_str(transactions::TEXT);
        render_cells(&mut out, &cells);
    }
    println!("{out}");
    if !size.only.is_empty() {
        return Ok(());
    }
    let path = "docs/benchmarks/programs.md";
    std::fs::write(path, out).map_err(|e| format!("{path}: {e}"))?;
    eprintln!("written to {path}");
    Ok(())
}

fn measure_group(
    servers: &[Server; 2],
    clients: &mut [Client],
    size: &Size,
    group: &Group,
) -> Result<Vec<Measured>, String> {
    let mut setup = group.setup.to_owned();
    if setup.contains("{collation}") {
        setup = setup.replace("{collation}", &common_collation(clients)?);
        setup = setup.replace("{rows}", &size.texts.to_string());
    }
    for client in clients.iter_mut() {
        must(client, &setup)?;
        must(client, "vacuum analyze")?;
    }
    let mut measured = Vec::new();
    for case in group.cases {
        let (name, sql) = (case.name.to_owned(), (case.before, case.sql));
        measured.push(measure_with(servers, clients, size.rounds, name, sql)?);
    }
    Ok(measured)
}

/// A collation for American English that both servers have: that of the C library if the machine
/// has the locale, else that of ICU.
fn common_collation(clients: &mut [Client]) -> Result<String, String> {
    let sql = "select collname from pg_collation where collname in ('en_US.utf8', 'en_US.UTF-8', \
               'en_US', 'en-US-x-icu') order by collprovider, collname";
    let mut lists = Vec::new();
    for client in clients.iter_mut() {
        lists.push(must(client, sql)?.text());
    }
    let common = lists[0].iter().find(|name| lists[1].contains(name));
    let common = common.ok_or("the servers have no common collation for American English")?;
    // `c` (libc) sorts before `i` (ICU).
    Ok(common.clone())
}

fn head(size: &Size, servers: &[Server; 2]) -> String {
    let mut out = String::from("# Programs, triggers, GIN, partitions beside PostgreSQL 15\n\n");
    let _ = writeln!(
        out,
        "Written by `bench/run programs`. Both servers on one machine ({} cores), one run; {} \
         rounds that alternate between the servers, after a first run of each statement, which \
         warms the caches and whose results are compared. Medians with ranges. CPU time is that \
         of all threads and processes of the server while the statement runs; the ratio is \
         Norsu's CPU time divided by PostgreSQL's: below 1, Norsu is faster. PostgreSQL runs \
         without parallel workers. Settings: `{}`.\n",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        size.rounds,
        size.settings.join("`, `"),
    );
    for s in servers {
        let _ = writeln!(out, "- {}: `{}`", s.contender.name(), s.version);
    }
    out.push('\n');
    out
}

fn render_cells(out: &mut String, cells: &[Cell]) {
    out.push_str(
        "| script | mode | clients | Norsu tps | PostgreSQL tps | ratio | CPU s per 1,000, Norsu | \
         PostgreSQL |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for c in cells {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {:.0} | {:.0} | {:.2} | {:.3} | {:.3} |",
            c.script,
            c.mode,
            c.clients,
            median(&c.tps[0]),
            median(&c.tps[1]),
            median(&c.tps[0]) / median(&c.tps[1]).max(1e-9),
            c.cpu_per_thousand[0],
            c.cpu_per_thousand[1],
        );
    }
}
