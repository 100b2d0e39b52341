//! The calling conventions of built-in functions, and the entries of their tables.

use crate::batch::Column;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::FnContext;
use pgerror::{PgError, Result};
use std::any::Any;

/// An ordinary function. The caller checks `proisstrict`. Arguments that are not SQL values have
/// these representations: a `cstring` is its bytes, the `internal` argument of a receive function
/// is the whole message field as bytes, and a VARIADIC parameter is an array.
pub type ScalarFn = fn(&mut dyn FnContext, &[DatumRef<'_>]) -> Result<Datum>;

/// Transition function of an aggregate whose state type is `internal`; the state is not among
/// `args`.
pub type TransFn = fn(&mut dyn FnContext, &mut AggState, &[DatumRef<'_>]) -> Result<()>;

/// Final function over an `internal` state. It may be called several times (window frames), so it
/// does not change the state. `args`: the extra arguments of `aggfinalextra`, or the direct
/// arguments of an ordered-set aggregate.
pub type FinalFn = fn(&mut dyn FnContext, &mut AggState, &[DatumRef<'_>]) -> Result<Datum>;

/// Merges the second `internal` state into the first.
pub type CombineFn = fn(&mut dyn FnContext, &mut AggState, &AggState) -> Result<()>;

/// Starts a set-returning function.
pub type SrfFn = fn(&mut dyn FnContext, &[DatumRef<'_>]) -> Result<Box<dyn SetSource>>;

/// The rows of a set-returning function.
pub trait SetSource: Send {
    /// Appends the columns of the next row (one for a scalar result) to `out`, which is empty at
    /// the call; false at the end of the set.
    fn next(&mut self, cx: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool>;

    /// For a set of scalars: appends up to `rows` values to the column; false at the end of the
    /// set.
    fn fill(&mut self, cx: &mut dyn FnContext, column: &mut Column, rows: usize) -> Result<bool> {
        let mut out = Vec::with_capacity(1);
        for _ in 0..rows {
            out.clear();
            if !self.next(cx, &mut out)? {
                return Ok(false);
            }
            match out.as_slice() {
                [value] => column.push(value.as_ref()),
                other => {
                    let count = other.len();
                    return Err(PgError::internal(format!("a set of {count} columns as of one")));
                }
            }
        }
        Ok(true)
    }
}

/// A set of scalars in memory.
pub struct VecSource(pub std::vec::IntoIter<Datum>);

impl VecSource {
    /// A set of these scalars.
    pub fn boxed(rows: Vec<Datum>) -> Box<dyn SetSource> {
        Box::new(VecSource(rows.into_iter()))
    }
}

impl SetSource for VecSource {
    fn next(&mut self, _: &mut dyn FnContext, out: &mut Vec<Datum>) -> Result<bool> {
        Ok(self.0.next().map(|d| out.push(d)).is_some())
    }

    fn fill(&mut self, _: &mut dyn FnContext, column: &mut Column, rows: usize) -> Result<bool> {
        self.0.by_ref().take(rows).for_each(|d| column.push(d.as_ref()));
        Ok(self.0.len() > 0)
    }
}

/// State of an aggregate of type `internal`: NULL at first, then a value of the function's own
/// type.
#[derive(Default)]
pub struct AggState(Option<Box<dyn Any + Send>>);

impl AggState {
    /// A state with this value.
    pub fn new<T: Any + Send>(value: T) -> AggState {
        AggState(Some(Box::new(value)))
    }

    /// Whether the state is NULL.
    pub fn is_null(&self) -> bool {
        self.0.is_none()
    }

    /// The state, if there is one and it is a `T`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.as_deref().and_then(|s| s.downcast_ref())
    }

    /// The state, if there is one and it is a `T`.
    pub fn get_mut<T: Any>(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut().and_then(|s| s.downcast_mut())
    }

    /// The state, initialized by `new` if it is NULL. Panics if it has another type, because then
    /// the catalog combines support functions of different aggregates.
    pub fn get_or<T: Any + Send>(&mut self, new: impl FnOnce() -> T) -> &mut T {
        let state = self.0.get_or_insert_with(|| Box::new(new()));
        state.downcast_mut().expect("aggregate state of this function's type")
    }
}

/// The kinds of built-in functions.
#[derive(Clone, Copy)]
pub enum BuiltinFn {
    Scalar(ScalarFn),
    Srf(SrfFn),
    Trans(TransFn),
    Final(FinalFn),
    Combine(CombineFn),
}

/// A built-in function.
#[derive(Clone, Copy)]
pub struct Builtin {
    /// `pg_proc.prosrc`.
    pub name: &'static str,
    pub f: BuiltinFn,
}

impl Builtin {
    /// The function pointer if this is an ordinary function.
    pub fn scalar(&self) -> Option<ScalarFn> {
        match self.f {
            BuiltinFn::Scalar(f) => Some(f),
            _ => None,
        }
    }
}

/// The ordinary function with this `pg_proc.prosrc` in one of these tables.
pub fn scalar_in(tables: &[&[Builtin]], prosrc: &str) -> Option<ScalarFn> {
    tables.iter().flat_map(|t| t.iter()).find(|b| b.name == prosrc)?.scalar()
}
