//! The layout of index tuples: formation from column values, and decoding of stored values.
//!
//! Counterpart: `index_form_tuple`, `index_deform_tuple` in indextuple.c.

use crate::inline;
use ids::Tid;
use ids::code::ColumnStorage;
use page::index_tuple::{self, IndexAttr, IndexShape, IndexTuple, Stored, TooLarge};
use page::tupdesc::Attr;
use pgerror::{Result, pg_err};
use smallvec::SmallVec;
use types::DatumRef;

/// The columns of index tuples, in their stored form.
#[derive(Clone, Debug)]
pub struct TupleLayout {
    shape: IndexShape,
    /// By column: `storage` and `compression` of the attribute.
    storage: Box<[(ColumnStorage, u8)]>,
    /// Bit `n`: values of column `n` of four bytes are unsigned.
    zero_extends: u32,
}

impl TupleLayout {
    /// `attrs`: at least one, at most `INDEX_MAX_KEYS`.
    pub fn new<'a>(attrs: impl Iterator<Item = &'a Attr> + Clone) -> TupleLayout {
        let shape: Vec<IndexAttr> = attrs.clone().map(index_attr).collect();
        assert!(!shape.is_empty() && shape.len() <= index_tuple::INDEX_MAX_KEYS);
        TupleLayout {
            shape: IndexShape::new(&shape),
            storage: attrs.clone().map(|a| (a.storage, a.compression)).collect(),
            zero_extends: attrs
                .enumerate()
                .fold(0, |m, (i, a)| m | u32::from(a.zero_extends()) << i),
        }
    }

    #[inline]
    pub fn shape(&self) -> &IndexShape {
        &self.shape
    }

    /// Number of columns, with included ones.
    #[inline]
    pub fn natts(&self) -> usize {
        self.storage.len()
    }

    /// Decodes stored bytes of column `n`. `scratch` is used for compressed values only.
    #[inline]
    pub fn datum<'a>(
        &self,
        n: usize,
        raw: Option<&'a [u8]>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<DatumRef<'a>> {
        let Some(raw) = raw else { return Ok(DatumRef::Null) };
        if let Some(d) = self.plain_datum(n, raw) {
            return Ok(d);
        }
        inline::decompress(raw, scratch)?;
        Ok(DatumRef::Bytes(scratch))
    }

    /// Decodes a value unless it is compressed (or damaged).
    #[inline]
    pub fn plain_datum<'a>(&self, n: usize, raw: &'a [u8]) -> Option<DatumRef<'a>> {
        let attr = &self.shape.attrs()[n];
        if attr.by_val {
            let zero = self.zero_extends >> n & 1 != 0;
            let word = match *raw {
                [a, b, c, d] if zero => u64::from(u32::from_le_bytes([a, b, c, d])),
                [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])) as u64,
                [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
                [a, b] => i64::from(i16::from_le_bytes([a, b])) as u64,
                [a] => i64::from(a as i8) as u64,
                _ => return None,
            };
            return Some(DatumRef::Word(word));
        }
        match attr.len {
            -1 => match *raw {
                [first, ref payload @ ..] if first & 1 == 1 => Some(DatumRef::Bytes(payload)),
                [first, _, _, _, ref payload @ ..] if first & 3 == 0 => {
                    Some(DatumRef::Bytes(payload))
                }
                _ => None,
            },
            -2 => Some(DatumRef::Bytes(raw.split_last().map_or(raw, |(_, name)| name))),
            len => (raw.len() == len as usize).then_some(DatumRef::Bytes(raw)),
        }
    }

    /// Column `n` of `tuple`, which has it.
    pub fn column<'a>(
        &self,
        tuple: IndexTuple<'a>,
        n: usize,
        scratch: &'a mut Vec<u8>,
    ) -> Result<DatumRef<'a>> {
        self.datum(n, tuple.attr(&self.shape, n), scratch)
    }

    /// Appends the index tuple of these column values to `out`. Values must be detoasted; large
    /// ones are compressed if their column's storage allows; for the columns in `compressed` those
    /// bytes are stored. Error: 54000 if the tuple is too large. Counterpart: `index_form_tuple`.
    pub fn form(
        &self,
        values: &[DatumRef<'_>],
        compressed: &[(usize, Vec<u8>)],
        tid: Tid,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        debug_assert_eq!(values.len(), self.natts());
        let mut packed: SmallVec<[(usize, Vec<u8>); 1]> = SmallVec::new();
        for (n, v) in values.iter().enumerate() {
            if let DatumRef::Bytes(b) = v {
                let (storage, compression) = self.storage[n];
                let large = b.len() + 4 > index_tuple::TOAST_INDEX_TARGET;
                if large
                    && self.shape.attrs()[n].len == -1
                    && matches!(storage, ColumnStorage::Extended | ColumnStorage::Main)
                    && let Some(c) = inline::compress(b, compression)
                {
                    packed.push((n, c));
                }
            }
        }
        let mut stored: SmallVec<[Stored<'_>; 8]> = values
            .iter()
            .map(|v| match *v {
                DatumRef::Null => Stored::Null,
                DatumRef::Word(w) => Stored::Word(w),
                DatumRef::Bytes(b) => Stored::Payload(b),
            })
            .collect();
        for (n, c) in packed.iter().chain(compressed) {
            stored[*n] = Stored::Raw(c);
        }
        index_tuple::form(&self.shape, &stored, tid, out).map_err(|TooLarge { size }| {
            pg_err!(
                PROGRAM_LIMIT_EXCEEDED,
                "index row requires {size} bytes, maximum size is {}",
                index_tuple::SIZE_MASK
            )
        })
    }
}

fn index_attr(a: &Attr) -> IndexAttr {
    IndexAttr {
        len: a.len,
        align: a.align.bytes() as u8,
        by_val: a.by_val,
        packable: a.len == -1 && a.storage != ColumnStorage::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ids::{BlockNo, Oid};
    use page::tupdesc::Align;

    fn attrs() -> [Attr; 4] {
        let mut plain = Attr::new(b"p", Oid(25), -1, false, Align::Int);
        plain.storage = ColumnStorage::Plain;
        let mut extended = Attr::new(b"t", Oid(25), -1, false, Align::Int);
        extended.storage = ColumnStorage::Extended;
        [
            Attr::new(b"i", Oid(23), 4, true, Align::Int),
            extended,
            plain,
            Attr::new(b"n", Oid(2275), -2, false, Align::Char),
        ]
    }

    #[test]
    fn tuples_return_the_values_that_formed_them() {
        let attrs = attrs();
        let layout = TupleLayout::new(attrs.iter());
        let long = vec![b'x'; 3000];
        let tid = Tid::new(BlockNo(7), 3);
        let rows = [
            [DatumRef::Word(-5i64 as u64), DatumRef::Bytes(&long), DatumRef::Null, DatumRef::Null],
            [DatumRef::Null, DatumRef::Null, DatumRef::Bytes(b"ab"), DatumRef::Bytes(b"name")],
        ];
        for row in rows {
            let mut bytes = Vec::new();
            layout.form(&row, &[], tid, &mut bytes).unwrap();
            // The long value is compressed.
            assert!(bytes.len() < 200);
            let tuple = IndexTuple::new(&bytes);
            assert_eq!(tuple.tid_field(), tid);
            for (n, value) in row.into_iter().enumerate() {
                assert_eq!(layout.column(tuple, n, &mut Vec::new()).unwrap(), value);
            }
        }
    }

    #[test]
    fn compressed_bytes_of_the_table_are_kept() {
        let attrs = attrs();
        let layout = TupleLayout::new(attrs[2..3].iter());
        let long = vec![b'y'; 9000];
        let tid = Tid::new(BlockNo(1), 1);
        let mut bytes = Vec::new();
        let alone = layout.form(&[DatumRef::Bytes(&long)], &[], tid, &mut bytes);
        assert!(alone.is_err(), "a value of storage plain is not compressed");
        let raw = inline::compress(&long, 0).unwrap();
        bytes.clear();
        layout.form(&[DatumRef::Bytes(&long)], &[(0, raw)], tid, &mut bytes).unwrap();
        let mut scratch = Vec::new();
        let value = layout.column(IndexTuple::new(&bytes), 0, &mut scratch).unwrap();
        assert_eq!(value, DatumRef::Bytes(&long));
    }
}
