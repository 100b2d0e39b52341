//! Arrays of the parameter values of a session's statements.

use smallvec::SmallVec;
use std::sync::Arc;
use types::Datum;

/// Makes arrays of values. The last array is used again for the next statement if no execution
/// refers to it any more, which saves an allocation for each statement.
pub(crate) struct ParamArrays {
    none: Arc<[Datum]>,
    /// The last array of values that own no memory.
    last: Arc<[Datum]>,
}

impl ParamArrays {
    pub(crate) fn new() -> ParamArrays {
        let none: Arc<[Datum]> = Arc::from([]);
        ParamArrays { last: none.clone(), none }
    }

    /// The array of no values.
    pub(crate) fn none(&self) -> Arc<[Datum]> {
        self.none.clone()
    }

    pub(crate) fn make(&mut self, values: SmallVec<[Datum; 8]>) -> Arc<[Datum]> {
        if values.is_empty() {
            return self.none();
        }
        // Other values would keep their memory until the next statement.
        if values.iter().any(|value| matches!(value, Datum::Bytes(_))) {
            return values.into_vec().into();
        }
        match Arc::get_mut(&mut self.last) {
            Some(last) if last.len() == values.len() => {
                for (place, value) in last.iter_mut().zip(values) {
                    *place = value;
                }
            }
            _ => self.last = values.into_vec().into(),
        }
        self.last.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(arrays: &mut ParamArrays, values: &[i32]) -> Arc<[Datum]> {
        arrays.make(values.iter().map(|v| Datum::int4(*v)).collect())
    }

    #[test]
    fn an_array_is_used_again_only_when_nothing_refers_to_it() {
        let mut arrays = ParamArrays::new();
        let first = array(&mut arrays, &[1, 2]);
        let second = array(&mut arrays, &[3, 4]);
        assert_eq!(
            (&first[..], &second[..]),
            (&[Datum::int4(1), Datum::int4(2)][..], &[Datum::int4(3), Datum::int4(4)][..],)
        );
        let place = second.as_ptr();
        drop(second);
        let third = array(&mut arrays, &[5, 6]);
        assert_eq!((third.as_ptr(), &third[..]), (place, &[Datum::int4(5), Datum::int4(6)][..]));
        drop(third);
        assert_eq!(array(&mut arrays, &[7]).len(), 1);
        assert!(array(&mut arrays, &[]).is_empty());
    }

    #[test]
    fn values_that_own_memory_are_not_kept() {
        let mut arrays = ParamArrays::new();
        let text = arrays.make(SmallVec::from_vec(vec![Datum::Bytes(b"text"[..].into())]));
        assert_eq!(Arc::strong_count(&text), 1);
    }
}
