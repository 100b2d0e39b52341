//! Resource managers: the owners of record types. Counterpart: access/rmgrlist.h.

/// The built-in resource managers; discriminants are the `xl_rmid` byte in the log.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum RmgrId {
    Xlog = 0,
    Xact = 1,
    Smgr = 2,
    Clog = 3,
    Dbase = 4,
    Tblspc = 5,
    MultiXact = 6,
    RelMap = 7,
    Standby = 8,
    Heap2 = 9,
    Heap = 10,
    Btree = 11,
    Hash = 12,
    Gin = 13,
    Gist = 14,
    Seq = 15,
    SpGist = 16,
    Brin = 17,
    CommitTs = 18,
    ReplOrigin = 19,
    Generic = 20,
    LogicalMsg = 21,
}

impl RmgrId {
    pub const ALL: [RmgrId; 22] = [
        RmgrId::Xlog,
        RmgrId::Xact,
        RmgrId::Smgr,
        RmgrId::Clog,
        RmgrId::Dbase,
        RmgrId::Tblspc,
        RmgrId::MultiXact,
        RmgrId::RelMap,
        RmgrId::Standby,
        RmgrId::Heap2,
        RmgrId::Heap,
        RmgrId::Btree,
        RmgrId::Hash,
        RmgrId::Gin,
        RmgrId::Gist,
        RmgrId::Seq,
        RmgrId::SpGist,
        RmgrId::Brin,
        RmgrId::CommitTs,
        RmgrId::ReplOrigin,
        RmgrId::Generic,
        RmgrId::LogicalMsg,
    ];

    /// The built-in manager with this number.
    pub const fn from_u8(n: u8) -> Option<RmgrId> {
        if (n as usize) < Self::ALL.len() { Some(Self::ALL[n as usize]) } else { None }
    }

    /// True if this number is valid in a record header (built-in, or in the range for extensions).
    pub const fn is_valid_number(n: u8) -> bool {
        (n as usize) < Self::ALL.len() || n >= 128
    }

    /// The name that `pg_waldump` and `wal_consistency_checking` use.
    pub const fn name(self) -> &'static str {
        match self {
            RmgrId::Xlog => "XLOG",
            RmgrId::Xact => "Transaction",
            RmgrId::Smgr => "Storage",
            RmgrId::Clog => "CLOG",
            RmgrId::Dbase => "Database",
            RmgrId::Tblspc => "Tablespace",
            RmgrId::MultiXact => "MultiXact",
            RmgrId::RelMap => "RelMap",
            RmgrId::Standby => "Standby",
            RmgrId::Heap2 => "Heap2",
            RmgrId::Heap => "Heap",
            RmgrId::Btree => "Btree",
            RmgrId::Hash => "Hash",
            RmgrId::Gin => "Gin",
            RmgrId::Gist => "Gist",
            RmgrId::Seq => "Sequence",
            RmgrId::SpGist => "SPGist",
            RmgrId::Brin => "BRIN",
            RmgrId::CommitTs => "CommitTs",
            RmgrId::ReplOrigin => "ReplicationOrigin",
            RmgrId::Generic => "Generic",
            RmgrId::LogicalMsg => "LogicalMessage",
        }
    }

    /// Its bit in a mask of managers (`wal_consistency_checking`).
    pub const fn bit(self) -> u32 {
        1 << self as u8
    }

    /// The mask of the managers in a list of `wal_consistency_checking`.
    pub fn mask(list: &str) -> u32 {
        let mut mask = 0;
        for name in list.split(',').map(|n| n.trim().trim_matches('"')) {
            for id in RmgrId::ALL.into_iter().filter(|id| id.is_checkable()) {
                if name.eq_ignore_ascii_case("all") || name.eq_ignore_ascii_case(id.name()) {
                    mask |= id.bit();
                }
            }
        }
        mask
    }

    /// True if redo can compare pages with images in the manager's records
    /// (`wal_consistency_checking`). XLOG records that have images are restored from them; the
    /// other managers that are left out change no pages.
    pub const fn is_checkable(self) -> bool {
        matches!(
            self,
            RmgrId::Heap
                | RmgrId::Heap2
                | RmgrId::Btree
                | RmgrId::Hash
                | RmgrId::Gin
                | RmgrId::Gist
                | RmgrId::Seq
                | RmgrId::SpGist
                | RmgrId::Brin
                | RmgrId::Generic
        )
    }
}
