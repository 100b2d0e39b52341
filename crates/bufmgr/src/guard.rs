//! Pins and latches as types: what may be done to a page is what its guard lets one do.
//!
//! A guard derefs to [`Page`] for reading. Dropping it drops latch and pin; `into_pin` only the latch.

use crate::{BufferPool, PageEdit};
use ids::{BlockNo, Fork, RelFile};
use page::{Hints, Page, PageMut};
use pgerror::Result;
use std::ops::Deref;
use sync::Arc;

/// Keeps a page in its frame. Says nothing about its contents.
pub struct Pin<'a> {
    pool: &'a BufferPool,
    frame: u32,
}

macro_rules! common {
    ($guard:ident) => {
        impl<'a> $guard<'a> {
            pub fn block(&self) -> BlockNo {
                todo!()
            }
            pub fn rel(&self) -> RelFile {
                todo!()
            }
            pub fn fork(&self) -> Fork {
                todo!()
            }
            /// The handle of the page's fork (a clone of an `Arc`: not for hot paths).
            pub fn fork_buffers(&self) -> Arc<crate::ForkBuffers> {
                todo!()
            }
            pub fn pool(&self) -> &'a BufferPool {
                todo!()
            }
        }
    };
}

macro_rules! page_access {
    ($guard:ident) => {
        common!($guard);
        impl Deref for $guard<'_> {
            type Target = Page;
            fn deref(&self) -> &Page {
                todo!()
            }
        }
        impl<'a> $guard<'a> {
            /// Drops the latch, keeps the pin.
            pub fn into_pin(self) -> Pin<'a> {
                todo!()
            }
        }
    };
}

/// Share latch: reading, while others read and one may set hints.
pub struct ShareGuard<'a>(Pin<'a>);
/// Share-exclusive latch: reading and setting hints, while others read.
pub struct ShareExclusiveGuard<'a>(Pin<'a>);
/// Exclusive latch: changing, through a [`PageEdit`].
pub struct ExclusiveGuard<'a>(Pin<'a>);
/// Exclusive latch, and nobody else has a pin: tuples may be moved and removed.
pub struct CleanupGuard<'a>(ExclusiveGuard<'a>);

common!(Pin);
page_access!(ShareGuard);
page_access!(ShareExclusiveGuard);
page_access!(ExclusiveGuard);

impl<'a> Pin<'a> {
    pub fn share(self) -> ShareGuard<'a> {
        todo!()
    }
    pub fn share_exclusive(self) -> ShareExclusiveGuard<'a> {
        todo!()
    }
    pub fn exclusive(self) -> ExclusiveGuard<'a> {
        todo!()
    }
    /// Waits until this is the only pin.
    pub fn cleanup(self) -> Result<CleanupGuard<'a>> {
        todo!()
    }
    pub fn try_share(self) -> Result<ShareGuard<'a>, Pin<'a>> {
        todo!()
    }
    pub fn try_exclusive(self) -> Result<ExclusiveGuard<'a>, Pin<'a>> {
        todo!()
    }
    pub fn try_cleanup(self) -> Result<CleanupGuard<'a>, Pin<'a>> {
        todo!()
    }
    /// Another pin on the same page.
    pub fn another(&self) -> Pin<'a> {
        todo!()
    }
}

impl<'a> ShareGuard<'a> {
    /// Turns into share-exclusive if nobody else has that, without letting go of the page.
    pub fn try_upgrade(self) -> Result<ShareExclusiveGuard<'a>, ShareGuard<'a>> {
        todo!()
    }
    /// Sets hints if share-exclusive is to be had at once; hints are optional. `change` tells whether it
    /// changed anything; the page is then marked dirty as PostgreSQL's MarkBufferDirtyHint does.
    pub fn try_set_hints(&mut self, _change: impl FnOnce(Hints<'_>) -> bool) -> bool {
        todo!()
    }
}

impl<'a> ShareExclusiveGuard<'a> {
    pub fn downgrade(self) -> ShareGuard<'a> {
        todo!()
    }
    /// See [`ShareGuard::try_set_hints`].
    pub fn set_hints(&mut self, _change: impl FnOnce(Hints<'_>) -> bool) -> bool {
        todo!()
    }
}

impl<'a> ExclusiveGuard<'a> {
    /// See [`ShareGuard::try_set_hints`].
    pub fn set_hints(&mut self, _change: impl FnOnce(Hints<'_>) -> bool) -> bool {
        todo!()
    }
    /// The page for changing; it must be registered with the edit. Several guards may lend their
    /// pages at once.
    pub fn page_mut<'g>(&'g mut self, _edit: &'g PageEdit<'_, 'a>) -> PageMut<'g> {
        todo!()
    }
    /// Is this the only pin? (Then it could be a cleanup guard.)
    pub fn try_into_cleanup(self) -> Result<CleanupGuard<'a>, ExclusiveGuard<'a>> {
        todo!()
    }
    pub fn downgrade(self) -> ShareGuard<'a> {
        todo!()
    }
}

impl<'a> CleanupGuard<'a> {
    pub fn into_exclusive(self) -> ExclusiveGuard<'a> {
        todo!()
    }
}

impl<'a> Deref for CleanupGuard<'a> {
    type Target = ExclusiveGuard<'a>;
    fn deref(&self) -> &ExclusiveGuard<'a> {
        &self.0
    }
}

impl<'a> std::ops::DerefMut for CleanupGuard<'a> {
    fn deref_mut(&mut self) -> &mut ExclusiveGuard<'a> {
        &mut self.0
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        let _ = (self.pool, self.frame);
        todo!()
    }
}
