//! The error when a row is inserted into a catalog that already has a row with the same key.
//!
//! Counterpart: `BuildIndexValueDescription`.

use crate::rows::{
    CatalogRow, PgAuthid, PgLargeobject, PgStatistic, PgStatisticExtData, PgSubscription,
    PgUserMapping,
};
use engine::{IndexDesc, TableDesc};
use ids::builtin::ty;
use ids::{AttrNo, Oid};
use pgerror::PgError;
use types::DatumRef;

/// Catalogs that not everybody may read; their keys are not shown. A test compares them with the
/// privileges of a new cluster.
pub(crate) const PRIVATE: [Oid; 6] = [
    PgAuthid::RELATION,
    PgLargeobject::RELATION,
    PgStatistic::RELATION,
    PgStatisticExtData::RELATION,
    PgSubscription::RELATION,
    PgUserMapping::RELATION,
];

/// 23505. `key` has a value for each column of the index.
#[cold]
pub(crate) fn duplicate_key(table: &TableDesc, index: &IndexDesc, key: &[DatumRef<'_>]) -> PgError {
    let column = |&number: &AttrNo| &table.tupdesc.attrs[number as usize - 1];
    let columns = index.columns.iter().map(column);
    let values: Option<Vec<String>> =
        columns.clone().zip(key).map(|(c, &v)| text(c.type_oid, v)).collect();
    let Some(values) = values.filter(|_| !PRIVATE.contains(&table.oid)) else {
        return engine::index::unique_violation(index, table, None);
    };
    let names: Vec<_> = columns.map(|c| String::from_utf8_lossy(&c.name)).collect();
    let (names, values) = (names.join(", "), values.join(", "));
    engine::index::unique_violation(index, table, Some((&names, &values)))
}

/// The output of a type that keys of catalogs have.
fn text(type_oid: Oid, value: DatumRef<'_>) -> Option<String> {
    let utf8 = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Some(match type_oid {
        _ if matches!(value, DatumRef::Null) => "null".to_owned(),
        ty::NAME => utf8(value.as_name()),
        ty::TEXT => utf8(value.as_bytes()),
        ty::OID | ty::REGPROC => value.as_oid().to_string(),
        ty::BOOL => if value.as_bool() { "t" } else { "f" }.to_owned(),
        ty::CHAR => utf8(&[value.as_char()]),
        ty::INT2 => value.as_i16().to_string(),
        ty::INT4 => value.as_i32().to_string(),
        ty::INT8 => value.as_i64().to_string(),
        ty::FLOAT4 => types::float::float4_text(value.as_f32(), 1),
        ty::OIDVECTOR => {
            let oids = types::system::oidvector_of(value);
            oids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Builtin;

    #[test]
    fn the_keys_of_all_catalogs_can_be_shown() {
        let builtin = Builtin::load();
        for class in builtin.classes.values() {
            for index in builtin.indexes_of(class.oid).iter().filter(|i| i.indisunique) {
                for &number in index.indkey.iter() {
                    let column = &builtin.columns(class.oid)[number as usize - 1];
                    let bytes = [ty::NAME, ty::TEXT, ty::OIDVECTOR].contains(&column.atttypid);
                    let shown = bytes || text(column.atttypid, DatumRef::Word(1)).is_some();
                    assert!(shown, "{} of {}", column.attname, class.relname);
                }
            }
        }
    }

    #[test]
    fn private_catalogs_are_those_that_public_may_not_read() {
        let builtin = Builtin::load();
        for class in builtin.classes.values().filter(|c| c.relkind == ids::RelKind::Table) {
            let public = class
                .relacl
                .as_ref()
                .is_some_and(|acl| acl.iter().any(|item| !item.grantee.is_valid()));
            assert_eq!(!public, PRIVATE.contains(&class.oid), "{}", class.relname);
        }
    }
}
