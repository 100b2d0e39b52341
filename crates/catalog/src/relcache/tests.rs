use crate::*;
use ids::Oid;

#[test]
fn pg_class_has_columns_and_indexes() {
    let store = FactStore::new();
    let mut session = CatSession::new(Catalog::new(Oid(1)), Oid(10));
    let mut cx = CatCx::over_facts(&store, &mut session);
    let class = cx.relation(Oid(1259)).unwrap();
    assert_eq!(class.attributes.len(), 33);
    assert_eq!(class.column("relkind").unwrap().attnum, 17);
    let indexes: Vec<u32> = class.indexes.iter().map(|i| i.indexrelid.0).collect();
    assert_eq!(indexes, [2662, 2663, 3455]);
    let name_index = cx.relation(Oid(2663)).unwrap();
    let part = name_index.index.as_ref().unwrap();
    // The index on (relname, relnamespace): types name and oid.
    assert_eq!(part.opcintypes, [Oid(19), Oid(26)]);
    assert!(cx.try_relation(Oid(4_000_000)).unwrap().is_none());
}
