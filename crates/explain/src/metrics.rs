//! Costs and run-time statistics: times, rows, buffers, WAL, memory.
//!
//! Counterpart: `show_buffer_usage`, `show_sort_info` and others of explain.c.

use crate::Options;
use crate::doc::{NodeView, Value};
use engine::{BufferUsage, WalUsage};
use executor::{Counts, HashCounts, MemoCounts, NodeStats, SortStats};
use plan::node::PlanInfo;

/// Adds the estimated costs, rows and width, with COSTS.
pub fn costs(options: &Options, view: &mut NodeView, info: &PlanInfo) {
    if !options.costs {
        return;
    }
    let (startup, total, rows) = (info.startup_cost, info.total_cost, info.plan_rows);
    view.title.push_str(&format!(
        "  (cost={startup:.2}..{total:.2} rows={rows:.0} width={})",
        info.plan_width
    ));
    view.number("Startup Cost", format!("{startup:.2}"));
    view.number("Total Cost", format!("{total:.2}"));
    view.number("Plan Rows", format!("{rows:.0}"));
    view.number("Plan Width", info.plan_width);
}

/// Adds the measured times, rows and loops, with ANALYZE.
pub fn actual(options: &Options, view: &mut NodeView, stats: Option<NodeStats>) {
    let s = stats.unwrap_or_default();
    if s.loops == 0 {
        view.title.push_str(" (never executed)");
        if options.timing {
            view.number("Actual Startup Time", "0.000");
            view.number("Actual Total Time", "0.000");
        }
        view.number("Actual Rows", 0);
        view.number("Actual Loops", 0);
        return;
    }
    let loops = s.loops as f64;
    let ms = |us: u64| format!("{:.3}", us as f64 / 1000.0 / loops);
    let (startup, total) = (ms(s.startup_us), ms(s.total_us));
    let rows = format!("{:.0}", s.rows as f64 / loops);
    if options.timing {
        view.title
            .push_str(&format!(" (actual time={startup}..{total} rows={rows} loops={})", s.loops));
        view.number("Actual Startup Time", startup);
        view.number("Actual Total Time", total);
    } else {
        view.title.push_str(&format!(" (actual rows={rows} loops={})", s.loops));
    }
    view.number("Actual Rows", rows);
    view.number("Actual Loops", s.loops);
}

/// Pages visited by a bitmap heap scan.
pub fn heap_blocks(view: &mut NodeView, counts: &Counts) {
    view.number("Exact Heap Blocks", counts.exact_blocks);
    view.number("Lossy Heap Blocks", counts.lossy_blocks);
    if counts.exact_blocks + counts.lossy_blocks > 0 {
        let mut line = "Heap Blocks:".to_owned();
        for (word, n) in [("exact", counts.exact_blocks), ("lossy", counts.lossy_blocks)] {
            if n > 0 {
                line.push_str(&format!(" {word}={n}"));
            }
        }
        view.lines.push(line);
    }
}

/// Adds the method of a sort and its memory or disk space.
pub fn sort(view: &mut NodeView, s: &SortStats) {
    let space = if s.on_disk { "Disk" } else { "Memory" };
    view.lines.push(format!("Sort Method: {}  {space}: {}kB", s.method, s.kilobytes));
    view.field("Sort Method", Value::Text(s.method.to_owned()));
    view.number("Sort Space Used", s.kilobytes);
    view.field("Sort Space Type", Value::Text(space.to_owned()));
}

/// Adds the buckets, batches and memory of a hash table.
pub fn hash(view: &mut NodeView, h: &HashCounts) {
    let grown = |now: u64, before: u64| match now == before {
        true => now.to_string(),
        false => format!("{now} (originally {before})"),
    };
    view.lines.push(format!(
        "Buckets: {}  Batches: {}  Memory Usage: {}kB",
        grown(h.buckets, h.buckets_original),
        grown(h.batches, h.batches_original),
        h.kilobytes
    ));
    view.number("Hash Buckets", h.buckets);
    view.number("Original Hash Buckets", h.buckets_original);
    view.number("Hash Batches", h.batches);
    view.number("Original Hash Batches", h.batches_original);
    view.number("Peak Memory Usage", h.kilobytes);
}

/// Adds how often the cache of a Memoize node was used, and its memory.
pub fn memo(view: &mut NodeView, m: &MemoCounts) {
    view.lines.push(format!(
        "Hits: {}  Misses: {}  Evictions: {}  Overflows: {}  Memory Usage: {}kB",
        m.hits, m.misses, m.evictions, m.overflows, m.kilobytes
    ));
    view.number("Cache Hits", m.hits);
    view.number("Cache Misses", m.misses);
    view.number("Cache Evictions", m.evictions);
    view.number("Cache Overflows", m.overflows);
    view.number("Peak Memory Usage", m.kilobytes);
}

/// Adds the batches, memory and disk space of a hashed aggregation.
pub fn hash_agg(view: &mut NodeView, h: &HashCounts) {
    let mut line = format!("Batches: {}  Memory Usage: {}kB", h.batches, h.kilobytes);
    if h.batches > 1 {
        line.push_str(&format!("  Disk Usage: {}kB", h.disk_kilobytes));
    }
    view.lines.push(line);
    view.number("HashAgg Batches", h.batches);
    view.number("Peak Memory Usage", h.kilobytes);
    view.number("Disk Usage", h.disk_kilobytes);
}

/// Adds the numbers of buffers hit, read, dirtied and written, and the times of reads and writes.
pub fn buffers(view: &mut NodeView, u: &BufferUsage, io_timing: bool) {
    let parts = [("hit", u.hit), ("read", u.read), ("dirtied", u.dirtied), ("written", u.written)];
    if parts.iter().any(|(_, n)| *n > 0) {
        let mut line = "Buffers: shared".to_owned();
        for (word, n) in parts.iter().filter(|(_, n)| *n > 0) {
            line.push_str(&format!(" {word}={n}"));
        }
        view.lines.push(line);
    }
    let kinds = ["Shared Hit", "Shared Read", "Shared Dirtied", "Shared Written"];
    for (kind, (_, n)) in kinds.iter().zip(parts) {
        view.number(&format!("{kind} Blocks"), n);
    }
    for kind in
        ["Local Hit", "Local Read", "Local Dirtied", "Local Written", "Temp Read", "Temp Written"]
    {
        view.number(&format!("{kind} Blocks"), 0);
    }
    io_times(view, u, io_timing);
}

/// Adds the times of reads and writes. Text shows those that were measured, other formats show all
/// if they are measured now.
fn io_times(view: &mut NodeView, u: &BufferUsage, io_timing: bool) {
    let ms = |us: u64| format!("{:.3}", us as f64 / 1000.0);
    let parts = [("read", u.read_time_us), ("write", u.write_time_us)];
    if parts.iter().any(|(_, us)| *us > 0) {
        let mut line = "I/O Timings: shared".to_owned();
        for (word, us) in parts.iter().filter(|(_, us)| *us > 0) {
            line.push_str(&format!(" {word}={}", ms(*us)));
        }
        view.lines.push(line);
    }
    if io_timing {
        view.number("I/O Read Time", ms(u.read_time_us));
        view.number("I/O Write Time", ms(u.write_time_us));
        view.number("Temp I/O Read Time", ms(0));
        view.number("Temp I/O Write Time", ms(0));
    }
}

/// Adds the numbers of WAL records, full-page images and bytes.
pub fn wal(view: &mut NodeView, u: &WalUsage) {
    let parts = [("records", u.records), ("fpi", u.images), ("bytes", u.bytes)];
    if parts.iter().any(|(_, n)| *n > 0) {
        let mut line = "WAL:".to_owned();
        for (word, n) in parts.iter().filter(|(_, n)| *n > 0) {
            line.push_str(&format!(" {word}={n}"));
        }
        view.lines.push(line);
    }
    for (kind, (_, n)) in ["WAL Records", "WAL FPI", "WAL Bytes"].iter().zip(parts) {
        view.number(kind, n);
    }
}
