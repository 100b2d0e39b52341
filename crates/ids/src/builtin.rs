//! OIDs of built-in objects. Written by `cargo run -p xtask -- facts`; do not edit.

/// Access methods. Source: `pg_am`.
pub mod am {
    use crate::Oid;

    pub const HEAP: Oid = Oid(2);
    pub const BTREE: Oid = Oid(403);
    pub const HASH: Oid = Oid(405);
    pub const GIST: Oid = Oid(783);
    pub const GIN: Oid = Oid(2742);
    pub const BRIN: Oid = Oid(3580);
    pub const SPGIST: Oid = Oid(4000);
}

/// Collations. Source: `pg_collation`.
pub mod collation {
    use crate::Oid;

    pub const DEFAULT: Oid = Oid(100);
    pub const C: Oid = Oid(950);
    pub const POSIX: Oid = Oid(951);
}

/// Languages. Source: `pg_language`.
pub mod language {
    use crate::Oid;

    pub const INTERNAL: Oid = Oid(12);
    pub const C: Oid = Oid(13);
    pub const SQL: Oid = Oid(14);
}

/// Schemas. Source: `pg_namespace`.
pub mod namespace {
    use crate::Oid;

    pub const PG_CATALOG: Oid = Oid(11);
    pub const PG_TOAST: Oid = Oid(99);
    pub const PUBLIC: Oid = Oid(2200);
}

/// Text search parsers. Source: `pg_ts_parser`.
pub mod parser {
    use crate::Oid;

    pub const DEFAULT: Oid = Oid(3722);
}

/// Roles. Source: `pg_authid`.
pub mod role {
    use crate::Oid;

    pub const BOOTSTRAP_SUPERUSER: Oid = Oid(10);
    pub const MONITOR: Oid = Oid(3373);
    pub const READ_ALL_SETTINGS: Oid = Oid(3374);
    pub const READ_ALL_STATS: Oid = Oid(3375);
    pub const STAT_SCAN_TABLES: Oid = Oid(3377);
    pub const SIGNAL_BACKEND: Oid = Oid(4200);
    pub const CHECKPOINT: Oid = Oid(4544);
    pub const READ_SERVER_FILES: Oid = Oid(4569);
    pub const WRITE_SERVER_FILES: Oid = Oid(4570);
    pub const EXECUTE_SERVER_PROGRAM: Oid = Oid(4571);
    pub const DATABASE_OWNER: Oid = Oid(6171);
    pub const READ_ALL_DATA: Oid = Oid(6181);
    pub const WRITE_ALL_DATA: Oid = Oid(6182);
}

/// Tablespaces. Source: `pg_tablespace`.
pub mod tablespace {
    use crate::Oid;

    pub const DEFAULT: Oid = Oid(1663);
    pub const GLOBAL: Oid = Oid(1664);
}

/// Functions, by `prosrc`. Source: `pg_proc`.
pub mod proc {
    use crate::Oid;

    pub const RI_FKEY_CASCADE_DEL: Oid = Oid(1646);
    pub const RI_FKEY_CASCADE_UPD: Oid = Oid(1647);
    pub const RI_FKEY_CHECK_INS: Oid = Oid(1644);
    pub const RI_FKEY_CHECK_UPD: Oid = Oid(1645);
    pub const RI_FKEY_NOACTION_DEL: Oid = Oid(1654);
    pub const RI_FKEY_NOACTION_UPD: Oid = Oid(1655);
    pub const RI_FKEY_RESTRICT_DEL: Oid = Oid(1648);
    pub const RI_FKEY_RESTRICT_UPD: Oid = Oid(1649);
    pub const RI_FKEY_SETDEFAULT_DEL: Oid = Oid(1652);
    pub const RI_FKEY_SETDEFAULT_UPD: Oid = Oid(1653);
    pub const RI_FKEY_SETNULL_DEL: Oid = Oid(1650);
    pub const RI_FKEY_SETNULL_UPD: Oid = Oid(1651);
    pub const ARRAY_CAT: Oid = Oid(383);
    pub const ARRAY_IN: Oid = Oid(750);
    pub const ARRAY_OUT: Oid = Oid(751);
    pub const ARRAY_RECV: Oid = Oid(2400);
    pub const ARRAY_SEND: Oid = Oid(2401);
    pub const ARRAY_SUBSCRIPT_HANDLER: Oid = Oid(6179);
    pub const ARRAY_TYPANALYZE: Oid = Oid(3816);
    pub const ARRAY_UNNEST: Oid = Oid(2331);
    pub const DOMAIN_IN: Oid = Oid(2597);
    pub const DOMAIN_RECV: Oid = Oid(2598);
    pub const ENUM_IN: Oid = Oid(3506);
    pub const ENUM_OUT: Oid = Oid(3507);
    pub const ENUM_RECV: Oid = Oid(3532);
    pub const ENUM_SEND: Oid = Oid(3533);
    pub const INT8INC: Oid = Oid(1219);
    pub const MULTIRANGE_IN: Oid = Oid(4231);
    pub const MULTIRANGE_OUT: Oid = Oid(4232);
    pub const MULTIRANGE_RECV: Oid = Oid(4233);
    pub const MULTIRANGE_SEND: Oid = Oid(4234);
    pub const MULTIRANGE_TYPANALYZE: Oid = Oid(4242);
    pub const NEXTVAL_OID: Oid = Oid(1574);
    pub const ORDERED_SET_TRANSITION: Oid = Oid(3970);
    pub const ORDERED_SET_TRANSITION_MULTI: Oid = Oid(3971);
    pub const PG_COLUMN_COMPRESSION: Oid = Oid(2121);
    pub const PG_COLUMN_SIZE: Oid = Oid(1269);
    pub const PG_TYPEOF: Oid = Oid(1619);
    pub const RANGE_IN: Oid = Oid(3834);
    pub const RANGE_OUT: Oid = Oid(3835);
    pub const RANGE_RECV: Oid = Oid(3836);
    pub const RANGE_SEND: Oid = Oid(3837);
    pub const RANGE_TYPANALYZE: Oid = Oid(3916);
    pub const RAW_ARRAY_SUBSCRIPT_HANDLER: Oid = Oid(6180);
    pub const RECORD_IN: Oid = Oid(2290);
    pub const RECORD_OUT: Oid = Oid(2291);
    pub const RECORD_RECV: Oid = Oid(2402);
    pub const RECORD_SEND: Oid = Oid(2403);
    pub const SATISFIES_HASH_PARTITION: Oid = Oid(5028);
    pub const SHELL_IN: Oid = Oid(2398);
    pub const SHELL_OUT: Oid = Oid(2399);
    pub const SUPPRESS_REDUNDANT_UPDATES_TRIGGER: Oid = Oid(1291);
    pub const TS_TYPANALYZE: Oid = Oid(3688);
    pub const TSM_BERNOULLI_HANDLER: Oid = Oid(3313);
    pub const TSM_SYSTEM_HANDLER: Oid = Oid(3314);
    pub const UNIQUE_KEY_RECHECK: Oid = Oid(1250);
    pub const VARCHAR: Oid = Oid(669);
    pub const WINDOW_DENSE_RANK: Oid = Oid(3102);
    pub const WINDOW_RANK: Oid = Oid(3101);
    pub const WINDOW_ROW_NUMBER: Oid = Oid(3100);
    pub const COUNT_ANY: Oid = Oid(2147);
    pub const COUNT_STAR: Oid = Oid(2803);
}

/// Operators. Source: `pg_operator`.
pub mod operator {
    use crate::Oid;

    pub const BOOL_EQ: Oid = Oid(91);
    pub const RECORD_EQ: Oid = Oid(2988);
    pub const TID_EQ: Oid = Oid(387);
}

/// Operator families. Source: `pg_opfamily`.
pub mod opfamily {
    use crate::Oid;

    pub const BTREE_INTEGER_OPS: Oid = Oid(1976);
}

/// Types. Source: `pg_type`.
pub mod ty {
    use crate::Oid;

    pub const BOOL: Oid = Oid(16);
    pub const BYTEA: Oid = Oid(17);
    pub const CHAR: Oid = Oid(18);
    pub const NAME: Oid = Oid(19);
    pub const INT8: Oid = Oid(20);
    pub const INT2: Oid = Oid(21);
    pub const INT2VECTOR: Oid = Oid(22);
    pub const INT4: Oid = Oid(23);
    pub const REGPROC: Oid = Oid(24);
    pub const TEXT: Oid = Oid(25);
    pub const OID: Oid = Oid(26);
    pub const TID: Oid = Oid(27);
    pub const XID: Oid = Oid(28);
    pub const CID: Oid = Oid(29);
    pub const OIDVECTOR: Oid = Oid(30);
    pub const PG_DDL_COMMAND: Oid = Oid(32);
    pub const JSON: Oid = Oid(114);
    pub const XML: Oid = Oid(142);
    pub const XML_ARRAY: Oid = Oid(143);
    pub const PG_NODE_TREE: Oid = Oid(194);
    pub const JSON_ARRAY: Oid = Oid(199);
    pub const TABLE_AM_HANDLER: Oid = Oid(269);
    pub const XID8_ARRAY: Oid = Oid(271);
    pub const INDEX_AM_HANDLER: Oid = Oid(325);
    pub const POINT: Oid = Oid(600);
    pub const LSEG: Oid = Oid(601);
    pub const PATH: Oid = Oid(602);
    pub const BOX: Oid = Oid(603);
    pub const POLYGON: Oid = Oid(604);
    pub const LINE: Oid = Oid(628);
    pub const LINE_ARRAY: Oid = Oid(629);
    pub const CIDR: Oid = Oid(650);
    pub const CIDR_ARRAY: Oid = Oid(651);
    pub const FLOAT4: Oid = Oid(700);
    pub const FLOAT8: Oid = Oid(701);
    pub const UNKNOWN: Oid = Oid(705);
    pub const CIRCLE: Oid = Oid(718);
    pub const CIRCLE_ARRAY: Oid = Oid(719);
    pub const MACADDR8: Oid = Oid(774);
    pub const MACADDR8_ARRAY: Oid = Oid(775);
    pub const MONEY: Oid = Oid(790);
    pub const MONEY_ARRAY: Oid = Oid(791);
    pub const MACADDR: Oid = Oid(829);
    pub const INET: Oid = Oid(869);
    pub const BOOL_ARRAY: Oid = Oid(1000);
    pub const BYTEA_ARRAY: Oid = Oid(1001);
    pub const CHAR_ARRAY: Oid = Oid(1002);
    pub const NAME_ARRAY: Oid = Oid(1003);
    pub const INT2_ARRAY: Oid = Oid(1005);
    pub const INT2VECTOR_ARRAY: Oid = Oid(1006);
    pub const INT4_ARRAY: Oid = Oid(1007);
    pub const REGPROC_ARRAY: Oid = Oid(1008);
    pub const TEXT_ARRAY: Oid = Oid(1009);
    pub const TID_ARRAY: Oid = Oid(1010);
    pub const XID_ARRAY: Oid = Oid(1011);
    pub const CID_ARRAY: Oid = Oid(1012);
    pub const OIDVECTOR_ARRAY: Oid = Oid(1013);
    pub const BPCHAR_ARRAY: Oid = Oid(1014);
    pub const VARCHAR_ARRAY: Oid = Oid(1015);
    pub const INT8_ARRAY: Oid = Oid(1016);
    pub const POINT_ARRAY: Oid = Oid(1017);
    pub const LSEG_ARRAY: Oid = Oid(1018);
    pub const PATH_ARRAY: Oid = Oid(1019);
    pub const BOX_ARRAY: Oid = Oid(1020);
    pub const FLOAT4_ARRAY: Oid = Oid(1021);
    pub const FLOAT8_ARRAY: Oid = Oid(1022);
    pub const POLYGON_ARRAY: Oid = Oid(1027);
    pub const OID_ARRAY: Oid = Oid(1028);
    pub const ACLITEM: Oid = Oid(1033);
    pub const ACLITEM_ARRAY: Oid = Oid(1034);
    pub const MACADDR_ARRAY: Oid = Oid(1040);
    pub const INET_ARRAY: Oid = Oid(1041);
    pub const BPCHAR: Oid = Oid(1042);
    pub const VARCHAR: Oid = Oid(1043);
    pub const DATE: Oid = Oid(1082);
    pub const TIME: Oid = Oid(1083);
    pub const TIMESTAMP: Oid = Oid(1114);
    pub const TIMESTAMP_ARRAY: Oid = Oid(1115);
    pub const DATE_ARRAY: Oid = Oid(1182);
    pub const TIME_ARRAY: Oid = Oid(1183);
    pub const TIMESTAMPTZ: Oid = Oid(1184);
    pub const TIMESTAMPTZ_ARRAY: Oid = Oid(1185);
    pub const INTERVAL: Oid = Oid(1186);
    pub const INTERVAL_ARRAY: Oid = Oid(1187);
    pub const NUMERIC_ARRAY: Oid = Oid(1231);
    pub const CSTRING_ARRAY: Oid = Oid(1263);
    pub const TIMETZ: Oid = Oid(1266);
    pub const TIMETZ_ARRAY: Oid = Oid(1270);
    pub const BIT: Oid = Oid(1560);
    pub const BIT_ARRAY: Oid = Oid(1561);
    pub const VARBIT: Oid = Oid(1562);
    pub const VARBIT_ARRAY: Oid = Oid(1563);
    pub const NUMERIC: Oid = Oid(1700);
    pub const REFCURSOR: Oid = Oid(1790);
    pub const REFCURSOR_ARRAY: Oid = Oid(2201);
    pub const REGPROCEDURE: Oid = Oid(2202);
    pub const REGOPER: Oid = Oid(2203);
    pub const REGOPERATOR: Oid = Oid(2204);
    pub const REGCLASS: Oid = Oid(2205);
    pub const REGTYPE: Oid = Oid(2206);
    pub const REGPROCEDURE_ARRAY: Oid = Oid(2207);
    pub const REGOPER_ARRAY: Oid = Oid(2208);
    pub const REGOPERATOR_ARRAY: Oid = Oid(2209);
    pub const REGCLASS_ARRAY: Oid = Oid(2210);
    pub const REGTYPE_ARRAY: Oid = Oid(2211);
    pub const RECORD: Oid = Oid(2249);
    pub const CSTRING: Oid = Oid(2275);
    pub const ANY: Oid = Oid(2276);
    pub const ANYARRAY: Oid = Oid(2277);
    pub const VOID: Oid = Oid(2278);
    pub const TRIGGER: Oid = Oid(2279);
    pub const LANGUAGE_HANDLER: Oid = Oid(2280);
    pub const INTERNAL: Oid = Oid(2281);
    pub const ANYELEMENT: Oid = Oid(2283);
    pub const RECORD_ARRAY: Oid = Oid(2287);
    pub const ANYNONARRAY: Oid = Oid(2776);
    pub const TXID_SNAPSHOT_ARRAY: Oid = Oid(2949);
    pub const UUID: Oid = Oid(2950);
    pub const UUID_ARRAY: Oid = Oid(2951);
    pub const TXID_SNAPSHOT: Oid = Oid(2970);
    pub const FDW_HANDLER: Oid = Oid(3115);
    pub const PG_LSN: Oid = Oid(3220);
    pub const PG_LSN_ARRAY: Oid = Oid(3221);
    pub const TSM_HANDLER: Oid = Oid(3310);
    pub const PG_NDISTINCT: Oid = Oid(3361);
    pub const PG_DEPENDENCIES: Oid = Oid(3402);
    pub const ANYENUM: Oid = Oid(3500);
    pub const TSVECTOR: Oid = Oid(3614);
    pub const TSQUERY: Oid = Oid(3615);
    pub const GTSVECTOR: Oid = Oid(3642);
    pub const TSVECTOR_ARRAY: Oid = Oid(3643);
    pub const GTSVECTOR_ARRAY: Oid = Oid(3644);
    pub const TSQUERY_ARRAY: Oid = Oid(3645);
    pub const REGCONFIG: Oid = Oid(3734);
    pub const REGCONFIG_ARRAY: Oid = Oid(3735);
    pub const REGDICTIONARY: Oid = Oid(3769);
    pub const REGDICTIONARY_ARRAY: Oid = Oid(3770);
    pub const JSONB: Oid = Oid(3802);
    pub const JSONB_ARRAY: Oid = Oid(3807);
    pub const ANYRANGE: Oid = Oid(3831);
    pub const EVENT_TRIGGER: Oid = Oid(3838);
    pub const INT4RANGE: Oid = Oid(3904);
    pub const INT4RANGE_ARRAY: Oid = Oid(3905);
    pub const NUMRANGE: Oid = Oid(3906);
    pub const NUMRANGE_ARRAY: Oid = Oid(3907);
    pub const TSRANGE: Oid = Oid(3908);
    pub const TSRANGE_ARRAY: Oid = Oid(3909);
    pub const TSTZRANGE: Oid = Oid(3910);
    pub const TSTZRANGE_ARRAY: Oid = Oid(3911);
    pub const DATERANGE: Oid = Oid(3912);
    pub const DATERANGE_ARRAY: Oid = Oid(3913);
    pub const INT8RANGE: Oid = Oid(3926);
    pub const INT8RANGE_ARRAY: Oid = Oid(3927);
    pub const JSONPATH: Oid = Oid(4072);
    pub const JSONPATH_ARRAY: Oid = Oid(4073);
    pub const REGNAMESPACE: Oid = Oid(4089);
    pub const REGNAMESPACE_ARRAY: Oid = Oid(4090);
    pub const REGROLE: Oid = Oid(4096);
    pub const REGROLE_ARRAY: Oid = Oid(4097);
    pub const REGCOLLATION: Oid = Oid(4191);
    pub const REGCOLLATION_ARRAY: Oid = Oid(4192);
    pub const INT4MULTIRANGE: Oid = Oid(4451);
    pub const NUMMULTIRANGE: Oid = Oid(4532);
    pub const TSMULTIRANGE: Oid = Oid(4533);
    pub const TSTZMULTIRANGE: Oid = Oid(4534);
    pub const DATEMULTIRANGE: Oid = Oid(4535);
    pub const INT8MULTIRANGE: Oid = Oid(4536);
    pub const ANYMULTIRANGE: Oid = Oid(4537);
    pub const ANYCOMPATIBLEMULTIRANGE: Oid = Oid(4538);
    pub const PG_BRIN_BLOOM_SUMMARY: Oid = Oid(4600);
    pub const PG_BRIN_MINMAX_MULTI_SUMMARY: Oid = Oid(4601);
    pub const PG_MCV_LIST: Oid = Oid(5017);
    pub const PG_SNAPSHOT: Oid = Oid(5038);
    pub const PG_SNAPSHOT_ARRAY: Oid = Oid(5039);
    pub const XID8: Oid = Oid(5069);
    pub const ANYCOMPATIBLE: Oid = Oid(5077);
    pub const ANYCOMPATIBLEARRAY: Oid = Oid(5078);
    pub const ANYCOMPATIBLENONARRAY: Oid = Oid(5079);
    pub const ANYCOMPATIBLERANGE: Oid = Oid(5080);
    pub const INT4MULTIRANGE_ARRAY: Oid = Oid(6150);
    pub const NUMMULTIRANGE_ARRAY: Oid = Oid(6151);
    pub const TSMULTIRANGE_ARRAY: Oid = Oid(6152);
    pub const TSTZMULTIRANGE_ARRAY: Oid = Oid(6153);
    pub const DATEMULTIRANGE_ARRAY: Oid = Oid(6155);
    pub const INT8MULTIRANGE_ARRAY: Oid = Oid(6157);
}
