//! The report of the query measurements.

use super::{Loaded, Measured, Size};
use crate::cells::median;
use crate::servers::Server;
use std::fmt::Write;

/// The ratio of Norsu's to PostgreSQL's CPU time, by medians.
fn ratio(m: &Measured) -> Option<f64> {
    let [a, b] = [median(&m.cpu[0]), median(&m.cpu[1])];
    (m.cpu[0].len() + m.cpu[1].len() > 0).then(|| a / b.max(1e-6))
}

fn range(v: &[f64]) -> String {
    let low = v.iter().copied().fold(f64::INFINITY, f64::min);
    let high = v.iter().copied().fold(0.0, f64::max);
    let digits = usize::from(median(v) < 100.0);
    format!("{:.digits$} ({low:.digits$}–{high:.digits$})", median(v))
}

/// A row of a table.
pub fn line(m: &Measured) -> String {
    let fault = m.fault.as_deref().unwrap_or("");
    let Some(ratio) = ratio(m) else {
        return format!("| {} | | | | | | {fault} |", m.name);
    };
    format!(
        "| {} | {} | {} | {ratio:.2} | {} | {} | {} |",
        m.name,
        range(&m.cpu[0]),
        range(&m.cpu[1]),
        range(&m.wall[0]),
        range(&m.wall[1]),
        if fault.is_empty() { "same" } else { fault },
    )
}

/// A table of measurements, and the mean of their ratios.
pub fn table(out: &mut String, measured: &[Measured]) {
    out.push_str(
        "| | Norsu, CPU ms | PostgreSQL, CPU ms | ratio | Norsu, ms | PostgreSQL, ms | results |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for m in measured {
        let _ = writeln!(out, "{}", line(m));
    }
    let ratios: Vec<f64> = measured.iter().filter_map(ratio).collect();
    if ratios.is_empty() {
        return;
    }
    let mean = (ratios.iter().map(|r| r.max(1e-6).ln()).sum::<f64>() / ratios.len() as f64).exp();
    let above = measured.iter().filter(|m| ratio(m).is_some_and(|r| r > 1.2));
    let above: Vec<&str> = above.map(|m| &*m.name).collect();
    let _ = writeln!(
        out,
        "\nGeometric mean of the ratios: {mean:.2}. Above 1.2: {}.\n",
        if above.is_empty() { "none".to_owned() } else { above.join(", ") }
    );
}

pub fn render(
    size: &Size,
    servers: &[Server; 2],
    loaded: &Loaded,
    queries: &[Measured],
    singles: &[Measured],
) -> String {
    let mut out = String::from("# Queries beside PostgreSQL 15\n\n");
    let _ = writeln!(
        out,
        "Written by `bench/run queries`. Both servers on one machine ({} cores), one run; {} \
         rounds that alternate between the servers, after one run of each statement that warms the \
         caches and whose rows are compared. Medians with ranges. CPU time is that of all threads \
         and processes of the server while the statement runs (`/proc/*/schedstat`), so that other \
         load on the machine counts little; the ratio is Norsu's CPU time divided by PostgreSQL's: \
         below 1, Norsu is faster. PostgreSQL runs without parallel workers. Settings: `{}`.\n",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        size.rounds,
        size.settings.join("`, `"),
    );
    for s in servers {
        let _ = writeln!(out, "- {}: `{}`", s.contender.name(), s.version);
    }
    let _ = writeln!(
        out,
        "\nLoading at scale {}: COPY {:.1} s against {:.1} s, {} indexes {:.1} s against {:.1} s \
         (one sample).\n",
        size.scale,
        loaded.copy[0],
        loaded.copy[1],
        super::tpch::INDEXES.len(),
        loaded.indexes[0],
        loaded.indexes[1],
    );
    let _ = writeln!(
        out,
        "## TPC-H, scale {}\n\nTables made by `bench/src/queries/data.rs` after clause 4.2 of the \
         specification (comments of a simpler grammar); indexes on primary keys, foreign keys and \
         dates.\n",
        size.scale
    );
    table(&mut out, queries);
    out.push_str("## Single statements\n\n");
    table(&mut out, singles);
    out
}
