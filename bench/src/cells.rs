//! The pgbench measurements.

use crate::options::Options;
use crate::servers::{Server, output};
use std::time::Instant;

/// Time of `pgbench -i`, per server in seconds.
pub struct Load {
    pub seconds: [f64; 2],
    pub cpu: [f64; 2],
}

/// A measured combination of script, protocol mode and clients: transactions per second of each
/// round, per server.
pub struct Cell {
    pub script: String,
    pub mode: String,
    pub clients: u32,
    pub tps: [Vec<f64>; 2],
    /// CPU seconds per thousand transactions, over all rounds.
    pub cpu_per_thousand: [f64; 2],
}

pub fn load(servers: &[Server; 2], options: &Options) -> Result<Load, String> {
    let mut load = Load { seconds: [0.0; 2], cpu: [0.0; 2] };
    for (i, s) in servers.iter().enumerate() {
        let cpu = s.cpu_seconds();
        let begin = Instant::now();
        let mut pgbench = s.client("pgbench");
        pgbench.args(["-i", "-q", "-s", &options.scale.to_string(), "postgres"]);
        output(&mut pgbench)?;
        load.seconds[i] = begin.elapsed().as_secs_f64();
        load.cpu[i] = s.cpu_seconds() - cpu;
        eprintln!(
            "{}: loaded scale {} in {:.1} s",
            s.contender.name(),
            options.scale,
            load.seconds[i]
        );
    }
    Ok(load)
}

/// What pgbench runs: a built-in script, or files with weights (`path@weight`).
pub struct Script {
    pub name: String,
    /// Empty for a built-in script.
    pub files: Vec<String>,
}

pub fn run(servers: &[Server; 2], options: &Options) -> Result<Vec<Cell>, String> {
    let mut cells = Vec::new();
    for name in &options.scripts {
        let script = Script { name: name.clone(), files: Vec::new() };
        for mode in &options.modes {
            for &clients in &options.clients {
                cells.push(run_cell(servers, &script, mode, clients, options)?);
            }
        }
    }
    Ok(cells)
}

/// Measures one cell in rounds that alternate between the servers.
pub fn run_cell(
    servers: &[Server; 2],
    script: &Script,
    mode: &str,
    clients: u32,
    options: &Options,
) -> Result<Cell, String> {
    let mut cell = Cell {
        script: script.name.clone(),
        mode: mode.to_owned(),
        clients,
        tps: [Vec::new(), Vec::new()],
        cpu_per_thousand: [0.0; 2],
    };
    let (mut cpu, mut count) = ([0.0; 2], [0.0; 2]);
    for _ in 0..options.rounds {
        for (i, s) in servers.iter().enumerate() {
            let before = s.cpu_seconds();
            let tps = pgbench(s, script, mode, clients, options)?;
            cpu[i] += s.cpu_seconds() - before;
            count[i] += tps * f64::from(options.seconds);
            cell.tps[i].push(tps);
        }
    }
    for i in 0..2 {
        cell.cpu_per_thousand[i] = cpu[i] / (count[i] / 1000.0).max(1e-9);
    }
    eprintln!(
        "{} {mode} {clients}: {:.0} against {:.0} tps",
        script.name,
        median(&cell.tps[0]),
        median(&cell.tps[1])
    );
    Ok(cell)
}

fn pgbench(
    s: &Server,
    script: &Script,
    mode: &str,
    clients: u32,
    options: &Options,
) -> Result<f64, String> {
    let mut p = s.client("pgbench");
    p.args(["-n", "-M", mode, "-c", &clients.to_string()]);
    p.args(["-j", &clients.min(2).to_string(), "-T", &options.seconds.to_string()]);
    match &script.files[..] {
        [] => p.args(["-b", &script.name]),
        files => p.args(files.iter().flat_map(|f| ["-f", f])),
    };
    let text = output(p.arg("postgres"))?;
    let tps = text.lines().find_map(|l| {
        l.strip_prefix("tps = ")
            .and_then(|r| r.split_whitespace().next())
            .and_then(|n| n.parse().ok())
    });
    tps.ok_or_else(|| format!("pgbench printed no tps:\n{text}"))
}

pub fn median(values: &[f64]) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    match v.len() {
        0 => 0.0,
        n if n % 2 == 1 => v[n / 2],
        n => (v[n / 2 - 1] + v[n / 2]) / 2.0,
    }
}
