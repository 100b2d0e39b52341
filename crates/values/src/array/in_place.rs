//! Changes of arrays in place, for variables of functions: of elements of fixed length in arrays
//! without NULLs. The others are made in the expanded form.

use super::payload::{ArrayRef, MAX_ELEMENTS, write_element};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::TypeInfo;
use crate::limits::ALLOCATION_BYTES_MAX;
use pgerror::Result;

/// The offset of the elements of an array of one dimension without NULLs: the number of dimensions,
/// the offset of the elements (0 without NULLs), the element type, one length and one lower bound
/// are before them.
const DATA: usize = 20;
const LENGTH: usize = 12;

/// The length and the lower bound of an array of one dimension without NULLs.
fn shape(array: &[u8]) -> Option<(i32, i32)> {
    let word = |at: usize| {
        let bytes = array.get(at..at + 4)?;
        Some(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    };
    let is_plain = word(0)? == 1 && word(4)? == 0;
    if is_plain { Some((word(LENGTH)?, word(LENGTH + 4)?)) } else { None }
}

/// Sets an element of fixed length in an array without NULLs; it may be the one after the last
/// element of an array of one dimension. False if that needs another form of the array. `value` is
/// not NULL. 53200 if there is not enough memory.
pub fn set_in_place(
    array: &mut Datum,
    elem: &TypeInfo,
    subscripts: &[i32],
    value: DatumRef<'_>,
) -> Result<bool> {
    let Datum::Bytes(bytes) = &mut *array else { return Ok(false) };
    let shape = ArrayRef::new(DatumRef::Bytes(bytes))?;
    if elem.len <= 0 || shape.has_null_bitmap() {
        return Ok(false);
    }
    let Some(at) = shape.offset_of(subscripts) else {
        let is_next = subscripts.len() == 1
            && shape.ndim() == 1
            && i64::from(subscripts[0]) == i64::from(shape.lower_bound(0)) + shape.count() as i64;
        return if is_next { append_in_place(array, elem, value) } else { Ok(false) };
    };
    let from = shape.data_start() + at * (elem.len as usize).next_multiple_of(elem.align_bytes());
    let Some(to) = bytes.get_mut(from..from + elem.len as usize) else { return Ok(false) };
    match value {
        DatumRef::Word(word) => to.copy_from_slice(&word.to_le_bytes()[..elem.len as usize]),
        DatumRef::Bytes(new) if new.len() == to.len() => to.copy_from_slice(new),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Adds an element of fixed length at the end of an array of one dimension without NULLs; false if
/// that needs another form of the array. `value` is not NULL. The memory
/// grows by steps, so that the cost of many elements is proportional to their number. 53200 if
/// there is not enough memory.
pub fn append_in_place(array: &mut Datum, elem: &TypeInfo, value: DatumRef<'_>) -> Result<bool> {
    let Datum::Bytes(bytes) = array else { return Ok(false) };
    ArrayRef::new(DatumRef::Bytes(bytes))?;
    let Some((length, lower)) = shape(bytes) else { return Ok(false) };
    let more = elem.len.max(0) as usize + 16;
    let count = length as usize + 1;
    let fits = count <= MAX_ELEMENTS
        && bytes.len() + more <= ALLOCATION_BYTES_MAX
        && i64::from(lower) + count as i64 <= i64::from(i32::MAX)
        && elem.len > 0;
    if !fits {
        return Ok(false);
    }
    let mut new = Vec::with_capacity(more);
    write_element(elem, &mut new, 0, value);
    if bytes.len() > CHECKED_BYTES {
        crate::memory::admit(bytes.len() + new.len())?;
    }
    let mut grown = Vec::from(std::mem::take(bytes));
    // The elements are aligned relative to the first one.
    let end = DATA + (grown.len() - DATA).next_multiple_of(elem.align_bytes());
    grown.reserve_exact(end - grown.len() + new.len());
    grown.resize(end, 0);
    grown.extend_from_slice(&new);
    grown[LENGTH..LENGTH + 4].copy_from_slice(&(length + 1).to_le_bytes());
    *bytes = grown.into_boxed_slice();
    Ok(true)
}

/// Arrays of at most this length grow without a check of the available memory.
const CHECKED_BYTES: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{append_in_place, set_in_place};
    use crate::array::payload::{build, builtin_info, of_builtin};
    use crate::datum::Datum;
    use ids::Oid;
    use ids::builtin::ty as oids;

    /// The array after the change is the one that is built of the values.
    fn check(elem: Oid, before: &[Datum], index: i32, value: Datum, after: &[Datum]) {
        let info = builtin_info(elem);
        let mut array = of_builtin(elem, before).unwrap();
        let changed = match index {
            0 => append_in_place(&mut array, &info, value.as_ref()).unwrap(),
            index => set_in_place(&mut array, &info, &[index], value.as_ref()).unwrap(),
        };
        assert!(changed);
        assert_eq!(array, of_builtin(elem, after).unwrap());
    }

    #[test]
    fn elements_of_fixed_length_are_set_and_appended() {
        let int = Datum::int4;
        check(oids::INT4, &[int(1), int(2), int(3)], 2, int(-7), &[int(1), int(-7), int(3)]);
        check(oids::INT4, &[int(1)], 0, int(2), &[int(1), int(2)]);
        check(oids::INT4, &[int(1)], 2, int(2), &[int(1), int(2)]);
        let bool = Datum::bool;
        check(
            oids::BOOL,
            &[bool(true), bool(false)],
            0,
            bool(true),
            &[bool(true), bool(false), bool(true)],
        );
        let float = |v: f64| Datum::Word(v.to_bits());
        check(
            oids::FLOAT8,
            &[float(0.5), float(1.5)],
            1,
            float(-2.25),
            &[float(-2.25), float(1.5)],
        );
        check(oids::FLOAT8, &[float(0.5)], 0, float(1.0), &[float(0.5), float(1.0)]);
    }

    #[test]
    fn elements_of_several_dimensions_are_set() {
        let info = builtin_info(oids::INT4);
        let build = |values: [i32; 4]| {
            let values = values.map(Datum::int4);
            build(&info, &[2, 2], &[0, 1], values.iter().map(Datum::as_ref)).unwrap()
        };
        let mut array = build([1, 2, 3, 4]);
        let value = Datum::int4(9);
        assert!(set_in_place(&mut array, &info, &[1, 1], value.as_ref()).unwrap());
        assert_eq!(array, build([1, 2, 9, 4]));
        for at in [&[2, 1][..], &[1], &[1, 3], &[1, 1, 1]] {
            assert!(!set_in_place(&mut array, &info, at, value.as_ref()).unwrap(), "{at:?}");
        }
    }

    #[test]
    fn other_changes_are_left_to_the_caller() {
        let info = builtin_info(oids::INT4);
        let value = Datum::int4(1);
        let mut array = of_builtin(oids::INT4, &[Datum::int4(5)]).unwrap();
        for index in [0, 3, -1, i32::MAX] {
            assert!(!set_in_place(&mut array, &info, &[index], value.as_ref()).unwrap());
        }
        let mut texts = of_builtin(oids::TEXT, &[Datum::text("a")]).unwrap();
        let text = builtin_info(oids::TEXT);
        assert!(!set_in_place(&mut texts, &text, &[1], Datum::text("b").as_ref()).unwrap());
        assert!(!append_in_place(&mut texts, &text, Datum::text("b").as_ref()).unwrap());
        let mut nulls = of_builtin(oids::INT4, &[Datum::Null, Datum::int4(1)]).unwrap();
        let mut empty = crate::array::empty(oids::INT4);
        for array in [&mut nulls, &mut empty, &mut Datum::Null] {
            assert!(!set_in_place(array, &info, &[1], value.as_ref()).unwrap());
            assert!(!append_in_place(array, &info, value.as_ref()).unwrap());
        }
    }
}
