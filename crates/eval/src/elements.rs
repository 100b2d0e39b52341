//! `x = ANY (array)` and `x <> ALL (array)` where the array is a constant: its elements are read
//! once, and a long list of them is looked up by hash. Counterpart: ExecEvalHashedScalarArrayOp.

use crate::facts::FnFacts;
use crate::program::{Call, Elem};
use foldhash::{HashSet, HashSetExt};
use pgerror::Result;
use types::compare::bpchar_trimmed;
use types::kernels::WordComparison;
use types::{Datum, DatumRef};

/// Fewer elements are compared one by one.
const HASHED_MIN: usize = 9;
/// Functions that users make have larger OIDs.
const BUILTIN_OID_MAX: u32 = 16_383;

pub(crate) struct Elements {
    pub all: Vec<Datum>,
    set: Option<Set>,
}

/// Elements by which values are found that equal one of them.
enum Set {
    Words(HashSet<u64>),
    Bytes(HashSet<Box<[u8]>>),
    Trimmed(HashSet<Box<[u8]>>),
}

impl Elements {
    /// `any`: the function of which one element must hold, if not all must.
    pub(crate) fn new(array: &Datum, elem: &Elem, any: Option<&FnFacts>) -> Elements {
        let array = types::array::ArrayRef::new(array.as_ref());
        let all: Vec<Datum> = array.iter(&elem.info).map(DatumRef::to_owned).collect();
        let set = match any {
            Some(f) if all.len() >= HASHED_MIN && f.oid.0 <= BUILTIN_OID_MAX => set_of(f, &all),
            _ => None,
        };
        Elements { all, set }
    }

    /// Does the value equal an element? `None` where that must be found out one by one.
    #[inline]
    pub(crate) fn find(&self, value: DatumRef<'_>) -> Option<bool> {
        Some(match (self.set.as_ref()?, value) {
            (Set::Words(set), DatumRef::Word(w)) => set.contains(&w),
            (Set::Bytes(set), DatumRef::Bytes(b)) => set.contains(b),
            (Set::Trimmed(set), DatumRef::Bytes(b)) => set.contains(bpchar_trimmed(b)),
            _ => return None,
        })
    }

    /// The words of all elements and their comparison, if none is NULL.
    pub(crate) fn words(&self, call: &Call) -> Option<(Vec<u64>, WordComparison)> {
        let words = self.all.iter().map(|d| match d {
            Datum::Word(w) => Some(*w),
            _ => None,
        });
        Some((words.collect::<Option<_>>()?, call.words?))
    }
}

fn set_of(f: &FnFacts, all: &[Datum]) -> Option<Set> {
    let bytes = |trim: fn(&[u8]) -> &[u8]| {
        let mut set = HashSet::with_capacity(all.len());
        set.extend(all.iter().filter_map(|d| match d {
            Datum::Bytes(b) => Some(Box::from(trim(b))),
            _ => None,
        }));
        set
    };
    match &*f.name {
        "int2eq" | "int4eq" | "int8eq" | "int24eq" | "int42eq" | "int28eq" | "int82eq"
        | "int48eq" | "int84eq" | "date_eq" | "timestamp_eq" | "timestamptz_eq" => {
            let words = all.iter().filter_map(|d| match d {
                Datum::Word(w) => Some(*w),
                _ => None,
            });
            let mut set = HashSet::with_capacity(all.len());
            set.extend(words);
            Some(Set::Words(set))
        }
        "texteq" | "byteaeq" | "uuid_eq" => Some(Set::Bytes(bytes(|b| b))),
        "bpchareq" => Some(Set::Trimmed(bytes(bpchar_trimmed))),
        _ => None,
    }
}

/// The rows (among `rows`, beside which `value` gives the row's value by its place) for which the
/// condition holds.
pub(crate) fn retain<'a>(
    elements: &Elements,
    use_or: bool,
    call: &Call,
    rows: &mut Vec<u16>,
    mut value: impl FnMut(usize, u16) -> DatumRef<'a>,
    mut test: impl FnMut(DatumRef<'_>, DatumRef<'_>) -> Result<bool>,
) -> Result<()> {
    if elements.all.is_empty() {
        // Also for NULL.
        if use_or {
            rows.clear();
        }
        return Ok(());
    }
    let words = elements.words(call);
    let mut failure = None;
    let mut at = 0;
    rows.retain(|&r| {
        let v = value(at, r);
        at += 1;
        if v.is_null() || failure.is_some() {
            return false;
        }
        if let Some(found) = elements.find(v) {
            return found;
        }
        if let (Some((words, comparison)), DatumRef::Word(w)) = (&words, v) {
            let test = comparison.test[0];
            return match use_or {
                true => words.iter().any(|&c| test(w, c)),
                false => words.iter().all(|&c| test(w, c)),
            };
        }
        for e in &elements.all {
            let hit = match e {
                Datum::Null => false,
                e => match test(v, e.as_ref()) {
                    Ok(hit) => hit,
                    Err(e) => {
                        failure = Some(e);
                        return false;
                    }
                },
            };
            if hit == use_or {
                return use_or;
            }
        }
        !use_or
    });
    failure.map_or(Ok(()), Err)
}
