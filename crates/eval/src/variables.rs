//! The variables of a function as the input row of expressions. An array may be in its expanded
//! form, in which each element is read and changed in constant time; it gets its on-disk form when
//! an expression reads it as a whole.

use pgerror::{PgError, Result};
use std::cell::{Cell, OnceCell};
use types::array::{self, ArrayRef, Expanded};
use types::fn_context::TypeInfo;
use types::{Datum, DatumRef};

/// The values of variables by number. The number of variables is fixed by [`Variables::reset`].
#[derive(Default)]
pub struct Variables {
    /// Of arrays whose expanded form has changed only the header.
    values: Vec<Datum>,
    arrays: Vec<ArrayState>,
    /// The error of an array that could not be read as a whole.
    failure: Cell<Option<Box<PgError>>>,
}

/// What is known about the array in a variable.
#[derive(Default)]
struct ArrayState {
    expanded: OnceCell<Box<Expanded>>,
    /// Number of elements that were passed to find others. The array is expanded when it exceeds
    /// the number of its elements.
    passed: Cell<usize>,
}

impl Variables {
    /// Makes all variables NULL, after [`Variables::clear`] or for new ones.
    pub fn reset(&mut self, count: usize) {
        self.values.resize(count, Datum::Null);
        self.arrays.resize_with(count, ArrayState::default);
    }

    /// Makes all variables NULL.
    pub fn clear(&mut self) {
        for value in &mut self.values {
            *value = Datum::Null;
        }
        self.arrays.iter_mut().for_each(ArrayState::forget);
        if self.failure.get_mut().is_some() {
            self.failure.take();
        }
    }

    /// Assigns a value.
    #[inline]
    pub fn set(&mut self, at: usize, value: Datum) {
        self.arrays[at].forget();
        self.values[at] = value;
    }

    /// Assigns a value of a type that is passed by value to a variable of such a type.
    #[inline]
    pub fn set_word(&mut self, at: usize, word: u64) {
        match &mut self.values[at] {
            // A variable whose value is a word has no array state.
            Datum::Word(value) => *value = word,
            _ => self.set(at, Datum::Word(word)),
        }
    }

    /// Assigns a copy of a value. The memory of a value of the same length is used again.
    #[inline]
    pub fn set_copy(&mut self, at: usize, value: DatumRef<'_>) {
        match (&mut self.values[at], value) {
            (Datum::Word(old), DatumRef::Word(word)) => *old = word,
            (Datum::Bytes(old), DatumRef::Bytes(bytes)) if old.len() == bytes.len() => {
                self.arrays[at].forget();
                old.copy_from_slice(bytes);
            }
            _ => self.set(at, value.to_owned()),
        }
    }

    /// A value that is not an array. Of an array, only whether it is NULL, its dimensions and
    /// bounds may be read.
    #[inline]
    pub fn header(&self, at: usize) -> &Datum {
        &self.values[at]
    }

    /// The value. An array that is too large is NULL; [`Variables::check`] returns the error.
    #[inline]
    pub fn get(&self, at: usize) -> &Datum {
        match self.arrays[at].expanded.get() {
            Some(expanded) if expanded.is_changed() => self.whole(at, expanded),
            _ => &self.values[at],
        }
    }

    #[cold]
    fn whole<'a>(&'a self, at: usize, expanded: &'a Expanded) -> &'a Datum {
        expanded.whole(&self.values[at]).unwrap_or_else(|e| {
            self.failure.set(Some(Box::new(e)));
            &Datum::Null
        })
    }

    /// The error of a value that was read and could not be formed.
    #[inline]
    pub fn check(&mut self) -> Result<()> {
        if self.failure.get_mut().is_none() {
            return Ok(());
        }
        self.failure.take().map_or(Ok(()), |e| Err(*e))
    }

    /// Moves a value out of its variable, which becomes NULL.
    pub fn take(&mut self, at: usize) -> Result<Datum> {
        let value = std::mem::take(&mut self.values[at]);
        self.arrays[at].passed.set(0);
        match self.arrays[at].expanded.take() {
            Some(expanded) => expanded.into_whole(value),
            None => Ok(value),
        }
    }

    /// An element of an array; NULL outside the bounds, or if the number of subscripts differs.
    #[inline]
    pub fn element(&self, at: usize, elem: &TypeInfo, subscripts: &[i32]) -> Result<DatumRef<'_>> {
        let value = &self.values[at];
        if value.is_null() {
            return Ok(DatumRef::Null);
        }
        if let Some(expanded) = self.arrays[at].expanded.get() {
            return Ok(expanded.get(value, subscripts));
        }
        match array::direct_element(value.as_ref(), elem, subscripts)? {
            Ok(element) => Ok(element),
            Err(pass) => self.found_element(at, elem, subscripts, pass),
        }
    }

    /// As [`Variables::element`], for an element after `pass` others of varying length.
    fn found_element(
        &self,
        at: usize,
        elem: &TypeInfo,
        subscripts: &[i32],
        pass: usize,
    ) -> Result<DatumRef<'_>> {
        let (value, state) = (&self.values[at], &self.arrays[at]);
        let passed = state.passed.get().saturating_add(pass);
        state.passed.set(passed);
        if passed > ArrayRef::new(value.as_ref())?.count()
            && let Ok(expanded) = Expanded::of(value.as_ref(), elem)
        {
            let expanded = state.expanded.get_or_init(|| Box::new(expanded));
            return Ok(expanded.get(value, subscripts));
        }
        array::get_element(value.as_ref(), elem, subscripts)
    }

    /// Sets an element of an array variable. An array that is NULL or empty becomes one with that
    /// element. Errors as [`Expanded::set`].
    pub fn set_element(
        &mut self,
        at: usize,
        elem: &TypeInfo,
        subscripts: &[i32],
        value: Datum,
    ) -> Result<()> {
        let array = &mut self.values[at];
        if array.is_null() || ArrayRef::dimensions(array.as_ref()) == 0 {
            let array = array::set_element(array.as_ref(), elem, subscripts, value.as_ref())?;
            self.set(at, array);
            return Ok(());
        }
        let state = &mut self.arrays[at];
        if state.expanded.get().is_none()
            && !value.is_null()
            && array::set_in_place(array, elem, subscripts, value.as_ref())?
        {
            return Ok(());
        }
        state.expand(array, elem)?.set(array, subscripts, value)
    }

    /// Whether [`Variables::push_element`] may append to the array: if it is NULL, empty, or of one
    /// dimension.
    pub fn is_list(&self, at: usize) -> bool {
        let array = &self.values[at];
        array.is_null() || ArrayRef::dimensions(array.as_ref()) <= 1
    }

    /// Appends an element to an array variable, as `array_append` does. The array has at most one
    /// dimension. Errors as [`Expanded::push`].
    pub fn push_element(&mut self, at: usize, elem: &TypeInfo, value: Datum) -> Result<()> {
        let array = &mut self.values[at];
        if array.is_null() || ArrayRef::dimensions(array.as_ref()) == 0 {
            let array = array::build_1d(elem, std::slice::from_ref(&value))?;
            self.set(at, array);
            return Ok(());
        }
        let state = &mut self.arrays[at];
        if state.expanded.get().is_none()
            && !value.is_null()
            && array::append_in_place(array, elem, value.as_ref())?
        {
            return Ok(());
        }
        state.expand(array, elem)?.push(array, value)
    }
}

impl std::ops::Index<usize> for Variables {
    type Output = Datum;

    #[inline]
    fn index(&self, at: usize) -> &Datum {
        self.get(at)
    }
}

impl ArrayState {
    #[inline]
    fn forget(&mut self) {
        self.passed.set(0);
        if self.expanded.get().is_some() {
            self.expanded.take();
        }
    }

    /// The expanded form of the array.
    fn expand(&mut self, array: &Datum, elem: &TypeInfo) -> Result<&mut Expanded> {
        if self.expanded.get().is_none() {
            let _ = self.expanded.set(Box::new(Expanded::of(array.as_ref(), elem)?));
        }
        match self.expanded.get_mut() {
            Some(expanded) => Ok(expanded),
            None => Err(PgError::internal("array without its expanded form")),
        }
    }
}
