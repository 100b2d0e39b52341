use super::*;
use crate::rows::PgIndex;

/// Index OIDs and key columns agree with `pg_index` of the fact tables.
#[test]
fn caches_are_the_catalogs_unique_indexes() {
    let indexes = crate::facts::rows::<PgIndex>();
    for (number, cache) in ALL.iter().enumerate() {
        assert_eq!(usize::from(cache.id), number);
        let index = indexes.iter().find(|i| i.indexrelid == cache.index).unwrap();
        assert_eq!(index.indrelid, cache.relation, "cache {number}");
        assert!(index.indisunique, "cache {number}");
        assert_eq!(*index.indkey, *cache.keys, "cache {number}");
    }
}

/// Hashing keys and hashing rows agree, for every type of key.
#[test]
fn a_row_hashes_like_its_keys() {
    use crate::rows::{CatalogRow, PgProc, PgType};
    for row in crate::facts::rows::<PgProc>().iter().take(50) {
        let keys = [(&row.proname).into(), (&row.proargtypes).into(), row.pronamespace.into()];
        assert_eq!(hash_row(&PROCNAMEARGSNSP.info(), &row.to_row()), hash_keys(&keys));
    }
    for row in crate::facts::rows::<PgType>().iter().take(50) {
        let keys = [(&row.typname).into(), row.typnamespace.into()];
        assert_eq!(hash_row(&TYPENAMENSP.info(), &row.to_row()), hash_keys(&keys));
    }
}
