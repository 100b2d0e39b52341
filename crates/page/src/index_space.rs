//! Adding and removing items on index pages. Line pointers of an index page have no holes:
//! inserting shifts those after it up, deleting shifts them down. The offsets of items are part of
//! the format: redo, Norsu's and PostgreSQL's, must produce the same bytes (see `space`).
//! Counterpart: the index half of storage/page/bufpage.c.

use crate::header::{HEADER_SIZE, max_align};
use crate::item::{LINE_POINTER_SIZE, LinePointer};
use crate::raw::{Page, PageMut};
use ids::OffsetNo;
use pgerror::Result;

const fn slot(off: OffsetNo) -> usize {
    HEADER_SIZE + (off as usize - 1) * LINE_POINTER_SIZE
}

/// Free bytes for one more item and its line pointer. Counterpart: `PageGetFreeSpace`.
#[inline]
pub fn free_space(page: &Page) -> usize {
    page.upper().saturating_sub(page.lower()).saturating_sub(LINE_POINTER_SIZE)
}

/// Free bytes, a line pointer not accounted for. Counterpart: `PageGetExactFreeSpace`.
#[inline]
pub fn exact_free_space(page: &Page) -> usize {
    page.upper().saturating_sub(page.lower())
}

/// Adds an item at line pointer `off`, moving those at `off` and after up by one. `false` if there
/// is no space or `off` would leave a gap. Counterpart: `PageAddItem` without overwriting.
#[must_use]
pub fn add(page: PageMut<'_>, bytes: &[u8], off: OffsetNo) -> bool {
    let (lower, upper) = (page.lower(), page.upper());
    let max = page.max_offset();
    let size = max_align(bytes.len());
    if off == 0 || off > max + 1 || lower + LINE_POINTER_SIZE + size > upper {
        return false;
    }
    let at = upper - size;
    let all = page.bytes_mut();
    all.copy_within(slot(off)..lower, slot(off) + LINE_POINTER_SIZE);
    all[at..at + bytes.len()].copy_from_slice(bytes);
    page.set_line_pointer(off, LinePointer::normal(at, bytes.len()));
    page.set_lower(lower + LINE_POINTER_SIZE);
    page.set_upper(at);
    true
}

/// [`add`] after the last item.
#[must_use]
pub fn append(page: PageMut<'_>, bytes: &[u8]) -> bool {
    let off = page.max_offset() + 1;
    add(page, bytes, off)
}

/// Removes the item and its line pointer. Counterpart: `PageIndexTupleDelete`.
pub fn delete(page: PageMut<'_>, off: OffsetNo) -> Result<()> {
    page.index_delete(off)
}

/// Removes several items, their line pointers in ascending order. Counterpart:
/// `PageIndexMultiDelete`.
pub fn delete_many(page: PageMut<'_>, offs: &[OffsetNo]) -> Result<()> {
    page.index_multi_delete(offs)
}

/// Replaces the item at `off`; the other items move by the difference in size. `false` if there is
/// no space. Counterpart: `PageIndexTupleOverwrite`.
pub fn overwrite(page: PageMut<'_>, off: OffsetNo, bytes: &[u8]) -> Result<bool> {
    page.index_overwrite(off, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageBuf;

    fn items(page: &Page) -> Vec<Vec<u8>> {
        (1..=page.max_offset()).map(|o| page.item(o).to_vec()).collect()
    }

    #[test]
    fn random_changes_agree_with_a_vector() {
        let mut seed = 12345u32;
        let mut next = |n: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % n
        };
        let mut page = PageBuf::new();
        page.init(16);
        let mut model: Vec<Vec<u8>> = Vec::new();
        for round in 0..5000 {
            let item = vec![round as u8; 8 * (1 + next(5))];
            match next(4) {
                0 | 1 => {
                    let at = next(model.len() + 1);
                    if add(&mut page, &item, at as OffsetNo + 1) {
                        model.insert(at, item);
                    } else {
                        assert!(free_space(&page) < item.len());
                    }
                }
                2 if !model.is_empty() => {
                    let at = next(model.len());
                    if overwrite(&mut page, at as OffsetNo + 1, &item).unwrap() {
                        model[at] = item;
                    }
                }
                _ => {
                    let k = next(9);
                    let gone: Vec<OffsetNo> =
                        (1..=model.len() as OffsetNo).filter(|_| next(10) < k).collect();
                    delete_many(&mut page, &gone).unwrap();
                    let mut n = 0;
                    model.retain(|_| {
                        n += 1;
                        !gone.contains(&n)
                    });
                }
            }
            assert_eq!(items(&page), model);
            let used: usize = model.iter().map(|m| m.len() + 4).sum();
            assert_eq!(exact_free_space(&page), 8192 - 24 - 16 - used);
        }
    }
}
