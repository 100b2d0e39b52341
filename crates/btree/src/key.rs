//! Insertion scan keys, which guide descents: comparison with tuples, binary search on a page.
//!
//! Counterpart: `_bt_mkscankey` in nbtutils.c; `_bt_compare` and `_bt_binsrch` in nbtsearch.c.

use crate::schema::KeySchema;
use ids::{OffsetNo, Tid};
use page::btree::Node;
use page::index_tuple::IndexTuple;
use pgerror::Result;
use smallvec::SmallVec;
use std::cmp::Ordering;
use types::DatumRef;
use types::compare::Comparer;

/// A value of a search key; owned only if it had to be decompressed.
#[derive(Clone, Debug)]
pub(crate) enum KeyValue<'a> {
    Ref(DatumRef<'a>),
    Owned(Vec<u8>),
}

impl KeyValue<'_> {
    #[inline]
    pub(crate) fn get(&self) -> DatumRef<'_> {
        match self {
            KeyValue::Ref(d) => *d,
            KeyValue::Owned(b) => DatumRef::Bytes(b),
        }
    }
}

/// A position in the key space. Counterpart: `BTScanInsert`.
#[derive(Clone, Debug)]
pub(crate) struct InsertKey<'a> {
    /// Values of the leading key columns.
    pub values: SmallVec<[KeyValue<'a>; 4]>,
    /// Comparison functions for values of another type than the column's; empty if there are none.
    pub cmps: SmallVec<[Option<Comparer>; 4]>,
    /// A value is NULL and NULLs are distinct: the tuple conflicts with nothing.
    pub any_null: bool,
    /// Look for the first item > key instead of >= key.
    pub next_key: bool,
    /// Find the leaf page whose high key equals this key.
    pub pivot_search: bool,
    /// Tie-breaker after the columns.
    pub scan_tid: Option<Tid>,
    /// The first value, if it can be compared without a function call: see
    /// [`KeySchema::first_number`].
    first: Option<i64>,
}

impl<'a> InsertKey<'a> {
    /// The key of a tuple; for a pivot tuple, of the columns that it has.
    pub(crate) fn of_tuple(schema: &KeySchema, tuple: IndexTuple<'a>) -> Result<InsertKey<'a>> {
        let natts = tuple.natts(schema.natts());
        let mut values = SmallVec::new();
        let mut any_null = natts < schema.key_count;
        for n in 0..schema.key_count.min(natts) {
            let raw = tuple.attr(schema.shape(), n);
            any_null |= raw.is_none();
            values.push(schema.key_value(n, raw)?);
        }
        let first = values.first().and_then(|v: &KeyValue<'_>| schema.first_number(v.get(), None));
        Ok(InsertKey {
            values,
            cmps: SmallVec::new(),
            any_null: any_null && !schema.nulls_not_distinct,
            next_key: false,
            pivot_search: false,
            scan_tid: if schema.heapkeyspace { tuple.heap_tid() } else { None },
            first,
        })
    }

    /// A key of some leading columns' values, for scans.
    pub(crate) fn of_values(
        schema: &KeySchema,
        values: SmallVec<[KeyValue<'a>; 4]>,
        cmps: SmallVec<[Option<Comparer>; 4]>,
        next_key: bool,
    ) -> InsertKey<'a> {
        let cmp = cmps.first().and_then(Option::as_ref);
        let first = values.first().and_then(|v| schema.first_number(v.get(), cmp));
        InsertKey {
            values,
            cmps,
            any_null: false,
            next_key,
            pivot_search: false,
            scan_tid: None,
            first,
        }
    }
}

impl KeySchema {
    #[inline]
    pub(crate) fn key_value<'a>(&self, n: usize, raw: Option<&'a [u8]>) -> Result<KeyValue<'a>> {
        match raw {
            None => Ok(KeyValue::Ref(DatumRef::Null)),
            Some(raw) => match self.plain_datum(n, raw) {
                Some(d) => Ok(KeyValue::Ref(d)),
                None => {
                    let mut owned = Vec::new();
                    access::decompress(raw, &mut owned)?;
                    Ok(KeyValue::Owned(owned))
                }
            },
        }
    }

    /// Orders `key` against the item at `off`. Truncated columns count as minus infinity; so does
    /// the first data item of an inner page. A key with a TID equals a posting list whose range
    /// holds it.
    pub(crate) fn compare(
        &self,
        key: &InsertKey<'_>,
        node: Node<'_>,
        off: OffsetNo,
    ) -> Result<Ordering> {
        if !node.is_leaf() && off == node.first_data_key() {
            return Ok(Ordering::Greater);
        }
        let tuple = node.tuple(off);
        let natts = tuple.natts(self.natts());
        for (n, v) in key.values.iter().enumerate() {
            if n >= natts {
                return Ok(Ordering::Greater);
            }
            let cmp = key.cmps.get(n).and_then(Option::as_ref);
            let ord = self.compare_value(n, v.get(), tuple.attr(self.shape(), n), cmp)?;
            if ord != Ordering::Equal {
                return Ok(ord);
            }
        }
        let tuple_tid = tuple.heap_tid();
        let Some(scan_tid) = key.scan_tid else {
            // A search for the first equal leaf item skips the page to the left of a separator
            // without TID, because all items there are smaller. Page deletion searches for the
            // separator itself.
            let beyond = self.heapkeyspace
                && !key.pivot_search
                && key.values.len() == natts
                && tuple_tid.is_none();
            return Ok(if beyond { Ordering::Greater } else { Ordering::Equal });
        };
        let Some(tuple_tid) = tuple_tid else { return Ok(Ordering::Greater) };
        let ord = scan_tid.cmp(&tuple_tid);
        if ord != Ordering::Greater || !tuple.is_posting() {
            return Ok(ord);
        }
        Ok(if scan_tid > tuple.max_heap_tid() { Ordering::Greater } else { Ordering::Equal })
    }

    /// True if `key` belongs to the right of this page by its high key. Counterpart: the test of
    /// `_bt_moveright`.
    #[inline]
    pub(crate) fn is_beyond_high_key(&self, key: &InsertKey<'_>, node: Node<'_>) -> Result<bool> {
        let ord = self.compare_quickly(key, node, page::btree::HIGH_KEY)?;
        Ok(ord == Ordering::Greater || (ord == Ordering::Equal && key.next_key))
    }

    /// As [`KeySchema::compare`], but not for the first data item of an inner page.
    #[inline]
    fn compare_quickly(
        &self,
        key: &InsertKey<'_>,
        node: Node<'_>,
        off: OffsetNo,
    ) -> Result<Ordering> {
        match key.first.and_then(|number| self.compare_first(number, node, off)) {
            Some(ord) if ord != Ordering::Equal => Ok(ord),
            _ => self.compare(key, node, off),
        }
    }

    /// On a leaf the offset of the first item >= key (> key with `next_key`), possibly one past the
    /// last; on an inner page that of the last item < key (<= key with `next_key`), whose downlink
    /// the descent follows.
    pub(crate) fn binary_search(&self, key: &InsertKey<'_>, node: Node<'_>) -> Result<OffsetNo> {
        let mut low = node.first_data_key();
        let mut high = node.max_offset();
        if high < low {
            return Ok(low);
        }
        high += 1;
        let leaf = node.is_leaf();
        if !leaf {
            // The first item is minus infinity.
            low += 1;
        }
        if let Some(number) = key.first {
            (low, high) = self.narrow(number, node, (low, high));
        }
        while high > low {
            let mid = low + (high - low) / 2;
            let ord = self.compare_quickly(key, node, mid)?;
            if ord == Ordering::Greater || (key.next_key && ord == Ordering::Equal) {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        Ok(if leaf { low } else { low - 1 })
    }

    /// Position of the first TID >= `tid` in a posting list, by binary search.
    pub(crate) fn posting_position(tuple: IndexTuple<'_>, tid: Tid) -> usize {
        let (mut low, mut high) = (0, tuple.posting_count());
        while low < high {
            let mid = low + (high - low) / 2;
            if tuple.posting_tid(mid) < tid {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        low
    }
}
