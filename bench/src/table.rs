//! The report of the pgbench measurements.

use crate::cells::{Cell, Load, median};
use crate::options::Options;
use crate::servers::Server;
use std::fmt::Write;

pub fn render(options: &Options, servers: &[Server; 2], load: &Load, cells: &[Cell]) -> String {
    let mut out = String::from("# pgbench beside PostgreSQL 15\n\n");
    let _ = writeln!(
        out,
        "Both servers on one machine ({} cores), one run, interleaved; scale {}, {} rounds of {} s \
         a cell, medians with ranges. Data checksums on, fsync on, synchronous_commit on in both; \
         pgbench on the same machine over the Unix-domain socket. Settings: `{}`.\n",
        std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        options.scale,
        options.rounds,
        options.seconds,
        options.settings.join("`, `"),
    );
    for s in servers {
        let _ = writeln!(out, "- {}: `{}`", s.contender.name(), s.version);
    }
    let _ = writeln!(
        out,
        "\n`pgbench -i -s {}`: Norsu {:.1} s ({:.1} CPU s), PostgreSQL {:.1} s ({:.1} CPU s), \
         ratio {:.2}.\n",
        options.scale,
        load.seconds[0],
        load.cpu[0],
        load.seconds[1],
        load.cpu[1],
        load.seconds[1] / load.seconds[0].max(1e-9),
    );
    out.push_str(
        "| script | mode | clients | Norsu tps | PostgreSQL tps | ratio | CPU s per 1,000, Norsu | \
         PostgreSQL |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for c in cells {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {:.2} | {:.3} | {:.3} |",
            c.script,
            c.mode,
            c.clients,
            range(&c.tps[0]),
            range(&c.tps[1]),
            median(&c.tps[0]) / median(&c.tps[1]).max(1e-9),
            c.cpu_per_thousand[0],
            c.cpu_per_thousand[1],
        );
    }
    out
}

fn range(v: &[f64]) -> String {
    let low = v.iter().copied().fold(f64::INFINITY, f64::min);
    let high = v.iter().copied().fold(0.0, f64::max);
    format!("{:.0} ({low:.0}–{high:.0})", median(v))
}
