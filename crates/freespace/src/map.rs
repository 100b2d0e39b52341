//! The free space map of one relation.
//!
//! Space is stored as 256 categories of 32 bytes; 255 means space for the largest request.
//! Recording changes the bottom page only; vacuum updates the upper levels. A search that is
//! misdirected by an upper level corrects it and starts again.

use crate::address::{Address, BOTTOM, ROOT};
use bufmgr::{BufferPool, ExclusiveGuard, ForkBuffers, PageEdit, Pin, Strategy};
use ids::{BlockNo, Xid};
use page::fsm::{self, SLOTS_PER_PAGE, Search};
use pgerror::{PgError, Result};
use sync::Arc;
use wal::{RecordBuilder, RegFlags, RmgrId};

/// Size of a category, in bytes.
const STEP: usize = 32;
/// The largest request: a heap tuple that fills a page. Counterpart: `MaxFSMRequestSize`.
pub const REQUEST_MAX: usize = 8160;
/// Most restarts of a search.
const RESTARTS_MAX: u32 = 10_000;
/// Counterpart: catalog/pg_control.h.
const XLOG_FPI: u8 = 0xB0;

/// The category of a page with `space` free bytes.
fn category_of(space: usize) -> u8 {
    if space >= REQUEST_MAX { 255 } else { (space / STEP).min(254) as u8 }
}

/// The smallest category whose pages all have `needed` free bytes.
fn category_for(needed: usize) -> Result<u8> {
    if needed > REQUEST_MAX {
        return Err(PgError::internal(format!("invalid FSM request size {needed}")));
    }
    Ok(needed.div_ceil(STEP).clamp(1, 255) as u8)
}

/// The least free space of a page of this category.
fn space_of(category: u8) -> usize {
    if category == 255 { REQUEST_MAX } else { usize::from(category) * STEP }
}

/// The free space map of a relation: a view of its fork, cheap to make.
#[derive(Clone, Copy)]
pub struct Fsm<'a> {
    pub pool: &'a BufferPool,
    /// The relation's FSM fork (its file may not exist yet).
    pub fork: &'a Arc<ForkBuffers>,
    heap_blocks: Option<u32>,
}

impl<'a> Fsm<'a> {
    pub fn new(pool: &'a BufferPool, fork: &'a Arc<ForkBuffers>) -> Fsm<'a> {
        Fsm { pool, fork, heap_blocks: None }
    }

    /// Limits the map to `heap_blocks`, the relation's length: searches do not return pages beyond
    /// (a crash may leave them in the map) and clear their entries.
    #[must_use]
    pub fn within(self, heap_blocks: u32) -> Fsm<'a> {
        Fsm { heap_blocks: Some(heap_blocks), ..self }
    }

    /// A page with at least `needed` free bytes according to the map. Counterpart:
    /// GetPageWithFreeSpace.
    pub fn search(&self, needed: usize) -> Result<Option<BlockNo>> {
        self.search_category(category_for(needed)?)
    }

    /// Records the free space of a page; the next vacuum updates the upper levels. Counterpart:
    /// RecordPageWithFreeSpace.
    pub fn record(&self, block: BlockNo, space: usize) -> Result<()> {
        let (address, slot) = Address::of(block);
        self.set_and_search(address, slot, category_of(space), 0).map(|_| ())
    }

    /// `record`, then `search`, preferring pages nearby. Counterpart:
    /// RecordAndGetPageWithFreeSpace.
    pub fn record_and_search(
        &self,
        old: BlockNo,
        old_space: usize,
        needed: usize,
    ) -> Result<Option<BlockNo>> {
        let wanted = category_for(needed)?;
        let (address, slot) = Address::of(old);
        let near = self.set_and_search(address, slot, category_of(old_space), wanted)?;
        match near.map(|slot| address.heap_block(slot)) {
            Some(block) if self.exists(block) => Ok(Some(block)),
            _ => self.search_category(wanted),
        }
    }

    /// In redo. Counterpart: XLogRecordPageWithFreeSpace.
    pub fn record_in_redo(&self, block: BlockNo, space: usize) -> Result<()> {
        self.record(block, space)
    }

    /// The recorded free space of a page, in bytes (rounded down). Counterpart:
    /// GetRecordedFreeSpace.
    pub fn recorded(&self, block: BlockNo) -> Result<usize> {
        let (address, slot) = Address::of(block);
        match self.read(address)? {
            Some(pin) => Ok(space_of(fsm::get(&pin.share(), slot))),
            None => Ok(0),
        }
    }

    /// Updates the upper levels. Counterpart: FreeSpaceMapVacuum.
    pub fn vacuum(&self) -> Result<()> {
        self.vacuum_page(ROOT, BlockNo(0), BlockNo::INVALID).map(|_| ())
    }

    /// As `vacuum`, for heap blocks from `start` up to `end` (exclusive; `BlockNo::INVALID`: all).
    pub fn vacuum_range(&self, start: BlockNo, end: BlockNo) -> Result<()> {
        if start < end {
            self.vacuum_page(ROOT, start, end)?;
        }
        Ok(())
    }

    /// To be called before the heap is truncated to `nblocks`: clears the entries beyond (logged as
    /// an image) and returns the length to which the map's fork is to be truncated; `None` if there
    /// is nothing to truncate. Counterpart: FreeSpaceMapPrepareTruncateRel.
    pub fn prepare_truncate(&self, nblocks: u32) -> Result<Option<u32>> {
        let (address, slot) = Address::of(BlockNo(nblocks));
        let block = address.block();
        if slot == 0 {
            return Ok((self.nblocks()? > block.0).then_some(block.0));
        }
        let Some(pin) = self.read(address)? else { return Ok(None) };
        let mut guard = pin.exclusive();
        let wal = self
            .pool
            .wal()
            .filter(|wal| self.fork.is_logged() && wal.log_hints() && !wal.in_recovery());
        // The entries must not reappear in a torn page: their heap blocks will not exist.
        match wal {
            Some(wal) => {
                let mut record = RecordBuilder::new(RmgrId::Xlog, XLOG_FPI);
                let mut edit = PageEdit::begin(wal, &mut record);
                fsm::truncate(edit.change(&mut guard, 0, RegFlags::FORCE_IMAGE), slot);
                edit.log(RmgrId::Xlog, XLOG_FPI, Xid::INVALID)?;
            }
            None => bufmgr::redo::apply_without_lsn(&mut guard, |page| {
                fsm::truncate(page, slot);
                Ok(())
            })?,
        }
        Ok(Some(block.0 + 1))
    }

    /// Blocks of the fork; 0 if there is no file.
    fn nblocks(&self) -> Result<u32> {
        self.pool.nblocks_or_none(self.fork).map(|n| n.unwrap_or(0))
    }

    fn exists(&self, heap: BlockNo) -> bool {
        self.heap_blocks.is_none_or(|n| heap.0 < n)
    }

    /// The page, initialised; `None` beyond the end.
    fn read(&self, address: Address) -> Result<Option<Pin<'a>>> {
        let block = address.block();
        if block.0 >= self.nblocks()? {
            return Ok(None);
        }
        // Damaged pages count as empty.
        let pin = self.pool.read_zero_on_error(self.fork, block, &mut Strategy::normal())?;
        let share = pin.share();
        if !share.is_new() {
            return Ok(Some(share.into_pin()));
        }
        let mut guard = share.into_pin().exclusive();
        guard.change_unlogged_hint(false, |page| {
            if page.is_new() {
                page.init(0);
            }
            // Left clean: the first change of an entry marks it dirty.
            false
        });
        Ok(Some(guard.into_pin()))
    }

    fn read_or_extend(&self, address: Address) -> Result<Pin<'a>> {
        loop {
            if let Some(pin) = self.read(address)? {
                return Ok(pin);
            }
            let (there, wanted) = (self.nblocks()?, address.block().0 + 1);
            if there == 0 {
                self.pool.create_fork(self.fork)?;
            }
            if there < wanted {
                // Another thread may do the same: some extra pages do no harm.
                self.pool.extend_by(self.fork, wanted - there, &mut Strategy::normal())?;
            }
        }
    }

    /// Sets a slot, then (`min` above 0) searches that page for a slot with category `min` or more.
    fn set_and_search(
        &self,
        address: Address,
        slot: usize,
        value: u8,
        min: u8,
    ) -> Result<Option<usize>> {
        let mut guard = self.read_or_extend(address)?.exclusive();
        guard.change_unlogged_hint(false, |page| fsm::set(page, slot, value));
        if min == 0 {
            return Ok(None);
        }
        Ok(search_exclusive(&mut guard, min, address.level == BOTTOM))
    }

    /// Searches from the root down. Counterpart: `fsm_search`.
    fn search_category(&self, min: u8) -> Result<Option<BlockNo>> {
        let mut address = ROOT;
        let mut restarts = 0;
        loop {
            let (found, max) = match self.read(address)? {
                Some(pin) => search_page(pin, min, address.level == BOTTOM),
                None => (None, 0),
            };
            // If the search ends here, a slot is wrong: the slot, and its correct value.
            let (wrong, slot, value) = match found {
                Some(slot) if address.level > BOTTOM => {
                    address = address.child(slot);
                    continue;
                }
                Some(slot) if self.exists(address.heap_block(slot)) => {
                    return Ok(Some(address.heap_block(slot)));
                }
                Some(slot) => (address, slot, 0),
                None if address == ROOT => return Ok(None),
                None => {
                    let (parent, slot) = address.parent();
                    (parent, slot, max)
                }
            };
            self.set_and_search(wrong, slot, value, 0)?;
            restarts += 1;
            if restarts > RESTARTS_MAX {
                return Ok(None);
            }
            address = ROOT;
        }
    }

    /// Updates the page's slots for heap blocks from `start` to `end` from its children; returns
    /// its largest category, `None` beyond the fork's end. Counterpart: `fsm_vacuum_page`.
    fn vacuum_page(&self, address: Address, start: BlockNo, end: BlockNo) -> Result<Option<u8>> {
        let Some(pin) = self.read(address)? else { return Ok(None) };
        if address.level > BOTTOM {
            let slot_of = |heap: BlockNo| {
                let (mut at, mut slot) = Address::of(heap);
                while at.level < address.level {
                    (at, slot) = at.parent();
                }
                (at.page, slot)
            };
            let (first_page, first_slot) = slot_of(start);
            let (last_page, last_slot) = slot_of(BlockNo(end.0 - 1));
            let first = match first_page.cmp(&address.page) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => first_slot,
                std::cmp::Ordering::Greater => SLOTS_PER_PAGE,
            };
            let slots_end = match last_page.cmp(&address.page) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => last_slot + 1,
                std::cmp::Ordering::Greater => SLOTS_PER_PAGE,
            };
            let mut at_end = false;
            for slot in first..slots_end {
                let child = if at_end {
                    None
                } else {
                    // The recursion is at most three levels deep.
                    self.vacuum_page(address.child(slot), start, end)?
                };
                at_end |= child.is_none();
                let value = child.unwrap_or(0);
                let known = fsm::get(&pin.another().share(), slot);
                if known != value {
                    let mut guard = pin.another().exclusive();
                    guard.change_unlogged_hint(false, |page| fsm::set(page, slot, value));
                }
            }
        }
        let mut guard = pin.share();
        // Searches start at the first slot again, so that the file can shrink at its end.
        guard.try_set_hints(None, |hints| {
            fsm::set_next_slot(hints, 0);
            false
        });
        Ok(Some(fsm::max(&guard)))
    }
}

/// Searches the page: returns the slot, and the page's largest category.
fn search_page(pin: Pin<'_>, min: u8, advance: bool) -> (Option<usize>, u8) {
    let mut guard = pin.share();
    match fsm::search(&guard, min) {
        Search::NotFound => (None, fsm::max(&guard)),
        Search::Found(slot) => {
            guard.try_set_hints(None, |hints| {
                fsm::set_next_slot(hints, slot + usize::from(advance));
                false
            });
            (Some(slot), fsm::max(&guard))
        }
        Search::Torn => {
            let mut guard = guard.into_pin().exclusive();
            let found = search_exclusive(&mut guard, min, advance);
            (found, fsm::max(&guard))
        }
    }
}

fn search_exclusive(guard: &mut ExclusiveGuard<'_>, min: u8, advance: bool) -> Option<usize> {
    let mut result = fsm::search(guard, min);
    if result == Search::Torn {
        guard.change_unlogged_hint(false, fsm::rebuild);
        result = fsm::search(guard, min);
    }
    match result {
        Search::Found(slot) => {
            guard.set_hints(None, |hints| {
                fsm::set_next_slot(hints, slot + usize::from(advance));
                false
            });
            Some(slot)
        }
        _ => None,
    }
}
