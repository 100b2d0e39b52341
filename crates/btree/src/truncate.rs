//! Suffix truncation: the separator made by a leaf split keeps only the columns that are needed to
//! distinguish the two halves.
//!
//! Counterpart: `_bt_truncate` and `_bt_keep_natts` in nbtutils.c.

use crate::schema::KeySchema;
use page::btree::{MAX_ITEM_SIZE, MAX_ITEM_SIZE_NO_HEAP_TID};
use page::index_tuple::{self, IndexTuple, TID_SIZE, max_align};
use pgerror::{Result, pg_err};
use std::cmp::Ordering;

impl KeySchema {
    /// Number of leading key columns that a separator between these adjacent leaf tuples needs;
    /// `key_count` + 1 if only their heap TIDs differ.
    fn keep_natts(&self, left: IndexTuple<'_>, right: IndexTuple<'_>) -> Result<usize> {
        if !self.heapkeyspace {
            return Ok(self.key_count);
        }
        for n in 0..self.key_count {
            let (a, b) = (left.attr(self.shape(), n), right.attr(self.shape(), n));
            if self.compare_stored(n, a, b)? != Ordering::Equal {
                return Ok(n + 1);
            }
        }
        Ok(self.key_count + 1)
    }

    /// As [`Self::keep_natts`], by comparison of the values' bytes: never more, and exact if equal
    /// values have equal bytes. Columns that a pivot tuple lacks count as different. Counterpart:
    /// `_bt_keep_natts_fast`.
    pub(crate) fn keep_natts_fast(&self, a: IndexTuple<'_>, b: IndexTuple<'_>) -> usize {
        let present = a.natts(self.natts()).min(b.natts(self.natts()));
        for n in 0..self.key_count {
            if n >= present {
                return n + 1;
            }
            let (x, y) = (a.attr(self.shape(), n), b.attr(self.shape(), n));
            if x != y && !self.same_image(n, x, y) {
                return n + 1;
            }
        }
        self.key_count + 1
    }

    /// Equal bytes stored in different ways (length header, compression)?
    fn same_image(&self, n: usize, a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
        if self.shape().attrs()[n].len != -1 || a.is_none() || b.is_none() {
            return false;
        }
        let (mut s, mut t) = (Vec::new(), Vec::new());
        match (self.datum(n, a, &mut s), self.datum(n, b, &mut t)) {
            (Ok(x), Ok(y)) => x == y,
            _ => false,
        }
    }

    /// Appends the separator between the last tuple of the left half and the first of the right
    /// half: > all on the left, <= all on the right.
    pub(crate) fn truncate(
        &self,
        last_left: IndexTuple<'_>,
        first_right: IndexTuple<'_>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let keep = self.keep_natts(last_left, first_right)?;
        let start = out.len();
        index_tuple::truncate(self.shape(), first_right, keep.min(self.key_count), out);
        if keep <= self.key_count {
            index_tuple::set_natts(&mut out[start..], keep, false);
            return Ok(());
        }
        let size = max_align(out.len() - start) + max_align(TID_SIZE);
        out.resize(start + size, 0);
        index_tuple::set_size(&mut out[start..], size);
        index_tuple::set_natts(&mut out[start..], self.key_count, true);
        let end = out.len();
        out[end - TID_SIZE..].copy_from_slice(&last_left.max_heap_tid().to_bytes());
        Ok(())
    }

    /// An error if three tuples of this size do not fit on a page. With `needs_tid_space` the limit
    /// is lower by the size of a TID, which truncation may add to the separator.
    /// Counterpart: `_bt_check_third_page`.
    pub(crate) fn check_third_page(
        &self,
        index_name: &str,
        table_name: &str,
        tuple: IndexTuple<'_>,
        leaf: bool,
        needs_tid_space: bool,
    ) -> Result<()> {
        let size = max_align(tuple.size());
        let (max, version) =
            if needs_tid_space { (MAX_ITEM_SIZE, 4) } else { (MAX_ITEM_SIZE_NO_HEAP_TID, 3) };
        if size <= max {
            return Ok(());
        }
        if !leaf {
            return Err(pg_err!(
                INTERNAL_ERROR,
                "cannot insert oversized tuple of size {size} on internal page of index \
                 \"{index_name}\""
            ));
        }
        let tid = tuple.heap_tid().unwrap_or(ids::Tid::INVALID);
        Err(pg_err!(
            PROGRAM_LIMIT_EXCEEDED,
            "index row size {size} exceeds btree version {version} maximum {max} for index \
             \"{index_name}\""
        )
        .constraint(index_name)
        .detail(format!("Index row references tuple {tid} in relation \"{table_name}\"."))
        .hint(
            "Values larger than 1/3 of a buffer page cannot be indexed.\nConsider a function index \
             of an MD5 hash of the value, or use full text indexing.",
        ))
    }
}
