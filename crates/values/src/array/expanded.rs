//! Arrays in their expanded form, for variables of functions: each element is found and changed in
//! constant time. Counterpart: array_expanded.c.
//!
//! The owner keeps a datum beside the expanded form. As long as no element has changed, it is the
//! array in its on-disk format, in which the expanded form only knows the places of the elements.
//! After a change it is the header of the array: its dimensions without elements.

use super::access::{checked_length, subscript_error};
use super::payload::{ArrayRef, array_header, build, check_bounds, read_element, too_many_bytes};
use crate::datum::{Datum, DatumRef};
use crate::fn_context::TypeInfo;
use crate::limits::ALLOCATION_BYTES_MAX;
use pgerror::Result;
use std::cell::OnceCell;

/// An element.
enum Item {
    Null,
    Word(u64),
    /// At or after this offset among the elements of the array that was expanded.
    Base(u32),
    Own(Box<[u8]>),
}

/// The elements of an array.
pub struct Expanded {
    elem: TypeInfo,
    items: Vec<Item>,
    /// The array that was expanded, if the owner's datum is only the header.
    base: Option<Box<[u8]>>,
    /// The offset of the elements in it.
    start: usize,
    /// Size of the elements in the on-disk format, in bytes.
    size: usize,
    /// The array in the on-disk format, if it was read since the last change.
    flat: OnceCell<Datum>,
}

impl Expanded {
    /// Expands an array. 53200 if there is not enough memory.
    pub fn of(array: DatumRef<'_>, elem: &TypeInfo) -> Result<Expanded> {
        let array = ArrayRef::new(array)?;
        let start = array.data_start();
        let data = array.payload().get(start..).unwrap_or_default();
        let mut items = crate::memory::with_capacity(array.count())?;
        let (mut at, has_nulls) = (0, array.has_null_bitmap());
        for i in 0..array.count() {
            if has_nulls && array.is_null(i) {
                items.push(Item::Null);
                continue;
            }
            let (value, end) = read_element(elem, data, at);
            items.push(match value {
                DatumRef::Word(word) => Item::Word(word),
                _ => Item::Base(u32::try_from(at).unwrap_or(u32::MAX)),
            });
            at = end;
        }
        let (elem, size, flat) = (*elem, data.len(), OnceCell::new());
        Ok(Expanded { elem, items, base: None, start, size, flat })
    }

    /// Whether an element has changed, so that the owner's datum is only the header.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.base.is_some()
    }

    /// An element; NULL outside the bounds or if the number of subscripts differs. `owner` is the
    /// owner's datum.
    #[inline]
    pub fn get<'a>(&'a self, owner: &'a Datum, subscripts: &[i32]) -> DatumRef<'a> {
        match ArrayRef::checked(owner.as_ref()).offset_of(subscripts) {
            Some(at) => self.item(owner.as_ref(), &self.items[at]),
            None => DatumRef::Null,
        }
    }

    #[inline]
    fn item<'a>(&'a self, owner: DatumRef<'a>, item: &'a Item) -> DatumRef<'a> {
        match item {
            Item::Null => DatumRef::Null,
            Item::Word(word) => DatumRef::Word(*word),
            Item::Own(bytes) => DatumRef::Bytes(bytes),
            Item::Base(at) => {
                let base = self.base.as_deref().unwrap_or_else(|| owner.as_bytes());
                let data = base.get(self.start..).unwrap_or_default();
                read_element(&self.elem, data, *at as usize).0
            }
        }
    }

    /// The array in its on-disk format. 54000 if it is too large, 53200 if there is not enough
    /// memory.
    pub fn whole<'a>(&'a self, owner: &'a Datum) -> Result<&'a Datum> {
        if !self.is_changed() {
            return Ok(owner);
        }
        if let Some(flat) = self.flat.get() {
            return Ok(flat);
        }
        let flat = self.flatten(owner)?;
        Ok(self.flat.get_or_init(|| flat))
    }

    fn flatten(&self, owner: &Datum) -> Result<Datum> {
        let shape = ArrayRef::checked(owner.as_ref());
        let items = self.items.iter().map(|item| self.item(DatumRef::Null, item));
        build(&self.elem, &shape.dims(), &shape.lower_bounds(), items)
    }

    /// As [`Expanded::whole`], where the expanded form is not needed any more.
    pub fn into_whole(mut self, owner: Datum) -> Result<Datum> {
        if !self.is_changed() {
            return Ok(owner);
        }
        match self.flat.take() {
            Some(flat) => Ok(flat),
            None => self.flatten(&owner),
        }
    }

    /// The bytes that a value has among the elements.
    fn size_of(&self, value: DatumRef<'_>) -> usize {
        let align = self.elem.align_bytes();
        match (value, self.elem.len) {
            (DatumRef::Null, _) => 0,
            (DatumRef::Bytes(b), -1) => (b.len() + 4).next_multiple_of(align),
            (DatumRef::Bytes(b), -2) => b.len() + 1,
            (_, len) => (len.max(0) as usize).next_multiple_of(align),
        }
    }

    /// Prepares a change: the owner's datum becomes the header.
    fn own(&mut self, owner: &mut Datum) {
        self.flat.take();
        if self.base.is_none() {
            let header = array_header(ArrayRef::checked(owner.as_ref()));
            if let Datum::Bytes(base) = std::mem::replace(owner, header) {
                self.base = Some(base);
            }
        }
    }

    /// Sets an element. An array of one dimension is extended with NULLs as needed.
    /// 2202E for subscripts that it cannot have, 54000 if it becomes too large, 53200 if there is
    /// not enough memory.
    pub fn set(&mut self, owner: &mut Datum, subscripts: &[i32], value: Datum) -> Result<()> {
        let shape = ArrayRef::checked(owner.as_ref());
        if shape.ndim() != subscripts.len() {
            return Err(subscript_error("wrong number of array subscripts"));
        }
        let at = match (shape.offset_of(subscripts), subscripts) {
            (Some(at), _) => at,
            (None, [subscript]) => self.extend(owner, *subscript)?,
            (None, _) => return Err(subscript_error("array subscript out of range")),
        };
        let before = self.size_of(self.item(owner.as_ref(), &self.items[at]));
        self.size = self.size.saturating_sub(before);
        self.add(value.as_ref())?;
        self.own(owner);
        self.items[at] = item_of(value);
        Ok(())
    }

    /// Appends an element to an array of one dimension. Errors as [`Expanded::set`].
    pub fn push(&mut self, owner: &mut Datum, value: Datum) -> Result<()> {
        let shape = ArrayRef::checked(owner.as_ref());
        let (length, lower) = (shape.dim(0), shape.lower_bound(0));
        let last = i64::from(lower) + i64::from(length);
        let subscript = i32::try_from(last).map_err(|_| crate::type_io::out_of_range("integer"))?;
        let length = checked_length(lower, subscript)?;
        crate::memory::reserve(&mut self.items, 1)?;
        self.add(value.as_ref())?;
        self.own(owner);
        self.items.push(item_of(value));
        set_bounds(owner, length, lower);
        Ok(())
    }

    /// Counts a new value.
    fn add(&mut self, value: DatumRef<'_>) -> Result<()> {
        let size = self.size.saturating_add(self.size_of(value));
        if size > ALLOCATION_BYTES_MAX {
            return Err(too_many_bytes());
        }
        self.size = size;
        Ok(())
    }

    /// Adds NULLs before or after the elements of an array of one dimension, so that it has this
    /// subscript; returns the position of that element.
    fn extend(&mut self, owner: &mut Datum, subscript: i32) -> Result<usize> {
        let shape = ArrayRef::checked(owner.as_ref());
        let (length, lower) = (shape.dim(0), shape.lower_bound(0));
        let is_before = subscript < lower;
        let (first, last) = match is_before {
            true => (subscript, lower + (length - 1)),
            false => (lower, subscript),
        };
        let longer = checked_length(first, last)?;
        check_bounds(&[longer], &[first])?;
        let more = (longer - length) as usize;
        crate::memory::reserve(&mut self.items, more)?;
        self.own(owner);
        let nulls = std::iter::repeat_with(|| Item::Null).take(more);
        let at = if is_before { 0 } else { self.items.len() };
        self.items.splice(at..at, nulls);
        set_bounds(owner, longer, first);
        Ok(if is_before { 0 } else { self.items.len() - 1 })
    }
}

fn item_of(value: Datum) -> Item {
    match value {
        Datum::Null => Item::Null,
        Datum::Word(word) => Item::Word(word),
        Datum::Bytes(bytes) => Item::Own(bytes),
    }
}

/// Sets length and lower bound of an array of one dimension.
fn set_bounds(owner: &mut Datum, length: i32, lower: i32) {
    if let Datum::Bytes(bytes) = owner
        && let Some(bounds) = bytes.get_mut(12..20)
    {
        bounds[..4].copy_from_slice(&length.to_le_bytes());
        bounds[4..].copy_from_slice(&lower.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::Expanded;
    use crate::array::payload::{build, builtin_info, of_builtin};
    use crate::array::{ArrayRef, get_element, set_element};
    use crate::datum::Datum;
    use ids::Oid;
    use ids::builtin::ty as oids;

    /// Applies the same changes to the expanded and to the on-disk form.
    fn check(elem: Oid, array: Datum, changes: &[(&[i32], Datum)]) {
        let info = builtin_info(elem);
        let (mut owner, mut plain) = (array.clone(), array);
        let mut expanded = Expanded::of(owner.as_ref(), &info).unwrap();
        assert!(!expanded.is_changed());
        for (at, value) in changes {
            let before = get_element(plain.as_ref(), &info, at).unwrap().to_owned();
            assert_eq!(expanded.get(&owner, at), before.as_ref());
            plain = set_element(plain.as_ref(), &info, at, value.as_ref()).unwrap();
            expanded.set(&mut owner, at, value.clone()).unwrap();
            assert_eq!(expanded.get(&owner, at), value.as_ref());
            let (a, b) = (ArrayRef::checked(owner.as_ref()), ArrayRef::checked(plain.as_ref()));
            assert!(a.same_bounds(b) && a.elem_type() == b.elem_type());
            assert_eq!(expanded.whole(&owner).unwrap(), &plain);
        }
        assert_eq!(expanded.into_whole(owner).unwrap(), plain);
    }

    #[test]
    fn elements_are_set() {
        let text = |v: &str| Datum::text(v);
        let long = "x".repeat(300);
        let array = of_builtin(oids::TEXT, &[text("a"), Datum::Null, text("ccc")]).unwrap();
        check(
            oids::TEXT,
            array,
            &[
                (&[2], text("bb")),
                (&[3], text(&long)),
                (&[1], Datum::Null),
                (&[6], text("f")),
                (&[-1], text("front")),
                (&[3], text("")),
            ],
        );
        let array = of_builtin(oids::INT4, &[Datum::int4(1), Datum::int4(-2)]).unwrap();
        check(
            oids::INT4,
            array,
            &[(&[1], Datum::Null), (&[4], Datum::int4(7)), (&[3], Datum::int4(i32::MIN))],
        );
        let values = [1, 2, 3, 4].map(Datum::int4);
        let refs = values.iter().map(Datum::as_ref);
        let array = build(&builtin_info(oids::INT4), &[2, 2], &[0, 5], refs).unwrap();
        check(oids::INT4, array, &[(&[1, 5], Datum::Null), (&[0, 6], Datum::int4(9))]);
    }

    #[test]
    fn elements_are_appended() {
        let info = builtin_info(oids::TEXT);
        let mut owner = of_builtin(oids::TEXT, &[Datum::text("a")]).unwrap();
        let mut expanded = Expanded::of(owner.as_ref(), &info).unwrap();
        expanded.push(&mut owner, Datum::Null).unwrap();
        expanded.push(&mut owner, Datum::text("c")).unwrap();
        let wanted = [Datum::text("a"), Datum::Null, Datum::text("c")];
        assert_eq!(expanded.whole(&owner).unwrap(), &of_builtin(oids::TEXT, &wanted).unwrap());
    }

    #[test]
    fn changes_of_the_structure_are_refused() {
        let info = builtin_info(oids::TEXT);
        let mut owner = of_builtin(oids::TEXT, &[Datum::text("a")]).unwrap();
        let mut expanded = Expanded::of(owner.as_ref(), &info).unwrap();
        for at in [&[1, 1][..], &[i32::MAX], &[i32::MIN]] {
            assert!(expanded.set(&mut owner, at, Datum::text("b")).is_err(), "{at:?}");
        }
        assert!(expanded.get(&owner, &[2]).is_null() && expanded.get(&owner, &[1, 1]).is_null());
        assert!(!expanded.is_changed());
    }
}
