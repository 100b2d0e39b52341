//! Properties and function names (`pg_proc.prosrc`) of the built-in types, for contexts without
//! catalogs.
//! Taken from a running PostgreSQL 15.

use crate::fn_context::TypeInfo;
use ids::Oid;
use ids::builtin::ty as oids;
use ids::code::{Align, TypCategory, TypType};

/// A built-in type.
pub struct BuiltinType {
    pub info: TypeInfo,
    /// `typname`.
    pub name: &'static str,
    /// As `format_type` writes it.
    pub format_name: &'static str,
    pub input: &'static str,
    pub output: &'static str,
    pub receive: &'static str,
    pub send: &'static str,
}

/// The built-in type with this OID.
pub fn get(oid: Oid) -> Option<&'static BuiltinType> {
    TYPES.get(usize::from(*INDEXES.get(oid.0 as usize)?))
}

/// The index in [`TYPES`] by OID; `u16::MAX` if there is no such type.
static INDEXES: [u16; OIDS] = {
    let mut indexes = [u16::MAX; OIDS];
    let mut i = 0;
    while i < TYPES.len() {
        indexes[TYPES[i].info.oid.0 as usize] = i as u16;
        i += 1;
    }
    indexes
};

/// One more than the largest OID of a built-in type.
const OIDS: usize = TYPES[TYPES.len() - 1].info.oid.0 as usize + 1;

/// The built-in type with this `typname` or `format_type` name.
pub fn by_name(name: &str) -> Option<&'static BuiltinType> {
    TYPES.iter().find(|t| t.name == name || t.format_name == name)
}

/// True if values of this type are the OIDs of objects: oid and the `reg*` types.
pub fn is_object_id(ty: Oid) -> bool {
    matches!(
        ty,
        oids::OID
            | oids::REGPROC
            | oids::REGPROCEDURE
            | oids::REGOPER
            | oids::REGOPERATOR
            | oids::REGCLASS
            | oids::REGCOLLATION
            | oids::REGTYPE
            | oids::REGROLE
            | oids::REGNAMESPACE
            | oids::REGCONFIG
            | oids::REGDICTIONARY
    )
}

/// `typtype` of a row of the table below.
const fn kind(code: u8) -> TypType {
    TypType::from_char(code).expect("the codes in the table are those of PostgreSQL")
}

/// `typalign` of a row of the table below.
const fn align(code: u8) -> Align {
    Align::from_char(code).expect("the codes in the table are those of PostgreSQL")
}

macro_rules! types {
    ($($oid:literal $name:literal $format:literal $len:literal $by_val:literal $align:literal
       $delim:literal $elem:literal $array:literal $kind:literal $category:literal
       $input:literal $output:literal $receive:literal $send:literal;)*) => {
        /// Sorted by OID.
        pub static TYPES: &[BuiltinType] = &[$(BuiltinType {
            info: TypeInfo {
                oid: Oid($oid), len: $len, by_val: $by_val, align: align($align), delim: $delim,
                elem: Oid($elem), array: Oid($array), kind: kind($kind),
                category: TypCategory($category), base: Oid(0), relid: Oid(0),
            },
            name: $name, format_name: $format,
            input: $input, output: $output, receive: $receive, send: $send,
        }),*];
    };
}

types! {
    16 "bool" "boolean" 1 true b'c' b',' 0 1000 b'b' b'B'
        "boolin" "boolout" "boolrecv" "boolsend";
    17 "bytea" "bytea" -1 false b'i' b',' 0 1001 b'b' b'U'
        "byteain" "byteaout" "bytearecv" "byteasend";
    18 "char" "\"char\"" 1 true b'c' b',' 0 1002 b'b' b'Z'
        "charin" "charout" "charrecv" "charsend";
    19 "name" "name" 64 false b'c' b',' 18 1003 b'b' b'S'
        "namein" "nameout" "namerecv" "namesend";
    20 "int8" "bigint" 8 true b'd' b',' 0 1016 b'b' b'N'
        "int8in" "int8out" "int8recv" "int8send";
    21 "int2" "smallint" 2 true b's' b',' 0 1005 b'b' b'N'
        "int2in" "int2out" "int2recv" "int2send";
    22 "int2vector" "int2vector" -1 false b'i' b',' 21 1006 b'b' b'A'
        "int2vectorin" "int2vectorout" "int2vectorrecv" "int2vectorsend";
    23 "int4" "integer" 4 true b'i' b',' 0 1007 b'b' b'N'
        "int4in" "int4out" "int4recv" "int4send";
    24 "regproc" "regproc" 4 true b'i' b',' 0 1008 b'b' b'N'
        "regprocin" "regprocout" "regprocrecv" "regprocsend";
    25 "text" "text" -1 false b'i' b',' 0 1009 b'b' b'S'
        "textin" "textout" "textrecv" "textsend";
    26 "oid" "oid" 4 true b'i' b',' 0 1028 b'b' b'N'
        "oidin" "oidout" "oidrecv" "oidsend";
    27 "tid" "tid" 6 false b's' b',' 0 1010 b'b' b'U'
        "tidin" "tidout" "tidrecv" "tidsend";
    28 "xid" "xid" 4 true b'i' b',' 0 1011 b'b' b'U'
        "xidin" "xidout" "xidrecv" "xidsend";
    29 "cid" "cid" 4 true b'i' b',' 0 1012 b'b' b'U'
        "cidin" "cidout" "cidrecv" "cidsend";
    30 "oidvector" "oidvector" -1 false b'i' b',' 26 1013 b'b' b'A'
        "oidvectorin" "oidvectorout" "oidvectorrecv" "oidvectorsend";
    32 "pg_ddl_command" "pg_ddl_command" 8 true b'd' b',' 0 0 b'p' b'P'
        "pg_ddl_command_in" "pg_ddl_command_out" "pg_ddl_command_recv" "pg_ddl_command_send";
    114 "json" "json" -1 false b'i' b',' 0 199 b'b' b'U'
        "json_in" "json_out" "json_recv" "json_send";
    142 "xml" "xml" -1 false b'i' b',' 0 143 b'b' b'U'
        "xml_in" "xml_out" "xml_recv" "xml_send";
    143 "_xml" "xml[]" -1 false b'i' b',' 142 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    194 "pg_node_tree" "pg_node_tree" -1 false b'i' b',' 0 0 b'b' b'Z'
        "pg_node_tree_in" "pg_node_tree_out" "pg_node_tree_recv" "pg_node_tree_send";
    199 "_json" "json[]" -1 false b'i' b',' 114 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    269 "table_am_handler" "table_am_handler" 4 true b'i' b',' 0 0 b'p' b'P'
        "table_am_handler_in" "table_am_handler_out" "-" "-";
    271 "_xid8" "xid8[]" -1 false b'd' b',' 5069 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    325 "index_am_handler" "index_am_handler" 4 true b'i' b',' 0 0 b'p' b'P'
        "index_am_handler_in" "index_am_handler_out" "-" "-";
    600 "point" "point" 16 false b'd' b',' 701 1017 b'b' b'G'
        "point_in" "point_out" "point_recv" "point_send";
    601 "lseg" "lseg" 32 false b'd' b',' 600 1018 b'b' b'G'
        "lseg_in" "lseg_out" "lseg_recv" "lseg_send";
    602 "path" "path" -1 false b'd' b',' 0 1019 b'b' b'G'
        "path_in" "path_out" "path_recv" "path_send";
    603 "box" "box" 32 false b'd' b';' 600 1020 b'b' b'G'
        "box_in" "box_out" "box_recv" "box_send";
    604 "polygon" "polygon" -1 false b'd' b',' 0 1027 b'b' b'G'
        "poly_in" "poly_out" "poly_recv" "poly_send";
    628 "line" "line" 24 false b'd' b',' 701 629 b'b' b'G'
        "line_in" "line_out" "line_recv" "line_send";
    629 "_line" "line[]" -1 false b'd' b',' 628 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    650 "cidr" "cidr" -1 false b'i' b',' 0 651 b'b' b'I'
        "cidr_in" "cidr_out" "cidr_recv" "cidr_send";
    651 "_cidr" "cidr[]" -1 false b'i' b',' 650 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    700 "float4" "real" 4 true b'i' b',' 0 1021 b'b' b'N'
        "float4in" "float4out" "float4recv" "float4send";
    701 "float8" "double precision" 8 true b'd' b',' 0 1022 b'b' b'N'
        "float8in" "float8out" "float8recv" "float8send";
    705 "unknown" "unknown" -2 false b'c' b',' 0 0 b'p' b'X'
        "unknownin" "unknownout" "unknownrecv" "unknownsend";
    718 "circle" "circle" 24 false b'd' b',' 0 719 b'b' b'G'
        "circle_in" "circle_out" "circle_recv" "circle_send";
    719 "_circle" "circle[]" -1 false b'd' b',' 718 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    774 "macaddr8" "macaddr8" 8 false b'i' b',' 0 775 b'b' b'U'
        "macaddr8_in" "macaddr8_out" "macaddr8_recv" "macaddr8_send";
    775 "_macaddr8" "macaddr8[]" -1 false b'i' b',' 774 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    790 "money" "money" 8 true b'd' b',' 0 791 b'b' b'N'
        "cash_in" "cash_out" "cash_recv" "cash_send";
    791 "_money" "money[]" -1 false b'd' b',' 790 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    829 "macaddr" "macaddr" 6 false b'i' b',' 0 1040 b'b' b'U'
        "macaddr_in" "macaddr_out" "macaddr_recv" "macaddr_send";
    869 "inet" "inet" -1 false b'i' b',' 0 1041 b'b' b'I'
        "inet_in" "inet_out" "inet_recv" "inet_send";
    1000 "_bool" "boolean[]" -1 false b'i' b',' 16 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1001 "_bytea" "bytea[]" -1 false b'i' b',' 17 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1002 "_char" "\"char\"[]" -1 false b'i' b',' 18 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1003 "_name" "name[]" -1 false b'i' b',' 19 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1005 "_int2" "smallint[]" -1 false b'i' b',' 21 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1006 "_int2vector" "int2vector[]" -1 false b'i' b',' 22 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1007 "_int4" "integer[]" -1 false b'i' b',' 23 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1008 "_regproc" "regproc[]" -1 false b'i' b',' 24 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1009 "_text" "text[]" -1 false b'i' b',' 25 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1010 "_tid" "tid[]" -1 false b'i' b',' 27 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1011 "_xid" "xid[]" -1 false b'i' b',' 28 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1012 "_cid" "cid[]" -1 false b'i' b',' 29 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1013 "_oidvector" "oidvector[]" -1 false b'i' b',' 30 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1014 "_bpchar" "character[]" -1 false b'i' b',' 1042 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1015 "_varchar" "character varying[]" -1 false b'i' b',' 1043 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1016 "_int8" "bigint[]" -1 false b'd' b',' 20 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1017 "_point" "point[]" -1 false b'd' b',' 600 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1018 "_lseg" "lseg[]" -1 false b'd' b',' 601 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1019 "_path" "path[]" -1 false b'd' b',' 602 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1020 "_box" "box[]" -1 false b'd' b';' 603 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1021 "_float4" "real[]" -1 false b'i' b',' 700 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1022 "_float8" "double precision[]" -1 false b'd' b',' 701 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1027 "_polygon" "polygon[]" -1 false b'd' b',' 604 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1028 "_oid" "oid[]" -1 false b'i' b',' 26 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1033 "aclitem" "aclitem" 12 false b'i' b',' 0 1034 b'b' b'U'
        "aclitemin" "aclitemout" "-" "-";
    1034 "_aclitem" "aclitem[]" -1 false b'i' b',' 1033 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1040 "_macaddr" "macaddr[]" -1 false b'i' b',' 829 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1041 "_inet" "inet[]" -1 false b'i' b',' 869 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1042 "bpchar" "character" -1 false b'i' b',' 0 1014 b'b' b'S'
        "bpcharin" "bpcharout" "bpcharrecv" "bpcharsend";
    1043 "varchar" "character varying" -1 false b'i' b',' 0 1015 b'b' b'S'
        "varcharin" "varcharout" "varcharrecv" "varcharsend";
    1082 "date" "date" 4 true b'i' b',' 0 1182 b'b' b'D'
        "date_in" "date_out" "date_recv" "date_send";
    1083 "time" "time without time zone" 8 true b'd' b',' 0 1183 b'b' b'D'
        "time_in" "time_out" "time_recv" "time_send";
    1114 "timestamp" "timestamp without time zone" 8 true b'd' b',' 0 1115 b'b' b'D'
        "timestamp_in" "timestamp_out" "timestamp_recv" "timestamp_send";
    1115 "_timestamp" "timestamp without time zone[]" -1 false b'd' b',' 1114 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1182 "_date" "date[]" -1 false b'i' b',' 1082 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1183 "_time" "time without time zone[]" -1 false b'd' b',' 1083 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1184 "timestamptz" "timestamp with time zone" 8 true b'd' b',' 0 1185 b'b' b'D'
        "timestamptz_in" "timestamptz_out" "timestamptz_recv" "timestamptz_send";
    1185 "_timestamptz" "timestamp with time zone[]" -1 false b'd' b',' 1184 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1186 "interval" "interval" 16 false b'd' b',' 0 1187 b'b' b'T'
        "interval_in" "interval_out" "interval_recv" "interval_send";
    1187 "_interval" "interval[]" -1 false b'd' b',' 1186 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1231 "_numeric" "numeric[]" -1 false b'i' b',' 1700 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1263 "_cstring" "cstring[]" -1 false b'i' b',' 2275 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1266 "timetz" "time with time zone" 12 false b'd' b',' 0 1270 b'b' b'D'
        "timetz_in" "timetz_out" "timetz_recv" "timetz_send";
    1270 "_timetz" "time with time zone[]" -1 false b'd' b',' 1266 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1560 "bit" "bit" -1 false b'i' b',' 0 1561 b'b' b'V'
        "bit_in" "bit_out" "bit_recv" "bit_send";
    1561 "_bit" "bit[]" -1 false b'i' b',' 1560 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1562 "varbit" "bit varying" -1 false b'i' b',' 0 1563 b'b' b'V'
        "varbit_in" "varbit_out" "varbit_recv" "varbit_send";
    1563 "_varbit" "bit varying[]" -1 false b'i' b',' 1562 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    1700 "numeric" "numeric" -1 false b'i' b',' 0 1231 b'b' b'N'
        "numeric_in" "numeric_out" "numeric_recv" "numeric_send";
    1790 "refcursor" "refcursor" -1 false b'i' b',' 0 2201 b'b' b'U'
        "textin" "textout" "textrecv" "textsend";
    2201 "_refcursor" "refcursor[]" -1 false b'i' b',' 1790 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2202 "regprocedure" "regprocedure" 4 true b'i' b',' 0 2207 b'b' b'N'
        "regprocedurein" "regprocedureout" "regprocedurerecv" "regproceduresend";
    2203 "regoper" "regoper" 4 true b'i' b',' 0 2208 b'b' b'N'
        "regoperin" "regoperout" "regoperrecv" "regopersend";
    2204 "regoperator" "regoperator" 4 true b'i' b',' 0 2209 b'b' b'N'
        "regoperatorin" "regoperatorout" "regoperatorrecv" "regoperatorsend";
    2205 "regclass" "regclass" 4 true b'i' b',' 0 2210 b'b' b'N'
        "regclassin" "regclassout" "regclassrecv" "regclasssend";
    2206 "regtype" "regtype" 4 true b'i' b',' 0 2211 b'b' b'N'
        "regtypein" "regtypeout" "regtyperecv" "regtypesend";
    2207 "_regprocedure" "regprocedure[]" -1 false b'i' b',' 2202 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2208 "_regoper" "regoper[]" -1 false b'i' b',' 2203 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2209 "_regoperator" "regoperator[]" -1 false b'i' b',' 2204 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2210 "_regclass" "regclass[]" -1 false b'i' b',' 2205 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2211 "_regtype" "regtype[]" -1 false b'i' b',' 2206 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2249 "record" "record" -1 false b'd' b',' 0 2287 b'p' b'P'
        "record_in" "record_out" "record_recv" "record_send";
    2275 "cstring" "cstring" -2 false b'c' b',' 0 1263 b'p' b'P'
        "cstring_in" "cstring_out" "cstring_recv" "cstring_send";
    2276 "any" "\"any\"" 4 true b'i' b',' 0 0 b'p' b'P'
        "any_in" "any_out" "-" "-";
    2277 "anyarray" "anyarray" -1 false b'd' b',' 0 0 b'p' b'P'
        "anyarray_in" "anyarray_out" "anyarray_recv" "anyarray_send";
    2278 "void" "void" 4 true b'i' b',' 0 0 b'p' b'P'
        "void_in" "void_out" "void_recv" "void_send";
    2279 "trigger" "trigger" 4 true b'i' b',' 0 0 b'p' b'P'
        "trigger_in" "trigger_out" "-" "-";
    2280 "language_handler" "language_handler" 4 true b'i' b',' 0 0 b'p' b'P'
        "language_handler_in" "language_handler_out" "-" "-";
    2281 "internal" "internal" 8 true b'd' b',' 0 0 b'p' b'P'
        "internal_in" "internal_out" "-" "-";
    2283 "anyelement" "anyelement" 4 true b'i' b',' 0 0 b'p' b'P'
        "anyelement_in" "anyelement_out" "-" "-";
    2287 "_record" "record[]" -1 false b'd' b',' 2249 0 b'p' b'P'
        "array_in" "array_out" "array_recv" "array_send";
    2776 "anynonarray" "anynonarray" 4 true b'i' b',' 0 0 b'p' b'P'
        "anynonarray_in" "anynonarray_out" "-" "-";
    2949 "_txid_snapshot" "txid_snapshot[]" -1 false b'd' b',' 2970 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2950 "uuid" "uuid" 16 false b'c' b',' 0 2951 b'b' b'U'
        "uuid_in" "uuid_out" "uuid_recv" "uuid_send";
    2951 "_uuid" "uuid[]" -1 false b'i' b',' 2950 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    2970 "txid_snapshot" "txid_snapshot" -1 false b'd' b',' 0 2949 b'b' b'U'
        "pg_snapshot_in" "pg_snapshot_out" "pg_snapshot_recv" "pg_snapshot_send";
    3115 "fdw_handler" "fdw_handler" 4 true b'i' b',' 0 0 b'p' b'P'
        "fdw_handler_in" "fdw_handler_out" "-" "-";
    3220 "pg_lsn" "pg_lsn" 8 true b'd' b',' 0 3221 b'b' b'U'
        "pg_lsn_in" "pg_lsn_out" "pg_lsn_recv" "pg_lsn_send";
    3221 "_pg_lsn" "pg_lsn[]" -1 false b'd' b',' 3220 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3310 "tsm_handler" "tsm_handler" 4 true b'i' b',' 0 0 b'p' b'P'
        "tsm_handler_in" "tsm_handler_out" "-" "-";
    3361 "pg_ndistinct" "pg_ndistinct" -1 false b'i' b',' 0 0 b'b' b'Z'
        "pg_ndistinct_in" "pg_ndistinct_out" "pg_ndistinct_recv" "pg_ndistinct_send";
    3402 "pg_dependencies" "pg_dependencies" -1 false b'i' b',' 0 0 b'b' b'Z'
        "pg_dependencies_in" "pg_dependencies_out" "pg_dependencies_recv" "pg_dependencies_send";
    3500 "anyenum" "anyenum" 4 true b'i' b',' 0 0 b'p' b'P'
        "anyenum_in" "anyenum_out" "-" "-";
    3614 "tsvector" "tsvector" -1 false b'i' b',' 0 3643 b'b' b'U'
        "tsvectorin" "tsvectorout" "tsvectorrecv" "tsvectorsend";
    3615 "tsquery" "tsquery" -1 false b'i' b',' 0 3645 b'b' b'U'
        "tsqueryin" "tsqueryout" "tsqueryrecv" "tsquerysend";
    3642 "gtsvector" "gtsvector" -1 false b'i' b',' 0 3644 b'b' b'U'
        "gtsvectorin" "gtsvectorout" "-" "-";
    3643 "_tsvector" "tsvector[]" -1 false b'i' b',' 3614 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3644 "_gtsvector" "gtsvector[]" -1 false b'i' b',' 3642 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3645 "_tsquery" "tsquery[]" -1 false b'i' b',' 3615 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3734 "regconfig" "regconfig" 4 true b'i' b',' 0 3735 b'b' b'N'
        "regconfigin" "regconfigout" "regconfigrecv" "regconfigsend";
    3735 "_regconfig" "regconfig[]" -1 false b'i' b',' 3734 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3769 "regdictionary" "regdictionary" 4 true b'i' b',' 0 3770 b'b' b'N'
        "regdictionaryin" "regdictionaryout" "regdictionaryrecv" "regdictionarysend";
    3770 "_regdictionary" "regdictionary[]" -1 false b'i' b',' 3769 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3802 "jsonb" "jsonb" -1 false b'i' b',' 0 3807 b'b' b'U'
        "jsonb_in" "jsonb_out" "jsonb_recv" "jsonb_send";
    3807 "_jsonb" "jsonb[]" -1 false b'i' b',' 3802 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3831 "anyrange" "anyrange" -1 false b'd' b',' 0 0 b'p' b'P'
        "anyrange_in" "anyrange_out" "-" "-";
    3838 "event_trigger" "event_trigger" 4 true b'i' b',' 0 0 b'p' b'P'
        "event_trigger_in" "event_trigger_out" "-" "-";
    3904 "int4range" "int4range" -1 false b'i' b',' 0 3905 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3905 "_int4range" "int4range[]" -1 false b'i' b',' 3904 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3906 "numrange" "numrange" -1 false b'i' b',' 0 3907 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3907 "_numrange" "numrange[]" -1 false b'i' b',' 3906 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3908 "tsrange" "tsrange" -1 false b'd' b',' 0 3909 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3909 "_tsrange" "tsrange[]" -1 false b'd' b',' 3908 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3910 "tstzrange" "tstzrange" -1 false b'd' b',' 0 3911 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3911 "_tstzrange" "tstzrange[]" -1 false b'd' b',' 3910 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3912 "daterange" "daterange" -1 false b'i' b',' 0 3913 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3913 "_daterange" "daterange[]" -1 false b'i' b',' 3912 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    3926 "int8range" "int8range" -1 false b'd' b',' 0 3927 b'r' b'R'
        "range_in" "range_out" "range_recv" "range_send";
    3927 "_int8range" "int8range[]" -1 false b'd' b',' 3926 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    4072 "jsonpath" "jsonpath" -1 false b'i' b',' 0 4073 b'b' b'U'
        "jsonpath_in" "jsonpath_out" "jsonpath_recv" "jsonpath_send";
    4073 "_jsonpath" "jsonpath[]" -1 false b'i' b',' 4072 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    4089 "regnamespace" "regnamespace" 4 true b'i' b',' 0 4090 b'b' b'N'
        "regnamespacein" "regnamespaceout" "regnamespacerecv" "regnamespacesend";
    4090 "_regnamespace" "regnamespace[]" -1 false b'i' b',' 4089 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    4096 "regrole" "regrole" 4 true b'i' b',' 0 4097 b'b' b'N'
        "regrolein" "regroleout" "regrolerecv" "regrolesend";
    4097 "_regrole" "regrole[]" -1 false b'i' b',' 4096 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    4191 "regcollation" "regcollation" 4 true b'i' b',' 0 4192 b'b' b'N'
        "regcollationin" "regcollationout" "regcollationrecv" "regcollationsend";
    4192 "_regcollation" "regcollation[]" -1 false b'i' b',' 4191 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    4451 "int4multirange" "int4multirange" -1 false b'i' b',' 0 6150 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4532 "nummultirange" "nummultirange" -1 false b'i' b',' 0 6151 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4533 "tsmultirange" "tsmultirange" -1 false b'd' b',' 0 6152 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4534 "tstzmultirange" "tstzmultirange" -1 false b'd' b',' 0 6153 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4535 "datemultirange" "datemultirange" -1 false b'i' b',' 0 6155 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4536 "int8multirange" "int8multirange" -1 false b'd' b',' 0 6157 b'm' b'R'
        "multirange_in" "multirange_out" "multirange_recv" "multirange_send";
    4537 "anymultirange" "anymultirange" -1 false b'd' b',' 0 0 b'p' b'P'
        "anymultirange_in" "anymultirange_out" "-" "-";
    4538 "anycompatiblemultirange" "anycompatiblemultirange" -1 false b'd' b',' 0 0 b'p' b'P'
        "anycompatiblemultirange_in" "anycompatiblemultirange_out" "-" "-";
    4600 "pg_brin_bloom_summary" "pg_brin_bloom_summary" -1 false b'i' b',' 0 0 b'b' b'Z'
        "brin_bloom_summary_in" "brin_bloom_summary_out"
        "brin_bloom_summary_recv" "brin_bloom_summary_send";
    4601 "pg_brin_minmax_multi_summary" "pg_brin_minmax_multi_summary"
        -1 false b'i' b',' 0 0 b'b' b'Z'
        "brin_minmax_multi_summary_in" "brin_minmax_multi_summary_out"
        "brin_minmax_multi_summary_recv" "brin_minmax_multi_summary_send";
    5017 "pg_mcv_list" "pg_mcv_list" -1 false b'i' b',' 0 0 b'b' b'Z'
        "pg_mcv_list_in" "pg_mcv_list_out" "pg_mcv_list_recv" "pg_mcv_list_send";
    5038 "pg_snapshot" "pg_snapshot" -1 false b'd' b',' 0 5039 b'b' b'U'
        "pg_snapshot_in" "pg_snapshot_out" "pg_snapshot_recv" "pg_snapshot_send";
    5039 "_pg_snapshot" "pg_snapshot[]" -1 false b'd' b',' 5038 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    5069 "xid8" "xid8" 8 true b'd' b',' 0 271 b'b' b'U'
        "xid8in" "xid8out" "xid8recv" "xid8send";
    5077 "anycompatible" "anycompatible" 4 true b'i' b',' 0 0 b'p' b'P'
        "anycompatible_in" "anycompatible_out" "-" "-";
    5078 "anycompatiblearray" "anycompatiblearray" -1 false b'd' b',' 0 0 b'p' b'P'
        "anycompatiblearray_in" "anycompatiblearray_out"
        "anycompatiblearray_recv" "anycompatiblearray_send";
    5079 "anycompatiblenonarray" "anycompatiblenonarray" 4 true b'i' b',' 0 0 b'p' b'P'
        "anycompatiblenonarray_in" "anycompatiblenonarray_out" "-" "-";
    5080 "anycompatiblerange" "anycompatiblerange" -1 false b'd' b',' 0 0 b'p' b'P'
        "anycompatiblerange_in" "anycompatiblerange_out" "-" "-";
    6150 "_int4multirange" "int4multirange[]" -1 false b'i' b',' 4451 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    6151 "_nummultirange" "nummultirange[]" -1 false b'i' b',' 4532 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    6152 "_tsmultirange" "tsmultirange[]" -1 false b'd' b',' 4533 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    6153 "_tstzmultirange" "tstzmultirange[]" -1 false b'd' b',' 4534 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    6155 "_datemultirange" "datemultirange[]" -1 false b'i' b',' 4535 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
    6157 "_int8multirange" "int8multirange[]" -1 false b'd' b',' 4536 0 b'b' b'A'
        "array_in" "array_out" "array_recv" "array_send";
}
