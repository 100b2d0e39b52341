use super::*;
use crate::PageBuf;

fn offsets(page: &Page) -> Vec<usize> {
    (1..=page.max_offset()).map(|n| page.line_pointer(n).offset()).collect()
}

/// What PostgreSQL 15 did to a table's page (seen through pageinspect): five rows inserted; two HOT
/// updates aborted and vacuumed; row 2 deleted and vacuumed; a row inserted, which takes the second
/// line pointer; row 1 deleted and vacuumed.
#[test]
fn compaction_lays_items_out_as_postgresql_does() {
    let mut page = PageBuf::new();
    page.init(0);
    for len in [39, 49, 59, 69, 79] {
        page.add_item(&vec![len as u8; len], AddAt::Any, true).unwrap();
    }
    assert_eq!(offsets(&page), [8152, 8096, 8032, 7960, 7880]);
    for len in [34, 34] {
        page.add_item(&vec![1; len], AddAt::Any, true).unwrap();
    }
    for dead in [6, 7] {
        page.set_line_pointer(dead, LinePointer::UNUSED);
    }
    page.repair_fragmentation().unwrap();
    assert_eq!(offsets(&page), [8152, 8096, 8032, 7960, 7880], "line pointers 6 and 7 are removed");
    assert!(!page.has_free_lines());
    page.set_line_pointer(2, LinePointer::DEAD);
    page.repair_fragmentation().unwrap();
    page.set_line_pointer(2, LinePointer::UNUSED);
    page.truncate_line_pointers();
    assert!(page.has_free_lines());
    assert_eq!(page.add_item(&[9; 32], AddAt::Any, true), Some(2));
    page.set_line_pointer(1, LinePointer::DEAD);
    page.repair_fragmentation().unwrap();
    page.set_line_pointer(1, LinePointer::UNUSED);
    page.truncate_line_pointers();
    assert_eq!(offsets(&page), [0, 8160, 8096, 8024, 7944]);
    for (n, byte, len) in [(2, 9, 32), (3, 59, 59), (4, 69, 69), (5, 79, 79)] {
        assert_eq!(page.item(n), vec![byte; len]);
    }
}

/// Rows are inserted and removed at random. Compaction lays out the remaining ones in line-pointer
/// order, from the special space downwards without gaps, with their bytes unchanged.
#[test]
fn compaction_after_random_changes_agrees_with_a_list() {
    let mut page = PageBuf::new();
    page.init(0);
    let mut model: Vec<Option<Vec<u8>>> = Vec::new();
    let mut seed = 11u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for step in 0..20_000 {
        // Long phases with rows of one length, in which a new version fits where the old one was.
        let len = if step / 1000 % 2 == 0 { 120 } else { 24 + random(200) };
        let item: Vec<u8> = (0..len).map(|i| (step + i) as u8).collect();
        if let Some(offset) = page.add_item(&item, AddAt::Any, true) {
            let at = offset as usize - 1;
            model.resize(model.len().max(at + 1), None);
            assert!(model[at].replace(item).is_none());
        }
        let removed = if page.free_space() < 300 { 1 + random(3) } else { 0 };
        for _ in 0..removed {
            let at = random(model.len());
            if model[at].take().is_some() {
                page.set_line_pointer(at as OffsetNo + 1, LinePointer::UNUSED);
            }
        }
        if removed == 0 {
            continue;
        }
        page.repair_fragmentation().unwrap();
        let mut upper = PAGE_SIZE;
        for (at, item) in model.iter().enumerate() {
            let Some(item) = item else { continue };
            upper -= max_align(item.len());
            let offset = at as OffsetNo + 1;
            assert_eq!(page.line_pointer(offset).offset(), upper, "step {step}");
            assert_eq!(page.item(offset), item, "step {step}");
        }
        assert_eq!(page.upper(), upper);
        let last = model.iter().rposition(Option::is_some).map_or(0, |n| n + 1);
        model.truncate(last);
        assert_eq!(page.max_offset() as usize, last);
    }
}

/// Random index operations against a list of items.
#[test]
fn index_operations_agree_with_a_list() {
    let mut page = PageBuf::new();
    page.init(16);
    let mut model: Vec<Vec<u8>> = Vec::new();
    let mut seed = 7u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for step in 0..20_000 {
        let item = vec![step as u8; 8 + random(60)];
        let at = if model.is_empty() { 0 } else { random(model.len()) };
        match random(4) {
            0 | 1 => {
                let at = random(model.len() + 1);
                let added = page.add_item(&item, AddAt::Insert(at as OffsetNo + 1), false);
                assert_eq!(added.is_none(), max_align(item.len()) > free(&model));
                if added.is_some() {
                    model.insert(at, item);
                }
            }
            2 if !model.is_empty() => {
                let mut gone: Vec<OffsetNo> = (0..random(6))
                    .map(|_| random(model.len()))
                    .map(|n| n as OffsetNo + 1)
                    .collect();
                gone.sort_unstable();
                gone.dedup();
                page.index_multi_delete(&gone).unwrap();
                for n in gone.iter().rev() {
                    model.remove(*n as usize - 1);
                }
            }
            3 if !model.is_empty() && page.index_overwrite(at as OffsetNo + 1, &item).unwrap() => {
                model[at] = item;
            }
            _ => {}
        }
        assert_eq!(page.max_offset() as usize, model.len());
        if step % 16 == 0 {
            let items: Vec<_> = (1..=page.max_offset()).map(|n| page.item(n)).collect();
            assert_eq!(items, model);
            assert_eq!(page.free_space(), free(&model));
        }
    }
}

/// Free space for another item in addition to these.
fn free(items: &[Vec<u8>]) -> usize {
    let used: usize = items.iter().map(|i| max_align(i.len()) + LINE_POINTER_SIZE).sum();
    (PAGE_SIZE - 16 - HEADER_SIZE - used).saturating_sub(LINE_POINTER_SIZE)
}
