//! `pg_column_size` and `pg_column_compression` of computed values. For columns of tables the
//! planner replaces the calls by columns of the scan (`ids::stored`).

use ids::Oid;
use pgerror::Result;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// Bytes of the header of a varlena that is neither short nor compressed.
const HEADER_BYTES: usize = 4;

/// The size of the value in memory: its type's size, or that of its bytes and its header.
fn column_size(cx: &mut dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let ty: Oid = cx.arg_type(0);
    let len = cx.type_info(ty)?.len;
    let size = match (len, a[0]) {
        (-1, DatumRef::Bytes(b)) => b.len() + HEADER_BYTES,
        (-2, DatumRef::Bytes(b)) => b.len() + 1,
        (len, _) => len.max(0) as usize,
    };
    Ok(Datum::int4(i32::try_from(size).unwrap_or(i32::MAX)))
}

scalars! { FNS;
    "pg_column_size" => column_size,
    // A computed value is not compressed.
    "pg_column_compression" => |_, _| Ok(Datum::Null),
}
