//! The expected messages come from the same objects on a PostgreSQL 15 server.

use super::*;
use crate::rows::{PgOpclass, PgOperator, PgProc};
use crate::{CatSession, Catalog, FactStore};
use ids::RelKind;
use ids::code::DepType;

fn with_cx<T>(test: impl FnOnce(&mut CatCx<'_>) -> T) -> T {
    let store = FactStore::new();
    let mut session = CatSession::new(Catalog::new(Oid(5)), Oid(10));
    test(&mut CatCx::over_facts(&store, &mut session))
}

/// A relation with its row type, copied from `pg_class` under another OID, name and kind.
fn relation(cx: &mut CatCx<'_>, oid: u32, name: &str, kind: RelKind) -> ObjectAddress {
    let model = cx.find_relation(None, "pg_class").unwrap().unwrap();
    let mut class = cx.class(model).unwrap().row.clone();
    class.oid = Oid(oid);
    class.relname = name.into();
    class.relnamespace = crate::namespace::PUBLIC;
    class.relkind = kind;
    cx.insert(&class).unwrap();
    cx.end_command();
    ObjectAddress::relation(Oid(oid))
}

#[test]
fn view_blocks_drop_of_its_table() {
    with_cx(|cx| {
        let table = relation(cx, 20_000, "t", RelKind::Table);
        let view = relation(cx, 20_010, "v", RelKind::View);
        let index = relation(cx, 20_020, "t_pkey", RelKind::Index);
        cx.record_dependency(view, table, DepType::Normal).unwrap();
        cx.record_dependency(index, table, DepType::Auto).unwrap();
        cx.end_command();

        let error = cx.plan_deletion(&[table], DropBehavior::Restrict).unwrap_err();
        assert_eq!(error.code(), SqlState::DEPENDENT_OBJECTS_STILL_EXIST);
        assert_eq!(error.message(), "cannot drop table t because other objects depend on it");
        assert_eq!(error.fields().detail.as_deref(), Some("view v depends on table t"));
        let hint = "Use DROP ... CASCADE to drop the dependent objects too.";
        assert_eq!(error.fields().hint.as_deref(), Some(hint));

        let plan = cx.plan_deletion(&[table], DropBehavior::Cascade).unwrap();
        assert_eq!(plan.objects, [index, view, table]);
        assert_eq!(plan.notice, Some(("drop cascades to view v".to_owned(), None)));

        // Both are dropped explicitly: no other object depends on them.
        let plan = cx.plan_deletion(&[table, view], DropBehavior::Restrict).unwrap();
        assert_eq!(plan.objects.len(), 3);
        assert_eq!(plan.notice, None);
    });
}

#[test]
fn internal_parts_cannot_be_dropped_alone() {
    with_cx(|cx| {
        let table = relation(cx, 20_000, "t", RelKind::Table);
        let index = relation(cx, 20_020, "t_pkey", RelKind::Index);
        let owner = relation(cx, 20_030, "c", RelKind::Sequence);
        cx.record_dependency(index, owner, DepType::Internal).unwrap();
        cx.record_dependency(owner, table, DepType::Auto).unwrap();
        cx.end_command();
        let error = cx.plan_deletion(&[index], DropBehavior::Cascade).unwrap_err();
        assert_eq!(error.message(), "cannot drop index t_pkey because sequence c requires it");
        assert_eq!(error.fields().hint.as_deref(), Some("You can drop sequence c instead."));
        let plan = cx.plan_deletion(&[table], DropBehavior::Restrict).unwrap();
        assert_eq!(plan.objects, [index, owner, table]);
    });
}

#[test]
fn pinned_objects_cannot_be_dropped() {
    with_cx(|cx| {
        let object = ObjectAddress::of::<PgProc>(Oid(883));
        let error = cx.plan_deletion(&[object], DropBehavior::Cascade).unwrap_err();
        assert_eq!(
            error.message(),
            "cannot drop function substr(text,integer) because it is required by the database \
             system"
        );
        let operator = ObjectAddress::of::<PgOperator>(Oid(551));
        assert_eq!(cx.describe_object(operator).unwrap(), "operator +(integer,integer)");
        let class = ObjectAddress::of::<PgOpclass>(Oid(1978));
        let words = "operator class int4_ops for access method btree";
        assert_eq!(cx.describe_object(class).unwrap(), words);
        let column = ObjectAddress::column(Oid(1259), 2);
        assert_eq!(cx.describe_object(column).unwrap(), "column relname of table pg_class");
    });
}
