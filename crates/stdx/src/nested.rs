//! A box for values that contain values of their own kind.

use crate::stack::deep;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Owns a value on the heap, as a `Box` does. Clone, comparison and drop run with enough stack,
/// however deeply such boxes are nested.
pub struct Nested<T>(Option<Box<T>>);

impl<T> Nested<T> {
    pub fn new(value: T) -> Nested<T> {
        Nested(Some(Box::new(value)))
    }

    pub fn into_inner(mut self) -> T {
        *self.0.take().expect("only into_inner and drop empty the box")
    }
}

impl<T> Deref for Nested<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.as_ref().expect("only into_inner and drop empty the box")
    }
}

impl<T> DerefMut for Nested<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect("only into_inner and drop empty the box")
    }
}

impl<T> Drop for Nested<T> {
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            deep(|| drop(value));
        }
    }
}

impl<T: Clone> Clone for Nested<T> {
    fn clone(&self) -> Nested<T> {
        deep(|| Nested::new((**self).clone()))
    }
}

impl<T: PartialEq> PartialEq for Nested<T> {
    fn eq(&self, other: &Nested<T>) -> bool {
        deep(|| **self == **other)
    }
}

impl<T: Eq> Eq for Nested<T> {}

impl<T: Default> Default for Nested<T> {
    fn default() -> Nested<T> {
        Nested::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Nested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deep(|| (**self).fmt(f))
    }
}

#[cfg(test)]
mod tests {
    use super::Nested;

    #[derive(Clone, PartialEq, Debug, Default)]
    struct List {
        pad: [u64; 16],
        next: Option<Nested<List>>,
    }

    #[test]
    fn clone_comparison_and_drop_work_at_any_depth() {
        let run = || {
            let mut list = List::default();
            for _ in 0..200_000 {
                list = List { next: Some(Nested::new(list)), ..List::default() };
            }
            let copy = list.clone();
            assert!(copy == list);
            assert!(copy.next.is_some_and(|n| n.into_inner().next.is_some()));
        };
        let thread = std::thread::Builder::new().stack_size(4 << 20);
        thread.spawn(run).unwrap().join().unwrap();
    }
}
