//! Pins and latches as types: the type of a guard decides what its holder may do to the page.
//!
//! A guard derefs to [`Page`] for reading. Dropping it releases latch and pin; `into_pin` releases
//! only the latch. Latches are not reentrant: a thread never latches a page twice.

use crate::edit::PageEdit;
use crate::forks::ForkBuffers;
use crate::frame::{FrameNo, JUST_DIRTIED, PIN, PIN_WAITER, TAGGED, VALID, pins};
use crate::pool::BufferPool;
use ids::{BlockNo, Fork, RelFile};
use page::{Hints, Page, PageMut};
use pgerror::{PgError, Result};
use std::mem;
use std::ops::{Deref, DerefMut};
use sync::atomic::Ordering;
use sync::{Arc, LatchMode};
use wal::RecordBuilder;

/// The session's record builder, for the image that hints may log: it decides how images are
/// compressed, and counts them and the dirtied pages. With `None` nothing is counted, and images
/// are compressed by the server's setting.
type Scratch<'s> = Option<&'s mut RecordBuilder>;

/// Keeps a page in its frame; gives no access to its contents.
pub struct Pin<'a> {
    pool: &'a BufferPool,
    frame: FrameNo,
}

impl Drop for Pin<'_> {
    #[inline]
    fn drop(&mut self) {
        self.pool.frames.desc(self.frame).unpin();
    }
}

/// Share latch: reading, while other threads read and one may set hints.
pub struct ShareGuard<'a>(Pin<'a>);
/// Share-exclusive latch: reading and setting hints, while other threads read.
pub struct ShareExclusiveGuard<'a>(Pin<'a>);
/// Exclusive latch: changing, through a [`PageEdit`].
pub struct ExclusiveGuard<'a>(Pin<'a>);
/// Exclusive latch, and no other pin: tuples may be moved and removed.
pub struct CleanupGuard<'a>(ExclusiveGuard<'a>);

impl<'a> Pin<'a> {
    /// Wraps a pin that has been counted already.
    #[inline]
    pub(crate) fn adopt(pool: &'a BufferPool, frame: FrameNo) -> Pin<'a> {
        Pin { pool, frame }
    }

    #[inline]
    pub(crate) fn frame(&self) -> FrameNo {
        self.frame
    }

    #[inline]
    fn latch(&self) -> &sync::PageLatch {
        &self.pool.frames.desc(self.frame).latch
    }

    #[inline]
    pub fn block(&self) -> BlockNo {
        BlockNo(self.pool.frames.desc(self.frame).block.load(Ordering::Relaxed))
    }

    pub fn rel(&self) -> RelFile {
        self.pool.frames.desc(self.frame).tag().rel
    }

    pub fn fork(&self) -> Fork {
        self.pool.frames.desc(self.frame).tag().fork
    }

    /// The handle of the page's fork (a lock and a clone of an `Arc`: not for hot paths).
    pub fn fork_buffers(&self) -> Arc<ForkBuffers> {
        let owner = self.pool.frames.owner(self.frame).lock();
        owner.clone().expect("a pinned frame has an owner")
    }

    pub fn pool(&self) -> &'a BufferPool {
        self.pool
    }

    /// True if both pin the same page.
    pub fn is_same(&self, other: &Pin<'_>) -> bool {
        std::ptr::eq(self.pool, other.pool) && self.frame == other.frame
    }

    #[inline]
    pub fn share(self) -> ShareGuard<'a> {
        self.latch().acquire(LatchMode::Share);
        self.latched(true);
        ShareGuard(self)
    }

    pub fn share_exclusive(self) -> ShareExclusiveGuard<'a> {
        self.latch().acquire(LatchMode::ShareExclusive);
        self.latched(true);
        ShareExclusiveGuard(self)
    }

    #[inline]
    pub fn exclusive(self) -> ExclusiveGuard<'a> {
        self.latch().acquire(LatchMode::Exclusive);
        self.latched(true);
        ExclusiveGuard(self)
    }

    /// As [`Pin::exclusive`], for a page of a relation that no other session can see yet: its pages
    /// have no latch order.
    pub fn exclusive_unordered(self) -> ExclusiveGuard<'a> {
        self.latch().acquire(LatchMode::Exclusive);
        self.latched(false);
        ExclusiveGuard(self)
    }

    /// Wraps an exclusive latch that is held already.
    pub(crate) fn assume_exclusive(self) -> ExclusiveGuard<'a> {
        assert!(self.latch().is_exclusive());
        self.latched(false);
        ExclusiveGuard(self)
    }

    pub fn try_share(self) -> Result<ShareGuard<'a>, Pin<'a>> {
        if self.latch().try_acquire(LatchMode::Share) {
            self.latched(false);
            Ok(ShareGuard(self))
        } else {
            Err(self)
        }
    }

    pub fn try_share_exclusive(self) -> Result<ShareExclusiveGuard<'a>, Pin<'a>> {
        if self.latch().try_acquire(LatchMode::ShareExclusive) {
            self.latched(false);
            Ok(ShareExclusiveGuard(self))
        } else {
            Err(self)
        }
    }

    pub fn try_exclusive(self) -> Result<ExclusiveGuard<'a>, Pin<'a>> {
        if self.latch().try_acquire(LatchMode::Exclusive) {
            self.latched(false);
            Ok(ExclusiveGuard(self))
        } else {
            Err(self)
        }
    }

    /// Waits until this is the only pin. The caller must have no other pin on the page. An error if
    /// another thread waits for the same. Counterpart: LockBufferForCleanup.
    pub fn cleanup(self) -> Result<CleanupGuard<'a>> {
        let desc = self.pool.frames.desc(self.frame);
        loop {
            desc.latch.acquire(LatchMode::Exclusive);
            // The flag is set in the same atomic step that finds other pins.
            let waiting =
                desc.update(|s| (pins(s) > 1 && s & PIN_WAITER == 0).then_some(s | PIN_WAITER));
            match waiting {
                Err(s) if pins(s) == 1 => {
                    self.latched(true);
                    return Ok(CleanupGuard(ExclusiveGuard(self)));
                }
                Err(_) => {
                    desc.latch.release(LatchMode::Exclusive);
                    return Err(PgError::internal(
                        "multiple backends attempting to wait for pincount 1",
                    ));
                }
                Ok(_) => {}
            }
            desc.latch.release(LatchMode::Exclusive);
            desc.event.wait_while(|| pins(desc.state.load(Ordering::Acquire)) > 1);
            desc.state.fetch_and(!PIN_WAITER, Ordering::Relaxed);
        }
    }

    /// The exclusive latch, if it is free and this is the only pin.
    /// Counterpart: ConditionalLockBufferForCleanup.
    pub fn try_cleanup(self) -> Result<CleanupGuard<'a>, Pin<'a>> {
        let exclusive = self.try_exclusive()?;
        exclusive.try_into_cleanup().map_err(ExclusiveGuard::into_pin)
    }

    /// Another pin on the same page.
    pub fn another(&self) -> Pin<'a> {
        self.pool.frames.desc(self.frame).state.fetch_add(PIN, Ordering::Relaxed);
        Pin { pool: self.pool, frame: self.frame }
    }

    /// Sets hints. The caller holds a latch other than share.
    fn hint(
        &self,
        standard: bool,
        scratch: Scratch<'_>,
        change: impl FnOnce(Hints<'_>) -> bool,
    ) -> bool {
        debug_assert!(self.is_valid());
        // SAFETY: latched share-exclusively or exclusively by the caller, a guard; the guard is
        // borrowed mutably, so no slice of the page is alive in this thread.
        let hints = unsafe { self.pool.frames.page(self.frame).hints() };
        let changed = change(hints);
        if changed {
            self.pool.mark_dirty_hint(self.frame, standard, hints, scratch);
        }
        changed
    }

    /// Checks the latch order, after a latch was acquired.
    #[inline]
    fn latched(&self, waited: bool) {
        crate::order::acquired(self.pool, self.frame, self.page(), waited);
    }

    fn is_valid(&self) -> bool {
        let state = self.pool.frames.desc(self.frame).state.load(Ordering::Relaxed);
        state & (VALID | TAGGED) == VALID | TAGGED && pins(state) > 0
    }

    /// The page. The caller holds a latch for as long as `self` is borrowed.
    #[inline]
    fn page(&self) -> &Page {
        // SAFETY: only guards call this, and their latch is held as long as they live.
        unsafe { self.pool.frames.page(self.frame) }
    }
}

macro_rules! latched {
    ($guard:ident, $mode:expr) => {
        impl Drop for $guard<'_> {
            #[inline]
            fn drop(&mut self) {
                crate::order::released(self.0.pool, self.0.frame);
                self.0.latch().release($mode);
            }
        }

        impl Deref for $guard<'_> {
            type Target = Page;
            #[inline]
            fn deref(&self) -> &Page {
                self.0.page()
            }
        }

        impl<'a> $guard<'a> {
            #[inline]
            pub fn block(&self) -> BlockNo {
                self.0.block()
            }

            pub fn rel(&self) -> RelFile {
                self.0.rel()
            }

            pub fn fork(&self) -> Fork {
                self.0.fork()
            }

            /// See [`Pin::fork_buffers`].
            pub fn fork_buffers(&self) -> Arc<ForkBuffers> {
                self.0.fork_buffers()
            }

            pub fn pool(&self) -> &'a BufferPool {
                self.0.pool
            }

            /// The page that the guard derefs to, for places where type inference does not find it.
            #[inline]
            pub fn page(&self) -> &Page {
                self.0.page()
            }

            pub fn pin(&self) -> &Pin<'a> {
                &self.0
            }

            /// Releases the latch, keeps the pin.
            #[inline]
            pub fn into_pin(self) -> Pin<'a> {
                let pin = self.keep_latch();
                crate::order::released(pin.pool, pin.frame);
                pin.latch().release($mode);
                pin
            }

            /// The pin, with the latch still held: for changes of the latch mode.
            #[inline]
            fn keep_latch(self) -> Pin<'a> {
                let pin = Pin { pool: self.0.pool, frame: self.0.frame };
                mem::forget(self);
                pin
            }
        }
    };
}

latched!(ShareGuard, LatchMode::Share);
latched!(ShareExclusiveGuard, LatchMode::ShareExclusive);
latched!(ExclusiveGuard, LatchMode::Exclusive);

impl<'a> ShareGuard<'a> {
    /// Turns the latch into share-exclusive if no other thread has that, without releasing the
    /// page.
    pub fn try_upgrade(self) -> Result<ShareExclusiveGuard<'a>, ShareGuard<'a>> {
        if self.0.latch().try_upgrade() {
            Ok(ShareExclusiveGuard(self.keep_latch()))
        } else {
            Err(self)
        }
    }

    /// Sets hints if the latch can become share-exclusive at once; hints are optional. `change`
    /// returns whether it changed anything; the page is then marked dirty as PostgreSQL's
    /// MarkBufferDirtyHint does, which may log its image.
    pub fn try_set_hints(
        &mut self,
        scratch: Scratch<'_>,
        change: impl FnOnce(Hints<'_>) -> bool,
    ) -> bool {
        /// Downgrades the latch also if `change` panics.
        struct Downgrade<'l>(&'l sync::PageLatch);
        impl Drop for Downgrade<'_> {
            fn drop(&mut self) {
                self.0.downgrade(LatchMode::ShareExclusive);
            }
        }
        if !self.0.latch().try_upgrade() {
            return false;
        }
        let _downgrade = Downgrade(self.0.latch());
        self.0.hint(true, scratch, change)
    }
}

impl<'a> ShareExclusiveGuard<'a> {
    pub fn downgrade(self) -> ShareGuard<'a> {
        let pin = self.keep_latch();
        pin.latch().downgrade(LatchMode::ShareExclusive);
        ShareGuard(pin)
    }

    /// See [`ShareGuard::try_set_hints`].
    pub fn set_hints(
        &mut self,
        scratch: Scratch<'_>,
        change: impl FnOnce(Hints<'_>) -> bool,
    ) -> bool {
        self.0.hint(true, scratch, change)
    }
}

impl<'a> ExclusiveGuard<'a> {
    /// See [`ShareGuard::try_set_hints`].
    pub fn set_hints(
        &mut self,
        scratch: Scratch<'_>,
        change: impl FnOnce(Hints<'_>) -> bool,
    ) -> bool {
        self.0.hint(true, scratch, change)
    }

    /// Changes a page whose contents are only a hint (free space map), without a record. An image
    /// is logged if a torn write could break the checksum. `standard`: the space between `pd_lower`
    /// and `pd_upper` is unused. Counterpart: MarkBufferDirtyHint.
    pub fn change_unlogged_hint(
        &mut self,
        standard: bool,
        change: impl FnOnce(PageMut<'_>) -> bool,
    ) -> bool {
        // SAFETY: latched exclusively, and borrowed mutably for as long as the reference lives.
        let changed = change(unsafe { self.0.pool.frames.page_mut(self.0.frame) });
        changed && self.0.hint(standard, None, |_| true)
    }

    /// The page for changing; it must be registered with the edit. Several guards may give access
    /// to their pages at once.
    #[inline]
    pub fn page_mut<'g>(&'g mut self, edit: &'g PageEdit<'_, '_>) -> PageMut<'g> {
        assert!(edit.covers(self), "a page is changed that is not registered with the edit");
        self.contents_mut()
    }

    /// The page for changing, outside edits: redo, and edits themselves.
    #[inline]
    pub(crate) fn contents_mut(&mut self) -> PageMut<'_> {
        // SAFETY: latched exclusively, and borrowed mutably for as long as the reference lives.
        unsafe { self.0.pool.frames.page_mut(self.0.frame) }
    }

    /// Succeeds if this is the only pin.
    pub fn try_into_cleanup(self) -> Result<CleanupGuard<'a>, ExclusiveGuard<'a>> {
        let state = self.0.pool.frames.desc(self.0.frame).state.load(Ordering::Acquire);
        if pins(state) == 1 { Ok(CleanupGuard(self)) } else { Err(self) }
    }

    pub fn downgrade(self) -> ShareGuard<'a> {
        let pin = self.keep_latch();
        pin.latch().downgrade(LatchMode::Exclusive);
        ShareGuard(pin)
    }
}

impl<'a> CleanupGuard<'a> {
    pub fn into_exclusive(self) -> ExclusiveGuard<'a> {
        self.0
    }

    pub fn into_pin(self) -> Pin<'a> {
        self.0.into_pin()
    }
}

impl<'a> Deref for CleanupGuard<'a> {
    type Target = ExclusiveGuard<'a>;
    fn deref(&self) -> &ExclusiveGuard<'a> {
        &self.0
    }
}

impl DerefMut for CleanupGuard<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

/// Access by frame to the pages of an edit, for the log to read and to set their LSN: the edit
/// borrows no guards.
pub(crate) mod registered {
    use crate::frame::FrameNo;
    use crate::pool::BufferPool;
    use page::Page;

    /// The page of a registered frame, for the log to read.
    pub(crate) fn page(pool: &BufferPool, frame: FrameNo) -> &Page {
        assert!(pool.frames.desc(frame).latch.is_exclusive(), "a registered page is not latched");
        // SAFETY: latched exclusively by the caller's guard; while the record is inserted the guard
        // cannot give access to the page, since that borrows the edit.
        unsafe { pool.frames.page(frame) }
    }

    /// Sets the page's LSN to the record's end, after the change that needs it.
    pub(crate) fn finish(
        pool: &BufferPool,
        frame: FrameNo,
        lsn: ids::Lsn,
        change: Option<fn(page::PageMut<'_>, ids::Lsn)>,
    ) {
        assert!(pool.frames.desc(frame).latch.is_exclusive(), "a registered page is not latched");
        // SAFETY: as in `page`; the page is changed and nothing is kept.
        let page = unsafe { pool.frames.page_mut(frame) };
        if let Some(change) = change {
            change(page, lsn);
        }
        page.set_lsn(lsn);
    }
}

impl BufferPool {
    /// Marks the page dirty after a change of hints; `hints` gives access to its LSN. The caller
    /// holds a latch other than share.
    ///
    /// With checksums or wal_log_hints, a torn write of a hint would damage the page, so the first
    /// change since the redo pointer logs an image. Checkpoints wait for this section, so that the
    /// record cannot precede a redo pointer while the page counts as clean.
    fn mark_dirty_hint(
        &self,
        frame: FrameNo,
        standard: bool,
        hints: Hints<'_>,
        mut scratch: Scratch<'_>,
    ) {
        let desc = self.frames.desc(frame);
        let both = crate::frame::DIRTY | JUST_DIRTIED;
        if desc.state.load(Ordering::Relaxed) & both == both {
            return;
        }
        let mut mark_dirty = || {
            let clean = self.mark_dirty(frame);
            if let Some(scratch) = &mut scratch {
                scratch.dirtied += u64::from(clean);
            }
        };
        let Some(wal) = self.wal.as_deref().filter(|wal| wal.log_hints()) else {
            mark_dirty();
            return;
        };
        let owner = self.owner_of(frame);
        if !owner.is_permanent() {
            mark_dirty();
            return;
        }
        // No record can be logged, so the hint must not reach the disk by itself.
        if wal.in_recovery() || owner.skips_wal() {
            return;
        }
        let _delay = wal.delay_checkpoint_start();
        let lsn = hints.lsn();
        mark_dirty();
        if lsn > wal.redo_ptr() {
            return;
        }
        match self.log_hint_image(wal, desc.tag(), standard, &hints, scratch) {
            Ok(end) => hints.set_lsn(end),
            Err(e) => self.crash(&e),
        }
    }
}
