//! The dead line pointers that VACUUM has found, in compact form.
//!
//! Blocks are divided into chunks of 256. A chunk has a bitmap of its blocks with dead line
//! pointers; the n-th of all such blocks has the n-th position. There begins its record: a list of
//! offset numbers of one byte each, or a bitmap of offset numbers where that is shorter or a number
//! needs more than a byte. So a TID is looked up without a search over the blocks.
//!
//! PostgreSQL 15 keeps an array of TIDs (`VacDeadItems`) and searches it.

use ids::{BlockNo, OffsetNo, Tid};

const BLOCKS: u32 = 256;
/// The first byte of a record has this bit if a bitmap follows; the other bits are its length in
/// bytes. Otherwise the byte is the length of a list.
const BITMAP: u8 = 0x80;

#[derive(Clone, Copy, Default)]
struct Chunk {
    /// The blocks with dead line pointers.
    present: [u64; 4],
    /// Number of such blocks before this chunk: the index of the first position.
    rank: u32,
    /// Start of the chunk's records. Positions are relative to it.
    base: u32,
}

impl Chunk {
    fn has(&self, block: u32) -> bool {
        self.present[block as usize / 64] >> (block % 64) & 1 != 0
    }

    /// Number of the chunk's blocks with dead line pointers before this one.
    fn before(&self, block: u32) -> u32 {
        let (word, bit) = (block as usize / 64, block % 64);
        let words = self.present[..word].iter().map(|w| w.count_ones()).sum::<u32>();
        words + (self.present[word] & ((1 << bit) - 1)).count_ones()
    }
}

/// A set of TIDs, to which blocks are added in ascending order.
#[derive(Default)]
pub(super) struct DeadItems {
    chunks: Vec<Chunk>,
    positions: Vec<u16>,
    records: Vec<u8>,
    len: u64,
}

impl DeadItems {
    /// Adds the dead line pointers of a block, in ascending order. The block is behind all blocks
    /// added before.
    pub(super) fn add(&mut self, block: BlockNo, offsets: &[OffsetNo]) {
        let Some(&last) = offsets.last() else { return };
        let number = (block.0 / BLOCKS) as usize;
        while self.chunks.len() <= number {
            let (rank, base) = (self.positions.len() as u32, self.records.len() as u32);
            self.chunks.push(Chunk { present: [0; 4], rank, base });
        }
        let chunk = &mut self.chunks[number];
        let within = block.0 % BLOCKS;
        debug_assert!(
            !chunk.has(within)
                && chunk.before(within) as usize == self.positions.len() - chunk.rank as usize
        );
        chunk.present[within as usize / 64] |= 1 << (within % 64);
        self.positions.push((self.records.len() - chunk.base as usize) as u16);
        let bitmap = usize::from(last) / 8 + 1;
        if offsets.len() <= bitmap && last <= u8::MAX.into() {
            self.records.push(offsets.len() as u8);
            self.records.extend(offsets.iter().map(|o| *o as u8));
        } else {
            self.records.push(BITMAP | bitmap as u8);
            let at = self.records.len();
            self.records.resize(at + bitmap, 0);
            for offset in offsets {
                self.records[at + usize::from(*offset) / 8] |= 1 << (offset % 8);
            }
        }
        self.len += offsets.len() as u64;
    }

    #[inline]
    pub(super) fn contains(&self, tid: Tid) -> bool {
        let Some(chunk) = self.chunks.get((tid.block.0 / BLOCKS) as usize) else { return false };
        let within = tid.block.0 % BLOCKS;
        if !chunk.has(within) {
            return false;
        }
        let position = self.positions[(chunk.rank + chunk.before(within)) as usize];
        let record = &self.records[chunk.base as usize + usize::from(position)..];
        let len = usize::from(record[0] & !BITMAP);
        let content = &record[1..=len];
        if record[0] & BITMAP == 0 {
            return content.iter().any(|o| OffsetNo::from(*o) == tid.offset);
        }
        let byte = content.get(usize::from(tid.offset) / 8);
        byte.is_some_and(|byte| byte >> (tid.offset % 8) & 1 != 0)
    }

    /// Calls `each` with each block and its offset numbers, ascending.
    pub(super) fn for_each_block<E>(
        &self,
        each: &mut dyn FnMut(BlockNo, &[OffsetNo]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut offsets = Vec::new();
        let mut at = 0;
        for (number, chunk) in self.chunks.iter().enumerate() {
            for within in (0..BLOCKS).filter(|within| chunk.has(*within)) {
                let block = number as u32 * BLOCKS + within;
                at = self.decode(at, &mut offsets);
                each(BlockNo(block), &offsets)?;
            }
        }
        Ok(())
    }

    /// The number of consecutive blocks of the set from this one on, at most `max`.
    pub(super) fn run_length(&self, block: BlockNo, max: u32) -> u32 {
        (0..max).take_while(|n| self.has_block(block.0 + n)).count() as u32
    }

    fn has_block(&self, block: u32) -> bool {
        self.chunks.get((block / BLOCKS) as usize).is_some_and(|c| c.has(block % BLOCKS))
    }

    /// Decodes the record at `at`; returns the start of the next.
    fn decode(&self, at: usize, offsets: &mut Vec<OffsetNo>) -> usize {
        offsets.clear();
        let len = usize::from(self.records[at] & !BITMAP);
        let content = &self.records[at + 1..=at + len];
        if self.records[at] & BITMAP == 0 {
            offsets.extend(content.iter().map(|o| OffsetNo::from(*o)));
        } else {
            let set = |o: &OffsetNo| content[usize::from(*o) / 8] >> (o % 8) & 1 != 0;
            offsets.extend((0..len as u16 * 8).filter(set));
        }
        at + 1 + len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of TIDs.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(&self.chunks[..]) + size_of_val(&self.positions[..]) + self.records.len()
    }

    /// True if another block would exceed `bytes_max` or what the positions can express.
    pub(super) fn is_full(&self, bytes_max: usize) -> bool {
        self.memory_bytes() > bytes_max.min(u32::MAX as usize / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn check(blocks: &BTreeMap<u32, Vec<OffsetNo>>) -> DeadItems {
        let mut items = DeadItems::default();
        for (block, offsets) in blocks {
            items.add(BlockNo(*block), offsets);
        }
        let mut seen = BTreeMap::new();
        let visited: Result<(), ()> = items.for_each_block(&mut |block, offsets| {
            let run = (0..4).take_while(|n| blocks.contains_key(&(block.0 + n))).count();
            assert_eq!(items.run_length(block, 4) as usize, run, "{block}");
            seen.insert(block.0, offsets.to_vec());
            Ok(())
        });
        visited.unwrap();
        assert_eq!(&seen, blocks);
        assert_eq!(items.len() as usize, blocks.values().map(Vec::len).sum::<usize>());
        for block in blocks.keys().flat_map(|b| [b.saturating_sub(1), *b, b + 1, b + 256]) {
            for offset in 0..300 {
                let wanted = blocks.get(&block).is_some_and(|o| o.contains(&offset));
                let tid = Tid::new(BlockNo(block), offset);
                assert_eq!(items.contains(tid), wanted, "{tid}");
            }
        }
        items
    }

    #[test]
    fn sets_of_all_shapes_are_kept() {
        let all: Vec<OffsetNo> = (1..=291).collect();
        let one_in = |n: u16, from: u16| (from..=291).step_by(n.into()).collect::<Vec<_>>();
        let mut blocks = BTreeMap::from([(0, vec![1]), (1, vec![291]), (2, all.clone())]);
        blocks.extend([(63, vec![255]), (64, vec![256]), (255, one_in(2, 1)), (256, one_in(7, 3))]);
        blocks.extend([(257, vec![1, 2, 3]), (1023, one_in(40, 9)), (70_000, all.clone())]);
        check(&blocks);
        // The largest chunk.
        check(&(256..513).map(|block| (block, all.clone())).collect());
        check(&(0..1000).map(|block| (block * 37, one_in(11, (block % 290 + 1) as u16))).collect());
        assert!(check(&BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_tenth_of_the_rows_takes_less_than_a_quarter_of_an_array() {
        // Pages of 61, 100 and 226 rows.
        for rows in [61, 100, 226] {
            let mut items = DeadItems::default();
            for block in 0..10_000 {
                let dead: Vec<_> =
                    (1..=rows).filter(|o| (block + u32::from(*o)) % 10 == 0).collect();
                items.add(BlockNo(block), &dead);
            }
            let array = items.len() as usize * size_of::<Tid>();
            assert!(items.memory_bytes() * 4 < array, "{} {array}", items.memory_bytes());
        }
    }
}
