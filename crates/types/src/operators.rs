//! The comparison operators and the transition functions of max and min, generated from the types'
//! `CompareFn`s.

use crate::system::{btoidvectorcmp, bttidcmp};
use values::compare::{
    bpcharcmp, btboolcmp, btcharcmp, btfloat4cmp, btfloat8cmp, btfloat48cmp, btfloat84cmp,
    btint2cmp, btint4cmp, btint8cmp, btnamecmp, btnametextcmp, btoidcmp, bttextcmp, bttextcmp_c,
    bttextnamecmp, bytes_cmp, word_cmp,
};
use values::datum::Datum;

comparisons! { COMPARISONS;
    btboolcmp => "booleq" "boolne" "boollt" "boolle" "boolgt" "boolge";
    btcharcmp => "chareq" "charne" "charlt" "charle" "chargt" "charge";
    btint8cmp => "cash_eq" "cash_ne" "cash_lt" "cash_le" "cash_gt" "cash_ge";
    btint8cmp => "int2eq" "int2ne" "int2lt" "int2le" "int2gt" "int2ge";
    btint8cmp => "int4eq" "int4ne" "int4lt" "int4le" "int4gt" "int4ge";
    btint8cmp => "int8eq" "int8ne" "int8lt" "int8le" "int8gt" "int8ge";
    btint8cmp => "int24eq" "int24ne" "int24lt" "int24le" "int24gt" "int24ge";
    btint8cmp => "int42eq" "int42ne" "int42lt" "int42le" "int42gt" "int42ge";
    btint8cmp => "int28eq" "int28ne" "int28lt" "int28le" "int28gt" "int28ge";
    btint8cmp => "int82eq" "int82ne" "int82lt" "int82le" "int82gt" "int82ge";
    btint8cmp => "int48eq" "int48ne" "int48lt" "int48le" "int48gt" "int48ge";
    btint8cmp => "int84eq" "int84ne" "int84lt" "int84le" "int84gt" "int84ge";
    btoidcmp => "oideq" "oidne" "oidlt" "oidle" "oidgt" "oidge";
    btfloat4cmp => "float4eq" "float4ne" "float4lt" "float4le" "float4gt" "float4ge";
    btfloat8cmp => "float8eq" "float8ne" "float8lt" "float8le" "float8gt" "float8ge";
    btfloat48cmp => "float48eq" "float48ne" "float48lt" "float48le" "float48gt" "float48ge";
    btfloat84cmp => "float84eq" "float84ne" "float84lt" "float84le" "float84gt" "float84ge";
    btnamecmp => "nameeq" "namene" "namelt" "namele" "namegt" "namege";
    bttextcmp => "texteq" "textne" "text_lt" "text_le" "text_gt" "text_ge";
    btnametextcmp => "nameeqtext" "namenetext" "namelttext" "nameletext" "namegttext" "namegetext";
    bttextnamecmp => "texteqname" "textnename" "textltname" "textlename" "textgtname" "textgename";
    bpcharcmp => "bpchareq" "bpcharne" "bpcharlt" "bpcharle" "bpchargt" "bpcharge";
    bytes_cmp => "byteaeq" "byteane" "bytealt" "byteale" "byteagt" "byteage";
    bytes_cmp => "uuid_eq" "uuid_ne" "uuid_lt" "uuid_le" "uuid_gt" "uuid_ge";
    word_cmp => "pg_lsn_eq" "pg_lsn_ne" "pg_lsn_lt" "pg_lsn_le" "pg_lsn_gt" "pg_lsn_ge";
    word_cmp => "xid8eq" "xid8ne" "xid8lt" "xid8le" "xid8gt" "xid8ge";
    bttidcmp => "tideq" "tidne" "tidlt" "tidle" "tidgt" "tidge";
    btoidvectorcmp => "oidvectoreq" "oidvectorne" "oidvectorlt" "oidvectorle" "oidvectorgt"
        "oidvectorge";
}

orderings! { ORDERINGS;
    btint8cmp => "cashlarger" "cashsmaller";
    btint8cmp => "int2larger" "int2smaller";
    btint8cmp => "int4larger" "int4smaller";
    btint8cmp => "int8larger" "int8smaller";
    btoidcmp => "oidlarger" "oidsmaller";
    btfloat4cmp => "float4larger" "float4smaller";
    btfloat8cmp => "float8larger" "float8smaller";
    bttextcmp => "text_larger" "text_smaller";
    word_cmp => "pg_lsn_larger" "pg_lsn_smaller";
    word_cmp => "xid8_larger" "xid8_smaller";
    bttidcmp => "tidlarger" "tidsmaller";
}

macro_rules! by_name {
    ($table:ident; $($name:literal $cmp:path;)*) => {
        scalars! { $table; $(
            $name => |cx, a| Ok(Datum::int4($cmp(a[0], a[1], cx.collation()) as i32)),
        )* }
    };
}

by_name! { SUPPORT;
    "btboolcmp" btboolcmp; "btint2cmp" btint2cmp; "btint4cmp" btint4cmp; "btint8cmp" btint8cmp;
    "btint24cmp" btint8cmp; "btint28cmp" btint8cmp; "btint42cmp" btint8cmp;
    "btint48cmp" btint8cmp; "btint82cmp" btint8cmp; "btint84cmp" btint8cmp; "btoidcmp" btoidcmp;
    "btcharcmp" btcharcmp; "btnamecmp" btnamecmp; "bttextcmp" bttextcmp;
    "bttext_pattern_cmp" bttextcmp_c; "btbpchar_pattern_cmp" bpcharcmp;
    "gin_compare_jsonb" bttextcmp_c;
    "btnametextcmp" btnametextcmp; "bttextnamecmp" bttextnamecmp; "bpcharcmp" bpcharcmp;
    "btfloat4cmp" btfloat4cmp; "btfloat8cmp" btfloat8cmp; "btfloat48cmp" btfloat48cmp;
    "btfloat84cmp" btfloat84cmp; "byteacmp" bytes_cmp; "uuid_cmp" bytes_cmp;
    "pg_lsn_cmp" word_cmp; "xid8cmp" word_cmp; "bttidcmp" bttidcmp;
    "btoidvectorcmp" btoidvectorcmp; "numeric_cmp" numeric::order::numeric_cmp;
}

scalars! { PATTERN;
    // Unlike for the other types, of two equal values the first is returned.
    "bpchar_larger" => |cx, a| {
        Ok(a[bpcharcmp(a[0], a[1], cx.collation()).is_lt() as usize].to_owned())
    },
    "bpchar_smaller" => |cx, a| {
        Ok(a[bpcharcmp(a[0], a[1], cx.collation()).is_gt() as usize].to_owned())
    },
    "text_pattern_lt" => |cx, a| Ok(Datum::bool(bttextcmp_c(a[0], a[1], cx.collation()).is_lt())),
    "text_pattern_le" => |cx, a| Ok(Datum::bool(bttextcmp_c(a[0], a[1], cx.collation()).is_le())),
    "text_pattern_gt" => |cx, a| Ok(Datum::bool(bttextcmp_c(a[0], a[1], cx.collation()).is_gt())),
    "text_pattern_ge" => |cx, a| Ok(Datum::bool(bttextcmp_c(a[0], a[1], cx.collation()).is_ge())),
    "bpchar_pattern_lt" => |cx, a| Ok(Datum::bool(bpcharcmp(a[0], a[1], cx.collation()).is_lt())),
    "bpchar_pattern_le" => |cx, a| Ok(Datum::bool(bpcharcmp(a[0], a[1], cx.collation()).is_le())),
    "bpchar_pattern_gt" => |cx, a| Ok(Datum::bool(bpcharcmp(a[0], a[1], cx.collation()).is_gt())),
    "bpchar_pattern_ge" => |cx, a| Ok(Datum::bool(bpcharcmp(a[0], a[1], cx.collation()).is_ge())),
}
