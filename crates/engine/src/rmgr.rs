//! The resource managers: how their records are replayed, checked and described. A crate that
//! writes records of its own is registered by its row here. The names of the records of all of
//! PostgreSQL's managers are in [`wal::desc`].
//!
//! Counterpart: rmgr.c, rmgrlist.h.

use crate::consistency::{mask_heap, mask_other};
use crate::describe::{self as texts, unsupported};
use crate::redo::{self, Replay};
use crate::{dbase, relmap, sequence, truncate};
use bufmgr::redo::RedoCx;
use page::PageBuf;
use pgerror::Result;
use wal::{DecodedRecord, RmgrId};

/// What a record changes. This determines the thread that replays it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RecordScope {
    /// Only its blocks, each independently of the others: the threads that own the pages replay it.
    Pages,
    /// No pages: the main thread replays it, without waiting.
    Status,
    /// Anything else: the main thread replays it, after all earlier records have been replayed.
    All,
}

/// The records that replay supports.
pub(crate) enum Support {
    Full,
    /// Records with images of all their pages, because the manager is not implemented.
    ImagesOnly,
}

/// Replays a record for the pages that the context owns.
type RedoPages = fn(&mut RedoCx<'_>, &DecodedRecord) -> Result<()>;
/// Replays a record in the main thread.
type RedoRecord = fn(&mut Replay<'_>, &DecodedRecord) -> Result<()>;
/// Appends the description of a record, without its name; `None` if the record is too short. The
/// second argument formats microseconds since 2000-01-01.
type Describe = fn(&DecodedRecord, &dyn Fn(i64) -> String, &mut String) -> Option<()>;

/// A resource manager.
pub(crate) struct ResourceManager {
    id: RmgrId,
    pub(crate) scope: fn(&DecodedRecord) -> RecordScope,
    /// For records of [`RecordScope::Pages`]; for all records if there is no `redo`.
    pub(crate) pages: RedoPages,
    pub(crate) redo: Option<RedoRecord>,
    pub(crate) support: Support,
    /// Clears the parts of a page that may differ after replay.
    pub(crate) mask: fn(&mut PageBuf),
    pub(crate) describe: Describe,
}

pub(crate) fn manager(id: RmgrId) -> &'static ResourceManager {
    let manager = &MANAGERS[id as usize];
    debug_assert_eq!(manager.id, id);
    manager
}

/// The description of the record, without its name ([`wal::desc::identify`]). If the record is too
/// short, the description contains what could be read. `time` formats microseconds since
/// 2000-01-01.
pub fn describe(record: &DecodedRecord, time: &dyn Fn(i64) -> String) -> String {
    let mut out = String::new();
    let Some(rmgr) = record.header.rmgr() else { return format!("rmid: {}", record.header.rmid) };
    // `None` only means that the record is too short.
    let _ = (manager(rmgr).describe)(record, time, &mut out);
    out
}

/// A manager whose records are replayed by the main thread.
const fn main(
    id: RmgrId,
    scope: fn(&DecodedRecord) -> RecordScope,
    redo: RedoRecord,
    describe: Describe,
) -> ResourceManager {
    ResourceManager {
        id,
        scope,
        pages: redo::not_pages,
        redo: Some(redo),
        support: Support::Full,
        mask: mask_other,
        describe,
    }
}

/// A manager whose records change pages only.
const fn pages(
    id: RmgrId,
    scope: fn(&DecodedRecord) -> RecordScope,
    pages: RedoPages,
    mask: fn(&mut PageBuf),
    describe: Describe,
) -> ResourceManager {
    ResourceManager { id, scope, pages, redo: None, support: Support::Full, mask, describe }
}

/// A manager that is not implemented.
const fn images_only(id: RmgrId, describe: Describe) -> ResourceManager {
    ResourceManager { support: Support::ImagesOnly, ..main(id, all, redo::images_only, describe) }
}

fn all(_: &DecodedRecord) -> RecordScope {
    RecordScope::All
}

fn status(_: &DecodedRecord) -> RecordScope {
    RecordScope::Status
}

fn only_pages(_: &DecodedRecord) -> RecordScope {
    RecordScope::Pages
}

const fn pages_if(pages: bool) -> RecordScope {
    if pages { RecordScope::Pages } else { RecordScope::All }
}

/// By number.
static MANAGERS: [ResourceManager; 22] = [
    ResourceManager {
        pages: redo::images,
        ..main(RmgrId::Xlog, redo::xlog_scope, redo::xlog, texts::xlog)
    },
    main(RmgrId::Xact, status, redo::transaction, txn::describe),
    main(RmgrId::Smgr, all, redo::files, |r, _, out| truncate::describe(r, out)),
    main(RmgrId::Clog, status, redo::transaction, txn::describe),
    main(RmgrId::Dbase, all, redo::database, |r, _, out| dbase::describe(r, out)),
    main(RmgrId::Tblspc, all, redo::tablespace, |r, _, out| dbase::describe_tablespace(r, out)),
    main(RmgrId::MultiXact, status, redo::transaction, txn::describe),
    main(RmgrId::RelMap, all, redo::relation_map, |r, _, out| relmap::describe(r, out)),
    main(RmgrId::Standby, status, redo::transaction, txn::describe),
    pages(
        RmgrId::Heap2,
        // A page of the visibility map contains bits for many heap pages, which different threads
        // own, but only one LSN, which determines whether a record has been applied.
        |record| pages_if(!heap::redo::sets_visible(record)),
        heap::redo::heap2_redo,
        mask_heap,
        |r, _, out| heap::describe(r, out),
    ),
    pages(RmgrId::Heap, only_pages, heap::redo::heap_redo, mask_heap, |r, _, out| {
        heap::describe(r, out)
    }),
    pages(
        RmgrId::Btree,
        |record| pages_if(btree::redo_concerns_one_page(record)),
        btree::redo,
        btree::mask,
        |r, _, out| btree::describe(r, out),
    ),
    pages(RmgrId::Hash, only_pages, hash::redo, hash::mask, |r, _, out| hash::describe(r, out)),
    pages(RmgrId::Gin, only_pages, gin::redo, gin::mask, |r, _, out| gin::describe(r, out)),
    pages(RmgrId::Gist, only_pages, gist::redo, gist::mask, |r, _, out| gist::describe(r, out)),
    pages(RmgrId::Seq, only_pages, redo::sequence, mask_other, |r, _, out| {
        sequence::describe(r, out)
    }),
    images_only(RmgrId::SpGist, |r, _, out| unsupported::spgist(r, out)),
    images_only(RmgrId::Brin, |r, _, out| unsupported::brin(r, out)),
    main(RmgrId::CommitTs, status, redo::transaction, txn::describe),
    // Replication origins are not stored; logical messages are for logical decoding only.
    main(RmgrId::ReplOrigin, all, redo::ignored, |r, _, out| texts::origin(r, out)),
    // A generic record has only block data, which is not described.
    main(RmgrId::Generic, all, redo::generic, |_, _, _| Some(())),
    main(RmgrId::LogicalMsg, all, redo::ignored, |r, _, out| texts::message(r, out)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managers_are_in_the_order_of_their_numbers() {
        assert_eq!(MANAGERS.len(), RmgrId::ALL.len());
        RmgrId::ALL.into_iter().for_each(|id| assert_eq!(manager(id).id, id));
    }
}
