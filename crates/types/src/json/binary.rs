//! The on-disk format of jsonb. A payload (the varlena without its length word) is a container:
//!
//! ```text
//! 0        4                     4 + 4 · entries
//! header   an entry a child …    the children, keys before values
//! ```
//!
//! The header contains the number of elements or pairs, and whether it is an array, an object, or
//! an array that represents a scalar. An entry contains the type of its child and its length, or in
//! every 32nd entry the offset of its end. Numbers and containers begin at multiples of four. Keys
//! are ordered by length, then bytewise. Counterpart: utils/jsonb.h.

use std::cmp::Ordering;

pub(super) const COUNT: u32 = 0x0fff_ffff;
pub(super) const SCALAR: u32 = 0x1000_0000;
pub(super) const OBJECT: u32 = 0x2000_0000;
pub(super) const ARRAY: u32 = 0x4000_0000;

pub(super) const LENGTH: u32 = 0x0fff_ffff;
pub(super) const TYPE: u32 = 0x7000_0000;
pub(super) const HAS_OFFSET: u32 = 0x8000_0000;
pub(super) const NUMBER: u32 = 0x1000_0000;
pub(super) const FALSE: u32 = 0x2000_0000;
pub(super) const TRUE: u32 = 0x3000_0000;
pub(super) const NULL: u32 = 0x4000_0000;
pub(super) const CONTAINER: u32 = 0x5000_0000;
/// Every `STRIDE`th entry contains an offset instead of a length.
pub(super) const STRIDE: usize = 32;

/// A borrowed array or object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Container<'a>(&'a [u8]);

/// A borrowed value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item<'a> {
    Null,
    Bool(bool),
    /// The payload of a numeric.
    Number(&'a [u8]),
    String(&'a [u8]),
    Container(Container<'a>),
}

/// A child of a container as it is stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child<'a> {
    /// The type in its entry.
    pub ty: u32,
    /// Without the padding before it.
    pub bytes: &'a [u8],
}

impl Child<'_> {
    /// Whether it begins at a multiple of four.
    pub fn is_aligned(&self) -> bool {
        matches!(self.ty, NUMBER | CONTAINER)
    }
}

#[inline]
fn word(b: &[u8], at: usize) -> u32 {
    b.get(at..at + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
}

/// The order of keys in an object.
pub(super) fn key_order(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl<'a> Container<'a> {
    /// The container in a payload of jsonb.
    pub fn new(payload: &'a [u8]) -> Container<'a> {
        Container(payload)
    }

    /// The container in its on-disk format.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    fn header(self) -> u32 {
        word(self.0, 0)
    }

    /// Number of elements of an array, or of pairs of an object; of a damaged container, those
    /// whose entries are within its bytes.
    pub fn len(self) -> usize {
        let entry = if self.is_object() { 8 } else { 4 };
        ((self.header() & COUNT) as usize).min(self.0.len().saturating_sub(4) / entry)
    }

    /// Whether the container is an object.
    pub fn is_object(self) -> bool {
        self.header() & OBJECT != 0
    }

    /// Whether the container is an array that represents a scalar.
    pub fn is_scalar(self) -> bool {
        self.header() & SCALAR != 0
    }

    fn entry(self, i: usize) -> u32 {
        word(self.0, 4 + 4 * i)
    }

    fn offset(self, i: usize) -> usize {
        let mut offset = 0;
        let before = self.0.get(4..4 + 4 * i).unwrap_or_default();
        for e in before.chunks_exact(4).rev() {
            let e = word(e, 0);
            offset += (e & LENGTH) as usize;
            if e & HAS_OFFSET != 0 {
                break;
            }
        }
        offset
    }

    /// Start and end of the `i`th child in the data, given its entry.
    #[inline]
    fn span(self, i: usize, entry: u32) -> (usize, usize) {
        let start = self.offset(i);
        let length = (entry & LENGTH) as usize;
        (start, if entry & HAS_OFFSET != 0 { length } else { start + length })
    }

    /// The data area: all children.
    #[inline]
    fn data(self) -> &'a [u8] {
        let entries = if self.is_object() { 2 * self.len() } else { self.len() };
        self.0.get(4 + 4 * entries..).unwrap_or_default()
    }

    /// The `i`th child: of an object first the keys, then the values.
    fn child(self, i: usize) -> Item<'a> {
        let entry = self.entry(i);
        let (start, end) = self.span(i, entry);
        let data = self.data();
        let from = |start: usize| data.get(start..end).unwrap_or_default();
        match entry & TYPE {
            NULL => Item::Null,
            TRUE => Item::Bool(true),
            FALSE => Item::Bool(false),
            // A numeric is stored with its length word.
            NUMBER => Item::Number(varlena(from(start.next_multiple_of(4)))),
            CONTAINER => Item::Container(Container(from(start.next_multiple_of(4)))),
            _ => Item::String(from(start)),
        }
    }

    /// The `i`th element of an array.
    pub fn element(self, i: usize) -> Item<'a> {
        self.child(i)
    }

    /// The `i`th key of an object.
    pub fn key(self, i: usize) -> &'a [u8] {
        let (start, end) = self.span(i, self.entry(i));
        self.data().get(start..end).unwrap_or_default()
    }

    /// The `i`th value of an object.
    pub fn value(self, i: usize) -> Item<'a> {
        self.child(self.len() + i)
    }

    /// Index of the key in an object.
    pub fn find(self, key: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match key_order(self.key(middle), key) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The value of a key of an object.
    pub fn get(self, key: &[u8]) -> Option<Item<'a>> {
        (self.is_object()).then(|| self.find(key).map(|i| self.value(i))).flatten()
    }

    /// The elements of an array.
    pub fn elements(self) -> impl Iterator<Item = Item<'a>> {
        (0..self.len()).map(move |i| self.element(i))
    }

    /// The keys and values of an object.
    pub fn pairs(self) -> impl Iterator<Item = (&'a [u8], Item<'a>)> {
        (0..self.len()).map(move |i| (self.key(i), self.value(i)))
    }

    /// The children from number `first` to `end` as they are stored.
    fn stored(self, first: usize, end: usize) -> impl Iterator<Item = Child<'a>> {
        let (data, mut offset) = (self.data(), self.offset(first));
        (first..end).map(move |i| {
            let (entry, start) = (self.entry(i), offset);
            let length = (entry & LENGTH) as usize;
            offset = if entry & HAS_OFFSET != 0 { length } else { start + length };
            let mut child = Child { ty: entry & TYPE, bytes: &[] };
            let start = if child.is_aligned() { start.next_multiple_of(4) } else { start };
            child.bytes = data.get(start..offset).unwrap_or_default();
            child
        })
    }

    /// The keys and values of an object as they are stored.
    pub fn stored_pairs(self) -> impl Iterator<Item = (Child<'a>, Child<'a>)> {
        let n = self.len();
        self.stored(0, n).zip(self.stored(n, 2 * n))
    }

    /// The elements of an array as they are stored; an object is its only element.
    pub fn stored_elements(self) -> impl Iterator<Item = Child<'a>> {
        let (count, object) = match self.is_object() {
            true => (0, Some(Child { ty: CONTAINER, bytes: self.0 })),
            false => (self.len(), None),
        };
        self.stored(0, count).chain(object)
    }

    /// The container as a value: the scalar if it represents one.
    pub fn item(self) -> Item<'a> {
        if self.is_scalar() { self.element(0) } else { Item::Container(self) }
    }
}

/// The payload of a varlena with a 1-byte or 4-byte header.
fn varlena(b: &[u8]) -> &[u8] {
    match b.first() {
        Some(first) if first & 1 == 1 => b.get(1..(*first >> 1) as usize).unwrap_or_default(),
        _ => b.get(4..(word(b, 0) >> 2) as usize).unwrap_or_default(),
    }
}
