//! Builds the B-tree pages of the catalogs' indexes.

use super::heap::page_bytes;
use crate::rows::PgClass;
use btree::{BulkLoader, KeyColumn, KeySchema};
use ids::{BlockNo, Tid};
use page::PageBuf;
use pgerror::Result;
use std::cmp::Ordering;
use types::{Datum, DatumRef};

/// The pages of an index over these `(key values, TID)` pairs, and the number of pages.
pub(super) fn build(
    schema: &KeySchema,
    name: &PgClass,
    rows: &mut [(Vec<Datum>, Tid)],
    checksums: bool,
) -> Result<(Vec<u8>, usize)> {
    rows.sort_by(|a, b| compare(schema, a, b));
    let mut pages: Vec<PageBuf> = Vec::new();
    let mut sink = |block: BlockNo, page: PageBuf| {
        let at = block.0 as usize;
        if pages.len() <= at {
            pages.resize_with(at + 1, PageBuf::new);
        }
        pages[at] = page;
        Ok(())
    };
    let mut loader = BulkLoader::new(schema, name.relname.as_str(), "", &mut sink);
    let mut tuple = Vec::new();
    for (values, tid) in rows.iter() {
        tuple.clear();
        let columns: Vec<DatumRef<'_>> =
            values.iter().zip(&schema.columns).map(|(v, c)| stored(v, c)).collect();
        schema.form(&columns, *tid, &mut tuple)?;
        loader.add(&tuple)?;
    }
    loader.finish()?;
    let count = pages.len();
    Ok((page_bytes(&mut pages, checksums), count))
}

/// Indexes store a `name` as a cstring, without trailing padding (`name_ops` has storage type
/// cstring).
pub(crate) fn stored<'a>(value: &'a Datum, column: &KeyColumn) -> DatumRef<'a> {
    match value.as_ref() {
        name @ DatumRef::Bytes(_) if column.attr.len == -2 => DatumRef::Bytes(name.as_name()),
        other => other,
    }
}

fn compare(schema: &KeySchema, a: &(Vec<Datum>, Tid), b: &(Vec<Datum>, Tid)) -> Ordering {
    for (i, column) in schema.columns.iter().take(schema.key_count).enumerate() {
        let (x, y) = (stored(&a.0[i], column), stored(&b.0[i], column));
        let nulls_last = !column.nulls_first;
        let order = match (x.is_null(), y.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => {
                if nulls_last {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            (false, true) => {
                if nulls_last {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
            (false, false) => {
                let order = column.cmp.order(x, y, column.collation);
                if column.desc { order.reverse() } else { order }
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.1.cmp(&b.1)
}
