use super::*;
use crate::{CatSession, Catalog, FactStore};

/// The columns of each class have the types that the functions expect, in every row of a new
/// cluster.
#[test]
fn columns_have_the_types_of_their_meaning() {
    let store = FactStore::new();
    let mut session = CatSession::new(Catalog::new(Oid(5)), Oid(10));
    let mut cat = CatCx::over_facts(&store, &mut session);
    for class in CLASSES {
        for row in cat.object_rows(class, Oid::INVALID, &[], &[]).unwrap() {
            assert!(row.oid().unwrap().is_valid(), "{}", class.noun);
            assert!(!row.name().unwrap().is_empty(), "{}", class.noun);
            assert!(row.namespace().unwrap().is_none_or(Oid::is_valid), "{}", class.noun);
            assert!(row.relation().unwrap().is_none_or(Oid::is_valid), "{}", class.noun);
            assert!(row.method().unwrap().is_none_or(Oid::is_valid), "{}", class.noun);
            assert!(row.owner().unwrap().is_none_or(Oid::is_valid), "{}", class.noun);
            row.acl().unwrap();
        }
    }
}

#[test]
fn no_catalog_has_two_classes() {
    for (n, class) in CLASSES.iter().enumerate() {
        assert!(CLASSES[..n].iter().all(|other| other.catalog != class.catalog), "{}", class.noun);
    }
}

#[test]
fn objects_are_found_by_name_and_described() {
    let store = FactStore::new();
    let mut session = CatSession::new(Catalog::new(Oid(5)), Oid(10));
    let mut cat = CatCx::over_facts(&store, &mut session);
    let class = ObjectClass::of(PgTsParser::RELATION).unwrap();
    let row = cat.find_object(class, None, None, "default").unwrap().unwrap();
    assert_eq!(row.oid().unwrap(), Oid(3722));
    let address = ObjectAddress::of::<PgTsParser>(Oid(3722));
    assert_eq!(cat.describe_object(address).unwrap(), "text search parser \"default\"");

    let class = ObjectClass::of(PgOpclass::RELATION).unwrap();
    let row = cat.find_object(class, Some(Oid(403)), Some("pg_catalog"), "int4_ops");
    assert_eq!(row.unwrap().unwrap().oid().unwrap(), Oid(1978));
    assert!(cat.find_object(class, Some(Oid(783)), None, "int4_ops").unwrap().is_none());
    let address = ObjectAddress::of::<PgOpclass>(Oid(1978));
    let text = "operator class int4_ops for access method btree";
    assert_eq!(cat.describe_object(address).unwrap(), text);
}
