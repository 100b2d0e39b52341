//! The 22 queries of TPC-H and single statements, compared with PostgreSQL without parallel
//! workers: the same tables (`data`) are loaded by the same COPYs, results are compared, and CPU
//! time and elapsed time of each statement are measured in rounds that alternate between the
//! servers. The report is `docs/benchmarks/queries.md`.

mod data;
mod report;
mod single;
mod tpch;

pub use report::table;

use crate::options::Options;
use crate::servers::{Contender, Server};
use std::collections::BTreeMap;
use std::time::Instant;
use testkit::client::{Client, Reply};

/// Options of `bench/run queries`.
struct Size {
    scale: f64,
    rounds: usize,
    /// Statements to run; all if empty.
    only: Vec<String>,
    settings: Vec<String>,
    /// Keeps the servers running until the end of standard input.
    hold: bool,
}

const HELP: &str = "usage: bench/run queries [--scale F] [--rounds N] [--only q1,q20,single,…] \
                    [--hold yes] [-c name=value]…";

const SETTINGS: [&str; 9] = [
    "shared_buffers=2GB",
    "work_mem=64MB",
    "maintenance_work_mem=256MB",
    "max_wal_size=16GB",
    "checkpoint_timeout=30min",
    "autovacuum=off",
    "max_parallel_workers_per_gather=0",
    "max_parallel_maintenance_workers=0",
    "statement_timeout=120s",
];

fn size(mut args: impl Iterator<Item = String>) -> Result<Size, String> {
    let mut size = Size {
        scale: 1.0,
        rounds: 5,
        only: Vec::new(),
        settings: SETTINGS.map(str::to_owned).to_vec(),
        hold: false,
    };
    while let Some(name) = args.next() {
        let value = args.next().ok_or(HELP)?;
        match name.as_str() {
            "--scale" => size.scale = value.parse().map_err(|_| HELP)?,
            "--rounds" => size.rounds = value.parse().map_err(|_| HELP)?,
            "--only" => size.only = value.split(',').map(str::to_owned).collect(),
            "--hold" => size.hold = value == "yes",
            "-c" => size.settings.push(value),
            _ => return Err(HELP.to_owned()),
        }
    }
    Ok(size)
}

impl Size {
    fn wants(&self, class: &str, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| o == class || name.starts_with(&**o))
    }
}

/// The measurements of a statement.
pub struct Measured {
    name: String,
    /// Milliseconds of each round, per server: CPU time of the server, and time at the client.
    cpu: [Vec<f64>; 2],
    wall: [Vec<f64>; 2],
    /// The reason why there is no measurement, or the difference between the results.
    fault: Option<String>,
}

/// Load times in seconds per server.
#[derive(Default)]
pub struct Loaded {
    copy: [f64; 2],
    indexes: [f64; 2],
}

pub fn run(args: impl Iterator<Item = String>) -> Result<(), String> {
    let size = size(args)?;
    let mut options = Options::parse(std::iter::empty())?;
    options.settings.clone_from(&size.settings);
    let servers = [
        Server::start(Contender::Norsu, &options)?,
        Server::start(Contender::PostgreSql, &options)?,
    ];
    let loaded = load(&servers, &size)?;
    let mut clients = Vec::new();
    for s in &servers {
        clients.push(s.connect()?);
    }
    let mut queries = Vec::new();
    let fraction = format!("{:.10}", 0.0001 / size.scale);
    for (i, sql) in tpch::QUERIES.iter().enumerate() {
        let name = format!("q{}", i + 1);
        if size.only.is_empty() || size.only.iter().any(|o| *o == name || o == "tpch") {
            let sql = sql.replace("{fraction}", &fraction);
            queries.push(measure(&servers, &mut clients, &size, name, &sql)?);
        }
    }
    let mut singles = Vec::new();
    for (name, sql) in single::STATEMENTS {
        if size.wants("single", name) {
            let name = (*name).to_owned();
            singles.push(measure(&servers, &mut clients, &size, name, sql)?);
        }
    }
    let text = report::render(&size, &servers, &loaded, &queries, &singles);
    println!("{text}");
    if size.hold {
        for s in &servers {
            eprintln!("{}: {:?}", s.contender.name(), s.client("psql"));
        }
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    if !size.only.is_empty() {
        return Ok(());
    }
    let path = "docs/benchmarks/queries.md";
    std::fs::write(path, text).map_err(|e| format!("{path}: {e}"))?;
    eprintln!("written to {path}");
    Ok(())
}

/// Runs a statement that must succeed.
pub fn must(client: &mut Client, sql: &str) -> Result<Reply, String> {
    let reply = client.query(sql).map_err(|e| format!("{sql}: {e}"))?;
    match &reply.error {
        None => Ok(reply),
        Some(e) => Err(format!("{sql}: {}: {}", e.code, e.message)),
    }
}

fn load(servers: &[Server; 2], size: &Size) -> Result<Loaded, String> {
    let mut loaded = Loaded::default();
    for (i, s) in servers.iter().enumerate() {
        let mut c = s.connect()?;
        must(&mut c, "set statement_timeout = 0")?;
        must(&mut c, tpch::TABLES)?;
        let mut seconds = 0.0;
        data::generate(size.scale, &mut |table, rows| {
            let begin = Instant::now();
            let copy = format!("copy {table} from stdin");
            let reply = c.copy_in(&copy, rows).map_err(|e| e.to_string())?;
            seconds += begin.elapsed().as_secs_f64();
            reply.error.map_or(Ok(()), |e| Err(format!("{copy}: {}", e.message)))
        })?;
        loaded.copy[i] = seconds;
        let begin = Instant::now();
        for sql in tpch::INDEXES {
            must(&mut c, sql)?;
        }
        loaded.indexes[i] = begin.elapsed().as_secs_f64();
        for sql in single::TABLES {
            must(&mut c, sql)?;
        }
        must(&mut c, "vacuum analyze")?;
        must(&mut c, "checkpoint")?;
        eprintln!(
            "{}: COPY {:.1} s, indexes {:.1} s",
            s.contender.name(),
            loaded.copy[i],
            loaded.indexes[i]
        );
    }
    Ok(loaded)
}

/// The rows of a result as a multiset.
fn rows(reply: &Reply) -> BTreeMap<&Vec<Option<String>>, usize> {
    let mut counts = BTreeMap::new();
    for row in reply.answers.iter().flat_map(|a| &a.rows) {
        *counts.entry(row).or_default() += 1;
    }
    counts
}

/// Measures a statement of the report of queries.
fn measure(
    servers: &[Server; 2],
    clients: &mut [Client],
    size: &Size,
    name: String,
    sql: &str,
) -> Result<Measured, String> {
    measure_with(servers, clients, size.rounds, name, ("", sql))
}

/// Measures a statement in rounds that alternate between the servers; the statements of `before`
/// run before each measurement and are not measured.
pub fn measure_with(
    servers: &[Server; 2],
    clients: &mut [Client],
    rounds: usize,
    name: String,
    (before, sql): (&str, &str),
) -> Result<Measured, String> {
    let mut m = Measured { name, cpu: Default::default(), wall: Default::default(), fault: None };
    let mut replies = Vec::new();
    // The first run warms the caches, and its results are compared.
    for client in clients.iter_mut() {
        must(client, before)?;
        let reply = client.query(sql).map_err(|e| format!("{sql}: {e}"))?;
        if let (Some(e), None) = (&reply.error, &m.fault) {
            m.fault = Some(format!("{}: {}", servers[replies.len()].contender.name(), e.message));
        }
        replies.push(reply);
    }
    if m.fault.is_none() && rows(&replies[0]) != rows(&replies[1]) {
        m.fault = Some("results differ".to_owned());
    }
    if replies.iter().any(|r| r.error.is_some()) {
        eprintln!("{}: {:?}", m.name, m.fault);
        return Ok(m);
    }
    for _ in 0..rounds {
        for (i, client) in clients.iter_mut().enumerate() {
            must(client, before)?;
            let cpu = servers[i].cpu_nanoseconds();
            let begin = Instant::now();
            must(client, sql)?;
            m.wall[i].push(begin.elapsed().as_secs_f64() * 1e3);
            m.cpu[i].push((servers[i].cpu_nanoseconds() - cpu) as f64 / 1e6);
        }
    }
    eprintln!("{}", report::line(&m));
    Ok(m)
}
