//! Builds the engine's table and index descriptors from catalog rows.

use crate::relcache::tuple_desc;
use crate::rows::{PgAttribute, PgClass, PgIndex, Text};
use btree::{KeyColumn, KeySchema};
use engine::{IndexDesc, TableDesc, ToastDesc};
use ids::{AttrNo, Oid, Persistence, RelFile};
use page::tupdesc::TupleDesc;
use pgerror::{PgError, Result};
use sync::Arc;
use types::compare::Comparer;

/// Data from the operator class of an index column.
#[derive(Clone)]
pub(crate) struct Support {
    pub compare: Comparer,
    /// Equality implies bitwise equality, so that deduplication is allowed.
    pub equal_image: bool,
}

/// The key columns of a B-tree index. `attributes` are the columns of the index; `support` has one
/// entry per key column.
pub(crate) fn key_schema(
    index: &PgIndex,
    attributes: &[PgAttribute],
    support: &[Support],
    options: Option<&[Text]>,
) -> Result<KeySchema> {
    let keys = usize::try_from(index.indnkeyatts).unwrap_or_default();
    let first = support.first().ok_or_else(|| PgError::internal("index without key columns"))?;
    let tupdesc = tuple_desc(attributes, Oid::INVALID);
    let columns = tupdesc.attrs.into_iter().enumerate().map(|(i, attr)| {
        let option = index.indoption.get(i).copied().unwrap_or(0);
        KeyColumn {
            // INCLUDE columns are never compared; any comparison function does.
            cmp: support.get(i).unwrap_or(first).compare.clone(),
            desc: option & 1 != 0,
            nulls_first: option & 2 != 0,
            collation: index.indcollation.get(i).copied().unwrap_or_default(),
            attr,
        }
    });
    let mut schema = KeySchema::new(columns.collect(), keys);
    schema.unique = index.indisunique;
    schema.nulls_not_distinct = index.indnullsnotdistinct;
    // As in PostgreSQL, an index with INCLUDE columns is not deduplicated.
    schema.allequalimage =
        index.indnatts == index.indnkeyatts && support.iter().all(|s| s.equal_image);
    if let Some(fillfactor) = option(options, "fillfactor").and_then(|v| v.parse().ok()) {
        schema.fillfactor = fillfactor;
    }
    if let Some(value) = option(options, "deduplicate_items") {
        schema.deduplicate_items = is_on(value);
    }
    Ok(schema)
}

/// The value of a storage parameter.
pub fn option<'a>(options: Option<&'a [Text]>, name: &str) -> Option<&'a str> {
    let mut pairs = options?.iter().filter_map(|o| o.as_str().split_once('='));
    pairs.find(|(n, _)| *n == name).map(|(_, v)| v)
}

/// Does a storage parameter's value mean true?
pub fn is_on(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let prefix = |word: &str, min: usize| value.len() >= min && word.starts_with(&value);
    value == "1" || prefix("true", 1) || prefix("yes", 1) || prefix("on", 2)
}

/// The relation file locator.
pub(crate) fn rel_file(class: &PgClass, number: Oid, database: Oid, tablespace: Oid) -> RelFile {
    if class.relisshared {
        return RelFile::new(RelFile::GLOBAL_TABLESPACE, Oid::INVALID, number);
    }
    RelFile::new(class.reltablespace.valid().unwrap_or(tablespace), database, number)
}

pub(crate) fn persistence(class: &PgClass) -> Persistence {
    Persistence::from_char(class.relpersistence).unwrap_or(Persistence::Permanent)
}

pub(crate) fn table_desc(
    class: &PgClass,
    schema: &str,
    file: RelFile,
    tupdesc: Arc<TupleDesc>,
    toast: Option<ToastDesc>,
    indexes: &[PgIndex],
) -> TableDesc {
    let options = class.reloptions.as_deref();
    let number = |name: &str| option(options, name).and_then(|v| v.parse::<usize>().ok());
    let (indexed, keys) = index_columns(indexes, tupdesc.len());
    TableDesc {
        oid: class.oid,
        schema: schema.into(),
        name: class.relname.as_str().into(),
        file,
        persistence: persistence(class),
        tupdesc,
        fillfactor: number("fillfactor").and_then(|f| u8::try_from(f).ok()).unwrap_or(100),
        toast_tuple_target: number("toast_tuple_target").unwrap_or(0),
        toast,
        is_catalog: class.oid < Oid::FIRST_UNPINNED,
        is_toast: class.relkind == b't',
        indexed_columns: indexed,
        key_columns: keys,
        opened: Default::default(),
    }
}

/// The columns used by any index, and the key columns of the unique indexes that a foreign key
/// could reference.
fn index_columns(indexes: &[PgIndex], count: usize) -> (Box<[AttrNo]>, Box<[AttrNo]>) {
    let (mut used, mut keys) = (Vec::new(), Vec::new());
    for index in indexes {
        used.extend(index.indkey.iter().copied());
        let texts = [&index.indexprs, &index.indpred];
        for text in texts.into_iter().flatten() {
            used.extend(variables(text.as_str(), count));
        }
        let plain = index.indexprs.is_none() && index.indpred.is_none();
        if index.indisunique && index.indimmediate && plain {
            let keys_of = index.indkey.iter().take(index.indnkeyatts.max(0) as usize);
            keys.extend(keys_of.copied());
        }
    }
    for columns in [&mut used, &mut keys] {
        columns.retain(|c| *c != 0);
        columns.sort_unstable();
        columns.dedup();
    }
    (used.into(), keys.into())
}

/// The table's columns referenced in a `pg_node_tree`; a whole-row reference counts as all columns.
fn variables(tree: &str, count: usize) -> Vec<AttrNo> {
    let numbers = tree.split(":varattno ").skip(1).filter_map(|rest| {
        let end = rest.find([' ', '}'])?;
        rest[..end].parse::<AttrNo>().ok()
    });
    let mut out: Vec<AttrNo> = numbers.collect();
    if out.contains(&0) {
        out.extend((1..=count).filter_map(|n| AttrNo::try_from(n).ok()));
    }
    out
}

pub(crate) fn index_desc(
    class: &PgClass,
    table_name: &str,
    file: RelFile,
    index: &PgIndex,
    schema: KeySchema,
) -> IndexDesc {
    IndexDesc {
        oid: class.oid,
        table_oid: index.indrelid,
        file,
        persistence: persistence(class),
        name: class.relname.as_str().into(),
        table_name: table_name.into(),
        schema,
        unique: index.indisunique && index.indimmediate,
        columns: index.indkey.to_vec().into(),
        opened: Default::default(),
    }
}
