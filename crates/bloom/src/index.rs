//! The handle of an open index: its options, hash functions and pages; the entries of rows.
//!
//! Counterpart: `initBloomState`, `BloomFormTuple`, `BloomNewBuffer` in blutils.c.

use crate::signature;
use access::{Cx, IndexDef, IndexFile};
use bufmgr::ExclusiveGuard;
use ids::{BlockNo, Oid, Tid};
use page::Page;
use page::bloom::{BITS_DEFAULT, BloomPage, META_BLOCK, Options, WORD_BITS, is_unused};
use pgerror::{PgError, Result, pg_err};
use std::sync::OnceLock;
use types::DatumRef;
use types::hash::Hasher;

/// A column.
struct Column {
    hasher: Hasher,
    collation: Oid,
}

/// An open bloom index.
pub struct BloomIndex {
    pub(crate) file: IndexFile,
    columns: Vec<Column>,
    /// The options of the definition, which a new index gets.
    new_options: Options,
    /// Those of the file, which later changes of the definition do not affect.
    options: OnceLock<Options>,
    name: Box<str>,
}

impl BloomIndex {
    pub(crate) fn new(file: IndexFile, def: &IndexDef) -> Result<BloomIndex> {
        let mut columns = Vec::with_capacity(def.keys().len());
        for (n, column) in def.keys().iter().enumerate() {
            columns.push(Column { hasher: def.hasher(n)?.clone(), collation: column.collation });
        }
        let number = |name: &str| def.option(name).and_then(|v| v.trim().parse::<f64>().ok());
        let mut options = Options::DEFAULT;
        if let Some(bits) = number("length") {
            options.words = (bits.round_ties_even() as u32).div_ceil(WORD_BITS);
        }
        for (n, bits) in options.bits.iter_mut().enumerate() {
            let own = number(&format!("col{}", n + 1));
            *bits = own.map_or(BITS_DEFAULT, |bits| bits.round_ties_even() as u32);
        }
        let name = def.name.clone();
        Ok(BloomIndex { file, columns, new_options: options, options: OnceLock::new(), name })
    }

    /// The options of a new index.
    pub(crate) fn new_options(&self) -> &Options {
        &self.new_options
    }

    /// The options of the file.
    pub(crate) fn options(&self, cx: &mut Cx<'_>) -> Result<&Options> {
        if let Some(options) = self.options.get() {
            return Ok(options);
        }
        let page = cx.pin(&self.file, META_BLOCK)?.share();
        let options = BloomPage(&page).options();
        let options = options.ok_or_else(|| PgError::internal("Relation is not a bloom index"))?;
        Ok(self.options.get_or_init(|| options))
    }

    /// Appends the TID and, for each column, whether it is not NULL, and its hash. The signature
    /// is computed later, because its length is in the file.
    pub(crate) fn push_entry(&self, values: &[DatumRef<'_>], tid: Tid, out: &mut Vec<u8>) {
        out.extend_from_slice(&tid.to_bytes());
        for (column, value) in self.columns.iter().zip(values) {
            let hash = match value {
                DatumRef::Null => None,
                value => Some(column.hasher.hash(*value, column.collation)),
            };
            out.push(u8::from(hash.is_some()));
            out.extend_from_slice(&hash.unwrap_or(0).to_le_bytes());
        }
    }

    /// Replaces `out` by the tuple of an entry.
    pub(crate) fn form_tuple(&self, options: &Options, entry: &[u8], out: &mut Vec<u8>) {
        let (tid, hashes) = entry.split_at(entry.len().min(6));
        out.clear();
        out.extend_from_slice(tid);
        out.resize(options.tuple_size(), 0);
        for (column, part) in hashes.chunks_exact(5).enumerate() {
            if let [1, a, b, c, d] = *part {
                signature::add(options, column, u32::from_le_bytes([a, b, c, d]), &mut out[6..]);
            }
        }
    }

    /// The hash of a value of a condition.
    pub(crate) fn hash(&self, column: usize, value: DatumRef<'_>) -> u32 {
        let own = &self.columns[column];
        own.hasher.hash(value, own.collation)
    }

    /// XX002 for a page that is not one of a bloom index.
    pub(crate) fn check(&self, page: &Page, block: BlockNo) -> Result<()> {
        if page.is_new() || BloomPage(page).is_bloom() { Ok(()) } else { Err(self.damaged(block)) }
    }

    #[cold]
    pub(crate) fn damaged(&self, block: BlockNo) -> PgError {
        let name = &self.name;
        pg_err!(INDEX_CORRUPTED, "index \"{name}\" contains corrupted page at block {block}")
            .hint("Please REINDEX it.")
    }

    /// A page without tuples, which the caller initializes: from the free space map, or a new one.
    pub(crate) fn new_page<'p>(&self, cx: &mut Cx<'p>) -> Result<ExclusiveGuard<'p>> {
        while let Some(block) = cx.take_free_page(&self.file)? {
            // Another session may have taken the page already, and have it latched.
            let Ok(page) = cx.pin(&self.file, block)?.try_exclusive() else { continue };
            if is_unused(&page) {
                return Ok(page);
            }
        }
        cx.extend(&self.file)
    }
}
