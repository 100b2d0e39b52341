//! TOAST: narrowing rows and getting the values back.

use super::*;
use crate::toast::*;
use page::varlena::{self, Compression, ToastPointer};
use pgerror::Result;
use std::collections::BTreeMap;

/// A TOAST table as a map.
#[derive(Default)]
struct Chunks {
    next: u32,
    rows: BTreeMap<(u32, i32), Vec<u8>>,
}

impl ToastSink for Chunks {
    fn toast_rel(&self) -> Oid {
        Oid(777)
    }
    fn new_value_id(&mut self) -> Result<Oid> {
        self.next += 1;
        Ok(Oid(self.next))
    }
    fn insert_chunk(&mut self, value: Oid, seq: i32, data: &[u8]) -> Result<()> {
        assert!(
            data.len() <= CHUNK_SIZE && self.rows.insert((value.0, seq), data.into()).is_none()
        );
        Ok(())
    }
}

struct Reading<'c>(&'c Chunks);

impl ToastSource for Reading<'_> {
    fn read(&mut self, p: &ToastPointer, from: usize, len: usize, out: &mut Vec<u8>) -> Result<()> {
        let Some((first, last)) = chunk_range(p, from, len) else { return Ok(()) };
        let mut all = Vec::new();
        for seq in first..=last {
            all.extend_from_slice(&self.0.rows[&(p.value_id.0, seq)]);
        }
        let skip = from - first as usize * CHUNK_SIZE;
        let end = (skip + len).min(all.len());
        out.extend_from_slice(&all[skip..end]);
        Ok(())
    }
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed;
    let mut byte = || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 40) as u8
    };
    (0..len).map(|_| byte()).collect()
}

#[test]
fn wide_rows_become_narrow_and_come_back() {
    let storages = *b"xexmp";
    let attrs = storages.map(|storage| {
        let mut attr = Attr::new(b"c", Oid(25), -1, false, Align::Int);
        attr.storage = storage;
        attr
    });
    let desc = TupleDesc::new(attrs.to_vec());
    let columns: [Vec<u8>; 5] = [
        b"compressible ".repeat(900),
        b"e".repeat(5000),
        noise(9000, 1),
        b"mn".repeat(800),
        noise(90, 2),
    ];
    for compression in [Compression::Pglz, Compression::Lz4] {
        let values: Vec<Value<'_>> = columns.iter().map(|c| Value::Bytes(c)).collect();
        let (mut sink, nothing) = (Chunks::default(), Chunks::default());
        let options = ToastOptions {
            target: TOAST_TARGET,
            compression,
            sink: Some(&mut sink),
            source: &mut Reading(&nothing),
        };
        let toasted = toast::toast(&desc, &values, None, options).unwrap();
        let stored = toasted.values();
        let tuple = form::form(&desc, &stored).unwrap();
        assert!(tuple.len() <= TOAST_THRESHOLD);
        let raw = |i: usize| match stored[i] {
            Value::Raw(b) => b,
            other => panic!("column {i} was left alone: {other:?}"),
        };
        assert!(varlena::is_compressed(raw(0)), "small enough when compressed");
        assert!(varlena::is_external(raw(1)) && varlena::is_external(raw(2)));
        assert_eq!(stored[3], values[3], "the others made room enough");
        assert_eq!(stored[4], values[4]);
        assert_eq!(external_pointers(&stored).count(), 2);
        for (i, column) in columns.iter().enumerate().take(3) {
            let whole = detoast(raw(i), &mut Reading(&sink)).unwrap();
            assert_eq!(whole, *column);
            for (from, len) in [(0, 10), (1990, 20), (4000, 3000), (8999, 5), (90_000, 1)] {
                let slice = detoast_slice(raw(i), from, len, &mut Reading(&sink)).unwrap();
                let from = from.min(whole.len());
                assert_eq!(slice, whole[from..(from + len).min(whole.len())], "{i} {from}");
            }
        }
        // An update that keeps the values keeps the pointers and stores nothing anew.
        let before = sink.rows.len();
        let mut again = Chunks { next: 100, ..Chunks::default() };
        let options = ToastOptions {
            target: TOAST_TARGET,
            compression,
            sink: Some(&mut again),
            source: &mut Reading(&sink),
        };
        let kept = toast::toast(&desc, &stored, Some(&stored), options).unwrap();
        assert_eq!(kept.values(), stored);
        assert_eq!((again.rows.len(), before), (0, sink.rows.len()));
    }
}
