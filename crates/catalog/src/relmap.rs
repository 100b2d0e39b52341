//! Which file a mapped relation has: those that must be found before `pg_class` can be read, and the
//! shared ones. Counterpart: relmapper.c.
//!
//! ```text
//! magic u32 | count u32 | 62 × (relation u32, file u32) | crc32c u32 | 0 u32     512 bytes
//! ```

use ids::Oid;
use pgerror::{PgError, Result, SqlState};

pub const MAPPINGS_MAX: usize = 62;
const MAGIC: u32 = 0x0059_2717;
const SIZE: usize = 512;
const CRC_AT: usize = 504;

/// A map: of the shared relations (`global/`) or of a database's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RelMap {
    mappings: Vec<(Oid, Oid)>,
}

impl RelMap {
    pub fn new(mappings: Vec<(Oid, Oid)>) -> RelMap {
        RelMap { mappings }
    }

    /// The file of a relation.
    pub fn get(&self, relation: Oid) -> Option<Oid> {
        self.mappings.iter().find(|m| m.0 == relation).map(|m| m.1)
    }

    pub fn set(&mut self, relation: Oid, file: Oid) {
        match self.mappings.iter_mut().find(|m| m.0 == relation) {
            Some(mapping) => mapping.1 = file,
            None => self.mappings.push((relation, file)),
        }
    }

    /// The contents of `pg_filenode.map`.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.mappings.len() <= MAPPINGS_MAX, "a relation map holds 62 relations");
        let mut map = Vec::with_capacity(SIZE);
        map.extend_from_slice(&MAGIC.to_le_bytes());
        map.extend_from_slice(&(self.mappings.len() as u32).to_le_bytes());
        for (relation, file) in &self.mappings {
            map.extend_from_slice(&relation.0.to_le_bytes());
            map.extend_from_slice(&file.0.to_le_bytes());
        }
        map.resize(SIZE, 0);
        let crc = crc32c::crc32c(&map[..CRC_AT]);
        map[CRC_AT..CRC_AT + 4].copy_from_slice(&crc.to_le_bytes());
        map
    }

    /// From the file at `path`, which is for the message.
    pub fn decode(bytes: &[u8], path: &str) -> Result<RelMap> {
        let bad = |what: &str| {
            let message = format!("relation mapping file \"{path}\" contains {what}");
            PgError::new(SqlState::DATA_CORRUPTED, message)
        };
        let word =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let count = word(4).unwrap_or(u32::MAX) as usize;
        if word(0) != Some(MAGIC) || count > MAPPINGS_MAX || bytes.len() < SIZE {
            return Err(bad("invalid data"));
        }
        if word(CRC_AT) != Some(crc32c::crc32c(&bytes[..CRC_AT])) {
            return Err(bad("incorrect checksum"));
        }
        let pair = |i: usize| Some((Oid(word(8 + 8 * i)?), Oid(word(12 + 8 * i)?)));
        Ok(RelMap { mappings: (0..count).filter_map(pair).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_survive_the_way_to_disk_and_damage_is_seen() {
        let map = RelMap::new(vec![(Oid(1259), Oid(1259)), (Oid(1249), Oid(16_400))]);
        let bytes = map.encode();
        assert_eq!(bytes.len(), 512);
        assert_eq!(RelMap::decode(&bytes, "m").unwrap(), map);
        assert_eq!(map.get(Oid(1249)), Some(Oid(16_400)));
        let mut damaged = bytes.clone();
        damaged[20] ^= 1;
        let error = RelMap::decode(&damaged, "m").unwrap_err();
        assert_eq!(error.message(), "relation mapping file \"m\" contains incorrect checksum");
    }
}
