//! The build of an index from the rows of its table. Counterpart: `index_build` in index.c.

use catalog::RelDesc;
use catalog::lookup::BTREE_AM;
use catalog::rows::{PgIndex, indexes};
use engine::index::{self as storage, SupportFunction};
use engine::{IndexDesc, TableDesc};
use eval::{Compiler, EvalState};
use ids::{AttrNo, Oid};
use pgerror::{PgError, Result};
use std::sync::Arc;
use types::{Datum, DatumRef};
use utility::host::{CommandHost, Owner, debug};
use utility::{class, exprs, stored};

/// Builds an index from its table, updates the statistics of both and marks the index valid.
/// Counterpart: `index_build`.
pub fn fill(host: &mut dyn CommandHost, table: Oid, index: Oid) -> Result<()> {
    fill_index(host, table, index, true)
}

/// As [`fill`], without a check for duplicate keys; an invalid index stays invalid.
pub fn fill_unchecked(host: &mut dyn CommandHost, table: Oid, index: Oid) -> Result<()> {
    fill_index(host, table, index, false)
}

/// Builds the index. Index expressions are evaluated with the privileges of the table's owner.
fn fill_index(host: &mut dyn CommandHost, table: Oid, index: Oid, checked: bool) -> Result<()> {
    let owner = host.catalog().relation(table)?.class.relowner;
    host.as_owner(owner, &mut |host| fill_as_owner(host, table, index, checked))
}

fn fill_as_owner(host: &mut dyn CommandHost, table: Oid, index: Oid, checked: bool) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    let desc = host.catalog().relation(index)?;
    let (Some(heap), Some(open), Some(part)) = (&rel.table, &desc.engine_index, &desc.index) else {
        return Err(host.catalog().unsupported_index(&desc));
    };
    let lax;
    let open = if checked || part.row.indisvalid {
        open
    } else {
        lax = Arc::new(open.without_uniqueness());
        &lax
    };
    let built = build_entries(host, &rel, &desc, heap, open)?;
    let heap_pages = engine::table::nblocks(host.backend(), heap)?;
    let index_pages = storage::nblocks(host.backend(), open)?;
    let pages = (heap_pages as i32, index_pages as i32);
    store_build_result(host, (table, index), pages, &built, checked)
}

/// Reports the build of an index, and whether a B-tree may store equal keys once.
fn report_build(host: &mut dyn CommandHost, rel: &RelDesc, am: Oid, open: &IndexDesc) {
    let (def, table) = (&open.def, rel.name());
    let name = &def.name;
    host.notice(debug(format!("building index \"{name}\" on table \"{table}\" serially")));
    if am != BTREE_AM || def.key_count < def.columns.len() {
        return;
    }
    let equal = |s: &storage::Support| matches!(s.function, SupportFunction::EqualImage(true));
    let safe = def.columns.iter().all(|c| c.support.iter().any(equal));
    let can = if safe { "can safely" } else { "cannot" };
    host.notice(debug(format!("index \"{name}\" {can} use deduplication")));
}

/// Builds the index `desc` in the file of `open`. Its entries are those of the rows in `heap`,
/// which is the table `rel` with its present or its new file.
pub fn build_entries(
    host: &mut dyn CommandHost,
    rel: &RelDesc,
    desc: &RelDesc,
    heap: &Arc<TableDesc>,
    open: &Arc<IndexDesc>,
) -> Result<storage::BuildResult> {
    let Some(part) = &desc.index else {
        return Err(host.catalog().unsupported_index(desc));
    };
    report_build(host, rel, part.am, open);
    let row = &part.row;
    let list = match &row.indexprs {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?,
        None => Vec::new(),
    };
    let predicate = match &row.indpred {
        Some(text) => plan::nodetree::read_exprs(text.as_str())?
            .into_iter()
            .flat_map(plan::walk::conjuncts)
            .collect(),
        None => Vec::new(),
    };
    let mut columns: Vec<AttrNo> = row.indkey.iter().copied().filter(|n| *n != 0).collect();
    columns.extend(stored::columns_used(&list));
    columns.extend(stored::columns_used(&predicate));
    columns.sort_unstable();
    columns.dedup();
    // A whole-row reference needs all columns.
    let whole = columns.first() == Some(&0);
    if whole {
        columns = rel.attributes.iter().map(|a| a.attnum).collect();
    }
    let mut available = exprs::Columns { columns: &columns, row: whole.then(|| rel.row_desc()) };
    let calls = eval::called(predicate.iter(), host.facts())?;
    host.facts().may_call(&calls)?;
    // The functions of the expressions are called for rows only.
    let mut calls = Some(eval::called(list.iter(), host.facts())?).filter(|c| !c.is_empty());
    let mut programs = Vec::new();
    for e in &list {
        programs.push(Compiler::new(host.facts(), &mut available).compile(e)?);
    }
    let test = match predicate.as_slice() {
        [] => None,
        list => Some(Compiler::new(host.facts(), &mut available).compile_all(list)?),
    };
    let places: Vec<Option<usize>> =
        row.indkey.iter().map(|n| columns.iter().position(|c| c == n)).collect();
    let mut state = EvalState::default();
    let is_plain = test.is_none() && programs.is_empty();
    let plain: Vec<usize> = places.iter().copied().flatten().filter(|_| is_plain).collect();
    let mut entry = |host: &mut Owner<'_>, values: &[DatumRef<'_>], out: &mut Vec<Datum>| {
        let owned: Vec<Datum> = values.iter().map(|v| DatumRef::to_owned(*v)).collect();
        if let Some(test) = &test {
            let around = host.0.expressions();
            let v = exprs::value(test, &mut state, around, &owned)?;
            if v.is_null() || !v.as_ref().as_bool() {
                return Ok(false);
            }
        }
        if let Some(calls) = calls.take() {
            host.0.facts().may_call(&calls)?;
        }
        let around = host.0.expressions();
        let mut next = programs.iter();
        for place in &places {
            match place {
                Some(p) => out.push(owned[*p].clone()),
                None => {
                    let Some(program) = next.next() else {
                        return Err(PgError::internal("too few entries in indexprs list"));
                    };
                    out.push(exprs::value(program, &mut state, around, &owned)?);
                }
            }
        }
        Ok(true)
    };
    let shown = deparse::index_keys(host, desc.oid())?;
    let types: Vec<Oid> = desc.attributes.iter().map(|a| a.atttypid).collect();
    let mut print = |host: &mut Owner<'_>, key: &[Datum]| {
        let parts = key.iter().zip(&types).map(|(v, ty)| match v.as_ref() {
            DatumRef::Null => "null".to_string(),
            v => match host.0.functions().type_output(*ty, v) {
                Ok(text) => String::from_utf8_lossy(&text).into_owned(),
                Err(_) => "?".to_string(),
            },
        });
        format!("({shown})=({})", parts.collect::<Vec<_>>().join(", "))
    };
    let pages = f64::from(engine::table::nblocks(host.backend(), heap)?);
    let rows = host.catalog().table_size(rel, pages)?.rows;
    let new =
        storage::NewIndex { table: heap, index: open, columns: &columns, places: &plain, rows };
    storage::build(&mut Owner(host), new, &mut entry, &mut print)
}

/// `reltuples` after a build that has found `count` tuples: an empty table that was never vacuumed
/// keeps its unknown number of rows.
pub fn counted(count: f64, old: f32) -> f32 {
    if count == 0.0 && old < 0.0 { -1.0 } else { count as f32 }
}

/// Stores the statistics of a build, and marks the index as usable. `pages` are the numbers of
/// pages of the table and of the index.
fn store_build_result(
    host: &mut dyn CommandHost,
    (table, index): (Oid, Oid),
    (heap_pages, index_pages): (i32, i32),
    built: &storage::BuildResult,
    checked: bool,
) -> Result<()> {
    let mut cat = host.catalog();
    class::update_statistics(&mut cat, table, |row| {
        row.relhasindex = true;
        row.relpages = heap_pages;
        row.reltuples = counted(built.heap_tuples, row.reltuples);
    })?;
    class::update_statistics(&mut cat, index, |row| {
        row.relpages = index_pages;
        row.reltuples = counted(built.index_tuples, row.reltuples);
    })?;
    let old = cat.scan(indexes::PG_INDEX_INDEXRELID_INDEX, &[index.into()])?.pop();
    if let Some(old) = old {
        // A failed command may have left an invalid index; after a checked build it is valid.
        let indisvalid = checked || old.indisvalid;
        let indisready = checked || old.indisready;
        let indislive = checked || old.indislive;
        let indcheckxmin = old.indcheckxmin || built.broken_hot_chains;
        let new = PgIndex { indisvalid, indisready, indislive, indcheckxmin, ..old.row.clone() };
        if new != old.row {
            cat.update(&old, &new)?;
            cat.invalidate_relation(table, false);
        }
    }
    cat.increment_command_counter()
}
