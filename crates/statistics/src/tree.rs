//! Statistics over a table and all tables below it (`stainherit`).
//!
//! Counterpart: `acquire_inherited_sample_rows` of analyze.c.

use crate::column::{self, Subject};
use catalog::RelDesc;
use catalog::rows::{PgAttribute, PgStatistic, Text};
use engine::TableDesc;
use engine::sample::{self, Sample};
use ids::AttrNo;
use partition::Detached;
use pgerror::{Result, Severity, pg_err};
use std::sync::Arc;
use utility::host::CommandHost;
use utility::names;

/// The statistics of the columns, and the sample; `None` if no table below has rows to
/// sample. `wanted` are columns with their statistics targets.
pub fn compute(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
    (wanted, rows_wanted): (&[(AttrNo, usize)], usize),
    verbose: bool,
) -> Result<Option<(Vec<PgStatistic>, Sample)>> {
    let tables = tables(host, rel)?;
    let has_child = tables.iter().any(|t| t.0.oid() != rel.oid());
    if !has_child {
        if verbose {
            let schema = host.catalog().namespace_name(rel.class.relnamespace)?;
            let e = pg_err!(
                SUCCESSFUL_COMPLETION,
                "skipping analyze of \"{}.{}\" inheritance tree --- this inheritance tree contains \
                 no analyzable child tables",
                schema.unwrap_or_default(),
                rel.name()
            );
            host.notice(e.severity(Severity::Info));
        }
        return Ok(None);
    }
    let sample = sample(host, rel, &tables, wanted, rows_wanted)?;
    let mut out = Vec::new();
    for (at, &(number, target)) in wanted.iter().enumerate() {
        let Some(a) = rel.attribute(number) else { continue };
        let a = with_inherited_options(a);
        if let Some(row) = column::compute(host, &Subject::of(rel, &a), (&sample, at), target)? {
            out.push(PgStatistic { stainherit: true, ..row });
        }
    }
    Ok(Some((out, sample)))
}

/// The tables with rows in the tree, locked, with their numbers of pages.
fn tables(
    host: &mut dyn CommandHost,
    rel: &Arc<RelDesc>,
) -> Result<Vec<(Arc<RelDesc>, Arc<TableDesc>, f64)>> {
    let mut out = Vec::new();
    for oid in partition::descendants(&mut host.catalog(), rel.oid(), Detached::Omit)? {
        host.lock_relation(oid, names::mode::ACCESS_SHARE)?;
        let Some(child) = host.catalog().try_relation(oid)? else { continue };
        let Some(table) = child.table.clone() else { continue };
        let pages = f64::from(engine::table::nblocks(host.backend(), &table)?);
        out.push((child, table, pages));
    }
    Ok(out)
}

/// A sample of all tables, of each in proportion to its pages.
fn sample(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    tables: &[(Arc<RelDesc>, Arc<TableDesc>, f64)],
    wanted: &[(AttrNo, usize)],
    rows_wanted: usize,
) -> Result<Sample> {
    let total: f64 = tables.iter().map(|t| t.2).sum();
    let mut all = Sample {
        batches: Vec::new(),
        live_rows: 0.0,
        dead_rows: 0.0,
        pages: 0,
        pages_scanned: 0,
        pages_visible: 0,
    };
    for (child, table, pages) in tables.iter().filter(|t| t.2 > 0.0) {
        let share = (rows_wanted as f64 * pages / total).round() as usize;
        if share == 0 {
            continue;
        }
        let map = partition::column_map(rel, child)?;
        let columns: Vec<AttrNo> = wanted
            .iter()
            .map(|(n, _)| map.as_ref().map_or(*n, |map| map[*n as usize - 1]))
            .collect();
        let wide = column::WIDTH_MAX;
        let part = sample::sample_rows(host.backend(), table, &columns, share, wide)?;
        all.batches.extend(part.batches);
        all.live_rows += part.live_rows;
        all.dead_rows += part.dead_rows;
        all.pages += part.pages;
        all.pages_scanned += part.pages_scanned;
    }
    Ok(all)
}

/// The column with the options that apply to the tree as its own.
fn with_inherited_options(a: &PgAttribute) -> PgAttribute {
    let inherited = a.attoptions.iter().flatten().filter_map(|o| {
        let value = o.as_str().strip_prefix("n_distinct_inherited=")?;
        Some(Text::from(format!("n_distinct={value}")))
    });
    let options: Vec<Text> = inherited.collect();
    PgAttribute { attoptions: (!options.is_empty()).then_some(options), ..a.clone() }
}
