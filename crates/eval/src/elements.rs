//! `x = ANY (array)` and `x <> ALL (array)` with a constant array: its elements are read once, and
//! a long list becomes a hash table. Counterpart: execExprInterp.c
//! (`ExecEvalHashedScalarArrayOp`).

use crate::facts::FnFacts;
use crate::host::CallContext;
use crate::kernels::WordComparison;
use crate::program::{Call, Elem};
use foldhash::{HashSet, HashSetExt};
use pgerror::Result;
use types::compare::bpchar_trimmed;
use types::fn_context::{InterruptTicker, SessionContext};
use types::{Datum, DatumRef};

/// Fewer elements are compared one by one. Counterpart: `MIN_ARRAY_SIZE_FOR_HASHED_SAOP`.
const HASHED_MIN: usize = 9;
/// With this many elements, interrupts are checked for each value compared.
const LONG: usize = 1024;
/// User-defined functions have larger OIDs.
const BUILTIN_OID_MAX: u32 = 16_383;

pub(crate) struct Elements {
    pub all: Vec<Datum>,
    set: Option<Set>,
    pub has_null: bool,
}

/// Hash table of the elements, by the representation in which equality is equality of bits.
enum Set {
    Words(HashSet<u64>),
    Bytes(HashSet<Box<[u8]>>),
    Trimmed(HashSet<Box<[u8]>>),
}

impl Elements {
    /// `f`: the function that must be true for one element (`use_or`) or for all; `None` if no hash
    /// table may replace its calls.
    pub(crate) fn new(
        array: &Datum,
        elem: &Elem,
        f: Option<&FnFacts>,
        use_or: bool,
    ) -> Result<Elements> {
        let array = types::array::ArrayRef::new(array.as_ref())?;
        let all: Vec<Datum> = array.iter(&elem.info).map(DatumRef::to_owned).collect();
        let set = match f {
            Some(f) if all.len() >= HASHED_MIN && f.oid.0 <= BUILTIN_OID_MAX => {
                set_of(f, use_or, &all)
            }
            _ => None,
        };
        let has_null = all.iter().any(|d| matches!(d, Datum::Null));
        Ok(Elements { all, set, has_null })
    }

    /// The condition's value by hash look-up: `Some(None)` is NULL; `None` means that there is no
    /// hash table for this value and the elements must be compared one by one.
    #[inline]
    pub(crate) fn result(&self, value: DatumRef<'_>, use_or: bool) -> Option<Option<bool>> {
        let found = self.find(value)?;
        Some(if found || !self.has_null { Some(found == use_or) } else { None })
    }

    /// True if the value equals an element; `None` if there is no hash table for it.
    #[inline]
    fn find(&self, value: DatumRef<'_>) -> Option<bool> {
        Some(match (self.set.as_ref()?, value) {
            (Set::Words(set), DatumRef::Word(w)) => set.contains(&w),
            (Set::Bytes(set), DatumRef::Bytes(b)) => set.contains(b),
            (Set::Trimmed(set), DatumRef::Bytes(b)) => set.contains(bpchar_trimmed(b)),
            _ => return None,
        })
    }

    /// All elements as words, with the comparison that the function is; `None` if an element is
    /// NULL or the function is not such a comparison.
    pub(crate) fn words(&self, call: &Call) -> Option<(Vec<u64>, WordComparison)> {
        let words = self.all.iter().map(|d| match d {
            Datum::Word(w) => Some(*w),
            _ => None,
        });
        Some((words.collect::<Option<_>>()?, call.words?))
    }
}

/// The hash table for `x = ANY` or `x <> ALL`, if the function is an equality (or the negator of
/// one) that compares bits.
fn set_of(f: &FnFacts, use_or: bool, all: &[Datum]) -> Option<Set> {
    let bytes = |trim: fn(&[u8]) -> &[u8]| {
        let mut set = HashSet::with_capacity(all.len());
        set.extend(all.iter().filter_map(|d| match d {
            Datum::Bytes(b) => Some(Box::from(trim(b))),
            _ => None,
        }));
        set
    };
    let equality = match (use_or, &*f.name) {
        (true, name) => name,
        (false, "int2ne") => "int2eq",
        (false, "int4ne") => "int4eq",
        (false, "int8ne") => "int8eq",
        (false, "int24ne" | "int42ne" | "int28ne" | "int82ne" | "int48ne" | "int84ne") => "int48eq",
        (false, "date_ne") => "date_eq",
        (false, "timestamp_ne" | "timestamptz_ne") => "timestamp_eq",
        (false, "textne") => "texteq",
        (false, "byteane") => "byteaeq",
        (false, "uuid_ne") => "uuid_eq",
        (false, "bpcharne") => "bpchareq",
        _ => return None,
    };
    match equality {
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

/// Reduces `rows` to those for which the condition is true. `value(i, row)` is the scalar operand
/// of the `i`-th of them.
pub(crate) fn retain<'a>(
    elements: &Elements,
    use_or: bool,
    call: &Call,
    rows: &mut Vec<u16>,
    mut value: impl FnMut(usize, u16) -> DatumRef<'a>,
    cx: &mut CallContext<'_>,
) -> Result<()> {
    if elements.all.is_empty() {
        // The result does not depend on the operand, which may be NULL.
        if use_or {
            rows.clear();
        }
        return Ok(());
    }
    let words = elements.words(call);
    let mut failure = None;
    let mut at = 0;
    let mut ticker = InterruptTicker::default();
    rows.retain(|&r| {
        let v = value(at, r);
        at += 1;
        if v.is_null() || failure.is_some() {
            return false;
        }
        if let Some(result) = elements.result(v, use_or) {
            return result == Some(true);
        }
        if let (Some((words, comparison)), DatumRef::Word(w)) = (&words, v) {
            let test = comparison.test[0];
            if words.len() >= LONG {
                failure = cx.check_interrupts().err();
            }
            return match use_or {
                true => words.iter().any(|&c| test(w, c)),
                false => words.iter().all(|&c| test(w, c)),
            };
        }
        // NULL does not end ALL: a later element may raise an error.
        let mut known = true;
        for e in &elements.all {
            let result = match e {
                Datum::Null => None,
                e => match ticker.tick(cx).and_then(|()| (call.f)(cx, &[v, e.as_ref()])) {
                    Ok(result) => (!result.is_null()).then(|| result.as_ref().as_bool()),
                    Err(e) => {
                        failure = Some(e);
                        return false;
                    }
                },
            };
            match result {
                Some(hit) if hit == use_or => return use_or,
                Some(_) => {}
                None => known = false,
            }
        }
        !use_or && known
    });
    failure.map_or(Ok(()), Err)
}
