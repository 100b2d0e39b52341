//! The reports of VACUUM VERBOSE and of autovacuum.
//!
//! Counterpart: the end of `heap_vacuum_rel` in vacuumlazy.c and of `do_analyze_rel` in analyze.c.

use crate::vacuum::Auto;
use catalog::RelDesc;
use engine::vacuum::VacuumResult;
use engine::{BufferUsage, WalUsage};
use pgerror::{Result, Severity, pg_err};
use std::fmt::Write;
use std::time::{Duration, Instant};
use utility::host::CommandHost;
use vfs::process::{Usage, thread_usage};

/// Resource usage at the start of the work.
pub(crate) struct Begun {
    at: Instant,
    cpu: Usage,
    buffers: BufferUsage,
    wal: WalUsage,
}

/// By how much the limits of the table in `pg_class` advanced.
#[derive(Clone, Copy, Default)]
pub(crate) struct Advanced {
    pub(crate) xids: Option<i32>,
    pub(crate) multis: Option<i32>,
}

/// A table that was vacuumed.
pub(crate) struct Vacuumed<'a> {
    pub(crate) rel: &'a RelDesc,
    pub(crate) result: &'a VacuumResult,
    /// Names of its indexes, in the order of the results.
    pub(crate) indexes: &'a [&'a str],
    pub(crate) advanced: Advanced,
}

impl Begun {
    pub(crate) fn now(host: &mut dyn CommandHost) -> Begun {
        let be = host.backend();
        let (buffers, wal) = (be.buffer_usage(), be.wal_usage());
        Begun { at: sync::wait::now(), cpu: thread_usage(), buffers, wal }
    }

    /// True if autovacuum logs its work, which has ended.
    pub(crate) fn is_logged(&self, _host: &mut dyn CommandHost, auto: Option<&Auto>) -> bool {
        auto.is_some_and(|auto| {
            auto.log_min_ms >= 0.0 && self.at.elapsed().as_secs_f64() * 1000.0 >= auto.log_min_ms
        })
    }

    /// The lines on pages, WAL and CPU time.
    fn usage(&self, host: &mut dyn CommandHost, with_wal: bool, out: &mut String) {
        let track_io_timing = host.setting("track_io_timing") == "on";
        let be = host.backend();
        let (buffers, wal) = (be.buffer_usage() - self.buffers, be.wal_usage());
        let elapsed = self.at.elapsed();
        let seconds = elapsed.as_secs_f64().max(1e-6);
        let rate = |pages: u64| pages as f64 * page::PAGE_SIZE as f64 / (1 << 20) as f64 / seconds;
        if track_io_timing {
            let ms = |us: u64| us as f64 / 1000.0;
            let (read, write) = (ms(buffers.read_time_us), ms(buffers.write_time_us));
            let _ = write!(out, "\nI/O timings: read: {read:.3} ms, write: {write:.3} ms");
        }
        let _ = write!(
            out,
            "\navg read rate: {:.3} MB/s, avg write rate: {:.3} MB/s\n\
             buffer usage: {} hits, {} misses, {} dirtied",
            rate(buffers.read),
            rate(buffers.dirtied),
            buffers.hit,
            buffers.read,
            buffers.dirtied
        );
        if with_wal {
            let _ = write!(
                out,
                "\nWAL usage: {} records, {} full page images, {} bytes",
                wal.records - self.wal.records,
                wal.images - self.wal.images,
                wal.bytes - self.wal.bytes
            );
        }
        let cpu = thread_usage();
        let shown = |span: Duration| format!("{}.{:02}", span.as_secs(), span.subsec_millis() / 10);
        let _ = write!(
            out,
            "\nsystem usage: CPU: user: {} s, system: {} s, elapsed: {} s",
            shown(cpu.user.saturating_sub(self.cpu.user)),
            shown(cpu.system.saturating_sub(self.cpu.system)),
            shown(elapsed)
        );
    }
}

fn name_of(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<String> {
    let database = host.database_name()?;
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
    Ok(format!("\"{database}.{schema}.{}\"", rel.name()))
}

fn share(n: u32, of: u32) -> f64 {
    match of {
        0 => 100.0,
        of => 100.0 * f64::from(n) / f64::from(of),
    }
}

/// Reports a VACUUM, to the client if `auto` is `None`.
pub(crate) fn vacuum(
    host: &mut dyn CommandHost,
    begun: &Begun,
    done: Vacuumed<'_>,
    auto: Option<&Auto>,
) -> Result<()> {
    let r = done.result;
    let name = name_of(host, done.rel)?;
    let mut text = match auto {
        None => format!("finished vacuuming {name}"),
        Some(auto) => {
            let aggressive = if r.aggressive { "aggressive " } else { "" };
            let why = if auto.for_wraparound { "to prevent wraparound " } else { "" };
            format!("automatic {aggressive}vacuum {why}of table {name}")
        }
    };
    let before = r.pages + r.removed_pages;
    let next = host.backend().storage().txns.next_full_xid().xid();
    let _ = write!(
        text,
        ": index scans: {}\n\
         pages: {} removed, {} remain, {} scanned ({:.2}% of total)\n\
         tuples: {} removed, {:.0} remain, {} are dead but not yet removable\n\
         removable cutoff: {}, which was {} XIDs old when operation ended",
        r.index_scans,
        r.removed_pages,
        r.pages,
        r.scanned_pages,
        share(r.scanned_pages, before),
        r.tuples_deleted,
        r.rel_tuples,
        r.recently_dead_tuples,
        r.oldest_xmin,
        next.0.wrapping_sub(r.oldest_xmin.0) as i32,
    );
    if let Some(ahead) = done.advanced.xids {
        let xid = r.new_frozen_xid;
        let _ = write!(
            text,
            "\nnew relfrozenxid: {xid}, which is {ahead} XIDs ahead of previous value"
        );
    }
    if let Some(ahead) = done.advanced.multis {
        let multi = r.new_min_mxid.0;
        let _ = write!(
            text,
            "\nnew relminmxid: {multi}, which is {ahead} MXIDs ahead of previous value"
        );
    }
    let (what, verb) = match (r.failsafe, r.bypassed, r.index_scans) {
        (true, _, _) => ("bypassed by failsafe", "have"),
        (_, true, _) => ("bypassed", "have"),
        (_, _, 0) => ("not needed", "had"),
        _ => ("needed", "had"),
    };
    let removed = if verb == "had" { " removed" } else { "" };
    let _ = write!(
        text,
        "\nindex scan {what}: {} pages from table ({:.2}% of total) {verb} {} dead item \
         identifiers{removed}",
        r.dead_pages,
        share(r.dead_pages, before),
        r.dead_items
    );
    for (name, index) in done.indexes.iter().zip(&r.indexes).filter(|(_, i)| i.pages > 0) {
        let _ = write!(
            text,
            "\nindex \"{name}\": pages: {} in total, {} newly deleted, {} currently deleted, {} \
             reusable",
            index.pages, index.pages_newly_deleted, index.pages_deleted, index.pages_free
        );
    }
    begun.usage(host, true, &mut text);
    let severity = if auto.is_some() { Severity::Log } else { Severity::Info };
    host.notice(pg_err!(SUCCESSFUL_COMPLETION, "{text}").severity(severity));
    Ok(())
}

/// Reports an ANALYZE by autovacuum.
pub(crate) fn analyze(host: &mut dyn CommandHost, begun: &Begun, rel: &RelDesc) -> Result<()> {
    let mut text = format!("automatic analyze of table {}", name_of(host, rel)?);
    begun.usage(host, false, &mut text);
    host.notice(pg_err!(SUCCESSFUL_COMPLETION, "{text}").severity(Severity::Log));
    Ok(())
}

/// Reports that a table has no children any more, in ANALYZE VERBOSE. Counterpart:
/// `acquire_inherited_sample_rows`.
pub(crate) fn no_children(host: &mut dyn CommandHost, rel: &RelDesc) -> Result<()> {
    let schema = host.catalog().namespace_name(rel.class.relnamespace)?.unwrap_or_default();
    let e = pg_err!(
        SUCCESSFUL_COMPLETION,
        "skipping analyze of \"{schema}.{}\" inheritance tree --- this inheritance tree contains \
         no child tables",
        rel.name()
    );
    host.notice(e.severity(Severity::Info));
    Ok(())
}
