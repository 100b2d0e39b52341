//! Invalidation messages in PostgreSQL's layout, as stored in commit records, so that a hot standby
//! can apply them.
//!
//! Counterpart: storage/sinval.h.
//!
//! ```text
//! 16 bytes: id i8 | pad 3 | 12 bytes by id     (little-endian, padding zero)
//!   id >= 0  catcache   db u32 | hash u32 | 0
//!        -1  catalog    db u32 | catalog u32 | 0
//!        -2  relcache   db u32 | relation u32 | 0
//!        -3  smgr       (backend i8, u16 in the padding) tablespace u32 | db u32 | relnumber u32
//!        -4  relmap     db u32 | 0 | 0
//!        -5  snapshot   db u32 | relation u32 | 0
//! ```

use ids::{Oid, RelFile};

/// An invalidation message. `database` 0 means a shared catalog.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// Entries of one system cache with this key hash.
    CatCache { cache: u8, database: Oid, hash: u32 },
    /// All cache entries of a catalog.
    Catalog { database: Oid, catalog: Oid },
    /// A relation descriptor; relation 0 means all.
    RelCache { database: Oid, relation: Oid },
    /// The files of a relation were changed or removed.
    Smgr { backend: i32, rel: RelFile },
    /// The relation map of a database was changed.
    RelMap { database: Oid },
    /// Catalog snapshots, for a catalog without a system cache.
    Snapshot { database: Oid, relation: Oid },
}

/// Size of a message in bytes.
pub const MESSAGE_SIZE: usize = 16;

impl Message {
    /// The database affected, 0 for all.
    pub fn database(&self) -> Oid {
        match *self {
            Message::CatCache { database, .. }
            | Message::Catalog { database, .. }
            | Message::RelCache { database, .. }
            | Message::RelMap { database }
            | Message::Snapshot { database, .. } => database,
            Message::Smgr { rel, .. } => rel.database,
        }
    }

    /// The message in PostgreSQL's layout.
    pub fn to_bytes(&self) -> [u8; MESSAGE_SIZE] {
        let mut out = [0; MESSAGE_SIZE];
        let (id, words): (i8, [u32; 3]) = match *self {
            Message::CatCache { cache, database, hash } => (cache as i8, [database.0, hash, 0]),
            Message::Catalog { database, catalog } => (-1, [database.0, catalog.0, 0]),
            Message::RelCache { database, relation } => (-2, [database.0, relation.0, 0]),
            Message::Smgr { backend, rel } => {
                out[1] = (backend >> 16) as u8;
                out[2..4].copy_from_slice(&(backend as u16).to_le_bytes());
                (-3, [rel.tablespace.0, rel.database.0, rel.relnumber.0])
            }
            Message::RelMap { database } => (-4, [database.0, 0, 0]),
            Message::Snapshot { database, relation } => (-5, [database.0, relation.0, 0]),
        };
        out[0] = id as u8;
        for (i, word) in words.iter().enumerate() {
            out[4 + 4 * i..8 + 4 * i].copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    /// `None` for an unknown message id.
    pub fn from_bytes(b: &[u8; MESSAGE_SIZE]) -> Option<Message> {
        let word = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let database = Oid(word(4));
        Some(match b[0] as i8 {
            -1 => Message::Catalog { database, catalog: Oid(word(8)) },
            -2 => Message::RelCache { database, relation: Oid(word(8)) },
            -3 => Message::Smgr {
                backend: i32::from(b[1] as i8) << 16 | i32::from(u16::from_le_bytes([b[2], b[3]])),
                rel: RelFile::new(Oid(word(4)), Oid(word(8)), Oid(word(12))),
            },
            -4 => Message::RelMap { database },
            -5 => Message::Snapshot { database, relation: Oid(word(8)) },
            cache if cache >= 0 => {
                Message::CatCache { cache: cache as u8, database, hash: word(8) }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip_through_bytes() {
        let database = Oid(5);
        for message in [
            Message::CatCache { cache: 83, database, hash: 0xdead_beef },
            Message::Catalog { database, catalog: Oid(1259) },
            Message::RelCache { database, relation: Oid(16384) },
            Message::Smgr { backend: -1, rel: RelFile::new(Oid(1663), database, Oid(16390)) },
            Message::Smgr { backend: 70_000, rel: RelFile::new(Oid(1663), database, Oid(9)) },
            Message::RelMap { database },
            Message::Snapshot { database, relation: Oid(2608) },
        ] {
            assert_eq!(Message::from_bytes(&message.to_bytes()), Some(message));
        }
    }
}
