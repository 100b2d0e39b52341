//! Quoting of identifiers and literals. Counterpart: quote.c, ruleutils.c (quote_identifier).

use pgerror::Result;
use values::datum::Datum;
use values::fn_context::FnContext;
use values::limits::{ALLOCATION_BYTES_MAX, TextBuffer, VARLENA_HEADER_BYTES, invalid_allocation};
use values::quoted::{Escape, escaped};

/// Identifiers that must be quoted because the grammar does not accept them as column names
/// everywhere: all keywords that are not unreserved. Sorted.
const KEYWORDS: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "bigint",
    "binary",
    "bit",
    "boolean",
    "both",
    "case",
    "cast",
    "char",
    "character",
    "check",
    "coalesce",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "dec",
    "decimal",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "extract",
    "false",
    "fetch",
    "float",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "greatest",
    "group",
    "grouping",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "inout",
    "int",
    "integer",
    "intersect",
    "interval",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "least",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "national",
    "natural",
    "nchar",
    "none",
    "normalize",
    "not",
    "notnull",
    "null",
    "nullif",
    "numeric",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "out",
    "outer",
    "overlaps",
    "overlay",
    "placing",
    "position",
    "precision",
    "primary",
    "real",
    "references",
    "returning",
    "right",
    "row",
    "select",
    "session_user",
    "setof",
    "similar",
    "smallint",
    "some",
    "substring",
    "symmetric",
    "table",
    "tablesample",
    "then",
    "time",
    "timestamp",
    "to",
    "trailing",
    "treat",
    "trim",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "values",
    "varchar",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
    "xmlattributes",
    "xmlconcat",
    "xmlelement",
    "xmlexists",
    "xmlforest",
    "xmlnamespaces",
    "xmlparse",
    "xmlpi",
    "xmlroot",
    "xmlserialize",
    "xmltable",
];

/// Whether the identifier must be quoted, regardless of `quote_all_identifiers`.
fn needs_quotes(ident: &str) -> bool {
    let mut bytes = ident.bytes();
    let first = bytes.next();
    let safe = first.is_some_and(|c| c.is_ascii_lowercase() || c == b'_')
        && bytes.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_');
    !safe || KEYWORDS.binary_search(&ident).is_ok()
}

/// The identifier, quoted if needed.
pub fn quote_ident(ident: &str, always: bool) -> String {
    if !always && !needs_quotes(ident) {
        return ident.to_string();
    }
    format!("\"{}\"", ident.replace('"', "\"\""))
}

/// Like [`quote_ident`], for text that may be long.
pub(super) fn ident(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let always = cx.settings().quote_all_identifiers;
    if !always && std::str::from_utf8(text).is_ok_and(|s| !needs_quotes(s)) {
        return Ok(text.to_vec());
    }
    let mut out = TextBuffer::with_capacity(text.len() + 2);
    out.push(b'"');
    escaped(cx, &mut out, text, [b'"'; 2], Escape::Double)?;
    out.push(b'"');
    out.into_bytes()
}

/// Like [`quote_literal`], for text that may be long, with PostgreSQL's limit: it allocates the
/// longest possible result.
fn literal(cx: &dyn FnContext, text: &[u8]) -> Result<Datum> {
    let longest = 2 * text.len() + 3 + VARLENA_HEADER_BYTES;
    if longest > ALLOCATION_BYTES_MAX {
        return Err(invalid_allocation(longest));
    }
    literal_bytes(cx, text).map(Datum::bytes)
}

/// Like [`quote_literal`], for text that may be long.
pub(super) fn literal_bytes(cx: &dyn FnContext, text: &[u8]) -> Result<Vec<u8>> {
    let mut out = TextBuffer::with_capacity(text.len() + 3);
    if text.contains(&b'\\') {
        out.push(b'E');
    }
    out.push(b'\'');
    escaped(cx, &mut out, text, [b'\'', b'\\'], Escape::Double)?;
    out.push(b'\'');
    out.into_bytes()
}

/// The text as a literal: quotes doubled; with backslashes, E'' with the backslashes doubled.
pub fn quote_literal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 3);
    if text.contains(&b'\\') {
        out.extend_from_slice(b"E");
    }
    out.push(b'\'');
    for &c in text {
        if c == b'\'' || c == b'\\' {
            out.push(c);
        }
        out.push(c);
    }
    out.push(b'\'');
    out
}

scalars! { FNS;
    "quote_ident" => |cx, a| ident(cx, a[0].as_bytes()).map(Datum::bytes),
    "quote_literal" => |cx, a| literal(cx, a[0].as_bytes()),
    "quote_nullable" => |cx, a| match a[0].is_null() {
        true => Ok(Datum::text("NULL")),
        false => literal(cx, a[0].as_bytes()),
    },
}
