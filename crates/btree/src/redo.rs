//! Redo of the records of resource manager Btree. Pages are latched one at a time, since no query
//! runs during recovery.
//!
//! Counterpart: nbtxlog.c.

use crate::dedup;
use crate::delete::apply_deletion;
use crate::records::{self, MarkHalfDead, UnlinkPage, read_metadata};
use crate::split::{new_page, put};
use bufmgr::redo::{Redo, RedoCx, RedoMode};
use ids::{BlockNo, OffsetNo};
use page::btree::{
    BTP_HALF_DEAD, BTP_INCOMPLETE_SPLIT, BTP_LEAF, BTP_ROOT, NONE, Node, Opaque, change_flags,
    set_deleted, set_next, set_prev,
};
use page::index_space;
use page::index_tuple::{self, IndexTuple, max_align, posting_without, swap_posting};
use page::{PageBuf, PageMut};
use pgerror::{PgError, Result};
use wal::{DecodedRecord, Fields};

/// How redo accesses a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Want {
    /// With its contents, if the change has not been applied yet.
    Existing,
    /// As `Existing`, under the cleanup latch.
    Cleanup,
    /// To be initialized.
    Init,
}

/// A record and its blocks.
pub(crate) trait Source {
    fn info(&self) -> u8;
    fn main(&self) -> &[u8];
    fn has_block(&self, id: u8) -> bool;
    fn block_no(&self, id: u8) -> Option<BlockNo>;
    fn block_data(&self, id: u8) -> &[u8];
    /// Changes block `id`, unless the change has been applied already or the block does not exist.
    fn change(
        &mut self,
        id: u8,
        want: Want,
        change: &mut dyn FnMut(PageMut<'_>) -> Result<()>,
    ) -> Result<()>;
}

fn damaged() -> PgError {
    PgError::internal("a record of a btree does not fit its page")
}

/// Reads fields from the start of a record's data; an error if it is too short.
fn fields<'a, T>(data: &'a [u8], read: impl FnOnce(&mut Fields<'a>) -> Option<T>) -> Result<T> {
    read(&mut Fields(data)).ok_or_else(damaged)
}

/// The posting list at `offset`; an error if there is none.
fn posting_at(node: Node<'_>, offset: OffsetNo) -> Result<IndexTuple<'_>> {
    let exists = (1..=node.max_offset()).contains(&offset);
    let tuple = exists.then(|| node.tuple(offset)).filter(|t| t.is_complete() && t.is_posting());
    tuple.ok_or_else(damaged)
}

/// Applies one record.
pub(crate) fn apply(src: &mut dyn Source) -> Result<()> {
    match src.info() & 0xF0 {
        records::INSERT_LEAF => insert(src, true, false, false),
        records::INSERT_UPPER => insert(src, false, false, false),
        records::INSERT_META => insert(src, false, true, false),
        records::INSERT_POST => insert(src, true, false, true),
        records::SPLIT_L => split(src, true),
        records::SPLIT_R => split(src, false),
        records::DEDUP => dedup_page(src),
        records::VACUUM => delete(src, true),
        records::DELETE => delete(src, false),
        records::MARK_PAGE_HALFDEAD => mark_half_dead(src),
        records::UNLINK_PAGE => unlink(src, false),
        records::UNLINK_PAGE_META => unlink(src, true),
        records::NEWROOT => new_root(src),
        // Only for recovery conflicts with queries on a standby.
        records::REUSE_PAGE => Ok(()),
        records::META_CLEANUP => restore_meta(src, 0),
        other => Err(PgError::internal(format!("btree_redo: unknown op code {other}"))
            .severity(pgerror::Severity::Panic)),
    }
}

fn restore_meta(src: &mut dyn Source, id: u8) -> Result<()> {
    let meta = read_metadata(src.block_data(id)).ok_or_else(damaged)?;
    src.change(id, Want::Init, &mut |page| {
        meta.init(page);
        Ok(())
    })
}

fn clear_incomplete_split(src: &mut dyn Source, id: u8) -> Result<()> {
    src.change(id, Want::Existing, &mut |page| {
        change_flags(page, 0, BTP_INCOMPLETE_SPLIT);
        Ok(())
    })
}

/// Adds the items from an image of a page's tuple space, which starts with the last item.
fn restore_items(page: PageMut<'_>, data: &[u8]) -> Result<()> {
    let mut items: Vec<&[u8]> = Vec::new();
    let mut rest = data;
    while !rest.is_empty() {
        let (tuple, next) = take_tuple(rest)?;
        items.push(tuple);
        rest = next;
    }
    for item in items.iter().rev() {
        if !index_space::append(page, item) {
            return Err(damaged());
        }
    }
    Ok(())
}

/// The first tuple of `data`, and the rest.
fn take_tuple(data: &[u8]) -> Result<(&[u8], &[u8])> {
    if data.len() < index_tuple::HEADER_SIZE {
        return Err(damaged());
    }
    let size = IndexTuple::new(data).size();
    let aligned = max_align(size);
    if size < index_tuple::HEADER_SIZE || aligned > data.len() {
        return Err(damaged());
    }
    Ok((&data[..size], &data[aligned..]))
}

/// Splits the posting list before `offset` as the insertion did. Returns the list and the tuple
/// that goes after it.
fn redo_posting_split(
    node: Node<'_>,
    offset: OffsetNo,
    original: &[u8],
    position: u16,
) -> Result<(Vec<u8>, Vec<u8>)> {
    let old = posting_at(node, offset.wrapping_sub(1))?;
    let position = usize::from(position);
    let (mut tuple, _) = take_tuple(original).map(|(t, rest)| (t.to_vec(), rest))?;
    if position == 0 || position >= old.posting_count() {
        return Err(damaged());
    }
    let mut list = Vec::new();
    let tid = IndexTuple::new(&tuple).tid_field();
    let out = swap_posting(old, position, tid, &mut list);
    index_tuple::set_tid(&mut tuple, out);
    Ok((list, tuple))
}

fn insert(src: &mut dyn Source, leaf: bool, meta: bool, posting: bool) -> Result<()> {
    let offset = fields(src.main(), |f| f.u16())?;
    let data = src.block_data(0).to_vec();
    if !leaf {
        clear_incomplete_split(src, 1)?;
    }
    src.change(0, Want::Existing, &mut |page| {
        let added = if posting {
            let (position, tuple) = fields(&data, |f| Some((f.u16()?, f.0)))?;
            let (list, tuple) = redo_posting_split(Node(page), offset, tuple, position)?;
            let target = page.item_mut(offset - 1).get_mut(..list.len()).ok_or_else(damaged)?;
            target.copy_from_slice(&list);
            index_space::add(page, &tuple, offset)
        } else {
            index_space::add(page, &data, offset)
        };
        if added { Ok(()) } else { Err(damaged()) }
    })?;
    if meta { restore_meta(src, 2) } else { Ok(()) }
}

fn split(src: &mut dyn Source, new_on_left: bool) -> Result<()> {
    let (level, first_right, offset, position) =
        fields(src.main(), |f| Some((f.u32()?, f.u16()?, f.u16()?, f.u16()?)))?;
    let left_block = src.block_no(0).ok_or_else(damaged)?;
    let right_block = src.block_no(1).ok_or_else(damaged)?;
    let next = src.block_no(2).unwrap_or(NONE);
    let leaf_flag = if level == 0 { BTP_LEAF } else { 0 };
    if level > 0 {
        clear_incomplete_split(src, 3)?;
    }
    let right_items = src.block_data(1).to_vec();
    src.change(1, Want::Init, &mut |page| {
        page::btree::init(page);
        Opaque { prev: left_block, next, level, flags: leaf_flag, cycle_id: 0 }.set(page);
        restore_items(page, &right_items)
    })?;
    let data = src.block_data(0).to_vec();
    src.change(0, Want::Existing, &mut |page| {
        let node = Node(page);
        let mut rest = &data[..];
        let mut tuple: Vec<u8> = Vec::new();
        let mut list = None;
        if new_on_left || position != 0 {
            let (t, next) = take_tuple(rest)?;
            (tuple, rest) = (t.to_vec(), next);
            if position != 0 {
                let (l, t) = redo_posting_split(node, offset, &tuple, position)?;
                (list, tuple) = (Some(l), t);
            }
        }
        let (high_key, _) = take_tuple(rest)?;
        let mut left = new_page();
        put(&mut left, high_key)?;
        for off in node.first_data_key()..first_right {
            match &list {
                Some(l) if off == offset - 1 => {
                    put(&mut left, l)?;
                    continue;
                }
                _ => {}
            }
            if new_on_left && off == offset {
                put(&mut left, &tuple)?;
            }
            put(&mut left, node.item(off))?;
        }
        if new_on_left && offset == first_right {
            put(&mut left, &tuple)?;
        }
        let flags = BTP_INCOMPLETE_SPLIT | leaf_flag;
        let old = Opaque::of(page);
        Opaque { next: right_block, flags, cycle_id: 0, ..old }.set(&mut left);
        left.copy_to(page);
        Ok(())
    })?;
    if next != NONE {
        src.change(2, Want::Existing, &mut |page| {
            set_prev(page, right_block);
            Ok(())
        })?;
    }
    Ok(())
}

fn dedup_page(src: &mut dyn Source) -> Result<()> {
    let intervals = dedup::decode_intervals(src.block_data(0));
    src.change(0, Want::Existing, &mut |page| {
        let node = Node(page);
        if !(1..=node.max_offset()).all(|off| node.tuple(off).is_complete()) {
            return Err(damaged());
        }
        let merged = dedup::redo_dedup(Node(page), &intervals)?;
        merged.copy_to(page);
        Ok(())
    })
}

fn delete(src: &mut dyn Source, vacuum: bool) -> Result<()> {
    let (deleted, updated) = fields(src.main(), |f| {
        if !vacuum {
            f.xid()?;
        }
        Some((usize::from(f.u16()?), usize::from(f.u16()?)))
    })?;
    let data = src.block_data(0).to_vec();
    let want = if vacuum { Want::Cleanup } else { Want::Existing };
    src.change(0, want, &mut |page| {
        let mut f = Fields(&data);
        let mut numbers = |n| (0..n).map(|_| f.u16()).collect::<Option<Vec<u16>>>();
        let deleted = numbers(deleted).ok_or_else(damaged)?;
        let updated = numbers(updated).ok_or_else(damaged)?;
        let node = Node(page);
        let mut shrunk: Vec<(OffsetNo, Vec<u8>)> = Vec::with_capacity(updated.len());
        for offset in updated {
            let count = numbers(1).ok_or_else(damaged)?[0];
            let dead = numbers(usize::from(count)).ok_or_else(damaged)?;
            let old = posting_at(node, offset)?;
            // At least one TID is kept, or else the whole tuple would be deleted.
            if dead.len() >= old.posting_count() {
                return Err(damaged());
            }
            let mut tuple = Vec::new();
            posting_without(old, dead.into_iter(), &mut tuple);
            shrunk.push((offset, tuple));
        }
        apply_deletion(page, &deleted, &shrunk, vacuum)
    })
}

/// Initializes a half-dead leaf, whose high key links to the top page of the subtree under
/// deletion.
fn half_dead(page: PageMut<'_>, prev: BlockNo, next: BlockNo, top: BlockNo) -> Result<()> {
    page::btree::init(page);
    Opaque { prev, next, level: 0, flags: BTP_HALF_DEAD | BTP_LEAF, cycle_id: 0 }.set(page);
    if index_space::append(page, &top_parent_tuple(top)) { Ok(()) } else { Err(damaged()) }
}

/// The high key of a half-dead leaf.
pub(crate) fn top_parent_tuple(top: BlockNo) -> [u8; index_tuple::HEADER_SIZE] {
    let mut t = [0; index_tuple::HEADER_SIZE];
    index_tuple::set_size(&mut t, index_tuple::HEADER_SIZE);
    index_tuple::set_top_parent(&mut t, top);
    t
}

/// Removes the downlink at `offset` from a parent page. The entry gets the downlink of the next
/// entry, which is deleted; so the key space is transferred to the right sibling.
pub(crate) fn remove_downlink(page: PageMut<'_>, offset: OffsetNo) -> Result<()> {
    let node = Node(page);
    let whole = |o| (1..=node.max_offset()).contains(&o) && node.tuple(o).is_complete();
    let next = offset.wrapping_add(1);
    if !whole(offset) || !whole(next) {
        return Err(damaged());
    }
    let right = node.tuple(next).downlink();
    index_tuple::set_downlink(page.item_mut(offset), right);
    index_space::delete(page, next)
}

fn mark_half_dead(src: &mut dyn Source) -> Result<()> {
    let rec = MarkHalfDead::decode(src.main()).ok_or_else(damaged)?;
    src.change(1, Want::Existing, &mut |page| remove_downlink(page, rec.parent_offset))?;
    src.change(0, Want::Init, &mut |page| half_dead(page, rec.left, rec.right, rec.top_parent))
}

fn unlink(src: &mut dyn Source, meta: bool) -> Result<()> {
    let rec = UnlinkPage::decode(src.main()).ok_or_else(damaged)?;
    if rec.left != NONE {
        src.change(1, Want::Existing, &mut |page| {
            set_next(page, rec.right);
            Ok(())
        })?;
    }
    src.change(0, Want::Init, &mut |page| {
        page::btree::init(page);
        let flags = if rec.level == 0 { BTP_LEAF } else { 0 };
        Opaque { prev: rec.left, next: rec.right, level: rec.level, flags, cycle_id: 0 }.set(page);
        set_deleted(page, rec.safe_xid);
        Ok(())
    })?;
    src.change(2, Want::Existing, &mut |page| {
        set_prev(page, rec.left);
        Ok(())
    })?;
    if src.has_block(3) {
        src.change(3, Want::Init, &mut |page| {
            half_dead(page, rec.leaf_left, rec.leaf_right, rec.leaf_top_parent)
        })?;
    }
    if meta { restore_meta(src, 4) } else { Ok(()) }
}

fn new_root(src: &mut dyn Source) -> Result<()> {
    let (_root, level) = fields(src.main(), |f| Some((f.u32()?, f.u32()?)))?;
    let items = src.block_data(0).to_vec();
    src.change(0, Want::Init, &mut |page| {
        page::btree::init(page);
        let flags = if level == 0 { BTP_ROOT | BTP_LEAF } else { BTP_ROOT };
        Opaque { level, flags, ..Opaque::default() }.set(page);
        if level > 0 { restore_items(page, &items) } else { Ok(()) }
    })?;
    if level > 0 {
        clear_incomplete_split(src, 1)?;
    }
    restore_meta(src, 2)
}

struct Recovery<'c, 'p, 'r> {
    cx: &'c mut RedoCx<'p>,
    record: &'r DecodedRecord,
}

impl Source for Recovery<'_, '_, '_> {
    fn info(&self) -> u8 {
        self.record.info()
    }
    fn main(&self) -> &[u8] {
        self.record.main()
    }
    fn has_block(&self, id: u8) -> bool {
        self.record.has_block(id)
    }
    fn block_no(&self, id: u8) -> Option<BlockNo> {
        self.record.block(id).map(|b| b.block)
    }
    fn block_data(&self, id: u8) -> &[u8] {
        self.record.block_data(id).unwrap_or(&[])
    }
    fn change(
        &mut self,
        id: u8,
        want: Want,
        change: &mut dyn FnMut(PageMut<'_>) -> Result<()>,
    ) -> Result<()> {
        let mode = match want {
            Want::Existing => RedoMode::Normal,
            Want::Cleanup => RedoMode::Cleanup,
            Want::Init => RedoMode::Init,
        };
        match bufmgr::redo::read_for_redo(self.cx, self.record, id, mode)? {
            Redo::Apply(mut guard) => bufmgr::redo::apply(&mut guard, self.record, change),
            Redo::Restored(_) | Redo::Done(_) | Redo::Missing => Ok(()),
        }
    }
}

/// Replays one record of resource manager Btree.
pub fn redo(cx: &mut RedoCx<'_>, record: &DecodedRecord) -> Result<()> {
    apply(&mut Recovery { cx, record })
}

/// True if redo of the record changes a single page.
pub fn redo_concerns_one_page(record: &DecodedRecord) -> bool {
    record.blocks().count() == 1
}

/// Clears the parts of a page that may differ after redo: hints and fields that are not logged.
/// Counterpart: `btree_mask`.
pub fn mask(page: &mut PageBuf) {
    page.set_lsn(ids::Lsn::INVALID);
    page.set_checksum_field(0);
    page.set_flags(0);
    page.set_prune_xid(ids::Xid::INVALID);
    let node = Node(page);
    if !node.has_special() {
        return;
    }
    let leaf = node.is_leaf();
    let deleted = node.is_deleted();
    let (lower, upper) = (page.lower(), page.upper());
    if lower <= upper {
        page.bytes_mut()[lower..upper].fill(0);
    }
    if leaf && !deleted {
        for off in 1..=page.max_offset() {
            let lp = page.line_pointer(off);
            if lp.is_used() {
                let plain = page::LinePointer::normal(lp.offset(), lp.len());
                page.set_line_pointer(off, plain);
            }
        }
    }
    let garbage = page::btree::BTP_HAS_GARBAGE | page::btree::BTP_SPLIT_END;
    change_flags(page, 0, garbage);
    page::btree::set_cycle_id(page, 0);
}
