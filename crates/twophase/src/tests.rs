use crate::state::{HEADER_BYTES, State};
use ids::{MultiXid, Oid, RelFile, Tid, Xid};
use lmgr::{LockMode, LockTag};
use stats::{PreparedRows, StatsRows};
use txn::DroppedStats;

fn example() -> State {
    let tid = Tid { block: ids::BlockNo(3), offset: 7 };
    let rows = StatsRows { inserted: 4, updated: -1, deleted: 2 };
    State {
        xid: Xid(735),
        database: Oid(5),
        prepared_at: 842_000_000_000_001,
        owner: Oid(10),
        gid: "a gid".to_owned(),
        subxacts: vec![Xid(736), Xid(739), Xid(740)],
        files: [
            vec![RelFile::new(Oid(1663), Oid(5), Oid(16384))],
            vec![RelFile::new(Oid(1663), Oid(5), Oid(16400)); 2],
        ],
        stats: [vec![DroppedStats { kind: 2, database: Oid(5), object: Oid(16384) }], Vec::new()],
        invalidations: vec![[7; 16], [9; 16]],
        relcache_init_file: true,
        locks: vec![
            (LockTag::relation(Oid(5), Oid(16384)), LockMode::AccessExclusive),
            (LockTag::tuple(Oid(5), Oid(16384), tid), LockMode::Exclusive),
            (LockTag::advisory_bigint(Oid(5), -3), LockMode::Share),
        ],
        rows: vec![
            PreparedRows {
                relation: Oid(16384),
                is_shared: false,
                rows,
                before_truncation: Some(rows),
            },
            PreparedRows { relation: Oid(1260), is_shared: true, rows, before_truncation: None },
        ],
        oldest_member: MultiXid(12),
    }
}

#[test]
fn a_state_is_read_back_as_it_was_written() {
    for state in [example(), State { gid: "x".repeat(199), ..State::default() }] {
        let bytes = state.encode().expect("a short state");
        assert!(bytes.len().is_multiple_of(8));
        assert_eq!(State::decode(&bytes), Some(state));
    }
}

/// The layout of PostgreSQL's structs, by hand.
#[test]
fn fields_are_where_postgresql_reads_them() {
    let bytes = example().encode().expect("a short state");
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
    assert_eq!(word(0), 0x57F9_4534);
    assert_eq!(word(4) as usize, bytes.len() + 4);
    assert_eq!([8, 12, 24].map(word), [735, 5, 10]);
    assert_eq!([28, 32, 36, 40, 44, 48].map(word), [3, 1, 2, 1, 0, 2]);
    assert_eq!(bytes[52..56], [1, 0, 6, 0]);
    assert_eq!(bytes[HEADER_BYTES..HEADER_BYTES + 8], *b"a gid\0\0\0");
    let records = HEADER_BYTES + 8 + 16 + 16 + 24 + 16 + 32;
    assert_eq!([records, records + 4].map(word), [20, 1], "a lock of 20 bytes");
    let stats = records + 3 * 32;
    assert_eq!([stats, stats + 4].map(word), [56, 2], "statistics of 56 bytes");
    let multixact = stats + 2 * 64;
    assert_eq!([0, 4, 8].map(|i| word(multixact + i)), [4, 3, 12]);
    assert_eq!(bytes[multixact + 16..], [0; 8], "the end");
}

/// Damaged bytes are refused, and cause no panic.
#[test]
fn a_state_cut_off_anywhere_is_refused() {
    let bytes = example().encode().expect("a short state");
    for len in 0..bytes.len() {
        let mut cut = bytes[..len].to_vec();
        assert_eq!(State::decode(&cut), None);
        if len >= 8 {
            cut[4..8].copy_from_slice(&(len as u32 + 4).to_le_bytes());
            assert_eq!(State::decode(&cut), None, "{len}");
        }
    }
}
