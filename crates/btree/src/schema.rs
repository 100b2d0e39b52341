//! The definition of an index: columns, their order, options; comparison of tuples.
//!
//! Counterpart: the index part of `RelationData` in rel.h, `index_form_tuple` in indextuple.c.

use access::{IndexColumn, IndexDef, SupportFunction, TupleLayout};
use ids::{OffsetNo, Oid, Tid};
use page::btree::Node;
use page::index_tuple::{IndexShape, IndexTuple};
use page::tupdesc::Attr;
use pgerror::Result;
use std::cmp::Ordering;
use types::DatumRef;
use types::compare::{self, CompareFn, Comparer};

/// Number of the support function that returns whether equality implies equal bytes.
const EQUAL_IMAGE_SUPPORT: u16 = 4;

/// A column of an index.
#[derive(Clone, Debug)]
pub struct KeyColumn {
    /// The operator class's three-way comparison; not called for included columns.
    pub cmp: Comparer,
    pub desc: bool,
    pub nulls_first: bool,
    pub collation: Oid,
    /// How values are stored (of the operator class's storage type).
    pub attr: Attr,
}

/// The definition of an index, built once per open relation.
#[derive(Clone, Debug)]
pub struct KeySchema {
    pub columns: Vec<KeyColumn>,
    /// Number of key columns; the columns after them are included ones.
    pub key_count: usize,
    pub unique: bool,
    /// NULLs conflict with each other in the unique check.
    pub nulls_not_distinct: bool,
    /// Equal keys have equal bytes, so tuples may be deduplicated. Must agree with the meta page.
    pub allequalimage: bool,
    /// Percent of a leaf page that a build or a split at the right end fills.
    pub fillfactor: u32,
    pub deduplicate_items: bool,
    /// Version 4 indexes: the heap TID is the last key column.
    pub heapkeyspace: bool,
    layout: TupleLayout,
    /// By column: how it is compared without a function call, if it can be.
    direct: Box<[Direct]>,
}

/// Types that are compared inline, without a call through the function pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direct {
    No,
    Int4,
    Int8,
    Oid,
}

impl Direct {
    fn of(column: &KeyColumn) -> Direct {
        let is = |f: CompareFn| column.attr.by_val && column.cmp.is(f);
        match column.attr.len {
            4 if is(compare::btint4cmp) => Direct::Int4,
            8 if is(compare::btint8cmp) => Direct::Int8,
            4 if is(compare::btoidcmp) => Direct::Oid,
            _ => Direct::No,
        }
    }

    /// The value as a number of the same order. Bits of `word` above the type's width are ignored.
    #[inline(always)]
    fn number(self, word: u64) -> i64 {
        match self {
            Direct::Int4 => i64::from(word as i32),
            Direct::Oid => i64::from(word as u32),
            Direct::Int8 | Direct::No => word as i64,
        }
    }

    /// The order of two non-null values; `None` for `No`.
    #[inline(always)]
    fn compare(self, value: u64, raw: &[u8]) -> Option<Ordering> {
        match (self, raw) {
            (Direct::Int4, &[a, b, c, d]) => {
                Some((value as i32).cmp(&i32::from_le_bytes([a, b, c, d])))
            }
            (Direct::Oid, &[a, b, c, d]) => {
                Some((value as u32).cmp(&u32::from_le_bytes([a, b, c, d])))
            }
            (Direct::Int8, &[a, b, c, d, e, f, g, h]) => {
                let stored = i64::from_le_bytes([a, b, c, d, e, f, g, h]);
                Some((value as i64).cmp(&stored))
            }
            _ => None,
        }
    }
}

impl KeySchema {
    /// A version 4 index with default options that is not unique.
    pub fn new(columns: Vec<KeyColumn>, key_count: usize) -> KeySchema {
        assert!(key_count >= 1 && key_count <= columns.len());
        KeySchema {
            layout: TupleLayout::new(columns.iter().map(|c| &c.attr)),
            direct: columns.iter().map(Direct::of).collect(),
            columns,
            key_count,
            unique: false,
            nulls_not_distinct: false,
            allequalimage: false,
            fillfactor: page::btree::DEFAULT_FILLFACTOR,
            deduplicate_items: true,
            heapkeyspace: true,
        }
    }

    /// The definition in the form that B-trees use. Error: a key column has no comparison.
    pub fn of(def: &IndexDef) -> Result<KeySchema> {
        let first = def.comparer(0)?;
        let column = |(n, c): (usize, &IndexColumn)| {
            // Included columns are never compared; any comparison function does.
            let cmp = if n < def.key_count { def.comparer(n)? } else { first };
            Ok(KeyColumn {
                cmp: cmp.clone(),
                desc: c.desc,
                nulls_first: c.nulls_first,
                collation: c.collation,
                attr: c.attr.clone(),
            })
        };
        let columns = def.columns.iter().enumerate().map(column).collect::<Result<_>>()?;
        let mut schema = KeySchema::new(columns, def.key_count);
        schema.unique = def.unique;
        schema.nulls_not_distinct = def.nulls_not_distinct;
        // As in PostgreSQL, an index with INCLUDE columns is not deduplicated.
        schema.allequalimage = def.key_count == def.columns.len()
            && def.keys().iter().all(|c| {
                matches!(c.support(EQUAL_IMAGE_SUPPORT), Some(SupportFunction::EqualImage(true)))
            });
        if let Some(fillfactor) = def.option("fillfactor").and_then(|v| v.parse().ok()) {
            schema.fillfactor = fillfactor;
        }
        if let Some(value) = def.option("deduplicate_items") {
            schema.deduplicate_items = access::is_on(value);
        }
        Ok(schema)
    }

    /// A search value for the first column as a number, if that column is compared inline.
    #[inline]
    pub(crate) fn first_number(&self, value: DatumRef<'_>, cmp: Option<&Comparer>) -> Option<i64> {
        match (value, self.direct[0]) {
            (DatumRef::Word(word), direct) if direct != Direct::No && cmp.is_none() => {
                Some(direct.number(word))
            }
            _ => None,
        }
    }

    /// The order of a number from [`KeySchema::first_number`] relative to the first column of the
    /// tuple at `off`; `None` if only the full comparison can decide (NULL or missing column).
    #[inline]
    pub(crate) fn compare_first(
        &self,
        number: i64,
        node: Node<'_>,
        off: OffsetNo,
    ) -> Option<Ordering> {
        let ord = number.cmp(&self.direct[0].number(node.first_word(off)?));
        Some(if self.columns[0].desc { ord.reverse() } else { ord })
    }

    /// The first column of a tuple as a number; `None` if it is NULL or missing. Only if that
    /// column is compared inline.
    #[inline]
    pub(crate) fn first_of(&self, tuple: IndexTuple<'_>) -> Option<i64> {
        tuple.first_word().map(|word| self.direct[0].number(word))
    }

    /// Narrows the range of offsets where `number` belongs, by the first column only. Items before
    /// the first offset are smaller, items from the second offset on are larger.
    #[inline]
    pub(crate) fn narrow(
        &self,
        number: i64,
        node: Node<'_>,
        range: (OffsetNo, OffsetNo),
    ) -> (OffsetNo, OffsetNo) {
        let desc = self.columns[0].desc;
        match self.direct[0] {
            Direct::Int4 => narrow(number, node, range, desc, |w| i64::from(w as i32)),
            Direct::Oid => narrow(number, node, range, desc, |w| i64::from(w as u32)),
            Direct::Int8 | Direct::No => narrow(number, node, range, desc, |w| w as i64),
        }
    }

    /// Number of columns, with included ones.
    #[inline]
    pub fn natts(&self) -> usize {
        self.columns.len()
    }

    #[inline]
    pub fn shape(&self) -> &IndexShape {
        self.layout.shape()
    }

    /// Bytes that a split at the right end leaves free on a leaf.
    pub(crate) fn target_free_space(&self) -> usize {
        page::PAGE_SIZE * (100 - self.fillfactor as usize) / 100
    }

    /// Decodes a value unless it is compressed (or damaged).
    #[inline]
    pub(crate) fn plain_datum<'a>(&self, n: usize, raw: &'a [u8]) -> Option<DatumRef<'a>> {
        self.layout.plain_datum(n, raw)
    }

    /// Decodes stored bytes of column `n`. `scratch` is used for compressed values only.
    #[inline]
    pub(crate) fn datum<'a>(
        &self,
        n: usize,
        raw: Option<&'a [u8]>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<DatumRef<'a>> {
        self.layout.datum(n, raw, scratch)
    }

    /// Column `n` of `tuple`, which has it.
    pub fn column<'a>(
        &self,
        tuple: IndexTuple<'a>,
        n: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<DatumRef<'a>> {
        self.layout.column(tuple, n, scratch)
    }

    /// The order of a search value relative to the stored value of column `n`, by the index's
    /// options (DESC, NULLS FIRST).
    #[inline]
    pub(crate) fn compare_value(
        &self,
        n: usize,
        value: DatumRef<'_>,
        raw: Option<&[u8]>,
        cmp: Option<&Comparer>,
    ) -> Result<Ordering> {
        let col = &self.columns[n];
        if let (Some(raw), None, DatumRef::Word(word)) = (raw, cmp, value)
            && let Some(ord) = self.direct[n].compare(word, raw)
        {
            return Ok(if col.desc { ord.reverse() } else { ord });
        }
        let order = |a: DatumRef<'_>, b: DatumRef<'_>| match cmp {
            Some(cmp) => cmp.order(a, b, col.collation),
            None => col.cmp.order(a, b, col.collation),
        };
        let Some(raw) = raw else {
            return Ok(match (value.is_null(), col.nulls_first) {
                (true, _) => Ordering::Equal,
                (false, true) => Ordering::Greater,
                (false, false) => Ordering::Less,
            });
        };
        if value.is_null() {
            return Ok(if col.nulls_first { Ordering::Less } else { Ordering::Greater });
        }
        let ord = match self.plain_datum(n, raw) {
            Some(d) => order(value, d),
            None => {
                let mut scratch = Vec::new();
                access::decompress(raw, &mut scratch)?;
                order(value, DatumRef::Bytes(&scratch))
            }
        };
        Ok(if col.desc { ord.reverse() } else { ord })
    }

    /// Compares the stored values of column `n` of two tuples.
    pub(crate) fn compare_stored(
        &self,
        n: usize,
        a: Option<&[u8]>,
        b: Option<&[u8]>,
    ) -> Result<Ordering> {
        let mut scratch = Vec::new();
        let value = self.datum(n, a, &mut scratch)?;
        self.compare_value(n, value, b, None)
    }

    /// Compares two leaf tuples by their key columns, without the TID.
    pub fn compare_keys(&self, a: IndexTuple<'_>, b: IndexTuple<'_>) -> Result<Ordering> {
        for n in 0..self.key_count {
            let ord = self.compare_stored(n, a.attr(self.shape(), n), b.attr(self.shape(), n))?;
            if ord != Ordering::Equal {
                return Ok(ord);
            }
        }
        Ok(Ordering::Equal)
    }

    /// Appends the leaf tuple of these column values to `out`. Values must be detoasted; large ones
    /// are compressed if their column's storage allows. Error: 54000 if the tuple is too large.
    /// Counterpart: `index_form_tuple`.
    pub fn form(&self, values: &[DatumRef<'_>], tid: Tid, out: &mut Vec<u8>) -> Result<()> {
        self.layout.form(values, &[], tid, out)
    }

    /// As [`KeySchema::form`]; for the columns in `compressed` those bytes are stored.
    pub(crate) fn form_with(
        &self,
        values: &[DatumRef<'_>],
        compressed: &[(usize, Vec<u8>)],
        tid: Tid,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        self.layout.form(values, compressed, tid, out)
    }
}

#[inline]
fn narrow(
    number: i64,
    node: Node<'_>,
    (mut low, mut high): (OffsetNo, OffsetNo),
    desc: bool,
    decode: impl Fn(u64) -> i64,
) -> (OffsetNo, OffsetNo) {
    while low < high {
        let mid = low + (high - low) / 2;
        let Some(word) = node.first_word(mid) else { break };
        let stored = decode(word);
        if stored == number {
            break;
        }
        if (stored < number) != desc {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    (low, high)
}
