//! The tables of the functions on tsvector and tsquery that need no configuration.

use crate::query::{Operator, Query};
use crate::rewrite::{Rewriter, compare_queries, join, negate};
use crate::vector::Vector;
use crate::{execute, gin, query_io, query_parse, rank, vector, vector_fns, vector_io};
use ids::Oid;
use pgerror::{Result, pg_err};
use std::cmp::Ordering;
use values::array::ArrayRef;
use values::array::payload::builtin_info;
use values::datum::{Datum, DatumRef};
use values::fn_context::{FnContext, InterruptChecker};
use values::function::Builtin;
use values::oids;
use values::{builtins, comparisons, scalars};

/// The tables of this crate.
pub const TABLES: &[&[Builtin]] = &[VECTORS, QUERIES, SETS, COMPARISONS, MATCHES, INDEX];

/// The B-tree comparison of tsvector.
pub fn tsvector_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    vector::compare(a.as_bytes(), b.as_bytes())
}

/// The B-tree comparison of tsquery.
pub fn tsquery_cmp(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    compare_queries(a.as_bytes(), b.as_bytes())
}

/// The comparison of GIN keys.
pub fn gin_cmp_tslexeme(a: DatumRef<'_>, b: DatumRef<'_>, _: Oid) -> Ordering {
    gin::compare_keys(a.as_bytes(), b.as_bytes())
}

fn order(order: Ordering) -> Datum {
    Datum::int4(order as i32)
}

fn view(d: DatumRef<'_>) -> Vector<'_> {
    Vector::new(d.as_bytes())
}

comparisons! { COMPARISONS;
    tsvector_cmp => "tsvector_eq" "tsvector_ne" "tsvector_lt" "tsvector_le" "tsvector_gt"
        "tsvector_ge";
    tsquery_cmp => "tsquery_eq" "tsquery_ne" "tsquery_lt" "tsquery_le" "tsquery_gt" "tsquery_ge";
}

scalars! { VECTORS;
    "tsvectorin" => |cx, a| vector_io::input(cx, a[0].as_bytes()),
    "tsvectorout" => |_, a| Ok(Datum::bytes(vector_io::vector_text(a[0].as_bytes())?)),
    "tsvectorrecv" => |cx, a| vector_io::receive(cx, a[0]),
    "tsvectorsend" => |cx, a| vector_io::send(cx, a[0].as_bytes()),
    "tsvector_cmp" => |_, a| Ok(order(vector::compare(a[0].as_bytes(), a[1].as_bytes()))),
    "tsvector_strip" => |_, a| vector_fns::strip(view(a[0])),
    "tsvector_length" => |_, a| Ok(Datum::int4(view(a[0]).len() as i32)),
    "tsvector_setweight" => |_, a| vector_fns::set_weight(view(a[0]), a[1].as_char()),
    "tsvector_setweight_by_filter" => |_, a| {
        vector_fns::set_weight_of(view(a[0]), a[1].as_char(), a[2])
    },
    "tsvector_concat" => |_, a| vector_fns::concat(view(a[0]), view(a[1])),
    "tsvector_delete_str" => |_, a| vector_fns::delete(view(a[0]), &[Some(a[1].as_bytes())]),
    "tsvector_delete_arr" => |_, a| vector_fns::delete_array(view(a[0]), a[1]),
    "tsvector_filter" => |_, a| vector_fns::filter(view(a[0]), a[1]),
    "tsvector_to_array" => |_, a| vector_fns::to_array(view(a[0])),
    "array_to_tsvector" => |_, a| vector_fns::of_array(a[0]),
}

builtins! { SETS;
    "tsvector_unnest" => Srf(|_, a| Ok(vector_fns::unnest(a[0]))),
}

/// Whether the query `a` has all words of `b`.
fn contains(a: DatumRef<'_>, b: DatumRef<'_>) -> Datum {
    let (a, b) = (Query::new(a.as_bytes()), Query::new(b.as_bytes()));
    let mut words: Vec<&[u8]> = a.operands().map(|(_, o)| a.word(&o)).collect();
    words.sort_unstable();
    let mut wanted = b.operands().map(|(_, o)| b.word(&o));
    Datum::bool(wanted.all(|word| words.binary_search(&word).is_ok()))
}

fn phrase(cx: &dyn FnContext, a: &[DatumRef<'_>], distance: i32) -> Result<Datum> {
    if !(0..=crate::limits::POSITION_LIMIT as i32).contains(&distance) {
        return Err(query_parse::bad_distance());
    }
    let (left, right) = (a[0].as_bytes(), a[1].as_bytes());
    Ok(Datum::bytes(join(cx, left, right, Operator::Phrase, distance as i16)?))
}

fn connect(cx: &dyn FnContext, a: &[DatumRef<'_>], operator: Operator) -> Result<Datum> {
    Ok(Datum::bytes(join(cx, a[0].as_bytes(), a[1].as_bytes(), operator, 0)?))
}

fn rewrite(cx: &dyn FnContext, a: &[DatumRef<'_>]) -> Result<Datum> {
    let query = |i: usize| Query::new(a[i].as_bytes());
    if query(0).is_empty() || query(1).is_empty() {
        return Ok(a[0].to_owned());
    }
    let mut rewriter = Rewriter::new(cx, query(0));
    rewriter.substitute(cx, query(1), query(2))?;
    Ok(Datum::bytes(rewriter.finish()?))
}

scalars! { QUERIES;
    "tsqueryin" => |cx, a| Ok(Datum::bytes(query_parse::parse_as_is(cx, a[0].as_bytes())?)),
    "tsqueryout" => |_, a| Ok(Datum::bytes(query_io::query_text(a[0].as_bytes())?)),
    "tsqueryrecv" => |cx, a| query_io::receive(cx, a[0]),
    "tsquerysend" => |cx, a| query_io::send(cx, a[0].as_bytes()),
    "tsquery_cmp" => |_, a| Ok(order(compare_queries(a[0].as_bytes(), a[1].as_bytes()))),
    "tsquery_and" => |cx, a| connect(cx, a, Operator::And),
    "tsquery_or" => |cx, a| connect(cx, a, Operator::Or),
    "tsquery_not" => |cx, a| Ok(Datum::bytes(negate(cx, a[0].as_bytes())?)),
    "tsquery_phrase" => |cx, a| phrase(cx, a, 1),
    "tsquery_phrase_distance" => |cx, a| phrase(cx, a, a[2].as_i32()),
    "tsquery_numnode" => |_, a| Ok(Datum::int4(Query::new(a[0].as_bytes()).len() as i32)),
    "tsquerytree" => |_, a| Ok(Datum::bytes(query_io::query_tree_text(a[0].as_bytes())?)),
    "tsq_mcontains" => |_, a| Ok(contains(a[0], a[1])),
    "tsq_mcontained" => |_, a| Ok(contains(a[1], a[0])),
    "tsquery_rewrite" => |cx, a| rewrite(cx, a),
}

fn matches(cx: &dyn FnContext, vector: DatumRef<'_>, query: DatumRef<'_>) -> Result<Datum> {
    let interrupts = InterruptChecker::new(cx);
    Ok(Datum::bool(execute::matches(&interrupts, vector.as_bytes(), query.as_bytes())?))
}

/// The weights in an array, those of the letters D to A. Negative ones are replaced by the default.
fn weights(array: Option<DatumRef<'_>>) -> Result<[f32; 4]> {
    let mut out = rank::WEIGHTS;
    let Some(array) = array else { return Ok(out) };
    let array = ArrayRef::new(array)?;
    if array.ndim() != 1 {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "array of weight must be one-dimensional"));
    }
    if array.count() < out.len() {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "array of weight is too short"));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "array of weight must not contain nulls"));
    }
    for (weight, given) in out.iter_mut().zip(array.elements(&builtin_info(oids::FLOAT4))?) {
        let given = given.as_f32();
        if given >= 0.0 {
            *weight = given;
        }
        if *weight > 1.0 {
            return Err(pg_err!(INVALID_PARAMETER_VALUE, "weight out of range"));
        }
    }
    Ok(out)
}

/// The rank by the arguments: optional weights, vector, query, optional normalization.
fn ranked(
    cx: &dyn FnContext,
    a: &[DatumRef<'_>],
    with_weights: bool,
    covers: bool,
) -> Result<Datum> {
    let (first, rest) = a.split_at(usize::from(with_weights));
    let weights = weights(first.first().copied())?;
    let (vector, query) = (Vector::new(rest[0].as_bytes()), Query::new(rest[1].as_bytes()));
    let norms = rest.get(2).map_or(0, |d| d.as_i32());
    let rank = match covers {
        true => rank::rank_cover(&InterruptChecker::new(cx), &weights, vector, query, norms)?,
        false => rank::rank(&weights, vector, query, norms),
    };
    Ok(Datum::float4(rank))
}

scalars! { MATCHES;
    "ts_match_vq" => |cx, a| matches(cx, a[0], a[1]),
    "ts_match_qv" => |cx, a| matches(cx, a[1], a[0]),
    "ts_rank_tt" => |cx, a| ranked(cx, a, false, false),
    "ts_rank_ttf" => |cx, a| ranked(cx, a, false, false),
    "ts_rank_wtt" => |cx, a| ranked(cx, a, true, false),
    "ts_rank_wttf" => |cx, a| ranked(cx, a, true, false),
    "ts_rankcd_tt" => |cx, a| ranked(cx, a, false, true),
    "ts_rankcd_ttf" => |cx, a| ranked(cx, a, false, true),
    "ts_rankcd_wtt" => |cx, a| ranked(cx, a, true, true),
    "ts_rankcd_wttf" => |cx, a| ranked(cx, a, true, true),
}

scalars! { INDEX;
    "gin_cmp_tslexeme" => |_, a| {
        // The difference of the first bytes that differ, as memcmp returns it.
        let (a, b) = (a[0].as_bytes(), a[1].as_bytes());
        let differing = a.iter().zip(b).find(|(a, b)| a != b);
        Ok(match differing {
            Some((a, b)) => Datum::int4(i32::from(*a) - i32::from(*b)),
            None => order(a.len().cmp(&b.len())),
        })
    },
    "gin_cmp_prefix" => |_, a| {
        Ok(order(gin::compare_prefix(a[0].as_bytes(), a[1].as_bytes())))
    },
    "gtsvectorin" => |_, _| {
        Err(pg_err!(FEATURE_NOT_SUPPORTED, "gtsvector_in not implemented"))
    },
}
