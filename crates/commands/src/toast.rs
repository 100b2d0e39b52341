//! The TOAST table of a relation: whether it is needed, its creation and its replacement.
//!
//! Counterpart: toasting.c, `heapam_relation_needs_toast_table`.

use crate::index::{self, IndexColumn, IndexMethod, NewIndex};
use crate::relation::{NewColumn, NewRelation, create};
use catalog::ObjectAddress;
use catalog::lookup::BTREE_AM;
use catalog::rows::{PgAttribute, PgClass, Text};
use define::deletion;
use engine::am;
use ids::code::{ColumnStorage, DepType};
use ids::{AttrNo, Oid, Persistence, RelKind};
use pgerror::{PgError, Result};
use types::oids;
use utility::class;
use utility::host::CommandHost;

/// Tuples larger than this many bytes are toasted. Counterpart: `TOAST_TUPLE_THRESHOLD`.
const TOAST_TUPLE_THRESHOLD: i64 = 2032;

/// Maximum size of a value in bytes, including its header; `None` if unbounded. Counterpart:
/// `type_maximum_size`.
fn value_size_max(ty: Oid, typmod: i32, encoding: i32) -> Option<i64> {
    if typmod < 0 {
        return None;
    }
    let character = if encoding == catalog::encoding::UTF8 { 4 } else { 1 };
    match ty {
        oids::BPCHAR | oids::VARCHAR => Some(i64::from(typmod - 4) * character + 4),
        oids::NUMERIC => {
            if typmod < 4 {
                return None;
            }
            let precision = i64::from((typmod - 4) >> 16 & 0xffff);
            let digits = (precision + 6) / 4;
            Some(8 + digits * 2)
        }
        oids::BIT | oids::VARBIT => Some(i64::from(typmod + 7) / 8 + 8),
        _ => None,
    }
}

/// True if rows of these columns can become so large that values are stored out of line.
fn needs_toast(columns: &[PgAttribute], encoding: i32) -> bool {
    let (mut length, mut unlimited, mut toastable) = (0i64, false, false);
    for c in columns {
        if c.attisdropped {
            continue;
        }
        let align = c.attalign.bytes() as i64;
        length = (length + align - 1) / align * align;
        if c.attlen > 0 {
            length += i64::from(c.attlen);
            continue;
        }
        match value_size_max(c.atttypid, c.atttypmod, encoding) {
            Some(size) => length += size,
            None => unlimited = true,
        }
        toastable |= c.attstorage != ColumnStorage::Plain;
    }
    if !toastable || unlimited {
        return toastable;
    }
    let align = |n: i64| (n + 7) / 8 * 8;
    let header = 23 + columns.len().div_ceil(8) as i64;
    align(header) + align(length) > TOAST_TUPLE_THRESHOLD
}

/// Creates the TOAST table of a table that needs one and has none. Counterpart:
/// `create_toast_table`.
pub fn add_toast(host: &mut dyn CommandHost, table: Oid, options: Option<Vec<Text>>) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    let encoding = host.catalog().session.encoding;
    let may = rel.kind().has_table_am() && !rel.class.reltoastrelid.is_valid();
    if !may || !needs_toast(&rel.attributes, encoding) {
        return Ok(());
    }
    let class = &rel.class.row;
    let persistence = class.relpersistence;
    let namespace = match persistence {
        Persistence::Temporary => host.catalog().session.temp_toast_namespace,
        _ => catalog::namespace::PG_TOAST,
    };
    let plain = |name: &str, ty: Oid| NewColumn {
        storage: Some(ColumnStorage::Plain),
        ..NewColumn::new(name, ty, -1, Oid::INVALID)
    };
    let columns = [
        plain("chunk_id", oids::OID),
        plain("chunk_seq", oids::INT4),
        plain("chunk_data", oids::BYTEA),
    ];
    let name = format!("pg_toast_{table}");
    let spec = NewRelation {
        name: &name,
        namespace,
        kind: RelKind::Toast,
        persistence,
        owner: class.relowner,
        tablespace: class.reltablespace,
        access_method: class.relam,
        columns: &columns,
        options,
    };
    let toast = create(host, &spec)?;
    create_toast_index(host, toast, &format!("{name}_index"))?;
    let mut cat = host.catalog();
    let row = class::row(&mut cat, table)?;
    cat.update(&row, &PgClass { reltoastrelid: toast, ..row.row.clone() })?;
    let (toast, table) = (ObjectAddress::relation(toast), ObjectAddress::relation(table));
    cat.record_dependency(toast, table, DepType::Internal)?;
    cat.increment_command_counter()
}

/// Gives new files to the TOAST table of a rewritten table, or drops it if the columns no longer
/// need it. Counterpart: the TOAST part of `finish_heap_swap`.
pub fn renew_toast(host: &mut dyn CommandHost, table: Oid) -> Result<()> {
    let rel = host.catalog().relation(table)?;
    let encoding = host.catalog().session.encoding;
    let Some(toast) = rel.class.reltoastrelid.valid() else { return Ok(()) };
    host.lock_relation(toast, utility::names::mode::ACCESS_EXCLUSIVE)?;
    if needs_toast(&rel.attributes, encoding) {
        class::new_files(host, toast)?;
        let desc = host.catalog().relation(toast)?;
        return crate::truncate::rebuild_indexes(host, &desc);
    }
    let mut cat = host.catalog();
    let row = class::row(&mut cat, table)?;
    cat.update(&row, &PgClass { reltoastrelid: Oid::INVALID, ..row.row.clone() })?;
    let this = ObjectAddress::relation(toast);
    for d in cat.dependencies_of(this)? {
        cat.delete(&d)?;
    }
    cat.increment_command_counter()?;
    let restrict = catalog::depend::DropBehavior::Restrict;
    deletion::drop_objects(host, &[this], restrict, true)
}

/// Creates the index of a new TOAST table. Counterpart: `create_toast_table`.
fn create_toast_index(host: &mut dyn CommandHost, toast: Oid, name: &str) -> Result<()> {
    let rel = host.catalog().relation(toast)?;
    let key = |name: &str, number: AttrNo, opclass: u32| IndexColumn {
        name: name.to_string(),
        number,
        expr: None,
        collation: Oid::INVALID,
        opclass: Oid(opclass),
        option: 0,
        class_options: None,
    };
    let Some(btree) = am::by_oid(BTREE_AM) else {
        return Err(PgError::internal("no access method for TOAST tables"));
    };
    let new = NewIndex {
        name: name.to_string(),
        method: IndexMethod { oid: BTREE_AM, info: btree.info, am: btree.am },
        keys: vec![key("chunk_id", 1, 1981), key("chunk_seq", 2, 1978)],
        include: Vec::new(),
        unique: true,
        exclusion: Vec::new(),
        primary: true,
        nulls_not_distinct: false,
        constraint: None,
        predicate: Vec::new(),
        options: None,
        tablespace: rel.class.reltablespace,
        parent: None,
    };
    index::create(host, &rel, &new, true)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PostgreSQL's `numeric_maximum_size` is 14 for numeric(10,2) and 510 for numeric(1000,0).
    #[test]
    fn maximum_sizes_of_limited_types() {
        let typmod = |p: i32, s: i32| (p << 16 | s) + 4;
        assert_eq!(value_size_max(oids::NUMERIC, typmod(10, 2), 6), Some(8 + 4 * 2));
        assert_eq!(value_size_max(oids::VARCHAR, 104, 6), Some(404));
        assert_eq!(value_size_max(oids::TEXT, -1, 6), None);
    }
}
