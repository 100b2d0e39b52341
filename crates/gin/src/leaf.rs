//! Leaves of posting trees: a page consists of *segments*, compressed posting lists of about 256
//! bytes each. An insertion or VACUUM changes some segments and logs only these changes.
//!
//! Counterpart: `disassembleLeaf`, `addItemsToLeaf`, `leafRepackItems`,
//! `computeLeafRecompressWALData`, `dataBeginPlaceToPageLeaf` in gindatapage.c; `ginRedoRecompress`
//! in ginxlog.c.

use crate::records::{SEGMENT_ADD_ITEMS, SEGMENT_DELETE, SEGMENT_INSERT, SEGMENT_REPLACE};
use page::gin::{
    self, COMPRESSED, DATA, DATA_SIZE_MAX, GinPage, Item, LEAF, Segments, compress, decode, merge,
};
use page::{PAGE_SIZE, Page, PageBuf, PageMut};
use pgerror::{PgError, Result};
use std::borrow::Cow;
use wal::Fields;

/// Most bytes of a segment.
pub(crate) const SEGMENT_SIZE_MAX: usize = 384;
/// A segment that would be larger than the maximum is divided into some of this size.
const SEGMENT_SIZE_TARGET: usize = 256;
/// A smaller segment is united with the next one.
const SEGMENT_SIZE_MIN: usize = 128;
/// A segment of the maximum size has at least so many items.
const SEGMENT_ITEMS_MIN: usize = (SEGMENT_SIZE_MAX - 2) / 6;

/// What happens to a segment of the page.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Keep,
    Delete,
    /// A new one.
    Insert,
    Replace,
    /// As `Replace`, with only these items added.
    Add(Vec<Item>),
}

/// A segment; at least one of `bytes` and `items` is set, and both have the same contents.
struct Segment<'a> {
    action: Action,
    bytes: Option<Cow<'a, [u8]>>,
    items: Option<Vec<Item>>,
}

impl Segment<'_> {
    fn new(action: Action, items: Vec<Item>) -> Segment<'static> {
        Segment { action, bytes: None, items: Some(items) }
    }

    fn items(&mut self) -> &mut Vec<Item> {
        let bytes = &self.bytes;
        self.items.get_or_insert_with(|| {
            let mut items = Vec::new();
            decode(bytes.as_deref().unwrap_or(&[]), &mut items);
            items
        })
    }

    fn first(&self) -> Option<Item> {
        if let Some(items) = &self.items {
            return items.first().copied();
        }
        let head = self.bytes.as_deref()?.first_chunk::<6>()?;
        Some(Item::of(ids::Tid::from_bytes(*head)))
    }

    fn stored(&self) -> &[u8] {
        match self.action {
            Action::Delete => &[],
            _ => self.bytes.as_deref().unwrap_or(&[]),
        }
    }
}

/// A page as its segments.
pub(crate) struct Leaf<'a> {
    segments: Vec<Segment<'a>>,
    /// The page is in the format of version 1, and is rewritten as a whole.
    old_format: bool,
}

/// The change of a page: the segments from byte `from` on, and the record's data.
#[derive(Debug)]
pub(crate) struct LeafChange {
    pub from: usize,
    pub tail: Vec<u8>,
    pub log: Vec<u8>,
}

/// The result of an insertion.
pub(crate) enum Planned {
    /// All items are on the page already.
    Nothing,
    Change(LeafChange),
    /// Left and right page, without their links.
    Split(Box<(PageBuf, PageBuf)>),
}

/// Where the right page begins after a split, and the first item that did not fit, if any.
struct Packed {
    split_at: Option<usize>,
    remaining: Option<Item>,
}

impl<'a> Leaf<'a> {
    pub(crate) fn new(page: &'a Page) -> Leaf<'a> {
        let own = GinPage(page);
        if own.has(COMPRESSED) {
            let segment = |bytes: &'a [u8]| Segment {
                action: Action::Keep,
                bytes: Some(Cow::Borrowed(bytes)),
                items: None,
            };
            let segments = Segments(own.segments()).map(segment).collect();
            return Leaf { segments, old_format: false };
        }
        let items: Vec<Item> = own.uncompressed().map(Item::of).collect();
        let segments = match items.is_empty() {
            true => Vec::new(),
            false => vec![Segment::new(Action::Replace, items)],
        };
        Leaf { segments, old_format: true }
    }

    /// Distributes ascending items to the segments. False if all are there already.
    fn add(&mut self, new: &[Item]) -> bool {
        if self.segments.is_empty() {
            self.segments.push(Segment::new(Action::Insert, new.to_vec()));
            return true;
        }
        let mut rest = new;
        let mut modified = false;
        for n in 0..self.segments.len() {
            let next_first = self.segments.get(n + 1).and_then(Segment::first);
            let count = match next_first {
                Some(first) => rest.partition_point(|item| *item < first),
                None => rest.len(),
            };
            if count == 0 {
                continue;
            }
            let (own, later) = rest.split_at(count);
            rest = later;
            let is_last = n + 1 == self.segments.len();
            let segment = &mut self.segments[n];
            let large = segment.bytes.as_ref().is_some_and(|b| b.len() >= SEGMENT_SIZE_TARGET);
            let appends = segment.items().last().is_some_and(|last| *last < own[0]);
            if is_last && large && appends {
                self.segments.push(Segment::new(Action::Insert, own.to_vec()));
                return true;
            }
            let before = segment.items().len();
            let merged = merge(segment.items(), own);
            if merged.len() == before {
                continue;
            }
            segment.action = match segment.action {
                Action::Keep if merged.len() == before + own.len() => Action::Add(own.to_vec()),
                Action::Insert => Action::Insert,
                _ => Action::Replace,
            };
            segment.items = Some(merged);
            segment.bytes = None;
            modified = true;
            if rest.is_empty() {
                break;
            }
        }
        modified
    }

    /// Compresses the changed segments, and determines where the page must be split. Segments that
    /// do not fit on two pages are removed.
    fn repack(&mut self) -> Packed {
        let mut packed = Packed { split_at: None, remaining: None };
        let mut used = 0;
        let mut n = 0;
        while n < self.segments.len() {
            self.compress_at(n);
            if self.unite(n) {
                continue;
            }
            let segment = &mut self.segments[n];
            let size = segment.stored().len();
            if used + size > DATA_SIZE_MAX {
                if packed.split_at.is_some() {
                    packed.remaining = segment.first();
                    self.segments.truncate(n);
                    return packed;
                }
                packed.split_at = Some(n);
                used = 0;
            }
            used += size;
            n += 1;
        }
        packed
    }

    /// Compresses segment `n` if it has changed; the items above the largest size become a new
    /// segment after it.
    fn compress_at(&mut self, n: usize) {
        let segment = &mut self.segments[n];
        if segment.bytes.is_some() || segment.action == Action::Delete {
            return;
        }
        let items = segment.items.take().unwrap_or_default();
        let mut bytes = Vec::new();
        // More items than bytes do not fit.
        let fits = items.len() <= SEGMENT_SIZE_MAX
            && compress(&items, SEGMENT_SIZE_MAX, &mut bytes) == items.len();
        if fits {
            segment.items = Some(items);
        } else {
            bytes.clear();
            let count = compress(&items, SEGMENT_SIZE_TARGET, &mut bytes);
            if segment.action != Action::Insert {
                segment.action = Action::Replace;
            }
            let rest = Segment::new(Action::Insert, items[count..].to_vec());
            segment.items = Some(items[..count].to_vec());
            segment.bytes = Some(Cow::Owned(bytes));
            self.segments.insert(n + 1, rest);
            return;
        }
        segment.bytes = Some(Cow::Owned(bytes));
    }

    /// Unites a very small segment with the next one. True if segment `n` is another one now.
    fn unite(&mut self, n: usize) -> bool {
        let small = self.segments[n].stored().len() < SEGMENT_SIZE_MIN;
        let deleted = self.segments[n].action == Action::Delete;
        if !small || deleted || n + 1 == self.segments.len() {
            return false;
        }
        let own = std::mem::take(self.segments[n].items());
        let next = &mut self.segments[n + 1];
        let merged = merge(&own, next.items());
        next.items = Some(merged);
        next.bytes = None;
        if next.action != Action::Insert {
            next.action = Action::Replace;
        }
        if self.segments[n].action == Action::Insert {
            self.segments.remove(n);
            return true;
        }
        let segment = &mut self.segments[n];
        (segment.action, segment.bytes, segment.items) = (Action::Delete, None, None);
        false
    }

    /// The change of the page, from its first modified segment on.
    fn change(&self) -> LeafChange {
        let unchanged = |s: &&Segment<'_>| s.action == Action::Keep && !self.old_format;
        let kept = self.segments.iter().take_while(unchanged).count();
        let from = self.segments[..kept].iter().map(|s| s.stored().len()).sum();
        let tail = self.segments[kept..].iter().flat_map(|s| s.stored()).copied().collect();
        LeafChange { from, tail, log: self.log() }
    }

    /// The data of the record. Counterpart: `computeLeafRecompressWALData`.
    fn log(&self) -> Vec<u8> {
        let modified = self.segments.iter().filter(|s| s.action != Action::Keep).count();
        let mut out = (modified as u16).to_le_bytes().to_vec();
        let mut number = 0u8;
        for segment in &self.segments {
            let bytes = segment.stored();
            match &segment.action {
                Action::Keep => {}
                Action::Delete => out.extend_from_slice(&[number, SEGMENT_DELETE]),
                Action::Insert => {
                    out.extend_from_slice(&[number, SEGMENT_INSERT]);
                    out.extend_from_slice(bytes);
                    continue;
                }
                Action::Add(items) if items.len() * 6 <= bytes.len() => {
                    out.extend_from_slice(&[number, SEGMENT_ADD_ITEMS]);
                    out.extend_from_slice(&(items.len() as u16).to_le_bytes());
                    items.iter().for_each(|item| out.extend_from_slice(&item.tid().to_bytes()));
                }
                Action::Add(_) | Action::Replace => {
                    out.extend_from_slice(&[number, SEGMENT_REPLACE]);
                    out.extend_from_slice(bytes);
                }
            }
            number = number.wrapping_add(1);
        }
        out
    }

    fn size(&self, range: std::ops::Range<usize>) -> usize {
        self.segments[range].iter().map(|s| s.stored().len()).sum()
    }

    /// Moves the point of a split to the left until the pages are balanced; if items were appended,
    /// the left page stays filled to three quarters.
    fn balance(&self, mut at: usize, append: bool) -> usize {
        let (mut left, mut right) = (self.size(0..at), self.size(at..self.segments.len()));
        while at > 1 {
            let size = self.segments[at - 1].stored().len();
            if size > 0 {
                let keep = append && left - size < PAGE_SIZE * 3 / 4;
                if left - size < right + size || keep {
                    break;
                }
                (left, right) = (left - size, right + size);
            }
            at -= 1;
        }
        at
    }

    /// The pages before and from segment `at`.
    fn split(&mut self, page: &Page, at: usize) -> Result<(PageBuf, PageBuf)> {
        let bytes = |part: &[Segment<'_>]| -> Vec<u8> {
            part.iter().flat_map(|s| s.stored()).copied().collect()
        };
        let last = self.segments[..at].iter_mut().rev().find(|s| s.action != Action::Delete);
        let bound = last.and_then(|s| s.items().last().copied());
        let bound = bound.ok_or_else(|| PgError::internal("a split page without items"))?;
        let fill = |segments: Vec<u8>, bound| {
            let mut page = PageBuf::new();
            gin::init(&mut page, DATA | LEAF | COMPRESSED);
            let fits = gin::set_segments(&mut page, 0, &segments);
            gin::set_right_bound(&mut page, bound);
            fits.then_some(page)
                .ok_or_else(|| PgError::internal("a page is too full after a split"))
        };
        let (left, right) = (bytes(&self.segments[..at]), bytes(&self.segments[at..]));
        Ok((fill(left, bound.tid())?, fill(right, GinPage(page).right_bound())?))
    }

    /// Removes the items for which `is_dead` returns true. Returns the change, if there is one.
    pub(crate) fn vacuum(
        mut self,
        is_dead: &mut dyn FnMut(Item) -> bool,
    ) -> Result<Option<LeafChange>> {
        let mut removed = false;
        for segment in &mut self.segments {
            let stored = segment.bytes.as_ref().map_or(DATA_SIZE_MAX, |b| b.len());
            let before = segment.items().len();
            segment.items().retain(|item| !is_dead(*item));
            let items = std::mem::take(segment.items());
            segment.items = None;
            if items.len() == before {
                if self.old_format {
                    segment.items = Some(items);
                }
                continue;
            }
            removed = true;
            if items.is_empty() {
                (segment.action, segment.bytes) = (Action::Delete, None);
                continue;
            }
            let mut bytes = Vec::new();
            if compress(&items, stored, &mut bytes) != items.len() {
                return Err(PgError::internal("could not fit vacuumed posting list"));
            }
            (segment.action, segment.bytes) = (Action::Replace, Some(Cow::Owned(bytes)));
        }
        Ok(removed.then(|| self.change()))
    }
}

/// Plans the insertion of ascending items into a leaf; at least the first one belongs there.
/// Returns how many of them the plan contains. `fill`: as many as possible go to the left page of a
/// split.
pub(crate) fn plan(page: &Page, new: &[Item]) -> Result<(Planned, usize)> {
    let own = GinPage(page);
    let mut count = new.len();
    if !own.is_rightmost() {
        let bound = Item::of(own.right_bound());
        count = new.partition_point(|item| *item <= bound).max(1);
    }
    let mut leaf = Leaf::new(page);
    let last = leaf.segments.last_mut().and_then(|s| s.items().last().copied());
    let append = last.is_none_or(|last| new[0] >= last);
    let free = if own.has(COMPRESSED) { DATA_SIZE_MAX - own.segments().len() } else { 0 };
    // Items that are appended are packed until the pages are full; others must all fit, together
    // with those of the page.
    let room = match append {
        true => free + DATA_SIZE_MAX,
        false => {
            let full = free / SEGMENT_SIZE_MAX + DATA_SIZE_MAX / SEGMENT_SIZE_MAX;
            full * SEGMENT_ITEMS_MIN
        }
    };
    count = count.min(room);
    if !leaf.add(&new[..count]) {
        return Ok((Planned::Nothing, count));
    }
    let packed = leaf.repack();
    if let Some(remaining) = packed.remaining {
        if !append || last.is_some_and(|last| last >= remaining) {
            return Err(PgError::internal("could not split GIN page; all old items didn't fit"));
        }
        count = new[..count].partition_point(|item| *item < remaining);
        if count == 0 {
            return Err(PgError::internal("could not split GIN page; no new items fit"));
        }
    }
    let Some(at) = packed.split_at else { return Ok((Planned::Change(leaf.change()), count)) };
    let at = leaf.balance(at, append);
    Ok((Planned::Split(Box::new(leaf.split(page, at)?)), count))
}

fn damaged() -> PgError {
    PgError::internal("a record of a GIN index does not fit its page")
}

/// Applies the data of a record to a leaf. Counterpart: `ginRedoRecompress`.
pub(crate) fn recompress(page: PageMut<'_>, data: &[u8]) -> Result<()> {
    if !GinPage(page).has(COMPRESSED) {
        convert(page)?;
    }
    let mut tail: Vec<u8> = Vec::new();
    let mut f = Fields(data);
    let actions = f.u16().ok_or_else(damaged)?;
    let old = GinPage(page).segments().to_vec();
    let mut segments = Segments(&old);
    let mut number = 0;
    for _ in 0..actions {
        let (wanted, action) = (f.u8().ok_or_else(damaged)?, f.u8().ok_or_else(damaged)?);
        while number < wanted {
            tail.extend_from_slice(segments.next().ok_or_else(damaged)?);
            number += 1;
        }
        match action {
            SEGMENT_INSERT => tail.extend_from_slice(take_segment(&mut f)?),
            SEGMENT_DELETE | SEGMENT_REPLACE | SEGMENT_ADD_ITEMS => {
                let current = segments.next().ok_or_else(damaged)?;
                number += 1;
                if action == SEGMENT_REPLACE {
                    tail.extend_from_slice(take_segment(&mut f)?);
                } else if action == SEGMENT_ADD_ITEMS {
                    add_items(current, &mut f, &mut tail)?;
                }
            }
            other => {
                return Err(PgError::internal(format!("unexpected GIN leaf action: {other}")));
            }
        }
    }
    tail.extend_from_slice(segments.0);
    if gin::set_segments(page, 0, &tail) { Ok(()) } else { Err(damaged()) }
}

fn take_segment<'a>(f: &mut Fields<'a>) -> Result<&'a [u8]> {
    let len = gin::segment_len(f.0).ok_or_else(damaged)?;
    f.take(len).ok_or_else(damaged)
}

fn add_items(current: &[u8], f: &mut Fields<'_>, out: &mut Vec<u8>) -> Result<()> {
    let count = f.u16().ok_or_else(damaged)?;
    let bytes = f.take(usize::from(count) * 6).ok_or_else(damaged)?;
    let (tids, _) = bytes.as_chunks::<6>();
    let new: Vec<Item> = tids.iter().map(|b| Item::of(ids::Tid::from_bytes(*b))).collect();
    let mut old = Vec::new();
    decode(current, &mut old);
    compress(&merge(&old, &new), PAGE_SIZE, out);
    Ok(())
}

/// Converts a leaf from the format of version 1.
fn convert(page: PageMut<'_>) -> Result<()> {
    let items: Vec<Item> = GinPage(page).uncompressed().map(Item::of).collect();
    let mut bytes = Vec::new();
    if !items.is_empty() {
        compress(&items, PAGE_SIZE, &mut bytes);
    }
    prepare(page);
    if gin::set_segments(page, 0, &bytes) { Ok(()) } else { Err(damaged()) }
}

/// Sets the header of a leaf in the present format.
fn prepare(page: PageMut<'_>) {
    gin::add_flag(page, COMPRESSED);
    gin::set_count(page, 0);
}

/// Applies a change to a leaf, which has room for it.
pub(crate) fn apply(page: PageMut<'_>, change: &LeafChange) -> Result<()> {
    if !GinPage(page).has(COMPRESSED) {
        prepare(page);
    }
    if gin::set_segments(page, change.from, &change.tail) { Ok(()) } else { Err(damaged()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ids::{BlockNo, Tid};

    fn item(n: u64) -> Item {
        Item::of(Tid::new(BlockNo((n / 200) as u32), (n % 200) as u16 + 1))
    }

    fn items(page: &Page) -> Vec<Item> {
        let mut out = Vec::new();
        gin::decode_all(GinPage(page).segments(), Item::MIN, &mut out);
        out
    }

    fn empty() -> PageBuf {
        let mut page = PageBuf::new();
        gin::init(&mut page, DATA | LEAF | COMPRESSED);
        gin::set_data_size(&mut page, 0);
        page
    }

    /// Inserts random lists, checks the pages against a list, and replays each record.
    #[test]
    fn insertions_keep_all_items_and_their_records_repeat_them() {
        let mut seed = 99u64;
        let mut next = |n: u64| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % n
        };
        let mut splits = 0;
        for spread in [30_000, 3_000_000] {
            let mut page = empty();
            let mut model: Vec<Item> = Vec::new();
            for round in 0..3000u64 {
                let mut new: Vec<Item> = match round % 3 {
                    0 => (0..1 + next(40)).map(|_| item(next(spread))).collect(),
                    1 => vec![item(next(spread))],
                    _ => {
                        let start = next(spread);
                        (start..start + next(300)).map(item).collect()
                    }
                };
                new.sort();
                new.dedup();
                if new.is_empty() {
                    continue;
                }
                let (planned, count) = plan(&page, &new).unwrap();
                assert!(count > 0);
                model = merge(&model, &new[..count]);
                match planned {
                    Planned::Nothing => {}
                    Planned::Change(change) => {
                        let mut replayed = page.clone();
                        recompress(&mut replayed, &change.log).unwrap();
                        apply(&mut page, &change).unwrap();
                        assert_eq!(items(&replayed), items(&page));
                        assert_eq!(GinPage(&replayed).segments(), GinPage(&page).segments());
                    }
                    Planned::Split(pages) => {
                        splits += 1;
                        let (left, right) = *pages;
                        let mut all = items(&left);
                        assert_eq!(Item::of(GinPage(&left).right_bound()), *all.last().unwrap());
                        let from = all.len();
                        all.extend(items(&right));
                        assert_eq!(all, model);
                        model.drain(..from);
                        page = right;
                    }
                }
                assert_eq!(items(&page), model);
            }
        }
        assert!(splits > 10, "{splits}");
    }

    #[test]
    fn vacuum_removes_items_and_its_records_repeat_that() {
        let mut page = empty();
        let all: Vec<Item> = (0..4000).map(|n| item(n * 7)).collect();
        let (Planned::Change(change), count) = plan(&page, &all).unwrap() else { panic!("fits") };
        apply(&mut page, &change).unwrap();
        for modulus in [1000, 10, 3, 2] {
            let mut replayed = page.clone();
            let change = Leaf::new(&page.clone()).vacuum(&mut |i| i.0 % modulus == 0).unwrap();
            let change = change.unwrap();
            apply(&mut page, &change).unwrap();
            recompress(&mut replayed, &change.log).unwrap();
            assert_eq!(GinPage(&replayed).segments(), GinPage(&page).segments());
            assert!(items(&page).iter().all(|i| i.0 % modulus != 0));
        }
        assert!(Leaf::new(&page.clone()).vacuum(&mut |_| false).unwrap().is_none());
        let gone = Leaf::new(&page.clone()).vacuum(&mut |_| true).unwrap().unwrap();
        apply(&mut page, &gone).unwrap();
        assert!(GinPage(&page).is_empty_leaf() && count == all.len());
    }

    #[test]
    fn a_leaf_of_version_1_is_converted() {
        let mut page = PageBuf::new();
        gin::init(&mut page, DATA | LEAF);
        let tids: Vec<Item> = (0..500).map(|n| item(n * 3)).collect();
        for (n, tid) in tids.iter().enumerate() {
            let at = gin::DATA_AT + 6 * n;
            page.bytes_mut()[at..at + 6].copy_from_slice(&tid.tid().to_bytes());
        }
        gin::set_count(&mut page, 500);
        let mut replayed = page.clone();
        let (Planned::Change(change), 1) = plan(&page, &[item(1)]).unwrap() else { panic!() };
        apply(&mut page, &change).unwrap();
        recompress(&mut replayed, &change.log).unwrap();
        assert_eq!(items(&page), merge(&tids, &[item(1)]));
        assert_eq!(items(&replayed), items(&page));
    }
}
