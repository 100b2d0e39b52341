//! Requests to the kernel to start writing back pages that have been written, so that the later
//! sync finds little left to do: `checkpoint_flush_after`, `bgwriter_flush_after`,
//! `backend_flush_after`. Counterpart: WritebackContext in bufmgr.c.

use ids::BlockNo;
use smgr::{RelFork, Smgr};

/// Consecutive blocks of a fork.
#[derive(Clone, Copy, Debug)]
struct Span {
    fork: RelFork,
    first: BlockNo,
    blocks: u32,
}

/// Written pages for which no request has been issued yet. See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct Writeback {
    spans: Vec<Span>,
    pages: u32,
}

impl Writeback {
    /// Adds written blocks; issues the requests when `flush_after` pages have come together. 0:
    /// never.
    pub(crate) fn add(
        &mut self,
        smgr: &Smgr,
        fork: RelFork,
        first: BlockNo,
        blocks: u32,
        flush_after: u32,
    ) {
        if flush_after == 0 {
            return;
        }
        self.spans.push(Span { fork, first, blocks });
        self.pages += blocks;
        if self.pages >= flush_after {
            self.issue(smgr);
        }
    }

    /// Issues the requests, one for each run of consecutive blocks.
    pub(crate) fn issue(&mut self, smgr: &Smgr) {
        self.pages = 0;
        self.spans.sort_unstable_by_key(|s| (s.fork.rel, s.fork.fork as u8, s.first));
        let mut spans = self.spans.drain(..).peekable();
        while let Some(mut span) = spans.next() {
            while let Some(next) =
                spans.next_if(|n| n.fork == span.fork && n.first.0 == span.first.0 + span.blocks)
            {
                span.blocks += next.blocks;
            }
            smgr.writeback(span.fork, span.first, span.blocks);
        }
    }
}
