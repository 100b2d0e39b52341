//! Expected values come from queries on a PostgreSQL 15 server.

use super::*;
use crate::{CatSession, Catalog, FactStore};
use ids::code::OprKind;

fn with_cx<T>(test: impl FnOnce(&mut CatCx<'_>) -> T) -> T {
    let store = FactStore::new();
    let mut session = CatSession::new(Catalog::new(Oid(1)), Oid(10));
    test(&mut CatCx::over_facts(&store, &mut session))
}

#[test]
fn names_of_types() {
    with_cx(|cx| {
        for (oid, typmod, name) in [
            (23, -1, "integer"),
            (1043, 14, "character varying(14)"),
            (1043, -1, "character varying"),
            (1007, -1, "integer[]"),
            (1700, (10 << 16 | 2) + 4, "numeric(10,2)"),
            (1184, 3, "timestamp(3) with time zone"),
            (18, -1, "\"char\""),
            (1186, -1, "interval"),
            (22, -1, "int2vector"),
            (1186, (0x1c08 << 16) | 0xffff, "interval day to second"),
        ] {
            let typmod = if name.starts_with("character varying(") { typmod + 4 } else { typmod };
            assert_eq!(cx.format_type_mod(Oid(oid), typmod).unwrap(), name);
        }
        assert_eq!(cx.format_type(Oid(1042)).unwrap(), "character");
        assert_eq!(cx.format_type_mod(Oid(1042), -1).unwrap(), "bpchar");
        assert_eq!(cx.format_type_qualified(Oid(25)).unwrap(), "pg_catalog.text");
    });
}

#[test]
fn comparison_of_types() {
    with_cx(|cx| {
        let int4 = cx.type_ops(Oid(23)).unwrap();
        assert_eq!((int4.eq, int4.lt, int4.gt), (Oid(96), Oid(97), Oid(521)));
        assert_eq!((int4.cmp, int4.hash), (Oid(351), Oid(450)));
        // varchar uses the operators of text.
        let varchar = cx.type_ops(Oid(1043)).unwrap();
        assert_eq!((varchar.eq, varchar.lt, varchar.cmp), (Oid(98), Oid(664), Oid(360)));
        // Arrays use the operators of anyarray.
        assert_eq!(cx.type_ops(Oid(1007)).unwrap().eq, Oid(1070));
        // json has no comparison; xid has equality through a hash operator class only.
        assert_eq!(cx.type_ops(Oid(114)).unwrap(), TypeOps::default());
        let xid = cx.type_ops(Oid(28)).unwrap();
        assert_eq!((xid.eq, xid.lt), (Oid(352), Oid(0)));
        let error = cx.require_ordering(Oid(114)).unwrap_err();
        assert_eq!(error.message(), "could not identify an ordering operator for type json");
    });
}

#[test]
fn functions_and_operators_by_name() {
    with_cx(|cx| {
        let plus = cx.find_operator(None, "+", Oid(23), Oid(23)).unwrap();
        assert_eq!(plus, Some(Oid(551)));
        assert_eq!(cx.operator_candidates(None, "!~~", OprKind::Binary).unwrap().len(), 4);
        let two = cx.function_candidates(None, "substr", Some(2), &[], true, true).unwrap();
        let mut oids: Vec<u32> = two.iter().map(|c| c.row.oid.0).collect();
        oids.sort();
        assert_eq!(oids, [883, 2086]);
        // concat(VARIADIC "any") accepts any number of arguments.
        let any = cx.function_candidates(None, "concat", Some(3), &[], true, true).unwrap();
        assert_eq!(any[0].args, [Oid(2276); 3]);
        // jsonb_path_query(target, path, vars DEFAULT, silent DEFAULT) with a named argument
        let named =
            cx.function_candidates(None, "jsonb_path_query", Some(3), &["silent"], true, true);
        let named = named.unwrap();
        assert_eq!(named[0].arg_numbers.as_deref(), Some(&[0, 1, 3, 2][..]));
        assert_eq!(named[0].default_count, 1);
        assert!(cx.is_function_visible(Oid(883)).unwrap());
    });
}

#[test]
fn errors_for_missing_names_match_postgresql() {
    with_cx(|cx| {
        let error = cx.relation_oid(None, "nosuch").unwrap_err();
        assert_eq!(error.message(), "relation \"nosuch\" does not exist");
        assert_eq!(error.code(), SqlState::UNDEFINED_TABLE);
        let error = cx.relation_oid(Some("s"), "nosuch").unwrap_err();
        assert_eq!(error.message(), "relation \"s.nosuch\" does not exist");
        let error = cx.namespace("nosuch").unwrap_err();
        assert_eq!(
            (error.code(), error.message()),
            (SqlState::INVALID_SCHEMA_NAME, "schema \"nosuch\" does not exist")
        );
        let error = cx.collation_oid(None, "xx").unwrap_err();
        assert_eq!(error.message(), "collation \"xx\" for encoding \"UTF8\" does not exist");
    });
}

#[test]
fn the_path_has_pg_catalog_first() {
    with_cx(|cx| {
        assert_eq!(cx.search_path().unwrap().schemas, [Oid(11), Oid(2200)]);
        assert_eq!(cx.relation_oid(None, "pg_class").unwrap(), Oid(1259));
        cx.session.set_search_path("public, \"nosuch\", pg_catalog");
        assert_eq!(cx.search_path().unwrap().schemas, [Oid(2200), Oid(11)]);
        assert_eq!(cx.search_path().unwrap().creation, Oid(2200));
    });
}
