//! Index pages of the catalogs.

use super::heap::page_bytes;
use crate::rows::{PgAmproc, PgAttribute, PgClass, PgIndex, PgOpclass, PgProc};
use btree::{BulkLoader, KeyColumn, KeySchema};
use hashbrown::HashMap;
use ids::{BlockNo, Oid, Tid};
use page::PageBuf;
use pgerror::{PgError, Result};
use std::cmp::Ordering;
use types::compare::CompareFn;
use types::{Datum, DatumRef};

/// What the operator classes of the catalogs' indexes mean.
pub(super) struct OpClasses {
    classes: HashMap<Oid, PgOpclass>,
    /// (family, type, support number) → name of the function.
    procs: HashMap<(Oid, Oid, i16), String>,
}

impl OpClasses {
    pub(super) fn new(
        classes: Vec<PgOpclass>,
        amprocs: &[PgAmproc],
        procs: &[PgProc],
    ) -> OpClasses {
        let names: HashMap<Oid, &PgProc> = procs.iter().map(|p| (p.oid, p)).collect();
        let support = amprocs.iter().filter(|a| a.amproclefttype == a.amprocrighttype).map(|a| {
            let name = names.get(&a.amproc).map_or("", |p| p.prosrc.as_str());
            ((a.amprocfamily, a.amproclefttype, a.amprocnum), name.to_owned())
        });
        OpClasses {
            procs: support.collect(),
            classes: classes.into_iter().map(|c| (c.oid, c)).collect(),
        }
    }

    fn support(&self, opclass: Oid, number: i16) -> Option<&str> {
        let class = self.classes.get(&opclass)?;
        let key = (class.opcfamily, class.opcintype, number);
        self.procs.get(&key).map(String::as_str)
    }

    fn compare(&self, opclass: Oid) -> Result<CompareFn> {
        self.support(opclass, 1)
            .and_then(types::compare::lookup)
            .ok_or_else(|| PgError::internal(format!("no comparison for operator class {opclass}")))
    }

    /// Do equal values have equal bytes? All operator classes of the catalogs' indexes that have the
    /// support function say yes.
    fn equal_image(&self, opclass: Oid) -> bool {
        self.support(opclass, 4).is_some()
    }
}

/// The index's key columns; `attributes` are those of the index.
pub(super) fn schema(
    index: &PgIndex,
    attributes: &[PgAttribute],
    classes: &OpClasses,
) -> Result<KeySchema> {
    let keys = index.indnkeyatts as usize;
    let tupdesc = crate::relcache::tuple_desc(attributes, Oid::INVALID);
    let mut columns = Vec::new();
    for (i, attr) in tupdesc.attrs.into_iter().enumerate() {
        let option = index.indoption.get(i).copied().unwrap_or(0);
        columns.push(KeyColumn {
            cmp: classes.compare(index.indclass[i])?,
            desc: option & 1 != 0,
            nulls_first: option & 2 != 0,
            collation: index.indcollation[i],
            attr,
        });
    }
    let mut schema = KeySchema::new(columns, keys);
    schema.unique = index.indisunique;
    schema.allequalimage = index.indclass.iter().all(|&c| classes.equal_image(c));
    Ok(schema)
}

/// The pages of an index over rows with these values of its columns, and their number.
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

/// Indexes store a `name` as a cstring, without its padding.
fn stored<'a>(value: &'a Datum, column: &KeyColumn) -> DatumRef<'a> {
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
                let order = (column.cmp)(x, y, column.collation);
                if column.desc { order.reverse() } else { order }
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    a.1.cmp(&b.1)
}
