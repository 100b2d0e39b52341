//! The contents of the frames, for views of the pool. Counterpart: contrib/pg_buffercache.

use crate::frame::{DIRTY, TAGGED, USAGE, USAGES, VALID, pins};
use crate::pool::BufferPool;
use ids::{BlockNo, Fork, RelFile};
use sync::atomic::Ordering;

/// A frame that holds a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferInfo {
    pub rel: RelFile,
    pub fork: Fork,
    pub block: BlockNo,
    pub is_dirty: bool,
    pub usage: u16,
    pub pins: u32,
}

impl BufferPool {
    /// The page in a frame, which may be another one at once; `None` if there is no valid page.
    /// Frames are numbered from 0 to [`BufferPool::frames`].
    pub fn buffer(&self, frame: u32) -> Option<BufferInfo> {
        let desc = self.frames.desc(frame);
        let held = TAGGED | VALID;
        loop {
            let state = desc.state.load(Ordering::Acquire);
            if state & held != held {
                return None;
            }
            let id = desc.fork_id.load(Ordering::Relaxed);
            let tag = desc.tag();
            // The tag may have changed while it was read.
            let after = desc.state.load(Ordering::Acquire);
            let same = desc.fork_id.load(Ordering::Relaxed) == id;
            if after & held == held && same && desc.tag() == tag {
                return Some(BufferInfo {
                    rel: tag.rel,
                    fork: tag.fork,
                    block: tag.block,
                    is_dirty: state & DIRTY != 0,
                    usage: ((state & USAGES) / USAGE) as u16,
                    pins: pins(state) as u32,
                });
            }
        }
    }
}
