//! Text descriptions of the records of hash indexes, as `pg_waldump` prints them.
//!
//! Counterpart: hashdesc.c.

use crate::records::{
    self, AddOverflow, Delete, InitMeta, MoveContents, SplitAllocate, Squeeze, VacuumOnePage,
};
use std::fmt::Write;
use wal::desc::general;
use wal::{DecodedRecord, Fields};

/// Appends the description of a record of resource manager Hash, without its name; `None` if the
/// record is too short.
pub fn describe(record: &DecodedRecord, out: &mut String) -> Option<()> {
    let main = record.main();
    let mut f = Fields(main);
    match record.info() & 0xF0 {
        records::INIT_META_PAGE => {
            let r = InitMeta::decode(main)?;
            let tuples = general(r.tuples);
            write!(out, "num_tuples {tuples}, fillfactor {}", r.per_bucket).ok()
        }
        records::INIT_BITMAP_PAGE => write!(out, "bmsize {}", f.u16()?).ok(),
        records::INSERT => write!(out, "off {}", f.u16()?).ok(),
        records::ADD_OVFL_PAGE => {
            let r = AddOverflow::decode(main)?;
            write!(out, "bmsize {}, bmpage_found {}", r.bitmap_size, letter(r.recycled)).ok()
        }
        records::SPLIT_ALLOCATE_PAGE => {
            let r = SplitAllocate::decode(main)?;
            let (masks, splitpoint) = (letter(r.updates_masks), letter(r.updates_splitpoint));
            write!(out, "new_bucket {}, ", r.new_bucket).ok()?;
            write!(out, "meta_page_masks_updated {masks}, issplitpoint_changed {splitpoint}").ok()
        }
        records::SPLIT_COMPLETE => {
            write!(out, "old_bucket_flag {}, new_bucket_flag {}", f.u16()?, f.u16()?).ok()
        }
        records::MOVE_PAGE_CONTENTS => {
            let r = MoveContents::decode(main)?;
            write!(out, "ntups {}, is_primary {}", r.tuples, letter(r.to_primary)).ok()
        }
        records::SQUEEZE_PAGE => {
            let r = Squeeze::decode(main)?;
            let primary = letter(r.to_primary);
            write!(out, "prevblkno {}, nextblkno {}, ", r.prev, r.next).ok()?;
            write!(out, "ntups {}, is_primary {primary}", r.tuples).ok()
        }
        records::DELETE => {
            let r = Delete::decode(main)?;
            let (dead, primary) = (letter(r.clears_dead), letter(r.in_primary));
            write!(out, "clear_dead_marking {dead}, is_primary {primary}").ok()
        }
        records::UPDATE_META_PAGE => {
            write!(out, "ntuples {}", general(f64::from_bits(f.u64()?))).ok()
        }
        records::VACUUM_ONE_PAGE => {
            let r = VacuumOnePage::decode(main)?;
            write!(out, "ntuples {}, latestRemovedXid {}", r.tuples, r.horizon).ok()
        }
        _ => Some(()),
    }
}

fn letter(b: bool) -> char {
    if b { 'T' } else { 'F' }
}
