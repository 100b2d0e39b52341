//! Functions and operators of arrays of paths and of patterns: whether an element fulfils a
//! condition, and the first that does. Counterpart: contrib/ltree/_ltree_op.c, lquery_op.c.

use super::functions::common_ancestor;
use super::value::Ltree;
use super::{pattern, search};
use pgerror::{Result, pg_err};
use values::array::payload::ArrayRef;
use values::datum::{Datum, DatumRef};
use values::fn_context::FnContext;

/// The elements. An error if there are several dimensions or NULLs.
fn elements<'a>(cx: &mut dyn FnContext, d: DatumRef<'a>) -> Result<Vec<DatumRef<'a>>> {
    let array = ArrayRef::new(d)?;
    if array.ndim() > 1 {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "array must be one-dimensional"));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "array must not contain nulls"));
    }
    let info = array.varlena_type(cx)?;
    Ok(array.iter(&info).collect())
}

/// A condition on a path.
type Test = fn(&dyn FnContext, tree: DatumRef<'_>, query: DatumRef<'_>) -> Result<bool>;

fn is_ancestor(_: &dyn FnContext, tree: DatumRef<'_>, query: DatumRef<'_>) -> Result<bool> {
    Ok(Ltree::new(tree).is_ancestor_of(Ltree::new(query)))
}

fn is_descendant(_: &dyn FnContext, tree: DatumRef<'_>, query: DatumRef<'_>) -> Result<bool> {
    Ok(Ltree::new(query).is_ancestor_of(Ltree::new(tree)))
}

/// The first path of an array that fulfils a condition.
fn first<'a>(
    cx: &mut dyn FnContext,
    array: DatumRef<'a>,
    query: DatumRef<'_>,
    test: Test,
) -> Result<Option<DatumRef<'a>>> {
    for tree in elements(cx, array)? {
        if test(cx, tree, query)? {
            return Ok(Some(tree));
        }
    }
    Ok(None)
}

fn any(
    cx: &mut dyn FnContext,
    array: DatumRef<'_>,
    query: DatumRef<'_>,
    test: Test,
) -> Result<Datum> {
    Ok(Datum::bool(first(cx, array, query, test)?.is_some()))
}

fn extract(cx: &mut dyn FnContext, a: &[DatumRef<'_>], test: Test) -> Result<Datum> {
    Ok(first(cx, a[0], a[1], test)?.map_or(Datum::Null, DatumRef::to_owned))
}

/// Whether a path matches one of several patterns.
fn any_pattern(cx: &mut dyn FnContext, tree: DatumRef<'_>, list: DatumRef<'_>) -> Result<Datum> {
    for query in elements(cx, list)? {
        if pattern::matches(cx, tree, query)? {
            return Ok(Datum::bool(true));
        }
    }
    Ok(Datum::bool(false))
}

/// Whether one of several paths matches one of several patterns.
fn any_of_both(cx: &mut dyn FnContext, trees: DatumRef<'_>, list: DatumRef<'_>) -> Result<Datum> {
    for query in elements(cx, list)? {
        if first(cx, trees, query, pattern::matches)?.is_some() {
            return Ok(Datum::bool(true));
        }
    }
    Ok(Datum::bool(false))
}

scalars! { FNS;
    "lt_q_regex" => |cx, a| any_pattern(cx, a[0], a[1]),
    "lt_q_rregex" => |cx, a| any_pattern(cx, a[1], a[0]),
    "_lt_q_regex" => |cx, a| any_of_both(cx, a[0], a[1]),
    "_lt_q_rregex" => |cx, a| any_of_both(cx, a[1], a[0]),
    "_ltree_isparent" => |cx, a| any(cx, a[0], a[1], is_ancestor),
    "_ltree_r_isparent" => |cx, a| any(cx, a[1], a[0], is_ancestor),
    "_ltree_risparent" => |cx, a| any(cx, a[0], a[1], is_descendant),
    "_ltree_r_risparent" => |cx, a| any(cx, a[1], a[0], is_descendant),
    "_ltq_regex" => |cx, a| any(cx, a[0], a[1], pattern::matches),
    "_ltq_rregex" => |cx, a| any(cx, a[1], a[0], pattern::matches),
    "_ltxtq_exec" => |cx, a| any(cx, a[0], a[1], search::matches),
    "_ltxtq_rexec" => |cx, a| any(cx, a[1], a[0], search::matches),
    "_ltree_extract_isparent" => |cx, a| extract(cx, a, is_ancestor),
    "_ltree_extract_risparent" => |cx, a| extract(cx, a, is_descendant),
    "_ltq_extract_regex" => |cx, a| extract(cx, a, pattern::matches),
    "_ltxtq_extract_exec" => |cx, a| extract(cx, a, search::matches),
    "_lca" => |cx, a| {
        let trees = elements(cx, a[0])?;
        common_ancestor(&trees.into_iter().map(Ltree::new).collect::<Vec<_>>())
    },
}
