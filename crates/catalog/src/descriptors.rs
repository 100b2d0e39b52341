//! Builds the engine's table and index descriptors from catalog rows.

use crate::rows::{PgAttribute, PgClass, PgIndex, Text};
use engine::index::{IndexAm, IndexColumn, IndexDef, Support};
use engine::{IndexDesc, TableDesc, ToastDesc};
use ids::{AttrNo, Oid, RelFile, RelKind};
use page::tupdesc::TupleDesc;
use pgerror::{PgError, Result};
use sync::Arc;

/// The element of a one-element array, the form of `attmissingval`.
fn missing_value(attr: &page::tupdesc::Attr, array: &[u8]) -> Option<page::tupdesc::Missing> {
    use page::tupdesc::Missing;
    // Payload: dimensions, data offset if there are NULLs, element type, length, lower bound (4
    // bytes each), then the element. Alignment counts from the array's length word, 4 bytes before
    // the payload.
    const ELEMENT_AT: usize = 20;
    let dimensions = array.first_chunk::<4>().map(|b| i32::from_le_bytes(*b))?;
    let element = array.get(ELEMENT_AT..)?;
    if dimensions != 1 || element.is_empty() {
        return None;
    }
    let len = usize::try_from(attr.len);
    if attr.by_val {
        let word = match (len.ok()?, attr.zero_extends()) {
            (1, _) => i64::from(element[0] as i8) as u64,
            (2, _) => i64::from(i16::from_le_bytes(*element.first_chunk()?)) as u64,
            (4, true) => u64::from(u32::from_le_bytes(*element.first_chunk()?)),
            (4, false) => i64::from(i32::from_le_bytes(*element.first_chunk()?)) as u64,
            _ => u64::from_le_bytes(*element.first_chunk()?),
        };
        return Some(Missing::Word(word));
    }
    let bytes = match attr.len {
        -1 if element[0] & 1 == 1 => element.get(1..usize::from(element[0] >> 1))?,
        -1 => {
            let size = u32::from_le_bytes(*element.first_chunk()?) >> 2;
            element.get(4..size as usize)?
        }
        -2 => element.split(|b| *b == 0).next()?,
        _ => element.get(..len.ok()?)?,
    };
    Some(Missing::Bytes(bytes.into()))
}

/// The physical tuple descriptor for these `pg_attribute` rows.
pub fn tuple_desc(attributes: &[PgAttribute], row_type: Oid) -> TupleDesc {
    use page::tupdesc::Attr;
    let attrs = attributes.iter().map(|a| {
        let mut attr = Attr {
            typmod: a.atttypmod,
            storage: a.attstorage,
            compression: a.attcompression,
            not_null: a.attnotnull,
            dropped: a.attisdropped,
            generated: a.attgenerated,
            identity: a.attidentity,
            collation: a.attcollation,
            ndims: a.attndims,
            ..Attr::new(a.attname.as_bytes(), a.atttypid, a.attlen, a.attbyval, a.attalign)
        };
        if a.atthasmissing && !a.attisdropped {
            attr.missing =
                a.attmissingval.as_ref().and_then(|array| missing_value(&attr, &array.0));
        }
        attr
    });
    TupleDesc { attrs: attrs.collect(), type_oid: row_type, typmod: -1 }
}

/// The definition of an index. `attributes` are its columns; `support` has the support functions of
/// each key column.
pub(crate) fn index_def(
    class: &PgClass,
    (table_name, file): (&str, RelFile),
    index: &PgIndex,
    attributes: &[PgAttribute],
    support: Vec<Vec<Support>>,
) -> Result<IndexDef> {
    let keys = usize::try_from(index.indnkeyatts).unwrap_or_default();
    if keys == 0 || keys > attributes.len() {
        return Err(PgError::internal("index without key columns"));
    }
    let mut support = support.into_iter();
    let tupdesc = tuple_desc(attributes, Oid::INVALID);
    let columns = tupdesc.attrs.into_iter().enumerate().map(|(i, attr)| {
        let option = index.indoption.get(i).copied().unwrap_or(0);
        IndexColumn {
            attr,
            collation: index.indcollation.get(i).copied().unwrap_or_default(),
            desc: option & 1 != 0,
            nulls_first: option & 2 != 0,
            support: support.next().unwrap_or_default(),
        }
    });
    let names = (class.relname.as_str(), table_name);
    let mut def = IndexDef::new(file, class.relpersistence, names, columns.collect(), keys);
    def.unique = index.indisunique;
    def.nulls_not_distinct = index.indnullsnotdistinct;
    let options = class.reloptions.iter().flatten();
    def.options = options
        .filter_map(|o| o.as_str().split_once('='))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    Ok(def)
}

/// The value of a storage parameter.
pub fn option<'a>(options: Option<&'a [Text]>, name: &str) -> Option<&'a str> {
    let mut pairs = options?.iter().filter_map(|o| o.as_str().split_once('='));
    pairs.find(|(n, _)| *n == name).map(|(_, v)| v)
}

pub use engine::index::is_on;

/// The relation file locator.
pub(crate) fn rel_file(class: &PgClass, number: Oid, database: Oid, tablespace: Oid) -> RelFile {
    if class.relisshared {
        return RelFile::new(RelFile::GLOBAL_TABLESPACE, Oid::INVALID, number);
    }
    RelFile::new(class.reltablespace.valid().unwrap_or(tablespace), database, number)
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
        persistence: class.relpersistence,
        tupdesc,
        fillfactor: number("fillfactor").and_then(|f| u8::try_from(f).ok()).unwrap_or(100),
        toast_tuple_target: number("toast_tuple_target").unwrap_or(0),
        toast,
        is_catalog: class.oid < Oid::FIRST_UNPINNED,
        is_toast: class.relkind == RelKind::Toast,
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
    index: &PgIndex,
    am: &'static dyn IndexAm,
    def: IndexDef,
) -> IndexDesc {
    IndexDesc {
        oid: class.oid,
        table_oid: index.indrelid,
        am,
        def: Arc::new(def),
        unique: index.indisunique && index.indimmediate,
        columns: index.indkey.to_vec().into(),
        opened: Default::default(),
    }
}
