use super::*;
use crate::rows::PgIndex;

/// Index OIDs and key columns against `pg_index` of the facts.
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
