//! Reading and building arrays in their on-disk format.

use crate::builtin_types;
use crate::datum::{Datum, DatumRef};
use crate::fn_context::{FnContext, TypeInfo};
use crate::limits::{ALLOCATION_BYTES_MAX, allocate};
use crate::pieces;
use ids::Oid;
use ids::builtin::ty as oids;
use ids::code::TypType;
use pgerror::{Result, pg_err};

/// The largest number of dimensions.
pub const MAX_DIMS: usize = 6;

/// Bytes before the dimensions: their number, the offset of the elements, the element type.
const FIXED_HEADER: usize = 12;

/// A borrowed array in its on-disk format.
///
/// INVARIANT: the header is within the bytes, the number of elements is at most 8 times the number
/// of bytes, and the last subscript of each dimension fits an int4 ([`ArrayRef::new`]). The
/// elements themselves may be damaged: those that extend beyond the bytes read as zeros.
#[derive(Clone, Copy)]
pub struct ArrayRef<'a> {
    bytes: &'a [u8],
}

/// The word at an offset; 0 beyond the bytes.
#[inline]
fn i32_at(b: &[u8], at: usize) -> i32 {
    let word = b.get(at..).and_then(|b| b.first_chunk());
    word.map_or(0, |word| i32::from_le_bytes(*word))
}

/// XX001: an array in a damaged row.
#[cold]
fn damaged() -> pgerror::PgError {
    pg_err!(DATA_CORRUPTED, "array is corrupted")
}

impl<'a> ArrayRef<'a> {
    /// The array in a datum that is not NULL. XX001 or 54000 if its header is damaged.
    #[inline]
    pub fn new(d: DatumRef<'a>) -> Result<ArrayRef<'a>> {
        let array = ArrayRef { bytes: d.as_bytes() };
        array.check()?;
        Ok(array)
    }

    /// As [`ArrayRef::new`]; a damaged array has no elements.
    pub fn or_empty(d: DatumRef<'a>) -> ArrayRef<'a> {
        ArrayRef::new(d).unwrap_or(ArrayRef { bytes: &[0; FIXED_HEADER] })
    }

    /// Number of dimensions of an array that may be damaged, or whose elements may have been
    /// removed.
    pub fn dimensions(d: DatumRef<'_>) -> usize {
        ArrayRef::checked(d).ndim()
    }

    /// An array that has been checked. Its elements may have been removed.
    pub(super) fn checked(d: DatumRef<'a>) -> ArrayRef<'a> {
        ArrayRef { bytes: d.as_bytes() }
    }

    /// As [`ArrayRef::new`], for functions that read the dimensions only: the elements may have
    /// been removed.
    #[inline]
    pub fn header(d: DatumRef<'a>) -> Result<ArrayRef<'a>> {
        let array = ArrayRef { bytes: d.as_bytes() };
        array.checked_count()?;
        Ok(array)
    }

    /// Establishes the invariant.
    #[inline]
    fn check(self) -> Result<()> {
        let (count, header) = (self.checked_count()?, FIXED_HEADER + 8 * self.ndim());
        // Each element has at least one byte, or a bit in the bitmap.
        let bytes = match self.has_null_bitmap() {
            _ if count == 0 => Some(0),
            true => self.bytes.get(header..self.data_start()).map(|b| b.len().saturating_mul(8)),
            false => Some(self.bytes.len() - header),
        };
        if bytes.is_none_or(|bytes| bytes < count) { Err(damaged()) } else { Ok(()) }
    }

    /// The number of elements by the dimensions, whose header is within the bytes.
    #[inline]
    fn checked_count(self) -> Result<usize> {
        let ndim = self.ndim();
        if ndim > MAX_DIMS || self.bytes.len() < FIXED_HEADER + 8 * ndim {
            return Err(damaged());
        }
        if ndim == 0 {
            return Ok(0);
        }
        let mut count = 1usize;
        for i in 0..ndim {
            let dim = usize::try_from(self.dim(i)).map_err(|_| too_large())?;
            count = count.checked_mul(dim).filter(|&c| c <= MAX_ELEMENTS).ok_or_else(too_large)?;
            check_bounds(&[self.dim(i)], &[self.lower_bound(i)])?;
        }
        Ok(count)
    }

    /// The array in its on-disk format, without the length word.
    pub fn payload(self) -> &'a [u8] {
        self.bytes
    }

    /// Number of dimensions; 0 for an empty array.
    pub fn ndim(self) -> usize {
        i32_at(self.bytes, 0) as usize
    }

    /// OID of the element type.
    pub fn elem_type(self) -> Oid {
        Oid(i32_at(self.bytes, 8) as u32)
    }

    /// The element type, where the elements have the form of values of the type `like`, if that is
    /// known. XX001 if they do not: the element type is damaged.
    pub fn element_type(self, cx: &mut dyn FnContext, like: Oid) -> Result<TypeInfo> {
        let elem = cx.type_info(self.elem_type())?;
        if like.0 != 0 && like != elem.oid {
            let like = cx.type_info(like)?;
            let is_pseudo = like.kind == TypType::Pseudo;
            if !is_pseudo && (like.by_val, like.len) != (elem.by_val, elem.len) {
                return Err(damaged());
            }
        }
        Ok(elem)
    }

    /// The element type, one of variable length. XX001 if it is another: it is damaged.
    pub fn varlena_type(self, cx: &mut dyn FnContext) -> Result<TypeInfo> {
        let elem = cx.type_info(self.elem_type())?;
        if elem.len == -1 { Ok(elem) } else { Err(damaged()) }
    }

    /// Lengths of all dimensions.
    pub fn dims(self) -> Vec<i32> {
        (0..self.ndim()).map(|i| self.dim(i)).collect()
    }

    /// Lower bounds of all dimensions.
    pub fn lower_bounds(self) -> Vec<i32> {
        (0..self.ndim()).map(|i| self.lower_bound(i)).collect()
    }

    /// Length of dimension `i` (0-based).
    #[inline]
    pub fn dim(self, i: usize) -> i32 {
        i32_at(self.bytes, 12 + 4 * i)
    }

    /// Lower bound of dimension `i` (0-based).
    #[inline]
    pub fn lower_bound(self, i: usize) -> i32 {
        i32_at(self.bytes, 12 + 4 * self.ndim() + 4 * i)
    }

    /// Whether both arrays have the same number of dimensions, lengths and lower bounds.
    pub fn same_bounds(self, other: ArrayRef<'_>) -> bool {
        let n = self.ndim();
        n == other.ndim() && self.bytes[12..12 + 8 * n] == other.bytes[12..12 + 8 * n]
    }

    /// Number of elements.
    #[inline]
    pub fn count(self) -> usize {
        match self.ndim() {
            0 => 0,
            n => (0..n).map(|i| self.dim(i) as usize).product(),
        }
    }

    /// Whether the array has a bitmap of NULL elements; it may have one without NULLs.
    pub fn has_null_bitmap(self) -> bool {
        i32_at(self.bytes, 4) != 0
    }

    /// Offset of the elements in the payload.
    pub(super) fn data_start(self) -> usize {
        match i32_at(self.bytes, 4) {
            0 => align_up(16 + 8 * self.ndim(), 8) - 4,
            offset => (offset as u32 as usize).saturating_sub(4),
        }
    }

    /// Whether element `i`, in storage order, is NULL.
    pub fn is_null(self, i: usize) -> bool {
        if !self.has_null_bitmap() {
            return false;
        }
        let at = FIXED_HEADER + 8 * self.ndim() + i / 8;
        self.bytes.get(at).is_some_and(|byte| byte >> (i % 8) & 1 == 0)
    }

    /// Whether any element is NULL.
    pub fn contains_null(self) -> bool {
        self.has_null_bitmap() && (0..self.count()).any(|i| self.is_null(i))
    }

    /// The elements in storage order.
    pub fn iter(self, elem: &TypeInfo) -> Elements<'a> {
        let data = self.bytes.get(self.data_start()..).unwrap_or_default();
        let (has_nulls, word) = (self.has_null_bitmap(), StoredWord::of(elem));
        let count = self.count();
        Elements { array: self, elem: *elem, word, has_nulls, data, at: 0, next: 0, count }
    }

    /// All elements in storage order. 53200 if there is not enough memory for the list.
    pub fn elements(self, elem: &TypeInfo) -> Result<Vec<DatumRef<'a>>> {
        let mut all = crate::memory::with_capacity(self.count())?;
        all.extend(self.iter(elem));
        Ok(all)
    }

    /// Element `i` in storage order.
    pub fn nth(self, elem: &TypeInfo, i: usize) -> DatumRef<'a> {
        if elem.len > 0 && !self.has_null_bitmap() && i < self.count() {
            let width = align_up(elem.len as usize, elem.align_bytes());
            let data = self.bytes.get(self.data_start()..).unwrap_or_default();
            return read_element(elem, data, i * width).0;
        }
        self.iter(elem).nth(i).unwrap_or_default()
    }
}

/// Iterator over an array's elements.
pub struct Elements<'a> {
    array: ArrayRef<'a>,
    elem: TypeInfo,
    word: Option<StoredWord>,
    has_nulls: bool,
    data: &'a [u8],
    at: usize,
    next: usize,
    count: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = DatumRef<'a>;

    #[inline]
    fn next(&mut self) -> Option<DatumRef<'a>> {
        if self.next >= self.count {
            return None;
        }
        let i = self.next;
        self.next += 1;
        if self.has_nulls && self.array.is_null(i) {
            return Some(DatumRef::Null);
        }
        if let Some(word) = self.word {
            let (value, end) = word.read(self.data, self.at);
            self.at = end;
            return Some(DatumRef::Word(value));
        }
        let (value, end) = read_element(&self.elem, self.data, self.at);
        self.at = end;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.count - self.next;
        (left, Some(left))
    }
}

/// By-value elements of 4 or 8 bytes, each aligned to its length.
#[derive(Clone, Copy)]
enum StoredWord {
    Signed4,
    Unsigned4,
    Full,
}

impl StoredWord {
    fn of(elem: &TypeInfo) -> Option<StoredWord> {
        match (elem.by_val, elem.len) {
            (true, 4) if elem.align_bytes() != 4 => None,
            (true, 4) if elem.is_unsigned_word() => Some(StoredWord::Unsigned4),
            (true, 4) => Some(StoredWord::Signed4),
            (true, 8) if elem.align_bytes() == 8 => Some(StoredWord::Full),
            _ => None,
        }
    }

    /// The word at `at`, and the offset of its end.
    #[inline]
    fn read(self, data: &[u8], at: usize) -> (u64, usize) {
        match self {
            StoredWord::Signed4 => (i32_at(data, at) as i64 as u64, at + 4),
            StoredWord::Unsigned4 => ((i32_at(data, at) as u32).into(), at + 4),
            StoredWord::Full => {
                let word = data.get(at..).and_then(|b| b.first_chunk());
                (word.map_or(0, |word| u64::from_le_bytes(*word)), at + 8)
            }
        }
    }
}

fn align_up(n: usize, to: usize) -> usize {
    n.div_ceil(to) * to
}

impl TypeInfo {
    /// The type's alignment in bytes.
    pub fn align_bytes(&self) -> usize {
        self.align.bytes()
    }

    /// Whether a 4-byte word of this type is zero-extended.
    fn is_unsigned_word(&self) -> bool {
        self.kind == TypType::Enum
            || matches!(self.oid, oids::FLOAT4 | oids::XID | oids::CID)
            || builtin_types::is_object_id(self.oid)
    }
}

/// A value of a fixed-length type from its bytes.
pub fn read_fixed<'a>(elem: &TypeInfo, bytes: &'a [u8]) -> DatumRef<'a> {
    if !elem.by_val {
        return DatumRef::Bytes(bytes);
    }
    DatumRef::Word(match *bytes {
        [b] if elem.oid == oids::BOOL => b.into(),
        [b] => b as i8 as i64 as u64,
        [a, b] => i16::from_le_bytes([a, b]) as i64 as u64,
        [a, b, c, d] => {
            let word = u32::from_le_bytes([a, b, c, d]);
            if elem.is_unsigned_word() { word.into() } else { word as i32 as i64 as u64 }
        }
        _ => {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[..8]);
            u64::from_le_bytes(word)
        }
    })
}

/// The bytes of an element of fixed length that extends beyond a damaged value.
static ZEROS: [u8; i16::MAX as usize] = [0; i16::MAX as usize];

/// The element at or after offset `at`, and the offset of its end. Of a damaged element that
/// extends beyond the data, the bytes before the end of the data; one of fixed length has zeros.
pub fn read_element<'a>(elem: &TypeInfo, data: &'a [u8], at: usize) -> (DatumRef<'a>, usize) {
    let within = |from: usize, to: usize| {
        let to = to.min(data.len());
        DatumRef::Bytes(data.get(from..to).unwrap_or_default())
    };
    match elem.len {
        -1 => {
            // The byte of a short header is odd and not 1; padding is zero.
            let first = data.get(at).copied().unwrap_or_default();
            if first & 1 == 1 && first != 1 {
                let end = at + usize::from(first >> 1);
                return (within(at + 1, end), end);
            }
            let at = align_up(at, elem.align_bytes());
            let end = at + (i32_at(data, at) as u32 >> 2).max(4) as usize;
            (within(at + 4, end), end)
        }
        -2 => {
            let rest = data.get(at..).unwrap_or_default();
            let len = rest.iter().position(|&c| c == 0).unwrap_or(rest.len());
            (DatumRef::Bytes(&rest[..len]), at + len + 1)
        }
        len => {
            let (at, len) = (align_up(at, elem.align_bytes()), len.max(0) as usize);
            (read_fixed(elem, data.get(at..at + len).unwrap_or(&ZEROS[..len])), at + len)
        }
    }
}

pub(super) fn write_element(elem: &TypeInfo, out: &mut Vec<u8>, start: usize, value: DatumRef<'_>) {
    if elem.len != -2 {
        let at = align_up(out.len() - start, elem.align_bytes());
        out.resize(start + at, 0);
    }
    match (value, elem.len) {
        (DatumRef::Word(w), len) => out.extend_from_slice(&w.to_le_bytes()[..len as usize]),
        (DatumRef::Bytes(b), -1) => {
            out.extend_from_slice(&((b.len() as u32 + 4) << 2).to_le_bytes());
            out.extend_from_slice(b);
        }
        (DatumRef::Bytes(b), -2) => {
            out.extend_from_slice(b);
            out.push(0);
        }
        (DatumRef::Bytes(b), _) => out.extend_from_slice(b),
        (DatumRef::Null, _) => {}
    }
    // The last element is padded too.
    if elem.len != -2 {
        let end = align_up(out.len() - start, elem.align_bytes());
        out.resize(start + end, 0);
    }
}

/// 54000: too many elements or bytes.
pub(crate) fn too_large() -> pgerror::PgError {
    pg_err!(PROGRAM_LIMIT_EXCEEDED, "array size exceeds the maximum allowed ({})", MAX_ELEMENTS)
}

/// PostgreSQL's limit: an array of pointers to the elements has at most 1 GB.
pub(crate) const MAX_ELEMENTS: usize = 0x3fff_ffff / 8;

/// Checks the dimensions and returns their product.
pub(crate) fn count_of(dims: &[i32]) -> Result<usize> {
    let mut count = 1usize;
    if dims.is_empty() {
        return Ok(0);
    }
    for &d in dims {
        let d = usize::try_from(d).map_err(|_| too_large())?;
        count = count.checked_mul(d).filter(|&c| c <= MAX_ELEMENTS).ok_or_else(too_large)?;
    }
    Ok(count)
}

/// 54000 if an upper bound does not fit an int4.
pub(crate) fn check_bounds(dims: &[i32], lower: &[i32]) -> Result<()> {
    for (d, l) in dims.iter().zip(lower) {
        if d.checked_add(*l).is_none() {
            return Err(pg_err!(PROGRAM_LIMIT_EXCEEDED, "array lower bound is too large: {l}"));
        }
    }
    Ok(())
}

/// The header of an array: its dimensions without elements and without NULLs.
pub(super) fn array_header(array: ArrayRef<'_>) -> Datum {
    let mut header = array.bytes[..12 + 8 * array.ndim()].to_vec();
    header[4..8].fill(0);
    Datum::bytes(header)
}

/// The array without elements.
pub fn empty(elem: Oid) -> Datum {
    let mut out = vec![0u8; 12];
    out[8..].copy_from_slice(&elem.0.to_le_bytes());
    Datum::bytes(out)
}

/// An array of `values` in storage order; their number must be the product of `dims`. Without
/// values the result has no dimensions.
pub fn build<'a>(
    elem: &TypeInfo,
    dims: &[i32],
    lower: &[i32],
    values: impl ExactSizeIterator<Item = DatumRef<'a>> + Clone,
) -> Result<Datum> {
    let count = values.len();
    if count == 0 {
        return Ok(empty(elem.oid));
    }
    check_bounds(dims, lower)?;
    let ndim = dims.len();
    let has_nulls = values.clone().any(DatumRef::is_null);
    let bitmap_len = if has_nulls { count.div_ceil(8) } else { 0 };
    let start = align_up(16 + 8 * ndim + bitmap_len, 8);
    let size = start.saturating_add(element_bytes(elem, values.clone())?);
    if size > ALLOCATION_BYTES_MAX {
        return Err(too_many_bytes());
    }
    let mut out = allocate(size)?;
    out.extend_from_slice(&(ndim as u32).to_le_bytes());
    out.extend_from_slice(&(if has_nulls { start as u32 } else { 0 }).to_le_bytes());
    out.extend_from_slice(&elem.oid.0.to_le_bytes());
    dims.iter().chain(lower).for_each(|d| out.extend_from_slice(&d.to_le_bytes()));
    let bitmap_at = out.len();
    out.resize(start - 4, 0);
    if !has_nulls && elem.by_val && elem.len as usize == elem.align_bytes() {
        // Words without padding.
        match elem.len {
            8 => values.for_each(|v| out.extend_from_slice(&v.word().to_le_bytes())),
            4 => values.for_each(|v| out.extend_from_slice(&v.word().to_le_bytes()[..4])),
            2 => values.for_each(|v| out.extend_from_slice(&v.word().to_le_bytes()[..2])),
            _ => values.for_each(|v| out.extend_from_slice(&v.word().to_le_bytes()[..1])),
        }
        return Ok(Datum::bytes(out));
    }
    for (i, v) in values.enumerate() {
        if !v.is_null() {
            if has_nulls {
                out[bitmap_at + i / 8] |= 1 << (i % 8);
            }
            write_element(elem, &mut out, start - 4, v);
        }
    }
    Ok(Datum::bytes(out))
}

/// Like [`build`], of one value repeated; the result may have up to 1 GB.
pub fn build_filled(
    cx: &dyn FnContext,
    elem: &TypeInfo,
    dims: &[i32],
    lower: &[i32],
    value: DatumRef<'_>,
) -> Result<Datum> {
    let count = count_of(dims)?;
    if value.is_null() || count == 0 {
        return build(elem, dims, lower, std::iter::repeat_n(value, count));
    }
    check_bounds(dims, lower)?;
    let one = build(elem, &[1], &[1], std::iter::once(value))?;
    // A one-dimensional array has a header of 20 bytes; each element is padded to the alignment of
    // the next.
    let element = &one.as_ref().as_bytes()[20..];
    let start = align_up(16 + 8 * dims.len(), 8);
    let size = element.len().saturating_mul(count).saturating_add(start);
    if size > ALLOCATION_BYTES_MAX {
        return Err(too_many_bytes());
    }
    let mut out = allocate(size)?;
    out.extend_from_slice(&(dims.len() as u32).to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.extend_from_slice(&elem.oid.0.to_le_bytes());
    dims.iter().chain(lower).for_each(|d| out.extend_from_slice(&d.to_le_bytes()));
    out.resize(start - 4, 0);
    pieces::append_repeated(cx, &mut out, element, element.len() * count)?;
    Ok(Datum::bytes(out))
}

/// 54000: too many bytes in an array.
#[cold]
pub(crate) fn too_many_bytes() -> pgerror::PgError {
    pg_err!(
        PROGRAM_LIMIT_EXCEEDED,
        "array size exceeds the maximum allowed ({ALLOCATION_BYTES_MAX})"
    )
}

/// Size of the elements in an array in bytes, padding included.
fn element_bytes<'a>(
    elem: &TypeInfo,
    values: impl ExactSizeIterator<Item = DatumRef<'a>>,
) -> Result<usize> {
    let align = elem.align_bytes();
    if elem.len > 0 {
        // NULLs are counted too, which overestimates the size a little.
        return Ok(values.len().saturating_mul(align_up(elem.len as usize, align)));
    }
    let mut total = 0usize;
    for v in values {
        let DatumRef::Bytes(b) = v else { continue };
        total += match elem.len {
            -2 => b.len() + 1,
            _ => align_up(b.len() + 4, align),
        };
        if total > ALLOCATION_BYTES_MAX {
            return Err(too_many_bytes());
        }
    }
    Ok(total)
}

/// A one-dimensional array with lower bound 1.
pub fn build_1d(elem: &TypeInfo, values: &[Datum]) -> Result<Datum> {
    build(elem, &[values.len() as i32], &[1], values.iter().map(Datum::as_ref))
}

/// A one-dimensional array of a built-in type.
pub fn of_builtin(elem: Oid, values: &[Datum]) -> Result<Datum> {
    let t = crate::builtin_types::get(elem).expect("a built-in type");
    build_1d(&t.info, values)
}

/// Properties of a built-in element type.
pub fn builtin_info(elem: Oid) -> TypeInfo {
    crate::builtin_types::get(elem).expect("a built-in type").info
}

/// The elements of an array of cstrings as integers: the argument format of `typmodin` functions.
pub fn cstring_integers(array: DatumRef<'_>) -> Result<Vec<i32>> {
    let array = ArrayRef::new(array)?;
    if array.elem_type() != oids::CSTRING {
        return Err(pg_err!(ARRAY_ELEMENT_ERROR, "typmod array must be type cstring[]"));
    }
    if array.ndim() != 1 {
        return Err(pg_err!(ARRAY_SUBSCRIPT_ERROR, "typmod array must be one-dimensional"));
    }
    if array.contains_null() {
        return Err(pg_err!(NULL_VALUE_NOT_ALLOWED, "typmod array must not contain nulls"));
    }
    let info = builtin_info(oids::CSTRING);
    array.iter(&info).map(|d| crate::int::parse_int4(d.as_bytes())).collect()
}
