//! The operators of the extension pg_trgm that depend on its settings, which are those of the
//! session. A setting that was not set has the default value.
//!
//! Counterpart: contrib/pg_trgm/trgm_op.c.

use super::{SysCall, SysFn};
use crate::state::State;
use contrib::pg_trgm::{similarity, word_similarity};
use eval::CallContext;
use ids::Oid;
use pgerror::{Result, pg_err};
use settings::Action;
use types::{Datum, DatumRef};

pub(super) const FNS: &[SysFn] = &[
    SysFn { name: "set_limit", call: SysCall::One(set_limit) },
    SysFn { name: "show_limit", call: SysCall::One(|c, _| Ok(Datum::float4(limit(c) as f32))) },
    SysFn { name: "similarity_op", call: SysCall::One(is_similar) },
    SysFn { name: "word_similarity_op", call: SysCall::One(|c, a| has_word(c, a, 1, false)) },
    SysFn {
        name: "word_similarity_commutator_op",
        call: SysCall::One(|c, a| has_word(c, a, 0, false)),
    },
    SysFn { name: "strict_word_similarity_op", call: SysCall::One(|c, a| has_word(c, a, 1, true)) },
    SysFn {
        name: "strict_word_similarity_commutator_op",
        call: SysCall::One(|c, a| has_word(c, a, 0, true)),
    },
];

const LIMIT: &str = "pg_trgm.similarity_threshold";

/// The value of a setting, or its default.
fn threshold(state: &mut State, name: &str, default: f64) -> f64 {
    state.show(name).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

fn limit(state: &mut State) -> f64 {
    threshold(state, LIMIT, 0.3)
}

fn set_limit(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let wanted = args[0].as_f32();
    if !(0.0..=1.0).contains(&wanted) {
        return Err(pg_err!(
            INVALID_PARAMETER_VALUE,
            "{wanted} is outside the valid range for parameter \"{LIMIT}\" (0 .. 1)"
        ));
    }
    state.set(LIMIT, Some(&wanted.to_string()), Action::Set)?;
    Ok(Datum::float4(limit(state) as f32))
}

/// The context in which the functions on values are called.
fn with_context<T>(
    state: &mut State,
    work: impl FnOnce(&CallContext<'_>) -> Result<T>,
) -> Result<T> {
    let mut extra = None;
    work(&CallContext {
        host: state,
        collation: Oid::INVALID,
        arg_types: &[],
        result_type: Oid::INVALID,
        variadic_array: false,
        extra: &mut extra,
    })
}

fn is_similar(state: &mut State, args: &[DatumRef<'_>]) -> Result<Datum> {
    let limit = limit(state);
    let (a, b) = (args[0].as_bytes(), args[1].as_bytes());
    let found = with_context(state, |cx| similarity(cx, a, b))?;
    Ok(Datum::bool(f64::from(found) >= limit))
}

/// Whether the text of argument `text` has a word similar to the other argument.
fn has_word(state: &mut State, args: &[DatumRef<'_>], text: usize, strict: bool) -> Result<Datum> {
    let limit = match strict {
        true => threshold(state, "pg_trgm.strict_word_similarity_threshold", 0.5),
        false => threshold(state, "pg_trgm.word_similarity_threshold", 0.6),
    };
    let (pattern, text) = (args[1 - text].as_bytes(), args[text].as_bytes());
    let found = with_context(state, |cx| word_similarity(cx, pattern, text, strict))?;
    Ok(Datum::bool(f64::from(found) >= limit))
}
