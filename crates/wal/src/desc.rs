//! Names of record types, and the parts of `pg_waldump`'s output that do not depend on them.
//! Counterpart: the `*_identify` functions of access/rmgrdesc.

use crate::record::DecodedBlock;
use crate::record::{BKPIMAGE_COMPRESS_LZ4, BKPIMAGE_COMPRESS_PGLZ};
use crate::{DecodedRecord, RmgrId};
use ids::Fork;
use std::fmt::Write;

const XACT: &[&str] = &[
    "COMMIT",
    "PREPARE",
    "ABORT",
    "COMMIT_PREPARED",
    "ABORT_PREPARED",
    "ASSIGNMENT",
    "INVALIDATION",
    "",
];

const XLOG: &[&str] = &[
    "CHECKPOINT_SHUTDOWN",
    "CHECKPOINT_ONLINE",
    "NOOP",
    "NEXTOID",
    "SWITCH",
    "BACKUP_END",
    "PARAMETER_CHANGE",
    "RESTORE_POINT",
    "FPW_CHANGE",
    "END_OF_RECOVERY",
    "FPI_FOR_HINT",
    "FPI",
    "",
    "OVERWRITE_CONTRECORD",
];

const HEAP2: &[&str] = &[
    "REWRITE",
    "PRUNE",
    "VACUUM",
    "FREEZE_PAGE",
    "VISIBLE",
    "MULTI_INSERT",
    "LOCK_UPDATED",
    "NEW_CID",
    "",
    "",
    "",
    "",
    "",
    "MULTI_INSERT+INIT",
];

const HEAP: &[&str] = &[
    "INSERT",
    "DELETE",
    "UPDATE",
    "TRUNCATE",
    "HOT_UPDATE",
    "HEAP_CONFIRM",
    "LOCK",
    "INPLACE",
    "INSERT+INIT",
    "",
    "UPDATE+INIT",
    "",
    "HOT_UPDATE+INIT",
];

const BTREE: &[&str] = &[
    "INSERT_LEAF",
    "INSERT_UPPER",
    "INSERT_META",
    "SPLIT_L",
    "SPLIT_R",
    "INSERT_POST",
    "DEDUP",
    "DELETE",
    "UNLINK_PAGE",
    "UNLINK_PAGE_META",
    "NEWROOT",
    "MARK_PAGE_HALFDEAD",
    "VACUUM",
    "REUSE_PAGE",
    "META_CLEANUP",
];

const HASH: &[&str] = &[
    "INIT_META_PAGE",
    "INIT_BITMAP_PAGE",
    "INSERT",
    "ADD_OVFL_PAGE",
    "SPLIT_ALLOCATE_PAGE",
    "SPLIT_PAGE",
    "SPLIT_COMPLETE",
    "MOVE_PAGE_CONTENTS",
    "SQUEEZE_PAGE",
    "DELETE",
    "SPLIT_CLEANUP",
    "UPDATE_META_PAGE",
    "VACUUM_ONE_PAGE",
];

const GIN: &[&str] = &[
    "",
    "CREATE_PTREE",
    "INSERT",
    "SPLIT",
    "VACUUM_PAGE",
    "DELETE_PAGE",
    "UPDATE_META_PAGE",
    "INSERT_LISTPAGE",
    "DELETE_LISTPAGE",
    "VACUUM_DATA_LEAF_PAGE",
];

const GIST: &[&str] =
    &["PAGE_UPDATE", "DELETE", "PAGE_REUSE", "PAGE_SPLIT", "", "", "PAGE_DELETE", "ASSIGN_LSN"];

const SPGIST: &[&str] = &[
    "",
    "ADD_LEAF",
    "MOVE_LEAFS",
    "ADD_NODE",
    "SPLIT_TUPLE",
    "PICKSPLIT",
    "VACUUM_LEAF",
    "VACUUM_ROOT",
    "VACUUM_REDIRECT",
];

const BRIN: &[&str] = &[
    "CREATE_INDEX",
    "INSERT",
    "UPDATE",
    "SAMEPAGE_UPDATE",
    "REVMAP_EXTEND",
    "DESUMMARIZE",
    "",
    "",
    "",
    "INSERT+INIT",
    "UPDATE+INIT",
];

/// Name of the record type, without flags; `None` for an unknown one. `info` is the whole info
/// byte.
pub fn kind(rmgr: RmgrId, info: u8) -> Option<&'static str> {
    // The top bit of the types of transaction records only means that an info word
    // follows.
    let mask = if rmgr == RmgrId::Xact { 7 } else { 15 };
    names(rmgr).get(usize::from(info >> 4 & mask)).copied().filter(|name| !name.is_empty())
}

/// The names of a manager's record types, by the upper half of the info byte.
fn names(rmgr: RmgrId) -> &'static [&'static str] {
    match rmgr {
        RmgrId::Xlog => XLOG,
        RmgrId::Xact => XACT,
        RmgrId::Smgr => &["", "CREATE", "TRUNCATE"],
        RmgrId::Clog | RmgrId::CommitTs => &["ZEROPAGE", "TRUNCATE"],
        RmgrId::Dbase => &["CREATE_FILE_COPY", "CREATE_WAL_LOG", "DROP"],
        RmgrId::Tblspc => &["CREATE", "DROP"],
        RmgrId::MultiXact => &["ZERO_OFF_PAGE", "ZERO_MEM_PAGE", "CREATE_ID", "TRUNCATE_ID"],
        RmgrId::RelMap => &["UPDATE"],
        RmgrId::Standby => &["LOCK", "RUNNING_XACTS", "INVALIDATIONS"],
        RmgrId::Heap2 => HEAP2,
        RmgrId::Heap => HEAP,
        RmgrId::Btree => BTREE,
        RmgrId::Hash => HASH,
        RmgrId::Gin => GIN,
        RmgrId::Gist => GIST,
        RmgrId::Seq => &["LOG"],
        RmgrId::SpGist => SPGIST,
        RmgrId::Brin => BRIN,
        RmgrId::ReplOrigin => &["SET", "DROP"],
        RmgrId::Generic => &["Generic"; 16],
        RmgrId::LogicalMsg => &["MESSAGE"],
    }
}

/// Name of the record type: `HOT_UPDATE`, `INSERT+INIT`, `UNKNOWN (f0)`.
pub fn identify(rmgr: RmgrId, info: u8) -> String {
    match kind(rmgr, info) {
        Some(name) => name.to_owned(),
        None => format!("UNKNOWN ({:x})", info & crate::record::XLR_RMGR_INFO_MASK),
    }
}

/// A number in the format of C's `%g`.
pub fn general(v: f64) -> String {
    let scientific = format!("{v:.5e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let trim = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    match exponent.parse::<i32>() {
        Ok(e @ -4..=5) => trim(&format!("{v:.*}", (5 - e) as usize)),
        Ok(e) => format!("{}e{}{:02}", trim(mantissa), if e < 0 { '-' } else { '+' }, e.abs()),
        Err(_) => scientific,
    }
}

/// Bytes of page images in the record, their headers not counted.
pub fn image_len(record: &DecodedRecord) -> u32 {
    record.blocks().filter_map(|(_, block)| block.image).map(|i| u32::from(i.stored_len())).sum()
}

/// The fixed part of `pg_waldump`'s line up to the record's name.
pub fn line_prefix(record: &DecodedRecord) -> String {
    let header = &record.header;
    let lsn = |l: ids::Lsn| format!("{:X}/{:08X}", l.0 >> 32, l.0 as u32);
    let (name, id) = match header.rmgr() {
        Some(rmgr) => (rmgr.name().to_owned(), identify(rmgr, header.info)),
        None => {
            (format!("custom{:03}", header.rmid), format!("UNKNOWN ({:x})", header.info & 0xF0))
        }
    };
    format!(
        "rmgr: {name:<11} len (rec/tot): {:6}/{:6}, tx: {:10}, lsn: {}, prev {}, desc: {id}",
        header.total_len - image_len(record),
        header.total_len,
        header.xid,
        lsn(record.start),
        lsn(header.prev),
    )
}

/// The record's block references as `pg_waldump` prints them in the record's line.
pub fn blocks_inline(record: &DecodedRecord) -> String {
    let mut out = String::new();
    for (id, block) in record.blocks() {
        let fork = match block.fork {
            Fork::Main => "",
            Fork::Fsm => " fork fsm",
            Fork::Vm => " fork vm",
            Fork::Init => " fork init",
        };
        let _ = write!(out, ", blkref #{id}: rel {}{fork} blk {}", block.rel, block.block);
        if let Some(image) = block.image {
            out.push_str(if image.apply() { " FPW" } else { " FPW for WAL verification" });
        }
    }
    out
}

/// The record's block references as the context of an error prints them. Counterpart:
/// xlog_block_info.
pub fn blocks_in_context(record: &DecodedRecord) -> String {
    let mut out = String::new();
    for (id, DecodedBlock { rel, fork, block, image, .. }) in record.blocks() {
        let (space, db, number) = (rel.tablespace, rel.database, rel.relnumber);
        let _ = write!(out, "; blkref #{id}: rel {space}/{db}/{number}, ");
        if *fork != Fork::Main {
            let _ = write!(out, "fork {}, ", *fork as u8);
        }
        let _ = write!(out, "blk {block}{}", if image.is_some() { " FPW" } else { "" });
    }
    out
}

/// The lines that `pg_waldump --bkp-details` prints for the record's blocks.
pub fn block_lines(record: &DecodedRecord) -> String {
    let mut out = String::new();
    for (id, block) in record.blocks() {
        let rel = block.rel;
        let fork = match block.fork {
            Fork::Main => "main",
            Fork::Fsm => "fsm",
            Fork::Vm => "vm",
            Fork::Init => "init",
        };
        let _ = write!(out, "\tblkref #{id}: rel {rel} fork {fork} blk {}", block.block);
        if let Some(image) = block.image {
            let check = if image.apply() { "" } else { " for WAL verification" };
            let (offset, hole) = (image.hole_offset, image.hole_length);
            let _ = write!(out, " (FPW{check}); hole: offset: {offset}, length: {hole}");
            if image.compressed() {
                let saved = 8192 - i32::from(hole) - i32::from(image.stored_len());
                let method = if image.info & BKPIMAGE_COMPRESS_PGLZ != 0 {
                    "pglz"
                } else if image.info & BKPIMAGE_COMPRESS_LZ4 != 0 {
                    "lz4"
                } else {
                    "zstd"
                };
                let _ = write!(out, ", compression saved: {saved}, method: {method}");
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_have_the_format_of_c() {
        // printf '%g'
        for (v, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (1500.0, "1500"),
            (123_456.0, "123456"),
            (1_234_567.0, "1.23457e+06"),
            (1e6, "1e+06"),
            (0.25, "0.25"),
            (0.00001, "1e-05"),
            (999_999.6, "1e+06"),
        ] {
            assert_eq!(general(v), text);
        }
    }
}
