//! Changes of arrays in place, for variables of functions. Only changes that leave the structure of
//! the array as it is are made here; the others make a new array.

use super::payload::{MAX_ELEMENTS, read_element, write_element};
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

/// Sets the element with this subscript, which may be the one after the last element; false if that
/// needs a new array. `value` is not NULL.
/// 53200 if there is not enough memory.
pub fn set_in_place(
    array: &mut Datum,
    elem: &TypeInfo,
    index: i64,
    value: DatumRef<'_>,
) -> Result<bool> {
    let Datum::Bytes(bytes) = array else { return Ok(false) };
    let Some((length, lower)) = shape(bytes) else { return Ok(false) };
    let at = match usize::try_from(index - i64::from(lower)) {
        Ok(at) if at < length as usize => at,
        Ok(at) if at == length as usize => return append_in_place(array, elem, value),
        _ => return Ok(false),
    };
    if elem.len > 0 {
        let align = elem.align_bytes();
        let from = DATA + at * (elem.len as usize).div_ceil(align) * align;
        let Some(to) = bytes.get_mut(from..from + elem.len as usize) else { return Ok(false) };
        match value {
            DatumRef::Word(word) => to.copy_from_slice(&word.to_le_bytes()[..elem.len as usize]),
            DatumRef::Bytes(new) if new.len() == to.len() => to.copy_from_slice(new),
            _ => return Ok(false),
        }
        return Ok(true);
    }
    set_varying(bytes, elem, at, value)
}

/// As [`set_in_place`], for an element of varying length.
fn set_varying(
    array: &mut Box<[u8]>,
    elem: &TypeInfo,
    element: usize,
    value: DatumRef<'_>,
) -> Result<bool> {
    if elem.len != -1 {
        return Ok(false);
    }
    let align = elem.align_bytes();
    let data = &array[DATA..];
    let mut from = 0;
    for _ in 0..element {
        from = read_element(elem, data, from).1;
    }
    let is_short = |at: usize| data.get(at).is_none_or(|b| b & 1 == 1 && *b != 1);
    // An element with a short header is not aligned.
    if is_short(from) {
        return Ok(false);
    }
    from = from.next_multiple_of(align);
    let end = read_element(elem, data, from).1;
    let to = end.next_multiple_of(align);
    // The next element may begin before the aligned offset.
    if data.get(end..to).is_none_or(|padding| padding.iter().any(|b| *b != 0)) {
        return Ok(false);
    }
    let mut new = Vec::new();
    write_element(elem, &mut new, 0, value);
    let (from, to) = (DATA + from, DATA + to);
    if new.len() == to - from {
        array[from..to].copy_from_slice(&new);
        return Ok(true);
    }
    if array.len() + new.len() > ALLOCATION_BYTES_MAX {
        return Ok(false);
    }
    crate::memory::admit(array.len() + new.len())?;
    let mut bytes = Vec::from(std::mem::take(array));
    bytes.splice(from..to, new);
    *array = bytes.into_boxed_slice();
    Ok(true)
}

/// Adds an element at the end; false if that needs a new array. `value` is not NULL. The memory
/// grows by steps, so that the cost of many elements is proportional to their number. 53200 if
/// there is not enough memory.
pub fn append_in_place(array: &mut Datum, elem: &TypeInfo, value: DatumRef<'_>) -> Result<bool> {
    let Datum::Bytes(bytes) = array else { return Ok(false) };
    let Some((length, lower)) = shape(bytes) else { return Ok(false) };
    let more = match value {
        DatumRef::Bytes(value) => value.len() + 16,
        _ => 16,
    };
    let count = length as usize + 1;
    let fits = count <= MAX_ELEMENTS
        && bytes.len() + more <= ALLOCATION_BYTES_MAX
        && i64::from(lower) + count as i64 <= i64::from(i32::MAX)
        && elem.len != -2;
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
    use crate::array::payload::{builtin_info, of_builtin};
    use crate::datum::Datum;
    use ids::Oid;
    use ids::builtin::ty as oids;

    fn text(value: &str) -> Datum {
        Datum::text(value)
    }

    /// The array after the change is the one that is built of the values.
    fn check(elem: Oid, before: &[Datum], index: i64, value: Datum, after: &[Datum]) {
        let info = builtin_info(elem);
        let mut array = of_builtin(elem, before).unwrap();
        let changed = match index {
            0 => append_in_place(&mut array, &info, value.as_ref()).unwrap(),
            index => set_in_place(&mut array, &info, index, value.as_ref()).unwrap(),
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
    fn elements_of_varying_length_are_set_and_appended() {
        let before = [text("a"), text("bcdef"), text("")];
        check(oids::TEXT, &before, 2, text("x"), &[text("a"), text("x"), text("")]);
        check(
            oids::TEXT,
            &before,
            3,
            text("long enough"),
            &[text("a"), text("bcdef"), text("long enough")],
        );
        check(oids::TEXT, &before, 1, text("b"), &[text("b"), text("bcdef"), text("")]);
        check(oids::TEXT, &before, 0, text("q"), &[text("a"), text("bcdef"), text(""), text("q")]);
    }

    #[test]
    fn other_changes_are_left_to_the_caller() {
        let info = builtin_info(oids::INT4);
        let value = Datum::int4(1);
        let mut array = of_builtin(oids::INT4, &[Datum::int4(5)]).unwrap();
        for index in [0, 3, -1, i64::MAX] {
            assert!(!set_in_place(&mut array, &info, index, value.as_ref()).unwrap());
        }
        let mut nulls = of_builtin(oids::INT4, &[Datum::Null, Datum::int4(1)]).unwrap();
        let mut empty = crate::array::empty(oids::INT4);
        for array in [&mut nulls, &mut empty, &mut Datum::Null] {
            assert!(!set_in_place(array, &info, 1, value.as_ref()).unwrap());
            assert!(!append_in_place(array, &info, value.as_ref()).unwrap());
        }
    }
}
