//! Creation of an index. The entries of the rows are collected by key; when the memory is full,
//! they are written to a temporary file, in order of the keys. At the end these runs are merged,
//! and the pages are filled in order.
//!
//! Counterpart: `ginbuild`, `ginbuildempty` in gininsert.c.

use crate::accumulate::{Accumulator, Collected, OnKey, compare};
use crate::index::GinIndex;
use crate::key::Tuples;
use crate::load::Loader;
use access::{BuildOptions, Cx, IndexBuild, IndexFile, OnDuplicate, Row};
use bufmgr::LOAD_PAGES_MAX;
use ids::BlockNo;
use page::gin::{self, Item, LEAF, META_BLOCK, Meta, ROOT_BLOCK, compress, decode_all};
use page::{PAGE_SIZE, PageBuf};
use pgerror::{PgError, Result, pg_err};
use std::io;
use sync::Arc;
use vfs::{Disk, File, OpenMode};
use wal::{RegFlags, RmgrId};

const XLOG_FPI: u8 = 0xB0;
/// Bytes that are written to or read from the temporary file at once.
const PIECE: usize = 1 << 18;

impl GinIndex {
    /// Writes the metapage and an empty root to an empty fork.
    ///
    /// WAL: XLOG_FPI.
    pub(crate) fn init(&self, cx: &mut Cx<'_>, file: &IndexFile) -> Result<()> {
        let mut meta = PageBuf::new();
        Meta::NEW.init(&mut meta);
        let mut root = PageBuf::new();
        gin::init(&mut root, LEAF);
        for (block, content) in [(META_BLOCK, meta), (ROOT_BLOCK, root)] {
            let mut page = cx.extend(file)?;
            if page.block() != block {
                return Err(self.internal("unexpected size"));
            }
            // The image of the root is complete in PostgreSQL too.
            let standard = if block == META_BLOCK { RegFlags::STANDARD } else { RegFlags::NONE };
            let mut edit = cx.edit(file, RmgrId::Gin);
            content.copy_to(edit.change(&mut page, 0, RegFlags::FORCE_IMAGE | standard));
            edit.log_as(RmgrId::Xlog, XLOG_FPI)?;
        }
        Ok(())
    }
}

/// A build in progress.
pub(crate) struct GinBuild<'a> {
    index: &'a GinIndex,
    entries: Accumulator<'a>,
    options: BuildOptions,
    file: Option<TempFile>,
    /// Start and end of the runs in the file, in bytes.
    runs: Vec<(u64, u64)>,
    count: u64,
}

impl<'a> GinBuild<'a> {
    pub(crate) fn new(index: &'a GinIndex, options: BuildOptions) -> GinBuild<'a> {
        let entries = Accumulator::new(&index.schema);
        GinBuild { index, entries, options, file: None, runs: Vec::new(), count: 0 }
    }

    fn limit_memory(&mut self) -> Result<()> {
        if self.entries.bytes() >= self.options.memory_limit { self.spill() } else { Ok(()) }
    }

    /// Writes the collected entries as a run.
    fn spill(&mut self) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            slot => slot.insert(TempFile::create(&self.options)?),
        };
        let start = file.len;
        let mut piece = Vec::with_capacity(PIECE + PAGE_SIZE);
        self.entries.drain(&mut |prefix, items| {
            push_record(prefix, items, &mut piece);
            if piece.len() >= PIECE {
                file.append(&piece)?;
                piece.clear();
            }
            Ok(())
        })?;
        file.append(&piece)?;
        self.runs.push((start, file.len));
        Ok(())
    }

    /// Calls `each` with all keys in order, each with all its rows.
    fn merged(&mut self, each: OnKey<'_>) -> Result<()> {
        if self.runs.is_empty() {
            return self.entries.drain(each);
        }
        self.spill()?;
        let Some(file) = &self.file else { return Ok(()) };
        let readers = self.runs.iter().map(|(start, end)| Reader::new(&*file.file, *start, *end));
        let mut readers = readers.collect::<Result<Vec<_>>>()?;
        loop {
            let mut least: Option<usize> = None;
            let mut equal: Vec<usize> = Vec::new();
            for (n, reader) in readers.iter().enumerate() {
                let Some((key, _)) = &reader.current else { continue };
                let order = match least.and_then(|l| readers[l].current.as_ref()) {
                    Some((least, _)) => compare(&self.index.schema, key, least)?,
                    None => std::cmp::Ordering::Less,
                };
                if order.is_lt() {
                    least = Some(n);
                    equal.clear();
                }
                if order.is_le() {
                    equal.push(n);
                }
            }
            let Some(least) = least else { return Ok(()) };
            let Some((prefix, mut items)) = readers[least].take()? else { return Ok(()) };
            for n in equal.into_iter().filter(|n| *n != least) {
                if let Some((_, more)) = readers[n].take()? {
                    items = gin::merge(&items, &more);
                }
            }
            each(&prefix, &items)?;
        }
    }
}

impl IndexBuild for GinBuild<'_> {
    fn add(&mut self, _cx: &mut Cx<'_>, entry: &[u8], _dead: bool) -> Result<()> {
        for tuple in Tuples(entry) {
            self.entries.add_tuple(tuple)?;
            self.count += 1;
        }
        self.limit_memory()
    }

    fn add_row(&mut self, row: &Row<'_>) -> Result<bool> {
        let columns = self.index.schema.columns.len();
        for (column, value) in row.values.iter().enumerate().take(columns) {
            self.count += self.entries.add_value(column, *value, row.tid)?;
        }
        self.limit_memory().map(|()| true)
    }

    fn finish(mut self: Box<Self>, cx: &mut Cx<'_>, _on_duplicate: OnDuplicate<'_>) -> Result<u64> {
        let check_interrupts = cx.check_interrupts;
        let index = self.index;
        let mut finished: Vec<(BlockNo, PageBuf)> = Vec::with_capacity(LOAD_PAGES_MAX);
        // Pages of upper levels are finished long after they got their blocks.
        let mut sink = |block: BlockNo, page: PageBuf| {
            finished.push((block, page));
            if finished.len() < LOAD_PAGES_MAX && block != META_BLOCK {
                return Ok(());
            }
            check_interrupts()?;
            finished.sort_unstable_by_key(|(block, _)| *block);
            cx.pool.load_pages(&index.file.main, &mut finished, cx.scratch, cx.xid)?;
            finished.clear();
            Ok(())
        };
        let mut loader = Loader::new(&mut sink);
        self.merged(&mut |prefix, items| loader.add(prefix, items))?;
        loader.finish()?;
        Ok(self.count)
    }
}

/// Appends a key with its rows: the lengths of both parts, the prefix, posting lists.
fn push_record(prefix: &[u8], items: &[Item], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    out.extend_from_slice(prefix);
    let list = out.len();
    let mut rest = items;
    while !rest.is_empty() {
        let packed = compress(rest, PAGE_SIZE, out);
        rest = &rest[packed..];
    }
    let bytes = (out.len() - list) as u32;
    out[start..start + 4].copy_from_slice(&(prefix.len() as u32).to_le_bytes());
    out[start + 4..start + 8].copy_from_slice(&bytes.to_le_bytes());
}

/// The temporary file of a build; removed when it is dropped.
struct TempFile {
    disk: Arc<dyn Disk>,
    path: String,
    file: Arc<dyn File>,
    len: u64,
}

impl TempFile {
    fn create(options: &BuildOptions) -> Result<TempFile> {
        let (disk, path) = (options.disk.clone(), options.path.clone());
        let file = disk.open(&path, OpenMode::Create).map_err(|e| io_error("create", &e))?;
        Ok(TempFile { disk, path, file, len: 0 })
    }

    fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let n = self.file.write_at(bytes, self.len).map_err(|e| io_error("write", &e))?;
            bytes = &bytes[n..];
            self.len += n as u64;
        }
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        // If this fails, the file is removed at the next start of the server.
        let _ = self.disk.unlink(&self.path);
    }
}

#[cold]
fn io_error(what: &str, e: &io::Error) -> PgError {
    pg_err!(IO_ERROR, "could not {what} temporary file of an index build: {e}")
}

/// Reads the records of a run.
struct Reader<'a> {
    file: &'a dyn File,
    at: u64,
    end: u64,
    piece: Vec<u8>,
    used: usize,
    /// The next record; `None` at the end.
    current: Option<Collected>,
}

impl<'a> Reader<'a> {
    fn new(file: &'a dyn File, start: u64, end: u64) -> Result<Reader<'a>> {
        let mut reader = Reader { file, at: start, end, piece: Vec::new(), used: 0, current: None };
        reader.current = reader.read()?;
        Ok(reader)
    }

    /// The current record; the next one becomes current.
    fn take(&mut self) -> Result<Option<Collected>> {
        let next = self.read()?;
        Ok(std::mem::replace(&mut self.current, next))
    }

    fn read(&mut self) -> Result<Option<Collected>> {
        if self.piece.len() == self.used && self.at == self.end {
            return Ok(None);
        }
        self.fill(8)?;
        let head = &self.piece[self.used..self.used + 8];
        let word = |at: usize| {
            u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize
        };
        let (prefix_len, list_len) = (word(0), word(4));
        self.used += 8;
        self.fill(prefix_len + list_len)?;
        let bytes = &self.piece[self.used..self.used + prefix_len + list_len];
        let (prefix, list) = bytes.split_at(prefix_len);
        let mut items = Vec::new();
        decode_all(list, Item::MIN, &mut items);
        let record = (prefix.to_vec(), items);
        self.used += prefix_len + list_len;
        Ok(Some(record))
    }

    /// Reads on until `n` unused bytes are there.
    fn fill(&mut self, n: usize) -> Result<()> {
        if self.piece.len() - self.used >= n {
            return Ok(());
        }
        self.piece.drain(..self.used);
        self.used = 0;
        let mut have = self.piece.len();
        let rest = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        self.piece.resize(have + rest.min(PIECE.max(n - have)), 0);
        while have < self.piece.len() {
            let got = self.file.read_at(&mut self.piece[have..], self.at);
            let got = got.map_err(|e| io_error("read", &e))?;
            if got == 0 {
                break;
            }
            have += got;
            self.at += got as u64;
        }
        self.piece.truncate(have);
        if have >= n {
            return Ok(());
        }
        Err(pg_err!(DATA_CORRUPTED, "a temporary file of an index build is too short"))
    }
}
